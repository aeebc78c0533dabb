// html/pack: Collects columns of bytes, packs them as blocks, and writes the blocks as text into elements of the page.
// Gives numbers to strings and to kinds of events.
#ifndef PROF__HTML_PACK_H
#define PROF__HTML_PACK_H
#include "api/read.h"
#include "api/values.h"
#include "ground/deflate.h"
#include "ground/digits.h"
#include "ground/hash.h"
#include "ground/out.h"
#include "image/pack.h"
#include "read/cursor.h"
#include "read/event.h"
#include "read/names.h"
#include "html/api.h"

/*-- blocks: docs/internals/html.md describes them. After an error, h->out keeps it, and drops what is written --*/

#define PROF__HTML_VERSION 2          /* the version of the data that the page reads */
#define PROF__HTML_MOST_ARGS 2000u    /* arguments of one event that are written, at most */
#define PROF__HTML_FROM_LAST 0x10000u /* a flag of a kind: its begin counts from the track's last begin or end */

#define PROF__HTML_COLUMN 65536u           /* how many bytes of a column complete a block */
#define PROF__HTML_SLACK 65536u            /* how many bytes an item may add to a column at once */
#define PROF__HTML_COLUMNS 5
#define PROF__HTML_PIECE 1500000u          /* characters of an element of the page */
/* A block's bytes before it is packed. No more than one of its columns is much longer than PROF__HTML_COLUMN. */
#define PROF__HTML_RAW ((size_t)PROF__HTML_COLUMNS * (PROF__HTML_COLUMN + 64) + PROF__HTML_SLACK)
#define PROF__HTML_MOST 262144u            /* how many strings, and kinds, are remembered: at most 22 MB */
#define PROF__HTML_SOURCES 4096u          /* how many call sites get lines of source */
#define PROF__HTML_FRAMES 64u             /* how many kinds of frames are remembered */
#define PROF__HTML_PARTS 4096u            /* how many parts a large trace has, at most */

/* Bytes of a column. */
typedef struct prof__html_bytes {
    size_t size;
    unsigned char at[PROF__HTML_COLUMN + PROF__HTML_SLACK];
} prof__html_bytes;

typedef struct prof__html_numbers { /* a column of numbers: see prof__html_number() */
    prof__html_bytes heads, rests;
} prof__html_numbers;

typedef struct prof__html_string { /* a string that was written before */
    uint64_t hash;
    uint32_t length, id;
} prof__html_string;

typedef struct prof__html_strings {
    prof__html_string *items;
    size_t count, capacity;
    prof__read_index index;
} prof__html_strings;

typedef struct prof__html_kind { /* what events have in common; a kind that was written before */
    const prof_callsite *site;
    uint64_t name; /* the hash of a name made at run time; 0: the name of the call site */
    uint32_t depth, type, id;
} prof__html_kind;

typedef struct prof__html_kinds {
    prof__html_kind *items;
    size_t count, capacity;
    prof__read_index index;
} prof__html_kinds;

typedef struct prof__html_site { /* the last kind of a call site of the trace, with the name of the call site */
    uint32_t depth, type, id; /* id: plus 1; 0: there is none yet */
} prof__html_site;

#ifdef PROF_HTML_LARGE
typedef struct prof__html_group { /* short scopes of one depth that follow each other: see html/large */
    int64_t start, end, longest;
    uint64_t count, busy;
    const prof_callsite *site; /* the call site of the longest scope */
} prof__html_group;
#endif

typedef struct prof__html_level { /* what is known of a track's scopes at one depth */
    int64_t start, end; /* of the last scope */
    int is_open;        /* 1: the end of that scope was not written yet */
    uint64_t count;     /* how many scopes there are so far */
    uint64_t listed;    /* the number of the last scope whose arguments were written, */
    uint64_t block;     /* and of the block that has them, from 1 */
#ifdef PROF_HTML_LARGE
    prof__html_group group;
#endif
} prof__html_level;

typedef struct prof__html_numbered { /* frames of one kind */
    uint64_t kind, number; /* kind: the number of the kind plus 1, 0: none; number: that of the last frame */
} prof__html_numbered;

