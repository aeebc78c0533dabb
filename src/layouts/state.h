// layouts/state: What is known of a report while it is written.
#ifndef PROF__LAYOUTS_STATE_H
#define PROF__LAYOUTS_STATE_H
#include "api/reports.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/errors.h"
#include "ground/hash.h"
#include "ground/out.h"
#include "report/accumulator.h"
#include "layouts/api.h"

/* A row of a report: the sums of the scopes and spans of a name, of its frames, or of its counters. */
typedef struct prof__report_row {
    prof__stat_row sums; /* its `text` is the name, and owned */
    const char *category;
    double key;      /* the value that rows are sorted by */
    prof_sort sort;
    int ascending, listed; /* listed: 1: CNTK's table of events has it */
} prof__report_row;

typedef struct prof__report {
    const prof_trace *trace;
    prof_report_options options;
    prof__report_row *rows;
    size_t count, capacity;
    prof__read_index index;
    prof__out *out;
    uint64_t pid; /* the process id in the report */
} prof__report;

#define PROF__REPORT_LITERAL(out, literal) prof__out_bytes(out, literal, sizeof(literal) - 1)

static prof_status prof__report_no_memory(void)
{
    return prof__fail(PROF_NO_MEMORY, "no memory for the report");
}

#endif /* PROF__LAYOUTS_STATE_H */
