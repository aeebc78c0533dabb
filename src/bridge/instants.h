// bridge/instants: Sends what is no scope.
#ifndef PROF__BRIDGE_INSTANTS_H
#define PROF__BRIDGE_INSTANTS_H
#include "bridge/tools.h"
#include "api/markup.h"
#include "api/options.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/base.h"
#include "ground/lock.h"
#include "ground/signals.h"
#include "ground/threads.h"
#include "record/self.h"
#include "record/thread.h"
#include "bridge/itt.h"
#include "bridge/names.h"
#include "bridge/nvtx.h"
#include "bridge/scopes.h"
#include "bridge/sdt.h"
#include "bridge/state.h"

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

#endif /* PROF__BRIDGE_INSTANTS_H */
