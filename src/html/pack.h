// html/pack: Makes blocks from columns of bytes, packs them, and writes them as text in elements of the page. Numbers
// strings and kinds.
#ifndef PROF__HTML_PACK_H
#define PROF__HTML_PACK_H
#include "api/read.h"
#include "ground/digits.h"
#include "ground/out.h"
#include "image/pack.h"
#include "html/api.h"
#include "html/deflate.h"

/*-- blocks: see docs/internals/html.md. The first error stays in h->out; what is written after it is dropped --*/

#define PROF__HTML_VERSION 2          /* of the format */
#define PROF__HTML_MOST_ARGS 2000u    /* of an event */
#define PROF__HTML_FROM_LAST 0x10000u /* of a kind: scopes begin so much after the last one of their track */

#define PROF__HTML_COLUMN 65536u           /* bytes of a column at which a block ends */
#define PROF__HTML_SLACK 65536u            /* bytes of the longest item that is written into it at once */
#define PROF__HTML_COLUMNS 5
#define PROF__HTML_PIECE 1500000u          /* bytes of an element */
/* Only one column may be longer than COLUMN by more than a few numbers. */
#define PROF__HTML_RAW ((size_t)PROF__HTML_COLUMNS * (PROF__HTML_COLUMN + 64) + PROF__HTML_SLACK)
#define PROF__HTML_STRINGS 8192u           /* strings, and kinds, that are remembered; powers of two */
#define PROF__HTML_KINDS 4096u
#define PROF__HTML_SOURCES 4096u          /* call sites, for the option `sources` */
#define PROF__HTML_FRAMES 64u             /* kinds of frames that are remembered */
#define PROF__HTML_PARTS 4096u            /* parts of a large trace */

/* Bytes of a column. */
typedef struct prof__html_bytes {
    size_t size;
    unsigned char at[PROF__HTML_COLUMN + PROF__HTML_SLACK];
} prof__html_bytes;

typedef struct prof__html_numbers { /* see prof__html_number() */
    prof__html_bytes heads, rests;
} prof__html_numbers;

typedef struct prof__html_string { /* one that was written */
    uint64_t hash;
    uint32_t length, id;
} prof__html_string;

typedef struct prof__html_kind { /* what events have in common; one that was written */
    const prof_callsite *site;
    uint64_t name; /* hash of the name; 0: that of the site */
    uint32_t depth, type, id;
} prof__html_kind;

#ifdef PROF_HTML_LARGE
typedef struct prof__html_group { /* short scopes of a depth, one after the other: see html/large */
    int64_t start, end, longest;
    uint64_t count, busy;
    const prof_callsite *site; /* of the longest */
} prof__html_group;
#endif

typedef struct prof__html_level { /* the scopes of a track at one depth */
    int64_t start, end; /* of the last scope */
    int is_open;        /* 1: its end was not written yet */
    uint64_t count;     /* of all scopes so far */
    uint64_t listed;    /* the last scope whose arguments are in a block of arguments, */
    uint64_t block;     /* and the number of this block, from 1 on */
#ifdef PROF_HTML_LARGE
    prof__html_group group;
#endif
} prof__html_level;

typedef struct prof__html_numbered { /* frames of a kind */
    uint64_t kind, number; /* kind: its number + 1, 0: none; number: of the last frame */
} prof__html_numbered;

typedef struct prof__html_source { /* a call site whose lines are wanted */
    const char *file;
    uint32_t text, line; /* text: the number of the string `file` */
} prof__html_source;

typedef struct prof__html {
    prof__out out;
    int plain;         /* 1: only the blocks, as bytes that are not packed, without elements */
    size_t piece;      /* characters in the element that is open; 0: none is */
    uint32_t odd;      /* bits that do not fill a character yet, */
    unsigned odd_count; /* and how many they are */
    uint32_t string_count, kind_count;
    uint64_t scopes, points, spans; /* written so far */
    uint64_t argument_blocks;
    const prof_trace *trace;                /* the trace that is being written, */
    const prof_callsite *some_site;         /* its first call site that was seen, */
    int64_t offset;                         /* what is added to its times, */
    size_t first_track, track;              /* its first track and the present one, numbered over all traces */
    int has_spans, together;                /* together: see prof__html_together() */
    int64_t last_scope, last_point, last_span; /* times */
    int64_t last_time;                         /* of a begin or end of a scope */
    prof__html_level *levels;
    size_t level_capacity, open_levels; /* open_levels: the depth of the last scope + 1 */
    prof__html_level listed_points;
    uint64_t numbered; /* the last point whose number is in the block of numbers */
    prof__html_numbered frames[PROF__HTML_FRAMES]; /* of this track */
    size_t source_count, source_bytes;
    int source_limit; /* 1: a limit left something out */
    prof_html_options options;
#ifdef PROF_HTML_LARGE
    prof_html_limits limits;
    int outlined;                           /* 1: an outline of this trace is written */
    int64_t window_from, window_to, part;   /* the window; the duration of a part of the trace */
    size_t group_first, group_depths;       /* the first depth that has an open group, and how many have one, */
    int64_t group_until;                    /* to which no scope is added that begins here or later */
    uint64_t counts[PROF__HTML_PARTS];      /* see prof__html_last() */
    uint64_t last_parts[PROF__HTML_PARTS];  /* see prof__html_sparse() */
#endif
    prof__html_bytes strings, kinds, formats, units, numbers, scope_kinds, times, point_kinds, details, arguments, rows;
    prof__html_numbers starts, ends;
    prof__html_string known_strings[PROF__HTML_STRINGS];
    prof__html_kind known_kinds[PROF__HTML_KINDS];
    prof__html_source sources[PROF__HTML_SOURCES];
    prof__html_deflate deflate;
    unsigned char raw[PROF__HTML_RAW], tight[2 * PROF__HTML_RAW + 1024];
} prof__html;

