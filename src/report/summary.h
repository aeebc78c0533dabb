// report/summary: The summary's tables of scopes, spans, frames, counters, devices and losses.
#ifndef PROF__REPORT_SUMMARY_H
#define PROF__REPORT_SUMMARY_H
#include "api/read.h"
#include "api/reports.h"
#include "api/values.h"
#include "ground/digits.h"
#include "ground/numbers.h"
#include "ground/out.h"
#include "ground/text.h"
#include "ground/utf8.h"
#include "image/format.h"
#include "record/ring.h"
#include "session/memory.h"
#include "read/clock.h"
#include "read/log.h"
#include "read/trace.h"
#include "report/accumulator.h"
#include "report/allocations.h"
#include "report/measured.h"
#include "report/stat_rows.h"
#include "report/statistics.h"
#include "report/table.h"

/* The columns of the tables of scopes, spans and frames. The number says when a column is left out: 1 first. */
#define PROF__SUMMARY_TIMES                                                                                     \
    {"mean", 9, 0}, {"min", 2, 0}, {"p50", 5, 0}, {"p90", 3, 0}, {"p99", 8, 0}, {"max", 6, 0}, {"stddev", 1, 0}
#define PROF__SUMMARY_WHERE 4
static void prof__summary_times(prof__table *t, const prof_stat *stat)
{
    prof__table_ns(t, stat->mean_ns);
    prof__table_time(t, stat->min_ns);
    prof__table_time(t, stat->p50_ns);
    prof__table_time(t, stat->p90_ns);
    prof__table_time(t, stat->p99_ns);
    prof__table_time(t, stat->max_ns);
    prof__table_ns(t, stat->deviation_ns);
}

/* Writes how long a scope ran, divided by `calls`: "> " if it may have been longer by more than a hundredth, "-" if
   nothing is known. */
static void prof__summary_running(prof__table *t, const prof_stat *stat, uint64_t calls)
{
    char text[64] = "-", *at = text;
    if (stat->unknown_ns < stat->total_ns) {
        if (stat->unknown_ns > stat->total_ns / 100) *at++ = '>', *at++ = ' ';
        prof__human_ns(at, prof__real(stat->running_ns) / prof__real(calls));
    }
    prof__table_text(t, text);
}

/* Writes the numbers of a scope. threads, running: 1: the table has such a column. */
static void prof__summary_scope(prof__table *t, const prof_stat *stat, int threads, int running)
{
    prof__table_row(t, stat->name, stat->depth);
    prof__table_count(t, stat->count);
    if (stat->count > stat->truncated) {
        prof__table_time(t, stat->total_ns);
        if (running) prof__summary_running(t, stat, 1);
        prof__table_time(t, stat->self_ns);
        prof__table_percent(t, stat->share, 1);
        if (threads) prof__table_count(t, stat->threads);
        prof__summary_times(t, stat);
    } else {
        prof__table_dashes(t);
    }
    prof__table_place(t, stat->site);
    prof__table_end(t);
}

/* Says why a recording has no events. Returns 0 if it has some. */
static int prof__nothing_text(const prof_trace *trace, char *to, size_t size)
{
    const prof_trace_info *info = prof_trace_about(trace);
    char count[32];
    if (info->event_count || info->folded || info->lost) return 0;
    prof__grouped(count, info->taken_back);
    if (info->taken_back)
        snprintf(to, size, "Nothing was recorded. %s scopes were shorter than PROF_MIN_DURATION, and left out: set "
                 "it to 0.", count);
    else
        snprintf(to, size, "Nothing was recorded. No macro ran while the session did, or all that ran was off. Is each "
                 "file compiled without PROF_ENABLE=0? Do PROF_CATEGORIES or PROF_LEVEL turn all off? Was recording "
                 "paused, or did it end before the work began? prof config says more of the settings.");
    return 1;
}

