// image/system: How an image stores what the operating system did with the program's threads.
#ifndef PROF__IMAGE_SYSTEM_H
#define PROF__IMAGE_SYSTEM_H
#include "image/device.h"

/*-- SYSTEM ------------------------------------------------------------------------------------------------ >>system --
   A processor begins to run a thread, and ceases to. That is on no thread's track either: an EVENT of type
   PROF__DEVICE_SWITCHES, in the chunk of the thread that drains the kernel's rings, without a call site:

     EVENT  detail: the processor (31..0), PROF__SWITCHES_... (39..32), how many of these EVENTs were before (55..40)
            object: CLOCK_MONOTONIC, nanoseconds
     DATA   without a key, of type NONE: a word for each switch: 63..25 nanoseconds since the one before, or since the
            object; 24..3 the thread's id; 2..0 PROF__SWITCH_...

   The writer reserves the words of both in one piece, and stores the head of the EVENT last. */

enum {
    PROF__SWITCHES_OF = 0, /* of one processor, in order of time */
    PROF__SWITCHES_BEGIN,  /* the threads at the start */
    PROF__SWITCHES_UNTIL   /* without DATA: the switches of all processors before the time are in the image */
};

enum {
    PROF__SWITCH_IN = 0, /* runs from now on */
    PROF__SWITCH_WAITS,  /* stops by itself */
    PROF__SWITCH_READY,  /* is stopped, but could go on */
    PROF__SWITCH_OUT,    /* one of the two; the kernel does not say which */
    PROF__SWITCH_ENDS,
    PROF__SWITCH_NEW,    /* is created, and could run */
    PROF__SWITCH_KNOWN,  /* from now on all switches of this thread are recorded */
    PROF__SWITCH_LOST    /* in place of a thread's id: how many switches of the processor are missing before this */
};

#define PROF__SWITCH_THREADS (1u << 22) /* Linux has fewer thread ids */
#define PROF__SWITCH_SPAN (1ull << 39)  /* ns from one word to the next one, at most */

static uint64_t prof__switch_word(uint64_t ns, uint64_t thread, unsigned what) { return ns << 25 | thread << 3 | what; }
static uint64_t prof__switch_ns(uint64_t word) { return word >> 25; }
static uint32_t prof__switch_thread(uint64_t word) { return (uint32_t)(word >> 3) & (PROF__SWITCH_THREADS - 1); }
static unsigned prof__switch_what(uint64_t word) { return (unsigned)(word & 7); }

/*-- SAMPLES --------------------------------------------------------------------------------------------- >>samples --
   Whenever a thread has used a processor for a period, the kernel says where it is: a sample. Samples of one processor
   are in an EVENT of type PROF__DEVICE_SAMPLES, in the chunk of the thread that drains the kernel's rings:

     EVENT  detail: the processor (31..0), 0 (39..32)
            object: CLOCK_MONOTONIC, nanoseconds
     DATA   without a key, of type STRING: bytes, which end with at least one zero

   The bytes are numbers as in the archive (see >>pack), signed ones as zigzag numbers: the period in nanoseconds; how
   many samples of the processor are missing since the last such EVENT: for want of room in the kernel's ring, then in
   prof's buffer. For each sample:

     frames    from 1 to 64; 0: no sample follows
     shared    of these, how many of the outermost ones are those of the sample before in this EVENT
     thread    signed: its id, less that of the sample before
     time      nanoseconds since the sample before or, of the first one, since the object
     the other frames, from the outermost one to the innermost: signed, the address less that of the frame around it
               (of the outermost one: less 0) */

#define PROF__SAMPLE_DEPTH 64u /* frames */
#define PROF__SAMPLE_WORDS 60u /* of the bytes of an EVENT: with its own four it is a fifteenth more than they are */

/*-- DELAYS ----------------------------------------------------------------------------------------------- >>delays --
   The kernel tells when a thread comes to run, but not when it was woken. It does count for how long each thread
   has been in the run queue: preempted, or woken. Readings of that are in an EVENT of type PROF__DEVICE_DELAYS, in
   the chunk of the thread that has waited, or of the thread that drains the kernel's rings:

     EVENT  detail: 0
            object: CLOCK_MONOTONIC, nanoseconds, before they were taken
     DATA   without a key, of type NONE: a word for each thread: 63..22 nanoseconds in the run queue since the thread's
            begin, modulo 2^42; 21..0 the thread's id

   What lies between two readings of a thread, and is not the time in which it was preempted, is the time between its
   being woken and its running. */

#define PROF__DELAY_MASK ((1ull << 42) - 1)
#define PROF__DELAY_LATE 20000u /* ns: a thread that came to run so soon after the time may have been read before that,
                                   or after it */

static uint64_t prof__delay_word(uint64_t ns, uint64_t thread)
{
    return ns << 22 | (thread & (PROF__SWITCH_THREADS - 1));
}
static uint64_t prof__delay_ns(uint64_t word) { return word >> 22; }
static uint32_t prof__delay_thread(uint64_t word) { return (uint32_t)word & (PROF__SWITCH_THREADS - 1); }

/*-- FAULTS --------------------------------------------------------------------------------------------- >>faults --
   A thread has touched a page that had to be read from a disk, and goes on now. Such faults are in an EVENT of type
   PROF__DEVICE_FAULTS, in the chunk of the thread that drains the kernel's rings:

     EVENT  detail: 0
            object: CLOCK_MONOTONIC, nanoseconds
     DATA   without a key, of type NONE: three words for each fault: 63..22 nanoseconds since the object, 21..0 the
            thread's id; the address; the file that is mapped there (string id; 0: none)

   When a fault began, the thread's switches say: it waited until just before. */

#define PROF__FAULT_WORDS 3
/* The first word of a fault is packed as one of a delay is. */

#define PROF__MODULE_WORDS 6 /* of a MODULE record of meta, head included */

/* The keys of the arguments of a scope that says itself what its thread did, as numbers without a sign. A scope without
   the last two: it is known for how long the thread ran, but not what it did else. */
#define PROF__KEY_RUNNING "prof.running_ns"
#define PROF__KEY_READY "prof.ready_ns"
#define PROF__KEY_WAITING "prof.waiting_ns"

/* A pair of metadata by which a kernel says that its fibers are tasks, which processors run: see >>tasks. The thread id
   of a TRACK is the processor then. */
#define PROF__SAID_TASKS "prof.tasks"
#define PROF__SAID_FIBERS "fibers"

#endif /* PROF__IMAGE_SYSTEM_H */
