// chrome/state: What is known of a file while it is written.
#ifndef PROF__CHROME_STATE_H
#define PROF__CHROME_STATE_H
#include "api/read.h"
#include "api/values.h"
#include "ground/out.h"
#include "report/site_texts.h"
#include "chrome/api.h"

#define PROF__CHROME_DEPTH 512      /* scopes as deep as this have their ends compared with their parents' */
#define PROF__CHROME_FRAMES 64      /* names of frames that one thread may have */
#define PROF__CHROME_MARKS 64       /* tracks for marks of all threads */
#define PROF__CHROME_EXACT ((int64_t)1 << 53)

typedef struct prof__chrome_thread {
    uint32_t id, pid; /* pid: the id of the process, or a number for a device */
    uint32_t groups; /* bit n: the thread has events of group n */
} prof__chrome_thread;

/* One of the traces that the file is made of. */
typedef struct prof__chrome_part {
    const prof_trace *trace;
    int64_t offset; /* what is added to the trace's times to get those of the file */
    uint32_t pid;
    prof__chrome_thread *threads; /* by track */
    uint32_t devices;
} prof__chrome_part;

/* A track for those marks of all threads that have one name. */
typedef struct prof__chrome_marks {
    const char *name; /* the name of a call site; NULL: marks with names made at run time */
    uint32_t pid, tid;
} prof__chrome_marks;

typedef struct prof__chrome {
    prof__out out;
    const prof_trace *const *traces;
    prof__chrome_part *parts; /* of each trace */
    size_t part_count, machines; /* machines: see prof_trace_align() */
    prof_chrome_options options;
    uint32_t *taken;      /* the ids of the system that the file has, ascending */
    size_t taken_count, taken_at;
    uint32_t last_id;     /* the last of our own ids */
    uint64_t frame_tracks;
    prof__chrome_marks marks[PROF__CHROME_MARKS];
    size_t mark_count;
    const char *mark_thread; /* the thread that made a mark, if the mark has a track of its own; else NULL */
    uint32_t lock_tid;       /* the track for locks; 0: this part has none yet */
    const prof__chrome_part *part; /* the part that is being written; down to pid: copies of its fields */
    const prof_trace *trace;
    const prof_trace_info *about;
    prof__chrome_thread *threads;
    int64_t offset;
    uint32_t pid;
    prof__site_texts sites;       /* ,"name":"...", and at `rest` ,"cat":"...","loc":"..." */
    uint64_t stamp;               /* 1 + the milliseconds of the last time written; 0: there is none yet */
    size_t stamp_size;
    char stamp_text[16];          /* the digits of these milliseconds */
} prof__chrome;

typedef struct prof__chrome_ids {
    char text[56]; /* ,"pid":1,"tid":2,"ts": */
    size_t size;
} prof__chrome_ids;

/* A track of frames: those of one name on one thread, or those of one prof_frame_create(). */
typedef struct prof__chrome_frames {
    const char *name;
    uint64_t id; /* the id of the frame object; 0: of PROFILE_FRAME */
    int64_t origin; /* when the first frame begins */
    uint32_t tid;
} prof__chrome_frames;

/* What is known of a track while it is written. */
typedef struct prof__chrome_track {
    prof__chrome_ids ids;
    int64_t origin; /* when the first scope begins, which speedscope counts from; -1: there is none yet */
    double zero;    /* `origin` in microseconds */
    struct {
        int64_t start, duration;
        const char *name; /* NULL: made at run time; then `hash` is the hash of the name */
        uint32_t hash;
        int open, exact;              /* open: its line has no duration yet; exact: it ends when its parent ends */
    } scope;                          /* the scope written last */
    int64_t ends[PROF__CHROME_DEPTH]; /* of each depth: the end of the open scope */
    prof__chrome_frames frames[PROF__CHROME_FRAMES];
    size_t frame_count;
} prof__chrome_track;

/* Returns an id for a thread or device that the system does not know: the next one, from 1 on, that no thread or
   process of the file has. Viewers show it beside the name, so it is short. */
static uint32_t prof__chrome_new_id(prof__chrome *c)
{
    uint32_t id = ++c->last_id;
    for (; c->taken_at < c->taken_count && c->taken[c->taken_at] <= id; c->taken_at++)
        if (c->taken[c->taken_at] == id) id = ++c->last_id;
    return id;
}

#define PROF__CHROME_LITERAL(out, literal) prof__out_bytes(out, literal, sizeof(literal) - 1)

#endif /* PROF__CHROME_STATE_H */
