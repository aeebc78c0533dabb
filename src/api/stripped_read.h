// api/stripped_read: The functions of prof_read.h where PROF_ENABLE is 0. src/strip.sh makes these macros of the
// declarations in what is included here.
#ifndef PROF__API_STRIPPED_READ_H
#define PROF__API_STRIPPED_READ_H
#include "api/read.h"
#include "api/reports.h"
#include "api/stripped.h"

#if !PROF_ENABLE
PROF__STRIPPED_INLINE const prof_trace_info *prof__stripped_about(void)
{
    static prof_trace_info none;
    none.program = none.clock = none.write_error = none.boot_id = "";
    none.file = none.crash = "";
    return &none;
}
PROF__STRIPPED_INLINE void prof__stripped_memory(prof_memory_stats **stats)
{
    static prof_memory_stats none;
    if (stats) *stats = &none;
}
#define prof_trace_open(path, trace) \
    PROF__STRIPPED((prof__stripped_none(trace, sizeof(void *)), PROF_OK), PROF__USE2(path, trace))
#define prof_trace_open_live(trace) \
    PROF__STRIPPED((prof__stripped_none(trace, sizeof(void *)), PROF_OK), PROF__USE(trace))
#define prof_trace_open_memory(image, size, trace) \
    PROF__STRIPPED((prof__stripped_none(trace, sizeof(void *)), PROF_OK), PROF__USE3(image, size, trace))
#define prof_trace_close(trace) PROF__STRIPPED((void)0, PROF__USE(trace))
#define prof_trace_set_window(trace, from_ns, to_ns) PROF__STRIPPED(PROF_OK, PROF__USE3(trace, from_ns, to_ns))
#define prof_trace_align(traces, count, offsets) \
    PROF__STRIPPED((prof__stripped_none(offsets, (count) * sizeof(int64_t)), (size_t)0), \
                   PROF__USE3(traces, count, offsets))
#define prof_trace_set_offset(trace, ns) PROF__STRIPPED(PROF_OK, PROF__USE2(trace, ns))
#define prof_trace_set_progress(trace, step, user) PROF__STRIPPED((void)0, PROF__USE3(trace, step, user))
#define prof_image_find(bytes, size, image_size) \
    PROF__STRIPPED((prof__stripped_none(image_size, sizeof(uint64_t)), PROF_CORRUPT), \
                   PROF__USE3(bytes, size, image_size))
#define prof_image_shorten(bytes, left, image_size) \
    PROF__STRIPPED((prof__stripped_none(image_size, sizeof(uint64_t)), PROF_CORRUPT), \
                   PROF__USE3(bytes, left, image_size))
#define prof_image_copy(from, to, from_ns, to_ns) PROF__STRIPPED(PROF_OK, PROF__USE4(from, to, from_ns, to_ns))
#define prof_image_set_window(bytes, size, from_ns, to_ns) \
    PROF__STRIPPED(PROF_OK, PROF__USE4(bytes, size, from_ns, to_ns))
#define prof_trace_about(trace) PROF__STRIPPED(prof__stripped_about(), PROF__USE(trace))
#define prof_trace_metadata(trace, index, key, value) PROF__STRIPPED(0, PROF__USE4(trace, index, key, value))
#define prof_trace_track_count(trace) PROF__STRIPPED((size_t)0, PROF__USE(trace))
#define prof_trace_track(trace, index) PROF__STRIPPED((const prof_track *)0, PROF__USE2(trace, index))
#define prof_track_states(trace, track, count) PROF__STRIPPED((const prof_state *)0, PROF__USE3(trace, track, count))
#define prof_track_split(trace, track, start_ns, duration_ns, split) \
    PROF__STRIPPED(PROF_OK, PROF__USE5(trace, track, start_ns, duration_ns, split))
#define prof_event_split(trace, track, event, split) PROF__STRIPPED(PROF_OK, PROF__USE4(trace, track, event, split))
#define prof_track_samples(trace, track, count) PROF__STRIPPED((const prof_sample *)0, PROF__USE3(trace, track, count))
#define prof_trace_modules(trace, count) PROF__STRIPPED((const prof_module *)0, PROF__USE2(trace, count))
#define prof_module_at(trace, address, time_ns) \
    PROF__STRIPPED((const prof_module *)0, PROF__USE3(trace, address, time_ns))
