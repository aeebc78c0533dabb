// layouts/domains: The layout by domain.
#ifndef PROF__LAYOUTS_DOMAINS_H
#define PROF__LAYOUTS_DOMAINS_H
#include "api/reports.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/hash.h"
#include "report/accumulator.h"
#include "report/stat_rows.h"
#include "report/statistics.h"
#include "report/table.h"
#include "layouts/parts.h"
#include "layouts/rows.h"
#include "layouts/state.h"

/*-- the layout by domain --*/

/* Links the call paths as a tree, and sets sums.place of each to the row of its category. */
static prof_status prof__report_domain_tree(prof__report *r, prof__stat_rows *all, size_t *root)
{
    size_t i;
    *root = PROF__NONE;
    for (i = 0; i < all->count; i++) all->items[i].child = all->items[i].sibling = PROF__NONE;
    for (i = all->count; i--;) {
        prof__stat_row *sums = &all->items[i];
        const prof__report_row *row;
        size_t *first = sums->stat.parent == PROF_NO_PARENT ? root : &all->items[sums->stat.parent].child;
        if (sums->type != PROF_EVENT_SCOPE) continue;
        row = prof__report_row_of(r, PROF_EVENT_SCOPE, "", sums->stat.site->category);
        if (!row) return prof__report_no_memory();
        sums->place = (size_t)(row - r->rows);
        sums->sibling = *first;
        *first = i;
    }
    return PROF_OK;
}

/* Adds a path to the sums of its category. inside: 1: a scope of that category is around it, and has the path's time
   already. */
static void prof__report_domain_add(prof_stat *to, const prof__stat_row *sums, int inside)
{
    const prof_stat *from = &sums->stat;
    to->count += from->count;
    to->truncated += from->truncated;
    to->self_ns = prof__stat_row_sum(to->self_ns, from->self_ns);
    if (!inside) to->total_ns = prof__stat_row_sum(to->total_ns, from->total_ns);
    if (to->count > to->truncated) to->mean_ns = (double)to->total_ns / (double)(to->count - to->truncated);
    if (to->max_ns < from->max_ns) to->max_ns = from->max_ns;
}

static prof_status prof__report_domain_totals(prof__report *r)
{
    prof__stat_rows all;
    prof_status status = prof__stat_rows_make(r->trace, !prof__stat_rows_aggregated(r->trace, 0), &all);
    size_t at = PROF__NONE;
    if (status == PROF_OK) status = prof__report_domain_tree(r, &all, &at);
    /* Visits the children of a path, then its siblings. In a category's row, sums.open counts the enclosing scopes of
       it. */
    while (status == PROF_OK && at != PROF__NONE) {
        const prof__stat_row *sums = &all.items[at];
        prof__stat_row *to = &r->rows[sums->place].sums;
        prof__report_domain_add(&to->stat, sums, to->open != 0);
        to->open += sums->stat.count > sums->stat.truncated;
        if (sums->child != PROF__NONE) {
            at = sums->child;
            continue;
        }
        for (;; at = sums->stat.parent) {
            sums = &all.items[at];
            r->rows[sums->place].sums.open -= sums->stat.count > sums->stat.truncated;
            if (sums->sibling != PROF__NONE || sums->stat.parent == PROF_NO_PARENT) break;
        }
        at = sums->sibling;
    }
    prof__stat_rows_free(&all);
    return status;
}

static void prof__report_domain_row(prof__table *t, const prof__report_row *row, double all)
{
    const prof_stat *stat = &row->sums.stat;
    prof__table_row(t, *stat->name ? stat->name : "(none)", 0);
    prof__table_count(t, stat->count);
    prof__table_ns(t, (double)stat->total_ns);
    prof__table_ns(t, (double)stat->self_ns);
    prof__table_percent(t, (double)stat->self_ns, all);
    prof__table_ns(t, (double)stat->max_ns);
    prof__table_count(t, stat->truncated);
    prof__table_end(t);
}

static prof_status prof__report_domains(prof__report *r)
{
    static const prof__column columns[] = {{"calls", 0, 0},   {"total", 4, 0},     {"self", 0, 0}, {"% of self", 3, 0},
                                           {"longest", 2, 0}, {"truncated", 1, 0}, {NULL, 0, 0}};
    prof_status status = prof__report_domain_totals(r);
    prof__table t;
    size_t i, shown = 0;
    double all = 0;
    for (i = 0; i < r->count; i++) {
        r->rows[i].key = prof__sort_key(&r->rows[i].sums.stat, r->options.sort);
        r->rows[i].sort = r->options.sort;
        r->rows[i].ascending = !!r->options.ascending;
        all += (double)r->rows[i].sums.stat.self_ns;
        shown += r->rows[i].sums.stat.count != 0;
    }
    prof__report_sort(r, prof__report_order);
    if (status == PROF_OK && !shown) PROF__REPORT_LITERAL(r->out, "no scopes\n");
    prof__table_begin(&t, r->out, prof__report_limit(r), "domain", columns, NULL, 0);
    do
        for (i = 0; i < r->count; i++)
            if (r->rows[i].sums.stat.count) prof__report_domain_row(&t, &r->rows[i], all);
    while (prof__table_again(&t));
    prof__report_losses(r);
    return status;
}

#endif /* PROF__LAYOUTS_DOMAINS_H */
