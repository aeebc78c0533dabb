// read/names: The strings, call sites and metadata of an image. Equal ones are stored once.
#ifndef PROF__READ_NAMES_H
#define PROF__READ_NAMES_H
#include "api/markup.h"
#include "api/read.h"
#include "api/values.h"
#include "ground/digits.h"
#include "ground/hash.h"
#include "ground/out.h"
#include "ground/symbols.h"
#include "ground/utf8.h"
#include "image/format.h"
#include "image/system.h"
#include "image/words.h"
#include "read/trace.h"

/*-- names and call sites --*/

static int prof__read_same_name(const void *owner, size_t item, const void *key)
{
    const prof_trace *trace = (const prof_trace *)owner;
    return !strcmp(trace->names[item], (const char *)key);
}

/* Returns the index in names of a text, which must live as long as the trace, or PROF__NONE if there is no memory. */
static size_t prof__read_name(prof_trace *trace, const char *text)
{
    uint32_t hash = prof__text_hash(text);
    size_t item = prof__read_find(&trace->name_index, hash, prof__read_same_name, trace, text);
    if (item != PROF__NONE) return item;
    item = PROF__NEW(trace->name_index, hash, trace->names, trace->name_capacity, trace->name_count);
    if (item != PROF__NONE) trace->names[item] = text;
    return item;
}

static int prof__read_same_site(const void *owner, size_t item, const void *key)
{
    const prof__read_site *site = &((const prof_trace *)owner)->sites[item], *wanted = (const prof__read_site *)key;
    const prof_callsite *a = &site->about, *b = &wanted->about;
    return site->caller == wanted->caller && a->name == b->name && a->category == b->category && a->file == b->file &&
           a->function == b->function && a->line == b->line && a->color == b->color && a->level == b->level &&
           a->kind == b->kind && a->role == b->role && a->unit == b->unit;
}

/* Returns the index in sites of a call site, whose texts are names of the trace, or PROF__NONE if there is no
   memory. */
static size_t prof__read_site_number(prof_trace *trace, const prof__read_site *site)
{
    const prof_callsite *about = &site->about;
    uint64_t texts =
        PROF__ADDRESS(about->file) + 3 * PROF__ADDRESS(about->category) + 5 * PROF__ADDRESS(about->function);
    uint32_t hash = (uint32_t)prof__mix(site->name * 31u + ((uint64_t)about->line << 32) + texts +
                                        about->color * (uint64_t)0x9E3779B1u + about->kind +
                                        site->caller * (uint64_t)0x85EBCA77u);
    size_t item = prof__read_find(&trace->site_index, hash, prof__read_same_site, trace, site);
    if (item != PROF__NONE) return item;
    item = PROF__NEW(trace->site_index, hash, trace->sites, trace->site_capacity, trace->site_count);
    if (item != PROF__NONE) trace->sites[item] = *site;
    return item;
}

static int prof__read_same_unknown(const void *owner, size_t item, const void *key)
{
    return ((const prof_trace *)owner)->unknown[item].id == *(const uint32_t *)key;
}

/* Returns the index of the site that stands for a call site id missing in meta, or PROF__NONE for an id that no record
   had. */
static size_t prof__read_unknown_site(const prof_trace *trace, uint32_t id)
{
    size_t item = prof__read_find(&trace->unknown_index, (uint32_t)prof__mix(id), prof__read_same_unknown, trace, &id);
    return item == PROF__NONE ? PROF__NONE : trace->unknown[item].site;
}

/* Returns the index in sites for a call site id, or PROF__NONE for an id that no record had. */
static inline size_t prof__read_site_of(const prof_trace *trace, uint32_t id)
{
    if (PROF__LIKELY(id < trace->site_id_count && trace->site_ids[id] != PROF__NONE32)) return trace->site_ids[id];
    return prof__read_unknown_site(trace, id);
}

/* Joins two texts to one that lives as long as the trace. Returns NULL if there is no memory. */
static const char *prof__read_text(prof_trace *trace, const char *text, const char *more)
{
    char *copy = prof__text_join(text, more);
    char **kept = copy ? (char **)PROF__MORE(trace->texts, trace->text_capacity, trace->text_count) : NULL;
    if (kept) return *kept = copy;
    free(copy);
    return NULL;
}

