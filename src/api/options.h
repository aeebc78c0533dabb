// api/options: Version, defaults of the options, words for compilers. The only system headers here: stddef, stdint.
#ifndef PROF__API_OPTIONS_H
#define PROF__API_OPTIONS_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* as api/manual does it where the implementation is */
#endif

#ifdef __KERNEL__ /* Linux has its own, and no others */
#include <linux/limits.h>
#include <linux/stddef.h>
#include <linux/types.h>
#ifndef UINT64_MAX
#define UINT64_MAX __UINT64_MAX__
#endif
#ifndef INT64_MAX
#define INT64_MAX __INT64_MAX__
#define INT64_MIN (-INT64_MAX - 1)
#endif
#ifndef UINTPTR_MAX
#define UINTPTR_MAX __UINTPTR_MAX__
#endif
#else
#include <stddef.h>
#include <stdint.h>
#endif

#define PROF_VERSION 200 /* major * 10000 + minor * 100 + patch: nothing else states it */

#ifndef PROF_ENABLE
#define PROF_ENABLE 1
#endif
#if !PROF_ENABLE || defined(_MSC_VER) /* its __cplusplus is that of C++98 */
#elif defined(__cplusplus) && __cplusplus < 201103L
#error "prof.h needs C++11: compile with -std=c++11 or later"
#elif defined(__STRICT_ANSI__) && !defined(__cplusplus) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L)
#error "prof.h needs C99: compile with -std=c99 or later"
#endif
#ifndef PROF_UNIT
#define PROF_UNIT ""
#endif
#ifndef PROF_CATEGORY
#define PROF_CATEGORY ""
#endif
#ifndef PROF_SITE_LEVEL
#define PROF_SITE_LEVEL 1
#endif
#ifndef PROF_MAX_LEVEL
#define PROF_MAX_LEVEL 255
#endif
#ifndef PROF_CHUNK_SIZE
#define PROF_CHUNK_SIZE 16384
#elif PROF_CHUNK_SIZE < 1024 || PROF_CHUNK_SIZE > 1048576 || (PROF_CHUNK_SIZE & (PROF_CHUNK_SIZE - 1))
#error "PROF_CHUNK_SIZE is not a power of two from 1024 to 1048576"
#endif
#ifndef PROF_MAX_TEXT
#define PROF_MAX_TEXT 1000
#endif
#ifndef PROF_UNIQUE
#if defined(__GNUC__) || defined(_MSC_VER)
#define PROF_UNIQUE __COUNTER__
#else
#define PROF_UNIQUE __LINE__
#endif
#endif
/* Code that may not use floating-point registers, as that of kernels. */
#if defined(PROF_NO_DOUBLE) || defined(__KERNEL__) || \
    (defined(__x86_64__) && !defined(__SSE2__) && defined(__GNUC__) && !defined(__TINYC__)) || \
    (defined(__aarch64__) && !defined(__ARM_FP) && defined(__GNUC__)) || \
    (defined(__riscv) && !defined(__riscv_flen) && !__STDC_HOSTED__) /* hosted, a library computes */
#define PROF__NO_DOUBLE 1
#endif
/* In a shared library the implementation is weak, so that the loader chooses which copy is called, also for calls
   inside this file, for which compiler and linker would otherwise take the file's own copy. */
#if defined(__ELF__) && defined(__PIC__) && !defined(__PIE__) && !defined(PROF_FREESTANDING)
#define PROF__SHARED 1
#endif
#if defined(_WIN32) || !defined(__GNUC__)
#define PROF__HIDDEN
#else
#define PROF__HIDDEN __attribute__((__visibility__("hidden")))
#endif
#ifndef PROF_DEF
#if defined(_WIN32) || !defined(__GNUC__)
#define PROF_DEF
#elif defined(PROF_STATIC)
#define PROF_DEF PROF__HIDDEN
#elif defined(PROF_IMPLEMENTATION) && defined(PROF__SHARED)
#define PROF_DEF __attribute__((__visibility__("default"), __weak__))
#else
#define PROF_DEF __attribute__((__visibility__("default")))
#endif
#endif

/* Converts to a type whose name is one word, and warns of nothing that -Wold-style-cast and the like find. */
#ifdef __cplusplus
#define PROF__TO(type, value) type(value)
#define PROF__NO_SITE nullptr
#else
#define PROF__TO(type, value) ((type)(value))
#define PROF__NO_SITE ((prof_site *)0)
#endif
#if defined(__GNUC__) || defined(__TINYC__)
#define PROF__EXTENSION __extension__
#define PROF__UNUSED __attribute__((__unused__))
#else
#define PROF__EXTENSION
#define PROF__UNUSED
#endif
#if defined(__GNUC__)
#define PROF__UNTRACED __attribute__((__no_instrument_function__))
#define PROF__LIKELY(x) __builtin_expect(!!(x), 1)
#define PROF__UNLIKELY(x) __builtin_expect(!!(x), 0)
/* Memory that is used soon: begins to load it. gcc takes a function that does only this for one without any effect, and
   removes its calls; an assembler statement has an effect. */
#define PROF__SOON(address)         \
    do {                            \
        __builtin_prefetch(address); \
        __asm__ __volatile__("");   \
    } while (0)
#define PROF__PRINTF(f, a) __attribute__((__format__(__printf__, f, a)))
#define PROF__NOINLINE __attribute__((__noinline__))
#define PROF__COLD __attribute__((__cold__, __noinline__)) /* the slow branch of what a macro calls: out of its way */
#else
#define PROF__UNTRACED
#define PROF__LIKELY(x) (x)
#define PROF__UNLIKELY(x) (x)
#define PROF__SOON(address) ((void)(address))
#define PROF__PRINTF(f, a)
#ifdef _MSC_VER
#define PROF__NOINLINE __declspec(noinline)
#else
#define PROF__NOINLINE
#endif
#define PROF__COLD PROF__NOINLINE
#endif
/* Declares a public function. It is never inlined: a compiler may assume that a function stays on one thread, and would
   keep the address of a thread-local variable across a call that switches to a fiber, which another thread resumes. */
#define PROF__API PROF_DEF PROF__NOINLINE

#endif /* PROF__API_OPTIONS_H */
