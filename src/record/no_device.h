// record/no_device: PROF_NO_DEVICES: replaces record/device.
#ifndef PROF__RECORD_NO_DEVICE_H
#define PROF__RECORD_NO_DEVICE_H
#include "api/devices.h"
#include "ground/clock.h"
#include "ground/errors.h"

/*-- NO DEVICES ------------------------------------------------------------------------------------------------------
   No function creates a handle, and functions without a handle do nothing. */

PROF_DEF prof_device *prof_device_create(const char *name, const prof_device_clock *clock)
{
    (void)name, (void)clock, prof__left_out("prof_device_create", "PROF_NO_DEVICES");
    return NULL;
}
PROF_DEF prof_device_row *prof_device_track(prof_device *device, const char *name)
{
    (void)device, (void)name, prof__left_out("prof_device_track", "PROF_NO_DEVICES");
    return NULL;
}
static void prof__device_report(prof_device_row *row, const prof_device_event *event)
{
    (void)row, (void)event;
}
PROF_DEF void prof_device_record(prof_device_row *row, const prof_device_event *event) { (void)row, (void)event; }
PROF_DEF void prof_device_scope(prof_device_row *row, const char *name, uint64_t start, uint64_t end)
{
    (void)row, (void)name, (void)start, (void)end;
}
PROF_DEF void prof_device_mark(prof_device_row *row, const char *name, uint64_t time)
{
    (void)row, (void)name, (void)time;
}
PROF_DEF void prof_device_counter(prof_device_row *row, const char *name, uint64_t time, int64_t value)
{
    (void)row, (void)name, (void)time, (void)value;
}
PROF_DEF void prof_device_counter_double(prof_device_row *row, const char *name, uint64_t time, double value)
{
    (void)row, (void)name, (void)time, (void)value;
}
PROF_DEF uint64_t prof_host_ns(void) { return prof__monotonic(); }
PROF_DEF prof_status prof_device_sync(prof_device *device, uint64_t ticks, uint64_t host_ns)
{
    (void)device, (void)ticks, (void)host_ns;
    return prof__left_out("prof_device_sync", "PROF_NO_DEVICES");
}

#endif /* PROF__RECORD_NO_DEVICE_H */
