// record/meta: Stores strings, call sites and metadata in the image, each different one once. All functions need
// prof__lock_word.
#ifndef PROF__RECORD_META_H
#define PROF__RECORD_META_H
#include "api/markup.h"
#include "ground/threads.h"
#include "image/format.h"
#include "record/functions.h"
#include "record/ring.h"
#include "record/state.h"

/*-- META --------------------------------------------------------------------------------------------------- >>meta --
   Strings and call sites are stored once each, found by their content. So a plugin that is loaded a thousand times
   takes the space of one. The caller of each function here holds the state's lock. */

#ifdef PROF__META_GROWS
/* Doubles the index, a hash table whose slots hold the place of a record. It grows downwards from the chunks, so that
   its first part and the first chunk are contiguous in the file. The memory of the new part is zero and writable. */
static void prof__index_double(prof__session *s)
{
    uint32_t slots = (s->index_mask + 1) * 2;
    s->index -= slots / 2;
    s->index_mask = slots - 1;
    prof__clear(s->index + slots / 2, slots / 2 * sizeof *s->index);
    for (uint64_t at = 0, used = s->header->meta_used / 8, words; at < used; at += words) {
        words = s->meta[at] >> 32 & 0xffffff;
        uint32_t slot = prof__hash(s->meta + at + 1, (size_t)(words - 1) * 8) + (uint32_t)(s->meta[at] >> 56);
        for (slot &= s->index_mask; s->index[slot];) slot = (slot + 1) & s->index_mask;
        s->index[slot] = (uint32_t)at + 1;
    }
}

/* Makes more of meta writable, and of its index, which always has at least as many slots as meta has words. Returns 0
   if the disk has no room. */
static int prof__meta_grow(prof__session *s, uint64_t words)
{
    uint64_t meta = (uint64_t)((char *)s->meta - (char *)s->file.mapping);
    uint64_t index = (uint64_t)((char *)s->index - (char *)s->file.mapping);
    PROF__ERRNO_SAVE();
    int error = 0;
    while (!error && words >= s->meta_ready && s->meta_ready < s->meta_words) {
        uint64_t ready = s->meta_ready * 2 < s->meta_words ? s->meta_ready * 2 : s->meta_words;
        uint64_t more = (uint64_t)s->index_mask + 1 < ready ? ((uint64_t)s->index_mask + 1) * 4 : 0;
        error = prof__part_ready(s, meta + s->meta_ready * 8, meta + ready * 8, meta + ready * 8);
        if (!error && more) error = prof__part_ready(s, index - more, index, index);
        if (error) break;
        if (more) prof__index_double(s);
        index -= more;
        s->meta_ready = (prof__extent)ready;
    }
    if (error && !s->names_error) prof__background_failed(s, s->names_error = prof__room_text(error));
    PROF__ERRNO_RESTORE();
    return !error;
}
#endif

/* Returns 1 if meta has room for this many words, counted from its beginning, and a zero word after them. Otherwise
   counts the loss and returns 0. */
static int prof__meta_room(prof__session *s, uint64_t words)
{
#ifdef PROF__META_GROWS
    if (words < s->meta_ready || (words <= s->meta_words && prof__meta_grow(s, words))) return 1;
#else
    if (words <= s->meta_words) return 1;
#endif
    s->header->sites_lost++;
    return 0;
}

/* Finds the record of this kind and content; appends one if there is none. The content is the words after the head,
   padded with zeros. A new record has the next id, ++*count. count: NULL: append none. Returns the head of the record,
   or NULL if there is none and none could be appended. */
