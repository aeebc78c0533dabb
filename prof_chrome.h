/* prof_chrome.h - Chrome trace JSON for prof: Perfetto, chrome://tracing, speedscope - public domain or MIT-0
                   assembled from src/: change it there, see CONTRIBUTING.md
                   needs prof.h and nothing else; the licence is at the end of this file

QUICK START

    #define PROF_IMPLEMENTATION            // in exactly one file of the program, C or C++
    #include "prof_chrome.h"               // includes prof.h

    int main(void)
    {
        prof_config config = {0};
        config.output = "trace.json";      // this header is the writer of .json
        prof_start(&config);
        { PROFILE_SCOPE("work"); }
        return (int)prof_stop();           // drop trace.json into ui.perfetto.dev, chrome://tracing or speedscope.app
    }

An image of an earlier run: prof_trace_open("trace.prof", &trace), then prof_chrome_write(trace, "trace.json", NULL).

WHAT IS WRITTEN                                                                                             >>chrome

    scope       one complete event ("X"): name, category, call site, start, duration, arguments. Without a recorded
                begin or end it has the argument "truncated": "begin", "end" or "begin and end"
    mark        an instant ("i") of its thread. The reach of a PROFILE_MARK_REACH is the argument "scope". Marks of the
                process and global marks are on a track "mark: NAME" above the threads, with the thread that made them
                as an argument: there viewers show their names, which they do not show for "s":"g" or "p". Those with
                names made at run time are on a track "marks". The 65th and later names of a file stay on their threads
    span        "b" and "e" with an id of their own, both on the thread that began the span, where viewers show a row
                for each name or each thread. The id in the program is the argument "id". "n" for each PROFILE_SPAN_MARK
                in between. A span whose begin or end is missing has the argument "truncated", as a scope, and reaches
                to the begin or end of the trace. The arguments of begin and end are all on the "b"; if the program has
                an argument "id", the id is "span id"
    counter     samples ("C"): one counter for each name and category, whichever threads recorded it. Its only series
                has no name: Perfetto would show that behind the counter's. Tracy tells counters apart by it alone:
                options.tracy gives it the counter's name. A value that is no finite number becomes an instant. A unit
                is the key "unit" of the event, which viewers pass over
    frame       an "X" from each boundary to the next on a track of its own, "frames: NAME", one for each thread that
                records such frames, and for each handle of prof_frame_create(). Frames of 0 ns are left out; the 65th
                and later names of a thread become instants, the 65th and later handles spans
    message     an instant of its thread, with the text as its name and the severity as an argument
    flow        arrows ("s", "t", "f") from FLOW_OUT through the later points of the same name and id, in order of time,
                to the last of them. They join the scopes that enclose the points; a point outside of scopes becomes a
                slice of 0 ns, and one inside that has arguments becomes an instant with them, too. If an id is used
                again, the second flow is called "NAME #2", because viewers would join equal ones. A point without a
                partner is an instant without an arrow. Arrows join threads of one process only. Ids are hexadecimal
    allocations for each pool a counter "memory: POOL" of its live bytes, which counts the blocks whose allocation is in
                the trace. The curve has 5000 steps at most, of each the first, lowest, highest and last value. With
                options.allocations it has all values, and each allocation and each free is an instant ("i") of its
                thread, with address and bytes: 300 bytes of file for each
    locks       async spans ("b", "e"): "lock NAME", one row for each lock below the threads, with the thread that held
                it; and "wait for NAME" at the thread that waits, unless the wait is a scope, as that of
                PROFILE_MUTEX_LOCK. Those without an end reach to the end of the trace. A lock that several threads hold
                at the same time is shown at each of them
    losses      an instant "lost N events" where they happened; the sum is in the label of the process and in otherData
    device      a process of its own below the one that used it, with its rows as threads. "(clock not aligned)" in its
                name says that its times are only guessed. A flow that leads to an event comes after it
    thread      its name and its place: the main thread first, then by appearance. A thread id that was used before in
                the trace, or that is 0 or too large, is replaced by the smallest number from 1 on that no
                thread or process of the file has; frames, marks, locks, states and devices have such numbers, too
    otherData   program, clock and its rate, start as Unix time, losses, cost of a scope (chrome://tracing: "Metadata")

    Times are microseconds since prof_start() with three decimals, made from integer nanoseconds; they are exact for 100
    days. Each event is a line. The lines of a thread are in order of time, a parent before its children; flows and
    then counters come last. Memory does not grow with the number of events, except by some 50 bytes for each flow: the
    writer needs one cursor, and, if there are counters or flows, one for each thread.

    The file is strict JSON in valid UTF-8, whatever bytes the names have: invalid ones become U+FFFD. In arguments,
    integers beyond 2^53, pointers, infinities and NaN are strings. An empty name is written as (unnamed), an empty
    category as prof; a color as the nearest of the names that chrome://tracing knows.

WHAT VIEWERS SHOW                          (tests/viewers loads traces into them and compares every event)

    Names. A name that a viewer would take for an event of its own gets a space at its end: Profile, Paint, FunctionCall
    and some 60 more, with which DevTools or speedscope would refuse the file. A category that contains
    trace_event_overhead or blink.user_timing is written as prof. Keys of arguments that this file uses itself
    (truncated, source, function) get a space, too.

    Durations with more decimals. Viewers add start and duration as floating-point numbers. So the end of a scope can
    come out 10^-10 us after its parent's end, or after the begin of its neighbour: speedscope then loses the nesting,
    and DevTools the event. Where a scope may share its end with another, its duration has the decimals that make the
    sum right: "dur":12.345000000002. Where the next scope begins at the same nanosecond and has the same name, the
    duration is 0.1 ns shorter, and a scope of 0 ns is written as 0.1 ns, because speedscope would nest the one and drop
    the other. Rounded to nanoseconds, which is what Perfetto does, all these are exact.

    Devices stand below the process that used them in chrome://tracing. Perfetto 52 orders processes by their number of
    scopes, whatever the file says: a device that has more scopes than the program stands above it.

    Perfetto drops scopes deeper than 512. speedscope shows neither marks nor counters, makes arguments part of the
    name, and with clocks of slow ticks confuses calls of the same name that begin or end at the same time.
    chrome://tracing, speedscope and DevTools read at most 500 MB: write a part (from_ns, to_ns) or leave out short
    scopes (min_duration_ns).
*/
#include "prof_read.h" /* each time, because this inclusion may be the one with PROF_IMPLEMENTATION */

#pragma pack(push, 16) /* as in prof.h */
#ifndef PROF_CHROME_H
#define PROF_CHROME_H

