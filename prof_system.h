/* prof_system.h - what the operating system does with the program's threads, on the time line of its scopes - public
                   assembled from src/: change it there, see CONTRIBUTING.md
                   domain or MIT-0; needs prof.h and libc; the licence is at the end of this file

QUICK START

    #define PROF_IMPLEMENTATION            // in exactly one file of the program, C or C++
    #include "prof_system.h"               // includes prof.h

    PROF_OUTPUT=trace.prof PROF_SYSTEM=1 ./program
    prof summary trace.prof                // how much of its time each scope ran

    Or set config.switches = 1, config.counters = 1, config.samples = 1, or config.system = 1 for all, before
    prof_start(). The header only adds what it records: a program that includes it, and does not ask for it, runs as
    before.

WHAT IT RECORDS

    switches    when each thread of the process came to run, and on which processor; when it stopped, and whether it
                waited or could have gone on (it was preempted, gave way with sched_yield(), or a cgroup's quota was
                used up). Threads that are created later have them from their first moment on, also those without
                scopes. A scope of 8 ms then is, say, 5 ms running, 1 ms ready and 2 ms waiting.

    counters    ten times a second, and at the end, as counters of the category "system", on the track "prof system":
                machine load, machine stolen   % of all processors: busy; taken by the host of a virtual machine
                process load                   % of one processor, so that two busy threads have 200 %
                resident memory                bytes
                minor page faults, major page faults, voluntary switches, involuntary switches, read from disks,
                written to disks               of the process, since the session's start
                pressure on processors, on disks, on memory   % of the time in which some thread of the machine had to
                                               wait for it (PSI, /proc/pressure)
                processor frequency            MHz, the highest of the first eight processors
                cgroup throttled, cgroup throttled periods   how long, and in how many periods, the process's control
                                               group (its container) was stopped, because it had used up its quota: the
                                               sum over processors, since the session's start
                cgroup quota                   % of one processor
                cgroup memory, cgroup memory limit   bytes
                cgroup memory at the limit, above high, out of memory kills   how often, since the session's start
                A value is recorded when it changes, else once a second. What the system does not tell is left out; the
                metadata names it under "counters". These need no perf events.

    samples     where each thread is, after each 2.09 ms that it has run. PROF_SAMPLES=2000 (config.samples = 2000) is
                another rate: 2,000 in a second of running time, up to 10,000; 1 is the default rate, 500. All are 4.5 %
                fewer, so that a program with rounds of 1 ms is not met at the same place of each. A sample has the
                address of the instruction and those in its callers: up to 64 frames, the innermost ones of deeper
                chains. prof_track_samples() has the samples of a thread; prof_module_at() the file to which an address
                belongs, with its build id, also of libraries that are loaded later: prof looks ten times a second.

    faults      for which pages threads waited until these were read from a disk (major faults): when, the address,
                and the file that is mapped there. PROF_FAULTS=1 (config.faults = 1) records switches as well, which say
                how long each took; prof_waits() and prof why have them among the waits. PROF_SYSTEM=1 does not include
                them. Faults in system calls, such as read() into memory that is not there, are not seen.

    Switches, samples and faults need Linux 4.3, no rights, and no other program. Before 4.17 the kernel does not
    say why a thread stopped: "unknown" takes the place of ready and waiting. When a thread was woken is known of
    waits of 0.2 ms and more that PROF_WRAP_WAITS records, and of one that is alone in a tenth of a second: from
    then on the thread is ready. Other waits last until the thread runs; prof_split.woken_ns says how much of them
    it may have been ready. Counters are of any Linux.

ONE SCOPE AT A TIME

    PROFILE_SCOPE_TIMED("name"), PROFILE_STEP_TIMED("name", number) and PROFILE_FRAME_TIMED("name") say of each call, or
    of the frame that ends there, how long the thread ran, was ready and waited: by the thread's processor time, and by
    what the kernel counts of it in the run queue. They need no perf events, no key, and no rights: use them for frames,
    steps and requests where the system refuses switches. The call has three arguments, prof.running_ns, prof.ready_ns
    and prof.waiting_ns; prof_stats(), prof_why(), the summary and prof_event_split() use them where switches are not
    known, so that the parts add up to the call. A frame has parts if the boundary before it was recorded by the same
    macro, on the same thread.

    Such a scope takes 2.8 us and 160 bytes more, a frame 1.4 us; and an open file for each thread that has one. From
    half of RLIMIT_NOFILE on, the file is opened each time, which takes 3 us longer. Where the kernel does not count
    (/proc is missing, or CONFIG_SCHEDSTATS), only running is known: prof_timed_status() says so. A scope that ends on
    another thread, in a coroutine, has no parts; in a fiber they are those of the thread, and count only where
    switches are not recorded. With PROF_STATS the summary has no such column. In a sandbox of system calls these
    macros need openat, pread64, close and clock_gettime. Elsewhere than on Linux they are PROFILE_SCOPE, PROFILE_STEP
    and PROFILE_FRAME.

IF THE SYSTEM REFUSES

    The recording goes on without. One line says what was refused, and which setting it is: in the metadata of the
    recording under "switches" or "samples", in the summary's head, and in prof_error() after prof_system_status().
    Reasons are kernel.perf_event_paranoid of 3 or more (Debian, Ubuntu), a seccomp filter (the default profile of
    Docker, unless CAP_PERFMON is given), locked memory (RLIMIT_MEMLOCK) or files (RLIMIT_NOFILE: for switches and for
    samples a file for each thread that there is at the start, times processors, but never more than half of them). A
    filter that kills a process for perf_event_open() kills this one, too: call prof_start() before the filter is
    installed. What began to be recorded then goes on.

WHAT IT COSTS

    A switch takes about 1 us longer: 1.1 % of a program with 10,000 a second. A new thread takes 1.7 us longer for
    each processor. prof_start() takes 0.3 ms longer, with 1,000 threads 80 ms, and 13 to 90 ms more if no other
    process of the machine uses perf events. Above 50,000 switches a second, over ten seconds, recording them ends,
    and the metadata says so. prof starts a thread, "prof system". A wait of 0.2 ms or more takes 2.6 us longer, and
    a file for each thread that has one. A switch takes two words of the buffer; the kernel's rings have up to 516
    KiB for each processor. The counters take 18 us for each round: 0.02 % of a processor; and up to 45 open files.

    With faults, a new thread takes 1.7 us longer for each processor once more, and files are twice as many. A fault
    itself takes 60 us to 10 ms; what is recorded of it, 2.

    A sample costs 16 us on a virtual machine, where interrupts are dear: 0.8 % of the running time at 500 a second. It
    takes 10 to 25 bytes of the buffer. The kernel's rings have 128 KiB for samples then, and 256 KiB for switches, for
    each processor, and a new thread takes 1.7 us longer for each processor once more.

WHAT IT DOES NOT DO

    Callers are found by frame pointers: compile with -fno-omit-frame-pointer, and on x86-64 with
    -mno-omit-leaf-frame-pointer. Without these the sampled instruction is right, and of its callers all or some are
    missing, or wrong where a function keeps another number in that register. Even with them, the caller is missing
    while a function's first instructions run, and where a function without a frame, as a small leaf, runs; and a call
    by a library that was built without frame pointers, such as qsort() of libc, ends the chain. What the kernel does
    for a thread, as in read(), has no samples, because an unprivileged process must not see it. A thread has its first
    sample on a processor when it has run there for a period, so that threads of a few milliseconds have too few. Fibers
    have the samples of their threads.

    In children of fork() it records nothing, unless they call prof_start() themselves: their metadata says so. With
    PROF_STATS there are no events, and no switches or samples. Once the program has entered a sandbox of system
    calls (seccomp), there are no more counters and wake-ups; with PROF_WRAP_WAITS the sandbox has to allow prctl.
    With more than 32 processors it looks only at those that threads may run on at the start. One that is switched
    on later is looked at a tenth of a second later; one that the machine did not have at the start, never, and the
    metadata says so. On other systems than Linux prof_system_status() returns PROF_UNSUPPORTED.

    A fiber has the states of the thread that runs it, and waits while none does. prof_fiber_switch() reads no clock: a
    switch was between the last event of one track and the first one of the next. In between, both fibers have unknown
    time, unless the thread waits. Give each turn of a fiber a scope, so that this is short. A turn without an event, on
    a thread that has no event yet, counts as waiting. Fibers have states only where switches are recorded.
*/
#include "prof.h" /* outside of the include guard, because this may be the inclusion with PROF_IMPLEMENTATION */

#pragma pack(push, 16) /* as in prof.h */
#ifndef PROF_SYSTEM_H
#define PROF_SYSTEM_H

