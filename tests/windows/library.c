/* A DLL: with LIBRARY_RECORDER one that has a recorder for itself. */
#ifdef LIBRARY_RECORDER
#define PROF_IMPLEMENTATION
#define PROF_STATIC
#endif
#include "prof_read.h"

#ifdef LIBRARY_RECORDER
static prof_config config_to = {0};
__declspec(dllexport) int library_starts(const char *output)
{
    config_to.output = output;
    config_to.buffer_size = 256u << 10;
    int failed = prof_start(&config_to) != PROF_OK;
    if (!failed) PROFILE_BLOCK("in a library of its own") {}
    return failed;
}
__declspec(dllexport) int library_stops(int unused)
{
    int failed = prof_stop() != PROF_OK;
    (void)unused;
    prof_reset();
    return failed;
}
__declspec(dllexport) int library_records(int times)
{
    prof_config config = {0};
    prof_trace *trace = NULL;
    config.buffer_size = 256u << 10;
    if (prof_start(&config)) return -1;
    for (int i = 0; i < times; ++i) PROFILE_BLOCK("in a library of its own") {}
    if (prof_stop() || prof_trace_open_live(&trace)) return -2;
    int count = (int)prof_trace_about(trace)->event_count;
    prof_trace_close(trace);
    prof_reset();
    return count;
}
#else
__declspec(dllexport) int library_marks(int times)
{
    int i = 0;
    for (; i < times; ++i) { /* which compilers without GNU's extensions need around it */
        PROFILE_BLOCK("in a library") {}
    }
    return i;
}
#endif
