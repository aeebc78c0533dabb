// layouts/json: The layout JSON.
#ifndef PROF__LAYOUTS_JSON_H
#define PROF__LAYOUTS_JSON_H
#include "api/read.h"
#include "api/reports.h"
#include "api/values.h"
#include "ground/digits.h"
#include "ground/json.h"
#include "ground/numbers.h"
#include "ground/out.h"
#include "report/accumulator.h"
#include "layouts/mxnet.h"
#include "layouts/rows.h"
#include "layouts/state.h"

/*-- the JSON layout --*/

static void prof__report_string(prof__out *out, const char *text)
{
    PROF__REPORT_LITERAL(out, "\"");
    prof__out_json(out, text);
    PROF__REPORT_LITERAL(out, "\"");
}

static void prof__report_key_text(prof__out *out, const char *key)
{
    PROF__REPORT_LITERAL(out, ",\"");
    prof__out_text(out, key);
    PROF__REPORT_LITERAL(out, "\":");
}

/* Writes a key and a time in milliseconds, with all digits of the time. */
static void prof__report_ms(prof__out *out, const char *key, uint64_t ns)
{
    char text[32];
    size_t length = prof__decimals(text, ns, 6);
    while (text[length - 1] == '0') length--;
    if (text[length - 1] == '.') length--;
    prof__report_key_text(out, key);
    prof__out_bytes(out, text, length);
}

static void prof__report_double(prof__out *out, const char *key, double value)
{
    prof__report_key_text(out, key);
    if (prof__finite(value))
        prof__out_double(out, value);
    else
        PROF__REPORT_LITERAL(out, "null"); /* JSON has no infinity */
}

static void prof__report_whole(prof__out *out, const char *key, uint64_t value)
{
    prof__report_key_text(out, key);
    prof__out_unsigned(out, value);
}

static void prof__report_json_times(prof__out *out, const prof__report_row *row)
{
    const prof_stat *stat = &row->sums.stat;
    if (prof__report_measured(row)) {
        prof__report_ms(out, "Total", stat->sum_ns);
        prof__report_ms(out, "Min", stat->min_ns);
        prof__report_ms(out, "Max", stat->max_ns);
        prof__report_double(out, "Avg", stat->mean_ns / 1e6);
        prof__report_double(out, "StdDev", stat->deviation_ns / 1e6);
        if (row->sums.type == PROF_EVENT_SCOPE) prof__report_ms(out, "Self", stat->self_ns);
        prof__report_ms(out, "P50", stat->p50_ns);
        prof__report_ms(out, "P90", stat->p90_ns);
        prof__report_ms(out, "P99", stat->p99_ns);
        prof__report_ms(out, "P99.9", stat->p999_ns);
    }
    if (row->sums.type == PROF_EVENT_SCOPE && stat->unknown_ns < stat->total_ns) {
        prof__report_ms(out, "Running", stat->running_ns);
        prof__report_ms(out, "Ready", stat->ready_ns);
        prof__report_ms(out, "Waiting", stat->waiting_ns);
        prof__report_ms(out, "Unknown", stat->unknown_ns);
        prof__report_whole(out, "Switches", stat->switches);
        prof__report_whole(out, "Migrations", stat->migrations);
    }
    if (stat->truncated) prof__report_whole(out, "Truncated", stat->truncated);
    if ((stat->bytes || stat->rates) && *stat->site->unit) {
        prof__report_whole(out, "Moved", stat->bytes);
        prof__report_key_text(out, "Unit");
        PROF__REPORT_LITERAL(out, "\"");
        prof__out_json(out, stat->site->unit);
        PROF__REPORT_LITERAL(out, "\"");
        prof__report_double(out, "AvgPerSecond", stat->mean_rate * 1e6);
        prof__report_double(out, "MinPerSecond", stat->min_rate * 1e6);
        prof__report_double(out, "MaxPerSecond", stat->max_rate * 1e6);
        prof__report_double(out, "StdDevPerSecond", stat->deviation_rate * 1e6);
        return;
    }
    if (stat->bytes || stat->rates) prof__report_whole(out, "Bytes", stat->bytes);
    if (!stat->rates) return;
    prof__report_double(out, "AvgMBps", stat->mean_rate);
    prof__report_double(out, "MinMBps", stat->min_rate);
    prof__report_double(out, "MaxMBps", stat->max_rate);
    prof__report_double(out, "StdDevMBps", stat->deviation_rate);
}

