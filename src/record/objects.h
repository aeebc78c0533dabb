// record/objects: Domains, tasks, frames, ranges, counters and markers that a program makes at run time.
#ifndef PROF__RECORD_OBJECTS_H
#define PROF__RECORD_OBJECTS_H
#include "api/macros.h"
#include "api/markup.h"
#include "api/objects.h"
#include "api/values.h"
#include "ground/instances.h"
#include "record/bridge.h"
#include "record/counter.h"
#include "record/site.h"

#ifndef PROF_FREESTANDING
/*-- OBJECTS ---------------------------------------------------------------------------------------------- >>objects --
   A handle is one block on the heap with its call sites and strings. Nothing else keeps a pointer to it: the image has
   copies of the strings, and tokens hold only ids. So its owner may destroy it while a session runs. */

struct prof_domain {
    prof_domain *next;
    /* below: the children in a tree of all domains, by the next bit of the name's hash; by the first child once all
       bits are used. */
    prof_domain *below[2];
    const char *name;
};
struct PROF__SITE_TYPE prof_task {
    prof_site site;
    uint64_t id;
};
struct PROF__SITE_TYPE prof_frame {
    prof_site site;
    uint64_t id, number;
};
struct PROF__SITE_TYPE prof_range {
    prof_site start, stop;
};
struct PROF__SITE_TYPE prof_counter {
    prof_site site;
    prof__shared_counter shared;
};
struct PROF__SITE_TYPE prof_marker {
    prof_site sites[PROF_MARK_REACH_COUNT];
};

static prof_domain *prof__domains; /* the list of all; it only grows, at its head */
static prof_domain *prof__domain_tree;
static uint64_t prof__object_ids;

/* Allocates a zeroed object with a copy of the name behind it. name: may be NULL. Returns NULL if there is no
   memory. */
static void *prof__object(size_t size, const char *name, const char **copy)
{
    size_t length = name ? strlen(name) : 0;
    char *object = (char *)calloc(1, size + length + 1);
    if (!object) return NULL;
    if (length) memcpy(object + size, name, length);
    *copy = object + size;
    return object;
}

static void prof__object_site(prof_site *site, const prof_domain *domain, const char *name, unsigned kind,
                              unsigned role)
{
    site->name = name;
    site->category = domain ? domain->name : "";
    site->file = site->function = "";
    site->level = 1;
    site->kind = (uint16_t)(kind | role << PROF__ROLE_SHIFT);
}

/* Allocates an object whose first field is a call site. */
static void *prof__object_make(size_t size, const prof_domain *domain, const char *name, unsigned kind, unsigned role)
{
    const char *copy = NULL;
    prof_site *site = (prof_site *)prof__object(size, name, &copy);
    if (site) prof__object_site(site, domain, copy, kind, role);
    return site;
}

