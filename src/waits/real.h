// waits/real: PROF_WRAP_WAITS: the C library's functions behind the wrappers, and what the wrappers know of a thread.
#ifndef PROF__WAITS_REAL_H
#define PROF__WAITS_REAL_H
#include "api/markup.h"
#include "api/values.h"
#include "ground/base.h"
#include "ground/threads.h"

#ifdef PROF__WRAPS_WAITS
/*-- WAITS -------------------------------------------------------------------------------------------------- >>waits --
   PROF_WRAP_WAITS records how long a thread waited in a call of the C library that may block. A function that the
   program, or a library that is preloaded, defines under such a name replaces that of the C library for all modules of
   the process, but not for calls inside the C library. The original is found with dlsym(RTLD_NEXT). In a program that
   is linked statically there is no other function to find: there the linker must redirect the calls (--wrap=read), and
   PROF_WRAP_WAITS must be 2: lib/wrap_waits.txt has the linker's options.

   The wrappers have names of their own in C, and those of the C library in the object file. So no header of the C
   library need be included for them, and no macro or inline function of such a header is in the way. Their parameters
   have types that are passed in the same way.

   A wait is recorded when it is over, if it was long enough: as a scope from its begin to its end, with the role WAIT,
   in the category "wait". Its arguments are what the thread waited for. Nothing is written before, so that a call that
   does not wait leaves nothing. */

/* The version of glibc; 0: another C library. */
#ifdef __GLIBC__
#define PROF__GLIBC (__GLIBC__ * 100 + __GLIBC_MINOR__)
#else
#define PROF__GLIBC 0
#endif

#if PROF_WRAP_WAITS + 0 == 2
#define PROF__WAIT_SYMBOL "__wrap_"
/* Declares the function that a wrapper calls. The linker makes the name __real_NAME of each function that it wraps. */
#define PROF__WAIT_REAL_AT(result, name, params, symbol)                                                               \
    typedef result prof__call_##name params;                                                                           \
    extern prof__call_##name prof__libc_real_##name __asm__(symbol);                                                   \
    static inline prof__call_##name *prof__real_##name(void) { return &prof__libc_real_##name; }
#define PROF__WAIT_REAL(result, name, params) PROF__WAIT_REAL_AT(result, name, params, "__real_" #name)
/* The same for a function that has no wrapper. */
#define PROF__WAIT_PLAIN(result, name, params) PROF__WAIT_REAL_AT(result, name, params, #name)
#else
#define PROF__WAIT_SYMBOL ""
extern void *prof__libc_dlsym(void *handle, const char *name) __asm__("dlsym");
#if defined(__GLIBC__) && (defined(__x86_64__) || defined(__i386__))
extern void *prof__libc_dlvsym(void *handle, const char *name, const char *version) __asm__("dlvsym");
#endif
#define PROF__NEXT ((void *)(intptr_t)-1) /* RTLD_NEXT */

/* Takes the place of a function that the C library does not have. */
static long prof__real_missing(void)
{
    errno = ENOSYS;
    return -1;
}

static uintptr_t prof__real_find(const char *name)
{
    void *real = NULL;
    PROF__ERRNO_SAVE();
#if defined(__GLIBC__) && (defined(__x86_64__) || defined(__i386__))
    /* dlsym() of some versions returns the oldest condition variables, which have another layout. */
    if (name[0] == 'p' && name[8] == 'c' && name[9] == 'o' && name[13] != 'c')
        real = prof__libc_dlvsym(PROF__NEXT, name, "GLIBC_2.3.2");
#endif
    if (!real) real = prof__libc_dlsym(PROF__NEXT, name);
    PROF__ERRNO_RESTORE();
    return real ? (uintptr_t)real : (uintptr_t)prof__real_missing;
}

/* Looked up before main, and at the first call if that is earlier: a constructor of another module may lock a mutex. */
#define PROF__WAIT_REAL(result, name, params)                                                                          \
    typedef result prof__call_##name params;                                                                           \
    static prof__call_##name *prof__found_##name;                                                                      \
    static prof__call_##name *prof__find_##name(void)                                                       \
    {                                                                                                                  \
        prof__call_##name *real = (prof__call_##name *)prof__real_find(#name);                                         \
        PROF__STORE(&prof__found_##name, real);                                                                        \
        return real;                                                                                                   \
    }                                                                                                                  \
    static inline prof__call_##name *prof__real_##name(void)                                                           \
    {                                                                                                                  \
        prof__call_##name *real = PROF__LOAD(&prof__found_##name);                                                     \
        return PROF__LIKELY(real != NULL) ? real : prof__find_##name();                                                \
    }                                                                                                                  \
    PROF__AT_START(101, prof__early_##name);                                                                           \
    static void prof__early_##name(void) { prof__find_##name(); }
#define PROF__WAIT_PLAIN(result, name, params) PROF__WAIT_REAL(result, name, params)

/* Ends a program that is linked statically, because none of these calls would work. */
PROF__AT_START(102, prof__real_check);
static void prof__real_check(void)
{
    if (prof__real_find("read") != (uintptr_t)prof__real_missing) return;
    fputs("prof: PROF_WRAP_WAITS must be 2 in a program that is linked statically, and the linker needs "
          "-Wl,@wrap_waits.txt: see the manual\n", stderr);
    abort();
}
#endif

/* Begins the definition of a wrapper. The function's body follows. */
#define PROF__WAIT_WRAPPER(result, name, params)                                                                       \
    PROF__WAIT_REAL(result, name, params)                                                                              \
    extern __attribute__((__visibility__("default"), __used__)) result prof__wrapper_##name params __asm__(            \
        PROF__WAIT_SYMBOL #name);                                                                                      \
    result prof__wrapper_##name params

/* A wait has no source line: the enclosing scope says more. */
#define PROF__WAIT_SITE(variable, name, kind, role)                                                                    \
    static prof_site variable = {0, name, "wait", "", name, 0, 0, 1,                                                   \
                                 PROF__KIND_##kind | PROF_ROLE_##role << PROF__ROLE_SHIFT, 0, 0, 0}
#endif /* PROF__WRAPS_WAITS */

#endif /* PROF__WAITS_REAL_H */
