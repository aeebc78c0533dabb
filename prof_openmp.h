/* prof_openmp.h - parallel regions, loops, tasks and barriers of OpenMP, on the time line of the program's scopes, and
                   assembled from src/: change it there, see CONTRIBUTING.md
                   names of its threads - public domain or MIT-0; needs prof.h and libc, no header of OpenMP; the
                   licence is at the end of this file

QUICK START

    #define PROF_IMPLEMENTATION            // in exactly one file of the program, C or C++
    #include "prof_openmp.h"               // includes prof.h

    clang -fopenmp -O2 *.c -o solver
    PROF_OUTPUT=solver.html ./solver       // with PROF_AUTOSTART, or prof_start()

Nothing else is written: the runtime looks for a tool when it starts (OMPT, a part of OpenMP 5), and this header is one.
A program that nobody compiled with it is recorded by a library, which `make openmp` builds:

    PROF_OUTPUT=solver.html LD_PRELOAD=/path/libprof_openmp.so ./solver

Runtimes with OMPT are LLVM's libomp, which clang links, and those made of it, such as Intel's. gcc's libgomp has none:
the header records nothing there, and the metadata "openmp" are missing. Its threads have the program's name, until
PROFILE_THREAD() in a region gives them another. A program of gcc can be linked to libomp instead, which has libgomp's
functions, too: gcc -fopenmp -c, then gcc *.o -lomp.

WHAT IT RECORDS

    Scopes of the category "openmp". F is the function that has the construct; without symbols, its address in its
    module.
      omp parallel F    a parallel region, on the thread that begins it: until all threads are done
      omp thread F      the same on each thread of the region; the argument thread is its number in the region
      omp loop F, omp sections F, omp single F, omp workshare F, omp distribute F, omp taskloop F, omp scope F
                        what this thread does of them
      omp task F        a task, on the thread that executes it; F has created it
      omp barrier F, omp implicit barrier F, omp taskwait F, omp taskgroup F
                        waiting. Tasks that the thread executes meanwhile are inside
      omp idle          a thread of the runtime that has done its part of a region, until it is in the next one. For
                        libomp that is also the barrier at the end of a region, but on the thread that began it
    A thread that the runtime has made is called F and its number: those of the first region that is recorded on it. It
    keeps its track in all regions. A name that PROFILE_THREAD() gives in the region stays.
    The metadata "openmp" are the runtime's version. A region that began before the session has no scope.

WHAT IT COSTS

    Off, a call and a branch for each of these; in a session a scope, of 35 ns. A region of one thread with a loop and
    a barrier takes libomp 14 400 ns, 505 ns with this header, and 650 ns while its four scopes are recorded. The first
    time that a construct is met, its function is looked up in the symbols of its module, which are read once.
*/
#include "prof.h" /* outside of the include guard, because this may be the inclusion with PROF_IMPLEMENTATION */

#pragma pack(push, 16) /* as in prof.h */
#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && !defined(PROF__OPENMP_IMPLEMENTED)
#define PROF__OPENMP_IMPLEMENTED

#if defined(__GNUC__) && defined(__ELF__) /* a runtime finds tools by name there */
#ifdef PROF__WRAPS_MALLOC /* so that prof's own allocations are not recorded as the program's */
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum { /* events, as ompt_callbacks_t */
    PROF__OMPT_THREAD_END = 2,
    PROF__OMPT_PARALLEL_BEGIN = 3,
    PROF__OMPT_PARALLEL_END = 4,
    PROF__OMPT_TASK_CREATE = 5,
    PROF__OMPT_TASK_SCHEDULE = 6,
    PROF__OMPT_IMPLICIT_TASK = 7,
    PROF__OMPT_WORK = 20,
    PROF__OMPT_SYNC_REGION = 23
};
enum { PROF__OMPT_BEGIN = 1, PROF__OMPT_END = 2 };           /* ompt_scope_endpoint_t */
enum { PROF__OMPT_INITIAL = 1, PROF__OMPT_EXPLICIT = 4 };    /* ompt_task_flag_t */
enum { PROF__OMPT_COMPLETE = 1, PROF__OMPT_CANCEL = 3, PROF__OMPT_DETACH = 4 }; /* ompt_task_status_t */

typedef union prof__ompt_data { /* of a thread, region or task: the tool's */
    uint64_t value;
    void *pointer;
} prof__ompt_data;

typedef void (*prof__ompt_function)(void);
typedef prof__ompt_function (*prof__ompt_lookup)(const char *name);
typedef int (*prof__ompt_set_callback)(int event, prof__ompt_function callback);

typedef struct prof__ompt_tool {
    int (*initialize)(prof__ompt_lookup lookup, int device, prof__ompt_data *tool);
    void (*finalize)(prof__ompt_data *tool);
    prof__ompt_data tool;
} prof__ompt_tool;

