// layouts/mxnet: The layout of MXNet's table.
#ifndef PROF__LAYOUTS_MXNET_H
#define PROF__LAYOUTS_MXNET_H
#include "api/values.h"
#include "ground/digits.h"
#include "ground/numbers.h"
#include "ground/out.h"
#include "ground/text.h"
#include "ground/utf8.h"
#include "report/accumulator.h"
#include "layouts/parts.h"
#include "layouts/rows.h"
#include "layouts/state.h"

/*-- the layout of MXNet's table --*/

static int prof__report_memory(const prof__report_row *row)
{
    return row->sums.type == PROF_EVENT_COUNTER &&
           (!strcmp(row->category, "Device Storage") || !strcmp(row->category, "Pool Memory"));
}

static void prof__report_mxnet_head(prof__out *out, const prof__report_row *row, int memory)
{
    const char *more, *domain = prof__report_domain(row, &more);
    prof__out_clean(out, domain);
    prof__out_text(out, more);
    PROF__REPORT_LITERAL(out, "\n=================\n");
    if (memory)
        PROF__REPORT_LITERAL(
            out, "Name                          Total Count    Min Use  (kB)    Max Use  (kB)    Avg Use  (kB)\n"
                 "----                          -----------    -------------    -------------    -------------\n");
    else
        PROF__REPORT_LITERAL(out, "Name                          Total Count        Time (ms)    Min Time (ms)    Max "
                                  "Time (ms)    Avg Time (ms)\n"
                                  "----                          -----------        ---------    -------------    "
                                  "-------------    -------------\n");
}

/* Writes a float as "%16.4f" does, but alike in every locale. MXNet's numbers are floats. A float times 10^4 is exact
   as a double, so exact halves are recognised, and rounded to even. */
static void prof__report_mxnet_float(prof__out *out, float value)
{
    char text[48];
    double scaled = (value < 0 ? -(double)value : (double)value) * 10000, rest;
    uint64_t whole;
    PROF__REPORT_LITERAL(out, " ");
    if (!prof__finite(value) || !(scaled < 9e15)) {
        prof__double_text(text, (double)value);
        prof__out_right(out, text, 16);
        return;
    }
    whole = (uint64_t)scaled;
    rest = scaled - (double)whole;
    if (rest > 0.5 || (!(rest < 0.5) && whole % 2)) whole++;
    text[0] = '-';
    prof__decimals(text + 1, whole, 4);
    prof__out_right(out, text + !(value < 0), 16);
}

/* Writes a number of MXNet's table. unit: 1: a counter, written with all its digits; 1e6: a time in ns; 1e3: bytes. */
static void prof__report_mxnet_number(prof__out *out, double value, double unit)
{
    if (unit < 1e3) {
        PROF__REPORT_LITERAL(out, " ");
        prof__report_fixed(out, value, unit, 4, 16);
    } else {
        prof__report_mxnet_float(out, (float)(unit > 1e3 ? value / 1e3 / 1e3 : value / 1e3)); /* in whole us first */
    }
}

static void prof__report_mxnet_row(prof__out *out, const prof__report_row *row)
{
    const prof__stat_row *sums = &row->sums;
    size_t length = prof__characters(sums->stat.name);
    int memory = prof__report_memory(row), counter = sums->type == PROF_EVENT_COUNTER;
    double unit = memory ? 1e3 : counter ? 1 : 1e6;
    char count[24];
    prof__out_name(out, sums->stat.name, length > 25 ? length : 25);
    count[prof__digits(count, prof__report_measured(row))] = 0;
    prof__out_right(out, count, 16);
    if (!memory) prof__report_mxnet_number(out, counter ? sums->last : (double)sums->stat.sum_ns, unit);
    prof__report_mxnet_number(out, counter ? sums->low : (double)sums->stat.min_ns, unit);
    prof__report_mxnet_number(out, counter ? sums->high : (double)sums->stat.max_ns, unit);
    prof__report_mxnet_number(out, counter ? sums->mean : sums->stat.mean_ns, unit);
    PROF__REPORT_LITERAL(out, "\n");
}

/* Writes the rows of one category: those about memory, or the others. */
static void prof__report_mxnet_table(prof__report *r, size_t from, size_t to, int memory)
{
    size_t i, count = 0;
    for (i = from; i < to; i++) {
        if (!prof__report_measured(&r->rows[i]) || prof__report_memory(&r->rows[i]) != memory) continue;
        if (!count++) prof__report_mxnet_head(r->out, &r->rows[i], memory);
        prof__report_mxnet_row(r->out, &r->rows[i]);
    }
    if (count) PROF__REPORT_LITERAL(r->out, "\n");
}

/* Returns the index of the first row of the next category. */
static size_t prof__report_next_domain(const prof__report *r, size_t from)
{
    size_t to = from;
    while (to < r->count && !prof__report_domain_order(&r->rows[from], &r->rows[to])) to++;
    return to;
}

static void prof__report_mxnet(prof__report *r)
{
    size_t from, to;
    prof__report_sort(r, prof__report_table_order);
    PROF__REPORT_LITERAL(r->out, "\nProfile Statistics:\n\tNote the difference in units for different entries.\n");
    for (from = 0; from < r->count; from = to) {
        to = prof__report_next_domain(r, from);
        prof__report_mxnet_table(r, from, to, 1);
        prof__report_mxnet_table(r, from, to, 0);
    }
    prof__report_losses(r);
}

#endif /* PROF__LAYOUTS_MXNET_H */
