/* A job system on fibers, as engines have it: a job that waits for other jobs gives its worker away, and goes on later
   on whichever worker is free. Each fiber is a track (prof_fiber_create), so that scopes of a job stay open while it
   waits, and end on another thread than the one on which they began.

       cc -O2 examples/engines/jobs.c -o jobs -pthread && ./jobs

   It writes jobs.json (or its first argument): open it in ui.perfetto.dev. Rows are fibers, not jobs: a fiber runs one
   job after the other, so that there are 40 rows and not 3,601. The scopes "job" of a worker's own row say when it ran
   which fiber. Stacks are switched in 15 instructions on x86-64, much as in Boost.Context; on other processors and
   systems, and with -DJOBS_UCONTEXT, by ucontext, which costs a system call. To prof both are the same. */
#define _GNU_SOURCE
#define PROF_CATEGORY "jobs"
#define PROF_IMPLEMENTATION
#include "../../prof_chrome.h"
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORKERS = 4, FIBERS = 40, STACK = 128 << 10, QUEUE = 1024, FRAMES = 100, SYSTEMS = 4, PARTS = 8 };

/*-- switching stacks ------------------------------------------------------------------------------------------------*/

#if defined(__x86_64__) && defined(__ELF__) && !defined(__ILP32__) && !defined(JOBS_UCONTEXT)
typedef void *context; /* the stack pointer; what a call preserves is on the stack */

/* Saves the present context in *from and continues *to. */
void switch_context(context *from, const context *to);
__asm__(".text\n.type switch_context, @function\nswitch_context:\n"
        "  push %rbp\n  push %rbx\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
        "  mov %rsp, (%rdi)\n  mov (%rsi), %rsp\n"
        "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbx\n  pop %rbp\n"
        "  ret\n.size switch_context, .-switch_context\n");

static int make_context(context *c, void *stack, void (*run)(void))
{
    uintptr_t *top = (uintptr_t *)(void *)((char *)stack + STACK);
    top[-2] = (uintptr_t)run; /* what ret jumps to; the stack is then as after a call */
    *c = top - 8;             /* six registers below */
    return 1;
}
#else
#include <ucontext.h>
typedef ucontext_t context;

static void switch_context(context *from, const context *to) { swapcontext(from, to); }

static int make_context(context *c, void *stack, void (*run)(void))
{
    if (getcontext(c)) return 0;
    c->uc_stack.ss_sp = stack;
    c->uc_stack.ss_size = STACK;
    makecontext(c, run, 0);
    return 1;
}
#endif

/*-- the job system --------------------------------------------------------------------------------------------------*/

typedef struct counter { /* of jobs that are not done */
    int left;
    struct fiber *waiting;
} counter;

typedef struct job {
    void (*run)(int number);
    int number;
    counter *done;
} job;

typedef struct fiber {
    context here;
    prof_fiber *track;
    void *stack;
    job job;
    counter *waits_for; /* NULL: its job is done */
    int worker, moves;  /* where it runs; how often it went on elsewhere */
    struct fiber *next;
} fiber;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    job jobs[QUEUE];
    int first, count, over;
    fiber fibers[FIBERS], *ready, *idle; /* ready: what they waited for is done */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static __thread struct worker {
    context scheduler;
    fiber *now;
    int number;
} this_worker;

/* A function that switches stacks may return on another thread: it must not keep addresses of thread-locals. */
static __attribute__((noinline)) struct worker *me(void)
{
    __asm__ volatile("");
    return &this_worker;
}

static void add_jobs(void (*run)(int number), int count, counter *done)
{
    pthread_mutex_lock(&pool.lock);
    done->left += count;
    if (pool.count + count > QUEUE) abort(); /* a larger game needs a larger queue */
    for (int i = 0; i < count; i++)
        pool.jobs[(pool.first + pool.count++) % QUEUE] = (job){run, i, done};
    pthread_cond_broadcast(&pool.changed);
    pthread_mutex_unlock(&pool.lock);
}

/* Returns once all jobs of the counter are done; meanwhile the worker runs other fibers. */
static void wait_for(counter *c)
{
    fiber *f = me()->now;
    PROFILE_FUNCTION();
    f->waits_for = c;
    switch_context(&f->here, &me()->scheduler);
}

/* What a fiber runs: its job, and then the next one that it is given. */
static void run_jobs(void)
{
    for (;;) {
        fiber *f = me()->now;
        f->job.run(f->job.number);
        f->waits_for = NULL;
        switch_context(&f->here, &me()->scheduler);
    }
}

