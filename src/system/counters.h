// system/counters: Samples what the system counts of the machine, of the process and of its control group, ten times a
// second, as counters of the category "system".
#ifndef PROF__SYSTEM_COUNTERS_H
#define PROF__SYSTEM_COUNTERS_H
#include "api/objects.h"
#include "record/locks.h"
#include "session/beside.h"
#include "session/process.h"
#include "system/cgroup.h"

#ifdef PROF__SYSTEM_LINUX
#include <sys/resource.h>

#define PROF__COUNTERS_EVERY 100000000u  /* ns */
#define PROF__COUNTERS_AGAIN 1000000000u /* ns after which a value is recorded although it is the same: a ring may have
                                            overwritten the last one */

/* X(constant, name, unit, source). The values of a source are readable together; the first row decides. */
#define PROF__COUNTED_LIST(X)                                                                        \
    X(MACHINE, "machine load", "%", "machine load")                                                  \
    X(STOLEN, "machine stolen", "%", "machine load")                                                 \
    X(PROCESS, "process load", "%", "process load")                                                  \
    X(RESIDENT, "resident memory", "B", "resident memory")                                           \
    X(MINOR, "minor page faults", "", "page faults")                                                 \
    X(MAJOR, "major page faults", "", "page faults")                                                 \
    X(VOLUNTARY, "voluntary switches", "", "page faults")                                            \
    X(INVOLUNTARY, "involuntary switches", "", "page faults")                                        \
    X(READ, "read from disks", "B", "page faults")                                                   \
    X(WRITTEN, "written to disks", "B", "page faults")                                               \
    X(PRESSURE_CPU, "pressure on processors", "%", "pressure on processors (CONFIG_PSI)")            \
    X(PRESSURE_IO, "pressure on disks", "%", "pressure on disks (CONFIG_PSI)")                       \
    X(PRESSURE_MEMORY, "pressure on memory", "%", "pressure on memory (CONFIG_PSI)")                 \
    X(FREQUENCY, "processor frequency", "MHz", "processor frequency (cpufreq)")                      \
    X(THROTTLED, "cgroup throttled", "us", "cgroup throttled")                                       \
    X(THROTTLES, "cgroup throttled periods", "", "cgroup throttled")                                 \
    X(QUOTA, "cgroup quota", "%", NULL)                                                              \
    X(GROUP_MEMORY, "cgroup memory", "B", "cgroup memory")                                           \
    X(GROUP_LIMIT, "cgroup memory limit", "B", NULL)                                                 \
    X(GROUP_HIGH, "cgroup memory above high", "", NULL)                                              \
    X(GROUP_MAX, "cgroup memory at the limit", "", "cgroup memory")                                  \
    X(GROUP_KILLS, "cgroup out of memory kills", "", NULL)

enum {
#define PROF__COUNTED_ENUM(constant, name, unit, source) PROF__COUNTED_##constant,
    PROF__COUNTED_LIST(PROF__COUNTED_ENUM)
#undef PROF__COUNTED_ENUM
    PROF__COUNTED_COUNT
};

typedef struct prof__counted {
    const char *name, *unit, *source; /* source: NULL: that it is missing says nothing */
} prof__counted;

static const prof__counted prof__counted_all[] = {
#define PROF__COUNTED_ROW(constant, name, unit, source) {name, unit, source},
    PROF__COUNTED_LIST(PROF__COUNTED_ROW)
#undef PROF__COUNTED_ROW
};

#define PROF__PRESSURES 3
#define PROF__FREQUENCIES 8 /* processors that are asked */

/* What a round reads to compare it with the round before. */
typedef struct prof__counted_round {
    uint64_t ns, process_ns, ticks, busy, stolen, pressure_us[PROF__PRESSURES];
} prof__counted_round;

/* Only prof's thread uses it, but for the begin and the end of a session. */
static struct {
    int on, sandbox;
    int machine, resident, pressure[PROF__PRESSURES], frequency[PROF__FREQUENCIES]; /* files; -1: none */
    uint64_t page;
    prof_counter *counters[PROF__COUNTED_COUNT];
    double last[PROF__COUNTED_COUNT], first[PROF__COUNTED_COUNT];
    uint64_t recorded_ns[PROF__COUNTED_COUNT]; /* 0: not yet */
    uint8_t readable[PROF__COUNTED_COUNT], begun[PROF__COUNTED_COUNT];
    prof__counted_round before;
    uint64_t rounds, now_ns; /* of the present round */
} prof__counters;