#ifdef __cplusplus
extern "C" {
#endif

/* Where file and line of a call site are written. */
typedef enum prof_chrome_source {
    PROF_CHROME_SOURCE_LOC = 0, /* "loc" of the event: Tracy shows it, the others ignore it */
    PROF_CHROME_SOURCE_ARGS,    /* and the arguments "source" and "function": every viewer shows them, speedscope as
                                   part of the name */
    PROF_CHROME_SOURCE_NONE     /* left out: about a quarter less to write and to load */
} prof_chrome_source;

/* All zero is the default: everything but single allocations. */
typedef struct prof_chrome_options {
    uint64_t min_duration_ns; /* leaves out shorter scopes */
    int64_t from_ns, to_ns;   /* leaves out what lies outside; to_ns 0: no limit. What overlaps is written whole */
    prof_chrome_source source;
    int no_spans;             /* 1: leaves out spans, which Tracy shows as scopes of their thread */
    int no_args;              /* 1: leaves out the arguments of scopes, which speedscope makes part of their names */
    int allocations;          /* 1: writes each allocation and each free, as instants, and each change of live bytes;
                                 0: the curve of live bytes alone, in 5000 steps, with their peaks and lows */
    int tracy;                /* 1: for Tracy's importer: without spans, and the series of a counter has the counter's
                                 name, because Tracy would draw all counters without one as one plot */
} prof_chrome_options;

#if PROF_ENABLE
/* Writes a trace. path: as for prof_csv_write(). options may be NULL. Returns PROF_OK, or what failed. */
PROF_DEF prof_status prof_chrome_write(const prof_trace *trace, const char *path, const prof_chrome_options *options);
PROF_DEF prof_status prof_chrome_stream(const prof_trace *trace, prof_sink sink, const prof_chrome_options *options);

/* Writes several traces as the processes of one file, on the time line of prof_trace_align(): times, from_ns and to_ns
   count from the first start of all. A process id that comes twice is replaced by a number from 1000000000 on. The keys
   of otherData end in the process id. Spans, flows, counters and locks of two processes are never joined, whatever
   their ids, but for the flows of PROFILE_FLOW_OUT_SHARED. */
PROF_DEF prof_status prof_chrome_merge(const prof_trace *const *traces, size_t count, const char *path,
                                       const prof_chrome_options *options);
PROF_DEF prof_status prof_chrome_merge_stream(const prof_trace *const *traces, size_t count, prof_sink sink,
                                              const prof_chrome_options *options);
#else
#define prof_chrome_write(trace, path, options) PROF__STRIPPED(PROF_OK, PROF__USE3(trace, path, options))
#define prof_chrome_stream(trace, sink, options) PROF__STRIPPED(PROF_OK, PROF__USE3(trace, sink, options))
#define prof_chrome_merge(traces, count, path, options) \
    PROF__STRIPPED(PROF_OK, (0 ? (void)(count) : PROF__USE3(traces, path, options)))
#define prof_chrome_merge_stream(traces, count, sink, options) \
    PROF__STRIPPED(PROF_OK, (0 ? (void)(count) : PROF__USE3(traces, sink, options)))
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_CHROME_H */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && !defined(PROF__CHROME_IMPLEMENTED)
#define PROF__CHROME_IMPLEMENTED

#ifdef PROF__WRAPS_MALLOC /* so that prof's own allocations are not recorded as the program's */
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
#define qsort(at, count, size, order) prof__quiet_sort(at, count, size, order)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define PROF__CHROME_DEPTH 512      /* scopes as deep as this have their ends compared with their parents' */
#define PROF__CHROME_FRAMES 64      /* names of frames that one thread may have */
#define PROF__CHROME_MARKS 64       /* tracks for marks of all threads */
#define PROF__CHROME_EXACT ((int64_t)1 << 53)

typedef struct prof__chrome_thread {
    uint32_t id, pid; /* pid: the id of the process, or a number for a device */
    uint32_t groups; /* bit n: the thread has events of group n */
} prof__chrome_thread;

/* One of the traces that the file is made of. */
typedef struct prof__chrome_part {
    const prof_trace *trace;
    int64_t offset; /* what is added to the trace's times to get those of the file */
    uint32_t pid;
    prof__chrome_thread *threads; /* by track */
    uint32_t devices;
} prof__chrome_part;

/* A track for those marks of all threads that have one name. */
typedef struct prof__chrome_marks {
    const char *name; /* the name of a call site; NULL: marks with names made at run time */
    uint32_t pid, tid;
} prof__chrome_marks;

typedef struct prof__chrome {
    prof__out out;
    const prof_trace *const *traces;
    prof__chrome_part *parts; /* of each trace */
    size_t part_count, machines; /* machines: see prof_trace_align() */
    prof_chrome_options options;
    uint32_t *taken;      /* the ids of the system that the file has, ascending */
    size_t taken_count, taken_at;
    uint32_t last_id;     /* the last of our own ids */
    uint64_t frame_tracks;
    prof__chrome_marks marks[PROF__CHROME_MARKS];
    size_t mark_count;
    const char *mark_thread; /* the thread that made a mark, if the mark has a track of its own; else NULL */
    uint32_t lock_tid;       /* the track for locks; 0: this part has none yet */
    const prof__chrome_part *part; /* the part that is being written; down to pid: copies of its fields */
    const prof_trace *trace;
    const prof_trace_info *about;
    prof__chrome_thread *threads;
    int64_t offset;
    uint32_t pid;
    prof__site_texts sites;       /* ,"name":"...", and at `rest` ,"cat":"...","loc":"..." */
    uint64_t stamp;               /* 1 + the milliseconds of the last time written; 0: there is none yet */
    size_t stamp_size;
    char stamp_text[16];          /* the digits of these milliseconds */
} prof__chrome;

typedef struct prof__chrome_ids {
    char text[56]; /* ,"pid":1,"tid":2,"ts": */
    size_t size;
} prof__chrome_ids;

/* A track of frames: those of one name on one thread, or those of one prof_frame_create(). */
typedef struct prof__chrome_frames {
    const char *name;
    uint64_t id; /* the id of the frame object; 0: of PROFILE_FRAME */
    int64_t origin; /* when the first frame begins */
    uint32_t tid;
} prof__chrome_frames;

/* What is known of a track while it is written. */
typedef struct prof__chrome_track {
    prof__chrome_ids ids;
    int64_t origin; /* when the first scope begins, which speedscope counts from; -1: there is none yet */
    double zero;    /* `origin` in microseconds */
    struct {
        int64_t start, duration;
        const char *name; /* NULL: made at run time; then `hash` is the hash of the name */
        uint32_t hash;
        int open, exact;              /* open: its line has no duration yet; exact: it ends when its parent ends */
    } scope;                          /* the scope written last */
    int64_t ends[PROF__CHROME_DEPTH]; /* of each depth: the end of the open scope */
    prof__chrome_frames frames[PROF__CHROME_FRAMES];
    size_t frame_count;
} prof__chrome_track;

/* Returns an id for a thread or device that the system does not know: the next one, from 1 on, that no thread or
   process of the file has. Viewers show it beside the name, so it is short. */
static uint32_t prof__chrome_new_id(prof__chrome *c)
{
    uint32_t id = ++c->last_id;
    for (; c->taken_at < c->taken_count && c->taken[c->taken_at] <= id; c->taken_at++)
        if (c->taken[c->taken_at] == id) id = ++c->last_id;
    return id;
}

#define PROF__CHROME_LITERAL(out, literal) prof__out_bytes(out, literal, sizeof(literal) - 1)

/*-- numbers --*/

static int64_t prof__chrome_time(int64_t ns)
{
    return ns < 0 ? 0 : ns;
}

#define PROF__CHROME_TEN(ab) \
    "." ab "0." ab "1." ab "2." ab "3." ab "4." ab "5." ab "6." ab "7." ab "8." ab "9"
#define PROF__CHROME_HUNDRED(a) \
    PROF__CHROME_TEN(a "0") PROF__CHROME_TEN(a "1") PROF__CHROME_TEN(a "2") PROF__CHROME_TEN(a "3") \
    PROF__CHROME_TEN(a "4") PROF__CHROME_TEN(a "5") PROF__CHROME_TEN(a "6") PROF__CHROME_TEN(a "7") \
    PROF__CHROME_TEN(a "8") PROF__CHROME_TEN(a "9")
static const char prof__chrome_thousand[] = /* .000.001.002 ...: decimals of 0 to 999 nanoseconds */
    PROF__CHROME_HUNDRED("0") PROF__CHROME_HUNDRED("1") PROF__CHROME_HUNDRED("2") PROF__CHROME_HUNDRED("3")
    PROF__CHROME_HUNDRED("4") PROF__CHROME_HUNDRED("5") PROF__CHROME_HUNDRED("6") PROF__CHROME_HUNDRED("7")
    PROF__CHROME_HUNDRED("8") PROF__CHROME_HUNDRED("9") ".";

/* Writes a number of nanoseconds, not negative, as microseconds: 20 bytes at most. Returns the end of the text, as all
   functions here do that write to `to`. */
static char *prof__chrome_microseconds(char *to, int64_t ns)
{
    uint32_t rest;
    if (PROF__LIKELY(ns < 1000000)) {
        uint32_t left = (uint32_t)ns, whole = left / 1000;
        size_t size = 1 + (size_t)(left >= 10000) + (size_t)(left >= 100000);
        memcpy(to, prof__chrome_thousand + whole * 4 + 4 - size, 4);
        to += size;
        rest = left - whole * 1000;
    } else {
        to += prof__digits(to, (uint64_t)ns / 1000);
        rest = (uint32_t)((uint64_t)ns % 1000);
    }
    memcpy(to, prof__chrome_thousand + rest * 4, 4);
    return to + 4;
}

/* Writes the time of an event as prof__chrome_microseconds() does. Fast if it is in the millisecond of the previous
   time. `to` must have space for 32 bytes. */
static inline char *prof__chrome_stamp(prof__chrome *c, char *to, int64_t ns)
{
    uint64_t upper = (uint64_t)ns / 1000000;
    uint32_t left = (uint32_t)((uint64_t)ns - upper * 1000000), whole = left / 1000;
    if (PROF__UNLIKELY(upper + 1 != c->stamp)) {
        if (!upper) return prof__chrome_microseconds(to, ns);
        c->stamp_size = prof__digits(c->stamp_text, upper);
        c->stamp = upper + 1;
    }
    memcpy(to, c->stamp_text, sizeof c->stamp_text);
    to += c->stamp_size;
    memcpy(to, prof__chrome_thousand + whole * 4 + 1, 4);
    memcpy(to + 3, prof__chrome_thousand + (left - whole * 1000) * 4, 4);
    return to + 7;
}

static void prof__chrome_ns(prof__out *out, int64_t ns)
{
    char *to = prof__out_reserve(out, 24);
    prof__out_commit(out, (size_t)(prof__chrome_microseconds(to, ns) - to));
}

/* Returns the value rounded to a double, which is how viewers read it. This must hold even if the processor computes
   with more precision, or the compiler may rearrange sums. */
static double prof__chrome_double(double value)
{
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ == 0 && !defined(__FAST_MATH__) && !defined(_M_FP_FAST)
    return value;
#else
    volatile double rounded = value;
    return rounded;
#endif
}

/* The numbers of a scope that viewers add up. DevTools counts from the start of the trace, speedscope from the first
   scope of the track. */
typedef struct prof__chrome_sum {
    double start, end, duration; /* microseconds, as a viewer reads them from the file */
    double start2, end2;         /* microseconds from the first scope on */
} prof__chrome_sum;

/* Returns 1 if start + duration equals the end in speedscope, which computes with doubles. both: 1: in DevTools,
   too. */
static int prof__chrome_adds_up(const prof__chrome_sum *sum, double duration, int both)
{
    double a = prof__chrome_double(sum->start + duration) - sum->end;
    double b = prof__chrome_double(sum->start2 + duration) - sum->end2;
    return !(b < 0 || b > 0) && !(both && (a < 0 || a > 0));
}

/* Returns 1 if prof__chrome_adds_up() holds for a duration, and for the next smaller and larger double as well. */
static int prof__chrome_surely_adds_up(const prof__chrome_sum *sum, double duration, int both)
{
    double unit = duration / 4503599627370496.0;
    return prof__chrome_adds_up(sum, prof__chrome_double(duration - unit), both) &&
           prof__chrome_adds_up(sum, prof__chrome_double(duration + unit), both);
}

/* Writes ns nanoseconds plus `steps` steps, of which `one` make a nanosecond. `one` is 10^digits. */
static char *prof__chrome_long_duration(char *to, int64_t ns, int64_t steps, int digits, int64_t one)
{
    char text[20];
    size_t length = prof__digits(text, (uint64_t)(steps < 0 ? one + steps : steps));
    int i;
    to = prof__chrome_microseconds(to, ns - (steps < 0));
    for (i = (int)length; i < digits; i++) *to++ = '0';
    memcpy(to, text, length);
    return to + length;
}

/* Writes a number as prof__double_text() does, with 15 to 17 digits. From 0.0001 to a million, does so faster, with
   integers, which are exact in this range. */
static char *prof__chrome_exact_number(char *to, double value)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    const uint64_t one = (uint64_t)1 << 52;
    uint64_t bits, fives = 1, step, number, away;
    size_t decimals = 11, digits;
    double least = 1e5;
    char text[20];
    wide scaled;
    int shift;
    memcpy(&bits, &value, sizeof bits);
    if (!(value >= 1e-4 && value < 1e6) || !(bits & (one - 1))) return to + prof__double_text(to, value);
    for (; value < least; least /= 10) decimals++;
    for (digits = 0; digits < decimals; digits++) fives *= 5;
    scaled = (wide)((bits & (one - 1)) | one) * fives; /* 2^shift * the value without its point, 17 digits */
    shift = 1075 - (int)(bits >> 52) - (int)decimals;
    for (step = 100;; step /= 10) {
        uint64_t rest;
        number = (uint64_t)(scaled >> shift) / step;
        rest = (uint64_t)(scaled - ((wide)(number * step) << shift)); /* what is cut off: below step * 2^shift */
        away = (step << shift) - rest;
        if (rest > away || (rest == away && number & 1))
            number++;
        else
            away = rest;
        if (step == 1 || 2 * away < fives) break; /* the text is nearer to the value than half a unit of its last bit */
    }
    for (; step > 1; step /= 10) decimals--;
    for (; decimals && number % 10 == 0; number /= 10) decimals--;
    digits = prof__digits(text, number);
    if (digits <= decimals) {
        memcpy(to, "0.000000", 8);
        to += 2 + decimals - digits;
        memcpy(to, text, sizeof text);
        return to + digits;
    }
    memcpy(to, text, digits - decimals);
    to += digits - decimals;
    if (!decimals) return to;
    *to = '.';
    memcpy(to + 1, text + digits - decimals, decimals);
    return to + 1 + decimals;
#else
    return to + prof__double_text(to, value);
#endif
}

/* Writes the duration with more than three decimals, as few as make the viewers' sums right. Returns NULL if none
   do. */
static char *prof__chrome_odd_duration(char *to, const prof__chrome_sum *sum, int64_t ns, int both)
{
    double wanted = sum->end2 - sum->start2; /* for speedscope; for both viewers, the mean of the durations they want */
    double missing, reach = sum->end / 1125899906842624.0, power = 1e3;
    int64_t one = 1000;
    int digits;
    if (both) {
        double middle = prof__chrome_double((wanted + (sum->end - sum->start)) / 2);
        reach += middle < wanted ? wanted - middle : middle - wanted;
        wanted = middle;
    }
    missing = (wanted - sum->duration) * 1e3;
    if (!(missing > -0.4 && missing < 0.4)) return NULL; /* from 2^43 us on, doubles cannot tell nanoseconds */
    reach *= 1e3; /* in ns: a duration farther off cannot give the right sum */
    for (digits = 3; digits <= 12; digits++, one *= 10, power *= 10) {
        double units = missing * power, off;
        int64_t steps;
        if (units > -0.5 && units < 0.5) continue;
        steps = (int64_t)(units < 0 ? units - 0.5 : units + 0.5);
        off = units - (double)steps;
        if (off > reach * power || off < -reach * power) continue;
        if (!prof__chrome_surely_adds_up(sum, sum->duration + (double)steps / (1e3 * power), both)) continue;
        return prof__chrome_long_duration(to, ns, steps, digits, one);
    }
    if (!prof__chrome_adds_up(sum, wanted, both)) return NULL; /* none exists: only in the first milliseconds */
    if (wanted < sum->duration || wanted > sum->duration) return prof__chrome_exact_number(to, wanted);
    return prof__chrome_microseconds(to, ns);
}

/* Writes a duration that makes the sums right. zero: when the first scope begins, in microseconds. */
static char *prof__chrome_exact_duration(char *to, int64_t start, int64_t duration, double zero)
{
    prof__chrome_sum sum;
    char *end = NULL;
    sum.start = (double)start / 1e3;
    sum.end = (double)(start + duration) / 1e3;
    sum.duration = (double)duration / 1e3;
    sum.start2 = prof__chrome_double(sum.start - zero);
    sum.end2 = prof__chrome_double(sum.end - zero);
    if (PROF__UNLIKELY(!prof__chrome_adds_up(&sum, sum.duration, 1))) {
        end = prof__chrome_odd_duration(to, &sum, duration, 1);
        if (!end) end = prof__chrome_odd_duration(to, &sum, duration, 0);
    }
    return end ? end : prof__chrome_microseconds(to, duration);
}

static void prof__chrome_number(prof__out *out, double value)
{
    if (prof__finite(value) && value > -1e15 && value < 1e15 &&
        !(value < (double)(int64_t)value) && !(value > (double)(int64_t)value))
        prof__out_signed(out, (int64_t)value);
    else
        prof__out_double(out, value);
}

/*-- text --*/

/* Returns 1 for names that viewers interpret. Some begin a CPU profile in speedscope and DevTools. Others are events of
   the browser, which make DevTools refuse the whole file if they lack certain arguments. */
static int prof__chrome_taken(const char *name)
{
    static const char *const taken[] = {
        "AbortPostTaskCallback", "ActivateLayerTree", "BeginMainThreadFrame", "BeginRemoteFontLoad", "CommitLoad",
        "CompositeLayers", "CpuProfile", "EventTiming", "FireIdleCallback", "FunctionCall", "InteractiveTime",
        "InvalidateLayout", "JitCodeAdded", "JitCodeMoved", "LayoutInvalidationTracking", "LayoutShift",
        "MarkDOMContent", "MarkLoad", "MetaCharsetCheck", "NeedsBeginFrameChanged", "Paint", "PaintImage",
        "ParseHTML", "PreloadRenderBlockingStatusChange", "Profile", "ProfileChunk", "RequestIdleCallback",
        "RequestMainThreadFrame", "ResourceFinish", "ResourceMarkAsCached", "ResourceReceiveResponse",
        "ResourceReceivedData", "ResourceSendRequest", "ResourceWillSendRequest", "RunPostTaskCallback",
        "SchedulePostTaskCallback", "ScheduleStyleInvalidationTracking", "ScheduleStyleRecalculation",
        "SetLayerTreeId", "SoftNavigationStart", "StyleInvalidatorInvalidationTracking",
        "StyleRecalcInvalidationTracking", "SyntheticNetworkRequest", "SyntheticSoftFirstContentfulPaint",
        "TimerFire", "TimerInstall", "TracingSessionIdForWorker", "TracingStartedInBrowser", "TracingStartedInPage",
        "UpdateLayoutTree", "UserTiming::Measure", "WebSocketCreate", "WebSocketDestroy", "WebSocketReceive",
        "WebSocketReceiveHandshakeResponse", "WebSocketSend", "WebSocketSendHandshakeRequest",
        "firstContentfulPaint", "firstPaint", "largestContentfulPaint::Candidate",
        "largestContentfulPaint::CandidateForSoftNavigation", "navigationStart", "thread_name"};
    return prof__display_listed(taken, sizeof taken / sizeof *taken, name);
}

