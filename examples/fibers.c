/* Fibers: coroutines that two threads resume in turns, each with a track of its own in the trace. A scope
   stays open while its fiber waits, and may end on another thread than the one on which it began.

       cc -O2 examples/fibers.c -o fibers -pthread && ./fibers

   It writes fibers.json: open it in ui.perfetto.dev. */
#define PROF_IMPLEMENTATION
#include "../prof_chrome.h"
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { FIBERS = 8, THREADS = 2, ROUNDS = 20, STACK = 256 << 10 };

/*-- a small scheduler: a queue of fibers that are ready, from which the threads take turns -------------------------*/

typedef struct fiber {
    ucontext_t here; /* where the fiber continues */
    prof_fiber *track;
    void *stack;
    int number, over;
    struct fiber *next;
} fiber;

static fiber fibers[FIBERS], *first, **last = &first;
static int alive = FIBERS;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void ready(fiber *f)
{
    pthread_mutex_lock(&lock);
    f->next = NULL;
    *last = f;
    last = &f->next;
    pthread_mutex_unlock(&lock);
}

static fiber *take(int *left)
{
    pthread_mutex_lock(&lock);
    fiber *f = first;
    if (f && !(first = f->next)) last = &first;
    *left = alive;
    pthread_mutex_unlock(&lock);
    return f;
}

/* A function that switches stacks may return on another thread: it must not keep addresses of thread-locals. */
static __thread ucontext_t scheduler;
static __attribute__((noinline)) ucontext_t *my_scheduler(void)
{
    __asm__ volatile("");
    return &scheduler;
}

static void yield(fiber *f) { swapcontext(&f->here, my_scheduler()); }

static void *run(void *name)
{
    int left = FIBERS;
    PROFILE_THREAD((const char *)name);
    while (left) {
        fiber *f = take(&left);
        if (!f) {
            sched_yield();
            continue;
        }
        PROFILE_SCOPE("turn"); /* on the thread's track: it ends after the switch back */
        PROFILE_ARG_I("fiber", f->number);
        prof_fiber_switch(f->track);
        swapcontext(my_scheduler(), &f->here);
        prof_fiber_switch(NULL);
        if (!f->over) {
            ready(f);
        } else {
            pthread_mutex_lock(&lock);
            --alive;
            pthread_mutex_unlock(&lock);
        }
    }
    return NULL;
}

/*-- what a fiber does: a request that waits again and again ---------------------------------------------------------*/

static void compute(int amount)
{
    PROFILE_FUNCTION();
    for (volatile int i = 0; i < amount * 1000; ++i) continue;
}

static void request(fiber *f, int round)
{
    PROFILE_SCOPE("request");
    PROFILE_ARG_I("round", round);
    compute(5 + f->number);
    {
        PROFILE_SCOPE("wait");
        yield(f); /* others run; this scope and the one around it stay open */
    }
    compute(10);
}

static void fiber_main(int number)
{
    fiber *f = &fibers[number];
    for (int round = 0; round < ROUNDS; ++round) request(f, round);
    f->over = 1;
    yield(f);
}

int main(void)
{
    static const char *const names[THREADS] = {"worker 1", "worker 2"};
    pthread_t threads[THREADS];
    prof_config config;
    memset(&config, 0, sizeof config);
    config.output = "fibers.json";
    if (prof_start(&config)) return fprintf(stderr, "%s\n", prof_error()), 1;
    PROFILE_THREAD("main");
    for (int i = 0; i < FIBERS; ++i) {
        char name[32];
        fiber *f = &fibers[i];
        snprintf(name, sizeof name, "request handler %d", i);
        f->track = prof_fiber_create(name);
        f->number = i;
        f->stack = malloc(STACK);
        if (!f->stack || getcontext(&f->here)) return 1;
        f->here.uc_stack.ss_sp = f->stack;
        f->here.uc_stack.ss_size = STACK;
        makecontext(&f->here, (void (*)(void))fiber_main, 1, i);
        ready(f);
    }
    for (int i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, run, (void *)names[i]);
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
    if (prof_stop()) return fprintf(stderr, "%s\n", prof_error()), 1;
    for (int i = 0; i < FIBERS; ++i) {
        prof_fiber_destroy(fibers[i].track);
        free(fibers[i].stack);
    }
    printf("%d fibers on %d threads: see fibers.json\n", FIBERS, THREADS);
    return 0;
}
