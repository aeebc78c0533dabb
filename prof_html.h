/* prof_html.h - v0.1 - a report in one HTML file for prof - public domain or MIT-0
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

Or PROF_OUTPUT=trace.html, in the environment of a program with this header. An image of an earlier run:
prof_trace_open("trace.prof", &trace), then prof_html_write(trace, "trace.html", NULL); or prof export trace.prof -o
trace.html; or prof view trace.prof, which opens it, too. Of a program that runs, prof_server.h serves the same page,
live.

WHAT IT SHOWS                                                                                                 >>html

    One file that needs no network and nothing installed: Chrome or Edge from 103 on, Firefox from 113 on, Safari from
    16.4 on. Bars of frames; a time line of processes, threads, fibers and devices, with counters, spans, marks,
    messages, locks, memory and flows; for the selected range calls, total and self time, percentiles and a flame graph
    from the top or the bottom; of one scope the distribution and each of its calls with its arguments; tables of
    messages, memory, locks and frames; and what was lost, and what recording cost. ? lists the keys.

    What is in the file beside the page is packed: 1 to 2.5 bytes a scope; see docs/html.md. The page checks what it
    reads, may load nothing, and shows names only as text: a report of somebody else can be opened without fear.

    With a folder as the option `sources`, the panel of a scope also shows the lines around its call site: 4 before, 8
    after, of 400 bytes at most, 1 MiB in all. They are read when the report is written, from the regular file below
    the folder that the longest tail of the recorded path leads to; "/" takes all paths as they are. Where there is
    none, the report has no lines, and counts the file. Whoever has the report can read them: it is off by default.

    With PROF_HTML_LARGE, where PROF_IMPLEMENTATION is, prof_html_outline() writes an outline of a trace of more than 50
    million events, with statistics of all, and the events of a window; prof export and prof view do. The switch adds
    3 KB of code.

    Events with more than 2000 arguments lose the others. Otherwise all that a cursor or prof_spans_next() returns is in
    the file. In mode stats there are no events: write a .txt. */
#include "prof.h" /* each time, because the last one may be that of PROF_IMPLEMENTATION */
#ifndef PROF_HTML_H
#define PROF_HTML_H

#ifdef __cplusplus
extern "C" {
#endif

/* All zero is the default: everything. */
typedef struct prof_html_options {
    const char *title; /* of the page; NULL: the program's name */
    int no_args;       /* 1: leaves out arguments */
    const char *sources; /* a folder: the report has lines around the call sites of scopes, from files below it; NULL:
                            it has no source code */
} prof_html_options;

#ifdef PROF_HTML_LARGE
typedef struct prof_html_limits {
    uint64_t events;        /* so many may be in the report; 0: 50 million */
    int64_t from_ns, to_ns; /* the window; both 0: the last events, half of `events`; to_ns 0: up to the end */
} prof_html_limits;
#endif

#if PROF_ENABLE
/* Write a report. path: as for prof_csv_write(). options may be NULL. They take some 2 MB of memory, however long the
   trace is, and return what failed, as prof_csv_write() does. */
PROF_DEF prof_status prof_html_write(const prof_trace *trace, const char *path, const prof_html_options *options);
PROF_DEF prof_status prof_html_stream(const prof_trace *trace, prof_sink sink, const prof_html_options *options);

/* Writes several traces as the processes of one report, on the time line of prof_trace_align(). If one had ended before
   another began, each begins at 0, so that they can be compared. */
PROF_DEF prof_status prof_html_merge(const prof_trace *const *traces, size_t count, const char *path,
                                     const prof_html_options *options);
#ifdef PROF_HTML_LARGE
/* Does the same, with memory that does not grow with the traces, for those of more events than a page can show: an
   outline of all, and all events of a window. The others are written as ever. limits may be NULL. */
PROF_DEF prof_status prof_html_outline(const prof_trace *const *traces, size_t count, const char *path,
                                       const prof_html_options *options, const prof_html_limits *limits);
#endif
#else
#define prof_html_write(trace, path, options) PROF__STRIPPED(PROF_DISABLED, PROF__USE3(trace, path, options))
#define prof_html_stream(trace, sink, options) PROF__STRIPPED(PROF_DISABLED, PROF__USE3(trace, sink, options))
#define prof_html_merge(traces, count, path, options) \
    PROF__STRIPPED(PROF_DISABLED, (0 ? (void)(count) : PROF__USE3(traces, path, options)))
#define prof_html_outline(traces, count, path, options, limits) \
    PROF__STRIPPED(PROF_DISABLED, (0 ? (void)(count), (void)(limits) : PROF__USE3(traces, path, options)))
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_HTML_H */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && !defined(PROF__HTML_IMPLEMENTED)
#define PROF__HTML_IMPLEMENTED
#ifdef PROF_NO_READER
#error "prof_html.h needs the reader: take PROF_NO_READER away, or do without this header"
#endif

#ifdef PROF__WRAPS_MALLOC /* what prof itself allocates is not the program's */
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
#define qsort(at, count, size, order) prof__quiet_sort(at, count, size, order)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define PROF__HTML_VERSION 2          /* of the format */
#define PROF__HTML_MOST_ARGS 2000u    /* of an event */
#define PROF__HTML_FROM_LAST 0x10000u /* of a kind: scopes begin so much after the last one of their track */

/*-- deflate: raw, without a header. Knows nothing of files --*/

#define PROF__HTML_WINDOW 32768u
#define PROF__HTML_HASH_BITS 15
#define PROF__HTML_CHAIN 2      /* how many earlier places are compared */
#define PROF__HTML_PATIENCE 4   /* after 2^4 places without a match, the next one is left out; then two; and so on */
#define PROF__HTML_SHORTEST 7u  /* bytes of a match: shorter ones take as many bits as the bytes, most are frequent */
#define PROF__HTML_TOKENS 16384 /* of one Huffman code */
#define PROF__HTML_LONGEST 258u /* bytes of a match */
#define PROF__HTML_MATCH 0x80000000u /* a token: this, (length - 3) << 15 and distance - 1; else a byte */

typedef struct prof__html_code { /* a Huffman code */
    uint32_t count[288];
    uint16_t bits[288]; /* in the order in which they are written */
    unsigned char length[288];
} prof__html_code;

typedef struct prof__html_deflate {
    uint32_t head[1 << PROF__HTML_HASH_BITS]; /* the last place of each hash, + 1 */
    uint32_t before[PROF__HTML_WINDOW];       /* the one before it */
    uint32_t tokens[PROF__HTML_TOKENS];
    size_t token_count;
    prof__html_code letters, distances, lengths;
    unsigned char *to;
    size_t size;
    uint64_t bits;
    unsigned bit_count;
} prof__html_deflate;

static void prof__html_bits(prof__html_deflate *d, uint32_t bits, unsigned count)
{
    d->bits |= (uint64_t)bits << d->bit_count;
    d->bit_count += count;
    while (d->bit_count >= 8) {
        d->to[d->size++] = (unsigned char)(d->bits & 255);
        d->bits >>= 8;
        d->bit_count -= 8;
    }
}

static unsigned prof__html_log2(uint32_t value) /* value > 0 */
{
#if defined(__GNUC__)
    return 31u - (unsigned)__builtin_clz(value);
#else
    unsigned n = 0;
    while (value >>= 1) ++n;
    return n;
#endif
}

/* The code of a length, from 257 on, or of a distance; with its further bits. */
static unsigned prof__html_length_code(uint32_t length, unsigned *extra)
{
    uint32_t rest = length - 3;
    *extra = 0;
    if (length == PROF__HTML_LONGEST) return 285;
    if (rest < 8) return 257 + rest;
    *extra = prof__html_log2(rest) - 2;
    return 257 + 4 * (*extra + 1) + (rest >> *extra & 3);
}

static unsigned prof__html_distance_code(uint32_t distance, unsigned *extra)
{
    uint32_t rest = distance - 1;
    *extra = 0;
    if (rest < 4) return rest;
    *extra = prof__html_log2(rest) - 1;
    return 2 * (*extra + 1) + (rest >> *extra & 1);
}

/* Lengths of codes, from the counts of what is in use, sorted: Moffat and Katajainen, in place. */
static void prof__html_depths(uint32_t *a, int n)
{
    int root = 0, leaf = 2, next, free_nodes = 1, used, depth;
    if (n == 1) a[0] = 1;
    if (n < 2) return;
    a[0] += a[1];
    for (next = 1; next < n - 1; ++next) {
        if (leaf >= n || a[root] < a[leaf]) {
            a[next] = a[root];
            a[root++] = (uint32_t)next;
        } else {
            a[next] = a[leaf++];
        }
        if (leaf >= n || (root < next && a[root] < a[leaf])) {
            a[next] += a[root];
            a[root++] = (uint32_t)next;
        } else {
            a[next] += a[leaf++];
        }
    }
    a[n - 2] = 0;
    for (next = n - 3; next >= 0; --next) a[next] = a[a[next]] + 1;
    root = n - 2;
    next = n - 1;
    for (depth = used = 0; free_nodes > 0; ++depth) {
        while (root >= 0 && (int)a[root] == depth) {
            ++used;
            --root;
        }
        while (free_nodes > used) {
            a[next--] = (uint32_t)depth;
            --free_nodes;
        }
        free_nodes = 2 * used;
        used = 0;
    }
}

/* How many codes there are of each length, none longer than longest. */
static void prof__html_limit(uint32_t *number, int longest)
{
    uint32_t total = 0, i;
    for (i = (uint32_t)longest + 1; i < 33; ++i) number[longest] += number[i];
    for (i = (uint32_t)longest; i > 0; --i) total += number[i] << ((uint32_t)longest - i);
    for (; total > 1u << longest; --total) {
        --number[longest];
        for (i = (uint32_t)longest - 1; i > 0 && !number[i]; --i) continue;
        --number[i];
        number[i + 1] += 2;
    }
}

/* Makes a code from its counts. */
static void prof__html_code_make(prof__html_code *code, int symbols, int longest)
{
    uint16_t order[288];
    uint32_t sorted[288], number[33], next[17], start = 0;
    int n = 0, i, j, at;
    for (i = 0; i < symbols; ++i) {
        code->length[i] = 0;
        if (!code->count[i]) continue;
        for (j = n++; j > 0 && code->count[order[j - 1]] > code->count[i]; --j) order[j] = order[j - 1];
        order[j] = (uint16_t)i;
    }
    for (i = 0; i < n; ++i) sorted[i] = code->count[order[i]];
    prof__html_depths(sorted, n);
    memset(number, 0, sizeof number);
    for (i = 0; i < n; ++i) ++number[sorted[i] < 32 ? sorted[i] : 32];
    prof__html_limit(number, longest);
    for (at = n, i = 1; i <= longest; ++i) /* the shortest codes to the most frequent */
        for (j = (int)number[i]; j > 0; --j) code->length[order[--at]] = (unsigned char)i;
    next[1] = 0;
    for (i = 2; i <= longest; ++i) next[i] = start = (start + number[i - 1]) << 1;
    for (i = 0; i < symbols; ++i) {
        unsigned length = code->length[i];
        uint32_t bits = length ? next[length]++ : 0, turned = 0, k;
        for (k = 0; k < length; ++k) turned |= (bits >> k & 1) << (length - 1 - k);
        code->bits[i] = (uint16_t)turned;
    }
}

static void prof__html_symbol(prof__html_deflate *d, const prof__html_code *code, unsigned symbol)
{
    prof__html_bits(d, code->bits[symbol], code->length[symbol]);
}

/* Counts the symbols that stand for the lengths of both codes, with runs; or, if write is 1, writes them. */
static void prof__html_lengths(prof__html_deflate *d, const unsigned char *all, unsigned count, int write)
{
    unsigned i = 0;
    while (i < count) {
        unsigned run = 1, symbol = all[i], extra = 0, bits = 0;
        while (i + run < count && all[i + run] == symbol && run < 138) ++run;
        if (!symbol && run >= 3) {
            symbol = run < 11 ? 17 : 18;
            extra = run < 11 ? run - 3 : run - 11;
            bits = run < 11 ? 3 : 7;
        } else if (i && all[i - 1] == symbol && run >= 3) {
            if (run > 6) run = 6;
            symbol = 16;
            extra = run - 3;
            bits = 2;
        } else {
            run = 1;
        }
        if (write) {
            prof__html_symbol(d, &d->lengths, symbol);
            prof__html_bits(d, extra, bits);
        } else {
            ++d->lengths.count[symbol];
        }
        i += run;
    }
}

/* Writes both codes. */
static void prof__html_codes(prof__html_deflate *d)
{
    static const unsigned char order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    unsigned char all[318];
    unsigned letters = 286, distances = 30, lengths = 19, i;
    while (letters > 257 && !d->letters.length[letters - 1]) --letters;
    while (distances > 1 && !d->distances.length[distances - 1]) --distances;
    memcpy(all, d->letters.length, letters);
    memcpy(all + letters, d->distances.length, distances);
    memset(d->lengths.count, 0, sizeof d->lengths.count);
    prof__html_lengths(d, all, letters + distances, 0);
    prof__html_code_make(&d->lengths, 19, 7);
    while (lengths > 4 && !d->lengths.length[order[lengths - 1]]) --lengths;
    prof__html_bits(d, letters - 257, 5);
    prof__html_bits(d, distances - 1, 5);
    prof__html_bits(d, lengths - 4, 4);
    for (i = 0; i < lengths; ++i) prof__html_bits(d, d->lengths.length[order[i]], 3);
    prof__html_lengths(d, all, letters + distances, 1);
}

/* Writes the tokens that are collected. */
static void prof__html_emit(prof__html_deflate *d, int last)
{
    size_t i;
    unsigned extra;
    memset(d->letters.count, 0, sizeof d->letters.count);
    memset(d->distances.count, 0, sizeof d->distances.count);
    d->letters.count[256] = 1;
    d->distances.count[0] = 1; /* there has to be one, */
    d->distances.count[1] = 1; /* and some decoders want a complete code */
    for (i = 0; i < d->token_count; ++i) {
        uint32_t token = d->tokens[i];
        if (token & PROF__HTML_MATCH) {
            ++d->letters.count[prof__html_length_code((token >> 15 & 255) + 3, &extra)];
            ++d->distances.count[prof__html_distance_code((token & 32767) + 1, &extra)];
        } else {
            ++d->letters.count[token];
        }
    }
    prof__html_code_make(&d->letters, 286, 15);
    prof__html_code_make(&d->distances, 30, 15);
    prof__html_bits(d, last ? 5 : 4, 3);
    prof__html_codes(d);
    for (i = 0; i < d->token_count; ++i) {
        uint32_t token = d->tokens[i], length = (token >> 15 & 255) + 3, distance = (token & 32767) + 1;
        if (!(token & PROF__HTML_MATCH)) {
            prof__html_symbol(d, &d->letters, token);
            continue;
        }
        prof__html_symbol(d, &d->letters, prof__html_length_code(length, &extra));
        prof__html_bits(d, extra ? (length - 3) & ((1u << extra) - 1) : 0, extra);
        prof__html_symbol(d, &d->distances, prof__html_distance_code(distance, &extra));
        prof__html_bits(d, extra ? (distance - 1) & ((1u << extra) - 1) : 0, extra);
    }
    prof__html_symbol(d, &d->letters, 256);
    d->token_count = 0;
}

/* Of the next bytes, as many as a match has at least. */
static uint32_t prof__html_hash_at(const unsigned char *at)
{
    uint64_t bytes;
    memcpy(&bytes, at, 8);
    return (uint32_t)((bytes << 8) * 0x9E3779B97F4A7C15u >> (64 - PROF__HTML_HASH_BITS));
}

static void prof__html_remember(prof__html_deflate *d, uint32_t hash, size_t at)
{
    d->before[at % PROF__HTML_WINDOW] = d->head[hash];
    d->head[hash] = (uint32_t)at + 1;
}

/* The longest match of what is at `at`; 0: none. */
static uint32_t prof__html_match(const prof__html_deflate *d, const unsigned char *from, size_t at, size_t end,
                                 uint32_t hash, uint32_t *distance)
{
    uint32_t best = PROF__HTML_SHORTEST - 1, place = d->head[hash];
    uint32_t max = (uint32_t)(end - at < PROF__HTML_LONGEST ? end - at : PROF__HTML_LONGEST);
    int left = PROF__HTML_CHAIN;
    for (; place && place <= at && at - (place - 1) <= PROF__HTML_WINDOW && left--;
         place = d->before[(place - 1) % PROF__HTML_WINDOW]) {
        const unsigned char *then = from + place - 1;
        uint32_t length = 0;
        if (then[best] != from[at + best]) continue;
        while (length < max && then[length] == from[at + length]) ++length;
        if (length <= best) continue;
        best = length;
        *distance = (uint32_t)(at - (place - 1));
        if (best >= 64 || best == max) break;
    }
    return best < PROF__HTML_SHORTEST ? 0 : best;
}

/* Packs size bytes, whose parts end at ends[]; those have a code of their own. to has room for 2 * size + 1024 bytes.
   Returns how many it takes. */
static size_t prof__html_deflate_all(prof__html_deflate *d, const unsigned char *from, const size_t *ends, size_t parts,
                                     unsigned char *to)
{
    size_t part, at = 0, size = ends[parts - 1];
    memset(d->head, 0, sizeof d->head);
    d->to = to;
    d->size = d->token_count = 0;
    d->bits = 0;
    d->bit_count = 0;
    for (part = 0; part < parts; ++part) {
        size_t look = at; /* the next place where a match is looked for */
        uint32_t missed = 0;
        while (at < ends[part]) {
            uint32_t distance = 0, length = 0, i;
            if (at >= look && at + 8 <= ends[part]) {
                uint32_t hash = prof__html_hash_at(from + at);
                length = prof__html_match(d, from, at, ends[part], hash, &distance);
                prof__html_remember(d, hash, at);
                look = at + 1 + (missed++ >> PROF__HTML_PATIENCE);
            }
            if (length) {
                d->tokens[d->token_count++] = PROF__HTML_MATCH | (length - 3) << 15 | (distance - 1);
                for (i = 1; i < length && i < 16 && at + i + 8 <= size; ++i)
                    prof__html_remember(d, prof__html_hash_at(from + at + i), at + i);
                look = at += length;
                missed = 0;
            } else {
                d->tokens[d->token_count++] = from[at++];
            }
            if (d->token_count == PROF__HTML_TOKENS) prof__html_emit(d, 0);
        }
        if (d->token_count || part + 1 == parts) prof__html_emit(d, part + 1 == parts);
    }
    if (d->bit_count) prof__html_bits(d, 0, 8 - d->bit_count);
    return d->size;
}

/*-- blocks: see docs/html.md. The first error sticks to the output --*/

#define PROF__HTML_COLUMN 65536u           /* bytes of a column at which a block ends */
#define PROF__HTML_SLACK 65536u            /* and the longest thing that is written into it at once */
#define PROF__HTML_COLUMNS 5
#define PROF__HTML_PIECE 1500000u          /* bytes of an element */
/* One column alone may be longer than COLUMN by more than a few numbers. */
#define PROF__HTML_RAW ((size_t)PROF__HTML_COLUMNS * (PROF__HTML_COLUMN + 64) + PROF__HTML_SLACK)
#define PROF__HTML_STRINGS 8192u           /* strings, and kinds, that are remembered; powers of two */
#define PROF__HTML_KINDS 4096u
#define PROF__HTML_SOURCES 4096u          /* call sites, for the option `sources` */
#define PROF__HTML_PARTS 4096u            /* parts of a large trace */

/* Bytes that are collected. */
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

typedef struct prof__html_level { /* of the scopes of a track */
    int64_t start, end; /* of the last */
    int is_open;     /* 1: its duration was not written yet */
    uint64_t count;  /* of all */
    uint64_t listed; /* the last one whose arguments are in the block with this number: */
    uint64_t block;
#ifdef PROF_HTML_LARGE
    prof__html_group group;
#endif
} prof__html_level;

typedef struct prof__html_source { /* a call site whose lines are wanted */
    const char *file;
    uint32_t text, line; /* text: its number */
} prof__html_source;

typedef struct prof__html {
    prof__out out;
    int plain;         /* 1: the blocks alone, not packed, neither as text nor in elements */
    size_t piece;      /* characters in the element that is open; 0: none is */
    uint32_t odd;      /* bits that make no character yet, */
    unsigned odd_count; /* and how many */
    uint32_t string_count, kind_count;
    uint64_t scopes, points, spans; /* written so far */
    uint64_t argument_blocks;
    const prof_trace *trace;                /* the one that is being written, */
    int64_t offset;                         /* of its times in the report's, */
    size_t first_track, track;              /* its first track, and the present one, over all traces */
    int has_spans, together;                /* together: see prof__html_together() */
    int64_t last_scope, last_point, last_span; /* times */
    int64_t last_time;                         /* of a begin or end of a scope */
    prof__html_level *levels;
    size_t level_capacity, open_levels; /* open: that had a scope since the one around them began */
    prof__html_level listed_points;
    size_t source_count, source_bytes;
    int source_limit; /* 1: a limit left something out */
    prof_html_options options;
#ifdef PROF_HTML_LARGE
    prof_html_limits limits;
    int outlined;                           /* 1: of this trace not everything is written */
    int64_t window_from, window_to, part;   /* of what is; the duration of a part of the trace */
    size_t group_first, group_depths;       /* the depths that have an open group, */
    int64_t group_until;                    /* which has no scope that begins later */
    uint64_t counts[PROF__HTML_PARTS], last_parts[PROF__HTML_PARTS]; /* events; see prof__html_sparse() */
#endif
    prof__html_bytes strings, kinds, scope_kinds, times, point_kinds, details, arguments, rows;
    prof__html_numbers starts, ends;
    prof__html_string known_strings[PROF__HTML_STRINGS];
    prof__html_kind known_kinds[PROF__HTML_KINDS];
    prof__html_source sources[PROF__HTML_SOURCES];
    prof__html_deflate deflate;
    unsigned char raw[PROF__HTML_RAW], packed[2 * PROF__HTML_RAW + 1024];
} prof__html;

/*-- text --*/

/* Seven bits to a character. What HTML, an editor or a terminal might change is written as ! and the character ^ 64:
   the end of a text, of a line, what begins a tag or an escape sequence, and ! itself. */
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
    prof__html_characters(h, (const unsigned char *)"", 1); /* what is left of the last byte; the rest is no block */
    h->odd_count = 0;
    prof__out_text(&h->out, "</script>\n");
    h->piece = 0;
}

/*-- bytes --*/

static void prof__html_u(prof__html_bytes *to, uint64_t value)
{
    to->size = (size_t)(prof__pack_integer(to->at + to->size, value) - to->at);
}

/* Most numbers take a byte among the heads: its value, or some of its bits, the highest, and how many bytes of the rest
   follow among the rests, the lowest first. So each column has bytes of one sort, which deflate packs better. */
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

/* A text as it is, with its length. */
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
    size_t ends[PROF__HTML_COLUMNS + 1], i, packed, size;
    for (i = 0; i < count; ++i) to = prof__pack_integer(to, columns[i]->size);
    ends[0] = (size_t)(to - h->raw);
    for (i = 0; i < count; ++i) {
        memcpy(to, columns[i]->at, columns[i]->size);
        to += columns[i]->size;
        ends[i + 1] = (size_t)(to - h->raw);
        columns[i]->size = 0;
    }
    size = (size_t)(to - h->raw);
    packed = size > 256 && !h->plain ? prof__html_deflate_all(&h->deflate, h->raw, ends, count + 1, h->packed) : size;
    head[0] = (unsigned char)kind;
    to = prof__pack_integer(head + 1, size);
    to = prof__pack_integer(to, packed < size ? packed : 0); /* 0: it is as it was */
    prof__html_bytes_out(h, head, (size_t)(to - head));
    prof__html_bytes_out(h, packed < size ? h->packed : h->raw, packed < size ? packed : size);
    if (h->piece >= PROF__HTML_PIECE) prof__html_piece_end(h);
}

static void prof__html_block1(prof__html *h, char kind, prof__html_bytes *column)
{
    if (column->size) prof__html_block(h, kind, &column, 1);
}

static void prof__html_tables(prof__html *h) /* what other blocks refer to */
{
    prof__html_block1(h, 'S', &h->strings);
    prof__html_block1(h, 'K', &h->kinds);
}

/*-- strings and kinds --*/

static uint64_t prof__html_hash(const char *text, uint32_t *length)
{
    const char *c = text;
    uint64_t hash = 14695981039346656037u;
    for (; *c; ++c) hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    *length = (uint32_t)(c - text);
    hash = prof__mix(hash);
    return hash ? hash : 1;
}

/* The number of a string, which is written if it is not among those that are remembered. */
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

static void prof__html_about_number(prof__html *h, const char *key, uint64_t value);
static void prof__html_source_add(prof__html *h, const char *file, uint32_t text, uint32_t line);

/* The number of a kind. type: that of the event, and its flags << 8. */
static uint32_t prof__html_kind_of(prof__html *h, const prof_callsite *site, const char *name, uint32_t depth,
                                   uint32_t type)
{
    uint32_t length;
    uint64_t hash = name == site->name ? 0 : prof__html_hash(name, &length);
    uint64_t key = ((uint64_t)(uintptr_t)site ^ hash) + depth * 0x9E3779B97F4A7C15u + type * 0xBF58476D1CE4E5B9u;
    prof__html_kind *known = &h->known_kinds[(key ^ key >> 29) * 0x9E3779B97F4A7C15u >> 52];
    if (known->site == site && known->name == hash && known->depth == depth && known->type == type) return known->id;
    uint32_t texts[4] = {prof__html_string_of(h, name), prof__html_string_of(h, site->category),
                         prof__html_string_of(h, site->file), prof__html_string_of(h, site->function)};
    if (h->options.sources && site->line && (type & 255) == PROF_EVENT_SCOPE)
        prof__html_source_add(h, site->file, texts[2], site->line);
    if (h->kinds.size >= PROF__HTML_COLUMN) prof__html_tables(h);
    prof__html_u(&h->kinds, type);
    prof__html_u(&h->kinds, depth);
    for (int i = 0; i < 4; ++i) prof__html_u(&h->kinds, texts[i]);
    prof__html_u(&h->kinds, site->line);
    prof__html_u(&h->kinds, site->color);
    prof__html_u(&h->kinds, site->role);
    known->site = site;
    known->name = hash;
    known->depth = depth;
    known->type = type;
    return known->id = h->kind_count++;
}

