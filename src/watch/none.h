// watch/none: PROF_NO_READER: what stands in for the layers read, report and watch.
#ifndef PROF__WATCH_NONE_H
#define PROF__WATCH_NONE_H
#include "api/control.h"
#include "api/read.h"
#include "api/reports.h"
#include "session/hooks.h"

/*-- NO READER ------------------------------------------------------------------------------------------------------
   For a program that only records. The functions of the reader exist and fail, so that other files of the program link.
   None of them returns a trace, so the functions that take a trace are hardly ever called. */

/* Fails for a function that has a result, after setting the result to NULL. */
#define PROF__NO_RESULT(result, what) ((result) ? (void)(*(result) = NULL) : (void)0, prof__no_reader(what))

PROF_DEF prof_status prof_trace_open(const char *path, prof_trace **trace)
{
    return PROF__NO_RESULT(trace, path ? path : "prof_trace_open");
}
PROF_DEF prof_status prof_trace_memory(const void *image, size_t size, prof_trace **trace)
{
    (void)image, (void)size;
    return PROF__NO_RESULT(trace, "prof_trace_memory");
}
PROF_DEF prof_status prof_trace_live(prof_trace **trace)
{
    return PROF__NO_RESULT(trace, "prof_trace_live");
}
PROF_DEF prof_status prof_trace_write(const prof_trace *trace, const char *path, const char *extension)
{
    (void)trace, (void)path, (void)extension;
    return prof__no_reader("prof_trace_write");
}
PROF_DEF void prof_trace_close(prof_trace *trace) { (void)trace; }
PROF_DEF void prof_trace_watch(prof_trace *trace, void (*step)(void *user, double share), void *user)
{
    (void)trace, (void)step, (void)user;
}
PROF_DEF size_t prof_trace_align(const prof_trace *const *traces, size_t count, int64_t *offsets)
{
    (void)traces;
    for (size_t i = 0; i < count; ++i) offsets[i] = 0;
    return 0;
}
PROF_DEF prof_status prof_trace_window(prof_trace *trace, int64_t from_ns, int64_t to_ns)
{
    (void)trace, (void)from_ns, (void)to_ns;
    return prof__no_reader("prof_trace_window");
}
PROF_DEF const prof_trace_info *prof_trace_about(const prof_trace *trace)
{
    (void)trace;
    return NULL;
}
PROF_DEF size_t prof_trace_track_count(const prof_trace *trace) { return (void)trace, (size_t)0; }
PROF_DEF const prof_track *prof_trace_track(const prof_trace *trace, size_t index)
{
    (void)trace, (void)index;
    return NULL;
}
PROF_DEF int prof_trace_metadata(const prof_trace *trace, size_t index, const char **key, const char **value)
{
    (void)trace, (void)index, (void)key, (void)value;
    return 0;
}

PROF_DEF prof_status prof_image_find(const void *bytes, size_t size, uint64_t *image_size)
{
    (void)bytes, (void)size, (void)image_size;
    return prof__no_reader("prof_image_find");
}
PROF_DEF prof_status prof_image_shorten(void *bytes, uint64_t left, uint64_t *image_size)
{
    (void)bytes, (void)left, (void)image_size;
    return prof__no_reader("prof_image_shorten");
}
PROF_DEF prof_status prof_image_window(void *bytes, size_t size, int64_t from_ns, int64_t to_ns)
{
    (void)bytes, (void)size, (void)from_ns, (void)to_ns;
    return prof__no_reader("prof_image_window");
}
PROF_DEF prof_status prof_image_copy(const char *from, const char *to, int64_t from_ns, int64_t to_ns)
{
    (void)from, (void)to, (void)from_ns, (void)to_ns;
    return prof__no_reader("prof_image_copy");
}

