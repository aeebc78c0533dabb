// watch/follow: The state of a follower: names, statistics, triggers. Used by the service's thread and by
// prof_trace_live(), under a lock.
#ifndef PROF__WATCH_FOLLOW_H
#define PROF__WATCH_FOLLOW_H
#include "api/markup.h"
#include "api/read.h"
#include "ground/clock.h"
#include "ground/digits.h"
#include "ground/hash.h"
#include "ground/out.h"
#include "image/format.h"
#include "record/site.h"
#include "record/state.h"
#include "read/trace.h"
#include "report/percentiles.h"
#include "watch/last.h"

/*-- FOLLOWER --------------------------------------------------------------------------------------------- >>follow --
   A follower reads what was recorded since it last looked, while threads go on recording: for PROF_STATS, which keeps
   nothing else, and for triggers of saves. The service runs it, and prof_trace_live() too, under a lock.

   In each pass it first notes how far every chunk has been written, from the newest chunk to the oldest, as a snapshot
   does, and then reads up to there from the oldest to the newest. So of each thread it sees a prefix of what was
   recorded. A track that moved between threads may appear in one chunk before the end of its previous part was seen in
   another: the chunk then waits for the next pass, which sees everything from before, and in that pass for the chunks
   that wait at an earlier time. If there is still a gap then, the chunk in between was reused too soon: the scopes that
   were open are given up, and count as truncated.

   Scopes are matched by the reader's rules. Memory is bounded: by PROF__FOLLOW_ROWS names, beyond which everything
   counts as "(more scopes)"; by PROF__FOLLOW_DEPTH nested scopes, deeper ones are ignored; by twice as many tracks as
   there are chunks, from 256 to 65536: the one that was silent for longest is dropped first, and its open scopes count
   as truncated; by PROF__FOLLOW_HALVES begins and ends of spans that wait for each other; and by PROF__FOLLOW_LATE
   scopes of a track that the end of an outer one has closed: if their own end comes later, they overlap. */

#define PROF__FOLLOW_ROWS 4096
#define PROF__FOLLOW_DEPTH 4096
#define PROF__FOLLOW_LATE 256  /* even */
#define PROF__FOLLOW_FRAMES 16 /* PROFILE_FRAMEs of one track */
#define PROF__FOLLOW_RULES 16
#define PROF__FOLLOW_NO_BYTES (~(uint64_t)0)
#define PROF__FOLLOW_HALVES 65536 /* of spans */
#define PROF__FOLLOW_BUCKETS 8192 /* for them; a power of two */

typedef struct prof__follow_rule {
    uint64_t ns;
    int frame;
    char pattern[48];
} prof__follow_rule;

typedef struct prof__follow_open {
    uint64_t bytes; /* of a throughput */
    uint64_t tick, inside, covered; /* ticks in inner scopes, and in those of the same row */
    uint64_t number;                /* of the track's begins */
    uint32_t row, site, name;
} prof__follow_open;

/* A scope that counts as truncated, because an outer one has ended. Those that the same end closed follow each other,
   the outermost first. */
typedef struct prof__follow_late {
    uint64_t tick, bytes, number;
    uint64_t shared;       /* ticks to add to the self time of the enclosing scope if the two overlap */
    uint32_t row, site;    /* site: PROF__NONE32 when its end has come */
    uint32_t enclosing;    /* of the outermost: the row of the scope that ended, 0: none; of the others PROF__NONE32 */
} prof__follow_late;

typedef struct prof__follow_boundary {
    uint64_t tick;
    uint32_t row, name;
} prof__follow_boundary;

typedef struct prof__follow_track {
    uint64_t id, number, tick; /* number: of its newest TRACK record */
    uint32_t next;             /* the next of the same hash; all numbers of tracks, slots and rows here count from 1 */
    uint32_t newer, older;
    uint32_t slot;             /* where its newest part may still be growing */
    int partial;               /* 1: something older is missing */
    size_t depth, capacity, beyond;
    prof__follow_open *stack;
    prof__follow_late *late;
    size_t late_count;
    uint64_t begins;
    prof__follow_boundary *frames;
    size_t frame_count;
    prof__nested *nested; /* NULL: no task yet */
} prof__follow_track;

/* The state of a place where chunks are: see prof__follow_place(). */
typedef struct prof__follow_slot {
    uint64_t sequence, done; /* of the chunk being read, 0: none; of the last one that was read to its end */
    uint64_t expected;       /* the newest that was taken */
    uint64_t base, track;    /* track: id, 0: none yet */
    uint64_t waits, tick;    /* waits: the pass in which it began to wait, 0: none; tick: of its next record */
    uint64_t left;           /* the pass that first saw the track of the next words continue in another slot, so that
                                these words stay; 0: none has */
    uint32_t at, limit;
    unsigned char active, ended;
} prof__follow_slot;

