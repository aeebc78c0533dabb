// watch/sift: Finds, among records before a window, those that reach into it: begins of open scopes and spans, the last
// frame and number of each name. Leaves out all others.
#ifndef PROF__WATCH_SIFT_H
#define PROF__WATCH_SIFT_H
#include "api/markup.h"
#include "api/values.h"
#include "ground/hash.h"
#include "image/format.h"
#include "image/words.h"
#include "record/locks.h"
#include "record/state.h"
#include "read/records.h"

/*-- SIFT --------------------------------------------------------------------------------------------------- >>sift --
   Reads the records of one track in order, and keeps two lists. In `scopes` are BEGINs with their names and arguments;
   an END takes all from its BEGIN on out again. That is certain only if the END belongs to the innermost open scope: by
   its call site or, for a PROFILE_END, whose call site never begins a scope, by its name. Any other END stays in the
   list, and nothing before it is taken out any more: readers will find out what it ends (docs/format.md).
   In `others` are spans, losses and events of devices, and of counters and frames the last of each call site. Instants,
   flows, allocations and locks matter only where they are.
   The same code sifts the words of a chunk that threads may overwrite, and once more what was left of all chunks. So it
   believes nothing that it reads: an element of a list is a copy of a record's kind and call site, and says where the
   record is (`at`) in the place of its ticks. An element of kind 0 is no record. */

typedef struct prof__sift {
    const prof__session *session;
    uint64_t *scopes, *others;
    size_t scope_count, other_count, room; /* room: of each list. scopes[0] is no record */
    int barred;       /* 1: an END may belong to a scope that is not in the list */
    int keeps;        /* which list has the record before this one, and so gets its name and values */
    uint32_t sites;   /* call sites that the tables have place for, from 0 on */
    uint32_t *newest; /* for each: its last counter or frame in `others`, from 1, if rounds[] is this round */
    uint32_t *rounds, round;
    uint32_t *names;  /* for each: the string id of its name, and PROF__SIFT_ENDS. NULL: not read yet */
} prof__sift;

enum { PROF__SIFT_NOTHING = 0, PROF__SIFT_SCOPES, PROF__SIFT_OTHERS };
#define PROF__SIFT_ENDS (1u << 31)          /* the call site is of a PROFILE_END */

static void prof__sift_free(prof__sift *sift)
{
    free(sift->scopes);
    free(sift->others);
    free(sift->newest);
    free(sift->rounds);
    free(sift->names);
}

static int prof__sift_make(prof__sift *sift, const prof__session *s)
{
    uint32_t write_lock = prof__state_lock();
    sift->sites = PROF__LOAD(&s->site_count) + 1; /* all that a full chunk can name; later ones are not known */
    prof__state_unlock(write_lock);
    sift->session = s;
    sift->newest = (uint32_t *)calloc(sift->sites, sizeof *sift->newest);
    sift->rounds = (uint32_t *)calloc(sift->sites, sizeof *sift->rounds);
    return sift->newest && sift->rounds;
}

/* Makes room for this many records. Returns 0 if there is no memory. */
static int prof__sift_room(prof__sift *sift, size_t count)
{
    if (count * 2 + 1 < sift->room) return 1; /* twice: an END may need an element of kind 0 as well */
    if (count >= PROF__NONE32 / 4) return 0;
    free(sift->scopes);
    free(sift->others);
    sift->room = count * 2 + 2;
    sift->scopes = (uint64_t *)malloc(sift->room * sizeof *sift->scopes);
    sift->others = (uint64_t *)malloc(sift->room * sizeof *sift->others);
    if (sift->scopes && sift->others) return 1;
    sift->room = 0;
    return 0;
}

/* Begins with empty lists. barred: 0: nothing comes before the first record, or it is lost. */
static void prof__sift_begin(prof__sift *sift, int barred)
{
    sift->scopes[0] = 0;
    sift->scope_count = 1;
    sift->other_count = 0;
    sift->barred = barred;
    sift->keeps = PROF__SIFT_NOTHING;
    sift->round++;
}

/* From now on, an END may belong to a scope that is not in the list. */
static void prof__sift_bar(prof__sift *sift)
{
    sift->barred = 1;
    sift->scopes[sift->scope_count++] = 0;
}