/* Writes the name of an event as a JSON string. */
static void prof__chrome_name(prof__out *out, const char *name)
{
    PROF__CHROME_LITERAL(out, "\"");
    prof__out_json(out, *name ? name : "(unnamed)");
    if (prof__chrome_taken(name)) PROF__CHROME_LITERAL(out, " ");
    PROF__CHROME_LITERAL(out, "\"");
}

static void prof__chrome_category(prof__out *out, const char *category)
{
    int taken = strstr(category, "trace_event_overhead") || strstr(category, "blink.user_timing");
    PROF__CHROME_LITERAL(out, "\"");
    prof__out_json(out, *category && !taken ? category : "prof");
    PROF__CHROME_LITERAL(out, "\"");
}

/* Writes the source as file:line, without quotes. */
static void prof__chrome_source_text(prof__out *out, const prof_callsite *site)
{
    prof__out_json(out, site->file);
    PROF__CHROME_LITERAL(out, ":");
    prof__out_unsigned(out, site->line);
}

/* Returns the named color of chrome://tracing that is nearest to a color. chrome://tracing refuses a file with other
   names. */
static const char *prof__chrome_color(uint32_t color)
{
    static const struct {
        uint32_t color;
        const char *name;
    } known[] = {{0x7EC894, "thread_state_running"}, {0x85A0D2, "thread_state_runnable"},
                 {0xB67D8F, "thread_state_uninterruptible"}, {0xC79B7D, "thread_state_unknown"},
                 {0xFF8C00, "thread_state_iowait"}, {0xF0F0F0, "thread_state_sleeping"},
                 {0x00B4B4, "background_memory_dump"}, {0x0000B4, "light_memory_dump"},
                 {0xB400B4, "detailed_memory_dump"}, {0x0000FF, "vsync_highlight_color"},
                 {0x7D7D7D, "generic_work"}, {0x007D00, "good"}, {0xB47D00, "bad"}, {0xB40000, "terrible"},
                 {0x000000, "black"}, {0xDDDDDD, "grey"}, {0xFFFFFF, "white"}, {0xFFFF00, "yellow"},
                 {0x646400, "olive"}, {0x4387FD, "rail_response"}, {0xF44A3F, "rail_animation"},
                 {0xEE8E00, "rail_idle"}, {0x0DA861, "rail_load"}, {0xE6E600, "startup"},
                 {0xCC6600, "heap_dump_child_node_arrow"}, {0xFFFF77, "cq_build_running"},
                 {0x99EE66, "cq_build_passed"}, {0xEE8888, "cq_build_failed"}, {0xBBBBBB, "cq_build_abandoned"},
                 {0x67DA23, "cq_build_attempt_passed"}, {0xC55151, "cq_build_attempt_failed"}};
    size_t i, best = 0;
    long best_distance = -1;
    for (i = 0; i < sizeof known / sizeof *known; i++) {
        long red = (long)(known[i].color >> 16 & 255) - (long)(color >> 16 & 255);
        long green = (long)(known[i].color >> 8 & 255) - (long)(color >> 8 & 255);
        long blue = (long)(known[i].color & 255) - (long)(color & 255);
        long distance = 3 * red * red + 4 * green * green + 2 * blue * blue; /* roughly as the eye weighs them */
        if (best_distance < 0 || distance < best_distance) {
            best_distance = distance;
            best = i;
        }
    }
    return known[best].name;
}

static void prof__chrome_site_rest(prof__chrome *c, const prof_callsite *site)
{
    prof__out *out = &c->out;
    PROF__CHROME_LITERAL(out, ",\"cat\":");
    prof__chrome_category(out, site->category);
    if (*site->file && c->options.source != PROF_CHROME_SOURCE_NONE) {
        PROF__CHROME_LITERAL(out, ",\"loc\":\"");
        prof__chrome_source_text(out, site);
        PROF__CHROME_LITERAL(out, "\"");
    }
    if (site->color) {
        PROF__CHROME_LITERAL(out, ",\"cname\":\"");
        prof__out_text(out, prof__chrome_color(site->color));
        PROF__CHROME_LITERAL(out, "\"");
    }
}

static void prof__chrome_name_pair(prof__out *out, const char *name)
{
    PROF__CHROME_LITERAL(out, ",\"name\":");
    prof__chrome_name(out, name);
}

/* Makes and keeps the text of a call site. Returns 0 if it is too long, or without memory. */
static int prof__chrome_keep(prof__chrome *c, prof__site_text *kept, const prof_callsite *site)
{
    char *start = prof__site_text_begin(kept, site, &c->out);
    size_t rest;
    if (!start) return 0;
    prof__chrome_name_pair(&c->out, site->name);
    rest = (size_t)(c->out.cursor - start);
    prof__chrome_site_rest(c, site);
    return prof__site_text_end(&c->sites, kept, &c->out, start, rest, rest);
}

/* Writes the text that an event has from its call site, with a name that need not be the call site's. */
static void prof__chrome_describe(prof__chrome *c, const prof_callsite *site, const char *name)
{
    prof__site_text *kept = prof__site_text_of(&c->sites, site);
    int there = prof__site_text_kept(kept) || prof__chrome_keep(c, kept, site);
    prof__chrome_name_pair(&c->out, name);
    if (there) {
        char *to = prof__out_reserve(&c->out, PROF__SITE_TEXT + PROF__SITE_COPY);
        c->out.cursor = prof__site_text_copy(to, prof__site_text_at(&c->sites, kept) + kept->rest,
                                             (size_t)(kept->size - kept->rest));
    } else {
        prof__chrome_site_rest(c, site);
    }
}

/*-- arguments --*/

static void prof__chrome_hex(prof__out *out, uint64_t value)
{
    char *to = prof__out_reserve(out, 20);
    size_t at = 0;
    int shift = 60;
    to[at++] = '0';
    to[at++] = 'x';
    while (shift && !(value >> shift)) shift -= 4;
    for (; shift >= 0; shift -= 4) to[at++] = "0123456789abcdef"[value >> shift & 15];
    prof__out_commit(out, at);
}

static void prof__chrome_value(prof__out *out, const prof_value *value)
{
    int quoted = value->type == PROF_VALUE_STRING || value->type == PROF_VALUE_POINTER ||
                 (value->type == PROF_VALUE_INT && (value->as.i > PROF__CHROME_EXACT ||
                                                    value->as.i < -PROF__CHROME_EXACT)) ||
                 (value->type == PROF_VALUE_UINT && value->as.u > (uint64_t)PROF__CHROME_EXACT) ||
                 (value->type == PROF_VALUE_DOUBLE && !prof__finite(value->as.d));
    if (quoted) PROF__CHROME_LITERAL(out, "\"");
    switch ((int)value->type) {
    case PROF_VALUE_INT: prof__out_signed(out, value->as.i); break;
    case PROF_VALUE_UINT: prof__out_unsigned(out, value->as.u); break;
    case PROF_VALUE_DOUBLE: prof__chrome_number(out, value->as.d); break;
    case PROF_VALUE_BOOL: prof__out_text(out, value->as.u ? "true" : "false"); break;
    case PROF_VALUE_POINTER: prof__chrome_hex(out, value->as.u); break;
    case PROF_VALUE_STRING:
        prof__out_json(out, value->as.string);
        if (value->cut) PROF__CHROME_LITERAL(out, "\xE2\x80\xA6"); /* U+2026, an ellipsis */
        break;
    default: PROF__CHROME_LITERAL(out, "null"); break;
    }
    if (quoted) PROF__CHROME_LITERAL(out, "\"");
}

/* Writes the key of an argument. Before the first key, opens the arguments of the line. */
static void prof__chrome_key(prof__out *out, int *count, const char *key)
{
    if ((*count)++)
        PROF__CHROME_LITERAL(out, ",\"");
    else
        PROF__CHROME_LITERAL(out, ",\"args\":{\"");
    prof__out_json(out, *key ? key : "(unnamed)");
    PROF__CHROME_LITERAL(out, "\":");
}

/* Writes an argument. Appends a space to a key that this file uses for something else. */
static void prof__chrome_arg(prof__out *out, int *count, const prof_arg *arg)
{
    if (!strcmp(arg->key, "truncated") || !strcmp(arg->key, "source") || !strcmp(arg->key, "function")) {
        char key[16];
        strcpy(key, arg->key);
        prof__chrome_key(out, count, strcat(key, " "));
    } else {
        prof__chrome_key(out, count, arg->key);
    }
    prof__chrome_value(out, &arg->value);
}

typedef struct prof__chrome_order {
    const char *key;
    uint32_t at, last; /* last: in the list by position: 1: no later argument has this key */
} prof__chrome_order;

static int prof__chrome_by_key(const void *a, const void *b)
{
    const prof__chrome_order *x = (const prof__chrome_order *)a, *y = (const prof__chrome_order *)b;
    int order = strcmp(x->key, y->key);
    return order ? order : x->at < y->at ? -1 : 1;
}

/* Writes the arguments of an event. Of several with one key, writes the last one. */
static void prof__chrome_many_args(prof__out *out, int *count, const prof_event *event)
{
    uint32_t i, n = event->arg_count;
    prof__chrome_order *order = (prof__chrome_order *)malloc(n * sizeof *order);
    unsigned char *last = (unsigned char *)calloc(n, 1);
    if (order && last) {
        for (i = 0; i < n; i++) {
            order[i].key = event->args[i].key;
            order[i].at = i;
        }
        qsort(order, n, sizeof *order, prof__chrome_by_key);
        for (i = 0; i < n; i++)
            if (i + 1 == n || strcmp(order[i].key, order[i + 1].key)) last[order[i].at] = 1;
        for (i = 0; i < n; i++)
            if (last[i]) prof__chrome_arg(out, count, &event->args[i]);
    } else {
        prof__out_fail(out, prof__fail(PROF_NO_MEMORY, "no memory for an event with %lu arguments", (unsigned long)n));
    }
    free(order);
    free(last);
}

static void prof__chrome_args(prof__out *out, int *count, const prof_event *event)
{
    uint32_t i, j;
    if (event->arg_count > 16) {
        prof__chrome_many_args(out, count, event);
        return;
    }
    for (i = 0; i < event->arg_count; i++) {
        for (j = i + 1; j < event->arg_count; j++)
            if (!strcmp(event->args[i].key, event->args[j].key)) break;
        if (j == event->arg_count) prof__chrome_arg(out, count, &event->args[i]);
    }
}

static void prof__chrome_source_args(prof__out *out, int *count, const prof_callsite *site)
{
    if (*site->file) {
        prof__chrome_key(out, count, "source");
        PROF__CHROME_LITERAL(out, "\"");
        prof__chrome_source_text(out, site);
        PROF__CHROME_LITERAL(out, "\"");
    }
    if (*site->function) {
        prof__chrome_key(out, count, "function");
        PROF__CHROME_LITERAL(out, "\"");
        prof__out_json(out, site->function);
        PROF__CHROME_LITERAL(out, "\"");
    }
}

static void prof__chrome_truncated(prof__out *out, int *count, uint32_t flags)
{
    if (!(flags & (PROF_TRUNCATED_BEGIN | PROF_TRUNCATED_END))) return;
    prof__chrome_key(out, count, "truncated");
    prof__out_text(out, !(flags & PROF_TRUNCATED_BEGIN) ? "\"end\""
                        : flags & PROF_TRUNCATED_END    ? "\"begin and end\""
                                                        : "\"begin\"");
}

static void prof__chrome_all_args(prof__chrome *c, const prof_event *event)
{
    static const char *const scopes[] = {"\"global\"", "\"process\"", "\"task\"", "\"marker\""};
    prof__out *out = &c->out;
    int count = 0;
    if (event->type != PROF_EVENT_SCOPE || !c->options.no_args) prof__chrome_args(out, &count, event);
    prof__chrome_truncated(out, &count, event->flags);
    if (event->site->role >= PROF_ROLE_MARK_GLOBAL && event->site->role <= PROF_ROLE_MARK_MARKER) {
        prof__chrome_key(out, &count, "scope");
        prof__out_text(out, scopes[event->site->role - PROF_ROLE_MARK_GLOBAL]);
    }
    if (c->mark_thread) {
        prof__chrome_key(out, &count, "thread");
        PROF__CHROME_LITERAL(out, "\"");
        prof__out_json(out, c->mark_thread);
        PROF__CHROME_LITERAL(out, "\"");
    }
    if (c->options.source == PROF_CHROME_SOURCE_ARGS) prof__chrome_source_args(out, &count, event->site);
    if (count) PROF__CHROME_LITERAL(out, "}");
}

/*-- lines --*/

static void prof__chrome_make_ids(const prof__chrome *c, prof__chrome_ids *ids, uint32_t tid)
{
    size_t at = 7;
    memcpy(ids->text, ",\"pid\":", 7);
    at += prof__digits(ids->text + at, c->pid);
    memcpy(ids->text + at, ",\"tid\":", 7);
    at += 7;
    at += prof__digits(ids->text + at, tid);
    memcpy(ids->text + at, ",\"ts\":", 6);
    ids->size = at + 6;
}

