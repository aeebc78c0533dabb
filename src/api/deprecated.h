// api/deprecated: Old spellings, which stay for one release.
#ifndef PROF__API_DEPRECATED_H
#define PROF__API_DEPRECATED_H
#include "api/control.h"

/*-- DEPRECATED ---------------------------------------------------------------------------------------- >>deprecated --
   Old spellings. They do what they did, and will be gone in version 0.3. Fields of prof_config: save_last,
   save_every. */

/* prof_save_last_ns(), in seconds. */
#define prof_save_last(path, seconds) prof_save_last_ns(path, PROF__TO(uint64_t, PROF__TO(int64_t, (seconds) * 1e9)))

/* Names that have changed. */
#define PROFILE_SCOPE_S        PROFILE_SCOPE_DYNAMIC
#define PROFILE_MARK_S         PROFILE_MARK_DYNAMIC
#define PROFILE_STEP_S         PROFILE_STEP_DYNAMIC
#define PROFILE_THROUGHPUT_S   PROFILE_THROUGHPUT_DYNAMIC
#define PROFILE_MEMORY_SCOPE_S PROFILE_MEMORY_SCOPE_DYNAMIC
#define PROFILE_SCOPE_M        PROFILE_SCOPE_MASK
#define PROFILE_ALLOC_C        PROFILE_ALLOC_POOL
#define PROFILE_FREE_C         PROFILE_FREE_POOL
#define PROFILE_REALLOC_C      PROFILE_REALLOC_POOL
#define PROFILE_FLOW_OUT_N     PROFILE_FLOW_OUT_NAMED
#define PROFILE_FLOW_STEP_N    PROFILE_FLOW_STEP_NAMED
#define PROFILE_FLOW_IN_N      PROFILE_FLOW_IN_NAMED
#define PROFILE_MARK_SCOPE     PROFILE_MARK_REACH
#define prof_mark_scope        prof_mark_reach
#define PROF_MARK_SCOPE_COUNT  PROF_MARK_REACH_COUNT
#define prof_thread_name       prof_set_thread_name
#define prof_device_track      prof_device_row_create
#define prof_trace_live        prof_trace_open_live
#define prof_trace_memory      prof_trace_open_memory
#define prof_trace_window      prof_trace_set_window
#define prof_trace_watch       prof_trace_set_progress
#define prof_image_window      prof_image_set_window
#define prof_dump              prof_mxnet_dump
#define prof_dumps             prof_mxnet_dumps
#define prof_set_paused        prof_mxnet_set_paused
#define prof_ntff_parser_end   prof_ntff_parser_destroy

#endif /* PROF__API_DEPRECATED_H */