/* The page, up to where the data begin: see src/html/. */
static const char *const prof__html_page[] = {
    "<!doctype html>\n"
    "<html lang=\"en\">\n"
    "<head>\n"
    "<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'nonce-prof'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<meta name=\"referrer\" content=\"no-referrer\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n"
    "<title>prof</title>\n"
    "<style>\n"
    ":root{\n"
    "--scheme:light;--background:#ffffff;--gutter:#f6f7f9;--head:#e3e7ee;--group:#eef0f4;--line:#dfe3e8;--grid:#eceff3;\n"
    "--ink:#1c2430;--faint:#5a6577;--shade:rgba(30,40,60,.13);--accent:#1f5fbf;--onaccent:#ffffff;--counter:#7fa8dd;\n"
    "--mark:#6a55b0;--warn:#b87400;--bad:#c22f2f;--good:#3d9960;--flow:#b03a8c;--note:#fff4d6;--slower:#b83a10;\n"
    "color-scheme:light;\n"
    "}\n"
    "@media (prefers-color-scheme:dark){\n"
    ":root:not([data-theme=light]){\n"
    "--scheme:dark;--background:#14171c;--gutter:#1b1f26;--head:#2b323d;--group:#222832;--line:#303743;--grid:#20252d;\n"
    "--ink:#e6eaf0;--faint:#9aa6b8;--shade:rgba(0,0,0,.34);--accent:#7db4ff;--onaccent:#0c1220;--counter:#3f6596;\n"
    "--mark:#b4a3f0;--warn:#e0a030;--bad:#f07070;--good:#55b37a;--flow:#e58ac8;--note:#3a3118;--slower:#ff9474;\n"
    "color-scheme:dark;\n"
    "}\n"
    "}\n"
    ":root[data-theme=dark]{\n"
    "--scheme:dark;--background:#14171c;--gutter:#1b1f26;--head:#2b323d;--group:#222832;--line:#303743;--grid:#20252d;\n"
    "--ink:#e6eaf0;--faint:#9aa6b8;--shade:rgba(0,0,0,.34);--accent:#7db4ff;--onaccent:#0c1220;--counter:#3f6596;\n"
    "--mark:#b4a3f0;--warn:#e0a030;--bad:#f07070;--good:#55b37a;--flow:#e58ac8;--note:#3a3118;--slower:#ff9474;\n"
    "color-scheme:dark;\n"
    "}\n"
    "*{box-sizing:border-box}\n"
    "html,body{height:100%;margin:0}\n"
    "body{display:flex;flex-direction:column;font:13px/1.4 system-ui,sans-serif;color:var(--ink);background:var(--background);overflow:hidden}\n"
    "header{display:flex;gap:10px;align-items:center;padding:5px 10px;background:var(--head)}\n"
    "h1{font-size:15px;margin:0;white-space:nowrap;overflow:hidden;text-overflow:ellipsis;max-width:40vw}\n"
    "h2{font-size:14px;margin:0 0 2px;overflow-wrap:anywhere}\n"
    ".note{color:var(--faint)}\n"
    ".grow{flex:1}\n"
    ".hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}\n"
    "button,input,select{font:inherit;color:inherit;background:var(--background);border:1px solid var(--line);border-radius:4px;padding:2px 8px}\n"
    "button{cursor:pointer}\n"
    "button:disabled{opacity:.5;cursor:default}\n"
    "button[aria-pressed=true]{background:var(--accent);color:var(--onaccent)}\n"
    ":focus-visible{outline:2px solid var(--accent);outline-offset:-2px}\n"
    ".searching{position:relative}\n"
    "#search{width:290px;padding-right:52px}\n"
    "#hits{position:absolute;right:26px;top:3px;color:var(--faint);font-size:12px}\n"
    ".message{background:var(--note);padding:4px 10px;max-height:30vh;overflow:auto}\n"
    "#warnings details{display:inline;margin-left:6px}\n"
    "#warnings summary{display:inline;cursor:pointer;text-decoration:underline}\n"
    "#warnings p{margin:2px 0}\n"
    "#loading{padding:20px;margin:0}\n"
    "#loading[hidden]{display:none}\n"
    "main{flex:1;min-height:120px;display:flex;flex-direction:column;min-width:0;overflow:hidden}\n"
    "body.dropping{outline:3px dashed var(--accent);outline-offset:-3px}\n"
    "canvas:focus-visible{outline-width:1px;outline-offset:-1px}\n"
    "canvas{display:block;width:100%;touch-action:none}\n"
    "#frames{height:58px;border-bottom:1px solid var(--line);cursor:pointer;flex:none}\n"
    "#frames[hidden]{display:none}\n"
    "#time{flex:1;min-height:0;height:0}\n"
    "#bar{height:7px;background:var(--head);cursor:row-resize;touch-action:none;flex:none}\n"
    "#lower{height:40vh;display:flex;flex-direction:column;flex:none;min-height:0}\n"
    "#tabs{display:flex;background:var(--group);flex:none;overflow-x:auto}\n"
    "#tabs button{border:0;border-radius:0;background:none;padding:5px 12px;white-space:nowrap;border-bottom:2px solid transparent}\n"
   ,
    "#tabs button[aria-selected=true]{background:var(--background);border-bottom-color:var(--accent);font-weight:600}\n"
    "#panel{flex:1;min-height:0;display:flex;flex-direction:column;overflow:auto}\n"
    "#panel > .note{padding:10px;margin:0}\n"
    ".fill{flex:1;min-height:0;display:flex;flex-direction:column}\n"
    ".scroll{overflow:auto;flex:1 1 auto;min-height:90px}\n"
    ".bar-of-tools{display:flex;gap:8px;align-items:center;padding:4px 8px;flex:none;flex-wrap:wrap}\n"
    "table{border-collapse:collapse;min-width:55%;font-variant-numeric:tabular-nums}\n"
    "caption{text-align:left;padding:5px 8px 3px;color:var(--faint)}\n"
    "caption .copy{font-size:11px;padding:0 6px;margin-left:6px}\n"
    "th,td{text-align:right;padding:2px 8px;white-space:nowrap;border-bottom:1px solid var(--grid);font-weight:normal}\n"
    "thead th{position:sticky;top:0;background:var(--gutter);z-index:1}\n"
    "th button{border:0;background:none;padding:0;font-weight:600}\n"
    ".text{text-align:left;max-width:34em;overflow:hidden;text-overflow:ellipsis}\n"
    "tbody tr:hover{background:var(--group)}\n"
    "tr.picked{background:var(--head)}\n"
    ".link{border:0;background:none;padding:0;color:var(--accent);text-align:inherit;max-width:100%;overflow:hidden;text-overflow:ellipsis}\n"
    ".link:hover{text-decoration:underline}\n"
    "td.text .link{display:block}\n"
    ".bar{display:inline-flex;align-items:center;gap:6px;justify-content:flex-end}\n"
    ".bar i{display:inline-block;height:9px;background:var(--counter)}\n"
    ".facts{width:auto;margin-bottom:8px}\n"
    ".facts th{text-align:left;color:var(--faint)}\n"
    ".facts .text{max-width:70vw;white-space:normal;overflow-wrap:anywhere}\n"
    ".flame{position:relative;margin:4px;min-height:40px}\n"
    ".flame button{position:absolute;height:19px;border:0;border-right:1px solid var(--background);border-radius:0;padding:0 3px;font-size:11px;text-align:left;overflow:hidden;white-space:nowrap;text-overflow:ellipsis;min-width:1px}\n"
    ".flame .new,.flame .gone,.swatch.new,.swatch.gone{background-image:repeating-linear-gradient(135deg,transparent 0 3px,var(--shade) 3px 6px)}\n"
    ".flame .gone,.swatch.gone{outline:1px dashed var(--ink);outline-offset:-1px}\n"
    ".flame .gone:focus-visible{outline:2px solid var(--accent)}\n"
    ".legend{padding-top:0}\n"
    ".verdict.slower,.verdict.faster{font-weight:600}\n"
    ".verdict.slower{color:var(--slower)}\n"
    ".verdict.faster{color:var(--accent)}\n"
    "#panel > .under{padding:0 8px 2px}\n"
    ".split{display:flex;flex:1;min-height:0}\n"
    ".side{width:400px;flex:none;overflow:auto;padding:8px 10px;border-right:1px solid var(--line)}\n"
    ".side > p{margin:0 0 6px;overflow-wrap:anywhere}\n"
    ".side dl{display:grid;grid-template-columns:repeat(5,auto);gap:0 12px;margin:0 0 8px;grid-auto-flow:column;grid-template-rows:repeat(4,auto)}\n"
    ".side dt{color:var(--faint);font-size:11px}\n"
    ".side dd{margin:0 0 3px;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
    ".swatch{display:inline-block;width:11px;height:11px;border-radius:2px;margin-right:6px}\n"
    ".histogram{display:flex;align-items:flex-end;height:84px;gap:1px;border-bottom:1px solid var(--line)}\n"
    ".histogram button{flex:1;height:100%;padding:0;border:0;border-radius:0;background:none;display:flex;align-items:flex-end}\n"
    ".histogram button i{display:block;width:100%;background:var(--counter)}\n"
    ".histogram button:hover:enabled{background:var(--group)}\n"
    ".histogram button.picked i{background:var(--accent)}\n"
    ".ends{display:flex;justify-content:space-between;color:var(--faint);font-size:11px}\n"
    "details{margin-top:6px}\n"
    "summary{cursor:pointer}\n"
    ".source{overflow:auto;margin:4px 0;font:12px/1.5 ui-monospace,monospace;tab-size:4}\n"
    ".source [data-n]::before{content:attr(data-n);display:inline-block;width:6ch;margin-right:1ch;text-align:right;color:var(--faint)}\n"
    ".source mark{background:var(--note);color:inherit;font-weight:600}\n"
   ,
    "#tip{position:fixed;z-index:9;pointer-events:none;background:var(--ink);color:var(--background);padding:5px 8px;border-radius:4px;max-width:480px;font-size:12px;overflow-wrap:anywhere}\n"
    "#tip[hidden]{display:none}\n"
    "#tip b{margin-right:10px}\n"
    "dialog{max-width:620px;color:inherit;background:var(--background);border:1px solid var(--line);border-radius:8px}\n"
    "dialog form{float:right}\n"
    "dialog dl{display:grid;grid-template-columns:auto 1fr;gap:3px 14px}\n"
    "dialog dt{font-weight:600}\n"
    "dialog dd{margin:0}\n"
    "@media (max-width:900px){header{flex-wrap:wrap}#facts{display:none}#search{width:160px}.split{flex-direction:column}.side{width:auto;border-right:0}}\n"
    "@media (max-width:600px){header{gap:6px}.grow{display:none}#search{width:110px}}\n"
    "</style>\n"
    "</head>\n"
    "<body>\n"
    "<header>\n"
    "<h1 id=\"title\"></h1>\n"
    "<span id=\"facts\" class=\"note\"></span>\n"
    "<span class=\"grow\"></span>\n"
    "<label class=\"searching\"><span class=\"hidden\">Search</span><input id=\"search\" type=\"search\" placeholder=\"Search:  name  cat:io  key=value  &gt;2ms\" autocomplete=\"off\" spellcheck=\"false\"><output id=\"hits\"></output></label>\n"
    "<button id=\"picture\" title=\"P: save a picture, PNG or SVG\">Picture&hellip;</button>\n"
    "<button id=\"against\" title=\"Another report that prof made: or drop its file on this page\">Compare with&hellip;</button><input id=\"file\" type=\"file\" accept=\".html,.htm\" aria-label=\"Report to compare with\" hidden>\n"
    "<button id=\"theme\" aria-label=\"Light or dark\">&#9680;</button>\n"
    "<button id=\"help\" aria-label=\"Keys and help\">?</button>\n"
    "</header>\n"
    "<div id=\"warnings\" class=\"message\" role=\"status\" hidden></div>\n"
    "<div id=\"said\" class=\"message\" hidden></div>\n"
    "<p id=\"loading\" role=\"status\">Reading the recording&hellip;</p>\n"
    "<main>\n"
    "<canvas id=\"frames\" tabindex=\"0\" role=\"application\" aria-label=\"Frames: arrow keys go from frame to frame\" hidden></canvas>\n"
    "<canvas id=\"time\" tabindex=\"0\" role=\"application\" aria-label=\"Time line: arrow keys go from scope to scope, W and S zoom, A and D move; the tables below have the same\"></canvas>\n"
    "</main>\n"
    "<div id=\"bar\" role=\"separator\" aria-orientation=\"horizontal\" aria-label=\"Height of the panel\" tabindex=\"0\"></div>\n"
    "<section id=\"lower\">\n"
    "<div id=\"tabs\" role=\"tablist\" aria-label=\"Panels\"></div>\n"
    "<div id=\"panel\" role=\"tabpanel\"></div>\n"
    "</section>\n"
    "<div id=\"tip\" role=\"tooltip\" hidden></div>\n"
    "<div id=\"live\" class=\"hidden\" aria-live=\"polite\"></div>\n"
    "<dialog id=\"pictures\" aria-label=\"Save a picture\">\n"
    "<form method=\"dialog\"><button aria-label=\"Close\">&times;</button></form>\n"
    "<h2>Save a picture</h2>\n"
    "<p><button id=\"save-png\">Time line, PNG</button> <button id=\"save-svg\">Time line, SVG</button> <button id=\"save-flame\">Flame graph, SVG</button></p>\n"
    "<p>As it is shown now. The address of the page says what is shown, too: <button id=\"copy-address\">Copy the address</button></p>\n"
    "</dialog>\n"
    "<dialog id=\"keys\" aria-label=\"Keys\">\n"
    "<form method=\"dialog\"><button aria-label=\"Close\">&times;</button></form>\n"
    "<h2>Keys</h2>\n"
    "<dl>\n"
    "<dt>W S</dt><dd>zoom in and out; also Ctrl and the wheel</dd>\n"
    "<dt>A D</dt><dd>move left and right; also Shift and the wheel, or Shift and drag</dd>\n"
    "<dt>drag</dt><dd>select a range: the tables are about it</dd>\n"
    "<dt>F</dt><dd>fit the selection, or the scope, into the window; double click does so with a scope</dd>\n"
    "<dt>M</dt><dd>select the time of the scope</dd>\n"
    "<dt>0</dt><dd>show everything</dd>\n"
    "<dt>arrows</dt><dd>to the scope before, after, around, inside</dd>\n"
    "<dt>[ ]</dt><dd>previous and next call of the same scope</dd>\n"
    "<dt>Enter</dt><dd>open the scope: distribution, calls, arguments</dd>\n"
    "<dt>/</dt><dd>search: part of a name, cat:NAME, key=value, &gt;2ms, &lt;100us</dd>\n"
    "<dt>N</dt><dd>next scope that was found; Shift and N: previous</dd>\n"
    "<dt>C, O</dt><dd>fold the row of the scope; pin it to the top</dd>\n"
    "<dt>T</dt><dd>order of the rows: as recorded, by name, by time in scopes</dd>\n"
   ,
    "<dt>P</dt><dd>save a picture</dd>\n"
    "<dt>Esc</dt><dd>give up the selection</dd>\n"
    "</dl>\n"
    "<p>A click on a name at the left folds a row; the diamond pins it to the top. The address of the page says what is shown: send it along. Drop another report's file on the page, or choose it by Compare with, to compare the two.</p>\n"
    "<p><label><input type=\"checkbox\" id=\"wheel\"> The wheel alone zooms, as in Tracy</label></p>\n"
    "</dialog>\n"
    "<script nonce=\"prof\">\n"
    "\"use strict\";\n"
    "(() => {\n"
    "class Growing{\n"
    "constructor(type){\n"
    "this.type=type;\n"
    "this.items=new type(4);\n"
    "}\n"
    "put(i,value){\n"
    "if(i>=this.items.length){\n"
    "const more=new this.type(Math.ceil(this.items.length*1.7));\n"
    "more.set(this.items);\n"
    "this.items=more;\n"
    "}\n"
    "this.items[i]=value;\n"
    "}\n"
    "close(count){return this.items.slice(0,count);}\n"
    "}\n"
    "function firstIndex(n,test){\n"
    "let low=0,high=n;\n"
    "while(low<high){\n"
    "const middle=low+high>>>1;\n"
    "if(test(middle))high=middle;else low=middle+1;\n"
    "}\n"
    "return low;\n"
    "}\n"
    "function mergeOrder(lists){\n"
    "let runs=lists.map((times,list)=>({list:new Uint32Array(times.length).fill(list),\n"
    "index:Uint32Array.from({length:times.length},(_,i)=>i)}));\n"
    "while(runs.length>1){\n"
    "const next=[];\n"
    "for(let i=0;i<runs.length;i+=2)next.push(i+1<runs.length?mergeTwo(lists,runs[i],runs[i+1]):runs[i]);\n"
    "runs=next;\n"
    "}\n"
    "return runs[0]||{list:new Uint32Array(0),index:new Uint32Array(0)};\n"
    "}\n"
    "function mergeTwo(lists,x,y){\n"
    "const n=x.list.length,m=y.list.length,list=new Uint32Array(n+m),index=new Uint32Array(n+m);\n"
    "for(let i=0,j=0,k=0;k<n+m;k++){\n"
    "const first=j>=m||(i<n&&lists[x.list[i]][x.index[i]]<=lists[y.list[j]][y.index[j]]);\n"
    "list[k]=first?x.list[i]:y.list[j];\n"
    "index[k]=first?x.index[i++]:y.index[j++];\n"
    "}\n"
    "return{list,index};\n"
    "}\n"
    "const units=[['ns',1],['us',1e3],['ms',1e6],['s',1e9],['m',60e9],['h',3600e9]];\n"
    "function ns(value){\n"
    "if(!Number.isFinite(value))return'';\n"
    "const size=Math.abs(value);\n"
    "let unit=0;\n"
    "while(unit<3&&size>=units[unit+1][1]*0.99995)unit++;\n"
    "const scaled=value/units[unit][1];\n"
    "if(!unit)return`${Math.abs(scaled) < 10 && scaled % 1 ? scaled.toFixed(1) : Math.round(scaled)} ns`;\n"
    "const digits=Math.abs(scaled)>=99.95?1:Math.abs(scaled)>=9.995?2:3;\n"
    "return`${scaled.toFixed(digits)} ${unit === 1 ? '\\u00b5s' : units[unit][0]}`;\n"
    "}\n"
    "function moment(at){\n"
    "const whole=Math.floor(Math.abs(at)/1e6),rest=Math.round(Math.abs(at)-whole*1e6);\n"
    "return`${at < 0 ? '-' : ''}${whole.toLocaleString('en-US')}.${String(rest).padStart(6, '0')} ms`;\n"
    "}\n"
    "function grouped(value){return Math.round(value).toLocaleString('en-US');}\n"
    "function bytes(value){\n"
    "const names=['B','KiB','MiB','GiB','TiB'];\n"
    "let unit=0;\n"
    "for(;Math.abs(value)>=1024&&unit<4;unit++)value/=1024;\n"
    "return`${unit ? value.toFixed(Math.abs(value) < 10 ? 2 : 1) : Math.round(value)} ${names[unit]}`;\n"
    "}\n"
    "function shown(v){\n"
    "if(typeof v==='number'){\n"
    "if(Number.isInteger(v))return Math.abs(v)<1e15?v.toLocaleString('en-US'):String(v);\n"
    "return Math.abs(v)>=1e6||Math.abs(v)<1e-3?v.toPrecision(6):String(Number(v.toPrecision(7)));\n"
    "}\n"
    "return v===null?'':String(v);\n"
    "}\n"
    "function parseTime(text){\n"
    "const match=/^([0-9]*\\.?[0-9]+)\\s*(ns|us|\\u00b5s|ms|s|m|h)?$/.exec(text);\n"
    "if(!match)return NaN;\n"
    "const unit=units.find(([name])=>name===(match[2]==='\\u00b5s'?'us':match[2]||'ns'));\n"
    "return Number(match[1])*unit[1];\n"
    "}\n"
    "function niceStep(least){\n"
    "const power=10**Math.floor(Math.log10(least));\n"
    "for(const times of[1,2,5])if(power*times>=least)return power*times;\n"
    "return power*10;\n"
    "}\n"
    "function axisTime(at,step){\n"
    "const size=Math.max(Math.abs(at),step),unit=size>=1e9?3:size>=1e6?2:size>=1e3?1:0;\n"
    "const digits=Math.max(0,Math.min(9,Math.ceil(Math.log10(units[unit][1]/step)-1e-9)));\n"
    "return`${(at / units[unit][1]).toFixed(digits)} ${unit === 1 ? '\\u00b5s' : units[unit][0]}`;\n"
    "}\n"
    "class Damage extends Error{}\n"
    "const LONGEST=1<<21;\n"
    "const VERSION=2;\n"
    "const SCOPE=0,MARK=1,COUNTER=2,FRAME=3,LOST=4,SPAN=5,SPAN_MARK=6,FLOW_OUT=8,FLOW_IN=10,\n"
   ,
    "ALLOC=11,FREE=12,LOCK_WAIT=13,LOCK_ACQUIRE=14,LOCK_RELEASE=15,LOG=16;\n"
    "const TRUNCATED_BEGIN=1,TRUNCATED_END=2;\n"
    "const GROUP=4;\n"
    "const ROLE_STEP=1,ROLE_FRAME=10,ROLE_MEMORY=11,ROLE_LOCK=12;\n"
    "const FROM_LAST=0x10000;\n"
    "class Reader{\n"
    "constructor(bytes,at=0,end=bytes.length){\n"
    "this.bytes=bytes;\n"
    "this.at=at;\n"
    "this.end=end;\n"
    "}\n"
    "get done(){return this.at>=this.end;}\n"
    "byte(){\n"
    "if(this.at>=this.end)throw new Damage('a block ends too early');\n"
    "return this.bytes[this.at++];\n"
    "}\n"
    "u(){\n"
    "let byte=this.byte();\n"
    "if(byte<128)return byte;\n"
    "let value=byte&127,scale=128;\n"
    "do{\n"
    "byte=this.byte();\n"
    "value+=(byte&127)*scale;\n"
    "scale*=128;\n"
    "if(scale>2**71)throw new Damage('a number is too long');\n"
    "}while(byte>127);\n"
    "return value;\n"
    "}\n"
    "index(limit,what){\n"
    "const value=this.u();\n"
    "if(value>=limit)throw new Damage(`there is no ${what} ${value}`);\n"
    "return value;\n"
    "}\n"
    "exact(){\n"
    "const at=this.at,value=this.u();\n"
    "if(value<=Number.MAX_SAFE_INTEGER)return value;\n"
    "let big=0n;\n"
    "for(let i=at;i<this.at;i++)big|=BigInt(this.bytes[i]&127)<<BigInt(7*(i-at));\n"
    "return BigInt.asUintN(64,big);\n"
    "}\n"
    "signed(){\n"
    "const value=this.exact();\n"
    "if(typeof value==='bigint')return value&1n?-(value>>1n)-1n:value>>1n;\n"
    "return value%2?-(value+1)/2:value/2;\n"
    "}\n"
    "double(){\n"
    "if(this.at+8>this.end)throw new Damage('a block ends too early');\n"
    "this.at+=8;\n"
    "return new DataView(this.bytes.buffer,this.bytes.byteOffset+this.at-8,8).getFloat64(0,true);\n"
    "}\n"
    "text(){\n"
    "const length=this.u();\n"
    "if(length>this.end-this.at)throw new Damage('a text is longer than its block');\n"
    "this.at+=length;\n"
    "return decoder.decode(this.bytes.subarray(this.at-length,this.at));\n"
    "}\n"
    "}\n"
    "const decoder=new TextDecoder();\n"
    "function fromText(text){\n"
    "const bytes=new Uint8Array(Math.ceil(text.length*7/8)),{length}=text;\n"
    "let size=0,bits=0,count=0,other=0;\n"
    "for(let i=0;i<length;i++){\n"
    "let letter=text.charCodeAt(i);\n"
    "if(letter===33)letter=text.charCodeAt(++i)^64;\n"
    "other|=letter;\n"
    "bits=bits<<7|letter;\n"
    "count+=7;\n"
    "if(count<8)continue;\n"
    "count-=8;\n"
    "bytes[size++]=bits>>count;\n"
    "}\n"
    "if(other>127)throw new Damage('a piece has characters that no writer wrote');\n"
    "return bytes.subarray(0,size);\n"
    "}\n"
    "class Numbers{\n"
    "constructor(heads,rests){\n"
    "this.heads=heads;\n"
    "this.rests=rests;\n"
    "}\n"
    "get done(){return this.heads.done&&this.rests.done;}\n"
    "next(){\n"
    "const{heads}=this;\n"
    "if(heads.at>=heads.end)throw new Damage('columns are not equally long');\n"
    "const head=heads.bytes[heads.at++];\n"
    "return head<192?head:this.longer(head);\n"
    "}\n"
    "longer(head){\n"
    "const{rests}=this;\n"
    "if(head<224)return(head-192)*0x100+rests.byte()+192;\n"
    "let value=0,scale=1;\n"
    "for(let more=head<240?2:head<248?3:8;more>0;more--,scale*=256)value+=rests.byte()*scale;\n"
    "if(head<240)return(head-224)*scale+value+8384;\n"
    "return(head<248?(head-240)*scale:0x8000000)+value+1056960;\n"
    "}\n"
    "}\n"
    "async function inflate(bytes,size){\n"
    "const stream=new DecompressionStream('deflate-raw'),writer=stream.writable.getWriter(),out=new Uint8Array(size);\n"
    "writer.write(bytes).catch(()=>{});\n"
    "writer.close().catch(()=>{});\n"
    "const reader=stream.readable.getReader();\n"
    "let at=0;\n"
    "for(;;){\n"
    "let step;\n"
    "try{\n"
    "step=await reader.read();\n"
    "}catch{\n"
    "throw new Damage('a block cannot be unpacked');\n"
    "}\n"
    "if(step.done)break;\n"
    "if(at+step.value.length>size){\n"
    "reader.cancel().catch(()=>{});\n"
    "throw new Damage('a block is larger than it says');\n"
    "}\n"
    "out.set(step.value,at);\n"
    "at+=step.value.length;\n"
    "}\n"
    "if(at!==size)throw new Damage('a block is smaller than it says');\n"
    "return out;\n"
    "}\n"
    "function blocksOf(text){\n"
    "const reader=new Reader(fromText(text)),blocks=[];\n"
    "while(!reader.done){\n"
    "const kind=reader.byte();\n"
    "if(!kind)continue;\n"
    "const size=reader.index(LONGEST,'block of size'),packed=reader.index(LONGEST,'block of size');\n"
    "const stored=packed||size;\n"
    "if(stored>reader.end-reader.at)throw new Damage('a block is longer than its piece');\n"
    "blocks.push({kind:String.fromCharCode(kind),size,packed:packed>0,\n"
    "bytes:reader.bytes.subarray(reader.at,reader.at+stored)});\n"
    "reader.at+=stored;\n"
    "}\n"
   ,
    "return blocks;\n"
    "}\n"
    "class Level{\n"
    "constructor(){\n"
    "this.count=0;\n"
    "this.start=new Float64Array(8);\n"
    "this.duration=new Uint32Array(8);\n"
    "this.node=new Uint32Array(8);\n"
    "this.long=new Map();\n"
    "this.flags=new Map();\n"
    "this.args=new Listed();\n"
    "this.groups=null;\n"
    "this.lastEnd=this.lastNode=0;\n"
    "this.isOpen=false;\n"
    "}\n"
    "closeLast(end){\n"
    "const i=this.count-1,duration=end-this.start[i];\n"
    "this.isOpen=false;\n"
    "this.lastEnd=end;\n"
    "this.duration[i]=Math.min(duration,0xFFFFFFFF);\n"
    "if(duration>=0xFFFFFFFF)this.long.set(i,duration);\n"
    "}\n"
    "grow(room){\n"
    "for(const column of['start','duration','node']){\n"
    "const before=this[column];\n"
    "this[column]=new before.constructor(room);\n"
    "this[column].set(before);\n"
    "}\n"
    "}\n"
    "close(){\n"
    "for(const column of['start','duration','node'])this[column]=this[column].subarray(0,this.count);\n"
    "this.args.close();\n"
    "}\n"
    "durationOf(i){\n"
    "const short=this.duration[i];\n"
    "return short===0xFFFFFFFF?this.long.get(i):short;\n"
    "}\n"
    "endOf(i){return this.start[i]+this.durationOf(i);}\n"
    "}\n"
    "class Listed{\n"
    "constructor(){\n"
    "this.count=0;\n"
    "this.index=new Growing(Uint32Array);\n"
    "this.place=new Growing(Float64Array);\n"
    "}\n"
    "close(){\n"
    "this.index=this.index.close(this.count);\n"
    "this.place=this.place.close(this.count);\n"
    "}\n"
    "}\n"
    "class Points{\n"
    "constructor(){\n"
    "this.count=0;\n"
    "this.time=new Growing(Float64Array);\n"
    "this.kind=new Growing(Uint32Array);\n"
    "this.a=new Growing(Float64Array);\n"
    "this.b=new Growing(Float64Array);\n"
    "this.args=new Listed();\n"
    "}\n"
    "close(){\n"
    "for(const column of['time','kind','a','b'])this[column]=this[column].close(this.count);\n"
    "this.args.close();\n"
    "}\n"
    "}\n"
    "class Report{\n"
    "constructor(){\n"
    "this.version=0;\n"
    "this.machines=1;\n"
    "this.title='';\n"
    "this.strings=[];\n"
    "this.kinds=[];\n"
    "this.labels=[];\n"
    "this.nodes={count:1,label:new Growing(Uint32Array),parent:new Growing(Uint32Array)};\n"
    "this.processes=[];\n"
    "this.tracks=[];\n"
    "this.spans=[];\n"
    "this.argBlocks=[];\n"
    "this.sources=new Map();\n"
    "this.all=null;\n"
    "this.scopes=this.points=this.spanCount=0;\n"
    "this.complete=false;\n"
    "this.damage='';\n"
    "}\n"
    "argsOf(listed,i){\n"
    "let low=0,high=listed.count;\n"
    "while(low<high){\n"
    "const middle=low+high>>1;\n"
    "if(listed.index[middle]<i)low=middle+1;else high=middle;\n"
    "}\n"
    "return low<listed.count&&listed.index[low]===i?this.argsAt(listed.place[low]):[];\n"
    "}\n"
    "argsAt(place){\n"
    "const block=this.argBlocks[Math.floor(place/LONGEST)];\n"
    "return readArgs(block,new Reader(block.bytes,place%LONGEST));\n"
    "}\n"
    "}\n"
    "function readArgs(report,reader){\n"
    "const args=[];\n"
    "for(let left=reader.index(1<<16,'number of arguments');left>0;left--){\n"
    "const key=report.strings[reader.index(report.strings.length,'string')];\n"
    "args.push([key,readValue(report,reader)]);\n"
    "}\n"
    "return args;\n"
    "}\n"
    "function readValue(report,reader){\n"
    "const type=reader.byte();\n"
    "switch(type){\n"
    "case 0:return null;\n"
    "case 1:return reader.signed();\n"
    "case 2:return reader.exact();\n"
    "case 3:return reader.double();\n"
    "case 4:return false;\n"
    "case 5:return true;\n"
    "case 6:return'0x'+reader.exact().toString(16);\n"
    "case 7:return report.strings[reader.index(report.strings.length,'string')];\n"
    "case 8:return report.strings[reader.index(report.strings.length,'string')]+'\\u2026';\n"
    "default:throw new Damage(`there is no value of type ${type}`);\n"
    "}\n"
    "}\n"
    "function columnsOf(bytes,count){\n"
    "const head=new Reader(bytes),sizes=[];\n"
    "for(let i=0;i<count;i++)sizes.push(head.u());\n"
    "const columns=sizes.map(size=>{\n"
    "const column=new Reader(bytes,head.at,head.at+size);\n"
    "head.at+=size;\n"
    "return column;\n"
    "});\n"
    "if(head.at!==bytes.length)throw new Damage('the parts of a block are not as long as the block');\n"
    "return columns;\n"
    "}\n"
    "class Decoder{\n"
    "constructor(){\n"
    "this.report=new Report();\n"
    "this.labelOf=new Map();\n"
    "this.childOf=new Map();\n"
    "this.texts=new Map();\n"
    "this.lastParent=[];\n"
    "this.lastNode=[];\n"
    "}\n"
    "take(block,bytes){\n"
    "const handler={H:this.head,S:this.strings,K:this.kinds,P:this.process,T:this.tracks,E:this.scopes,\n"
    "Q:this.points,A:this.args,G:this.statistics,N:this.spans,X:this.sources,Z:this.end}[block.kind];\n"
    "if(!handler)return;\n"
   ,
    "if(!this.report.version&&block.kind!=='H')throw new Damage('the data do not begin as they should');\n"
    "const count=block.kind==='E'?5:block.kind==='Q'?3:1;\n"
    "handler.apply(this,columnsOf(bytes,count));\n"
    "}\n"
    "head(r){\n"
    "this.report.version=r.u();\n"
    "if(this.report.version!==VERSION)throw new Damage(`this page reads version ${VERSION}, not ${this.report.version}`);\n"
    "this.report.machines=r.u();\n"
    "this.report.title=r.text();\n"
    "}\n"
    "strings(r){\n"
    "while(!r.done){\n"
    "const text=r.text(),same=this.texts.get(text);\n"
    "if(same===undefined)this.texts.set(text,text);\n"
    "this.report.strings.push(same===undefined?text:same);\n"
    "}\n"
    "}\n"
    "kinds(r){\n"
    "const{strings,kinds,labels}=this.report;\n"
    "const string=()=>strings[r.index(strings.length,'string')];\n"
    "while(!r.done){\n"
    "const bits=r.u(),depth=r.index(1<<24,'depth');\n"
    "const name=string(),category=string(),file=string(),func=string();\n"
    "const line=r.u(),color=r.u()&0xFFFFFF,role=r.u();\n"
    "const group=bits>>8&GROUP,key=[name,category,file,line,group].join('\\0');\n"
    "let label=this.labelOf.get(key);\n"
    "if(label===undefined){\n"
    "label=labels.length;\n"
    "this.labelOf.set(key,label);\n"
    "labels.push({id:label,name:(name||'(unnamed)')+(group?' and others':''),base:name,group,category,file,function:func,line,color,role:group?0:role});\n"
    "}\n"
    "kinds.push({type:bits&255,flags:bits>>8&7,fromLast:(bits&FROM_LAST)!==0,depth,label});\n"
    "this.lastParent.push(-1);\n"
    "this.lastNode.push(0);\n"
    "}\n"
    "}\n"
    "process(r){\n"
    "let process=this.report.processes[this.report.processes.length-1];\n"
    "const pairs=[];\n"
    "while(!r.done)pairs.push([r.text(),r.text()]);\n"
    "if(pairs.length&&pairs[0][0]==='program'){\n"
    "process={id:this.report.processes.length,about:new Map(),losses:[],metadata:[],tracks:[]};\n"
    "this.report.processes.push(process);\n"
    "}\n"
    "if(!process)throw new Damage('there is no process');\n"
    "for(const[key,value]of pairs){\n"
    "if(key==='loss')process.losses.push(value);\n"
    "else if(key.startsWith('metadata.'))process.metadata.push([key.slice(9),value]);\n"
    "else process.about.set(key,value);\n"
    "}\n"
    "}\n"
    "tracks(r){\n"
    "const process=this.report.processes[this.report.processes.length-1];\n"
    "if(!process)throw new Damage('a track has no process');\n"
    "while(!r.done){\n"
    "const track={id:this.report.tracks.length,process,name:r.text(),device:r.text(),thread:r.exact(),\n"
    "fiber:r.u()===1,alignment:r.u(),lost:r.u(),events:r.u(),levels:[],points:new Points(),\n"
    "lastScope:0,lastTime:0,lastPoint:0,open:0};\n"
    "process.tracks.push(track);\n"
    "this.report.tracks.push(track);\n"
    "}\n"
    "}\n"
    "node(parent,label){\n"
    "const key=parent*0x4000000+label;\n"
    "let node=this.childOf.get(key);\n"
    "if(node===undefined){\n"
    "const{nodes}=this.report;\n"
    "node=nodes.count++;\n"
    "nodes.label.put(node,label);\n"
    "nodes.parent.put(node,parent);\n"
    "this.childOf.set(key,node);\n"
    "}\n"
    "return node;\n"
    "}\n"
    "scopes(startHeads,startRests,endHeads,endRests,kindColumn){\n"
    "const{report}=this,track=report.tracks[startHeads.index(report.tracks.length,'track')];\n"
    "const starts=new Numbers(startHeads,startRests),ends=new Numbers(endHeads,endRests);\n"
    "const{levels}=track,{kinds}=report,k=kindColumn.bytes;\n"
    "let{open,lastScope:last,lastTime:time}=track;\n"
    "const closeOne=()=>{\n"
    "const level=levels[--open];\n"
    "if(!level||!level.isOpen)return;\n"
    "const after=ends.next();\n"
    "time=after?time+after-1:level.start[level.count-1]+ends.next();\n"
    "level.closeLast(time);\n"
    "};\n"
    "while(!kindColumn.done){\n"
    "const number=k[kindColumn.at]<128?k[kindColumn.at++]:kindColumn.u(),kind=kinds[number];\n"
    "if(!kind||kind.type!==SCOPE)throw new Damage(`there is no scope of kind ${number}`);\n"
    "const depth=kind.depth;\n"
    "const level=levels[depth]||(levels[depth]=new Level()),inner=kind.fromLast||depth>=open;\n"
    "while(open>depth)closeOne();\n"
    "const start=(inner?last:level.lastEnd)+starts.next();\n"
    "const i=level.count++,parent=depth&&levels[depth-1]?levels[depth-1].lastNode:0;\n"
    "if(this.lastParent[number]!==parent){\n"
    "this.lastParent[number]=parent;\n"
    "this.lastNode[number]=this.node(parent,kind.label);\n"
    "}\n"
    "const node=this.lastNode[number];\n"
   ,
    "if(i>=level.start.length)level.grow(i*2);\n"
    "level.start[i]=start;\n"
    "level.node[i]=node;\n"
    "if(kind.flags)level.flags.set(i,kind.flags);\n"
    "level.lastNode=node;\n"
    "level.isOpen=true;\n"
    "open=depth+1;\n"
    "last=time=start;\n"
    "report.scopes++;\n"
    "}\n"
    "while(open&&!ends.done)closeOne();\n"
    "if(!starts.done||!ends.done)throw new Damage('columns are not equally long');\n"
    "track.open=open;\n"
    "track.lastScope=last;\n"
    "track.lastTime=time;\n"
    "}\n"
    "points(times,kindColumn,details){\n"
    "const{report}=this,track=report.tracks[times.index(report.tracks.length,'track')];\n"
    "const{points}=track;\n"
    "while(!kindColumn.done){\n"
    "const number=kindColumn.index(report.kinds.length,'kind'),{type}=report.kinds[number],i=points.count++;\n"
    "let a=0,b=0;\n"
    "track.lastPoint+=times.u();\n"
    "switch(type){\n"
    "case MARK:break;\n"
    "case COUNTER:a=Number(readValue(report,details));break;\n"
    "case FRAME:case LOST:a=details.u();break;\n"
    "case LOG:a=details.u();b=details.index(report.strings.length,'string');break;\n"
    "default:a=details.u();b=details.u();break;\n"
    "}\n"
    "points.time.put(i,track.lastPoint);\n"
    "points.kind.put(i,number);\n"
    "points.a.put(i,a);\n"
    "points.b.put(i,b);\n"
    "report.points++;\n"
    "}\n"
    "if(!times.done||!details.done)throw new Damage('columns are not equally long');\n"
    "}\n"
    "args(r){\n"
    "const{report}=this,track=report.tracks[r.index(report.tracks.length,'track')],last=new Map();\n"
    "const base=report.argBlocks.length*LONGEST;\n"
    "report.argBlocks.push({bytes:r.bytes,strings:report.strings});\n"
    "while(!r.done){\n"
    "const which=r.u(),at=(last.get(which)||0)+r.u();\n"
    "const of=which?track.levels[which-1]:track.points;\n"
    "last.set(which,at);\n"
    "if(which>1<<24)throw new Damage('arguments have no scope');\n"
    "const listed=(of||(track.levels[which-1]=new Level())).args;\n"
    "if(listed.count&&listed.index[listed.count-1]>=at)throw new Damage('arguments are out of order');\n"
    "const place=base+r.at;\n"
    "readArgs(report,r);\n"
    "listed.index.put(listed.count,at);\n"
    "listed.place.put(listed.count++,place);\n"
    "}\n"
    "}\n"
    "spans(r){\n"
    "const{report}=this;\n"
    "let last=0;\n"
    "while(!r.done){\n"
    "const kind=report.kinds[r.index(report.kinds.length,'kind')];\n"
    "last+=Number(r.signed());\n"
    "const span={label:kind.label,mark:kind.type===SPAN_MARK,flags:kind.flags,start:last,duration:r.u(),\n"
    "track:r.index(report.tracks.length,'track'),endTrack:r.index(report.tracks.length,'track'),\n"
    "id:r.exact(),number:r.u(),args:readArgs(report,r)};\n"
    "report.spans.push(span);\n"
    "report.spanCount++;\n"
    "}\n"
    "}\n"
    "statistics(r){\n"
    "const{report}=this,rows=report.all=report.all||[],process=report.processes[report.processes.length-1],first=process?rows.length-(process.paths||0):-1;\n"
    "if(!process)throw new Damage('statistics have no process');\n"
    "while(!r.done){\n"
    "const parent=r.index(rows.length-first+1,'path'),kind=report.kinds[r.index(report.kinds.length,'kind')];\n"
    "const row={node:this.node(parent?rows[first+parent-1].node:0,kind.label),calls:r.u(),truncated:r.u(),total:r.u(),self:r.u(),min:r.u(),max:r.u(),buckets:[]};\n"
    "for(let left=r.index(LONGEST,'number of buckets'),at=0;left>0;left--)row.buckets.push([at+=r.u(),r.u()]);\n"
    "rows.push(row);\n"
    "process.paths=rows.length-first;\n"
    "}\n"
    "}\n"
    "sources(r){\n"
    "const{strings,sources}=this.report;\n"
    "while(!r.done){\n"
    "const file=strings[r.index(strings.length,'string')],line=r.u(),text=r.text();\n"
    "if(!sources.has(file))sources.set(file,new Map());\n"
    "sources.get(file).set(line,text);\n"
    "}\n"
    "}\n"
    "end(r){\n"
    "const{report}=this;\n"
    "if(r.u()!==report.scopes||r.u()!==report.points||r.u()!==report.spanCount)\n"
    "throw new Damage('the numbers at the end are not those of the events');\n"
    "report.complete=true;\n"
    "}\n"
    "close(){\n"
    "const{report}=this,{nodes}=report;\n"
    "nodes.label=nodes.label.close(nodes.count);\n"
    "nodes.parent=nodes.parent.close(nodes.count);\n"
    "for(const track of report.tracks){\n"
    "track.points.close();\n"
    "track.levels=track.levels.filter(level=>level.count);\n"
    "for(const level of track.levels){\n"
    "if(level.isOpen){\n"
    "level.flags.set(level.count-1,TRUNCATED_END|level.flags.get(level.count-1));\n"
   ,
    "level.closeLast(Math.max(track.lastTime,level.start[level.count-1]));\n"
    "}\n"
    "level.close();\n"
    "}\n"
    "}\n"
    "if(!report.complete&&!report.damage)report.damage='the end of the report is missing';\n"
    "return report;\n"
    "}\n"
    "}\n"
    "function piecesIn(text){\n"
    "const begin='<script type=\"application/'+'octet-stream\">',pieces=[];\n"
    "for(let at=text.indexOf(begin);at>=0;at=text.indexOf(begin,at)){\n"
    "const end=text.indexOf('<',at+=begin.length);\n"
    "if(end<0)throw new Damage('its end is missing');\n"
    "pieces.push(text.slice(at,end));\n"
    "}\n"
    "return pieces;\n"
    "}\n"
    "function joined(a,b){\n"
    "const report=Object.assign(new Report(),a,{all:null}),key=label=>[label.name,label.category,label.file,label.line].join('\\0');\n"
    "const labels=[...a.labels],known=new Map(labels.map(label=>[key(label),label.id])),{nodes}=a,childOf=new Map();\n"
    "const labelOf=b.labels.map(label=>{\n"
    "if(!known.has(key(label)))known.set(key(label),labels.push({...label,id:labels.length})-1);\n"
    "return known.get(key(label));\n"
    "});\n"
    "const all={count:nodes.count,label:new Growing(Uint32Array),parent:new Growing(Uint32Array)},nodeOf=new Uint32Array(b.nodes.count);\n"
    "const add=(n,parent,label)=>{\n"
    "all.label.put(n,label);\n"
    "all.parent.put(n,parent);\n"
    "childOf.set(parent*0x4000000+label,n);\n"
    "};\n"
    "for(let n=1;n<nodes.count;n++)add(n,nodes.parent[n],nodes.label[n]);\n"
    "for(let n=1;n<b.nodes.count;n++){\n"
    "const parent=nodeOf[b.nodes.parent[n]],label=labelOf[b.nodes.label[n]],same=childOf.get(parent*0x4000000+label);\n"
    "if(same===undefined)add(all.count,parent,label);\n"
    "nodeOf[n]=same===undefined?all.count++:same;\n"
    "}\n"
    "const move=listed=>{for(let i=0;i<listed.count;i++)listed.place[i]+=a.argBlocks.length*LONGEST;};\n"
    "for(const process of b.processes)process.id+=a.processes.length;\n"
    "for(const track of b.tracks){\n"
    "const{points}=track;\n"
    "track.id+=a.tracks.length;\n"
    "for(const level of track.levels){\n"
    "for(let i=0;i<level.count;i++)level.node[i]=nodeOf[level.node[i]];\n"
    "move(level.args);\n"
    "}\n"
    "for(let i=0;i<points.count;i++){\n"
    "if(b.kinds[points.kind[i]].type===LOG)points.b[i]+=a.strings.length;\n"
    "points.kind[i]+=a.kinds.length;\n"
    "}\n"
    "move(points.args);\n"
    "}\n"
    "for(const span of b.spans){\n"
    "span.label=labelOf[span.label];\n"
    "span.track+=a.tracks.length;\n"
    "span.endTrack+=a.tracks.length;\n"
    "}\n"
    "report.labels=labels;\n"
    "report.nodes={count:all.count,label:all.label.close(all.count),parent:all.parent.close(all.count)};\n"
    "report.kinds=[...a.kinds,...b.kinds.map(kind=>({...kind,label:labelOf[kind.label]}))];\n"
    "report.sources=new Map([...b.sources,...a.sources]);\n"
    "for(const list of['strings','processes','tracks','spans','argBlocks'])report[list]=a[list].concat(b[list]);\n"
    "for(const count of['scopes','points','spanCount'])report[count]+=b[count];\n"
    "return report;\n"
    "}\n"
    "async function readReport(pieces,progress){\n"
    "const decoder=new Decoder(),ahead=8,waiting=[];\n"
    "let read=0;\n"
    "const takeOne=async()=>{\n"
    "const{block,bytes}=waiting.shift();\n"
    "decoder.take(block,await bytes);\n"
    "read+=block.bytes.length;\n"
    "if(progress)progress(read);\n"
    "};\n"
    "try{\n"
    "for(const piece of pieces){\n"
    "if(piece[0]==='S')throw new Damage(`this page reads version ${VERSION}, not 1`);\n"
    "for(const block of blocksOf(piece)){\n"
    "const bytes=block.packed?inflate(block.bytes,block.size):Promise.resolve(block.bytes);\n"
    "bytes.catch(()=>{});\n"
    "waiting.push({block,bytes});\n"
    "if(waiting.length>ahead)await takeOne();\n"
    "}\n"
    "}\n"
    "while(waiting.length)await takeOne();\n"
    "}catch(error){\n"
    "if(!(error instanceof Damage))throw error;\n"
    "decoder.report.damage=error.message;\n"
    "}\n"
    "return decoder.close();\n"
    "}\n"
    "const FACTOR=16;\n"
    "function buildPyramid(level){\n"
    "const tiers=[],{duration,groups}=level;\n"
    "for(let n=Math.ceil(level.count/FACTOR),below=null;n>1;n=Math.ceil(n/FACTOR)){\n"
    "const longest=new Uint32Array(n),busy=new Float32Array(n),size=below?below.longest.length:level.count;\n"
    "for(let g=0;g<n;g++){\n"
    "const end=Math.min(size,(g+1)*FACTOR);\n"
    "let best=below?below.longest[g*FACTOR]:g*FACTOR,sum=0;\n"
    "for(let i=g*FACTOR;i<end;i++){\n"
    "const at=below?below.longest[i]:i;\n"
   ,
    "sum+=below?below.busy[i]:groups&&groups.has(i)?groups.get(i).busy:duration[i];\n"
    "if(duration[at]>duration[best])best=at;\n"
    "}\n"
    "longest[g]=best;\n"
    "busy[g]=sum;\n"
    "}\n"
    "tiers.push(below={longest,busy});\n"
    "}\n"
    "return tiers;\n"
    "}\n"
    "const found={longest:0,busy:0};\n"
    "function aggregate(level,i,until,slack){\n"
    "const{start,duration,pyramid,count,groups}=level,top=pyramid.length*4,late=until+slack;\n"
    "let bits=0,longest=i,most=duration[i],busy=0;\n"
    "for(;;){\n"
    "while(bits<top&&(i&(16<<bits)-1)===0&&i+(16<<bits)<count&&start[i+(16<<bits)]<=late)bits+=4;\n"
    "const tier=bits?pyramid[(bits>>2)-1]:null,at=tier?tier.longest[i>>bits]:i;\n"
    "busy+=tier?tier.busy[i>>bits]:groups&&groups.has(i)?groups.get(i).busy:duration[i];\n"
    "if(duration[at]>most)most=duration[longest=at];\n"
    "i+=1<<bits;\n"
    "if(i>=count||start[i]>=until)break;\n"
    "while(bits&&((i&(1<<bits)-1)!==0||i+(1<<bits)>=count||start[i+(1<<bits)]>late))bits-=4;\n"
    "}\n"
    "found.longest=longest;\n"
    "found.busy=busy;\n"
    "return i;\n"
    "}\n"
    "function mix(color,under,share){\n"
    "const part=Math.round(share*256),rest=256-part;\n"
    "const outer=(color&0xFF00FF)*part+(under&0xFF00FF)*rest,inner=(color>>>8&255)*part+(under>>>8&255)*rest;\n"
    "return(0xFF000000|outer/256&0xFF00FF|inner&0xFF00)>>>0;\n"
    "}\n"
    "function drawLevel(c,level,y0,y1,label){\n"
    "const{start,duration,node,count,groups}=level,{from,scale,left,width}=c,to=from+(width-left)/scale;\n"
    "y0=Math.max(0,y0);\n"
    "y1=Math.min(c.height,y1);\n"
    "if(y0>=y1||!count||start[0]>=to)return;\n"
    "const line=c.pixels.subarray(y0*width,(y0+1)*width);\n"
    "let i=firstIndex(count,k=>start[k]>=from);\n"
    "if(i&&level.endOf(i-1)>from)i--;\n"
    "while(i<count&&start[i]<to){\n"
    "const x=(start[i]-from)*scale;\n"
    "let long=duration[i];\n"
    "if(long*scale>=1){\n"
    "if(long===0xFFFFFFFF)long=level.durationOf(i);\n"
    "const x0=Math.max(left,Math.floor(left+x)),x1=Math.min(width,Math.max(x0+1,Math.floor(left+x+long*scale)));\n"
    "let color=long<c.least?c.dimmed[node[i]]:c.colors[node[i]];\n"
    "if(groups&&groups.has(i))color=mix(color,c.background,0.2+0.6*groups.get(i).busy/long);\n"
    "if(x1-x0<8)for(let k=x0;k<x1;k++)line[k]=color;else line.fill(color,x0,x1);\n"
    "if(x1-x0>3&&x1<width)line[x1-1]=c.background;\n"
    "if(x1-x0>24)label(x0,x1,i);\n"
    "i++;\n"
    "continue;\n"
    "}\n"
    "const column=Math.floor(left+x),next=aggregate(level,i,from+(column+1-left)/scale,0.25/scale);\n"
    "const last=duration[next-1]*scale>=1?next-1:next;\n"
    "if(column>=left&&column<width){\n"
    "const longest=found.longest,color=duration[longest]<c.least?c.dimmed[node[longest]]:c.colors[node[longest]];\n"
    "line[column]=mix(color,c.background,Math.min(1,0.3+0.7*found.busy*scale));\n"
    "}\n"
    "i=Math.max(last,i+1);\n"
    "}\n"
    "for(let y=y0+1;y<y1;y++)c.pixels.copyWithin(y*width+left,y0*width+left,(y0+1)*width);\n"
    "}\n"
    "function trackName(track){\n"
    "if(track.device)return track.name||track.device;\n"
    "return track.name||(track.fiber?'fiber ':'thread ')+track.thread;\n"
    "}\n"
    "function finish(report){\n"
    "let to=0,from=Infinity;\n"
    "report.messages=[];\n"
    "report.marks=[];\n"
    "report.losses=[];\n"
    "report.counters=[];\n"
    "report.frames=[];\n"
    "report.flows=[];\n"
    "for(const process of report.processes){\n"
    "const program=process.about.get('program')||'(unnamed)';\n"
    "const rank=process.metadata.find(([key])=>key==='rank');\n"
    "process.name=report.processes.length>1||rank\n"
    "?`${program} (${rank ? 'rank ' + rank[1] : process.about.get('pid')}${process.file ? ', ' + process.file : ''})`:program;\n"
    "}\n"
    "for(const track of report.tracks){\n"
    "track.title=trackName(track);\n"
    "track.marks=null;\n"
    "for(const level of track.levels){\n"
    "from=Math.min(from,level.start[0]);\n"
    "to=Math.max(to,level.endOf(level.count-1));\n"
    "groupsOf(report,level);\n"
    "level.pyramid=level.pyramid||buildPyramid(level);\n"
    "}\n"
    "const{points}=track;\n"
    "if(points.count){\n"
    "from=Math.min(from,points.time[0]);\n"
    "to=Math.max(to,points.time[points.count-1]);\n"
    "}\n"
    "}\n"
    "for(const span of report.spans){\n"
    "from=Math.min(from,span.start);\n"
    "to=Math.max(to,span.start+span.duration);\n"
    "}\n"
    "report.from=from>to?0:from>to*0.02?from:Math.min(from,0);\n"
    "report.to=to+1;\n"
   ,
    "report.windows=report.processes.filter(process=>process.about.has('window_from_ns')).map(({about})=>\n"
    "({from:Number(about.get('window_from_ns')),to:Math.min(report.to,Number(about.get('window_to_ns')))}));\n"
    "for(const process of report.processes)pointsOf(report,process);\n"
    "framesOfSpans(report);\n"
    "report.bars=stepsOf(report);\n"
    "spanLanes(report);\n"
    "report.frames.sort((a,b)=>b.start.length-a.start.length);\n"
    "report.bars=[...report.frames,...report.bars];\n"
    "report.messages.sort((a,b)=>a.time-b.time);\n"
    "return report;\n"
    "}\n"
    "function groupsOf(report,level){\n"
    "for(const[i,flags]of level.flags){\n"
    "if(!(flags&GROUP))continue;\n"
    "const args=new Map(report.argsOf(level.args,i));\n"
    "level.groups=level.groups||new Map();\n"
    "level.groups.set(i,{calls:Number(args.get('calls'))||1,busy:Math.min(Number(args.get('busy_ns'))||0,level.durationOf(i))});\n"
    "}\n"
    "}\n"
    "function pointsOf(report,process){\n"
    "const counters=new Map(),frames=new Map(),memory=new Memory(report,process),locks=new Locks(report,process);\n"
    "const flows=new Map(),{kinds,labels,strings}=report;\n"
    "const order=mergeOrder(process.tracks.map(track=>track.points.time));\n"
    "process.marks=[];\n"
    "for(let i=0;i<order.list.length;i++){\n"
    "const track=process.tracks[order.list[i]],at=order.index[i],{points}=track;\n"
    "const kind=kinds[points.kind[at]],label=labels[kind.label],time=points.time[at];\n"
    "const a=points.a[at],b=points.b[at];\n"
    "switch(kind.type){\n"
    "case MARK:\n"
    "report.messages.push({time,track,severity:-1,text:label.name,label,at});\n"
    "(track.marks=track.marks||[]).push({time,label,at});\n"
    "break;\n"
    "case LOG:\n"
    "report.messages.push({time,track,severity:a,text:strings[b],label,at});\n"
    "(track.marks=track.marks||[]).push({time,label,at,severity:a,text:strings[b]});\n"
    "break;\n"
    "case LOST:report.losses.push({time,track,lost:a});break;\n"
    "case COUNTER:{\n"
    "const key=label.name+'\\0'+label.category;\n"
    "let series=counters.get(key);\n"
    "if(!series)counters.set(key,series=newSeries(process,label.name,label.category));\n"
    "series.time.push(time);\n"
    "series.value.push(a);\n"
    "break;\n"
    "}\n"
    "case FRAME:{\n"
    "const key=label.id*65536+track.id;\n"
    "let series=frames.get(key);\n"
    "if(!series)frames.set(key,series={name:label.name,track,start:[],duration:[]});\n"
    "if(a>0){\n"
    "series.start.push(time-a);\n"
    "series.duration.push(a);\n"
    "}\n"
    "break;\n"
    "}\n"
    "case ALLOC:case FREE:memory.step(kind,label,time,a,b,track);break;\n"
    "case LOCK_WAIT:case LOCK_ACQUIRE:case LOCK_RELEASE:locks.step(kind.type,label,time,a,b,track);break;\n"
    "default:\n"
    "if(kind.type>=FLOW_OUT&&kind.type<=FLOW_IN)flowStep(report,flows,kind.type,label,time,a,track);\n"
    "}\n"
    "}\n"
    "for(const series of frames.values())if(series.start.length)report.frames.push(series);\n"
    "memory.close();\n"
    "locks.close(report.to);\n"
    "process.memory=memory.used?memory:null;\n"
    "process.locks=locks.rows.size?locks:null;\n"
    "process.counters=[...counters.values(),...memory.curves()].map(closeSeries);\n"
    "report.counters.push(...process.counters);\n"
    "}\n"
    "function newSeries(process,name,category){return{process,name,category,time:[],value:[]};}\n"
    "function closeSeries(series){\n"
    "series.time=Float64Array.from(series.time);\n"
    "series.value=Float64Array.from(series.value);\n"
    "series.min=Infinity;\n"
    "series.max=-Infinity;\n"
    "for(const value of series.value){\n"
    "if(value<series.min)series.min=value;\n"
    "if(value>series.max)series.max=value;\n"
    "}\n"
    "if(!(series.min<=series.max))series.min=series.max=0;\n"
    "series.bytes=series.bytes||/bytes|memory/i.test(series.name);\n"
    "return series;\n"
    "}\n"
    "function flowStep(report,flows,type,label,time,id,track){\n"
    "const key=label.name+'\\0'+id,before=flows.get(key);\n"
    "if(before&&type!==FLOW_OUT)\n"
    "report.flows.push({name:label.name,id,from:before.time,to:time,fromTrack:before.track,toTrack:track});\n"
    "if(type===FLOW_IN)flows.delete(key);\n"
    "else if(before||type===FLOW_OUT)flows.set(key,{time,track});\n"
    "}\n"
    "class Memory{\n"
    "constructor(report,process){\n"
    "this.process=process;\n"
    "this.live=new Map();\n"
    "this.pools=new Map();\n"
    "this.sites=new Map();\n"
    "this.scopes=new Map();\n"
    "this.report=report;\n"
   ,
    "this.used=0;\n"
    "this.unknown=0;\n"
    "}\n"
    "step(kind,label,time,address,size,track){\n"
    "this.used++;\n"
    "if(kind.type===ALLOC){\n"
    "const pool=this.poolOf(label.category),old=this.live.get(address);\n"
    "if(old)this.remove(old,address,time);\n"
    "const site=this.rowOf(this.sites,label),scope=this.rowOf(this.scopes,this.around(track,kind.depth,time));\n"
    "for(const row of[site,scope]){\n"
    "row.count++;\n"
    "row.bytes+=size;\n"
    "row.liveCount++;\n"
    "row.liveBytes+=size;\n"
    "row.peak=Math.max(row.peak,row.liveBytes);\n"
    "}\n"
    "this.live.set(address,{site,scope,pool,size,time,track});\n"
    "this.change(pool,time,size);\n"
    "}else{\n"
    "const block=this.live.get(address);\n"
    "if(block)this.remove(block,address,time);\n"
    "else if(address)this.unknown++;\n"
    "}\n"
    "}\n"
    "rowOf(map,label){\n"
    "let row=map.get(label.id);\n"
    "if(!row)map.set(label.id,row={label,count:0,bytes:0,liveCount:0,liveBytes:0,peak:0});\n"
    "return row;\n"
    "}\n"
    "around(track,depth,time){\n"
    "const{labels,nodes}=this.report,level=track.levels[depth-1],i=level?scopeAt(level,time):-1;\n"
    "return i>=0?labels[nodes.label[level.node[i]]]:{id:-1,name:'(no scope)',category:'',file:''};\n"
    "}\n"
    "poolOf(name){\n"
    "let pool=this.pools.get(name);\n"
    "if(!pool)this.pools.set(name,pool={name,bytes:0,time:[],value:[]});\n"
    "return pool;\n"
    "}\n"
    "remove(block,address,time){\n"
    "for(const row of[block.site,block.scope]){\n"
    "row.liveCount--;\n"
    "row.liveBytes-=block.size;\n"
    "}\n"
    "this.live.delete(address);\n"
    "this.change(block.pool,time,-block.size);\n"
    "}\n"
    "change(pool,time,bytes){\n"
    "const last=pool.time.length-1;\n"
    "pool.bytes+=bytes;\n"
    "if(last>=0&&pool.time[last]===time){\n"
    "pool.value[last]=pool.bytes;\n"
    "}else{\n"
    "pool.time.push(time);\n"
    "pool.value.push(pool.bytes);\n"
    "}\n"
    "}\n"
    "close(){\n"
    "this.leaks=[...this.live.entries()].map(([address,block])=>({address,...block}));\n"
    "}\n"
    "curves(){\n"
    "return[...this.pools.values()].map(pool=>({process:this.process,category:'memory',time:pool.time,\n"
    "value:pool.value,name:pool.name?'memory: '+pool.name:'memory',bytes:true}));\n"
    "}\n"
    "}\n"
    "class Locks{\n"
    "constructor(report,process){\n"
    "this.process=process;\n"
    "this.rows=new Map();\n"
    "this.waiting=new Map();\n"
    "this.holding=new Map();\n"
    "this.holder=new Map();\n"
    "this.waits=[];\n"
    "}\n"
    "rowOf(label){\n"
    "const key=label.name+'\\0'+label.category;\n"
    "let row=this.rows.get(key);\n"
    "if(!row){\n"
    "row={label,addresses:new Set(),acquired:0,contended:0,wait:0,waitMax:0,hold:0,holdMax:0,holds:[]};\n"
    "this.rows.set(key,row);\n"
    "}\n"
    "return row;\n"
    "}\n"
    "step(type,label,time,address,detail,track){\n"
    "const row=this.rowOf(label),key=track.id+' '+address;\n"
    "row.addresses.add(address);\n"
    "if(type===LOCK_WAIT){\n"
    "this.waiting.set(key,{time,contended:detail===1,holder:this.holder.get(address)});\n"
    "}else if(type===LOCK_ACQUIRE){\n"
    "const wait=this.waiting.get(key),hold=this.holding.get(key);\n"
    "row.acquired++;\n"
    "if(wait){\n"
    "this.waiting.delete(key);\n"
    "const took=time-wait.time;\n"
    "row.wait+=took;\n"
    "row.waitMax=Math.max(row.waitMax,took);\n"
    "if(wait.contended)row.contended++;\n"
    "if(took>0)this.waits.push({label,time:wait.time,took,track,holder:wait.contended?wait.holder:null});\n"
    "}\n"
    "if(hold)hold.depth++;\n"
    "else this.holding.set(key,{time,depth:1,row,track});\n"
    "this.holder.set(address,track);\n"
    "}else{\n"
    "const hold=this.holding.get(key);\n"
    "if(!hold||--hold.depth>0)return;\n"
    "this.holding.delete(key);\n"
    "if(this.holder.get(address)===track)this.holder.delete(address);\n"
    "const took=time-hold.time;\n"
    "row.hold+=took;\n"
    "row.holdMax=Math.max(row.holdMax,took);\n"
    "row.holds.push({start:hold.time,duration:took,track});\n"
    "}\n"
    "}\n"
    "close(end){\n"
    "for(const hold of this.holding.values())\n"
    "hold.row.holds.push({start:hold.time,duration:end-hold.time,track:hold.track,open:true});\n"
    "for(const row of this.rows.values())row.holds.sort((a,b)=>a.start-b.start);\n"
    "this.waits.sort((a,b)=>b.took-a.took);\n"
    "this.waits.length=Math.min(this.waits.length,1000);\n"
    "}\n"
    "}\n"
    "function framesOfSpans(report){\n"
    "const series=new Map();\n"
    "for(const span of report.spans){\n"
    "if(!span.number||report.labels[span.label].role!==ROLE_FRAME||!span.duration)continue;\n"
    "const key=span.label+' '+span.id;\n"
    "if(!series.has(key))\n"
   ,
    "series.set(key,{name:report.labels[span.label].name,track:report.tracks[span.track],start:[],duration:[]});\n"
    "series.get(key).start.push(span.start);\n"
    "series.get(key).duration.push(span.duration);\n"
    "}\n"
    "report.frames.push(...series.values());\n"
    "}\n"
    "function stepsOf(report){\n"
    "const series=new Map(),{nodes,labels}=report;\n"
    "if(!labels.some(label=>label.role===ROLE_STEP))return[];\n"
    "for(const track of report.tracks){\n"
    "for(const level of track.levels){\n"
    "for(let i=0;i<level.count;i++){\n"
    "const label=labels[nodes.label[level.node[i]]],key=label.id+' '+track.id;\n"
    "if(label.role!==ROLE_STEP)continue;\n"
    "if(!series.has(key))series.set(key,{name:label.name,track,start:[],duration:[]});\n"
    "series.get(key).start.push(level.start[i]);\n"
    "series.get(key).duration.push(level.durationOf(i));\n"
    "}\n"
    "}\n"
    "}\n"
    "return[...series.values()].sort((a,b)=>b.start.length-a.start.length);\n"
    "}\n"
    "function spanLanes(report){\n"
    "const groups=new Map();\n"
    "for(const span of report.spans){\n"
    "if(span.mark||(span.number&&report.labels[span.label].role===ROLE_FRAME))continue;\n"
    "const{process}=report.tracks[span.track],key=process.id+'\\0'+report.labels[span.label].name;\n"
    "if(!groups.has(key))groups.set(key,{process,name:report.labels[span.label].name,spans:[],lanes:[]});\n"
    "groups.get(key).spans.push(span);\n"
    "}\n"
    "for(const process of report.processes)process.spanGroups=[];\n"
    "for(const group of groups.values()){\n"
    "group.spans.sort((a,b)=>a.start-b.start);\n"
    "for(const span of group.spans){\n"
    "let lane=group.lanes.find(each=>each.end<=span.start);\n"
    "if(!lane&&group.lanes.length<32)group.lanes.push(lane={end:0,spans:[]});\n"
    "if(!lane)lane=group.lanes[group.lanes.length-1];\n"
    "lane.spans.push(span);\n"
    "lane.end=Math.max(lane.end,span.start+span.duration);\n"
    "}\n"
    "group.process.spanGroups.push(group);\n"
    "}\n"
    "}\n"
    "function warnings(report){\n"
    "const lines=[];\n"
    "if(report.damage)lines.push(`This report is damaged: ${report.damage}. What follows is missing.`);\n"
    "if(report.processes.some(process=>process.about.get('together')==='1'))\n"
    "lines.push('The recordings were made one after the other: here, each begins at 0.');\n"
    "else if(report.machines>1)lines.push('The recordings are of several machines, or starts of one: their clocks are only as equal as the machines set them.');\n"
    "for(const name of new Set(report.processes.map(process=>process.file).filter(Boolean)))lines.push(`${name} was added: its recordings begin at 0 here.`);\n"
    "for(const process of report.processes){\n"
    "const who=report.processes.length>1?process.name+': ':'',number=key=>Number(process.about.get(key)||0);\n"
    "for(const loss of process.losses)lines.push(who+loss);\n"
    "if(!number('complete'))lines.push(who+'The session was not stopped: the program was running, or died.');\n"
    "if(process.about.has('window_from_ns'))lines.push(who+`The recording is too large for a page: its ${grouped(number('events'))} events are all here from ${moment(number('window_from_ns'))} to ${moment(number('window_to_ns'))}. `+\n"
    "`Beside that, scopes of less than ${ns(number('part_ns'))} are in groups, drawn lighter and named like the longest, and of other events there are samples. Statistics of everything count all scopes.`);\n"
    "if(number('aggregated'))lines.push(who+`${grouped(number('aggregated'))} events are only in statistics: see prof summary.`);\n"
    "if(process.about.get('write_error'))lines.push(who+process.about.get('write_error'));\n"
    "const guessed=process.tracks.filter(track=>track.device&&track.alignment===3);\n"
    "if(guessed.length)lines.push(who+`Clocks not aligned: ${[...new Set(guessed.map(t => t.device))].join(', ')}. Durations may be right, positions are not.`);\n"
    "}\n"
    "return lines;\n"
    "}\n"
    "function cost(process,duration){\n"
    "const each=Number(process.about.get('scope_cost_ns')||0);\n"
    "let scopes=0;\n"
    "for(const track of process.tracks)if(!track.device)for(const level of track.levels)scopes+=level.count;\n"
    "const total=each*scopes;\n"
   ,
    "return{each,total,text:`${ns(each)} a scope, ${ns(total)} for ${grouped(scopes)} scopes`+\n"
    "(duration?`, ${(100 * total / duration).toFixed(1)} % of the run`:'')};\n"
    "}\n"
    "function truncatedText(flags){\n"
    "const missing=[flags&TRUNCATED_BEGIN?'begin':'',flags&TRUNCATED_END?'end':''].filter(Boolean).join(' and ');\n"
    "return missing&&`${missing} not recorded`;\n"
    "}\n"
    "function scopeAt(level,time){\n"
    "let low=0,high=level.count;\n"
    "while(low<high){\n"
    "const middle=low+high>>>1;\n"
    "if(level.start[middle]<=time)low=middle+1;else high=middle;\n"
    "}\n"
    "return low&&level.endOf(low-1)>=time?low-1:-1;\n"
    "}\n"
    "const BUCKETS=64+58*32;\n"
    "function bucketOf(duration){\n"
    "if(duration<64)return Math.floor(duration);\n"
    "if(duration<0x80000000){\n"
    "const e=31-Math.clz32(duration);\n"
    "return 64+(e-6)*32+(duration>>>e-5&31);\n"
    "}\n"
    "const e=Math.floor(Math.log2(duration));\n"
    "return Math.min(BUCKETS-1,64+(e-6)*32+Math.floor(duration/2**(e-5))%32);\n"
    "}\n"
    "function bucketValue(bucket){\n"
    "if(bucket<64)return bucket;\n"
    "const e=Math.floor((bucket-64)/32)+6;\n"
    "return(32+(bucket-64)%32+0.5)*2**(e-5);\n"
    "}\n"
    "function indexRange(level,from,to){\n"
    "let first=firstIndex(level.count,k=>level.start[k]>=from);\n"
    "if(first&&level.endOf(first-1)>from)first--;\n"
    "return[first,firstIndex(level.count,k=>level.start[k]>=to)];\n"
    "}\n"
    "function rangeStats(report,from,to,wanted){\n"
    "if(report.all&&!wanted&&from<=report.from&&to>=report.to)return allStats(report);\n"
    "const{nodes,labels}=report,calls=new Float64Array(nodes.count),total=new Float64Array(nodes.count);\n"
    "const self=new Float64Array(nodes.count),histograms=new Array(labels.length).fill(null);\n"
    "const longest=new Float64Array(labels.length),shortest=new Float64Array(labels.length).fill(Infinity);\n"
    "const whole=new Float64Array(labels.length);\n"
    "for(const track of report.tracks){\n"
    "if(wanted&&!wanted(track))continue;\n"
    "for(const level of track.levels){\n"
    "const[first,end]=indexRange(level,from,to),{start,duration,node,flags,groups}=level,some=flags.size>0;\n"
    "for(let i=first;i<end;i++){\n"
    "const n=node[i],long=duration[i]===0xFFFFFFFF?level.durationOf(i):duration[i],label=nodes.label[n];\n"
    "calls[n]++;\n"
    "if(groups&&groups.has(i)){\n"
    "calls[n]+=groups.get(i).calls-1;\n"
    "total[n]+=groups.get(i).busy;\n"
    "continue;\n"
    "}\n"
    "if(start[i]<from||start[i]+long>to||(some&&flags.has(i))){\n"
    "total[n]+=Math.max(0,Math.min(start[i]+long,to)-Math.max(start[i],from));\n"
    "continue;\n"
    "}\n"
    "total[n]+=long;\n"
    "whole[label]++;\n"
    "if(long>longest[label])longest[label]=long;\n"
    "if(long<shortest[label])shortest[label]=long;\n"
    "let histogram=histograms[label];\n"
    "if(histogram===null)histogram=histograms[label]=new Uint32Array(BUCKETS);\n"
    "histogram[bucketOf(long)]++;\n"
    "}\n"
    "}\n"
    "}\n"
    "for(let n=1;n<nodes.count;n++)self[n]=total[n];\n"
    "for(let n=1;n<nodes.count;n++)self[nodes.parent[n]]-=total[n];\n"
    "return byLabels(report,{from,to,calls,total,self},whole,shortest,longest,histograms);\n"
    "}\n"
    "function byLabels({nodes,labels},stats,whole,shortest,longest,histograms){\n"
    "const{calls,total,self}=stats,byLabel=labels.map((label,id)=>({label,id,calls:0,total:0,self:0,whole:whole[id],\n"
    "min:shortest[id],max:longest[id],histogram:histograms[id]}));\n"
    "for(let n=1;n<nodes.count;n++){\n"
    "const row=byLabel[nodes.label[n]];\n"
    "row.calls+=calls[n];\n"
    "row.total+=total[n];\n"
    "row.self+=self[n];\n"
    "}\n"
    "return{...stats,rows:byLabel.filter(row=>row.calls>0)};\n"
    "}\n"
    "function allStats(report){\n"
    "const{nodes,labels,from,to}=report,column=n=>new Float64Array(n),calls=column(nodes.count),total=column(nodes.count),self=column(nodes.count);\n"
    "const whole=column(labels.length),longest=column(labels.length),shortest=column(labels.length).fill(Infinity),histograms=new Array(labels.length).fill(null);\n"
    "for(const row of report.all){\n"
    "const n=row.node,label=nodes.label[n],histogram=histograms[label]=histograms[label]||new Uint32Array(BUCKETS);\n"
    "calls[n]+=row.calls;\n"
    "total[n]+=row.total;\n"
    "self[n]+=row.self;\n"
    "longest[label]=Math.max(longest[label],row.max);\n"
   ,
    "if(row.calls>row.truncated)shortest[label]=Math.min(shortest[label],row.min);\n"
    "for(const[at,count]of row.buckets){\n"
    "whole[label]+=count;\n"
    "histogram[bucketOf(at)]+=count;\n"
    "}\n"
    "}\n"
    "return byLabels(report,{from,to,calls,total,self,every:true},whole,shortest,longest,histograms);\n"
    "}\n"
    "function percentile(row,share){\n"
    "if(!row.histogram||!row.whole)return NaN;\n"
    "let left=Math.ceil(share*row.whole);\n"
    "for(let b=0;b<BUCKETS;b++){\n"
    "left-=row.histogram[b];\n"
    "if(left<=0)return Math.max(row.min,Math.min(row.max,bucketValue(b)));\n"
    "}\n"
    "return row.max;\n"
    "}\n"
    "function callsOf(report,label,from,to,wanted=()=>true){\n"
    "const{nodes}=report,calls=[];\n"
    "const mine=new Uint8Array(nodes.count);\n"
    "for(let n=1;n<nodes.count;n++)mine[n]=nodes.label[n]===label?1:0;\n"
    "for(const track of report.tracks){\n"
    "if(!wanted(track))continue;\n"
    "track.levels.forEach((level,depth)=>{\n"
    "const[first,end]=indexRange(level,from,to);\n"
    "for(let i=first;i<end;i++)\n"
    "if(mine[level.node[i]])calls.push({track,depth,i,start:level.start[i],duration:level.durationOf(i)});\n"
    "});\n"
    "}\n"
    "return calls;\n"
    "}\n"
    "function flameTree(report,stats,bottomUp){\n"
    "return bottomUp?inverted(report,stats):topDown(report,stats);\n"
    "}\n"
    "function topDown(report,stats){\n"
    "const{nodes}=report,made=new Array(nodes.count);\n"
    "const root=made[0]={label:-1,total:0,self:0,calls:0,children:[]};\n"
    "for(let n=1;n<nodes.count;n++){\n"
    "made[n]={label:nodes.label[n],total:stats.total[n],self:stats.self[n],calls:stats.calls[n],children:[],up:made[nodes.parent[n]]};\n"
    "if(!stats.calls[n])continue;\n"
    "made[nodes.parent[n]].children.push(made[n]);\n"
    "if(!nodes.parent[n])root.total+=stats.total[n];\n"
    "}\n"
    "return sorted(root);\n"
    "}\n"
    "function inverted(report,stats){\n"
    "const{nodes}=report,root={label:-1,total:0,self:0,calls:0,children:[],map:new Map()};\n"
    "for(let n=1;n<nodes.count;n++){\n"
    "const time=stats.self[n];\n"
    "if(!stats.calls[n]||time<=0)continue;\n"
    "root.total+=time;\n"
    "let at=root;\n"
    "for(let up=n,depth=0;up&&depth<128;up=nodes.parent[up],depth++){\n"
    "let next=at.map.get(nodes.label[up]);\n"
    "if(!next){\n"
    "next={label:nodes.label[up],total:0,self:0,calls:0,children:[],map:new Map(),up:at};\n"
    "at.map.set(nodes.label[up],next);\n"
    "at.children.push(next);\n"
    "}\n"
    "next.total+=time;\n"
    "next.self+=up===n?time:0;\n"
    "next.calls+=up===n?stats.calls[n]:0;\n"
    "at=next;\n"
    "}\n"
    "}\n"
    "return sorted(root);\n"
    "}\n"
    "function sorted(root){\n"
    "const waiting=[root];\n"
    "while(waiting.length){\n"
    "const node=waiting.pop();\n"
    "node.children.sort((a,b)=>b.total-a.total);\n"
    "waiting.push(...node.children);\n"
    "}\n"
    "return root;\n"
    "}\n"
    "const DEVIATIONS=2.5758;\n"
    "const SAMPLE=10000;\n"
    "const TENTHS=10,TENTHS_FROM=100;\n"
    "function judge(change,threshold){\n"
    "if(change.low>1+threshold)return'slower';\n"
    "if(change.high<1-threshold)return'faster';\n"
    "return change.high-change.low<=2*threshold?'same':'unsure';\n"
    "}\n"
    "function unknown(a,b){return{ratio:a>0?b/a:1,low:0,high:Infinity};}\n"
    "function labelsOf(report,process){\n"
    "const{label}=report.nodes,seen=new Set();\n"
    "for(const track of process.tracks)\n"
    "for(const level of track.levels)for(let i=0;i<level.count;i++)seen.add(label[level.node[i]]);\n"
    "return seen;\n"
    "}\n"
    "function pairLabels(labels,used){\n"
    "const groups=new Map(),pairs=[],of=used.map(()=>new Int32Array(labels.length).fill(-1));\n"
    "used.forEach((ids,side)=>{\n"
    "for(const id of ids){\n"
    "const key=[labels[id].name,labels[id].category,labels[id].function].join('\\0');\n"
    "if(!groups.has(key))groups.set(key,[[],[]]);\n"
    "groups.get(key)[side].push(id);\n"
    "}\n"
    "});\n"
    "for(const group of groups.values()){\n"
    "for(const ids of group)ids.sort((x,y)=>labels[x].line-labels[y].line||x-y);\n"
    "for(let i=0;i<Math.max(group[0].length,group[1].length);i++){\n"
    "group.forEach((ids,side)=>{if(i<ids.length)of[side][ids[i]]=pairs.length;});\n"
    "pairs.push({a:i<group[0].length?group[0][i]:-1,b:i<group[1].length?group[1][i]:-1});\n"
    "}\n"
    "}\n"
    "return{pairs,of};\n"
    "}\n"
    "function productHigh(a,b){\n"
    "const low=(a&0xFFFF)*(b&0xFFFF),middle=(a>>>16)*(b&0xFFFF)+Math.floor(low/65536);\n"
    "const other=(a&0xFFFF)*(b>>>16)+middle%65536;\n"
   ,
    "return(a>>>16)*(b>>>16)+Math.floor(middle/65536)+Math.floor(other/65536);\n"
    "}\n"
    "class Chooser{\n"
    "constructor(){this.high=this.low=0;}\n"
    "below(limit){\n"
    "const sum=this.low+0x7F4A7C15;\n"
    "this.low=sum>>>0;\n"
    "this.high=this.high+0x9E3779B9+(sum>0xFFFFFFFF?1:0)>>>0;\n"
    "let{high,low}=this;\n"
    "const mix=(shift,timesHigh,timesLow)=>{\n"
    "low=(low^(low>>>shift|high<<32-shift))>>>0;\n"
    "high=(high^high>>>shift)>>>0;\n"
    "if(!timesLow)return;\n"
    "const carried=productHigh(low,timesLow)+Math.imul(high,timesLow)+Math.imul(low,timesHigh);\n"
    "low=Math.imul(low,timesLow)>>>0;\n"
    "high=carried>>>0;\n"
    "};\n"
    "mix(30,0xBF58476D,0x1CE4E5B9);\n"
    "mix(27,0x94D049BB,0x133111EB);\n"
    "mix(31,0,0);\n"
    "return(high%limit*(4294967296%limit)+low%limit)%limit;\n"
    "}\n"
    "}\n"
    "function eachScope(track,from,to,visit){\n"
    "const{levels}=track,next=[],ends=[],heads=new Float64Array(levels.length);\n"
    "const look=depth=>{heads[depth]=next[depth]<ends[depth]?levels[depth].start[next[depth]]:Infinity;};\n"
    "levels.forEach((level,depth)=>{\n"
    "[next[depth],ends[depth]]=indexRange(level,from,to);\n"
    "look(depth);\n"
    "});\n"
    "for(;;){\n"
    "let best=0;\n"
    "for(let depth=1;depth<heads.length;depth++)if(heads[depth]<heads[best])best=depth;\n"
    "if(!(heads[best]<Infinity))return;\n"
    "visit(levels[best],next[best]++);\n"
    "look(best);\n"
    "}\n"
    "}\n"
    "function samplesOf(report,process,from,to){\n"
    "const{label}=report.nodes,samples=new Map(),chooser=new Chooser();\n"
    "for(const track of process.tracks){\n"
    "eachScope(track,from,to,(level,i)=>{\n"
    "const start=level.start[i],ns=level.durationOf(i),id=label[level.node[i]];\n"
    "if(start<from||start+ns>to||level.flags.has(i))return;\n"
    "let sample=samples.get(id);\n"
    "if(!sample)samples.set(id,sample={seen:0,start:[],ns:[]});\n"
    "let at=sample.seen++;\n"
    "if(at>=SAMPLE)at=chooser.below(sample.seen);\n"
    "if(at>=SAMPLE)return;\n"
    "sample.start[at]=start;\n"
    "sample.ns[at]=ns;\n"
    "});\n"
    "}\n"
    "for(const sample of samples.values())byTime(sample);\n"
    "return samples;\n"
    "}\n"
    "function byTime(sample){\n"
    "const{start,ns}=sample;\n"
    "if(start.every((time,i)=>!i||time>start[i-1]))return;\n"
    "const order=Uint32Array.from(start,(_,i)=>i).sort((x,y)=>start[x]-start[y]||ns[x]-ns[y]);\n"
    "sample.start=Array.from(order,i=>start[i]);\n"
    "sample.ns=Array.from(order,i=>ns[i]);\n"
    "}\n"
    "function medianOf(sample){return Float64Array.from(sample.ns).sort()[Math.ceil(sample.ns.length/2)-1];}\n"
    "function pairsBelow(a,b,ratio){\n"
    "let pairs=0;\n"
    "for(let i=0,j=0;i<a.length;i++){\n"
    "while(j<b.length&&b[j]<=ratio*a[i])j++;\n"
    "pairs+=j;\n"
    "}\n"
    "return pairs;\n"
    "}\n"
    "function ratioAt(a,b,rank){\n"
    "const middle=b[b.length>>1]/a[a.length>>1];\n"
    "let low=middle,high=middle;\n"
    "while(low>1e-30&&pairsBelow(a,b,low)>=rank)low/=1.1;\n"
    "while(high<1e30&&pairsBelow(a,b,high)<rank)high*=1.1;\n"
    "while(high-low>1e-6*low){\n"
    "const half=low+(high-low)/2;\n"
    "if(pairsBelow(a,b,half)>=rank)high=half;else low=half;\n"
    "}\n"
    "return high;\n"
    "}\n"
    "function hodgesLehmann(a,b){return ratioAt(a,b,(a.length*b.length+1)/2);}\n"
    "function rankChange(a,b){\n"
    "const pairs=a.length*b.length,spread=Math.sqrt(pairs*(a.length+b.length+1)/12);\n"
    "const change=unknown(1,hodgesLehmann(a,b)),out=Math.floor(pairs/2-DEVIATIONS*spread);\n"
    "if(pairs/2<DEVIATIONS*spread)return change;\n"
    "change.low=ratioAt(a,b,out+1);\n"
    "change.high=ratioAt(a,b,pairs-out);\n"
    "return change;\n"
    "}\n"
    "function withinStep(ns,number){\n"
    "const share=(number*2654435761%65536+0.5)/65536;\n"
    "return ns>=1?ns+share-0.5:share/2;\n"
    "}\n"
    "function timesOf(sample,from,to){\n"
    "const times=new Float64Array(to-from);\n"
    "for(let i=from;i<to;i++)times[i-from]=withinStep(sample.ns[i],i);\n"
    "return times.sort();\n"
    "}\n"
    "function widenByTenths(a,b,change){\n"
    "const parts=[],averages=[],part=(sample,i)=>{\n"
    "const n=sample.ns.length;\n"
    "return timesOf(sample,Math.floor(n*i/TENTHS),Math.floor(n*(i+1)/TENTHS));\n"
    "};\n"
    "for(let i=0;i<TENTHS;i++){\n"
    "parts.push(hodgesLehmann(part(a,i),part(b,i)));\n"
    "for(const each of parts)averages.push((parts[i]+each)/2);\n"
    "}\n"
    "averages.sort((x,y)=>x-y);\n"
    "change.low=Math.min(change.low,averages[3]);\n"
    "change.high=Math.max(change.high,averages[averages.length-4]);\n"
    "}\n"
   ,
    "function shiftOf(a,b){\n"
    "if(!a||!b||!a.ns.length||!b.ns.length)return unknown(0,0);\n"
    "const change=rankChange(timesOf(a,0,a.ns.length),timesOf(b,0,b.ns.length));\n"
    "if(a.ns.length>=TENTHS_FROM&&b.ns.length>=TENTHS_FROM)widenByTenths(a,b,change);\n"
    "return change;\n"
    "}\n"
    "const STUDENT=[[1,63.657],[2,9.925],[3,5.841],[4,4.604],[5,4.032],[6,3.707],[7,3.499],[8,3.355],[9,3.25],\n"
    "[10,3.169],[12,3.055],[15,2.947],[20,2.845],[30,2.75],[60,2.66],[120,2.617],[1e9,DEVIATIONS]];\n"
    "function dispersionOf(tenths,expected){\n"
    "const mean=tenths.reduce((sum,value)=>sum+value,0)/TENTHS;\n"
    "const variance=tenths.reduce((sum,value)=>sum+(value-mean)**2,0)/(TENTHS-1);\n"
    "return expected>0&&variance>expected?variance/expected:1;\n"
    "}\n"
    "function varianceOf(s){return Math.max(0,s.squares/s.n-(s.sum/s.n)**2);}\n"
    "function meanDispersion(s){\n"
    "if(s.n<TENTHS_FROM)return 1;\n"
    "const size=i=>Math.floor(s.n*(i+1)/TENTHS)-Math.floor(s.n*i/TENTHS);\n"
    "return dispersionOf(s.tenths.map((sum,i)=>sum/size(i)),varianceOf(s)*TENTHS/s.n);\n"
    "}\n"
    "function sumChange(a,b,scale){\n"
    "const x=a.sum*scale[0],y=b.sum*scale[1],change=unknown(x,y);\n"
    "if(a.n<2||b.n<2||!(x>0))return change;\n"
    "const dispersion=Math.max(meanDispersion(a),meanDispersion(b));\n"
    "const[va,vb]=[a,b].map((s,i)=>dispersion*varianceOf(s)*s.n*s.n/(s.n-1)*scale[i]**2),both=va+vb;\n"
    "const freedom=both>0?both*both/(va*va/(a.n-1)+vb*vb/(b.n-1)):1e9;\n"
    "const margin=STUDENT.filter(([n],i)=>!i||n<=freedom).pop()[1]*Math.sqrt(both);\n"
    "change.low=(y-margin)/x;\n"
    "change.high=(y+margin)/x;\n"
    "return change;\n"
    "}\n"
    "function extentOf(process){\n"
    "let from=Infinity,to=0;\n"
    "for(const{levels,points}of process.tracks){\n"
    "for(const level of levels){\n"
    "from=Math.min(from,level.start[0]);\n"
    "to=Math.max(to,level.endOf(level.count-1));\n"
    "}\n"
    "if(points.count){\n"
    "from=Math.min(from,points.time[0]);\n"
    "to=Math.max(to,points.time[points.count-1]);\n"
    "}\n"
    "}\n"
    "return[from,to];\n"
    "}\n"
    "function mostOfBoth([a,b]){\n"
    "let best=null;\n"
    "for(const[name,n]of a)\n"
    "if(b.get(name)>0&&n>0&&(!best||Math.min(n,b.get(name))>Math.min(...best.of)))best={name,of:[n,b.get(name)]};\n"
    "return best;\n"
    "}\n"
    "function measures(report,processes,stats){\n"
    "const{from,to}=stats[0],list=[];\n"
    "const frames=mostOfBoth(processes.map(process=>new Map(report.frames.filter(series=>series.track.process===process).map(({name,start})=>\n"
    "[name,firstIndex(start.length,i=>start[i]>=to)-firstIndex(start.length,i=>start[i]>=from)]))));\n"
    "const steps=mostOfBoth(stats.map(({rows})=>new Map(rows.filter(row=>row.label.role===ROLE_STEP).map(row=>[row.label.name,row.calls]))));\n"
    "if(frames)list.push({id:'frame',title:`per frame (${frames.name})`,of:frames.of});\n"
    "if(steps)list.push({id:'step',title:`per step (${steps.name})`,of:steps.of});\n"
    "const seconds=processes.map(process=>{\n"
    "const[first,last]=extentOf(process);\n"
    "return Math.max(0,Math.min(to,last)-Math.max(from,first))/1e9;\n"
    "});\n"
    "if(Math.min(...seconds)>0)list.push({id:'second',title:'per second recorded',of:seconds});\n"
    "list.push({id:'run',title:'per recording',of:[1,1]});\n"
    "return list;\n"
    "}\n"
    "function selfTimes(report,process,stats){\n"
    "const{nodes}=report,{from,to}=stats,sums=new Map();\n"
    "const inRange=(level,i)=>Math.max(0,Math.min(level.endOf(i),to)-Math.max(level.start[i],from));\n"
    "for(const{levels}of process.tracks){\n"
    "const ranges=levels.map(level=>indexRange(level,from,to));\n"
    "levels.forEach((level,depth)=>{\n"
    "const[first,end]=ranges[depth],inner=levels[depth+1],self=new Float64Array(end-first);\n"
    "for(let i=first;i<end;i++)self[i-first]=inRange(level,i);\n"
    "for(let k=inner?ranges[depth+1][0]:0,i=first;inner&&k<ranges[depth+1][1];k++){\n"
    "while(i+1<end&&level.start[i+1]<=inner.start[k])i++;\n"
    "let outer=i;\n"
    "while(outer>first&&level.start[outer]===inner.start[k]&&nodes.parent[inner.node[k]]!==level.node[outer])outer--;\n"
    "if(outer<end&&nodes.parent[inner.node[k]]===level.node[outer])self[outer-first]-=inRange(inner,k);\n"
    "}\n"
    "for(let i=first;i<end;i++){\n"
   ,
    "const n=level.node[i],time=Math.max(0,self[i-first]);\n"
    "let sum=sums.get(n);\n"
    "if(!sum)sums.set(n,sum={n:0,sum:0,squares:0,tenths:new Array(10).fill(0)});\n"
    "sum.tenths[Math.floor((10*++sum.n-1)/stats.calls[n])]+=time;\n"
    "sum.sum+=time;\n"
    "sum.squares+=time*time;\n"
    "}\n"
    "});\n"
    "}\n"
    "return sums;\n"
    "}\n"
    "function differenceTree(report,pairing,stats,sums,per,side){\n"
    "const{nodes}=report,all=[],make=(pair,up)=>{\n"
    "const node={pair,of:[null,null],change:null,width:0,children:[],inner:new Map(),up};\n"
    "all.push(node);\n"
    "return node;\n"
    "};\n"
    "const root=make(-1);\n"
    "stats.forEach(({calls,total,self},which)=>{\n"
    "const made=new Array(nodes.count),needed=new Uint8Array(nodes.count);\n"
    "for(let n=nodes.count-1;n>0;n--)if(needed[n]||calls[n])needed[n]=needed[nodes.parent[n]]=1;\n"
    "made[0]=root;\n"
    "for(let n=1;n<nodes.count;n++){\n"
    "if(!needed[n])continue;\n"
    "const up=made[nodes.parent[n]],pair=pairing.of[which][nodes.label[n]];\n"
    "if(!up.inner.has(pair)){\n"
    "up.inner.set(pair,make(pair,up));\n"
    "up.children.push(up.inner.get(pair));\n"
    "}\n"
    "made[n]=up.inner.get(pair);\n"
    "if(calls[n])made[n].of[which]={total:total[n]/per[which],self:Math.max(0,self[n])/per[which],calls:calls[n]/per[which],sum:sums[which].get(n)};\n"
    "}\n"
    "});\n"
    "for(const node of all){\n"
    "const[a,b]=node.of;\n"
    "if(a&&b)node.change=sumChange(a.sum,b.sum,[1/per[0],1/per[1]]);\n"
    "}\n"
    "for(let i=all.length-1;i>0;i--){\n"
    "const node=all[i],own=node.of[side]||node.of[1-side];\n"
    "node.width+=own?own.self:0;\n"
    "node.up.width+=node.width;\n"
    "node.children.sort((x,y)=>y.width-x.width);\n"
    "}\n"
    "root.children.sort((x,y)=>y.width-x.width);\n"
    "return root;\n"
    "}\n"
    "function hash(text){\n"
    "let value=2166136261;\n"
    "for(let i=0;i<text.length;i++)value=Math.imul(value^text.charCodeAt(i),16777619)>>>0;\n"
    "return(value^value>>>15)>>>0;\n"
    "}\n"
    "function fromHsl(hue,saturation,light){\n"
    "const a=saturation*Math.min(light,1-light);\n"
    "const part=n=>{\n"
    "const k=(n+hue/30)%12;\n"
    "return Math.round(255*(light-a*Math.max(-1,Math.min(k-3,9-k,1))));\n"
    "};\n"
    "return[part(0),part(8),part(4)];\n"
    "}\n"
    "const abgr=([r,g,b])=>(0xFF000000|b<<16|g<<8|r)>>>0;\n"
    "const css=([r,g,b])=>`rgb(${r},${g},${b})`;\n"
    "function colorLabels(labels,dark){\n"
    "for(const label of labels){\n"
    "const bits=hash(label.base||label.name);\n"
    "label.rgb=label.color?[label.color>>16&255,label.color>>8&255,label.color&255]\n"
    ":fromHsl(bits%360,dark?0.42:0.58,(dark?0.62:0.71)+(bits>>>12)%7/100);\n"
    "label.ink=inkOn(label.rgb);\n"
    "}\n"
    "}\n"
    "function inkOn(rgb){\n"
    "const[r,g,b]=rgb.map(c=>(c/255)**2.2);\n"
    "return 0.2126*r+0.7152*g+0.0722*b>0.18?'#111':'#fff';\n"
    "}\n"
    "function differenceStyle(by,dark){\n"
    "const grey=dark?[74,80,90]:[216,219,224],full=by>0?dark?[224,92,60]:[232,96,64]:dark?[80,150,240]:[70,140,235];\n"
    "const share=by?0.25+0.75*Math.min(1,Math.abs(by)):0,rgb=grey.map((c,i)=>Math.round(c+(full[i]-c)*share));\n"
    "return{backgroundColor:css(rgb),color:inkOn(rgb)};\n"
    "}\n"
    "function nodeColors(report,background,dim){\n"
    "const{nodes,labels}=report,colors=new Uint32Array(nodes.count),dimmed=new Uint32Array(nodes.count);\n"
    "for(let n=1;n<nodes.count;n++){\n"
    "const label=labels[nodes.label[n]];\n"
    "const faint=label.rgb.map((c,i)=>Math.round(c*0.18+background[i]*0.82));\n"
    "dimmed[n]=abgr(faint);\n"
    "colors[n]=dim&&dim(label)?dimmed[n]:abgr(label.rgb);\n"
    "}\n"
    "return{colors,dimmed};\n"
    "}\n"
    "function parseQuery(text){\n"
    "const query={names:[],categories:[],args:[],least:0,most:Infinity,empty:true};\n"
    "for(const word of text.trim().split(/\\s+/).filter(Boolean)){\n"
    "query.empty=false;\n"
    "const time=/^[<>]/.test(word)?parseTime(word.slice(1)):NaN,equals=word.indexOf('=');\n"
    "if(word[0]==='>'&&!Number.isNaN(time))query.least=time;\n"
    "else if(word[0]==='<'&&!Number.isNaN(time))query.most=time;\n"
    "else if(word.startsWith('cat:'))query.categories.push(word.slice(4).toLowerCase());\n"
    "else if(equals>0)query.args.push([word.slice(0,equals).toLowerCase(),word.slice(equals+1).toLowerCase()]);\n"
    "else query.names.push(word.toLowerCase());\n"
    "}\n"
    "return query;\n"
    "}\n"
    "function labelMatches(query,label){\n"
   ,
    "const name=label.name.toLowerCase(),category=label.category.toLowerCase();\n"
    "return query.names.every(word=>name.includes(word))&&\n"
    "query.categories.every(word=>category.includes(word));\n"
    "}\n"
    "function findScopes(report,query,limit=20000){\n"
    "const{nodes,labels}=report,mine=new Uint8Array(nodes.count),hits=[];\n"
    "const fits=labels.map(label=>labelMatches(query,label));\n"
    "for(let n=1;n<nodes.count;n++)mine[n]=fits[nodes.label[n]]?1:0;\n"
    "hits.more=false;\n"
    "for(const track of report.tracks){\n"
    "for(let depth=0;depth<track.levels.length;depth++){\n"
    "const level=track.levels[depth],listed=query.args.length?level.args.index:null,n=listed?listed.length:level.count;\n"
    "for(let k=0;k<n;k++){\n"
    "const i=listed?listed[k]:k;\n"
    "if(i>=level.count||!mine[level.node[i]])continue;\n"
    "const duration=level.durationOf(i);\n"
    "if(duration<query.least||duration>query.most)continue;\n"
    "if(listed&&!argsMatch(query,report.argsAt(level.args.place[k])))continue;\n"
    "if(hits.length===limit){\n"
    "hits.more=true;\n"
    "return hits;\n"
    "}\n"
    "hits.push({track,depth,i,start:level.start[i],duration});\n"
    "}\n"
    "}\n"
    "}\n"
    "return hits;\n"
    "}\n"
    "function argsMatch(query,args){\n"
    "return query.args.every(([key,wanted])=>args.some(([name,v])=>name.toLowerCase()===key&&\n"
    "(shown(v).toLowerCase()===wanted||String(v).toLowerCase()===wanted)));\n"
    "}\n"
    "function el(tag,properties={},...children){\n"
    "const[name,...classes]=tag.split('.'),element=document.createElement(name);\n"
    "if(classes.length)element.className=classes.join(' ');\n"
    "for(const[key,value]of Object.entries(properties)){\n"
    "if(key.startsWith('on'))element[key]=value;\n"
    "else if(key==='style')Object.assign(element.style,value);\n"
    "else if(value!==null&&value!==undefined&&value!==false)element.setAttribute(key,value===true?'':String(value));\n"
    "}\n"
    "element.append(...children.filter(child=>child!==null&&child!==undefined).map(child=>\n"
    "typeof child==='object'?child:document.createTextNode(String(child))));\n"
    "return element;\n"
    "}\n"
    "function plainText(cell){return(cell instanceof Node?cell.textContent:String(cell?\?'')).replace(/[\\t\\r\\n]/g,' ');}\n"
    "function table(columns,rows,options){\n"
    "const memory=options.memory||{};\n"
    "if(memory.sort===undefined){\n"
    "memory.sort=options.sort||0;\n"
    "memory.up=Boolean(options.up);\n"
    "}\n"
    "const root=el('div.scroll',{tabindex:0,role:'region','aria-label':options.caption});\n"
    "let limit=options.limit||300;\n"
    "const draw=()=>{\n"
    "const{get}=columns[memory.sort],sign=memory.up?1:-1;\n"
    "const sorted=rows.map(row=>[get(row),row]).sort(([a],[b])=>\n"
    "sign*(typeof a==='string'?a.localeCompare(b):(a>b)-(a<b))).map(([,row])=>row);\n"
    "const head=el('tr',{},...columns.map((column,i)=>el('th',{scope:'col',title:column.note||null,\n"
    "class:column.text?'text':null,\n"
    "'aria-sort':i===memory.sort?memory.up?'ascending':'descending':null},\n"
    "el('button',{onclick:()=>{\n"
    "memory.up=i===memory.sort?!memory.up:Boolean(column.text);\n"
    "memory.sort=i;\n"
    "draw();\n"
    "}},column.title+(i===memory.sort?memory.up?' \\u25b4':' \\u25be':'')))));\n"
    "const body=sorted.slice(0,limit).map(row=>{\n"
    "const line=el('tr',{class:options.picked&&options.picked(row)?'picked':null});\n"
    "columns.forEach((column,i)=>{\n"
    "const shown=(column.show||column.get)(row),cell=el('td',{class:column.text?'text':null});\n"
    "if(i===0&&options.onpick)cell.append(el('button.link',{onclick:()=>options.onpick(row)},shown));\n"
    "else if(shown instanceof Node)cell.append(shown);\n"
    "else cell.textContent=shown===undefined||shown===null?'':String(shown);\n"
    "if(column.text)cell.title=typeof shown==='string'?shown:'';\n"
    "line.append(cell);\n"
    "});\n"
    "if(options.onpick)line.ondblclick=()=>options.onpick(row);\n"
    "return line;\n"
    "});\n"
    "const more=sorted.length>limit?el('button',{onclick:()=>{limit*=4;draw();}},\n"
    "`Show more: ${(sorted.length - limit).toLocaleString('en-US')} rows are left`):null;\n"
    "const copy=el('button.copy',{title:'Copy the table as text, for a spreadsheet',onclick:()=>navigator.clipboard.writeText([columns.map(c=>c.title),\n"
   ,
    "...sorted.map(row=>columns.map(c=>plainText((c.show||c.get)(row))))].map(line=>line.join('\\t')).join('\\n')).then(()=>{copy.textContent='Copied';})},'Copy');\n"
    "root.replaceChildren(el('table',{},el('caption',{},options.caption+' ',copy),el('thead',{},head),el('tbody',{},...body)));\n"
    "if(more)root.append(more);\n"
    "};\n"
    "draw();\n"
    "return root;\n"
    "}\n"
    "const XML='http://www.w3.org/2000/svg';\n"
    "class Svg{\n"
    "constructor(width,height,measure){\n"
    "this.root=this.add(null,'svg',{xmlns:XML,width,height,viewBox:`0 0 ${width} ${height}`,'font-family':'system-ui, sans-serif'});\n"
    "this.measure=measure;\n"
    "this.place=this.root;\n"
    "this.saved=[];\n"
    "this.clips=0;\n"
    "this.globalAlpha=1;\n"
    "this.textAlign='left';\n"
    "this.textBaseline='alphabetic';\n"
    "this.font='11px sans-serif';\n"
    "}\n"
    "add(parent,tag,properties,text){\n"
    "const element=document.createElementNS(XML,tag);\n"
    "for(const[key,value]of Object.entries(properties))element.setAttribute(key,typeof value==='number'?String(Math.round(value*100)/100):value);\n"
    "if(text!==undefined)element.textContent=text;\n"
    "if(parent)parent.append(element);\n"
    "return element;\n"
    "}\n"
    "put(tag,properties,text,paint='fill'){\n"
    "const more=paint==='fill'?{fill:this.fillStyle}:{fill:'none',stroke:this.strokeStyle,'stroke-width':this.lineWidth};\n"
    "if(this.globalAlpha<1)more.opacity=this.globalAlpha;\n"
    "return this.add(this.place,tag,{...properties,...more},text);\n"
    "}\n"
    "setTransform(){}\n"
    "putImageData(){}\n"
    "measureText(text){\n"
    "this.measure.font=this.font;\n"
    "return this.measure.measureText(text);\n"
    "}\n"
    "fillRect(x,y,width,height){if(width>0&&height>0)this.put('rect',{x,y,width,height});}\n"
    "strokeRect(x,y,width,height){this.put('rect',{x,y,width,height},undefined,'stroke');}\n"
    "fillText(text,x,y){\n"
    "const[,weight,size]=/^(bold )?(\\d+)px/.exec(this.font);\n"
    "this.put('text',{x,y:y+Number(size)*{middle:0.35,top:0.9}[this.textBaseline]||y,'font-size':size,'font-weight':weight?'bold':'normal',\n"
    "'text-anchor':this.textAlign==='right'?'end':'start'},text);\n"
    "}\n"
    "beginPath(){this.path='';}\n"
    "moveTo(x,y){this.path+=`M${x.toFixed(1)} ${y.toFixed(1)}`;}\n"
    "lineTo(x,y){this.path+=`L${x.toFixed(1)} ${y.toFixed(1)}`;}\n"
    "bezierCurveTo(...at){this.path+='C'+at.map(v=>v.toFixed(1)).join(' ');}\n"
    "rect(x,y,width,height){this.area={x,y,width,height};}\n"
    "fill(){this.put('path',{d:this.path});}\n"
    "stroke(){this.put('path',{d:this.path},undefined,'stroke');}\n"
    "save(){this.saved.push(this.place);}\n"
    "clip(){\n"
    "const id='c'+this.clips++;\n"
    "this.add(this.add(this.root,'clipPath',{id}),'rect',this.area);\n"
    "this.place=this.add(this.root,'g',{'clip-path':`url(#${id})`});\n"
    "}\n"
    "restore(){this.place=this.saved.pop();}\n"
    "run(line,from,y,height,ratio,background){\n"
    "for(let x=from,end;x<line.length;x=end){\n"
    "for(end=x+1;end<line.length&&line[end]===line[x];end++);\n"
    "if(line[x]===background)continue;\n"
    "this.fillStyle='#'+(line[x]&255|256).toString(16).slice(1)+(line[x]>>8&255|256).toString(16).slice(1)+(line[x]>>16&255|256).toString(16).slice(1);\n"
    "this.fillRect(x/ratio,y,(end-x)/ratio,height);\n"
    "}\n"
    "}\n"
    "text(){return new XMLSerializer().serializeToString(this.root);}\n"
    "}\n"
    "function download(blob,name){\n"
    "const address=URL.createObjectURL(blob),link=el('a',{href:address,download:name});\n"
    "document.body.append(link);\n"
    "link.click();\n"
    "link.remove();\n"
    "setTimeout(()=>URL.revokeObjectURL(address),60000);\n"
    "}\n"
    "function flamePicture(box,measure,style){\n"
    "if(!box)return null;\n"
    "const{width,height}=box.getBoundingClientRect(),svg=new Svg(width,height,measure);\n"
    "svg.fillStyle=style.background;\n"
    "svg.fillRect(0,0,width,height);\n"
    "svg.textBaseline='middle';\n"
    "for(const frame of box.querySelectorAll('button')){\n"
    "const look=getComputedStyle(frame),left=frame.offsetLeft,top=frame.offsetTop,wide=frame.offsetWidth,name=frame.textContent;\n"
    "svg.fillStyle=look.backgroundColor;\n"
    "svg.add(svg.put('rect',{x:left,y:top,width:Math.max(0.5,wide-1),height:19}),'title',{},frame.getAttribute('aria-label'));\n"
   ,
    "const fits=Math.min(name.length,Math.floor(name.length*(wide-6)/svg.measureText(name).width));\n"
    "svg.fillStyle=look.color;\n"
    "if(fits>1)svg.fillText(fits<name.length?name.slice(0,fits-1)+'\\u2026':name,left+3,top+10);\n"
    "}\n"
    "return svg.text();\n"
    "}\n"
    "const LINE=18,RULER=26,GUTTER=190,COUNTER_HEIGHT=34;\n"
    "function busyOf(track){\n"
    "if(track.busy===undefined){\n"
    "const{duration}=track.levels[0]||{duration:[]};\n"
    "track.busy=duration.reduce((sum,each)=>sum+each,0);\n"
    "}\n"
    "return track.busy;\n"
    "}\n"
    "class TimeLine{\n"
    "constructor(canvas,app){\n"
    "this.canvas=canvas;\n"
    "this.app=app;\n"
    "this.scroll=0;\n"
    "this.widths=new Map();\n"
    "this.waiting=false;\n"
    "this.frame=[];\n"
    "}\n"
    "redraw(){\n"
    "if(this.waiting)return;\n"
    "this.waiting=true;\n"
    "requestAnimationFrame(()=>{\n"
    "this.waiting=false;\n"
    "this.draw();\n"
    "});\n"
    "}\n"
    "rows(){\n"
    "const{app}=this,{report}=app,rows=[];\n"
    "const closed=key=>app.closed.has(key);\n"
    "const add=row=>rows.push(row);\n"
    "for(const process of report.processes){\n"
    "const key='p'+process.id;\n"
    "if(report.processes.length>1||process.tracks.some(t=>t.device))add({key,kind:'head',title:process.name,height:22,fold:true});\n"
    "if(closed(key))continue;\n"
    "this.groupRows(rows,process,'Counters',process.counters.map((series,i)=>\n"
    "({key:`${key}c${i}`,kind:'counter',title:series.name,height:COUNTER_HEIGHT,series})));\n"
    "let device='';\n"
    "const order=process.tracks.filter(t=>!t.device).sort((a,b)=>Number(a.fiber)-Number(b.fiber)||\n"
    "Number(String(b.thread)===process.about.get('pid'))-Number(String(a.thread)===process.about.get('pid'))||a.id-b.id);\n"
    "if(app.order)order.sort(app.order==='name'?(a,b)=>a.title.localeCompare(b.title,'en',{numeric:true}):(a,b)=>busyOf(b)-busyOf(a));\n"
    "for(const track of[...order,...process.tracks.filter(t=>t.device)]){\n"
    "if(track.device&&track.device!==device){\n"
    "device=track.device;\n"
    "add({key:`${key}d${device}`,kind:'head',title:device+(track.alignment===3?' (clock not aligned)':''),height:22,fold:true});\n"
    "}\n"
    "if(track.device&&closed(`${key}d${device}`))continue;\n"
    "if(!track.levels.length&&!track.marks)continue;\n"
    "const name='t'+track.id,depth=closed(name)?Math.min(1,track.levels.length):track.levels.length;\n"
    "const marks=track.marks?12:0;\n"
    "add({key:name,kind:'track',title:track.title,track,depth,marks,fold:track.levels.length>1,\n"
    "height:Math.max(22,depth*LINE+marks+6)});\n"
    "}\n"
    "this.groupRows(rows,process,'Spans',process.spanGroups.map((group,i)=>({key:`${key}s${i}`,kind:'spans',\n"
    "title:group.name,group,height:(closed(`${key}s${i}`)?1:group.lanes.length)*LINE+4,fold:group.lanes.length>1})));\n"
    "this.groupRows(rows,process,'Locks',process.locks?[...process.locks.rows.values()].map((lock,i)=>\n"
    "({key:`${key}l${i}`,kind:'lock',title:lock.label.name,lock,height:LINE+4})):[]);\n"
    "}\n"
    "return rows;\n"
    "}\n"
    "groupRows(rows,process,title,more){\n"
    "if(!more.length)return;\n"
    "const key=`p${process.id}${title}`;\n"
    "rows.push({key,kind:'group',title:`${title} (${more.length})`,height:20,fold:true});\n"
    "if(!this.app.closed.has(key))rows.push(...more);\n"
    "}\n"
    "layout(){\n"
    "const{app}=this,rows=this.rows(),height=this.canvas.clientHeight;\n"
    "const placed=[];\n"
    "let y=RULER;\n"
    "for(const row of rows.filter(each=>app.pinned.has(each.key))){\n"
    "placed.push({row,y,top:RULER,bottom:height,pinned:true});\n"
    "y+=row.height;\n"
    "}\n"
    "const top=y,others=rows.filter(each=>!app.pinned.has(each.key));\n"
    "const all=others.reduce((sum,row)=>sum+row.height,0);\n"
    "this.scroll=Math.max(0,Math.min(this.scroll,all-(height-top)));\n"
    "y-=this.scroll;\n"
    "for(const row of others){\n"
    "if(y+row.height>top&&y<height)placed.push({row,y,top,bottom:height,pinned:false});\n"
    "y+=row.height;\n"
    "}\n"
    "this.all=all;\n"
    "this.top=top;\n"
    "return placed;\n"
    "}\n"
    "reveal(track,depth){\n"
    "const{app}=this;\n"
    "app.closed.delete('p'+track.process.id);\n"
    "if(depth>0)app.closed.delete('t'+track.id);\n"
    "if(track.device)app.closed.delete(`p${track.process.id}d${track.device}`);\n"
    "this.layout();\n"
    "let y=this.top;\n"
    "for(const row of this.rows()){\n"
    "if(app.pinned.has(row.key))continue;\n"
    "if(row.track===track){\n"
   ,
    "const at=y+row.marks+depth*LINE-this.scroll,height=this.canvas.clientHeight;\n"
    "if(at<this.top)this.scroll-=this.top-at+10;\n"
    "else if(at+LINE>height)this.scroll+=at+LINE-height+10;\n"
    "return;\n"
    "}\n"
    "y+=row.height;\n"
    "}\n"
    "}\n"
    "x(time){return GUTTER+(time-this.app.view.from)*this.scale;}\n"
    "time(x){return this.app.view.from+(x-GUTTER)/this.scale;}\n"
    "draw(svg){\n"
    "const began=performance.now(),{canvas,app}=this,ratio=window.devicePixelRatio||1;\n"
    "const width=canvas.clientWidth,height=canvas.clientHeight;\n"
    "if(!width||!height)return;\n"
    "const w=Math.round(width*ratio),h=Math.round(height*ratio);\n"
    "if(canvas.width!==w||canvas.height!==h||!this.image){\n"
    "canvas.width=w;\n"
    "canvas.height=h;\n"
    "this.ctx=canvas.getContext('2d',{alpha:false});\n"
    "this.image=this.ctx.createImageData(w,h);\n"
    "this.pixels=new Uint32Array(this.image.data.buffer);\n"
    "}\n"
    "const{pixels}=this,{from,to}=app.view,ctx=svg||this.ctx;\n"
    "this.scale=(width-GUTTER)/(to-from);\n"
    "this.placed=this.layout();\n"
    "pixels.fill(app.colors.background);\n"
    "this.drawGrid(pixels,w,h,ratio,width);\n"
    "const labels=[];\n"
    "for(const place of this.placed)if(place.row.kind==='track')this.drawScopes(place,ratio,w,h,labels);\n"
    "if(svg)this.drawPixels(svg,w,h,ratio);\n"
    "ctx.setTransform(1,0,0,1,0,0);\n"
    "ctx.putImageData(this.image,0,0);\n"
    "ctx.setTransform(ratio,0,0,ratio,0,0);\n"
    "this.drawLabels(ctx,labels,ratio);\n"
    "for(const place of this.placed)this.drawRow(ctx,place,width);\n"
    "this.drawFlows(ctx,width);\n"
    "this.drawFocus(ctx);\n"
    "this.drawSelection(ctx,width,height);\n"
    "for(const place of this.placed)this.drawGutter(ctx,place);\n"
    "this.drawRuler(ctx,width);\n"
    "this.frame.push(performance.now()-began);\n"
    "if(this.frame.length>200)this.frame.shift();\n"
    "}\n"
    "drawPixels(svg,w,h,ratio){\n"
    "const{background}=this.app.colors,left=Math.round(GUTTER*ratio),grid=this.app.colors.grid,line=y=>this.pixels.subarray(y*w,y*w+w).map(c=>c===grid?background:c);\n"
    "svg.fillStyle=this.app.style.background;\n"
    "svg.fillRect(0,0,w/ratio,h/ratio);\n"
    "svg.fillStyle=this.app.style.grid;\n"
    "for(let x=left;x<w;x++)if(this.pixels[(h-1)*w+x]===grid)svg.fillRect(x/ratio,RULER,1,h/ratio);\n"
    "for(const{row,y,top}of this.placed){\n"
    "for(let depth=0;row.kind==='track'&&depth<row.depth;depth++){\n"
    "const y0=Math.max(y+3+row.marks+depth*LINE,top),y1=y+2+row.marks+(depth+1)*LINE;\n"
    "if(y1>y0&&y0*ratio<h-1)svg.run(line(Math.round(y0*ratio)),left,y0,y1-y0,ratio,background);\n"
    "}\n"
    "}\n"
    "}\n"
    "drawScopes({row,y,top},ratio,w,h,labels){\n"
    "const{app}=this,{colors,dimmed,background}=app.colors;\n"
    "for(let depth=0;depth<row.depth;depth++){\n"
    "const level=row.track.levels[depth],y0=y+3+row.marks+depth*LINE;\n"
    "if(y0+LINE<top||y0*ratio>h)continue;\n"
    "const c={pixels:this.pixels,width:w,height:h,left:Math.round(GUTTER*ratio),from:app.view.from,\n"
    "scale:this.scale*ratio,colors,dimmed,background,least:app.least};\n"
    "drawLevel(c,level,Math.round(Math.max(y0,top)*ratio),Math.round((y0+LINE-1)*ratio),(x0,x1,i)=>{\n"
    "if(y0>=top-4)labels.push(x0/ratio,x1/ratio,y0,level,i);\n"
    "});\n"
    "}\n"
    "}\n"
    "textWidth(ctx,text){\n"
    "let width=this.widths.get(text);\n"
    "if(width===undefined){\n"
    "if(this.widths.size>20000)this.widths.clear();\n"
    "this.widths.set(text,width=ctx.measureText(text).width);\n"
    "}\n"
    "return width;\n"
    "}\n"
    "fit(ctx,text,x,y,width){\n"
    "if(text.length>200)text=text.slice(0,200);\n"
    "const whole=this.textWidth(ctx,text);\n"
    "if(whole>width){\n"
    "const letters=Math.floor(text.length*width/whole)-1;\n"
    "if(letters<2)return;\n"
    "text=text.slice(0,letters)+'\\u2026';\n"
    "}\n"
    "ctx.fillText(text,x,y);\n"
    "}\n"
    "drawLabels(ctx,list,ratio){\n"
    "const{report}=this.app;\n"
    "ctx.font='11px system-ui, sans-serif';\n"
    "ctx.textBaseline='middle';\n"
    "ctx.textAlign='left';\n"
    "for(let k=0;k<list.length;k+=5){\n"
    "const[x0,x1,y,level,i]=list.slice(k,k+5),label=report.labels[report.nodes.label[level.node[i]]];\n"
    "const room=x1-x0-8;\n"
    "ctx.fillStyle=this.app.dim&&this.app.dim(label)?this.app.style.faint:label.ink;\n"
    "const width=this.textWidth(ctx,label.name);\n"
    "this.fit(ctx,label.name,x0+4,y+LINE/2,room);\n"
    "if(room-width>60){\n"
   ,
    "ctx.globalAlpha=0.7;\n"
    "ctx.fillText(ns(level.durationOf(i)),x0+4+width+8,y+LINE/2);\n"
    "ctx.globalAlpha=1;\n"
    "}\n"
    "const flags=level.flags.size?level.flags.get(i):0;\n"
    "if(flags)this.drawTorn(ctx,x0,x1,y,flags);\n"
    "}\n"
    "}\n"
    "drawTorn(ctx,x0,x1,y,flags){\n"
    "ctx.fillStyle=this.app.style.background;\n"
    "for(const[bit,x,sign]of[[TRUNCATED_BEGIN,x0,1],[TRUNCATED_END,x1,-1]]){\n"
    "if(!(flags&bit))continue;\n"
    "ctx.beginPath();\n"
    "for(let n=0;n<3;n++){\n"
    "ctx.moveTo(x,y+n*6);\n"
    "ctx.lineTo(x+4*sign,y+n*6+3);\n"
    "ctx.lineTo(x,y+n*6+6);\n"
    "}\n"
    "ctx.fill();\n"
    "}\n"
    "}\n"
    "drawGrid(pixels,w,h,ratio,width){\n"
    "const{from,to}=this.app.view,step=niceStep((to-from)/Math.max(2,(width-GUTTER)/120));\n"
    "this.step=step;\n"
    "for(let t=Math.ceil(from/step)*step;t<to;t+=step){\n"
    "const x=Math.round(this.x(t)*ratio);\n"
    "if(x<w)for(let at=x;at<w*h;at+=w)pixels[at]=this.app.colors.grid;\n"
    "}\n"
    "}\n"
    "drawRow(ctx,{row,y,top,bottom},width){\n"
    "ctx.save();\n"
    "ctx.beginPath();\n"
    "ctx.rect(GUTTER,top,width-GUTTER,bottom-top);\n"
    "ctx.clip();\n"
    "ctx.fillStyle=this.app.style.line;\n"
    "ctx.fillRect(GUTTER,y+row.height-1,width,1);\n"
    "if(row.kind==='head'||row.kind==='group'){\n"
    "ctx.fillStyle=row.kind==='head'?this.app.style.head:this.app.style.group;\n"
    "ctx.fillRect(GUTTER,y,width,row.height-1);\n"
    "}\n"
    "if(row.kind==='track'&&row.track.marks)this.drawMarks(ctx,row.track.marks,y+2);\n"
    "if(row.kind==='counter')this.drawCounter(ctx,row,y,width);\n"
    "if(row.kind==='spans')this.drawSpans(ctx,row,y);\n"
    "if(row.kind==='lock')this.drawHolds(ctx,row,y);\n"
    "ctx.restore();\n"
    "}\n"
    "drawMarks(ctx,marks,y){\n"
    "const{from,to}=this.app.view;\n"
    "let last=-10;\n"
    "for(let i=firstIndex(marks.length,k=>marks[k].time>=from);i<marks.length&&marks[i].time<=to;i++){\n"
    "const x=this.x(marks[i].time);\n"
    "if(x-last<2)continue;\n"
    "last=x;\n"
    "ctx.fillStyle=marks[i].severity>=3?this.app.style.bad:marks[i].severity===2?this.app.style.warn:this.app.style.mark;\n"
    "ctx.beginPath();\n"
    "ctx.moveTo(x-4,y);\n"
    "ctx.lineTo(x+4,y);\n"
    "ctx.lineTo(x,y+9);\n"
    "ctx.fill();\n"
    "}\n"
    "}\n"
    "drawCounter(ctx,row,y,width){\n"
    "const{series}=row,{time,value}=series,low=Math.min(0,series.min),high=Math.max(series.max,low+1e-12);\n"
    "const bottom=y+row.height-4,tall=row.height-8,place=v=>bottom-(v-low)/(high-low)*tall;\n"
    "let i=Math.max(0,firstIndex(time.length,k=>time[k]>=this.app.view.from)-1);\n"
    "ctx.fillStyle=this.app.style.counter;\n"
    "for(let x=Math.max(GUTTER,Math.floor(this.x(time[i])));x<width&&i<time.length;){\n"
    "const next=i+1<time.length?Math.floor(this.x(time[i+1])):width,end=Math.min(width,Math.max(next,x+1));\n"
    "let top=value[i];\n"
    "if(next<x+1){\n"
    "const until=this.time(x+1);\n"
    "while(i+1<time.length&&time[i+1]<until)top=Math.max(top,value[++i]);\n"
    "}else{\n"
    "i++;\n"
    "}\n"
    "const zero=place(0),at=place(top);\n"
    "if(Number.isFinite(at))ctx.fillRect(x,Math.min(at,zero),end-x,Math.max(1,Math.abs(zero-at)));\n"
    "if(next>=width)break;\n"
    "x=end;\n"
    "if(next<x&&i+1>=time.length)break;\n"
    "}\n"
    "ctx.fillStyle=this.app.style.faint;\n"
    "ctx.font='10px system-ui, sans-serif';\n"
    "ctx.textAlign='right';\n"
    "ctx.fillText((series.bytes?bytes:shown)(series.max),width-4,y+9);\n"
    "ctx.textAlign='left';\n"
    "}\n"
    "drawBox(ctx,x0,x1,y,rgb,ink,text){\n"
    "x0=Math.max(x0,GUTTER-2);\n"
    "ctx.fillStyle=`rgb(${rgb.join()})`;\n"
    "ctx.fillRect(x0,y,Math.max(1,x1-x0),LINE-3);\n"
    "if(x1-x0<24)return;\n"
    "ctx.font='11px system-ui, sans-serif';\n"
    "ctx.textBaseline='middle';\n"
    "ctx.fillStyle=ink;\n"
    "this.fit(ctx,text,x0+4,y+LINE/2-1,Math.min(x1,this.canvas.clientWidth)-x0-8);\n"
    "}\n"
    "drawSpans(ctx,row,y){\n"
    "const{from,to}=this.app.view,{labels}=this.app.report;\n"
    "row.group.lanes.forEach((lane,n)=>{\n"
    "if(this.app.closed.has(row.key)&&n)return;\n"
    "let last=-1;\n"
    "for(const span of lane.spans){\n"
    "if(span.start>to)break;\n"
    "if(span.start+span.duration<from)continue;\n"
    "const x0=this.x(span.start),x1=this.x(span.start+span.duration);\n"
    "if(x1<last+1)continue;\n"
    "last=x1;\n"
    "this.drawBox(ctx,x0,x1,y+2+n*LINE,labels[span.label].rgb,labels[span.label].ink,labels[span.label].name);\n"
    "}\n"
    "});\n"
    "}\n"
    "drawHolds(ctx,row,y){\n"
    "const{from,to}=this.app.view,{holds,label}=row.lock;\n"
    "let last=-1;\n"
   ,
    "for(const hold of holds){\n"
    "if(hold.start>to)break;\n"
    "if(hold.start+hold.duration<from)continue;\n"
    "const x0=this.x(hold.start),x1=this.x(hold.start+hold.duration);\n"
    "if(x1<last+1)continue;\n"
    "last=x1;\n"
    "this.drawBox(ctx,x0,x1,y+2,label.rgb,label.ink,hold.track.title);\n"
    "}\n"
    "}\n"
    "drawFlows(ctx){\n"
    "const{from,to}=this.app.view,shownFlows=[];\n"
    "for(const flow of this.app.report.flows){\n"
    "if(flow.to<from||flow.from>to)continue;\n"
    "shownFlows.push(flow);\n"
    "if(shownFlows.length>300)return;\n"
    "}\n"
    "ctx.strokeStyle=this.app.style.flow;\n"
    "ctx.fillStyle=this.app.style.flow;\n"
    "ctx.lineWidth=1.5;\n"
    "for(const flow of shownFlows){\n"
    "let a=this.yOf(flow.fromTrack,flow.from);\n"
    "const b=this.yOf(flow.toTrack,flow.to);\n"
    "if(a===null||b===null)continue;\n"
    "a+=Math.sign(b-a)*(LINE/2-2);\n"
    "const x0=this.x(flow.from),x1=this.x(flow.to),bend=Math.max(6,Math.min(80,Math.abs(x1-x0)/2));\n"
    "ctx.beginPath();\n"
    "ctx.moveTo(x0,a);\n"
    "ctx.bezierCurveTo(x0+bend,a,x1-bend,b,x1,b);\n"
    "ctx.stroke();\n"
    "ctx.beginPath();\n"
    "ctx.moveTo(x1,b);\n"
    "ctx.lineTo(x1-7,b-4);\n"
    "ctx.lineTo(x1-7,b+4);\n"
    "ctx.fill();\n"
    "}\n"
    "}\n"
    "yOf(track,time){\n"
    "const place=this.placed.find(each=>each.row.track===track);\n"
    "if(!place)return null;\n"
    "let depth=0;\n"
    "while(depth+1<place.row.depth&&scopeAt(track.levels[depth+1],time)>=0)depth++;\n"
    "return place.y+3+place.row.marks+depth*LINE+LINE/2;\n"
    "}\n"
    "drawFocus(ctx){\n"
    "const{focus}=this.app;\n"
    "if(!focus)return;\n"
    "const place=this.placed.find(each=>each.row.track===focus.track);\n"
    "if(!place||focus.depth>=place.row.depth)return;\n"
    "const level=focus.track.levels[focus.depth];\n"
    "const x0=Math.max(GUTTER-3,this.x(level.start[focus.i])),x1=Math.min(this.canvas.clientWidth+3,this.x(level.endOf(focus.i)));\n"
    "if(x1<GUTTER)return;\n"
    "ctx.strokeStyle=this.app.style.ink;\n"
    "ctx.lineWidth=2;\n"
    "ctx.strokeRect(x0-0.5,place.y+3+place.row.marks+focus.depth*LINE-0.5,Math.max(3,x1-x0),LINE);\n"
    "}\n"
    "drawSelection(ctx,width,height){\n"
    "const{selection,mark}=this.app;\n"
    "if(selection){\n"
    "const x0=Math.max(GUTTER,this.x(selection.from)),x1=Math.min(width,this.x(selection.to));\n"
    "ctx.fillStyle=this.app.style.shade;\n"
    "ctx.fillRect(GUTTER,RULER,Math.max(0,x0-GUTTER),height);\n"
    "ctx.fillRect(Math.max(GUTTER,x1),RULER,width,height);\n"
    "}\n"
    "if(mark!==null&&this.x(mark)>=GUTTER){\n"
    "ctx.fillStyle=this.app.style.accent;\n"
    "ctx.fillRect(this.x(mark),RULER-8,2,height);\n"
    "}\n"
    "}\n"
    "drawGutter(ctx,{row,y,top,bottom,pinned}){\n"
    "const{style,closed}=this.app;\n"
    "ctx.save();\n"
    "ctx.beginPath();\n"
    "ctx.rect(0,top,row.kind==='head'?this.canvas.clientWidth:GUTTER,bottom-top);\n"
    "ctx.clip();\n"
    "ctx.fillStyle=row.kind==='head'?style.head:row.kind==='group'?style.group:style.gutter;\n"
    "ctx.fillRect(0,y,GUTTER-1,row.height-1);\n"
    "ctx.fillStyle=style.line;\n"
    "ctx.fillRect(0,y+row.height-1,GUTTER,1);\n"
    "if(row.kind!=='head')ctx.fillRect(GUTTER-1,y,1,row.height);\n"
    "ctx.fillStyle=style.ink;\n"
    "ctx.textBaseline='middle';\n"
    "ctx.font=row.kind==='head'?'bold 12px system-ui, sans-serif':'12px system-ui, sans-serif';\n"
    "const middle=y+(row.kind==='track'?Math.max(11,row.marks+12):Math.min(row.height/2,17));\n"
    "if(row.fold){\n"
    "ctx.fillStyle=style.faint;\n"
    "ctx.fillText(closed.has(row.key)?'\\u25b8':'\\u25be',5,middle);\n"
    "ctx.fillStyle=style.ink;\n"
    "}\n"
    "this.fit(ctx,row.title,row.kind==='head'||row.kind==='group'?18:22,middle,row.kind==='head'?900:GUTTER-46);\n"
    "if(row.kind!=='head'&&row.kind!=='group'&&(pinned||this.hovered===row.key)){\n"
    "ctx.fillStyle=pinned?style.accent:style.faint;\n"
    "ctx.fillText(pinned?'\\u25c6':'\\u25c7',GUTTER-16,middle);\n"
    "}\n"
    "ctx.restore();\n"
    "}\n"
    "drawRuler(ctx,width){\n"
    "const{style,view,selection}=this.app,{step}=this;\n"
    "ctx.fillStyle=style.gutter;\n"
    "ctx.fillRect(0,0,width,RULER-1);\n"
    "ctx.fillStyle=style.line;\n"
    "ctx.fillRect(0,RULER-1,width,1);\n"
    "ctx.font='11px system-ui, sans-serif';\n"
    "ctx.textBaseline='middle';\n"
    "ctx.fillStyle=style.faint;\n"
    "ctx.fillText(`${ns(view.to - view.from)} shown`,8,RULER/2);\n"
    "for(let t=Math.ceil(view.from/step)*step;t<view.to;t+=step){\n"
    "const x=Math.round(this.x(t));\n"
    "ctx.fillStyle=style.line;\n"
   ,
    "ctx.fillRect(x,RULER-7,1,6);\n"
    "ctx.fillStyle=style.faint;\n"
    "const text=axisTime(t,step);\n"
    "if(x+4+this.textWidth(ctx,text)<width)ctx.fillText(text,x+4,RULER/2-1);\n"
    "}\n"
    "ctx.fillStyle=style.good;\n"
    "for(const{from,to}of this.app.report.windows){\n"
    "const x0=Math.max(GUTTER,this.x(from));\n"
    "ctx.fillRect(x0,RULER-3,Math.min(width,this.x(to))-x0,2);\n"
    "}\n"
    "if(!selection)return;\n"
    "const x0=Math.max(GUTTER,this.x(selection.from)),x1=Math.min(width,this.x(selection.to));\n"
    "if(x1<=x0)return;\n"
    "ctx.fillStyle=style.accent;\n"
    "ctx.fillRect(x0,RULER-4,x1-x0,3);\n"
    "const text=ns(selection.to-selection.from),wide=this.textWidth(ctx,text)+10;\n"
    "const at=Math.max(GUTTER,Math.min(width-wide,(x0+x1-wide)/2));\n"
    "ctx.fillRect(at,2,wide,RULER-6);\n"
    "ctx.fillStyle=style.onaccent;\n"
    "ctx.fillText(text,at+5,RULER/2-1);\n"
    "}\n"
    "at(x,y){\n"
    "const place=y>=RULER&&this.placed?this.placed.find(each=>y>=Math.max(each.y,each.top)&&y<each.y+each.row.height):null;\n"
    "if(!place)return{area:y<RULER?'ruler':'none'};\n"
    "const{row}=place,time=this.time(x);\n"
    "if(x<GUTTER)return{area:'gutter',row,pin:x>GUTTER-24&&row.kind!=='head'&&row.kind!=='group'};\n"
    "const found={area:'row',row,time};\n"
    "if(row.kind==='track'){\n"
    "const inside=y-place.y-3-row.marks,depth=Math.floor(inside/LINE);\n"
    "if(inside<0&&row.track.marks)found.mark=this.near(row.track.marks,time,mark=>mark.time);\n"
    "if(inside>=0&&depth<row.depth){\n"
    "const i=this.scopeNear(row.track.levels[depth],time);\n"
    "if(i>=0)found.scope={track:row.track,depth,i};\n"
    "}\n"
    "}else if(row.kind==='spans'){\n"
    "const lane=row.group.lanes[Math.floor((y-place.y-2)/LINE)];\n"
    "found.span=lane&&this.around(lane.spans,time);\n"
    "}else if(row.kind==='lock'){\n"
    "found.hold=this.around(row.lock.holds,time);\n"
    "}else if(row.kind==='counter'){\n"
    "const i=firstIndex(row.series.time.length,k=>row.series.time[k]>time)-1;\n"
    "if(i>=0)found.sample={time:row.series.time[i],value:row.series.value[i]};\n"
    "}\n"
    "return found;\n"
    "}\n"
    "around(list,time){\n"
    "const slack=2/this.scale;\n"
    "return list.find(each=>each.start-slack<=time&&each.start+each.duration+slack>=time);\n"
    "}\n"
    "near(list,time,get){\n"
    "const i=firstIndex(list.length,k=>get(list[k])>=time);\n"
    "const best=[list[i-1],list[i]].filter(Boolean).sort((a,b)=>Math.abs(get(a)-time)-Math.abs(get(b)-time))[0];\n"
    "return best&&Math.abs(get(best)-time)*this.scale<8?best:null;\n"
    "}\n"
    "scopeNear(level,time){\n"
    "const i=scopeAt(level,time),slack=1.5/this.scale;\n"
    "if(i>=0&&level.durationOf(i)*this.scale>3)return i;\n"
    "const first=firstIndex(level.count,k=>level.start[k]>=time-slack);\n"
    "let best=i;\n"
    "for(let k=first;k<Math.min(level.count,first+2000)&&level.start[k]<=time+slack;k++)\n"
    "if(best<0||level.durationOf(k)>level.durationOf(best))best=k;\n"
    "return best;\n"
    "}\n"
    "}\n"
    "const ORDER=['same','unsure','gone','new','faster','slower'];\n"
    "const SIGNS={slower:'\\u25b2 ',faster:'\\u25bc ',new:'+ ',gone:'\\u2212 ',unsure:'? ',same:''};\n"
    "function percentText(ratio){\n"
    "if(!Number.isFinite(ratio))return'';\n"
    "if(ratio>=9.95)return`x${ratio.toPrecision(3)}`;\n"
    "const text=(100*(ratio-1)).toFixed(1).replace(/^-(0\\.0)$/,'$1');\n"
    "return`${text > 0 ? '+' : ''}${text} %`;\n"
    "}\n"
    "function intervalText({low,high}){\n"
    "return`${low > 0 ? percentText(low) : '?'} to ${high < 1e30 ? percentText(high) : '?'}`;\n"
    "}\n"
    "class Comparison{\n"
    "constructor(panels){\n"
    "this.panels=panels;\n"
    "this.app=panels.app;\n"
    "this.pair=[0,1];\n"
    "this.threshold=5;\n"
    "this.side=1;\n"
    "this.path=[];\n"
    "this.labels=[];\n"
    "}\n"
    "sides(){\n"
    "const{report,selection}=this.app,from=selection?selection.from:report.from,to=selection?selection.to:report.to;\n"
    "const key=[from,to,...this.pair].join();\n"
    "if(!this.kept||this.kept.key!==key){\n"
    "const processes=this.pair.map(i=>report.processes[i]);\n"
    "const used=this.pair.map(i=>this.labels[i]=this.labels[i]||labelsOf(report,report.processes[i]));\n"
    "this.kept={key,from,to,processes,pairing:pairLabels(report.labels,used),\n"
    "stats:processes.map(process=>rangeStats(report,from,to,track=>track.process===process))};\n"
    "}\n"
    "return this.kept;\n"
    "}\n"
    "choosers(){\n"
   ,
    "const{processes}=this.app.report,choose=(which,title)=>el('label',{},title+' ',el('select',{onchange:event=>{\n"
    "this.pair[which]=Number(event.target.value);\n"
    "this.path=[];\n"
    "this.panels.render();\n"
    "}},...processes.map((process,i)=>el('option',{value:i,selected:i===this.pair[which]},process.name))));\n"
    "return[choose(0,'1:'),choose(1,'2:'),el('label',{title:'A change counts if its whole 99 % interval lies beyond'},'threshold % ',\n"
    "el('input',{type:'number',min:0,max:1000,value:this.threshold,style:{width:'4.5em'},onchange:event=>{\n"
    "this.threshold=Math.max(0,Number(event.target.value)||0);\n"
    "this.panels.render();\n"
    "}}))];\n"
    "}\n"
    "shifts(kept){\n"
    "const{report}=this.app,{pairing,processes}=kept;\n"
    "if(!kept.shifts){\n"
    "kept.samples=processes.map(process=>samplesOf(report,process,kept.from,kept.to));\n"
    "kept.shifts=new Map();\n"
    "}\n"
    "const until=performance.now()+50;\n"
    "for(let i=kept.shifts.size;i<pairing.pairs.length&&performance.now()<until;i++){\n"
    "const{a,b}=pairing.pairs[i];\n"
    "kept.shifts.set(i,shiftOf(kept.samples[0].get(a),kept.samples[1].get(b)));\n"
    "}\n"
    "return kept.shifts;\n"
    "}\n"
    "goOn(kept,note){\n"
    "clearTimeout(this.timer);\n"
    "this.timer=setTimeout(()=>{\n"
    "if(this.kept!==kept)return;\n"
    "const left=kept.pairing.pairs.length-this.shifts(kept).size;\n"
    "note.textContent=`${grouped(left)} scopes are still to be compared`;\n"
    "if(left)this.goOn(kept,note);\n"
    "else if(this.panels.tab==='compare')this.panels.render();\n"
    "},0);\n"
    "}\n"
    "rows(kept){\n"
    "const{report}=this.app,shifts=this.shifts(kept),[before,after]=kept.stats.map(({rows})=>new Map(rows.map(row=>[row.id,row])));\n"
    "const rows=kept.pairing.pairs.map((pair,i)=>({a:before.get(pair.a),b:after.get(pair.b),change:shifts.get(i)})).filter(row=>row.a||row.b);\n"
    "for(const row of rows){\n"
    "const{label}=row.b||row.a;\n"
    "row.label=label;\n"
    "row.where=row.a&&where(row.a.label)!==where(label)?`${where(row.a.label)} \\u2192 ${where(label)}`:where(label);\n"
    "row.verdict=!row.a?'new':!row.b?'gone':row.change?judge(row.change,this.threshold/100):'';\n"
    "row.difference=(row.b?row.b.total:0)-(row.a?row.a.total:0);\n"
    "row.p50=[row.a,row.b].map((side,i)=>{\n"
    "const sample=side&&kept.samples[i].get(side.id);\n"
    "return sample&&sample.seen===sample.ns.length?medianOf(sample):side?percentile(side,0.5):NaN;\n"
    "});\n"
    "}\n"
    "return rows.sort((x,y)=>Math.abs(y.difference)-Math.abs(x.difference));\n"
    "}\n"
    "table(){\n"
    "const{panels}=this,kept=this.sides(),rows=this.rows(kept),note=el('span.note',{role:'status'});\n"
    "const counts=ORDER.map(verdict=>rows.filter(row=>row.verdict===verdict).length);\n"
    "if(kept.shifts.size<kept.pairing.pairs.length)this.goOn(kept,note);\n"
    "note.textContent=ORDER.map((verdict,i)=>`${counts[i]} ${verdict}`).reverse().join(', ');\n"
    "const mean=row=>row&&row.calls?row.total/row.calls:NaN,both=row=>row.a&&row.b&&row.change;\n"
    "const two=(title,get,show,about)=>['a','b'].map((side,i)=>({title:`${title} ${i + 1}`,note:about,get:row=>get(row[side],row,i)||0,\n"
    "show:row=>row[side]?show(get(row[side],row,i)):''}));\n"
    "return[el('div.bar-of-tools',{},...this.choosers(),note),el('p.note.under',{},\n"
    "`${panels.rangeText()}. As in prof compare, the shift is the median of the ratios of all pairs of calls, of 10,000 a side at most. `+\n"
    "'Durations here are those recorded, to the nanosecond, and so are the figures.'),\n"
    "table([{title:'scope',text:true,get:row=>row.label.name},\n"
    "{title:'verdict',text:true,note:'slower or faster: the whole 99 % interval lies beyond the threshold; same: it is at most twice as wide as that',\n"
    "get:row=>ORDER.length-ORDER.indexOf(row.verdict),show:row=>el('span',{class:'verdict '+row.verdict},(SIGNS[row.verdict]||'')+row.verdict)},\n"
    "{title:'shift',note:'of a typical call',get:row=>both(row)?row.change.ratio:0,show:row=>both(row)?percentText(row.change.ratio):''},\n"
    "{title:'99 % interval',note:'of the shift',get:row=>both(row)?row.change.high-row.change.low:0,show:row=>both(row)?intervalText(row.change):''},\n"
   ,
    "...two('p50',(side,row,i)=>row.p50[i],ns,'the median; to 2 % where there are more than 10,000 calls'),...two('calls',side=>side&&side.calls,grouped),...two('total',side=>side&&side.total,ns),\n"
    "{title:'difference',note:'of the total times',get:row=>Math.abs(row.difference),show:row=>(row.difference>0?'+':'')+ns(row.difference)},\n"
    "...two('mean',mean,ns),{title:'change',note:'of the mean',get:row=>mean(row.b)/mean(row.a)||0,show:row=>percentText(mean(row.b)/mean(row.a))},\n"
    "...two('p99',side=>side&&percentile(side,0.99),ns),{title:'where',text:true,get:row=>row.where}],rows,\n"
    "{caption:`${kept.processes[0].name} and ${kept.processes[1].name}`,sort:1,up:true,memory:panels.memoryOf('compare'),onpick:row=>panels.pick(row.label)})];\n"
    "}\n"
    "flame(){\n"
    "const{panels,app}=this,{report}=app,kept=this.sides(),list=measures(report,kept.processes,kept.stats);\n"
    "const per=list.find(each=>each.id===this.per)||list[0];\n"
    "kept.sums=kept.sums||kept.processes.map((process,i)=>selfTimes(report,process,kept.stats[i]));\n"
    "const tree=differenceTree(report,kept.pairing,kept.stats,kept.sums,per.of,this.side),root=along(tree,this.path,'pair');\n"
    "const unit=per.id==='run'?'':per.id==='second'?' a second':` a ${per.id}`;\n"
    "const box=flameBox('Flame graph of differences',root,node=>node.width,node=>this.frame(node,kept,unit));\n"
    "const mode=(key,value,title)=>el('button',{'aria-pressed':String(this[key]===value),onclick:()=>{this[key]=value;panels.render();}},title);\n"
    "const swatch=(verdict,text)=>el('span',{},el('i',{class:'swatch '+verdict,style:this.style(verdict,1)}),text);\n"
    "return[el('div.bar-of-tools',{},...this.choosers(),el('span',{},'Width:'),mode('side',0,'time in 1'),mode('side',1,'time in 2'),\n"
    "el('label',{},'Times ',el('select',{onchange:event=>{this.per=event.target.value;panels.render();}},\n"
    "...list.map(({id,title})=>el('option',{value:id,selected:id===per.id},title)))),\n"
    "el('button',{disabled:!this.path.length,onclick:()=>{this.path=[];panels.render();}},'Zoom out')),\n"
    "el('div.bar-of-tools.legend',{},swatch('slower','\\u25b2 more self time'),swatch('faster','\\u25bc less'),swatch('same','within noise (? perhaps not)'),swatch('new','+ only in 2'),swatch('gone','\\u2212 only in 1'),\n"
    "el('span.note',{},`${panels.rangeText()}; ${this.measureText(per)}; click zooms, double click opens the scope`)),\n"
    "el('div.scroll',{tabindex:0},box)];\n"
    "}\n"
    "measureText({id,title,of}){\n"
    "if(id==='run')return'times are those of the recordings as they are: right if both did the same work';\n"
    "return`times are ${title}: those of 1 divided by ${shown(Number(of[0].toPrecision(4)))}, those of 2 by ${shown(Number(of[1].toPrecision(4)))}`;\n"
    "}\n"
    "style(verdict,by){return differenceStyle(verdict==='slower'||verdict==='new'?by:verdict==='faster'||verdict==='gone'?-by:0,this.app.dark);}\n"
    "frame(node,kept,unit){\n"
    "const{labels}=this.app.report,[a,b]=node.of,pair=kept.pairing.pairs[node.pair],label=labels[pair.b>=0?pair.b:pair.a];\n"
    "const verdict=!a?'new':!b?'gone':a.self===b.self?'same':judge(node.change,this.threshold/100),ratio=a&&b&&a.self>0?b.self/a.self:NaN;\n"
    "const words={new:'only in 2',gone:'only in 1',same:'within noise',unsure:'not more than noise may be'}[verdict]||verdict;\n"
    "const figures=key=>a&&b?`${ns(a[key])} \\u2192 ${ns(b[key])}${unit}`:`${ns((a || b)[key])}${unit}`;\n"
    "const calls=[a,b].filter(Boolean).map(side=>shown(Number(side.calls.toPrecision(4)))).join(' \\u2192 ');\n"
    "const text=`${label.name}: ${words}; self ${figures('self')}${ratio >= 0 ? `, ${percentText(ratio)}` : ''}${a && b && node.change.high < 1e30 ? ` (99 %: ${intervalText(node.change)})` : ''}; `+\n"
    "`total ${figures('total')}; ${calls} calls${unit}`;\n"
    "const figure=verdict!=='same'&&ratio>=0?percentText(ratio)+' ':'';\n"
    "return{name:SIGNS[verdict]+figure+label.name,text,class:verdict,style:this.style(verdict,figure?Math.abs(Math.log2(Math.max(ratio,1e-3))):0.3),\n"
   ,
    "onclick:()=>{this.path=zoomed(node,this.path,'pair');this.panels.render();},ondblclick:()=>this.panels.pick(label)};\n"
    "}\n"
    "}\n"
    "const SEVERITIES=['debug','info','warning','error','fatal'];\n"
    "const severityOf=message=>message.severity<0?'mark':SEVERITIES[message.severity]||String(message.severity);\n"
    "class Panels{\n"
    "constructor(app,tabs,body){\n"
    "this.app=app;\n"
    "this.tabs=tabs;\n"
    "this.body=body;\n"
    "this.tab='scopes';\n"
    "this.memories={};\n"
    "this.bottomUp=false;\n"
    "const{report}=app,spans=report.spans.length>0;\n"
    "this.comparison=report.processes.length>1?new Comparison(this):null;\n"
    "this.list=[\n"
    "['scopes','Scopes',()=>this.scopes()],\n"
    "['flame','Flame graph',()=>this.flame()],\n"
    "['scope','One scope',()=>this.scope()],\n"
    "['found','Found',()=>this.found()],\n"
    "this.comparison?['compare','Compare',()=>this.comparison.table()]:null,\n"
    "this.comparison?['difference','Flame graph of differences',()=>this.comparison.flame()]:null,\n"
    "report.bars.length?['frames',report.frames.length?'Frames':'Steps',()=>this.frames()]:null,\n"
    "report.messages.length?['messages',`Messages (${grouped(report.messages.length)})`,()=>this.messages()]:null,\n"
    "spans?['spans','Spans',()=>this.spans()]:null,\n"
    "report.counters.length?['counters','Counters',()=>this.counters()]:null,\n"
    "report.processes.some(p=>p.memory)?['memory','Memory',()=>this.memory()]:null,\n"
    "report.processes.some(p=>p.locks)?['locks','Locks',()=>this.locks()]:null,\n"
    "['about','Recording',()=>this.about()]\n"
    "].filter(Boolean);\n"
    "tabs.replaceChildren(...this.list.map(([id,title])=>el('button',{role:'tab',id:'tab-'+id,'aria-controls':'panel',\n"
    "onclick:()=>this.open(id),onkeydown:event=>this.turn(event)},title)));\n"
    "}\n"
    "close(){\n"
    "clearTimeout(this.timer);\n"
    "if(this.comparison)this.comparison.kept=null;\n"
    "}\n"
    "turn(event){\n"
    "const step=event.key==='ArrowRight'?1:event.key==='ArrowLeft'?-1:0;\n"
    "if(!step)return;\n"
    "const i=this.list.findIndex(([id])=>id===this.tab),[id]=this.list[(i+step+this.list.length)%this.list.length];\n"
    "event.stopPropagation();\n"
    "this.open(id);\n"
    "document.getElementById('tab-'+id).focus();\n"
    "}\n"
    "open(id){\n"
    "this.tab=this.list.some(([each])=>each===id)?id:'scopes';\n"
    "this.render();\n"
    "this.app.share();\n"
    "}\n"
    "refresh(){\n"
    "clearTimeout(this.timer);\n"
    "this.timer=setTimeout(()=>this.render(),60);\n"
    "}\n"
    "render(){\n"
    "for(const[id]of this.list){\n"
    "const tab=document.getElementById('tab-'+id),on=id===this.tab;\n"
    "tab.setAttribute('aria-selected',String(on));\n"
    "tab.tabIndex=on?0:-1;\n"
    "}\n"
    "this.body.setAttribute('aria-labelledby','tab-'+this.tab);\n"
    "const content=this.list.find(([id])=>id===this.tab)[2]();\n"
    "this.body.replaceChildren(...(Array.isArray(content)?content:[content]));\n"
    "}\n"
    "memoryOf(name){return this.memories[name]=this.memories[name]||{};}\n"
    "stats(){\n"
    "const{selection,report}=this.app,from=selection?selection.from:report.from,to=selection?selection.to:report.to;\n"
    "if(!this.kept||this.kept.from!==from||this.kept.to!==to||this.kept.only!==this.only){\n"
    "this.kept=rangeStats(report,from,to,this.only===undefined?undefined:this.ofTrack());\n"
    "this.kept.only=this.only;\n"
    "}\n"
    "return this.kept;\n"
    "}\n"
    "ofTrack(){return track=>this.only===undefined||track.id===this.only;}\n"
    "chooser(){\n"
    "const tracks=this.app.report.tracks.filter(track=>track.levels.length).slice(0,500);\n"
    "return tracks.length<2?null:el('select',{'aria-label':'Scopes of which track',onchange:event=>{\n"
    "this.only=event.target.value===''?undefined:Number(event.target.value);\n"
    "this.path=[];\n"
    "this.render();\n"
    "}},el('option',{value:''},'all tracks'),...tracks.map(track=>el('option',{value:track.id,selected:track.id===this.only},\n"
    "this.app.report.processes.length>1?`${track.process.name}: ${track.title}`:track.title)));\n"
    "}\n"
    "rangeText(){\n"
    "const{selection,report}=this.app;\n"
    "return selection?`${ns(selection.to - selection.from)} selected, from ${moment(selection.from)} on`:`the whole recording, ${ns(report.to - report.from)}`;\n"
    "}\n"
    "scopes(){\n"
    "const stats=this.stats(),span=stats.to-stats.from;\n"
   ,
    "const rows=stats.rows.filter(row=>!this.app.dim||!this.app.dim(row.label));\n"
    "const chooser=this.chooser();\n"
    "return[chooser?el('div.bar-of-tools',{},chooser):'',table([\n"
    "{title:'scope',text:true,get:row=>row.label.name},\n"
    "{title:'calls',get:row=>row.calls,show:row=>grouped(row.calls)},\n"
    "{title:'total',get:row=>row.total,show:row=>ns(row.total)},\n"
    "{title:'self',get:row=>row.self,show:row=>this.bar(row.self,stats)},\n"
    "{title:'% of range',get:row=>row.total/span,show:row=>(100*row.total/span).toFixed(1)},\n"
    "{title:'mean',get:row=>row.total/row.calls,show:row=>ns(row.total/row.calls)},\n"
    "{title:'min',get:row=>row.min,show:row=>ns(row.min)},\n"
    "{title:'p50',get:row=>percentile(row,0.5)||0,show:row=>ns(percentile(row,0.5)),note:'percentiles are exact to 2 %; click a scope for exact ones'},\n"
    "{title:'p90',get:row=>percentile(row,0.9)||0,show:row=>ns(percentile(row,0.9))},\n"
    "{title:'p99',get:row=>percentile(row,0.99)||0,show:row=>ns(percentile(row,0.99))},\n"
    "{title:'max',get:row=>row.max,show:row=>row.whole?ns(row.max):''},\n"
    "{title:'category',text:true,get:row=>row.label.category},\n"
    "{title:'where',text:true,get:row=>where(row.label)}\n"
    "],rows,{caption:`Scopes: ${this.rangeText()}`,sort:3,memory:this.memoryOf('scopes'),\n"
    "onpick:row=>this.pick(row.label),picked:row=>this.app.label===row.label})];\n"
    "}\n"
    "bar(self,stats){\n"
    "const most=Math.max(...stats.rows.map(row=>row.self),1);\n"
    "return el('span.bar',{},el('i',{style:{width:`${Math.max(0, 60 * self / most)}px`}}),ns(self));\n"
    "}\n"
    "pick(label){\n"
    "this.app.label=label;\n"
    "this.bucket=null;\n"
    "this.open('scope');\n"
    "}\n"
    "flame(){\n"
    "const tree=flameTree(this.app.report,this.stats(),this.bottomUp),{labels}=this.app.report;\n"
    "const root=along(tree,this.path,'label');\n"
    "const box=flameBox('Flame graph',root,node=>node.total,node=>{\n"
    "const label=labels[node.label];\n"
    "const text=`${label.name}: ${ns(node.total)}, ${(100 * node.total / tree.total).toFixed(1)} %, self ${ns(Math.max(0, node.self))}, ${grouped(node.calls)} calls`;\n"
    "return{name:label.name,text,style:{background:css(label.rgb),color:label.ink},onclick:()=>this.zoomFlame(node),ondblclick:()=>this.pick(label)};\n"
    "});\n"
    "const mode=(on,title)=>el('button',{'aria-pressed':String(this.bottomUp===on),onclick:()=>{\n"
    "this.bottomUp=on;\n"
    "this.path=[];\n"
    "this.render();\n"
    "}},title);\n"
    "return[el('div.bar-of-tools',{},this.chooser(),mode(false,'From the top'),mode(true,'From the bottom'),\n"
    "el('button',{disabled:!(this.path&&this.path.length),onclick:()=>{this.path=[];this.render();}},'Zoom out'),\n"
    "el('span.note',{},`${this.rangeText()}; ${this.bottomUp ? 'by self time, callers below' : 'calls below their callers'}; click zooms, double click opens the scope`)),\n"
    "el('div.scroll',{tabindex:0},box)];\n"
    "}\n"
    "zoomFlame(node){\n"
    "this.path=zoomed(node,this.path,'label');\n"
    "this.render();\n"
    "}\n"
    "scope(){\n"
    "const{app}=this,{label,report,selection}=app;\n"
    "if(!label)return el('p.note',{},'Click a scope in the time line or a name in a table.');\n"
    "const stats=this.stats(),calls=callsOf(report,label.id,stats.from,stats.to,this.ofTrack());\n"
    "const whole=calls.filter(call=>!call.track.levels[call.depth].flags.has(call.i));\n"
    "const durations=Float64Array.from(whole,call=>call.duration).sort();\n"
    "const row=stats.rows.find(each=>each.id===label.id),every=stats.every&&row;\n"
    "const at=share=>every?percentile(row,share):durations.length?durations[Math.max(0,Math.ceil(share*durations.length)-1)]:NaN;\n"
    "const total=row?row.total:0,count=every?row.calls:calls.length;\n"
    "const facts=label.group?[['groups',grouped(calls.length)]]:[['calls',grouped(count)],['total',ns(total)],['self',ns(row?row.self:0)],['mean',ns(total/count)],\n"
    "['min',ns(at(0))],['p50',ns(at(0.5))],['p90',ns(at(0.9))],['p99',ns(at(0.99))],['p99.9',ns(at(0.999))],['max',ns(at(1))]];\n"
    "const chosen=this.bucket?whole.filter(call=>call.duration>=this.bucket[0]&&call.duration<this.bucket[1]):calls;\n"
   ,
    "const left=el('div.side',{},el('h2',{},el('i.swatch',{style:{background:css(label.rgb)}}),label.name),\n"
    "el('p.note',{},[label.category,label.function,where(label)].filter(Boolean).join(' \\u00b7 ')||'\\u00a0'),\n"
    "el('dl',{},...facts.flatMap(([name,text])=>[el('dt',{},name),el('dd',{},text)])),\n"
    "every&&count>calls.length?el('p.note',{},`These figures are of all calls. ${grouped(calls.length)} are here one by one:`):'',\n"
    "this.histogram(durations),this.chooser(),this.source(label),...label.group?[]:this.argumentTables(calls));\n"
    "const list=this.callTable(chosen,this.bucket\n"
    "?`Calls of ${ns(this.bucket[0])} to ${ns(this.bucket[1])}`\n"
    ":`Calls: ${selection ? this.rangeText() : 'all'}`);\n"
    "return el('div.split',{},left,list);\n"
    "}\n"
    "source(label){\n"
    "const lines=this.app.report.sources.get(label.file),rows=[];\n"
    "for(let n=label.line-4;lines&&n<=label.line+8;n++){\n"
    "const here=n===label.line;\n"
    "if(lines.has(n))rows.push(el(here?'mark':'span',{'data-n':n,'aria-current':here?'true':null},lines.get(n)+'\\n'));\n"
    "}\n"
    "return rows.length?el('details',{open:true},el('summary',{},'source'),\n"
    "el('pre.source',{tabindex:0,role:'region','aria-label':`Source at ${where(label)}`},...rows)):null;\n"
    "}\n"
    "histogram(durations){\n"
    "const n=durations.length,box=el('div.histogram',{role:'group','aria-label':'Distribution of durations; a bar lists its calls'});\n"
    "if(!n)return box;\n"
    "const low=Math.max(1,durations[0]),high=Math.max(low*1.01,durations[n-1]),bars=48;\n"
    "const edge=i=>i===0?0:i===bars?Infinity:low*(high/low)**(i/bars);\n"
    "const counts=[];\n"
    "for(let i=0,from=0;i<bars;i++){\n"
    "const next=i+1===bars?n:firstIndex(n,k=>durations[k]>=edge(i+1));\n"
    "counts.push(next-from);\n"
    "from=next;\n"
    "}\n"
    "const most=Math.max(...counts);\n"
    "counts.forEach((count,i)=>{\n"
    "const from=Math.max(i?edge(i):durations[0],0),to=i+1===bars?durations[n-1]:edge(i+1);\n"
    "const text=`${ns(from)} to ${ns(to)}: ${grouped(count)} calls`,picked=this.bucket&&this.bucket[0]===edge(i);\n"
    "box.append(el('button',{title:text,'aria-label':text,disabled:!count,class:picked?'picked':null,\n"
    "onclick:()=>{this.bucket=picked?null:[edge(i),edge(i+1)];this.render();}},\n"
    "el('i',{style:{height:`${count ? Math.max(2, 100 * count / most) : 0}%`}})));\n"
    "});\n"
    "return el('div',{},box,el('div.ends',{},el('span',{},ns(durations[0])),el('span',{},'durations, logarithmic'),el('span',{},ns(durations[n-1]))));\n"
    "}\n"
    "argumentTables(calls){\n"
    "const{report}=this.app,keys=new Map();\n"
    "let seen=0;\n"
    "for(const call of calls){\n"
    "const level=call.track.levels[call.depth];\n"
    "if(!level.args.count)continue;\n"
    "for(const[key,v]of report.argsOf(level.args,call.i)){\n"
    "if(!keys.has(key))keys.set(key,new Map());\n"
    "const text=shown(v),values=keys.get(key);\n"
    "let row=values.get(text);\n"
    "if(!row){\n"
    "if(values.size>=10000)continue;\n"
    "values.set(text,row={text,calls:0,total:0,max:0});\n"
    "}\n"
    "row.calls++;\n"
    "row.total+=call.duration;\n"
    "row.max=Math.max(row.max,call.duration);\n"
    "}\n"
    "if(++seen>500000)break;\n"
    "}\n"
    "return[...keys].slice(0,8).map(([key,values])=>el('details',{open:keys.size<3},el('summary',{},`by ${key} (${grouped(values.size)} values)`),\n"
    "table([{title:key,text:true,get:row=>row.text},{title:'calls',get:row=>row.calls,show:row=>grouped(row.calls)},\n"
    "{title:'total',get:row=>row.total,show:row=>ns(row.total)},{title:'mean',get:row=>row.total/row.calls,show:row=>ns(row.total/row.calls)},\n"
    "{title:'max',get:row=>row.max,show:row=>ns(row.max)}],[...values.values()],\n"
    "{caption:`By ${key}`,sort:2,memory:this.memoryOf('arg '+key),limit:40})));\n"
    "}\n"
    "callTable(calls,caption,named=false){\n"
    "const{app}=this,{report}=app,keys=[];\n"
    "for(const call of calls.slice(0,2000)){\n"
    "const{args}=call.track.levels[call.depth];\n"
    "if(args.count)for(const[key]of report.argsOf(args,call.i))if(!keys.includes(key)&&keys.length<8)keys.push(key);\n"
    "}\n"
    "const argument=(call,key)=>{\n"
    "const pair=report.argsOf(call.track.levels[call.depth].args,call.i).reverse().find(([each])=>each===key);\n"
   ,
    "return pair?pair[1]:'';\n"
    "};\n"
    "const series=report.bars[0],columns=[\n"
    "named?{title:'scope',text:true,get:call=>app.labelOf(call).name}:null,\n"
    "{title:'start',get:call=>call.start,show:call=>moment(call.start)},\n"
    "{title:'duration',get:call=>call.duration,show:call=>ns(call.duration)},\n"
    "report.tracks.length>1?{title:'thread',text:true,get:call=>call.track.title}:null,\n"
    "series?{title:report.frames.length?'frame':'step',get:call=>frameOf(series,call.start),show:call=>frameOf(series,call.start)||''}:null,\n"
    "...keys.map(key=>({title:key,text:calls.slice(0,50).some(call=>typeof argument(call,key)==='string'&&argument(call,key)!==''),\n"
    "get:call=>{const v=argument(call,key);return typeof v==='bigint'?Number(v):v;},show:call=>shown(argument(call,key))})),\n"
    "{title:'',text:true,get:call=>truncatedText(call.track.levels[call.depth].flags.get(call.i))}\n"
    "].filter(Boolean);\n"
    "return table(columns,calls,{caption,sort:named?2:1,memory:this.memoryOf(named?'found':'calls'),limit:200,onpick:call=>app.show(call),\n"
    "picked:call=>app.focus&&app.focus.track===call.track&&app.focus.depth===call.depth&&app.focus.i===call.i});\n"
    "}\n"
    "found(){\n"
    "const{query,hits}=this.app;\n"
    "if(!query)return el('p.note',{},'Search by a part of a name, cat:NAME, arg=value, >2ms or <100us, or several of them: / goes there.');\n"
    "return this.callTable(hits,`${grouped(hits.length)}${hits.more ? ' and more' : ''} scopes for ${query}`,true);\n"
    "}\n"
    "frames(){\n"
    "const{app}=this,{report}=app,series=app.series;\n"
    "const select=el('select',{'aria-label':'Which frames',onchange:event=>{app.setSeries(Number(event.target.value));this.render();}},\n"
    "...report.bars.map((each,i)=>el('option',{value:i,selected:each===series},`${each.name} on ${each.track.title} (${grouped(each.start.length)})`)));\n"
    "const rows=series.start.map((start,i)=>({i,start,duration:series.duration[i]}));\n"
    "const sorted=Float64Array.from(series.duration).sort(),n=sorted.length,at=share=>sorted[Math.max(0,Math.ceil(share*n)-1)];\n"
    "const low=sorted.slice(Math.floor(n*0.99)),mean=rows.reduce((sum,row)=>sum+row.duration,0)/n;\n"
    "const text=`${grouped(n)} frames, mean ${ns(mean)} (${(1e9 / mean).toFixed(1)} a second), p50 ${ns(at(0.5))}, p99 ${ns(at(0.99))}, longest ${ns(at(1))}; `+\n"
    "`the slowest 1 %: ${(1e9 / (low.reduce((sum, d) => sum + d, 0) / low.length)).toFixed(1)} a second`;\n"
    "return[el('div.bar-of-tools',{},select,el('span.note',{},text)),\n"
    "table([{title:'frame',get:row=>row.i+1},{title:'start',get:row=>row.start,show:row=>moment(row.start)},\n"
    "{title:'duration',get:row=>row.duration,show:row=>ns(row.duration)}],rows,\n"
    "{caption:'Frames',sort:2,memory:this.memoryOf('frames'),onpick:row=>app.zoomTo(row.start,row.start+row.duration,true)})];\n"
    "}\n"
    "messages(){\n"
    "const{app}=this,{selection}=app;\n"
    "const filter=el('input',{type:'search',placeholder:'Only with this text','aria-label':'Only messages with this text',value:this.wanted||''});\n"
    "const level=el('select',{'aria-label':'Severity'},...['all','marks','info and above','warnings and above','errors'].map((text,i)=>\n"
    "el('option',{value:i,selected:i===(this.least||0)},text)));\n"
    "const box=el('div.fill');\n"
    "const draw=()=>{\n"
    "const text=(this.wanted||'').toLowerCase(),least=this.least||0;\n"
    "const rows=app.report.messages.filter(message=>(!selection||(message.time>=selection.from&&message.time<selection.to))&&\n"
    "(!text||message.text.toLowerCase().includes(text))&&(least===0||(least===1?message.severity<0:message.severity>=least-1)));\n"
    "box.replaceChildren(table([{title:'time',get:row=>row.time,show:row=>moment(row.time)},\n"
    "{title:'severity',text:true,get:severityOf},{title:'thread',text:true,get:row=>row.track.title},\n"
    "{title:'text',text:true,get:row=>row.text+this.pointArgs(row)},{title:'category',text:true,get:row=>row.label.category},\n"
    "{title:'where',text:true,get:row=>where(row.label)}],rows,\n"
   ,
    "{caption:`${grouped(rows.length)} messages and marks${selection ? ' of the selection' : ''}`,sort:0,up:true,memory:this.memoryOf('messages'),\n"
    "onpick:row=>app.goTo(row.time,row.track)}));\n"
    "};\n"
    "filter.oninput=()=>{this.wanted=filter.value;draw();};\n"
    "level.onchange=()=>{this.least=Number(level.value);draw();};\n"
    "draw();\n"
    "return[el('div.bar-of-tools',{},level,filter),box];\n"
    "}\n"
    "pointArgs(message){\n"
    "const{points}=message.track;\n"
    "if(message.severity>=0||!points.args.count)return'';\n"
    "const args=this.app.report.argsOf(points.args,message.at);\n"
    "return args.length?' ('+args.map(([key,v])=>`${key}=${shown(v)}`).join(', ')+')':'';\n"
    "}\n"
    "spans(){\n"
    "const{app}=this,{report,selection}=app;\n"
    "const rows=report.spans.filter(span=>!selection||(span.start<selection.to&&span.start+span.duration>selection.from));\n"
    "return table([{title:'span',text:true,get:span=>report.labels[span.label].name+(span.mark?' (mark)':'')},\n"
    "{title:'start',get:span=>span.start,show:span=>moment(span.start)},{title:'duration',get:span=>span.duration,show:span=>span.mark?'':ns(span.duration)},\n"
    "{title:'id',get:span=>Number(span.id),show:span=>'0x'+span.id.toString(16)},\n"
    "{title:'from',text:true,get:span=>report.tracks[span.track].title},{title:'to',text:true,get:span=>report.tracks[span.endTrack].title},\n"
    "{title:'arguments',text:true,get:span=>span.args.map(([key,v])=>`${key}=${shown(v)}`).join(', ')},\n"
    "{title:'',text:true,get:span=>truncatedText(span.flags)}],rows,\n"
    "{caption:`${grouped(rows.length)} spans`,sort:2,memory:this.memoryOf('spans'),onpick:span=>app.zoomTo(span.start,span.start+span.duration,true)});\n"
    "}\n"
    "counters(){\n"
    "const rows=this.app.report.counters,show=(series,v)=>series.bytes?bytes(v):shown(v);\n"
    "return table([{title:'counter',text:true,get:s=>s.name},{title:'category',text:true,get:s=>s.category},\n"
    "{title:'samples',get:s=>s.time.length,show:s=>grouped(s.time.length)},{title:'min',get:s=>s.min,show:s=>show(s,s.min)},\n"
    "{title:'max',get:s=>s.max,show:s=>show(s,s.max)},\n"
    "{title:'last',get:s=>s.value[s.value.length-1]||0,show:s=>show(s,s.value[s.value.length-1])}],rows,{caption:'Counters',memory:this.memoryOf('counters'),up:true});\n"
    "}\n"
    "memory(){\n"
    "const parts=[];\n"
    "const tableOf=(first,rows,caption,key)=>table([...first,\n"
    "{title:'allocations',get:row=>row.count,show:row=>grouped(row.count)},{title:'bytes',get:row=>row.bytes,show:row=>bytes(row.bytes)},\n"
    "{title:'not freed',get:row=>row.liveCount,show:row=>grouped(row.liveCount)},{title:'bytes not freed',get:row=>row.liveBytes,show:row=>bytes(row.liveBytes)},\n"
    "{title:'peak',get:row=>row.peak,show:row=>bytes(row.peak)},{title:'where',text:true,get:row=>where(row.label)}],\n"
    "[...rows.values()],{caption,sort:first.length+1,memory:this.memoryOf(key)});\n"
    "for(const{memory,name}of this.app.report.processes){\n"
    "if(!memory)continue;\n"
    "parts.push(tableOf([{title:'site',text:true,get:row=>row.label.name||where(row.label)},{title:'pool',text:true,get:row=>row.label.category}],\n"
    "memory.sites,`Allocations of ${name} by site; ${grouped(memory.unknown)} frees of blocks from before`,'memory'));\n"
    "parts.push(tableOf([{title:'scope',text:true,get:row=>row.label.name}],memory.scopes,`Allocations of ${name} by the scope around them`,'memory by scope'));\n"
    "parts.push(table([{title:'allocated at',get:row=>row.time,show:row=>moment(row.time)},{title:'bytes',get:row=>row.size,show:row=>bytes(row.size)},\n"
    "{title:'address',text:true,get:row=>'0x'+row.address.toString(16)},{title:'site',text:true,get:row=>where(row.site.label)},\n"
    "{title:'thread',text:true,get:row=>row.track.title}],memory.leaks,\n"
    "{caption:`${grouped(memory.leaks.length)} blocks that were not freed`,sort:1,memory:this.memoryOf('leaks'),onpick:row=>this.app.goTo(row.time,row.track)}));\n"
    "}\n"
    "return parts;\n"
    "}\n"
    "locks(){\n"
    "const parts=[];\n"
    "for(const{locks,name}of this.app.report.processes){\n"
    "if(!locks)continue;\n"
   ,
    "parts.push(table([{title:'lock',text:true,get:row=>row.label.name},{title:'locks',get:row=>row.addresses.size},\n"
    "{title:'acquired',get:row=>row.acquired,show:row=>grouped(row.acquired)},{title:'contended',get:row=>row.contended,show:row=>grouped(row.contended)},\n"
    "{title:'waited',get:row=>row.wait,show:row=>ns(row.wait)},{title:'longest wait',get:row=>row.waitMax,show:row=>ns(row.waitMax)},\n"
    "{title:'held',get:row=>row.hold,show:row=>ns(row.hold)},{title:'longest hold',get:row=>row.holdMax,show:row=>ns(row.holdMax)},\n"
    "{title:'where',text:true,get:row=>where(row.label)}],[...locks.rows.values()],{caption:`Locks of ${name}`,sort:4,memory:this.memoryOf('locks')}));\n"
    "parts.push(table([{title:'at',get:row=>row.time,show:row=>moment(row.time)},{title:'waited',get:row=>row.took,show:row=>ns(row.took)},\n"
    "{title:'lock',text:true,get:row=>row.label.name},{title:'thread',text:true,get:row=>row.track.title},\n"
    "{title:'held by',text:true,get:row=>row.holder?row.holder.title:''}],locks.waits,\n"
    "{caption:'The longest waits',sort:1,memory:this.memoryOf('waits'),onpick:row=>this.app.zoomTo(row.time,row.time+row.took,true)}));\n"
    "}\n"
    "return parts;\n"
    "}\n"
    "about(){\n"
    "const{report}=this.app,parts=[];\n"
    "for(const process of report.processes){\n"
    "const about=key=>process.about.get(key)||'',number=key=>Number(about(key));\n"
    "const facts=[['program',about('program')],['process',about('pid')+(number('parent_pid')?`, child of ${about('parent_pid')}`:'')],\n"
    "['started',number('start_unix_ns')?new Date(number('start_unix_ns')/1e6).toISOString().replace('T',' '):''],\n"
    "['duration',ns(number('duration_ns'))],['events',grouped(number('events'))],['mode',about('mode')],\n"
    "['clock',`${about('clock')}, ${(number('tick_hz') / 1e6).toFixed(3)} MHz, smallest step ${ns(number('clock_resolution_ns'))}`],\n"
    "['recording cost',cost(process,report.to-report.from).text],['lost',number('lost')?grouped(number('lost'))+' events':'nothing'],...process.metadata];\n"
    "if(about('sources_missing'))facts.push(['source code',`lines of ${report.sources.size} files; ${about('sources_missing')} were not found${number('sources_limit') ? '; a limit left some out' : ''}`]);\n"
    "parts.push(el('table.facts',{},el('caption',{},process.name),...facts.map(([key,text])=>el('tr',{},el('th',{scope:'row'},key),el('td.text',{},text)))));\n"
    "parts.push(table([{title:'track',text:true,get:trackName},{title:'thread',get:t=>Number(t.thread)},\n"
    "{title:'kind',text:true,get:t=>t.device?'device '+t.device:t.fiber?'fiber':'thread'},\n"
    "{title:'scopes',get:t=>t.levels.reduce((sum,level)=>sum+level.count,0),show:t=>grouped(t.levels.reduce((sum,level)=>sum+level.count,0))},\n"
    "{title:'depth',get:t=>t.levels.length},{title:'other events',get:t=>t.points.count,show:t=>grouped(t.points.count)},\n"
    "{title:'lost',get:t=>t.lost,show:t=>grouped(t.lost)},\n"
    "{title:'clock',text:true,get:t=>['','aligned by pairs','aligned by rate','not aligned'][t.alignment]||''}],process.tracks,\n"
    "{caption:'Tracks',sort:3,memory:this.memoryOf('tracks')}));\n"
    "}\n"
    "if(report.losses.length)parts.push(table([{title:'at',get:l=>l.time,show:l=>moment(l.time)},{title:'lost',get:l=>l.lost,show:l=>grouped(l.lost)},\n"
    "{title:'track',text:true,get:l=>l.track.title}],report.losses,{caption:'Where events were lost',memory:this.memoryOf('losses'),onpick:l=>this.app.goTo(l.time,l.track)}));\n"
    "return parts;\n"
    "}\n"
    "}\n"
    "function flameBox(title,root,widthOf,show){\n"
    "const box=el('div.flame',{role:'group','aria-label':title}),boxes=[];\n"
    "const place=(node,left,width,depth)=>{\n"
    "if(width<0.0015||depth>60)return;\n"
    "if(node.up)boxes.push({node,left,width,depth});\n"
    "let x=left;\n"
    "for(const child of node.children){\n"
    "const share=widthOf(node)>0?width*Math.min(1,widthOf(child)/widthOf(node)):0;\n"
    "place(child,x,share,depth+(node.up?1:0));\n"
    "x+=share;\n"
    "}\n"
    "};\n"
    "place(root,0,1,0);\n"
    "for(const{node,left,width,depth}of boxes.slice(0,3000)){\n"
   ,
    "const{name,text,style,...more}=show(node);\n"
    "box.append(el('button',{title:text,'aria-label':text,style:{left:`${left * 100}%`,width:`${width * 100}%`,top:`${depth * 20}px`,...style},...more},\n"
    "width>0.02?name:''));\n"
    "}\n"
    "box.style.height=`${20 * (1 + Math.max(0, ...boxes.map(each => each.depth)))}px`;\n"
    "return box;\n"
    "}\n"
    "function along(root,path,key){\n"
    "for(const id of path||[]){\n"
    "const next=root.children.find(child=>child[key]===id);\n"
    "if(!next)break;\n"
    "root=next;\n"
    "}\n"
    "return root;\n"
    "}\n"
    "function zoomed(node,before,key){\n"
    "const path=[];\n"
    "for(let at=node;at.up;at=at.up)path.unshift(at[key]);\n"
    "return before&&path.join()===before.join()?path.slice(0,-1):path;\n"
    "}\n"
    "function where(label){return label.file?`${label.file.replace(/^.*[\\\\/]/, '')}:${label.line}`:'';}\n"
    "function frameOf(series,time){\n"
    "const i=firstIndex(series.start.length,k=>series.start[k]>time)-1;\n"
    "return i>=0&&time<series.start[i]+series.duration[i]?i+1:0;\n"
    "}\n"
    "const $=id=>document.getElementById(id);\n"
    "const kept={\n"
    "get(key){try{return localStorage.getItem('prof.'+key);}catch{return null;}},\n"
    "set(key,text){try{localStorage.setItem('prof.'+key,text);}catch{}}\n"
    "};\n"
    "class App{\n"
    "constructor(report){\n"
    "this.wheelZooms=kept.get('wheel')==='zoom';\n"
    "this.time=new TimeLine($('time'),this);\n"
    "this.take(report);\n"
    "this.listen();\n"
    "this.readFragment();\n"
    "this.panels.render();\n"
    "this.drawFrames();\n"
    "}\n"
    "take(report){\n"
    "this.report=report;\n"
    "this.view={from:report.from,to:report.to};\n"
    "this.selection=null;\n"
    "this.focus=null;\n"
    "this.mark=null;\n"
    "this.label=null;\n"
    "this.query='';\n"
    "this.hits=[];\n"
    "this.least=0;\n"
    "this.dim=null;\n"
    "this.closed=new Set();\n"
    "this.pinned=new Set();\n"
    "this.series=report.bars[0];\n"
    "this.order='';\n"
    "for(const process of report.processes){\n"
    "if(process.counters.length>6)this.closed.add(`p${process.id}Counters`);\n"
    "if(process.spanGroups.length>8)this.closed.add(`p${process.id}Spans`);\n"
    "this.closed.add(`p${process.id}Locks`);\n"
    "}\n"
    "this.theme(kept.get('theme'));\n"
    "if(this.panels)this.panels.close();\n"
    "this.panels=new Panels(this,$('tabs'),$('panel'));\n"
    "this.head();\n"
    "}\n"
    "async against(file){\n"
    "if(this.reading)return;\n"
    "this.reading=true;\n"
    "this.say(`Reading ${file.name}\\u2026`);\n"
    "try{\n"
    "const name=file.name.replace(/\\.[^.]*$/,''),head=await file.slice(0,100).text(),pieces=/^<!doctype html>/i.test(head)?piecesIn(await file.text()):[];\n"
    "if(!pieces.length)throw new Error(`it is no report that prof made. Of a recording, make a report first: prof export ${name}.prof -o ${name}.html`);\n"
    "const other=finish(await readReport(pieces)),first=this.report.processes.length;\n"
    "if(other.damage||!other.processes.length)throw new Error(`it is damaged: ${other.damage || 'it has no recording'}`);\n"
    "for(const process of other.processes)process.file=file.name;\n"
    "this.take(finish(joined(this.report,other)));\n"
    "$('search').value=$('hits').textContent='';\n"
    "this.panels.comparison.pair=[0,first];\n"
    "this.panels.open('compare');\n"
    "this.drawFrames();\n"
    "$('said').hidden=true;\n"
    "$('live').textContent=`Compared with ${file.name}`;\n"
    "}catch(error){\n"
    "this.say(`${file.name} cannot be compared: ${error.message}`);\n"
    "}\n"
    "this.reading=false;\n"
    "}\n"
    "say(text){\n"
    "$('said').hidden=false;\n"
    "$('said').replaceChildren(text+' ',el('button',{onclick:()=>{$('said').hidden=true;}},'Close'));\n"
    "$('live').textContent=text;\n"
    "}\n"
    "listenToFiles(){\n"
    "const mark=event=>{\n"
    "const files=event.type==='dragover'&&event.dataTransfer.types.includes('Files');\n"
    "if(files)event.preventDefault();\n"
    "document.body.classList.toggle('dropping',files);\n"
    "};\n"
    "document.ondragover=document.ondragleave=mark;\n"
    "document.ondrop=event=>{\n"
    "mark(event);\n"
    "const[file]=event.dataTransfer.files;\n"
    "if(!file)return;\n"
    "event.preventDefault();\n"
    "this.against(file);\n"
    "};\n"
    "$('against').onclick=()=>$('file').click();\n"
    "$('file').onchange=()=>{\n"
    "const[file]=$('file').files;\n"
    "if(file)this.against(file);\n"
    "$('file').value='';\n"
    "};\n"
    "}\n"
    "head(){\n"
   ,
    "const{report}=this,names=[...new Set(report.processes.map(process=>process.about.get('program')))].join(', ');\n"
    "document.title=`${report.title || names || 'report'} - prof`;\n"
    "$('title').textContent=report.title||names;\n"
    "const tracks=report.tracks.filter(track=>track.levels.length).length;\n"
    "$('facts').textContent=`${ns(report.to - report.from)}, ${grouped(report.all ? report.all.reduce((sum, row) => sum + row.calls, 0) : report.scopes)} scopes on ${tracks} track${tracks === 1 ? '' : 's'}`;\n"
    "const lines=warnings(report);\n"
    "$('warnings').hidden=!lines.length;\n"
    "$('warnings').replaceChildren(el('strong',{},lines.length===1?'Note: ':`${lines.length} notes: `),lines[0]||'',\n"
    "lines.length>1?el('details',{},el('summary',{},'all'),...lines.slice(1).map(line=>el('p',{},line))):null);\n"
    "if(lines.length<2&&lines.length)$('warnings').replaceChildren(el('strong',{},'Note: '),lines[0]);\n"
    "for(const{from,to}of report.windows.slice(0,1))$('warnings').append(' ',el('button',{onclick:()=>this.setView(from,to)},'Show this window'));\n"
    "$('frames').hidden=!this.series;\n"
    "}\n"
    "theme(name){\n"
    "const root=document.documentElement;\n"
    "if(name)root.dataset.theme=name;else delete root.dataset.theme;\n"
    "const computed=getComputedStyle(root),get=key=>computed.getPropertyValue('--'+key).trim();\n"
    "this.style=Object.fromEntries(['background','gutter','head','group','line','grid','ink','faint','shade','accent','onaccent',\n"
    "'counter','mark','warn','bad','good','flow'].map(key=>[key,get(key)]));\n"
    "this.dark=get('scheme')==='dark';\n"
    "colorLabels(this.report.labels,this.dark);\n"
    "this.paint();\n"
    "}\n"
    "paint(){\n"
    "const rgb=key=>/^#(..)(..)(..)$/.exec(this.style[key]).slice(1).map(part=>parseInt(part,16));\n"
    "this.colors={...nodeColors(this.report,rgb('background'),this.dim),background:abgr(rgb('background')),grid:abgr(rgb('grid'))};\n"
    "this.time.redraw();\n"
    "}\n"
    "setSeries(i){\n"
    "this.series=this.report.bars[i];\n"
    "this.drawFrames();\n"
    "}\n"
    "drawFrames(svg){\n"
    "if(!this.series)return;\n"
    "const canvas=$('frames'),ratio=window.devicePixelRatio||1,width=canvas.clientWidth,height=canvas.clientHeight;\n"
    "if(!svg)Object.assign(canvas,{width:Math.round(width*ratio),height:Math.round(height*ratio)});\n"
    "const ctx=svg||canvas.getContext('2d'),{start,duration}=this.series,n=start.length;\n"
    "ctx.setTransform(ratio,0,0,ratio,0,0);\n"
    "const sorted=Float64Array.from(duration).sort(),high=Math.min(sorted[n-1],sorted[Math.floor(n*0.95)]*2.5)||1;\n"
    "const budgets=[1e9/60,1e9/30],median=sorted[n>>1];\n"
    "const game=median>1e6&&median<5e7,limits=game?[budgets[0]*1.02,budgets[1]*1.02]:[median*1.5,median*3];\n"
    "const bar=Math.min(12,(width-GUTTER)/n);\n"
    "this.frameBar=bar;\n"
    "for(let i=0;i<n;){\n"
    "const x=GUTTER+i*bar,next=bar>=1?i+1:Math.max(i+1,Math.ceil((Math.floor(x)+1-GUTTER)/bar));\n"
    "let longest=0,shownToo=false;\n"
    "for(let k=i;k<Math.min(n,next);k++){\n"
    "longest=Math.max(longest,duration[k]);\n"
    "shownToo=shownToo||(start[k]<this.view.to&&start[k]+duration[k]>this.view.from);\n"
    "}\n"
    "ctx.fillStyle=longest>limits[1]?this.style.bad:longest>limits[0]?this.style.warn:this.style.good;\n"
    "ctx.globalAlpha=shownToo?1:0.45;\n"
    "const tall=Math.max(1,Math.min(1,longest/high)*(height-4));\n"
    "ctx.fillRect(x,height-tall,Math.max(1,bar-(bar>3?1:0)),tall);\n"
    "i=next;\n"
    "}\n"
    "ctx.globalAlpha=1;\n"
    "ctx.fillStyle=this.style.faint;\n"
    "ctx.font='11px system-ui, sans-serif';\n"
    "for(const limit of game?budgets:[median]){\n"
    "const y=height-limit/high*(height-4);\n"
    "if(y>2)ctx.fillRect(GUTTER,y,width,1);\n"
    "}\n"
    "ctx.textBaseline='top';\n"
    "ctx.fillStyle=this.style.ink;\n"
    "ctx.fillText(`${this.report.frames.length ? 'Frames' : 'Steps'}: ${this.series.name}`,8,6);\n"
    "ctx.fillStyle=this.style.faint;\n"
    "ctx.fillText(`${grouped(n)}, median ${ns(median)}`,8,22);\n"
    "ctx.fillText(game?'lines: 60 and 30 a second':'line: the median',8,37);\n"
    "}\n"
    "frameAt(x){\n"
    "const i=Math.floor((x-GUTTER)/this.frameBar);\n"
    "return i>=0&&i<this.series.start.length?i:-1;\n"
    "}\n"
    "setView(from,to){\n"
   ,
    "const{report}=this,all=report.to-report.from,length=Math.max(10,Math.min(to-from,all*1.1));\n"
    "const middle=(from+to)/2,edge=all*0.05;\n"
    "from=Math.max(report.from-edge,Math.min(middle-length/2,report.to+edge-length));\n"
    "this.view={from,to:from+length};\n"
    "this.time.redraw();\n"
    "if(this.series)this.drawFramesSoon();\n"
    "this.share();\n"
    "}\n"
    "drawFramesSoon(){\n"
    "if(this.framesWait)return;\n"
    "this.framesWait=requestAnimationFrame(()=>{\n"
    "this.framesWait=0;\n"
    "this.drawFrames();\n"
    "});\n"
    "}\n"
    "zoom(factor,at=(this.view.from+this.view.to)/2){\n"
    "const{from,to}=this.view;\n"
    "this.setView(at-(at-from)*factor,at+(to-at)*factor);\n"
    "}\n"
    "pan(share){\n"
    "const by=(this.view.to-this.view.from)*share;\n"
    "this.setView(this.view.from+by,this.view.to+by);\n"
    "}\n"
    "zoomTo(from,to,select){\n"
    "const margin=Math.max(20,(to-from)*0.06);\n"
    "this.setView(from-margin,to+margin);\n"
    "if(select)this.select(from,to);\n"
    "}\n"
    "select(from,to){\n"
    "this.selection=to>from?{from,to}:null;\n"
    "this.time.redraw();\n"
    "this.panels.refresh();\n"
    "this.share();\n"
    "}\n"
    "goTo(time,track){\n"
    "const length=Math.min(this.view.to-this.view.from,(this.report.to-this.report.from)/20);\n"
    "this.mark=time;\n"
    "if(track)this.time.reveal(track,0);\n"
    "this.setView(time-length/2,time+length/2);\n"
    "}\n"
    "setFocus(scope,label=true){\n"
    "this.focus=scope;\n"
    "if(scope){\n"
    "const level=scope.track.levels[scope.depth],name=this.nameOf(scope);\n"
    "if(label)this.label=this.labelOf(scope);\n"
    "this.panels.bucket=null;\n"
    "$('live').textContent=`${name.name}, ${ns(level.durationOf(scope.i))}, at ${moment(level.start[scope.i])}, ${scope.track.title}, depth ${scope.depth + 1}`;\n"
    "if(label&&this.panels.tab==='scope')this.panels.refresh();\n"
    "}\n"
    "this.time.redraw();\n"
    "this.share();\n"
    "}\n"
    "labelOf({track,depth,i}){return this.report.labels[this.report.nodes.label[track.levels[depth].node[i]]];}\n"
    "nameOf(scope){return this.labelOf(scope);}\n"
    "show(scope){\n"
    "const level=scope.track.levels[scope.depth],start=level.start[scope.i],duration=level.durationOf(scope.i);\n"
    "const length=this.view.to-this.view.from;\n"
    "this.setFocus(scope,true);\n"
    "if(duration<length/60||duration>length){\n"
    "const wide=Math.max(duration*8,100);\n"
    "this.setView(start+duration/2-wide/2,start+duration/2+wide/2);\n"
    "}else if(start<this.view.from||start+duration>this.view.to){\n"
    "this.setView(start+duration/2-length/2,start+duration/2+length/2);\n"
    "}\n"
    "this.time.reveal(scope.track,scope.depth);\n"
    "this.time.redraw();\n"
    "}\n"
    "svg(){\n"
    "const time=$('time'),frames=$('frames'),above=this.series?frames.clientHeight:0,measure=document.createElement('canvas').getContext('2d');\n"
    "const svg=new Svg(time.clientWidth,time.clientHeight+above,measure),{root}=svg;\n"
    "svg.fillStyle=this.style.background;\n"
    "svg.fillRect(0,0,time.clientWidth,time.clientHeight+above);\n"
    "if(above)this.drawFrames(svg);\n"
    "svg.root=svg.place=svg.add(root,'g',{transform:`translate(0 ${above})`});\n"
    "this.time.draw(svg);\n"
    "svg.root=root;\n"
    "return svg.text();\n"
    "}\n"
    "png(){\n"
    "const time=$('time'),frames=$('frames'),above=this.series?frames.height:0,canvas=el('canvas',{width:time.width,height:time.height+above});\n"
    "const ctx=canvas.getContext('2d');\n"
    "this.time.draw();\n"
    "ctx.fillStyle=this.style.background;\n"
    "ctx.fillRect(0,0,canvas.width,above);\n"
    "if(above)ctx.drawImage(frames,0,0);\n"
    "ctx.drawImage(time,0,above);\n"
    "return new Promise(done=>canvas.toBlob(done));\n"
    "}\n"
    "listenToPictures(){\n"
    "const name=()=>document.title.replace(/ - prof$/,'').replace(/[^\\w.-]+/g,'_')||'report',save=(text,what)=>download(new Blob([text],{type:'image/svg+xml'}),`${name()}${what}.svg`);\n"
    "const flame=()=>document.querySelector('.flame');\n"
    "$('picture').onclick=()=>{\n"
    "$('save-flame').disabled=!flame();\n"
    "$('pictures').showModal();\n"
    "};\n"
    "$('save-png').onclick=async()=>download(await this.png(),name()+'.png');\n"
    "$('save-svg').onclick=()=>save(this.svg(),'');\n"
    "$('save-flame').onclick=()=>save(flamePicture(flame(),document.createElement('canvas').getContext('2d'),this.style),'-flame');\n"
   ,
    "$('copy-address').onclick=()=>navigator.clipboard.writeText(location.href).then(()=>{$('copy-address').textContent='Copied';});\n"
    "}\n"
    "step(direction){\n"
    "const{focus}=this;\n"
    "if(!focus)return this.first();\n"
    "const{track,depth,i}=focus,level=track.levels[depth],last=depth+1<track.levels.length?track.levels[depth+1]:null;\n"
    "if(direction==='ArrowRight'&&i+1<level.count)this.show({track,depth,i:i+1});\n"
    "if(direction==='ArrowLeft'&&i>0)this.show({track,depth,i:i-1});\n"
    "if(direction==='ArrowUp'&&depth>0){\n"
    "const up=scopeAt(track.levels[depth-1],level.start[i]);\n"
    "if(up>=0)this.show({track,depth:depth-1,i:up});\n"
    "}\n"
    "if(direction==='ArrowDown'&&last){\n"
    "const child=firstIndex(last.count,k=>last.start[k]>=level.start[i]);\n"
    "if(child<last.count&&last.start[child]<level.endOf(i))this.show({track,depth:depth+1,i:child});\n"
    "}\n"
    "}\n"
    "first(){\n"
    "const track=this.report.tracks.find(each=>each.levels.length);\n"
    "if(!track)return;\n"
    "const level=track.levels[0],i=Math.min(level.count-1,firstIndex(level.count,k=>level.start[k]>=this.view.from));\n"
    "this.setFocus({track,depth:0,i});\n"
    "}\n"
    "sameName(step){\n"
    "const{focus,report}=this;\n"
    "if(!focus)return this.first();\n"
    "const label=this.labelOf(focus).id,{track}=focus,now=track.levels[focus.depth].start[focus.i];\n"
    "let best=null;\n"
    "track.levels.forEach((level,depth)=>{\n"
    "for(let i=depth===focus.depth?focus.i+step:step>0?firstIndex(level.count,k=>level.start[k]>now):firstIndex(level.count,k=>level.start[k]>=now)-1;\n"
    "i>=0&&i<level.count;i+=step){\n"
    "if(report.nodes.label[level.node[i]]!==label)continue;\n"
    "if(!best||(level.start[i]-best.start)*step<0)best={track,depth,i,start:level.start[i]};\n"
    "break;\n"
    "}\n"
    "});\n"
    "if(best)this.show(best);\n"
    "}\n"
    "search(text){\n"
    "const query=parseQuery(text);\n"
    "this.query=query.empty?'':text.trim();\n"
    "const byLabel=query.names.length+query.categories.length>0;\n"
    "this.dim=byLabel?label=>!labelMatches(query,label):null;\n"
    "this.least=query.least;\n"
    "this.hits=query.empty?[]:findScopes(this.report,query);\n"
    "$('hits').textContent=query.empty?'':`${grouped(this.hits.length)}${this.hits.more ? '+' : ''}`;\n"
    "this.hit=-1;\n"
    "this.paint();\n"
    "if(!query.empty&&this.panels.tab!=='scopes')this.panels.open('found');else this.panels.refresh();\n"
    "if(query.empty&&this.panels.tab==='found')this.panels.open('scopes');\n"
    "this.share();\n"
    "}\n"
    "nextHit(step){\n"
    "if(!this.hits.length)return;\n"
    "this.hit=(this.hit+step+this.hits.length)%this.hits.length;\n"
    "this.show(this.hits[this.hit]);\n"
    "}\n"
    "share(){\n"
    "clearTimeout(this.shareTimer);\n"
    "this.shareTimer=setTimeout(()=>{\n"
    "const{view,selection,focus}=this,parts=[`v=${Math.round(view.from)}-${Math.round(view.to)}`];\n"
    "if(selection)parts.push(`s=${Math.round(selection.from)}-${Math.round(selection.to)}`);\n"
    "if(focus)parts.push(`f=${focus.track.id}.${focus.depth}.${focus.i}`);\n"
    "if(this.query)parts.push('q='+encodeURIComponent(this.query));\n"
    "if(this.order)parts.push('o='+this.order);\n"
    "if(this.panels.tab!=='scopes')parts.push('t='+this.panels.tab);\n"
    "this.fragment='#'+parts.join('&');\n"
    "try{history.replaceState(null,'',this.fragment);}catch{}\n"
    "},250);\n"
    "}\n"
    "readFragment(){\n"
    "const parts=Object.fromEntries(location.hash.slice(1).split('&').map(part=>part.split('=')).filter(pair=>pair.length===2));\n"
    "const range=text=>{\n"
    "const match=/^(-?\\d+)-(\\d+)$/.exec(text||'');\n"
    "return match&&Number(match[2])>Number(match[1])?[Number(match[1]),Number(match[2])]:null;\n"
    "};\n"
    "const view=range(parts.v),selection=range(parts.s),focus=/^(\\d+)\\.(\\d+)\\.(\\d+)$/.exec(parts.f||'');\n"
    "if(focus){\n"
    "const[track,depth,i]=focus.slice(1).map(Number),level=this.report.tracks[track]&&this.report.tracks[track].levels[depth];\n"
    "if(level&&i<level.count)this.setFocus({track:this.report.tracks[track],depth,i});\n"
    "}\n"
    "if(parts.q){\n"
    "try{$('search').value=decodeURIComponent(parts.q);}catch{}\n"
    "this.search($('search').value);\n"
    "}\n"
    "if(/^(name|busy)$/.test(parts.o))this.order=parts.o;\n"
    "if(parts.t)this.panels.open(parts.t);\n"
    "if(selection)this.select(...selection);\n"
   ,
    "if(view)this.setView(...view);\n"
    "}\n"
    "listen(){\n"
    "const canvas=$('time');\n"
    "new ResizeObserver(()=>{this.time.redraw();this.drawFrames();}).observe(document.querySelector('main'));\n"
    "canvas.onwheel=event=>this.wheel(event);\n"
    "canvas.onpointerdown=event=>this.press(event);\n"
    "canvas.onpointermove=event=>this.hover(event);\n"
    "canvas.onpointerleave=()=>{$('tip').hidden=true;};\n"
    "canvas.ondblclick=event=>{\n"
    "const{scope,span}=this.time.at(event.offsetX,event.offsetY);\n"
    "if(scope)this.zoomTo(scope.track.levels[scope.depth].start[scope.i],scope.track.levels[scope.depth].endOf(scope.i));\n"
    "else if(span)this.zoomTo(span.start,span.start+span.duration);\n"
    "};\n"
    "const frames=$('frames');\n"
    "frames.onpointermove=event=>{\n"
    "const i=this.frameAt(event.offsetX);\n"
    "if(i<0){$('tip').hidden=true;return;}\n"
    "this.tip(event,[`Frame ${i + 1}`,ns(this.series.duration[i])]);\n"
    "};\n"
    "frames.onpointerleave=()=>{$('tip').hidden=true;};\n"
    "frames.onclick=event=>{\n"
    "const i=this.frameAt(event.offsetX);\n"
    "if(i>=0)this.zoomTo(this.series.start[i],this.series.start[i]+this.series.duration[i],true);\n"
    "};\n"
    "frames.onkeydown=event=>{\n"
    "const step=event.key==='ArrowRight'?1:event.key==='ArrowLeft'?-1:0;\n"
    "if(!step)return;\n"
    "event.stopPropagation();\n"
    "const{start,duration}=this.series,now=frameOf(this.series,(this.view.from+this.view.to)/2)-1;\n"
    "const i=Math.max(0,Math.min(start.length-1,now<0?0:now+step));\n"
    "this.zoomTo(start[i],start[i]+duration[i],true);\n"
    "$('live').textContent=`Frame ${i + 1}, ${ns(duration[i])}`;\n"
    "};\n"
    "$('search').oninput=()=>{clearTimeout(this.searchTimer);this.searchTimer=setTimeout(()=>this.search($('search').value),150);};\n"
    "$('search').onkeydown=event=>{\n"
    "if(event.key==='Enter')this.nextHit(event.shiftKey?-1:1);\n"
    "if(event.key==='Escape'){$('search').value='';this.search('');canvas.focus();}\n"
    "event.stopPropagation();\n"
    "};\n"
    "$('theme').onclick=()=>{\n"
    "const next=this.dark?'light':'dark';\n"
    "kept.set('theme',next);\n"
    "this.theme(next);\n"
    "this.panels.render();\n"
    "this.drawFrames();\n"
    "};\n"
    "$('help').onclick=()=>$('keys').showModal();\n"
    "$('wheel').checked=this.wheelZooms;\n"
    "$('wheel').onchange=()=>{this.wheelZooms=$('wheel').checked;kept.set('wheel',this.wheelZooms?'zoom':'scroll');};\n"
    "this.listenToBar();\n"
    "this.listenToFiles();\n"
    "this.listenToPictures();\n"
    "window.matchMedia('(prefers-color-scheme: dark)').onchange=()=>{if(!kept.get('theme')){this.theme(null);this.panels.render();this.drawFrames();}};\n"
    "window.onhashchange=()=>{if(location.hash!==this.fragment)this.readFragment();};\n"
    "document.onkeydown=event=>this.key(event);\n"
    "}\n"
    "listenToBar(){\n"
    "const bar=$('bar'),lower=$('lower');\n"
    "const resize=height=>{\n"
    "const most=document.body.clientHeight-180;\n"
    "lower.style.height=`${Math.max(60, Math.min(most, height))}px`;\n"
    "};\n"
    "bar.onpointerdown=event=>{\n"
    "bar.setPointerCapture(event.pointerId);\n"
    "const from=event.clientY,height=lower.clientHeight;\n"
    "bar.onpointermove=move=>resize(height+from-move.clientY);\n"
    "bar.onpointerup=()=>{bar.onpointermove=null;};\n"
    "};\n"
    "bar.onkeydown=event=>{\n"
    "const step=event.key==='ArrowUp'?24:event.key==='ArrowDown'?-24:0;\n"
    "if(!step)return;\n"
    "event.stopPropagation();\n"
    "event.preventDefault();\n"
    "resize(lower.clientHeight+step);\n"
    "};\n"
    "}\n"
    "wheel(event){\n"
    "event.preventDefault();\n"
    "const line=event.deltaMode===1?18:1,dy=event.deltaY*line,dx=event.deltaX*line;\n"
    "const zooms=event.ctrlKey||event.metaKey?!this.wheelZooms||event.ctrlKey:this.wheelZooms&&!event.shiftKey;\n"
    "if(zooms){\n"
    "this.zoom(Math.exp(Math.max(-60,Math.min(60,dy))*0.008),this.time.time(Math.max(GUTTER,event.offsetX)));\n"
    "}else if(event.shiftKey||Math.abs(dx)>Math.abs(dy)){\n"
    "this.pan((Math.abs(dx)>Math.abs(dy)?dx:dy)/(event.target.clientWidth-GUTTER));\n"
    "}else{\n"
    "this.time.scroll+=dy;\n"
    "this.time.redraw();\n"
    "}\n"
    "}\n"
    "press(event){\n"
    "const canvas=$('time'),x=event.offsetX,y=event.offsetY,place=this.time.at(x,y);\n"
    "canvas.focus();\n"
    "if(event.button!==0&&event.button!==1)return;\n"
    "if(place.area==='gutter')return this.pressGutter(place);\n"
   ,
    "const began={view:{...this.view},scroll:this.time.scroll,time:this.time.time(x)},pan=event.shiftKey||event.button===1;\n"
    "let moved=false;\n"
    "canvas.setPointerCapture(event.pointerId);\n"
    "$('tip').hidden=true;\n"
    "canvas.onpointermove=move=>{\n"
    "if(!moved&&Math.hypot(move.offsetX-x,move.offsetY-y)<4)return;\n"
    "moved=true;\n"
    "if(pan){\n"
    "const by=(x-move.offsetX)/this.time.scale;\n"
    "this.time.scroll=began.scroll+y-move.offsetY;\n"
    "this.setView(began.view.from+by,began.view.to+by);\n"
    "}else{\n"
    "const now=this.time.time(Math.max(GUTTER,move.offsetX));\n"
    "this.select(Math.min(now,began.time),Math.max(now,began.time));\n"
    "}\n"
    "};\n"
    "canvas.onpointerup=()=>{\n"
    "canvas.onpointermove=hover=>this.hover(hover);\n"
    "canvas.onpointerup=null;\n"
    "if(!moved)this.click(place);\n"
    "};\n"
    "}\n"
    "pressGutter({row,pin}){\n"
    "const set=pin?this.pinned:this.closed;\n"
    "if(!pin&&!row.fold)return;\n"
    "if(set.has(row.key))set.delete(row.key);else set.add(row.key);\n"
    "this.time.redraw();\n"
    "}\n"
    "toggle(set){\n"
    "if(!this.focus)return;\n"
    "const{track}=this.focus,key='t'+track.id,on=!set.delete(key);\n"
    "if(on)set.add(key);\n"
    "$('live').textContent=`${track.title}: ${set === this.pinned ? on ? 'pinned' : 'no longer pinned' : on ? 'folded' : 'unfolded'}`;\n"
    "this.time.redraw();\n"
    "}\n"
    "nextOrder(){\n"
    "const orders={'':'as recorded',name:'by name',busy:'by time in scopes'},ids=Object.keys(orders);\n"
    "this.order=ids[(ids.indexOf(this.order)+1)%ids.length];\n"
    "$('live').textContent=`Rows: ${orders[this.order]}`;\n"
    "this.time.redraw();\n"
    "this.share();\n"
    "}\n"
    "click({area,scope,mark,span,hold,time}){\n"
    "if(scope){\n"
    "this.setFocus(scope);\n"
    "if(this.panels.tab!=='scope')this.panels.open('scope');\n"
    "}else if(mark){\n"
    "this.goTo(mark.time);\n"
    "}else if(span||hold){\n"
    "this.select((span||hold).start,(span||hold).start+(span||hold).duration);\n"
    "}else if(area==='ruler'){\n"
    "this.mark=time===undefined?null:time;\n"
    "}else{\n"
    "this.setFocus(null);\n"
    "if(this.selection)this.select(0,0);\n"
    "}\n"
    "}\n"
    "hover(event){\n"
    "const place=this.time.at(event.offsetX,event.offsetY),key=place.area==='gutter'?place.row.key:null;\n"
    "if(key!==this.time.hovered){\n"
    "this.time.hovered=key;\n"
    "this.time.redraw();\n"
    "}\n"
    "const lines=this.describe(place);\n"
    "if(lines)this.tip(event,lines);else $('tip').hidden=true;\n"
    "}\n"
    "describe({area,row,scope,mark,span,hold,sample,pin}){\n"
    "const{report}=this;\n"
    "if(area==='gutter')return pin?['Pin this row to the top']:row.track?[row.title,`thread ${row.track.thread}`]:null;\n"
    "if(scope){\n"
    "const level=scope.track.levels[scope.depth],label=this.labelOf(scope),flags=level.flags.get(scope.i)||0;\n"
    "return[label.name,ns(level.durationOf(scope.i)),`at ${moment(level.start[scope.i])}`,[label.category,where(label)].filter(Boolean).join(' \\u00b7 '),\n"
    "...report.argsOf(level.args,scope.i).slice(0,12).map(([k,v])=>`${k} = ${shown(v)}`),truncatedText(flags)];\n"
    "}\n"
    "if(mark)return[mark.text||mark.label.name,`at ${moment(mark.time)}`,where(mark.label)];\n"
    "if(span)return[report.labels[span.label].name,ns(span.duration),`at ${moment(span.start)}`,`id 0x${span.id.toString(16)}`,...span.args.slice(0,12).map(([k,v])=>`${k} = ${shown(v)}`)];\n"
    "if(hold)return[row.title,`held for ${ns(hold.duration)}`,`by ${hold.track.title}`];\n"
    "if(sample)return[row.title,(row.series.bytes?bytes:shown)(sample.value),`at ${moment(sample.time)}`];\n"
    "return null;\n"
    "}\n"
    "tip(event,lines){\n"
    "const tip=$('tip'),[title,second,...more]=lines;\n"
    "tip.replaceChildren(el('b',{},title),el('span',{},second||''),...more.filter(Boolean).map(line=>el('div',{},line)));\n"
    "tip.hidden=false;\n"
    "const box=tip.getBoundingClientRect();\n"
    "tip.style.left=`${Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 6))}px`;\n"
    "tip.style.top=`${event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 18}px`;\n"
    "}\n"
    "key(event){\n"
    "if(event.ctrlKey||event.metaKey||event.altKey||$('keys').open||$('pictures').open)return;\n"
    "if(/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName))return;\n"
   ,
    "const inPanel=event.target.closest('#lower, button, summary'),{view,selection}=this;\n"
    "const actions={\n"
    "w:()=>this.zoom(0.8),s:()=>this.zoom(1.25),a:()=>this.pan(-0.12),d:()=>this.pan(0.12),\n"
    "f:()=>{\n"
    "if(selection)this.zoomTo(selection.from,selection.to);\n"
    "else if(this.focus)this.zoomTo(this.focus.track.levels[this.focus.depth].start[this.focus.i],this.focus.track.levels[this.focus.depth].endOf(this.focus.i));\n"
    "},\n"
    "0:()=>this.setView(this.report.from,this.report.to),Home:()=>this.setView(this.report.from,this.report.to),\n"
    "m:()=>{\n"
    "if(!this.focus)return this.select(view.from,view.to);\n"
    "const level=this.focus.track.levels[this.focus.depth];\n"
    "this.select(level.start[this.focus.i],level.endOf(this.focus.i));\n"
    "},\n"
    "'/':()=>$('search').focus(),'?':()=>$('keys').showModal(),'[':()=>this.sameName(-1),']':()=>this.sameName(1),\n"
    "c:()=>this.toggle(this.closed),o:()=>this.toggle(this.pinned),t:()=>this.nextOrder(),p:()=>$('picture').click(),\n"
    "n:()=>this.nextHit(1),N:()=>this.nextHit(-1),\n"
    "Escape:()=>{if(this.selection)this.select(0,0);else this.setFocus(null);},\n"
    "Enter:()=>{if(this.focus)this.panels.open('scope');}\n"
    "};\n"
    "for(const arrow of['ArrowLeft','ArrowRight','ArrowUp','ArrowDown'])actions[arrow]=()=>this.step(arrow);\n"
    "const action=actions[event.key]||actions[event.key.toLowerCase()];\n"
    "if(!action||(inPanel&&/^(Arrow|Enter|Home)/.test(event.key)))return;\n"
    "event.preventDefault();\n"
    "action();\n"
    "}\n"
    "}\n"
    "function*pieces(){\n"
    "for(const element of document.querySelectorAll('script[type=\"application/octet-stream\"]')){\n"
    "const text=element.textContent;\n"
    "element.remove();\n"
    "yield text;\n"
    "}\n"
    "}\n"
    "async function start(){\n"
    "const began=performance.now();\n"
    "try{\n"
    "if(typeof DecompressionStream==='undefined')throw new Error('This browser is too old: it needs Chrome 103, Firefox 113 or Safari 16.4.');\n"
    "const report=finish(await readReport(pieces()));\n"
    "const app=new App(report);\n"
    "$('loading').hidden=true;\n"
    "document.documentElement.dataset.ready=String(Math.round(performance.now()-began));\n"
    "globalThis.prof=app;\n"
    "}catch(error){\n"
    "$('loading').textContent=`This report cannot be shown. ${error.message}`;\n"
    "document.documentElement.dataset.ready='failed';\n"
    "throw error;\n"
    "}\n"
    "}\n"
    "if(document.readyState==='loading')document.addEventListener('DOMContentLoaded',start);else start();\n"
    "})();\n"
    "</script>\n"
   ,
    NULL};

