// bridge/scopes: Sends scopes, and keeps those of each thread that are open.
#ifndef PROF__BRIDGE_SCOPES_H
#define PROF__BRIDGE_SCOPES_H
#include "bridge/tools.h"
#include "api/markup.h"
#include "api/options.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/base.h"
#include "ground/compiler.h"
#include "ground/lock.h"
#include "ground/signals.h"
#include "ground/threads.h"
#include "record/self.h"
#include "record/thread.h"
#include "bridge/itt.h"
#include "bridge/names.h"
#include "bridge/nvtx.h"
#include "bridge/sdt.h"
#include "bridge/state.h"

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

#endif /* PROF__BRIDGE_SCOPES_H */