/* Measures the table of scopes. If it has all rows, takes them in the order of memory: sorted ones are all over it. */
static void prof__summary_measure(prof__table *t, const prof__stat_rows *all, const prof__sorted *rows, size_t count,
                                  size_t shown, int threads, int running)
{
    size_t i;
    for (i = 0; shown == count && i < all->count; i++) {
        if (i + 8 < all->count) PROF__SOON(all->items[i + 8].stat.name);
        if (prof__stat_shown(all, &all->items[i], PROF_EVENT_SCOPE))
            prof__summary_scope(t, &all->items[i].stat, threads, running);
    }
    for (i = 0; shown < count && i < shown; i++) prof__summary_scope(t, rows[i].stat, threads, running);
    prof__table_again(t);
}

static void prof__summary_scopes(prof__out *out, const prof_trace *trace, prof__stat_rows *all, prof__sorted *rows,
                                 size_t count, const prof_summary_options *options, size_t limit)
{
    static const size_t sorted[] = {1, 2, 0, 4, 5, 9, 8, 0}; /* by prof_sort: its column, which is never left out */
    static const prof__column threads = {"threads", 7, 0}; /* explains shares of more than 100 % of the run */
    static const prof__column ran = {"running", 12, 0};
    prof__column columns[PROF__TABLE_COLUMNS + 1] = {{"calls", 0, 0},    {"total", 11, 0},    {"self", 10, 0},
                                                     {"% of run", 7, 0}, PROF__SUMMARY_TIMES, {NULL, 0, 0}};
    size_t top = options->top, shown = top && top < count ? top : count, i;
    prof__table t;
    uint64_t truncated = 0;
    int several = 0, above = 0, running = trace->state_count != 0;
    char why[512];
    prof__out_text(out, "\n");
    if (!count) {
        prof__out_text(out, "no scopes\n");
        if (prof__nothing_text(trace, why, sizeof why)) {
            prof__out_text(out, why);
            prof__out_text(out, "\n");
        }
        return;
    }
    if ((size_t)options->sort < sizeof sorted / sizeof *sorted) columns[sorted[options->sort]].order = 0;
    for (i = 0; i < all->count; i++) {
        const prof_stat *stat = &all->items[i].stat;
        if (!prof__stat_shown(all, &all->items[i], PROF_EVENT_SCOPE)) continue;
        truncated += stat->truncated;
        several |= stat->threads > 1;
        above |= stat->share > 1.0005;
        running |= stat->unknown_ns < stat->total_ns;
    }
    if (several) {
        memmove(columns + 5, columns + 4, (PROF__TABLE_COLUMNS - 4) * sizeof *columns);
        columns[4] = threads;
    }
    if (running) {
        memmove(columns + 3, columns + 2, (PROF__TABLE_COLUMNS - 2) * sizeof *columns);
        columns[2] = ran;
    }
    if (all->by_path) shown = prof__sort_tree(all, rows, count, top);
    prof__table_begin(&t, out, limit, all->by_path ? "call path" : "scope", columns, "where", PROF__SUMMARY_WHERE);
    prof__summary_measure(&t, all, rows, count, shown, several, running);
    for (i = 0; i < shown; i++) {
        prof__sorted_soon(rows, i, shown);
        prof__summary_scope(&t, rows[i].stat, several, running);
    }
    prof__out_more(out, count - shown);
    if (above && !several) prof__out_text(out, "more than 100 % of the run: on several threads at once\n");
    prof__out_note(out, truncated, "call", " of unknown begin or end: counted as calls, but in no time\n");
    prof__out_note(out, prof_trace_about(trace)->open, "call", " of these still open\n");
}

/* Adds an amount, or a rate, of what a PROFILE_THROUGHPUT_UNIT moved: "913.4 samples/s". */
static void prof__summary_amount(prof__table *t, double value, const char *unit, const char *per)
{
    char with[PROF__MEASURED_UNIT + 4], text[96];
    const char *const units[] = {with, NULL};
    prof__text_copy(with, PROF__MEASURED_UNIT, unit);
    strcat(with, per);
    prof__human(text, prof__less(value, 1e18) ? value : 1e18, units);
    prof__table_text(t, text);
}

static void prof__summary_rate(prof__table *t, const prof_stat *stat, double rate)
{
    if (*stat->site->unit)
        prof__summary_amount(t, rate * 1e6, stat->site->unit, "/s");
    else
        prof__table_rate(t, rate);
}

