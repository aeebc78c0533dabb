// bridge/sdt: Probes for bpftrace, perf and SystemTap.
#ifndef PROF__BRIDGE_SDT_H
#define PROF__BRIDGE_SDT_H
#include "bridge/tools.h"
#include "api/options.h"
#include "api/values.h"

/*-- SDT --*/

/* A tracer increments the semaphore of a probe while it listens. Each probe is in one place of the code. */
#ifdef PROF_WITH_SDT
#define PROF__SDT_SEMAPHORE(probe)                                                                         \
    extern PROF__HIDDEN unsigned short prof_##probe##_semaphore;                                           \
    unsigned short prof_##probe##_semaphore __attribute__((__section__(".probes")))
#define PROF__SDT_WANTED(probe) __atomic_load_n(&prof_##probe##_semaphore, __ATOMIC_RELAXED)
PROF__SDT_SEMAPHORE(scope_begin);
PROF__SDT_SEMAPHORE(scope_end);
PROF__SDT_SEMAPHORE(arg);
PROF__SDT_SEMAPHORE(arg_string);
PROF__SDT_SEMAPHORE(mark);
PROF__SDT_SEMAPHORE(counter);
PROF__SDT_SEMAPHORE(counter_double);
PROF__SDT_SEMAPHORE(frame);
PROF__SDT_SEMAPHORE(event);
PROF__SDT_SEMAPHORE(log);
PROF__SDT_SEMAPHORE(thread);
PROF__SDT_SEMAPHORE(pause);
PROF__SDT_SEMAPHORE(resume);
#define PROF__SDT static __attribute__((__noinline__))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic" /* macros of probes leave the arguments of "..." empty */

PROF__SDT void prof__sdt_begin(const char *name, const char *category)
{
    DTRACE_PROBE2(prof, scope_begin, name, category);
}
PROF__SDT void prof__sdt_end(const char *name, const char *category) { DTRACE_PROBE2(prof, scope_end, name, category); }
PROF__SDT void prof__sdt_arg(const char *key, const char *category, uint64_t type, uint64_t number)
{
    DTRACE_PROBE4(prof, arg, key, category, type, number);
}
PROF__SDT void prof__sdt_arg_text(const char *key, const char *category, const char *text)
{
    DTRACE_PROBE3(prof, arg_string, key, category, text);
}
PROF__SDT void prof__sdt_mark(const char *name, const char *category) { DTRACE_PROBE2(prof, mark, name, category); }
PROF__SDT void prof__sdt_counter(const char *name, const char *category, prof_value_type type, uint64_t number)
{
    int64_t value = (int64_t)number;
    if (type == PROF_VALUE_DOUBLE)
        DTRACE_PROBE3(prof, counter_double, name, category, number);
    else
        DTRACE_PROBE3(prof, counter, name, category, value);
}
PROF__SDT void prof__sdt_frame(const char *name, const char *category) { DTRACE_PROBE2(prof, frame, name, category); }
PROF__SDT void prof__sdt_event(const char *name, const char *category, uint64_t type, uint64_t object, uint64_t detail)
{
    DTRACE_PROBE5(prof, event, name, category, type, object, detail);
}
PROF__SDT void prof__sdt_log(const char *text, const char *category, uint64_t severity)
{
    DTRACE_PROBE3(prof, log, text, category, severity);
}
PROF__SDT void prof__sdt_thread(const char *name) { DTRACE_PROBE1(prof, thread, name); }
PROF__SDT void prof__sdt_pause(int paused)
{
    if (paused)
        DTRACE_PROBE(prof, pause);
    else
        DTRACE_PROBE(prof, resume);
}
#pragma GCC diagnostic pop
#else
#define PROF__SDT_WANTED(probe) 0
#define prof__sdt_begin(name, category) ((void)0)
#define prof__sdt_end(name, category) ((void)0)
#define prof__sdt_arg(key, category, type, number) ((void)0)
#define prof__sdt_arg_text(key, category, text) ((void)0)
#define prof__sdt_mark(name, category) ((void)0)
#define prof__sdt_counter(name, category, type, number) ((void)0)
#define prof__sdt_frame(name, category) ((void)0)
#define prof__sdt_event(name, category, type, object, detail) ((void)0)
#define prof__sdt_log(text, category, severity) ((void)0)
#define prof__sdt_thread(name) ((void)0)
#define prof__sdt_pause(paused) ((void)0)
#endif

#endif /* PROF__BRIDGE_SDT_H */