/* Records a value that is new, or old. */
static void prof__counted_set(unsigned what, double value)
{
    prof_counter *counter = prof__counters.counters[what];
    uint64_t now = prof__counters.now_ns, recorded = prof__counters.recorded_ns[what];
    prof__counters.readable[what] = 1;
    if (!prof__counters.rounds) return; /* the first look, at the start */
    /* compared as it is stored, so that equal means the same */
    if (recorded && !(value < prof__counters.last[what]) && !(value > prof__counters.last[what]) &&
        now - recorded < PROF__COUNTERS_AGAIN)
        return;
    prof__counters.last[what] = value;
    prof__counters.recorded_ns[what] = now;
    if (*prof__counted_all[what].unit == '%')
        prof_counter_set_double(counter, value);
    else
        prof_counter_set_uint(counter, (uint64_t)value);
}

/* Records how much a number has grown since the session's start. */
static void prof__counted_total(unsigned what, uint64_t value)
{
    if (!prof__counters.begun[what]) prof__counters.first[what] = (double)value;
    prof__counters.begun[what] = 1;
    double grown = (double)value - prof__counters.first[what];
    prof__counted_set(what, grown > 0 ? grown : 0); /* a process that has moved to another group may have less */
}

/* Records a share of a time, in percent with one decimal. Without a time before it is not known. */
static void prof__counted_share(unsigned what, uint64_t part, uint64_t whole)
{
    double tenths = whole ? (double)part * 1000 / (double)whole : 0;
    if (whole) prof__counted_set(what, (double)(uint64_t)(tenths + 0.5) / 10);
}

/* Reads the times of all processors: user, nice, system, idle, waiting for disks, interrupts (2), stolen. */
static void prof__counted_machine(prof__counted_round *now)
{
    char text[512], *at = text, *end;
    uint64_t times[8];
    int count = 0;
    if (!prof__system_reread(prof__counters.machine, text, sizeof text) || strncmp(text, "cpu ", 4)) return;
    for (at += 4; count < 8; ++count, at = end) {
        times[count] = strtoull(at, &end, 10);
        if (end == at) break;
    }
    prof__counters.readable[PROF__COUNTED_MACHINE] = count >= 4;
    for (int i = 0; i < count; ++i) {
        now->ticks += times[i];
        if (i != 3 && i != 4) now->busy += times[i];
    }
    if (count == 8) now->stolen = times[7];
}

static void prof__counted_resources(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage)) return;
    prof__counted_total(PROF__COUNTED_MINOR, (uint64_t)usage.ru_minflt);
    prof__counted_total(PROF__COUNTED_MAJOR, (uint64_t)usage.ru_majflt);
    prof__counted_total(PROF__COUNTED_VOLUNTARY, (uint64_t)usage.ru_nvcsw);
    prof__counted_total(PROF__COUNTED_INVOLUNTARY, (uint64_t)usage.ru_nivcsw);
    prof__counted_total(PROF__COUNTED_READ, (uint64_t)usage.ru_inblock * 512); /* whatever blocks the disk has */
    prof__counted_total(PROF__COUNTED_WRITTEN, (uint64_t)usage.ru_oublock * 512);
}

static void prof__counted_resident(void)
{
    char text[128], *end;
    if (!prof__system_reread(prof__counters.resident, text, sizeof text)) return;
    strtoull(text, &end, 10); /* the address space */
    prof__counted_set(PROF__COUNTED_RESIDENT, (double)(strtoull(end, NULL, 10) * prof__counters.page));
}

/* Reads for how long some thread of the machine has waited for processors, disks and memory. */
static void prof__counted_pressure(prof__counted_round *now)
{
    char text[256];
    for (int i = 0; i < PROF__PRESSURES; ++i) {
        const char *total = prof__system_reread(prof__counters.pressure[i], text, sizeof text) ? strstr(text, "total=")
                                                                                             : NULL;
        if (!total) continue;
        now->pressure_us[i] = strtoull(total + 6, NULL, 10);
        prof__counters.readable[PROF__COUNTED_PRESSURE_CPU + i] = 1;
    }
}