static void prof__summary_throughput(prof__out *out, const prof_trace *trace, const prof__sorted *rows, size_t count,
                                     size_t limit)
{
    prof__column columns[] = {{"calls", 0, 0}, {"bytes", 4, 0}, {"mean", 0, 0}, {"min", 2, 0},
                              {"max", 3, 0},   {"stddev", 1, 0}, {NULL, 0, 0}};
    size_t i, shown = 0;
    prof__table t;
    if (!prof__has_role(trace, PROF_ROLE_THROUGHPUT)) return;
    for (i = 0; i < count; i++) {
        if (rows[i].stat->site->role != PROF_ROLE_THROUGHPUT) continue;
        if (*rows[i].stat->site->unit) columns[1].title = "moved";
        shown++;
    }
    if (!shown) return;
    prof__out_text(out, "\n");
    prof__table_begin(&t, out, limit, "throughput", columns, NULL, 0);
    do
        for (i = 0; i < count; i++) {
            const prof_stat *stat = rows[i].stat;
            if (stat->site->role != PROF_ROLE_THROUGHPUT) continue;
            prof__table_row(&t, stat->name, 0);
            prof__table_count(&t, stat->count);
            if (*stat->site->unit)
                prof__summary_amount(&t, prof__real(stat->bytes), stat->site->unit, "");
            else
                prof__table_size(&t, stat->bytes);
            prof__summary_rate(&t, stat, stat->mean_rate);
            prof__summary_rate(&t, stat, stat->min_rate);
            prof__summary_rate(&t, stat, stat->max_rate);
            prof__summary_rate(&t, stat, stat->deviation_rate);
            prof__table_end(&t);
        }
    while (prof__table_again(&t));
}

/* Writes the number of log messages of each severity, and the latest errors. */
static void prof__summary_messages(prof__out *out, const prof__stat_rows *all)
{
    size_t i = PROF_LOG_FATAL + 1, shown = 0;
    while (i-- > 0) {
        if (!all->messages[i]) continue;
        prof__out_text(out, shown++ ? ", " : "\nmessages  ");
        prof__out_count(out, all->messages[i], 0);
        prof__out_text(out, " ");
        prof__out_text(out, prof__severity_text(i));
    }
    if (shown) prof__out_text(out, "\n");
    for (i = all->newest_count; i-- > 0;) {
        prof__out_text(out, "  ");
        prof__out_ns(out, (double)all->newest[i].ns, 0);
        prof__out_text(out, " ");
        prof__out_text(out, prof__severity_text(all->newest[i].severity));
        prof__out_text(out, ": ");
        prof__out_clean(out, all->newest[i].text);
        prof__out_text(out, "\n");
    }
}

static void prof__summary_span_row(prof__table *t, const prof_stat *stat)
{
    prof__table_row(t, stat->name, 0);
    prof__table_count(t, stat->count);
    if (stat->count > stat->truncated) {
        prof__table_time(t, stat->total_ns);
        prof__summary_times(t, stat);
    } else {
        prof__table_dashes(t);
    }
    prof__table_place(t, stat->site);
    prof__table_end(t);
}

static void prof__summary_spans(prof__out *out, const prof__stat_rows *all, const prof__sorted *rows, size_t count,
                                size_t limit)
{
    static const prof__column columns[] = {{"spans", 0, 0}, {"total", 11, 0}, PROF__SUMMARY_TIMES, {NULL, 0, 0}};
    prof__table t;
    size_t i;
    if (count) prof__out_text(out, "\n");
    prof__table_begin(&t, out, limit, "span", columns, "where", PROF__SUMMARY_WHERE);
    do
        for (i = 0; i < count; i++) prof__summary_span_row(&t, rows[i].stat);
    while (prof__table_again(&t));
    prof__out_note(out, all->begins_missing, "span", " ended, but with no begin: counted, but in no time\n");
    prof__out_note(out, all->ends_missing, "span", " began, but with no end: counted, but in no time\n");
}

