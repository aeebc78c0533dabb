// system/perf: Opens Linux's perf events: a ring for each processor, into which the kernel writes the switches of all
// threads of the process, and another one for their samples.
#ifndef PROF__SYSTEM_PERF_H
#define PROF__SYSTEM_PERF_H
#include "ground/digits.h"
#include "ground/threads.h"
#include "session/process.h"
#include "system/files.h"

#ifdef PROF__SYSTEM_LINUX
#include <sys/ioctl.h>

/* The kernel's own layout of struct perf_event_attr and its constants: systems of musl often lack <linux/perf_event.h>,
   and older ones the newer constants. */
typedef struct prof__perf_attr {
    uint32_t type, size;
    uint64_t config, sample_period, sample_type, read_format, flags;
    uint32_t wakeup, breakpoint;
    uint64_t configs[4];
    uint32_t stack;
    int32_t clock;
    uint64_t only_samples; /* from here on: Linux 4.8 */
    uint32_t aux;
    uint16_t depth, last;
} prof__perf_attr;
typedef char prof__perf_is_fixed[sizeof(prof__perf_attr) == 112 ? 1 : -1];
#define PROF__PERF_LEAST offsetof(prof__perf_attr, only_samples)

#define PROF__PERF_SOFTWARE 1u
#define PROF__PERF_TASK_CLOCK 1u
#define PROF__PERF_MAJOR_FAULTS 6u
#define PROF__PERF_DUMMY 9u /* counts nothing */
#define PROF__PERF_TID (1u << 1)
#define PROF__PERF_TIME (1u << 2)
#define PROF__PERF_ADDRESS (1u << 3)
#define PROF__PERF_CHAIN (1u << 5)
#define PROF__PERF_LOST_COUNT (1u << 4) /* read() also returns how many records were lost: Linux 6.0 */
/* The flags are bit-fields: the first one is the lowest bit, or the highest one. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define PROF__PERF_FLAG(bit) (1ull << (63 - (bit)))
#else
#define PROF__PERF_FLAG(bit) (1ull << (bit))
#endif
#define PROF__PERF_INHERIT PROF__PERF_FLAG(1)
#define PROF__PERF_NO_KERNEL PROF__PERF_FLAG(5) /* without this, an unprivileged process is refused */
#define PROF__PERF_TASK PROF__PERF_FLAG(13)     /* also records begins and ends of threads */
#define PROF__PERF_WATERMARK PROF__PERF_FLAG(14)
#define PROF__PERF_ID_ALL PROF__PERF_FLAG(18)
#define PROF__PERF_NO_KERNEL_CHAIN PROF__PERF_FLAG(21)
#define PROF__PERF_CLOCK PROF__PERF_FLAG(25)
#define PROF__PERF_SWITCHES PROF__PERF_FLAG(26)
#define PROF__PERF_THREADS_ONLY PROF__PERF_FLAG(35) /* processes do not inherit: Linux 5.13 */
#define PROF__PERF_DISABLE _IO('$', 1)
#define PROF__PERF_SET_OUTPUT _IO('$', 5)
#define PROF__PERF_CLOSE_ON_EXEC 8ul
#define PROF__PERF_HEAD 1024 /* bytes of the first page before data_head; data_tail follows */
#define PROF__PERF_BYTES (128u * 4096u) /* with a first page, what an unprivileged user has for each processor */
#ifndef PROF__PERF_MANY
#define PROF__PERF_MANY 32 /* with more processors, only those that threads may run on at the start */
#endif

