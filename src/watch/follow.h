// watch/follow: The state of a follower: its tracks, names, rows of statistics, and rules of triggers. The service's
// thread and prof_trace_open_live() use it under the lock prof__follow.lock.
#ifndef PROF__WATCH_FOLLOW_H
#define PROF__WATCH_FOLLOW_H
#include "api/markup.h"
#include "api/values.h"
#include "ground/clock.h"
#include "ground/digits.h"
#include "ground/hash.h"
#include "ground/out.h"
#include "image/format.h"
#include "image/match.h"
#include "record/site.h"
#include "record/state.h"
#include "read/trace.h"
#include "report/accumulator.h"
#include "watch/last.h"

/*-- FOLLOWER --------------------------------------------------------------------------------------------- >>follow --
   A follower reads, again and again, what threads have recorded since it last looked, while they go on recording. Two
   features need it: PROF_STATS, which keeps statistics but no events, and the triggers that save a trace when a scope
   takes too long. The service's thread runs the follower, and so does prof_trace_open_live(), both under a lock.

   Each pass of a follower has two steps. First it notes how far each chunk has been written, from the newest chunk to
   the oldest. Then it reads the chunks up to there, from the oldest to the newest. So the records that it reads of a
   thread are those that the thread wrote first, without a gap, as in a snapshot.

   A track may move from one thread to another. Then the follower may find the track in a new chunk before it has read
   the end of the track's previous part. The new chunk waits for the next pass, which sees all that was written before.
   If the previous part is still missing then, the chunk also waits for other waiting chunks with earlier records. If
   the part is missing even so, its chunk was reused before it was read: the scopes that were open are given up, and
   count as truncated.

   Scopes are matched by the rules of the reader. These limits bound the memory:
   - PROF__FOLLOW_ROWS names. All others count together, as "(more scopes)".
   - PROF__FOLLOW_DEPTH nested scopes. Deeper scopes are ignored.
   - Twice as many tracks as there are chunks, but at least 256 and at most 65536. The track that was silent for longest
     is dropped first, and its open scopes count as truncated.
   - PROF__FOLLOW_HALVES begins and ends of spans that wait for their counterparts.
   - PROF__FOLLOW_LATE scopes of a track that were closed by the end of an outer scope. If the own end of such a scope
     comes later, the two scopes overlap. */

#define PROF__FOLLOW_ROWS 4096
#define PROF__FOLLOW_DEPTH 4096
#define PROF__FOLLOW_LATE 256  /* must be even: half of them are dropped at once */
#define PROF__FOLLOW_FRAMES 16 /* call sites of PROFILE_FRAME that are followed on one track */
#define PROF__FOLLOW_RULES 16
#define PROF__FOLLOW_NO_BYTES (~(uint64_t)0)
#define PROF__FOLLOW_HALVES 65536 /* begins and ends of spans that wait */
#define PROF__FOLLOW_BUCKETS 8192 /* of the hash table that finds them; a power of two */

typedef struct prof__follow_rule {
    uint64_t ns;
    int frame;
    char pattern[48];
} prof__follow_rule;

typedef struct prof__follow_open {
    prof__begun begun;
    uint64_t bytes; /* of a PROFILE_THROUGHPUT, or PROF__FOLLOW_NO_BYTES */
    uint64_t tick, inside, covered; /* when it began; ticks in scopes inside it; ticks in those of its own row */
    uint32_t row;
} prof__follow_open;

/* A scope that was cut by the end of an outer scope, and so counts as truncated, but whose own end may still come.
   Scopes that one end has cut are adjacent, the outermost first. */
typedef struct prof__follow_late {
    prof__begun begun;
    uint64_t tick, bytes;
    uint64_t shared;       /* ticks that the self time of the enclosing scope gains if the end comes */
    uint32_t row;
    uint32_t enclosing;    /* of the outermost: the row of the scope that ended, 0: not known; else PROF__NONE32 */
} prof__follow_late;

typedef struct prof__follow_boundary {
    uint64_t tick;
    uint32_t row, name;
} prof__follow_boundary;

typedef struct prof__follow_track {
    uint64_t id, number, tick; /* number: the serial of its newest TRACK record; tick: of its newest record */
    uint32_t next;             /* the next with its hash. Numbers of tracks, slots and rows count from 1; 0: none */
    uint32_t newer, older;
    uint32_t slot;             /* the slot to which a thread may still be adding records of this track */
    prof__matching match;         /* of prof__follow_open and prof__follow_late */
    prof__follow_boundary *frames;
    size_t frame_count;
    prof__nested *nested; /* NULL before the first task */
} prof__follow_track;

/* What is known of the chunk in one slot of the ring. prof__follow_place() numbers the slots. */
typedef struct prof__follow_slot {
    uint64_t sequence, done; /* chunks: the one being read, 0: none; the last one read to its end */
    uint64_t expected;       /* the newest chunk that a thread has taken here */
    uint64_t base, track;    /* base: the chunk's first tick; track: the id of the present track, 0: none yet */
    uint64_t waits, tick;    /* waits: the pass in which the wait began, 0: none; tick: of the record that comes next */
    uint64_t left;           /* the pass that first saw the track of the next words go on in another slot; from then
                                on nothing removes these words. 0: no pass has */
    uint32_t at, limit;
    unsigned char active, ended;
} prof__follow_slot;

