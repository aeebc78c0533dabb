// record/allocator: PROF_WRAP_MALLOC=2, for a library that is preloaded: finds the allocator behind the wrappers, and
// reads PROF_MALLOC, which turns them on.
#ifndef PROF__RECORD_ALLOCATOR_H
#define PROF__RECORD_ALLOCATOR_H
#include "api/markup.h"
#include "ground/base.h"
#include "ground/compiler.h"
#include "ground/threads.h"

#ifdef PROF__MALLOC_NEXT
/* The functions of the next module that has them: those of the C library or, if the program has another allocator, of
   that one. memalign() stands for all that align: its blocks have the same free(). */
static struct {
    void *(*real_malloc)(size_t size);
    void *(*real_calloc)(size_t count, size_t size);
    void *(*real_realloc)(void *old, size_t size);
    void *(*real_memalign)(size_t alignment, size_t size);
    void (*real_free)(void *address);
    int found; /* 1: all of them are known; -1: they are being looked up */
} prof__allocator = {__libc_malloc, __libc_calloc, __libc_realloc, __libc_memalign, __libc_free, 0};

static uint32_t prof__malloc_depth; /* functions of a stack that are told; 0: nothing is recorded */

extern void *prof__libc_dlsym(void *handle, const char *name) __asm__("dlsym");

/* Stores a function's address if the function is there. */
static void prof__allocator_take(void *to, const char *name)
{
    void *real = prof__libc_dlsym((void *)(intptr_t)-1, name); /* RTLD_NEXT */
    if (real) memcpy(to, &real, sizeof real);
}

/* Looks the functions up at the first call, which may come from another library's constructor. dlsym() of an old glibc
   calls calloc() for a buffer that the thread keeps: it gets one of the C library. */
static PROF__COLD void prof__allocator_find(void)
{
    PROF__ERRNO_SAVE();
    prof__allocator.found = -1;
    prof__allocator_take(&prof__allocator.real_malloc, "malloc");
    prof__allocator_take(&prof__allocator.real_calloc, "calloc");
    prof__allocator_take(&prof__allocator.real_realloc, "realloc");
    prof__allocator_take(&prof__allocator.real_memalign, "memalign");
    prof__allocator_take(&prof__allocator.real_free, "free");
    PROF__RELEASE(&prof__allocator.found, 1);
    PROF__ERRNO_RESTORE();
}

static inline void prof__allocator_need(void)
{
    if (PROF__UNLIKELY(!PROF__ACQUIRE(&prof__allocator.found))) prof__allocator_find();
}
#define PROF__ALLOCATOR(name) (prof__allocator_need(), prof__allocator.real_##name)
/* Calls the allocator, whose calls of its own functions are not the program's. */
#define PROF__ALLOCATE(name, args)                                                                                     \
    (prof__malloc_depth ? PROF__QUIETLY(void *, PROF__ALLOCATOR(name) args) : PROF__ALLOCATOR(name) args)
static inline void prof__allocator_free(void *address)
{
    uint32_t asked = prof__malloc_depth;
    if (asked) prof__quiet++;
    PROF__ALLOCATOR(free)(address);
    if (asked) prof__quiet--;
}

/* Before the recording of the environment begins. */
PROF__AT_START(101, prof__malloc_asked);
static void prof__malloc_asked(void)
{
    const char *text = getenv("PROF_MALLOC"), *digit = text;
    uint32_t depth = 0;
    if (!text || !*text) return;
    for (; *digit >= '0' && *digit <= '9' && depth <= PROF__MALLOC_CALLERS; ++digit)
        depth = depth * 10 + (uint32_t)(*digit - '0');
    if (*digit || depth > PROF__MALLOC_CALLERS) {
        fprintf(stderr, "prof: PROF_MALLOC '%.60s': must be 0, or how many functions of the stack to tell: 1 to %d\n",
                text, PROF__MALLOC_CALLERS);
        return;
    }
    prof__malloc_depth = depth;
}
#endif

#endif /* PROF__RECORD_ALLOCATOR_H */
