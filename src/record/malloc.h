// record/malloc: PROF_WRAP_MALLOC: replaces malloc() and its relatives with functions that record each call.
#ifndef PROF__RECORD_MALLOC_H
#define PROF__RECORD_MALLOC_H
#include "api/markup.h"
#include "api/values.h"
#include "ground/base.h"

/*-- MALLOC ------------------------------------------------------------------------------------------------ >>malloc --
   PROF_WRAP_MALLOC records the calls of the C library's allocator. A malloc() that the program defines replaces that of
   every library, for all modules of the process. glibc also exports its allocator under internal names, so that the
   original need not be looked up with dlsym(), which allocates. */

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
#define PROF__MALLOC_SITE(variable, name) /* no source line: the enclosing scope says more */                          \
    static prof_site variable = {0, name, "malloc", "", name, 0, 0, 1,                                             \
                                 PROF__KIND_EVENT | PROF_ROLE_MEMORY << PROF__ROLE_SHIFT, 0, 0, 0}

static void prof__wrap(prof_site *site, uint64_t how, uintptr_t freed, void *address, size_t size)
{
    if (prof__quiet || !prof__live(site)) return;
    prof__memory(site, how | PROF__FREE_IN_POOL, freed, (uint64_t)(uintptr_t)address, size);
}

void *malloc(size_t size) PROF__NOTHROW
{
    PROF__MALLOC_SITE(site, "malloc");
    void *address = __libc_malloc(size);
    prof__wrap(&site, 0, 0, address, size);
    return address;
}

void *calloc(size_t count, size_t size) PROF__NOTHROW
{
    PROF__MALLOC_SITE(site, "calloc");
    void *address = __libc_calloc(count, size);
    prof__wrap(&site, 0, 0, address, count * size);
    return address;
}

void *realloc(void *old, size_t size) PROF__NOTHROW
{
    PROF__MALLOC_SITE(site, "realloc");
    uintptr_t freed = (uintptr_t)old;
    void *address = __libc_realloc(old, size);
    prof__wrap(&site, PROF__FREE_LATE, freed, address, size);
    return address;
}

void free(void *address) PROF__NOTHROW
{
    PROF__MALLOC_SITE(site, "free");
    prof__wrap(&site, 0, (uintptr_t)address, NULL, 0);
    __libc_free(address);
}

static void *prof__wrap_aligned(prof_site *site, size_t alignment, size_t size)
{
    void *address = __libc_memalign(alignment, size);
    prof__wrap(site, 0, 0, address, size);
    return address;
}

void *memalign(size_t alignment, size_t size) PROF__NOTHROW
{
    PROF__MALLOC_SITE(site, "memalign");
    return prof__wrap_aligned(&site, alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) PROF__NOTHROW
{
    PROF__MALLOC_SITE(site, "aligned_alloc");
    return prof__wrap_aligned(&site, alignment, size);
}

void *valloc(size_t size) PROF__NOTHROW
{
    PROF__MALLOC_SITE(site, "valloc");
    return prof__wrap_aligned(&site, (size_t)sysconf(_SC_PAGESIZE), size);
}

void *pvalloc(size_t size) PROF__NOTHROW
{
    PROF__MALLOC_SITE(site, "pvalloc");
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (size > (size_t)-1 - page) {
        errno = ENOMEM;
        return NULL;
    }
    return prof__wrap_aligned(&site, page, (size + page - 1) / page * page);
}

int posix_memalign(void **to, size_t alignment, size_t size) PROF__NOTHROW
{
    PROF__MALLOC_SITE(site, "posix_memalign");
    int before = errno, failed = 0;
    void *address;
    if (alignment < sizeof(void *) || alignment & (alignment - 1)) return EINVAL;
    address = prof__wrap_aligned(&site, alignment, size);
    if (!address) failed = ENOMEM;
    else *to = address;
    errno = before;
    return failed;
}
#endif

#endif /* PROF__RECORD_MALLOC_H */