typedef struct prof__follow_order {
    uint64_t sequence;
    uint32_t slot;
} prof__follow_order;

typedef struct prof__follow_site {
    uint32_t name;   /* the id of a string */
    uint32_t row;
    uint32_t role, unit; /* unit: the id of a string; 0: none */
} prof__follow_site;

/* A begin or an end of a span that waits for its counterpart. Numbers of entries count from 1; 0: none. */
typedef struct prof__follow_half {
    uint64_t id, number, tick; /* number: of a frame; 0: of other spans */
    uint32_t name, role;       /* name: the id of a string */
    uint32_t row;              /* the row of the span, 1: it has none */
    uint32_t track;
    uint32_t next;             /* the next older one in its bucket; of a free entry, the next free one */
    uint32_t newer, older;
    int end;                   /* 1: an end; 0: a begin */
} prof__follow_half;

typedef struct prof__follow_row {
    prof__stat_row sums;  /* times are in ticks, but those of the histogram in nanoseconds */
    char *text;           /* owned: the name, if it was made at run time; else NULL */
    uint32_t site, open;
    const prof__follow_rule *rule;
} prof__follow_row;

typedef struct prof__follow {
    /* Fields that are used most come first, so that their offsets fit into one byte of an instruction. */
    prof__session *session;
    prof__follow_track *tracks;
    prof__follow_slot *slots;
    prof__follow_row *rows; /* the first one counts all that find no space for a row */
    prof__follow_site *sites;
    size_t site_count;
    prof__follow_half *halves;
    uint64_t events;
    uint32_t *active;
    size_t active_count;
    prof__follow_order *order;
    size_t places;         /* the number of elements of slots, active and order */
    uint64_t stride;       /* the number of slots that the ring had at the start */
    double ns_per_tick;
    uint64_t gaps;         /* how many times records were missed */
    int lock, stats;
    uint64_t pass;
    size_t row_count;
    uint64_t seen;         /* how many chunks had been taken when the last pass looked */
    uint64_t process;      /* the process that may use and free this; not its child after a fork */
    uint64_t *words, *again;
    uint32_t *buckets, bucket_mask, track_count, track_limit, newest, oldest;
    size_t meta_at;        /* how many words of the metadata were read */
    uint32_t *strings;     /* of each string id: where the string is in the metadata, in words */
    size_t string_count, string_capacity;
    size_t site_capacity, row_capacity;
    prof__read_index row_index;
    size_t half_count, half_capacity;
    uint32_t *half_buckets, half_free, half_newest, half_oldest;
    uint64_t begins_missing, ends_missing; /* of spans that no longer wait */
    uint64_t lost, unmatched, newest_tick;
    prof__uses uses;
    prof__follow_rule rules[PROF__FOLLOW_RULES];
    size_t rule_count;
    char save[1024];       /* a copy of config.save */
    double last_seconds;
    uint64_t every_ns, saved_at;
    uint64_t saves;
    int triggered, signal;
    prof__cause cause;     /* why a save is due; an empty text: none is */
    int saves_here;        /* 1: prof's thread keeps up with the recording and saves it; see prof__config_saves() */
    prof__asked *asked;    /* what prof_save_request_ns() asked for, the newest first; under the lock of the state */
} prof__follow;

/*-- names and rows --*/

/* Reads the metadata that were added since the last call: strings and call sites. Returns 0 without memory. */
static int prof__follow_meta(prof__follow *f)
{
    const prof__session *s = f->session;
    for (;;) {
        const uint64_t *record = s->meta + f->meta_at;
        uint64_t head = f->meta_at < s->meta_words ? PROF__ACQUIRE(record) : 0;
        uint32_t id = (uint32_t)head, words = (uint32_t)(head >> 32 & 0xFFFFFF);
        if (!(head >> 56) || !words || words > s->meta_words - f->meta_at) return 1;
        if (head >> 56 == PROF__META_STRING) {
            while (f->string_count <= id)
                if (!PROF__MORE(f->strings, f->string_capacity, f->string_count)) return 0;
            f->strings[id] = (uint32_t)f->meta_at + 1;
        } else if (head >> 56 == PROF__META_SITE) {
            while (f->site_count <= id)
                if (!PROF__MORE(f->sites, f->site_capacity, f->site_count)) return 0;
            f->sites[id].name = (uint32_t)record[1];
            if (words > 4) f->sites[id].role = (uint32_t)(record[4] >> 32) >> PROF__ROLE_SHIFT;
            if (words > 5) f->sites[id].unit = (uint32_t)record[5];
        }
        f->meta_at += words;
    }
}

/* Returns a call site whose metadata have not been read yet: reads them first. Returns NULL if there is none. */
static prof__follow_site *prof__follow_site_new(prof__follow *f, uint32_t id)
{
    return prof__follow_meta(f) && id < f->site_count ? &f->sites[id] : NULL;
}