/* Takes a fiber that can go on, or an idle one for the next job. The lock is held. */
static fiber *take(void)
{
    fiber *f = pool.ready;
    if (f) {
        pool.ready = f->next;
    } else if (pool.count && pool.idle) {
        f = pool.idle;
        pool.idle = f->next;
        f->job = pool.jobs[pool.first];
        pool.first = (pool.first + 1) % QUEUE;
        pool.count--;
    }
    return f;
}

/* Decides what becomes of a fiber that has stopped. The lock is held: only now may another worker continue it. */
static void put(fiber *f)
{
    counter *c = f->waits_for;
    if (c && c->left) {
        c->waiting = f;
    } else if (c) {
        f->next = pool.ready;
        pool.ready = f;
    } else {
        c = f->job.done;
        if (--c->left == 0 && c->waiting) {
            c->waiting->next = pool.ready;
            pool.ready = c->waiting;
            c->waiting = NULL;
        }
        f->next = pool.idle;
        pool.idle = f;
    }
    pthread_cond_broadcast(&pool.changed);
}

static void run_fiber(fiber *f)
{
    struct worker *w = me();
    PROFILE_SCOPE("job"); /* on the worker's own track */
    PROFILE_ARG_I("fiber", f - pool.fibers);
    f->moves += f->waits_for && f->worker != w->number;
    f->worker = w->number;
    w->now = f;
    prof_fiber_switch(f->track);
    switch_context(&w->scheduler, &f->here);
    prof_fiber_switch(NULL);
}

static void *work(void *number)
{
    char name[16];
    me()->number = (int)(intptr_t)number;
    snprintf(name, sizeof name, "worker %d", me()->number);
    PROFILE_THREAD(name);
    pthread_mutex_lock(&pool.lock);
    while (!pool.over) {
        fiber *f = take();
        if (!f) {
            pthread_cond_wait(&pool.changed, &pool.lock);
            continue;
        }
        pthread_mutex_unlock(&pool.lock);
        run_fiber(f);
        pthread_mutex_lock(&pool.lock);
        put(f);
    }
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

/*-- the game: in each frame a few systems, each of some parts -------------------------------------------------------*/

static void part(int number)
{
    PROFILE_FUNCTION();
    for (volatile int i = 0; i < 20000 + number * 5000; i++) continue;
}

static void system_of_game(int number)
{
    counter parts = {0};
    PROFILE_FUNCTION(); /* open while the parts run, on this worker or others */
    PROFILE_ARG_I("number", number);
    add_jobs(part, PARTS, &parts);
    wait_for(&parts);
}

static void play(int unused)
{
    (void)unused;
    for (int i = 0; i < FRAMES; i++) {
        counter systems = {0};
        PROFILE_SCOPE("play frame");
        add_jobs(system_of_game, SYSTEMS, &systems);
        wait_for(&systems);
    }
    pthread_mutex_lock(&pool.lock);
    pool.over = 1;
    pthread_mutex_unlock(&pool.lock);
}

int main(int argc, char **argv)
{
    pthread_t threads[WORKERS];
    counter game = {0};
    int moves = 0;
    prof_config config = {.output = argc > 1 ? argv[1] : "jobs.json"};
    if (prof_start(&config) != PROF_OK) return fprintf(stderr, "%s\n", prof_error()), 1;
    for (int i = 0; i < FIBERS; i++) {
        fiber *f = &pool.fibers[i];
        char name[16];
        snprintf(name, sizeof name, "fiber %d", i);
        f->track = prof_fiber_create(name);
        f->stack = malloc(STACK);
        if (!f->track || !f->stack || !make_context(&f->here, f->stack, run_jobs)) return 1;
        f->next = pool.idle;
        pool.idle = f;
    }
    add_jobs(play, 1, &game);
    for (int i = 0; i < WORKERS; i++) pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
    for (int i = 0; i < WORKERS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < FIBERS; i++) {
        moves += pool.fibers[i].moves;
        prof_fiber_destroy(pool.fibers[i].track);
        free(pool.fibers[i].stack);
    }
    if (prof_stop() != PROF_OK) return fprintf(stderr, "%s\n", prof_error()), 1;
    printf("%d frames; jobs went on %d times on another worker\n", FRAMES, moves);
    return 0;
}
