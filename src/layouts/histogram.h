// layouts/histogram: The layout of histograms.
#ifndef PROF__LAYOUTS_HISTOGRAM_H
#define PROF__LAYOUTS_HISTOGRAM_H
#include "api/reports.h"
#include "api/values.h"
#include "ground/digits.h"
#include "ground/out.h"
#include "ground/text.h"
#include "ground/utf8.h"
#include "report/accumulator.h"
#include "layouts/parts.h"
#include "layouts/rows.h"
#include "layouts/state.h"

/*-- the layout of histograms --*/

#define PROF__REPORT_BAR ((size_t)40)         /* characters of the longest bar */
#define PROF__REPORT_BEFORE_BAR ((size_t)61)  /* how many characters come before a bar */
#define PROF__REPORT_BAR_LEAST ((size_t)10)

static void prof__report_bar(prof__out *out, uint64_t count, uint64_t max, size_t widest)
{
    double share = (double)count / (double)max * (double)widest;
    int length = (int)(share + 0.5), i;
    PROF__REPORT_LITERAL(out, "  |");
    for (i = 0; i < length; i++) PROF__REPORT_LITERAL(out, "#");
    if (count && !length) PROF__REPORT_LITERAL(out, ".");
    PROF__REPORT_LITERAL(out, "\n");
}

static void prof__report_percent(prof__out *out, double part, double whole, size_t width)
{
    char text[48] = "-";
    if (whole > 0) strcpy(text + prof__fixed(text, part / whole * 100, 1), " %");
    prof__out_right(out, text, width);
}

static void prof__report_bars(prof__out *out, const prof__stat_row *sums, uint64_t all, size_t limit)
{
    size_t widest =
        limit && limit < PROF__REPORT_BEFORE_BAR + PROF__REPORT_BAR ? PROF__REPORT_BAR_LEAST : PROF__REPORT_BAR;
    uint64_t powers[65], max = 0, seen = 0;
    unsigned i, first = 65, last = 0;
    if (widest < PROF__REPORT_BAR && limit > PROF__REPORT_BEFORE_BAR + widest) widest = limit - PROF__REPORT_BEFORE_BAR;
    prof__stat_row_powers(sums, powers);
    for (i = 0; i < 65; i++) {
        if (!powers[i]) continue;
        if (first == 65) first = i;
        last = i;
        if (powers[i] > max) max = powers[i];
    }
    for (i = first; i <= last && i < 65; i++) {
        seen += powers[i];
        prof__out_ns(out, i ? (double)((uint64_t)1 << (i - 1)) : 0, 12);
        prof__out_ns(out, i < 64 ? (double)((uint64_t)1 << i) : 18446744073709551616.0, 12);
        prof__out_count(out, powers[i], 14);
        prof__report_percent(out, (double)powers[i], (double)all, 10);
        prof__report_percent(out, (double)seen, (double)all, 10);
        prof__report_bar(out, powers[i], max, widest);
    }
}

static void prof__report_histogram(prof__out *out, const prof__report_row *row, size_t limit)
{
    const prof_stat *stat = &row->sums.stat;
    const char *more, *domain = prof__report_domain(row, &more);
    uint64_t all = prof__report_measured(row);
    char text[320], count[32], unknown[64] = "", total[48], mean[48], p50[48], p99[48];
    size_t length = prof__characters(stat->name), at;
    if (limit && length > limit / 2) length = limit / 2;
    at = length;
    PROF__REPORT_LITERAL(out, "\n");
    prof__out_name(out, stat->name, length);
    if (row->category[0] || *more) {
        PROF__REPORT_LITERAL(out, " [");
        prof__out_clean(out, domain);
        prof__out_text(out, more);
        PROF__REPORT_LITERAL(out, "]");
        at += prof__characters(domain) + strlen(more) + 3;
    }
    prof__grouped(count, stat->truncated);
    if (stat->truncated) snprintf(unknown, sizeof unknown, " and %s of unknown begin or end", count);
    prof__grouped(count, all);
    prof__human_ns(total, (double)stat->total_ns);
    prof__human_ns(mean, stat->mean_ns);
    prof__human_ns(p50, (double)stat->p50_ns);
    prof__human_ns(p99, (double)stat->p99_ns);
    snprintf(text, sizeof text, ": %s %s%s%s", count, row->sums.type == PROF_EVENT_FRAME ? "frame" : "call",
             all == 1 ? "" : "s", unknown);
    if (all)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", total %s, mean %s, p50 %s, p99 %s", total, mean,
                 p50, p99);
    prof__out_wrapped(out, text, at, 4, limit);
    PROF__REPORT_LITERAL(out, "\n");
    if (!all) return;
    PROF__REPORT_LITERAL(out, "        from       below         count     share    so far\n");
    prof__report_bars(out, &row->sums, all, limit);
}

static void prof__report_histograms(prof__report *r)
{
    size_t i, shown = 0;
    prof__report_sort(r, prof__report_order);
    for (i = 0; i < r->count; i++) {
        if (r->rows[i].sums.type == PROF_EVENT_COUNTER || !r->rows[i].sums.stat.count) continue;
        if (r->options.top && shown == r->options.top) break;
        prof__report_histogram(r->out, &r->rows[i], prof__report_limit(r));
        shown++;
    }
    if (!shown) PROF__REPORT_LITERAL(r->out, "\nno scopes\n");
    prof__report_losses(r);
}

#endif /* PROF__LAYOUTS_HISTOGRAM_H */
