// openmp/events: What the runtime says, and the scopes that are recorded then.
#ifndef PROF__OPENMP_EVENTS_H
#define PROF__OPENMP_EVENTS_H
#include "api/control.h"
#include "api/macros.h"
#include "openmp/places.h"

/* What a thread is in, innermost last. */
typedef struct prof__openmp_open {
    const void *what; /* the task, or the name of the construct: runtimes move what they have of regions */
    prof__token token;
    int helps; /* 1: its part of a region that another thread has begun */
} prof__openmp_open;

static PROF__PER_THREAD struct {
    uint32_t depth, room, over; /* over: open, but there was no memory for them in the list */
    int named;
    prof__token idle;
    prof__openmp_open *list; /* not here: a library that is loaded late has little memory for each thread */
} prof__openmp;

static int prof__openmp_grow(void)
{
    uint32_t room = prof__openmp.room ? prof__openmp.room * 2 : 16;
    int error = errno;
    prof__openmp_open *list = (prof__openmp_open *)realloc(prof__openmp.list, room * sizeof *list);
    errno = error;
    if (!list) return 0;
    prof__openmp.list = list;
    prof__openmp.room = room;
    return 1;
}

static int prof__openmp_off(void) { return PROF__LOAD(prof__config_version) == PROF__OFF; }

/* Begins a scope. Returns 0 if none is recorded, as with a place of NULL. */
static prof__token prof__openmp_begin(const void *what, prof__openmp_place *place)
{
    if (prof__openmp.over || (prof__openmp.depth == prof__openmp.room && !prof__openmp_grow())) {
        ++prof__openmp.over;
        return 0;
    }
    prof__openmp_open *open = &prof__openmp.list[prof__openmp.depth++];
    open->what = what;
    open->helps = 0;
    open->token = place && prof__on(&place->site) ? prof__begin(&place->site) : 0;
    return open->token;
}

/* Ends the innermost one of what, and what is inside, whose ends were not said. */
static void prof__openmp_end(const void *what)
{
    uint32_t depth = prof__openmp.depth;
    if (prof__openmp.over) {
        --prof__openmp.over;
        return;
    }
    while (depth && prof__openmp.list[depth - 1].what != what) --depth;
    if (!depth) return;
    while (prof__openmp.depth >= depth) {
        prof__token token = prof__openmp.list[--prof__openmp.depth].token;
        if (token) prof__end(token);
    }
}

/* A construct begins or ends. region: of the thread, NULL: unknown. */
static void prof__openmp_scope(int end, int construct, const void *code, const prof__ompt_data *region)
{
    const prof__openmp_place *around = region ? (const prof__openmp_place *)region->pointer : NULL;
    if (end & PROF__OMPT_BEGIN)
        prof__openmp_begin(prof__openmp_names[construct],
                           prof__openmp_off() ? NULL : prof__openmp_place_of(code, construct, around));
    if (end & PROF__OMPT_END) prof__openmp_end(prof__openmp_names[construct]);
}

static void prof__openmp_parallel_begin(prof__ompt_data *task, const void *frame, prof__ompt_data *region,
                                        unsigned threads, int flags, const void *code)
{
    const prof__openmp_place *around = task ? (const prof__openmp_place *)task->pointer : NULL;
    prof__openmp_place *place =
        prof__openmp_off() ? NULL : prof__openmp_place_of(code, PROF__OPENMP_PARALLEL, around);
    (void)frame;
    (void)threads;
    (void)flags;
    region->pointer = place;
    prof__openmp_begin(prof__openmp_names[PROF__OPENMP_PARALLEL], place);
}

static void prof__openmp_parallel_end(prof__ompt_data *region, prof__ompt_data *task, int flags, const void *code)
{
    (void)region;
    (void)task;
    (void)flags;
    (void)code;
    prof__openmp_end(prof__openmp_names[PROF__OPENMP_PARALLEL]);
}

/* Names a thread of the runtime after the first region in which it is recorded. */
static void prof__openmp_thread(const prof__openmp_place *place, unsigned number)
{
    char name[64];
    snprintf(name, sizeof name, "%.48s %u", place->function, number);
    prof_set_thread_name(name);
    prof__openmp.named = 1;
}

/* Returns 1 if another thread has begun the innermost region. */
static int prof__openmp_helps(void)
{
    uint32_t depth = prof__openmp.depth;
    while (depth && prof__openmp.list[depth - 1].what != prof__openmp_names[PROF__OPENMP_THREAD]) --depth;
    return depth && prof__openmp.list[depth - 1].helps;
}

/* A thread is idle that has done its part of another thread's region. libomp says only when the next region begins that
   it has left the barrier at the region's end, and the region. */
static void prof__openmp_idles(void)
{
    static prof_site site = {0, "omp idle", "openmp", "", "", 0, 0, 1,
                             PROF__KIND_BEGIN | PROF_ROLE_WAIT << PROF__ROLE_SHIFT, 0, 0, 0};
    prof__openmp_end(prof__openmp_names[PROF__OPENMP_THREAD]);
    if (!prof__openmp.idle && !prof__openmp_off() && prof__on(&site)) prof__openmp.idle = prof__begin(&site);
}

static void prof__openmp_thread_end(prof__ompt_data *thread)
{
    (void)thread;
    if (prof__openmp.idle) prof__end(prof__openmp.idle);
    free(prof__openmp.list);
    memset(&prof__openmp, 0, sizeof prof__openmp);
}