/* Returns a call site. Returns NULL if it is not known. */
static prof__follow_site *prof__follow_site_of(prof__follow *f, uint32_t id)
{
    if (PROF__UNLIKELY(id >= f->site_count)) return prof__follow_site_new(f, id);
    return &f->sites[id];
}

static const char *prof__follow_name(const prof__follow *f, uint32_t id)
{
    return id && id < f->string_count && f->strings[id] ? (const char *)(f->session->meta + f->strings[id]) : "";
}

/* Returns the rule with the shortest time that applies to a scope, or frame, of this name. Returns NULL if none
   does. */
static const prof__follow_rule *prof__follow_rule_of(const prof__follow *f, int frame, const char *name)
{
    const prof__follow_rule *found = NULL;
    for (size_t i = 0; i < f->rule_count; i++)
        if (f->rules[i].frame == frame && prof__match(f->rules[i].pattern, name) &&
            (!found || f->rules[i].ns < found->ns))
            found = &f->rules[i];
    return found;
}

/* Adds a row, and returns its number. Returns 1 if there is no space. text: the name, if made at run time; else
   NULL. */
static uint32_t prof__follow_add(prof__follow *f, uint32_t site, prof_event_type type, const char *name,
                                 const char *text)
{
    if (f->row_count >= PROF__FOLLOW_ROWS) return 1;
    char *copy = text ? prof__text_join(text, "") : NULL;
    prof__follow_row *row =
        text && !copy ? NULL : (prof__follow_row *)PROF__MORE(f->rows, f->row_capacity, f->row_count);
    if (!row) {
        free(copy);
        return 1;
    }
    row->sums.type = type;
    row->site = site;
    row->text = copy;
    if (type == PROF_EVENT_SCOPE || type == PROF_EVENT_FRAME)
        row->rule = prof__follow_rule_of(f, type == PROF_EVENT_FRAME, text ? text : name);
    return (uint32_t)f->row_count;
}

typedef struct prof__follow_key {
    const char *text;
    uint32_t site;
} prof__follow_key;

static int prof__follow_same(const void *owner, size_t item, const void *key)
{
    const prof__follow_row *row = (const prof__follow_row *)owner + item;
    const prof__follow_key *wanted = (const prof__follow_key *)key;
    return row->site == wanted->site && !strcmp(row->text, wanted->text);
}

static uint32_t prof__follow_row_named(prof__follow *f, uint32_t id, prof_event_type type, const char *text)
{
    prof__follow_key key;
    key.text = text;
    key.site = id;
    uint32_t hash = prof__text_hash(text) + (uint32_t)prof__mix(id);
    size_t item = prof__read_find(&f->row_index, hash, prof__follow_same, f->rows, &key);
    if (item != PROF__NONE) return (uint32_t)item + 1;
    if (!prof__read_reserve(&f->row_index, 1)) return 1;
    uint32_t number = prof__follow_add(f, id, type, "", text);
    if (number > 1) prof__read_put(&f->row_index, hash, number);
    return number;
}

/* Returns the row of a call site. A site without a name has a row for each name made at run time, which is `text`. */
static uint32_t prof__follow_row_of(prof__follow *f, uint32_t id, prof_event_type type, const char *text)
{
    prof__follow_site *site = prof__follow_site_of(f, id);
    const char *name = site ? prof__follow_name(f, site->name) : "";
    if (!site) return 1;
    if (!name[0] && text) return prof__follow_row_named(f, id, type, text);
    if (!site->row) site->row = prof__follow_add(f, id, type, name, NULL);
    return site->row;
}

/*-- triggers --*/

/* Writes a time as in "16.7 ms", without trailing zeros. */
static void prof__follow_ns_text(char *to, double ns)
{
    prof__human_ns(to, ns);
    char *unit = strchr(to, ' '), *end = unit;
    if (!strchr(to, '.')) return;
    while (end[-1] == '0') end--;
    if (end[-1] == '.') end--;
    memmove(end, unit, strlen(unit) + 1);
}

/* Sets the cause of a save: a scope or frame took longer than its rule allows. */
static void prof__follow_over(prof__follow *f, const prof__follow_row *row, double ns, uint64_t from, uint64_t to)
{
    const prof__follow_site *site = prof__follow_site_of(f, row->site);
    char took[48], limit[48];
    uint64_t now = prof__monotonic();
    if (f->cause.text[0] || (f->triggered && (!f->every_ns || now - f->saved_at < f->every_ns))) return;
    f->triggered = 1;
    f->saved_at = now;
    prof__follow_ns_text(took, ns);
    prof__follow_ns_text(limit, (double)row->rule->ns);
    f->cause.from = from;
    f->cause.to = to;
    snprintf(f->cause.text, sizeof f->cause.text, "%.60s %s > %s",
             row->text ? row->text
             : site    ? prof__follow_name(f, site->name)
                       : "",
             took, limit);
}

#endif /* PROF__WATCH_FOLLOW_H */
