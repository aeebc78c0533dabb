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

/* The ring of a processor, which the kernel writes. */
typedef struct prof__ring {
    int file;
    uint32_t processor;
    char *map;      /* a page that describes the ring, then the ring: data */
    char *data;
    uint64_t bytes; /* of the ring, a power of two */
    uint64_t head, tail; /* written up to head, as a round found it; read up to tail */
    uint64_t lost;  /* switches that the kernel has told to be lost */
    uint64_t untold; /* switches that were lost, and that the image does not count yet */
    prof__batch batch;
} prof__ring;

/* What a session asks for. */
enum { PROF__SYSTEM_SWITCHES = 1, PROF__SYSTEM_COUNTERS = 2 };

/* Fields change in prof_start() and at the end of a recording, under the control lock; while the thread runs, only the
   thread changes rings, switches and the window. In a child of fork() nothing is left of them. */
static struct {
    prof__session *session;
    int asked, running, told; /* asked: bits; told: the kernel says whether a thread that stops waits */
    uint32_t stop, done; /* done: the thread has recorded what was left */
    uint64_t events_written;
    int wake;                 /* an eventfd that ends the thread's sleep */
    int sandbox;              /* the seccomp mode at the start */
    prof__ring *rings;
    size_t ring_count;
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
    char counters_why[PROF__SYSTEM_WHY]; /* likewise */
} prof__system;

#endif /* PROF__SYSTEM_STATE_H */
