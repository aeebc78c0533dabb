/* prof_html.h - a report in one HTML file for prof - public domain or MIT-0
                 assembled from src/: change it there, see CONTRIBUTING.md
                 needs prof.h and nothing else; the licence is at the end of this file

QUICK START

    #define PROF_IMPLEMENTATION            // in exactly one file of the program, C or C++
    #include "prof_html.h"                 // includes prof.h

    int main(void)
    {
        prof_config config = {0};
        config.output = "trace.html";      // this header is the writer of .html
        prof_start(&config);
        { PROFILE_SCOPE("work"); }
        return (int)prof_stop();           // open trace.html in a browser
    }

Or run a program that has this header with PROF_OUTPUT=trace.html in its environment. From an image of an earlier run,
prof_trace_open("trace.prof", &trace) and prof_html_write(trace, "trace.html", NULL) make a report; so do `prof export
trace.prof -o trace.html` and `prof view trace.prof`, which also opens it. prof_server.h serves the same page of a
running program, live.

WHAT IT SHOWS                                                                                                 >>html

    One file that needs no network and nothing installed: Chrome or Edge from 103 on, Firefox from 113 on, Safari from
    16.4 on, the first that unpack raw deflate. Bars of frames; a time line of processes, threads, fibers and devices,
    with counters, spans, marks, messages, locks, memory and flows, and when each thread ran and waited; for the
    selected range calls, total and self time, percentiles and a flame graph from the top or the bottom; of one scope
    the distribution and each of its calls with its arguments; of one call or frame why it took so long; tables of
    messages, memory, locks and frames; and what was lost, and what recording cost. The key ? lists all keys.

    The recording in the file is packed: 1 to 2.5 bytes a scope; docs/internals/html.md has the format. The page
    checks what it reads, may load nothing, and shows names only as text, so it is safe to open a report from somebody
    else. docs/guide/page.md says more about what the page shows.

    With a folder as the option `sources`, the panel of a scope also shows the lines around its call site: 4 before, 8
    after, of 400 bytes at most, 1 MiB in all. They are read when the report is written, from the regular file below
    the folder that the longest tail of the recorded path leads to; "/" takes all paths as they are. If there is no such
    file, the report has no lines of it, and counts it. Whoever has the report can read the lines, so the option is off
    by default.

    An event keeps its first 2000 arguments. Otherwise all that a cursor or prof_spans_next() returns is in the file. In
    mode stats there are no events: write a .txt.

COMPILE-TIME OPTIONS, where PROF_IMPLEMENTATION is

    PROF_HTML_LARGE        -        adds prof_html_outline(), which writes an outline of a trace of more than 50 million
                                    events, with statistics of all of them and the events of a window, as prof export
                                    and prof view do; 3 KB of code
*/
#include "prof_read.h" /* each time, because the last one may be that of PROF_IMPLEMENTATION */

#pragma pack(push, 16) /* as in prof.h */
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpragma-pack" /* macOS's headers end with the default */
#endif
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* what only another header uses, or not this system */
#endif
#ifndef PROF_HTML_H
#define PROF_HTML_H

#ifdef __cplusplus
extern "C" {
#endif

/* Options of a report. A structure of zeros has the defaults, with which the report has everything. */
typedef struct prof_html_options {
    const char *title; /* of the page; NULL: the program's name */
    int no_args;       /* 1: leaves out all arguments but the numbers of steps */
    const char *sources; /* a folder: the report has lines around the call sites of scopes, from files below it; NULL:
                            it has no source code */
} prof_html_options;

#ifdef PROF_HTML_LARGE
typedef struct prof_html_limits {
    uint64_t events;        /* a whole report has so many events at most; more make an outline; 0: 50 million */
    int64_t from_ns, to_ns; /* the window; both 0: the last events, half as many as `events`; to_ns 0: the end */
} prof_html_limits;
#endif

#if PROF_ENABLE
/* Write a report. path is that of prof_csv_write(). options may be NULL. These functions take some 2 MB of memory,
   however long the trace is, and return what failed, as prof_csv_write() does. */
PROF_DEF prof_status prof_html_write(const prof_trace *trace, const char *path, const prof_html_options *options);
PROF_DEF prof_status prof_html_stream(const prof_trace *trace, prof_sink sink, const prof_html_options *options);

/* Writes several traces as the processes of one report, on the time line of prof_trace_align(). If one had ended before
   another began, each begins at 0, so that they can be compared. */
PROF_DEF prof_status prof_html_merge(const prof_trace *const *traces, size_t count, const char *path,
                                     const prof_html_options *options);
#ifdef PROF_HTML_LARGE
/* Writes an outline, and all events of a window, if the traces have more events than a page can show or limits has a
   window; otherwise a whole report, as prof_html_merge() does. Its memory does not grow with the traces. limits may be
   NULL. */
PROF_DEF prof_status prof_html_outline(const prof_trace *const *traces, size_t count, const char *path,
                                       const prof_html_options *options, const prof_html_limits *limits);
#endif
#else
#define prof_html_write(trace, path, options) PROF__STRIPPED(PROF_OK, PROF__USE3(trace, path, options))
#define prof_html_stream(trace, sink, options) PROF__STRIPPED(PROF_OK, PROF__USE3(trace, sink, options))
#define prof_html_merge(traces, count, path, options) \
    PROF__STRIPPED(PROF_OK, (0 ? (void)(count) : PROF__USE3(traces, path, options)))
#define prof_html_outline(traces, count, path, options, limits) \
    PROF__STRIPPED(PROF_OK, (0 ? (void)(count), (void)(limits) : PROF__USE3(traces, path, options)))
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_HTML_H */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && !defined(PROF__HTML_IMPLEMENTED)
#define PROF__HTML_IMPLEMENTED

#ifdef PROF__WRAPS_MALLOC /* what prof itself allocates is not the program's */
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
#define qsort(at, count, size, order) prof__quiet_sort(at, count, size, order)
#define fclose(file) PROF__QUIETLY(int, fclose(file))
#define fgetc(file) PROF__QUIETLY(int, fgetc(file))
#endif

#ifdef __cplusplus
extern "C" {
#endif

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

/* The page up to where its data begin. */
static const char *const prof__html_page[] = {
    "<!doctype html>\n"
    "<html lang=en>\n"
    "<head>\n"
    "<meta charset=utf-8>\n"
    "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; script-src 'nonce-prof'; worker-src blob:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
    "<meta name=viewport content=\"width=device-width\">\n"
    "<meta name=referrer content=no-referrer>\n"
    "<meta name=color-scheme content=\"light dark\">\n"
    "<title>prof</title>\n"
    "<style>\n"
    ":root{"
    "--bg:#ffffff;--gutter:#f6f7f9;--head:#e3e7ee;--group:#eef0f4;--line:#dfe3e8;--grid:#eceff3;"
    "--ink:#1c2430;--faint:#5a6577;--shade:rgba(30,40,60,.13);--accent:#1f5fbf;--onaccent:#ffffff;--counter:#5b8bcb;--edge:#78828f;"
    "--mark:#6a55b0;--warn:#b87400;--bad:#c22f2f;--good:#3d9960;--flow:#b03a8c;--note:#fff4d6;--slower:#b83a10;"
    "--running:#2e8b57;--ready:#d07800;--waiting:#71809a;--unknown:#8b95a5;"
    "color-scheme:light"
    "}"
    ":root[data-theme=dark]{"
    "--bg:#14171c;--gutter:#1b1f26;--head:#2b323d;--group:#222832;--line:#303743;--grid:#20252d;"
    "--ink:#e6eaf0;--faint:#9aa6b8;--shade:rgba(0,0,0,.34);--accent:#7db4ff;--onaccent:#0c1220;--counter:#4a72a8;--edge:#7d8794;"
    "--mark:#b4a3f0;--warn:#e0a030;--bad:#f07070;--good:#55b37a;--flow:#e58ac8;--note:#3a3118;--slower:#ff9474;"
    "--running:#4db381;--ready:#eaa63a;--waiting:#8b9ab2;--unknown:#7a8698;"
    "color-scheme:dark"
    "}"
    "*{box-sizing:border-box}"
    "html,body{height:100%;margin:0}"
    "body{display:flex;flex-direction:column;font:13px/1.4 system-ui,sans-serif;color:var(--ink);background:var(--bg);overflow:hidden}"
    "header{display:flex;gap:10px;align-items:center;padding:5px 10px;background:var(--head);white-space:nowrap}"
    "#facts{overflow:hidden;text-overflow:ellipsis}"
    "h1{font-size:15px;margin:0;flex:none;overflow:hidden;text-overflow:ellipsis;max-width:40vw}"
    "h2{font-size:14px;margin:0 0 2px;overflow:auto;max-height:5em;overflow-wrap:anywhere}"
    ".note{color:var(--faint)}"
    ".grow{flex:1}"
    ".hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}"
    "button,input,select{font:inherit;color:inherit;background:var(--bg);border:1px solid var(--edge);border-radius:4px;padding:2px 8px}"
    "button{cursor:pointer}"
    "button:disabled{opacity:.5;cursor:default}"
    "button[aria-pressed=true]{background:var(--accent);color:var(--onaccent)}"
    ":focus-visible{outline:2px solid var(--accent);outline-offset:-2px}"
    ".searching{position:relative}"
    "#search{width:min(340px,24vw);padding-right:60px}"
    "#search:placeholder-shown{padding-right:0}"
    "#hits{position:absolute;right:10px;top:3px;color:var(--faint);font-size:12px}"
    ".message{background:var(--note);padding:4px 10px;max-height:30vh;overflow:auto}"
    "#warnings details{display:inline;margin-left:6px}"
    "#warnings summary{display:inline;cursor:pointer;text-decoration:underline}"
    "#warnings p{margin:2px 0}"
    "#loading{padding:20px;margin:0}"
    "#loading[hidden]{display:none}"
    "main{flex:1;min-height:120px;display:flex;flex-direction:column;min-width:0;overflow:hidden}"
    "body.dropping{outline:3px dashed var(--accent);outline-offset:-3px}"
    "canvas:focus-visible{outline-width:1px;outline-offset:-1px}"
    "canvas{display:block;width:100%;touch-action:none}"
    "#frames{height:58px;border-bottom:1px solid var(--line);cursor:pointer;flex:none}"
    "#frames[hidden]{display:none}"
    "#time{flex:1;min-height:0;height:0}"
    "#bar{height:7px;background:var(--head);cursor:row-resize;touch-action:none;flex:none}"
    "#lower{height:40vh;display:flex;flex-direction:column;flex:none;min-height:0}"
    "#tabs{display:flex;background:var(--group);flex:none;overflow-x:auto}"
    "#tabs button{border:0;border-radius:0;background:none;padding:5px 12px;white-space:nowrap;border-bottom:2px solid transparent}"
    "#tabs button[aria-selected=true]{background:var(--bg);border-bottom-color:var(--accent);font-weight:600}"
    "#panel{flex:1;min-height:0;display:flex;flex-direction:column;overflow:auto}"
    "#panel > .note,.half > .note{padding:10px;margin:0}"
   ,
    ".fill{flex:1;min-height:0;display:flex;flex-direction:column}"
    ".scroll{overflow:auto;flex:1 1 auto;min-height:90px}"
    ":is(#panel,.half) > .note:first-child ~ .scroll,.facts ~ .scroll{flex:none;max-height:100%}"
    ".bar-of-tools{display:flex;gap:8px;align-items:center;padding:4px 8px;flex:none;flex-wrap:wrap}"
    "table{border-collapse:collapse;min-width:55%;font-variant-numeric:tabular-nums}"
    "caption{text-align:left;padding:5px 8px 3px;color:var(--faint)}"
    "caption .copy{font-size:11px;padding:0 6px;margin-left:6px}"
    "th,td{text-align:right;padding:2px 8px;white-space:nowrap;border-bottom:1px solid var(--grid);font-weight:normal}"
    "thead th{position:sticky;top:0;background:var(--gutter);z-index:1}"
    "th button{border:0;background:none;padding:0;font-weight:600}"
    ".text{text-align:left;max-width:min(34em,60vw);overflow:hidden;text-overflow:ellipsis}"
    "tbody tr:hover{background:var(--group)}"
    "tr.picked{background:var(--head)}"
    ".fold{border:0;background:none;padding:0 4px 0 0;float:left}"
    ".within td:first-child{padding-left:26px}"
    ".link{border:0;background:none;padding:0;color:var(--accent);text-align:inherit;max-width:100%;overflow:hidden;text-overflow:ellipsis}"
    ".link:hover{text-decoration:underline}"
    "td.text .link{display:block}"
    ".bar{display:inline-flex;align-items:center;gap:6px;justify-content:flex-end}"
    ".bar i{display:inline-block;height:9px;background:var(--counter)}"
    ".facts{width:auto;min-width:0;align-self:start;margin-bottom:8px}"
    ".facts th{text-align:left;color:var(--faint)}"
    ".facts .text{max-width:70vw;white-space:normal;overflow-wrap:anywhere}"
    ".flame{position:relative;margin:4px;min-height:40px}"
    ".flame button{position:absolute;height:19px;border:0;border-right:1px solid var(--bg);border-radius:0;padding:0 3px;font-size:11px;text-align:left;overflow:hidden;white-space:nowrap;text-overflow:ellipsis;min-width:1px}"
    ".flame .new,.flame .gone,.swatch.new,.swatch.gone{background-image:repeating-linear-gradient(135deg,transparent 0 3px,var(--shade) 3px 6px)}"
    ".flame .gone,.swatch.gone{outline:1px dashed var(--ink);outline-offset:-1px}"
    ".flame .gone:focus-visible{outline:2px solid var(--accent)}"
    ".flame .rest{background:var(--head) repeating-linear-gradient(135deg,transparent 0 4px,var(--group) 4px 8px);color:var(--ink);font-style:italic}"
    ".legend{padding-top:0}"
    ".verdict.slower,.verdict.faster{font-weight:600}"
    ".verdict.slower{color:var(--slower)}"
    ".verdict.faster{color:var(--accent)}"
    ":is(#panel,.half) > .under{padding:0 8px 2px}"
    ".split{display:flex;flex:1;min-height:0}"
    ".side{width:400px;flex:none;overflow:auto;padding:8px 10px;border-right:1px solid var(--line)}"
    ".side .bar-of-tools{padding:4px 0}"
    ".bar-of-tools select{max-width:22em}"
    ".side > p{margin:0 0 6px;overflow-wrap:anywhere}"
    ".side dl{display:grid;grid-template-columns:repeat(5,auto);gap:0 12px;margin:0 0 8px;grid-auto-flow:column;grid-template-rows:repeat(4,auto)}"
    ".side .call{grid-template-rows:auto auto}"
    ".side dt{color:var(--faint);font-size:11px}"
    ".side dd{margin:0 0 3px;font-variant-numeric:tabular-nums;white-space:nowrap}"
    ".swatch{display:inline-block;width:11px;height:11px;border-radius:2px;margin-right:6px}"
    ".histogram{display:flex;align-items:flex-end;height:84px;gap:1px;border-bottom:1px solid var(--line)}"
    ".histogram button{flex:1;height:100%;padding:0;border:0;border-radius:0;background:none;display:flex;align-items:flex-end;position:relative}"
    ".histogram button i{display:block;width:100%;background:var(--counter)}"
    ".histogram button i.after{position:absolute;background:none;border:solid var(--slower);border-width:2px 1px 0}"
    ".swatch.before{background:var(--counter)}"
    ".swatch.after{border:2px solid var(--slower)}"
    ".histogram button:hover:enabled{background:var(--group)}"
    ".histogram button.picked i{background:var(--accent)}"
    ".ends{display:flex;justify-content:space-between;color:var(--faint);font-size:11px}"
   ,
    "details{margin-top:6px}"
    "summary{cursor:pointer}"
    ".source{overflow:auto;margin:4px 0;font:12px/1.5 ui-monospace,monospace;tab-size:4}"
    ".source [data-n]::before{content:attr(data-n);display:inline-block;width:6ch;margin-right:1ch;text-align:right;color:var(--faint)}"
    ".source mark{background:var(--note);color:inherit;font-weight:600}"
    ".why{flex:1;overflow:auto;display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,600px),1fr));grid-auto-rows:max-content;gap:0 16px;padding:8px}"
    ".why > :not(.scroll){grid-column:1 / -1;margin:0;overflow-wrap:anywhere}"
    ".why .note{padding:2px 0 4px}"
    ".why .scroll{overflow:visible;min-height:auto}"
    ".why table{width:100%}"
    ".why td.text{max-width:none;white-space:normal;overflow-wrap:anywhere;width:100%}"
    ".why td .link{display:inline}"
    ".why .within .text{padding-left:24px}"
    ".why ul{padding:4px 24px}"
    ".fall{display:inline-block;position:relative;width:220px;height:10px;background:var(--group);vertical-align:middle}"
    ".fall i{position:absolute;top:0;height:100%;min-width:2px}"
    ".fall .wait{background:var(--bad)}"
    ".fall .gap{background:repeating-linear-gradient(135deg,var(--warn) 0 3px,transparent 3px 6px)}"
    ".path .link{display:inline !important}"
    ".bad{color:var(--bad)}"
    ".each{display:inline-flex;align-items:flex-end;gap:1px;height:16px;vertical-align:middle}"
    ".each i{width:4px;background:var(--counter)}"
    ".each .most{background:var(--accent)}"
    ".critical{font-weight:600}"
    "#tip{position:fixed;z-index:9;pointer-events:none;background:var(--ink);color:var(--bg);padding:5px 8px;border-radius:4px;max-width:480px;font-size:12px;overflow-wrap:anywhere}"
    "#tip[hidden]{display:none}"
    "#tip b{margin-right:10px}"
    "dialog{max-width:620px;color:inherit;background:var(--bg);border:1px solid var(--edge);border-radius:8px}"
    "dialog form:not(:has(input)){float:right}"
    "dialog dl{display:grid;grid-template-columns:auto 1fr;gap:3px 14px}"
    "dialog dt{font-weight:600}"
    "dialog dd{margin:0}"
    "#panel.two{flex-direction:row}"
    ".half{flex:1;min-width:0;display:flex;flex-direction:column;overflow:auto}"
    ".half + .half{border-left:1px solid var(--edge)}"
    "#tabs .shown{border-bottom-color:var(--edge)}"
    "@media print{"
    "body,#panel,.scroll{display:block;overflow:visible}"
    "html,body,#lower,#panel{height:auto}"
    "#time{height:60vh}"
    "header > :not(h1,#facts),#bar,#tabs,.bar-of-tools,.copy{display:none}"
    "thead th{position:static}"
    "}"
    "@media (max-width:900px){header{flex-wrap:wrap}#facts{display:none}#search{width:160px}.split{flex-direction:column}.side{width:auto;border-right:0}}"
    "@media (max-width:600px){header{gap:6px}.grow{display:none}#search{width:110px}.side dl:not(.call){grid-template-rows:repeat(8,auto)}}"
    "</style>\n"
    "</head>\n"
    "<body>\n"
    "<header>\n"
    "<h1 id=title></h1>\n"
    "<span id=facts class=note></span>\n"
    "<span class=grow></span>\n"
    "<label class=searching><span class=hidden>Search</span><input id=search type=search placeholder=\"Search: name cat:io key=value &gt;2ms\" autocomplete=off spellcheck=false><output id=hits></output></label>\n"
    "<button id=order title=\"T: as recorded, by name, by time in scopes\">Order</button>\n"
    "<button id=groups title=G>Groups</button>\n"
    "<button id=pin title=\"O: keeps the row of the selected scope at the top\">Pin</button>\n"
    "<button id=flows hidden>Flows</button>\n"
    "<button id=note title=\"B: at the selection\">Note</button>\n"
    "<button id=picture title=\"P: save a picture, PNG or SVG\">Picture&hellip;</button>\n"
    "<button id=against title=\"Or drop its file here\">Compare with&hellip;</button><input id=file type=file accept=\".html,.htm\" aria-label=\"Report to compare with\" hidden>\n"
    "<button id=theme aria-label=\"Light or dark\">&#9680;</button>\n"
    "<button id=help aria-label=\"Keys and help\">?</button>\n"
    "</header>\n"
    "<div id=warnings class=message role=status hidden></div>\n"
    "<div id=said class=message hidden></div>\n"
    "<p id=loading role=status>Reading the recording&hellip;</p>\n"
    "<main>\n"
   ,
    "<canvas id=frames tabindex=0 role=application aria-label=\"Frames: arrow keys go from frame to frame\" hidden></canvas>\n"
    "<canvas id=time tabindex=0 role=application aria-label=\"Time line: arrow keys go from scope to scope, W and S zoom, A and D move; the tables below have the same\"></canvas>\n"
    "</main>\n"
    "<div id=bar role=separator aria-orientation=horizontal aria-label=\"Height of the panel\" tabindex=0></div>\n"
    "<section id=lower>\n"
    "<div id=tabs role=tablist aria-label=Panels></div>\n"
    "<div id=panel role=tabpanel></div>\n"
    "</section>\n"
    "<div id=tip role=tooltip hidden></div>\n"
    "<div id=live class=hidden aria-live=polite></div>\n"
    "<dialog id=pictures aria-label=\"Save a picture\">\n"
    "<form method=dialog><button aria-label=Close>&times;</button></form>\n"
    "<h2>Save</h2>\n"
    "<p><button id=save-png>Time line, PNG</button> <button id=save-svg>Time line, SVG</button> <button id=save-flame>Flame graph, SVG</button> <button id=save-page>This page, with its notes</button></p>\n"
    "<p>The address shows the same: <button id=copy-address>Copy the address</button></p>\n"
    "</dialog>\n"
    "<dialog id=noting aria-labelledby=note-at>\n"
    "<form method=dialog><h2 id=note-at></h2>\n"
    "<p><input id=note-text aria-label=Text maxlength=300 size=40> <button value=Keep>Keep</button> <button value=Remove>Remove</button></p>\n"
    "</form>\n"
    "</dialog>\n"
    "<dialog id=keys aria-label=Keys>\n"
    "<form method=dialog><button aria-label=Close>&times;</button></form>\n"
    "<h2>Keys</h2>\n"
    "<dl>\n"
    "<dt>W S<dd>zoom; also Ctrl and the wheel\n"
    "<dt>A D<dd>move; also Shift and the wheel, or drag\n"
    "<dt>drag<dd>select a range, also for the tables\n"
    "<dt>F<dd>fit the selection, or the scope, into the window; so does a double click\n"
    "<dt>M<dd>select the time of the scope\n"
    "<dt>0<dd>show everything\n"
    "<dt>arrows<dd>go from scope to scope\n"
    "<dt>[ ]<dd>previous, next call of the scope\n"
    "<dt>Enter<dd>open the scope\n"
    "<dt>Y<dd>why the selected call or frame took so long\n"
    "<dt>R<dd>the request: a span, or a step, on all threads\n"
    "<dt>L<dd>follow its flows: the next one\n"
    "<dt>/<dd>search: part of a name, argument, thread, span, message or counter, \"in quotes\", cat:NAME, key=0x1f, key&gt;100, &gt;2ms, &lt;1us\n"
    "<dt>N<dd>next scope that was found; Shift: previous\n"
    "<dt>C, O<dd>fold, pin the row of the scope\n"
    "<dt>G<dd>unfold or fold the groups\n"
    "<dt>X<dd>arrows of all flows\n"
    "<dt>T<dd>order of the rows: as recorded, by name, by time in scopes\n"
    "<dt>B<dd>write a note: the address keeps it, and a page that P saves\n"
    "<dt>P<dd>save a picture, or the page\n"
    "<dt>Alt, arrows<dd>undo and redo: the browser&#39;s Back and Forward\n"
    "<dt>Esc<dd>clear the selection\n"
    "</dl>\n"
    "<p>A click on a name folds its row; the diamond pins it. Below the scopes of a thread is what the system did with it, if that was recorded: solid, it ran; stripes, it could have run, but another did; a line, it waited; dots, not known. The address says what is shown.</p>\n"
    "<p><label><input type=checkbox id=wheel> The wheel alone zooms, as in Tracy</label></p>\n"
    "</dialog>\n"
    "<script nonce=prof>\n"
    "\"use strict\";\n"
    "(() => {\n"
    "class Growing{"
    "constructor(type){"
    "this.type=type;"
    "this.items=new type(4)"
    "}"
    "put(i,value){"
    "if(i>=this.items.length){"
    "let more=new this.type(Math.ceil(this.items.length*1.7));"
    "more.set(this.items);"
    "this.items=more"
    "}"
    "this.items[i]=value"
    "}"
    "close(count){return this.items.slice(0,count)}"
    "}"
    "function entryOf(map,key,make){"
    "if(!map.has(key))map.set(key,make());"
    "return map.get(key)"
    "}"
    "function firstIndex(n,test){"
    "let low=0,high=n;"
    "while(low<high){"
    "let middle=low+high>>>1;"
    "if(test(middle))high=middle;else low=middle+1"
    "}"
    "return low"
    "}"
    "function touches(start,end,from,to){"
    "return start<end&&from<to?start<to&&end>from:start<=to&&end>=from"
    "}"
    "function mergeOrder(lists){"
    "let runs=lists.map((times,list)=>({list:new Uint32Array(times.length).fill(list),"
    "index:Uint32Array.from({length:times.length},(_,i)=>i)}));"
    "while(runs.length>1){"
    "let next=[];"
   ,
    "for(let i=0;i<runs.length;i+=2)next.push(i+1<runs.length?mergeTwo(lists,runs[i],runs[i+1]):runs[i]);"
    "runs=next"
    "}"
    "return runs[0]||{list:new Uint32Array(0),index:new Uint32Array(0)}"
    "}"
    "function mergeTwo(lists,x,y){"
    "let n=x.list.length,m=y.list.length,list=new Uint32Array(n+m),index=new Uint32Array(n+m);"
    "for(let i=0,j=0,k=0;k<n+m;k++){"
    "let first=j>=m||(i<n&&lists[x.list[i]][x.index[i]]<=lists[y.list[j]][y.index[j]]);"
    "list[k]=first?x.list[i]:y.list[j];"
    "index[k]=first?x.index[i++]:y.index[j++]"
    "}"
    "return{list,index}"
    "}"
    "const{abs,ceil,floor,max,min,round}=Math;"
    "const units=['ns','\\u00b5s','ms','s'],scales={ns:1,us:1e3,'\\u00b5s':1e3,'\\u03bcs':1e3,ms:1e6,s:1e9};"
    "const commas=digits=>digits.replace(/\\d+/,whole=>whole.replace(/\\B(?=(...)+$)/g,','));"
    "const fixed=(v,decimals)=>commas((floor(v*10**decimals+.5)/10**decimals).toFixed(decimals));"
    "function human(value,names){"
    "if(!Number.isFinite(value))return'-';"
    "let size=abs(value),unit=0;"
    "for(;size>=999.95&&names[unit+1];unit++)size/=1000;"
    "return`${value<0?'-':''}${fixed(size,size>=999.95||!unit&&!(size%1)?0:size>=99.995?1:size>=9.9995?2:3)} ${names[unit]}`"
    "}"
    "function ns(value){return human(value,units)}"
    "function moment(at){return commas((at/1e6).toFixed(6))+' ms'}"
    "function grouped(value){return commas(String(round(value)))}"
    "function bytes(value){return human(value,['B','kB','MB','GB','TB','PB'])}"
    "function visible(text){return text.replace(/[\\u202a-\\u202e\\u2066-\\u2069]/g,sign=>`\\\\u${sign.charCodeAt(0).toString(16)}`)}"
    "function shown(v){"
    "if(typeof v!=='number')return typeof v==='bigint'?commas(String(v)):v===null?'':String(v);"
    "if(!Number.isFinite(v))return String(v).toLowerCase().replace('inity','');"
    "let size=abs(v);"
    "if(size>2**53||v&&size<1e-4)return v.toExponential(5).replace(/\\.?0*e/,'e');"
    "let scale=1;"
    "if(v%1)for(let unit=1e5;size<unit;unit/=10)scale*=10;"
    "return(v<0?'-':'')+commas(String(v%1?floor(size*scale+.5)/scale:size))"
    "}"
    "function measured(v,unit){"
    "let kind=/^(B|bytes?)$/.test(unit)?bytes:ns,scaled=v*(kind===bytes?1:scales[unit]);"
    "if(scaled===0||abs(scaled)>=.1&&abs(scaled)<1e18)return kind(scaled);"
    "return shown(v)+(unit&&' '+unit)"
    "}"
    "function parseTime(text){"
    "let match=/^([0-9]*\\.?[0-9]+)\\s*(ns|us|\\u00b5s|ms|s|m|h)?$/.exec(text);"
    "return match?Number(match[1])*({m:60e9,h:3600e9}[match[2]]||scales[match[2]||'ns']):NaN"
    "}"
    "function niceStep(least){"
    "let power=10**floor(Math.log10(least));"
    "return power*([1,2,5].find(times=>power*times>=least)||10)"
    "}"
    "function axisTime(at,step){"
    "let size=max(abs(at),step),unit=size>=1e9?3:size>=1e6?2:size>=1e3?1:0,digits=max(0,min(9,ceil(3*unit-Math.log10(step)-1e-9)));"
    "return`${(at/1000**unit).toFixed(digits)} ${units[unit]}`"
    "}"
    "function where(label){return label.file&&label.file.replace(/^.*[\\\\/]/,'')+(label.line?`:${label.line}`:'')}"
    "const STATE_NAMES=['unknown','running','ready','waiting'];"
    "const RUNNING=1,READY=2,WAITING=3;"
    "const STEP=16;"
    "class States{"
    "constructor(){"
    "this.count=0;"
    "this.start=new Growing(Float64Array);"
    "this.kind=new Growing(Uint8Array);"
    "this.processor=new Growing(Uint32Array);"
    "this.end=this.on=0"
    "}"
    "add(kind,duration){"
    "let i=this.count++;"
    "this.start.put(i,this.end);"
    "this.kind.put(i,kind);"
    "this.processor.put(i,this.on);"
    "this.start.put(i+1,this.end+=duration)"
    "}"
    "append(other){"
    "let{kind,processor,start}=other;"
    "if(!this.count)this.end=start[0];"
    "else if(start[0]>this.end)this.add(0,start[0]-this.end);"
    "for(let i=0;i<other.count;i++){"
    "let last=this.count-1,duration=start[i+1]-start[i];"
    "if(last>=0&&this.kind.items[last]===kind[i]&&(kind[i]!==RUNNING||this.on===processor[i])){"
    "this.start.put(this.count,this.end+=duration);"
    "continue"
    "}"
    "this.on=processor[i];"
    "this.add(kind[i],duration)"
    "}"
    "}"
    "close(){"
    "this.start=this.start.close(this.count+1);"
    "this.kind=this.kind.close(this.count);"
    "this.processor=this.processor.close(this.count);"
   ,
    "this.sums=new Float64Array((this.count/STEP|0)*4+4);"
    "let sum=new Float64Array(4);"
    "for(let i=0;i<=this.count;i++){"
    "if(i%STEP===0)this.sums.set(sum,i/STEP*4);"
    "if(i<this.count)sum[this.kind[i]]+=this.start[i+1]-this.start[i]"
    "}"
    "}"
    "at(time){"
    "let i=firstIndex(this.count,k=>this.start[k]>time)-1;"
    "return i>=0&&time<=this.start[i+1]?i:-1"
    "}"
    "addBefore(time,sums,sign){"
    "let{start,kind}=this,last=max(0,firstIndex(this.count,k=>start[k]>time)-1),step=last/STEP|0;"
    "for(let k=0;k<4;k++)sums[k]+=sign*this.sums[step*4+k];"
    "for(let i=step*STEP;i<=last&&i<this.count;i++)sums[kind[i]]+=sign*max(0,min(start[i+1],time)-start[i])"
    "}"
    "split(from,to){"
    "let sums=[0,0,0,0];"
    "this.addBefore(to,sums,1);"
    "this.addBefore(from,sums,-1);"
    "sums[0]=to-from-sums[RUNNING]-sums[READY]-sums[WAITING];"
    "return sums"
    "}"
    "walker(){"
    "let{start,kind,count}=this,past=[0,0,0,0],i=0;"
    "return(time,sums,n,sign)=>{"
    "for(;i<count&&start[i+1]<=time;i++)past[kind[i]]+=start[i+1]-start[i];"
    "let now=i<count?kind[i]:0,part=now?max(0,time-start[i]):0;"
    "for(let k=RUNNING;k<=WAITING;k++)sums[k][n]+=sign*(past[k]+(k===now?part:0))"
    "}"
    "}"
    "}"
    "function grownText(a,b){"
    "if(!a||!b||!a.states||!b.states)return'';"
    "let grown=STATE_NAMES.map((name,k)=>({name,by:partOf(b,k)-partOf(a,k)})).sort((x,y)=>abs(y.by)-abs(x.by));"
    "return grown.slice(0,2).filter(({by})=>by&&abs(by)>=abs(grown[0].by)/10).map(({name,by})=>`${name} ${by>0?'+':'\\u2212'}${ns(abs(by))}`).join(', ')"
    "}"
    "function partOf({states,known},kind){return(kind?states[kind]:states[0]-states[RUNNING]-states[READY]-states[WAITING])/known}"
    "const STATES_HEIGHT=7;"
    "function statesLines({width,left,from,scale,ratio,paint},states){"
    "let lines=Array.from({length:STATES_HEIGHT},()=>new Uint32Array(width)),{start,count,kind}=states,middle=STATES_HEIGHT>>1,begin=max(left,floor(left+(start[0]-from)*scale)),end=min(width,ceil(left+(states.end-from)*scale)),i=max(0,firstIndex(count,k=>start[k]>from+(begin-left)/scale)-1);"
    "for(let x=begin;x<end;x++){"
    "let t0=max(start[0],from+(x-left)/scale),t1=from+(x+1-left)/scale,column=round(x/ratio-.5);"
    "while(i+1<count&&start[i+1]<=t0)i=start[i+2]<=t0?firstIndex(count,k=>start[k]>t0)-1:i+1;"
    "let parts=start[i+1]>=t1?null:states.split(t0,min(t1,states.end)),all=t1-t0,high=k=>parts?parts[k]>0&&max(1,round(STATES_HEIGHT*parts[k]/all)):kind[i]===k&&STATES_HEIGHT,running=high(RUNNING),ready=high(READY),waits=parts?parts[WAITING]>0:kind[i]===WAITING;"
    "for(let y=0;y<STATES_HEIGHT;y++){"
    "let up=STATES_HEIGHT-1-y;"
    "if(up<running)lines[y][x]=paint[RUNNING];"
    "else if(up<running+ready)lines[y][x]=(column+y)%4<2?paint[READY]:0;"
    "else if(y===middle&&(waits||column%4===0))lines[y][x]=paint[waits?WAITING:0]"
    "}"
    "}"
    "return lines"
    "}"
    "class Damage extends Error{}"
    "function damaged(what){throw new Damage(what)}"
    "const LONGEST=1<<21;"
    "const VERSION=2;"
    "const SCOPE=0,MARK=1,COUNTER=2,FRAME=3,LOST=4,SPAN_BEGIN=5,SPAN_MARK=6,SPAN_END=7,"
    "FLOW_OUT=8,FLOW_STEP=9,FLOW_IN=10,ALLOC=11,FREE=12,LOCK_WAIT=13,LOCK_ACQUIRE=14,"
    "LOCK_RELEASE=15,LOG=16;"
    "const TRUNCATED_BEGIN=1,TRUNCATED_END=2;"
    "const GROUP=4;"
    "const ROLE_NONE=0,ROLE_STEP=1,ROLE_THROUGHPUT=2,ROLE_SYNC=3,ROLE_MARK_GLOBAL=4,"
    "ROLE_MARK_PROCESS=5,ROLE_MARK_TASK=6,ROLE_MARK_MARKER=7,ROLE_TASK=8,ROLE_DEVICE=9,ROLE_FRAME=10,"
    "ROLE_MEMORY=11,ROLE_LOCK=12,ROLE_RANGE=13,ROLE_WAIT=14,ROLE_SHARED=15;"
    "const FROM_LAST=0x10000;"
    "class Reader{"
    "constructor(bytes,at=0,end=bytes.length){"
    "this.bytes=bytes;"
    "this.at=at;"
    "this.end=end"
    "}"
    "get done(){return this.at>=this.end}"
    "byte(){"
    "if(this.at>=this.end)damaged('a block ends too early');"
    "return this.bytes[this.at++]"
    "}"
    "u(){"
    "let byte=this.byte();"
    "if(byte<128)return byte;"
    "let value=byte&127,scale=128;"
    "do{"
    "byte=this.byte();"
    "value+=(byte&127)*scale;"
    "scale*=128;"
    "if(scale>2**71)damaged('a number is too long')"
    "}while(byte>127);"
    "return value"
    "}"
    "index(limit,what){"
    "let value=this.u();"
   ,
    "if(value>=limit)damaged(`there is no ${what} ${value}`);"
    "return value"
    "}"
    "of(list,what){return list[this.index(list.length,what)]}"
    "exact(){"
    "let at=this.at,value=this.u();"
    "if(value<=Number.MAX_SAFE_INTEGER)return value;"
    "let big=0n;"
    "for(let i=at;i<this.at;i++)big|=BigInt(this.bytes[i]&127)<<BigInt(7*(i-at));"
    "return BigInt.asUintN(64,big)"
    "}"
    "signed(){"
    "let value=this.exact();"
    "if(typeof value==='bigint')return value&1n?-(value>>1n)-1n:value>>1n;"
    "return value%2?-(value+1)/2:value/2"
    "}"
    "double(){"
    "if(this.at+8>this.end)damaged('a block ends too early');"
    "this.at+=8;"
    "return new DataView(this.bytes.buffer,this.bytes.byteOffset+this.at-8,8).getFloat64(0,true)"
    "}"
    "text(){"
    "let length=this.u();"
    "if(length>this.end-this.at)damaged('a text is longer than its block');"
    "this.at+=length;"
    "return decoder.decode(this.bytes.subarray(this.at-length,this.at))"
    "}"
    "}"
    "const decoder=new TextDecoder();"
    "function fromText(text){"
    "let bytes=new Uint8Array(text.length),done={at:0,size:0,bits:0,count:0};"
    "while(done.at<text.length)someLetters(text,bytes,done);"
    "return bytes.subarray(0,done.size)"
    "}"
    "function someLetters(text,bytes,done){"
    "let until=min(done.at+4000,text.length),{at,size,bits,count}=done,other=0;"
    "while(at<until){"
    "let letter=text.charCodeAt(at++);"
    "if(letter===33)letter=text.charCodeAt(at++)^64;"
    "other|=letter;"
    "bits=bits<<7|letter;"
    "count+=7;"
    "if(count<8)continue;"
    "count-=8;"
    "bytes[size++]=bits>>count"
    "}"
    "if(other>127)damaged('a piece has characters that no writer wrote');"
    "Object.assign(done,{at,size,bits,count})"
    "}"
    "const unequal=()=>damaged('columns are not equally long');"
    "class Numbers extends Reader{"
    "constructor(heads,rests){"
    "super(heads.bytes,heads.at,heads.end);"
    "this.rests=rests"
    "}"
    "get done(){return this.at>=this.end&&this.rests.done}"
    "next(){"
    "if(this.at>=this.end)unequal();"
    "let head=this.bytes[this.at++];"
    "return head<192?head:this.longer(head)"
    "}"
    "longer(head){"
    "let{rests}=this;"
    "if(head<224)return(head-192)*0x100+rests.byte()+192;"
    "let value=0,scale=1;"
    "for(let more=head<240?2:head<248?3:8;more>0;more--,scale*=256)value+=rests.byte()*scale;"
    "if(head<240)return(head-224)*scale+value+8384;"
    "return(head<248?(head-240)*scale:0x8000000)+value+1056960"
    "}"
    "}"
    "async function inflate(bytes,size){"
    "let stream=new DecompressionStream('deflate-raw'),writer=stream.writable.getWriter(),out=new Uint8Array(size);"
    "writer.write(bytes).catch(()=>{});"
    "writer.close().catch(()=>{});"
    "let reader=stream.readable.getReader(),at=0;"
    "for(;;){"
    "let step;"
    "try{"
    "step=await reader.read()"
    "}catch{"
    "damaged('a block cannot be unpacked')"
    "}"
    "if(step.done)break;"
    "if(at+step.value.length>size){"
    "reader.cancel().catch(()=>{});"
    "damaged('a block is larger than it says')"
    "}"
    "out.set(step.value,at);"
    "at+=step.value.length"
    "}"
    "if(at!==size)damaged('a block is smaller than it says');"
    "return out"
    "}"
    "function blocksOf(text){"
    "let reader=new Reader(fromText(text)),blocks=[];"
    "while(!reader.done){"
    "let kind=reader.byte();"
    "if(!kind)continue;"
    "let size=reader.index(LONGEST,'block of size'),packed=reader.index(LONGEST,'block of size'),stored=packed||size;"
    "if(stored>reader.end-reader.at)damaged('a block is longer than its piece');"
    "blocks.push({kind:String.fromCharCode(kind),size,packed:packed>0,"
    "bytes:reader.bytes.subarray(reader.at,reader.at+stored)});"
    "reader.at+=stored"
    "}"
    "return blocks"
    "}"
    "class Level{"
    "constructor(){"
    "this.count=0;"
    "this.start=new Float64Array(8);"
    "this.duration=new Uint32Array(8);"
    "this.node=new Uint32Array(8);"
    "this.long=new Map();"
    "this.flags=new Map();"
    "this.args=new Listed();"
    "this.groups=null;"
    "this.pyramid=null;"
    "this.drawn=null;"
    "this.lastEnd=this.lastNode=0;"
    "this.isOpen=false"
    "}"
    "closeLast(end){"
    "let i=this.count-1,duration=end-this.start[i];"
    "this.isOpen=false;"
    "this.lastEnd=end;"
    "this.duration[i]=min(duration,0xFFFFFFFF);"
    "if(duration>=0xFFFFFFFF)this.long.set(i,duration)"
    "}"
    "grow(room){"
    "for(let column of['start','duration','node']){"
   ,
    "let before=this[column];"
    "this[column]=new before.constructor(room);"
    "this[column].set(before)"
    "}"
    "}"
    "close(){"
    "for(let column of['start','duration','node'])this[column]=this[column].subarray(0,this.count);"
    "this.args.close()"
    "}"
    "durationOf(i){"
    "let short=this.duration[i];"
    "return short===0xFFFFFFFF?this.long.get(i):short"
    "}"
    "endOf(i){return this.start[i]+this.durationOf(i)}"
    "}"
    "class Listed{"
    "constructor(){"
    "this.count=0;"
    "this.index=new Growing(Uint32Array);"
    "this.place=new Growing(Float64Array)"
    "}"
    "close(){"
    "this.index=this.index.close(this.count);"
    "this.place=this.place.close(this.count)"
    "}"
    "}"
    "class Points{"
    "constructor(){"
    "this.count=0;"
    "this.time=new Growing(Float64Array);"
    "this.kind=new Growing(Uint32Array);"
    "this.a=new Growing(Float64Array);"
    "this.b=new Growing(Float64Array);"
    "this.args=new Listed();"
    "this.numbers=new Map()"
    "}"
    "close(){"
    "for(let column of['time','kind','a','b'])this[column]=this[column].close(this.count);"
    "this.args.close()"
    "}"
    "}"
    "class Report{"
    "constructor(){"
    "this.version=0;"
    "this.machines=1;"
    "this.title='';"
    "this.strings=[];"
    "this.kinds=[];"
    "this.labels=[];"
    "this.nodes={count:1,label:new Growing(Uint32Array),parent:new Growing(Uint32Array)};"
    "this.processes=[];"
    "this.tracks=[];"
    "this.spans=[];"
    "this.argBlocks=[];"
    "this.sources=new Map();"
    "this.all=null;"
    "this.scopes=this.points=this.spanCount=0;"
    "this.complete=false;"
    "this.damage=''"
    "}"
    "argsOf(listed,i){"
    "let low=0,high=listed.count;"
    "while(low<high){"
    "let middle=low+high>>1;"
    "if(listed.index[middle]<i)low=middle+1;else high=middle"
    "}"
    "return low<listed.count&&listed.index[low]===i?this.argsAt(listed.place[low]):[]"
    "}"
    "argsAt(place){"
    "let block=this.argBlocks[floor(place/LONGEST)];"
    "return readArgs(block,new Reader(block.bytes,place%LONGEST))"
    "}"
    "}"
    "function readArgs(report,reader){"
    "let args=[];"
    "for(let left=reader.index(1<<16,'number of arguments');left>0;left--){"
    "let key=reader.of(report.strings,'string');"
    "args.push([key,readValue(report,reader)])"
    "}"
    "return args"
    "}"
    "function readValue(report,reader){"
    "let type=reader.byte();"
    "switch(type){"
    "case 0:return null;"
    "case 1:return reader.signed();"
    "case 2:return reader.exact();"
    "case 3:return reader.double();"
    "case 4:return false;"
    "case 5:return true;"
    "case 6:return'0x'+reader.exact().toString(16);"
    "case 7:return reader.of(report.strings,'string');"
    "case 8:return reader.of(report.strings,'string')+'\\u2026';"
    "default:damaged(`there is no value of type ${type}`)"
    "}"
    "}"
    "function columnsOf(bytes,count){"
    "let head=new Reader(bytes),sizes=[];"
    "for(let i=0;i<count;i++)sizes.push(head.u());"
    "let columns=sizes.map(size=>{"
    "let column=new Reader(bytes,head.at,head.at+size);"
    "head.at+=size;"
    "return column"
    "});"
    "if(head.at!==bytes.length)damaged('the parts of a block are not as long as the block');"
    "return columns"
    "}"
    "function closeOne(level,ends,time){"
    "if(!level||!level.isOpen)return time;"
    "let after=ends.next();"
    "time=after?time+after-1:level.start[level.count-1]+ends.next();"
    "level.closeLast(time);"
    "return time"
    "}"
    "class Decoder{"
    "constructor(){"
    "this.report=new Report();"
    "this.labelOf=new Map();"
    "this.childOf=[];"
    "this.texts=new Map();"
    "this.lastParent=[];"
    "this.lastNode=[]"
    "}"
    "take(block,bytes){"
    "let handler={H:this.head,S:this.strings,K:this.kinds,F:this.formats,U:this.units,B:this.numbers,P:this.process,T:this.tracks,E:this.scopes,"
    "Q:this.points,A:this.args,W:this.states,G:this.statistics,R:this.splits,N:this.spans,X:this.sources,Z:this.end}[block.kind];"
    "if(!handler)return;"
    "if(!this.report.version&&block.kind!=='H')damaged('the data do not begin as they should');"
    "handler.apply(this,columnsOf(bytes,handler.length))"
    "}"
    "head(r){"
    "this.report.version=r.u();"
    "if(this.report.version!==VERSION)damaged(`this page reads version ${VERSION}, not ${this.report.version}`);"
    "this.report.machines=r.u();"
    "this.report.title=r.text()"
    "}"
    "strings(r){"
    "while(!r.done){"
    "let text=r.text();"
    "this.report.strings.push(entryOf(this.texts,text,()=>text))"
    "}"
    "}"
   ,
    "kinds(r){"
    "let{strings,kinds,labels}=this.report,string=()=>r.of(strings,'string');"
    "while(!r.done){"
    "let bits=r.u(),depth=r.index(1<<24,'depth'),name=string(),category=string(),file=string(),func=string(),line=r.u(),color=r.u()&0xFFFFFF,role=r.u(),group=bits>>8&GROUP,key=[name,category,file,line,group,group?0:role].join('\\0'),label=entryOf(this.labelOf,key,()=>labels.push({id:labels.length,name:(name||'(unnamed)')+(group?' and others':''),base:name,"
    "group,category,file,function:func,line,color,role:group?0:role,format:null})-1);"
    "kinds.push({type:bits&255,flags:bits>>8&7,fromLast:(bits&FROM_LAST)!==0,depth,label,unit:''});"
    "this.lastParent.push(-1);"
    "this.lastNode.push(0)"
    "}"
    "}"
    "formats(r){"
    "let{strings,kinds,labels}=this.report;"
    "while(!r.done){"
    "let label=labels[r.of(kinds,'kind').label],name=r.of(strings,'string'),key=[name,label.category,label.file,label.line,label.group,label.role].join('\\0'),of=entryOf(this.labelOf,key,()=>labels.push({...label,id:labels.length,name,base:name,format:null})-1);"
    "if(labels[of]!==label&&!labels[of].format)label.format=labels[of]"
    "}"
    "}"
    "units(r){"
    "let{strings,kinds}=this.report;"
    "while(!r.done){"
    "let kind=r.of(kinds,'kind');"
    "kind.unit=r.of(strings,'string')"
    "}"
    "}"
    "numbers(r){"
    "let track=r.of(this.report.tracks,'track');"
    "for(let at=0;!r.done;)track.points.numbers.set(at+=r.u(),r.u())"
    "}"
    "process(r){"
    "let process=this.report.processes.at(-1),pairs=[];"
    "while(!r.done)pairs.push([r.text(),r.text()]);"
    "if(pairs.length&&pairs[0][0]==='program'){"
    "process={id:this.report.processes.length,about:new Map(),losses:[],metadata:[],tracks:[]};"
    "this.report.processes.push(process)"
    "}"
    "if(!process)damaged('there is no process');"
    "for(let[key,value]of pairs){"
    "if(key==='loss')process.losses.push(value);"
    "else if(key.startsWith('metadata.'))process.metadata.push([key.slice(9),value]);"
    "else process.about.set(key,value)"
    "}"
    "}"
    "tracks(r){"
    "let process=this.report.processes.at(-1);"
    "if(!process)damaged('a track has no process');"
    "while(!r.done){"
    "let track={id:this.report.tracks.length,process,name:r.text(),device:r.text(),thread:r.exact(),"
    "fiber:r.u()===1,alignment:r.u(),lost:r.u(),events:r.u(),kept:r.u(),levels:[],points:new Points(),system:null,"
    "lastScope:0,lastTime:0,lastPoint:0,open:0,scopes:0};"
    "process.tracks.push(track);"
    "this.report.tracks.push(track)"
    "}"
    "}"
    "node(parent,label){"
    "let children=this.childOf[label]||(this.childOf[label]=new Map()),node=children.get(parent);"
    "if(node===undefined){"
    "let{nodes}=this.report;"
    "node=nodes.count++;"
    "nodes.label.put(node,label);"
    "nodes.parent.put(node,parent);"
    "children.set(parent,node)"
    "}"
    "return node"
    "}"
    "scopes(startHeads,startRests,endHeads,endRests,kindColumn){"
    "let track=startHeads.of(this.report.tracks,'track'),starts=new Numbers(startHeads,startRests),ends=new Numbers(endHeads,endRests);"
    "while(!kindColumn.done)this.someScopes(track,starts,ends,kindColumn);"
    "while(track.open&&!ends.done)track.lastTime=closeOne(track.levels[--track.open],ends,track.lastTime);"
    "if(!starts.done||!ends.done)unequal()"
    "}"
    "someScopes(track,starts,ends,kindColumn){"
    "let{report,lastParent,lastNode}=this,{levels}=track,{kinds}=report,k=kindColumn.bytes,until=min(kindColumn.end,kindColumn.at+500),{open,lastScope:last,lastTime:time}=track,count=0;"
    "for(;kindColumn.at<until;count++){"
    "let number=k[kindColumn.at]<128?k[kindColumn.at++]:kindColumn.u(),kind=kinds[number];"
    "if(!kind||kind.type!==SCOPE)damaged(`there is no scope of kind ${number}`);"
    "let{depth}=kind,level=levels[depth]||=new Level(),inner=kind.fromLast||depth>=open;"
    "while(open>depth)time=closeOne(levels[--open],ends,time);"
    "last=time=(inner?last:level.lastEnd)+starts.next();"
    "let i=level.count++,parent=depth&&levels[depth-1]?levels[depth-1].lastNode:0;"
    "if(lastParent[number]!==parent){"
    "lastParent[number]=parent;"
    "lastNode[number]=this.node(parent,kind.label)"
    "}"
   ,
    "if(i>=level.start.length)level.grow(max(i*4,min(i*4096,ceil(1.1*track.events*i/(track.scopes+1)))));"
    "level.start[i]=last;"
    "level.node[i]=level.lastNode=lastNode[number];"
    "if(kind.flags)level.flags.set(i,kind.flags);"
    "level.isOpen=true;"
    "open=depth+1"
    "}"
    "track.open=open;"
    "track.lastScope=last;"
    "track.lastTime=time;"
    "track.scopes+=count;"
    "report.scopes+=count"
    "}"
    "points(times,kindColumn,details){"
    "let{report}=this,track=times.of(report.tracks,'track'),{points}=track;"
    "while(!kindColumn.done){"
    "let number=kindColumn.index(report.kinds.length,'kind'),{type}=report.kinds[number],i=points.count++,a=0,b=0;"
    "track.lastPoint+=times.u();"
    "switch(type){"
    "case MARK:break;"
    "case COUNTER:a=readValue(report,details);break;"
    "case FRAME:case LOST:a=details.u();break;"
    "case LOG:a=details.u();b=details.index(report.strings.length,'string');break;"
    "default:a=details.exact();b=details.u();if(a>2**53)points.numbers.set(i,a);break"
    "}"
    "points.time.put(i,track.lastPoint);"
    "points.kind.put(i,number);"
    "points.a.put(i,Number(a));"
    "points.b.put(i,b);"
    "report.points++"
    "}"
    "if(!times.done||!details.done)unequal()"
    "}"
    "states(about,kinds,heads,rests){"
    "let track=about.of(this.report.tracks,'track'),states=track.system||=new States(),durations=new Numbers(heads,rests),after=about.u();"
    "if(states.count&&after)states.add(0,after);else states.end+=after;"
    "while(!kinds.done){"
    "let kind=kinds.index(8,'state');"
    "if(kind&4)states.on=about.u();"
    "states.add(kind&3,durations.next())"
    "}"
    "if(!about.done||!durations.done)unequal()"
    "}"
    "args(r){"
    "let{report}=this,track=r.of(report.tracks,'track'),last=new Map(),base=report.argBlocks.length*LONGEST;"
    "report.argBlocks.push({bytes:r.bytes,strings:report.strings});"
    "while(!r.done){"
    "let which=r.u(),at=(last.get(which)||0)+r.u(),of=which?track.levels[which-1]:track.points;"
    "last.set(which,at);"
    "if(which>1<<24)damaged('arguments have no scope');"
    "let listed=(of||(track.levels[which-1]=new Level())).args;"
    "if(listed.count&&listed.index[listed.count-1]>=at)damaged('arguments are out of order');"
    "let place=base+r.at;"
    "readArgs(report,r);"
    "listed.index.put(listed.count,at);"
    "listed.place.put(listed.count++,place)"
    "}"
    "}"
    "spans(r){"
    "let{report}=this,last=0;"
    "while(!r.done){"
    "let kind=r.of(report.kinds,'kind');"
    "last+=Number(r.signed());"
    "let span={label:kind.label,mark:kind.type===SPAN_MARK,flags:kind.flags,start:last,duration:r.u(),"
    "track:r.index(report.tracks.length,'track'),endTrack:r.index(report.tracks.length,'track'),"
    "id:r.exact(),number:r.u(),args:readArgs(report,r)};"
    "report.spans.push(span);"
    "report.spanCount++"
    "}"
    "}"
    "statistics(r){"
    "let{report}=this,rows=report.all=report.all||[],process=report.processes.at(-1),first=process?rows.length-(process.paths||0):-1;"
    "if(!process)damaged('statistics have no process');"
    "while(!r.done){"
    "let parent=r.index(rows.length-first+1,'path'),kind=r.of(report.kinds,'kind'),row={node:this.node(parent?rows[first+parent-1].node:0,kind.label),calls:r.u(),truncated:r.u(),total:r.u(),self:r.u(),share:r.u()/1e9,min:r.u(),max:r.u(),buckets:[]};"
    "for(let left=r.index(LONGEST,'number of buckets'),at=0;left>0;left--)row.buckets.push([at+=r.u(),r.u()]);"
    "rows.push(row);"
    "process.paths=rows.length-first;"
    "if(report.labels[kind.label].role!==ROLE_DEVICE)process.calls=(process.calls||0)+row.calls"
    "}"
    "}"
    "splits(r){"
    "let{all,processes}=this.report,process=processes.at(-1),first=process&&process.paths?all.length-process.paths:-1;"
    "for(;!r.done;process.splits++){"
    "let row=all&&first>=0&&all[first+(process.splits=process.splits||0)];"
    "if(!row)damaged('there is no path for the times of states');"
    "row.states=[row.total,r.u(),r.u(),r.u()]"
    "}"
    "}"
    "sources(r){"
    "let{strings,sources}=this.report;"
    "while(!r.done){"
    "let file=r.of(strings,'string'),line=r.u(),text=r.text();"
    "entryOf(sources,file,()=>new Map()).set(line,text)"
    "}"
    "}"
    "end(r){"
    "let{report}=this;"
   ,
    "if(r.u()!==report.scopes||r.u()!==report.points||r.u()!==report.spanCount)\n"
    "damaged('the numbers at the end are not those of the events');"
    "report.complete=true"
    "}"
    "close(){"
    "let{report}=this,{nodes}=report;"
    "nodes.label=nodes.label.close(nodes.count);"
    "nodes.parent=nodes.parent.close(nodes.count);"
    "for(let track of report.tracks){"
    "track.points.close();"
    "if(track.system)track.system.close();"
    "track.levels=track.levels.filter(level=>level.count);"
    "for(let level of track.levels){"
    "if(level.isOpen){"
    "level.flags.set(level.count-1,TRUNCATED_END|level.flags.get(level.count-1));"
    "level.closeLast(max(track.lastTime,level.start[level.count-1]))"
    "}"
    "level.close()"
    "}"
    "}"
    "if(!report.complete&&!report.damage)report.damage='the end of the report is missing';"
    "return report"
    "}"
    "}"
    "function piecesIn(text){"
    "let begin='<script type=\"application/'+'octet-stream\">',pieces=[];"
    "for(let at=text.indexOf(begin);at>=0;at=text.indexOf(begin,at)){"
    "let end=text.indexOf('<',at+=begin.length);"
    "if(end<0)damaged('its end is missing');"
    "pieces.push(text.slice(at,end))"
    "}"
    "return pieces"
    "}"
    "function keyOf({name,category,file,line}){return[name,category,file,line].join('\\0')}"
    "function scopeLabel(label){return label.format||label}"
    "function joinLabels(labels,known,others){"
    "let of=others.map(label=>entryOf(known,keyOf(label),()=>labels.push({...label,id:labels.length,format:null})-1));"
    "for(let{id,format}of others)if(format&&of[format.id]!==of[id])labels[of[id]].format=labels[of[format.id]];"
    "return of"
    "}"
    "function joined(a,b){"
    "let report=Object.assign(new Report(),a,{all:null}),labels=[...a.labels],known=new Map(labels.map(label=>[keyOf(label),label.id])),{nodes}=a,childOf=new Map(),labelOf=joinLabels(labels,known,b.labels),all={count:nodes.count,label:new Growing(Uint32Array),parent:new Growing(Uint32Array)},nodeOf=new Uint32Array(b.nodes.count),add=(n,parent,label)=>{"
    "all.label.put(n,label);"
    "all.parent.put(n,parent);"
    "childOf.set(parent*0x4000000+label,n)"
    "};"
    "for(let n=1;n<nodes.count;n++)add(n,nodes.parent[n],nodes.label[n]);"
    "for(let n=1;n<b.nodes.count;n++){"
    "let parent=nodeOf[b.nodes.parent[n]],label=labelOf[b.nodes.label[n]],same=childOf.get(parent*0x4000000+label);"
    "if(same===undefined)add(all.count,parent,label);"
    "nodeOf[n]=same===undefined?all.count++:same"
    "}"
    "let move=listed=>{for(let i=0;i<listed.count;i++)listed.place[i]+=a.argBlocks.length*LONGEST};"
    "for(let process of b.processes)process.id+=a.processes.length;"
    "for(let track of b.tracks){"
    "let{points}=track;"
    "track.id+=a.tracks.length;"
    "for(let level of track.levels){"
    "for(let i=0;i<level.count;i++)level.node[i]=nodeOf[level.node[i]];"
    "level.pyramid=null;"
    "move(level.args)"
    "}"
    "for(let i=0;i<points.count;i++){"
    "if(b.kinds[points.kind[i]].type===LOG)points.b[i]+=a.strings.length;"
    "points.kind[i]+=a.kinds.length"
    "}"
    "move(points.args)"
    "}"
    "for(let span of b.spans){"
    "span.label=labelOf[span.label];"
    "span.track+=a.tracks.length;"
    "span.endTrack+=a.tracks.length"
    "}"
    "report.labels=labels;"
    "report.nodes={count:all.count,label:all.label.close(all.count),parent:all.parent.close(all.count)};"
    "report.kinds=[...a.kinds,...b.kinds.map(kind=>({...kind,label:labelOf[kind.label]}))];"
    "report.sources=new Map([...b.sources,...a.sources]);"
    "for(let list of['strings','processes','tracks','spans','argBlocks'])report[list]=a[list].concat(b[list]);"
    "for(let count of['scopes','points','spanCount'])report[count]+=b[count];"
    "return report"
    "}"
    "async function unpack(piece){"
    "let blocks=[],damage='';"
    "try{"
    "if(piece[0]==='S')damaged(`this page reads version ${VERSION}, not 1`);"
    "for(let{kind,size,packed,bytes}of blocksOf(piece))blocks.push({kind,bytes:packed?await inflate(bytes,size):bytes.slice()})"
    "}catch(error){"
    "damage=error.message"
    "}"
    "return{blocks,damage}"
    "}"
    "function unpacker(){"
    "let waiting=[],worker=null,count=0,begin=()=>{"
    "try{"
   ,
    "worker=new Worker(URL.createObjectURL(new Blob([document.querySelector('script[nonce]').text])));"
    "worker.onmessage=({data})=>waiting.shift()(data);"
    "worker.onerror=()=>{"
    "worker=null;"
    "for(let done of waiting)done()"
    "}"
    "}catch{}"
    "};"
    "return{"
    "async take(piece){"
    "if(count++===1)begin();"
    "return worker&&await new Promise(done=>{"
    "waiting.push(done);"
    "worker.postMessage(piece)"
    "})||unpack(piece)"
    "},"
    "close(){if(worker)worker.terminate()}"
    "}"
    "}"
    "async function readReport(pieces){"
    "let decoder=new Decoder(),{take,close}=unpacker(),waiting=[],takeOne=async()=>{"
    "let{blocks,damage}=await waiting.shift();"
    "for(let block of blocks)decoder.take(block,block.bytes);"
    "if(damage)damaged(damage)"
    "};"
    "try{"
    "for await(let piece of pieces){"
    "waiting.push(take(piece));"
    "if(waiting.length>2)await takeOne()"
    "}"
    "while(waiting.length)await takeOne()"
    "}catch(error){"
    "if(!(error instanceof Damage))throw error;"
    "decoder.report.damage=error.message"
    "}"
    "close();"
    "return decoder.close()"
    "}"
    "function buildPyramid(level){"
    "let{start,duration,node,groups,long,count}=level,tiers=[{start,longest:duration,node,busy:duration}];"
    "if(groups||long.size){"
    "let busy=tiers[0].busy=new Float32Array(duration);"
    "for(let[i,whole]of long)busy[i]=whole;"
    "for(let[i,group]of groups||[])busy[i]=group.busy"
    "}"
    "for(let below=tiers[0],size=count;size>16;){"
    "let n=ceil(size/16),tier={start:new Float64Array(n+1),longest:new Uint32Array(n),node:new Uint32Array(n),busy:new Float32Array(n)};"
    "for(let g=0,i=0;g<n;g++){"
    "let end=min(size,i+16),best=i,most=0,sum=0;"
    "tier.start[g]=below.start[i];"
    "for(;i<end;i++){"
    "sum+=below.busy[i];"
    "if(below.longest[i]>most)most=below.longest[best=i]"
    "}"
    "tier.longest[g]=most;"
    "tier.node[g]=below.node[best];"
    "tier.busy[g]=sum"
    "}"
    "tier.start[n]=Infinity;"
    "tiers.push(below=tier);"
    "size=n"
    "}"
    "return tiers"
    "}"
    "function mix(color,under,share){"
    "let part=round(share*256),rest=256-part,outer=(color&0xFF00FF)*part+(under&0xFF00FF)*rest,inner=(color>>>8&255)*part+(under>>>8&255)*rest;"
    "return(0xFF000000|outer/256&0xFF00FF|inner&0xFF00)>>>0"
    "}"
    "function putColumn({left,width,least,dimmed,colors,background,scale},line,x,longest,node,busy){"
    "if(x>=left&&x<width)line[x]=mix((longest<min(least,0xFFFFFFFF)?dimmed:colors)[node],background,min(1,.3+.7*busy*scale))"
    "}"
    "function levelLine(c,level){"
    "let{start,duration,node,count,groups,pyramid}=level,{from,scale,left,width}=c,to=from+(width-left)/scale,line=new Uint32Array(width),labels=[],i=firstIndex(count,k=>start[k]>=from),bits=0;"
    "if(i&&level.endOf(i-1)>from)i--;"
    "let column=0,until=-Infinity,late=0,busy=0,most=-1,who=0;"
    "for(;;){"
    "let tier=pyramid[bits>>2],g=i>>bits,at=i<count?tier.start[g]:Infinity;"
    "if(!(at<until&&at<to)){"
    "if(most>=0)putColumn(c,line,column,most,who,busy);"
    "if(!(at<to))return{line,labels};"
    "column=floor(left+(at-from)*scale);"
    "until=from+(column+1-left)/scale;"
    "late=until+.25/scale;"
    "busy=0;"
    "most=-1"
    "}"
    "while((i&(16<<bits)-1)===0&&bits+4<pyramid.length*4&&pyramid[(bits>>2)+1].start[(g>>4)+1]<=late){"
    "tier=pyramid[(bits+=4)>>2];"
    "g>>=4"
    "}"
    "while(bits&&tier.start[g+1]>late){"
    "tier=pyramid[(bits-=4)>>2];"
    "g<<=4"
    "}"
    "let long=tier.longest[g];"
    "if(!bits&&long===0xFFFFFFFF)long=level.durationOf(i);"
    "if(bits||long*scale<1){"
    "busy+=tier.busy[g];"
    "if(long>most){"
    "most=long;"
    "who=tier.node[g]"
    "}"
    "i+=1<<bits;"
    "continue"
    "}"
    "if(most>=0)putColumn(c,line,column,most,who,busy);"
    "until=-Infinity;"
    "most=-1;"
    "let x=left+(at-from)*scale,x0=max(left,floor(x)),x1=min(width,max(x0+1,floor(x+long*scale))),color=(long<c.least?c.dimmed:c.colors)[node[i]];"
    "if(groups&&groups.has(i))color=mix(color,c.background,.2+.6*groups.get(i).busy/long);"
    "if(x1-x0<8)for(let k=x0;k<x1;k++)line[k]=color;else line.fill(color,x0,x1);"
    "if(x1-x0>3&&x1<width)line[x1-1]=c.background;"
    "if(x1-x0>24)labels.push([x0,x1,i]);"
    "i++"
    "}"
    "}"
    "function putLine(pixels,line,y0,y1,x0=0,x1=line.length){"
    "let width=line.length,first=y0*width;"
   ,
    "for(let x=x0;x<x1;x++)if(line[x])pixels[first+x]=line[x];"
    "for(let y=y0+1;y<y1;y++)pixels.copyWithin(y*width+x0,first+x0,first+x1)"
    "}"
    "function trackName(track){"
    "if(track.device)return track.name||track.device;"
    "return track.name||(track.fiber?'fiber ':'thread ')+track.thread"
    "}"
    "function nameTracks(tracks){"
    "let count=new Map(),key=track=>`${track.process.id} ${trackName(track)}`;"
    "for(let track of tracks)count.set(key(track),(count.get(key(track))||0)+1);"
    "for(let track of tracks)\n"
    "track.title=trackName(track)+(count.get(key(track))>1&&track.name&&track.thread&&!track.device?` ${track.thread}`:'')"
    "}"
    "function finish(report){"
    "let to=0,from=Infinity;"
    "report.messages=[];"
    "report.requests=null;"
    "report.losses=[];"
    "report.counters=[];"
    "report.frames=[];"
    "report.flows=[];"
    "for(let process of report.processes){"
    "let program=process.about.get('program')||'(unnamed)',rank=process.metadata.find(([key])=>key==='rank');"
    "process.name=report.processes.length>1||rank\n"
    "?`${program} (${rank?'rank '+rank[1]:process.about.get('pid')}${process.file?', '+process.file:''})`:program"
    "}"
    "report.processes.map(({name})=>name).forEach((name,i,names)=>{"
    "if(names.indexOf(name)<names.lastIndexOf(name))report.processes[i].name+=` #${i+1}`"
    "});"
    "nameTracks(report.tracks);"
    "for(let track of report.tracks){"
    "track.full=report.processes.length>1?`${track.process.name}: ${track.title}`:track.title;"
    "track.marks=track.states=track.owner=track.life=null;"
    "for(let level of track.levels){"
    "groupsOf(report,level);"
    "level.pyramid=level.pyramid||buildPyramid(level)"
    "}"
    "let{points,system,levels:[level]}=track,ends=[];"
    "if(points.count)ends.push(points.time[0],points.time[points.count-1]);"
    "if(level)ends.push(level.start[0],level.endOf(level.count-1));"
    "from=min(from,...ends);"
    "to=max(to,...ends);"
    "if(system&&system.count)ends.push(system.start[0],system.end);"
    "if(ends.length)track.life={start:min(...ends),end:max(...ends)}"
    "}"
    "for(let span of report.spans){"
    "from=min(from,span.start);"
    "to=max(to,span.start+span.duration)"
    "}"
    "report.from=from>to?0:from>to*.02?from:min(from,0);"
    "report.to=to+1;"
    "report.windows=report.processes.filter(process=>process.about.has('window_from_ns')).map(({about})=>"
    "({from:Number(about.get('window_from_ns')),to:min(report.to,Number(about.get('window_to_ns')))}));"
    "let shared=new Map();"
    "report.shared=[];"
    "for(let process of report.processes)pointsOf(report,process);"
    "for(let point of report.shared.sort((a,b)=>a[2]-b[2]))flowStep(report,shared,...point);"
    "statesOf(report);"
    "for(let process of report.processes)threadRows(process,report.to-report.from);"
    "framesOfSpans(report);"
    "report.bars=stepsOf(report);"
    "spanLanes(report);"
    "report.frames.sort((a,b)=>b.start.length-a.start.length);"
    "report.bars=[...report.frames,...report.bars];"
    "report.messages.sort((a,b)=>a.time-b.time);"
    "return report"
    "}"
    "function groupsOf(report,level){"
    "for(let[i,flags]of level.flags){"
    "if(!(flags&GROUP))continue;"
    "let args=new Map(report.argsOf(level.args,i));"
    "level.groups=level.groups||new Map();"
    "level.groups.set(i,{calls:Number(args.get('calls'))||1,busy:min(Number(args.get('busy_ns'))||0,level.durationOf(i))})"
    "}"
    "}"
    "function eachPoint({tracks},from,to,take){"
    "let first=tracks.map(({points})=>firstIndex(points.count,k=>points.time[k]>=from)),{list,index}=mergeOrder(tracks.map(({points},i)=>points.time.subarray(first[i],firstIndex(points.count,k=>points.time[k]>to))));"
    "for(let i=0;i<list.length;i++)take(tracks[list[i]],first[list[i]]+index[i])"
    "}"
    "function objects(report,process){"
    "let memory=new Memory(report,process),locks=new Locks(),{kinds,labels}=report;"
    "return{"
    "take(track,at){"
    "let{time,kind,a,b}=track.points,{type,depth,label}=kinds[kind[at]];"
    "if(type===ALLOC||type===FREE)memory.step(type,depth,labels[label],time[at],a[at],b[at],track);"
   ,
    "else if(type>=LOCK_WAIT&&type<=LOCK_RELEASE)locks.step(type,labels[label],time[at],a[at],b[at],track)"
    "},"
    "close(end){"
    "memory.close();"
    "locks.close(end);"
    "return{memory:memory.used?memory:null,locks:locks.rows.size?locks:null}"
    "}"
    "}"
    "}"
    "function objectsIn(report,process,from,to){"
    "let{take,close}=objects(report,process);"
    "if(process.memory)eachPoint(process,from,to,take);"
    "return{memory:close(to).memory,locks:process.locks&&process.locks.during(from,to)}"
    "}"
    "function statesOf(report){"
    "let rows=new Map();"
    "for(let row of report.tracks){"
    "let[,name,thread]=/^(.*) (\\d+): states$/.exec(row.name)||[];"
    "if(!thread||!row.levels.length)continue;"
    "row.owner=row;"
    "rows.set(thread,[...rows.get(thread)||[],{name,row}])"
    "}"
    "for(let track of report.tracks){"
    "let list=rows.get(String(track.thread)),names=[String(track.process.about.get('program')),track.title].map(name=>name.slice(0,15));"
    "if(!list||track.device||track.owner)continue;"
    "let{row}=list.find(({name})=>names.includes(name))||list.find(each=>each.row.process===track.process)||{};"
    "if(!row)continue;"
    "track.states=row;"
    "if(row.owner===row||track.process!==row.process)row.owner=track"
    "}"
    "}"
    "function pointsOf(report,process){"
    "let counters=new Map(),frames=new Map(),last=new Map(),{take,close}=objects(report,process),flows=new Map(),{kinds,labels,strings}=report;"
    "eachPoint(process,0,Infinity,(track,at)=>{"
    "let{points}=track,kind=kinds[points.kind[at]],label=labels[kind.label],time=points.time[at],a=points.a[at],b=points.b[at];"
    "switch(kind.type){"
    "case LOG:"
    "report.messages.push({time,track,severity:a,text:strings[b],label,at});"
    "(track.marks||=[]).push({time,label,at,severity:a,text:strings[b]});"
    "break;"
    "case LOST:report.losses.push({time,track,lost:a});break;"
    "case COUNTER:{"
    "let series=entryOf(counters,[label.name,label.category,kind.unit].join('\\0'),()=>"
    "({process,name:label.name,category:label.category,unit:kind.unit,time:[],value:[]}));"
    "series.time.push(time);"
    "series.value.push(a);"
    "break"
    "}"
    "case FRAME:{"
    "let key=label.id+' '+track.id,number=points.numbers.get(at)?\?(last.has(key)?last.get(key)+1:Number(a>0));"
    "last.set(key,number);"
    "if(a>0&&!kind.flags)addBar(frames,key,'frame',label.name,track,time-a,a,number);"
    "break"
    "}"
    "case FLOW_OUT:case FLOW_STEP:case FLOW_IN:"
    "if(label.role===ROLE_SHARED)report.shared.push([kind.type,label,time,points.numbers.get(at)?\?a,track]);"
    "else flowStep(report,flows,kind.type,label,time,points.numbers.get(at)?\?a,track);"
    "break;"
    "case ALLOC:case FREE:case LOCK_WAIT:case LOCK_ACQUIRE:case LOCK_RELEASE:take(track,at);break;"
    "default:"
    "report.messages.push({time,track,severity:-1,text:label.name,label,at});"
    "(track.marks||=[]).push({time,label,at})"
    "}"
    "});"
    "report.frames.push(...frames.values());"
    "Object.assign(process,close(report.to));"
    "process.counters=[...counters.values(),...process.memory?process.memory.curves():[]].map(closeSeries);"
    "report.counters=report.counters.concat(process.counters)"
    "}"
    "function closeSeries(series){"
    "series.time=Float64Array.from(series.time);"
    "series.value=Float64Array.from(series.value);"
    "series.min=Infinity;"
    "series.max=-Infinity;"
    "for(let value of series.value){"
    "if(value<series.min)series.min=value;"
    "if(value>series.max)series.max=value"
    "}"
    "if(!(series.min<=series.max))series.min=series.max=0;"
    "let finite=series.value.filter(Number.isFinite);"
    "series.low=finite.reduce((a,b)=>min(a,b),0);"
    "series.high=finite.reduce((a,b)=>max(a,b),series.low);"
    "return series"
    "}"
    "function addBar(series,key,noun,name,track,start,duration,number){"
    "let all=entryOf(series,key,()=>({noun,name,track,start:[],duration:[],number:[]}));"
    "all.start.push(start);"
    "all.duration.push(duration);"
    "all.number.push(number)"
    "}"
    "function flowStep(report,flows,type,label,time,id,track){"
    "let key=label.name+'\\0'+id,before=flows.get(key);"
    "if(before&&type!==FLOW_OUT)\n"
   ,
    "report.flows.push({name:label.name,id,from:before.time,to:time,fromTrack:before.track,toTrack:track});"
    "if(type===FLOW_IN)flows.delete(key);"
    "else if(before||type===FLOW_OUT)flows.set(key,{time,track})"
    "}"
    "class Memory{"
    "constructor(report,process){"
    "this.process=process;"
    "this.live=new Map();"
    "this.pools=new Map();"
    "this.sites=new Map();"
    "this.scopes=new Map();"
    "this.report=report;"
    "this.used=0;"
    "this.unknown=0"
    "}"
    "step(type,depth,label,time,address,size,track){"
    "this.used++;"
    "if(type===ALLOC){"
    "let pool=this.poolOf(label.category),old=this.live.get(address);"
    "if(old)this.remove(old,address,time);"
    "let site=this.rowOf(this.sites,label),scope=this.rowOf(this.scopes,this.around(track,depth,time));"
    "for(let row of[site,scope]){"
    "row.count++;"
    "row.bytes+=size;"
    "row.liveCount++;"
    "row.liveBytes+=size;"
    "row.peak=max(row.peak,row.liveBytes)"
    "}"
    "this.live.set(address,{site,scope,pool,size,time,track});"
    "this.change(pool,time,size)"
    "}else{"
    "let block=this.live.get(address);"
    "if(block)this.remove(block,address,time);"
    "else if(address)this.unknown++"
    "}"
    "}"
    "rowOf(map,label){"
    "return entryOf(map,label.id,()=>({label,count:0,bytes:0,liveCount:0,liveBytes:0,peak:0}))"
    "}"
    "around(track,depth,time){"
    "let{labels,nodes}=this.report,level=track.levels[depth-1],i=level?scopeAt(level,time):-1;"
    "return i>=0?scopeLabel(labels[nodes.label[level.node[i]]]):{id:-1,name:'(no scope)',category:'',file:''}"
    "}"
    "poolOf(name){"
    "return entryOf(this.pools,name,()=>({name,bytes:0,time:[],value:[]}))"
    "}"
    "remove(block,address,time){"
    "for(let row of[block.site,block.scope]){"
    "row.liveCount--;"
    "row.liveBytes-=block.size"
    "}"
    "this.live.delete(address);"
    "this.change(block.pool,time,-block.size)"
    "}"
    "change(pool,time,bytes){"
    "let last=pool.time.length-1;"
    "pool.bytes+=bytes;"
    "if(last>=0&&pool.time[last]===time){"
    "pool.value[last]=pool.bytes"
    "}else{"
    "pool.time.push(time);"
    "pool.value.push(pool.bytes)"
    "}"
    "}"
    "close(){"
    "this.leaks=[...this.live.entries()].map(([address,block])=>({address,...block}))"
    "}"
    "curves(){"
    "return[...this.pools.values()].map(pool=>({process:this.process,category:'memory',time:pool.time,"
    "value:pool.value,name:pool.name?'memory: '+pool.name:'memory',unit:'B',pool}))"
    "}"
    "}"
    "class Locks{"
    "constructor(){"
    "this.rows=new Map();"
    "this.locks=new Map()"
    "}"
    "rowOf(label){"
    "return entryOf(this.rows,label.name+'\\0'+label.category,()=>"
    "({label,addresses:new Set(),acquired:0,contended:0,waiters:0,wait:0,waitMax:0,hold:0,holdMax:0,holds:[],waits:[]}))"
    "}"
    "step(type,label,time,address,detail,track){"
    "let row=type===LOCK_RELEASE?null:this.rowOf(label);"
    "if(row)row.addresses.add(address);"
    "let lock=entryOf(this.locks,address,()=>({acquired:0,waits:new Map(),holds:new Map()})),{waits,holds}=lock,wait=waits.get(track);"
    "if(type!==LOCK_WAIT)waits.delete(track);"
    "if(type===LOCK_WAIT){"
    "let others=[...holds.values()].filter(hold=>hold.track!==track),[first]=others;"
    "waits.set(track,{row,label,address,time,track,acquired:lock.acquired,contended:detail&1||first,had:first?first.track:null,holder:first?first.track:null});"
    "for(let hold of others)hold.waiters.push(track);"
    "row.waiters=max(row.waiters,waits.size)"
    "}else if(type===LOCK_ACQUIRE){"
    "row.acquired++;"
    "if(wait){"
    "wait.took=time-wait.time;"
    "wait.contended=wait.contended||wait.acquired!==lock.acquired;"
    "row.wait+=wait.took;"
    "row.waitMax=max(row.waitMax,wait.took);"
    "if(wait.contended){"
    "row.contended++;"
    "holds.delete(track);"
    "wait.holder=wait.holder||lock.last"
    "}"
    "row.waits.push(wait)"
    "}"
    "lock.acquired++;"
    "lock.last=track;"
    "if(holds.has(track))holds.get(track).depth++;"
    "else holds.set(track,{start:time,depth:1,row,track,address,waiters:[...waits.keys()]})"
    "}else{"
    "let hold=holds.get(track)||(holds.size===1&&[...holds.values()][0]);"
    "if(!hold||--hold.depth>0)return;"
    "holds.delete(hold.track);"
    "hold.duration=time-hold.start;"
    "hold.row.hold+=hold.duration;"
    "hold.row.holdMax=max(hold.row.holdMax,hold.duration);"
    "hold.row.holds.push(hold)"
    "}"
    "}"
   ,
    "close(end){"
    "for(let{holds,waits}of this.locks.values()){"
    "for(let hold of holds.values())hold.row.holds.push(Object.assign(hold,{duration:end-hold.start}));"
    "for(let wait of waits.values())wait.row.waits.push(Object.assign(wait,{took:end-wait.time,open:true}))"
    "}"
    "for(let row of this.rows.values()){"
    "row.holds.sort((a,b)=>a.start-b.start);"
    "row.waits.sort((a,b)=>a.time-b.time)"
    "}"
    "this.list()"
    "}"
    "list(){"
    "this.waits=[...this.rows.values()].flatMap(row=>row.waits.filter(wait=>wait.took>0&&!wait.open));"
    "this.waits.sort((a,b)=>b.took-a.took);"
    "this.waits.length=min(this.waits.length,1000)"
    "}"
    "during(from,to){"
    "let locks=new Locks(),part=(start,long)=>max(0,min(start+long,to)-max(start,from));"
    "for(let[key,{label,holds,waits}]of this.rows){"
    "let inside={waits:waits.filter(({time,took})=>touches(time,time+took,from,to)),holds:holds.filter(({start,duration})=>touches(start,start+duration,from,to))};"
    "if(!inside.waits.length&&!inside.holds.length)continue;"
    "let row=Object.assign(locks.rowOf(label),inside),ends=new Map();"
    "for(let{start,duration,address}of row.holds){"
    "row.addresses.add(address);"
    "row.acquired+=start>=from;"
    "row.hold+=part(start,duration);"
    "row.holdMax=max(row.holdMax,part(start,duration))"
    "}"
    "for(let{time,took,address,contended,open}of row.waits){"
    "let end=time+took,others=(ends.get(address)||[]).filter(each=>each>max(time,from));"
    "ends.set(address,[...others,end]);"
    "row.addresses.add(address);"
    "row.waiters=max(row.waiters,others.length+1);"
    "if(open)continue;"
    "row.contended+=contended&&end<=to?1:0;"
    "row.wait+=part(time,took);"
    "row.waitMax=max(row.waitMax,part(time,took))"
    "}"
    "}"
    "locks.list();"
    "return locks.rows.size?locks:null"
    "}"
    "}"
    "function framesOfSpans(report){"
    "let series=new Map();"
    "for(let span of report.spans){"
    "let{name,role}=report.labels[span.label];"
    "if(span.number&&role===ROLE_FRAME&&span.duration)addBar(series,span.label+' '+span.id,'frame',name,report.tracks[span.track],span.start,span.duration,span.number)"
    "}"
    "report.frames.push(...series.values())"
    "}"
    "class Steps{"
    "constructor(report,{name},track){"
    "Object.assign(this,{report,name,track,noun:'step',start:[],duration:[],at:[]})"
    "}"
    "add(track,depth,i){this.at.push({track,depth,i,start:track.levels[depth].start[i]})}"
    "close(){"
    "this.at.sort((a,b)=>a.start-b.start);"
    "this.start=this.at.map(({start})=>start);"
    "this.duration=this.at.map(({track,depth,i})=>track.levels[depth].durationOf(i))"
    "}"
    "get tracks(){return this.shared||=new Set(this.at.map(({track})=>track))}"
    "get number(){return this.numbers||=this.at.map(each=>stepNumber(this.report,each))}"
    "}"
    "function stepNumber(report,{track,depth,i}){"
    "let{args}=track.levels[depth],pair=report.argsOf(args,i).find(([key])=>key==='step_num');"
    "return pair?pair[1]:''"
    "}"
    "function stepsOf(report){"
    "let series=new Map(),{nodes,labels}=report;"
    "if(!labels.some(label=>label.role===ROLE_STEP))return[];"
    "for(let track of report.tracks){"
    "track.levels.forEach((level,depth)=>{"
    "for(let i=0;i<level.count;i++){"
    "let label=labels[nodes.label[level.node[i]]];"
    "if(label.role===ROLE_STEP)entryOf(series,track.process.id+'\\0'+label.name,()=>new Steps(report,label,track)).add(track,depth,i)"
    "}"
    "})"
    "}"
    "for(let each of series.values())each.close();"
    "return[...series.values()].sort((a,b)=>b.start.length-a.start.length)"
    "}"
    "function stepAround(report,{track,depth,start}){"
    "let{nodes,labels}=report;"
    "for(;depth>=0;depth--){"
    "let level=track.levels[depth],i=scopeAt(level,start);"
    "if(i>=0&&labels[nodes.label[level.node[i]]].role===ROLE_STEP)return stepNumber(report,{track,depth,i})"
    "}"
    "let series=report.bars.filter(({noun,track:{process}})=>noun==='step'&&process===track.process);"
    "if(!series.length||series.some(({tracks})=>tracks.has(track)||tracks.size>1))return'';"
    "return barAround(series[0],start)"
    "}"
    "function frameAround(report,{track,start}){"
   ,
    "let series=report.bars.filter(({noun,track:{process}})=>noun==='frame'&&process===track.process);"
    "return series.length?barAround(series.find(each=>each.track===track)||series[0],start):''"
    "}"
    "function barAround(series,time){"
    "let i=barAt(series,time);"
    "return i<0?'':series.number[i]"
    "}"
    "function barAt({start,duration},time){"
    "let i=firstIndex(start.length,k=>start[k]>time)-1;"
    "return i>=0&&time<start[i]+duration[i]?i:-1"
    "}"
    "function lanesOf(list,most=1024){"
    "let ends=new Float64Array(2*most).fill(-Infinity),lanes=[],crowded=0;"
    "for(let each of list){"
    "let at=1;"
    "while(at<most)at=2*at+Number(ends[2*at]>each.start);"
    "if(ends[at]>each.start)crowded++;"
    "let lane=at-most;"
    "lanes[lane]=lanes[lane]||[];"
    "lanes[lane].push(each);"
    "ends[at]=max(ends[at],each.end);"
    "while(at>>=1)ends[at]=min(ends[2*at],ends[2*at+1])"
    "}"
    "return{lanes,crowded}"
    "}"
    "function spanLanes(report){"
    "let groups=new Map();"
    "for(let span of report.spans){"
    "let{process}=report.tracks[span.track],{name,role}=report.labels[span.label];"
    "span.end=span.start+span.duration;"
    "if(!span.mark&&(!span.number||role!==ROLE_FRAME))entryOf(groups,process.id+'\\0'+name,()=>({process,name,spans:[]})).spans.push(span)"
    "}"
    "for(let process of report.processes)process.spanGroups=[];"
    "for(let group of groups.values()){"
    "group.spans.sort((a,b)=>a.start-b.start);"
    "Object.assign(group,lanesOf(group.spans));"
    "group.process.spanGroups.push(group)"
    "}"
    "}"
    "const ALIKE=8;"
    "function threadRows(process,length){"
    "let{tracks,about,id}=process,first=track=>Number(track.fiber)*2-Number(String(track.thread)===about.get('pid')),groups=process.threadGroups=[],rest=tracks.filter(track=>!track.device&&!track.owner&&track.life).sort((a,b)=>first(a)-first(b)||a.id-b.id),take=(title,list,lanes)=>{"
    "if(list.length<ALIKE)return;"
    "rest=rest.filter(track=>!list.includes(track));"
    "groups.push({key:`p${id}T${list[0].id}`,title,tracks:list,lanes})"
    "};"
    "let short=rest.filter(({life})=>life.end-life.start<length/8),stems=new Map(),{lanes}=lanesOf(short.map(track=>({track,...track.life})).sort((a,b)=>a.start-b.start));"
    "if(lanes.length<short.length/2)take(`${grouped(short.length)} short threads`,short,lanes.map(lane=>lane.map(({track})=>track)));"
    "for(let track of rest){"
    "let[,stem,number]=/^(.*?)(\\d+)$/.exec(track.title)||[];"
    "if(stem)entryOf(stems,stem,()=>[]).push({track,number:Number(number)})"
    "}"
    "for(let[stem,list]of stems){"
    "list.sort((a,b)=>a.number-b.number);"
    "take(`${stem}${list[0].number}..${list.at(-1).number}`,list.map(({track})=>track))"
    "}"
    "if(rest.length>2*ALIKE)take('Idle threads',rest.filter(track=>!track.marks&&busyOf(track)<length/1000));"
    "process.threads=rest"
    "}"
    "function warnings(report){"
    "let lines=[];"
    "if(report.damage)lines.push(`This report is damaged: ${report.damage}. What follows is missing.`);"
    "if(report.processes.some(process=>process.about.get('together')==='1'))\n"
    "lines.push('The recordings were made one after the other: here, each begins at 0.');"
    "else if(report.machines>1)lines.push('The recordings are of several machines, or of several starts of one: they are aligned by the time of day, as exactly as the machines had set it.');"
    "for(let name of new Set(report.processes.map(process=>process.file).filter(Boolean)))lines.push(`${name} was added: its recordings begin at 0 here.`);"
    "for(let process of report.processes){"
    "let who=report.processes.length>1?process.name+': ':'',number=key=>Number(process.about.get(key)||0);"
    "if(process.about.has('nothing'))lines.unshift(who+process.about.get('nothing'));"
    "for(let loss of process.losses)lines.push(who+loss);"
    "if(!number('complete'))lines.push(who+'The session was not stopped: the program was running, or died.');"
   ,
    "if(process.about.has('window_from_ns'))lines.push(who+`Too large for a page: of its ${grouped(number('events'))} events, those from ${moment(number('window_from_ns'))} to ${moment(number('window_to_ns'))} are all here. `+\n"
    "`Elsewhere, scopes of less than ${ns(number('part_ns'))} are in groups, drawn lighter and named after the longest, and of other events there are samples. Statistics of everything count all scopes.`);"
    "if(number('aggregated'))lines.push(who+`${grouped(number('aggregated'))} events are only in statistics: see prof summary.`);"
    "if(process.about.get('write_error'))lines.push(who+process.about.get('write_error'));"
    "let cut=process.tracks.reduce((sum,{levels})=>levels.reduce((n,level)=>n+[...level.flags.values()].filter(flags=>flags&3).length,sum),0);"
    "if(cut&&!process.live)lines.push(`${who}${grouped(cut)} scope${cut>1?'s lack':' lacks'} begin or end: the edge is jagged.`);"
    "let{total,text}=cost(process,report.to-report.from);"
    "if(total>.01*(report.to-report.from))lines.push(`${who}Recording cost ${text}.`);"
    "let guessed=process.tracks.filter(track=>track.device&&track.alignment===3);"
    "if(guessed.length)lines.push(who+`The clocks of these devices are not aligned: ${[...new Set(guessed.map(t=>t.device))].join(', ')}. Durations may be right, positions are not.`)"
    "}"
    "return lines"
    "}"
    "function scopesOf({levels}){return levels.reduce((sum,level)=>sum+level.count,0)}"
    "function cost(process,duration){"
    "let[each,start,ready]=['scope','start','ready'].map(what=>Number(process.about.get(`${what}_cost_ns`)||0)),scopes=process.calls||process.tracks.reduce((sum,track)=>sum+(track.device?0:scopesOf(track)),0),total=each*scopes;"
    "return{each,total,text:`${ns(each)} a scope, ${ns(total)} for ${grouped(scopes)} scopes`+(start?`, ${ns(start)} for the start`:'')+(ready?`, ${ns(ready)} for memory`:'')+\n"
    "(duration?`, ${(100*(total+start+ready)/(duration+start)).toFixed(1)} % of the run`:'')}"
    "}"
    "function busyOf(track){"
    "let{levels:[level]}=track;"
    "if(track.busy===undefined){"
    "track.busy=0;"
    "for(let i=0;level&&i<level.count;i++)\n"
    "track.busy+=level.groups&&level.groups.has(i)?level.groups.get(i).busy:level.durationOf(i)"
    "}"
    "return track.busy"
    "}"
    "function truncatedText(flags){"
    "let missing=[flags&TRUNCATED_BEGIN?'begin':'',flags&TRUNCATED_END?'end':''].filter(Boolean).join(' and ');"
    "return missing&&`${missing} not recorded`"
    "}"
    "function scopeAt(level,time){"
    "let i=firstIndex(level.count,k=>level.start[k]>time)-1;"
    "return i>=0&&level.endOf(i)>=time?i:-1"
    "}"
    "function scopeOf(report,{track,depth,i}){"
    "let level=track.levels[depth];"
    "return{track,label:report.labels[report.nodes.label[level.node[i]]],start:level.start[i],end:level.endOf(i),duration:level.durationOf(i),"
    "flags:level.flags.get(i)||0,get args(){return report.argsOf(level.args,i)}}"
    "}"
    "const BUCKETS=64+58*32;"
    "const FEW=30;"
    "function bucketOf(duration){"
    "if(duration<64)return floor(duration);"
    "if(duration<0x80000000){"
    "let e=31-Math.clz32(duration);"
    "return 64+(e-6)*32+(duration>>>e-5&31)"
    "}"
    "let e=floor(Math.log2(duration));"
    "return min(BUCKETS-1,64+(e-6)*32+floor(duration/2**(e-5))%32)"
    "}"
    "function bucketValue(bucket){"
    "if(bucket<64)return bucket;"
    "let e=floor((bucket-64)/32)+6;"
    "return(32+(bucket-64)%32+.5)*2**(e-5)"
    "}"
    "function indexRange(level,from,to){"
    "let{start,count,duration}=level,first=firstIndex(count,k=>start[k]>=from);"
    "if(first&&touches(start[first-1],level.endOf(first-1),from,to))first--;"
    "return[first,firstIndex(count,k=>start[k]>to||(start[k]===to&&duration[k]>0&&from<to))]"
    "}"
    "function rangeStats(report,from,to,wanted){"
    "return allSteps(statsSteps(report,from,to,wanted))"
    "}"
    "function allSteps(steps){"
    "for(;;){"
    "let{done,value}=steps.next();"
    "if(done)return value"
    "}"
    "}"
    "function*statsSteps(report,from,to,wanted){"
    "if(report.all&&!wanted&&from<=report.from&&to>=report.to)return allStats(report);"
   ,
    "let{nodes,labels}=report,column=n=>new Float64Array(n),calls=column(nodes.count),total=column(nodes.count),self=column(nodes.count),share=column(nodes.count),sums={labelOf:nodes.label,calls,total,share,outer:outermost(report),whole:column(labels.length),longest:column(labels.length),threads:column(labels.length),"
    "cut:column(labels.length),lost:column(labels.length),lostSum:column(labels.length),lostShare:column(labels.length),lostSelf:column(labels.length),"
    "shortest:column(labels.length).fill(Infinity),histograms:new Array(labels.length).fill(null),met:column(nodes.count).fill(-1),seen:column(labels.length).fill(-1),track:0,scale:0};"
    "for(let track of report.tracks){"
    "if(wanted&&!wanted(track))continue;"
    "sums.track=track.id;"
    "sums.scale=to>max(from,track.kept)?1/(to-max(from,track.kept)):0;"
    "for(let[depth,level]of track.levels.entries()){"
    "let[first,end]=indexRange(level,from,to),{start,node,flags,groups}=level,i=first;"
    "for(let odd of Uint32Array.from(new Set([first,...flags.keys(),end-1])).sort()){"
    "if(odd<first||odd>=end)continue;"
    "yield*addWhole(sums,level,i,odd);"
    "i=odd+1;"
    "let n=node[odd],long=level.durationOf(odd);"
    "if(groups&&groups.has(odd)){"
    "addTime(sums,n,groups.get(odd).calls,groups.get(odd).busy)"
    "}else if(start[odd]<from||start[odd]+long>to||flags.has(odd)){"
    "addTime(sums,n,1,max(0,min(start[odd]+long,to)-max(start[odd],from)));"
    "if(flags.has(odd)&&start[odd]>=from&&start[odd]+long<=to)leaveOut(sums,n,track.levels[depth+1],start[odd],long)"
    "}else{"
    "yield*addWhole(sums,level,odd,i)"
    "}"
    "}"
    "yield*addWhole(sums,level,i,end)"
    "}"
    "}"
    "sums.split=yield*splitSteps(report,from,to,wanted);"
    "for(let n=1;n<nodes.count;n++)self[n]=total[n];"
    "for(let n=1;n<nodes.count;n++)self[nodes.parent[n]]-=total[n];"
    "return byLabels(report,{from,to,calls,total,self},sums)"
    "}"
    "function*splitSteps({nodes,tracks},from,to,wanted){"
    "let known=tracks.filter(track=>track.system&&(!wanted||wanted(track))),sums=known.length?STATE_NAMES.map(()=>new Float64Array(nodes.count)):null;"
    "for(let{system,levels}of known){"
    "for(let level of levels){"
    "let[first,end]=indexRange(level,from,to),add=system.walker();"
    "for(let i=first;i<end;i++){"
    "let n=level.node[i],start=level.start[i],stop=level.endOf(i),flags=level.flags.size?level.flags.get(i):0;"
    "if((i-first)%4000===3999)yield 4000;"
    "if(flags&GROUP||(flags&&start>=from&&stop<=to))continue;"
    "sums[0][n]+=min(stop,to)-max(start,from);"
    "add(max(start,from),sums,n,-1);"
    "add(min(stop,to),sums,n,1)"
    "}"
    "}"
    "}"
    "return sums"
    "}"
    "function outermost({nodes,labels}){"
    "let rows=labels.map(label=>scopeLabel(label).id),outer=new Uint8Array(nodes.count);"
    "for(let n=1;n<nodes.count;n++){"
    "let up=nodes.parent[n];"
    "while(up&&rows[nodes.label[up]]!==rows[nodes.label[n]])up=nodes.parent[up];"
    "outer[n]=up?0:1"
    "}"
    "return outer"
    "}"
    "function meet({labelOf,met,seen,threads,track},n){"
    "let label=labelOf[n];"
    "met[n]=track;"
    "if(seen[label]!==track)threads[label]++;"
    "seen[label]=track"
    "}"
    "function addTime(sums,n,calls,time){"
    "if(sums.met[n]!==sums.track)meet(sums,n);"
    "sums.calls[n]+=calls;"
    "sums.total[n]+=time;"
    "sums.share[n]+=time*sums.scale"
    "}"
    "function leaveOut({labelOf,outer,cut,lost,lostSum,lostShare,lostSelf,scale},n,inner,start,long){"
    "let label=labelOf[n];"
    "cut[label]++;"
    "if(outer[n])lost[label]+=long;"
    "if(outer[n])lostShare[label]+=long*scale;"
    "lostSum[label]+=long;"
    "lostSelf[label]+=long;"
    "let[first,end]=inner?indexRange(inner,start,start+long):[0,0];"
    "for(let i=first;i<end;i++)lostSelf[label]-=inner.durationOf(i)"
    "}"
    "function*addWhole(sums,level,first,end){"
    "while(first<end){"
    "let next=min(end,first+4000);"
    "addSome(sums,level,first,next);"
    "yield next-first;"
    "first=next"
    "}"
    "}"
    "function addSome(sums,level,first,end){"
    "let{labelOf,calls,total,whole,longest,shortest,histograms}=sums,{duration,node}=level,{met,track,share,scale}=sums;"
    "for(let i=first;i<end;i++){"
   ,
    "let n=node[i],long=duration[i]===0xFFFFFFFF?level.durationOf(i):duration[i],label=labelOf[n];"
    "if(met[n]!==track)meet(sums,n);"
    "calls[n]++;"
    "total[n]+=long;"
    "share[n]+=long*scale;"
    "if(long>longest[label])longest[label]=long;"
    "if(long<shortest[label])shortest[label]=long;"
    "if(whole[label]++>FEW)histograms[label][bucketOf(long)]++;else tally(histograms,label,bucketOf(long),1)"
    "}"
    "}"
    "function tally(histograms,label,bucket,calls){"
    "let list=histograms[label]||(histograms[label]=[]),all=list;"
    "if(all.length<BUCKETS&&all.length+calls>FEW){"
    "all=histograms[label]=new Uint32Array(BUCKETS);"
    "for(let each of list)all[each]++"
    "}"
    "if(all.length===BUCKETS)all[bucket]+=calls;else while(calls--)all.push(bucket)"
    "}"
    "function byLabels({nodes,labels},stats,{outer,share,threads,cut,lost,lostSum,lostShare,lostSelf,whole,shortest,longest,histograms,split}){"
    "let{calls,total,self}=stats,byLabel=labels.map((label,id)=>({label,id,calls:0,known:-cut[id],total:-lost[id],sum:-lostSum[id],share:-lostShare[id],self:-lostSelf[id],states:null,"
    "threads:threads?threads[id]:0,whole:whole[id],min:shortest[id],max:longest[id],histogram:histograms[id]}));"
    "for(let n=1;n<nodes.count;n++){"
    "let row=byLabel[nodes.label[n]];"
    "row.calls+=calls[n];"
    "row.known+=calls[n];"
    "row.sum+=total[n];"
    "row.self+=self[n];"
    "if(!outer[n])continue;"
    "row.total+=total[n];"
    "row.share+=share[n];"
    "if(split&&split[0][n])addStates(row,split.map(sums=>sums[n]))"
    "}"
    "return{...stats,rows:byLabel.filter(row=>row.calls>0)}"
    "}"
    "function addStates(row,states){row.states=states.map((time,kind)=>time+(row.states?row.states[kind]:0))}"
    "function allStats(report){"
    "let{nodes,labels,from,to}=report,column=n=>new Float64Array(n),calls=column(nodes.count),total=column(nodes.count),self=column(nodes.count),share=column(nodes.count),none=column(labels.length),cut=column(labels.length),whole=column(labels.length),longest=column(labels.length),shortest=column(labels.length).fill(Infinity),histograms=new Array(labels.length).fill(null),split=STATE_NAMES.map(()=>column(nodes.count));"
    "for(let row of report.all){"
    "let n=row.node,label=nodes.label[n];"
    "calls[n]+=row.calls;"
    "cut[label]+=row.truncated;"
    "total[n]+=row.total;"
    "self[n]+=row.self;"
    "share[n]+=row.share;"
    "if(row.states)row.states.forEach((time,kind)=>{split[kind][n]+=time});"
    "longest[label]=max(longest[label],row.max);"
    "if(row.calls>row.truncated)shortest[label]=min(shortest[label],row.min);"
    "for(let[at,count]of row.buckets){"
    "whole[label]+=count;"
    "tally(histograms,label,bucketOf(at),count)"
    "}"
    "}"
    "return byLabels(report,{from,to,calls,total,self,every:true},{outer:outermost(report),share,cut,lost:none,lostSum:none,lostShare:none,lostSelf:none,whole,shortest,longest,histograms,split})"
    "}"
    "function byFormat(rows){"
    "let groups=new Map();"
    "for(let row of rows)entryOf(groups,scopeLabel(row.label),()=>[]).push(row);"
    "return[...groups].map(([label,inner])=>inner.some(row=>row.label.format)?joinedRow(label,inner):inner[0])"
    "}"
    "function joinedRow(label,inner){"
    "let row={label,id:label.id,calls:0,known:0,total:0,sum:0,share:0,self:0,states:null,threads:0,whole:0,min:Infinity,max:0,inner},histograms=[];"
    "for(let each of inner){"
    "for(let sum of['calls','known','total','sum','share','self','whole'])row[sum]+=each[sum];"
    "if(each.states)addStates(row,each.states);"
    "row.threads=max(row.threads,each.threads);"
    "row.min=min(row.min,each.min);"
    "row.max=max(row.max,each.max);"
    "for(let[i,count]of(each.histogram||[]).entries()){"
    "if(each.histogram.length<BUCKETS)tally(histograms,0,count,1);"
    "else if(count)tally(histograms,0,i,count)"
    "}"
    "}"
    "return{...row,histogram:histograms[0]}"
    "}"
    "function percentile({histogram,whole,min:least,max:most},share){"
    "if(!whole)return NaN;"
    "let bucket=0,left=max(1,ceil(share*whole));"
    "if(histogram.length<BUCKETS)bucket=histogram.sort((a,b)=>a-b)[left-1];"
    "else for(left-=histogram[0];left>0;)left-=histogram[++bucket];"
   ,
    "return max(least,min(most,bucketValue(bucket)))"
    "}"
    "function callsOf(report,label,from,to,wanted=()=>true){"
    "let{nodes,labels}=report,calls=[],fits=labels.map(each=>each.id===label||scopeLabel(each).id===label),mine=new Uint8Array(nodes.count);"
    "for(let n=1;n<nodes.count;n++)mine[n]=fits[nodes.label[n]]?1:0;"
    "for(let track of report.tracks){"
    "if(!wanted(track))continue;"
    "track.levels.forEach((level,depth)=>{"
    "let[first,end]=indexRange(level,from,to);"
    "for(let i=first;i<end;i++)\n"
    "if(mine[level.node[i]])calls.push({track,depth,i,start:level.start[i],duration:level.durationOf(i)})"
    "})"
    "}"
    "return calls"
    "}"
    "function statesIn({labels,nodes},parts){"
    "let sums=new Map(),add=(name,time)=>sums.set(name,(sums.get(name)||0)+time),kinds=[0,0,0,0],known=0;"
    "for(let{track:{system,states},start,duration}of parts){"
    "let end=start+duration;"
    "if(system){"
    "known+=duration;"
    "system.addBefore(end,kinds,1);"
    "system.addBefore(start,kinds,-1)"
    "}else if(states){"
    "let[level]=states.levels,[first,last]=indexRange(level,start,end);"
    "for(let i=first;i<last;i++)add(labels[nodes.label[level.node[i]]].name,min(level.endOf(i),end)-max(level.start[i],start))"
    "}"
    "}"
    "kinds[0]=known-kinds[1]-kinds[2]-kinds[3];"
    "for(let kind of known?[1,2,3,0]:[])add(STATE_NAMES[kind],kinds[kind]);"
    "return sums"
    "}"
    "function*selfSteps(levels,depth,first,end,timeOf,take){"
    "let level=levels[depth],{start,count}=levels[depth+1]||{count:0},k=first<end?firstIndex(count,at=>start[at]>=level.start[first]):0;"
    "for(let i=first;i<end;i++){"
    "let stop=level.endOf(i),self=timeOf(depth,i);"
    "for(;k<count&&levels[depth+1].endOf(k)<=stop;k++)if(start[k]>=level.start[i])self-=timeOf(depth+1,k);"
    "take(i,self);"
    "if((i-first)%4000===3999)yield 4000"
    "}"
    "}"
    "function flameTree(report,stats,bottomUp,above=0){"
    "return bottomUp?inverted(report,stats,above+128):topDown(report,stats)"
    "}"
    "function topDown(report,stats){"
    "let{nodes,labels}=report,made=new Array(nodes.count),root=made[0]={label:-1,total:0,self:0,calls:0,children:[],map:new Map()};"
    "for(let n=1;n<nodes.count;n++){"
    "let up=made[nodes.parent[n]],label=scopeLabel(labels[nodes.label[n]]).id,node=made[n]=entryOf(up.map,label,()=>({label,total:0,self:0,calls:0,children:[],map:new Map(),up}));"
    "if(!stats.calls[n])continue;"
    "if(!node.calls)up.children.push(node);"
    "node.total+=stats.total[n];"
    "node.self+=stats.self[n];"
    "node.calls+=stats.calls[n];"
    "if(!nodes.parent[n])root.total+=stats.total[n]"
    "}"
    "return sorted(root)"
    "}"
    "function inverted(report,stats,levels){"
    "let{nodes,labels}=report,root={label:-1,total:0,self:0,calls:0,children:[],map:new Map()};"
    "for(let n=1;n<nodes.count;n++){"
    "let time=stats.self[n];"
    "if(!stats.calls[n]||time<=0)continue;"
    "root.total+=time;"
    "let at=root;"
    "for(let up=n,depth=0;up;up=nodes.parent[up],depth++){"
    "if(depth===levels){"
    "at.deeper=(at.deeper||0)+time;"
    "break"
    "}"
    "let label=scopeLabel(labels[nodes.label[up]]).id,next=at.map.get(label);"
    "if(!next){"
    "next={label,total:0,self:0,calls:0,children:[],map:new Map(),up:at};"
    "at.map.set(label,next);"
    "at.children.push(next)"
    "}"
    "next.total+=time;"
    "next.self+=up===n?time:0;"
    "next.calls+=up===n?stats.calls[n]:0;"
    "at=next"
    "}"
    "}"
    "return sorted(root)"
    "}"
    "function sorted(root){"
    "let waiting=[root];"
    "while(waiting.length){"
    "let node=waiting.pop();"
    "node.children.sort((a,b)=>b.total-a.total);"
    "for(let child of node.children)waiting.push(child)"
    "}"
    "return root"
    "}"
    "function labelAt({labels,nodes},{track,depth,i}){return labels[nodes.label[track.levels[depth].node[i]]]}"
    "function waitLines(report,track,from,to){"
    "let[wait]=waitsOf(report,track,from,to);"
    "if(!wait)return[];"
    "let{call,what,object,name,thread,holder,held}=wait;"
    "return[[call,what&&`${what} ${name||shown(object)}`].filter(Boolean).join(', '),"
    "thread?`held by ${holder?holder.title:`thread ${thread}`}${held?` in ${labelAt(report,held).name}`:''}`:'']"
    "}"
   ,
    "function waitWords(report,{call,what,object,name,start,end,scope,thread,holder,held,waker,woke},scopeLink=place=>labelAt(report,place).name,threadLink=track=>track.title){"
    "let[kind]=/rwlock|mutex/.exec(call)||[what],thing=`${{rwlock:'read-write lock',pid:'process'}[kind]||kind} ${name||shown(object)}`,of=(word,place)=>place?[word,scopeLink(place)]:[];"
    "return[!what?'in a sleep':/^(thread|pid)$/.test(what)?`for the end of ${thing}`:`for ${thing}`,"
    "...thread||holder?[', held by thread ',holder?threadLink(holder,start):String(thread),...of(' in scope ',held)]:waker?[', until thread ',threadLink(waker,end),...of(' in scope ',woke),' woke it']:[],"
    "...call?[`, in ${call}()`]:[],...of(call?' of scope ':', in scope ',scope)]"
    "}"
    "function waitsOf(report,track,from,to){"
    "let{process}=track,waits=[];"
    "track.levels.forEach((level,depth)=>{"
    "let[first,last]=indexRange(level,from,to);"
    "for(let i=first;i<last;i++){"
    "let label=labelAt(report,{track,depth,i});"
    "if(label.role===ROLE_WAIT)waits.push(callOf(report,track,label,level,i))"
    "}"
    "});"
    "for(let{label,waits:all}of process.locks?process.locks.rows.values():[]){"
    "for(let{time,took,address,contended,open,track:waiter,had:holder}of all){"
    "if(waiter!==track||!contended||open||time>to||time+took<from)continue;"
    "let name=label.category==='wait'?'':label.name,same=waits.find(({call,what,object,start,end})=>call&&what==='lock'&&Number(object)===address&&end>=time&&start<=time+took);"
    "if(same)same.name=name;"
    "else waits.push({call:'',what:'lock',object:'0x'+address.toString(16),name,start:time,end:time+took,thread:holder&&holder.thread,holder})"
    "}"
    "}"
    "for(let wait of waits){"
    "wait.scope=scopeAround(report,track,wait.start);"
    "wait.held=wait.holder?scopeAround(report,wait.holder,wait.start):null;"
    "let{fromTrack,from:at}=(wait.call&&report.flows.find(({name,toTrack,to:end})=>toTrack===track&&name==='wake'&&end>=wait.start&&end<=wait.end))||{};"
    "wait.waker=fromTrack||null;"
    "wait.woke=fromTrack?scopeAround(report,fromTrack,at):null"
    "}"
    "return waits.sort((a,b)=>a.start-b.start)"
    "}"
    "function callOf(report,track,{name:call},level,i){"
    "let args=new Map(report.argsOf(level.args,i)),thread=args.get('holder'),end=level.endOf(i),start=end-(Number(args.get('wait_ns'))||level.durationOf(i)),[what,object]=[...args].find(([key])=>key!=='holder'&&key!=='wait_ns')||[''];"
    "return{call,what,object,name:'',start,end,thread,holder:thread?trackOf(track.process,thread,start):null}"
    "}"
    "function trackOf({tracks},thread,time){"
    "let begin=({levels,points})=>min(levels[0]?levels[0].start[0]:Infinity,points.count?points.time[0]:Infinity);"
    "return tracks.filter(each=>String(each.thread)===String(thread)&&!each.fiber&&!each.device&&begin(each)<=time).sort((a,b)=>begin(b)-begin(a))[0]||null"
    "}"
    "function scopeAround(report,track,time){"
    "let{locks}=track.process,isLock=name=>name.startsWith('wait for ')&&locks&&[...locks.rows.values()].some(({label})=>label.name===name.slice(9));"
    "for(let depth=track.levels.length-1;depth>=0;depth--){"
    "let place={track,depth,i:scopeAt(track.levels[depth],time)},{role,name}=place.i>=0?labelAt(report,place):{role:ROLE_WAIT};"
    "if(role!==ROLE_WAIT&&!isLock(name))return place"
    "}"
    "return null"
    "}"
    "function timesIn({labels,nodes}){"
    "let waits=Uint8Array.from({length:nodes.count},(_,n)=>n&&labels[nodes.label[n]].role===ROLE_WAIT),timeOf=(levels,depth,i,begin,end)=>{"
    "let level=levels[depth],a=max(begin,level.start[i]),b=max(a,min(end,level.endOf(i)));"
    "if(!waits[level.node[i]])return b-a;"
    "let[first,last]=levels[depth+1]?indexRange(levels[depth+1],a,b):[0,0],sum=0;"
    "for(let k=first;k<last;k++)sum+=timeOf(levels,depth+1,k,a,b);"
    "return sum"
    "};"
    "return({levels},from,to)=>(depth,i)=>timeOf(levels,depth,i,from,to)"
    "}"
    "function*usualSteps(report,process){"
   ,
    "let{labels,nodes}=report,ids=new Map(),idOf=labels.map(label=>label.role===ROLE_WAIT?-2:2*entryOf(ids,scopeLabel(label).name,()=>ids.size)),room=2*ids.size,whole=new Float64Array(room),least=new Float64Array(room).fill(Infinity),most=new Float64Array(room),histograms=new Array(room).fill(null),put=(at,time)=>{"
    "if(time<least[at])least[at]=time;"
    "if(time>most[at])most[at]=time;"
    "if(whole[at]++>FEW)histograms[at][bucketOf(time)]++;else tally(histograms,at,bucketOf(time),1)"
    "};"
    "let timeIn=timesIn(report);"
    "for(let track of process.tracks){"
    "let timeOf=timeIn(track,-Infinity,Infinity);"
    "for(let[depth,level]of track.levels.entries()){"
    "yield*selfSteps(track.levels,depth,0,level.count,timeOf,(i,self)=>{"
    "let at=idOf[nodes.label[level.node[i]]];"
    "if(at<0||level.flags.has(i))return;"
    "put(at,max(0,self));"
    "put(at+1,level.durationOf(i))"
    "})"
    "}"
    "}"
    "let rowOf=at=>({whole:whole[at],min:least[at],max:most[at],histogram:histograms[at]});"
    "return new Map([...ids].map(([name,id])=>[name,{self:rowOf(2*id),wall:rowOf(2*id+1)}]))"
    "}"
    "function partsOf({track,start,end,args,flags}){"
    "let wall=end-start,parts=track.system?track.system.split(start,end):[wall,0,0,0],own=new Map(args),[running,ready,waiting]=['running','ready','waiting'].map(key=>Number(own.get(`prof.${key}_ns`)));"
    "if(!parts[0]||flags||!(running>=0))return parts;"
    "let all=ready>=0&&waiting>=0,b=all?min(ready,wall):0,c=all?min(waiting,wall-b):0,a=all?wall-b-c:min(running,wall);"
    "return[wall-a-b-c,a,b,c]"
    "}"
    "function spellsOf({system},kind,from,to){"
    "let list=[];"
    "for(let i=max(0,system?.at(from));i<system?.count&&system.start[i]<to;i++)\n"
    "if(system.kind[i]===kind&&system.start[i+1]>from)list.push([max(from,system.start[i]),min(to,system.start[i+1]),i]);"
    "return list"
    "}"
    "function devicesIn(report,usual,{track},spans){"
    "let rows=new Map();"
    "for(let device of track.device?[]:track.process.tracks.filter(each=>/^(?!(CUDA|NVTX)?$)/.test(each.device)))\n"
    "for(let[start,end]of spans)\n"
    "for(let{name,time,place}of innerRows(report,usual,{track:device,start,end}))\n"
    "if(name&&time)entryOf(rows,name+'\\0'+device.id,()=>({name,time:0,place})).time+=time;"
    "return[...rows.values()].sort((a,b)=>b.time-a.time)"
    "}"
    "function waitRows(report,usual,{track,start,end},parts){"
    "let rows=new Map(),alone=[],until=start,sum=0;"
    "for(let wait of waitsOf(report,track,start,end)){"
    "let from=max(until,wait.start),to=min(end,wait.end);"
    "if(to<=from)continue;"
    "alone.push(...spellsOf(track,WAITING,until,from));"
    "let[unknown,,,waiting]=track.system?track.system.split(from,until=to):[(until=to)-from,0,0,0],moved=min(unknown,parts[0]);"
    "parts[WAITING]+=moved;"
    "parts[0]-=moved;"
    "let time=min(waiting+unknown,parts[WAITING]-sum),row=entryOf(rows,waitWords(report,{...wait,waker:null}).join('')+wait.object,()=>({...wait,time:0,count:0}));"
    "sum+=time;"
    "row.time+=time;"
    "row.count++;"
    "if(wait.waker)Object.assign(row,{waker:wait.waker,woke:wait.woke})"
    "}"
    "if(parts[WAITING]>sum)rows.set('',{what:'unknown',time:parts[WAITING]-sum,did:devicesIn(report,usual,{track},[...alone,...spellsOf(track,WAITING,until,end)])});"
    "return[...rows.values()].filter(row=>row.time)"
    "}"
    "function ranInstead({track,start,end}){"
    "let rows=new Map();"
    "for(let[from,to,i]of spellsOf(track,READY,start,end)){"
    "let[on]=[i-1,i+1].filter(k=>track.system.kind[k]===RUNNING).map(k=>track.system.processor[k]).filter(Boolean);"
    "for(let other of track.process.tracks)\n"
    "for(let[a,b,k]of other!==track&&on?spellsOf(other,RUNNING,from,to):[])\n"
    "if(other.system.processor[k]===on)rows.set(other,(rows.get(other)||0)+b-a)"
    "}"
    "return[...rows].map(([other,time])=>({track:other,time}))"
    "}"
    "function innerRows(report,usual,{track,start,end}){"
    "let rows=new Map(),timeOf=timesIn(report)(track,start,end),rowOf=(label,place)=>entryOf(rows,label.name,()=>({name:label.name,time:0,calls:0,longest:0,usual:(usual.get(label.name)||{}).self,place})),rest=end-start;"
   ,
    "track.levels.forEach((level,depth)=>{"
    "allSteps(selfSteps(track.levels,depth,...indexRange(level,start,end),timeOf,(i,self)=>{"
    "let place={track,depth,i},label=labelAt(report,place),time=max(0,self);"
    "if(label.role===ROLE_WAIT)return;"
    "let row=rowOf(scopeLabel(label),place);"
    "row.time+=time;"
    "rest-=time;"
    "if(level.start[i]<start||level.endOf(i)>end)return;"
    "row.calls+=level.groups?.get(i)?.calls||1;"
    "if(time>row.longest)Object.assign(row,{longest:time,place})"
    "}))"
    "});"
    "rowOf({name:''}).time=rest;"
    "return[...rows.values()].filter(row=>row.time||row.calls)"
    "}"
    "function movedIn({process},start,end){"
    "return process.counters.map(series=>{"
    "let{time,value,category,pool}=series,first=firstIndex(time.length,k=>time[k]>=start),last=firstIndex(time.length,k=>time[k]>end),inside=last>first,around=!inside&&category==='system',to=value[inside||!around?last-1:last],from=value[first?first-1:first];"
    "return{series,from,to,around,moved:!pool&&(inside||(around&&first&&last<time.length))&&!Object.is(from,to)}"
    "}).filter(({moved})=>moved)"
    "}"
    "function whyOf(report,usual,call){"
    "let{track,start,end}=call,{points}=track,parts=partsOf(call),known=parts[0]<end-start,memory={count:0,bytes:0,frees:0};"
    "for(let k=firstIndex(points.count,at=>points.time[at]>=start);k<points.count&&points.time[k]<=end;k++){"
    "let{type}=report.kinds[points.kind[k]];"
    "if(type===ALLOC){memory.count++;memory.bytes+=points.b[k]}"
    "if(type===FREE)memory.frees++"
    "}"
    "let within=each=>each.track===track&&each.time>=start&&each.time<=end;"
    "return{wall:end-start,waits:waitRows(report,usual,call,parts),parts,known,ran:ranInstead(call),inner:innerRows(report,usual,call),devices:devicesIn(report,usual,call,[[start,end]]),counters:movedIn(track,start,end),memory,"
    "messages:report.messages.filter(each=>each.severity>=0&&within(each)).slice(0,20),lost:report.losses.filter(within).reduce((sum,{lost})=>sum+lost,0)}"
    "}"
    "function compared(time,median,whose){"
    "let ratio=median>0?time/median:0,about=`(${ns(median)})`;"
    "return ratio>=1.15?`${ratio<10?ratio.toFixed(1):grouped(ratio)} times ${whose} ${about}`:ratio>.85?`about ${whose} ${about}`:`${whose} is ${ns(median)}`"
    "}"
    "function chosenCall({report,series,focus,bar}){"
    "let i=bar>=0||focus?bar:series.duration.reduce((best,each,k)=>each>series.duration[best]?k:best,0),place=i<0?focus:series.at&&series.at[i],number=i<0?'':` ${series.number[i]}`;"
    "if(place){"
    "let call=scopeOf(report,place),key=scopeLabel(call.label).name;"
    "return{...call,name:call.label.name+number,key,noun:'calls'}"
    "}"
    "let all=report.frames.filter(({name,track:{process}})=>name===series.name&&process===series.track.process).flatMap(({duration})=>[...duration]).sort((a,b)=>a-b);"
    "return{track:series.track,start:series.start[i],end:series.start[i]+series.duration[i],name:series.name+number,noun:'frames',median:all[all.length-1>>1],count:all.length}"
    "}"
    "function whyPanel(panels){"
    "let{app}=panels,{report}=app,chosen=app.focus||app.bar>=0;"
    "if(!chosen&&!app.series)return el('p.note',{},'Click a scope in the time line: here is why that call took so long.');"
    "let call=chosenCall(app),usual=panels.usual(call.track.process);"
    "if(!usual)return null;"
    "let{key,track,start}=call,{wall={whole:0}}=usual.get(key)||{},{median=percentile(wall,.5),count=wall.whole}=call,cut=truncatedText(call.flags),{wall:took,waits,parts,known,ran,inner,devices,counters,memory,messages,lost}=whyOf(report,usual,call),thread=(each,time)=>linkTo(each.title,()=>app.goTo(time,each)),scope=place=>linkTo(labelAt(report,place).name,()=>app.show(place)),doing=rows=>rows.map(({time,place})=>({time,what:[scope(place),`, on ${place.track.title} of ${place.track.device}`]})),list=(caption,rows)=>table([times('time',row=>row.time),by('%',row=>row.time,row=>(100*row.time/took||0).toFixed(1)),"
   ,
    "{title:'what',text:true,get:row=>row.time,show:row=>el('span',{},...row.what)}],rows,{caption,memory:caption,inner:row=>row.more,open:true,limit:60});"
    "let about=[known?': what the system did was not recorded then':': prof_system.h records whether threads run, on Linux','',', but not running',''],rest=ran.reduce((left,{time})=>left-time,parts[READY]),ready=ran.map(row=>({...row,what:['thread ',thread(row.track,start),' ran on its processor']}));"
    "if(rest>0)ready.push({time:rest,what:['programs, or threads that recorded nothing, ran; or a quota was used up']});"
    "let more=[,,ready,"
    "waits.map(wait=>({...wait,what:wait.did?wait.did.reduce((left,{time})=>left-time,.75*wait.time)>0?['for what no record names']:['as it seems for ',...doing(wait.did)[0].what]:[...waitWords(report,wait,scope,thread),wait.count>1?`, ${grouped(wait.count)} times`:'']}))];"
    "let rows=parts.map((time,kind)=>({id:kind,time,what:[el('b',{},STATE_NAMES[kind]),about[kind]],more:more[kind]})).filter(({time})=>time),others=[memory.count||memory.frees?`allocations: ${grouped(memory.count)}, of ${bytes(memory.bytes)}; frees: ${grouped(memory.frees)}`:'',"
    "...counters.map(({series,from,to,around})=>`${series.name}: from ${measured(from,series.unit)} to ${measured(to,series.unit)}${around?', sampled before and after it':''}`),"
    "...messages.map(({time,text})=>`${ns(time-start)} after its begin: ${text}`),lost?`${grouped(lost)} events of its thread in it were lost`:''].filter(Boolean);"
    "return el('div.why',{tabindex:0},el('h2',{},`${call.name} took ${ns(took)}${cut?` at least: ${cut}`:count>1?`, ${compared(took,median,`the median of ${grouped(count)} ${call.noun}`)}`:''}`),"
    "el('p.note',{},`at ${moment(start)} on thread `,thread(track,start),chosen?'':'. Nothing is selected, so this is the slowest.'),"
    "list('Its time',rows),list('Its scopes, by the time without scopes inside them',inner.map(({time,name,place,calls,longest,usual:row})=>({time,what:name?[scope(place),"
    "calls>1?` in ${grouped(calls)} calls; the longest took ${ns(longest)}`:name===key?' itself':` took ${ns(time)}`,calls&&row&&row.whole>1?`, ${compared(longest,percentile(row,.5),'its median')}`:'']:['outside of scopes']}))),"
    "devices[0]&&list('Devices meanwhile',doing(devices)),"
    "el('ul',{'aria-label':'What else happened'},...others.map(text=>el('li',{},text))))"
    "}"
    "const PARTS=500;"
    "function requestSeries(report){"
    "if(report.requests)return report.requests;"
    "let all=[],put=(process,name,step,list)=>{"
    "let sorted=list.filter(({flags})=>!flags).map(({start,end})=>end-start).sort((a,b)=>a-b);"
    "if(list.length)all.push({process,name,step,list,ids:new Set(list.map(({id})=>id)),whole:sorted.length,usual:sorted[sorted.length-1>>1]})"
    "};"
    "for(let process of report.processes){"
    "for(let{name,spans}of process.spanGroups)\n"
    "put(process,name,false,spans.map(span=>({id:Number(span.id),start:span.start,end:span.start+span.duration,flags:span.flags,args:span.args,track:report.tracks[span.track],endTrack:report.tracks[span.endTrack]})))"
    "}"
    "for(let{noun,name,start,duration,at,number,track:{process}}of report.bars)\n"
    "if(noun==='step')put(process,name,true,at.map((place,i)=>({id:Number(number[i]),start:start[i],end:start[i]+duration[i],flags:place.track.levels[place.depth].flags.get(place.i)||0,track:place.track,endTrack:place.track,place})));"
    "return report.requests=all.sort((a,b)=>a.step-b.step||b.list.length-a.list.length)"
    "}"
    "const stepsWith=(report,process,id)=>requestSeries(report).filter(each=>each.step&&each.process===process).flatMap(({name,list})=>list.filter(each=>each.id===id).map(each=>({...each,name})));"
    "function marksOf(report,series){"
    "if(series.marks)return series.marks;"
    "let marks=new Map(),put=(track,time,id)=>entryOf(marks,track,()=>[]).push([time,id]);"
   ,
    "for(let{id,start,end,track,endTrack}of series.step?[]:series.list){put(track,start,id);put(endTrack,end,id)}"
    "for(let{step,list}of requestSeries(report))if(step)for(let{id,start,track}of list)put(track,start,id);"
    "for(let{id,from,to,fromTrack,toTrack}of report.flows)if(series.ids.has(Number(id))){put(fromTrack,from,Number(id));put(toTrack,to,Number(id))}"
    "for(let list of marks.values())list.sort(([a],[b])=>a-b);"
    "return series.marks=marks"
    "}"
    "function innermost(report,track,time){"
    "for(let depth=track.levels.length-1;depth>=0;depth--){"
    "let place={track,depth,i:scopeAt(track.levels[depth],time)};"
    "if(place.i>=0&&labelAt(report,place).role!==ROLE_WAIT)return place"
    "}"
    "return null"
    "}"
    "const placeAround=({track,depth,i})=>depth?{track,depth:depth-1,i:scopeAt(track.levels[depth-1],track.levels[depth].start[i])}:null;"
    "const timesOfPlace=({track,depth,i})=>[track.levels[depth].start[i],track.levels[depth].endOf(i)];"
    "function requestParts(report,series,request){"
    "let{id,start,end,track,endTrack}=request,marks=marksOf(report,series),own=new Map(),names=[series.name],within=time=>time>=start&&time<=end,inside=flow=>within(flow.from)&&within(flow.to)&&!(series.ids.has(Number(flow.id))&&Number(flow.id)!==id),shared=place=>{"
    "let list=marks.get(place.track)||[],[from,to]=timesOfPlace(place);"
    "for(let k=firstIndex(list.length,at=>list[at][0]>=from);k<list.length&&list[k][0]<=to;k++)if(list[k][1]!==id)return true;"
    "return false"
    "};"
    "let fits=place=>{"
    "let[from,to]=timesOfPlace(place),common=min(to,end)-max(from,start);"
    "return common>=0&&(common*2>=to-from||to-from<=end-start)"
    "};"
    "let add=place=>{"
    "if(!place||!fits(place))return;"
    "for(let up=placeAround(place);up&&up.i>=0&&fits(up)&&!shared(up);up=placeAround(up))place=up;"
    "own.set(`${place.track.id}.${place.depth}.${place.i}`,place)"
    "};"
    "if(!series.step){add(innermost(report,track,start));add(innermost(report,endTrack,end))}"
    "for(let span of report.spans)if(span.mark&&Number(span.id)===id&&report.labels[span.label].name===series.name)add(innermost(report,report.tracks[span.track],span.start));"
    "for(let{place,name,start:from,end:to}of stepsWith(report,series.process,id))if(from<=end&&to>=start){add(place);names.push(name)}"
    "let keys=new Set(names.flatMap(name=>[name,`${name}_id`])),left=20000;"
    "for(let each of series.process.tracks)each.levels.forEach((level,depth)=>{"
    "let{index,place}=level.args,[first,last]=indexRange(level,start,end);"
    "for(let k=firstIndex(index.length,at=>index[at]>=first);k<index.length&&index[k]<last&&left-->0;k++)\n"
    "if(report.argsAt(place[k]).some(([key,v])=>keys.has(key)&&Number(v)===id))add({track:each,depth,i:index[k]})"
    "});"
    "let flows=report.flows.filter(inside);"
    "for(let flow of flows)if(Number(flow.id)===id){add(innermost(report,flow.fromTrack,flow.from));add(innermost(report,flow.toTrack,flow.to))}"
    "let contains=(at,time)=>[...own.values()].some(place=>place.track===at&&timesOfPlace(place)[0]<=time&&timesOfPlace(place)[1]>=time);"
    "for(let before=-1;before!==own.size;){"
    "before=own.size;"
    "for(let flow of flows)if(contains(flow.fromTrack,flow.from))add(innermost(report,flow.toTrack,flow.to))"
    "}"
    "let parts=[...own.values()].map(place=>({place,track:place.track,depth:place.depth,start:timesOfPlace(place)[0],end:timesOfPlace(place)[1]}));"
    "return{flows,parts:parts.filter(a=>!parts.some(b=>b!==a&&b.track===a.track&&b.depth<a.depth&&b.start<=a.start&&b.end>=a.end)).sort((a,b)=>a.start-b.start||b.end-a.end)}"
    "}"
    "function whose(report,series,track,time){"
    "for(let place=innermost(report,track,time);place&&place.i>=0;place=placeAround(place)){"
    "let label=labelAt(report,place);"
    "if(label.role===ROLE_STEP)return`${label.name} ${stepNumber(report,place)}`;"
    "let list=marksOf(report,series).get(track)||[],[from,to]=timesOfPlace(place),k=firstIndex(list.length,at=>list[at][0]>=from);"
   ,
    "if(k<list.length&&list[k][0]<=to)return`${series.name} ${list[k][1]}`"
    "}"
    "return''"
    "}"
    "function busyIn(report,series,{track,depth},from,to){"
    "let sums=new Map();"
    "for(let d=0;d<=depth;d++){"
    "let level=track.levels[d],[first,last]=level?indexRange(level,from,to):[0,0];"
    "for(let i=first;i<last;i++){"
    "let place={track,depth:d,i},label=labelAt(report,place),end=level.endOf(i),of=label.role===ROLE_STEP?'':whose(report,series,track,max(from,level.start[i])),text=label.role===ROLE_STEP?`${label.name} ${stepNumber(report,place)}`:label.name+(of&&` of ${of}`);"
    "if(label.role!==ROLE_WAIT&&!(d<depth&&end>=to))sums.set(text,(sums.get(text)||0)+min(end,to)-max(level.start[i],from))"
    "}"
    "}"
    "return[...sums].sort(([,a],[,b])=>b-a)"
    "}"
    "function requestRows(report,series,request,parts){"
    "let rows=[],{start,end}=request,covered=start,before=request.track,left=0,gap=(to,next,part)=>{"
    "if(to<=covered||covered>=end)return;"
    "let busy=busyIn(report,series,next,covered,to),idle=busy.reduce((sum,[,time])=>sum-time,to-covered);"
    "rows.push({kind:'gap',name:next.track===before?'between its scopes':'in queue',track:next.track,start:covered,end:to,depth:0,part,"
    "why:[': thread ',next.track,busy.length?' was busy with '+busy.slice(0,3).map(([text,time])=>`${text} for ${ns(time)}`).join(', ')+(idle>0?`, and in no other scope for ${ns(idle)}`:''):' was in no scope']})"
    "};"
    "parts.forEach((part,n)=>{"
    "let{track}=part;"
    "gap(min(part.start,end),part,n);"
    "rows.push({kind:'scope',...part,depth:0,part:n});"
    "let waits=waitsOf(report,track,part.start,part.end).filter(wait=>(wait.end-wait.start)*PARTS>=end-start),inner=[];"
    "for(let depth=part.depth+1;depth<track.levels.length;depth++){"
    "let level=track.levels[depth],[first,last]=indexRange(level,part.start,part.end);"
    "for(let i=first;i<last;i++){"
    "let place={track,depth,i},from=level.start[i],to=level.endOf(i);"
    "if(labelAt(report,place).role===ROLE_WAIT)continue;"
    "if((to-from)*PARTS<end-start)left++;"
    "else inner.push({kind:'inner',place,track,start:from,end:to,depth:depth-part.depth,part:n})"
    "}"
    "}"
    "for(let wait of waits){"
    "let around=inner.filter(row=>row.start<=wait.start&&row.end>=wait.end).sort((a,b)=>b.depth-a.depth)[0],long=wait.end-wait.start,same=around&&!around.wait&&(around.end-around.start-long)*100<long?around:null,row={kind:'wait',wait,track,start:wait.start,end:wait.end,depth:around?around.depth+1:1,part:n};"
    "if(same)Object.assign(same,row,{place:null,depth:same.depth,start:same.start,end:same.end});else inner.push(row);"
    "(same||row).for=wait.holder?whose(report,series,wait.holder,wait.start):''"
    "}"
    "rows.push(...inner.sort((a,b)=>a.start-b.start||a.depth-b.depth));"
    "if(part.end>=covered)[covered,before]=[part.end,track]"
    "});"
    "gap(end,{track:request.endTrack,depth:0},parts.length);"
    "return{rows,left}"
    "}"
    "function criticalPath(report,request,parts,flows){"
    "let path=[],at=(track,time)=>parts.findIndex(part=>part.track===track&&part.start<=time&&part.end>=time),arrivals=flows.map(flow=>({...flow,part:at(flow.toTrack,flow.to),made:at(flow.fromTrack,flow.from)})).filter(({part,made})=>part>=0&&made>=0&&part!==made),waited=({toTrack,from,to,made})=>(to-from)*20<from-parts[made].start||waitsOf(report,toTrack,from,to).length>0,before=(not,time)=>parts.reduce((best,part,i)=>i!==not&&part.start<time&&(best<0||part.end>parts[best].end)?i:best,-1),put=(part,from,to)=>{if(to>max(from,request.start))path.unshift({part,start:max(from,request.start),end:to})},time=request.end,part=before(-1,time);"
    "if(part>=0&&parts[part].end<time){put(-1,parts[part].end,time);time=parts[part].end}"
    "while(part>=0&&time>request.start){"
    "let led=arrivals.filter(flow=>flow.part===part&&flow.to<=time&&flow.from<time&&waited(flow)).sort((a,b)=>b.to-a.to)[0],late=led&&led.from>parts[part].start,begin=late?led.to:parts[part].start;"
    "put(part,begin,time);"
   ,
    "let flow=late?led:arrivals.filter(each=>each.part===part&&each.from<=begin).sort((a,b)=>a.to-b.to)[0],next=flow?flow.made:before(part,begin);"
    "time=begin;"
    "if(next<0)break;"
    "let reached=parts[next].end>time?flow?flow.from:time:parts[next].end;"
    "put(-1,reached,time);"
    "[part,time]=[next,reached]"
    "}"
    "if(time>request.start)put(-1,request.start,time);"
    "return path"
    "}"
    "const parentKey=/^parent(_span)?(_id)?$/;"
    "const parentOfSpan=({args})=>{const pair=(args||[]).find(([key])=>parentKey.test(key));return pair?Number(pair[1]):null};"
    "function relativesOf(report,series,request){"
    "let all=requestSeries(report).filter(each=>!each.step&&each.process===series.process&&!series.step).flatMap(each=>each.list.map(one=>({...one,series:each}))),parent=parentOfSpan(request),within=each=>each.start>=request.start&&each.end<=request.end,names=each=>parentOfSpan(each)===request.id||(each.args||[]).some(([key,v])=>(key===series.name||key===series.name+'_id')&&Number(v)===request.id);"
    "return{parents:all.filter(each=>each.id===parent&&each.start<=request.end&&each.end>=request.start&&each.start!==request.start),"
    "children:all.filter(each=>!(each.series===series&&each.id===request.id)&&(names(each)||(each.id===request.id&&within(each))))}"
    "}"
    "function requestOf(report,series,request){"
    "let{parts,flows}=requestParts(report,series,request),{rows,left}=requestRows(report,series,request,parts),path=criticalPath(report,request,parts,flows);"
    "for(let row of rows)row.critical=path.some(({part,start,end})=>row.kind==='scope'?part===row.part:row.kind==='gap'&&part<0&&row.start<=start&&row.end>=end);"
    "return{rows,left,path,parts,flows:flows.filter(flow=>parts.some(({track,start,end})=>track===flow.fromTrack&&start<=flow.from&&end>=flow.from)),...relativesOf(report,series,request)}"
    "}"
    "function chosenRequest({report,request}){"
    "let all=requestSeries(report),series=all.find(each=>request&&each===request.series)||all[0],one=request&&request.series===series&&request.one;"
    "return[series,one||series.list.reduce((best,each)=>each.end-each.start>best.end-best.start?each:best)]"
    "}"
    "const requestName=(series,one)=>`${series.name} ${one.id}`;"
    "function requestPanel(panels){"
    "let{app}=panels,{report}=app,all=requestSeries(report),[series,one]=chosenRequest(app),{rows,left,path,flows,parents,children}=requestOf(report,series,one),wall=one.end-one.start||1,go=(next,each)=>app.openRequest(next,each),thread=(track,time)=>linkTo(track.title,()=>app.goTo(time,track)),scope=place=>linkTo(labelAt(report,place).name||'(unnamed)',()=>app.show(place)),number=el('input',{type:'search',size:10,placeholder:'Number','aria-label':'Number of the request',onchange:()=>{"
    "let found=series.list.find(({id})=>id===Number(number.value)),[other]=all.filter(each=>each.ids.has(Number(number.value)));"
    "if(number.value&&(found||other))go(found?series:other,found||other.list.find(({id})=>id===Number(number.value)));"
    "else number.setCustomValidity(`No span or step has the number ${number.value}`),number.reportValidity()"
    "},oninput:()=>number.setCustomValidity('')});"
    "let slowest=[...series.list].sort((a,b)=>b.end-b.start-a.end+a.start).slice(0,50),picture=row=>{"
    "let from=max(0,min(1,(row.start-one.start)/wall)),to=max(from,min(1,(row.end-one.start)/wall));"
    "return el('span.fall',{},el('i',{class:row.kind,style:{left:`${100*from}%`,width:`${100*(to-from)}%`,background:row.place?css(labelAt(report,row.place).rgb):''}}))"
    "};"
    "let what=row=>{"
    "let name=row.place&&labelAt(report,row.place);"
    "if(row.kind==='gap')return[el('b',{},row.name),row.why[0],thread(row.why[1],row.start),row.why[2]];"
    "if(row.kind==='wait')return['waited ',...waitWords(report,row.wait,scope,thread),row.for?`, which worked for ${row.for}`:''];"
   ,
    "return[...row.kind==='scope'?[thread(row.track,row.start),': ']:[],scope(row.place),name.role===ROLE_STEP?` ${stepNumber(report,row.place)}`:'']"
    "};"
    "let columns=[by('from',row=>row.order,row=>ns(row.start-one.start)),times('took',row=>row.end-row.start),by('when',row=>row.start,picture),"
    "{title:'what',text:true,get:row=>row.order,show:row=>el('span',{style:{paddingLeft:`${min(row.depth,20)*14}px`},class:row.critical?'critical':null},...what(row))}];"
    "rows.forEach((row,order)=>{row.order=order});"
    "let partName=({part,start,end})=>{"
    "let row=rows.find(each=>part<0?each.kind==='gap'&&each.start<=start&&each.end>=end:each.kind==='scope'&&each.part===part);"
    "return row&&row.kind==='scope'?what(row):[row?row.name:'on its way']"
    "};"
    "let longest=({part,start,end})=>rows.filter(row=>row.kind==='wait'&&row.part===part&&row.start>=start&&row.end<=end).sort((a,b)=>b.end-b.start-a.end+a.start)[0],relatives=(title,list)=>list.length?el('p',{},title,...list.slice(0,20).flatMap((each,i)=>[i?', ':'',linkTo(requestName(each.series,each),()=>go(each.series,each)),` (${ns(each.end-each.start)})`]),list.length>20?` and ${grouped(list.length-20)} more`:''):null,cut=truncatedText(one.flags);"
    "app.flowList=flows;"
    "return[tools(all.length>1?select('Which requests',all.map((each,i)=>[i,`${each.name} (${grouped(each.list.length)} ${each.step?'steps':'spans'})`]),all.indexOf(series),i=>go(all[i])):null,"
    "select('The slowest',slowest.map((each,i)=>[i,`${requestName(series,each)}: ${ns(each.end-each.start)}`]),slowest.indexOf(one),i=>go(series,slowest[i])),number,"
    "el('button',{onclick:()=>app.zoomTo(one.start,one.end,true)},'Show its time')),"
    "el('div.why.request',{tabindex:0},el('h2',{},`${requestName(series,one)} took ${ns(one.end-one.start)}${cut?` at least: ${cut}`:series.whole>1?`, ${compared(one.end-one.start,series.usual,`the median of ${grouped(series.whole)}`)}`:''}`),"
    "el('p.note',{},`at ${moment(one.start)}, begun on thread `,thread(one.track,one.start),series.step?'':', ended on thread ',series.step?'':thread(one.endTrack,one.end),left?`; left out, because shorter than 1/${PARTS} of it: ${grouped(left)}`:''),"
    "relatives('Parent: ',parents),relatives('Children: ',children),"
    "rows.length?table(columns,rows,{caption:'Its scopes, waits and gaps; bold: the critical path',up:true,memory:'request',limit:200})\n"
    ":el('p',{},`No scope is known to be a part of it: give its number to PROFILE_FLOW_OUT and PROFILE_FLOW_IN, to PROFILE_STEP, or to an argument \"${series.name}\" of a scope.`),"
    "table([times('time',part=>part.end-part.start),by('%',part=>part.end-part.start,part=>(100*(part.end-part.start)/wall).toFixed(1)),"
    "{title:'what',text:true,get:part=>part.start,show:part=>{let wait=longest(part);return el('span',{},...partName(part),...wait?[': ',...what(wait)]:[])}}],path,"
    "{caption:'The critical path, in order',sort:2,up:true,memory:'path'}),"
    "flows.length?table([by('at',flow=>flow.from,flow=>ns(flow.from-one.start)),times('took',flow=>flow.to-flow.from),{title:'flow (key L: the next)',text:true,get:flow=>flow.name,show:flow=>"
    "el('span',{},`${flow.name} ${flow.id}: `,thread(flow.fromTrack,flow.from),' to ',thread(flow.toTrack,flow.to))}],flows,{caption:'Its flows',up:true,memory:'flows',limit:60}):null)]"
    "}"
    "const endings=({processes})=>processes.filter(({about,live})=>!live&&!Number(about.get('complete')||0)&&about.get('alive')!=='1');"
    "function openScopes(track){"
    "return track.levels.map((level,depth)=>({track,depth,i:level.count-1})).filter(({depth,i})=>track.levels[depth].flags.get(i)&TRUNCATED_END)"
    "}"
    "const lastOf=({levels,points})=>levels.reduce((last,level)=>max(last,level.start[level.count-1],level.flags.get(level.count-1)&TRUNCATED_END?0:level.endOf(level.count-1)),points.count?points.time[points.count-1]:0);"
    "function endPanel(panels){"
    "let{app}=panels,{report}=app;"
   ,
    "return endings(report).flatMap(process=>{"
    "let rows=process.tracks.filter(track=>!track.device&&(track.levels.length||track.points.count)).map(track=>({track,open:openScopes(track),last:lastOf(track)})).sort((a,b)=>b.last-a.last),inner=({open})=>open.length?scopeOf(report,open.at(-1)):null,link=place=>linkTo(scopeOf(report,place).label.name||'(unnamed)',()=>app.show(place)),messages=report.messages.filter(({track})=>track.process===process).slice(-20);"
    "return[el('p.note',{},el('b',{},`${process.name}, process ${process.about.get('pid')}, ${process.about.get('crash')?`crashed: ${process.about.get('crash')}. `:'did not end its recording: '}`),process.about.get('crash')?'':'it crashed, was killed or left by _exit(). ',"
    "rows.length?`Thread ${rows[0].track.title} recorded last.`:'Nothing was recorded.',process.about.get('crash')?'':' With PROF_CRASH_REPORT=1 it says the signal.'),"
    "table([by('recorded last',row=>row.last,row=>ns(row.last)),links('thread',row=>row.track.title,row=>app.goTo(row.last,row.track)),"
    "{title:'scopes that are open',text:true,get:row=>row.open.length,show:row=>row.open.length?el('span.path',{},...row.open.flatMap((place,i)=>[i?' > ':'',link(place)])):'none'},"
    "{title:'where',text:true,get:row=>row.open.length?where(inner(row).label):''},"
    "by('the innermost for at least',row=>row.open.length?inner(row).duration:0,row=>row.open.length?ns(inner(row).duration):''),"
    "words('arguments',row=>row.open.length?inner(row).args.map(([key,v])=>`${key}=${shown(v)}`).join(', '):'')],rows,"
    "{caption:'Threads at the end',memory:'end',limit:100}),"
    "messages.length?table([moments('time',row=>row.time),words('thread',row=>row.track.title),words('text',row=>row.text)],messages,"
    "{caption:'The last messages',memory:'last messages',onpick:row=>app.goTo(row.time,row.track)}):'']"
    "})"
    "}"
    "const UNEVEN=1.2;"
    "function balanceGroups({processes,tracks}){"
    "let ranks=processes.some(({metadata})=>metadata.some(([key])=>key==='rank')),threads=tracks.filter(track=>track.levels.length&&!track.device);"
    "return[processes.length>1?[ranks?'Ranks':'Processes',ranks?'rank':'process',processes.map(({name,tracks:own})=>({name,tracks:own}))]:null,"
    "threads.length>1?['Threads','thread',threads.map(track=>({name:track.full,tracks:[track]}))]:null].filter(Boolean)"
    "}"
    "function*balanceSteps(report,from,to,groups,all){"
    "let rows=new Map();"
    "for(let[i,{tracks}]of groups.entries()){"
    "let own=new Set(tracks),stats=yield*statsSteps(report,from,to,track=>own.has(track));"
    "for(let{label,calls,total}of byFormat(stats.rows)){"
    "let row=entryOf(rows,label.name,()=>({label,calls:0,total:0,most:i,each:new Float64Array(groups.length),has:0}));"
    "row.calls+=calls;"
    "row.total+=total;"
    "row.each[i]+=total;"
    "row.has++;"
    "if(row.each[i]>row.each[row.most])row.most=i"
    "}"
    "}"
    "for(let row of rows.values()){"
    "row.mean=row.total/(all?groups.length:row.has);"
    "row.ratio=row.mean>0?row.each[row.most]/row.mean:0"
    "}"
    "return[...rows.values()]"
    "}"
    "function balancePanel(panels){"
    "let{app}=panels,{report}=app,all=balanceGroups(report),[title,noun,groups]=all.find(each=>each[0]===panels.balanceBy)||all[0],{from,to}=app.selection||report,rows=panels.balance(title,from,to,groups,noun!=='thread');"
    "if(!rows)return null;"
    "let bars=({each,most})=>el('span.each',{title:groups.slice(0,64).map(({name},i)=>`${name}: ${ns(each[i])}`).join('\\n')},"
    "...groups.slice(0,64).map((_,i)=>el('i',{class:i===most?'most':null,style:{height:`${max(1,16*each[i]/max(1,each[most]))}px`}})));"
    "let place=({label,most})=>{for(let track of groups[most].tracks)for(let level of track.levels)for(let i=0;i<level.count;i++)if(report.labels[report.nodes.label[level.node[i]]]===label)return{track,time:level.start[i]};return null};"
   ,
    "return[tools(all.length>1?select('By what',all.map(([each])=>[each,`by ${each.toLowerCase()}`]),title,each=>{panels.balanceBy=each;panels.render()}):null,"
    "el('span.note',{},`${grouped(groups.length)} ${title.toLowerCase()}; ${panels.rangeText()}. Red: at least ${UNEVEN} times the mean`)),"
    "table([words('scope',row=>row.label.name),counts('calls',row=>row.calls),times('total',row=>row.total),times('mean',row=>row.mean,`of a ${noun}`),times('max',row=>row.each[row.most]),"
    "by('max / mean',row=>row.ratio,row=>el(row.ratio>=UNEVEN?'b.bad':'span',{},row.ratio.toFixed(2))),"
    "links('most in',row=>groups[row.most].name,row=>{let at=place(row);if(at)app.goTo(at.time,at.track)}),"
    "by(`each ${noun}`,row=>row.ratio,bars)],rows,{caption:`Each scope by ${noun}`,sort:2,memory:'balance',onpick:row=>panels.pick(row.label)})]"
    "}"
    "const DEVIATIONS=2.5758;"
    "const SAMPLE=10000;"
    "const TENTHS=10,TENTHS_FROM=100;"
    "function judge(change,threshold){"
    "if(change.low>1+threshold)return'slower';"
    "if(change.high<1-threshold)return'faster';"
    "return change.high-change.low<=2*threshold?'same':'unsure'"
    "}"
    "function unknown(a,b){return{ratio:a>0?b/a:1,low:0,high:Infinity}}"
    "function labelsOf(report,process){"
    "let{label}=report.nodes,seen=new Set();"
    "for(let track of process.tracks)\n"
    "for(let level of track.levels)for(let i=0;i<level.count;i++)seen.add(label[level.node[i]]);"
    "return new Set(Array.from(seen,id=>scopeLabel(report.labels[id]).id))"
    "}"
    "function pairLabels(labels,used){"
    "let groups=new Map(),pairs=[],of=used.map(()=>new Int32Array(labels.length).fill(-1));"
    "used.forEach((ids,side)=>{"
    "for(let id of ids){"
    "let key=[labels[id].name,labels[id].category,labels[id].function].join('\\0');"
    "if(!groups.has(key))groups.set(key,[[],[]]);"
    "groups.get(key)[side].push(id)"
    "}"
    "});"
    "for(let group of groups.values()){"
    "for(let ids of group)ids.sort((x,y)=>labels[x].line-labels[y].line||x-y);"
    "for(let i=0;i<max(group[0].length,group[1].length);i++){"
    "group.forEach((ids,side)=>{if(i<ids.length)of[side][ids[i]]=pairs.length});"
    "pairs.push({a:i<group[0].length?group[0][i]:-1,b:i<group[1].length?group[1][i]:-1})"
    "}"
    "}"
    "return{pairs,of}"
    "}"
    "function productHigh(a,b){"
    "let low=(a&0xFFFF)*(b&0xFFFF),middle=(a>>>16)*(b&0xFFFF)+floor(low/65536),other=(a&0xFFFF)*(b>>>16)+middle%65536;"
    "return(a>>>16)*(b>>>16)+floor(middle/65536)+floor(other/65536)"
    "}"
    "class Chooser{"
    "constructor(){this.high=this.low=0}"
    "below(limit){"
    "let sum=this.low+0x7F4A7C15;"
    "this.low=sum>>>0;"
    "this.high=this.high+0x9E3779B9+(sum>0xFFFFFFFF?1:0)>>>0;"
    "let{high,low}=this,mix=(shift,timesHigh,timesLow)=>{"
    "low=(low^(low>>>shift|high<<32-shift))>>>0;"
    "high=(high^high>>>shift)>>>0;"
    "if(!timesLow)return;"
    "let carried=productHigh(low,timesLow)+Math.imul(high,timesLow)+Math.imul(low,timesHigh);"
    "low=Math.imul(low,timesLow)>>>0;"
    "high=carried>>>0"
    "};"
    "mix(30,0xBF58476D,0x1CE4E5B9);"
    "mix(27,0x94D049BB,0x133111EB);"
    "mix(31,0,0);"
    "return(high%limit*(4294967296%limit)+low%limit)%limit"
    "}"
    "}"
    "function eachScope(track,from,to,visit){"
    "let{levels}=track,next=[],ends=[],heads=new Float64Array(levels.length),look=depth=>{heads[depth]=next[depth]<ends[depth]?levels[depth].start[next[depth]]:Infinity};"
    "levels.forEach((level,depth)=>{"
    "[next[depth],ends[depth]]=indexRange(level,from,to);"
    "look(depth)"
    "});"
    "for(;;){"
    "let best=0;"
    "for(let depth=1;depth<heads.length;depth++)if(heads[depth]<heads[best])best=depth;"
    "if(!(heads[best]<Infinity))return;"
    "visit(levels[best],next[best]++);"
    "look(best)"
    "}"
    "}"
    "function samplesOf(report,process,from,to){"
    "let label=Array.from(report.nodes.label,id=>scopeLabel(report.labels[id]).id),samples=new Map(),chooser=new Chooser();"
    "for(let track of process.tracks){"
    "eachScope(track,from,to,(level,i)=>{"
    "let start=level.start[i],ns=level.durationOf(i),id=label[level.node[i]];"
    "if(start<from||start+ns>to||level.flags.has(i))return;"
    "let sample=samples.get(id);"
   ,
    "if(!sample)samples.set(id,sample={seen:0,start:[],ns:[]});"
    "let at=sample.seen++;"
    "if(at>=SAMPLE)at=chooser.below(sample.seen);"
    "if(at>=SAMPLE)return;"
    "sample.start[at]=start;"
    "sample.ns[at]=ns"
    "})"
    "}"
    "for(let sample of samples.values())byTime(sample);"
    "return samples"
    "}"
    "function byTime(sample){"
    "let{start,ns}=sample;"
    "if(start.every((time,i)=>!i||time>start[i-1]))return;"
    "let order=Uint32Array.from(start,(_,i)=>i).sort((x,y)=>start[x]-start[y]||ns[x]-ns[y]);"
    "sample.start=Array.from(order,i=>start[i]);"
    "sample.ns=Array.from(order,i=>ns[i])"
    "}"
    "function medianOf(sample){return Float64Array.from(sample.ns).sort()[ceil(sample.ns.length/2)-1]}"
    "function pairsBelow(a,b,ratio){"
    "let pairs=0;"
    "for(let i=0,j=0;i<a.length;i++){"
    "while(j<b.length&&b[j]<=ratio*a[i])j++;"
    "pairs+=j"
    "}"
    "return pairs"
    "}"
    "function ratioAt(a,b,rank){"
    "let middle=b[b.length>>1]/a[a.length>>1],low=middle,high=middle;"
    "while(low>1e-30&&pairsBelow(a,b,low)>=rank)low/=1.1;"
    "while(high<1e30&&pairsBelow(a,b,high)<rank)high*=1.1;"
    "while(high-low>1e-6*low){"
    "let half=low+(high-low)/2;"
    "if(pairsBelow(a,b,half)>=rank)high=half;else low=half"
    "}"
    "return high"
    "}"
    "function hodgesLehmann(a,b){return ratioAt(a,b,(a.length*b.length+1)/2)}"
    "function rankChange(a,b){"
    "let pairs=a.length*b.length,spread=Math.sqrt(pairs*(a.length+b.length+1)/12),change=unknown(1,hodgesLehmann(a,b)),out=floor(pairs/2-DEVIATIONS*spread);"
    "if(pairs/2<DEVIATIONS*spread)return change;"
    "change.low=ratioAt(a,b,out+1);"
    "change.high=ratioAt(a,b,pairs-out);"
    "return change"
    "}"
    "function withinStep(ns,number){"
    "let share=(number*2654435761%65536+.5)/65536;"
    "return ns>=1?ns+share-.5:share/2"
    "}"
    "function timesOf(sample,from,to){"
    "let times=new Float64Array(to-from);"
    "for(let i=from;i<to;i++)times[i-from]=withinStep(sample.ns[i],i);"
    "return times.sort()"
    "}"
    "function widenByTenths(a,b,change){"
    "let parts=[],averages=[],part=(sample,i)=>{"
    "let n=sample.ns.length;"
    "return timesOf(sample,floor(n*i/TENTHS),floor(n*(i+1)/TENTHS))"
    "};"
    "for(let i=0;i<TENTHS;i++){"
    "parts.push(hodgesLehmann(part(a,i),part(b,i)));"
    "for(let each of parts)averages.push((parts[i]+each)/2)"
    "}"
    "averages.sort((x,y)=>x-y);"
    "change.low=min(change.low,averages[3]);"
    "change.high=max(change.high,averages[averages.length-4])"
    "}"
    "function shiftOf(a,b){"
    "if(!a||!b||!a.ns.length||!b.ns.length)return unknown(0,0);"
    "let change=rankChange(timesOf(a,0,a.ns.length),timesOf(b,0,b.ns.length));"
    "if(a.ns.length>=TENTHS_FROM&&b.ns.length>=TENTHS_FROM)widenByTenths(a,b,change);"
    "return change"
    "}"
    "const STUDENT=[[1,63.657],[2,9.925],[3,5.841],[4,4.604],[5,4.032],[6,3.707],[7,3.499],[8,3.355],[9,3.25],"
    "[10,3.169],[12,3.055],[15,2.947],[20,2.845],[30,2.75],[60,2.66],[120,2.617],[1e9,DEVIATIONS]];"
    "function dispersionOf(tenths,expected){"
    "let mean=tenths.reduce((sum,value)=>sum+value,0)/TENTHS,variance=tenths.reduce((sum,value)=>sum+(value-mean)**2,0)/(TENTHS-1);"
    "return expected>0&&variance>expected?variance/expected:1"
    "}"
    "function varianceOf(s){return max(0,s.squares/s.n-(s.sum/s.n)**2)}"
    "function meanDispersion(s){"
    "if(s.n<TENTHS_FROM)return 1;"
    "let size=i=>floor(s.n*(i+1)/TENTHS)-floor(s.n*i/TENTHS);"
    "return dispersionOf(s.tenths.map((sum,i)=>sum/size(i)),varianceOf(s)*TENTHS/s.n)"
    "}"
    "function sumChange(a,b,scale){"
    "let x=a.sum*scale[0],y=b.sum*scale[1],change=unknown(x,y);"
    "if(a.n<2||b.n<2||!(x>0))return change;"
    "let dispersion=max(meanDispersion(a),meanDispersion(b)),[va,vb]=[a,b].map((s,i)=>dispersion*varianceOf(s)*s.n*s.n/(s.n-1)*scale[i]**2),both=va+vb,freedom=both>0?both*both/(va*va/(a.n-1)+vb*vb/(b.n-1)):1e9,margin=STUDENT.filter(([n],i)=>!i||n<=freedom).pop()[1]*Math.sqrt(both);"
    "change.low=(y-margin)/x;"
    "change.high=(y+margin)/x;"
    "return change"
    "}"
    "function extentOf(process){"
    "let from=Infinity,to=0;"
    "for(let{levels,points}of process.tracks){"
    "for(let level of levels){"
    "from=min(from,level.start[0]);"
    "to=max(to,level.endOf(level.count-1))"
    "}"
   ,
    "if(points.count){"
    "from=min(from,points.time[0]);"
    "to=max(to,points.time[points.count-1])"
    "}"
    "}"
    "return[from,to]"
    "}"
    "function mostOfBoth([a,b]){"
    "let best=null;"
    "for(let[name,n]of a)\n"
    "if(b.get(name)>0&&n>0&&(!best||min(n,b.get(name))>min(...best.of)))best={name,of:[n,b.get(name)]};"
    "return best"
    "}"
    "function measures(report,processes,stats){"
    "let{from,to}=stats[0],list=[],frames=mostOfBoth(processes.map(process=>new Map(report.frames.filter(series=>series.track.process===process).map(({name,start})=>"
    "[name,firstIndex(start.length,i=>start[i]>=to)-firstIndex(start.length,i=>start[i]>=from)]))));"
    "let steps=mostOfBoth(stats.map(({rows})=>new Map(rows.filter(row=>row.label.role===ROLE_STEP).map(row=>[row.label.name,row.calls]))));"
    "if(frames)list.push({id:'frame',title:`per frame (${frames.name})`,of:frames.of});"
    "if(steps)list.push({id:'step',title:`per step (${steps.name})`,of:steps.of});"
    "let seconds=processes.map(process=>{"
    "let[first,last]=extentOf(process);"
    "return max(0,min(to,last)-max(from,first))/1e9"
    "});"
    "if(min(...seconds)>0)list.push({id:'second',title:'per second recorded',of:seconds});"
    "list.push({id:'run',title:'per recording',of:[1,1]});"
    "return list"
    "}"
    "function selfTimes(report,process,stats){"
    "let{from,to}=stats,sums=new Map();"
    "for(let{levels}of process.tracks){"
    "let inRange=(depth,i)=>levels[depth].groups?.get(i)?.busy?\?max(0,min(levels[depth].endOf(i),to)-max(levels[depth].start[i],from));"
    "levels.forEach((level,depth)=>{"
    "allSteps(selfSteps(levels,depth,...indexRange(level,from,to),inRange,(i,self)=>{"
    "let n=level.node[i],time=max(0,self),calls=level.groups?.get(i)?.calls||1,sum=sums.get(n);"
    "if(!sum)sums.set(n,sum={n:0,sum:0,squares:0,tenths:new Array(10).fill(0)});"
    "sum.n+=calls;"
    "sum.tenths[floor((10*sum.n-1)/stats.calls[n])]+=time;"
    "sum.sum+=time;"
    "sum.squares+=time*time/calls"
    "}))"
    "})"
    "}"
    "return sums"
    "}"
    "function differenceTree(report,pairing,stats,sums,per,side){"
    "let{nodes,labels}=report,all=[],make=(pair,up)=>{"
    "let node={pair,of:[null,null],change:null,width:0,children:[],inner:new Map(),up};"
    "all.push(node);"
    "return node"
    "};"
    "let root=make(-1);"
    "stats.forEach(({calls,total,self},which)=>{"
    "let made=new Array(nodes.count),needed=new Uint8Array(nodes.count);"
    "for(let n=nodes.count-1;n>0;n--)if(needed[n]||calls[n])needed[n]=needed[nodes.parent[n]]=1;"
    "made[0]=root;"
    "for(let n=1;n<nodes.count;n++){"
    "if(!needed[n])continue;"
    "let up=made[nodes.parent[n]],pair=pairing.of[which][scopeLabel(labels[nodes.label[n]]).id];"
    "if(!up.inner.has(pair)){"
    "up.inner.set(pair,make(pair,up));"
    "up.children.push(up.inner.get(pair))"
    "}"
    "made[n]=up.inner.get(pair);"
    "if(calls[n])made[n].of[which]={total:total[n]/per[which],self:max(0,self[n])/per[which],calls:calls[n]/per[which],sum:sums[which].get(n)}"
    "}"
    "});"
    "for(let node of all){"
    "let[a,b]=node.of;"
    "if(a&&b)node.change=sumChange(a.sum,b.sum,[1/per[0],1/per[1]])"
    "}"
    "for(let i=all.length-1;i>0;i--){"
    "let node=all[i],own=node.of[side]||node.of[1-side];"
    "node.width+=own?own.self:0;"
    "node.up.width+=node.width;"
    "node.children.sort((x,y)=>y.width-x.width)"
    "}"
    "root.children.sort((x,y)=>y.width-x.width);"
    "return root"
    "}"
    "function hash(text){"
    "let value=2166136261;"
    "for(let i=0;i<text.length;i++)value=Math.imul(value^text.charCodeAt(i),16777619)>>>0;"
    "return(value^value>>>15)>>>0"
    "}"
    "function fromHsl(hue,saturation,light){"
    "let a=saturation*min(light,1-light),part=n=>{"
    "let k=(n+hue/30)%12;"
    "return round(255*(light-a*max(-1,min(k-3,9-k,1))))"
    "};"
    "return[part(0),part(8),part(4)]"
    "}"
    "const abgr=([r,g,b])=>(0xFF000000|b<<16|g<<8|r)>>>0;"
    "const css=([r,g,b])=>`rgb(${r},${g},${b})`;"
    "function colorLabels(labels,dark){"
    "for(let label of labels){"
    "let{base,name}=label.format||label,bits=hash(base||name),light=dark?.69:.72;"
    "do label.rgb=label.color?[label.color>>16&255,label.color>>8&255,label.color&255]:fromHsl(bits%360,dark?.42:.58,(light-=.01)-(bits>>>12)%7/100);"
   ,
    "while(!dark&&!label.color&&luminance(label.rgb)>.295);"
    "if(dark&&min(...label.rgb)>220)label.rgb=[70,76,86];"
    "label.ink=inkOn(label.rgb)"
    "}"
    "}"
    "function luminance(rgb){"
    "let[r,g,b]=rgb.map(c=>c>10?((c/255+.055)/1.055)**2.4:c/3295);"
    "return.2126*r+.7152*g+.0722*b"
    "}"
    "const inkOn=rgb=>luminance(rgb)>.179?'#000':'#fff';"
    "function differenceStyle(by,dark){"
    "let grey=dark?[104,110,120]:[140,146,156],full=by>0?dark?[224,92,60]:[232,96,64]:dark?[80,150,240]:[70,140,235],share=by?.25+.75*min(1,abs(by)):0,rgb=grey.map((c,i)=>round(c+(full[i]-c)*share));"
    "return{backgroundColor:css(rgb),color:inkOn(rgb)}"
    "}"
    "function nodeColors(report,background,dim){"
    "let{nodes,labels}=report,colors=new Uint32Array(nodes.count),dimmed=new Uint32Array(nodes.count);"
    "for(let n=1;n<nodes.count;n++){"
    "let label=labels[nodes.label[n]],faint=label.rgb.map((c,i)=>round(c*.18+background[i]*.82));"
    "dimmed[n]=abgr(faint);"
    "colors[n]=dim&&dim(label)?dimmed[n]:abgr(label.rgb)"
    "}"
    "return{colors,dimmed}"
    "}"
    "function parseQuery(text){"
    "let query={names:[],categories:[],args:[],compared:[],least:0,most:Infinity,empty:true};"
    "for(let word of text.match(/(?:\"[^\"]*\"?|[^\\s\"])+/g)||[]){"
    "let plain=word.replace(/\"/g,'').toLowerCase(),quoted=word[0]==='\"',[,bound,time]=/^([<>])=?(.+)$/.exec(quoted?'':plain)||[],[,key,sign,value]=/^([^<>=]+)([<>]=?|=)(.*)$/.exec(quoted?'':plain)||[],number=key?numberOfText(value):NaN;"
    "if(!plain)continue;"
    "query.empty=false;"
    "if(bound==='>'&&parseTime(time)>=0)query.least=parseTime(time);"
    "else if(bound&&parseTime(time)>=0)query.most=parseTime(time);"
    "else if(!quoted&&plain.startsWith('cat:'))query.categories.push(plain.slice(4));"
    "else if(sign==='=')query.args.push([key,value]);"
    "else if(number===number)query.compared.push([key,sign,number]);"
    "else query.names.push(plain)"
    "}"
    "return query"
    "}"
    "const numberOfText=text=>{const plain=text.replace(/(\\d),(?=\\d{3})/g,'$1');return plain&&Number.isFinite(Number(plain))?Number(plain):parseTime(text)};"
    "function labelMatches(query,label){"
    "let name=label.name.toLowerCase(),category=label.category.toLowerCase(),format=label.format?label.format.name.toLowerCase():'';"
    "return query.names.every(word=>name.includes(word)||format.includes(word))&&"
    "query.categories.every(word=>category.includes(word))"
    "}"
    "function findScopes(report,query,limit=20000){"
    "let{nodes,labels}=report,mine=new Uint8Array(nodes.count),hits=[],fits=labels.map(label=>labelMatches(query,label));"
    "for(let n=1;n<nodes.count;n++)mine[n]=fits[nodes.label[n]]?1:0;"
    "hits.more=false;"
    "for(let track of report.tracks){"
    "for(let depth=0;depth<track.levels.length;depth++){"
    "let level=track.levels[depth],listed=query.args.length+query.compared.length?level.args.index:null,n=listed?listed.length:level.count;"
    "for(let k=0;k<n;k++){"
    "let i=listed?listed[k]:k;"
    "if(i>=level.count||!mine[level.node[i]])continue;"
    "let duration=level.durationOf(i);"
    "if(duration<query.least||duration>query.most)continue;"
    "if(listed&&!argsMatch(query,report.argsAt(level.args.place[k])))continue;"
    "if(hits.length===limit){"
    "hits.more=true;"
    "return hits"
    "}"
    "hits.push({track,depth,i,start:level.start[i],duration})"
    "}"
    "}"
    "}"
    "return hits"
    "}"
    "function argsMatch(query,args){"
    "let has=(key,test)=>args.some(([name,v])=>name.toLowerCase()===key&&test(v));"
    "return query.args.every(([key,wanted])=>has(key,v=>shown(v).toLowerCase()===wanted||String(v).toLowerCase()===wanted||(typeof v!=='string'&&v!==null&&Number(v)===numberOfText(wanted))))&&"
    "query.compared.every(([key,sign,number])=>has(key,v=>typeof v!=='string'&&v!==null&&(sign[1]&&Number(v)===number||(sign[0]==='>'?Number(v)>number:Number(v)<number))))"
    "}"
    "const wordMatches=(word,v)=>typeof v==='string'?v.toLowerCase().includes(word):v!==null&&Number(v)===numberOfText(word);"
    "function findOthers(report,query,limit=5000){"
   ,
    "let{names,categories,args,compared,least,most}=query,timed=least>0||most<Infinity,plain=names.length>0&&!args.length&&!compared.length,found={values:[],threads:[],spans:[],messages:[],counters:[]},category=({category:own})=>categories.every(word=>own.toLowerCase().includes(word)),named=(...texts)=>names.every(word=>texts.some(text=>wordMatches(word,text))),few=list=>Object.assign(list.slice(0,limit),{more:list.length>limit});"
    "if(query.empty)return found;"
    "found.spans=few(report.spans.filter(span=>{"
    "let label=report.labels[span.label];"
    "return span.duration>=least&&span.duration<=most&&category(label)&&argsMatch(query,span.args)&&named(label.name,Number(span.id),...span.args.map(([,v])=>v))"
    "}));"
    "if(!plain)return found;"
    "if(!timed&&!categories.length){"
    "found.threads=report.tracks.filter(track=>named(track.full,Number(track.thread)));"
    "found.counters=report.counters.filter(({name,unit})=>named(name,unit))"
    "}"
    "if(!timed)found.messages=few(report.messages.filter(({text,label})=>named(text)&&category(label)));"
    "let left=300000;"
    "for(let track of report.tracks)track.levels.forEach((level,depth)=>level.args.index.forEach((i,k)=>{"
    "if(left--<=0||found.values.length>=limit)found.values.more=true;"
    "if(found.values.more||i>=level.count)return;"
    "let label=report.labels[report.nodes.label[level.node[i]]],duration=level.durationOf(i);"
    "if(duration<least||duration>most||labelMatches(query,label)||!category(label)||!named(label.name,...report.argsAt(level.args.place[k]).map(([,v])=>v)))return;"
    "found.values.push({track,depth,i,start:level.start[i],duration})"
    "}));"
    "return found"
    "}"
    "const $=id=>document.getElementById(id);"
    "function el(tag,properties={},...children){"
    "let[name,...classes]=tag.split('.'),element=document.createElement(name);"
    "if(classes.length)element.className=classes.join(' ');"
    "for(let[key,value]of Object.entries(properties)){"
    "if(key.startsWith('on'))element[key]=value;"
    "else if(key==='style')Object.assign(element.style,value);"
    "else if(value!==null&&value!==undefined&&value!==false)element.setAttribute(key,value===true?'':visible(String(value)))"
    "}"
    "element.append(...children.filter(child=>child!==null&&child!==undefined).map(child=>"
    "typeof child==='object'?child:document.createTextNode(visible(String(child)))));"
    "return element"
    "}"
    "function plainText(cell){return(cell instanceof Node?cell.textContent:String(cell?\?'')).replace(/[\\t\\r\\n]/g,' ')}"
    "const tools=(...children)=>el('div.bar-of-tools',{},...children);"
    "function select(title,list,chosen,choose){"
    "return el('select',{'aria-label':title,onchange:event=>choose(event.target.value)},"
    "...list.map(([value,text])=>el('option',{value,selected:String(value)===String(chosen)},text)))"
    "}"
    "function copy(button,text){"
    "let done=()=>{button.textContent='Copied'};"
    "if(navigator.clipboard)return void navigator.clipboard.writeText(text).then(done);"
    "let area=el('textarea');"
    "area.value=text;"
    "button.after(area);"
    "area.select();"
    "if(document.execCommand('copy'))done();"
    "area.remove()"
    "}"
    "function tell(text){$('live').textContent=text}"
    "const linkTo=(text,onclick)=>el('button.link',{onclick},text);"
    "let memories={};"
    "function forget(){memories={}}"
    "const by=(title,get,show)=>({title,get,show});"
    "const links=(title,get,pick)=>({title,text:true,get,show:row=>linkTo(get(row),()=>pick(row))});"
    "const words=(title,get,note)=>({title,get,note,text:true});"
    "const numbers=format=>(title,get,note)=>({title,note,get:row=>get(row)||0,show:row=>format(get(row))});"
    "const times=numbers(ns),moments=numbers(moment),counts=numbers(grouped),sizes=numbers(bytes);"
    "function table(columns,rows,options){"
    "let memory=options.memory?memories[options.memory]=memories[options.memory]||{}:{};"
    "if(memory.sort===undefined){"
    "memory.sort=options.sort||0;"
    "memory.up=Boolean(options.up)"
    "}"
   ,
    "let root=el('div.scroll',{tabindex:0,role:'region','aria-label':options.caption}),limit=options.limit||300;"
    "memory.folds=memory.folds||new Map();"
    "let isOpen=row=>memory.folds.has(row.id)?memory.folds.get(row.id):Boolean(options.open),draw=()=>{"
    "let{get}=columns[memory.sort],sign=memory.up?1:-1,inOrder=list=>list.map(row=>[get(row),row]).sort(([a],[b])=>"
    "sign*(typeof a==='string'?a.localeCompare(b):(a>b)-(a<b))).map(([,row])=>row);"
    "let within=new Set(),sorted=inOrder(rows).flatMap(row=>{"
    "let inner=options.inner&&isOpen(row)?inOrder(options.inner(row)||[]):[];"
    "for(let each of inner)within.add(each);"
    "return[row,...inner]"
    "});"
    "let head=el('tr',{},...columns.map((column,i)=>el('th',{scope:'col',title:column.note||null,"
    "class:column.text?'text':null,"
    "'aria-sort':i===memory.sort?memory.up?'ascending':'descending':null},"
    "el('button',{onclick:()=>{"
    "memory.up=i===memory.sort?!memory.up:Boolean(column.text);"
    "memory.sort=i;"
    "draw()"
    "}},column.title+(i===memory.sort?memory.up?' \\u25b4':' \\u25be':'')))));"
    "let body=sorted.slice(0,limit).map(row=>{"
    "let line=el('tr',{class:[options.picked&&options.picked(row)&&'picked',within.has(row)&&'within'].filter(Boolean).join(' ')||null});"
    "columns.forEach((column,i)=>{"
    "let shown=(column.show||column.get)(row),cell=el('td',{class:column.text?'text':null});"
    "if(i===0&&options.inner&&options.inner(row)){"
    "let open=isOpen(row),what=`${grouped(options.inner(row).length)} names`;"
    "cell.append(el('button.fold',{'aria-expanded':String(open),'aria-label':`${shown}: ${what}`,title:what,onclick:()=>{"
    "memory.folds.set(row.id,!open);"
    "draw()"
    "}},open?'\\u25be':'\\u25b8'))"
    "}"
    "if(i===0&&options.onpick)cell.append(linkTo(shown,()=>options.onpick(row)));"
    "else if(shown instanceof Node)cell.append(shown);"
    "else cell.textContent=visible(String(shown?\?''));"
    "if(column.text)cell.title=typeof shown==='string'?cell.textContent:'';"
    "line.append(cell)"
    "});"
    "if(options.onpick)line.ondblclick=()=>options.onpick(row);"
    "return line"
    "});"
    "let more=sorted.length>limit?el('button',{onclick:()=>{limit*=4;draw()}},"
    "`Show more: ${grouped(sorted.length-limit)} rows are left`):null;"
    "let button=el('button.copy',{onclick:event=>copy(event.target,[columns.map(c=>c.title),"
    "...sorted.map(row=>columns.map(c=>plainText((c.show||c.get)(row))))].map(line=>line.join('\\t')).join('\\n'))},'Copy');"
    "root.replaceChildren(el('table',{},el('caption',{},options.caption+' ',button),el('thead',{},head),el('tbody',{},...body)));"
    "if(more)root.append(more)"
    "};"
    "draw();"
    "return root"
    "}"
    "const NARROW=.0015,LEVELS=60,BOXES=3000;"
    "const PART=500;"
    "function restOf(node,first,end,widthOf){"
    "let children=node.children.slice(first,end),width=children.reduce((sum,child)=>sum+widthOf(child),end<node.children.length?0:node.deeper||0);"
    "return width>0?{rest:`${first}-${end}`,up:node,children,width}:null"
    "}"
    "function restFrom(key){"
    "let match=/^(\\d+)-(\\d+)$/.exec(String(key));"
    "return match&&[Number(match[1]),Number(match[2])]"
    "}"
    "function countRest(rest){"
    "let count=0,levels=0,more=rest.children.length===0;"
    "for(let level=rest.children;level.length;level=level.flatMap(node=>node.children)){"
    "count+=level.length;"
    "levels++;"
    "more=more||level.some(node=>node.deeper)"
    "}"
    "return{count,levels,more}"
    "}"
    "function flameBoxes(root,widthOf){"
    "let boxes=[],sizeOf=node=>node.rest===undefined?widthOf(node):node.width,level=[{node:root,left:0,width:1,depth:root.up?0:-1}];"
    "if(root.up)boxes.push(level[0]);"
    "while(level.length){"
    "let next=[],deep=level[0].depth+1>=LEVELS||boxes.length>=BOXES;"
    "for(let{node,left,width,depth}of level){"
    "let shareOf=size=>sizeOf(node)>0?width*min(1,size/sizeOf(node)):0,x=left,n=0;"
    "for(;!deep&&n<node.children.length&&shareOf(widthOf(node.children[n]))>=NARROW;n++){"
    "let box={node:node.children[n],left:x,width:shareOf(widthOf(node.children[n])),depth:depth+1};"
    "x+=box.width;"
    "boxes.push(box);"
    "next.push(box)"
    "}"
   ,
    "let count=node.children.length,parts=n===0&&!deep&&node.rest!==undefined?max(PART,ceil(count/PART)):max(1,count);"
    "do{"
    "let rest=restOf(node,n,n+=min(parts,count-n),widthOf);"
    "if(!rest)break;"
    "boxes.push({node:rest,left:x,width:shareOf(rest.width),depth:depth+1,deep:deep||count===0});"
    "x+=shareOf(rest.width)"
    "}while(n<count)"
    "}"
    "level=next"
    "}"
    "return boxes"
    "}"
    "function along(root,path,key,widthOf){"
    "for(let id of path||[]){"
    "let part=restFrom(id),next=part?restOf(root,...part,widthOf):root.children.find(child=>child[key]===id);"
    "if(!next)break;"
    "root=next"
    "}"
    "return root"
    "}"
    "function zoomed(node,before,key){"
    "let path=[];"
    "for(let at=node;at.up;at=at.up)path.unshift(at.rest===undefined?at[key]:at.rest);"
    "return before&&path.join()===before.join()?path.slice(0,-1):path"
    "}"
    "function levelsOf(path){return max(0,(path||[]).filter(id=>!restFrom(id)).length)}"
    "function flameBox(title,root,widthOf,show,rest){"
    "let box=el('div.flame',{role:'group','aria-label':title}),boxes=flameBoxes(root,widthOf),left=({node,deep})=>{"
    "let{count,levels,more}=countRest(node),text=node===root?`${grouped(count)} that were left out`:`${count?`${grouped(count)}${more?' and more':''} left out`:'Left out'}, too ${deep?levels>1?`deep: ${grouped(levels)} levels`:'deep':'narrow'}`;"
    "return{name:text,text:`${text}; ${rest.text(node.width)}; a click ${node===root?'zooms out':'shows them'}`,class:'rest',onclick:()=>rest.zoom(deep?node.up:node)}"
    "};"
    "for(let each of boxes){"
    "let{name,text,style,...more}=each.node.rest===undefined?show(each.node):left(each);"
    "box.append(el('button',{title:text,'aria-label':text,style:{left:`${each.left*100}%`,width:`${each.width*100}%`,top:`${each.depth*20}px`,...style},...more},"
    "each.width>.02?name:''))"
    "}"
    "box.style.height=`${20*(1+boxes.reduce((most,each)=>max(most,each.depth),0))}px`;"
    "return box"
    "}"
    "const XML='http://www.w3.org/2000/svg';"
    "class Svg{"
    "constructor(width,height,measure){"
    "this.root=this.add(null,'svg',{xmlns:XML,width,height,viewBox:`0 0 ${width} ${height}`,'font-family':'system-ui, sans-serif'});"
    "this.measure=measure;"
    "this.place=this.root;"
    "this.saved=[];"
    "this.clips=0;"
    "this.globalAlpha=1;"
    "this.textAlign='left';"
    "this.textBaseline='alphabetic';"
    "this.font='11px sans-serif'"
    "}"
    "add(parent,tag,properties,text){"
    "let element=document.createElementNS(XML,tag);"
    "for(let[key,value]of Object.entries(properties))element.setAttribute(key,typeof value==='number'?String(round(value*100)/100):value);"
    "if(text!==undefined)element.textContent=text;"
    "if(parent)parent.append(element);"
    "return element"
    "}"
    "put(tag,properties,text,paint='fill'){"
    "let more=paint==='fill'?{fill:this.fillStyle}:{fill:'none',stroke:this.strokeStyle,'stroke-width':this.lineWidth};"
    "if(this.globalAlpha<1)more.opacity=this.globalAlpha;"
    "return this.add(this.place,tag,{...properties,...more},text)"
    "}"
    "setTransform(){}"
    "putImageData(){}"
    "measureText(text){"
    "this.measure.font=this.font;"
    "return this.measure.measureText(text)"
    "}"
    "fillRect(x,y,width,height){if(width>0&&height>0)this.put('rect',{x,y,width,height})}"
    "strokeRect(x,y,width,height){this.put('rect',{x,y,width,height},undefined,'stroke')}"
    "fillText(text,x,y){"
    "let[,weight,size]=/^(bold )?(\\d+)px/.exec(this.font);"
    "this.put('text',{x,y:y+Number(size)*{middle:.35,top:.9}[this.textBaseline]||y,'font-size':size,'font-weight':weight?'bold':'normal',"
    "'text-anchor':this.textAlign==='right'?'end':'start'},text)"
    "}"
    "beginPath(){this.path=''}"
    "moveTo(x,y){this.path+=`M${x.toFixed(1)} ${y.toFixed(1)}`}"
    "lineTo(x,y){this.path+=`L${x.toFixed(1)} ${y.toFixed(1)}`}"
    "bezierCurveTo(...at){this.path+='C'+at.map(v=>v.toFixed(1)).join(' ')}"
    "rect(x,y,width,height){this.area={x,y,width,height}}"
    "fill(){this.put('path',{d:this.path})}"
    "stroke(){this.put('path',{d:this.path},undefined,'stroke')}"
    "save(){this.saved.push(this.place)}"
    "clip(){"
    "let id='c'+this.clips++;"
   ,
    "this.add(this.add(this.root,'clipPath',{id}),'rect',this.area);"
    "this.place=this.add(this.root,'g',{'clip-path':`url(#${id})`})"
    "}"
    "restore(){this.place=this.saved.pop()}"
    "run(line,from,y,height,ratio,background){"
    "for(let x=from,end;x<line.length;x=end){"
    "for(end=x+1;end<line.length&&line[end]===line[x];end++);"
    "if(line[x]===background)continue;"
    "this.fillStyle='#'+(line[x]&255|256).toString(16).slice(1)+(line[x]>>8&255|256).toString(16).slice(1)+(line[x]>>16&255|256).toString(16).slice(1);"
    "this.fillRect(x/ratio,y,(end-x)/ratio,height)"
    "}"
    "}"
    "text(){return new XMLSerializer().serializeToString(this.root).replace(/[\\0-\\x1f\\ufffe\\uffff]/g,' ')}"
    "}"
    "function download(blob,name){"
    "let address=URL.createObjectURL(blob),link=el('a',{href:address,download:name});"
    "document.body.append(link);"
    "link.click();"
    "link.remove();"
    "setTimeout(()=>URL.revokeObjectURL(address),60000)"
    "}"
    "function flamePicture(box,measure,style){"
    "if(!box)return null;"
    "let{width,height}=box.getBoundingClientRect(),svg=new Svg(width,height,measure);"
    "svg.fillStyle=style.bg;"
    "svg.fillRect(0,0,width,height);"
    "svg.textBaseline='middle';"
    "for(let frame of box.querySelectorAll('button')){"
    "let look=getComputedStyle(frame),left=frame.offsetLeft,top=frame.offsetTop,wide=frame.offsetWidth,name=frame.textContent;"
    "svg.fillStyle=look.backgroundColor;"
    "svg.add(svg.put('rect',{x:left,y:top,width:max(.5,wide-1),height:19}),'title',{},frame.getAttribute('aria-label'));"
    "let fits=min(name.length,floor(name.length*(wide-6)/svg.measureText(name).width));"
    "svg.fillStyle=look.color;"
    "if(fits>1)svg.fillText(fits<name.length?name.slice(0,fits-1)+'\\u2026':name,left+3,top+10)"
    "}"
    "return svg.text()"
    "}"
    "const LINE=18,RULER=26,COUNTER_HEIGHT=34,FONT='px system-ui, sans-serif',MAP=18,BAR=10;"
    "let GUTTER=190;"
    "function foldGutter(folded=GUTTER>99){GUTTER=folded?64:190}"
    "const ARROWS=300,MANY=10000;"
    "class TimeLine{"
    "constructor(canvas,app){"
    "this.canvas=canvas;"
    "this.app=app;"
    "this.scroll=0;"
    "this.widths=new Map();"
    "this.places=this.flags=[];"
    "this.waiting=false"
    "}"
    "redraw(){"
    "if(this.waiting)return;"
    "this.waiting=true;"
    "requestAnimationFrame(()=>{"
    "this.waiting=false;"
    "this.draw()"
    "})"
    "}"
    "rows(){"
    "let{app}=this,{report}=app,rows=[],closed=key=>app.closed.has(key),add=row=>rows.push(row);"
    "for(let process of report.processes){"
    "let key='p'+process.id;"
    "if(report.processes.length>1||process.tracks.some(t=>t.device))add({key,kind:'head',title:process.name,height:22,fold:true,tracks:process.tracks});"
    "if(closed(key))continue;"
    "this.groupRows(rows,process,'Counters',process.counters.map((series,i)=>"
    "({key:`${key}c${i}`,kind:'counter',title:series.name,height:COUNTER_HEIGHT,series})));"
    "let device='',inOrder=tracks=>app.order?[...tracks].sort(app.order==='name'?(a,b)=>a.title.localeCompare(b.title,'en',{numeric:true}):(a,b)=>busyOf(b)-busyOf(a)):tracks;"
    "for(let track of[...inOrder(process.threads),...process.tracks.filter(t=>t.device)]){"
    "if(track.device&&track.device!==device){"
    "device=track.device;"
    "add({key:`${key}d${device}`,kind:'head',title:device+(track.alignment===3?' (clock not aligned)':''),height:22,fold:true})"
    "}"
    "if(track.device&&closed(`${key}d${device}`))continue;"
    "for(let row of this.threadRows(track))add(row)"
    "}"
    "for(let{key,title,tracks,lanes}of process.threadGroups)\n"
    "this.groupRows(rows,process,title,lanes?lanes.map((lane,i)=>this.trackRow(lane,lane[1]?`${key}L${i}`:undefined)):inOrder(tracks).flatMap(track=>this.threadRows(track)),key,tracks);"
    "this.groupRows(rows,process,'Tasks',inOrder(process.tracks.filter(t=>t.owner===t)).map(track=>this.trackRow([track])));"
    "this.groupRows(rows,process,'Spans',process.spanGroups.map((group,i)=>({key:`${key}s${i}`,kind:'spans',"
   ,
    "title:group.lanes.length>32?`${group.name} (${grouped(group.lanes.length)}${group.crowded?'+':''} lanes)`:group.name,group,height:(closed(`${key}s${i}`)?1:group.lanes.length)*LINE+4,fold:group.lanes.length>1})));"
    "this.groupRows(rows,process,'Locks',process.locks?[...process.locks.rows.values()].map((lock,i)=>"
    "({key:`${key}l${i}`,kind:'lock',title:lock.label.name,lock,height:LINE+4})):[])"
    "}"
    "return rows"
    "}"
    "threadRows(track){"
    "return[track.states&&track.states.owner===track&&track.states,(track.levels.length||track.marks||track.system)&&track].filter(Boolean).map(each=>this.trackRow([each]))"
    "}"
    "trackRow(tracks,key='t'+tracks[0].id){"
    "let[track]=tracks,all=max(...tracks.map(({levels})=>levels.length)),depth=this.app.closed.has(key)?min(1,all):all,marks=tracks.some(each=>each.marks)?12:0,system=tracks.some(each=>each.system);"
    "return{key,kind:'track',title:tracks[1]?`${track.title} and ${grouped(tracks.length-1)} more`:track.title,track,tracks,depth,marks,system,fold:all>1,height:max(22,depth*LINE+marks+6)+(system?STATES_HEIGHT+2:0)}"
    "}"
    "groupRows(rows,process,title,more,key=`p${process.id}${title}`,tracks=[]){"
    "if(!more.length)return;"
    "rows.push({key,kind:'group',title:title.startsWith(grouped(tracks.length))?title:`${title} (${grouped(tracks.length||more.length)})`,height:20,fold:true,tracks});"
    "if(!this.app.closed.has(key))for(let row of more)rows.push(row)"
    "}"
    "get bottom(){return this.canvas.clientHeight-MAP}"
    "layout(){"
    "let{app,bottom}=this,rows=this.rows(),placed=[],places=this.places=[],y=RULER,stuck=null;"
    "for(let row of rows){"
    "if(!app.pinned.has(row.key))continue;"
    "places.push({row,y,top:RULER,bottom,pinned:true});"
    "y+=row.height"
    "}"
    "placed.push(...places);"
    "let top=y,others=rows.filter(each=>!app.pinned.has(each.key)),all=others.reduce((sum,row)=>sum+row.height,0);"
    "this.scroll=max(0,min(this.scroll,all-(bottom-top)));"
    "y-=this.scroll;"
    "for(let row of others){"
    "let place={row,y,top,bottom};"
    "if(row.kind==='head'){"
    "if(y<top)stuck={...place,y:top};"
    "else if(stuck&&y<top+stuck.row.height)stuck.y=y-stuck.row.height"
    "}"
    "places.push(place);"
    "if(y+row.height>top&&y<bottom)placed.push(place);"
    "y+=row.height"
    "}"
    "this.all=all;"
    "this.top=top;"
    "this.byTrack=null;"
    "return stuck?[stuck,...placed]:placed"
    "}"
    "placeOf(track){"
    "if(!this.byTrack)this.byTrack=new Map(this.places.flatMap(place=>(place.row.tracks||[]).map(each=>[each,place])));"
    "return this.byTrack.get(track)"
    "}"
    "trackAt({tracks},time){return tracks.find(({life})=>life&&life.end>=time)||tracks.at(-1)}"
    "reveal(track,depth,other){"
    "let{app}=this,{process}=track.owner||track,group=process.threadGroups.find(({tracks})=>tracks.includes(track));"
    "app.closed.delete('p'+process.id);"
    "if(track.owner===track)app.closed.delete(`p${track.process.id}Tasks`);"
    "if(group)app.closed.delete(group.key);"
    "if(track.device)app.closed.delete(`p${process.id}d${track.device}`);"
    "this.layout();"
    "let place=this.placeOf(track);"
    "if(!place)return;"
    "if(depth>0&&app.closed.delete(place.row.key))return this.reveal(track,depth,other);"
    "let at=place.y+place.row.marks+depth*LINE;"
    "if(!place.pinned)this.scroll+=at<this.top?at-this.top-10:max(0,at+LINE+10-this.bottom);"
    "if(!other||other===track)return;"
    "this.reveal(other,0);"
    "this.layout();"
    "let{y,row,pinned}=this.placeOf(track);"
    "if(!pinned&&(y+row.height<this.top||y>this.bottom))app.pinned.add(row.key)"
    "}"
    "x(time){return GUTTER+(time-this.app.view.from)*this.scale}"
    "time(x){return this.app.view.from+(x-GUTTER)/this.scale}"
    "draw(svg){"
    "let{canvas,app}=this,ratio=devicePixelRatio||1,width=canvas.clientWidth,height=canvas.clientHeight;"
    "if(!width||!height)return;"
    "let w=round(width*ratio),h=round(height*ratio);"
    "if(canvas.width!==w||canvas.height!==h||!this.image){"
    "canvas.width=w;"
    "canvas.height=h;"
    "this.ctx=canvas.getContext('2d',{alpha:false});"
    "this.image=this.ctx.createImageData(w,h);"
   ,
    "this.pixels=new Uint32Array(this.image.data.buffer)"
    "}"
    "let{pixels}=this,{from,to}=app.view,ctx=svg||this.ctx;"
    "this.scale=(width-GUTTER)/(to-from);"
    "this.placed=this.layout();"
    "pixels.fill(app.colors.background);"
    "this.drawGrid(pixels,w,h,ratio,width);"
    "let labels=[];"
    "for(let place of this.placed){"
    "if(place.row.kind!=='track')continue;"
    "for(let track of place.row.tracks){"
    "let{start,end}=track.life||app.view,alone=!place.row.tracks[1],x0=alone?0:max(0,floor(this.x(start)*ratio)),x1=alone?w:min(w,ceil(this.x(end)*ratio)+2);"
    "if(x0>=x1)continue;"
    "this.drawScopes(place,track,ratio,w,h,labels,x0,x1);"
    "if(track.system)this.drawStates(place,track,ratio,w,h,x0,x1)"
    "}"
    "}"
    "if(!svg)this.drawMap(w,h,ratio);"
    "if(svg)this.drawPixels(svg,w,h,ratio);"
    "ctx.setTransform(1,0,0,1,0,0);"
    "ctx.putImageData(this.image,0,0);"
    "ctx.setTransform(ratio,0,0,ratio,0,0);"
    "this.drawLabels(ctx,labels,ratio);"
    "let upwards=[...this.placed].reverse();"
    "for(let place of upwards)this.drawRow(ctx,place,width);"
    "this.drawFlows(ctx,width);"
    "this.drawFocus(ctx);"
    "this.drawSelection(ctx,width,height);"
    "for(let place of upwards)this.drawGutter(ctx,place);"
    "this.drawRuler(ctx,width);"
    "this.drawNotes(ctx,width);"
    "if(!svg)this.drawBars(ctx,width,height)"
    "}"
    "drawPixels(svg,w,h,ratio){"
    "let{background}=this.app.colors,left=round(GUTTER*ratio),grid=this.app.colors.grid,line=y=>this.pixels.subarray(y*w,y*w+w).map(c=>c===grid?background:c);"
    "svg.fillStyle=this.app.style.bg;"
    "svg.fillRect(0,0,w/ratio,h/ratio);"
    "svg.fillStyle=this.app.style.grid;"
    "for(let x=left;x<w;x++)if(this.pixels[(h-1)*w+x]===grid)svg.fillRect(x/ratio,RULER,1,h/ratio);"
    "for(let place of this.placed){"
    "let{row,y,top}=place,states=row.system?STATES_HEIGHT:0;"
    "for(let n=0,y0=this.statesTop(place);n<states;n++,y0++)\n"
    "if(y0>=top&&y0*ratio<h-1)svg.run(line(round(y0*ratio)),left,y0,1,ratio,background);"
    "for(let depth=0;row.kind==='track'&&depth<row.depth;depth++){"
    "let y0=max(y+3+row.marks+depth*LINE,top),y1=y+2+row.marks+(depth+1)*LINE;"
    "if(y1>y0&&y0*ratio<h-1)svg.run(line(round(y0*ratio)),left,y0,y1-y0,ratio,background)"
    "}"
    "}"
    "}"
    "drawScopes({row,y,top},track,ratio,w,h,labels,x0,x1){"
    "let{app}=this,{from}=app.view,scale=this.scale*ratio,left=round(GUTTER*ratio),shows=[from,scale,w].join();"
    "for(let depth=0;depth<min(row.depth,track.levels.length);depth++){"
    "let level=track.levels[depth],y0=y+3+row.marks+depth*LINE,first=round(max(y0,top)*ratio),last=min(h,round((y0+LINE-1)*ratio));"
    "if(first>=last)continue;"
    "let{drawn}=level;"
    "if(!drawn||drawn.shows!==shows||drawn.colors!==app.colors)\n"
    "drawn=level.drawn={shows,...levelLine({...app.colors,width:w,left,from,scale,least:app.least},level),colors:app.colors};"
    "putLine(this.pixels,drawn.line,first,last,x0,x1);"
    "if(y0>=top-4)for(let[left,right,i]of drawn.labels)labels.push([left/ratio,right/ratio,y0,level,i])"
    "}"
    "}"
    "statesTop({row,y}){return y+row.height-STATES_HEIGHT-3}"
    "drawStates(place,track,ratio,w,h,x0,x1){"
    "let{app}=this,{system}=track,{from}=app.view,scale=this.scale*ratio,left=round(GUTTER*ratio),shows=[from,scale,w].join();"
    "if(!system.drawn||system.drawn.shows!==shows||system.drawn.colors!==app.colors)\n"
    "system.drawn={shows,colors:app.colors,lines:statesLines({width:w,left,from,scale,ratio,paint:app.colors.states},system)};"
    "system.drawn.lines.forEach((line,n)=>{"
    "let y=this.statesTop(place)+n,first=round(max(y,place.top)*ratio),last=min(h,round((y+1)*ratio));"
    "if(first<last)putLine(this.pixels,line,first,last,x0,x1)"
    "})"
    "}"
    "textWidth(ctx,text){"
    "let width=this.widths.get(text);"
    "if(width===undefined){"
    "if(this.widths.size>20000)this.widths.clear();"
    "this.widths.set(text,width=ctx.measureText(text).width)"
    "}"
    "return width"
    "}"
    "fit(ctx,text,x,y,width){"
    "text=visible(text.length>200?text.slice(0,200):text);"
    "let whole=this.textWidth(ctx,text);"
    "if(whole>width){"
    "let letters=floor(text.length*(width-9)/whole);"
    "if(letters<2)return;"
   ,
    "text=text.slice(0,letters)+'\\u2026'"
    "}"
    "ctx.fillText(text,x,y)"
    "}"
    "drawLabels(ctx,list,ratio){"
    "let{report}=this.app;"
    "ctx.font=11+FONT;"
    "ctx.textBaseline='middle';"
    "ctx.textAlign='left';"
    "for(let[x0,x1,y,level,i]of list){"
    "let label=report.labels[report.nodes.label[level.node[i]]],room=x1-x0-8;"
    "ctx.fillStyle=this.app.dim&&this.app.dim(label)?this.app.style.faint:label.ink;"
    "let width=this.textWidth(ctx,label.name);"
    "this.fit(ctx,label.name,x0+4,y+LINE/2,room);"
    "if(room-width>60){"
    "ctx.fillText(ns(level.durationOf(i)),x0+4+width+8,y+LINE/2)"
    "}"
    "let flags=level.flags.size?level.flags.get(i):0;"
    "if(flags)this.drawTorn(ctx,x0,x1,y,flags)"
    "}"
    "}"
    "drawTorn(ctx,x0,x1,y,flags){"
    "ctx.fillStyle=this.app.style.bg;"
    "for(let[bit,x,sign]of[[TRUNCATED_BEGIN,x0,1],[TRUNCATED_END,x1,-1]]){"
    "if(!(flags&bit))continue;"
    "ctx.beginPath();"
    "for(let n=0;n<3;n++){"
    "ctx.moveTo(x,y+n*6);"
    "ctx.lineTo(x+4*sign,y+n*6+3);"
    "ctx.lineTo(x,y+n*6+6)"
    "}"
    "ctx.fill()"
    "}"
    "}"
    "drawGrid(pixels,w,h,ratio,width){"
    "let{from,to}=this.app.view,step=niceStep((to-from)/max(2,(width-GUTTER)/120));"
    "this.step=step;"
    "for(let t=ceil(from/step)*step;t<to;t+=step){"
    "let x=round(this.x(t)*ratio);"
    "if(x<w)for(let at=x;at<w*h;at+=w)pixels[at]=this.app.colors.grid"
    "}"
    "}"
    "drawRow(ctx,{row,y,top,bottom},width){"
    "ctx.save();"
    "ctx.beginPath();"
    "ctx.rect(GUTTER,top,width-GUTTER,bottom-top);"
    "ctx.clip();"
    "ctx.fillStyle=this.app.style.line;"
    "ctx.fillRect(GUTTER,y+row.height-1,width,1);"
    "if(row.kind==='head'||row.kind==='group'){"
    "ctx.fillStyle=row.kind==='head'?this.app.style.head:this.app.style.group;"
    "ctx.fillRect(GUTTER,y,width,row.height-1)"
    "}"
    "if(row.marks)for(let{marks}of row.tracks)if(marks)this.drawMarks(ctx,marks,y+2);"
    "if(row.kind==='counter')this.drawCounter(ctx,row,y,width);"
    "if(row.kind==='spans')this.drawSpans(ctx,row,y);"
    "if(row.kind==='lock')this.drawHolds(ctx,row,y);"
    "ctx.restore()"
    "}"
    "drawMarks(ctx,marks,y){"
    "let{from,to}=this.app.view,last=-10;"
    "for(let i=firstIndex(marks.length,k=>marks[k].time>=from);i<marks.length&&marks[i].time<=to;i++){"
    "let x=this.x(marks[i].time);"
    "if(x-last<2)continue;"
    "last=x;"
    "ctx.fillStyle=marks[i].severity>=3?this.app.style.bad:marks[i].severity===2?this.app.style.warn:this.app.style.mark;"
    "ctx.beginPath();"
    "ctx.moveTo(x-4,y);"
    "ctx.lineTo(x+4,y);"
    "ctx.lineTo(x,y+9);"
    "ctx.fill()"
    "}"
    "}"
    "drawCounter(ctx,row,y,width){"
    "let{series}=row,{time,value}=series,{low}=series,high=max(series.high,low+1e-12),bottom=y+row.height-4,tall=row.height-8,place=v=>bottom-(v-low)/(high-low)*tall,i=max(0,firstIndex(time.length,k=>time[k]>=this.app.view.from)-1);"
    "ctx.fillStyle=this.app.style.counter;"
    "for(let x=max(GUTTER,floor(this.x(time[i])));x<width&&i<time.length;){"
    "let next=i+1<time.length?floor(this.x(time[i+1])):width,end=min(width,max(next,x+1)),top=value[i];"
    "if(next<x+1){"
    "let until=this.time(x+1);"
    "while(i+1<time.length&&time[i+1]<until)top=max(top,value[++i])"
    "}else{"
    "i++"
    "}"
    "let zero=place(0),at=place(max(low,min(high,top)));"
    "if(Number.isFinite(at))ctx.fillRect(x,min(at,zero),end-x,max(1,abs(zero-at)));"
    "if(next>=width)break;"
    "x=end;"
    "if(next<x&&i+1>=time.length)break"
    "}"
    "ctx.fillStyle=this.app.style.ink;"
    "ctx.font=10+FONT;"
    "ctx.textAlign='right';"
    "ctx.fillText(measured(series.max,series.unit),width-4,y+9);"
    "ctx.textAlign='left'"
    "}"
    "drawBox(ctx,x0,x1,y,rgb,ink,text){"
    "x0=max(x0,GUTTER-2);"
    "ctx.fillStyle=`rgb(${rgb.join()})`;"
    "ctx.fillRect(x0,y,max(1,x1-x0),LINE-3);"
    "if(x1-x0<24)return;"
    "ctx.font=11+FONT;"
    "ctx.textBaseline='middle';"
    "ctx.fillStyle=ink;"
    "this.fit(ctx,text,x0+4,y+LINE/2-1,min(x1,this.canvas.clientWidth)-x0-8)"
    "}"
    "drawSpans(ctx,row,y){"
    "let{from,to}=this.app.view,{labels}=this.app.report,dims=row.group.spans.some(span=>this.app.found.has(span));"
    "row.group.lanes.forEach((lane,n)=>{"
    "if((this.app.closed.has(row.key)&&n)||y+n*LINE>this.bottom||y+(n+1)*LINE<0)return;"
    "let last=-1;"
    "for(let span of lane){"
    "if(span.start>to)break;"
   ,
    "if(span.start+span.duration<from)continue;"
    "let x0=this.x(span.start),x1=this.x(span.start+span.duration);"
    "if(x1<last+1)continue;"
    "last=x1;"
    "ctx.globalAlpha=dims&&!this.app.found.has(span)?.25:1;"
    "this.drawBox(ctx,x0,x1,y+2+n*LINE,labels[span.label].rgb,labels[span.label].ink,labels[span.label].name)"
    "}"
    "});"
    "ctx.globalAlpha=1"
    "}"
    "drawHolds(ctx,row,y){"
    "let{from,to}=this.app.view,{holds,label}=row.lock,last=-1;"
    "for(let hold of holds){"
    "if(hold.start>to)break;"
    "if(hold.start+hold.duration<from)continue;"
    "let x0=this.x(hold.start),x1=this.x(hold.start+hold.duration);"
    "if(x1<last+1)continue;"
    "last=x1;"
    "this.drawBox(ctx,x0,x1,y+2,label.rgb,label.ink,hold.track.title);"
    "ctx.fillStyle=this.app.style.bad;"
    "if(hold.waiters.length)ctx.fillRect(max(x0,GUTTER),y+LINE-2,max(1,x1-max(x0,GUTTER)),2)"
    "}"
    "}"
    "arrows(){"
    "let{flows,focus,selection,report}=this.app,key=[focus,selection,flows,report.flows];"
    "if(flows)return report.flows;"
    "if(!this.chosen||key.some((each,i)=>each!==this.chosen.key[i])){"
    "let{from,to}=focus?{from:scopeOf(report,focus).start,to:scopeOf(report,focus).end}:selection||{},on=(track,time)=>time>=from&&time<=to&&(!focus||track===focus.track);"
    "this.chosen={key,list:report.flows.filter(flow=>on(flow.fromTrack,flow.from)||on(flow.toTrack,flow.to))}"
    "}"
    "return this.chosen.list"
    "}"
    "drawFlows(ctx,width){"
    "let{app}=this,{from,to}=app.view,shownFlows=[];"
    "for(let flow of this.arrows()){"
    "if(flow.to<from||flow.from>to)continue;"
    "if(shownFlows.push(flow)>=MANY)break"
    "}"
    "let n=shownFlows.length;"
    "app.sayFlows(n>ARROWS?`${ARROWS} of ${n<MANY?'':'more than '}${grouped(n)} flows`:'Flows');"
    "if(n>ARROWS)shownFlows.sort((a,b)=>(b.to-b.from)-(a.to-a.from)).length=ARROWS;"
    "ctx.save();"
    "ctx.beginPath();"
    "ctx.rect(GUTTER,RULER,width-GUTTER,this.bottom-RULER);"
    "ctx.clip();"
    "ctx.strokeStyle=ctx.fillStyle=app.style.flow;"
    "ctx.lineWidth=1.5;"
    "for(let flow of shownFlows){"
    "let a=this.yOf(flow.fromTrack,flow.from),b=this.yOf(flow.toTrack,flow.to);"
    "if(a===null||b===null)continue;"
    "a+=Math.sign(b-a)*(LINE/2-2);"
    "let x0=this.x(flow.from),x1=this.x(flow.to),bend=max(6,min(80,abs(x1-x0)/2));"
    "ctx.beginPath();"
    "ctx.moveTo(x0,a);"
    "ctx.bezierCurveTo(x0+bend,a,x1-bend,b,x1,b);"
    "ctx.stroke();"
    "ctx.beginPath();"
    "ctx.moveTo(x1,b);"
    "ctx.lineTo(x1-7,b-4);"
    "ctx.lineTo(x1-7,b+4);"
    "ctx.fill()"
    "}"
    "ctx.restore()"
    "}"
    "yOf(track,time){"
    "let place=this.placeOf(track);"
    "if(!place||place.row.kind!=='track')return place?place.y+place.row.height/2:null;"
    "let depth=0;"
    "while(depth+1<min(place.row.depth,track.levels.length)&&scopeAt(track.levels[depth+1],time)>=0)depth++;"
    "return place.y+3+place.row.marks+depth*LINE+LINE/2"
    "}"
    "drawFocus(ctx){"
    "let{focus}=this.app;"
    "if(!focus)return;"
    "let place=this.placeOf(focus.track);"
    "if(!place||!(focus.depth<place.row.depth))return;"
    "let{start,end}=scopeOf(this.app.report,focus),x0=max(GUTTER-3,this.x(start)),x1=min(this.canvas.clientWidth+3,this.x(end));"
    "if(x1<GUTTER)return;"
    "ctx.strokeStyle=this.app.style.ink;"
    "ctx.lineWidth=2;"
    "ctx.strokeRect(x0-.5,place.y+3+place.row.marks+focus.depth*LINE-.5,max(3,x1-x0),LINE)"
    "}"
    "drawSelection(ctx,width,height){"
    "let{selection,mark}=this.app;"
    "if(selection){"
    "let x0=max(GUTTER,this.x(selection.from)),x1=min(width,this.x(selection.to));"
    "ctx.fillStyle=this.app.style.shade;"
    "ctx.fillRect(GUTTER,RULER,max(0,x0-GUTTER),height);"
    "ctx.fillRect(max(GUTTER,x1),RULER,width,height)"
    "}"
    "if(mark!==null&&this.x(mark)>=GUTTER){"
    "ctx.fillStyle=this.app.style.accent;"
    "ctx.fillRect(this.x(mark),RULER-8,2,height)"
    "}"
    "}"
    "drawGutter(ctx,{row,y,top,bottom,pinned}){"
    "let{style,closed}=this.app,{kind}=row;"
    "ctx.save();"
    "ctx.beginPath();"
    "ctx.rect(0,top,kind==='head'?this.canvas.clientWidth:GUTTER,bottom-top);"
    "ctx.clip();"
    "ctx.fillStyle=kind==='head'?style.head:kind==='group'?style.group:style.gutter;"
    "ctx.fillRect(0,y,GUTTER-1,row.height-1);"
    "ctx.fillStyle=style.line;"
    "ctx.fillRect(0,y+row.height-1,GUTTER,1);"
   ,
    "if(kind!=='head')ctx.fillRect(GUTTER-1,y,1,row.height);"
    "ctx.fillStyle=style.ink;"
    "ctx.textBaseline='middle';"
    "ctx.font=(kind==='head'?'bold 12':12)+FONT;"
    "let middle=max(y,min(top-2,y+row.height-22))+(kind==='track'?row.depth?row.marks+12:11:min(row.height/2,17));"
    "if(row.fold){"
    "ctx.fillStyle=style.faint;"
    "ctx.fillText(closed.has(row.key)?'\\u25b8':'\\u25be',5,middle);"
    "ctx.fillStyle=style.ink"
    "}"
    "if(kind==='track'?row.tracks.some(track=>this.app.found.has(track)):this.app.found.has(row.series))ctx.fillStyle=style.accent;"
    "this.fit(ctx,row.title,kind==='head'||kind==='group'?18:22,middle,kind==='head'?900:GUTTER-(GUTTER>99?46:26));"
    "if(this.canPin(row)){"
    "ctx.fillStyle=pinned?style.accent:style.faint;"
    "ctx.fillText(pinned?'\\u25c6':'\\u25c7',GUTTER-16,middle)"
    "}"
    "ctx.restore()"
    "}"
    "drawRuler(ctx,width){"
    "let{style,view,selection}=this.app,{step}=this;"
    "ctx.fillStyle=style.gutter;"
    "ctx.fillRect(0,0,width,RULER-1);"
    "ctx.fillStyle=style.line;"
    "ctx.fillRect(0,RULER-1,width,1);"
    "ctx.font=11+FONT;"
    "ctx.textBaseline='middle';"
    "ctx.fillStyle=style.faint;"
    "this.fit(ctx,`${GUTTER>99?'\\u25c2':'\\u25b8'} ${ns(view.to-view.from)}${GUTTER>99?' shown':''}`,6,RULER/2,GUTTER-8);"
    "let{from,to}=selection||{from:0,to:0},x0=max(GUTTER,this.x(from)),x1=min(width,this.x(to)),length=ns(to-from),wide=this.textWidth(ctx,length)+10,at=x1>x0?max(GUTTER,min(width-wide,(x0+x1-wide)/2)):width;"
    "for(let t=ceil(view.from/step)*step;t<view.to;t+=step){"
    "let x=round(this.x(t));"
    "ctx.fillStyle=style.line;"
    "ctx.fillRect(x,RULER-7,1,6);"
    "ctx.fillStyle=style.faint;"
    "let text=axisTime(t,step),end=x+4+this.textWidth(ctx,text);"
    "if(end<at||(x>at+wide&&end<width))ctx.fillText(text,x+4,RULER/2-1)"
    "}"
    "ctx.fillStyle=style.good;"
    "for(let{from,to}of this.app.report.windows){"
    "let left=max(GUTTER,this.x(from));"
    "ctx.fillRect(left,RULER-3,min(width,this.x(to))-left,2)"
    "}"
    "if(at===width)return;"
    "ctx.fillStyle=style.accent;"
    "ctx.fillRect(x0,RULER-4,x1-x0,3);"
    "ctx.fillRect(at,2,wide,RULER-6);"
    "ctx.fillStyle=style.onaccent;"
    "ctx.fillText(length,at+5,RULER/2-1)"
    "}"
    "canPin(row){return GUTTER>99&&row.kind!=='head'&&row.kind!=='group'}"
    "drawMap(w,h,ratio){"
    "let{app,pixels}=this,{report,colors}=app,tall=floor(MAP*ratio)-2,left=round(GUTTER*ratio),key=[report,colors,w,tall,left];"
    "if(!this.map||key.some((each,i)=>each!==this.map.key[i])){"
    "let stripes=report.processes.flatMap(({threads,threadGroups,tracks})=>[...[...threads,...tracks.filter(track=>track.device)].map(track=>[track]),...threadGroups.map(group=>group.tracks)]),map=new Uint32Array(w*tall).fill(colors.background),scale=(w-left)/(report.to-report.from);"
    "stripes.forEach((tracks,n)=>{"
    "let y=floor(n*tall/stripes.length),last=max(y+1,floor((n+1)*tall/stripes.length)-(stripes.length<5));"
    "for(let{levels:[level]}of tracks)if(level)putLine(map,levelLine({...colors,width:w,left,from:report.from,scale,least:app.least},level).line,y,last)"
    "});"
    "this.map={key,map}"
    "}"
    "pixels.set(this.map.map,w*(h-tall))"
    "}"
    "drawBars(ctx,width,height){"
    "let{app,top,bottom,all}=this,{report,view,style}=app,part=(bottom-top)/all,x=time=>GUTTER+max(0,min(1,(time-report.from)/(report.to-report.from)))*(width-GUTTER);"
    "ctx.fillStyle=style.faint;"
    "if(part<1)ctx.fillRect(width-BAR+2,top+this.scroll*part,BAR-4,max(12,(bottom-top)*part));"
    "ctx.fillStyle=style.gutter;"
    "ctx.fillRect(0,bottom,GUTTER-1,MAP);"
    "ctx.fillStyle=style.line;"
    "ctx.fillRect(0,bottom,width,1);"
    "ctx.fillStyle=style.shade;"
    "let x0=x(view.from),x1=max(x0+3,x(view.to));"
    "ctx.fillRect(GUTTER,bottom+1,x0-GUTTER,MAP);"
    "ctx.fillRect(x1,bottom+1,width,MAP);"
    "ctx.strokeStyle=style.accent;"
    "ctx.lineWidth=2;"
    "ctx.strokeRect(x0+1,bottom+2,x1-x0-2,height-bottom-3);"
    "ctx.font=11+FONT;"
    "ctx.fillStyle=style.faint;"
    "this.fit(ctx,`${ns(report.to-report.from)}${GUTTER>99?' in all':''}`,6,bottom+MAP/2+1,GUTTER-8)"
    "}"
    "drawNotes(ctx,width){"
    "let{app:{notes,style},bottom}=this;"
    "ctx.font=11+FONT;"
   ,
    "this.flags=notes.map((note,i)=>{"
    "let x0=max(GUTTER,this.x(note.from)),right=this.x(note.to),y=bottom-18-i%3*18,wide=min(260,this.textWidth(ctx,note.text)+10);"
    "if(right<GUTTER||x0>width)return{};"
    "ctx.fillStyle=style.mark;"
    "for(let x of[this.x(note.from),right])if(x>=GUTTER)ctx.fillRect(x,RULER,1,bottom-RULER);"
    "ctx.fillRect(x0,y,wide,16);"
    "ctx.fillStyle=style.onaccent;"
    "this.fit(ctx,note.text,x0+5,y+8,wide-8);"
    "return{note,x0,y,wide}"
    "})"
    "}"
    "drag(area,x,y){"
    "let{app,top,bottom,all}=this,{report,view}=app,length=view.to-view.from;"
    "if(area==='bar'){"
    "this.scroll=(y-top)/(bottom-top)*all-(bottom-top)/2;"
    "return this.redraw()"
    "}"
    "let from=report.from+(x-GUTTER)/(this.canvas.clientWidth-GUTTER)*(report.to-report.from)-length/2;"
    "app.setView(from,from+length)"
    "}"
    "at(x,y){"
    "if(y>=this.bottom)return{area:x<GUTTER?'none':'map'};"
    "if(y>this.top&&x>this.canvas.clientWidth-BAR&&this.all>this.bottom-this.top)return{area:'bar'};"
    "let flag=this.flags.find(each=>x>=each.x0&&x<each.x0+each.wide&&y>=each.y&&y<each.y+16);"
    "if(flag)return flag;"
    "let place=y>=RULER&&this.placed?this.placed.find(each=>y>=max(each.y,each.top)&&y<each.y+each.row.height):null;"
    "if(!place)return{area:y>=RULER?'none':x<GUTTER?'fold':'ruler'};"
    "let{row}=place,time=this.time(x);"
    "if(x<GUTTER)return{area:'gutter',row,pin:this.canPin(row)&&x>GUTTER-24};"
    "let found={area:'row',row,time};"
    "if(row.kind==='track'){"
    "let track=this.trackAt(row,time),{system,marks,levels}=track,inside=y-place.y-3-row.marks,depth=floor(inside/LINE);"
    "if(inside<0&&marks)found.mark=this.near(marks,time,mark=>mark.time);"
    "if(system&&y>=this.statesTop(place)){"
    "let i=system.at(time);"
    "if(i>=0)found.state={track,i}"
    "}else if(inside>=0&&depth<min(row.depth,levels.length)){"
    "let i=this.scopeNear(levels[depth],time);"
    "if(i>=0)found.scope={track,depth,i}"
    "}"
    "}else if(row.kind==='spans'){"
    "let lane=row.group.lanes[floor((y-place.y-2)/LINE)];"
    "found.span=lane&&this.around(lane,time)"
    "}else if(row.kind==='lock'){"
    "found.hold=this.around(row.lock.holds,time)"
    "}else if(row.kind==='counter'){"
    "let i=firstIndex(row.series.time.length,k=>row.series.time[k]>time)-1;"
    "if(i>=0)found.sample={time:row.series.time[i],value:row.series.value[i]}"
    "}"
    "return found"
    "}"
    "around(list,time){"
    "let slack=2/this.scale;"
    "return list.find(each=>each.start-slack<=time&&each.start+each.duration+slack>=time)"
    "}"
    "near(list,time,get){"
    "let i=firstIndex(list.length,k=>get(list[k])>=time),best=[list[i-1],list[i]].filter(Boolean).sort((a,b)=>abs(get(a)-time)-abs(get(b)-time))[0];"
    "return best&&abs(get(best)-time)*this.scale<8?best:null"
    "}"
    "scopeNear(level,time){"
    "let i=scopeAt(level,time),slack=1.5/this.scale;"
    "if(i>=0&&level.durationOf(i)*this.scale>3)return i;"
    "let first=firstIndex(level.count,k=>level.start[k]>=time-slack),best=i;"
    "for(let k=first;k<min(level.count,first+2000)&&level.start[k]<=time+slack;k++)\n"
    "if(best<0||level.durationOf(k)>level.durationOf(best))best=k;"
    "return best"
    "}"
    "}"
    "const ORDER=['same','unsure','gone','new','faster','slower'];"
    "const SIGNS={slower:'\\u25b2 ',faster:'\\u25bc ',new:'+ ',gone:'\\u2212 ',unsure:'? ',same:''};"
    "function percentText(ratio){"
    "if(!Number.isFinite(ratio))return'';"
    "if(ratio>=9.95)return`x${ratio.toPrecision(3)}`;"
    "let text=(100*(ratio-1)).toFixed(1).replace(/^-(0\\.0)$/,'$1');"
    "return`${text>0?'+':''}${text} %`"
    "}"
    "function intervalText({low,high}){"
    "return`${low>0?percentText(low):'?'} to ${high<1e30?percentText(high):'?'}`"
    "}"
    "const titleOf=({name,about})=>[about.get('recording'),name].filter(Boolean).join(', ');"
    "class Comparison{"
    "constructor(panels){"
    "this.panels=panels;"
    "this.app=panels.app;"
    "this.pair=[0,1];"
    "this.threshold=5;"
    "this.side=1;"
    "this.path=[];"
    "this.labels=[]"
    "}"
    "sides(){"
    "let{report,selection}=this.app,from=selection?selection.from:report.from,to=selection?selection.to:report.to,key=[from,to,...this.pair].join();"
    "if(!this.kept||this.kept.key!==key){"
   ,
    "let processes=this.pair.map(i=>report.processes[i]),used=this.pair.map(i=>this.labels[i]=this.labels[i]||labelsOf(report,report.processes[i]));"
    "this.kept={key,from,to,processes,pairing:pairLabels(report.labels,used),"
    "stats:processes.map(process=>rangeStats(report,from,to,track=>track.process===process))}"
    "}"
    "return this.kept"
    "}"
    "callsOf(label){"
    "let{report}=this.app,{pairing,processes,from,to}=this.sides(),{id:own}=scopeLabel(label),pair=pairing.pairs.find(({a,b})=>a===own||b===own);"
    "return pair&&[pair.a,pair.b].map((id,i)=>({name:`${i+1}: `,about:titleOf(processes[i]),durations:Float64Array.from(callsOf(report,id,from,to,track=>track.process===processes[i])\n"
    ".filter(call=>!call.track.levels[call.depth].flags.has(call.i)),call=>call.duration).sort()}))"
    "}"
    "choosers(){"
    "let{processes}=this.app.report,choose=(which,title)=>el('label',{},title+': ',select(title,processes.map((process,i)=>[i,titleOf(process)]),this.pair[which],i=>{"
    "this.pair[which]=Number(i);"
    "this.path=[];"
    "this.panels.render()"
    "}));"
    "return[choose(0,'1, before'),choose(1,'2, after'),el('label',{},'threshold % ',"
    "el('input',{type:'number',min:0,max:1000,value:this.threshold,style:{width:'4.5em'},onchange:event=>{"
    "this.threshold=max(0,Number(event.target.value)||0);"
    "this.panels.render()"
    "}}))]"
    "}"
    "shifts(kept){"
    "let{report}=this.app,{pairing,processes}=kept;"
    "if(!kept.shifts){"
    "kept.samples=processes.map(process=>samplesOf(report,process,kept.from,kept.to));"
    "kept.shifts=new Map()"
    "}"
    "let until=performance.now()+50;"
    "for(let i=kept.shifts.size;i<pairing.pairs.length&&performance.now()<until;i++){"
    "let{a,b}=pairing.pairs[i];"
    "kept.shifts.set(i,shiftOf(kept.samples[0].get(a),kept.samples[1].get(b)))"
    "}"
    "return kept.shifts"
    "}"
    "goOn(kept,note){"
    "clearTimeout(this.timer);"
    "this.timer=setTimeout(()=>{"
    "if(this.kept!==kept)return;"
    "let left=kept.pairing.pairs.length-this.shifts(kept).size;"
    "note.textContent=`${grouped(left)} scopes are still to be compared`;"
    "if(left)this.goOn(kept,note);"
    "else if(this.panels.shown.includes('compare'))this.panels.render()"
    "},0)"
    "}"
    "rows(kept){"
    "let{report}=this.app,shifts=this.shifts(kept),[before,after]=kept.stats.map(({rows})=>new Map(byFormat(rows).map(row=>[row.id,row]))),rows=kept.pairing.pairs.map((pair,i)=>({a:before.get(pair.a),b:after.get(pair.b),change:shifts.get(i)})).filter(row=>row.a||row.b);"
    "for(let row of rows){"
    "let{label}=row.b||row.a;"
    "row.label=label;"
    "row.where=row.a&&where(row.a.label)!==where(label)?`${where(row.a.label)} \\u2192 ${where(label)}`:where(label);"
    "row.verdict=!row.a?'new':!row.b?'gone':row.change?judge(row.change,this.threshold/100):'';"
    "row.difference=(row.b?row.b.total:0)-(row.a?row.a.total:0);"
    "row.p50=[row.a,row.b].map((side,i)=>{"
    "let sample=side&&kept.samples[i].get(side.id);"
    "return sample&&sample.seen===sample.ns.length?medianOf(sample):side?percentile(side,.5):NaN"
    "})"
    "}"
    "return rows.sort((x,y)=>abs(y.difference)-abs(x.difference))"
    "}"
    "table(){"
    "let{panels}=this,kept=this.sides(),rows=this.rows(kept),note=el('span.note',{role:'status'}),counts=ORDER.map(verdict=>rows.filter(row=>row.verdict===verdict).length);"
    "if(kept.shifts.size<kept.pairing.pairs.length)this.goOn(kept,note);"
    "note.textContent=ORDER.map((verdict,i)=>`${counts[i]} ${verdict}`).reverse().join(', ');"
    "let mean=row=>row&&row.known?row.sum/row.known:NaN,both=row=>row.a&&row.b&&row.change,two=(title,get,show,about)=>['a','b'].map((side,i)=>({title:`${title} ${i+1}`,note:about,get:row=>get(row[side],row,i)||0,"
    "show:row=>row[side]?show(get(row[side],row,i)):''}));"
    "return[tools(...this.choosers(),note),el('p.note.under',{},"
    "`${panels.rangeText()}. The shift is the median of the ratios of all pairs of calls, of 10,000 a side at most.`),"
    "table([words('scope',row=>row.label.name),"
   ,
    "{title:'verdict',text:true,note:'slower or faster: the whole 99 % interval lies beyond the threshold; same: it is at most twice as wide as that',"
    "get:row=>ORDER.length-ORDER.indexOf(row.verdict),show:row=>el('span',{class:'verdict '+row.verdict},(SIGNS[row.verdict]||'')+row.verdict)},"
    "{title:'shift',note:'of a typical call',get:row=>both(row)?row.change.ratio:0,show:row=>both(row)?percentText(row.change.ratio):''},"
    "{title:'99 % interval',note:'of the shift',get:row=>both(row)?row.change.high-row.change.low:0,show:row=>both(row)?intervalText(row.change):''},"
    "...two('p50',(side,row,i)=>row.p50[i],ns,'the median; to 2 % where there are more than 10,000 calls'),...two('calls',side=>side&&side.calls,grouped),...two('total',side=>side&&side.total,ns),"
    "{title:'difference',note:'of the total times',get:row=>abs(row.difference),show:row=>(row.difference>0?'+':'')+ns(row.difference)},"
    "...two('mean',mean,ns),{title:'change',note:'of the mean',get:row=>mean(row.b)/mean(row.a)||0,show:row=>percentText(mean(row.b)/mean(row.a))},"
    "...rows.some(row=>row.a&&row.b&&row.a.states&&row.b.states)?[words('what grew',row=>grownText(row.a,row.b),'what threads did more, or less, in a mean call')]:[],"
    "...two('p99',side=>side&&percentile(side,.99),ns),words('where',row=>row.where)],rows,"
    "{caption:`1: ${titleOf(kept.processes[0])}; 2: ${titleOf(kept.processes[1])}`,sort:1,up:true,memory:'compare',onpick:row=>panels.pick(row.label)})]"
    "}"
    "flame(){"
    "let{panels,app}=this,{report}=app,kept=this.sides(),list=measures(report,kept.processes,kept.stats),per=list.find(each=>each.id===this.per)||list[0];"
    "kept.sums=kept.sums||kept.processes.map((process,i)=>selfTimes(report,process,kept.stats[i]));"
    "let tree=differenceTree(report,kept.pairing,kept.stats,kept.sums,per.of,this.side),widthOf=node=>node.width,root=along(tree,this.path,'pair',widthOf),unit=per.id==='run'?'':per.id==='second'?' a second':` a ${per.id}`,zoom=node=>{this.path=zoomed(node,this.path,'pair');panels.render()};"
    "let box=flameBox('Flame graph of differences',root,widthOf,node=>this.frame(node,kept,unit,zoom),{text:time=>ns(time)+unit,zoom}),mode=(key,value,title)=>el('button',{'aria-pressed':String(this[key]===value),onclick:()=>{this[key]=value;panels.render()}},title);"
    "let swatch=(verdict,text)=>el('span',{},el('i',{class:'swatch '+verdict,style:this.style(verdict,1)}),text);"
    "return[tools(...this.choosers(),el('span',{},'Width:'),mode('side',0,'time in 1'),mode('side',1,'time in 2'),"
    "el('label',{},'Times ',select('Times',list.map(({id,title})=>[id,title]),per.id,id=>{this.per=id;panels.render()})),"
    "el('button',{disabled:!this.path.length,onclick:()=>{this.path=[];panels.render()}},'Zoom out')),"
    "el('div.bar-of-tools.legend',{},swatch('slower','\\u25b2 more self time'),swatch('faster','\\u25bc less'),swatch('same','within noise (? perhaps not)'),swatch('new','+ only in 2'),swatch('gone','\\u2212 only in 1'),"
    "el('span.note',{},`${panels.rangeText()}; ${this.measureText(per)}; click zooms, double click opens the scope`)),"
    "el('div.scroll',{tabindex:0},box)]"
    "}"
    "measureText({id,title,of}){"
    "if(id==='run')return'times are those of the recordings as they are: right if both did the same work';"
    "return`times are ${title}: those of 1 divided by ${shown(Number(of[0].toPrecision(4)))}, those of 2 by ${shown(Number(of[1].toPrecision(4)))}`"
    "}"
    "style(verdict,by){return differenceStyle(verdict==='slower'||verdict==='new'?by:verdict==='faster'||verdict==='gone'?-by:0,this.app.dark)}"
    "frame(node,kept,unit,zoom){"
   ,
    "let{labels}=this.app.report,[a,b]=node.of,pair=kept.pairing.pairs[node.pair],label=labels[pair.b>=0?pair.b:pair.a],verdict=!a?'new':!b?'gone':a.self===b.self?'same':judge(node.change,this.threshold/100),ratio=a&&b&&a.self>0?b.self/a.self:NaN,words={new:'only in 2',gone:'only in 1',same:'within noise',unsure:'not more than noise may be'}[verdict]||verdict,figures=key=>a&&b?`${ns(a[key])} \\u2192 ${ns(b[key])}${unit}`:`${ns((a||b)[key])}${unit}`,calls=[a,b].filter(Boolean).map(side=>shown(Number(side.calls.toPrecision(4)))).join(' \\u2192 '),text=`${label.name}: ${words}; self ${figures('self')}${ratio>=0?`, ${percentText(ratio)}`:''}${a&&b&&node.change.high<1e30?` (99 %: ${intervalText(node.change)})`:''}; `+\n"
    "`total ${figures('total')}; ${calls} calls${unit}`;"
    "let figure=verdict!=='same'&&ratio>=0?percentText(ratio)+' ':'';"
    "return{name:SIGNS[verdict]+figure+label.name,text,class:verdict,style:this.style(verdict,figure?abs(Math.log2(max(ratio,1e-3))):.3),"
    "onclick:()=>zoom(node),ondblclick:()=>this.panels.pick(label)}"
    "}"
    "}"
    "const PLACE=words('where',row=>where(row.label));"
    "const SEVERITIES=['debug','info','warning','error','fatal'];"
    "const severityOf=message=>message.severity<0?'mark':SEVERITIES[message.severity]||String(message.severity);"
    "const numberOf=number=>number===''?-Infinity:Number(number);"
    "const argsText=args=>args.map(([key,v])=>`${key}=${shown(v)}`).join(', ');"
    "const SIDES=/^(flame|scope|why|request|difference)$/,WIDE=globalThis.matchMedia&&matchMedia('(min-width: 1700px)');"
    "class Panels{"
    "constructor(app,tabs,body){"
    "this.app=app;"
    "this.tabs=tabs;"
    "this.body=body;"
    "this.step=5e5;"
    "this.bottomUp=false;"
    "let{report}=app,spans=report.spans.length>0;"
    "this.comparison=report.processes.length>1?new Comparison(this):null;"
    "let ended=endings(report).length>0;"
    "this.tab=this.first=ended?'end':'scopes';"
    "this.list=["
    "ended?['end','At the end',()=>endPanel(this)]:null,"
    "['scopes','Scopes',()=>this.scopes()],"
    "['flame','Flame graph',()=>this.flame()],"
    "['scope','One scope',()=>this.scope()],"
    "['why','Why',()=>whyPanel(this)],"
    "requestSeries(report).length?['request','Request',()=>requestPanel(this)]:null,"
    "balanceGroups(report).length?['balance',balanceGroups(report)[0][0],()=>balancePanel(this)]:null,"
    "['found','Found',()=>this.found()],"
    "this.comparison?['compare','Compare',()=>this.comparison.table()]:null,"
    "this.comparison?['difference','Flame graph of differences',()=>this.comparison.flame()]:null,"
    "report.bars.length?['frames',report.frames.length?'Frames':'Steps',()=>this.frames()]:null,"
    "report.messages.length?['messages',`Messages (${grouped(report.messages.length)})`,()=>this.messages()]:null,"
    "spans?['spans','Spans',()=>this.spans()]:null,"
    "report.counters.length?['counters','Counters',()=>this.counters()]:null,"
    "report.processes.some(p=>p.memory)?['memory','Memory',()=>this.memory()]:null,"
    "report.processes.some(p=>p.locks)?['locks','Locks',()=>this.locks()]:null,"
    "['about','Recording',()=>this.about()]"
    "].filter(Boolean);"
    "tabs.replaceChildren(...this.list.map(([id,title])=>el('button',{role:'tab',id:'tab-'+id,'aria-controls':'panel',"
    "onclick:()=>this.open(id),onkeydown:event=>this.turn(event)},title)))"
    "}"
    "close(){"
    "clearTimeout(this.timer);"
    "if(this.comparison)this.comparison.kept=null"
    "}"
    "turn(event){"
    "let step={ArrowRight:1,ArrowLeft:-1}[event.key];"
    "if(!step)return;"
    "let i=this.list.findIndex(([id])=>id===this.tab),[id]=this.list[(i+step+this.list.length)%this.list.length];"
    "event.stopPropagation();"
    "this.open(id);"
    "$('tab-'+id).focus()"
    "}"
    "open(id){"
    "this.tab=this.list.some(([each])=>each===id)?id:'scopes';"
    "this.render();"
    "this.app.share()"
    "}"
    "refresh(wait=60){"
    "clearTimeout(this.timer);"
    "this.timer=setTimeout(()=>this.render(),wait)"
    "}"
    "render(){"
    "for(let[id]of this.list){"
    "let tab=$('tab-'+id),on=id===this.tab;"
    "tab.setAttribute('aria-selected',String(on));"
   ,
    "tab.classList.toggle('shown',this.shown.includes(id));"
    "tab.tabIndex=on?0:-1"
    "}"
    "this.body.setAttribute('aria-labelledby','tab-'+this.tab);"
    "let content=id=>/^(scopes?|flame)$/.test(id)&&!this.count()?this.coming():this.list.find(([each])=>each===id)[2]()||this.coming(),parts=this.shown.map(id=>content(id)),[first]=parts,wide=parts.length>1;"
    "this.body.classList.toggle('two',wide);"
    "if(wide)this.body.replaceChildren(...parts.map(part=>el('div.half',{},...[part].flat())));"
    "else if(first!==this.body.firstChild)this.body.replaceChildren(...[first].flat())"
    "}"
    "get shown(){"
    "if(SIDES.test(this.tab))this.right=this.tab;else this.left=this.tab;"
    "return WIDE&&WIDE.matches?[this.left||this.first,this.right||'flame']:[this.tab]"
    "}"
    "coming(){"
    "this.refresh(1);"
    "return this.soon=this.soon&&!this.body.matches('.two')?this.soon:el('p.note',{role:'status'},'Statistics are coming\\u2026')"
    "}"
    "stats(){"
    "while(!this.count());"
    "return this.kept"
    "}"
    "count(){"
    "let{selection,report}=this.app,{from,to}=selection||report,key=[from,to,this.only].join();"
    "if(this.key!==key){"
    "this.key=key;"
    "this.kept=null;"
    "this.steps=statsSteps(report,from,to,this.only===undefined?null:this.ofTrack())"
    "}"
    "let value=this.kept?null:someSteps(this.steps,this.step);"
    "if(value)this.kept={...value,names:value.rows,rows:byFormat(value.rows)};"
    "return this.kept"
    "}"
    "usual(process){"
    "if(!this.usually||this.usually.process!==process)this.usually={process,steps:usualSteps(this.app.report,process)};"
    "return this.usually.names=this.usually.names||someSteps(this.usually.steps,this.step/4)"
    "}"
    "balance(title,from,to,groups,all){"
    "let key=[title,from,to].join();"
    "if(!this.balanced||this.balanced.key!==key)this.balanced={key,steps:balanceSteps(this.app.report,from,to,groups,all)};"
    "return this.balanced.rows=this.balanced.rows||someSteps(this.balanced.steps,this.step)"
    "}"
    "ofTrack(){return track=>this.only===undefined||track.id===this.only}"
    "chooser(){"
    "let tracks=this.app.report.tracks.filter(track=>track.levels.length).slice(0,500);"
    "return tracks.length<2?null:select('Scopes of which track',[['','all tracks'],...tracks.map(({id,full})=>[id,full])],this.only,id=>{"
    "this.only=id===''?undefined:Number(id);"
    "this.path=[];"
    "this.render();"
    "this.app.share()"
    "})"
    "}"
    "rangeText(){"
    "let{selection,report}=this.app;"
    "return selection?`${ns(selection.to-selection.from)} selected, from ${moment(selection.from)} on`:`the whole recording, ${ns(report.to-report.from)}`"
    "}"
    "scopes(){"
    "let stats=this.stats(),span=stats.to-stats.from,{dim}=this.app,found=row=>!dim||!dim(row.label),rows=stats.rows.filter(row=>found(row)||(row.inner&&row.inner.some(found))),ran=rows.some(row=>row.states)?[times('running',row=>row.states?row.states[RUNNING]:NaN,'of the total, threads ran; else they were ready, or waited')]:[];"
    "let chooser=this.chooser();"
    "return[chooser?tools(chooser):'',table(["
    "words('scope',row=>row.label.name),"
    "counts('calls',row=>row.calls),"
    "times('total',row=>row.known?row.total:NaN,'without calls that are cut'),"
    "...ran,"
    "by('self',row=>row.self,row=>row.known?this.bar(row.self,stats):'-'),"
    "{title:'% of range',get:row=>row.share,show:row=>row.known&&span?(100*row.share).toFixed(1):'-',"
    "note:'of a thread whose older events were overwritten, of the time since then; threads add up'},"
    "...rows.some(row=>row.threads>1)?[counts('threads',row=>row.threads)]:[],"
    "times('mean',row=>row.sum/row.known),"
    "times('min',row=>row.min),"
    "...[50,90,99].map(n=>times('p'+n,row=>percentile(row,n/100),'percentiles are exact to 2 %; click a scope for exact ones')),"
    "by('max',row=>row.max,row=>ns(row.whole?row.max:NaN)),"
    "words('category',row=>row.label.category),"
    "PLACE\n"
    "],rows,{caption:`${rows.length?'S':'No s'}copes: ${this.rangeText()}`,sort:3+ran.length,memory:'scopes',"
    "onpick:row=>this.pick(row.label),picked:row=>this.app.label===row.label,"
   ,
    "inner:row=>row.inner&&row.inner.filter(found),open:Boolean(dim)})]"
    "}"
    "bar(self,stats){"
    "let most=stats.most=stats.most||stats.rows.reduce((most,row)=>max(most,row.self),1);"
    "return el('span.bar',{},el('i',{style:{width:`${max(0,60*self/most)}px`}}),ns(self))"
    "}"
    "pick(label){"
    "this.app.label=label;"
    "this.bucket=null;"
    "this.open('scope')"
    "}"
    "flame(){"
    "let tree=flameTree(this.app.report,this.stats(),this.bottomUp,levelsOf(this.path)),{labels}=this.app.report,root=along(tree,this.path,'label',node=>node.total),share=time=>`${ns(time)}, ${(100*time/tree.total||0).toFixed(1)} %`,box=flameBox('Flame graph',root,node=>node.total,node=>{"
    "let label=labels[node.label],text=`${label.name}: ${share(node.total)}, self ${ns(max(0,node.self))}, ${grouped(node.calls)} calls`;"
    "return{name:label.name,text,style:{background:css(label.rgb),color:label.ink},onclick:()=>this.zoomFlame(node),ondblclick:()=>this.pick(label)}"
    "},{text:share,zoom:node=>this.zoomFlame(node)});"
    "let mode=(on,title)=>el('button',{'aria-pressed':String(this.bottomUp===on),onclick:()=>{"
    "this.bottomUp=on;"
    "this.path=[];"
    "this.render()"
    "}},title);"
    "return[tools(this.chooser(),mode(false,'From the top'),mode(true,'From the bottom'),"
    "el('button',{disabled:!(this.path&&this.path.length),onclick:()=>{this.path=[];this.render()}},'Zoom out'),"
    "el('span.note',{},`${this.rangeText()}; ${this.bottomUp?'by self time, callers below':'calls below their callers'}; click zooms, double click opens the scope`)),"
    "el('div.scroll',{tabindex:0},box)]"
    "}"
    "zoomFlame(node){"
    "this.path=zoomed(node,this.path,'label');"
    "this.render()"
    "}"
    "scope(){"
    "let{app}=this,{label,report,selection}=app;"
    "if(!label)return el('p.note',{},'Click a scope in the time line or a name in a table.');"
    "let stats=this.stats(),calls=callsOf(report,label.id,stats.from,stats.to,this.ofTrack()),whole=calls.filter(call=>!call.track.levels[call.depth].flags.has(call.i)),durations=Float64Array.from(whole,call=>call.duration).sort(),row=[...stats.rows,...stats.names].find(each=>each.id===label.id),inner=row&&row.inner,every=stats.every&&row,at=share=>every?percentile(row,share):durations.length?durations[max(0,ceil(share*durations.length)-1)]:NaN,{known,total,self}=row&&row.known?row:{known:0,total:NaN,self:NaN},count=every?row.calls:calls.length,facts=label.group?[['groups',grouped(calls.length)]]:[['calls',grouped(count)],['total',ns(total)],['self',ns(self)],['mean',ns(total/known)],"
    "['min',ns(at(0))],['p50',ns(at(.5))],['p90',ns(at(.9))],['p99',ns(at(.99))],['p99.9',ns(at(.999))],['max',ns(at(1))]];"
    "let states=statesText(report,calls),one=app.focus&&app.counts(app.focus)&&statesIn(report,[scopeOf(report,app.focus)]),chosen=this.bucket?whole.filter(call=>call.duration>=this.bucket[0]&&call.duration<this.bucket[1]):calls,left=el('div.side',{},el('h2',{},el('i.swatch',{style:{background:css(label.rgb)}}),label.name),"
    "el('p.note',{},[label.category,label.function,where(label)].filter(Boolean).join(' \\u00b7 ')||'\\u00a0'),"
    "el('dl',{},...facts.flatMap(([name,text])=>[el('dt',{},name),el('dd',{},text)])),"
    "label.format&&tools(el('button',{onclick:()=>this.pick(label.format)},`All of ${label.format.name}`)),"
    "app.focus&&app.counts(app.focus)&&tools(el('button',{title:'Y',onclick:()=>this.open('why')},'Why did the selected call take so long?')),"
    "states&&el('p.note',{},`Of this time, threads were: ${states}`),"
    "one&&one.size>0&&el('dl.call',{'aria-label':'The selected call'},...[['selected call',scopeOf(report,app.focus).duration],...one].flatMap(([name,time])=>[el('dt',{},name),el('dd',{},ns(time))])),"
    "every&&count>calls.length?el('p.note',{},`These figures are of all calls. ${grouped(calls.length)} are here one by one:`):'',"
    "this.histogram(this.sidesOf(label)||[{durations}]),tools(...[['Previous',-1],['Next',1]].map(([title,step])=>"
   ,
    "el('button',{disabled:!calls.length,title:step<0?'[':']',onclick:()=>this.turnTo(calls,step)},`${title} call`)),this.chooser()),this.source(label),inner?this.names(inner):'',...label.group?[]:this.argumentTables(calls));"
    "let list=this.callTable(chosen,this.bucket\n"
    "?`Calls of ${ns(this.bucket[0])} to ${ns(this.bucket[1])}`\n"
    ":`Calls: ${selection?this.rangeText():'all'}`,Boolean(inner));"
    "return el('div.split',{},left,list)"
    "}"
    "turnTo([first],step){"
    "let{app}=this;"
    "if(app.focus&&app.counts(app.focus))app.sameName(step);else app.show(first)"
    "}"
    "names(rows){"
    "return el('details',{open:true},el('summary',{},`by name (${grouped(rows.length)})`),table([words('name',row=>row.label.name),counts('calls',row=>row.calls),"
    "times('total',row=>row.known?row.total:NaN),times('mean',row=>row.sum/row.known),by('max',row=>row.max,row=>ns(row.whole?row.max:NaN))],rows,"
    "{caption:'By name',sort:2,memory:'names',limit:40,onpick:row=>this.pick(row.label)}))"
    "}"
    "source(label){"
    "let lines=this.app.report.sources.get(label.file),rows=[];"
    "for(let n=label.line-4;lines&&n<=label.line+8;n++){"
    "let here=n===label.line;"
    "if(lines.has(n))rows.push(el(here?'mark':'span',{'data-n':n,'aria-current':here?'true':null},lines.get(n)+'\\n'))"
    "}"
    "return rows.length?el('details',{open:true},el('summary',{},'source'),"
    "el('pre.source',{tabindex:0,role:'region','aria-label':`Source at ${where(label)}`},...rows)):null"
    "}"
    "sidesOf(label){"
    "let sides=this.comparison&&this.comparison.callsOf(label);"
    "return sides&&sides.every(({durations})=>durations.length)?sides:null"
    "}"
    "histogram(sides){"
    "let box=el('div.histogram',{role:'group','aria-label':'Distribution of durations; a bar lists its calls'}),lists=sides.map(side=>side.durations);"
    "if(!lists[0].length)return box;"
    "let first=min(...lists.map(list=>list[0])),last=max(...lists.map(list=>list.at(-1))),low=max(1,first),high=max(low*1.01,last),bars=48,edge=i=>i===0?0:i===bars?Infinity:low*(high/low)**(i/bars),below=(list,i)=>firstIndex(list.length,at=>list[at]>=edge(i)),all=lists.map(list=>Array.from({length:bars},(_,i)=>below(list,i+1)-below(list,i))),share=(k,i)=>all[k][i]/lists[k].length,most=max(...all.map((each,k)=>max(...each)/lists[k].length));"
    "for(let i=0;i<bars;i++){"
    "let calls=sides.map(({name},k)=>`${name||''}${grouped(all[k][i])} calls${name?`, ${(100*share(k,i)).toFixed(1)} %`:''}`).join('; ');"
    "let text=`${ns(max(i?edge(i):first,0))} to ${ns(i+1===bars?last:edge(i+1))}: ${calls}`,picked=this.bucket&&this.bucket[0]===edge(i);"
    "box.append(el('button',{title:text,'aria-label':text,disabled:all.every(each=>!each[i]),class:picked?'picked':null,"
    "onclick:()=>{this.bucket=picked?null:[edge(i),edge(i+1)];this.render()}},"
    "...all.map((each,k)=>each[i]?el('i',{class:k?'after':null,style:{height:`${max(2,100*share(k,i)/most)}%`}}):null)))"
    "}"
    "return el('div',{},box,el('div.ends',{},el('span',{},ns(first)),el('span',{},'durations, logarithmic'),el('span',{},ns(last))),"
    "...sides[1]?sides.map(({name,about,durations},k)=>el('div.note',{},el('i',{class:`swatch ${k?'after':'before'}`}),"
    "`${name}${about}: ${grouped(durations.length)} calls, p50 ${ns(durations[durations.length-1>>1])}`)):[])"
    "}"
    "argumentTables(calls){"
    "let{report}=this.app,keys=new Map(),seen=0;"
    "for(let call of calls){"
    "for(let[key,v]of scopeOf(report,call).args){"
    "if(!keys.has(key))keys.set(key,new Map());"
    "let text=shown(v),values=keys.get(key),row=values.get(text);"
    "if(!row){"
    "if(values.size>=10000)continue;"
    "values.set(text,row={text,calls:0,total:0,max:0})"
    "}"
    "row.calls++;"
    "row.total+=call.duration;"
    "row.max=max(row.max,call.duration)"
    "}"
    "if(++seen>500000)break"
    "}"
    "return[...keys].slice(0,8).map(([key,values])=>el('details',{open:keys.size<3},el('summary',{},`by ${key} (${grouped(values.size)} values)`),"
    "table([{title:key,text:true,get:row=>row.text},counts('calls',row=>row.calls),"
   ,
    "times('total',row=>row.total),times('mean',row=>row.total/row.calls),"
    "times('max',row=>row.max)],[...values.values()],"
    "{caption:`By ${key}`,sort:2,memory:'arg '+key,limit:40})))"
    "}"
    "callTable(calls,caption,named=false){"
    "let{app}=this,{report}=app,keys=[];"
    "for(let call of calls.slice(0,2000))for(let[key]of scopeOf(report,call).args)if(!keys.includes(key)&&keys.length<8)keys.push(key);"
    "let argument=(call,key)=>{"
    "let pair=scopeOf(report,call).args.reverse().find(([each])=>each===key);"
    "return pair?pair[1]:''"
    "};"
    "let around=(noun,find)=>report.bars.some(each=>each.noun===noun)?by(noun,call=>numberOf(find(report,call)),call=>String(find(report,call))):null,ran=call=>statesIn(report,[call]).get('running')||0,columns=["
    "named?words('scope',call=>app.labelOf(call).name):null,"
    "moments('start',call=>call.start),"
    "times('duration',call=>call.duration),"
    "report.tracks.some(track=>track.states||track.system)?{title:'running',note:'of this time, its thread ran',get:ran,show:call=>call.track.states||call.track.system?ns(ran(call)):''}:null,"
    "report.tracks.length>1?words('thread',call=>call.track.full):null,"
    "around('frame',frameAround),around('step',stepAround),"
    "...keys.map(key=>({title:key,text:calls.slice(0,50).some(call=>typeof argument(call,key)==='string'&&argument(call,key)!==''),"
    "get:call=>{let v=argument(call,key);return typeof v==='bigint'?Number(v):v},show:call=>shown(argument(call,key))})),"
    "words('',call=>truncatedText(scopeOf(report,call).flags))\n"
    "].filter(Boolean);"
    "return table(columns,calls,{caption,sort:named?2:1,memory:named?'named calls':'calls',limit:200,onpick:call=>app.show(call),"
    "picked:call=>app.focus&&app.focus.track===call.track&&app.focus.depth===call.depth&&app.focus.i===call.i})"
    "}"
    "found(){"
    "let{app}=this,{query,hits,report}=app,{values=[],threads=[],spans=[],messages=[],counters=[]}=app.others||{};"
    "if(!query)return el('p.note',{},'Type into the field above; the key / goes there, and ? says what it finds.');"
    "let counted=[[hits,'scope'],[values,'scope by an argument','scopes by an argument'],[threads,'thread'],[spans,'span'],[messages,'message'],[counters,'counter']].filter(([list])=>list.length||list.more),says=counted.map(([list,one,many])=>`${grouped(list.length)}${list.more?' and more, the limit,':''} ${list.length===1?one:many||one+'s'}`).join(', ');"
    "if(!says)return el('p.note',{role:'status'},`Nothing matches ${query}: no scope, argument, thread, span, message or counter. Every word has to match; quotes keep words together.`);"
    "return[el('p.note',{role:'status'},`${says} for ${query}`),spans.length?this.spanTable(spans,`${grouped(spans.length)} spans for ${query}`):'',"
    "hits.length||!values.length?'':this.callTable(values,`${grouped(values.length)} scopes by an argument, for ${query}`,true),"
    "hits.length||says.startsWith('0')?this.callTable(hits,`${grouped(hits.length)}${hits.more?' and more':''} scopes for ${query}`,true):'',"
    "hits.length&&values.length?this.callTable(values,`${grouped(values.length)} scopes by an argument, for ${query}`,true):'',"
    "threads.length?table([links('thread',row=>row.full,row=>app.goTo(row.levels[0]?row.levels[0].start[0]:report.from,row)),by('id',row=>Number(row.thread))],threads,{caption:'Threads',up:true,memory:'found threads'}):'',"
    "messages.length?table([moments('time',row=>row.time),links('message',row=>row.text,row=>app.goTo(row.time,row.track)),words('thread',row=>row.track.title)],messages,{caption:'Messages',up:true,memory:'found messages'}):'',"
    "counters.length?table([links('counter',row=>row.name,row=>app.goTo(row.time[row.value.indexOf(row.max)]||report.from)),by('max',row=>row.max,row=>measured(row.max,row.unit))],counters,{caption:'Counters',up:true,memory:'found counters'}):''].filter(Boolean)"
    "}"
    "frames(){"
   ,
    "let{app}=this,{report}=app,series=app.series,place=each=>each.tracks&&each.tracks.size>1?`${grouped(each.tracks.size)} threads`:each.track.title,which=select('Which frames',report.bars.map((each,i)=>[i,`${each.name} on ${place(each)} (${grouped(each.start.length)})`]),report.bars.indexOf(series),"
    "i=>{app.setSeries(Number(i));this.render()}),hertz=el('button',{onclick:()=>{series.hertz=!series.hertz;app.drawFrames()}},'60 Hz');"
    "let{number,at}=series,rows=series.start.map((start,i)=>({i,start,duration:series.duration[i],number:number[i],track:at?at[i].track:series.track})),sorted=Float64Array.from(series.duration).sort(),n=sorted.length,most=share=>sorted[max(0,ceil(share*n)-1)],low=sorted.slice(floor(n*.99)),mean=rows.reduce((sum,row)=>sum+row.duration,0)/n,text=`${grouped(n)} ${series.noun}${n===1?'':'s'}, mean ${ns(mean)} (${(1e9/mean).toFixed(1)} a second), p50 ${ns(most(.5))}, p99 ${ns(most(.99))}, longest ${ns(most(1))}; `+\n"
    "`the slowest 1 %: ${(1e9/(low.reduce((sum,d)=>sum+d,0)/low.length)).toFixed(1)} a second`;"
    "return[tools(which,hertz,el('span.note',{},text)),"
    "table([by(series.noun,row=>numberOf(row.number),row=>String(row.number)),moments('start',row=>row.start),"
    "times('duration',row=>row.duration),at&&series.tracks.size>1?words('thread',row=>row.track.title):null].filter(Boolean),rows,"
    "{caption:`${series.noun}s: ${series.name}`,sort:2,memory:'frames',onpick:row=>app.showBar(row.i)})]"
    "}"
    "messages(){"
    "let{app}=this,{selection}=app,filter=el('input',{type:'search',placeholder:'Only with this text','aria-label':'Only messages with this text',value:this.wanted||''}),level=select('Severity',[...['all','marks','info and above','warnings and above','errors'].entries()],this.least||0,i=>{this.least=Number(i);draw()});"
    "let box=el('div.fill'),draw=()=>{"
    "let text=(this.wanted||'').toLowerCase(),least=this.least||0,rows=app.report.messages.filter(message=>(!selection||touches(message.time,message.time,selection.from,selection.to))&&"
    "(!text||message.text.toLowerCase().includes(text))&&(least===0||(least===1?message.severity<0:message.severity>=least-1)));"
    "box.replaceChildren(table([moments('time',row=>row.time),"
    "words('severity',severityOf),words('thread',row=>row.track.title),"
    "words('text',row=>row.text+this.pointArgs(row)),words('category',row=>row.label.category),"
    "PLACE],rows,"
    "{caption:`${grouped(rows.length)} messages and marks${selection?' of the selection':''}`,sort:0,up:true,memory:'messages',"
    "onpick:row=>app.goTo(row.time,row.track)}))"
    "};"
    "filter.oninput=()=>{this.wanted=filter.value;draw()};"
    "draw();"
    "return[tools(level,filter),box]"
    "}"
    "pointArgs(message){"
    "let args=message.severity<0&&argsText(this.app.report.argsOf(message.track.points.args,message.at));"
    "return args?` (${args})`:''"
    "}"
    "spans(){"
    "let{report,selection}=this.app,rows=report.spans.filter(span=>!selection||touches(span.start,span.start+span.duration,selection.from,selection.to));"
    "return this.spanTable(rows,`${grouped(rows.length)} spans`)"
    "}"
    "spanTable(rows,caption){"
    "let{app}=this,{report}=app;"
    "return table([words('span',span=>report.labels[span.label].name+(span.mark?' (mark)':'')),"
    "moments('start',span=>span.start),by('duration',span=>span.duration,span=>span.mark?'':ns(span.duration)),"
    "by('id',span=>Number(span.id),span=>'0x'+span.id.toString(16)),"
    "words('from',span=>report.tracks[span.track].title),words('to',span=>report.tracks[span.endTrack].title),"
    "words('arguments',span=>argsText(span.args)),"
    "words('',span=>truncatedText(span.flags))],rows,"
    "{caption,sort:2,memory:'spans',onpick:span=>app.openSpan(span)})"
    "}"
    "counters(){"
    "let rows=this.app.report.counters,show=(series,v)=>measured(v,series.unit);"
    "return table([words('counter',s=>s.name),words('category',s=>s.category),"
    "counts('samples',s=>s.time.length),by('min',s=>s.min,s=>show(s,s.min)),"
   ,
    "by('max',s=>s.max,s=>show(s,s.max)),"
    "by('last',s=>s.value.at(-1)||0,s=>show(s,s.value.at(-1)))],rows,{caption:'Counters',memory:'counters',up:true})"
    "}"
    "objects(){"
    "let{selection,report}=this.app;"
    "if(!selection)return report.processes;"
    "if(this.chosen!==selection)this.inside=report.processes.map(process=>({name:process.name,...objectsIn(report,process,selection.from,selection.to)}));"
    "this.chosen=selection;"
    "return this.inside"
    "}"
    "memory(){"
    "let parts=[el('p.note',{},`${this.rangeText()}; not freed: at its end`)];"
    "let tableOf=(first,rows,caption,key)=>table([...first,"
    "counts('allocations',row=>row.count),sizes('bytes',row=>row.bytes),"
    "counts('not freed',row=>row.liveCount),sizes('bytes not freed',row=>row.liveBytes),"
    "sizes('peak',row=>row.peak),PLACE],"
    "[...rows.values()],{caption,sort:first.length+1,memory:key});"
    "for(let{memory,name}of this.objects()){"
    "if(!memory)continue;"
    "parts.push(tableOf([words('site',row=>row.label.name),words('pool',row=>row.label.category)],"
    "memory.sites,`Allocations of ${name} by site${memory.unknown?`; ${grouped(memory.unknown)} frees of blocks from before`:''}`,'memory'));"
    "parts.push(tableOf([words('scope',row=>row.label.name)],memory.scopes,`Allocations of ${name} by the scope around them`,'memory by scope'));"
    "parts.push(table([moments('allocated at',row=>row.time),sizes('bytes',row=>row.size),"
    "words('address',row=>'0x'+row.address.toString(16)),words('site',({site:{label}})=>label.line?where(label):label.name),"
    "words('thread',row=>row.track.title)],memory.leaks,"
    "{caption:`${grouped(memory.leaks.length)} blocks that were not freed`,sort:1,memory:'leaks',onpick:row=>this.app.goTo(row.time,row.track)}))"
    "}"
    "return parts"
    "}"
    "locks(){"
    "let parts=[el('p.note',{},this.rangeText())];"
    "for(let{locks,name}of this.objects()){"
    "if(!locks)continue;"
    "parts.push(table([words('lock',row=>row.label.name),by('locks',row=>row.addresses.size),"
    "counts('acquired',row=>row.acquired),counts('contended',row=>row.contended),"
    "{title:'most waiters',note:'threads that waited for one of them at the same time',get:row=>row.waiters},"
    "times('waited',row=>row.wait),times('longest wait',row=>row.waitMax),"
    "times('held',row=>row.hold),times('longest hold',row=>row.holdMax),"
    "PLACE],[...locks.rows.values()],{caption:`Locks of ${name}`,sort:5,memory:'locks'}));"
    "parts.push(table([moments('at',row=>row.time),times('waited',row=>row.took),"
    "words('lock',row=>row.label.name),words('thread',row=>row.track.title),"
    "words('held by',row=>row.holder?row.holder.title:'')],locks.waits,"
    "{caption:'The longest waits',sort:1,memory:'waits',onpick:row=>{"
    "this.app.time.reveal(row.track,0,row.holder);"
    "this.app.zoomTo(row.time,row.time+row.took,true)"
    "}}))"
    "}"
    "return parts"
    "}"
    "about(){"
    "let{report}=this.app,parts=[];"
    "for(let process of report.processes){"
    "let about=key=>process.about.get(key)||'',number=key=>Number(about(key)),facts=[['program',about('program')],['process',about('pid')+(number('parent_pid')?`, child of ${about('parent_pid')}`:'')],"
    "['started',number('start_unix_ns')?new Date(number('start_unix_ns')/1e6).toISOString().replace('T',' '):''],"
    "['duration',ns(number('duration_ns'))],['events',grouped(number('events'))],['mode',about('mode')],"
    "['clock',`${about('clock')}, ${(number('tick_hz')/1e6).toFixed(3)} MHz${number('clock_resolution_ns')?`, smallest step ${ns(number('clock_resolution_ns'))}`:''}`],"
    "['recording cost',cost(process,report.to-report.from).text],['lost',number('lost')?grouped(number('lost'))+' events':'nothing'],...process.metadata];"
    "if(about('sources_missing'))facts.push(['source code',`lines of ${report.sources.size} files; ${about('sources_missing')} were not found${number('sources_limit')?'; a limit left some out':''}`]);"
   ,
    "parts.push(el('table.facts',{},el('caption',{},process.name),...facts.map(([key,text])=>el('tr',{},el('th',{scope:'row'},key),el('td.text',{},text)))));"
    "parts.push(table([words('track',t=>t.title),by('thread',t=>Number(t.thread)),"
    "words('kind',t=>t.device?'device '+t.device:t.fiber?'fiber':'thread'),"
    "by('scopes',scopesOf,t=>grouped(scopesOf(t))),"
    "by('depth',t=>t.levels.length),counts('other events',t=>t.points.count),"
    "counts('lost',t=>t.lost),"
    "words('clock',t=>['','aligned by pairs','aligned by rate','not aligned'][t.alignment]||'')],process.tracks,"
    "{caption:'Tracks',sort:3,memory:'tracks'}))"
    "}"
    "if(report.losses.length)parts.push(table([moments('at',l=>l.time),counts('lost',l=>l.lost),"
    "words('track',l=>l.track.title)],report.losses,{caption:'Where events were lost',memory:'losses',onpick:l=>this.app.goTo(l.time,l.track)}));"
    "return parts"
    "}"
    "}"
    "function someSteps(steps,left){"
    "while(left>0){"
    "let{done,value}=steps.next();"
    "if(done)return value;"
    "left-=value"
    "}"
    "}"
    "function statesText(report,calls){return[...statesIn(report,calls)].filter(([,time])=>time>0).map(([name,time])=>`${name} ${ns(time)}`).join(', ')}"
    "function drawBars(canvas,{series,view,style,time},svg){"
    "let ratio=devicePixelRatio||1,width=canvas.clientWidth,height=canvas.clientHeight;"
    "if(!svg)Object.assign(canvas,{width:round(width*ratio),height:round(height*ratio)});"
    "let ctx=svg||canvas.getContext('2d'),{start,duration}=series,n=start.length;"
    "ctx.setTransform(ratio,0,0,ratio,0,0);"
    "let sorted=Float64Array.from(duration).sort(),high=min(sorted[n-1],sorted[floor(n*.95)]*2.5)||1,budgets=[1e9/60,1e9/30],median=sorted[n>>1],game=series.hertz?\?(series.noun==='frame'&&median>1e6&&median<5e7),limits=game?[budgets[0]*1.02,budgets[1]*1.02]:[median*1.5,median*3],bar=min(12,(width-GUTTER)/n);"
    "for(let i=0;i<n;){"
    "let x=GUTTER+i*bar,next=bar>=1?i+1:max(i+1,ceil((floor(x)+1-GUTTER)/bar)),longest=0,shownToo=false;"
    "for(let k=i;k<min(n,next);k++){"
    "longest=max(longest,duration[k]);"
    "shownToo=shownToo||(start[k]<view.to&&start[k]+duration[k]>view.from)"
    "}"
    "ctx.fillStyle=longest>limits[1]?style.bad:longest>limits[0]?style.warn:style.good;"
    "let tall=max(1,min(1,longest/high)*(height-7));"
    "ctx.fillRect(x,height-tall-3,max(1,bar-(bar>3?1:0)),tall);"
    "ctx.fillStyle=style.accent;"
    "if(shownToo)ctx.fillRect(x,height-2,max(1,bar),2);"
    "i=next"
    "}"
    "ctx.fillStyle=style.faint;"
    "ctx.font=11+FONT;"
    "for(let limit of game?budgets:[median]){"
    "let y=height-3-limit/high*(height-7);"
    "if(y>2)ctx.fillRect(GUTTER,y,width,1)"
    "}"
    "ctx.textBaseline='top';"
    "ctx.fillStyle=style.ink;"
    "let write=(text,y)=>time.fit(ctx,text,8,y,GUTTER-14);"
    "write(`${series.noun==='step'?'Steps':'Frames'}: ${series.name}`,6);"
    "ctx.fillStyle=style.faint;"
    "write(`${grouped(n)}, median ${ns(median)}`,22);"
    "write(`not by time; ${game?'lines: 60, 30 Hz':'line: the median'}`,37);"
    "return bar"
    "}"
    "const root=globalThis.document?.documentElement;"
    "const kept={"
    "get(key){try{return localStorage.getItem('prof.'+key)}catch{return null}},"
    "set(key,text){try{localStorage.setItem('prof.'+key,text)}catch{}}"
    "};"
    "const decoded=text=>{try{return decodeURIComponent(text)}catch{return''}};"
    "const hideTip=()=>{$('tip').hidden=true};"
    "const ORDERS={'':'as recorded',name:'by name',busy:'by time in scopes'};"
    "const systemTheme=()=>matchMedia('(prefers-color-scheme: dark)').matches?'dark':'light';"
    "class App{"
    "constructor(report){"
    "this.wheelZooms=kept.get('wheel')==='zoom';"
    "foldGutter(innerWidth<=600);"
    "this.time=new TimeLine($('time'),this);"
    "this.take(report);"
    "this.listen();"
    "this.readFragment();"
    "this.panels.render();"
    "this.drawFrames()"
    "}"
    "take(report){"
    "this.report=report;"
    "this.view={from:report.from,to:report.to};"
    "this.selection=null;"
    "this.focus=null;"
    "this.bar=-1;"
    "this.mark=null;"
    "this.label=null;"
    "this.request=null;"
    "this.flowAt=-1;"
    "this.query='';"
    "this.hits=[];"
    "this.others=null;"
    "this.found=new Set();"
    "this.least=0;"
   ,
    "this.dim=null;"
    "this.closed=new Set();"
    "this.pinned=new Set();"
    "this.series=report.bars[0];"
    "this.order='';"
    "this.notes=this.notes||[];"
    "this.flows=this.fewFlows=report.flows.length<=300;"
    "$('flows').hidden=!report.flows.length;"
    "for(let process of report.processes){"
    "if(process.counters.length>6)this.closed.add(`p${process.id}Counters`);"
    "if(process.spanGroups.length>8)this.closed.add(`p${process.id}Spans`);"
    "if(process.tracks.filter(track=>track.owner===track).length>8)this.closed.add(`p${process.id}Tasks`);"
    "for(let{key,title,tracks,lanes}of process.threadGroups)if(title==='Idle threads'||(lanes||tracks).length>32)this.closed.add(key);"
    "this.closed.add(`p${process.id}Locks`)"
    "}"
    "this.folded=this.foldedText();"
    "this.theme(kept.get('theme'));"
    "if(this.panels)this.panels.close();"
    "forget();"
    "this.panels=new Panels(this,$('tabs'),$('panel'));"
    "this.head()"
    "}"
    "async against(file){"
    "if(this.reading)return;"
    "this.reading=true;"
    "this.say(`Reading ${file.name}\\u2026`);"
    "try{"
    "let name=file.name.replace(/\\.[^.]*$/,''),head=await file.slice(0,100).text(),pieces=/^<!doctype html>/i.test(head)?piecesIn(await file.text()):[];"
    "if(!pieces.length)throw new Error(`it is no report of prof. Make a report of a recording first: prof export ${name}.prof -o ${name}.html`);"
    "let other=finish(await readReport(pieces)),first=this.report.processes.length;"
    "if(other.damage||!other.processes.length)throw new Error(`it is damaged: ${other.damage||'it has no recording'}`);"
    "for(let process of other.processes)process.file=file.name;"
    "this.take(finish(joined(this.report,other)));"
    "$('search').value=$('hits').textContent='';"
    "this.panels.comparison.pair=[0,first];"
    "this.panels.open('compare');"
    "this.drawFrames();"
    "$('said').hidden=true;"
    "tell(`Compared with ${file.name}`)"
    "}catch(error){"
    "this.say(`${file.name} cannot be compared: ${error.message}`)"
    "}"
    "this.reading=false"
    "}"
    "say(text){"
    "$('said').hidden=false;"
    "$('said').replaceChildren(text+' ',el('button',{onclick:()=>{$('said').hidden=true}},'Close'));"
    "tell(text)"
    "}"
    "listenToFiles(){"
    "let mark=event=>{"
    "let files=event.type==='dragover'&&event.dataTransfer.types.includes('Files');"
    "if(files)event.preventDefault();"
    "document.body.classList.toggle('dropping',files)"
    "};"
    "document.ondragover=document.ondragleave=mark;"
    "document.ondrop=event=>{"
    "mark(event);"
    "let[file]=event.dataTransfer.files;"
    "if(!file)return;"
    "event.preventDefault();"
    "this.against(file)"
    "};"
    "$('against').onclick=()=>$('file').click();"
    "$('file').onchange=()=>{"
    "let[file]=$('file').files;"
    "if(file)this.against(file);"
    "$('file').value=''"
    "}"
    "}"
    "head(){"
    "let{report}=this,names=[...new Set(report.processes.map(process=>process.about.get('program')))].join(', ');"
    "document.title=`${report.title||names||'report'} - prof`;"
    "$('title').textContent=report.title||names;"
    "this.facts();"
    "let lines=warnings(report);"
    "$('warnings').hidden=!lines.length;"
    "$('warnings').replaceChildren(el('strong',{},lines.length===1?'Note: ':`${lines.length} notes: `),lines[0]||'',"
    "lines.length>1?el('details',{},el('summary',{},`${lines.length-1} more`),...lines.slice(1).map(line=>el('p',{},line))):'');"
    "for(let{from,to}of report.windows.slice(0,1))$('warnings').append(' ',el('button',{onclick:()=>this.setView(from,to)},'Show this window'));"
    "$('frames').hidden=!this.series"
    "}"
    "facts(){"
    "let{report}=this,tracks=report.tracks.filter(track=>track.levels.length).length,many=(n,noun)=>`${grouped(n)} ${noun}${n===1?'':'s'}`,scopes=report.all?report.all.reduce((sum,row)=>sum+row.calls,0):report.scopes;"
    "$('facts').textContent=`${ns(report.to-report.from)}, ${many(scopes,'scope')} on ${many(tracks,'track')}`"
    "}"
    "theme(name){"
    "root.dataset.theme=name||systemTheme();"
    "let computed=getComputedStyle(root),get=key=>computed.getPropertyValue('--'+key).trim();"
   ,
    "this.style=Object.fromEntries(['bg','gutter','head','group','line','grid','ink','faint','shade','accent','onaccent',"
    "'counter','mark','warn','bad','good','flow',...STATE_NAMES].map(key=>[key,get(key)]));"
    "this.dark=root.dataset.theme==='dark';"
    "colorLabels(this.report.labels,this.dark);"
    "this.paint()"
    "}"
    "paint(){"
    "let rgb=key=>/^#(..)(..)(..)$/.exec(this.style[key]).slice(1).map(part=>parseInt(part,16));"
    "this.colors={...nodeColors(this.report,rgb('bg'),this.dim),background:abgr(rgb('bg')),grid:abgr(rgb('grid')),states:STATE_NAMES.map(name=>abgr(rgb(name)))};"
    "this.time.redraw()"
    "}"
    "setSeries(i){"
    "this.series=this.report.bars[i];"
    "this.bar=-1;"
    "this.drawFrames()"
    "}"
    "drawFrames(svg){if(this.series)this.frameBar=drawBars($('frames'),this,svg)}"
    "frameAt(x){"
    "let i=floor((x-GUTTER)/this.frameBar);"
    "return i>=0&&i<this.series.start.length?i:-1"
    "}"
    "barLines(i){"
    "let{noun,number,duration,at,tracks}=this.series;"
    "return[`${noun} ${number[i]}`,ns(duration[i]),...tracks&&tracks.size>1?[`on ${at[i].track.title}`]:[]]"
    "}"
    "showBar(i){"
    "let{start,duration,at,track}=this.series,place=at?at[i]:{track,depth:0};"
    "this.time.reveal(place.track,place.depth);"
    "this.zoomTo(start[i],start[i]+duration[i],true);"
    "this.bar=i"
    "}"
    "setView(from,to){"
    "let{report}=this,all=report.to-report.from,length=max(10,min(to-from,all*1.1)),middle=(from+to)/2,edge=all*.05;"
    "from=max(report.from-edge,min(middle-length/2,report.to+edge-length));"
    "this.time.scale*=(this.view.to-this.view.from)/length;"
    "this.view={from,to:from+length};"
    "this.time.redraw();"
    "if(this.series)this.drawFramesSoon();"
    "this.share()"
    "}"
    "drawFramesSoon(){"
    "if(this.framesWait)return;"
    "this.framesWait=requestAnimationFrame(()=>{"
    "this.framesWait=0;"
    "this.drawFrames()"
    "})"
    "}"
    "zoom(factor,at=(this.view.from+this.view.to)/2){"
    "let{from,to}=this.view;"
    "this.setView(at-(at-from)*factor,at+(to-at)*factor)"
    "}"
    "pan(share){"
    "let by=(this.view.to-this.view.from)*share;"
    "this.setView(this.view.from+by,this.view.to+by)"
    "}"
    "zoomTo(from,to,select){"
    "let margin=max(20,(to-from)*.06);"
    "this.setView(from-margin,to+margin);"
    "if(select)this.select(from,to)"
    "}"
    "select(from,to){"
    "this.selection=to>=from?{from,to}:null;"
    "this.bar=-1;"
    "this.panels.refresh();"
    "this.changed()"
    "}"
    "goTo(time,track){"
    "let length=min(this.view.to-this.view.from,(this.report.to-this.report.from)/20);"
    "this.mark=time;"
    "if(track)this.time.reveal(track,0);"
    "this.setView(time-length/2,time+length/2)"
    "}"
    "setFocus(scope){"
    "this.focus=scope;"
    "this.bar=-1;"
    "if(scope){"
    "let{label:own,start,duration}=scopeOf(this.report,scope);"
    "if(!this.counts(scope))this.label=own;"
    "this.panels.bucket=null;"
    "tell(`${own.name}, ${ns(duration)}, at ${moment(start)}, ${scope.track.title}, depth ${scope.depth+1}`);"
    "if(this.panels.shown.includes('scope'))this.panels.refresh()"
    "}"
    "if(this.panels.shown.includes('why'))this.panels.refresh();"
    "this.changed()"
    "}"
    "openRequest(series,one){"
    "this.request={series,one};"
    "this.flowAt=-1;"
    "this.panels.open('request')"
    "}"
    "openSpan(span){"
    "let{report}=this,{name}=report.labels[span.label],{process}=report.tracks[span.track],series=requestSeries(report).find(each=>!each.step&&each.process===process&&each.name===name),one=series&&series.list.find(each=>each.start===span.start&&each.id===Number(span.id));"
    "this.zoomTo(span.start,span.start+span.duration,true);"
    "if(one)this.openRequest(series,one)"
    "}"
    "followFlow(){"
    "let{flowList}=this;"
    "if(!flowList||!flowList.length)return;"
    "let{from,to,fromTrack,toTrack,name}=flowList[(this.flowAt=(this.flowAt+1)%(2*flowList.length))>>1],end=this.flowAt&1;"
    "this.goTo(end?to:from,end?toTrack:fromTrack);"
    "tell(`Flow ${name} ${end?'arrives at':'leaves'} ${(end?toTrack:fromTrack).title}`)"
    "}"
    "labelOf(scope){return scopeOf(this.report,scope).label}"
    "counts(scope){"
    "let label=this.labelOf(scope);"
    "return this.label!==null&&(label===this.label||label.format===this.label)"
    "}"
    "fit(scope){"
   ,
    "let{start,end}=scopeOf(this.report,scope);"
    "this.zoomTo(start,end)"
    "}"
    "show(scope){"
    "let{start,duration}=scopeOf(this.report,scope),length=this.view.to-this.view.from;"
    "this.setFocus(scope);"
    "if(duration<length/60||duration>length){"
    "let wide=max(duration*8,100);"
    "this.setView(start+duration/2-wide/2,start+duration/2+wide/2)"
    "}else if(start<this.view.from||start+duration>this.view.to){"
    "this.setView(start+duration/2-length/2,start+duration/2+length/2)"
    "}"
    "this.time.reveal(scope.track,scope.depth);"
    "this.time.redraw()"
    "}"
    "svg(){"
    "let time=$('time'),frames=$('frames'),above=this.series?frames.clientHeight:0,measure=document.createElement('canvas').getContext('2d'),svg=new Svg(time.clientWidth,time.clientHeight+above,measure),{root}=svg;"
    "svg.fillStyle=this.style.bg;"
    "svg.fillRect(0,0,time.clientWidth,time.clientHeight+above);"
    "if(above)this.drawFrames(svg);"
    "svg.root=svg.place=svg.add(root,'g',{transform:`translate(0 ${above})`});"
    "this.time.draw(svg);"
    "svg.root=root;"
    "return svg.text()"
    "}"
    "png(){"
    "let time=$('time'),frames=$('frames'),above=this.series?frames.height:0,canvas=el('canvas',{width:time.width,height:time.height+above}),ctx=canvas.getContext('2d');"
    "this.time.draw();"
    "ctx.fillStyle=this.style.bg;"
    "ctx.fillRect(0,0,canvas.width,above);"
    "if(above)ctx.drawImage(frames,0,0);"
    "ctx.drawImage(time,0,above);"
    "return new Promise(done=>canvas.toBlob(done))"
    "}"
    "listenToPictures(){"
    "let name=()=>document.title.replace(/ - prof$/,'').replace(/[^\\w.-]+/g,'_')||'report',save=(text,what)=>download(new Blob([text],{type:'image/svg+xml'}),`${name()}${what}.svg`),flame=()=>document.querySelector('.flame');"
    "$('picture').onclick=()=>{"
    "$('save-flame').disabled=!flame();"
    "$('save-page').disabled=!copies.length;"
    "$('pictures').showModal()"
    "};"
    "$('save-png').onclick=async()=>download(await this.png(),name()+'.png');"
    "$('save-svg').onclick=()=>save(this.svg(),'');"
    "$('save-flame').onclick=()=>save(flamePicture(flame(),document.createElement('canvas').getContext('2d'),this.style),'-flame');"
    "$('save-page').onclick=()=>download(this.copyOfPage(),name()+'.html');"
    "$('copy-address').onclick=event=>copy(event.target,location.href)"
    "}"
    "step(direction){"
    "let{focus}=this;"
    "if(!focus)return this.first();"
    "let{track,depth,i}=focus,level=track.levels[depth],last=depth+1<track.levels.length?track.levels[depth+1]:null;"
    "if(direction==='ArrowRight'&&i+1<level.count)this.show({track,depth,i:i+1});"
    "if(direction==='ArrowLeft'&&i>0)this.show({track,depth,i:i-1});"
    "if(direction==='ArrowUp'&&depth>0){"
    "let up=scopeAt(track.levels[depth-1],level.start[i]);"
    "if(up>=0)this.show({track,depth:depth-1,i:up})"
    "}"
    "if(direction==='ArrowDown'&&last){"
    "let child=firstIndex(last.count,k=>last.start[k]>=level.start[i]);"
    "if(child<last.count&&last.start[child]<level.endOf(i))this.show({track,depth:depth+1,i:child})"
    "}"
    "}"
    "first(){"
    "let track=this.report.tracks.find(each=>each.levels.length);"
    "if(!track)return;"
    "let level=track.levels[0],i=min(level.count-1,firstIndex(level.count,k=>level.start[k]>=this.view.from));"
    "this.setFocus({track,depth:0,i})"
    "}"
    "sameName(step){"
    "let{focus,report}=this;"
    "if(!focus)return this.first();"
    "let own=this.labelOf(focus),wanted=this.counts(focus)?this.label:own,mine=report.labels.map(label=>label===wanted||label.format===wanted),{track}=focus,now=track.levels[focus.depth].start[focus.i],best=null;"
    "track.levels.forEach((level,depth)=>{"
    "for(let i=depth===focus.depth?focus.i+step:step>0?firstIndex(level.count,k=>level.start[k]>now):firstIndex(level.count,k=>level.start[k]>=now)-1;"
    "i>=0&&i<level.count;i+=step){"
    "if(!mine[report.nodes.label[level.node[i]]])continue;"
    "if(!best||(level.start[i]-best.start)*step<0)best={track,depth,i,start:level.start[i]};"
    "break"
    "}"
    "});"
    "if(best)this.show(best)"
    "}"
    "search(text){"
    "let query=parseQuery(text);"
    "this.query=query.empty?'':text.trim();"
   ,
    "let byLabel=query.names.length+query.categories.length>0;"
    "this.dim=byLabel?label=>!labelMatches(query,label):null;"
    "this.least=query.least;"
    "this.hits=query.empty?[]:findScopes(this.report,query);"
    "this.others=findOthers(this.report,query);"
    "let{values,threads,spans,messages,counters}=this.others;"
    "this.found=new Set([...threads,...spans,...counters]);"
    "$('hits').textContent=query.empty?'':`${grouped(this.hits.length)}${this.hits.more?'+':''}${this.hits.length||!query.names.length?'':` + ${grouped(values.length+this.found.size+messages.length)}`}`;"
    "this.hit=-1;"
    "this.paint();"
    "if(!query.empty&&(this.panels.tab!=='scopes'||!this.hits.length))this.panels.open('found');else this.panels.refresh();"
    "if(query.empty&&this.panels.tab==='found')this.panels.open('scopes');"
    "this.share()"
    "}"
    "nextHit(step){"
    "let all=this.hits.length?this.hits:this.others?this.others.values:[];"
    "if(!all.length)return;"
    "this.hit=(this.hit+step+all.length)%all.length;"
    "this.show(all[this.hit])"
    "}"
    "changed(){"
    "this.time.redraw();"
    "this.share()"
    "}"
    "share(){"
    "clearTimeout(this.shareTimer);"
    "this.shareTimer=setTimeout(()=>this.write(),250)"
    "}"
    "write(){"
    "let{view,selection,focus,bar,series,report,panels}=this,range=({from,to})=>`${round(from)}-${round(to)}`,parts=range(view)===range(report)?[]:['v='+range(view)];"
    "if(selection)parts.push('s='+range(selection));"
    "if(focus)parts.push(`f=${focus.track.id}.${focus.depth}.${focus.i}`);"
    "if(bar>=0&&series===report.bars[0])parts.push('b='+bar);"
    "if(this.query)parts.push('q='+encodeURIComponent(this.query));"
    "if(this.order)parts.push('o='+this.order);"
    "if(this.flows!==this.fewFlows)parts.push('x='+Number(this.flows));"
    "if(this.label)parts.push('l='+this.label.id);"
    "if(this.pinned.size)parts.push('p='+[...this.pinned].map(encodeURIComponent).join());"
    "if(this.foldedText()!==this.folded)parts.push('c='+this.foldedText());"
    "if(panels.only!==undefined)parts.push('k='+panels.only);"
    "if(panels.tab!==panels.first)parts.push('t='+panels.tab);"
    "if(this.notesText()!==savedNotes)parts.push('n='+this.notesText());"
    "this.fragment=parts.length?'#'+parts.join('&'):'';"
    "let now=performance.now(),replaces=this.returning||now-this.pushed<1000||report.processes[0]?.live;"
    "this.returning=false;"
    "if(this.fragment===location.hash)return;"
    "try{history[replaces?'replaceState':'pushState'](null,'',this.fragment||location.pathname+location.search)}catch{}"
    "if(!replaces)this.pushed=now"
    "}"
    "foldedText(){return[...this.closed].map(encodeURIComponent).join()}"
    "readFragment(){"
    "let parts=Object.fromEntries(location.hash.slice(1).split('&').map(part=>part.split('=')).filter(pair=>pair.length===2)),range=text=>{"
    "let match=/^(-?\\d+)-(\\d+)$/.exec(text||'');"
    "return match&&Number(match[2])>=Number(match[1])?[Number(match[1]),Number(match[2])]:null"
    "};"
    "let view=range(parts.v),selection=range(parts.s),focus=/^(\\d+)\\.(\\d+)\\.(\\d+)$/.exec(parts.f||''),[track,depth,i]=focus?focus.slice(1).map(Number):[],{report,panels}=this,level=report.tracks[track]&&report.tracks[track].levels[depth],list=text=>(text||'').split(',').filter(Boolean).map(decoded);"
    "this.returning=true;"
    "if(level&&i<level.count)this.setFocus({track:report.tracks[track],depth,i});"
    "else if(this.focus)this.setFocus(null);"
    "if(decoded(parts.q||'')!==this.query)this.search($('search').value=decoded(parts.q||''));"
    "this.order=/^(name|busy)$/.test(parts.o)?parts.o:'';"
    "this.flows=/^[01]$/.test(parts.x)?parts.x==='1':this.fewFlows;"
    "this.label=report.labels[Number(parts.l)]||this.label;"
    "this.pinned=new Set(list(parts.p));"
    "this.closed=new Set(list(parts.c===undefined?this.folded:parts.c));"
    "this.readNotes(parts.n===undefined?savedNotes:parts.n);"
    "if(report.tracks[Number(parts.k)])panels.only=Number(parts.k);"
    "if(panels.tab!==(parts.t||panels.first))panels.open(parts.t||panels.first);"
    "if(selection||this.selection)this.select(...selection||[]);"
   ,
    "if(/^\\d+$/.test(parts.b)&&this.series&&parts.b<this.series.start.length)this.bar=Number(parts.b);"
    "this.setView(...view&&view[1]>view[0]?view:[report.from,report.to])"
    "}"
    "notesText(){return this.notes.map(({from,to,text})=>`${round(from)}-${round(to)}-${encodeURIComponent(text)}`).join()}"
    "readNotes(text){"
    "this.notes=[...text.matchAll(/(-?\\d+)-(-?\\d+)-([^,]*)/g)].map(([,from,to,words])=>({from:Number(from),to:Number(to),text:decoded(words)}))"
    "}"
    "writeNote(note){"
    "let{selection,focus,view,report}=this,middle=(view.from+view.to)/2,{from,to,text=''}=note||selection||(focus?{from:scopeOf(report,focus).start,to:scopeOf(report,focus).end}:{from:middle,to:middle});"
    "$('note-at').textContent=`Note at ${moment(from)}`;"
    "$('note-text').value=text;"
    "$('noting').returnValue='';"
    "$('noting').onclose=()=>{"
    "let what=$('noting').returnValue;"
    "if(!what)return;"
    "this.notes=this.notes.filter(each=>each!==note);"
    "if(what==='Keep'&&$('note-text').value)this.notes.push({from,to,text:$('note-text').value});"
    "this.changed()"
    "};"
    "$('noting').showModal()"
    "}"
    "copyOfPage(){"
    "let tag='script';"
    "return new Blob([head.replace('<html',`<html data-notes=\"${this.notesText()}\"`),...copies.map(text=>`<${tag} type=\"application/octet-stream\">${text}</${tag}>\\n`)])"
    "}"
    "listen(){"
    "let canvas=$('time');"
    "new ResizeObserver(()=>{this.time.redraw();this.drawFrames()}).observe(document.querySelector('main'));"
    "canvas.onwheel=event=>this.wheel(event);"
    "let pinched=1;"
    "for(let name of['gesturestart','gesturechange'])canvas.addEventListener(name,event=>{"
    "event.preventDefault();"
    "if(name==='gesturechange')this.zoom(pinched/event.scale,this.time.time(max(GUTTER,event.clientX)));"
    "pinched=event.scale"
    "});"
    "canvas.onpointerdown=event=>this.press(event);"
    "canvas.onpointermove=event=>this.hover(event);"
    "canvas.ondblclick=event=>{"
    "let{scope,span}=this.time.at(event.offsetX,event.offsetY);"
    "if(scope)this.fit(scope);"
    "else if(span)this.zoomTo(span.start,span.start+span.duration)"
    "};"
    "let frames=$('frames');"
    "frames.onpointermove=event=>{"
    "let i=this.frameAt(event.offsetX);"
    "if(i<0)hideTip();else this.tip(event,this.barLines(i))"
    "};"
    "canvas.onpointerleave=frames.onpointerleave=hideTip;"
    "frames.onclick=event=>{"
    "let i=this.frameAt(event.offsetX);"
    "if(i>=0)this.showBar(i)"
    "};"
    "frames.onkeydown=event=>{"
    "let step={ArrowRight:1,ArrowLeft:-1}[event.key];"
    "if(!step)return;"
    "event.stopPropagation();"
    "let{start,duration}=this.series,{selection}=this,chosen=selection?start.findIndex((at,k)=>at===selection.from&&at+duration[k]===selection.to):-1,now=chosen<0?barAt(this.series,(this.view.from+this.view.to)/2):chosen,i=max(0,min(start.length-1,now<0?0:now+step));"
    "this.showBar(i);"
    "tell(this.barLines(i).join(', '))"
    "};"
    "$('search').oninput=()=>{clearTimeout(this.searchTimer);this.searchTimer=setTimeout(()=>this.search($('search').value),150)};"
    "$('search').onkeydown=event=>{"
    "if(event.key==='Enter')this.nextHit(event.shiftKey?-1:1);"
    "if(event.key==='Escape'){$('search').value='';this.search('');canvas.focus()}"
    "event.stopPropagation()"
    "};"
    "let recolor=name=>{"
    "this.theme(name);"
    "this.panels.render();"
    "this.drawFrames()"
    "};"
    "$('theme').onclick=()=>{"
    "let next=this.dark?'light':'dark';"
    "kept.set('theme',next);"
    "recolor(next)"
    "};"
    "$('order').onclick=()=>this.nextOrder();"
    "$('groups').onclick=()=>this.toggleGroups();"
    "$('pin').onclick=()=>this.toggle(this.pinned);"
    "$('flows').onclick=()=>this.allFlows();"
    "$('note').onclick=()=>this.writeNote();"
    "$('help').onclick=()=>$('keys').showModal();"
    "$('wheel').checked=this.wheelZooms;"
    "$('wheel').onchange=()=>{this.wheelZooms=$('wheel').checked;kept.set('wheel',this.wheelZooms?'zoom':'scroll')};"
    "this.listenToBar();"
    "this.listenToFiles();"
    "this.listenToPictures();"
    "onbeforeprint=()=>{recolor('light');this.time.draw()};"
    "onafterprint=()=>recolor(kept.get('theme'));"
    "matchMedia('(min-width: 1700px)').onchange=()=>this.panels.render();"
   ,
    "matchMedia('(prefers-color-scheme: dark)').onchange=()=>{if(!kept.get('theme'))recolor(null)};"
    "onhashchange=()=>{if(location.hash!==this.fragment)this.readFragment()};"
    "document.onkeydown=event=>this.key(event)"
    "}"
    "listenToBar(){"
    "let bar=$('bar'),lower=$('lower'),resize=height=>{"
    "let most=document.body.clientHeight-180;"
    "lower.style.height=`${max(60,min(most,height))}px`"
    "};"
    "bar.onpointerdown=event=>{"
    "bar.setPointerCapture(event.pointerId);"
    "let from=event.clientY,height=lower.clientHeight;"
    "bar.onpointermove=move=>resize(height+from-move.clientY);"
    "bar.onpointerup=()=>{bar.onpointermove=null}"
    "};"
    "bar.onkeydown=event=>{"
    "let step={ArrowUp:24,ArrowDown:-24}[event.key];"
    "if(!step)return;"
    "event.stopPropagation();"
    "event.preventDefault();"
    "resize(lower.clientHeight+step)"
    "}"
    "}"
    "wheel(event){"
    "event.preventDefault();"
    "let line=event.deltaMode===1?18:1,dy=event.deltaY*line,dx=event.deltaX*line,zooms=event.ctrlKey||event.metaKey?!this.wheelZooms||event.ctrlKey:this.wheelZooms&&!event.shiftKey;"
    "if(zooms){"
    "this.zoom(Math.exp(max(-60,min(60,dy))*.008),this.time.time(max(GUTTER,event.offsetX)))"
    "}else if(event.shiftKey||abs(dx)>abs(dy)){"
    "this.pan((abs(dx)>abs(dy)?dx:dy)/(event.target.clientWidth-GUTTER))"
    "}else{"
    "this.time.scroll+=dy;"
    "this.time.redraw()"
    "}"
    "}"
    "press(event){"
    "let canvas=$('time'),x=event.offsetX,y=event.offsetY,place=this.time.at(x,y);"
    "canvas.focus();"
    "if((event.button!==0&&event.button!==1)||event.ctrlKey)return;"
    "if(place.area==='gutter')return this.pressGutter(place);"
    "if(place.area==='fold'){"
    "foldGutter();"
    "this.drawFrames();"
    "return this.time.redraw()"
    "}"
    "let began={view:{...this.view},scroll:this.time.scroll,time:this.time.time(x)},pan=event.shiftKey||event.button===1,moved=false;"
    "canvas.setPointerCapture(event.pointerId);"
    "hideTip();"
    "let drags=/bar|map/.test(place.area)&&(to=>this.time.drag(place.area,to.offsetX,to.offsetY));"
    "if(drags)drags(event);"
    "canvas.onpointermove=drags||(move=>{"
    "if(!moved&&Math.hypot(move.offsetX-x,move.offsetY-y)<4)return;"
    "moved=true;"
    "if(pan){"
    "let by=(x-move.offsetX)/this.time.scale;"
    "this.time.scroll=began.scroll+y-move.offsetY;"
    "this.setView(began.view.from+by,began.view.to+by)"
    "}else{"
    "let now=this.time.time(max(GUTTER,move.offsetX));"
    "if(now!==began.time)this.select(min(now,began.time),max(now,began.time))"
    "}"
    "});"
    "canvas.onpointerup=()=>{"
    "canvas.onpointermove=hover=>this.hover(hover);"
    "canvas.onpointerup=null;"
    "if(!moved&&!drags)this.click(place)"
    "}"
    "}"
    "pressGutter({row,pin}){"
    "let set=pin?this.pinned:this.closed;"
    "if(!pin&&!row.fold)return;"
    "if(set.has(row.key))set.delete(row.key);else set.add(row.key);"
    "this.changed()"
    "}"
    "toggle(set){"
    "let place=this.focus&&this.time.placeOf(this.focus.track);"
    "if(!place){"
    "if(set===this.pinned)set.clear();"
    "return this.changed()"
    "}"
    "let{key,title}=place.row,on=!set.delete(key);"
    "if(on)set.add(key);"
    "tell(`${title}: ${set===this.pinned?on?'pinned':'no longer pinned':on?'folded':'unfolded'}`);"
    "this.changed()"
    "}"
    "toggleGroups(){"
    "let keys=this.time.rows().filter(row=>row.kind==='group').map(row=>row.key),open=keys.some(key=>this.closed.has(key));"
    "for(let key of keys)if(open)this.closed.delete(key);else this.closed.add(key);"
    "tell(`Groups of rows: ${open?'un':''}folded`);"
    "this.changed()"
    "}"
    "nextOrder(){"
    "let ids=Object.keys(ORDERS);"
    "this.order=ids[(ids.indexOf(this.order)+1)%ids.length];"
    "tell(`Rows: ${ORDERS[this.order]}`);"
    "this.changed()"
    "}"
    "allFlows(){"
    "this.flows=!this.flows;"
    "this.changed()"
    "}"
    "sayFlows(text){"
    "let button=$('flows');"
    "if(button.textContent!==text)button.textContent=text;"
    "button.setAttribute('aria-pressed',this.flows);"
    "button.title=`X: arrows of ${this.flows?'all':'the selection'}`"
    "}"
    "click({area,scope,mark,span,hold,note,time}){"
    "if(note)return this.writeNote(note);"
    "if(scope){"
    "this.setFocus(scope);"
    "if(!/^(scope|why)$/.test(this.panels.tab))this.panels.open('scope')"
    "}else if(mark){"
    "this.goTo(mark.time)"
   ,
    "}else if(span||hold){"
    "this.select((span||hold).start,(span||hold).start+(span||hold).duration);"
    "if(hold)this.time.reveal(hold.track,0);"
    "if(span&&this.panels.shown.includes('request'))this.openSpan(span)"
    "}else if(area==='ruler'){"
    "this.mark=time===undefined?null:time"
    "}else{"
    "this.setFocus(null);"
    "if(this.selection)this.select()"
    "}"
    "}"
    "hover(event){"
    "let lines=this.describe(this.time.at(event.offsetX,event.offsetY));"
    "if(lines)this.tip(event,lines);else hideTip()"
    "}"
    "describe({area,row,scope,state,mark,span,hold,sample,note,pin}){"
    "let{report}=this;"
    "if(note)return[note.text,ns(note.to-note.from),`at ${moment(note.from)}`];"
    "if(area==='gutter')return pin?['Pin this row to the top']:row.track?row.tracks.slice(0,12).flatMap(track=>[track.title,`thread ${track.thread}`]):null;"
    "if(scope){"
    "let all=scopeOf(report,scope),{label}=all;"
    "return[label.name,ns(all.duration),`at ${moment(all.start)}`,[label.category,where(label)].filter(Boolean).join(' \\u00b7 '),statesText(report,[all]),row.tracks[1]&&`on ${scope.track.title}`,"
    "...all.args.slice(0,12).map(([k,v])=>`${k} = ${shown(v)}`),truncatedText(all.flags)]"
    "}"
    "if(state)return this.stateLines(state);"
    "if(mark)return[mark.text||mark.label.name,`at ${moment(mark.time)}`,where(mark.label)];"
    "if(span)return[report.labels[span.label].name,ns(span.duration),`at ${moment(span.start)}`,`id 0x${span.id.toString(16)}`,...span.args.slice(0,12).map(([k,v])=>`${k} = ${shown(v)}`)];"
    "if(hold)return[row.title,`held for ${ns(hold.duration)}`,`by ${hold.track.title}`,hold.waiters.length?`${hold.waiters.length} waited: ${[...new Set(hold.waiters.map(track=>track.title))].slice(0,8).join(', ')}`:''];"
    "if(sample)return[row.title,measured(sample.value,row.series.unit),`at ${moment(sample.time)}`];"
    "return null"
    "}"
    "stateLines({track,i}){"
    "let{start,kind,processor}=track.system,from=start[i],to=start[i+1],what=kind[i];"
    "return[STATE_NAMES[what]+(what===RUNNING&&processor[i]?` on processor ${processor[i]-1}`:''),ns(to-from),`at ${moment(from)}`,...what===WAITING?waitLines(this.report,track,from,to):[]]"
    "}"
    "tip(event,lines){"
    "let tip=$('tip'),[title,second,...more]=lines;"
    "tip.replaceChildren(el('b',{},title),el('span',{},second||''),...more.filter(Boolean).map(line=>el('div',{},line)));"
    "tip.hidden=false;"
    "let box=tip.getBoundingClientRect();"
    "tip.style.left=`${max(4,min(event.clientX+14,innerWidth-box.width-6))}px`;"
    "tip.style.top=`${event.clientY+18+box.height>innerHeight?event.clientY-box.height-10:event.clientY+18}px`"
    "}"
    "key(event){"
    "if(event.ctrlKey||event.metaKey||event.altKey||document.querySelector('dialog[open]'))return;"
    "if(/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName))return;"
    "let inPanel=event.target.closest('#lower, button, summary'),{view,selection}=this,whole=()=>this.setView(this.report.from,this.report.to),actions={"
    "w:()=>this.zoom(.8),s:()=>this.zoom(1.25),a:()=>this.pan(-.12),d:()=>this.pan(.12),"
    "f:()=>{"
    "if(selection)this.zoomTo(selection.from,selection.to);"
    "else if(this.focus)this.fit(this.focus)"
    "},"
    "0:whole,Home:whole,"
    "m:()=>{"
    "if(!this.focus)return this.select(view.from,view.to);"
    "let{start,end}=scopeOf(this.report,this.focus);"
    "this.select(start,end)"
    "},"
    "'/':()=>$('search').focus(),'?':()=>$('keys').showModal(),'[':()=>this.sameName(-1),']':()=>this.sameName(1),"
    "c:()=>this.toggle(this.closed),o:()=>this.toggle(this.pinned),t:()=>this.nextOrder(),g:()=>this.toggleGroups(),p:()=>$('picture').click(),y:()=>this.panels.open('why'),r:()=>this.panels.open('request'),l:()=>this.followFlow(),b:()=>this.writeNote(),x:()=>this.allFlows(),"
    "n:()=>this.nextHit(1),N:()=>this.nextHit(-1),"
    "Escape:()=>{if(this.selection)this.select();else this.setFocus(null)},"
    "Enter:()=>{if(this.focus)this.panels.open('scope')}"
    "};"
    "for(let arrow of['ArrowLeft','ArrowRight','ArrowUp','ArrowDown'])actions[arrow]=()=>this.step(arrow);"
   ,
    "let action=actions[event.key]||actions[event.key.toLowerCase()];"
    "if(!action||(inPanel&&/^(Arrow|Enter|Home)/.test(event.key)))return;"
    "event.preventDefault();"
    "action()"
    "}"
    "}"
    "let head='',copies=[],size=0,savedNotes='';"
    "async function*pieces(){"
    "for(;;){"
    "let all=document.readyState!=='loading',piece=document.querySelector('script[type=\"application/octet-stream\"]');"
    "if(piece&&(all||piece.nextSibling)){"
    "piece.remove();"
    "let{textContent}=piece;"
    "if(size<1e8)copies.push(textContent);"
    "if((size+=textContent.length)>=1e8)copies=[];"
    "yield textContent"
    "}else if(all)return;"
    "else await new Promise(done=>setTimeout(done,4))"
    "}"
    "}"
    "async function start(){"
    "savedNotes=root.dataset.notes||'';"
    "delete root.dataset.notes;"
    "head=`<!doctype html>\\n${root.outerHTML.replace(/<\\/body>[^]*$/,'')}`;"
    "root.dataset.theme=kept.get('theme')||systemTheme();"
    "try{"
    "if(!globalThis.DecompressionStream)throw new Error('This browser is too old: it needs Chrome 103, Firefox 113 or Safari 16.4.');"
    "let app=new App(finish(await readReport(pieces())));"
    "$('loading').hidden=true;"
    "app.time.draw();"
    "root.dataset.ready=String(round(performance.now()));"
    "globalThis.prof=app"
    "}catch(error){"
    "$('loading').textContent=`This report cannot be shown. ${error.message}`;"
    "root.dataset.ready='failed';"
    "throw error"
    "}"
    "}"
    "if(root)start();"
    "else onmessage=async({data})=>{"
    "let made=await unpack(data);"
    "postMessage(made,made.blocks.map(({bytes})=>bytes.buffer))"
    "};"
    "})();\n"
    "</script>\n"
   ,
    NULL};

/* The part of the page that only prof_server.h serves. */
static PROF__UNUSED const char *const prof__html_live[] = {
    "const KEPT=30e9,MOST=2e6;"
    "class Messages{"
    "constructor(){this.rest=new Uint8Array(0)}"
    "take(more){"
    "let bytes=new Uint8Array(this.rest.length+more.length),done=[];"
    "bytes.set(this.rest);"
    "bytes.set(more,this.rest.length);"
    "let at=0;"
    "for(;;){"
    "let r=new Reader(bytes,at),kind,size;"
    "try{"
    "kind=r.byte();"
    "size=r.index(LONGEST,'block of size');"
    "if(r.u())damaged('a message is packed')"
    "}catch(error){"
    "if(bytes.length-at>12)throw error;"
    "break"
    "}"
    "if(size>r.end-r.at)break;"
    "at=r.at+size;"
    "let message=this.block(String.fromCharCode(kind),bytes.subarray(r.at,at));"
    "if(message)done.push(message)"
    "}"
    "this.rest=bytes.slice(at);"
    "return done"
    "}"
    "block(kind,bytes){"
    "let r=new Reader(bytes,0);"
    "if(kind==='L'){"
    "r.u();"
    "this.about=new Map();"
    "while(!r.done)this.about.set(r.text(),r.text());"
    "this.decoder=new Decoder();"
    "this.tracks=[];"
    "return this.about.has('from_ns')?null:{about:this.about,report:null}"
    "}"
    "if(!this.decoder)damaged('the data do not begin as they should');"
    "if(kind==='I'){"
    "r.u();"
    "while(!r.done)this.tracks.push(r.u());"
    "return null"
    "}"
    "this.decoder.take({kind},bytes);"
    "if(kind!=='Z')return null;"
    "let report=this.decoder.close();"
    "this.decoder=null;"
    "return{about:this.about,report,tracks:this.tracks}"
    "}"
    "}"
    "function addArgs(to,from,by,skip,part){"
    "for(let i=0;i<from.count;i++){"
    "let index=from.index[i]+by;"
    "if(from.index[i]<skip)continue;"
    "if(!to.count||to.index.items[to.count-1]!==index)to.index.put(to.count++,index);"
    "to.place.put(to.count-1,from.place[i]+part.block*LONGEST)"
    "}"
    "}"
    "function levelOf(parts,depth){"
    "let level=new Level(),mine=parts.filter(({track})=>track.levels[depth]);"
    "level.grow(mine.reduce((sum,{track})=>sum+track.levels[depth].count,8));"
    "for(let part of mine){"
    "let from=part.track.levels[depth],n=level.count,flags=from.flags.get(0)||0,rest=flags&TRUNCATED_BEGIN&&from.start[0]<=part.from,same=rest&&part.joins&&n&&level.endOf(n-1)>=part.before&&level.node[n-1]===part.nodes[from.node[0]],skip=same||(rest&&!from.durationOf(0))?1:0,by=n-skip;"
    "if(same){"
    "let whole=from.endOf(0)-level.start[n-1],cut=(level.flags.get(n-1)||0)&TRUNCATED_BEGIN|flags&TRUNCATED_END;"
    "level.duration[n-1]=Math.min(whole,0xFFFFFFFF);"
    "level.long.set(n-1,whole);"
    "if(cut)level.flags.set(n-1,cut);else level.flags.delete(n-1)"
    "}"
    "level.start.set(from.start.subarray(skip),n);"
    "level.duration.set(from.duration.subarray(skip),n);"
    "for(let i=skip;i<from.count;i++)level.node[by+i]=part.nodes[from.node[i]];"
    "for(let column of['long','flags'])for(let[i,value]of from[column])if(i>=skip)level[column].set(by+i,value);"
    "addArgs(level.args,from.args,by,same?0:skip,part);"
    "level.count=by+from.count"
    "}"
    "level.close();"
    "return level"
    "}"
    "function pointsOfAll(parts,kinds){"
    "let points=new Points(),frames=new Map(),whole=new Map();"
    "for(let{track,...part}of parts){"
    "let from=track.points,by=points.count;"
    "for(let i=0;i<from.count;i++){"
    "let kind=from.kind[i]+part.kind,a=from.a[i],{type,label}=kinds[kind],time=from.time[i];"
    "if(type===FRAME){"
    "if(part.joins&&time-a<=part.from&&frames.has(label)){"
    "a=time-frames.get(label);"
    "if(!whole.has(kind))whole.set(kind,kinds.push({...kinds[kind],flags:0})-1);"
    "kind=whole.get(kind)"
    "}"
    "frames.set(label,time)"
    "}"
    "points.time.put(by+i,time);"
    "points.kind.put(by+i,kind);"
    "points.a.put(by+i,a);"
    "points.b.put(by+i,from.b[i]+(type===LOG?part.string:0))"
    "}"
    "for(let[i,number]of from.numbers)points.numbers.set(by+i,number);"
    "addArgs(points.args,from.args,by,0,part);"
    "points.count+=from.count"
    "}"
    "points.close();"
    "return points"
    "}"
    "function systemOfAll(parts){"
    "let states=new States();"
    "for(let{track:{system}}of parts)if(system&&system.count)states.append(system);"
    "if(!states.count)return null;"
    "states.close();"
    "return states"
    "}"
    "function merged(periods){"
   ,
    "let report=new Report(),{nodes,labels,kinds,strings,argBlocks}=report,known=new Map(),childOf=new Map(),tracks=new Map(),open=new Map(),process={...periods[periods.length-1].report.processes[0],tracks:[]},before=0;"
    "report.complete=true;"
    "report.processes.push(process);"
    "for(let{about,report:r,tracks:ids}of periods){"
    "let part={kind:kinds.length,string:strings.length,block:argBlocks.length,nodes:new Uint32Array(r.nodes.count),"
    "from:Number(about.get('from_ns')),joins:before&&about.get('joins')==='1',before};"
    "let labelOf=joinLabels(labels,known,r.labels);"
    "for(let n=1;n<r.nodes.count;n++){"
    "let parent=part.nodes[r.nodes.parent[n]],label=labelOf[r.nodes.label[n]],key=parent*0x4000000+label;"
    "if(!childOf.has(key)){"
    "nodes.label.put(nodes.count,label);"
    "nodes.parent.put(nodes.count,parent);"
    "childOf.set(key,nodes.count++)"
    "}"
    "part.nodes[n]=childOf.get(key)"
    "}"
    "for(let kind of r.kinds)kinds.push({...kind,label:labelOf[kind.label]});"
    "for(let text of r.strings)strings.push(text);"
    "argBlocks.push(...r.argBlocks);"
    "let trackOf=i=>{"
    "let track=r.tracks[i],key=ids[i]||track.device+'\\0'+track.name;"
    "if(!tracks.has(key))tracks.set(key,{id:tracks.size,parts:[]});"
    "return Object.assign(tracks.get(key),{...track,id:tracks.get(key).id,process})"
    "};"
    "r.tracks.forEach((track,i)=>{if(track.levels.length||track.points.count||track.system)trackOf(i).parts.push({...part,track})});"
    "for(let span of r.spans){"
    "let key=[labelOf[span.label],span.id,span.number].join(),begun=open.get(key);"
    "if(begun&&span.flags&TRUNCATED_BEGIN){"
    "Object.assign(begun,{duration:span.start+span.duration-begun.start,endTrack:trackOf(span.endTrack).id,args:span.args,"
    "flags:begun.flags&TRUNCATED_BEGIN|span.flags&TRUNCATED_END})"
    "}else{"
    "open.set(key,{...span,label:labelOf[span.label],track:trackOf(span.track).id,endTrack:trackOf(span.endTrack).id});"
    "report.spans.push(open.get(key))"
    "}"
    "if(!(span.flags&TRUNCATED_END))open.delete(key)"
    "}"
    "before=Number(r.processes[0].about.get('to_ns'))"
    "}"
    "for(let{parts,...track}of tracks.values()){"
    "track.levels=[];"
    "while(parts.some(part=>part.track.levels.length>track.levels.length))track.levels.push(levelOf(parts,track.levels.length));"
    "track.points=pointsOfAll(parts,kinds);"
    "track.system=systemOfAll(parts);"
    "process.tracks.push(track);"
    "report.tracks.push(track);"
    "report.scopes+=track.levels.reduce((sum,level)=>sum+level.count,0);"
    "report.points+=track.points.count"
    "}"
    "nodes.label=nodes.label.close(nodes.count);"
    "nodes.parent=nodes.parent.close(nodes.count);"
    "report.spanCount=report.spans.length;"
    "return report"
    "}"
    "const STATES={none:'The program records nothing.',stopped:'The recording was stopped: this is its end. The next one will be shown here.',ended:'The recording has ended: this is its end.',"
    "waiting:'The recording has not begun yet.',paused:'The recording is paused.',stats:'The program records in mode stats, which keeps no events: see Summary.',"
    "over:'The server has stopped: the program ended, or called prof_server_stop().'};"
    "const STYLE='.menu{margin:0;position:relative}.menu label{display:block;white-space:nowrap}'+\n"
    "'.menu div{position:absolute;right:0;z-index:8;background:var(--bg);border:1px solid var(--line);border-radius:4px;padding:6px 10px;max-height:60vh;overflow:auto}';"
    "class Live{"
    "constructor(app){"
    "this.app=app;"
    "this.periods=[];"
    "this.about=new Map();"
    "this.seconds=5;"
    "this.lines=null;"
    "this.shape='';"
    "this.drawn=0;"
    "this.pauses=el('button',{onclick:()=>this.pause(!this.paused)});"
    "this.state=el('span',{id:'state',role:'status'});"
    "this.again=el('button',{hidden:true,onclick:()=>this.connect()});"
    "this.level=el('input',{type:'number',min:0,max:255,style:{width:'5em'},onchange:()=>fetch(`/level?level=${this.level.value}`,{method:'POST'}).then(async answer=>{"
    "if(!answer.ok)app.say(await answer.text())"
    "})});"
    "this.categories=el('div');"
    "this.switched='';"
    "this.chosen=new Map();"
   ,
    "document.head.append(el('style',{},STYLE));"
    "let save=format=>el('a',{href:`/save?last=5&format=${format}`,download:''},format==='html'?'Save the last 5 s':'as .prof');"
    "document.querySelector('header').after(el('div.bar-of-tools',{id:'watch'},this.pauses,"
    "el('label',{},'Shows ',select('Shows',[1,2,5,10,30].map(s=>[s,`${s} s`]),this.seconds,s=>{this.seconds=Number(s);this.show()})),"
    "this.state,this.again,el('span.grow'),el('label',{},'Level ',this.level),el('details.menu',{},el('summary',{},'Categories'),this.categories),save('html'),save('prof'),"
    "el('a',{href:'/summary',target:'_blank'},'Summary')));"
    "for(let name of['pointerdown','wheel','keydown'])\n"
    "for(let id of['time','frames'])document.getElementById(id).addEventListener(name,event=>{"
    "if(!event.ctrlKey||name==='wheel')this.pause(true)"
    "},true);"
    "this.pause(false);"
    "this.connect()"
    "}"
    "async connect(){"
    "let messages=new Messages();"
    "this.again.hidden=true;"
    "this.gone='';"
    "if(this.reading)this.reading.abort();"
    "let reading=this.reading=new AbortController();"
    "try{"
    "let answer=await fetch('/live'+location.search,{signal:reading.signal});"
    "if(!answer.ok)throw new Error(await answer.text());"
    "for(let reader=answer.body.getReader();;){"
    "let{done,value}=await reader.read();"
    "if(done)break;"
    "for(let message of messages.take(value))this.take(message)"
    "}"
    "if(this.about.get('state')!=='over')throw new Error('The connection broke: the program was killed, or crashed.')"
    "}catch(error){"
    "if(this.reading!==reading)return;"
    "this.gone=error instanceof TypeError?'The connection broke: the program was killed, or crashed, or cannot be reached.':error.message"
    "}"
    "this.later()"
    "}"
    "take(message){"
    "let{about,report}=message;"
    "if(about.get('session')!==this.about.get('session')){"
    "this.periods=[];"
    "this.chosen.clear()"
    "}"
    "this.about=about;"
    "if(report)this.periods.push(message);"
    "let{periods}=this,ends=periods.map(period=>Number(period.about.get('from_ns'))),scopes=periods.reduce((sum,period)=>sum+period.report.scopes,0);"
    "for(let n=scopes;periods.length>1&&(ends[ends.length-1]-ends[1]>KEPT||n>MOST);){"
    "n-=periods.shift().report.scopes;"
    "ends.shift()"
    "}"
    "this.later()"
    "}"
    "later(){"
    "if(!this.waits)this.waits=requestAnimationFrame(()=>{this.waits=0;this.say();if(!this.paused)this.show()})"
    "}"
    "pause(on){"
    "if(on===this.paused)return;"
    "this.paused=on;"
    "this.pauses.textContent=on?'Go on':'Pause';"
    "this.pauses.setAttribute('aria-pressed',String(on));"
    "if(!on)this.later()"
    "}"
    "say(){"
    "let{about}=this,get=key=>Number(about.get(key)||0),state=about.get('state'),took=get('took_ns')/get('period_ns'),ended=this.gone||state==='over';"
    "this.state.textContent=this.gone||STATES[state]||(state?`Recording${get('on_demand')?', because you watch':''}; watching takes ${(100*took).toFixed(1)} % of a core.`:'Connecting\\u2026');"
    "this.again.hidden=!ended&&state!=='stopped';"
    "this.again.textContent=ended?'Connect again':'Record';"
    "this.level.disabled=ended||get('read_only')===1||!get('level');"
    "if(document.activeElement!==this.level)this.level.value=get('level');"
    "this.switches()"
    "}"
    "switches(){"
    "let names=(this.about.get('categories')||'').split('\\n').filter(Boolean).sort(),seen=new Set(this.app.report.labels.map(label=>label.category)),off=this.level.disabled,shape=JSON.stringify([names,off]);"
    "if(shape!==this.switched){"
    "this.categories.replaceChildren(...names.map(name=>el('label',{},el('input',{type:'checkbox',value:name,disabled:off,onchange:event=>this.category(event.target)}),' '+name)));"
    "if(!names.length)this.categories.textContent='No scope with a category has run yet.'"
    "}"
    "this.switched=shape;"
    "for(let box of this.categories.querySelectorAll('input')){"
    "let chosen=this.chosen.get(box.value);"
    "box.checked=chosen!==false;"
    "box.indeterminate=chosen===undefined&&!seen.has(box.value)"
    "}"
    "}"
    "async category({value,checked}){"
    "this.chosen.set(value,checked);"
   ,
    "let answer=await fetch(`/categories?${checked?'on':'off'}=${encodeURIComponent(value)}`,{method:'POST'});"
    "if(answer.ok)return;"
    "this.chosen.delete(value);"
    "this.app.say(await answer.text())"
    "}"
    "losses(){"
    "let get=key=>Number(this.about.get(key)||0),lines=[];"
    "if(get('skipped_ns'))lines.push(`${ns(get('skipped_ns'))} are missing: this page, or the server, was too slow to follow.`);"
    "if(get('overwritten_ns'))lines.push(`${ns(get('overwritten_ns'))} are missing: they were overwritten before they were read; the program needs a larger buffer.`);"
    "if(get('streamed'))lines.push('The program streams to a file: of scopes that began long ago, only what is in them may be here.');"
    "return lines"
    "}"
    "show(){"
    "let{app,periods}=this;"
    "if(!periods.length)return;"
    "let report=merged(periods),[process]=report.processes;"
    "process.losses=[...process.losses,...this.losses()];"
    "process.about.set('complete','1');"
    "process.live=true;"
    "finish(report);"
    "let shape=[report.bars.length>0,report.messages.length,report.spans.length>0,report.counters.length>0,process.memory!==null,process.locks!==null].join(),first=!this.shape,lines=process.losses.join('\\n'),now=performance.now(),to=report.to;"
    "if(first)app.take(report);"
    "app.report=report;"
    "app.focus=null;"
    "app.bar=-1;"
    "app.hits=[];"
    "app.series=report.bars[0];"
    "app.view={from:to-this.seconds*1e9,to};"
    "app.theme(document.documentElement.dataset.theme);"
    "app.drawFramesSoon();"
    "app.facts();"
    "if(lines!==this.lines||(now-this.drawn>1000&&!document.querySelector('#warnings details[open]')))app.head();"
    "if(shape!==this.shape||now-this.drawn>1000)this.panels(shape,now);"
    "this.lines=lines"
    "}"
    "panels(shape,now){"
    "let{app}=this,place=document.querySelector('#panel .scroll'),top=place?place.scrollTop:0,{tab}=app.panels;"
    "if(shape!==this.shape){"
    "app.panels.close();"
    "app.panels=Object.assign(new Panels(app,document.getElementById('tabs'),document.getElementById('panel')),{step:Infinity});"
    "app.panels.tab=app.panels.list.some(([id])=>id===tab)?tab:'scopes'"
    "}"
    "app.panels.key=null;"
    "app.panels.render();"
    "if(document.querySelector('#panel .scroll'))document.querySelector('#panel .scroll').scrollTop=top;"
    "this.shape=shape;"
    "this.drawn=now"
    "}"
    "}"
    "async function watch(){"
    "while(!globalThis.prof)await new Promise(done=>setTimeout(done,20));"
    "globalThis.prof.live=new Live(globalThis.prof)"
    "}"
    "if(typeof document!=='undefined')watch();"
   ,
    NULL};

/*-- values and arguments --*/

static void prof__html_value(prof__html *h, prof__html_bytes *to, const prof_value *value)
{
    uint64_t bits;
    int i;
    switch ((int)value->type) {
    case PROF_VALUE_INT:
        prof__html_u(to, 1);
        prof__html_u(to, prof__html_zigzag(value->as.i));
        break;
    case PROF_VALUE_UINT:
        prof__html_u(to, 2);
        prof__html_u(to, value->as.u);
        break;
    case PROF_VALUE_DOUBLE:
        prof__html_u(to, 3);
        memcpy(&bits, &value->as.d, sizeof bits);
        for (i = 0; i < 8; ++i) to->at[to->size++] = (unsigned char)(bits >> 8 * i & 255);
        break;
    case PROF_VALUE_BOOL: prof__html_u(to, value->as.u ? 5 : 4); break;
    case PROF_VALUE_POINTER:
        prof__html_u(to, 6);
        prof__html_u(to, value->as.u);
        break;
    case PROF_VALUE_STRING:
        prof__html_u(to, value->cut ? 8 : 7);
        prof__html_u(to, prof__html_string_of(h, value->as.string));
        break;
    default: prof__html_u(to, 0); break;
    }
}

/* Writes the number of arguments, and then as many arguments as fit into PROF__HTML_SLACK. Without arguments (no_args),
   a step keeps its first one, which is its number. */
static void prof__html_args(prof__html *h, prof__html_bytes *to, const prof_arg *args, uint32_t count)
{
    if (h->options.no_args) count = count && !strcmp(args[0].key, "step_num");
    if (count > PROF__HTML_MOST_ARGS) count = PROF__HTML_MOST_ARGS;
    prof__html_u(to, count);
    for (uint32_t i = 0; i < count; ++i) {
        prof__html_u(to, prof__html_string_of(h, args[i].key));
        prof__html_value(h, to, &args[i].value);
    }
}

/*-- blocks of a track --*/

static void prof__html_scopes_end(prof__html *h)
{
    prof__html_bytes *columns[5] = {&h->starts.heads, &h->starts.rests, &h->ends.heads, &h->ends.rests,
                                    &h->scope_kinds};
    if (!h->scope_kinds.size && !h->ends.heads.size) return;
    if (!h->starts.heads.size) prof__html_u(&h->starts.heads, h->track);
    prof__html_tables(h);
    prof__html_block(h, 'E', columns, 5);
}

static void prof__html_points_end(prof__html *h)
{
    prof__html_bytes *columns[3] = {&h->times, &h->point_kinds, &h->details};
    if (!h->point_kinds.size) return;
    prof__html_tables(h);
    prof__html_block(h, 'Q', columns, 3);
}

static void prof__html_arguments_end(prof__html *h)
{
    if (!h->arguments.size) return;
    prof__html_tables(h);
    prof__html_block1(h, 'A', &h->arguments);
    ++h->argument_blocks;
}

/* Writes the arguments of the latest scope of a level, or of the latest point. which: the scope's depth plus 1; 0: a
   point. */
static void prof__html_arguments(prof__html *h, prof__html_level *level, uint64_t which, const prof_event *event)
{
    if (!event->arg_count || (h->options.no_args && event->site->role != PROF_ROLE_STEP)) return;
    if (!h->arguments.size) prof__html_u(&h->arguments, h->track);
    if (level->block != h->argument_blocks + 1) level->listed = 0; /* the first arguments of this level in the block */
    level->block = h->argument_blocks + 1;
    prof__html_u(&h->arguments, which);
    prof__html_u(&h->arguments, level->count - level->listed);
    level->listed = level->count;
    prof__html_args(h, &h->arguments, event->args, event->arg_count);
}

/*-- events --*/

static int prof__html_level_of(prof__html *h, size_t depth)
{
    size_t capacity = h->level_capacity ? h->level_capacity : 64;
    prof__html_level *more;
    if (depth < h->level_capacity) return 1;
    while (capacity <= depth) capacity *= 2;
    more = (prof__html_level *)realloc(h->levels, capacity * sizeof *more);
    if (!more) return 0;
    memset(more + h->level_capacity, 0, (capacity - h->level_capacity) * sizeof *more);
    h->levels = more;
    h->level_capacity = capacity;
    return 1;
}

/* Ends the open scopes at this depth and deeper. The end of a scope is written as the time since the previous begin or
   end on the track, which is the scope's own begin or the end of the last scope inside it. Most of these numbers are
   small. */
static void prof__html_close(prof__html *h, size_t depth)
{
    while (h->open_levels > depth) {
        prof__html_level *level = &h->levels[--h->open_levels];
        if (!level->is_open) continue;
        level->is_open = 0;
        if (level->end >= h->last_time) {
            prof__html_number(&h->ends, (uint64_t)(level->end - h->last_time) + 1);
        } else { /* not reached: scopes inside a scope end before it */
            prof__html_number(&h->ends, 0);
            prof__html_number(&h->ends, (uint64_t)(level->end - level->start));
        }
        h->last_time = level->end;
        if (h->ends.heads.size >= PROF__HTML_COLUMN || h->ends.rests.size >= PROF__HTML_COLUMN)
            prof__html_scopes_end(h);
    }
}

static void prof__html_scope(prof__html *h, const prof_event *event, int64_t start)
{
    uint32_t depth = event->depth, type = PROF_EVENT_SCOPE | (event->flags & 7) << 8;
    prof__html_level *level;
    int64_t from;
    if (!prof__html_level_of(h, depth)) {
        prof__out_fail(&h->out, prof__fail(PROF_NO_MEMORY, "no memory for scopes of depth %lu", (unsigned long)depth));
        return;
    }
    level = &h->levels[depth];
    from = depth < h->open_levels ? level->end : h->last_scope;
    if (start < from) { /* not reached: the previous scope of the level ended before */
        type |= PROF__HTML_FROM_LAST;
        from = h->last_scope;
        if (start < from) start = from;
    }
    prof__html_close(h, depth);
    if (!h->starts.heads.size) prof__html_u(&h->starts.heads, h->track);
    prof__html_number(&h->starts, (uint64_t)(start - from));
    prof__html_u(&h->scope_kinds, prof__html_kind_of(h, event->site, event->name, depth, type));
    prof__html_arguments(h, level, (uint64_t)depth + 1, event);
    level->start = h->last_scope = h->last_time = start;
    level->end = start + event->duration_ns;
    level->is_open = 1;
    ++level->count;
    h->open_levels = (size_t)depth + 1;
    ++h->scopes;
    if (h->starts.heads.size >= PROF__HTML_COLUMN || h->starts.rests.size >= PROF__HTML_COLUMN ||
        h->scope_kinds.size >= PROF__HTML_COLUMN)
        prof__html_scopes_end(h);
}

static void prof__html_detail(prof__html *h, const prof_event *event)
{
    prof__html_bytes *to = &h->details;
    switch ((int)event->type) {
    case PROF_EVENT_MARK: break;
    case PROF_EVENT_COUNTER: prof__html_value(h, to, &event->value); break;
    case PROF_EVENT_FRAME: prof__html_u(to, (uint64_t)event->duration_ns); break;
    case PROF_EVENT_LOST: prof__html_u(to, event->value.as.u); break;
    case PROF_EVENT_LOG:
        prof__html_u(to, event->detail);
        prof__html_u(to, prof__html_string_of(h, event->value.type == PROF_VALUE_STRING ? event->value.as.string : ""));
        break;
    default:
        prof__html_u(to, event->object);
        prof__html_u(to, event->detail);
        break;
    }
}

/* Writes the number of a frame, unless it is one more than that of the previous frame of its kind. */
static void prof__html_frame_number(prof__html *h, const prof_event *event, uint32_t kind)
{
    prof__html_numbered *known = &h->frames[kind % PROF__HTML_FRAMES];
    uint64_t expected = known->kind == (uint64_t)kind + 1 ? known->number + 1 : event->duration_ns > 0;
    known->kind = (uint64_t)kind + 1;
    known->number = event->detail;
    if (event->detail == expected) return;
    if (!h->numbers.size) {
        prof__html_u(&h->numbers, h->track);
        h->numbered = 0;
    }
    prof__html_u(&h->numbers, h->listed_points.count - h->numbered);
    prof__html_u(&h->numbers, event->detail);
    h->numbered = h->listed_points.count;
    if (h->numbers.size >= PROF__HTML_COLUMN) prof__html_block1(h, 'B', &h->numbers);
}

static void prof__html_point(prof__html *h, const prof_event *event, int64_t start)
{
    uint32_t kind, type = (uint32_t)event->type | (event->flags & 3) << 8;
    if (!h->point_kinds.size) prof__html_u(&h->times, h->track);
    prof__html_u(&h->times, (uint64_t)(start - h->last_point));
    kind = prof__html_kind_of(h, event->site, event->name, event->depth, type);
    prof__html_u(&h->point_kinds, kind);
    prof__html_detail(h, event);
    if (event->type == PROF_EVENT_FRAME) prof__html_frame_number(h, event, kind);
    if (event->type != PROF_EVENT_LOG) /* a log message is written with its arguments */
        prof__html_arguments(h, &h->listed_points, 0, event);
    ++h->listed_points.count;
    h->last_point = start;
    ++h->points;
    if (h->times.size >= PROF__HTML_COLUMN || h->point_kinds.size >= PROF__HTML_COLUMN ||
        h->details.size >= PROF__HTML_COLUMN)
        prof__html_points_end(h);
}

static void prof__html_rows_end(prof__html *h, char kind)
{
    if (!h->rows.size) return;
    prof__html_tables(h);
    prof__html_block1(h, kind, &h->rows);
}

#ifdef PROF_HTML_LARGE
/*-- outlines of large traces --*/

#define PROF__HTML_MOST_EVENTS 50000000u
#define PROF__HTML_GROUP 4u /* a flag of kinds, next to PROF_TRUNCATED_BEGIN and _END */

/* Returns a time such that `most` events, or a few less, come between it and `end`. */
static int64_t prof__html_last(prof__html *h, int64_t end, uint64_t most)
{
    int64_t from = 0, to = end + 1; /* the time to be found lies between these */
    uint64_t *counts = h->counts, later = 0, in_part = 0;
    for (int round = 0; round < 5; ++round) {
        int64_t width = (to - from) / PROF__HTML_PARTS + 1;
        prof_event event;
        size_t part = PROF__HTML_PARTS;
        memset(counts, 0, sizeof h->counts);
        for (size_t i = 0; prof_trace_track(h->trace, i) && h->out.status == PROF_OK; ++i) {
            prof_cursor *cursor;
            prof_status status = prof_cursor_open(h->trace, i, &cursor);
            if (status) prof__out_fail(&h->out, status);
            else {
                while (prof_cursor_next(cursor, &event))
                    if (event.start_ns >= from && event.start_ns < to) ++counts[(event.start_ns - from) / width];
                prof_cursor_close(cursor);
            }
        }
        while (part && later + counts[part - 1] <= most) later += counts[--part];
        if (!part) return from;
        in_part = counts[part - 1];
        to = from + (int64_t)part * width < to ? from + (int64_t)part * width : to;
        from += (int64_t)(part - 1) * width;
        if (in_part <= most / 8 + 1 || width == 1) break; /* exact enough */
    }
    return to;
}

/* Chooses the window and the length of a part. With limits.events 0, the whole trace is written. */
static void prof__html_choose(prof__html *h)
{
    const prof_trace_info *about = prof_trace_about(h->trace);
    int64_t end = about->duration_ns < 0 ? 0 : about->duration_ns;
    size_t tracks = prof_trace_track_count(h->trace), parts = PROF__HTML_PARTS;
    if (!h->limits.events) return;
    h->outlined = 1;
    h->window_from = h->limits.from_ns;
    h->window_to = h->limits.to_ns > 0 ? h->limits.to_ns : end + 1;
    if (h->limits.to_ns <= 0 && !h->limits.from_ns) h->window_from = prof__html_last(h, end, h->limits.events / 2);
    /* a track has some ten depths, and each depth may have a group in each part */
    while (parts > 64 && (uint64_t)parts * tracks * 20 > h->limits.events) parts /= 2;
    h->part = end / (int64_t)parts + 1;
    h->window_from += h->offset;
    h->window_to += h->offset;
    prof__html_about_number(h, "window_from_ns", (uint64_t)h->window_from);
    prof__html_about_number(h, "window_to_ns", (uint64_t)h->window_to);
    prof__html_about_number(h, "part_ns", (uint64_t)h->part);
}

/* Writes the groups that are open, the outermost first, and closes them. */
static void prof__html_groups_end(prof__html *h)
{
    int no_args = h->options.no_args;
    size_t depths = h->group_depths;
    h->group_depths = 0;
    h->options.no_args = 0; /* a group's arguments are ours, not the program's, so they stay */
    for (size_t i = 0; i < depths; ++i) {
        prof__html_group group = h->levels[h->group_first + i].group;
        prof_event event;
        prof_arg args[2];
        if (!group.count) continue;
        memset(&event, 0, sizeof event);
        memset(args, 0, sizeof args);
        args[0].key = "calls";
        args[0].value.as.u = group.count;
        args[1].key = "busy_ns";
        args[1].value.as.u = group.busy;
        args[0].value.type = args[1].value.type = PROF_VALUE_UINT;
        event.site = group.site;
        event.name = group.site->name;
        event.depth = (uint32_t)(h->group_first + i);
        event.flags = group.count > 1 ? PROF__HTML_GROUP : 0;
        event.duration_ns = group.end - group.start;
        event.args = args;
        event.arg_count = group.count > 1 ? 2 : 0;
        prof__html_scope(h, &event, group.start);
    }
    h->options.no_args = no_args;
}

/* Adds a scope to the group of its depth. The outermost group ends at the end of a part of the trace, and the groups
   inside it end with it. */
static void prof__html_group_add(prof__html *h, const prof_event *event, int64_t start)
{
    size_t depth = event->depth;
    prof__html_group *group;
    if (h->group_depths && (depth < h->group_first || (depth == h->group_first && start >= h->group_until)))
        prof__html_groups_end(h);
    if (!prof__html_level_of(h, depth)) {
        prof__out_fail(&h->out, prof__fail(PROF_NO_MEMORY, "no memory for scopes of depth %lu", (unsigned long)depth));
        return;
    }
    if (!h->group_depths) {
        h->group_first = depth;
        h->group_until = (start / h->part + 1) * h->part;
    }
    for (; h->group_first + h->group_depths <= depth; ++h->group_depths)
        memset(&h->levels[h->group_first + h->group_depths].group, 0, sizeof *group);
    group = &h->levels[depth].group;
    if (!group->count++) group->start = start;
    group->end = start + event->duration_ns;
    group->busy += (uint64_t)event->duration_ns;
    if (group->site && event->duration_ns <= group->longest) return;
    group->longest = event->duration_ns;
    group->site = event->site;
}

/* Returns 1 for the first event of its kind in a part of the trace, such as a counter sample, mark or message, and for
   a frame that is at least 1/64 of a part long. Returns 0 for others, and for events such as allocations that only mean
   something all together. */
static int prof__html_sparse(prof__html *h, const prof_event *event, int64_t start)
{
    unsigned group = prof__event_group(event->type);
    uint64_t *last, part = (h->track + 1) * 65536 + (uint64_t)(start / h->part);
    if (event->type == PROF_EVENT_FRAME && event->duration_ns >= h->part / 64) return 1;
    if (group != PROF__GROUP_FRAME && group != PROF__GROUP_MARK && group != PROF__GROUP_COUNTER &&
        group != PROF__GROUP_LOST && group != PROF__GROUP_MESSAGE)
        return 0;
    last = &h->last_parts[prof__html_kind_of(h, event->site, event->name, event->depth,
                                            (uint32_t)event->type | (event->flags & 3) << 8) %
                          PROF__HTML_PARTS];
    if (*last == part) return 0;
    *last = part;
    return 1;
}

/* Returns 1 if an event is to be written as it is. Else leaves it out, or adds it to a group, and returns 0. */
static int prof__html_outlined(prof__html *h, const prof_event *event, int64_t start)
{
    int scope = event->type == PROF_EVENT_SCOPE, in_group = h->group_depths && event->depth > h->group_first;
    int64_t end = scope ? start + event->duration_ns : start;
    if (start < h->window_to && end >= h->window_from) {
        if (scope) prof__html_groups_end(h);
        return 1;
    }
    if (!scope) return prof__html_sparse(h, event, start);
    if (event->duration_ns < h->part || in_group) {
        prof__html_group_add(h, event, start);
        return 0;
    }
    prof__html_groups_end(h);
    return 1;
}

/* Returns 1 if a span reaches into the window, or is at least as long as a part of the trace. */
static int prof__html_span_wanted(prof__html *h, const prof_span *span)
{
    int64_t start = span->start_ns + h->offset, end = start + span->duration_ns;
    return (start < h->window_to && end >= h->window_from) || (!span->mark && span->duration_ns >= h->part);
}

/* Writes what threads did in the calls of each path, as blocks of the kind R: a row for each row of G, if any is
   known. */
static void prof__html_splits(prof__html *h, const prof_stat *stats, size_t count)
{
    size_t i;
    int any = 0;
    for (i = 0; i < count; ++i) any |= stats[i].unknown_ns < stats[i].total_ns;
    for (i = 0; any && i < count; ++i) {
        prof__html_u(&h->rows, stats[i].running_ns);
        prof__html_u(&h->rows, stats[i].ready_ns);
        prof__html_u(&h->rows, stats[i].waiting_ns);
        if (h->rows.size >= PROF__HTML_COLUMN) prof__html_block1(h, 'R', &h->rows);
    }
    prof__html_block1(h, 'R', &h->rows);
}

/* Writes the statistics of all scopes by call path, as blocks of the kind G. So the page has figures of the scopes that
   an outline leaves out. */
static void prof__html_statistics(prof__html *h)
{
    prof__html_bytes *to = &h->rows;
    prof_stat *stats = NULL;
    size_t count = 0;
    prof_status status = prof_stats_by_path(h->trace, PROF_SORT_TOTAL, 0, &stats, &count);
    if (status) prof__out_fail(&h->out, status);
    for (size_t i = 0; i < count; ++i) {
        const prof_stat *stat = &stats[i];
        uint64_t last = 0;
        prof__html_u(to, stat->parent == PROF_NO_PARENT ? 0 : stat->parent + 1);
        prof__html_u(to, prof__html_kind_of(h, stat->site, stat->name, 0, PROF_EVENT_SCOPE));
        prof__html_u(to, stat->count);
        prof__html_u(to, stat->truncated);
        prof__html_u(to, stat->total_ns);
        prof__html_u(to, stat->self_ns);
        prof__html_u(to, (uint64_t)(stat->share * 1e9 + 0.5));
        prof__html_u(to, stat->min_ns);
        prof__html_u(to, stat->max_ns);
        prof__html_u(to, stat->bucket_count);
        for (size_t k = 0; k < stat->bucket_count; ++k) {
            prof__html_u(to, stat->buckets[k].from_ns - last);
            prof__html_u(to, stat->buckets[k].count);
            last = stat->buckets[k].from_ns;
        }
        if (to->size >= PROF__HTML_COLUMN) prof__html_rows_end(h, 'G');
    }
    prof__html_rows_end(h, 'G');
    prof__html_splits(h, stats, count);
    prof_stats_free(stats);
}
#endif

/*-- sources --*/

#define PROF__HTML_BEFORE 4u /* lines before the call site's, and after it: as Panels.source() in panels.js has it */
#define PROF__HTML_AFTER 8u
#define PROF__HTML_LINE 400u           /* bytes of a line that are written */
#define PROF__HTML_EXCERPTS (1u << 20) /* bytes of all lines together */
#define PROF__HTML_SEARCH (1u << 26)   /* bytes of a file that are searched */

static int prof__html_source_order(const void *a, const void *b)
{
    const prof__html_source *left = (const prof__html_source *)a, *right = (const prof__html_source *)b;
    int order = strcmp(left->file, right->file);
    return order ? order : (left->line > right->line) - (left->line < right->line);
}

/* Opens a regular file. Returns NULL for devices and pipes, because they may have no end. */
static FILE *prof__html_source_file(const char *path)
{
#ifdef _WIN32
    uint64_t size;
    FILE *file = prof__file_open(path, "rb");
    if (file && prof__read_size(file, &size)) return rewind(file), file;
    if (file) fclose(file);
    return NULL;
#else
    prof__about about;
    return !prof__stat(path, &about) && S_ISREG(about.st_mode) ? prof__file_open(path, "rb") : NULL;
#endif
}

/* Opens the file of a call site below the folder. Tries the whole path of the call site, then shorter and shorter tails
   of it. Returns NULL if none is there. */
static FILE *prof__html_source_open(const char *folder, const char *path)
{
    static const char slashes[] = "/\\";
    char at[4096], *slash;
    FILE *file = NULL;
    for (; !file && *(path += strspn(path, slashes)); path += strcspn(path, slashes)) {
        if (strstr(path, "..") || strchr(path, ':')) continue; /* would lead out of the folder, or to a drive */
        if (snprintf(at, sizeof at, "%s/%s", folder, path) >= (int)sizeof at) continue;
        while ((slash = strchr(at + strlen(folder), '\\')) != NULL) *slash = '/';
        file = prof__html_source_file(at);
    }
    return file;
}

/* Writes one line of source: the number of the string that is its path, the line's number, and the text. */
static void prof__html_source_line(prof__html *h, const prof__html_source *site, uint32_t line, char *text, size_t size)
{
    if (size > PROF__HTML_LINE) {
        size = prof__utf8_cut(text, PROF__HTML_LINE);
        memcpy(text + size, "\xE2\x80\xA6", 3);
        size += 3;
    }
    text[size] = 0;
    h->source_bytes += size + 1;
    if (h->source_bytes > PROF__HTML_EXCERPTS) {
        h->source_limit = 1;
        return;
    }
    prof__html_u(&h->rows, site->text);
    prof__html_u(&h->rows, line);
    prof__html_text(&h->rows, text);
    if (h->rows.size >= PROF__HTML_COLUMN) prof__html_block1(h, 'X', &h->rows);
}

/* Writes the lines around the call sites of one file. `site` is sorted by line. */
static void prof__html_source_lines(prof__html *h, FILE *file, const prof__html_source *site,
                                    const prof__html_source *end)
{
    char text[PROF__HTML_LINE + 4];
    size_t size = 0;
    uint32_t line = 1;
    int c = 0;
    for (uint32_t left = PROF__HTML_SEARCH; left && c != EOF && h->source_bytes <= PROF__HTML_EXCERPTS; --left) {
        c = fgetc(file);
        if (c != '\n' && c != EOF) {
            if (size <= PROF__HTML_LINE) text[size++] = (char)(c < ' ' && c != '\t' ? ' ' : c);
            continue;
        }
        while (site < end && line > site->line + PROF__HTML_AFTER) ++site;
        if (site == end) return;
        if (line + PROF__HTML_BEFORE >= site->line && (size || c != EOF))
            prof__html_source_line(h, site, line, text, size);
        size = 0;
        ++line;
    }
}

/* Writes the lines around all call sites in the table, and how many of their files were not found. */
static void prof__html_sources(prof__html *h)
{
    const prof__html_source *from = h->sources, *to, *end = from + h->source_count;
    uint64_t missing = 0;
    qsort(h->sources, h->source_count, sizeof *from, prof__html_source_order);
    prof__html_tables(h);
    for (; from < end; from = to) {
        FILE *file = prof__html_source_open(h->options.sources, from->file);
        for (to = from; to < end && !strcmp(from->file, to->file);) ++to;
        if (file) {
            prof__html_source_lines(h, file, from, to);
            fclose(file);
        } else {
            ++missing;
        }
    }
    prof__html_block1(h, 'X', &h->rows);
    prof__html_about_number(h, "sources_missing", missing);
    prof__html_about_number(h, "sources_limit", (uint64_t)h->source_limit);
    prof__html_block1(h, 'P', &h->rows);
}

#define PROF__HTML_MOVED 4u /* a bit next to the kind of a state: it runs on another processor than before */

static void prof__html_states_end(prof__html *h)
{
    prof__html_bytes *columns[4] = {&h->rows, &h->point_kinds, &h->ends.heads, &h->ends.rests};
    if (h->point_kinds.size) prof__html_block(h, 'W', columns, 4);
}

/* Writes a state, which begins where the last one ended. A block begins with the track, and with how long after the
   last state its first one begins. */
static void prof__html_state(prof__html *h, const prof_state *state, uint64_t after, uint64_t duration, int32_t *on)
{
    int moved = state->kind == PROF_STATE_RUNNING && state->processor != *on;
    if (!h->point_kinds.size) {
        prof__html_u(&h->rows, h->track);
        prof__html_u(&h->rows, after);
    }
    if (moved) prof__html_u(&h->rows, (uint64_t)((*on = state->processor) + 1));
    h->point_kinds.at[h->point_kinds.size++] = (unsigned char)((unsigned)state->kind | (moved ? PROF__HTML_MOVED : 0u));
    prof__html_number(&h->ends, duration);
    if (h->point_kinds.size >= PROF__HTML_COLUMN || h->ends.rests.size >= PROF__HTML_COLUMN ||
        h->rows.size >= PROF__HTML_COLUMN)
        prof__html_states_end(h);
}

/* Writes the states of a track, as far as they lie in the trace's window and, in an outline, in that of the outline.
   Times between them of which nothing is known become states. */
static void prof__html_states(prof__html *h, size_t index)
{
    static const prof_state nothing = {0, 0, PROF_STATE_UNKNOWN, -1};
    const prof_trace_info *about = prof_trace_about(h->trace);
    int64_t from = about->from_ns, to = about->to_ns ? about->to_ns : INT64_MAX, last = -h->offset;
    int32_t on = -1;
    int any = 0;
    size_t count;
    const prof_state *state = prof_track_states(h->trace, index, &count);
#ifdef PROF_HTML_LARGE
    if (h->outlined && from < h->window_from - h->offset) from = h->window_from - h->offset;
    if (h->outlined && to > h->window_to - h->offset) to = h->window_to - h->offset;
#endif
    if (from < last) from = last;
    for (; count && h->out.status == PROF_OK; --count, ++state) {
        int64_t start = state->start_ns < from ? from : state->start_ns, end = state->end_ns > to ? to : state->end_ns;
        if (end <= start) continue;
        if (any && start > last) prof__html_state(h, &nothing, 0, (uint64_t)(start - last), &on);
        prof__html_state(h, state, any ? 0 : (uint64_t)(start - last), (uint64_t)(end - start), &on);
        last = end;
        any = 1;
    }
    prof__html_states_end(h);
}

/*-- tracks --*/

static void prof__html_event(prof__html *h, const prof_event *event)
{
    int64_t start = event->start_ns + h->offset;
    if (event->type == PROF_EVENT_SPAN_BEGIN || event->type == PROF_EVENT_SPAN_MARK ||
        event->type == PROF_EVENT_SPAN_END)
        h->has_spans = 1; /* prof__html_spans() writes them later, when begins and ends are matched */
#ifdef PROF_HTML_LARGE
    else if (h->outlined && !prof__html_outlined(h, event, start))
        return;
#endif
    else if (event->type == PROF_EVENT_SCOPE)
        prof__html_scope(h, event, start);
    else
        prof__html_point(h, event, start);
    if (h->arguments.size >= PROF__HTML_COLUMN) prof__html_arguments_end(h);
}

static void prof__html_track(prof__html *h, size_t index)
{
    prof_cursor *cursor;
    prof_event event;
    prof_status status = prof_cursor_open(h->trace, index, &cursor);
    if (status) {
        prof__out_fail(&h->out, status);
        return;
    }
    h->track = h->first_track + index;
    h->last_scope = h->last_point = h->last_time = 0;
    h->open_levels = 0;
    if (h->levels) memset(h->levels, 0, h->level_capacity * sizeof *h->levels);
    memset(&h->listed_points, 0, sizeof h->listed_points);
    memset(h->frames, 0, sizeof h->frames);
    prof__cursor_keyed(cursor);
    while (h->out.status == PROF_OK && prof_cursor_next(cursor, &event)) {
        prof__html_kind_soon(h, cursor);
        h->key = prof__cursor_key(cursor);
        prof__html_event(h, &event);
    }
    h->key = 0;
    prof_cursor_close(cursor);
#ifdef PROF_HTML_LARGE
    prof__html_groups_end(h);
#endif
    prof__html_close(h, 0);
    prof__html_scopes_end(h);
    prof__html_points_end(h);
    prof__html_block1(h, 'B', &h->numbers);
    prof__html_arguments_end(h);
    prof__html_states(h, index);
}

/*-- spans --*/

static void prof__html_span(prof__html *h, const prof_span *span)
{
    prof__html_bytes *to = &h->rows;
    int64_t start = span->start_ns + h->offset;
    uint32_t type = PROF_EVENT_SPAN_BEGIN | (span->flags & 3) << 8;
#ifdef PROF_HTML_LARGE
    if (h->outlined && !prof__html_span_wanted(h, span)) return;
#endif
    if (span->mark) type = PROF_EVENT_SPAN_MARK;
    prof__html_u(to, prof__html_kind_of(h, span->site, span->name, 0, type));
    prof__html_u(to, prof__html_zigzag(start - h->last_span));
    prof__html_u(to, (uint64_t)span->duration_ns);
    prof__html_u(to, h->first_track + span->begin_track);
    prof__html_u(to, h->first_track + span->end_track);
    prof__html_u(to, span->id);
    prof__html_u(to, span->number);
    prof__html_args(h, to, span->args, span->arg_count);
    h->last_span = start;
    ++h->spans;
    if (to->size >= PROF__HTML_COLUMN) {
        prof__html_rows_end(h, 'N');
        h->last_span = 0;
    }
}

static void prof__html_spans(prof__html *h)
{
    prof_spans *spans = NULL;
    prof_span span;
    prof_status status = prof_spans_open(h->trace, &spans), closed;
    h->last_span = 0;
    while (h->out.status == PROF_OK && prof_spans_next(spans, &span)) prof__html_span(h, &span);
    closed = prof_spans_close(spans);
    if (status || closed) prof__out_fail(&h->out, status ? status : closed);
    prof__html_rows_end(h, 'N');
}

/*-- processes and tracks --*/

/* Writes the first block of a trace: pairs of texts about it. docs/internals/html.md lists them. */
static void prof__html_process(prof__html *h)
{
    const prof_trace_info *about = prof_trace_about(h->trace);
    const char *key, *value;
    char text[512];
    prof__html_about(h, "program", about->program);
    prof__html_about(h, "recording", about->file);
    prof__html_about_number(h, "pid", about->pid);
    prof__html_about_number(h, "parent_pid", about->parent_pid);
    prof__html_about(h, "clock", about->clock);
    prof__html_about_number(h, "tick_hz", about->tick_hz);
    prof__html_about_double(h, "clock_resolution_ns", about->clock_resolution_ns);
    prof__html_about_double(h, "scope_cost_ns", about->scope_cost_ns);
    prof__html_about_double(h, "start_cost_ns", about->start_cost_ns);
    prof__html_about_double(h, "ready_cost_ns", about->ready_cost_ns);
    prof__html_about_double(h, "call_cost_ns", about->call_cost_ns);
    prof__html_about_number(h, "start_unix_ns", about->start_unix_ns);
    prof__html_about_number(h, "duration_ns", (uint64_t)(about->duration_ns < 0 ? 0 : about->duration_ns));
    prof__html_about_number(h, "offset_ns", (uint64_t)h->offset);
    prof__html_about_number(h, "together", (uint64_t)h->together);
    prof__html_about_number(h, "from_ns", (uint64_t)about->from_ns);
    prof__html_about_number(h, "to_ns", (uint64_t)about->to_ns);
    prof__html_about_number(h, "events", about->event_count);
    prof__html_about_number(h, "aggregated", about->folded);
    prof__html_about_number(h, "lost", about->lost);
    prof__html_about_number(h, "taken_back", about->taken_back);
    prof__html_about_number(h, "tracks", prof_trace_track_count(h->trace));
    prof__html_about(h, "mode", prof__mode_names[about->mode]);
    prof__html_about_number(h, "complete", (uint64_t)about->complete);
    if (about->alive) prof__html_about(h, "alive", "1");
    prof__html_about(h, "write_error", about->write_error);
    prof__html_about(h, "crash", about->crash);
    if (prof__nothing_text(h->trace, text, sizeof text)) prof__html_about(h, "nothing", text);
    for (int kind = 0; kind < PROF__LOSSES; ++kind)
        if (prof__loss_text(h->trace, kind, text, sizeof text)) prof__html_about(h, "loss", text);
    for (size_t i = 0; prof_trace_metadata(h->trace, i, &key, &value); ++i) {
        snprintf(text, sizeof text, "metadata.%s", key);
        prof__html_about(h, text, value);
    }
#ifdef PROF_HTML_LARGE
    prof__html_choose(h);
#endif
    prof__html_block1(h, 'P', &h->rows);
}

static void prof__html_tracks(prof__html *h)
{
    prof__html_bytes *to = &h->rows;
    const prof_track *track;
    for (size_t i = 0; (track = prof_trace_track(h->trace, i)) != NULL; ++i) {
        prof__html_text(to, track->name);
        prof__html_text(to, track->device);
        prof__html_u(to, track->thread_id);
        prof__html_u(to, (uint64_t)(track->fiber != 0));
        prof__html_u(to, (uint64_t)track->alignment);
        prof__html_u(to, track->lost);
        prof__html_u(to, track->event_count);
        prof__html_u(to, track->kept_ns > 0 ? (uint64_t)(track->kept_ns + h->offset) : 0);
        if (to->size >= PROF__HTML_COLUMN) prof__html_block1(h, 'T', to);
    }
    prof__html_block1(h, 'T', to);
}

/*-- the file --*/

static void prof__html_trace(prof__html *h, const prof_trace *trace, int64_t offset)
{
    size_t tracks = prof_trace_track_count(trace);
    h->trace = trace;
    free(h->sites);
    h->sites = (prof__html_site *)calloc(prof__site_count(trace), sizeof *h->sites);
    h->offset = offset;
    h->has_spans = 0;
    prof__html_process(h);
    prof__html_tracks(h);
    for (size_t i = 0; i < tracks && h->out.status == PROF_OK; ++i) prof__html_track(h, i);
    if (h->has_spans && h->out.status == PROF_OK) prof__html_spans(h);
#ifdef PROF_HTML_LARGE
    if (h->outlined && h->out.status == PROF_OK) prof__html_statistics(h);
#endif
    h->first_track += tracks;
}

/* Writes the last block: how many scopes, other events and spans there are. By it the page sees if a report was cut. */
static void prof__html_end(prof__html *h)
{
    prof__html_u(&h->rows, h->scopes);
    prof__html_u(&h->rows, h->points);
    prof__html_u(&h->rows, h->spans);
    prof__html_block1(h, 'Z', &h->rows);
    prof__html_piece_end(h);
}

/* Returns 1 if the traces are different runs, which the user wants to compare: one of them overlaps with no other in
   time. Then makes all of them begin at 0. */
static int prof__html_together(const prof_trace *const *traces, size_t count, int64_t *offsets)
{
    for (size_t i = 0; i < count; ++i) {
        size_t j, others = 0;
        int64_t end = offsets[i] + prof_trace_about(traces[i])->duration_ns;
        for (j = 0; j < count; ++j) {
            int64_t its_end = offsets[j] + prof_trace_about(traces[j])->duration_ns;
            others += j != i && offsets[j] <= end && offsets[i] <= its_end;
        }
        if (others || count == 1) continue;
        memset(offsets, 0, count * sizeof *offsets);
        return 1;
    }
    return 0;
}

static void prof__html_all(prof__html *h, const prof_trace *const *traces, size_t count)
{
    int64_t *offsets = (int64_t *)calloc(count + 1, sizeof *offsets);
    size_t i, machines;
    if (!offsets) {
        prof__out_fail(&h->out, prof__fail(PROF_NO_MEMORY, "no memory to write %lu traces", (unsigned long)count));
        return;
    }
    machines = prof_trace_align(traces, count, offsets);
    h->together = prof__html_together(traces, count, offsets);
    for (i = 0; prof__html_page[i]; ++i) prof__out_text(&h->out, prof__html_page[i]);
    prof__html_u(&h->rows, PROF__HTML_VERSION);
    prof__html_u(&h->rows, machines);
    prof__html_text(&h->rows, h->options.title ? h->options.title : "");
    prof__html_block1(h, 'H', &h->rows);
    for (i = 0; i < count && h->out.status == PROF_OK; ++i) prof__html_trace(h, traces[i], offsets[i]);
    if (h->options.sources) prof__html_sources(h);
    prof__html_end(h);
    prof__out_text(&h->out, "</body>\n</html>\n");
    free(offsets);
}

static prof_status prof__html_make(prof__html **h, const prof_trace *const *traces, size_t count,
                                   const prof_html_options *options)
{
    *h = NULL;
    if (!traces || !count) return prof__fail(PROF_INVALID_ARGUMENT, "no trace to write");
    for (size_t i = 0; i < count; ++i)
        if (!traces[i]) return prof__fail(PROF_INVALID_ARGUMENT, "no trace to write");
    *h = (prof__html *)calloc(1, sizeof **h);
    if (!*h) return prof__fail(PROF_NO_MEMORY, "no memory to write a report");
    if (options) (*h)->options = *options;
    return PROF_OK;
}

static prof_status prof__html_done(prof__html *h)
{
    prof_status status = prof__out_close(&h->out);
    free(h->levels);
    free(h->sites);
    free(h->known_strings.items);
    free(h->known_strings.index.slots);
    free(h->known_kinds.items);
    free(h->known_kinds.index.slots);
    free(h);
    return status;
}

/* Writes a report to a file. limits: NULL: no limits. Its type is prof_html_limits, which only PROF_HTML_LARGE
   declares. */
static prof_status prof__html_file(const prof_trace *const *traces, size_t count, const char *path,
                                   const prof_html_options *options, const void *limits)
{
    prof__html *h;
    prof_status status = prof__html_make(&h, traces, count, options);
    if (!h) return status;
#ifdef PROF_HTML_LARGE
    if (limits) h->limits = *(const prof_html_limits *)limits;
#else
    (void)limits;
#endif
    status = prof__out_file(&h->out, path);
    if (status) {
        free(h);
        return status;
    }
    prof__html_all(h, traces, count);
    return prof__html_done(h);
}

PROF_DEF prof_status prof_html_merge(const prof_trace *const *traces, size_t count, const char *path,
                                     const prof_html_options *options)
{
    PROF__CALM();
    return prof__html_file(traces, count, path, options, NULL);
}

#ifdef PROF_HTML_LARGE
PROF_DEF prof_status prof_html_outline(const prof_trace *const *traces, size_t count, const char *path,
                                       const prof_html_options *options, const prof_html_limits *limits)
{
    PROF__CALM();
    prof_html_limits each = {0, 0, 0};
    uint64_t events = 0;
    if (limits) each = *limits;
    if (!each.events) each.events = PROF__HTML_MOST_EVENTS;
    for (size_t i = 0; traces && i < count; ++i) events += traces[i] ? prof_trace_about(traces[i])->event_count : 0;
    if (events > each.events || each.from_ns || each.to_ns) each.events = each.events / (count + !count) + 1;
    else each.events = 0; /* no limits */
    return prof__html_file(traces, count, path, options, &each);
}
#endif

PROF_DEF prof_status prof_html_stream(const prof_trace *trace, prof_sink sink, const prof_html_options *options)
{
    PROF__CALM();
    prof__html *h;
    prof_status status = prof__html_make(&h, &trace, 1, options);
    if (!h) return status;
    prof__out_sink(&h->out, sink);
    prof__html_all(h, &trace, 1);
    return prof__html_done(h);
}

PROF_DEF prof_status prof_html_write(const prof_trace *trace, const char *path, const prof_html_options *options)
{
    PROF__CALM();
    return prof_html_merge(&trace, 1, path, options);
}

/*-- live --*/

/* Writes the page up to where its data begin, with the script that only live pages have. The page may load data from
   the server that it came from, and from nowhere else. */
static void prof__html_live_head(prof__out *out)
{
    static const char policy[] = "default-src 'none';", end[] = "})();\n";
    for (size_t i = 0; prof__html_page[i]; ++i) {
        const char *text = prof__html_page[i], *at;
        if ((at = strstr(text, policy)) != NULL) {
            at += sizeof policy - 1;
            prof__out_bytes(out, text, (size_t)(at - text));
            prof__out_text(out, " connect-src 'self';");
            text = at;
        }
        if ((at = strstr(text, end)) != NULL) {
            prof__out_bytes(out, text, (size_t)(at - text));
            for (size_t k = 0; prof__html_live[k]; ++k) prof__out_text(out, prof__html_live[k]);
            text = at;
        }
        prof__out_text(out, text);
    }
}

/* Writes the page that watches a program: a report that has no events yet. */
static prof_status prof__html_live_page(prof_sink sink, const char *program)
{
    prof__html *h = (prof__html *)calloc(1, sizeof *h);
    if (!h) return prof__fail(PROF_NO_MEMORY, "no memory to write the page");
    prof__out_sink(&h->out, sink);
    prof__html_live_head(&h->out);
    prof__html_u(&h->rows, PROF__HTML_VERSION);
    prof__html_u(&h->rows, 1);
    prof__html_text(&h->rows, "");
    prof__html_block1(h, 'H', &h->rows);
    prof__html_about(h, "program", program);
    prof__html_about(h, "complete", "1");
    prof__html_block1(h, 'P', &h->rows);
    prof__html_end(h);
    prof__out_text(&h->out, "</body>\n</html>\n");
    return prof__html_done(h);
}

/* Writes a message as blocks that are not packed. `pairs` is a list of keys and values, up to NULL, which becomes a
   block of the kind L. A trace, if there is one, follows as a report. Before its events comes a block of the kind I,
   with a number for each track by which the page recognises the track in the next period; 0 for tracks of devices. */
static prof_status prof__html_live_message(prof_sink sink, const char *const *pairs, const prof_trace *trace)
{
    const prof_track *track;
    prof__html *h = (prof__html *)calloc(1, sizeof *h);
    if (!h) return prof__fail(PROF_NO_MEMORY, "no memory to write what the live page reads");
    h->plain = 1;
    prof__out_sink(&h->out, sink);
    for (size_t i = 0; pairs[i]; i += 2) prof__html_about(h, pairs[i], pairs[i + 1]);
    prof__html_block1(h, 'L', &h->rows);
    if (trace) {
        prof__html_u(&h->rows, PROF__HTML_VERSION);
        prof__html_u(&h->rows, 1);
        prof__html_text(&h->rows, "");
        prof__html_block1(h, 'H', &h->rows);
        for (size_t i = 0; (track = prof_trace_track(trace, i)) != NULL; ++i) {
            prof__html_u(&h->rows, track->device[0] ? 0 : track->id);
            if (h->rows.size >= PROF__HTML_COLUMN) prof__html_block1(h, 'I', &h->rows);
        }
        prof__html_block1(h, 'I', &h->rows);
        prof__html_trace(h, trace, 0);
        prof__html_end(h);
    }
    return prof__html_done(h);
}

static prof_status prof__html_default(const prof_trace *trace, const char *path)
{
    return prof_html_write(trace, path, NULL);
}

static prof_writer prof__html_writer = {".html", NULL, NULL, prof__html_default, NULL};
PROF__AT_START(101, prof__html_register);
static void prof__html_register(void) { prof_writer_register(&prof__html_writer); }
#ifdef PROF__SHARED
PROF__AT_END(101, prof__html_unregister);
static void prof__html_unregister(void) { prof_writer_unregister(&prof__html_writer); }
#endif

#ifdef PROF__WRAPS_MALLOC
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef qsort
#undef fclose
#undef fgetc
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_IMPLEMENTATION */

#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif
#ifdef __clang__
#pragma clang diagnostic pop
#endif
#pragma pack(pop)

/* This software is available under two licences: choose the one you prefer.

ALTERNATIVE A - MIT No Attribution (MIT-0)

Copyright 2026 the prof authors

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

ALTERNATIVE B - public domain (www.unlicense.org)

This is free and unencumbered software released into the public domain.

Anyone is free to copy, modify, publish, use, compile, sell, or distribute this software, either in source code form or
as a compiled binary, for any purpose, commercial or non-commercial, and by any means.

In jurisdictions that recognize copyright laws, the author or authors of this software dedicate any and all copyright
interest in the software to the public domain. We make this dedication for the benefit of the public at large and to the
detriment of our heirs and successors. We intend this dedication to be an overt act of relinquishment in perpetuity of
all present and future rights to this software under copyright law.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS BE
LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT
OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE. */
