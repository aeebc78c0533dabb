/* prof_bridge.h - what prof records, in other tools at the same time - public domain or MIT-0
                   assembled from src/: change it there, see CONTRIBUTING.md
                   ITT (VTune and others), NVTX (Nsight), SDT (perf, bpftrace, SystemTap, gdb); the licence is
                   at the end of this file

QUICK START

    Define one, two or all three in the file with PROF_IMPLEMENTATION, and nowhere else. prof.h then includes this
    header by itself; marked-up files do not change, and need not be compiled again.

    cc -DPROF_WITH_NVTX -I/usr/local/cuda/include -c prof.c        needs <nvtx3/nvToolsExt.h>, and -ldl to link
    cc -DPROF_WITH_ITT -I.../ittapi/include -c prof.c              needs <ittnotify.h>, and -littnotify -ldl to link
    cc -DPROF_WITH_SDT -c prof.c                                   needs <sys/sdt.h>: systemtap-sdt-dev, -devel

    PROF_BRIDGE=1 nsys profile --trace=nvtx ./program              or vtune -collect hotspots ./program
    bpftrace -e 'usdt:./program:prof:scope_begin { printf("%s\n", str(arg0)); }' -c ./program

WHAT IT COSTS

    None of the three defined              nothing: a test checks that the object files are the same
    Defined, but no tool is attached       a scope takes 12 (NVTX) to 15 (SDT) more instructions, a mark 7 to 11 more
                                           (gcc 12 -O2 under callgrind, 2026-11-21; ITT was not measured)
    A tool is attached                     in addition, what the tool takes for each call

ENVIRONMENT

    PROF_BRIDGE=1          records for a tool alone, without an output, from before main to exit, in a program that does
                           not call prof_start()

COMPILE-TIME OPTIONS, besides the three

    PROF_BRIDGE_DOMAIN     "prof"    the domain of scopes and other events without a category
    PROF_BRIDGE_DEPTH      128       nested scopes that are sent to a tool; deeper ones are in the trace only
    PROF_BRIDGE_NAMES      4096      names made at run time that are kept; for further ones see Names below

MANUAL

    When. A tool receives exactly what prof records: call sites that are on, in a session that runs and is not paused.
    So levels, categories and pauses apply to tools, too. If only the tool is to record, start a session without an
    output: it needs a buffer (128 KiB are enough) and leaves no file. PROF_BRIDGE=1 in the environment does that from
    before main to exit, for a program that does not call prof_start(). ITT and NVTX look for their tool in the first
    prof_start(); for SDT a tool may come at any time.

    What.              ITT                            NVTX                            SDT, provider prof

    category           domain                         domain                          an argument
    name               string handle                  registered string               an argument
    scope, function,   task begin, end                push, pop; color                scope_begin(name, category)
      block, stage                                                                    scope_end(name, category)
    argument           metadata of the task           -                               arg(key, category, type, bits)
                                                                                      arg_string(key, category, text)
      of a handle, list  -                              -                               -
    mark               marker, with the mark's scope  mark; color                     mark(name, category)
    counter            counter, typed: set            mark; payload: the value        counter(name, category, value)
                                                                                      counter_double(..., bits)
    step, throughput   task with metadata             push, pop; payload: the number  scope_begin, arg, scope_end
    PROFILE_FRAME      frame begin, end (v3)          range start, end                frame(name, category), at each
                                                                                        boundary
    span               overlapped task                range start, end; payload: id   event(name, category, type,
    frame of a handle  frame begin, end (v3)          the same                          object, detail): these
    task               task begin, end (see below)    as a span                         and all other types
    lock               sync prepare, acquired,        -
                         releasing
    flow, memory       -                              -
    range of a handle  event start, end               push, pop                       scope_begin, scope_end
    message            marker: the format             mark: the message               log(message, category, severity)
    name of a thread   thread name                    name of the OS thread           thread(name)
    pause, resume      pause, resume of collection    -                               pause(), resume()

    type is a prof_value_type or a prof_event_type; bits are those of a double, as an integer. SDT probes have
    semaphores. ITT's frames are in the domain of their category or, if they have none, in a domain of their own name.
    Rows of devices are in the trace only. Messages are formatted at once if a tool is attached.

    Order. prof reads its clock before it tells a tool of a begin or an end. So the time that the tool takes for a begin
    counts in that scope, and the time for an end in the enclosing scope. min_duration removes scopes only from the
    trace. In a tool, a scope that longjmp() has left ends with the next enclosing scope, and a PROFILE_BEGIN of a
    session that is over ends with the next scope on its thread. A frame ends at a boundary, at a pause, and in
    prof_stop().

    Tasks. ITT gets a task of prof_task_create() as a task of its thread, as MXNet sends it, as long as it nests with
    the thread's scopes. Once one did not, or has ended on another thread, those of its name are overlapped tasks.
    prof_counter_destroy() destroys ITT's counters of that name.

    Fibers. In a tool, open scopes belong to a thread. When a fiber leaves a thread, its scopes end in the tool, and
    when it continues they begin again: the tool sees them in parts.

    Names. A tool's handle is made once for each name of a category, under a lock, and then found without one. It is
    found by its name, not by its call site alone, because a plugin may be unloaded and another one loaded at its
    address. The first PROF_BRIDGE_NAMES names made at run time (_DYNAMIC, _F) are kept as well; for further ones NVTX
    and SDT get the text itself, ITT the literal.

    Signals. While a thread is in a tool's code, what a handler or the tool itself records is in the trace only. But
    prof does not know when a thread is in other code of the tool, or in malloc(): with scopes in signal handlers use
    SDT, which is safe there. After a siglongjmp() out of a tool's code, tools get no scopes of that thread until it
    calls prof_start().

    fork(). Tools get the scopes of a child if they follow it.

    Shared libraries. Tools are called by the recorder that records for the process (see >>instances in prof.h); one
    with PROF_STATIC calls them itself. If a recorder is unloaded, so are the names that it has kept.
*/
#ifndef PROF_BRIDGE_H
#define PROF_BRIDGE_H
#include "prof.h"
#endif

/*== END OF HEADER ==================================================================================================*/

/* prof.h includes the rest of this header inside its implementation, where the hooks belong. */
#ifdef PROF__BRIDGE_HERE
#undef PROF__BRIDGE_HERE

#ifdef PROF_FREESTANDING
#error "prof_bridge.h: PROF_WITH_ITT, PROF_WITH_NVTX and PROF_WITH_SDT need a system: not with PROF_FREESTANDING"
#endif
#ifndef PROF__BRIDGED
#define PROF__BRIDGED 1 /* for a module that is compiled alone: prof.h defines it if a tool is wanted */
#endif
#ifndef PROF_BRIDGE_DOMAIN
#define PROF_BRIDGE_DOMAIN "prof"
#endif
#ifndef PROF_BRIDGE_DEPTH
#define PROF_BRIDGE_DEPTH 128
#endif
#ifndef PROF_BRIDGE_NAMES
#define PROF_BRIDGE_NAMES 4096
#endif
#ifndef PROF_VSNPRINTF
#define PROF_VSNPRINTF vsnprintf
#endif

