// record/note: Notes of open scopes that are off, so that arguments in them are dropped, and not added to the enclosing
// scope.
#ifndef PROF__RECORD_NOTE_H
#define PROF__RECORD_NOTE_H
#include "api/markup.h"
#include "record/asked.h"
#include "record/ring.h"
#include "record/site.h"
#include "record/state.h"
#include "record/thread.h"
#include "record/track.h"

/*-- NOTES ------------------------------------------------------------------------------------------------- >>note --
   A scope that is off leaves no trace, so that PROFILE_ARG cannot see it. Therefore a scope's site that is off is first
   "asked": each pass calls prof__begin() and prof__end(), which note on the thread that such a scope is open. Arguments
   that come while it is the innermost one are dropped, and its site remains asked. A site that was passed some 250
   times without an argument is simply off from then on. So only scopes with arguments pay for notes, and those that
   are on pay nothing.

   The words reserved for ends show which scope is the innermost one. A note hides the words of the enclosing scopes: it
   moves `end` down by as many, so that the rest, (end - cursor) - free_words, counts the scopes inside. The end of an
   enclosing scope then finds no reserved word and takes the slow path, which concludes that a longjmp() has left the
   note's scope.

   With PROF_MINIMAL there are no notes: arguments in a scope that is off belong to the enclosing scope.

   A scope that was lost has a note, too, if its arguments may find the room, or get the lock, that it did not.

   The note of a thread, 24 bits: 1 if an argument was dropped; 1 if the scope was lost; how many notes are nested, 7
   bits; how many words are hidden, 15 bits. The token of such a scope has PROF__NOTE in the place of an epoch, and the
   note around it. */

#define PROF__NOTE 0x80000000u
#define PROF__NOTE_MASK 0xFFFFFFu
#define PROF__NOTE_DROPPED 1u
#define PROF__NOTE_LOST (PROF__MINIMAL ? 0u : 2u)
#define PROF__NOTE_NESTED 0x1FCu
#define PROF__NOTE_ONE 4u /* one note, in PROF__NOTE_NESTED */

/* Returns where a token belongs: the session in bits 24 to 30, the track in bits 32 to 47. */
static uint64_t prof__note_owner(const prof__thread *self)
{
    uint64_t track = (uint64_t)(uintptr_t)(self->fiber ? self->fiber : &self->own) * 0x9E3779B97F4A7C15u >> 48;
    return track << 32 | (uint64_t)(PROF__LOAD(&prof__state.epoch) & 127) << 24;
}
#define PROF__NOTE_OWNER ((0xFFFFull << 32) | (127u << 24))
#define PROF__NOTE_PLACE_SHIFT 48

/* Replaces the note, and moves the end of the chunk to where it belongs. */
static void prof__note_set(prof__thread *self, uint32_t note)
{
    if (self->entered) self->end += (int64_t)prof__note_hidden(self) - (int64_t)(note >> PROF__NOTE_HIDDEN_SHIFT);
    self->note = note;
    self->note_place = 0;
}

static void prof__note_forget(prof__thread *self)
{
    if (!PROF__MINIMAL) prof__note_set(self, 0);
}

/* Returns 1 if no scope that is on is open inside the scope of the note. */
static int prof__note_is_innermost(const prof__thread *self)
{
    return !PROF__MINIMAL && prof__owed(self) <= prof__note_hidden(self);
}

static PROF__COLD void prof__note_loses(prof__thread *self, uint32_t count)
{
    prof__lose_all(self, PROF__LOSS_ARGS(count));
}

/* Returns 1 if `count` arguments have to be dropped, because the innermost scope is off or was lost. */
static inline int prof__note_drops(prof__thread *self, uint32_t count)
{
    if (PROF__MINIMAL || PROF__LIKELY(!self->note) || !prof__note_is_innermost(self)) return 0;
    if (PROF__UNLIKELY(self->note & PROF__NOTE_LOST)) prof__note_loses(self, count);
    self->note |= PROF__NOTE_DROPPED;
    if (self->note_place) prof__bit_set(prof__asked.with_args, self->note_place - 1); /* the scope may never end */
    return 1;
}

/* Begins a scope that is off, or was lost: PROF__NOTE_LOST. The thread is busy. */
static prof__token prof__note_begin(prof__thread *self, prof_site *site, uint32_t lost)
{
    if (PROF__MINIMAL) return 0;
    uint64_t owed = prof__owed(self);
    uint32_t place = prof__asked_place(prof__site_load(site));
    if (owed >> 15) return 0;
    if ((self->note & PROF__NOTE_NESTED) == PROF__NOTE_NESTED) prof__note_forget(self);
    prof__token token = (uint64_t)place << PROF__NOTE_PLACE_SHIFT | prof__note_owner(self) | PROF__NOTE | self->note;
    prof__note_set(self, (uint32_t)owed << PROF__NOTE_HIDDEN_SHIFT |
                             ((self->note & PROF__NOTE_NESTED) + PROF__NOTE_ONE) | lost);
    self->note_place = place + 1;
    prof__site_pass(site);
    return token;
}

/* Ends a scope that is off. If notes inside it are open, they were not nested: all are forgotten. A token of another
   session or thread, or of a note that was forgotten, changes nothing. */
static PROF__COLD void prof__note_end(prof__thread *self, prof__token token)
{
    if (PROF__MINIMAL) return;
    uint32_t before = (uint32_t)token & PROF__NOTE_MASK, nested = (before & PROF__NOTE_NESTED) + PROF__NOTE_ONE;
    if ((token ^ prof__note_owner(self)) & PROF__NOTE_OWNER || (self->note & PROF__NOTE_NESTED) < nested) return;
    if (self->note & PROF__NOTE_DROPPED)
        prof__bit_set(prof__asked.with_args, (uint32_t)(token >> PROF__NOTE_PLACE_SHIFT));
    prof__note_set(self, (self->note & PROF__NOTE_NESTED) == nested ? before : 0);
}

#endif /* PROF__RECORD_NOTE_H */
