// ground/compiler: Differences between compilers: functions that run before main and at exit, thread-local variables,
// barriers. For Microsoft's compiler, gcc's __atomic functions made from intrinsics.
#ifndef PROF__GROUND_COMPILER_H
#define PROF__GROUND_COMPILER_H
#include "api/markup.h"
#include "ground/platform.h"

/*-- COMPILER ------------------------------------------------------------------------------------------ >>compiler --*/
#if defined(__GNUC__)
#define PROF__PER_THREAD __thread
#define PROF__INLINED inline __attribute__((__always_inline__))
#define PROF__SWAPPED(word) __builtin_bswap64(word)
/* Stops the compiler from reordering memory accesses, so that a signal handler of this thread sees stores in program
   order. Emits no instruction. */
#define PROF__BARRIER() __asm__ volatile("" ::: "memory")
/* PROF__AT_START declares a static function that runs before main, lower orders first. PROF__AT_END declares one that
   runs at exit, higher orders first. */
#define PROF__AT_START(order, name) static void name(void) __attribute__((__constructor__(order)))
#define PROF__LAST 65535 /* the order of constructors without a given order */
#if defined(_WIN32) && !defined(PROF_FREESTANDING)
/* When a DLL is unloaded, gcc frees the thread-local variables that it emulates, and runs the DLL's destructors
   afterwards. The destructors of prof use such variables. So on unload they run earlier, as callbacks of the loader,
   which calls them in the order of their sections' names. */
static int prof__unloaded;
#define PROF__AT_UNLOAD(part, name) \
    static __attribute__((__section__(".CRT$XLB" part), __used__)) PIMAGE_TLS_CALLBACK name##_callback = name