#ifndef PROF_FREESTANDING /* with PROF_FREESTANDING, the error above says enough */
/* The headers of the tools cause warnings that prof's own do not. */
#pragma GCC diagnostic push
#ifdef __clang__
#pragma GCC diagnostic ignored "-Weverything"
#endif
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-variable"
#ifdef PROF_WITH_ITT
#include <ittnotify.h>
#endif
#ifdef PROF_WITH_NVTX
#include <nvtx3/nvToolsExt.h>
#endif
#ifdef PROF_WITH_SDT
#ifndef __ELF__
#error "prof_bridge.h: PROF_WITH_SDT needs ELF and <sys/sdt.h>: Linux or a BSD"
#endif
#if defined(_SYS_SDT_H) && !defined(_SDT_HAS_SEMAPHORES)
#error "prof_bridge.h: PROF_WITH_SDT: in the file with PROF_IMPLEMENTATION, include prof.h before <sys/sdt.h>"
#endif
#ifndef _SDT_HAS_SEMAPHORES
#define _SDT_HAS_SEMAPHORES 1
#endif
#include <sys/sdt.h>
#endif
#pragma GCC diagnostic pop
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*-- what the tools know: domains and names --*/

/* Each category has a domain, and each name in a category has an entry. Neither is ever freed, because a tool keeps
   their handles. Finding them takes no lock; making them takes prof__bridge_lock. */
typedef struct prof__bridge_domain {
    struct prof__bridge_domain *next;
    const char *category;
#ifdef PROF_WITH_ITT
    __itt_domain *itt;
#endif
#ifdef PROF_WITH_NVTX
    nvtxDomainHandle_t nvtx;
#endif
} prof__bridge_domain;

typedef struct prof__bridge_name {
    struct prof__bridge_name *next; /* the next in the same bucket */
    prof__bridge_domain *domain;
    const char *text;
    uint32_t hash;
    int in_frame; /* 1: a frame of this name has begun; under prof__bridge_lock */
#ifdef PROF_WITH_ITT
    __itt_string_handle *itt;
    __itt_domain *itt_frames;
    uint64_t itt_frame;
    __itt_event itt_event;         /* 0: not made yet */
    __itt_counter itt_counters[3]; /* for int64, double and uint64 values */
    int itt_overlaps;              /* 1: a task of this name has overlapped with scopes */
    uint64_t itt_elsewhere;        /* the id of the last such task that has ended on another thread; 0: none */
#endif
#ifdef PROF_WITH_NVTX
    nvtxStringHandle_t nvtx;
    nvtxRangeId_t nvtx_frame;
#endif
} prof__bridge_name;

/* An open scope, as it was sent to the tools. */
typedef struct prof__bridge_scope {
    prof__token token;
    prof__bridge_name *name;
    uint32_t color;
    uint16_t role, unscoped; /* unscoped: 1: begun by PROFILE_BEGIN */
    uint64_t task;        /* the id of a task of prof_task_create(), which only ITT shows as a scope; 0: a scope */
} prof__bridge_scope;

/* The open scopes of a thread or fiber. */
typedef struct prof__bridge_stack {
    struct prof__bridge_stack *next; /* the next in the list of unused stacks */
    uint32_t depth, over;            /* over: how many open scopes are beyond the last one in `open` */
    prof__bridge_scope open[PROF_BRIDGE_DEPTH];
} prof__bridge_stack;

#define PROF__BRIDGE_BUCKETS 4096

static int prof__bridge_lock;
static uint32_t prof__bridge_tools; /* bits of the tools that are attached */
#define PROF__BRIDGE_ITT 1u
#define PROF__BRIDGE_NVTX 2u
static uint32_t prof__bridge_paused, prof__bridge_name_count;
static prof__bridge_domain *prof__bridge_domains;
static prof__bridge_name *prof__bridge_names[PROF__BRIDGE_BUCKETS];
static prof__bridge_name *prof__bridge_sites[PROF__BRIDGE_BUCKETS]; /* a cache: see prof__bridge_name_of() */
static prof__bridge_stack *prof__bridge_stacks_free;

/* Memory for domains and names. Comes from the system, not malloc(), because a signal handler may be the first to use a
   call site. The caller holds prof__bridge_lock. */
typedef struct prof__bridge_pages {
    struct prof__bridge_pages *next;
    size_t size;
} prof__bridge_pages;
static prof__bridge_pages *prof__bridge_memory;
static char *prof__bridge_at;
static size_t prof__bridge_left;

static void *prof__bridge_pages_take(size_t size)
{
#ifdef _WIN32
    return calloc(1, size);
#else
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
#endif
}

static void *prof__bridge_new(size_t size) /* returns zeroed memory */
{
    size = (size + 15) & ~(size_t)15;
    if (prof__bridge_left < size) {
        size_t all = size + 16 > 65536 ? size + 16 : 65536;
        prof__bridge_pages *pages = (prof__bridge_pages *)prof__bridge_pages_take(all);
        if (!pages) return NULL;
        pages->next = prof__bridge_memory;
        pages->size = all;
        prof__bridge_memory = pages;
        prof__bridge_at = (char *)pages + 16;
        prof__bridge_left = all - 16;
    }
    void *memory = prof__bridge_at;
    prof__bridge_at += size;
    prof__bridge_left -= size;
    return memory;
}

static const char *prof__bridge_copy(const char *text)
{
    size_t size = prof__length(text) + 1;
    char *copy = (char *)prof__bridge_new(size);
    if (copy) prof__copy(copy, text, size);
    return copy;
}

/*-- ITT --*/

#ifdef PROF_WITH_ITT
#if defined(_WIN32)
#define PROF__ITT(function) function##A
#else
#define PROF__ITT(function) function
#endif

/* Attaches ITT's tool. libittnotify loads the tool when it is first called for anything but a domain or a string. If
   loading fails, it frees the domains and strings made until then. So this calls another function first. */
static int prof__itt_attach(void)
{
    (void)(__itt_get_timestamp());
    return __itt_task_begin_ptr != NULL;
}
static const char *prof__itt_category(const prof__bridge_domain *domain)
{
    return *domain->category ? domain->category : PROF_BRIDGE_DOMAIN;
}
static void prof__itt_domain(prof__bridge_domain *domain)
{
    domain->itt = PROF__ITT(__itt_domain_create)(prof__itt_category(domain));
}
static void prof__itt_name(prof__bridge_name *name) { name->itt = PROF__ITT(__itt_string_handle_create)(name->text); }

/* Returns the ITT event for the ranges of a name. An ITT event belongs to no domain. */
static __itt_event prof__itt_event_of(prof__bridge_name *name)
{
    prof__signals signals;
    __itt_event event = PROF__ACQUIRE(&name->itt_event);
    if (event || !prof__lock_enter(&prof__bridge_lock, &signals)) return event;
    event = name->itt_event;
    if (!event) event = PROF__ITT(__itt_event_create)(name->text, (int)prof__length(name->text));
    PROF__RELEASE(&name->itt_event, event);
    prof__lock_leave(&prof__bridge_lock, &signals);
    return event;
}
static void prof__itt_begin(prof__bridge_name *name, int role)
{
    if (role == PROF_ROLE_RANGE)
        (void)(__itt_event_start(prof__itt_event_of(name)));
    else
        __itt_task_begin(name->domain->itt, __itt_null, __itt_null, name->itt);
}
static void prof__itt_end(prof__bridge_name *name, int role)
{
    if (role == PROF_ROLE_RANGE)
        (void)(__itt_event_end(prof__itt_event_of(name)));
    else
        __itt_task_end(name->domain->itt);
}

/* Adds an argument to the innermost task of the thread. The task is in this domain. */
static void prof__itt_arg(const prof__bridge_domain *domain, const prof__bridge_name *key, prof_value_type type,
                          uint64_t number)
{
    __itt_metadata_type like = type == PROF_VALUE_DOUBLE ? __itt_metadata_double
                               : type == PROF_VALUE_INT  ? __itt_metadata_s64
                                                         : __itt_metadata_u64;
    __itt_metadata_add(domain->itt, __itt_null, key->itt, like, 1, &number);
}
static void prof__itt_arg_text(const prof__bridge_domain *domain, const prof__bridge_name *key, const char *text)
{
    PROF__ITT(__itt_metadata_str_add)(domain->itt, __itt_null, key->itt, text, prof__length(text));
}