typedef struct prof__follow_order {
    uint64_t sequence;
    uint32_t slot;
} prof__follow_order;

typedef struct prof__follow_site {
    uint32_t name;   /* string id */
    uint32_t row;
    uint32_t role;
} prof__follow_site;

/* The begin or end of a span whose counterpart was not read yet. Numbers count from 1. */
typedef struct prof__follow_half {
    uint64_t id, number, tick; /* number: of a frame */
    uint32_t name, role;       /* name: string id */
    uint32_t row;              /* of a begin, and of an end without a begin */
    uint32_t track;
    uint32_t next;             /* the next of the same bucket, the newest first; or the next free one */
    uint32_t newer, older;
    int end;                   /* 1: it is an end */
} prof__follow_half;

typedef struct prof__follow_row {
    prof__stat_row sums;  /* times in ticks, but for the histogram, the mean and the squares */
    char *text;           /* owned: a run-time name, or NULL */
    uint32_t site, open;
    const prof__follow_rule *rule;
} prof__follow_row;

typedef struct prof__follow {
    /* What is used most comes first: its offsets fit into a byte of the code. */
    prof__session *session;
    prof__follow_track *tracks;
    prof__follow_slot *slots;
    prof__follow_row *rows; /* the first one counts what has no row of its own */
    prof__follow_site *sites;
    size_t site_count;
    prof__follow_half *halves;
    uint64_t events;
    uint32_t *active;
    size_t active_count;
    prof__follow_order *order;
    size_t places;         /* of the arrays slots, active and order */
    uint64_t stride;       /* the slots that the ring began with */
    double ns_per_tick;
    uint64_t gaps;         /* how often something was missed */
    int lock, stats;
    uint64_t pass;
    size_t row_count;
    uint64_t seen;         /* the chunks taken at the time of the pass */
    uint64_t process;      /* the process that this memory belongs to */
    uint64_t *words, *again;
    uint32_t *buckets, bucket_mask, track_count, track_limit, newest, oldest;
    size_t meta_at;        /* words of meta that were read */
    uint32_t *strings;     /* string id -> word of meta */
    size_t string_count, string_capacity;
    size_t site_capacity, row_capacity;
    prof__read_index row_index;
    size_t half_count, half_capacity;
    uint32_t *half_buckets, half_free, half_newest, half_oldest;
    uint64_t begins_missing, ends_missing; /* of spans that were given up */
    uint64_t lost, unmatched, newest_tick;
    prof__uses uses;
    prof__follow_rule rules[PROF__FOLLOW_RULES];
    size_t rule_count;
    char save[1024];       /* config.save */
    double last_seconds;
    uint64_t every_ns, saved_at;
    uint64_t saves;
    int triggered, signal;
    prof__cause cause;     /* why to save now; text "": no reason */
} prof__follow;

/*-- names and rows --*/

/* Reads what was added to meta. Returns 0 without memory. */
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
        }
        f->meta_at += words;
    }
}

/* Returns the entry of a call site that is newer than what was read of meta, or NULL. */
static prof__follow_site *prof__follow_site_new(prof__follow *f, uint32_t id)
{
    return prof__follow_meta(f) && id < f->site_count ? &f->sites[id] : NULL;
}

/* Returns the entry of a call site, or NULL if it is not known. */
static prof__follow_site *prof__follow_site_of(prof__follow *f, uint32_t id)
{
    if (PROF__UNLIKELY(id >= f->site_count)) return prof__follow_site_new(f, id);
    return &f->sites[id];
}

static const char *prof__follow_name(const prof__follow *f, uint32_t id)
{
    return id && id < f->string_count && f->strings[id] ? (const char *)(f->session->meta + f->strings[id]) : "";
}

/* Returns the strictest rule for a scope or frame of this name, or NULL. */
static const prof__follow_rule *prof__follow_rule_of(const prof__follow *f, int frame, const char *name)
{
    const prof__follow_rule *found = NULL;
    for (size_t i = 0; i < f->rule_count; i++)
        if (f->rules[i].frame == frame && prof__match(f->rules[i].pattern, name) &&
            (!found || f->rules[i].ns < found->ns))
            found = &f->rules[i];
    return found;
}

/* Adds a row and returns its number, or 1 if there is no space. text: a run-time name, or NULL. */
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

/* Returns the row of a call site and, if that has no name of its own, of a run-time name. */
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

/* Writes "16.7 ms", without the zeros of a table's columns. */
static void prof__follow_ns_text(char *to, double ns)
{
    prof__human_ns(to, ns);
    char *unit = strchr(to, ' '), *end = unit;
    if (!strchr(to, '.')) return;
    while (end[-1] == '0') end--;
    if (end[-1] == '.') end--;
    memmove(end, unit, strlen(unit) + 1);
}

/* Called when a scope or frame took longer than a rule allows. */
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