/* Opens the event of a thread and a processor. Returns its file, or -1 with errno. */
static int prof__perf_open(prof__perf_attr *attr, uint32_t thread, uint32_t processor)
{
    for (;;) {
        int file = (int)syscall(SYS_perf_event_open, attr, (long)thread, (long)processor, -1l,
                                PROF__PERF_CLOSE_ON_EXEC);
        if (file >= 0) return file;
        if (attr->depth && (errno == E2BIG || errno == EOVERFLOW)) { /* kernel.perf_event_max_stack is lower */
            attr->size = PROF__PERF_LEAST;
            attr->depth = 0;
            continue;
        }
        if (errno != EINVAL) return file;
        if (attr->read_format)
            attr->read_format = 0;
        else if (attr->flags & PROF__PERF_THREADS_ONLY)
            attr->flags &= ~PROF__PERF_THREADS_ONLY;
        else
            return -1;
    }
}

/* Describes the events of a ring, of which half wakes prof's thread. */
static prof__perf_attr prof__perf_describe(int samples, uint64_t ring_bytes)
{
    prof__perf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.type = PROF__PERF_SOFTWARE;
    attr.size = samples ? sizeof attr : PROF__PERF_LEAST;
    attr.config = samples ? PROF__PERF_TASK_CLOCK : PROF__PERF_DUMMY;
    attr.sample_period = samples ? prof__system.period : 0;
    attr.sample_type = PROF__PERF_TID | PROF__PERF_TIME | (samples ? PROF__PERF_CHAIN : 0);
    attr.read_format = PROF__PERF_LOST_COUNT;
    attr.flags = PROF__PERF_INHERIT | PROF__PERF_NO_KERNEL | PROF__PERF_WATERMARK | PROF__PERF_ID_ALL |
                 PROF__PERF_CLOCK | PROF__PERF_THREADS_ONLY |
                 (samples ? PROF__PERF_NO_KERNEL_CHAIN : PROF__PERF_TASK | PROF__PERF_SWITCHES);
    attr.wakeup = (uint32_t)(ring_bytes / 2);
    attr.clock = CLOCK_MONOTONIC;
    attr.depth = samples ? PROF__SAMPLE_DEPTH : 0;
    return attr;
}

/* Writes why the system refuses, and which setting it is. what: the call. */
static void prof__perf_why(const char *what, int error, char why[PROF__SYSTEM_WHY])
{
    char level[24] = "", *end;
    const char *cause = NULL;
    if (error == EACCES || error == EPERM)
        prof__system_read("/proc/sys/kernel/perf_event_paranoid", level, sizeof level);
    long paranoid = strtol(level, &end, 10);
    if (end != level && paranoid > 2)
        cause = "kernel.perf_event_paranoid is above 2: sysctl kernel.perf_event_paranoid=2 allows it";
    else if (error == EPERM && prof__sandbox() == 2)
        cause = "a seccomp filter, such as a container's profile: Docker allows it with --cap-add PERFMON";
    else if (error == EACCES || error == EPERM)
        cause = "a security module, or the rights of the process (CAP_PERFMON allows it)";
    else if (error == ENOSYS)
        cause = "the kernel has no perf events (CONFIG_PERF_EVENTS), or a seccomp filter hides them";
    else if (error == EINVAL || error == E2BIG)
        cause = "Linux 4.3 or later is needed";
    else if (error == EMFILE || error == ENFILE)
        cause = "too many open files: raise RLIMIT_NOFILE (ulimit -n)";
    snprintf(why, PROF__SYSTEM_WHY, "not recorded: %s: %s%s%s", what, strerror(error), cause ? ": " : "",
             cause ? cause : "");
}

/* Maps a ring, of this many bytes or, if the kernel does not allow that, fewer. Returns 0, or errno. */
static int prof__perf_map(prof__ring *ring, uint64_t bytes)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), pages = bytes / page;
    for (pages = pages ? pages : 1; pages; pages /= 2) {
        void *map = mmap(NULL, (size_t)(page * (1 + pages)), PROT_READ | PROT_WRITE, MAP_SHARED, ring->file, 0);
        if (map == MAP_FAILED && (errno == EPERM || errno == ENOMEM)) continue;
        if (map == MAP_FAILED) return errno;
        ring->map = (char *)map;
        ring->data = ring->map + page;
        ring->bytes = page * pages;
        return 0;
    }
    return EPERM;
}