/* The runtime calls this function when it starts. A label, because the program may include omp-tools.h, which declares
   it with types of its own. */
#define PROF__OMPT_TEXT_(x) #x
#define PROF__OMPT_TEXT(x) PROF__OMPT_TEXT_(x)
__attribute__((__visibility__("default"), __used__)) extern prof__ompt_tool *
prof__ompt_start(unsigned version, const char *runtime)
    __asm__(PROF__OMPT_TEXT(__USER_LABEL_PREFIX__) "ompt_start_tool");

#include <pthread.h>

enum { /* constructs; those of work have the numbers of ompt_work_t, and those of waiting come behind them */
    PROF__OPENMP_PARALLEL,
    PROF__OPENMP_LOOP,
    PROF__OPENMP_SECTIONS,
    PROF__OPENMP_SINGLE,
    PROF__OPENMP_SINGLE_OTHER,
    PROF__OPENMP_WORKSHARE,
    PROF__OPENMP_DISTRIBUTE,
    PROF__OPENMP_TASKLOOP,
    PROF__OPENMP_SCOPE,
    PROF__OPENMP_THREAD,
    PROF__OPENMP_TASK,
    PROF__OPENMP_BARRIER,
    PROF__OPENMP_IMPLICIT,
    PROF__OPENMP_TASKWAIT,
    PROF__OPENMP_TASKGROUP
};
static const char *const prof__openmp_names[] = {
    "omp parallel",  "omp loop",       "omp sections", "omp single", "",           "omp workshare",
    "omp distribute", "omp taskloop",  "omp scope",    "omp thread", "omp task",   "omp barrier",
    "omp implicit barrier", "omp taskwait", "omp taskgroup"};

/* A construct at an address of the program, for ever. */
typedef struct PROF__SITE_TYPE prof__openmp_place {
    struct prof__openmp_place *next;
    uintptr_t address;
    int construct;
    prof_site site;
    const char *function; /* in name */
    char name[96];
} prof__openmp_place;

#define PROF__OPENMP_SLOTS 512
static prof__openmp_place *prof__openmp_places[PROF__OPENMP_SLOTS]; /* a place is whole before it is in a list */
static pthread_mutex_t prof__openmp_making = PTHREAD_MUTEX_INITIALIZER;

static void prof__openmp_lock(void) { pthread_mutex_lock(&prof__openmp_making); }
static void prof__openmp_unlock(void) { pthread_mutex_unlock(&prof__openmp_making); }

#ifdef PROF__INSTANCES
static prof__symbols prof__openmp_symbols; /* with the lock */

typedef struct prof__openmp_search {
    uintptr_t address, base;
    char path[512];
} prof__openmp_search;

static int prof__openmp_visit(const prof__loaded *loaded, size_t size, void *user)
{
    prof__openmp_search *search = (prof__openmp_search *)user;
    const prof__segment *segments = (const prof__segment *)loaded->segments;
    (void)size;
    for (uint16_t i = 0; i < loaded->segment_count; ++i) {
        if (segments[i].p_type != PT_LOAD ||
            search->address - loaded->base - (uintptr_t)segments[i].p_vaddr >= (uintptr_t)segments[i].p_memsz)
            continue;
        search->base = loaded->base;
        prof__loaded_path(search->path, sizeof search->path, loaded->name ? loaded->name : "");
        return 1;
    }
    return 0;
}

#ifdef PROF__SHARED
#include <dlfcn.h>
extern void *prof__openmp_open_module(const char *path, int how) __asm__("dlopen") __attribute__((__weak__));

