// layouts/parts: Writes what several layouts have: numbers, losses, times.
#ifndef PROF__LAYOUTS_PARTS_H
#define PROF__LAYOUTS_PARTS_H
#include "api/read.h"
#include "api/values.h"
#include "ground/digits.h"
#include "ground/numbers.h"
#include "ground/out.h"
#include "ground/text.h"
#include "session/pattern.h"
#include "report/summary.h"
#include "report/summary_write.h"
#include "layouts/api.h"
#include "layouts/state.h"

/*-- parts that several layouts use --*/

/* Writes value / unit as "%*.*f" does, but alike in every locale. Rounds halves away from 0. Writes numbers from 9e15 /
   10^decimals on with an exponent. */
static void prof__report_fixed(prof__out *out, double value, double unit, unsigned decimals, size_t width)
{
    static const double scales[] = {1, 10, 100, 1000, 10000};
    char text[48];
    double scaled = (value < 0 ? -value : value) * scales[decimals] / unit + 0.5; /* adding 0.5 keeps a half exact */
    if (prof__finite(value) && scaled < 9e15) {
        text[0] = '-';
        prof__decimals(text + 1, (uint64_t)scaled, decimals);
        prof__out_right(out, text + !(value < 0), width);
    } else {
        prof__double_text(text, value / unit);
        prof__out_right(out, text, width);
    }
}

static int prof__report_lossy(const prof_trace_info *info)
{
    return info->lost || info->lost_args || info->overwritten_chunks || info->unmatched || info->sites_lost ||
           info->lost_blocks || info->write_failures;
}

/* Returns how many characters a line may have: see prof__out_columns(). Returns 0, no limit, for layouts of other
   systems. */
static size_t prof__report_limit(const prof__report *r)
{
    prof_report_layout layout = r->options.layout;
    return layout == PROF_REPORT_MXNET || layout == PROF_REPORT_CNTK ? 0
                                                                     : prof__out_columns(r->out, r->options.columns);
}

/* Writes the losses, if there are any. */
static void prof__report_losses(prof__report *r)
{
    if (prof__report_lossy(prof_trace_about(r->trace))) prof__summary_losses(r->out, r->trace, prof__report_limit(r));
}

/* Returns the Unix time at which the recording ended. */
static uint64_t prof__report_end_ns(const prof_trace *trace)
{
    const prof_trace_info *info = prof_trace_about(trace);
    return info->start_unix_ns + (uint64_t)info->duration_ns;
}

static void prof__report_time(const prof_trace *trace, const char *format, char *to, size_t size)
{
    struct tm here;
    if (!prof__local_time(prof__report_end_ns(trace) / 1000000000, &here) || !strftime(to, size, format, &here))
        to[0] = 0;
}

#endif /* PROF__LAYOUTS_PARTS_H */