typedef struct prof__html_source { /* a call site that gets lines of source */
    const char *file;
    uint32_t text, line; /* text: the number of the string `file` */
} prof__html_source;

typedef struct prof__html {
    prof__out out;
    int plain;         /* 1: writes blocks alone, not packed, and without elements around them */
    size_t piece;      /* characters written to the open element; 0: none is open */
    uint32_t odd;      /* bits that do not fill a character of the text yet, */
    unsigned odd_count; /* and how many bits these are */
    uint32_t string_count, kind_count;
    uint64_t scopes, points, spans; /* how many of each were written */
    uint64_t argument_blocks;
    const prof_trace *trace;                /* the trace that is being written */
    prof__html_site *sites;                 /* of each of its call sites; NULL: no memory for it: slower */
    int64_t offset;                         /* what is added to the trace's times */
    size_t first_track, track;              /* its first track and its present one, numbered over all traces */
    uint64_t key;                           /* prof__cursor_key() of the present event; 0: not known */
    int has_spans, together;                /* together: see prof__html_together() */
    int64_t last_scope, last_point, last_span; /* the times of the last ones written */
    int64_t last_time;                         /* when a scope of the track last began or ended */
    prof__html_level *levels;
    size_t level_capacity, open_levels; /* open_levels: the depth of the last scope plus 1 */
    prof__html_level listed_points;
    uint64_t numbered; /* the last point whose number was written */
    prof__html_numbered frames[PROF__HTML_FRAMES]; /* of the present track */
    size_t source_count, source_bytes;
    int source_limit; /* 1: a limit has left out lines of source */
    prof_html_options options;
#ifdef PROF_HTML_LARGE
    prof_html_limits limits;
    int outlined;                           /* 1: this trace is written as an outline */
    int64_t window_from, window_to, part;   /* the window; how long a part of the trace is */
    size_t group_first, group_depths;       /* the least depth that has an open group, and how many depths have one */
    int64_t group_until;                    /* when the outermost group ends */
    uint64_t counts[PROF__HTML_PARTS];      /* for prof__html_last() */
    uint64_t last_parts[PROF__HTML_PARTS];  /* for prof__html_sparse() */
#endif
    prof__html_bytes strings, kinds, formats, units, numbers, scope_kinds, times, point_kinds, details, arguments, rows;
    prof__html_numbers starts, ends;
    prof__html_strings known_strings;
    prof__html_kinds known_kinds;
    prof__html_source sources[PROF__HTML_SOURCES];
    prof__deflate deflate;
    unsigned char raw[PROF__HTML_RAW], tight[PROF__DEFLATE_BOUND(PROF__HTML_RAW)];
} prof__html;

/*-- text --*/

/* Writes each seven bits as a character. Seven of the characters could be changed by HTML, an editor or a terminal:
   NUL, line feed, carriage return, <, escape, and the sign ! itself. For these, writes ! and the character ^ 64. */
static void prof__html_characters(prof__html *h, const unsigned char *from, size_t size)
{
    uint32_t bits = h->odd;
    unsigned count = h->odd_count;
    while (size) {
        size_t now = size < 1000 ? size : 1000;
        char *to = prof__out_reserve(&h->out, 3 * now), *start = to;
        for (size -= now; now; --now) {
            bits = bits << 8 | *from++;
            for (count += 8; count >= 7;) {
                unsigned c = bits >> (count -= 7) & 127;
                if (c == '<' || c == '!' || !c || c == 10 || c == 13 || c == 27) {
                    *to++ = '!';
                    c ^= 64;
                }
                *to++ = (char)c;
            }
        }
        prof__out_commit(&h->out, (size_t)(to - start));
        h->piece += (size_t)(to - start);
    }
    h->odd = bits;
    h->odd_count = count;
}

static void prof__html_bytes_out(prof__html *h, const unsigned char *from, size_t size)
{
    if (h->plain) {
        prof__out_bytes(&h->out, from, size);
        return;
    }
    if (!h->piece) prof__out_text(&h->out, "<script type=\"application/octet-stream\">");
    prof__html_characters(h, from, size);
}