/* Makes a call site that has only a name, a copy of text. Returns its index, or PROF__NONE if there is no memory. */
static size_t prof__read_make_site(prof_trace *trace, const char *text, uint32_t kind)
{
    prof__read_site site;
    size_t name;
    text = prof__read_text(trace, text, "");
    name = text ? prof__read_name(trace, text) : PROF__NONE;
    if (name == PROF__NONE) return PROF__NONE;
    memset(&site, 0, sizeof site);
    site.name = (uint32_t)name;
    site.about.name = trace->names[name];
    site.about.category = site.about.file = site.about.function = site.about.unit = trace->names[0];
    site.about.kind = kind;
    return prof__read_site_number(trace, &site);
}

/* Makes a site such as "?site 12" for a call site id missing in meta. Returns 0 if there is no memory. */
static int prof__read_invent_site(prof_trace *trace, uint32_t id, uint32_t kind)
{
    char text[32] = "?site ";
    size_t site, item;
    text[6 + prof__digits(text + 6, id)] = 0;
    site = prof__read_make_site(trace, text, kind);
    if (site == PROF__NONE) return 0;
    item = PROF__NEW(trace->unknown_index, (uint32_t)prof__mix(id), trace->unknown, trace->unknown_capacity,
                     trace->unknown_count);
    if (item == PROF__NONE) return 0;
    trace->unknown[item].id = id;
    trace->unknown[item].site = (uint32_t)site;
    return 1;
}

/* Makes sure that a call site id has a site. Returns 0 if there is no memory. */
static inline int prof__read_know_site(prof_trace *trace, uint32_t id, uint32_t kind)
{
    return prof__read_site_of(trace, id) != PROF__NONE || prof__read_invent_site(trace, id, kind);
}

/* Returns the number of a call site, which is its index in sites, or PROF__NONE if the trace does not have it. */
static inline size_t prof__site_number(const prof_trace *trace, const prof_callsite *site)
{
    size_t number = (size_t)(PROF__ADDRESS(site) - PROF__ADDRESS(trace->sites)) / sizeof *trace->sites;
    return number < trace->site_count ? number : PROF__NONE;
}

static size_t prof__site_count(const prof_trace *trace) { return trace->site_count; }

static size_t prof__read_string_name(const prof_trace *trace, uint64_t id)
{
    return id < trace->string_count ? trace->strings[id] : 0;
}

/* Returns the length in words of the meta record at words[at], or 0 after the last record. A first word with a length
   but no kind belongs to a record that a thread has reserved and not written yet. */
static size_t prof__read_meta_words(const uint64_t *words, size_t at, size_t count)
{
    size_t length;
    if (at >= count) return 0;
    length = (size_t)(words[at] >> 32 & 0xFFFFFF);
    return length <= count - at ? length : 0;
}

/* Names a function that was recorded by its address, if the symbols of its module can be read. Returns 0 if there is no
   memory. */
static int prof__read_symbol(prof_trace *trace, prof__read_site *site)
{
    const prof__symbol *symbol =
        prof__symbol_find(&trace->symbols, site->about.name, site->about.file, site->about.function);
    size_t name, file = 0;
    if (!symbol) return 1;
    name = prof__read_name(trace, symbol->name);
    if (symbol->file) file = prof__read_name(trace, symbol->file);
    if (name == PROF__NONE || file == PROF__NONE) return 0;
    site->name = (uint32_t)name;
    site->about.name = site->about.function = trace->names[name];
    if (symbol->file) site->about.file = trace->names[file];
    return 1;
}

static int prof__read_same_key(const void *owner, size_t item, const void *key)
{
    return ((const prof_trace *)owner)->metadata[item].key == (const char *)key;
}

/* Adds a pair of metadata: a key and, after it, a value, up to end, where the last byte is zero. An empty key removes
   all pairs before it. Returns 0 if there is no memory. */
static int prof__read_metadata(prof_trace *trace, const char *key, const char *end)
{
    const char *value = key + strlen(key) + 1;
    size_t at, names[2];
    uint32_t hash;
    if (!*key) {
        trace->metadata_count = 0;
        free(trace->metadata_index.slots);
        memset(&trace->metadata_index, 0, sizeof trace->metadata_index);
        return 1;
    }
    names[0] = prof__read_name(trace, key);
    names[1] = prof__read_name(trace, value < end ? value : "");
    if (names[0] == PROF__NONE || names[1] == PROF__NONE) return 0;
    key = trace->names[names[0]];
    hash = (uint32_t)prof__mix(PROF__ADDRESS(key));
    at = prof__read_find(&trace->metadata_index, hash, prof__read_same_key, trace, key);
    if (at == PROF__NONE)
        at = PROF__NEW(trace->metadata_index, hash, trace->metadata, trace->metadata_capacity, trace->metadata_count);
    if (at == PROF__NONE) return 0;
    trace->metadata[at].key = key;
    trace->metadata[at].value = trace->names[names[1]];
    return 1;
}