static void prof__itt_mark(const prof__bridge_name *name, int role)
{
    __itt_scope scope = role == PROF_ROLE_MARK_GLOBAL    ? __itt_scope_global
                        : role == PROF_ROLE_MARK_PROCESS ? __itt_scope_track_group
                        : role == PROF_ROLE_MARK_TASK    ? __itt_scope_task
                        : role == PROF_ROLE_MARK_MARKER  ? __itt_scope_marker
                                                         : __itt_scope_track;
    __itt_marker(name->domain->itt, __itt_null, name->itt, scope);
}

/* Returns the counter of a name for values of this type. Makes it at the first use. */
static __itt_counter prof__itt_counter_of(prof__bridge_name *name, prof_value_type type)
{
    const int which = type == PROF_VALUE_DOUBLE ? 1 : type == PROF_VALUE_UINT ? 2 : 0;
    prof__signals signals;
    __itt_counter counter = PROF__ACQUIRE(&name->itt_counters[which]);
    if (counter || !prof__lock_enter(&prof__bridge_lock, &signals)) return counter;
    counter = PROF__LOAD(&name->itt_counters[which]);
    if (!counter) {
        counter = PROF__ITT(__itt_counter_create_typed)(name->text, prof__itt_category(name->domain),
                                                        which == 1   ? __itt_metadata_double
                                                        : which == 2 ? __itt_metadata_u64
                                                                     : __itt_metadata_s64);
        PROF__RELEASE(&name->itt_counters[which], counter);
    }
    prof__lock_leave(&prof__bridge_lock, &signals);
    return counter;
}
static void prof__itt_counter(prof__bridge_name *name, prof_value_type type, uint64_t number)
{
    __itt_counter counter = prof__itt_counter_of(name, type);
    if (counter) __itt_counter_set_value(counter, &number);
}

/* Returns the domain for frames of a name: the domain of its category or, without a category, one for the name alone.
   Tools show a rate of frames for each domain. The caller holds prof__bridge_lock. */
static const __itt_domain *prof__itt_frames(prof__bridge_name *name)
{
    if (!name->itt_frames)
        name->itt_frames = *name->domain->category ? name->domain->itt : PROF__ITT(__itt_domain_create)(name->text);
    return name->itt_frames;
}

/* Ends a frame and begins the next one at a boundary. The caller holds prof__bridge_lock. */
static void prof__itt_frame(prof__bridge_name *name, int ends, int begins)
{
    const __itt_domain *domain = prof__itt_frames(name);
    __itt_id id = __itt_id_make(name, name->itt_frame);
    if (ends) __itt_frame_end_v3(domain, &id);
    if (!begins) return;
    id = __itt_id_make(name, ++name->itt_frame);
    __itt_frame_begin_v3(domain, &id);
}

/* Begins or ends a frame that was made by prof_frame_create(). */
static void prof__itt_frame_object(prof__bridge_name *name, uint64_t type, uint64_t object)
{
    prof__signals signals;
    __itt_id id = __itt_id_make(name->domain, object);
    if (!prof__lock_enter(&prof__bridge_lock, &signals)) return;
    const __itt_domain *domain = prof__itt_frames(name);
    prof__lock_leave(&prof__bridge_lock, &signals);
    if (type == PROF_EVENT_SPAN_BEGIN) __itt_frame_begin_v3(domain, &id);
    if (type == PROF_EVENT_SPAN_END) __itt_frame_end_v3(domain, &id);
}

static void prof__itt_span(prof__bridge_name *name, uint64_t type, uint64_t object, int role)
{
    __itt_id id = __itt_id_make(name, object);
    if (role == PROF_ROLE_FRAME)
        prof__itt_frame_object(name, type, object);
    else if (type == PROF_EVENT_SPAN_BEGIN)
        __itt_task_begin_overlapped(name->domain->itt, id, __itt_null, name->itt);
    else if (type == PROF_EVENT_SPAN_END)
        __itt_task_end_overlapped(name->domain->itt, id);
    else
        __itt_marker(name->domain->itt, id, name->itt, __itt_scope_task);
}

static void prof__itt_lock(uint64_t type, uint64_t object)
{
    void *lock = (void *)(uintptr_t)object;
    if (type == PROF_EVENT_LOCK_WAIT) __itt_sync_prepare(lock);
    if (type == PROF_EVENT_LOCK_ACQUIRE) __itt_sync_acquired(lock);
    if (type == PROF_EVENT_LOCK_RELEASE) __itt_sync_releasing(lock);
}

static void prof__itt_thread(const char *name) { PROF__ITT(__itt_thread_set_name)(name); }
static void prof__itt_pause(int paused)
{
    if (paused)
        __itt_pause();
    else
        __itt_resume();
}
#else
#define prof__itt_attach() 0
#define prof__itt_domain(domain) ((void)0)
#define prof__itt_name(name) ((void)0)
#define prof__itt_begin(name, role) ((void)0)
#define prof__itt_end(name, role) ((void)0)
#define prof__itt_arg(domain, key, type, number) ((void)0)
#define prof__itt_arg_text(domain, key, text) ((void)0)
#define prof__itt_mark(name, role) ((void)0)
#define prof__itt_counter(name, type, number) ((void)0)
#define prof__itt_frame(name, ends, begins) ((void)0)
#define prof__itt_span(name, type, object, role) ((void)0)
#define prof__itt_lock(type, object) ((void)0)
#define prof__itt_thread(name) ((void)0)
#define prof__itt_pause(paused) ((void)0)
#endif

/*-- NVTX --*/

#ifdef PROF_WITH_NVTX
/* A span that has begun. NVTX returned a number for it, which its end needs. Under prof__bridge_lock. */
typedef struct prof__nvtx_open {
    struct prof__nvtx_open *next;
    const prof__bridge_name *name;
    uint64_t object;
    nvtxRangeId_t range;
} prof__nvtx_open;
#define PROF__NVTX_SPANS 256
static prof__nvtx_open *prof__nvtx_spans[PROF__NVTX_SPANS], *prof__nvtx_spans_free;
static nvtxDomainHandle_t prof__nvtx_uncategorised;

static int prof__nvtx_attach(void)
{
    if (!prof__nvtx_uncategorised) prof__nvtx_uncategorised = nvtxDomainCreateA(PROF_BRIDGE_DOMAIN);
    return prof__nvtx_uncategorised != NULL; /* NULL: no tool is attached */
}
static void prof__nvtx_domain(prof__bridge_domain *domain)
{
    domain->nvtx = *domain->category ? nvtxDomainCreateA(domain->category) : prof__nvtx_uncategorised;
}
static void prof__nvtx_name(prof__bridge_name *name)
{
    name->nvtx = nvtxDomainRegisterStringA(name->domain->nvtx, name->text);
}

