// ntff/stripped: What takes the place of all functions if PROF_ENABLE is 0.
#ifndef PROF__NTFF_STRIPPED_H
#define PROF__NTFF_STRIPPED_H
#include "api/stripped.h"
#include "ntff/api_runtime.h"

/*-- STRIPPED: PROF_ENABLE=0 --*/
#if !PROF_ENABLE
#define PROF__NTFF_NO_LIST(list, count) \
    (prof__stripped_none(list, sizeof(void *)), prof__stripped_none(count, sizeof(size_t)), PROF_OK)
PROF__STRIPPED_INLINE void prof__ntff_no_stream(int *stream)
{
    if (stream) *stream = -1;
}
#define prof_ntff_load(path) PROF__STRIPPED(PROF_OK, PROF__USE(path))
#define prof_ntff_nrt_status_name(status) PROF__STRIPPED("", PROF__USE(status))
#define prof_ntff_capabilities() PROF__STRIPPED(0u, (void)0)
#define prof_ntff_nrt_status() PROF__STRIPPED(0u, (void)0)
#define prof_ntff_runtime_version() PROF__STRIPPED((const char *)0, (void)0)
#define prof_ntff_library() PROF__STRIPPED((const char *)0, (void)0)
#define prof_ntff_config_set(config, key, value) PROF__STRIPPED(PROF_OK, PROF__USE3(config, key, value))
#define prof_ntff_session_begin(config) PROF__STRIPPED(PROF_OK, PROF__USE(config))
#define prof_ntff_session_end(folder) PROF__STRIPPED((prof__stripped_none(folder, 1), PROF_OK), PROF__USE(folder))
#define prof_ntff_session_active() PROF__STRIPPED(0, (void)0)
#define prof_ntff_continuous_begin(config) PROF__STRIPPED(PROF_OK, PROF__USE(config))
#define prof_ntff_continuous_save(vnc) PROF__STRIPPED(PROF_OK, PROF__USE(vnc))
#define prof_ntff_continuous_save_if(vnc, took_ns, limit_ns) PROF__STRIPPED(0, PROF__USE3(vnc, took_ns, limit_ns))
#define prof_ntff_continuous_end() PROF__STRIPPED(PROF_OK, (void)0)
#define prof_ntff_continuous_saves() PROF__STRIPPED((uint64_t)0, (void)0)
#define prof_ntff_systrace_start(config) PROF__STRIPPED(PROF_OK, PROF__USE(config))
#define prof_ntff_systrace_fetch(stats) PROF__STRIPPED(PROF_OK, PROF__USE(stats))
#define prof_ntff_systrace_stop(stats) PROF__STRIPPED(PROF_OK, PROF__USE(stats))
#define prof_ntff_profile_start(model, filename) PROF__STRIPPED(PROF_OK, PROF__USE2(model, filename))
#define prof_ntff_profile_stop(filename) PROF__STRIPPED(PROF_OK, PROF__USE(filename))
#define prof_ntff_profile_continuous_options_allocate(options) \
    PROF__STRIPPED((prof__stripped_none(options, sizeof(void *)), PROF_OK), PROF__USE(options))
#define prof_ntff_profile_continuous_options_free(options) PROF__STRIPPED(PROF_OK, PROF__USE(options))
#define prof_ntff_profile_continuous_options_set_output_dir(options, output_dir) \
    PROF__STRIPPED(PROF_OK, PROF__USE2(options, output_dir))
#define prof_ntff_profile_continuous_start(options) PROF__STRIPPED(PROF_OK, PROF__USE(options))
#define prof_ntff_profile_continuous_save(vnc, options) PROF__STRIPPED(PROF_OK, PROF__USE2(vnc, options))
#define prof_ntff_profile_continuous_stop() PROF__STRIPPED(PROF_OK, (void)0)
#define prof_ntff_inspect_begin() PROF__STRIPPED(PROF_OK, (void)0)
#define prof_ntff_inspect_stop() PROF__STRIPPED(PROF_OK, (void)0)
#define prof_ntff_inspect_config_allocate(options) \
    PROF__STRIPPED((prof__stripped_none(options, sizeof(void *)), PROF_OK), PROF__USE(options))
#define prof_ntff_inspect_config_set_defaults(options) PROF__STRIPPED(PROF_OK, PROF__USE(options))
#define prof_ntff_inspect_config_free(options) PROF__STRIPPED(PROF_OK, PROF__USE(options))
#define prof_ntff_inspect_config_set_session_id(options, session_id) \
    PROF__STRIPPED(PROF_OK, PROF__USE2(options, session_id))
