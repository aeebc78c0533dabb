// layouts/cntk: The layout of CNTK's summary.
#ifndef PROF__LAYOUTS_CNTK_H
#define PROF__LAYOUTS_CNTK_H
#include "api/reports.h"
#include "api/values.h"
#include "ground/digits.h"
#include "ground/out.h"
#include "ground/text.h"
#include "ground/utf8.h"
#include "layouts/api.h"
#include "layouts/parts.h"
#include "layouts/rows.h"
#include "layouts/state.h"

/*-- the layout of CNTK's summary --*/

/* The rows that CNTK's PerformanceProfiler.h lists. No row here moves bytes. */
static const prof_report_event prof__report_cntk_events[] = {
    {"Main Thread", PROF_REPORT_SEPARATOR, NULL},
    {"", PROF_REPORT_SEPARATOR, NULL},
    {"Epoch", PROF_REPORT_TIME, NULL},
    {"_Minibatch Iteration", PROF_REPORT_TIME, NULL},
    {"__Get Minibatch", PROF_REPORT_TIME, NULL},
    {"__Forward + Backward", PROF_REPORT_TIME, NULL},
    {"__Gradient Aggregation", PROF_REPORT_TIME, NULL},
    {"__Weight Update", PROF_REPORT_TIME, NULL},
    {"__Post Processing", PROF_REPORT_TIME, NULL},
    {"", PROF_REPORT_SEPARATOR, NULL},
    {"Data Reader", PROF_REPORT_SEPARATOR, NULL},
    {"", PROF_REPORT_SEPARATOR, NULL},
    {"Prefetch Minibatch", PROF_REPORT_TIME, NULL}};

/* Writes a time as CNTK does: "      136.605 ms" up to a minute, "    00:02:16.600" beyond. */
static void prof__report_cntk_time(prof__out *out, double ns)
{
    char text[64], part[24];
    uint64_t ms;
    size_t at = 0;
    if (ns < 60e9) {
        prof__report_fixed(out, ns, 1e6, 3, 13);
        PROF__REPORT_LITERAL(out, " ms");
        return;
    }
    ms = ns < 1.8e19 ? (uint64_t)(ns / 1e6 + 0.5) : (uint64_t)18000000000000;
    if (ms / 3600000 < 10) text[at++] = '0';
    at += prof__digits(text + at, ms / 3600000);
    prof__digits(part, 1000000000 + ms / 60000 % 60 * 10000000 + ms % 60000 * 100); /* 1 0MM SSsss 00 */
    text[at++] = ':';
    memcpy(text + at, part + 1, 2);
    at += 2;
    text[at++] = ':';
    memcpy(text + at, part + 3, 2);
    at += 2;
    text[at++] = '.';
    memcpy(text + at, part + 5, 3);
    text[at + 3] = 0;
    PROF__REPORT_LITERAL(out, "    ");
    prof__out_text(out, text);
}

static void prof__report_cntk_rate(prof__out *out, double megabytes)
{
    prof__report_fixed(out, megabytes, 1, 3, 11);
    PROF__REPORT_LITERAL(out, " MBps");
}

/* Writes a label, padded to at least 26 characters, and a space. */
static void prof__report_cntk_label(prof__out *out, const char *label)
{
    size_t length = prof__characters(label);
    prof__out_name(out, label, length > 26 ? length : 26);
    PROF__REPORT_LITERAL(out, ": ");
}

static void prof__report_cntk_count(prof__out *out, uint64_t count)
{
    char text[24];
    text[prof__digits(text, count)] = 0;
    prof__out_right(out, text, 16);
    PROF__REPORT_LITERAL(out, " ");
}

static void prof__report_cntk_time_row(prof__out *out, const char *label, const prof__report_row *row)
{
    const prof_stat *stat = &row->sums.stat;
    prof__report_cntk_label(out, label);
    prof__report_cntk_time(out, stat->mean_ns);
    PROF__REPORT_LITERAL(out, " ");
    prof__report_cntk_time(out, stat->deviation_ns);
    PROF__REPORT_LITERAL(out, " ");
    prof__report_cntk_time(out, (double)stat->min_ns);
    PROF__REPORT_LITERAL(out, " ");
    prof__report_cntk_time(out, (double)stat->max_ns);
    PROF__REPORT_LITERAL(out, " ");
    prof__report_cntk_count(out, prof__report_measured(row));
    prof__report_cntk_time(out, (double)stat->sum_ns);
    PROF__REPORT_LITERAL(out, "\n");
}