/* Ends the element that is open. */
static void prof__html_piece_end(prof__html *h)
{
    if (!h->piece) return;
    prof__html_characters(h, (const unsigned char *)"", 1); /* fills up the last character with zeros */
    h->odd_count = 0;
    prof__out_text(&h->out, "</script>\n");
    h->piece = 0;
}

/*-- bytes --*/

static void prof__html_u(prof__html_bytes *to, uint64_t value)
{
    to->size = (size_t)(prof__pack_integer(to->at + to->size, value) - to->at);
}

/* Appends a number to two columns: its first byte to heads, other bytes to rests. Most numbers are one byte. The first
   byte of a larger number says how many bytes follow, and holds the number's highest bits. The bytes in rests begin
   with the lowest. With bytes of one sort in each column, deflate packs better. */
static void prof__html_number(prof__html_numbers *to, uint64_t value)
{
    unsigned head, more;
    if (value < 192)
        head = (unsigned)value, more = 0;
    else if ((value -= 192) < 1u << 13)
        head = 192 + (unsigned)(value >> 8), more = 1;
    else if ((value -= 1u << 13) < 1u << 20)
        head = 224 + (unsigned)(value >> 16), more = 2;
    else if ((value -= 1u << 20) < 1u << 27)
        head = 240 + (unsigned)(value >> 24), more = 3;
    else
        head = 248, more = 8, value -= 1u << 27;
    to->heads.at[to->heads.size++] = (unsigned char)head;
    for (; more; --more, value >>= 8) to->rests.at[to->rests.size++] = (unsigned char)(value & 255);
}

static uint64_t prof__html_zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (value < 0 ? ~(uint64_t)0 : 0);
}

/* Writes the length of a text, and the text, of which it keeps the first 16 KB. */
static void prof__html_text(prof__html_bytes *to, const char *text)
{
    size_t length = strlen(text);
    if (length > PROF__HTML_SLACK / 4) length = PROF__HTML_SLACK / 4;
    prof__html_u(to, length);
    memcpy(to->at + to->size, text, length);
    to->size += length;
}

/*-- blocks --*/

/* Writes a block: its kind, its size before and after packing, and the columns, each preceded by its size. */
static void prof__html_block(prof__html *h, char kind, prof__html_bytes *const *columns, size_t count)
{
    unsigned char head[32], *to = h->raw;
    size_t ends[PROF__HTML_COLUMNS + 1], i, tight, size;
    for (i = 0; i < count; ++i) to = prof__pack_integer(to, columns[i]->size);
    ends[0] = (size_t)(to - h->raw);
    for (i = 0; i < count; ++i) {
        memcpy(to, columns[i]->at, columns[i]->size);
        to += columns[i]->size;
        ends[i + 1] = (size_t)(to - h->raw);
        columns[i]->size = 0;
    }
    size = (size_t)(to - h->raw);
    tight = size > 256 && !h->plain ? prof__deflate_all(&h->deflate, h->raw, ends, count + 1, h->tight) : size;
    head[0] = (unsigned char)kind;
    to = prof__pack_integer(head + 1, size);
    to = prof__pack_integer(to, tight < size ? tight : 0); /* size 0: the block is not packed */
    prof__html_bytes_out(h, head, (size_t)(to - head));
    prof__html_bytes_out(h, tight < size ? h->tight : h->raw, tight < size ? tight : size);
    if (h->piece >= PROF__HTML_PIECE) prof__html_piece_end(h);
}

static void prof__html_block1(prof__html *h, char kind, prof__html_bytes *column)
{
    if (column->size) prof__html_block(h, kind, &column, 1);
}

/* Writes the new strings and kinds. Must come before a block that refers to them. */
static void prof__html_tables(prof__html *h)
{
    prof__html_block1(h, 'S', &h->strings);
    prof__html_block1(h, 'K', &h->kinds);
    prof__html_block1(h, 'F', &h->formats);
    prof__html_block1(h, 'U', &h->units);
}

/*-- strings and kinds --*/