/* What the page has besides where prof_server.h serves it. */
static PROF__UNUSED const char *const prof__html_live[] = {
    "const KEPT=30e9,MOST=2e6;\n"
    "class Messages{\n"
    "constructor(){this.rest=new Uint8Array(0);}\n"
    "take(more){\n"
    "const bytes=new Uint8Array(this.rest.length+more.length),done=[];\n"
    "bytes.set(this.rest);\n"
    "bytes.set(more,this.rest.length);\n"
    "let at=0;\n"
    "for(;;){\n"
    "const r=new Reader(bytes,at);\n"
    "let kind,size;\n"
    "try{\n"
    "kind=r.byte();\n"
    "size=r.index(LONGEST,'block of size');\n"
    "if(r.u())throw new Damage('a message is packed');\n"
    "}catch(error){\n"
    "if(bytes.length-at>12)throw error;\n"
    "break;\n"
    "}\n"
    "if(size>r.end-r.at)break;\n"
    "at=r.at+size;\n"
    "const message=this.block(String.fromCharCode(kind),bytes.subarray(r.at,at));\n"
    "if(message)done.push(message);\n"
    "}\n"
    "this.rest=bytes.slice(at);\n"
    "return done;\n"
    "}\n"
    "block(kind,bytes){\n"
    "const r=new Reader(bytes,0);\n"
    "if(kind==='L'){\n"
    "r.u();\n"
    "this.about=new Map();\n"
    "while(!r.done)this.about.set(r.text(),r.text());\n"
    "this.decoder=new Decoder();\n"
    "this.tracks=[];\n"
    "return this.about.has('from_ns')?null:{about:this.about,report:null};\n"
    "}\n"
    "if(!this.decoder)throw new Damage('the data do not begin as they should');\n"
    "if(kind==='I'){\n"
    "r.u();\n"
    "while(!r.done)this.tracks.push(r.u());\n"
    "return null;\n"
    "}\n"
    "this.decoder.take({kind},bytes);\n"
    "return kind==='Z'?{about:this.about,report:this.decoder.close(),tracks:this.tracks}:null;\n"
    "}\n"
    "}\n"
    "function addArgs(to,from,by,skip,part){\n"
    "for(let i=0;i<from.count;i++){\n"
    "const index=from.index[i]+by;\n"
    "if(from.index[i]<skip)continue;\n"
    "if(!to.count||to.index.items[to.count-1]!==index)to.index.put(to.count++,index);\n"
    "to.place.put(to.count-1,from.place[i]+part.block*LONGEST);\n"
    "}\n"
    "}\n"
    "function levelOf(parts,depth){\n"
    "const level=new Level(),mine=parts.filter(({track})=>track.levels[depth]);\n"
    "level.grow(mine.reduce((sum,{track})=>sum+track.levels[depth].count,8));\n"
    "for(const part of mine){\n"
    "const from=part.track.levels[depth],n=level.count,flags=from.flags.get(0)||0,rest=flags&TRUNCATED_BEGIN&&from.start[0]<=part.from;\n"
    "const same=rest&&part.joins&&n&&level.endOf(n-1)>=part.before&&level.node[n-1]===part.nodes[from.node[0]];\n"
    "const skip=same||(rest&&!from.durationOf(0))?1:0,by=n-skip;\n"
    "if(same){\n"
    "const whole=from.endOf(0)-level.start[n-1],cut=(level.flags.get(n-1)||0)&TRUNCATED_BEGIN|flags&TRUNCATED_END;\n"
    "level.duration[n-1]=Math.min(whole,0xFFFFFFFF);\n"
    "level.long.set(n-1,whole);\n"
    "if(cut)level.flags.set(n-1,cut);else level.flags.delete(n-1);\n"
    "}\n"
    "level.start.set(from.start.subarray(skip),n);\n"
    "level.duration.set(from.duration.subarray(skip),n);\n"
    "for(let i=skip;i<from.count;i++)level.node[by+i]=part.nodes[from.node[i]];\n"
    "for(const column of['long','flags'])for(const[i,value]of from[column])if(i>=skip)level[column].set(by+i,value);\n"
    "addArgs(level.args,from.args,by,same?0:skip,part);\n"
    "level.count=by+from.count;\n"
    "}\n"
    "level.close();\n"
    "return level;\n"
    "}\n"
    "function pointsOfAll(parts,kinds){\n"
    "const points=new Points(),frames=new Map();\n"
    "for(const{track,...part}of parts){\n"
    "const from=track.points,by=points.count;\n"
    "for(let i=0;i<from.count;i++){\n"
    "const kind=from.kind[i]+part.kind,{type,label}=kinds[kind],time=from.time[i];\n"
    "let a=from.a[i];\n"
    "if(type===FRAME){\n"
    "if(part.joins&&time-a<=part.from&&frames.has(label))a=time-frames.get(label);\n"
    "frames.set(label,time);\n"
    "}\n"
    "points.time.put(by+i,time);\n"
    "points.kind.put(by+i,kind);\n"
    "points.a.put(by+i,a);\n"
    "points.b.put(by+i,from.b[i]+(type===LOG?part.string:0));\n"
    "}\n"
    "addArgs(points.args,from.args,by,0,part);\n"
    "points.count+=from.count;\n"
    "}\n"
    "points.close();\n"
    "return points;\n"
    "}\n"
    "function merged(periods){\n"
    "const report=new Report(),{nodes,labels,kinds,strings,argBlocks}=report,known=new Map(),childOf=new Map(),tracks=new Map(),open=new Map();\n"
    "const process={...periods[periods.length-1].report.processes[0],tracks:[]};\n"
    "let before=0;\n"
    "report.version=1;\n"
    "report.complete=true;\n"
    "report.processes.push(process);\n"
    "for(const{about,report:r,tracks:ids}of periods){\n"
    "const part={kind:kinds.length,string:strings.length,block:argBlocks.length,nodes:new Uint32Array(r.nodes.count),\n"
   ,
    "from:Number(about.get('from_ns')),joins:before&&about.get('joins')==='1',before};\n"
    "const labelOf=r.labels.map(label=>{\n"
    "const key=[label.name,label.category,label.file,label.line].join('\\0');\n"
    "if(!known.has(key))known.set(key,labels.push({...label,id:labels.length})-1);\n"
    "return known.get(key);\n"
    "});\n"
    "for(let n=1;n<r.nodes.count;n++){\n"
    "const parent=part.nodes[r.nodes.parent[n]],label=labelOf[r.nodes.label[n]],key=parent*0x4000000+label;\n"
    "if(!childOf.has(key)){\n"
    "nodes.label.put(nodes.count,label);\n"
    "nodes.parent.put(nodes.count,parent);\n"
    "childOf.set(key,nodes.count++);\n"
    "}\n"
    "part.nodes[n]=childOf.get(key);\n"
    "}\n"
    "for(const kind of r.kinds)kinds.push({...kind,label:labelOf[kind.label]});\n"
    "for(const text of r.strings)strings.push(text);\n"
    "argBlocks.push(...r.argBlocks);\n"
    "const trackOf=i=>{\n"
    "const track=r.tracks[i],key=ids[i]||track.device+'\\0'+track.name;\n"
    "if(!tracks.has(key))tracks.set(key,{id:tracks.size,parts:[]});\n"
    "return Object.assign(tracks.get(key),{...track,id:tracks.get(key).id,process});\n"
    "};\n"
    "r.tracks.forEach((track,i)=>{if(track.levels.length||track.points.count)trackOf(i).parts.push({...part,track});});\n"
    "for(const span of r.spans){\n"
    "const key=[labelOf[span.label],span.id,span.number].join(),begun=open.get(key);\n"
    "if(begun&&span.flags&TRUNCATED_BEGIN){\n"
    "Object.assign(begun,{duration:span.start+span.duration-begun.start,endTrack:trackOf(span.endTrack).id,args:span.args,\n"
    "flags:begun.flags&TRUNCATED_BEGIN|span.flags&TRUNCATED_END});\n"
    "}else{\n"
    "open.set(key,{...span,label:labelOf[span.label],track:trackOf(span.track).id,endTrack:trackOf(span.endTrack).id});\n"
    "report.spans.push(open.get(key));\n"
    "}\n"
    "if(!(span.flags&TRUNCATED_END))open.delete(key);\n"
    "}\n"
    "before=Number(r.processes[0].about.get('to_ns'));\n"
    "}\n"
    "for(const{parts,...track}of tracks.values()){\n"
    "track.levels=[];\n"
    "while(parts.some(part=>part.track.levels.length>track.levels.length))track.levels.push(levelOf(parts,track.levels.length));\n"
    "track.points=pointsOfAll(parts,kinds);\n"
    "process.tracks.push(track);\n"
    "report.tracks.push(track);\n"
    "report.scopes+=track.levels.reduce((sum,level)=>sum+level.count,0);\n"
    "report.points+=track.points.count;\n"
    "}\n"
    "nodes.label=nodes.label.close(nodes.count);\n"
    "nodes.parent=nodes.parent.close(nodes.count);\n"
    "report.spanCount=report.spans.length;\n"
    "return report;\n"
    "}\n"
    "const STATES={none:'It records nothing.',stopped:'It has stopped recording: this is the end. What it records next comes here.',ended:'Its recording has ended: this is the end of it.',\n"
    "waiting:'Its recording has not begun yet.',paused:'Its recording is paused.',stats:'It records in mode stats, which keeps no events: see Summary.',\n"
    "over:'The server has stopped: the program ended, or calls for it.'};\n"
    "class Live{\n"
    "constructor(app){\n"
    "this.app=app;\n"
    "this.periods=[];\n"
    "this.about=new Map();\n"
    "this.seconds=5;\n"
    "this.lines=null;\n"
    "this.shape='';\n"
    "this.drawn=0;\n"
    "this.pauses=el('button',{onclick:()=>this.pause(!this.paused)});\n"
    "this.state=el('span',{id:'state',role:'status'});\n"
    "this.again=el('button',{hidden:true,onclick:()=>this.connect()});\n"
    "this.level=el('input',{type:'number',min:0,max:255,style:{width:'5em'},onchange:()=>fetch(`/level?level=${this.level.value}`,{method:'POST'}).then(async answer=>{\n"
    "if(!answer.ok)app.say(await answer.text());\n"
    "})});\n"
    "const save=format=>el('a',{href:`/save?last=5&format=${format}`,download:''},format==='html'?'Save the last 5 s':'as .prof');\n"
    "document.querySelector('header').after(el('div.bar-of-tools',{id:'watch'},this.pauses,\n"
    "el('label',{},'Shows ',el('select',{onchange:event=>{this.seconds=Number(event.target.value);this.show();}},\n"
    "...[1,2,5,10,30].map(s=>el('option',{value:s,selected:s===this.seconds},`${s} s`)))),\n"
    "this.state,this.again,el('span.grow'),el('label',{},'Level ',this.level),save('html'),save('prof'),\n"
    "el('a',{href:'/summary',target:'_blank'},'Summary')));\n"
    "for(const name of['pointerdown','wheel','keydown'])\n"
   ,
    "for(const id of['time','frames'])document.getElementById(id).addEventListener(name,event=>{\n"
    "if(!event.ctrlKey||name==='wheel')this.pause(true);\n"
    "},true);\n"
    "this.pause(false);\n"
    "this.connect();\n"
    "}\n"
    "async connect(){\n"
    "const messages=new Messages();\n"
    "this.again.hidden=true;\n"
    "this.gone='';\n"
    "if(this.reading)this.reading.abort();\n"
    "const reading=this.reading=new AbortController();\n"
    "try{\n"
    "const answer=await fetch('/live'+location.search,{signal:reading.signal});\n"
    "if(!answer.ok)throw new Error(await answer.text());\n"
    "for(const reader=answer.body.getReader();;){\n"
    "const{done,value}=await reader.read();\n"
    "if(done)break;\n"
    "for(const message of messages.take(value))this.take(message);\n"
    "}\n"
    "if(this.about.get('state')!=='over')throw new Error('The connection ended without a word: the program was killed, or crashed.');\n"
    "}catch(error){\n"
    "if(this.reading!==reading)return;\n"
    "this.gone=error instanceof TypeError?'The connection ended: the program was killed, or crashed, or cannot be reached.':error.message;\n"
    "}\n"
    "this.later();\n"
    "}\n"
    "take(message){\n"
    "const{about,report}=message;\n"
    "if(about.get('session')!==this.about.get('session'))this.periods=[];\n"
    "this.about=about;\n"
    "if(report)this.periods.push(message);\n"
    "const{periods}=this,ends=periods.map(period=>Number(period.about.get('from_ns'))),scopes=periods.reduce((sum,period)=>sum+period.report.scopes,0);\n"
    "for(let n=scopes;periods.length>1&&(ends[ends.length-1]-ends[1]>KEPT||n>MOST);){\n"
    "n-=periods.shift().report.scopes;\n"
    "ends.shift();\n"
    "}\n"
    "this.later();\n"
    "}\n"
    "later(){\n"
    "if(!this.waits)this.waits=requestAnimationFrame(()=>{this.waits=0;this.say();if(!this.paused)this.show();});\n"
    "}\n"
    "pause(on){\n"
    "if(on===this.paused)return;\n"
    "this.paused=on;\n"
    "this.pauses.textContent=on?'Go on':'Pause';\n"
    "this.pauses.setAttribute('aria-pressed',String(on));\n"
    "if(!on)this.later();\n"
    "}\n"
    "say(){\n"
    "const{about}=this,get=key=>Number(about.get(key)||0),state=about.get('state');\n"
    "const took=get('took_ns')/get('period_ns'),ended=this.gone||state==='over';\n"
    "this.state.textContent=this.gone||STATES[state]||(state?`Recording${get('on_demand') ? ', because you watch' : ''}; watching takes ${(100 * took).toFixed(1)} % of a core.`:'Connecting\\u2026');\n"
    "this.again.hidden=!ended&&state!=='stopped';\n"
    "this.again.textContent=ended?'Connect again':'Record';\n"
    "this.level.disabled=ended||get('read_only')===1||!get('level');\n"
    "if(document.activeElement!==this.level)this.level.value=get('level');\n"
    "}\n"
    "losses(){\n"
    "const get=key=>Number(this.about.get(key)||0),lines=[];\n"
    "if(get('skipped_ns'))lines.push(`${ns(get('skipped_ns'))} are missing: this page, or the server, was too slow for them.`);\n"
    "if(get('overwritten_ns'))lines.push(`${ns(get('overwritten_ns'))} are missing: they were overwritten before they were read; the program needs a larger buffer.`);\n"
    "if(get('streamed'))lines.push('The program streams to a file: of scopes that began long ago, only what is in them may be here.');\n"
    "return lines;\n"
    "}\n"
    "show(){\n"
    "const{app,periods}=this;\n"
    "if(!periods.length)return;\n"
    "const report=merged(periods),[process]=report.processes;\n"
    "process.losses=[...process.losses,...this.losses()];\n"
    "process.about.set('complete','1');\n"
    "finish(report);\n"
    "const shape=[report.bars.length>0,report.messages.length,report.spans.length>0,report.counters.length>0,process.memory!==null,process.locks!==null].join();\n"
    "const first=!this.shape,lines=process.losses.join('\\n'),now=performance.now(),to=report.to;\n"
    "if(first)app.take(report);\n"
    "app.report=report;\n"
    "app.focus=null;\n"
    "app.hits=[];\n"
    "app.series=report.bars[0];\n"
    "app.view={from:to-this.seconds*1e9,to};\n"
    "app.theme(document.documentElement.dataset.theme);\n"
    "app.drawFramesSoon();\n"
    "if(lines!==this.lines||(now-this.drawn>1000&&!document.querySelector('#warnings details[open]')))app.head();\n"
    "if(shape!==this.shape||now-this.drawn>1000)this.panels(shape,now);\n"
    "this.lines=lines;\n"
    "}\n"
    "panels(shape,now){\n"
   ,
    "const{app}=this,place=document.querySelector('#panel .scroll'),top=place?place.scrollTop:0,{tab,memories}=app.panels;\n"
    "if(shape!==this.shape){\n"
    "app.panels.close();\n"
    "app.panels=Object.assign(new Panels(app,document.getElementById('tabs'),document.getElementById('panel')),{memories});\n"
    "app.panels.tab=app.panels.list.some(([id])=>id===tab)?tab:'scopes';\n"
    "}\n"
    "app.panels.kept=null;\n"
    "app.panels.render();\n"
    "if(document.querySelector('#panel .scroll'))document.querySelector('#panel .scroll').scrollTop=top;\n"
    "this.shape=shape;\n"
    "this.drawn=now;\n"
    "}\n"
    "}\n"
    "async function watch(){\n"
    "while(!globalThis.prof)await new Promise(done=>setTimeout(done,20));\n"
    "globalThis.prof.live=new Live(globalThis.prof);\n"
    "}\n"
    "if(typeof document!=='undefined')watch();\n"
   ,
    NULL};

