// watch/late: prof_read.h after prof.h in the file with PROF_IMPLEMENTATION: the recorder gets the table before main.
#ifndef PROF__WATCH_LATE_H
#define PROF__WATCH_LATE_H
#include "api/writers.h"
#include "session/hooks.h"
#include "read/open.h"
#include "report/csv.h"
#include "report/statistics.h"
#include "report/summary_write.h"
#include "watch/aggregated.h"
#include "watch/follow_make.h"
#include "watch/follow_passes.h"
#include "watch/last.h"
#include "watch/save.h"

#ifndef PROF__READER_KNOWN
static const prof_writer prof__csv_writer = {".csv", NULL, NULL, prof__csv_default, NULL};
static const prof_writer prof__summary_writer = {".txt", NULL, NULL, prof__summary_default, NULL};
static const prof__reader_hooks prof__reader_table = {
    prof__live_write,      &prof__csv_writer,       &prof__summary_writer,  prof__follow_make,
    prof__follow_step,     prof__follow_free,       prof__save_arm,         prof__save_step,
    prof__save_disarm,     prof__save_asked,        prof__save_last,
    prof__save_later,      prof__trace_live_own,
    prof__trace_write_own, prof__aggregated_take,   prof__aggregated_give,  prof__aggregated_free,
    prof__aggregated_free_rows,
};
PROF__AT_START(101, prof__reader_comes);
static void prof__reader_comes(void) { prof__reader_now = &prof__reader_table; }
#endif

#endif /* PROF__WATCH_LATE_H */