static void prof__report_cntk_rate_row(prof__out *out, const char *label, const prof__report_row *row)
{
    const prof_stat *stat = &row->sums.stat;
    int few = stat->bytes < 1048576;
    char text[24];
    prof__report_cntk_label(out, label);
    prof__report_cntk_rate(out, stat->mean_rate);
    PROF__REPORT_LITERAL(out, " ");
    prof__report_cntk_rate(out, stat->deviation_rate);
    PROF__REPORT_LITERAL(out, " ");
    prof__report_cntk_rate(out, stat->min_rate);
    PROF__REPORT_LITERAL(out, " ");
    prof__report_cntk_rate(out, stat->max_rate);
    PROF__REPORT_LITERAL(out, " ");
    prof__report_cntk_count(out, stat->rates);
    text[prof__digits(text, stat->bytes >> (few ? 10 : 20))] = 0;
    prof__out_right(out, text, 13);
    prof__out_text(out, few ? " kB\n" : " MB\n");
}

/* Rows of PROFILE_THROUGHPUT_UNIT are times here: the table has megabytes. */
static int prof__report_moves_bytes(const prof__report_row *row)
{
    return row->sums.stat.rates && !(row->sums.stat.site && *row->sums.stat.site->unit);
}

static void prof__report_cntk_row(prof__out *out, const char *label, prof_report_kind kind, const prof__report_row *row)
{
    if (kind == PROF_REPORT_THROUGHPUT && prof__report_moves_bytes(row)) prof__report_cntk_rate_row(out, label, row);
    if (kind == PROF_REPORT_TIME && prof__report_measured(row)) prof__report_cntk_time_row(out, label, row);
}

static void prof__report_cntk_event(prof__report *r, const prof_report_event *event)
{
    const char *name = event->name ? event->name : event->label;
    size_t i;
    if (event->kind == PROF_REPORT_SEPARATOR) {
        prof__out_clean(r->out, event->label);
        PROF__REPORT_LITERAL(r->out, "\n");
        return;
    }
    for (i = 0; i < r->count; i++) {
        if (r->rows[i].sums.type != PROF_EVENT_SCOPE || strcmp(r->rows[i].sums.stat.name, name)) continue;
        r->rows[i].listed = 1;
        prof__report_cntk_row(r->out, event->label, event->kind, &r->rows[i]);
    }
}

static void prof__report_cntk_others(prof__report *r)
{
    size_t i, count = 0;
    for (i = 0; i < r->count; i++) {
        const prof__report_row *row = &r->rows[i];
        if (row->listed || row->sums.type != PROF_EVENT_SCOPE || !prof__report_measured(row)) continue;
        if (!count++) PROF__REPORT_LITERAL(r->out, "\nOther Events\n\n");
        prof__report_cntk_row(r->out, row->sums.stat.name,
                              prof__report_moves_bytes(row) ? PROF_REPORT_THROUGHPUT : PROF_REPORT_TIME, row);
    }
}

static void prof__report_cntk(prof__report *r)
{
    const prof_report_event *events = r->options.events;
    size_t i, count = r->options.event_count;
    char time[48];
    if (!events) {
        events = prof__report_cntk_events;
        count = sizeof prof__report_cntk_events / sizeof *prof__report_cntk_events;
    }
    prof__report_sort(r, prof__report_order);
    prof__report_time(r->trace, "%Y/%m/%d %H:%M:%S", time, sizeof time);
    PROF__REPORT_LITERAL(r->out, "CNTK Performance Profiler Summary Report\n\nTime Stamp: ");
    prof__out_text(r->out, time);
    PROF__REPORT_LITERAL(r->out, "\n\nDescription................ ............Mean ..........StdDev .............Min "
                                 ".............Max ...........Count ...........Total\n\n");
    for (i = 0; i < count; i++) prof__report_cntk_event(r, &events[i]);
    if (r->options.others) prof__report_cntk_others(r);
    prof__report_losses(r);
}

#endif /* PROF__LAYOUTS_CNTK_H */