/* Returns an event for NVTX. text: a name made at run time that has no entry, or NULL. */
static nvtxEventAttributes_t prof__nvtx_event(const prof__bridge_name *name, const char *text, uint32_t color)
{
    nvtxEventAttributes_t event;
    memset(&event, 0, sizeof event);
    event.version = NVTX_VERSION;
    event.size = (uint16_t)sizeof event;
    if (color) {
        event.colorType = NVTX_COLOR_ARGB;
        event.color = 0xff000000u | color;
    }
    if (text || !name->nvtx) {
        event.messageType = NVTX_MESSAGE_TYPE_ASCII;
        event.message.ascii = text ? text : name->text;
    } else {
        event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
        event.message.registered = name->nvtx;
    }
    return event;
}
static void prof__nvtx_payload(nvtxEventAttributes_t *event, prof_value_type type, uint64_t number)
{
    if (type == PROF_VALUE_NONE) return;
    event->payloadType = type == PROF_VALUE_DOUBLE ? NVTX_PAYLOAD_TYPE_DOUBLE
                         : type == PROF_VALUE_INT  ? NVTX_PAYLOAD_TYPE_INT64
                                                   : NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
    event->payload.ullValue = number; /* copies the bits: the type says what they are */
}
static void prof__nvtx_begin(const prof__bridge_name *name, const char *text, uint32_t color, prof_value_type type,
                             uint64_t number)
{
    nvtxEventAttributes_t event = prof__nvtx_event(name, text, color);
    prof__nvtx_payload(&event, type, number);
    nvtxDomainRangePushEx(name->domain->nvtx, &event);
}
static void prof__nvtx_end(const prof__bridge_name *name) { nvtxDomainRangePop(name->domain->nvtx); }
static void prof__nvtx_mark(const prof__bridge_name *name, const char *text, uint32_t color)
{
    nvtxEventAttributes_t event = prof__nvtx_event(name, text, color);
    nvtxDomainMarkEx(name->domain->nvtx, &event);
}
static void prof__nvtx_counter(const prof__bridge_name *name, prof_value_type type, uint64_t number)
{
    nvtxEventAttributes_t event = prof__nvtx_event(name, NULL, 0);
    prof__nvtx_payload(&event, type, number);
    nvtxDomainMarkEx(name->domain->nvtx, &event);
}
static void prof__nvtx_frame(prof__bridge_name *name, int ends, int begins) /* the caller holds prof__bridge_lock */
{
    nvtxEventAttributes_t event = prof__nvtx_event(name, NULL, 0);
    if (ends) nvtxDomainRangeEnd(name->domain->nvtx, name->nvtx_frame);
    if (begins) name->nvtx_frame = nvtxDomainRangeStartEx(name->domain->nvtx, &event);
}

/* Returns the link that points to a span that has begun. If there is none, returns the link to add it to. */
static prof__nvtx_open **prof__nvtx_span_find(const prof__bridge_name *name, uint64_t object)
{
    uint64_t hash = (object ^ name->hash) * 0x9E3779B97F4A7C15u;
    prof__nvtx_open **at = &prof__nvtx_spans[(hash >> 32) % PROF__NVTX_SPANS];
    while (*at && ((*at)->object != object || (*at)->name != name)) at = &(*at)->next;
    return at;
}
static void prof__nvtx_span_begin(const prof__bridge_name *name, uint64_t object, uint32_t color)
{
    prof__nvtx_open **at = prof__nvtx_span_find(name, object), *span = prof__nvtx_spans_free;
    nvtxEventAttributes_t event = prof__nvtx_event(name, NULL, color);
    if (*at) return; /* it has begun before */
    if (span)
        prof__nvtx_spans_free = span->next;
    else
        span = (prof__nvtx_open *)prof__bridge_new(sizeof *span);
    if (!span) return;
    prof__nvtx_payload(&event, PROF_VALUE_UINT, object);
    span->next = NULL;
    span->name = name;
    span->object = object;
    span->range = nvtxDomainRangeStartEx(name->domain->nvtx, &event);
    *at = span;
}
static void prof__nvtx_span_end(const prof__bridge_name *name, uint64_t object)
{
    prof__nvtx_open **at = prof__nvtx_span_find(name, object), *span = *at;
    if (!span) return;
    *at = span->next;
    nvtxDomainRangeEnd(name->domain->nvtx, span->range);
    span->next = prof__nvtx_spans_free;
    prof__nvtx_spans_free = span;
}
static void prof__nvtx_span(const prof__bridge_name *name, uint64_t type, uint64_t object, uint32_t color)
{
    prof__signals signals;
    if (type == PROF_EVENT_SPAN_MARK) {
        prof__nvtx_mark(name, NULL, color);
    } else if (prof__lock_enter(&prof__bridge_lock, &signals)) {
        if (type == PROF_EVENT_SPAN_BEGIN)
            prof__nvtx_span_begin(name, object, color);
        else
            prof__nvtx_span_end(name, object);
        prof__lock_leave(&prof__bridge_lock, &signals);
    }
}
static void prof__nvtx_thread(const char *name) { nvtxNameOsThreadA((uint32_t)prof__thread_id(), name); }
#else
#define prof__nvtx_attach() 0
#define prof__nvtx_domain(domain) ((void)0)
#define prof__nvtx_name(name) ((void)0)
#define prof__nvtx_begin(name, text, color, type, number) ((void)0)
#define prof__nvtx_end(name) ((void)0)
#define prof__nvtx_mark(name, text, color) ((void)0)
#define prof__nvtx_counter(name, type, number) ((void)0)
#define prof__nvtx_frame(name, ends, begins) ((void)0)
#define prof__nvtx_span(name, type, object, color) ((void)0)
#define prof__nvtx_thread(name) ((void)0)
#endif

/*-- names --*/

static uint32_t prof__bridge_hash(const char *category, const char *text)
{
    uint64_t hash = prof__texts_hash(prof__texts_hash(PROF__TEXTS_START, category) ^ 255, text);
    return (uint32_t)(hash ^ hash >> 32);
}

static int prof__bridge_is(const prof__bridge_name *name, const char *category, const char *text)
{
    return prof__equal(name->text, text) && prof__equal(name->domain->category, category);
}

static prof__bridge_domain *prof__bridge_domain_of(const char *category) /* the caller holds prof__bridge_lock */
{
    prof__bridge_domain *domain = prof__bridge_domains;
    while (domain && !prof__equal(domain->category, category)) domain = domain->next;
    if (domain) return domain;
    domain = (prof__bridge_domain *)prof__bridge_new(sizeof *domain);
    if (!domain || !(domain->category = prof__bridge_copy(category))) return NULL;
    prof__itt_domain(domain);
    prof__nvtx_domain(domain);
    domain->next = prof__bridge_domains;
    return prof__bridge_domains = domain;
}

/* The caller holds prof__bridge_lock. */
static prof__bridge_name *prof__bridge_name_new(uint32_t hash, const char *category, const char *text)
{
    prof__bridge_name *name = (prof__bridge_name *)prof__bridge_new(sizeof *name);
    if (!name) return NULL;
    name->hash = hash;
    name->text = prof__bridge_copy(text);
    name->domain = prof__bridge_domain_of(category);
    if (!name->text || !name->domain) return NULL;
    prof__itt_name(name);
    prof__nvtx_name(name);
    name->next = prof__bridge_names[hash % PROF__BRIDGE_BUCKETS];
    PROF__STORE(&prof__bridge_name_count, prof__bridge_name_count + 1);
    PROF__RELEASE(&prof__bridge_names[hash % PROF__BRIDGE_BUCKETS], name);
    return name;
}

static prof__bridge_name *prof__bridge_known(uint32_t hash, const char *category, const char *text)
{
    prof__bridge_name *name = PROF__ACQUIRE(&prof__bridge_names[hash % PROF__BRIDGE_BUCKETS]);
    while (name && (name->hash != hash || !prof__bridge_is(name, category, text))) name = name->next;
    return name;
}

/* Finds or makes the entry of a name. Returns NULL without memory, or if the lock is not free. With made_at_run_time 1,
   also returns NULL if there are too many such names. */