static void prof__perf_unmap(prof__ring *ring)
{
    if (ring->map) munmap(ring->map, (size_t)(ring->data - ring->map) + (size_t)ring->bytes);
    ring->map = NULL;
}

/* Notes an event's file. Without memory, closes it and returns 0. */
static int prof__perf_keep(int file, size_t ring)
{
    if (prof__system.event_count == prof__system.event_room) {
        size_t room = prof__system.event_room ? prof__system.event_room * 2 : 64;
        void *more = realloc(prof__system.events, room * sizeof *prof__system.events);
        if (!more) {
            close(file);
            return 0;
        }
        memcpy(&prof__system.events, &more, sizeof more); /* the type has no name */
        prof__system.event_room = room;
    }
    prof__system.events[prof__system.event_count].file = file;
    prof__system.events[prof__system.event_count++].ring = (uint32_t)ring;
    return 1;
}

/* Adds a thread's id to the list. Returns 1 if it was not there. */
static int prof__system_meets(uint32_t thread)
{
    for (size_t i = 0; i < prof__system.thread_count; ++i)
        if (prof__system.threads[i] == thread) return 0;
    if (prof__system.thread_count == prof__system.thread_room) {
        size_t room = prof__system.thread_room ? prof__system.thread_room * 2 : 64;
        uint32_t *more = (uint32_t *)realloc(prof__system.threads, room * sizeof *more);
        if (!more) return 0;
        prof__system.threads = more;
        prof__system.thread_room = room;
    }
    prof__system.threads[prof__system.thread_count++] = thread;
    return 1;
}

/* Adds the threads of the process to the list. Returns 1 if one was new. */
static int prof__system_list(void)
{
    char part[4096]; /* not opendir(), which allocates */
    int folder = open("/proc/self/task", O_RDONLY | O_CLOEXEC), found = 0;
    long bytes;
    while (folder >= 0 && (bytes = syscall(SYS_getdents64, folder, part, sizeof part)) > 0) {
        uint16_t step = 1;
        for (size_t at = 0; step && at + 19 < (size_t)bytes; at += step) { /* 16 bytes, the length, a type, the name */
            memcpy(&step, part + at + 16, sizeof step);
            uint32_t thread = (uint32_t)strtoul(part + at + 19, NULL, 10);
            if (thread) found |= prof__system_meets(thread);
        }
    }
    if (folder >= 0) close(folder);
    return found;
}

#define PROF__PERF_MASK 128 /* words: 8192 processors */

/* Finds the processors that any thread may run on. Returns 0 if the system does not tell. */
static int prof__perf_mask(uint64_t mask[PROF__PERF_MASK])
{
    unsigned long one[PROF__PERF_MASK * 8 / sizeof(unsigned long)];
    const unsigned bits = 8 * sizeof *one;
    int good = 0;
    prof__system.thread_count = 0;
    prof__system_meets((uint32_t)prof__thread_id());
    prof__system_list();
    memset(mask, 0, PROF__PERF_MASK * sizeof *mask);
    for (size_t i = 0; i < prof__system.thread_count; ++i) {
        memset(one, 0, sizeof one);
        if (syscall(SYS_sched_getaffinity, (long)prof__system.threads[i], sizeof one, one) <= 0) continue;
        for (uint32_t at = 0; at < PROF__PERF_MASK * 64; ++at)
            mask[at / 64] |= (uint64_t)(one[at / bits] >> at % bits & 1) << at % 64;
        good = 1;
    }
    return good;
}