/*-- sources --*/

#define PROF__HTML_BEFORE 4u /* lines before and after that of the call site */
#define PROF__HTML_AFTER 8u
#define PROF__HTML_LINE 400u           /* bytes of a line */
#define PROF__HTML_EXCERPTS (1u << 20) /* bytes of all lines */
#define PROF__HTML_SEARCH (1u << 26)   /* bytes of a file that are read */

/* Notes a call site whose lines are wanted. What does not fit into the table has none. */
static PROF__RARE void prof__html_source_add(prof__html *h, const char *file, uint32_t text, uint32_t line)
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

static int prof__html_source_order(const void *a, const void *b)
{
    const prof__html_source *left = (const prof__html_source *)a, *right = (const prof__html_source *)b;
    int order = strcmp(left->file, right->file);
    return order ? order : (left->line > right->line) - (left->line < right->line);
}

/* Opens a file, but neither a device nor a pipe, of which nobody knows when it ends. */
static PROF__RARE FILE *prof__html_source_file(const char *path)
{
#ifdef _WIN32
    uint64_t size;
    FILE *file = prof__file_open(path, "rb");
    if (!file || prof__read_size(file, &size)) return file;
    fclose(file);
    return NULL;
#else
    struct stat about;
    return !stat(path, &about) && S_ISREG(about.st_mode) ? fopen(path, "rb") : NULL;
#endif
}

