// record/no_note: PROF_NO_OFF_SCOPES: replaces record/asked and record/note. An argument in a scope that is off is
// added to the enclosing scope.
#ifndef PROF__RECORD_NO_NOTE_H
#define PROF__RECORD_NO_NOTE_H
#include "api/markup.h"
#include "record/thread.h"

#define PROF__NOTE 0x80000000u /* no token has this flag */
#define PROF__NOTE_LOST 0u

static uint64_t prof__site_off(const prof_site *site, uint64_t head, uint32_t generation)
{
    (void)site;
    return head | (generation ^ PROF__OFF);
}
static int prof__site_asked(const prof_site *site) { return (void)site, 0; }
static int prof__site_late(const prof_site *site) { return (void)site, 0; }
static void prof__asked_clear(uint32_t epoch) { (void)epoch; }
static int prof__note_is_innermost(const prof__thread *self) { return (void)self, 0; }
static void prof__note_forget(prof__thread *self) { (void)self; }
static inline int prof__note_drops(prof__thread *self, uint32_t count) { return (void)self, (void)count, 0; }
static prof__token prof__note_begin(prof__thread *self, prof_site *site, uint32_t lost)
{
    return (void)self, (void)site, (void)lost, 0;
}
static void prof__note_end(prof__thread *self, prof__token token) { (void)self, (void)token; }

#endif /* PROF__RECORD_NO_NOTE_H */
