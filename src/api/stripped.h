// api/stripped: The functions of the API where PROF_ENABLE is 0: they succeed, and nothing was recorded. src/strip.sh
// makes these macros of the declarations in what is included here.
#ifndef PROF__API_STRIPPED_H
#define PROF__API_STRIPPED_H
#include "api/control.h"
#include "api/devices.h"
#include "api/macros.h"
#include "api/markup.h"
#include "api/objects.h"
#include "api/writers.h"

#if !PROF_ENABLE
int prof__format_check(const char *format, ...) PROF__PRINTF(1, 2); /* never defined, never called */
int prof__args_check(int first, ...);
#ifdef __GNUC__
#define PROF__STRIPPED_INLINE static inline PROF__UNTRACED __attribute__((__always_inline__))
#else
#define PROF__STRIPPED_INLINE static inline
#endif
#if defined(__GNUC__) || defined(__TINYC__)
#define PROF__STRIPPED(value, use) __extension__({ use; value; })
#else
#define PROF__STRIPPED(value, use) (use, value)
#endif
/* What is made is not NULL, by which a program would know a failure; nobody looks at it. */
#define PROF__STRIPPED_OBJECT(type) ((type)(uintptr_t)8)
/* What functions write through their parameters: nothing. In the object file only where they are called. */
PROF__STRIPPED_INLINE void prof__stripped_none(void *result, size_t size)
{
    for (char *at = (char *)result; at && size; --size) *at++ = 0;
}
PROF__STRIPPED_INLINE char *prof__stripped_text(char **text)
{
    static char none[1];
    if (text) *text = none;
    return none;
}
#define prof_start(config) PROF__STRIPPED(PROF_OK, PROF__USE(config))
#define prof_stop() PROF__STRIPPED(PROF_OK, (void)0)
#define prof_pause() PROF__STRIPPED(PROF_OK, (void)0)
#define prof_resume() PROF__STRIPPED(PROF_OK, (void)0)
#define prof_enabled() PROF__STRIPPED(0, (void)0)
#define prof_enabled_at(level) PROF__STRIPPED(0, PROF__USE(level))
#define prof_set_level(level) PROF__STRIPPED(PROF_OK, PROF__USE(level))
#define prof_set_filter_mask(mask) PROF__STRIPPED(PROF_OK, PROF__USE(mask))
#define prof_category_enable(pattern, on) PROF__STRIPPED(PROF_OK, PROF__USE2(pattern, on))
#define prof_config_set(config, key, value) PROF__STRIPPED(PROF_OK, PROF__USE3(config, key, value))
#define prof_config_from_env(config) PROF__STRIPPED(PROF_OK, PROF__USE(config))
#define prof_config_describe(index, option) PROF__STRIPPED(0, PROF__USE2(index, option))
#define prof_config_claim(prefix, claim, user) PROF__STRIPPED(PROF_OK, PROF__USE3(prefix, claim, user))
#define prof_set_metadata(key, value) PROF__STRIPPED(PROF_OK, PROF__USE2(key, value))
#define prof_clear_metadata() PROF__STRIPPED(PROF_OK, (void)0)
#define prof_set_sync(sync, user) PROF__STRIPPED(PROF_OK, PROF__USE2(sync, user))
#define prof_save(path) PROF__STRIPPED(PROF_OK, PROF__USE(path))
#define prof_save_last_ns(path, last_ns) PROF__STRIPPED(PROF_OK, PROF__USE2(path, last_ns))
#define prof_save_request_ns(path, last_ns) PROF__STRIPPED(PROF_OK, PROF__USE2(path, last_ns))
#define prof_save_request() PROF__STRIPPED(PROF_OK, (void)0)
#define prof_reset() PROF__STRIPPED(PROF_OK, (void)0)
#define prof_fiber_create(name) PROF__STRIPPED(PROF__STRIPPED_OBJECT(prof_fiber *), PROF__USE(name))
#define prof_fiber_init(memory, name) PROF__STRIPPED(PROF__STRIPPED_OBJECT(prof_fiber *), PROF__USE2(memory, name))
#define prof_fiber_switch(fiber) PROF__STRIPPED((void)0, PROF__USE(fiber))
#define prof_fiber_destroy(fiber) PROF__STRIPPED((void)0, PROF__USE(fiber))
#define prof_cpu_state_end(state) PROF__STRIPPED((void)0, PROF__USE(state))
#define prof_snapshot(image, size) \
    PROF__STRIPPED((prof__stripped_none(image, sizeof(void *)), prof__stripped_none(size, sizeof(size_t)), PROF_OK), \
                   PROF__USE2(image, size))
#define prof_drain(write, user) PROF__STRIPPED(PROF_OK, PROF__USE2(write, user))
#define prof_status_text(status) PROF__STRIPPED("", PROF__USE(status))
#define prof_error() PROF__STRIPPED("", (void)0)
#define prof_device_create(name, clock) PROF__STRIPPED(PROF__STRIPPED_OBJECT(prof_device *), PROF__USE2(name, clock))
#define prof_device_row_create(device, name) \
    PROF__STRIPPED(PROF__STRIPPED_OBJECT(prof_device_row *), PROF__USE2(device, name))