#define prof_ntff_inspect_config_set_output_dir(options, output_dir) \
    PROF__STRIPPED(PROF_OK, PROF__USE2(options, output_dir))
#define prof_ntff_inspect_config_set_sys_trace_max_events_per_nc(options, sys_trace_max_events_per_nc) \
    PROF__STRIPPED(PROF_OK, PROF__USE2(options, sys_trace_max_events_per_nc))
#define prof_ntff_inspect_config_set_capture_enabled_for_nc(options, nc_idx, enabled) \
    PROF__STRIPPED(PROF_OK, PROF__USE3(options, nc_idx, enabled))
#define prof_ntff_inspect_config_set_capture_enabled_for_event_type_string(options, event_type, enabled) \
    PROF__STRIPPED(PROF_OK, PROF__USE3(options, event_type, enabled))
#define prof_ntff_inspect_config_set_enable_inspect(options, enable_inspect) \
    PROF__STRIPPED(PROF_OK, PROF__USE2(options, enable_inspect))
#define prof_ntff_inspect_config_set_enable_inspect_on_fail(options, enable_inspect_on_fail) \
    PROF__STRIPPED(PROF_OK, PROF__USE2(options, enable_inspect_on_fail))
#define prof_ntff_inspect_begin_with_options(options) PROF__STRIPPED(PROF_OK, PROF__USE(options))
#define prof_ntff_inspect_config_get_all_activity_types(activity_types, count) \
    PROF__STRIPPED(PROF__NTFF_NO_LIST(activity_types, count), \
                   PROF__USE2(activity_types, count))
#define prof_ntff_inspect_config_get_enabled_activity_types(options, activity_types, count) \
    PROF__STRIPPED(PROF__NTFF_NO_LIST(activity_types, count), \
                   PROF__USE3(options, activity_types, count))
#define prof_ntff_inspect_config_free_activity_types(activity_types, count) \
    PROF__STRIPPED(PROF_OK, PROF__USE2(activity_types, count))
#define prof_ntff_inspect_config_set_activity(options, activity_type, enabled) \
    PROF__STRIPPED(PROF_OK, PROF__USE3(options, activity_type, enabled))
#define prof_ntff_inspect_config_set_inspect_device_profile_mode(options, mode) \
    PROF__STRIPPED(PROF_OK, PROF__USE2(options, mode))
#define prof_ntff_inspect_get_instance_output_dir(output_dir, instance_dir, size) \
    PROF__STRIPPED((prof__stripped_none(instance_dir, (size) != 0), PROF_OK), \
                   PROF__USE3(output_dir, instance_dir, size))
#define prof_ntff_sys_trace_config_allocate(options) \
    PROF__STRIPPED((prof__stripped_none(options, sizeof(void *)), PROF_OK), PROF__USE(options))
#define prof_ntff_sys_trace_config_set_defaults(options) PROF__STRIPPED(PROF_OK, PROF__USE(options))
#define prof_ntff_sys_trace_config_free(options) PROF__STRIPPED(PROF_OK, PROF__USE(options))
#define prof_ntff_sys_trace_config_set_max_events_per_nc(options, max_events_per_nc) \
    PROF__STRIPPED(PROF_OK, PROF__USE2(options, max_events_per_nc))
#define prof_ntff_sys_trace_config_set_capture_enabled_for_nc(options, nc_idx, enabled) \
    PROF__STRIPPED(PROF_OK, PROF__USE3(options, nc_idx, enabled))
#define prof_ntff_sys_trace_config_set_capture_enabled_for_event_type(options, event_type, enabled) \
    PROF__STRIPPED(PROF_OK, PROF__USE3(options, event_type, enabled))
#define prof_ntff_sys_trace_get_event_types(event_types, count) \
    PROF__STRIPPED(PROF__NTFF_NO_LIST(event_types, count), \
                   PROF__USE2(event_types, count))
#define prof_ntff_sys_trace_free_event_types(event_types, count) PROF__STRIPPED(PROF_OK, PROF__USE2(event_types, count))
#define prof_ntff_sys_trace_config_get_enabled_event_types(options, event_types, count) \
    PROF__STRIPPED(PROF__NTFF_NO_LIST(event_types, count), \
                   PROF__USE3(options, event_types, count))