static prof__bridge_name *prof__bridge_find(const char *category, const char *text, int made_at_run_time)
{
    uint32_t hash = prof__bridge_hash(category, text);
    prof__bridge_name *name = prof__bridge_known(hash, category, text);
    prof__signals signals;
    if (name || (made_at_run_time && PROF__LOAD(&prof__bridge_name_count) >= PROF_BRIDGE_NAMES)) return name;
    if (!prof__lock_enter(&prof__bridge_lock, &signals)) return NULL;
    name = prof__bridge_known(hash, category, text);
    if (!name) name = prof__bridge_name_new(hash, category, text);
    prof__lock_leave(&prof__bridge_lock, &signals);
    return name;
}

/* Returns the entry of an event's name. *text: the name made at run time, or NULL; becomes NULL if the entry has that
   name. The cached entry of a call site is compared with the site's present name, because another plugin may have been
   loaded at that address. */
static prof__bridge_name *prof__bridge_name_of(const prof_site *site, const char **text)
{
    prof__bridge_name **guess = &prof__bridge_sites[(uintptr_t)site / 64 % PROF__BRIDGE_BUCKETS], *name;
    if (*text) {
        name = prof__length(*text) <= PROF_MAX_TEXT ? prof__bridge_find(site->category, *text, 1) : NULL;
        if (!name) return prof__bridge_find(site->category, *site->name ? site->name : "(more names)", 0);
        *text = NULL;
        return name;
    }
    name = PROF__ACQUIRE(guess);
    if (name && prof__bridge_is(name, site->category, site->name)) return name;
    name = prof__bridge_find(site->category, site->name, 0);
    if (name) PROF__RELEASE(guess, name);
    return name;
}

#ifdef PROF_WITH_ITT
#define PROF__BRIDGE_IS_TASK(scope) ((scope)->task != 0)

/* Removes tasks from the stack that have ended on other threads. */
static void prof__bridge_tasks_drop(prof__bridge_stack *stack)
{
    prof__bridge_scope *top;
    while (stack->depth && (top = &stack->open[stack->depth - 1])->task &&
           PROF__LOAD(&top->name->itt_elsewhere) == top->task) {
        prof__itt_end(top->name, PROF_ROLE_NONE);
        --stack->depth;
    }
}

/* Begins a task as a scope, as MXNet does, which must nest with the scopes of its thread. If a task of a name has not
   nested once, tasks of that name are shown as overlapping. Returns 0 if this one is. */
static int prof__bridge_task_begin(prof__bridge_stack *stack, prof__bridge_name *name, uint64_t id)
{
    if (!stack || !(prof__bridge_tools & PROF__BRIDGE_ITT) || PROF__LOAD(&name->itt_overlaps) ||
        stack->depth == PROF_BRIDGE_DEPTH)
        return 0;
    prof__bridge_tasks_drop(stack);
    prof__bridge_scope *scope = &stack->open[stack->depth++];
    scope->token = 0;
    scope->name = name;
    scope->color = 0;
    scope->role = scope->unscoped = 0; /* not a scope: PROF_ROLE_NONE */
    scope->task = id;
    prof__itt_begin(name, PROF_ROLE_NONE);
    return 1;
}

/* Ends a task that prof__bridge_task_begin() has begun as a scope. ITT shows a scope that began inside the task and
   goes on after it in two parts. Returns 0 if there is no such task. */
static int prof__bridge_task_end(prof__bridge_stack *stack, prof__bridge_name *name, uint64_t id)
{
    uint32_t at = stack ? stack->depth : 0, depth = at;
    while (at && stack->open[at - 1].task != id) --at;
    int overlaps = PROF__LOAD(&name->itt_overlaps);
    if (!at && !overlaps) PROF__STORE(&name->itt_elsewhere, id); /* its thread removes it at its next scope */
    if (!at || at < depth) PROF__STORE(&name->itt_overlaps, 1);
    if (!at) return !overlaps;
    for (uint32_t i = depth; i >= at; --i) prof__itt_end(stack->open[i - 1].name, stack->open[i - 1].role);
    for (uint32_t i = at; i < depth; ++i) {
        stack->open[i - 1] = stack->open[i];
        prof__itt_begin(stack->open[i - 1].name, stack->open[i - 1].role);
    }
    --stack->depth;
    return 1;
}
#else
#define PROF__BRIDGE_IS_TASK(scope) 0
#define prof__bridge_tasks_drop(stack) ((void)(stack))
#endif

/*-- SDT --*/

/* A tracer increments the semaphore of a probe while it listens. Each probe is in one place of the code. */
#ifdef PROF_WITH_SDT
#define PROF__SDT_SEMAPHORE(probe)                                                                         \
    extern PROF__HIDDEN unsigned short prof_##probe##_semaphore;                                           \
    unsigned short prof_##probe##_semaphore __attribute__((__section__(".probes")))
#define PROF__SDT_WANTED(probe) __atomic_load_n(&prof_##probe##_semaphore, __ATOMIC_RELAXED)
PROF__SDT_SEMAPHORE(scope_begin);
PROF__SDT_SEMAPHORE(scope_end);
PROF__SDT_SEMAPHORE(arg);
PROF__SDT_SEMAPHORE(arg_string);
PROF__SDT_SEMAPHORE(mark);
PROF__SDT_SEMAPHORE(counter);
PROF__SDT_SEMAPHORE(counter_double);
PROF__SDT_SEMAPHORE(frame);
PROF__SDT_SEMAPHORE(event);
PROF__SDT_SEMAPHORE(log);
PROF__SDT_SEMAPHORE(thread);
PROF__SDT_SEMAPHORE(pause);
PROF__SDT_SEMAPHORE(resume);
#define PROF__SDT static __attribute__((__noinline__))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic" /* macros of probes leave the arguments of "..." empty */

PROF__SDT void prof__sdt_begin(const char *name, const char *category)
{
    DTRACE_PROBE2(prof, scope_begin, name, category);
}
PROF__SDT void prof__sdt_end(const char *name, const char *category) { DTRACE_PROBE2(prof, scope_end, name, category); }
PROF__SDT void prof__sdt_arg(const char *key, const char *category, uint64_t type, uint64_t number)
{
    DTRACE_PROBE4(prof, arg, key, category, type, number);
}
PROF__SDT void prof__sdt_arg_text(const char *key, const char *category, const char *text)
{
    DTRACE_PROBE3(prof, arg_string, key, category, text);
}
PROF__SDT void prof__sdt_mark(const char *name, const char *category) { DTRACE_PROBE2(prof, mark, name, category); }
PROF__SDT void prof__sdt_counter(const char *name, const char *category, prof_value_type type, uint64_t number)
{
    int64_t value = (int64_t)number;
    if (type == PROF_VALUE_DOUBLE)
        DTRACE_PROBE3(prof, counter_double, name, category, number);
    else
        DTRACE_PROBE3(prof, counter, name, category, value);
}
PROF__SDT void prof__sdt_frame(const char *name, const char *category) { DTRACE_PROBE2(prof, frame, name, category); }
PROF__SDT void prof__sdt_event(const char *name, const char *category, uint64_t type, uint64_t object, uint64_t detail)
{
    DTRACE_PROBE5(prof, event, name, category, type, object, detail);
}
PROF__SDT void prof__sdt_log(const char *text, const char *category, uint64_t severity)
{
    DTRACE_PROBE3(prof, log, text, category, severity);
}
PROF__SDT void prof__sdt_thread(const char *name) { DTRACE_PROBE1(prof, thread, name); }
PROF__SDT void prof__sdt_pause(int paused)
{
    if (paused)
        DTRACE_PROBE(prof, pause);
    else
        DTRACE_PROBE(prof, resume);
}
#pragma GCC diagnostic pop
#else
#define PROF__SDT_WANTED(probe) 0
#define prof__sdt_begin(name, category) ((void)0)
#define prof__sdt_end(name, category) ((void)0)
#define prof__sdt_arg(key, category, type, number) ((void)0)
#define prof__sdt_arg_text(key, category, text) ((void)0)
#define prof__sdt_mark(name, category) ((void)0)
#define prof__sdt_counter(name, category, type, number) ((void)0)
#define prof__sdt_frame(name, category) ((void)0)
#define prof__sdt_event(name, category, type, object, detail) ((void)0)
#define prof__sdt_log(text, category, severity) ((void)0)
#define prof__sdt_thread(name) ((void)0)
#define prof__sdt_pause(paused) ((void)0)
#endif