static int prof__html_same_string(const void *owner, size_t item, const void *key)
{
    const prof__html_string *a = (const prof__html_string *)owner + item, *b = (const prof__html_string *)key;
    return a->hash == b->hash && a->length == b->length;
}

/* Returns the number of a string. Writes the string if it is not among the remembered ones. */
static uint32_t prof__html_string_of(prof__html *h, const char *text)
{
    prof__html_strings *known = &h->known_strings;
    prof__html_string string;
    size_t item;
    string.hash = prof__text_key(text);
    string.length = (uint32_t)strlen(text);
    string.id = h->string_count;
    item = prof__read_find(&known->index, (uint32_t)string.hash, prof__html_same_string, known->items, &string);
    if (item != PROF__NONE) return known->items[item].id;
    if (h->strings.size >= PROF__HTML_COLUMN) prof__html_block1(h, 'S', &h->strings);
    prof__html_text(&h->strings, text);
    if (known->count == PROF__HTML_MOST) prof__read_forget(&known->index, &known->count);
    item = PROF__NEW(known->index, (uint32_t)string.hash, known->items, known->capacity, known->count);
    if (item != PROF__NONE) known->items[item] = string; /* without memory, it is written anew the next time */
    return h->string_count++;
}

static void prof__html_about(prof__html *h, const char *key, const char *value)
{
    if (h->rows.size >= PROF__HTML_COLUMN) prof__html_block1(h, 'P', &h->rows);
    prof__html_text(&h->rows, key);
    prof__html_text(&h->rows, value);
}

static void prof__html_about_number(prof__html *h, const char *key, uint64_t value)
{
    char text[32];
    text[prof__digits(text, value)] = 0;
    prof__html_about(h, key, text);
}

static void prof__html_about_double(prof__html *h, const char *key, double value)
{
    char text[48];
    text[prof__double_text(text, value)] = 0;
    prof__html_about(h, key, text);
}

/* Adds a call site to the table of sites that get lines of source. Once the table is full, further sites get none. */
static void prof__html_source_add(prof__html *h, const char *file, uint32_t text, uint32_t line)
{
    prof__html_source *site = h->sources, *end = site + h->source_count;
    for (; site < end; ++site)
        if (site->file == file && site->line == line) return;
    if (h->source_count == PROF__HTML_SOURCES) {
        h->source_limit = 1;
        return;
    }
    ++h->source_count;
    site->file = file;
    site->text = text;
    site->line = line;
}

/* Returns the number of the text by which the page tells allocations of a stack from others: its functions, the
   innermost first. Without a stack that is the name. */
static uint32_t prof__html_stack_of(prof__html *h, const prof_callsite *site, const char *name)
{
    char text[1024];
    size_t size = 0;
    const prof_callsite *each = prof__site_caller(h->trace, site);
    if (!each) return prof__html_string_of(h, name);
    size = (size_t)snprintf(text, sizeof text, "%.255s", name);
    for (; each && size < sizeof text - 260; each = prof__site_caller(h->trace, each))
        size += (size_t)snprintf(text + size, sizeof text - size, " < %.255s", each->name);
    text[prof__utf8_cut(text, size)] = 0;
    return prof__html_string_of(h, text);
}

/* Returns the number of a new kind, and writes the kind. */
static uint32_t prof__html_kind_new(prof__html *h, const prof_callsite *site, const char *name,
                                    const prof__html_kind *kind)
{
    uint64_t hash = kind->name;
    uint32_t depth = kind->depth, type = kind->type;
    uint32_t texts[4] = {prof__html_stack_of(h, site, name), prof__html_string_of(h, site->category),
                         prof__html_string_of(h, site->file), prof__html_string_of(h, site->function)};
    uint32_t unit = *site->unit ? prof__html_string_of(h, site->unit) : 0;
    uint32_t format = hash && *site->name ? prof__html_string_of(h, site->name) : 0;
    if (h->options.sources && site->line && (type & 255) == PROF_EVENT_SCOPE)
        prof__html_source_add(h, site->file, texts[2], site->line);
    if (h->kinds.size >= PROF__HTML_COLUMN) prof__html_tables(h);
    prof__html_u(&h->kinds, type);
    prof__html_u(&h->kinds, depth);
    for (int i = 0; i < 4; ++i) prof__html_u(&h->kinds, texts[i]);
    prof__html_u(&h->kinds, site->line);
    prof__html_u(&h->kinds, site->color);
    prof__html_u(&h->kinds, site->role);
    if (hash && *site->name && (type & 255) == PROF_EVENT_SCOPE) {
        prof__html_u(&h->formats, h->kind_count);
        prof__html_u(&h->formats, format);
    }
    if (*site->unit) {
        prof__html_u(&h->units, h->kind_count);
        prof__html_u(&h->units, unit);
    }
    return h->kind_count++;
}

