// record/malloc: PROF_WRAP_MALLOC: replaces malloc() and its relatives with functions that record each call.
#ifndef PROF__RECORD_MALLOC_H
#define PROF__RECORD_MALLOC_H
#include "api/markup.h"
#include "api/values.h"
#include "ground/base.h"
#include "record/allocator.h"
#include "record/functions.h"

/*-- MALLOC ------------------------------------------------------------------------------------------------ >>malloc --
   PROF_WRAP_MALLOC records the calls of the C library's allocator. A malloc() that the program defines replaces that of
   every library, for all modules of the process. glibc also exports its allocator under internal names, so that the
   original need not be looked up with dlsym(), which allocates. With PROF_MALLOC_CALLERS each place that calls has a
   call site of its own. Its address is that before the return address, so in the call, which may be the last
   instruction of a function that does not return. The functions around it are found by the compiler's library, from the
   tables that are there for exceptions: code without frame pointers puts anything into their register. */

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

#ifndef PROF__MALLOC_NEXT
#define prof__malloc_depth PROF__MALLOC_CALLERS
#define PROF__ALLOCATE(name, args) __libc_##name args
#define prof__allocator_free(address) __libc_free(address)
#endif

#ifdef PROF__MALLOC_CALLERS
#include <unwind.h>

typedef struct prof__stack {
    uintptr_t caller; /* of malloc(): the frames inside are prof's */
    uint32_t count, inside;
    uintptr_t frames[PROF__MALLOC_CALLERS];
} prof__stack;

#define PROF__MOST_INSIDE 16 /* so many frames are prof's at most: without tables of prof's own code, none is found */

/* Takes a frame of the stack, the innermost first. Returns what ends the walk when there are enough. */
static _Unwind_Reason_Code prof__stack_visit(struct _Unwind_Context *context, void *argument)
{
    prof__stack *stack = (prof__stack *)argument;
    uintptr_t at = (uintptr_t)_Unwind_GetIP(context);
    if (!at) return _URC_END_OF_STACK;
    if (!stack->count && at - 1 != stack->caller)
        return ++stack->inside < PROF__MOST_INSIDE ? _URC_NO_REASON : _URC_END_OF_STACK;
    stack->frames[stack->count++] = at - 1;
    return stack->count < prof__malloc_depth ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static void prof__stack_take(prof__stack *stack, uintptr_t caller)
{
    stack->caller = caller;
    stack->count = stack->inside = 0;
    if (prof__malloc_depth > 1) {
        prof__quiet++; /* the tables of code that was made at run time are sorted at their first use */
        _Unwind_Backtrace(prof__stack_visit, stack);
        prof__quiet--;
    }
    if (!stack->count) stack->frames[stack->count++] = caller;
}

/* Returns the call site of a caller, within those around it. If there is no room for it, returns that of the innermost
   one that there is, or `site`. */
static __attribute__((__noinline__)) prof_site *prof__caller_site(prof_site *site, uintptr_t caller)
{
    prof_site *found = site;
    prof__stack stack;
    uint32_t number = 0, slot;
    prof__stack_take(&stack, caller);
    while (stack.count) {
        uintptr_t address = stack.frames[--stack.count];
        prof__function *function = prof__function_find(address, number, &slot);
        if (PROF__UNLIKELY(!function)) function = prof__function_add(address, number, site);
        if (!function) break;
        number = (uint32_t)(function - prof__functions) + 1;
        found = &function->site;
    }
    return found;
}
#else
#define prof__caller_site(site, caller) (site)
#endif

/* caller: see PROF__CALLER(); 0 for a free, which belongs to no place. */
static inline void prof__wrap(prof_site *site, uintptr_t caller, uint64_t how, uintptr_t freed, void *address,
                              size_t size)
{
#ifdef PROF__MALLOC_NEXT
    if (PROF__LIKELY(!prof__malloc_depth)) return;
#endif
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
    void *address = PROF__ALLOCATE(malloc, (size));
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
    void *address = PROF__ALLOCATE(calloc, (count, size));
    prof__wrap(&site, PROF__CALLER(), 0, 0, address, count * size);
    return address;
}

PROF__WRAPPER void *realloc(void *old, size_t size) PROF__NOTHROW
{
    PROF__MALLOC_SITE(site, "realloc");
    uintptr_t freed = (uintptr_t)old;
    void *address = PROF__ALLOCATE(realloc, (old, size));
    if (!address && size) return NULL; /* the old block is as it was */
    prof__wrap(&site, PROF__CALLER(), PROF__FREE_LATE, freed, address, size);
    return address;
}

void free(void *address) PROF__NOTHROW
{
    PROF__MALLOC_SITE(site, "free");
    prof__wrap(&site, 0, 0, (uintptr_t)address, NULL, 0);
    prof__allocator_free(address);
}

static void *prof__wrap_aligned(prof_site *site, uintptr_t caller, size_t alignment, size_t size)
{
    void *address = PROF__ALLOCATE(memalign, (alignment, size));
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