static int prof__trace_pair(const prof_trace *trace, size_t index, const char **key, const char **value)
{
    int there = trace && index < trace->metadata_count;
    if (key) *key = there ? trace->metadata[index].key : NULL;
    if (value) *value = there ? trace->metadata[index].value : NULL;
    return there;
}

static int prof__read_same_thread(const void *owner, size_t item, const void *key)
{
    return ((const prof_trace *)owner)->threads[item].track == *(const uint64_t *)key;
}

/* Returns the string id of the newest name that the system gave the thread of a track, or 0. */
static uint32_t prof__read_thread_name(const prof_trace *trace, uint64_t track)
{
    uint32_t hash = (uint32_t)prof__mix(track);
    size_t at = prof__read_find(&trace->thread_index, hash, prof__read_same_thread, trace, &track);
    return at == PROF__NONE ? 0 : trace->threads[at].name;
}

/* Stores a name that the system gave the thread of a track. Returns 0 if there is no memory. */
static int prof__read_thread(prof_trace *trace, uint64_t track, uint32_t name)
{
    uint32_t hash = (uint32_t)prof__mix(track);
    size_t at = prof__read_find(&trace->thread_index, hash, prof__read_same_thread, trace, &track);
    if (at == PROF__NONE)
        at = PROF__NEW(trace->thread_index, hash, trace->threads, trace->thread_capacity, trace->thread_count);
    if (at == PROF__NONE) return 0;
    trace->threads[at].track = track;
    trace->threads[at].name = name;
    return 1;
}

PROF_DEF int prof_trace_metadata(const prof_trace *trace, size_t index, const char **key, const char **value)
{
    return prof__trace_pair(trace, index, key, value);
}

static const char *prof__trace_said(const prof_trace *trace, const char *what)
{
    const char *key, *value;
    for (size_t i = 0; prof__trace_pair(trace, i, &key, &value); i++)
        if (!strcmp(key, what)) return value;
    return "";
}

/* Terminates a text that takes this many words. Keeps at most its first 1023 bytes, and cuts between UTF-8
   characters. */
static void prof__read_shorten(char *text, size_t words)
{
    size_t most = PROF__TEXT_WORDS * 8 - 1;
    text[words > PROF__TEXT_WORDS ? prof__utf8_cut(text, most) : words * 8 - 1] = 0;
}

/* Counts a lost block if a part of meta is missing from this word on. It is missing if words follow after many zeros,
   or if a recording that has ended states that meta has more. */
static void prof__read_meta_end(prof_trace *trace, const uint64_t *words, size_t at, size_t count)
{
    const prof__header *h = &trace->header;
    size_t used = h->meta_used < h->meta_size ? (size_t)h->meta_used / 8 : count, zeros = 0;
    while (at + zeros < used && !words[at + zeros]) zeros++;
    if (zeros && (at + zeros < used ? zeros >= PROF__HOLE_WORDS : h->state == PROF__STOPPED && !h->copy_tick))
        trace->info.lost_blocks++;
}

/* Adds a module to the list, unless it has no addresses. Returns 0 if there is no memory. */
static int prof__read_module(prof_trace *trace, const uint64_t *field)
{
    if (field[1] <= field[0]) return 1;
    prof_module *module = (prof_module *)PROF__MORE(trace->modules, trace->module_capacity, trace->module_count);
    if (!module) return 0;
    module->start = field[0];
    module->end = field[1];
    module->file_offset = field[2];
    module->from_ns = (int64_t)field[3]; /* as the image has it: see prof__modules_time() */
    module->path = trace->names[prof__read_string_name(trace, field[4] & 0xFFFFFFFFu)];
    module->build_id = trace->names[prof__read_string_name(trace, field[4] >> 32)];
    return 1;
}

/* Returns the index in sites of the call site with an id that was read before, or 0. So no function calls itself. */
static uint32_t prof__read_caller(const prof_trace *trace, uint64_t id)
{
    uint32_t site = id < trace->site_id_count ? trace->site_ids[id] : PROF__NONE32;
    return site == PROF__NONE32 ? 0 : site;
}

/* Returns the call site of the function that called the function of a call site of this trace. NULL: not known. */
static const prof_callsite *prof__site_caller(const prof_trace *trace, const prof_callsite *site)
{
    uint32_t caller = ((const prof__read_site *)(const void *)site)->caller;
    return caller ? &trace->sites[caller].about : NULL;
}