#ifdef __cplusplus
extern "C" {
#endif

#if PROF_ENABLE
/* Returns PROF_OK if the running session records what its configuration asked for with config.switches,
   config.counters (those that the system tells) or config.system; else, with the reason in prof_error(),
   PROF_UNSUPPORTED if the system refuses it, or PROF_INVALID_STATE if no session runs or it asked for nothing. Any
   thread may call it. */
PROF__API prof_status prof_system_status(void);

/* Returns PROF_OK if PROFILE_SCOPE_TIMED, PROFILE_STEP_TIMED and PROFILE_FRAME_TIMED tell running, ready and waiting
   here; else PROF_UNSUPPORTED, with the reason in prof_error(). It needs no session. */
PROF__API prof_status prof_timed_status(void);
#else
#define prof_system_status() PROF__STRIPPED(PROF_OK, (void)0)
#define prof_timed_status() PROF__STRIPPED(PROF_OK, (void)0)
#endif

/*-- PROFILE_SCOPE_TIMED --------------------------------------------------------------------------------- >>timed --
     PROFILE_SCOPE_TIMED(name)       PROFILE_SCOPE(name) that says how long its thread ran, could have run, and waited:
                                     its arguments prof.running_ns, prof.ready_ns and prof.waiting_ns, which prof_stat
                                     and prof_event_split() use where switches are not known. min_duration does not
                                     remove it
     PROFILE_STEP_TIMED(name, number)   likewise, of PROFILE_STEP(name, number)
     PROFILE_FRAME_TIMED(name)       likewise, of PROFILE_FRAME(name): what the thread did since the boundary before, in
                                     the loop that has this macro */
#if PROF_ENABLE && defined(__linux__) && !defined(PROF_FREESTANDING) && (defined(__cplusplus) || defined(__GNUC__))
#define PROF__SCOPES_TIMED 1
#define PROF__TIMED_UNKNOWN (~PROF__TO(uint64_t, 0))
/* What is known at the begin. thread: 0: the scope is not recorded. ready_ns may be PROF__TIMED_UNKNOWN. */
typedef struct prof__timed {
    prof__token token;
    uint64_t thread, ns, cpu_ns, ready_ns;
} prof__timed;
PROF__API prof__timed prof__timed_begin(prof__token token);
PROF__API void prof__timed_end(const prof__timed *timed);
PROF__API void prof__timed_frame(prof_site *site, prof__timed *last);
#ifdef __cplusplus
extern "C++" {
struct PROF__GUARD_TYPE prof__guard_timed {
    prof__timed timed;
    PROF__UNTRACED ~prof__guard_timed() { if (timed.token) prof__timed_end(&timed); }
};
PROF__HIDDEN PROF__UNTRACED inline prof__timed prof__timed_of(prof__token token)
{
    prof__timed timed = {0, 0, 0, 0, 0};
    return token ? prof__timed_begin(token) : timed;
}
}
#define PROF__GUARD_TIMED(variable, token) prof__guard_timed variable = {prof__timed_of(token)}
#else
static inline PROF__UNTRACED void prof__guard_timed(const prof__timed *timed)
{
    if (timed->token) prof__timed_end(timed);
}
static inline PROF__UNTRACED prof__timed prof__timed_of(prof__token token)
{
    prof__timed timed = {0, 0, 0, 0, 0};
    return token ? prof__timed_begin(token) : timed;
}
#define PROF__GUARD_TIMED(variable, token)                                                                 \
    __extension__ __attribute__((__cleanup__(prof__guard_timed), __unused__))                              \
    prof__timed variable = prof__timed_of(token)
#endif
#define PROF__SCOPE_TIMED(...) PROF__AGAIN(PROF__SCOPE_TIMED_(__VA_ARGS__))
#define PROF__SCOPE_TIMED_(id, name)                                                                       \
    PROF__SITE_AT(prof__site_##id, PROF__KIND_BEGIN, name, PROF_CATEGORY, PROF_SITE_LEVEL, 0, 0)           \
    PROF__GUARD_TIMED(prof__scope_##id, PROF__BEGIN(PROF__AT(prof__site_##id), PROF_SITE_LEVEL))
#define PROF__STEP_TIMED(...) PROF__AGAIN(PROF__STEP_TIMED_(__VA_ARGS__))
#define PROF__STEP_TIMED_(id, name, number)                                                                \
    PROF__SITE_AT(prof__site_##id, PROF__KIND_BEGIN | PROF_ROLE_STEP << PROF__ROLE_SHIFT, name, PROF_CATEGORY, \
                   PROF_SITE_LEVEL, 0, 0)                                                                  \
    PROF__SITE_AT(prof__key_##id, PROF__KIND_ARG, "step_num", PROF_CATEGORY, PROF_SITE_LEVEL, 0, 0)        \
    PROF__GUARD_TIMED(prof__scope_##id,                                                                    \
                      PROF__BEGIN_WITH(                                                                    \
                          PROF__AT(prof__site_##id), PROF_SITE_LEVEL,                                      \
                          prof__begin_number(&PROF__AT(prof__site_##id), &PROF__AT(prof__key_##id),        \
                                             PROF_VALUE_INT, PROF__TO(uint64_t, PROF__TO(int64_t, number)))))
#define PROFILE_SCOPE_TIMED(name) PROF__SCOPE_TIMED(PROF_UNIQUE, name)
#define PROFILE_STEP_TIMED(name, number) PROF__STEP_TIMED(PROF_UNIQUE, name, number)
#define PROF__TIMED_FRAME(site)                     \
    do {                                            \
        static __thread prof__timed prof__timed_last; \
        prof__timed_frame(site, &prof__timed_last); \
    } while (0)
#define PROFILE_FRAME_TIMED(name) \
    PROF__STATEMENT(PROF__KIND_FRAME, name, PROF_CATEGORY, PROF_SITE_LEVEL, PROF__TIMED_FRAME(&PROF__HERE))
#else
#define PROFILE_SCOPE_TIMED(name) PROFILE_SCOPE(name)
#define PROFILE_STEP_TIMED(name, number) PROFILE_STEP(name, number)
#define PROFILE_FRAME_TIMED(name) PROFILE_FRAME(name)
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_SYSTEM_H */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && !defined(PROF__SYSTEM_IMPLEMENTED)
#define PROF__SYSTEM_IMPLEMENTED
#ifdef PROF_MINIMAL
#error "prof_system.h needs what PROF_MINIMAL leaves out: include prof.h alone"
#endif

#ifdef PROF__WRAPS_MALLOC /* so that prof's own allocations are not recorded as the program's */
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__linux__) && defined(SYS_perf_event_open) && !defined(PROF_NO_THREAD)
#define PROF__SYSTEM_LINUX 1
#endif

/* One line says why something is not recorded. */
#define PROF__SYSTEM_WHY 200

#define PROF__SWITCH_BATCH 60 /* words of an EVENT: with its own four it is a fifteenth more than they are */

/* Switches of one processor that are to become an EVENT. */
typedef struct prof__batch {
    uint64_t base, last; /* ns: of its first word; of its last one */
    uint64_t told;       /* how many lost switches its first word stands for */
    uint32_t count;
    uint64_t words[PROF__SWITCH_BATCH];
} prof__batch;

/* A part of a loaded module that has code: what the image's MODULE record says. */
typedef struct prof__known_module {
    uint64_t start, end, offset;
    uint32_t path, build; /* string ids */
} prof__known_module;

/* A ring of a processor, which the kernel writes: of switches, or of samples. */
typedef struct prof__ring {
    int file;    /* of its first event; -1: its processor is off, and it has none, nor a map */
    int samples; /* 1: of samples */
    uint32_t processor;
    char *map;      /* a page that describes the ring, then the ring: data */
    char *data;
    uint64_t bytes; /* of the ring, a power of two; without a map: that it is to have */
    uint64_t head, tail; /* written up to head, as a round found it; read up to tail */
    uint64_t lost;  /* switches, or samples, that the kernel has told to be lost */
    uint64_t untold; /* those that were lost, and that the image does not count yet */
    uint64_t dropped; /* samples that found no room in prof's buffer, likewise */
    prof__batch batch;
} prof__ring;

/* A thread whose time in the run queue prof's thread reads: see system/delays. */
#define PROF__DELAYS 256u
typedef struct prof__delay {
    uint32_t thread;
    int file; /* + 1 */
    int met;  /* 1: it has run since it was read */
} prof__delay;

/* Page faults that are to become an EVENT. */
#define PROF__FAULTS 20u
typedef struct prof__fault {
    uint64_t ns, address;
    uint32_t thread, file; /* file: a string id */
} prof__fault;

/* What a session asks for. */
enum { PROF__SYSTEM_SWITCHES = 1, PROF__SYSTEM_COUNTERS = 2, PROF__SYSTEM_SAMPLES = 4, PROF__SYSTEM_FAULTS = 8 };

/* Fields change in prof_start(), under the control lock, and at the end of a recording, under ending; while the thread
   runs, only the thread changes rings, switches and the window. In a child of fork() nothing is left of them. */
static struct {
    prof__session *session;
    int asked, running, told; /* asked: bits; told: the kernel says whether a thread that stops waits */
    uint64_t period;          /* of samples, in ns of a thread's running time */
    uint32_t stop, done; /* done: the thread has recorded what was left */
    int ending;          /* a lock: the service and a control function may end a recording at the same time */
    uint64_t events_written;
    int wake;                 /* an eventfd that ends the thread's sleep */
    int sandbox;              /* the seccomp mode at the start */
    prof__ring *rings; /* first those of switches, then those of samples */
    size_t ring_count, switch_rings;
    int online;           /* a file that lists the processors that are on, or -1 */
    char processors[256]; /* what it said last */
    uint64_t most_processors; /* those that the machine had at the start, on or off: others get no ring */
    struct {
        int file;
        uint32_t ring;
    } *events;
    size_t event_count, event_room;
    uint32_t *threads; /* the system's ids of those that have events */
    size_t thread_count, thread_room;
    uint64_t refused; /* threads without events */
    uint64_t switches, window_from, window_switches; /* of the window of ten seconds: see prof__budget() */
#ifdef PROF__SYSTEM_LINUX
    pthread_t thread;
#endif
    char why[PROF__SYSTEM_WHY]; /* why switches are not recorded; "": they are */
    char counters_why[PROF__SYSTEM_WHY], samples_why[PROF__SYSTEM_WHY]; /* likewise */
    int faults;                      /* 1: page faults are recorded, in the rings of switches */
    prof__fault fault[PROF__FAULTS];
    size_t fault_count;
    uint64_t faults_refused; /* threads and processors without the event */
    int delays;                 /* 1: times in the run queue are read */
    prof__delay delay[PROF__DELAYS]; /* by the thread's id */
    uint64_t held_back; /* how often the kernel held back samples of a thread, because they were too many */
    prof__known_module *modules; /* those that are loaded, or were the last ones at their addresses */
    size_t module_count, module_room;
    uint32_t module_records;          /* of the image */
    unsigned long long loads[2];      /* how many modules the loader has loaded and unloaded */
    int modules_missing;              /* 1: some found no room in the image, or there was no memory */
} prof__system;

#ifdef PROF__SYSTEM_LINUX
#include <sys/resource.h>

/* Before the paths of files whose contents are sampled. Tests have a folder of their own there. */
static const char *prof__system_root = "";

/* Reads a small file of the system as text. Returns 0 if it cannot. */
static int prof__system_read(const char *path, char *text, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file >= 0 ? read(file, text, size - 1) : -1;
    if (file >= 0) close(file);
    text[got > 0 ? got : 0] = 0;
    if (got > 0 && text[got - 1] == '\n') text[got - 1] = 0;
    return got > 0;
}

/* Returns the greatest number that a file of prof may have: half of the files are the program's. */
static uint64_t prof__system_most_files(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY ? INT32_MAX
                                                                               : (uint64_t)limit.rlim_cur / 2;
}

/* Opens a file that stays open: folder/name. Returns -1 if it cannot be read, or files get scarce. */
static int prof__system_open_file(const char *folder, const char *name)
{
    char path[1024], byte;
    int length = snprintf(path, sizeof path, "%s%s/%s", prof__system_root, folder, name);
    int file = length > 0 && (size_t)length < sizeof path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return -1;
    if ((uint64_t)file <= prof__system_most_files() && pread(file, &byte, 1, 0) == 1) return file;
    close(file);
    return -1;
}

/* Reads an open file from its beginning. Returns 0 if it cannot. */
static int prof__system_reread(int file, char *text, size_t size)
{
    ssize_t got = file >= 0 ? pread(file, text, size - 1, 0) : -1;
    text[got > 0 ? got : 0] = 0;
    return got > 0;
}

/* Reads a file of any size. Returns a text for free(), NULL if it cannot. */
static char *prof__system_read_all(const char *path)
{
    char full[256], *text = NULL;
    size_t size = 0, room = 0;
    ssize_t got = 1;
    snprintf(full, sizeof full, "%s%s", prof__system_root, path);
    int file = open(full, O_RDONLY | O_CLOEXEC);
    while (file >= 0 && got > 0) {
        if (room - size < 4096) {
            char *more = (char *)realloc(text, room += 16384);
            if (!more) break;
            text = more;
        }
        got = read(file, text + size, room - size - 1);
        if (got > 0) size += (size_t)got;
    }
    if (file >= 0) close(file);
    if (text) text[size] = 0;
    return text;
}

/* Returns 1 if a list such as "0-3,5" has a number; *last: receives its last one. */
static int prof__system_in_list(const char *list, uint64_t number, uint64_t *last)
{
    int found = 0;
    char *end;
    *last = 0;
    for (;; list = end + 1) {
        uint64_t from = strtoull(list, &end, 10), to = from;
        if (end == list) return found;
        if (*end == '-') to = strtoull(end + 1, &end, 10);
        if (to < from) return found;
        found |= number >= from && number <= to;
        *last = to;
        if (*end != ',') return found;
    }
}

/* Finds the number behind a word that begins a line. Returns 0 if there is none. */
static int prof__system_number(const char *text, const char *word, uint64_t *number)
{
    size_t length = strlen(word);
    char *end;
    for (; text; text = strchr(text, '\n')) {
        text += *text == '\n';
        if (strncmp(text, word, length) || text[length] != ' ') continue;
        *number = strtoull(text + length, &end, 10);
        return end != text + length;
    }
    return 0;
}
#endif

#ifdef PROF__SCOPES_TIMED
#include <sys/resource.h>
#include <sys/syscall.h>

static const char prof__timed_path[] = "/proc/thread-self/schedstat";

/* open(), pread() and close() end a thread that was cancelled, which must not happen where the program calls nothing
   that does. */
static int prof__timed_path_open(void)
{
    return (int)syscall(SYS_openat, (long)AT_FDCWD, prof__timed_path, (long)(O_RDONLY | O_CLOEXEC), 0l);
}
static long prof__timed_read(int file, char *to, size_t size)
{
    return syscall(SYS_pread64, (long)file, to, size, 0l, 0l, 0l);
}
static void prof__timed_shut(int file) { syscall(SYS_close, (long)file); }

/* /proc/thread-self is the thread that opened the file, so each thread keeps one. Its number is in the thread's value
   of the key: generation << 13 | file + 1. The generation is that of the process: a child of fork() has its parent's
   files, of the parent's threads. */
#define PROF__TIMED_FILES 4096u
#define PROF__TIMED_AGAIN 8191u /* in place of file + 1: it is opened each time, because files are scarce */
#define PROF__TIMED_NONE 8190u  /* it cannot be opened */
static pthread_key_t prof__timed_key;
static uint32_t prof__timed_made; /* 1: the key is being made; 2: it is there; 3: the system has none left */
static uint32_t prof__timed_generation;
static uint32_t prof__timed_files[PROF__TIMED_FILES / 32]; /* a bit for each that is open */

static void prof__timed_leaves(void *value)
{
    uint32_t bits = (uint32_t)(uintptr_t)value, file = (bits & 8191) - 1;
    if (bits >> 13 != (PROF__LOAD(&prof__timed_generation) & 0x7FFFF) || file >= PROF__TIMED_FILES) return;
    __atomic_fetch_and(&prof__timed_files[file / 32], ~(1u << file % 32), __ATOMIC_ACQ_REL);
    close((int)file);
}

static int prof__timed_has_key(void)
{
    uint32_t made = PROF__ACQUIRE(&prof__timed_made);
    if (PROF__LIKELY(made == 2)) return 1;
    if (made || !__atomic_compare_exchange_n(&prof__timed_made, &made, 1u, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return 0;
    made = pthread_key_create(&prof__timed_key, prof__timed_leaves) ? 3 : 2;
    PROF__RELEASE(&prof__timed_made, made);
    return made == 2;
}

/* Opens the thread's file to keep it. Returns what the thread notes. Half of the files are the program's. */
static uint32_t prof__timed_open(void)
{
    struct rlimit limit;
    uint64_t most = getrlimit(RLIMIT_NOFILE, &limit) ? 0 : (uint64_t)limit.rlim_cur / 2;
    int file = prof__timed_path_open();
    if (file < 0) return errno == EMFILE || errno == ENFILE ? PROF__TIMED_AGAIN : PROF__TIMED_NONE;
    if ((uint64_t)file < most && (uint32_t)file < PROF__TIMED_FILES - 2) {
        __atomic_fetch_or(&prof__timed_files[file / 32], 1u << file % 32, __ATOMIC_ACQ_REL);
        return (uint32_t)file + 1;
    }
    prof__timed_shut(file);
    return PROF__TIMED_AGAIN;
}

/* Reads the line into text. Returns 0 if the system does not give it. */
static int prof__timed_line(char *text, size_t size)
{
    uint32_t generation = PROF__LOAD(&prof__timed_generation) & 0x7FFFF, note = PROF__TIMED_AGAIN;
    if (prof__timed_has_key()) {
        uint32_t bits = (uint32_t)(uintptr_t)pthread_getspecific(prof__timed_key);
        note = bits & 8191;
        if (!note || bits >> 13 != generation) {
            note = prof__timed_open();
            pthread_setspecific(prof__timed_key, (void *)(uintptr_t)(generation << 13 | note));
        }
    }
    if (note == PROF__TIMED_NONE) return 0;
    int file = note == PROF__TIMED_AGAIN ? prof__timed_path_open() : (int)note - 1;
    long got = file < 0 ? -1 : prof__timed_read(file, text, size - 1);
    if (file >= 0 && note == PROF__TIMED_AGAIN) prof__timed_shut(file);
    text[got > 0 ? got : 0] = 0;
    return got > 0;
}

/* Returns for how long a thread was in the run queue, in ns, of the line that was read; PROF__TIMED_UNKNOWN: not known.
   A kernel that does not count says 0 for all. */
static uint64_t prof__timed_count(const char *text)
{
    char *end;
    uint64_t ran = strtoull(text, &end, 10), ready = strtoull(end, &end, 10), slices = strtoull(end, NULL, 10);
    return ran || slices ? ready : PROF__TIMED_UNKNOWN;
}

/* The same of the calling thread. */
static uint64_t prof__timed_ready(void)
{
    char text[80];
    return prof__timed_line(text, sizeof text) ? prof__timed_count(text) : PROF__TIMED_UNKNOWN;
}

PROF_DEF prof__timed prof__timed_begin(prof__token token)
{
    prof__timed timed;
    memset(&timed, 0, sizeof timed);
    timed.token = token;
    if (!PROF__RECORDED(token)) return timed;
    PROF__ERRNO_SAVE();
    timed.thread = (uint64_t)(uintptr_t)pthread_self();
    timed.ready_ns = prof__timed_ready();
    timed.cpu_ns = prof__clock_ns(CLOCK_THREAD_CPUTIME_ID);
    timed.ns = prof__monotonic();
    PROF__ERRNO_RESTORE();
    return timed;
}

static void prof__timed_arg(prof_arg *arg, const char *key, uint64_t ns)
{
    memset(arg, 0, sizeof *arg);
    arg->key = key;
    arg->value.type = PROF_VALUE_UINT;
    arg->value.as.u = ns;
}

/* Makes arguments of what the thread did from a time to another. Returns how many. */
static uint32_t prof__timed_parts(prof_arg *args, const prof__timed *from, const prof__timed *to)
{
    uint64_t wall = to->ns - from->ns, running = to->cpu_ns - from->cpu_ns, ready = to->ready_ns - from->ready_ns;
    if (running > wall) running = wall;
    if (ready > wall - running) ready = wall - running;
    prof__timed_arg(&args[0], PROF__KEY_RUNNING, running);
    prof__timed_arg(&args[1], PROF__KEY_READY, ready);
    prof__timed_arg(&args[2], PROF__KEY_WAITING, wall - running - ready);
    return from->ready_ns == PROF__TIMED_UNKNOWN || to->ready_ns == PROF__TIMED_UNKNOWN ? 1 : 3;
}

/* Records what the thread did since the begin. A coroutine that another thread goes on with has no such times. */
PROF_DEF void prof__timed_end(const prof__timed *timed)
{
    if (PROF__RECORDED(timed->token) && timed->thread == (uint64_t)(uintptr_t)pthread_self()) {
        prof_arg args[3];
        prof__timed now;
        PROF__ERRNO_SAVE();
        now.ns = prof__monotonic();
        now.cpu_ns = prof__clock_ns(CLOCK_THREAD_CPUTIME_ID);
        now.ready_ns = timed->ready_ns == PROF__TIMED_UNKNOWN ? PROF__TIMED_UNKNOWN : prof__timed_ready();
        prof__with(NULL, PROF_EVENT_SCOPE, timed->token, args, prof__timed_parts(args, timed, &now));
        PROF__ERRNO_RESTORE();
    }
    prof__end(timed->token);
}

/* Records the boundary of a frame, and what the thread did in the frame that it ends. last: of the boundary before, by
   this thread at this call site; whether that is the frame's, the reader sees by its duration. */
PROF_DEF void prof__timed_frame(prof_site *site, prof__timed *last)
{
    prof_arg args[3];
    prof__timed now;
    PROF__ERRNO_SAVE();
    memset(&now, 0, sizeof now);
    now.ready_ns = prof__timed_ready();
    now.cpu_ns = prof__clock_ns(CLOCK_THREAD_CPUTIME_ID);
    now.ns = prof__monotonic();
    prof__with(site, PROF_EVENT_FRAME, 0, args, last->ns ? prof__timed_parts(args, last, &now) : 0);
    *last = now;
    PROF__ERRNO_RESTORE();
}

PROF_DEF prof_status prof_timed_status(void)
{
    char text[80];
    PROF__ERRNO_SAVE();
    errno = 0;
    int read = prof__timed_line(text, sizeof text), error = errno, known = prof__timed_ready() != PROF__TIMED_UNKNOWN;
    PROF__ERRNO_RESTORE();
    if (known) return PROF_OK;
    return prof__fail(PROF_UNSUPPORTED, "only running is known, not ready and waiting: %s: %s", prof__timed_path,
                      read ? "the kernel does not count (CONFIG_SCHEDSTATS)" : strerror(error ? error : ENOENT));
}

static void prof__timed_close(void)
{
    for (uint32_t file = 0; file < PROF__TIMED_FILES; ++file) {
        uint32_t bit = 1u << file % 32;
        if (__atomic_fetch_and(&prof__timed_files[file / 32], ~bit, __ATOMIC_ACQ_REL) & bit) close((int)file);
    }
}

/* In a child of fork(): closes the files of the parent's threads. Async-signal-safe. */
static void prof__timed_child(void)
{
    PROF__STORE(&prof__timed_generation, prof__timed_generation + 1);
    prof__timed_close();
}

#ifdef PROF__SHARED
/* The code of this library may be unloaded next. */
static void prof__timed_end_all(void)
{
    uint32_t made = 2;
    if (!__atomic_compare_exchange_n(&prof__timed_made, &made, 3u, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return;
    pthread_key_delete(prof__timed_key);
    prof__timed_close();
}
#endif
#else
#ifdef PROF_FREESTANDING
#define PROF__TIMED_NOT "freestanding"
#elif defined(_WIN32)
#define PROF__TIMED_NOT "on Windows"
#elif defined(__APPLE__)
#define PROF__TIMED_NOT "on macOS"
#else
#define PROF__TIMED_NOT "on this system"
#endif
PROF_DEF prof_status prof_timed_status(void)
{
    return prof__fail(PROF_UNSUPPORTED, "PROFILE_SCOPE_TIMED is PROFILE_SCOPE " PROF__TIMED_NOT ": it needs Linux");
}
#endif

#ifdef PROF__SYSTEM_LINUX
/* In a sandbox that the program has entered since the start, only what it already did is allowed. */
static int prof__system_may(void) { return prof__sandbox() == prof__system.sandbox; }

/* Records an EVENT with these words behind it. about: its type and detail; holds: the prof_value_type of the words.
   Returns 0 if there is no room, or the session is paused. */
static int prof__system_write(uint64_t about, uint64_t ns, prof_value_type holds, const uint64_t *words, uint64_t count)
{
    const prof__session *s = prof__system.session;
    prof__thread *self = PROF__SELF();
    uint64_t all = 3 + (count ? 1 + count : 0), *at = NULL;
    if (PROF__LOAD(&prof__state.paused) || PROF__HELD()) return 0;
    if (!prof__enter_slow(self, NULL, prof__enter_write(self), 0)) return 0;
    if (self->session == s) {
        uint64_t now = prof__now(s, 0);
        at = prof__reserve_or_lose(self, all, &now, 0);
        if (at) {
            for (uint64_t i = 0; i < count; ++i) PROF__STORE(at + 4 + i, words[i]);
            if (count)
                prof__store_word(at + 3, (uint64_t)PROF__KIND_DATA << PROF__KIND_SHIFT | (uint64_t)holds << 32 | count);
            PROF__STORE(at + 1, about);
            PROF__STORE(at + 2, ns);
            prof__store_word(at, (uint64_t)PROF__KIND_EVENT << PROF__KIND_SHIFT | (now - self->base));
            prof__commit(self, all);
        }
    }
    prof__leave(self);
    return at != NULL;
}
#endif

/*-- A thread that has waited in a wrapper of PROF_WRAP_WAITS reads its own count. Prof's thread reads those of threads
     whose switches it has found: so it is known from when on a thread's own readings count and, of threads without
     wrappers, for how long they were ready in about a tenth of a second. --*/

#if defined(PROF__SYSTEM_LINUX) && defined(PROF__SCOPES_TIMED)
static void prof__delays_put(uint64_t ns, const uint64_t *words, uint64_t count)
{
    if (count) prof__system_write(PROF__DEVICE_DELAYS, ns, PROF_VALUE_NONE, words, count);
}

/* A reading takes 2.5 us after a wait, when caches are cold. After waits of this many ns it is 1.3 % of a thread's time
   at most. */
#define PROF__DELAYS_WORTH 200000u

/* The calling thread has waited. In a sandbox that it has entered since the start it reads nothing. */
static void prof__delays_woken(uint64_t ns)
{
    if (ns < PROF__DELAYS_WORTH || !PROF__ACQUIRE(&prof__system.running) || !PROF__LOAD(&prof__system.delays)) return;
    PROF__ERRNO_SAVE();
    PROF__OWN_BEGINS();
    for (int tries = prof__system_may() ? 0 : 3; tries < 3; ++tries) {
        uint64_t now = prof__monotonic(), ready = prof__timed_ready();
        uint64_t word = prof__delay_word(ready, PROF__SELF()->thread_id);
        if (ready == PROF__TIMED_UNKNOWN) break;
        if (prof__monotonic() - now > PROF__DELAY_LATE) continue; /* it was interrupted, or opened its file */
        prof__delays_put(now, &word, 1);
        break;
    }
    PROF__OWN_ENDS();
    PROF__ERRNO_RESTORE();
}

static void prof__delay_shut(prof__delay *delay)
{
    if (delay->file > 0) close(delay->file - 1);
    delay->file = 0;
}

/* Notes that a thread has come to run. It takes the place of another one in the table. */
static void prof__delays_meet(uint32_t thread)
{
    prof__delay *delay = &prof__system.delay[thread % PROF__DELAYS];
    if (delay->thread != thread) prof__delay_shut(delay);
    delay->thread = thread;
    delay->met = 1;
}

/* Closes the files. Async-signal-safe. */
static void prof__delays_close(void)
{
    PROF__STORE(&prof__system.delays, 0);
    for (size_t i = 0; i < PROF__DELAYS; ++i) {
        prof__delay_shut(&prof__system.delay[i]);
        prof__system.delay[i].thread = 0;
        prof__system.delay[i].met = 0;
    }
}

/* Returns the file of a thread, opened if it can be, or -1. file: 0: not opened yet; -1: it cannot be. */
static int prof__delay_file(prof__delay *delay)
{
    char folder[64];
    int file;
    if (delay->file > 0) return delay->file - 1;
    if (delay->file < 0) return -1;
    snprintf(folder, sizeof folder, "/proc/self/task/%u", (unsigned)delay->thread);
    file = prof__system_open_file(folder, "schedstat");
    delay->file = file < 0 ? -1 : file + 1;
    return file;
}

/* Reads the counts of the threads that were met since the last round. If the reading was interrupted, its time is not
   known well enough: then the next round reads again. */
static void prof__delays_round(void)
{
    uint64_t words[PROF__SWITCH_BATCH], count = 0, began = 0, from;
    char text[80];
    if (!PROF__LOAD(&prof__system.delays) || !prof__system_may()) return;
    for (size_t i = 0; i < PROF__DELAYS; ++i) {
        prof__delay *delay = &prof__system.delay[i];
        if (!delay->met) continue;
        from = prof__monotonic();
        int got = prof__system_reread(prof__delay_file(delay), text, sizeof text);
        uint64_t to = prof__monotonic(), ready = got ? prof__timed_count(text) : PROF__TIMED_UNKNOWN;
        if (got && to - from > PROF__DELAY_LATE) continue;
        delay->met = 0;
        if (ready == PROF__TIMED_UNKNOWN) continue; /* it has ended, or files are scarce */
        if (count == PROF__SWITCH_BATCH || (count && to - began > PROF__DELAY_LATE)) {
            prof__delays_put(began, words, count);
            count = 0;
        }
        if (!count) began = from;
        words[count++] = prof__delay_word(ready, delay->thread);
    }
    prof__delays_put(began, words, count);
}
#else
static void prof__delays_woken(uint64_t ns) { (void)ns; }
#ifdef PROF__SYSTEM_LINUX
static void prof__delays_meet(uint32_t thread) { (void)thread; }
static void prof__delays_close(void) {}
static void prof__delays_round(void) {}
#endif
#endif

#ifdef PROF__SYSTEM_LINUX

#define PROF__CGROUP_LEVELS 8 /* the process's own group, and those around it */
enum { PROF__CGROUP_PROCESSOR = 0, PROF__CGROUP_MEMORY, PROF__CGROUP_CONTROLLERS };
static const char *const prof__cgroup_controllers[] = {"cpu", "memory"};

/* A group's files, -1: none. */
typedef struct prof__cgroup_level {
    int stat, quota, period, limit;
} prof__cgroup_level;

static struct {
    prof__cgroup_level levels[PROF__CGROUP_LEVELS];
    int count;
    int used, events, old; /* of memory; old: version 1 */
} prof__cgroup;

/* Returns 1 if a list, of words with commas in between, has this one. end: of the list. */
static int prof__cgroup_lists(const char *list, const char *end, const char *word)
{
    size_t length = strlen(word);
    while (list < end) {
        const char *comma = list;
        while (comma < end && *comma != ',') ++comma;
        if ((size_t)(comma - list) == length && !memcmp(list, word, length)) return 1;
        list = comma + 1;
    }
    return 0;
}

/* Finds the group of the process in the hierarchy of a controller: of a line "4:memory:/path", or of "0::/path" if none
   has the controller. *old: it is of version 1. Returns 0 if there is none. */
static int prof__cgroup_path(const char *groups, const char *controller, char *path, size_t size, int *old)
{
    int found = 0;
    for (const char *line = groups, *end; *line; line = *end ? end + 1 : end) {
        end = strchr(line, '\n') ? strchr(line, '\n') : line + strlen(line);
        const char *list = strchr(line, ':'), *at = list ? strchr(list + 1, ':') : NULL;
        if (!at || at > end || (size_t)(end - at) > size) continue;
        int has = prof__cgroup_lists(list + 1, at, controller);
        if (!has && (at != list + 1 || found)) continue;
        memcpy(path, at + 1, (size_t)(end - at - 1));
        path[end - at - 1] = 0;
        *old = has;
        found = 1;
        if (has) break;
    }
    return found;
}

/* Copies the next word of a line. Returns what follows it. */
static const char *prof__cgroup_word(const char *at, const char *end, char *word, size_t size)
{
    size_t length = 0;
    for (; at < end && *at != ' '; ++at)
        if (length + 1 < size) word[length++] = *at;
    word[length] = 0;
    return at < end ? at + 1 : end;
}

/* Sets folder to the place of a group below the mount of its hierarchy. *top: how many characters of it are the mount.
   A line is "36 35 98:0 /root /mount options - type source options". A container may see a part of the hierarchy only,
   root, or have a path that leads out of what it sees: then its group is at the mount. */
static int prof__cgroup_folder(const char *mounts, const char *controller, int old, const char *path, char *folder,
                               size_t size, size_t *top)
{
    char word[64], root[512], mount[512], type[16], options[256];
    for (const char *line = mounts, *end; *line; line = *end ? end + 1 : end) {
        end = strchr(line, '\n') ? strchr(line, '\n') : line + strlen(line);
        const char *at = line;
        for (int i = 0; i < 3; ++i) at = prof__cgroup_word(at, end, word, sizeof word);
        at = prof__cgroup_word(at, end, root, sizeof root);
        at = prof__cgroup_word(at, end, mount, sizeof mount);
        do at = prof__cgroup_word(at, end, word, sizeof word);
        while (at < end && strcmp(word, "-"));
        at = prof__cgroup_word(at, end, type, sizeof type);
        at = prof__cgroup_word(at, end, word, sizeof word);
        prof__cgroup_word(at, end, options, sizeof options);
        if (strcmp(type, old ? "cgroup" : "cgroup2") ||
            (old && !prof__cgroup_lists(options, options + strlen(options), controller)))
            continue;
        size_t length = strcmp(root, "/") ? strlen(root) : 0;
        int below = !strncmp(path, root, length) && (!path[length] || path[length] == '/') && !strstr(path, "..");
        const char *rest = below ? path + length : "";
        if (!strcmp(rest, "/")) rest = "";
        *top = strlen(mount);
        int all = snprintf(folder, size, "%s%s", mount, rest);
        return all > 0 && (size_t)all < size;
    }
    return 0;
}

static void prof__cgroup_open_level(prof__cgroup_level *level, int controller, const char *folder)
{
    if (controller == PROF__CGROUP_MEMORY) {
        level->limit = prof__system_open_file(folder, prof__cgroup.old ? "memory.limit_in_bytes" : "memory.max");
        return;
    }
    level->stat = prof__system_open_file(folder, "cpu.stat");
    level->quota = prof__system_open_file(folder, "cpu.max");
    if (level->quota >= 0) return;
    level->quota = prof__system_open_file(folder, "cpu.cfs_quota_us");
    level->period = prof__system_open_file(folder, "cpu.cfs_period_us");
}

/* Opens the files of the process's group of a controller, and of the groups around it. */
static void prof__cgroup_open_controller(int controller, const char *groups, const char *mounts)
{
    const char *name = prof__cgroup_controllers[controller];
    char path[512], folder[1024];
    size_t top;
    if (!prof__cgroup_path(groups, name, path, sizeof path, &prof__cgroup.old) ||
        !prof__cgroup_folder(mounts, name, prof__cgroup.old, path, folder, sizeof folder, &top))
        return;
    if (controller == PROF__CGROUP_MEMORY) {
        int old = prof__cgroup.old;
        prof__cgroup.used = prof__system_open_file(folder, old ? "memory.usage_in_bytes" : "memory.current");
        prof__cgroup.events = prof__system_open_file(folder, old ? "memory.failcnt" : "memory.events");
    }
    for (int i = 0; i < PROF__CGROUP_LEVELS; ++i) {
        prof__cgroup_open_level(&prof__cgroup.levels[i], controller, folder);
        if (prof__cgroup.count <= i) prof__cgroup.count = i + 1;
        char *slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < top) break;
        *slash = 0;
    }
}

static void prof__cgroup_open(void)
{
    char *groups = prof__system_read_all("/proc/self/cgroup"), *mounts = prof__system_read_all("/proc/self/mountinfo");
    memset(&prof__cgroup, 0xFF, sizeof prof__cgroup); /* no files */
    prof__cgroup.count = 0;
    for (int i = 0; groups && mounts && i < PROF__CGROUP_CONTROLLERS; ++i)
        prof__cgroup_open_controller(i, groups, mounts);
    free(groups);
    free(mounts);
}

/* Async-signal-safe. */
static void prof__cgroup_close(void)
{
    for (int i = 0; i < prof__cgroup.count; ++i) {
        const prof__cgroup_level *level = &prof__cgroup.levels[i];
        if (level->stat >= 0) close(level->stat);
        if (level->quota >= 0) close(level->quota);
        if (level->period >= 0) close(level->period);
        if (level->limit >= 0) close(level->limit);
    }
    if (prof__cgroup.count && prof__cgroup.used >= 0) close(prof__cgroup.used);
    if (prof__cgroup.count && prof__cgroup.events >= 0) close(prof__cgroup.events);
    prof__cgroup.count = 0;
}

/* Sums up how often, and how long, the process's groups had used up their quota. Returns 0 if none tells. */
static int prof__cgroup_throttled(uint64_t *periods, uint64_t *us)
{
    int found = 0;
    char text[1024];
    *periods = *us = 0;
    for (int i = 0; i < prof__cgroup.count; ++i) {
        uint64_t count, time;
        if (!prof__system_reread(prof__cgroup.levels[i].stat, text, sizeof text) ||
            !prof__system_number(text, "nr_throttled", &count))
            continue;
        if (!prof__system_number(text, "throttled_usec", &time)) {
            if (!prof__system_number(text, "throttled_time", &time)) continue;
            time /= 1000;
        }
        *periods += count;
        *us += time;
        found = 1;
    }
    return found;
}

/* Returns the smallest quota of the process's groups, in percent of a processor; 0: there is none. */
static double prof__cgroup_quota(void)
{
    double least = 0;
    char text[64], *end;
    for (int i = 0; i < prof__cgroup.count; ++i) {
        const prof__cgroup_level *level = &prof__cgroup.levels[i];
        if (!prof__system_reread(level->quota, text, sizeof text)) continue;
        double quota = (double)strtoll(text, &end, 10), period;
        if (end == text || quota <= 0) continue; /* "max", -1 */
        if (level->period >= 0 && !prof__system_reread(level->period, text, sizeof text)) continue;
        period = (double)strtoll(level->period >= 0 ? text : end, NULL, 10);
        if (period > 0 && (least <= 0 || quota / period * 100 < least)) least = quota / period * 100;
    }
    return least;
}

/* Returns the smallest limit of memory of the process's groups, in bytes; 0: there is none. */
static uint64_t prof__cgroup_memory_limit(void)
{
    uint64_t least = 0;
    char text[64], *end;
    for (int i = 0; i < prof__cgroup.count; ++i) {
        if (!prof__system_reread(prof__cgroup.levels[i].limit, text, sizeof text)) continue;
        uint64_t limit = strtoull(text, &end, 10);
        if (end == text || limit >> 60) continue; /* "max", or what version 1 has instead */
        if (!least || limit < least) least = limit;
    }
    return least;
}
#endif

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

#ifdef PROF__SYSTEM_LINUX
/* Finds the files that are mapped at the addresses of the faults, in a text such as that of /proc/self/maps, which it
   changes. Under the state's lock. */
static void prof__faults_name(char *maps)
{
    char *line, *next, *end, *path;
    for (line = maps; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        uint64_t from = strtoull(line, &end, 16), to = *end == '-' ? strtoull(end + 1, &end, 16) : 0;
        path = strchr(end, '/');
        for (size_t i = 0; path && i < prof__system.fault_count; ++i)
            if (prof__system.fault[i].address >= from && prof__system.fault[i].address < to)
                prof__system.fault[i].file = prof__meta_string(prof__system.session, path);
    }
}

/* Records the faults that were found. What the system is asked for, only in the sandbox of the start. */
static void prof__faults_flush(void)
{
    uint64_t words[PROF__FAULTS * PROF__FAULT_WORDS], base = prof__system.fault[0].ns;
    char *maps = prof__system.fault_count && prof__system_may() ? prof__system_read_all("/proc/self/maps") : NULL;
    size_t count = 0;
    if (maps) {
        uint32_t write_lock = prof__state_lock();
        if (prof__state.session == prof__system.session) prof__faults_name(maps);
        prof__state_unlock(write_lock);
        free(maps);
    }
    for (size_t i = 1; i < prof__system.fault_count; ++i)
        if (prof__system.fault[i].ns < base) base = prof__system.fault[i].ns;
    for (size_t i = 0; i < prof__system.fault_count; ++i) {
        const prof__fault *fault = &prof__system.fault[i];
        words[count++] = prof__delay_word(fault->ns - base, fault->thread);
        words[count++] = fault->address;
        words[count++] = fault->file;
    }
    if (count) prof__system_write(PROF__DEVICE_FAULTS, base, PROF_VALUE_NONE, words, count);
    prof__system.fault_count = 0;
}

static void prof__fault_put(uint64_t ns, uint32_t thread, uint64_t address)
{
    if (prof__system.fault_count == PROF__FAULTS) prof__faults_flush();
    prof__fault *fault = &prof__system.fault[prof__system.fault_count++];
    fault->ns = ns;
    fault->thread = thread;
    fault->address = address;
    fault->file = 0;
}
#endif

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

#ifdef PROF__SYSTEM_LINUX
static int prof__switches_write(uint64_t detail, uint64_t ns, const uint64_t *words, uint64_t count)
{
    detail |= prof__system.events_written << 40;
    int written = prof__system_write(detail << 8 | PROF__DEVICE_SWITCHES, ns, PROF_VALUE_NONE, words, count);
    prof__system.events_written += (uint64_t)written;
    return written;
}

/* Records a batch. If that fails, the next batch begins with how many switches are missing. */
static void prof__batch_flush(prof__ring *ring)
{
    prof__batch *batch = &ring->batch;
    if (!batch->count) return;
    if (!prof__switches_write(ring->processor | (uint64_t)PROF__SWITCHES_OF << 32, batch->base, batch->words,
                              batch->count))
        ring->untold += batch->told + batch->count - (batch->told != 0);
    batch->count = 0;
    batch->told = 0;
}

static void prof__batch_put(prof__ring *ring, uint64_t ns, uint32_t thread, unsigned what)
{
    prof__batch *batch = &ring->batch;
    if (batch->count && (batch->count == PROF__SWITCH_BATCH || ns - batch->last >= PROF__SWITCH_SPAN)) {
        if (ns < batch->last) ns = batch->last;
        if (batch->count == PROF__SWITCH_BATCH || ns - batch->last >= PROF__SWITCH_SPAN) prof__batch_flush(ring);
    }
    if (!batch->count) batch->base = batch->last = ns;
    if (!batch->count && ring->untold) {
        batch->told = ring->untold;
        ring->untold = 0;
        uint64_t most = PROF__SWITCH_THREADS - 1;
        batch->words[batch->count++] = prof__switch_word(0, batch->told < most ? batch->told : most, PROF__SWITCH_LOST);
    }
    batch->words[batch->count++] = prof__switch_word(ns - batch->last, thread & (PROF__SWITCH_THREADS - 1), what);
    batch->last = ns;
}

/* The kernel's records: words of 64 bits, of which the first has type, flags and bytes. */
#define PROF__PERF_LOST 2u
#define PROF__PERF_EXIT 4u
#define PROF__PERF_FORK 7u
#define PROF__PERF_SAMPLE 9u
#define PROF__PERF_SWITCH 14u
#define PROF__PERF_OUT (1u << 13)
#define PROF__PERF_PREEMPTED (1u << 14)

typedef struct prof__perf_head {
    uint32_t type;
    uint16_t flags, bytes;
} prof__perf_head;

/* Looks how far the kernel has written a ring. */
static void prof__ring_look(prof__ring *ring)
{
    if (ring->map) ring->head = PROF__ACQUIRE((uint64_t *)(void *)(ring->map + PROF__PERF_HEAD));
}

/* Tells the kernel how far a ring was read. */
static void prof__ring_done(prof__ring *ring)
{
    PROF__RELEASE((uint64_t *)(void *)(ring->map + PROF__PERF_HEAD) + 1, ring->tail);
}

static uint64_t prof__ring_word(const prof__ring *ring, uint64_t at)
{
    uint64_t word;
    memcpy(&word, ring->data + (at & (ring->bytes - 1)), sizeof word);
    return word;
}

/* Takes one record of a ring. */
static void prof__ring_take(prof__ring *ring, prof__perf_head head, uint64_t at)
{
    uint64_t words[5];
    uint32_t first[2], second[2]; /* process and thread, or its creator's */
    uint64_t count = head.bytes / 8 < 5 ? head.bytes / 8 : 5, process = prof__system.session->process;
    memset(words, 0, sizeof words);
    for (uint64_t i = 1; i < count; ++i) words[i] = prof__ring_word(ring, at + i * 8);
    memcpy(first, words + 1, sizeof first);
    memcpy(second, words + 2, sizeof second);
    if (head.type == PROF__PERF_SWITCH && first[0] == process) {
        unsigned what = !(head.flags & PROF__PERF_OUT)         ? PROF__SWITCH_IN
                        : head.flags & PROF__PERF_PREEMPTED    ? PROF__SWITCH_READY
                        : prof__system.told                    ? PROF__SWITCH_WAITS
                                                               : PROF__SWITCH_OUT;
        prof__system.switches += what != PROF__SWITCH_IN;
        if (what == PROF__SWITCH_IN) prof__delays_meet(first[1]);
        prof__batch_put(ring, words[2], first[1], what);
    } else if ((head.type == PROF__PERF_EXIT || head.type == PROF__PERF_FORK) && first[0] == process) {
        prof__batch_put(ring, words[3], second[0],
                        head.type == PROF__PERF_EXIT ? PROF__SWITCH_ENDS : PROF__SWITCH_NEW);
    } else if (head.type == PROF__PERF_SAMPLE && first[0] == process) {
        prof__fault_put(words[2], first[1], words[3]);
    } else if (head.type == PROF__PERF_LOST) {
        prof__batch_flush(ring);
        ring->lost += words[2];
        ring->untold += words[2];
    }
}

static prof__perf_head prof__ring_record(const prof__ring *ring)
{
    prof__perf_head record;
    uint64_t word = prof__ring_word(ring, ring->tail);
    memcpy(&record, &word, sizeof record);
    return record;
}

/* Returns which word of a record has its time; 0: such records are not wanted. */
static unsigned prof__ring_time(uint32_t type)
{
    switch (type) {
    case PROF__PERF_SWITCH:
    case PROF__PERF_SAMPLE: return 2;
    case PROF__PERF_EXIT:
    case PROF__PERF_FORK: return 3;
    case PROF__PERF_LOST: return 4;
    default: return 0;
    }
}

/* Returns the time of the next record of a ring, ~0 if there is none. */
static uint64_t prof__ring_next(prof__ring *ring)
{
    while (ring->tail < ring->head) {
        prof__perf_head record = prof__ring_record(ring);
        unsigned at = prof__ring_time(record.type);
        if (at) return prof__ring_word(ring, ring->tail + at * 8);
        ring->tail = record.bytes >= 8 ? ring->tail + record.bytes : ring->head; /* the kernel writes no such record */
    }
    return ~(uint64_t)0;
}

/* Returns the ring whose next record is the earliest, or NULL if no ring has one. *next: its time, or ~0. */
static prof__ring *prof__ring_earliest(uint64_t *next)
{
    prof__ring *first = NULL;
    *next = ~(uint64_t)0;
    for (size_t i = 0; i < prof__system.switch_rings; ++i) {
        uint64_t time = prof__ring_next(&prof__system.rings[i]);
        if (time >= *next) continue;
        *next = time;
        first = &prof__system.rings[i];
    }
    return first;
}

/* How long after its time a record of the kernel may appear in a ring, in ns. */
#define PROF__PERF_LATE 50000u
/* After so many batches the image gets a time until which all is known: a ring that overwrites its beginning loses what
   is before the next such time. */
#define PROF__SWITCH_BATCHES 8

static void prof__switches_until(uint64_t until)
{
    for (size_t i = 0; i < prof__system.switch_rings; ++i) prof__batch_flush(&prof__system.rings[i]);
    prof__switches_write((uint64_t)PROF__SWITCHES_UNTIL << 32, until, NULL, 0);
}

/* Takes what the kernel has written, a part of a ring at a time, in the order of times. */
static void prof__switches_drain(void)
{
    uint64_t until = prof__monotonic() - PROF__PERF_LATE, next;
    unsigned batches = 0;
    for (size_t i = 0; i < prof__system.switch_rings; ++i) prof__ring_look(&prof__system.rings[i]);
    for (prof__ring *ring; (ring = prof__ring_earliest(&next)) != NULL;) {
        if (++batches % PROF__SWITCH_BATCHES == 0) prof__switches_until(next < until ? next : until);
        for (unsigned count = 0; count < PROF__SWITCH_BATCH && prof__ring_next(ring) != ~(uint64_t)0; ++count) {
            prof__perf_head record = prof__ring_record(ring);
            prof__ring_take(ring, record, ring->tail);
            ring->tail += record.bytes;
        }
        prof__ring_done(ring);
    }
    prof__switches_until(until);
    prof__faults_flush();
}

#define PROF__SWITCH_WINDOW 10000000000u /* ns */
/* In a window: 50,000 a second, which cost 5.5 % of a processor. Tests have less. */
static uint64_t prof__switch_most = 500000;

/* Returns 0 if the switches have been so many in the last ten seconds that recording them is too dear. */
static int prof__budget(void)
{
    uint64_t now = prof__monotonic();
    if (now - prof__system.window_from >= PROF__SWITCH_WINDOW) {
        prof__system.window_from = now;
        prof__system.window_switches = prof__system.switches;
    }
    return prof__system.switches - prof__system.window_switches <= prof__switch_most;
}

/* Ends what the kernel records into the rings from `first` up to `end`. Afterwards they hold all that there will be. */
static void prof__perf_disable(size_t first, size_t end)
{
    for (size_t i = 0; i < prof__system.event_count; ++i)
        if (prof__system.events[i].ring >= first && prof__system.events[i].ring < end)
            ioctl(prof__system.events[i].file, PROF__PERF_DISABLE, 1);
}

/* Counts the records of a ring that were lost after the last one that had room: only reading its events tells them. */
static void prof__ring_lost(size_t index)
{
    prof__ring *ring = &prof__system.rings[index];
    uint64_t all = 0, counts[2];
    for (size_t i = 0; i < prof__system.event_count; ++i) {
        if (prof__system.events[i].ring != index) continue;
        counts[1] = 0;
        if (read(prof__system.events[i].file, counts, sizeof counts) == (ssize_t)sizeof counts) all += counts[1];
    }
    if (all > ring->lost) ring->untold += all - ring->lost;
}

static void prof__switches_tell_lost(void)
{
    uint64_t now = prof__monotonic();
    for (size_t i = 0; i < prof__system.switch_rings; ++i) {
        prof__ring *ring = &prof__system.rings[i];
        prof__ring_lost(i);
        if (!ring->untold) continue;
        ring->batch.told = ring->untold;
        ring->untold = 0;
        uint64_t most = PROF__SWITCH_THREADS - 1;
        ring->batch.base = ring->batch.last = now;
        ring->batch.words[ring->batch.count++] =
            prof__switch_word(0, ring->batch.told < most ? ring->batch.told : most, PROF__SWITCH_LOST);
        prof__batch_flush(ring);
    }
}

/* Says in the metadata how many switches are missing at the end: the image has no room to count them. */
static void prof__switches_tell_missing(void)
{
    char text[PROF__SYSTEM_WHY];
    uint64_t missing = 0;
    for (size_t i = 0; i < prof__system.switch_rings; ++i) missing += prof__system.rings[i].untold;
    if (!missing) return;
    snprintf(text, sizeof text, "the last %llu begins and ends of running are missing: the buffer was full, or paused",
             (unsigned long long)missing);
    prof__beside_says(prof__system.session, "switches", text);
}

/* The last round. may: what the system is asked for only if the program has not entered a sandbox since the start. */
static void prof__switches_finish(int may)
{
    if (may) prof__perf_disable(0, prof__system.switch_rings);
    prof__switches_drain();
    if (!may) return;
    prof__switches_tell_lost();
    prof__switches_write((uint64_t)PROF__SWITCHES_UNTIL << 32, prof__monotonic(), NULL, 0);
    prof__switches_tell_missing();
}
#endif

#ifdef PROF__SYSTEM_LINUX
/* Says in the metadata what is missing of a processor. */
static void prof__processor_says(const prof__ring *ring, uint64_t processor, const char *why)
{
    char text[PROF__SYSTEM_WHY];
    snprintf(text, sizeof text, "not those of processor %llu, which was switched on later: %.120s",
             (unsigned long long)processor, why);
    prof__beside_says(prof__system.session, ring->samples ? "samples" : "switches", text);
}

/* Records that switches of a processor may be missing so far. */
static void prof__processor_begins(prof__ring *ring)
{
    uint64_t word = prof__switch_word(0, 0, PROF__SWITCH_LOST);
    prof__switches_write(ring->processor | (uint64_t)PROF__SWITCHES_OF << 32, prof__monotonic(), &word, 1);
}

/* Makes a ring for a processor that is on now. The calling thread is prof's. Returns 0, or errno; *what: the call that
   failed. */
static int prof__processor_open(size_t index, const char **what)
{
    prof__ring *ring = &prof__system.rings[index];
    int error = prof__perf_ring(ring, ring->bytes, what);
    if (error) return error;
    if (!prof__perf_keep(ring->file, index)) {
        prof__perf_unmap(ring);
        ring->file = -1;
        return ENOMEM;
    }
    prof__perf_faults((uint32_t)prof__thread_id(), index);
    prof__perf_threads(index, index + 1);
    if (!ring->samples) prof__processor_begins(ring);
    return 0;
}

/* Looks which processors have been switched on, and makes rings for them. Returns 1 if there are new ones. */
static int prof__processors_round(void)
{
    char why[PROF__SYSTEM_WHY];
    const char *what = "";
    uint64_t last;
    int found = 0;
    if (!prof__system_may() || !prof__perf_processors()) return 0;
    prof__system_in_list(prof__system.processors, 0, &last);
    if (last >= prof__system.most_processors)
        prof__processor_says(prof__system.rings, last, "the machine did not have it at the start");
    for (size_t i = 0; i < prof__system.ring_count; ++i) {
        prof__ring *ring = &prof__system.rings[i];
        if (ring->map || !prof__perf_is_on(ring->processor)) continue;
        int error = prof__processor_open(i, &what);
        found |= !error;
        if (!error || error == ENODEV) continue;
        prof__perf_why(what, error, why);
        prof__processor_says(ring, ring->processor, why);
    }
    return found;
}
#endif

#ifdef PROF__SYSTEM_LINUX
/* A loaded part that has code, while the loader's list is read. */
typedef struct prof__found_module {
    uint64_t start, end, offset;
    char path[512], build[2 * PROF__MAX_BUILD_ID + 1];
} prof__found_module;

typedef struct prof__found_modules {
    prof__found_module *list;
    size_t count, room;
    int may, first; /* may: it may ask the system for paths; first: of the loader's list, which is the program */
    int missing;
} prof__found_modules;

/* What a newer dl_phdr_info has besides. */
typedef struct prof__loads {
    prof__loaded loaded;
    unsigned long long counts[2];
} prof__loads;

/* Tells how many modules the loader has loaded and unloaded so far, and ends with the first one of its list. */
static int prof__loads_visit(const prof__loaded *loaded, size_t size, void *user)
{
    prof__loads all;
    if (size < sizeof all) return 1;
    memcpy(&all, loaded, sizeof all);
    memcpy(user, all.counts, sizeof all.counts);
    return 1;
}

static void prof__found_build(const prof__loaded *loaded, prof__found_module *module)
{
    const prof__segment *segments = (const prof__segment *)loaded->segments;
    prof__elf elf;
    memset(&elf, 0, sizeof elf);
    elf.big = PROF__LOW_HALF;
    for (uint16_t i = 0; i < loaded->segment_count && !*module->build; ++i)
        if (segments[i].p_type == PT_NOTE)
            prof__build_id_text(&elf, (const unsigned char *)(loaded->base + (uintptr_t)segments[i].p_vaddr),
                                (size_t)segments[i].p_memsz, segments[i].p_align == 8 ? 8 : 4, module->build);
}

/* The loader calls this for each module, under a lock of its own: so it is not unloaded meanwhile. */
static int prof__found_visit(const prof__loaded *loaded, size_t size, void *user)
{
    prof__found_modules *found = (prof__found_modules *)user;
    const prof__segment *segments = (const prof__segment *)loaded->segments;
    const char *name = loaded->name ? loaded->name : "";
    int first = found->first;
    (void)size;
    found->first = 0;
    if (!found->may && (first || *name != '/')) return 0; /* it is known, or cannot be named */
    for (uint16_t i = 0; i < loaded->segment_count; ++i) {
        if (segments[i].p_type != PT_LOAD || !(segments[i].p_flags & PF_X)) continue;
        if (found->count == found->room) {
            size_t room = found->room ? found->room * 2 : 32;
            prof__found_module *more = (prof__found_module *)realloc(found->list, room * sizeof *more);
            found->missing |= !more;
            if (!more) return 1;
            found->list = more;
            found->room = room;
        }
        prof__found_module *module = &found->list[found->count++];
        memset(module, 0, sizeof *module);
        module->start = (uint64_t)(loaded->base + (uintptr_t)segments[i].p_vaddr);
        module->end = module->start + segments[i].p_memsz;
        module->offset = segments[i].p_offset;
        prof__found_build(loaded, module);
        if (first || *name) prof__loaded_path(module->path, sizeof module->path, name);
    }
    return 0;
}

/* Adds a module to the list, in place of those that had its addresses. Returns 0 if it was there, or without memory. */
static int prof__modules_add(const prof__known_module *module)
{
    size_t kept = 0;
    for (size_t i = 0; i < prof__system.module_count; ++i)
        if (!memcmp(&prof__system.modules[i], module, sizeof *module)) return 0;
    for (size_t i = 0; i < prof__system.module_count; ++i) {
        const prof__known_module *old = &prof__system.modules[i];
        if (old->end <= module->start || old->start >= module->end) prof__system.modules[kept++] = *old;
    }
    prof__system.module_count = kept;
    if (kept == prof__system.module_room) {
        size_t room = kept ? kept * 2 : 64;
        prof__known_module *more = (prof__known_module *)realloc(prof__system.modules, room * sizeof *more);
        prof__system.modules_missing |= !more;
        if (!more) return 0;
        prof__system.modules = more;
        prof__system.module_room = room;
    }
    prof__system.modules[prof__system.module_count++] = *module;
    return 1;
}

/* Records a module, if it is new. since: CLOCK_MONOTONIC, or 0. Under the state's lock. */
static void prof__modules_meet(const prof__found_module *found, uint64_t since)
{
    prof__session *s = prof__system.session;
    prof__known_module module;
    memset(&module, 0, sizeof module);
    module.start = found->start;
    module.end = found->end;
    module.offset = found->offset;
    module.path = prof__meta_string(s, found->path);
    module.build = prof__meta_string(s, found->build);
    if (!prof__modules_add(&module)) return;
    uint64_t words[PROF__MODULE_WORDS - 1] = {module.start, module.end, module.offset, since,
                                              (uint64_t)module.build << 32 | module.path};
    if (!prof__meta_intern(s, PROF__META_MODULE, words, sizeof words, &prof__system.module_records))
        prof__system.modules_missing = 1;
}

/* Records the modules that are new. may: 1: the system may be asked for their paths. */
static void prof__modules_list(int may, uint64_t since)
{
    prof__found_modules found;
    memset(&found, 0, sizeof found);
    found.may = may;
    found.first = 1;
    prof__loaded_each(prof__found_visit, &found);
    prof__system.modules_missing |= found.missing;
    uint32_t write_lock = prof__state_lock();
    for (size_t i = 0; i < found.count && prof__state.session == prof__system.session; ++i)
        prof__modules_meet(&found.list[i], since);
    prof__state_unlock(write_lock);
    free(found.list);
}

/* Records the modules that the program had when recording began. */
static void prof__modules_begin(void)
{
    prof__system.module_count = prof__system.module_records = 0;
    prof__system.modules_missing = 0;
    memset(prof__system.loads, 0, sizeof prof__system.loads);
    prof__loaded_each(prof__loads_visit, prof__system.loads);
    prof__modules_list(1, 0);
}

/* Records the modules that were loaded since the last look. */
static void prof__modules_look(int may)
{
    unsigned long long loads[2] = {0, 0};
    uint64_t now = prof__monotonic();
    prof__loaded_each(prof__loads_visit, loads);
    if (!memcmp(loads, prof__system.loads, sizeof loads)) return;
    memcpy(prof__system.loads, loads, sizeof loads);
    prof__modules_list(may, now);
}
#endif

#ifdef PROF__SYSTEM_LINUX
#define PROF__SAMPLES_STANDARD 500 /* a second */

/* Returns the time between two samples of a thread, in ns of its running time; 0: they are not asked for. It is 4.5 %
   longer than the rate says, so that a program with rounds of a millisecond is not met at the same place of each. */
static uint64_t prof__sample_period(const prof_config *config)
{
    int rate = config->samples > 1 ? config->samples : config->samples || config->system ? PROF__SAMPLES_STANDARD : 0;
    return rate ? 1045100000u / (uint64_t)rate : 0;
}

#define PROF__SAMPLE_BYTES (PROF__SAMPLE_WORDS * 8 - 1) /* and a zero */
#define PROF__SAMPLE_BOUND ((PROF__SAMPLE_DEPTH + 4) * 10) /* bytes of one sample, at most */

/* A sample as the kernel tells it, its frames from the outermost one on. */
typedef struct prof__sample {
    uint64_t ns;
    uint32_t thread, count;
    uint64_t frames[PROF__SAMPLE_DEPTH];
} prof__sample;

/* Samples of one processor that are to become an EVENT. */
typedef struct prof__sample_batch {
    prof__ring *ring;
    uint64_t base;
    size_t size, count;
    prof__sample last;
    uint64_t words[PROF__SAMPLE_WORDS + (PROF__SAMPLE_BOUND + 7) / 8];
} prof__sample_batch;

static uint64_t prof__zigzag(uint64_t difference) { return difference << 1 ^ (0 - (difference >> 63)); }

/* Begins a batch with the period, and with what is missing. */
static void prof__samples_begin(prof__sample_batch *batch)
{
    unsigned char *bytes = (unsigned char *)batch->words, *at = bytes;
    at = prof__pack_integer(at, prof__system.period);
    at = prof__pack_integer(at, batch->ring->untold);
    at = prof__pack_integer(at, batch->ring->dropped);
    batch->size = (size_t)(at - bytes);
    batch->count = 0;
    batch->last.count = batch->last.thread = 0;
}

/* Records a batch, if it says anything. If that fails, a later batch says how many samples are missing; but while
   recording is paused, none are wanted. */
static void prof__samples_flush(prof__sample_batch *batch)
{
    prof__ring *ring = batch->ring;
    if (!batch->count && !ring->untold && !ring->dropped) return;
    memset((char *)batch->words + batch->size, 0, 8);
    if (!batch->count) batch->base = prof__monotonic();
    if (prof__system_write((uint64_t)ring->processor << 8 | PROF__DEVICE_SAMPLES, batch->base, PROF_VALUE_STRING,
                           batch->words, batch->size / 8 + 1))
        ring->untold = ring->dropped = 0;
    else if (!PROF__LOAD(&prof__state.paused) && !PROF__HELD())
        ring->dropped += batch->count;
    prof__samples_begin(batch);
}

/* Packs a sample behind those of the batch. Returns the bytes that the batch has then. */
static size_t prof__sample_pack(const prof__sample_batch *batch, const prof__sample *sample, unsigned char *at)
{
    const prof__sample *last = &batch->last;
    const unsigned char *from = at;
    uint64_t ns = batch->count ? last->ns : sample->ns, outer;
    uint32_t shared = 0;
    while (shared < sample->count && shared < last->count && sample->frames[shared] == last->frames[shared]) ++shared;
    at = prof__pack_integer(at, sample->count);
    at = prof__pack_integer(at, shared);
    at = prof__pack_integer(at, prof__zigzag((uint64_t)sample->thread - last->thread));
    at = prof__pack_integer(at, sample->ns > ns ? sample->ns - ns : 0);
    outer = shared ? sample->frames[shared - 1] : 0;
    for (uint32_t i = shared; i < sample->count; outer = sample->frames[i++])
        at = prof__pack_integer(at, prof__zigzag(sample->frames[i] - outer));
    return batch->size + (size_t)(at - from);
}

static void prof__sample_put(prof__sample_batch *batch, prof__sample *sample)
{
    unsigned char *bytes = (unsigned char *)batch->words;
    size_t size = prof__sample_pack(batch, sample, bytes + batch->size);
    if (size > PROF__SAMPLE_BYTES && batch->count) {
        prof__samples_flush(batch);
        size = prof__sample_pack(batch, sample, bytes + batch->size);
    }
    while (size > PROF__SAMPLE_BYTES) { /* far and random addresses: keeps the innermost frames */
        uint32_t less = sample->count / 2;
        sample->count -= less;
        memmove(sample->frames, sample->frames + less, sample->count * sizeof *sample->frames);
        size = prof__sample_pack(batch, sample, bytes + batch->size);
    }
    if (!batch->count) batch->base = sample->ns;
    if (batch->count && sample->ns < batch->last.ns) sample->ns = batch->last.ns;
    batch->size = size;
    batch->last = *sample;
    ++batch->count;
}

#define PROF__PERF_THROTTLE 5u
#define PROF__PERF_FAR ((uint64_t)1 << 57) /* no program has addresses from here on */

/* Takes one record of a ring. */
static void prof__sample_take(prof__sample_batch *batch, prof__perf_head head)
{
    prof__ring *ring = batch->ring;
    uint64_t frames[PROF__SAMPLE_DEPTH], at = ring->tail, end = at + head.bytes, count;
    prof__sample sample;
    uint32_t who[2]; /* process and thread */
    if (head.type == PROF__PERF_THROTTLE) ++prof__system.held_back;
    if (head.type == PROF__PERF_LOST && head.bytes >= 24) {
        prof__samples_flush(batch);
        ring->lost += prof__ring_word(ring, at + 16);
        ring->untold += prof__ring_word(ring, at + 16);
        prof__samples_begin(batch);
    }
    if (head.type != PROF__PERF_SAMPLE || head.bytes < 40) return;
    uint64_t word = prof__ring_word(ring, at + 8);
    memcpy(who, &word, sizeof who);
    sample.thread = who[1];
    sample.ns = prof__ring_word(ring, at + 16);
    sample.count = 0;
    count = prof__ring_word(ring, at + 24);
    for (at += 32; at + 8 <= end && count && sample.count < PROF__SAMPLE_DEPTH; at += 8, --count) {
        word = prof__ring_word(ring, at);
        if (word >= (uint64_t)-4095) continue; /* says whose frames follow */
        if (!word || word >= PROF__PERF_FAR) break; /* code without frame pointers */
        frames[sample.count++] = word;
    }
    for (uint32_t i = 0; i < sample.count; ++i) sample.frames[i] = frames[sample.count - 1 - i];
    if (sample.count && who[0] == prof__system.session->process) prof__sample_put(batch, &sample);
}

/* Takes what the kernel has written, a ring at a time. */
static void prof__samples_drain(void)
{
    prof__sample_batch batch;
    for (size_t i = prof__system.switch_rings; i < prof__system.ring_count; ++i) {
        prof__ring *ring = batch.ring = &prof__system.rings[i];
        prof__samples_begin(&batch);
        prof__ring_look(ring);
        while (ring->tail < ring->head) {
            prof__perf_head head = prof__ring_record(ring);
            if (head.bytes < 8) head.bytes = (uint16_t)(ring->head - ring->tail); /* the kernel writes no such record */
            prof__sample_take(&batch, head);
            ring->tail += head.bytes;
            prof__ring_done(ring);
        }
        prof__samples_flush(&batch);
    }
}

static void prof__samples_round(void)
{
    prof__modules_look(prof__system_may());
    prof__samples_drain();
}

/* Says in the metadata what is missing, and has no place elsewhere. */
static void prof__samples_tell(void)
{
    char text[PROF__SYSTEM_WHY];
    uint64_t missing = 0;
    for (size_t i = prof__system.switch_rings; i < prof__system.ring_count; ++i)
        missing += prof__system.rings[i].untold + prof__system.rings[i].dropped;
    if (missing)
        snprintf(text, sizeof text, "the last %llu are missing: the buffer was full",
                 (unsigned long long)missing);
    else if (prof__system.held_back)
        snprintf(text, sizeof text, "the kernel held back some, %llu times: kernel.perf_event_max_sample_rate or "
                 "perf_cpu_time_max_percent is too low", (unsigned long long)prof__system.held_back);
    else if (prof__system.modules_missing)
        snprintf(text, sizeof text, "some libraries are not listed, for want of room: enlarge PROF_BUFFER");
    else
        return;
    prof__beside_says(prof__system.session, "samples", text);
}

/* The last round. may: see prof__switches_finish(). */
static void prof__samples_finish(int may)
{
    if (may) prof__perf_disable(prof__system.switch_rings, prof__system.ring_count);
    prof__modules_look(may);
    prof__samples_drain();
    if (!may) return;
    for (size_t i = prof__system.switch_rings; i < prof__system.ring_count; ++i) prof__ring_lost(i);
    prof__samples_drain(); /* records what they have told */
    prof__samples_tell();
}
#endif

#ifdef PROF__SYSTEM_LINUX
#include <poll.h>

/* Says why switches are not recorded, or no longer. */
static void prof__system_says(const char *why)
{
    uint32_t write_lock = prof__state_lock();
    prof__text_copy(prof__system.why, sizeof prof__system.why, why);
    prof__state_unlock(write_lock);
    prof__beside_says(prof__system.session, "switches", why);
}

/* Sleeps until a ring is half full, or a tenth of a second. In a sandbox that the program has entered since the start,
   poll() may be forbidden: there it sleeps as all of prof's threads do, and more briefly, so that no ring overflows. */
static void prof__system_sleep(struct pollfd *files, size_t count)
{
    if (prof__sandbox() != prof__system.sandbox || poll(files, (nfds_t)count, 100) < 0)
        prof__word_wait(&prof__system.stop, 0, 20000000);
    else
        for (size_t i = 0; i + 1 < count; ++i) /* when all its threads have ended, an event is always ready */
            if (files[i].revents & (POLLHUP | POLLERR | POLLNVAL)) files[i].fd = -1;
}

/* Records the switches so far. Returns 0 if they have become too many. */
static int prof__switches_round(struct pollfd *files, size_t count)
{
    prof__switches_drain();
    prof__delays_round();
    if (prof__budget()) return 1;
    prof__switches_finish(prof__system_may());
    prof__delays_close();
    prof__system_says("recording them ended: more than 50,000 a second over ten seconds cost too much");
    for (size_t i = 0; i < prof__system.switch_rings && i < count; ++i) files[i].fd = -1;
    return 0;
}

/* Fills in the files that prof's thread waits for. switches: 0: they are not recorded, or no longer. */
static void prof__system_files(struct pollfd *files, size_t count, int switches)
{
    for (size_t i = 0; i < count; ++i) {
        files[i].fd = i < prof__system.switch_rings && !switches ? -1 : prof__system.rings[i].file;
        files[i].events = POLLIN;
    }
}

static void prof__system_run(void)
{
    struct pollfd wake, *files = (struct pollfd *)calloc(prof__system.ring_count + 1, sizeof *files);
    size_t count = files ? prof__system.ring_count : 0;
    int switches = prof__system.switch_rings != 0, samples = prof__system.switch_rings < prof__system.ring_count;
    prof_set_thread_name("prof system");
    wake.fd = prof__system.wake;
    wake.events = POLLIN;
    wake.revents = 0;
    if (!files) files = &wake;
    files[count] = wake;
    prof__system_files(files, count, switches);
    while (!PROF__ACQUIRE(&prof__system.stop)) {
        prof__counters_round(prof__system.session, 0);
        prof__system_sleep(files, count + 1);
        if (PROF__ACQUIRE(&prof__system.stop)) break;
        if ((switches || samples) && prof__processors_round()) prof__system_files(files, count, switches);
        if (switches) switches = prof__switches_round(files, count);
        if (samples) prof__samples_round();
    }
    prof__counters_round(prof__system.session, 1);
    if (switches) prof__switches_drain();
    prof__delays_round(); /* before the last switches: readings of after these say nothing */
    if (switches) prof__switches_finish(prof__system_may());
    prof__delays_close();
    if (samples) prof__samples_finish(prof__system_may());
    PROF__RELEASE(&prof__system.done, 1u);
    if (files != &wake) free(files);
}

static void *prof__system_main(void *user)
{
    (void)user;
    PROF__OWN_BEGINS(); /* for as long as the thread lives */
    prctl(PR_SET_NAME, "prof system", 0, 0, 0);
    prof__system_run();
    return NULL;
}
#endif

static int prof__system_asks(const prof_config *config)
{
    return (config->switches || config->system || config->faults ? PROF__SYSTEM_SWITCHES : 0) |
           (config->faults ? PROF__SYSTEM_FAULTS : 0) |
           (config->counters || config->system ? PROF__SYSTEM_COUNTERS : 0) |
           (config->samples || config->system ? PROF__SYSTEM_SAMPLES : 0);
}

static void prof__system_meta(prof__session *s, const char *key, const char *text) { prof__meta_pair(s, key, text); }

/* Says in the metadata why something that was asked for is not recorded. */
static void prof__system_say(prof__session *s, void (*says)(prof__session *, const char *, const char *))
{
    if (prof__system.asked & PROF__SYSTEM_SWITCHES && prof__system.why[0]) says(s, "switches", prof__system.why);
    if (prof__system.asked & PROF__SYSTEM_COUNTERS && prof__system.counters_why[0])
        says(s, "counters", prof__system.counters_why);
    if (prof__system.asked & PROF__SYSTEM_SAMPLES && prof__system.samples_why[0])
        says(s, "samples", prof__system.samples_why);
}

#ifdef PROF__SYSTEM_LINUX
#include <sys/eventfd.h>
#include <sys/utsname.h>

/* Returns 1 if the kernel says whether a thread that stops waits, or was preempted: since 4.17. */
static int prof__system_tells(void)
{
    struct utsname name;
    char *end;
    if (uname(&name)) return 0;
    long major = strtol(name.release, &end, 10), minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    return major > 4 || (major == 4 && minor >= 17);
}

/* Returns 1 if a thread sleeps. */
static int prof__system_sleeps(uint32_t thread)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/self/task/%u/stat", (unsigned)thread);
    if (!prof__system_read(path, text, sizeof text)) return 0;
    const char *name_end = strrchr(text, ')');
    return name_end && name_end[1] == ' ' && (name_end[2] == 'S' || name_end[2] == 'D' || name_end[2] == 'I');
}

/* Records which threads there are: the kernel tells nothing about a thread until its next switch. */
static void prof__system_threads(void)
{
    uint64_t words[PROF__SWITCH_BATCH], began = prof__monotonic(), last = began;
    size_t count = 0;
    for (size_t i = 0; i < prof__system.thread_count; ++i) {
        uint64_t now = prof__monotonic();
        prof__delays_meet(prof__system.threads[i]);
        unsigned what = prof__system_sleeps(prof__system.threads[i]) ? PROF__SWITCH_WAITS : PROF__SWITCH_KNOWN;
        words[count++] = prof__switch_word(now - last, prof__system.threads[i] & (PROF__SWITCH_THREADS - 1), what);
        last = now;
        if (count < PROF__SWITCH_BATCH && i + 1 < prof__system.thread_count) continue;
        prof__switches_write((uint64_t)PROF__SWITCHES_BEGIN << 32, began, words, count);
        began = last;
        count = 0;
    }
}

/* Notes why nothing is recorded that needs perf events. */
static void prof__system_none(const char *why)
{
    prof__text_copy(prof__system.why, sizeof prof__system.why, why);
    prof__text_copy(prof__system.samples_why, sizeof prof__system.samples_why, why);
}

/* Opens the events of switches and samples. Returns 0 if there are none, with the reasons in prof__system. */
static int prof__system_events(prof__session *s)
{
    int switches = prof__system.asked & PROF__SYSTEM_SWITCHES, samples = prof__system.asked & PROF__SYSTEM_SAMPLES;
    int both = switches && samples; /* then they share what an unprivileged user has */
    if (s->header->mode == PROF_STATS) {
        prof__system_none("not recorded: mode stats keeps no events");
        return 0;
    }
    prof__system.online = prof__system_open_file("/sys/devices/system/cpu", "online");
    prof__perf_processors();
    prof__system.faults = prof__system.asked & PROF__SYSTEM_FAULTS ? 1 : 0;
    if (switches) switches = prof__perf_rings(0, PROF__PERF_BYTES >> both, prof__system.why);
    prof__system.switch_rings = prof__system.ring_count;
    if (samples) samples = prof__perf_rings(1, PROF__PERF_BYTES >> 2 * both, prof__system.samples_why);
    if (!switches && !samples) return 0;
    prof__system.told = prof__system_tells();
    prof__perf_threads(0, prof__system.ring_count);
    if (switches) prof__system_threads();
    PROF__STORE(&prof__system.delays, switches);
    prof__delays_round(); /* from here on, what threads read says something */
    if (samples) prof__modules_begin();
    prof__system.window_from = prof__monotonic();
    if (switches && prof__system.faults_refused)
        prof__beside_says(s, "faults", "not recorded, or not all: the system refused to open some of their events");
    if (prof__system.refused) {
        char text[PROF__SYSTEM_WHY];
        snprintf(text, sizeof text, "not those of %llu threads that there were at the start: too many open files: "
                 "raise RLIMIT_NOFILE (ulimit -n)", (unsigned long long)prof__system.refused);
        if (switches) prof__beside_says(s, "switches", text);
        if (samples) prof__beside_says(s, "samples", text);
    }
    return 1;
}

/* Starts the thread that records. Returns 0 if the system refuses it. */
static int prof__system_thread(void)
{
    int error;
    prof__system.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    error = prof__system.wake < 0 ? errno : prof__thread_create(&prof__system.thread, prof__system_main, NULL);
    if (!error) return 1;
    prof__perf_why("a thread of prof", error, prof__system.counters_why);
    prof__system_none(prof__system.counters_why);
    return 0;
}

/* Opens what was asked for, and starts the thread. Returns 0 if nothing is recorded, with the reasons. */
static int prof__system_open(prof__session *s)
{
    int events = prof__system.asked & (PROF__SYSTEM_SWITCHES | PROF__SYSTEM_SAMPLES) && prof__system_events(s);
    int counters = prof__system.asked & PROF__SYSTEM_COUNTERS && prof__counters_open(s);
    if (prof__system.asked & PROF__SYSTEM_COUNTERS && !counters)
        prof__text_copy(prof__system.counters_why, sizeof prof__system.counters_why, "not recorded: no memory");
    return (events || counters) && prof__system_thread();
}

/* Does the work of prof__system_end(), under prof__system.ending. */
static int prof__system_end_locked(int waits)
{
    uint64_t one = 1;
    if (!PROF__ACQUIRE(&prof__system.running)) return 1;
    PROF__ERRNO_SAVE();
    /* the thread looks ten times a second, even if this fails */
    if (!PROF__LOAD(&prof__system.stop)) {
        PROF__RELEASE(&prof__system.stop, 1u);
        prof__word_wake(&prof__system.stop);
        if (write(prof__system.wake, &one, sizeof one) < 0) one = 0;
    }
    int good = waits || PROF__ACQUIRE(&prof__system.done);
    if (good) {
        pthread_join(prof__system.thread, NULL);
        prof__perf_close(0);
        prof__counters_close();
        prof__counters_free();
        PROF__STORE(&prof__system.running, 0);
    }
    PROF__ERRNO_RESTORE();
    return good;
}

/* Has what is left recorded, and ends the thread. Returns 0 if that takes longer, and the caller, the service, does not
   wait: a control function that has the lock may wait for the service to make room. */
static int prof__system_end(int waits)
{
    if (waits)
        prof__lock(&prof__system.ending);
    else if (!prof__lock_take(&prof__system.ending, 0))
        return 0;
    int good = prof__system_end_locked(waits);
    prof__unlock(&prof__system.ending);
    return good;
}

static void prof__system_begin(prof__session *s, const prof_config *config)
{
    PROF__ERRNO_SAVE();
    prof__system_end(1); /* of a session that ended while it began */
    prof__counters_free(); /* of the parent of this child */
    prof__system.session = s;
    prof__system.asked = prof__system_asks(config);
    prof__system.period = prof__sample_period(config);
    prof__system.why[0] = prof__system.counters_why[0] = prof__system.samples_why[0] = 0;
    prof__system.stop = prof__system.done = 0;
    prof__system.events_written = prof__system.switches = prof__system.window_switches = prof__system.refused = 0;
    prof__system.held_back = prof__system.faults_refused = 0;
    prof__system.fault_count = 0;
    prof__system.sandbox = prof__sandbox();
    prof__system.wake = prof__system.online = -1;
    prof__system.processors[0] = 0;
    free(prof__system.rings);
    prof__system.rings = NULL;
    if (prof__system_open(s)) {
        PROF__RELEASE(&prof__system.running, 1);
    } else {
        prof__delays_close();
        prof__perf_close(0);
        prof__counters_close();
        prof__counters_free();
    }
    prof__system_say(s, prof__beside_says);
    PROF__ERRNO_RESTORE();
}

static void prof__system_child(void)
{
    static const char why[] = "not recorded: in a child of fork() prof has no thread for it";
    prof__timed_child();
    prof__system.ending = 0;
    if (!__atomic_exchange_n(&prof__system.running, 0, __ATOMIC_ACQ_REL)) return;
    PROF__ERRNO_SAVE();
    prof__delays_close();
    prof__perf_close(1);
    prof__counters_close();
    prof__system_none(why);
    prof__text_copy(prof__system.counters_why, sizeof prof__system.counters_why, why);
    PROF__ERRNO_RESTORE();
}
#else
#ifdef _WIN32
#define PROF__SYSTEM_NONE "not recorded: on Windows prof_system.h records nothing yet"
#elif defined(__APPLE__)
#define PROF__SYSTEM_NONE "not recorded: on macOS prof_system.h records nothing yet"
#elif defined(__linux__) && defined(PROF_NO_THREAD)
#define PROF__SYSTEM_NONE "not recorded: needs a thread, which PROF_NO_THREAD leaves out"
#else
#define PROF__SYSTEM_NONE "not recorded: on this system prof_system.h records nothing: it needs Linux"
#endif
static void prof__system_begin(prof__session *s, const prof_config *config)
{
    prof__system.asked = prof__system_asks(config);
    prof__system.session = s;
    prof__text_copy(prof__system.why, sizeof prof__system.why, PROF__SYSTEM_NONE);
    prof__text_copy(prof__system.counters_why, sizeof prof__system.counters_why, PROF__SYSTEM_NONE);
    prof__text_copy(prof__system.samples_why, sizeof prof__system.samples_why, PROF__SYSTEM_NONE);
    prof__system_say(s, prof__beside_says);
}
static int prof__system_end(int waits) { return (void)waits, 1; }
static void prof__system_child(void)
{
#ifdef PROF__SCOPES_TIMED
    prof__timed_child();
#endif
}
#endif

static void prof__system_child_image(prof__session *s)
{
    if (prof__system.asked && prof__system.session == s) prof__system_say(s, prof__system_meta);
}

PROF_DEF prof_status prof_system_status(void)
{
    char why[PROF__SYSTEM_WHY] = "", counters_why[PROF__SYSTEM_WHY] = "", samples_why[PROF__SYSTEM_WHY] = "";
    uint32_t write_lock = prof__state_lock();
    int runs = prof__state.running && prof__system.asked &&
               (prof__state.session ? prof__state.session : prof__state.inherited) == prof__system.session;
    if (prof__system.asked & PROF__SYSTEM_SWITCHES) prof__copy(why, prof__system.why, sizeof why);
    if (prof__system.asked & PROF__SYSTEM_COUNTERS) prof__copy(counters_why, prof__system.counters_why, sizeof why);
    if (prof__system.asked & PROF__SYSTEM_SAMPLES) prof__copy(samples_why, prof__system.samples_why, sizeof why);
    prof__state_unlock(write_lock);
    if (!runs)
        return prof__fail(PROF_INVALID_STATE, "prof_system_status: no session that asks for switches, samples or "
                                              "counters runs");
    if (why[0]) return prof__fail(PROF_UNSUPPORTED, "switches: %s", why);
    if (samples_why[0]) return prof__fail(PROF_UNSUPPORTED, "samples: %s", samples_why);
    return counters_why[0] ? prof__fail(PROF_UNSUPPORTED, "counters: %s", counters_why) : PROF_OK;
}

static const prof__beside prof__system_table = {prof__system_begin, prof__system_end, prof__delays_woken,
                                                prof__system_child, prof__system_child_image};
PROF__AT_START(101, prof__system_comes);
static void prof__system_comes(void) { prof__beside_now = &prof__system_table; }

/* Ends the thread at exit and at an unload, because its code may be unloaded next. */
PROF__AT_END(PROF__LAST, prof__system_leaves);
static void prof__system_leaves(void)
{
#ifdef PROF__SYSTEM_LINUX
    if (!prof__lock_try(&prof__system.ending)) return; /* exit() in a signal handler that interrupted prof_stop() */
    prof__system_end_locked(1);
    prof__unlock(&prof__system.ending);
#endif
#if defined(PROF__SYSTEM_LINUX) && defined(PROF__SHARED)
    if (prof__exits) return; /* other threads may still record */
    prof__timed_end_all();
    free(prof__system.rings);
    free(prof__system.events);
    free(prof__system.threads);
    free(prof__system.modules);
    memset(&prof__system, 0, sizeof prof__system);
#endif
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#ifdef PROF__WRAPS_MALLOC
#undef malloc
#undef calloc
#undef realloc
#undef free
#endif
#endif /* PROF_IMPLEMENTATION */

#pragma pack(pop)

/* This software is available under two licences: choose the one you prefer.

ALTERNATIVE A - MIT No Attribution (MIT-0)

Copyright 2026 the prof authors

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

ALTERNATIVE B - public domain (www.unlicense.org)

This is free and unencumbered software released into the public domain.

Anyone is free to copy, modify, publish, use, compile, sell, or distribute this software, either in source code form or
as a compiled binary, for any purpose, commercial or non-commercial, and by any means.

In jurisdictions that recognize copyright laws, the author or authors of this software dedicate any and all copyright
interest in the software to the public domain. We make this dedication for the benefit of the public at large and to the
detriment of our heirs and successors. We intend this dedication to be an overt act of relinquishment in perpetuity of
all present and future rights to this software under copyright law.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS BE
LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT
OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE. */