/* Begins a line with a metadata event, up to where the value of its argument comes. */
static void prof__chrome_metadata(prof__chrome *c, const char *name, uint32_t tid, const char *key)
{
    prof__out *out = &c->out;
    PROF__CHROME_LITERAL(out, ",\n{\"ph\":\"M\",\"name\":\"");
    prof__out_text(out, name);
    PROF__CHROME_LITERAL(out, "\",\"cat\":\"__metadata\",\"pid\":");
    prof__out_unsigned(out, c->pid);
    PROF__CHROME_LITERAL(out, ",\"tid\":");
    prof__out_unsigned(out, tid);
    PROF__CHROME_LITERAL(out, ",\"ts\":0,\"args\":{\"");
    prof__out_text(out, key);
    PROF__CHROME_LITERAL(out, "\":");
}

static void prof__chrome_thread_name(prof__chrome *c, uint32_t tid, const char *prefix, const char *name)
{
    prof__chrome_metadata(c, "thread_name", tid, "name");
    PROF__CHROME_LITERAL(&c->out, "\"");
    prof__out_text(&c->out, prefix);
    prof__out_json(&c->out, *name ? name : "(unnamed)");
    PROF__CHROME_LITERAL(&c->out, "\"}}");
}

static void prof__chrome_sort_index(prof__chrome *c, uint32_t tid, int64_t index)
{
    prof__chrome_metadata(c, "thread_sort_index", tid, "sort_index");
    prof__out_signed(&c->out, index);
    PROF__CHROME_LITERAL(&c->out, "}}");
}

/* Writes the duration of the previous scope, which depends on the next event. start: when that begins, or INT64_MAX if
   there is none; name: the name of a scope, NULL for other events. */
static inline char *prof__chrome_close(prof__chrome_track *track, char *to, int64_t start, const char *name)
{
    int64_t end = track->scope.start + track->scope.duration;
    int touches = start <= end; /* the next event adjoins, or is inside: then a neighbour may come later */
    memcpy(to, ",\"dur\":", 8);
    to += 7;
    if (!track->scope.duration) {
        memcpy(to, "0.0001", 6);
        to += 6;
    } else if (start == end && name && (track->scope.name ? !strcmp(name, track->scope.name)
                                                          : prof__text_hash(name) == track->scope.hash)) {
        to = prof__chrome_microseconds(to, track->scope.duration - 1); /* adds 0.9 ns: otherwise speedscope takes the */
        *to++ = '9';                                                   /* next scope for an inner one */
    } else if (touches || track->scope.exact) {
        to = prof__chrome_exact_duration(to, track->scope.start, track->scope.duration, track->zero);
    } else {
        to = prof__chrome_microseconds(to, track->scope.duration);
    }
    *to = '}';
    track->scope.open = 0;
    return to + 1;
}

static void prof__chrome_close_last(prof__chrome *c, prof__chrome_track *track, int64_t start, const char *name)
{
    char *to = prof__out_reserve(&c->out, 64);
    if (track->scope.open) prof__out_commit(&c->out, (size_t)(prof__chrome_close(track, to, start, name) - to));
}

/* Writes a line up to the value of ts. start: the first 11 bytes, such as ,\n{"ph":"X"; to: the end of the text, with
   512 bytes reserved. That is more than a line has, because texts are copied in pieces of a fixed size. */
static inline char *prof__chrome_line(prof__chrome *c, char *to, const prof__chrome_ids *ids, const prof_callsite *site,
                                      const char *name, const char *start, int64_t ns)
{
    const prof__site_text *kept = prof__site_text_of(&c->sites, site);
    memcpy(to, start, 11);
    to += 11;
    if (PROF__LIKELY(prof__site_text_kept(kept) && name == site->name)) {
        to = prof__site_text_copy(to, prof__site_text_at(&c->sites, kept), kept->size);
    } else {
        prof__out_commit(&c->out, (size_t)(to - c->out.cursor));
        prof__chrome_describe(c, site, name);
        to = prof__out_reserve(&c->out, 128);
    }
    memcpy(to, ids->text, sizeof ids->text);
    return prof__chrome_stamp(c, to + ids->size, ns);
}

static void prof__chrome_begin(prof__chrome *c, const prof__chrome_ids *ids, const prof_event *event, const char *start,
                               int64_t ns)
{
    char *to = prof__out_reserve(&c->out, 512);
    to = prof__chrome_line(c, to, ids, event->site, event->name, start, ns);
    prof__out_commit(&c->out, (size_t)(to - c->out.cursor));
}

/* Writes the line of a scope up to its arguments. `to` is as for prof__chrome_line(). */
static inline char *prof__chrome_open(prof__chrome *c, char *to, prof__chrome_track *track, const prof_callsite *site,
                                      const char *name, int64_t start, int64_t duration, uint32_t depth)
{
    int64_t end = start + duration;
    if (track->origin < 0) {
        track->origin = start;
        track->zero = (double)start / 1e3;
    }
    track->scope.open = 1;
    track->scope.name = name == site->name ? name : NULL;
    track->scope.start = start;
    track->scope.duration = duration;
    track->scope.exact = depth > PROF__CHROME_DEPTH || (depth && track->ends[depth - 1] <= end);
    if (depth < PROF__CHROME_DEPTH) track->ends[depth] = end;
    return prof__chrome_line(c, to, &track->ids, site, name, ",\n{\"ph\":\"X\"", start);
}

static void prof__chrome_slice(prof__chrome *c, prof__chrome_track *track, const prof_event *event)
{
    char *to = prof__out_reserve(&c->out, 512);
    to = prof__chrome_open(c, to, track, event->site, event->name, prof__chrome_time(event->start_ns),
                           event->duration_ns, event->depth);
    prof__out_commit(&c->out, (size_t)(to - c->out.cursor));
    if (event->arg_count | event->flags | (uint32_t)c->options.source) prof__chrome_all_args(c, event);
    if (!track->scope.name) track->scope.hash = prof__text_hash(event->name);
}

/* Writes the next scopes of the track, as long as they are plain: without arguments and the like. */
static void prof__chrome_plain(prof__chrome *c, prof__chrome_track *track, prof_cursor *cursor)
{
    const prof_callsite *site;
    const prof__read_node *node;
    while ((node = prof__cursor_plain(cursor, &site)) != NULL) {
        int64_t start = node->start_ns + c->offset;
        char *to = prof__out_reserve(&c->out, 576);
        if (track->scope.open) to = prof__chrome_close(track, to, start, site->name);
        to = prof__chrome_open(c, to, track, site, site->name, prof__chrome_time(start), node->end_ns - node->start_ns,
                               node->depth);
        prof__out_commit(&c->out, (size_t)(to - c->out.cursor));
    }
}

static void prof__chrome_scope(prof__chrome *c, prof__chrome_track *track, const prof_event *event)
{
    if ((uint64_t)event->duration_ns >= c->options.min_duration_ns) prof__chrome_slice(c, track, event);
}

/* Returns 1 if an event lies in the window of the options, at least in part. */
static int prof__chrome_wanted(const prof__chrome *c, const prof_event *event)
{
    return prof__display_wanted(event, 0, c->options.from_ns, c->options.to_ns);
}

/* Returns 1 if a track of this part has events of a group. */
static int prof__chrome_has(const void *chrome, size_t track, unsigned group)
{
    return ((const prof__chrome *)chrome)->threads[track].groups >> group & 1;
}

static int prof__chrome_any(const prof__chrome *c, unsigned group)
{
    size_t i;
    for (i = 0; i < prof_trace_track_count(c->trace); i++)
        if (prof__chrome_has(c, i, group)) return 1;
    return 0;
}

/* Makes the following lines belong to the process of this track. */
static void prof__chrome_enter(prof__chrome *c, size_t index) { c->pid = c->threads[index].pid; }

/* Writes the key of a counter's sample. Perfetto shows the name of the event, a space and this key; so it is empty, but
   for Tracy, which knows nothing else of a counter. */
static void prof__chrome_series(prof__chrome *c, const char *what, const char *name)
{
    PROF__CHROME_LITERAL(&c->out, ",\"args\":{\"");
    if (c->options.tracy) {
        prof__out_text(&c->out, what);
        prof__out_json(&c->out, name);
    }
    PROF__CHROME_LITERAL(&c->out, "\":");
}

/* Writes a line about memory or a lock up to its time. The name of the event is `what` followed by `name`. */
static void prof__chrome_object_line(prof__chrome *c, const char *start, const char *what, const char *name)
{
    prof__out *out = &c->out;
    prof__out_text(out, start);
    PROF__CHROME_LITERAL(out, ",\"name\":\"");
    prof__out_text(out, what);
    prof__out_json(out, name);
    PROF__CHROME_LITERAL(out, "\"");
}

static void prof__chrome_object_time(prof__chrome *c, uint32_t tid, int64_t ns)
{
    prof__chrome_ids ids;
    prof__chrome_make_ids(c, &ids, tid);
    prof__out_bytes(&c->out, ids.text, ids.size);
    prof__chrome_ns(&c->out, prof__chrome_time(ns));
}

static int prof__chrome_in_window(const prof__chrome *c, int64_t start, int64_t end)
{
    return prof__display_in(start, end, c->options.from_ns, c->options.to_ns);
}

/*-- counters --*/

static void prof__chrome_counter(prof__chrome *c, uint32_t tid, const prof_event *event)
{
    prof__chrome_ids ids;
    prof__out *out = &c->out;
    int is_double = event->value.type == PROF_VALUE_DOUBLE;
    prof__chrome_make_ids(c, &ids, tid);
    if (is_double && !prof__finite(event->value.as.d)) {
        prof__chrome_begin(c, &ids, event, ",\n{\"ph\":\"i\"", prof__chrome_time(event->start_ns));
        PROF__CHROME_LITERAL(out, ",\"s\":\"t\",\"args\":{\"value\":");
        prof__chrome_value(out, &event->value);
    } else {
        prof__chrome_begin(c, &ids, event, ",\n{\"ph\":\"C\"", prof__chrome_time(event->start_ns));
        if (*event->site->unit) { /* viewers ignore it here; among args it would be a series of its own */
            PROF__CHROME_LITERAL(out, ",\"unit\":\"");
            prof__out_json(out, event->site->unit);
            PROF__CHROME_LITERAL(out, "\"");
        }
        prof__chrome_series(c, "", *event->name ? event->name : "(unnamed)");
        if (is_double)
            prof__chrome_number(out, event->value.as.d);
        else if (event->value.type == PROF_VALUE_UINT)
            prof__out_unsigned(out, event->value.as.u);
        else
            prof__out_signed(out, event->value.as.i);
    }
    PROF__CHROME_LITERAL(out, "}}");
}

/* Writes the samples of all threads in order of time. Viewers do not sort the samples of a counter. */
static void prof__chrome_counters(prof__chrome *c)
{
    prof_timeline *timeline = NULL;
    prof_event event;
    size_t track;
    prof_status status, closed;
    if (!prof__chrome_any(c, PROF__GROUP_COUNTER)) return;
    status = prof__timeline_of(c->trace, PROF__GROUP_COUNTER, PROF__GROUP_COUNTER, prof__chrome_has, c, &timeline);
    while (!status && c->out.status == PROF_OK && prof_timeline_next(timeline, &event, &track)) {
        event.start_ns += c->offset;
        if (!prof__chrome_wanted(c, &event)) continue;
        prof__chrome_enter(c, track);
        prof__chrome_counter(c, c->threads[track].id, &event);
    }
    c->pid = c->part->pid;
    closed = prof_timeline_close(timeline);
    if (status || closed) prof__out_fail(&c->out, status ? status : closed);
}

/*-- instants --*/

static void prof__chrome_instant(prof__chrome *c, const prof__chrome_ids *ids, const prof_event *event)
{
    prof__chrome_begin(c, ids, event, ",\n{\"ph\":\"i\"", prof__chrome_time(event->start_ns));
    PROF__CHROME_LITERAL(&c->out, ",\"s\":\"t\"");
    prof__chrome_all_args(c, event);
    PROF__CHROME_LITERAL(&c->out, "}");
}

/* Returns the track for marks of all threads with this name. Adds it if it is new. Returns NULL if there are too
   many. */
static const prof__chrome_marks *prof__chrome_mark_track(prof__chrome *c, const char *name)
{
    prof__chrome_marks *marks;
    size_t i;
    for (i = 0; i < c->mark_count; i++) {
        const char *other = c->marks[i].name;
        if (c->marks[i].pid == c->pid && (other == name || (other && name && !strcmp(other, name))))
            return &c->marks[i];
    }
    if (i == PROF__CHROME_MARKS) return NULL;
    marks = &c->marks[c->mark_count++];
    marks->name = name;
    marks->pid = c->pid;
    marks->tid = prof__chrome_new_id(c);
    prof__chrome_thread_name(c, marks->tid, name ? "mark: " : "", name ? name : "marks");
    prof__chrome_sort_index(c, marks->tid, (int64_t)i - 900000);
    return marks;
}