static void prof__summary_frame(prof__table *t, const prof_stat *stat, int running)
{
    char rate[48] = "-", low[48] = "-";
    /* Both rates count the time within frames alone. Frames of prof_frame_create() may leave gaps, and gaps belong to
       no frame. low: the rate that 99 % of the frames reach, unless the mean is lower, which a single slow frame can
       make it. */
    double mean = stat->mean_ns, slow = prof__real(stat->p99_ns);
    if (slow < mean) slow = mean;
    if (mean > 0) prof__human_hz(rate, 1e9 / mean);
    if (slow > 0) prof__human_hz(low, 1e9 / slow);
    prof__table_row(t, stat->name, 0);
    prof__table_count(t, stat->count);
    if (stat->count) {
        prof__table_text(t, rate);
        prof__table_text(t, low);
        if (running) prof__summary_running(t, stat, stat->count);
        prof__summary_times(t, stat);
    } else {
        prof__table_dashes(t); /* there is one boundary, and so no complete frame */
    }
    prof__table_end(t);
}

static void prof__summary_frames(prof__out *out, const prof__sorted *rows, size_t count, size_t limit)
{
    /* running: of a frame, on average */
    static const prof__column columns[] = {{"frames", 0, 0},    {"rate", 12, 0},     {"1 % low", 11, 0},
                                           {"running", 10, 0},  PROF__SUMMARY_TIMES, {NULL, 0, 0}};
    static const prof__column plain[] = {{"frames", 0, 0}, {"rate", 12, 0},     {"1 % low", 11, 0},
                                         PROF__SUMMARY_TIMES, {NULL, 0, 0}};
    prof__table t;
    int running = 0;
    size_t i;
    if (!count) return;
    for (i = 0; i < count; i++) running |= rows[i].stat->unknown_ns < rows[i].stat->total_ns;
    prof__out_text(out, "\n");
    prof__table_begin(&t, out, limit, "frame", running ? columns : plain, NULL, 0);
    do
        for (i = 0; i < count; i++) prof__summary_frame(&t, rows[i].stat, running);
    while (prof__table_again(&t));
}

static void prof__summary_counters(prof__out *out, const prof__stat_rows *all, const prof__sorted *rows, size_t count,
                                   size_t limit)
{
    prof__column columns[] = {{"samples", 1, 0}, {"min", 3, 14}, {"mean", 2, 14}, {"max", 4, 14}, {"last", 0, 14},
                              {NULL, 0, 0}};
    prof__table t;
    size_t i, j;
    char text[96];
    if (!count) return;
    for (i = 0; i < count; i++) {
        const prof__stat_row *row = &all->items[prof__sorted_number(all, &rows[i])];
        const double values[] = {row->low, row->mean, row->high, row->last};
        for (j = 0; j < 4; j++) {
            size_t length;
            prof__measured(text, values[j], row->stat.site->unit);
            length = prof__characters(text);
            if (length >= columns[1].width) columns[1].width = length + 1;
        }
    }
    for (j = 2; j <= 4; j++) columns[j].width = columns[1].width; /* all are as wide as the widest */
    prof__out_text(out, "\n");
    prof__table_begin(&t, out, limit, "counter", columns, NULL, 0);
    do
        for (i = 0; i < count; i++) {
            const prof__stat_row *row = &all->items[prof__sorted_number(all, &rows[i])];
            const double values[] = {row->low, row->mean, row->high, row->last};
            prof__table_row(&t, row->stat.name, 0);
            prof__table_count(&t, row->stat.count);
            for (j = 0; j < 4; j++) {
                prof__measured(text, values[j], row->stat.site->unit);
                prof__table_text(&t, text);
            }
            prof__table_end(&t);
        }
    while (prof__table_again(&t));
}