static uint64_t *prof__meta_record(prof__session *s, uint32_t kind, const void *bytes, size_t size, uint32_t *count)
{
    uint64_t words = 1 + (size + 7) / 8, used = s->header->meta_used / 8;
    uint32_t hash = prof__hash(bytes, size) + kind, slot = hash & s->index_mask;
    for (; s->index[slot]; slot = (slot + 1) & s->index_mask) {
        uint64_t *record = s->meta + (s->index[slot] - 1);
        if (record[0] >> 32 != ((uint64_t)kind << 24 | words)) continue;
        const char *stored = (const char *)(record + 1);
        size_t i = 0;
        while (i < size && stored[i] == ((const char *)bytes)[i]) ++i;
        if (i == size) return record;
    }
    if (!count) return NULL;
    if (words >= 1u << 24 || *count >= PROF__SITE_MASK) words = s->meta_words + 1;
    if (!prof__meta_room(s, used + words)) return NULL;
    uint64_t *record = s->meta + used;
    prof__copy(record + 1, bytes, size);
    uint32_t id = *count + 1;
    PROF__STORE(count, id); /* saves look at it without the lock */
#ifdef PROF__META_GROWS
    for (slot = hash & s->index_mask; s->index[slot];) slot = (slot + 1) & s->index_mask; /* the index may have grown */
#endif
    s->index[slot] = (uint32_t)used + 1;
    s->header->meta_used = (used + words) * 8;
    PROF__RELEASE(&record[0], (uint64_t)kind << 56 | words << 32 | id);
    return record;
}

/* Finds or appends a record and returns its id, or 0 if there is no room. */
static uint32_t prof__meta_intern(prof__session *s, uint32_t kind, const void *bytes, size_t size, uint32_t *count)
{
    const uint64_t *record = prof__meta_record(s, kind, bytes, size, count);
    return record ? (uint32_t)*record : 0;
}

/* Returns the id of a string, 0 for "" or if there is no room. The stored text includes its terminator. */
static uint32_t prof__meta_string(prof__session *s, const char *text)
{
    size_t length = text ? prof__length(text) : 0;
    return length ? prof__meta_intern(s, PROF__META_STRING, text, length + 1, &s->string_count) : 0;
}

#ifdef PROF__RENAMES
/* Stores the name that the system gives the thread of this track now, in the track's THREAD record. id: the string id
   of the name. needed: 1: make the record if there is none. A reader may be reading the record, so only the lower half
   of its head changes. */
static void prof__meta_thread(prof__session *s, uint64_t track, uint32_t id, int needed)
{
    uint32_t before = id - 1;
    uint64_t *record = prof__meta_record(s, PROF__META_THREAD, &track, sizeof track, needed ? &before : NULL);
    if (record && (uint32_t)*record != id) PROF__STORE((prof__half *)record + PROF__LOW_HALF, id);
}
#endif

/* Stores the rate of the clock, if it was measured. */
static void prof__meta_rate(prof__session *s)
{
    uint32_t count = 0;
    if (s->start_hz) prof__meta_record(s, PROF__META_RATE, &s->start_hz, sizeof s->start_hz, &count);
}

/* Returns the unit of a counter, or "". The unit is behind the terminator of the file's name. */
static const char *prof__site_unit(const prof_site *site)
{
    return site->kind & PROF__KIND_UNIT ? site->file + prof__length(site->file) + 1 : "";
}

static uint32_t prof__meta_site(prof__session *s, prof_site *site)
{
    uint64_t words[PROF__META_SITE_WORDS];
    size_t size = sizeof words - sizeof *words;
    PROF__STORE(&site->private_name, prof__meta_string(s, site->name));
    words[0] = (uint64_t)prof__meta_string(s, site->file) << 32 | site->private_name;
    words[1] = prof__meta_string(s, site->function);
    words[1] |= (uint64_t)prof__meta_string(s, site->category) << 32;
    words[2] = (uint64_t)site->color << 32 | site->line;
    words[3] = (uint64_t)(site->kind & ~PROF__KIND_UNIT) << 32 | site->level;
    if (site->kind & PROF__KIND_UNIT) {
        words[4] = prof__meta_string(s, prof__site_unit(site));
        size = sizeof words;
    }
#ifdef PROF__FUNCTION_SLOTS
    if (prof__function_caller(site)) {
        words[4] = (uint64_t)prof__meta_site(s, prof__function_caller(site)) << 32;
        size = sizeof words;
    }
#endif
    return prof__meta_intern(s, PROF__META_SITE, words, size, &s->site_count);
}