/* Writes a mark. Viewers draw the marks of a process, and global ones, as bars across all rows, without names, or not
   at all. So such a mark is an instant on a track of its own, with its name. */
static void prof__chrome_mark(prof__chrome *c, const prof__chrome_track *track, size_t index, const prof_event *event)
{
    const prof__chrome_marks *marks = NULL;
    prof__chrome_ids ids;
    if (event->site->role == PROF_ROLE_MARK_GLOBAL || event->site->role == PROF_ROLE_MARK_PROCESS)
        marks = prof__chrome_mark_track(c, event->name == event->site->name ? event->name : NULL);
    if (marks) {
        prof__chrome_make_ids(c, &ids, marks->tid);
        if (*prof_trace_track(c->trace, index)->name) c->mark_thread = prof_trace_track(c->trace, index)->name;
    }
    prof__chrome_instant(c, marks ? &ids : &track->ids, event);
    c->mark_thread = NULL;
}

static void prof__chrome_message(prof__chrome *c, const prof__chrome_ids *ids, const prof_event *event)
{
    prof_event message = *event;
    prof_arg severity;
    memset(&severity, 0, sizeof severity);
    severity.key = "severity";
    severity.value.type = PROF_VALUE_STRING;
    severity.value.as.string = prof__severity_text(event->detail);
    message.name = event->value.as.string;
    message.args = &severity;
    message.arg_count = 1;
    prof__chrome_instant(c, ids, &message);
}

static void prof__chrome_lost(prof__chrome *c, const prof__chrome_ids *ids, const prof_event *event)
{
    prof__out *out = &c->out;
    PROF__CHROME_LITERAL(out, ",\n{\"ph\":\"i\",\"name\":\"lost ");
    prof__out_unsigned(out, event->value.as.u);
    PROF__CHROME_LITERAL(out, " events\",\"cat\":\"prof\"");
    prof__out_bytes(out, ids->text, ids->size);
    prof__chrome_ns(out, prof__chrome_time(event->start_ns));
    PROF__CHROME_LITERAL(out, ",\"s\":\"t\",\"args\":{\"lost\":");
    prof__chrome_value(out, &event->value);
    PROF__CHROME_LITERAL(out, "}}");
}

/*-- flows --
   While the tracks are written, it is only noted which have flows. Afterwards the points of these tracks are read
   again, in order of time. Viewers want the last point of a flow to be an "f", and those between to be a "t". So each
   point is held until it is known whether another follows. An arrow leads from slice to slice; a point outside of
   slices gets one. */

enum { PROF__CHROME_IDLE = 0, PROF__CHROME_BEGUN, PROF__CHROME_JOINED };

/* The flow that is going on with one name and id. */
typedef struct prof__chrome_flow {
    prof__flow of;
    uint64_t count;            /* how many flows there were with this name and id */
    const prof_callsite *site; /* the call site of its FLOW_OUT */
    const prof_callsite *at;   /* of the point that is held: the call site, */
    int64_t ns;
    size_t track;
    uint32_t depth;
    int shown;                 /* 1: the point was written as an instant before */
    int state;                 /* BEGUN: the point is the FLOW_OUT, and no other has come yet */
} prof__chrome_flow;

/* Makes an event whose only argument is the id of a flow. */
static prof_event prof__chrome_point(const char *name, const prof_callsite *site, int64_t ns, uint64_t id,
                                     prof_arg *arg)
{
    prof_event event;
    memset(&event, 0, sizeof event);
    memset(arg, 0, sizeof *arg);
    arg->key = "flow";
    arg->value.type = PROF_VALUE_POINTER;
    arg->value.as.u = id;
    event.type = PROF_EVENT_SCOPE;
    event.name = name; /* the call site of a device has no name */
    event.site = site;
    event.start_ns = ns;
    event.args = arg;
    event.arg_count = 1;
    return event;
}

/* Returns 1 if a point must get a slice: no scope is around it, or that scope may be too short to be written. */
static int prof__chrome_bare(const prof__chrome *c, uint32_t depth) { return !depth || c->options.min_duration_ns; }

static void prof__chrome_flow_met(prof__chrome *c, prof__chrome_track *track, const prof_event *event)
{
    prof_arg arg, *args = NULL;
    prof_event point = prof__chrome_point(event->name, event->site, event->start_ns, event->object, &arg);
    point.depth = event->depth;
    if (event->arg_count) args = (prof_arg *)malloc((event->arg_count + 1) * sizeof *args);
    if (args) { /* viewers take the last of equal keys: the id of the flow */
        memcpy(args, event->args, event->arg_count * sizeof *args);
        args[event->arg_count] = arg;
        point.args = args;
        point.arg_count = event->arg_count + 1;
    }
    if (prof__chrome_bare(c, event->depth))
        prof__chrome_slice(c, track, &point);
    else if (args)
        prof__chrome_instant(c, &track->ids, &point);
    free(args);
}

/* Writes the held point as a part of an arrow. */
static void prof__chrome_arrow(prof__chrome *c, const prof__chrome_flow *flow, const char *start)
{
    prof__out *out = &c->out;
    prof__chrome_ids ids;
    prof_arg arg;
    prof_event point = prof__chrome_point(flow->of.name, flow->site, flow->ns, flow->of.id, &arg);
    char name[200];
    int own = c->part_count > 1 && flow->site->role != PROF_ROLE_SHARED; /* no other process may have its name */
    if (flow->count > 1 || own) {
        size_t at = strlen(flow->of.name) < 120 ? strlen(flow->of.name) : 120;
        memcpy(name, flow->of.name, at);
        name[at] = 0;
        if (flow->count > 1) snprintf(name + at, sizeof name - at, " #%llu", (unsigned long long)flow->count);
        at = strlen(name);
        if (own) snprintf(name + at, sizeof name - at, " of %lu", (unsigned long)c->part->pid);
        point.name = name;
    }
    prof__chrome_enter(c, flow->track);
    prof__chrome_make_ids(c, &ids, c->threads[flow->track].id);
    prof__chrome_begin(c, &ids, &point, start, prof__chrome_time(flow->ns));
    PROF__CHROME_LITERAL(out, ",\"id\":\"");
    prof__chrome_hex(out, flow->of.id);
    if (start[9] == 'f')
        PROF__CHROME_LITERAL(out, "\",\"bp\":\"e\"}");
    else
        PROF__CHROME_LITERAL(out, "\"}");
}

/* Writes a point that has no counterpart, unless it has been written as an instant. */
static void prof__chrome_alone(prof__chrome *c, const prof__chrome_flow *flow, const prof_callsite *site, size_t track,
                               uint32_t depth, int64_t ns)
{
    prof__chrome_ids ids;
    prof_arg arg;
    prof_event point = prof__chrome_point(flow->of.name, site, ns, flow->of.id, &arg);
    if (prof__chrome_bare(c, depth)) return;
    prof__chrome_enter(c, track);
    prof__chrome_make_ids(c, &ids, c->threads[track].id);
    prof__chrome_instant(c, &ids, &point);
}

/* Ends a flow, because no further point belongs to it. */
static void prof__chrome_flow_end(prof__chrome *c, prof__chrome_flow *flow)
{
    if (flow->state == PROF__CHROME_BEGUN && !flow->shown)
        prof__chrome_alone(c, flow, flow->at, flow->track, flow->depth, flow->ns);
    if (flow->state == PROF__CHROME_JOINED) prof__chrome_arrow(c, flow, ",\n{\"ph\":\"f\"");
    flow->state = PROF__CHROME_IDLE;
}

static void prof__chrome_flow_point(prof__chrome *c, prof__chrome_flow *flow, const prof_event *event, size_t track)
{
    if (event->type == PROF_EVENT_FLOW_OUT) {
        prof__chrome_flow_end(c, flow);
        flow->site = event->site;
        flow->count++;
        flow->state = PROF__CHROME_BEGUN;
    } else if (flow->state == PROF__CHROME_IDLE) {
        if (!event->arg_count) prof__chrome_alone(c, flow, event->site, track, event->depth, event->start_ns);
        return;
    } else {
        prof__chrome_arrow(c, flow, flow->state == PROF__CHROME_BEGUN ? ",\n{\"ph\":\"s\"" : ",\n{\"ph\":\"t\"");
        flow->state = PROF__CHROME_JOINED;
    }
    flow->at = event->site;
    flow->ns = event->start_ns;
    flow->track = track;
    flow->depth = event->depth;
    flow->shown = event->arg_count != 0;
}

/* Writes a point of a flow that other processes have, too: viewers join them by its name and id. */
static void prof__chrome_shared(prof__chrome *c, const prof_event *event, size_t track)
{
    prof__chrome_flow point;
    memset(&point, 0, sizeof point);
    point.of.name = event->name;
    point.of.id = event->object;
    point.site = event->site;
    point.ns = event->start_ns;
    point.track = track;
    prof__chrome_arrow(c, &point, event->type == PROF_EVENT_FLOW_OUT    ? ",\n{\"ph\":\"s\""
                                  : event->type == PROF_EVENT_FLOW_STEP ? ",\n{\"ph\":\"t\""
                                                                        : ",\n{\"ph\":\"f\"");
}

static void prof__chrome_write_flows(prof__chrome *c)
{
    prof__flows flows;
    prof_timeline *timeline = NULL;
    prof_event event;
    size_t track, i;
    prof_status status, closed;
    if (!prof__chrome_any(c, PROF__GROUP_FLOW)) return;
    status = prof__timeline_of(c->trace, PROF__GROUP_FLOW, PROF__GROUP_FLOW, prof__chrome_has, c, &timeline);
    memset(&flows, 0, sizeof flows);
    flows.element = sizeof(prof__chrome_flow);
    while (status == PROF_OK && c->out.status == PROF_OK && prof_timeline_next(timeline, &event, &track)) {
        prof__chrome_flow *flow;
        event.start_ns += c->offset;
        if (!prof__chrome_wanted(c, &event)) continue;
        if (c->part_count > 1 && event.site->role == PROF_ROLE_SHARED) {
            prof__chrome_shared(c, &event, track);
            continue;
        }
        flow = (prof__chrome_flow *)prof__flow_of(&flows, &event);
        if (flow)
            prof__chrome_flow_point(c, flow, &event, track);
        else
            status = prof__fail(PROF_NO_MEMORY, "no memory for %lu flows", (unsigned long)flows.count);
    }
    for (i = 0; i < flows.count; i++) prof__chrome_flow_end(c, (prof__chrome_flow *)prof__flow_at(&flows, i));
    c->pid = c->part->pid;
    closed = prof_timeline_close(timeline);
    if (status || closed) prof__out_fail(&c->out, status ? status : closed);
    prof__flows_free(&flows);
}

/*-- locks --*/

/* Returns the track for locks that one thread holds at a time. On tracks of threads, chrome://tracing would show them
   above each thread. */
static uint32_t prof__chrome_lock_track(prof__chrome *c)
{
    if (!c->lock_tid) {
        c->lock_tid = prof__chrome_new_id(c);
        prof__chrome_thread_name(c, c->lock_tid, "", "locks");
        prof__chrome_sort_index(c, c->lock_tid, 1000000000);
    }
    return c->lock_tid;
}

/* Writes the begin or end of a span of a lock, up to its time. alone: 1: no other span of the lock overlaps with it. */
static void prof__chrome_lock_line(prof__chrome *c, const prof__lock_span *span, int alone, const char *start,
                                   int64_t ns)
{
    prof__out *out = &c->out;
    uint32_t tid = alone ? prof__chrome_lock_track(c) : c->threads[span->track].id;
    prof__chrome_object_line(c, start, span->held ? "lock " : "wait for ", span->name);
    PROF__CHROME_LITERAL(out, ",\"id2\":{\"local\":\"");
    prof__chrome_hex(out, span->lock);
    if (!alone) {
        PROF__CHROME_LITERAL(out, " ");
        prof__out_unsigned(out, tid);
    }
    PROF__CHROME_LITERAL(out, "\"}");
    prof__chrome_object_time(c, tid, ns + c->offset);
}

/* Writes a span of a lock. Spans of a lock that do not overlap share a row. */
static void prof__chrome_lock_span(prof__chrome *c, const prof__lock_span *span)
{
    prof__out *out = &c->out;
    const char *thread = prof_trace_track(c->trace, span->track)->name;
    int alone = span->held && !span->shared;
    if ((uint64_t)(span->end - span->start) < c->options.min_duration_ns ||
        !prof__chrome_in_window(c, span->start + c->offset, span->end + c->offset))
        return;
    prof__chrome_lock_line(c, span, alone, ",\n{\"ph\":\"b\",\"cat\":\"lock\"", span->start);
    PROF__CHROME_LITERAL(out, ",\"args\":{\"thread\":");
    if (*thread) {
        PROF__CHROME_LITERAL(out, "\"");
        prof__out_json(out, thread);
        PROF__CHROME_LITERAL(out, "\"");
    } else {
        prof__out_unsigned(out, c->threads[span->track].id);
    }
    if (span->open) PROF__CHROME_LITERAL(out, ",\"truncated\":\"end\"");
    PROF__CHROME_LITERAL(out, "}}");
    prof__chrome_lock_line(c, span, alone, ",\n{\"ph\":\"e\",\"cat\":\"lock\"", span->end);
    PROF__CHROME_LITERAL(out, "}");
}