/* Reads meta in three passes: finds the largest ids; reads strings, metadata and names of threads; reads call sites
   and modules, whose strings may come after them. Returns 0 if there is no memory. */
static int prof__read_meta(prof_trace *trace)
{
    uint64_t *words = trace->image + trace->header.meta_offset / 8;
    size_t count = (size_t)(trace->header.meta_size / 8), at, length;
    size_t strings = 0, sites = 0;
    for (at = 0; (length = prof__read_meta_words(words, at, count)) != 0; at += length) {
        size_t id = (size_t)(words[at] & 0xFFFFFFFFu);
        unsigned kind = (unsigned)(words[at] >> 56);
        if (id > count) continue; /* ids count the records, so an id cannot be larger than this */
        if (kind == PROF__META_STRING && length > 1 && id > strings) strings = id;
        if (kind == PROF__META_SITE && length >= PROF__META_SITE_WORDS && id > sites) sites = id;
    }
    prof__read_meta_end(trace, words, at, count);
    trace->string_count = strings + 1;
    trace->site_id_count = sites + 1;
    trace->strings = (uint32_t *)calloc(trace->string_count, sizeof *trace->strings);
    trace->site_ids = (uint32_t *)malloc(trace->site_id_count * sizeof *trace->site_ids);
    if (!trace->strings || !trace->site_ids) return 0;
    memset(trace->site_ids, 0xFF, trace->site_id_count * sizeof *trace->site_ids);
    if (prof__read_name(trace, "") == PROF__NONE || prof__read_make_site(trace, "lost", PROF__KIND_LOST) == PROF__NONE)
        return 0;
    for (at = 0; (length = prof__read_meta_words(words, at, count)) != 0; at += length) {
        size_t id = (size_t)(words[at] & 0xFFFFFFFFu), name;
        if (words[at] >> 56 == PROF__META_SESSION && length > 1) {
            ((char *)(words + at + length))[-1] = 0;
            if (!prof__read_metadata(trace, (const char *)(words + at + 1), (const char *)(words + at + length)))
                return 0;
        }
        if (words[at] >> 56 == PROF__META_RATE && length > 1) trace->start_hz = words[at + 1];
        if (words[at] >> 56 == PROF__META_THREAD && length > 1)
            if (!prof__read_thread(trace, words[at + 1], (uint32_t)id)) return 0;
        if (words[at] >> 56 != PROF__META_STRING || length < 2 || id > strings) continue;
        prof__read_shorten((char *)(words + at + 1), length - 1);
        name = prof__read_name(trace, (const char *)(words + at + 1));
        if (name == PROF__NONE) return 0;
        if (id) trace->strings[id] = (uint32_t)name;
    }
    for (at = 0; (length = prof__read_meta_words(words, at, count)) != 0; at += length) {
        size_t id = (size_t)(words[at] & 0xFFFFFFFFu), number;
        const uint64_t *field = words + at + 1;
        prof__read_site site;
        if (words[at] >> 56 == PROF__META_MODULE && length >= PROF__MODULE_WORDS && !prof__read_module(trace, field))
            return 0;
        if (words[at] >> 56 != PROF__META_SITE || length < PROF__META_SITE_WORDS || id > sites) continue;
        memset(&site, 0, sizeof site);
        site.name = (uint32_t)prof__read_string_name(trace, field[0] & 0xFFFFFFFFu);
        site.about.name = trace->names[site.name];
        site.about.file = trace->names[prof__read_string_name(trace, field[0] >> 32)];
        site.about.function = trace->names[prof__read_string_name(trace, field[1] & 0xFFFFFFFFu)];
        site.about.category = trace->names[prof__read_string_name(trace, field[1] >> 32)];
        site.about.unit =
            trace->names[length > PROF__META_SITE_WORDS ? prof__read_string_name(trace, field[4] & 0xFFFFFFFFu) : 0];
        if (length > PROF__META_SITE_WORDS) site.caller = prof__read_caller(trace, field[4] >> 32);
        site.about.line = (uint32_t)field[2];
        site.about.color = (uint32_t)(field[2] >> 32);
        site.about.level = (uint32_t)field[3];
        site.about.kind = (uint32_t)(field[3] >> 32) & ((1u << PROF__ROLE_SHIFT) - 1);
        site.about.role = (uint32_t)(field[3] >> 32) >> PROF__ROLE_SHIFT;
        if (!prof__read_symbol(trace, &site)) return 0;
        number = prof__read_site_number(trace, &site);
        if (number == PROF__NONE) return 0;
        trace->site_ids[id] = (uint32_t)number;
    }
    return 1;
}

#endif /* PROF__READ_NAMES_H */