PROF_DEF prof_status prof_cursor_open(const prof_trace *trace, size_t track, prof_cursor **cursor)
{
    (void)trace, (void)track;
    return PROF__NO_RESULT(cursor, "prof_cursor_open");
}
PROF_DEF int prof_cursor_next(prof_cursor *cursor, prof_event *event) { return (void)cursor, (void)event, 0; }
PROF_DEF prof_status prof_cursor_close(prof_cursor *cursor) { return (void)cursor, PROF_OK; }
PROF_DEF prof_status prof_timeline_open(const prof_trace *trace, prof_timeline **timeline)
{
    (void)trace;
    return PROF__NO_RESULT(timeline, "prof_timeline_open");
}
PROF_DEF int prof_timeline_next(prof_timeline *timeline, prof_event *event, size_t *track)
{
    (void)timeline, (void)event, (void)track;
    return 0;
}
PROF_DEF prof_status prof_timeline_close(prof_timeline *timeline) { return (void)timeline, PROF_OK; }
PROF_DEF prof_status prof_spans_open(const prof_trace *trace, prof_spans **spans)
{
    (void)trace;
    return PROF__NO_RESULT(spans, "prof_spans_open");
}
PROF_DEF int prof_spans_next(prof_spans *spans, prof_span *span) { return (void)spans, (void)span, 0; }
PROF_DEF prof_status prof_spans_close(prof_spans *spans) { return (void)spans, PROF_OK; }

PROF_DEF prof_status prof_stats(const prof_trace *trace, prof_sort sort, int ascending, prof_stat **stats,
                                size_t *count)
{
    (void)trace, (void)sort, (void)ascending, (void)count;
    return PROF__NO_RESULT(stats, "prof_stats");
}
PROF_DEF prof_status prof_span_stats(const prof_trace *trace, prof_sort sort, int ascending, prof_stat **stats,
                                     size_t *count)
{
    (void)trace, (void)sort, (void)ascending, (void)count;
    return PROF__NO_RESULT(stats, "prof_span_stats");
}
PROF_DEF prof_status prof_stats_by_path(const prof_trace *trace, prof_sort sort, int ascending, prof_stat **stats,
                                        size_t *count)
{
    (void)trace, (void)sort, (void)ascending, (void)count;
    return PROF__NO_RESULT(stats, "prof_stats_by_path");
}
PROF_DEF void prof_stats_free(prof_stat *stats) { (void)stats; }
PROF_DEF prof_status prof_memory(const prof_trace *trace, prof_memory_stats **stats)
{
    (void)trace;
    return PROF__NO_RESULT(stats, "prof_memory");
}
PROF_DEF prof_status prof_open_scopes(const prof_trace *trace, prof_open_scope **scopes, size_t *count)
{
    (void)trace;
    if (count) *count = 0;
    return PROF__NO_RESULT(scopes, "prof_open_scopes");
}
PROF_DEF void prof_open_scopes_free(prof_open_scope *scopes) { (void)scopes; }
PROF_DEF void prof_memory_free(prof_memory_stats *stats) { (void)stats; }
PROF_DEF prof_status prof_locks(const prof_trace *trace, int by_address, prof_lock_row **rows, size_t *count)
{
    (void)trace, (void)by_address, (void)count;
    return PROF__NO_RESULT(rows, "prof_locks");
}
PROF_DEF void prof_locks_free(prof_lock_row *rows) { (void)rows; }

PROF_DEF prof_status prof_summary_write(const prof_trace *trace, const char *path, const prof_summary_options *options)
{
    (void)trace, (void)path, (void)options;
    return prof__no_reader("prof_summary_write");
}
PROF_DEF prof_status prof_summary_stream(const prof_trace *trace, prof_sink sink, const prof_summary_options *options)
{
    (void)trace, (void)sink, (void)options;
    return prof__no_reader("prof_summary_stream");
}
PROF_DEF prof_status prof_csv_write(const prof_trace *trace, const char *path)
{
    (void)trace, (void)path;
    return prof__no_reader("prof_csv_write");
}
PROF_DEF prof_status prof_csv_stream(const prof_trace *trace, prof_sink sink)
{
    (void)trace, (void)sink;
    return prof__no_reader("prof_csv_stream");
}
PROF_DEF prof_status prof_save_last_ns(const char *path, uint64_t last_ns)
{
    (void)path, (void)last_ns;
    return prof__no_reader("prof_save_last_ns");
}
PROF_DEF prof_status prof_save_request(void) { return prof__no_reader("prof_save_request"); }

#endif /* PROF__WATCH_NONE_H */