/* A thread begins or ends its part of a region. */
static void prof__openmp_implicit(int end, prof__ompt_data *region, prof__ompt_data *task, unsigned threads,
                                  unsigned number, int flags)
{
    (void)threads;
    if (flags & PROF__OMPT_INITIAL) return;
    if (end == PROF__OMPT_BEGIN) {
        prof__openmp_place *place = region && !prof__openmp_off() ? (prof__openmp_place *)region->pointer : NULL;
        if (prof__openmp.idle) prof__end(prof__openmp.idle);
        prof__openmp.idle = 0;
        task->pointer = place;
        if (place && number && !prof__openmp.named) prof__openmp_thread(place, number);
        if (place) place = prof__openmp_place_of((const void *)place->address, PROF__OPENMP_THREAD, place);
        if (prof__openmp_begin(prof__openmp_names[PROF__OPENMP_THREAD], place))
            PROFILE_ARGS(PROF_ARG_U("thread", number));
        if (!prof__openmp.over) prof__openmp.list[prof__openmp.depth - 1].helps = number != 0;
    } else if (prof__openmp_helps()) {
        prof__openmp_idles();
    } else if (!prof__openmp.idle) {
        prof__openmp_end(prof__openmp_names[PROF__OPENMP_THREAD]);
    }
}

static void prof__openmp_work(int work, int end, prof__ompt_data *region, prof__ompt_data *task, uint64_t count,
                              const void *code)
{
    (void)task;
    (void)count;
    if (work == PROF__OPENMP_SINGLE_OTHER) return;
    if (work < 1 || work > PROF__OPENMP_SCOPE) work = PROF__OPENMP_LOOP; /* OpenMP 5.2 has a number for each schedule */
    prof__openmp_scope(end, work, code, region);
}

static void prof__openmp_sync(int kind, int end, prof__ompt_data *region, prof__ompt_data *task, const void *code)
{
    static const signed char constructs[] = {
        -1, PROF__OPENMP_BARRIER, PROF__OPENMP_IMPLICIT, PROF__OPENMP_BARRIER, PROF__OPENMP_IMPLICIT,
        PROF__OPENMP_TASKWAIT, PROF__OPENMP_TASKGROUP, -1, PROF__OPENMP_IMPLICIT, PROF__OPENMP_IMPLICIT,
        PROF__OPENMP_IMPLICIT}; /* 7: a reduction, which waits in no other region than these */
    int known = kind > 0 && kind < (int)sizeof constructs ? constructs[kind] : -1;
    (void)task;
    if (known == PROF__OPENMP_IMPLICIT && !code && end == PROF__OMPT_BEGIN && prof__openmp_helps())
        prof__openmp_idles();
    else if (known >= 0 && !prof__openmp.idle)
        prof__openmp_scope(end, known, code, region);
}

static void prof__openmp_create(prof__ompt_data *task, const void *frame, prof__ompt_data *made, int flags, int depends,
                                const void *code)
{
    const prof__openmp_place *around = task ? (const prof__openmp_place *)task->pointer : NULL;
    (void)frame;
    (void)depends;
    if (!(flags & PROF__OMPT_EXPLICIT)) return;
    made->pointer = prof__openmp_off() ? NULL : prof__openmp_place_of(code, PROF__OPENMP_TASK, around);
}

/* A thread goes from a task to another. One that only waits stays open: what the thread does meanwhile is inside. */
static void prof__openmp_schedule(prof__ompt_data *before, int status, prof__ompt_data *next)
{
    prof__openmp_place *place = next ? (prof__openmp_place *)next->pointer : NULL;
    int ends = status == PROF__OMPT_COMPLETE || status == PROF__OMPT_CANCEL || status == PROF__OMPT_DETACH;
    if (ends && before) prof__openmp_end(before);
    if (!place || place->construct != PROF__OPENMP_TASK) return;
    for (uint32_t i = prof__openmp.depth; i; --i)
        if (prof__openmp.list[i - 1].what == next) return; /* it goes on */
    prof__openmp_begin(next, place);
}

static int prof__openmp_initialize(prof__ompt_lookup lookup, int device, prof__ompt_data *tool)
{
    static const struct {
        int event;
        prof__ompt_function callback;
    } wanted[] = {{PROF__OMPT_THREAD_END, (prof__ompt_function)prof__openmp_thread_end},
                  {PROF__OMPT_PARALLEL_BEGIN, (prof__ompt_function)prof__openmp_parallel_begin},
                  {PROF__OMPT_PARALLEL_END, (prof__ompt_function)prof__openmp_parallel_end},
                  {PROF__OMPT_TASK_CREATE, (prof__ompt_function)prof__openmp_create},
                  {PROF__OMPT_TASK_SCHEDULE, (prof__ompt_function)prof__openmp_schedule},
                  {PROF__OMPT_IMPLICIT_TASK, (prof__ompt_function)prof__openmp_implicit},
                  {PROF__OMPT_WORK, (prof__ompt_function)prof__openmp_work},
                  {PROF__OMPT_SYNC_REGION, (prof__ompt_function)prof__openmp_sync}};
    prof__ompt_set_callback set = (prof__ompt_set_callback)lookup("ompt_set_callback");
    (void)device;
    (void)tool;
    for (size_t i = 0; set && i < sizeof wanted / sizeof *wanted; ++i) set(wanted[i].event, wanted[i].callback);
    if (set) pthread_atfork(prof__openmp_lock, prof__openmp_unlock, prof__openmp_unlock);
    return set != NULL;
}

static void prof__openmp_finalize(prof__ompt_data *tool) { (void)tool; }

prof__ompt_tool *prof__ompt_start(unsigned version, const char *runtime)
{
    static prof__ompt_tool tool = {prof__openmp_initialize, prof__openmp_finalize, {0}};
    (void)version;
    prof__openmp_stay();
    prof_set_metadata("openmp", runtime);
    return &tool;
}

#endif /* PROF__OPENMP_EVENTS_H */
