// system/state: What prof_system.h knows of the running session.
#ifndef PROF__SYSTEM_STATE_H
#define PROF__SYSTEM_STATE_H
#include "ground/errors.h"
#include "ground/numbers.h"
#include "image/system.h"
#include "record/state.h"

#if defined(__linux__) && defined(SYS_perf_event_open) && !defined(PROF_NO_THREAD)
#define PROF__SYSTEM_LINUX 1
#endif

/* One line says why something is not recorded. */
#define PROF__SYSTEM_WHY 200

#define PROF__SWITCH_BATCH 60 /* words of an EVENT: with its own four it is a fifteenth more than they are */

/* Switches of one processor that are to become an EVENT. */
typedef struct prof__batch {
    uint64_t base, last; /* ns: of its first word; of its last one */
    uint64_t told;       /* how many lost switches its first word stands for */
    uint32_t count;
    uint64_t words[PROF__SWITCH_BATCH];
} prof__batch;

/* A part of a loaded module that has code: what the image's MODULE record says. */
typedef struct prof__known_module {
    uint64_t start, end, offset;
    uint32_t path, build; /* string ids */
} prof__known_module;

/* A ring of a processor, which the kernel writes: of switches, or of samples. */
typedef struct prof__ring {
    int file;    /* of its first event; -1: its processor is off, and it has none, nor a map */
    int samples; /* 1: of samples */
    uint32_t processor;
    char *map;      /* a page that describes the ring, then the ring: data */
    char *data;
    uint64_t bytes; /* of the ring, a power of two; without a map: that it is to have */
    uint64_t head, tail; /* written up to head, as a round found it; read up to tail */
    uint64_t lost;  /* switches, or samples, that the kernel has told to be lost */
    uint64_t untold; /* those that were lost, and that the image does not count yet */
    uint64_t dropped; /* samples that found no room in prof's buffer, likewise */
    prof__batch batch;
} prof__ring;

/* A thread whose time in the run queue prof's thread reads: see system/delays. */
#define PROF__DELAYS 256u
typedef struct prof__delay {
    uint32_t thread;
    int file; /* + 1 */
    int met;  /* 1: it has run since it was read */
} prof__delay;

/* Page faults that are to become an EVENT. */
#define PROF__FAULTS 20u
typedef struct prof__fault {
    uint64_t ns, address;
    uint32_t thread, file; /* file: a string id */
} prof__fault;

/* What a session asks for. */
enum { PROF__SYSTEM_SWITCHES = 1, PROF__SYSTEM_COUNTERS = 2, PROF__SYSTEM_SAMPLES = 4, PROF__SYSTEM_FAULTS = 8 };

/* Fields change in prof_start(), under the control lock, and at the end of a recording, under ending; while the thread
   runs, only the thread changes rings, switches and the window. In a child of fork() nothing is left of them. */
static struct {
    prof__session *session;
    int asked, running, told; /* asked: bits; told: the kernel says whether a thread that stops waits */
    uint64_t period;          /* of samples, in ns of a thread's running time */
    uint32_t stop, done; /* done: the thread has recorded what was left */
    int ending;          /* a lock: the service and a control function may end a recording at the same time */
    uint64_t events_written;
    int wake;                 /* an eventfd that ends the thread's sleep */
    int sandbox;              /* the seccomp mode at the start */
    prof__ring *rings; /* first those of switches, then those of samples */
    size_t ring_count, switch_rings;
    int online;           /* a file that lists the processors that are on, or -1 */
    char processors[256]; /* what it said last */
    uint64_t most_processors; /* those that the machine had at the start, on or off: others get no ring */
    struct {
        int file;
        uint32_t ring;
    } *events;
    size_t event_count, event_room;
    uint32_t *threads; /* the system's ids of those that have events */
    size_t thread_count, thread_room;
    uint64_t refused; /* threads without events */
    uint64_t switches, window_from, window_switches; /* of the window of ten seconds: see prof__budget() */
#ifdef PROF__SYSTEM_LINUX
    pthread_t thread;
#endif
    char why[PROF__SYSTEM_WHY]; /* why switches are not recorded; "": they are */
    char counters_why[PROF__SYSTEM_WHY], samples_why[PROF__SYSTEM_WHY]; /* likewise */
    int faults;                      /* 1: page faults are recorded, in the rings of switches */
    prof__fault fault[PROF__FAULTS];
    size_t fault_count;
    uint64_t faults_refused; /* threads and processors without the event */
    int delays;                 /* 1: times in the run queue are read */
    prof__delay delay[PROF__DELAYS]; /* by the thread's id */
    uint64_t held_back; /* how often the kernel held back samples of a thread, because they were too many */
    prof__known_module *modules; /* those that are loaded, or were the last ones at their addresses */
    size_t module_count, module_room;
    uint32_t module_records;          /* of the image */
    unsigned long long loads[2];      /* how many modules the loader has loaded and unloaded */
    int modules_missing;              /* 1: some found no room in the image, or there was no memory */
} prof__system;

#endif /* PROF__SYSTEM_STATE_H */