static void prof__report_json_values(prof__out *out, const prof__report_row *row)
{
    const prof__stat_row *sums = &row->sums;
    double scale = prof__report_memory(row) ? 1e3 : 1;
    prof__report_double(out, "Min", sums->low / scale);
    prof__report_double(out, "Max", sums->high / scale);
    prof__report_double(out, "Avg", sums->mean / scale);
    prof__report_double(out, "Last", sums->last / scale);
    prof__report_double(out, "StdDev", prof__square_root(sums->squares / (double)sums->stat.count) / scale);
}

static void prof__report_json_row(prof__out *out, const prof__report_row *row)
{
    prof__report_string(out, row->sums.stat.name);
    PROF__REPORT_LITERAL(out, ":{\"Count\":");
    prof__out_unsigned(out, prof__report_measured(row));
    if (row->sums.type == PROF_EVENT_COUNTER)
        prof__report_json_values(out, row);
    else
        prof__report_json_times(out, row);
    PROF__REPORT_LITERAL(out, "}");
}

static const char *prof__report_section(const prof__report_row *row)
{
    return prof__report_memory(row) ? "Memory" : row->sums.type == PROF_EVENT_COUNTER ? "Counter" : "Time";
}

/* Writes a section, "Time":{category:{name:{...}}}, and a comma. */
static void prof__report_json_section(prof__report *r, const char *section)
{
    size_t from, to, i, domains = 0;
    prof__report_string(r->out, section);
    PROF__REPORT_LITERAL(r->out, ":{");
    for (from = 0; from < r->count; from = to) {
        size_t rows = 0;
        to = prof__report_next_domain(r, from);
        for (i = from; i < to; i++) {
            const char *more, *domain = prof__report_domain(&r->rows[i], &more);
            if (strcmp(prof__report_section(&r->rows[i]), section) || !r->rows[i].sums.stat.count) continue;
            if (!rows++) {
                prof__out_text(r->out, domains++ ? ",\n\"" : "\n\"");
                prof__out_json(r->out, domain);
                prof__out_json(r->out, more);
                PROF__REPORT_LITERAL(r->out, "\":{\n");
            } else {
                PROF__REPORT_LITERAL(r->out, ",\n");
            }
            prof__report_json_row(r->out, &r->rows[i]);
        }
        if (rows) PROF__REPORT_LITERAL(r->out, "}");
    }
    PROF__REPORT_LITERAL(r->out, "},\n");
}

static void prof__report_json(prof__report *r)
{
    const prof_trace_info *info = prof_trace_about(r->trace);
    prof__out *out = r->out;
    prof__report_sort(r, prof__report_table_order);
    PROF__REPORT_LITERAL(out, "{");
    prof__report_json_section(r, "Time");
    prof__report_json_section(r, "Memory");
    prof__report_json_section(r, "Counter");
    PROF__REPORT_LITERAL(out, "\"Unit\":{\"Time\":\"ms\",\"Memory\":\"kB\"},\n\"Process\":{\"Program\":");
    prof__report_string(out, info->program);
    prof__report_whole(out, "Pid", r->pid);
    prof__report_whole(out, "StartUnixNs", info->start_unix_ns);
    prof__report_ms(out, "Duration", (uint64_t)info->duration_ns);
    prof__out_text(out, info->complete ? ",\"Complete\":true},\n" : ",\"Complete\":false},\n");
    PROF__REPORT_LITERAL(out, "\"Losses\":{\"Events\":");
    prof__out_unsigned(out, info->lost);
    prof__report_whole(out, "Arguments", info->lost_args);
    prof__report_whole(out, "InHandlers", info->lost_busy);
    prof__report_whole(out, "OverwrittenChunks", info->overwritten_chunks);
    prof__report_whole(out, "UnmatchedEnds", info->unmatched);
    prof__report_whole(out, "CallSites", info->sites_lost);
    prof__report_whole(out, "MissingParts", info->lost_blocks);
    prof__report_whole(out, "FailedWrites", info->write_failures);
    PROF__REPORT_LITERAL(out, "}}");
}

#endif /* PROF__LAYOUTS_JSON_H */
