/* An allocator that is itself marked up: what the recorder, its control functions and its reader allocate runs through
   scopes, and so do the allocations of the C library inside them. */
/* run: optimised */
#include "../prof_read.h"
#include "test.h"
#include "trace.h"
#include <pthread.h>
#include <stdlib.h>

#if defined(__GLIBC__) && TRACE_SANITIZER == 0
#define HAVE_HOOKS 1
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *at, size_t size);
extern void __libc_free(void *at);

static uint64_t calls; /* of all threads */

#define COUNT() __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED)

void *malloc(size_t size)
{
    PROFILE_SCOPE("malloc");
    PROFILE_ARG_U("size", size);
    COUNT();
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    PROFILE_SCOPE("calloc");
    COUNT();
    return __libc_calloc(count, size);
}

void *realloc(void *at, size_t size)
{
    PROFILE_SCOPE("realloc");
    COUNT();
    return __libc_realloc(at, size);
}

void free(void *at)
{
    PROFILE_SCOPE("free");
    COUNT();
    __libc_free(at);
}

static void *allocate(void *unused)
{
    void *volatile keep; /* or the compiler leaves the calls out */
    for (int i = 0; i < 200; ++i) {
        PROFILE_SCOPE_F("allocating %d", i); /* printf may allocate */
        keep = malloc((size_t)i + 1);
        keep = realloc(keep, 1000);
        free(keep);
    }
    return unused;
}
#else
#define HAVE_HOOKS 0
#endif

TEST(scopes_in_the_allocator)
{
#if HAVE_HOOKS
    static const char *const outputs[] = {NULL, "malloc.prof", "malloc.csv"};
    for (int round = 0; round < 30 && !test_failures; ++round) {
        prof_config config = trace_config(4 << 20);
        pthread_t threads[2];
        if (outputs[round % 3]) config.output = trace_path(outputs[round % 3]);
        if (round % 2) config.mode = PROF_FILL;
        trace_start(&config);
        __atomic_store_n(&calls, 0, __ATOMIC_RELAXED);
        for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, allocate, NULL);
        allocate(NULL);
        for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
        CHECK_EQUAL(prof_save(trace_path("malloc_saved.csv")), PROF_OK);
        prof_fiber *fiber = prof_fiber_create("fiber");
        prof_fiber_switch(fiber);
        allocate(NULL);
        prof_fiber_destroy(fiber);
        uint64_t made = __atomic_load_n(&calls, __ATOMIC_RELAXED);
        CHECK_EQUAL(prof_stop(), PROF_OK);
        prof_trace *trace = trace_live();
        uint64_t found = 0;
        for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
            trace_list list = trace_read(trace, i);
            for (size_t k = 0; k < list.count; ++k) {
                const char *name = list.events[k].name;
                found += !strcmp(name, "malloc") || !strcmp(name, "calloc") || !strcmp(name, "realloc") || !strcmp(name, "free");
                CHECK_EQUAL(list.events[k].flags, 0);
            }
            trace_free(&list);
        }
        CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
        CHECK(found >= 4 * 3 * 200);
        CHECK(found + prof_trace_about(trace)->lost >= made);
        prof_trace_close(trace);
        if (round % 4 == 0) CHECK_EQUAL(prof_reset(), PROF_OK);
    }
    prof_reset();
#else
    SKIP("needs glibc and no sanitizer");
#endif
}

TEST_MAIN
