/* prof.h - v0.1 - an exact timeline of a whole program, in one header - public domain or MIT-0
                   assembled from src/: change it there, see CONTRIBUTING.md
                   depends on nothing but libc; the licence is at the end of this file

QUICK START

    #define PROF_IMPLEMENTATION            // in exactly one file of the program, C or C++
    #include "prof_chrome.h"               // includes prof.h and adds the writer of .json

    int main(void)
    {
        prof_config config = {0};          // zero is the default everywhere
        config.output = "trace.json";      // or .prof, .csv, .txt
        prof_start(&config);
        for (int i = 0; i < 100; ++i) {
            PROFILE_SCOPE("tick");         // ends on every way out of the block
            PROFILE_ARG_I("i", i);
        }
        return (int)prof_stop();           // writes trace.json: drop it into ui.perfetto.dev
    }

Or write only the scopes, and run `PROF_OUTPUT=trace.json ./program`.

WHAT IT COSTS                              (machine, date, commands and all other figures: BENCHMARKS.md)

    a scope, recording                     1.06 to 1.08 times two clock reads, into memory and into a file mapping alike
    an integer argument                    3 ns more
    a scope whose category or level is off, or while nothing records      less than 0.5 ns
    a scope compiled with PROF_ENABLE=0    nothing: the object file is the same, byte for byte
    memory for a scope                     16 bytes, in a buffer of fixed size
    code for a scope, gcc -O2              about 60 bytes, and a call site record of 64

TABLE OF CONTENTS                          (search for the tag)

    >>options   compile-time options           >>read      a trace as tracks of balanced events
    >>manual    how it behaves, and why        >>reports   summary, CSV, statistics
    >>types     status, configuration          >>markup    the PROFILE_ macros
    >>control   start, stop, pause, save       >>devices   time lines with clocks of their own
                                               >>objects   domains, tasks, frames, counters made at run time

    Implementation: >>image >>platform >>copies >>errors >>clock >>bridge >>meta >>schedule >>ring >>writer >>out >>pack
                    >>memory >>session >>objects >>fork >>device >>stream >>service >>snapshot >>crash >>autostart
                    >>symbols >>reader >>last >>statistics >>allocations >>locks >>summary >>csv >>follow >>save
                    >>instrument >>malloc

COMPILE-TIME OPTIONS                                                                                       >>options

    Set in every file (a file may differ from the others):
    PROF_ENABLE            1        0 removes every trace of prof from the file
    PROF_CATEGORY          ""       category of the macros that name none; may be redefined between uses: #undef it
                                    first, also before the #define of each file of a unity build
    PROF_SITE_LEVEL        1        level of the macros that name none; may be redefined between uses
    PROF_MAX_LEVEL         255      call sites above it compile to nothing
    PROF_UNIQUE            __COUNTER__, or __LINE__ where there is none: makes local names unique
    PROF_DEF               visibility("default"): put before declarations, for example to export from a DLL;
                                    not static
    PROF_STATIC            -        a recorder for this program or shared library alone: set it in all its files. See
                                    shared libraries below

    Set in the file with PROF_IMPLEMENTATION:
    PROF_CHUNK_SIZE        16384    bytes that a thread takes from the ring at a time; a power of two, 1024 to 1048576.
                                    A small buffer has smaller ones, so that it has eight
    PROF_MAX_TEXT          1000     bytes of a run-time string that are kept, and at most a quarter of a chunk; longer
                                    ones are cut and marked
    PROF_VSNPRINTF         vsnprintf   for the _F macros; for example stbsp_vsnprintf
    PROF_NO_AUTOSTART      -        leaves out what PROF_OUTPUT, PROF_SAVE, PROF_CRASH_REPORT, PROF_BRIDGE and
                                    PROF_SERVER start
    PROF_AUTOSTART         -        with PROF_STATIC: leaves it in
    PROF_INSTRUMENT_FUNCTIONS  -    adds the hooks of gcc's and clang's -finstrument-functions, see below
    PROF_INSTRUMENT_MAX    16384    functions that the hooks tell apart; further ones share one name
    PROF_INSTRUMENT_DEPTH  1024     calls inside one another on a thread, 24 bytes each; deeper ones are lost, counted
    PROF_WRAP_MALLOC       -        marks malloc() and its kind: the whole process's memory is recorded, see below
    PROF_NO_READER         -        records only: leaves out what reads and reports, half of the code (of a small program
                                    107 of 225 KB, -Os). Outputs and saves are .prof files, for the tool and programs
                                    with a reader. Other outputs, statistics, save and functions that take a trace fail
                                    with PROF_UNSUPPORTED; of the other headers only prof_bridge.h compiles
    PROF_FREESTANDING      -        no libc, see below
    PROF_WITH_ITT          -        VTune, Nsight and tracers of user-level probes see scopes, marks, counters and so
    PROF_WITH_NVTX         -        on at the same time: prof_bridge.h, which is included only then, has the manual
    PROF_WITH_SDT          -

MANUAL                                                                                                      >>manual

    Threads. Each has its own chunk of the buffer and writes there without a lock, without an atomic read-modify-write,
    without a system call. It needs no registration, and may come and go: what an ended thread left of its chunk serves
    the next. There should be more chunks than threads that live at the same time: 16 MiB hold about 900. Scopes in
    destructors of thread-specific data (pthread_key_create()) are recorded in every round of them; in a program that is
    linked to prof as a shared library, in the first three, and counted as lost after that.

    When the buffer is full, PROF_RING reuses the oldest chunk of all threads; PROF_FILL ends the recording. A scope is
    accepted only when there is room for its end, so that what is recorded is balanced. What could not be recorded is
    counted, per thread, and every report says so. Older chunks that were reused are counted as well.

    PROF_STREAM keeps everything: a background thread packs full chunks, to some 2 bytes a scope, into the file behind
    the buffer, and gives the chunks back to the writers. A writer that finds no room does not wait, unless
    config.wait_ns says how long it may: what it could not record is lost and counted. Give the buffer the size of what
    is recorded in a fifth of a second or more: 32 MiB at 10 million scopes a second. A scope costs what it costs in a
    ring; the thread takes a quarter of a processor at that rate, and 0.2 % when nothing happens. The file is whole at
    every moment. What a full disk, a limit or an error keeps out stays in the buffer and is tried again; reports name
    the reason. With max_file_size, at_limit says which end of the recording is kept. A trace of a file that goes on
    rotating may yield fewer events than its event_count: blocks that are overwritten before a cursor comes by are left
    out, and counted in lost_blocks. An output other than .prof is written by prof_stop() out of <output>.prof, which
    then goes; after a crash it is still there. The service thread sleeps between its rounds and blocks all signals, and
    what it does is on a track of its own, named "prof".

    dump_period is for the other modes and an output that is not .prof: it is rewritten that often, in one step, so that
    there is always a whole one. With .prof, and with PROF_STREAM, the file is always up to date, and dump_period does
    nothing.

    Crashes. With an output that ends in .prof the buffer is a shared mapping of that file; with others, of one beside
    it: see the end. Whatever was recorded is in it when the process dies of SIGKILL, abort() or a bug, with the scopes
    that were open; nothing has to run for that. (Not if the machine loses power: the pages are the kernel's to write.)
    prof_trace_open() reads it, also while the program is still running.
    The file takes as much of the disk as was recorded: its blocks are reserved a MiB at a time, ahead of the threads
    (PROF_STREAM: at the start; so on Linux before 5.14, and elsewhere). A buffer for which the disk has no room at the
    start is an error. If the disk becomes full later, or a quota is reached, the buffer ends there: PROF_RING goes on
    with the smaller one, for PROF_FILL it is full, prof_stop() returns PROF_IO, and reports say why.

    The last seconds. prof_save_last() writes what led to this moment. Or let prof watch for the moment: with
        config.save = "slow-%c.json"; config.save_over = "frame>16.7ms,scope:net.*>2ms";
        config.save_last = 5; config.save_every = 30;
    a frame that took longer than 16.7 ms saves the last 5 seconds, with that frame in them, at most every 30 seconds. A
    thread of prof's own reads what the others record: it finds a slow scope when that has ended, 5 ms later as a rule,
    and the recording threads do not notice (see BENCHMARKS.md). PROF_SAVE, PROF_SAVE_OVER and so on do the same for a
    program that only has scopes. The cause stands in the trace, as an instant on the
    track "prof", and as metadata, "save", also in a .txt; with it what the buffer did not hold any more of the cause or
    of save_last. save_signal and prof_save_request() save as well, as often as they are asked.

    Endless runs. PROF_STATS keeps no events but their statistics, in memory that does not grow: prof_stats() and
    prof_summary_write() of a prof_trace_live() show, at any time, everything up to now, and an output may be a .txt.
    The figures are those of a PROF_RING that had kept everything, percentiles to 0.8 %. One thread adds up to 40
    million scopes a second; when it falls behind, threads wait for it, up to 10 s, and then lose events, which is
    counted; with PROF_WAIT=0 at once. Choose that, or less than 10 s, where there are scopes inside an allocator's lock,
    which prof's thread may need to go on.
    PROF_RING_STATS does the same beside a ring: the tables of a live trace, and of an output that prof_stop() or
    dump_period writes, are of everything, the events are the newest, and "events" of the metadata says since when.
    Tables by call path, of memory and of locks, of a window, and of a .prof file know the newest events only.
    Beyond 4096 names a scope counts as "(more scopes)"; beyond 4096 scopes in one another the inner ones are not seen.

    Crash report. crash_report=1 (PROF_CRASH_REPORT=1, with or without PROF_OUTPUT) adds handlers of SIGSEGV, SIGBUS,
    SIGFPE, SIGILL and SIGABRT that say on stderr what each thread was doing, the crashed one first:
        prof: SIGSEGV in thread 1234 "worker 2": game > frame > solve (physics.c:88)
    and write the trace to output with .prof appended ("trace.json.prof"; without an output "<program>.<pid>.prof"),
    unless it is in a file anyway. Scopes whose begin is older than the buffer are not shown ("... >"). Then the signal
    happens as it would have without prof: exit status, core dump, sanitizers and your own handlers, which run after the
    report if they were there before prof_start(), or when they see fit. While the report is written nothing new is
    recorded: threads that run on would overwrite what led to the crash. There is one report for a session; if your
    handler makes the program go on, it goes on without. Signals that are ignored stay so. Threads that record get a
    stack for the handler (sigaltstack, 64 KiB) if they have none, so that overflows of their own are reported, until
    they end. prof_stop() takes the handlers away.
    Who makes a file smaller that a program has mapped kills that program, by SIGBUS when it next touches what is gone:
    do not truncate a .prof that is being recorded; remove it, or move another over it. With crash_report=1 the program
    survives: the recording ends there, stderr says so, prof_stop() returns PROF_IO, and what was cut off is lost.

    Signals. Scopes may stand in signal handlers. A handler that interrupts a macro in the few nanoseconds in which it
    writes records nothing, and that is counted; all others record on the track of the thread they interrupt. A
    siglongjmp out of a handler that interrupted such a moment leaves the thread unable to record until it calls
    prof_start() itself; other threads do not suffer. In a handler call only macros, prof_save_request(), and what
    starts, stops, sets, adds or marks an object or records for a device. All other functions, prof_fiber_switch() among
    them, are for ordinary code, and must not be left by a jump.

    Fibers. A coroutine that moves from thread to thread takes its track along: prof_fiber_switch(fiber) where it gets
    the processor, prof_fiber_switch(NULL), or to the next fiber, where it leaves it; on either side of the switch of
    stacks. Its scopes may stay open meanwhile, and end on another thread. A fiber is on one thread at a time, and
    whatever hands it on must order memory, as every scheduler's queue does. Fibers may be switched whether a session
    runs or not, and are one track in each. A switch costs three words of the buffer (during a pause none) and some 5
    ns, no lock and no reading of the clock; the first event of a fiber in a session costs a lock. A scope must end on
    the track where it began: one that is open over a switch, in the scheduler say, must end after the switch back. When
    PROF_FILL is full, scopes that are open in waiting fibers may lose their ends, which is counted. Automatic tracing
    of functions, see below, knows threads only.

    Spans. A request, a job, a task: PROFILE_SPAN_BEGIN() and PROFILE_SPAN_END() of one name and id, or
    prof_task_start() and prof_task_stop(), on any threads, in any overlap; what is a tree on one thread is a scope. An
    end belongs to the newest span of its name and id that is open. A reader matches them (prof_spans_open), so nothing
    is looked up while recording. Halves that are alone, because the other was off, is older than the buffer, or never
    came, are marked PROF_TRUNCATED_BEGIN or _END, count in no time, and the summary says how many there are. PROF_STATS
    keeps the begins of 65536 spans; of more that are open at a time the oldest count as halves, and so do their ends.

    fork(). The child goes on recording, with the configuration, level, categories and pauses as they were at the fork,
    from its first scope that is on: then an image of its own is made, of the parent's size, which takes as long as
    prof_start() (some ms for 16 MiB). Until then it costs nothing and leaves no file, so that fork() and exec(),
    system(), posix_spawn() and vfork() need nothing. Its file stands beside the parent's: trace.json, trace.<pid>.json;
    with %p in the output, what that makes. As everywhere only a .prof needs no prof_stop() or exit().
    A child that wants none calls prof_stop() before its first scope, and may then call prof_start(). If its image
    cannot be made, prof_enabled() is 0, and prof_stop() says why. The threads of PROF_STREAM, PROF_STATS, save and
    dump_period stay behind, as do crash_report and save_signal: a child is always PROF_RING or PROF_FILL. Where
    config.memory was given it records into memory of the same size. After _Fork(), or clone() without CLONE_VM, which
    tell nobody, there must be no scopes in the child: they would go into the parent's file.

    longjmp() over scopes in C leaves them without an end; the next end of a scope further out closes them, and they are
    marked PROF_TRUNCATED_END.

    Shared libraries. One recorder serves the whole process, however many copies of the implementation there are: the
    program's if it has one, else that of the library that was loaded first. All other copies hand their calls on to it.
    So a plugin or extension with a copy records in any program, next to any others (on Linux; elsewhere each copy is a
    recorder). Without a copy it records if the program is linked with -rdynamic, or both are linked to libprof.so. Call
    sites are copied into the image when first used: a plugin may be unloaded at any time when none of its scopes is
    open, and come back changed. One that records for others stays loaded until they are gone. With PROF_STATIC in all
    files of a library it has a recorder of its own, next to any others, which PROF_OUTPUT does not start, but for
    PROF_AUTOSTART; so have copies of another version of prof. If several recorders of a process are told to write one
    file, the later ones write trace.<library>.json. A scope in a library costs 8 bytes of the thread-local storage that
    the loader has little of for plugins, and the thread's first one a page or so. Call prof_stop() before you unload a
    recorder.

    Arguments. PROFILE_ARG adds to the innermost scope that this thread is recording. Where the scope around it is off
    that is another one, further out, whose argument of the same key it replaces; it is left out only if it is off
    itself, by PROF_CATEGORY and PROF_SITE_LEVEL. So where a scope has a category or level of its own, give it a handle:
        PROFILE_SCOPE_AS_C(query, "query", "sql");
        PROFILE_ARG_TO(query, "rows", rows);
    goes with that scope, or, while it is off, nowhere, and then its value is not evaluated. A handle is a prof_scope,
    which may be handed to functions that add to a scope of their callers, from any depth of other scopes, on the same
    thread or fiber, until the scope ends: what comes later is counted as unmatched. In a recursion it means the
    innermost open scope of its call site.
    PROFILE_ARGS(), PROFILE_ARGS_TO() and the macros whose names end in _ARGS take a list of PROF_ARG(key, value), whose
    keys may be made at run time; they are copied, as texts are. Of a list up to PROF_DEVICE_ARGS arguments are kept,
    and as much as fits into a quarter of a chunk. Each key takes a word, and one for each begun 8 bytes, more.

    What it took. A summary ends with what recording took of the program's time: what prof_start() has measured that a
    scope, a run-time name and a call with the hooks of -finstrument-functions cost on this machine, times what was
    recorded, what min_duration took back and, estimated, what a ring has overwritten; within a third of what programs
    are slowed down by (BENCHMARKS.md). Of several threads it is the sum. Not in it: what prof's own thread does.

    Memory. PROFILE_ALLOC and PROFILE_FREE give, for each pool, live bytes as a counter of the Chrome trace; the summary
    and prof_memory() have peaks, allocations by call site (and the scope around it) and by PROFILE_MEMORY_SCOPE, what
    was not freed, and what was freed twice. Blocks from before the trace are counted when they are freed, and in
    nothing else. A free belongs in front of the real one: behind it another thread may have the address already.
    PROFILE_FREE finds its block in any pool; one with _C only in its own, for pools whose addresses overlap. PROF_STATS
    keeps none of this, nor of locks.
    PROF_WRAP_MALLOC (Linux, glibc) marks the C library's malloc(), and so operator new and what libraries allocate, in
    the pool "malloc"; PROF_CATEGORIES=-malloc turns it off. It defines malloc(), free() and so on in the program, which
    the loader prefers to those of libraries, and calls glibc's under its own names: nothing is looked up, so that it
    works before main, in threads and after fork(). That costs 24 bytes of the buffer for each call. What prof allocates
    is left out. Not with a static glibc, nor with another allocator (tcmalloc, jemalloc); with a sanitizer, which has
    its own, it does nothing. A malloc() is listed by the scope around it.

    Locks. WAIT, ACQUIRE and RELEASE give how often and how long threads waited for a lock, and how long it was held:
    in the summary, as data (prof_locks), and as a row for each lock in the Chrome trace. An acquire counts as contended
    if another thread had the lock since its WAIT. PROFILE_MUTEX_LOCK tries first, so that a lock that is free costs one
    event.

    Accuracy. The counter is read without ordering, as every profiler does, because that is all a scope costs. Out-of-
    order processors then read it up to some 70 ns early around code that waits for its own results (memory, division);
    what leaves a scope appears in its parent. PROF_CLOCK_ORDERED waits at the end of each scope until everything before
    it has happened and subtracts what that costs by itself: a chain of multiplications of 95 ns is then recorded as 95
    instead of 33, at 1.4 (Intel) to 2.8 (AMD) times the price of a scope. It is for measuring short scopes; leave it
    off otherwise.
    Durations in nanoseconds follow CLOCK_MONOTONIC: the image holds pairs of both clocks, one for each chunk, and the
    reader draws straight lines between them. The first millisecond is right within 100 ppm once the trace is read by
    the process itself, or stopped; in the image of a process that was killed that early, and that is then read on
    another machine, the rate is the processor's own word for it.

    Sessions. One may begin later than it starts: after config.delay_ns, at a time of day (start_unix_ns), from a step
    or frame on (warmup_steps, warmup_frames: "from the second epoch on"); and end by itself (duration_ns), when its
    output is written and prof_stop() may come at any time later. Until it begins all sites are off, and cost as little;
    what begins it is a thread of prof's own, or the step. Its time counts from there. The child of a fork, which has no
    such thread, looks at the clock itself, for some 50 ns a macro until the delay is over, and goes on when the
    duration is. Outputs are called by what a run is: %p %t %h %r; prof_set_metadata() says more about it. One that is
    relative is in the directory that the program is in at the start, wherever it is at the end.

    The end. exit(), and the return from main, do what prof_stop() does if there is an output and nobody called it,
    after the program's exit handlers and destructors. What cannot be written then is said on stderr. A program that
    ends otherwise, by a signal, _exit() or exec, leaves its buffer, and what PROF_STREAM has packed. Where output is no
    .prof the buffer is a mapping of <output>.prof beside it, which goes when output is complete. The next run of that
    output finds it, and keeps it as <output>.old.prof, one at a time; PROF_OUTPUT says so on stderr. Where there is no
    place for such a file, or no room (four times the buffer should be free), the buffer is in memory, and the trace
    says "in memory only" and why. So it is where output is not a file, with config.memory, and on Windows; and the
    statistics of PROF_STATS are: those want dump_period.

    Two runs, one file. A name such as trace.json is meant to be replaced by the next run, and is, once that is
    complete. What this process has written itself stays: its second session writes trace.2.json, and so on. So does
    what another process is writing meanwhile: the second to come, which sees that by a lock (flock) of the file, writes
    trace.2.json, and PROF_OUTPUT says so on stderr. Of those with a number an older run's are replaced. A name with %p
    or %t is meant for one run alone: if there is such a file all the same (two runs in a second, a process id that came
    again) the new one is trace.1234.2.json. config.existing says otherwise. Processes that a launcher (MPI, Slurm,
    torchrun) has started would all write trace.json: they write trace.<rank>.json. prof_stop() returns PROF_IO if its
    .prof has been removed or replaced meanwhile; one that was moved is fine.

    Links and fifos. An output that is a symbolic link is the file that it leads to: that is replaced once the new one is
    complete, and the link stays (latest.json -> runs/7.json; /dev/stdout and the like are written as they are). In a
    folder where anyone may make files (/tmp: writable for all, and sticky) a link or a fifo of another user's is not
    followed, as with the kernel's fs.protected_symlinks, whose rule this is: PROF_IO, by prof_start() if it is there by
    then. A fifo has a reader when it is written, by prof_stop() for example, or that returns PROF_IO; who reads slowly
    is waited for.

    Options. prof_start() does what its config says, and reads no PROF_ variable: these are for programs that
    PROF_OUTPUT starts, or that call prof_config_from_env(). Keys of CNTK, MXNet, TensorFlow, JAX and Neuron are known
    to prof_config_set(): they set what they mean here, or change nothing if it is so here anyway, or it returns
    PROF_UNSUPPORTED and says why. `prof config --all` lists them.

    Never. prof does not print (but for what PROF_OUTPUT, crash_report and outputs that exit() writes have to say, on
    stderr), does not abort, does not change signal handlers (but for crash_report and save_signal), errno, locale or
    environment, starts no thread but the one of PROF_STREAM, PROF_STATS, save, dump_period, delay, start_unix and
    duration (and prof_server.h its own), and no macro allocates anything (but the stacks of crash_report, and what
    glibc takes for a thread's first scope when 32 of its keys were taken before prof was loaded).

    Automatic tracing of functions. Compile your files with -finstrument-functions, and the implementation, without that
    flag, with PROF_INSTRUMENT_FUNCTIONS: every call is a scope, named by the symbol tables. Filter by min_duration,
    which makes a scope about twice as dear, and keeps a short one wherever a chunk ends.

    Windows. Not there: PROF_STREAM, save_signal and crash_report (PROF_UNSUPPORTED), PROFILE_MUTEX_LOCK and
    prof_server.h. PROF_RING with a .prof output, prof_save() and prof_save_request() are.

    Freestanding. Define PROF_FREESTANDING, and, before the implementation:
        PROF_CLOCK_READ()       an expression: the counter, uint64_t; config.clock_hz is its rate
        PROF_CPU_STATE()        an expression: PROF_CPU_STATE_SIZE (1024 will do) zeroed bytes, 16-byte aligned, of this
                                processor or thread; a thread must not move between reading it and the end of a macro
        PROF_CPU_ID()           optional: its number, the trace's thread id
    prof_start() wants config.memory. No function of >>read and >>reports exists; save the bytes of config.memory, from
    the first 64-byte boundary on, and read them with prof_trace_memory() or prof_trace_open() elsewhere. Interrupt
    handlers are what signal handlers are above. Each processor has a track; call prof_fiber_switch() where the kernel
    switches threads, with interrupts off, and each thread has one. _F macros record the format unless PROF_VSNPRINTF is
    defined.
*/
#if defined(PROF_IMPLEMENTATION) && !defined(PROF_FREESTANDING)
#if defined(__linux__) && defined(_FEATURES_H) && !defined(__USE_GNU) && !defined(__cplusplus) && \
    !defined(PROF__LATE) && !defined(PROF__IMPLEMENTED)
#define PROF__LATE 1 /* a system header came first, and may have declared too little: see >>platform */
#endif
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* what the implementation needs of the system headers, under -std=c99, too */
#endif
#endif
#ifndef PROF_H
#define PROF_H

#include <stddef.h>
#include <stdint.h>

#define PROF_VERSION 100 /* major * 10000 + minor * 100 + patch */

#ifndef PROF_ENABLE
#define PROF_ENABLE 1
#endif
#ifndef PROF_CATEGORY
#define PROF_CATEGORY ""
#endif
#ifndef PROF_SITE_LEVEL
#define PROF_SITE_LEVEL 1
#endif
#ifndef PROF_MAX_LEVEL
#define PROF_MAX_LEVEL 255
#endif
#ifndef PROF_CHUNK_SIZE
#define PROF_CHUNK_SIZE 16384
#elif PROF_CHUNK_SIZE < 1024 || PROF_CHUNK_SIZE > 1048576 || (PROF_CHUNK_SIZE & (PROF_CHUNK_SIZE - 1))
#error "PROF_CHUNK_SIZE is not a power of two from 1024 to 1048576"
#endif
#ifndef PROF_MAX_TEXT
#define PROF_MAX_TEXT 1000
#endif
#ifndef PROF_UNIQUE
#if defined(__GNUC__) || defined(_MSC_VER)
#define PROF_UNIQUE __COUNTER__
#else
#define PROF_UNIQUE __LINE__
#endif
#endif
/* In a shared library the implementation is weak: so compiler and linker leave it to the loader which copy is called,
   also from inside this file, where they would take the one in front of them. */
#if defined(__ELF__) && defined(__PIC__) && !defined(__PIE__) && !defined(PROF_FREESTANDING)
#define PROF__SHARED 1
#endif
#if defined(_WIN32) || !defined(__GNUC__)
#define PROF__HIDDEN
#else
#define PROF__HIDDEN __attribute__((visibility("hidden")))
#endif
#ifndef PROF_DEF
#if defined(_WIN32) || !defined(__GNUC__)
#define PROF_DEF
#elif defined(PROF_STATIC)
#define PROF_DEF PROF__HIDDEN
#elif defined(PROF_IMPLEMENTATION) && defined(PROF__SHARED)
#define PROF_DEF __attribute__((visibility("default"), weak))
#else
#define PROF_DEF __attribute__((visibility("default")))
#endif
#endif

#if defined(__GNUC__) || defined(__TINYC__)
#define PROF__EXTENSION __extension__
#define PROF__UNUSED __attribute__((unused))
#else
#define PROF__EXTENSION
#define PROF__UNUSED
#endif
#if defined(__GNUC__)
#define PROF__UNTRACED __attribute__((no_instrument_function))
#define PROF__LIKELY(x) __builtin_expect(!!(x), 1)
#define PROF__UNLIKELY(x) __builtin_expect(!!(x), 0)
#define PROF__PRINTF(f, a) __attribute__((format(printf, f, a)))
#define PROF__COLD __attribute__((cold, noinline))
#else
#define PROF__UNTRACED
#define PROF__LIKELY(x) (x)
#define PROF__UNLIKELY(x) (x)
#define PROF__PRINTF(f, a)
#define PROF__COLD
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*-- TYPES ------------------------------------------------------------------------------------------------ >>types --*/

/* What every function that can fail returns. prof_status_text() explains a value, prof_error() the last failure of the
   calling thread with the name of the file, key or value that caused it. */
typedef enum prof_status {
    PROF_OK = 0,
    PROF_DISABLED,         /* compiled with PROF_ENABLE=0 */
    PROF_INVALID_ARGUMENT, /* unknown key, value out of range, null where it is not allowed */
    PROF_INVALID_STATE,    /* started twice, stopped before started, nothing recorded yet */
    PROF_UNSUPPORTED,      /* known, but not available on this platform or in this build */
    PROF_NO_MEMORY,
    PROF_IO,               /* open, read, write, map, rename: prof_error() has the system's words */
    PROF_CORRUPT,          /* not an image, or an image that contradicts itself */
    PROF_STATUS_COUNT
} prof_status;

typedef enum prof_mode {
    PROF_RING = 0, /* when the buffer is full the oldest chunk is reused */
    PROF_FILL,     /* when the buffer is full recording ends and losses are counted */
    PROF_STREAM,   /* a thread packs what is full into the file behind the buffer: everything is kept */
    PROF_STATS, PROF_RING_STATS /* a thread adds what is full to statistics and drops it; or leaves it in a ring, of
                                   which nothing is reused before it is in the statistics */
} prof_mode;

typedef enum prof_limit {
    PROF_LIMIT_STOP = 0, /* the oldest events stay; once the buffer is full, too, further ones are lost and counted */
    PROF_LIMIT_ROTATE    /* the newest events stay */
} prof_limit;

typedef enum prof_clock {
    PROF_CLOCK_AUTO = 0,  /* the processor's counter where it is invariant, else PROF_CLOCK_MONOTONIC */
    PROF_CLOCK_COUNTER,   /* rdtsc, cntvct, rdtime: prof_start fails where there is none that can be trusted */
    PROF_CLOCK_ORDERED,   /* the counter, read in order at scope ends: exact short scopes (see the manual) */
    PROF_CLOCK_MONOTONIC  /* clock_gettime(CLOCK_MONOTONIC), QueryPerformanceCounter */
} prof_clock;

/* Of a file that is there already when the session starts. */
typedef enum prof_existing {
    PROF_EXISTING_AUTO = 0, /* as NUMBER if the name has %p or %t, and so is meant for one run alone, or the file is
                               this process's own or another is writing it; else as REPLACE */
    PROF_EXISTING_REPLACE,  /* it is replaced once the new one is complete */
    PROF_EXISTING_NUMBER,   /* it stays: the new one is trace.2.json, .3, ..., and no two processes get the same one */
    PROF_EXISTING_REFUSE    /* it stays: prof_start() fails */
} prof_existing;

/* All zero is the default. Strings are read during prof_start only and stay the caller's. The comment of a field names
   its key for prof_config_set() and, in capitals, its environment variable; prof_config_describe() has the same as
   data. */
typedef struct prof_config {
    const char *output;       /* output PROF_OUTPUT: file written by prof_stop(); the extension picks the writer: .json
                                 .csv .txt, or .prof, which maps the buffer itself to the file, so that everything
                                 recorded survives even SIGKILL. %p is the process id, %n the program's name, %t the
                                 local time, %h the host's name, %r the rank, %% a percent sign. Where a rank is given,
                                 or known to be one of several, and the name has neither %r nor %p, it is put in front
                                 of the extension. Directories that are not there are made. One as the output, or what
                                 ends in /, is a log directory for XProf: see prof_xplane.h. Default: none, the trace
                                 stays in memory */
    size_t buffer_size;       /* buffer PROF_BUFFER: bytes, or "64M" as text; 128 KiB to 64 GiB; default 16 MiB. On Linux
                                 from 5.14 on memory and disk are taken as they are used. prof_start() fails with
                                 PROF_IO if the disk has no room for all of a .prof */
    prof_mode mode;           /* mode PROF_MODE: "ring", "fill", "stream", "stats" or "ring+stats". stream wants an
                                 output; those of stats are .txt */
    prof_clock clock;         /* clock PROF_CLOCK: "auto", "counter", "ordered" or "monotonic" */
    int level;                /* level PROF_LEVEL: call sites of a higher level are off; 1 to 255; default 2; -1, as
                                 text 0: all are off until prof_set_level(); not what devices report: no_devices */
    const char *categories;   /* categories PROF_CATEGORIES: "net,render*,-audio": see prof_category_enable */
    uint64_t min_duration_ns; /* min_duration PROF_MIN_DURATION: a scope that is shorter and had nothing inside is taken
                                 back; nanoseconds, or "2us" "1.5ms" as text; default 0, keep all */
    void *memory;             /* record here instead of in memory from the system; prof_start clears it: no thread may
                                 then still be in a macro of an earlier session there. It must stay as long as a thread
                                 lives that recorded in it. Not with a .prof output */
    size_t memory_size;       /* bytes at memory, instead of buffer_size: from 16 KiB, the first 64-byte boundary on */
    uint64_t clock_hz;        /* PROF_FREESTANDING: ticks per second of PROF_CLOCK_READ() */
    uint64_t max_file_size;   /* max_file_size PROF_MAX_FILE_SIZE: PROF_STREAM: bytes, buffer included, that the file
                                 may have: at least the buffer and 512 KiB; default 0, no limit */
    prof_limit at_limit;      /* at_limit PROF_AT_LIMIT: what happens there: "stop" or "rotate" */
    uint64_t wait_ns;         /* wait PROF_WAIT: how long a thread that needs room in the buffer sleeps for it before
                                 its events are lost; up to 10s. Default 0: PROF_STATS and PROF_RING_STATS 10 s,
                                 PROF_STREAM not at all. UINT64_MAX, as text 0: not at all */
    uint64_t dump_period_ns;  /* dump_period PROF_DUMP_PERIOD: writes output this often, and not only in prof_stop(), so
                                 that a program that is killed leaves a file at most that old; from 10ms; default 0.
                                 A .prof output and PROF_STREAM are always up to date, and don't need it. As text a
                                 number without a unit is seconds. UINT64_MAX: not, whatever dump_period says later */
    const char *save;         /* save PROF_SAVE: saves the last seconds to this file whenever one of the following asks
                                 for it, or prof_save_request(). As output, and %c counts the files: "slow-%c.json";
                                 without %c the newest replaces the one before */
    double save_last;         /* save_last PROF_SAVE_LAST: seconds; as text also "500ms"; default 10 */
    const char *save_over;    /* save_over PROF_SAVE_OVER: what must not take longer: "frame>16.7ms,scope:net.*>2ms": up
                                 to 16 of frame, frame:NAME and scope:NAME; in a NAME * and ? stand for any text and
                                 letter. Wants save */
    double save_every;        /* save_every PROF_SAVE_EVERY: seconds from one save for save_over to the next, at least;
                                 default 0, only one */
    int save_signal;          /* save_signal PROF_SAVE_SIGNAL: a signal that saves; as text also a name, "USR1". The
                                 handler there was goes on being called. Wants save */
    int crash_report;         /* crash_report PROF_CRASH_REPORT: 1: when the process dies of a bug, say on stderr what
                                 its threads were doing, and write the image to output with .prof appended: see the
                                 manual */
    uint64_t delay_ns;        /* delay PROF_DELAY: recording begins that long after prof_start(); until then, sites are
                                 off. As text with its unit, "5s"; default 0, at once. Not PROF_FREESTANDING, nor are
                                 the next two */
    uint64_t start_unix_ns;   /* start_unix PROF_START_UNIX: it begins at this Unix time, so that processes begin
                                 together; at once if that is past. Nanoseconds, or "1767225600s" as text */
    uint64_t duration_ns;     /* duration PROF_DURATION: it ends that long after it began, and output is written then;
                                 as text with its unit, "10s"; default 0: it ends with prof_stop() */
    uint64_t warmup_steps;    /* warmup_steps PROF_WARMUP_STEPS: it begins with the step after so many PROFILE_STEPs */
    uint64_t warmup_frames;   /* warmup_frames PROF_WARMUP_FRAMES: it begins with this many'th PROFILE_FRAME. One of the
                                 two. Counted is what has the name that comes first, on all threads, from the end of
                                 the delay on */
    const char *rank;         /* rank PROF_RANK: what %r is, up to 63 bytes; default: the process's number as its
                                 launcher (MPI, Slurm, torchrun, ...) has put it into the environment, else 0 */
    prof_existing existing;   /* existing PROF_EXISTING: what happens to an older file of output's name: "auto",
                                 "replace", "number" or "refuse" */
    int no_sync;              /* no_sync PROF_NO_SYNC: 1: PROFILE_SYNC and PROFILE_SCOPE_SYNC wait for nothing */
    uint32_t filter_mask;     /* filter_mask PROF_FILTER_MASK: PROFILE_SCOPE_M(name, mask) is on if it has one of these
                                 bits in its mask; as text also "0xff"; default 0, all of them */
    int no_devices;           /* no_devices PROF_NO_DEVICES: 1: what devices report is not recorded */
    const char *layout;       /* layout PROF_LAYOUT: output is this report of prof_report.h, whatever its extension:
                                 "mxnet", "json", "cntk", "cntk-detail", "domains", "histogram" or "paths"; "cntk" and a
                                 directory, "profiler/": both of CNTK's files. Default: as the extension says */
} prof_config;

/* One key of prof_config_set(). Texts are static. */
typedef struct prof_option {
    const char *key, *type; /* type: "text", "size", "choice", "number", "time", "seconds", "signal", "switch" or
                               "mask" */
    const char *values;     /* what it may be */
    const char *standard;   /* the default; "": none */
    const char *meaning;
    const char *system;     /* "", or whose key it is: "CNTK", "MXNet", "TensorFlow", "JAX", "Neuron" */
    const char *home;       /* of those: the key of ours that it sets; "": none */
    char environment[40];   /* "PROF_BUFFER"; "": none */
} prof_option;

/* A call site: one static record per macro use. What is below private_ belongs to the recorder, the rest is constant.
   In C++ the static variables of an inline function are one for all modules, which would keep a plugin with such a
   function from being unloaded; not so if their type is hidden. */
#ifdef __cplusplus
#define PROF__SITE_TYPE PROF__HIDDEN
#else
#define PROF__SITE_TYPE
#endif
typedef struct PROF__SITE_TYPE prof_site {
    uint64_t private_state;
    const char *name, *category, *file, *function;
    uint32_t line, color; /* color: 0xRRGGBB, 0 for the viewer's choice */
    uint16_t level, kind;
    uint32_t private_session, private_name;
    uint32_t unmask; /* the bits that the mask of PROFILE_SCOPE_M lacks; 0: it has all, as that of every other macro */
} prof_site;

typedef struct prof_fiber prof_fiber; /* a track of its own: see prof_fiber_create() */
#define PROF_FIBER_SIZE 512           /* bytes */

/* see >>objects */
typedef struct prof_domain prof_domain; typedef struct prof_task prof_task; typedef struct prof_frame prof_frame;
typedef struct prof_range prof_range; typedef struct prof_counter prof_counter; typedef struct prof_marker prof_marker;

typedef enum prof_mark_scope { /* what an instant is about */
    PROF_MARK_THREAD = 0,      /* its thread */
    PROF_MARK_GLOBAL,          /* all processes */
    PROF_MARK_PROCESS,
    PROF_MARK_TASK,
    PROF_MARK_MARKER,          /* the point alone */
    PROF_MARK_SCOPE_COUNT
} prof_mark_scope;

/*-- CONTROL ---------------------------------------------------------------------------------------------- >>control --
   Any thread, at any time; none of these but prof_save_request() is for signal handlers. Pauses, level, mask and
   categories belong to the session: without one PROF_INVALID_STATE, and each begins with those of its config. With
   PROF_ENABLE=0 each is the constant PROF_DISABLED (prof_enabled: 0, texts: ""), evaluates no argument and needs no
   implementation to link. */
#if PROF_ENABLE

/* Starts a session. config may be null. Discards what an earlier session left in memory.
   PROF_INVALID_STATE if one is running, which may be PROF_OUTPUT's, or has ended by itself and prof_stop() is still to
   come; of two threads that race, one starts and the other gets this. */
PROF_DEF prof_status prof_start(const prof_config *config);

/* Ends the session and writes config.output. Scopes still open end as truncated. The recorded events stay readable
   with prof_trace_live() and prof_save() until the next prof_start(). */
PROF_DEF prof_status prof_stop(void);

/* Nested: recording goes on after as many resumes as pauses; one more is PROF_INVALID_STATE. Scopes open at the pause
   get their end. */
PROF_DEF prof_status prof_pause(void);
PROF_DEF prof_status prof_resume(void);

/* 1 while a session records: runs, is not paused, has begun (delay, warm-up), and not ended by itself (duration). _at:
   and sites of this level are on, as far as the level decides. */
PROF_DEF int prof_enabled(void), prof_enabled_at(int level);

/* Sites with a level above this are off. 0 turns all sites off, 255 none. */
PROF_DEF prof_status prof_set_level(int level);

/* PROFILE_SCOPE_M sites whose mask has none of these bits are off. 0 is as in prof_config: all bits. */
PROF_DEF prof_status prof_set_filter_mask(uint32_t mask);

/* Turns on or off the categories that match pattern: a name in which * stands for any text and ? for one character.
   The last call that matches decides; "*" forgets all earlier calls. Categories nobody named are on, unless the first
   rule turns something on: then only what is named is on. Uncategorised sites have the category "". Up to 64 rules of
   up to 47 bytes; one more is PROF_NO_MEMORY. */
PROF_DEF prof_status prof_category_enable(const char *pattern, int on);

/* Sets one field of config from text. key: see prof_config. Keeps the pointer value, not a copy, where the field is a
   string. PROF_INVALID_ARGUMENT names the nearest known key, or the values that would do. */
PROF_DEF prof_status prof_config_set(prof_config *config, const char *key, const char *value);

/* Sets what PROF_ variables say, for a program that wants to be told so; prof_start() itself reads none of them. Also
   not one that looks like a misspelt key: PROF_INVALID_ARGUMENT names the variable. Not PROF_FREESTANDING. */
PROF_DEF prof_status prof_config_from_env(prof_config *config);

/* All keys, prof's own first, then those of other systems. 0 beyond the last. */
PROF_DEF int prof_config_describe(size_t index, prof_option *option);

/* Has keys that begin with prefix, and are not prof's own, handed to claim(), for example those of a device ("gpu_"):
   what it returns is what prof_config_set() returns. The longest prefix decides.
   claim null: no more. prefix: up to 31 bytes, copied; up to 16 at a time. */
PROF_DEF prof_status prof_config_claim(const char *prefix, prof_status (*claim)(void *user, const char *key, const char *value),
                                       void *user);
/* What the session is about, for whoever reads the trace: host, version, parameters. Stays for later sessions, too; one
   key, one value. Together up to 4096 bytes. Shown by summary and exporters. */
PROF_DEF prof_status prof_set_metadata(const char *key, const char *value);
PROF_DEF prof_status prof_clear_metadata(void);

/* The function that waits until a device has done what it was told, for PROFILE_SYNC() and PROFILE_SCOPE_SYNC(): they
   call it, on their thread, while they record. It may have scopes of its own. Null: none. Must stay until no thread is
   in it. */
PROF_DEF prof_status prof_set_sync(void (*sync)(void *user), void *user);

/* Writes what is recorded now to path, as its extension says (.prof: the image itself), without stopping anybody. Makes
   the directories of path. */
PROF_DEF prof_status prof_save(const char *path);

/* The same, of the last seconds only: see prof_trace_window(). A .prof file is as large as that of prof_save(), and
   opens with its window set: scopes that were open all the time began long before. */
PROF_DEF prof_status prof_save_last(const char *path, double seconds);

/* Has config.save done soon (in 10 ms or so), by another thread. Only sets a flag: signal handlers may call it.
   Requests that come faster than files can be written become one. PROF_INVALID_STATE, without a text in prof_error():
   no session with config.save is running. */
PROF_DEF prof_status prof_save_request(void);

/* Frees the memory of a stopped session. Not needed before a new prof_start or at exit. */
PROF_DEF prof_status prof_reset(void);

/* A track of its own for what takes turns on threads: a coroutine, a job, a task, a kernel's thread; see Fibers in the
   manual. name: copied, up to 63 bytes; may be null. Null without memory. */
PROF_DEF prof_fiber *prof_fiber_create(const char *name); /* not PROF_FREESTANDING */

/* The same in memory of yours: PROF_FIBER_SIZE bytes, 8-byte aligned, that stay until the fiber runs no more. */
PROF_DEF prof_fiber *prof_fiber_init(void *memory, const char *name);

/* What the calling thread records from here on belongs to this fiber, or, if it is null, to the thread's own track. */
PROF_DEF void prof_fiber_switch(prof_fiber *fiber);

/* Frees what prof_fiber_create() made, when it runs no more and is on no other thread. Null is fine. Its scopes still
   open end as truncated. Not PROF_FREESTANDING. */
PROF_DEF void prof_fiber_destroy(prof_fiber *fiber);

PROF_DEF const char *prof_status_text(prof_status status);
/* The last failure of the calling thread in one line, for example "unknown key 'bufer': did you mean 'buffer'?".
   Valid until the thread's next failing call; "" if there was none. */
PROF_DEF const char *prof_error(void);
#endif

/*-- OBJECTS ---------------------------------------------------------------------------------------------- >>objects --
   What macros cannot name in advance: names made at run time, things that live in structures of the program. A handle
   may be made and destroyed at any time, whether a session runs or not, and serves every session; its strings are
   copied. It is valid in all threads at once; only its destruction must come after its last use. What was recorded with
   it stays. Functions that create return null without memory. All others take a null handle, or a null domain, and do
   nothing, or belong to no domain. What starts, stops, sets, adds and marks is as a macro is: cheap while off, no lock,
   no allocation, fit for signal handlers. Not PROF_FREESTANDING. */
#if PROF_ENABLE

/* A category whose name is known at run time only. The same name is the same domain. Lives as long as the process. */
PROF_DEF prof_domain *prof_domain_create(const char *name);
PROF_DEF const char *prof_domain_name(const prof_domain *domain);
/* Turns the category of exactly this name on or off, as the last of the rules of prof_category_enable(), but without an
   effect on any other category. */
PROF_DEF prof_status prof_domain_enable(prof_domain *domain, int on);
/* The names of all domains, and the categories of macros and devices that the program has come by so far, on or off
   (128 of these, 4 KiB): what prof_category_enable() may turn on and off. Stores at most room of them, which stay valid.
   Returns how many there are. */
PROF_DEF size_t prof_domain_list(const char **names, size_t room);

/* A span, see PROFILE_SPAN_BEGIN(), with an id of its own: starts on one thread, may stop on another, and overlaps with
   whatever it likes. Started again before it stops it is a task within itself: a stop ends the last start. What
   overlaps in any other way is a task of its own. */
PROF_DEF prof_task *prof_task_create(prof_domain *domain, const char *name);
PROF_DEF void prof_task_start(prof_task *task);
PROF_DEF void prof_task_stop(prof_task *task);
PROF_DEF void prof_task_destroy(prof_task *task);

/* Frames with a beginning and an end, and perhaps something in between, where PROFILE_FRAME() knows only what is
   between two of them. Numbered from 1 on; not more than one of a handle at a time: a start ends what was not
   stopped. */
PROF_DEF prof_frame *prof_frame_create(prof_domain *domain, const char *name);
PROF_DEF void prof_frame_start(prof_frame *frame);
PROF_DEF void prof_frame_stop(prof_frame *frame);
PROF_DEF void prof_frame_destroy(prof_frame *frame);

/* A scope of the thread, as PROFILE_BEGIN(): stops on the thread where it started, and may overlap with others. */
PROF_DEF prof_range *prof_range_create(const char *name);
PROF_DEF void prof_range_start(prof_range *range);
PROF_DEF void prof_range_stop(prof_range *range);
PROF_DEF void prof_range_destroy(prof_range *range);

/* A number that counts whether it is being recorded or not, from 0; each change is a sample. It stays at the end of its
   range (INT64_MIN, INT64_MAX) instead of going round. One to which a _double function was applied is floating-point
   from there on; that change is not for several threads at the same time. */
PROF_DEF prof_counter *prof_counter_create(prof_domain *domain, const char *name);
PROF_DEF void prof_counter_set(prof_counter *counter, int64_t value);
PROF_DEF void prof_counter_add(prof_counter *counter, int64_t delta);
PROF_DEF void prof_counter_sub(prof_counter *counter, int64_t delta);
PROF_DEF void prof_counter_set_double(prof_counter *counter, double value);
PROF_DEF void prof_counter_add_double(prof_counter *counter, double delta);
PROF_DEF void prof_counter_destroy(prof_counter *counter);

/* An instant. */
PROF_DEF prof_marker *prof_marker_create(prof_domain *domain, const char *name);
PROF_DEF void prof_marker_mark(prof_marker *marker, prof_mark_scope scope);
PROF_DEF void prof_marker_destroy(prof_marker *marker);
#endif

/*-- READING ------------------------------------------------------------------------------------------------- >>read --
   A trace is a private, validated copy: it never changes, and any number of threads may read one, each with its own
   cursors. Only of what PROF_STREAM wrote behind the buffer it keeps no copy, but the file, open, in which cursors read
   on: what vanishes from there before they come by is left out, and counted in lost_blocks. Functions of this part and
   the next may be called from any thread at any time, but not from signal handlers. A function that fails leaves null
   (0 entries) in what it should have made: PROF_IO, the file cannot be read; PROF_CORRUPT, it is no image, or damaged;
   PROF_UNSUPPORTED, an image of another version or of the other byte order; PROF_INVALID_STATE, nothing was recorded
   yet; PROF_NO_MEMORY. With PROF_ENABLE=0 they are as those of >>control are: PROF_DISABLED, no trace, no event. */

typedef struct prof_trace prof_trace; typedef struct prof_cursor prof_cursor;
typedef struct prof_timeline prof_timeline; typedef struct prof_spans prof_spans;

/* What a call site is. Strings belong to the trace, are valid UTF-8 only if the program's were, and never null. Of each
   the first 1023 bytes are read, because every event may carry them. */
typedef struct prof_callsite {
    const char *name, *category, *file, *function;
    uint32_t line, color, level;
    uint32_t kind; /* PROF__KIND_... of the event that the site records */
    uint32_t role; /* PROF_ROLE_... */
} prof_callsite;

/* What else is known of what a call site records. */
typedef enum prof_role {
    PROF_ROLE_NONE = 0,
    PROF_ROLE_STEP,         /* a scope that is one step of a loop: its argument "step_num" counts */
    PROF_ROLE_THROUGHPUT,   /* a scope that moved so many "bytes", its argument */
    PROF_ROLE_SYNC,         /* a scope that waits for a device before it ends */
    PROF_ROLE_MARK_GLOBAL,  /* an instant that concerns all processes, */
    PROF_ROLE_MARK_PROCESS, /* this process, */
    PROF_ROLE_MARK_TASK,    /* a task, */
    PROF_ROLE_MARK_MARKER,  /* the point alone; one without a role concerns its thread */
    PROF_ROLE_TASK,         /* a span, or scope, of prof_task_create() */
    PROF_ROLE_DEVICE,       /* events of a device, whose name is the category: see >>devices */
    PROF_ROLE_FRAME,        /* a span of prof_frame_create() */
    PROF_ROLE_MEMORY,       /* a scope whose name the allocations inside go by; of ALLOC and FREE themselves */
    PROF_ROLE_LOCK,         /* of LOCK_WAIT, _ACQUIRE and _RELEASE */
    PROF_ROLE_RANGE,        /* a scope of prof_range_create() */
    PROF_ROLE_COUNT
} prof_role;

typedef enum prof_value_type {
    PROF_VALUE_NONE = 0,
    PROF_VALUE_INT,
    PROF_VALUE_UINT,
    PROF_VALUE_DOUBLE,
    PROF_VALUE_BOOL,
    PROF_VALUE_POINTER,
    PROF_VALUE_STRING
} prof_value_type;

typedef struct prof_value {
    prof_value_type type;
    int cut; /* 1: the string was longer than PROF_MAX_TEXT and its end is missing */
    union {
        int64_t i;          /* INT */
        uint64_t u;         /* UINT, BOOL, POINTER */
        double d;           /* DOUBLE */
        const char *string; /* STRING, terminated, valid until the cursor moves */
    } as;
} prof_value;

typedef struct prof_arg {
    const char *key; /* valid until the cursor moves */
    prof_value value;
} prof_arg; typedef uint64_t prof_scope; /* see PROFILE_SCOPE_AS(); 0: it is off */

typedef enum prof_event_type {
    PROF_EVENT_SCOPE,   /* duration_ns, depth, flags, args */
    PROF_EVENT_MARK,    /* an instant; args */
    PROF_EVENT_COUNTER, /* value */
    PROF_EVENT_FRAME,   /* the boundary between two frames; duration_ns: since the boundary before, 0 for the first */
    PROF_EVENT_LOST,    /* value.as.u scopes or other events could not be recorded before this point */
    /* Below: instants of their thread's track that carry an object. Images hold these numbers: they never change. */
    PROF_EVENT_SPAN_BEGIN,   /* object: the span's id, by which begin and end, on whatever threads, belong together.
                                Also of a scope that ended after one around it (begin a, begin b, end a, end b: b): of
                                these site->kind is PROF__KIND_BEGIN, and they stand among the scopes in statistics.
                                Spans, their marks and flows have args */
    PROF_EVENT_SPAN_MARK,
    PROF_EVENT_SPAN_END,
    PROF_EVENT_FLOW_OUT,     /* object: the flow's id; an arrow from the scope around this event ... */
    PROF_EVENT_FLOW_STEP,
    PROF_EVENT_FLOW_IN,      /* ... to the one around this */
    PROF_EVENT_ALLOC,        /* object: address; detail: bytes */
    PROF_EVENT_FREE,         /* object: address; detail: PROF__FREE_... */
    PROF_EVENT_LOCK_WAIT,    /* object: the lock's address; detail 1: it was found taken */
    PROF_EVENT_LOCK_ACQUIRE,
    PROF_EVENT_LOCK_RELEASE,
    PROF_EVENT_LOG,          /* detail: prof_severity; value: the message; args: what it was made of, without keys */
    PROF_EVENT_TYPE_COUNT
} prof_event_type;

/* Of a message. Images hold these numbers. */
typedef enum prof_severity {
    PROF_LOG_DEBUG = 0, /* has level 3: not recorded unless asked for */
    PROF_LOG_INFO,      /* level 2 */
    PROF_LOG_WARNING,   /* level 1, as the next two */
    PROF_LOG_ERROR,
    PROF_LOG_FATAL      /* it is only recorded: nothing ends */
} prof_severity;

enum {
    PROF_TRUNCATED_BEGIN = 1, /* the begin is older than the buffer: start_ns is the first thing known of the track */
    PROF_TRUNCATED_END = 2    /* no end was recorded: duration_ns reaches to the last thing known of the track, or to
                                 the end of the scope around it */
};

typedef struct prof_event {
    prof_event_type type;
    uint32_t flags;
    uint32_t depth;               /* of a scope: 0 for the outermost; of others: the number of open scopes */
    uint32_t arg_count;
    int64_t start_ns;             /* since the session's start; never before the event in front of it */
    int64_t duration_ns;          /* >= 0; a child never reaches beyond its parent */
    uint64_t id;                  /* unique in the trace and the same each time it is read */
    const char *name;             /* the run-time name if it has one, valid until the cursor moves; else the site's */
    const prof_callsite *site;    /* never null */
    const prof_arg *args;         /* valid until the cursor moves; the last one counts if a key comes twice */
    prof_value value;
    uint64_t object;              /* what the event is about: an id or an address, as its type says */
    uint64_t detail;              /* as its type says */
} prof_event;

/* How the times of a track came onto the time line of the trace. */
typedef enum prof_alignment {
    PROF_ALIGN_HOST = 0, /* they are the host's own */
    PROF_ALIGN_PAIRS,    /* a device: straight lines between two pairs of clocks or more, and on beyond them */
    PROF_ALIGN_RATE,     /* one pair, and the rate that the clock is said to have */
    PROF_ALIGN_GUESS     /* no pair: as if the device's first event had been recorded when it ended; or one, but the
                            rate is not known: a tick counts as 1 ns. Durations of such a clock may be right, places are
                            not */
} prof_alignment;
/* Begin and end of one id, put together by prof_spans_next(). */
typedef struct prof_span {
    const char *name;             /* valid until the next call */
    const prof_callsite *site;    /* of the begin; without one, of the end; never null */
    uint64_t id;                  /* what PROFILE_SPAN_BEGIN() was given; of a handle: its own */
    uint64_t number;              /* PROF_ROLE_FRAME: of the frame, from 1 on; else 0 */
    uint64_t serial;              /* unique in the trace and the same each time; a mark has that of its span, 0
                                     without */
    int64_t start_ns, duration_ns;
    uint32_t flags;               /* PROF_TRUNCATED_BEGIN, PROF_TRUNCATED_END */
    int mark;                     /* 1: a PROFILE_SPAN_MARK */
    size_t begin_track, end_track; /* of a truncated one the track that is known, in both */
    const prof_arg *args; uint32_t arg_count; /* of the begin, then of the end; valid until the next call */
} prof_span;

typedef struct prof_track {
    const char *name;             /* PROFILE_THREAD's, else the system's name of the thread, else "" */
    uint64_t id;                  /* unique in the trace, in order of appearance, from 1 */
    uint64_t thread_id;           /* the system's thread id (gettid); may repeat when threads come and go */
    uint64_t lost;                /* events that could not be recorded on this track */
    uint64_t event_count;         /* what a cursor will yield; less in a window, or where blocks of a file that is being
                                     recorded were overwritten meanwhile */
    int64_t first_ns, last_ns;    /* of what is retained */
    int fiber;                    /* 1: of prof_fiber_create(); thread_id is the first thread known that it was on */
    const char *device;           /* "", or the device whose row this is; thread_id and lost are 0 then: see
                                     >>devices */
    prof_alignment alignment;
    double device_hz;             /* ticks per second of the device's clock, as measured or as said; 0: not known */
    uint64_t pairs, pairs_refused; /* of clocks; refused: those on which one of both goes backwards */
    uint64_t early;               /* events that ended before the session began; they are left out */
} prof_track;

typedef struct prof_trace_info {
    const char *program;          /* its name */
    const char *clock;            /* "rdtsc", "rdtsc ordered", "cntvct", "clock_gettime", ... */
    uint64_t pid, parent_pid;     /* parent_pid: of the process that made this one; 0 if not known */
    uint64_t start_unix_ns;       /* Unix time of start_ns == 0 */
    int64_t duration_ns;          /* from the start to the last event known */
    uint64_t event_count;         /* over all tracks */
    uint64_t lost;                /* over all tracks, those included that never got a chunk */
    uint64_t overwritten_chunks;  /* PROF_RING: older chunks that were reused */
    uint64_t lost_blocks;         /* PROF_STREAM: parts of the archive, of some thousand events each, that cannot be
                                     read: the file was cut or damaged, or they were overwritten since the trace was
                                     opened */
    uint64_t unmatched;           /* ends, and arguments, that fit no open scope and were left out; an argument's scope
                                     may have begun before the recording, or be lost */
    uint64_t sites_lost, taken_back; /* call sites or names for which the image had no room; scopes that were shorter
                                     than min_duration */
    uint64_t buffer_size, chunk_size;
    prof_mode mode;
    uint64_t tick_hz;             /* of the clock, as measured */
    double clock_resolution_ns;   /* smallest step seen */
    double scope_cost_ns, call_cost_ns; /* of one scope, begin and end, measured by prof_start on this machine; of one
                                     call of a function with the hooks of -finstrument-functions, 0: it has none */
    int complete;                 /* 0: the session was not stopped (running, or the process died) */
    uint64_t write_failures;      /* writes that failed while recording (PROF_STREAM, dump_period); they are tried
                                     again */
    const char *write_error;      /* why the last of them did, in the system's words; "" if none */
    int64_t from_ns, to_ns;       /* the window; to_ns 0: to the end. All other figures are those of the whole trace */
    uint64_t folded, open;        /* PROF_STATS: events that are in the statistics, and scopes that are open, which
                                     count as truncated; the trace has no events and no tracks. PROF_RING_STATS: of a
                                     live trace, likewise, but it has the newest */
    uint64_t start_monotonic_ns;  /* CLOCK_MONOTONIC of start_ns == 0 */
    const char *boot_id;          /* traces of equal ids share that clock; "": unknown */
} prof_trace_info;

#define PROF_IMAGE_LOOK 4096 /* see prof_image_find() */

#if PROF_ENABLE
/* path: an image (.prof) of this or an earlier run; it may still be recorded into. */
PROF_DEF prof_status prof_trace_open(const char *path, prof_trace **trace);
/* The running session as it is now, or the last one. */
PROF_DEF prof_status prof_trace_live(prof_trace **trace);
/* An image in memory, for example from PROF_FREESTANDING or a dump. Copies it. */
PROF_DEF prof_status prof_trace_memory(const void *image, size_t size, prof_trace **trace);
PROF_DEF void prof_trace_close(prof_trace *trace); /* null is fine */

/* Limits what cursors that are opened from now on yield, and so all reports and exporters, to from_ns <= time < to_ns
   (0: to the end; both 0: everything again). Scopes that reach in are cut to it and marked PROF_TRUNCATED_BEGIN or
   _END, so that they count in no statistics of durations; one that was open all the time is there, too, even if it is
   still open and its thread has recorded nothing since. Frames count where they end, and are cut likewise. Tracks and
   prof_trace_info go on describing the whole trace: a cursor may yield less than event_count. Not while another thread
   reads the trace. */
PROF_DEF prof_status prof_trace_window(prof_trace *trace, int64_t from_ns, int64_t to_ns);

/* Puts traces on one timeline: offsets[i] >= 0 is to be added to the times of traces[i]. Those recorded since the same
   start of a machine are aligned by CLOCK_MONOTONIC, exact to some 100 ns; others by Unix time, as right as their
   clocks were. Returns how many machine starts there are: 1 means that all are aligned exactly. */
PROF_DEF size_t prof_trace_align(const prof_trace *const *traces, size_t count, int64_t *offsets);

/* Calls step for each part of the trace that a cursor has read, which is to say about every 1000 events, with its share
   of the whole. A report reads everything once, some more. Not for traces that several threads read. */
PROF_DEF void prof_trace_watch(prof_trace *trace, void (*step)(void *user, double share), void *user);

/* Images inside other files: core dumps, copies of memory, damaged images. PROF_OK if one begins at bytes, of which
   `size` are there (PROF_IMAGE_LOOK or more, or all that are left); *image_size: bytes of the whole, or the most that
   there can be if its archive has wrapped round. */
PROF_DEF prof_status prof_image_find(const void *bytes, size_t size, uint64_t *image_size);
/* Changes the first PROF_IMAGE_LOOK bytes of an image of which only `left` bytes exist, so that these are an image by
   themselves; *image_size: its bytes. PROF_CORRUPT if nothing recorded is among them. */
PROF_DEF prof_status prof_image_shorten(void *bytes, uint64_t left, uint64_t *image_size);
/* A consistent copy of an image as another file, also if it is being recorded into. from_ns, to_ns: the window with
   which it opens, see prof_trace_window(); from_ns -1: as it was. */
PROF_DEF prof_status prof_image_copy(const char *from, const char *to, int64_t from_ns, int64_t to_ns);
/* Gives an image in memory such a window. */
PROF_DEF prof_status prof_image_window(void *bytes, size_t size, int64_t from_ns, int64_t to_ns);

PROF_DEF const prof_trace_info *prof_trace_about(const prof_trace *trace);
/* What prof_set_metadata() had set, in the order of the keys' first setting; and "rank", if there is one. 0 beyond the
   last. */
PROF_DEF int prof_trace_metadata(const prof_trace *trace, size_t index, const char **key, const char **value);
PROF_DEF size_t prof_trace_track_count(const prof_trace *trace);
PROF_DEF const prof_track *prof_trace_track(const prof_trace *trace, size_t index); /* null beyond the last */

/* The events of one track in order of time, a parent before its children. Memory: one chunk and the open scopes. */
PROF_DEF prof_status prof_cursor_open(const prof_trace *trace, size_t track, prof_cursor **cursor);
PROF_DEF int prof_cursor_next(prof_cursor *cursor, prof_event *event); /* 0 at the end */
PROF_DEF void prof_cursor_close(prof_cursor *cursor);                  /* null is fine */

/* The events of all tracks in order of time, those of one track as its cursor gives them; what has the same time, in
   the order of the tracks. Memory: a cursor for each track that has begun and not ended at the moment that has been
   reached. */
PROF_DEF prof_status prof_timeline_open(const prof_trace *trace, prof_timeline **timeline);
/* track: whose event it is, as in prof_trace_track(); may be null. 0 at the end, or without memory for a cursor. */
PROF_DEF int prof_timeline_next(prof_timeline *timeline, prof_event *event, size_t *track);
PROF_DEF prof_status prof_timeline_close(prof_timeline *timeline); /* how it went; null is fine */

/* Spans in the order of their ends, and marks between them; then those still open, in the order of their begins. An end
   belongs to the newest open span of its name and id; tasks and frames of handles keep to themselves. Nothing is
   dropped: an end without a begin is a span from the first thing known of the trace on, a begin without an end reaches
   to the last, both flagged, as are those that reach beyond the window. What has the same time on several tracks is
   taken in the order of the tracks, but that an end which finds no open span waits for a begin of that very time.
   Memory: prof_timeline's, and the open spans. */
PROF_DEF prof_status prof_spans_open(const prof_trace *trace, prof_spans **spans);
PROF_DEF int prof_spans_next(prof_spans *spans, prof_span *span); /* 0 at the end, or without memory */
PROF_DEF prof_status prof_spans_close(prof_spans *spans);         /* how it went; null is fine */
#endif

/*-- REPORTS ---------------------------------------------------------------------------------------------- >>reports --
   Each comes as a file (path null or "-" is standard output; a regular file is replaced only when complete) and as a
   stream into your own function. options may be null. */

/* write returns 0, or anything else to stop: the writer then returns PROF_IO. */
typedef struct prof_sink {
    int (*write)(void *user, const void *data, size_t size);
    void *user;
} prof_sink;

typedef enum prof_sort {
    PROF_SORT_TOTAL = 0,
    PROF_SORT_SELF,
    PROF_SORT_CALLS,
    PROF_SORT_MEAN,
    PROF_SORT_MIN,
    PROF_SORT_MAX,
    PROF_SORT_P99,
    PROF_SORT_NAME
} prof_sort;

typedef struct prof_summary_options {
    prof_sort sort;
    int ascending;
    size_t top; /* rows of the scope table; 0: all */
    int by_path, columns; /* by_path: 1: a row for each call path, as a tree; top: the first so many, and what leads to
                             them. columns: characters of a line, from 40 on: names are shortened and columns left out
                             to fit; 0: what standard output has, if it goes there and that is a terminal; else, and
                             for -1, as many as there are */
} prof_summary_options;

/* So many durations with from_ns <= duration < to_ns. */
typedef struct prof_bucket {
    uint64_t from_ns, to_ns, count;
} prof_bucket;

/* One entry of the statistics: a scope name at a call site. Scopes that overlap (begin a, begin b, end a, end b) count
   with all of their time; that of the one that ends later (b) is all its own, and is not taken from the self time of
   what is around it. By call path it is outermost. An end belongs to the innermost open scope of its call site; only if
   none is open, to one that the end of a scope around it has closed. */
typedef struct prof_stat {
    const char *name;                /* the site's; the format of PROFILE_SCOPE_F; the text of PROFILE_SCOPE_S */
    const prof_callsite *site;
    uint64_t count, truncated;       /* truncated scopes count in no figure but this and count */
    uint64_t total_ns, self_ns, min_ns, max_ns;
    uint64_t covered_ns;             /* as total_ns, but a recursion counts once: time with at least one call open */
    double mean_ns, deviation_ns;    /* population */
    uint64_t bytes;                  /* of PROFILE_THROUGHPUT: in all, */
    uint64_t rates;                  /* the calls that took some time; and in each of these, 10^6 bytes a second: */
    double mean_rate, deviation_rate, min_rate, max_rate;
    uint64_t p50_ns, p90_ns, p99_ns, p999_ns;
    size_t parent;                   /* prof_stats_by_path: index of the entry around it, else PROF_NO_PARENT */
    uint32_t depth;                  /* so many entries are around it */
    const prof_bucket *buckets;      /* the distribution of the durations, in order, without what is empty: exact
                                        below */
    size_t bucket_count;             /* 128 ns, then 64 buckets for each power of two. Freed with the entries */
} prof_stat;
#define PROF_NO_PARENT ((size_t)-1)

/* Allocations of one call site, memory scope or pool. What was freed, too, is known only of blocks that the trace saw
   allocated: figures count from its begin, or that of its window. */
typedef struct prof_memory_row {
    const char *pool;               /* the category of its macros; null: of a scope, in whatever pools */
    const char *scope;              /* the names of the open PROFILE_MEMORY_SCOPEs, joined by ':'; "": none was open;
                                       null: of a pool */
    const prof_callsite *site;      /* of the allocation; null: of a pool or scope */
    const prof_callsite *around;    /* of the innermost other scope that was open there; null: none, or of a pool or
                                       scope */
    uint64_t count, bytes;          /* all allocations */
    uint64_t live_count, live_bytes; /* those not freed at the end */
    uint64_t peak_bytes;            /* the most there were at a time, */
    int64_t peak_ns;                /* first reached here */
} prof_memory_row;

typedef struct prof_memory_stats {
    const prof_memory_row *sites, *scopes, *pools; /* those with the most bytes first */
    size_t site_count, scope_count, pool_count;
    uint64_t count, frees;          /* ALLOC and FREE events, of realloc one each */
    uint64_t freed_unknown;         /* frees of blocks that were allocated before the trace, or that nobody allocated */
    uint64_t freed_twice;           /* frees of blocks that were freed already; where events were lost, perhaps of
                                       others */
    uint64_t not_freed;             /* blocks that were allocated again without a free in between: it was lost, or
                                       unmarked */
} prof_memory_stats;

/* The locks of one name, or one lock. Times of waits and holds that the trace saw whole. */
typedef struct prof_lock_row {
    const char *name, *category;
    uint64_t address;               /* of the lock; 0: of several */
    uint64_t locks;                 /* so many of them */
    uint64_t acquired;
    uint64_t contended;             /* of these, those for which the thread had to wait for another */
    uint64_t wait_ns, wait_max_ns;  /* from LOCK_WAIT to LOCK_ACQUIRE */
    uint64_t hold_ns, hold_max_ns;  /* from LOCK_ACQUIRE to LOCK_RELEASE, of recursive locks from the first to the
                                       last */
    uint64_t waiting_max;           /* threads that waited for one lock at the same time */
    uint64_t holding, waiting;      /* threads that did so at the end */
    uint64_t abandoned;             /* waits that were not followed by an acquire */
    uint64_t unmatched;             /* acquires without their release, and the other way round */
} prof_lock_row;

/* How prof_stop() and prof_save() find the writer of an extension. A header with a writer registers it before main. */
typedef struct prof_writer {
    const char *extension; /* ".json" */
    prof_status (*write)(const prof_trace *trace, const char *path);
    struct prof_writer *next;
} prof_writer;

#if PROF_ENABLE
/* A table for a terminal: scopes, frames, counters, losses, the recorder's own cost. Percentiles are exact to 0.8 %. */
PROF_DEF prof_status prof_summary_write(const prof_trace *trace, const char *path, const prof_summary_options *options);
PROF_DEF prof_status prof_summary_stream(const prof_trace *trace, prof_sink sink, const prof_summary_options *options);

/* One event a line, RFC 4180, integer nanoseconds; the first line names the columns. value: of a counter and a loss, the
   number; of a message, its text; of a span and a flow, the id; of allocations and locks, the address. args: key=value
   joined by ; with \\ in front of ; = and \\ in either. What is not UTF-8 becomes U+FFFD. */
PROF_DEF prof_status prof_csv_write(const prof_trace *trace, const char *path);
PROF_DEF prof_status prof_csv_stream(const prof_trace *trace, prof_sink sink);

/* The figures of the summary's scopes as data, sorted as asked. Free with prof_stats_free() before the trace. */
PROF_DEF prof_status prof_stats(const prof_trace *trace, prof_sort sort, int ascending, prof_stat **stats, size_t *count);
/* The same, one entry per call path: a parent before what it called, and what has the same parent in order. Of
   PROF_STATS, which knows no paths, all are outermost. */
PROF_DEF prof_status prof_stats_by_path(const prof_trace *trace, prof_sort sort, int ascending, prof_stat **stats,
                                        size_t *count);
/* The same of spans: self_ns is total_ns, covered_ns is 0. The spans of prof_frame_create() are frames, and not
   here. */
PROF_DEF prof_status prof_span_stats(const prof_trace *trace, prof_sort sort, int ascending, prof_stat **stats,
                                     size_t *count);
PROF_DEF void prof_stats_free(prof_stat *stats);

/* What PROFILE_ALLOC and its kind recorded, in the trace's window. One pass; memory for the blocks that are live at a
   time. Free with prof_memory_free() before the trace. */
PROF_DEF prof_status prof_memory(const prof_trace *trace, prof_memory_stats **stats);
PROF_DEF void prof_memory_free(prof_memory_stats *stats);
/* The same for PROFILE_LOCK_WAIT and its kind, those first for which threads waited longest. by_address: a row for each
   lock instead of each name. Free with prof_locks_free() before the trace. */
PROF_DEF prof_status prof_locks(const prof_trace *trace, int by_address, prof_lock_row **rows, size_t *count);
PROF_DEF void prof_locks_free(prof_lock_row *rows);

/* writer must stay; it belongs to the list from here on. Not for two threads at once. */
PROF_DEF void prof_writer_register(prof_writer *writer);
/* Writes a trace as an extension says (".json"), or as path's does if extension is null. Not ".prof": a trace is what
   was read of an image. */
PROF_DEF prof_status prof_trace_write(const prof_trace *trace, const char *path, const char *extension);
/* Before a library is unloaded that has the writer's code. Waits for a prof_stop() in progress. */
PROF_DEF void prof_writer_unregister(prof_writer *writer);
#endif

/*-- DEVICES ---------------------------------------------------------------------------------------------- >>devices --
   What runs beside the processor and says itself when it did what: GPUs, NPUs, DMA engines, network cards. A device is
   a clock; it has rows (a queue, a stream, an engine), and rows have events with times of that clock:

       prof_device *gpu = prof_device_create("gpu 0", NULL);
       prof_device_row *queue = prof_device_track(gpu, "compute");
       prof_device_sync(gpu, gpu_clock_now(), 0);             // now and then: the device's clock, and the host's now
       prof_device_scope(queue, "matmul", begin, end);        // any time later, from any thread, in any order

   Each row is a track behind those of the threads, in order of its own time. Its scopes nest where one lies within the
   other; those that overlap go to further tracks, "compute #2" and so on up to 64, beyond which their ends are cut and
   marked PROF_TRUNCATED_END.

   Time. A pair says what both clocks showed at the same moment. Between pairs time runs along straight lines, so that
   drift is followed; beyond them it goes on as it did in the last second or, if that has no two pairs, in all of them.
   Give one pair at least, before and after the work rather than once, and one a second for long runs.
   prof_track.alignment says what a device had. Pairs outlive sessions: in the next one the device needs none to begin
   with. A clock of fewer bits wraps: then an event is recorded less than 15/16 of its period after its end, and pairs,
   unless hz is given, are less than a period apart. A device whose clock starts anew is another device, with another
   name.

   Category and level. A device's events have its name as their category, for prof_category_enable(), and no level: they
   are there at level 0, too. config.no_devices turns all of them off.
   Costs: some 300 instructions, 48 bytes and the name; an argument 24 bytes, its key and its text. What finds no
   room is counted as lost on the thread that recorded it. They are in a file after a crash as everything is. PROF_STATS
   keeps none. A trace holds some 100 bytes of memory for each event of a device. Not PROF_FREESTANDING. */

typedef struct prof_device prof_device;         /* handles live as long as the process, and serve all its sessions */
typedef struct prof_device_row prof_device_row;

/* All zero: 64 bits that do not wrap, of a rate that pairs will tell. */
typedef struct prof_device_clock {
    uint64_t hz;   /* ticks per second; 0: not known */
    unsigned bits; /* width of the counter, 1 to 64, if it wraps; 0 is 64 */
    int unix_time; /* 1: host_ns of prof_device_sync() is Unix time, not CLOCK_MONOTONIC */
} prof_device_clock;

#define PROF_DEVICE_ARGS 16 /* arguments of an event that are kept */

/* An event with all it can have. All zero but name and times: a scope. */
typedef struct prof_device_event {
    prof_event_type type; /* PROF_EVENT_SCOPE, _MARK or _COUNTER */
    const char *name;     /* copied, up to PROF_MAX_TEXT bytes, as all texts */
    uint64_t start, end;  /* ticks of the device; end: of a scope. An end before the start is one that is not known */
    prof_value value;     /* of a counter: INT or DOUBLE */
    uint64_t flow;        /* 0, or the id of a PROFILE_FLOW_OUT(id) on the host: an arrow leads from there to this
                             event */
    const prof_arg *args;
    uint32_t arg_count;
} prof_device_event;

#if PROF_ENABLE
/* The device of this name; clock (null: all zero) counts when it is made, by the first call. Null without memory, or
   if name is empty or bits above 64. Rows likewise; null of a null device. */
PROF_DEF prof_device *prof_device_create(const char *name, const prof_device_clock *clock);
PROF_DEF prof_device_row *prof_device_track(prof_device *device, const char *name);
/* A pair: ticks of the device and host_ns of CLOCK_MONOTONIC (see prof_device_clock); 0: now. Whether a session runs or
   not. For the best of pairs read prof_host_ns() before and after the device's clock, several times, and give
   the middle of the two that were closest. */
PROF_DEF prof_status prof_device_sync(prof_device *device, uint64_t ticks, uint64_t host_ns);
PROF_DEF uint64_t prof_host_ns(void); /* CLOCK_MONOTONIC, in which prof_trace_info.start_monotonic_ns is, too */
/* As macros: any thread, handlers included, at any time; nothing happens while nothing records, or with a null row. */
PROF_DEF void prof_device_scope(prof_device_row *row, const char *name, uint64_t start, uint64_t end);
PROF_DEF void prof_device_mark(prof_device_row *row, const char *name, uint64_t time);
PROF_DEF void prof_device_counter(prof_device_row *row, const char *name, uint64_t time, int64_t value);
PROF_DEF void prof_device_counter_double(prof_device_row *row, const char *name, uint64_t time, double value);
PROF_DEF void prof_device_record(prof_device_row *row, const prof_device_event *event);
#endif

/*-- MARKUP ------------------------------------------------------------------------------------------------ >>markup --
   name, category, key: string literals, constant arrays and, in C++, constexpr; others are refused when compiled, and
   go through the _S and _F forms. A text of an _S form may be a std::string, std::string_view or the like, too. A scope
   is a declaration: `if (x) PROFILE_SCOPE("a");` needs braces. category groups call sites for
   prof_category_enable() and viewers; level: 1 to 255. Where none is given they are PROF_CATEGORY and PROF_SITE_LEVEL.
   Every macro may stand in any function, any number of times, in handlers of signals and in code that runs before main
   or after prof_stop(); but C99 allows no static variable in an `inline` function that is not static. No macro changes
   errno or allocates. Only a call site or a thread that is new, or a control call since its last use, takes a lock: for
   microseconds as a rule, and after some tenths of a second it gives up, which loses that event.

     PROFILE_SCOPE(name)             from here to the end of the block, however it is left
       _C(name, category)  _L(name, level)  _CL(name, category, level)
       _S(text)                      name made at run time: copied into the trace, up to PROF_MAX_TEXT bytes
       _F(format, ...)               as printf; neither formatted nor evaluated while off
       _COLOR(name, 0xRRGGBB)        for viewers that can be told a colour
       _M(name, mask)                on if config.filter_mask has one of the 32 bits of mask, a constant
     PROFILE_FUNCTION()              the same, named after the function; _C(category) _L(level)
     PROFILE_SCOPE_SYNC(name)        before its end is recorded it waits for the device, by prof_set_sync()'s function
     PROFILE_SYNC()                  waits for the device, and records nothing by itself
     PROFILE_BLOCK(name) { ... }     a scope in front of its own block; _C _L. Leave it early by return or goto, not by
                                     break or continue, which would concern the block itself, and only when not
                                     stripped. With neither C++ nor the cleanup attribute, leaving early leaves it open
     PROFILE_BEGIN(name)             not bound to a block: ended by PROFILE_END(name) on the same thread; _C _L.
     PROFILE_END(name)               An end without its begin does nothing. Up to 32 may be open at a time. What ends
                                     after a scope around it is a span for readers, see PROF_EVENT_SPAN_BEGIN
     PROFILE_STAGE(name)             a scope that PROFILE_NEXT(name), in the same block or one inside, ends while it
     PROFILE_NEXT(name)              begins the next one, with one clock read for both; the last ends with the block
     PROFILE_MARK(name)              an instant; _C _L _S(text) _F(format, ...)
     PROFILE_FRAME(name)             the boundary between two frames; one name, one track of frames
     PROFILE_MARK_SCOPE(name, scope) an instant that concerns more than its thread: a prof_mark_scope, a constant
     PROFILE_SPAN_BEGIN(name, id)    something that takes time, such as a request, on whatever threads: the end has the
     PROFILE_SPAN_MARK(name, id)     same name and id (an integer, uint64_t), and spans may overlap in any way; _C.
     PROFILE_SPAN_END(name, id)      What was off at the one and on at the other is half a span, marked and counted
     PROFILE_COUNTER(name, value)    a sample of an integer (int64_t) or floating-point (double) number; _C _L
     PROFILE_COUNTER_ADD(name, delta)   changes a number that all these macros of the name and category share, and
     PROFILE_COUNTER_SUB(name, delta)   samples it; _C. The number also counts while nothing is recorded, which then
     PROFILE_COUNTER_SET(name, value)   costs some 5 ns. It does not go round, see prof_counter. Up to 1024 names
     PROFILE_ARG(key, value)         a value on the innermost scope that this thread is recording: any integer,
                                     floating-point number, bool, pointer or C string (C11 and C++); in C++ also
                                     enum class, std::string and std::string_view. In C99 say which:
       _I int64_t  _U uint64_t  _D double  _B bool  _S string, copied  _P pointer
     PROFILE_SCOPE_AS(handle, name)  a scope with a handle (a prof_scope), which the macro declares; _C _L _CL
     PROFILE_ARG_TO(handle, key, value)   a value on that scope, whatever is open inside it; nowhere while it is off. In
       _I  _U  _D  _B  _S  _P        C99 say which. key: also one made at run time
     PROFILE_ARGS(PROF_ARG(key, value), ...)   several, keys made at run time, on the scope that PROFILE_ARG adds to;
                                     PROF_ARG_I and so on. Also PROFILE_ARGS_TO(handle, PROF_ARG(key, value), ...)
     PROFILE_MARK_ARGS(name, PROF_ARG(key, value), ...)   an instant with arguments; and so
                                     PROFILE_SPAN_BEGIN_ARGS(name, id, ...), _SPAN_MARK_ARGS, _SPAN_END_ARGS,
                                     PROFILE_FLOW_OUT_ARGS(id, ...), _FLOW_STEP_ARGS, _FLOW_IN_ARGS,
                                     PROFILE_TASK_START_ARGS(task, ...) and PROFILE_TASK_STOP_ARGS(task, ...)
     PROFILE_STEP(name, number)      a scope that is step number (int64_t) of a loop: has the argument "step_num"
     PROFILE_THROUGHPUT(name, bytes) a scope that moves so many bytes (uint64_t), its argument; reports have MB/s, 10^6
                                     bytes. Neither is taken back by min_duration. _S(text, ...), both
     PROFILE_FLOW_OUT(id)            an arrow from the scope around this to those around PROFILE_FLOW_IN(id), by way of
     PROFILE_FLOW_STEP(id)           those around PROFILE_FLOW_STEP(id), in order of time, whatever their threads. id:
     PROFILE_FLOW_IN(id)             any uint64_t, such as prof_flow_new()'s; _N(name, id): other names, other flows
     PROFILE_LOG(severity, format, ...)   a message, formatted as by printf, but only when it is read: its arguments are
                                     copied, strings and all. severity: PROF_LOG_DEBUG, _INFO, _WARNING, _ERROR, _FATAL;
                                     it makes the level. Not %n, %m, %ls and %lc: the text says so. Up to 16 values
     PROFILE_THREAD(name)            names the thread: any string, copied, up to 63 bytes

     PROFILE_ALLOC(pointer, bytes)   behind an allocation; _C(pointer, bytes, pool)
     PROFILE_FREE(pointer)           in front of a free; _C(pointer, pool)
     PROFILE_REALLOC(old, pointer, bytes)   behind a realloc; _C(old, pointer, bytes, pool). old: keep it as a
                                     uintptr_t, because a pointer must not be used any more
     PROFILE_MEMORY_SCOPE(name)      a scope by which allocations inside, by this thread, are counted; _S(text)
     PROFILE_LOCK_WAIT(lock, name)   in front of a lock that may have to wait; the lock: any address
     PROFILE_LOCK_ACQUIRE(lock, name)  behind it
     PROFILE_LOCK_RELEASE(lock, name)  in front of the unlock
     PROFILE_MUTEX_LOCK(mutex, name) pthread_mutex_lock() with these, and its value; a wait is a scope "wait for name"
     PROFILE_MUTEX_UNLOCK(mutex)     pthread_mutex_unlock() */

enum { /* what a word of the image is: see >>image */
    PROF__KIND_NONE = 0, PROF__KIND_BEGIN, PROF__KIND_END, PROF__KIND_MARK, PROF__KIND_COUNTER_INT,
    PROF__KIND_COUNTER_DOUBLE, PROF__KIND_FRAME, PROF__KIND_ARG, PROF__KIND_NAME, PROF__KIND_TRACK, PROF__KIND_LOST,
    PROF__KIND_EVENT, PROF__KIND_DATA
};
#define PROF__ROLE_SHIFT 4 /* a site's kind: PROF__KIND_... | PROF_ROLE_... << PROF__ROLE_SHIFT */

#define PROF__EVENT_DETAIL_MAX ((1ull << 56) - 1)
#define PROF__FREE_IN_POOL 1u /* of a FREE: the block is one of this pool */
#define PROF__FREE_LATE 2u    /* it was freed some time ago, and may be another thread's meanwhile */

#if PROF_ENABLE
typedef uint64_t prof__token; /* what a begin hands to its end; 0: nothing was recorded */

#if defined(_WIN32) || !defined(__GNUC__)
extern uint32_t prof__generation;
#else
extern PROF_DEF uint32_t prof__generation;
#endif
PROF_DEF int prof__check(prof_site *site);
PROF_DEF prof__token prof__begin(prof_site *site);
PROF_DEF prof__token prof__begin_text(prof_site *site, const char *text);
PROF_DEF prof__token prof__begin_format(prof_site *site, const char *format, ...) PROF__PRINTF(2, 3);
PROF_DEF void prof__end(prof__token token);
PROF_DEF void prof__end_sync(prof__token token);
PROF_DEF void prof__sync(void);
PROF_DEF prof__token prof__next(prof_site *site, prof__token token);
PROF_DEF void prof__begin_loose(prof_site *site);
PROF_DEF void prof__end_loose(prof_site *site);
PROF_DEF void prof__mark(prof_site *site);
PROF_DEF void prof__mark_text(prof_site *site, const char *text);
PROF_DEF void prof__mark_format(prof_site *site, const char *format, ...) PROF__PRINTF(2, 3);
PROF_DEF void prof__frame(prof_site *site);
/* An EVENT record of a site: type is a prof_event_type, detail up to PROF__EVENT_DETAIL_MAX. */
PROF_DEF void prof__event(prof_site *site, uint64_t type, uint64_t detail, uint64_t object);
/* A scope with an argument from the start; type: PROF_VALUE_INT or PROF_VALUE_UINT. */
PROF_DEF prof__token prof__begin_number(prof_site *site, prof_site *key, uint64_t type, uint64_t number);
PROF_DEF uint64_t prof_flow_new(void); /* an id that no other call returns, nor one in a child of fork() */
typedef struct PROF__SITE_TYPE prof__log_format { uint32_t known; unsigned char codes[36]; } prof__log_format; /* its values */
PROF_DEF void prof__log(prof_site *site, prof__log_format *known, uint64_t severity, const char *format, ...) PROF__PRINTF(4, 5);
typedef struct prof__tally prof__tally; /* the number behind a counter */
typedef struct PROF__SITE_TYPE prof__number { prof__tally *tally; } prof__number; /* null: not looked for yet */
enum { PROF__TALLY_SET, PROF__TALLY_ADD, PROF__TALLY_SUB };
PROF_DEF void prof__count_int(prof_site *site, prof__number *number, int how, int64_t value);
PROF_DEF void prof__count_double(prof_site *site, prof__number *number, int how, double value);
/* A FREE of one address, as how says, and an ALLOC of another, at the same moment; 0: none. */
PROF_DEF void prof__memory(prof_site *site, uint64_t how, uint64_t freed, uint64_t address, uint64_t bytes);
PROF_DEF int prof__mutex_lock(prof_site *wait, prof_site *event, void *mutex);
PROF_DEF void prof__counter_int(prof_site *site, int64_t value);
PROF_DEF void prof__counter_double(prof_site *site, double value);
PROF_DEF void prof__arg_int(prof_site *site, int64_t value); PROF_DEF void prof__arg_uint(prof_site *site, uint64_t value);
PROF_DEF void prof__arg_double(prof_site *site, double value);
PROF_DEF void prof__arg_bool(prof_site *site, int value);
PROF_DEF void prof__arg_pointer(prof_site *site, const volatile void *value);
PROF_DEF void prof__arg_string(prof_site *site, const char *value);
/* A list of arguments, all or, if there is no room, none: of a new MARK of the site; of a new EVENT of it, whose type is
   a prof_event_type; with no site, of the task that object points to. PROF_EVENT_SCOPE: of the innermost scope, for a
   site, else of the one whose handle object is. */
PROF_DEF void prof__with(prof_site *site, uint64_t type, uint64_t object, const prof_arg *args, uint32_t count);
#define PROF__MADE_OF(name, c_type, tag, member) \
    static inline PROF__UNTRACED prof_arg prof__made_##name(const char *key, c_type value) \
    { prof_arg arg; arg.key = key; arg.value.type = tag; arg.value.cut = 0; arg.value.as.member; return arg; }
#define PROF__MADE \
    PROF__MADE_OF(int, int64_t, PROF_VALUE_INT, i = value) PROF__MADE_OF(uint, uint64_t, PROF_VALUE_UINT, u = value) \
    PROF__MADE_OF(double, double, PROF_VALUE_DOUBLE, d = value) PROF__MADE_OF(bool, int, PROF_VALUE_BOOL, u = value != 0) \
    PROF__MADE_OF(string, const char *, PROF_VALUE_STRING, string = value) \
    PROF__MADE_OF(pointer, const volatile void *, PROF_VALUE_POINTER, u = (uint64_t)(uintptr_t)value)
PROF__MADE
PROF_DEF void prof_thread_name(const char *name); /* null: back to the system's name */

#define PROF__OFF 0x80000000u

/* A site's state says, for one generation of the control state, what the site is: its low half equals the generation
   (on), differs from it in the top bit (off), or is out of date, which is for the slow path to settle. */
#if defined(__GNUC__)
typedef uint32_t __attribute__((may_alias)) prof__half;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define PROF__LOW_HALF 1
#else
#define PROF__LOW_HALF 0
#endif
#define PROF__STATE(site)                                                                                  \
    (__atomic_load_n((const prof__half *)&(site)->private_state + PROF__LOW_HALF, __ATOMIC_RELAXED) ^       \
     __atomic_load_n(&prof__generation, __ATOMIC_RELAXED))
#else
#define PROF__STATE(site) \
    ((uint32_t) * (const volatile uint64_t *)&(site)->private_state ^ *(const volatile uint32_t *)&prof__generation)
#endif
static inline PROF__UNTRACED int prof__on(const prof_site *site) /* or not known yet */
{
    return PROF__STATE(site) != PROF__OFF;
}
/* For macros with arguments, which are evaluated only when on. */
static inline PROF__UNTRACED int prof__live(prof_site *site)
{
    uint32_t state = PROF__STATE(site);
    return PROF__LIKELY(!state) || (state != PROF__OFF && prof__check(site));
}

#ifdef __cplusplus
} /* extern "C" */
#ifdef PROF_STATIC /* else it may stand inside types of the program, such as the frame of a coroutine */
#define PROF__GUARD_TYPE PROF__HIDDEN
#else
#define PROF__GUARD_TYPE
#endif
#define PROF__GUARD_STRUCT(guard, more, end) \
    struct PROF__GUARD_TYPE guard { prof__token token; more PROF__UNTRACED ~guard() { if (token) end(token); } }
PROF__GUARD_STRUCT(prof__guard, , prof__end); PROF__GUARD_STRUCT(prof__guard_sync, , prof__end_sync);
PROF__GUARD_STRUCT(prof__guard_block, int more;, prof__end);
#define PROF__ARG_OF(type, record, number) \
    PROF__HIDDEN PROF__UNTRACED inline void prof__arg(prof_site *site, type value) { record(site, number); }
#define PROF__TEMPLATE template <typename T> PROF__HIDDEN PROF__UNTRACED inline
#define PROF__ARGS \
    PROF__ARG_OF(bool, prof__arg_bool, value) PROF__ARG_OF(double, prof__arg_double, value) \
    PROF__ARG_OF(int, prof__arg_int, value) PROF__ARG_OF(long, prof__arg_int, value) PROF__ARG_OF(long long, prof__arg_int, value) \
    PROF__ARG_OF(unsigned, prof__arg_uint, value) PROF__ARG_OF(unsigned long, prof__arg_uint, value) \
    PROF__ARG_OF(unsigned long long, prof__arg_uint, value) PROF__ARG_OF(long double, prof__arg_double, static_cast<double>(value)) \
    PROF__ARG_OF(const char *, prof__arg_string, value) PROF__ARG_OF(const volatile void *, prof__arg_pointer, value)
/* Texts of the program's classes: std::string and what else has a c_str() of char; std::string_view and what else has
   data() of char and size(), as a copy, because there need not be a zero behind it. Enumerations, enum class, too. */
#define PROF__TEXTS \
    template <typename T, bool> struct prof__enum_if {}; template <typename T> struct prof__enum_if<T, true> { typedef void type; }; \
    template <typename T> struct prof__enum : prof__enum_if<T, __is_enum(T)> {}; \
    template <typename T> struct PROF__HIDDEN prof__copy_of { char text[PROF_MAX_TEXT + 2]; operator const char *() const { return text; } \
        PROF__UNTRACED explicit prof__copy_of(const T &from) { \
            size_t size = from.size() < sizeof text ? from.size() : sizeof text - 1; \
            for (size_t i = 0; i < size; ++i) text[i] = from.data()[i]; \
            text[size] = 0; } }; \
    PROF__TEMPLATE auto prof__chars_of(const T &text, int) -> decltype(static_cast<const char *>(text.c_str())) { return text.c_str(); } \
    PROF__TEMPLATE auto prof__chars_of(const T &text, long) -> decltype(static_cast<const char *>(text.data()), text.size(), prof__copy_of<T>(text)) \
    { return prof__copy_of<T>(text); } \
    PROF__HIDDEN PROF__UNTRACED inline const char *prof__chars(const char *text) { return text; } \
    PROF__TEMPLATE auto prof__chars(const T &text) -> decltype(prof__chars_of(text, 0)) { return prof__chars_of(text, 0); } \
    PROF__TEMPLATE auto prof__arg(prof_site *site, const T &text) -> decltype(static_cast<void>(prof__chars_of(text, 0))) \
    { prof__arg_string(site, prof__chars_of(text, 0)); } \
    PROF__TEMPLATE typename prof__enum<T>::type prof__arg(prof_site *site, T value) \
    { prof__arg(site, static_cast<__underlying_type(T)>(value)); }
/* For PROF__CONSTANT. Arrays that may change hold names made at run time, as a rule. */
#define PROF__GIVEN \
    PROF__HIDDEN PROF__UNTRACED constexpr bool prof__given(const char *text) { return text != nullptr; } \
    template <size_t size> bool prof__given(char (&text)[size]);
/* Lists of arguments. What a class has for a text, or its copy, lives until the list has been recorded. */
#define PROF__MADE_AS(type, name) \
    PROF__HIDDEN PROF__UNTRACED inline type prof__plain(type value) { return value; } \
    PROF__HIDDEN PROF__UNTRACED inline prof_arg prof__made(const char *key, type value) { return prof__made_##name(key, value); }
#define PROF__LISTS \
    PROF__MADE_AS(bool, bool) PROF__MADE_AS(double, double) PROF__MADE_AS(int, int) PROF__MADE_AS(long, int) \
    PROF__MADE_AS(long long, int) PROF__MADE_AS(unsigned, uint) PROF__MADE_AS(unsigned long, uint) \
    PROF__MADE_AS(unsigned long long, uint) PROF__MADE_AS(const char *, string) PROF__MADE_AS(const volatile void *, pointer) \
    PROF__HIDDEN PROF__UNTRACED inline double prof__plain(long double value) { return static_cast<double>(value); } \
    PROF__TEMPLATE auto prof__plain(const T &text) -> decltype(prof__chars_of(text, 0)) { return prof__chars_of(text, 0); } \
    template <typename T, typename = typename prof__enum<T>::type> PROF__HIDDEN PROF__UNTRACED inline long long prof__plain(T value) \
    { return static_cast<long long>(value); } \
    template <typename... T> PROF__HIDDEN PROF__UNTRACED inline \
    void prof__with_all(prof_site *site, uint64_t type, uint64_t object, const T &...args) { \
        const prof_arg list[] = {args...}; prof__with(site, type, object, list, static_cast<uint32_t>(sizeof...(args))); }
PROF__ARGS PROF__TEXTS PROF__GIVEN PROF__LISTS
extern "C" {
#elif defined(__GNUC__)
static inline PROF__UNTRACED void prof__guard_end(const prof__token *token)
{
    if (*token) prof__end(*token);
}
static inline PROF__UNTRACED void prof__guard_sync(const prof__token *token)
{
    if (*token) prof__end_sync(*token);
}
#endif
#endif /* PROF_ENABLE */

#if defined(__cplusplus) && PROF_ENABLE /* std::string and its kind, too */
#define PROF__TEXT(text) prof__chars(text)
#else
#define PROF__TEXT(text) text
#endif
#define PROF__JOIN_(a, b) a##b
#define PROF__JOIN(a, b) PROF__JOIN_(a, b)
#define PROF__FIRST_(a, ...) a
#define PROF__FIRST(...) PROF__FIRST_(__VA_ARGS__, 0)
/* Counts as a use of x, evaluates nothing, and leaves no instruction at any level of optimisation. */
#define PROF__USE(x) (0 ? (void)(x) : (void)0)
#define PROF__USE2(x, y) (0 ? (void)(x) : PROF__USE(y))
#define PROF__USE3(x, y, z) (0 ? (void)(x) : PROF__USE2(y, z))

/* A declaration, as the live scope is one (see -Wdeclaration-after-statement), that leaves nothing either. */
#if defined(__GNUC__)
#define PROF__GONE(...) PROF__GONE_(__VA_ARGS__)
#define PROF__GONE_(id, ...) typedef __attribute__((unused)) char prof__gone_##id[1 + 0 * sizeof(__VA_ARGS__)]
#else
#define PROF__GONE(id, ...) (void)sizeof(__VA_ARGS__)
#endif

/* The one switch between the live and the stripped API. */
#if PROF_ENABLE
#define PROF__EITHER(live, stripped) live
#else
#define PROF__EITHER(live, stripped) stripped
#endif

/* A site is filled in once, at compile time: a name made at run time would stay what it was at the first use. C refuses
   one by itself, in C++ that takes a word (constant initialization); before that, a sentence says what to do. */
#if defined(__cplusplus) && defined(__clang__)
#define PROF__CONSTANT_SITE __attribute__((require_constant_initialization))
#elif defined(__cplusplus) && defined(__GNUC__) && __GNUC__ >= 10
#define PROF__CONSTANT_SITE __constinit
#elif defined(__cplusplus) && defined(__cpp_constinit)
#define PROF__CONSTANT_SITE constinit
#else
#define PROF__CONSTANT_SITE
#endif
#if defined(__cplusplus) && defined(__GNUC__)
#define PROF__CONSTANT(name)                                                                               \
    static_assert(__builtin_constant_p(prof__given(name)), "prof: a name, category or key is a string literal, " \
        "a constant array or constexpr; a name made at run time goes to the _S form: PROFILE_SCOPE_S, PROFILE_MARK_S");
#else
#define PROF__CONSTANT(name)
#endif
/* C compilers refuse by showing this macro. The enumerator of a site is what they miss after `if (x) PROFILE_SCOPE("a");`,
   where the scope would not end at the semicolon. */
#define PROF__A_LITERAL_ELSE_USE_PROFILE_SCOPE_S(name) name

#define PROF__SITE(variable, kind, name, category, level) PROF__SITE_COLOR(variable, kind, name, category, level, 0)
#define PROF__SITE_COLOR(variable, kind, name, category, level, color) \
    PROF__SITE_MASK_OF(variable, kind, name, category, level, color, 0)
#define PROF__SITE_MASK_OF(variable, kind, name, category, level, color, unmask) \
    enum { variable##_needs_braces_around_it };                                                            \
    static PROF__CONSTANT_SITE prof_site variable = {                                                      \
        variable##_needs_braces_around_it, PROF__A_LITERAL_ELSE_USE_PROFILE_SCOPE_S(name), category, \
        __FILE__, __func__, __LINE__, color, level, kind, 0, 0, unmask};                                   \
    PROF__CONSTANT(name) PROF__CONSTANT(category) enum { variable##_is_checked }
#define PROF__ON(site, level) ((level) <= PROF_MAX_LEVEL && prof__on(&(site)))
#define PROF__LIVE(site, level) ((level) <= PROF_MAX_LEVEL && prof__live(&(site)))
#define PROF__BEGIN(site, level) (PROF__ON(site, level) ? prof__begin(&(site)) : 0)

#if defined(__cplusplus)
#define PROF__GUARD(variable, token) prof__guard variable = {token}
#define PROF__GUARD_SYNC(variable, token) prof__guard_sync variable = {token}
#define PROF__GUARD_STAGE(token) PROF__GUARD(prof__stage, token)
#define PROF__STAGE_TOKEN prof__stage.token
#define PROF__HANDLE(handle, guard) const prof_scope handle = guard.token
#define PROF__TOKEN_OF(scope) scope.token
#elif defined(__GNUC__)
#define PROF__GUARD(variable, token) \
    __attribute__((cleanup(prof__guard_end), unused)) prof__token variable = token
#define PROF__GUARD_SYNC(variable, token) \
    __attribute__((cleanup(prof__guard_sync), unused)) prof__token variable = token
#define PROF__GUARD_STAGE(token) __attribute__((cleanup(prof__guard_end))) prof__token prof__stage = token
#define PROF__STAGE_TOKEN prof__stage
#define PROF__HANDLE(handle, guard) const prof_scope handle __attribute__((unused)) = guard
#define PROF__TOKEN_OF(scope) scope
#endif

#if !defined(__cplusplus) && !defined(__GNUC__)
#define PROF__GUARD(variable, token) prof__this_compiler_has_only_PROFILE_BLOCK
#define PROF__GUARD_SYNC PROF__GUARD
#define PROF__GUARD_STAGE(token) PROF__GUARD(prof__stage, token)
#define PROF__HANDLE(handle, guard) const prof_scope handle = guard
#define PROF__TOKEN_OF(scope) 0
#endif

/* A statement that owns a site: action may use prof__here. */
#define PROF__STATEMENT(kind, name, category, level, action)                   \
    do {                                                                       \
        PROF__SITE(prof__here, kind, name, category, level);                   \
        if (PROF__LIVE(prof__here, level)) action;                             \
    } while (0)
/* id makes the names unique; site and token are the macro's own variables, and begin may use site. */
#define PROF__SCOPE(...) PROF__SCOPE_(__VA_ARGS__)
#define PROF__SCOPE_(id, name, category, level, begin, ...)                    \
    PROF__SITE(prof__site_##id, PROF__KIND_BEGIN, name, category, level);      \
    PROF__GUARD(prof__scope_##id, begin(prof__site_##id, level, __VA_ARGS__))
#define PROF__BEGIN_1(site, level, unused) PROF__BEGIN(site, level)
#define PROF__BEGIN_TEXT(site, level, text) (PROF__LIVE(site, level) ? prof__begin_text(&(site), PROF__TEXT(text)) : 0)
#define PROF__BEGIN_FORMAT(site, level, ...) (PROF__LIVE(site, level) ? prof__begin_format(&(site), __VA_ARGS__) : 0)

#define PROFILE_SCOPE_CL(name, category, level)                                                            \
    PROF__EITHER(PROF__SCOPE(PROF_UNIQUE, name, category, level, PROF__BEGIN_1, 0),                        \
                 PROF__GONE(PROF_UNIQUE, sizeof(name) + sizeof(category) + (level)))
#define PROFILE_SCOPE(name) PROFILE_SCOPE_CL(name, PROF_CATEGORY, PROF_SITE_LEVEL)
#define PROF__SCOPE_AS(...) PROF__SCOPE_AS_(__VA_ARGS__)
#define PROF__SCOPE_AS_(id, handle, name, category, level)                                                 \
    PROF__SCOPE_(id, name, category, level, PROF__BEGIN_1, 0);                                             \
    PROF__HANDLE(handle, prof__scope_##id)
#define PROFILE_SCOPE_AS_CL(handle, name, category, level)                                                 \
    PROF__EITHER(PROF__SCOPE_AS(PROF_UNIQUE, handle, name, category, level),                               \
                 PROF__GONE(PROF_UNIQUE, sizeof(name) + sizeof(category) + (level)); enum { handle = 0 })
#define PROFILE_SCOPE_AS(handle, name) PROFILE_SCOPE_AS_CL(handle, name, PROF_CATEGORY, PROF_SITE_LEVEL)
#define PROFILE_SCOPE_AS_C(handle, name, category) PROFILE_SCOPE_AS_CL(handle, name, category, PROF_SITE_LEVEL)
#define PROFILE_SCOPE_AS_L(handle, name, level) PROFILE_SCOPE_AS_CL(handle, name, PROF_CATEGORY, level)
#define PROFILE_SCOPE_C(name, category) PROFILE_SCOPE_CL(name, category, PROF_SITE_LEVEL)
#define PROFILE_SCOPE_L(name, level) PROFILE_SCOPE_CL(name, PROF_CATEGORY, level)
#define PROFILE_SCOPE_S(text)                                                                              \
    PROF__EITHER(PROF__SCOPE(PROF_UNIQUE, "", PROF_CATEGORY, PROF_SITE_LEVEL, PROF__BEGIN_TEXT, text),     \
                 PROF__USE(text))
#define PROFILE_SCOPE_F(...)                                                                               \
    PROF__EITHER(PROF__SCOPE(PROF_UNIQUE, PROF__FIRST(__VA_ARGS__), PROF_CATEGORY, PROF_SITE_LEVEL,        \
                             PROF__BEGIN_FORMAT, __VA_ARGS__),                                             \
                 PROF__USE(prof__format_check(__VA_ARGS__)))
#define PROF__SCOPE_COLOR(...) PROF__SCOPE_COLOR_(__VA_ARGS__)
#define PROF__SCOPE_COLOR_(id, name, color)                                                                \
    PROF__SITE_COLOR(prof__site_##id, PROF__KIND_BEGIN, name, PROF_CATEGORY, PROF_SITE_LEVEL, color);      \
    PROF__GUARD(prof__scope_##id, PROF__BEGIN(prof__site_##id, PROF_SITE_LEVEL))
#define PROFILE_SCOPE_COLOR(name, color)                                                                   \
    PROF__EITHER(PROF__SCOPE_COLOR(PROF_UNIQUE, name, color), PROF__GONE(PROF_UNIQUE, sizeof(name) + (color)))
#define PROF__SCOPE_SYNC(...) PROF__SCOPE_SYNC_(__VA_ARGS__)
#define PROF__SCOPE_SYNC_(id, name, category, level)                                                       \
    PROF__SITE(prof__site_##id, PROF__KIND_BEGIN | PROF_ROLE_SYNC << PROF__ROLE_SHIFT, name, category, level); \
    PROF__GUARD_SYNC(prof__scope_##id, PROF__BEGIN(prof__site_##id, level))
#define PROFILE_SCOPE_SYNC(name)                                                                           \
    PROF__EITHER(PROF__SCOPE_SYNC(PROF_UNIQUE, name, PROF_CATEGORY, PROF_SITE_LEVEL), PROF__GONE(PROF_UNIQUE, sizeof(name)))
#define PROFILE_SYNC()                                                                                     \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_MARK | PROF_ROLE_SYNC << PROF__ROLE_SHIFT, "sync", PROF_CATEGORY,  \
                                 PROF_SITE_LEVEL, prof__sync()),                                           \
                 (void)0)
#define PROF__SCOPE_MASK(...) PROF__SCOPE_MASK_(__VA_ARGS__)
#define PROF__SCOPE_MASK_(id, name, mask)                                                                  \
    PROF__SITE_MASK_OF(prof__site_##id, PROF__KIND_BEGIN, name, PROF_CATEGORY, PROF_SITE_LEVEL, 0,         \
                       (uint32_t)~(uint32_t)(mask));                                                       \
    PROF__GUARD(prof__scope_##id, PROF__BEGIN(prof__site_##id, PROF_SITE_LEVEL))
#define PROFILE_SCOPE_M(name, mask)                                                                        \
    PROF__EITHER(PROF__SCOPE_MASK(PROF_UNIQUE, name, mask), PROF__GONE(PROF_UNIQUE, sizeof(name) + (mask)))
/* A scope of this role with an argument from the start. */
#define PROF__SCOPE_NUMBER(...) PROF__SCOPE_NUMBER_(__VA_ARGS__)
#define PROF__SCOPE_NUMBER_(id, name, role, key, type, number)                                             \
    PROF__SITE(prof__site_##id, PROF__KIND_BEGIN | (role) << PROF__ROLE_SHIFT, name, PROF_CATEGORY, PROF_SITE_LEVEL); \
    PROF__SITE(prof__key_##id, PROF__KIND_ARG, key, PROF_CATEGORY, PROF_SITE_LEVEL);                       \
    PROF__GUARD(prof__scope_##id,                                                                          \
                PROF__LIVE(prof__site_##id, PROF_SITE_LEVEL)                                               \
                    ? prof__begin_number(&prof__site_##id, &prof__key_##id, type, (uint64_t)(number))      \
                    : 0)
#define PROFILE_STEP(name, number)                                                                         \
    PROF__EITHER(PROF__SCOPE_NUMBER(PROF_UNIQUE, name, PROF_ROLE_STEP, "step_num", PROF_VALUE_INT, (int64_t)(number)), \
                 PROF__GONE(PROF_UNIQUE, sizeof(name) + sizeof((int64_t)(number))))
#define PROFILE_THROUGHPUT(name, bytes)                                                                    \
    PROF__EITHER(PROF__SCOPE_NUMBER(PROF_UNIQUE, name, PROF_ROLE_THROUGHPUT, "bytes", PROF_VALUE_UINT, bytes), \
                 PROF__GONE(PROF_UNIQUE, sizeof(name) + sizeof((uint64_t)(bytes))))
/* The same with a name made at run time. The argument is that of no other scope: it waits for the begin. */
#define PROF__SCOPE_NAMED(...) PROF__SCOPE_NAMED_(__VA_ARGS__)
#define PROF__SCOPE_NAMED_(id, text, role, key, record, number)                                            \
    PROF__SITE(prof__site_##id, PROF__KIND_BEGIN | (role) << PROF__ROLE_SHIFT, "", PROF_CATEGORY, PROF_SITE_LEVEL); \
    PROF__SITE(prof__key_##id, PROF__KIND_ARG, key, PROF_CATEGORY, PROF_SITE_LEVEL);                       \
    PROF__GUARD(prof__scope_##id, PROF__BEGIN_TEXT(prof__site_##id, PROF_SITE_LEVEL, text));               \
    PROF__UNUSED int prof__number_##id =                                                                   \
        PROF__TOKEN_OF(prof__scope_##id) && PROF__LIVE(prof__key_##id, PROF_SITE_LEVEL)                    \
            ? (record(&prof__key_##id, number), 1)                                                         \
            : 0
#define PROFILE_STEP_S(text, number)                                                                       \
    PROF__EITHER(PROF__SCOPE_NAMED(PROF_UNIQUE, text, PROF_ROLE_STEP, "step_num", prof__arg_int, (int64_t)(number)), \
                 PROF__USE2(text, number))
#define PROFILE_THROUGHPUT_S(text, bytes)                                                                  \
    PROF__EITHER(PROF__SCOPE_NAMED(PROF_UNIQUE, text, PROF_ROLE_THROUGHPUT, "bytes", prof__arg_uint, (uint64_t)(bytes)), \
                 PROF__USE2(text, bytes))
#define PROFILE_FUNCTION() PROFILE_SCOPE(__func__)
#if defined(__has_attribute) && PROF_ENABLE
#if __has_attribute(unavailable)
extern __attribute__((unavailable("write PROFILE_FUNCTION(), with parentheses"))) int PROFILE_FUNCTION;
#endif
#endif
#define PROFILE_FUNCTION_C(category) PROFILE_SCOPE_C(__func__, category)
#define PROFILE_FUNCTION_L(level) PROFILE_SCOPE_L(__func__, level)

#define PROFILE_BLOCK(name) PROF__EITHER(PROF__BLOCK(PROF_UNIQUE, name, PROF_CATEGORY, PROF_SITE_LEVEL), )
#define PROFILE_BLOCK_C(name, category) PROF__EITHER(PROF__BLOCK(PROF_UNIQUE, name, category, PROF_SITE_LEVEL), )
#define PROFILE_BLOCK_L(name, level) PROF__EITHER(PROF__BLOCK(PROF_UNIQUE, name, PROF_CATEGORY, level), )
#if defined(__GNUC__) || defined(__TINYC__)
#define PROF__BEGIN_HERE(name, category, level)                                                            \
    __extension__({                                                                                        \
        PROF__SITE(prof__here, PROF__KIND_BEGIN, name, category, level);                                   \
        PROF__BEGIN(prof__here, level);                                                                    \
    })
#endif
#if defined(__cplusplus)
#ifndef PROF__BEGIN_HERE
#define PROF__BEGIN_HERE(name, category, level)                                                            \
    ([]() -> prof__token {                                                                                 \
        PROF__SITE(prof__here, PROF__KIND_BEGIN, name, category, level);                                   \
        return PROF__BEGIN(prof__here, level);                                                             \
    }())
#endif
#define PROF__BLOCK_(id, name, category, level)                                                            \
    for (prof__guard_block prof__block_##id = {PROF__BEGIN_HERE(name, category, level), 1};                \
         prof__block_##id.more; prof__block_##id.more = 0)
#elif defined(__GNUC__)
#define PROF__BLOCK_(id, name, category, level)                                                            \
    for (prof__token prof__scope_##id __attribute__((cleanup(prof__guard_end), unused)) =                  \
             PROF__BEGIN_HERE(name, category, level),                                                      \
             prof__more_##id = 1;                                                                          \
         prof__more_##id; prof__more_##id = 0)
#elif defined(PROF__BEGIN_HERE)
#define PROF__BLOCK_(id, name, category, level)                                                            \
    for (prof__token prof__scope_##id = PROF__BEGIN_HERE(name, category, level), prof__more_##id = 1;      \
         prof__more_##id; prof__more_##id = 0, prof__scope_##id ? prof__end(prof__scope_##id) : (void)0)
#else
#define PROF__BLOCK_(id, name, category, level)                                                            \
    PROF__SITE(prof__site_##id, PROF__KIND_BEGIN, name, category, level);                                  \
    for (prof__token prof__scope_##id = PROF__BEGIN(prof__site_##id, level), prof__more_##id = 1;          \
         prof__more_##id; prof__more_##id = 0, prof__scope_##id ? prof__end(prof__scope_##id) : (void)0)
#endif
#define PROF__BLOCK(...) PROF__BLOCK_(__VA_ARGS__)

#define PROF__BEGIN_LOOSE(name, category, level)                                                           \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_BEGIN, name, category, level, prof__begin_loose(&prof__here)), \
                 PROF__USE3(name, category, level))
#define PROFILE_BEGIN(name) PROF__BEGIN_LOOSE(name, PROF_CATEGORY, PROF_SITE_LEVEL)
#define PROFILE_BEGIN_C(name, category) PROF__BEGIN_LOOSE(name, category, PROF_SITE_LEVEL)
#define PROFILE_BEGIN_L(name, level) PROF__BEGIN_LOOSE(name, PROF_CATEGORY, level)
#define PROFILE_END(name)                                                                                  \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_END, name, "", 0, prof__end_loose(&prof__here)), PROF__USE(name))

/* One sequence of stages in a block inside another's block is meant, so that -Wshadow has nothing to say; and so is one
   without a further stage. */
#if defined(__GNUC__)
#define PROF__QUIET_SHADOW(declaration)                                                                    \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wshadow\"")                          \
    _Pragma("GCC diagnostic ignored \"-Wunused-variable\"") declaration;                                   \
    _Pragma("GCC diagnostic pop")
#else
#define PROF__QUIET_SHADOW(declaration) declaration
#endif
#define PROF__STAGE(...) PROF__STAGE_(__VA_ARGS__)
#define PROF__STAGE_(id, name)                                                                             \
    PROF__SITE(prof__site_##id, PROF__KIND_BEGIN, name, PROF_CATEGORY, PROF_SITE_LEVEL);                   \
    PROF__QUIET_SHADOW(PROF__GUARD_STAGE(PROF__BEGIN(prof__site_##id, PROF_SITE_LEVEL)))
#define PROFILE_STAGE(name) PROF__EITHER(PROF__STAGE(PROF_UNIQUE, name), PROF__GONE(PROF_UNIQUE, name))
#define PROFILE_NEXT(name)                                                                                 \
    PROF__EITHER(                                                                                          \
        do {                                                                                               \
            PROF__SITE(prof__here, PROF__KIND_BEGIN, name, PROF_CATEGORY, PROF_SITE_LEVEL);                \
            if (PROF__STAGE_TOKEN || prof__on(&prof__here))                                                \
                PROF__STAGE_TOKEN = prof__next(&prof__here, PROF__STAGE_TOKEN);                            \
        } while (0),                                                                                       \
        PROF__USE(name))

#define PROF__MARK(name, category, level, action)                                                          \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_MARK, name, category, level, action), PROF__USE3(name, category, level))
#define PROFILE_MARK(name) PROF__MARK(name, PROF_CATEGORY, PROF_SITE_LEVEL, prof__mark(&prof__here))
#define PROFILE_MARK_C(name, category) PROF__MARK(name, category, PROF_SITE_LEVEL, prof__mark(&prof__here))
#define PROFILE_MARK_L(name, level) PROF__MARK(name, PROF_CATEGORY, level, prof__mark(&prof__here))
#define PROFILE_MARK_S(text)                                                                               \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_MARK, "", PROF_CATEGORY, PROF_SITE_LEVEL,                      \
                                 prof__mark_text(&prof__here, PROF__TEXT(text))),                                      \
                 PROF__USE(text))
#define PROFILE_MARK_F(...)                                                                                \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_MARK, PROF__FIRST(__VA_ARGS__), PROF_CATEGORY, PROF_SITE_LEVEL, \
                                 prof__mark_format(&prof__here, __VA_ARGS__)),                             \
                 PROF__USE(prof__format_check(__VA_ARGS__)))
#define PROFILE_FRAME(name)                                                                                         \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_FRAME, name, PROF_CATEGORY, PROF_SITE_LEVEL, prof__frame(&prof__here)), \
                 PROF__USE(name))

#define PROF__FLOW(name, type, id)                                                                         \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_EVENT, name, PROF_CATEGORY, PROF_SITE_LEVEL,                   \
                                 prof__event(&prof__here, type, 0, id)),                                   \
                 PROF__USE2(name, id))
#define PROFILE_FLOW_OUT_N(name, id) PROF__FLOW(name, PROF_EVENT_FLOW_OUT, id)
#define PROFILE_FLOW_STEP_N(name, id) PROF__FLOW(name, PROF_EVENT_FLOW_STEP, id)
#define PROFILE_FLOW_IN_N(name, id) PROF__FLOW(name, PROF_EVENT_FLOW_IN, id)
#define PROFILE_FLOW_OUT(id) PROFILE_FLOW_OUT_N("flow", id)
#define PROFILE_FLOW_STEP(id) PROFILE_FLOW_STEP_N("flow", id)
#define PROFILE_FLOW_IN(id) PROFILE_FLOW_IN_N("flow", id)

#define PROF__LOG_LEVEL(severity) ((severity) >= PROF_LOG_WARNING ? 1 : (severity) >= PROF_LOG_INFO ? 2 : 3)
#define PROFILE_LOG(severity, ...)                                                                         \
    PROF__EITHER(                                                                                          \
        do {                                                                                               \
            static prof__log_format prof__known;                                                           \
            PROF__STATEMENT(PROF__KIND_EVENT, PROF__FIRST(__VA_ARGS__), PROF_CATEGORY,                     \
                            PROF__LOG_LEVEL(severity),                                                     \
                            prof__log(&prof__here, &prof__known, (uint64_t)(severity), __VA_ARGS__));      \
        } while (0),                                                                                       \
        (0 ? (void)(severity) : PROF__USE(prof__format_check(__VA_ARGS__))))
#define PROF__MARK_ROLE(scope) ((int)(scope) != 0 ? (int)PROF_ROLE_MARK_GLOBAL - (int)PROF_MARK_GLOBAL + (int)(scope) : 0)
#define PROFILE_MARK_SCOPE(name, scope)                                                                    \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_MARK | PROF__MARK_ROLE(scope) << PROF__ROLE_SHIFT, name, PROF_CATEGORY, \
                                 PROF_SITE_LEVEL, prof__mark(&prof__here)),                                \
                 PROF__USE2(name, scope))

#define PROF__SPAN(type, name, id, category)                                                               \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_EVENT, name, category, PROF_SITE_LEVEL,                        \
                                 prof__event(&prof__here, type, 0, (uint64_t)(id))),                       \
                 PROF__USE3(name, id, category))
#define PROFILE_SPAN_BEGIN(name, id) PROF__SPAN(PROF_EVENT_SPAN_BEGIN, name, id, PROF_CATEGORY)
#define PROFILE_SPAN_BEGIN_C(name, id, category) PROF__SPAN(PROF_EVENT_SPAN_BEGIN, name, id, category)
#define PROFILE_SPAN_MARK(name, id) PROF__SPAN(PROF_EVENT_SPAN_MARK, name, id, PROF_CATEGORY)
#define PROFILE_SPAN_MARK_C(name, id, category) PROF__SPAN(PROF_EVENT_SPAN_MARK, name, id, category)
#define PROFILE_SPAN_END(name, id) PROF__SPAN(PROF_EVENT_SPAN_END, name, id, PROF_CATEGORY)
#define PROFILE_SPAN_END_C(name, id, category) PROF__SPAN(PROF_EVENT_SPAN_END, name, id, category)

/* 1 converted to the type of value, halved, is not 0 only in floating point; value is evaluated once. */
#define PROF__COUNTER(name, value, category, level)                                                                \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_COUNTER_INT, name, category, level,                                    \
                                 ((1 ? 1 : (value)) / 2 != 0) ? prof__counter_double(&prof__here, (double)(value)) \
                                                              : prof__counter_int(&prof__here, (int64_t)(value))), \
                 (0 ? (void)(name) : PROF__USE3(value, category, level)))
#define PROFILE_COUNTER(name, value) PROF__COUNTER(name, value, PROF_CATEGORY, PROF_SITE_LEVEL)
#define PROFILE_COUNTER_C(name, value, category) PROF__COUNTER(name, value, category, PROF_SITE_LEVEL)
#define PROFILE_COUNTER_L(name, value, level) PROF__COUNTER(name, value, PROF_CATEGORY, level)

/* Not a PROF__STATEMENT: it counts while it is off, too. */
#define PROF__COUNT(how, name, value, category)                                                            \
    PROF__EITHER(                                                                                          \
        do {                                                                                               \
            PROF__SITE(prof__here, PROF__KIND_COUNTER_INT, name, category, PROF_SITE_LEVEL);               \
            static prof__number prof__counted;                                                              \
            if ((PROF_SITE_LEVEL) > PROF_MAX_LEVEL) break;                                                 \
            ((1 ? 1 : (value)) / 2 != 0) ? prof__count_double(&prof__here, &prof__counted, how, (double)(value)) \
                                         : prof__count_int(&prof__here, &prof__counted, how, (int64_t)(value)); \
        } while (0),                                                                                       \
        (0 ? (void)(name) : PROF__USE2(value, category)))
#define PROFILE_COUNTER_ADD(name, delta) PROF__COUNT(PROF__TALLY_ADD, name, delta, PROF_CATEGORY)
#define PROFILE_COUNTER_ADD_C(name, delta, category) PROF__COUNT(PROF__TALLY_ADD, name, delta, category)
#define PROFILE_COUNTER_SUB(name, delta) PROF__COUNT(PROF__TALLY_SUB, name, delta, PROF_CATEGORY)
#define PROFILE_COUNTER_SUB_C(name, delta, category) PROF__COUNT(PROF__TALLY_SUB, name, delta, category)
#define PROFILE_COUNTER_SET(name, value) PROF__COUNT(PROF__TALLY_SET, name, value, PROF_CATEGORY)
#define PROFILE_COUNTER_SET_C(name, value, category) PROF__COUNT(PROF__TALLY_SET, name, value, category)

#define PROF__ARG(key, value, function)                                                                              \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_ARG, key, PROF_CATEGORY, PROF_SITE_LEVEL, function(&prof__here, value)), \
                 PROF__USE2(key, value))
#define PROFILE_ARG_I(key, value) PROF__ARG(key, value, prof__arg_int)
#define PROFILE_ARG_U(key, value) PROF__ARG(key, value, prof__arg_uint)
#define PROFILE_ARG_D(key, value) PROF__ARG(key, value, prof__arg_double)
#define PROFILE_ARG_B(key, value) PROF__ARG(key, value, prof__arg_bool)
#define PROFILE_ARG_S(key, value) PROF__ARG(key, PROF__TEXT(value), prof__arg_string)
#define PROFILE_ARG_P(key, value) PROF__ARG(key, value, prof__arg_pointer)
#if defined(__cplusplus)
#define PROFILE_ARG(key, value) PROF__ARG(key, value, prof__arg)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
/* The function for the type of value: f##int and so on. */
#define PROF__BY_TYPE(f, value)                                                                               \
    _Generic((value), _Bool: f##bool, char: f##int, signed char: f##int, short: f##int, int: f##int,          \
        long: f##int, long long: f##int, unsigned char: f##uint, unsigned short: f##uint, unsigned: f##uint,  \
        unsigned long: f##uint, unsigned long long: f##uint, float: f##double, double: f##double,             \
        char *: f##string, const char *: f##string,                                                           \
        default: _Generic((0 ? 0ll : (value)), long long: f##int, /* bit-fields */                            \
                          unsigned long long: f##uint, default: f##pointer))
#define PROFILE_ARG(key, value) PROF__ARG(key, value, PROF__BY_TYPE(prof__arg_, value))
#endif

/* Arguments for lists; they mean nothing elsewhere. Stripped they are uses of what they name. */
#define PROF__USED(key, value) ((void)(key), (void)(value), 0)
#define PROF__USE_LIST(...) PROF__USE(prof__args_check(0, __VA_ARGS__))
#define PROF__MAKE(function, key, value) PROF__EITHER(function(PROF__TEXT(key), value), PROF__USED(key, value))
#define PROF_ARG_I(key, value) PROF__MAKE(prof__made_int, key, value)
#define PROF_ARG_U(key, value) PROF__MAKE(prof__made_uint, key, value)
#define PROF_ARG_D(key, value) PROF__MAKE(prof__made_double, key, value)
#define PROF_ARG_B(key, value) PROF__MAKE(prof__made_bool, key, value)
#define PROF_ARG_S(key, value) PROF__MAKE(prof__made_string, key, PROF__TEXT(value))
#define PROF_ARG_P(key, value) PROF__MAKE(prof__made_pointer, key, value)
#if defined(__cplusplus)
#define PROF_ARG(key, value) PROF__EITHER(prof__made(PROF__TEXT(key), prof__plain(value)), PROF__USED(key, value))
#define PROF__WITH(site, type, object, ...) prof__with_all(site, type, object, __VA_ARGS__)
#else
#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define PROF_ARG(key, value) PROF__MAKE(PROF__BY_TYPE(prof__made_, value), key, value)
#endif
#ifdef __TINYC__ /* counts the elements only of arrays of scalars; what is left has no type */
#define PROF__LIST_SIZE (PROF_DEVICE_ARGS + 1)
#else
#define PROF__LIST_SIZE
#endif
#define PROF__WITH(site, type, object, ...)                                                                   \
    {                                                                                                         \
        const prof_arg prof__args[PROF__LIST_SIZE] = {__VA_ARGS__};                                           \
        prof__with(site, type, object, prof__args, (uint32_t)(sizeof prof__args / sizeof *prof__args));       \
    }
#endif
#define PROFILE_ARGS(...)                                                                                     \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_ARG, "", PROF_CATEGORY, PROF_SITE_LEVEL,                          \
                                 PROF__WITH(&prof__here, PROF_EVENT_SCOPE, 0, __VA_ARGS__)),                  \
                 PROF__USE_LIST(__VA_ARGS__))
#define PROFILE_ARGS_TO(handle, ...)                                                                          \
    PROF__EITHER(                                                                                             \
        do {                                                                                                  \
            const prof_scope prof__to = (handle);                                                             \
            if (prof__to) PROF__WITH((prof_site *)0, PROF_EVENT_SCOPE, prof__to, __VA_ARGS__);                \
        } while (0),                                                                                          \
        (0 ? (void)(handle) : PROF__USE_LIST(__VA_ARGS__)))
#define PROFILE_ARG_TO(handle, key, value) PROFILE_ARGS_TO(handle, PROF_ARG(key, value))
#define PROFILE_ARG_TO_I(handle, key, value) PROFILE_ARGS_TO(handle, PROF_ARG_I(key, value))
#define PROFILE_ARG_TO_U(handle, key, value) PROFILE_ARGS_TO(handle, PROF_ARG_U(key, value))
#define PROFILE_ARG_TO_D(handle, key, value) PROFILE_ARGS_TO(handle, PROF_ARG_D(key, value))
#define PROFILE_ARG_TO_B(handle, key, value) PROFILE_ARGS_TO(handle, PROF_ARG_B(key, value))
#define PROFILE_ARG_TO_S(handle, key, value) PROFILE_ARGS_TO(handle, PROF_ARG_S(key, value))
#define PROFILE_ARG_TO_P(handle, key, value) PROFILE_ARGS_TO(handle, PROF_ARG_P(key, value))
#define PROF__EVENT_ARGS(kind, type, name, id, ...)                                                           \
    PROF__EITHER(PROF__STATEMENT(kind, name, PROF_CATEGORY, PROF_SITE_LEVEL,                                  \
                                 PROF__WITH(&prof__here, type, (uint64_t)(id), __VA_ARGS__)),                 \
                 (0 ? (void)(name), (void)(id) : PROF__USE_LIST(__VA_ARGS__)))
#define PROFILE_MARK_ARGS(name, ...) PROF__EVENT_ARGS(PROF__KIND_MARK, PROF_EVENT_MARK, name, 0, __VA_ARGS__)
#define PROFILE_SPAN_BEGIN_ARGS(name, id, ...) \
    PROF__EVENT_ARGS(PROF__KIND_EVENT, PROF_EVENT_SPAN_BEGIN, name, id, __VA_ARGS__)
#define PROFILE_SPAN_MARK_ARGS(name, id, ...) \
    PROF__EVENT_ARGS(PROF__KIND_EVENT, PROF_EVENT_SPAN_MARK, name, id, __VA_ARGS__)
#define PROFILE_SPAN_END_ARGS(name, id, ...) PROF__EVENT_ARGS(PROF__KIND_EVENT, PROF_EVENT_SPAN_END, name, id, __VA_ARGS__)
#define PROFILE_FLOW_OUT_ARGS(id, ...) PROF__EVENT_ARGS(PROF__KIND_EVENT, PROF_EVENT_FLOW_OUT, "flow", id, __VA_ARGS__)
#define PROFILE_FLOW_STEP_ARGS(id, ...) PROF__EVENT_ARGS(PROF__KIND_EVENT, PROF_EVENT_FLOW_STEP, "flow", id, __VA_ARGS__)
#define PROFILE_FLOW_IN_ARGS(id, ...) PROF__EVENT_ARGS(PROF__KIND_EVENT, PROF_EVENT_FLOW_IN, "flow", id, __VA_ARGS__)
#define PROF__TASK_ARGS(type, task, ...)                                                                      \
    PROF__EITHER(                                                                                             \
        do {                                                                                                  \
            prof_task *prof__task = (task);                                                                   \
            if (prof__task) PROF__WITH((prof_site *)0, type, (uint64_t)(uintptr_t)prof__task, __VA_ARGS__);   \
        } while (0),                                                                                          \
        (0 ? (void)(task) : PROF__USE_LIST(__VA_ARGS__)))
#define PROFILE_TASK_START_ARGS(task, ...) PROF__TASK_ARGS(PROF_EVENT_SPAN_BEGIN, task, __VA_ARGS__)
#define PROFILE_TASK_STOP_ARGS(task, ...) PROF__TASK_ARGS(PROF_EVENT_SPAN_END, task, __VA_ARGS__)

/* memory: pointers may be numbers, for example addresses on a device */
#define PROF__ADDRESS(pointer) ((uint64_t)(uintptr_t)(pointer))
#define PROF__MEMORY(name, pool, how, freed, pointer, bytes)                                                         \
    PROF__STATEMENT(PROF__KIND_EVENT | PROF_ROLE_MEMORY << PROF__ROLE_SHIFT, name, pool, PROF_SITE_LEVEL,            \
                    prof__memory(&prof__here, how, PROF__ADDRESS(freed), PROF__ADDRESS(pointer), (uint64_t)(bytes)))
#define PROFILE_ALLOC_C(pointer, bytes, pool) \
    PROF__EITHER(PROF__MEMORY("alloc", pool, 0, 0, pointer, bytes), PROF__USE3(pointer, bytes, pool))
#define PROFILE_ALLOC(pointer, bytes) PROFILE_ALLOC_C(pointer, bytes, PROF_CATEGORY)
#define PROFILE_FREE_C(pointer, pool) \
    PROF__EITHER(PROF__MEMORY("free", pool, PROF__FREE_IN_POOL, pointer, 0, 0), PROF__USE2(pointer, pool))
#define PROFILE_FREE(pointer) \
    PROF__EITHER(PROF__MEMORY("free", PROF_CATEGORY, 0, pointer, 0, 0), PROF__USE(pointer))
#define PROF__REALLOC(old, pointer, bytes, pool, how)                                                    \
    PROF__EITHER(PROF__MEMORY("realloc", pool, PROF__FREE_LATE | (how), old, pointer, bytes),            \
                 (0 ? (void)(old) : PROF__USE3(pointer, bytes, pool)))
#define PROFILE_REALLOC(old, pointer, bytes) PROF__REALLOC(old, pointer, bytes, PROF_CATEGORY, 0)
#define PROFILE_REALLOC_C(old, pointer, bytes, pool) PROF__REALLOC(old, pointer, bytes, pool, PROF__FREE_IN_POOL)
#define PROF__MEMORY_SCOPE(...) PROF__MEMORY_SCOPE_(__VA_ARGS__)
#define PROF__MEMORY_SCOPE_(id, name, begin, text)                                                                   \
    PROF__SITE(prof__site_##id, PROF__KIND_BEGIN | PROF_ROLE_MEMORY << PROF__ROLE_SHIFT, name, PROF_CATEGORY,        \
               PROF_SITE_LEVEL);                                                                                     \
    PROF__GUARD(prof__scope_##id, begin(prof__site_##id, PROF_SITE_LEVEL, text))
#define PROFILE_MEMORY_SCOPE(name) \
    PROF__EITHER(PROF__MEMORY_SCOPE(PROF_UNIQUE, name, PROF__BEGIN_1, 0), PROF__GONE(PROF_UNIQUE, name))
#define PROFILE_MEMORY_SCOPE_S(text) \
    PROF__EITHER(PROF__MEMORY_SCOPE(PROF_UNIQUE, "", PROF__BEGIN_TEXT, text), PROF__USE(text))

#define PROF__LOCK_EVENT(lock, name, type)                                                                           \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_EVENT | PROF_ROLE_LOCK << PROF__ROLE_SHIFT, name, PROF_CATEGORY,         \
                                 PROF_SITE_LEVEL, prof__event(&prof__here, type, 0, PROF__ADDRESS(lock))),           \
                 PROF__USE2(lock, name))
#define PROFILE_LOCK_WAIT(lock, name) PROF__LOCK_EVENT(lock, name, PROF_EVENT_LOCK_WAIT)
#define PROFILE_LOCK_ACQUIRE(lock, name) PROF__LOCK_EVENT(lock, name, PROF_EVENT_LOCK_ACQUIRE)
#define PROFILE_LOCK_RELEASE(lock, name) PROF__LOCK_EVENT(lock, name, PROF_EVENT_LOCK_RELEASE)
/* and wherever there are pthreads, whose mutex it is */
#if !defined(_WIN32) && (defined(__GNUC__) || defined(__TINYC__))
#define PROF__MUTEX_LOCK(mutex, name)                                                                                \
    __extension__({                                                                                                  \
        PROF__SITE(prof__wait, PROF__KIND_BEGIN, "wait for " name, PROF_CATEGORY, PROF_SITE_LEVEL);                  \
        PROF__SITE(prof__here, PROF__KIND_EVENT | PROF_ROLE_LOCK << PROF__ROLE_SHIFT, name, PROF_CATEGORY,           \
                   PROF_SITE_LEVEL);                                                                                 \
        PROF__LIVE(prof__here, PROF_SITE_LEVEL) ? prof__mutex_lock(&prof__wait, &prof__here, mutex)                  \
                                                : pthread_mutex_lock(mutex);                                         \
    })
#define PROF__MUTEX_UNLOCK(mutex)                                                                                    \
    __extension__({                                                                                                  \
        PROFILE_LOCK_RELEASE(mutex, "unlock");                                                                       \
        pthread_mutex_unlock(mutex);                                                                                 \
    })
#define PROFILE_MUTEX_LOCK(mutex, name) PROF__EITHER(PROF__MUTEX_LOCK(mutex, name), pthread_mutex_lock(mutex))
#define PROFILE_MUTEX_UNLOCK(mutex) PROF__EITHER(PROF__MUTEX_UNLOCK(mutex), pthread_mutex_unlock(mutex))
#endif

#define PROFILE_THREAD(name) PROF__EITHER(prof_thread_name(PROF__TEXT(name)), PROF__USE(name))

#if !PROF_ENABLE
int prof__format_check(const char *format, ...) PROF__PRINTF(1, 2); /* never defined, never called */
int prof__args_check(int first, ...);
#if defined(__GNUC__) || defined(__TINYC__)
#define PROF__STRIPPED(value, use) __extension__({ use; value; })
#else
#define PROF__STRIPPED(value, use) (use, value)
#endif
#define prof_start(config) PROF__STRIPPED(PROF_DISABLED, PROF__USE(config))
#define prof_stop() PROF__STRIPPED(PROF_DISABLED, (void)0)
#define prof_pause() PROF__STRIPPED(PROF_DISABLED, (void)0)
#define prof_resume() PROF__STRIPPED(PROF_DISABLED, (void)0)
#define prof_reset() PROF__STRIPPED(PROF_DISABLED, (void)0)
#define prof_enabled() PROF__STRIPPED(0, (void)0)
#define prof_enabled_at(level) PROF__STRIPPED(0, PROF__USE(level))
#define prof_set_level(level) PROF__STRIPPED(PROF_DISABLED, PROF__USE(level))
#define prof_set_filter_mask(mask) PROF__STRIPPED(PROF_DISABLED, PROF__USE(mask))
#define prof_flow_new() PROF__STRIPPED((uint64_t)0, (void)0)
#define prof_category_enable(pattern, on) PROF__STRIPPED(PROF_DISABLED, PROF__USE2(pattern, on))
#define prof_config_set(config, key, value) PROF__STRIPPED(PROF_DISABLED, PROF__USE3(config, key, value))
#define prof_config_from_env(config) PROF__STRIPPED(PROF_DISABLED, PROF__USE(config))
#define prof_config_describe(index, option) PROF__STRIPPED(0, PROF__USE2(index, option))
#define prof_config_claim(prefix, claim, user) PROF__STRIPPED(PROF_DISABLED, PROF__USE3(prefix, claim, user))
#define prof_set_metadata(key, value) PROF__STRIPPED(PROF_DISABLED, PROF__USE2(key, value))
#define prof_clear_metadata() PROF__STRIPPED(PROF_DISABLED, (void)0)
#define prof_set_sync(sync, user) PROF__STRIPPED(PROF_DISABLED, PROF__USE2(sync, user))
#define prof_trace_metadata(trace, index, key, value) \
    PROF__STRIPPED(0, (0 ? (void)(trace) : PROF__USE3(index, key, value)))
#define prof_save(path) PROF__STRIPPED(PROF_DISABLED, PROF__USE(path))
#define prof_save_request() PROF__STRIPPED(PROF_DISABLED, (void)0)
#define prof_save_last(path, seconds) PROF__STRIPPED(PROF_DISABLED, PROF__USE2(path, seconds))
#define prof_status_text(status) PROF__STRIPPED("", PROF__USE(status))
#define prof_error() PROF__STRIPPED("", (void)0)
#define prof_thread_name(name) PROF__STRIPPED((void)0, PROF__USE(name))
#define prof_fiber_create(name) PROF__STRIPPED((prof_fiber *)0, PROF__USE(name))
#define prof_fiber_init(memory, name) PROF__STRIPPED((prof_fiber *)0, PROF__USE2(memory, name))
#define prof_fiber_switch(fiber) PROF__STRIPPED((void)0, PROF__USE(fiber))
#define prof_fiber_destroy(fiber) PROF__STRIPPED((void)0, PROF__USE(fiber))
#define prof_domain_create(name) PROF__STRIPPED((prof_domain *)0, PROF__USE(name))
#define prof_domain_name(domain) PROF__STRIPPED("", PROF__USE(domain))
#define prof_domain_enable(domain, on) PROF__STRIPPED(PROF_DISABLED, PROF__USE2(domain, on))
#define prof_domain_list(names, room) PROF__STRIPPED((size_t)0, PROF__USE2(names, room))
#define prof_task_create(domain, name) PROF__STRIPPED((prof_task *)0, PROF__USE2(domain, name))
#define prof_task_start(task) PROF__STRIPPED((void)0, PROF__USE(task))
#define prof_task_stop(task) PROF__STRIPPED((void)0, PROF__USE(task))
#define prof_task_destroy(task) PROF__STRIPPED((void)0, PROF__USE(task))
#define prof_frame_create(domain, name) PROF__STRIPPED((prof_frame *)0, PROF__USE2(domain, name))
#define prof_frame_start(frame) PROF__STRIPPED((void)0, PROF__USE(frame))
#define prof_frame_stop(frame) PROF__STRIPPED((void)0, PROF__USE(frame))
#define prof_frame_destroy(frame) PROF__STRIPPED((void)0, PROF__USE(frame))
#define prof_range_create(name) PROF__STRIPPED((prof_range *)0, PROF__USE(name))
#define prof_range_start(range) PROF__STRIPPED((void)0, PROF__USE(range))
#define prof_range_stop(range) PROF__STRIPPED((void)0, PROF__USE(range))
#define prof_range_destroy(range) PROF__STRIPPED((void)0, PROF__USE(range))
#define prof_counter_create(domain, name) PROF__STRIPPED((prof_counter *)0, PROF__USE2(domain, name))
#define prof_counter_set(counter, value) PROF__STRIPPED((void)0, PROF__USE2(counter, value))
#define prof_counter_add(counter, delta) PROF__STRIPPED((void)0, PROF__USE2(counter, delta))
#define prof_counter_sub(counter, delta) PROF__STRIPPED((void)0, PROF__USE2(counter, delta))
#define prof_counter_set_double(counter, value) PROF__STRIPPED((void)0, PROF__USE2(counter, value))
#define prof_counter_add_double(counter, delta) PROF__STRIPPED((void)0, PROF__USE2(counter, delta))
#define prof_counter_destroy(counter) PROF__STRIPPED((void)0, PROF__USE(counter))
#define prof_marker_create(domain, name) PROF__STRIPPED((prof_marker *)0, PROF__USE2(domain, name))
#define prof_marker_mark(marker, scope) PROF__STRIPPED((void)0, PROF__USE2(marker, scope))
#define prof_marker_destroy(marker) PROF__STRIPPED((void)0, PROF__USE(marker))
#define prof_trace_open(path, trace) PROF__STRIPPED(PROF_DISABLED, PROF__USE2(path, trace))
#define prof_trace_live(trace) PROF__STRIPPED(PROF_DISABLED, PROF__USE(trace))
#define prof_trace_memory(image, size, trace) PROF__STRIPPED(PROF_DISABLED, PROF__USE3(image, size, trace))
#define prof_trace_close(trace) PROF__STRIPPED((void)0, PROF__USE(trace))
#define prof_trace_window(trace, from_ns, to_ns) PROF__STRIPPED(PROF_DISABLED, PROF__USE3(trace, from_ns, to_ns))
#define prof_trace_about(trace) PROF__STRIPPED((const prof_trace_info *)0, PROF__USE(trace))
#define prof_trace_track_count(trace) PROF__STRIPPED((size_t)0, PROF__USE(trace))
#define prof_trace_track(trace, index) PROF__STRIPPED((const prof_track *)0, PROF__USE2(trace, index))
#define prof_cursor_open(trace, track, cursor) PROF__STRIPPED(PROF_DISABLED, PROF__USE3(trace, track, cursor))
#define prof_cursor_next(cursor, event) PROF__STRIPPED(0, PROF__USE2(cursor, event))
#define prof_cursor_close(cursor) PROF__STRIPPED((void)0, PROF__USE(cursor))
#define prof_timeline_open(trace, timeline) PROF__STRIPPED(PROF_DISABLED, PROF__USE2(trace, timeline))
#define prof_timeline_next(timeline, event, track) PROF__STRIPPED(0, PROF__USE3(timeline, event, track))
#define prof_timeline_close(timeline) PROF__STRIPPED(PROF_DISABLED, PROF__USE(timeline))
#define prof_spans_open(trace, spans) PROF__STRIPPED(PROF_DISABLED, PROF__USE2(trace, spans))
#define prof_spans_next(spans, span) PROF__STRIPPED(0, PROF__USE2(spans, span))
#define prof_spans_close(spans) PROF__STRIPPED(PROF_DISABLED, PROF__USE(spans))
#define prof_summary_write(trace, path, options) PROF__STRIPPED(PROF_DISABLED, PROF__USE3(trace, path, options))
#define prof_summary_stream(trace, sink, options) PROF__STRIPPED(PROF_DISABLED, PROF__USE3(trace, sink, options))
#define prof_csv_write(trace, path) PROF__STRIPPED(PROF_DISABLED, PROF__USE2(trace, path))
#define prof_csv_stream(trace, sink) PROF__STRIPPED(PROF_DISABLED, PROF__USE2(trace, sink))
#define prof_stats(trace, sort, ascending, stats, count) \
    PROF__STRIPPED(PROF_DISABLED, (0 ? (void)(stats), (void)(count) : PROF__USE3(trace, sort, ascending)))
#define prof_stats_by_path(trace, sort, ascending, stats, count)                                           \
    PROF__STRIPPED(PROF_DISABLED, (0 ? (void)(stats), (void)(count) : PROF__USE3(trace, sort, ascending)))
#define prof_span_stats(trace, sort, ascending, stats, count)                                              \
    PROF__STRIPPED(PROF_DISABLED, (0 ? (void)(stats), (void)(count) : PROF__USE3(trace, sort, ascending)))
#define prof_stats_free(stats) PROF__STRIPPED((void)0, PROF__USE(stats))
#define prof_memory(trace, stats) PROF__STRIPPED(PROF_DISABLED, PROF__USE2(trace, stats))
#define prof_memory_free(stats) PROF__STRIPPED((void)0, PROF__USE(stats))
#define prof_locks(trace, by_address, rows, count) \
    PROF__STRIPPED(PROF_DISABLED, (0 ? (void)(count) : PROF__USE3(trace, by_address, rows)))
#define prof_locks_free(rows) PROF__STRIPPED((void)0, PROF__USE(rows))
#define prof_writer_register(writer) PROF__STRIPPED((void)0, PROF__USE(writer))
#define prof_trace_write(trace, path, extension) PROF__STRIPPED(PROF_DISABLED, PROF__USE3(trace, path, extension))
#define prof_device_create(name, clock) PROF__STRIPPED((prof_device *)0, PROF__USE2(name, clock))
#define prof_device_track(device, name) PROF__STRIPPED((prof_device_row *)0, PROF__USE2(device, name))
#define prof_device_sync(device, ticks, host_ns) PROF__STRIPPED(PROF_DISABLED, PROF__USE3(device, ticks, host_ns))
#define prof_host_ns() PROF__STRIPPED((uint64_t)0, (void)0)
#define prof_device_scope(row, name, start, end) \
    PROF__STRIPPED((void)0, (0 ? (void)(row) : PROF__USE3(name, start, end)))
#define prof_device_mark(row, name, time) PROF__STRIPPED((void)0, PROF__USE3(row, name, time))
#define prof_device_counter(row, name, time, value) \
    PROF__STRIPPED((void)0, (0 ? (void)(row) : PROF__USE3(name, time, value)))
#define prof_device_counter_double(row, name, time, value) \
    PROF__STRIPPED((void)0, (0 ? (void)(row) : PROF__USE3(name, time, value)))
#define prof_device_record(row, event) PROF__STRIPPED((void)0, PROF__USE2(row, event))
#define prof_trace_align(traces, count, offsets) PROF__STRIPPED((size_t)0, PROF__USE3(traces, count, offsets))
#define prof_trace_watch(trace, step, user) PROF__STRIPPED((void)0, PROF__USE3(trace, step, user))
#define prof_image_find(bytes, size, image_size) PROF__STRIPPED(PROF_DISABLED, PROF__USE3(bytes, size, image_size))
#define prof_image_copy(from, to, from_ns, to_ns)                                                          \
    PROF__STRIPPED(PROF_DISABLED, (0 ? (void)(to_ns) : PROF__USE3(from, to, from_ns)))
#define prof_image_window(bytes, size, from_ns, to_ns)                                                     \
    PROF__STRIPPED(PROF_DISABLED, (0 ? (void)(to_ns) : PROF__USE3(bytes, size, from_ns)))
#define prof_image_shorten(bytes, left, image_size) PROF__STRIPPED(PROF_DISABLED, PROF__USE3(bytes, left, image_size))
#define prof_writer_unregister(writer) PROF__STRIPPED((void)0, PROF__USE(writer))
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_H */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF__IMPLEMENTED)
#define PROF__IMPLEMENTED
#if defined(PROF_WITH_ITT) || defined(PROF_WITH_NVTX) || defined(PROF_WITH_SDT)
#define PROF__BRIDGED 1
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*-- IMAGE -------------------------------------------------------------------------------------------------- >>image --
   The same bytes in memory, in a .prof file, in a core dump. All fields have fixed width and the writer's byte order.

     prof__header       at 0
     meta               append-only records: strings, call sites, session key/values; published by their non-zero head
     index              a hash table over meta, private to the writer; readers ignore it
     chunks             chunk_count times chunk_size bytes: a prof__chunk followed by words

   A chunk belongs to one thread at a time; its words are a sequence of records, head first, published by the head's
   non-zero kind: a reader stops at the first word that has none. Heads:

       63..60 kind   59..40 call site id   39..0 ticks since the chunk's base     BEGIN END MARK FRAME
                                                                                  COUNTER_*, then 1 word: the value
       63..60 kind   59..40 call site id   39..32 value type   31 cut   15..0 n   ARG, then n words: the value
                     30 key   29 to                                               NAME, the same: a string, site 0
       63..60 kind   59..32 serial, low part   31 fiber   30..0 name (string id)  TRACK, then 2 words:
                     63..40 serial, high part   39..0 track id;  63..0 thread id
       63..60 kind   39..0 count                                                  LOST
       63..60 kind   59..40 call site id   39..0 ticks since the chunk's base     EVENT, then 2 words:
                     63..8 detail   7..0 prof_event_type;  63..0 object
       63..60 kind   59..40 call site id   39..32 value type   31 cut   15..0 n   DATA, then n words: the value

   TRACK says whose records follow, and on which thread; it comes first in each chunk. serial counts the TRACK records
   of its track from 1 on, over all threads and chunks: it puts them in order, and shows what is missing. ARG belongs to
   the innermost open scope of its track.
   DATA is a value, with its key's call site or 0, of the EVENT, MARK or DATA directly before it.
   An ARG or DATA with bit 30 is a string, the key of the record behind it, which is of the same kind and has call site
   0. An ARG with bit 29 has as its last word the head of a BEGIN without its ticks, and belongs to the innermost open
   scope of that call site.
   An EVENT whose type is no prof_event_type is of a device, not of its track: see >>device.
   NAME is the run-time name of the BEGIN, MARK or EVENT directly before it. An END closes the innermost open scope with
   the same call site or, failing that, of the same name; scopes inside that one were left without an end (longjmp).
   Strings end with at least one zero byte and are padded to whole words. Chunks are in order of their sequence
   number. */

#define PROF__MAGIC "prof.img"
#define PROF__IMAGE_VERSION 3
#define PROF__BYTE_ORDER 0x01020304u
#define PROF__TICK_BITS 40
#define PROF__TICK_MASK ((1ull << PROF__TICK_BITS) - 1)
#define PROF__SITE_BITS 20
#define PROF__SITE_MASK ((1u << PROF__SITE_BITS) - 1)
#define PROF__KIND_SHIFT 60
#define PROF__ARG_KEY (1u << 30) /* of ARG and DATA: the key of what is behind it */
#define PROF__ARG_TO (1u << 29)  /* of ARG: the last word says whose it is */

/* One instant on two clocks. Ticks are those of the session's clock; width is how many ticks passed while it was taken:
   the smaller, the better the pair. */
typedef struct prof__pair {
    uint64_t tick, monotonic_ns, unix_ns, width;
} prof__pair;

typedef struct prof__header {
    char magic[8];
    uint32_t version, byte_order, header_size, word_size; /* word_size: bytes of a pointer of the recording program */
    uint64_t image_size;
    uint64_t meta_offset, meta_size, index_offset, index_size;
    uint64_t chunk_offset, chunk_count;
    uint32_t chunk_size, chunk_header_size;
    uint32_t mode, clock; /* prof_mode, prof_clock */
    uint32_t state;       /* PROF__RUNNING, PROF__STOPPED */
    uint32_t session;     /* counts the sessions of the process */
    uint64_t pid;
    uint64_t tick_hz;     /* where the processor or the user tells it, else 0: then only the pairs know */
    uint64_t resolution_ticks, cost_ticks_x1000; /* of the clock; of one scope */
    prof__pair first, last;                      /* the session's start; the newest known */
    uint64_t next_chunk;  /* the ring's position: counts chunks tried so far */
    uint64_t overwritten; /* chunks that were reused and so lost their older words */
    uint64_t meta_used;   /* bytes */
    uint64_t lost;        /* events lost on threads without a chunk; the others' are in their chunks */
    uint64_t sites_lost;  /* call sites and names that found no room in meta */
    uint64_t tracks;      /* track ids given out, at most 2^40 - 1 */
    uint64_t parent_pid;  /* the process that made this one, by fork or otherwise; 0: not known */
    char program[64], clock_name[24], boot_id[40]; /* boot_id: tells whether this machine's counter is still the same */
    /* PROF_STREAM, file offsets: the archive's region, and in it the oldest block and the place of the next one */
    uint64_t archive_offset, archive_limit, archive_first, archive_next;
    uint64_t write_failures; /* writes in the background that failed and were tried again */
    char write_error[64];    /* why the last of them did, or why the file does not grow any more */
    uint64_t window_from, window_to; /* ticks: what a reader shows of the rest; 0: no limit */
    uint64_t copy_tick; /* in a copy of a running image: when it was begun. What is later may be incomplete. 0: no
                           copy */
    /* Images of before have no more than that: see prof__read_header(). */
    uint64_t taken_back;    /* scopes that were too short, in chunks that were reused; of the others it is in these */
    uint64_t call_x1000;    /* ticks: as cost_ticks_x1000, of a call with the hooks of functions; 0: there are none */
    uint64_t text_x1000, format_x1000; /* of a scope whose name is made at run time, without and with a format */
} prof__header;

#define PROF__HEADER_LEAST offsetof(prof__header, taken_back)

enum { PROF__RUNNING = 1, PROF__STOPPED = 2 };

typedef struct prof__chunk {
    uint64_t sequence; /* from 1; 0: empty or being reused */
    prof__pair base;
    uint32_t state;    /* PROF__CHUNK_... */
    uint32_t unused;
    uint64_t lost;     /* events that the last thread in this chunk could not record since its last LOST record */
    uint64_t taken_back; /* scopes that were recorded here and taken back, for they were too short */
} prof__chunk;

enum { PROF__CHUNK_FREE = 0, PROF__CHUNK_OWNED, PROF__CHUNK_FULL, PROF__CHUNK_LEFT };

/* The archive: chunks that were packed (see >>pack) and so left the ring, as blocks from archive_offset on. Blocks are
   in order of time from archive_first to archive_next; one that does not fit in front of archive_limit stands at
   archive_offset again, and what it left free has a header with sequence 0, or less than 64 bytes. */
typedef struct prof__block {
    uint32_t magic, size; /* size: bytes, these 64 included, a multiple of 8 */
    uint64_t sequence;    /* sequence, base, lost: the chunk's */
    prof__pair base;
    uint64_t lost;
    uint32_t words;       /* of the chunk, before packing */
    uint32_t check;       /* prof__block_check(): tells a block that is being overwritten, or was not written in full */
} prof__block;

#define PROF__BLOCK_MAGIC 0x6B6C6270u

/* Meta records: head = kind << 56 | words << 32 | id, words counting the head. Ids count from 1 for each kind.
     STRING   the text, zero-terminated, padded to whole words
     SITE     name | file << 32, function | category << 32 (string ids, 0 is ""), line | color << 32, level | kind << 32
     SESSION  key and value, both zero-terminated; id 0
     DEVICE   name (string id) | bits << 32, ticks per second, then pairs of clocks, see >>device
     ROW      name (string id) | device << 32 */
enum { PROF__META_STRING = 1, PROF__META_SITE, PROF__META_SESSION, PROF__META_DEVICE, PROF__META_ROW };
#define PROF__META_SITE_WORDS 5

/*-- PLATFORM -------------------------------------------------------------------------------------------- >>platform --
   All that differs between systems. Freestanding, the user's macros stand in: see the manual. */

#if defined(PROF_FREESTANDING)
#if !defined(PROF_CLOCK_READ) || !defined(PROF_CPU_STATE)
#error "prof.h: PROF_FREESTANDING needs PROF_CLOCK_READ() and PROF_CPU_STATE(): see the manual"
#endif
#elif defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>
#else
/* System headers declare what the feature macros ask for when the first of them is included. If that was before this
   header (PROF__LATE) those to come are told anew, and what those that are through may have left out follows below. */
#if defined(PROF__LATE) && !(defined(__USE_MISC) && defined(__USE_XOPEN2K8))
#define PROF__LATE_POSIX 1 /* not even POSIX is sure to be declared: -std=c99, _POSIX_C_SOURCE, musl */
#endif
#if defined(PROF__LATE) && defined(__GLIBC__)
#undef _FEATURES_H
#include <features.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif
#ifdef PROF__LATE_POSIX
#if !defined(SIG_BLOCK) || (defined(__GLIBC__) && !defined(SS_DISABLE)) /* it left out types, and bears repetition */
#undef _SIGNAL_H
#include <signal.h>
#endif
#ifndef SS_DISABLE
#define SS_ONSTACK 1
#define SS_DISABLE 2
#endif
#if !defined(SA_ONSTACK) && !defined(__alpha__) && !defined(__sparc__) && !defined(__hppa__)
#define SA_ONSTACK 0x08000000
#endif
#if !defined(SA_NODEFER) && defined(SA_ONSTACK)
#define SA_NODEFER 0x40000000
#endif
#if !defined(SA_RESTART) && defined(SA_ONSTACK)
#define SA_RESTART 0x10000000
#endif
#ifndef MAP_ANONYMOUS
#undef _SYS_MMAN_H
#include <sys/mman.h>
#endif
#endif
#if (!defined(CLOCK_MONOTONIC) && !defined(PROF__LATE)) || !defined(MAP_ANONYMOUS) || !defined(SA_ONSTACK)
#error "prof.h: in the file with PROF_IMPLEMENTATION, include it first or compile with -D_GNU_SOURCE"
#endif
#endif
#ifndef PROF_FREESTANDING
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#else
#include <stdarg.h>
#endif

#ifdef PROF__LATE
/* What was left out, under names of our own: declarations of the same functions may still follow. */
extern char *prof__libc_secure_getenv(const char *name) __asm__("secure_getenv");
#endif
#ifdef PROF__LATE_POSIX
#ifndef CLOCK_MONOTONIC
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
#endif
#ifndef O_CLOEXEC
#ifdef __O_CLOEXEC
#define O_CLOEXEC __O_CLOEXEC
#else
#define O_CLOEXEC 02000000
#endif
#endif
#if !defined(O_NOFOLLOW) && defined(__O_NOFOLLOW)
#define O_NOFOLLOW __O_NOFOLLOW
#elif !defined(O_NOFOLLOW)
#define O_NOFOLLOW 0
#endif
#if !defined(O_TMPFILE) && defined(__O_TMPFILE)
#define O_TMPFILE __O_TMPFILE
#endif
#ifndef AT_FDCWD
#define AT_FDCWD (-100)
#endif
#ifndef AT_SYMLINK_FOLLOW
#define AT_SYMLINK_FOLLOW 0x400
#endif
#ifndef F_DUPFD_CLOEXEC
#define F_DUPFD_CLOEXEC 1030
#endif
/* The libraries' names of functions whose off_t or time_t is wider than it was first, on processors of 32 bits. */
#if defined(__GLIBC__) && defined(__USE_FILE_OFFSET64)
#define PROF__LIBC_OFFSET(name) name "64"
#else
#define PROF__LIBC_OFFSET(name) name
#endif
#if defined(__GLIBC__) && defined(__USE_TIME_BITS64) && __TIMESIZE == 32
#define PROF__LIBC_TIME(old, glibc, musl) glibc
#elif !defined(__GLIBC__) && _REDIR_TIME64
#define PROF__LIBC_TIME(old, glibc, musl) musl
#else
#define PROF__LIBC_TIME(old, glibc, musl) old
#endif
extern int prof__libc_clock_gettime(int clock, struct timespec *now) __asm__(
    PROF__LIBC_TIME("clock_gettime", "__clock_gettime64", "__clock_gettime64"));
extern int prof__libc_nanosleep(const struct timespec *time, struct timespec *left) __asm__(
    PROF__LIBC_TIME("nanosleep", "__nanosleep64", "__nanosleep_time64"));
extern struct tm *prof__libc_localtime_r(const time_t *time, struct tm *to) __asm__(
    PROF__LIBC_TIME("localtime_r", "__localtime64_r", "__localtime64_r"));
extern int prof__libc_lstat(const char *path, struct stat *about) __asm__(
    PROF__LIBC_TIME(PROF__LIBC_OFFSET("lstat"), "__lstat64_time64", "__lstat_time64"));
extern int prof__libc_ftruncate(int file, off_t size) __asm__(PROF__LIBC_OFFSET("ftruncate"));
extern int prof__libc_posix_fallocate(int file, off_t at, off_t size) __asm__(PROF__LIBC_OFFSET("posix_fallocate"));
extern int prof__libc_fallocate(int file, int how, off_t at, off_t size) __asm__(PROF__LIBC_OFFSET("fallocate"));
extern ssize_t prof__libc_pread(int file, void *to, size_t size, off_t at) __asm__(PROF__LIBC_OFFSET("pread"));
extern ssize_t prof__libc_pwrite(int file, const void *from, size_t size, off_t at) __asm__(PROF__LIBC_OFFSET("pwrite"));
extern ssize_t prof__libc_readlink(const char *path, char *to, size_t size) __asm__("readlink");
extern int prof__libc_gethostname(char *to, size_t size) __asm__("gethostname");
extern int prof__libc_linkat(int from, const char *old, int to, const char *name, int flags) __asm__("linkat");
extern FILE *prof__libc_fdopen(int file, const char *mode) __asm__("fdopen");
extern int prof__libc_fileno(FILE *file) __asm__("fileno");
extern int prof__libc_madvise(void *at, size_t size, int advice) __asm__("madvise");
extern int prof__libc_sigaltstack(const stack_t *stack, stack_t *old) __asm__("sigaltstack");
extern long prof__libc_syscall(long number, ...) __asm__("syscall");
#define PROF__LIBC(name) prof__libc_##name
#define clock_gettime(clock, now) prof__libc_clock_gettime(clock, now)
#define nanosleep(time, left) prof__libc_nanosleep(time, left)
#define localtime_r(time, to) prof__libc_localtime_r(time, to)
#define lstat(path, about) prof__libc_lstat(path, about)
#define ftruncate(file, size) prof__libc_ftruncate(file, size)
#define posix_fallocate(file, at, size) prof__libc_posix_fallocate(file, at, size)
#define fallocate(file, how, at, size) prof__libc_fallocate(file, how, at, size)
#define pread(file, to, size, at) prof__libc_pread(file, to, size, at)
#define pwrite(file, from, size, at) prof__libc_pwrite(file, from, size, at)
#define readlink(path, to, size) prof__libc_readlink(path, to, size)
#define gethostname(to, size) prof__libc_gethostname(to, size)
#define linkat(from, old, to, name, flags) prof__libc_linkat(from, old, to, name, flags)
#define fdopen(file, mode) prof__libc_fdopen(file, mode)
#define fileno(file) prof__libc_fileno(file)
#define madvise(at, size, advice) prof__libc_madvise(at, size, advice)
#define sigaltstack(stack, old) prof__libc_sigaltstack(stack, old)
#define syscall(...) prof__libc_syscall(__VA_ARGS__)
#else
#define PROF__LIBC(name) name
#endif

/* Sanitizers have allocators of their own, which must see every call. */
#if defined(PROF_WRAP_MALLOC) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if !defined(__GLIBC__)
#error "prof.h: PROF_WRAP_MALLOC needs Linux with glibc"
#endif
#define PROF__WRAPS_MALLOC 1
#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#undef PROF__WRAPS_MALLOC
#endif
#endif
#endif
#ifdef PROF__WRAPS_MALLOC /* see >>malloc; what prof itself allocates is not the program's */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *at, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *at);
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
/* What the C library allocates for prof. */
static __thread uint32_t prof__quiet;
#define PROF__QUIETLY(type, call)                                                                                    \
    __extension__({                                                                                                  \
        prof__quiet++;                                                                                               \
        type prof__result = (call);                                                                                  \
        prof__quiet--;                                                                                               \
        prof__result;                                                                                                \
    })
static inline void prof__quiet_sort(void *at, size_t count, size_t size, int (*order)(const void *, const void *))
{
    prof__quiet++;
    qsort(at, count, size, order);
    prof__quiet--;
}
#define qsort(at, count, size, order) prof__quiet_sort(at, count, size, order)
#define fopen(path, mode) PROF__QUIETLY(FILE *, fopen(path, mode))
#undef fdopen
#define fdopen(file, mode) PROF__QUIETLY(FILE *, PROF__LIBC(fdopen)(file, mode))
#define fclose(file) PROF__QUIETLY(int, fclose(file))
#define fread(to, size, count, file) PROF__QUIETLY(size_t, fread(to, size, count, file))
#define fwrite(from, size, count, file) PROF__QUIETLY(size_t, fwrite(from, size, count, file))
#undef localtime_r
#define localtime_r(time, to) PROF__QUIETLY(struct tm *, PROF__LIBC(localtime_r)(time, to))
#define pthread_create(thread, how, run, with) PROF__QUIETLY(int, pthread_create(thread, how, run, with))
#define pthread_setspecific(key, value) PROF__QUIETLY(int, pthread_setspecific(key, value))
#endif

#ifndef __GNUC__
#error "prof.h: the implementation needs gcc or clang; any C99 or C++11 compiler may compile the marked-up files"
#endif

#define PROF__LOAD(p) __atomic_load_n(p, __ATOMIC_RELAXED)
#define PROF__ACQUIRE(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define PROF__STORE(p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)
#define PROF__RELEASE(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define PROF__ADD(p, v) __atomic_fetch_add(p, v, __ATOMIC_RELAXED)
/* Orders what this thread does as its own signal handlers see it; no instruction. */
#define PROF__BARRIER() __asm__ volatile("" ::: "memory")

/* 64-bit atomics are one instruction on 64-bit processors; elsewhere words are written half by half, low half first,
   and counters in the image are only as exact as their lower half. */
#define PROF__WIDE (UINTPTR_MAX > 0xffffffffu)

/* A reader may copy a chunk while its owner writes; it finds out from the sequence number. To the thread sanitizer,
   which can't know, those accesses are made atomic one by one. */
#if defined(__SANITIZE_THREAD__)
#define PROF__THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PROF__THREAD_SANITIZER 1
#endif
#endif

#ifdef PROF__THREAD_SANITIZER /* knows no fences, and what they order is atomic under it */
#define PROF__FENCE() ((void)0)
#else
#define PROF__FENCE() __atomic_thread_fence(__ATOMIC_RELEASE)
#endif

static void prof__copy(void *to, const void *from, size_t size)
{
#ifdef PROF_FREESTANDING
    for (size_t i = 0; i < size; ++i) {
        ((char *)to)[i] = ((const char *)from)[i];
        PROF__BARRIER(); /* keeps the compiler from making a call to memcpy of this */
    }
#else
    memcpy(to, from, size);
#endif
}

static void prof__clear(void *at, size_t size) /* 8-byte aligned, whole words */
{
#if defined(PROF_FREESTANDING) || defined(PROF__THREAD_SANITIZER)
    for (size_t i = 0; i < size / 8; ++i) {
        PROF__STORE((uint64_t *)at + i, 0);
        PROF__BARRIER();
    }
#else
    memset(at, 0, size);
#endif
}

static size_t prof__length(const char *text)
{
    size_t n = 0;
    while (text[n]) {
        ++n;
        PROF__BARRIER();
    }
    return n;
}

static int prof__equal(const char *a, const char *b)
{
    while (*a && *a == *b) ++a, ++b;
    return *a == *b;
}

/* A track as its writer knows it: a thread's own, or one that moves from thread to thread. */
struct prof_fiber {
    uint64_t track, serial; /* in the session of epoch; serial: TRACK records so far */
    uint64_t owed;          /* scopes that were open when it left its last thread: words to set aside for their ends */
    uint32_t epoch;         /* the session it has a track in; 0: none yet */
    uint32_t name_id;       /* PROF__NAME_NEW: name is not in the image yet */
    uint32_t is_fiber;
    uint32_t loose_count, loose_turn; /* turn: where a full list looks for a place */
    uint32_t loose_name[32]; /* PROFILE_BEGINs without their end */
    uint64_t loose[32];
    char name[64]; /* kept from session to session */
#ifdef PROF__BRIDGED
    struct prof__bridge_stack *bridge; /* what other tools see as open; null: nothing yet */
#endif
};
#define PROF__NAME_NEW 0xffffffffu
/* In loose_name, instead of the name of one that is open, whose bits 30 and 31 are clear: */
#define PROF__LOOSE_ENDED 0x80000001u
#define PROF__LOOSE_FREE 0x80000002u   /* beyond the count, or not filled yet */
#define PROF__LOOSE_PASSED 0x40000000u /* with the name: one that was begun before it may have ended since */
#define PROF__ERROR_SIZE 256
typedef char prof__fiber_fits[sizeof(struct prof_fiber) <= PROF_FIBER_SIZE ? 1 : -1];

/* One per thread, or per processor in a kernel. The first line is the fast path's. */
typedef struct prof__thread {
    uint32_t gate;  /* the generation for which the fast path is open; PROF__BUSY, PROF__SHUT */
    uint32_t epoch; /* of the session this thread records into; a token carries it from a begin to its end */
    uint64_t *cursor, *end;
    uint64_t base; /* ticks */
    uint64_t room; /* words that may still be taken: those left in the chunk less one for each scope owed its end */
    uint32_t open; /* value for gate once the thread is in step */
    uint32_t seen; /* generation with which the thread is in step */
    struct prof__session *session;
    prof__chunk *chunk;
    prof__chunk *filled; /* the chunk before, while the present one has no event yet: nobody may reuse it. Or null */
    prof_fiber *fiber; /* the one that runs on this thread; null: none, and what is recorded is the thread's own */
    uint64_t thread_id;
    uint32_t exits;   /* how often the thread has run its destructor: see prof__thread_leaves */
    uint32_t entered; /* 1: the last TRACK record of the chunk is the present track's. 0: cursor is end, room is 0 */
    uint64_t *begun, *begun_end; /* the last begin, where short scopes are taken back */
    prof_fiber own;
    uint32_t waited;    /* a wait for room ended in vain when prof__room_mark() was this */
    uint32_t impatient; /* the service: never waits for room, and has a chunk of its own in reserve */
    uint32_t no_room;   /* there was no chunk for this thread when prof__room_changes was this; 0: there was */
    uint32_t in_vain;   /* events lost for that since */
    void *signal_stack; /* see prof__signal_stack_take */
    uint32_t syncing;   /* the hook of prof_set_sync() runs */
    uint32_t forking, fork_holds, fork_gate; /* see >>fork; forks may be inside one another, in their handlers */
#ifdef PROF__BRIDGED
    uint32_t bridging;                       /* 1: in another tool's code */
    uint32_t bridge_named;                   /* 1: it has been told the thread's name */
    prof_fiber *bridge_fiber;                /* whose scopes that tool sees as open on this thread; null: the thread's
                                                own */
    struct prof__bridge_stack *bridge_spare; /* for whoever needs one next */
#endif
#ifdef PROF__SHARED
    char error_text[PROF__ERROR_SIZE];
    struct prof__thread *next; /* see prof__self_make(); these two stay what they are */
    uint32_t taken, first;     /* taken: a thread has it. first: of those that were mapped together */
#endif
} prof__thread;

/* A macro's way into the recorder. Never part of the function around it: a compiler may take it that a function stays
   on one thread, and keep the address of a thread-local variable over a call that switches stacks. */
#define PROF__ENTRY PROF_DEF __attribute__((noinline))

#define PROF__BUSY 0x80000000u /* the thread is writing: a signal handler that finds this must not */
#define PROF__SHUT 0x80000001u /* everything takes the slow path */
#ifdef PROF__SHARED
#define PROF__EXITS 3u /* how often a thread runs its destructor before it is deaf: its record serves another one */
#else
#define PROF__EXITS 0xFFFFFFFFu
#endif

#ifdef PROF_FREESTANDING
#define PROF__SELF() ((prof__thread *)PROF_CPU_STATE())
typedef char prof__cpu_state_fits[sizeof(prof__thread) <= PROF_CPU_STATE_SIZE ? 1 : -1];
static void prof__wait(void) {}
#define PROF__ERRNO_SAVE() ((void)0)
#define PROF__ERRNO_RESTORE() ((void)0)
static uint64_t prof__thread_id(void)
{
#ifdef PROF_CPU_ID
    return (uint64_t)(PROF_CPU_ID());
#else
    return 0;
#endif
}
static void prof__system_name(char *name, size_t size)
{
    (void)size;
    name[0] = 0;
}
static uint64_t prof__process_id(void) { return 0; }
static void prof__on_exit_of_thread(prof__thread *self) { (void)self; }
static void prof__signal_stack_take(prof__thread *self) { (void)self; }
#else

/* The fast kind of thread-local storage needs room that the loader has little of for libraries that come later: 1.6 KiB
   for all of them with glibc, none with musl. So a library has one pointer there, to what it maps when a thread needs
   it first; a program has the thread's record itself. */
#ifdef PROF__SHARED
#ifdef __GLIBC__
static __thread prof__thread *prof__self_here __attribute__((tls_model("initial-exec")));
#else
static __thread prof__thread *prof__self_here;
#endif
static prof__thread *prof__self_make(void);
#define PROF__SELF() (PROF__LIKELY(prof__self_here != NULL) ? prof__self_here : prof__self_make())
#else
static __thread prof__thread prof__self;
#define PROF__SELF() (&prof__self)
#endif
#if defined(__ELF__) && !defined(PROF_STATIC)
#define PROF__ONE_PER_PROCESS PROF_DEF
#else
#define PROF__ONE_PER_PROCESS static
#endif
static void prof__thread_leaves(void *self);
static int prof__exit_key_made, prof__exits_watched;

/* Macros leave errno as it was. */
#define PROF__ERRNO_SAVE() int prof__errno = errno
#define PROF__ERRNO_RESTORE() (void)(errno = prof__errno)

#ifdef _WIN32
static void prof__wait(void) { Sleep(0); }
static uint64_t prof__thread_id(void) { return GetCurrentThreadId(); }
static uint64_t prof__process_id(void) { return GetCurrentProcessId(); }
static uint64_t prof__parent_id(void) { return 0; }
static void prof__system_name(char *name, size_t size)
{
    (void)size;
    name[0] = 0;
}
static VOID WINAPI prof__fiber_leaves(PVOID self)
{
    if (self) prof__thread_leaves(self);
}
static DWORD prof__exit_key;
static void prof__exit_key_make(void)
{
    if (!prof__exit_key_made)
        prof__exit_key_made = (prof__exit_key = FlsAlloc(prof__fiber_leaves)) != FLS_OUT_OF_INDEXES;
}
static void prof__exits_watch(void) {}
static void prof__on_exit_of_thread(prof__thread *self) { FlsSetValue(prof__exit_key, self); }
static void prof__signal_stack_take(prof__thread *self) { (void)self; }
static void prof__signal_stack_give(prof__thread *self) { (void)self; }
#else
/* No macro is a cancellation point, and no thread is cancelled while it holds a lock of the recorder. */
#ifdef PTHREAD_CANCEL_DISABLE
static int prof__cancel_disable(void)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}
static void prof__cancel_restore(int before) { pthread_setcancelstate(before, &before); }
#else
static int prof__cancel_disable(void) { return 0; }
static void prof__cancel_restore(int before) { (void)before; }
#endif
static void prof__wait(void) /* sleeps, because the one who is waited for may have a lower priority */
{
    struct timespec moment = {0, 20000};
    int cancel = prof__cancel_disable();
    nanosleep(&moment, NULL);
    prof__cancel_restore(cancel);
}
static uint64_t prof__process_id(void) { return (uint64_t)getpid(); }
static uint64_t prof__parent_id(void) { return (uint64_t)getppid(); }
static uint64_t prof__thread_id(void)
{
#ifdef __linux__
    return (uint64_t)syscall(SYS_gettid);
#else
    return (uint64_t)(uintptr_t)pthread_self();
#endif
}
static void prof__system_name(char *name, size_t size) /* size >= 16 */
{
    (void)size;
    name[0] = 0;
#ifdef __linux__
    prctl(PR_GET_NAME, name, 0, 0, 0);
#endif
}
static pthread_key_t prof__exit_key;
#ifdef PROF__SHARED
static int prof__exits;
static void prof__exit_begins(void) { prof__exits = 1; } /* comes before destructors, or after them, in a dlclose() */
#endif
static void prof__exits_watch(void)
{
#ifdef PROF__SHARED
    atexit(prof__exit_begins);
#endif
}
static void prof__exit_key_make(void)
{
    if (!prof__exit_key_made) prof__exit_key_made = !pthread_key_create(&prof__exit_key, prof__thread_leaves);
}
static void prof__on_exit_of_thread(prof__thread *self) { pthread_setspecific(prof__exit_key, self); }

/* A stack for the handler of a thread that has overflowed its own, until the thread ends; one that has such a stack
   keeps that. */
static size_t prof__signal_stack_size(void)
{
    size_t size = 64u << 10;
#ifdef _SC_SIGSTKSZ
    long wanted = sysconf(_SC_SIGSTKSZ); /* what the kernel saves there depends on the processor */
    if (wanted > 0 && (size_t)wanted > size) size = (size_t)wanted;
#endif
    return size;
}
static void prof__signal_stack_take(prof__thread *self)
{
    stack_t stack;
    if (sigaltstack(NULL, &stack) || !(stack.ss_flags & SS_DISABLE)) return;
    stack.ss_size = prof__signal_stack_size();
    if (!self->signal_stack) { /* else it was taken in a handler, whose end took it away again */
        void *memory = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) return;
        self->signal_stack = memory;
    }
    stack.ss_sp = self->signal_stack;
    stack.ss_flags = 0;
    sigaltstack(&stack, NULL);
}
static void prof__signal_stack_give(prof__thread *self)
{
    stack_t stack;
    if (!self->signal_stack || sigaltstack(NULL, &stack)) return;
    int none = stack.ss_flags & SS_DISABLE, ours = !none && stack.ss_sp == self->signal_stack;
    stack.ss_flags = SS_DISABLE;
    if (ours && sigaltstack(&stack, NULL)) return;
    if (ours || none) munmap(self->signal_stack, prof__signal_stack_size()); /* else it was put aside, and may come back */
    self->signal_stack = NULL;
}
#endif
#endif

#if defined(PROF_FREESTANDING) || defined(_WIN32)
typedef int prof__signals;
static void prof__signals_block(prof__signals *old) { *old = 0; }
static void prof__signals_restore(const prof__signals *old) { (void)old; }
typedef int prof__file_signal;
static void prof__file_signal_hold_for(prof__file_signal *signal, int standard_output) { *signal = standard_output; }
static void prof__file_signal_hold(prof__file_signal *signal) { prof__file_signal_hold_for(signal, 0); }
static void prof__file_signal_drop(const prof__file_signal *signal) { (void)signal; }
#else
typedef sigset_t prof__signals;
static void prof__signals_block(prof__signals *old) /* but for faults: one that is blocked kills without any handler */
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    sigset_t all;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; ++i) sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_BLOCK, &all, old);
}
static void prof__signals_restore(const prof__signals *old) { pthread_sigmask(SIG_SETMASK, old, NULL); }

/* A write beyond RLIMIT_FSIZE, or into a pipe that nobody reads, sends the thread a signal besides failing, which would
   end the program. Between these two it only fails. errno stays. */
static const int prof__file_signals[] = {SIGXFSZ, SIGPIPE};

typedef struct prof__file_signal {
    sigset_t before;
    int count;     /* how many of them are held */
    int waited[2]; /* one of the program's own was pending */
} prof__file_signal;

static int prof__file_signal_pending(int number)
{
    sigset_t set;
    return !sigpending(&set) && sigismember(&set, number) == 1;
}

/* Standard output that nobody reads ends the program as it would without prof. */
static void prof__file_signal_hold_for(prof__file_signal *signal, int standard_output)
{
    sigset_t set;
    int i;
    signal->count = standard_output ? 1 : 2;
    sigemptyset(&set);
    for (i = 0; i < signal->count; ++i) sigaddset(&set, prof__file_signals[i]);
    pthread_sigmask(SIG_BLOCK, &set, &signal->before);
    for (i = 0; i < signal->count; ++i) signal->waited[i] = prof__file_signal_pending(prof__file_signals[i]);
}

static void prof__file_signal_hold(prof__file_signal *signal) { prof__file_signal_hold_for(signal, 0); }

static void prof__file_signal_drop(const prof__file_signal *signal)
{
    int number, error = errno, i;
    for (i = 0; i < signal->count; ++i) {
        sigset_t set;
        if (signal->waited[i] || !prof__file_signal_pending(prof__file_signals[i])) continue;
        sigemptyset(&set);
        sigaddset(&set, prof__file_signals[i]);
        sigwait(&set, &number);
    }
    pthread_sigmask(SIG_SETMASK, &signal->before, NULL);
    errno = error;
}
#endif

/* A lock for what is rare: a new call site, a new thread. A macro gives up after some tenths of a second, which costs
   an event but can't hang the program; control functions wait. They hold prof__change_word, too, outside of that lock:
   so a fork, which may take long, can keep the state in one piece without macros having to wait for it. */
static int prof__lock_word, prof__change_word, prof__control_word;

static int prof__lock_try(int *lock)
{
    for (int i = 0; i < 5000; ++i) {
        if (!__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE)) return 1;
        if (i > 100) prof__wait();
    }
    return 0;
}

static void prof__lock(int *lock)
{
    while (!prof__lock_try(lock)) {
    }
}

static void prof__unlock(int *lock) { __atomic_store_n(lock, 0, __ATOMIC_RELEASE); }

/* The same for a macro. No handler runs while the lock is held, so that none can leave by siglongjmp and keep it. */
static int prof__lock_enter(int *lock, prof__signals *old)
{
    for (int i = 0; i < 5000; ++i) {
        prof__signals_block(old);
        if (!__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE)) return 1;
        prof__signals_restore(old);
        if (i > 100) prof__wait();
    }
    return 0;
}

static void prof__lock_leave(int *lock, const prof__signals *old)
{
    prof__unlock(lock);
    prof__signals_restore(old);
}

/* A lock of functions that read and write files, where a thread could be cancelled. What the first returns is for the
   second. */
#if defined(PROF_FREESTANDING) || defined(_WIN32)
static int prof__lock_steady(int *lock)
{
    prof__lock(lock);
    return 0;
}
static void prof__unlock_steady(int *lock, int before)
{
    (void)before;
    prof__unlock(lock);
}
#else
static int prof__lock_steady(int *lock)
{
    int before = prof__cancel_disable();
    prof__lock(lock);
    return before;
}
static void prof__unlock_steady(int *lock, int before)
{
    prof__unlock(lock);
    prof__cancel_restore(before);
}
#endif

/* The lock of the control functions. */
static int prof__control_cancel; /* under it */
static void prof__control_lock(void)
{
    int before = prof__lock_steady(&prof__control_word);
    prof__control_cancel = before;
}
static void prof__control_unlock(void) { prof__unlock_steady(&prof__control_word, prof__control_cancel); }

#ifndef PROF_FREESTANDING
/* Sleeps for ns, less if *word is not, or no longer, value; may return early for no reason. */
static void prof__word_wait(uint32_t *word, uint32_t value, uint64_t ns)
{
#if defined(__linux__) && defined(SYS_futex)
    /* the kernel's own layout */
    struct { long seconds, ns; } time = {(long)(ns / 1000000000u), (long)(ns % 1000000000u)};
    syscall(SYS_futex, word, 0 | 128, value, &time, NULL, 0); /* FUTEX_WAIT, private */
#else
    for (uint64_t slept = 0; slept < ns && PROF__ACQUIRE(word) == value; slept += 5000000) {
        uint64_t slice = ns - slept < 5000000 ? ns - slept : 5000000;
#ifdef _WIN32
        Sleep((DWORD)((slice + 999999) / 1000000));
#else
        struct timespec moment = {0, (long)slice};
        nanosleep(&moment, NULL);
#endif
    }
#endif
}

/* Changes the word and wakes who waits for that. Signal handlers may call it. */
static void prof__word_wake(uint32_t *word)
{
    __atomic_fetch_add(word, 1, __ATOMIC_RELEASE);
#if defined(__linux__) && defined(SYS_futex)
    PROF__ERRNO_SAVE();
    syscall(SYS_futex, word, 1 | 128, 0x7fffffff, NULL, NULL, 0); /* FUTEX_WAKE, private */
    PROF__ERRNO_RESTORE();
#endif
}
#endif

/*-- COPIES ---------------------------------------------------------------------------------------------- >>copies --
   A program and its plugins may have a copy of the implementation each. Where the loader can it directs all calls to
   the first; it cannot where a program does not export its symbols, where plugins are loaded RTLD_LOCAL, where symbols
   are hidden or linked with -Bsymbolic. So each copy has an ELF note that leads to a table of its functions. A copy in
   a library takes the first of the process, in the order of the loader's list, for its leader: it records nothing
   itself, but hands every call on. The program is always the first of that list, and what comes later comes last, so
   that a leader stays one; a follower keeps it from being unloaded. Copies that are laid out otherwise, and those
   compiled with PROF_STATIC, are on their own, but see in the table which file the others write. */

#if defined(__linux__) && defined(__ELF__) && !defined(PROF_FREESTANDING)
#define PROF__HUBS 1
#include <elf.h>

typedef struct prof__hub prof__hub;
struct prof__log_list;
static char *prof__error_here(void);
static void prof__hub_join(prof__hub *follower);
static void prof__hub_leave(prof__hub *follower);
static void prof__counter_write(prof_site *site, uint64_t kind, uint64_t number);
static inline void prof__arg_write(prof_site *site, prof_value_type type, uint64_t number);
static prof__token prof__named(prof_site *site, const char *name, int owes_end);
static inline void prof__log_write(prof_site *site, prof__log_format *known, uint64_t severity, const char *format,
                                   struct prof__log_list *list);
static void prof__instant(prof_site *site);
static prof__tally *prof__tally_find(const prof_site *site);
static prof_status prof__pause_by(int step);
static prof_status prof__metadata_change(const char *key, const char *value);
static prof_status prof__category_enable(const char *pattern, int on, int exact);
static void prof__device_report(prof_device_row *row, const prof_device_event *event);
static void prof__saved_with(prof_status (*hook)(void));

/* What a copy hands on: all that touches the recorder and that other functions are made of. */
#define PROF__HUB_FUNCTIONS(X)                                                                                       \
    X(prof__hub_join) X(prof__hub_leave) X(prof__error_here)                                                         \
    X(prof__check) X(prof__begin) X(prof__end) X(prof__next) X(prof__counter_write) X(prof__arg_write)               \
    X(prof__arg_string) X(prof__named) X(prof__begin_number) X(prof__event) X(prof__log_write) X(prof__memory)       \
    X(prof__instant) X(prof__begin_loose) X(prof__end_loose) X(prof__tally_find) X(prof__sync) X(prof__end_sync)     \
    X(prof__with) X(prof_flow_new) X(prof_thread_name) X(prof_fiber_switch) X(prof_fiber_destroy) X(prof_start)      \
    X(prof_stop) X(prof_reset) X(prof__pause_by) X(prof_enabled_at) X(prof_set_level) X(prof_set_filter_mask)        \
    X(prof__category_enable) X(prof__metadata_change) X(prof_set_sync) X(prof_config_claim) X(prof_config_set)       \
    X(prof_save) X(prof_save_last) X(prof_save_request) X(prof__saved_with) X(prof_trace_live) X(prof_trace_write)   \
    X(prof_writer_register) X(prof_writer_unregister) X(prof_domain_create) X(prof_domain_list) X(prof_task_create)  \
    X(prof_frame_create) X(prof_device_create) X(prof_device_track) X(prof_device_sync) X(prof__device_report)

struct prof__hub {
    /* the same in all versions */
    char magic[8];
    uint64_t layout; /* of all that copies hand each other; 0: PROF_STATIC */
    char *output;    /* 1024 bytes: the file that its last session was told to write; "" for none */
    /* of copies of one layout */
    uint32_t settled;        /* its constructors have run */
    uint32_t *generation;    /* a follower's: what its call sites look at */
    prof__hub *next;         /* a follower's, in the leader's list */
    prof__hub **leader;      /* a follower's: where it keeps who that is */
#define PROF__HUB_FIELD(name) __typeof__(name) *to_##name;
    PROF__HUB_FUNCTIONS(PROF__HUB_FIELD)
};
extern PROF__HIDDEN prof__hub prof__hub_here;

__asm__(".pushsection .note.prof,\"a\",%note\n"
        ".balign 4\n"
        ".long 5, 4, 1\n" /* the size of the name, of what follows it, and its type */
        ".asciz \"prof\"\n"
        ".balign 4\n"
        ".long prof__hub_here - .\n"
        ".popsection\n");

/* As <link.h> has them, whose declarations depend on what was defined before it was included first. */
typedef struct prof__loaded {
    uintptr_t base;
    const char *name; /* "" for the program */
    const void *segments;
    uint16_t segment_count;
} prof__loaded;
extern int prof__loaded_each(int (*visit)(const prof__loaded *loaded, size_t size, void *user), void *user)
    __asm__("dl_iterate_phdr");
#if UINTPTR_MAX > 0xffffffffu
typedef Elf64_Phdr prof__segment;
#else
typedef Elf32_Phdr prof__segment;
#endif

static prof__hub *prof__hub_of_notes(const char *at, size_t size, size_t align)
{
    for (size_t next; size >= 12; at += next, size -= next) {
        uint32_t head[3];
        int32_t distance;
        memcpy(head, at, sizeof head);
        size_t name = ((size_t)head[0] + 3) & ~(size_t)3, begin = (12 + name + align - 1) & ~(align - 1);
        next = (begin + head[1] + align - 1) & ~(align - 1);
        if (head[0] > size || head[1] > size || next > size) break;
        if (head[0] != 5 || head[1] != 4 || memcmp(at + 12, "prof", 5)) continue;
        memcpy(&distance, at + begin, sizeof distance);
        prof__hub *hub = (prof__hub *)((uintptr_t)(at + begin) + (uintptr_t)(intptr_t)distance);
        if (!memcmp(hub->magic, "prof hub", 8)) return hub;
    }
    return NULL;
}

/* Null: this module has none. */
static prof__hub *prof__hub_of(const prof__loaded *loaded)
{
    prof__hub *hub = NULL;
    for (uint16_t i = 0; i < loaded->segment_count && !hub; ++i) {
        const prof__segment *segment = (const prof__segment *)loaded->segments + i;
        if (segment->p_type == PT_NOTE)
            hub = prof__hub_of_notes((const char *)(loaded->base + (uintptr_t)segment->p_vaddr),
                                     (size_t)segment->p_memsz, segment->p_align == 8 ? 8 : 4);
    }
    return hub;
}
#endif

#if defined(PROF__HUBS) && defined(PROF__SHARED) && !defined(PROF_STATIC)
static prof__hub *prof__leader; /* null: this copy leads, or is on its own */
static int prof__joined;
static PROF__COLD void prof__join(void);
static inline prof__hub *prof__led(void)
{
    if (PROF__UNLIKELY(!PROF__ACQUIRE(&prof__joined))) prof__join();
    return PROF__ACQUIRE(&prof__leader);
}
static PROF__UNUSED int prof__is_whole(void) { return !prof__led(); } /* 1: calls are not handed on */
/* The first statement of a function of the table. */
#define PROF__LED(function, arguments)                                                                               \
    do {                                                                                                             \
        const prof__hub *prof__to = prof__led();                                                                     \
        if (prof__to) return prof__to->to_##function arguments;                                                      \
    } while (0)
#define PROF__LED_VOID(function, arguments)                                                                          \
    do {                                                                                                             \
        const prof__hub *prof__to = prof__led();                                                                     \
        if (prof__to) {                                                                                              \
            prof__to->to_##function arguments;                                                                       \
            return;                                                                                                  \
        }                                                                                                            \
    } while (0)
#else
#define PROF__LED(function, arguments) ((void)0)
#define PROF__LED_VOID(function, arguments) ((void)0)
static PROF__UNUSED int prof__is_whole(void) { return 1; }
#endif
/* The same where time counts: a thread of a copy that hands on never has a record. */
#ifdef PROF__SHARED
#define PROF__SELF_OR(led)                                                                                           \
    prof__thread *self = prof__self_here;                                                                            \
    if (PROF__UNLIKELY(!self)) {                                                                                     \
        led;                                                                                                         \
        self = prof__self_make();                                                                                    \
    }                                                                                                                \
    ((void)0)
#else
#define PROF__SELF_OR(led) prof__thread *self = PROF__SELF()
#endif

#ifdef PROF__SHARED
/*-- records of threads. They are never freed while the library is loaded, but serve the next thread; without a lock,
   because a thread's first scope may stand in a signal handler. */
#define PROF__SELF_STRIDE ((sizeof(prof__thread) + 63) & ~(size_t)63)
#define PROF__SELF_MAP ((size_t)16384)
static prof__thread *prof__selves; /* all there are */
static uint32_t prof__selves_free; /* how many are, at least */

/* For a thread that cannot have a record, or shall have none any more: one that is always busy, so that what it would
   record is lost. */
static prof__thread *prof__nobody(void)
{
    static prof__thread nobody;
    PROF__STORE(&nobody.gate, PROF__BUSY);
    PROF__STORE(&nobody.exits, PROF__EXITS);
    return &nobody;
}

static prof__thread *prof__self_take(void)
{
    for (prof__thread *each = PROF__ACQUIRE(&prof__selves); each && PROF__LOAD(&prof__selves_free); each = each->next) {
        if (PROF__LOAD(&each->taken) || __atomic_exchange_n(&each->taken, 1u, __ATOMIC_ACQUIRE)) continue;
        __atomic_fetch_sub(&prof__selves_free, 1u, __ATOMIC_RELAXED);
        prof__clear(each, offsetof(prof__thread, next));
        return each;
    }
    char *map = (char *)mmap(NULL, PROF__SELF_MAP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == (char *)MAP_FAILED) return NULL;
    prof__thread *first = (prof__thread *)(void *)map, *last = first;
    uint32_t more = 0;
    first->taken = first->first = 1;
    for (size_t at = PROF__SELF_STRIDE; at + sizeof *first <= PROF__SELF_MAP; at += PROF__SELF_STRIDE, ++more)
        last = last->next = (prof__thread *)(void *)(map + at);
    last->next = PROF__LOAD(&prof__selves);
    while (!__atomic_compare_exchange_n(&prof__selves, &last->next, first, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
    __atomic_fetch_add(&prof__selves_free, more, __ATOMIC_RELAXED);
    return first;
}

static void prof__self_free(prof__thread *self)
{
    PROF__RELEASE(&self->taken, 0u);
    __atomic_fetch_add(&prof__selves_free, 1u, __ATOMIC_RELAXED);
}

/* A thread's first scope, or that of a signal handler which interrupts it. */
static PROF__COLD prof__thread *prof__self_make(void)
{
    prof__thread *none = NULL, *self;
    if (!prof__is_whole()) return prof__nobody();
    PROF__ERRNO_SAVE();
    self = prof__self_take();
    if (self && !__atomic_compare_exchange_n(&prof__self_here, &none, self, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        prof__self_free(self);
        self = none;
    } else if (self && prof__exit_key_made) {
        prof__on_exit_of_thread(self);
    }
    PROF__ERRNO_RESTORE();
    return self ? self : prof__nobody();
}

/* The end of a destructor of the thread. The last of three lets the record go. */
static void prof__self_leaves(prof__thread *self)
{
    if (self->exits < PROF__EXITS) {
        prof__on_exit_of_thread(self);
        return;
    }
    prof__self_here = prof__nobody();
    prof__self_free(self);
}

/* The library is unloaded: no thread has a record any more. */
static void prof__selves_unmap(void)
{
    prof__thread *each = prof__selves;
    prof__selves = prof__self_here = NULL;
    prof__selves_free = 0;
    while (each) {
        void *map = each;
        for (each = each->next; each && !each->first;) each = each->next;
        munmap(map, PROF__SELF_MAP);
    }
}
#elif !defined(PROF_FREESTANDING)
static void prof__self_leaves(prof__thread *self) { (void)self; }
#endif

/*-- ERRORS ---------------------------------------------------------------------------------------------- >>errors --*/

#ifdef PROF_FREESTANDING
static char prof__error_text[PROF__ERROR_SIZE];
#define PROF__ERROR_TEXT() prof__error_text
#elif defined(PROF__SHARED)
static char *prof__error_here(void)
{
    PROF__LED(prof__error_here, ());
    return PROF__SELF()->error_text;
}
#define PROF__ERROR_TEXT() prof__error_here()
#else
static __thread char prof__error_text[PROF__ERROR_SIZE];
static char *prof__error_here(void) { return prof__error_text; }
#define PROF__ERROR_TEXT() prof__error_here()
#endif

static prof_status prof__fail(prof_status status, const char *format, ...) PROF__PRINTF(2, 3);
static prof_status prof__fail(prof_status status, const char *format, ...)
{
#ifdef PROF_FREESTANDING
    size_t n = prof__length(format);
    if (n > PROF__ERROR_SIZE - 1) n = PROF__ERROR_SIZE - 1;
    prof__copy(prof__error_text, format, n); /* without a printf the text keeps its place holders */
    prof__error_text[n] = 0;
#else
    va_list list;
    va_start(list, format);
    vsnprintf(PROF__ERROR_TEXT(), PROF__ERROR_SIZE, format, list);
    va_end(list);
#endif
    return status;
}

PROF_DEF const char *prof_error(void) { return PROF__ERROR_TEXT(); }

PROF_DEF const char *prof_status_text(prof_status status)
{
    static const char *const texts[PROF_STATUS_COUNT] = {
        "ok",
        "compiled without profiling (PROF_ENABLE=0)",
        "invalid argument",
        "not possible in this state",
        "not supported on this platform or in this build",
        "out of memory",
        "input or output failed",
        "not a valid prof image",
    };
    return (unsigned)status < PROF_STATUS_COUNT ? texts[status] : "unknown status";
}

/*-- CLOCK -------------------------------------------------------------------------------------------------- >>clock --
   Ticks are read raw; what a nanosecond is follows from the pairs in the image when it is read. */

#if defined(PROF_FREESTANDING)
#define PROF__COUNTER_NAME "user"
static inline uint64_t prof__counter(void) { return (uint64_t)(PROF_CLOCK_READ()); }
static uint64_t prof__counter_ordered(void) { return prof__counter(); }
static int prof__counter_usable(void) { return 1; }
static uint64_t prof__counter_hz(void) { return 0; }
#elif defined(PROF__SIMULATED_HZ) /* for tests: a counter of another rate, see tests/clocks.sh */
#define PROF__COUNTER_NAME "simulated"
static inline uint64_t prof__counter(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * (PROF__SIMULATED_HZ) + (uint64_t)t.tv_nsec * (PROF__SIMULATED_HZ) / 1000000000u;
}
static uint64_t prof__counter_ordered(void) { return prof__counter(); }
static int prof__counter_usable(void) { return 3; }
static uint64_t prof__counter_hz(void) { return 0; } /* as on machines that do not tell */
#elif defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#define PROF__COUNTER_NAME "rdtsc"
static inline uint64_t prof__counter(void) { return __builtin_ia32_rdtsc(); }
static uint64_t prof__counter_ordered(void)
{
    unsigned a, d, c;
    __asm__ volatile("rdtscp" : "=a"(a), "=d"(d), "=c"(c)::"memory");
    return (uint64_t)d << 32 | a;
}
static int prof__counter_usable(void) /* bit 0: it can be trusted, bit 1: and read in order */
{
    unsigned a, b, c, d, usable = 0;
    if (__get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & 1u << 8)) usable |= 1;
    int ordered = __get_cpuid(0x80000001u, &a, &b, &c, &d) && (d & 1u << 27) ? 2 : 0; /* rdtscp */
#ifdef __linux__
    { /* the kernel watches the counters of all processors, and leaves a clock that it found unstable */
        char text[16] = {0};
        int file = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
        if (file >= 0) {
            if (read(file, text, sizeof text - 1) > 0 && (text[0] == 'h' || text[0] == 'a' || text[0] == 'j'))
                usable = 0; /* hpet, acpi_pm, jiffies */
            if (text[0] == 't') usable = 1; /* tsc: virtual machines may not say that it is invariant */
            close(file);
        }
    }
#endif
    return usable ? (int)usable | ordered : 0;
}
static uint64_t prof__counter_hz(void)
{
    unsigned a, b, c, d;
    if (__get_cpuid(0x15, &a, &b, &c, &d) && a && b && c) return (uint64_t)c * b / a;
    return 0;
}
#elif defined(__aarch64__)
#define PROF__COUNTER_NAME "cntvct"
static inline uint64_t prof__counter(void)
{
    uint64_t tick;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(tick));
    return tick;
}
static uint64_t prof__counter_ordered(void)
{
    uint64_t tick;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(tick)::"memory");
    return tick;
}
static int prof__counter_usable(void) { return 3; }
static uint64_t prof__counter_hz(void)
{
    uint64_t hz;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
    return hz;
}
#elif defined(__riscv) && __riscv_xlen == 64
#define PROF__COUNTER_NAME "rdtime"
static inline uint64_t prof__counter(void)
{
    uint64_t tick;
    __asm__ volatile("rdtime %0" : "=r"(tick));
    return tick;
}
static uint64_t prof__counter_ordered(void)
{
    uint64_t tick;
    __asm__ volatile("fence\n\trdtime %0" : "=r"(tick)::"memory");
    return tick;
}
static int prof__counter_usable(void) { return 3; }
static uint64_t prof__counter_hz(void) { return 0; }
#else
#define PROF__COUNTER_NAME "none"
static inline uint64_t prof__counter(void) { return 0; }
static uint64_t prof__counter_ordered(void) { return 0; }
static int prof__counter_usable(void) { return 0; }
static uint64_t prof__counter_hz(void) { return 0; }
#endif

#ifndef PROF_FREESTANDING
#ifdef _WIN32
static uint64_t prof__monotonic(void)
{
    LARGE_INTEGER count, hz;
    QueryPerformanceCounter(&count);
    QueryPerformanceFrequency(&hz);
    return (uint64_t)count.QuadPart / (uint64_t)hz.QuadPart * 1000000000u +
           (uint64_t)count.QuadPart % (uint64_t)hz.QuadPart * 1000000000u / (uint64_t)hz.QuadPart;
}
static uint64_t prof__unix_time(void)
{
    FILETIME time;
    GetSystemTimeAsFileTime(&time);
    return (((uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime) - 116444736000000000u) * 100;
}
#else
static uint64_t prof__clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
static uint64_t prof__monotonic(void) { return prof__clock_ns(CLOCK_MONOTONIC); }
static uint64_t prof__unix_time(void) { return prof__clock_ns(CLOCK_REALTIME); }
#endif
#endif

#ifdef PROF_FREESTANDING
static void prof__pair_take(uint32_t clock, uint64_t hz, prof__pair *pair)
{
    (void)clock;
    pair->tick = prof__counter();
    pair->monotonic_ns = hz ? pair->tick / hz * 1000000000u + pair->tick % hz * 1000000000u / hz : pair->tick;
    pair->unix_ns = 0;
    pair->width = 0;
}
#else
#define PROF__PAIR_LONG 100000 /* ticks: some 30 us, which no reading of two clocks takes by itself */

/* One reading; the tick lies in the middle of what the reading of the system's clock took. Returns 0 where the thread
   seems to have waited for its processor in between: one of two halves that do much the same took far longer, or both
   did. */
static int prof__pair_read(uint32_t clock, prof__pair *pair)
{
    uint64_t before, between, second;
    if (clock == PROF_CLOCK_MONOTONIC) {
        pair->tick = pair->monotonic_ns = prof__monotonic();
        pair->unix_ns = prof__unix_time();
        pair->width = 0;
        return prof__monotonic() - pair->tick < 10000;
    }
    before = prof__counter();
    pair->monotonic_ns = prof__monotonic();
    between = prof__counter();
    pair->unix_ns = prof__unix_time();
    second = prof__counter() - between;
    pair->width = between - before;
    pair->tick = before + pair->width / 2;
    return second <= pair->width * 8 + 200 && pair->width <= second * 8 + 200 && pair->width + second < PROF__PAIR_LONG;
}

static void prof__pair_take(uint32_t clock, uint64_t hz, prof__pair *pair)
{
    (void)hz;
    for (int i = 0; i < 4 && !prof__pair_read(clock, pair); ++i) {}
}
#endif

static void prof__pair_store(prof__pair *to, const prof__pair *pair) /* where a reader may be looking */
{
    PROF__STORE(&to->tick, pair->tick);
    PROF__STORE(&to->monotonic_ns, pair->monotonic_ns);
    PROF__STORE(&to->unix_ns, pair->unix_ns);
    PROF__STORE(&to->width, pair->width);
}

/* The best of a few readings: for the ends of a session, where there is time. */
static void prof__pair_take_well(uint32_t clock, uint64_t hz, prof__pair *pair)
{
    prof__pair_take(clock, hz, pair);
    for (int i = 0; i < 8; ++i) {
        prof__pair again;
        prof__pair_take(clock, hz, &again);
        if (again.width <= pair->width) *pair = again;
    }
}

/*-- SESSION STATE --------------------------------------------------------------------------------------------------*/

#define PROF__MAX_RULES 64
#define PROF__MAX_LEFT 64

#ifndef PROF_FREESTANDING
/* The thread behind a session: see >>service. */
typedef struct prof__service {
    uint32_t word;    /* changes when there is something to do before the next look at the clock */
    uint32_t stop;    /* 1: a last round, and out */
    int wanted;       /* the configuration needs it */
    int running;      /* it was started and not joined yet; under the control lock */
    uint64_t process; /* that it lives in: a child of fork() has none */
    uint64_t shortest_ns, longest_ns; /* between two looks at the ring */
    uint64_t dump_at; /* monotonic: when to write the output next */
#ifdef _WIN32
    HANDLE thread;
#else
    pthread_t thread;
#endif
} prof__service;
#endif

#ifndef PROF_FREESTANDING
/* The file that the image is mapped to, and what PROF_STREAM puts behind the ring there: see >>stream. */
typedef struct prof__stream {
    int file, opened;        /* the mapped file, open for its lock and for writing behind the mapping */
    uint64_t device, inode;  /* which that is: the program may close descriptors that are not its own */
    uint64_t retry_at, backoff_ns; /* after a write that failed: when to try again */
    uint64_t seen;           /* next_chunk when all that was full had been packed */
    int full;                /* max_file_size is reached, and nothing may be dropped for more */
    prof__block *block;      /* room to pack a chunk */
    prof__chunk **chunks;    /* room for as many as the ring has */
    char path[1040];         /* of the file, where it is not the output itself; "" if it is */
} prof__stream;
#endif

enum { PROF__CUT = 1, PROF__CUT_TOLD = 2 };

/* The private side of an image. Freed only when no thread can hold a pointer into its image any more. */
typedef struct prof__session {
    prof__header *header; /* the image; what follows are addresses and limits inside it */
    char *chunks;
    uint64_t *meta;
    uint32_t *index;
    uint32_t index_mask, chunk_size;
    uint64_t meta_words, chunk_words;
    uint64_t chunk_count;
    uint64_t min_ticks, ordered_excess;
    uint32_t epoch, clock;
    uint32_t string_count, site_count, site_without_room;
    uint32_t fast; /* the inline counter, and nothing else, is what a scope needs */
    struct { /* chunks that an exited thread left with room in them */
        uint64_t sequence;
        uint32_t chunk, words;
    } left[PROF__MAX_LEFT];
    uint32_t left_count;
    uint32_t attached; /* threads that point into the image, those included that copy it */
    uint32_t readers;  /* those that copy it */
    void *mapping;     /* null: the user's memory */
    size_t mapping_size, image_size;
    char output[1024]; /* expanded; "" for none */
    char layout[24];   /* config.layout; "" for none */
    char *live_path;   /* the file that the image is mapped to: output, or stream.path; null: it is in memory */
    char part_path[1100]; /* what the file is called until the start is complete */
    struct prof__session *next;
    uint32_t ready_chunks; /* so many from the first on can be written; PROF__ALL_READY: all can. See >>ring */
    uint32_t claimed_chunks; /* so many can be, or somebody is about to see to it */
    int cut;               /* PROF__CUT...: somebody made the file of the image smaller */
    uint64_t chunks_asked; /* how many there were to be, where the disk had no room for all; 0: it has */
    const char *room_error; /* why it had not */
    uint32_t all_owned;   /* PROF_RING: every chunk had an owner when prof__room_changes was this; 0: not known */
    uint32_t free_chunks; /* PROF_STREAM, PROF_STATS: those that may be taken */
    uint32_t spare_chunk; /* 1: another one, for the service, whose own scopes shall not be lost */
    uint32_t released;    /* changes with every chunk that the service lets go */
    uint32_t waiting;     /* threads that sleep until it does */
#ifndef PROF_FREESTANDING
    struct prof__follow *follow; /* see >>follow; null if nobody wants to know what is in the ring */
    prof__service service;
    prof__stream stream;
    uint64_t max_file_size, wait_ns, dump_period_ns;
    uint32_t at_limit;
#endif
    int crash_report;
    char pattern[1024];   /* config.output as an absolute path, for the children of forks */
    char started[16];     /* the time that %t stands for */
    uint64_t process;     /* the pid of whoever has this record */
    int failed;           /* errno of the making of a child's image */
    uint64_t begin_at, duration_ns, end_at; /* monotonic; end_at: 0 until recording begins. See >>schedule */
    uint64_t warmup_left;
    int held;             /* prof__state.held at the start */
    uint32_t warmup_what, warmup_name; /* PROF__WARMUP_...; the hash of the name that counts, 0: none came yet */
    int beside;           /* 1: of an output that is written at the end, the image is in a file beside it meanwhile, if
                             that can be; else in memory */
    int unnamed;          /* the mapped file has no name at all yet */
    int beside_error;     /* why it could not be: errno, 0: it could */
    int whole;            /* the file of the image has all its blocks from the start: PROF_STREAM goes round it at once */
    prof_existing existing;
    int number;           /* files of output's name stay, and this session's gets a number; so in children of forks */
    int named;            /* the names of its files are settled */
    int claimed;          /* an empty file at output is this session's: it takes the name, while output is written */
    int taken, replaces;  /* live_path is a new file, this session's; or it replaces one that is there */
    int old_file;         /* of which this is the lock meanwhile, + 1; 0: there is none */
#ifndef PROF_FREESTANDING
    uint64_t look_at;     /* the service's: when there is something to do by the clock; 0: nothing is known */
    int written;          /* output is complete, although prof_stop() was not called yet */
#endif
    prof__header like;    /* the header as it was at the start: a child's image is made after it */
} prof__session;

/* All of it changes under prof__lock_word, and so does the generation, which tells everybody that it has. */
static struct {
    prof__session *session; /* the running one, or the last one until it is reset */
    prof__session *retired; /* older ones to which threads still point */
    prof__session *inherited; /* running, but without an image yet, or for good: see >>fork */
    int running, paused, level;
    int held;  /* PROF__HELD_...: running, but it has not begun yet; sites are off */
    int ended; /* not running any more, by itself: prof_stop() is still to come */
    int frozen; /* PROF__FROZEN_...: sites are off; the one field that changes without the lock */
    int no_sync, no_devices;
    uint32_t filter_mask;
    int rule_count, category_named, category_default;
    uint32_t epoch;
    struct {
        int on, exact; /* exact: pattern is a name, and * and ? mean nothing */
        char pattern[48];
    } rules[PROF__MAX_RULES];
} prof__state;

/* prof_server.h starts a session for the time of a capture when the program has none. The program does not notice: its
   prof_start() calls this, under the control lock, which sends that session away; prof_stop() finds none; children of
   forks inherit none. Null: the session, if there is one, is the program's. */
static void (*prof__guest)(void);

/* 0x80000000 fits no site and turns off the sites that were never looked at: nothing was started yet. */
PROF_DEF uint32_t prof__generation = PROF__OFF;
#ifndef PROF_FREESTANDING
static prof_writer *prof__writers;
#endif

/* What the call sites of followers look at; each function that is called looks here again. */
#if defined(PROF__HUBS) && !defined(PROF_STATIC)
static prof__hub *prof__followers; /* under the lock, but for crashes */
static void prof__hub_tell(uint32_t generation)
{
    for (prof__hub *each = PROF__ACQUIRE(&prof__followers); each; each = PROF__ACQUIRE(&each->next))
        if (each->generation != &prof__generation) PROF__STORE(each->generation, generation);
}
#else
static void prof__hub_tell(uint32_t generation) { (void)generation; }
#endif

static void prof__next_generation(void)
{
    uint32_t now = PROF__LOAD(&prof__generation), next;
    do next = (now & ~PROF__OFF) + 1 >= PROF__OFF ? 1 : (now & ~PROF__OFF) + 1;
    while (!__atomic_compare_exchange_n(&prof__generation, &now, next, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
    prof__hub_tell(next);
}

#ifndef PROF_FREESTANDING
/* What a session asks of the floors above it, which read and report what was recorded: watch/upstairs fills it in. */
struct prof__folded;
struct prof__figure;
struct prof__upstairs {
    prof_status (*write_live)(const char *path, prof_status (*write)(const prof_trace *, const char *));
    prof_status (*write_csv)(const prof_trace *trace, const char *path);
    prof_status (*write_summary)(const prof_trace *trace, const char *path);
    prof_status (*follow_make)(prof__session *s, const prof_config *config);
    int (*follow_step)(prof__session *s); /* what there is to do now; 1: that was something. So save_step */
    void (*follow_free)(struct prof__follow *f);
    prof_status (*save_arm)(const prof__session *s);
    int (*save_step)(prof__session *s);
    void (*save_disarm)(void); /* async-signal-safe */
    /* And what the reader asks of the followers and their statistics. */
    prof_status (*folded_take)(struct prof__folded *folded, int reset);
    prof_status (*folded_give)(struct prof__folded *folded, prof_trace *trace);
    void (*folded_free)(struct prof__folded *folded);
    void (*folded_figures_free)(struct prof__figure *figures, size_t count);
};

#ifdef PROF_NO_READER
static prof_status prof__no_reader(const char *what)
{
    return prof__fail(PROF_UNSUPPORTED, "%s: PROF_NO_READER leaves out what reads recordings: write a .prof, and read it "
                      "with the tool", what);
}
#endif
#endif

/*-- OTHER TOOLS ------------------------------------------------------------------------------------------ >>bridge --
   Where the recorder tells prof_bridge.h what other tools shall hear of, once it is recorded and the thread is free for
   signal handlers again. Without PROF_WITH_... nothing is left of a hook: lines with PROF__BRIDGE_ could as well be
   gone. */

#ifdef PROF__BRIDGED
static prof_fiber *prof__track_of(prof__thread *self);
#ifdef __cplusplus
} /* extern "C" */
#endif
#define PROF__BRIDGE_HERE
#include "prof_bridge.h"
#ifdef __cplusplus
extern "C" {
#endif
#else
#define PROF__BRIDGE_BEGIN(site, text, token) ((void)0) /* token 0: not recorded, and nobody else's business */
#define PROF__BRIDGE_BEGIN_NUMBER(site, key, token, type, number) ((void)0) /* with its first argument */
#define PROF__BRIDGE_LOOSE(track, token) ((void)0) /* what has just begun ends with PROFILE_END */
#define PROF__BRIDGE_END(self, token) ((void)0)
#define PROF__BRIDGE_ARG(site, type, number) ((void)0)
#define PROF__BRIDGE_ARG_TEXT(site, text) ((void)0)
#define PROF__BRIDGE_MARK(site, text) ((void)0)
#define PROF__BRIDGE_COUNTER(site, type, number) ((void)0)
#define PROF__BRIDGE_FRAME(site) ((void)0)
#define PROF__BRIDGE_EVENT(site, type, detail, object) ((void)0)
#define PROF__BRIDGE_LOG_KEEP(list) ((void)0) /* the values, before they are fetched from the list */
#define PROF__BRIDGE_LOG(site, severity, format) ((void)0) /* of these values */
#define PROF__BRIDGE_THREAD(name) ((void)0)
#define PROF__BRIDGE_SWITCH(self) ((void)0)        /* another fiber is on this thread */
#define PROF__BRIDGE_FORGET(self, track) ((void)0) /* of a thread or fiber that ends */
#define PROF__BRIDGE_PAUSE() ((void)0)             /* or resume */
#define PROF__BRIDGE_START() ((void)0)             /* before prof_start(), */
#define PROF__BRIDGE_STARTED() ((void)0)           /* and after it */
#define PROF__BRIDGE_STOP() ((void)0)
#define PROF__BRIDGE_CHILD() ((void)0)             /* of a fork */
#define PROF__BRIDGE_UNLOAD() ((void)0)
#endif

/*-- META --------------------------------------------------------------------------------------------------- >>meta --
   Strings and call sites, each stored once by content, so that a plugin that comes back a thousand times takes the room
   of one. Called under the lock. */

static uint32_t prof__hash(const void *bytes, size_t size)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < size; ++i) hash = (hash ^ ((const unsigned char *)bytes)[i]) * 16777619u;
    return hash ^ hash >> 15;
}

/* Finds or appends a record whose words behind the head are these bytes, zero-padded. 0: no room. */
static uint32_t prof__meta_intern(prof__session *s, uint32_t kind, const void *bytes, size_t size, uint32_t *count)
{
    uint64_t words = 1 + (size + 7) / 8, used = s->header->meta_used / 8;
    uint32_t slot = (prof__hash(bytes, size) + kind) & s->index_mask;
    for (; s->index[slot]; slot = (slot + 1) & s->index_mask) {
        const uint64_t *record = s->meta + (s->index[slot] - 1);
        if (record[0] >> 32 != ((uint64_t)kind << 24 | words)) continue;
        const char *stored = (const char *)(record + 1);
        size_t i = 0;
        while (i < size && stored[i] == ((const char *)bytes)[i]) ++i;
        if (i == size) return (uint32_t)record[0];
    }
    if (used + words > s->meta_words || words >= 1u << 24 || *count >= PROF__SITE_MASK) {
        s->header->sites_lost++;
        return 0;
    }
    uint64_t *record = s->meta + used;
    prof__copy(record + 1, bytes, size);
    uint32_t id = ++*count;
    s->index[slot] = (uint32_t)used + 1;
    s->header->meta_used = (used + words) * 8;
    PROF__RELEASE(&record[0], (uint64_t)kind << 56 | words << 32 | id);
    return id;
}

/* "" is 0. The size counts the terminator, so that stored strings always end. */
static uint32_t prof__meta_string(prof__session *s, const char *text)
{
    size_t length = text ? prof__length(text) : 0;
    return length ? prof__meta_intern(s, PROF__META_STRING, text, length + 1, &s->string_count) : 0;
}

static uint32_t prof__meta_site(prof__session *s, prof_site *site)
{
    uint32_t words[8];
    words[0] = prof__meta_string(s, site->name);
    words[1] = prof__meta_string(s, site->file);
    words[2] = prof__meta_string(s, site->function);
    words[3] = prof__meta_string(s, site->category);
    words[4] = site->line;
    words[5] = site->color;
    words[6] = site->level;
    words[7] = site->kind;
    PROF__STORE(&site->private_name, words[0]);
    return prof__meta_intern(s, PROF__META_SITE, words, sizeof words, &s->site_count);
}

/* Key and value of the session; one without a key forgets all before it. 0: no room. */
static int prof__meta_pair(prof__session *s, const char *key, const char *value)
{
    size_t k = prof__length(key) + 1, v = prof__length(value) + 1;
    uint64_t words = 1 + (k + v + 7) / 8, used = s->header->meta_used / 8;
    if (used + words > s->meta_words || words >= 1u << 24) {
        s->header->sites_lost++;
        return 0;
    }
    uint64_t *record = s->meta + used;
    prof__copy(record + 1, key, k);
    prof__copy((char *)(record + 1) + k, value, v);
    s->header->meta_used = (used + words) * 8;
    PROF__RELEASE(&record[0], (uint64_t)PROF__META_SESSION << 56 | words << 32);
    return 1;
}

/* prof_set_metadata(): key, zero, value, zero, and so on. Under the lock. */
static struct {
    size_t used;
    char pairs[4096];
} prof__metadata;

static size_t prof__metadata_size(const char *pair)
{
    size_t key = prof__length(pair) + 1;
    return key + prof__length(pair + key) + 1;
}

static char prof__rank[64]; /* what %r is in the present session, or was in the last; "": not known */

/* All of it, into an image that is new. */
static void prof__metadata_write(prof__session *s)
{
    if (prof__rank[0]) prof__meta_pair(s, "rank", prof__rank);
    for (const char *each = prof__metadata.pairs; each < prof__metadata.pairs + prof__metadata.used;
         each += prof__metadata_size(each))
        prof__meta_pair(s, each, each + prof__length(each) + 1);
}

/* 0: no room; what there was stays. */
static int prof__metadata_put(const char *key, const char *value)
{
    char *at = prof__metadata.pairs, *end = at + prof__metadata.used;
    size_t key_size = prof__length(key) + 1, value_size = prof__length(value) + 1, old = 0, behind;
    while (at < end && !prof__equal(at, key)) at += prof__metadata_size(at);
    if (at < end) old = prof__metadata_size(at);
    if (prof__metadata.used - old + key_size + value_size > sizeof prof__metadata.pairs) return 0;
    behind = (size_t)(end - at) - old;
    for (size_t i = 0; i < behind && old; ++i) at[i] = at[i + old];
    at += behind;
    prof__copy(at, key, key_size);
    prof__copy(at + key_size, value, value_size);
    prof__metadata.used += key_size + value_size - old;
    return 1;
}

static int prof__match(const char *pattern, const char *text)
{
    const char *star = NULL, *retry = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            retry = text;
        } else if (*pattern == '?' || *pattern == *text) {
            ++pattern;
            ++text;
        } else if (star) {
            pattern = star;
            text = ++retry;
        } else {
            return 0;
        }
    }
    while (*pattern == '*') ++pattern;
    return !*pattern;
}

static int prof__category_on(const char *category)
{
    int on = prof__state.category_default;
    if (!category) category = "";
    for (int i = 0; i < prof__state.rule_count; ++i)
        if ((prof__state.rules[i].exact ? prof__equal : prof__match)(prof__state.rules[i].pattern, category))
            on = prof__state.rules[i].on;
    return on;
}

#ifndef PROF_FREESTANDING
/* The categories of call sites, for prof_domain_list(): copies, because the modules that they are from may go. Grows
   under the lock, and is read without. */
static struct {
    uint32_t count, used;
    const char *names[128];
    char text[4096];
} prof__categories;

static void prof__category_note(const char *category)
{
    uint32_t count = prof__categories.count;
    size_t size = category ? prof__length(category) + 1 : 1;
    char *copy = prof__categories.text + prof__categories.used;
    if (size == 1 || size > sizeof prof__categories.text - prof__categories.used ||
        count == sizeof prof__categories.names / sizeof *prof__categories.names)
        return;
    for (uint32_t i = 0; i < count; ++i)
        if (prof__equal(prof__categories.names[i], category)) return;
    prof__copy(copy, category, size);
    prof__categories.used += (uint32_t)size;
    prof__categories.names[count] = copy;
    PROF__RELEASE(&prof__categories.count, count + 1);
}
#else
#define prof__category_note(category) ((void)0)
#endif

static uint64_t prof__site_load(const prof_site *site)
{
#if PROF__WIDE
    return PROF__LOAD(&site->private_state);
#else
    const prof__half *half = (const prof__half *)&site->private_state;
    uint32_t low = PROF__ACQUIRE(half + PROF__LOW_HALF), high = PROF__ACQUIRE(half + !PROF__LOW_HALF);
    if (PROF__LOAD(half + PROF__LOW_HALF) != low) low = PROF__SHUT; /* it was changing: let the slow path look */
    return (uint64_t)high << 32 | low;
#endif
}

static void prof__site_store(prof_site *site, uint64_t state)
{
#if PROF__WIDE
    PROF__RELEASE(&site->private_state, state);
#else
    prof__half *half = (prof__half *)&site->private_state;
    PROF__RELEASE(half + PROF__LOW_HALF, PROF__SHUT);
    PROF__RELEASE(half + !PROF__LOW_HALF, (uint32_t)(state >> 32));
    PROF__RELEASE(half + PROF__LOW_HALF, (uint32_t)state);
#endif
}

/* Events of threads that have no chunk; moved into the image by whoever holds the lock next. */
static uint64_t prof__lost_without_chunk;

/* Odd; changes when a thread that found no chunk might find one. */
static uint32_t prof__room_changes = 1;
static void prof__room_changed(void) { __atomic_fetch_add(&prof__room_changes, 2, __ATOMIC_RELEASE); }

static void prof__lost_collect(prof__session *s)
{
    PROF__ADD(&s->header->lost, __atomic_exchange_n(&prof__lost_without_chunk, 0, __ATOMIC_RELAXED));
}

#if defined(PROF_FREESTANDING) || defined(_WIN32)
static void prof__inherited_make(void) {}
#else
static void prof__inherited_make(void);
#endif

/*-- SCHEDULE -------------------------------------------------------------------------------------------- >>schedule --
   A session may begin later than it starts. Until then all sites are off, as in a pause, and cost as little. The clock
   is the service's business (prof__schedule_step). For warming up, the sites that count are not off but out of date, so
   that each use of them, and of no other, comes by the slow path, where it is counted under the lock. In the child of a
   fork, which has no service, that is how all sites wait for the clock. */

#define PROF__CENTURY (100ull * 366 * 86400 * 1000000000) /* ns */
enum { PROF__HELD_TIME = 1, PROF__HELD_WARMUP = 2 };
enum { PROF__WARMUP_STEPS = 1, PROF__WARMUP_FRAMES };

static prof__session *prof__state_session(void) { return prof__state.session ? prof__state.session : prof__state.inherited; }

/* 1: nobody but the macros looks whether the time has come. */
static int prof__schedule_alone(const prof__session *s)
{
#ifdef PROF_FREESTANDING
    (void)s;
    return 0;
#else
    return prof__state.held & PROF__HELD_TIME && s == prof__state.inherited;
#endif
}

static int prof__warmup_counts(const prof__session *s, const prof_site *site)
{
    if (s->warmup_what == PROF__WARMUP_FRAMES) return (site->kind & ((1u << PROF__ROLE_SHIFT) - 1)) == PROF__KIND_FRAME;
    return site->kind >> PROF__ROLE_SHIFT == PROF_ROLE_STEP;
}

/* 1: the session is held, and every use of this site is to come by. Under the lock. */
static int prof__schedule_sees(const prof_site *site)
{
    const prof__session *s = prof__state_session();
    if (!prof__state.held || !prof__state.running || prof__state.paused || !s) return 0;
    return prof__schedule_alone(s) || (prof__state.held == PROF__HELD_WARMUP && prof__warmup_counts(s, site));
}

/* One reason less to wait; after the last, recording begins, and with it the session's time. Under the lock. */
static void prof__schedule_release(prof__session *s, int held)
{
    prof__state.held &= ~held;
    prof__next_generation();
    if (prof__state.held) return;
    if (held && s->header) {
        prof__pair_take_well(s->clock, s->header->tick_hz, &s->header->first);
        s->header->last = s->header->first;
    }
#ifndef PROF_FREESTANDING
    if (s->duration_ns && s->header) s->end_at = s->header->first.monotonic_ns + s->duration_ns;
    prof__word_wake(&s->service.word);
#endif
}

/* A site is used that prof__schedule_sees(). Under the lock. */
static void prof__schedule_look(const prof_site *site)
{
    prof__session *s = prof__state_session();
#ifndef PROF_FREESTANDING
    if (prof__schedule_alone(s) && prof__monotonic() >= s->begin_at) prof__schedule_release(s, PROF__HELD_TIME);
#endif
    if (prof__state.held != PROF__HELD_WARMUP || !prof__warmup_counts(s, site)) return;
    uint32_t name = prof__hash(site->name, prof__length(site->name)) | 1;
    if (!s->warmup_name) s->warmup_name = name;
    if (s->warmup_name != name) return;
    if (s->warmup_left)
        s->warmup_left--;
    else
        prof__schedule_release(s, PROF__HELD_WARMUP);
}

/* 1: all sites are off, but for those of ends. Changes under the lock, but for crashes. */
static int prof__sites_rest(void) { return PROF__LOAD(&prof__state.paused) || PROF__LOAD(&prof__state.frozen); }

/* Devices have no level: level 0 turns off what the host does, no_devices what they report. */
static int prof__site_wanted(const prof_site *site)
{
    int device = site->kind >> PROF__ROLE_SHIFT == PROF_ROLE_DEVICE;
    return !prof__sites_rest() && !prof__state.held &&
           (device ? !prof__state.no_devices : (int)site->level <= prof__state.level) &&
           (~site->unmask & prof__state.filter_mask) && prof__category_on(site->category);
}

static uint64_t prof__site_kind(const prof_site *site) { return site->kind & ((1u << PROF__ROLE_SHIFT) - 1); }

/* Brings a site in step with the present generation. Under the lock, as a busy thread. */
static void prof__site_settle(prof_site *site)
{
    uint32_t generation = PROF__ACQUIRE(&prof__generation); /* and with it prof__state.frozen */
    if (prof__state.held && prof__schedule_sees(site)) return;
    if (prof__state.running && prof__state.inherited) {
        if (prof__site_kind(site) == PROF__KIND_END) return; /* of a begin in the parent: no reason to make an image */
        if (prof__site_wanted(site)) prof__inherited_make();
    }
    prof__session *s = prof__state.session;
    if (!prof__state.running || !s) {
        prof__category_note(site->category);
        prof__site_store(site, generation ^ PROF__OFF);
        return;
    }
    uint64_t head = prof__site_load(site) >> PROF__TICK_BITS << PROF__TICK_BITS;
    if (site->private_session != s->epoch || !head) {
        uint32_t id = prof__meta_site(s, site);
        if (!id) id = s->site_without_room;
        prof__category_note(site->category);
        head = prof__site_kind(site) << PROF__KIND_SHIFT | (uint64_t)id << PROF__TICK_BITS;
        site->private_session = s->epoch;
        prof__pair_take(s->clock, s->header->tick_hz, &s->header->last);
        prof__lost_collect(s);
    }
    int on = prof__site_kind(site) == PROF__KIND_END || prof__site_wanted(site);
    prof__site_store(site, head | (on ? generation : generation ^ PROF__OFF));
}

/*-- RING -------------------------------------------------------------------------------------------------- >>ring --*/

static void prof__store_word(uint64_t *at, uint64_t word)
{
#if PROF__WIDE
    PROF__RELEASE(at, word);
#else
    prof__half *half = (prof__half *)at;
    PROF__STORE(half + PROF__LOW_HALF, (uint32_t)word);
    PROF__RELEASE(half + !PROF__LOW_HALF, (uint32_t)(word >> 32)); /* holds the kind, which publishes */
#endif
}

static uint64_t *prof__chunk_first(const prof__chunk *chunk) { return (uint64_t *)(uintptr_t)(chunk + 1); }

static prof_fiber *prof__track_of(prof__thread *self) { return self->fiber ? self->fiber : &self->own; }

/* Counts what this thread could not record: in its chunk if it has one, where a reader finds it even after a crash and
   takes it for the loss of the track that wrote there last. */
static void prof__lose(prof__thread *self, uint64_t count)
{
    prof__session *s = self->session;
    PROF__ADD(self->entered ? &self->chunk->lost : s ? &s->header->lost : &prof__lost_without_chunk, count);
}

/* 1: a service adds what is recorded to statistics. */
static int prof__mode_counts(uint32_t mode) { return mode == PROF_STATS || mode == PROF_RING_STATS; }

/* Where a service empties the chunks, only those are taken that it has let go. Counting them tells at once that there
   is none: a scope that is lost must not search the whole ring. */
static int prof__chunks_kept(const prof__session *s)
{
    return s->header->mode == PROF_STREAM || prof__mode_counts(s->header->mode);
}

static int prof__chunk_reserve(prof__session *s, int service)
{
    uint32_t free_chunks = PROF__LOAD(&s->free_chunks);
    while (free_chunks)
        if (__atomic_compare_exchange_n(&s->free_chunks, &free_chunks, free_chunks - 1, 1, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return 1;
    if (!service || !s->spare_chunk) return 0;
    s->spare_chunk = 0;
    return 1;
}

/* Pages, and the blocks of a file, are taken a piece at a time, ahead of the writers: by the one who takes a chunk near the
   end of what is there. Nobody gets a chunk before its blocks are reserved: who overtakes the one who was ahead does the
   same work once more, which changes nothing where it is done. Where the disk has no more, the ring ends there, as if
   it had been that small from the beginning: no chunk beyond was ever used, so that numbers lead to the same slots. */
#define PROF__ALL_READY 0xffffffffu
#define PROF__READY_ENDS 0x80000000u /* with a number of chunks: somebody is about to make that the ring's */
#define PROF__READY_AHEAD 8u         /* chunks */
#define PROF__READY_PIECE 16u        /* that get their pages at a time */
#define PROF__BLOCKS_PIECE 64u       /* and their blocks: a multiple of that */

#ifndef PROF_FREESTANDING
/* So many chunks, from the first on, may be looked at. The others' pages can be holes in a file, for which a file system
   in memory takes room even if they are read. */
static uint64_t prof__chunks_there(const prof__session *s)
{
    uint32_t ready = PROF__ACQUIRE(&s->ready_chunks);
    return ready == PROF__ALL_READY ? PROF__LOAD(&s->chunk_count) : ready & ~PROF__READY_ENDS;
}
#endif

#if defined(__linux__) && !defined(PROF_FREESTANDING)
static int prof__stream_file_there(const prof__session *s);
static int prof__file_cut(prof__session *s);
static void prof__background_failed(prof__session *s, const char *why);

/* Linux 5.14. 0: size bytes have their pages, which can be written without a fault. Async-signal-safe. */
static int prof__populate(void *memory, size_t size) { return madvise(memory, size, 23 /* MADV_POPULATE_WRITE */); }

/* Reserves blocks of a file that is as large already, or makes it so. 0; EOPNOTSUPP: cannot be done, which says nothing
   about the room; or why there is none: errno. Async-signal-safe. */
static int prof__blocks_reserve(int file, uint64_t at, uint64_t size)
{
    prof__file_signal signal;
    prof__file_signal_hold(&signal);
    int error = fallocate(file, 0, (off_t)at, (off_t)size) ? errno : 0;
    prof__file_signal_drop(&signal);
    return !error || error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO ? error : EOPNOTSUPP;
}

/* The same for these chunks of the session. The program may have closed the descriptor. A file that somebody cut is not
   made larger again: what is gone would come back as zeros, and nobody would know. */
static int prof__chunks_reserve(prof__session *s, uint64_t from, uint64_t end)
{
    uint64_t at = (uint64_t)(s->chunks - (char *)s->mapping) + from * s->chunk_size;
    if (!prof__stream_file_there(s)) return EOPNOTSUPP;
    if (prof__file_cut(s)) return EIO;
    return prof__blocks_reserve(s->stream.file, at, (end - from) * s->chunk_size);
}

/* 0: these chunks can be written; or why not: errno. Taking a page of a file takes its block as well. */
static int prof__chunks_populate(prof__session *s, uint64_t from, uint64_t end)
{
    size_t first = (size_t)(s->chunks - (char *)s->mapping) + (size_t)from * s->chunk_size;
    size_t last = (size_t)(s->chunks - (char *)s->mapping) + (size_t)end * s->chunk_size;
    uint64_t ahead = from + PROF__BLOCKS_PIECE;
    int reserves = s->live_path && !s->whole, error = EOPNOTSUPP;
    if (ahead > s->chunk_count) ahead = s->chunk_count;
    if (reserves && from % PROF__BLOCKS_PIECE == 0) error = prof__chunks_reserve(s, from, ahead);
    if (error && error != EOPNOTSUPP) return error;
    first = first / 65536 * 65536; /* whole pages, of whatever size */
    if (!prof__populate((char *)s->mapping + first, last - first) || !reserves) return 0;
    if (error) error = prof__chunks_reserve(s, from, end);
    return error == EOPNOTSUPP ? ENOSPC : error;
}

static const char *prof__room_text(int error) /* strerror() is not for signal handlers */
{
    return error == ENOSPC   ? "No space left on device"
           : error == EDQUOT ? "Disk quota exceeded"
           : error == EFBIG  ? "File too large"
                             : "Input/output error";
}

/* The ring has no more chunks than these. */
static void prof__ring_end(prof__session *s, uint32_t count, int error)
{
    s->chunks_asked = s->chunk_count;
    s->room_error = prof__room_text(error);
    PROF__STORE(&s->chunk_count, (uint64_t)count);
    PROF__STORE(&s->header->chunk_count, (uint64_t)count);
    PROF__STORE(&s->like.chunk_count, (uint64_t)count);
    prof__background_failed(s, s->room_error);
    PROF__RELEASE(&s->ready_chunks, PROF__ALL_READY);
    prof__room_changed();
}

/* Makes the next piece ready, which begins at chunk number from. 0: there is no room for it. */
static int prof__piece_take(prof__session *s, uint32_t from)
{
    uint64_t count = PROF__LOAD(&s->chunk_count), end = (uint64_t)from + PROF__READY_PIECE;
    uint32_t ready = from;
    if (from >= count) return 1; /* it has ended meanwhile */
    if (end > count) end = count;
    int error = prof__chunks_populate(s, from, end);
    if (!error)
        __atomic_compare_exchange_n(&s->ready_chunks, &ready, end == count ? PROF__ALL_READY : (uint32_t)end, 0,
                                    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    else if (from && __atomic_compare_exchange_n(&s->ready_chunks, &ready, from | PROF__READY_ENDS, 0, __ATOMIC_ACQUIRE,
                                                 __ATOMIC_RELAXED))
        prof__ring_end(s, from, error);
    return !error || from;
}

/* 1: the chunk of this number can be written. */
static PROF__COLD int prof__chunks_ready(prof__session *s, uint64_t number)
{
    PROF__ERRNO_SAVE();
    uint32_t claimed = PROF__LOAD(&s->claimed_chunks), ready;
    int good = 1;
    if (number + PROF__READY_AHEAD >= claimed && claimed < PROF__LOAD(&s->chunk_count) &&
        __atomic_compare_exchange_n(&s->claimed_chunks, &claimed, claimed + PROF__READY_PIECE, 0, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED))
        prof__piece_take(s, claimed);
    while (good && (ready = PROF__ACQUIRE(&s->ready_chunks)) != PROF__ALL_READY &&
           number >= (ready & ~PROF__READY_ENDS))
        good = !(ready & PROF__READY_ENDS) && prof__piece_take(s, ready);
    PROF__ERRNO_RESTORE();
    return good;
}
#else
static int prof__chunks_ready(prof__session *s, uint64_t number)
{
    (void)s;
    (void)number;
    return 1;
}
#endif

/* A search has found nothing. If its numbers came one after the other, it has looked at each chunk of the ring, and
   nobody need search before one is let go. Otherwise others searched meanwhile. */
static void prof__search_failed(prof__session *s, uint64_t first, uint64_t last, uint64_t chunks, uint32_t room)
{
    if (s->header->mode == PROF_RING && last - first == chunks - 1) PROF__STORE(&s->all_owned, room);
}

/* Takes the next chunk of the ring: one atomic operation, as a rule, for some thousand events. Null: none to be had. */
static prof__chunk *prof__chunk_take(prof__session *s, int service)
{
    prof__header *h = s->header;
    int kept = prof__chunks_kept(s);
    uint32_t room = PROF__ACQUIRE(&prof__room_changes);
    uint64_t first = 0, last = 0, most = PROF__LOAD(&s->chunk_count);
    if (kept ? !prof__chunk_reserve(s, service) : PROF__LOAD(&s->all_owned) == room) return NULL;
    for (uint64_t tries = 0; tries < most * 2; ++tries) {
        if (!kept && tries >= most) { /* one that is kept was promised: others may have moved it along */
            prof__search_failed(s, first, last, most, room);
            break;
        }
        if (h->mode == PROF_FILL && PROF__LOAD(&h->next_chunk) >= PROF__LOAD(&s->chunk_count)) return NULL;
        /* A release: a reader that knows of this claim sees all that the thread wrote in the chunk before it. */
        uint64_t number = __atomic_fetch_add(&h->next_chunk, 1, __ATOMIC_RELEASE);
        last = number;
        if (!tries) first = number;
        uint32_t ready = PROF__ACQUIRE(&s->ready_chunks);
        if (PROF__UNLIKELY(number + PROF__READY_AHEAD >= ready) && !prof__chunks_ready(s, number)) break;
        uint64_t count = PROF__LOAD(&s->chunk_count); /* not before it is known that the chunk is ready */
        if (h->mode == PROF_FILL && number >= count) return NULL;
        prof__chunk *chunk = (prof__chunk *)(void *)(s->chunks + number % count * s->chunk_size);
        uint32_t state = PROF__LOAD(&chunk->state);
        if ((kept ? state != PROF__CHUNK_FREE : state == PROF__CHUNK_OWNED) ||
            !__atomic_compare_exchange_n(&chunk->state, &state, PROF__CHUNK_OWNED, 0, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
            continue;
        if (chunk->sequence > number) { /* this thread slept for a lap: the slot is somebody's newest by now */
            PROF__RELEASE(&chunk->state, state);
            prof__room_changed(); /* others have seen it taken */
            continue;
        }
        if (chunk->sequence) {
            uint64_t taken_back = PROF__LOAD(&chunk->taken_back);
            if (taken_back) PROF__ADD(&h->taken_back, taken_back);
            PROF__STORE(&chunk->taken_back, 0);
            if (!kept || h->mode == PROF_RING_STATS) PROF__ADD(&h->overwritten, 1);
            PROF__RELEASE(&chunk->sequence, 0); /* a reader that misses this chunk knows that something is gone */
            PROF__FENCE(); /* a reader that sees any of what follows sees the zero, too */
            prof__clear(prof__chunk_first(chunk), (size_t)s->chunk_words * 8);
        }
        PROF__STORE(&chunk->lost, 0);
        prof__pair base;
        prof__pair_take(s->clock, h->tick_hz, &base);
        prof__pair_store(&chunk->base, &base);
        PROF__RELEASE(&chunk->sequence, number + 1);
        return chunk;
    }
    if (kept) {
        PROF__ADD(&s->free_chunks, 1u);
        prof__room_changed();
    }
    return NULL;
}

/* Where the service empties chunks: sleeps until a chunk was let go, at most that long. 1: one was. A
   thread that waited in vain does not wait again before one is; the service, who lets them go, never. Holds no lock.
   prof__room_waits: 1: it would sleep. */
#ifdef PROF_FREESTANDING
static int prof__room_waits(const prof__thread *self, const prof__session *s)
{
    (void)self;
    (void)s;
    return 0;
}
static int prof__room_wait(prof__thread *self, prof__session *s)
{
    (void)self;
    (void)s;
    return 0;
}
#else
/* Changes with each chunk that is let go, and from session to session. */
static uint32_t prof__room_mark(const prof__session *s)
{
    return PROF__ACQUIRE(&s->released) + s->epoch * 0x9E3779B1u;
}

static int prof__room_waits(const prof__thread *self, const prof__session *s)
{
    return s->wait_ns && prof__chunks_kept(s) && !self->impatient && self->waited != prof__room_mark(s);
}

static PROF__COLD int prof__room_wait(prof__thread *self, prof__session *s)
{
    if (!prof__room_waits(self, s)) return 0;
    PROF__ERRNO_SAVE();
    uint64_t now = prof__monotonic(), deadline = now + s->wait_ns;
    int found = 0;
    __atomic_fetch_add(&s->waiting, 1, __ATOMIC_SEQ_CST);
    prof__word_wake(&s->service.word); /* may sleep longer than this thread */
    while (!(found = PROF__LOAD(&s->free_chunks) != 0) && now < deadline && !PROF__ACQUIRE(&s->service.stop)) {
        uint32_t released = __atomic_load_n(&s->released, __ATOMIC_SEQ_CST);
        if (!PROF__LOAD(&s->free_chunks)) prof__word_wait(&s->released, released, deadline - now);
        now = prof__monotonic();
    }
    __atomic_fetch_sub(&s->waiting, 1, __ATOMIC_SEQ_CST);
    if (!found) self->waited = prof__room_mark(s);
    PROF__ERRNO_RESTORE();
    return found;
}
#endif

/* The clock of a session that does not use the bare counter. */
static uint64_t prof__now(const prof__session *s, int at_end)
{
#ifndef PROF_FREESTANDING
    if (s->clock == PROF_CLOCK_MONOTONIC) return prof__monotonic();
#endif
    if (s->clock == PROF_CLOCK_ORDERED && at_end) return prof__counter_ordered() - s->ordered_excess;
    return prof__counter();
}

/* The serial is counted last: if a handler leaves in between for good, one comes twice, and none is missing. */
static void prof__track_write(prof__thread *self)
{
    prof_fiber *track = prof__track_of(self);
    uint64_t *at = self->cursor, serial = track->serial + 1;
    PROF__STORE(at + 1, serial >> 28 << PROF__TICK_BITS | track->track);
    PROF__STORE(at + 2, self->thread_id);
    prof__store_word(at, (uint64_t)PROF__KIND_TRACK << PROF__KIND_SHIFT | (serial & 0xfffffff) << 32 |
                             (uint64_t)track->is_fiber << 31 | (track->name_id == PROF__NAME_NEW ? 0 : track->name_id));
    PROF__BARRIER();
    track->serial = serial;
    self->cursor = at + 3;
    self->room -= 3;
}

/* The thread's present track goes on in this chunk, behind the words used. */
static void prof__chunk_enter(prof__thread *self, prof__chunk *chunk, uint64_t used, uint64_t owed)
{
    prof__session *s = self->session;
    self->chunk = chunk;
    self->base = chunk->base.tick;
    self->cursor = prof__chunk_first(chunk) + used;
    self->end = prof__chunk_first(chunk) + s->chunk_words;
    self->room = s->chunk_words - used - owed;
    self->begun = self->begun_end = NULL;
    self->entered = 1;
    prof__track_write(self);
}

/* Lets others have a chunk that this thread has filled. In a ring that is room for those who found none. */
static void prof__chunk_finish(const prof__session *s, prof__chunk *chunk)
{
    PROF__RELEASE(&chunk->state, (uint32_t)PROF__CHUNK_FULL);
    if (s->header->mode == PROF_RING) prof__room_changed();
}

/* 1: the thread's present chunk has an event, and not just the TRACK record that it begins with and arguments of a scope
   that began in the chunk before. */
static int prof__chunk_begun(const prof__thread *self)
{
    const uint64_t *at = prof__chunk_first(self->chunk) + 3;
    while (at < self->cursor && *at >> PROF__KIND_SHIFT == PROF__KIND_ARG) at += 1 + (*at & 0xFFFF);
    return at < self->cursor;
}

/* A thread that is stopped while it changes chunks may be overtaken by others that come round the ring. One of its two
   chunks has its newest events, and stays: the filled one is kept until the new one has an event, and not just a begin
   that may be taken back. Only a ring reuses what nobody has read. */
static void prof__filled_finish(prof__thread *self)
{
    prof__chunk *filled = self->filled;
    self->filled = NULL;
    prof__chunk_finish(self->session, filled);
}

static PROF__COLD void prof__filled_check(prof__thread *self)
{
    if (!prof__chunk_begun(self)) return;
    /* afterwards the memory may be somebody else's */
    if (!PROF__LOAD(&prof__state.running) || PROF__LOAD(&prof__state.epoch) != self->epoch) return;
    if (self->session->min_ticks &&
        (self->begun_end == self->cursor || self->cursor[-1] >> PROF__KIND_SHIFT == PROF__KIND_BEGIN))
        return;
    prof__filled_finish(self);
}

/* A new chunk for a thread that has one. The ends it owes move along. Their number is only ever too large: a longjmp
   over scopes leaves their ends owed for ever; past three quarters of a chunk (1500 scopes) the debt is forgotten, and
   an end for which nothing is set aside takes a word of the room, or a new chunk. */
static int prof__chunk_change(prof__thread *self, prof__chunk *chunk)
{
    uint64_t owed = self->entered ? (uint64_t)(self->end - self->cursor) - self->room : prof__track_of(self)->owed;
    prof__session *s = self->session;
    prof__chunk *old = self->chunk;
    if (!chunk) return 0;
    if (self->filled && prof__chunk_begun(self)) prof__filled_finish(self);
    prof__chunk_enter(self, chunk, 0, owed > s->chunk_words / 4 * 3 ? 0 : owed);
    if (self->filled || s->header->mode != PROF_RING)
        prof__chunk_finish(s, old); /* with a chunk before it that still has the newest event, it has none */
    else
        self->filled = old;
    return 1;
}

/* 1: nothing was let go since this thread found no chunk, so that it need not search, nor take the lock, for every
   event that is lost. It does now and then, which also brings the losses of a thread without a chunk into the image. */
static int prof__room_missing(prof__thread *self)
{
    return self->no_room == PROF__LOAD(&prof__room_changes) && ++self->in_vain % 1024;
}

static int prof__chunk_next(prof__thread *self)
{
    prof__session *s = self->session;
    int service = self->impatient != 0;
    if (prof__room_missing(self)) return 0;
    uint32_t room = PROF__ACQUIRE(&prof__room_changes);
    prof__chunk *chunk = prof__chunk_take(s, service);
    while (!chunk && prof__room_wait(self, s)) chunk = prof__chunk_take(s, service);
    self->no_room = chunk ? 0 : room;
    return prof__chunk_change(self, chunk);
}

/* What this thread lost on its present track becomes a record of it, if there is a word for that. */
static void prof__lost_write(prof__thread *self)
{
    uint64_t lost = self->cursor < self->end ? __atomic_exchange_n(&self->chunk->lost, 0, __ATOMIC_RELAXED) : 0;
    if (!lost) return;
    prof__store_word(self->cursor, (uint64_t)PROF__KIND_LOST << PROF__KIND_SHIFT | (lost & PROF__TICK_MASK));
    self->cursor++;
}

/* Nothing can be written until prof__track_enter(), for the present track or another one. */
static void prof__track_leave(prof__thread *self)
{
    if (!self->entered) return;
    prof__track_of(self)->owed = (uint64_t)(self->end - self->cursor) - self->room;
    if (PROF__UNLIKELY(PROF__LOAD(&self->chunk->lost))) prof__lost_write(self);
    self->entered = 0;
    self->end = self->cursor;
    self->room = 0;
    self->begun = self->begun_end = NULL;
}

/* The present track goes on in what is left of the chunk. If that is too little, whoever writes next takes a new chunk,
   and waits for one if that is wanted; here it may be under the lock, and a chunk without an event is of no use. */
static void prof__track_enter(prof__thread *self)
{
    uint64_t used = (uint64_t)(self->cursor - prof__chunk_first(self->chunk)), owed = prof__track_of(self)->owed;
    if (used + 3 + owed + 2 <= self->session->chunk_words) prof__chunk_enter(self, self->chunk, used, owed);
}

/* 1: this track can be entered without the lock. */
static int prof__track_known(const prof__thread *self, const prof_fiber *track)
{
    return track->epoch == self->epoch && track->name_id != PROF__NAME_NEW;
}

/* Makes the present track one of the thread's session. Under the lock. */
static void prof__track_know(prof__thread *self)
{
    prof_fiber *track = prof__track_of(self);
    prof__session *s = self->session;
    if (track->epoch != s->epoch) {
        track->track = PROF__ADD(&s->header->tracks, 1) + 1;
        track->serial = track->owed = 0;
        track->loose_count = 0;
        for (uint32_t at = 0; at < sizeof track->loose_name / sizeof *track->loose_name; ++at)
            track->loose_name[at] = PROF__LOOSE_FREE;
        track->name_id = PROF__NAME_NEW;
        track->epoch = s->epoch;
    }
    if (track->name_id != PROF__NAME_NEW) return;
    char name[sizeof track->name];
    prof__copy(name, track->name, sizeof name);
    if (!name[0] && !track->is_fiber) prof__system_name(name, sizeof name);
    track->name_id = prof__meta_string(s, name);
}

/* Room for words behind the cursor, at a time that the chunk can express. Null and counted if there is none. */
static uint64_t *prof__reserve(prof__thread *self, uint64_t words, uint64_t *now)
{
    if (PROF__UNLIKELY(self->room < words || (*now - self->base) >> PROF__TICK_BITS)) {
        if (*now < self->base && self->base - *now < 1u << 31) {
            *now = self->base; /* a handler took this chunk after the clock was read */
            if (self->room >= words) return self->cursor;
        }
        if (!prof__chunk_next(self) || self->room < words) {
            prof__lose(self, 1);
            return NULL;
        }
        *now = self->base > *now ? self->base : *now;
    }
    return self->cursor;
}

static void prof__commit(prof__thread *self, uint64_t words)
{
    self->cursor += words;
    self->room -= words;
}

/* Forgets the session. Its image may be gone as soon as attached is decremented. */
static void prof__detach(prof__thread *self)
{
    prof__session *s = self->session;
    self->entered = 0;
    self->session = NULL;
    self->chunk = self->filled = NULL;
    self->cursor = self->end = NULL;
    self->begun = self->begun_end = NULL;
    self->room = self->epoch = 0;
    if (s) __atomic_fetch_sub(&s->attached, 1, __ATOMIC_RELEASE);
}

/* Gives the thread a chunk, first one that an exited thread left with room, and its track an id. Under the lock. */
static int prof__attach(prof__thread *self)
{
    prof__session *s = prof__state.session;
    prof__chunk *chunk = NULL;
    uint64_t used = 0;
    self->no_room = 0; /* which may be of an earlier session */
    while (s->left_count && !chunk) {
        uint64_t sequence = s->left[--s->left_count].sequence;
        uint32_t state = PROF__CHUNK_LEFT;
        chunk = (prof__chunk *)(void *)(s->chunks + (uint64_t)s->left[s->left_count].chunk * s->chunk_size);
        used = s->left[s->left_count].words;
        if (!__atomic_compare_exchange_n(&chunk->state, &state, PROF__CHUNK_OWNED, 0, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED)) {
            chunk = NULL; /* the ring came round */
        } else if (chunk->sequence != sequence || (prof__now(s, 0) - chunk->base.tick) >> (PROF__TICK_BITS - 1)) {
            PROF__RELEASE(&chunk->state, PROF__CHUNK_FULL);
            prof__room_changed(); /* others have seen it taken */
            chunk = NULL;
        }
    }
    if (!chunk) {
        used = 0;
        chunk = prof__chunk_take(s, self->impatient != 0);
        if (!chunk) return 0;
    }
    self->session = s;
    self->epoch = s->epoch;
    __atomic_fetch_add(&s->attached, 1, __ATOMIC_RELAXED);
    self->thread_id = prof__thread_id();
    self->chunk = chunk;
    self->base = chunk->base.tick;
    self->cursor = self->end = prof__chunk_first(chunk) + used;
    prof__track_know(self);
    prof__track_enter(self);
    prof__pair_take(s->clock, s->header->tick_hz, &s->header->last);
    prof__on_exit_of_thread(self);
    if (s->crash_report) prof__signal_stack_take(self);
    return 1;
}

/* The same once the ring has room again, which others may be faster to take. The lock is let go while the thread
   sleeps; the session is kept. */
static PROF__COLD int prof__attach_later(prof__thread *self, prof__session *s, prof__signals *signals)
{
    int found;
    if (!prof__room_waits(self, s)) return 0;
    do {
        __atomic_fetch_add(&s->attached, 1, __ATOMIC_RELAXED);
        prof__lock_leave(&prof__lock_word, signals);
        found = prof__room_wait(self, s);
        while (!prof__lock_enter(&prof__lock_word, signals)) {
        }
        __atomic_fetch_sub(&s->attached, 1, __ATOMIC_RELEASE);
        found = found && prof__state.running && prof__state.session == s;
    } while (found && !prof__attach(self));
    return found;
}

#ifndef PROF_FREESTANDING
/* A thread ends, or a chunk's owner goes: hand back what is left of the chunk, so that short threads share chunks. */
static void prof__give_back(prof__thread *self)
{
    prof__session *s = self->session;
    prof__chunk *chunk = self->chunk;
    prof__track_leave(self);
    if (self->filled) prof__filled_finish(self);
    uint64_t words = (uint64_t)(self->cursor - prof__chunk_first(chunk));
    if (!PROF__LOAD(&chunk->lost) && words + 16 <= s->chunk_words && s->left_count < PROF__MAX_LEFT) {
        s->left[s->left_count].sequence = chunk->sequence;
        s->left[s->left_count].chunk = (uint32_t)((uint64_t)((char *)chunk - s->chunks) / s->chunk_size);
        s->left[s->left_count++].words = (uint32_t)words;
        PROF__RELEASE(&chunk->state, PROF__CHUNK_LEFT);
    } else {
        PROF__RELEASE(&chunk->state, PROF__CHUNK_FULL);
    }
    prof__room_changed();
}

/* The thread lets go of what it has of the session. Under the lock, as a busy thread. */
static void prof__thread_detach(prof__thread *self)
{
    if (!self->session) return;
    if (self->session == prof__state.session) prof__give_back(self);
    prof__detach(self);
}

/* Runs as a thread-specific destructor. Destructors that run later may hold scopes, too, in this round of them or the
   next: those attach again, see prof__late_scope_ended(). Where threads have records of their own this comes back, up
   to three times; then the record serves another thread and this one is deaf. */
static void prof__thread_leaves(void *pointer)
{
    prof__thread *self = (prof__thread *)pointer;
    self->gate = PROF__BUSY;
    PROF__BARRIER();
    prof__lock(&prof__lock_word);
    if (self->session) self->own.epoch = 0; /* what it still records is a track that begins anew */
    prof__thread_detach(self);
    prof__unlock(&prof__lock_word);
    prof__signal_stack_give(self);
    PROF__BRIDGE_FORGET(self, &self->own);
    PROF__BARRIER();
    self->seen = 0;
    if (++self->exits < PROF__EXITS) self->gate = PROF__SHUT;
    prof__self_leaves(self);
}

/* A scope has ended in a destructor that came after the recorder's. Nobody may be there to give the chunk back later, so
   that is done now, unless there is a scope around it. */
static PROF__COLD void prof__late_scope_ended(prof__thread *self)
{
    uint32_t gate = self->gate;
    prof__signals signals;
    if (gate == PROF__BUSY || !self->session || (uint64_t)(self->end - self->cursor) != self->room) return;
    self->gate = PROF__BUSY;
    PROF__BARRIER();
    PROF__ERRNO_SAVE();
    if (prof__lock_enter(&prof__lock_word, &signals)) {
        prof__thread_detach(self);
        prof__lock_leave(&prof__lock_word, &signals);
        prof__signal_stack_give(self);
        PROF__BRIDGE_FORGET(self, &self->own);
    }
    PROF__ERRNO_RESTORE();
    PROF__BARRIER();
    self->gate = gate;
}
#endif

/*-- WRITER ------------------------------------------------------------------------------------------------ >>writer --
   The fast path of every macro: read the counter; take the thread, so that a signal handler that interrupts from here
   on stays out; only then, when no handler can move the thread to another session any more, check that site, thread and
   generation agree; store the event; move the cursor; open the gate. */

/* Brings site and thread in step with the present generation. 1: the site is on and the thread has a chunk. */
static int prof__settle(prof__thread *self, prof_site *site)
{
    uint32_t generation = PROF__LOAD(&prof__generation);
    int recording, in_step;
    in_step = self->seen == generation &&
              !(site && (uint32_t)((uint32_t)prof__site_load(site) ^ generation) & ~PROF__OFF);
    if (in_step && !self->session && prof__room_missing(self)) {
        if (!site || (uint32_t)prof__site_load(site) == generation) prof__lose(self, 1);
        return 0;
    }
    if (!in_step || !self->session) {
        uint32_t room = PROF__ACQUIRE(&prof__room_changes);
        prof__signals signals;
        PROF__ERRNO_SAVE();
        if (!prof__lock_enter(&prof__lock_word, &signals)) {
            prof__lose(self, 1);
            PROF__ERRNO_RESTORE();
            return 0;
        }
        if (PROF__UNLIKELY(prof__state.held) && site && prof__schedule_sees(site)) prof__schedule_look(site);
        generation = PROF__LOAD(&prof__generation);
        if (site) prof__site_settle(site); /* first: it may make the image */
        prof__session *s = prof__state.running ? prof__state.session : NULL;
        if (self->session && (self->session != s || self->epoch != s->epoch)) prof__detach(self);
        recording = s && (!site || (uint32_t)prof__site_load(site) == generation);
        self->no_room = 0;
        if (recording && !self->session && !prof__attach(self) && !prof__attach_later(self, s, &signals)) {
            prof__lose(self, 1);
            if (prof__state.session == s) prof__lost_collect(s);
            self->no_room = room;
            recording = 0;
        }
        if (self->session && !self->entered) { /* there was a switch, and it could not do this */
            prof__track_know(self);
            prof__track_enter(self);
        }
        self->seen = generation; /* a control call during a wait in between is found by the next macro */
        self->open = self->session && s->fast && !self->exits ? generation : PROF__SHUT;
        prof__lock_leave(&prof__lock_word, &signals);
        PROF__ERRNO_RESTORE();
        return recording && self->session;
    }
    return !site || (uint32_t)prof__site_load(site) == generation;
}

/* From here on no handler writes, or moves the thread to another session. Returns what prof__untake() wants. */
static inline uint32_t prof__take(prof__thread *self)
{
    uint32_t gate = self->gate;
    self->gate = PROF__BUSY;
    PROF__BARRIER();
    return gate;
}

/* What a thread's gate becomes when it is done: it takes the slow path until it can let its filled chunk go. */
static inline uint32_t prof__gate_next(prof__thread *self)
{
    if (PROF__UNLIKELY(self->filled != NULL)) prof__filled_check(self);
    return PROF__UNLIKELY(self->filled != NULL) ? PROF__SHUT : self->open;
}

/* A thread that was busy when it was taken is being interrupted, and stays busy. */
static inline void prof__untake(prof__thread *self, uint32_t gate)
{
    PROF__BARRIER();
    if (gate != PROF__BUSY) self->gate = prof__gate_next(self);
}

/* Control functions hold the lock as a busy thread, so that a signal handler with a scope in it does not wait for
   it. */
static uint32_t prof__state_lock(void)
{
    uint32_t gate = prof__take(PROF__SELF());
    prof__lock(&prof__change_word);
    prof__lock(&prof__lock_word);
    return gate;
}

static void prof__state_unlock(uint32_t gate)
{
    prof__unlock(&prof__lock_word);
    prof__unlock(&prof__change_word);
    prof__untake(PROF__SELF(), gate);
}

/* Behind a take that found the fast path closed: 1 if the thread may write for this site. A null site asks for an
   attached thread only. A thread that is being interrupted loses the event, which is counted. */
static PROF__COLD int prof__enter_slow(prof__thread *self, prof_site *site, uint32_t gate)
{
    if (gate == PROF__BUSY)
        prof__lose(self, 1);
    else if (prof__settle(self, site))
        return 1;
    prof__untake(self, gate);
    return 0;
}

/* Settles a site before the arguments of its macro are evaluated. */
PROF__ENTRY int prof__check(prof_site *site)
{
    PROF__SELF_OR(PROF__LED(prof__check, (site)));
    uint32_t gate = prof__take(self);
    if (gate == PROF__BUSY) return 1; /* whoever counts the loss wants the arguments */
    prof__signals signals;
    PROF__ERRNO_SAVE();
    if (prof__lock_enter(&prof__lock_word, &signals)) {
        prof__site_settle(site);
        prof__lock_leave(&prof__lock_word, &signals);
    }
    PROF__ERRNO_RESTORE();
    prof__untake(self, gate);
    return prof__on(site);
}

static uint64_t prof__site_head(const prof_site *site)
{
    return prof__site_load(site) >> PROF__TICK_BITS << PROF__TICK_BITS;
}

/* Takes the thread for a site: 1 if it may write. */
static inline int prof__enter(prof__thread *self, prof_site *site, uint64_t *head)
{
    uint32_t gate = prof__take(self), generation = PROF__LOAD(&prof__generation);
    *head = prof__site_load(site) ^ generation;
    if (PROF__LIKELY(!((uint32_t)*head | (gate ^ generation)))) return 1;
    if (!prof__enter_slow(self, site, gate)) return 0;
    *head = prof__site_head(site);
    return 1;
}

static inline void prof__leave(prof__thread *self)
{
    PROF__BARRIER();
    self->gate = prof__gate_next(self);
}

#define PROF__END_OF_BEGIN ((uint64_t)(PROF__KIND_BEGIN ^ PROF__KIND_END) << PROF__KIND_SHIFT)

/* The slow halves. The thread is busy before and after. */
static prof__token prof__begin_at(prof__thread *self, uint64_t head, uint64_t now)
{
    uint64_t *at = prof__reserve(self, 2, &now);
    if (!at) return 0;
    prof__store_word(at, head | (now - self->base));
    prof__commit(self, 1);
    self->room -= 1; /* for the end */
    self->begun = at;
    self->begun_end = self->cursor;
    return head | self->epoch;
}

/* 1: nothing was recorded since the begin with this head, or all of it was taken back. */
static int prof__begin_is_last(prof__thread *self, uint64_t head)
{
    if (!self->begun && self->cursor > prof__chunk_first(self->chunk)) {
        self->begun = self->cursor - 1;
        self->begun_end = self->cursor;
    }
    return self->begun_end == self->cursor && (*self->begun & ~PROF__TICK_MASK) == head;
}

/* Takes back a scope that was too short, with its run-time name; its head first, so that a reader never sees half. */
static void prof__begin_undo(prof__thread *self)
{
    prof__store_word(self->begun, 0);
    prof__clear(self->begun + 1, (size_t)(self->cursor - self->begun - 1) * 8);
    self->room += (uint64_t)(self->cursor - self->begun) + 1;
    self->cursor = self->begun;
    self->begun = NULL;
    PROF__STORE(&self->chunk->taken_back, PROF__LOAD(&self->chunk->taken_back) + 1);
}

static void prof__end_at(prof__thread *self, uint64_t head, uint64_t now)
{
    prof__session *s = self->session;
    if (s->min_ticks && self->entered && prof__begin_is_last(self, head) &&
        now - self->base - (*self->begun & PROF__TICK_MASK) < s->min_ticks) {
        prof__begin_undo(self);
        return;
    }
    if ((self->cursor == self->end || (int64_t)(now - self->base) >> PROF__TICK_BITS > 0) && !prof__chunk_next(self)) {
        prof__lose(self, 1);
        return;
    }
    if ((uint64_t)(self->end - self->cursor) <= self->room) self->room--; /* its debt was forgotten */
    if ((int64_t)(now - self->base) < 0) now = self->base;
    prof__store_word(self->cursor, (head ^ PROF__END_OF_BEGIN) | (now - self->base));
    self->cursor++;
}

static PROF__COLD prof__token prof__begin_slow(prof__thread *self, prof_site *site, uint32_t gate)
{
    if (!prof__enter_slow(self, site, gate)) return 0;
    prof__token token = prof__begin_at(self, prof__site_head(site), prof__now(self->session, 0));
    prof__leave(self);
    PROF__BRIDGE_BEGIN(site, NULL, token);
    return token;
}

PROF__ENTRY prof__token prof__begin(prof_site *site)
{
    PROF__SELF_OR(PROF__LED(prof__begin, (site)));
    uint64_t now = prof__counter();
    uint32_t gate = prof__take(self), generation = PROF__LOAD(&prof__generation);
    uint64_t head = prof__site_load(site) ^ generation;
    if (PROF__UNLIKELY((uint32_t)head | (gate ^ generation))) return prof__begin_slow(self, site, gate);
    uint64_t *at = self->cursor, room = self->room, elapsed = now - self->base;
    if (PROF__UNLIKELY((room < 2) | (elapsed >> PROF__TICK_BITS != 0))) return prof__begin_slow(self, site, gate);
    prof__store_word(at, head | elapsed);
    self->cursor = at + 1;
    self->room = room - 2;
    prof__token token = head | self->epoch;
    PROF__BARRIER();
    self->gate = generation;
    PROF__BRIDGE_BEGIN(site, NULL, token);
    return token;
}

static PROF__COLD void prof__end_slow(prof__thread *self, prof__token token, uint32_t gate)
{
    if ((uint32_t)token != PROF__LOAD(&prof__state.epoch)) { /* begun in another session: its image has it as open */
        prof__untake(self, gate);
    } else if (prof__enter_slow(self, NULL, gate)) {
        if ((uint32_t)token == self->epoch) prof__end_at(self, token ^ self->epoch, prof__now(self->session, 1));
        prof__leave(self);
    }
    PROF__BRIDGE_END(self, token);
#ifndef PROF_FREESTANDING
    if (PROF__UNLIKELY(self->exits != 0)) prof__late_scope_ended(self);
#endif
}

PROF__ENTRY void prof__end(prof__token token)
{
    PROF__SELF_OR(PROF__LED_VOID(prof__end, (token)));
    uint64_t now = prof__counter();
    uint32_t gate = prof__take(self), generation = PROF__LOAD(&prof__generation);
    uint64_t head = token ^ self->epoch;
    if (PROF__UNLIKELY((uint32_t)head | (gate ^ generation))) {
        prof__end_slow(self, token, gate);
        return;
    }
    uint64_t *at = self->cursor, elapsed = now - self->base;
    if (PROF__UNLIKELY(((uint64_t)(self->end - at) <= self->room) | (elapsed >> PROF__TICK_BITS != 0))) {
        prof__end_slow(self, token, gate);
        return;
    }
    prof__store_word(at, (head ^ PROF__END_OF_BEGIN) | elapsed);
    self->cursor = at + 1;
    PROF__BARRIER();
    self->gate = generation;
    PROF__BRIDGE_END(self, token);
}

#ifndef PROF_FREESTANDING
/* A scope of the service that began then and ends now. It is recorded only now, so that none is open when the recording
   ends in the middle of it: it would look as if the program had hung there. */
static void prof__service_scope(const prof__session *s, prof_site *site, uint64_t began)
{
    prof__thread *self = PROF__SELF();
    uint64_t head;
    if (site->level > PROF_MAX_LEVEL || !prof__enter(self, site, &head)) return;
    if (self->session == s) {
        prof__token token = prof__begin_at(self, head, began);
        if (token) prof__end_at(self, head, prof__now(s, 1));
    }
    prof__leave(self);
}
#endif

/* Both at one time, too; so a chunk with room for both is there before the clock counts. */
static PROF__COLD prof__token prof__next_slow(prof__thread *self, prof_site *site, prof__token token, uint32_t gate)
{
    uint64_t head;
    prof__untake(self, gate);
    if (!prof__live(site) || !prof__enter(self, site, &head)) {
        if (token) prof__end(token);
        return 0;
    }
    uint64_t now = prof__now(self->session, 1);
    int fits = prof__reserve(self, 2, &now) != NULL;
    if (token && (uint32_t)token == self->epoch) prof__end_at(self, token ^ self->epoch, now);
    prof__token next = fits ? prof__begin_at(self, head, now) : 0;
    prof__leave(self);
    PROF__BRIDGE_END(self, token);
    PROF__BRIDGE_BEGIN(site, NULL, next);
    return next;
}

PROF__ENTRY prof__token prof__next(prof_site *site, prof__token token)
{
    PROF__SELF_OR(PROF__LED(prof__next, (site, token)));
    uint64_t now = prof__counter();
    uint32_t gate = prof__take(self), generation = PROF__LOAD(&prof__generation);
    uint64_t head = prof__site_load(site) ^ generation, old = token ^ self->epoch;
    if (PROF__UNLIKELY((uint32_t)head | (uint32_t)old | (gate ^ generation)))
        return prof__next_slow(self, site, token, gate);
    uint64_t *at = self->cursor, room = self->room, elapsed = now - self->base;
    if (PROF__UNLIKELY((room < 2) | ((uint64_t)(self->end - at) <= room) | (elapsed >> PROF__TICK_BITS != 0)))
        return prof__next_slow(self, site, token, gate);
    prof__store_word(at, (old ^ PROF__END_OF_BEGIN) | elapsed);
    prof__store_word(at + 1, head | elapsed);
    self->cursor = at + 2;
    self->room = room - 2;
    prof__token next = head | self->epoch;
    PROF__BARRIER();
    self->gate = generation;
    PROF__BRIDGE_END(self, token);
    PROF__BRIDGE_BEGIN(site, NULL, next);
    return next;
}

/* Two words: a head, and the number behind it. */
static inline void prof__number_write(prof__thread *self, uint64_t head, uint64_t number)
{
    PROF__STORE(self->cursor + 1, number);
    prof__store_word(self->cursor, head);
    prof__commit(self, 2);
}

/* kind: a counter's, instead of the site's. */
static void prof__counter_write(prof_site *site, uint64_t kind, uint64_t number)
{
    PROF__SELF_OR(PROF__LED_VOID(prof__counter_write, (site, kind, number)));
    uint64_t head;
    if (!prof__enter(self, site, &head)) return;
    uint64_t now = prof__now(self->session, 0);
    head = (head & ~(15ull << PROF__KIND_SHIFT)) | kind << PROF__KIND_SHIFT;
    if (prof__reserve(self, 2, &now)) prof__number_write(self, head | (now - self->base), number);
    prof__leave(self);
}

static PROF__COLD void prof__arg_slow(prof__thread *self, prof_site *site, uint64_t low, uint64_t number, uint32_t gate)
{
    if (!prof__enter_slow(self, site, gate)) return;
    uint64_t now = self->base; /* an argument has no time */
    if (prof__reserve(self, 2, &now)) prof__number_write(self, prof__site_head(site) | low, number);
    prof__leave(self);
}

static inline void prof__arg_write(prof_site *site, prof_value_type type, uint64_t number)
{
    PROF__SELF_OR(PROF__LED_VOID(prof__arg_write, (site, type, number)));
    PROF__BRIDGE_ARG(site, type, number);
    uint32_t gate = prof__take(self), generation = PROF__LOAD(&prof__generation);
    uint64_t head = prof__site_load(site) ^ generation, low = (uint64_t)type << 32 | 1;
    if (PROF__UNLIKELY(((uint32_t)head | (gate ^ generation)) || self->room < 2)) {
        prof__arg_slow(self, site, low, number, gate);
        return;
    }
    prof__number_write(self, head | low, number);
    PROF__BARRIER();
    self->gate = generation;
}

static uint64_t prof__double_bits(double value)
{
    uint64_t bits;
    prof__copy(&bits, &value, sizeof bits);
    return bits;
}

PROF__ENTRY void prof__counter_int(prof_site *site, int64_t value)
{
    prof__counter_write(site, PROF__KIND_COUNTER_INT, (uint64_t)value);
    PROF__BRIDGE_COUNTER(site, PROF_VALUE_INT, (uint64_t)value);
}
PROF__ENTRY void prof__counter_double(prof_site *site, double value)
{
    prof__counter_write(site, PROF__KIND_COUNTER_DOUBLE, prof__double_bits(value));
    PROF__BRIDGE_COUNTER(site, PROF_VALUE_DOUBLE, prof__double_bits(value));
}
PROF__ENTRY void prof__arg_int(prof_site *site, int64_t value) { prof__arg_write(site, PROF_VALUE_INT, (uint64_t)value); }
PROF__ENTRY void prof__arg_uint(prof_site *site, uint64_t value) { prof__arg_write(site, PROF_VALUE_UINT, value); }
PROF__ENTRY void prof__arg_bool(prof_site *site, int value) { prof__arg_write(site, PROF_VALUE_BOOL, value != 0); }
PROF__ENTRY void prof__arg_double(prof_site *site, double value)
{
    prof__arg_write(site, PROF_VALUE_DOUBLE, prof__double_bits(value));
}
PROF__ENTRY void prof__arg_pointer(prof_site *site, const volatile void *value)
{
    prof__arg_write(site, PROF_VALUE_POINTER, (uint64_t)(uintptr_t)value);
}

typedef struct prof__text {
    const char *bytes;
    uint64_t length, words;
    int cut;
} prof__text;

/* What of a text is recorded: at most `most` bytes, cut between UTF-8 characters. given: so many bytes may be read. */
static prof__text prof__measure_part(const char *bytes, uint64_t most, uint64_t given)
{
    prof__text text;
    if (most > PROF_MAX_TEXT) most = PROF_MAX_TEXT;
    text.bytes = bytes ? bytes : "(null)";
    text.length = 0;
    while (text.length < most && text.length < given && text.bytes[text.length]) ++text.length;
    text.cut = text.length < given && text.bytes[text.length] != 0;
    if (text.cut)
        for (int i = 0; i < 3 && text.length && ((unsigned char)text.bytes[text.length] & 0xc0) == 0x80; ++i)
            --text.length;
    text.words = text.length / 8 + 1;
    return text;
}

/* The same, of a terminated text: PROF_MAX_TEXT bytes, or a quarter of a chunk. */
static prof__text prof__measure(const prof__session *s, const char *bytes)
{
    return prof__measure_part(bytes, s->chunk_words * 2, ~(uint64_t)0);
}

/* head: may count words that follow those of the text. */
static void prof__text_write(uint64_t *at, uint64_t head, const prof__text *text)
{
    for (uint64_t i = 0; i < text->words; ++i) {
        uint64_t word = 0, left = text->length - i * 8;
        prof__copy(&word, text->bytes + i * 8, (size_t)(left < 8 ? left : 8));
        PROF__STORE(at + 1 + i, word);
    }
    prof__store_word(at, (head | (uint64_t)PROF_VALUE_STRING << 32 | (text->cut ? 1u << 31 : 0u)) + text->words);
}

PROF__ENTRY void prof__arg_string(prof_site *site, const char *value)
{
    PROF__SELF_OR(PROF__LED_VOID(prof__arg_string, (site, value)));
    PROF__BRIDGE_ARG_TEXT(site, value);
    uint64_t head;
    if (!prof__enter(self, site, &head)) return;
    prof__text text = prof__measure(self->session, value);
    uint64_t now = self->base; /* an argument has no time */
    uint64_t *at = prof__reserve(self, 1 + text.words, &now);
    if (at) {
        prof__text_write(at, head, &text);
        prof__commit(self, 1 + text.words);
    }
    prof__leave(self);
}

/* A begin or a mark with its run-time name directly behind it, in the same chunk. */
static prof__token prof__named(prof_site *site, const char *name, int owes_end)
{
    PROF__SELF_OR(PROF__LED(prof__named, (site, name, owes_end)));
    prof__token token = 0;
    uint64_t head;
    if (!prof__enter(self, site, &head)) return 0;
    prof__text text = prof__measure(self->session, name);
    uint64_t now = prof__now(self->session, 0);
    uint64_t *at = prof__reserve(self, 2 + text.words + (uint64_t)owes_end, &now);
    if (at) {
        prof__text_write(at + 1, (uint64_t)PROF__KIND_NAME << PROF__KIND_SHIFT, &text);
        prof__store_word(at, head | (now - self->base));
        prof__commit(self, 2 + text.words);
        self->room -= (uint64_t)owes_end;
        self->begun = at;
        self->begun_end = self->cursor;
        token = head | self->epoch;
    }
    prof__leave(self);
    PROF__BRIDGE_BEGIN(site, name, owes_end ? token : 0);
    return token;
}

PROF__ENTRY prof__token prof__begin_text(prof_site *site, const char *text) { return prof__named(site, text, 1); }
PROF__ENTRY void prof__mark_text(prof_site *site, const char *text)
{
    prof__named(site, text, 0);
    PROF__BRIDGE_MARK(site, text);
}

#if !defined(PROF_VSNPRINTF) && !defined(PROF_FREESTANDING)
#define PROF_VSNPRINTF vsnprintf
#endif
static prof__token prof__formatted(prof_site *site, const char *format, va_list list, int owes_end)
{
#ifdef PROF_VSNPRINTF
    char text[PROF_MAX_TEXT + 2];
    PROF__ERRNO_SAVE();
    const char *name = PROF_VSNPRINTF(text, (int)sizeof text, format, list) < 0 ? format : text; /* %lc of no character */
    PROF__ERRNO_RESTORE();
    if (!owes_end) PROF__BRIDGE_MARK(site, name);
    return prof__named(site, name, owes_end);
#else
    (void)list;
    return prof__named(site, format, owes_end);
#endif
}

PROF__ENTRY prof__token prof__begin_format(prof_site *site, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    prof__token token = prof__formatted(site, format, list, 1);
    va_end(list);
    return token;
}

PROF__ENTRY void prof__mark_format(prof_site *site, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    prof__formatted(site, format, list, 0);
    va_end(list);
}

/* The site comes first, because a step may be what recording begins with; its key is settled before it takes the thread for
   good. A control call in between loses the scope. */
static PROF__COLD prof__token prof__begin_number_slow(prof__thread *self, prof_site *site, prof_site *key, uint64_t low,
                                                      uint64_t number, uint32_t gate)
{
    prof__token token = 0;
    uint64_t head;
    prof__untake(self, gate);
    if (!prof__enter(self, site, &head)) return 0;
    if ((uint32_t)prof__site_load(key) != PROF__LOAD(&prof__generation)) {
        prof__leave(self);
        if (!prof__live(key) || !prof__enter(self, site, &head)) return 0;
    }
    uint64_t now = prof__now(self->session, 0), *at = NULL;
    if ((uint32_t)prof__site_load(key) != PROF__LOAD(&prof__generation))
        prof__lose(self, 1);
    else
        at = prof__reserve(self, 4, &now);
    if (at) {
        PROF__STORE(at + 2, number);
        prof__store_word(at + 1, prof__site_head(key) | low);
        prof__store_word(at, head | (now - self->base));
        prof__commit(self, 3);
        self->room -= 1;
        self->begun = at;
        self->begun_end = at + 1; /* so that it is not the last record: it stays, however short */
        token = head | self->epoch;
    }
    prof__leave(self);
    PROF__BRIDGE_BEGIN_NUMBER(site, key, token, (prof_value_type)(low >> 32), number);
    return token;
}

PROF__ENTRY prof__token prof__begin_number(prof_site *site, prof_site *key, uint64_t type, uint64_t number)
{
    PROF__SELF_OR(PROF__LED(prof__begin_number, (site, key, type, number)));
    uint64_t now = prof__counter();
    uint32_t gate = prof__take(self), generation = PROF__LOAD(&prof__generation);
    uint64_t head = prof__site_load(site) ^ generation, key_head = prof__site_load(key) ^ generation;
    uint64_t *at = self->cursor, elapsed = now - self->base, low = type << 32 | 1;
    if (PROF__UNLIKELY(((uint32_t)head | (uint32_t)key_head | (gate ^ generation)) ||
                       ((self->room < 4) | (elapsed >> PROF__TICK_BITS != 0))))
        return prof__begin_number_slow(self, site, key, low, number, gate);
    PROF__STORE(at + 2, number);
    prof__store_word(at + 1, key_head | low);
    prof__store_word(at, head | elapsed);
    self->cursor = at + 3;
    self->room -= 4;
    prof__token token = head | self->epoch;
    PROF__BARRIER();
    self->gate = generation;
    PROF__BRIDGE_BEGIN_NUMBER(site, key, token, (prof_value_type)type, number);
    return token;
}

static uint64_t prof__flow_last;

PROF_DEF uint64_t prof_flow_new(void)
{
    PROF__LED(prof_flow_new, ());
    return PROF__ADD(&prof__flow_last, 1) + 1;
}

PROF__ENTRY void prof__event(prof_site *site, uint64_t type, uint64_t detail, uint64_t object)
{
    PROF__SELF_OR(PROF__LED_VOID(prof__event, (site, type, detail, object)));
    uint64_t head;
    if (!prof__enter(self, site, &head)) return;
    uint64_t now = prof__now(self->session, 0), *at = prof__reserve(self, 3, &now);
    if (at) {
        PROF__STORE(at + 1, detail << 8 | type);
        PROF__STORE(at + 2, object);
        prof__store_word(at, head | (now - self->base));
        prof__commit(self, 3);
    }
    prof__leave(self);
    PROF__BRIDGE_EVENT(site, type, detail, object);
}

/*-- messages --
   A format is parsed once for each call site, into one code for each value that has to be fetched; then copying takes
   no look at the text. The reader parses the format again and pairs its conversions with the values in order. */

#define PROF__LOG_VALUES 16
#define PROF__LOG_COUNT 0xFFu      /* known: how many values and 1 more, ... */
#define PROF__LOG_HAS_TEXT 0x100u  /* ... and whether a text is among them */

enum { /* codes: what a value is, and how many bytes of it */
    PROF__LOG_NONE = 0,
    PROF__LOG_INT8,
    PROF__LOG_INT16,
    PROF__LOG_INT32,
    PROF__LOG_INT64,
    PROF__LOG_UINT8,
    PROF__LOG_UINT16,
    PROF__LOG_UINT32,
    PROF__LOG_UINT64,
    PROF__LOG_DOUBLE,
    PROF__LOG_LONG_DOUBLE, /* kept as a double */
    PROF__LOG_POINTER,
    PROF__LOG_TEXT,
    PROF__LOG_TEXT_STAR, /* its precision is the value in front of it */
    PROF__LOG_TEXT_PART  /* its precision is in the next two codes */
};

typedef struct prof__log_spec {
    int width, precision; /* PROF__LOG_OMITTED, PROF__LOG_STAR: a value of its own */
    char flags[6];        /* those of "-+ #0" that are set */
    char conversion;
    unsigned char code;
    int supported;        /* 0: the message only says that it is not */
} prof__log_spec;

enum { PROF__LOG_OMITTED = -1, PROF__LOG_STAR = -2 };

static const char *prof__log_number(const char *at, int *value)
{
    if (*at == '*') {
        *value = PROF__LOG_STAR;
        return at + 1;
    }
    for (*value = 0; *at >= '0' && *at <= '9'; ++at)
        if (*value < 10000) *value = *value * 10 + (*at - '0');
    return at;
}

/* The size of an integer, and whether there was an l (wide text) or L (long double). */
static const char *prof__log_length(const char *at, size_t *size, int *is_long)
{
    *size = sizeof(int);
    *is_long = *at == 'l' || *at == 'L';
    switch (*at) {
    case 'h': *size = at[1] == 'h' ? 1 : sizeof(short); return at + 1 + (at[1] == 'h');
    case 'l': *size = at[1] == 'l' ? 8 : sizeof(long); return at + 1 + (at[1] == 'l');
    case 'L':
    case 'q':
    case 'j': *size = 8; return at + 1;
    case 'z': *size = sizeof(size_t); return at + 1;
    case 't': *size = sizeof(ptrdiff_t); return at + 1;
    case 'I': /* Windows: I64, I32, I */
        *size = at[1] == '6' ? 8 : at[1] == '3' ? 4 : sizeof(size_t);
        return at + ((at[1] == '6' && at[2] == '4') || (at[1] == '3' && at[2] == '2') ? 3 : 1);
    default: return at;
    }
}

static unsigned char prof__log_integer(unsigned char code, size_t size)
{
    return (unsigned char)(code + (size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3));
}

/* Parses a conversion from behind its % on. Returns what follows; null: unknown, so that nothing behind it can be
   told. */
static const char *prof__log_parse(const char *at, prof__log_spec *spec)
{
    size_t size, flags = 0;
    int is_long;
    spec->supported = 1;
    spec->code = PROF__LOG_NONE;
    spec->precision = PROF__LOG_OMITTED;
    for (;; ++at) {
        size_t i = 0;
        if (*at == '\'') continue;
        if (*at != '-' && *at != '+' && *at != ' ' && *at != '#' && *at != '0') break;
        while (i < flags && spec->flags[i] != *at) ++i;
        if (i == flags) spec->flags[flags++] = *at;
    }
    spec->flags[flags] = 0;
    at = prof__log_number(at, &spec->width);
    if (*at == '.') at = prof__log_number(at + 1, &spec->precision);
    at = prof__log_length(at, &size, &is_long);
    spec->conversion = *at;
    switch (*at) {
    case '%': return at + 1;
    case 'd':
    case 'i': spec->code = prof__log_integer(PROF__LOG_INT8, size); return at + 1;
    case 'u':
    case 'o':
    case 'x':
    case 'X': spec->code = prof__log_integer(PROF__LOG_UINT8, size); return at + 1;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A': spec->code = at[-1] == 'L' ? PROF__LOG_LONG_DOUBLE : PROF__LOG_DOUBLE; return at + 1;
    case 'p': spec->code = PROF__LOG_POINTER; return at + 1;
    case 'C':
    case 'c':
        spec->code = PROF__LOG_INT32;
        spec->supported = *at == 'c' && !is_long;
        return at + 1;
    case 'S':
    case 's':
        spec->supported = *at == 's' && !is_long;
        spec->code = !spec->supported                          ? PROF__LOG_POINTER
                     : spec->precision == PROF__LOG_OMITTED ? PROF__LOG_TEXT
                     : spec->precision == PROF__LOG_STAR    ? PROF__LOG_TEXT_STAR
                                                               : PROF__LOG_TEXT_PART;
        return at + 1;
    case 'n': /* what it points to is not touched */
        spec->code = PROF__LOG_POINTER;
        spec->supported = 0;
        return at + 1;
    case 'm': /* has no value */
        spec->supported = 0;
        return at + 1;
    default: return NULL;
    }
}

/* Several threads may do this at the same time: they store the same. */
static PROF__COLD void prof__log_learn(prof__log_format *known, const char *format)
{
    size_t at = 0;
    uint32_t values = 0, has_text = 0;
    while (format && *format) {
        unsigned char codes[5];
        uint32_t count = 0, more;
        prof__log_spec spec;
        if (*format++ != '%') continue;
        format = prof__log_parse(format, &spec);
        if (!format) break;
#ifdef PROF_FREESTANDING
        if (spec.code == PROF__LOG_LONG_DOUBLE) break; /* may need a library to become a double */
#endif
        if (spec.width == PROF__LOG_STAR) codes[count++] = PROF__LOG_INT32;
        if (spec.precision == PROF__LOG_STAR) codes[count++] = PROF__LOG_INT32;
        if (spec.code) codes[count++] = spec.code;
        more = count;
        if (spec.code == PROF__LOG_TEXT_PART) {
            codes[count++] = (unsigned char)(spec.precision & 255);
            codes[count++] = (unsigned char)(spec.precision >> 8);
        }
        if (values + more > PROF__LOG_VALUES || at + count >= sizeof known->codes) break;
        values += more;
        if (spec.code >= PROF__LOG_TEXT) has_text = PROF__LOG_HAS_TEXT;
        for (uint32_t i = 0; i < count; ++i) PROF__STORE(&known->codes[at + i], codes[i]);
        at += count;
    }
    PROF__STORE(&known->codes[at], (unsigned char)PROF__LOG_NONE);
    PROF__RELEASE(&known->known, (values + 1) | has_text);
}

/* By reference, whatever a va_list is. */
typedef struct prof__log_list {
    va_list values;
} prof__log_list;

/* The next value, of a code below PROF__LOG_TEXT. */
static inline uint64_t prof__log_fetch(unsigned code, prof__log_list *list)
{
    switch (code) {
    case PROF__LOG_INT8: return (uint64_t)(signed char)va_arg(list->values, int);
    case PROF__LOG_INT16: return (uint64_t)(short)va_arg(list->values, int);
    case PROF__LOG_INT32: return (uint64_t)va_arg(list->values, int);
    case PROF__LOG_INT64: return (uint64_t)va_arg(list->values, long long);
    case PROF__LOG_UINT8: return (unsigned char)va_arg(list->values, unsigned);
    case PROF__LOG_UINT16: return (unsigned short)va_arg(list->values, unsigned);
    case PROF__LOG_UINT32: return va_arg(list->values, unsigned);
    case PROF__LOG_UINT64: return va_arg(list->values, unsigned long long);
    case PROF__LOG_DOUBLE: return prof__double_bits(va_arg(list->values, double));
#ifndef PROF_FREESTANDING
    case PROF__LOG_LONG_DOUBLE: return prof__double_bits((double)va_arg(list->values, long double));
#endif
    default: return (uint64_t)(uintptr_t)va_arg(list->values, void *);
    }
}

/* The head of a value, without the size of a text. */
static inline uint64_t prof__log_head(unsigned code)
{
    unsigned type = code <= PROF__LOG_INT64         ? PROF_VALUE_INT
                    : code <= PROF__LOG_UINT64      ? PROF_VALUE_UINT
                    : code <= PROF__LOG_LONG_DOUBLE ? PROF_VALUE_DOUBLE
                                                    : PROF_VALUE_POINTER;
    return (uint64_t)PROF__KIND_DATA << PROF__KIND_SHIFT | (uint64_t)type << 32 | 1;
}

/* Numbers go from the caller's registers to their place. Returns the words they take; at: where they begin. */
static inline uint64_t prof__log_numbers(uint64_t *at, const prof__log_format *known, uint32_t values,
                                         prof__log_list *list)
{
    for (uint32_t i = 0; i < values; ++i, at += 2) {
        unsigned code = PROF__LOAD(&known->codes[i]);
        PROF__STORE(at + 1, prof__log_fetch(code, list));
        prof__store_word(at, prof__log_head(code));
    }
    return 2 * (uint64_t)values;
}

typedef struct prof__log_value {
    uint64_t head, number;
    prof__text text; /* bytes is null: a number */
} prof__log_value;

/* Fetches the values, as many as fit into room words; *words: how many they take. */
static uint32_t prof__log_collect(const prof__log_format *known, uint32_t values, prof__log_list *list, uint64_t room,
                                  prof__log_value *to, uint64_t *words)
{
    const unsigned char *code = known->codes;
    uint64_t used = 0;
    uint32_t count = 0;
    for (; count < values && used + 2 <= room; ++count, ++code) {
        unsigned kind = PROF__LOAD(code);
        uint64_t given = ~(uint64_t)0, kept = used + 2 * (values - count); /* room for a word of each of the rest */
        prof__log_value *value = &to[count];
        value->text.bytes = NULL;
        value->text.words = 1;
        if (kind < PROF__LOG_TEXT) {
            value->head = prof__log_head(kind);
            value->number = prof__log_fetch(kind, list);
        } else {
            if (kind == PROF__LOG_TEXT_STAR && (int64_t)to[count - 1].number >= 0) given = to[count - 1].number;
            if (kind == PROF__LOG_TEXT_PART) {
                given = (uint64_t)PROF__LOAD(code + 1) | (uint64_t)PROF__LOAD(code + 2) << 8;
                code += 2;
            }
            value->text = prof__measure_part(va_arg(list->values, const char *),
                                             (kept < room ? (room - kept) * 8 : 0) + 7, given);
        }
        used += 1 + value->text.words;
    }
    *words = used;
    return count;
}

/* With texts among them, how much room all of it takes is known only when they have been measured. Returns the same
   words as prof__reserve(). */
static uint64_t *prof__log_mixed(prof__thread *self, const prof__log_format *known, uint32_t values,
                                 prof__log_list *list, uint64_t *now, uint64_t *words)
{
    prof__log_value fetched[PROF__LOG_VALUES];
    uint32_t count = prof__log_collect(known, values, list, self->session->chunk_words / 4, fetched, words);
    uint64_t *at = prof__reserve(self, 3 + *words, now), *to = at ? at + 3 : NULL;
    for (uint32_t i = 0; at && i < count; to += 1 + fetched[i++].text.words) {
        if (fetched[i].text.bytes) {
            prof__text_write(to, (uint64_t)PROF__KIND_DATA << PROF__KIND_SHIFT, &fetched[i].text);
        } else {
            PROF__STORE(to + 1, fetched[i].number);
            prof__store_word(to, fetched[i].head);
        }
    }
    return at;
}

static inline void prof__log_write(prof_site *site, prof__log_format *known, uint64_t severity, const char *format,
                                   prof__log_list *list)
{
    PROF__SELF_OR(PROF__LED_VOID(prof__log_write, (site, known, severity, format, list)));
    uint64_t head, words, *at;
    if (!prof__enter(self, site, &head)) return;
    uint64_t now = prof__now(self->session, 0);
    if (PROF__UNLIKELY(!PROF__ACQUIRE(&known->known))) prof__log_learn(known, format);
    uint32_t values = (PROF__LOAD(&known->known) & PROF__LOG_COUNT) - 1;
    PROF__BRIDGE_LOG_KEEP(list);
    if (PROF__LOAD(&known->known) & PROF__LOG_HAS_TEXT || self->session->chunk_words < 8 * PROF__LOG_VALUES) {
        at = prof__log_mixed(self, known, values, list, &now, &words);
    } else {
        at = prof__reserve(self, 3 + 2 * (uint64_t)values, &now);
        words = at ? prof__log_numbers(at + 3, known, values, list) : 0;
    }
    if (at) {
        PROF__STORE(at + 1, (severity & 0xFF) << 8 | PROF_EVENT_LOG);
        PROF__STORE(at + 2, (uint64_t)0);
        prof__store_word(at, head | (now - self->base));
        prof__commit(self, 3 + words);
    }
    prof__leave(self);
    PROF__BRIDGE_LOG(site, severity, format);
}

PROF__ENTRY void prof__log(prof_site *site, prof__log_format *known, uint64_t severity, const char *format, ...)
{
    prof__log_list list;
    va_start(list.values, format);
    prof__log_write(site, known, severity, format, &list);
    va_end(list.values);
}

/*-- lists of arguments: one piece of a chunk, with the event that they are of, so that nothing comes in between --*/

#define PROF__WITH_ARGS PROF_DEVICE_ARGS

typedef struct prof__with_arg {
    prof__text key, text; /* text: of a string */
    uint64_t words;       /* of both records */
} prof__with_arg;

typedef struct prof__with_list {
    const prof_arg *args;
    uint64_t kind, to;    /* ARG or DATA; 0, or the head of the scope that they belong to */
    uint64_t words, count;
    prof__with_arg parts[PROF__WITH_ARGS];
} prof__with_list;

/* How much of the arguments fits into room words: all of them as a rule; of long texts the ends are cut. */
static void prof__with_measure(prof__with_list *list, uint32_t count, uint64_t room)
{
    uint64_t to = list->to != 0;
    list->words = list->count = 0;
    for (; list->count < count && list->count < PROF__WITH_ARGS && room - list->words >= 8; ++list->count) {
        const prof_arg *arg = &list->args[list->count];
        prof__with_arg *part = &list->parts[list->count];
        uint64_t left = room - list->words;
        if (arg->value.type == PROF_VALUE_NONE) break;
        part->key = prof__measure_part(arg->key ? arg->key : "", (left / 2 - 2) * 8, ~(uint64_t)0);
        left -= 1 + part->key.words;
        part->text.words = 1;
        if (arg->value.type == PROF_VALUE_STRING)
            part->text = prof__measure_part(arg->value.as.string, (left - 2 - to) * 8 - 1, ~(uint64_t)0);
        part->words = 2 + part->key.words + part->text.words + to;
        list->words += part->words;
    }
}

static void prof__with_value(uint64_t *at, const prof__with_list *list, const prof_arg *arg, const prof__with_arg *part)
{
    uint64_t kind = list->kind << PROF__KIND_SHIFT, words = part->text.words;
    if (list->to) {
        PROF__STORE(at + 1 + words, list->to);
        kind |= PROF__ARG_TO;
        ++words;
    }
    if (arg->value.type == PROF_VALUE_STRING) {
        prof__text_write(at, kind + (list->to != 0), &part->text);
    } else {
        PROF__STORE(at + 1, arg->value.as.u);
        prof__store_word(at, kind | (uint64_t)arg->value.type << 32 | words);
    }
}

/* From the last to the first, so that a reader sees all or nothing; at: the words that they take. */
static void prof__with_write(uint64_t *at, const prof__with_list *list)
{
    at += list->words;
    for (uint64_t i = list->count; i--;) {
        const prof__with_arg *part = &list->parts[i];
        at -= part->words;
        prof__with_value(at + 1 + part->key.words, list, &list->args[i], part);
        prof__text_write(at, list->kind << PROF__KIND_SHIFT | PROF__ARG_KEY, &part->key);
    }
}

/* The arguments of a scope. The thread is busy. */
static void prof__with_scope(prof__thread *self, prof__with_list *list, uint32_t count)
{
    uint64_t now = self->base, *at; /* they have no time */
    list->kind = PROF__KIND_ARG;
    prof__with_measure(list, count, self->session->chunk_words / 4);
    at = prof__reserve(self, list->words, &now);
    if (!at) return;
    prof__with_write(at, list);
    prof__commit(self, list->words);
}

/* The scope of a handle may be on while its category is off by now. */
static void prof__with_handle(prof__thread *self, uint64_t token, prof__with_list *list, uint32_t count)
{
    uint32_t gate = prof__take(self);
    if ((uint32_t)token != PROF__LOAD(&prof__state.epoch)) {
        prof__untake(self, gate);
    } else if (prof__enter_slow(self, NULL, gate)) {
        list->to = token ^ self->epoch;
        if ((uint32_t)token == self->epoch && !prof__sites_rest()) prof__with_scope(self, list, count);
        prof__leave(self);
    }
}

/* A MARK or an EVENT with arguments. The thread is busy. */
static void prof__with_event(prof__thread *self, uint64_t head, uint64_t type, uint64_t object, prof__with_list *list,
                             uint32_t count)
{
    uint64_t first = type == PROF_EVENT_MARK ? 1 : 3, now = prof__now(self->session, 0), *at;
    list->kind = PROF__KIND_DATA;
    prof__with_measure(list, count, self->session->chunk_words / 4);
    at = prof__reserve(self, first + list->words, &now);
    if (!at) return;
    prof__with_write(at + first, list);
    if (type != PROF_EVENT_MARK) {
        PROF__STORE(at + 1, type);
        PROF__STORE(at + 2, object);
    }
    prof__store_word(at, head | (now - self->base));
    prof__commit(self, first + list->words);
}

#ifndef PROF_FREESTANDING
static prof_site *prof__task_site(uint64_t *object);
#endif

PROF__ENTRY void prof__with(prof_site *site, uint64_t type, uint64_t object, const prof_arg *args, uint32_t count)
{
    PROF__SELF_OR(PROF__LED_VOID(prof__with, (site, type, object, args, count)));
    prof__with_list list;
    uint64_t head;
    list.args = args;
    list.to = 0;
    if (!site && type == PROF_EVENT_SCOPE) {
        prof__with_handle(self, object, &list, count);
        return;
    }
#ifndef PROF_FREESTANDING
    if (!site) site = prof__task_site(&object);
#endif
    if (!site || !prof__on(site) || !prof__enter(self, site, &head)) return;
    if (type == PROF_EVENT_SCOPE)
        prof__with_scope(self, &list, count);
    else
        prof__with_event(self, head, type, object, &list, count);
    prof__leave(self);
    if (type == PROF_EVENT_MARK) {
        PROF__BRIDGE_MARK(site, NULL);
    } else if (type != PROF_EVENT_SCOPE) {
        PROF__BRIDGE_EVENT(site, type, 0, object);
    }
}

/* Behind a head's two other words; the head is what publishes it. */
static void prof__event_write(uint64_t *at, uint64_t head, uint64_t what, uint64_t object)
{
    PROF__STORE(at + 1, what);
    PROF__STORE(at + 2, object);
    prof__store_word(at, head);
}

PROF__ENTRY void prof__memory(prof_site *site, uint64_t how, uint64_t freed, uint64_t address, uint64_t bytes)
{
    PROF__SELF_OR(PROF__LED_VOID(prof__memory, (site, how, freed, address, bytes)));
    uint64_t head, first = freed ? 3 : 0, words = first + (address ? 3 : 0);
    if (!words || (!address && bytes)) return; /* free(NULL), or an allocation that failed and left all as it was */
    if (bytes > PROF__EVENT_DETAIL_MAX) bytes = PROF__EVENT_DETAIL_MAX;
    if (!prof__enter(self, site, &head)) return;
    uint64_t now = prof__now(self->session, 0), *at = prof__reserve(self, words, &now);
    if (at) {
        head |= now - self->base;
        if (address) prof__event_write(at + first, head, bytes << 8 | PROF_EVENT_ALLOC, address);
        if (freed) prof__event_write(at, head, how << 8 | PROF_EVENT_FREE, freed);
        prof__commit(self, words);
    }
    prof__leave(self);
    if (freed) PROF__BRIDGE_EVENT(site, PROF_EVENT_FREE, how, freed);
    if (address) PROF__BRIDGE_EVENT(site, PROF_EVENT_ALLOC, bytes, address);
}

/* The number behind a counter. */
struct prof__tally {
    uintptr_t key; /* of a macro's name and category; 0 while it is free */
    uint64_t bits;
    uint32_t real, busy; /* real: bits are a double's. busy: a lock where there are no 64-bit atomics */
};

#define PROF__TALLIES 1024
static prof__tally prof__tallies[PROF__TALLIES]; /* of macros */

static int64_t prof__count_next(int64_t now, int how, int64_t value)
{
    if (how == PROF__TALLY_ADD) {
        if (value > 0 && now > INT64_MAX - value) return INT64_MAX;
        return value < 0 && now < INT64_MIN - value ? INT64_MIN : now + value;
    }
    if (how == PROF__TALLY_SUB) {
        if (value < 0 && now > INT64_MAX + value) return INT64_MAX;
        return value > 0 && now < INT64_MIN + value ? INT64_MIN : now - value;
    }
    return value;
}

static double prof__count_next_double(double now, int how, double value)
{
    return how == PROF__TALLY_ADD ? now + value : how == PROF__TALLY_SUB ? now - value : value;
}

/* 1: bits were `before` and are `after`; else before is what they are. */
static int prof__tally_swap(prof__tally *tally, uint64_t *before, uint64_t after)
{
#if PROF__WIDE
    return __atomic_compare_exchange_n(&tally->bits, before, after, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#else
    /* A handler that interrupts the owner of the lock goes on without, after a while. */
    int locked = 0;
    for (int i = 0; i < 5000 && !locked; ++i) locked = !__atomic_exchange_n(&tally->busy, 1, __ATOMIC_ACQUIRE);
    int same = tally->bits == *before;
    if (same)
        tally->bits = after;
    else
        *before = tally->bits;
    if (locked) __atomic_store_n(&tally->busy, 0, __ATOMIC_RELEASE);
    return same;
#endif
}

static uint64_t prof__tally_load(const prof__tally *tally)
{
#if PROF__WIDE
    return PROF__LOAD(&tally->bits);
#else
    return tally->bits;
#endif
}

static uintptr_t prof__tally_key(const prof_site *site)
{
    uint64_t key = 0xCBF29CE484222325u; /* FNV-1a */
    for (const char *c = site->category; c && *c; ++c) key = (key ^ (unsigned char)*c) * 0x100000001B3u;
    key *= 0x100000001B3u; /* what a zero byte makes of it */
    for (const char *c = site->name; c && *c; ++c) key = (key ^ (unsigned char)*c) * 0x100000001B3u;
    return (uintptr_t)(key ^ key >> 32) | 1;
}

/* The number of a macro's name and category: without a lock, as macros may stand in signal handlers, and not in memory
   of the call site's module, which may be unloaded. Null: there are too many. */
static PROF__COLD prof__tally *prof__tally_find(const prof_site *site)
{
    PROF__LED(prof__tally_find, (site));
    uintptr_t key = prof__tally_key(site);
    for (size_t i = 0; i < PROF__TALLIES; ++i) {
        prof__tally *tally = &prof__tallies[((size_t)(key >> 1) + i) % PROF__TALLIES];
        uintptr_t found = PROF__LOAD(&tally->key);
        if (!found && __atomic_compare_exchange_n(&tally->key, &found, key, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            found = key;
        if (found == key) return tally;
    }
    return NULL;
}

/* Null: one too many, whose samples are counted as lost. */
static inline prof__tally *prof__tally_of(const prof_site *site, prof__number *known)
{
    prof__tally *tally = PROF__LOAD(&known->tally);
    if (PROF__LIKELY(tally != NULL)) return tally;
    tally = prof__tally_find(site);
    PROF__STORE(&known->tally, tally);
    if (!tally && prof__on(site)) prof__lose(PROF__SELF(), 1);
    return tally;
}

static void prof__tally_real(prof_site *site, prof__tally *tally, int how, double value)
{
    uint64_t before = prof__tally_load(tally), after;
    double number;
    do {
        prof__copy(&number, &before, sizeof number);
        if (!PROF__LOAD(&tally->real)) number = (double)(int64_t)before;
        number = prof__count_next_double(number, how, value);
        after = prof__double_bits(number);
    } while (!prof__tally_swap(tally, &before, after));
    PROF__STORE(&tally->real, 1);
    if (prof__live(site)) prof__counter_double(site, number);
}

PROF__ENTRY void prof__count_double(prof_site *site, prof__number *known, int how, double value)
{
    prof__tally *tally = prof__tally_of(site, known);
    if (tally) prof__tally_real(site, tally, how, value);
}

PROF__ENTRY void prof__count_int(prof_site *site, prof__number *known, int how, int64_t value)
{
    prof__tally *tally = prof__tally_of(site, known);
    if (!tally) return;
    if (PROF__UNLIKELY(PROF__LOAD(&tally->real))) {
        prof__tally_real(site, tally, how, (double)value);
        return;
    }
    uint64_t before = prof__tally_load(tally), after;
    do after = (uint64_t)prof__count_next((int64_t)before, how, value);
    while (!prof__tally_swap(tally, &before, after));
    if (prof__live(site)) prof__counter_int(site, (int64_t)after);
}

#if !defined(_WIN32) && !defined(PROF_FREESTANDING)
/* A lock that is free costs no wait; of one that is not, a scope shows it. */
PROF__ENTRY int prof__mutex_lock(prof_site *wait, prof_site *event, void *mutex)
{
    int result = pthread_mutex_trylock((pthread_mutex_t *)mutex);
    if (result == EBUSY) {
        prof__token token = prof__on(wait) ? prof__begin(wait) : 0;
        prof__event(event, PROF_EVENT_LOCK_WAIT, 1, (uint64_t)(uintptr_t)mutex);
        result = pthread_mutex_lock((pthread_mutex_t *)mutex);
        if (!result || result == EOWNERDEAD) prof__event(event, PROF_EVENT_LOCK_ACQUIRE, 0, (uint64_t)(uintptr_t)mutex);
        if (token) prof__end(token);
    } else if (!result || result == EOWNERDEAD) {
        prof__event(event, PROF_EVENT_LOCK_ACQUIRE, 0, (uint64_t)(uintptr_t)mutex);
    }
    return result;
}
#endif

/* An instant that is only a head. */
static void prof__instant(prof_site *site)
{
    PROF__SELF_OR(PROF__LED_VOID(prof__instant, (site)));
    uint64_t head;
    if (!prof__enter(self, site, &head)) return;
    uint64_t now = prof__now(self->session, 0), *at = prof__reserve(self, 1, &now);
    if (at) {
        prof__store_word(at, head | (now - self->base));
        prof__commit(self, 1);
    }
    prof__leave(self);
}
PROF__ENTRY void prof__mark(prof_site *site)
{
    prof__instant(site);
    PROF__BRIDGE_MARK(site, NULL);
}
PROF__ENTRY void prof__frame(prof_site *site)
{
    prof__instant(site);
    PROF__BRIDGE_FRAME(site);
}

#define PROF__LOOSE_MAX (sizeof((prof_fiber *)0)->loose / sizeof *((prof_fiber *)0)->loose)

/* Takes a place of a full list: of one that has ended, else of one that was passed, as its end may never come. They take
   turns: who gets such a place counts as passed, too, because it stands among older ones. Returns PROF__LOOSE_MAX if
   there is none. */
static uint32_t prof__loose_place(prof_fiber *track)
{
    for (uint32_t i = 0; i < 2 * PROF__LOOSE_MAX; ++i) {
        uint32_t at = (track->loose_turn + i) % PROF__LOOSE_MAX, name = PROF__LOAD(&track->loose_name[at]);
        if (i < PROF__LOOSE_MAX ? name != PROF__LOOSE_ENDED : !(name & PROF__LOOSE_PASSED)) continue;
        if (!__atomic_compare_exchange_n(&track->loose_name[at], &name, PROF__LOOSE_FREE, 0, __ATOMIC_RELAXED,
                                         __ATOMIC_RELAXED))
            continue;
        track->loose_turn = at + 1;
        return at;
    }
    return PROF__LOOSE_MAX;
}

/* The list of PROFILE_BEGINs is full. It may be one of a session that is over. */
static PROF__COLD void prof__begin_loose_full(prof__thread *self, prof_fiber *track, prof_site *site)
{
    uint64_t head;
    uint32_t at;
    if (!prof__enter(self, site, &head)) return;
    if (track->loose_count < PROF__LOOSE_MAX) {
        prof__leave(self);
        prof__begin_loose(site);
        return;
    }
    at = prof__loose_place(track);
    if (at == PROF__LOOSE_MAX) prof__lose(self, 1);
    prof__leave(self);
    if (at == PROF__LOOSE_MAX) return;
    track->loose[at] = prof__begin(site);
    PROF__BARRIER();
    PROF__STORE(&track->loose_name[at],
                track->loose[at] ? PROF__LOAD(&site->private_name) | PROF__LOOSE_PASSED : PROF__LOOSE_ENDED);
    if (track->loose[at]) PROF__BRIDGE_LOOSE(track, track->loose[at]);
}

PROF__ENTRY void prof__begin_loose(prof_site *site)
{
    PROF__SELF_OR(PROF__LED_VOID(prof__begin_loose, (site)));
    prof_fiber *track = prof__track_of(self);
    if (PROF__UNLIKELY(track->loose_count >= PROF__LOOSE_MAX)) {
        prof__begin_loose_full(self, track, site);
        return;
    }
    prof__token token = prof__begin(site);
    if (!token) return;
    uint32_t at = track->loose_count;
    if (PROF__UNLIKELY(at >= PROF__LOOSE_MAX)) { /* a handler has taken the last place */
        prof__end(token);
        return;
    }
    track->loose_count = at + 1; /* before it is filled: a handler that comes in between takes the next */
    PROF__BARRIER();
    track->loose_name[at] = PROF__LOAD(&site->private_name);
    track->loose[at] = token;
    PROF__BRIDGE_LOOSE(track, token);
}

/* The one before this place has ended, and those from there on were begun inside it. Places never move: a handler may be
   at work here. */
static PROF__COLD void prof__loose_pass(prof_fiber *track, uint32_t at)
{
    PROF__STORE(&track->loose_name[at - 1], PROF__LOOSE_ENDED);
    for (; at < track->loose_count; ++at) {
        uint32_t name = PROF__LOAD(&track->loose_name[at]);
        if (!(name & 0x80000000u))
            __atomic_compare_exchange_n(&track->loose_name[at], &name, name | PROF__LOOSE_PASSED, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED);
    }
}

/* The last of the list have ended. */
static PROF__COLD void prof__loose_shrink(prof_fiber *track)
{
    uint32_t at = track->loose_count;
    while (at && track->loose_name[at - 1] == PROF__LOOSE_ENDED) track->loose_name[--at] = PROF__LOOSE_FREE;
    PROF__BARRIER();
    track->loose_count = at;
}

PROF__ENTRY void prof__end_loose(prof_site *site)
{
    PROF__SELF_OR(PROF__LED_VOID(prof__end_loose, (site)));
    prof_fiber *track = prof__track_of(self);
    uint64_t head;
    if (!track->loose_count) return;
    /* The name of a new site is not known yet. An end whose begin was lost to an interrupted macro is lost as well. */
    if (PROF__UNLIKELY(((uint32_t)prof__site_load(site) ^ PROF__LOAD(&prof__generation)) || self->gate == PROF__BUSY)) {
        if (!prof__enter(self, site, &head)) return;
        prof__leave(self);
    }
    uint32_t name = PROF__LOAD(&site->private_name), at = track->loose_count;
    while (at && (track->loose_name[at - 1] & ~PROF__LOOSE_PASSED) != name) --at;
    if (!at) return;
    prof__token token = track->loose[at - 1];
    if (PROF__UNLIKELY(at < track->loose_count)) {
        prof__loose_pass(track, at);
    } else {
        track->loose_name[--at] = PROF__LOOSE_FREE;
        PROF__BARRIER();
        track->loose_count = at;
        if (PROF__UNLIKELY(at && track->loose_name[at - 1] == PROF__LOOSE_ENDED)) prof__loose_shrink(track);
    }
    prof__end(token);
}

/* null: "". Cut between UTF-8 characters. */
static void prof__track_name(prof_fiber *track, const char *name)
{
    size_t length = name ? prof__length(name) : 0;
    if (length > sizeof track->name - 1) {
        length = sizeof track->name - 1;
        while (length && ((unsigned char)name[length] & 0xc0) == 0x80) --length;
    }
    if (name) prof__copy(track->name, name, length);
    track->name[length] = 0;
    track->name_id = PROF__NAME_NEW;
}

PROF__ENTRY void prof_thread_name(const char *name)
{
    PROF__SELF_OR(PROF__LED_VOID(prof_thread_name, (name)));
    prof__track_name(&self->own, name);
    PROF__BRIDGE_THREAD(name);
    if (self->fiber || !self->session || !prof__enter_slow(self, NULL, prof__take(self))) return;
    if (self->own.name_id != PROF__NAME_NEW) { /* new to the session: entered with its name */
        prof__leave(self);
        return;
    }
    prof__signals signals;
    PROF__ERRNO_SAVE();
    if (prof__lock_enter(&prof__lock_word, &signals)) {
        prof__track_know(self);
        prof__lock_leave(&prof__lock_word, &signals);
        if (self->room >= 3 + 2)
            prof__track_write(self);
        else
            prof__chunk_next(self); /* which begins with a track record */
    } else {
        prof__lose(self, 1);
    }
    PROF__ERRNO_RESTORE();
    prof__leave(self);
}

/*-- fibers --*/

PROF_DEF prof_fiber *prof_fiber_init(void *memory, const char *name)
{
    prof_fiber *fiber = (prof_fiber *)memory;
    if (!fiber) return NULL;
    prof__clear(fiber, sizeof *fiber);
    fiber->is_fiber = 1;
    prof__track_name(fiber, name);
    return fiber;
}

#ifndef PROF_FREESTANDING
PROF_DEF prof_fiber *prof_fiber_create(const char *name)
{
    return prof_fiber_init(malloc(sizeof(prof_fiber)), name);
}

PROF__ENTRY void prof_fiber_destroy(prof_fiber *fiber)
{
    PROF__LED_VOID(prof_fiber_destroy, (fiber));
    if (fiber && PROF__SELF()->fiber == fiber) prof_fiber_switch(NULL);
    PROF__BRIDGE_FORGET(PROF__SELF(), fiber);
    free(fiber);
}
#endif

/* A thread that is out of step, or a track that is new to the session, leaves the rest to prof__settle(); so that nothing
   is written for it in vain, all do during a pause. In a handler that interrupts a macro nothing happens. */
PROF__ENTRY void prof_fiber_switch(prof_fiber *fiber)
{
    PROF__SELF_OR(PROF__LED_VOID(prof_fiber_switch, (fiber)));
    if (fiber == self->fiber || prof__take(self) == PROF__BUSY) return;
    prof__track_leave(self);
    self->fiber = fiber;
    if (PROF__LIKELY(self->session && self->seen == PROF__LOAD(&prof__generation) &&
                     prof__track_known(self, prof__track_of(self)) && !prof__sites_rest())) {
        prof__track_enter(self);
    } else {
        self->seen = 0;
        self->open = PROF__SHUT;
    }
    PROF__BARRIER();
    self->gate = self->open; /* nothing was written that would let a filled chunk go */
    PROF__BRIDGE_SWITCH(self);
}

#ifndef PROF_FREESTANDING
/*-- OUTPUT -------------------------------------------------------------------------------------------------- >>out --
   A buffered writer for every report and exporter. Errors are sticky: after the first one everything is accepted and
   thrown away, and prof__out_close() returns it. A file is written under a name of its own
   ("<path>.<process>-<n>.part") and renamed when it is complete; a symbolic link leads to the file that is replaced so.
   What is not a regular file (a fifo, a device) is written directly. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#else
#include <sys/stat.h>
#endif

#define PROF__OUT_SIZE ((size_t)65536)
#define PROF__OUT_RESERVE ((size_t)4096) /* the most that prof__out_reserve() gives */

typedef struct prof__out {
    char *cursor, *limit; /* free room of the buffer */
    char *buffer;         /* PROF__OUT_SIZE bytes on the heap or, where there were none, reserve */
    prof_sink sink;       /* write is null for files */
    FILE *file;
    char *path, *part; /* owned; part is null when the file is written directly */
    char *target;      /* owned: where path is a link, the file that it leads to; else null */
    int restore;       /* Windows: the mode that standard output had */
    size_t flushes;    /* so far */
    uint64_t hole;     /* bytes of a new file that come before what is delivered next, and are zero */
    prof_status status;
    char reserve[PROF__OUT_RESERVE];
} prof__out;

static prof_status prof__fail(prof_status status, const char *format, ...);

static char *prof__text_join(const char *a, const char *b)
{
    size_t na = strlen(a), nb = strlen(b);
    char *text = (char *)malloc(na + nb + 1);
    if (text) {
        memcpy(text, a, na);
        memcpy(text + na, b, nb + 1);
    }
    return text;
}

static void prof__out_init(prof__out *out)
{
    memset(out, 0, sizeof *out - sizeof out->reserve);
    out->buffer = (char *)malloc(PROF__OUT_SIZE);
    out->cursor = out->buffer ? out->buffer : out->reserve;
    out->limit = out->cursor + (out->buffer ? PROF__OUT_SIZE : sizeof out->reserve);
    if (!out->buffer) out->buffer = out->reserve;
}

/* Makes the whole output fail; the first status counts. For callers that cannot go on. */
static void prof__out_fail(prof__out *out, prof_status status)
{
    if (out->status == PROF_OK) out->status = status;
}

/* Moves over the hole. 0: it cannot. */
static int prof__out_skip(prof__out *out)
{
    const long most = 1l << 30;
    int failed = 0;
    for (; out->hole && !failed; out->hole -= failed ? 0 : out->hole < (uint64_t)most ? out->hole : (uint64_t)most)
        failed = fseek(out->file, out->hole < (uint64_t)most ? (long)out->hole : most, SEEK_CUR);
    return !failed;
}

static void prof__out_deliver(prof__out *out, const char *data, size_t size)
{
    if (!size || out->status != PROF_OK) return;
    if (out->sink.write) {
        if (out->sink.write(out->sink.user, data, size))
            out->status = prof__fail(PROF_IO, "the sink refused %lu bytes", (unsigned long)size);
    } else if (out->file) {
        prof__file_signal signal;
        size_t done = 0;
        prof__file_signal_hold_for(&signal, out->file == stdout);
        int moved = prof__out_skip(out);
        if (moved) do {
            errno = 0;
            done += fwrite(data + done, 1, size - done, out->file);
        } while (done < size && errno == EINTR);
        if (done < size)
            out->status = prof__fail(PROF_IO, "cannot write %s: %s", out->part ? out->part : out->path,
                                     errno ? strerror(errno) : "write error");
        prof__file_signal_drop(&signal);
    }
}

static void prof__out_flush(prof__out *out)
{
    size_t used = (size_t)(out->cursor - out->buffer);
    out->cursor = out->buffer;
    out->flushes++;
    prof__out_deliver(out, out->buffer, used);
}

/* Room for size bytes, at most PROF__OUT_RESERVE; always works. What is written there counts after the commit. */
static char *prof__out_reserve(prof__out *out, size_t size)
{
    if (size > (size_t)(out->limit - out->cursor)) prof__out_flush(out);
    return out->cursor;
}

static void prof__out_commit(prof__out *out, size_t size)
{
    out->cursor += size;
}

static void prof__out_bytes(prof__out *out, const void *data, size_t size)
{
    if (size > (size_t)(out->limit - out->cursor)) {
        prof__out_flush(out);
        if (size > (size_t)(out->limit - out->cursor)) {
            prof__out_deliver(out, (const char *)data, size);
            return;
        }
    }
    if (!size) return;
    memcpy(out->cursor, data, size);
    out->cursor += size;
}

/* Zeros: in a file that is new a hole, which takes nothing of the disk. */
static void prof__out_zeros(prof__out *out, uint64_t size)
{
    static const char zeros[4096] = {0};
    if (out->part && size > sizeof zeros) {
        prof__out_flush(out);
        out->hole += size - 1; /* the last byte makes the file as long */
        size = 1;
    }
    for (; size; size -= size < sizeof zeros ? size : sizeof zeros)
        prof__out_bytes(out, zeros, size < sizeof zeros ? (size_t)size : sizeof zeros);
}

static void prof__out_text(prof__out *out, const char *text)
{
    prof__out_bytes(out, text, strlen(text));
}

/* Decimal digits of value at to, at most 20 of them, not terminated; returns their number. */
static size_t prof__digits(char *to, uint64_t value)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    char text[20];
    size_t at = sizeof text;
    while (value >= 100) {
        size_t pair = (size_t)(value % 100) * 2;
        value /= 100;
        text[--at] = pairs[pair + 1];
        text[--at] = pairs[pair];
    }
    if (value >= 10) {
        text[--at] = pairs[value * 2 + 1];
        text[--at] = pairs[value * 2];
    } else {
        text[--at] = (char)('0' + value);
    }
    memcpy(to, text + at, sizeof text - at);
    return sizeof text - at;
}

static PROF__UNUSED void prof__out_unsigned(prof__out *out, uint64_t value)
{
    prof__out_commit(out, prof__digits(prof__out_reserve(out, 20), value));
}

static PROF__UNUSED void prof__out_signed(prof__out *out, int64_t value)
{
    char *to = prof__out_reserve(out, 21);
    if (value < 0) {
        *to = '-';
        prof__out_commit(out, 1 + prof__digits(to + 1, 0 - (uint64_t)value));
    } else {
        prof__out_commit(out, prof__digits(to, (uint64_t)value));
    }
}

/* value with at least so many significant digits and, up to most, as many as it takes to read back as the same number:
   at to (32 bytes), terminated; returns its length. The decimal point is a point in every locale. Not finite: "inf",
   "-inf", "nan". */
static size_t prof__double_digits(char *to, double value, int least, int most)
{
    char text[48];
    size_t from, at = 0;
    int digits = least;
    if (!(value - value == 0)) {
        strcpy(to, value > 0 ? "inf" : value < 0 ? "-inf" : "nan");
        return strlen(to);
    }
    for (;;) {
        double back;
        snprintf(text, sizeof text, "%.*g", digits, value);
        back = strtod(text, NULL);
        if (digits++ >= most || !(back < value || back > value)) break;
    }
    for (from = 0; text[from] && at < 31; from++) {
        if ((text[from] >= '0' && text[from] <= '9') || text[from] == '-' || text[from] == '+' || text[from] == 'e')
            to[at++] = text[from];
        else if (at && to[at - 1] != '.') /* a locale's separator may have more than one byte */
            to[at++] = '.';
    }
    to[at] = 0;
    return at;
}

/* Reads back as the same number. */
static size_t prof__double_text(char *to, double value)
{
    return prof__double_digits(to, value, 15, 17);
}

static PROF__UNUSED void prof__out_double(prof__out *out, double value)
{
    prof__out_commit(out, prof__double_text(prof__out_reserve(out, 32), value));
}

static PROF__UNUSED void prof__out_sink(prof__out *out, prof_sink sink)
{
    prof__out_init(out);
    out->sink = sink;
    if (!sink.write) out->status = prof__fail(PROF_INVALID_ARGUMENT, "a sink without a write function");
}

/* 1: path does not exist or is a regular file, so that a new file can take its place. Links are not followed. */
static int prof__file_replaceable(const char *path)
{
#ifdef _WIN32
    static const char *const devices[] = {"nul", "con", "prn", "aux", "conout$"};
    size_t i, n;
    if (!strncmp(path, "\\\\.\\", 4) || !strncmp(path, "\\\\?\\", 4)) return 0;
    for (i = 0; i < sizeof devices / sizeof *devices; i++) {
        for (n = 0; devices[i][n] && (path[n] | 32) == (devices[i][n] | 32); n++) continue;
        if (!devices[i][n] && (!path[n] || path[n] == ':')) return 0;
    }
    return 1;
#else
    struct stat about;
    return lstat(path, &about) != 0 || S_ISREG(about.st_mode);
#endif
}

#ifndef _WIN32
#define PROF__PATH_SIZE ((size_t)2048)
#define PROF__PATH_LINKS 40 /* of one path, as the kernel has it */
#define PROF__PATH_STICKY 01000

enum {
    PROF__PATH_PLAIN,   /* no link: the path itself */
    PROF__PATH_LINK,    /* it is a link: done is the file that it leads to, which need not exist */
    PROF__PATH_DIRECT,  /* it leads to an open file of a process, as /dev/stdout does: the path itself, as it is */
    PROF__PATH_PLANTED, /* done is a link or a fifo that somebody else may have put there */
    PROF__PATH_UNKNOWN  /* too long, or links in a circle */
};

/* A path, link after link. */
typedef struct prof__path {
    char done[PROF__PATH_SIZE], rest[PROF__PATH_SIZE], link[PROF__PATH_SIZE]; /* done has no link any more */
} prof__path;

/* 1: in a folder where anyone may make files and only their owners remove them, as /tmp, something is neither this
   user's nor the folder's owner's. That is the kernel's rule, where fs.protected_symlinks is set. */
static int prof__path_planted(const char *folder, const struct stat *thing)
{
    struct stat about;
    return thing->st_uid != geteuid() && !stat(*folder ? folder : ".", &about) && about.st_mode & PROF__PATH_STICKY &&
           about.st_mode & S_IWOTH && thing->st_uid != about.st_uid;
}

/* Goes on with what the link at p->done says. folder: the length of p->done up to the link's name. 0: too long. */
static int prof__path_link(prof__path *p, size_t folder)
{
    ssize_t n = readlink(p->done, p->link, sizeof p->link - 1);
    size_t rest = strlen(p->rest);
    if (n <= 0 || (size_t)n + 1 + rest >= sizeof p->rest) return 0;
    memmove(p->rest + n, p->rest, rest + 1); /* it is empty, or begins with a slash */
    memcpy(p->rest, p->link, (size_t)n);
    p->done[p->link[0] == '/' ? 0 : folder] = 0;
    return 1;
}

/* Follows all links of a path. Async-signal-safe. */
static int prof__path_follow(prof__path *p, const char *path)
{
    struct stat about;
    int result = !lstat(path, &about) && S_ISLNK(about.st_mode) ? PROF__PATH_LINK : PROF__PATH_PLAIN, links = 0;
    if (strlen(path) >= sizeof p->rest) return PROF__PATH_UNKNOWN;
    strcpy(p->rest, path);
    p->done[0] = 0;
    while (p->rest[0]) {
        size_t folder = strlen(p->done), slashes = strspn(p->rest, "/"), name = strcspn(p->rest + slashes, "/"), slash;
        slash = slashes && (!folder || p->done[folder - 1] != '/');
        if (folder + slash + name >= sizeof p->done) return PROF__PATH_UNKNOWN;
        if (slash) p->done[folder++] = '/';
        memcpy(p->done + folder, p->rest + slashes, name);
        p->done[folder + name] = 0;
        memmove(p->rest, p->rest + slashes + name, strlen(p->rest + slashes + name) + 1);
        if (!name || lstat(p->done, &about) || !(S_ISLNK(about.st_mode) || S_ISFIFO(about.st_mode))) continue;
        strcpy(p->link, p->done);
        p->link[folder] = 0;
        if (prof__path_planted(p->link, &about)) return PROF__PATH_PLANTED;
        if (S_ISFIFO(about.st_mode)) continue;
        if (!strncmp(p->done, "/proc/", 6)) return result == PROF__PATH_LINK ? PROF__PATH_DIRECT : result;
        if (++links > PROF__PATH_LINKS || !prof__path_link(p, folder)) return PROF__PATH_UNKNOWN;
    }
    return result;
}

static prof_status prof__path_refuse(const prof__path *p, const char *path)
{
    size_t length = strlen(p->done);
    return prof__fail(PROF_IO, "%.80s: %s is another user's, in a folder where anyone may make files: remove it, or "
                      "write elsewhere", path, p->done + (length > 80 ? length - 80 : 0));
}

/* Opens what is no regular file: a device, or a fifo, which nobody may be reading. */
static FILE *prof__file_direct(const char *path, int follow)
{
    struct stat about;
    int file = open(path, O_WRONLY | O_TRUNC | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW)), flags;
    FILE *stream;
    if (file < 0 && errno == ENXIO && !stat(path, &about) && S_ISFIFO(about.st_mode)) errno = EPIPE;
    if (file < 0) return NULL;
    flags = fcntl(file, F_GETFL);
    if (flags >= 0) fcntl(file, F_SETFL, flags & ~O_NONBLOCK); /* a reader may take its time */
    stream = fdopen(file, "wb");
    if (!stream) close(file);
    return stream;
}

/* Makes a file that is nobody's yet: what stands in its way, left by a process that was killed, is removed, and a link
   is not followed. */
static FILE *prof__file_new(const char *path)
{
    FILE *stream;
    int file = -1;
    for (int i = 0; i < 2 && file < 0; i++) {
        file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file < 0 && (errno != EEXIST || unlink(path))) return NULL;
    }
    stream = file < 0 ? NULL : fdopen(file, "wb");
    if (file >= 0 && !stream) close(file);
    return stream;
}
#else
static FILE *prof__file_new(const char *path) { return fopen(path, "wb"); }
#endif

static int prof__file_rename(const char *from, const char *to)
{
#ifdef _WIN32
    remove(to); /* rename() does not replace there */
#endif
    return rename(from, to);
}

static void prof__out_free(prof__out *out)
{
    if (out->buffer != out->reserve) free(out->buffer);
    free(out->path);
    free(out->part);
    free(out->target);
    out->buffer = out->cursor = out->reserve;
    out->limit = out->reserve + sizeof out->reserve;
    out->path = out->part = out->target = NULL;
    out->file = NULL;
}

static int prof__is_slash(char c)
{
#ifdef _WIN32
    return c == '/' || c == '\\';
#else
    return c == '/';
#endif
}

/* 1: an output that is a directory, in which its writer makes files. */
static int prof__is_folder(const char *path)
{
    size_t n = prof__length(path);
    if (!n) return 0;
    if (prof__is_slash(path[n - 1])) return 1;
#ifdef _WIN32
    DWORD about = GetFileAttributesA(path);
    return about != INVALID_FILE_ATTRIBUTES && (about & FILE_ATTRIBUTE_DIRECTORY);
#else
    struct stat about;
    return !stat(path, &about) && S_ISDIR(about.st_mode);
#endif
}

/* Makes a directory and those around it, unless they are there. 0 or errno. Async-signal-safe. */
static int prof__folder_add(const char *path)
{
    char part[1200];
    size_t n = prof__length(path);
    int error = 0;
    if (n >= sizeof part) return ENAMETOOLONG;
    for (size_t i = 1; i <= n; ++i) {
        if (i < n && !prof__is_slash(path[i])) continue;
        prof__copy(part, path, i);
        part[i] = 0;
        if (prof__is_folder(part)) continue;
#ifdef _WIN32
        error = CreateDirectoryA(part, NULL) ? 0 : GetLastError() == ERROR_ALREADY_EXISTS ? EEXIST : EACCES;
#else
        error = mkdir(part, 0777) ? errno : 0;
#endif
        if (error == EEXIST) error = prof__is_folder(part) ? 0 : ENOTDIR; /* another process may be as fast */
    }
    return error;
}

static PROF__UNUSED prof_status prof__folder_make(const char *path)
{
    int error = prof__folder_add(path);
    return error ? prof__fail(PROF_IO, "cannot make the directory %.400s: %s", path, strerror(error)) : PROF_OK;
}

/* The directory that the file path is, or will be, in: "." if it names none. 0: too long. */
static int prof__folder_of(const char *path, char *to, size_t size)
{
    size_t length = 0;
    for (size_t i = 0; path[i]; ++i)
        if (prof__is_slash(path[i])) length = i ? i : 1;
    if (length >= size) return 0;
    prof__copy(to, length ? path : ".", length ? length : 1);
    to[length ? length : 1] = 0;
    return 1;
}

/* Makes the directory that the file path will be in, unless it is there. 0 or errno. Async-signal-safe. */
static int prof__folder_for(const char *path)
{
    char folder[1200];
    if (!prof__folder_of(path, folder, sizeof folder)) return ENAMETOOLONG;
    return prof__is_folder(folder) ? 0 : prof__folder_add(folder);
}

/* The same, for an output that could not be opened. */
static prof_status prof__out_refuse(prof__out *out, prof_status status)
{
    prof__out_free(out);
    return status;
}

/* The name under which the file at path is written until it is complete. Null without memory. */
static char *prof__out_part(const char *path)
{
    static unsigned counter; /* two may write the same file at once: the last one wins, whole */
    char ending[48];
    snprintf(ending, sizeof ending, ".%llu-%u.part", (unsigned long long)prof__process_id(), PROF__ADD(&counter, 1u));
    return prof__text_join(path, ending);
}

/* Makes the file, and the directories around it where they are missing. Returns NULL with errno if it cannot. */
static FILE *prof__out_make(const char *part)
{
    FILE *file = prof__file_new(part);
    int error;
    if (file || errno != ENOENT) return file;
    error = prof__folder_for(part);
    if (!error) return prof__file_new(part);
    errno = error;
    return NULL;
}

#ifdef _WIN32
static prof_status prof__out_open(prof__out *out, const char *path)
{
    int part = prof__file_replaceable(path);
    out->path = prof__text_join(path, "");
    if (part) out->part = prof__out_part(path);
    if (!out->path || (part && !out->part)) return prof__fail(PROF_NO_MEMORY, "no memory to write %s", path);
    out->file = part ? prof__out_make(out->part) : fopen(out->path, "wb");
    if (out->file) return PROF_OK;
    return prof__fail(PROF_IO, "cannot create %s: %s", part ? out->part : out->path, strerror(errno));
}
#else
static prof_status prof__out_open(prof__out *out, const char *path)
{
    prof__path followed;
    int way = prof__path_follow(&followed, path), part = way != PROF__PATH_DIRECT;
    const char *target = way == PROF__PATH_LINK ? followed.done : path;
    if (way == PROF__PATH_PLANTED) return prof__path_refuse(&followed, path);
    part = part && prof__file_replaceable(target);
    out->path = prof__text_join(path, "");
    if (part) out->part = prof__out_part(target);
    if (part && target != path) out->target = prof__text_join(target, "");
    if (!out->path || (part && (!out->part || (target != path && !out->target))))
        return prof__fail(PROF_NO_MEMORY, "no memory to write %s", path);
    out->file = part ? prof__out_make(out->part) : prof__file_direct(target, way >= PROF__PATH_DIRECT);
    if (out->file) return PROF_OK;
    if (!part && errno == EPIPE)
        return prof__fail(PROF_IO, "cannot write %s: it is a fifo that nobody reads: start its reader first", path);
    return prof__fail(PROF_IO, "cannot create %s: %s", part ? out->part : path, strerror(errno));
}
#endif

/* path null or "-": standard output. Makes the directories that path names. Unless this returns PROF_OK there is nothing to close. */
static prof_status prof__out_file(prof__out *out, const char *path)
{
    prof_status status;
    prof__out_init(out);
    if (path && strcmp(path, "-")) {
        status = prof__out_open(out, path);
        if (status != PROF_OK) return prof__out_refuse(out, status);
        setvbuf(out->file, NULL, _IONBF, 0);
        return PROF_OK;
    }
    out->path = prof__text_join("standard output", "");
    if (!out->path) return prof__out_refuse(out, prof__fail(PROF_NO_MEMORY, "no memory to write standard output"));
    out->file = stdout;
#ifdef _WIN32
    fflush(stdout);
    out->restore = _setmode(1, _O_BINARY);
#endif
    return PROF_OK;
}

/* Writes the rest, puts the file in its place, and returns the first error of all. */
static prof_status prof__out_close(prof__out *out)
{
    prof_status status;
    prof__out_flush(out);
    if (out->file) {
        int failed;
        errno = 0;
        failed = out->file == stdout ? fflush(stdout) : fclose(out->file);
#ifdef _WIN32
        if (out->file == stdout && out->restore != -1) _setmode(1, out->restore);
#endif
        if (failed && out->status == PROF_OK)
            out->status = prof__fail(PROF_IO, "cannot write %s: %s", out->part ? out->part : out->path,
                                     errno ? strerror(errno) : "write error");
        if (out->part && out->status == PROF_OK && prof__file_rename(out->part, out->target ? out->target : out->path))
            out->status = prof__fail(PROF_IO, "cannot rename %s to %s: %s", out->part, out->path, strerror(errno));
        if (out->part && out->status != PROF_OK) remove(out->part);
    }
    status = out->status;
    prof__out_free(out);
    return status;
}

/*-- PACK --------------------------------------------------------------------------------------------------- >>pack --
   Packed words: what the archive behind the ring is made of. A record is a symbol (its head without the ticks; of a
   record without a time, the whole head) and what follows from none: ticks, payload. Programs repeat themselves, so the
   symbol that came last time after the same one is expected; usually a record is one number:

     number   ticks since the timed record before << 1 | 1 if the symbol is not the expected one; then, with the 1:
     code     0 an END of the innermost open call site   1 the whole head, 8 bytes   2 a new symbol: kind | site << 4
              and, without a time, bits 39..0   3 and up: the symbol with this number, less 3, in order of their
              first appearance
     payload  integers zigzag, other words as they are, as numbers; doubles 8 bytes; strings: a number, bytes up to the
              last that is not zero << 1, and these bytes, or 1: the words of this symbol's string before

   Numbers are little-endian in groups of 7 bits, the last group without the eighth bit. The table of symbols is
   bounded; what finds no room is written as new each time. Nothing of one block is needed for another. Any words at all
   come back as they were: what is no record, and time that runs backwards, goes by code 1. */

#define PROF__PACK_SYMBOLS 500u
#define PROF__PACK_SLOTS 2048u /* a power of two */
#define PROF__PACK_OPEN 64u
#define PROF__PACK_BOUND(count) ((size_t)(count) * 12 + 16) /* bytes that any count words fit into */
#define PROF__BLOCK_BOUND(count) (sizeof(prof__block) + (PROF__PACK_BOUND(count) + 7) / 8 * 8)

enum { PROF__PACK_INNER = 0, PROF__PACK_WHOLE, PROF__PACK_NEW, PROF__PACK_KNOWN };

/* What packer and unpacker both learn from the records before. Symbols count from 1. */
typedef struct prof__packer {
    uint64_t tick;
    uint32_t count, before, depth;
    uint64_t symbols[PROF__PACK_SYMBOLS + 1];
    uint32_t strings[PROF__PACK_SYMBOLS + 1]; /* word of the symbol's last string, 0: none */
    uint16_t next[PROF__PACK_SYMBOLS + 1];    /* the symbol that came after this one; 0: none yet */
    uint16_t slots[PROF__PACK_SLOTS];         /* hash table over symbols */
    uint32_t open[PROF__PACK_OPEN];           /* call sites of the open scopes, of deep ones the innermost */
} prof__packer;

typedef struct prof__unpacker {
    const unsigned char *at, *end;
    int bad;
} prof__unpacker;

/* Words of the record with this head, of which left remain; 0: no record. */
static size_t prof__record_words(uint64_t head, size_t left)
{
    size_t words;
    switch (head >> PROF__KIND_SHIFT) {
    case PROF__KIND_BEGIN:
    case PROF__KIND_END:
    case PROF__KIND_MARK:
    case PROF__KIND_FRAME:
    case PROF__KIND_LOST: words = 1; break;
    case PROF__KIND_COUNTER_INT:
    case PROF__KIND_COUNTER_DOUBLE: words = 2; break;
    case PROF__KIND_ARG:
    case PROF__KIND_DATA:
    case PROF__KIND_NAME: words = 1 + (size_t)(head & 0xFFFF); break;
    case PROF__KIND_EVENT:
    case PROF__KIND_TRACK: words = 3; break;
    default: return 0;
    }
    return words <= left ? words : 0;
}

/* How many of the words of a chunk are whole records. */
PROF__UNUSED static size_t prof__records_end(const uint64_t *words, size_t count)
{
    size_t at = 0, length;
    while (at < count && (length = prof__record_words(words[at], count - at)) != 0) at += length;
    return at;
}

/* 1: bits 39..0 of the record are its time. */
static int prof__record_timed(uint64_t head)
{
    uint64_t kind = head >> PROF__KIND_SHIFT;
    return (kind >= PROF__KIND_BEGIN && kind <= PROF__KIND_FRAME) || kind == PROF__KIND_EVENT;
}

static uint64_t prof__pack_symbol(uint64_t head)
{
    return prof__record_timed(head) ? head & ~PROF__TICK_MASK : head;
}

/* The number of a symbol that is new or not; 0: no room for a new one. */
static uint32_t prof__pack_number(prof__packer *p, uint64_t symbol, int add)
{
    uint32_t slot = (uint32_t)(symbol * 0x9E3779B97F4A7C15u >> 40) & (PROF__PACK_SLOTS - 1);
    for (; p->slots[slot]; slot = (slot + 1) & (PROF__PACK_SLOTS - 1))
        if (p->symbols[p->slots[slot]] == symbol) return p->slots[slot];
    if (!add || p->count == PROF__PACK_SYMBOLS) return 0;
    p->symbols[++p->count] = symbol;
    p->slots[slot] = (uint16_t)p->count;
    p->strings[p->count] = p->next[p->count] = 0;
    return p->count;
}

static void prof__pack_reset(prof__packer *p)
{
    p->tick = 0;
    p->count = p->before = p->depth = 0;
    p->next[0] = 0;
    p->strings[0] = 0;
    memset(p->slots, 0, sizeof p->slots);
}

static uint64_t prof__pack_inner(const prof__packer *p)
{
    return (uint64_t)PROF__KIND_END << PROF__KIND_SHIFT |
           (uint64_t)p->open[(p->depth - 1) % PROF__PACK_OPEN] << PROF__TICK_BITS;
}

/* number: of the head's symbol; 0: it has none. */
static void prof__pack_learn(prof__packer *p, uint64_t head, uint32_t number)
{
    unsigned kind = (unsigned)(head >> PROF__KIND_SHIFT);
    p->next[p->before] = (uint16_t)number;
    p->before = number;
    if (prof__record_timed(head)) p->tick = head & PROF__TICK_MASK;
    if (kind == PROF__KIND_BEGIN)
        p->open[p->depth++ % PROF__PACK_OPEN] = (uint32_t)(head >> PROF__TICK_BITS) & PROF__SITE_MASK;
    else if (kind == PROF__KIND_END && p->depth)
        p->depth--;
}

enum { PROF__PACK_PLAIN = 0, PROF__PACK_ZIGZAG, PROF__PACK_DOUBLE, PROF__PACK_STRING };

/* How the payload of a record is written. */
static int prof__pack_way(uint64_t head)
{
    switch (head >> PROF__KIND_SHIFT) {
    case PROF__KIND_COUNTER_INT: return PROF__PACK_ZIGZAG;
    case PROF__KIND_COUNTER_DOUBLE: return PROF__PACK_DOUBLE;
    case PROF__KIND_NAME: return PROF__PACK_STRING;
    case PROF__KIND_DATA:
    case PROF__KIND_ARG: break;
    default: return PROF__PACK_PLAIN;
    }
    switch (head >> 32 & 0xFF) {
    case PROF_VALUE_INT: return PROF__PACK_ZIGZAG;
    case PROF_VALUE_DOUBLE: return PROF__PACK_DOUBLE;
    case PROF_VALUE_STRING: return PROF__PACK_STRING;
    default: return PROF__PACK_PLAIN;
    }
}

static unsigned char *prof__pack_integer(unsigned char *to, uint64_t value)
{
    for (; value >= 128; value >>= 7) *to++ = (unsigned char)(value | 128);
    *to++ = (unsigned char)value;
    return to;
}

static unsigned char *prof__pack_head(prof__packer *p, uint64_t head, unsigned char *to)
{
    uint64_t symbol = prof__pack_symbol(head);
    int timed = prof__record_timed(head), backwards = timed && (head & PROF__TICK_MASK) < p->tick;
    uint64_t ticks = timed && !backwards ? (head & PROF__TICK_MASK) - p->tick : 0;
    uint32_t number = p->next[p->before];
    if (PROF__LIKELY(number && p->symbols[number] == symbol && !backwards)) {
        to = prof__pack_integer(to, ticks << 1);
        prof__pack_learn(p, head, number);
        return to;
    }
    to = prof__pack_integer(to, ticks << 1 | 1);
    number = backwards ? 0 : prof__pack_number(p, symbol, 0);
    if (backwards || !(head >> PROF__KIND_SHIFT) || head >> PROF__KIND_SHIFT > PROF__KIND_DATA) {
        *to++ = PROF__PACK_WHOLE;
        memcpy(to, &head, 8);
        to += 8;
    } else if (p->depth && symbol == prof__pack_inner(p)) {
        *to++ = PROF__PACK_INNER;
        number = prof__pack_number(p, symbol, 1);
    } else if (number) {
        to = prof__pack_integer(to, PROF__PACK_KNOWN + number - 1);
    } else {
        *to++ = PROF__PACK_NEW;
        to = prof__pack_integer(to, head >> PROF__KIND_SHIFT | (head >> PROF__TICK_BITS & PROF__SITE_MASK) << 4);
        if (!timed) to = prof__pack_integer(to, head & PROF__TICK_MASK);
        number = prof__pack_number(p, symbol, 1);
    }
    prof__pack_learn(p, head, number);
    return to;
}

/* at: the first of n words of payload, behind the head. */
static unsigned char *prof__pack_payload(prof__packer *p, const uint64_t *words, size_t at, size_t n, unsigned char *to)
{
    size_t i, size = n * 8;
    const unsigned char *bytes = (const unsigned char *)(words + at);
    uint32_t before;
    switch (prof__pack_way(words[at - 1])) {
    case PROF__PACK_STRING:
        before = p->strings[p->before]; /* the same symbol: as many words */
        if (p->before) p->strings[p->before] = (uint32_t)at;
        if (p->before && before && !memcmp(words + before, words + at, size)) return prof__pack_integer(to, 1);
        while (size && !bytes[size - 1]) --size;
        to = prof__pack_integer(to, (uint64_t)size << 1);
        memcpy(to, bytes, size);
        return to + size;
    case PROF__PACK_DOUBLE: memcpy(to, bytes, size); return to + size;
    case PROF__PACK_ZIGZAG:
        for (i = 0; i < n; i++) to = prof__pack_integer(to, words[at + i] << 1 ^ (0 - (words[at + i] >> 63)));
        return to;
    default:
        for (i = 0; i < n; i++) to = prof__pack_integer(to, words[at + i]);
        return to;
    }
}

/* Packs any count words (below 2^32) and returns how many bytes they took; 0: size may not do, which is never so for
   PROF__PACK_BOUND(count). */
static size_t prof__pack(const uint64_t *words, size_t count, unsigned char *to, size_t size)
{
    prof__packer p;
    unsigned char *out = to;
    size_t at, length;
    prof__pack_reset(&p);
    for (at = 0; at < count; at += length) {
        length = prof__record_words(words[at], count - at);
        if (!length) length = 1;
        if (size - (size_t)(out - to) < PROF__PACK_BOUND(length)) return 0;
        out = prof__pack_head(&p, words[at], out);
        if (length > 1) out = prof__pack_payload(&p, words, at + 1, length - 1, out);
    }
    return (size_t)(out - to);
}

static uint64_t prof__unpack_integer(prof__unpacker *u)
{
    uint64_t value = 0;
    unsigned shift = 0;
    for (; u->at < u->end && shift < 70; shift += 7) {
        unsigned char byte = *u->at++;
        value |= (uint64_t)(byte & 127) << shift; /* at most 10 groups; what does not fit into 64 bits is lost */
        if (byte < 128) return value;
    }
    u->bad = 1;
    return 0;
}

static void prof__unpack_bytes(prof__unpacker *u, void *to, size_t size)
{
    if (size > (size_t)(u->end - u->at)) {
        u->bad = 1;
        return;
    }
    memcpy(to, u->at, size);
    u->at += size;
}

static uint64_t prof__unpack_new(prof__unpacker *u)
{
    uint64_t site = prof__unpack_integer(u), head;
    head = (site & 15) << PROF__KIND_SHIFT | (site >> 4 & PROF__SITE_MASK) << PROF__TICK_BITS;
    if (!prof__record_timed(head)) head |= prof__unpack_integer(u) & PROF__TICK_MASK;
    return head;
}

static uint64_t prof__unpack_head(prof__packer *p, prof__unpacker *u)
{
    uint64_t first = prof__unpack_integer(u), code, head = 0;
    uint32_t number = p->next[p->before];
    if (!(first & 1)) {
        if (!number) u->bad = 1;
        head = number ? p->symbols[number] : 0;
    } else if ((code = prof__unpack_integer(u)) == PROF__PACK_WHOLE) {
        prof__unpack_bytes(u, &head, 8);
        prof__pack_learn(p, head, 0);
        return head;
    } else if (code == PROF__PACK_INNER) {
        if (!p->depth) u->bad = 1;
        head = p->depth ? prof__pack_inner(p) : 0;
        number = prof__pack_number(p, head, 1);
    } else if (code == PROF__PACK_NEW) {
        head = prof__unpack_new(u);
        number = prof__pack_number(p, head, 1);
    } else {
        number = code - PROF__PACK_KNOWN < p->count ? (uint32_t)(code - PROF__PACK_KNOWN) + 1 : 0;
        if (!number) u->bad = 1;
        head = number ? p->symbols[number] : 0;
    }
    if (prof__record_timed(head)) {
        if ((first >> 1) > PROF__TICK_MASK - p->tick) u->bad = 1;
        head |= (p->tick + (first >> 1)) & PROF__TICK_MASK;
    }
    prof__pack_learn(p, head, number);
    return head;
}

static void prof__unpack_string(prof__packer *p, prof__unpacker *u, uint64_t *words, size_t at, size_t n)
{
    uint64_t size = prof__unpack_integer(u);
    uint32_t before = p->strings[p->before];
    if (p->before) p->strings[p->before] = (uint32_t)at;
    if (size & 1) {
        if (!p->before || !before)
            u->bad = 1;
        else
            memcpy(words + at, words + before, n * 8);
        return;
    }
    memset(words + at, 0, n * 8);
    if (size >> 1 > n * 8)
        u->bad = 1;
    else
        prof__unpack_bytes(u, words + at, (size_t)(size >> 1));
}

static void prof__unpack_payload(prof__packer *p, prof__unpacker *u, uint64_t *words, size_t at, size_t n)
{
    int way = prof__pack_way(words[at - 1]);
    size_t i;
    if (way == PROF__PACK_STRING) {
        prof__unpack_string(p, u, words, at, n);
    } else if (way == PROF__PACK_DOUBLE) {
        prof__unpack_bytes(u, words + at, n * 8);
    } else {
        for (i = at; i < at + n && !u->bad; i++) {
            uint64_t value = prof__unpack_integer(u);
            words[i] = way == PROF__PACK_ZIGZAG ? value >> 1 ^ (0 - (value & 1)) : value;
        }
    }
}

/* Turns size bytes back into the words, at most count, that prof__pack was given, and returns how many those are; 0:
   nobody packed these bytes. Up to 7 bytes more may stand behind those of count words. Safe for any bytes; words may be
   written in either case. */
static PROF__UNUSED size_t prof__unpack(const unsigned char *from, size_t size, uint64_t *words, size_t count)
{
    prof__packer p;
    prof__unpacker u;
    size_t at = 0, length;
    prof__pack_reset(&p);
    u.at = from;
    u.end = from + size;
    u.bad = 0;
    while (u.at < u.end && at < count) {
        words[at] = prof__unpack_head(&p, &u);
        length = prof__record_words(words[at], count - at);
        if (!length) length = 1;
        if (length > 1 && !u.bad) prof__unpack_payload(&p, &u, words, at + 1, length - 1);
        if (u.bad) return 0;
        at += length;
    }
    return u.end - u.at < (at == count ? 8 : 1) ? at : 0;
}

/* What block->check must be. bytes: what follows the block's header. */
static uint32_t prof__block_check(const prof__block *block, const void *bytes)
{
    prof__block head = *block;
    const unsigned char *at = (const unsigned char *)bytes;
    uint64_t hash = 0xCBF29CE484222325u, word;
    uint32_t i;
    head.check = 0;
    for (i = 0; i < sizeof head / 8; i++) {
        memcpy(&word, (const char *)&head + i * 8, 8);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    for (i = 0; i < (block->size - (uint32_t)sizeof head) / 8; i++) {
        memcpy(&word, at + (size_t)i * 8, 8);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return (uint32_t)(hash ^ hash >> 32);
}

/* Makes a block out of a chunk and its first count words (prof__records_end) and returns its size. block: 8-byte
   aligned, PROF__BLOCK_BOUND(count) bytes. */
PROF__UNUSED static uint32_t prof__block_pack(const prof__chunk *chunk, const uint64_t *words, size_t count,
                                              prof__block *block)
{
    unsigned char *bytes = (unsigned char *)(block + 1);
    size_t size = prof__pack(words, count, bytes, PROF__PACK_BOUND(count));
    while (size % 8) bytes[size++] = 0;
    memset(block, 0, sizeof *block);
    block->magic = PROF__BLOCK_MAGIC;
    block->size = (uint32_t)(sizeof *block + size);
    block->sequence = chunk->sequence;
    block->base = chunk->base;
    block->lost = chunk->lost;
    block->words = (uint32_t)count;
    block->check = prof__block_check(block, bytes);
    return block->size;
}
#ifdef PROF_NO_READER
/*-- NO READER ------------------------------------------------------------------------------------------------------
   A program that only records. Functions that need a trace stay, so that other files of the program link; none can be
   had, so that most of them are never called with one. */

static prof_status prof__live_write(const char *path, prof_status (*write)(const prof_trace *, const char *))
{
    (void)write;
    return prof__no_reader(path);
}

static prof_status prof__follow_make(prof__session *s, const prof_config *config)
{
    (void)s;
    if (prof__mode_counts((uint32_t)config->mode)) return prof__no_reader("mode stats");
    if (config->save || config->save_over || config->save_signal) return prof__no_reader("save");
    return PROF_OK;
}
static int prof__follow_step(prof__session *s) { return (void)s, 0; }
static void prof__follow_free(struct prof__follow *f) { (void)f; }
static prof_status prof__save_arm(const prof__session *s) { return (void)s, PROF_OK; }
static void prof__save_disarm(void) {}
static PROF__UNUSED void prof__saved_with(prof_status (*hook)(void)) { (void)hook; }

static const struct prof__upstairs prof__upstairs = {
    prof__live_write, NULL,           NULL,              prof__follow_make, prof__follow_step, prof__follow_free,
    prof__save_arm,   prof__follow_step, prof__save_disarm, NULL,           NULL,              NULL,
    NULL,
};

/* Of a function with a result, which is made null. */
#define PROF__NO_RESULT(result, what) ((result) ? (void)(*(result) = NULL) : (void)0, prof__no_reader(what))

PROF_DEF prof_status prof_trace_open(const char *path, prof_trace **trace)
{
    return PROF__NO_RESULT(trace, path ? path : "prof_trace_open");
}
PROF_DEF prof_status prof_trace_memory(const void *image, size_t size, prof_trace **trace)
{
    (void)image, (void)size;
    return PROF__NO_RESULT(trace, "prof_trace_memory");
}
PROF_DEF prof_status prof_trace_live(prof_trace **trace) { return PROF__NO_RESULT(trace, "prof_trace_live"); }
PROF_DEF prof_status prof_trace_write(const prof_trace *trace, const char *path, const char *extension)
{
    (void)trace, (void)path, (void)extension;
    return prof__no_reader("prof_trace_write");
}
PROF_DEF void prof_trace_close(prof_trace *trace) { (void)trace; }
PROF_DEF void prof_trace_watch(prof_trace *trace, void (*step)(void *user, double share), void *user)
{
    (void)trace, (void)step, (void)user;
}
PROF_DEF size_t prof_trace_align(const prof_trace *const *traces, size_t count, int64_t *offsets)
{
    (void)traces;
    for (size_t i = 0; i < count; ++i) offsets[i] = 0;
    return 0;
}
PROF_DEF prof_status prof_trace_window(prof_trace *trace, int64_t from_ns, int64_t to_ns)
{
    (void)trace, (void)from_ns, (void)to_ns;
    return prof__no_reader("prof_trace_window");
}
PROF_DEF const prof_trace_info *prof_trace_about(const prof_trace *trace)
{
    (void)trace;
    return NULL;
}
PROF_DEF size_t prof_trace_track_count(const prof_trace *trace) { return (void)trace, (size_t)0; }
PROF_DEF const prof_track *prof_trace_track(const prof_trace *trace, size_t index)
{
    (void)trace, (void)index;
    return NULL;
}
PROF_DEF int prof_trace_metadata(const prof_trace *trace, size_t index, const char **key, const char **value)
{
    (void)trace, (void)index, (void)key, (void)value;
    return 0;
}

PROF_DEF prof_status prof_image_find(const void *bytes, size_t size, uint64_t *image_size)
{
    (void)bytes, (void)size, (void)image_size;
    return prof__no_reader("prof_image_find");
}
PROF_DEF prof_status prof_image_shorten(void *bytes, uint64_t left, uint64_t *image_size)
{
    (void)bytes, (void)left, (void)image_size;
    return prof__no_reader("prof_image_shorten");
}
PROF_DEF prof_status prof_image_window(void *bytes, size_t size, int64_t from_ns, int64_t to_ns)
{
    (void)bytes, (void)size, (void)from_ns, (void)to_ns;
    return prof__no_reader("prof_image_window");
}
PROF_DEF prof_status prof_image_copy(const char *from, const char *to, int64_t from_ns, int64_t to_ns)
{
    (void)from, (void)to, (void)from_ns, (void)to_ns;
    return prof__no_reader("prof_image_copy");
}

PROF_DEF prof_status prof_cursor_open(const prof_trace *trace, size_t track, prof_cursor **cursor)
{
    (void)trace, (void)track;
    return PROF__NO_RESULT(cursor, "prof_cursor_open");
}
PROF_DEF int prof_cursor_next(prof_cursor *cursor, prof_event *event) { return (void)cursor, (void)event, 0; }
PROF_DEF void prof_cursor_close(prof_cursor *cursor) { (void)cursor; }
PROF_DEF prof_status prof_timeline_open(const prof_trace *trace, prof_timeline **timeline)
{
    (void)trace;
    return PROF__NO_RESULT(timeline, "prof_timeline_open");
}
PROF_DEF int prof_timeline_next(prof_timeline *timeline, prof_event *event, size_t *track)
{
    (void)timeline, (void)event, (void)track;
    return 0;
}
PROF_DEF prof_status prof_timeline_close(prof_timeline *timeline) { return (void)timeline, PROF_OK; }
PROF_DEF prof_status prof_spans_open(const prof_trace *trace, prof_spans **spans)
{
    (void)trace;
    return PROF__NO_RESULT(spans, "prof_spans_open");
}
PROF_DEF int prof_spans_next(prof_spans *spans, prof_span *span) { return (void)spans, (void)span, 0; }
PROF_DEF prof_status prof_spans_close(prof_spans *spans) { return (void)spans, PROF_OK; }

PROF_DEF prof_status prof_stats(const prof_trace *trace, prof_sort sort, int ascending, prof_stat **stats,
                                size_t *count)
{
    (void)trace, (void)sort, (void)ascending, (void)count;
    return PROF__NO_RESULT(stats, "prof_stats");
}
PROF_DEF prof_status prof_span_stats(const prof_trace *trace, prof_sort sort, int ascending, prof_stat **stats,
                                     size_t *count)
{
    (void)trace, (void)sort, (void)ascending, (void)count;
    return PROF__NO_RESULT(stats, "prof_span_stats");
}
PROF_DEF prof_status prof_stats_by_path(const prof_trace *trace, prof_sort sort, int ascending, prof_stat **stats,
                                        size_t *count)
{
    (void)trace, (void)sort, (void)ascending, (void)count;
    return PROF__NO_RESULT(stats, "prof_stats_by_path");
}
PROF_DEF void prof_stats_free(prof_stat *stats) { (void)stats; }
PROF_DEF prof_status prof_memory(const prof_trace *trace, prof_memory_stats **stats)
{
    (void)trace;
    return PROF__NO_RESULT(stats, "prof_memory");
}
PROF_DEF void prof_memory_free(prof_memory_stats *stats) { (void)stats; }
PROF_DEF prof_status prof_locks(const prof_trace *trace, int by_address, prof_lock_row **rows, size_t *count)
{
    (void)trace, (void)by_address, (void)count;
    return PROF__NO_RESULT(rows, "prof_locks");
}
PROF_DEF void prof_locks_free(prof_lock_row *rows) { (void)rows; }

PROF_DEF prof_status prof_summary_write(const prof_trace *trace, const char *path, const prof_summary_options *options)
{
    (void)trace, (void)path, (void)options;
    return prof__no_reader("prof_summary_write");
}
PROF_DEF prof_status prof_summary_stream(const prof_trace *trace, prof_sink sink, const prof_summary_options *options)
{
    (void)trace, (void)sink, (void)options;
    return prof__no_reader("prof_summary_stream");
}
PROF_DEF prof_status prof_csv_write(const prof_trace *trace, const char *path)
{
    (void)trace, (void)path;
    return prof__no_reader("prof_csv_write");
}
PROF_DEF prof_status prof_csv_stream(const prof_trace *trace, prof_sink sink)
{
    (void)trace, (void)sink;
    return prof__no_reader("prof_csv_stream");
}
PROF_DEF prof_status prof_save_last(const char *path, double seconds)
{
    (void)path, (void)seconds;
    return prof__no_reader("prof_save_last");
}
PROF_DEF prof_status prof_save_request(void) { return prof__no_reader("prof_save_request"); }
#else
/*-- UPSTAIRS -------------------------------------------------------------------------------------------------------*/

/* Their definitions need types of the rooms that they are in. */
static prof_status prof__live_write(const char *path, prof_status (*write)(const prof_trace *, const char *));
static prof_status prof__summary_default(const prof_trace *trace, const char *path);
static prof_status prof__follow_make(prof__session *s, const prof_config *config);
static int prof__follow_step(prof__session *s);
static void prof__follow_free(struct prof__follow *f);
static prof_status prof__save_arm(const prof__session *s);
static int prof__save_step(prof__session *s);
static void prof__save_disarm(void);
static prof_status prof__folded_take(struct prof__folded *folded, int reset);
static prof_status prof__folded_give(struct prof__folded *folded, prof_trace *trace);
static void prof__folded_free(struct prof__folded *folded);
static void prof__folded_figures_free(struct prof__figure *figures, size_t count);

static const struct prof__upstairs prof__upstairs = {
    prof__live_write,  prof_csv_write,     prof__summary_default, prof__follow_make, prof__follow_step,
    prof__follow_free, prof__save_arm,     prof__save_step,       prof__save_disarm, prof__folded_take,
    prof__folded_give, prof__folded_free,  prof__folded_figures_free,
};
#endif
#endif /* PROF_FREESTANDING */

/*-- MEMORY ----------------------------------------------------------------------------------------------- >>memory --
   Where an image lives. No store ever finds the disk full: a file's blocks and pages are reserved ahead of the writers,
   see prof__chunks_ready(), or all of them here where the system cannot do that. */

#define PROF__MIN_IMAGE (16u << 10)
#define PROF__MIN_BUFFER (128u << 10)
#define PROF__DEFAULT_BUFFER (16u << 20)
#define PROF__DEFAULT_LEVEL 2
static int prof__level_of(const prof_config *config)
{
    return !config->level ? PROF__DEFAULT_LEVEL : config->level < 0 ? 0 : config->level;
}
#define PROF__MAX_WAIT 10000000000u
#define PROF__MIN_PERIOD 10000000u
#define PROF__MAX_PERIOD 864000000000000u /* of text: ten days; more is a number of nanoseconds by mistake */
#define PROF__NO_DUMP UINT64_MAX
#define PROF__NO_WAIT UINT64_MAX

static uint64_t prof__round(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

/* Where the chunks begin in an image of size bytes; how large meta is, and how many slots its index has. */
static uint64_t prof__layout_head(uint64_t size, uint64_t *meta, uint64_t *index)
{
    *meta = prof__round(size / 16, 4096);
    if (*meta > 8u << 20) *meta = 8u << 20;
    if (*meta * 4 > size) *meta = size / 4 / 64 * 64;
    for (*index = 64; *index * 8 < *meta;) *index *= 2;
    return prof__round(prof__round(sizeof(prof__header), 64) + *meta + *index * 4, 64);
}

static void prof__text_copy(char *to, size_t size, const char *from)
{
    size_t i = 0;
    for (; from[i] && i + 1 < size; ++i) to[i] = from[i];
    to[i] = 0;
}

#ifndef PROF_FREESTANDING
/* Appends from to the text in to; 0: it does not fit. */
static int prof__text_add(char *to, size_t size, const char *from)
{
    size_t at = prof__length(to), length = prof__length(from);
    if (at + length + 1 > size) return 0;
    prof__copy(to + at, from, length + 1);
    return 1;
}

static void prof__number_text(char to[24], uint64_t number)
{
    char digits[24];
    size_t n = 0, i = 0;
    do digits[n++] = (char)('0' + number % 10);
    while (number /= 10);
    while (n) to[i++] = digits[--n];
    to[i] = 0;
}
#endif

#ifdef PROF_FREESTANDING
static prof_status prof__memory_take(prof__session *s, size_t size)
{
    (void)s;
    (void)size;
    return prof__fail(PROF_INVALID_ARGUMENT, "freestanding: give config.memory and config.memory_size");
}
static prof_status prof__memory_publish(prof__session *s)
{
    (void)s;
    return PROF_OK;
}
static void prof__memory_retire(prof__session *s) { (void)s; }
#elif defined(_WIN32)
static prof_status prof__memory_take(prof__session *s, size_t size)
{
    if (s->live_path) {
        DeleteFileA(s->live_path); /* a process that still maps the old file keeps it */
        HANDLE file = CreateFileA(s->live_path, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL,
                                  CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, NULL);
        if (file == INVALID_HANDLE_VALUE)
            return prof__fail(PROF_IO, "%s: cannot be created (error %lu)", s->live_path, GetLastError());
        HANDLE map = CreateFileMappingA(file, NULL, PAGE_READWRITE, (DWORD)((uint64_t)size >> 32), (DWORD)size, NULL);
        if (map) s->mapping = MapViewOfFile(map, FILE_MAP_ALL_ACCESS, 0, 0, size);
        DWORD error = GetLastError();
        if (map) CloseHandle(map);
        CloseHandle(file);
        if (!s->mapping) return prof__fail(PROF_IO, "%s: cannot be mapped (error %lu)", s->live_path, error);
    } else {
        s->mapping = VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
        if (!s->mapping)
            return prof__fail(PROF_NO_MEMORY, "no memory for a buffer of %llu bytes", (unsigned long long)size);
    }
    s->mapping_size = size;
    s->ready_chunks = PROF__ALL_READY;
    for (size_t i = 0; i < size; i += 4096) ((volatile char *)s->mapping)[i] = 0;
    return PROF_OK;
}
static void prof__memory_free(prof__session *s)
{
    if (!s->mapping) return;
    if (s->live_path)
        UnmapViewOfFile(s->mapping);
    else
        VirtualFree(s->mapping, 0, MEM_RELEASE);
}
static prof_status prof__memory_publish(prof__session *s)
{
    (void)s;
    return PROF_OK;
}
static void prof__memory_retire(prof__session *s) { (void)s; }
#else
/* Takes the lock that says that a process records into a file; 1: another process has it. It goes with the last
   descriptor, so with the process: programs that it executes inherit none, and children of fork() close theirs. On a
   file system without locks nobody has it. */
static int prof__file_lock(int file)
{
    int failed;
    do failed = flock(file, LOCK_EX | LOCK_NB);
    while (failed && errno == EINTR);
    return failed && errno == EWOULDBLOCK;
}

/* Keeps the descriptor of the mapped file, and with it the lock. */
static void prof__file_keep(prof__session *s, int file)
{
    struct stat about;
    int high = fcntl(file, F_DUPFD_CLOEXEC, 200); /* a high number is not soon given to another file once it is closed */
    s->stream.file = high < 0 ? file : high;
    s->stream.opened = 1;
    if (high >= 0) close(file);
    if (s->stream.inode || fstat(s->stream.file, &about)) return;
    s->stream.device = (uint64_t)about.st_dev;
    s->stream.inode = (uint64_t)about.st_ino;
}

/* Makes the file size bytes large and reserves all its blocks. *sparse becomes 1 where the file system cannot do that. 0
   or errno. */
static int prof__file_reserve(int file, size_t size, int *sparse)
{
    prof__signals signals;
    prof__signals_block(&signals); /* it fails for any signal that comes, as one of a profiler's timer always does */
    int error = posix_fallocate(file, 0, (off_t)size);
    prof__signals_restore(&signals);
    *sparse = error == EOPNOTSUPP || error == EINVAL;
    if (*sparse) error = ftruncate(file, (off_t)size) ? errno : 0;
    return error;
}

/* A file beside the output, which may be in memory as well, must not take the room that the output needs. */
static int prof__file_fits(const prof__session *s, int file, size_t size)
{
    struct statvfs about;
    return !s->beside || (!fstatvfs(file, &about) && (uint64_t)about.f_bavail * about.f_frsize / 4 >= size);
}

/* Makes the file size bytes large, and maps it; or memory, where file is -1. Blocks and pages are taken ahead of the
   writers, if the system can do that: else *at is null. 0 or errno. */
static int prof__map_ahead(prof__session *s, int file, size_t size, void **at)
{
    *at = NULL;
#ifdef __linux__
    uint64_t meta, index, head = prof__layout_head(size, &meta, &index) + PROF__BLOCKS_PIECE * PROF_CHUNK_SIZE;
    size_t begin = s->whole || head > size ? size : (size_t)head;
    if (file >= 0 && ftruncate(file, (off_t)size)) return errno;
    int error = file < 0 ? 0 : prof__blocks_reserve(file, 0, begin);
    if (error && error != EOPNOTSUPP) return error;
    void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, file, 0);
    if (map == MAP_FAILED) return errno;
    *at = map;
    if (!prof__populate(map, error ? begin : 65536)) { /* size is more; pages take the blocks as well */
        s->ready_chunks = s->claimed_chunks = 0;
        return 0;
    }
    if (error) error = errno == EFAULT ? ENOSPC : 0; /* or there is no such call here */
    munmap(map, size);
    *at = NULL;
    return error;
#else
    (void)s, (void)file, (void)size;
    return 0;
#endif
}

/* The same with all blocks and pages at once. */
static int prof__map_whole(prof__session *s, int file, size_t size, void **at)
{
    int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, sparse = 0;
    int error = file < 0 ? 0 : prof__file_reserve(file, size, &sparse);
    if (error || (sparse && s->beside)) return error ? error : EOPNOTSUPP;
#ifdef MAP_POPULATE
    flags |= MAP_POPULATE;
#endif
    void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, file, 0);
    if (map == MAP_FAILED) return errno;
    *at = map;
    s->ready_chunks = PROF__ALL_READY;
    for (size_t i = 0; i < size; i += 4096) ((volatile char *)map)[i] = 0;
    return 0;
}

/* "/proc/self/fd/3" */
static void prof__file_link_name(int file, char *to) /* 32 bytes */
{
    char number[24];
    prof__number_text(number, (uint64_t)file);
    prof__text_copy(to, 32, "/proc/self/fd/");
    prof__text_add(to, 32, number);
}

/* A file in the folder of live_path that has no name yet, and is gone if the process is killed before it gets one; where
   there are no such files, one that is called part_path. -1: errno. */
static int prof__file_make(prof__session *s)
{
    s->unnamed = 0;
#if defined(O_TMPFILE) && defined(__linux__)
    char path[sizeof s->stream.path], *end = path;
    prof__text_copy(path, sizeof path, s->live_path);
    for (char *c = path; *c; ++c)
        if (*c == '/') end = c + 1;
    prof__text_copy(end, 2, ".");
    int file = open(path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    if (file >= 0) {
        prof__file_link_name(file, path);
        s->unnamed = !access(path, F_OK); /* there may be no /proc */
        if (s->unnamed) return file;
        close(file);
    }
#endif
    return open(s->part_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/* Calls the file part_path, if it has no name yet. 0 or errno. */
static int prof__file_name(prof__session *s)
{
    char path[32];
    if (!s->unnamed) return 0;
    prof__file_link_name(s->stream.file, path);
    if (linkat(AT_FDCWD, path, AT_FDCWD, s->part_path, AT_SYMLINK_FOLLOW)) return errno;
    s->unnamed = 0;
    return 0;
}

/* Takes the memory; the system's error, or 0. Async-signal-safe: a child of a fork may come here from a handler. A file
   is under another name until all is well, and a process that still records into an older one keeps that. */
static int prof__memory_map(prof__session *s, size_t size)
{
    int file = -1, error = 0;
    void *at = NULL;
    if (s->live_path) {
        char number[24];
        prof__number_text(number, prof__process_id());
        s->part_path[0] = 0;
        prof__text_add(s->part_path, sizeof s->part_path, s->live_path);
        prof__text_add(s->part_path, sizeof s->part_path, ".");
        prof__text_add(s->part_path, sizeof s->part_path, number);
        prof__text_add(s->part_path, sizeof s->part_path, ".part");
        unlink(s->part_path);
        file = prof__file_make(s);
        if (file < 0) return errno;
        prof__file_lock(file);
        if (!prof__file_fits(s, file, size)) error = ENOSPC;
    }
    if (!error) error = prof__map_ahead(s, file, size, &at);
    if (!error && !at) error = prof__map_whole(s, file, size, &at);
    if (error) {
        if (file >= 0) close(file);
        return error;
    }
    if (file >= 0) prof__file_keep(s, file);
    s->mapping = at;
    s->mapping_size = size;
#ifdef MADV_WIPEONFORK
    if (file < 0) madvise(at, size, MADV_WIPEONFORK); /* no copy for a child, and no page faults in the parent for it */
#endif
    return 0;
}

/* Goes on without a file beside the output, which could not be had; a mapping that there is is as good without. */
static void prof__file_forget(prof__session *s, int error)
{
    if (s->part_path[0]) unlink(s->part_path);
    s->part_path[0] = 0;
    s->live_path = NULL;
    s->beside_error = error;
}

/* The same, in memory if a file beside the output cannot be had. */
static int prof__memory_get(prof__session *s, size_t size)
{
    int error = prof__memory_map(s, size);
    if (!error || !s->beside || !s->live_path) return error;
    prof__file_forget(s, error);
    return prof__memory_map(s, size);
}

/* A disk that has no room for the file is not filled to find that out. */
static int prof__disk_has(const char *path, uint64_t size)
{
    char folder[1024];
    struct statvfs disk;
    if (!prof__folder_of(path, folder, sizeof folder)) return 1;
    if (statvfs(folder, &disk) || !disk.f_frsize || !disk.f_blocks) return 1; /* not known */
    return (uint64_t)disk.f_bavail >= size / disk.f_frsize;
}

static prof_status prof__memory_take(prof__session *s, size_t size)
{
    struct stat about;
    if (s->live_path && !s->beside && !stat(s->live_path, &about) && !S_ISREG(about.st_mode))
        return prof__fail(PROF_IO, "%s: not a regular file", s->live_path);
    if (s->live_path && !s->beside && !prof__disk_has(s->live_path, size))
        return prof__fail(PROF_IO, "%s: the disk has no room for %llu bytes: choose a smaller buffer, or another disk",
                          s->live_path, (unsigned long long)size);
    int error = prof__memory_get(s, size);
    if (!error) return PROF_OK;
    if (!s->live_path)
        return prof__fail(PROF_NO_MEMORY, "a buffer of %llu bytes: %s", (unsigned long long)size, strerror(error));
    return prof__fail(PROF_IO, "%s: %llu bytes: %s", s->live_path, (unsigned long long)size, strerror(error));
}
static void prof__memory_free(prof__session *s)
{
    if (s->mapping) munmap(s->mapping, s->mapping_size);
    if (s->part_path[0]) unlink(s->part_path);
}
static int prof__name_publish(prof__session *s);
static prof_status prof__memory_publish(prof__session *s)
{
    int error = s->live_path ? prof__name_publish(s) : 0;
    if (error && s->beside) {
        prof__file_forget(s, error);
        return PROF_OK;
    }
    return error ? prof__fail(PROF_IO, "%s: cannot be renamed to %s: %s", s->part_path, s->live_path, strerror(error))
                 : PROF_OK;
}
/* Some thread may be in the middle of a write: put empty pages where the image was, until it has moved on. */
static void prof__memory_retire(prof__session *s)
{
    if (s->mapping)
        mmap(s->mapping, s->mapping_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}
#endif

/* Divides size bytes at memory, all zero, into header, meta, index and chunks. */
static prof_status prof__layout(prof__session *s, void *memory, uint64_t size)
{
    uint64_t meta, index, chunks_at = prof__layout_head(size, &meta, &index);
    uint64_t start = prof__round(sizeof(prof__header), 64), chunk = PROF_CHUNK_SIZE;
    while (chunk > 1024 && (size - chunks_at) / chunk < 8) chunk /= 2;
    if (chunks_at + 4 * chunk > size) return prof__fail(PROF_INVALID_ARGUMENT, "the buffer is too small");
    prof__header *h = (prof__header *)memory;
    s->header = h;
    s->meta = (uint64_t *)(void *)((char *)memory + start);
    s->index = (uint32_t *)(void *)((char *)memory + start + meta);
    s->chunks = (char *)memory + chunks_at;
    s->meta_words = meta / 8;
    s->index_mask = (uint32_t)index - 1;
    s->chunk_size = (uint32_t)chunk;
    s->chunk_words = (chunk - sizeof(prof__chunk)) / 8;
    s->chunk_count = (size - chunks_at) / chunk;
    s->image_size = (size_t)(chunks_at + s->chunk_count * chunk);
    h->version = PROF__IMAGE_VERSION;
    h->byte_order = PROF__BYTE_ORDER;
    h->header_size = sizeof *h;
    h->word_size = sizeof(void *);
    h->image_size = s->image_size;
    h->meta_offset = start;
    h->meta_size = meta;
    h->index_offset = start + meta;
    h->index_size = index * 4;
    h->chunk_offset = chunks_at;
    h->chunk_count = s->chunk_count;
    h->chunk_size = s->chunk_size;
    h->chunk_header_size = sizeof(prof__chunk);
    if (!s->mapping) s->ready_chunks = PROF__ALL_READY;
    s->free_chunks = (uint32_t)s->chunk_count - 1;
    s->spare_chunk = 1;
    return PROF_OK;
}

/*-- SESSION -------------------------------------------------------------------------------------------- >>session --*/

#ifndef PROF_FREESTANDING
static prof_status prof__service_start(prof__session *s);
static void prof__service_stop(prof__session *s);
static void prof__stream_close(prof__session *s);
static prof_status prof__file_finish(prof__session *s, prof_status status);
static prof_status prof__service_configure(prof__session *s, const prof_config *config);
#endif
#if defined(PROF_FREESTANDING) || defined(_WIN32)
static prof_status prof__crash_prepare(prof__session *s)
{
    (void)s;
    return prof__fail(PROF_UNSUPPORTED, "crash_report: this platform has no POSIX signals");
}
static void prof__crash_install(prof__session *s) { (void)s; }
static void prof__crash_remove(void) {}
#else
static prof_status prof__crash_prepare(prof__session *s);
static void prof__crash_install(prof__session *s);
static void prof__crash_remove(void);
static void prof__crash_forget(void);
#endif

/* The service ends a session under the state lock alone: who holds the control lock must ask here, too. */
enum { PROF__ENDED = 1, PROF__RUNS };
static int prof__session_phase(void)
{
    uint32_t gate = prof__state_lock();
    int phase = prof__state.running ? PROF__RUNS : prof__state.ended ? PROF__ENDED : 0;
    prof__state_unlock(gate);
    return phase;
}

/* Ordinary code that finds its thread busy, while no session runs: a handler that interrupted a macro has left by
   siglongjmp. What the macro was doing is given up, and the chunk with it. */
static void prof__heal(void)
{
    prof__thread *self = PROF__SELF();
    if (self->gate != PROF__BUSY || self->exits >= PROF__EXITS) return;
    self->fiber = NULL; /* switches were ignored meanwhile: it may be gone, or on another thread */
    prof__track_of(self)->owed = 0;
    if (self->filled) PROF__RELEASE(&self->filled->state, (uint32_t)PROF__CHUNK_FULL);
    if (self->chunk) PROF__RELEASE(&self->chunk->state, (uint32_t)PROF__CHUNK_FULL);
    prof__detach(self);
    self->seen = 0;
    self->open = PROF__SHUT;
    prof__leave(self);
}

#ifdef PROF_FREESTANDING
/* One image at a time, in the user's memory; there is nothing to allocate a second session from. */
static prof__session prof__only_session;
static prof__session *prof__session_new(void)
{
    prof__clear(&prof__only_session, sizeof prof__only_session / 8 * 8);
    return &prof__only_session;
}
static void prof__session_delete(prof__session *s) { (void)s; }
#else
static prof__session *prof__session_new(void) { return (prof__session *)calloc(1, sizeof(prof__session)); }
static void prof__session_delete(prof__session *s)
{
    prof__stream_close(s);
    prof__memory_free(s);
    prof__upstairs.follow_free(s->follow);
    free(s);
}
#endif

/* Deletes the sessions that no thread points to any more, and retires the present one. Under the control lock. */
static void prof__sessions_reap(int present)
{
    uint32_t gate = prof__state_lock();
    prof__thread *self = PROF__SELF();
    prof__session *s = prof__state.session;
    int retire = present && s && !s->readers;
    if (present && s) {
        if (self->session == s) prof__detach(self);
        prof__state.session = NULL;
        s->next = prof__state.retired;
        prof__state.retired = s;
    }
    prof__session *dead = NULL, **link = &prof__state.retired;
    while (*link) {
        prof__session *each = *link;
        if (__atomic_load_n(&each->attached, __ATOMIC_ACQUIRE)) {
            link = &each->next;
        } else {
            *link = each->next;
            each->next = dead;
            dead = each;
        }
    }
    prof__state_unlock(gate);
    if (retire && prof__state.retired == s) prof__memory_retire(s);
    while (dead) {
        prof__session *next = dead->next;
        prof__session_delete(dead);
        dead = next;
    }
}

#ifndef PROF_FREESTANDING
static prof_status prof__inherited_end(void);
static const char *prof__environment(const char *name)
{
#if defined(PROF__LATE) && defined(__GLIBC__)
    return prof__libc_secure_getenv(name);
#elif defined(__GLIBC__) && defined(_GNU_SOURCE)
    return secure_getenv(name); /* a set-user-id program writes no files for its caller */
#else
    return getenv(name);
#endif
}

static void prof__program_name(char *name, size_t size)
{
    char path[1024];
    long n = 0;
#ifdef _WIN32
    n = (long)GetModuleFileNameA(NULL, path, sizeof path - 1);
#elif defined(__linux__)
    n = (long)readlink("/proc/self/exe", path, sizeof path - 1);
#endif
    path[n > 0 ? n : 0] = 0;
    const char *base = path;
    for (const char *c = path; *c; ++c)
        if (*c == '/' || *c == '\\') base = c + 1;
    prof__text_copy(name, size, *base ? base : "program");
}

static void prof__boot_id(char *text, size_t size)
{
    text[0] = 0;
#ifdef __linux__
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        ssize_t n = read(file, text, size - 1);
        text[n > 0 ? n : 0] = 0;
        close(file);
    }
    for (char *c = text; *c; ++c)
        if (*c == '\n') *c = 0;
#else
    (void)size;
#endif
}

/* A pair of now in the ticks of another process's image, if it was recorded on this machine since its last start. */
static PROF__UNUSED int prof__pair_now(uint32_t clock, const char *boot_id, prof__pair *out)
{
    char here[40];
    prof__boot_id(here, sizeof here);
    if (!here[0] || !prof__equal(here, boot_id)) return 0;
    if (clock != PROF_CLOCK_MONOTONIC && !prof__counter_usable()) return 0;
    prof__pair_take_well(clock, 0, out);
    return 1;
}

/*-- names of outputs --*/

/* What launchers put into the environment of the processes that they start, and how many these are. */
static const struct {
    const char *rank, *count;
} prof__launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, /* Open MPI */
    {"PMIX_RANK", NULL},                              /* PMIx */
    {"PMI_RANK", "PMI_SIZE"},                         /* MPICH, Intel MPI, Cray */
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},   /* MVAPICH */
    {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"},           /* Intel MPI, on one machine */
    {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE"},     /* IBM jsrun */
    {"FLUX_TASK_RANK", "FLUX_JOB_SIZE"},              /* Flux */
    {"PALS_RANKID", NULL},                            /* HPE Cray PALS */
    {"RANK", "WORLD_SIZE"},                           /* torchrun, and who follows it */
    {"SLURM_PROCID", "SLURM_NTASKS"},                 /* Slurm; last: a batch script has it, too, around an mpirun */
};

static int prof__is_number(const char *text)
{
    size_t length = 0;
    for (; text && text[length] >= '0' && text[length] <= '9'; ++length) {
    }
    return length && length < 20 && !text[length];
}

/* Finds the rank. *several: it is said that there are other processes like this one, which write files, too. */
static prof_status prof__rank_find(const char *given, int *several)
{
    *several = given != NULL;
    prof__rank[0] = 0;
    if (given) {
        size_t length = prof__length(given), bad = !length || length >= sizeof prof__rank;
        for (size_t i = 0; i < length; ++i) bad |= given[i] == '/' || given[i] == '\\' || (unsigned char)given[i] < 32;
        if (bad) return prof__fail(PROF_INVALID_ARGUMENT, "rank '%.80s': up to 63 bytes, no / or \\", given);
        prof__text_copy(prof__rank, sizeof prof__rank, given);
        return PROF_OK;
    }
    for (size_t i = 0; i < sizeof prof__launchers / sizeof *prof__launchers; ++i) {
        const char *rank = prof__environment(prof__launchers[i].rank);
        if (!prof__is_number(rank)) continue;
        const char *count = prof__launchers[i].count ? prof__environment(prof__launchers[i].count) : NULL;
        prof__text_copy(prof__rank, sizeof prof__rank, rank);
        *several = !prof__equal(rank, "0") || (prof__is_number(count) && !prof__equal(count, "1"));
        return PROF_OK;
    }
    return PROF_OK;
}

static void prof__host_name(char *name, size_t size)
{
#ifdef _WIN32
    DWORD n = (DWORD)size;
    if (!GetComputerNameA(name, &n)) name[0] = 0;
#else
    if (gethostname(name, size)) name[0] = 0;
    name[size - 1] = 0;
#endif
    if (!name[0]) prof__text_copy(name, size, "host");
    for (char *c = name; *c; ++c)
        if (*c == '/' || *c == '\\') *c = '_';
}

/* 1: the pattern has one of these letters behind a percent sign. */
static int prof__pattern_has(const char *pattern, const char *letters)
{
    for (const char *c = pattern; *c; ++c) {
        if (*c != '%') continue;
        if (!*++c) return 0;
        if (strchr(letters, *c)) return 1;
    }
    return 0;
}

/* What a message shows of a path: its end, where it is long. */
static PROF__UNUSED const char *prof__path_end(const char *path)
{
    size_t length = prof__length(path);
    return path + (length > 100 ? length - 100 : 0);
}

static const char *prof__extension(const char *path);

/* path with ".text" in front of its extension. 0: too long. */
static int prof__path_with(const char *path, const char *text, char *to, size_t size)
{
    const char *extension = prof__extension(path);
    size_t base = prof__length(path) - prof__length(extension);
    if (base >= size) return 0;
    prof__text_copy(to, base + 1, path);
    return prof__text_add(to, size, ".") && prof__text_add(to, size, text) && prof__text_add(to, size, extension);
}

/* Takes a name by an empty file, if there is none of that name: 0, EEXIST, or what else is wrong. Async-signal-safe. */
static int prof__path_claim(const char *path)
{
#ifdef _WIN32
    HANDLE file = CreateFileA(path, GENERIC_WRITE, 0, NULL, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);
    if (file == INVALID_HANDLE_VALUE) return GetLastError() == ERROR_FILE_EXISTS ? EEXIST : EIO;
    CloseHandle(file);
#else
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) return errno;
    close(file);
#endif
    return 0;
}

/* Makes path the next of trace.json, trace.2.json, trace.3.json, ...: first is the first, i the number. 0: too long. */
static int prof__path_numbered(const char *first, uint64_t i, char *path, size_t size)
{
    char number[24];
    prof__number_text(number, i);
    return prof__path_with(first, number, path, size);
}

/* Takes the first free one of them by an empty file, and makes it path. 0, or errno. */
static int prof__path_number(char *path, size_t size)
{
    char first[1024];
    int error = prof__path_claim(path);
    if (error != EEXIST) return error;
    prof__text_copy(first, sizeof first, path);
    for (uint64_t i = 2; i < 1000000 && error == EEXIST; ++i)
        error = prof__path_numbered(first, i, path, size) ? prof__path_claim(path) : ENAMETOOLONG;
    return error;
}

/* A file that was taken and never written goes again, and a mapped one of a start that failed. */
static void prof__path_unclaim(prof__session *s)
{
    FILE *file = s->claimed ? fopen(s->output, "rb") : NULL;
    int empty = file && fgetc(file) == EOF;
    if (file) fclose(file);
    if (empty) remove(s->output);
    if (s->taken && s->part_path[0]) remove(s->live_path);
    s->claimed = s->taken = 0;
}

/*-- which outputs are this process's --*/

/* Hashes of the outputs that this process has written. Those beyond are replaced by a later session of their name. */
static uint32_t prof__outputs[512], prof__output_count;
static uint64_t prof__outputs_since; /* Unix time in seconds of the first session with an output; 0: there was none */

static int prof__output_ours(const char *path)
{
    uint32_t hash = prof__hash(path, prof__length(path)), count = PROF__LOAD(&prof__output_count);
    for (uint32_t i = 0; i < count; ++i)
        if (PROF__LOAD(&prof__outputs[i]) == hash) return 1;
    return 0;
}

static void prof__output_remember(const char *path)
{
    uint32_t count = PROF__LOAD(&prof__output_count);
    if (prof__output_ours(path) || count == sizeof prof__outputs / sizeof *prof__outputs) return;
    PROF__STORE(&prof__outputs[count], prof__hash(path, prof__length(path)));
    PROF__STORE(&prof__output_count, count + 1);
}

/* Something about the start that PROF_OUTPUT says on stderr; "": there is nothing. Under the control lock. */
static char prof__start_note[512];

static PROF__UNUSED void prof__start_note_set(const char *path, const char *words, const char *more)
{
    size_t length = prof__length(path);
    prof__start_note[0] = 0; /* of a long path the end: it has the name */
    prof__text_add(prof__start_note, sizeof prof__start_note, path + (length > 200 ? length - 200 : 0));
    prof__text_add(prof__start_note, sizeof prof__start_note, words);
    length = prof__length(more);
    prof__text_add(prof__start_note, sizeof prof__start_note, more + (length > 200 ? length - 200 : 0));
}

/* Replaces %p %n %t %r %h %% in path, and %c by count, unless that is 0; started: what %t stands for.
   Async-signal-safe. The result is null, or the place in path that is wrong: at a percent sign, which of them is not
   known; elsewhere, the result is too long for size. */
static const char *prof__expand_at(const char *path, const char *started, uint64_t count, char *to, size_t size)
{
    to[0] = 0;
    for (const char *c = path; *c; ++c) {
        char piece[64];
        piece[0] = *c;
        piece[1] = 0;
        if (*c == '%') {
            switch (c[1]) {
            case '%': break;
            case 'p': prof__number_text(piece, prof__process_id()); break;
            case 'n': prof__program_name(piece, sizeof piece); break;
            case 't': prof__text_copy(piece, sizeof piece, started); break;
            case 'r': prof__text_copy(piece, sizeof piece, prof__rank[0] ? prof__rank : "0"); break;
            case 'h': prof__host_name(piece, sizeof piece); break;
            case 'c':
                if (!count) return c;
                prof__number_text(piece, count);
                break;
            default: return c;
            }
            ++c;
        }
        if (!prof__text_add(to, size, piece)) return "";
    }
    return NULL;
}

static void prof__time_text(char to[16])
{
    time_t now = time(NULL);
    struct tm local;
#ifdef _WIN32
    local = *localtime(&now);
#else
    localtime_r(&now, &local);
#endif
    if (!strftime(to, 16, "%Y%m%d-%H%M%S", &local)) to[0] = 0;
}

static prof_status prof__expand_counted(const char *path, uint64_t count, char *to, size_t size)
{
    char started[16];
    prof__time_text(started);
    const char *wrong = prof__expand_at(path, started, count, to, size);
    if (!wrong) return PROF_OK;
    if (*wrong != '%') return prof__fail(PROF_INVALID_ARGUMENT, "path too long: %.80s...", path);
    if (wrong[1] == 'c') return prof__fail(PROF_INVALID_ARGUMENT, "%s: %%c is for prof_config.save only", path);
    return prof__fail(PROF_INVALID_ARGUMENT, "%s: unknown %%%c: known are %%p %%n %%t %%r %%h %%%%", path, wrong[1]);
}

static prof_status prof__expand(const char *path, char *to, size_t size)
{
    return prof__expand_counted(path, 0, to, size);
}

static const char *prof__extension(const char *path)
{
    const char *dot = "";
    for (const char *c = path; *c; ++c) {
        if (*c == '.') dot = c;
        if (*c == '/' || *c == '\\') dot = "";
    }
    return dot;
}

/* Writers of prof_report.h are registered as "layout:NAME", or "layout:NAME/" for a directory. Null: it is another one. */
static const char *prof__writer_layout(const prof_writer *writer)
{
    static const char prefix[] = "layout:";
    const char *name = writer->extension;
    for (size_t i = 0; prefix[i]; ++i, ++name)
        if (*name != prefix[i]) return NULL;
    return name;
}

/* The writer of a layout, into a file or a directory. */
static prof_status prof__layout_find(const char *layout, const char *path,
                                     prof_status (**write)(const prof_trace *, const char *))
{
#ifdef PROF_NO_READER
    return prof__no_reader("layout");
#endif
    char known[160] = "", wanted[32];
    int folder = prof__is_folder(path), exists = 0;
    prof__text_copy(wanted, sizeof wanted - 1, layout);
    if (folder) prof__text_add(wanted, sizeof wanted, "/");
    *write = NULL;
    for (prof_writer *w = PROF__ACQUIRE(&prof__writers); w; w = w->next) {
        const char *name = prof__writer_layout(w);
        if (!name) continue;
        if (prof__equal(name, wanted)) *write = w->write;
        exists |= prof__equal(name, layout);
        if (!*name || name[prof__length(name) - 1] == '/') continue;
        if (known[0]) prof__text_add(known, sizeof known, ", ");
        prof__text_add(known, sizeof known, name);
    }
    if (!*write && !known[0])
        return prof__fail(PROF_INVALID_ARGUMENT, "layout '%.20s': no reports in this program: include prof_report.h in the "
                          "file with PROF_IMPLEMENTATION", layout);
    if (!*write && !exists)
        return prof__fail(PROF_INVALID_ARGUMENT, "layout '%.20s': known are %s", layout, known);
    if (!*write)
        return prof__fail(PROF_INVALID_ARGUMENT, "layout '%.20s': is one file, and %s a directory", layout,
                          prof__path_end(path));
    if (!folder && prof__equal(prof__extension(path), ".prof"))
        return prof__fail(PROF_INVALID_ARGUMENT, "layout '%.20s': %s is the recording itself: give the report another "
                          "extension", layout, prof__path_end(path));
    return PROF_OK;
}

/* The writer of a path's extension, which is "/" for a directory. The image itself (.prof) has none: *writer is null. */
static prof_status prof__writer_find(const char *path, prof_status (**write)(const prof_trace *, const char *))
{
    const char *given = prof__is_folder(path) ? "/" : prof__extension(path);
    char known[128], extension[16]; /* in lower case */
    size_t n = (size_t)snprintf(known, sizeof known, ".prof .csv .txt"), length = 0;
    for (; given[length] && length + 1 < sizeof extension; ++length)
        extension[length] = (char)(given[length] >= 'A' && given[length] <= 'Z' ? given[length] + 32 : given[length]);
    extension[length] = 0;
    *write = NULL;
    if (prof__equal(extension, ".prof")) return PROF_OK;
#ifdef PROF_NO_READER
    return prof__no_reader(prof__path_end(path));
#endif
    if (prof__equal(extension, ".csv")) *write = prof__upstairs.write_csv;
    if (prof__equal(extension, ".txt")) *write = prof__upstairs.write_summary;
    for (prof_writer *w = PROF__ACQUIRE(&prof__writers); w; w = w->next) {
        if (prof__equal(extension, w->extension) || prof__equal(given, w->extension)) *write = w->write;
        if (n < sizeof known && !prof__writer_layout(w))
            n += (size_t)snprintf(known + n, sizeof known - n, " %s", w->extension);
    }
    if (*write) return PROF_OK;
    if (*extension == '/')
        return prof__fail(PROF_IO, "%s: is a directory, and this program has no prof_xplane.h to write into one",
                          prof__path_end(path));
    if (prof__equal(extension, ".json"))
        return prof__fail(PROF_INVALID_ARGUMENT, "%s: no writer for '.json' in this program: include prof_chrome.h in the "
                          "file with PROF_IMPLEMENTATION; known are %s", prof__path_end(path), known);
    if (!*extension)
        return prof__fail(PROF_INVALID_ARGUMENT, "%s: no writer for '': end it in what is to be written, %s; a directory "
                          "ends in /", prof__path_end(path), known);
    return prof__fail(PROF_INVALID_ARGUMENT, "%s: no writer for '%.40s' in this program: known are %s",
                      prof__path_end(path), given, known);
}

/* A file of events has no use for a session without any. write: of the path, null for .prof. */
static prof_status prof__writer_fits(const char *path, prof_status (*write)(const prof_trace *, const char *),
                                     uint32_t mode)
{
    if (mode != PROF_STATS || write == prof__upstairs.write_summary) return PROF_OK;
    for (prof_writer *w = PROF__ACQUIRE(&prof__writers); w; w = w->next)
        if (w->write == write && prof__writer_layout(w) && !prof__equal(prof__writer_layout(w), "cntk-detail"))
            return PROF_OK;
    return prof__fail(PROF_INVALID_ARGUMENT,
                      "%s: mode stats keeps statistics and no events: write a .txt, or use mode ring or stream", path);
}

static prof_status prof__live_fits(const char *path, prof_status (*write)(const prof_trace *, const char *))
{
    uint32_t gate = prof__state_lock();
    uint32_t mode = prof__state.session ? prof__state.session->header->mode : (uint32_t)PROF_RING;
    prof__state_unlock(gate);
    return prof__writer_fits(path, write, mode);
}

/* Finds out at the start what would otherwise be found out at the end, and makes the directories. */
static prof_status prof__output_check(const char *path)
{
    const char *target = path;
    char folder[2048];
#ifndef _WIN32
    prof__path followed;
    int way = prof__path_follow(&followed, path);
    if (way == PROF__PATH_PLANTED) return prof__path_refuse(&followed, path);
    if (way == PROF__PATH_LINK) target = followed.done;
#endif
    if (prof__is_folder(path)) return prof__folder_make(path);
    if (!prof__folder_of(target, folder, sizeof folder))
        return prof__fail(PROF_INVALID_ARGUMENT, "path too long: %.80s...", path);
#ifndef _WIN32
    struct stat about;
    if (!stat(path, &about) && !S_ISREG(about.st_mode))
        return access(path, W_OK) ? prof__fail(PROF_IO, "%s: %s", path, strerror(errno)) : PROF_OK;
#endif
    prof_status status = prof__folder_make(folder);
    if (status) return status;
#ifndef _WIN32
    if (access(folder, W_OK | X_OK)) return prof__fail(PROF_IO, "%s: folder %s: %s", path, folder, strerror(errno));
#endif
    return PROF_OK;
}

/* An image is mapped to the file that a link leads to, and gets that file's name: the link stays. */
static prof_status prof__output_follow(prof__session *s)
{
#ifndef _WIN32
    prof__path followed;
    if (prof__path_follow(&followed, s->output) != PROF__PATH_LINK || !prof__file_replaceable(followed.done)) return PROF_OK;
    if (strlen(followed.done) >= sizeof s->output)
        return prof__fail(PROF_INVALID_ARGUMENT, "%.80s: leads to a path that is too long", s->output);
    prof__text_copy(s->output, sizeof s->output, followed.done);
#else
    (void)s;
#endif
    return PROF_OK;
}

/* Copies a pattern as an absolute one: the program may change its directory before anything is written. It stays as it
   is where the directory has no name, or together they are too long. 0: it is too long by itself. */
static int prof__pattern_absolute(const char *pattern, char *to, size_t size)
{
    size_t at = 0;
    char folder[1024];
#ifdef _WIN32
    DWORD n = GetCurrentDirectoryA(sizeof folder, folder);
    int known = !prof__is_slash(pattern[0]) && !(pattern[0] && pattern[1] == ':') && n && n < sizeof folder;
#else
    int known = pattern[0] != '/' && getcwd(folder, sizeof folder) && folder[0] == '/';
#endif
    if (known) {
        for (const char *c = folder; *c && at + 3 < size; ++c) {
            if (*c == '%') to[at++] = '%';
            to[at++] = *c;
        }
        to[at++] = '/';
    }
    if (at + prof__length(pattern) >= size) at = 0;
    prof__text_copy(to + at, size - at, pattern);
    return prof__length(pattern) < size;
}

/* Expands a pattern into an absolute path, or a relative one if that is all there is room for. */
static prof_status prof__expand_absolute(const char *pattern, char *to, size_t size)
{
    char absolute[1024];
    int fits = prof__pattern_absolute(pattern, absolute, sizeof absolute);
    return fits && !prof__expand(absolute, to, size) ? PROF_OK : prof__expand(pattern, to, size);
}

/* The image that belongs to an output: "trace.json.prof", "logs/1234.prof". */
static void prof__output_beside(const prof__session *s, char *to, size_t size)
{
    char number[24];
    to[0] = 0;
    prof__text_add(to, size, s->output);
    prof__number_text(number, prof__process_id());
    if (prof__is_folder(s->output)) prof__text_add(to, size, number);
    prof__text_add(to, size, ".prof");
}

static int prof__file_is(const char *path) /* 1: there is something of this name */
{
#ifdef _WIN32
    return GetFileAttributesA(path) != INVALID_FILE_ATTRIBUTES;
#else
    struct stat about;
    return !lstat(path, &about);
#endif
}

/* 1: the file at output stays as it is. numbered: output has a number already: with one, what this process or,
   since it began to record, another has written stays; without, only what this process has. */
static int prof__output_stays(const prof__session *s, int numbered)
{
    if (prof__is_folder(s->output) || !prof__file_is(s->output) || s->existing == PROF_EXISTING_REPLACE) return 0;
    if (s->number || s->existing == PROF_EXISTING_REFUSE || prof__output_ours(s->output)) return 1;
#ifndef _WIN32
    struct stat about;
    if (numbered) return lstat(s->output, &about) || (uint64_t)about.st_mtime >= prof__outputs_since;
#endif
    return numbered;
}

/* A session in memory takes its name when it writes; until then, it is the first that is free. 0 or errno. */
static int prof__name_choose(prof__session *s)
{
    char first[sizeof s->output];
    prof__text_copy(first, sizeof first, s->output);
    for (uint64_t i = 2; prof__output_stays(s, i > 2); ++i) {
        s->number = 1;
        if (s->existing == PROF_EXISTING_REFUSE || i == 1000000) return EEXIST;
        if (!prof__path_numbered(first, i, s->output, sizeof s->output)) return ENAMETOOLONG;
    }
    return 0;
}

#ifdef _WIN32
static int prof__name_take(prof__session *s) /* an empty file takes the name of a mapped one */
{
    int error = prof__name_choose(s);
    if (!error && s->number) error = prof__path_number(s->output, sizeof s->output);
    s->claimed = !error && s->number;
    return error;
}
#else
/* Lets go of the file that was to be replaced. */
static void prof__name_drop(prof__session *s)
{
    if (s->old_file) close(s->old_file - 1);
    s->old_file = s->replaces = 0;
}

/* The file at live_path is there: 0: it may be replaced, EEXIST: not, EAGAIN: it is another one by now. */
static int prof__name_replace(prof__session *s, int numbered)
{
    struct stat there, opened;
    int file;
    s->replaces = 1;
    if (s->existing == PROF_EXISTING_REPLACE) return 0;
    if (s->number || s->existing == PROF_EXISTING_REFUSE) return EEXIST;
    file = open(s->live_path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0 && errno == EACCES) file = open(s->live_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file >= 0 && prof__file_lock(file)) {
        close(file);
        prof__start_note_set(s->live_path, " is recorded by another process: this one writes ", "");
        s->number = 1; /* that one may end at any time: its output is not to be replaced, either */
        return EEXIST;
    }
    if (file >= 0) s->old_file = file + 1;
    if (lstat(s->live_path, &there)) return EAGAIN;
    if (file >= 0 && (fstat(file, &opened) || opened.st_dev != there.st_dev || opened.st_ino != there.st_ino))
        return EAGAIN;
    return s->live_path == s->output && prof__output_stays(s, numbered) ? EEXIST : 0;
}

/* Takes the name live_path and, where that is beside it, output. 0 or errno; EEXIST: somebody else has it. */
static int prof__name_try(prof__session *s, int numbered)
{
    int error = EAGAIN;
    for (int i = 0; i < 100 && error == EAGAIN; ++i) {
        prof__name_drop(s);
        error = link(s->part_path, s->live_path) ? errno : 0;
        s->taken = !error;
        if (error && error != EEXIST && !prof__file_is(s->live_path)) { /* a file system without links */
            error = prof__path_claim(s->live_path);
            s->taken = s->replaces = !error;
        } else if (error) {
            error = prof__name_replace(s, numbered);
        }
    }
    if (!error && s->live_path != s->output && prof__output_stays(s, numbered)) error = EEXIST;
    if (error && s->taken) unlink(s->live_path);
    if (error) prof__name_drop(s);
    if (error) s->taken = 0;
    return error;
}

/* Takes the first name that can be had of trace.json, trace.2.json, ... for the image, which is complete, and the
   output. 0 or errno. Async-signal-safe. */
static int prof__name_take(prof__session *s)
{
    char first[sizeof s->stream.path];
    int folder = prof__is_folder(s->output), error = prof__file_name(s);
    if (!error) error = prof__name_try(s, 0);
    prof__text_copy(first, sizeof first, folder ? s->stream.path : s->output);
    for (uint64_t i = 2; error == EEXIST && s->existing != PROF_EXISTING_REFUSE && i < 1000000; ++i) {
        if (!prof__path_numbered(first, i, folder ? s->stream.path : s->output, sizeof s->output)) return ENAMETOOLONG;
        if (!folder && s->live_path != s->output) prof__output_beside(s, s->stream.path, sizeof s->stream.path);
        error = prof__name_try(s, 1);
        if (!error && prof__start_note[0]) prof__text_add(prof__start_note, sizeof prof__start_note, s->output);
    }
    return error;
}

/* Gives the image its name. What a program that was stopped has left beside the output keeps another one. 0 or errno:
   nothing has changed. */
static int prof__name_publish(prof__session *s)
{
    char old[sizeof s->stream.path];
    int error = 0;
    if (s->replaces && !s->taken && s->live_path != s->output &&
        prof__path_with(s->live_path, "old", old, sizeof old) && !rename(s->live_path, old))
        prof__start_note_set(old, " has what was recorded before, until that program was stopped", "");
    if (s->replaces || !s->taken) error = rename(s->part_path, s->live_path) ? errno : 0;
    if (error) return error;
    if (!s->replaces && s->taken) unlink(s->part_path);
    s->part_path[0] = 0;
    if (s->old_file) close(s->old_file - 1);
    s->old_file = 0;
    if (s->live_path == s->output) prof__output_remember(s->output);
    return 0;
}
#endif

/* Settles what the files are called. The image is complete, but on Windows, where it is made under its name. */
static prof_status prof__output_name(prof__session *s)
{
    if (!s->output[0]) return PROF_OK;
    if (!prof__outputs_since) prof__outputs_since = (uint64_t)time(NULL);
    int error = s->live_path ? prof__name_take(s) : prof__name_choose(s);
#ifndef _WIN32
    if (error && error != EEXIST && s->beside && s->live_path) {
        prof__file_forget(s, error);
        error = prof__name_choose(s);
    }
#endif
    if (!error) return PROF_OK;
    if (error == EEXIST) return prof__fail(PROF_IO, "%s: is there already, and existing=refuse", s->output);
    return prof__fail(PROF_IO, "%s: %s", s->output, strerror(error));
}

static prof_status prof__output_writer(const prof__session *s, prof_status (**write)(const prof_trace *, const char *))
{
    return s->layout[0] ? prof__layout_find(s->layout, s->output, write) : prof__writer_find(s->output, write);
}

/* Writes output out of what is recorded. Where the session is in memory, no other file has been taken for it. */
static prof_status prof__output_write(prof__session *s)
{
    prof_status (*write)(const prof_trace *, const char *);
    prof_status status = prof__output_writer(s, &write);
    if (!status && !s->live_path && !s->claimed && (s->number || s->existing == PROF_EXISTING_REFUSE)) {
        int error = s->number ? prof__path_number(s->output, sizeof s->output) : prof__path_claim(s->output);
        if (error) status = prof__fail(PROF_IO, "%s: %s", s->output, strerror(error));
        s->claimed = !error;
    }
    if (!status) status = prof__upstairs.write_live(s->output, write);
    if (!status) prof__output_remember(s->output);
    return status;
}

/* 1: output is, or will be, a file or a directory. */
static int prof__output_is_file(const char *path)
{
#ifdef _WIN32
    (void)path;
    return 1;
#else
    struct stat about;
    return stat(path, &about) || S_ISREG(about.st_mode) || S_ISDIR(about.st_mode);
#endif
}

/* Several recorders of one process, each on its own, may be told to write one file: PROF_OUTPUT is the same for all. The
   one that comes later writes a file of its own, which has the name of its library in front of the extension. */
static int prof__output_apart; /* 1: so it is */
#ifdef PROF__HUBS
static char prof__output_told[1024]; /* an absolute path; see >>copies */

typedef struct prof__output_search {
    const char *path;
    int taken;
    char module[64]; /* that this copy is in */
} prof__output_search;

static int prof__output_visit(const prof__loaded *loaded, size_t size, void *user)
{
    prof__output_search *search = (prof__output_search *)user;
    const prof__hub *hub = prof__hub_of(loaded);
    (void)size;
    if (hub == &prof__hub_here && loaded->name && *loaded->name) {
        const char *slash = strrchr(loaded->name, '/');
        prof__text_copy(search->module, sizeof search->module, slash ? slash + 1 : loaded->name);
    } else if (hub && hub != &prof__hub_here) {
        search->taken |= prof__equal(hub->output, search->path);
    }
    return 0;
}

/* path as other copies have it; cut if it is too long. */
static void prof__output_absolute(const char *path, char *to, size_t size)
{
    to[0] = 0;
    if (path[0] != '/' && getcwd(to, size - 1)) prof__text_add(to, size, "/");
    prof__text_add(to, size, path);
}

/* tagged: room for another pattern. Returns the pattern to use; s->output is what it makes. */
static const char *prof__output_alone(prof__session *s, const char *pattern, char *tagged, size_t size)
{
    char path[sizeof prof__output_told], text[96];
    prof__output_search search;
    struct stat about;
    prof__output_apart = 0;
    if (prof__is_folder(s->output) || (!stat(s->output, &about) && !S_ISREG(about.st_mode))) return pattern;
    prof__program_name(search.module, sizeof search.module);
    search.path = path;
    for (int i = 1; i < 1000; ++i) {
        prof__output_absolute(s->output, path, sizeof path);
        search.taken = 0;
        prof__loaded_each(prof__output_visit, &search);
        if (!search.taken) break;
        search.module[strcspn(search.module, ".%")] = 0;
        snprintf(text, sizeof text, i > 1 ? "%s.%d" : "%s", search.module, i);
        if (!prof__path_with(pattern, text, tagged, size) || prof__expand_absolute(tagged, s->output, sizeof s->output))
            return pattern;
        prof__output_apart = 1;
    }
    prof__text_copy(prof__output_told, sizeof prof__output_told, path);
    return prof__output_apart ? tagged : pattern;
}
#else
static const char *prof__output_alone(prof__session *s, const char *pattern, char *tagged, size_t size)
{
    (void)s, (void)tagged, (void)size;
    return pattern;
}
#endif

static prof_status prof__output_prepare(prof__session *s, const prof_config *config, int several)
{
    prof_status (*write)(const prof_trace *, const char *);
    const char *output = config->output;
    prof_mode mode = config->mode;
    char ranked[sizeof s->pattern], tagged[sizeof s->pattern];
    prof__time_text(s->started);
    if (several && !prof__pattern_has(output, "rp") && !prof__is_folder(output) && /* its writer knows the rank */
        prof__path_with(output, "%r", ranked, sizeof ranked))
        output = ranked;
    prof_status status = prof__expand_absolute(output, s->output, sizeof s->output);
    if (!status && prof__is_folder(s->output) && !prof__is_slash(s->output[prof__length(s->output) - 1]))
        prof__text_add(s->output, sizeof s->output, "/");
    if (!status) output = prof__output_alone(s, output, tagged, sizeof tagged);
    if (config->layout) prof__text_copy(s->layout, sizeof s->layout, config->layout);
    if (!status) status = prof__output_writer(s, &write);
    if (!status) status = prof__writer_fits(s->output, write, (uint32_t)mode);
    if (!status) status = prof__output_check(s->output);
    if (!status && !write) status = prof__output_follow(s);
    s->existing = config->existing;
    s->number = s->existing == PROF_EXISTING_NUMBER ||
                (s->existing == PROF_EXISTING_AUTO && prof__pattern_has(output, "pt"));
    if (prof__is_folder(s->output)) s->number = 0; /* its writer never replaces a file */
    if (!status && !write) s->live_path = s->output;
    if (!status && write && !prof__output_is_file(s->output)) {
        s->existing = PROF_EXISTING_REPLACE; /* a device, a pipe: nobody's run */
        s->number = 0;
    } else if (!status && write) {
#ifndef _WIN32
        s->beside = mode != PROF_STREAM && mode != PROF_STATS && !config->memory;
#endif
    }
    s->whole = mode == PROF_STREAM;
    if (!status && write && (s->beside || mode == PROF_STREAM)) {
        prof__output_beside(s, s->stream.path, sizeof s->stream.path);
        s->live_path = s->stream.path;
    }
    prof__pattern_absolute(output, s->pattern, sizeof s->pattern);
#ifdef _WIN32
    if (!status) status = prof__output_name(s);
    s->named = 1;
#endif
    return status;
}

PROF_DEF void prof_writer_register(prof_writer *writer)
{
    PROF__LED_VOID(prof_writer_register, (writer));
    prof_writer *first = PROF__ACQUIRE(&prof__writers);
    for (prof_writer *w = first; w; w = w->next)
        if (w == writer) return;
    do writer->next = first;
    while (!__atomic_compare_exchange_n(&prof__writers, &first, writer, 0, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE));
}

PROF_DEF void prof_writer_unregister(prof_writer *writer)
{
    PROF__LED_VOID(prof_writer_unregister, (writer));
    /* where prof_stop() holds it for long the program is about to end */
    int locked = prof__lock_try(&prof__control_word);
    for (prof_writer **w = &prof__writers; *w; w = &(*w)->next)
        if (*w == writer) {
            *w = writer->next;
            break;
        }
    if (locked) prof__unlock(&prof__control_word);
}
#endif

/* Under the lock. */
static prof_status prof__rule_add(const char *pattern, size_t length, int on, int exact)
{
    if ((length == 0 && !exact) || length >= sizeof prof__state.rules[0].pattern)
        return prof__fail(PROF_INVALID_ARGUMENT, "category pattern '%.60s': 1 to 47 bytes", pattern);
    if (length == 1 && pattern[0] == '*' && !exact) {
        prof__state.rule_count = 0;
        prof__state.category_default = on;
        return PROF_OK;
    }
    char text[sizeof prof__state.rules[0].pattern];
    prof__copy(text, pattern, length);
    text[length] = 0;
    int count = 0;
    for (int i = 0; i < prof__state.rule_count; ++i)
        if (prof__state.rules[i].exact != exact || !prof__equal(prof__state.rules[i].pattern, text))
            prof__state.rules[count++] = prof__state.rules[i];
    if (count == PROF__MAX_RULES) return prof__fail(PROF_NO_MEMORY, "more than %d category rules", PROF__MAX_RULES);
    if (!prof__state.category_named && !exact) prof__state.category_default = !on;
    if (!exact) prof__state.category_named = 1;
    prof__copy(prof__state.rules[count].pattern, text, length + 1);
    prof__state.rules[count].on = on;
    prof__state.rules[count].exact = exact;
    prof__state.rule_count = count + 1;
    return PROF_OK;
}

/* "net,render*,-audio". Under the lock. */
static prof_status prof__rules_set(const char *list)
{
    prof_status status = PROF_OK;
    prof__state.rule_count = prof__state.category_named = 0;
    prof__state.category_default = 1;
    while (list && *list && !status) {
        size_t length = 0;
        int on = *list != '-';
        if (!on) ++list;
        while (list[length] && list[length] != ',') ++length;
        status = prof__rule_add(list, length, on, 0);
        list += length;
        if (*list == ',') ++list;
    }
    return status;
}

/* What one use of a macro costs is measured with some uses in a row. */
#define PROF__BURST 64
#define PROF__BURST_SHORT 16 /* of what takes longer */
#define PROF__BURST_WORDS (PROF__BURST * 3)

static void prof__burst_scopes(prof_site *site)
{
    for (int i = 0; i < PROF__BURST; ++i) prof__end(prof__begin(site));
}

static void prof__burst_texts(prof_site *site)
{
    for (int i = 0; i < PROF__BURST_SHORT; ++i) prof__end(prof__begin_text(site, "a name, 20 letters"));
}

static void prof__burst_formats(prof_site *site)
{
    for (int i = 0; i < PROF__BURST_SHORT; ++i) prof__end(prof__begin_format(site, "job %d of %d", i, 1000));
}

/* Thousandths of a tick that one of the uses in a burst takes: by the fastest burst, or, where the clock's step is too
   long for that, by all of them. Not 0. The thread is attached, and signals are blocked: a handler's scopes would go into
   the scratch, too. */
static uint64_t prof__burst_measure(prof__session *s, uint64_t step, void (*burst)(prof_site *site), prof_site *site,
                                    uint64_t uses)
{
    static uint64_t scratch[PROF__BURST_WORDS + 2];
    enum { ROUNDS = 8 };
    prof__thread *self = PROF__SELF();
    uint64_t *cursor = self->cursor, *end = self->end, room = self->room, best = ~0ull, total = 0, cost;
    for (int round = 0; round < ROUNDS; ++round) {
        uint64_t start = prof__now(s, 0);
        self->gate = PROF__BUSY;
        PROF__BARRIER();
        self->cursor = scratch + 1;
        self->end = scratch + sizeof scratch / sizeof *scratch;
        self->room = PROF__BURST_WORDS;
        PROF__BARRIER();
        self->gate = self->open;
        burst(site);
        self->gate = PROF__BUSY;
        PROF__BARRIER();
        self->cursor = cursor;
        self->end = end;
        self->room = room;
        PROF__BARRIER();
        self->gate = self->open;
        uint64_t took = prof__now(s, 0) - start;
        if (took < best) best = took;
        total += took;
    }
    cost = best / 16 >= step ? best * 1000 / uses : total * 1000 / (ROUNDS * uses);
    return cost ? cost : 1;
}

#ifdef PROF_INSTRUMENT_FUNCTIONS
static prof_site *prof__calls_prepare(void);
static void prof__burst_calls(prof_site *site);
#endif

/* What scopes of each sort cost, each no less than a plain one, which a coarse clock could make of it. */
static void prof__costs_measure(prof__session *s, uint64_t step, uint64_t on)
{
    prof__header *h = s->header;
    prof_site site = {0, "", "", "", "", 0, 0, 0, PROF__KIND_BEGIN, 0, 0, 0};
    uint64_t scope, text, format;
    prof__site_store(&site, on);
    scope = prof__burst_measure(s, step, prof__burst_scopes, &site, PROF__BURST);
    text = prof__burst_measure(s, step, prof__burst_texts, &site, PROF__BURST_SHORT);
    format = prof__burst_measure(s, step, prof__burst_formats, &site, PROF__BURST_SHORT);
    PROF__STORE(&h->cost_ticks_x1000, scope);
    PROF__STORE(&h->text_x1000, text > scope ? text : scope);
    PROF__STORE(&h->format_x1000, format > scope ? format : scope);
#ifdef PROF_INSTRUMENT_FUNCTIONS
    prof_site *called = prof__calls_prepare();
    if (!called) return;
    prof__site_store(called, on);
    uint64_t call = prof__burst_measure(s, step, prof__burst_calls, called, PROF__BURST_SHORT);
    prof__site_store(called, 0);
    PROF__STORE(&h->call_x1000, call > scope ? call : scope);
#endif
}

/* The smallest step of the clock, and what a scope costs: measured with real scopes into a buffer of its own, while the
   thread is attached. */
static void prof__calibrate(prof__session *s)
{
    prof__thread *self = PROF__SELF();
    prof__header *h = s->header, *like = &s->like;
    uint64_t step = ~0ull;
    for (int i = 0; i < 64 || (step == ~0ull && i < 4096); ++i) { /* a slow counter may move between two looks */
        uint64_t a = prof__now(s, 0), b = prof__now(s, 0);
        if (b > a && b - a < step) step = b - a;
    }
    uint32_t gate = prof__state_lock();
    uint32_t generation = PROF__LOAD(&prof__generation);
    if (self->session && self->session != s) prof__detach(self); /* of a session before the last one */
    int ready = prof__state.running && (self->session == s || prof__attach(self));
    self->seen = generation;
    self->open = ready && s->fast ? generation : PROF__SHUT;
    prof__state_unlock(gate);
    if (!ready) return;
    prof__signals signals;
    prof__signals_block(&signals);
    uint64_t taken_back = PROF__LOAD(&self->chunk->taken_back);
    prof__costs_measure(s, step, (uint64_t)PROF__KIND_BEGIN << PROF__KIND_SHIFT | generation);
    PROF__STORE(&self->chunk->taken_back, taken_back);
    prof__signals_restore(&signals);
    PROF__STORE(&h->resolution_ticks, step == ~0ull ? 0 : step);
    PROF__STORE(&like->resolution_ticks, h->resolution_ticks);
    PROF__STORE(&like->cost_ticks_x1000, h->cost_ticks_x1000);
    PROF__STORE(&like->call_x1000, h->call_x1000);
    PROF__STORE(&like->text_x1000, h->text_x1000);
    PROF__STORE(&like->format_x1000, h->format_x1000);
}

/* What an ordered reading costs more than a plain one. */
static uint64_t prof__ordered_excess(void)
{
    uint64_t plain = ~0ull, ordered = ~0ull;
    for (int i = 0; i < 1000; ++i) {
        uint64_t a = prof__counter(), b = prof__counter();
        if (b - a < plain) plain = b - a;
        a = prof__counter();
        b = prof__counter_ordered();
        if (b - a < ordered) ordered = b - a;
    }
    return ordered > plain ? ordered - plain : 0;
}

static prof_status prof__clock_choose(prof__session *s, const prof_config *config)
{
    int usable = prof__counter_usable();
    s->clock = (uint32_t)config->clock;
    if (s->clock == PROF_CLOCK_AUTO) s->clock = usable ? PROF_CLOCK_COUNTER : PROF_CLOCK_MONOTONIC;
    if (s->clock == PROF_CLOCK_COUNTER && !usable)
        return prof__fail(PROF_UNSUPPORTED, "clock: this machine has no counter that can be trusted: use monotonic");
    if (s->clock == PROF_CLOCK_ORDERED && !(usable & 2))
        return prof__fail(PROF_UNSUPPORTED, "clock: this processor has no ordered reading of its counter");
    s->header->clock = s->clock;
    s->header->tick_hz = s->clock == PROF_CLOCK_MONOTONIC ? 1000000000u : prof__counter_hz();
#ifdef PROF_FREESTANDING
    s->header->tick_hz = config->clock_hz;
#endif
    if (s->clock == PROF_CLOCK_ORDERED) s->ordered_excess = prof__ordered_excess();
    prof__text_copy(s->header->clock_name, sizeof s->header->clock_name,
                    s->clock == PROF_CLOCK_MONOTONIC ? "clock_gettime"
                    : s->clock == PROF_CLOCK_ORDERED ? PROF__COUNTER_NAME " ordered"
                                                     : PROF__COUNTER_NAME);
    prof__pair_take_well(s->clock, s->header->tick_hz, &s->header->first);
    s->header->last = s->header->first;
    return PROF_OK;
}

/* The threshold must be ticks before the first scope ends; only here does a start wait (0.2 ms) to learn a rate. */
static void prof__threshold_set(prof__session *s, uint64_t ns)
{
    uint64_t hz = s->header->tick_hz;
#ifndef PROF_FREESTANDING
    if (!hz) {
        prof__pair now;
        do prof__pair_take_well(s->clock, 0, &now);
        while (now.monotonic_ns - s->header->first.monotonic_ns < 200000);
        hz = (now.tick - s->header->first.tick) * 1000000000u / (now.monotonic_ns - s->header->first.monotonic_ns);
    }
#endif
    s->min_ticks = ns / 1000000000u * hz + ns % 1000000000u * hz / 1000000000u;
}

/* The image is laid out, and its header filled in: from here on it is one. */
static void prof__image_begin(prof__session *s)
{
    prof_site no_room = {0, "(no room for more call sites)", "", "", "", 0, 0, 0, PROF__KIND_BEGIN, 0, 0, 0};
    s->site_without_room = prof__meta_site(s, &no_room);
    s->header->state = PROF__RUNNING;
    prof__copy(s->header->magic, PROF__MAGIC, sizeof s->header->magic);
}

/* What keeps the session from beginning. Before there is a service, which reads it. */
static void prof__schedule_configure(prof__session *s, const prof_config *config)
{
    const prof__pair *now = &s->header->first;
    uint64_t wait = config->delay_ns;
    s->duration_ns = config->duration_ns;
    s->warmup_what = config->warmup_steps ? PROF__WARMUP_STEPS : PROF__WARMUP_FRAMES;
    s->warmup_left = config->warmup_frames ? config->warmup_frames - 1 : config->warmup_steps;
    if (config->start_unix_ns > now->unix_ns && config->start_unix_ns - now->unix_ns > wait)
        wait = config->start_unix_ns - now->unix_ns;
    if (wait) s->begin_at = now->monotonic_ns + (wait < PROF__CENTURY ? wait : PROF__CENTURY);
    s->held = (wait ? PROF__HELD_TIME : 0) | (config->warmup_steps || config->warmup_frames ? PROF__HELD_WARMUP : 0);
}

static prof_status prof__session_make(prof__session *s, const prof_config *config)
{
    prof_status status;
    void *memory = config->memory;
    uint64_t size = memory ? config->memory_size : config->buffer_size ? config->buffer_size : PROF__DEFAULT_BUFFER;
#ifndef PROF_FREESTANDING
    int several;
    if ((status = prof__rank_find(config->rank, &several)) != PROF_OK) return status;
    if (config->output && config->output[0] && (status = prof__output_prepare(s, config, several)) != PROF_OK)
        return status;
#endif
    if (config->layout && config->layout[0] && !s->output[0])
        return prof__fail(PROF_INVALID_ARGUMENT, "layout '%.20s': wants an output", config->layout);
    if (config->mode == PROF_STREAM && !s->live_path)
        return prof__fail(PROF_INVALID_ARGUMENT, "mode stream: needs an output, for example trace.prof");
    if (memory) {
        uint64_t skip = (0 - (uint64_t)(uintptr_t)memory) & 63;
        if (s->live_path)
            return prof__fail(PROF_INVALID_ARGUMENT,
                              "output %s: a .prof output is its own memory: leave config.memory out", s->live_path);
        if (size < PROF__MIN_IMAGE + skip)
            return prof__fail(PROF_INVALID_ARGUMENT, "memory_size: at least %d bytes", (int)PROF__MIN_IMAGE + 64);
        memory = (char *)memory + skip;
        size -= skip;
        prof__clear(memory, (size_t)(size / 8 * 8));
    } else {
        size = prof__round(size, 4096);
        prof__file_signal signal;
        prof__file_signal_hold(&signal);
        status = prof__memory_take(s, (size_t)size);
        prof__file_signal_drop(&signal);
        if (status) return status;
        memory = s->mapping;
    }
    status = prof__layout(s, memory, size);
    if (!status) status = prof__clock_choose(s, config);
    if (status) return status;
    prof__schedule_configure(s, config);
    s->crash_report = config->crash_report != 0;
    prof__header *h = s->header;
    h->mode = (uint32_t)config->mode;
    h->pid = s->process = prof__process_id();
#ifndef PROF_FREESTANDING
    h->parent_pid = prof__parent_id();
    prof__program_name(h->program, sizeof h->program);
    prof__boot_id(h->boot_id, sizeof h->boot_id);
    status = prof__service_configure(s, config);
    if (status) return status;
#endif
    if (config->min_duration_ns) prof__threshold_set(s, config->min_duration_ns);
    s->fast = s->clock == PROF_CLOCK_COUNTER && !s->min_ticks;
    prof__image_begin(s);
#ifndef PROF_FREESTANDING
    if (!s->named) status = prof__output_name(s);
#endif
    return status || !s->crash_report ? status : prof__crash_prepare(s);
}

static prof_status prof__config_check(const prof_config *c)
{
    if ((unsigned)c->mode > PROF_RING_STATS)
        return prof__fail(PROF_INVALID_ARGUMENT, "mode: ring, fill, stream, stats or ring+stats");
#ifdef PROF_FREESTANDING
    if (c->mode > PROF_FILL) return prof__fail(PROF_UNSUPPORTED, "mode: freestanding has ring and fill only");
    if (c->save) return prof__fail(PROF_UNSUPPORTED, "save: not in freestanding");
#endif
    if ((unsigned)c->at_limit > PROF_LIMIT_ROTATE)
        return prof__fail(PROF_INVALID_ARGUMENT, "at_limit: stop or rotate");
    if (c->wait_ns > PROF__MAX_WAIT && c->wait_ns != PROF__NO_WAIT) return prof__fail(PROF_INVALID_ARGUMENT, "wait: at most 10s");
    if (c->dump_period_ns && c->dump_period_ns < PROF__MIN_PERIOD) /* UINT64_MAX is off */
        return prof__fail(PROF_INVALID_ARGUMENT, "dump_period: at least 10ms");
    if ((unsigned)c->clock > PROF_CLOCK_MONOTONIC)
        return prof__fail(PROF_INVALID_ARGUMENT, "clock: auto, counter, ordered or monotonic");
    if (c->level < -1 || c->level > 255) return prof__fail(PROF_INVALID_ARGUMENT, "level %d: 1 to 255, or -1", c->level);
    if (c->warmup_steps && c->warmup_frames)
        return prof__fail(PROF_INVALID_ARGUMENT, "warmup_steps, warmup_frames: one of them");
    if (c->delay_ns > PROF__CENTURY || c->duration_ns > PROF__CENTURY)
        return prof__fail(PROF_INVALID_ARGUMENT, "delay, duration: at most a century");
    if ((unsigned)c->existing > PROF_EXISTING_REFUSE)
        return prof__fail(PROF_INVALID_ARGUMENT, "existing: auto, replace, number or refuse");
#ifdef PROF_FREESTANDING
    if (c->delay_ns || c->start_unix_ns || c->duration_ns)
        return prof__fail(PROF_UNSUPPORTED,
                          "delay, start_unix, duration: freestanding has no thread to look at the clock");
#endif
    if (!c->memory && c->buffer_size && (c->buffer_size < PROF__MIN_BUFFER || (uint64_t)c->buffer_size >> 30 > 64))
        return prof__fail(PROF_INVALID_ARGUMENT, "buffer_size: 128K to 64G");
    return PROF_OK;
}

/* Who started a session that is not the program's own. */
typedef struct prof__guest_start {
    void (*yield)(void);       /* see prof__guest */
    void (*limit)(void *user); /* under the lock, before anything is recorded */
    void *user;
} prof__guest_start;

static prof_status prof__start_locked(const prof_config *config, const prof__guest_start *guest)
{
    if (prof__guest) prof__guest();
    int phase = prof__session_phase();
    if (phase == PROF__ENDED)
        return prof__fail(PROF_INVALID_STATE, "the session before has ended by itself: call prof_stop() first");
    if (phase == PROF__RUNS)
        return prof__fail(PROF_INVALID_STATE, "a session is running already: call prof_stop() first%s",
                          (prof__state.session ? prof__state.session : prof__state.inherited)->output[0]
                              ? ", or leave PROF_OUTPUT out of the environment" : "");
    prof_status status = prof__config_check(config);
    if (status) return status;
    prof__heal();
    if (config->memory) prof__sessions_reap(1);
    prof__session *s = prof__session_new();
    if (!s) return prof__fail(PROF_NO_MEMORY, "no memory for a session");
#ifndef PROF_FREESTANDING
    prof__start_note[0] = 0;
#endif
    status = prof__session_make(s, config);
    if (status) {
#ifndef PROF_FREESTANDING
        prof__path_unclaim(s);
#endif
        prof__session_delete(s);
        return status;
    }
    prof__sessions_reap(1);
#ifndef PROF_FREESTANDING
    status = prof__service_start(s); /* finds nothing to do until the session runs */
    if (!status) status = prof__upstairs.save_arm(s);
#endif
    uint32_t gate = prof__state_lock();
    if (!status) status = prof__rules_set(config->categories);
    if (!status) status = prof__memory_publish(s);
    if (!status) {
        s->epoch = prof__state.epoch + 1 ? prof__state.epoch + 1 : 1;
        PROF__STORE(&prof__state.epoch, s->epoch); /* ends compare with it, without the lock */
        s->header->session = s->epoch;
        prof__metadata_write(s);
#ifndef PROF_FREESTANDING
        if (s->beside_error) prof__meta_pair(s, "in memory only", strerror(s->beside_error));
#endif
        s->like = *s->header;
        s->like.magic[0] = 0; /* who looks for images in a core dump shall find one */
        prof__state.session = s;
        prof__state.level = prof__level_of(config);
        prof__state.filter_mask = config->filter_mask ? config->filter_mask : ~0u;
        if (guest) guest->limit(guest->user);
        PROF__STORE(&prof__state.paused, 0);
        prof__state.held = s->held;
        PROF__STORE(&prof__state.no_sync, config->no_sync);
        prof__state.no_devices = config->no_devices;
        PROF__STORE(&prof__state.running, 1);
        PROF__STORE(&prof__lost_without_chunk, 0u);
        if (prof__state.held)
            prof__next_generation();
        else
            prof__schedule_release(s, 0);
    }
    prof__state_unlock(gate);
    if (status) {
#ifndef PROF_FREESTANDING
        prof__upstairs.save_disarm();
        prof__service_stop(s);
        prof__path_unclaim(s);
#endif
        prof__session_delete(s);
        return status;
    }
    if (s->crash_report) prof__crash_install(s);
    prof__calibrate(s);
    return PROF_OK;
}

/* guest: null: the program's own session. */
static prof_status prof__start_as(const prof_config *config, const prof__guest_start *guest)
{
    prof_status status = PROF_OK;
    prof__control_lock();
#ifndef PROF_FREESTANDING
    if (!prof__exits_watched) prof__exits_watch();
    prof__exits_watched = 1;
    prof__exit_key_make();
    if (!prof__exit_key_made)
        status = prof__fail(PROF_NO_MEMORY, "the program has used up the system's keys of thread-local storage");
#endif
    if (!status) {
        PROF__BRIDGE_START();
        status = prof__start_locked(config, guest);
        if (!status) PROF__STORE(&prof__guest, guest ? guest->yield : NULL);
        PROF__BRIDGE_STARTED();
    }
    prof__control_unlock();
    return status;
}

PROF_DEF prof_status prof_start(const prof_config *config)
{
    PROF__LED(prof_start, (config));
    prof_config defaults;
    prof__clear(&defaults, sizeof defaults / 8 * 8);
    return prof__start_as(config ? config : &defaults, NULL);
}

/* Nothing more is recorded; the image stays. Under the lock. */
static void prof__recording_ends(void)
{
    PROF__STORE(&prof__state.running, 0);
    prof__next_generation();
    if (prof__state.session) {
        prof__header *h = prof__state.session->header;
        prof__pair_take_well(h->clock, h->tick_hz, &h->last);
        prof__lost_collect(prof__state.session);
        PROF__RELEASE(&h->state, (uint32_t)PROF__STOPPED);
    }
}

/* guest: 1: of the guest's session, and of no other. Under the control lock. */
static prof_status prof__stop_recording(int guest)
{
    uint32_t gate = prof__state_lock();
    int running = !prof__guest == !guest && (prof__state.running || prof__state.ended);
    if (guest) PROF__STORE(&prof__guest, NULL);
    if (running && prof__state.running) prof__recording_ends();
    if (running) prof__state.ended = 0;
    prof__state_unlock(gate);
    return running ? PROF_OK : prof__fail(PROF_INVALID_STATE, "no session is running");
}

/* Under the control lock. */
static prof_status prof__stop_locked(void)
{
    prof_status status = prof__stop_recording(0);
    if (!status) prof__crash_remove();
#ifndef PROF_FREESTANDING
    if (!status) status = prof__inherited_end();
    prof__session *s = status ? NULL : prof__state.session;
    if (s) prof__service_stop(s);
    if (s) prof__upstairs.save_disarm();
    if (s && s->output[0] && s->live_path != s->output && !s->written) status = prof__output_write(s);
    if (s && s->live_path) status = prof__file_finish(s, status);
    if (s && status) prof__path_unclaim(s);
#endif
    PROF__BRIDGE_STOP();
    return status;
}

PROF_DEF prof_status prof_stop(void)
{
    PROF__LED(prof_stop, ());
    prof__control_lock();
    prof_status status = prof__stop_locked();
    prof__control_unlock();
    return status;
}

#ifndef PROF_FREESTANDING
/* The program ends without prof_stop(): what has an output is written all the same. After the destructors of the
   program's own objects, which may have scopes or call prof_stop(), and before the writers go. Where another thread is
   in a control function there is no waiting for it. */
static void __attribute__((destructor(102))) prof__exit_stop(void)
{
    if (!prof__is_whole() || !prof__lock_try(&prof__control_word)) return;
    const prof__session *s = NULL;
    if (!prof__guest && prof__session_phase()) s = prof__state.session ? prof__state.session : prof__state.inherited;
    if (s && s->output[0] && prof__stop_locked()) fprintf(stderr, "prof: %s\n", prof_error());
    prof__unlock(&prof__control_word);
}
#endif

PROF_DEF prof_status prof_reset(void)
{
    PROF__LED(prof_reset, ());
    prof__control_lock();
    prof_status status = PROF_OK;
    if (!prof__guest && prof__session_phase())
        status = prof__fail(PROF_INVALID_STATE, "the session is running: call prof_stop() first");
    else
        prof__sessions_reap(!prof__guest);
    prof__control_unlock();
    return status;
}

static prof_status prof__pause_by(int step)
{
    PROF__LED(prof__pause_by, (step));
    prof_status status = PROF_OK;
    uint32_t gate = prof__state_lock();
    if (!prof__state.running && !prof__state.ended) {
        status = prof__fail(PROF_INVALID_STATE, "no session is running");
    } else if (prof__state.paused + step < 0) {
        status = prof__fail(PROF_INVALID_STATE, "resumed more often than paused");
    } else {
        PROF__STORE(&prof__state.paused, prof__state.paused + step);
        prof__next_generation();
    }
    prof__state_unlock(gate);
    PROF__BRIDGE_PAUSE();
    return status;
}
PROF_DEF prof_status prof_pause(void) { return prof__pause_by(1); }
PROF_DEF prof_status prof_resume(void) { return prof__pause_by(-1); }

/* key null: forget all. */
static prof_status prof__metadata_change(const char *key, const char *value)
{
    PROF__LED(prof__metadata_change, (key, value));
    uint32_t gate = prof__state_lock();
    prof__session *s = prof__state.running ? prof__state.session : NULL;
    int fits = !key || prof__metadata_put(key, value);
    if (!key) prof__metadata.used = 0;
    if (fits && s) fits = prof__meta_pair(s, key ? key : "", key ? value : "");
    prof__state_unlock(gate);
    return fits ? PROF_OK : prof__fail(PROF_NO_MEMORY, "metadata '%.80s': no room", key ? key : "");
}

PROF_DEF prof_status prof_set_metadata(const char *key, const char *value)
{
    if (!key || !value || !key[0])
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_set_metadata: key or value is null, or key empty");
    return prof__metadata_change(key, value);
}
PROF_DEF prof_status prof_clear_metadata(void) { return prof__metadata_change(NULL, NULL); }

/* Read by threads that may hold no lock: the version is odd while it changes. */
static struct {
    uint32_t version;
    void (*function)(void *user);
    void *user;
} prof__sync_hook;

PROF_DEF prof_status prof_set_sync(void (*sync)(void *user), void *user)
{
    PROF__LED(prof_set_sync, (sync, user));
    uint32_t gate = prof__state_lock();
    PROF__STORE(&prof__sync_hook.version, prof__sync_hook.version + 1);
    PROF__FENCE();
    PROF__RELEASE(&prof__sync_hook.function, sync);
    PROF__RELEASE(&prof__sync_hook.user, user);
    PROF__RELEASE(&prof__sync_hook.version, prof__sync_hook.version + 1);
    prof__state_unlock(gate);
    return PROF_OK;
}

/* A handler that interrupts prof_set_sync() finds no hook. */
PROF__ENTRY void prof__sync(void)
{
    PROF__SELF_OR(PROF__LED_VOID(prof__sync, ()));
    for (int i = 0; i < 100; ++i) {
        uint32_t version = PROF__ACQUIRE(&prof__sync_hook.version);
        void (*function)(void *) = PROF__ACQUIRE(&prof__sync_hook.function);
        void *user = PROF__ACQUIRE(&prof__sync_hook.user);
        if (version & 1 || PROF__ACQUIRE(&prof__sync_hook.version) != version) continue;
        if (!function || self->syncing || PROF__LOAD(&prof__state.no_sync)) return;
        PROF__ERRNO_SAVE();
        self->syncing = 1; /* it may have scopes that wait themselves */
        function(user);
        PROF__SELF()->syncing = 0;
        PROF__ERRNO_RESTORE();
        return;
    }
}

/* The end of a scope that waits; not if its session is over. */
PROF__ENTRY void prof__end_sync(prof__token token)
{
    PROF__LED_VOID(prof__end_sync, (token));
    if ((uint32_t)token == PROF__LOAD(&prof__state.epoch) && PROF__LOAD(&prof__state.running)) prof__sync();
    prof__end(token);
}

PROF_DEF int prof_enabled_at(int level)
{
    PROF__LED(prof_enabled_at, (level));
    uint32_t gate = prof__state_lock();
    int enabled = prof__state.running && !prof__state.paused && !prof__state.held && level <= prof__state.level;
    if (prof__state.inherited && prof__state.inherited->failed) enabled = 0;
    prof__state_unlock(gate);
    return enabled;
}
PROF_DEF int prof_enabled(void) { return prof_enabled_at(0); }

PROF_DEF prof_status prof_set_level(int level)
{
    PROF__LED(prof_set_level, (level));
    prof_status status = PROF_OK;
    if (level < 0 || level > 255) return prof__fail(PROF_INVALID_ARGUMENT, "level %d: 0 to 255", level);
    uint32_t gate = prof__state_lock();
    if (prof__state.running || prof__state.ended) {
        prof__state.level = level;
        prof__next_generation();
    } else {
        status = prof__fail(PROF_INVALID_STATE, "no session is running: set prof_config.level");
    }
    prof__state_unlock(gate);
    return status;
}

PROF_DEF prof_status prof_set_filter_mask(uint32_t mask)
{
    PROF__LED(prof_set_filter_mask, (mask));
    prof_status status = PROF_OK;
    uint32_t gate = prof__state_lock();
    if (prof__state.running || prof__state.ended) {
        prof__state.filter_mask = mask ? mask : ~0u;
        prof__next_generation();
    } else {
        status = prof__fail(PROF_INVALID_STATE, "no session is running: set prof_config.filter_mask");
    }
    prof__state_unlock(gate);
    return status;
}

static prof_status prof__category_enable(const char *pattern, int on, int exact)
{
    PROF__LED(prof__category_enable, (pattern, on, exact));
    prof_status status;
    uint32_t gate = prof__state_lock();
    if (prof__state.running || prof__state.ended) {
        status = prof__rule_add(pattern, prof__length(pattern), on != 0, exact);
        prof__next_generation();
    } else {
        status = prof__fail(PROF_INVALID_STATE, "no session is running: set prof_config.categories");
    }
    prof__state_unlock(gate);
    return status;
}

PROF_DEF prof_status prof_category_enable(const char *pattern, int on)
{
    if (!pattern) return prof__fail(PROF_INVALID_ARGUMENT, "category pattern: null");
    return prof__category_enable(pattern, on, 0);
}

#ifndef PROF_FREESTANDING
PROF_DEF prof_status prof_domain_enable(prof_domain *domain, int on)
{
    if (!domain) return prof__fail(PROF_INVALID_ARGUMENT, "prof_domain_enable: domain is null");
    return prof__category_enable(prof_domain_name(domain), on, 1);
}
#endif

#ifndef PROF_FREESTANDING
/*-- OBJECTS ---------------------------------------------------------------------------------------------- >>objects --
   A handle is the call sites of what it records, and its strings, in one block. Nothing points to it from elsewhere:
   the image has copies of its strings, tokens have none. */

struct prof_domain {
    prof_domain *next;
    const char *name;
};
struct PROF__SITE_TYPE prof_task {
    prof_site site;
    uint64_t id;
};
struct PROF__SITE_TYPE prof_frame {
    prof_site site;
    uint64_t id, number;
};
struct PROF__SITE_TYPE prof_range {
    prof_site start, stop;
};
struct PROF__SITE_TYPE prof_counter {
    prof_site site;
    prof__tally tally;
};
struct PROF__SITE_TYPE prof_marker {
    prof_site sites[PROF_MARK_SCOPE_COUNT];
};

static prof_domain *prof__domains; /* only ever grows, at its head */
static uint64_t prof__object_ids;

/* Zeroed, with a copy of the name behind it. */
static void *prof__object(size_t size, const char *name, const char **copy)
{
    size_t length = name ? strlen(name) : 0;
    char *object = (char *)calloc(1, size + length + 1);
    if (!object) return NULL;
    if (length) memcpy(object + size, name, length);
    *copy = object + size;
    return object;
}

static void prof__object_site(prof_site *site, const prof_domain *domain, const char *name, unsigned kind,
                              unsigned role)
{
    site->name = name;
    site->category = domain ? domain->name : "";
    site->file = site->function = "";
    site->level = 1;
    site->kind = (uint16_t)(kind | role << PROF__ROLE_SHIFT);
}

static prof_domain *prof__domain_find(prof_domain *first, const prof_domain *end, const char *name)
{
    while (first != end && strcmp(first->name, name)) first = first->next;
    return first == end ? NULL : first;
}

PROF_DEF prof_domain *prof_domain_create(const char *name)
{
    PROF__LED(prof_domain_create, (name));
    prof_domain *seen = PROF__ACQUIRE(&prof__domains), *domain = prof__domain_find(seen, NULL, name ? name : "");
    if (domain) return domain;
    const char *copy = NULL;
    domain = (prof_domain *)prof__object(sizeof *domain, name, &copy);
    if (!domain) return NULL;
    domain->name = copy;
    domain->next = seen;
    while (!__atomic_compare_exchange_n(&prof__domains, &domain->next, domain, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        prof_domain *other = prof__domain_find(domain->next, seen, copy);
        seen = domain->next;
        if (!other) continue;
        free(domain); /* another thread was faster */
        return other;
    }
    return domain;
}

PROF_DEF const char *prof_domain_name(const prof_domain *domain) { return domain ? domain->name : ""; }

PROF_DEF size_t prof_domain_list(const char **names, size_t room)
{
    PROF__LED(prof_domain_list, (names, room));
    prof_domain *first = PROF__ACQUIRE(&prof__domains);
    uint32_t categories = PROF__ACQUIRE(&prof__categories.count);
    size_t count = 0;
    for (const prof_domain *domain = first; domain; domain = domain->next, ++count)
        if (names && count < room) names[count] = domain->name;
    for (uint32_t i = 0; i < categories; ++i) {
        if (prof__domain_find(first, NULL, prof__categories.names[i])) continue;
        if (names && count < room) names[count] = prof__categories.names[i];
        ++count;
    }
    return count;
}

PROF_DEF prof_task *prof_task_create(prof_domain *domain, const char *name)
{
    PROF__LED(prof_task_create, (domain, name));
    const char *copy = NULL;
    prof_task *task = (prof_task *)prof__object(sizeof *task, name, &copy);
    if (!task) return NULL;
    prof__object_site(&task->site, domain, copy, PROF__KIND_EVENT, PROF_ROLE_TASK);
    task->id = PROF__ADD(&prof__object_ids, 1) + 1;
    return task;
}

/* Of the task that object points to, which becomes its id. */
static prof_site *prof__task_site(uint64_t *object)
{
    prof_task *task = (prof_task *)(uintptr_t)*object;
    *object = task->id;
    return &task->site;
}

PROF__ENTRY void prof_task_start(prof_task *task)
{
    if (task && prof__on(&task->site)) prof__event(&task->site, PROF_EVENT_SPAN_BEGIN, 0, task->id);
}

PROF__ENTRY void prof_task_stop(prof_task *task)
{
    if (task && prof__on(&task->site)) prof__event(&task->site, PROF_EVENT_SPAN_END, 0, task->id);
}

PROF_DEF void prof_task_destroy(prof_task *task) { free(task); }

PROF_DEF prof_frame *prof_frame_create(prof_domain *domain, const char *name)
{
    PROF__LED(prof_frame_create, (domain, name));
    const char *copy = NULL;
    prof_frame *frame = (prof_frame *)prof__object(sizeof *frame, name, &copy);
    if (!frame) return NULL;
    prof__object_site(&frame->site, domain, copy, PROF__KIND_EVENT, PROF_ROLE_FRAME);
    frame->id = PROF__ADD(&prof__object_ids, 1) + 1;
    return frame;
}

/* Frames that nobody records are counted, too: numbers are the program's. */
PROF__ENTRY void prof_frame_start(prof_frame *frame)
{
    if (!frame) return;
    uint64_t number = PROF__ADD(&frame->number, 1) + 1;
    if (prof__on(&frame->site))
        prof__event(&frame->site, PROF_EVENT_SPAN_BEGIN, number & PROF__EVENT_DETAIL_MAX, frame->id);
}

PROF__ENTRY void prof_frame_stop(prof_frame *frame)
{
    if (frame && prof__on(&frame->site))
        prof__event(&frame->site, PROF_EVENT_SPAN_END, PROF__LOAD(&frame->number) & PROF__EVENT_DETAIL_MAX, frame->id);
}

PROF_DEF void prof_frame_destroy(prof_frame *frame) { free(frame); }

PROF_DEF prof_range *prof_range_create(const char *name)
{
    const char *copy = NULL;
    prof_range *range = (prof_range *)prof__object(sizeof *range, name, &copy);
    if (!range) return NULL;
    prof__object_site(&range->start, NULL, copy, PROF__KIND_BEGIN, PROF_ROLE_RANGE);
    prof__object_site(&range->stop, NULL, copy, PROF__KIND_END, PROF_ROLE_NONE); /* which is never off */
    return range;
}

PROF__ENTRY void prof_range_start(prof_range *range)
{
    if (range && prof__live(&range->start)) prof__begin_loose(&range->start);
}

PROF__ENTRY void prof_range_stop(prof_range *range)
{
    if (range && prof__live(&range->stop)) prof__end_loose(&range->stop);
}

PROF_DEF void prof_range_destroy(prof_range *range) { free(range); }

PROF_DEF prof_counter *prof_counter_create(prof_domain *domain, const char *name)
{
    const char *copy = NULL;
    prof_counter *counter = (prof_counter *)prof__object(sizeof *counter, name, &copy);
    if (counter) prof__object_site(&counter->site, domain, copy, PROF__KIND_COUNTER_INT, PROF_ROLE_NONE);
    return counter;
}

static void prof__counter_change(prof_counter *counter, int how, int64_t value)
{
    prof__number number;
    if (!counter) return;
    number.tally = &counter->tally;
    prof__count_int(&counter->site, &number, how, value);
}

static void prof__counter_change_double(prof_counter *counter, int how, double value)
{
    prof__number number;
    if (!counter) return;
    number.tally = &counter->tally;
    prof__count_double(&counter->site, &number, how, value);
}

PROF__ENTRY void prof_counter_set(prof_counter *counter, int64_t value)
{
    prof__counter_change(counter, PROF__TALLY_SET, value);
}
PROF__ENTRY void prof_counter_add(prof_counter *counter, int64_t delta)
{
    prof__counter_change(counter, PROF__TALLY_ADD, delta);
}
PROF__ENTRY void prof_counter_sub(prof_counter *counter, int64_t delta)
{
    prof__counter_change(counter, PROF__TALLY_SUB, delta);
}
PROF__ENTRY void prof_counter_set_double(prof_counter *counter, double value)
{
    prof__counter_change_double(counter, PROF__TALLY_SET, value);
}
PROF__ENTRY void prof_counter_add_double(prof_counter *counter, double delta)
{
    prof__counter_change_double(counter, PROF__TALLY_ADD, delta);
}

PROF_DEF void prof_counter_destroy(prof_counter *counter) { free(counter); }

PROF_DEF prof_marker *prof_marker_create(prof_domain *domain, const char *name)
{
    const char *copy = NULL;
    prof_marker *marker = (prof_marker *)prof__object(sizeof *marker, name, &copy);
    for (int scope = 0; marker && scope < (int)PROF_MARK_SCOPE_COUNT; ++scope)
        prof__object_site(&marker->sites[scope], domain, copy, PROF__KIND_MARK, (unsigned)PROF__MARK_ROLE(scope));
    return marker;
}

PROF__ENTRY void prof_marker_mark(prof_marker *marker, prof_mark_scope scope)
{
    unsigned at = (unsigned)scope < (unsigned)PROF_MARK_SCOPE_COUNT ? (unsigned)scope : 0;
    if (marker && prof__on(&marker->sites[at])) prof__mark(&marker->sites[at]);
}

PROF_DEF void prof_marker_destroy(prof_marker *marker) { free(marker); }
#endif

#ifndef PROF_FREESTANDING
/*-- FORK ---------------------------------------------------------------------------------------------------- >>fork --
   The child goes on with the parent's configuration in an image of its own. At the fork it only lets go of the
   parent's, and keeps the record of the session as prof__state.inherited; the image is made by its first scope, so that
   a child which goes on to exec, or has no scopes, costs nothing and leaves no file. That scope may stand in a signal
   handler, and other threads of the parent may have held any lock of libc at the fork: so no allocation, no stdio, no
   time zone.

   A fork in a signal handler that interrupted the recorder itself is the exception: what state it is in is not known,
   so the child is as if nothing had been started. What was interrupted finds its memory when the handler returns. */

/* An inherited session is over. What it had to say: why there is no image, if a scope wanted one. */
static prof_status prof__inherited_end(void)
{
    prof_status status = PROF_OK;
    uint32_t gate = prof__state_lock();
    prof__session *s = prof__state.inherited;
    prof__state.inherited = NULL;
    prof__state_unlock(gate);
    if (!s) return PROF_OK;
    if (s->failed)
        status =
            prof__fail(s->live_path ? PROF_IO : PROF_NO_MEMORY, "%s: %llu bytes: %s: this process recorded nothing",
                       s->output[0] ? s->output : "a buffer after a fork", (unsigned long long)s->mapping_size,
                       strerror(s->failed));
    s->mapping = NULL;
    prof__session_delete(s);
    return status;
}

#ifndef _WIN32
static prof__signals prof__fork_signals; /* under prof__change_word */

/* Until the child has let go of the image it may not write there, which signals wait for; a scope in somebody else's
   handler of forks is lost, and counted. */
static void prof__before_fork(void)
{
    prof__thread *self = PROF__SELF();
    PROF__ERRNO_SAVE();
    if (self->forking++ == 0) {
        self->fork_holds = self->gate != PROF__BUSY && prof__lock_try(&prof__change_word);
        if (self->fork_holds) {
            prof__signals_block(&prof__fork_signals);
            self->fork_gate = prof__take(self);
        }
    }
    PROF__ERRNO_RESTORE();
}

static void prof__parent_of_fork(void)
{
    prof__thread *self = PROF__SELF();
    if (--self->forking || !self->fork_holds) return;
    prof__signals signals = prof__fork_signals;
    prof__untake(self, self->fork_gate);
    prof__unlock(&prof__change_word);
    prof__signals_restore(&signals);
}

/* Lets go of the parent's image and keeps the rest. The service is the parent's: making one takes more than a signal
   handler may do, so that the child of a PROF_STREAM or PROF_STATS session records as PROF_RING does. */
static void prof__session_inherit(prof__session *s)
{
    prof__stream_close(s);
    memset(&s->stream, 0, sizeof s->stream);
    memset(&s->service, 0, sizeof s->service);
    prof__upstairs.follow_free(s->follow);
    s->follow = NULL;
    s->dump_period_ns = s->wait_ns = s->max_file_size = 0;
    s->crash_report = 0;
    if (s->live_path && s->live_path != s->output) s->beside = 1;
    if (s->live_path != s->output) s->live_path = NULL;
    if (s->header) {
        /* the user's memory is the parent's */
        if (!s->mapping) s->mapping_size = (size_t)prof__round(s->image_size, 4096);
        if (s->mapping) munmap(s->mapping, s->mapping_size);
    }
    s->like.parent_pid = s->process;
    s->process = prof__process_id();
    s->header = NULL;
    s->mapping = NULL;
    s->part_path[0] = 0;
    s->claimed = s->written = s->taken = s->replaces = s->old_file = s->beside_error = s->whole = 0;
    s->chunks_asked = 0;
    s->cut = 0;
    s->string_count = s->site_count = s->left_count = s->attached = s->readers = 0;
    s->failed = 0;
    s->epoch = ++prof__state.epoch ? prof__state.epoch : ++prof__state.epoch;
}

/* Runs in the child, where the calling thread is the only one. */
static void prof__child_of_fork(void)
{
    prof__thread *self = PROF__SELF();
    int inherits = self->forking && self->fork_holds, interrupted = !inherits && self->gate == PROF__BUSY;
    prof__session *s = prof__state.session;
    self->forking = self->fork_holds = 0;
    prof__lock_word = prof__change_word = prof__control_word = 0;
    PROF__BRIDGE_CHILD();
    prof__next_generation();
    prof__upstairs.save_disarm();
    prof__crash_forget();
    if (interrupted) {
        if (s) prof__memory_retire(s);
        s = NULL;
    } else {
        self->gate = PROF__BUSY;
        PROF__BARRIER();
        self->session = NULL; /* not counted down: the session goes as a whole */
        prof__detach(self);
        for (prof__session *each = prof__state.retired, *next; each; each = next) {
            next = each->next;
            prof__session_delete(each);
        }
        if (prof__state.inherited) s = prof__state.inherited;
        if (s && inherits && prof__state.running && !prof__guest) {
            prof__session_inherit(s);
        } else if (s) {
            prof__session_delete(s);
            s = NULL;
        }
    }
    prof__state.session = prof__state.retired = NULL;
    prof__state.inherited = s;
    prof__state.running = s != NULL;
    if (!s) prof__state.paused = prof__state.held = 0;
    prof__state.ended = 0;
    prof__guest = NULL;
    prof__lost_without_chunk = 0;
    prof__flow_last = prof__process_id() << 32;
    PROF__BARRIER();
    self->open = PROF__SHUT;
    if (!interrupted) self->gate = PROF__SHUT;
    if (inherits) prof__signals_restore(&prof__fork_signals);
}

/* Early: so the child's handler comes before those of the program, which may have scopes and call prof_stop(). */
static void __attribute__((constructor(101))) prof__forks_watch(void)
{
    if (!prof__is_whole()) return;
    pthread_atfork(prof__before_fork, prof__parent_of_fork, prof__child_of_fork);
    prof__exit_key_make(); /* early: for keys from 32 on glibc's pthread_setspecific() allocates */
}

/* The child's output: the parent's pattern, with the process id in front of the extension unless the pattern has it. */
static int prof__child_path(prof__session *s)
{
    char number[24], path[sizeof s->output];
    int has_pid = prof__pattern_has(s->pattern, "p");
    if (!s->output[0]) return 0;
    if (prof__expand_at(s->pattern, s->started, 0, path, sizeof path)) return ENAMETOOLONG;
    prof__number_text(number, s->process);
    if (has_pid || prof__is_folder(path))
        prof__text_copy(s->output, sizeof s->output, path);
    else if (!prof__path_with(path, number, s->output, sizeof s->output))
        return ENAMETOOLONG;
    if (s->beside) {
        prof__output_beside(s, s->stream.path, sizeof s->stream.path);
        s->live_path = s->stream.path;
    }
    if (s->live_path) prof__folder_for(s->live_path); /* %p may be in the name of a directory */
    return 0;
}

static int prof__child_image(prof__session *s)
{
    int error = prof__child_path(s);
    if (!error) error = prof__memory_get(s, s->mapping_size);
    if (error) return error;
    const prof__header *like = &s->like;
    if (prof__layout(s, s->mapping, s->mapping_size)) return EINVAL;
    prof__header *h = s->header;
    h->mode = like->mode == PROF_FILL ? PROF_FILL : PROF_RING;
    h->clock = like->clock;
    h->session = s->epoch;
    h->pid = s->process;
    h->parent_pid = like->parent_pid;
    h->tick_hz = like->tick_hz;
    h->resolution_ticks = like->resolution_ticks;
    h->cost_ticks_x1000 = like->cost_ticks_x1000;
    h->call_x1000 = like->call_x1000;
    h->text_x1000 = like->text_x1000;
    h->format_x1000 = like->format_x1000;
    prof__copy(h->program, like->program, sizeof h->program);
    prof__copy(h->clock_name, like->clock_name, sizeof h->clock_name);
    prof__copy(h->boot_id, like->boot_id, sizeof h->boot_id);
    prof__pair_take_well(s->clock, h->tick_hz, &h->first);
    h->last = h->first;
    prof__image_begin(s);
    prof__metadata_write(s);
    if (!s->live_path) return 0;
    error = prof__name_take(s);
    if (!error) error = prof__name_publish(s);
    if (!error || !s->beside) return error;
    prof__file_forget(s, error);
    return 0;
}

/* The child's first scope. Under the lock, as a busy thread. If it fails, the child records nothing; prof_stop
   tells. */
static void prof__inherited_make(void)
{
    prof__session *s = prof__state.inherited;
    prof__file_signal signal;
    if (s->failed) return;
    int cancel = prof__cancel_disable();
    prof__file_signal_hold(&signal);
    s->failed = prof__child_image(s);
    prof__file_signal_drop(&signal);
    prof__cancel_restore(cancel);
    if (s->failed) {
        if (s->part_path[0] && s->taken) unlink(s->live_path);
        if (s->part_path[0]) unlink(s->part_path);
        prof__name_drop(s);
        if (s->stream.opened) close(s->stream.file);
        s->taken = s->stream.opened = 0;
        if (s->mapping) munmap(s->mapping, s->mapping_size);
        s->part_path[0] = 0;
        s->header = NULL;
        s->mapping = NULL;
    } else {
        prof__state.session = s; /* first: a fork by another thread meanwhile has one of both */
        prof__state.inherited = NULL;
    }
}
#endif

#ifndef PROF_FREESTANDING
/*-- DEVICES ----------------------------------------------------------------------------------------------- >>device --
   Events with times of their own, in the chunk of whoever reports them. Threads' tracks do not show them: the types are
   no prof_event_type. An event is, reserved and published as one, its head last:

     EVENT  call site: the device's   detail: number of the row (of a pair: of the device)   object: ticks of the device
     NAME   unless it is empty
     DATA   without a key, of type NONE, for a counter INT or DOUBLE: the scope's ticks from begin to end, the counter's
            value, or the pair's CLOCK_MONOTONIC; and then, if there is one, the id of the flow
     DATA   two for each argument: a STRING, its key; the value

   A device's record in meta has, for a ring that has overwritten all others, the first pair and the last seven that the
   process knows: ticks, CLOCK_MONOTONIC, and a check, because a reader may come while one is being replaced. */

enum { PROF__DEVICE_SCOPE = 200, PROF__DEVICE_MARK, PROF__DEVICE_COUNTER, PROF__DEVICE_PAIR };
#define PROF__DEVICE_PAIRS 8
#define PROF__DEVICE_WORDS (3 + 3 * PROF__DEVICE_PAIRS) /* of the record in meta, head included */
#define PROF__ROW_WORDS 2

/* All but name, clock and site changes under the lock. epoch: of the session that knows it. */
struct prof_device {
    void *site; /* a prof_site behind this, whose type C++ hides from the program */
    const char *name;
    prof_device *next;
    prof_device_row *rows;
    prof_device_clock clock;
    uint32_t number, epoch;
    uint64_t *record; /* in that session's meta; null: there was no room */
    uint64_t pair_count;
    struct {
        uint64_t ticks, ns;
    } pairs[PROF__DEVICE_PAIRS];
};

struct prof_device_row {
    prof_device *device;
    prof_device_row *next;
    uint32_t number, epoch;
    const char *name;
};

static prof_device *prof__devices;
static uint32_t prof__device_count, prof__row_count;

/* An object with a name behind it, all zero; null without memory. */
static void *prof__named_object(size_t size, const char *name, const char **copy)
{
    size_t length = strlen(name) + 1;
    char *object = (char *)calloc(1, size + length);
    if (!object) {
        prof__fail(PROF_NO_MEMORY, "no memory for '%.100s'", name);
        return NULL;
    }
    memcpy(object + size, name, length);
    *copy = object + size;
    return object;
}

PROF_DEF prof_device *prof_device_create(const char *name, const prof_device_clock *clock)
{
    PROF__LED(prof_device_create, (name, clock));
    prof_device *made, *device;
    prof_site *site;
    const char *copy;
    if (!name || !*name || (clock && clock->bits > 64)) {
        prof__fail(PROF_INVALID_ARGUMENT, "prof_device_create: %s", name && *name ? "a clock has at most 64 bits"
                                                                                 : "a device has a name");
        return NULL;
    }
    made = (prof_device *)prof__named_object(sizeof *made + sizeof *site, name, &copy);
    if (!made) return NULL;
    site = (prof_site *)(void *)(made + 1);
    site->name = site->file = site->function = "";
    site->category = made->name = copy;
    site->level = 1;
    site->kind = PROF__KIND_EVENT | PROF_ROLE_DEVICE << PROF__ROLE_SHIFT;
    made->site = site;
    if (clock) made->clock = *clock;
    if (made->clock.bits == 64) made->clock.bits = 0;
    uint32_t gate = prof__state_lock();
    for (device = prof__devices; device && strcmp(device->name, name); device = device->next) continue;
    if (!device) {
        made->number = ++prof__device_count;
        made->next = prof__devices;
        device = prof__devices = made;
    }
    prof__state_unlock(gate);
    if (device != made) free(made);
    return device;
}

PROF_DEF prof_device_row *prof_device_track(prof_device *device, const char *name)
{
    PROF__LED(prof_device_track, (device, name));
    prof_device_row *made, *row;
    const char *copy;
    if (!device || !name) {
        prof__fail(PROF_INVALID_ARGUMENT, "prof_device_track: device or name is null");
        return NULL;
    }
    made = (prof_device_row *)prof__named_object(sizeof *made, name, &copy);
    if (!made) return NULL;
    made->device = device;
    made->name = copy;
    uint32_t gate = prof__state_lock();
    for (row = device->rows; row && strcmp(row->name, name); row = row->next) continue;
    if (!row) {
        made->number = ++prof__row_count;
        made->next = device->rows;
        row = device->rows = made;
    }
    prof__state_unlock(gate);
    if (row != made) free(made);
    return row;
}

/* A record in meta that no other is equal to. words: all but the head. Null: no room. Under the lock. */
static uint64_t *prof__meta_append(prof__session *s, uint32_t kind, uint32_t id, const uint64_t *words, uint64_t count)
{
    uint64_t used = s->header->meta_used / 8, *record = s->meta + used;
    if (used + 1 + count > s->meta_words) {
        s->header->sites_lost++;
        return NULL;
    }
    prof__copy(record + 1, words, (size_t)count * 8);
    s->header->meta_used = (used + 1 + count) * 8;
    PROF__RELEASE(&record[0], (uint64_t)kind << 56 | (1 + count) << 32 | id);
    return record;
}

static uint64_t prof__device_check(uint64_t ticks, uint64_t ns) { return (ticks ^ ns * 0x9E3779B97F4A7C15u) | 1; }

/* slot: three words. A reader finds the pair whole, or none. */
static void prof__device_store(uint64_t *slot, uint64_t ticks, uint64_t ns)
{
    PROF__RELEASE(slot + 2, 0);
    PROF__RELEASE(slot, ticks);
    PROF__RELEASE(slot + 1, ns);
    PROF__RELEASE(slot + 2, prof__device_check(ticks, ns));
}

/* Tells the thread's session what device and row (may be null) are. The thread is busy. */
static PROF__COLD int prof__device_know(prof__thread *self, prof_device *device, prof_device_row *row)
{
    prof__session *s = self->session;
    prof__signals signals;
    PROF__ERRNO_SAVE();
    int good = prof__lock_enter(&prof__lock_word, &signals);
    if (good) {
        uint64_t words[PROF__DEVICE_WORDS] = {0};
        if (device->epoch != s->epoch) {
            words[0] = prof__meta_string(s, device->name) | (uint64_t)device->clock.bits << 32;
            words[1] = device->clock.hz;
            for (uint64_t i = 0; i < device->pair_count && i < PROF__DEVICE_PAIRS; ++i)
                prof__device_store(words + 2 + 3 * i, device->pairs[i].ticks, device->pairs[i].ns);
            device->record = prof__meta_append(s, PROF__META_DEVICE, device->number, words, PROF__DEVICE_WORDS - 1);
            PROF__RELEASE(&device->epoch, s->epoch);
        }
        if (row && row->epoch != s->epoch) {
            words[0] = prof__meta_string(s, row->name) | (uint64_t)device->number << 32;
            prof__meta_append(s, PROF__META_ROW, row->number, words, PROF__ROW_WORDS - 1);
            PROF__RELEASE(&row->epoch, s->epoch);
        }
        prof__lock_leave(&prof__lock_word, &signals);
    } else {
        prof__lose(self, 1);
    }
    PROF__ERRNO_RESTORE();
    return good;
}

/* What an event is made of, measured, so that it can be reserved in one piece. */
typedef struct prof__device_parts {
    const prof_device_event *event;
    prof__text name, keys[PROF_DEVICE_ARGS], texts[PROF_DEVICE_ARGS];
    uint64_t words, number;
    uint32_t args;
} prof__device_parts;

static void prof__device_measure(const prof__session *s, const prof_device_event *event, prof__device_parts *parts)
{
    parts->event = event;
    parts->args = event->args ? event->arg_count < PROF_DEVICE_ARGS ? event->arg_count : PROF_DEVICE_ARGS : 0;
    parts->name = prof__measure(s, event->name ? event->name : "");
    parts->words = 3 + (parts->name.length ? 1 + parts->name.words : 0) + 2 + (event->flow != 0);
    for (uint32_t i = 0; i < parts->args; ++i) {
        const prof_arg *arg = &event->args[i];
        parts->keys[i] = prof__measure(s, arg->key ? arg->key : "");
        if (arg->value.type == PROF_VALUE_STRING) parts->texts[i] = prof__measure(s, arg->value.as.string);
        parts->words += 1 + parts->keys[i].words;
        parts->words += 1 + (arg->value.type == PROF_VALUE_STRING ? parts->texts[i].words : 1);
    }
}

static uint64_t *prof__device_put_text(uint64_t *at, uint64_t kind, const prof__text *text)
{
    prof__text_write(at, kind << PROF__KIND_SHIFT, text);
    return at + 1 + text->words;
}

static uint64_t *prof__device_put_number(uint64_t *at, uint64_t type, uint64_t words, uint64_t number)
{
    PROF__STORE(at + 1, number);
    prof__store_word(at, (uint64_t)PROF__KIND_DATA << PROF__KIND_SHIFT | type << 32 | words);
    return at + 1 + words;
}

/* All but the head of the EVENT, which is still zero, so that no reader looks here. */
static void prof__device_fill(uint64_t *at, const prof__device_parts *parts)
{
    const prof_device_event *event = parts->event;
    uint64_t type = (uint64_t)(event->type == PROF_EVENT_COUNTER ? event->value.type : PROF_VALUE_NONE);
    at += 3;
    if (parts->name.length) at = prof__device_put_text(at, PROF__KIND_NAME, &parts->name);
    if (event->flow) PROF__STORE(at + 2, event->flow);
    at = prof__device_put_number(at, type, 1 + (event->flow != 0), parts->number);
    for (uint32_t i = 0; i < parts->args; ++i) {
        const prof_value *value = &event->args[i].value;
        at = prof__device_put_text(at, PROF__KIND_DATA, &parts->keys[i]);
        at = value->type == PROF_VALUE_STRING
                 ? prof__device_put_text(at, PROF__KIND_DATA, &parts->texts[i])
                 : prof__device_put_number(at, (uint64_t)value->type, 1,
                                           value->type == PROF_VALUE_NONE ? 0 : value->as.u);
    }
}

/* 1: something may be recorded. Before anything else is done, because it costs least. */
static inline int prof__device_live(const prof_device *device) { return prof__live((prof_site *)device->site); }

/* row: null for a pair, whose time is event->start and whose nanoseconds are number. */
static void prof__device_write(prof_device *device, prof_device_row *row, uint64_t type, const prof_device_event *event,
                               uint64_t number)
{
    prof__thread *self = PROF__SELF();
    prof_site *site = (prof_site *)device->site;
    prof__device_parts parts;
    uint64_t head;
    if (!prof__enter(self, site, &head)) return;
    prof__session *s = self->session;
    if (s->header->mode != PROF_STATS &&
        ((PROF__ACQUIRE(&device->epoch) == s->epoch && (!row || PROF__ACQUIRE(&row->epoch) == s->epoch)) ||
         prof__device_know(self, device, row))) {
        prof__device_measure(s, event, &parts);
        parts.number = number;
        uint64_t now = prof__now(s, 0), *at = prof__reserve(self, parts.words, &now);
        if (at) {
            prof__device_fill(at, &parts);
            PROF__STORE(at + 1, (uint64_t)(row ? row->number : device->number) << 8 | type);
            PROF__STORE(at + 2, event->start);
            prof__store_word(at, head | (now - self->base));
            prof__commit(self, parts.words);
        }
    }
    prof__leave(self);
}

static void prof__device_report(prof_device_row *row, const prof_device_event *event)
{
    PROF__LED_VOID(prof__device_report, (row, event));
    if (event->type == PROF_EVENT_SCOPE)
        prof__device_write(row->device, row, PROF__DEVICE_SCOPE, event, event->end - event->start);
    else if (event->type == PROF_EVENT_MARK)
        prof__device_write(row->device, row, PROF__DEVICE_MARK, event, 0);
    else if (event->type == PROF_EVENT_COUNTER &&
             (event->value.type == PROF_VALUE_INT || event->value.type == PROF_VALUE_DOUBLE))
        prof__device_write(row->device, row, PROF__DEVICE_COUNTER, event, event->value.as.u);
}

PROF__ENTRY void prof_device_record(prof_device_row *row, const prof_device_event *event)
{
    if (row && event && prof__device_live(row->device)) prof__device_report(row, event);
}

static prof_device_event prof__device_event_of(prof_event_type type, const char *name, uint64_t time)
{
    prof_device_event event; /* field by field: gcc's way to clear it all at once takes ten times as long */
    event.type = type;
    event.name = name;
    event.start = time;
    event.end = event.flow = 0;
    event.value.type = PROF_VALUE_NONE;
    event.value.cut = 0;
    event.value.as.u = 0;
    event.args = NULL;
    event.arg_count = 0;
    return event;
}

PROF__ENTRY void prof_device_scope(prof_device_row *row, const char *name, uint64_t start, uint64_t end)
{
    if (!row || !prof__device_live(row->device)) return;
    prof_device_event event = prof__device_event_of(PROF_EVENT_SCOPE, name, start);
    event.end = end;
    prof__device_report(row, &event);
}

PROF__ENTRY void prof_device_mark(prof_device_row *row, const char *name, uint64_t time)
{
    if (!row || !prof__device_live(row->device)) return;
    prof_device_event event = prof__device_event_of(PROF_EVENT_MARK, name, time);
    prof__device_report(row, &event);
}

PROF__ENTRY void prof_device_counter(prof_device_row *row, const char *name, uint64_t time, int64_t value)
{
    if (!row || !prof__device_live(row->device)) return;
    prof_device_event event = prof__device_event_of(PROF_EVENT_COUNTER, name, time);
    event.value.type = PROF_VALUE_INT;
    event.value.as.i = value;
    prof__device_report(row, &event);
}

PROF__ENTRY void prof_device_counter_double(prof_device_row *row, const char *name, uint64_t time, double value)
{
    if (!row || !prof__device_live(row->device)) return;
    prof_device_event event = prof__device_event_of(PROF_EVENT_COUNTER, name, time);
    event.value.type = PROF_VALUE_DOUBLE;
    event.value.as.d = value;
    prof__device_report(row, &event);
}

PROF_DEF uint64_t prof_host_ns(void) { return prof__monotonic(); }

PROF_DEF prof_status prof_device_sync(prof_device *device, uint64_t ticks, uint64_t host_ns)
{
    PROF__LED(prof_device_sync, (device, ticks, host_ns));
    if (!device) return prof__fail(PROF_INVALID_ARGUMENT, "prof_device_sync: device is null");
    if (!host_ns) {
        host_ns = prof__monotonic();
    } else if (device->clock.unix_time) {
        prof__pair now;
        prof__pair_take(PROF_CLOCK_MONOTONIC, 0, &now);
        host_ns += now.monotonic_ns - now.unix_ns;
    }
    uint32_t gate = prof__state_lock();
    uint64_t at = device->pair_count ? 1 + (device->pair_count - 1) % (PROF__DEVICE_PAIRS - 1) : 0;
    const prof__session *s = prof__state.running ? prof__state.session : NULL;
    device->pair_count++;
    device->pairs[at].ticks = ticks;
    device->pairs[at].ns = host_ns;
    if (s && device->epoch == s->epoch && device->record)
        prof__device_store(device->record + 3 + 3 * at, ticks, host_ns);
    prof__state_unlock(gate);
    prof_device_event event = prof__device_event_of(PROF_EVENT_MARK, NULL, ticks);
    if (prof__device_live(device)) prof__device_write(device, NULL, PROF__DEVICE_PAIR, &event, host_ns);
    return PROF_OK;
}
#endif

/*-- STREAM ----------------------------------------------------------------------------------------------- >>stream --
   PROF_STREAM: the service packs full chunks, oldest first, into blocks behind the ring in the file, and lets the
   chunks go when their block is complete and published. So the file is whole at every moment. What cannot be written
   stays in the ring and is tried again; once the ring is full, events are lost and counted. */

#define PROF__MIN_ARCHIVE (512u << 10) /* a limit must leave room for some blocks */
#define PROF__FIRST_RETRY 10000000u    /* ns; doubles up to a second */

/* Lets the writers have a chunk; its sequence number stays, so that readers know what they find in both places. */
static void prof__chunk_release(prof__session *s, prof__chunk *chunk)
{
    PROF__RELEASE(&chunk->state, (uint32_t)PROF__CHUNK_FREE);
    if (!s->spare_chunk) {
        s->spare_chunk = 1; /* first of all; the service is one who may have found none */
        prof__room_changed();
        return;
    }
    __atomic_fetch_add(&s->free_chunks, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&s->released, 1, __ATOMIC_SEQ_CST);
    prof__room_changed();
    if (__atomic_load_n(&s->waiting, __ATOMIC_SEQ_CST)) prof__word_wake(&s->released);
}

/* 1: the service may empty this chunk: it is full or, where the ring gets scarce, an ended thread left it half empty
   for the next one. */
static int prof__chunk_full(prof__session *s, prof__chunk *chunk)
{
    uint32_t state = PROF__ACQUIRE(&chunk->state);
    return state == PROF__CHUNK_FULL ||
           (state == PROF__CHUNK_LEFT && PROF__LOAD(&s->free_chunks) < s->chunk_count / 4 &&
            __atomic_compare_exchange_n(&chunk->state, &state, (uint32_t)PROF__CHUNK_FULL, 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED));
}

/* Keeps in the image, for reports, why something in the background failed; of what is too long the end, where the reason
   stands behind the path. A reader may be looking. */
static void prof__background_failed(prof__session *s, const char *why)
{
    char *to = s->header->write_error;
    size_t length = prof__length(why), most = sizeof s->header->write_error - 1;
    if (length > most) why += length - most;
    for (size_t i = 0; i + 1 < sizeof s->header->write_error; ++i) {
        PROF__STORE(to + i, *why);
        if (*why) ++why;
    }
    PROF__ADD(&s->header->write_failures, 1);
}

#ifdef _WIN32
static prof_status prof__stream_open(prof__session *s)
{
    (void)s;
    return prof__fail(PROF_UNSUPPORTED, "mode stream: not on Windows yet");
}
static void prof__stream_close(prof__session *s) { (void)s; }
static prof_status prof__file_finish(prof__session *s, prof_status status)
{
    (void)s;
    return status;
}
static int prof__stream_step(prof__session *s)
{
    (void)s, (void)prof__chunk_full, (void)prof__chunk_release;
    return 0;
}
#else
/* The descriptor may have been closed by a program that closes all, and given to another file since. */
static int prof__stream_file_there(const prof__session *s)
{
    struct stat about;
    return s->stream.opened && !fstat(s->stream.file, &about) && (uint64_t)about.st_dev == s->stream.device &&
           (uint64_t)about.st_ino == s->stream.inode;
}

/* 1: somebody has made the file smaller than the image. Its descriptor is there. */
static int prof__file_cut(prof__session *s)
{
    struct stat about;
    int cut = !fstat(s->stream.file, &about) && (uint64_t)about.st_size < s->image_size;
    if (cut) __atomic_fetch_or(&s->cut, PROF__CUT, __ATOMIC_RELAXED);
    return cut;
}

/* Opens the file again, by its name. 0: errno says why. */
static int prof__stream_file_open(prof__session *s, const char *path)
{
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return 0;
    prof__file_lock(file);
    prof__file_keep(s, file);
    return 1;
}

/* Makes sure that the descriptor is that of the file. */
static int prof__stream_file_ready(prof__session *s)
{
    if (prof__stream_file_there(s)) return 1;
    if (prof__stream_file_open(s, s->live_path)) {
        if (prof__stream_file_there(s)) return 1;
        close(s->stream.file); /* another file by now */
        s->stream.opened = 0;
    }
    return 0;
}

static void prof__stream_close(prof__session *s)
{
    free(s->stream.block);
    free(s->stream.chunks);
    s->stream.block = NULL;
    s->stream.chunks = NULL;
    if (prof__stream_file_there(s)) close(s->stream.file);
    s->stream.opened = 0;
}

/* After the memory was taken, before the file has its name. */
static prof_status prof__stream_open(prof__session *s)
{
    prof__header *h = s->header;
    uint64_t least = 2 * PROF__BLOCK_BOUND(s->chunk_words);
    if (least < PROF__MIN_ARCHIVE) least = PROF__MIN_ARCHIVE;
    if (s->max_file_size && s->max_file_size < prof__round(s->mapping_size, 4096) + least)
        return prof__fail(PROF_INVALID_ARGUMENT, "max_file_size %llu: at least %lluK more than the buffer (%llu)",
                          (unsigned long long)s->max_file_size, (unsigned long long)(least + 1023) / 1024,
                          (unsigned long long)s->mapping_size);
    s->stream.block = (prof__block *)malloc(PROF__BLOCK_BOUND(s->chunk_words));
    s->stream.chunks = (prof__chunk **)malloc((size_t)s->chunk_count * sizeof *s->stream.chunks);
    if (!s->stream.block || !s->stream.chunks) return prof__fail(PROF_NO_MEMORY, "no memory to pack chunks");
    h->archive_offset = h->archive_first = h->archive_next = prof__round(s->mapping_size, 4096);
    h->archive_limit = s->max_file_size ? s->max_file_size / 8 * 8 : INT64_MAX / 4096 * 4096;
    return PROF_OK;
}

/* What is left to do after the session and, unless the file is the output itself, the export that ended with status. */
static prof_status prof__file_finish(prof__session *s, prof_status status)
{
    struct stat about;
    char why[PROF__ERROR_SIZE];
    int named = !lstat(s->live_path, &about);
    int here = named && (uint64_t)about.st_dev == s->stream.device && (uint64_t)about.st_ino == s->stream.inode;
    int open = prof__stream_file_there(s); /* the descriptor is that of the file, wherever it was moved */
    if (s->live_path != s->output && status) {
        memcpy(why, PROF__ERROR_TEXT(), sizeof why);
        status = prof__fail(status, "%.110s: the recording is kept in %s", why, prof__path_end(s->live_path));
    } else if (s->live_path != s->output) {
        if (here) unlink(s->live_path);
    } else if (!status && !here && (!open || fstat(s->stream.file, &about) || !about.st_nlink)) {
        status = prof__fail(PROF_IO, "%s: was %s while it was recorded: prof_save() can still write it elsewhere",
                            prof__path_end(s->live_path), named ? "replaced by another file" : "removed");
    } else if (!status && !(open && prof__file_cut(s)) && prof__chunks_there(s) < s->chunks_asked) {
        status = prof__fail(PROF_IO, "%s: %s: its buffer has %llu KiB instead of %llu",
                            prof__path_end(s->live_path), s->room_error,
                            (unsigned long long)(s->chunk_count * s->chunk_size >> 10),
                            (unsigned long long)(s->chunks_asked * s->chunk_size >> 10));
    }
    if (!status && PROF__LOAD(&s->cut))
        status = prof__fail(PROF_IO, "%s: was cut by somebody else while it was recorded: what was there is lost",
                            prof__path_end(s->live_path));
    if (open) flock(s->stream.file, LOCK_UN); /* it is no longer recorded into */
    return status;
}

static int prof__stream_write(prof__session *s, const void *bytes, size_t size, uint64_t at) /* 0 or errno */
{
    const char *from = (const char *)bytes;
    prof__file_signal signal;
    int error = 0;
    if (!prof__stream_file_ready(s)) return EBADF;
    if (prof__file_cut(s)) return EILSEQ; /* and is not made larger again */
    prof__file_signal_hold(&signal);
    while (size) {
        off_t offset = (off_t)at;
        errno = EFBIG;
        ssize_t n = (uint64_t)offset == at ? pwrite(s->stream.file, from, size, offset) : -1;
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            error = n ? errno : ENOSPC;
            break;
        }
        from += n;
        at += (uint64_t)n;
        size -= (size_t)n;
    }
    prof__file_signal_drop(&signal);
    return error;
}

/* Drops the oldest block, or what ends a lap. 0 or errno. */
static int prof__archive_drop(prof__session *s)
{
    prof__header *h = s->header;
    prof__block block;
    uint64_t first = h->archive_first, left = h->archive_limit - first;
    int ends = left < sizeof block;
    if (!ends) {
        ssize_t n = pread(s->stream.file, &block, sizeof block, (off_t)first);
        if (n < 0) return errno;
        if (n != (ssize_t)sizeof block || block.magic != PROF__BLOCK_MAGIC || block.size < sizeof block ||
            block.size > left)
            return EILSEQ; /* not what was written there */
        ends = !block.sequence;
        if (!ends) PROF__ADD(&h->overwritten, 1);
    }
    PROF__RELEASE(&h->archive_first, ends ? h->archive_offset : first + block.size);
    return 0;
}

/* Marks that the lap ends at this place. */
static int prof__archive_lap(prof__session *s, uint64_t at)
{
    prof__block block;
    if (s->header->archive_limit - at < sizeof block) return 0;
    memset(&block, 0, sizeof block);
    block.magic = PROF__BLOCK_MAGIC;
    block.size = sizeof block;
    block.check = prof__block_check(&block, NULL);
    return prof__stream_write(s, &block, sizeof block, at);
}

/* Where a block of size bytes goes; drops older ones for it, if that is wanted. 0 or errno; EDOM: there is no room. */
static int prof__archive_room(prof__session *s, uint64_t size, uint64_t *at)
{
    prof__header *h = s->header;
    int error = 0;
    uint64_t next = h->archive_next;
    while (!error && h->archive_first > next) { /* lapped: as far as the oldest block, which it must not touch */
        *at = next;
        if (h->archive_first - next > size) return 0;
        error = prof__archive_drop(s);
    }
    if (error) return error;
    *at = next;
    if (h->archive_limit - next >= size) return 0;
    if (s->at_limit != PROF_LIMIT_ROTATE) return EDOM;
    *at = h->archive_offset;
    error = prof__archive_lap(s, next);
    while (!error && h->archive_first <= *at + size && h->archive_first != next) error = prof__archive_drop(s);
    return error;
}

/* 0 or errno; the chunk can be let go. */
static int prof__stream_put(prof__session *s, const prof__chunk *chunk)
{
    const uint64_t *words = (const uint64_t *)(const void *)(chunk + 1);
    uint64_t at = 0;
    uint32_t size = prof__block_pack(chunk, words, prof__records_end(words, (size_t)s->chunk_words), s->stream.block);
    int error = prof__archive_room(s, size, &at);
    if (!error) error = prof__stream_write(s, s->stream.block, size, at);
    if (!error) PROF__RELEASE(&s->header->archive_next, at + size);
    return error;
}

static void prof__stream_failed(prof__session *s, int error)
{
    prof__stream *stream = &s->stream;
    if (error == EDOM) {
        stream->full = 1;
        prof__background_failed(s, "max_file_size is reached");
        return;
    }
    prof__background_failed(s, error == EBADF    ? "the file was closed by the program"
                               : error == EILSEQ ? "the file was changed by somebody else"
                                                 : strerror(error));
    stream->backoff_ns = stream->backoff_ns ? stream->backoff_ns * 2 : PROF__FIRST_RETRY;
    if (stream->backoff_ns > 1000000000u) stream->backoff_ns = 1000000000u;
    stream->retry_at = prof__monotonic() + stream->backoff_ns;
}

static int prof__stream_order(const void *a, const void *b)
{
    uint64_t x = (*(prof__chunk *const *)a)->sequence, y = (*(prof__chunk *const *)b)->sequence;
    return x < y ? -1 : x > y;
}

/* Finds what is full, the oldest first; returns how many. A thread's chunk is full before the next one is: so once a
   look at all finds no more than the one before, none is among them whose thread has an older one that is not. A
   rotating archive drops blocks in the order in which they came, and must not drop from the midst of a thread. */
static size_t prof__stream_gather(prof__session *s)
{
    size_t count = 0, before;
    do {
        before = count;
        count = 0;
        for (uint64_t slot = 0; slot < s->chunk_count; ++slot) {
            prof__chunk *chunk = (prof__chunk *)(void *)(s->chunks + slot * s->chunk_size);
            if (prof__chunk_full(s, chunk)) s->stream.chunks[count++] = chunk;
        }
    } while (count != before);
    qsort(s->stream.chunks, count, sizeof *s->stream.chunks, prof__stream_order);
    return count;
}

/* Packs what is full. 1: there was something. */
static int prof__stream_step(prof__session *s)
{
    prof__stream *stream = &s->stream;
    if (s->header->mode != PROF_STREAM || stream->full) return 0;
    if (stream->backoff_ns && prof__monotonic() < stream->retry_at) return 0;
    uint64_t next = PROF__LOAD(&s->header->next_chunk);
    if (next == stream->seen && PROF__LOAD(&s->free_chunks) > s->chunk_count / 2) return 0; /* need not look */
    stream->seen = next;
    size_t count = prof__stream_gather(s);
    if (!count) return 0;
    uint64_t began = prof__now(s, 0);
    int error = 0;
    for (size_t i = 0; i < count && !error && !PROF__ACQUIRE(&s->service.stop); ++i) {
        error = prof__stream_put(s, stream->chunks[i]);
        if (error) break;
        stream->backoff_ns = 0;
        prof__chunk_release(s, stream->chunks[i]);
    }
    if (error) {
        stream->seen = ~0ull;
        prof__stream_failed(s, error);
    }
    PROF__SITE(site, PROF__KIND_BEGIN, "pack", "prof", 2);
    prof__service_scope(s, &site, began);
    return 1;
}
#endif

/*-- SERVICE --------------------------------------------------------------------------------------------- >>service --
   The one thread that prof may start, and only where the configuration needs it. It does in the background what takes
   longer than a scope may: its steps look for work and do it. Nobody tells it, because that would cost the writers a
   system call; it looks so often that the ring cannot fill between two looks. All signals are blocked in it, it takes
   no control lock (prof_stop() joins it while holding that), and its scopes are recorded like anybody's, on a track
   "prof". */

static int prof__service_session_runs(const prof__session *s)
{
    uint32_t gate = prof__state_lock();
    int runs = prof__state.running && prof__state.session == s;
    prof__state_unlock(gate);
    return runs;
}

/* Writes the output every dump_period, as prof_stop() does at the end. */
static int prof__dump_step(prof__session *s)
{
    prof__service *service = &s->service;
    uint64_t now = s->dump_period_ns ? prof__monotonic() : 0;
    if (!s->dump_period_ns || now < service->dump_at) return 0;
    if (!prof__service_session_runs(s)) return 0; /* it was not published yet */
    uint64_t began = prof__now(s, 0);
    if (prof__output_write(s)) prof__background_failed(s, prof_error());
    service->dump_at = prof__monotonic() + s->dump_period_ns;
    PROF__SITE(site, PROF__KIND_BEGIN, "dump", "prof", 2);
    prof__service_scope(s, &site, began);
    return 1;
}

/* Begins and ends recording by the clock; in the end, output is written as prof_stop() would. */
static int prof__schedule_step(prof__session *s)
{
    uint64_t now = s->begin_at || s->duration_ns ? prof__monotonic() : 0;
    int ended = 0;
    if (!now) return 0;
    s->look_at = s->begin_at; /* until it is published */
    uint32_t gate = prof__state_lock();
    if (prof__state.running && prof__state.session == s) {
        if (prof__state.held & PROF__HELD_TIME && now >= s->begin_at) prof__schedule_release(s, PROF__HELD_TIME);
        ended = !prof__state.held && s->end_at && now >= s->end_at;
        if (ended) prof__recording_ends();
        prof__state.ended |= ended;
        s->look_at = ended ? 0 : prof__state.held & PROF__HELD_TIME ? s->begin_at : s->end_at;
    } else if (prof__state.session == s) {
        s->look_at = 0;
    }
    prof__state_unlock(gate);
    if (ended && s->output[0] && s->live_path != s->output) {
        prof_status status = prof__output_write(s);
        if (status) prof__background_failed(s, prof_error()); /* prof_stop() tries again */
        s->written = !status;
    }
    return ended;
}

/* How long the service may sleep, if it wants to for that long. */
static uint64_t prof__schedule_sleep(const prof__session *s, uint64_t sleep)
{
    uint64_t now = s->look_at ? prof__monotonic() : 0;
    if (!s->look_at || s->look_at >= now + sleep) return sleep;
    return s->look_at > now ? s->look_at - now : 1;
}

/* Has the service look now. Any thread, signal handlers, too. */
static PROF__UNUSED void prof__service_wake(prof__session *s) { prof__word_wake(&s->service.word); }

/* How long to sleep after a sleep of this length. Where chunks are kept, what has filled meanwhile tells. */
static uint64_t prof__service_sleep(const prof__session *s, uint64_t before, uint64_t used, int work)
{
    const prof__service *service = &s->service;
    uint64_t sleep = before;
    if (!prof__chunks_kept(s))
        sleep = work ? service->shortest_ns : before * 2;
    else if (used > s->chunk_count / 4)
        sleep = before / 2;
    else if (used < s->chunk_count / 6)
        sleep = before * 2;
    if (sleep < service->shortest_ns) sleep = service->shortest_ns;
    return sleep < service->longest_ns ? sleep : service->longest_ns;
}

static void prof__service_run(prof__session *s)
{
    prof__service *service = &s->service;
    uint64_t sleep = service->shortest_ns;
    PROF__SELF()->impatient = 1;
    prof_thread_name("prof");
    for (;;) {
        uint32_t word = PROF__ACQUIRE(&service->word), stop = PROF__ACQUIRE(&service->stop);
        uint64_t used = s->chunk_count - PROF__LOAD(&s->free_chunks);
        int work = stop ? 0 : prof__stream_step(s); /* in the end what is in the ring is in the file as it is */
        work |= prof__upstairs.follow_step(s); /* see >>follow */
        work |= prof__upstairs.save_step(s);
        work |= stop ? 0 : prof__dump_step(s);
        work |= stop ? 0 : prof__schedule_step(s);
        if (stop) break;
        sleep = prof__service_sleep(s, sleep, used, work);
        prof__word_wait(&service->word, word, prof__schedule_sleep(s, sleep));
    }
}

#ifdef _WIN32
static DWORD WINAPI prof__service_main(LPVOID session)
{
    prof__service_run((prof__session *)session);
    return 0;
}
static int prof__service_create(prof__session *s) /* 0 or the system's error */
{
    s->service.thread = CreateThread(NULL, 0, prof__service_main, s, 0, NULL);
    return s->service.thread ? 0 : (int)GetLastError();
}
static void prof__service_join(prof__session *s)
{
    WaitForSingleObject(s->service.thread, INFINITE);
    CloseHandle(s->service.thread);
}
#else
static void *prof__service_main(void *session)
{
#ifdef __linux__
    prctl(PR_SET_NAME, "prof", 0, 0, 0);
#endif
    prof__service_run((prof__session *)session);
    return NULL;
}
static int prof__service_create(prof__session *s)
{
    prof__signals signals;
    prof__signals_block(&signals); /* the new thread inherits this */
    int error = pthread_create(&s->service.thread, NULL, prof__service_main, s);
    prof__signals_restore(&signals);
    return error;
}
static void prof__service_join(prof__session *s) { pthread_join(s->service.thread, NULL); }
#endif

#define PROF__FOLLOW_PERIOD 5000000u /* ns: so often, at least, what triggers a save is looked for */

/* The longest sleep is an eighth of the time in which the ring fills at 160 MB, 10 million scopes, a second. Not below
   a millisecond: a ring of less than 1.3 MB takes less than that rate, but an idle program costs no more than this. */
static uint64_t prof__service_longest(const prof__session *s)
{
    uint64_t ns = s->chunk_count * s->chunk_size / 8 * 25 / 4;
    if (!prof__chunks_kept(s)) ns = s->dump_period_ns / 10;
    if (ns < 1000000) ns = 1000000;
    return ns < 1000000000 ? ns : 1000000000;
}

static prof_status prof__service_configure(prof__session *s, const prof_config *config)
{
    prof__service *service = &s->service;
    s->max_file_size = config->max_file_size;
    s->at_limit = (uint32_t)config->at_limit;
    s->wait_ns = config->wait_ns == PROF__NO_WAIT ? 0 : config->wait_ns;
    if (!config->wait_ns && prof__mode_counts((uint32_t)config->mode)) s->wait_ns = PROF__MAX_WAIT;
    int fresh = s->live_path && (s->live_path == s->output || config->mode == PROF_STREAM); /* a mapped file is never old */
    s->dump_period_ns = fresh || !s->output[0] || config->dump_period_ns == PROF__NO_DUMP ? 0 : config->dump_period_ns;
    service->wanted = prof__chunks_kept(s) || s->dump_period_ns != 0;
    service->longest_ns = prof__service_longest(s);
    service->shortest_ns = service->longest_ns / 16 > 100000 ? service->longest_ns / 16 : 100000;
    service->dump_at = prof__monotonic() + s->dump_period_ns;
    prof_status status = prof__upstairs.follow_make(s, config);
    if (s->follow) service->wanted = 1;
    if (s->follow && (!prof__chunks_kept(s) || service->longest_ns > PROF__FOLLOW_PERIOD) && config->save) {
        service->longest_ns = PROF__FOLLOW_PERIOD;
        service->shortest_ns = PROF__FOLLOW_PERIOD / 8;
    }
    if (!service->wanted && (config->delay_ns || config->start_unix_ns || config->duration_ns)) {
        service->wanted = 1; /* for two looks at the clock, and nothing else */
        service->longest_ns = service->shortest_ns = 1000000000;
    }
    return status || config->mode != PROF_STREAM ? status : prof__stream_open(s);
}

/* Under the control lock. */
static prof_status prof__service_start(prof__session *s)
{
    if (!s->service.wanted) return PROF_OK;
    s->service.process = prof__process_id();
    int error = prof__service_create(s);
    if (error) return prof__fail(PROF_NO_MEMORY, "the service thread cannot be started: error %d", error);
    s->service.running = 1;
    return PROF_OK;
}

/* Under the control lock. Lets the thread finish its work; it may have been left behind in the parent of a fork(). */
static void prof__service_stop(prof__session *s)
{
    if (!s->service.running) return;
    s->service.running = 0;
    if (s->service.process != prof__process_id()) return;
    PROF__RELEASE(&s->service.stop, 1u);
    prof__word_wake(&s->released); /* nobody will be let in any more */
    prof__service_wake(s);
    prof__service_join(s);
}

/* The code of the thread may be about to be unloaded, or the process to end without prof_stop(). */
static void __attribute__((destructor)) prof__service_leave(void)
{
    if (!prof__lock_try(&prof__control_word)) return;
    if (prof__state.session) prof__service_stop(prof__state.session);
    prof__unlock(&prof__control_word);
}

/*-- SNAPSHOT -------------------------------------------------------------------------------------------- >>snapshot --
   A consistent copy of an image that threads go on writing, out of this process's memory or another's file. Chunks are
   copied from the newest to the oldest, in a ring those first that are being written, and those taken after the start
   are left out: so of each thread a prefix of what it recorded is copied, without a gap. Meta comes last, and so knows
   every call site that the chunks name. */

typedef struct prof__source {
    int (*read)(void *user, uint64_t offset, void *to, size_t size); /* 8-byte units in order; 0: failed */
    void *user;
} prof__source;

/* Ends the copy before the first record that looked different the second time: a short scope was being taken back, or
   the words of a file were not read in order. Then the last record's run-time name may have been missed, too: it is
   written before that record, and so is complete by the second time. */
static void prof__chunk_cut(uint64_t *words, const uint64_t *again, size_t count)
{
    size_t at = 0, last = 0, next;
    for (; at < count && words[at] >> PROF__KIND_SHIFT; last = at, at = next) {
        next = at + prof__record_words(words[at], count - at);
        if (next == at || memcmp(words + at, again + at, (next - at) * 8)) break;
    }
    if (at == count) return;
    memset(words + at, 0, (count - at) * 8);
    uint64_t kind = words[last] >> PROF__KIND_SHIFT;
    if (kind != PROF__KIND_BEGIN && kind != PROF__KIND_MARK && kind != PROF__KIND_EVENT && kind != PROF__KIND_DATA)
        return;
    for (; at < count; at += next) {
        kind = again[at] >> PROF__KIND_SHIFT;
        next = kind == PROF__KIND_NAME || kind == PROF__KIND_DATA ? prof__record_words(again[at], count - at) : 0;
        if (!next) return;
        memcpy(words + at, again + at, next * 8);
    }
}

/* scratch: chunk_size bytes. An empty chunk where this one was reused meanwhile or is too new. to is all zero or has
   what an earlier try copied: one that was never used is not read, and the pages of its copy are not touched. */
static int prof__chunk_snapshot(const prof__source *from, const prof__header *h, uint64_t offset, uint64_t newest,
                                char *to, char *scratch)
{
    prof__chunk *chunk = (prof__chunk *)(void *)to, *again = (prof__chunk *)(void *)scratch;
    size_t first = h->chunk_header_size, check;
    uint64_t sequence; /* the comparison, too, must not have met the words of a chunk that is being cleared */
    int tries = 0;
    do { /* once more if losses became a record meanwhile, or they might count twice */
        if (!from->read(from->user, offset, scratch, first)) return 0;
        if (!again->sequence) {
            if (chunk->sequence) memset(to, 0, h->chunk_size);
            return 1;
        }
        check = again->state == PROF__CHUNK_FULL ? first : h->chunk_size; /* full before it is read: nothing changes */
        if (!from->read(from->user, offset, to, h->chunk_size)) return 0;
        if (!from->read(from->user, offset, scratch, check)) return 0;
    } while (again->lost < chunk->lost && ++tries < 8);
    if (!from->read(from->user, offset + offsetof(prof__chunk, sequence), &sequence, sizeof sequence)) return 0;
    if (!chunk->sequence || chunk->sequence > newest || again->sequence != chunk->sequence ||
        sequence != chunk->sequence)
        memset(to, 0, h->chunk_size);
    else if (check > first)
        prof__chunk_cut((uint64_t *)(void *)(to + first), (const uint64_t *)(const void *)(scratch + first),
                        (h->chunk_size - first) / 8);
    return 1;
}

/* A copy on its way. */
typedef struct prof__copying {
    const prof__source *from;
    const prof__header *h;
    char *copy, *scratch;
    uint64_t *held;  /* of each slot the sequence of the chunk that was being written there when the copy began, or 0 */
    uint64_t *seen;  /* the sequence in the first turn */
    uint64_t newest; /* no chunk with a later sequence is in the copy */
    uint64_t tick;   /* what was recorded before it is in the copy, or was overwritten */
    int lapped;      /* threads went half round the ring in the meantime */
    int torn;        /* so soon that what they recorded last may be missing */
} prof__copying;

#define PROF__COPIED UINT64_MAX /* as a sequence: this chunk was copied in the first turn */

/* claimed: how many were taken so far; in its first lap a ring has no more. */
static int prof__chunks_held(prof__copying *c, uint64_t claimed)
{
    const prof__header *h = c->h;
    for (uint64_t slot = 0; slot < h->chunk_count && slot < claimed; ++slot) {
        prof__chunk chunk;
        if (!c->from->read(c->from->user, h->chunk_offset + slot * h->chunk_size, &chunk, sizeof chunk)) return 0;
        c->held[slot] = chunk.state == PROF__CHUNK_OWNED ? chunk.sequence : 0;
    }
    return 1;
}

/* Copies the chunks that are being written, or can be again, or in the second turn the others: there, what is not the
   chunk that the first turn saw was begun in the meantime, and does not belong to this copy. */
static int prof__chunks_turn(prof__copying *c, int first)
{
    const prof__header *h = c->h;
    for (uint64_t i = 0; i < h->chunk_count && i < c->newest; ++i) {
        uint64_t slot = (c->newest % h->chunk_count + h->chunk_count - 1 - i) % h->chunk_count;
        uint64_t offset = h->chunk_offset + slot * h->chunk_size;
        prof__chunk *chunk = (prof__chunk *)(void *)(c->copy + offset), now;
        if (first) {
            if (!c->from->read(c->from->user, offset, &now, sizeof now)) return 0;
            c->seen[slot] = now.sequence;
            if (!c->held[slot] && (now.state == PROF__CHUNK_FULL || now.state == PROF__CHUNK_FREE)) continue;
        } else if (c->seen[slot] == PROF__COPIED) {
            continue;
        }
        if (!prof__chunk_snapshot(c->from, h, offset, c->newest, c->copy + offset, c->scratch)) return 0;
        c->torn |= c->held[slot] && chunk->sequence != c->held[slot];
        if (!first && !h->archive_offset && chunk->sequence != c->seen[slot]) memset(chunk, 0, h->chunk_size);
        if (first) c->seen[slot] = PROF__COPIED;
    }
    return 1;
}

/* Copies the chunks once: first those that are being written. They have the newest events of their threads, and can be
   anywhere in the ring: one that is reused before it was copied may leave its thread's older chunks to the copy, where
   whoever is about to take them sleeps. An archive has what was reused. */
static int prof__chunks_copy(prof__copying *c)
{
    const prof__header *h = c->h;
    uint64_t before, after, position = offsetof(prof__header, next_chunk);
    if (!c->from->read(c->from->user, position, &before, sizeof before) || !prof__chunks_held(c, before)) return 0;
    c->tick = h->clock == PROF_CLOCK_MONOTONIC ? prof__monotonic() : prof__counter();
    if (!c->from->read(c->from->user, position, &c->newest, sizeof c->newest)) return 0;
    c->lapped = c->torn = 0;
    for (int first = !h->archive_offset; first >= 0; --first) {
        if (!prof__chunks_turn(c, first) || !c->from->read(c->from->user, position, &after, sizeof after)) return 0;
        c->lapped = after - before > h->chunk_count / 2;
        c->torn |= first && c->lapped;
    }
    return 1;
}

/* The chunks of the image with header h (validated), to their places in a copy, which is all zero. 0: reading failed, or
   no memory. What was overtaken is copied again: a few times where little may be left, and more often where it may be
   wrong. newest and tick: as above. */
static int prof__chunks_snapshot(const prof__source *from, const prof__header *h, char *copy, uint64_t *newest,
                                 uint64_t *tick)
{
    prof__copying c;
    int good, tries = 0;
    memset(&c, 0, sizeof c);
    c.from = from;
    c.h = h;
    c.copy = copy;
    c.scratch = (char *)malloc(h->chunk_size);
    c.held = (uint64_t *)calloc((size_t)h->chunk_count + 1, sizeof *c.held);
    c.seen = (uint64_t *)calloc((size_t)h->chunk_count + 1, sizeof *c.seen);
    do good = c.scratch && c.held && c.seen && prof__chunks_copy(&c);
    while (good && (c.lapped || c.torn) && !h->archive_offset && ++tries < (c.torn ? 100 : 20));
    *newest = c.newest;
    *tick = c.tick;
    free(c.held);
    free(c.seen);
    free(c.scratch);
    return good;
}

static int prof__memory_read(void *image, uint64_t offset, void *to, size_t size)
{
    const uint64_t *from = (const uint64_t *)(const void *)((const char *)image + offset);
    for (size_t i = 0; i < size / 8; ++i) ((uint64_t *)to)[i] = PROF__ACQUIRE(from + i);
    return 1;
}

/* The same of a session's image. A chunk that is not ready yet is empty. */
static int prof__session_read(void *session, uint64_t offset, void *to, size_t size)
{
    const prof__session *s = (const prof__session *)session;
    uint64_t chunks = (uint64_t)(s->chunks - (const char *)s->header);
    if (offset < chunks + prof__chunks_there(s) * s->chunk_size) return prof__memory_read(s->header, offset, to, size);
    memset(to, 0, size);
    return 1;
}

/* So many scopes were taken back in the chunks as they are now. */
static uint64_t prof__taken_back(const prof__session *s)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < s->chunk_count && i < PROF__LOAD(&s->header->next_chunk); ++i)
        count += PROF__LOAD(&((prof__chunk *)(void *)(s->chunks + i * s->chunk_size))->taken_back);
    return count;
}

/* A private copy of the present image. Writers never wait for it. */
static prof_status prof__image_copy(void **bytes, size_t *size)
{
    *bytes = NULL;
    *size = 0;
    uint32_t gate = prof__state_lock();
    prof__session *s = prof__state.session;
    if (!s) {
        prof__state_unlock(gate);
        return prof__fail(PROF_INVALID_STATE, "nothing has been recorded: call prof_start() first");
    }
    prof__header h;
    memset(&h, 0, sizeof h);
    prof__memory_read(s->header, 0, &h, sizeof h);
    if (h.mode == PROF_STATS) h.chunk_count = 0; /* what is in them has been folded */
    uint64_t taken_back = h.mode == PROF_STATS ? prof__taken_back(s) : 0;
    __atomic_fetch_add(&s->attached, 1, __ATOMIC_RELAXED); /* keeps the image while the lock is not held */
    s->readers++;
    if (prof__state.running) {
        prof__pair_take_well(s->clock, h.tick_hz, &s->header->last);
        h.copy_tick = s->header->last.tick;
    }
    prof__lost_collect(s);
    prof__state_unlock(gate);

    prof_status status = PROF_OK;
    prof__source source = {prof__session_read, s};
    char *copy = (char *)calloc(s->image_size, 1); /* pages that are never touched cost nothing */
    uint64_t newest = 0, tick = 0;
    if (!copy || !prof__chunks_snapshot(&source, &h, copy, &newest, &tick)) {
        status = prof__fail(PROF_NO_MEMORY, "no memory for a copy of the image (%llu bytes)",
                            (unsigned long long)s->image_size);
    } else {
        gate = prof__state_lock();
        prof__memory_read(s->header, 0, copy, sizeof h);
        ((prof__header *)(void *)copy)->next_chunk = newest;
        ((prof__header *)(void *)copy)->copy_tick = h.copy_tick ? tick : 0;
        memcpy(copy + h.meta_offset, s->meta, (size_t)s->header->meta_used);
        ((prof__header *)(void *)copy)->chunk_count = h.chunk_count;
        ((prof__header *)(void *)copy)->taken_back += taken_back;
        prof__state_unlock(gate);
    }
    *size = s->image_size;
    gate = prof__state_lock();
    s->readers--;
    __atomic_fetch_sub(&s->attached, 1, __ATOMIC_RELEASE);
    prof__state_unlock(gate);
    if (status) {
        free(copy);
        copy = NULL;
    }
    *bytes = copy;
    return status;
}

/* Reads size bytes of a real file from offset on, in any number of threads at a time; 0 if there are not as many. */
static int prof__file_at(FILE *file, uint64_t offset, void *to, size_t size)
{
    char *at = (char *)to;
    while (size) {
        size_t part = size < (size_t)1 << 30 ? size : (size_t)1 << 30;
#ifdef _WIN32
        OVERLAPPED place;
        DWORD got = 0;
        memset(&place, 0, sizeof place);
        place.Offset = (DWORD)offset;
        place.OffsetHigh = (DWORD)(offset >> 32);
        if (!ReadFile((HANDLE)_get_osfhandle(_fileno(file)), at, (DWORD)part, &got, &place) || !got) return 0;
#else
        ssize_t got;
        if ((uint64_t)(off_t)offset != offset || (off_t)offset < 0) return 0;
        do got = pread(fileno(file), at, part, (off_t)offset);
        while (got < 0 && errno == EINTR);
        if (got <= 0) return 0;
#endif
        at += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return 1;
}

/* The file that has the archive of the session of which this is a copy of the header; null: there is none. */
static FILE *prof__archive_open(const prof__header *copy)
{
    FILE *stream = NULL;
#ifdef _WIN32
    (void)copy;
#else
    int file = -1;
    uint32_t gate = prof__state_lock();
    const prof__session *s = prof__state.session;
    struct stat about;
    if (copy->archive_offset && s && s->live_path && s->header->session == copy->session) {
        if (prof__stream_file_there(s)) file = fcntl(s->stream.file, F_DUPFD_CLOEXEC, 0);
        if (file < 0) file = open(s->live_path, O_RDONLY | O_CLOEXEC);
        if (file >= 0 && (fstat(file, &about) || (uint64_t)about.st_ino != s->stream.inode ||
                          (uint64_t)about.st_dev != s->stream.device)) {
            close(file); /* another one has that name by now */
            file = -1;
        }
    }
    prof__state_unlock(gate);
    if (file >= 0) stream = fdopen(file, "rb");
    if (file >= 0 && !stream) close(file);
#endif
    return stream;
}

/* Where the archive's lap ends that its oldest block is in. */
static uint64_t prof__archive_lap_end(FILE *file, const prof__header *h)
{
    uint64_t at = h->archive_first;
    prof__block block;
    if (at <= h->archive_next) return h->archive_next;
    while (h->archive_limit - at >= sizeof block && prof__file_at(file, at, &block, sizeof block) &&
           block.magic == PROF__BLOCK_MAGIC && block.sequence && block.size >= sizeof block &&
           block.size <= h->archive_limit - at)
        at += block.size;
    return at;
}

static int prof__read_size(FILE *file, uint64_t *size)
{
#ifdef _WIN32
    long long end = _fseeki64(file, 0, SEEK_END) ? -1 : _ftelli64(file);
#else
    long end = fseek(file, 0, SEEK_END) ? -1 : ftell(file);
#endif
    *size = end < 0 ? 0 : (uint64_t)end;
    return end >= 0;
}

/* Where a copy of an archive's bytes ends: at `to`, or if the file was cut before that, a word behind it, which readers
   count as a block that is lost. */
static uint64_t prof__archive_cut(FILE *file, uint64_t from, uint64_t to)
{
    uint64_t size;
    if (from >= to || !prof__read_size(file, &size) || to <= size) return to;
    size = size / 8 * 8;
    return (size > from ? size : from) + 8;
}

/* Bytes that are overwritten meanwhile come as they are: readers find that out. What is not there comes as zeros. */
static void prof__out_archive(prof__out *out, FILE *file, uint64_t from, uint64_t to)
{
    uint64_t bytes[512];
    while (from < to && !out->status) {
        size_t size = to - from < sizeof bytes ? (size_t)(to - from) : sizeof bytes;
        if (!prof__file_at(file, from, bytes, size)) {
            size = 8; /* up to the end of what is there, word by word */
            if (!prof__file_at(file, from, bytes, size)) bytes[0] = 0;
        }
        prof__out_bytes(out, bytes, size);
        from += size;
    }
}

/* Writes bytes of which many may be zero. */
static void prof__out_sparse(prof__out *out, const char *from, uint64_t size)
{
    uint64_t zeros = 0, piece;
    for (; size; from += piece, size -= piece) {
        piece = size < 4096 ? size : 4096;
        if (!*from && !memcmp(from, from + 1, (size_t)piece - 1)) {
            zeros += piece;
            continue;
        }
        prof__out_zeros(out, zeros);
        prof__out_bytes(out, from, (size_t)piece);
        zeros = 0;
    }
    prof__out_zeros(out, zeros);
}

/* Writes an image without its archive: what is used of meta and of the chunks, and of meta's index what is not zero. */
static void prof__out_used(prof__out *out, const void *bytes, size_t size)
{
    const prof__header *h = (const prof__header *)bytes;
    const char *from = (const char *)bytes;
    uint64_t used = h->next_chunk && h->next_chunk < h->chunk_count ? h->next_chunk : h->chunk_count;
    uint64_t meta = h->meta_offset + (h->meta_used && h->meta_used < h->meta_size ? h->meta_used : h->meta_size);
    uint64_t index = h->meta_offset + h->meta_size;
    if (index > h->chunk_offset || h->chunk_offset > size || used > (size - h->chunk_offset) / h->chunk_size) {
        prof__out_bytes(out, bytes, size); /* not as prof_start() lays it out */
        return;
    }
    uint64_t end = h->chunk_offset + used * h->chunk_size;
    prof__out_bytes(out, from, (size_t)meta);
    prof__out_zeros(out, index - meta);
    prof__out_sparse(out, from + index, h->chunk_offset - index);
    prof__out_bytes(out, from + h->chunk_offset, (size_t)(end - h->chunk_offset));
    prof__out_zeros(out, size - end);
}

/* Writes a copy of an image with its archive, which is in file, right behind it, oldest block first. */
static void prof__out_image(prof__out *out, void *bytes, size_t size, FILE *file)
{
    prof__header *h = (prof__header *)bytes, from = *h;
    int laps = h->archive_first > h->archive_next;
    uint64_t end = h->archive_first != h->archive_next ? prof__archive_lap_end(file, h) : h->archive_next;
    end = prof__archive_cut(file, from.archive_first, end);
    if (laps) from.archive_next = prof__archive_cut(file, from.archive_offset, from.archive_next);
    if (h->archive_offset) {
        h->archive_offset = h->archive_first = size;
        h->archive_next = size + (end - from.archive_first) + (laps ? from.archive_next - from.archive_offset : 0);
        h->archive_limit = h->archive_next;
    }
    prof__out_used(out, bytes, size);
    prof__out_archive(out, file, from.archive_first, end);
    if (laps) prof__out_archive(out, file, from.archive_offset, from.archive_next);
}

/* The same of what is being recorded. */
static prof_status prof__out_live(prof__out *out, void *bytes, size_t size)
{
    const prof__header *h = (const prof__header *)bytes;
    FILE *file = NULL;
    if (h->archive_first != h->archive_next && !(file = prof__archive_open(h)))
        return prof__fail(PROF_IO, "the archive of what is recorded cannot be read: its file is gone");
    prof__out_image(out, bytes, size, file);
    if (file) fclose(file);
    return PROF_OK;
}

static prof_status prof__image_write(const char *path, void *bytes, size_t size)
{
    prof__out out;
    prof_status status = prof__out_file(&out, path);
    if (status) return status;
    prof__out_fail(&out, prof__out_live(&out, bytes, size));
    return prof__out_close(&out);
}

static prof_status prof__save_image(const char *path)
{
    void *bytes;
    size_t size;
    prof_status status = prof__image_copy(&bytes, &size);
    if (status) return status;
    status = prof__image_write(path, bytes, size);
    free(bytes);
    return status;
}

PROF_DEF prof_status prof_save(const char *path)
{
    PROF__LED(prof_save, (path));
    char expanded[1024];
    prof_status (*write)(const prof_trace *, const char *);
    if (!path) return prof__fail(PROF_INVALID_ARGUMENT, "prof_save: path is null");
    prof_status status = prof__expand(path, expanded, sizeof expanded);
    if (!status) status = prof__writer_find(expanded, &write);
    if (!status) status = prof__live_fits(expanded, write);
    if (status) return status;
    return write ? prof__upstairs.write_live(expanded, write) : prof__save_image(expanded);
}

#ifndef _WIN32
/*-- CRASH ------------------------------------------------------------------------------------------------- >>crash --
   What config.crash_report installs: a handler for the signals that bugs raise. It says on stderr what the threads were
   doing, writes the image to a file unless it is mapped to one, puts back the actions that it found, and lets the
   signal happen again, so that exit status, core dump, sanitizers and the program's own handlers are what they would
   have been.

   The program may have died in malloc, in the recorder, or of a full stack. So nothing here allocates, locks or calls
   what is not async-signal-safe (of libc: errno, setjmp and pthread_setcancelstate besides), all room was taken by
   prof_start(), and a second crash, in the report, ends the report only. Other threads run on, but begin nothing new
   meanwhile, or they would overwrite what led to the crash; their scopes end, which the copies leave out. What they
   were about to record they do: chunks are copied as a snapshot does. */

#include <poll.h>
#include <setjmp.h>

#define PROF__CRASH_THREADS 64  /* the rest is counted */
#define PROF__CRASH_DEPTH 64    /* open scopes of a thread; the rest is counted */
#define PROF__CRASH_NAME 64     /* bytes of a name that are printed */
#define PROF__CRASH_REACH 65536 /* newest chunks that are looked at for open scopes: a second, about */

#define PROF__CRASH_TRACK ((1ull << 40) - 1) /* the id in the second word of a TRACK record */

typedef struct prof__crash_scope {
    uint64_t name, sequence; /* offset in the image of its NAME record, 0: none; of the chunk that holds it */
    uint32_t site;
} prof__crash_scope;

typedef struct prof__crash_thread {
    uint64_t track, thread_id;
    uint64_t sequence; /* of its newest chunk; 0: it has none */
    uint32_t name_id, depth;
    prof__crash_scope open[PROF__CRASH_DEPTH];
} prof__crash_thread;

typedef struct prof__crash_work { /* the room for a report */
    uint64_t chunk[PROF_CHUNK_SIZE / 8], scratch[PROF_CHUNK_SIZE / 8];
    prof__crash_thread threads[PROF__CRASH_THREADS]; /* the first is the one that crashed */
    size_t thread_count, more_threads;
    char text[1024]; /* for stderr */
    size_t used;
    int mute;        /* stderr takes no more */
    int file;        /* -1: none is open */
    char path[1040], part[1080];
    prof__header header;
    volatile sig_atomic_t guarded; /* 1: a crash in the report continues at escape */
    jmp_buf escape;
    sigset_t mask; /* the handler's, which goes with escape */
} prof__crash_work;

static const struct {
    int number;
    char name[8];
} prof__crash_signals[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}, {SIGABRT, "SIGABRT"}};
#define PROF__CRASH_SIGNALS (sizeof prof__crash_signals / sizeof *prof__crash_signals)

enum { PROF__CRASH_OFF = 0, PROF__CRASH_READY };

static struct {
    uintptr_t reporter; /* PROF__CRASH_OFF, PROF__CRASH_READY, or the address of the reporting thread's state */
    uint64_t process;
    prof__session *session;
    prof__crash_work *work; /* never freed: it serves all sessions */
    int installed[PROF__CRASH_SIGNALS];
    struct sigaction old[PROF__CRASH_SIGNALS];
} prof__crash;

/*-- text --*/

static void prof__crash_flush(prof__crash_work *w)
{
    for (size_t at = 0; at < w->used && !w->mute;) {
        struct pollfd ready = {2, POLLOUT, 0};
        /* a full pipe may stay full */
        ssize_t n = poll(&ready, 1, 1000) > 0 ? write(2, w->text + at, w->used - at) : -1;
        if (n > 0)
            at += (size_t)n;
        else
            w->mute = 1;
    }
    w->used = 0;
}

static void prof__crash_put(prof__crash_work *w, const char *text)
{
    for (; *text; ++text) {
        if (w->used == sizeof w->text) prof__crash_flush(w);
        w->text[w->used++] = *text;
    }
}

static void prof__crash_put_number(prof__crash_work *w, uint64_t number)
{
    char digits[21];
    digits[prof__digits(digits, number)] = 0;
    prof__crash_put(w, digits);
}

static size_t prof__utf8(const char *text);

/* A name out of the image, at most size bytes, without what a terminal would obey. */
static void prof__crash_put_name(prof__crash_work *w, const char *name, size_t size)
{
    char text[PROF__CRASH_NAME + 1];
    size_t used = 0, length;
    while (used < size && used < PROF__CRASH_NAME && name[used]) {
        text[used] = name[used];
        ++used;
    }
    text[used] = 0;
    for (size_t at = 0; at < used; at += length) {
        char one[8] = "?";
        unsigned char first = (unsigned char)text[at];
        length = prof__utf8(text + at);
        if (length && first >= 0x20 && first != 0x7f && (first != 0xc2 || (unsigned char)text[at + 1] >= 0xa0)) {
            prof__copy(one, text + at, length);
            one[length] = 0;
        }
        if (!length) length = 1;
        prof__crash_put(w, one);
    }
    if (used < size && name[used]) prof__crash_put(w, "...");
}

/* The meta record of this kind and id, from its head on, and its words; null: there is none. */
static const uint64_t *prof__crash_meta(const prof__session *s, uint64_t kind, uint32_t id, size_t *words)
{
    for (uint64_t at = 0; at < s->meta_words; at += *words) {
        uint64_t head = PROF__ACQUIRE(s->meta + at);
        *words = (size_t)(head >> 32 & 0xffffff);
        if (!*words || *words > s->meta_words - at) break;
        if (head >> 56 == kind && (uint32_t)head == id) return s->meta + at;
    }
    return NULL;
}

static void prof__crash_put_string(prof__crash_work *w, const prof__session *s, uint32_t id)
{
    size_t words;
    const uint64_t *record = prof__crash_meta(s, PROF__META_STRING, id, &words);
    if (record) prof__crash_put_name(w, (const char *)(record + 1), (words - 1) * 8);
}

/*-- open scopes --*/

static void prof__crash_end(prof__crash_thread *thread, uint32_t site)
{
    if (thread->depth > PROF__CRASH_DEPTH) {
        --thread->depth; /* which one it was is not known */
        return;
    }
    uint32_t depth = thread->depth;
    while (depth && thread->open[depth - 1].site != site) --depth;
    if (depth) thread->depth = depth - 1; /* those inside were left without an end; or its begin is not retained */
}

static prof__crash_thread *prof__crash_find(prof__crash_work *w, uint64_t track)
{
    for (size_t i = 0; i < w->thread_count; ++i)
        if (w->threads[i].sequence && w->threads[i].track == track) return &w->threads[i];
    return NULL;
}

/* Brings up to date the open scopes of the threads whose records are in the chunk in w->chunk, offset in the image. */
static void prof__crash_follow(prof__crash_work *w, const prof__session *s, uint64_t offset)
{
    const prof__chunk *chunk = (const prof__chunk *)(const void *)w->chunk;
    const uint64_t *words = w->chunk + sizeof *chunk / 8;
    prof__crash_thread *thread = NULL;
    prof__crash_scope *begun = NULL;
    for (size_t at = 0, length; at < s->chunk_words; at += length) {
        uint64_t kind = words[at] >> PROF__KIND_SHIFT;
        uint32_t site = (uint32_t)(words[at] >> PROF__TICK_BITS) & PROF__SITE_MASK;
        length = prof__record_words(words[at], (size_t)s->chunk_words - at);
        if (!length) break;
        if (kind == PROF__KIND_TRACK) {
            thread = prof__crash_find(w, words[at + 1] & PROF__CRASH_TRACK);
        } else if (thread && kind == PROF__KIND_END) {
            prof__crash_end(thread, site);
        } else if (begun && kind == PROF__KIND_NAME) {
            begun->name = offset + sizeof *chunk + at * 8;
            begun->sequence = chunk->sequence;
        }
        begun = NULL;
        if (thread && kind == PROF__KIND_BEGIN && thread->depth++ < PROF__CRASH_DEPTH) {
            begun = &thread->open[thread->depth - 1];
            begun->name = 0;
            begun->site = site;
        }
    }
}

/* Ends the copy before the first scope that ended after the crash: it was open then. */
static void prof__crash_rewind(prof__crash_work *w, const prof__session *s, uint64_t crashed)
{
    const prof__chunk *chunk = (const prof__chunk *)(const void *)w->chunk;
    uint64_t *words = w->chunk + sizeof *chunk / 8;
    for (size_t at = 0, length; at < s->chunk_words; at += length) {
        length = prof__record_words(words[at], (size_t)s->chunk_words - at);
        if (!length) break;
        if (words[at] >> PROF__KIND_SHIFT != PROF__KIND_END ||
            chunk->base.tick + (words[at] & PROF__TICK_MASK) <= crashed)
            continue;
        prof__clear(words + at, ((size_t)s->chunk_words - at) * 8);
        break;
    }
}

/* A copy of the chunk in this slot, in w->chunk; 0: there is none. */
static uint64_t prof__crash_copy(prof__crash_work *w, const prof__session *s, const prof__header *h, uint64_t slot,
                                 uint64_t newest)
{
    prof__source source = {prof__session_read, (void *)(uintptr_t)s};
    uint64_t offset = (uint64_t)(s->chunks - (const char *)s->header) + slot * s->chunk_size;
    prof__chunk_snapshot(&source, h, offset, newest, (char *)w->chunk, (char *)w->scratch);
    if (!((const prof__chunk *)(const void *)w->chunk)->sequence) return 0;
    prof__crash_rewind(w, s, h->copy_tick);
    return offset;
}

static const prof__chunk *prof__crash_chunk(const prof__session *s, uint64_t slot)
{
    static const prof__chunk none = {0, {0, 0, 0, 0}, 0, 0, 0, 0};
    if (slot >= prof__chunks_there(s)) return &none;
    return (const prof__chunk *)(const void *)(s->chunks + slot * s->chunk_size);
}

/* Notes whose chunk this is: the track of its last TRACK record. */
static void prof__crash_meet(prof__crash_work *w, const prof__session *s)
{
    const prof__chunk *chunk = (const prof__chunk *)(const void *)w->chunk;
    const uint64_t *words = w->chunk + sizeof *chunk / 8, *track = NULL;
    for (size_t at = 0, length; at < s->chunk_words; at += length) {
        length = prof__record_words(words[at], (size_t)s->chunk_words - at);
        if (!length) break;
        if (words[at] >> PROF__KIND_SHIFT == PROF__KIND_TRACK) track = words + at;
    }
    if (!track) return;
    size_t i = 0;
    while (i < w->thread_count && w->threads[i].thread_id != track[2]) ++i;
    if (i == PROF__CRASH_THREADS) {
        ++w->more_threads;
        return;
    }
    prof__crash_thread *thread = &w->threads[i];
    if (i == w->thread_count) {
        ++w->thread_count;
        thread->sequence = thread->depth = 0;
    }
    if (thread->sequence > chunk->sequence) return;
    thread->track = track[1] & PROF__CRASH_TRACK;
    thread->thread_id = track[2];
    thread->sequence = chunk->sequence;
    thread->name_id = (uint32_t)track[0];
}

/* Finds the threads that are alive, which own a chunk, and reads the ring, the oldest first, for what is open in
   them. */
static void prof__crash_search(prof__crash_work *w, const prof__session *s, const prof__header *h)
{
    uint64_t count = s->chunk_count, newest = h->next_chunk, oldest = newest > count ? newest - count : 0;
    w->threads[0].thread_id = prof__thread_id();
    w->threads[0].sequence = w->threads[0].depth = w->threads[0].name_id = 0;
    w->thread_count = 1;
    w->more_threads = 0;
    for (uint64_t slot = 0; slot < count; ++slot)
        if (PROF__ACQUIRE(&prof__crash_chunk(s, slot)->state) == PROF__CHUNK_OWNED &&
            prof__crash_copy(w, s, h, slot, ~0ull))
            prof__crash_meet(w, s);
    /* those that the ring has gone around, because their thread is slow */
    for (uint64_t slot = 0; slot < count; ++slot) {
        const prof__chunk *chunk = prof__crash_chunk(s, slot);
        if (PROF__ACQUIRE(&chunk->state) != PROF__CHUNK_OWNED || PROF__LOAD(&chunk->sequence) > oldest) continue;
        uint64_t offset = prof__crash_copy(w, s, h, slot, oldest);
        if (offset) prof__crash_follow(w, s, offset);
    }
    if (newest - oldest > PROF__CRASH_REACH) oldest = newest - PROF__CRASH_REACH;
    for (uint64_t number = oldest; number < newest; ++number) {
        uint64_t slot = number % count;
        if (PROF__LOAD(&prof__crash_chunk(s, slot)->sequence) != number + 1) continue;
        uint64_t offset = prof__crash_copy(w, s, h, slot, number + 1);
        if (offset) prof__crash_follow(w, s, offset);
    }
}

/*-- the report --*/

/* Its run-time name, if the chunk is still there, else its call site's; for the innermost the place, too. */
static void prof__crash_put_scope(prof__crash_work *w, const prof__session *s, const prof__crash_scope *scope,
                                  int place)
{
    size_t words = 0;
    const uint64_t *site = prof__crash_meta(s, PROF__META_SITE, scope->site, &words);
    uint64_t head = 0, chunks = (uint64_t)(s->chunks - (const char *)s->header);
    if (scope->name) {
        const uint64_t *name = (const uint64_t *)(const void *)((const char *)s->header + scope->name);
        uint64_t slot = (scope->name - chunks) / s->chunk_size;
        head = PROF__LOAD(name);
        if (PROF__LOAD(&prof__crash_chunk(s, slot)->sequence) == scope->sequence &&
            head >> PROF__KIND_SHIFT == PROF__KIND_NAME)
            prof__crash_put_name(w, (const char *)(name + 1), (size_t)(head & 0xffff) * 8);
        else
            head = 0;
    }
    if (!site || words < PROF__META_SITE_WORDS) {
        if (!head) prof__crash_put(w, "?");
        return;
    }
    if (!head) prof__crash_put_string(w, s, (uint32_t)site[1]);
    if (!place) return;
    prof__crash_put(w, " (");
    prof__crash_put_string(w, s, (uint32_t)(site[1] >> 32));
    prof__crash_put(w, ":");
    prof__crash_put_number(w, (uint32_t)site[3]);
    prof__crash_put(w, ")");
}

/* thread 1234 "worker 2": game > frame > physics (physics.c:88) */
static void prof__crash_put_thread(prof__crash_work *w, const prof__session *s, const prof__crash_thread *thread,
                                   int cut)
{
    uint32_t kept = thread->depth < PROF__CRASH_DEPTH ? thread->depth : PROF__CRASH_DEPTH;
    prof__crash_put(w, "thread ");
    prof__crash_put_number(w, thread->thread_id);
    if (thread->name_id) {
        prof__crash_put(w, " \"");
        prof__crash_put_string(w, s, thread->name_id);
        prof__crash_put(w, "\"");
    }
    prof__crash_put(w, cut ? ": ... > " : ": ");
    if (!thread->depth) prof__crash_put(w, "no scope is open");
    for (uint32_t i = 0, next; i < kept; i = next) {
        for (next = i + 1; next < kept && !thread->open[next].name && thread->open[next].site == thread->open[i].site;
             ++next) {
        }
        if (i) prof__crash_put(w, " > ");
        prof__crash_put_scope(w, s, &thread->open[i], next == kept);
        if (next - i < 2) continue;
        prof__crash_put(w, " x ");
        prof__crash_put_number(w, next - i);
    }
    if (thread->depth > kept) {
        prof__crash_put(w, " > and ");
        prof__crash_put_number(w, thread->depth - kept);
        prof__crash_put(w, " more");
    }
    prof__crash_put(w, "\n");
    prof__crash_flush(w);
}

/* 1: the crashing thread has more open scopes than were found; their begins are older than the buffer. Of so many that
   their ends were not set aside for any more (see prof__chunk_change) that is likely. */
static int prof__crash_cut(const prof__session *s, const prof__crash_thread *thread)
{
    const prof__thread *self = PROF__SELF();
    if (self->session != s || !self->chunk || PROF__LOAD(&s->header->next_chunk) <= s->chunk_count) return 0;
    return (uint64_t)(self->end - self->cursor) - self->room > thread->depth || thread->depth > s->chunk_words / 4 * 3;
}

static void prof__crash_describe(prof__crash_work *w, const prof__session *s, const prof__header *h, int signal)
{
    prof__crash_search(w, s, h);
    prof__crash_put(w, "prof: ");
    for (size_t i = 0; i < PROF__CRASH_SIGNALS; ++i)
        if (prof__crash_signals[i].number == signal) prof__crash_put(w, prof__crash_signals[i].name);
    prof__crash_put(w, " in ");
    prof__crash_put_thread(w, s, &w->threads[0], prof__crash_cut(s, &w->threads[0]));
    for (size_t i = 1; i < w->thread_count; ++i) {
        prof__crash_put(w, "prof:   ");
        prof__crash_put_thread(w, s, &w->threads[i], 0);
    }
    if (w->more_threads) {
        prof__crash_put(w, "prof:   and ");
        prof__crash_put_number(w, w->more_threads);
        prof__crash_put(w, " more threads\n");
        prof__crash_flush(w);
    }
}

/*-- the file --*/

static int prof__crash_write(int file, uint64_t offset, const void *bytes, size_t size)
{
    if (lseek(file, (off_t)offset, SEEK_SET) < 0) return 0;
    for (size_t at = 0; at < size;) {
        ssize_t n = write(file, (const char *)bytes + at, size - at);
        if (n <= 0) return 0;
        at += (size_t)n;
    }
    return 1;
}

/* Chunks, the newest first; then meta, which knows all their call sites; then the header. What is never written is a
   hole, which reads as zeros. */
static int prof__crash_write_image(prof__crash_work *w, const prof__session *s, prof__header *h)
{
    uint64_t count = s->chunk_count, newest = h->next_chunk, began = h->copy_tick;
    uint64_t meta = (uint64_t)((const char *)s->meta - (const char *)s->header);
    int good = 1;
    for (uint64_t i = 0; good && i < count; ++i) {
        uint64_t slot = (newest % count + count - 1 - i) % count;
        uint64_t offset =
            PROF__LOAD(&prof__crash_chunk(s, slot)->sequence) ? prof__crash_copy(w, s, h, slot, newest) : 0;
        if (offset) good = prof__crash_write(w->file, offset, w->chunk, s->chunk_size);
    }
    uint64_t used = PROF__ACQUIRE(&s->header->meta_used);
    for (uint64_t at = 0; good && at < used && at < s->meta_words * 8; at += sizeof w->scratch) {
        uint64_t size = s->meta_words * 8 - at;
        if (size > sizeof w->scratch) size = sizeof w->scratch;
        prof__memory_read(s->meta, at, w->scratch, (size_t)size);
        good = prof__crash_write(w->file, meta + at, w->scratch, (size_t)size);
    }
    prof__memory_read(s->header, 0, h, sizeof *h);
    h->next_chunk = newest;
    h->copy_tick = began;
    prof__pair_take_well(s->clock, h->tick_hz, &h->last);
    h->lost += PROF__LOAD(&prof__lost_without_chunk);
    return good && prof__crash_write(w->file, 0, h, sizeof *h) && !ftruncate(w->file, (off_t)s->image_size);
}

static void prof__crash_save(prof__crash_work *w, const prof__session *s, prof__header *h)
{
    unlink(w->part);
    w->file = open(w->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    int good = w->file >= 0 && prof__crash_write_image(w, s, h);
    if (w->file >= 0 && close(w->file)) good = 0;
    w->file = -1;
    if (good && !rename(w->part, w->path)) return;
    unlink(w->part);
    w->path[0] = 0;
}

static void prof__crash_tell_file(prof__crash_work *w, const prof__session *s)
{
    const char *path = s->live_path ? s->live_path : w->path;
    prof__crash_put(w, *path ? "prof: the trace is in " : "prof: the trace could not be written");
    prof__crash_put(w, path);
    prof__crash_put(w, "\n");
    prof__crash_flush(w);
}

/* Signals that writing may raise, which would take the place of the crash. */
static const int prof__crash_quiet[] = {SIGPIPE, SIGXFSZ};

static void prof__crash_ignore(struct sigaction *old)
{
    struct sigaction ignore;
    memset(&ignore, 0, sizeof ignore);
    ignore.sa_handler = SIG_IGN;
    for (size_t i = 0; i < 2; ++i) sigaction(prof__crash_quiet[i], &ignore, &old[i]);
}

static void prof__crash_unignore(const struct sigaction *old)
{
    struct sigaction unused[2];
    prof__crash_ignore(unused); /* once more: forgets those that wait to be unblocked */
    for (size_t i = 0; i < 2; ++i) sigaction(prof__crash_quiet[i], &old[i], NULL);
}

enum { PROF__FROZEN_REPORT = 1, PROF__FROZEN_CUT = 2 }; /* while a crash is reported; since the image's file was cut */

static void prof__crash_freeze(int why)
{
    __atomic_fetch_or(&prof__state.frozen, why, __ATOMIC_RELAXED);
    prof__next_generation();
}

static void prof__crash_thaw(int why)
{
    __atomic_fetch_and(&prof__state.frozen, ~why, __ATOMIC_RELAXED);
    prof__next_generation();
}

/* The moment of the crash: chunks are known, then the clock is read, then the sites are off. So a scope in one of these
   chunks that ends without all that was in it ends later. If this thread was kept from its processor in between, others
   may have gone around the ring: then it is a later moment, rather than one of which nothing is left. */
static void prof__crash_stop(prof__crash_work *w, const prof__session *s)
{
    prof__pair now;
    for (int i = 0; i < 2; ++i) {
        prof__memory_read(s->header, 0, &w->header, sizeof w->header);
        prof__pair_take(s->clock, s->like.tick_hz, &now);
        w->header.copy_tick = now.tick;
        if (i == 0) prof__crash_freeze(PROF__FROZEN_REPORT);
        if (PROF__LOAD(&s->header->next_chunk) - w->header.next_chunk <= s->chunk_count / 8) break;
    }
}

/* Each part by itself: if one crashes, too, the next one still gets its turn. */
static void prof__crash_report(prof__crash_work *w, const prof__session *s, int signal)
{
    struct sigaction old[2];
    prof__crash_ignore(old);
#ifndef __ANDROID__
    int cancel;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel); /* write() is a cancellation point */
#endif
    w->used = 0;
    w->mute = 0;
    w->file = -1;
    pthread_sigmask(SIG_SETMASK, NULL, &w->mask);
    if (!setjmp(w->escape)) {
        w->guarded = 1;
        prof__crash_stop(w, s);
        prof__crash_describe(w, s, &w->header, signal);
    }
    if (!setjmp(w->escape)) {
        if (!s->live_path || s->beside) prof__crash_save(w, s, &w->header); /* as it is now: threads run on */
    } else {
        if (w->file >= 0) close(w->file);
        unlink(w->part);
        w->path[0] = 0;
    }
    if (!setjmp(w->escape)) prof__crash_tell_file(w, s);
    w->guarded = 0;
    prof__crash_thaw(PROF__FROZEN_REPORT);
#ifndef __ANDROID__
    pthread_setcancelstate(cancel, NULL);
#endif
    prof__crash_unignore(old);
}

/*-- the file that somebody cut --*/

#ifdef BUS_ADRERR
#define PROF__BUS_ADRERR BUS_ADRERR
#else
#define PROF__BUS_ADRERR 2 /* as Linux, macOS and the BSDs have it, where a standard without it is asked for */
#endif

static void prof__crash_tell_cut(const prof__session *s)
{
    struct pollfd ready = {2, POLLOUT, 0};
    char text[1200] = "prof: ";
    prof__text_add(text, sizeof text, s->live_path);
    prof__text_add(text, sizeof text, ": was cut by somebody else while it was recorded: the recording has ended\n");
    if (poll(&ready, 1, 1000) > 0 && write(2, text, prof__length(text)) < 0) return; /* nobody listens */
}

/* A page of the image is not in its file any more: 1: there is memory in its place now, and in that of all behind it, and
   nothing more is recorded. What is cut off is lost; if that is the header, an image without events is left. */
static int prof__crash_survives(int signal, const siginfo_t *info)
{
    prof__session *s = prof__crash.session;
    if (signal != SIGBUS || info->si_code != PROF__BUS_ADRERR || !s || !s->live_path || !s->mapping) return 0;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), from = (size_t)((uintptr_t)info->si_addr - (uintptr_t)s->mapping);
    struct stat about;
    if (from >= s->mapping_size) return 0;
    size_t end = (from = from / page * page) + page;
    if (prof__stream_file_there(s) && !fstat(s->stream.file, &about) && (uint64_t)about.st_size <= from) {
        from = (size_t)prof__round((uint64_t)about.st_size, page);
        end = s->mapping_size;
    }
    if (mmap((char *)s->mapping + from, end - from, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0) == MAP_FAILED)
        return 0;
    if (!from) {
        *s->header = s->like;
        s->header->meta_used = 0;
        prof__copy(s->header->magic, PROF__MAGIC, sizeof s->header->magic);
    }
    prof__crash_freeze(PROF__FROZEN_CUT);
    if (!(__atomic_fetch_or(&s->cut, PROF__CUT | PROF__CUT_TOLD, __ATOMIC_RELAXED) & PROF__CUT_TOLD))
        prof__crash_tell_cut(s);
    return 1;
}

/*-- the handler --*/

static void prof__crash_handler(int signal, siginfo_t *info, void *context);

static int prof__crash_is_ours(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == prof__crash_handler;
}

/* Puts back what was there before, unless somebody else came later. */
static void prof__crash_restore(size_t i)
{
    struct sigaction now;
    if (!prof__crash.installed[i] || sigaction(prof__crash_signals[i].number, NULL, &now) || !prof__crash_is_ours(&now))
        return;
    sigaction(prof__crash_signals[i].number, &prof__crash.old[i], NULL);
    prof__crash.installed[i] = 0;
}

/* 1: by returning from the handler the instruction is executed again, and the signal raised again. 0: somebody sent
   it. */
static int prof__crash_repeats(int signal, const siginfo_t *info)
{
#ifdef BUS_MCEERR_AO
    if (signal == SIGBUS && info->si_code == BUS_MCEERR_AO) return 0;
#endif
#ifdef SEGV_MTEAERR
    if (signal == SIGSEGV && info->si_code == SEGV_MTEAERR) return 0;
#endif
    return signal != SIGABRT && info->si_code > 0;
}

/* Lets the signal happen as if prof had not been there. It comes when the handler has returned, and so finds the thread
   where it was. A later handler that called this one as its predecessor gets the predecessor's action, too. */
static void prof__crash_pass_on(int signal, siginfo_t *info)
{
    for (size_t i = 0; i < PROF__CRASH_SIGNALS; ++i) {
        /* the child of vfork() changes nothing here */
        if (prof__process_id() == prof__crash.process) prof__crash_restore(i);
        if (prof__crash_signals[i].number == signal) sigaction(signal, &prof__crash.old[i], NULL);
    }
    if (prof__crash_repeats(signal, info)) return;
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    pthread_sigmask(SIG_BLOCK, &one, NULL); /* until the handler returns */
#ifdef SYS_rt_tgsigqueueinfo
    /* says who sent it */
    if (!syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)prof__thread_id(), signal, info)) return;
#endif
    raise(signal);
}

static void prof__crash_handler(int signal, siginfo_t *info, void *context)
{
    PROF__ERRNO_SAVE();
    uintptr_t self = (uintptr_t)PROF__SELF(), reporter = PROF__CRASH_READY;
    (void)context;
    int ours = prof__process_id() == prof__crash.process;
    if (ours && prof__crash_survives(signal, info)) {
        PROF__ERRNO_RESTORE();
        return;
    }
    if (ours) {
        if (__atomic_compare_exchange_n(&prof__crash.reporter, &reporter, self, 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_ACQUIRE)) {
            prof__crash_report(prof__crash.work, prof__crash.session, signal);
            PROF__RELEASE(&prof__crash.reporter, (uintptr_t)PROF__CRASH_OFF);
        } else if (reporter == self) {
            if (prof__crash.work->guarded) {
                pthread_sigmask(SIG_SETMASK, &prof__crash.work->mask, NULL);
                longjmp(prof__crash.work->escape, 1);
            }
        } else { /* this thread's signal is not to end the process while another thread reports */
            for (int i = 0; i < 1000 && PROF__ACQUIRE(&prof__crash.reporter) > PROF__CRASH_READY; ++i)
                poll(NULL, 0, 10);
        }
    }
    prof__crash_pass_on(signal, info);
    PROF__ERRNO_RESTORE();
}

/*-- on and off; under the control lock --*/

static prof_status prof__crash_prepare(prof__session *s)
{
    prof__crash_work *w = prof__crash.work;
    if (!w) w = (prof__crash_work *)calloc(1, sizeof *w);
    if (!w) return prof__fail(PROF_NO_MEMORY, "crash_report: no memory for it");
    prof__crash.work = w;
    if (s->output[0])
        prof__output_beside(s, w->path, sizeof w->path);
    else
        prof__expand_absolute("%n.%p.prof", w->path, sizeof w->path);
    snprintf(w->part, sizeof w->part, "%s.%llu.part", w->path, (unsigned long long)prof__process_id());
    return s->live_path ? PROF_OK : prof__output_check(w->path);
}

/* A signal that the program ignores stays ignored. */
static void prof__crash_install(prof__session *s)
{
    struct sigaction ours;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = prof__crash_handler;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER; /* not deferred: for a crash in the report */
    sigfillset(&ours.sa_mask);
    for (size_t i = 0; i < PROF__CRASH_SIGNALS; ++i) sigdelset(&ours.sa_mask, prof__crash_signals[i].number);
    prof__crash.session = s;
    prof__crash.process = prof__process_id();
    PROF__RELEASE(&prof__crash.reporter, (uintptr_t)PROF__CRASH_READY);
    for (size_t i = 0; i < PROF__CRASH_SIGNALS; ++i) {
        struct sigaction now;
        if (sigaction(prof__crash_signals[i].number, NULL, &now)) continue;
        int plain = !(now.sa_flags & SA_SIGINFO);
        if ((plain && now.sa_handler == SIG_IGN) || prof__crash_is_ours(&now)) continue;
        if (prof__crash.installed[i] && !(plain && now.sa_handler == SIG_DFL)) continue; /* a later one calls ours */
        prof__crash.old[i] = now;
        prof__crash.installed[i] = 1;
        sigaction(prof__crash_signals[i].number, &ours, NULL);
    }
}

/* In the child of a fork, too, where nobody reports. */
static void prof__crash_forget(void)
{
    PROF__RELEASE(&prof__crash.reporter, (uintptr_t)PROF__CRASH_OFF);
    if (PROF__LOAD(&prof__state.frozen)) prof__crash_thaw(PROF__FROZEN_REPORT | PROF__FROZEN_CUT);
    prof__crash.session = NULL;
    for (size_t i = 0; i < PROF__CRASH_SIGNALS; ++i) prof__crash_restore(i);
}

static void prof__crash_remove(void)
{
    if (!prof__crash.session) return;
    for (int i = 0; i < 1000; ++i) { /* a report that is being written needs the session */
        uintptr_t reporter = PROF__CRASH_READY;
        if (__atomic_compare_exchange_n(&prof__crash.reporter, &reporter, (uintptr_t)PROF__CRASH_OFF, 0,
                                        __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE) ||
            reporter == PROF__CRASH_OFF)
            break;
        poll(NULL, 0, 10);
    }
    prof__crash_forget();
}

/* The code of the handler may be about to be unloaded. */
static void __attribute__((destructor)) prof__crash_leave(void) { prof__crash_remove(); }
#endif
#endif

/*-- CONFIGURATION FROM TEXT ---------------------------------------------------------------------------------------*/

/* A number with an optional fraction and a unit out of a table of {name, factor}; 0: not a number. */
typedef struct prof__unit {
    const char *name;
    uint64_t factor;
} prof__unit;

static int prof__parse_number(const char *text, const prof__unit *units, uint64_t *out)
{
    uint64_t value = 0, fraction = 0, scale = 1;
    if (*text < '0' || *text > '9') return 0;
    for (; *text >= '0' && *text <= '9'; ++text) {
        if (value > (UINT64_MAX - 9) / 10) return 0;
        value = value * 10 + (uint64_t)(*text - '0');
    }
    if (*text == '.') {
        for (++text; *text >= '0' && *text <= '9'; ++text)
            if (scale < 1000000000) {
                fraction = fraction * 10 + (uint64_t)(*text - '0');
                scale *= 10;
            } else if (*text != '0') {
                return 0;
            }
    }
    for (; units->name; ++units)
        if (prof__equal(units->name, text)) {
            if (units->factor && value > UINT64_MAX / 2 / units->factor) return 0;
            if (fraction * units->factor % scale) return 0; /* 1.5 bytes */
            *out = value * units->factor + fraction * units->factor / scale;
            return 1;
        }
    return 0;
}

static int prof__parse_name(const char *text, const char *const *names)
{
    for (int i = 0; names[i]; ++i)
        if (prof__equal(names[i], text)) return i;
    return -1;
}

/* Edit distance, for "did you mean". */
static size_t prof__distance(const char *a, const char *b)
{
    size_t row[32], n = prof__length(b);
    if (n > 30) return 99;
    for (size_t j = 0; j <= n; ++j) row[j] = j;
    for (size_t i = 1; a[i - 1]; ++i) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; ++j) {
            size_t up = row[j], best = diagonal + (a[i - 1] != b[j - 1]);
            if (up + 1 < best) best = up + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
            diagonal = up;
        }
    }
    return row[n];
}

/* The number of a signal; -1: not known. */
static int prof__parse_signal(const char *text)
{
    static const prof__unit ones[] = {{"", 1}, {NULL, 0}};
    uint64_t number;
    if (prof__parse_number(text, ones, &number)) return number <= 64 ? (int)number : -1;
#if !defined(PROF_FREESTANDING) && !defined(_WIN32)
    static const struct {
        const char *name;
        int number;
    } known[] = {{"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2},
                 {"ALRM", SIGALRM}, {"TERM", SIGTERM}, {"CONT", SIGCONT}, {"TSTP", SIGTSTP}, {"URG", SIGURG}};
    if (text[0] == 'S' && text[1] == 'I' && text[2] == 'G') text += 3;
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
        if (prof__equal(known[i].name, text)) return known[i].number;
#endif
    return -1;
}

/* 32 bits, decimal or 0x...; 0: no number. */
static int prof__parse_mask(const char *text, uint64_t *out)
{
    static const prof__unit ones[] = {{"", 1}, {NULL, 0}};
    uint64_t number = 0;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        const char *digits = text += 2;
        for (; *text && text - digits < 9; ++text) {
            char c = *text >= 'A' && *text <= 'F' ? (char)(*text - 'A' + 'a') : *text;
            if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f')) return 0;
            number = number << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
        }
        if (text == digits || *text) return 0;
    } else if (!prof__parse_number(text, ones, &number)) {
        return 0;
    }
    *out = number;
    return !(number >> 32);
}

static const char *const prof__mode_names[] = {"ring", "fill", "stream", "stats", "ring+stats", NULL};
static const char *const prof__clock_names[] = {"auto", "counter", "ordered", "monotonic", NULL};
static const char *const prof__limit_names[] = {"stop", "rotate", NULL};
static const char *const prof__existing_names[] = {"auto", "replace", "number", "refuse", NULL};
static const char *const prof__zero_one[] = {"0", "1", NULL};
/* As others write it. The odd ones are true. */
static const char *const prof__switch_names[] = {"0",  "1",   "off",   "on",   "false", "true",
                                                 "no", "yes", "False", "True", NULL};

/* How the text of a key becomes its field. */
enum {
    PROF__KEY_TEXT,    /* const char * */
    PROF__KEY_SIZE,    /* size_t */
    PROF__KEY_BYTES,   /* uint64_t */
    PROF__KEY_COUNT,   /* uint64_t */
    PROF__KEY_TIME,    /* uint64_t, nanoseconds */
    PROF__KEY_SPAN,    /* the same, but a number without a unit is an error: who means seconds would get nanoseconds */
    PROF__KEY_SECONDS, /* double */
    PROF__KEY_INT,     /* int, and so are those below */
    PROF__KEY_CHOICE,
    PROF__KEY_SWITCH,
    PROF__KEY_SIGNAL,
    PROF__KEY_MASK,    /* uint32_t */
    PROF__KEY_LEVEL,   /* int; 0 is stored as -1 */
    PROF__KEY_PERIOD,  /* uint64_t, nanoseconds; a number without a unit is seconds */
    PROF__KEY_WAIT     /* uint64_t, nanoseconds; 0 is stored as PROF__NO_WAIT */
};
static const char *const prof__key_types[] = {"text", "size",    "size",   "number", "time",  "time",
                                              "seconds", "number", "choice", "switch", "signal", "mask",
                                              "number",  "time",   "time"};

/* One line for each field of prof_config that text can set: parser, environment, errors and prof_config_describe() all
   go by it. Numbers are from least to most, or 0 if zero says so. */
typedef struct prof__key {
    const char *name;
    unsigned type;
    size_t field;
    uint64_t least, most;
    int zero;
    const char *const *choices;
    const char *standard, *values, *meaning;
} prof__key;

#define PROF__KEY(name, type, field, least, most, zero, choices, standard, values, meaning) \
    {name, PROF__KEY_##type, offsetof(prof_config, field), least, most, zero, choices, standard, values, meaning}
static const prof__key prof__keys[] = {
    PROF__KEY("output", TEXT, output, 0, 0, 0, NULL, "", "a path that ends in .json, .csv, .txt or .prof",
              "file written by prof_stop(); .prof is up to date at any time; %p process id, %n program, %t time, %h "
              "host, %r rank"),
    PROF__KEY("existing", CHOICE, existing, 0, 0, 0, prof__existing_names, "auto", "auto, replace, number or refuse",
              "what happens to an older file of that name; auto: number if it has %p or %t, or is this process's or in "
              "use, else replace"),
    PROF__KEY("layout", TEXT, layout, 0, 0, 0, NULL, "", "mxnet, json, cntk, cntk-detail, domains, histogram or paths",
              "output is this report of prof_report.h, whatever its extension; cntk and a directory: both of its files"),
    PROF__KEY("rank", TEXT, rank, 0, 0, 0, NULL, "", "up to 63 bytes, no / or \\",
              "what %r is; default: the launcher's number of this process (MPI, Slurm, torchrun, ...), else 0"),
    PROF__KEY("buffer", SIZE, buffer_size, PROF__MIN_BUFFER, 64ull << 30, 0, NULL, "16M",
              "bytes from 128K to 64G, for example 64M", "memory for what is recorded"),
    PROF__KEY("mode", CHOICE, mode, 0, 0, 0, prof__mode_names, "ring", "ring, fill, stream, stats or ring+stats",
              "when the buffer is full: reuse the oldest part, end, pack it into the file, or keep statistics only"),
    PROF__KEY("clock", CHOICE, clock, 0, 0, 0, prof__clock_names, "auto", "auto, counter, ordered or monotonic",
              "what tells the time; ordered: exact short scopes, at 1.4 to 2.8 times the price"),
    PROF__KEY("level", LEVEL, level, 1, 255, 1, NULL, "2", "0 to 255", "call sites of a higher level are off; 0: all"),
    PROF__KEY("categories", TEXT, categories, 0, 0, 0, NULL, "", "patterns with * and ?, joined by commas; - turns off",
              "which categories are on, for example net,render*,-audio; default: all"),
    PROF__KEY("min_duration", TIME, min_duration_ns, 0, UINT64_MAX, 1, NULL, "0",
              "a time, for example 500ns, 2us, 1.5ms", "a scope that is shorter and had nothing inside is taken back"),
    PROF__KEY("delay", SPAN, delay_ns, 1, PROF__CENTURY, 1, NULL, "0", "a time with its unit, for example 500ms or 5s",
              "recording begins that long after the start"),
    PROF__KEY("start_unix", TIME, start_unix_ns, 0, UINT64_MAX, 1, NULL, "0",
              "a Unix time in nanoseconds, or in seconds as 1767225600s",
              "recording begins then; at once if that is past"),
    PROF__KEY("duration", SPAN, duration_ns, 1, PROF__CENTURY, 1, NULL, "0",
              "a time with its unit, for example 500ms or 5s",
              "recording ends that long after it began, and output is written; 0: with prof_stop()"),
    PROF__KEY("warmup_steps", COUNT, warmup_steps, 0, 1ull << 60, 1, NULL, "0", "a number of steps",
              "recording begins with the step after so many PROFILE_STEPs"),
    PROF__KEY("warmup_frames", COUNT, warmup_frames, 0, 1ull << 60, 1, NULL, "0", "a number of frames",
              "recording begins with this many'th PROFILE_FRAME"),
    PROF__KEY("max_file_size", BYTES, max_file_size, 0, UINT64_MAX, 1, NULL, "0", "bytes, for example 2G",
              "mode stream: bytes that the file may have, buffer included; 0: no limit"),
    PROF__KEY("at_limit", CHOICE, at_limit, 0, 0, 0, prof__limit_names, "stop", "stop or rotate",
              "mode stream: which end is kept once the file is that large: the oldest or the newest events"),
    PROF__KEY("wait", WAIT, wait_ns, 0, PROF__MAX_WAIT, 1, NULL, "", "a time up to 10s, for example 5ms; 0: not at all",
              "how long a thread waits for room in the buffer, before events are lost; default: 10s with stats and "
              "ring+stats, else 0"),
    PROF__KEY("dump_period", PERIOD, dump_period_ns, PROF__MIN_PERIOD, PROF__MAX_PERIOD, 1, NULL, "0",
              "seconds from 0.01 to 864000, or a time, for example 10ms or 5s", "writes output that often, and not only at the end; 0: not"),
    PROF__KEY("save", TEXT, save, 0, 0, 0, NULL, "", "a path as for output; %c counts the files",
              "file for the last seconds, whenever save_over, save_signal or prof_save_request() ask for it"),
    PROF__KEY("save_last", SECONDS, save_last, 1, UINT64_MAX, 0, NULL, "10", "seconds, for example 10 or 500ms",
              "how much a save holds"),
    PROF__KEY("save_over", TEXT, save_over, 0, 0, 0, NULL, "",
              "frame>TIME, frame:NAME>TIME or scope:NAME>TIME, joined by commas",
              "what must not take longer, for example frame>16.7ms,scope:net.*>2ms"),
    PROF__KEY("save_every", SECONDS, save_every, 0, UINT64_MAX, 1, NULL, "0", "seconds, for example 30 or 500ms",
              "from one save for save_over to the next, at least; 0: only one"),
    PROF__KEY("save_signal", SIGNAL, save_signal, 0, 64, 1, NULL, "0", "a number, or a name such as USR1",
              "a signal that saves"),
    PROF__KEY("crash_report", SWITCH, crash_report, 0, 1, 1, NULL, "0", "0 or 1",
              "1: when the process dies of a bug, say on stderr what its threads were doing, and write the image"),
    PROF__KEY("filter_mask", MASK, filter_mask, 0, UINT32_MAX, 1, NULL, "0", "32 bits, for example 5 or 0xff",
              "which PROFILE_SCOPE_M(name, mask) are on: those with one of these bits in their mask; 0: all"),
    PROF__KEY("no_sync", SWITCH, no_sync, 0, 1, 1, NULL, "0", "0 or 1",
              "1: PROFILE_SYNC and PROFILE_SCOPE_SYNC wait for nothing"),
    PROF__KEY("no_devices", SWITCH, no_devices, 0, 1, 1, NULL, "0", "0 or 1",
              "1: what devices report is not recorded"),
};
#define PROF__KEY_COUNT_ALL (sizeof prof__keys / sizeof *prof__keys)

static const prof__unit prof__sizes[] = {{"", 1},          {"K", 1u << 10},   {"M", 1u << 20},   {"G", 1u << 30},
                                         {"KiB", 1u << 10}, {"MiB", 1u << 20}, {"GiB", 1u << 30}, {NULL, 0}};
static const prof__unit prof__times[] = {{"ns", 1},         {"us", 1000}, {"ms", 1000000},
                                         {"s", 1000000000}, {"", 1},      {NULL, 0}};
static const prof__unit prof__seconds[] = {{"ns", 1},         {"us", 1000},       {"ms", 1000000},
                                           {"s", 1000000000}, {"", 1000000000}, {NULL, 0}};
static const prof__unit prof__ones[] = {{"", 1}, {NULL, 0}};

/* 1 if value is one for this key; what it means as a number, if it does. */
static int prof__key_parse(const prof__key *key, const char *value, uint64_t *number)
{
    const prof__unit *units = prof__ones;
    int choice = 0;
    *number = 0;
    switch (key->type) {
    case PROF__KEY_TEXT: return 1;
    case PROF__KEY_CHOICE: choice = prof__parse_name(value, key->choices); break;
    case PROF__KEY_SWITCH: choice = prof__parse_name(value, prof__zero_one); break;
    case PROF__KEY_SIGNAL: choice = prof__parse_signal(value); break;
    case PROF__KEY_MASK: return prof__parse_mask(value, number);
    case PROF__KEY_SIZE:
    case PROF__KEY_BYTES: units = prof__sizes; break;
    case PROF__KEY_TIME:
    case PROF__KEY_WAIT:
    case PROF__KEY_SPAN: units = prof__times; break;
    case PROF__KEY_PERIOD:
    case PROF__KEY_SECONDS: units = prof__seconds; break;
    default: break;
    }
    if (key->type >= PROF__KEY_CHOICE && key->type < PROF__KEY_MASK) {
        *number = (uint64_t)choice;
        return choice >= 0;
    }
    if (!prof__parse_number(value, units, number)) return 0;
    if (!*number) return key->zero;
    if (key->type == PROF__KEY_SPAN && value[prof__length(value) - 1] != 's') return 0;
    if (key->type == PROF__KEY_SIZE && (size_t)*number != *number) return 0;
    return *number >= key->least && *number <= key->most;
}

static void prof__key_store(const prof__key *key, prof_config *config, const char *value, uint64_t number)
{
    void *field = (char *)config + key->field;
    size_t size = (size_t)number;
    double seconds = (double)number / 1e9;
    int narrow = key->type == PROF__KEY_LEVEL && !number ? -1 : (int)number;
    uint32_t mask = (uint32_t)number;
    switch (key->type) {
    case PROF__KEY_TEXT: prof__copy(field, &value, sizeof value); break;
    case PROF__KEY_SIZE: prof__copy(field, &size, sizeof size); break;
    case PROF__KEY_SECONDS: prof__copy(field, &seconds, sizeof seconds); break;
    case PROF__KEY_BYTES:
    case PROF__KEY_COUNT:
    case PROF__KEY_TIME:
    case PROF__KEY_SPAN: prof__copy(field, &number, sizeof number); break;
    case PROF__KEY_PERIOD:
        if (config->dump_period_ns != PROF__NO_DUMP) prof__copy(field, &number, sizeof number);
        break;
    case PROF__KEY_WAIT:
        if (!number) number = PROF__NO_WAIT;
        prof__copy(field, &number, sizeof number);
        break;
    case PROF__KEY_MASK: prof__copy(field, &mask, sizeof mask); break;
    default: prof__copy(field, &narrow, sizeof narrow); break;
    }
}
typedef char prof__choices_are_ints[sizeof(prof_mode) == sizeof(int) && sizeof(prof_existing) == sizeof(int) ? 1 : -1];

static const prof__key *prof__key_find(const char *name)
{
    for (size_t i = 0; i < PROF__KEY_COUNT_ALL; ++i)
        if (prof__equal(prof__keys[i].name, name)) return &prof__keys[i];
    return NULL;
}

/* said: the key by which it was named, where that is another one. */
static prof_status prof__key_set(const prof__key *key, const char *said, prof_config *config, const char *value)
{
    uint64_t number;
    if (!prof__key_parse(key, value, &number))
        return prof__fail(PROF_INVALID_ARGUMENT, "%s '%s': %s", said, value, key->values);
    prof__key_store(key, config, value, number);
    return PROF_OK;
}

/* What the configurations of other systems have to say, and what that is here. */
enum {
    PROF__OTHER_SAME,   /* home, with the same value */
    PROF__OTHER_MS,     /* home, a time: the value is in milliseconds */
    PROF__OTHER_NOT,    /* home, a switch: with the opposite value */
    PROF__OTHER_DEVICES, /* home, a switch: with the opposite value; a level above 1 cannot be had */
    PROF__OTHER_ENABLED, /* home, a level: false is none */
    PROF__OTHER_PERIOD, /* true: once a second unless dump_period says otherwise; false: never, whatever it says */
    PROF__OTHER_COUNTS, /* a switch, true: with statistics of everything, unless a mode was chosen */
    PROF__OTHER_BOTH,   /* a switch, either way is fine */
    PROF__OTHER_ON,     /* true is how it is here; false cannot be had */
    PROF__OTHER_OFF,    /* false is how it is here; true cannot be had */
    PROF__OTHER_ONLY,   /* the value `home` is how it is here; nothing else can be had */
    PROF__OTHER_AMONG,  /* home: values that are how it is here, |, and behind ; those that cannot be had. Without a ;
                           these are all that are of the kind of the first: numbers, switches, or any text */
    PROF__OTHER_NEVER   /* cannot be had */
};
typedef struct prof__other_key {
    const char *system, *name;
    int how;
    const char *home, *meaning; /* meaning: what it is here, or why it is not; null: as home's */
} prof__other_key;

#define PROF__NO_DEVICE "concerns a device: no plug-in for it has claimed this key"
#define PROF__NO_NEURON "concerns a device: include prof_ntff.h, which takes this key"
#define PROF__CNTK_FOLDER "set output to the folder, with / at its end, and layout to cntk"
#define PROF__NO_FOLDER "name the whole file, folder included, in output"
static const prof__other_key prof__other_keys[] = {
    {"CNTK", "profilerEnabled", PROF__OTHER_ENABLED, "level",
     "1: mode ring+stats, unless another one is chosen; 0: all sites are off until prof_set_level(), and devices"},
    {"CNTK", "profilerBufferSize", PROF__OTHER_SAME, "buffer", NULL},
    {"CNTK", "customEventBufferBytes", PROF__OTHER_SAME, "buffer", NULL},
    {"CNTK", "reserve_mem", PROF__OTHER_SAME, "buffer", NULL},
    {"CNTK", "profilerSyncGpu", PROF__OTHER_NOT, "no_sync", "1: PROFILE_SYNC calls what prof_set_sync() was given"},
    {"CNTK", "syncGpu", PROF__OTHER_NOT, "no_sync", "1: PROFILE_SYNC calls what prof_set_sync() was given"},
    {"CNTK", "sync_gpu", PROF__OTHER_NOT, "no_sync", "1: PROFILE_SYNC calls what prof_set_sync() was given"},
    {"CNTK", "profilerDir", PROF__OTHER_NEVER, NULL, PROF__CNTK_FOLDER},
    {"CNTK", "dir", PROF__OTHER_NEVER, NULL, PROF__CNTK_FOLDER},
    {"CNTK", "logSuffix", PROF__OTHER_SAME, "rank", NULL},
    {"CNTK", "suffix", PROF__OTHER_SAME, "rank", NULL},
    {"MXNet", "filename", PROF__OTHER_SAME, "output", NULL},
    {"MXNet", "profile_all", PROF__OTHER_BOTH, NULL, "everything is recorded but what categories and level turn off"},
    {"MXNet", "profile_symbolic", PROF__OTHER_ON, NULL, "turn a category off with categories, for example -operator"},
    {"MXNet", "profile_imperative", PROF__OTHER_ON, NULL, "turn a category off with categories, for example -operator"},
    {"MXNet", "profile_memory", PROF__OTHER_ON, NULL, "turn a category off with categories, for example -memory"},
    {"MXNet", "profile_api", PROF__OTHER_ON, NULL, "turn a category off with categories, for example -api"},
    {"MXNet", "continuous_dump", PROF__OTHER_PERIOD, "dump_period",
     "1: output is rewritten every second, or dump_period, mode ring+stats unless another one is chosen; 0: at the end"},
    {"MXNet", "aggregate_stats", PROF__OTHER_COUNTS, NULL,
     "1: mode ring+stats, unless another one is chosen: statistics of everything, at any time"},
    {"MXNet", "profile_process", PROF__OTHER_AMONG, "worker;server", "this process; give others a PROF_OUTPUT"},
    {"MXNet", "gpu_memory_profile_filename_prefix", PROF__OTHER_AMONG, "gpu_memory_profile|", PROF__NO_DEVICE},
    {"MXNet", "MXNET_PROFILER_AUTOSTART", PROF__OTHER_NEVER, NULL, "PROF_OUTPUT in the environment is that"},
    {"MXNet", "MXNET_PROFILER_MODE", PROF__OTHER_NEVER, NULL, "set categories and level"},
    {"TensorFlow", "TF_DISABLE_PROFILING", PROF__OTHER_NEVER, NULL, "leave PROF_OUTPUT out, or prof_start()"},
    {"TensorFlow", "host_tracer_level", PROF__OTHER_SAME, "level", NULL},
    {"TensorFlow", "device_tracer_level", PROF__OTHER_DEVICES, "no_devices",
     "0: what devices report is not recorded; there is no level above 1"},
    {"TensorFlow", "python_tracer_level", PROF__OTHER_BOTH, NULL,
     "there is no interpreter: compile with -finstrument-functions for a scope per function"},
    {"TensorFlow", "delay_ms", PROF__OTHER_MS, "delay", NULL},
    {"TensorFlow", "duration_ms", PROF__OTHER_MS, "duration", NULL},
    {"TensorFlow", "start_timestamp_ns", PROF__OTHER_SAME, "start_unix", NULL},
    {"TensorFlow", "host_traceme_filter_mask", PROF__OTHER_SAME, "filter_mask", NULL},
    {"TensorFlow", "include_dataset_ops", PROF__OTHER_BOTH, NULL, "there are no data set operations: mark up your own"},
    {"TensorFlow", "enable_hlo_proto", PROF__OTHER_BOTH, NULL, "there are no XLA programs"},
    {"TensorFlow", "version", PROF__OTHER_ONLY, "1", "the only version of these options"},
    {"TensorFlow", "device_type", PROF__OTHER_AMONG, "UNSPECIFIED|CPU|0|1;GPU|TPU|PLUGGABLE_DEVICE|2|3|4", PROF__NO_DEVICE},
    {"TensorFlow", "max_events", PROF__OTHER_NEVER, NULL, "the buffer has a size in bytes: set buffer"},
    {"TensorFlow", "repository_path", PROF__OTHER_AMONG, "", PROF__NO_FOLDER},
    {"TensorFlow", "raise_error_on_start_failure", PROF__OTHER_BOTH, NULL, "prof_start() always says what is wrong"},
    {"TensorFlow", "override_hostname", PROF__OTHER_AMONG, "", "name the file as you like in output"},
    {"JAX", "session_id", PROF__OTHER_AMONG, "", "name the file as you like in output"},
    {"JAX", "create_perfetto_trace", PROF__OTHER_OFF, NULL, "ui.perfetto.dev opens an output that ends in .json"},
    {"JAX", "create_perfetto_link", PROF__OTHER_OFF, NULL, "ui.perfetto.dev opens an output that ends in .json"},
    {"JAX", "enable_continuous_profiling", PROF__OTHER_BOTH, NULL,
     "mode ring is that, and prof_save() takes the snapshot"},
    {"JAX", "profile_subprocesses", PROF__OTHER_ON, NULL,
     "children of fork() record, programs do that have a PROF_OUTPUT"},
    {"JAX", "override_hostnames", PROF__OTHER_AMONG, "", "name the file as you like in output"},
    {"JAX", "tpu_trace_mode", PROF__OTHER_AMONG, "TRACE_ONLY_XLA|TRACE_ONLY_HOST;TRACE_COMPUTE|TRACE_COMPUTE_AND_SYNC", PROF__NO_DEVICE},
    {"JAX", "tpu_num_sparse_cores_to_trace", PROF__OTHER_AMONG, "0", PROF__NO_DEVICE},
    {"JAX", "tpu_num_sparse_core_tiles_to_trace", PROF__OTHER_AMONG, "0", PROF__NO_DEVICE},
    {"JAX", "tpu_num_chips_to_profile_per_task", PROF__OTHER_AMONG, "0", PROF__NO_DEVICE},
    {"JAX", "tpu_power_trace_level", PROF__OTHER_AMONG, "0", PROF__NO_DEVICE},
    {"JAX", "tpu_perf_counters", PROF__OTHER_AMONG, "", PROF__NO_DEVICE},
    {"JAX", "tpu_cpu_perf_counter_profile_events", PROF__OTHER_AMONG, "|context-switches,page-faults", PROF__NO_DEVICE},
    {"JAX", "gpu_max_callback_api_events", PROF__OTHER_AMONG, "2097152", PROF__NO_DEVICE},
    {"JAX", "gpu_max_activity_api_events", PROF__OTHER_AMONG, "2097152", PROF__NO_DEVICE},
    {"JAX", "gpu_max_annotation_strings", PROF__OTHER_AMONG, "1048576", PROF__NO_DEVICE},
    {"JAX", "gpu_enable_nvtx_tracking", PROF__OTHER_AMONG, "false", PROF__NO_DEVICE},
    {"JAX", "gpu_enable_cupti_activity_graph_trace", PROF__OTHER_AMONG, "false", PROF__NO_DEVICE},
    {"JAX", "gpu_pm_sample_counters", PROF__OTHER_AMONG, "", PROF__NO_DEVICE},
    {"JAX", "gpu_pm_sample_interval_us", PROF__OTHER_AMONG, "500", PROF__NO_DEVICE},
    {"JAX", "gpu_pm_sample_buffer_size_per_gpu_mb", PROF__OTHER_AMONG, "64", PROF__NO_DEVICE},
    {"JAX", "gpu_num_chips_to_profile_per_task", PROF__OTHER_AMONG, "0", PROF__NO_DEVICE},
    {"JAX", "gpu_dump_graph_node_mapping", PROF__OTHER_AMONG, "false", PROF__NO_DEVICE},
    {"JAX", "gpu_range_profiling_counters", PROF__OTHER_AMONG, "", PROF__NO_DEVICE},
    {"JAX", "gpu_range_profiling_allow_multipass", PROF__OTHER_AMONG, "false", PROF__NO_DEVICE},
    {"Neuron", "NEURON_RT_INSPECT_ENABLE", PROF__OTHER_ON, NULL, "prof_start() is what enables"},
    {"Neuron", "NEURON_RT_INSPECT_OUTPUT_DIR", PROF__OTHER_NEVER, NULL, PROF__NO_FOLDER},
    {"Neuron", "NEURON_RT_INSPECT_ON_FAIL", PROF__OTHER_NEVER, NULL, "set crash_report, or save"},
    {"Neuron", "NEURON_RT_INSPECT_SYSTEM_PROFILE", PROF__OTHER_NEVER, NULL, PROF__NO_NEURON},
    {"Neuron", "NEURON_RT_INSPECT_DEVICE_PROFILE", PROF__OTHER_NEVER, NULL, PROF__NO_NEURON},
    {"Neuron", "NEURON_RT_INSPECT_DEVICE_PROFILE_NUM_WARMUP", PROF__OTHER_NEVER, NULL,
     "the runtime's alone: set it in the environment"},
    {"Neuron", "NEURON_RT_INSPECT_CPU_UTIL", PROF__OTHER_NEVER, NULL, PROF__NO_NEURON},
    {"Neuron", "NEURON_RT_INSPECT_HOST_MEMORY", PROF__OTHER_NEVER, NULL, PROF__NO_NEURON},
    {"Neuron", "NEURON_RT_INSPECT_EVENT_FILTER_NC", PROF__OTHER_NEVER, NULL, PROF__NO_NEURON},
    {"Neuron", "NEURON_RT_INSPECT_EVENT_FILTER_TYPE", PROF__OTHER_NEVER, NULL, PROF__NO_NEURON},
    {"Neuron", "NEURON_RT_INSPECT_SYS_TRACE_MAX_EVENTS_PER_NC", PROF__OTHER_NEVER, NULL, PROF__NO_NEURON},
    {"Neuron", "NEURON_RT_INSPECT_PRECACHE_ENABLE", PROF__OTHER_NEVER, NULL,
     "the runtime's alone: set it in the environment"},
};
#define PROF__OTHER_COUNT_ALL (sizeof prof__other_keys / sizeof *prof__other_keys)

/* Which of the values of a PROF__OTHER_AMONG it is: 1: how it is here; 0: one that cannot be had; -1: nonsense. */
static int prof__other_among(const char *home, const char *value)
{
    int fine = 1, closed = 0, is_switch = prof__equal(home, "false"), is_number = home[0] >= '0' && home[0] <= '9';
    uint64_t number;
    for (const char *each = home;; ++each) {
        const char *c = value;
        while (*c && *each == *c) ++each, ++c;
        if (!*c && (!*each || *each == '|' || *each == ';')) return fine;
        while (*each && *each != '|' && *each != ';') ++each;
        if (*each == ';') fine = 0, closed = 1;
        if (!*each) break;
    }
    if (is_switch) {
        int on = prof__parse_name(value, prof__switch_names);
        return on < 0 ? -1 : !(on & 1);
    }
    return closed || (is_number && !prof__parse_number(value, prof__ones, &number)) ? -1 : 0;
}

/* These systems count everything, however small the buffer of their events is. */
static void prof__other_counts(prof_config *config)
{
    if (config->mode == PROF_RING) config->mode = PROF_RING_STATS;
}

static void prof__other_period(prof_config *config, int on)
{
    if (on) prof__other_counts(config);
    if (!on)
        config->dump_period_ns = PROF__NO_DUMP;
    else if (!config->dump_period_ns || config->dump_period_ns == PROF__NO_DUMP)
        config->dump_period_ns = 1000000000u;
}

static prof_status prof__other_set(const prof__other_key *other, prof_config *config, const char *value)
{
    const prof__key *home = other->home && other->how < PROF__OTHER_BOTH ? prof__key_find(other->home) : NULL;
    int on = prof__parse_name(value, prof__switch_names);
    uint64_t ms;
    switch (other->how) {
    case PROF__OTHER_SAME:
        if (!home) return prof__fail(PROF_UNSUPPORTED, "%s: this build has no %s", other->name, other->home);
        return prof__key_set(home, other->name, config, value);
    case PROF__OTHER_MS:
        if (!prof__parse_number(value, prof__ones, &ms) || ms > PROF__CENTURY / 1000000)
            return prof__fail(PROF_INVALID_ARGUMENT, "%s '%s': a number of milliseconds", other->name, value);
        prof__key_store(home, config, value, ms * 1000000);
        return PROF_OK;
    case PROF__OTHER_ONLY:
        if (prof__equal(value, other->home)) return PROF_OK;
        return prof__fail(PROF_UNSUPPORTED, "%s '%s': only %s: %s", other->name, value, other->home, other->meaning);
    case PROF__OTHER_AMONG:
        on = prof__other_among(other->home, value);
        if (on > 0) return PROF_OK;
        return prof__fail(on ? PROF_INVALID_ARGUMENT : PROF_UNSUPPORTED, "%s '%s': %s", other->name, value, other->meaning);
    case PROF__OTHER_NEVER: return prof__fail(PROF_UNSUPPORTED, "%s: %s", other->name, other->meaning);
    default: break;
    }
    if (other->how == PROF__OTHER_DEVICES && on < 0 && prof__parse_number(value, prof__ones, &ms))
        return prof__fail(PROF_UNSUPPORTED, "%s '%s': %s", other->name, value, other->meaning);
    /* A level of 2 is not off, either. */
    if (other->how == PROF__OTHER_OFF && on < 0 && prof__parse_number(value, prof__ones, &ms)) on = 1;
    if (on < 0) return prof__fail(PROF_INVALID_ARGUMENT, "%s '%s': 0 or 1", other->name, value);
    on &= 1;
    if (other->how == PROF__OTHER_NOT || other->how == PROF__OTHER_DEVICES)
        prof__key_store(home, config, value, (uint64_t)!on);
    if (other->how == PROF__OTHER_ENABLED && !on) {
        prof__key_store(home, config, value, 0);
        config->no_devices = 1;
    }
    if (on && (other->how == PROF__OTHER_ENABLED || other->how == PROF__OTHER_COUNTS)) prof__other_counts(config);
    if (other->how == PROF__OTHER_PERIOD) prof__other_period(config, on);
    if ((other->how == PROF__OTHER_ON && !on) || (other->how == PROF__OTHER_OFF && on))
        return prof__fail(PROF_UNSUPPORTED, "%s '%s': %s", other->name, value, other->meaning);
    return PROF_OK;
}

static struct prof__claim {
    char prefix[32];
    prof_status (*claim)(void *user, const char *key, const char *value);
    void *user;
} prof__claims[16]; /* under the lock */

static int prof__begins(const char *text, const char *prefix)
{
    while (*prefix && *text == *prefix) ++text, ++prefix;
    return !*prefix;
}

PROF_DEF prof_status prof_config_claim(const char *prefix,
                                       prof_status (*claim)(void *user, const char *key, const char *value), void *user)
{
    PROF__LED(prof_config_claim, (prefix, claim, user));
    size_t length = prefix ? prof__length(prefix) : 0, count = sizeof prof__claims / sizeof *prof__claims, at = count;
    if (!length || length >= sizeof prof__claims->prefix)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_config_claim: a prefix has 1 to 31 bytes");
    uint32_t gate = prof__state_lock();
    for (size_t i = 0; i < count; ++i) {
        if (prof__claims[i].claim && prof__equal(prof__claims[i].prefix, prefix)) at = i;
        if (!prof__claims[i].claim && at == count && claim) at = i;
    }
    if (at < count) {
        prof__copy(prof__claims[at].prefix, prefix, length + 1);
        prof__claims[at].claim = claim;
        prof__claims[at].user = user;
    }
    prof__state_unlock(gate);
    if (at == count && claim) return prof__fail(PROF_NO_MEMORY, "prof_config_claim: there are %d already", (int)count);
    return PROF_OK;
}

/* 1: somebody has claimed it, who said status. */
static int prof__claimed(const char *key, const char *value, prof_status *status)
{
    struct prof__claim found;
    size_t longest = 0;
    prof__clear(&found, sizeof found);
    uint32_t gate = prof__state_lock();
    for (size_t i = 0; i < sizeof prof__claims / sizeof *prof__claims; ++i) {
        size_t length = prof__length(prof__claims[i].prefix);
        if (!prof__claims[i].claim || length < longest || !prof__begins(key, prof__claims[i].prefix)) continue;
        longest = length;
        found = prof__claims[i];
    }
    prof__state_unlock(gate);
    if (!found.claim) return 0;
    *status = found.claim(found.user, key, value);
    if (*status)
        prof__fail(*status, "%s '%s': %s (says who claimed '%s')", key, value, prof_status_text(*status), found.prefix);
    return 1;
}

static const char *prof__key_nearest(const char *name)
{
    const char *nearest = prof__keys[0].name;
    for (size_t i = 0; i < PROF__KEY_COUNT_ALL + PROF__OTHER_COUNT_ALL; ++i) {
        const char *each =
            i < PROF__KEY_COUNT_ALL ? prof__keys[i].name : prof__other_keys[i - PROF__KEY_COUNT_ALL].name;
        if (prof__distance(name, each) < prof__distance(name, nearest)) nearest = each;
    }
    return nearest;
}

PROF_DEF prof_status prof_config_set(prof_config *config, const char *key, const char *value)
{
    PROF__LED(prof_config_set, (config, key, value));
    prof_status status;
    if (!config || !key || !value) return prof__fail(PROF_INVALID_ARGUMENT, "prof_config_set: null argument");
    const prof__key *own = prof__key_find(key);
    if (own) return prof__key_set(own, key, config, value);
    if (prof__claimed(key, value, &status)) return status;
    for (size_t i = 0; i < PROF__OTHER_COUNT_ALL; ++i)
        if (prof__equal(prof__other_keys[i].name, key)) return prof__other_set(&prof__other_keys[i], config, value);
    return prof__fail(PROF_INVALID_ARGUMENT, "unknown key '%s': did you mean '%s'?", key, prof__key_nearest(key));
}

/* "PROF_BUFFER" of "buffer". */
static void prof__key_variable(const char *key, char *to, size_t size)
{
    size_t at = 5;
    prof__copy(to, "PROF_", 6);
    for (; *key && at + 1 < size; ++key) to[at++] = (char)(*key >= 'a' && *key <= 'z' ? *key - 'a' + 'A' : *key);
    to[at] = 0;
}

PROF_DEF int prof_config_describe(size_t index, prof_option *option)
{
    if (!option || index >= PROF__KEY_COUNT_ALL + PROF__OTHER_COUNT_ALL) return 0;
    prof__clear(option, sizeof *option / 8 * 8);
    option->system = option->home = option->standard = "";
    option->environment[0] = 0;
    if (index < PROF__KEY_COUNT_ALL) {
        const prof__key *key = &prof__keys[index];
        option->key = key->name;
        option->type = prof__key_types[key->type];
        option->values = key->values;
        option->standard = key->standard;
        option->meaning = key->meaning;
        prof__key_variable(key->name, option->environment, sizeof option->environment);
        return 1;
    }
    const prof__other_key *other = &prof__other_keys[index - PROF__KEY_COUNT_ALL];
    const prof__key *home = other->home && other->how < PROF__OTHER_BOTH ? prof__key_find(other->home) : NULL;
    int is_switch = other->how >= PROF__OTHER_NOT && other->how <= PROF__OTHER_OFF;
    option->key = other->name;
    option->system = other->system;
    option->type = is_switch                      ? "switch"
                   : other->how == PROF__OTHER_MS ? "number"
                   : home                         ? prof__key_types[home->type]
                                                  : "text";
    option->values = other->how == PROF__OTHER_ON          ? "1"
                     : other->how == PROF__OTHER_OFF       ? "0"
                     : is_switch                           ? "0 or 1"
                     : other->how == PROF__OTHER_MS        ? "a number of milliseconds"
                     : other->how == PROF__OTHER_ONLY      ? other->home
                     : other->how == PROF__OTHER_AMONG     ? other->home[0] ? other->home : "empty"
                     : other->how == PROF__OTHER_SAME && home ? home->values
                                                           : "none";
    option->meaning = other->meaning ? other->meaning : home ? home->meaning : "not in this build";
    if (home) option->home = home->name;
    return 1;
}

#ifdef PROF_FREESTANDING
PROF_DEF prof_status prof_config_from_env(prof_config *config)
{
    (void)config;
    return prof__fail(PROF_UNSUPPORTED, "prof_config_from_env: freestanding has no environment");
}
#else
/* A PROF_ variable that is no key, but nearly one, would be ignored by mistake. starts: only those that are nearly one
   that starts a recording. */
static prof_status prof__environment_check(int starts)
{
#ifdef _WIN32
    char **each = _environ;
#else
    extern char **environ;
    char **each = environ;
#endif
    for (; each && *each; ++each) {
        char name[48];
        size_t length = 0;
        if (!prof__begins(*each, "PROF_")) continue;
        while ((*each)[5 + length] && (*each)[5 + length] != '=') ++length;
        if (length < 4 || length >= sizeof name || (*each)[5 + length] != '=' || !(*each)[6 + length]) continue;
        for (size_t i = 0; i < length; ++i) {
            char c = (*each)[5 + i];
            name[i] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
        }
        name[length] = 0;
        const char *nearest = prof__keys[0].name;
        for (size_t i = 1; i < PROF__KEY_COUNT_ALL; ++i)
            if (prof__distance(name, prof__keys[i].name) < prof__distance(name, nearest)) nearest = prof__keys[i].name;
        size_t distance = prof__distance(name, nearest);
        if (!distance || distance > (length > 5 ? 2u : 1u)) continue;
        if (starts && !prof__equal(nearest, "output") && !prof__equal(nearest, "save") &&
            !prof__equal(nearest, "crash_report"))
            continue;
        char meant[40];
        prof__key_variable(nearest, meant, sizeof meant);
        return prof__fail(PROF_INVALID_ARGUMENT, "%.*s: unknown variable: did you mean %s?", (int)(5 + length), *each,
                          meant);
    }
    return PROF_OK;
}

PROF_DEF prof_status prof_config_from_env(prof_config *config)
{
    if (!config) return prof__fail(PROF_INVALID_ARGUMENT, "prof_config_from_env: config is null");
    prof_status status = prof__environment_check(0);
    for (size_t i = 0; i < PROF__KEY_COUNT_ALL && !status; ++i) {
        char name[40], why[PROF__ERROR_SIZE];
        prof__key_variable(prof__keys[i].name, name, sizeof name);
        const char *text = prof__environment(name);
        if (!text || !*text) continue;
        status = prof__key_set(&prof__keys[i], prof__keys[i].name, config, text);
        if (!status) continue;
        prof__copy(why, PROF__ERROR_TEXT(), sizeof why);
        prof__fail(status, "%s: %.200s", name, why);
    }
    return status;
}
#endif

/*-- AUTOSTART ------------------------------------------------------------------------------------------ >>autostart --
   PROF_OUTPUT=trace.json ./program: from before main to exit. PROF_SAVE and PROF_CRASH_REPORT start a recording as
   well. Only this and >>crash print, and this only errors. */

#if !defined(PROF_FREESTANDING) && !defined(PROF_NO_AUTOSTART) && (!defined(PROF_STATIC) || defined(PROF_AUTOSTART))
#define PROF__AUTOSTARTS 1
static void prof__autostop(void)
{
    if (!PROF__LOAD(&prof__guest) && prof__session_phase() && prof_stop())
        fprintf(stderr, "prof: %s\n", prof_error());
}

/* The variable that asks for a recording; null: none does. */
static const char *prof__autostart_by(void)
{
    static const char *const names[] = {
#ifdef PROF__BRIDGED
        "PROF_BRIDGE",
#endif
        "PROF_OUTPUT", "PROF_SAVE", "PROF_CRASH_REPORT"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const char *text = prof__environment(names[i]);
        if (text && *text && !prof__equal(text, "0")) return names[i];
    }
    return NULL;
}

static void __attribute__((constructor(103))) prof__autostart(void)
{
    prof_config config;
    if (!prof__is_whole()) return; /* the one that is in charge started itself */
    const char *by = prof__autostart_by();
    memset(&config, 0, sizeof config);
    if (by ? prof_config_from_env(&config) : prof__environment_check(1)) {
        fprintf(stderr, "prof: %s; nothing is recorded\n", prof_error());
        return;
    }
    if (!by) return;
    if (prof_start(&config))
        fprintf(stderr, "prof: %s: %s; nothing is recorded\n", by, prof_error());
    else
        atexit(prof__autostop);
    if (prof__output_apart && prof__session_phase())
        fprintf(stderr, "prof: %s: another recorder of this process writes there; this one writes %s\n", config.output,
                prof__state_session()->output);
    if (prof__start_note[0]) fprintf(stderr, "prof: %s\n", prof__start_note);
}
#endif

#if !defined(PROF_FREESTANDING) && !defined(_WIN32)
/* The library that holds the recorder may be unloaded. Then no thread can be in its code any more, nor come back to it:
   everything goes. At the end of the process others may still record: everything stays. */
#ifdef PROF__SHARED
static void prof__unjoin(void);
#endif
static void __attribute__((destructor)) prof__unload(void)
{
#ifdef PROF__SHARED
    if (prof__exits) return;
    prof__unjoin();
    prof__exit_stop(); /* atexit would call the one of PROF_OUTPUT too late */
    if (prof__state.session) {
        prof__service_stop(prof__state.session);
        prof__state.session->next = prof__state.retired;
        prof__state.retired = prof__state.session;
    }
    if (prof__state.inherited) prof__session_delete(prof__state.inherited);
    prof__state.session = prof__state.inherited = NULL;
    prof__state.running = prof__state.ended = 0;
    while (prof__state.retired) {
        prof__session *next = prof__state.retired->next;
        prof__session_delete(prof__state.retired);
        prof__state.retired = next;
    }
    PROF__BRIDGE_UNLOAD();
    if (prof__exits_watched) prof__selves_unmap(); /* else this may be the end of the process, where threads go on */
#endif
    if (prof__exit_key_made) pthread_key_delete(prof__exit_key);
}
#endif

#ifndef PROF_FREESTANDING
/*-- SYMBOLS ---------------------------------------------------------------------------------------------- >>symbols --
   A function that was traced by its address has a call site of the name "module+0x1b40" (the address as the module's
   symbol table has it), the module's path as its file, and as its function which build of the module it was: see
   prof__module_identify. When a trace is opened, the module's file, or its file of debug symbols, gives the name, if it
   still is that build. Such a file is no more trusted than an image. */

#ifndef PROF_FREESTANDING
#include <limits.h>
#include <sys/stat.h>

#define PROF__BUILD_ID "?build-id=" /* no name of a function begins like this */
#define PROF__BUILD_TIME "?modified="
#define PROF__MAX_BUILD_ID 64 /* bytes; the linkers make 8 to 32 */
#define PROF__MAX_MODULES 256 /* that a trace may ask for */

typedef struct prof__symbol {
    uint64_t value;
    const char *name, *file; /* file: the source file of a local symbol as the compiler was told it, else null */
    int rank;                /* among several names of one address the highest is taken */
} prof__symbol;

/* The functions of one module, in order of their addresses. */
typedef struct prof__module_symbols {
    char *path, *build;
    char *texts; /* string table, zero-terminated */
    prof__symbol *list;
    size_t count;
} prof__module_symbols;

typedef struct prof__symbols {
    prof__module_symbols *modules;
    size_t count;
} prof__symbols;

/* An open ELF file. Numbers of its headers come in its own width and byte order. */
typedef struct prof__elf {
    FILE *file;
    uint64_t size;
    int wide, big;
    uint64_t sections; /* file offset of the section headers */
    size_t section_size, section_count;
} prof__elf;

typedef struct prof__elf_section {
    uint64_t type, offset, size, link, entry_size;
} prof__elf_section;

enum { PROF__ELF_SYMTAB = 2, PROF__ELF_NOTE = 7, PROF__ELF_DYNSYM = 11 };

static uint64_t prof__elf_number(const prof__elf *elf, const unsigned char *at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; ++i) value = value << 8 | at[elf->big ? i : size - 1 - i];
    return value;
}

/* The field at one place in 32-bit files and at another, of twice the size, in 64-bit files. */
static uint64_t prof__elf_word(const prof__elf *elf, const unsigned char *record, size_t narrow, size_t wide)
{
    return elf->wide ? prof__elf_number(elf, record + wide, 8) : prof__elf_number(elf, record + narrow, 4);
}

static int prof__elf_read(const prof__elf *elf, uint64_t offset, void *to, size_t size)
{
    if (offset > elf->size || size > elf->size - offset || offset > LONG_MAX) return 0;
    return !fseek(elf->file, (long)offset, SEEK_SET) && fread(to, 1, size, elf->file) == size;
}

/* A section's bytes and a zero behind them, for the caller to free. Null: beyond the file, too large, no memory. */
static unsigned char *prof__elf_load(const prof__elf *elf, const prof__elf_section *section)
{
    unsigned char *bytes;
    if (section->offset > elf->size || section->size > elf->size - section->offset) return NULL;
    if (section->size > 1u << 30) return NULL;
    bytes = (unsigned char *)malloc((size_t)section->size + 1);
    if (bytes && !prof__elf_read(elf, section->offset, bytes, (size_t)section->size)) {
        free(bytes);
        return NULL;
    }
    if (bytes) bytes[section->size] = 0;
    return bytes;
}

static int prof__elf_section_read(const prof__elf *elf, size_t index, prof__elf_section *section)
{
    unsigned char record[64];
    if (index >= elf->section_count ||
        !prof__elf_read(elf, elf->sections + index * elf->section_size, record, elf->wide ? 64 : 40))
        return 0;
    section->type = prof__elf_number(elf, record + 4, 4);
    section->offset = prof__elf_word(elf, record, 16, 24);
    section->size = prof__elf_word(elf, record, 20, 32);
    section->link = prof__elf_number(elf, record + (elf->wide ? 40 : 24), 4);
    section->entry_size = prof__elf_word(elf, record, 36, 56);
    return 1;
}

static int prof__elf_section_find(const prof__elf *elf, uint64_t type, prof__elf_section *section)
{
    for (size_t i = 0; i < elf->section_count; ++i)
        if (prof__elf_section_read(elf, i, section) && section->type == type) return 1;
    return 0;
}

/* Text of a build id, or ""; notes: the bytes of a note section or segment. to: 2 * PROF__MAX_BUILD_ID + 1 bytes. */
static void prof__build_id_text(const prof__elf *elf, const unsigned char *notes, size_t size, size_t align, char *to)
{
    size_t at = 0;
    *to = 0;
    while (size - at >= 12) {
        uint64_t name = prof__elf_number(elf, notes + at, 4), about = prof__elf_number(elf, notes + at + 4, 4);
        uint64_t type = prof__elf_number(elf, notes + at + 8, 4);
        uint64_t about_at = (12 + name + align - 1) & ~((uint64_t)align - 1); /* below 2^33: no overflow */
        uint64_t next = (about_at + about + align - 1) & ~((uint64_t)align - 1);
        if (about_at + about > size - at) return;
        if (type == 3 && name == 4 && !memcmp(notes + at + 12, "GNU", 4) && about <= PROF__MAX_BUILD_ID) {
            for (size_t i = 0; i < about; ++i) {
                unsigned char byte = notes[at + about_at + i];
                *to++ = "0123456789abcdef"[byte >> 4];
                *to++ = "0123456789abcdef"[byte & 15];
            }
            *to = 0;
            return;
        }
        if (next > size - at) return;
        at += (size_t)next;
    }
}

static void prof__elf_close(prof__elf *elf)
{
    if (elf->file) fclose(elf->file);
    elf->file = NULL;
}

/* Where a module has no build id, its size and the time of its last change tell one build from another. 0: no regular
   file, which is not even opened, for a path in an image may name a device. build: 48 bytes. */
static int prof__file_build(const char *path, uint64_t *size, char *build)
{
#ifdef _WIN32
    struct _stat64 about;
    if (_stat64(path, &about) || !(about.st_mode & _S_IFREG)) return 0;
#else
    struct stat about;
    if (stat(path, &about) || !S_ISREG(about.st_mode)) return 0;
#endif
    *size = (uint64_t)about.st_size;
    snprintf(build, 48, "%llu,%lld", (unsigned long long)*size, (long long)about.st_mtime);
    return 1;
}

/* Opens a file if it is ELF and the build that is asked for. 0: it is not. */
static int prof__elf_open(prof__elf *elf, const char *path, const char *build)
{
    char now[48];
    unsigned char head[64];
    memset(elf, 0, sizeof *elf);
    if (!prof__file_build(path, &elf->size, now)) return 0;
    if (!strncmp(build, PROF__BUILD_TIME, sizeof PROF__BUILD_TIME - 1) &&
        strcmp(build + sizeof PROF__BUILD_TIME - 1, now))
        return 0;
    elf->file = fopen(path, "rb");
    if (!elf->file) return 0;
    if (prof__elf_read(elf, 0, head, 52) && !memcmp(head, "\177ELF", 4)) {
        elf->wide = head[4] == 2;
        elf->big = head[5] == 2;
        if (!elf->wide || prof__elf_read(elf, 0, head, 64)) {
            elf->sections = prof__elf_word(elf, head, 32, 40);
            elf->section_size = (size_t)prof__elf_number(elf, head + (elf->wide ? 58 : 46), 2);
            elf->section_count = (size_t)prof__elf_number(elf, head + (elf->wide ? 60 : 48), 2);
        }
    }
    if (elf->sections > elf->size || elf->section_size < (elf->wide ? 64u : 40u)) elf->section_count = 0;
    if (!strncmp(build, PROF__BUILD_ID, sizeof PROF__BUILD_ID - 1)) {
        int same = 0;
        for (size_t i = 0; i < elf->section_count && !same; ++i) {
            prof__elf_section section;
            unsigned char *notes = NULL;
            char id[2 * PROF__MAX_BUILD_ID + 1] = "";
            if (prof__elf_section_read(elf, i, &section) && section.type == PROF__ELF_NOTE &&
                section.size <= 1u << 16)
                notes = prof__elf_load(elf, &section);
            if (notes) prof__build_id_text(elf, notes, (size_t)section.size, 4, id);
            same = *id && !strcmp(id, build + sizeof PROF__BUILD_ID - 1);
            free(notes);
        }
        if (!same) elf->section_count = 0;
    }
    if (elf->section_count) return 1;
    prof__elf_close(elf);
    return 0;
}

static int prof__symbol_order(const void *a, const void *b)
{
    const prof__symbol *x = (const prof__symbol *)a, *y = (const prof__symbol *)b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    if (x->rank != y->rank) return x->rank > y->rank ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Reads the functions out of the symbol table of one type. 0: there is none, or it is broken. */
static int prof__elf_symbols(const prof__elf *elf, uint64_t type, prof__module_symbols *module)
{
    prof__elf_section table, names;
    unsigned char *bytes;
    const char *file = NULL;
    size_t entry = elf->wide ? 24 : 16, count, text_size;
    if (!prof__elf_section_find(elf, type, &table) || table.entry_size != entry ||
        !prof__elf_section_read(elf, (size_t)table.link, &names))
        return 0;
    bytes = prof__elf_load(elf, &table);
    if (!bytes) return 0;
    count = (size_t)(table.size / entry);
    text_size = (size_t)names.size;
    module->texts = (char *)prof__elf_load(elf, &names);
    module->list = (prof__symbol *)calloc(count + 1, sizeof *module->list);
    for (size_t i = 0; module->texts && module->list && i < count; ++i) {
        const unsigned char *record = bytes + i * entry;
        uint64_t text = prof__elf_number(elf, record, 4);
        unsigned info = record[elf->wide ? 4 : 12], kind = info & 15, binding = info >> 4;
        uint64_t section = prof__elf_number(elf, record + (elf->wide ? 6 : 14), 2);
        const char *name = text < text_size ? module->texts + text : "";
        if (kind == 4) file = *name ? name : NULL; /* without a name: what follows is of no file any more */
        if ((kind != 2 && kind != 10) || !section || !*name) continue; /* functions, those chosen at load time, too */
        prof__symbol *symbol = &module->list[module->count++];
        symbol->value = prof__elf_word(elf, record, 4, 8);
        symbol->name = name;
        symbol->file = binding ? NULL : file;
        symbol->rank = binding == 1 ? 2 : binding == 2;
    }
    free(bytes);
    if (module->count) qsort(module->list, module->count, sizeof *module->list, prof__symbol_order);
    return module->count != 0;
}

static void prof__module_clear(prof__module_symbols *module)
{
    free(module->texts);
    free(module->list);
    module->texts = NULL;
    module->list = NULL;
    module->count = 0;
}

static int prof__module_read(prof__module_symbols *module, const char *path, uint64_t type)
{
    prof__elf elf;
    int good;
    if (!prof__elf_open(&elf, path, module->build)) return 0;
    good = prof__elf_symbols(&elf, type, module);
    prof__elf_close(&elf);
    if (!good) prof__module_clear(module);
    return good;
}

/* The module's full table, or that of the file where systems keep what they strip, or the dynamic one's few names. */
static void prof__module_load(prof__module_symbols *module)
{
    const char *id = module->build + sizeof PROF__BUILD_ID - 1;
    char debug[64 + 2 * PROF__MAX_BUILD_ID];
    if (prof__module_read(module, module->path, PROF__ELF_SYMTAB)) return;
    if (!strncmp(module->build, PROF__BUILD_ID, sizeof PROF__BUILD_ID - 1) && strlen(id) > 2 &&
        strlen(id) <= 2 * PROF__MAX_BUILD_ID && strspn(id, "0123456789abcdef") == strlen(id)) {
        snprintf(debug, sizeof debug, "/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
        if (prof__module_read(module, debug, PROF__ELF_SYMTAB)) return;
    }
    prof__module_read(module, module->path, PROF__ELF_DYNSYM);
}

static char *prof__text_duplicate(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = (char *)malloc(size);
    if (copy) memcpy(copy, text, size);
    return copy;
}

/* Null: no memory, or more modules than a trace should have. */
static prof__module_symbols *prof__module_of(prof__symbols *symbols, const char *path, const char *build)
{
    prof__module_symbols *module = symbols->modules;
    for (size_t i = 0; i < symbols->count; ++i, ++module)
        if (!strcmp(module->path, path) && !strcmp(module->build, build)) return module;
    if (symbols->count == PROF__MAX_MODULES) return NULL;
    if (!symbols->modules) {
        symbols->modules = (prof__module_symbols *)calloc(PROF__MAX_MODULES, sizeof *symbols->modules);
        if (!symbols->modules) return NULL;
    }
    module = symbols->modules + symbols->count;
    module->path = prof__text_duplicate(path);
    module->build = prof__text_duplicate(build);
    if (!module->path || !module->build) {
        free(module->path);
        free(module->build);
        return NULL;
    }
    ++symbols->count;
    prof__module_load(module);
    return module;
}

/* The symbol of a call site that is an address. Null: it is none, or nothing is known; then the site's own texts stay.
   symbols: zeroed before the first call; it owns what is returned, until prof__symbols_free. */
static PROF__UNUSED const prof__symbol *prof__symbol_find(prof__symbols *symbols, const char *name, const char *file,
                                             const char *function)
{
    const char *digits = strrchr(name, '+');
    prof__module_symbols *module;
    uint64_t value = 0;
    size_t low = 0, high;
    if (*function != '?' || !digits || strncmp(digits, "+0x", 3)) return NULL;
    if (strncmp(function, PROF__BUILD_ID, sizeof PROF__BUILD_ID - 1) &&
        strncmp(function, PROF__BUILD_TIME, sizeof PROF__BUILD_TIME - 1))
        return NULL;
    for (digits += 3; *digits; ++digits) {
        const char *digit = strchr("0123456789abcdef", *digits);
        if (!digit || value >> 60) return NULL;
        value = value << 4 | (uint64_t)(digit - "0123456789abcdef");
    }
    module = prof__module_of(symbols, file, function);
    if (!module) return NULL;
    for (high = module->count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (module->list[middle].value < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < module->count && module->list[low].value == value ? &module->list[low] : NULL;
}

static PROF__UNUSED void prof__symbols_free(prof__symbols *symbols)
{
    for (size_t i = 0; i < symbols->count; ++i) {
        prof__module_clear(&symbols->modules[i]);
        free(symbols->modules[i].path);
        free(symbols->modules[i].build);
    }
    free(symbols->modules);
    symbols->modules = NULL;
    symbols->count = 0;
}
#endif
#ifndef PROF_NO_READER
/*-- READER ---------------------------------------------------------------------------------------------- >>reader --
   An image goes through these steps once, in prof__read_image():
     1. the header is checked, so that meta and chunks lie inside the image and apart from each other;
     2. meta becomes call sites whose equal ones share one address, and equal names one number;
     3. the blocks of the archive and the valid chunks are cut into segments, each the records of one track in one
        chunk;
     4. clock pairs become a piecewise linear map from ticks to nanoseconds;
     5. a matcher runs over each track and remembers only what a single segment cannot show: the ends and arguments of
        scopes that cross into later segments, the ENDs that close another number of scopes than one, and the scopes
        that began before the track's first segment ("orphans": only their ends are left).
   After that nothing changes any more. A cursor loads one segment at a time.
   Of the archive, which may be far larger than memory, nothing stays but these tables: prof__read_words() reads a block
   whenever its words are wanted. A block that is not there any more (the file was cut, or a rotating archive went over
   it) is left out and counted, and its scopes that are known otherwise stay as they are. */

#include <limits.h>
#ifndef _WIN32
#include <sys/ioctl.h>
#endif

#define PROF__NONE ((size_t)-1)
#define PROF__NONE32 0xFFFFFFFFu
#define PROF__TEXT_WORDS 128 /* longer texts of call sites are cut: in a viewer's file each of their events has them */
#define PROF__CHUNK_MOST 1048576 /* bytes; see PROF_CHUNK_SIZE */
#define PROF__CLOSE_MAX PROF__SITE_MASK /* an END can close that many scopes */
#define PROF__FAR_NS ((int64_t)1 << 61) /* times saturate here, so that differences never overflow */
#define PROF__CLOSES_LATE (PROF__NONE32 - 1) /* instead: the END of a scope that ends after one around it */
#define PROF__LATE_END_MOST 65536 /* scopes without an end of which a later one is taken for an overlap */
#define PROF__LATE_STEPS 64 /* of one site, in how many of them the right place is looked for */
#define PROF__OVERLAPS 8u   /* a node's flag in a cursor: it is the begin of such a scope */
#define PROF__LATE_BIT 0x80000000u /* of an entry of a cursor's stack: the same */
#define PROF__STILL_OPEN 4u /* an event's flag inside the reader: not even a scope around it has ended */

static int prof__pair_now(uint32_t clock, const char *boot_id, prof__pair *out);
static prof_status prof__image_copy(void **bytes, size_t *size);

/* A hash index over items that the owner keeps in an array. */
typedef struct prof__read_slot {
    uint32_t hash, item; /* item + 1, 0: free */
} prof__read_slot;

typedef struct prof__read_index {
    prof__read_slot *slots;
    size_t capacity, used; /* capacity: a power of two, or 0 */
} prof__read_index;

typedef int prof__read_equal(const void *owner, size_t item, const void *key);

typedef struct prof__read_site {
    prof_callsite about;
    uint32_t name; /* number of about.name */
} prof__read_site;

/* A call site id that meta does not have. */
typedef struct prof__read_unknown {
    uint32_t id, site;
} prof__read_unknown;

typedef struct prof__read_chunk {
    uint64_t sequence, tick, lost;
    uint64_t mark;        /* of a block: prof__read_mark() of its words */
    uint64_t place;       /* of its first word, in words of the image; of a block, in bytes of the file */
    uint32_t size, words; /* of a block, else 0; size PROF__NONE32: it has vanished */
} prof__read_chunk;

/* The words of the block that was asked for last. */
typedef struct prof__read_buffer {
    uint64_t *words;
    char *block;
    size_t chunk; /* whose they are, from 1; 0: nobody's */
} prof__read_buffer;

typedef struct prof__read_segment {
    uint64_t track, serial;
    uint64_t tick;   /* the first thing known: when the track took the chunk, else the first record's; or ~0 */
    uint64_t record; /* the first record's; or ~0 */
    uint32_t chunk;
    uint32_t first, end; /* words of the chunk, from the TRACK record on */
    uint32_t name;       /* string id */
    int32_t depth;       /* scopes open at its end, less the orphans among those closed so far */
    uint8_t fiber;
    uint8_t last;        /* 1: the chunk has no later segment, so that the chunk's losses belong here */
    uint8_t gap;         /* 1: something is missing in front of it */
} prof__read_segment;

/* A scope that is open at the end of the segment in which it began. */
typedef struct prof__read_crossing {
    int64_t end_ns;
    size_t link; /* its first argument in a later segment, PROF__NONE */
    uint32_t flags;
    uint32_t segment; /* in which it began, counted from the track's first */
} prof__read_crossing;

/* A scope of which only the end is left. */
typedef struct prof__read_orphan {
    int64_t end_ns;
    size_t link; /* its first argument */
    uint64_t id;
    uint32_t site;
} prof__read_orphan;

/* An END that closes not one scope, as a rule, but none or several. */
typedef struct prof__read_exception {
    uint32_t segment, word; /* segment: counted from the track's first */
    uint32_t closes;
} prof__read_exception;

/* A scope that ended after one around it. Its begin and its end are found in different orders, so that a track has a
   list of each. */
typedef struct prof__read_late_begin {
    uint32_t segment, word; /* segment: counted from the track's first */
} prof__read_late_begin;

typedef struct prof__read_late_end {
    uint64_t id; /* of the begin */
} prof__read_late_end;

/* An ARG record that belongs to a scope of an earlier segment. */
typedef struct prof__read_link {
    size_t next;
    size_t record; /* its copy among the kept words */
} prof__read_link;

/* From tick on, time is ns + (t - tick) * factor / 2^shift. */
typedef struct prof__read_line {
    uint64_t tick, factor;
    int64_t ns;
    unsigned shift;
} prof__read_line;

/* What a device did. start_ns to depth: from prof__device_tracks() on. */
typedef struct prof__read_happening {
    int64_t start_ns, end_ns;
    uint64_t time, number, flow; /* ticks of the device; of a scope its ticks, of a counter its value; 0: no flow */
    uint64_t tick, id;           /* tick: the host's, when it was recorded */
    size_t args;                 /* the first record of its arguments among the kept words */
    uint32_t device, row, subrow, depth;
    uint32_t name, site, arg_count;
    uint8_t type, value, flags;  /* PROF__DEVICE_..., or 0: see prof__device_tracks(); prof_value_type */
} prof__read_happening;

/* number: by which records mean it; elsewhere a device or row is its place in the trace's list. */
typedef struct prof__read_device {
    uint32_t number, name;
    int wraps;
    uint64_t mask, hz; /* hz: as said; 0: not known */
    double rate;       /* ticks per second */
    prof__read_line *lines;
    size_t line_count;
    prof_alignment alignment;
    uint64_t pairs, refused;
    size_t first; /* the event that was recorded first, from 1; 0: none */
} prof__read_device;

typedef struct prof__read_row {
    uint32_t number, name, device;
    uint64_t early;
} prof__read_row;

typedef struct prof__read_pairing {
    uint64_t tick;
    int64_t ns; /* since the session's start */
    uint32_t device;
} prof__read_pairing;

typedef struct prof__read_track {
    prof_track about;
    size_t happening, happening_count; /* of a device; all else but max_event_args is 0 then */
    uint64_t tick; /* the first thing known of the track */
    size_t segment, segment_count;
    size_t crossing, crossing_count;
    size_t exception, exception_count;
    size_t late, late_count; /* in both lists */
    size_t orphan, orphan_count;
    size_t max_nodes, max_args, max_event_args, max_depth, frames; /* what a cursor needs */
    int lives; /* 1: its thread has not ended, so that scopes without an end are open */
} prof__read_track;

struct prof__figure;

/* What costs more, or less, than a scope of a name that is constant. */
typedef struct prof__uses {
    uint64_t texts, formats; /* scopes with a name made at run time, without and with a format */
    uint64_t marks, objects; /* events that are no scopes: without and with an object */
    uint64_t values;         /* of these one each; an argument of a scope, which looks for it, counts twice */
} prof__uses;

struct prof_trace {
    prof__header header;
    struct prof__figure *folded; /* PROF_STATS: what is known instead of events, finished; owned */
    size_t folded_count;
    const int64_t *since; /* of each track: statistics count only what ended later; null: everything */
    prof_trace_info info;
    uint64_t *image; /* owned */
    FILE *file;      /* owned: holds the archive; null: none, or it is in memory, behind the image */
    uint64_t size;   /* bytes of the file, or at image */
    size_t chunk_words;
    unsigned word_bits; /* of an event's id */
    int partial;        /* older chunks are missing */
    int has_spans;      /* some track has an event of a span */
    uint64_t begins_missing, ends_missing; /* PROF_STATS: of spans */
    prof__uses uses;    /* PROF_STATS */
    int64_t newest_ns;  /* until when what is still open certainly was */
    prof__read_chunk *chunks;
    size_t chunk_count, chunk_capacity;
    prof__read_index sequences; /* of the chunks */
    prof__read_buffer buffer;   /* while the trace is made */
    prof__pair *pairs;          /* the same: what the clock is made of */
    size_t pair_count, pair_capacity;
    uint64_t pair_ns;           /* how far they are apart, at least */
    const char **names; /* distinct texts; [0] is "" */
    size_t name_count, name_capacity;
    prof__read_index name_index;
    uint32_t *strings; /* string id -> name */
    size_t string_count;
    struct {
        const char *key, *value; /* names */
    } *metadata;
    size_t metadata_count, metadata_capacity;
    prof__read_index metadata_index;
    prof__read_site *sites; /* distinct call sites; [0] stands for losses */
    size_t site_count, site_capacity;
    prof__read_index site_index;
    uint32_t *site_ids; /* call site id -> site, PROF__NONE32 */
    size_t site_id_count;
    prof__read_unknown *unknown;
    size_t unknown_count, unknown_capacity;
    prof__read_index unknown_index;
    char **texts; /* owned: names made up for unknown sites */
    size_t text_count, text_capacity;
    prof__symbols symbols; /* of the modules of traced functions */
    prof__read_segment *segments;
    size_t segment_count, segment_capacity;
    prof__read_track *tracks;
    size_t track_count;
    prof__read_crossing *crossings;
    size_t crossing_count, crossing_capacity;
    prof__read_exception *exceptions;
    size_t exception_count, exception_capacity;
    prof__read_late_begin *late_begins;
    prof__read_late_end *late_ends;
    size_t late_begin_count, late_begin_capacity, late_end_count, late_end_capacity;
    prof__read_orphan *orphans;
    size_t orphan_count, orphan_capacity;
    prof__read_link *links;
    size_t link_count, link_capacity;
    uint64_t *kept;
    size_t kept_count, kept_capacity;
    prof__read_line *lines;
    size_t line_count;
    prof__read_happening *happenings;
    size_t happening_count, happening_capacity;
    prof__read_device *devices;
    size_t device_count, device_capacity;
    prof__read_row *rows;
    size_t row_count, row_capacity;
    prof__read_pairing *pairings;
    size_t pairing_count, pairing_capacity;
    void (*step)(void *user, double share); /* of prof_trace_watch() */
    void *step_user;
};

/* Makes room for one more element of an array on the heap; 0 without memory, and then the array is unchanged. */
#define PROF__ROOM(array, capacity, count) \
    ((count) < (capacity) || prof__more_room(&(array), &(capacity), sizeof *(array)))
static int prof__more_room(void *array, size_t *capacity, size_t element)
{
    size_t wanted = *capacity < 8 ? 16 : *capacity + *capacity / 2;
    void *old;
    if (wanted > (size_t)-1 / 2 / element) return 0;
    memcpy(&old, array, sizeof old); /* array points to a pointer of some type */
    old = realloc(old, wanted * element);
    if (!old) return 0;
    memcpy(array, &old, sizeof old);
    *capacity = wanted;
    return 1;
}

/* Of this process: what is in an image cannot be made to collide. Never 0; nothing that is given out depends on it. */
static uint64_t prof__read_seed(void)
{
    static uint64_t seed;
    uint64_t now = PROF__LOAD(&seed), made;
    if (now) return now;
    made = (prof__monotonic() ^ PROF__ADDRESS(&made) << 20 ^ PROF__ADDRESS(&seed) << 40) * 0x9E3779B97F4A7C15u | 1;
    return __atomic_compare_exchange_n(&seed, &now, made, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ? made : now;
}

static uint64_t prof__mix(uint64_t h)
{
    h = (h ^ prof__read_seed()) * 0x9E3779B97F4A7C15u;
    h = (h ^ h >> 32) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 29;
}

static uint32_t prof__text_hash(const char *text)
{
    uint64_t h = 0xCBF29CE484222325u ^ prof__read_seed();
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 0x100000001B3u;
    return (uint32_t)prof__mix(h);
}

static size_t prof__read_find(const prof__read_index *index, uint32_t hash, prof__read_equal *equal, const void *owner,
                              const void *key)
{
    size_t at;
    if (!index->capacity) return PROF__NONE;
    for (at = hash & (index->capacity - 1); index->slots[at].item; at = (at + 1) & (index->capacity - 1))
        if (index->slots[at].hash == hash && equal(owner, index->slots[at].item - 1, key))
            return index->slots[at].item - 1;
    return PROF__NONE;
}

static void prof__read_put(prof__read_index *index, uint32_t hash, uint32_t item)
{
    size_t at = hash & (index->capacity - 1);
    while (index->slots[at].item) at = (at + 1) & (index->capacity - 1);
    index->slots[at].hash = hash;
    index->slots[at].item = item;
    index->used++;
}

/* Makes room for count more items; 0 without memory. */
static int prof__read_reserve(prof__read_index *index, size_t count)
{
    prof__read_index larger;
    size_t i;
    memset(&larger, 0, sizeof larger);
    larger.capacity = index->capacity ? index->capacity : 16;
    while (larger.capacity / 4 * 3 < index->used + count) {
        if (larger.capacity > (size_t)-1 / 4 / sizeof *larger.slots) return 0;
        larger.capacity *= 2;
    }
    if (larger.capacity == index->capacity) return 1;
    larger.slots = (prof__read_slot *)calloc(larger.capacity, sizeof *larger.slots);
    if (!larger.slots) return 0;
    for (i = 0; i < index->capacity; i++)
        if (index->slots[i].item) prof__read_put(&larger, index->slots[i].hash, index->slots[i].item);
    free(index->slots);
    *index = larger;
    return 1;
}

static int prof__read_add(prof__read_index *index, uint32_t hash, size_t item)
{
    if (item >= PROF__NONE32 - 1 || !prof__read_reserve(index, 1)) return 0;
    prof__read_put(index, hash, (uint32_t)item + 1);
    return 1;
}

/*-- names and call sites --*/

static int prof__read_same_name(const void *owner, size_t item, const void *key)
{
    const prof_trace *trace = (const prof_trace *)owner;
    return !strcmp(trace->names[item], (const char *)key);
}

/* The number of a text, which must live as long as the trace; PROF__NONE without memory. */
static size_t prof__read_name(prof_trace *trace, const char *text)
{
    uint32_t hash = prof__text_hash(text);
    size_t item = prof__read_find(&trace->name_index, hash, prof__read_same_name, trace, text);
    if (item != PROF__NONE) return item;
    if (!PROF__ROOM(trace->names, trace->name_capacity, trace->name_count) ||
        !prof__read_add(&trace->name_index, hash, trace->name_count))
        return PROF__NONE;
    trace->names[trace->name_count] = text;
    return trace->name_count++;
}

static int prof__read_same_site(const void *owner, size_t item, const void *key)
{
    const prof_callsite *a = &((const prof_trace *)owner)->sites[item].about;
    const prof_callsite *b = &((const prof__read_site *)key)->about;
    return a->name == b->name && a->category == b->category && a->file == b->file && a->function == b->function &&
           a->line == b->line && a->color == b->color && a->level == b->level && a->kind == b->kind &&
           a->role == b->role;
}

/* The number of a call site whose texts are names of the trace; PROF__NONE without memory. */
static size_t prof__read_site_number(prof_trace *trace, const prof__read_site *site)
{
    uint32_t hash = (uint32_t)prof__mix(site->name * 31u + ((uint64_t)site->about.line << 32) +
                                        PROF__ADDRESS(site->about.file) + site->about.kind);
    size_t item = prof__read_find(&trace->site_index, hash, prof__read_same_site, trace, site);
    if (item != PROF__NONE) return item;
    if (!PROF__ROOM(trace->sites, trace->site_capacity, trace->site_count) ||
        !prof__read_add(&trace->site_index, hash, trace->site_count))
        return PROF__NONE;
    trace->sites[trace->site_count] = *site;
    return trace->site_count++;
}

static int prof__read_same_unknown(const void *owner, size_t item, const void *key)
{
    return ((const prof_trace *)owner)->unknown[item].id == *(const uint32_t *)key;
}

/* The site of a call site id; PROF__NONE for an id that was never seen. */
static size_t prof__read_site_of(const prof_trace *trace, uint32_t id)
{
    size_t item;
    if (id < trace->site_id_count && trace->site_ids[id] != PROF__NONE32) return trace->site_ids[id];
    item = prof__read_find(&trace->unknown_index, (uint32_t)prof__mix(id), prof__read_same_unknown, trace, &id);
    return item == PROF__NONE ? PROF__NONE : trace->unknown[item].site;
}

/* A call site without strings, named after a text that the trace takes over; PROF__NONE without memory. */
static size_t prof__read_make_site(prof_trace *trace, const char *text, uint32_t kind)
{
    prof__read_site site;
    size_t name;
    char *copy = prof__text_join(text, "");
    if (!copy || !PROF__ROOM(trace->texts, trace->text_capacity, trace->text_count)) {
        free(copy);
        return PROF__NONE;
    }
    trace->texts[trace->text_count++] = copy;
    name = prof__read_name(trace, copy);
    if (name == PROF__NONE) return PROF__NONE;
    memset(&site, 0, sizeof site);
    site.name = (uint32_t)name;
    site.about.name = trace->names[name];
    site.about.category = site.about.file = site.about.function = trace->names[0];
    site.about.kind = kind;
    return prof__read_site_number(trace, &site);
}

/* Makes sure that an id has a site: "?site 12" where meta has none. 0 without memory. */
static int prof__read_know_site(prof_trace *trace, uint32_t id, uint32_t kind)
{
    char text[32] = "?site ";
    size_t site;
    if (prof__read_site_of(trace, id) != PROF__NONE) return 1;
    text[6 + prof__digits(text + 6, id)] = 0;
    site = prof__read_make_site(trace, text, kind);
    if (site == PROF__NONE) return 0;
    if (!PROF__ROOM(trace->unknown, trace->unknown_capacity, trace->unknown_count)) return 0;
    trace->unknown[trace->unknown_count].id = id;
    trace->unknown[trace->unknown_count].site = (uint32_t)site;
    return prof__read_add(&trace->unknown_index, (uint32_t)prof__mix(id), trace->unknown_count++);
}

static size_t prof__read_string_name(const prof_trace *trace, uint64_t id)
{
    return id < trace->string_count ? trace->strings[id] : 0;
}

/* The words of the meta record at words[at], 0 after the last. A head without kind that has a length was reserved by a
   thread that has not come back yet. */
static size_t prof__read_meta_words(const uint64_t *words, size_t at, size_t count)
{
    size_t length;
    if (at >= count) return 0;
    length = (size_t)(words[at] >> 32 & 0xFFFFFF);
    return length <= count - at ? length : 0;
}

/* Names a function that was recorded by its address, if its module's symbols are still to be had. 0 without memory. */
static int prof__read_symbol(prof_trace *trace, prof__read_site *site)
{
    const prof__symbol *symbol =
        prof__symbol_find(&trace->symbols, site->about.name, site->about.file, site->about.function);
    size_t name, file = 0;
    if (!symbol) return 1;
    name = prof__read_name(trace, symbol->name);
    if (symbol->file) file = prof__read_name(trace, symbol->file);
    if (name == PROF__NONE || file == PROF__NONE) return 0;
    site->name = (uint32_t)name;
    site->about.name = site->about.function = trace->names[name];
    if (symbol->file) site->about.file = trace->names[file];
    return 1;
}

static int prof__read_same_key(const void *owner, size_t item, const void *key)
{
    return ((const prof_trace *)owner)->metadata[item].key == (const char *)key;
}

/* A record of the session, whose last byte is zero by now. 0 without memory. */
static int prof__read_metadata(prof_trace *trace, const char *key, const char *end)
{
    const char *value = key + strlen(key) + 1;
    size_t at, names[2];
    uint32_t hash;
    if (!*key) {
        trace->metadata_count = 0;
        free(trace->metadata_index.slots);
        memset(&trace->metadata_index, 0, sizeof trace->metadata_index);
        return 1;
    }
    names[0] = prof__read_name(trace, key);
    names[1] = prof__read_name(trace, value < end ? value : "");
    if (names[0] == PROF__NONE || names[1] == PROF__NONE) return 0;
    key = trace->names[names[0]];
    hash = (uint32_t)prof__mix(PROF__ADDRESS(key));
    at = prof__read_find(&trace->metadata_index, hash, prof__read_same_key, trace, key);
    if (at == PROF__NONE) {
        at = trace->metadata_count;
        if (!PROF__ROOM(trace->metadata, trace->metadata_capacity, at) ||
            !prof__read_add(&trace->metadata_index, hash, at))
            return 0;
        trace->metadata_count++;
    }
    trace->metadata[at].key = key;
    trace->metadata[at].value = trace->names[names[1]];
    return 1;
}

PROF_DEF int prof_trace_metadata(const prof_trace *trace, size_t index, const char **key, const char **value)
{
    int there = trace && index < trace->metadata_count;
    if (key) *key = there ? trace->metadata[index].key : NULL;
    if (value) *value = there ? trace->metadata[index].value : NULL;
    return there;
}

/* Terminates a text of so many words, of which only the first 1023 bytes are kept; characters stay whole. */
static void prof__read_shorten(char *text, size_t words)
{
    char *end = text + (words < PROF__TEXT_WORDS ? words : PROF__TEXT_WORDS) * 8 - 1;
    if (words > PROF__TEXT_WORDS)
        for (int i = 0; i < 3 && ((unsigned char)*end & 0xC0) == 0x80; ++i) end--;
    *end = 0;
}

static int prof__read_meta(prof_trace *trace)
{
    uint64_t *words = trace->image + trace->header.meta_offset / 8;
    size_t count = (size_t)(trace->header.meta_size / 8), at, length;
    size_t strings = 0, sites = 0;
    for (at = 0; (length = prof__read_meta_words(words, at, count)) != 0; at += length) {
        size_t id = (size_t)(words[at] & 0xFFFFFFFFu);
        unsigned kind = (unsigned)(words[at] >> 56);
        if (id > count) continue; /* ids count the records: there cannot be as many */
        if (kind == PROF__META_STRING && length > 1 && id > strings) strings = id;
        if (kind == PROF__META_SITE && length >= PROF__META_SITE_WORDS && id > sites) sites = id;
    }
    trace->string_count = strings + 1;
    trace->site_id_count = sites + 1;
    trace->strings = (uint32_t *)calloc(trace->string_count, sizeof *trace->strings);
    trace->site_ids = (uint32_t *)malloc(trace->site_id_count * sizeof *trace->site_ids);
    if (!trace->strings || !trace->site_ids) return 0;
    memset(trace->site_ids, 0xFF, trace->site_id_count * sizeof *trace->site_ids);
    if (prof__read_name(trace, "") == PROF__NONE || prof__read_make_site(trace, "lost", PROF__KIND_LOST) == PROF__NONE)
        return 0;
    for (at = 0; (length = prof__read_meta_words(words, at, count)) != 0; at += length) {
        size_t id = (size_t)(words[at] & 0xFFFFFFFFu), name;
        if (words[at] >> 56 == PROF__META_SESSION && length > 1) {
            ((char *)(words + at + length))[-1] = 0;
            if (!prof__read_metadata(trace, (const char *)(words + at + 1), (const char *)(words + at + length)))
                return 0;
        }
        if (words[at] >> 56 != PROF__META_STRING || length < 2 || id > strings) continue;
        prof__read_shorten((char *)(words + at + 1), length - 1);
        name = prof__read_name(trace, (const char *)(words + at + 1));
        if (name == PROF__NONE) return 0;
        if (id) trace->strings[id] = (uint32_t)name;
    }
    for (at = 0; (length = prof__read_meta_words(words, at, count)) != 0; at += length) {
        size_t id = (size_t)(words[at] & 0xFFFFFFFFu), number;
        const uint64_t *field = words + at + 1;
        prof__read_site site;
        if (words[at] >> 56 != PROF__META_SITE || length < PROF__META_SITE_WORDS || id > sites) continue;
        memset(&site, 0, sizeof site);
        site.name = (uint32_t)prof__read_string_name(trace, field[0] & 0xFFFFFFFFu);
        site.about.name = trace->names[site.name];
        site.about.file = trace->names[prof__read_string_name(trace, field[0] >> 32)];
        site.about.function = trace->names[prof__read_string_name(trace, field[1] & 0xFFFFFFFFu)];
        site.about.category = trace->names[prof__read_string_name(trace, field[1] >> 32)];
        site.about.line = (uint32_t)field[2];
        site.about.color = (uint32_t)(field[2] >> 32);
        site.about.level = (uint32_t)field[3];
        site.about.kind = (uint32_t)(field[3] >> 32) & ((1u << PROF__ROLE_SHIFT) - 1);
        site.about.role = (uint32_t)(field[3] >> 32) >> PROF__ROLE_SHIFT;
        if (!prof__read_symbol(trace, &site)) return 0;
        number = prof__read_site_number(trace, &site);
        if (number == PROF__NONE) return 0;
        trace->site_ids[id] = (uint32_t)number;
    }
    return 1;
}

/*-- records --*/

static unsigned prof__read_kind(uint64_t head)
{
    return (unsigned)(head >> PROF__KIND_SHIFT);
}

static uint32_t prof__read_id(uint64_t head)
{
    return (uint32_t)(head >> PROF__TICK_BITS) & PROF__SITE_MASK;
}

/* Of an EVENT record; 0: not one that is shown. */
static unsigned prof__read_event_type(const uint64_t *record)
{
    unsigned type = (unsigned)(record[1] & 0xFF);
    return type > PROF_EVENT_LOST && type < PROF_EVENT_TYPE_COUNT ? type : 0;
}

/* Words of an ARG or DATA: of a key made at run time, and the value behind it. */
static size_t prof__read_arg_words(const uint64_t *words, size_t left)
{
    size_t key = prof__record_words(words[0], left), value;
    if (!key || key == left || !(words[0] & PROF__ARG_KEY)) return key;
    value = prof__record_words(words[key], left - key);
    if (!value || prof__read_kind(words[key]) != prof__read_kind(words[0]) || words[key] & PROF__ARG_KEY) return key;
    return key + value;
}

/* 0: a key without its value, which a reader leaves out. */
static int prof__read_arg_whole(const uint64_t *words, size_t length)
{
    return !(words[0] & PROF__ARG_KEY) || length > 1 + (size_t)(words[0] & 0xFFFF);
}

/* The record with the value; *length: its words. */
static const uint64_t *prof__read_arg_value(const uint64_t *words, size_t *length)
{
    if (words[0] & PROF__ARG_KEY) words += 1 + (size_t)(words[0] & 0xFFFF);
    *length = 1 + (size_t)(words[0] & 0xFFFF);
    return words;
}

/* The id of the call site whose scope an ARG belongs to; 0: to the innermost one. */
static uint32_t prof__read_arg_target(const uint64_t *words)
{
    size_t length;
    words = prof__read_arg_value(words, &length);
    return words[0] & PROF__ARG_TO && length > 1 ? prof__read_id(words[length - 1]) : 0;
}

/* Whether a DATA record behind this one is an argument of an event that is shown. before: the answer for the record in
   front of this one. */
static int prof__read_takes_data(const uint64_t *record, int before)
{
    switch (prof__read_kind(record[0])) {
    case PROF__KIND_MARK: return 1;
    case PROF__KIND_EVENT: return prof__read_event_type(record) != 0;
    case PROF__KIND_NAME:
    case PROF__KIND_DATA: return before;
    default: return 0;
    }
}

static int prof__is_flow(prof_event_type type) { return type >= PROF_EVENT_FLOW_OUT && type <= PROF_EVENT_FLOW_IN; }

/* Whether a NAME record behind this one is the name of its event. Flows have none: exporters keep theirs from block to
   block. */
static int prof__read_takes_name(const uint64_t *record)
{
    unsigned kind = prof__read_kind(record[0]);
    if (kind == PROF__KIND_EVENT) return !prof__is_flow((prof_event_type)prof__read_event_type(record));
    return kind == PROF__KIND_BEGIN || kind == PROF__KIND_MARK;
}

/* The time of a record, never before the tick of the one in front of it. */
static uint64_t prof__read_tick(uint64_t base, uint64_t head, uint64_t before)
{
    uint64_t tick = base + (head & PROF__TICK_MASK);
    if (tick < base) tick = ~(uint64_t)0;
    return tick > before ? tick : before;
}

static int prof__read_chunk_order(const void *a, const void *b)
{
    const prof__read_chunk *x = (const prof__read_chunk *)a, *y = (const prof__read_chunk *)b;
    if (x->sequence != y->sequence) return x->sequence < y->sequence ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static int prof__read_segment_order(const void *a, const void *b)
{
    const prof__read_segment *x = (const prof__read_segment *)a, *y = (const prof__read_segment *)b;
    if (x->track != y->track) return x->track < y->track ? -1 : 1;
    if (x->serial != y->serial) return x->serial < y->serial ? -1 : 1;
    if (x->chunk != y->chunk) return x->chunk < y->chunk ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static uint64_t prof__track_id(const uint64_t *record) { return record[1] & PROF__TICK_MASK; }

/* Which of its track's TRACK records one is. */
static uint64_t prof__track_serial(const uint64_t *record)
{
    return record[1] >> PROF__TICK_BITS << 28 | (record[0] >> 32 & 0xFFFFFFF);
}

/*-- the words of a chunk --*/

/* Reads size bytes from offset on out of what the trace was opened from. 0: they are not there, or not any more. */
static int prof__read_part(const prof_trace *trace, uint64_t offset, void *to, size_t size)
{
    if (offset > trace->size || size > trace->size - offset) return 0;
    if (trace->file) return prof__file_at(trace->file, offset, to, size);
    memcpy(to, (const char *)trace->image + offset, size);
    return 1;
}

static void prof__read_buffer_free(prof__read_buffer *buffer)
{
    free(buffer->words);
    free(buffer->block);
    memset(buffer, 0, sizeof *buffer);
}

/* 0 without memory. */
static int prof__read_buffer_make(const prof_trace *trace, prof__read_buffer *buffer)
{
    if (buffer->words) return 1;
    buffer->words = (uint64_t *)malloc(trace->chunk_words * 8);
    buffer->block = (char *)malloc(PROF__BLOCK_BOUND(trace->chunk_words));
    if (buffer->words && buffer->block) return 1;
    prof__read_buffer_free(buffer);
    return 0;
}

/* 1: this may be the header of a block, in front of end. */
static int prof__read_block_likely(const prof_trace *trace, const prof__block *block, uint64_t offset, uint64_t end)
{
    return block->magic == PROF__BLOCK_MAGIC && block->sequence && block->words && block->words <= trace->chunk_words &&
           block->size > sizeof *block && block->size % 8 == 0 &&
           block->size <= PROF__BLOCK_BOUND(trace->chunk_words) && block->size <= end - offset;
}

/* Ends the strings of a chunk's records, so that they can be handed out. */
static void prof__read_seal(uint64_t *words, size_t count)
{
    size_t at, length;
    for (at = 0; at < count && (length = prof__record_words(words[at], count - at)) != 0; at += length) {
        unsigned kind = prof__read_kind(words[at]);
        size_t text = length;
        if (kind == PROF__KIND_ARG && words[at] & PROF__ARG_TO && text > 1) --text;
        if (text > 1 && (kind == PROF__KIND_NAME || ((kind == PROF__KIND_ARG || kind == PROF__KIND_DATA) &&
                                                     (words[at] >> 32 & 0xFF) == PROF_VALUE_STRING)))
            ((char *)(words + at + text))[-1] = 0;
    }
}

/* Tells whether words are still the same. Unlike the check in a block nobody can choose others that have the same. */
static uint64_t prof__read_mark(const uint64_t *words, size_t count)
{
    uint64_t mark = 0, keys[128];
    size_t i, part;
    for (i = 0; i < 128; i++) keys[i] = prof__mix(i);
    for (; count; words += part, count -= part) {
        uint64_t sum = 0;
        part = count < 128 ? count : 128;
        for (i = 0; i < part; i++)
            sum += (uint64_t)(uint32_t)(words[i] + keys[i]) * (uint32_t)((words[i] >> 32) + (keys[i] >> 32));
        mark = prof__mix(mark + sum);
    }
    return mark;
}

/* Reads the block at offset, which must end in front of end, and unpacks it. block: its header then. 0: there is
   none. */
static int prof__read_block(const prof_trace *trace, prof__read_buffer *buffer, uint64_t offset, uint64_t end,
                            prof__block *block)
{
    char *bytes = buffer->block + sizeof *block;
    buffer->chunk = 0;
    if (offset > end || end - offset < sizeof *block || !prof__read_part(trace, offset, block, sizeof *block) ||
        !prof__read_block_likely(trace, block, offset, end) ||
        !prof__read_part(trace, offset + sizeof *block, bytes, block->size - sizeof *block) ||
        prof__block_check(block, bytes) != block->check ||
        prof__unpack((const unsigned char *)bytes, block->size - sizeof *block, buffer->words, block->words) !=
            block->words)
        return 0;
    prof__read_seal(buffer->words, block->words);
    return 1;
}

/* The words of a chunk: in the image, or in the buffer until the next call. Null: they cannot be read any more, or are
   others by now, which the tables do not fit. */
static const uint64_t *prof__read_words(const prof_trace *trace, prof__read_buffer *buffer, size_t number)
{
    const prof__read_chunk *chunk = &trace->chunks[number];
    uint32_t size = PROF__LOAD(&chunk->size);
    prof__block block;
    if (!size) return trace->image + chunk->place;
    if (buffer->chunk == number + 1) return buffer->words;
    if (size == PROF__NONE32 || !buffer->words ||
        !prof__read_block(trace, buffer, chunk->place, chunk->place + size, &block) || block.size != size ||
        block.sequence != chunk->sequence || block.words != chunk->words ||
        prof__read_mark(buffer->words, chunk->words) != chunk->mark)
        return NULL;
    buffer->chunk = number + 1;
    return buffer->words;
}

/*-- records and segments --*/

/* Collects the event of a device, if the EVENT at this word is one. 0 without memory. */
static int prof__device_take(prof_trace *trace, size_t chunk, const uint64_t *words, size_t at, size_t count);

/* Cuts the words of a chunk into segments and gets to know its call sites. 0 without memory. */
static int prof__read_cut(prof_trace *trace, size_t chunk, const uint64_t *words, size_t count)
{
    size_t at, length, segments = trace->segment_count;
    prof__read_segment *segment = NULL;
    for (at = 0; at < count; at += length) {
        unsigned kind = prof__read_kind(words[at]);
        length = prof__record_words(words[at], count - at);
        if (!length) break;
        if (kind == PROF__KIND_TRACK) {
            if (trace->segment_count >= PROF__NONE32 ||
                !PROF__ROOM(trace->segments, trace->segment_capacity, trace->segment_count))
                return 0;
            if (trace->segment_count > segments) trace->segments[trace->segment_count - 1].end = (uint32_t)at;
            segment = &trace->segments[trace->segment_count++];
            memset(segment, 0, sizeof *segment);
            segment->track = prof__track_id(words + at);
            segment->serial = prof__track_serial(words + at);
            segment->tick = at ? ~(uint64_t)0 : trace->chunks[chunk].tick;
            segment->record = ~(uint64_t)0;
            segment->chunk = (uint32_t)chunk;
            segment->first = (uint32_t)at;
            segment->name = (uint32_t)(words[at] & 0x7FFFFFFF);
            segment->fiber = words[at] >> 31 & 1;
        } else if (prof__record_timed(words[at]) || kind == PROF__KIND_ARG || kind == PROF__KIND_DATA) {
            if ((prof__record_timed(words[at]) || prof__read_id(words[at])) &&
                !prof__read_know_site(trace, prof__read_id(words[at]), kind))
                return 0;
            if (kind == PROF__KIND_ARG && words[at] & PROF__ARG_TO && length > 1 &&
                !prof__read_know_site(trace, prof__read_id(words[at + length - 1]), PROF__KIND_BEGIN))
                return 0;
            if (segment && prof__record_timed(words[at]) && segment->record == ~(uint64_t)0) {
                segment->record = prof__read_tick(trace->chunks[chunk].tick, words[at], 0);
                if (segment->tick == ~(uint64_t)0) segment->tick = segment->record;
            }
            if (kind == PROF__KIND_EVENT && !prof__read_event_type(words + at) &&
                !prof__device_take(trace, chunk, words, at, count))
                return 0;
        }
    }
    if (segment) {
        segment->end = (uint32_t)at;
        segment->last = 1;
    } else {
        trace->info.lost += trace->chunks[chunk].lost;
    }
    return 1;
}

static int prof__read_same_sequence(const void *owner, size_t item, const void *key)
{
    return ((const prof_trace *)owner)->chunks[item].sequence == *(const uint64_t *)key;
}

/* Keeps a clock pair, unless one nearby is known already. However long the trace, some ten thousand are kept. */
static int prof__read_pair(prof_trace *trace, const prof__pair *pair)
{
    size_t i, kept = 1;
    if (pair->monotonic_ns <= trace->header.first.monotonic_ns) return 1;
    if (trace->pair_ns) {
        uint64_t before = trace->pairs[trace->pair_count - 1].monotonic_ns, ns = pair->monotonic_ns;
        if ((ns > before ? ns - before : before - ns) < trace->pair_ns) return 1;
    }
    if (trace->pair_count >= 65536) {
        trace->pair_ns = !trace->pair_ns ? 1000000 : trace->pair_ns >> 62 ? trace->pair_ns : trace->pair_ns * 2;
        for (i = 1; i < trace->pair_count; i++) {
            uint64_t before = trace->pairs[kept - 1].monotonic_ns, ns = trace->pairs[i].monotonic_ns;
            if (ns > before && ns - before >= trace->pair_ns) trace->pairs[kept++] = trace->pairs[i];
        }
        trace->pair_count = kept;
    }
    if (!PROF__ROOM(trace->pairs, trace->pair_capacity, trace->pair_count)) return 0;
    trace->pairs[trace->pair_count++] = *pair;
    return 1;
}

/* Adds a chunk with its words, unless one with its sequence is there already. 0 without memory. */
static int prof__read_add_chunk(prof_trace *trace, const prof__read_chunk *chunk, const prof__pair *base,
                                const uint64_t *words, size_t count)
{
    uint32_t hash = (uint32_t)prof__mix(chunk->sequence);
    if (prof__read_find(&trace->sequences, hash, prof__read_same_sequence, trace, &chunk->sequence) != PROF__NONE)
        return 1;
    if (!PROF__ROOM(trace->chunks, trace->chunk_capacity, trace->chunk_count) ||
        !prof__read_add(&trace->sequences, hash, trace->chunk_count))
        return 0;
    trace->chunks[trace->chunk_count++] = *chunk;
    return prof__read_pair(trace, base) && prof__read_cut(trace, trace->chunk_count - 1, words, count);
}

/* Finds the next place from offset on, in front of end, where a block may begin; end if there is none. */
static uint64_t prof__read_resume(const prof_trace *trace, uint64_t offset, uint64_t end)
{
    uint64_t words[256], last = end < trace->size ? end : trace->size;
    size_t count, i;
    for (; offset < last && last - offset >= 8; offset += count * 8) {
        uint32_t magic;
        count = (last - offset) / 8 < 256 ? (size_t)((last - offset) / 8) : 256;
        if (!prof__read_part(trace, offset, words, count * 8)) return end;
        for (i = 0; i < count; i++) {
            memcpy(&magic, words + i, sizeof magic);
            if (magic == PROF__BLOCK_MAGIC) return offset + i * 8;
        }
    }
    return end;
}

/* 1: the archive went back to its beginning rather than to put a block here. */
static int prof__read_lap_ends(const prof_trace *trace, uint64_t offset, uint64_t end)
{
    prof__block block;
    if (end - offset < sizeof block) return 1;
    return prof__read_part(trace, offset, &block, sizeof block) && block.magic == PROF__BLOCK_MAGIC && !block.sequence &&
           block.size == sizeof block && block.check == prof__block_check(&block, NULL);
}

/* Reads the blocks from offset to end, which for wraps may be preceded by unused bytes. Damaged ones are left out and
   counted. 0 without memory. */
static int prof__read_blocks(prof_trace *trace, uint64_t offset, uint64_t end, int wraps)
{
    int damaged = 0;
    uint64_t size = end - offset, tried = 0; /* bytes that were no block */
    while (offset < end) {
        prof__block block;
        uint64_t step;
        memset(&block, 0, sizeof block);
        if (prof__read_block(trace, &trace->buffer, offset, end, &block)) {
            prof__read_chunk chunk;
            damaged = 0;
            chunk.sequence = block.sequence;
            chunk.tick = block.base.tick;
            chunk.lost = block.lost;
            chunk.mark = prof__read_mark(trace->buffer.words, block.words);
            chunk.place = offset;
            chunk.size = block.size;
            chunk.words = block.words;
            /* what was begun after the ring was copied may have come here before what was begun earlier */
            if ((trace->header.state == PROF__STOPPED || block.sequence <= trace->header.next_chunk) &&
                !prof__read_add_chunk(trace, &chunk, &block.base, trace->buffer.words, block.words))
                return 0;
            offset += block.size;
            continue;
        }
        if (wraps && prof__read_lap_ends(trace, offset, end)) return 1;
        trace->info.lost_blocks += !damaged;
        damaged = 1;
        step = prof__read_block_likely(trace, &block, offset, end) ? block.size : 8;
        tried += step;
        if (tried / 16 < size) step = 8; /* else everything is made to look like a block */
        offset = prof__read_resume(trace, offset + step, end);
    }
    return 1;
}

static int prof__read_archive(prof_trace *trace)
{
    const prof__header *h = &trace->header;
    uint64_t limit = h->archive_limit && h->archive_limit < trace->size ? h->archive_limit : trace->size;
    if (!h->archive_offset || h->archive_first == h->archive_next) return 1;
    if (!prof__read_buffer_make(trace, &trace->buffer)) return 0;
    if (h->archive_first < h->archive_next) return prof__read_blocks(trace, h->archive_first, h->archive_next, 0);
    return prof__read_blocks(trace, h->archive_first, limit, 1) &&
           prof__read_blocks(trace, h->archive_offset, h->archive_next, 0);
}

/* The chunks of the ring whose words did not go into the archive. What was never used is not touched. */
static int prof__read_ring(prof_trace *trace)
{
    const prof__header *header = &trace->header;
    size_t i, count = 0, used = (size_t)header->chunk_count;
    int good = 1;
    prof__read_chunk *chunks = (prof__read_chunk *)calloc((size_t)header->chunk_count + 1, sizeof *chunks);
    if (!chunks) return 0;
    if (header->next_chunk && header->next_chunk < used) used = (size_t)header->next_chunk;
    for (i = 0; i < used; i++) {
        size_t offset = (size_t)header->chunk_offset + i * header->chunk_size;
        prof__chunk chunk;
        memcpy(&chunk, trace->image + offset / 8, sizeof chunk);
        trace->info.taken_back += chunk.taken_back;
        if (!chunk.sequence) continue;
        chunks[count].sequence = chunk.sequence;
        chunks[count].tick = chunk.base.tick;
        chunks[count].lost = chunk.lost;
        chunks[count++].place = (offset + header->chunk_header_size) / 8;
    }
    if (count > 1) qsort(chunks, count, sizeof *chunks, prof__read_chunk_order);
    for (i = 0; good && i < count; i++) {
        uint64_t *words = trace->image + chunks[i].place;
        prof__chunk chunk;
        memcpy(&chunk, words - header->chunk_header_size / 8, sizeof chunk);
        prof__read_seal(words, trace->chunk_words);
        good = prof__read_add_chunk(trace, &chunks[i], &chunk.base, words, trace->chunk_words);
    }
    free(chunks);
    return good;
}

static int prof__read_chunks(prof_trace *trace)
{
    const prof__header *header = &trace->header;
    if (!prof__read_archive(trace) || !prof__read_ring(trace)) return 0;
    if (trace->segment_count > 1)
        qsort(trace->segments, trace->segment_count, sizeof *trace->segments, prof__read_segment_order);
    trace->partial =
        header->overwritten || trace->info.lost_blocks ||
        (header->mode != PROF_FILL && header->mode != PROF_STREAM && header->next_chunk > header->chunk_count);
    return 1;
}

/*-- the clock --*/

/* ns per tick as factor / 2^shift, rounded down. */
static void prof__read_slope(prof__read_line *line, uint64_t ticks, uint64_t ns)
{
    uint64_t factor = ns / ticks, rest = ns % ticks;
    unsigned shift = 0;
    while (shift < 64 && factor < (uint64_t)1 << 62) {
        int carry = rest >= ticks - rest;
        rest = carry ? rest - (ticks - rest) : rest + rest;
        factor = factor * 2 + (uint64_t)carry;
        shift++;
    }
    line->factor = factor;
    line->shift = shift;
}

/* value * factor / 2^shift, rounded to the nearest, at most PROF__FAR_NS. */
static int64_t prof__read_scale(uint64_t value, uint64_t factor, unsigned shift)
{
    uint64_t a = value >> 32, b = value & 0xFFFFFFFFu, c = factor >> 32, d = factor & 0xFFFFFFFFu;
    uint64_t low = b * d, middle = a * d + (low >> 32), cross = b * c + (middle & 0xFFFFFFFFu);
    uint64_t high = a * c + (middle >> 32) + (cross >> 32), half = shift ? (uint64_t)1 << (shift - 1) : 0, result;
    low = (cross << 32 | (low & 0xFFFFFFFFu)) + half;
    high += low < half; /* cannot overflow: a product of 64 bits each is at most 2^128 - 2^65 + 1 */
    if (shift == 64)
        result = high;
    else if (shift == 0)
        result = high ? ~(uint64_t)0 : low;
    else
        result = high >> shift ? ~(uint64_t)0 : high << (64 - shift) | low >> shift;
    return result < (uint64_t)PROF__FAR_NS ? (int64_t)result : PROF__FAR_NS;
}

/* Nanoseconds of a tick by lines in order. hint: the line found last, for the next call. */
static int64_t prof__read_on_lines(const prof__read_line *lines, size_t count, uint64_t tick, size_t *hint)
{
    const prof__read_line *line = lines + *hint;
    int64_t ns;
    if (tick < line->tick || (*hint + 1 < count && tick >= line[1].tick)) {
        size_t low = 0, high = count; /* the last line that begins at or before tick, else the first */
        while (high - low > 1) {
            size_t middle = low + (high - low) / 2;
            if (lines[middle].tick <= tick)
                low = middle;
            else
                high = middle;
        }
        *hint = low;
        line = lines + low;
    }
    if (tick >= line->tick)
        ns = line->ns + prof__read_scale(tick - line->tick, line->factor, line->shift);
    else
        ns = line->ns - prof__read_scale(line->tick - tick, line->factor, line->shift);
    return ns < PROF__FAR_NS ? ns : PROF__FAR_NS;
}

/* Nanoseconds since the session's start, never negative. */
static int64_t prof__read_ns(const prof_trace *trace, uint64_t tick, size_t *hint)
{
    int64_t ns = prof__read_on_lines(trace->lines, trace->line_count, tick, hint);
    return ns < 0 ? 0 : ns;
}

/* From the session's start to a moment of its system's clock. */
static int64_t prof__read_since(const prof_trace *trace, uint64_t monotonic_ns)
{
    uint64_t from = trace->header.first.monotonic_ns,
             ns = monotonic_ns >= from ? monotonic_ns - from : from - monotonic_ns;
    int64_t limited = ns < (uint64_t)PROF__FAR_NS ? (int64_t)ns : PROF__FAR_NS;
    return monotonic_ns >= from ? limited : -limited;
}

static int prof__read_pair_order(const void *a, const void *b)
{
    const prof__pair *x = (const prof__pair *)a, *y = (const prof__pair *)b;
    if (x->tick != y->tick) return x->tick < y->tick ? -1 : 1;
    return x->width < y->width ? -1 : x->width > y->width;
}

static int prof__read_width_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Drops pairs that took far longer than usual to take (the thread was interrupted in between), unless that leaves less
   than two. Returns how many are left. */
static size_t prof__read_drop_wide(prof__pair *pairs, size_t count, uint64_t *widths)
{
    uint64_t limit;
    size_t i, kept = 0;
    for (i = 0; i < count; i++) widths[i] = pairs[i].width;
    qsort(widths, count, sizeof *widths, prof__read_width_order);
    limit = widths[count / 2] < (uint64_t)1 << 60 ? widths[count / 2] * 4 + 100 : ~(uint64_t)0;
    for (i = 0; i < count; i++) kept += pairs[i].width <= limit;
    if (kept < 2 || kept == count) return count;
    for (i = kept = 0; i < count; i++)
        if (pairs[i].width <= limit) pairs[kept++] = pairs[i];
    return kept;
}

/* 1: from a to b both clocks go forward, and the system's by at least so many nanoseconds. */
static int prof__read_apart(const prof__pair *a, const prof__pair *b, uint64_t ns)
{
    return b->tick > a->tick && b->monotonic_ns > a->monotonic_ns && b->monotonic_ns - a->monotonic_ns >= ns;
}

/* Keeps of sorted pairs those on which both clocks go forward and that are at least a millisecond apart: nearer ones
   would say more about how they were taken than about the clock. */
static size_t prof__read_thin(prof__pair *pairs, size_t count)
{
    size_t i, kept = 1;
    for (i = 1; i < count; i++) {
        prof__pair pair = pairs[i];
        if (prof__read_apart(&pairs[kept - 1], &pair, 1000000))
            pairs[kept++] = pair;
        else if (kept > 1 && pair.width < pairs[kept - 1].width && prof__read_apart(&pairs[kept - 2], &pair, 1000000))
            pairs[kept - 1] = pair; /* the one that took less time is the truer one */
        else if (kept == 1 && i + 1 == count && prof__read_apart(&pairs[0], &pair, 1))
            pairs[kept++] = pair; /* a short session has nothing better */
    }
    return kept;
}

/* Makes the lines of sorted, thinned pairs. */
static void prof__read_lines(prof_trace *trace, const prof__pair *pairs, size_t count)
{
    const prof__header *header = &trace->header;
    const prof__pair *first = &pairs[0], *last = &pairs[count - 1];
    uint64_t ns = last->monotonic_ns - first->monotonic_ns;
    uint64_t hz = header->tick_hz && header->tick_hz <= (uint64_t)1 << 50 ? header->tick_hz : 0;
    double measured;
    size_t i;
    for (i = 0; i < count; i++) {
        trace->lines[i].tick = pairs[i].tick;
        trace->lines[i].ns = prof__read_since(trace, pairs[i].monotonic_ns);
    }
    /* A rate that is known beats one measured over less than 10 ms; and the system's own clock has no other rate. */
    if (count < 2 || (hz && (ns < 10000000 || header->clock == PROF_CLOCK_MONOTONIC))) {
        trace->line_count = 1;
        trace->info.tick_hz = hz;
        prof__read_slope(&trace->lines[0], hz ? hz : 1000000000u, 1000000000u);
        return;
    }
    trace->line_count = count;
    for (i = 0; i + 1 < count; i++)
        prof__read_slope(&trace->lines[i], pairs[i + 1].tick - pairs[i].tick,
                         pairs[i + 1].monotonic_ns - pairs[i].monotonic_ns);
    /* Beyond the last pair: the newest slope where it stands on a second, else that of the whole session. */
    if (count > 2 && last->monotonic_ns - pairs[count - 2].monotonic_ns >= 1000000000u)
        first = &pairs[count - 2];
    prof__read_slope(&trace->lines[count - 1], last->tick - first->tick, last->monotonic_ns - first->monotonic_ns);
    measured = (double)(last->tick - pairs[0].tick) * 1e9 / (double)ns;
    trace->info.tick_hz = measured < 1e18 ? (uint64_t)(measured + 0.5) : (uint64_t)1000000000000000000;
}

/* now: a pair taken by the reader on the clock of the trace, or null. */
static int prof__read_clock(prof_trace *trace, const prof__pair *now)
{
    const prof__header *header = &trace->header;
    size_t room = trace->pair_count + 3, count = 0, i;
    prof__pair *pairs = (prof__pair *)malloc(room * sizeof *pairs);
    uint64_t *widths = (uint64_t *)malloc(room * sizeof *widths);
    trace->lines = (prof__read_line *)calloc(room, sizeof *trace->lines);
    if (pairs && widths && trace->lines) {
        pairs[count++] = header->first;
        for (i = 0; i < trace->pair_count; i++) pairs[count++] = trace->pairs[i];
        if (header->last.monotonic_ns > header->first.monotonic_ns) pairs[count++] = header->last;
        if (now) pairs[count++] = *now;
        count = prof__read_drop_wide(pairs, count, widths);
        qsort(pairs, count, sizeof *pairs, prof__read_pair_order);
        count = prof__read_thin(pairs, count);
        prof__read_lines(trace, pairs, count);
    }
    i = pairs && widths && trace->lines;
    free(pairs);
    free(widths);
    free(trace->pairs);
    trace->pairs = NULL;
    trace->pair_count = trace->pair_capacity = 0;
    return (int)i;
}

/*-- the matcher --*/

typedef struct prof__read_open {
    size_t crossing, last_link; /* PROF__NONE: still in the segment where it began; no link yet */
    uint32_t site, outer_site, outer_name; /* the next one outwards of the same site, of the same name; 0: none */
    uint32_t args;
    uint32_t segment, word; /* of its BEGIN; segment: counted from the track's first */
} prof__read_open;

/* A scope that the end of one around it closed: its own end may still come. */
typedef struct prof__read_late {
    uint64_t older; /* the next older one of the same site: its number; 0: none */
    uint32_t segment, word;
} prof__read_late;

typedef struct prof__read_top {
    uint32_t track; /* for which track the rest is meant */
    uint32_t open;  /* the innermost open scope of this name, counted from 1 */
    uint32_t stale; /* scopes of this name whose own end has not come since another end closed them */
    uint32_t frame; /* the track that has seen a frame of this name */
} prof__read_top;

typedef struct prof__read_matcher {
    prof_trace *trace;
    prof__read_track *track;
    prof__read_open *stack;
    size_t capacity;
    uint32_t depth, crossed; /* the outer ones, up to crossed, have entries in the crossing table */
    uint32_t serial;         /* of the track, from 1 */
    uint32_t *site_tops;
    prof__read_top *name_tops;
    size_t pending, pending_last; /* arguments of a scope whose begin is missing: links */
    uint32_t pending_count;
    uint64_t tick;
    size_t hint;
    uint64_t event_tick; /* of the first event */
    prof__read_late *late; /* the newest of those that may still end; the first has number late_first */
    size_t late_count, late_capacity;
    uint64_t late_first, late_floor; /* those below the floor are of another track, or of before a gap */
    uint64_t *site_late;             /* of each site: the number of its newest one; 0: none */
    int torn;            /* behind a gap: an END without a begin says nothing of the track's first time */
    size_t nodes, args;  /* of this segment */
} prof__read_matcher;

static prof__read_top *prof__read_name_top(prof__read_matcher *m, uint32_t site)
{
    prof__read_top *top = &m->name_tops[m->trace->sites[site].name];
    if (top->track != m->serial) {
        top->track = m->serial;
        top->open = top->stale = 0;
    }
    return top;
}

static void prof__read_event(prof__read_matcher *m)
{
    if (!m->track->about.event_count++) m->event_tick = m->tick;
    m->nodes++;
}

static int prof__read_push(prof__read_matcher *m, uint32_t site, uint32_t segment, size_t word)
{
    prof__read_open *open;
    prof__read_top *top = prof__read_name_top(m, site);
    if (m->depth >= PROF__NONE32 - 1 || !PROF__ROOM(m->stack, m->capacity, m->depth)) return 0;
    open = &m->stack[m->depth++];
    open->crossing = open->last_link = PROF__NONE;
    open->site = site;
    open->outer_site = m->site_tops[site];
    open->outer_name = top->open;
    open->args = 0;
    open->segment = segment;
    open->word = (uint32_t)word;
    m->site_tops[site] = top->open = m->depth;
    if (m->depth > m->track->max_depth) m->track->max_depth = m->depth;
    return 1;
}

/* Closes the innermost scope; flags are those of a scope that crosses segments. */
static void prof__read_pop(prof__read_matcher *m, uint32_t flags)
{
    prof__read_open *open = &m->stack[--m->depth];
    prof__read_top *top = prof__read_name_top(m, open->site);
    m->site_tops[open->site] = open->outer_site;
    top->open = open->outer_name;
    if (flags) top->stale++;
    if (open->crossing != PROF__NONE) {
        m->trace->crossings[open->crossing].end_ns = prof__read_ns(m->trace, m->tick, &m->hint);
        m->trace->crossings[open->crossing].flags = flags;
    }
    if (m->crossed > m->depth) m->crossed = m->depth;
}

static int prof__read_began_before(uint32_t segment, uint32_t word, const prof__read_late *late)
{
    return segment != late->segment ? segment < late->segment : word < late->word;
}

/* Keeps in mind that the own end of an open scope may come after it was closed. The one that began last comes first.
   Without memory, or room for more of them, the oldest are forgotten: they stay without an end. */
static void prof__read_note_late(prof__read_matcher *m, const prof__read_open *open)
{
    size_t half = m->late_count / 2;
    uint64_t *link = &m->site_late[open->site], first;
    prof__read_late *late;
    int steps = PROF__LATE_STEPS;
    if (m->late_count == PROF__LATE_END_MOST) {
        memmove(m->late, m->late + half, (m->late_count - half) * sizeof *m->late);
        m->late_count -= half;
        m->late_first += half;
    }
    if (!PROF__ROOM(m->late, m->late_capacity, m->late_count)) return;
    first = m->late_first < m->late_floor ? m->late_floor : m->late_first;
    while (*link >= first && steps-- && prof__read_began_before(open->segment, open->word, &m->late[*link - m->late_first]))
        link = &m->late[*link - m->late_first].older;
    late = &m->late[m->late_count];
    late->older = *link;
    late->segment = open->segment;
    late->word = open->word;
    *link = m->late_first + m->late_count++;
}

/* Closes all but so many scopes with one around them, or from before the first record. */
static void prof__read_pop_early(prof__read_matcher *m, uint32_t depth)
{
    uint32_t i;
    for (i = depth; i < m->depth; i++) prof__read_note_late(m, &m->stack[i]);
    while (m->depth > depth) prof__read_pop(m, PROF_TRUNCATED_END);
}

static uint64_t prof__read_event_id(const prof_trace *trace, const prof__read_chunk *chunk, size_t word)
{
    return chunk->sequence << trace->word_bits | word;
}

/* An END whose scope was closed with one around it: the two overlap. One of the same site that is open comes first: what a
   longjmp or an early return has left behind must not take the end of a call around it. 1: so it is, 0: it fits none,
   -1: no memory. */
static int prof__read_match_late(prof__read_matcher *m, uint32_t site)
{
    prof_trace *trace = m->trace;
    uint64_t number = m->site_late[site];
    const prof__read_late *late;
    prof__read_late_begin *begin;
    prof__read_top *top = prof__read_name_top(m, site);
    if (m->site_tops[site] || number < m->late_first || number < m->late_floor || !number) return 0;
    late = &m->late[number - m->late_first];
    if (!PROF__ROOM(trace->late_begins, trace->late_begin_capacity, trace->late_begin_count) ||
        !PROF__ROOM(trace->late_ends, trace->late_end_capacity, trace->late_end_count))
        return -1;
    m->site_late[site] = late->older;
    if (top->stale) top->stale--;
    begin = &trace->late_begins[trace->late_begin_count++];
    begin->segment = late->segment;
    begin->word = late->word;
    trace->late_ends[trace->late_end_count++].id = prof__read_event_id(
        trace, &trace->chunks[trace->segments[m->track->segment + late->segment].chunk], late->word);
    trace->has_spans = 1;
    prof__read_event(m);
    return 1;
}

/* Returns how many scopes the END of a site closes, the one that began before the track's first record included; 0: it
   fits none. */
static uint32_t prof__read_match(prof__read_matcher *m, uint32_t site, uint64_t id)
{
    prof__read_top *top = prof__read_name_top(m, site);
    int late = prof__read_match_late(m, site);
    uint32_t position = m->site_tops[site] ? m->site_tops[site] : top->open, closes;
    prof__read_orphan *orphan;
    if (late) return late < 0 ? PROF__NONE32 : PROF__CLOSES_LATE;
    if (position) {
        closes = m->depth - position + 1;
        if (closes > PROF__CLOSE_MAX) return 0;
        prof__read_pop_early(m, position);
        prof__read_pop(m, 0);
        return closes;
    }
    if (top->stale) {
        top->stale--;
        return 0;
    }
    closes = m->depth + 1;
    if (!m->trace->partial || m->torn || closes > PROF__CLOSE_MAX) return 0;
    if (!PROF__ROOM(m->trace->orphans, m->trace->orphan_capacity, m->trace->orphan_count))
        return PROF__NONE32;
    prof__read_pop_early(m, 0);
    orphan = &m->trace->orphans[m->trace->orphan_count++];
    orphan->end_ns = prof__read_ns(m->trace, m->tick, &m->hint);
    orphan->link = m->pending;
    orphan->id = id;
    orphan->site = site;
    m->track->orphan_count++;
    if (m->pending_count > m->track->max_event_args) m->track->max_event_args = m->pending_count;
    m->pending = m->pending_last = PROF__NONE;
    m->pending_count = 0;
    return closes;
}

/* Copies words that are wanted when their segment is not loaded. Returns where they are kept, PROF__NONE without
   memory. */
static size_t prof__read_keep(prof_trace *trace, const uint64_t *words, size_t count)
{
    size_t at = trace->kept_count;
    while (trace->kept_capacity - at < count)
        if (!prof__more_room(&trace->kept, &trace->kept_capacity, sizeof *trace->kept)) return PROF__NONE;
    memcpy(trace->kept + at, words, count * 8);
    trace->kept_count += count;
    return at;
}

/* Gives an ARG record to its scope. 0 without memory. */
static int prof__read_arg(prof__read_matcher *m, const uint64_t *record, size_t length)
{
    prof_trace *trace = m->trace;
    uint32_t target = prof__read_arg_target(record), position;
    prof__read_open *open = m->depth ? &m->stack[m->depth - 1] : NULL;
    size_t number = trace->link_count;
    if (target) {
        position = m->site_tops[prof__read_site_of(trace, target)];
        if (!position) {
            trace->info.unmatched++;
            return 1;
        }
        open = &m->stack[position - 1];
    }
    if (open && ++open->args > m->track->max_event_args) m->track->max_event_args = open->args;
    if (open && open->crossing == PROF__NONE) {
        m->args++;
        return 1;
    }
    if (!PROF__ROOM(trace->links, trace->link_capacity, trace->link_count)) return 0;
    trace->links[number].next = PROF__NONE;
    trace->links[number].record = prof__read_keep(trace, record, length);
    if (trace->links[number].record == PROF__NONE) return 0;
    trace->link_count++;
    if (open) {
        if (open->last_link == PROF__NONE)
            trace->crossings[open->crossing].link = number;
        else
            trace->links[open->last_link].next = number;
        open->last_link = number;
    } else {
        if (m->pending_last == PROF__NONE)
            m->pending = number;
        else
            trace->links[m->pending_last].next = number;
        m->pending_last = number;
        m->pending_count++;
    }
    return 1;
}

/* Gives the scopes that stay open beyond this segment their entries. 0 without memory. */
static int prof__read_cross(prof__read_matcher *m, uint32_t segment)
{
    prof_trace *trace = m->trace;
    for (; m->crossed < m->depth; m->crossed++) {
        prof__read_crossing *crossing;
        if (!PROF__ROOM(trace->crossings, trace->crossing_capacity, trace->crossing_count))
            return 0;
        crossing = &trace->crossings[trace->crossing_count];
        crossing->end_ns = 0;
        crossing->link = PROF__NONE;
        crossing->flags = 0;
        crossing->segment = segment;
        m->stack[m->crossed].crossing = trace->crossing_count++;
    }
    return 1;
}

/* Notes how many scopes an END closes where that is not one. 0 without memory. */
static int prof__read_except(prof__read_matcher *m, uint32_t segment, size_t word, uint32_t closes)
{
    prof_trace *trace = m->trace;
    prof__read_exception *exception;
    if (closes == 1) return 1;
    if (!closes) trace->info.unmatched++;
    if (!PROF__ROOM(trace->exceptions, trace->exception_capacity, trace->exception_count)) return 0;
    exception = &trace->exceptions[trace->exception_count++];
    exception->segment = segment;
    exception->word = (uint32_t)word;
    exception->closes = closes;
    return 1;
}

/* Something is missing here: what was open before ends with the last thing known. */
static void prof__read_tear(prof__read_matcher *m)
{
    while (m->depth) prof__read_pop(m, PROF_TRUNCATED_END);
    m->trace->info.unmatched += m->pending_count;
    m->pending = m->pending_last = PROF__NONE;
    m->pending_count = 0;
    m->torn = 1;
    m->late_floor = m->late_first + m->late_count;
}

static int prof__read_match_segment(prof__read_matcher *m, uint32_t number)
{
    prof_trace *trace = m->trace;
    prof__read_segment *segment = &trace->segments[m->track->segment + number];
    prof__read_chunk *chunk = &trace->chunks[segment->chunk];
    const uint64_t *words = prof__read_words(trace, &trace->buffer, segment->chunk);
    size_t at, length;
    uint32_t data = 0; /* of the event in front */
    int takes_data = 0;
    m->nodes = m->args = 0;
    if (segment->gap && number) prof__read_tear(m);
    if (!words && chunk->size != PROF__NONE32) {
        chunk->size = PROF__NONE32;
        trace->info.lost_blocks++;
        trace->partial = 1;
    }
    if (!words) segment->gap = 1;
    if (!words) prof__read_tear(m);
    for (at = segment->first; words && at < segment->end; at += length) {
        uint64_t head = words[at];
        unsigned kind = prof__read_kind(head);
        uint32_t site = 0, closes;
        length = prof__record_words(head, segment->end - at);
        if (kind == PROF__KIND_ARG || kind == PROF__KIND_DATA)
            length = prof__read_arg_words(words + at, segment->end - at);
        if (prof__record_timed(head)) {
            m->tick = prof__read_tick(chunk->tick, head, m->tick);
            site = (uint32_t)prof__read_site_of(trace, prof__read_id(head));
        }
        switch (kind) {
        case PROF__KIND_BEGIN:
            prof__read_event(m);
            if (!prof__read_push(m, site, number, at)) return 0;
            break;
        case PROF__KIND_END:
            closes = prof__read_match(m, site, prof__read_event_id(trace, chunk, at));
            if (closes == PROF__NONE32 || !prof__read_except(m, number, at, closes)) return 0;
            break;
        case PROF__KIND_FRAME:
            prof__read_event(m);
            if (m->name_tops[trace->sites[site].name].frame != m->serial) {
                m->name_tops[trace->sites[site].name].frame = m->serial;
                m->track->frames++;
            }
            break;
        case PROF__KIND_EVENT:
            if (!prof__read_event_type(words + at)) break;
            if (prof__read_event_type(words + at) <= PROF_EVENT_SPAN_END) trace->has_spans = 1;
            prof__read_event(m);
            break;
        case PROF__KIND_MARK:
        case PROF__KIND_COUNTER_INT:
        case PROF__KIND_COUNTER_DOUBLE: prof__read_event(m); break;
        case PROF__KIND_LOST:
            prof__read_event(m);
            m->track->about.lost += head & PROF__TICK_MASK;
            break;
        case PROF__KIND_ARG:
            if (prof__read_arg_whole(words + at, length) && !prof__read_arg(m, words + at, length)) return 0;
            break;
        case PROF__KIND_DATA:
            if (!takes_data || !prof__read_arg_whole(words + at, length)) break;
            m->args++;
            if (++data > m->track->max_event_args) m->track->max_event_args = data;
            break;
        default: break;
        }
        takes_data = prof__read_takes_data(words + at, takes_data);
        if (kind != PROF__KIND_DATA && kind != PROF__KIND_NAME) data = 0;
    }
    if (words && segment->last && chunk->lost) {
        prof__read_event(m);
        m->track->about.lost += chunk->lost;
    }
    if (m->nodes > m->track->max_nodes) m->track->max_nodes = m->nodes;
    if (m->args > m->track->max_args) m->track->max_args = m->args;
    segment->depth = (int32_t)m->depth - (int32_t)m->track->orphan_count;
    return prof__read_cross(m, number);
}

/* The first time in a track from this segment on, which becomes the one that has it; last: the track's last. */
static uint64_t prof__read_first_tick(const prof_trace *trace, const prof__read_segment **segment,
                                      const prof__read_segment *last)
{
    while (*segment <= last && (*segment)->tick == ~(uint64_t)0) ++*segment;
    return *segment <= last ? (*segment)->tick : trace->chunks[last->chunk].tick;
}

static void prof__read_describe(prof_trace *trace, prof__read_track *track)
{
    size_t i;
    track->about.name = track->about.device = trace->names[0];
    for (i = 0; i < track->segment_count; i++) {
        const prof__read_segment *segment = &trace->segments[track->segment + i];
        size_t name = prof__read_string_name(trace, segment->name);
        const uint64_t *words = i ? NULL : prof__read_words(trace, &trace->buffer, segment->chunk);
        if (words) track->about.thread_id = words[segment->first + 2];
        if (segment->fiber) track->about.fiber = 1;
        if (name) track->about.name = trace->names[name]; /* the newest counts */
    }
    track->about.id = trace->segments[track->segment].track;
}

/* 1: the thread that wrote this segment, the last of its track, still had its chunk. */
static int prof__read_lives(const prof_trace *trace, const prof__read_segment *segment)
{
    prof__chunk chunk;
    const prof__read_chunk *at = &trace->chunks[segment->chunk];
    if (at->size || !segment->last) return 0;
    memcpy(&chunk, trace->image + at->place - trace->header.chunk_header_size / 8, sizeof chunk);
    return chunk.state == PROF__CHUNK_OWNED;
}

static int prof__read_late_order(const void *a, const void *b)
{
    const prof__read_late_begin *x = (const prof__read_late_begin *)a, *y = (const prof__read_late_begin *)b;
    if (x->segment != y->segment) return x->segment < y->segment ? -1 : 1;
    return x->word < y->word ? -1 : x->word > y->word;
}

static int prof__read_match_track(prof__read_matcher *m)
{
    prof_trace *trace = m->trace;
    prof__read_track *track = m->track;
    const prof__read_segment *first = &trace->segments[track->segment];
    uint32_t i;
    track->crossing = trace->crossing_count;
    track->exception = trace->exception_count;
    track->orphan = trace->orphan_count;
    track->late = trace->late_end_count;
    m->late_floor = m->late_first + m->late_count;
    track->tick = m->tick = m->event_tick =
        prof__read_first_tick(trace, &first, &trace->segments[track->segment + track->segment_count - 1]);
    m->crossed = 0;
    m->torn = 0;
    m->pending = m->pending_last = PROF__NONE;
    m->pending_count = 0;
    for (i = 0; i < track->segment_count; i++)
        if (!prof__read_match_segment(m, i)) return 0;
    while (m->depth) prof__read_pop(m, PROF_TRUNCATED_END | PROF__STILL_OPEN);
    track->lives = track->about.fiber || /* which may be waiting for its turn */
                   prof__read_lives(trace, &trace->segments[track->segment + track->segment_count - 1]);
    trace->info.unmatched += m->pending_count;
    track->crossing_count = trace->crossing_count - track->crossing;
    track->exception_count = trace->exception_count - track->exception;
    track->late_count = trace->late_end_count - track->late;
    if (track->late_count)
        qsort(trace->late_begins + track->late, track->late_count, sizeof *trace->late_begins, prof__read_late_order);
    track->max_depth += track->orphan_count;
    track->about.event_count += track->orphan_count;
    track->about.first_ns = prof__read_ns(trace, track->orphan_count ? track->tick : m->event_tick, &m->hint);
    track->about.last_ns = prof__read_ns(trace, m->tick, &m->hint);
    trace->info.event_count += track->about.event_count;
    trace->info.lost += track->about.lost;
    if (track->about.last_ns > trace->info.duration_ns) trace->info.duration_ns = track->about.last_ns;
    return 1;
}

/* 1: blocks may be missing in the midst of others, of which too many would go with them. */
static int prof__read_archived(const prof_trace *trace)
{
    return trace->header.archive_first != trace->header.archive_next;
}

/* 1: segment b's chunk was copied later than segment a's, which may lack its end: those of the ring by slot, from the
   newest on; the archive last, whose chunks are whole. */
static int prof__read_copied_later(const prof_trace *trace, const prof__read_segment *a, const prof__read_segment *b)
{
    const prof__read_chunk *chunk_a = &trace->chunks[a->chunk], *chunk_b = &trace->chunks[b->chunk];
    uint64_t count = trace->header.chunk_count, newest = trace->header.next_chunk;
    if (chunk_a->size || chunk_b->size || !count) return !chunk_a->size;
    return (newest % count + count - chunk_b->sequence % count) % count >
           (newest % count + count - chunk_a->sequence % count) % count;
}

/* 1: nothing from this segment on, to the track's last, is known to be of before the copy. A chunk is older than what
   is in it: a thread may have slept with it, and then met the fiber. */
static int prof__read_after_copy(const prof_trace *trace, const prof__read_segment **segment,
                                 const prof__read_segment *last)
{
    uint64_t tick;
    if (!trace->header.copy_tick) return 0;
    tick = prof__read_first_tick(trace, segment, last);
    if (*segment <= last && (*segment)->record != ~(uint64_t)0) tick = (*segment)->record;
    return *segment > last || tick >= trace->header.copy_tick;
}

/* Chooses the segments of a track, from this one on, that are read: those in front of the first gap in their serials if
   what follows is newer than the copy, else those behind the last one. The ring overwrites what is old; but a fiber's
   turns on one thread may be in a copy while turns before, on a thread that was copied first, are not. Returns the
   number of the next track's first segment. */
static size_t prof__read_choose(prof_trace *trace, prof__read_track *track, size_t i)
{
    prof__read_segment *segments = trace->segments;
    const prof__read_segment *timed = &segments[i];
    size_t next = i + 1, last;
    while (next < trace->segment_count && segments[next].track == segments[i].track) next++;
    track->segment = i;
    for (last = next - 1, i++; i < next; i++) {
        int gap = segments[i].serial - segments[i - 1].serial > 1; /* or it went to a chunk that was copied later */
        if (!gap && !prof__read_copied_later(trace, &segments[i - 1], &segments[i])) continue;
        if (timed < &segments[i]) timed = &segments[i];
        if (prof__read_after_copy(trace, &timed, &segments[last])) break;
        if (!gap) continue;
        trace->partial = 1;
        segments[i].gap = 1;
        if (!prof__read_archived(trace)) track->segment = i;
    }
    track->segment_count = i - track->segment;
    return next;
}

static int prof__read_tracks(prof_trace *trace)
{
    prof__read_matcher m;
    size_t i, count = 0;
    int good;
    for (i = 0; i < trace->segment_count; i++)
        count += !i || trace->segments[i].track != trace->segments[i - 1].track;
    memset(&m, 0, sizeof m);
    m.trace = trace;
    m.site_tops = (uint32_t *)calloc(trace->site_count + 1, sizeof *m.site_tops);
    m.name_tops = (prof__read_top *)calloc(trace->name_count + 1, sizeof *m.name_tops);
    m.site_late = (uint64_t *)calloc(trace->site_count + 1, sizeof *m.site_late);
    m.late_first = 1;
    trace->tracks = (prof__read_track *)calloc(count + 1, sizeof *trace->tracks);
    good = m.site_tops && m.name_tops && m.site_late && trace->tracks;
    for (i = 0; good && i < trace->segment_count;) {
        m.track = &trace->tracks[trace->track_count++];
        i = prof__read_choose(trace, m.track, i);
        m.serial++;
        prof__read_describe(trace, m.track);
        good = prof__read_match_track(&m);
    }
    free(m.stack);
    free(m.late);
    free(m.site_tops);
    free(m.name_tops);
    free(m.site_late);
    prof__read_buffer_free(&trace->buffer);
    return good;
}

/*-- tracks of devices --
   What >>device recorded is collected while chunks are cut, whichever threads it came from, stays in memory, and is
   sorted once: by device, row, time. Pairs of clocks become lines from a device's ticks to nanoseconds; those of a
   counter that wraps are brought onto one scale without end, in the middle of 64 bits. */

#define PROF__DEVICE_SUBROWS 64
#define PROF__DEVICE_MIDDLE ((uint64_t)1 << 63) /* a multiple of every period */

static int prof__device_add_pair(prof_trace *trace, uint32_t device, uint64_t ticks, uint64_t monotonic_ns)
{
    prof__read_pairing *pair;
    if (!PROF__ROOM(trace->pairings, trace->pairing_capacity, trace->pairing_count)) return 0;
    pair = &trace->pairings[trace->pairing_count++];
    pair->device = device;
    pair->tick = ticks;
    pair->ns = prof__read_since(trace, monotonic_ns);
    return 1;
}

/* A name that must be copied. PROF__NONE without memory. */
static size_t prof__device_name(prof_trace *trace, const char *text)
{
    size_t name = prof__read_find(&trace->name_index, prof__text_hash(text), prof__read_same_name, trace, text);
    char *copy;
    if (name != PROF__NONE) return name;
    copy = prof__text_join(text, "");
    if (!copy || !PROF__ROOM(trace->texts, trace->text_capacity, trace->text_count)) {
        free(copy);
        return PROF__NONE;
    }
    trace->texts[trace->text_count++] = copy;
    return prof__read_name(trace, copy);
}

/* The records of arguments, kept one behind the other, and their number. 0 without memory. */
static int prof__device_args(prof_trace *trace, prof__read_happening *e, const uint64_t *words, size_t at, size_t count)
{
    size_t key, value;
    e->args = trace->kept_count;
    for (; at < count; at += key + value) {
        key = prof__record_words(words[at], count - at);
        if (!key || prof__read_kind(words[at]) != PROF__KIND_DATA || (words[at] >> 32 & 0xFF) != PROF_VALUE_STRING)
            break;
        value = at + key < count ? prof__record_words(words[at + key], count - at - key) : 0;
        if (!value || prof__read_kind(words[at + key]) != PROF__KIND_DATA) break;
        if (prof__read_keep(trace, words + at, key + value) == PROF__NONE) return 0;
        e->arg_count++;
    }
    return 1;
}

static int prof__device_take(prof_trace *trace, size_t chunk, const uint64_t *words, size_t at, size_t count)
{
    const uint64_t *record = words + at;
    prof__read_happening e;
    size_t length, name;
    memset(&e, 0, sizeof e);
    e.type = (uint8_t)(record[1] & 0xFF);
    if (e.type < PROF__DEVICE_SCOPE || e.type > PROF__DEVICE_PAIR) return 1;
    e.row = (uint32_t)(record[1] >> 8);
    e.time = record[2];
    e.tick = prof__read_tick(trace->chunks[chunk].tick, record[0], 0);
    e.id = prof__read_event_id(trace, &trace->chunks[chunk], at);
    e.site = (uint32_t)prof__read_site_of(trace, prof__read_id(record[0]));
    e.name = trace->sites[e.site].name;
    at += 3;
    length = at < count ? prof__record_words(words[at], count - at) : 0;
    if (length > 1 && prof__read_kind(words[at]) == PROF__KIND_NAME) {
        name = prof__device_name(trace, (const char *)(words + at + 1));
        if (name == PROF__NONE) return 0;
        e.name = (uint32_t)name;
        at += length;
        length = at < count ? prof__record_words(words[at], count - at) : 0;
    }
    if (length > 1 && prof__read_kind(words[at]) == PROF__KIND_DATA && (words[at] >> 32 & 0xFF) != PROF_VALUE_STRING) {
        e.value = (uint8_t)(words[at] >> 32);
        e.number = words[at + 1];
        if (length > 2) e.flow = words[at + 2];
        at += length;
    }
    if (e.type == PROF__DEVICE_PAIR) return prof__device_add_pair(trace, e.row, e.time, e.number);
    if (!prof__device_args(trace, &e, words, at, count) ||
        !PROF__ROOM(trace->happenings, trace->happening_capacity, trace->happening_count))
        return 0;
    trace->happenings[trace->happening_count++] = e;
    return 1;
}

/*-- devices and rows --*/

static int prof__device_order(const void *a, const void *b)
{
    uint32_t x = ((const prof__read_device *)a)->number, y = ((const prof__read_device *)b)->number;
    return x < y ? -1 : x > y;
}

static int prof__row_order(const void *a, const void *b)
{
    uint32_t x = ((const prof__read_row *)a)->number, y = ((const prof__read_row *)b)->number;
    return x < y ? -1 : x > y;
}

/* The one with this number; the first, which stands for those that meta does not have. */
static uint32_t prof__device_find(const prof_trace *trace, uint32_t number)
{
    prof__read_device key, *found;
    key.number = number;
    found = (prof__read_device *)bsearch(&key, trace->devices, trace->device_count, sizeof key, prof__device_order);
    return found ? (uint32_t)(found - trace->devices) : 0;
}

static uint32_t prof__row_find(const prof_trace *trace, uint32_t number)
{
    prof__read_row key, *found;
    key.number = number;
    found = (prof__read_row *)bsearch(&key, trace->rows, trace->row_count, sizeof key, prof__row_order);
    return found ? (uint32_t)(found - trace->rows) : 0;
}

static int prof__device_add(prof_trace *trace, uint32_t number, size_t name, uint64_t bits, uint64_t hz)
{
    prof__read_device *device;
    if (!PROF__ROOM(trace->devices, trace->device_capacity, trace->device_count)) return 0;
    device = &trace->devices[trace->device_count++];
    memset(device, 0, sizeof *device);
    device->number = number;
    device->name = (uint32_t)name;
    device->wraps = bits > 0 && bits < 64;
    device->mask = device->wraps ? ((uint64_t)1 << bits) - 1 : ~(uint64_t)0;
    device->hz = hz <= (uint64_t)1 << 50 ? hz : 0;
    return 1;
}

static int prof__row_add(prof_trace *trace, uint32_t number, size_t name, uint32_t device)
{
    prof__read_row *row;
    if (!PROF__ROOM(trace->rows, trace->row_capacity, trace->row_count)) return 0;
    row = &trace->rows[trace->row_count++];
    memset(row, 0, sizeof *row);
    row->number = number;
    row->name = (uint32_t)name;
    row->device = device;
    return 1;
}

/* What meta says of devices and rows, and the pairs in it. 0 without memory. */
static int prof__device_meta(prof_trace *trace)
{
    const uint64_t *words = trace->image + trace->header.meta_offset / 8, *field;
    size_t count = (size_t)(trace->header.meta_size / 8), at, length, slot;
    size_t unnamed = prof__device_name(trace, "?"); /* what meta had no room for */
    if (unnamed == PROF__NONE || !prof__device_add(trace, 0, unnamed, 0, 0) || !prof__row_add(trace, 0, unnamed, 0))
        return 0;
    for (at = 0; (length = prof__read_meta_words(words, at, count)) != 0; at += length) {
        uint32_t id = (uint32_t)words[at];
        field = words + at + 1;
        if (!id) continue;
        if (words[at] >> 56 == PROF__META_DEVICE && length >= PROF__DEVICE_WORDS) {
            if (!prof__device_add(trace, id, prof__read_string_name(trace, field[0] & 0xFFFFFFFFu), field[0] >> 32,
                                  field[1]))
                return 0;
            for (slot = 2; slot + 3 <= PROF__DEVICE_WORDS - 1; slot += 3)
                if (field[slot + 2] == prof__device_check(field[slot], field[slot + 1]) &&
                    !prof__device_add_pair(trace, id, field[slot], field[slot + 1]))
                    return 0;
        } else if (words[at] >> 56 == PROF__META_ROW && length >= PROF__ROW_WORDS) {
            if (!prof__row_add(trace, id, prof__read_string_name(trace, field[0] & 0xFFFFFFFFu),
                               (uint32_t)(field[0] >> 32)))
                return 0;
        }
    }
    qsort(trace->devices, trace->device_count, sizeof *trace->devices, prof__device_order);
    qsort(trace->rows, trace->row_count, sizeof *trace->rows, prof__row_order);
    for (at = 0; at < trace->row_count; at++) trace->rows[at].device = prof__device_find(trace, trace->rows[at].device);
    for (at = 0; at < trace->pairing_count; at++)
        trace->pairings[at].device = prof__device_find(trace, trace->pairings[at].device);
    return 1;
}

/*-- clocks --*/

/* The greatest number of the endless scale, up to latest, that shows these bits. */
static uint64_t prof__device_unwrap(const prof__read_device *device, uint64_t latest, uint64_t ticks)
{
    return latest - ((latest - ticks) & device->mask);
}

/* Ticks that pass in so many nanoseconds. */
static uint64_t prof__device_ticks(double hz, int64_t ns)
{
    double ticks = (double)ns * (hz / 1e9);
    if (!(ticks < 9e18)) ticks = 9e18;
    if (ticks < -9e18) ticks = -9e18;
    return (uint64_t)(int64_t)ticks;
}

static int prof__pairing_order(const void *a, const void *b)
{
    const prof__read_pairing *x = (const prof__read_pairing *)a, *y = (const prof__read_pairing *)b;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    if (x->ns != y->ns) return x->ns < y->ns ? -1 : 1;
    return x->tick < y->tick ? -1 : x->tick > y->tick;
}

/* Keeps of the sorted pairs of a device those with which both clocks go forward, on the endless scale. */
static size_t prof__device_pairs(prof__read_device *device, prof__read_pairing *pairs, size_t count)
{
    prof__read_pairing last = pairs[0];
    size_t i, kept = 0;
    for (i = 0; i < count; i++) {
        prof__read_pairing pair = pairs[i], before = pairs[kept ? kept - 1 : 0];
        if (i && pair.ns == last.ns && pair.tick == last.tick) continue; /* it is in meta, too */
        last = pair;
        if (device->wraps && !kept)
            pair.tick = PROF__DEVICE_MIDDLE + (pair.tick & device->mask);
        else if (device->wraps)
            pair.tick = prof__device_unwrap(device,
                                            device->hz ? before.tick + device->mask / 2 +
                                                             prof__device_ticks((double)device->hz, pair.ns - before.ns)
                                                       : before.tick + device->mask,
                                            pair.tick);
        if (kept && (pair.tick <= before.tick || pair.ns <= before.ns))
            device->refused++;
        else
            pairs[kept++] = pair;
    }
    return kept;
}

/* From pair a on, time goes as from b to c. */
static void prof__device_line(prof__read_line *line, const prof__read_pairing *a, const prof__read_pairing *b,
                              const prof__read_pairing *c)
{
    line->tick = a->tick;
    line->ns = a->ns;
    prof__read_slope(line, c->tick - b->tick, (uint64_t)(c->ns - b->ns));
}

/* first: one line in front of the first pair, one from each pair on. 0 without memory. */
static int prof__device_lines(prof__read_device *device, const prof__read_pairing *pairs, size_t count)
{
    const prof__read_pairing *first = pairs, *last = pairs + count - 1;
    /* else a rate that is said is better than one measured */
    int measured = count > 1 && last->ns - first->ns >= 10000000;
    size_t i;
    device->lines = (prof__read_line *)calloc(count + 1, sizeof *device->lines);
    if (!device->lines) return 0;
    device->line_count = count + 1;
    device->rate = device->hz ? (double)device->hz : 1e9;
    if (count > 1 && (measured || !device->hz))
        device->rate = (double)(last->tick - first->tick) * 1e9 / (double)(last->ns - first->ns);
    for (i = 0; i + 1 < count; i++) prof__device_line(&device->lines[i + 1], &pairs[i], &pairs[i], &pairs[i + 1]);
    if (count > 1 && (measured || !device->hz)) {
        int early = first[1].ns - first->ns >= 1000000000, late = last->ns - last[-1].ns >= 1000000000;
        prof__device_line(&device->lines[0], first, first, early ? first + 1 : last);
        prof__device_line(&device->lines[count], last, late ? last - 1 : first, last);
    } else {
        device->lines[0].tick = first->tick;
        device->lines[0].ns = first->ns;
        prof__read_slope(&device->lines[0], device->hz ? device->hz : 1000000000u, 1000000000u);
        device->lines[count] = device->lines[0];
        device->lines[count].tick = last->tick;
        device->lines[count].ns = last->ns;
    }
    return 1;
}

/* Without a pair: the first event of all was recorded when it ended. */
static prof__read_pairing prof__device_guess(const prof_trace *trace, const prof__read_device *device)
{
    const prof__read_happening *first = &trace->happenings[device->first - 1];
    prof__read_pairing pair;
    size_t hint = 0;
    pair.device = 0;
    pair.tick = first->time + (first->type == PROF__DEVICE_SCOPE ? first->number : 0);
    if (pair.tick < first->time && !device->wraps) pair.tick = first->time;
    if (device->wraps) pair.tick = PROF__DEVICE_MIDDLE + (pair.tick & device->mask);
    pair.ns = prof__read_ns(trace, first->tick, &hint);
    return pair;
}

static int prof__device_clocks(prof_trace *trace)
{
    size_t i, at = 0, end;
    if (trace->pairing_count > 1)
        qsort(trace->pairings, trace->pairing_count, sizeof *trace->pairings, prof__pairing_order);
    for (i = 0; i < trace->device_count; i++, at = end) {
        prof__read_device *device = &trace->devices[i];
        prof__read_pairing guess, *pairs = trace->pairings ? trace->pairings + at : NULL;
        for (end = at; end < trace->pairing_count && trace->pairings[end].device == i;) end++;
        device->pairs = end > at ? prof__device_pairs(device, pairs, end - at) : 0;
        device->alignment = device->pairs > 1                 ? PROF_ALIGN_PAIRS
                            : device->pairs == 1 && device->hz ? PROF_ALIGN_RATE
                                                               : PROF_ALIGN_GUESS;
        if (!device->first) continue;
        if (!device->pairs) {
            guess = prof__device_guess(trace, device);
            pairs = &guess;
        }
        if (!prof__device_lines(device, pairs, device->pairs ? (size_t)device->pairs : 1)) return 0;
    }
    return 1;
}

/*-- times and tracks --*/

/* Where on the device's endless scale the host was at this moment. */
static uint64_t prof__device_at(const prof__read_device *device, int64_t ns)
{
    size_t low = 0, high = device->line_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (device->lines[middle].ns <= ns)
            low = middle;
        else
            high = middle;
    }
    return device->lines[low].tick + prof__device_ticks(device->rate, ns - device->lines[low].ns);
}

/* From ticks to nanoseconds. 0: it ended before the session began. */
static int prof__device_place(const prof_trace *trace, prof__read_happening *e, size_t *host_hint)
{
    const prof__read_device *device = &trace->devices[e->device];
    uint64_t begin = e->time, ticks = e->type == PROF__DEVICE_SCOPE ? e->number & device->mask : 0, end = begin + ticks;
    size_t hint = 0;
    if (device->wraps) { /* it ended before it was recorded, as far as pairs are exact */
        uint64_t now = prof__device_at(device, prof__read_ns(trace, e->tick, host_hint));
        end = prof__device_unwrap(device, now + device->mask / 16, end);
        begin = end - ticks;
    } else if (end < begin) {
        end = begin;
        e->flags |= PROF_TRUNCATED_END;
    }
    e->start_ns = prof__read_on_lines(device->lines, device->line_count, begin, &hint);
    e->end_ns = prof__read_on_lines(device->lines, device->line_count, end, &hint);
    if (e->start_ns >= 0) return 1;
    if (e->end_ns <= 0) return 0;
    e->start_ns = 0;
    e->flags |= PROF_TRUNCATED_BEGIN;
    return 1;
}

static int prof__happening_order(const void *a, const void *b)
{
    const prof__read_happening *x = (const prof__read_happening *)a, *y = (const prof__read_happening *)b;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    if (x->subrow != y->subrow) return x->subrow < y->subrow ? -1 : 1;
    if (x->start_ns != y->start_ns) return x->start_ns < y->start_ns ? -1 : 1;
    if (x->end_ns != y->end_ns) return x->end_ns > y->end_ns ? -1 : 1; /* what may be around the other first */
    if (x->depth != y->depth) return x->depth < y->depth ? -1 : 1;
    if (x->type != y->type) return x->type < y->type ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* The ends of the scopes that are open on a subrow. */
typedef struct prof__read_subrow {
    int64_t *ends;
    size_t depth, capacity;
} prof__read_subrow;

/* Puts a scope where it nests. 0 without memory. */
static int prof__device_nest(prof__read_subrow *subrows, prof__read_happening *e)
{
    prof__read_subrow *subrow = NULL;
    int scope = e->type == PROF__DEVICE_SCOPE, fits = 0;
    for (e->subrow = 0; !fits && e->subrow < PROF__DEVICE_SUBROWS; e->subrow += !fits) {
        subrow = &subrows[e->subrow];
        while (subrow->depth && subrow->ends[subrow->depth - 1] <= e->start_ns) subrow->depth--;
        fits = !scope || !subrow->depth || subrow->ends[subrow->depth - 1] >= e->end_ns;
    }
    if (!fits) { /* the last one has to do */
        e->subrow = PROF__DEVICE_SUBROWS - 1;
        e->end_ns = subrow->ends[subrow->depth - 1];
        e->flags |= PROF_TRUNCATED_END;
    }
    e->depth = (uint32_t)subrow->depth;
    if (!scope) return 1;
    if (!PROF__ROOM(subrow->ends, subrow->capacity, subrow->depth)) return 0;
    subrow->ends[subrow->depth++] = e->end_ns;
    return 1;
}

/* Of sorted events. Returns whether all fit on the first subrows; -1 without memory. */
static int prof__device_nest_all(prof_trace *trace)
{
    prof__read_subrow subrows[PROF__DEVICE_SUBROWS];
    size_t i, j;
    int result = 1;
    memset(subrows, 0, sizeof subrows);
    for (i = 0; result >= 0 && i < trace->happening_count; i++) {
        prof__read_happening *e = &trace->happenings[i];
        if (i && (e->device != e[-1].device || e->row != e[-1].row))
            for (j = 0; j < PROF__DEVICE_SUBROWS; j++) subrows[j].depth = 0;
        if (!prof__device_nest(subrows, e)) result = -1;
        if (result > 0 && e->subrow) result = 0;
    }
    for (j = 0; j < PROF__DEVICE_SUBROWS; j++) free(subrows[j].ends);
    return result;
}

/* Describes the track of the events from first to end, which are those of one subrow. 0 without memory. */
static int prof__device_track(prof_trace *trace, prof__read_track *track, size_t first, size_t end)
{
    const prof__read_happening *e = &trace->happenings[first];
    const prof__read_row *row = &trace->rows[e->row];
    const prof__read_device *device = &trace->devices[e->device];
    char number[24] = " #";
    char *name;
    memset(track, 0, sizeof *track);
    track->about.name = trace->names[row->name];
    track->about.device = trace->names[device->name];
    track->about.alignment = device->alignment;
    track->about.device_hz = device->pairs > 1 || device->hz ? device->rate : 0;
    track->about.pairs = device->pairs;
    track->about.pairs_refused = device->refused;
    track->about.early = row->early;
    track->about.id = trace->track_count ? track[-1].about.id + 1 : 1;
    if (e->subrow) {
        number[2 + prof__digits(number + 2, e->subrow + 1)] = 0;
        name = prof__text_join(track->about.name, number);
        if (!name || !PROF__ROOM(trace->texts, trace->text_capacity, trace->text_count)) {
            free(name);
            return 0;
        }
        track->about.name = trace->texts[trace->text_count++] = name;
    }
    first += !e->type;
    e += !e->type;
    track->happening = first;
    track->happening_count = end - first;
    track->about.event_count = end - first;
    if (first < end) track->about.first_ns = e->start_ns;
    for (; first < end; first++, e++) {
        track->about.event_count += e->flow != 0;
        if (e->end_ns > track->about.last_ns) track->about.last_ns = e->end_ns;
        if (e->arg_count > track->max_event_args) track->max_event_args = e->arg_count;
    }
    trace->info.event_count += track->about.event_count;
    if (track->about.last_ns > trace->info.duration_ns) trace->info.duration_ns = track->about.last_ns;
    trace->track_count++;
    return 1;
}

/* Whose each event is, and which one of a device was recorded first. */
static void prof__device_assign(prof_trace *trace)
{
    size_t i;
    for (i = 0; i < trace->happening_count; i++) {
        prof__read_happening *e = &trace->happenings[i];
        prof__read_device *device;
        e->row = prof__row_find(trace, e->row);
        e->device = trace->rows[e->row].device;
        device = &trace->devices[e->device];
        if (!device->first || e->tick < trace->happenings[device->first - 1].tick) device->first = i + 1;
    }
}

/* Adds the tracks of devices behind those of threads. 0 without memory. */
static int prof__device_tracks(prof_trace *trace)
{
    prof__read_track *tracks;
    size_t i, from, kept = 0, count = 0, hint = 0;
    int nested;
    if (!trace->happening_count) return 1;
    if (!prof__device_meta(trace)) return 0;
    prof__device_assign(trace);
    if (!prof__device_clocks(trace)) return 0;
    for (i = 0; i < trace->happening_count; i++) {
        prof__read_happening e = trace->happenings[i];
        if (!prof__device_place(trace, &e, &hint)) {
            if (trace->rows[e.row].early++) continue;
            e.type = 0; /* one stands for them all, so that the row has a track that tells of them */
            e.start_ns = e.end_ns = -1;
        }
        trace->happenings[kept++] = e;
    }
    trace->happening_count = kept;
    qsort(trace->happenings, kept, sizeof *trace->happenings, prof__happening_order);
    nested = prof__device_nest_all(trace);
    if (nested < 0) return 0;
    if (!nested) qsort(trace->happenings, kept, sizeof *trace->happenings, prof__happening_order);
#define PROF__SAME_TRACK(a, b) ((a).device == (b).device && (a).row == (b).row && (a).subrow == (b).subrow)
    for (i = 0; i < kept; i++) count += !i || !PROF__SAME_TRACK(trace->happenings[i], trace->happenings[i - 1]);
    tracks = (prof__read_track *)realloc(trace->tracks, (trace->track_count + count + 1) * sizeof *tracks);
    if (!tracks) return 0;
    trace->tracks = tracks;
    for (from = 0, i = 1; i <= kept; i++) {
        if (i < kept && PROF__SAME_TRACK(trace->happenings[i], trace->happenings[i - 1])) continue;
        if (!prof__device_track(trace, &trace->tracks[trace->track_count], from, i)) return 0;
        from = i;
    }
    return 1;
}

/*-- opening --*/

static void prof__read_free(prof_trace *trace)
{
    size_t i;
    for (i = 0; i < trace->text_count; i++) free(trace->texts[i]);
    free(trace->texts);
    prof__upstairs.folded_figures_free(trace->folded, trace->folded_count);
    free(trace->image);
    if (trace->file) fclose(trace->file);
    free(trace->chunks);
    free(trace->sequences.slots);
    prof__read_buffer_free(&trace->buffer);
    free(trace->pairs);
    free((void *)trace->names);
    free(trace->name_index.slots);
    free(trace->strings);
    free(trace->metadata);
    free(trace->metadata_index.slots);
    free(trace->sites);
    free(trace->site_index.slots);
    free(trace->site_ids);
    free(trace->unknown);
    prof__symbols_free(&trace->symbols);
    free(trace->unknown_index.slots);
    free(trace->segments);
    free(trace->tracks);
    free(trace->crossings);
    free(trace->orphans);
    free(trace->exceptions);
    free(trace->late_begins);
    free(trace->late_ends);
    free(trace->links);
    free(trace->kept);
    free(trace->lines);
    for (i = 0; i < trace->device_count; i++) free(trace->devices[i].lines);
    free(trace->devices);
    free(trace->happenings);
    free(trace->rows);
    free(trace->pairings);
    free(trace);
}

/* Checks the beginning of an image. size: the bytes of the whole. */
static prof_status prof__read_header(const void *image, uint64_t size, const char *what, prof__header *header)
{
    uint32_t order;
    uint64_t chunks;
    if (size < sizeof *header || memcmp(image, PROF__MAGIC, 8)) {
        if (size >= 8 && !memcmp(image, PROF__MAGIC, 8))
            return prof__fail(PROF_CORRUPT, "%s: truncated: only %lu bytes of a prof image are left", what,
                              (unsigned long)size);
        return prof__fail(PROF_CORRUPT, "%s: not a prof image (%s)", what, size ? "bad magic" : "empty");
    }
    memcpy(header, image, sizeof *header);
    header->program[sizeof header->program - 1] = 0;
    header->clock_name[sizeof header->clock_name - 1] = 0;
    header->write_error[sizeof header->write_error - 1] = 0;
    header->boot_id[sizeof header->boot_id - 1] = 0;
    order = header->byte_order;
    if (order == 0x04030201u)
        return prof__fail(PROF_UNSUPPORTED, "%s: recorded on a machine of the other byte order; read it there", what);
    if (order != PROF__BYTE_ORDER) return prof__fail(PROF_CORRUPT, "%s: damaged header (byte order)", what);
    if (header->version > PROF__IMAGE_VERSION)
        return prof__fail(PROF_UNSUPPORTED, "%s: image version %lu is newer than this reader's %d; use a newer prof.h",
                          what, (unsigned long)header->version, PROF__IMAGE_VERSION);
    if (header->version && header->version < PROF__IMAGE_VERSION)
        return prof__fail(PROF_UNSUPPORTED,
                          "%s: image version %lu is older than this reader's %d; use the prof.h of then", what,
                          (unsigned long)header->version, PROF__IMAGE_VERSION);
    if (!header->version || header->header_size < PROF__HEADER_LEAST || header->header_size % 8 ||
        header->header_size > header->image_size)
        return prof__fail(PROF_CORRUPT, "%s: damaged header (version or size)", what);
    if (header->header_size < sizeof *header) /* what it has not is 0 */
        memset((char *)header + header->header_size, 0, sizeof *header - header->header_size);
    if (header->image_size > size)
        return prof__fail(PROF_CORRUPT, "%s: truncated: %lu of %lu bytes are left", what, (unsigned long)size,
                          (unsigned long)header->image_size);
    if (header->meta_offset % 8 || header->meta_size % 8 || header->meta_offset < header->header_size ||
        header->meta_offset > header->image_size || header->meta_size > header->image_size - header->meta_offset)
        return prof__fail(PROF_CORRUPT, "%s: damaged header (meta lies outside the image)", what);
    if (header->chunk_header_size < sizeof(prof__chunk) || header->chunk_header_size % 8 || header->chunk_size % 8 ||
        header->chunk_size <= header->chunk_header_size || header->chunk_size > PROF__CHUNK_MOST)
        return prof__fail(PROF_CORRUPT, "%s: damaged header (chunk size)", what);
    if (header->chunk_offset % 8 || header->chunk_offset < header->header_size ||
        header->chunk_offset > header->image_size || header->chunk_count >= PROF__NONE32 ||
        header->chunk_count > (header->image_size - header->chunk_offset) / header->chunk_size)
        return prof__fail(PROF_CORRUPT, "%s: damaged header (chunks lie outside the image)", what);
    chunks = header->chunk_count * header->chunk_size;
    if (chunks && header->meta_size && header->meta_offset < header->chunk_offset + chunks &&
        header->chunk_offset < header->meta_offset + header->meta_size)
        return prof__fail(PROF_CORRUPT, "%s: damaged header (meta and chunks overlap)", what);
    if (header->archive_offset &&
        (header->archive_offset % 8 || header->archive_first % 8 || header->archive_next % 8 ||
         header->archive_offset < header->image_size || header->archive_first < header->archive_offset ||
         header->archive_next < header->archive_offset ||
         (header->archive_limit && (header->archive_first > header->archive_limit ||
                                    header->archive_next > header->archive_limit))))
        return prof__fail(PROF_CORRUPT, "%s: damaged header (archive)", what);
    return PROF_OK;
}

/* After the clock is known. */
static void prof__read_about(prof_trace *trace)
{
    const prof__header *header = &trace->header;
    prof_trace_info *info = &trace->info;
    double ns_per_tick = 1e9 / (info->tick_hz ? (double)info->tick_hz : 1e9);
    info->program = header->program;
    info->clock = header->clock_name;
    info->pid = header->pid;
    info->parent_pid = header->parent_pid;
    info->start_unix_ns = header->first.unix_ns;
    info->start_monotonic_ns = header->first.monotonic_ns;
    info->boot_id = header->boot_id;
    info->lost += header->lost;
    info->overwritten_chunks = header->overwritten;
    info->sites_lost = header->sites_lost;
    info->write_failures = header->write_failures;
    info->write_error = header->write_error;
    info->buffer_size = header->chunk_count * header->chunk_size;
    info->chunk_size = header->chunk_size;
    info->mode = header->mode <= PROF_RING_STATS ? (prof_mode)header->mode : PROF_RING;
    info->complete = header->state == PROF__STOPPED;
    info->clock_resolution_ns = (double)header->resolution_ticks * ns_per_tick;
    info->scope_cost_ns = (double)header->cost_ticks_x1000 * ns_per_tick / 1000;
    info->call_cost_ns = (double)header->call_x1000 * ns_per_tick / 1000;
    info->taken_back += header->taken_back;
}

/* The window of the image, and its newest moment. */
static void prof__read_window(prof_trace *trace)
{
    const prof__header *header = &trace->header;
    size_t hint = 0;
    trace->newest_ns = prof__read_ns(trace, header->last.tick, &hint);
    if (header->window_from) trace->info.from_ns = prof__read_ns(trace, header->window_from, &hint);
    if (header->window_to > header->window_from) trace->info.to_ns = prof__read_ns(trace, header->window_to, &hint);
    if (trace->info.to_ns <= trace->info.from_ns) trace->info.to_ns = 0;
}

/* All steps; 0 without memory. */
static int prof__read_parse(prof_trace *trace)
{
    const prof__header *header = &trace->header;
    prof__pair now;
    int running;
    trace->chunk_words = (header->chunk_size - header->chunk_header_size) / 8;
    trace->word_bits = 16;
    while (trace->chunk_words >> trace->word_bits) trace->word_bits++;
    running = header->state != PROF__STOPPED && prof__pair_now(header->clock, header->boot_id, &now);
    if (!prof__read_meta(trace) || !prof__read_chunks(trace) || !prof__read_clock(trace, running ? &now : NULL))
        return 0;
    prof__read_about(trace);
    prof__read_window(trace);
    if (!prof__read_tracks(trace) || !prof__device_tracks(trace)) return 0;
    if (trace->newest_ns < trace->info.duration_ns) trace->newest_ns = trace->info.duration_ns;
    return 1;
}

/* The same of any stream, by one thread. */
static int prof__read_at(FILE *file, uint64_t offset, void *to, size_t size)
{
#ifdef _WIN32
    if (_fseeki64(file, (long long)offset, SEEK_SET)) return 0;
#else
    if (offset > (uint64_t)LONG_MAX || fseek(file, (long)offset, SEEK_SET)) return 0;
#endif
    return fread(to, 1, size, file) == size;
}

/* Reads an image on the heap, with its archive in file or, if that is null, behind the image, up to size. The trace
   becomes the owner of both, also when this fails. what: its name in errors. */
static prof_status prof__read_image(void *image, size_t size, FILE *file, const char *what, prof_trace **out)
{
    prof_trace *trace = NULL;
    prof__header header;
    prof_status status = prof__read_header(image, size, what, &header);
    if (file && (status != PROF_OK || header.archive_first == header.archive_next)) {
        fclose(file);
        file = NULL;
    }
    if (status == PROF_OK) {
        trace = (prof_trace *)calloc(1, sizeof *trace);
        if (trace) {
            trace->image = (uint64_t *)image;
            trace->header = header;
            trace->file = file;
            trace->size = size;
            if (file && !prof__read_size(file, &trace->size)) trace->size = 0;
            if (prof__read_parse(trace)) {
                *out = trace;
                return PROF_OK;
            }
        }
        status = prof__fail(PROF_NO_MEMORY, "%s: no memory to read it (%lu bytes, and up to as much again for tables)",
                            what, (unsigned long)size);
    }
    if (trace) {
        prof_trace_close(trace);
    } else {
        free(image);
        if (file) fclose(file);
    }
    return status;
}

static int prof__source_file(void *file, uint64_t offset, void *to, size_t size)
{
    return prof__read_at((FILE *)file, offset, to, size);
}

/* Reads the image that begins with header: first the chunks, then the rest, so that meta knows each call site that
   the chunks name, and the header's newest clock pair is the newest. */
static int prof__read_all(FILE *file, const prof__header *header, unsigned char *image)
{
    uint64_t end = header->chunk_offset + header->chunk_count * header->chunk_size;
    if (header->state == PROF__STOPPED) return prof__read_at(file, 0, image, (size_t)header->image_size);
    prof__source source;
    source.read = prof__source_file;
    source.user = file;
    uint64_t newest = 0, tick = 0;
    prof__pair now = {0, 0, 0, 0};
    int here = prof__pair_now(header->clock, header->boot_id, &now);
    if (!prof__chunks_snapshot(&source, header, (char *)image, &newest, &tick) ||
        !prof__read_at(file, end, image + end, (size_t)(header->image_size - end)) ||
        !prof__read_at(file, 0, image, (size_t)header->chunk_offset))
        return 0;
    prof__header *copy = (prof__header *)(void *)image;
    copy->next_chunk = newest;
    if (here && !copy->copy_tick) copy->copy_tick = tick;
    return 1;
}

static prof_status prof__read_file(FILE *file, const char *path, unsigned char **image, uint64_t *size)
{
    prof__header header, again;
    prof_status status;
    size_t part;
    errno = 0;
    memset(&header, 0, sizeof header);
    part = prof__read_size(file, size) && *size < sizeof header ? (size_t)*size : sizeof header;
    if (errno || (part && !prof__read_at(file, 0, &header, part)))
        return prof__fail(PROF_IO, "cannot read %s: %s", path, errno ? strerror(errno) : "read error");
    again = header;
    status = prof__read_header(&again, *size, path, &header);
    if (status != PROF_OK) return status;
    *size = header.image_size;
    *image = *size < (size_t)-1 ? (unsigned char *)calloc((size_t)*size, 1) : NULL;
    if (!*image) return prof__fail(PROF_NO_MEMORY, "%s: no memory for its %lu bytes", path, (unsigned long)*size);
    if (!prof__read_all(file, &header, *image))
        return prof__fail(PROF_IO, "cannot read %s: %s", path, errno ? strerror(errno) : "it became shorter");
    memcpy(&again, *image, sizeof again);
    if (again.session != header.session || again.pid != header.pid)
        return prof__fail(PROF_IO, "%s: a new session began in it while it was being read; read it again", path);
    return PROF_OK;
}

PROF_DEF prof_status prof_trace_open(const char *path, prof_trace **trace)
{
    unsigned char *image = NULL;
    uint64_t size = 0;
    prof_status status;
    FILE *file;
    if (!trace) return prof__fail(PROF_INVALID_ARGUMENT, "prof_trace_open: trace is null");
    *trace = NULL;
    if (!path) return prof__fail(PROF_INVALID_ARGUMENT, "prof_trace_open: path is null");
    file = fopen(path, "rb");
    if (!file) return prof__fail(PROF_IO, "cannot open %s: %s", path, strerror(errno));
    setvbuf(file, NULL, _IONBF, 0); /* what is read must be what is there now */
    status = prof__read_file(file, path, &image, &size);
    if (status == PROF_OK) return prof__read_image(image, (size_t)size, file, path, trace);
    fclose(file);
    free(image);
    return status;
}

PROF_DEF prof_status prof_trace_memory(const void *image, size_t size, prof_trace **trace)
{
    prof__header header;
    prof_status status;
    void *copy;
    if (!trace) return prof__fail(PROF_INVALID_ARGUMENT, "prof_trace_memory: trace is null");
    *trace = NULL;
    if (!image) return prof__fail(PROF_INVALID_ARGUMENT, "prof_trace_memory: image is null");
    status = prof__read_header(image, size, "image", &header);
    if (status != PROF_OK) return status;
    if (!header.archive_offset) size = (size_t)header.image_size;
    copy = malloc(size);
    if (!copy) return prof__fail(PROF_NO_MEMORY, "image: no memory to copy %lu bytes", (unsigned long)size);
    memcpy(copy, image, size);
    return prof__read_image(copy, size, NULL, "image", trace);
}

/* What a session in PROF_STATS has instead of events. */
typedef struct prof__folded {
    uint32_t session; /* 0: another mode */
    struct prof__figure *figures;
    uint32_t *sites;  /* call site ids */
    char **texts;     /* run-time names, or null */
    size_t count;
    uint64_t events, open, lost, unmatched, newest;
    uint64_t begins_missing, ends_missing; /* of spans */
    prof__uses uses;
} prof__folded;

/* reset: PROF_STATS begins anew after that. */
static prof_status prof__trace_live(prof_trace **trace, int reset)
{
    void *image = NULL;
    size_t size = 0;
    prof_status status;
    *trace = NULL;
    prof__folded folded;
    status = prof__upstairs.folded_take(&folded, reset);
    if (status == PROF_OK) status = prof__image_copy(&image, &size);
    if (status == PROF_OK) {
        FILE *archive = prof__archive_open((const prof__header *)image);
        status = prof__read_image(image, size, archive, "this program's trace", trace);
    }
    if (status == PROF_OK && folded.session) {
        status = prof__upstairs.folded_give(&folded, *trace);
        if (status != PROF_OK) {
            prof_trace_close(*trace);
            *trace = NULL;
        }
    }
    prof__upstairs.folded_free(&folded);
    return status;
}

PROF_DEF prof_status prof_trace_live(prof_trace **trace)
{
    PROF__LED(prof_trace_live, (trace));
    if (!trace) return prof__fail(PROF_INVALID_ARGUMENT, "prof_trace_live: trace is null");
    return prof__trace_live(trace, 0);
}

PROF_DEF void prof_trace_close(prof_trace *trace)
{
    if (trace) prof__read_free(trace);
}

/* Writes what is recorded, as it is now. */
static prof_status prof__live_write(const char *path, prof_status (*write)(const prof_trace *, const char *))
{
    prof_trace *trace = NULL;
    prof_status status = prof_trace_live(&trace);
    if (!status) status = write(trace, path);
    prof_trace_close(trace);
    return status;
}

PROF_DEF prof_status prof_trace_write(const prof_trace *trace, const char *path, const char *extension)
{
    PROF__LED(prof_trace_write, (trace, path, extension));
    prof_status (*write)(const prof_trace *, const char *);
    prof_status status;
    if (!trace || !path) return prof__fail(PROF_INVALID_ARGUMENT, "prof_trace_write: trace or path is null");
    status = prof__writer_find(extension ? extension : path, &write);
    if (!status && !write)
        status = prof__fail(PROF_INVALID_ARGUMENT, "%s: a trace cannot be made an image again", path);
    if (!status) status = prof__writer_fits(path, write, (uint32_t)prof_trace_about(trace)->mode);
    return status ? status : write(trace, path);
}

PROF_DEF void prof_trace_watch(prof_trace *trace, void (*step)(void *user, double share), void *user)
{
    if (!trace) return;
    trace->step = step;
    trace->step_user = user;
}

/* Of the traces of the same machine start the one that began first: their monotonic clock aligns all with it. */
static size_t prof__align_anchor(const prof_trace *const *traces, size_t count, size_t one)
{
    const prof__header *h = &traces[one]->header;
    size_t anchor = one, i;
    for (i = count; i-- && h->boot_id[0];)
        if (!strcmp(traces[i]->header.boot_id, h->boot_id) &&
            traces[i]->header.first.monotonic_ns <= traces[anchor]->header.first.monotonic_ns)
            anchor = i;
    return anchor;
}

PROF_DEF size_t prof_trace_align(const prof_trace *const *traces, size_t count, int64_t *offsets)
{
    uint64_t earliest = 0;
    size_t groups = 0, i;
    for (i = 0; i < count; i++) {
        const prof__header *h = &traces[i]->header;
        size_t anchor = prof__align_anchor(traces, count, i);
        uint64_t start = traces[anchor]->header.first.unix_ns, since;
        since = h->first.monotonic_ns - traces[anchor]->header.first.monotonic_ns;
        offsets[i] = since < (uint64_t)PROF__FAR_NS ? (int64_t)since : PROF__FAR_NS;
        if (!i || start < earliest) earliest = start;
        groups += anchor == i;
    }
    for (i = 0; i < count; i++) {
        uint64_t later = traces[prof__align_anchor(traces, count, i)]->header.first.unix_ns - earliest;
        offsets[i] = later < (uint64_t)(PROF__FAR_NS - offsets[i]) ? offsets[i] + (int64_t)later : PROF__FAR_NS;
    }
    return groups;
}

/*-- images inside other files --*/

PROF_DEF prof_status prof_image_find(const void *bytes, size_t size, uint64_t *image_size)
{
    prof__header header;
    prof_status status;
    uint64_t end;
    if (!bytes || !image_size) return prof__fail(PROF_INVALID_ARGUMENT, "prof_image_find: bytes or image_size is null");
    *image_size = 0;
    if (size < sizeof header) return prof__fail(PROF_CORRUPT, "image: only %lu bytes are left", (unsigned long)size);
    status = prof__read_header(bytes, ~(uint64_t)0, "image", &header);
    if (status != PROF_OK) return status;
    end = header.archive_first > header.archive_next ? header.archive_limit : header.archive_next;
    *image_size = header.archive_offset && end > header.image_size ? end : header.image_size;
    return PROF_OK;
}

PROF_DEF prof_status prof_image_shorten(void *bytes, uint64_t left, uint64_t *image_size)
{
    prof__header header;
    uint64_t size = 0, chunks, used;
    prof_status status = prof_image_find(bytes, PROF_IMAGE_LOOK, &size);
    if (status != PROF_OK) return status;
    memcpy(&header, bytes, sizeof header);
    *image_size = left < size ? left : size;
    if (left >= header.image_size) return PROF_OK; /* readers find out which blocks of the archive are there */
    chunks = left > header.chunk_offset ? (left - header.chunk_offset) / header.chunk_size : 0;
    if (!chunks || left < header.meta_offset + header.meta_size)
        return prof__fail(PROF_CORRUPT, "image: what is left of it holds nothing recorded");
    used = header.next_chunk < header.chunk_count ? header.next_chunk : header.chunk_count;
    if (used > chunks) { /* not whole */
        header.overwritten += used - chunks;
        header.state = PROF__RUNNING;
    }
    header.chunk_count = chunks;
    header.image_size = *image_size = left / 8 * 8;
    header.archive_offset = header.archive_limit = header.archive_first = header.archive_next = 0;
    memcpy(bytes, &header, sizeof header);
    return PROF_OK;
}

/* The first tick that is not before a time. */
static uint64_t prof__image_tick(const prof_trace *trace, int64_t ns)
{
    uint64_t low = 0, high = ~(uint64_t)0;
    size_t hint = 0;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (prof__read_ns(trace, middle, &hint) < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The trace is of the same session, and is used up. */
static prof_status prof__image_set_window(void *bytes, prof_trace *trace, int64_t from_ns, int64_t to_ns)
{
    prof__header header;
    prof_status status = prof_trace_window(trace, from_ns, to_ns);
    if (status == PROF_OK) {
        memcpy(&header, bytes, sizeof header);
        header.window_from = from_ns ? prof__image_tick(trace, from_ns) : 0;
        header.window_to = to_ns ? prof__image_tick(trace, to_ns) : 0;
        memcpy(bytes, &header, sizeof header);
    }
    prof_trace_close(trace);
    return status;
}

PROF_DEF prof_status prof_image_window(void *bytes, size_t size, int64_t from_ns, int64_t to_ns)
{
    prof_trace *trace = NULL;
    prof_status status = prof_trace_memory(bytes, size, &trace);
    return status == PROF_OK ? prof__image_set_window(bytes, trace, from_ns, to_ns) : status;
}

PROF_DEF prof_status prof_image_copy(const char *from, const char *to, int64_t from_ns, int64_t to_ns)
{
    unsigned char *image = NULL;
    uint64_t size = 0;
    prof_trace *trace = NULL;
    prof_status status;
    prof__out out;
    FILE *file;
    if (!from) return prof__fail(PROF_INVALID_ARGUMENT, "prof_image_copy: from is null");
    file = fopen(from, "rb");
    if (!file) return prof__fail(PROF_IO, "cannot open %s: %s", from, strerror(errno));
    setvbuf(file, NULL, _IONBF, 0); /* what is read must be what is there now */
    status = prof__read_file(file, from, &image, &size);
    if (status == PROF_OK && from_ns != -1) {
        status = prof_trace_open(from, &trace);
        if (status == PROF_OK) status = prof__image_set_window(image, trace, from_ns, to_ns);
    }
    if (status == PROF_OK) status = prof__out_file(&out, to);
    if (status == PROF_OK) {
        prof__out_image(&out, image, (size_t)size, file);
        status = prof__out_close(&out);
    }
    fclose(file);
    free(image);
    return status;
}

PROF_DEF const prof_trace_info *prof_trace_about(const prof_trace *trace)
{
    return trace ? &trace->info : NULL;
}

PROF_DEF size_t prof_trace_track_count(const prof_trace *trace)
{
    return trace ? trace->track_count : 0;
}

PROF_DEF const prof_track *prof_trace_track(const prof_trace *trace, size_t index)
{
    return trace && index < trace->track_count ? &trace->tracks[index].about : NULL;
}

/*-- messages --
   A format comes from an image, and is never given to printf: each conversion is parsed, its value is looked at, and a
   conversion of our own shows it. What does not fit together is said in parentheses. */

#define PROF__LOG_ROOM ((size_t)8192) /* bytes of a message; a longer one is cut */
#define PROF__LOG_WIDE 500            /* of a width or precision */

typedef struct prof__log_text {
    char *to;
    size_t at;
    int cut;
} prof__log_text;

static void prof__log_put(prof__log_text *text, const char *bytes, size_t count)
{
    size_t room = PROF__LOG_ROOM - 1 - text->at;
    if (text->cut) return;
    if (count > room) {
        text->cut = 1;
        for (count = room; count && ((unsigned char)bytes[count] & 0xC0) == 0x80;) count--;
    }
    memcpy(text->to + text->at, bytes, count);
    text->at += count;
}

static void prof__log_fill(prof__log_text *text, int count)
{
    for (; count > 0; count--) prof__log_put(text, " ", 1);
}

static void prof__log_padded(prof__log_text *text, const prof__log_spec *spec, const char *bytes, size_t count)
{
    int space = (size_t)(spec->width > 0 ? spec->width : 0) > count ? spec->width - (int)count : 0;
    int left = strchr(spec->flags, '-') != NULL;
    if (!left) prof__log_fill(text, space);
    prof__log_put(text, bytes, count);
    if (left) prof__log_fill(text, space);
}

/* "(%5d is missing)". from: the % of the conversion, at: behind it. */
static void prof__log_say(prof__log_text *text, const char *from, const char *at, const char *what)
{
    prof__log_put(text, "(", 1);
    prof__log_put(text, from, (size_t)(at - from) < 20 ? (size_t)(at - from) : 20);
    prof__log_put(text, " ", 1);
    prof__log_put(text, what, strlen(what));
    prof__log_put(text, ")", 1);
}

/* 1: a value of that type is what the conversion wants. */
static int prof__log_fits(const prof__log_spec *spec, prof_value_type type)
{
    if (spec->code >= PROF__LOG_TEXT) return type == PROF_VALUE_STRING;
    if (spec->code == PROF__LOG_POINTER) return type == PROF_VALUE_POINTER;
    if (spec->code >= PROF__LOG_DOUBLE) return type == PROF_VALUE_DOUBLE;
    return type == PROF_VALUE_INT || type == PROF_VALUE_UINT;
}

/* Width and precision are within limits, so that all of it fits. Any locale's decimal point becomes a point. */
static void prof__log_float(prof__log_text *text, const prof__log_spec *spec, double value)
{
    char format[16], digits[PROF__LOG_WIDE * 2 + 400];
    size_t from, at = 0;
    snprintf(format, sizeof format, "%%%s*.*%c", spec->flags, spec->conversion);
    snprintf(digits, sizeof digits, format, spec->width > 0 ? spec->width : 0, spec->precision, value);
    for (from = 0; digits[from]; from++) {
        int separator = digits[from] == ',' || (unsigned char)digits[from] >= 0x80;
        if (!separator)
            digits[at++] = digits[from];
        else if (at && digits[at - 1] != '.')
            digits[at++] = '.';
    }
    prof__log_put(text, digits, at);
}

static void prof__log_integer_text(prof__log_text *text, const prof__log_spec *spec, const prof_value *value)
{
    char format[16], digits[PROF__LOG_WIDE * 2 + 100];
    int width = spec->width > 0 ? spec->width : 0;
    snprintf(format, sizeof format, "%%%s*.*ll%c", spec->flags, spec->conversion);
    if (spec->conversion == 'd' || spec->conversion == 'i')
        snprintf(digits, sizeof digits, format, width, spec->precision, (long long)value->as.i);
    else
        snprintf(digits, sizeof digits, format, width, spec->precision, (unsigned long long)value->as.u);
    prof__log_put(text, digits, strlen(digits));
}

static void prof__log_show(prof__log_text *text, const prof__log_spec *spec, const prof_value *value)
{
    char piece[24];
    size_t length = 0;
    switch (spec->code) {
    case PROF__LOG_TEXT:
    case PROF__LOG_TEXT_STAR:
    case PROF__LOG_TEXT_PART:
        while (value->as.string[length] && (spec->precision < 0 || length < (size_t)spec->precision)) length++;
        if (value->cut && !value->as.string[length]) {
            prof__log_put(text, value->as.string, length);
            prof__log_put(text, "...", 3);
        } else {
            prof__log_padded(text, spec, value->as.string, length);
        }
        break;
    case PROF__LOG_POINTER:
        snprintf(piece, sizeof piece, "0x%llx", (unsigned long long)value->as.u);
        prof__log_padded(text, spec, piece, strlen(piece));
        break;
    case PROF__LOG_DOUBLE:
    case PROF__LOG_LONG_DOUBLE: prof__log_float(text, spec, value->as.d); break;
    default:
        if (spec->conversion == 'c') {
            piece[0] = (char)value->as.i;
            prof__log_padded(text, spec, piece, piece[0] != 0); /* a text cannot have a zero */
        } else {
            prof__log_integer_text(text, spec, value);
        }
        break;
    }
}

/* A width or precision, out of the values if it is a star. 0: there is none where there should be one. */
static int prof__log_star(const prof_event *event, uint32_t *next, int *number)
{
    int64_t value = *number;
    if (*number == PROF__LOG_STAR) {
        if (*next >= event->arg_count || event->args[*next].value.type != PROF_VALUE_INT) return 0;
        value = event->args[(*next)++].value.as.i;
        if (value < -PROF__LOG_WIDE) value = -PROF__LOG_WIDE;
    }
    *number = value > PROF__LOG_WIDE ? PROF__LOG_WIDE : (int)value;
    return 1;
}

/* One conversion, which has been parsed. */
static void prof__log_convert(prof__log_text *text, prof__log_spec *spec, const char *from, const char *at,
                              const prof_event *event, uint32_t *next)
{
    /* a text's precision is the writer's affair, up to what it kept */
    const int unlimited = spec->code >= PROF__LOG_TEXT;
    int precision = spec->precision;
    if (!prof__log_star(event, next, &spec->width) || !prof__log_star(event, next, &spec->precision)) {
        prof__log_say(text, from, at, "is missing");
        return;
    }
    if (unlimited && precision > PROF__LOG_WIDE) spec->precision = precision;
    if (unlimited && precision == PROF__LOG_STAR && spec->precision == PROF__LOG_WIDE)
        spec->precision = PROF__LOG_OMITTED;
    if (spec->width < 0 && spec->width != PROF__LOG_OMITTED) {
        spec->width = -spec->width;
        if (!strchr(spec->flags, '-')) {
            spec->flags[strlen(spec->flags) + 1] = 0;
            spec->flags[strlen(spec->flags)] = '-';
        }
    }
    if (spec->precision < 0) spec->precision = PROF__LOG_OMITTED;
    if (!spec->supported) {
        prof__log_say(text, from, at, "is not supported");
        *next += spec->code != PROF__LOG_NONE;
    } else if (spec->conversion == '%') {
        prof__log_put(text, "%", 1);
    } else if (*next >= event->arg_count) {
        prof__log_say(text, from, at, "is missing");
    } else if (!prof__log_fits(spec, event->args[*next].value.type)) {
        prof__log_say(text, from, at, "has a value of another type");
        ++*next;
    } else {
        prof__log_show(text, spec, &event->args[(*next)++].value);
    }
}

/* Gives a message its text; room: PROF__LOG_ROOM bytes. */
static void prof__log_format_event(prof_event *event, char *room)
{
    const char *at = event->site->name;
    prof__log_text text;
    uint32_t next = 0;
    text.to = room;
    text.at = 0;
    text.cut = 0;
    while (*at && !text.cut) {
        size_t plain = strcspn(at, "%");
        const char *from = at + plain;
        prof__log_spec spec;
        prof__log_put(&text, at, plain);
        if (!*from) break;
        at = prof__log_parse(from + 1, &spec);
        if (!at) { /* nothing behind it can be told */
            prof__log_put(&text, from, strlen(from));
            break;
        }
        prof__log_convert(&text, &spec, from, at, event, &next);
    }
    text.to[text.at] = 0;
    event->value.type = PROF_VALUE_STRING;
    event->value.as.string = text.to;
    event->value.cut = text.cut;
}

/* debug, info ... of a LOG event's detail. */
static const char *prof__severity_text(uint64_t severity)
{
    static const char *const names[] = {"debug", "info", "warning", "error", "fatal"};
    return severity <= PROF_LOG_FATAL ? names[severity] : "unknown";
}

/*-- cursors --*/

typedef struct prof__read_node { /* an event of the loaded segment */
    int64_t start_ns, end_ns;
    size_t link;       /* arguments in later segments */
    uint32_t kind, word;
    uint32_t name;     /* word of its NAME record, 0: none */
    uint32_t depth, flags;
    uint32_t arg, last_arg; /* numbers of its arguments in this segment, from 1; 0: none */
} prof__read_node;

typedef struct prof__read_argument {
    uint32_t word, next;
} prof__read_argument;

typedef struct prof__read_frame {
    uint32_t name;
    int64_t ns; /* of the newest boundary */
} prof__read_frame;

struct prof_cursor {
    const prof_trace *trace;
    const prof__read_track *track;
    size_t orphan;   /* yielded so far */
    size_t segment;  /* loaded so far */
    size_t crossing, exception, late_begin, late_end; /* used so far */
    prof__read_buffer buffer;
    const uint64_t *words; /* of the chunk of the loaded segment */
    size_t node, node_count, arg_count;
    prof__read_node *nodes;
    prof__read_argument *segment_args;
    uint32_t *stack; /* open scopes: number of the node, from 1; 0: began before this segment; and PROF__LATE_BIT */
    size_t depth, crossed, hidden; /* hidden: of them those that overlap, and are given as spans */
    prof_arg *args;
    prof__read_frame *frames;
    size_t frame_count;
    prof__read_index frame_index;
    size_t happening; /* of a device: yielded so far */
    size_t flow;      /* 1: the last one has a flow, which comes next */
    char *message;    /* text of the last message; null before the first */
    uint64_t tick;
    size_t hint;
    int windowed;
    int64_t from_ns, to_ns; /* to_ns is beyond everything if the window has no end */
};

PROF_DEF prof_status prof_cursor_open(const prof_trace *trace, size_t track, prof_cursor **cursor)
{
    const prof__read_track *about;
    prof_cursor *c;
    int archived = 1;
    if (!trace || !cursor) return prof__fail(PROF_INVALID_ARGUMENT, "prof_cursor_open: trace or cursor is null");
    *cursor = NULL;
    if (track >= trace->track_count)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_cursor_open: there is no track %lu, only %lu",
                          (unsigned long)track, (unsigned long)trace->track_count);
    about = &trace->tracks[track];
    c = (prof_cursor *)calloc(1, sizeof *c);
    if (c) {
        c->trace = trace;
        c->track = about;
        c->nodes = (prof__read_node *)calloc(about->max_nodes + 1, sizeof *c->nodes);
        c->segment_args = (prof__read_argument *)calloc(about->max_args + 1, sizeof *c->segment_args);
        c->stack = (uint32_t *)calloc(about->max_depth + 1, sizeof *c->stack);
        c->args = (prof_arg *)calloc(about->max_event_args + 1, sizeof *c->args);
        c->frames = (prof__read_frame *)calloc(about->frames + 1, sizeof *c->frames);
        c->windowed = trace->info.from_ns || trace->info.to_ns;
        c->from_ns = trace->info.from_ns;
        c->to_ns = trace->info.to_ns ? trace->info.to_ns : INT64_MAX;
        c->depth = c->crossed = about->orphan_count;
        c->crossing = about->crossing;
        c->exception = about->exception;
        c->late_begin = c->late_end = about->late;
        c->tick = about->tick;
        if (trace->file || trace->size > trace->header.image_size) archived = prof__read_buffer_make(trace, &c->buffer);
    }
    if (!c || !c->nodes || !c->segment_args || !c->stack || !c->args || !c->frames || !archived ||
        (about->frames && !prof__read_reserve(&c->frame_index, about->frames))) {
        prof_cursor_close(c);
        return prof__fail(PROF_NO_MEMORY, "no memory to read track %lu", (unsigned long)track);
    }
    *cursor = c;
    return PROF_OK;
}

PROF_DEF void prof_cursor_close(prof_cursor *cursor)
{
    if (!cursor) return;
    free(cursor->nodes);
    free(cursor->segment_args);
    free(cursor->stack);
    free(cursor->args);
    free(cursor->frames);
    free(cursor->message);
    free(cursor->frame_index.slots);
    prof__read_buffer_free(&cursor->buffer);
    free(cursor);
}

static prof__read_node *prof__read_add_node(prof_cursor *c, unsigned kind, size_t word)
{
    prof__read_node *node = &c->nodes[c->node_count++];
    memset(node, 0, sizeof *node);
    node->kind = kind;
    node->word = (uint32_t)word;
    node->link = PROF__NONE;
    node->depth = (uint32_t)(c->depth - c->hidden);
    node->start_ns = node->end_ns = prof__read_ns(c->trace, c->tick, &c->hint);
    return node;
}

/* An END closes scopes, as the matcher found out; all but the last had no end of their own. */
static void prof__read_close(prof_cursor *c, uint32_t closes)
{
    int64_t ns = prof__read_ns(c->trace, c->tick, &c->hint);
    for (; closes; closes--) {
        uint32_t number = c->stack[--c->depth];
        c->hidden -= number >> 31;
        if (!(number & ~PROF__LATE_BIT)) continue;
        number &= ~PROF__LATE_BIT;
        c->nodes[number - 1].end_ns = ns;
        if (closes > 1) c->nodes[number - 1].flags |= PROF_TRUNCATED_END;
    }
    if (c->crossed > c->depth) c->crossed = c->depth;
}

/* number: of the node, from 1; 0: one of an earlier segment, and the matcher has it among the links. */
static void prof__read_take_arg(prof_cursor *c, uint32_t number, size_t word)
{
    prof__read_argument *arg;
    prof__read_node *node;
    if (!number) return;
    node = &c->nodes[number - 1];
    arg = &c->segment_args[c->arg_count++];
    arg->word = (uint32_t)word;
    arg->next = 0;
    if (node->last_arg)
        c->segment_args[node->last_arg - 1].next = (uint32_t)c->arg_count;
    else
        node->arg = (uint32_t)c->arg_count;
    node->last_arg = (uint32_t)c->arg_count;
}

/* The node that an ARG belongs to, from 1; 0: one of an earlier segment, or none. */
static uint32_t prof__read_arg_node(const prof_cursor *c, const uint64_t *record)
{
    uint32_t target = prof__read_arg_target(record);
    size_t site = target ? prof__read_site_of(c->trace, target) : 0, at = c->depth;
    while (at--) {
        uint32_t number = c->stack[at] & ~PROF__LATE_BIT;
        if (!target || !number) return number;
        if (prof__read_site_of(c->trace, prof__read_id(c->words[c->nodes[number - 1].word])) == site) return number;
    }
    return 0;
}

/* How many scopes the END at this word of the segment loaded last closes. */
static uint32_t prof__read_closes(prof_cursor *c, size_t word)
{
    const prof__read_exception *exception;
    if (c->exception == c->track->exception + c->track->exception_count) return 1; /* there may be no table */
    exception = &c->trace->exceptions[c->exception];
    if (exception->segment + 1 != c->segment || exception->word != word) return 1;
    c->exception++;
    return exception->closes;
}

/* 1: the next scope that overlaps begins in the segment loaded last. */
static int prof__read_late_here(const prof_cursor *c)
{
    return c->late_begin != c->track->late + c->track->late_count &&
           c->trace->late_begins[c->late_begin].segment + 1 == c->segment;
}

/* 1: the BEGIN at this word of the segment loaded last is that of a scope that overlaps. */
static int prof__read_overlaps(prof_cursor *c, size_t word)
{
    if (!prof__read_late_here(c) || c->trace->late_begins[c->late_begin].word != word) return 0;
    c->late_begin++;
    return 1;
}

static void prof__read_open_scope(prof_cursor *c, prof__read_node *node)
{
    uint32_t number = (uint32_t)c->node_count;
    if (prof__read_overlaps(c, node->word)) {
        node->flags |= PROF__OVERLAPS;
        number |= PROF__LATE_BIT;
        c->hidden++;
    }
    c->stack[c->depth++] = number;
}

/* The next segment cannot be read any more. What is open behind it is as if it had begun before. */
static void prof__read_skip(prof_cursor *c, const prof__read_segment *segment)
{
    const prof__read_track *track = c->track;
    size_t depth = (size_t)((int64_t)track->orphan_count + segment->depth);
    while (c->depth < depth) c->stack[c->depth++] = 0;
    while (c->depth > depth) c->hidden -= c->stack[--c->depth] >> 31;
    c->crossed = depth;
    while (prof__read_late_here(c)) c->late_begin++;
    while (c->crossing < track->crossing + track->crossing_count &&
           c->trace->crossings[c->crossing].segment + 1 == c->segment)
        c->crossing++;
    while (c->exception < track->exception + track->exception_count &&
           c->trace->exceptions[c->exception].segment + 1 == c->segment)
        c->late_end += c->trace->exceptions[c->exception++].closes == PROF__CLOSES_LATE;
    if (__atomic_exchange_n(&c->trace->chunks[segment->chunk].size, PROF__NONE32, __ATOMIC_RELAXED) != PROF__NONE32)
        PROF__ADD((uint64_t *)&c->trace->info.lost_blocks, 1);
}

/* The END at this word of the segment loaded last. Returns the node of one that is late; else null. */
static prof__read_node *prof__read_end(prof_cursor *c, size_t word)
{
    uint32_t closes = prof__read_closes(c, word);
    prof__read_node *node;
    if (closes != PROF__CLOSES_LATE) {
        prof__read_close(c, closes);
        return NULL;
    }
    node = prof__read_add_node(c, PROF__KIND_END, word);
    node->link = c->late_end++;
    return node;
}

/* Turns the next segment into nodes. */
static void prof__read_load(prof_cursor *c)
{
    const prof__read_segment *segment = &c->trace->segments[c->track->segment + c->segment++];
    const prof__read_chunk *chunk = &c->trace->chunks[segment->chunk];
    const uint64_t *words = prof__read_words(c->trace, &c->buffer, segment->chunk);
    prof__read_node *named = NULL; /* the node of the record in front, if it can have a name */
    int takes_data = 0;
    size_t at, length;
    if (c->trace->step) c->trace->step(c->trace->step_user, 1 / (double)c->trace->segment_count);
    c->node = c->node_count = c->arg_count = 0;
    c->words = words;
    if (segment->gap && c->segment > 1) c->depth = c->crossed = c->hidden = 0; /* all have their ends */
    if (!words) {
        prof__read_skip(c, segment);
        return;
    }
    for (at = segment->first; at < segment->end; at += length) {
        unsigned kind = prof__read_kind(words[at]);
        prof__read_node *node = NULL;
        length = prof__record_words(words[at], segment->end - at);
        if (kind == PROF__KIND_ARG || kind == PROF__KIND_DATA)
            length = prof__read_arg_words(words + at, segment->end - at);
        if (prof__record_timed(words[at])) c->tick = prof__read_tick(chunk->tick, words[at], c->tick);
        if (kind == PROF__KIND_END)
            node = prof__read_end(c, at);
        else if (kind != PROF__KIND_EVENT ? prof__record_timed(words[at]) || kind == PROF__KIND_LOST
                                          : prof__read_event_type(words + at) != 0)
            node = prof__read_add_node(c, kind, at);
        else if (kind == PROF__KIND_ARG && prof__read_arg_whole(words + at, length))
            prof__read_take_arg(c, prof__read_arg_node(c, words + at), at);
        else if (kind == PROF__KIND_DATA && takes_data && prof__read_arg_whole(words + at, length))
            prof__read_take_arg(c, (uint32_t)c->node_count, at);
        else if (kind == PROF__KIND_NAME && named && length > 1)
            named->name = (uint32_t)at;
        if (kind == PROF__KIND_BEGIN) prof__read_open_scope(c, node);
        named = prof__read_takes_name(words + at) ? node : NULL;
        takes_data = prof__read_takes_data(words + at, takes_data);
    }
    if (segment->last && chunk->lost) prof__read_add_node(c, PROF__KIND_LOST, PROF__NONE32);
    for (; c->crossed < c->depth; c->crossed++) {
        const prof__read_crossing *crossing = &c->trace->crossings[c->crossing++];
        prof__read_node *node = &c->nodes[(c->stack[c->crossed] & ~PROF__LATE_BIT) - 1];
        node->end_ns = crossing->end_ns;
        node->flags |= crossing->flags;
        node->link = crossing->link;
        c->stack[c->crossed] &= PROF__LATE_BIT;
    }
}

static prof_arg prof__read_decode(const prof_trace *trace, const uint64_t *record)
{
    prof_arg arg;
    const uint64_t *key = *record & PROF__ARG_KEY ? record : NULL;
    size_t length;
    memset(&arg, 0, sizeof arg);
    record = prof__read_arg_value(record, &length);
    length -= length > 1 && *record & PROF__ARG_TO ? 2 : 1;
    arg.key = prof__read_id(*record) ? trace->sites[prof__read_site_of(trace, prof__read_id(*record))].about.name : "";
    if (key && *key & 0xFFFF) arg.key = (const char *)(key + 1);
    arg.value.type = (prof_value_type)(*record >> 32 & 0xFF);
    if (arg.value.type > PROF_VALUE_STRING) arg.value.type = PROF_VALUE_NONE;
    if (arg.value.type == PROF_VALUE_STRING) {
        arg.value.cut = (int)(*record >> 31 & 1);
        arg.value.as.string = length ? (const char *)(record + 1) : "";
    } else if (!length) {
        arg.value.type = PROF_VALUE_NONE;
    } else if (arg.value.type != PROF_VALUE_NONE) {
        memcpy(&arg.value.as, record + 1, sizeof *record);
    }
    return arg;
}

static void prof__read_args(prof_cursor *c, prof_event *event, uint32_t number, size_t link)
{
    const prof_trace *trace = c->trace;
    for (; number; number = c->segment_args[number - 1].next)
        c->args[event->arg_count++] = prof__read_decode(trace, c->words + c->segment_args[number - 1].word);
    for (; link != PROF__NONE; link = trace->links[link].next)
        c->args[event->arg_count++] = prof__read_decode(trace, trace->kept + trace->links[link].record);
    event->args = c->args;
}

static void prof__read_give_orphan(prof_cursor *c, prof_event *event)
{
    /* found from the inside out */
    const prof__read_orphan *orphan =
        &c->trace->orphans[c->track->orphan + c->track->orphan_count - 1 - c->orphan];
    event->type = PROF_EVENT_SCOPE;
    event->flags = PROF_TRUNCATED_BEGIN;
    event->depth = (uint32_t)c->orphan++;
    event->start_ns = c->track->about.first_ns;
    event->duration_ns = orphan->end_ns - event->start_ns;
    event->id = orphan->id;
    event->site = &c->trace->sites[orphan->site].about;
    event->name = event->site->name;
    prof__read_args(c, event, 0, orphan->link);
}

static int prof__read_same_frame(const void *owner, size_t item, const void *key)
{
    return ((const prof__read_frame *)owner)[item].name == *(const uint32_t *)key;
}

/* The time since the frame boundary of the same name before this one. */
static int64_t prof__read_frame_time(prof_cursor *c, uint32_t name, int64_t ns)
{
    uint32_t hash = (uint32_t)prof__mix(name);
    size_t item = prof__read_find(&c->frame_index, hash, prof__read_same_frame, c->frames, &name);
    int64_t before;
    if (item == PROF__NONE) {
        item = c->frame_count++;
        c->frames[item].name = name;
        c->frames[item].ns = ns;
        prof__read_put(&c->frame_index, hash, (uint32_t)item + 1);
    }
    before = c->frames[item].ns;
    c->frames[item].ns = ns;
    return ns - before;
}

static void prof__read_give_lost(const prof_cursor *c, prof_event *event, const prof__read_node *node)
{
    const prof_trace *trace = c->trace;
    const prof__read_chunk *chunk = &trace->chunks[trace->segments[c->track->segment + c->segment - 1].chunk];
    event->type = PROF_EVENT_LOST;
    event->value.type = PROF_VALUE_UINT;
    if (node->word == PROF__NONE32) {
        event->value.as.u = chunk->lost;
        event->id = prof__read_event_id(trace, chunk, trace->chunk_words);
    } else {
        event->value.as.u = c->words[node->word] & PROF__TICK_MASK;
        event->id = prof__read_event_id(trace, chunk, node->word);
    }
}

/* Without memory a message is its format. */
static void prof__read_give_message(prof_cursor *c, prof_event *event)
{
    if (!c->message) c->message = (char *)malloc(PROF__LOG_ROOM);
    event->value.type = PROF_VALUE_STRING;
    event->value.as.string = event->name;
    if (event->name == event->site->name && c->message) prof__log_format_event(event, c->message);
}

static void prof__read_give(prof_cursor *c, prof_event *event)
{
    const prof_trace *trace = c->trace;
    const prof__read_node *node = &c->nodes[c->node++];
    const prof__read_chunk *chunk = &trace->chunks[trace->segments[c->track->segment + c->segment - 1].chunk];
    const uint64_t *words = c->words;
    const prof__read_site *site = trace->sites;
    event->depth = node->depth;
    event->start_ns = node->start_ns;
    if (node->kind == PROF__KIND_LOST) {
        prof__read_give_lost(c, event, node);
    } else {
        site += prof__read_site_of(trace, prof__read_id(words[node->word]));
        event->id = prof__read_event_id(trace, chunk, node->word);
    }
    event->site = &site->about;
    event->name = node->name ? (const char *)(words + node->name + 1) : site->about.name;
    switch (node->kind) {
    case PROF__KIND_BEGIN:
        event->type = PROF_EVENT_SCOPE;
        event->flags = node->flags;
        event->duration_ns = node->end_ns - node->start_ns;
        prof__read_args(c, event, node->arg, node->link);
        if (!(node->flags & PROF__OVERLAPS)) break;
        event->type = PROF_EVENT_SPAN_BEGIN;
        event->flags = 0;
        event->duration_ns = 0;
        event->object = ~event->id;
        break;
    case PROF__KIND_END: /* of a scope that overlaps */
        event->type = PROF_EVENT_SPAN_END;
        event->object = ~trace->late_ends[node->link].id;
        break;
    case PROF__KIND_MARK:
        event->type = PROF_EVENT_MARK;
        prof__read_args(c, event, node->arg, PROF__NONE);
        break;
    case PROF__KIND_EVENT:
        event->type = (prof_event_type)prof__read_event_type(words + node->word);
        event->detail = words[node->word + 1] >> 8;
        event->object = words[node->word + 2];
        prof__read_args(c, event, node->arg, PROF__NONE);
        if (event->type == PROF_EVENT_LOG) prof__read_give_message(c, event);
        break;
    case PROF__KIND_FRAME:
        event->type = PROF_EVENT_FRAME;
        event->duration_ns = prof__read_frame_time(c, site->name, node->start_ns);
        break;
    case PROF__KIND_COUNTER_INT:
    case PROF__KIND_COUNTER_DOUBLE:
        event->type = PROF_EVENT_COUNTER;
        event->value.type = node->kind == PROF__KIND_COUNTER_INT ? PROF_VALUE_INT : PROF_VALUE_DOUBLE;
        memcpy(&event->value.as, words + node->word + 1, sizeof *words);
        break;
    default: break;
    }
}

static void prof__read_device_args(prof_cursor *c, prof_event *event, const prof__read_happening *e)
{
    const uint64_t *record = e->arg_count ? c->trace->kept + e->args : NULL;
    for (; event->arg_count < e->arg_count; event->arg_count++) {
        size_t key = 1 + (size_t)(*record & 0xFFFF);
        c->args[event->arg_count] = prof__read_decode(c->trace, record + key);
        c->args[event->arg_count].key = key > 1 ? (const char *)(record + 1) : "";
        record += key + 1 + (size_t)(record[key] & 0xFFFF);
    }
}

/* The next event of a device: what leads to one comes behind it, inside a scope. */
static int prof__read_device_event(prof_cursor *c, prof_event *event)
{
    const prof_trace *trace = c->trace;
    const prof__read_happening *e = trace->happenings + c->track->happening + c->happening - c->flow;
    int scope;
    if (!c->flow && c->happening == c->track->happening_count) return 0;
    scope = e->type == PROF__DEVICE_SCOPE;
    event->start_ns = e->start_ns;
    event->depth = e->depth;
    event->id = e->id;
    event->site = &trace->sites[e->site].about;
    event->name = trace->names[e->name];
    if (c->flow) {
        c->flow = 0;
        event->type = PROF_EVENT_FLOW_IN;
        event->depth += (uint32_t)scope;
        event->object = e->flow;
        event->name = "flow"; /* as PROFILE_FLOW_OUT(id) calls it */
        event->id++; /* of a word inside the same record */
        return 1;
    }
    c->happening++;
    c->flow = e->flow != 0;
    event->type = scope ? PROF_EVENT_SCOPE : e->type == PROF__DEVICE_MARK ? PROF_EVENT_MARK : PROF_EVENT_COUNTER;
    event->flags = e->flags;
    event->duration_ns = e->end_ns - e->start_ns;
    if (event->type == PROF_EVENT_COUNTER) {
        event->value.type = e->value == PROF_VALUE_DOUBLE ? PROF_VALUE_DOUBLE : PROF_VALUE_INT;
        memcpy(&event->value.as, &e->number, sizeof e->number);
    }
    prof__read_device_args(c, event, e);
    return 1;
}

/* The next event of the track, in the window or not. */
static int prof__read_next(prof_cursor *cursor, prof_event *event)
{
    memset(event, 0, sizeof *event);
    event->args = cursor->args;
    if (cursor->track->happening_count) return prof__read_device_event(cursor, event);
    if (cursor->orphan < cursor->track->orphan_count) {
        prof__read_give_orphan(cursor, event);
        return 1;
    }
    while (cursor->node == cursor->node_count) {
        if (cursor->segment == cursor->track->segment_count) return 0;
        prof__read_load(cursor);
    }
    prof__read_give(cursor, event);
    return 1;
}

/* Cuts an event to the window. 0: it lies outside. A scope that only touches the beginning stays, as its children
   may. */
static int prof__read_cut_event(const prof_cursor *c, prof_event *event)
{
    int64_t start = event->start_ns, end = start, from = c->from_ns, to = c->to_ns;
    if (event->type == PROF_EVENT_SCOPE) end += event->duration_ns;
    if (event->flags & PROF__STILL_OPEN && c->track->lives && end < c->trace->newest_ns) end = c->trace->newest_ns;
    if (start >= to || end < from) return 0;
    if (event->type == PROF_EVENT_FRAME) start -= event->duration_ns;
    if (start < from) {
        start = from;
        event->flags |= PROF_TRUNCATED_BEGIN;
    }
    if (end > to) {
        end = to;
        event->flags |= PROF_TRUNCATED_END;
    }
    event->duration_ns = end - start;
    if (event->type == PROF_EVENT_SCOPE) event->start_ns = start;
    return 1;
}

PROF_DEF int prof_cursor_next(prof_cursor *cursor, prof_event *event)
{
    if (!cursor || !event) return 0;
    while (prof__read_next(cursor, event)) {
        int wanted = !cursor->windowed || prof__read_cut_event(cursor, event);
        event->flags &= ~PROF__STILL_OPEN;
        if (wanted) return 1;
        if (event->start_ns >= cursor->to_ns) break; /* later ones do, too */
    }
    memset(event, 0, sizeof *event);
    return 0;
}

/*-- all tracks in order of time --*/

typedef struct prof__timeline_source {
    prof_cursor *cursor;
    size_t track;
    prof_event event; /* the cursor's next one */
} prof__timeline_source;

typedef struct prof__timeline_start {
    int64_t ns;
    size_t track;
} prof__timeline_start;

struct prof_timeline {
    const prof_trace *trace;
    prof__timeline_start *starts; /* of the tracks in order of time; those up to started have their cursors */
    size_t start_count, started;
    prof__timeline_source *heap; /* the earliest event is at 0 */
    size_t count, capacity;
    int given; /* the event at 0 was handed out: its cursor must move */
    int whole; /* the window is not for this one */
    prof_status status;
};

static int prof__timeline_before(const prof__timeline_source *a, const prof__timeline_source *b)
{
    if (a->event.start_ns != b->event.start_ns) return a->event.start_ns < b->event.start_ns;
    return a->track < b->track;
}

static void prof__timeline_swap(prof__timeline_source *a, prof__timeline_source *b)
{
    prof__timeline_source swap = *a;
    *a = *b;
    *b = swap;
}

static void prof__timeline_down(prof_timeline *t)
{
    size_t at = 0, child;
    while ((child = 2 * at + 1) < t->count) {
        if (child + 1 < t->count && prof__timeline_before(&t->heap[child + 1], &t->heap[child])) child++;
        if (!prof__timeline_before(&t->heap[child], &t->heap[at])) return;
        prof__timeline_swap(&t->heap[child], &t->heap[at]);
        at = child;
    }
}

/* Opens the cursor of the next track that begins. */
static void prof__timeline_begin(prof_timeline *t)
{
    size_t track = t->starts[t->started++].track, at;
    prof__timeline_source *source;
    if (!PROF__ROOM(t->heap, t->capacity, t->count)) {
        t->status =
            prof__fail(PROF_NO_MEMORY, "no memory to read %lu tracks at the same time", (unsigned long)t->count);
        return;
    }
    source = &t->heap[t->count];
    source->track = track;
    t->status = prof_cursor_open(t->trace, track, &source->cursor);
    if (t->status != PROF_OK) return;
    if (t->whole) source->cursor->windowed = 0;
    if (!prof_cursor_next(source->cursor, &source->event)) {
        prof_cursor_close(source->cursor);
        return;
    }
    for (at = t->count++; at && prof__timeline_before(&t->heap[at], &t->heap[(at - 1) / 2]); at = (at - 1) / 2)
        prof__timeline_swap(&t->heap[at], &t->heap[(at - 1) / 2]);
}

static int prof__timeline_order(const void *a, const void *b)
{
    const prof__timeline_start *x = (const prof__timeline_start *)a, *y = (const prof__timeline_start *)b;
    if (x->ns != y->ns) return x->ns < y->ns ? -1 : 1;
    return x->track < y->track ? -1 : x->track > y->track;
}

PROF_DEF prof_status prof_timeline_open(const prof_trace *trace, prof_timeline **timeline)
{
    prof_timeline *t;
    size_t i;
    if (!trace || !timeline) return prof__fail(PROF_INVALID_ARGUMENT, "prof_timeline_open: trace or timeline is null");
    *timeline = NULL;
    t = (prof_timeline *)calloc(1, sizeof *t);
    if (t) t->starts = (prof__timeline_start *)malloc((trace->track_count + 1) * sizeof *t->starts);
    if (!t || !t->starts) {
        free(t);
        return prof__fail(PROF_NO_MEMORY, "no memory to read %lu tracks", (unsigned long)trace->track_count);
    }
    t->trace = trace;
    t->start_count = trace->track_count;
    for (i = 0; i < t->start_count; i++) {
        t->starts[i].ns = trace->tracks[i].about.first_ns;
        t->starts[i].track = i;
    }
    qsort(t->starts, t->start_count, sizeof *t->starts, prof__timeline_order);
    *timeline = t;
    return PROF_OK;
}

PROF_DEF int prof_timeline_next(prof_timeline *timeline, prof_event *event, size_t *track)
{
    prof_timeline *t = timeline;
    if (!t || !event) return 0;
    if (t->given && !prof_cursor_next(t->heap[0].cursor, &t->heap[0].event)) {
        prof_cursor_close(t->heap[0].cursor);
        t->heap[0] = t->heap[--t->count];
    }
    if (t->given) prof__timeline_down(t);
    t->given = 0;
    while (t->status == PROF_OK && t->started < t->start_count &&
           (!t->count || t->starts[t->started].ns <= t->heap[0].event.start_ns))
        prof__timeline_begin(t);
    if (t->status != PROF_OK || !t->count) return 0;
    *event = t->heap[0].event;
    if (track) *track = t->heap[0].track;
    return t->given = 1;
}

PROF_DEF prof_status prof_timeline_close(prof_timeline *timeline)
{
    prof_status status;
    if (!timeline) return PROF_OK;
    while (timeline->count) prof_cursor_close(timeline->heap[--timeline->count].cursor);
    status = timeline->status;
    free(timeline->heap);
    free(timeline->starts);
    free(timeline);
    return status;
}

/*-- spans --*/

#define PROF__LATE_MOST 1024 /* ends whose begin may still come: each begin of that moment is compared with them */

/* Half of a span. */
typedef struct prof__span_half {
    const char *name;  /* the call site's, or text */
    char *text;        /* owned: a name made at run time */
    prof_arg *copy;    /* owned: what args is, once the cursor has moved */
    const prof_arg *args;
    uint32_t arg_count;
    const prof_callsite *site;
    uint64_t id, detail, serial;
    int64_t ns;
    size_t track;
    uint32_t hash;
    size_t next;         /* of open ones of the same bucket, the newest first; of free ones; PROF__NONE */
    size_t newer, older; /* of the open ones in order of their begins */
} prof__span_half;

struct prof_spans {
    const prof_trace *trace;
    prof_timeline *timeline; /* null: there is nothing to read */
    prof__span_half *halves; /* those whose end is to come, and free ones */
    size_t count, capacity, free, newest, oldest, open;
    size_t *buckets, bucket_count; /* a power of two, or 0 */
    prof__span_half *late; /* ends without a begin, all of one moment, which may still bring it on another track */
    size_t late_count, late_capacity, late_given;
    prof_event event; /* read, but not looked at */
    size_t track;
    int held;
    char *text; /* the name of the span given last; and its arguments, with those of its halves */
    prof_arg *args, *begin_args, *end_args;
    size_t arg_capacity;
    int64_t first_ns, from_ns, to_ns;
    prof_status status;
};

PROF_DEF prof_status prof_spans_open(const prof_trace *trace, prof_spans **spans)
{
    prof_spans *s;
    prof_status status = PROF_OK;
    size_t i;
    if (!trace || !spans) return prof__fail(PROF_INVALID_ARGUMENT, "prof_spans_open: trace or spans is null");
    *spans = NULL;
    s = (prof_spans *)calloc(1, sizeof *s);
    if (!s) return prof__fail(PROF_NO_MEMORY, "no memory to read spans");
    s->trace = trace;
    s->free = s->newest = s->oldest = PROF__NONE;
    s->from_ns = trace->info.from_ns;
    s->to_ns = trace->info.to_ns ? trace->info.to_ns : INT64_MAX;
    for (i = 0; i < trace->track_count; i++)
        if (!i || trace->tracks[i].about.first_ns < s->first_ns) s->first_ns = trace->tracks[i].about.first_ns;
    if (trace->has_spans) status = prof_timeline_open(trace, &s->timeline);
    if (status != PROF_OK) {
        free(s);
        return status;
    }
    if (s->timeline) s->timeline->whole = 1; /* what was open all the time shows only in what is outside */
    *spans = s;
    return PROF_OK;
}

static void prof__spans_fail(prof_spans *s)
{
    s->status = prof__fail(PROF_NO_MEMORY, "no memory for %lu open spans", (unsigned long)s->open);
}

/* 1: it is of scopes, which overlap. Only the begin has the run-time name. */
static int prof__span_of_scope(const prof_callsite *site) { return site->kind == PROF__KIND_BEGIN; }

/* Whether two halves may be one span. Those of handles know their own by their ids. */
static int prof__span_same(const prof__span_half *a, const prof__span_half *b)
{
    if (a->hash != b->hash || a->id != b->id) return 0;
    if (prof__span_of_scope(a->site) || prof__span_of_scope(b->site)) return a->site == b->site;
    return a->site->role == b->site->role && !strcmp(a->name, b->name);
}

/* What an event says, its name not yet copied. */
static void prof__span_make(const prof_event *event, size_t track, prof__span_half *half)
{
    memset(half, 0, sizeof *half);
    half->name = event->name;
    half->site = event->site;
    half->id = event->object;
    half->detail = event->detail;
    half->args = event->args;
    half->arg_count = event->arg_count;
    half->serial = event->id;
    half->ns = event->start_ns;
    half->track = track;
    half->hash = prof__text_hash(prof__span_of_scope(event->site) ? event->site->name : event->name) +
                 (uint32_t)prof__mix(event->object + event->site->role);
}

static size_t prof__arg_bytes(const prof_arg *arg)
{
    return strlen(arg->key) + 1 + (arg->value.type == PROF_VALUE_STRING ? strlen(arg->value.as.string) + 1 : 0);
}

/* A text behind the ones before it; *to moves along. */
static const char *prof__arg_text(char **to, const char *text)
{
    char *copy = *to;
    size_t size = strlen(text) + 1;
    memcpy(copy, text, size);
    *to += size;
    return copy;
}

/* Copies arguments with their texts into one piece of memory. Returns NULL without memory. */
static prof_arg *prof__args_copy(const prof_arg *args, uint32_t count)
{
    size_t size = count * sizeof *args;
    prof_arg *copy;
    char *text;
    uint32_t i;
    for (i = 0; i < count; i++) size += prof__arg_bytes(&args[i]);
    copy = (prof_arg *)malloc(size);
    if (!copy) return NULL;
    text = (char *)(copy + count);
    for (i = 0; i < count; i++) {
        copy[i] = args[i];
        copy[i].key = prof__arg_text(&text, args[i].key);
        if (args[i].value.type != PROF_VALUE_STRING) continue;
        copy[i].value.as.string = prof__arg_text(&text, args[i].value.as.string);
    }
    return copy;
}

static void prof__span_free(prof__span_half *half)
{
    free(half->text);
    free(half->copy);
}

/* Copies what is the cursor's. Without memory nothing is copied, and 0. */
static int prof__span_keep(prof_spans *s, prof__span_half *half)
{
    if (half->name != half->site->name) half->text = prof__text_join(half->name, "");
    if (half->arg_count) half->copy = prof__args_copy(half->args, half->arg_count);
    if ((half->name != half->site->name && !half->text) || (half->arg_count && !half->copy)) {
        prof__span_free(half);
        half->text = NULL;
        half->args = half->copy = NULL;
        half->arg_count = 0;
        half->name = "";
        prof__spans_fail(s);
        return 0;
    }
    if (half->text) half->name = half->text;
    if (half->copy) half->args = half->copy;
    return 1;
}

/* The newest open one that such an end closes; PROF__NONE if there is none. */
static size_t prof__spans_find(const prof_spans *s, const prof__span_half *end)
{
    size_t at = s->bucket_count ? s->buckets[end->hash & (s->bucket_count - 1)] : PROF__NONE;
    while (at != PROF__NONE && !prof__span_same(&s->halves[at], end)) at = s->halves[at].next;
    return at;
}

static int prof__spans_spread(prof_spans *s)
{
    size_t count = s->bucket_count ? s->bucket_count * 2 : 64, at;
    size_t *buckets = (size_t *)malloc(count * sizeof *buckets);
    if (!buckets) return 0;
    for (at = 0; at < count; at++) buckets[at] = PROF__NONE;
    for (at = s->oldest; at != PROF__NONE; at = s->halves[at].newer) {
        s->halves[at].next = buckets[s->halves[at].hash & (count - 1)];
        buckets[s->halves[at].hash & (count - 1)] = at;
    }
    free(s->buckets);
    s->buckets = buckets;
    s->bucket_count = count;
    return 1;
}

static void prof__spans_add(prof_spans *s, const prof__span_half *begin)
{
    size_t at = s->free, *bucket;
    if ((s->open >= s->bucket_count && !prof__spans_spread(s)) ||
        (at == PROF__NONE && !PROF__ROOM(s->halves, s->capacity, s->count))) {
        prof__spans_fail(s);
        return;
    }
    if (at == PROF__NONE)
        at = s->count++;
    else
        s->free = s->halves[at].next;
    s->halves[at] = *begin;
    prof__span_keep(s, &s->halves[at]);
    bucket = &s->buckets[begin->hash & (s->bucket_count - 1)];
    s->halves[at].next = *bucket;
    *bucket = at;
    s->halves[at].older = s->newest;
    s->halves[at].newer = PROF__NONE;
    *(s->newest == PROF__NONE ? &s->oldest : &s->halves[s->newest].newer) = at;
    s->newest = at;
    s->open++;
}

/* What it owns goes to whoever has the copy. */
static prof__span_half prof__spans_remove(prof_spans *s, size_t at)
{
    prof__span_half half = s->halves[at];
    size_t *link = &s->buckets[half.hash & (s->bucket_count - 1)];
    while (*link != at) link = &s->halves[*link].next;
    *link = half.next;
    *(half.newer == PROF__NONE ? &s->newest : &s->halves[half.newer].older) = half.older;
    *(half.older == PROF__NONE ? &s->oldest : &s->halves[half.older].newer) = half.newer;
    s->halves[at].next = s->free;
    s->free = at;
    s->open--;
    return half;
}

/* The arguments of both halves, one of which may be missing. Takes the copies. */
static void prof__spans_give_args(prof_spans *s, const prof__span_half *begin, const prof__span_half *end,
                                  prof_span *span)
{
    uint32_t first = begin ? begin->arg_count : 0, count = first + (end ? end->arg_count : 0);
    free(s->begin_args);
    free(s->end_args);
    s->begin_args = begin ? begin->copy : NULL;
    s->end_args = end ? end->copy : NULL;
    while (s->arg_capacity < count)
        if (!prof__more_room(&s->args, &s->arg_capacity, sizeof *s->args)) {
            prof__spans_fail(s);
            return;
        }
    if (first) memcpy(s->args, begin->args, first * sizeof *s->args);
    if (count > first) memcpy(s->args + first, end->args, (count - first) * sizeof *s->args);
    span->args = s->args;
    span->arg_count = count;
}

/* Of two halves, one of which may be missing, what lies in the window; 0: nothing. Takes what they own. */
static int prof__spans_give(prof_spans *s, const prof__span_half *begin, const prof__span_half *end, prof_span *span)
{
    const prof__span_half *known = begin ? begin : end;
    int64_t start = begin ? begin->ns : s->first_ns, stop = end ? end->ns : s->trace->newest_ns;
    if (stop < start) stop = start; /* from_ns, to_ns and the last thing known are of any order */
    free(s->text);
    s->text = known->text;
    memset(span, 0, sizeof *span);
    prof__spans_give_args(s, begin, end, span);
    span->name = known->name;
    span->site = known->site;
    span->id = known->id;
    span->number = known->site->role == PROF_ROLE_FRAME ? known->detail : 0;
    span->serial = known->serial;
    span->begin_track = known->track;
    span->end_track = end ? end->track : known->track;
    if (!begin) span->flags = PROF_TRUNCATED_BEGIN;
    if (!end) span->flags |= PROF_TRUNCATED_END;
    if (start >= s->to_ns || stop < s->from_ns) return 0;
    if (start < s->from_ns) span->flags |= PROF_TRUNCATED_BEGIN;
    if (stop > s->to_ns) span->flags |= PROF_TRUNCATED_END;
    span->start_ns = start < s->from_ns ? s->from_ns : start;
    span->duration_ns = (stop > s->to_ns ? s->to_ns : stop) - span->start_ns;
    return 1;
}

static int prof__spans_mark(prof_spans *s, const prof__span_half *mark, prof_span *span)
{
    size_t around = prof__spans_find(s, mark);
    if (mark->ns < s->from_ns || mark->ns >= s->to_ns) return 0;
    free(s->text);
    s->text = NULL;
    memset(span, 0, sizeof *span);
    prof__spans_give_args(s, mark, NULL, span);
    span->name = mark->name;
    span->site = mark->site;
    span->id = mark->id;
    span->mark = 1;
    span->serial = around == PROF__NONE ? 0 : s->halves[around].serial;
    span->start_ns = mark->ns;
    span->begin_track = span->end_track = mark->track;
    return 1;
}

/* A begin whose end came before it, at the same time. */
static int prof__spans_begin(prof_spans *s, prof__span_half *begin, prof_span *span)
{
    size_t at = s->late_given;
    prof__span_half end, old;
    while (at < s->late_count && !prof__span_same(&s->late[at], begin)) at++;
    if (at < s->late_count) {
        end = s->late[at];
        memmove(&s->late[at], &s->late[at + 1], (--s->late_count - at) * sizeof end);
        begin->text = end.text;
        if (end.text) begin->name = end.text;
        return prof__spans_give(s, begin, &end, span);
    }
    at = begin->site->role == PROF_ROLE_FRAME ? prof__spans_find(s, begin) : PROF__NONE;
    if (at == PROF__NONE) {
        prof__spans_add(s, begin);
        return 0;
    }
    old = prof__spans_remove(s, at); /* a frame that was not stopped ends here */
    prof__spans_add(s, begin);
    begin->arg_count = 0; /* which are those of the frame that begins */
    at = (size_t)prof__spans_give(s, &old, begin, span);
    span->flags |= PROF_TRUNCATED_END;
    return (int)at;
}

static int prof__spans_end(prof_spans *s, prof__span_half *end, prof_span *span)
{
    size_t at = prof__spans_find(s, end);
    if (at != PROF__NONE) {
        prof__span_half begin = prof__spans_remove(s, at);
        return prof__spans_give(s, &begin, end, span);
    }
    if (!PROF__ROOM(s->late, s->late_capacity, s->late_count))
        prof__spans_fail(s);
    else if (prof__span_keep(s, end) && s->late_count - s->late_given == PROF__LATE_MOST)
        return prof__spans_give(s, NULL, end, span);
    else if (s->status == PROF_OK)
        s->late[s->late_count++] = *end;
    return 0;
}

static int prof__spans_take(prof_spans *s, prof_span *span)
{
    prof__span_half half;
    if (s->event.type < PROF_EVENT_SPAN_BEGIN || s->event.type > PROF_EVENT_SPAN_END) return 0;
    prof__span_make(&s->event, s->track, &half);
    if (s->event.type == PROF_EVENT_SPAN_BEGIN) return prof__spans_begin(s, &half, span);
    if (s->event.type == PROF_EVENT_SPAN_END) return prof__spans_end(s, &half, span);
    return prof__spans_mark(s, &half, span);
}

PROF_DEF int prof_spans_next(prof_spans *spans, prof_span *span)
{
    prof_spans *s = spans;
    int given;
    if (!s || !span) return 0;
    while (s->status == PROF_OK) {
        if (!s->held) s->held = prof_timeline_next(s->timeline, &s->event, &s->track);
        if (s->late_count && (!s->held || s->event.start_ns > s->late[0].ns)) {
            given = prof__spans_give(s, NULL, &s->late[s->late_given++], span);
            if (s->late_given == s->late_count) s->late_given = s->late_count = 0;
        } else if (s->held) {
            s->held = 0;
            given = prof__spans_take(s, span);
        } else if (s->oldest != PROF__NONE) {
            prof__span_half begin = prof__spans_remove(s, s->oldest);
            given = prof__spans_give(s, &begin, NULL, span);
        } else {
            break;
        }
        if (given && s->status == PROF_OK) return 1;
    }
    memset(span, 0, sizeof *span);
    return 0;
}

PROF_DEF prof_status prof_spans_close(prof_spans *spans)
{
    prof_status status, read;
    size_t at;
    if (!spans) return PROF_OK;
    read = prof_timeline_close(spans->timeline);
    status = spans->status == PROF_OK ? read : spans->status;
    for (at = spans->oldest; at != PROF__NONE; at = spans->halves[at].newer) prof__span_free(&spans->halves[at]);
    for (at = spans->late_given; at < spans->late_count; at++) prof__span_free(&spans->late[at]);
    free(spans->text);
    free(spans->begin_args);
    free(spans->end_args);
    free(spans->args);
    free(spans->halves);
    free(spans->buckets);
    free(spans->late);
    free(spans);
    return status;
}

PROF_DEF prof_status prof_trace_window(prof_trace *trace, int64_t from_ns, int64_t to_ns)
{
    if (!trace) return prof__fail(PROF_INVALID_ARGUMENT, "prof_trace_window: trace is null");
    if (from_ns < 0 || to_ns < 0 || (to_ns && to_ns <= from_ns))
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_trace_window: to_ns must be later than from_ns, or 0");
    trace->info.from_ns = from_ns;
    trace->info.to_ns = to_ns;
    return PROF_OK;
}

/*-- THE LAST SECONDS ---------------------------------------------------------------------------------------- >>last --
   A copy of all that there is, which shows its newest part: the scopes that are open when that begins stand in chunks
   as old as themselves, and what came before may be wanted after all. */

/* The tick that lies so many seconds before the newest one; 0: the session is not that old. */
static uint64_t prof__last_tick(const prof__header *h, double seconds)
{
    double ns = seconds * 1e9, age = (double)(h->last.monotonic_ns - h->first.monotonic_ns);
    if (h->last.monotonic_ns <= h->first.monotonic_ns || !(ns < age)) return 0;
    return h->last.tick - (uint64_t)(ns / age * (double)(h->last.tick - h->first.tick));
}

/* Why the last seconds are saved. */
typedef struct prof__cause {
    uint64_t from, to; /* ticks, of what took too long; 0: nothing did */
    char text[160];
} prof__cause;

static void prof__human_ns(char *to, double ns);

/* The tick at which a window begins that has so many seconds before its cause, and all of that; 0: at the start. */
static uint64_t prof__last_from(const prof__header *h, double seconds, const prof__cause *cause)
{
    uint64_t from = prof__last_tick(h, seconds), late;
    if (!cause || !cause->from || !from) return from;
    late = h->last.tick > cause->to ? h->last.tick - cause->to : 0;
    from -= late < from - h->first.tick ? late : from - h->first.tick;
    return from < cause->from ? from : cause->from < h->first.tick ? h->first.tick : cause->from;
}

/* The tick from which on a ring has everything; 0: it has overwritten nothing. Chunks of threads that sleep are older. */
static uint64_t prof__last_held(const prof__header *h)
{
    uint64_t first = ~(uint64_t)0, tick = 0, newest = PROF__LOAD(&h->next_chunk);
    if ((h->mode != PROF_RING && h->mode != PROF_RING_STATS) || !PROF__LOAD(&h->overwritten)) return 0;
    for (uint64_t i = 0; i < h->chunk_count; i++) {
        const char *at = (const char *)h + h->chunk_offset + i * h->chunk_size;
        const prof__chunk *chunk = (const prof__chunk *)(const void *)at;
        uint64_t sequence = PROF__ACQUIRE(&chunk->sequence);
        if (!sequence || sequence + h->chunk_count <= newest || sequence >= first) continue;
        first = sequence;
        tick = PROF__LOAD(&chunk->base.tick);
    }
    return tick;
}

/* The nanoseconds of a tick, of a session that has taken the time twice. */
static double prof__last_rate(const prof__header *h)
{
    if (h->last.tick <= h->first.tick || h->last.monotonic_ns <= h->first.monotonic_ns) return 1;
    return (double)(h->last.monotonic_ns - h->first.monotonic_ns) / (double)(h->last.tick - h->first.tick);
}

/* What is missing between the cause, or the seconds that were asked for, and what an image holds. newest: its last tick.
   At to, with the cause in front; returns to. */
static char *prof__last_note(char *to, size_t size, const prof__header *h, uint64_t newest, double ns_per_tick,
                             double seconds, const prof__cause *cause)
{
    uint64_t held = prof__last_held(h), ticks = newest - h->first.tick;
    double had = held && newest > held ? (double)(newest - held) * ns_per_tick : 0, wanted = seconds * 1e9;
    char part[48], asked[48], since[48];
    size_t at;
    prof__text_copy(to, size, cause->text);
    at = strlen(to);
    if ((double)ticks * ns_per_tick < wanted) wanted = (double)ticks * ns_per_tick;
    if (!held || had >= wanted) return to;
    prof__human_ns(part, had);
    prof__human_ns(asked, seconds * 1e9);
    prof__human_ns(since, cause->from < held ? (double)(held - cause->from) * ns_per_tick : 0);
    snprintf(to + at, size - at, "; asked for %s, the buffer held %s%s%s%s", asked, part,
             cause->from && cause->from < held ? ": its begin is gone by " : "",
             cause->from && cause->from < held ? since : "",
             cause->to && cause->to < held ? ", and its end, too" : "");
    return to;
}

/* Adds a pair of metadata to an image in memory, if it has room for one. */
static void prof__image_note(prof__header *h, const char *key, const char *value)
{
    size_t k = strlen(key) + 1, v = strlen(value) + 1;
    uint64_t words = 1 + (k + v + 7) / 8, used = h->meta_used / 8, head = (uint64_t)PROF__META_SESSION << 56 | words << 32;
    uint64_t *record = (uint64_t *)(void *)((char *)h + h->meta_offset) + used;
    if (used + words > h->meta_size / 8) return;
    memset(record, 0, (size_t)words * 8);
    memcpy(record + 1, key, k);
    memcpy((char *)(record + 1) + k, value, v);
    memcpy(record, &head, sizeof head);
    h->meta_used += words * 8;
}

/* cause may be null. */
static prof_status prof__last_image(const char *path, double seconds, const prof__cause *cause)
{
    void *image;
    size_t size;
    char note[320];
    prof_status status = prof__image_copy(&image, &size);
    if (status) return status;
    prof__header *h = (prof__header *)image;
    h->window_from = prof__last_from(h, seconds, cause);
    if (cause) prof__image_note(h, "save", prof__last_note(note, sizeof note, h, h->last.tick, prof__last_rate(h), seconds, cause));
    status = prof__image_write(path, image, size);
    free(image);
    return status;
}

/* path is expanded already. */
static prof_status prof__last_save(const char *path, double seconds, const prof__cause *cause)
{
    prof_status (*write)(const prof_trace *, const char *);
    prof_trace *trace = NULL;
    prof_status status = prof__writer_find(path, &write);
    if (!status) status = prof__live_fits(path, write);
    if (status) return status;
    if (!write) return prof__last_image(path, seconds, cause);
    status = prof_trace_live(&trace);
    if (status) return status;
    uint64_t tick = trace->info.mode == PROF_STATS ? 0 : prof__last_from(&trace->header, seconds, cause); /* statistics: the whole run */
    size_t hint = 0;
    char note[328] = "save";
    if (tick) trace->info.from_ns = prof__read_ns(trace, tick, &hint);
    if (cause) {
        prof__last_note(note + 5, sizeof note - 5, (const prof__header *)(const void *)trace->image,
                        trace->header.last.tick, prof__last_rate(&trace->header), seconds, cause);
        if (prof__device_name(trace, note) == PROF__NONE || prof__device_name(trace, note + 5) == PROF__NONE ||
            !prof__read_metadata(trace, note, note + sizeof note)) /* which finds these copies */
            status = prof__fail(PROF_NO_MEMORY, "no memory to save %s", path);
    }
    if (status == PROF_OK) status = write(trace, path);
    prof_trace_close(trace);
    return status;
}

PROF_DEF prof_status prof_save_last(const char *path, double seconds)
{
    PROF__LED(prof_save_last, (path, seconds));
    char expanded[1024];
    if (!path) return prof__fail(PROF_INVALID_ARGUMENT, "prof_save_last: path is null");
    if (!(seconds > 0)) return prof__fail(PROF_INVALID_ARGUMENT, "prof_save_last: seconds must be more than 0");
    prof_status status = prof__expand(path, expanded, sizeof expanded);
    return status ? status : prof__last_save(expanded, seconds, NULL);
}

/*-- STATISTICS ---------------------------------------------------------------------------------------- >>statistics --
   One pass over all tracks. Durations are counted in a log-linear histogram: exact below 128 ns, then 64 steps for each
   power of two, so that the middle of a step is at most 1/128 off. Only steps that occur take memory. */

typedef struct prof__step {
    uint64_t count;
    uint32_t number; /* of the step, from 1; 0: free */
} prof__step;

typedef struct prof__histogram {
    prof__step *steps;       /* a hash table */
    size_t capacity, used;   /* capacity: 0 or a power of two */
} prof__histogram;

/* All figures of one name at one call site. */
typedef struct prof__figure {
    prof_stat stat;
    char *text; /* owned: stat.name, if it was made at run time */
    prof_event_type type; /* SCOPE, FRAME, COUNTER, SPAN_BEGIN */
    double mean, squares; /* running mean, and sum of squared distances from it */
    prof__histogram histogram;
    uint64_t track;             /* frames: the track of the one before */
    double low, high, last;     /* counters */
    double rate_squares;        /* of a throughput: as squares */
    int64_t from, to;           /* spans: from the first begin to the last end; counters: to: when it was last */
    uint64_t open;              /* scopes: those around the present event */
    size_t child, sibling, row; /* by path: the tree, while it is sorted */
} prof__figure;

/* A scope around the present event. */
typedef struct prof__around {
    size_t figure, depth; /* depth: of the event; some in between may have vanished */
    int64_t end, duration, inside; /* inside: spent in its children */
    int counts;               /* 0: truncated */
} prof__around;

#define PROF__NEWEST_MESSAGES 5

/* A message of severity PROF_LOG_ERROR or more. */
typedef struct prof__message {
    int64_t ns;
    uint64_t severity;
    char text[120];
} prof__message;

typedef struct prof__figures {
    uint64_t messages[PROF_LOG_FATAL + 1]; /* by severity; what has an unknown one counts as fatal */
    prof__message newest[PROF__NEWEST_MESSAGES]; /* errors, the latest first */
    size_t newest_count;
    prof__figure *items;
    size_t count, capacity;
    prof__read_index index;
    prof__around *stack;
    size_t depth, stack_capacity;
    uint64_t begins_missing, ends_missing; /* of spans */
    prof__uses uses;
    int messages_only;
    int by_path;   /* a figure for each call path */
    int64_t since; /* of the present track: only what ended later counts */
} prof__figures;

static unsigned prof__log2(uint64_t value)
{
    unsigned bits = 0, step;
    for (step = 32; step; step /= 2)
        if (value >> step) {
            value >>= step;
            bits += step;
        }
    return bits;
}

static uint32_t prof__step_of(uint64_t ns)
{
    unsigned power;
    if (ns < 128) return (uint32_t)ns;
    power = prof__log2(ns);
    return 128 + (power - 7) * 64 + (uint32_t)(ns >> (power - 6) & 63);
}

/* The middle of a step. */
static uint64_t prof__step_value(uint32_t step)
{
    unsigned shift;
    if (step < 128) return step;
    shift = (step - 128) / 64 + 1;
    return ((uint64_t)(64 + (step - 128) % 64) << shift) + (((uint64_t)1 << shift) - 1) / 2;
}

/* The durations of a step. */
static prof_bucket prof__step_bucket(const prof__step *step)
{
    uint32_t number = step->number - 1;
    unsigned shift = number < 128 ? 0 : (number - 128) / 64 + 1;
    prof_bucket bucket;
    bucket.from_ns = number < 128 ? number : (uint64_t)(64 + (number - 128) % 64) << shift;
    bucket.to_ns = bucket.from_ns + ((uint64_t)1 << shift);
    if (bucket.to_ns < bucket.from_ns) bucket.to_ns = ~(uint64_t)0;
    bucket.count = step->count;
    return bucket;
}

static prof__step *prof__step_find(const prof__histogram *h, uint32_t step)
{
    size_t at = (size_t)prof__mix(step) & (h->capacity - 1);
    while (h->steps[at].number && h->steps[at].number != step + 1) at = (at + 1) & (h->capacity - 1);
    return &h->steps[at];
}

static int prof__histogram_add(prof__histogram *h, uint32_t step, uint64_t count)
{
    prof__step *found;
    if (h->used >= h->capacity / 4 * 3) {
        prof__histogram larger;
        size_t i;
        larger.capacity = h->capacity ? h->capacity * 2 : 4;
        larger.used = h->used;
        larger.steps = (prof__step *)calloc(larger.capacity, sizeof *larger.steps);
        if (!larger.steps) return 0;
        for (i = 0; i < h->capacity; i++)
            if (h->steps[i].number) *prof__step_find(&larger, h->steps[i].number - 1) = h->steps[i];
        free(h->steps);
        *h = larger;
    }
    found = prof__step_find(h, step);
    h->used += !found->number;
    found->number = step + 1;
    found->count += count;
    return 1;
}

static int prof__step_order(const void *a, const void *b)
{
    const prof__step *x = (const prof__step *)a, *y = (const prof__step *)b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Makes the percentiles: of each, the smallest duration that is not exceeded by that share of all. Sorts the steps. */
static void prof__percentiles(prof__histogram *h, uint64_t total, prof_stat *stat)
{
    static const unsigned thousandths[] = {500, 900, 990, 999};
    uint64_t *to[4], seen = 0;
    size_t i, next = 0;
    to[0] = &stat->p50_ns;
    to[1] = &stat->p90_ns;
    to[2] = &stat->p99_ns;
    to[3] = &stat->p999_ns;
    if (h->capacity) qsort(h->steps, h->capacity, sizeof *h->steps, prof__step_order);
    for (i = 0; i < h->capacity; i++) {
        uint64_t value = h->steps[i].number ? prof__step_value(h->steps[i].number - 1) : 0;
        if (value < stat->min_ns) value = stat->min_ns;
        if (value > stat->max_ns) value = stat->max_ns;
        seen += h->steps[i].count;
        for (; next < 4; next++) { /* seen >= total * share, rounded up */
            uint64_t rank = total / 1000 * thousandths[next] + (total % 1000 * thousandths[next] + 999) / 1000;
            if (seen < rank) break;
            *to[next] = value;
        }
    }
}

/* Newton's method: libm would be one more library to link. */
static double prof__square_root(double value)
{
    double root = value > 1 ? value : 1;
    int i;
    if (!(value > 0)) return 0;
    for (i = 0; i < 1100; i++) {
        double next = (root + value / root) / 2;
        if (!(next < root)) break;
        root = next;
    }
    return root;
}

typedef struct prof__figure_key {
    const char *name;
    const prof_callsite *site;
    prof_event_type type;
    size_t parent;
} prof__figure_key;

static int prof__same_figure(const void *owner, size_t item, const void *key)
{
    const prof__figure *figure = (const prof__figure *)owner + item;
    const prof__figure_key *wanted = (const prof__figure_key *)key;
    return figure->type == wanted->type && figure->stat.site == wanted->site && figure->stat.parent == wanted->parent &&
           (figure->stat.name == wanted->name || !strcmp(figure->stat.name, wanted->name));
}

/* The number of an event's figure; PROF__NONE without memory. */
static size_t prof__figure_of(prof__figures *all, const prof_event *event)
{
    prof__figure_key key;
    prof__figure *figure;
    /* "job %d" is one scope, not as many as there are jobs; without a format each run-time name is its own. */
    const char *name = event->site->name[0] ? event->site->name : event->name;
    int inside = all->by_path && all->depth && event->type == PROF_EVENT_SCOPE;
    size_t item, parent = inside ? all->stack[all->depth - 1].figure : PROF_NO_PARENT;
    uint32_t hash = (uint32_t)prof__mix(PROF__ADDRESS(event->site) + parent * 31);
    if (name != event->site->name) hash += prof__text_hash(name);
    key.name = name;
    key.site = event->site;
    key.type = event->type;
    key.parent = parent;
    item = prof__read_find(&all->index, hash, prof__same_figure, all->items, &key);
    if (item != PROF__NONE) return item;
    if (!PROF__ROOM(all->items, all->capacity, all->count) || !prof__read_add(&all->index, hash, all->count))
        return PROF__NONE;
    figure = &all->items[all->count];
    memset(figure, 0, sizeof *figure);
    figure->stat.name = name;
    if (name != event->site->name) { /* only the cursor has it, and only now */
        figure->text = prof__text_join(name, "");
        if (!figure->text) return PROF__NONE;
        figure->stat.name = figure->text;
    }
    figure->stat.site = event->site;
    figure->stat.parent = parent;
    figure->stat.depth = inside ? all->items[parent].stat.depth + 1 : 0;
    figure->type = event->type;
    return all->count++;
}

static void prof__figure_moments(prof__figure *figure, double value, uint64_t count)
{
    double distance = value - figure->mean;
    figure->mean += distance / (double)count;
    figure->squares += distance * (value - figure->mean);
}

/* A counter's value at a time, before it is counted: the last one of all that there are, in whatever order. */
static void prof__figure_last(prof__figure *figure, double value, int64_t time)
{
    if (figure->stat.count && time < figure->to) return;
    figure->last = value;
    figure->to = time;
}

/* One call of a throughput. */
static void prof__figure_bytes(prof__figure *figure, uint64_t bytes, double ns)
{
    prof_stat *stat = &figure->stat;
    double rate = ns > 0 ? (double)bytes * 1000 / ns : 0, distance = rate - stat->mean_rate;
    stat->bytes = stat->bytes + bytes < bytes ? ~(uint64_t)0 : stat->bytes + bytes;
    if (!(ns > 0)) return;
    if (!stat->rates++ || rate < stat->min_rate) stat->min_rate = rate;
    if (stat->rates == 1 || rate > stat->max_rate) stat->max_rate = rate;
    stat->mean_rate += distance / (double)stat->rates;
    figure->rate_squares += distance * (rate - stat->mean_rate);
}

/* The last one counts. */
static void prof__figure_throughput(prof__figure *figure, const prof_event *event)
{
    uint32_t i = event->arg_count;
    while (i && strcmp(event->args[i - 1].key, "bytes")) i--;
    if (i && event->args[i - 1].value.type == PROF_VALUE_UINT)
        prof__figure_bytes(figure, event->args[i - 1].value.as.u, (double)event->duration_ns);
}

static int prof__figure_time(prof__figure *figure, uint64_t ns, uint64_t count)
{
    prof_stat *stat = &figure->stat;
    if (count == 1 || ns < stat->min_ns) stat->min_ns = ns;
    if (ns > stat->max_ns) stat->max_ns = ns;
    stat->total_ns = stat->total_ns + ns < ns ? ~(uint64_t)0 : stat->total_ns + ns;
    prof__figure_moments(figure, (double)ns, count);
    return prof__histogram_add(&figure->histogram, prof__step_of(ns), 1);
}

/* Leaves the scopes that are at this depth or deeper, or were over by then: others may have vanished. */
static void prof__figures_leave(prof__figures *all, size_t depth, int64_t now)
{
    while (all->depth && (all->stack[all->depth - 1].depth >= depth || all->stack[all->depth - 1].end < now)) {
        const prof__around *scope = &all->stack[--all->depth];
        if (scope->counts) all->items[scope->figure].open--;
        if (scope->counts && scope->duration > scope->inside)
            all->items[scope->figure].stat.self_ns += (uint64_t)(scope->duration - scope->inside);
    }
}

static int prof__figures_scope(prof__figures *all, const prof_event *event, size_t item)
{
    prof__figure *figure = &all->items[item];
    prof__around *scope;
    if (all->depth) all->stack[all->depth - 1].inside += event->duration_ns;
    if (!PROF__ROOM(all->stack, all->stack_capacity, all->depth)) return 0;
    scope = &all->stack[all->depth++];
    scope->figure = item;
    scope->depth = event->depth;
    scope->end = event->start_ns + event->duration_ns;
    scope->duration = event->duration_ns;
    scope->inside = 0;
    scope->counts = !event->flags && event->start_ns + event->duration_ns > all->since;
    if (event->start_ns + event->duration_ns <= all->since) return 1;
    if (event->name != event->site->name) ++*(event->site->name[0] ? &all->uses.formats : &all->uses.texts);
    figure->stat.count++;
    if (event->flags) {
        figure->stat.truncated++;
        return 1;
    }
    if (!figure->open++) figure->stat.covered_ns += (uint64_t)event->duration_ns;
    if (event->site->role == PROF_ROLE_THROUGHPUT) prof__figure_throughput(figure, event);
    return prof__figure_time(figure, (uint64_t)event->duration_ns, figure->stat.count - figure->stat.truncated);
}

/* Counts a message, and keeps it if it is one of the latest errors. */
static void prof__figures_message(prof__figures *all, const prof_event *event)
{
    uint64_t severity = event->detail < PROF_LOG_FATAL ? event->detail : (uint64_t)PROF_LOG_FATAL;
    size_t at = all->newest_count, length = strlen(event->value.as.string), most = sizeof all->newest[0].text - 1;
    all->messages[severity]++;
    if (severity < PROF_LOG_ERROR) return;
    while (at && all->newest[at - 1].ns <= event->start_ns) at--;
    if (at == PROF__NEWEST_MESSAGES) return;
    if (all->newest_count < PROF__NEWEST_MESSAGES) all->newest_count++;
    memmove(all->newest + at + 1, all->newest + at, (all->newest_count - at - 1) * sizeof *all->newest);
    while (length > most) /* cut between characters */
        for (length = most; length && ((unsigned char)event->value.as.string[length] & 0xC0) == 0x80;) length--;
    all->newest[at].ns = event->start_ns;
    all->newest[at].severity = event->detail;
    memcpy(all->newest[at].text, event->value.as.string, length);
    all->newest[at].text[length] = 0;
}

static void prof__figures_use(prof__uses *uses, const prof_event *event)
{
    uses->values += (uint64_t)event->arg_count << (event->type == PROF_EVENT_SCOPE);
    if (event->type >= PROF_EVENT_SPAN_BEGIN && event->type != PROF_EVENT_LOG)
        uses->objects++;
    else if (event->type != PROF_EVENT_SCOPE && event->type != PROF_EVENT_LOST)
        uses->marks++;
}

static int prof__figures_event(prof__figures *all, const prof_event *event, uint64_t track)
{
    size_t item;
    prof__figure *figure;
    double value;
    if (event->type == PROF_EVENT_LOG) prof__figures_message(all, event);
    if (all->messages_only) return 1;
    if (event->start_ns > all->since) prof__figures_use(&all->uses, event);
    if (event->type != PROF_EVENT_SCOPE && event->type != PROF_EVENT_FRAME && event->type != PROF_EVENT_COUNTER)
        return 1;
    if (event->type == PROF_EVENT_SCOPE) prof__figures_leave(all, event->depth, event->start_ns);
    item = prof__figure_of(all, event);
    if (item == PROF__NONE) return 0;
    figure = &all->items[item];
    if (event->type == PROF_EVENT_SCOPE) return prof__figures_scope(all, event, item);
    if (event->type == PROF_EVENT_FRAME) { /* the first boundary of a track only begins a frame */
        int begins = figure->track != track;
        figure->track = track;
        if (begins || event->start_ns <= all->since) return 1;
        figure->stat.covered_ns += (uint64_t)event->duration_ns;
        return prof__figure_time(figure, (uint64_t)event->duration_ns, ++figure->stat.count);
    }
    if (event->start_ns <= all->since) return 1;
    value = event->value.type == PROF_VALUE_INT ? (double)event->value.as.i : event->value.as.d;
    prof__figure_last(figure, value, event->start_ns); /* of threads one after the other */
    if (!figure->stat.count++ || value < figure->low) figure->low = value;
    if (figure->stat.count == 1 || value > figure->high) figure->high = value;
    prof__figure_moments(figure, value, figure->stat.count);
    return 1;
}

static void prof__figures_free(prof__figures *all)
{
    size_t i;
    for (i = 0; i < all->count; i++) {
        free(all->items[i].histogram.steps);
        free(all->items[i].text);
    }
    free(all->items);
    free(all->index.slots);
    free(all->stack);
}

static void prof__figure_finish(prof__figure *figure)
{
    prof_stat *stat = &figure->stat;
    uint64_t count = stat->count - stat->truncated;
    if (!count) return;
    if (stat->rates) stat->deviation_rate = prof__square_root(figure->rate_squares / (double)stat->rates);
    prof__percentiles(&figure->histogram, count, stat);
    stat->mean_ns = (double)stat->total_ns / (double)count;
    stat->deviation_ns = prof__square_root(figure->squares / (double)count);
}

static prof_status prof__figures_track(prof__figures *all, const prof_trace *trace, size_t track)
{
    prof_cursor *cursor;
    prof_event event;
    int good = 1;
    prof_status status = prof_cursor_open(trace, track, &cursor);
    if (status != PROF_OK) return status;
    all->since = trace->since ? trace->since[track] : INT64_MIN;
    while (good && prof_cursor_next(cursor, &event)) good = prof__figures_event(all, &event, track + 1);
    prof__figures_leave(all, 0, 0);
    prof_cursor_close(cursor);
    return good ? PROF_OK : prof__fail(PROF_NO_MEMORY, "no memory for the statistics");
}

static int prof__figures_span(prof__figures *all, const prof_span *span)
{
    prof_event event;
    prof__figure *figure;
    size_t item;
    int scope = prof__span_of_scope(span->site), frame = !scope && span->site->role == PROF_ROLE_FRAME;
    memset(&event, 0, sizeof event);
    event.type = scope ? PROF_EVENT_SCOPE : frame ? PROF_EVENT_FRAME : PROF_EVENT_SPAN_BEGIN;
    event.name = span->name;
    event.site = span->site;
    item = prof__figure_of(all, &event);
    if (item == PROF__NONE) return 0;
    figure = &all->items[item];
    if (span->flags) {
        all->begins_missing += !scope && span->flags & PROF_TRUNCATED_BEGIN ? 1 : 0;
        all->ends_missing += !scope && span->flags & PROF_TRUNCATED_END ? 1 : 0;
        figure->stat.count += !frame; /* half a frame is none */
        figure->stat.truncated += !frame;
        return 1;
    }
    if (!figure->stat.count++ || span->start_ns < figure->from) figure->from = span->start_ns;
    if (span->start_ns + span->duration_ns > figure->to) figure->to = span->start_ns + span->duration_ns;
    if (frame) figure->stat.covered_ns = (uint64_t)(figure->to - figure->from);
    if (scope) figure->stat.covered_ns += (uint64_t)span->duration_ns;
    if (!frame) figure->stat.self_ns += (uint64_t)span->duration_ns;
    return prof__figure_time(figure, (uint64_t)span->duration_ns, figure->stat.count - figure->stat.truncated);
}

static prof_status prof__figures_spans(prof__figures *all, const prof_trace *trace)
{
    prof_spans *spans;
    prof_span span;
    int good = 1;
    prof_status status = prof_spans_open(trace, &spans);
    if (status != PROF_OK) return status;
    while (good && prof_spans_next(spans, &span)) {
        int old = trace->since && span.start_ns + span.duration_ns <= trace->since[span.end_track];
        good = span.mark || old || prof__figures_span(all, &span);
    }
    status = prof_spans_close(spans);
    return good ? status : prof__fail(PROF_NO_MEMORY, "no memory for the statistics");
}

static void prof__folded_figures_free(struct prof__figure *figures, size_t count)
{
    for (size_t i = 0; figures && i < count; i++) free(figures[i].histogram.steps);
    free(figures);
}

/* Copies of what PROF_STATS knows. 0: no memory. */
static int prof__figures_copy(prof__figures *all, const prof_trace *trace)
{
    all->items = (prof__figure *)malloc((trace->folded_count + 1) * sizeof *all->items);
    if (!all->items) return 0;
    for (; all->count < trace->folded_count; all->count++) {
        const prof__histogram *from = &trace->folded[all->count].histogram;
        prof__figure *to = &all->items[all->count];
        *to = trace->folded[all->count];
        to->stat.parent = PROF_NO_PARENT; /* folded by scope */
        to->histogram.steps = NULL;
        if (!from->capacity) continue;
        to->histogram.steps = (prof__step *)malloc(from->capacity * sizeof *from->steps);
        if (!to->histogram.steps) return 0;
        memcpy(to->histogram.steps, from->steps, from->capacity * sizeof *from->steps);
    }
    return 1;
}

/* 1: what was counted while recording serves: it knows no paths and no windows. */
static int prof__figures_folded(const prof_trace *trace, int by_path)
{
    const prof_trace_info *info = prof_trace_about(trace);
    return trace->folded && (info->mode == PROF_STATS || (!by_path && !info->from_ns && !info->to_ns));
}

/* Only messages, and what devices report, are not among what was counted: these come from the events that there are. */
static prof_status prof__figures_take(prof__figures *all, const prof_trace *trace)
{
    prof_status status = PROF_OK;
    if (!prof__figures_copy(all, trace)) return prof__fail(PROF_NO_MEMORY, "no memory for the statistics");
    all->capacity = trace->folded_count + 1;
    for (size_t i = 0; i < prof_trace_track_count(trace) && status == PROF_OK; i++) {
        all->messages_only = !*prof_trace_track(trace, i)->device;
        status = prof__figures_track(all, trace, i);
    }
    for (size_t i = trace->folded_count; i < all->count; i++) prof__figure_finish(&all->items[i]);
    all->begins_missing = trace->begins_missing;
    all->ends_missing = trace->ends_missing;
    all->uses = trace->uses;
    return status;
}

/* Free with prof__figures_free(), also after a failure. */
static prof_status prof__figures_make(const prof_trace *trace, int by_path, prof__figures *all)
{
    prof_status status = PROF_OK;
    size_t i;
    memset(all, 0, sizeof *all);
    if (prof__figures_folded(trace, by_path)) return prof__figures_take(all, trace);
    all->by_path = by_path;
    for (i = 0; i < prof_trace_track_count(trace) && status == PROF_OK; i++)
        status = prof__figures_track(all, trace, i);
    if (status == PROF_OK) status = prof__figures_spans(all, trace);
    for (i = 0; i < all->count; i++) prof__figure_finish(&all->items[i]);
    return status;
}

/* What the sort functions compare. */
typedef struct prof__sorted {
    double key;
    int descending;
    size_t order;
    const prof_stat *stat;
} prof__sorted;

static int prof__sorted_order(const void *a, const void *b)
{
    const prof__sorted *x = (const prof__sorted *)a, *y = (const prof__sorted *)b;
    int names;
    if (x->key < y->key || x->key > y->key) return (x->key < y->key) != x->descending ? -1 : 1;
    names = strcmp(x->stat->name, y->stat->name);
    if (names) return names;
    return x->order < y->order ? -1 : x->order > y->order;
}

static double prof__sort_key(const prof_stat *stat, prof_sort sort)
{
    switch (sort) {
    case PROF_SORT_SELF: return (double)stat->self_ns;
    case PROF_SORT_CALLS: return (double)stat->count;
    case PROF_SORT_MEAN: return stat->mean_ns;
    case PROF_SORT_MIN: return (double)stat->min_ns;
    case PROF_SORT_MAX: return (double)stat->max_ns;
    case PROF_SORT_P99: return (double)stat->p99_ns;
    case PROF_SORT_NAME: return 0; /* the tie decides: names always go from A to Z */
    default: return (double)stat->total_ns;
    }
}

/* The figures of one type in order; null without memory. At least one element is allocated. */
static prof__sorted *prof__sort(const prof__figures *all, prof_event_type type, prof_sort sort, int ascending,
                                size_t *count)
{
    prof__sorted *sorted = (prof__sorted *)calloc(all->count + 1, sizeof *sorted);
    size_t i;
    *count = 0;
    for (i = 0; sorted && i < all->count; i++) {
        if (all->items[i].type != type) continue;
        if (!all->items[i].stat.count && type != PROF_EVENT_FRAME && !all->by_path) continue; /* nothing of late */
        sorted[*count].key = prof__sort_key(&all->items[i].stat, sort);
        sorted[*count].descending = !ascending;
        sorted[*count].order = i;
        sorted[*count].stat = &all->items[i].stat;
        ++*count;
    }
    if (sorted) qsort(sorted, *count, sizeof *sorted, prof__sorted_order);
    return sorted;
}

/* Puts the buckets of a finished histogram, whose steps are sorted, at to; returns their end. */
static prof_bucket *prof__buckets(const prof__histogram *h, prof_bucket *to)
{
    for (size_t i = 0; i < h->capacity; i++)
        if (h->steps[i].number) *to++ = prof__step_bucket(&h->steps[i]);
    return to;
}

/* In one piece, buckets and the names that were made at run time behind the figures. Null without memory. */
static prof_stat *prof__stats_copy(const prof__figures *all, const prof__sorted *sorted, size_t count)
{
    size_t size = (count + 1) * sizeof(prof_stat), buckets = 0, i;
    prof_stat *stats;
    prof_bucket *bucket;
    char *text;
    for (i = 0; i < count; i++) {
        if (sorted[i].stat->name != sorted[i].stat->site->name) size += strlen(sorted[i].stat->name) + 1;
        buckets += all->items[sorted[i].order].histogram.used;
    }
    stats = (prof_stat *)calloc(1, size + buckets * sizeof *bucket);
    if (!stats) return NULL;
    bucket = (prof_bucket *)(void *)(stats + count + 1);
    text = (char *)(bucket + buckets);
    for (i = 0; i < count; i++) {
        stats[i] = *sorted[i].stat;
        stats[i].buckets = bucket;
        bucket = prof__buckets(&all->items[sorted[i].order].histogram, bucket);
        stats[i].bucket_count = (size_t)(bucket - stats[i].buckets);
        if (stats[i].name == stats[i].site->name) continue;
        strcpy(text, stats[i].name);
        stats[i].name = text;
        text += strlen(text) + 1;
    }
    return stats;
}

/* By path: puts sorted rows into the order of the tree. Only the first `top` of them (0: all) stay, with those around
   them; returns how many that are. The others come behind these. */
static size_t prof__sort_tree(prof__figures *all, prof__sorted *rows, size_t count, size_t top)
{
    size_t i, at, root = PROF__NONE, kept = 0;
    for (i = 0; i < all->count; i++) all->items[i].child = all->items[i].sibling = all->items[i].row = PROF__NONE;
    for (i = 0; i < (top && top < count ? top : count); i++)
        for (at = rows[i].order; at != PROF_NO_PARENT && all->items[at].row; at = all->items[at].stat.parent)
            all->items[at].row = 0; /* stays */
    for (i = count; i--;) { /* from the last on, so that each goes in front of its siblings */
        prof__figure *figure = &all->items[rows[i].order];
        size_t *first = figure->stat.parent == PROF_NO_PARENT ? &root : &all->items[figure->stat.parent].child;
        if (figure->row) continue;
        figure->sibling = *first;
        *first = rows[i].order;
    }
    for (at = root; at != PROF__NONE;) {
        prof__figure *figure = &all->items[at];
        figure->row = kept;
        rows[kept].order = at;
        rows[kept++].stat = &figure->stat;
        if (figure->child != PROF__NONE) {
            at = figure->child;
            continue;
        }
        while (at != PROF_NO_PARENT && all->items[at].sibling == PROF__NONE) at = all->items[at].stat.parent;
        if (at != PROF_NO_PARENT) at = all->items[at].sibling;
    }
    for (i = kept, at = 0; i < count; at++) {
        if (all->items[at].type != PROF_EVENT_SCOPE || all->items[at].row != PROF__NONE) continue;
        rows[i].order = at;
        rows[i++].stat = &all->items[at].stat;
    }
    return kept;
}

static prof_status prof__stats(const prof_trace *trace, prof_event_type type, int by_path, prof_sort sort,
                               int ascending, prof_stat **stats, size_t *count)
{
    prof__figures all;
    prof__sorted *sorted = NULL;
    prof_status status;
    size_t i;
    if (!trace || !stats || !count)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_stats: trace, stats or count is null");
    *stats = NULL;
    *count = 0;
    status = prof__figures_make(trace, by_path, &all);
    if (status == PROF_OK) {
        sorted = prof__sort(&all, type, sort, ascending, count);
        if (sorted && by_path) prof__sort_tree(&all, sorted, *count, 0);
        *stats = sorted ? prof__stats_copy(&all, sorted, *count) : NULL;
        if (!*stats) status = prof__fail(PROF_NO_MEMORY, "no memory for the statistics");
    }
    if (status != PROF_OK) *count = 0;
    for (i = 0; i < *count; i++)
        if ((*stats)[i].parent != PROF_NO_PARENT) (*stats)[i].parent = all.items[(*stats)[i].parent].row;
    free(sorted);
    prof__figures_free(&all);
    return status;
}

PROF_DEF prof_status prof_stats(const prof_trace *trace, prof_sort sort, int ascending, prof_stat **stats,
                                size_t *count)
{
    return prof__stats(trace, PROF_EVENT_SCOPE, 0, sort, ascending, stats, count);
}

PROF_DEF prof_status prof_span_stats(const prof_trace *trace, prof_sort sort, int ascending, prof_stat **stats,
                                     size_t *count)
{
    return prof__stats(trace, PROF_EVENT_SPAN_BEGIN, 0, sort, ascending, stats, count);
}

PROF_DEF prof_status prof_stats_by_path(const prof_trace *trace, prof_sort sort, int ascending, prof_stat **stats,
                                        size_t *count)
{
    return prof__stats(trace, PROF_EVENT_SCOPE, 1, sort, ascending, stats, count);
}

PROF_DEF void prof_stats_free(prof_stat *stats)
{
    free(stats);
}

/*-- ALLOCATIONS -------------------------------------------------------------------------------------- >>allocations --
   A walk over all tracks in order of time: a table has the blocks that are live, and those freed of late, so that a
   block that is freed twice is told from one that was allocated before the trace. Shared with prof_chrome.h, whose
   counters show what changes at each step. */

#define PROF__HEAP_LEAST ((size_t)4096)  /* slots of the table */
#define PROF__HEAP_KEEP ((size_t)262144) /* up to so many slots nothing that was freed is forgotten */
#define PROF__HEAP_DEEP 32               /* memory scopes inside one another that count */
/* Clocks are read without ordering, and threads on different processors: what one does with a block that it got from
   another may seem to be that much earlier, nanoseconds, than what the other did. */
#define PROF__ORDER_NS 500

typedef enum prof__heap_state {
    PROF__HEAP_NONE = 0, /* a free slot of the table */
    PROF__HEAP_LIVE,
    PROF__HEAP_FREED,
    PROF__HEAP_UNKNOWN, /* freed, but it was not live: counted in freed_unknown */
    PROF__HEAP_TWICE    /* the same, but it was freed before: counted in freed_twice */
} prof__heap_state;

typedef struct prof__heap_block {
    uint64_t address, bytes;
    int64_t ns; /* of what happened to it last, on this track */
    size_t track;
    uint32_t row, pool; /* row: of the site */
    uint32_t owed;      /* allocations over a live block whose free may be yet to come */
    prof__heap_state state;
} prof__heap_block;

typedef enum prof__heap_kind {
    PROF__HEAP_POOL,
    PROF__HEAP_SCOPE,
    PROF__HEAP_SITE
} prof__heap_kind;

typedef struct prof__heap_row {
    prof_memory_row about;
    prof__heap_kind kind;
    uint32_t scope, pool; /* of a site: its rows; scope of a scope: the one around it */
    uint32_t deep;        /* of a scope: how many are around it */
    char *path;           /* of a scope; owned. Its own name is at the end, */
    size_t name;          /* from here on */
} prof__heap_row;

/* A scope that is open on a track: what an allocation inside belongs to. */
typedef struct prof__heap_around {
    const prof_callsite *site;
    uint32_t scope;
} prof__heap_around;

typedef struct prof__heap_stack {
    prof__heap_around *items;
    size_t count, capacity;
} prof__heap_stack;

typedef struct prof__heap {
    prof__heap_block *blocks; /* a hash table by address */
    size_t capacity, used, live;
    prof__heap_row *rows; /* [0]: outside of all memory scopes */
    size_t row_count, row_capacity;
    prof__read_index index;
    prof__heap_stack *stacks; /* of the tracks */
    size_t tracks;
    size_t changed; /* the pool whose live bytes the last step changed; PROF__NONE */
    prof_memory_stats stats;
} prof__heap;

/* Whether the trace has a call site with this role: a walk may be spared. */
static int prof__has_role(const prof_trace *trace, uint32_t role)
{
    size_t i;
    for (i = 0; i < trace->site_count; i++)
        if (trace->sites[i].about.role == role) return 1;
    return 0;
}

/*-- rows --*/

typedef struct prof__heap_key {
    prof__heap_kind kind;
    const prof_callsite *site, *around;
    uint32_t scope;
    const char *text; /* of a pool: its name; of a scope: the last part of its name */
} prof__heap_key;

static int prof__heap_same(const void *owner, size_t item, const void *key)
{
    const prof__heap_row *row = (const prof__heap_row *)owner + item;
    const prof__heap_key *wanted = (const prof__heap_key *)key;
    if (row->kind != wanted->kind) return 0;
    if (row->kind == PROF__HEAP_POOL) return !strcmp(row->about.pool, wanted->text);
    if (row->scope != wanted->scope) return 0;
    if (row->kind == PROF__HEAP_SCOPE) return item && !strcmp(row->path + row->name, wanted->text);
    return row->about.site == wanted->site && row->about.around == wanted->around;
}

static char *prof__heap_path(const char *outer, const char *name)
{
    size_t before = strlen(outer);
    char *path = (char *)malloc(before + strlen(name) + 2);
    if (!path) return NULL;
    memcpy(path, outer, before);
    if (before) path[before++] = ':';
    strcpy(path + before, name);
    return path;
}

/* The number of a row, which is made if there is none yet; PROF__NONE without memory. */
static size_t prof__heap_row_of(prof__heap *heap, const prof__heap_key *key)
{
    uint32_t hash = (uint32_t)prof__mix((uint64_t)(uintptr_t)key->site * 31 + (uint64_t)(uintptr_t)key->around * 17 +
                                        key->scope * 5u + (uint64_t)key->kind) +
                    (key->text ? prof__text_hash(key->text) : 0);
    size_t item = prof__read_find(&heap->index, hash, prof__heap_same, heap->rows, key);
    prof__heap_row *row;
    if (item != PROF__NONE) return item;
    if (!PROF__ROOM(heap->rows, heap->row_capacity, heap->row_count)) return PROF__NONE;
    row = &heap->rows[heap->row_count];
    memset(row, 0, sizeof *row);
    row->kind = key->kind;
    row->about.site = key->site;
    row->about.around = key->around;
    row->scope = key->scope;
    if (key->kind == PROF__HEAP_POOL) row->about.pool = key->text;
    if (key->kind == PROF__HEAP_SCOPE) {
        const prof__heap_row *outer = &heap->rows[key->scope];
        row->path = prof__heap_path(outer->path, key->text);
        if (!row->path) return PROF__NONE;
        row->name = strlen(row->path) - strlen(key->text);
        row->deep = outer->deep + 1;
    }
    if (!prof__read_add(&heap->index, hash, heap->row_count)) {
        free(row->path);
        return PROF__NONE;
    }
    return heap->row_count++;
}

static void prof__heap_row_add(prof__heap_row *row, uint64_t bytes, int64_t ns)
{
    prof_memory_row *about = &row->about;
    about->count++;
    about->bytes += bytes;
    about->live_count++;
    about->live_bytes += bytes;
    if (about->live_bytes <= about->peak_bytes) return;
    about->peak_bytes = about->live_bytes;
    about->peak_ns = ns;
}

static void prof__heap_count(prof__heap *heap, const prof__heap_block *block, int64_t ns)
{
    const prof__heap_row *row = &heap->rows[block->row];
    prof__heap_row_add(&heap->rows[block->row], block->bytes, ns);
    prof__heap_row_add(&heap->rows[row->scope], block->bytes, ns);
    prof__heap_row_add(&heap->rows[row->pool], block->bytes, ns);
    heap->live++;
    heap->changed = row->pool;
}

static void prof__heap_uncount(prof__heap *heap, const prof__heap_block *block)
{
    uint32_t each[3], i;
    each[0] = block->row;
    each[1] = heap->rows[block->row].scope;
    each[2] = heap->rows[block->row].pool;
    for (i = 0; i < 3; i++) {
        heap->rows[each[i]].about.live_count--;
        heap->rows[each[i]].about.live_bytes -= block->bytes;
    }
    heap->live--;
    heap->changed = each[2];
}

/*-- blocks --*/

static size_t prof__heap_slot(const prof__heap *heap, uint64_t address)
{
    return (size_t)prof__mix(address * 0x9E3779B97F4A7C15u) & (heap->capacity - 1);
}

/* The block at an address that a pool has, live or not; if it has no live one, and may be of any pool, the newest live
   one of all. Null: nothing is known of that address. */
static prof__heap_block *prof__heap_find(const prof__heap *heap, uint64_t address, uint32_t pool, int any)
{
    prof__heap_block *own = NULL, *other = NULL;
    size_t at = prof__heap_slot(heap, address);
    for (; heap->blocks[at].state; at = (at + 1) & (heap->capacity - 1)) {
        prof__heap_block *block = &heap->blocks[at];
        if (block->address != address) continue;
        if (block->pool == pool)
            own = block;
        else if (block->state == PROF__HEAP_LIVE && (!other || other->ns <= block->ns))
            other = block;
    }
    return any && other && (!own || own->state != PROF__HEAP_LIVE) ? other : own;
}

static prof__heap_block *prof__heap_put(prof__heap *heap, const prof__heap_block *block)
{
    size_t at = prof__heap_slot(heap, block->address);
    while (heap->blocks[at].state) at = (at + 1) & (heap->capacity - 1);
    heap->used++;
    heap->blocks[at] = *block;
    return &heap->blocks[at];
}

/* Makes a larger table, or one of the same size in which nothing but live blocks is left. */
static int prof__heap_grow(prof__heap *heap)
{
    prof__heap_block *old = heap->blocks;
    size_t count = heap->capacity, i;
    int all = count < PROF__HEAP_KEEP;
    if (all || heap->live > count / 2) heap->capacity = count ? count * 2 : PROF__HEAP_LEAST;
    heap->blocks = NULL;
    if (heap->capacity <= (size_t)-1 / sizeof *old)
        heap->blocks = (prof__heap_block *)calloc(heap->capacity, sizeof *old);
    if (!heap->blocks) {
        heap->blocks = old;
        heap->capacity = count;
        return 0;
    }
    heap->used = 0;
    for (i = 0; i < count; i++)
        if (old[i].state == PROF__HEAP_LIVE || (all && old[i].state)) prof__heap_put(heap, &old[i]);
    free(old);
    return 1;
}

/* A block for an address and pool that have none; null without memory. */
static prof__heap_block *prof__heap_new(prof__heap *heap, uint64_t address, uint32_t pool)
{
    prof__heap_block block;
    if (heap->used >= heap->capacity / 4 * 3 && !prof__heap_grow(heap)) return NULL;
    memset(&block, 0, sizeof block);
    block.address = address;
    block.pool = pool;
    block.state = PROF__HEAP_FREED;
    return prof__heap_put(heap, &block);
}

/*-- events --*/

/* Whether what happened to a block on one track just before may in truth have come after this, on another. */
static int prof__heap_crossed(const prof__heap_block *block, const prof_event *event, size_t track)
{
    return block->track != track && event->start_ns - block->ns <= PROF__ORDER_NS;
}

static int prof__heap_scope(prof__heap *heap, const prof_event *event, size_t track)
{
    prof__heap_stack *stack = &heap->stacks[track];
    prof__heap_around around = {NULL, 0};
    if (stack->count > event->depth) stack->count = event->depth;
    if (stack->count) around = stack->items[stack->count - 1];
    if (event->site->role != PROF_ROLE_MEMORY) {
        around.site = event->site;
    } else if (heap->rows[around.scope].deep < PROF__HEAP_DEEP) {
        prof__heap_key key = {PROF__HEAP_SCOPE, NULL, NULL, around.scope, event->name};
        size_t row = prof__heap_row_of(heap, &key);
        if (row == PROF__NONE) return 0;
        around.scope = (uint32_t)row;
    }
    do { /* once, unless what is around this scope is not in the window */
        if (!PROF__ROOM(stack->items, stack->capacity, stack->count)) return 0;
        stack->items[stack->count++] = around;
    } while (stack->count <= event->depth);
    return 1;
}

/* The row of the pool of an event, PROF__NONE without memory. */
static size_t prof__heap_pool(prof__heap *heap, const prof_event *event)
{
    prof__heap_key key = {PROF__HEAP_POOL, NULL, NULL, 0, event->site->category};
    return prof__heap_row_of(heap, &key);
}

/* The row of the call site of an allocation in what is around it. */
static size_t prof__heap_site(prof__heap *heap, const prof_event *event, size_t track, size_t pool)
{
    const prof__heap_stack *stack = &heap->stacks[track];
    size_t open = stack->count < event->depth ? stack->count : event->depth, row;
    prof__heap_key key = {PROF__HEAP_SITE, event->site, NULL, 0, NULL};
    if (open) {
        key.around = stack->items[open - 1].site;
        key.scope = stack->items[open - 1].scope;
    }
    row = prof__heap_row_of(heap, &key);
    if (row != PROF__NONE) heap->rows[row].pool = (uint32_t)pool;
    return row;
}

static int prof__heap_alloc(prof__heap *heap, const prof_event *event, size_t track)
{
    size_t pool = prof__heap_pool(heap, event);
    size_t row = pool == PROF__NONE ? PROF__NONE : prof__heap_site(heap, event, track, pool);
    prof__heap_block *block;
    int gone; /* freed already, by a thread whose clock was read early */
    if (row == PROF__NONE) return 0;
    block = prof__heap_find(heap, event->object, (uint32_t)pool, 0);
    if (!block) block = prof__heap_new(heap, event->object, (uint32_t)pool);
    if (!block) return 0;
    heap->stats.count++;
    gone = block->state > PROF__HEAP_FREED && prof__heap_crossed(block, event, track);
    if (gone && block->state == PROF__HEAP_UNKNOWN) heap->stats.freed_unknown--;
    if (gone && block->state == PROF__HEAP_TWICE) heap->stats.freed_twice--;
    if (block->state == PROF__HEAP_LIVE) {
        prof__heap_uncount(heap, block);
        heap->stats.not_freed++;
        block->owed++;
    }
    block->bytes = event->detail;
    block->row = (uint32_t)row;
    prof__heap_count(heap, block, event->start_ns);
    if (gone) prof__heap_uncount(heap, block);
    block->state = gone ? PROF__HEAP_FREED : PROF__HEAP_LIVE;
    block->ns = event->start_ns;
    block->track = track;
    return 1;
}

static int prof__heap_free(prof__heap *heap, const prof_event *event, size_t track)
{
    size_t pool = prof__heap_pool(heap, event);
    prof__heap_block *block;
    if (pool == PROF__NONE) return 0;
    heap->stats.frees++;
    block = prof__heap_find(heap, event->object, (uint32_t)pool, !(event->detail & PROF__FREE_IN_POOL));
    if (block && block->owed && block->track != track &&
        (event->detail & PROF__FREE_LATE || prof__heap_crossed(block, event, track))) {
        block->owed--; /* of the block that was there before */
        heap->stats.not_freed--;
        return 1;
    }
    if (block && block->state == PROF__HEAP_LIVE) {
        prof__heap_uncount(heap, block);
        block->state = PROF__HEAP_FREED;
    } else if (block) {
        heap->stats.freed_twice++;
        block->state = PROF__HEAP_TWICE;
    } else {
        block = prof__heap_new(heap, event->object, (uint32_t)pool);
        if (!block) return 0;
        heap->stats.freed_unknown++;
        block->state = PROF__HEAP_UNKNOWN;
    }
    block->ns = event->start_ns;
    block->track = track;
    return 1;
}

/* The next event of a timeline; 0 without memory. */
static int prof__heap_step(prof__heap *heap, const prof_event *event, size_t track)
{
    heap->changed = PROF__NONE;
    switch (event->type) {
    case PROF_EVENT_SCOPE: return prof__heap_scope(heap, event, track);
    case PROF_EVENT_ALLOC: return prof__heap_alloc(heap, event, track);
    case PROF_EVENT_FREE: return prof__heap_free(heap, event, track);
    default: return 1;
    }
}

/* 0 without memory. In any case prof__heap_close() follows. */
static int prof__heap_open(prof__heap *heap, const prof_trace *trace)
{
    memset(heap, 0, sizeof *heap);
    heap->tracks = prof_trace_track_count(trace);
    heap->stacks = (prof__heap_stack *)calloc(heap->tracks + 1, sizeof *heap->stacks);
    if (!heap->stacks || !prof__heap_grow(heap)) return 0;
    if (!PROF__ROOM(heap->rows, heap->row_capacity, heap->row_count)) return 0;
    memset(heap->rows, 0, sizeof *heap->rows);
    heap->rows[0].kind = PROF__HEAP_SCOPE;
    heap->rows[0].path = prof__heap_path("", "");
    return (int)(heap->row_count = heap->rows[0].path != NULL);
}

static void prof__heap_close(prof__heap *heap)
{
    size_t i;
    for (i = 0; i < heap->row_count; i++) free(heap->rows[i].path);
    for (i = 0; heap->stacks && i < heap->tracks; i++) free(heap->stacks[i].items);
    free(heap->rows);
    free(heap->stacks);
    free(heap->blocks);
    free(heap->index.slots);
}

static prof_status prof__heap_walk(prof__heap *heap, const prof_trace *trace)
{
    prof_timeline *timeline = NULL;
    prof_event event;
    size_t track;
    int good = prof__heap_open(heap, trace);
    prof_status status = good ? prof_timeline_open(trace, &timeline) : PROF_OK;
    while (good && timeline && prof_timeline_next(timeline, &event, &track))
        good = prof__heap_step(heap, &event, track);
    if (timeline) status = prof_timeline_close(timeline);
    return good ? status : prof__fail(PROF_NO_MEMORY, "no memory for the live blocks");
}

/* The most bytes first; what has equal ones keeps its order. */
static int prof__memory_order(const void *a, const void *b)
{
    const prof__heap_row *const *x = (const prof__heap_row *const *)a, *const *y = (const prof__heap_row *const *)b;
    if ((*x)->kind != (*y)->kind) return (*x)->kind < (*y)->kind ? -1 : 1;
    if ((*x)->about.bytes != (*y)->about.bytes) return (*x)->about.bytes > (*y)->about.bytes ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

/* In one piece: the figures, their rows, the names of the scopes. Null without memory. */
static prof_memory_stats *prof__memory_copy(const prof__heap *heap)
{
    const prof__heap_row **order = (const prof__heap_row **)malloc(heap->row_count * sizeof *order);
    size_t size = sizeof(prof_memory_stats) + heap->row_count * sizeof(prof_memory_row), counts[3] = {0, 0, 0}, i;
    prof_memory_stats *stats = NULL;
    prof_memory_row *rows;
    const char **paths = (const char **)malloc(heap->row_count * sizeof *paths);
    char *text;
    for (i = 0; i < heap->row_count; i++)
        if (heap->rows[i].path) size += strlen(heap->rows[i].path) + 1;
    if (order && paths) stats = (prof_memory_stats *)calloc(1, size);
    if (stats) {
        *stats = heap->stats;
        rows = (prof_memory_row *)(stats + 1);
        text = (char *)(rows + heap->row_count);
        for (i = 0; i < heap->row_count; i++) {
            order[i] = &heap->rows[i];
            if (!heap->rows[i].path) continue;
            paths[i] = strcpy(text, heap->rows[i].path);
            text += strlen(text) + 1;
        }
        qsort(order, heap->row_count, sizeof *order, prof__memory_order);
        for (i = 0; i < heap->row_count; i++) {
            if (!order[i]->about.count) continue; /* of a pool: only freed; of a scope: nothing inside */
            *rows = order[i]->about;
            if (order[i]->kind == PROF__HEAP_SCOPE) rows->scope = paths[order[i] - heap->rows];
            if (order[i]->kind == PROF__HEAP_SITE) {
                rows->scope = paths[order[i]->scope];
                rows->pool = heap->rows[order[i]->pool].about.pool;
            }
            counts[order[i]->kind]++;
            rows++;
        }
        stats->pools = (const prof_memory_row *)(stats + 1);
        stats->scopes = stats->pools + (stats->pool_count = counts[PROF__HEAP_POOL]);
        stats->sites = stats->scopes + (stats->scope_count = counts[PROF__HEAP_SCOPE]);
        stats->site_count = counts[PROF__HEAP_SITE];
    }
    free(order);
    free(paths);
    return stats;
}

PROF_DEF prof_status prof_memory(const prof_trace *trace, prof_memory_stats **stats)
{
    prof__heap heap;
    prof_status status;
    if (!trace || !stats) return prof__fail(PROF_INVALID_ARGUMENT, "prof_memory: trace or stats is null");
    *stats = NULL;
    status = prof__heap_walk(&heap, trace);
    if (status == PROF_OK) {
        *stats = prof__memory_copy(&heap);
        if (!*stats) status = prof__fail(PROF_NO_MEMORY, "no memory for the figures of allocations");
    }
    prof__heap_close(&heap);
    return status;
}

PROF_DEF void prof_memory_free(prof_memory_stats *stats)
{
    free(stats);
}

/*-- LOCKS -------------------------------------------------------------------------------------------------- >>locks --
   The same walk for locks. A lock is its address, for as long as its name stays the same. What one thread does with a
   lock is matched by itself, so that it does not matter if clocks differ a little. */

typedef struct prof__lock_state {
    uint64_t address;
    size_t row;
    uint64_t acquired;        /* by anybody */
    uint64_t holders, waiting; /* threads */
    size_t holder, holder_before; /* the user that has held it last, and the one before; the same if there was none */
    int64_t released_ns;
} prof__lock_state;

/* What a track does with a lock. */
typedef struct prof__lock_user {
    size_t lock, track;
    uint64_t depth;    /* acquires without their release */
    uint64_t losses;   /* of the track, as it knows them */
    uint64_t acquired; /* of the lock, when this one began to wait */
    int64_t wait_ns, hold_ns; /* begin */
    int waits, contended;
    int scoped; /* the wait is a scope, too: PROFILE_MUTEX_LOCK's */
} prof__lock_user;

typedef enum prof__lock_part {
    PROF__LOCK_NOTHING,
    PROF__LOCK_WAITED,
    PROF__LOCK_HELD
} prof__lock_part;

typedef struct prof__locks {
    prof_lock_row *rows;
    prof__lock_state *locks;
    prof__lock_user *users;
    size_t row_count, row_capacity, lock_count, lock_capacity, user_count, user_capacity;
    prof__read_index row_index, lock_index, user_index;
    uint64_t *losses; /* of the tracks */
    int by_address;
    struct {
        prof__lock_part part;
        size_t user;
        int64_t start, end;
        int shared; /* others held it at the same time */
    } done; /* what the last step ended */
} prof__locks;

static int prof__same_lock(const void *owner, size_t item, const void *key)
{
    return ((const prof__lock_state *)owner)[item].address == *(const uint64_t *)key;
}

static int prof__same_lock_user(const void *owner, size_t item, const void *key)
{
    const prof__lock_user *user = (const prof__lock_user *)owner + item, *wanted = (const prof__lock_user *)key;
    return user->lock == wanted->lock && user->track == wanted->track;
}

static int prof__same_lock_row(const void *owner, size_t item, const void *key)
{
    const prof_lock_row *row = (const prof_lock_row *)owner + item, *wanted = (const prof_lock_row *)key;
    return row->address == wanted->address && !strcmp(row->name, wanted->name) &&
           !strcmp(row->category, wanted->category);
}

/* Each returns a number, or PROF__NONE without memory. */
static size_t prof__lock_row_of(prof__locks *all, const prof_event *event)
{
    prof_lock_row row;
    uint32_t hash;
    size_t item;
    memset(&row, 0, sizeof row);
    row.name = event->site->name;
    row.category = event->site->category;
    row.address = all->by_address ? event->object : 0;
    hash = prof__text_hash(row.name) + (uint32_t)prof__mix(row.address);
    item = prof__read_find(&all->row_index, hash, prof__same_lock_row, all->rows, &row);
    if (item != PROF__NONE) return item;
    if (!PROF__ROOM(all->rows, all->row_capacity, all->row_count) ||
        !prof__read_add(&all->row_index, hash, all->row_count))
        return PROF__NONE;
    all->rows[all->row_count] = row;
    return all->row_count++;
}

static size_t prof__lock_of(prof__locks *all, const prof_event *event)
{
    uint32_t hash = (uint32_t)prof__mix(event->object * 0x9E3779B97F4A7C15u);
    size_t item = prof__read_find(&all->lock_index, hash, prof__same_lock, all->locks, &event->object);
    prof__lock_state *lock;
    if (item != PROF__NONE) return item;
    if (!PROF__ROOM(all->locks, all->lock_capacity, all->lock_count) ||
        !prof__read_add(&all->lock_index, hash, all->lock_count))
        return PROF__NONE;
    lock = &all->locks[all->lock_count];
    memset(lock, 0, sizeof *lock);
    lock->address = event->object;
    lock->row = PROF__NONE; /* until it has a name */
    lock->holder = PROF__NONE;
    return all->lock_count++;
}

static size_t prof__lock_user_of(prof__locks *all, size_t lock, size_t track)
{
    prof__lock_user user;
    uint32_t hash = (uint32_t)prof__mix(lock * 0x9E3779B97F4A7C15u + track);
    size_t item;
    memset(&user, 0, sizeof user);
    user.lock = lock;
    user.track = track;
    user.losses = all->losses[track];
    item = prof__read_find(&all->user_index, hash, prof__same_lock_user, all->users, &user);
    if (item != PROF__NONE) return item;
    if (!PROF__ROOM(all->users, all->user_capacity, all->user_count) ||
        !prof__read_add(&all->user_index, hash, all->user_count))
        return PROF__NONE;
    all->users[all->user_count] = user;
    return all->user_count++;
}

static void prof__lock_end_wait(prof__locks *all, prof__lock_user *user, int acquired)
{
    prof__lock_state *lock = &all->locks[user->lock];
    if (!user->waits) return;
    user->waits = 0;
    lock->waiting--;
    all->rows[lock->row].waiting--;
    all->rows[lock->row].abandoned += !acquired;
}

static void prof__lock_forget_hold(prof__locks *all, prof__lock_user *user)
{
    prof__lock_state *lock = &all->locks[user->lock];
    if (!user->depth) return;
    user->depth = 0;
    lock->holders--;
    all->rows[lock->row].holding--;
    all->rows[lock->row].unmatched++;
}

static void prof__lock_wait(prof__locks *all, const prof_event *event, size_t number)
{
    prof__lock_user *user = &all->users[number];
    prof__lock_state *lock = &all->locks[user->lock];
    prof_lock_row *row = &all->rows[lock->row];
    prof__lock_end_wait(all, user, 0);
    user->waits = 1;
    user->wait_ns = event->start_ns;
    user->acquired = lock->acquired;
    user->scoped = event->detail & 1;
    user->contended = user->scoped || lock->holders > (user->depth != 0);
    row->waiting++;
    if (++lock->waiting > row->waiting_max) row->waiting_max = lock->waiting;
}

static void prof__lock_acquire(prof__locks *all, const prof_event *event, size_t number)
{
    prof__lock_user *user = &all->users[number];
    prof__lock_state *lock = &all->locks[user->lock];
    prof_lock_row *row = &all->rows[lock->row];
    row->acquired++;
    if (user->waits) {
        uint64_t ns = (uint64_t)(event->start_ns - user->wait_ns);
        int contended = user->contended || lock->acquired != user->acquired;
        row->contended += (uint64_t)contended;
        row->wait_ns += ns;
        if (ns > row->wait_max_ns) row->wait_max_ns = ns;
        prof__lock_end_wait(all, user, 1);
        all->done.part = PROF__LOCK_WAITED;
        all->done.start = user->wait_ns;
        if (contended && user->depth) prof__lock_forget_hold(all, user); /* nobody waits for what is his */
    }
    lock->acquired++;
    if (user->depth++) return;
    user->hold_ns = event->start_ns;
    if (lock->holder != number) lock->holder_before = lock->holder == PROF__NONE ? number : lock->holder;
    lock->holder = number;
    lock->holders++;
    row->holding++;
}

/* Whether somebody else holds a lock that has just been released, and not only by clocks that differ a little. */
static int prof__lock_shared(const prof__locks *all, const prof__lock_state *lock, int64_t now)
{
    const prof__lock_user *other;
    if (lock->holders != 1) return lock->holders != 0;
    other = &all->users[lock->holder];
    if (!other->depth) other = &all->users[lock->holder_before];
    return !other->depth || now - other->hold_ns > PROF__ORDER_NS;
}

static void prof__lock_release(prof__locks *all, const prof_event *event, size_t number)
{
    prof__lock_user *user = &all->users[number];
    prof__lock_state *lock = &all->locks[user->lock];
    prof_lock_row *row = &all->rows[lock->row];
    uint64_t ns;
    prof__lock_end_wait(all, user, 0); /* or it could not go on to this */
    if (!user->depth && lock->holders == 1 && all->users[lock->holder].depth) { /* by another thread, as a semaphore */
        number = lock->holder;
        user = &all->users[number];
    }
    if (!user->depth) {
        row->unmatched++;
        return;
    }
    if (--user->depth) return;
    ns = event->start_ns > user->hold_ns ? (uint64_t)(event->start_ns - user->hold_ns) : 0;
    row->hold_ns += ns;
    if (ns > row->hold_max_ns) row->hold_max_ns = ns;
    lock->holders--;
    row->holding--;
    all->done.part = PROF__LOCK_HELD;
    all->done.user = number;
    all->done.start = user->hold_ns;
    if (lock->released_ns > all->done.start && lock->released_ns - all->done.start <= PROF__ORDER_NS)
        all->done.start = lock->released_ns; /* the clocks' fault */
    if (all->done.start > event->start_ns) all->done.start = event->start_ns;
    all->done.shared = prof__lock_shared(all, lock, event->start_ns) || lock->released_ns > all->done.start;
    if (event->start_ns > lock->released_ns) lock->released_ns = event->start_ns;
}

/* The next event of a timeline; 0 without memory. */
static int prof__locks_step(prof__locks *all, const prof_event *event, size_t track)
{
    size_t number, user, row;
    prof__lock_state *lock;
    memset(&all->done, 0, sizeof all->done);
    if (event->type == PROF_EVENT_LOST) all->losses[track]++;
    if (event->type != PROF_EVENT_LOCK_WAIT && event->type != PROF_EVENT_LOCK_ACQUIRE &&
        event->type != PROF_EVENT_LOCK_RELEASE)
        return 1;
    number = prof__lock_of(all, event);
    if (number == PROF__NONE) return 0;
    lock = &all->locks[number];
    if (lock->row == PROF__NONE || (event->type != PROF_EVENT_LOCK_RELEASE && !lock->holders && !lock->waiting)) {
        /* a name may have been a release's, or that of a lock that was here before */
        row = prof__lock_row_of(all, event);
        if (row == PROF__NONE) return 0;
        if (row != lock->row) all->rows[row].locks++;
        lock->row = row;
    }
    user = prof__lock_user_of(all, number, track);
    if (user == PROF__NONE) return 0;
    if (all->users[user].losses != all->losses[track]) { /* what it held it may hold no more */
        all->users[user].losses = all->losses[track];
        prof__lock_forget_hold(all, &all->users[user]);
        prof__lock_end_wait(all, &all->users[user], 0);
    }
    all->done.user = user;
    all->done.end = event->start_ns;
    if (event->type == PROF_EVENT_LOCK_WAIT) prof__lock_wait(all, event, user);
    if (event->type == PROF_EVENT_LOCK_ACQUIRE) prof__lock_acquire(all, event, user);
    if (event->type == PROF_EVENT_LOCK_RELEASE) prof__lock_release(all, event, user);
    return 1;
}

/* 0 without memory. In any case prof__locks_close() follows. */
static int prof__locks_open(prof__locks *all, const prof_trace *trace, int by_address)
{
    memset(all, 0, sizeof *all);
    all->by_address = by_address;
    all->losses = (uint64_t *)calloc(prof_trace_track_count(trace) + 1, sizeof *all->losses);
    return all->losses != NULL;
}

static void prof__locks_close(prof__locks *all)
{
    free(all->rows);
    free(all->locks);
    free(all->users);
    free(all->losses);
    free(all->row_index.slots);
    free(all->lock_index.slots);
    free(all->user_index.slots);
}

static prof_status prof__locks_walk(prof__locks *all, const prof_trace *trace, int by_address)
{
    prof_timeline *timeline;
    prof_event event;
    size_t track;
    int good = prof__locks_open(all, trace, by_address);
    prof_status status;
    if (!good) return prof__fail(PROF_NO_MEMORY, "no memory for the locks");
    status = prof_timeline_open(trace, &timeline);
    if (status != PROF_OK) return status;
    while (good && prof_timeline_next(timeline, &event, &track)) good = prof__locks_step(all, &event, track);
    status = prof_timeline_close(timeline);
    return good ? status : prof__fail(PROF_NO_MEMORY, "no memory for the locks");
}

static int prof__lock_order(const void *a, const void *b)
{
    const prof_lock_row *x = (const prof_lock_row *)a, *y = (const prof_lock_row *)b;
    int names;
    if (x->wait_ns != y->wait_ns) return x->wait_ns > y->wait_ns ? -1 : 1;
    if (x->hold_ns != y->hold_ns) return x->hold_ns > y->hold_ns ? -1 : 1;
    names = strcmp(x->name, y->name);
    return names ? names : x->address < y->address ? -1 : x->address > y->address;
}

PROF_DEF prof_status prof_locks(const prof_trace *trace, int by_address, prof_lock_row **rows, size_t *count)
{
    prof__locks all;
    prof_status status;
    size_t i, kept = 0;
    if (!trace || !rows || !count) return prof__fail(PROF_INVALID_ARGUMENT, "prof_locks: trace, rows or count is null");
    *rows = NULL;
    *count = 0;
    status = prof__locks_walk(&all, trace, by_address != 0);
    for (i = 0; status == PROF_OK && i < all.lock_count; i++) /* of one lock the address is known in any case */
        if (all.rows[all.locks[i].row].locks == 1) all.rows[all.locks[i].row].address = all.locks[i].address;
    for (i = 0; i < all.row_count; i++) {
        const prof_lock_row *row = &all.rows[i]; /* empty: the name of a release, before the lock had another */
        if (row->acquired || row->waiting || row->abandoned || row->unmatched) all.rows[kept++] = *row;
    }
    if (kept) qsort(all.rows, kept, sizeof *all.rows, prof__lock_order);
    if (status == PROF_OK && !PROF__ROOM(all.rows, all.row_capacity, kept))
        status = prof__fail(PROF_NO_MEMORY, "no memory for the figures of locks");
    if (status == PROF_OK) {
        *rows = all.rows;
        *count = kept;
        all.rows = NULL;
    }
    prof__locks_close(&all);
    return status;
}

PROF_DEF void prof_locks_free(prof_lock_row *rows)
{
    free(rows);
}
#endif
/*-- SUMMARY -------------------------------------------------------------------------------------------- >>summary --*/

#define PROF__NAME_MOST ((size_t)48)   /* characters of a name in a table */
#define PROF__INDENT_MOST ((size_t)24) /* deeper call paths are no further to the right */

#define PROF__UTF8_REPLACED "\xEF\xBF\xBD" /* U+FFFD, in the place of what is not UTF-8 */

/* Bytes of the UTF-8 character at text, or minus the number of bytes that one U+FFFD stands for. */
static int prof__utf8_length(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    unsigned low = 0x80, high = 0xBF;
    int length, i;
    if (*s < 0x80) return 1;
    if (*s < 0xC2 || *s > 0xF4) return -1;
    length = *s < 0xE0 ? 2 : *s < 0xF0 ? 3 : 4;
    if (*s == 0xE0) low = 0xA0;  /* else overlong */
    if (*s == 0xED) high = 0x9F; /* else a surrogate */
    if (*s == 0xF0) low = 0x90;  /* else overlong */
    if (*s == 0xF4) high = 0x8F; /* else beyond U+10FFFF */
    for (i = 1; i < length; i++) {
        if (s[i] < low || s[i] > high) return -i;
        low = 0x80;
        high = 0xBF;
    }
    return length;
}

/* Bytes of the UTF-8 character at text; 0 if there is none. */
static size_t prof__utf8(const char *text)
{
    int length = prof__utf8_length(text);
    return length > 0 ? (size_t)length : 0;
}

/* Steps over one character: what is not UTF-8 counts byte by byte. */
static const char *prof__next_character(const char *text)
{
    size_t length = prof__utf8(text);
    return text + (length ? length : 1);
}

static size_t prof__characters(const char *text)
{
    size_t count = 0;
    for (; *text; text = prof__next_character(text)) count++;
    return count;
}

static void prof__out_spaces(prof__out *out, size_t count)
{
    for (; count; count--) prof__out_bytes(out, " ", 1);
}

/* So many characters of a text, without what a terminal would obey. Returns what follows them. */
static const char *prof__out_characters(prof__out *out, const char *text, size_t count)
{
    for (; count; count--) {
        const char *next = prof__next_character(text);
        unsigned char first = (unsigned char)*text;
        int control = first < 0x20 || first == 0x7F || (first == 0xC2 && (unsigned char)text[1] < 0xA0);
        if (control || !prof__utf8(text))
            prof__out_bytes(out, "?", 1);
        else
            prof__out_bytes(out, text, (size_t)(next - text));
        text = next;
    }
    return text;
}

/* A text of at most width characters, and spaces up to there. Of a longer one the middle is left out: names differ at
   their ends. Nothing that a terminal would obey. */
static PROF__UNUSED void prof__out_name(prof__out *out, const char *text, size_t width)
{
    size_t all = prof__characters(text), shown, tail, i;
    if (all <= width) {
        prof__out_characters(out, text, all);
        prof__out_spaces(out, width - all);
        return;
    }
    shown = width > 3 ? width - 3 : 0;
    tail = shown / 2;
    text = prof__out_characters(out, text, shown - tail);
    prof__out_text(out, &"..."[width < 3 ? 3 - width : 0]);
    for (i = all - (shown - tail); i > tail; i--) text = prof__next_character(text);
    prof__out_characters(out, text, tail);
}

/* A whole text, without what a terminal would obey. */
static PROF__UNUSED void prof__out_clean(prof__out *out, const char *text)
{
    prof__out_characters(out, text, prof__characters(text));
}

/* A whole text that begins at the character `at` of a line. What is beyond limit (0: nothing is) goes on in further lines,
   behind indent spaces. */
static PROF__UNUSED void prof__out_wrapped(prof__out *out, const char *text, size_t at, size_t indent, size_t limit)
{
    for (;;) {
        size_t left = prof__characters(text), fits = 0, i;
        const char *c = text;
        for (i = 0; limit && at + left > limit && i + at <= limit && *c; i++, c = prof__next_character(c))
            if (*c == ' ') fits = i; /* the last space that the line has room for */
        if (!limit || at + left <= limit || !fits) {
            prof__out_characters(out, text, left);
            return;
        }
        text = prof__out_characters(out, text, fits) + 1;
        prof__out_text(out, "\n");
        prof__out_spaces(out, at = indent);
    }
}

static void prof__out_right(prof__out *out, const char *text, size_t width)
{
    size_t length = strlen(text);
    if (length < width) prof__out_spaces(out, width - length);
    prof__out_text(out, text);
}

/* 1234567 as 1,234,567 at to (32 bytes). */
static void prof__grouped(char *to, uint64_t value)
{
    char digits[20];
    size_t length = prof__digits(digits, value), i, at = 0;
    for (i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) to[at++] = ',';
        to[at++] = digits[i];
    }
    to[at] = 0;
}

/* A number >= 0 with so many decimals (up to 3), at to (32 bytes). */
static size_t prof__fixed(char *to, double value, unsigned decimals)
{
    static const unsigned scales[] = {1, 10, 100, 1000};
    uint64_t scaled = value < 1e15 ? (uint64_t)(value * scales[decimals] + 0.5) : (uint64_t)1000000000000000000;
    size_t at = prof__digits(to, scaled / scales[decimals]);
    if (decimals) {
        char fraction[20];
        size_t length = prof__digits(fraction, scales[decimals] + scaled % scales[decimals]);
        to[at++] = '.';
        memcpy(to + at, fraction + 1, length - 1);
        at += length - 1;
    }
    to[at] = 0;
    return at;
}

/* value (>= 0) with four digits, in the largest of the units, each 1000 of the one before, that leaves it above 1; a
   whole number of the first unit as it is. At to (48 bytes). */
static void prof__human(char *to, double value, const char *const *units)
{
    int scaled = value >= 999.95;
    unsigned decimals;
    size_t at;
    for (; value >= 999.95 && units[1]; units++) value /= 1000;
    decimals = value < 9.9995 ? 3 : value < 99.995 ? 2 : value < 999.95 ? 1 : 0;
    if (!scaled && !((double)(uint64_t)value < value)) decimals = 0;
    at = prof__fixed(to, value, decimals);
    to[at++] = ' ';
    strcpy(to + at, *units);
}

static void prof__human_ns(char *to, double ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s", NULL};
    prof__human(to, ns, units);
}

static PROF__UNUSED void prof__human_hz(char *to, double hz)
{
    static const char *const units[] = {"Hz", "kHz", "MHz", "GHz", NULL};
    prof__human(to, hz, units);
}

static PROF__UNUSED void prof__out_ns(prof__out *out, double ns, size_t width)
{
    char text[48];
    prof__human_ns(text, ns);
    prof__out_right(out, text, width);
}

static void prof__out_count(prof__out *out, uint64_t count, size_t width)
{
    char text[32];
    prof__grouped(text, count);
    prof__out_right(out, text, width);
}

/* "1 event", "2 events". */
static PROF__UNUSED void prof__out_many(prof__out *out, uint64_t count, const char *thing)
{
    prof__out_count(out, count, 0);
    prof__out_text(out, " ");
    prof__out_text(out, thing);
    if (count != 1) prof__out_text(out, "s");
}

/* A number of a counter, at to (32 bytes): whole ones as they are, up to 2^53, others with six digits. Returns its
   length. */
static PROF__UNUSED size_t prof__counter_text(char *to, double value)
{
    const double most = 9007199254740992.0;
    int whole = value >= -most && value <= most && !((double)(int64_t)value < value || (double)(int64_t)value > value);
    return prof__double_digits(to, value, whole ? 16 : 6, whole ? 16 : 6);
}
#ifndef PROF_NO_READER
/* How long what the tables are about took. */
static double prof__summary_span(const prof_trace_info *info)
{
    int64_t end = info->to_ns && info->to_ns < info->duration_ns ? info->to_ns : info->duration_ns;
    return end > info->from_ns ? (double)(end - info->from_ns) : 0;
}

/* A line "  what      text". */
static void prof__summary_line(prof__out *out, const char *what, const char *text, size_t limit)
{
    size_t length = prof__characters(what);
    prof__out_text(out, "  ");
    prof__out_clean(out, what);
    prof__out_spaces(out, length < 10 ? 10 - length : 2);
    prof__out_wrapped(out, text, length < 10 ? 12 : length + 4, 12, limit);
    prof__out_text(out, "\n");
}

static void prof__summary_head(prof__out *out, const prof_trace *trace, size_t limit)
{
    static const char *const modes[] = {"reused as a ring", "filled once", "emptied into the file", "emptied into statistics",
                                        "reused as a ring, statistics of everything"};
    const prof_trace_info *info = prof_trace_about(trace);
    uint64_t events = trace->folded ? info->folded : info->event_count;
    uint64_t tracks = trace->folded ? trace->header.tracks : prof_trace_track_count(trace);
    char text[512], a[48], b[48];
    size_t i;
    prof__out_clean(out, *info->program ? info->program : "program");
    prof__out_text(out, ", process ");
    prof__out_unsigned(out, info->pid);
    prof__out_text(out, "\n");
    prof__human_ns(a, (double)info->duration_ns);
    prof__grouped(b, events);
    snprintf(text, sizeof text, "%s, %s event%s on %llu track%s%s", a, b, events == 1 ? "" : "s",
             (unsigned long long)tracks, tracks == 1 ? "" : "s",
             info->complete ? "" : "; the recording was not stopped: still running, or ended by a crash");
    prof__summary_line(out, "recorded", text, limit);
    if (info->from_ns || info->to_ns) {
        prof__human_ns(a, (double)info->from_ns);
        prof__human_ns(b, prof__summary_span(info));
        snprintf(text, sizeof text, "from %s on, for %s: the tables tell of nothing else", a, b);
        prof__summary_line(out, "window", text, limit);
    }
    for (i = 0; i < trace->metadata_count; i++)
        prof__summary_line(out, trace->metadata[i].key, trace->metadata[i].value, limit);
    prof__human_hz(a, (double)info->tick_hz);
    prof__human_ns(b, info->clock_resolution_ns);
    snprintf(text, sizeof text, "%s, %s%s, smallest step %s", *info->clock ? info->clock : "unnamed",
             info->tick_hz ? "" : "of unknown rate: a tick counts as 1 ns", info->tick_hz ? a : "", b);
    prof__summary_line(out, "clock", text, limit);
    prof__grouped(a, info->buffer_size);
    snprintf(text, sizeof text, "%s bytes, %s", a,
             modes[info->mode == PROF_RING_STATS && !trace->folded ? PROF_RING : info->mode]); /* a file has the ring */
    prof__summary_line(out, "buffer", text, limit);
}

/*-- tables: a name, columns of figures, and a note at the end of each row. The rows are gone through twice: the first time
     they are measured, the second time written. A table that is too wide for a line first loses the space between its
     columns, then columns, in the order that prof__column gives; then names are shortened. --*/

#define PROF__TABLE_COLUMNS 12
#define PROF__TABLE_LEAST ((size_t)40)       /* characters of a line: tables do not become narrower */
#define PROF__TABLE_NAME_LEAST ((size_t)24)  /* of a name, as long as there are columns to leave out */

typedef struct prof__column {
    const char *title;
    size_t order; /* 1: left out first, 2: next, and so on; 0: never */
    size_t width; /* in a table that has the space, at least; 0: 14 for the first column, 11 for others */
} prof__column;

typedef struct prof__table {
    prof__out *out;
    size_t limit; /* characters of a line, see prof__out_columns() */
    const char *title, *note_title;
    const prof__column *columns;
    size_t count;                       /* of columns */
    size_t widths[PROF__TABLE_COLUMNS]; /* 0: left out */
    size_t name, most, note;            /* widths; most: of a name */
    size_t note_order;                  /* as prof__column.order; 0: on a line of its own if need be */
    size_t rows, at, line;              /* at: the present column; line: characters of the note */
    int writing, below;                 /* writing: the second time; below: notes have lines of their own */
} prof__table;

/* columns ends with a null title; note_title may be null. */
static void prof__table_begin(prof__table *t, prof__out *out, size_t limit, const char *title, const prof__column *columns,
                              const char *note_title, size_t note_order)
{
    memset(t, 0, sizeof *t);
    t->out = out;
    t->limit = limit;
    t->title = title;
    t->columns = columns;
    t->note_title = note_title;
    t->note_order = note_order;
    t->name = prof__characters(title);
    t->most = PROF__NAME_MOST;
    if (note_title) t->note = prof__characters(note_title) + 2;
    for (; columns[t->count].title; t->count++) t->widths[t->count] = prof__characters(columns[t->count].title);
}

static void prof__table_row(prof__table *t, const char *name, size_t depth)
{
    size_t indent = 2 * (depth < PROF__INDENT_MOST ? depth : PROF__INDENT_MOST), length = prof__characters(name) + indent;
    t->at = t->line = 0;
    t->rows++;
    if (!t->writing) {
        if (depth) t->most = PROF__NAME_MOST + 2 * PROF__INDENT_MOST;
        if (length > t->name) t->name = length;
        return;
    }
    if (length > t->name && indent > t->name / 2) indent = t->name / 2;
    prof__out_spaces(t->out, indent);
    prof__out_name(t->out, name, t->name - indent);
}

/* The next figure of the row. */
static void prof__table_text(prof__table *t, const char *text)
{
    size_t length = strlen(text), at = t->at++;
    if (!t->writing && length > t->widths[at]) t->widths[at] = length;
    if (t->writing && t->widths[at]) prof__out_right(t->out, text, t->widths[at]);
}

static void prof__table_ns(prof__table *t, double ns)
{
    char text[48];
    prof__human_ns(text, ns);
    prof__table_text(t, text);
}

static void prof__table_count(prof__table *t, uint64_t count)
{
    char text[32];
    prof__grouped(text, count);
    prof__table_text(t, text);
}

static void prof__table_percent(prof__table *t, double part, double whole)
{
    char text[48] = "-";
    if (whole > 0) strcpy(text + prof__fixed(text, part / whole * 100, 1), " %");
    prof__table_text(t, text);
}

static void prof__table_size(prof__table *t, uint64_t bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", NULL};
    char text[48];
    prof__human(text, (double)bytes, units);
    prof__table_text(t, text);
}

/* 10^6 bytes a second, with the unit that fits. */
static void prof__table_rate(prof__table *t, double rate)
{
    static const char *const units[] = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s", NULL};
    char text[48];
    prof__human(text, rate * 1e6, units);
    prof__table_text(t, text);
}

/* The other figures are not known. */
static void prof__table_dashes(prof__table *t)
{
    while (t->at < t->count) prof__table_text(t, "-");
}

/* A part of the note. */
static void prof__table_note(prof__table *t, const char *text)
{
    if (t->writing && t->below && *text && !t->line) prof__out_text(t->out, "\n  ");
    t->line += prof__characters(text);
    if (t->writing && t->note) prof__out_clean(t->out, text);
}

static void prof__table_note_many(prof__table *t, uint64_t count, const char *thing, const char *end)
{
    char text[160];
    prof__grouped(text, count);
    snprintf(text + strlen(text), sizeof text - strlen(text), " %s%s%s", thing, count == 1 ? "" : "s", end);
    prof__table_note(t, text);
}

static void prof__table_end(prof__table *t)
{
    if (t->writing)
        prof__out_text(t->out, "\n");
    else if (t->line > t->note)
        t->note = t->line;
}

static size_t prof__table_width(const prof__table *t)
{
    size_t width = t->note_order ? t->note : 0, i;
    for (i = 0; i < t->count; i++) width += t->widths[i];
    return width;
}

/* Leaves out the columns, or the notes, whose turn it is. 0: there are no more. */
static int prof__table_leave_out(prof__table *t)
{
    size_t next = t->note ? t->note_order : 0, i;
    for (i = 0; i < t->count; i++)
        if (t->widths[i] && t->columns[i].order && (!next || t->columns[i].order < next)) next = t->columns[i].order;
    for (i = 0; i < t->count; i++)
        if (next && t->columns[i].order == next) t->widths[i] = 0;
    if (t->note_order == next) t->note = 0;
    return next != 0;
}

static void prof__table_fit(prof__table *t)
{
    size_t wide[PROF__TABLE_COLUMNS], all = 0, least, i;
    if (t->name > t->most) t->name = t->most;
    for (i = 0; i < t->count; i++) {
        wide[i] = t->columns[i].width ? t->columns[i].width : i ? 11 : 14;
        if (t->widths[i] >= wide[i]) wide[i] = t->widths[i] + 1; /* columns never touch */
        all += wide[i];
        t->widths[i] += 2;
    }
    least = prof__table_width(t) + (t->note_order ? 0 : t->note);
    t->below = t->limit && !t->note_order && t->name + least > t->limit;
    if (!t->limit || t->name + all + (t->below ? 0 : t->note) <= t->limit) {
        memcpy(t->widths, wide, sizeof wide);
        return;
    }
    least = t->name < PROF__TABLE_NAME_LEAST ? t->name : PROF__TABLE_NAME_LEAST;
    while (least + prof__table_width(t) > t->limit && prof__table_leave_out(t)) {}
    all = prof__table_width(t);
    least = all + 8 < t->limit ? t->limit - all : 8;
    if (t->name > least) t->name = least;
}

/* Behind the last row: 1: all of them once more, which are written then. A table without rows has no title. */
static int prof__table_again(prof__table *t)
{
    size_t i;
    if (t->writing || !t->rows) return 0;
    prof__table_fit(t);
    t->writing = 1;
    prof__out_name(t->out, t->title, t->name);
    for (i = 0; i < t->count; i++)
        if (t->widths[i]) prof__out_right(t->out, t->columns[i].title, t->widths[i]);
    if (t->note_title && t->note) {
        prof__out_text(t->out, "  ");
        prof__out_text(t->out, t->note_title);
    }
    prof__out_text(t->out, "\n");
    return 1;
}

/* The call site without its folders. */
static void prof__table_place(prof__table *t, const prof_callsite *site)
{
    const char *base = site->file, *c;
    char line[24];
    if (site->role == PROF_ROLE_DEVICE) { /* its name is the better place */
        prof__table_note(t, "  ");
        prof__table_note(t, site->category);
    }
    if (!*base) return;
    for (c = base; *c; c++)
        if (*c == '/' || *c == '\\') base = c + 1;
    prof__table_note(t, "  ");
    prof__table_note(t, base);
    if (!site->line) return; /* known by its symbol only */
    snprintf(line, sizeof line, ":%lu", (unsigned long)site->line);
    prof__table_note(t, line);
}

/* The columns that scopes, spans and frames have in common, and the order in which they are left out. */
#define PROF__SUMMARY_TIMES                                                                                     \
    {"mean", 9, 0}, {"min", 2, 0}, {"p50", 5, 0}, {"p90", 3, 0}, {"p99", 8, 0}, {"max", 6, 0}, {"stddev", 1, 0}
#define PROF__SUMMARY_WHERE 4
static void prof__summary_times(prof__table *t, const prof_stat *stat)
{
    prof__table_ns(t, stat->mean_ns);
    prof__table_ns(t, (double)stat->min_ns);
    prof__table_ns(t, (double)stat->p50_ns);
    prof__table_ns(t, (double)stat->p90_ns);
    prof__table_ns(t, (double)stat->p99_ns);
    prof__table_ns(t, (double)stat->max_ns);
    prof__table_ns(t, stat->deviation_ns);
}

static void prof__summary_scope(prof__table *t, const prof_trace *trace, const prof_stat *stat)
{
    prof__table_row(t, stat->name, stat->depth);
    prof__table_count(t, stat->count);
    if (stat->count > stat->truncated) {
        prof__table_ns(t, (double)stat->total_ns);
        prof__table_ns(t, (double)stat->self_ns);
        prof__table_percent(t, (double)stat->covered_ns, prof__summary_span(prof_trace_about(trace)));
        prof__summary_times(t, stat);
    } else {
        prof__table_dashes(t);
    }
    prof__table_place(t, stat->site);
    prof__table_end(t);
}

static void prof__summary_scopes(prof__out *out, const prof_trace *trace, prof__figures *all, prof__sorted *rows,
                                 size_t count, const prof_summary_options *options, size_t limit)
{
    static const size_t sorted[] = {1, 2, 0, 4, 5, 9, 8, 0}; /* the column of each prof_sort, which always stays */
    prof__column columns[] = {{"calls", 0, 0},    {"total", 11, 0},    {"self", 10, 0},
                              {"% of run", 7, 0}, PROF__SUMMARY_TIMES, {NULL, 0, 0}};
    size_t top = options->top, shown = top && top < count ? top : count, i;
    prof__table t;
    uint64_t truncated = 0;
    prof__out_text(out, "\n");
    if (!count) {
        prof__out_text(out, "no scopes\n");
        return;
    }
    if ((size_t)options->sort < sizeof sorted / sizeof *sorted) columns[sorted[options->sort]].order = 0;
    for (i = 0; i < count; i++) truncated += rows[i].stat->truncated;
    if (all->by_path) shown = prof__sort_tree(all, rows, count, top);
    prof__table_begin(&t, out, limit, all->by_path ? "call path" : "scope", columns, "where", PROF__SUMMARY_WHERE);
    do
        for (i = 0; i < shown; i++) prof__summary_scope(&t, trace, rows[i].stat);
    while (prof__table_again(&t));
    if (shown < count) {
        prof__out_text(out, "and ");
        prof__out_count(out, count - shown, 0);
        prof__out_text(out, " more\n");
    }
    if (truncated) {
        prof__out_many(out, truncated, "call");
        prof__out_text(out, " of unknown begin or end: counted as calls, but in no time\n");
    }
    if (prof_trace_about(trace)->open) {
        prof__out_many(out, prof_trace_about(trace)->open, "call");
        prof__out_text(out, " of these still open\n");
    }
}

static void prof__summary_throughput(prof__out *out, const prof__sorted *rows, size_t count, size_t limit)
{
    static const prof__column columns[] = {{"calls", 0, 0}, {"bytes", 4, 0}, {"mean", 0, 0}, {"min", 2, 0},
                                           {"max", 3, 0},   {"stddev", 1, 0}, {NULL, 0, 0}};
    size_t i, shown = 0;
    prof__table t;
    for (i = 0; i < count; i++) shown += rows[i].stat->site->role == PROF_ROLE_THROUGHPUT;
    if (!shown) return;
    prof__out_text(out, "\n");
    prof__table_begin(&t, out, limit, "throughput", columns, NULL, 0);
    do
        for (i = 0; i < count; i++) {
            const prof_stat *stat = rows[i].stat;
            if (stat->site->role != PROF_ROLE_THROUGHPUT) continue;
            prof__table_row(&t, stat->name, 0);
            prof__table_count(&t, stat->count);
            prof__table_size(&t, stat->bytes);
            prof__table_rate(&t, stat->mean_rate);
            prof__table_rate(&t, stat->min_rate);
            prof__table_rate(&t, stat->max_rate);
            prof__table_rate(&t, stat->deviation_rate);
            prof__table_end(&t);
        }
    while (prof__table_again(&t));
}

/* How many messages of each severity there are, and the latest errors. */
static void prof__summary_messages(prof__out *out, const prof__figures *all)
{
    size_t i = PROF_LOG_FATAL + 1, shown = 0;
    while (i-- > 0) {
        if (!all->messages[i]) continue;
        prof__out_text(out, shown++ ? ", " : "\nmessages  ");
        prof__out_count(out, all->messages[i], 0);
        prof__out_text(out, " ");
        prof__out_text(out, prof__severity_text(i));
    }
    if (shown) prof__out_text(out, "\n");
    for (i = all->newest_count; i-- > 0;) {
        prof__out_text(out, "  ");
        prof__out_ns(out, (double)all->newest[i].ns, 0);
        prof__out_text(out, " ");
        prof__out_text(out, prof__severity_text(all->newest[i].severity));
        prof__out_text(out, ": ");
        prof__out_clean(out, all->newest[i].text);
        prof__out_text(out, "\n");
    }
}

static void prof__summary_span_row(prof__table *t, const prof_stat *stat)
{
    prof__table_row(t, stat->name, 0);
    prof__table_count(t, stat->count);
    if (stat->count > stat->truncated) {
        prof__table_ns(t, (double)stat->total_ns);
        prof__summary_times(t, stat);
    } else {
        prof__table_dashes(t);
    }
    prof__table_place(t, stat->site);
    prof__table_end(t);
}

static void prof__summary_spans(prof__out *out, const prof__figures *all, const prof__sorted *rows, size_t count,
                                size_t limit)
{
    static const prof__column columns[] = {{"spans", 0, 0}, {"total", 11, 0}, PROF__SUMMARY_TIMES, {NULL, 0, 0}};
    prof__table t;
    size_t i;
    if (count) prof__out_text(out, "\n");
    prof__table_begin(&t, out, limit, "span", columns, "where", PROF__SUMMARY_WHERE);
    do
        for (i = 0; i < count; i++) prof__summary_span_row(&t, rows[i].stat);
    while (prof__table_again(&t));
    if (all->begins_missing) {
        prof__out_many(out, all->begins_missing, "span");
        prof__out_text(out, " ended, but with no begin: counted, but in no time\n");
    }
    if (all->ends_missing) {
        prof__out_many(out, all->ends_missing, "span");
        prof__out_text(out, " began, but with no end: counted, but in no time\n");
    }
}

static void prof__summary_frame(prof__table *t, const prof_stat *stat)
{
    char rate[48] = "-", low[48] = "-";
    /* Both are of the time within frames: between those of prof_frame_create() there may be other time, which counts in
       neither. low: what 99 % of the frames keep to; one frame may be so slow that the mean is below that. */
    double mean = stat->mean_ns, slow = (double)stat->p99_ns > mean ? (double)stat->p99_ns : mean;
    if (mean > 0) prof__human_hz(rate, 1e9 / mean);
    if (slow > 0) prof__human_hz(low, 1e9 / slow);
    prof__table_row(t, stat->name, 0);
    prof__table_count(t, stat->count);
    prof__table_text(t, rate);
    prof__table_text(t, low);
    prof__summary_times(t, stat);
    prof__table_end(t);
}

static void prof__summary_frames(prof__out *out, const prof__sorted *rows, size_t count, size_t limit)
{
    static const prof__column columns[] = {{"frames", 0, 0}, {"rate", 12, 0},     {"1 % low", 11, 0},
                                           PROF__SUMMARY_TIMES, {NULL, 0, 0}};
    prof__table t;
    size_t i;
    if (!count) return;
    prof__out_text(out, "\n");
    prof__table_begin(&t, out, limit, "frame", columns, NULL, 0);
    do
        for (i = 0; i < count; i++) prof__summary_frame(&t, rows[i].stat);
    while (prof__table_again(&t));
}

static void prof__summary_counters(prof__out *out, const prof__figures *all, const prof__sorted *rows, size_t count,
                                   size_t limit)
{
    prof__column columns[] = {{"samples", 1, 0}, {"min", 3, 14}, {"mean", 2, 14}, {"max", 4, 14}, {"last", 0, 14},
                              {NULL, 0, 0}};
    prof__table t;
    size_t i, j;
    char text[32];
    if (!count) return;
    for (i = 0; i < count; i++) {
        const prof__figure *figure = &all->items[rows[i].order];
        const double values[] = {figure->low, figure->mean, figure->high, figure->last};
        for (j = 0; j < 4; j++) {
            size_t length = prof__counter_text(text, values[j]);
            if (length >= columns[1].width) columns[1].width = length + 1;
        }
    }
    for (j = 2; j <= 4; j++) columns[j].width = columns[1].width; /* all are as wide as the widest */
    prof__out_text(out, "\n");
    prof__table_begin(&t, out, limit, "counter", columns, NULL, 0);
    do
        for (i = 0; i < count; i++) {
            const prof__figure *figure = &all->items[rows[i].order];
            const double values[] = {figure->low, figure->mean, figure->high, figure->last};
            prof__table_row(&t, figure->stat.name, 0);
            prof__table_count(&t, figure->stat.count);
            for (j = 0; j < 4; j++) {
                prof__counter_text(text, values[j]);
                prof__table_text(&t, text);
            }
            prof__table_end(&t);
        }
    while (prof__table_again(&t));
}

/* A row about the device whose first track this is. Returns how many tracks it has. */
static size_t prof__summary_device(prof__table *t, const prof_trace *trace, size_t first)
{
    static const char *const notes[] = {"", "", "",
                                        "  no two pairs of clocks, or one and the rate: places are a guess"};
    const prof_track *track = prof_trace_track(trace, first);
    size_t tracks = prof_trace_track_count(trace), rows = 0;
    uint64_t events = 0, early = 0;
    char rate[48] = "-";
    for (; first + rows < tracks && prof_trace_track(trace, first + rows)->device == track->device; rows++) {
        events += prof_trace_track(trace, first + rows)->event_count;
        early += prof_trace_track(trace, first + rows)->early;
    }
    if (track->device_hz > 0) prof__human_hz(rate, track->device_hz);
    prof__table_row(t, track->device, 0);
    prof__table_count(t, rows);
    prof__table_count(t, events);
    prof__table_text(t, rate);
    prof__table_count(t, track->pairs);
    prof__table_note(t, notes[track->alignment]);
    if (track->pairs_refused) {
        prof__table_note(t, "  ");
        prof__table_note_many(t, track->pairs_refused, "pair", " refused: a clock went backwards");
    }
    if (early) {
        prof__table_note(t, "  ");
        prof__table_note_many(t, early, "event", " from before the session left out");
    }
    prof__table_end(t);
    return rows;
}

/* The devices, and how far their times can be trusted. */
static void prof__summary_devices(prof__out *out, const prof_trace *trace, size_t limit)
{
    static const prof__column columns[] = {{"tracks", 1, 0}, {"events", 0, 0}, {"rate", 3, 0}, {"pairs", 2, 0},
                                           {NULL, 0, 0}};
    size_t tracks = prof_trace_track_count(trace), first = 0, i;
    prof__table t;
    while (first < tracks && !*prof_trace_track(trace, first)->device) first++;
    if (first == tracks) return;
    prof__out_text(out, "\n");
    prof__table_begin(&t, out, limit, "device", columns, NULL, 0);
    do
        for (i = first; i < tracks;) i += prof__summary_device(&t, trace, i);
    while (prof__table_again(&t));
}

/* The buffer that `more` times as much again would have fitted into, as PROF_BUFFER takes it: a power of two, and at most
   `most` bytes. At to (32 bytes); "" if the buffer is as large as that already. */
static void prof__buffer_wanted(char *to, const prof_trace *trace, double more, uint64_t most)
{
    static const char units[] = {0, 'K', 'M', 'G'};
    uint64_t had = trace->header.image_size + 2 * (uint64_t)trace->header.chunk_size, wanted = PROF__MIN_BUFFER;
    int unit;
    *to = 0;
    while (wanted < most && (wanted <= had || (double)wanted < (double)trace->header.image_size * (1 + more))) wanted *= 2;
    if (wanted <= had) return;
    for (unit = 0; wanted >= 1024 && unit < 3; unit++) wanted /= 1024;
    snprintf(to, 32, " to %llu%.1s", (unsigned long long)wanted, &units[unit]);
}

#define PROF__LOSSES 6

/* What the trace does not have, and what to do about it, kind by kind. 0: it has all of this kind. */
static int prof__loss_text(const prof_trace *trace, int kind, char *to, size_t size)
{
    const prof_trace_info *info = prof_trace_about(trace);
    static const char *const things[] = {"event", "older chunk", "write", "end or argument", "call site or name", "part"};
    uint64_t chunks = info->chunk_size ? info->buffer_size / info->chunk_size : 0;
    uint64_t kept = trace->folded ? info->folded : info->event_count;
    uint64_t counts[PROF__LOSSES];
    char count[32], wanted[32];
    double more = 0;
    counts[0] = info->lost;
    counts[1] = info->overwritten_chunks;
    counts[2] = info->write_failures;
    counts[3] = info->unmatched;
    counts[4] = info->sites_lost;
    counts[5] = info->lost_blocks;
    if (!counts[kind]) return 0;
    if (kind == 4)
        more = (double)info->sites_lost / ((double)trace->site_count + 1);
    else if (info->mode != PROF_STREAM && chunks)
        more = (double)info->overwritten_chunks / (double)chunks;
    if (kind < 2) more += (double)info->lost / ((double)kept + 1);
    prof__buffer_wanted(wanted, trace, more, kind == 4 ? (uint64_t)128 << 20 : (uint64_t)64 << 30); /* see prof__layout() */
    prof__grouped(count, counts[kind]);
    snprintf(to, size, "%s %s%s ", count, things[kind], counts[kind] == 1 ? "" : "s");
    size -= strlen(to);
    to += strlen(to);
    switch (kind) {
    case 0: snprintf(to, size, "lost for want of room: enlarge PROF_BUFFER%s", wanted); break;
    case 1:
        if (info->mode == PROF_RING_STATS && trace->folded)
            snprintf(to, size, "overwritten in the ring: they are in the statistics only");
        else if (info->mode == PROF_STREAM)
            snprintf(to, size, "made room in the file: enlarge PROF_MAX_FILE_SIZE to see further back");
        else
            snprintf(to, size, "overwritten in the ring: enlarge PROF_BUFFER%s to see %s", wanted,
                     *wanted ? "them all" : "further back");
        break;
    case 2: snprintf(to, size, "failed while recording: %s", info->write_error); break;
    case 3: snprintf(to, size, "without an open scope left out"); break;
    case 4:
        snprintf(to, size, *wanted ? "found no room: enlarge PROF_BUFFER%s" : "found no room, of which there is not more%s",
                 wanted);
        break;
    default: snprintf(to, size, "of the file missing: it was cut, damaged, or overwritten while it was read"); break;
    }
    return 1;
}

static void prof__summary_losses(prof__out *out, const prof_trace *trace, size_t limit)
{
    char text[512];
    int kind, kinds = 0;
    prof__out_text(out, "\n");
    for (kind = 0; kind < PROF__LOSSES; kind++) {
        if (!prof__loss_text(trace, kind, text, sizeof text)) continue;
        prof__out_wrapped(out, text, 0, 2, limit);
        prof__out_text(out, "\n");
        kinds++;
    }
    if (!kinds) prof__out_text(out, "nothing lost\n");
}

/* What other things cost, in scopes, which have two readings of the clock: see BENCHMARKS.md. */
#define PROF__MARK_COST 0.7
#define PROF__OBJECT_COST 0.9 /* three words, an object and what is said of it */
#define PROF__VALUE_COST 0.175

/* What recording took of the program's time. */
typedef struct prof__cost {
    uint64_t scopes, calls; /* calls: of functions, with hooks; not in scopes */
    uint64_t others, taken_back;
    double ns;
    int about; /* 1: some is only estimated */
} prof__cost;

/* In a ring what was overwritten cost as much as what is left. */
static double prof__cost_overwritten(const prof_trace *trace)
{
    const prof_trace_info *info = prof_trace_about(trace);
    uint64_t left = info->chunk_size ? info->buffer_size / info->chunk_size : 0;
    if ((info->mode != PROF_RING && info->mode != PROF_RING_STATS) || trace->folded) return 1;
    if (!left || info->from_ns || info->to_ns) return 1;
    return 1 + (double)info->overwritten_chunks / (double)left;
}

static prof__cost prof__cost_of(const prof_trace *trace, const prof__figures *all, const prof__sorted *rows, size_t count)
{
    const prof_trace_info *info = prof_trace_about(trace);
    const prof__header *h = &trace->header;
    double ns_per_tick = h->cost_ticks_x1000 ? info->scope_cost_ns / (double)h->cost_ticks_x1000 : 0, more, window;
    double scope = info->scope_cost_ns, call = info->call_cost_ns > 0 ? info->call_cost_ns : scope;
    double text = h->text_x1000 ? (double)h->text_x1000 * ns_per_tick : scope;
    double format = h->format_x1000 ? (double)h->format_x1000 * ns_per_tick : scope;
    prof__cost cost;
    memset(&cost, 0, sizeof cost);
    for (size_t i = 0; i < count; i++) {
        int called = info->call_cost_ns > 0 && !strcmp(rows[i].stat->site->category, "function");
        *(called ? &cost.calls : &cost.scopes) += rows[i].stat->count;
    }
    more = prof__cost_overwritten(trace);
    window = info->duration_ns > 0 ? prof__summary_span(info) / (double)info->duration_ns : 1;
    cost.others = all->uses.marks + all->uses.objects;
    cost.taken_back = window < 1 ? (uint64_t)((double)info->taken_back * window) : info->taken_back;
    cost.about = more > 1 || window < 1;
    cost.ns = more * (scope * ((double)cost.scopes + PROF__MARK_COST * (double)all->uses.marks +
                               PROF__OBJECT_COST * (double)all->uses.objects + PROF__VALUE_COST * (double)all->uses.values) +
                      call * (double)cost.calls + (text - scope) * (double)all->uses.texts +
                      (format - scope) * (double)all->uses.formats);
    cost.ns += (cost.calls || !cost.scopes ? call : scope) * (double)cost.taken_back;
    return cost;
}

/* "3 scopes, 20 calls" at the end of to; nothing if there are none. */
static void prof__cost_count(char *to, size_t size, uint64_t count, const char *one, const char *many)
{
    size_t used = strlen(to);
    char number[32];
    if (!count) return;
    prof__grouped(number, count);
    snprintf(to + used, size - used, "%s%s %s", used ? ", " : "", number, count == 1 ? one : many);
}

static void prof__summary_cost(prof__out *out, const prof_trace *trace, const prof__figures *all, const prof__sorted *rows,
                               size_t count, size_t limit)
{
    const prof_trace_info *info = prof_trace_about(trace);
    prof__cost cost = prof__cost_of(trace, all, rows, count);
    double span = prof__summary_span(info);
    char text[640], things[256] = "", each[48], call[48], ns[48], share[32] = "";
    if (!(info->scope_cost_ns > 0)) return;
    if (!cost.scopes && !cost.calls && !cost.others && !cost.taken_back) prof__text_copy(things, sizeof things, "0 scopes");
    prof__cost_count(things, sizeof things, cost.scopes, "scope", "scopes");
    prof__cost_count(things, sizeof things, cost.calls, "call", "calls");
    prof__cost_count(things, sizeof things, cost.others, "other event", "other events");
    prof__cost_count(things, sizeof things, cost.taken_back, "taken back by min_duration", "taken back by min_duration");
    prof__human_ns(each, info->scope_cost_ns);
    prof__human_ns(call, info->call_cost_ns);
    prof__human_ns(ns, cost.ns);
    if (info->duration_ns > 0) prof__fixed(share, span > 0 ? cost.ns / span * 100 : 0, 1);
    snprintf(text, sizeof text, "recording cost %s a scope%s%s%s, %s%s for %s%s%s%s%s", each, cost.calls ? ", " : "",
             cost.calls ? call : "", cost.calls ? " a call" : "", cost.about ? "about " : "", ns, things,
             cost.about && prof__cost_overwritten(trace) > 1 ? " and what was overwritten" : "", *share ? ", " : "",
             span > 0 ? share : *share ? "-" : "", *share ? span > 0 ? " % of the run" : " of the run" : "");
    prof__out_wrapped(out, text, 0, 2, limit);
    prof__out_text(out, "\n");
}

/*-- memory and locks --*/

#define PROF__MEMORY_TOP 20 /* rows of call sites, unless more are asked for */

/* What an allocation is listed by: a scope, where there is one, says more than the function that holds the macro. */
static const char *prof__memory_name(const prof_memory_row *row)
{
    if (!row->site) return row->pool ? (*row->pool ? row->pool : "(no name)") : *row->scope ? row->scope : "(outside)";
    if (row->around) return row->around->name;
    return *row->site->function ? row->site->function : row->site->name;
}

static void prof__summary_memory_row(prof__table *t, const prof_memory_row *row)
{
    prof__table_row(t, prof__memory_name(row), 0);
    prof__table_count(t, row->count);
    prof__table_size(t, row->bytes);
    prof__table_size(t, row->count ? row->bytes / row->count : 0);
    prof__table_size(t, row->peak_bytes);
    prof__table_count(t, row->live_count);
    prof__table_size(t, row->live_bytes);
    if (row->site) {
        prof__table_place(t, *row->site->file || !row->around ? row->site : row->around);
        if (*row->pool) prof__table_note(t, "  in ");
        prof__table_note(t, row->pool);
        if (*row->scope) prof__table_note(t, "  for ");
        prof__table_note(t, row->scope);
    }
    prof__table_end(t);
}

static void prof__summary_memory_rows(prof__out *out, const char *title, const prof_memory_row *rows, size_t count,
                                      size_t top, size_t limit)
{
    static const prof__column columns[] = {{"allocations", 4, 0}, {"bytes", 0, 0}, {"mean", 1, 0}, {"peak", 3, 0},
                                           {"unfreed", 2, 0},     {"bytes", 0, 0}, {NULL, 0, 0}};
    size_t shown = top && top < count ? top : count, i;
    prof__table t;
    prof__out_text(out, "\n");
    prof__table_begin(&t, out, limit, title, columns, NULL, 0);
    do
        for (i = 0; i < shown; i++) prof__summary_memory_row(&t, &rows[i]);
    while (prof__table_again(&t));
    if (shown == count) return;
    prof__out_text(out, "and ");
    prof__out_count(out, count - shown, 0);
    prof__out_text(out, " more\n");
}

static int prof__memory_live_order(const void *a, const void *b)
{
    const prof_memory_row *x = (const prof_memory_row *)a, *y = (const prof_memory_row *)b;
    if (x->live_bytes != y->live_bytes) return x->live_bytes > y->live_bytes ? -1 : 1;
    return x->live_count > y->live_count ? -1 : x->live_count < y->live_count;
}

/* The call sites with unfreed blocks, where those do not all stand in the table of the call sites. */
static prof_status prof__summary_unfreed(prof__out *out, const prof_memory_stats *stats, size_t top, size_t limit)
{
    prof_memory_row *rows;
    size_t count = 0, i;
    if (!top || stats->site_count <= top) return PROF_OK;
    rows = (prof_memory_row *)malloc(stats->site_count * sizeof *rows);
    if (!rows) return prof__fail(PROF_NO_MEMORY, "no memory for the summary");
    for (i = 0; i < stats->site_count; i++)
        if (stats->sites[i].live_count) rows[count++] = stats->sites[i];
    if (count) {
        qsort(rows, count, sizeof *rows, prof__memory_live_order);
        prof__summary_memory_rows(out, "most unfreed", rows, count, top, limit);
    }
    free(rows);
    return PROF_OK;
}

static void prof__summary_memory_notes(prof__out *out, const prof_trace *trace, const prof_memory_stats *stats)
{
    const prof_trace_info *info = prof_trace_about(trace);
    int gaps = info->lost || info->overwritten_chunks || info->lost_blocks;
    if (stats->freed_unknown) {
        prof__out_many(out, stats->freed_unknown, "block");
        prof__out_text(out, " freed that had been allocated before the trace, or by nobody\n");
    }
    if (stats->freed_twice) {
        prof__out_many(out, stats->freed_twice, "block");
        prof__out_text(out,
                       gaps ? " freed twice, unless what is missing here allocated them again\n" : " freed twice\n");
    }
    if (stats->not_freed) {
        prof__out_many(out, stats->not_freed, "block");
        prof__out_text(out, " allocated again without a free in between: such frees are not marked, or lost\n");
    }
}

static prof_status prof__summary_memory(prof__out *out, const prof_trace *trace, size_t top, size_t limit)
{
    prof_memory_stats *stats;
    prof_status status;
    if (!prof__has_role(trace, PROF_ROLE_MEMORY)) return PROF_OK;
    if (!top) top = PROF__MEMORY_TOP;
    status = prof_memory(trace, &stats);
    if (status != PROF_OK) return status;
    if (stats->count) {
        int named = stats->scope_count > 1 || (stats->scope_count && *stats->scopes[0].scope);
        prof__summary_memory_rows(out, "memory", stats->pools, stats->pool_count, 0, limit);
        if (named) prof__summary_memory_rows(out, "memory scope", stats->scopes, stats->scope_count, top, limit);
        prof__summary_memory_rows(out, "allocated by", stats->sites, stats->site_count, top, limit);
        status = prof__summary_unfreed(out, stats, top, limit);
    }
    if (stats->freed_unknown || stats->freed_twice || stats->not_freed) {
        if (!stats->count) prof__out_text(out, "\n");
        prof__summary_memory_notes(out, trace, stats);
    }
    prof_memory_free(stats);
    return status;
}

static void prof__summary_lock(prof__table *t, const prof_lock_row *row)
{
    char waiting[48];
    prof__table_row(t, row->name, 0);
    prof__table_count(t, row->locks);
    prof__table_count(t, row->acquired);
    prof__table_count(t, row->contended);
    prof__table_percent(t, (double)row->contended, (double)row->acquired);
    prof__table_ns(t, (double)row->wait_ns);
    prof__table_ns(t, (double)row->wait_max_ns);
    prof__table_ns(t, (double)row->hold_ns);
    prof__table_ns(t, (double)row->hold_max_ns);
    prof__table_count(t, row->waiting_max);
    if (row->holding || row->waiting) {
        prof__table_note(t, "  at the end held by ");
        prof__table_note_many(t, row->holding, "thread", "");
        snprintf(waiting, sizeof waiting, ", %llu waiting", (unsigned long long)row->waiting);
        prof__table_note(t, waiting);
    }
    prof__table_end(t);
}

static prof_status prof__summary_locks(prof__out *out, const prof_trace *trace, size_t top, size_t limit)
{
    static const prof__column columns[] = {{"locks", 3, 0},   {"acquired", 6, 0},  {"contended", 0, 0}, {"share", 2, 0},
                                           {"waited", 0, 0},  {"longest", 7, 0},   {"held", 5, 0},      {"longest", 4, 0},
                                           {"most wait", 1, 0}, {NULL, 0, 0}};
    prof__table t;
    prof_lock_row *rows;
    size_t count, shown, i;
    uint64_t unmatched = 0, abandoned = 0;
    prof_status status = PROF_OK;
    if (!prof__has_role(trace, PROF_ROLE_LOCK)) return PROF_OK;
    status = prof_locks(trace, 0, &rows, &count);
    if (status != PROF_OK) return status;
    for (i = 0; i < count; i++) {
        unmatched += rows[i].unmatched;
        abandoned += rows[i].abandoned;
    }
    shown = top && top < count ? top : count;
    if (count) prof__out_text(out, "\n");
    prof__table_begin(&t, out, limit, "lock", columns, NULL, 0);
    do
        for (i = 0; i < shown; i++) prof__summary_lock(&t, &rows[i]);
    while (prof__table_again(&t));
    if (shown < count) {
        prof__out_text(out, "and ");
        prof__out_count(out, count - shown, 0);
        prof__out_text(out, " more\n");
    }
    if (abandoned) {
        prof__out_many(out, abandoned, "wait");
        prof__out_text(out, " given up\n");
    }
    if (unmatched) {
        prof__out_many(out, unmatched, "acquire or release");
        prof__out_text(out, " without the other\n");
    }
    prof_locks_free(rows);
    return status;
}

/* How many characters a line of standard output has if that is a terminal: COLUMNS, or what it says itself; else 0. */
static int prof__terminal_columns(void)
{
    const char *text = getenv("COLUMNS");
    long columns = text ? strtol(text, NULL, 10) : 0;
#ifdef _WIN32
    CONSOLE_SCREEN_BUFFER_INFO info;
    if (!GetConsoleScreenBufferInfo(GetStdHandle(STD_OUTPUT_HANDLE), &info)) return 0;
    if (columns <= 0) columns = info.srWindow.Right - info.srWindow.Left + 1;
#else
    if (!isatty(1)) return 0;
#ifdef TIOCGWINSZ
    struct winsize size;
    if (columns <= 0 && !ioctl(1, TIOCGWINSZ, &size)) columns = size.ws_col;
#endif
#endif
    return columns > 0 && columns < 100000 ? (int)columns : 0;
}

/* What the option columns means for an output: how many characters a line has; 0: as many as there are. */
static size_t prof__out_columns(const prof__out *out, int columns)
{
    if (!columns && out->file && out->file == stdout) columns = prof__terminal_columns();
    return columns <= 0 ? 0 : (size_t)columns < PROF__TABLE_LEAST ? PROF__TABLE_LEAST : (size_t)columns;
}

static void prof__summary(const prof_trace *trace, prof__out *out, const prof_summary_options *options)
{
    static const prof_summary_options defaults = {PROF_SORT_TOTAL, 0, 0, 0, 0};
    size_t limit = prof__out_columns(out, options ? options->columns : 0);
    prof__figures all;
    prof__sorted *scopes = NULL, *spans = NULL, *frames = NULL, *counters = NULL;
    size_t scope_count = 0, span_count = 0, frame_count = 0, counter_count = 0;
    prof_status status = prof__figures_make(trace, options ? options->by_path : 0, &all);
    if (!options) options = &defaults;
    if (status == PROF_OK) {
        scopes = prof__sort(&all, PROF_EVENT_SCOPE, options->sort, options->ascending, &scope_count);
        spans = prof__sort(&all, PROF_EVENT_SPAN_BEGIN, options->sort, options->ascending, &span_count);
        frames = prof__sort(&all, PROF_EVENT_FRAME, PROF_SORT_NAME, 1, &frame_count);
        counters = prof__sort(&all, PROF_EVENT_COUNTER, PROF_SORT_NAME, 1, &counter_count);
        if (!scopes || !spans || !frames || !counters) status = prof__fail(PROF_NO_MEMORY, "no memory for the summary");
    }
    if (status == PROF_OK) {
        prof__summary_head(out, trace, limit);
        prof__summary_scopes(out, trace, &all, scopes, scope_count, options, limit);
        prof__summary_throughput(out, scopes, scope_count, limit);
        prof__summary_spans(out, &all, spans, span_count, limit);
        prof__summary_frames(out, frames, frame_count, limit);
        prof__summary_counters(out, &all, counters, counter_count, limit);
        prof__summary_devices(out, trace, limit);
        prof__summary_messages(out, &all);
        status = prof__summary_memory(out, trace, options->top, limit);
        if (status == PROF_OK) status = prof__summary_locks(out, trace, options->top, limit);
        prof__summary_losses(out, trace, limit);
        prof__summary_cost(out, trace, &all, scopes, scope_count, limit);
    }
    if (status != PROF_OK) prof__out_fail(out, status);
    free(scopes);
    free(spans);
    free(frames);
    free(counters);
    prof__figures_free(&all);
}

PROF_DEF prof_status prof_summary_write(const prof_trace *trace, const char *path, const prof_summary_options *options)
{
    prof__out out;
    prof_status status;
    if (!trace) return prof__fail(PROF_INVALID_ARGUMENT, "prof_summary_write: trace is null");
    status = prof__out_file(&out, path);
    if (status != PROF_OK) return status;
    prof__summary(trace, &out, options);
    return prof__out_close(&out);
}

PROF_DEF prof_status prof_summary_stream(const prof_trace *trace, prof_sink sink, const prof_summary_options *options)
{
    prof__out out;
    if (!trace) return prof__fail(PROF_INVALID_ARGUMENT, "prof_summary_stream: trace is null");
    prof__out_sink(&out, sink);
    prof__summary(trace, &out, options);
    return prof__out_close(&out);
}

/* The writer of .txt. */
static prof_status prof__summary_default(const prof_trace *trace, const char *path)
{
    return prof_summary_write(trace, path, NULL);
}

/*-- CSV ------------------------------------------------------------------------------------------------------ >>csv --
   RFC 4180: a header, then one event a line, with CRLF. Valid UTF-8 whatever the names hold. In the field args,
   "key=value" pairs are joined by ';', and a backslash stands before each ';', '=' and backslash of a key or text. */

static void prof__csv_byte(prof__out *out, char byte)
{
    *prof__out_reserve(out, 1) = byte;
    prof__out_commit(out, 1);
}

static int prof__csv_plain(const char *text)
{
    return text[strcspn(text, ",\"\r\n")] == 0 && text[0] != ' ' && (!text[0] || text[strlen(text) - 1] != ' ');
}

/* So many bytes of a text. */
static void prof__csv_text(prof__out *out, const char *text, size_t size)
{
    size_t run = 0;
    while (run < size) {
        int length = prof__utf8_length(text + run);
        if (length > 0) {
            run += (size_t)length;
            continue;
        }
        prof__out_bytes(out, text, run);
        prof__out_bytes(out, PROF__UTF8_REPLACED, sizeof PROF__UTF8_REPLACED - 1);
        text += run + (size_t)-length;
        size -= run + (size_t)-length;
        run = 0;
    }
    prof__out_bytes(out, text, run);
}

/* The inside of a quoted field. special: the quote, and what gets a backslash. */
static void prof__csv_quoted(prof__out *out, const char *text, const char *special)
{
    for (;;) {
        size_t plain = strcspn(text, special);
        prof__csv_text(out, text, plain);
        text += plain;
        if (!*text) return;
        prof__csv_byte(out, *text == '"' ? '"' : '\\');
        prof__csv_byte(out, *text++);
    }
}

/* A field and the comma in front of it. */
static void prof__csv_field(prof__out *out, const char *text)
{
    prof__csv_byte(out, ',');
    if (prof__csv_plain(text)) {
        prof__csv_text(out, text, strlen(text));
    } else {
        prof__csv_byte(out, '"');
        prof__csv_quoted(out, text, "\"");
        prof__csv_byte(out, '"');
    }
}

static void prof__csv_value(prof__out *out, const prof_value *value)
{
    char digits[16];
    int i;
    switch (value->type) {
    case PROF_VALUE_INT: prof__out_signed(out, value->as.i); break;
    case PROF_VALUE_UINT: prof__out_unsigned(out, value->as.u); break;
    case PROF_VALUE_DOUBLE: prof__out_double(out, value->as.d); break;
    case PROF_VALUE_BOOL: prof__out_text(out, value->as.u ? "true" : "false"); break;
    case PROF_VALUE_POINTER:
        for (i = 0; i < 16; i++) digits[i] = "0123456789abcdef"[value->as.u >> (60 - 4 * i) & 15];
        for (i = 0; i < 15 && digits[i] == '0';) i++;
        prof__out_text(out, "0x");
        prof__out_bytes(out, digits + i, (size_t)(16 - i));
        break;
    case PROF_VALUE_STRING:
        prof__csv_quoted(out, value->as.string, "\";=\\");
        if (value->cut) prof__out_text(out, "...");
        break;
    default: break;
    }
}

static void prof__csv_args(prof__out *out, const prof_event *event)
{
    uint32_t i;
    prof__csv_byte(out, ',');
    if (!event->arg_count) return;
    prof__csv_byte(out, '"');
    for (i = 0; i < event->arg_count; i++) {
        if (i) prof__csv_byte(out, ';');
        prof__csv_quoted(out, event->args[i].key, "\";=\\");
        prof__csv_byte(out, '=');
        prof__csv_value(out, &event->args[i].value);
    }
    prof__csv_byte(out, '"');
}

/* The fields value and args of a message: its text; its severity. */
static void prof__csv_message(prof__out *out, const prof_event *event)
{
    prof__csv_field(out, event->value.as.string);
    prof__out_text(out, ",severity=");
    prof__out_text(out, prof__severity_text(event->detail));
}

static int prof__is_span(prof_event_type type) { return type >= PROF_EVENT_SPAN_BEGIN && type <= PROF_EVENT_SPAN_END; }

/* The field value: of what has an object, its id or address. */
static void prof__csv_object(prof__out *out, const prof_event *event)
{
    prof_value value = event->value;
    if (event->type >= PROF_EVENT_SPAN_BEGIN) {
        value.type = prof__is_span(event->type) || prof__is_flow(event->type) ? PROF_VALUE_UINT : PROF_VALUE_POINTER;
        value.as.u = event->object;
    }
    prof__csv_value(out, &value);
}

static void prof__csv_event(prof__out *out, const prof_track *track, const prof_event *event)
{
    static const char *const types[] = {"scope",      "mark",      "counter",   "frame",       "lost",  "span_begin",
                                        "span_mark",  "span_end",  "flow_out",  "flow_step",   "flow_in", "alloc",
                                        "free",       "lock_wait", "lock_acquire", "lock_release", "log"};
    static const char *const flags[] = {"", "truncated_begin", "truncated_end", "truncated_begin truncated_end"};
    prof__out_unsigned(out, track->id);
    prof__csv_byte(out, ',');
    prof__out_unsigned(out, track->thread_id);
    prof__csv_field(out, track->name);
    prof__csv_field(out, types[event->type]);
    prof__csv_field(out, event->name);
    prof__csv_field(out, event->site->category);
    prof__csv_byte(out, ',');
    prof__out_signed(out, event->start_ns);
    prof__csv_byte(out, ',');
    prof__out_signed(out, event->duration_ns);
    prof__csv_byte(out, ',');
    prof__out_unsigned(out, event->depth);
    prof__csv_field(out, flags[event->flags & 3]);
    if (event->type == PROF_EVENT_LOG) {
        prof__csv_message(out, event);
    } else {
        prof__csv_byte(out, ',');
        prof__csv_object(out, event);
        if (event->type == PROF_EVENT_ALLOC) {
            prof__out_text(out, ",bytes=");
            prof__out_unsigned(out, event->detail);
        } else {
            prof__csv_args(out, event);
        }
    }
    prof__csv_field(out, event->site->file);
    prof__csv_byte(out, ',');
    if (event->site->line) prof__out_unsigned(out, event->site->line);
    prof__csv_field(out, event->site->function);
    prof__out_text(out, "\r\n");
}

/* What stands for the thread of a device's row: "gpu 0/compute". Null without memory: the name alone has to do. */
static char *prof__csv_row(const prof_track *track)
{
    char *device = prof__text_join(track->device, "/"), *name = device ? prof__text_join(device, track->name) : NULL;
    free(device);
    return name;
}

/* Ends the output. */
static prof_status prof__csv(const prof_trace *trace, prof__out *out)
{
    size_t i;
    prof__out_text(out, "track_id,thread_id,thread,type,name,category,start_ns,duration_ns,depth,flags,value,args,"
                        "file,line,function\r\n");
    for (i = 0; i < prof_trace_track_count(trace) && out->status == PROF_OK; i++) {
        prof_track track = *prof_trace_track(trace, i);
        char *name = *track.device ? prof__csv_row(&track) : NULL;
        prof_cursor *cursor;
        prof_event event;
        prof_status status = prof_cursor_open(trace, i, &cursor);
        if (name) track.name = name;
        if (status != PROF_OK) prof__out_fail(out, status);
        while (out->status == PROF_OK && prof_cursor_next(cursor, &event)) prof__csv_event(out, &track, &event);
        prof_cursor_close(cursor);
        free(name);
    }
    return prof__out_close(out);
}

PROF_DEF prof_status prof_csv_write(const prof_trace *trace, const char *path)
{
    prof__out out;
    prof_status status;
    if (!trace) return prof__fail(PROF_INVALID_ARGUMENT, "prof_csv_write: trace is null");
    status = prof__out_file(&out, path);
    return status == PROF_OK ? prof__csv(trace, &out) : status;
}

PROF_DEF prof_status prof_csv_stream(const prof_trace *trace, prof_sink sink)
{
    prof__out out;
    if (!trace) return prof__fail(PROF_INVALID_ARGUMENT, "prof_csv_stream: trace is null");
    prof__out_sink(&out, sink);
    return prof__csv(trace, &out);
}

/*-- FOLLOWER --------------------------------------------------------------------------------------------- >>follow --
   Reads what was recorded since it last looked, while threads go on recording: for PROF_STATS, which keeps nothing
   else, and for what triggers saves. The service's; prof_trace_live() lends a hand, under a lock.

   In each pass it first notes how far every chunk has been written, from the newest chunk to the oldest, as a snapshot
   does, and then reads up to there from the oldest to the newest. So of each thread it sees a prefix of what was
   recorded. A track that moved between threads may show up in one chunk before the end of its former part was seen in
   another: the chunk then waits for the next pass, which knows of all that went before, and there for those that wait
   at an earlier time. If there is a hole even then, the chunk in between was reused too soon: the scopes that were open
   are given up, and count as truncated.

   Scopes are matched by the reader's rules. Memory is bounded: by PROF__FOLLOW_FIGURES names, beyond which everything
   is "(more scopes)"; by PROF__FOLLOW_DEPTH scopes in one another, deeper ones are not seen; and by twice as many
   tracks as there are chunks: one that was silent for longest is forgotten first, and what it had open counts as
   truncated; and by PROF__FOLLOW_LATE scopes of a track that one around them closed: if their end comes all the same,
   they overlap. */

#define PROF__FOLLOW_FIGURES 4096
#define PROF__FOLLOW_DEPTH 4096
#define PROF__FOLLOW_LATE 256  /* even */
#define PROF__FOLLOW_FRAMES 16 /* PROFILE_FRAMEs of one track */
#define PROF__FOLLOW_RULES 16
#define PROF__FOLLOW_NO_BYTES (~(uint64_t)0)
#define PROF__FOLLOW_HALVES 65536 /* of spans */
#define PROF__FOLLOW_BUCKETS 8192 /* for them; a power of two */

typedef struct prof__follow_rule {
    uint64_t ns;
    int frame;
    char pattern[48];
} prof__follow_rule;

typedef struct prof__follow_open {
    uint64_t bytes; /* of a throughput */
    uint64_t tick, inside, covered; /* ticks in scopes inside, and in those of the same figure */
    uint64_t number;                /* of the track's begins */
    uint32_t figure, site, name;
} prof__follow_open;

/* A scope that counts as truncated, because one around it has ended. Those that the same end closed follow each other,
   the outermost first. */
typedef struct prof__follow_late {
    uint64_t tick, bytes, number;
    uint64_t shared;       /* ticks that are not in the self time of what was around it, but should be if it overlaps */
    uint32_t figure, site; /* site: PROF__NONE32 when its end has come */
    uint32_t around;       /* of the outermost: the figure of the one that ended, 0: none; of the others PROF__NONE32 */
} prof__follow_late;

typedef struct prof__follow_boundary {
    uint64_t tick;
    uint32_t figure, name;
} prof__follow_boundary;

typedef struct prof__follow_track {
    uint64_t id, number, tick; /* number: of its newest TRACK record */
    uint32_t next;             /* of the same hash; all numbers of tracks, slots and figures here count from 1 */
    uint32_t newer, older;
    uint32_t slot;             /* where its newest part may still be growing */
    int partial;               /* something older is not known */
    size_t depth, capacity, beyond;
    prof__follow_open *stack;
    prof__follow_late *late;
    size_t late_count;
    uint64_t begins;
    prof__follow_boundary *frames;
    size_t frame_count;
} prof__follow_track;

typedef struct prof__follow_slot {
    uint64_t sequence, done; /* of the chunk being read, 0: none; of the one that was last read to its end */
    uint64_t expected;       /* the newest that was taken */
    uint64_t base, track;    /* track: id, 0: none yet */
    uint64_t waits, tick;    /* waits: the pass in which it came to wait, 0: it does not; tick: of what comes then */
    uint32_t at, limit;
    unsigned char active, ended;
} prof__follow_slot;

typedef struct prof__follow_order {
    uint64_t sequence;
    uint32_t slot;
} prof__follow_order;

typedef struct prof__follow_site {
    uint32_t name;   /* string id */
    uint32_t figure;
    uint32_t role;
} prof__follow_site;

/* Half of a span, whose other half was not read yet. Numbers count from 1. */
typedef struct prof__follow_half {
    uint64_t id, number, tick; /* number: of a frame */
    uint32_t name, role;       /* name: string id */
    uint32_t figure;           /* of a begin, and of an end that stays alone */
    uint32_t next;             /* of the same bucket, the newest first; of those that are free */
    uint32_t newer, older;
    int end;                   /* 1: it is an end */
} prof__follow_half;

typedef struct prof__follow_figure {
    prof__figure figure;  /* times in ticks, but for the histogram, the mean and the squares */
    char *text;           /* owned: a run-time name, or null */
    uint32_t site, open;
    const prof__follow_rule *rule;
} prof__follow_figure;

typedef struct prof__follow {
    prof__session *session;
    uint64_t process;      /* whose memory this is */
    int lock, stats;
    uint64_t pass, seen;   /* seen: chunks taken by then */
    uint64_t gaps;         /* times that something was missed */
    double ns_per_tick;
    prof__follow_slot *slots;
    uint32_t *active;
    size_t active_count;
    prof__follow_order *order;
    uint64_t *words, *again;
    prof__follow_track *tracks;
    uint32_t *buckets, bucket_mask, track_count, track_limit, newest, oldest;
    size_t meta_at;        /* words of meta that are known */
    uint32_t *strings;     /* string id -> word of meta */
    size_t string_count, string_capacity;
    prof__follow_site *sites;
    size_t site_count, site_capacity;
    prof__follow_figure *figures; /* the first is for what there is no room for */
    size_t figure_count, figure_capacity;
    prof__read_index figure_index;
    prof__follow_half *halves;
    size_t half_count, half_capacity;
    uint32_t *half_buckets, half_free, half_newest, half_oldest;
    uint64_t begins_missing, ends_missing; /* of spans that were given up */
    uint64_t events, lost, unmatched, newest_tick;
    prof__uses uses;
    prof__follow_rule rules[PROF__FOLLOW_RULES];
    size_t rule_count;
    char save[1024];       /* config.save */
    double last_seconds;
    uint64_t every_ns, saved_at;
    uint64_t saves;
    int triggered, signal;
    prof__cause cause;     /* why to save now; its text "" for nothing */
} prof__follow;

/*-- names and figures --*/

/* Gets to know what meta has by now. 0: no memory. */
static int prof__follow_meta(prof__follow *f)
{
    const prof__session *s = f->session;
    for (;;) {
        const uint64_t *record = s->meta + f->meta_at;
        uint64_t head = f->meta_at < s->meta_words ? PROF__ACQUIRE(record) : 0;
        uint32_t id = (uint32_t)head, words = (uint32_t)(head >> 32 & 0xFFFFFF);
        if (!(head >> 56) || !words || words > s->meta_words - f->meta_at) return 1;
        if (head >> 56 == PROF__META_STRING) {
            while (f->string_count <= id) {
                if (!PROF__ROOM(f->strings, f->string_capacity, f->string_count)) return 0;
                f->strings[f->string_count++] = 0;
            }
            f->strings[id] = (uint32_t)f->meta_at + 1;
        } else if (head >> 56 == PROF__META_SITE) {
            while (f->site_count <= id) {
                if (!PROF__ROOM(f->sites, f->site_capacity, f->site_count)) return 0;
                memset(&f->sites[f->site_count], 0, sizeof *f->sites);
                f->site_count++;
            }
            f->sites[id].name = (uint32_t)record[1];
            if (words > 4) f->sites[id].role = (uint32_t)(record[4] >> 32) >> PROF__ROLE_SHIFT;
        }
        f->meta_at += words;
    }
}

/* A call site's entry; null: not known. */
static prof__follow_site *prof__follow_site_of(prof__follow *f, uint32_t id)
{
    if (id >= f->site_count && !prof__follow_meta(f)) return NULL;
    return id < f->site_count ? &f->sites[id] : NULL;
}

static const char *prof__follow_name(const prof__follow *f, uint32_t id)
{
    return id && id < f->string_count && f->strings[id] ? (const char *)(f->session->meta + f->strings[id]) : "";
}

/* The rule for a scope or frame of this name; null: none. The strictest counts. */
static const prof__follow_rule *prof__follow_rule_of(const prof__follow *f, int frame, const char *name)
{
    const prof__follow_rule *found = NULL;
    for (size_t i = 0; i < f->rule_count; i++)
        if (f->rules[i].frame == frame && prof__match(f->rules[i].pattern, name) &&
            (!found || f->rules[i].ns < found->ns))
            found = &f->rules[i];
    return found;
}

/* text: a run-time name, or null. The number of a new figure; 1 where there is no room. */
static uint32_t prof__follow_add(prof__follow *f, uint32_t site, prof_event_type type, const char *name,
                                 const char *text)
{
    prof__follow_figure *figure;
    if (f->figure_count >= PROF__FOLLOW_FIGURES || !PROF__ROOM(f->figures, f->figure_capacity, f->figure_count))
        return 1;
    figure = &f->figures[f->figure_count];
    memset(figure, 0, sizeof *figure);
    figure->figure.type = type;
    figure->site = site;
    figure->text = text ? prof__text_join(text, "") : NULL;
    if (text && !figure->text) return 1;
    if (type == PROF_EVENT_SCOPE || type == PROF_EVENT_FRAME)
        figure->rule = prof__follow_rule_of(f, type == PROF_EVENT_FRAME, text ? text : name);
    return (uint32_t)++f->figure_count;
}

typedef struct prof__follow_key {
    const char *text;
    uint32_t site;
} prof__follow_key;

static int prof__follow_same(const void *owner, size_t item, const void *key)
{
    const prof__follow_figure *figure = (const prof__follow_figure *)owner + item;
    const prof__follow_key *wanted = (const prof__follow_key *)key;
    return figure->site == wanted->site && !strcmp(figure->text, wanted->text);
}

/* The figure of a call site and, where that has no name of its own, of a run-time name. */
static uint32_t prof__follow_figure_of(prof__follow *f, uint32_t id, prof_event_type type, const char *text)
{
    prof__follow_site *site = prof__follow_site_of(f, id);
    const char *name = site ? prof__follow_name(f, site->name) : "";
    if (!site) return 1;
    if (name[0] || !text) {
        if (!site->figure) site->figure = prof__follow_add(f, id, type, name, NULL);
        return site->figure;
    }
    prof__follow_key key;
    key.text = text;
    key.site = id;
    uint32_t hash = prof__text_hash(text) + (uint32_t)prof__mix(id);
    size_t item = prof__read_find(&f->figure_index, hash, prof__follow_same, f->figures, &key);
    if (item != PROF__NONE) return (uint32_t)item + 1;
    if (!prof__read_reserve(&f->figure_index, 1)) return 1;
    uint32_t number = prof__follow_add(f, id, type, name, text);
    if (number > 1) prof__read_put(&f->figure_index, hash, number);
    return number;
}

/*-- triggers --*/

/* "16.7 ms": without the zeros of a table's columns. */
static void prof__follow_ns_text(char *to, double ns)
{
    prof__human_ns(to, ns);
    char *unit = strchr(to, ' '), *end = unit;
    if (!strchr(to, '.')) return;
    while (end[-1] == '0') end--;
    if (end[-1] == '.') end--;
    memmove(end, unit, strlen(unit) + 1);
}

/* A scope or frame took longer than a rule allows. */
static void prof__follow_over(prof__follow *f, const prof__follow_figure *figure, double ns, uint64_t from, uint64_t to)
{
    const prof__follow_site *site = prof__follow_site_of(f, figure->site);
    char took[48], limit[48];
    uint64_t now = prof__monotonic();
    if (f->cause.text[0] || (f->triggered && (!f->every_ns || now - f->saved_at < f->every_ns))) return;
    f->triggered = 1;
    f->saved_at = now;
    prof__follow_ns_text(took, ns);
    prof__follow_ns_text(limit, (double)figure->rule->ns);
    f->cause.from = from;
    f->cause.to = to;
    snprintf(f->cause.text, sizeof f->cause.text, "%.60s %s > %s",
             figure->text ? figure->text : site ? prof__follow_name(f, site->name) : "", took, limit);
}

/*-- scopes --*/

static prof__follow_figure *prof__follow_at(prof__follow *f, uint32_t number) { return &f->figures[number - 1]; }

/* A duration up to this tick, of which there are count by now. */
static void prof__follow_time(prof__follow *f, prof__follow_figure *figure, uint64_t to, uint64_t ticks, uint64_t count)
{
    prof_stat *stat = &figure->figure.stat;
    double ns = (double)ticks * f->ns_per_tick;
    if (figure->rule && ns > (double)figure->rule->ns) prof__follow_over(f, figure, ns, to - ticks, to);
    if (!f->stats) return;
    if (count == 1 || ticks < stat->min_ns) stat->min_ns = ticks;
    if (ticks > stat->max_ns) stat->max_ns = ticks;
    stat->total_ns += ticks;
    prof__figure_moments(&figure->figure, ns, count);
    /* without memory, percentiles are less exact */
    prof__histogram_add(&figure->figure.histogram, prof__step_of((uint64_t)(ns + 0.5)), 1);
}

/* Ends the innermost scope of a track. whole: its own end was found. */
static void prof__follow_pop(prof__follow *f, prof__follow_track *t, int whole)
{
    const prof__follow_open *open = &t->stack[--t->depth];
    prof__follow_figure *figure = prof__follow_at(f, open->figure);
    prof_stat *stat = &figure->figure.stat;
    uint64_t ticks = t->tick - open->tick, covered = whole ? ticks : open->covered;
    size_t i = t->depth;
    figure->open--;
    if (t->depth) t->stack[t->depth - 1].inside += ticks;
    stat->count++;
    if (!whole) stat->truncated++;
    if (whole && ticks > open->inside) stat->self_ns += ticks - open->inside;
    if (whole) prof__follow_time(f, figure, t->tick, ticks, stat->count - stat->truncated);
    if (whole && open->bytes != PROF__FOLLOW_NO_BYTES)
        prof__figure_bytes(&figure->figure, open->bytes, (double)ticks * f->ns_per_tick);
    if (figure->open) /* perhaps around this one: then its time covers this one's, if it ends */
        while (i && t->stack[i - 1].figure != open->figure) i--;
    if (figure->open && i)
        t->stack[i - 1].covered += covered;
    else
        stat->covered_ns += covered;
}

static void prof__follow_begin(prof__follow *f, prof__follow_track *t, uint32_t id, const char *text)
{
    if (t->depth == t->capacity) {
        size_t wanted = t->capacity ? t->capacity * 2 : 16;
        prof__follow_open *larger =
            wanted > PROF__FOLLOW_DEPTH ? NULL : (prof__follow_open *)realloc(t->stack, wanted * sizeof *larger);
        if (!larger) {
            t->beyond++;
            return;
        }
        t->stack = larger;
        t->capacity = wanted;
    }
    prof__follow_open *open = &t->stack[t->depth++];
    const prof__follow_site *site = prof__follow_site_of(f, id);
    open->tick = t->tick;
    open->inside = open->covered = 0;
    open->bytes = PROF__FOLLOW_NO_BYTES;
    open->number = ++t->begins;
    open->site = id;
    open->name = site ? site->name : 0;
    open->figure = prof__follow_figure_of(f, id, PROF_EVENT_SCOPE, text);
    prof__follow_at(f, open->figure)->open++;
}

/* Of an argument only a throughput's bytes are wanted. */
static void prof__follow_arg(prof__follow *f, prof__follow_track *t, const uint64_t *record)
{
    prof__follow_open *open = t->depth && !t->beyond ? &t->stack[t->depth - 1] : NULL;
    const prof__follow_site *site = open ? prof__follow_site_of(f, open->site) : NULL, *key;
    if (record[0] & (PROF__ARG_KEY | PROF__ARG_TO)) return;
    if (!site || site->role != PROF_ROLE_THROUGHPUT) return;
    if ((record[0] >> 32 & 0xFF) != PROF_VALUE_UINT || !(record[0] & 0xFFFF)) return;
    key = prof__follow_site_of(f, prof__read_id(record[0]));
    if (key && !strcmp(prof__follow_name(f, key->name), "bytes")) open->bytes = record[1];
}

/* Notes that scopes from this place of the stack on are closed by the end of one around them, whose figure is around; 0:
   not known. Without memory they stay without an end. */
static void prof__follow_note_late(prof__follow_track *t, size_t at, uint32_t around)
{
    size_t half = PROF__FOLLOW_LATE / 2, i;
    if (t->depth - at > half) return;
    if (!t->late) t->late = (prof__follow_late *)calloc(PROF__FOLLOW_LATE, sizeof *t->late);
    if (!t->late) return;
    if (t->late_count + (t->depth - at) > PROF__FOLLOW_LATE) {
        memmove(t->late, t->late + half, half * sizeof *t->late);
        t->late_count = t->late_count > half ? t->late_count - half : 0;
    }
    for (i = at; i < t->depth; i++) {
        prof__follow_late *late = &t->late[t->late_count++];
        uint64_t inside = t->stack[i].inside;
        if (i + 1 < t->depth) inside += t->tick - t->stack[i + 1].tick; /* as it is when it was closed */
        late->tick = t->stack[i].tick;
        late->bytes = t->stack[i].bytes;
        late->number = t->stack[i].number;
        late->shared = t->tick - late->tick > inside ? t->tick - late->tick - inside : 0;
        late->figure = t->stack[i].figure;
        late->site = t->stack[i].site;
        late->around = i == at ? around : PROF__NONE32;
    }
}

/* The self time of what is around a scope that overlaps has its time as well. */
static void prof__follow_share(prof__follow *f, prof__follow_track *t, size_t at)
{
    uint64_t shared = t->late[at].shared;
    while (at && t->late[at].around == PROF__NONE32)
        if (t->late[--at].site != PROF__NONE32) { /* until it has its end, if ever, that is this one */
            t->late[at].shared += shared;
            return;
        }
    if (t->late[at].around && t->late[at].around != PROF__NONE32)
        prof__follow_at(f, t->late[at].around)->figure.stat.self_ns += shared;
}

/* No scope of this site is open. 1: the end is that of one that another around it has closed. */
static int prof__follow_end_late(prof__follow *f, prof__follow_track *t, uint32_t id)
{
    size_t at, newest = 0;
    for (at = 1; at <= t->late_count; at++)
        if (t->late[at - 1].site == id && (!newest || t->late[at - 1].number > t->late[newest - 1].number)) newest = at;
    at = newest;
    if (!at) return 0;
    prof__follow_late *late = &t->late[at - 1];
    prof__follow_figure *figure = prof__follow_at(f, late->figure);
    prof_stat *stat = &figure->figure.stat;
    uint64_t ticks = t->tick - late->tick;
    f->events++; /* the reader makes two of it */
    if (stat->truncated) stat->truncated--;
    stat->self_ns += ticks;
    stat->covered_ns += ticks;
    prof__follow_time(f, figure, t->tick, ticks, stat->count - stat->truncated);
    if (late->bytes != PROF__FOLLOW_NO_BYTES)
        prof__figure_bytes(&figure->figure, late->bytes, (double)ticks * f->ns_per_tick);
    late->site = PROF__NONE32;
    prof__follow_share(f, t, at - 1);
    while (t->late_count && t->late[t->late_count - 1].site == PROF__NONE32) t->late_count--;
    return 1;
}

static void prof__follow_end(prof__follow *f, prof__follow_track *t, uint32_t id)
{
    const prof__follow_site *site = prof__follow_site_of(f, id);
    size_t at = t->depth;
    if (t->beyond) { /* taken for the end of the innermost */
        t->beyond--;
        return;
    }
    while (at && t->stack[at - 1].site != id) at--;
    if (!at && t->late_count && prof__follow_end_late(f, t, id)) return;
    if (!at)
        for (at = t->depth; at && (!site || t->stack[at - 1].name != site->name);) at--;
    if (at && at < t->depth) prof__follow_note_late(t, at, t->stack[at - 1].figure);
    if (at) {
        while (t->depth > at) prof__follow_pop(f, t, 0);
        prof__follow_pop(f, t, 1);
    } else if (t->partial) { /* it began before what is known, and around everything */
        if (t->depth) prof__follow_note_late(t, 0, 0);
        while (t->depth) prof__follow_pop(f, t, 0);
        prof_stat *stat = &prof__follow_at(f, prof__follow_figure_of(f, id, PROF_EVENT_SCOPE, NULL))->figure.stat;
        stat->count++;
        stat->truncated++;
        f->events++;
    } else {
        f->unmatched++;
    }
}

/* What was open will not get its end. */
static void prof__follow_give_up(prof__follow *f, prof__follow_track *t)
{
    while (t->depth) prof__follow_pop(f, t, 0);
    t->beyond = t->frame_count = t->late_count = 0;
    t->partial = 1;
}

/* Frames of one name follow each other, wherever they stand; and the first of a call site only begins one. */
static void prof__follow_frame(prof__follow *f, prof__follow_track *t, uint32_t id)
{
    const prof__follow_site *site = prof__follow_site_of(f, id);
    uint32_t number = prof__follow_figure_of(f, id, PROF_EVENT_FRAME, NULL), name = site ? site->name : 0;
    prof__follow_boundary *own = NULL, *before = NULL;
    if (number == 1) return;
    for (size_t i = 0; i < t->frame_count; i++) {
        if (t->frames[i].figure == number) own = &t->frames[i];
        if (t->frames[i].name == name && (!before || t->frames[i].tick >= before->tick)) before = &t->frames[i];
    }
    if (own) {
        prof__follow_figure *figure = prof__follow_at(f, number);
        figure->figure.stat.covered_ns += t->tick - before->tick;
        prof__follow_time(f, figure, t->tick, t->tick - before->tick, ++figure->figure.stat.count);
    } else {
        if (!t->frames) t->frames = (prof__follow_boundary *)calloc(PROF__FOLLOW_FRAMES, sizeof *t->frames);
        if (!t->frames || t->frame_count == PROF__FOLLOW_FRAMES) return;
        own = &t->frames[t->frame_count++];
        own->figure = number;
        own->name = name;
    }
    own->tick = t->tick;
}

static void prof__follow_counter(prof__follow *f, uint32_t id, unsigned kind, uint64_t bits, uint64_t tick)
{
    uint32_t number = f->stats ? prof__follow_figure_of(f, id, PROF_EVENT_COUNTER, NULL) : 1;
    prof__figure *figure = &prof__follow_at(f, number)->figure;
    double value = (double)(int64_t)bits;
    if (number == 1) return;
    if (kind == PROF__KIND_COUNTER_DOUBLE) memcpy(&value, &bits, sizeof value);
    prof__figure_last(figure, value, (int64_t)tick);
    if (!figure->stat.count++ || value < figure->low) figure->low = value;
    if (figure->stat.count == 1 || value > figure->high) figure->high = value;
    prof__figure_moments(figure, value, figure->stat.count);
}

/*-- spans --*/

static uint32_t *prof__follow_half_bucket(prof__follow *f, const prof__follow_half *half)
{
    return &f->half_buckets[prof__mix(half->id + half->name) & (PROF__FOLLOW_BUCKETS - 1)];
}

static prof__follow_half prof__follow_half_remove(prof__follow *f, uint32_t number)
{
    prof__follow_half half = f->halves[number - 1];
    uint32_t *link = prof__follow_half_bucket(f, &half);
    while (*link != number) link = &f->halves[*link - 1].next;
    *link = half.next;
    *(half.newer ? &f->halves[half.newer - 1].older : &f->half_newest) = half.older;
    *(half.older ? &f->halves[half.older - 1].newer : &f->half_oldest) = half.newer;
    f->halves[number - 1].next = f->half_free;
    f->half_free = number;
    return half;
}

/* A half that stays one. Of frames only whole ones count. */
static void prof__follow_half_lone(prof__follow *f, const prof__follow_half *half)
{
    prof__figure *figure = &prof__follow_at(f, half->figure)->figure;
    *(half->end ? &f->begins_missing : &f->ends_missing) += 1;
    if (half->figure == 1 || figure->type == PROF_EVENT_FRAME) return;
    figure->stat.count++;
    figure->stat.truncated++;
}

static void prof__follow_half_add(prof__follow *f, const prof__follow_half *half)
{
    prof__follow_half given_up;
    uint32_t number = f->half_free, *bucket;
    if (!f->half_buckets) f->half_buckets = (uint32_t *)calloc(PROF__FOLLOW_BUCKETS, sizeof *f->half_buckets);
    if (!number && f->half_count < PROF__FOLLOW_HALVES && f->half_buckets &&
        PROF__ROOM(f->halves, f->half_capacity, f->half_count))
        number = (uint32_t)++f->half_count;
    else if (number)
        f->half_free = f->halves[number - 1].next;
    if (!number && f->half_oldest && !half->end) { /* an end is rather one that has no begin any more */
        number = f->half_oldest;
        given_up = prof__follow_half_remove(f, number);
        prof__follow_half_lone(f, &given_up);
        f->half_free = f->halves[number - 1].next; /* for this one */
    }
    if (!number) {
        prof__follow_half_lone(f, half);
        return;
    }
    f->halves[number - 1] = *half;
    bucket = prof__follow_half_bucket(f, half);
    f->halves[number - 1].next = *bucket;
    *bucket = number;
    f->halves[number - 1].older = f->half_newest;
    f->halves[number - 1].newer = 0;
    *(f->half_newest ? &f->halves[f->half_newest - 1].newer : &f->half_oldest) = number;
    f->half_newest = number;
}

/* The other half that is nearest in time; 0: not read yet. */
static uint32_t prof__follow_half_find(prof__follow *f, const prof__follow_half *half)
{
    uint32_t best = 0, number = f->half_buckets ? *prof__follow_half_bucket(f, half) : 0;
    uint64_t nearest = 0;
    for (; number; number = f->halves[number - 1].next) {
        const prof__follow_half *other = &f->halves[number - 1];
        uint64_t ticks = half->end ? half->tick - other->tick : other->tick - half->tick;
        if (other->end == half->end || other->id != half->id || other->name != half->name || other->role != half->role ||
            other->number != half->number || (int64_t)ticks < 0 || (best && ticks >= nearest))
            continue;
        best = number;
        nearest = ticks;
    }
    return best;
}

static void prof__follow_span_time(prof__follow *f, uint32_t number, uint64_t from, uint64_t to)
{
    prof__follow_figure *figure = prof__follow_at(f, number);
    prof_stat *stat = &figure->figure.stat;
    if (number == 1) return;
    if (!stat->count++ || (int64_t)from < figure->figure.from) figure->figure.from = (int64_t)from;
    if ((int64_t)to > figure->figure.to) figure->figure.to = (int64_t)to;
    if (figure->figure.type == PROF_EVENT_FRAME)
        stat->covered_ns = (uint64_t)(figure->figure.to - figure->figure.from);
    else
        stat->self_ns += to - from;
    prof__follow_time(f, figure, to, to - from, stat->count - stat->truncated);
}

/* A begin or an end. What threads did at the same time is not read in order of time: so the half that comes first waits
   for the other, whichever it is. */
static void prof__follow_span(prof__follow *f, uint32_t id, const uint64_t *record, uint64_t tick)
{
    const prof__follow_site *site = prof__follow_site_of(f, id);
    unsigned type = prof__read_event_type(record);
    prof__follow_half half;
    uint32_t other;
    if (!site || (type != PROF_EVENT_SPAN_BEGIN && type != PROF_EVENT_SPAN_END)) return;
    if (!f->stats && site->role != PROF_ROLE_FRAME) return; /* only frames have limits */
    memset(&half, 0, sizeof half);
    half.id = record[2];
    half.tick = tick;
    half.name = site->name;
    half.role = site->role;
    half.number = site->role == PROF_ROLE_FRAME ? record[1] >> 8 : 0;
    half.end = type == PROF_EVENT_SPAN_END;
    half.figure =
        prof__follow_figure_of(f, id, half.role == PROF_ROLE_FRAME ? PROF_EVENT_FRAME : PROF_EVENT_SPAN_BEGIN, NULL);
    other = prof__follow_half_find(f, &half);
    if (!other) {
        prof__follow_half_add(f, &half);
        return;
    }
    prof__follow_half found = prof__follow_half_remove(f, other);
    if (half.end)
        prof__follow_span_time(f, found.figure, found.tick, half.tick);
    else
        prof__follow_span_time(f, half.figure, half.tick, found.tick);
}

/* left: words behind the record's head. */
/* Counts a scope whose name was made at run time. */
static void prof__follow_named(prof__follow *f, uint32_t id)
{
    const prof__follow_site *site = prof__follow_site_of(f, id);
    ++*(site && *prof__follow_name(f, site->name) ? &f->uses.formats : &f->uses.texts);
}

static void prof__follow_record(prof__follow *f, prof__follow_track *t, uint64_t base, uint64_t *record, size_t left)
{
    uint64_t head = record[0];
    unsigned kind = prof__read_kind(head);
    uint32_t id = prof__read_id(head);
    const char *text = NULL;
    if (prof__record_timed(head)) t->tick = prof__read_tick(base, head, t->tick);
    if (t->tick > f->newest_tick) f->newest_tick = t->tick;
    int event = kind == PROF__KIND_EVENT
                    ? prof__read_event_type(record) != 0
                    : kind != PROF__KIND_END && (prof__record_timed(head) || kind == PROF__KIND_LOST);
    f->events += (uint64_t)event;
    int object = event && kind == PROF__KIND_EVENT && prof__read_event_type(record) != PROF_EVENT_LOG;
    f->uses.objects += (uint64_t)object;
    f->uses.marks += (uint64_t)(event && !object && kind != PROF__KIND_BEGIN && kind != PROF__KIND_LOST);
    f->uses.values += kind == PROF__KIND_ARG ? 2 : kind == PROF__KIND_DATA;
    switch (kind) {
    case PROF__KIND_BEGIN:
        if (left && prof__read_kind(record[1]) == PROF__KIND_NAME) {
            size_t words = prof__record_words(record[1], left);
            if (words > 1) ((char *)(record + 1 + words))[-1] = 0;
            if (words > 1) text = (const char *)(record + 2);
        }
        prof__follow_begin(f, t, id, text);
        if (text) prof__follow_named(f, id);
        break;
    case PROF__KIND_END: prof__follow_end(f, t, id); break;
    case PROF__KIND_ARG: prof__follow_arg(f, t, record); break;
    case PROF__KIND_FRAME: prof__follow_frame(f, t, id); break;
    case PROF__KIND_COUNTER_INT:
    case PROF__KIND_COUNTER_DOUBLE: prof__follow_counter(f, id, kind, record[1], t->tick); break;
    case PROF__KIND_EVENT: prof__follow_span(f, id, record, t->tick); break;
    case PROF__KIND_LOST: f->lost += head & PROF__TICK_MASK; break;
    default: break;
    }
}

/*-- tracks --*/

static void prof__follow_unlink(prof__follow *f, uint32_t number)
{
    prof__follow_track *t = &f->tracks[number - 1];
    *(t->newer ? &f->tracks[t->newer - 1].older : &f->newest) = t->older;
    *(t->older ? &f->tracks[t->older - 1].newer : &f->oldest) = t->newer;
}

static void prof__follow_link(prof__follow *f, uint32_t number)
{
    prof__follow_track *t = &f->tracks[number - 1];
    t->newer = 0;
    t->older = f->newest;
    *(f->newest ? &f->tracks[f->newest - 1].newer : &f->oldest) = number;
    f->newest = number;
}

static uint32_t *prof__follow_bucket(prof__follow *f, uint64_t id)
{
    return &f->buckets[(uint32_t)prof__mix(id) & f->bucket_mask];
}

static uint32_t prof__follow_find(prof__follow *f, uint64_t id)
{
    uint32_t number = *prof__follow_bucket(f, id);
    while (number && f->tracks[number - 1].id != id) number = f->tracks[number - 1].next;
    return number;
}

static void prof__follow_forget(prof__follow *f, uint32_t number)
{
    prof__follow_track *t = &f->tracks[number - 1];
    uint32_t *link = prof__follow_bucket(f, t->id);
    prof__follow_give_up(f, t);
    while (*link != number) link = &f->tracks[*link - 1].next;
    *link = t->next;
    prof__follow_unlink(f, number);
    f->gaps++; /* should it come back, it is unknown what it did */
}

/* A track that was not known, or not any more. */
static uint32_t prof__follow_meet(prof__follow *f, uint64_t id)
{
    int partial = f->gaps != 0;
    uint32_t number = f->track_count < f->track_limit ? ++f->track_count : f->oldest;
    prof__follow_track *t = &f->tracks[number - 1];
    if (number == f->oldest && t->id) prof__follow_forget(f, number);
    t->id = id;
    t->number = t->tick = 0;
    t->slot = 0;
    t->partial = partial;
    t->next = *prof__follow_bucket(f, id);
    *prof__follow_bucket(f, id) = number;
    prof__follow_link(f, number);
    return number;
}

static prof__follow_track *prof__follow_use(prof__follow *f, uint64_t id)
{
    uint32_t number = prof__follow_find(f, id);
    if (!number) number = prof__follow_meet(f, id);
    if (f->newest != number) {
        prof__follow_unlink(f, number);
        prof__follow_link(f, number);
    }
    return &f->tracks[number - 1];
}

/* The part of a track that a slot had is complete. */
static void prof__follow_part_ends(prof__follow *f, uint32_t slot)
{
    uint32_t number = f->slots[slot].track ? prof__follow_find(f, f->slots[slot].track) : 0;
    if (number && f->tracks[number - 1].slot == slot + 1) f->tracks[number - 1].slot = 0;
    f->slots[slot].track = 0;
}

/* A TRACK record: the next part of that track begins here. Null: what is before it may not have been read yet. patient:
   it has waited for that already. 1: nobody comes further without, and so the part before it, in another slot, is
   complete, though its thread has not said so: it found no room to. 2: nobody comes further even so: it is missing. */
static prof__follow_track *prof__follow_switch(prof__follow *f, uint32_t slot, const uint64_t *record, int patient)
{
    uint64_t id = prof__track_id(record), number = prof__track_serial(record);
    uint32_t known = prof__follow_find(f, id);
    prof__follow_track *t = known ? &f->tracks[known - 1] : NULL;
    uint64_t ahead = number - (t ? t->number : 0); /* serials begin with 1 */
    if (!patient && (ahead > 1 || (t && t->slot && t->slot != slot + 1))) return NULL;
    t = prof__follow_use(f, id);
    if (ahead > 1) {
        f->gaps++;
        prof__follow_give_up(f, t);
    }
    t->number = number;
    if (f->slots[slot].track != id) prof__follow_part_ends(f, slot);
    f->slots[slot].track = id;
    t->slot = slot + 1;
    return t;
}

/*-- passes --*/

static prof__chunk *prof__follow_chunk(const prof__follow *f, uint32_t slot)
{
    return (prof__chunk *)(void *)(f->session->chunks + (size_t)slot * f->session->chunk_size);
}

/* How many words of a chunk are whole records and there to stay: with a minimum duration the scopes that were begun
   last may be taken back. */
static uint32_t prof__follow_limit(const prof__follow *f, uint32_t slot)
{
    const prof__session *s = f->session;
    const uint64_t *words = prof__chunk_first(prof__follow_chunk(f, slot));
    size_t at = f->slots[slot].at, safe = at, length, count = (size_t)s->chunk_words;
    int keeps = !s->min_ticks || f->slots[slot].ended || PROF__ACQUIRE(&s->header->state) == PROF__STOPPED, begins = 0;
    for (; at < count; at += length) {
        uint64_t head = PROF__ACQUIRE(words + at);
        length = prof__record_words(head, count - at);
        if (!length) break;
        if (prof__read_kind(head) != PROF__KIND_NAME) begins = prof__read_kind(head) == PROF__KIND_BEGIN;
        if (keeps || !begins) safe = at + length;
    }
    return (uint32_t)safe;
}

/* The chunk was reused before it was read. */
static void prof__follow_missed(prof__follow *f, uint32_t slot)
{
    prof__follow_part_ends(f, slot);
    f->slots[slot].sequence = 0;
    f->slots[slot].waits = 0;
    f->gaps++;
}

/* Copies the words from at to limit. 0: the chunk has been reused. */
static size_t prof__follow_copy(prof__follow *f, uint32_t slot)
{
    const prof__follow_slot *it = &f->slots[slot];
    prof__chunk *chunk = prof__follow_chunk(f, slot);
    uint64_t *words = prof__chunk_first(chunk) + it->at;
    size_t count = it->limit - it->at;
    prof__memory_read(words, 0, f->words, count * sizeof *words);
    if (f->session->min_ticks) {
        prof__memory_read(words, 0, f->again, count * sizeof *words);
        prof__chunk_cut(f->words, f->again, count);
    }
    return PROF__ACQUIRE(&chunk->sequence) == it->sequence ? count : 0;
}

/* The time of the first record that has one; ~0: none has. */
static uint64_t prof__follow_tick_at(uint64_t base, const uint64_t *words, size_t count)
{
    size_t at, length;
    for (at = 0; at < count && (length = prof__record_words(words[at], count - at)) != 0; at += length)
        if (prof__record_timed(words[at])) return prof__read_tick(base, words[at], 0);
    return ~(uint64_t)0;
}

/* Reads a slot up to its limit, or to where it has to wait. 1: it came further. */
static int prof__follow_read(prof__follow *f, uint32_t slot, int patient)
{
    prof__follow_slot *it = &f->slots[slot];
    size_t count, at = 0, length;
    if (it->at == it->limit) return 0;
    count = prof__follow_copy(f, slot);
    if (!count) {
        prof__follow_missed(f, slot);
        return 1;
    }
    prof__follow_track *t = it->track ? prof__follow_use(f, it->track) : NULL;
    for (; at < count; at += length) {
        length = prof__record_words(f->words[at], count - at);
        if (!length) break;
        if (prof__read_kind(f->words[at]) == PROF__KIND_TRACK) {
            prof__follow_track *now = prof__follow_switch(f, slot, f->words + at, patient);
            if (!now) {
                if (!it->waits || at) it->waits = f->pass;
                it->tick = prof__follow_tick_at(it->base, f->words + at, count - at);
                break;
            }
            t = now;
            patient = 0;
            it->waits = 0;
        } else if (t) {
            prof__follow_record(f, t, it->base, f->words + at, count - at - 1);
        }
    }
    it->at += (uint32_t)at;
    return at != 0;
}

/* Leaves a chunk that was read to its end. */
static void prof__follow_leave(prof__follow *f, uint32_t slot)
{
    prof__follow_slot *it = &f->slots[slot];
    prof__chunk *chunk = prof__follow_chunk(f, slot);
    if (!it->sequence || !it->ended || it->at != it->limit) return;
    prof__follow_part_ends(f, slot);
    it->done = it->sequence;
    it->sequence = 0;
    if (!f->stats) return;
    f->lost += PROF__LOAD(&chunk->lost);
    prof__chunk_release(f->session, chunk);
}

static int prof__follow_newer(const void *a, const void *b)
{
    const prof__follow_order *x = (const prof__follow_order *)a, *y = (const prof__follow_order *)b;
    return x->sequence < y->sequence ? 1 : -1;
}

/* Which slots have something to read, the newest first. */
static size_t prof__follow_gather(prof__follow *f)
{
    const prof__session *s = f->session;
    uint64_t next = PROF__ACQUIRE(&s->header->next_chunk), there = prof__chunks_there(s);
    uint64_t count = PROF__LOAD(&s->chunk_count);
    size_t found = 0;
    if (next > there && there < count) next = there; /* those beyond are not written yet */
    for (uint64_t n = next - f->seen > count ? next - count : f->seen; n < next; n++) {
        uint32_t slot = (uint32_t)(n % count);
        f->slots[slot].expected = n + 1;
        if (!f->slots[slot].active) f->active[f->active_count++] = slot;
        f->slots[slot].active = 1;
    }
    f->seen = next;
    for (size_t i = 0; i < f->active_count; i++) {
        prof__follow_slot *it = &f->slots[f->active[i]];
        prof__chunk *chunk = prof__follow_chunk(f, f->active[i]);
        uint64_t sequence = PROF__ACQUIRE(&chunk->sequence);
        if (it->sequence && it->sequence != sequence) prof__follow_missed(f, f->active[i]);
        if (!it->sequence && sequence > it->done && sequence <= next) {
            it->sequence = sequence;
            it->base = PROF__LOAD(&chunk->base.tick);
            it->track = 0;
            it->at = it->limit = 0;
            it->waits = 0;
        }
        if (!it->sequence) continue;
        f->order[found].sequence = it->sequence;
        f->order[found++].slot = f->active[i];
    }
    if (found > 1) qsort(f->order, found, sizeof *f->order, prof__follow_newer);
    return found;
}

/* Where an ended thread left room in a chunk and the ring gets scarce, no other shall have it. */
static void prof__follow_scarce(prof__follow *f, prof__chunk *chunk, uint32_t state)
{
    const prof__session *s = f->session;
    if (f->stats && state == PROF__CHUNK_LEFT && PROF__LOAD(&s->free_chunks) < s->chunk_count / 4)
        __atomic_compare_exchange_n(&chunk->state, &state, (uint32_t)PROF__CHUNK_FULL, 0, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED);
}

static void prof__follow_limits(prof__follow *f, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t slot = f->order[i].slot;
        prof__chunk *chunk = prof__follow_chunk(f, slot);
        prof__follow_scarce(f, chunk, PROF__LOAD(&chunk->state));
        uint32_t state = PROF__ACQUIRE(&chunk->state);
        f->slots[slot].ended = state == PROF__CHUNK_FULL || state == PROF__CHUNK_FREE;
        f->slots[slot].limit = prof__follow_limit(f, slot);
    }
}

static void prof__follow_rate(prof__follow *f)
{
    const prof__session *s = f->session;
    const prof__pair *first = &s->header->first;
    prof__pair now;
    prof__pair_take(s->clock, s->header->tick_hz, &now);
    uint64_t ns = now.monotonic_ns - first->monotonic_ns, hz = s->header->tick_hz;
    if (now.tick > first->tick && now.monotonic_ns > first->monotonic_ns) /* see prof__read_lines() */
        f->ns_per_tick = hz && ns < 10000000 ? 1e9 / (double)hz : (double)ns / (double)(now.tick - first->tick);
    if (s->clock == PROF_CLOCK_MONOTONIC) f->ns_per_tick = 1;
}

/* Reads those that wait, as far as that goes by now. 1: some came further. */
static int prof__follow_retry(prof__follow *f, size_t count)
{
    const prof__follow_slot *earliest = NULL;
    uint32_t slot, chosen = 0;
    int progress = 0;
    for (size_t i = count; i-- > 0;) {
        const prof__follow_slot *it = &f->slots[slot = f->order[i].slot];
        if (!it->sequence || !it->waits) continue;
        progress |= prof__follow_read(f, slot, 0);
        prof__follow_leave(f, slot);
        if (!it->sequence || !it->waits || (earliest && it->tick >= earliest->tick)) continue;
        earliest = it;
        chosen = slot;
    }
    if (progress || !earliest || earliest->tick == ~(uint64_t)0 || earliest->waits == f->pass) return progress;
    progress = prof__follow_read(f, chosen, 1); /* nobody has what it waits for */
    prof__follow_leave(f, chosen);
    return progress;
}

/* Reads what is there. 1: threads have taken new chunks since. Under f->lock. */
static int prof__follow_pass(prof__follow *f)
{
    uint64_t seen = f->seen;
    f->pass++;
    prof__follow_rate(f);
    size_t count = prof__follow_gather(f), active = 0;
    prof__follow_limits(f, count);
    for (size_t i = count; i-- > 0;) {
        prof__follow_read(f, f->order[i].slot, 0);
        prof__follow_leave(f, f->order[i].slot);
    }
    while (prof__follow_retry(f, count)) {
    }
    for (size_t i = 0; i < f->active_count; i++) {
        prof__follow_slot *it = &f->slots[f->active[i]];
        it->active = it->sequence || it->done < it->expected;
        if (it->active) f->active[active++] = f->active[i];
    }
    f->active_count = active;
    return f->seen != seen;
}

/* Reads everything that was recorded by now; what had to wait takes another pass. */
static void prof__follow_all(prof__follow *f)
{
    int waiting = 1;
    prof__follow_pass(f);
    for (int i = 0; i < 100 && waiting; i++) {
        waiting = 0;
        for (size_t j = 0; j < f->active_count; j++) waiting |= f->slots[f->active[j]].waits != 0;
        if (waiting) prof__follow_pass(f);
    }
}

static int prof__follow_step(prof__session *s)
{
    prof__follow *f = s->follow;
    int work;
    if (!f || (!f->stats && !f->rule_count)) return 0;
    prof__lock(&f->lock);
    work = prof__follow_pass(f);
    prof__unlock(&f->lock);
    return work;
}

/*-- what PROF_STATS has to show --*/

static void prof__folded_free(prof__folded *folded)
{
    for (size_t i = 0; folded->texts && i < folded->count; i++) free(folded->texts[i]);
    for (size_t i = 0; folded->figures && i < folded->count; i++) free(folded->figures[i].histogram.steps);
    free(folded->texts);
    free(folded->sites);
    free(folded->figures);
    memset(folded, 0, sizeof *folded);
}

static uint64_t prof__follow_ns(const prof__follow *f, uint64_t ticks)
{
    double ns = (double)ticks * f->ns_per_tick;
    return ns < 9e18 ? (uint64_t)(ns + 0.5) : (uint64_t)9000000000000000000u;
}

/* Finishes the copy of a figure. 0: no memory. */
static int prof__folded_finish(const prof__follow *f, const prof__follow_figure *from, prof__figure *to)
{
    prof_stat *stat = &to->stat;
    const prof__histogram *h = &from->figure.histogram;
    *to = from->figure;
    if (to->type == PROF_EVENT_COUNTER) return 1;
    to->histogram.steps = (prof__step *)calloc(h->capacity + 1, sizeof *h->steps);
    if (!to->histogram.steps) return 0;
    if (h->capacity) memcpy(to->histogram.steps, h->steps, h->capacity * sizeof *h->steps);
    uint64_t count = stat->count - stat->truncated;
    stat->total_ns = prof__follow_ns(f, stat->total_ns);
    stat->self_ns = prof__follow_ns(f, stat->self_ns);
    stat->covered_ns = prof__follow_ns(f, stat->covered_ns);
    stat->min_ns = prof__follow_ns(f, stat->min_ns);
    stat->max_ns = prof__follow_ns(f, stat->max_ns);
    prof__figure_finish(to);
    if (count) stat->mean_ns = (double)from->figure.stat.total_ns * f->ns_per_tick / (double)count;
    stat->count += from->open;
    stat->truncated += from->open;
    return 1;
}

/* Those that wait are halves so far. */
static void prof__folded_halves(prof__folded *folded, const prof__follow *f)
{
    folded->begins_missing = f->begins_missing;
    folded->ends_missing = f->ends_missing;
    for (uint32_t number = f->half_oldest; number; number = f->halves[number - 1].newer) {
        const prof__follow_half *half = &f->halves[number - 1];
        prof__figure *figure = &folded->figures[half->figure - 1];
        *(half->end ? &folded->begins_missing : &folded->ends_missing) += 1;
        if (half->figure == 1 || figure->type == PROF_EVENT_FRAME) continue;
        figure->stat.count++;
        figure->stat.truncated++;
    }
}

/* What open scopes have inside of their own figure is covered by those, for they have no end so far. */
static void prof__folded_covered(prof__folded *folded, const prof__follow *f)
{
    for (uint32_t i = 0; i < f->track_count; i++)
        for (size_t at = 0; at < f->tracks[i].depth; at++) {
            const prof__follow_open *open = &f->tracks[i].stack[at];
            folded->figures[open->figure - 1].stat.covered_ns += prof__follow_ns(f, open->covered);
        }
}

static int prof__folded_copy(prof__folded *folded, const prof__follow *f)
{
    folded->figures = (prof__figure *)calloc(f->figure_count + 1, sizeof *folded->figures);
    folded->sites = (uint32_t *)calloc(f->figure_count + 1, sizeof *folded->sites);
    folded->texts = (char **)calloc(f->figure_count + 1, sizeof *folded->texts);
    if (!folded->figures || !folded->sites || !folded->texts) return 0;
    for (size_t i = 0; i < f->figure_count; i++, folded->count++) {
        const prof__follow_figure *from = &f->figures[i];
        folded->sites[i] = from->site;
        if (from->text && !(folded->texts[i] = prof__text_join(from->text, ""))) return 0;
        if (!prof__folded_finish(f, from, &folded->figures[i])) return 0;
        folded->open += from->open;
    }
    prof__folded_halves(folded, f);
    prof__folded_covered(folded, f);
    folded->events = f->events;
    folded->uses = f->uses;
    folded->unmatched = f->unmatched;
    folded->lost = f->lost;
    folded->newest = f->newest_tick;
    for (size_t i = 0; i < f->active_count; i++)
        if (f->slots[f->active[i]].sequence) folded->lost += PROF__LOAD(&prof__follow_chunk(f, f->active[i])->lost);
    return 1;
}

/* Forgets the figures; what is open counts when it ends. */
static void prof__follow_reset(prof__follow *f)
{
    for (size_t i = 0; i < f->figure_count; i++) {
        prof__figure *figure = &f->figures[i].figure;
        prof_stat *stat = &figure->stat;
        stat->count = stat->truncated = stat->total_ns = stat->self_ns = stat->covered_ns = 0;
        stat->min_ns = stat->max_ns = stat->bytes = stat->rates = 0;
        stat->mean_rate = stat->min_rate = stat->max_rate = figure->rate_squares = 0;
        figure->mean = figure->squares = figure->low = figure->high = figure->last = 0;
        figure->from = figure->to = 0;
        free(figure->histogram.steps);
        memset(&figure->histogram, 0, sizeof figure->histogram);
    }
}

/* Folds everything recorded by now, and copies it all; reset: and forgets it. Nothing if the present session keeps
   events. */
static prof_status prof__folded_take(prof__folded *folded, int reset)
{
    prof_status status = PROF_OK;
    memset(folded, 0, sizeof *folded);
    uint32_t gate = prof__state_lock();
    prof__session *s = prof__state.session;
    prof__follow *f = s && prof__mode_counts(s->header->mode) ? s->follow : NULL;
    if (f) {
        folded->session = s->header->session;
        s->readers++;
        __atomic_fetch_add(&s->attached, 1, __ATOMIC_RELAXED); /* keeps all of it */
    }
    prof__state_unlock(gate);
    if (!f) return PROF_OK;
    prof__lock(&f->lock);
    prof__follow_all(f);
    if (!prof__folded_copy(folded, f)) status = prof__fail(PROF_NO_MEMORY, "no memory for the statistics");
    else if (reset) prof__follow_reset(f);
    prof__unlock(&f->lock);
    gate = prof__state_lock();
    s->readers--;
    __atomic_fetch_sub(&s->attached, 1, __ATOMIC_RELEASE);
    prof__state_unlock(gate);
    return status;
}

/* The metadata of a trace that has the newest events only, beside statistics of everything. */
static prof_status prof__folded_note(prof_trace *trace)
{
    const prof_trace_info *info = prof_trace_about(trace);
    char note[192] = "events", kept[32], all[32], from[48];
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < trace->track_count; i++)
        if (trace->tracks[i].about.event_count && trace->tracks[i].about.first_ns < first)
            first = trace->tracks[i].about.first_ns;
    if (!info->overwritten_chunks || first == INT64_MAX) return PROF_OK;
    prof__grouped(kept, info->event_count);
    prof__grouped(all, info->folded);
    prof__human_ns(from, (double)first);
    snprintf(note + 7, sizeof note - 7, "the newest %s of %s, from %s on; statistics are of all", kept, all, from);
    if (prof__device_name(trace, note) == PROF__NONE || prof__device_name(trace, note + 7) == PROF__NONE ||
        !prof__read_metadata(trace, note, note + sizeof note)) /* which finds these copies */
        return prof__fail(PROF_NO_MEMORY, "no memory for the statistics");
    return PROF_OK;
}

/* Gives a trace its figures. */
static prof_status prof__folded_give(prof__folded *folded, prof_trace *trace)
{
    prof_status status = PROF_OK;
    size_t hint = 0, i, count = 0;
    int64_t newest = prof__read_ns(trace, folded->newest, &hint);
    if (trace->header.session != folded->session)
        return prof__fail(PROF_INVALID_STATE, "a new session began while the old one was being read");
    for (i = 0; i < folded->count && !status; i++) {
        prof__figure *figure = &folded->figures[i];
        size_t site = i ? prof__read_site_of(trace, folded->sites[i]) : PROF__NONE;
        if (!figure->stat.count) {
            free(figure->histogram.steps);
            memset(&figure->histogram, 0, sizeof figure->histogram);
            continue;
        }
        if (site == PROF__NONE) site = prof__read_make_site(trace, i ? "?" : "(more scopes)", PROF__KIND_BEGIN);
        if (site == PROF__NONE) return prof__fail(PROF_NO_MEMORY, "no memory for the statistics");
        /* sites may still move: by number for now */
        folded->sites[count] = (uint32_t)site;
        folded->figures[count] = *figure;
        if (count != i) memset(&figure->histogram, 0, sizeof figure->histogram); /* it has moved */
        folded->figures[count].stat.name = NULL;
        if (folded->texts[i]) {
            if (!PROF__ROOM(trace->texts, trace->text_capacity, trace->text_count))
                return prof__fail(PROF_NO_MEMORY, "no memory for the statistics");
            folded->figures[count].stat.name = trace->texts[trace->text_count++] = folded->texts[i];
            folded->texts[i] = NULL;
        }
        count++;
    }
    for (i = 0; i < count; i++) {
        prof_stat *stat = &folded->figures[i].stat;
        stat->site = &trace->sites[folded->sites[i]].about;
        stat->parent = PROF_NO_PARENT; /* paths are not followed */
        if (!stat->name) stat->name = stat->site->name;
    }
    trace->folded = folded->figures;
    trace->folded_count = count;
    folded->figures = NULL;
    trace->begins_missing = folded->begins_missing;
    trace->uses = folded->uses;
    trace->ends_missing = folded->ends_missing;
    trace->info.folded = folded->events;
    trace->info.open = folded->open;
    if (trace->info.mode == PROF_RING_STATS) { /* the trace has counted a part of these */
        trace->info.lost = trace->header.lost;
        trace->info.unmatched = 0;
        status = prof__folded_note(trace);
    }
    trace->info.lost += folded->lost;
    trace->info.unmatched += folded->unmatched;
    if (newest > trace->info.duration_ns) trace->info.duration_ns = newest;
    return status;
}

/*-- making and freeing --*/

/* "frame>16.7ms,scope:net.*>2ms" */
static prof_status prof__follow_rules(prof__follow *f, const char *list)
{
    static const prof__unit times[] = {{"", 1}, {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {NULL, 0}};
    while (list && *list) {
        prof__follow_rule *rule = &f->rules[f->rule_count];
        size_t length = strcspn(list, ","), name = 0;
        char text[128], *limit;
        if (f->rule_count == PROF__FOLLOW_RULES)
            return prof__fail(PROF_INVALID_ARGUMENT, "save_over: more than %d limits", PROF__FOLLOW_RULES);
        snprintf(text, sizeof text, "%.*s", (int)(length < 127 ? length : 127), list);
        limit = strrchr(text, '>');
        if (limit) *limit++ = 0;
        rule->frame = !strncmp(text, "frame", 5) && (!text[5] || text[5] == ':');
        if (rule->frame) name = text[5] ? 6 : 5;
        if (!strncmp(text, "scope:", 6)) name = 6;
        if (length > 127 || !limit || !name || (!text[name] && name == 6) ||
            strlen(text + name) >= sizeof rule->pattern || !prof__parse_number(limit, times, &rule->ns))
            return prof__fail(PROF_INVALID_ARGUMENT,
                              "save_over '%.100s': frame>16.7ms, frame:NAME>16.7ms or scope:NAME>2ms, joined by commas",
                              list);
        prof__text_copy(rule->pattern, sizeof rule->pattern, text[name] ? text + name : "*");
        f->rule_count++;
        list += length;
        if (*list) list++;
    }
    return PROF_OK;
}

static prof_status prof__save_check(prof__follow *f, const prof_config *config)
{
    prof_status (*write)(const prof_trace *, const char *);
    char expanded[1024];
    if (!config->save || !config->save[0]) {
        if (config->save_over || config->save_signal)
            return prof__fail(PROF_INVALID_ARGUMENT,
                              "save_over, save_signal: name a file in save, for example slow-%%c.json");
        return PROF_OK;
    }
    if (strlen(config->save) >= sizeof f->save) return prof__fail(PROF_INVALID_ARGUMENT, "save: path too long");
    if (!(config->save_last >= 0) || !(config->save_every >= 0) || config->save_every > 1e9)
        return prof__fail(PROF_INVALID_ARGUMENT, "save_last, save_every: seconds, 0 or more");
    if (config->save_signal < 0 || config->save_signal > 64)
        return prof__fail(PROF_INVALID_ARGUMENT, "save_signal %d: 1 to 64", config->save_signal);
#ifdef _WIN32
    if (config->save_signal)
        return prof__fail(PROF_UNSUPPORTED, "save_signal: not on Windows; use prof_save_request()");
#endif
    prof_status status = prof__expand_counted(config->save, 1, expanded, sizeof expanded);
    if (!status) status = prof__writer_find(expanded, &write);
    if (!status) status = prof__writer_fits(expanded, write, (uint32_t)config->mode);
    if (!status) status = prof__output_check(expanded);
    if (!status) status = prof__follow_rules(f, config->save_over);
    prof__pattern_absolute(config->save, f->save, sizeof f->save);
    f->last_seconds = config->save_last > 0 ? config->save_last : 10;
    f->every_ns = (uint64_t)(config->save_every * 1e9);
    f->signal = config->save_signal;
    return status;
}

static int prof__follow_tables(prof__follow *f)
{
    const prof__session *s = f->session;
    uint64_t tracks = s->chunk_count * 2 < 256 ? 256 : s->chunk_count * 2 > 65536 ? 65536 : s->chunk_count * 2;
    uint32_t buckets = 256;
    while (buckets < tracks) buckets *= 2;
    f->track_limit = (uint32_t)tracks;
    f->bucket_mask = buckets - 1;
    f->tracks = (prof__follow_track *)calloc((size_t)tracks, sizeof *f->tracks);
    f->buckets = (uint32_t *)calloc(buckets, sizeof *f->buckets);
    f->slots = (prof__follow_slot *)calloc((size_t)s->chunk_count, sizeof *f->slots);
    f->active = (uint32_t *)calloc((size_t)s->chunk_count, sizeof *f->active);
    f->order = (prof__follow_order *)calloc((size_t)s->chunk_count, sizeof *f->order);
    f->words = (uint64_t *)calloc((size_t)s->chunk_words, sizeof *f->words);
    f->again = (uint64_t *)calloc((size_t)s->chunk_words, sizeof *f->again);
    if (!f->tracks || !f->buckets || !f->slots || !f->active || !f->order || !f->words || !f->again) return 0;
    return PROF__ROOM(f->figures, f->figure_capacity, 0) && prof__follow_add(f, 0, PROF_EVENT_SCOPE, "", NULL) == 1;
}

/* Where the configuration needs it. Under the control lock. */
static prof_status prof__follow_make(prof__session *s, const prof_config *config)
{
    prof_status status;
    if (!prof__mode_counts((uint32_t)config->mode) && !config->save && !config->save_over && !config->save_signal) return PROF_OK;
    prof__follow *f = (prof__follow *)calloc(1, sizeof *f);
    if (!f) return prof__fail(PROF_NO_MEMORY, "no memory to follow what is recorded");
    s->follow = f; /* freed with the session */
    f->session = s;
    f->process = prof__process_id();
    f->stats = prof__mode_counts((uint32_t)config->mode);
    f->ns_per_tick = 1;
    status = prof__save_check(f, config);
    if (!status && !prof__follow_tables(f)) status = prof__fail(PROF_NO_MEMORY, "no memory to follow what is recorded");
    return status;
}

static void prof__follow_free(prof__follow *f)
{
    if (!f || f->process != prof__process_id()) return; /* the child of a fork may have it in the middle of a change */
    for (size_t i = 0; f->tracks && i < f->track_limit; i++) {
        free(f->tracks[i].stack);
        free(f->tracks[i].frames);
        free(f->tracks[i].late);
    }
    for (size_t i = 0; i < f->figure_count; i++) {
        free(f->figures[i].text);
        free(f->figures[i].figure.histogram.steps);
    }
    free(f->halves);
    free(f->half_buckets);
    free(f->tracks);
    free(f->buckets);
    free(f->slots);
    free(f->active);
    free(f->order);
    free(f->words);
    free(f->again);
    free(f->strings);
    free(f->sites);
    free(f->figures);
    free(f->figure_index.slots);
    free(f);
}

/*-- SAVES ON DEMAND ----------------------------------------------------------------------------------------- >>save --
   Of a trigger only a flag or a line of text is left: the service does the rest. */

static uint32_t prof__save_wanted; /* 0, or what asked for it: PROF__SAVE_... */
static uint32_t prof__save_armed;  /* 1: somebody will look */
static prof_status (*prof__saved_hook)(void); /* null, or what is to be saved along: see prof_ntff.h */
static PROF__UNUSED void prof__saved_with(prof_status (*hook)(void))
{
    PROF__LED_VOID(prof__saved_with, (hook));
    PROF__RELEASE(&prof__saved_hook, hook);
}
enum { PROF__SAVE_CALL = 1, PROF__SAVE_SIGNAL };

PROF_DEF prof_status prof_save_request(void)
{
    PROF__LED(prof_save_request, ());
    if (!PROF__LOAD(&prof__save_armed)) return PROF_INVALID_STATE;
    PROF__STORE(&prof__save_wanted, (uint32_t)PROF__SAVE_CALL);
    return PROF_OK;
}

static int prof__save_present(const prof__session *s)
{
    uint32_t gate = prof__state_lock();
    int present = prof__state.session == s;
    prof__state_unlock(gate);
    return present;
}

/* Carries out one save. Returns 1 if there was one to do. */
static int prof__save_step(prof__session *s)
{
    prof__follow *f = s->follow;
    char path[1024], note[320];
    if (!f || !f->save[0] || (!f->cause.text[0] && !PROF__LOAD(&prof__save_wanted)) || !prof__save_present(s)) return 0;
    if (!f->cause.text[0]) {
        uint32_t wanted = __atomic_exchange_n(&prof__save_wanted, 0, __ATOMIC_RELAXED);
        if (!wanted) return 0;
        prof__text_copy(f->cause.text, sizeof f->cause.text, wanted == PROF__SAVE_SIGNAL ? "signal" : "request");
        f->cause.from = f->cause.to = 0;
    }
    uint64_t began = prof__now(s, 0);
    PROFILE_MARK_F("save: %s",
                   prof__last_note(note, sizeof note, s->header, began, f->ns_per_tick, f->last_seconds, &f->cause));
    prof_status status = prof__expand_counted(f->save, ++f->saves, path, sizeof path);
    if (!status) status = prof__last_save(path, f->last_seconds, &f->cause);
    if (status) prof__background_failed(s, prof_error());
    prof_status (*hook)(void) = PROF__ACQUIRE(&prof__saved_hook);
    if (hook && hook()) prof__background_failed(s, prof_error());
    f->cause.text[0] = 0;
    PROF__SITE(site, PROF__KIND_BEGIN, "save", "prof", 2);
    prof__service_scope(s, &site, began);
    return 1;
}

#ifdef _WIN32
static prof_status prof__save_arm(const prof__session *s)
{
    PROF__STORE(&prof__save_wanted, 0u);
    PROF__STORE(&prof__save_armed, (uint32_t)(s->follow && s->follow->save[0]));
    return PROF_OK;
}
static void prof__save_disarm(void) { PROF__STORE(&prof__save_armed, 0u); }
#else
static struct sigaction prof__save_before[65]; /* what was installed when the handler was, for each signal */
static int prof__save_installed[65];
static int prof__save_number;

static void prof__save_handler(int number, siginfo_t *info, void *context)
{
    const struct sigaction *before = &prof__save_before[number];
    if (PROF__LOAD(&prof__save_number) == number) PROF__STORE(&prof__save_wanted, (uint32_t)PROF__SAVE_SIGNAL);
    if (before->sa_flags & SA_SIGINFO)
        before->sa_sigaction(number, info, context);
    else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN)
        before->sa_handler(number);
}

static int prof__save_is_ours(int number)
{
    struct sigaction now;
    return !sigaction(number, NULL, &now) && (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == prof__save_handler;
}

/* Before the session starts, under the control lock. */
static prof_status prof__save_arm(const prof__session *s)
{
    int number = s->follow ? s->follow->signal : 0;
    struct sigaction action, before;
    PROF__STORE(&prof__save_wanted, 0u);
    PROF__STORE(&prof__save_number, number);
    PROF__STORE(&prof__save_armed, (uint32_t)(s->follow && s->follow->save[0]));
    if (!number) return PROF_OK;
    int failed = sigaction(number, NULL, &before);
    if (!failed && prof__save_installed[number] && (before.sa_flags & SA_SIGINFO || before.sa_handler != SIG_DFL))
        return PROF_OK; /* still there, below a handler that calls it */
    memset(&action, 0, sizeof action);
    action.sa_sigaction = prof__save_handler;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    if (!failed) prof__save_before[number] = before;
    if (failed || sigaction(number, &action, NULL)) {
        PROF__STORE(&prof__save_number, 0);
        return prof__fail(PROF_INVALID_ARGUMENT, "save_signal %d: %s", number, strerror(errno));
    }
    prof__save_installed[number] = 1;
    return PROF_OK;
}

/* Takes the handler back, unless somebody has put another on top of it, who may call it at any time.
   Async-signal-safe. */
static void prof__save_disarm(void)
{
    int number = PROF__LOAD(&prof__save_number);
    PROF__STORE(&prof__save_number, 0);
    PROF__STORE(&prof__save_armed, 0u);
    if (!number || !prof__save_is_ours(number)) return;
    sigaction(number, &prof__save_before[number], NULL);
    prof__save_installed[number] = 0;
}
#endif
#endif

/*-- INSTRUMENT ---------------------------------------------------------------------------------------- >>instrument --
   gcc and clang call __cyg_profile_func_enter and _exit in every function compiled with -finstrument-functions. A
   function gets a call site when it is first called while something records; the tables are static, so that this works
   before main, in signal handlers, and without an allocation.

   Limits. After a longjmp, calls that the catching function makes may show inside a call that was left, until it
   returns: addresses of frames do not always tell. Coroutines that switch stacks on one thread are cut short. The name
   of a function in a module that is unloaded stays when another module comes to lie at its address. */

#ifdef PROF_INSTRUMENT_FUNCTIONS
#if defined(PROF_FREESTANDING) || !defined(__ELF__)
#error "prof.h: PROF_INSTRUMENT_FUNCTIONS needs a system with ELF modules and a libc: Linux or a BSD"
#endif
#include <link.h>
#include <signal.h>
#ifdef PROF__LATE /* see >>platform: what link.h leaves out without _GNU_SOURCE */
typedef struct prof__phdr_info {
    ElfW(Addr) dlpi_addr;
    const char *dlpi_name;
    const ElfW(Phdr) *dlpi_phdr;
    ElfW(Half) dlpi_phnum;
} prof__phdr_info;
extern int prof__libc_dl_iterate_phdr(int (*visit)(prof__phdr_info *info, size_t size, void *argument),
                                      void *argument) __asm__("dl_iterate_phdr");
#else
typedef struct dl_phdr_info prof__phdr_info;
#define prof__libc_dl_iterate_phdr dl_iterate_phdr
#endif

#ifndef PROF_INSTRUMENT_MAX
#define PROF_INSTRUMENT_MAX 16384 /* functions; the calls of further ones are "(more functions)" */
#endif
#ifndef PROF_INSTRUMENT_DEPTH
#define PROF_INSTRUMENT_DEPTH 1024 /* calls inside one another on a thread; deeper ones are lost, and counted */
#endif
#define PROF__NOT_TRACED __attribute__((no_instrument_function))
#define PROF__FUNCTION_SLOTS (2 * (PROF_INSTRUMENT_MAX > 1 ? PROF_INSTRUMENT_MAX : 2)) /* never all of them used */

typedef struct prof__loaded_module {
    char path[512];
    char build[32 + 2 * PROF__MAX_BUILD_ID];
} prof__loaded_module;

typedef struct PROF__SITE_TYPE prof__function {
    uintptr_t address;
    prof_site site;
    char name[64];
} prof__function;

/* Functions are found by open addressing; a slot is the function's number, from 1. Written under prof__function_lock,
   and read without it: a slot is published last. A module stays here when it is unloaded, and so do its functions. */
static int prof__function_lock;
static prof__function prof__functions[PROF_INSTRUMENT_MAX + 1]; /* one more, which is no function: to measure with */
static uint32_t prof__function_slots[PROF__FUNCTION_SLOTS], prof__function_count;
static prof__loaded_module prof__loaded_modules[64];
static uint32_t prof__loaded_module_count;
static prof__function prof__more_functions = {
    0, {0, "(more functions)", "function", "", "", 0, 0, 1, PROF__KIND_BEGIN, 0, 0, 0}, ""};

/* A call that has not returned. frame, that of the hook, tells calls that a longjmp left behind from those that are
   still to return: stacks grow down. */
typedef struct prof__call {
    uintptr_t address, frame;
    prof__token token;
} prof__call;

typedef struct prof__calls {
    uint32_t depth;
    uint32_t busy; /* in a hook: keeps the hooks out of themselves, should the implementation be traced, too */
    uint32_t over; /* calls beyond the last one in the list */
    prof__call list[PROF_INSTRUMENT_DEPTH];
} prof__calls;

static __thread prof__calls prof__thread_calls;

typedef struct prof__module_search {
    uintptr_t address, base;
    prof__loaded_module *module;
} prof__module_search;

/* Which build of the module it is: its build id, or the time when its file was changed. */
static void prof__module_identify(prof__loaded_module *module, const prof__phdr_info *info)
{
    char id[2 * PROF__MAX_BUILD_ID + 1] = "", build[48] = "";
    uint64_t size;
    prof__elf elf;
    memset(&elf, 0, sizeof elf);
    elf.big = PROF__LOW_HALF;
    for (size_t i = 0; i < info->dlpi_phnum && !*id; ++i) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_NOTE)
            prof__build_id_text(&elf, (const unsigned char *)(uintptr_t)(info->dlpi_addr + segment->p_vaddr),
                                (size_t)segment->p_memsz, segment->p_align == 8 ? 8 : 4, id);
    }
    if (!*id) prof__file_build(module->path, &size, build);
    snprintf(module->build, sizeof module->build, "%s%s", *id ? PROF__BUILD_ID : PROF__BUILD_TIME, *id ? id : build);
}

static int prof__module_holds(const prof__phdr_info *info, uintptr_t address)
{
    for (size_t i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && address - info->dlpi_addr - segment->p_vaddr < segment->p_memsz) return 1;
    }
    return 0;
}

/* name: as the loader has it, "" for the program itself. The path must be good for later, and in another directory. */
static void prof__module_path(prof__loaded_module *module, const char *name)
{
    char *path = module->path;
    size_t length = 0;
    if (!*name) {
        ssize_t size = readlink("/proc/self/exe", path, sizeof module->path - 1);
        path[size > 0 ? size : 0] = 0;
        return;
    }
    if (*name != '/' && getcwd(path, sizeof module->path - 1)) {
        length = strlen(path);
        path[length++] = '/';
    }
    snprintf(path + length, sizeof module->path - length, "%s", name);
}

/* Called for each loaded module; ends the search when it holds the address. */
static int prof__module_visit(prof__phdr_info *info, size_t size, void *argument)
{
    prof__module_search *search = (prof__module_search *)argument;
    prof__loaded_module *module = &prof__loaded_modules[prof__loaded_module_count];
    (void)size;
    if (!prof__module_holds(info, search->address)) return 0;
    search->base = info->dlpi_addr;
    if (prof__loaded_module_count == sizeof prof__loaded_modules / sizeof *prof__loaded_modules) return 1;
    prof__module_path(module, info->dlpi_name ? info->dlpi_name : "");
    prof__module_identify(module, info);
    search->module = module;
    for (uint32_t i = 0; i < prof__loaded_module_count; ++i) {
        prof__loaded_module *known = &prof__loaded_modules[i];
        if (!strcmp(known->path, module->path) && !strcmp(known->build, module->build)) {
            search->module = known;
            return 1;
        }
    }
    ++prof__loaded_module_count;
    return 1;
}

/* Fills in the call site of a function. Under prof__function_lock. */
static void prof__function_describe(prof__function *function, uintptr_t address)
{
    prof__module_search search;
    const char *path = "", *base;
    memset(&search, 0, sizeof search);
    search.address = address;
    prof__libc_dl_iterate_phdr(prof__module_visit, &search);
    if (search.module) path = search.module->path;
    base = strrchr(path, '/');
    snprintf(function->name, sizeof function->name, "%.40s+0x%llx", base ? base + 1 : path,
             (unsigned long long)(address - search.base));
    function->site = prof__more_functions.site;
    function->site.private_state = 0;
    function->site.name = function->name;
    function->site.file = path;
    function->site.function = search.module ? search.module->build : "";
    function->address = address;
}

static uint32_t prof__function_slot(uintptr_t address)
{
    return (uint32_t)((uint64_t)address * 0x9E3779B97F4A7C15u >> 32) % PROF__FUNCTION_SLOTS;
}

static prof__function *prof__function_find(uintptr_t address, uint32_t *slot)
{
    uint32_t number;
    *slot = prof__function_slot(address);
    while ((number = PROF__ACQUIRE(&prof__function_slots[*slot])) != 0) {
        if (prof__functions[number - 1].address == address) return &prof__functions[number - 1];
        *slot = (*slot + 1) % PROF__FUNCTION_SLOTS;
    }
    return NULL;
}

/* A function that is seen for the first time. When the table is full, or its lock is not to be had (a signal handler
   may have interrupted the owner), the call counts for all such functions together. */
static PROF__COLD prof__function *prof__function_add(uintptr_t address)
{
    prof__function *function = &prof__more_functions;
    uint32_t slot;
    int error = errno;
    if (PROF__LOAD(&prof__function_count) < PROF_INSTRUMENT_MAX && prof__lock_try(&prof__function_lock)) {
        prof__function *found = prof__function_find(address, &slot);
        if (!found && prof__function_count < PROF_INSTRUMENT_MAX) {
            found = &prof__functions[prof__function_count];
            prof__function_describe(found, address);
            PROF__STORE(&prof__function_count, prof__function_count + 1);
            PROF__RELEASE(&prof__function_slots[slot], prof__function_count);
        }
        if (found) function = found;
        prof__unlock(&prof__function_lock);
    }
    errno = error;
    return function;
}

/* Takes the calls from number on off the list. Only the first of them gets its end here, which closes those inside
   it; but an end closes the innermost scope of its function, so that other calls of that one need theirs before it. */
static void prof__calls_leave(prof__calls *calls, uint32_t number)
{
    uintptr_t address = calls->list[number].address;
    while (calls->depth > number) {
        prof__call *call = &calls->list[--calls->depth];
        if (call->address == address && call->token) prof__end(call->token);
    }
    calls->over = 0;
}

/* A function is entered above where another one, called before it, had its frame: longjmp has left that one behind. But
   for a signal handler on a stack of its own. */
static PROF__COLD void prof__calls_abandon(prof__calls *calls, uintptr_t frame)
{
    stack_t stack;
    uint32_t number = calls->depth;
    int error = errno, other = sigaltstack(NULL, &stack) || (stack.ss_flags & SS_ONSTACK);
    errno = error;
    if (other) return;
    while (number && calls->list[number - 1].frame < frame) --number;
    prof__calls_leave(calls, number);
}

static __attribute__((noinline)) void prof__call_enter(prof__calls *calls, uintptr_t address, uintptr_t frame)
{
    uint32_t slot, depth = calls->depth;
    prof__function *function = prof__function_find(address, &slot);
    if (PROF__UNLIKELY(!function)) function = prof__function_add(address);
    if (PROF__UNLIKELY(depth && calls->list[depth - 1].frame < frame)) {
        prof__calls_abandon(calls, frame);
        depth = calls->depth;
    }
    if (PROF__UNLIKELY(depth == PROF_INSTRUMENT_DEPTH)) {
        ++calls->over;
        if (prof__live(&function->site)) prof__lose(PROF__SELF(), 1);
        return;
    }
    calls->depth = depth + 1;
    calls->list[depth].address = address;
    calls->list[depth].frame = frame;
    calls->list[depth].token = prof__on(&function->site) ? prof__begin(&function->site) : 0;
}

/* Finds the call that returns. As a rule it is the last one, and the exit hook's frame is where the enter hook's was.
   Frames below belong to calls that a longjmp left; but where the exit hook is jumped to (tail), the function's own
   frame is gone already, so that the hook's is higher than the enter hook's was, and may be where that of the caller's
   was. Where the function called alloca it is lower. Returns the call's number, or depth: its enter was not seen. */
static PROF__COLD uint32_t prof__call_match(const prof__calls *calls, uintptr_t address, uintptr_t frame, int tail)
{
    uint32_t i = calls->depth, below = calls->depth;
    for (; i && calls->list[i - 1].frame < frame; --i)
        if (calls->list[i - 1].address == address &&
            (below == calls->depth || calls->list[i - 1].frame > calls->list[below].frame))
            below = i - 1;
    if (tail && below < calls->depth) return below;
    if (i && calls->list[i - 1].address == address && (calls->list[i - 1].frame == frame || !calls->over)) return i - 1;
    return below;
}

static __attribute__((noinline)) void prof__call_exit(prof__calls *calls, uintptr_t address, uintptr_t frame, int tail)
{
    uint32_t number = calls->depth - 1;
    const prof__call *last = &calls->list[number];
    if (PROF__UNLIKELY(tail || last->address != address || last->frame != frame)) {
        number = prof__call_match(calls, address, frame, tail);
        if (number == calls->depth) {
            if (calls->over) --calls->over;
            return;
        }
    }
    prof__calls_leave(calls, number);
}

PROF_DEF void __cyg_profile_func_enter(void *function, void *caller) PROF__NOT_TRACED;
PROF_DEF void __cyg_profile_func_exit(void *function, void *caller) PROF__NOT_TRACED;

/* The hooks are alike, so that their frames are of one size: what else there is to do is in functions of its own. */
PROF_DEF void __cyg_profile_func_enter(void *function, void *caller)
{
    prof__calls *calls = &prof__thread_calls;
    (void)caller;
    if (PROF__LOAD(&prof__generation) == PROF__OFF || calls->busy) return;
    calls->busy = 1;
    PROF__BARRIER();
    prof__call_enter(calls, (uintptr_t)function, (uintptr_t)__builtin_frame_address(0));
    PROF__BARRIER();
    calls->busy = 0;
}

PROF_DEF void __cyg_profile_func_exit(void *function, void *caller)
{
    prof__calls *calls = &prof__thread_calls;
    if (!calls->depth || calls->busy) return;
    calls->busy = 1;
    PROF__BARRIER();
    prof__call_exit(calls, (uintptr_t)function, (uintptr_t)__builtin_frame_address(0),
                    __builtin_return_address(0) == caller);
    PROF__BARRIER();
    calls->busy = 0;
}

/* What a call costs is measured with the hooks themselves, which find something that is no function. */
static const char prof__call_measured = 0;

/* Its call site, to be turned on and off again; null: it cannot be measured here. */
static prof_site *prof__calls_prepare(void)
{
    prof__function *function = &prof__functions[PROF_INSTRUMENT_MAX];
    uint32_t slot;
    const prof__calls *calls = &prof__thread_calls;
    if (calls->busy || calls->depth == PROF_INSTRUMENT_DEPTH) return NULL;
    prof__lock(&prof__function_lock);
    if (!function->address) {
        function->address = (uintptr_t)&prof__call_measured;
        function->site = prof__more_functions.site;
        prof__function_find(function->address, &slot);
        PROF__RELEASE(&prof__function_slots[slot], PROF_INSTRUMENT_MAX + 1);
    }
    prof__unlock(&prof__function_lock);
    return &function->site;
}

static void prof__burst_calls(prof_site *site)
{
    void (*volatile enter)(void *function, void *caller) = __cyg_profile_func_enter;
    void (*volatile leave)(void *function, void *caller) = __cyg_profile_func_exit;
    (void)site;
    for (int i = 0; i < PROF__BURST_SHORT; ++i) {
        enter((void *)(uintptr_t)&prof__call_measured, NULL);
        leave((void *)(uintptr_t)&prof__call_measured, NULL);
    }
}
#endif

#if defined(PROF__HUBS) && !defined(PROF_STATIC)
/*-- the table of this copy: see >>copies. It is at the end, where all that it is made of is known. */

/* Called by a follower in its leader. */
static void prof__hub_join(prof__hub *follower)
{
    uint32_t gate = prof__state_lock();
    follower->next = prof__followers;
    if (follower->generation != &prof__generation) PROF__STORE(follower->generation, PROF__LOAD(&prof__generation));
    PROF__RELEASE(&prof__followers, follower);
    prof__state_unlock(gate);
}

static void prof__hub_leave(prof__hub *follower)
{
    uint32_t gate = prof__state_lock();
    for (prof__hub **at = &prof__followers; *at; at = &(*at)->next)
        if (*at == follower) {
            PROF__RELEASE(at, follower->next);
            break;
        }
    prof__state_unlock(gate);
}
#elif defined(PROF__HUBS)
static void prof__hub_join(prof__hub *follower) { (void)follower; }
static void prof__hub_leave(prof__hub *follower) { (void)follower; }
#endif

#ifdef PROF__HUBS
#ifdef PROF_STATIC
#define PROF__LAYOUT 0
#else
#ifdef PROF_NO_READER
#define PROF__TRACE_SIZE 0 /* a copy with a reader can't have its traces from one without */
#else
#define PROF__TRACE_SIZE sizeof(struct prof_trace)
#endif
/* What differs between versions, and with options, differs in one of these sizes as a rule. */
#define PROF__LAYOUT                                                                                                 \
    ((uint64_t)PROF_VERSION << 48 ^ (uint64_t)sizeof(prof__hub) << 36 ^ (uint64_t)sizeof(prof_config) << 26 ^        \
     (uint64_t)PROF__TRACE_SIZE << 14 ^ (uint64_t)sizeof(struct prof_fiber) << 4 ^                                   \
     (uint64_t)(sizeof(prof_event) + sizeof(prof_writer) + sizeof(prof_callsite) + sizeof(struct prof_counter)))
#endif
#define PROF__HUB_ENTRY(name) name,
extern uint32_t prof__generation;
PROF__HIDDEN __attribute__((used)) prof__hub prof__hub_here = {
    {'p', 'r', 'o', 'f', ' ', 'h', 'u', 'b'}, PROF__LAYOUT, prof__output_told, 0, &prof__generation, NULL,
#if defined(PROF__SHARED) && !defined(PROF_STATIC)
    &prof__leader,
#else
    NULL,
#endif
    PROF__HUB_FUNCTIONS(PROF__HUB_ENTRY)};
#endif

#if defined(PROF__HUBS) && defined(PROF__SHARED) && !defined(PROF_STATIC)
typedef struct prof__hub_search {
    prof__hub *found;
    const char *name; /* of its module */
} prof__hub_search;

static int prof__hub_visit(const prof__loaded *loaded, size_t size, void *user)
{
    prof__hub_search *search = (prof__hub_search *)user;
    prof__hub *hub = prof__hub_of(loaded);
    (void)size;
    if (!hub || hub->layout != prof__hub_here.layout) return 0;
    search->found = hub;
    search->name = loaded->name ? loaded->name : "";
    return 1;
}

/* They are there wherever there is a library that has been loaded later. */
extern void *prof__module_open(const char *path, int how) __asm__("dlopen") __attribute__((weak));
extern int prof__module_close(void *module) __asm__("dlclose") __attribute__((weak));
static void *prof__leader_module;

static PROF__COLD void prof__join(void)
{
    prof__hub_search search = {NULL, NULL};
    if (__atomic_exchange_n(&prof__joined, 1, __ATOMIC_ACQ_REL)) return;
    prof__hub_here.settled = 1;
    prof__loaded_each(prof__hub_visit, &search);
    if (!search.found || search.found == &prof__hub_here) return;
    /* One that is being loaded by the same call, because it depends on this library, goes before it, or with it. */
    if (*search.name && search.found->settled && prof__module_open)
        prof__leader_module = prof__module_open(search.name, 1 | 4); /* RTLD_LAZY | RTLD_NOLOAD */
    search.found->to_prof__hub_join(&prof__hub_here);
    PROF__RELEASE(&prof__leader, search.found);
}

static void __attribute__((constructor(101))) prof__join_early(void) { prof__led(); }

/* The library is unloaded: it leaves its leader, or its followers are on their own. */
static void prof__unjoin(void)
{
    if (prof__leader) prof__leader->to_prof__hub_leave(&prof__hub_here);
    for (prof__hub *each = prof__followers; each; each = each->next) PROF__RELEASE(each->leader, (prof__hub *)NULL);
    prof__followers = NULL;
}
/* After the last use of the leader. */
static void __attribute__((destructor(101))) prof__unjoin_late(void)
{
    void *module = prof__leader_module;
    prof__leader_module = NULL;
    if (module && prof__module_close) prof__module_close(module);
}
#elif defined(PROF__SHARED)
static void prof__unjoin(void) {}
#endif

/*-- MALLOC ------------------------------------------------------------------------------------------------ >>malloc --
   PROF_WRAP_MALLOC: the C library's allocator, with marks around it. A program's own malloc() comes before that of any
   library, for every module of the process; glibc has its own under other names for whom this is done to, so that
   nothing must be looked up, which would allocate. */

#ifdef PROF__WRAPS_MALLOC
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef qsort
#undef fopen
#undef fdopen
#undef fclose
#undef fread
#undef fwrite
#undef localtime_r
#undef pthread_create
#undef pthread_setspecific
#ifdef PROF__LATE_POSIX /* as above, for the other headers of prof */
#define fdopen(file, mode) prof__libc_fdopen(file, mode)
#define localtime_r(time, to) prof__libc_localtime_r(time, to)
#endif
#ifdef __cplusplus
#define PROF__NOTHROW noexcept
#else
#define PROF__NOTHROW
#endif
#define PROF__MALLOC_SITE(variable, name) /* no place: a scope around the call says more */                        \
    static prof_site variable = {0, name, "malloc", "", name, 0, 0, 1,                                             \
                                 PROF__KIND_EVENT | PROF_ROLE_MEMORY << PROF__ROLE_SHIFT, 0, 0, 0}

static void prof__wrap(prof_site *site, uint64_t how, uintptr_t freed, void *address, size_t size)
{
    if (prof__quiet || !prof__live(site)) return;
    prof__memory(site, how | PROF__FREE_IN_POOL, freed, (uint64_t)(uintptr_t)address, size);
}

void *malloc(size_t size) PROF__NOTHROW
{
    PROF__MALLOC_SITE(site, "malloc");
    void *address = __libc_malloc(size);
    prof__wrap(&site, 0, 0, address, size);
    return address;
}

void *calloc(size_t count, size_t size) PROF__NOTHROW
{
    PROF__MALLOC_SITE(site, "calloc");
    void *address = __libc_calloc(count, size);
    prof__wrap(&site, 0, 0, address, count * size);
    return address;
}

void *realloc(void *old, size_t size) PROF__NOTHROW
{
    PROF__MALLOC_SITE(site, "realloc");
    uintptr_t freed = (uintptr_t)old;
    void *address = __libc_realloc(old, size);
    prof__wrap(&site, PROF__FREE_LATE, freed, address, size);
    return address;
}

void free(void *address) PROF__NOTHROW
{
    PROF__MALLOC_SITE(site, "free");
    prof__wrap(&site, 0, (uintptr_t)address, NULL, 0);
    __libc_free(address);
}

static void *prof__wrap_aligned(prof_site *site, size_t alignment, size_t size)
{
    void *address = __libc_memalign(alignment, size);
    prof__wrap(site, 0, 0, address, size);
    return address;
}

void *memalign(size_t alignment, size_t size) PROF__NOTHROW
{
    PROF__MALLOC_SITE(site, "memalign");
    return prof__wrap_aligned(&site, alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) PROF__NOTHROW
{
    PROF__MALLOC_SITE(site, "aligned_alloc");
    return prof__wrap_aligned(&site, alignment, size);
}

void *valloc(size_t size) PROF__NOTHROW
{
    PROF__MALLOC_SITE(site, "valloc");
    return prof__wrap_aligned(&site, (size_t)sysconf(_SC_PAGESIZE), size);
}

void *pvalloc(size_t size) PROF__NOTHROW
{
    PROF__MALLOC_SITE(site, "pvalloc");
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (size > (size_t)-1 - page) {
        errno = ENOMEM;
        return NULL;
    }
    return prof__wrap_aligned(&site, page, (size + page - 1) / page * page);
}

int posix_memalign(void **to, size_t alignment, size_t size) PROF__NOTHROW
{
    PROF__MALLOC_SITE(site, "posix_memalign");
    int before = errno, failed = 0;
    void *address;
    if (alignment < sizeof(void *) || alignment & (alignment - 1)) return EINVAL;
    address = prof__wrap_aligned(&site, alignment, size);
    if (!address) failed = ENOMEM;
    else *to = address;
    errno = before;
    return failed;
}
#endif

#endif /* PROF_FREESTANDING */

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_IMPLEMENTATION */

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