/* Opens the file below the folder that the longest tail of the path leads to. */
static PROF__RARE FILE *prof__html_source_open(const char *folder, const char *path)
{
    static const char slashes[] = "/\\";
    char at[4096], *slash;
    FILE *file = NULL;
    for (; !file && *(path += strspn(path, slashes)); path += strcspn(path, slashes)) {
        if (strstr(path, "..") || strchr(path, ':')) continue; /* it leads out, or to a drive */
        if (snprintf(at, sizeof at, "%s/%s", folder, path) >= (int)sizeof at) continue;
        while ((slash = strchr(at + strlen(folder), '\\')) != NULL) *slash = '/';
        file = prof__html_source_file(at);
    }
    return file;
}

/* Writes a line of a file: the number of its path's text, that of the line, and the line. */
static PROF__RARE void prof__html_source_line(prof__html *h, const prof__html_source *site, uint32_t line, char *text,
                                              size_t size)
{
    if (size > PROF__HTML_LINE) { /* whole characters of UTF-8; in what is none, anything */
        for (size = PROF__HTML_LINE; size && (text[size] & 0xC0) == 0x80;) --size;
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

/* Writes the lines around call sites of one file, which are in the order of their lines. */
static PROF__RARE void prof__html_source_lines(prof__html *h, FILE *file, const prof__html_source *site,
                                               const prof__html_source *end)
{
    char text[PROF__HTML_LINE + 4];
    size_t size = 0;
    uint32_t line = 1;
    int c = 0;
    for (uint32_t left = PROF__HTML_SEARCH; left && c != EOF && h->source_bytes <= PROF__HTML_EXCERPTS; --left) {
        c = getc(file);
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

/* Writes what was noted, and how many files were not found. */
static PROF__RARE void prof__html_sources(prof__html *h)
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

/*-- values and arguments --*/

static void prof__html_value(prof__html *h, prof__html_bytes *to, const prof_value *value)
{
    uint64_t bits;
    int i;
    switch (value->type) {
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

/* How many arguments, and each: at most so many as fit into a block's slack. */
static void prof__html_args(prof__html *h, prof__html_bytes *to, const prof_arg *args, uint32_t count)
{
    if (h->options.no_args) count = 0;
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

/* Arguments of the present one of a level's scopes, or of the points. which: depth + 1, or 0. */
static void prof__html_arguments(prof__html *h, prof__html_level *level, uint64_t which, const prof_event *event)
{
    if (!event->arg_count || h->options.no_args) return;
    if (!h->arguments.size) prof__html_u(&h->arguments, h->track);
    if (level->block != h->argument_blocks + 1) level->listed = 0; /* nothing of it in this block yet */
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

/* Ends the scopes at this depth and below. Where a scope ends is counted from what happened last, the begin of the
   scope itself or the end of one in it: most such numbers are small. */
static void prof__html_close(prof__html *h, size_t depth)
{
    while (h->open_levels > depth) {
        prof__html_level *level = &h->levels[--h->open_levels];
        if (!level->is_open) continue;
        level->is_open = 0;
        if (level->end >= h->last_time) {
            prof__html_number(&h->ends, (uint64_t)(level->end - h->last_time) + 1);
        } else { /* does not happen: what is in a scope ends before it */
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
    if (start < from) { /* does not happen: a scope begins when the one before it on its level has ended */
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
    switch (event->type) {
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

static void prof__html_point(prof__html *h, const prof_event *event, int64_t start)
{
    uint32_t type = (uint32_t)event->type;
    if (!h->point_kinds.size) prof__html_u(&h->times, h->track);
    prof__html_u(&h->times, (uint64_t)(start - h->last_point));
    prof__html_u(&h->point_kinds, prof__html_kind_of(h, event->site, event->name, event->depth, type));
    prof__html_detail(h, event);
    if (event->type != PROF_EVENT_LOG) prof__html_arguments(h, &h->listed_points, 0, event); /* they are in its text */
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
#define PROF__HTML_GROUP 4u /* a flag of a kind, beside PROF_TRUNCATED_... */

/* The last events that are at most so many begin at this time, to a part of them. */
static PROF__RARE int64_t prof__html_last(prof__html *h, int64_t end, uint64_t most)
{
    int64_t from = 0, to = end + 1; /* between these the window begins */
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

/* Chooses what is written one by one: nothing is left out of a trace that is small enough. */
static PROF__RARE void prof__html_choose(prof__html *h)
{
    const prof_trace_info *about = prof_trace_about(h->trace);
    int64_t end = about->duration_ns < 0 ? 0 : about->duration_ns;
    size_t tracks = prof_trace_track_count(h->trace), parts = PROF__HTML_PARTS;
    if (!h->limits.events) return;
    h->outlined = 1;
    h->window_from = h->limits.from_ns;
    h->window_to = h->limits.to_ns > 0 ? h->limits.to_ns : end + 1;
    if (h->limits.to_ns <= 0 && !h->limits.from_ns) h->window_from = prof__html_last(h, end, h->limits.events / 2);
    /* a track has some ten depths, and each of them as many groups as parts */
    while (parts > 64 && (uint64_t)parts * tracks * 20 > h->limits.events) parts /= 2;
    h->part = end / (int64_t)parts + 1;
    h->window_from += h->offset;
    h->window_to += h->offset;
    prof__html_about_number(h, "window_from_ns", (uint64_t)h->window_from);
    prof__html_about_number(h, "window_to_ns", (uint64_t)h->window_to);
    prof__html_about_number(h, "part_ns", (uint64_t)h->part);
}

/* Writes the groups that are open, from the outermost depth on. */
static void prof__html_groups_end(prof__html *h)
{
    int no_args = h->options.no_args;
    size_t depths = h->group_depths;
    h->group_depths = 0;
    h->options.no_args = 0; /* these are none of the program's */
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

/* Adds a scope to the group of its depth. A group ends with its part of the trace, all those in it with it. */
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

/* Of counters, marks, messages and so on one of each kind in each part of the trace; frames if they are no shorter than
   a hundredth of it. What has to be complete to mean something, such as allocations, is left out. */
static int prof__html_sparse(prof__html *h, const prof_event *event, int64_t start)
{
    uint64_t *last, part = (h->track + 1) * 65536 + (uint64_t)(start / h->part);
    if (event->type == PROF_EVENT_FRAME && event->duration_ns >= h->part / 64) return 1;
    if (event->type != PROF_EVENT_FRAME && event->type != PROF_EVENT_MARK && event->type != PROF_EVENT_COUNTER &&
        event->type != PROF_EVENT_LOST && event->type != PROF_EVENT_LOG)
        return 0;
    last = &h->last_parts[prof__html_kind_of(h, event->site, event->name, event->depth, (uint32_t)event->type) %
                          PROF__HTML_PARTS];
    if (*last == part) return 0;
    *last = part;
    return 1;
}

/* Returns 1 if the event is to be written by itself. */
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

/* Spans are written if a part of them is in the window, or if they are long. */
static int prof__html_span_wanted(prof__html *h, const prof_span *span)
{
    int64_t start = span->start_ns + h->offset, end = start + span->duration_ns;
    return (start < h->window_to && end >= h->window_from) || (!span->mark && span->duration_ns >= h->part);
}

/* The statistics of all scopes, by call path: blocks of the kind G. */
static PROF__RARE void prof__html_statistics(prof__html *h)
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
    prof_stats_free(stats);
}
#endif

/*-- tracks --*/

static PROF__HOT void prof__html_event(prof__html *h, const prof_event *event)
{
    int64_t start = event->start_ns + h->offset;
    if (event->type == PROF_EVENT_SPAN_BEGIN || event->type == PROF_EVENT_SPAN_MARK ||
        event->type == PROF_EVENT_SPAN_END)
        h->has_spans = 1; /* later, when it is known what belongs together */
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

static PROF__HOT void prof__html_track(prof__html *h, size_t index)
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
    while (h->out.status == PROF_OK && prof_cursor_next(cursor, &event)) prof__html_event(h, &event);
    prof_cursor_close(cursor);
#ifdef PROF_HTML_LARGE
    prof__html_groups_end(h);
#endif
    prof__html_close(h, 0);
    prof__html_scopes_end(h);
    prof__html_points_end(h);
    prof__html_arguments_end(h);
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

static PROF__RARE void prof__html_spans(prof__html *h)
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

static PROF__RARE void prof__html_about(prof__html *h, const char *key, const char *value)
{
    if (h->rows.size >= PROF__HTML_COLUMN) prof__html_block1(h, 'P', &h->rows);
    prof__html_text(&h->rows, key);
    prof__html_text(&h->rows, value);
}

static PROF__RARE void prof__html_about_number(prof__html *h, const char *key, uint64_t value)
{
    char text[32];
    text[prof__digits(text, value)] = 0;
    prof__html_about(h, key, text);
}

static PROF__RARE void prof__html_about_double(prof__html *h, const char *key, double value)
{
    char text[48];
    text[prof__double_text(text, value)] = 0;
    prof__html_about(h, key, text);
}

/* The first block of a trace has pairs of texts; see docs/html.md. */
static PROF__RARE void prof__html_process(prof__html *h)
{
    const prof_trace_info *about = prof_trace_about(h->trace);
    const char *key, *value;
    char text[512];
    prof__html_about(h, "program", about->program);
    prof__html_about_number(h, "pid", about->pid);
    prof__html_about_number(h, "parent_pid", about->parent_pid);
    prof__html_about(h, "clock", about->clock);
    prof__html_about_number(h, "tick_hz", about->tick_hz);
    prof__html_about_double(h, "clock_resolution_ns", about->clock_resolution_ns);
    prof__html_about_double(h, "scope_cost_ns", about->scope_cost_ns);
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
    prof__html_about(h, "write_error", about->write_error);
    for (int kind = 0; kind < 7; ++kind)
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

static PROF__RARE void prof__html_tracks(prof__html *h)
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
        if (to->size >= PROF__HTML_COLUMN) prof__html_block1(h, 'T', to);
    }
    prof__html_block1(h, 'T', to);
}

/*-- the file --*/

static PROF__RARE void prof__html_trace(prof__html *h, const prof_trace *trace, int64_t offset)
{
    size_t tracks = prof_trace_track_count(trace);
    h->trace = trace;
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

/* The last block says how much there is, so that the page can tell a report that was cut. */
static PROF__RARE void prof__html_end(prof__html *h)
{
    prof__html_u(&h->rows, h->scopes);
    prof__html_u(&h->rows, h->points);
    prof__html_u(&h->rows, h->spans);
    prof__html_block1(h, 'Z', &h->rows);
    prof__html_piece_end(h);
}

/* Runs of which one had ended before another began are there to be compared: all begin at 0 then. Returns 1 if so. */
static PROF__RARE int prof__html_together(const prof_trace *const *traces, size_t count, int64_t *offsets)
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

static PROF__RARE void prof__html_all(prof__html *h, const prof_trace *const *traces, size_t count)
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

static PROF__RARE prof_status prof__html_make(prof__html **h, const prof_trace *const *traces, size_t count,
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

static PROF__RARE prof_status prof__html_done(prof__html *h)
{
    prof_status status = prof__out_close(&h->out);
    free(h->levels);
    free(h);
    return status;
}

/* Writes a file. limits: prof_html_limits, or NULL. */
static PROF__RARE prof_status prof__html_file(const prof_trace *const *traces, size_t count, const char *path,
                                              const prof_html_options *options, const void *limits)
{
    prof__html *h;
    prof_status status = prof__html_make(&h, traces, count, options);
    if (status) return status;
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
    return prof__html_file(traces, count, path, options, NULL);
}

#ifdef PROF_HTML_LARGE
PROF_DEF prof_status prof_html_outline(const prof_trace *const *traces, size_t count, const char *path,
                                       const prof_html_options *options, const prof_html_limits *limits)
{
    prof_html_limits each = {0, 0, 0};
    uint64_t events = 0;
    if (limits) each = *limits;
    if (!each.events) each.events = PROF__HTML_MOST_EVENTS;
    for (size_t i = 0; traces && i < count; ++i) events += traces[i] ? prof_trace_about(traces[i])->event_count : 0;
    if (events > each.events || each.from_ns || each.to_ns) each.events = each.events / (count + !count) + 1;
    else each.events = 0; /* no limit */
    return prof__html_file(traces, count, path, options, &each);
}
#endif

PROF_DEF prof_status prof_html_stream(const prof_trace *trace, prof_sink sink, const prof_html_options *options)
{
    prof__html *h;
    prof_status status = prof__html_make(&h, &trace, 1, options);
    if (status) return status;
    prof__out_sink(&h->out, sink);
    prof__html_all(h, &trace, 1);
    return prof__html_done(h);
}

PROF_DEF prof_status prof_html_write(const prof_trace *trace, const char *path, const prof_html_options *options)
{
    return prof_html_merge(&trace, 1, path, options);
}

/*-- live --*/

/* Writes the page up to where its data begin, with the script that only such a page has. It may ask the server that it
   comes from, and nobody else. */
static PROF__UNUSED void prof__html_live_head(prof__out *out)
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

/* Writes the page that watches a program: a report of nothing. */
static PROF__UNUSED prof_status prof__html_live_page(prof_sink sink, const char *program)
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

/* Writes a message: pairs of texts, up to NULL, as a block of the kind L, and a report of the trace, if it is not NULL,
   as blocks that are not packed. Before its events stands a block of the kind I: the number of each track, which it
   keeps from period to period; 0: it has none. */
static PROF__UNUSED prof_status prof__html_live_message(prof_sink sink, const char *const *pairs,
                                                        const prof_trace *trace)
{
    const prof_track *track;
    prof__html *h = (prof__html *)calloc(1, sizeof *h);
    if (!h) return prof__fail(PROF_NO_MEMORY, "no memory for what a page watches");
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

#if defined(__GNUC__) || defined(__TINYC__)
static prof_status prof__html_default(const prof_trace *trace, const char *path)
{
    return prof_html_write(trace, path, NULL);
}

static prof_writer prof__html_writer = {".html", prof__html_default, NULL};
static void __attribute__((constructor(101))) prof__html_register(void) { prof_writer_register(&prof__html_writer); }
#ifdef PROF__SHARED
static void __attribute__((destructor(101))) prof__html_unregister(void) { prof_writer_unregister(&prof__html_writer); }
#endif
#endif

#ifdef PROF__WRAPS_MALLOC
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef qsort
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_IMPLEMENTATION */

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