/* Writes the row of the device whose first track has the index `first`. Returns how many tracks the device has. */
static size_t prof__summary_device(prof__table *t, const prof_trace *trace, size_t first)
{
    static const char *const notes[] = {"", "", "",
                                        "  no two pairs of clocks, or one and the rate: times are guesses"};
    const prof_track *track = prof_trace_track(trace, first);
    size_t tracks = prof_trace_track_count(trace), rows = 0;
    uint64_t events = 0, early = 0;
    char rate[48] = "-";
    for (; first + rows < tracks && prof_trace_track(trace, first + rows)->device == track->device; rows++) {
        events += prof_trace_track(trace, first + rows)->event_count;
        early += prof_trace_track(trace, first + rows)->early;
    }
    if (track->device_hz > 0) prof__human_hz(rate, track->device_hz);
    prof__table_row(t, track->device, 0);
    prof__table_count(t, rows);
    prof__table_count(t, events);
    prof__table_text(t, rate);
    prof__table_count(t, track->pairs);
    prof__table_note(t, notes[track->alignment]);
    if (track->pairs_refused) {
        prof__table_note(t, "  ");
        prof__table_note_many(t, track->pairs_refused, "pair", " refused: a clock went backwards");
    }
    if (early) {
        prof__table_note(t, "  ");
        prof__table_note_many(t, early, "event", " from before the session left out");
    }
    prof__table_end(t);
    return rows;
}

/* Writes the table of devices, and how exactly their times match the host's. */
static void prof__summary_devices(prof__out *out, const prof_trace *trace, size_t limit)
{
    static const prof__column columns[] = {{"tracks", 1, 0}, {"events", 0, 0}, {"rate", 3, 0}, {"pairs", 2, 0},
                                           {NULL, 0, 0}};
    size_t tracks = prof_trace_track_count(trace), first = 0, i;
    prof__table t;
    while (first < tracks && !*prof_trace_track(trace, first)->device) first++;
    if (first == tracks) return;
    prof__out_text(out, "\n");
    prof__table_begin(&t, out, limit, "device", columns, NULL, 0);
    do
        for (i = first; i < tracks;) i += prof__summary_device(&t, trace, i);
    while (prof__table_again(&t));
}

/* Writes to `to` (32 bytes) a value for PROF_BUFFER that holds what was recorded and `more` times as much besides: a
   size that is a power of two. Writes "" if that exceeds `max`, or if the buffer is that large already. */
static void prof__buffer_wanted(char *to, const prof_trace *trace, double more, uint64_t max)
{
    static const char units[] = {0, 'K', 'M', 'G'};
    uint64_t had = trace->header.image_size + 2 * (uint64_t)trace->header.chunk_size, wanted = PROF__MIN_BUFFER;
    int unit;
    *to = 0;
    while (wanted <= max && (wanted <= had || prof__real(wanted) < prof__real(trace->header.image_size) * (1 + more)))
        wanted *= 2;
    if (wanted <= had || wanted > max) return;
    for (unit = 0; wanted >= 1024 && unit < 3; unit++) wanted /= 1024;
    snprintf(to, 32, " to %llu%.1s", (unsigned long long)wanted, &units[unit]);
}

/* Returns 1 if a ring may have overwritten events recorded at `from` or later. `from` is in nanoseconds since the
   start. A ring overwrites the oldest events first. So a thread without events may have lost what is older than the
   ends of other threads' events, and no more. */
static int prof__ring_lacks(const prof_trace *trace, int64_t from)
{
    int64_t ended = INT64_MAX;
    uint64_t last = 0, threads = 0;
    size_t i;
    if (!prof_trace_about(trace)->overwritten_chunks) return 0;
    if (from <= 0) return 1;
    for (i = 0; i < prof_trace_track_count(trace); i++) {
        const prof_track *track = prof_trace_track(trace, i);
        if (*track->device) continue;
        if (track->kept_ns > from) return 1;
        if (track->ended && track->last_ns < ended) ended = track->last_ns;
        if (track->id > last) last = track->id;
        threads++;
    }
    return last > threads && ended > from;
}

#define PROF__LOSSES 11

/* Writes to `to` what a kind of loss has removed from the trace, and how to avoid it. Returns 0 if this kind did not
   occur. */