/*-- threads inside a tool's code --*/

/* Enters a tool: called before each call of a tool. Until the thread leaves, the trace alone gets what signal handlers
   and the tool itself record. Returns 0 if the thread is inside a tool already. */
static int prof__bridge_enter(prof__thread *self)
{
    if (self->bridge.busy) return 0;
    self->bridge.busy = 1;
    PROF__BARRIER();
    return 1;
}

static void prof__bridge_leave(prof__thread *self)
{
    PROF__BARRIER();
    self->bridge.busy = 0;
}

static void prof__bridge_tell_thread(prof__thread *self, const char *name)
{
    (void)name;
    prof__itt_thread(name);
    prof__nvtx_thread(name);
    prof__sdt_thread(name);
    self->bridge.named = 1;
}

/*-- scopes --*/

/* Begins a scope in the tools. text: the name, if made at run time; else NULL. type, number: the first argument; type
   is PROF_VALUE_NONE without arguments. */
static void prof__bridge_show(const prof__bridge_scope *scope, const char *text, prof_value_type type, uint64_t number)
{
    (void)scope;
    (void)text;
    (void)type;
    (void)number;
    prof__itt_begin(scope->name, scope->role);
    if (PROF__BRIDGE_IS_TASK(scope)) return;
    prof__nvtx_begin(scope->name, text, scope->color, type, number);
    prof__sdt_begin(text ? text : scope->name->text, scope->name->domain->category);
}

static void prof__bridge_hide(const prof__bridge_scope *scope)
{
    (void)scope;
    if (!PROF__BRIDGE_IS_TASK(scope)) {
        prof__sdt_end(scope->name->text, scope->name->domain->category);
        prof__nvtx_end(scope->name);
    }
    prof__itt_end(scope->name, scope->role);
}

/* Returns the stack of the present thread or fiber. When a thread gets its first one, tells the tools the thread's
   name, which may have been set before the session began. */
static prof__bridge_stack *prof__bridge_stack_of(prof__thread *self)
{
    prof_fiber *track = prof__track_of(self);
    prof__signals signals;
    if (track->bridge) return track->bridge;
    if (!self->bridge.named && *self->own.name) prof__bridge_tell_thread(self, self->own.name);
    if (!self->bridge.spare && prof__lock_enter(&prof__bridge_lock, &signals)) {
        self->bridge.spare = prof__bridge_stacks_free;
        if (self->bridge.spare)
            prof__bridge_stacks_free = self->bridge.spare->next;
        else
            self->bridge.spare = (prof__bridge_stack *)prof__bridge_new(sizeof *self->bridge.spare);
        prof__lock_leave(&prof__bridge_lock, &signals);
    }
    track->bridge = self->bridge.spare;
    self->bridge.spare = NULL;
    if (track->bridge) track->bridge->depth = track->bridge->over = 0;
    return track->bridge;
}

/* Removes scopes of PROFILE_BEGIN that an earlier session began: their ends have no effect any more. */
static void prof__bridge_drop(prof__bridge_stack *stack, prof__token token)
{
    while (stack->depth && stack->open[stack->depth - 1].unscoped &&
           (uint32_t)stack->open[stack->depth - 1].token != (uint32_t)token)
        prof__bridge_hide(&stack->open[--stack->depth]);
}

static PROF__COLD void prof__bridge_scope_begin(const prof_site *site, const char *text, prof__token token,
                                                prof_value_type type, uint64_t number)
{
    prof__thread *self = PROF__SELF();
    if (!prof__bridge_enter(self)) return;
    PROF__ERRNO_SAVE();
    prof__bridge_stack *stack = prof__bridge_stack_of(self);
    prof__bridge_name *name = stack ? prof__bridge_name_of(site, &text) : NULL;
    if (name) prof__bridge_drop(stack, token);
    if (name) prof__bridge_tasks_drop(stack);
    if (name && stack->depth == PROF_BRIDGE_DEPTH) {
        stack->over++;
    } else if (name) {
        prof__bridge_scope *scope = &stack->open[stack->depth++];
        scope->token = token;
        scope->name = name;
        scope->color = site->color;
        scope->role = (uint16_t)((site->kind & ~PROF__KIND_UNIT) >> PROF__ROLE_SHIFT);
        scope->unscoped = 0;
        scope->task = 0;
        prof__bridge_show(scope, text, type, number);
    }
    PROF__ERRNO_RESTORE();
    prof__bridge_leave(self);
}

/* Ends a scope, and the scopes inside it that are still open. */
static PROF__COLD void prof__bridge_scope_end(prof__thread *self, prof__token token)
{
    prof__bridge_stack *stack = prof__track_of(self)->bridge;
    if (!prof__bridge_enter(self)) return;
    PROF__ERRNO_SAVE();
    uint32_t at = stack->depth;
    while (at && stack->open[at - 1].token != token) --at;
    if (stack->over && (!at || at == stack->depth)) { /* with a slow clock, a deeper scope may have an equal token */
        stack->over--;
    } else if (at) {
        stack->over = 0; /* longjmp() has left these scopes */
        while (stack->depth >= at) {
            prof__bridge_scope *scope = &stack->open[--stack->depth];
#ifdef PROF_WITH_ITT
            if (scope->task) PROF__STORE(&scope->name->itt_overlaps, 1); /* the task goes on */
#endif
            prof__bridge_hide(scope);
        }
    }
    PROF__ERRNO_RESTORE();
    prof__bridge_leave(self);
}

static inline void prof__bridge_end(prof__thread *self, prof__token token)
{
    const prof__bridge_stack *stack = prof__track_of(self)->bridge;
    if (PROF__UNLIKELY(stack != NULL) && token && stack->depth) prof__bridge_scope_end(self, token);
}

static void prof__bridge_unscoped(const prof_fiber *track, prof__token token)
{
    prof__bridge_stack *stack = track->bridge;
    if (!stack || !stack->depth || stack->over) return;
    if (stack->open[stack->depth - 1].token == token) stack->open[stack->depth - 1].unscoped = 1;
}

/* Changes the stack when another fiber begins to run on this thread. A fiber has a stack only while it has open
   scopes. */
static PROF__COLD void prof__bridge_switch(prof__thread *self)
{
    prof_fiber *from = self->bridge.fiber ? self->bridge.fiber : &self->own, *to = prof__track_of(self);
    if (!prof__bridge_enter(self)) return;
    PROF__ERRNO_SAVE();
    if (from->bridge)
        for (uint32_t at = from->bridge->depth; at;) prof__bridge_hide(&from->bridge->open[--at]);
    if (from->is_fiber && from->bridge && !from->bridge->depth && !self->bridge.spare) {
        self->bridge.spare = from->bridge;
        from->bridge = NULL;
    }
    if (to->bridge)
        for (uint32_t at = 0; at < to->bridge->depth; ++at)
            prof__bridge_show(&to->bridge->open[at], NULL, PROF_VALUE_NONE, 0);
    self->bridge.fiber = self->fiber;
    PROF__ERRNO_RESTORE();
    prof__bridge_leave(self);
}