/* Opens the event of a thread's page faults, if they are asked for, and leads it into a ring of switches. */
static void prof__perf_faults(uint32_t thread, size_t index)
{
    const prof__ring *ring = &prof__system.rings[index];
    if (!prof__system.faults || ring->samples) return;
    prof__perf_attr attr = prof__perf_describe(0, ring->bytes);
    attr.config = PROF__PERF_MAJOR_FAULTS;
    attr.sample_period = 1;
    attr.sample_type |= PROF__PERF_ADDRESS;
    attr.flags &= ~(PROF__PERF_TASK | PROF__PERF_SWITCHES | PROF__PERF_ID_ALL);
    int file = prof__perf_open(&attr, thread, ring->processor);
    if (file < 0) {
        prof__system.faults_refused += errno != ESRCH; /* it has ended */
    } else if ((uint64_t)file > prof__system_most_files() || ioctl(file, PROF__PERF_SET_OUTPUT, ring->file)) {
        close(file);
        ++prof__system.faults_refused;
    } else if (!prof__perf_keep(file, index)) {
        ++prof__system.faults_refused;
    }
}

/* Makes the ring of a processor, with the event of the calling thread. Returns 0, or errno; *what: the call that
   failed. */
static int prof__perf_ring(prof__ring *ring, uint64_t size, const char **what)
{
    uint32_t self = (uint32_t)prof__thread_id();
    prof__perf_attr attr = prof__perf_describe(ring->samples, size);
    int error;
    *what = "perf_event_open";
    ring->file = prof__perf_open(&attr, self, ring->processor);
    if (ring->file < 0) return errno;
    *what = "mmap of perf events";
    error = prof__perf_map(ring, size);
    if (!error && ring->bytes < size) { /* woken by a part of a smaller ring */
        prof__perf_unmap(ring);
        close(ring->file);
        attr = prof__perf_describe(ring->samples, ring->bytes);
        ring->file = prof__perf_open(&attr, self, ring->processor);
        error = ring->file < 0 ? errno : prof__perf_map(ring, ring->bytes);
    }
    if (error && ring->file >= 0) close(ring->file);
    if (error) {
        ring->file = -1;
        ring->bytes = size;
    }
    return error;
}

/* Closes a file, once: a child of a fork meanwhile closes all anew. */
static void prof__perf_shut(int *file)
{
    int open = *file;
    PROF__STORE(file, -1);
    if (open >= 0) close(open);
}

/* Closes the files, and unmaps the rings, from this ring on. In a child of fork() (child: 1) they are not mapped. */
static void prof__perf_drop(size_t first, int child)
{
    size_t kept = 0;
    for (size_t i = 0; i < prof__system.event_count; ++i)
        if (prof__system.events[i].ring < first)
            prof__system.events[kept++] = prof__system.events[i];
        else
            prof__perf_shut(&prof__system.events[i].file);
    for (size_t i = first; i < prof__system.ring_count && !child; ++i) prof__perf_unmap(&prof__system.rings[i]);
    if (!first) prof__perf_shut(&prof__system.online);
    prof__system.event_count = kept;
    prof__system.ring_count = first;
}

/* Reads which processors are on. Returns 1 if that has changed. */
static int prof__perf_processors(void)
{
    char now[sizeof prof__system.processors];
    if (!prof__system_reread(prof__system.online, now, sizeof now) || !strcmp(now, prof__system.processors)) return 0;
    strcpy(prof__system.processors, now);
    return 1;
}

/* Returns 1 if a processor is on. If the list is too long, opening an event tells. */
static int prof__perf_is_on(uint32_t processor)
{
    uint64_t last;
    return !*prof__system.processors || prof__system_in_list(prof__system.processors, processor, &last) ||
           strlen(prof__system.processors) + 1 == sizeof prof__system.processors;
}

/* Makes rings of this size for the switches, or the samples, of each processor. Returns 0 with the reason in why, and
   then there are none. */
