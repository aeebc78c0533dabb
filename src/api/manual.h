// api/manual: The quick start, the options and the manual: what users read.
/* prof.h - v0.1 - an exact timeline of a whole program, in one header - public domain or MIT-0
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
    the next. There should be more chunks than threads that live at the same time: 16 MiB hold about 900. Where there are
    not, the last to come share what is left, each for as long as its outermost scope lasts (1 to 2 us more a scope);
    those that are in a scope at the same time, or only mark, keep theirs, and with no chunk left events are lost. Scopes
    in destructors of thread-specific data (pthread_key_create()) are recorded in every round of them; in a program that
    is linked to prof as a shared library, in the first three, and counted as lost after that.

    When the buffer is full, PROF_RING reuses the oldest chunk of all threads; PROF_FILL ends the recording. A scope is
    accepted only when there is room for its end, so that what is recorded is balanced. What could not be recorded is
    counted, per thread, and every report says so: in events; arguments, which are none, by themselves (lost_args). Older
    chunks that were reused are counted as well.

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
    config.memory was given it records into memory of the same size. A child of _Fork(), or of
    clone() without CLONE_VM, of which no handler is told, is noticed at its first macro or control function and does the
    same; where another thread was changing the state at that moment it records nothing until prof_start(). That takes
    Linux 4.14 and pages of 4 KiB; elsewhere such a child must have no scopes, which would go into the parent's file.

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
