// record/malloc: PROF_WRAP_MALLOC: replaces malloc() and its relatives with functions that record each call.
#ifndef PROF__RECORD_MALLOC_H
#define PROF__RECORD_MALLOC_H
#include "api/markup.h"
#include "api/values.h"
#include "ground/base.h"
#include "record/functions.h"

/*-- MALLOC ------------------------------------------------------------------------------------------------ >>malloc --
   PROF_WRAP_MALLOC records the calls of the C library's allocator. A malloc() that the program defines replaces that of
   every library, for all modules of the process. glibc also exports its allocator under internal names, so that the
   original need not be looked up with dlsym(), which allocates. With PROF_MALLOC_CALLERS each place that calls has a
   call site of its own. Its address is that before the return address, so in the call, which may be the last
   instruction of a function that does not return. Deeper frames are not read, because code without frame pointers puts
   anything into their register. */

#ifdef __EMSCRIPTEN__ /* they were defined in ground/base.h, see prof__heap_has() */
#undef malloc
#undef calloc
#undef realloc
#endif
#ifdef PROF__WRAPS_MALLOC
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef qsort
#undef fopen
#undef fdopen
#undef fclose
#undef fread
#undef fwrite
#undef fgets
#undef fgetc
#undef localtime_r
#undef pthread_create
#undef pthread_setspecific
#ifdef PROF__LATE_POSIX /* as in ground/platform.h, for prof's other headers */
#define fdopen(file, mode) prof__libc_fdopen(file, mode)
#define localtime_r(time, to) prof__libc_localtime_r(time, to)
#endif
#ifdef __cplusplus
#define PROF__NOTHROW noexcept
#else
#define PROF__NOTHROW
#endif
#ifdef PROF__MALLOC_CALLERS
#define PROF__WRAPPER __attribute__((__noinline__)) /* so that it has a return address of its own */
#define PROF__CALLER() ((uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)) - 1)
#else
#define PROF__WRAPPER
#define PROF__CALLER() 0
#endif
#define PROF__MALLOC_SITE(variable, name) /* no source line: the enclosing scope says more */                          \
    static prof_site variable = {0, name, "malloc", "", name, 0, 0, 1,                                             \
                                 PROF__KIND_EVENT | PROF_ROLE_MEMORY << PROF__ROLE_SHIFT, 0, 0, 0}

#ifdef PROF__MALLOC_CALLERS
/* Returns the call site of a caller; `site` if there is no room for it. */
static __attribute__((__noinline__)) prof_site *prof__caller_site(prof_site *site, uintptr_t caller)
{
    uint32_t slot;
    prof__function *function = prof__function_find(caller, &slot);
    return PROF__LIKELY(function != NULL) ? &function->site : prof__function_add(caller, site);
}
#else
#define prof__caller_site(site, caller) (site)
#endif

/* caller: see PROF__CALLER(); 0 for a free, which belongs to no place. */
static inline void prof__wrap(prof_site *site, uintptr_t caller, uint64_t how, uintptr_t freed, void *address,
                              size_t size)
{
    if (prof__quiet || !prof__live(site)) return;
    if (caller) {
        site = prof__caller_site(site, caller);
        if (!prof__live(site)) return;
    }
    prof__memory(site, how | PROF__FREE_IN_POOL, freed, (uint64_t)(uintptr_t)address, size);
}

static void *prof__wrap_malloc(size_t size, uintptr_t caller)
{
    PROF__MALLOC_SITE(site, "malloc");
    void *address = __libc_malloc(size);
    prof__wrap(&site, caller, 0, 0, address, size);
    return address;
}

PROF__WRAPPER void *malloc(size_t size) PROF__NOTHROW
{
    return prof__wrap_malloc(size, PROF__CALLER());
}

PROF__WRAPPER void *calloc(size_t count, size_t size) PROF__NOTHROW
{
    PROF__MALLOC_SITE(site, "calloc");
    void *address = __libc_calloc(count, size);
    prof__wrap(&site, PROF__CALLER(), 0, 0, address, count * size);
    return address;
}

PROF__WRAPPER void *realloc(void *old, size_t size) PROF__NOTHROW
{
    PROF__MALLOC_SITE(site, "realloc");
    uintptr_t freed = (uintptr_t)old;
    void *address = __libc_realloc(old, size);
    prof__wrap(&site, PROF__CALLER(), PROF__FREE_LATE, freed, address, size);
    return address;
}

void free(void *address) PROF__NOTHROW
{
    PROF__MALLOC_SITE(site, "free");
    prof__wrap(&site, 0, 0, (uintptr_t)address, NULL, 0);
    __libc_free(address);
}

static void *prof__wrap_aligned(prof_site *site, uintptr_t caller, size_t alignment, size_t size)
{
    void *address = __libc_memalign(alignment, size);
    prof__wrap(site, caller, 0, 0, address, size);
    return address;
}

PROF__WRAPPER void *memalign(size_t alignment, size_t size) PROF__NOTHROW
{
    PROF__MALLOC_SITE(site, "memalign");
    return prof__wrap_aligned(&site, PROF__CALLER(), alignment, size);
}

PROF__WRAPPER void *aligned_alloc(size_t alignment, size_t size) PROF__NOTHROW
{
    PROF__MALLOC_SITE(site, "aligned_alloc");
    return prof__wrap_aligned(&site, PROF__CALLER(), alignment, size);
}

PROF__WRAPPER void *valloc(size_t size) PROF__NOTHROW
{
    PROF__MALLOC_SITE(site, "valloc");
    return prof__wrap_aligned(&site, PROF__CALLER(), (size_t)sysconf(_SC_PAGESIZE), size);
}

PROF__WRAPPER void *pvalloc(size_t size) PROF__NOTHROW
{
    PROF__MALLOC_SITE(site, "pvalloc");
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (size > (size_t)-1 - page) {
        errno = ENOMEM;
        return NULL;
    }
    return prof__wrap_aligned(&site, PROF__CALLER(), page, (size + page - 1) / page * page);
}

PROF__WRAPPER int posix_memalign(void **to, size_t alignment, size_t size) PROF__NOTHROW
{
    PROF__MALLOC_SITE(site, "posix_memalign");
    int before = errno, failed = 0;
    void *address;
    if (alignment < sizeof(void *) || alignment & (alignment - 1)) return EINVAL;
    address = prof__wrap_aligned(&site, PROF__CALLER(), alignment, size);
    if (!address) failed = ENOMEM;
    else *to = address;
    errno = before;
    return failed;
}

#if defined(__cplusplus) && defined(PROF__MALLOC_CALLERS)
extern "C++" {
#include <new>
/* These replace the C++ library's, whose calls of malloc() would all count for them. Weak: a program may have its own
   instead. */
static void *prof__wrap_new(size_t size, uintptr_t caller)
{
    for (;;) {
        void *address = prof__wrap_malloc(size ? size : 1, caller);
        if (address) return address;
        std::new_handler handler = std::get_new_handler();
        if (handler) {
            handler();
            continue;
        }
#ifdef __cpp_exceptions
        throw std::bad_alloc();
#else
        abort();
#endif
    }
}

__attribute__((__weak__)) PROF__WRAPPER void *operator new(size_t size) { return prof__wrap_new(size, PROF__CALLER()); }
__attribute__((__weak__)) PROF__WRAPPER void *operator new[](size_t size)
{
    return prof__wrap_new(size, PROF__CALLER());
}
} /* extern "C++" */
#endif
#endif

#endif /* PROF__RECORD_MALLOC_H */