/* Reads the names of call sites, when the first is needed. Returns 0 if there is no memory. */
static int prof__sift_names(prof__sift *sift)
{
    const prof__session *s = sift->session;
    if (sift->names) return 1;
    sift->names = (uint32_t *)calloc(sift->sites, sizeof *sift->names);
    if (!sift->names) return 0;
    uint32_t write_lock = prof__state_lock();
    uint64_t used = s->header->meta_used / 8, words;
    prof__state_unlock(write_lock);
    for (uint64_t at = 0; at < used; at += words) {
        uint64_t head = PROF__ACQUIRE(&s->meta[at]);
        words = head >> 32 & 0xffffff;
        if (!words) break;
        if (head >> 56 != PROF__META_SITE || (head & PROF__SITE_MASK) >= sift->sites) continue;
        int ends = (s->meta[at + 4] >> 32 & ((1u << PROF__ROLE_SHIFT) - 1)) == PROF__KIND_END;
        sift->names[head & PROF__SITE_MASK] = (uint32_t)s->meta[at + 1] | (ends ? PROF__SIFT_ENDS : 0);
    }
    return 1;
}

/* Returns 1 if this is the call site of a PROFILE_END with the name of that call site. */
static int prof__sift_named(prof__sift *sift, uint32_t site, uint32_t begin)
{
    if (site >= sift->sites || begin >= sift->sites || !prof__sift_names(sift)) return 0;
    return sift->names[begin] && sift->names[site] == (sift->names[begin] | PROF__SIFT_ENDS);
}

static void prof__sift_add(prof__sift *sift, int list, uint64_t head, size_t at)
{
    uint64_t element = (head & ~PROF__TICK_MASK) | at;
    if (list == PROF__SIFT_SCOPES)
        sift->scopes[sift->scope_count++] = element;
    else
        sift->others[sift->other_count++] = element;
    sift->keeps = list;
}

#define PROF__SIFT_INNER (1u << PROF__KIND_NAME | 1u << PROF__KIND_ARG)

static void prof__sift_end(prof__sift *sift, uint64_t head, size_t at)
{
    size_t i = sift->scope_count;
    while (prof__record_in(PROF__SIFT_INNER, sift->scopes[i - 1])) i--;
    uint64_t scope = sift->scopes[i - 1];
    int begun = prof__read_kind(scope) == PROF__KIND_BEGIN;
    sift->keeps = PROF__SIFT_NOTHING;
    if (begun && (prof__read_id(scope) == prof__read_id(head) ||
                  prof__sift_named(sift, prof__read_id(head), prof__read_id(scope)))) {
        sift->scope_count = i - 1;
    } else if (!begun && !sift->barred) { /* it ends what began before the first record, and has its arguments */
        sift->scope_count = i;
    } else {
        sift->barred = 1;
        prof__sift_add(sift, PROF__SIFT_SCOPES, head, at);
    }
}

/* Returns the largest tick of the last few records of a run. A record whose time is later than the last one's was made
   by a signal handler, which interrupted the thread between its reading of the clock and its writing. */
static uint64_t prof__sift_latest(const uint64_t *words, size_t first, size_t end, uint64_t last)
{
    if (end - first > 16) first = end - 16;
    for (; first < end; first++) {
        uint64_t tick = PROF__ACQUIRE(words + first) & PROF__TICK_MASK;
        if (tick > last) last = tick;
    }
    return last;
}

/* Sifts the BEGINs and ENDs of a chunk from this word on, as long as an END belongs to the scope that is the last
   element. Most records are of these kinds. Returns the index of the word after them. No branch depends on which of the
   two kinds a record has, because that cannot be predicted. */