#define prof_ntff_sys_trace_start(options) PROF__STRIPPED(PROF_OK, PROF__USE(options))
#define prof_ntff_sys_trace_stop() PROF__STRIPPED(PROF_OK, (void)0)
#define prof_ntff_sys_trace_fetch_options_allocate(options) \
    PROF__STRIPPED((prof__stripped_none(options, sizeof(void *)), PROF_OK), PROF__USE(options))
#define prof_ntff_sys_trace_fetch_options_set_defaults(options) PROF__STRIPPED(PROF_OK, PROF__USE(options))
#define prof_ntff_sys_trace_fetch_options_free(options) PROF__STRIPPED(PROF_OK, PROF__USE(options))
#define prof_ntff_sys_trace_fetch_options_set_max_events_per_nc(options, max_events_per_nc) \
    PROF__STRIPPED(PROF_OK, PROF__USE2(options, max_events_per_nc))
#define prof_ntff_sys_trace_fetch_options_set_nc_idx(options, nc_idx) \
    PROF__STRIPPED(PROF_OK, PROF__USE2(options, nc_idx))
#define prof_ntff_sys_trace_fetch_events(buffer, written_size, options) \
    PROF__STRIPPED(PROF__NTFF_NO_LIST(buffer, written_size), \
                   PROF__USE3(buffer, written_size, options))
#define prof_ntff_sys_trace_buffer_free(buffer) PROF__STRIPPED(PROF_OK, PROF__USE(buffer))
#define prof_ntff_trace_start(trace_mem) PROF__STRIPPED(PROF_OK, PROF__USE(trace_mem))
#define prof_ntff_trace_stop(filename) PROF__STRIPPED(PROF_OK, PROF__USE(filename))
#define prof_ntff_debug_client_connect(logical_nc_idx, stream_fd) \
    PROF__STRIPPED((prof__ntff_no_stream(stream_fd), PROF_OK), PROF__USE2(logical_nc_idx, stream_fd))
#define prof_ntff_debug_client_connect_close(stream_fd) PROF__STRIPPED(PROF_OK, PROF__USE(stream_fd))
#define prof_ntff_debug_client_read_one_event(stream_fd, header, payload) \
    PROF__STRIPPED((prof__stripped_none(payload, sizeof(void *)), PROF_OK), PROF__USE3(stream_fd, header, payload))
#define prof_ntff_register_async_exec_callback(callback, params) PROF__STRIPPED(PROF_OK, PROF__USE2(callback, params))
#define prof_ntff_async_drain_queued_execs(vnc) PROF__STRIPPED(PROF_OK, PROF__USE(vnc))
#define prof_ntff_get_model_info(model, info, info_size_in, info_size_out) \
    PROF__STRIPPED((prof__stripped_none(info, info_size_in), PROF__NTFF_NO_LIST(NULL, info_size_out)), \
                   (0 ? (void)(model) : PROF__USE3(info, info_size_in, info_size_out)))
#define prof_ntff_get_version(version, size) \
    PROF__STRIPPED((prof__stripped_none(version, size), PROF_OK), PROF__USE2(version, size))
#define prof_ntff_get_instance_info(info, instance_info_len) \
    PROF__STRIPPED((prof__stripped_none(info, instance_info_len), PROF_OK), PROF__USE2(info, instance_info_len))
#define prof_ntff_get_visible_vnc_count(vnc_count) \
    PROF__STRIPPED((prof__stripped_none(vnc_count, sizeof(uint32_t)), PROF_OK), PROF__USE(vnc_count))
#define prof_ntff_get_visible_nc_count(vnc_count) \
    PROF__STRIPPED((prof__stripped_none(vnc_count, sizeof(uint32_t)), PROF_OK), PROF__USE(vnc_count))
#define prof_ntff_get_total_vnc_count(vnc_count) \
    PROF__STRIPPED((prof__stripped_none(vnc_count, sizeof(uint32_t)), PROF_OK), PROF__USE(vnc_count))
#define prof_ntff_get_total_nc_count(vnc_count) \
    PROF__STRIPPED((prof__stripped_none(vnc_count, sizeof(uint32_t)), PROF_OK), PROF__USE(vnc_count))
#define prof_ntff_init(framework, fw_version, fal_version) \
    PROF__STRIPPED(PROF_OK, PROF__USE3(framework, fw_version, fal_version))
#define prof_ntff_close() PROF__STRIPPED(PROF_OK, (void)0)
#define prof_ntff_get_status_as_str(status) PROF__STRIPPED("", PROF__USE(status))
#endif

#endif /* PROF__NTFF_STRIPPED_H */