#define prof_cursor_open(trace, track, cursor) \
    PROF__STRIPPED((prof__stripped_none(cursor, sizeof(void *)), PROF_OK), PROF__USE3(trace, track, cursor))
#define prof_cursor_next(cursor, event) PROF__STRIPPED(0, PROF__USE2(cursor, event))
#define prof_cursor_close(cursor) PROF__STRIPPED(PROF_OK, PROF__USE(cursor))
#define prof_timeline_open(trace, timeline) \
    PROF__STRIPPED((prof__stripped_none(timeline, sizeof(void *)), PROF_OK), PROF__USE2(trace, timeline))
#define prof_timeline_next(timeline, event, track) PROF__STRIPPED(0, PROF__USE3(timeline, event, track))
#define prof_timeline_close(timeline) PROF__STRIPPED(PROF_OK, PROF__USE(timeline))
#define prof_spans_open(trace, spans) \
    PROF__STRIPPED((prof__stripped_none(spans, sizeof(void *)), PROF_OK), PROF__USE2(trace, spans))
#define prof_spans_next(spans, span) PROF__STRIPPED(0, PROF__USE2(spans, span))
#define prof_spans_close(spans) PROF__STRIPPED(PROF_OK, PROF__USE(spans))
#define prof_summary_write(trace, path, options) PROF__STRIPPED(PROF_OK, PROF__USE3(trace, path, options))
#define prof_summary_stream(trace, sink, options) PROF__STRIPPED(PROF_OK, PROF__USE3(trace, sink, options))
#define prof_csv_write(trace, path) PROF__STRIPPED(PROF_OK, PROF__USE2(trace, path))
#define prof_csv_stream(trace, sink) PROF__STRIPPED(PROF_OK, PROF__USE2(trace, sink))
#define prof_stats(trace, sort, ascending, stats, count) \
    PROF__STRIPPED((prof__stripped_none(stats, sizeof(void *)), prof__stripped_none(count, sizeof(size_t)), PROF_OK), \
                   PROF__USE5(trace, sort, ascending, stats, count))
#define prof_stats_by_path(trace, sort, ascending, stats, count) \
    PROF__STRIPPED((prof__stripped_none(stats, sizeof(void *)), prof__stripped_none(count, sizeof(size_t)), PROF_OK), \
                   PROF__USE5(trace, sort, ascending, stats, count))
#define prof_open_scopes(trace, scopes, count) \
    PROF__STRIPPED((prof__stripped_none(scopes, sizeof(void *)), prof__stripped_none(count, sizeof(size_t)), PROF_OK), \
                   PROF__USE3(trace, scopes, count))
#define prof_open_scopes_free(scopes) PROF__STRIPPED((void)0, PROF__USE(scopes))
#define prof_span_stats(trace, sort, ascending, stats, count) \
    PROF__STRIPPED((prof__stripped_none(stats, sizeof(void *)), prof__stripped_none(count, sizeof(size_t)), PROF_OK), \
                   PROF__USE5(trace, sort, ascending, stats, count))
#define prof_stats_free(stats) PROF__STRIPPED((void)0, PROF__USE(stats))
#define prof_memory(trace, stats) PROF__STRIPPED((prof__stripped_memory(stats), PROF_OK), PROF__USE2(trace, stats))
#define prof_memory_free(stats) PROF__STRIPPED((void)0, PROF__USE(stats))
#define prof_locks(trace, by_address, rows, count) \
    PROF__STRIPPED((prof__stripped_none(rows, sizeof(void *)), prof__stripped_none(count, sizeof(size_t)), PROF_OK), \
                   PROF__USE4(trace, by_address, rows, count))
#define prof_locks_free(rows) PROF__STRIPPED((void)0, PROF__USE(rows))
#define prof_waits(trace, waits, count) \
    PROF__STRIPPED((prof__stripped_none(waits, sizeof(void *)), prof__stripped_none(count, sizeof(size_t)), PROF_OK), \
                   PROF__USE3(trace, waits, count))
#define prof_waits_free(waits) PROF__STRIPPED((void)0, PROF__USE(waits))
#define prof_trace_write(trace, path, extension) PROF__STRIPPED(PROF_OK, PROF__USE3(trace, path, extension))
#endif

#endif /* PROF__API_STRIPPED_READ_H */