static void prof__bridge_stack_give(prof__bridge_stack *stack)
{
    prof__signals signals;
    if (!stack || !prof__lock_enter(&prof__bridge_lock, &signals)) return;
    stack->next = prof__bridge_stacks_free;
    prof__bridge_stacks_free = stack;
    prof__lock_leave(&prof__bridge_lock, &signals);
}

/* Frees the stack of a thread or fiber that ends. Tools themselves end the open scopes of a thread. */
static void prof__bridge_forget(prof__thread *self, prof_fiber *track)
{
    if (!track) return;
    prof__bridge_stack_give(track->bridge);
    track->bridge = NULL;
    if (track->is_fiber) return;
    prof__bridge_stack_give(self->bridge.spare);
    self->bridge.spare = NULL;
}

/*-- instants --*/

/* Sends an argument to the tools, unless the call site has been turned off meanwhile. */
static PROF__COLD void prof__bridge_arg(prof_site *site, prof_value_type type, uint64_t number, const char *text)
{
    prof__thread *self = PROF__SELF();
    const char *none = NULL;
    if (!prof__live(site) || !prof__bridge_enter(self)) return;
    PROF__ERRNO_SAVE();
    const prof__bridge_stack *stack = prof__track_of(self)->bridge;
    int fits = stack && stack->depth && !stack->over && !PROF__BRIDGE_IS_TASK(&stack->open[stack->depth - 1]);
    const prof__bridge_name *key = fits ? prof__bridge_name_of(site, &none) : NULL;
    if (key && type == PROF_VALUE_STRING) {
        prof__itt_arg_text(stack->open[stack->depth - 1].name->domain, key, text);
        prof__sdt_arg_text(key->text, key->domain->category, text);
    } else if (key) {
        prof__itt_arg(stack->open[stack->depth - 1].name->domain, key, type, number);
        prof__sdt_arg(key->text, key->domain->category, (uint64_t)type, number);
    }
    (void)number;
    (void)text;
    PROF__ERRNO_RESTORE();
    prof__bridge_leave(self);
}

static PROF__COLD void prof__bridge_mark(prof_site *site, const char *text)
{
    prof__thread *self = PROF__SELF();
    if (!prof__live(site) || !prof__bridge_enter(self)) return;
    PROF__ERRNO_SAVE();
    prof__bridge_name *name = prof__bridge_name_of(site, &text);
    if (name) {
        prof__itt_mark(name, site->kind >> PROF__ROLE_SHIFT);
        prof__nvtx_mark(name, text, site->color);
        prof__sdt_mark(text ? text : name->text, name->domain->category);
    }
    PROF__ERRNO_RESTORE();
    prof__bridge_leave(self);
}

static PROF__COLD void prof__bridge_counter(prof_site *site, prof_value_type type, uint64_t number)
{
    prof__thread *self = PROF__SELF();
    const char *text = NULL;
    if (!prof__live(site) || !prof__bridge_enter(self)) return;
    PROF__ERRNO_SAVE();
    prof__bridge_name *name = prof__bridge_name_of(site, &text);
    if (name) {
        prof__itt_counter(name, type, number);
        prof__nvtx_counter(name, type, number);
        prof__sdt_counter(name->text, name->domain->category, type, number);
    }
    (void)type;
    (void)number;
    PROF__ERRNO_RESTORE();
    prof__bridge_leave(self);
}

/* Ends a frame and begins the next one. The caller holds prof__bridge_lock, because boundaries may come from any
   thread, and the session may stop meanwhile. */
static void prof__bridge_frame_step(prof__bridge_name *name, int begins)
{
    prof__itt_frame(name, name->in_frame, begins);
    prof__nvtx_frame(name, name->in_frame, begins);
    name->in_frame = begins;
}

static PROF__COLD void prof__bridge_frame(prof_site *site)
{
    prof__thread *self = PROF__SELF();
    const char *text = NULL;
    prof__signals signals;
    if (!prof__live(site) || !prof__bridge_enter(self)) return;
    PROF__ERRNO_SAVE();
    prof__bridge_name *name = prof__bridge_name_of(site, &text);
    if (name && prof__bridge_tools && prof__lock_enter(&prof__bridge_lock, &signals)) {
        prof__bridge_frame_step(name, 1);
        prof__lock_leave(&prof__bridge_lock, &signals);
    }
    if (name) prof__sdt_frame(name->text, name->domain->category);
    PROF__ERRNO_RESTORE();
    prof__bridge_leave(self);
}

/* Sends a log message. Messages get no entries, because most of them differ. */
static PROF__COLD void prof__bridge_log(prof_site *site, uint64_t severity, const char *format, va_list list)
{
    prof__thread *self = PROF__SELF();
    char text[PROF_MAX_TEXT + 2];
    const char *none = NULL;
    if (!prof__live(site) || !prof__bridge_enter(self)) return;
    PROF__ERRNO_SAVE();
    const prof__bridge_name *name = prof__bridge_name_of(site, &none);
    text[0] = 0;
    PROF_VSNPRINTF(text, (int)sizeof text, format, list);
    if (name) {
        prof__itt_mark(name, PROF_ROLE_NONE);
        prof__nvtx_mark(name, text, site->color);
        prof__sdt_log(text, name->domain->category, severity);
    }
    (void)severity;
    PROF__ERRNO_RESTORE();
    prof__bridge_leave(self);
}

static PROF__COLD void prof__bridge_event(prof_site *site, uint64_t type, uint64_t detail, uint64_t object)
{
    prof__thread *self = PROF__SELF();
    const char *text = NULL;
    if (!prof__live(site) || !prof__bridge_enter(self)) return;
    PROF__ERRNO_SAVE();
    prof__bridge_name *name = prof__bridge_name_of(site, &text);
    if (name) {
        if (type >= PROF_EVENT_SPAN_BEGIN && type <= PROF_EVENT_SPAN_END) {
            int role = site->kind >> PROF__ROLE_SHIFT, nests = 0;
#ifdef PROF_WITH_ITT
            if (role == PROF_ROLE_TASK && type == PROF_EVENT_SPAN_BEGIN)
                nests = prof__bridge_task_begin(prof__bridge_stack_of(self), name, object);
            if (role == PROF_ROLE_TASK && type == PROF_EVENT_SPAN_END)
                nests = prof__bridge_task_end(prof__track_of(self)->bridge, name, object);
#endif
            (void)role;
            if (!nests) prof__itt_span(name, type, object, role);
            prof__nvtx_span(name, type, object, site->color);
        } else if (type >= PROF_EVENT_LOCK_WAIT && type <= PROF_EVENT_LOCK_RELEASE) {
            prof__itt_lock(type, object);
        }
        prof__sdt_event(name->text, name->domain->category, type, object, detail);
    }
    (void)detail;
    (void)object;
    PROF__ERRNO_RESTORE();
    prof__bridge_leave(self);
}

