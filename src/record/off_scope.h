// record/off_scope: Off-scope markers: note which open scopes are off, so that their arguments are dropped and not
// added to the enclosing scope.
#ifndef PROF__RECORD_OFF_SCOPE_H
#define PROF__RECORD_OFF_SCOPE_H
#include "api/markup.h"
#include "record/off_scope_sites.h"
#include "record/ring.h"
#include "record/site.h"
#include "record/state.h"
#include "record/thread.h"
#include "record/track.h"

/*-- OFF SCOPES ----------------------------------------------------------------------------------------- >>off_scope --
   A scope that is off leaves no record, so PROFILE_ARG could not see that it is open, and would add its argument to the
   enclosing scope. Therefore the site of a scope that is off first gets the flag PROF__OFF_SCOPE_ASKED: each pass calls
   prof__begin() and prof__end(), which keep a marker on the thread while the scope is open. An argument that comes
   while the scope of the marker is the innermost one is dropped, and the site keeps the flag. A site that was passed
   about 250 times without an argument loses the flag and costs no more calls. So only scopes with arguments pay for
   markers, and scopes that are on pay nothing.

   The words reserved for ends show which scope is the innermost one. When a marker begins, it hides the words reserved
   for enclosing scopes: it lowers `end` by their number. Then (end - cursor) - free_words counts only the scopes inside
   the marker's scope. If an enclosing scope ends first, it finds no reserved word and takes the slow path. There it is
   clear that a longjmp() has left the marker's scope.

   With PROF_MINIMAL there are no markers: arguments in a scope that is off belong to the enclosing scope.

   A scope that was lost has a marker, too, if its arguments might not be lost: they may find a free chunk, or get the
   lock.

   A thread's marker has 24 bits: bit 0: an argument was dropped; bit 1: the scope was lost; bits 2 to 8: how many
   markers are nested; bits 9 to 23: how many words are hidden. The token of a scope with a marker has PROF__OFF_SCOPE
   where other tokens have the session id, and the enclosing marker. */

#define PROF__OFF_SCOPE 0x80000000u
#define PROF__OFF_SCOPE_MASK 0xFFFFFFu
#define PROF__OFF_SCOPE_DROPPED 1u
#define PROF__OFF_SCOPE_LOST (PROF__MINIMAL ? 0u : 2u)
#define PROF__OFF_SCOPE_NESTED 0x1FCu
#define PROF__OFF_SCOPE_ONE 4u /* one marker, in PROF__OFF_SCOPE_NESTED */

/* Returns the owner of a token: the session in bits 24 to 30, a hash of the track in bits 32 to 47. */
static uint64_t prof__off_scope_owner(const prof__thread *self)
{
    uint64_t track = (uint64_t)(uintptr_t)(self->fiber ? self->fiber : &self->own) * 0x9E3779B97F4A7C15u >> 48;
    return track << 32 | (uint64_t)(PROF__LOAD(&prof__state.session_id) & 127) << 24;
}
#define PROF__OFF_SCOPE_OWNER ((0xFFFFull << 32) | (127u << 24))
#define PROF__OFF_SCOPE_SLOT_SHIFT 48

/* Replaces the thread's marker, and moves `end` by the difference in hidden words. */
static void prof__off_scope_set(prof__thread *self, uint32_t note)
{
    if (self->entered)
        self->end += (int64_t)prof__off_scope_hidden(self) - (int64_t)(note >> PROF__OFF_SCOPE_HIDDEN_SHIFT);
    self->off_scope.marker = note;
    self->off_scope.slot = 0;
}

static void prof__off_scope_forget(prof__thread *self)
{
    if (!PROF__MINIMAL) prof__off_scope_set(self, 0);
}

/* Returns 1 if no recorded scope is open inside the marker's scope. */
static int prof__off_scope_is_innermost(const prof__thread *self)
{
    return !PROF__MINIMAL && prof__reserved_ends(self) <= prof__off_scope_hidden(self);
}

static PROF__COLD void prof__off_scope_loses(prof__thread *self, uint32_t count)
{
    prof__lose_all(self, PROF__LOSS_ARGS(count));
}

/* Returns 1 if `count` arguments must be dropped, because the innermost scope is off or was lost. */
static inline int prof__off_scope_drops(prof__thread *self, uint32_t count)
{
    if (PROF__MINIMAL || PROF__LIKELY(!self->off_scope.marker) || !prof__off_scope_is_innermost(self)) return 0;
    if (PROF__UNLIKELY(self->off_scope.marker & PROF__OFF_SCOPE_LOST)) prof__off_scope_loses(self, count);
    self->off_scope.marker |= PROF__OFF_SCOPE_DROPPED;
    /* now: the scope may never end */
    if (self->off_scope.slot) prof__bit_set(prof__off_scopes.with_args, self->off_scope.slot - 1);
    return 1;
}

/* Begins a scope that is off, or that was lost (lost: PROF__OFF_SCOPE_LOST). The thread holds its write lock. */
static prof__token prof__off_scope_begin(prof__thread *self, prof_site *site, uint32_t lost)
{
    if (PROF__MINIMAL) return 0;
    uint64_t reserved_ends = prof__reserved_ends(self);
    uint32_t place = prof__off_scope_slot(prof__site_load(site));
    if (reserved_ends >> 15) return 0;
    if ((self->off_scope.marker & PROF__OFF_SCOPE_NESTED) == PROF__OFF_SCOPE_NESTED) prof__off_scope_forget(self);
    prof__token token = (uint64_t)place << PROF__OFF_SCOPE_SLOT_SHIFT | prof__off_scope_owner(self) | PROF__OFF_SCOPE |
                        self->off_scope.marker;
    prof__off_scope_set(self, (uint32_t)reserved_ends << PROF__OFF_SCOPE_HIDDEN_SHIFT |
                             ((self->off_scope.marker & PROF__OFF_SCOPE_NESTED) + PROF__OFF_SCOPE_ONE) | lost);
    self->off_scope.slot = place + 1;
    prof__site_pass(site);
    return token;
}

/* Ends a scope with a marker. If markers inside it are still open, they were not nested properly, and all are removed.
   The token of another session or thread, or of a marker that was removed, changes nothing. */
static PROF__COLD void prof__off_scope_end(prof__thread *self, prof__token token)
{
    if (PROF__MINIMAL) return;
    uint32_t before = (uint32_t)token & PROF__OFF_SCOPE_MASK,
             nested = (before & PROF__OFF_SCOPE_NESTED) + PROF__OFF_SCOPE_ONE;
    if ((token ^ prof__off_scope_owner(self)) & PROF__OFF_SCOPE_OWNER ||
        (self->off_scope.marker & PROF__OFF_SCOPE_NESTED) < nested)
        return;
    if (self->off_scope.marker & PROF__OFF_SCOPE_DROPPED)
        prof__bit_set(prof__off_scopes.with_args, (uint32_t)(token >> PROF__OFF_SCOPE_SLOT_SHIFT));
    prof__off_scope_set(self, (self->off_scope.marker & PROF__OFF_SCOPE_NESTED) == nested ? before : 0);
}

#endif /* PROF__RECORD_OFF_SCOPE_H */