/* Records the highest frequency, because idle processors are slow, too. */
static void prof__counted_frequency(void)
{
    char text[32];
    uint64_t most = 0;
    for (int i = 0; i < PROF__FREQUENCIES; ++i) {
        if (!prof__system_reread(prof__counters.frequency[i], text, sizeof text)) continue;
        uint64_t khz = strtoull(text, NULL, 10);
        if (khz > most) most = khz;
    }
    if (most) prof__counted_set(PROF__COUNTED_FREQUENCY, (double)(most / 1000));
}

static void prof__counted_group_memory(void)
{
    char text[512];
    uint64_t number;
    if (prof__system_reread(prof__cgroup.used, text, sizeof text))
        prof__counted_set(PROF__COUNTED_GROUP_MEMORY, (double)strtoull(text, NULL, 10));
    if (!prof__system_reread(prof__cgroup.events, text, sizeof text)) return;
    if (prof__cgroup.old) prof__counted_total(PROF__COUNTED_GROUP_MAX, strtoull(text, NULL, 10));
    if (prof__system_number(text, "max", &number)) prof__counted_total(PROF__COUNTED_GROUP_MAX, number);
    if (prof__system_number(text, "high", &number)) prof__counted_total(PROF__COUNTED_GROUP_HIGH, number);
    if (prof__system_number(text, "oom_kill", &number)) prof__counted_total(PROF__COUNTED_GROUP_KILLS, number);
}

static void prof__counted_group(void)
{
    uint64_t periods, us;
    if (!prof__cgroup.count) return;
    if (prof__cgroup_throttled(&periods, &us)) {
        prof__counted_total(PROF__COUNTED_THROTTLED, us);
        prof__counted_total(PROF__COUNTED_THROTTLES, periods);
    }
    prof__counted_group_memory();
    if (prof__counters.rounds % 10 > 1) return; /* limits seldom change */
    double quota = prof__cgroup_quota();
    uint64_t limit = prof__cgroup_memory_limit();
    if (quota > 0) prof__counted_set(PROF__COUNTED_QUOTA, quota);
    if (limit) prof__counted_set(PROF__COUNTED_GROUP_LIMIT, (double)limit);
}

/* Records the loads of the time since the round before. */
static void prof__counted_loads(const prof__counted_round *before, const prof__counted_round *now)
{
    uint64_t ns = now->ns - before->ns;
    if (!before->ns || !ns) return;
    prof__counted_share(PROF__COUNTED_PROCESS, now->process_ns - before->process_ns, ns);
    if (prof__counters.readable[PROF__COUNTED_MACHINE] && now->ticks > before->ticks) {
        uint64_t busy = now->busy > before->busy ? now->busy - before->busy : 0;
        prof__counted_share(PROF__COUNTED_MACHINE, busy, now->ticks - before->ticks);
        prof__counted_share(PROF__COUNTED_STOLEN, now->stolen - before->stolen, now->ticks - before->ticks);
    }
    for (int i = 0; i < PROF__PRESSURES; ++i) {
        unsigned what = PROF__COUNTED_PRESSURE_CPU + (unsigned)i;
        uint64_t us = now->pressure_us[i] - before->pressure_us[i], whole = ns / 1000;
        if (prof__counters.readable[what]) prof__counted_share(what, us < whole ? us : whole, whole);
    }
}

/* Reads the time, and the processor time of the process at that time: again if others ran in between. */
static void prof__counted_times(prof__counted_round *now)
{
    struct timespec cpu;
    for (int tries = 0; tries < 5; ++tries) {
        uint64_t before = prof__monotonic();
        prof__counters.readable[PROF__COUNTED_PROCESS] = !clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
        now->ns = prof__monotonic();
        if (now->ns - before < PROF__COUNTERS_EVERY / 1000) break;
    }
    now->process_ns = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
}

static void prof__counted_read(void)
{
    prof__counted_round now;
    memset(&now, 0, sizeof now);
    prof__counted_times(&now);
    prof__counted_machine(&now);
    prof__counted_pressure(&now);
    prof__counters.now_ns = now.ns;
    if (now.ns - prof__counters.before.ns >= PROF__COUNTERS_EVERY / 2) { /* loads of less say little */
        prof__counted_loads(&prof__counters.before, &now);
        prof__counters.before = now;
    }
    prof__counted_resources();
    prof__counted_resident();
    prof__counted_frequency();
    prof__counted_group();
    PROF__RELEASE(&prof__counters.rounds, prof__counters.rounds + 1);
}

