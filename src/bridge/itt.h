// bridge/itt: Sends events to VTune.
#ifndef PROF__BRIDGE_ITT_H
#define PROF__BRIDGE_ITT_H
#include "bridge/tools.h"
#include "api/values.h"
#include "ground/base.h"
#include "ground/lock.h"
#include "ground/signals.h"
#include "bridge/state.h"

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

#endif /* PROF__BRIDGE_ITT_H */