/* Keeps this library loaded: the runtime calls it until the program ends. */
static void prof__openmp_stay(void)
{
    prof__openmp_search search;
    memset(&search, 0, sizeof search);
    search.address = (uintptr_t)&prof__openmp_making;
    if (prof__openmp_open_module && prof__loaded_each(prof__openmp_visit, &search))
        prof__openmp_open_module(search.path, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}
#else
static void prof__openmp_stay(void) {}
#endif

/* Writes the name of the function that has an address. */
static void prof__openmp_function(uintptr_t address, char *to, size_t size)
{
    prof__openmp_search search;
    memset(&search, 0, sizeof search);
    search.address = address;
    const char *base = "", *name = NULL;
    if (prof__loaded_each(prof__openmp_visit, &search)) {
        const prof__module_symbols *module = prof__module_of(&prof__openmp_symbols, search.path, "");
        base = strrchr(search.path, '/');
        base = base ? base + 1 : search.path;
        for (size_t low = 0, high = module ? module->count : 0; low < high;) { /* the last one that is not behind it */
            size_t middle = low + (high - low) / 2;
            if (module->list[middle].value <= address - search.base) {
                name = module->list[middle].name;
                low = middle + 1;
            } else {
                high = middle;
            }
        }
    }
    snprintf(to, size, "%s", name ? name : "");
    if (!name) snprintf(to, size, "%s+0x%llx", base, (unsigned long long)(address - search.base));
}
#else
static void prof__openmp_stay(void) {}

static void prof__openmp_function(uintptr_t address, char *to, size_t size)
{
    snprintf(to, size, "0x%llx", (unsigned long long)address);
}
#endif

/* There if the program has C++'s library. */
extern char *prof__openmp_demangle(const char *name, char *to, size_t *size, int *status) __asm__("__cxa_demangle")
    __attribute__((__weak__));

/* Names a place. A compiler's function that is the body of a region is named after what the region is named after.
   region: NULL: unknown. */
static void prof__openmp_name(prof__openmp_place *place, const prof__openmp_place *region)
{
    static const char *const bodies[] = {".omp_outlined", ".omp_task_entry", "._omp_fn"}; /* clang's, and gcc's */
    char function[512], *plain = NULL, *end;
    int status, room = (int)sizeof place->name - 1 - (int)strlen(prof__openmp_names[place->construct]) - 1;
    prof__openmp_function(place->address - 1, function, sizeof function); /* it is where a call returns to */
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; ++i)
        if ((end = strstr(function, bodies[i])) != NULL) *end = 0;
    if (!strncmp(function, "_Z", 2) && prof__openmp_demangle)
        plain = prof__openmp_demangle(function, NULL, NULL, &status);
    if (plain && (end = strchr(plain, '(')) != NULL && end != plain) *end = 0;
    snprintf(place->name, sizeof place->name, "%s %.*s", prof__openmp_names[place->construct], room,
             plain ? plain : *function ? function : region ? region->function : "?");
    place->function = place->name + strlen(prof__openmp_names[place->construct]) + 1;
    free(plain);
}

static prof__openmp_place *prof__openmp_find(prof__openmp_place *place, uintptr_t address, int construct)
{
    while (place && (place->address != address || place->construct != construct)) place = place->next;
    return place;
}

static prof__openmp_place *prof__openmp_make(prof__openmp_place **slot, uintptr_t address, int construct,
                                             const prof__openmp_place *region)
{
    int error = errno;
    prof__openmp_lock();
    prof__openmp_place *place = prof__openmp_find(*slot, address, construct);
    if (!place && (place = (prof__openmp_place *)calloc(1, sizeof *place)) != NULL) {
        place->address = address;
        place->construct = construct;
        place->site.category = "openmp";
        place->site.name = place->name;
        place->site.file = place->site.function = "";
        place->site.level = 1;
        place->site.kind = PROF__KIND_BEGIN;
        if (construct >= PROF__OPENMP_BARRIER)
            place->site.kind = (uint16_t)(place->site.kind | PROF_ROLE_WAIT << PROF__ROLE_SHIFT);
        prof__openmp_name(place, region);
        place->next = *slot;
        PROF__RELEASE(slot, place);
    }
    prof__openmp_unlock();
    errno = error;
    return place;
}

/* Returns NULL without memory. */
static prof__openmp_place *prof__openmp_place_of(const void *code, int construct, const prof__openmp_place *region)
{
    uintptr_t address = (uintptr_t)code;
    uint64_t mixed = ((uint64_t)address * 16 + (uint64_t)construct) * 0x9E3779B97F4A7C15u;
    prof__openmp_place **slot = &prof__openmp_places[mixed >> 32 & (PROF__OPENMP_SLOTS - 1)];
    prof__openmp_place *place = prof__openmp_find(PROF__ACQUIRE(slot), address, construct);
    return place ? place : prof__openmp_make(slot, address, construct, region);
}

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

#ifdef __cplusplus
} /* extern "C" */
#endif

#ifdef PROF__WRAPS_MALLOC
#undef malloc
#undef calloc
#undef realloc
#undef free
#endif
#endif
#endif /* PROF_IMPLEMENTATION */

#pragma pack(pop)

/* This software is available under two licences: choose the one you prefer.

ALTERNATIVE A - MIT No Attribution (MIT-0)

Copyright 2026 the prof authors

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

ALTERNATIVE B - public domain (www.unlicense.org)

This is free and unencumbered software released into the public domain.

Anyone is free to copy, modify, publish, use, compile, sell, or distribute this software, either in source code form or
as a compiled binary, for any purpose, commercial or non-commercial, and by any means.

In jurisdictions that recognize copyright laws, the author or authors of this software dedicate any and all copyright
interest in the software to the public domain. We make this dedication for the benefit of the public at large and to the
detriment of our heirs and successors. We intend this dedication to be an overt act of relinquishment in perpetuity of
all present and future rights to this software under copyright law.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS BE
LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT
OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE. */