/* Returns the domain of this name, made at the first call. Returns NULL if there is no memory. Lock-free. */
static prof_domain *prof__domain_make(const char *name)
{
    prof_domain **at = &prof__domain_tree, *domain, *made = NULL;
    uint32_t hash = prof__hash(name, strlen(name));
    const char *copy;
    for (;; at = &domain->below[hash >> 31], hash <<= 1) {
        domain = PROF__ACQUIRE(at);
        if (!domain) {
            if (!made && !(made = (prof_domain *)prof__object(sizeof *made, name, &copy))) return NULL;
            made->name = copy;
            if (__atomic_compare_exchange_n(at, &domain, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) break;
        }
        if (!strcmp(domain->name, name)) {
            free(made); /* another thread has made it first */
            return domain;
        }
    }
    while (!__atomic_compare_exchange_n(&prof__domains, &made->next, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    return made;
}

PROF_DEF prof_domain *prof_domain_create(const char *name)
{
    PROF__FORWARD(prof_domain_create, (name));
    return prof__domain_make(name ? name : "");
}

PROF_DEF const char *prof_domain_name(const prof_domain *domain) { return domain ? domain->name : ""; }

static size_t prof__domain_names(const char **names, size_t capacity)
{
    prof_domain *first = PROF__ACQUIRE(&prof__domains);
    const char *category = prof__categories.names, *end = category + PROF__ACQUIRE(&prof__categories.used);
    size_t count = 0;
    for (const prof_domain *domain = first; domain; domain = domain->next, ++count)
        if (names && count < capacity) names[count] = domain->name;
    for (; category < end; category += prof__length(category) + 1) {
        const prof_domain *same = first;
        while (same && strcmp(same->name, category)) same = same->next;
        if (same) continue;
        if (names && count < capacity) names[count] = category;
        ++count;
    }
    return count;
}

PROF_DEF size_t prof_domain_list(const char **names, size_t capacity)
{
    PROF__FORWARD(prof_domain_list, (names, capacity));
    return prof__domain_names(names, capacity);
}

PROF_DEF prof_task *prof_task_create(prof_domain *domain, const char *name)
{
    PROF__FORWARD(prof_task_create, (domain, name));
    prof_task *task = (prof_task *)prof__object_make(sizeof *task, domain, name, PROF__KIND_EVENT, PROF_ROLE_TASK);
    if (task) task->id = PROF__ADD(&prof__object_ids, 1) + 1;
    return task;
}

/* *object: a pointer to a task. Returns the task's call site, and sets *object to the task's id. */
static prof_site *prof__task_site(uint64_t *object)
{
    prof_task *task = (prof_task *)(uintptr_t)*object;
    *object = task->id;
    return &task->site;
}

PROF_DEF void prof_task_start(prof_task *task)
{
    if (task && prof__on(&task->site)) prof__event(&task->site, PROF_EVENT_SPAN_BEGIN, 0, task->id);
}

PROF_DEF void prof_task_stop(prof_task *task)
{
    if (task && prof__on(&task->site)) prof__event(&task->site, PROF_EVENT_SPAN_END, 0, task->id);
}

PROF_DEF void prof_task_destroy(prof_task *task) { free(task); }

PROF_DEF prof_frame *prof_frame_create(prof_domain *domain, const char *name)
{
    PROF__FORWARD(prof_frame_create, (domain, name));
    prof_frame *frame = (prof_frame *)prof__object_make(sizeof *frame, domain, name, PROF__KIND_EVENT, PROF_ROLE_FRAME);
    if (frame) frame->id = PROF__ADD(&prof__object_ids, 1) + 1;
    return frame;
}

/* Counts frames even when nothing records, so that a frame has the program's number. */
PROF_DEF void prof_frame_start(prof_frame *frame)
{
    if (!frame) return;
    uint64_t number = PROF__ADD(&frame->number, 1) + 1;
    if (prof__on(&frame->site))
        prof__event(&frame->site, PROF_EVENT_SPAN_BEGIN, number & PROF__EVENT_DETAIL_MAX, frame->id);
}

PROF_DEF void prof_frame_stop(prof_frame *frame)
{
    if (frame && prof__on(&frame->site))
        prof__event(&frame->site, PROF_EVENT_SPAN_END, PROF__LOAD(&frame->number) & PROF__EVENT_DETAIL_MAX, frame->id);
}

PROF_DEF void prof_frame_destroy(prof_frame *frame) { free(frame); }

PROF_DEF prof_range *prof_range_create(const char *name)
{
    prof_range *range = (prof_range *)prof__object_make(sizeof *range, NULL, name, PROF__KIND_BEGIN, PROF_ROLE_RANGE);
    if (!range) return NULL;
    range->stop = range->start;
    range->stop.kind = PROF__KIND_END; /* ends are never off */
    return range;
}

PROF_DEF void prof_range_start(prof_range *range)
{
    if (range && prof__live(&range->start)) prof__begin_unscoped(&range->start);
}

PROF_DEF void prof_range_stop(prof_range *range)
{
    if (range && prof__live(&range->stop)) prof__end_unscoped(&range->stop);
}

PROF_DEF void prof_range_destroy(prof_range *range) { free(range); }

PROF_DEF prof_counter *prof_counter_create(prof_domain *domain, const char *name)
{
    return (prof_counter *)prof__object_make(sizeof(prof_counter), domain, name, PROF__KIND_COUNTER_INT,
                                             PROF_ROLE_NONE);
}

PROF_DEF prof_counter *prof_counter_create_unit(prof_domain *domain, const char *name, const char *unit)
{
    size_t length = unit ? strlen(unit) : 0, at = sizeof(prof_counter);
    prof_counter *counter;
    if (!length) return prof_counter_create(domain, name);
    /* behind the object: the empty name of a file, the unit, the counter's name */
    counter = (prof_counter *)prof__object_make(at + 1 + length + 1, domain, name, PROF__KIND_COUNTER_INT,
                                                PROF_ROLE_NONE);
    if (!counter) return NULL;
    counter->site.file = (const char *)counter + at;
    memcpy((char *)counter + at + 1, unit, length);
    counter->site.kind |= PROF__KIND_UNIT;
    return counter;
}

static void prof__counter_change(prof_counter *counter, int how, int64_t value)
{
    prof__number number;
    if (!counter) return;
    number.shared = &counter->shared;
    prof__count_int(&counter->site, &number, how, value);
}

static void prof__counter_change_double(prof_counter *counter, int how, double value)
{
    prof__number number;
    if (!counter) return;
    number.shared = &counter->shared;
    prof__count_double(&counter->site, &number, how, value);
}

PROF_DEF void prof_counter_set(prof_counter *counter, int64_t value)
{
    prof__counter_change(counter, PROF__COUNT_SET, value);
}
PROF_DEF void prof_counter_add(prof_counter *counter, int64_t delta)
{
    prof__counter_change(counter, PROF__COUNT_ADD, delta);
}
PROF_DEF void prof_counter_sub(prof_counter *counter, int64_t delta)
{
    prof__counter_change(counter, PROF__COUNT_SUB, delta);
}
PROF_DEF void prof_counter_set_uint(prof_counter *counter, uint64_t value)
{
    prof__number number;
    if (!counter) return;
    number.shared = &counter->shared;
    prof__count_uint(&counter->site, &number, PROF__COUNT_SET, value);
}
PROF_DEF void prof_counter_set_double(prof_counter *counter, double value)
{
    prof__counter_change_double(counter, PROF__COUNT_SET, value);
}
PROF_DEF void prof_counter_add_double(prof_counter *counter, double delta)
{
    prof__counter_change_double(counter, PROF__COUNT_ADD, delta);
}

PROF_DEF void prof_counter_destroy(prof_counter *counter)
{
    if (counter) PROF__BRIDGE_COUNTER_GONE(&counter->site);
    free(counter);
}

PROF_DEF prof_marker *prof_marker_create(prof_domain *domain, const char *name)
{
    prof_marker *marker = (prof_marker *)prof__object_make(sizeof *marker, domain, name, PROF__KIND_MARK,
                                                           (unsigned)PROF__MARK_ROLE(0));
    for (int scope = 1; marker && scope < (int)PROF_MARK_REACH_COUNT; ++scope) {
        marker->sites[scope] = marker->sites[0];
        marker->sites[scope].kind = (uint16_t)(PROF__KIND_MARK | (unsigned)PROF__MARK_ROLE(scope) << PROF__ROLE_SHIFT);
    }
    return marker;
}

PROF_DEF void prof_marker_mark(prof_marker *marker, prof_mark_reach scope)
{
    unsigned at = (unsigned)scope < (unsigned)PROF_MARK_REACH_COUNT ? (unsigned)scope : 0;
    if (marker && prof__on(&marker->sites[at])) prof__mark(&marker->sites[at]);
}

PROF_DEF void prof_marker_destroy(prof_marker *marker) { free(marker); }
#endif

#endif /* PROF__RECORD_OBJECTS_H */