/*-- text --*/

/* Writes seven bits as a character. For one that HTML, an editor or a terminal might change, writes ! and the character
   ^ 64: for NUL, line feed, carriage return, <, escape, and ! itself. */
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

/* Ends the element. */
static void prof__html_piece_end(prof__html *h)
{
    if (!h->piece) return;
    prof__html_characters(h, (const unsigned char *)"", 1); /* a zero, which is no block, after the last bits */
    h->odd_count = 0;
    prof__out_text(&h->out, "</script>\n");
    h->piece = 0;
}

/*-- bytes --*/

static void prof__html_u(prof__html_bytes *to, uint64_t value)
{
    to->size = (size_t)(prof__pack_integer(to->at + to->size, value) - to->at);
}

/* Appends a number: its first byte to heads, the others to rests. Most numbers have one byte. The head of a larger one
   says how many bytes follow, and has its highest bits; the bytes in rests follow the lowest first. So each column has
   bytes of one sort, which deflate packs better. */
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

/* Writes the length of a text, and the text: 16 KB of it at most. */
static void prof__html_text(prof__html_bytes *to, const char *text)
{
    size_t length = strlen(text);
    if (length > PROF__HTML_SLACK / 4) length = PROF__HTML_SLACK / 4;
    prof__html_u(to, length);
    memcpy(to->at + to->size, text, length);
    to->size += length;
}

/*-- blocks --*/

/* Writes a block: its kind, the bytes before and after packing, and the columns, each after its size. */
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
    tight = size > 256 && !h->plain ? prof__html_deflate_all(&h->deflate, h->raw, ends, count + 1, h->tight) : size;
    head[0] = (unsigned char)kind;
    to = prof__pack_integer(head + 1, size);
    to = prof__pack_integer(to, tight < size ? tight : 0); /* 0: it is not packed */
    prof__html_bytes_out(h, head, (size_t)(to - head));
    prof__html_bytes_out(h, tight < size ? h->tight : h->raw, tight < size ? tight : size);
    if (h->piece >= PROF__HTML_PIECE) prof__html_piece_end(h);
}

static void prof__html_block1(prof__html *h, char kind, prof__html_bytes *column)
{
    if (column->size) prof__html_block(h, kind, &column, 1);
}

/* Writes the strings and kinds that were collected: blocks that refer to them must follow. */
static void prof__html_tables(prof__html *h)
{
    prof__html_block1(h, 'S', &h->strings);
    prof__html_block1(h, 'K', &h->kinds);
    prof__html_block1(h, 'F', &h->formats);
    prof__html_block1(h, 'U', &h->units);
}

/*-- strings and kinds --*/

/* Not prof__mix(), which differs in each process: where two strings take the same place, one is written twice. */
static uint64_t prof__html_hash(const char *text, uint32_t *length)
{
    const char *c = text;
    uint64_t hash = 14695981039346656037u;
    for (; *c; ++c) hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    *length = (uint32_t)(c - text);
    hash = (hash ^ hash >> 32) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
    return hash ? hash : 1;
}

/* Returns the number of a string, and writes it if it is not among those that are remembered. */
static uint32_t prof__html_string_of(prof__html *h, const char *text)
{
    uint32_t length;
    uint64_t hash = prof__html_hash(text, &length);
    prof__html_string *known = &h->known_strings[hash % PROF__HTML_STRINGS];
    if (known->hash == hash && known->length == length) return known->id;
    if (h->strings.size >= PROF__HTML_COLUMN) prof__html_block1(h, 'S', &h->strings);
    prof__html_text(&h->strings, text);
    known->hash = hash;
    known->length = length;
    return known->id = h->string_count++;
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

/* Adds a call site to the table of those whose lines are wanted. If the table is full, the site gets no lines. */
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

/* Returns the number of a kind. type: that of the event, and its flags << 8. */
static uint32_t prof__html_kind_of(prof__html *h, const prof_callsite *site, const char *name, uint32_t depth,
                                   uint32_t type)
{
    uint32_t length;
    uint64_t hash = name == site->name ? 0 : prof__html_hash(name, &length);
    if (!h->some_site) h->some_site = site;
    /* Takes differences of addresses, which are the same in each run: so reports of one trace are equal. */
    uint64_t key = ((uint64_t)((uintptr_t)site - (uintptr_t)h->some_site) ^ hash) + depth * 0x9E3779B97F4A7C15u +
                   type * 0xBF58476D1CE4E5B9u;
    prof__html_kind *known = &h->known_kinds[(key ^ key >> 29) * 0x9E3779B97F4A7C15u >> 52];
    if (known->site == site && known->name == hash && known->depth == depth && known->type == type) return known->id;
    uint32_t texts[4] = {prof__html_string_of(h, name), prof__html_string_of(h, site->category),
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
    known->site = site;
    known->name = hash;
    known->depth = depth;
    known->type = type;
    return known->id = h->kind_count++;
}

#endif /* PROF__HTML_PACK_H */