/* Frees the handles of a counter that is about to be freed. */
static PROF__COLD void prof__bridge_counter_gone(const prof_site *site)
{
#ifdef PROF_WITH_ITT
    prof__thread *self = PROF__SELF();
    prof__signals signals;
    if (!(prof__bridge_tools & PROF__BRIDGE_ITT) || !prof__bridge_enter(self)) return;
    PROF__ERRNO_SAVE();
    prof__bridge_name *name =
        prof__bridge_known(prof__bridge_hash(site->category, site->name), site->category, site->name);
    for (int i = 0; name && i < 3; ++i) {
        if (!PROF__LOAD(&name->itt_counters[i]) || !prof__lock_enter(&prof__bridge_lock, &signals)) continue;
        __itt_counter counter = name->itt_counters[i];
        PROF__STORE(&name->itt_counters[i], (__itt_counter)NULL);
        prof__lock_leave(&prof__bridge_lock, &signals);
        if (counter) __itt_counter_destroy(counter);
    }
    PROF__ERRNO_RESTORE();
    prof__bridge_leave(self);
#else
    (void)site;
#endif
}

static PROF__COLD void prof__bridge_thread(const char *name)
{
    prof__thread *self = PROF__SELF();
    if (!name || !prof__bridge_enter(self)) return;
    PROF__ERRNO_SAVE();
    prof__bridge_tell_thread(self, name);
    PROF__ERRNO_RESTORE();
    prof__bridge_leave(self);
}

/*-- control --*/

static void prof__bridge_frames_end(void) /* the caller holds prof__bridge_lock */
{
    for (size_t i = 0; i < PROF__BRIDGE_BUCKETS; ++i)
        for (prof__bridge_name *name = prof__bridge_names[i]; name; name = name->next)
            if (name->in_frame) prof__bridge_frame_step(name, 0);
}

/* Starts or pauses the tools as the session has it. If several threads call this at once, the last one decides. */
static void prof__bridge_follow(int stops)
{
    prof__thread *self = PROF__SELF();
    prof__signals signals;
    if (!prof__bridge_enter(self)) return;
    PROF__ERRNO_SAVE();
    if (prof__lock_enter(&prof__bridge_lock, &signals)) {
        uint32_t paused = !stops && PROF__LOAD(&prof__state.running) && PROF__LOAD(&prof__state.paused) > 0;
        if (paused || stops) prof__bridge_frames_end();
        if (paused != prof__bridge_paused) {
            prof__itt_pause((int)paused);
            prof__sdt_pause((int)paused);
        }
        prof__bridge_paused = paused;
        prof__lock_leave(&prof__bridge_lock, &signals);
    }
    PROF__ERRNO_RESTORE();
    prof__bridge_leave(self);
}

/* Looks for tools. Scopes by which prof_start() measures its own cost afterwards are not sent to them. */
static void prof__bridge_start(void)
{
    PROF__ERRNO_SAVE();
    PROF__SELF()->bridge.busy = 1;
    uint32_t tools = prof__itt_attach() ? PROF__BRIDGE_ITT : 0;
    if (prof__nvtx_attach()) tools |= PROF__BRIDGE_NVTX;
    PROF__STORE(&prof__bridge_tools, tools);
    PROF__ERRNO_RESTORE();
}

#ifdef PROF__SHARED
static void prof__bridge_unload(void)
{
    for (prof__bridge_pages *pages = prof__bridge_memory, *next; pages; pages = next) {
        next = pages->next;
#ifdef _WIN32
        free(pages);
#else
        munmap(pages, pages->size);
#endif
    }
}
#endif

/*-- hooks, which prof.h calls. Without a tool, each costs a load and a branch --*/

#define PROF__BRIDGE_WANTED(probe, other)                                                                              \
    PROF__UNLIKELY(PROF__LOAD(&prof__bridge_tools) | (uint32_t)PROF__SDT_WANTED(probe) |                               \
                   (uint32_t)PROF__SDT_WANTED(other))
#define PROF__BRIDGE_BEGIN(site, text, token)                                                              \
    (PROF__BRIDGE_WANTED(scope_begin, scope_end) && (token) >> 60                                          \
         ? prof__bridge_scope_begin(site, text, token, PROF_VALUE_NONE, 0) : (void)0)
#define PROF__BRIDGE_BEGIN_NUMBER(site, key, token, type, number)                                          \
    do {                                                                                                   \
        if (PROF__BRIDGE_WANTED(scope_begin, scope_end) && (token) >> 60)                                  \
            prof__bridge_scope_begin(site, NULL, token, type, number);                                     \
        if (PROF__BRIDGE_WANTED_ARG(arg) && (token) >> 60) prof__bridge_arg(key, type, number, NULL);      \
    } while (0)
#define PROF__BRIDGE_LOG_KEEP(list)                                                                        \
    prof__log_list prof__again;                                                                            \
    va_copy(prof__again.values, (list)->values)
#define PROF__BRIDGE_LOG(site, severity, format)                                                           \
    do {                                                                                                   \
        if (PROF__BRIDGE_WANTED(log, log)) prof__bridge_log(site, severity, format, prof__again.values);   \
        va_end(prof__again.values);                                                                        \
    } while (0)
#define PROF__BRIDGE_UNSCOPED(track, token) prof__bridge_unscoped(track, token)
#define PROF__BRIDGE_END(self, token) prof__bridge_end(self, token)
#define PROF__BRIDGE_WANTED_ARG(probe)                                                                     \
    PROF__UNLIKELY((PROF__LOAD(&prof__bridge_tools) & PROF__BRIDGE_ITT) | (uint32_t)PROF__SDT_WANTED(probe))
#define PROF__BRIDGE_ARG(site, type, number)                                                               \
    (PROF__BRIDGE_WANTED_ARG(arg) ? prof__bridge_arg(site, type, number, NULL) : (void)0)
#define PROF__BRIDGE_ARG_TEXT(site, text)                                                                  \
    (PROF__BRIDGE_WANTED_ARG(arg_string)                                                                   \
         ? prof__bridge_arg(site, PROF_VALUE_STRING, 0, (text) ? (text) : "(null)") : (void)0)
#define PROF__BRIDGE_MARK(site, text) (PROF__BRIDGE_WANTED(mark, mark) ? prof__bridge_mark(site, text) : (void)0)
#define PROF__BRIDGE_WHOLE(otherwise)                                                                      \
    do {                                                                                                   \
        if (PROF__BRIDGE_WANTED(scope_begin, mark)) otherwise;                                             \
    } while (0)
#define PROF__BRIDGE_COUNTER_GONE(site) prof__bridge_counter_gone(site)
#define PROF__BRIDGE_COUNTER(site, type, number)                                                           \
    (PROF__BRIDGE_WANTED(counter, counter_double) ? prof__bridge_counter(site, type, number) : (void)0)
#define PROF__BRIDGE_FRAME(site) (PROF__BRIDGE_WANTED(frame, frame) ? prof__bridge_frame(site) : (void)0)
#define PROF__BRIDGE_EVENT(site, type, detail, object)                                                     \
    (PROF__BRIDGE_WANTED(event, event) ? prof__bridge_event(site, type, detail, object) : (void)0)
#define PROF__BRIDGE_THREAD(name) (PROF__BRIDGE_WANTED(thread, thread) ? prof__bridge_thread(name) : (void)0)
#define PROF__BRIDGE_SWITCH(self)                                                                          \
    (PROF__UNLIKELY((self)->bridge.fiber != (self)->fiber) ? prof__bridge_switch(self) : (void)0)
#define PROF__BRIDGE_FORGET(self, track) prof__bridge_forget(self, track)
#define PROF__BRIDGE_PAUSE() prof__bridge_follow(0)
#define PROF__BRIDGE_START() prof__bridge_start()
#define PROF__BRIDGE_STARTED() prof__bridge_leave(PROF__SELF())
#define PROF__BRIDGE_STOP() prof__bridge_follow(1)
#define PROF__BRIDGE_CHILD() ((void)(prof__bridge_lock = 0))
#define PROF__BRIDGE_UNLOAD() prof__bridge_unload()

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF__BRIDGE_HERE */

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