static void prof__chrome_locks(prof__chrome *c)
{
    prof__lock_spans spans;
    prof__lock_span span;
    prof_status status;
    if (!prof__chrome_any(c, PROF__GROUP_LOCK)) return;
    prof__lock_spans_open(&spans, c->trace, prof__chrome_has, c);
    while (c->out.status == PROF_OK && prof__lock_spans_next(&spans, &span)) prof__chrome_lock_span(c, &span);
    status = prof__lock_spans_close(&spans);
    if (status) prof__out_fail(&c->out, status);
}

/*-- memory --*/

/* Writes an allocation or a free as an instant with its address and bytes. */
static void prof__chrome_memory_instant(prof__chrome *c, const prof__chrome_ids *ids, const prof_event *event)
{
    prof__out *out = &c->out;
    prof__chrome_begin(c, ids, event, ",\n{\"ph\":\"i\"", prof__chrome_time(event->start_ns));
    PROF__CHROME_LITERAL(out, ",\"s\":\"t\",\"args\":{\"address\":\"");
    prof__chrome_hex(out, event->object);
    PROF__CHROME_LITERAL(out, "\"");
    if (event->type == PROF_EVENT_ALLOC) {
        PROF__CHROME_LITERAL(out, ",\"bytes\":");
        if (event->detail > (uint64_t)PROF__CHROME_EXACT) PROF__CHROME_LITERAL(out, "\"");
        prof__out_unsigned(out, event->detail);
        if (event->detail > (uint64_t)PROF__CHROME_EXACT) PROF__CHROME_LITERAL(out, "\"");
    }
    PROF__CHROME_LITERAL(out, "}}");
}

/* The live bytes of a pool change with each allocation: more than a viewer can draw, and most of the file. So a
   curve is written in steps of a PROF__CHROME_STEPS-th of the time. Of a step it has the first and the last value, the
   lowest and the highest: a peak is never lost. */
#define PROF__CHROME_STEPS 5000

typedef struct prof__chrome_live {
    int64_t ns;
    uint64_t bytes;
} prof__chrome_live;

typedef struct prof__chrome_curve {
    prof__chrome_live first, low, high, last; /* of the step that is not written yet */
    int64_t end;                               /* of that step */
    int open;                                  /* 1: there is such a step */
} prof__chrome_curve;

typedef struct prof__chrome_curves {
    prof__chrome_curve *items; /* by the row of the pool */
    size_t count, pool;        /* pool: the one whose value at the time ns is not complete yet, or PROF__NONE */
    int64_t ns, step;          /* step 0: each value is written */
} prof__chrome_curves;

/* Writes a sample of the live bytes of a pool. */
static void prof__chrome_pool(prof__chrome *c, const prof__heap *heap, size_t pool, const prof__chrome_live *point)
{
    prof__out *out = &c->out;
    const char *name = heap->rows[pool].about.pool, *what = *name ? "memory: " : "memory";
    prof__chrome_object_line(c, ",\n{\"ph\":\"C\",\"cat\":\"memory\"", what, name);
    prof__chrome_object_time(c, c->pid, point->ns);
    prof__chrome_series(c, what, name);
    prof__out_unsigned(out, point->bytes);
    PROF__CHROME_LITERAL(out, "}}");
}

/* Writes the step of a curve, in order of time. */
static void prof__chrome_curve_write(prof__chrome *c, const prof__heap *heap, size_t pool, prof__chrome_curve *curve)
{
    int low_first = curve->low.ns < curve->high.ns;
    const prof__chrome_live *points[4];
    size_t i;
    if (!curve->open) return;
    points[0] = &curve->first;
    points[1] = low_first ? &curve->low : &curve->high;
    points[2] = low_first ? &curve->high : &curve->low;
    points[3] = &curve->last;
    for (i = 0; i < 4; i++)
        if (!i || points[i]->ns != points[i - 1]->ns) prof__chrome_pool(c, heap, pool, points[i]);
    curve->open = 0;
}

/* Adds the present value of a pool to its curve. */
static void prof__chrome_curve_add(prof__chrome *c, const prof__heap *heap, prof__chrome_curves *curves, size_t pool,
                                   int64_t ns)
{
    prof__chrome_live point;
    prof__chrome_curve *curve;
    if (!prof__chrome_in_window(c, ns, ns)) return;
    if (pool >= curves->count) {
        prof__chrome_curve *items =
            (prof__chrome_curve *)realloc(curves->items, heap->row_capacity * sizeof *curves->items);
        if (!items) {
            prof__out_fail(&c->out, prof__fail(PROF_NO_MEMORY, "no memory for the curves of live bytes"));
            return;
        }
        memset(items + curves->count, 0, (heap->row_capacity - curves->count) * sizeof *items);
        curves->items = items;
        curves->count = heap->row_capacity;
    }
    point.ns = ns;
    point.bytes = heap->rows[pool].about.live_bytes;
    curve = &curves->items[pool];
    if (curve->open && ns >= curve->end) prof__chrome_curve_write(c, heap, pool, curve);
    if (!curve->open) {
        curve->first = curve->low = curve->high = point;
        curve->end = ns + curves->step;
        curve->open = 1;
    }
    if (point.bytes < curve->low.bytes) curve->low = point;
    if (point.bytes > curve->high.bytes) curve->high = point;
    curve->last = point;
}

/* Adds the live bytes of each pool at the begin of the file. */
static void prof__chrome_pools(prof__chrome *c, const prof__heap *heap, prof__chrome_curves *curves)
{
    size_t i;
    for (i = 0; i < heap->row_count; i++)
        if (heap->rows[i].kind == PROF__HEAP_POOL) prof__chrome_curve_add(c, heap, curves, i, c->options.from_ns);
}

/* Adds the value that is complete by the time ns, if there is one: a realloc() is a free and an allocation at one
   time. */
static void prof__chrome_complete(prof__chrome *c, const prof__heap *heap, prof__chrome_curves *curves)
{
    if (curves->pool != PROF__NONE) prof__chrome_curve_add(c, heap, curves, curves->pool, curves->ns);
    curves->pool = PROF__NONE;
}

/* Writes how the live bytes of each pool change. */
static void prof__chrome_memory_walk(prof__chrome *c, prof__heap *heap, prof__chrome_curves *curves)
{
    prof_event event;
    size_t track, i;
    int begun = c->options.from_ns <= 0;
    while (c->out.status == PROF_OK && prof__heap_next(heap, &event, &track)) {
        int64_t now = event.start_ns + c->offset;
        if (now != curves->ns) prof__chrome_complete(c, heap, curves);
        if (!begun && now >= c->options.from_ns) {
            prof__chrome_pools(c, heap, curves);
            begun = 1;
        }
        if (!prof__heap_step(heap, &event, track) || heap->changed == PROF__NONE) continue;
        if (curves->pool != heap->changed) prof__chrome_complete(c, heap, curves);
        curves->pool = heap->changed;
        curves->ns = now;
    }
    prof__chrome_complete(c, heap, curves);
    if (!begun) prof__chrome_pools(c, heap, curves);
    for (i = 0; i < curves->count; i++) prof__chrome_curve_write(c, heap, i, &curves->items[i]);
}

static int64_t prof__chrome_curve_step(const prof__chrome *c)
{
    int64_t end = c->options.to_ns ? c->options.to_ns : c->about->duration_ns + c->offset;
    return c->options.allocations || end <= c->options.from_ns ? 0 : (end - c->options.from_ns) / PROF__CHROME_STEPS;
}

static void prof__chrome_memory(prof__chrome *c)
{
    prof__heap heap;
    prof__chrome_curves curves;
    prof_status status;
    if (!prof__chrome_any(c, PROF__GROUP_MEMORY)) return;
    memset(&curves, 0, sizeof curves);
    curves.pool = PROF__NONE;
    curves.step = prof__chrome_curve_step(c);
    prof__heap_open(&heap, c->trace, prof__chrome_has, c);
    prof__chrome_memory_walk(c, &heap, &curves);
    free(curves.items);
    status = prof__heap_close(&heap);
    if (status) prof__out_fail(&c->out, status);
}

/*-- processes and threads --*/