static void NTAPI prof__unloads(void *module, DWORD why, void *process_ends)
{
    (void)module;
    if (why == DLL_PROCESS_DETACH && !process_ends) prof__unloaded = 1;
}
PROF__AT_UNLOAD("9", prof__unloads);
#define PROF__AT_END_(order, name) \
    static void name(void); \
    static void NTAPI name##_at_unload(void *module, DWORD why, void *process_ends) \
    { \
        (void)module; \
        if (why == DLL_PROCESS_DETACH && !process_ends) name(); \
    } \
    static void __attribute__((__destructor__(order))) name##_at_exit(void) \
    { \
        if (!prof__unloaded) name(); \
    } \
    PROF__AT_UNLOAD(#order, name##_at_unload)
#define PROF__AT_END(order, name) PROF__AT_END_(order, name)
#else
#define PROF__AT_END(order, name) static void name(void) __attribute__((__destructor__(order)))
#endif
#elif defined(_MSC_VER)
#if !defined(__cplusplus) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 201112L)
#error "prof.h: as C, the file with PROF_IMPLEMENTATION needs /std:c11 or /std:c17"
#endif
#include <intrin.h>
#define PROF__PER_THREAD __declspec(thread)
#define PROF__INLINED __forceinline
#define PROF__SWAPPED(word) _byteswap_uint64(word)
#define PROF__BARRIER() _ReadWriteBarrier()
#define PROF__LOW_HALF 0
typedef uint32_t prof__half; /* Microsoft's compiler does not use types to decide which pointers can alias */

/* The C library calls the functions in sections .CRT$XCT* in the order of the sections' names, and functions of
   atexit() in reverse order of registration. /include keeps the linker from dropping a pointer that no code refers
   to. */
#if defined(PROF_STATIC) && defined(__clang__)
#define PROF__STARTER(name) static __attribute__((__used__)) void (*prof__starter_##name)(void)
#elif defined(PROF_STATIC) /* a static variable has no name for the linker to keep */
#define PROF__STARTER(name) static void (*prof__starter_##name)(void)
#elif defined(_M_IX86)
#define PROF__STARTER(name) \
    __pragma(comment(linker, "/include:_prof__starter_" #name)) void (*prof__starter_##name)(void)
#else
#define PROF__STARTER(name) \
    __pragma(comment(linker, "/include:prof__starter_" #name)) void (*prof__starter_##name)(void)
#endif
#define PROF__AT_START_(order, name) \
    static void name(void); \
    __pragma(section(".CRT$XCT" #order, read)) \
    __declspec(allocate(".CRT$XCT" #order)) PROF__STARTER(name) = name
#define PROF__AT_START(order, name) PROF__AT_START_(order, name)
#define PROF__AT_END(order, name) \
    static void name(void); \
    static void name##_at_exit(void) { atexit(name); } \
    PROF__AT_START(order, name##_at_exit)
#define PROF__LAST 999

/* -- gcc's __atomic functions for the types that prof uses: chosen by _Generic in C, by overloading in C++ -- */

#ifndef __ATOMIC_RELAXED
#define __ATOMIC_RELAXED 0
#define __ATOMIC_ACQUIRE 2
#define __ATOMIC_RELEASE 3
#define __ATOMIC_ACQ_REL 4
#define __ATOMIC_SEQ_CST 5
#endif
/* A barrier for ordered loads and stores. The _Interlocked functions are full barriers and need none besides. */
#ifdef _M_ARM64
#define PROF__ORDERED() __dmb(11) /* 11: DMB ISH: loads and stores, all processors */
#else
#define PROF__ORDERED() _ReadWriteBarrier()
#endif
#define PROF__WHOLE(bits, at) (*(const volatile __int##bits *)(at))
#define PROF__PUT_WHOLE(bits, at, value) (*(volatile __int##bits *)(at) = (value))

#ifdef _M_IX86 /* 32-bit x86 has one atomic 64-bit instruction, cmpxchg8b; SSE2 loads and stores 64 bits at once */
static __forceinline __int64 prof__whole(const volatile void *at)
{
    __m128i both = _mm_loadl_epi64((const __m128i *)at);
    _ReadWriteBarrier();
    return (__int64)((uint64_t)(uint32_t)_mm_cvtsi128_si32(_mm_srli_epi64(both, 32)) << 32 |
                     (uint32_t)_mm_cvtsi128_si32(both));
}
static __forceinline void prof__put_whole(volatile void *at, __int64 value)
{
    _ReadWriteBarrier();
    _mm_storel_epi64((__m128i *)at, _mm_set_epi32(0, 0, (int)(value >> 32), (int)value));
    _ReadWriteBarrier();
}
#define PROF__LOAD_64(at) prof__whole(at)
#define PROF__STORE_64(at, value) prof__put_whole(at, value)
static __int64 prof__exchange_64(volatile __int64 *at, __int64 value, __int64 add, int adds)
{
    __int64 now = prof__whole(at), before;
    while ((before = _InterlockedCompareExchange64(at, adds ? now + add : value, now)) != now) now = before;
    return now;
}
#define PROF__EXCHANGE_64(at, value) prof__exchange_64(at, value, 0, 0)
#define PROF__ADD_64(at, value) prof__exchange_64(at, 0, value, 1)
#else
#define PROF__LOAD_64(at) PROF__WHOLE(64, at)
#define PROF__STORE_64(at, value) PROF__PUT_WHOLE(64, at, value)
#define PROF__EXCHANGE_64(at, value) _InterlockedExchange64(at, value)
#define PROF__ADD_64(at, value) _InterlockedExchangeAdd64(at, value)
#endif
#define PROF__LOAD_32(at) PROF__WHOLE(32, at)
#define PROF__STORE_32(at, value) PROF__PUT_WHOLE(32, at, value)
#define PROF__EXCHANGE_32(at, value) _InterlockedExchange(at, value)
#define PROF__ADD_32(at, value) _InterlockedExchangeAdd(at, value)
#define PROF__TRADE_32(at, value, if_it_is) _InterlockedCompareExchange(at, value, if_it_is)
#define PROF__TRADE_64(at, value, if_it_is) _InterlockedCompareExchange64(at, value, if_it_is)
#define PROF__LOAD_8(at) PROF__WHOLE(8, at)
#define PROF__STORE_8(at, value) PROF__PUT_WHOLE(8, at, value)

typedef unsigned char prof__u8;
#ifdef __cplusplus
#define PROF__OF_TYPE(name, type) prof__##name
#define PROF__OF_BYTES(name, at) prof__##name
#define PROF__OF_WORDS(name, at) prof__##name
#define PROF__OF_NUMBERS(name, at) prof__##name
extern "C++" {
#else
#define PROF__OF_TYPE(name, type) prof__##name##_##type
#define PROF__NUMBERS(name) \
    int: prof__##name##_int, uint32_t: prof__##name##_uint32_t, int64_t: prof__##name##_int64_t, \
    uint64_t: prof__##name##_uint64_t
#define PROF__OF_BYTES(name, at) \
    _Generic(*(at), char: prof__##name##_char, prof__u8: prof__##name##_prof__u8, PROF__NUMBERS(name), \
             default: prof__##name##_pointer)
#define PROF__OF_WORDS(name, at) _Generic(*(at), PROF__NUMBERS(name), default: prof__##name##_pointer)
#define PROF__OF_NUMBERS(name, at) _Generic(*(at), PROF__NUMBERS(name))
#endif
#define PROF__LOADS(type, bits, word)                                                                                \
    static __forceinline type PROF__OF_TYPE(load, type)(const volatile type *at, int order)                          \
    {                                                                                                                \
        type value = (type)PROF__LOAD_##bits(at);                                                                    \
        if (order != __ATOMIC_RELAXED) PROF__ORDERED();                                                              \
        return value;                                                                                                \
    }                                                                                                                \
    static __forceinline void PROF__OF_TYPE(store, type)(volatile type * at, type value, int order)                  \
    {                                                                                                                \
        if (order != __ATOMIC_RELAXED) PROF__ORDERED();                                                              \
        PROF__STORE_##bits(at, (word)value);                                                                         \
    }
#define PROF__EXCHANGES(type, bits, word)                                                                            \
    PROF__LOADS(type, bits, word)                                                                                    \
    static __forceinline type PROF__OF_TYPE(exchange, type)(volatile type * at, type value)                          \
    {                                                                                                                \
        return (type)PROF__EXCHANGE_##bits((volatile word *)at, (word)value);                                        \
    }                                                                                                                \
    static __forceinline type PROF__OF_TYPE(add, type)(volatile type * at, type value)                               \
    {                                                                                                                \
        return (type)PROF__ADD_##bits((volatile word *)at, (word)value);                                             \
    }                                                                                                                \
    static __forceinline int PROF__OF_TYPE(trade, type)(volatile type * at, type *expected, type value)              \
    {                                                                                                                \
        type found = (type)PROF__TRADE_##bits((volatile word *)at, (word)value, (word)*expected);                    \
        if (found == *expected) return 1;                                                                            \
        *expected = found;                                                                                           \
        return 0;                                                                                                    \
    }
PROF__LOADS(char, 8, __int8)
PROF__LOADS(prof__u8, 8, __int8)
PROF__EXCHANGES(int, 32, long)
PROF__EXCHANGES(uint32_t, 32, long)
PROF__EXCHANGES(int64_t, 64, __int64)
PROF__EXCHANGES(uint64_t, 64, __int64)

static __forceinline void *prof__load_pointer(const volatile void *at, int order)
{
    void *value = *(void *const volatile *)at;
    if (order != __ATOMIC_RELAXED) PROF__ORDERED();
    return value;
}
static __forceinline void prof__store_pointer(volatile void *at, const void *value, int order)
{
    if (order != __ATOMIC_RELAXED) PROF__ORDERED();
    *(const void *volatile *)at = value;
}
static __forceinline void *prof__exchange_pointer(volatile void *at, const void *value)
{
    return _InterlockedExchangePointer((void *volatile *)at, (void *)value);
}
static __forceinline int prof__trade_pointer(volatile void *at, void *expected, const void *value)
{
    void **was = (void **)expected;
    void *found = _InterlockedCompareExchangePointer((void *volatile *)at, (void *)value, *was);
    if (found == *was) return 1;
    *was = found;
    return 0;
}
#ifdef __cplusplus
template <typename Any> struct prof__same { typedef Any type; }; /* keeps a parameter out of the deduction of Any */
template <typename Any> static __forceinline Any *prof__load(Any *const volatile *at, int order)
{
    return (Any *)prof__load_pointer(at, order);
}
template <typename Any>
static __forceinline void prof__store(Any *volatile *at, typename prof__same<Any *>::type value, int order)
{
    prof__store_pointer(at, (const void *)value, order);
}
template <typename Any>
static __forceinline Any *prof__exchange(Any *volatile *at, typename prof__same<Any *>::type value)
{
    return (Any *)prof__exchange_pointer(at, (const void *)value);
}
template <typename Any>
static __forceinline int prof__trade(Any *volatile *at, Any **expected, typename prof__same<Any *>::type value)
{
    return prof__trade_pointer(at, expected, (const void *)value);
}
} /* extern "C++" */
#endif
#define __atomic_load_n(at, order) PROF__OF_BYTES(load, at)(at, order)
#define __atomic_store_n(at, value, order) PROF__OF_BYTES(store, at)(at, value, order)
#define __atomic_exchange_n(at, value, order) PROF__OF_WORDS(exchange, at)(at, value)
#define __atomic_compare_exchange_n(at, now, value, weak, order, failed) PROF__OF_WORDS(trade, at)(at, now, value)
#define __atomic_fetch_add(at, value, order) PROF__OF_NUMBERS(add, at)(at, value)
#define __atomic_fetch_sub(at, value, order) PROF__OF_NUMBERS(add, at)(at, 0 - (value))
#define __atomic_fetch_or(at, value, order) ((uint32_t)_InterlockedOr((volatile long *)(at), (long)(value)))
#define __atomic_fetch_and(at, value, order) ((uint32_t)_InterlockedAnd((volatile long *)(at), (long)(value)))
#define __atomic_thread_fence(order) PROF__ORDERED()
#else
#error "prof.h: the implementation needs gcc, clang or Microsoft's compiler; marked-up files any of C99 or C++11"
#endif

#endif /* PROF__GROUND_COMPILER_H */