static int prof__perf_rings(int samples, uint64_t size, char why[PROF__SYSTEM_WHY])
{
    uint64_t mask[PROF__PERF_MASK];
    long all = sysconf(_SC_NPROCESSORS_CONF);
    int some = all > PROF__PERF_MANY && prof__perf_mask(mask), error = 0;
    size_t first = prof__system.ring_count, made = 0;
    const char *what = "";
    void *more = realloc(prof__system.rings, (first + (size_t)(all > 0 ? all : 1)) * sizeof *prof__system.rings);
    if (more) prof__system.rings = (prof__ring *)more;
    if (!more) error = ENOMEM;
    prof__system.most_processors = all > 0 ? (uint64_t)all : 0;
    for (uint32_t processor = 0; processor < (uint32_t)all && !error; ++processor) {
        prof__ring *ring = &prof__system.rings[prof__system.ring_count];
        if (some && processor < PROF__PERF_MASK * 64 && !(mask[processor / 64] >> processor % 64 & 1)) continue;
        memset(ring, 0, sizeof *ring);
        ring->processor = processor;
        ring->samples = samples;
        ring->file = -1;
        ring->bytes = size;
        error = prof__perf_is_on(processor) ? prof__perf_ring(ring, size, &what) : ENODEV;
        if (!error && !prof__perf_keep(ring->file, prof__system.ring_count)) error = ENOMEM;
        if (error && error != ENODEV) break;
        made += !error;
        if (!error) prof__perf_faults((uint32_t)prof__thread_id(), prof__system.ring_count);
        error = 0; /* if it is off, it may be switched on later */
        ++prof__system.ring_count;
    }
    if (!error && made) return 1;
    if (!error)
        snprintf(why, PROF__SYSTEM_WHY, "not recorded: no processor has perf events");
    else if (error == ENOMEM)
        snprintf(why, PROF__SYSTEM_WHY, "not recorded: no memory");
    else if (error == EPERM && *what == 'm')
        snprintf(why, PROF__SYSTEM_WHY, "not recorded: no memory for the kernel's rings: raise RLIMIT_MEMLOCK "
                 "(ulimit -l) or kernel.perf_event_mlock_kb");
    else
        prof__perf_why(what, error, why);
    prof__perf_drop(first, 0);
    return 0;
}

/* Opens the events of another thread of the process, of rings from `first` up to `end`. Returns 0 if the system refuses
   one, or files get scarce. */
static int prof__perf_thread(uint32_t thread, size_t first, size_t end)
{
    uint64_t most = prof__system_most_files();
    for (size_t i = first; i < end; ++i) {
        if (!prof__system.rings[i].map) continue;
        prof__perf_attr attr = prof__perf_describe(prof__system.rings[i].samples, prof__system.rings[i].bytes);
        int file = prof__perf_open(&attr, thread, prof__system.rings[i].processor);
        if (file < 0) return errno == ESRCH; /* it has ended */
        if ((uint64_t)file > most || ioctl(file, PROF__PERF_SET_OUTPUT, prof__system.rings[i].file)) {
            close(file);
            return 0;
        }
        if (!prof__perf_keep(file, i)) return 0;
        prof__perf_faults(thread, i);
    }
    return 1;
}

/* Opens the events of the threads that there are now. Returns 1 if one was new. */
static int prof__perf_new_threads(size_t first, size_t end)
{
    size_t at = prof__system.thread_count;
    int found = prof__system_list();
    for (; at < prof__system.thread_count; ++at)
        prof__system.refused += !prof__perf_thread(prof__system.threads[at], first, end);
    return found;
}

/* Opens the events of all threads that there are, but the calling one. They may create others meanwhile, which have
   inherited the events, or whose creator had none yet: so the system is asked until it names no new one. The few that
   have both are recorded twice, which the reader notices. */
static void prof__perf_threads(size_t first, size_t end)
{
    prof__system.thread_count = 0;
    prof__system_meets((uint32_t)prof__thread_id()); /* has its events */
    while (prof__perf_new_threads(first, end)) continue;
}

/* Closes all files, and unmaps the rings. child: see prof__perf_drop(). Async-signal-safe: keeps the memory for a later
   start. */
static void prof__perf_close(int child)
{
    prof__perf_drop(0, child);
    prof__perf_shut(&prof__system.wake);
    prof__system.switch_rings = prof__system.thread_count = 0;
}
#endif

#endif /* PROF__SYSTEM_PERF_H */