static void prof__counters_files(void)
{
    static const char *const pressures[] = {"cpu", "io", "memory"};
    char folder[64];
    long processors = sysconf(_SC_NPROCESSORS_CONF);
    prof__counters.machine = prof__system_open_file("/proc", "stat");
    prof__counters.resident = prof__system_open_file("/proc/self", "statm");
    for (int i = 0; i < PROF__PRESSURES; ++i)
        prof__counters.pressure[i] = prof__system_open_file("/proc/pressure", pressures[i]);
    for (int i = 0; i < PROF__FREQUENCIES; ++i) {
        snprintf(folder, sizeof folder, "/sys/devices/system/cpu/cpu%d/cpufreq", i);
        prof__counters.frequency[i] = i < processors ? prof__system_open_file(folder, "scaling_cur_freq") : -1;
    }
    prof__cgroup_open();
}

static void prof__counters_close_file(int file)
{
    if (file >= 0) close(file);
}

/* Closes all files. Async-signal-safe: keeps the memory. */
static void prof__counters_close(void)
{
    if (!prof__counters.on) return;
    prof__counters.on = 0;
    prof__counters_close_file(prof__counters.machine);
    prof__counters_close_file(prof__counters.resident);
    for (int i = 0; i < PROF__PRESSURES; ++i) prof__counters_close_file(prof__counters.pressure[i]);
    for (int i = 0; i < PROF__FREQUENCIES; ++i) prof__counters_close_file(prof__counters.frequency[i]);
    prof__cgroup_close();
}

static void prof__counters_free(void)
{
    for (unsigned i = 0; i < PROF__COUNTED_COUNT; ++i) {
        prof_counter_destroy(prof__counters.counters[i]);
        prof__counters.counters[i] = NULL;
    }
}

/* Says once what this system does not tell. */
static void prof__counters_say_missing(prof__session *s)
{
    char text[PROF__SYSTEM_WHY * 2];
    size_t length = 0;
    const char *said = "";
    for (unsigned i = 0; i < PROF__COUNTED_COUNT; ++i) {
        const char *source = prof__counted_all[i].source;
        if (!source || !strcmp(source, said)) continue;
        said = source;
        if (prof__counters.readable[i]) continue;
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", length ? ", " : "not readable here: ",
                                   source);
    }
    if (length) prof__beside_says(s, "counters", text);
}

/* Opens the files, and reads from where totals count. Returns 0 if there is no memory. */
static int prof__counters_open(prof__session *s)
{
    prof_domain *domain = prof_domain_create("system");
    memset(&prof__counters, 0, sizeof prof__counters);
    prof__counters.page = (uint64_t)sysconf(_SC_PAGESIZE);
    prof__counters.sandbox = prof__sandbox();
    for (unsigned i = 0; i < PROF__COUNTED_COUNT; ++i) {
        const prof__counted *counted = &prof__counted_all[i];
        prof__counters.counters[i] = prof_counter_create_unit(domain, counted->name, counted->unit);
        if (prof__counters.counters[i]) continue;
        prof__counters_free();
        return 0;
    }
    prof__counters_files();
    prof__counters.on = 1;
    prof__counted_read();
    prof__counters_say_missing(s);
    return 1;
}

/* Records what has changed, if the last round is a tenth of a second ago, or this one is the last. A sandbox that the
   program has entered since the start may kill it for what a round does: there are no more. */
static void prof__counters_round(prof__session *s, int last)
{
    if (!prof__counters.on) return;
    if (prof__sandbox() != prof__counters.sandbox) {
        prof__counters_close();
        prof__beside_says(s, "counters", "recording them ended: the program has entered a sandbox");
        return;
    }
    uint64_t since = prof__monotonic() - prof__counters.now_ns;
    if (!last && prof__counters.rounds > 1 && since < PROF__COUNTERS_EVERY * 9 / 10) return;
    if (PROF__LOAD(&prof__state.paused) || PROF__HELD()) {
        memset(prof__counters.recorded_ns, 0, sizeof prof__counters.recorded_ns); /* anew, when it goes on */
        return;
    }
    prof__counted_read();
}
#endif

#endif /* PROF__SYSTEM_COUNTERS_H */