static int prof__loss_text(const prof_trace *trace, int kind, char *to, size_t size)
{
    const prof_trace_info *info = prof_trace_about(trace);
    static const char *const things[] = {"event", "older chunk", "write",    "item",
                                         "name",  "part",        "argument", "event", "event", "event",
                                         "sample"};
    uint64_t chunks = trace->info.chunks;
    uint64_t kept = trace->aggregated ? info->folded : info->event_count;
    uint64_t counts[PROF__LOSSES];
    char count[32], wanted[32];
    double more = 0;
    if (kind <= 2) kind = (kind + 2) % 3; /* failed writes first, because they may be the cause of lost events */
    counts[0] = info->lost - info->lost_busy - info->lost_deep;
    counts[1] = prof__ring_lacks(trace, info->from_ns) ? info->overwritten_chunks : 0;
    counts[2] = info->write_failures;
    counts[3] = info->unmatched;
    counts[4] = info->sites_lost;
    counts[5] = info->lost_blocks;
    counts[6] = info->lost_args;
    counts[7] = info->lost_busy;
    counts[8] = info->lost_deep;
    counts[9] = info->unknown;
    counts[10] = info->samples_lost;
    if (!counts[kind]) return 0;
    if (kind == 4) {
        more = prof__real(info->sites_lost) / (prof__real(trace->site_count) + 1);
    } else {
        if (info->mode != PROF_STREAM && chunks) more = prof__real(info->overwritten_chunks) / prof__real(chunks);
        more += prof__real(counts[0] > counts[6] ? counts[0] : counts[6]) / (prof__real(kept) + 1);
    }
    /* A larger buffer gives names no more space, and for events beyond 1 GiB a file is the better answer. */
    prof__buffer_wanted(wanted, trace, more, kind == 4 ? (uint64_t)128 << 20 : (uint64_t)1 << 30);
    prof__grouped(count, counts[kind]);
    snprintf(to, size, "%s %s%s ", count, things[kind], counts[kind] == 1 ? "" : "s");
    size -= strlen(to);
    to += strlen(to);
    switch (kind) {
    case 0:
    case 6:
    case 7:
        if (kind == 7 || (info->lost_busy && !counts[0])) /* arguments are lost with events, or if the buffer is full */
            snprintf(to, size, "lost in signal handlers or interrupts that came while a macro was at work");
        else if (info->mode == PROF_STREAM && !strcmp(info->write_error, PROF__LIMIT_REACHED))
            snprintf(to, size, "lost because the file has its largest size: enlarge PROF_MAX_FILE_SIZE, or set "
                               "PROF_AT_LIMIT=rotate to keep the newest");
        else if (info->mode == PROF_STREAM && *info->write_error)
            snprintf(to, size, "lost because the file could not be written: see the failed writes");
        else
            snprintf(to, size, "lost in a full buffer: enlarge PROF_BUFFER%s",
                     *wanted ? wanted : ", or write to a file: PROF_MODE=stream");
        break;
    case 1:
        if (info->mode == PROF_RING_STATS && trace->aggregated)
            snprintf(to, size, "overwritten in the ring: they are in the statistics only");
        else if (info->mode == PROF_STREAM)
            snprintf(to, size, "made room in the file: enlarge PROF_MAX_FILE_SIZE to see further back");
        else
            snprintf(to, size, *wanted ? "overwritten in the ring: enlarge PROF_BUFFER%s to see them all"
                                       : "overwritten in the ring: PROF_MODE=stream keeps them all, in a file%s",
                     wanted);
        break;
    case 2: snprintf(to, size, "failed while recording: %s", info->write_error); break;
    case 3: snprintf(to, size, "left out: ends or arguments without an open scope"); break;
    case 4:
        snprintf(to, size,
                 *wanted ? "did not fit: enlarge PROF_BUFFER%s" : "did not fit, and a larger buffer does not help%s",
                 wanted);
        break;
    case 8:
        snprintf(to, size, "lost because too many PROFILE_BEGINs, ranges or calls were open on a thread: is each one "
                           "ended? A larger buffer does not help; for calls PROF_INSTRUMENT_DEPTH does");
        break;
    case 9:
        snprintf(to, size, "left out, of kinds that this version does not know: read the file with a newer one");
        break;
    case 10:
        prof__grouped(count, info->samples_dropped);
        if (info->samples_dropped == info->samples_lost)
            snprintf(to, size, "lost in a full buffer: enlarge PROF_BUFFER");
        else
            snprintf(to, size, "lost in a full ring of the kernel: ask for fewer (PROF_SAMPLES)%s%s%s",
                     info->samples_dropped ? "; of these " : "", info->samples_dropped ? count : "",
                     info->samples_dropped ? " in a full buffer" : "");
        break;
    default: snprintf(to, size, "of the file missing: it was cut, damaged, or overwritten while it was read"); break;
    }
    return 1;
}