static int prof__html_same_kind(const void *owner, size_t item, const void *key)
{
    const prof__html_kind *a = (const prof__html_kind *)owner + item, *b = (const prof__html_kind *)key;
    return a->site == b->site && a->name == b->name && a->depth == b->depth && a->type == b->type;
}

static uint32_t prof__html_kind_hash(const prof__html_kind *kind)
{
    return (uint32_t)prof__mix_key((uint64_t)(uintptr_t)kind->site + kind->depth * 0x9E3779B97F4A7C15u +
                                   kind->type * 0xBF58476D1CE4E5B9u, kind->name);
}

/* Begins to find the kind of a scope that comes soon, if its name was made at run time. */
static void prof__html_kind_soon(const prof__html *h, const prof_cursor *cursor)
{
    prof__html_kind kind;
    const prof__read_node *node = prof__cursor_ahead(cursor, 8, &kind.site, &kind.name);
    size_t item;
    if (node) {
        kind.depth = node->depth;
        kind.type = PROF_EVENT_SCOPE;
        prof__read_soon(&h->known_kinds.index, prof__html_kind_hash(&kind));
    }
    node = prof__cursor_ahead(cursor, 4, &kind.site, &kind.name);
    if (!node) return;
    kind.depth = node->depth;
    kind.type = PROF_EVENT_SCOPE;
    item = prof__read_guess(&h->known_kinds.index, prof__html_kind_hash(&kind));
    if (item != PROF__NONE) PROF__SOON(&h->known_kinds.items[item]);
}

/* Returns the number of a kind. Writes the kind if it is not among the remembered ones. name: NULL: the call site's. */
static uint32_t prof__html_kind_find(prof__html *h, const prof_callsite *site, const char *name, uint32_t depth,
                                     uint32_t type)
{
    prof__html_kinds *known = &h->known_kinds;
    prof__html_kind kind;
    uint32_t hash;
    size_t item;
    kind.site = site;
    kind.name = !name ? 0 : h->key && !*site->name ? h->key : prof__text_key(name);
    kind.depth = depth;
    kind.type = type;
    hash = prof__html_kind_hash(&kind);
    item = prof__read_find(&known->index, hash, prof__html_same_kind, known->items, &kind);
    if (item != PROF__NONE) return known->items[item].id;
    kind.id = prof__html_kind_new(h, site, name ? name : site->name, &kind);
    if (known->count == PROF__HTML_MOST) prof__read_forget(&known->index, &known->count);
    item = PROF__NEW(known->index, hash, known->items, known->capacity, known->count);
    if (item != PROF__NONE) known->items[item] = kind;
    return kind.id;
}

/* Returns the number of a kind of event. type: the event's type | its flags << 8. */
static uint32_t prof__html_kind_of(prof__html *h, const prof_callsite *site, const char *name, uint32_t depth,
                                   uint32_t type)
{
    size_t number = h->sites && name == site->name ? prof__site_number(h->trace, site) : PROF__NONE;
    prof__html_site *last;
    if (number == PROF__NONE) return prof__html_kind_find(h, site, name == site->name ? NULL : name, depth, type);
    last = &h->sites[number];
    if (PROF__LIKELY(last->id && last->depth == depth && last->type == type)) return last->id - 1;
    last->depth = depth;
    last->type = type;
    last->id = prof__html_kind_find(h, site, NULL, depth, type) + 1;
    return last->id - 1;
}

#endif /* PROF__HTML_PACK_H */