/* Appends a pair of metadata. A pair without a key tells readers to forget all pairs before it. Returns 0 if there is
   no room. */
static int prof__meta_pair(prof__session *s, const char *key, const char *value)
{
    size_t k = prof__length(key) + 1, v = prof__length(value) + 1;
    uint64_t words = 1 + (k + v + 7) / 8, used = s->header->meta_used / 8;
    if (!prof__meta_room(s, words < 1u << 24 ? used + words : s->meta_words + 1)) return 0;
    uint64_t *record = s->meta + used;
    prof__copy(record + 1, key, k);
    prof__copy((char *)(record + 1) + k, value, v);
    s->header->meta_used = (used + words) * 8;
    PROF__RELEASE(&record[0], (uint64_t)PROF__META_SESSION << 56 | words << 32);
    return 1;
}

#ifdef PROF_TINY /* metadata of earlier sessions is not kept */
static void prof__metadata_write(prof__session *s) { (void)s; }
#else
/* The pairs of prof_set_metadata(), kept for later sessions: key, zero, value, zero, and so on. */
static struct {
    size_t used;
    char pairs[PROF__LESS(4096, 256)];
} prof__metadata;

static size_t prof__metadata_size(const char *pair)
{
    size_t key = prof__length(pair) + 1;
    return key + prof__length(pair + key) + 1;
}

#ifndef PROF_FREESTANDING
static char prof__rank[64]; /* the rank that %r means in the last session; "": unknown */
#ifndef PROF_MINIMAL
static struct {
    char id[64], step[24], task[24], local_rank[24]; /* of the job on a cluster; "": unknown */
} prof__job;
#endif
static char prof__host[64]; /* the machine's name if there is a rank, else "" */
#endif

/* Writes all metadata into a new image. */
static void prof__metadata_write(prof__session *s)
{
#if !defined(PROF_FREESTANDING) && !defined(PROF_MINIMAL) /* only the other builds look for them */
    if (prof__rank[0]) prof__meta_pair(s, "rank", prof__rank);
    if (prof__host[0]) prof__meta_pair(s, "host", prof__host);
    if (prof__job.local_rank[0]) prof__meta_pair(s, "local rank", prof__job.local_rank);
    if (prof__job.id[0]) prof__meta_pair(s, "job", prof__job.id);
    if (prof__job.step[0]) prof__meta_pair(s, "job step", prof__job.step);
    if (prof__job.task[0]) prof__meta_pair(s, "array task", prof__job.task);
#endif
    for (const char *each = prof__metadata.pairs; each < prof__metadata.pairs + prof__metadata.used;
         each += prof__metadata_size(each))
        prof__meta_pair(s, each, each + prof__length(each) + 1);
}

/* Sets the value of a metadata key. Returns 0, and keeps the old value, if there is no room. */
static int prof__metadata_put(const char *key, const char *value)
{
    char *at = prof__metadata.pairs, *end = at + prof__metadata.used;
    size_t key_size = prof__length(key) + 1, value_size = prof__length(value) + 1, old = 0, behind;
    while (at < end && !prof__equal(at, key)) at += prof__metadata_size(at);
    if (at < end) old = prof__metadata_size(at);
    if (prof__metadata.used - old + key_size + value_size > sizeof prof__metadata.pairs) return 0;
    behind = (size_t)(end - at) - old;
    for (size_t i = 0; i < behind && old; ++i) at[i] = at[i + old];
    at += behind;
    prof__copy(at, key, key_size);
    prof__copy(at + key_size, value, value_size);
    prof__metadata.used += key_size + value_size - old;
    return 1;
}
#endif

#endif /* PROF__RECORD_META_H */