static int prof__chrome_id_order(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Gives each process an id that no other has. */
static void prof__chrome_processes(prof__chrome *c)
{
    size_t i, j;
    for (i = 0; i < c->part_count; i++) {
        uint64_t pid = prof_trace_about(c->parts[i].trace)->pid;
        for (j = 0; j < i && prof_trace_about(c->parts[j].trace)->pid != pid; j++) continue;
        c->parts[i].pid = pid && pid < PROF__DISPLAY_ID && j == i ? (uint32_t)pid
                          : i                                     ? PROF__DISPLAY_ID + (uint32_t)i
                                                                  : 1;
    }
}

/* Gives each track an id that no other has. `threads` has space for the tracks of all traces. Returns 0 without
   memory. */
static int prof__chrome_threads(prof__chrome *c, prof__chrome_thread *threads, size_t tracks)
{
    size_t i, at = 0;
    uint32_t next = PROF__DISPLAY_ID, *ids = (uint32_t *)malloc((tracks + 1) * sizeof *ids);
    c->taken = (uint32_t *)malloc((tracks + c->part_count) * sizeof *c->taken);
    c->taken_count = c->taken_at = 0;
    c->last_id = 0;
    if (!ids || !c->taken || !prof__display_ids(c->traces, c->part_count, tracks, ids, &next)) {
        free(ids);
        return 0;
    }
    for (i = 0; i < c->part_count; i++) {
        c->parts[i].threads = threads + at;
        at += prof_trace_track_count(c->parts[i].trace);
        c->taken[c->taken_count++] = c->parts[i].pid;
    }
    for (i = 0; i < tracks; i++)
        if (ids[i] < PROF__DISPLAY_ID) c->taken[c->taken_count++] = ids[i];
    qsort(c->taken, c->taken_count, sizeof *c->taken, prof__chrome_id_order);
    for (i = 0; i < tracks; i++) threads[i].id = ids[i] < PROF__DISPLAY_ID ? ids[i] : prof__chrome_new_id(c);
    free(ids);
    return 1;
}

/* Gives each device the id of a process of its own. */
static void prof__chrome_devices(prof__chrome *c)
{
    size_t i, j;
    for (i = 0; i < c->part_count; i++)
        for (j = 0; j < prof_trace_track_count(c->parts[i].trace); j++) {
            const prof_track *track = prof_trace_track(c->parts[i].trace, j);
            int same = j && prof_trace_track(c->parts[i].trace, j - 1)->device == track->device;
            c->parts[i].threads[j].pid = !*track->device ? c->parts[i].pid
                                         : same          ? c->parts[i].threads[j - 1].pid
                                                         : prof__chrome_new_id(c);
            c->parts[i].devices += *track->device && !same;
        }
}

static void prof__chrome_select(prof__chrome *c, const prof__chrome_part *part)
{
    c->part = part;
    c->trace = part->trace;
    c->about = prof_trace_about(part->trace);
    c->offset = part->offset;
    c->pid = part->pid;
    c->threads = part->threads;
}

/* Begins a line of otherData, with "key": */
static void prof__chrome_about_key(prof__chrome *c, const char *key)
{
    PROF__CHROME_LITERAL(&c->out, ",\n\"");
    prof__out_text(&c->out, key);
    if (c->part_count > 1) {
        PROF__CHROME_LITERAL(&c->out, " ");
        prof__out_unsigned(&c->out, c->pid);
    }
    PROF__CHROME_LITERAL(&c->out, "\":");
}

static void prof__chrome_about_text(prof__chrome *c, const char *key, const char *text)
{
    prof__out *out = &c->out;
    prof__chrome_about_key(c, key);
    PROF__CHROME_LITERAL(out, "\"");
    prof__out_json(out, text);
    PROF__CHROME_LITERAL(out, "\"");
}

/* Writes the metadata of prof_set_metadata(), with a prefix that tells its keys from those of prof. */
static void prof__chrome_about_metadata(prof__chrome *c)
{
    const char *key, *value;
    for (size_t i = 0; prof_trace_metadata(c->trace, i, &key, &value); i++) {
        PROF__CHROME_LITERAL(&c->out, ",\n\"metadata.");
        prof__out_json(&c->out, key);
        if (c->part_count > 1) {
            PROF__CHROME_LITERAL(&c->out, " ");
            prof__out_unsigned(&c->out, c->pid);
        }
        PROF__CHROME_LITERAL(&c->out, "\":\"");
        prof__out_json(&c->out, value);
        PROF__CHROME_LITERAL(&c->out, "\"");
    }
}

static void prof__chrome_about_value(prof__chrome *c, const char *key, prof_value_type type, uint64_t u, double d)
{
    prof_value value;
    memset(&value, 0, sizeof value);
    value.type = type;
    if (type == PROF_VALUE_DOUBLE)
        value.as.d = d;
    else
        value.as.u = u;
    prof__chrome_about_key(c, key);
    prof__chrome_value(&c->out, &value);
}

static void prof__chrome_recorder(prof__chrome *c)
{
    prof__out *out = &c->out;
    PROF__CHROME_LITERAL(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\n\"recorder\":\"prof ");
    prof__out_unsigned(out, PROF_VERSION / 10000);
    PROF__CHROME_LITERAL(out, ".");
    prof__out_unsigned(out, PROF_VERSION / 100 % 100);
    PROF__CHROME_LITERAL(out, ".");
    prof__out_unsigned(out, PROF_VERSION % 100);
    PROF__CHROME_LITERAL(out, "\"");
    if (c->part_count < 2) return;
    PROF__CHROME_LITERAL(out, ",\n\"processes aligned by\":\"");
    prof__out_text(out, c->machines < 2 ? "monotonic clock\"" : "Unix time\"");
}

/* Writes the otherData of one trace. */
static void prof__chrome_about(prof__chrome *c)
{
    const prof_trace_info *about = c->about;
    prof__chrome_about_text(c, "program", about->program);
    prof__chrome_about_value(c, "pid", PROF_VALUE_UINT, about->pid, 0);
    prof__chrome_about_text(c, "clock", about->clock);
    prof__chrome_about_value(c, "tick_hz", PROF_VALUE_UINT, about->tick_hz, 0);
    prof__chrome_about_value(c, "clock_resolution_ns", PROF_VALUE_DOUBLE, 0, about->clock_resolution_ns);
    prof__chrome_about_value(c, "scope_cost_ns", PROF_VALUE_DOUBLE, 0, about->scope_cost_ns);
    prof__chrome_about_value(c, "start_unix_ns", PROF_VALUE_UINT, about->start_unix_ns, 0);
    prof__chrome_about_value(c, "duration_ns", PROF_VALUE_UINT, (uint64_t)prof__chrome_time(about->duration_ns), 0);
    prof__chrome_about_value(c, "events", PROF_VALUE_UINT, about->event_count, 0);
    prof__chrome_about_value(c, "lost", PROF_VALUE_UINT, about->lost, 0);
    prof__chrome_about_value(c, "lost_args", PROF_VALUE_UINT, about->lost_args, 0);
    prof__chrome_about_value(c, "lost_busy", PROF_VALUE_UINT, about->lost_busy, 0);
    prof__chrome_about_value(c, "overwritten_chunks", PROF_VALUE_UINT, about->overwritten_chunks, 0);
    prof__chrome_about_value(c, "unmatched_ends", PROF_VALUE_UINT, about->unmatched, 0);
    prof__chrome_about_value(c, "sites_lost", PROF_VALUE_UINT, about->sites_lost, 0);
    prof__chrome_about_text(c, "mode", prof__mode_names[about->mode]);
    prof__chrome_about_value(c, "complete", PROF_VALUE_BOOL, (uint64_t)about->complete, 0);
    prof__chrome_about_metadata(c);
}

/* Writes where viewers put a process or device. Devices come below the process that used them. number: of the device,
   from 1; 0: the process. */
static void prof__chrome_process_place(prof__chrome *c, uint32_t number)
{
    uint64_t place = number;
    const prof__chrome_part *part;
    for (part = c->parts; part < c->part; part++) place += 1 + part->devices;
    prof__chrome_metadata(c, "process_sort_index", c->pid, "sort_index");
    prof__out_unsigned(&c->out, place);
    PROF__CHROME_LITERAL(&c->out, "}}");
}

/* Writes the name of a process. With one trace, that is its program. The ranks of a job and the processes of a server
   all have one program, so with several traces, " ROLE (rank 3, host)" follows, as far as the metadata have these, or
   the process id if there is no rank. */
static void prof__chrome_process_name(prof__chrome *c)
{
    prof__out *out = &c->out;
    const char *rank = prof__trace_said(c->trace, "rank"), *host = prof__trace_said(c->trace, "host");
    const char *role = prof__trace_said(c->trace, "role");
    prof__out_json(out, *c->about->program ? c->about->program : "(unnamed)");
    if (c->part_count == 1) return;
    prof__out_text(out, *role ? " " : "");
    prof__out_json(out, role);
    PROF__CHROME_LITERAL(out, " (");
    if (*rank) PROF__CHROME_LITERAL(out, "rank ");
    prof__out_json(out, rank);
    if (!*rank) prof__out_unsigned(out, c->about->pid);
    if (*host) PROF__CHROME_LITERAL(out, ", ");
    prof__out_json(out, host);
    PROF__CHROME_LITERAL(out, ")");
}

static void prof__chrome_process(prof__chrome *c)
{
    const prof_trace_info *about = c->about;
    prof__out *out = &c->out;
    prof__out_text(out, c->part == c->parts ? "\n" : ",\n");
    PROF__CHROME_LITERAL(out, "{\"ph\":\"M\",\"name\":\"process_name\",\"cat\":\"__metadata\",\"pid\":");
    prof__out_unsigned(out, c->pid);
    PROF__CHROME_LITERAL(out, ",\"tid\":");
    prof__out_unsigned(out, c->pid);
    PROF__CHROME_LITERAL(out, ",\"ts\":0,\"args\":{\"name\":\"");
    prof__chrome_process_name(c);
    PROF__CHROME_LITERAL(out, "\"}}");
    if (about->lost) {
        prof__chrome_metadata(c, "process_labels", c->pid, "labels");
        PROF__CHROME_LITERAL(out, "\"lost ");
        prof__out_unsigned(out, about->lost);
        PROF__CHROME_LITERAL(out, " events\"}}");
    }
    if (c->part_count > 1 || c->part->devices) prof__chrome_process_place(c, 0);
}

/* Writes a device as a process, which viewers put below the process that used it. */
static void prof__chrome_device(prof__chrome *c, const prof_track *track, uint32_t number)
{
    prof__out *out = &c->out;
    prof__chrome_metadata(c, "process_name", c->pid, "name");
    PROF__CHROME_LITERAL(out, "\"");
    prof__out_json(out, track->device);
    if (c->part_count > 1) {
        PROF__CHROME_LITERAL(out, " of ");
        prof__chrome_process_name(c);
    }
    if (track->alignment == PROF_ALIGN_GUESS) PROF__CHROME_LITERAL(out, " (clock not aligned)");
    PROF__CHROME_LITERAL(out, "\"}}");
    prof__chrome_process_place(c, number);
}

/* Writes the losses of threads that have no track, because they never got a chunk to record into. */
static void prof__chrome_lost_elsewhere(prof__chrome *c)
{
    prof__out *out = &c->out;
    uint64_t lost = c->about->lost;
    size_t i;
    for (i = 0; i < prof_trace_track_count(c->trace); i++) {
        uint64_t here = prof_trace_track(c->trace, i)->lost;
        lost -= here < lost ? here : lost;
    }
    if (!lost) return;
    PROF__CHROME_LITERAL(out, ",\n{\"ph\":\"i\",\"name\":\"lost ");
    prof__out_unsigned(out, lost);
    PROF__CHROME_LITERAL(out, " events on other threads\",\"cat\":\"prof\",\"pid\":");
    prof__out_unsigned(out, c->pid);
    PROF__CHROME_LITERAL(out, ",\"tid\":");
    prof__out_unsigned(out, c->pid);
    PROF__CHROME_LITERAL(out, ",\"ts\":");
    prof__chrome_ns(out, prof__chrome_time(c->offset + c->about->duration_ns));
    PROF__CHROME_LITERAL(out, ",\"s\":\"p\"}");
}

/*-- frames --*/

/* Returns the track for frames of this name and frame object. Adds it if it is new. Returns NULL if there are too
   many. */
static prof__chrome_frames *prof__chrome_frame_track(prof__chrome *c, prof__chrome_track *track, const char *name,
                                                     uint64_t id, int64_t start)
{
    prof__chrome_frames *frames = track->frames;
    size_t i;
    for (i = 0; i < track->frame_count; i++, frames++)
        if (frames->id == id && (frames->name == name || !strcmp(frames->name, name))) return frames;
    if (i == PROF__CHROME_FRAMES) return NULL;
    track->frame_count++;
    frames->name = name;
    frames->id = id;
    frames->tid = prof__chrome_new_id(c);
    frames->origin = start;
    prof__chrome_thread_name(c, frames->tid, "frames: ", name);
    prof__chrome_sort_index(c, frames->tid, (int64_t)c->frame_tracks++ - 1000000);
    return frames;
}

/* Writes a frame. Its name has its number, because speedscope joins adjacent scopes with one name. */
static void prof__chrome_frame_line(prof__chrome *c, const prof__chrome_frames *frames, const prof_event *event,
                                    int64_t start, uint64_t number)
{
    prof__chrome_ids ids;
    prof__out *out = &c->out;
    char *to, *end;
    int count = 0;
    prof__chrome_make_ids(c, &ids, frames->tid);
    prof__chrome_begin(c, &ids, event, ",\n{\"ph\":\"X\"", start);
    prof__chrome_key(out, &count, "frame");
    prof__out_unsigned(out, number);
    if (event->type == PROF_EVENT_FRAME) prof__chrome_args(out, &count, event);
    prof__chrome_truncated(out, &count, event->flags);
    PROF__CHROME_LITERAL(out, "},\"dur\":");
    to = prof__out_reserve(out, 64);
    end = prof__chrome_exact_duration(to, start, event->duration_ns, (double)frames->origin / 1e3);
    *end = '}';
    prof__out_commit(out, (size_t)(end + 1 - to));
}

/* Writes the frame that this boundary ends. */
static void prof__chrome_frame(prof__chrome *c, prof__chrome_track *track, const prof_event *event)
{
    int64_t start = prof__chrome_time(event->start_ns - event->duration_ns);
    prof__chrome_frames *frames;
    if (!event->duration_ns) return;
    frames = prof__chrome_frame_track(c, track, event->name, 0, start);
    if (frames)
        prof__chrome_frame_line(c, frames, event, start, event->detail);
    else
        prof__chrome_instant(c, &track->ids, event);
}

/*-- spans --*/

/* Writes the line of a span without its arguments. start: as for prof__chrome_begin(). Viewers require spans with one
   id to nest, so each span has an id of its own. The id is local to the process: Perfetto shows spans with global ids
   above all processes. */
static void prof__chrome_span_line(prof__chrome *c, const char *start, const prof_event *event, uint32_t tid,
                                   int64_t ns)
{
    prof__chrome_ids ids;
    prof__chrome_make_ids(c, &ids, tid);
    prof__chrome_begin(c, &ids, event, start, ns);
    PROF__CHROME_LITERAL(&c->out, ",\"id2\":{\"local\":\"");
    prof__chrome_hex(&c->out, event->id);
    PROF__CHROME_LITERAL(&c->out, "\"}");
}

static int prof__chrome_has_arg(const prof_event *event, const char *key)
{
    uint32_t i;
    for (i = 0; i < event->arg_count; i++)
        if (!strcmp(event->args[i].key, key)) return 1;
    return 0;
}

/* Writes the arguments of a mark, or of a span's begin. The begin also gets those of the end, because viewers show one
   set of arguments for both. event: has the program's arguments. */
static void prof__chrome_span_args(prof__chrome *c, const prof_span *span, const prof_event *event)
{
    prof__out *out = &c->out;
    int count = 0;
    prof__chrome_key(out, &count, prof__chrome_has_arg(event, "id") ? "span id" : "id");
    PROF__CHROME_LITERAL(out, "\"");
    prof__chrome_hex(out, span->id);
    PROF__CHROME_LITERAL(out, "\"");
    if (span->mark || !prof__span_of_scope(span->site) || !c->options.no_args) prof__chrome_args(out, &count, event);
    prof__chrome_truncated(out, &count, span->flags);
    if (span->end_track != span->begin_track) {
        prof__chrome_key(out, &count, "ended on thread");
        prof__out_unsigned(out, c->threads[span->end_track].id);
    }
    if (c->options.source == PROF_CHROME_SOURCE_ARGS) prof__chrome_source_args(out, &count, span->site);
    PROF__CHROME_LITERAL(out, "}}");
}

static void prof__chrome_span(prof__chrome *c, prof__chrome_track *handles, const prof_span *span)
{
    uint32_t tid = c->threads[span->begin_track].id;
    int64_t start = prof__chrome_time(span->start_ns + c->offset);
    prof__chrome_frames *frames = NULL;
    prof_event event;
    memset(&event, 0, sizeof event);
    event.type = PROF_EVENT_SCOPE; /* a type that has a duration */
    event.name = span->name;
    event.site = span->site;
    event.start_ns = start;
    event.duration_ns = span->duration_ns;
    event.flags = span->flags;
    event.id = span->serial;
    event.args = span->args;
    event.arg_count = span->arg_count;
    if (!prof__chrome_wanted(c, &event)) return;
    if (span->number && !span->duration_ns) return;
    if (span->number) frames = prof__chrome_frame_track(c, handles, span->site->name, span->id, start);
    if (frames) {
        prof__chrome_frame_line(c, frames, &event, start, span->number);
        return;
    }
    if (span->mark && !span->serial) event.id = ~(uint64_t)0; /* the mark belongs to no span */
    prof__chrome_span_line(c, span->mark ? ",\n{\"ph\":\"n\"" : ",\n{\"ph\":\"b\"", &event, tid, start);
    prof__chrome_span_args(c, span, &event);
    if (span->mark) return;
    prof__chrome_span_line(c, ",\n{\"ph\":\"e\"", &event, tid, start + span->duration_ns);
    PROF__CHROME_LITERAL(&c->out, "}");
}

/* Writes all spans. handles: has the tracks for frames of prof_frame_create(). */
static void prof__chrome_spans(prof__chrome *c, prof__chrome_track *handles)
{
    prof_spans *spans = NULL;
    prof_span span;
    prof_status status = prof_spans_open(c->trace, &spans), closed;
    int all = !c->options.no_spans && !c->options.tracy;
    handles->frame_count = 0;
    while (c->out.status == PROF_OK && prof_spans_next(spans, &span))
        if (all || span.number || prof__span_of_scope(span.site)) prof__chrome_span(c, handles, &span);
    closed = prof_spans_close(spans);
    if (status || closed) prof__out_fail(&c->out, status ? status : closed);
}

/* Returns 1 if the trace has states of a thread: then places of threads leave room for rows. */
static int prof__chrome_has_states(const prof__chrome *c)
{
    size_t i, count = 0;
    for (i = 0; !count && i < prof_trace_track_count(c->trace); i++) prof_track_states(c->trace, i, &count);
    return count != 0;
}

/* Writes one state. Chrome gives these colours to the states of threads; other viewers choose by the name. */
static void prof__chrome_thread_state(prof__chrome *c, uint32_t tid, const prof_state *state)
{
    static const char *const starts[PROF_STATE_COUNT] = {
        ",\n{\"ph\":\"X\",\"name\":\"not running\",\"cname\":\"thread_state_unknown\",\"cat\":\"state\",\"pid\":",
        ",\n{\"ph\":\"X\",\"name\":\"running\",\"cname\":\"thread_state_running\",\"cat\":\"state\",\"pid\":",
        ",\n{\"ph\":\"X\",\"name\":\"ready\",\"cname\":\"thread_state_runnable\",\"cat\":\"state\",\"pid\":",
        ",\n{\"ph\":\"X\",\"name\":\"waiting\",\"cname\":\"thread_state_sleeping\",\"cat\":\"state\",\"pid\":"};
    prof__out *out = &c->out;
    int64_t start = state->start_ns, end = state->end_ns;
    if (start < c->about->from_ns) start = c->about->from_ns;
    if (c->about->to_ns && end > c->about->to_ns) end = c->about->to_ns;
    if (end < start || (uint64_t)(end - start) < c->options.min_duration_ns) return;
    start += c->offset;
    end += c->offset;
    if (!prof__chrome_in_window(c, start, end)) return;
    prof__out_text(out, starts[state->kind]);
    prof__out_unsigned(out, c->pid);
    PROF__CHROME_LITERAL(out, ",\"tid\":");
    prof__out_unsigned(out, tid);
    PROF__CHROME_LITERAL(out, ",\"ts\":");
    prof__chrome_ns(out, prof__chrome_time(start));
    PROF__CHROME_LITERAL(out, ",\"dur\":");
    prof__chrome_ns(out, end > start ? end - start : 0);
    if (state->processor >= 0) {
        PROF__CHROME_LITERAL(out, ",\"args\":{\"processor\":");
        prof__out_signed(out, state->processor);
        PROF__CHROME_LITERAL(out, "}");
    }
    PROF__CHROME_LITERAL(out, "}");
}

/* Writes the row of a track, if the trace knows what its thread did. */
static void prof__chrome_states(prof__chrome *c, size_t index, int64_t place)
{
    size_t count, i;
    const prof_state *states = prof_track_states(c->trace, index, &count);
    const char *name = prof_trace_track(c->trace, index)->name;
    uint32_t tid;
    if (!count) return;
    prof__chrome_enter(c, index);
    tid = prof__chrome_new_id(c);
    prof__chrome_thread_name(c, tid, "state of ", *name ? name : "thread");
    prof__chrome_sort_index(c, tid, place);
    for (i = 0; i < count && c->out.status == PROF_OK; i++) prof__chrome_thread_state(c, tid, &states[i]);
}

/*-- tracks --*/

static void prof__chrome_event(prof__chrome *c, prof__chrome_track *track, size_t index, const prof_event *event)
{
    unsigned group = prof__event_group(event->type);
    c->threads[index].groups |= 1u << group;
    if (!prof__chrome_wanted(c, event)) return;
    switch (group) {
    case PROF__GROUP_SCOPE: prof__chrome_scope(c, track, event); break;
    case PROF__GROUP_MARK: prof__chrome_mark(c, track, index, event); break;
    case PROF__GROUP_FRAME: prof__chrome_frame(c, track, event); break;
    case PROF__GROUP_LOST: prof__chrome_lost(c, &track->ids, event); break;
    case PROF__GROUP_FLOW: prof__chrome_flow_met(c, track, event); break;
    case PROF__GROUP_MESSAGE: prof__chrome_message(c, &track->ids, event); break;
    case PROF__GROUP_MEMORY:
        if (c->options.allocations) prof__chrome_memory_instant(c, &track->ids, event);
        break;
    default: break; /* counters, spans and locks are written later, in order of time */
    }
}

static void prof__chrome_write_track(prof__chrome *c, prof__chrome_track *track, size_t index)
{
    prof_cursor *cursor;
    prof_event event;
    prof_status status = prof_cursor_open(c->trace, index, &cursor);
    int all = !c->options.from_ns && !c->options.to_ns && !c->options.min_duration_ns && !c->options.source;
    if (status) {
        prof__out_fail(&c->out, status);
        return;
    }
    prof__chrome_enter(c, index);
    prof__chrome_make_ids(c, &track->ids, c->threads[index].id);
    track->origin = -1;
    track->scope.open = 0;
    track->frame_count = 0;
    while (c->out.status == PROF_OK && prof_cursor_next(cursor, &event)) {
        event.start_ns += c->offset;
        prof__chrome_close_last(c, track, event.start_ns, event.type == PROF_EVENT_SCOPE ? event.name : NULL);
        prof__chrome_event(c, track, index, &event);
        if (all) prof__chrome_plain(c, track, cursor);
    }
    prof__chrome_close_last(c, track, INT64_MAX, NULL);
    prof_cursor_close(cursor);
}

/*-- the file --*/

static void prof__chrome_write_part(prof__chrome *c, prof__chrome_track *track)
{
    size_t i, tracks = prof_trace_track_count(c->trace);
    uint32_t devices = 0;
    int states = prof__chrome_has_states(c);
    c->lock_tid = 0;
    prof__chrome_process(c);
    for (i = 0; i < tracks; i++) {
        const prof_track *about = prof_trace_track(c->trace, i);
        int64_t place = (int64_t)i + 1 + (about->fiber ? (int64_t)tracks : 0); /* fibers come below threads */
        int first = c->threads[i].id == c->part->pid;
        prof__chrome_enter(c, i);
        if (*about->device && (!i || c->threads[i - 1].pid != c->pid)) prof__chrome_device(c, about, ++devices);
        if (*about->name || about->fiber)
            prof__chrome_thread_name(c, c->threads[i].id, "", *about->name ? about->name : "fiber");
        prof__chrome_sort_index(c, c->threads[i].id, c->threads[i].id == c->pid ? 0 : place * (1 + states));
        if (states) prof__chrome_states(c, i, first ? 1 : place * 2 + 1);
    }
    for (i = 0; i < tracks && c->out.status == PROF_OK; i++) prof__chrome_write_track(c, track, i);
    c->pid = c->part->pid;
    if (c->out.status == PROF_OK) prof__chrome_write_flows(c);
    if (c->out.status == PROF_OK) prof__chrome_spans(c, track);
    if (c->out.status == PROF_OK) prof__chrome_counters(c);
    if (c->out.status == PROF_OK) prof__chrome_memory(c);
    if (c->out.status == PROF_OK) prof__chrome_locks(c);
    prof__chrome_lost_elsewhere(c);
}

static void prof__chrome_all(prof__chrome *c)
{
    size_t i, tracks = 0;
    prof__chrome_track *track = (prof__chrome_track *)malloc(sizeof *track);
    prof__chrome_thread *threads;
    for (i = 0; i < c->part_count; i++) tracks += prof_trace_track_count(c->parts[i].trace);
    threads = (prof__chrome_thread *)calloc(tracks + 1, sizeof *threads);
    c->taken = NULL;
    prof__chrome_processes(c);
    c->stamp = 0;
    c->frame_tracks = 0;
    c->mark_count = 0;
    c->mark_thread = NULL;
    memset(&c->sites, 0, sizeof c->sites);
    if (!track || !threads || !prof__chrome_threads(c, threads, tracks)) {
        prof__out_fail(&c->out, prof__fail(PROF_NO_MEMORY, "no memory to write %lu tracks", (unsigned long)tracks));
    } else {
        prof__chrome_devices(c);
        prof__chrome_recorder(c);
        for (i = 0; i < c->part_count; i++) {
            prof__chrome_select(c, &c->parts[i]);
            prof__chrome_about(c);
        }
        PROF__CHROME_LITERAL(&c->out, "},\n\"traceEvents\":[");
        for (i = 0; i < c->part_count && c->out.status == PROF_OK; i++) {
            prof__chrome_select(c, &c->parts[i]);
            prof__site_texts_open(&c->sites, c->trace);
            prof__chrome_write_part(c, track);
        }
        PROF__CHROME_LITERAL(&c->out, "\n]}\n");
    }
    free(track);
    free(threads);
    free(c->taken);
    prof__site_texts_free(&c->sites);
}

static prof_status prof__chrome_check(prof__chrome *c, const prof_chrome_options *options)
{
    memset(&c->options, 0, sizeof c->options);
    if (options) c->options = *options;
    if (c->options.to_ns && c->options.to_ns <= c->options.from_ns)
        return prof__fail(PROF_INVALID_ARGUMENT, "to_ns must be later than from_ns");
    if ((unsigned)c->options.source > PROF_CHROME_SOURCE_NONE)
        return prof__fail(PROF_INVALID_ARGUMENT, "source must be one of prof_chrome_source");
    return PROF_OK;
}

/* Makes c->parts of the traces, with a common time line. The caller frees c->parts, unless this fails. */
static prof_status prof__chrome_parts(prof__chrome *c, const prof_trace *const *traces, size_t count)
{
    int64_t *offsets;
    size_t i;
    if (!traces || !count) return prof__fail(PROF_INVALID_ARGUMENT, "no trace to write");
    for (i = 0; i < count; i++)
        if (!traces[i]) return prof__fail(PROF_INVALID_ARGUMENT, "no trace to write");
    offsets = (int64_t *)calloc(count, sizeof *offsets);
    c->parts = (prof__chrome_part *)calloc(count, sizeof *c->parts);
    if (!offsets || !c->parts) {
        free(offsets);
        free(c->parts);
        return prof__fail(PROF_NO_MEMORY, "no memory to merge %lu traces", (unsigned long)count);
    }
    c->traces = traces;
    c->part_count = count;
    c->machines = prof_trace_align(traces, count, offsets);
    for (i = 0; i < count; i++) {
        c->parts[i].trace = traces[i];
        c->parts[i].offset = offsets[i];
    }
    free(offsets);
    return PROF_OK;
}

PROF_DEF prof_status prof_chrome_merge(const prof_trace *const *traces, size_t count, const char *path,
                                       const prof_chrome_options *options)
{
    PROF__CALM();
    prof__chrome c;
    prof_status status = prof__chrome_check(&c, options);
    if (!status) status = prof__chrome_parts(&c, traces, count);
    if (status) return status;
    status = prof__out_file(&c.out, path);
    if (!status) {
        prof__chrome_all(&c);
        status = prof__out_close(&c.out);
    }
    free(c.parts);
    return status;
}

PROF_DEF prof_status prof_chrome_merge_stream(const prof_trace *const *traces, size_t count, prof_sink sink,
                                              const prof_chrome_options *options)
{
    PROF__CALM();
    prof__chrome c;
    prof_status status = prof__chrome_check(&c, options);
    if (!status) status = prof__chrome_parts(&c, traces, count);
    if (status) return status;
    prof__out_sink(&c.out, sink);
    if (c.out.status == PROF_OK) prof__chrome_all(&c);
    free(c.parts);
    return prof__out_close(&c.out);
}

PROF_DEF prof_status prof_chrome_write(const prof_trace *trace, const char *path, const prof_chrome_options *options)
{
    PROF__CALM();
    return prof_chrome_merge(&trace, 1, path, options);
}

PROF_DEF prof_status prof_chrome_stream(const prof_trace *trace, prof_sink sink, const prof_chrome_options *options)
{
    PROF__CALM();
    return prof_chrome_merge_stream(&trace, 1, sink, options);
}

static prof_status prof__chrome_default(const prof_trace *trace, const char *path)
{
    return prof_chrome_write(trace, path, NULL);
}

static prof_writer prof__chrome_writer = {".json", NULL, NULL, prof__chrome_default, NULL};
PROF__AT_START(101, prof__chrome_register);
static void prof__chrome_register(void)
{
    prof_writer_register(&prof__chrome_writer);
}
#ifdef PROF__SHARED
PROF__AT_END(101, prof__chrome_unregister);
static void prof__chrome_unregister(void)
{
    prof_writer_unregister(&prof__chrome_writer);
}
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