/* Writes to `to` the text of prof__loss_text() for a viewer that draws events from the time `from` on. Returns what
   kind of thing was dropped, or NULL if nothing needs a warning. No warning is needed for ends and arguments of scopes
   that began before the recording, for writes that succeeded later, and for what a ring has overwritten before
   `from`. */
static const char *prof__dropped(const prof_trace *trace, int kind, int64_t from, char *to, size_t size)
{
    static const char *const dropped[PROF__LOSSES] = {"events", "events",    "events", NULL,    "names",
                                                      "events", "arguments", "events", "events", "events",
                                                      NULL};
    if ((kind == 0 && !prof_trace_about(trace)->lost) || (kind == 2 && !prof__ring_lacks(trace, from))) return NULL;
    return prof__loss_text(trace, kind, to, size) ? dropped[kind] : NULL;
}

static void prof__summary_losses(prof__out *out, const prof_trace *trace, size_t limit)
{
    char text[512];
    int kind, kinds = 0;
    prof__out_text(out, "\n");
    for (kind = 0; kind < PROF__LOSSES; kind++) {
        if (!prof__loss_text(trace, kind, text, sizeof text)) continue;
        prof__out_wrapped(out, text, 0, 2, limit);
        prof__out_text(out, "\n");
        kinds++;
    }
    if (!kinds) prof__out_text(out, "nothing lost\n");
}

/* What other events cost, as a multiple of a scope, which reads the clock twice. BENCHMARKS.md has the measurements. */
#define PROF__MARK_COST 0.7
#define PROF__OBJECT_COST 0.9 /* an event of three words: head, object, detail */
#define PROF__VALUE_COST 0.175

/* How much of the program's time recording took. */
typedef struct prof__cost {
    uint64_t scopes, calls; /* calls: function calls recorded by hooks; scopes does not include them */
    uint64_t others, taken_back;
    double ns;
    double start_ns, ready_ns; /* the times of prof_start(), and of preparing the buffer */
    int about; /* 1: the cost is partly an estimate */
} prof__cost;

/* Estimates the cost of the events that a ring has overwritten from the events that it has kept. */
static double prof__cost_overwritten(const prof_trace *trace)
{
    const prof_trace_info *info = prof_trace_about(trace);
    uint64_t left = trace->info.chunks;
    if ((info->mode != PROF_RING && info->mode != PROF_RING_STATS) || trace->aggregated) return 1;
    if (!left || info->from_ns || info->to_ns) return 1;
    return 1 + prof__real(info->overwritten_chunks) / prof__real(left);
}

