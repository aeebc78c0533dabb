// bridge/names: Finds or makes the domain and name of a call site.
#ifndef PROF__BRIDGE_NAMES_H
#define PROF__BRIDGE_NAMES_H
#include "bridge/tools.h"
#include "api/options.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/base.h"
#include "ground/lock.h"
#include "ground/signals.h"
#include "bridge/itt.h"
#include "bridge/nvtx.h"
#include "bridge/state.h"

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

#endif /* PROF__BRIDGE_NAMES_H */
