/* tasks.c - what the kernel does: tasks that compute and share a lock, that send each other work, and short-lived ones

   The work is bounded by counts, not by time, so that it is the same on every machine; only ticks, and what waits for
   them, vary. */
#include "prof_kernel.h"

enum { WORKERS = 4, ROUNDS = 150, ITEMS = 300, ROOM = 4, CHILDREN = 20 };

static struct semaphore shared_lock = {1, {NULL, NULL, 0}};
static unsigned long shared;

static void shared_add(unsigned long amount)
{
    SCOPE("shared");
    PROFILE_LOCK_WAIT(&shared_lock, "shared lock");
    semaphore_wait(&shared_lock);
    PROFILE_LOCK_ACQUIRE(&shared_lock, "shared lock");
    shared += amount;
    COUNTER("sum", shared);
    PROFILE_LOCK_RELEASE(&shared_lock, "shared lock");
    semaphore_post(&shared_lock);
}

/* Goes on until a tick has interrupted it, so that each round is preempted at least once. */
static unsigned long compute(void)
{
    SCOPE("compute");
    unsigned long loops = 0;
    unsigned ticks = task_ticks();
    while (task_ticks() == ticks) ++loops;
    return loops;
}

static void worker(void)
{
    SCOPE("worker");
    for (unsigned long i = 0; i < ROUNDS; ++i) {
        SCOPE("round");
        PROFILE_ARG_U("i", i);
        shared_add(compute() ? 2 : 1);
    }
}

/* Items go from one task to another one; the arrows in the viewer are flows. */
static struct semaphore room = {ROOM, {NULL, NULL, 0}}, full = {0, {NULL, NULL, 0}};
static unsigned long items[ROOM];

static void producer(void)
{
    for (unsigned long i = 0; i < ITEMS; ++i) {
        SCOPE("produce");
        semaphore_wait(&room);
        items[i % ROOM] = i;
        PROFILE_FLOW_OUT(i + 1);
        semaphore_post(&full);
    }
}

static void consumer(void)
{
    for (unsigned long i = 0; i < ITEMS; ++i) {
        SCOPE("consume");
        semaphore_wait(&full);
        PROFILE_FLOW_IN(items[i % ROOM] + 1);
        if (items[i % ROOM] != i) kernel_panic("item", items[i % ROOM], i);
        semaphore_post(&room);
    }
}

/* Short-lived tasks, one after the other, in the same memory. */
static struct semaphore child_done;

static void child(void)
{
    {
        SCOPE("child");
        task_yield();
        shared_add(1);
    }
    semaphore_post(&child_done);
}

static void parent(void)
{
    char name[] = "child 00";
    SCOPE("parent");
    for (unsigned i = 0; i < CHILDREN; ++i) {
        name[6] = (char)('0' + i / 10);
        name[7] = (char)('0' + i % 10);
        if (!task_new(name, child)) kernel_panic("no task", i, 0);
        semaphore_wait(&child_done);
        if (i == CHILDREN / 2) {
            SCOPE("snapshot");
            recorder_snapshot();
        }
    }
}

void tasks_begin(void)
{
    SCOPE("tasks begin");
    char name[] = "worker 0";
    for (unsigned i = 0; i < WORKERS; ++i) {
        name[7] = (char)('0' + i);
        task_new(name, worker);
    }
    task_new("producer", producer);
    task_new("consumer", consumer);
    task_new("parent", parent);
}