#define prof_device_sync(device, ticks, host_ns) PROF__STRIPPED(PROF_OK, PROF__USE3(device, ticks, host_ns))
#define prof_host_ns() PROF__STRIPPED((uint64_t)0, (void)0)
#define prof_device_scope(row, name, start, end) PROF__STRIPPED((void)0, PROF__USE4(row, name, start, end))
#define prof_device_mark(row, name, time) PROF__STRIPPED((void)0, PROF__USE3(row, name, time))
#define prof_device_counter(row, name, time, value) PROF__STRIPPED((void)0, PROF__USE4(row, name, time, value))
#define prof_device_counter_double(row, name, time, value) PROF__STRIPPED((void)0, PROF__USE4(row, name, time, value))
#define prof_device_record(row, event) PROF__STRIPPED((void)0, PROF__USE2(row, event))
#define prof_flow_new() PROF__STRIPPED((uint64_t)0, (void)0)
#define prof_set_thread_name(name) PROF__STRIPPED((void)0, PROF__USE(name))
#define prof_domain_create(name) PROF__STRIPPED(PROF__STRIPPED_OBJECT(prof_domain *), PROF__USE(name))
#define prof_domain_name(domain) PROF__STRIPPED("", PROF__USE(domain))
#define prof_domain_enable(domain, on) PROF__STRIPPED(PROF_OK, PROF__USE2(domain, on))
#define prof_domain_list(names, capacity) PROF__STRIPPED((size_t)0, PROF__USE2(names, capacity))
#define prof_task_create(domain, name) PROF__STRIPPED(PROF__STRIPPED_OBJECT(prof_task *), PROF__USE2(domain, name))
#define prof_task_start(task) PROF__STRIPPED((void)0, PROF__USE(task))
#define prof_task_stop(task) PROF__STRIPPED((void)0, PROF__USE(task))
#define prof_task_destroy(task) PROF__STRIPPED((void)0, PROF__USE(task))
#define prof_frame_create(domain, name) PROF__STRIPPED(PROF__STRIPPED_OBJECT(prof_frame *), PROF__USE2(domain, name))
#define prof_frame_start(frame) PROF__STRIPPED((void)0, PROF__USE(frame))
#define prof_frame_stop(frame) PROF__STRIPPED((void)0, PROF__USE(frame))
#define prof_frame_destroy(frame) PROF__STRIPPED((void)0, PROF__USE(frame))
#define prof_range_create(name) PROF__STRIPPED(PROF__STRIPPED_OBJECT(prof_range *), PROF__USE(name))
#define prof_range_start(range) PROF__STRIPPED((void)0, PROF__USE(range))
#define prof_range_stop(range) PROF__STRIPPED((void)0, PROF__USE(range))
#define prof_range_destroy(range) PROF__STRIPPED((void)0, PROF__USE(range))
#define prof_counter_create(domain, name) \
    PROF__STRIPPED(PROF__STRIPPED_OBJECT(prof_counter *), PROF__USE2(domain, name))
#define prof_counter_create_unit(domain, name, unit) \
    PROF__STRIPPED(PROF__STRIPPED_OBJECT(prof_counter *), PROF__USE3(domain, name, unit))
#define prof_counter_set(counter, value) PROF__STRIPPED((void)0, PROF__USE2(counter, value))
#define prof_counter_add(counter, delta) PROF__STRIPPED((void)0, PROF__USE2(counter, delta))
#define prof_counter_sub(counter, delta) PROF__STRIPPED((void)0, PROF__USE2(counter, delta))
#define prof_counter_set_uint(counter, value) PROF__STRIPPED((void)0, PROF__USE2(counter, value))
#define prof_counter_set_double(counter, value) PROF__STRIPPED((void)0, PROF__USE2(counter, value))
#define prof_counter_add_double(counter, delta) PROF__STRIPPED((void)0, PROF__USE2(counter, delta))
#define prof_counter_destroy(counter) PROF__STRIPPED((void)0, PROF__USE(counter))
#define prof_marker_create(domain, name) PROF__STRIPPED(PROF__STRIPPED_OBJECT(prof_marker *), PROF__USE2(domain, name))
#define prof_marker_mark(marker, reach) PROF__STRIPPED((void)0, PROF__USE2(marker, reach))
#define prof_marker_destroy(marker) PROF__STRIPPED((void)0, PROF__USE(marker))
#define prof_writer_register(writer) PROF__STRIPPED((void)0, PROF__USE(writer))
#define prof_fail(status, text) PROF__STRIPPED(PROF_OK, PROF__USE2(status, text))
#define prof_writer_unregister(writer) PROF__STRIPPED((void)0, PROF__USE(writer))
#endif

#endif /* PROF__API_STRIPPED_H */
