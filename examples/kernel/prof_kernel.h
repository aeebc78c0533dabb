/* prof_kernel.h - prof.h in your own kernel: every marked-up file includes this instead of prof.h

   recorder.c alone defines PROF_IMPLEMENTATION before it. Macros may be used in tasks and traps, with interrupts on or
   off, while any lock is held. Each task has a state of its own, and so have the traps of each processor; so no macro
   meets another one in the middle of its work on the same state. Traps do not interrupt each other here. In a kernel
   where they do, each level needs a state, and where there are NMIs, PROF_MAY_WAIT() as well: see docs/guide/kernels.md. */
#ifndef PROF_KERNEL_H
#define PROF_KERNEL_H

#include "kernel.h"

#define PROF_FREESTANDING
#define PROF_MINIMAL
#define PROF_NO_DOUBLE

#ifdef PROF_IMPLEMENTATION

#define PROF_CHUNK_SIZE 4096 /* each context has one */
#define PROF_MAX_TEXT 120    /* stacks are small */
#define PROF_CLOCK_READ() processor_clock()
#define PROF_CPU_STATE() (context_here()->state)
#define PROF_CPU_STATE_SIZE CONTEXT_STATE_SIZE
#define PROF_CPU_ID() (context_here()->id)
#define PROF_CPU_NAME(text, size) recorder_name(text, size)
#define PROF_INTERRUPTS_OFF() processor_interrupts_off()
#define PROF_INTERRUPTS_RESTORE(before) processor_interrupts_restore(before)
#define PROF_WAIT() processor_pause()
#define PROF_ALLOCATE(size) recorder_allocate(size)
#define PROF_RELEASE(memory) recorder_release(memory)

static void recorder_name(char *text, size_t size);
static void *recorder_allocate(size_t size);
static void recorder_release(void *memory);

#endif

#include "prof.h"

/* This kernel counts by itself what it records, for tests/kernel.sh to compare. Yours just has PROFILE_SCOPE(). */
struct counted {
    const char *kind, *name;
    unsigned long count, unused;
};

#define COUNT(kind, name)                                                                                              \
    do {                                                                                                               \
        static struct counted counted_here __attribute__((section("counted"), used)) = {kind, name, 0, 0};             \
        __atomic_fetch_add(&counted_here.count, 1, __ATOMIC_RELAXED);                                                  \
    } while (0)

#define SCOPE(name)                                                                                                    \
    PROFILE_SCOPE(name);                                                                                               \
    COUNT("scope", name);                                                                                              \
    ++context_here()->scopes

#define COUNTER(name, value)                                                                                           \
    do {                                                                                                               \
        PROFILE_COUNTER(name, value);                                                                                  \
        COUNT("counter", name);                                                                                        \
    } while (0)

#endif