static PROF__NOINLINE size_t prof__sift_scopes(prof__sift *sift, const uint64_t *words, size_t first, size_t count,
                                               uint64_t *last)
{
    const uint64_t begin = (uint64_t)PROF__KIND_BEGIN << PROF__KIND_SHIFT;
    const uint64_t end = (uint64_t)PROF__KIND_END << PROF__KIND_SHIFT;
    uint64_t *top = sift->scopes + sift->scope_count - 1;
    size_t at = first;
    for (; at < count; at++) {
        uint64_t head = PROF__ACQUIRE(words + at), ends = 0 - (head >> (PROF__KIND_SHIFT + 1) & 1);
        if (PROF__UNLIKELY(head - begin >= end)) break; /* is neither: these are the kinds 1 and 2 */
        if (PROF__UNLIKELY((*top ^ head ^ begin ^ end) & ends & ~PROF__TICK_MASK)) break;
        top[1] = (head & ~PROF__TICK_MASK) | at;
        top += 1 + 2 * (ptrdiff_t)(int64_t)ends; /* BEGIN: one more, END: one less */
    }
    if (at == first) return at;
    int begun = prof__read_kind(PROF__ACQUIRE(words + at - 1)) == PROF__KIND_BEGIN;
    sift->keeps = begun ? PROF__SIFT_SCOPES : PROF__SIFT_NOTHING;
    sift->scope_count = (size_t)(top - sift->scopes) + 1;
    *last = prof__sift_latest(words, first, at, *last);
    return at;
}

/* Adds a counter or a FRAME, and leaves out the one before of the same call site, with its values. */
static void prof__sift_newest(prof__sift *sift, uint64_t head, size_t at)
{
    uint32_t site = prof__read_id(head);
    if (site < sift->sites) {
        size_t i = sift->rounds[site] == sift->round ? sift->newest[site] : 0;
        if (i) sift->others[i - 1] = 0;
        for (; i && i < sift->other_count && prof__record_in(PROF__PARTS_OF_EVENT, sift->others[i]); i++)
            sift->others[i] = 0;
        sift->rounds[site] = sift->round;
        sift->newest[site] = (uint32_t)sift->other_count + 1;
    }
    prof__sift_add(sift, PROF__SIFT_OTHERS, head, at);
}

/* Sifts an argument of the innermost scope, or of the one of the call site that it names. */
static void prof__sift_arg(prof__sift *sift, const uint64_t *record, uint32_t length, size_t at)
{
    uint64_t head = PROF__ACQUIRE(record);
    int to = length > 1 && head & PROF__ARG_TO && !(head & PROF__ARG_KEY);
    uint32_t site = to ? prof__read_id(PROF__ACQUIRE(record + length - 1)) : 0;
    size_t i = sift->scope_count;
    while (prof__record_in(PROF__SIFT_INNER, sift->scopes[i - 1])) i--;
    prof__sift_add(sift, PROF__SIFT_SCOPES, head, at);
    sift->keeps = PROF__SIFT_NOTHING;
    if (to && (prof__read_kind(sift->scopes[i - 1]) != PROF__KIND_BEGIN || prof__read_id(sift->scopes[i - 1]) != site))
        prof__sift_bar(sift);
}

/* Returns the list for an EVENT of this type. Readers do not show types between ours and those of devices. */
static int prof__sift_list(unsigned type)
{
    int reaches = type >= PROF_EVENT_TYPE_COUNT || prof__event_group(type) == PROF__GROUP_SPAN;
    return reaches ? PROF__SIFT_OTHERS : PROF__SIFT_NOTHING;
}

/* Sifts any record but a TRACK. */
static void prof__sift_record(prof__sift *sift, const uint64_t *record, uint32_t length, size_t at)
{
    uint64_t head = PROF__ACQUIRE(record);
    int list = PROF__SIFT_NOTHING;
    switch (prof__read_kind(head)) {
    case PROF__KIND_BEGIN: list = PROF__SIFT_SCOPES; break;
    case PROF__KIND_END: prof__sift_end(sift, head, at); return;
    case PROF__KIND_NAME: list = sift->keeps; break;
    case PROF__KIND_DATA: list = sift->keeps == PROF__SIFT_OTHERS ? sift->keeps : list; break;
    case PROF__KIND_ARG: prof__sift_arg(sift, record, length, at); return;
    case PROF__KIND_COUNTER_INT:
    case PROF__KIND_COUNTER_DOUBLE:
    case PROF__KIND_COUNTER_UINT:
    case PROF__KIND_FRAME: prof__sift_newest(sift, head, at); return;
    case PROF__KIND_EVENT: list = prof__sift_list((unsigned)(PROF__ACQUIRE(record + 1) & 0xFF)); break;
    case PROF__KIND_LOST: list = PROF__SIFT_OTHERS; break;
    default: break;
    }
    sift->keeps = list;
    if (list) prof__sift_add(sift, list, head, at);
}

#endif /* PROF__WATCH_SIFT_H */