static prof__cost prof__cost_of(const prof_trace *trace, const prof__stat_rows *all)
{
    const prof_trace_info *info = prof_trace_about(trace);
    const prof__header *h = &trace->header;
    double ns_per_tick = h->cost_ticks_x1000 ? info->scope_cost_ns / prof__real(h->cost_ticks_x1000) : 0, more, window;
    double scope = info->scope_cost_ns, call = info->call_cost_ns > 0 ? info->call_cost_ns : scope;
    double text = h->text_x1000 ? prof__real(h->text_x1000) * ns_per_tick : scope;
    double format = h->format_x1000 ? prof__real(h->format_x1000) * ns_per_tick : scope;
    prof__cost cost;
    memset(&cost, 0, sizeof cost);
    for (size_t i = 0; i < all->count; i++) {
        const prof_stat *stat = &all->items[i].stat;
        int called = info->call_cost_ns > 0 && !strcmp(stat->site->category, "function");
        if (all->items[i].type == PROF_EVENT_SCOPE) *(called ? &cost.calls : &cost.scopes) += stat->count;
    }
    more = prof__cost_overwritten(trace);
    window = info->duration_ns > 0 ? prof__trace_span(info) / (double)info->duration_ns : 1;
    cost.others = all->uses.marks + all->uses.objects;
    cost.taken_back = window < 1 ? (uint64_t)(prof__real(info->taken_back) * window) : info->taken_back;
    cost.about = more > 1 || window < 1;
    cost.ns = more * (scope * (prof__real(cost.scopes) + PROF__MARK_COST * prof__real(all->uses.marks) +
                               PROF__OBJECT_COST * prof__real(all->uses.objects) +
                               PROF__VALUE_COST * prof__real(all->uses.values)) +
                      call * prof__real(cost.calls) + (text - scope) * prof__real(all->uses.texts) +
                      (format - scope) * prof__real(all->uses.formats));
    cost.start_ns = window < 1 ? 0 : info->start_cost_ns;
    cost.ready_ns = window < 1 ? 0 : info->ready_cost_ns;
    cost.ns += (cost.calls || !cost.scopes ? call : scope) * prof__real(cost.taken_back);
    return cost;
}

/* Appends a count to `to`, as in "3 scopes, 20 calls". Appends nothing if the count is 0. */
static void prof__cost_count(char *to, size_t size, uint64_t count, const char *one, const char *many)
{
    size_t used = strlen(to);
    char number[32];
    if (!count) return;
    prof__grouped(number, count);
    snprintf(to + used, size - used, "%s%s %s", used ? ", " : "", number, count == 1 ? one : many);
}

static void prof__summary_cost(prof__out *out, const prof_trace *trace, const prof__stat_rows *all, size_t limit)
{
    const prof_trace_info *info = prof_trace_about(trace);
    prof__cost cost = prof__cost_of(trace, all);
    double span = prof__trace_span(info);
    char text[640], things[256] = "", each[48], call[48], ns[48], share[32] = "", start[48] = "", ready[48] = "";
    if (!(info->scope_cost_ns > 0)) return;
    if (!cost.scopes && !cost.calls && !cost.others && !cost.taken_back)
        prof__text_copy(things, sizeof things, "0 scopes");
    prof__cost_count(things, sizeof things, cost.scopes, "scope", "scopes");
    prof__cost_count(things, sizeof things, cost.calls, "call", "calls");
    prof__cost_count(things, sizeof things, cost.others, "other event", "other events");
    prof__cost_count(things, sizeof things, cost.taken_back, "removed by min_duration", "removed by min_duration");
    prof__human_ns(each, info->scope_cost_ns);
    prof__human_ns(call, info->call_cost_ns);
    prof__human_ns(ns, cost.ns);
    if (cost.start_ns > 0) prof__human_ns(start, cost.start_ns);
    if (cost.ready_ns > 0) prof__human_ns(ready, cost.ready_ns);
    if (info->duration_ns > 0)
        prof__fixed(share, span > 0 ? (cost.ns + cost.start_ns + cost.ready_ns) / (span + cost.start_ns) * 100 : 0, 1);
    snprintf(text, sizeof text, "recording cost %s a scope%s%s%s, %s%s for %s%s%s%s%s%s%s%s%s", each,
             cost.calls ? ", " : "", cost.calls ? call : "", cost.calls ? " a call" : "", cost.about ? "about " : "",
             ns, things, cost.about && prof__cost_overwritten(trace) > 1 ? " and what was overwritten" : "",
             *start ? ", " : "", start, *start ? " for the start" : "", *ready ? ", " : "", ready,
             *ready ? " for memory" : "", *share ? ", " : "");
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", span > 0 ? share : *share ? "-" : "",
             *share ? span > 0 ? " % of the run" : " of the run" : "");
    prof__out_wrapped(out, text, 0, 2, limit);
    prof__out_text(out, "\n");
}

#endif /* PROF__REPORT_SUMMARY_H */
