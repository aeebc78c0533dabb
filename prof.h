/* prof.h - an exact timeline of a whole program, in one header - public domain or MIT-0
            assembled from src/: change it there, see CONTRIBUTING.md
            depends on nothing but libc; the licence is at the end of this file

QUICK START

    #define PROF_IMPLEMENTATION            // in exactly one file of the program, C or C++
    #include "prof_chrome.h"               // includes prof.h and prof_read.h, and adds the writer of .json

    int main(void)
    {
        prof_config config = {0};          // zero is the default everywhere; in C++ write {}
        config.output = "trace.json";      // or .prof, .csv, .txt
        prof_start(&config);
        for (int i = 0; i < 100; ++i) {
            PROFILE_SCOPE("tick");         // ends on every way out of the block
            PROFILE_ARG_I("i", i);
        }
        return (int)prof_stop();           // writes trace.json: drop it into ui.perfetto.dev
    }

Or write only the scopes, and run `PROF_OUTPUT=trace.json ./program`. Files that only mark up include prof.h.

HEADERS

    prof.h alone records, into a .prof, which the tool prof reads. In the file with PROF_IMPLEMENTATION, prof_read.h
    adds the reader, the summary, statistics, .csv and .txt, mode stats and saves of the last seconds; prof_chrome.h
    adds .json, prof_html.h the page; prof_report.h, prof_xplane.h, prof_ntff.h and prof_server.h what they say. Each
    includes what it needs. prof_start() refuses an output that needs another header, and names it. PROF_OUTPUT then
    records into a .prof beside that output (trace.json.prof) and says so; `prof export` converts it.

WHAT IT COSTS                              (machine, date, commands and all other figures: BENCHMARKS.md)

    a scope, recording                     1.05 to 1.11 times two clock reads: in memory, in a file, in a library
    an integer argument                    3 ns more
    a scope whose name is made at run time, or by a format     1.5 to 2.0 times two clock reads
    a scope whose category or level is off, or while nothing records      less than 0.5 ns
    a scope compiled with PROF_ENABLE=0    nothing: the object file is the same, byte for byte
    memory for a scope                     16 bytes, in a buffer of fixed size
    code for a scope, gcc -O2              about 60 bytes, and a call site record of 64

TABLE OF CONTENTS                          (search for the tag)

    >>names     how things are named           >>markup      the PROFILE_ macros
    >>options   compile-time options           >>devices     time lines with clocks of their own
    >>manual    how it behaves, and why        >>objects     domains, tasks, frames, counters made at run time
    >>types     status, configuration          >>writers     where outputs that are no .prof come from
    >>values    types of what is recorded      >>deprecated  old spellings
    >>control   start, stop, pause, save

    Implementation: >>image >>kinds >>platform >>instances >>errors >>clock >>bridge >>meta >>schedule >>ring >>writer
                    >>out >>pack >>match >>memory >>session >>objects >>fork >>device >>stream >>service >>snapshot
                    >>crash >>autostart >>symbols >>instrument >>malloc

    In prof_read.h: >>read      a trace as tracks of balanced events          >>reports   summary, CSV, statistics

NAMES                                                                                                        >>names

    PROFILE_ macros mark up a program; prof_ and PROF_ are the rest of the interface. prof__, PROF__ and fields that
    begin with private_ belong to prof alone, and change. What follows is true of all names; >>deprecated lists the old
    spellings.

    Ends of macros  Letters: _C a category, _L a level, _F a format; of an argument its type, _I _U _D _B _S _P. A word
                    says what the macro takes besides: _POOL, _UNIT, _COLOR, _MASK, _NAMED (a name), _REACH, _ARGS (a
                    list); _AS declares a handle, which _TO takes. _DYNAMIC: the name is made at run time, and copied.
                    _TEXT: a text that need not end with a zero, and its length, for such a name or for a string.
    Functions       prof_THING_VERB(thing, ...), as prof_task_start(); without a thing the process and its session are
                    meant: prof_start(), prof_save(). set stands before what is set: prof_trace_set_window(). What is
                    opened is closed, what is created is destroyed; domains, devices and rows live as long as the
                    process. _write writes to a path, _stream to a sink. What a header adds beside recording and reading
                    begins with its name, prof_chrome_write(), or with that of the system that it imitates,
                    prof_mxnet_dumps().
    Begin, start    Macros begin and end something on their thread, or by an id; handles start and stop.
    Results         A prof_status, PROF_OK (0) or what failed; a pointer, NULL if memory ran out; or an int, 1 for yes,
                    or for one more, and 0 for no, or no more. A function of yours returns 0 (PROF_OK) to go on; it gets
                    `user` first, which stands after it where it is given.
    Readers         Open, next until it returns 0, close. close says whether that was the end, or what failed.
    Times           Nanoseconds, integers whose names end in _ns; other units are in the name, too: device_hz, max_ms.
                    As text a time has its unit: "5ms".
    Zero            The default of every field of a structure. Where 0 itself is meant, it has a name: PROF_NEVER,
                    PROF_LEVEL_NONE, PROF_NO_LIMIT. So what is on by default is turned off by 1 in a field no_...
    Sorting         The arguments and fields sort (a prof_sort) and ascending.

COMPILE-TIME OPTIONS                                                                                       >>options

    Set in every file (a file may differ from the others):
    PROF_ENABLE            1        0 removes every trace of prof from the file; its functions succeed and do nothing
    PROF_CATEGORY          ""       category of the macros that name none; may be redefined between uses: #undef it
                                    first, also before the #define of each file of a unity build. In C++ the files that
                                    include a header share its inline functions, methods and templates: macros there
                                    get the category of one of these files, of whichever the linker takes. So a header
                                    uses the _C forms, or defines PROF_CATEGORY itself
    PROF_UNIT              ""       unit of the macros of counters that name none, "ms"; likewise, _UNIT
    PROF_SITE_LEVEL        1        level of the macros that name none; may be redefined between uses; likewise, _L
    PROF_MAX_LEVEL         255      call sites above it compile to nothing
    PROF_UNIQUE            __COUNTER__, or __LINE__ where there is none: makes local names unique
    PROF_DEF               visibility("default"): put before declarations, for example to export from a DLL;
                                    not static
    PROF_STATIC            -        a recorder for this program or shared library alone: set it in all its files. See
                                    shared libraries below

    Set in the file with PROF_IMPLEMENTATION:
    PROF_CHUNK_SIZE        16384    bytes that a thread takes from the ring at a time; a power of two, 1024 to 1048576.
                                    A small buffer has smaller chunks, so that there are eight
    PROF_MAX_TEXT          1000     bytes that are kept of a run-time string, at most a quarter of a chunk; longer ones
                                    are cut and marked
    PROF_VSNPRINTF         vsnprintf   for the _F macros; for example stbsp_vsnprintf. If it is not set, they make names
                                    of common conversions themselves
    PROF_AUTOSTART         -        with PROF_STATIC: PROF_OUTPUT starts it all the same, else nothing does
    PROF_INSTRUMENT_FUNCTIONS  -    adds the hooks of gcc's and clang's -finstrument-functions, see below
    PROF_INSTRUMENT_MAX    16384    functions that the hooks tell apart; further ones share one name
    PROF_INSTRUMENT_DEPTH  1024     nested calls on a thread, 24 bytes each; deeper ones are lost, and counted
    PROF_WRAP_MALLOC       -        records malloc(), free() and so on of the whole process, see below
    PROF_FREESTANDING      -        no libc, see below
    PROF_TINY              -        with PROF_FREESTANDING, for microcontrollers: see Freestanding. PROF_WITH_CATEGORIES
                                    and PROF_WITH_SHARED_CHUNKS keep two of its parts
    PROF_WITH_DRAIN        -        with PROF_FREESTANDING: adds prof_drain()
    PROF_NO_DOUBLE         -        no floating point, see Freestanding
    PROF_WITH_ITT          -        also sends scopes, marks, counters and so on to VTune: prof.h then includes
                                    prof_bridge.h, see there
    PROF_WITH_NVTX         -        to Nsight, likewise
    PROF_WITH_SDT          -        to tracers of user-level probes, such as perf and bpftrace, likewise

    There, too: switches that leave parts out. A program of ten lines that records into a .prof has 148 KB of prof
    (gcc -Os, --gc-sections; three quarters are code and constants, the rest is unwind tables and what the loader
    needs), 272 KB with prof_read.h. What each switch leaves of the 148, and what it leaves out:
    PROF_MINIMAL           35 KB    all of these, prof_read.h, prof_save(), min_duration, warm-up, the table by which
                                    other copies, in plugins, find this one, the measurement of what recording costs
                                    and of the clock's smallest step, and names of outputs: output is a path as it is,
                                    without %p and the like, rank, layout or directories that are made for it, and
                                    takes the place of an older file or link; a child of a fork adds its process id.
                                    Arguments in a scope that is off become those of the enclosing scope. 24 KB are
                                    code and constants; it compiles in a fifth of the time
    PROF_NO_THREAD         136      prof's own thread: PROF_STREAM, PROF_STATS, PROF_RING_STATS, save, save_over,
                                    save_signal, prof_save_request(), dump_period, delay, start_unix, duration
    PROF_NO_CRASH          138      crash_report
    PROF_NO_TEXT           123      keys as text, prof_config_set(), prof_config_from_env() and the others, and what
                                    PROF_OUTPUT, PROF_SAVE, PROF_CRASH_REPORT, PROF_BRIDGE and PROF_SERVER start
    A function that is left out returns PROF_UNSUPPORTED, and prof_error() names the switch. Marked-up files are
    compiled without switches. prof_ntff.h and prof_server.h need keys as text. No switch changes scopes, instants,
    counters, arguments, logs, threads, forks, signal handlers or the file after SIGKILL.

MANUAL                                                                                                      >>manual

    Threads. Each thread has its own chunk of the buffer, and writes there without a lock, an atomic read-modify-write
    or a system call. Threads need no registration, and may start and end at any time: what an ended thread left free of
    its chunk serves the next thread. A buffer of 16 MiB has about 900 chunks of 16 KiB. The more threads live at the
    same time, the smaller the chunks that they take from then on: there are four for each thread, down to 256 bytes,
    which is 14,000 threads in 16 MiB. A scope costs 2 % more with 4 KiB, a tenth with 2 KiB. Long texts are cut sooner
    there. The threads beyond share what is left, each for as long as its outermost scope lasts (1 to 2 us more a
    scope); if they are all in a scope, events are lost. Scopes in destructors of thread-specific data
    (pthread_key_create()) are recorded in every round of destructors; in a program that is linked to prof as a shared
    library, in the first three rounds, and counted as lost after that.

    Full buffer. When the buffer is full, PROF_RING reuses the oldest chunk of all threads, and PROF_FILL stops
    recording. A thread holds the chunk that it has filled until its next one is half full, so that half a chunk of its
    newest events stays, however long it waits and however fast others record. If other threads have all chunks, it uses
    its own again. A scope is recorded only if there is space for its end, too, so that begins and ends are balanced.
    Lost events are counted for each thread, and every report shows them. Arguments are not events: lost arguments have
    a count of their own (lost_args). Overwritten chunks are counted as well. If a signal handler or an interrupt
    interrupts a macro, the events of its own macros on that thread are lost, however large the buffer is; lost_busy
    counts these.

    Streaming. PROF_STREAM keeps everything: a background thread, the service, packs full chunks into the file after the
    buffer, at some 2 bytes a scope, and gives the chunks back to the threads. A thread that finds no free chunk does
    not wait, unless config.wait_ns says how long it may; what it could not record is lost and counted. Make the buffer
    large enough for what is recorded in a fifth of a second or more: 32 MiB at 10 million scopes a second. A scope
    costs what it costs in a ring; the service takes a quarter of a processor at that rate, and 0.2 % when nothing
    happens. The file is complete at every moment. It may become larger than 4 GiB, also in programs of 32 bits. What
    cannot be written, because of a full disk, a limit or an error, stays in the buffer and is tried again; reports name
    the reason. If events were lost meanwhile, the session goes on when there is room again, but prof_stop(),
    prof_save() and prof_save_last_ns() return PROF_IO with that reason, after they have written what could be kept.
    With max_file_size, at_limit says which end of the recording is kept. A trace of a file that rotates while it is
    read may return fewer events than its event_count: blocks that are overwritten before a cursor reaches them are left
    out, and counted in lost_blocks. prof_stop() writes an output other than .prof from <output>.prof and then removes
    that; after a crash <output>.prof is still there. The service sleeps between its rounds, blocks all signals, and
    records its work on a track of its own, named "prof".

    dump_period is for the other modes with an output that is not .prof: the output is rewritten that often, by a
    rename, so that there is always a complete one. With .prof, and with PROF_STREAM, the file is always up to date, and
    dump_period does nothing. With PROF_STATS and PROF_RING_STATS, where threads may wait for the service, a second
    thread writes dumps and saves, as it does saves with PROF_STREAM; on Linux at a lower priority (nice 10), so that
    they may be late where no processor is idle. Its track is "prof writer".

    Crashes. If the output ends in .prof, the buffer is a shared mapping of that file; for other outputs, of a file
    beside it (see "The end" below). When the process dies of SIGKILL, abort() or a bug, everything that was recorded is
    in the file, including the scopes that were open; no code has to run for that. prof_trace_open() reads the file,
    also while the program is still running.
    After a loss of power the file has what the kernel had written of it, which may be older by half a minute, and pages
    of different moments, or empty ones. What is read of that was recorded, because chunks show which pages are theirs:
    what comes before the first page that is missing, or is another chunk's, is read; scopes that were open there are
    marked as truncated, ends whose begin is missing are left out, and lost_blocks counts the chunk. So it does a chunk
    whose beginning is missing, two that say that they are the same, and an empty page among the names. A damaged end of
    the header costs the archive of a stream, no more. Not noticed: a chunk all of whose pages are as they were earlier,
    which looks as if the ring had overwritten it; pages of more than two moments in a chunk that a thread was writing,
    or where more than 400 scopes were open. A build with PROF_MINIMAL writes no such marks: there, and in images of
    version 3, only empty pages within a chunk are noticed.
    The file takes as much of the disk as was recorded: its blocks are reserved before a thread needs them, at first 32
    KiB, also in each child of a fork that records, later up to a MiB at a time. (PROF_STREAM reserves the whole buffer
    at the start, as do all modes on Linux before 5.14 and on other systems.) If the disk has no room for the buffer at
    the start, prof_start() fails. If the disk becomes full later, or a quota is reached, the buffer ends there:
    PROF_RING goes on with the smaller buffer, PROF_FILL is full, names that come later are counted as lost, prof_stop()
    returns PROF_IO, and reports say why.

    Flight recorder. prof_save_last_ns() writes what led to this moment. Or let prof watch for the moment: with
        config.save = "slow-%c.json"; config.save_over = "frame>16.7ms,scope:net.*>2ms";
        config.save_last_ns = 5 * PROF_SECOND; config.save_every_ns = 30 * PROF_SECOND;
    a frame that took longer than 16.7 ms saves the last 5 seconds, including that frame, at most every 30 seconds. A
    background thread of prof reads what the others record. It finds a slow scope after it has ended, usually within 5
    ms, and does not disturb the recording threads (see BENCHMARKS.md). PROF_SAVE, PROF_SAVE_OVER and so on do the same
    for a program that only has scopes. The trace names the cause, as an instant on the track "prof" and as metadata,
    "save", also in a .txt; the metadata also say what of the cause or of save_last was no longer in the buffer.
    save_signal and prof_save_request() save as well, and are not limited by save_every.

    Endless runs. PROF_STATS keeps no events but their statistics, in memory that does not grow. prof_stats() and
    prof_summary_write() of a prof_trace_open_live() show, at any time, everything up to now; an output may be a .txt.
    The statistics are those of a PROF_RING that had kept everything, percentiles to 0.8 %. One thread counts up to 40
    million scopes a second. If it falls behind, threads wait for it, up to 10 s, and then lose events, which is
    counted; with PROF_WAIT=0 they lose events at once. Choose that, or less than 10 s, if there are scopes inside an
    allocator's lock, which prof's thread may need to go on.
    PROF_RING_STATS does the same beside a ring. The tables of a live trace, and of an output that prof_stop() or
    dump_period writes, cover everything; the events are the newest, and the metadata "events" says since when. Tables
    by call path, of memory and of locks, of a window, and of a .prof file cover the newest events only.
    Beyond 4096 names a scope counts as "(more scopes)"; scopes nested deeper than 4096 are not counted.

    Crash report. crash_report=1 (PROF_CRASH_REPORT=1, with or without PROF_OUTPUT) adds handlers of SIGSEGV, SIGBUS,
    SIGFPE, SIGILL and SIGABRT. They say on stderr what each thread was doing, the crashed one first:
        prof: SIGSEGV in thread 1234 "worker 2": game > frame > solve (physics.c:88)
    and write the trace to output with .prof appended ("trace.json.prof"; without an output "<program>.<pid>.prof"),
    unless it is in a file anyway. Scopes whose begin has been overwritten are not shown ("... >"). Then the signal
    takes effect as it would without prof: exit status, core dump, sanitizers and your own handlers. Your handlers run
    after the report if they were there before prof_start(); a handler that was installed later decides itself when to
    call the older one. While the report is written nothing is recorded, because threads that run on would overwrite
    what led to the crash. There is one report for each session; if your handler makes the program go on, it goes on
    without another. Signals that are ignored stay ignored. A thread that records gets a stack for the handler
    (sigaltstack, 64 KiB), until it ends, if it has none, so that a stack overflow is reported, too. prof_stop() removes
    the handlers.
    If somebody truncates a file that a program has mapped, SIGBUS kills that program when it next touches the missing
    part. So do not truncate a .prof that is being recorded: remove it, or move another file over it. With
    crash_report=1 the program survives: the recording ends there, stderr says so, prof_stop() returns PROF_IO, and what
    was cut off is lost.

    Signals. Scopes may be used in signal handlers. A handler that interrupts a macro in the few nanoseconds in which it
    writes records nothing, which is counted; all others record on the track of the thread that they interrupt. If a
    handler that interrupted such a moment leaves by siglongjmp(), the thread cannot record until it calls prof_start()
    itself; other threads are not affected. A handler may only use macros, prof_save_request(), and functions that
    start, stop, set, add to or mark an object or record for a device. All other functions, also prof_fiber_switch(),
    must not be called in a signal handler, and must not be left by longjmp().

    Fibers. A coroutine that moves from thread to thread takes its track along. Call prof_fiber_switch(fiber) where it
    begins to run, and prof_fiber_switch(NULL), or that of the next fiber, where it stops running; before or after the
    switch of stacks. Its scopes may stay open meanwhile, and end on another thread. A fiber runs on one thread at a
    time, and whatever hands it to another thread must synchronise memory (release and acquire), as every scheduler's
    queue does. Fibers may be switched whether a session runs or not, and have one track in each session. A switch costs
    three words of the buffer (none during a pause) and some 5 ns, but no lock and no clock read; the first event of a
    fiber in a session takes a lock. A scope must end on the track where it began: a scope that is open across a switch,
    in the scheduler for example, must end after the switch back. When PROF_FILL is full, scopes that are open in
    waiting fibers may lose their ends, which is counted. Automatic tracing of functions (see below) does not know
    fibers: it uses the tracks of threads.

    Spans. A span is a request, a job or a task: PROFILE_SPAN_BEGIN() and PROFILE_SPAN_END() with the same name and id,
    or prof_task_start() and prof_task_stop(), on any threads, overlapping in any way. (What nests on one thread is a
    scope.) An end belongs to the newest open span of its name and id. The reader matches them (prof_spans_open), so
    recording looks nothing up. A begin without an end, or an end without a begin, because the other was off, has been
    overwritten, or never came, is marked PROF_TRUNCATED_END or PROF_TRUNCATED_BEGIN, adds to no time, and is counted in
    the summary. PROF_STATS keeps up to 65536 open spans; if there are more, the oldest count as begins without an end,
    and their ends as ends without a begin.

    fork(). The child goes on recording, with the configuration, level, categories and pauses of the moment of the fork,
    from its first scope that is on. That scope creates an image of its own, of the parent's size, which takes some 0.2
    ms. Until then it costs nothing and creates no file, so that fork() with exec(), system(), posix_spawn() and vfork()
    need no care. The child's file is beside the parent's: trace.json, trace.<pid>.json; with %p in the output, its name
    has the child's process id. As everywhere, only a .prof needs no prof_stop() or exit(). A child that calls
    prof_start() itself chooses its file as any program does: without %p the first free of trace.json, trace.2.json and
    so on, which is that of a child that was killed before; and a relative one in the directory in which the child is by
    then.
    A process that gives up its rights: a server whose workers become another user, or call chroot(). A file that is
    recorded into stays open, so that everything goes on as before; but a child that has not had a scope yet has no
    file, and may not be able to create one any more. Then it records in memory, prof_stop() returns PROF_IO, and
    prof_save() ca write what it recorded where it may. Of a session that PROF_OUTPUT started, the child says so on
    stderr at its first scope. To keep its recording, record a scope before the process gives up its rights, or name a
    directory in which it may create files. After chroot() an output that is written at the end still goes into its
    directory, which the session holds open (Linux); if the program has closed all descriptors, prof_stop() returns
    PROF_IO, and the recording is kept in <output>.prof.
    A child that must not record calls prof_stop() before its first scope, and may then call prof_start(). If its image
    cannot be created, prof_enabled() is 0, and prof_stop() says why. The threads of PROF_STREAM, PROF_STATS, save and
    dump_period do not exist in the child, and crash_report and save_signal are off: a child is always PROF_RING or
    PROF_FILL. If config.memory was given, the child records into memory of the same size from the system. A child of
    _Fork(), or of clone() without CLONE_VM, for which no fork handler runs, is noticed at its first macro or control
    function, and then records in the same way. If another thread was changing the recorder's state at the fork, or if
    that first macro is on a thread which the child has created, it records nothing until it calls prof_start(). This
    needs Linux 4.14 and pages of 4 KiB. Elsewhere such a child must not use scopes: they would be written into the
    parent's file.

    longjmp() over scopes in C leaves them without an end. The next end of a scope further out closes them, and they are
    marked PROF_TRUNCATED_END. If no such end comes, as in a server whose errors jump to the loop that reads commands,
    scopes nest deeper with each error. Put PROFILE_END("command") at the top of that loop, and PROFILE_BEGIN("command")
    where a command has been read: that END also closes what an error has left, and the first one does nothing.

    Sandboxes. Start prof before a filter of system calls (seccomp), which has to allow what macros call. This is
    rt_sigprocmask and futex; prctl and gettid when a thread records for the first time, and prctl when it ends and in
    prof_stop(); madvise until the buffer has been full once, and if it is a file also fstat (newfstatat), fallocate and
    rt_sigpending. With config.memory this last group is not called. If a filter returns an error for it, the ring of a
    file stays as small as it is by then, one chunk if little was recorded before, and prof says so. What opens files
    needs more: prof_stop() with an output other than a .prof, PROF_STREAM, save, and a child's first macro.

    Suspension. If the machine sleeps, or is stopped and restored, the processor's counter and the system's clock
    disagree, or the counter begins again. A trace shows this as a gap: an instant "suspended for 3.000 s" of the whole
    trace, on a track "clock", and a line in the summary and in prof check. Times before and after it are right. A scope
    that was open meanwhile includes it, or ends at its last event if the counter began again. The line says between
    which times the gap lies: usually two events, because no thread had any in between. If the counter stood still, only
    two readings of the clocks are known, and events shortly before the gap's end may have come after it.

    Floating point. Numbers that are infinite or no numbers are recorded and written as such: "inf", "-inf" and "nan",
    null in the report's JSON. That is so with -ffast-math, too. A program may have exceptions of floating point trap
    (feenableexcept): prof raises none, and leaves the flags of the program as they are (x86, AArch64).

    Names of threads. PROFILE_THREAD names the track of the thread. Without it the track has the name that the system
    knows (Linux, Windows, macOS): the last one, even if it was given after the first scope. prof asks for it when the
    thread ends, in a snapshot, in a save, in prof_stop() and, where a thread of prof's own runs, once a second. It does
    not open files for that in a sandbox that the program entered after the start.

    Shared libraries. One recorder serves the whole process, however many copies of the implementation there are: the
    program's if it has one, else that of the library that was loaded first. All other copies forward their calls to it.
    So a plugin or extension with a copy records in any program, beside any others (on Linux; on other systems each copy
    is a recorder). A plugin without a copy records if the program is linked with -rdynamic, or both are linked to
    libprof.so. Call sites are copied into the image when first used, so that a plugin may be unloaded at any time when
    none of its scopes is open, and loaded again after a change. A library that records for others stays loaded until
    they are gone. With PROF_STATIC in all files of a library it has a recorder of its own, beside any others, which
    PROF_OUTPUT does not start unless PROF_AUTOSTART is defined; copies of another version of prof also have recorders
    of their own. If several recorders of a process are told to write one file, the later ones write
    trace.<library>.json. A scope in a library costs 8 bytes of the thread-local storage that the loader reserves for
    plugins, and the first scope of a thread about a page. Call prof_stop() before you unload a recorder.

    Arguments. PROFILE_ARG adds to the innermost scope of this thread. While that scope is off, by its category, level
    or mask, the argument is dropped with it, and does not count as lost. For that, a call site that is off is watched
    for its first 250 passes after each change of what is on, at 1 to 1.5 times the cost of one that is on, and from
    then on only if it had an argument in them. If the first argument comes later, it is added to the enclosing scope,
    as are later ones, unless the argument is in the same function as the scope, which is then watched for 250 more
    passes. Also added to the enclosing scope are arguments after more than 127 open scopes that are off, those of
    scopes of -finstrument-functions that are off, and those of an off PROFILE_BEGIN whose end came before the ends of
    scopes inside it. If arguments are rare, or their value costs something, give the scope a handle:
        PROFILE_SCOPE_AS_C(query, "query", "sql");
        PROFILE_ARG_TO(query, "rows", rows);
    The argument then belongs to that scope; while the scope is off, the argument is not recorded and its value is not
    evaluated. A handle is a prof_scope. You may pass it to functions, which then add to a scope of their callers,
    inside any number of other scopes, on the same thread or fiber, until the scope ends; later arguments are counted as
    unmatched. In a recursion a handle means the innermost open scope of its call site.
    PROFILE_ARGS(), PROFILE_ARGS_TO() and the macros whose names end in _ARGS take a list of PROF_ARG(key, value). Its
    keys may be made at run time; they are copied, as texts are. Of a list, up to PROF_DEVICE_ARGS arguments are kept,
    and at most what fits into a quarter of a chunk. Each key takes one word more, and one for each 8 bytes or part of
    them.

    Recording cost. A summary ends with what recording took of the program's time: what a scope, a run-time name and a
    call with the hooks of -finstrument-functions cost on this machine, as prof_start() measured it, times what was
    recorded, what min_duration removed and, estimated, what a ring has overwritten. It is within a third of the real
    slowdown of programs (BENCHMARKS.md). With several threads it is the sum. It does not include the work of prof's own
    thread.

    Memory. PROFILE_ALLOC and PROFILE_FREE record, for each pool, live bytes as a counter of the Chrome trace. The
    summary and prof_memory() have peaks, allocations by call site (and the enclosing scope) and by
    PROFILE_MEMORY_SCOPE, what was not freed, and what was freed twice. Blocks from before the trace are counted when
    they are freed, and nowhere else. Put PROFILE_FREE before the real free: after it another thread may already have
    the address. PROFILE_FREE finds its block in any pool; one with _POOL only in its own pool, for pools whose
    addresses overlap. PROF_STATS keeps nothing about memory and locks.
    PROF_WRAP_MALLOC (Linux, glibc) records the C library's malloc(), and so operator new and what libraries allocate,
    in the pool "malloc"; PROF_CATEGORIES=-malloc turns it off. It defines malloc(), free() and so on in the program,
    which the loader prefers to those of libraries, and calls glibc's under their internal names. Nothing is looked up,
    so that it works before main, in threads and after fork(). Each call takes 24 bytes of the buffer. What prof
    allocates is left out. It does not work with a static glibc, nor with another allocator (tcmalloc, jemalloc); with a
    sanitizer, which has its own allocator, it does nothing. A malloc() is listed by its enclosing scope.

    Locks. WAIT, ACQUIRE and RELEASE record how often and how long threads waited for a lock, and how long it was held.
    They are shown in the summary, as data (prof_locks), and as a row for each lock in the Chrome trace. An acquire
    counts as contended if another thread of this process held the lock after the WAIT: of a lock in memory that
    processes share, look at the time that was waited. PROFILE_MUTEX_LOCK tries the lock first, so that
    a free lock costs one event.

    Accuracy. The counter is read without ordering, as every profiler does, because ordering would cost more than the
    rest of a scope. Out-of-order processors then read it up to some 70 ns early around code that waits for its own
    results (memory, division); the time that is missing in a scope appears in its parent. PROF_CLOCK_ORDERED waits at
    the end of each scope until everything before it has been executed, and subtracts the cost of that wait. A chain of
    multiplications of 95 ns is then recorded as 95 instead of 33, at 1.4 (Intel) to 2.8 (AMD) times the cost of a
    scope. Use it to measure short scopes, and leave it off otherwise.
    Durations in nanoseconds follow CLOCK_MONOTONIC: the image holds pairs of both clocks, one for each chunk, and the
    reader interpolates between them linearly. The first millisecond is right within 100 ppm once the process itself
    reads the trace, or the session is stopped. In the image of a process that was killed that early, and that another
    machine reads, the rate is the one that the processor reports.

    Sessions. A session may begin later than it starts: after config.delay_ns, at a time of day (start_unix_ns), or from
    a step or frame on (warmup_steps, warmup_frames: "from the second epoch on"). It may end by itself (duration_ns):
    then its output is written, and prof_stop() may be called at any time later. Until it begins all sites are off, and
    cost as little; a thread of prof, or the step, begins it. Its time counts from there. The child of a fork has no
    such thread: it looks at the clock itself, at some 50 ns a macro, until the delay is over, and its duration does not
    end the recording. Outputs can be named after the run: %p %t %h %r %j; prof_set_metadata() adds facts about it. A
    relative output is relative to the directory in which the program is at prof_start(), wherever it is at the end.

    The end. exit(), and the return from main, do what prof_stop() does if there is an output and nobody called it,
    after the program's exit handlers and destructors. What cannot be written then is reported on stderr. A program that
    ends otherwise, by a signal, _exit() or exec, leaves its buffer, and what PROF_STREAM has packed. If output is not a
    .prof, the buffer is a mapping of <output>.prof beside it, which is removed once output is complete; where
    that name would have more than 255 bytes, its end is cut, and a number tells it from others. The next run with that
    output finds it, and keeps it as <output>.old.prof, one at a time; PROF_OUTPUT says so on stderr. If such a file
    cannot be created, or the disk has no room (four times the buffer should be free), the buffer is in memory,
    and the trace says "in memory only" and why. It is in memory, too, if output is not a file, and with config.memory;
    so are the statistics of PROF_STATS, which need dump_period to survive. A .prof on a file system without shared
    mappings, as some of FUSE are, gets its events at the end: a program that is killed leaves there only why it has
    none.

    Two runs, one file. A name such as trace.json is meant to be replaced by the next run, and is, once the new file is
    complete. A .prof whose program was killed stays, as <name>.old.prof, one at a time. What this process has written
    itself is kept: its second session writes trace.2.json, and so on. What another process is writing at the same time
    is also kept: the second process, which sees a lock (flock) of the file, writes trace.2.json, and PROF_OUTPUT says
    so on stderr. (On Windows a second recorder of one process, that of a DLL, does so as well: no file is open for
    writing twice.) Numbered files of an older run are replaced. A name with %p or %t is meant for one run alone: if
    there is such a file all the same (two runs in a second, a process id that came again), the new one is
    trace.1234.2.json. config.existing changes this. Processes that a launcher (MPI, Slurm, torchrun) has started would
    all write trace.json: they write trace.<rank>.json. %j is the id of their job, with the step if it is not the first
    (4711.2), so that jobs in one folder do not mix; %t is one time for all processes of a job, which the first of them
    leaves in the file .prof-job-<id> (not on Windows). Job, step, array task and local rank are in the metadata.
    prof_stop() returns PROF_IO if its .prof has been removed or replaced meanwhile; if it was moved, that is no error.

    Links and fifos. If an output is a symbolic link, the file that it leads to is replaced once the new one is
    complete, and the link stays (latest.json -> runs/7.json; /dev/stdout and the like are written directly). In a
    folder where everybody may create files (/tmp: writable for all, and sticky) a link or a fifo of another user is not
    followed, by the rule of the kernel's fs.protected_symlinks: prof_start() returns PROF_IO if it is there at the
    start, else the function that writes does. When a fifo is written, by prof_stop() for example, it must have a
    reader, or the function returns PROF_IO; it waits for a slow reader. Files have mode 0644 and folders 0755, less
    umask: no other user may write into a recording.

    Options. prof_start() does what its config says, and reads no PROF_ variable: these are for programs that
    PROF_OUTPUT starts, or that call prof_config_from_env(). prof_config_set() knows the keys of CNTK, MXNet,
    TensorFlow, JAX and Neuron. It sets the field that has the same meaning, or nothing if prof does so anyway, or
    returns PROF_UNSUPPORTED, and prof_error() says why. `prof config --all` lists them.

    A format of your own. These lines, in the file with PROF_IMPLEMENTATION, make PROF_OUTPUT=x.mine and
    prof_save("x.mine") work; examples/own_format.c is the whole program:

        static prof_status mine_write(void *user, const prof_trace *trace, prof_sink sink)
        {
            prof_timeline *timeline;
            prof_event event;
            prof_status status = prof_timeline_open(trace, &timeline);
            if (status) return status;
            while (prof_timeline_next(timeline, &event, NULL))
                if (sink.write(sink.user, event.name, strlen(event.name))) break;   // a full disk: prof says so
            return prof_timeline_close(timeline);    // or prof_fail(PROF_UNSUPPORTED, "mine: why it failed")
        }
        PROF_WRITER(mine, ".mine", mine_write, NULL);    // NULL: user

    The file gets its name when it is complete. Elsewhere, call prof_writer_register() before prof_start().

    Versions. PROF_VERSION is the version of this header; the other headers need the prof.h of their own version. A
    program that compiles with a version compiles with later ones of the same major number, before 1.0 of the same minor
    number. The image has a version of its own: docs/format.md describes it. Later releases read what earlier ones have
    recorded. A reader refuses an image that is newer than itself, and says so.

    Never. prof does not print, except for messages on stderr of PROF_OUTPUT, of crash_report, and of outputs that
    exit() writes. It does not abort. It does not change signal handlers (except for crash_report and save_signal),
    errno, locale or environment. It starts no thread except for PROF_STREAM, PROF_STATS, save, dump_period, delay,
    start_unix and duration, which share one, and for prof_server.h. No macro allocates anything, except the stacks of
    crash_report, and what glibc takes for a thread's first scope if 32 of its keys were taken before prof was loaded.

    Automatic tracing of functions. Compile your files with -finstrument-functions, and the implementation without that
    flag and with PROF_INSTRUMENT_FUNCTIONS: every call is a scope, named by the symbol tables. Filter by min_duration,
    which makes a scope cost about twice as much; at the end of a chunk a short scope may be kept.

    Windows. PROFILE_MUTEX_LOCK has counterparts for the locks of Windows. prof_server.h needs ws2_32. With
    save_signal, any number but 0, the program saves when the event Local\prof-save-<pid> is set: by SetEvent(), or in
    PowerShell by [Threading.EventWaitHandle]::OpenExisting("Local\prof-save-1234").Set(). crash_report sets the filter
    of unhandled exceptions, and a handler of SIGABRT for abort() of the C runtime that prof is linked with; what was
    set before is called after the report. The report says "access violation" or "abort()" instead of a signal. What the
    program handles by __except or, in MinGW's main thread, by signal(SIGSEGV), is not reported; nor is what Windows
    ends at once: __fastfail(), a corrupt heap. If a stack overflow leaves too little stack, as under wine, a new thread
    writes the report. Paths are UTF-8, or else in the program's code page. An existing .prof is emptied at the start.
    Windows lets nobody remove or replace a .prof that a session or a trace of this program has open, and a session has
    it open until the next start. The <output>.prof beside another output goes when prof_stop() has written that; if a
    thread that has recorded lives on, when the process ends. A recording survives TerminateProcess(). The report of a
    crash leaves its trace in <output>.crash.prof, because <output>.prof is still open. With fibers, call
    prof_fiber_switch() before each SwitchToFiber(). The tests are built by MinGW and run under wine.

    No compiler of Microsoft has compiled any of this yet. The tests compile it as clang does in Microsoft's mode with
    no word of gcc's, as C (/std:c11, or /std:c17) and as C++, for x86, x64 and ARM64, with MinGW's headers instead of
    Microsoft's; and run such a recorder, and most tests with it, for x64, under wine, with MinGW's library. So cl.exe,
    its warnings, its headers and library, link.exe, /GL, /GT (fiber-safe optimisations) and code that runs on x86 and
    ARM64 are what was not tried. /Zc:preprocessor should not be needed: a test looks at the text of the macros for
    what the older preprocessor reads differently, which clang does not imitate.
    At /W4, files that use macros may get C4127 (a condition that is constant: the level) and, in C, C4204 (an array of
    arguments). In C there is no PROFILE_SCOPE: use PROFILE_BLOCK, in braces. A recorder may also be compiled by
    MinGW, to a DLL or program that exports prof_* and prof__* by a .def file, for files of Microsoft's compiler with
    /DPROF_DEF=__declspec(dllimport).

    macOS, FreeBSD, NetBSD, OpenBSD: all headers are compiled, and a recorder is linked, by the tests, but not run.

    WASI (-D_WASI_EMULATED_MMAN -lwasi-emulated-mman): prof_start(), prof_stop() and prof_save(), with every output of
    the file's own headers. There are no threads and no signals, so it is compiled as with PROF_NO_THREAD and
    PROF_NO_CRASH. A recorder is compiled by Zig's clang and run by wasmtime in the tests.

    Emscripten: files are in memory (MEMFS). examples/web.c makes a download of one. With -sEXIT_RUNTIME=1 the return
    from main() does what prof_stop() does; a page that never ends calls prof_stop() or prof_save(). The heap has 16 MiB
    if the program is not linked with -sALLOW_MEMORY_GROWTH or -sINITIAL_MEMORY=64MB, for example: the default buffer
    has 4 MiB, and prof_start() returns PROF_NO_MEMORY for a larger one that does not fit; it does not end the program.
    With -pthread, threads need -sPROXY_TO_PTHREAD, or a pool of threads, and a larger heap.

    Systems that only imitate shared mappings (Emscripten, WASI): prof_start() notices it, and prof_stop() writes the
    image into its .prof. Until then the file has no recording, also after a crash.

    Freestanding. Define PROF_FREESTANDING, and, before the implementation:
        PROF_CLOCK_READ()       an expression: the counter, uint64_t; config.clock_hz is its rate
        PROF_CPU_STATE()        an expression: a pointer to PROF_CPU_STATE_SIZE (1024 is enough) zeroed bytes, 16-byte
                                aligned, of the thread or processor that runs this: see below
        PROF_CPU_ID()           optional: the thread id of the trace, for example the number of the processor or thread
        PROF_CPU_NAME(text, size)     optional: writes the name of the track that a state gets
        PROF_INTERRUPTS_OFF()   optional: turns interrupts off on this processor, while a lock is held, and returns a
                                number for PROF_INTERRUPTS_RESTORE()
        PROF_INTERRUPTS_RESTORE(number)   undoes PROF_INTERRUPTS_OFF(). Define both or none
        PROF_MAY_WAIT()         optional: 0 where a macro must not wait for a lock, because it may have interrupted the
                                code that has it: in an NMI. The event is then lost if the lock is taken, and counted
        PROF_WAIT()             optional: what to do while another processor has the lock; default: pause, yield
        PROF_MONOTONIC_NS()     optional: a clock in nanoseconds, and PROF_UNIX_NS() the time of day. The image gets
                                pairs of them and the counter; config.clock_hz may be 0
        PROF_ALLOCATE(size)     optional: zeroed memory, and PROF_RELEASE(memory): for prof_snapshot(), a copy of the
                                image while recording goes on. Declare memcpy(), memset() and memcmp() for that
    and in every file, before prof.h:
        PROF_ANY_ON()           optional: 0 while nothing records: an expression that costs less than looking at the
                                site, such as a static branch of Linux
        PROF_SITE_PLACE         optional: an attribute of call sites, such as a section of their own
    Link memcpy() and memset(): compilers call them for what is copied and cleared as a whole, at every level of
    optimisation. gcc for AArch64 needs -mno-outline-atomics, or its library (libgcc), for atomic operations; processors
    without atomic operations on 64 bits need functions for those: see examples/microcontroller.
    A state belongs to one thread of control at a time. One for each thread is best: nothing changes for it if it is
    preempted and moved in the middle of a macro. prof_cpu_state_end() gives it back when the thread has ended. If the
    states are those of processors, a thread must not move between reading PROF_CPU_STATE() and the end of a macro; if
    you call prof_fiber_switch() where the kernel switches threads, with interrupts off, each thread has a track all the
    same. Code that interrupts (interrupt handlers, NMIs) gets a state of its own for each processor and kind, or the
    rules of signal handlers apply: what interrupts a macro on the same state is lost, and counted.
    Define PROF_MINIMAL as well for a small build: 3 KB of static data instead of 40, for 16 names of
    PROFILE_COUNTER_ADD, 8 rules of categories, 256 bytes of metadata, without min_duration and warm-up. PROF_NO_DOUBLE
    leaves out floating point; it is set by itself where the compiler may not use such registers (-mno-sse,
    -mgeneral-regs-only, Linux), and keys as text go with it. PROF_TINY, for microcontrollers, leaves out categories,
    metadata for later sessions, the texts of prof_error(), smaller chunks for many threads and the sharing of chunks by
    ended ones: 8 KB of code and 0.7 KB of data. PROF_WITH_CATEGORIES and PROF_WITH_SHARED_CHUNKS keep two of these.
    PROF_WITH_DRAIN adds prof_drain(), which sends a recording while it goes on, from a ring of a few KiB.
    Control functions may be called by any one thread at a time, not by interrupts. The memory of a session may be
    reused once a new session was started and every macro that began before prof_stop() has returned.
    In Linux, prof.h includes <linux/types.h> instead of the headers of the compiler. examples/linux_module has all this
    as a module, examples/kernel as a kernel that boots, and examples/microcontroller for 16 KiB of RAM;
    docs/guide/kernels.md says more.
    prof_start() needs config.memory. There is no reader: save the bytes of config.memory, from the first 64-byte
    boundary on, and read them with prof_trace_open_memory() or prof_trace_open() of prof_read.h elsewhere. _F macros
    record the format unless PROF_VSNPRINTF is defined.
*/
#if defined(PROF_IMPLEMENTATION) && !defined(PROF_FREESTANDING)
#if defined(__linux__) && defined(_FEATURES_H) && !defined(__USE_GNU) && !defined(__cplusplus) && \
    !defined(PROF__LATE) && !defined(PROF__IMPLEMENTED)
#define PROF__LATE 1 /* a system header came first, and may have declared too few functions: see >>platform */
#endif
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* declares what the implementation needs of the system headers, also under -std=c99 */
#endif
#endif
#ifndef PROF_H
#define PROF_H

#ifdef __KERNEL__ /* Linux has its own, and no others */
#include <linux/limits.h>
#include <linux/stddef.h>
#include <linux/types.h>
#ifndef UINT64_MAX
#define UINT64_MAX __UINT64_MAX__
#endif
#ifndef INT64_MAX
#define INT64_MAX __INT64_MAX__
#define INT64_MIN (-INT64_MAX - 1)
#endif
#ifndef UINTPTR_MAX
#define UINTPTR_MAX __UINTPTR_MAX__
#endif
#else
#include <stddef.h>
#include <stdint.h>
#endif

#define PROF_VERSION 200 /* major * 10000 + minor * 100 + patch: nothing else states it */

#ifndef PROF_ENABLE
#define PROF_ENABLE 1
#endif
#if !PROF_ENABLE || defined(_MSC_VER) /* its __cplusplus is that of C++98 */
#elif defined(__cplusplus) && __cplusplus < 201103L
#error "prof.h needs C++11: compile with -std=c++11 or later"
#elif defined(__STRICT_ANSI__) && !defined(__cplusplus) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L)
#error "prof.h needs C99: compile with -std=c99 or later"
#endif
#ifndef PROF_UNIT
#define PROF_UNIT ""
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
/* Code that may not use floating-point registers, as that of kernels. */
#if defined(PROF_NO_DOUBLE) || defined(__KERNEL__) || \
    (defined(__x86_64__) && !defined(__SSE2__) && defined(__GNUC__) && !defined(__TINYC__)) || \
    (defined(__aarch64__) && !defined(__ARM_FP) && defined(__GNUC__)) || \
    (defined(__riscv) && !defined(__riscv_flen) && !__STDC_HOSTED__) /* hosted, a library computes */
#define PROF__NO_DOUBLE 1
#endif
/* In a shared library the implementation is weak, so that the loader chooses which copy is called, also for calls
   inside this file, for which compiler and linker would otherwise take the file's own copy. */
#if defined(__ELF__) && defined(__PIC__) && !defined(__PIE__) && !defined(PROF_FREESTANDING)
#define PROF__SHARED 1
#endif
#if defined(_WIN32) || !defined(__GNUC__)
#define PROF__HIDDEN
#else
#define PROF__HIDDEN __attribute__((__visibility__("hidden")))
#endif
#ifndef PROF_DEF
#if defined(_WIN32) || !defined(__GNUC__)
#define PROF_DEF
#elif defined(PROF_STATIC)
#define PROF_DEF PROF__HIDDEN
#elif defined(PROF_IMPLEMENTATION) && defined(PROF__SHARED)
#define PROF_DEF __attribute__((__visibility__("default"), __weak__))
#else
#define PROF_DEF __attribute__((__visibility__("default")))
#endif
#endif

/* Converts to a type whose name is one word, and warns of nothing that -Wold-style-cast and the like find. */
#ifdef __cplusplus
#define PROF__TO(type, value) type(value)
#define PROF__NO_SITE nullptr
#else
#define PROF__TO(type, value) ((type)(value))
#define PROF__NO_SITE ((prof_site *)0)
#endif
#if defined(__GNUC__) || defined(__TINYC__)
#define PROF__EXTENSION __extension__
#define PROF__UNUSED __attribute__((__unused__))
#else
#define PROF__EXTENSION
#define PROF__UNUSED
#endif
#if defined(__GNUC__)
#define PROF__UNTRACED __attribute__((__no_instrument_function__))
#define PROF__LIKELY(x) __builtin_expect(!!(x), 1)
#define PROF__UNLIKELY(x) __builtin_expect(!!(x), 0)
#define PROF__PRINTF(f, a) __attribute__((__format__(__printf__, f, a)))
#define PROF__NOINLINE __attribute__((__noinline__))
#define PROF__COLD __attribute__((__cold__, __noinline__)) /* the slow branch of what a macro calls: out of its way */
#else
#define PROF__UNTRACED
#define PROF__LIKELY(x) (x)
#define PROF__UNLIKELY(x) (x)
#define PROF__PRINTF(f, a)
#ifdef _MSC_VER
#define PROF__NOINLINE __declspec(noinline)
#else
#define PROF__NOINLINE
#endif
#define PROF__COLD PROF__NOINLINE
#endif
/* Declares a public function. It is never inlined: a compiler may assume that a function stays on one thread, and would
   keep the address of a thread-local variable across a call that switches to a fiber, which another thread resumes. */
#define PROF__API PROF_DEF PROF__NOINLINE

/* All files of a program agree on the layout of what follows, whatever a header before has left on. */
#pragma pack(push, 16)
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpragma-pack" /* macOS's headers end with the default */
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*-- TYPES ------------------------------------------------------------------------------------------------ >>types --*/

/* Every function that can fail returns one of these. prof_status_text() explains a value; prof_error() explains the
   last failure of the calling thread, and names the file, key or value that caused it. */
typedef enum prof_status {
    PROF_OK = 0,
    PROF_DISABLED,         /* not returned any more: with PROF_ENABLE=0 functions return PROF_OK */
    PROF_INVALID_ARGUMENT, /* unknown key, value out of range, NULL where it is not allowed */
    PROF_INVALID_STATE,    /* started twice, stopped before started, nothing recorded yet */
    PROF_UNSUPPORTED,      /* known, but not available on this platform or in this build */
    PROF_NO_MEMORY,
    PROF_IO,               /* open, read, write, map, rename: prof_error() has the system's message */
    PROF_CORRUPT,          /* not an image, or an image that contradicts itself */
    PROF_STATUS_COUNT
} prof_status;

typedef enum prof_mode {
    PROF_RING = 0, /* when the buffer is full, the oldest chunk is reused */
    PROF_FILL,     /* when the buffer is full, recording ends and losses are counted */
    PROF_STREAM,   /* a thread packs full chunks into the file after the buffer: everything is kept */
    PROF_STATS,    /* a thread adds full chunks to statistics, and drops them. It takes a processor at 30 million scopes
                      a second; if it gets none, a thread that records sleeps until a chunk is free, up to wait_ns */
    PROF_RING_STATS /* the same, but the thread leaves them in a ring, in which no chunk is reused before that */
} prof_mode;

typedef enum prof_limit {
    PROF_LIMIT_STOP = 0, /* keeps the oldest events; once the buffer is full, too, further ones are lost and counted */
    PROF_LIMIT_ROTATE    /* keeps the newest events */
} prof_limit;

typedef enum prof_clock {
    PROF_CLOCK_AUTO = 0,  /* the processor's counter where it is invariant, else PROF_CLOCK_MONOTONIC */
    PROF_CLOCK_COUNTER,   /* rdtsc, cntvct, rdtime: prof_start() fails if the machine has none that can be trusted */
    PROF_CLOCK_ORDERED,   /* the counter, read in order at scope ends: exact short scopes (see the manual) */
    PROF_CLOCK_MONOTONIC  /* clock_gettime(CLOCK_MONOTONIC), QueryPerformanceCounter */
} prof_clock;

/* What to do with a file that exists when the session starts. */
typedef enum prof_existing {
    PROF_EXISTING_AUTO = 0, /* NUMBER if the name has %p or %t, and so is meant for one run alone, or if this process
                               wrote the file or another is writing it; else REPLACE */
    PROF_EXISTING_REPLACE,  /* replaces it once the new one is complete */
    PROF_EXISTING_NUMBER,   /* keeps it: the new one is trace.2.json, .3, ..., and no two processes get the same one */
    PROF_EXISTING_REFUSE    /* keeps it: prof_start() fails */
} prof_existing;

#define PROF_SECOND 1000000000ull /* in ns: config.delay_ns = 5 * PROF_SECOND */
#define PROF_NEVER UINT64_MAX     /* of a time whose 0 is the default: what the text 0 means */
#define PROF_LEVEL_NONE (-1)      /* of config.level, whose 0 is the default: what the text 0 means */

/* All zero is the default. Strings are read only during prof_start(), and the caller owns them. The comment of a field
   names its key for prof_config_set() and, in capitals, its environment variable; prof_config_describe() has the same
   as data. */
typedef struct prof_config {
    const char *output;       /* output PROF_OUTPUT: file written by prof_stop(); the extension picks the writer: .json
                                 .csv .txt, or .prof, which maps the buffer itself to the file, so that everything
                                 recorded survives even SIGKILL. %p is the process id, %n the program's name, %t the
                                 local time, %h the host's name, %r the rank, %j the cluster's job, %% a percent sign.
                                 If a rank is given, or known to be one of several, and the name has neither %r nor
                                 %p, the rank is put before the extension. Missing directories are created. A
                                 directory, or a name that ends in /, is a log directory for XProf: see
                                 prof_xplane.h. Default: none, the trace stays in memory */
    size_t buffer_size;       /* buffer PROF_BUFFER: bytes, or "64M" as text; 128 KiB to 64 GiB; default 16 MiB,
                                 with Emscripten 4. From Linux 5.14 on, memory and disk are taken as they are used.
                                 prof_start() fails with PROF_IO if the disk has no room for all of a .prof */
    prof_mode mode;           /* mode PROF_MODE: "ring", "fill", "stream", "stats" or "ring+stats". stream needs an
                                 output; that of stats is a .txt */
    prof_clock clock;         /* clock PROF_CLOCK: "auto", "counter", "ordered" or "monotonic" */
    int level;                /* level PROF_LEVEL: call sites of a higher level are off; 1 to 255; default 2.
                                 PROF_LEVEL_NONE (as text 0): all are off until prof_set_level(); devices still
                                 record, see no_devices */
    const char *categories;   /* categories PROF_CATEGORIES: "net,render*,-audio": see prof_category_enable */
    uint64_t min_duration_ns; /* min_duration PROF_MIN_DURATION: a scope that is shorter and has nothing inside is
                                 removed; nanoseconds, or "2us" "1.5ms" as text; default 0, keep all */
    void *memory;             /* record here instead of in memory from the system. prof_start() clears it: no thread may
                                 then still be in a macro of an earlier session there. It must stay as long as a thread
                                 lives that recorded in it. Not with a .prof output */
    size_t memory_size;       /* bytes at memory, instead of buffer_size: from 2 KiB, the first 64-byte boundary on */
    uint64_t clock_hz;        /* PROF_FREESTANDING: ticks per second of PROF_CLOCK_READ() */
    uint64_t max_file_size;   /* max_file_size PROF_MAX_FILE_SIZE: PROF_STREAM: the maximum size of the file in bytes,
                                 buffer included: at least the buffer and 512 KiB; default 0, no limit */
    prof_limit at_limit;      /* at_limit PROF_AT_LIMIT: what happens at that size: "stop" or "rotate" */
    uint64_t wait_ns;         /* wait PROF_WAIT: how long a thread sleeps for a free chunk before its events are lost;
                                 up to 10s. Default 0: PROF_STATS and PROF_RING_STATS 10 s, PROF_STREAM not at all.
                                 PROF_NEVER (as text 0): not at all */
    uint64_t dump_period_ns;  /* dump_period PROF_DUMP_PERIOD: writes output this often, and not only in prof_stop(), so
                                 that a program that is killed leaves a file at most that old; from 10ms; default 0.
                                 A .prof output and PROF_STREAM are always up to date, and don't need it. As text, a
                                 number without a unit is seconds. PROF_NEVER: not, even if it is set later */
    const char *save;         /* save PROF_SAVE: saves the last seconds to this file whenever one of the following, or
                                 prof_save_request(), asks for it. A name like output's, in which %c counts the files:
                                 "slow-%c.json"; without %c each file replaces the one before */
    uint64_t save_last_ns;    /* save_last PROF_SAVE_LAST: how much a save holds; as text seconds, or "500ms"; default
                                 10 s */
    const char *save_over;    /* save_over PROF_SAVE_OVER: what must not take longer: "frame>16.7ms,scope:net.*>2ms":
                                 up to 16 of frame, frame:NAME and scope:NAME; in a NAME * stands for any text and ? for
                                 any letter. Needs save */
    uint64_t save_every_ns;   /* save_every PROF_SAVE_EVERY: from one save for save_over to the next, at least; as text
                                 seconds, or "500ms"; default 0, only one save */
    int save_signal;          /* save_signal PROF_SAVE_SIGNAL: a signal that saves; as text also a name, "USR1". An
                                 earlier handler is still called. Needs save. Windows: 1: an event, see the manual */
    int crash_report;         /* crash_report PROF_CRASH_REPORT: 1: when the process dies of a bug, say on stderr what
                                 its threads were doing, and write the image to output with .prof appended: see the
                                 manual */
    uint64_t delay_ns;        /* delay PROF_DELAY: recording begins that long after prof_start(); until then, sites are
                                 off. As text with its unit, "5s"; default 0, at once. This and the next two: not with
                                 PROF_FREESTANDING */
    uint64_t start_unix_ns;   /* start_unix PROF_START_UNIX: recording begins at this Unix time, so that processes begin
                                 together; at once if it has passed. Nanoseconds, or "1767225600s" as text */
    uint64_t duration_ns;     /* duration PROF_DURATION: recording ends that long after it began, and output is written
                                 then; as text with its unit, "10s"; default 0: it ends with prof_stop() */
    uint64_t warmup_steps;    /* warmup_steps PROF_WARMUP_STEPS: recording begins with the step after that many
                                 PROFILE_STEPs */
    uint64_t warmup_frames;   /* warmup_frames PROF_WARMUP_FRAMES: recording begins with the PROFILE_FRAME of this
                                 number, from 1 on. Set only one of the two. Steps or frames with the name that comes
                                 first count, on all threads, from the end of the delay on */
    const char *rank;         /* rank PROF_RANK: what %r stands for, up to 63 bytes; default: the number of the process
                                 that its launcher (MPI, Slurm, torchrun, ...) has put into the environment, else 0 */
    prof_existing existing;   /* existing PROF_EXISTING: what happens to an older file of output's name: "auto",
                                 "replace", "number" or "refuse" */
    int no_sync;              /* no_sync PROF_NO_SYNC: 1: PROFILE_SYNC and PROFILE_SCOPE_SYNC do not wait */
    uint32_t filter_mask;     /* filter_mask PROF_FILTER_MASK: PROFILE_SCOPE_MASK(name, mask) is on if its mask has one
                                 of these bits; as text also "0xff"; default 0, all of them */
    int no_devices;           /* no_devices PROF_NO_DEVICES: 1: what devices report is not recorded */
    const char *layout;       /* layout PROF_LAYOUT: output is this report of prof_report.h, whatever its extension:
                                 "mxnet", "json", "cntk", "cntk-detail", "domains", "histogram" or "paths"; "cntk" and a
                                 directory, "profiler/": both of CNTK's files; PROF_LAYOUT=cntk alone starts a recording
                                 to that one. Default: the extension decides */
    uint32_t private_keys;    /* what keys of other systems have asked for, so that a later one can undo it */
    double save_last;         /* deprecated: seconds, for save_last_ns, which wins */
    double save_every;        /* deprecated: seconds, for save_every_ns, which wins */
} prof_config;

/* One key of prof_config_set(). All texts are static. */
typedef struct prof_option {
    const char *key;
    const char *type;       /* "text", "size", "choice", "number", "time", "signal", "switch" or "mask" */
    const char *values;     /* the valid values */
    const char *standard;   /* the default; "": none */
    const char *meaning;
    const char *system;     /* "": prof's own; or "CNTK", "MXNet", "TensorFlow", "JAX", "Neuron" */
    const char *native_key; /* for a key of another system: the key of prof that it sets; "": none */
    char environment[40];   /* "PROF_BUFFER"; "": none */
} prof_option;

/* A call site: one static record for each use of a macro. Fields that begin with private_ belong to the recorder, the
   others are constant. In C++ all modules share the static variables of an inline function, which would keep a plugin
   with such a function from being unloaded, unless the type of the variables is hidden. */
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
    uint32_t unmask; /* the bits that the mask of PROFILE_SCOPE_MASK lacks; 0: it has all, as for every other macro */
} prof_site;

typedef struct prof_fiber prof_fiber; /* a track of its own: see prof_fiber_create() */
#define PROF_FIBER_SIZE 640           /* bytes */

/* see >>objects */
typedef struct prof_domain prof_domain;
typedef struct prof_task prof_task;
typedef struct prof_frame prof_frame;
typedef struct prof_range prof_range;
typedef struct prof_counter prof_counter;
typedef struct prof_marker prof_marker;

typedef enum prof_mark_reach { /* what an instant is about */
    PROF_MARK_THREAD = 0,      /* its thread */
    PROF_MARK_GLOBAL,          /* all processes */
    PROF_MARK_PROCESS,
    PROF_MARK_TASK,
    PROF_MARK_MARKER,          /* the point alone */
    PROF_MARK_REACH_COUNT
} prof_mark_reach;

/*-- VALUES ---------------------------------------------------------------------------------------------- >>values --*/

typedef struct prof_trace prof_trace; /* see prof_read.h */

/* What a call site records, besides the kind of event. */
typedef enum prof_role {
    PROF_ROLE_NONE = 0,
    PROF_ROLE_STEP,         /* a scope that is one step of a loop; its argument step_num is the number */
    PROF_ROLE_THROUGHPUT,   /* a scope that moved data; its argument bytes says how much */
    PROF_ROLE_SYNC,         /* a scope that waits for a device before it ends */
    PROF_ROLE_MARK_GLOBAL,  /* an instant that concerns all processes */
    PROF_ROLE_MARK_PROCESS, /* an instant that concerns this process */
    PROF_ROLE_MARK_TASK,    /* an instant that concerns a task */
    PROF_ROLE_MARK_MARKER,  /* an instant that concerns the point alone; without a role, its thread */
    PROF_ROLE_TASK,         /* a span, or scope, of prof_task_create() */
    PROF_ROLE_DEVICE,       /* events of a device; its name is their category */
    PROF_ROLE_FRAME,        /* a span of prof_frame_create() */
    PROF_ROLE_MEMORY,       /* a PROFILE_MEMORY_SCOPE, PROFILE_ALLOC or PROFILE_FREE */
    PROF_ROLE_LOCK,         /* a PROFILE_LOCK_WAIT, _ACQUIRE or _RELEASE */
    PROF_ROLE_RANGE,        /* a scope of prof_range_create() */
    PROF_ROLE_COUNT
} prof_role;

/* The type of a value. */
typedef enum prof_value_type {
    PROF_VALUE_NONE = 0,
    PROF_VALUE_INT,      /* signed */
    PROF_VALUE_UINT,     /* unsigned */
    PROF_VALUE_DOUBLE,   /* IEEE 754 */
    PROF_VALUE_BOOL,     /* 0 or not */
    PROF_VALUE_POINTER,  /* an address */
    PROF_VALUE_STRING    /* text */
} prof_value_type;

typedef struct prof_value {
    prof_value_type type;
    int cut; /* 1: the string was longer than PROF_MAX_TEXT, and its end is missing */
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
} prof_arg;

typedef uint64_t prof_scope; /* a handle of PROFILE_SCOPE_AS(); 0: the scope is off */

/* The types of events. Those from PROF_EVENT_SPAN_BEGIN on are instants on the track of their thread, with an object. A
   PROF_EVENT_SPAN_BEGIN is also the begin of a scope that ended after an enclosing one (in begin a, begin b, end a, end
   b: b): its site->kind is PROF__KIND_BEGIN, and statistics count it as a scope. Images hold these numbers: they never
   change. */
typedef enum prof_event_type {
    PROF_EVENT_SCOPE = 0,    /* duration_ns, depth, flags, args */
    PROF_EVENT_MARK,         /* an instant; args */
    PROF_EVENT_COUNTER,      /* value */
    PROF_EVENT_FRAME,        /* the boundary between two frames; duration_ns: since the boundary before, 0 for the
                                first; detail: the number of the frame that it ends, counted for each name and track
                                from 1 on, also those that a ring has overwritten; 0 for the first boundary */
    PROF_EVENT_LOST,         /* value.as.u scopes or other events could not be recorded before this point */
    PROF_EVENT_SPAN_BEGIN,   /* object: the span's id, the same for its begin and end, on any threads; args */
    PROF_EVENT_SPAN_MARK,    /* object: the span's id; args */
    PROF_EVENT_SPAN_END,     /* object: the span's id; args */
    PROF_EVENT_FLOW_OUT,     /* object: the flow's id; args. An arrow leads from the scope around it ... */
    PROF_EVENT_FLOW_STEP,    /* object: the flow's id; args */
    PROF_EVENT_FLOW_IN,      /* object: the flow's id; args. ... to the scope around this one */
    PROF_EVENT_ALLOC,        /* object: the address; detail: bytes */
    PROF_EVENT_FREE,         /* object: the address; detail: 1: of this pool, 2: it was freed some time ago */
    PROF_EVENT_LOCK_WAIT,    /* object: the lock's address; detail: 1: another thread had it */
    PROF_EVENT_LOCK_ACQUIRE, /* object: the lock's address */
    PROF_EVENT_LOCK_RELEASE, /* object: the lock's address */
    PROF_EVENT_LOG,          /* detail: prof_severity, from 0 (debug) to 4 (fatal); value: the message; args: its
                                values, without keys */
    PROF_EVENT_TYPE_COUNT
} prof_event_type;

/* The severity of a log message. Images hold these numbers. */
typedef enum prof_severity {
    PROF_LOG_DEBUG = 0, /* has level 3: not recorded unless asked for */
    PROF_LOG_INFO,      /* level 2 */
    PROF_LOG_WARNING,   /* level 1, like the next two */
    PROF_LOG_ERROR,
    PROF_LOG_FATAL      /* is only recorded: the program goes on */
} prof_severity;

/*-- CONTROL ---------------------------------------------------------------------------------------------- >>control --
   Any thread may call these functions at any time; in a signal handler, only prof_save_request() may be called.
   Pauses, level, mask and categories belong to the session: without one these functions return PROF_INVALID_STATE, and
   each session begins with those of its config. With PROF_ENABLE=0 each function succeeds and does
   nothing, so that the program runs on: it is the constant PROF_OK, evaluates no argument and needs no implementation
   to link. Questions get the answer that nothing was recorded: prof_enabled() is 0, texts are "". What is created is
   not NULL, and means nothing. */
#if PROF_ENABLE

/* Starts a session. config may be NULL. Discards what an earlier session left in memory. Returns PROF_INVALID_STATE if
   a session is running, also one that PROF_OUTPUT started, or has ended by itself and prof_stop() was not called yet:
   if two threads call it at once, the second gets this. Returns PROF_INVALID_ARGUMENT or PROF_UNSUPPORTED for a wrong
   field of config, PROF_IO or PROF_NO_MEMORY if there is no file or memory for the buffer. */
PROF__API prof_status prof_start(const prof_config *config);

/* Ends the session and writes config.output. Scopes that are still open are marked as truncated. The recorded events
   stay readable with prof_trace_open_live() and prof_save() until the next prof_start(). Returns PROF_INVALID_STATE
   without a session, and what failed if output could not be written, or if a full disk has cost events: the session has
   ended all the same. */
PROF__API prof_status prof_stop(void);

/* Pause and resume recording. They nest: recording goes on after as many resumes as pauses; one more resume is
   PROF_INVALID_STATE. Scopes that are open at a pause get their ends. */
PROF__API prof_status prof_pause(void);
PROF__API prof_status prof_resume(void);

/* Returns 1 while a session records: it runs, is not paused, has begun (delay, warm-up), and has not ended by itself
   (duration). prof_enabled_at() also requires that the session's level includes this one. */
PROF__API int prof_enabled(void);
PROF__API int prof_enabled_at(int level);

/* Turns off all call sites with a level above this. 0 turns all sites off, 255 none. */
PROF__API prof_status prof_set_level(int level);

/* Turns off PROFILE_SCOPE_MASK sites whose mask has none of these bits. 0 means all bits, as in prof_config. */
PROF__API prof_status prof_set_filter_mask(uint32_t mask);

/* Turns on or off the categories that match pattern: a name in which * stands for any text and ? for one character. The
   last call that matches decides; "*" discards all earlier calls. Categories that no call matches are on, unless the
   first call turns something on: then they are off. Sites without a category have the category "".
   PROFILE_ALLOC and the like also have the category "memory", which decides if no call matches their own: "-memory"
   turns all of them off. Up to 64 rules of up
   to 47 bytes; one more is PROF_NO_MEMORY. */
PROF__API prof_status prof_category_enable(const char *pattern, int on);

/* Sets one field of config from text. key: see prof_config. If the field is a string, keeps the pointer value, not a
   copy. Returns PROF_INVALID_ARGUMENT for an unknown key or an invalid value: prof_error() names the nearest known key,
   or the valid values. */
PROF__API prof_status prof_config_set(prof_config *config, const char *key, const char *value);

/* Sets the fields that PROF_ variables of the environment name; prof_start() itself reads none of them. Returns
   PROF_INVALID_ARGUMENT for a wrong value and for a variable that looks like a misspelt key; prof_error() names it. Not
   with PROF_FREESTANDING. */
PROF__API prof_status prof_config_from_env(prof_config *config);

/* Describes the key with this index, prof's own keys first, then those of other systems. Returns 0 after the last. */
PROF__API int prof_config_describe(size_t index, prof_option *option);

/* Passes keys that begin with prefix, and are not prof's own, to claim(), for example those of a device ("gpu_").
   prof_config_set() returns what claim() returns; prof_error() then has the text of a function of prof that failed in
   claim(), if there was one. The longest prefix decides. claim NULL: ends this. prefix: up to 31 bytes, copied; up to
   16 prefixes at a time. */
PROF__API prof_status prof_config_claim(
    const char *prefix, prof_status (*claim)(void *user, const char *key, const char *value), void *user);
/* Adds a fact about the run to the trace: host, version, parameters. Facts stay for later sessions, too, until
   prof_clear_metadata(). Copies both. A key has one value, the latest. All have up to 4096 bytes; more is
   PROF_NO_MEMORY. The summary and exporters show them. "role" is a part of the process's name where several processes
   are shown. */
PROF__API prof_status prof_set_metadata(const char *key, const char *value);
PROF__API prof_status prof_clear_metadata(void);

/* Sets the function that waits until a device has done its work. PROFILE_SYNC() and PROFILE_SCOPE_SYNC() call it, on
   their thread, while they record. It may have scopes of its own. NULL removes it. The function must stay in memory
   until no thread runs it. */
PROF__API prof_status prof_set_sync(void (*sync)(void *user), void *user);

/* Writes what has been recorded so far to path, in the format of its extension (.prof: the image itself). Recording
   goes on meanwhile. Creates the directories of path, which may have %p and so on as output. Returns
   PROF_INVALID_ARGUMENT if no writer has the extension, PROF_INVALID_STATE if nothing was recorded, PROF_IO if path
   cannot be written, or if PROF_STREAM has lost events to a full disk: then path has what was kept. */
PROF__API prof_status prof_save(const char *path);

/* Writes only the last nanoseconds (more than 0), 5 * PROF_SECOND for example: see prof_trace_set_window(). A .prof
   file is as large as that of prof_save(), because scopes that were open all the time began long before; it opens with
   its window set. */
PROF__API prof_status prof_save_last_ns(const char *path, uint64_t last_ns);

/* Asks prof's thread to do what config.save says, within 10 ms or so. It only sets a flag, so that signal handlers may
   call it. Requests that come faster than files can be written become one. Returns PROF_INVALID_STATE, without a text
   in prof_error(), if no session with config.save is running. */
PROF__API prof_status prof_save_request(void);

/* Frees the memory of a stopped session. Not needed before a new prof_start() or at exit. Returns PROF_INVALID_STATE
   while a session runs. */
PROF__API prof_status prof_reset(void);

/* Creates a fiber: a track of its own for a coroutine, a job, a task, or a thread of a kernel, which runs on changing
   threads. See Fibers in the manual. name: copied, up to 63 bytes; may be NULL. Returns NULL if memory runs out. */
PROF__API prof_fiber *prof_fiber_create(const char *name); /* not PROF_FREESTANDING */

/* Creates a fiber in memory of yours: PROF_FIBER_SIZE bytes, 8-byte aligned, that stay until the fiber runs no more. */
PROF__API prof_fiber *prof_fiber_init(void *memory, const char *name);

/* Switches the calling thread to the track of this fiber, or, if it is NULL, to the thread's own track. */
PROF__API void prof_fiber_switch(prof_fiber *fiber);

/* Frees a fiber of prof_fiber_create(), which must not run on any thread any more. Does nothing for NULL. Scopes that
   are still open are marked as truncated. Not with PROF_FREESTANDING. */
PROF__API void prof_fiber_destroy(prof_fiber *fiber);

#ifdef PROF_FREESTANDING
/* Lets others use the part of the buffer that the state of an ended thread still has, and clears the state. Call it
   after the thread has ended, and not where PROF_MAY_WAIT() is 0. */
PROF__API void prof_cpu_state_end(void *state);
/* Copies the image while recording goes on; macros never wait for it. Free *image with PROF_RELEASE(). Needs
   PROF_ALLOCATE(): see the manual. */
PROF__API prof_status prof_snapshot(void **image, size_t *size);
/* With PROF_WITH_DRAIN: hands out what was recorded since the last call, while recording goes on. These are pieces of a
   .prof, each with its place in it; the memory need not hold the whole recording. write() returns PROF_OK, or why it
   failed: then prof_drain() returns that, and the next call tries again. Macros cannot use a chunk while it is handed
   out. Call it once more after prof_stop(), for the chunks that were in use until then. */
typedef prof_status prof_drain_write(void *user, uint64_t offset, const void *data, size_t size);
PROF__API prof_status prof_drain(prof_drain_write *write, void *user);
#endif

/* Explains a status in a few words; never NULL. The text is static. */
PROF__API const char *prof_status_text(prof_status status);
/* Returns the last failure of the calling thread in one line, for example "unknown key 'bufer': did you mean
   'buffer'?", or "" if there was none. Valid until the next call of the thread that fails. */
PROF__API const char *prof_error(void);
#endif

/*-- OBJECTS ---------------------------------------------------------------------------------------------- >>objects --
   Objects are for what macros cannot name in advance: names made at run time, and things that live in structures of
   the program. A handle may be created and destroyed at any time, whether a session runs or not, and serves every
   session; its strings are copied. All threads may use it at once; destroy it after its last use. What was recorded
   with it stays. Functions that create return NULL if memory runs out. All others accept a NULL handle and do nothing
   (prof_domain_enable: PROF_INVALID_ARGUMENT); a NULL domain means none. Functions that start, stop, set, add and mark
   are like macros: cheap while off, without a lock or an allocation, and allowed in signal handlers. Not with
   PROF_FREESTANDING. */
#if PROF_ENABLE

/* Creates a domain: a category whose name is known only at run time. The same name gives the same domain. It lives as
   long as the process. */
PROF__API prof_domain *prof_domain_create(const char *name);
PROF__API const char *prof_domain_name(const prof_domain *domain); /* "" for NULL */
/* Turns the category of exactly this name on or off, as the last rule of prof_category_enable() would, but without an
   effect on any other category. */
PROF__API prof_status prof_domain_enable(prof_domain *domain, int on);
/* Lists what prof_category_enable() may turn on and off: the names of all domains, and the categories, on or off, of
   the macros and devices that the program has used so far: up to 128 categories of together 4 KiB. Stores at most
   `capacity` names, which stay valid. Returns how many there are. */
PROF__API size_t prof_domain_list(const char **names, size_t capacity);

/* Creates a task: a span, see PROFILE_SPAN_BEGIN(), with an id of its own. It may start on one thread and stop on
   another, and overlap with others. If it is started again before it stops, it nests in itself: a stop ends the last
   start. For any other overlap create another task. */
PROF__API prof_task *prof_task_create(prof_domain *domain, const char *name);
PROF__API void prof_task_start(prof_task *task);
PROF__API void prof_task_stop(prof_task *task);
PROF__API void prof_task_destroy(prof_task *task);

/* Creates frames that have a begin and an end, with other work between two of them; PROFILE_FRAME() only marks the
   boundary between two frames. They are numbered from 1 on. A handle has one frame at a time: a start ends a frame that
   was not stopped. */
PROF__API prof_frame *prof_frame_create(prof_domain *domain, const char *name);
PROF__API void prof_frame_start(prof_frame *frame);
PROF__API void prof_frame_stop(prof_frame *frame);
PROF__API void prof_frame_destroy(prof_frame *frame);

/* Creates a scope like that of PROFILE_BEGIN(): it stops on the thread where it started, and may overlap with
   others. */
PROF__API prof_range *prof_range_create(const char *name);
PROF__API void prof_range_start(prof_range *range);
PROF__API void prof_range_stop(prof_range *range);
PROF__API void prof_range_destroy(prof_range *range);

/* Creates a counter. It starts at 0 and counts whether a session records or not; each change is a sample. At the end of
   its range (INT64_MIN, INT64_MAX) it saturates instead of wrapping. prof_counter_set_uint() makes it unsigned, with a
   range up to UINT64_MAX, until it is set or falls below 0. The first call of a _double function makes it
   floating-point; no other thread may use the counter during that call. _unit: with a unit, see PROFILE_COUNTER_UNIT();
   it is copied; NULL and "": none. */
PROF__API prof_counter *prof_counter_create(prof_domain *domain, const char *name);
PROF__API prof_counter *prof_counter_create_unit(prof_domain *domain, const char *name, const char *unit);
PROF__API void prof_counter_set(prof_counter *counter, int64_t value);
PROF__API void prof_counter_add(prof_counter *counter, int64_t delta);
PROF__API void prof_counter_sub(prof_counter *counter, int64_t delta);
PROF__API void prof_counter_set_uint(prof_counter *counter, uint64_t value);
PROF__API void prof_counter_set_double(prof_counter *counter, double value);
PROF__API void prof_counter_add_double(prof_counter *counter, double delta);
PROF__API void prof_counter_destroy(prof_counter *counter);

/* Creates a marker, which records an instant each time it is marked. */
PROF__API prof_marker *prof_marker_create(prof_domain *domain, const char *name);
PROF__API void prof_marker_mark(prof_marker *marker, prof_mark_reach reach);
PROF__API void prof_marker_destroy(prof_marker *marker);
#endif

/*-- WRITERS ---------------------------------------------------------------------------------------------- >>writers --
   Outputs of other formats than .prof have a writer. prof_read.h brings those of .csv and .txt, prof_chrome.h that of
   .json, prof_html.h that of .html. */

/* write returns 0, or anything else to stop: the writer then returns PROF_IO. */
typedef struct prof_sink {
    int (*write)(void *user, const void *data, size_t size);
    void *user;
} prof_sink;

/* A writer of a format, for outputs with an extension. write() gets what was recorded, and a sink for the bytes of the
   file, which replaces an older one when write() has returned PROF_OK. If it fails, the older file stays, and the
   function that saves returns its status, with the text of prof_fail(). It may be called on any thread. */
typedef struct prof_writer {
    const char *extension; /* ".mine", in lower case */
    prof_status (*write)(void *user, const prof_trace *trace, prof_sink sink);
    void *user;
    /* instead of write: makes its files itself. The extension "/" is a directory's */
    prof_status (*write_files)(const prof_trace *trace, const char *path);
    struct prof_writer *private_next;
} prof_writer;

/* Makes a writer and registers it before main, so that PROF_OUTPUT finds it: at file scope, in the file with
   PROF_IMPLEMENTATION, after the header. name: of the prof_writer. */
#if !PROF_ENABLE
#define PROF_WRITER(name, extension, write, user) \
    static PROF__UNUSED prof_writer name = {extension, write, user, NULL, NULL}
#elif defined(PROF_IMPLEMENTATION)
#define PROF_WRITER(name, extension, write, user)                          \
    static prof_writer name = {extension, write, user, NULL, NULL};        \
    PROF__AT_START(101, name##_register);                                  \
    static void name##_register(void) { prof_writer_register(&name); }     \
    PROF__WRITER_LEAVES(name)
#ifdef PROF__SHARED
#define PROF__WRITER_LEAVES(name)                                          \
    PROF__AT_END(101, name##_unregister);                                  \
    static void name##_unregister(void) { prof_writer_unregister(&name); } \
    struct prof_writer
#else
#define PROF__WRITER_LEAVES(name) struct prof_writer
#endif
#endif

#if PROF_ENABLE
/* Adds a writer, whose memory must stay until it is removed: before prof_start(), which looks for that of the output.
   Not for two threads at once. */
PROF__API void prof_writer_register(prof_writer *writer);
/* Sets the text of prof_error() and returns status: return prof_fail(PROF_UNSUPPORTED, "mine: no counters"). */
PROF__API prof_status prof_fail(prof_status status, const char *text);
/* Removes a writer. Call it before the library that has the writer's code is unloaded. Waits for a prof_stop() in
   progress. */
PROF__API void prof_writer_unregister(prof_writer *writer);
#endif

/*-- DEVICES ---------------------------------------------------------------------------------------------- >>devices --
   A device is a GPU, an NPU, a DMA engine or a network card, which works beside the processor and reports the times
   of its events itself. It has a clock and rows (a queue, a stream, an engine), and rows have events with times of that
   clock:

       prof_device *gpu = prof_device_create("gpu 0", NULL);
       prof_device_row *queue = prof_device_row_create(gpu, "compute");
       prof_device_sync(gpu, gpu_clock_now(), 0);             // now and then: the device's clock, and the host's now
       prof_device_scope(queue, "matmul", begin, end);        // any time later, from any thread, in any order

   Each row is a track after those of the threads, in order of the device's time. Scopes of a row nest if one lies
   within the other. Scopes that overlap go to further tracks, "compute #2" and so on up to 64; beyond that their ends
   are cut and marked PROF_TRUNCATED_END.

   Time. A pair holds what both clocks showed at the same moment. Between pairs time is interpolated along straight
   lines, so that drift is followed; beyond them it is extrapolated from the last second or, if that has no two pairs,
   from all pairs. Give one pair at least; better one before and one after the work, and one a second for long runs.
   prof_track.alignment says what a device had. Pairs outlive sessions: in the next session the device needs none to
   begin with. If the clock has fewer bits and wraps, record an event less than 15/16 of its period after the event's
   end, and give pairs less than a period apart, unless hz is given. A device whose clock is reset is another device,
   with another name.

   Category and level. The events of a device have its name as their category, for prof_category_enable(). They have no
   level: they are recorded at level 0, too. config.no_devices turns all of them off.
   Costs. An event takes some 300 instructions, 48 bytes and the name; an argument 24 bytes, its key and its text. If
   the buffer is full, the event counts as lost on the thread that recorded it. After a crash the events are in the file
   like all others. PROF_STATS keeps none. A trace takes some 100 bytes of memory for each event of a device. Not with
   PROF_FREESTANDING. */

typedef struct prof_device prof_device;         /* handles live as long as the process, and serve all its sessions */
typedef struct prof_device_row prof_device_row;

/* All zero means 64 bits that do not wrap, and a rate that pairs determine. */
typedef struct prof_device_clock {
    uint64_t hz;   /* ticks per second; 0: not known */
    unsigned bits; /* width of the counter, 1 to 64, if it wraps; 0 is 64 */
    int unix_time; /* 1: host_ns of prof_device_sync() is Unix time, not CLOCK_MONOTONIC */
} prof_device_clock;

#define PROF_DEVICE_ARGS 16 /* how many arguments of an event are kept */

/* An event with everything that it can have. Only name and times are needed for a scope; the rest may be zero. */
typedef struct prof_device_event {
    prof_event_type type; /* PROF_EVENT_SCOPE, _MARK or _COUNTER */
    const char *name;     /* copied, up to PROF_MAX_TEXT bytes, like all texts */
    uint64_t start, end;  /* ticks of the device; end: only of a scope. An end before the start means not known */
    prof_value value;     /* of a counter: INT or DOUBLE */
    uint64_t flow;        /* 0, or the id of a PROFILE_FLOW_OUT(id) on the host: an arrow leads from there to this
                             event */
    const prof_arg *args;
    uint32_t arg_count;
} prof_device_event;

#if PROF_ENABLE
/* Return the device of this name, or the row of this name. The first call with a name creates it, with this clock
   (NULL: all zero). They return NULL if memory runs out, name is NULL or empty, device is NULL, or bits is above 64.
   Any thread may call them, but no signal handler. */
PROF__API prof_device *prof_device_create(const char *name, const prof_device_clock *clock);
PROF__API prof_device_row *prof_device_row_create(prof_device *device, const char *name);
/* Adds a pair: ticks of the device, and host_ns of CLOCK_MONOTONIC (see prof_device_clock), 0: now; from any thread,
   whether a session runs or not. For the best pair read prof_host_ns() before and after the device's clock, several
   times, and give the middle of the two that were closest. */
PROF__API prof_status prof_device_sync(prof_device *device, uint64_t ticks, uint64_t host_ns);
PROF__API uint64_t prof_host_ns(void); /* CLOCK_MONOTONIC, like prof_trace_info.start_monotonic_ns */
/* Record an event of a row. Like macros, for any thread and signal handlers, at any time. Do nothing while nothing
   records, or with a NULL row. */
PROF__API void prof_device_scope(prof_device_row *row, const char *name, uint64_t start, uint64_t end);
PROF__API void prof_device_mark(prof_device_row *row, const char *name, uint64_t time);
PROF__API void prof_device_counter(prof_device_row *row, const char *name, uint64_t time, int64_t value);
PROF__API void prof_device_counter_double(prof_device_row *row, const char *name, uint64_t time, double value);
PROF__API void prof_device_record(prof_device_row *row, const prof_device_event *event);
#endif

/*-- MARKUP ------------------------------------------------------------------------------------------------ >>markup --
   name, category and key are string literals, constant arrays and, in C++, constexpr; anything else does not compile:
   use the _DYNAMIC and _F forms. The text of a _DYNAMIC or _S form may also be a std::string, std::string_view or the
   like. A scope is a declaration: `if (x) PROFILE_SCOPE("a");` needs braces, and so does each `case` in which a scope
   begins (in C, gcc says so only with -Wjump-misses-init: without braces later cases record ends that belong to
   nothing). category groups call sites for prof_category_enable() and viewers. level is 1 to 255. The defaults are
   PROF_CATEGORY and PROF_SITE_LEVEL. Every macro may be used in any function, any number of times, in signal handlers
   and in code that runs before main or after prof_stop(), and in headers, whatever the files that include them have.
   (In C an `inline` function that is not static has call sites of its own in each file; gcc warns of that.)
   No macro changes errno or allocates. A macro takes a lock only for a new call site or thread, or if a control
   function was called since its last use: usually for microseconds; after some tenths of a second it gives up, which
   loses that event.

     PROFILE_SCOPE(name)             a scope from here to the end of the block, on every way out of it
       _C(name, category)  _L(name, level)  _CL(name, category, level)
       _DYNAMIC(text)                a name made at run time: copied into the trace, up to PROF_MAX_TEXT bytes
       _F(format, ...)               a name formatted as by printf; neither formatted nor evaluated while off
       _COLOR(name, 0xRRGGBB)        a colour, for viewers that support it
       _MASK(name, mask)             on if config.filter_mask has one of the 32 bits of mask, a constant
       _TEXT(text, bytes)            a name made at run time that need not end with a zero: of these bytes, up to the
                                     first zero among them. Also PROFILE_MARK_TEXT(text, bytes),
                                     PROFILE_ARG_TEXT(key, text, bytes), PROFILE_ARG_TO_TEXT(handle, key, text, bytes)
                                     and PROFILE_THREAD_TEXT(text, bytes); for messages, PROFILE_LOG(severity, "%.*s")
     PROFILE_FUNCTION()              a scope named after the function; _C(category) _L(level)
     PROFILE_SCOPE_SYNC(name)        a scope that waits for the device, by prof_set_sync()'s function, before its end
     PROFILE_SYNC()                  waits for the device, and records nothing by itself
     PROFILE_BLOCK(name) { ... }     a scope with its own block; _C _L. Leave the block early only by return or goto: a
                                     break or continue acts on the block itself, unless PROF_ENABLE is 0. With neither
                                     C++ nor the cleanup attribute, leaving early leaves the scope open
     PROFILE_BEGIN(name)             begins a scope without a block, which PROFILE_END(name) on the same thread ends; _C
                                     _L. For more than 32 that are open on a thread, memory is mapped, for up to 500,000
                                     (on Windows, under WASI and freestanding 32 are the most)
     PROFILE_END(name)               ends the newest open scope of PROFILE_BEGIN(name), and what is open in it; _C _L.
                                     Without a begin it does nothing. A scope that ends after an enclosing one is a span
                                     for readers, see PROF_EVENT_SPAN_BEGIN
     PROFILE_STAGE(name)             begins a scope, the first of stages that follow one another; the last of them ends
                                     with the block
     PROFILE_NEXT(name)              ends the stage before, in the same block or one around it, and begins the next one,
                                     with one clock read for both
     PROFILE_MARK(name)              an instant; _C _L _DYNAMIC(text) _F(format, ...)
     PROFILE_FRAME(name)             the boundary between two frames; each name has a track of frames, numbered from 1
                                     on for each thread. They keep their numbers if a ring overwrites the first ones
     PROFILE_MARK_REACH(name, reach) an instant that concerns more than its thread: a prof_mark_reach, a constant
     PROFILE_SPAN_BEGIN(name, id)    begins a span: something that takes time, such as a request. It may end on another
                                     thread, and overlap others in any way; id: an integer (uint64_t); _C
     PROFILE_SPAN_MARK(name, id)     an instant of the open span of this name and id; _C
     PROFILE_SPAN_END(name, id)      ends the newest open span of this name and id; _C. If only one of begin and end was
                                     on, the span is marked as truncated, and counted
     PROFILE_COUNTER(name, value)    a sample of an integer (int64_t, uint64_t) or a double; _C _L
       _UNIT(name, value, unit)      with the unit that outputs show, a string literal; the default is PROF_UNIT. Bytes
                                     ("B", "bytes") are shown as sizes, "s" "ms" "us" "ns" as times; any other unit, "%"
                                     or "MHz", is put after the number. A name says nothing about a unit
     PROFILE_COUNTER_ADD(name, delta)   adds to a number, and samples it; _C _UNIT. ADD, SUB and SET of one name,
                                     category and unit share the number. It also counts while nothing is recorded, which
                                     then costs some 5 ns. It saturates, see prof_counter. Up to 1024 names
     PROFILE_COUNTER_SUB(name, delta)   subtracts from the number of PROFILE_COUNTER_ADD; _C _UNIT
     PROFILE_COUNTER_SET(name, value)   sets the number of PROFILE_COUNTER_ADD; _C _UNIT
     PROFILE_ARG(key, value)         an argument of the innermost scope of this thread, dropped while that is off: any
                                     integer, floating-point number, bool, pointer or C string (C11, C++); in C++ also
                                     enum class, std::string and std::string_view. In C99 name the type:
       _I int64_t  _U uint64_t  _D double  _B bool  _S string, copied  _P pointer
     PROFILE_SCOPE_AS(handle, name)  a scope with a handle (a prof_scope), which the macro declares; _C _L _CL
     PROFILE_ARG_TO(handle, key, value)   an argument of that scope, also from inner scopes; not recorded while it is
       _I  _U  _D  _B  _S  _P        off. In C99 name the type. key may be made at run time
     PROFILE_ARGS(PROF_ARG(key, value), ...)   several arguments, whose keys may be made at run time, of the scope that
                                     PROFILE_ARG adds to; in C99 PROF_ARG_I and so on. Also PROFILE_ARGS_TO(handle, ...)
     PROFILE_MARK_ARGS(name, PROF_ARG(key, value), ...)   an instant with arguments; so are those of spans and flows,
                                     PROFILE_SPAN_BEGIN_ARGS(name, id, ...) for example
     PROFILE_TASK_START_ARGS(task, PROF_ARG(key, value), ...)   prof_task_start() with arguments
     PROFILE_TASK_STOP_ARGS(task, PROF_ARG(key, value), ...)   prof_task_stop() with arguments
     PROFILE_STEP(name, number)      a scope that is one step of a loop: number (int64_t) is its argument "step_num"
     PROFILE_THROUGHPUT(name, bytes) a scope that moves data: bytes (uint64_t) is its argument; reports have MB/s, 10^6
                                     bytes. min_duration does not remove either of the two. Both have _DYNAMIC
     PROFILE_FLOW_OUT(id)            begins a flow: an arrow from the enclosing scope to those of PROFILE_FLOW_STEP(id)
                                     and PROFILE_FLOW_IN(id), in order of time, on any threads. id: any uint64_t, for
                                     example of prof_flow_new(); _NAMED(name, id): a flow with a name of its own
     PROFILE_FLOW_STEP(id)           leads the flow's arrow through the enclosing scope; _NAMED
     PROFILE_FLOW_IN(id)             ends the flow's arrow in the enclosing scope; _NAMED
     PROFILE_LOG(severity, format, ...)   a message, formatted as by printf, but only when it is read: its arguments are
                                     copied, also strings. severity: PROF_LOG_DEBUG, _INFO, _WARNING, _ERROR, _FATAL; it
                                     sets the level. %n, %m, %ls and %lc do not work: the text says so. Up to 16 values
     PROFILE_THREAD(name)            names the thread: any string, copied, up to 63 bytes

     PROFILE_ALLOC(pointer, bytes)   put it after an allocation; _POOL(pointer, bytes, pool)
     PROFILE_FREE(pointer)           put it before a free; _POOL(pointer, pool)
     PROFILE_REALLOC(old, pointer, bytes)   put it after a realloc; _POOL(old, pointer, bytes, pool). Keep old as a
                                     uintptr_t, because the old pointer must not be used any more
     PROFILE_MEMORY_SCOPE(name)      a scope under whose name the allocations of this thread in it count; _DYNAMIC(text)
     PROFILE_LOCK_WAIT(lock, name)   put it before a lock call that may have to wait; lock: any address
     PROFILE_LOCK_ACQUIRE(lock, name)  put it after the lock call
     PROFILE_LOCK_RELEASE(lock, name)  put it before the unlock call
     PROFILE_MUTEX_LOCK(mutex, name) calls pthread_mutex_lock() and returns its value, with these three; a wait is a
                                     scope "wait for name"
     PROFILE_MUTEX_UNLOCK(mutex)     calls pthread_mutex_unlock()
     PROFILE_CRITICAL_SECTION_ENTER(section, name), PROFILE_CRITICAL_SECTION_LEAVE(section)   the same for locks of
                                     Windows, in windows.h; name: a string literal
     PROFILE_SRWLOCK_ACQUIRE(lock, name), PROFILE_SRWLOCK_RELEASE(lock)   likewise; _SHARED: for readers */

enum { /* the kinds of records, see >>kinds: src/kinds.sh makes these lines */
    PROF__KIND_NONE = 0,
    PROF__KIND_BEGIN,
    PROF__KIND_END,
    PROF__KIND_MARK,
    PROF__KIND_COUNTER_INT,
    PROF__KIND_COUNTER_DOUBLE,
    PROF__KIND_FRAME,
    PROF__KIND_ARG,
    PROF__KIND_NAME,
    PROF__KIND_TRACK,
    PROF__KIND_LOST,
    PROF__KIND_EVENT,
    PROF__KIND_DATA,
    PROF__KIND_COUNTER_UINT
};
#define PROF__ROLE_SHIFT 4 /* a site's kind: PROF__KIND_... | PROF_ROLE_... << PROF__ROLE_SHIFT */
#define PROF__KIND_UNIT 0x8000 /* or this as well: a counter, whose unit stands behind the file's name and its zero */

#define PROF__EVENT_DETAIL_MAX ((1ull << 56) - 1)
#define PROF__FREE_IN_POOL 1u /* a FREE: the block belongs to this pool */
#define PROF__FREE_LATE 2u    /* a FREE: the block was freed some time ago; another thread may have it meanwhile */

#if PROF_ENABLE
typedef uint64_t prof__token; /* what a begin passes to its end; 0: nothing was recorded */

extern PROF_DEF uint32_t prof__config_version[];
PROF__API int prof__check(prof_site *site);
PROF__API prof__token prof__begin(prof_site *site);
PROF__API prof__token prof__begin_text(prof_site *site, const char *text);
PROF__API prof__token prof__begin_format(prof_site *site, const char *format, ...) PROF__PRINTF(2, 3);
PROF__API void prof__end(prof__token token);
PROF__API void prof__end_sync(prof__token token);
PROF__API void prof__sync(void);
PROF__API prof__token prof__next(prof_site *site, prof__token token);
PROF__API void prof__begin_unscoped(prof_site *site);
PROF__API void prof__end_unscoped(prof_site *site);
PROF__API void prof__mark(prof_site *site);
PROF__API void prof__mark_text(prof_site *site, const char *text);
PROF__API void prof__mark_format(prof_site *site, const char *format, ...) PROF__PRINTF(2, 3);
PROF__API void prof__frame(prof_site *site);
/* Records an EVENT of a site: type is a prof_event_type, detail at most PROF__EVENT_DETAIL_MAX. */
PROF__API void prof__event(prof_site *site, uint64_t type, uint64_t detail, uint64_t object);
/* Begins a scope that has an argument at once; type: PROF_VALUE_INT or PROF_VALUE_UINT. */
PROF__API prof__token prof__begin_number(prof_site *site, prof_site *key, uint64_t type, uint64_t number);
PROF__API uint64_t prof_flow_new(void); /* returns an id that no other call returns, also not in a child of fork() */
/* The values that a format takes. */
typedef struct PROF__SITE_TYPE prof__log_format { uint32_t known; unsigned char codes[36]; } prof__log_format;
PROF__API void prof__log(prof_site *site, prof__log_format *known, uint64_t severity, const char *format, ...)
    PROF__PRINTF(4, 5);
/* The number behind a counter; NULL: not looked up yet. */
typedef struct PROF__SITE_TYPE prof__number { struct prof__shared_counter *shared; } prof__number;
enum { PROF__COUNT_SET, PROF__COUNT_ADD, PROF__COUNT_SUB };
PROF__API void prof__count_int(prof_site *site, prof__number *number, int how, int64_t value);
PROF__API void prof__count_uint(prof_site *site, prof__number *number, int how, uint64_t value);
PROF__API void prof__count_double(prof_site *site, prof__number *number, int how, double value);
/* Records a FREE of one address, with the flags `how`, and an ALLOC of another, with the same time; an address of 0:
   none. */
PROF__API void prof__memory(prof_site *site, uint64_t how, uint64_t freed, uint64_t address, uint64_t bytes);
PROF__API int prof__mutex_lock(prof_site *wait, prof_site *event, void *mutex);
PROF__API void prof__counter_int(prof_site *site, int64_t value);
PROF__API void prof__counter_uint(prof_site *site, uint64_t value);
PROF__API void prof__counter_double(prof_site *site, double value);
PROF__API void prof__arg_int(prof_site *site, int64_t value);
PROF__API void prof__arg_uint(prof_site *site, uint64_t value);
PROF__API void prof__arg_double(prof_site *site, double value);
PROF__API void prof__arg_bool(prof_site *site, int value);
PROF__API void prof__arg_pointer(prof_site *site, const volatile void *value);
PROF__API void prof__arg_string(prof_site *site, const char *value);
/* Of texts with a length, which need not end with a zero. */
PROF__API prof__token prof__begin_part(prof_site *site, const char *text, size_t bytes);
PROF__API void prof__mark_part(prof_site *site, const char *text, size_t bytes);
PROF__API void prof__arg_part(prof_site *site, const char *text, size_t bytes);
PROF__API void prof__arg_part_to(prof_scope scope, const char *key, const char *text, size_t bytes);
PROF__API void prof__thread_part(const char *text, size_t bytes);
/* Records a list of arguments, all or, if the buffer is full, none. They belong to a new MARK of the site; or to a new
   EVENT of it, of this prof_event_type; or, without a site, to the task that object points to. PROF_EVENT_SCOPE: with a
   site, to the innermost scope, else to the scope whose handle object is. */
PROF__API void prof__with(prof_site *site, uint64_t type, uint64_t object, const prof_arg *args, uint32_t count);
/* Pointers may be numbers, for example addresses on a device. */
#define PROF__ADDRESS(pointer) PROF__TO(uint64_t, PROF__TO(uintptr_t, pointer))
#define PROF__MADE_OF(name, c_type, tag, member) \
    static inline PROF__UNTRACED prof_arg prof__made_##name(const char *key, c_type value) \
    { prof_arg arg; arg.key = key; arg.value.type = tag; arg.value.cut = 0; arg.value.as.member; return arg; }
#ifdef PROF__NO_DOUBLE
#define PROF__UNLESS_NO_DOUBLE(...)
#else
#define PROF__UNLESS_NO_DOUBLE(...) __VA_ARGS__
#endif
#define PROF__MADE \
    PROF__MADE_OF(int, int64_t, PROF_VALUE_INT, i = value) PROF__MADE_OF(uint, uint64_t, PROF_VALUE_UINT, u = value) \
    PROF__UNLESS_NO_DOUBLE(PROF__MADE_OF(double, double, PROF_VALUE_DOUBLE, d = value)) \
    PROF__MADE_OF(bool, int, PROF_VALUE_BOOL, u = value != 0) \
    PROF__MADE_OF(string, const char *, PROF_VALUE_STRING, string = value) \
    PROF__MADE_OF(pointer, const volatile void *, PROF_VALUE_POINTER, u = PROF__ADDRESS(value))
PROF__MADE
PROF__API void prof_set_thread_name(const char *name); /* NULL: back to the system's name */

#define PROF__OFF 0x80000000u

/* The state of a site is valid for one config version of the control state. Its low half equals the config version (the
   site is on), differs from it in the top bit (off), or is out of date: then the slow path updates it. */
#if defined(__GNUC__)
typedef uint32_t __attribute__((__may_alias__)) prof__half;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define PROF__LOW_HALF 1
#else
#define PROF__LOW_HALF 0
#endif
#ifdef __cplusplus
#define PROF__HALVES(word) reinterpret_cast<const prof__half *>(word)
#else
#define PROF__HALVES(word) ((const prof__half *)(word))
#endif
#define PROF__STATE(site)                                                                                  \
    (__atomic_load_n(PROF__HALVES(&(site)->private_state) + PROF__LOW_HALF, __ATOMIC_RELAXED) ^             \
     __atomic_load_n(prof__config_version, __ATOMIC_RELAXED))
#else
#define PROF__STATE(site) \
    ((uint32_t) * (const volatile uint64_t *)&(site)->private_state ^ *(const volatile uint32_t *)prof__config_version)
#endif
#ifndef PROF_ANY_ON
#define PROF_ANY_ON() 1 /* see Freestanding in the manual */
#endif
static inline PROF__UNTRACED int prof__on(const prof_site *site) /* 1: on, or not known yet */
{
    return PROF_ANY_ON() && PROF__STATE(site) != PROF__OFF;
}
/* For macros with arguments, which are evaluated only while the site is on. */
static inline PROF__UNTRACED int prof__live(prof_site *site)
{
    uint32_t state = PROF_ANY_ON() ? PROF__STATE(site) : PROF__OFF;
    return PROF__LIKELY(!state) || (state != PROF__OFF && prof__check(site));
}

#ifdef __cplusplus
extern "C++" { /* also in a header that is included in extern "C" { } */
#ifdef PROF_STATIC /* otherwise types of the program, such as the frame of a coroutine, may contain it */
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
#define PROF__TEMPLATE template <typename Any> PROF__HIDDEN PROF__UNTRACED inline
#define PROF__ARGS \
    PROF__ARG_OF(bool, prof__arg_bool, value) \
    PROF__UNLESS_NO_DOUBLE(PROF__ARG_OF(double, prof__arg_double, value)) \
    PROF__UNLESS_NO_DOUBLE(PROF__ARG_OF(float, prof__arg_double, static_cast<double>(value))) \
    PROF__ARG_OF(int, prof__arg_int, value) PROF__ARG_OF(long, prof__arg_int, value) \
    PROF__ARG_OF(long long, prof__arg_int, value) PROF__ARG_OF(unsigned, prof__arg_uint, value) \
    PROF__ARG_OF(unsigned long, prof__arg_uint, value) PROF__ARG_OF(unsigned long long, prof__arg_uint, value) \
    PROF__UNLESS_NO_DOUBLE(PROF__ARG_OF(long double, prof__arg_double, static_cast<double>(value))) \
    PROF__ARG_OF(const char *, prof__arg_string, value) PROF__ARG_OF(const volatile void *, prof__arg_pointer, value)
/* Texts of classes: std::string and all others with a c_str() of char; std::string_view and all others with data() of
   char and size(), as a copy, because no zero needs to follow. And enumerations, also enum class. */
#define PROF__TEXTS \
    template <typename Any, bool> struct prof__enum_if {}; \
    template <typename Any> struct prof__enum_if<Any, true> { typedef void type; }; \
    template <typename Any> struct prof__enum : prof__enum_if<Any, __is_enum(Any)> {}; \
    template <typename Any> struct PROF__HIDDEN prof__copy_of { \
        char text[PROF_MAX_TEXT + 2]; operator const char *() const { return text; } \
        PROF__UNTRACED explicit prof__copy_of(const Any &from) { \
            size_t size = from.size() < sizeof text ? from.size() : sizeof text - 1; \
            for (size_t i = 0; i < size; ++i) text[i] = from.data()[i]; \
            text[size] = 0; } }; \
    PROF__TEMPLATE auto prof__chars_of(const Any &text, int) -> decltype(static_cast<const char *>(text.c_str())) \
    { return text.c_str(); } \
    PROF__TEMPLATE auto prof__chars_of(const Any &text, long) \
        -> decltype(static_cast<const char *>(text.data()), text.size(), prof__copy_of<Any>(text)) \
    { return prof__copy_of<Any>(text); } \
    PROF__HIDDEN PROF__UNTRACED inline const char *prof__chars(const char *text) { return text; } \
    PROF__TEMPLATE auto prof__chars(const Any &text) -> decltype(prof__chars_of(text, 0)) \
    { return prof__chars_of(text, 0); } \
    PROF__TEMPLATE auto prof__arg(prof_site *site, const Any &text) \
        -> decltype(static_cast<void>(prof__chars_of(text, 0))) \
    { prof__arg_string(site, prof__chars_of(text, 0)); } \
    PROF__TEMPLATE typename prof__enum<Any>::type prof__arg(prof_site *site, Any value) \
    { prof__arg(site, static_cast<__underlying_type(Any)>(value)); }
/* For PROF__CONSTANT, which refuses arrays that are not constant: they usually hold names made at run time. */
#define PROF__GIVEN \
    PROF__HIDDEN PROF__UNTRACED constexpr bool prof__given(const char *text) { return text != nullptr; } \
    template <size_t size> bool prof__given(char (&text)[size]);
/* Lists of arguments. The text of a class, or its copy, lives until the list has been recorded. */
#define PROF__MADE_AS(type, name) \
    PROF__HIDDEN PROF__UNTRACED inline type prof__plain(type value) { return value; } \
    PROF__HIDDEN PROF__UNTRACED inline prof_arg prof__made(const char *key, type value) \
    { return prof__made_##name(key, value); }
#define PROF__PLAIN_DOUBLE(type) \
    PROF__HIDDEN PROF__UNTRACED inline double prof__plain(type value) { return static_cast<double>(value); }
#define PROF__LISTS \
    PROF__MADE_AS(bool, bool) PROF__UNLESS_NO_DOUBLE(PROF__MADE_AS(double, double)) PROF__MADE_AS(int, int) \
    PROF__MADE_AS(long, int) PROF__MADE_AS(long long, int) PROF__MADE_AS(unsigned, uint) \
    PROF__MADE_AS(unsigned long, uint) \
    PROF__MADE_AS(unsigned long long, uint) PROF__MADE_AS(const char *, string) \
    PROF__MADE_AS(const volatile void *, pointer) \
    PROF__UNLESS_NO_DOUBLE(PROF__PLAIN_DOUBLE(float) PROF__PLAIN_DOUBLE(long double)) \
    PROF__TEMPLATE auto prof__plain(const Any &text) -> decltype(prof__chars_of(text, 0)) \
    { return prof__chars_of(text, 0); } \
    template <typename Any, typename = typename prof__enum<Any>::type> PROF__HIDDEN PROF__UNTRACED \
    inline long long prof__plain(Any value) \
    { return static_cast<long long>(value); } \
    template <typename... Any> PROF__HIDDEN PROF__UNTRACED inline \
    void prof__with_all(prof_site *site, uint64_t type, uint64_t object, const Any &...args) { \
        const prof_arg list[] = {args...}; \
        prof__with(site, type, object, list, static_cast<uint32_t>(sizeof...(args))); }
PROF__ARGS PROF__TEXTS PROF__GIVEN PROF__LISTS
} /* extern "C++" */
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

#if defined(__cplusplus) && PROF_ENABLE /* also takes std::string and the like */
#define PROF__TEXT(text) prof__chars(text)
#else
#define PROF__TEXT(text) text
#endif
#define PROF__JOIN_(a, b) a##b
#define PROF__JOIN(a, b) PROF__JOIN_(a, b)
/* To Microsoft's preprocessor (without /Zc:preprocessor, which C++ does not ask for), __VA_ARGS__ is one argument of
   another macro, until it is read again. */
#define PROF__AGAIN(x) x
#define PROF__FIRST_(a, ...) a
#define PROF__FIRST(...) PROF__AGAIN(PROF__FIRST_(__VA_ARGS__, 0))
/* Uses x for the compiler, but evaluates nothing and leaves no instruction at any level of optimisation. */
#define PROF__USE(x) (0 ? (void)(x) : (void)0)
#define PROF__USE2(x, y) (0 ? (void)(x) : PROF__USE(y))
#define PROF__USE3(x, y, z) (0 ? (void)(x) : PROF__USE2(y, z))
#define PROF__USE4(w, x, y, z) (0 ? (void)(w) : PROF__USE3(x, y, z))
#define PROF__USE5(v, w, x, y, z) (0 ? (void)(v) : PROF__USE4(w, x, y, z))

/* Does the same as a declaration, which a live scope is, too (see -Wdeclaration-after-statement). */
#if defined(__GNUC__)
#define PROF__GONE(...) PROF__AGAIN(PROF__GONE_(__VA_ARGS__))
#define PROF__GONE_(id, ...) typedef __attribute__((__unused__)) char prof__gone_##id[1 + 0 * sizeof(__VA_ARGS__)]
#else
#define PROF__GONE(id, ...) (void)sizeof(__VA_ARGS__)
#endif

/* The one switch between the live and the stripped API. */
#if PROF_ENABLE
#define PROF__EITHER(live, stripped) live
#else
#define PROF__EITHER(live, stripped) stripped
#endif

/* A site is initialised once, at compile time: a name made at run time would stay that of the first use. C refuses such
   a name anyway. C++ does so because of constant initialization; before that, an assertion says what to do. */
#if defined(__cplusplus) && defined(__clang__)
#define PROF__CONSTANT_SITE __attribute__((__require_constant_initialization__))
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
        "a constant array or constexpr; a name made at run time goes to PROFILE_SCOPE_DYNAMIC and the like");
#else
#define PROF__CONSTANT(name)
#endif
/* C compilers show this macro with their error. The type of a scope's site is what compilers do not find after
   `if (x) PROFILE_SCOPE("a");`, where the scope would not end at the semicolon. */
#define PROF__A_LITERAL_ELSE_USE_PROFILE_SCOPE_DYNAMIC(name) name

/* In C++ all files of a program share the static variables of inline functions, of methods and of templates, by name.
   PROF_UNIQUE counts the macros before, and so differs between files that include a header; the line does not. Where
   variables of one function have one name, compilers number them, but they need blocks of their own. Microsoft's
   compiler numbers the blocks; with its /ZI a line is no number. */
#if defined(__GNUC__)
#define PROF__OF_LINE(name) PROF__JOIN(name, __LINE__)
#else
#define PROF__OF_LINE(name) name
#endif
#define PROF__HERE PROF__OF_LINE(prof__here_)
#define PROF__WAITING PROF__OF_LINE(prof__waiting_)
#define PROF__KNOWN PROF__OF_LINE(prof__known_)
#define PROF__COUNTED PROF__OF_LINE(prof__counted_)
/* An inline function of C99 has its own static variables in each file, which is what clang warns of. */
#if defined(__clang__) && !defined(__cplusplus)
#define PROF__QUIET_INLINE                                                                                 \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wstatic-local-in-inline\"")      \
    _Pragma("clang diagnostic ignored \"-Wstatic-in-inline\"")
#define PROF__QUIET_END _Pragma("clang diagnostic pop")
#else
#define PROF__QUIET_INLINE
#define PROF__QUIET_END
#endif

#ifndef PROF_SITE_PLACE
#define PROF_SITE_PLACE /* see Freestanding in the manual */
#endif
/* A site in a block of the macro's own, or of a function of the recorder. */
#define PROF__SITE(variable, kind, name, category, level)                                                  \
    PROF__SITE_AS(prof_site, variable, kind, name, category, level, 0, 0)
#define PROF__SITE_AS(type, variable, kind, name, category, level, color, unmask)                          \
    PROF__SITE_OF(type, variable, kind, name, category, __FILE__, level, color, unmask)
#define PROF__SITE_OF(type, variable, kind, name, category, file, level, color, unmask)                    \
    PROF__CONSTANT(name) PROF__CONSTANT(category)                                                          \
    PROF__QUIET_INLINE static PROF__CONSTANT_SITE type variable PROF_SITE_PLACE = {                        \
        0, PROF__A_LITERAL_ELSE_USE_PROFILE_SCOPE_DYNAMIC(name), category, file, __func__, __LINE__, color, \
        level, kind, 0, 0, unmask} PROF__QUIET_END
/* A site of a counter. Its unit, a literal, stands behind the name of the file, which is always one, so that sites
   without a unit are no larger. */
#define PROF__SITE_UNIT(name, category, level, unit)                                                       \
    PROF__SITE_OF(prof_site, PROF__HERE, PROF__KIND_COUNTER_INT | (sizeof(unit) > 1 ? PROF__KIND_UNIT : 0), name, \
                  category, sizeof(unit) > 1 ? __FILE__ "\0" unit : __FILE__, level, 0, 0)
/* A site of a scope, whose block is the user's. After it, PROF__AT(variable) is the site. The address is not the value
   of a ({ }), from which clang 14 leaves out the initial values of a static variable if nothing else is in it. Its type
   is not that of the site, which is hidden, but the frame of a coroutine is not. */
#ifdef __cplusplus
#define PROF__SITE_AT(variable, kind, name, category, level, color, unmask)                                \
    typedef void *variable##_needs_braces_around_it;                                                       \
    variable##_needs_braces_around_it variable;                                                            \
    {                                                                                                      \
        PROF__SITE_AS(prof_site, PROF__HERE, kind, name, category, level, color, unmask);                  \
        variable = &PROF__HERE;                                                                            \
    }
#define PROF__AT(variable) (*static_cast<prof_site *>(variable))
#else
#define PROF__SITE_AT(variable, kind, name, category, level, color, unmask)                                \
    typedef prof_site variable##_needs_braces_around_it;                                                   \
    PROF__SITE_AS(variable##_needs_braces_around_it, variable, kind, name, category, level, color, unmask);
#define PROF__AT(variable) variable
#endif
#define PROF__ON(site, level) ((level) <= PROF_MAX_LEVEL && PROF__EXTENSION prof__on(&(site)))
#define PROF__LIVE(site, level) ((level) <= PROF_MAX_LEVEL && PROF__EXTENSION prof__live(&(site)))
#define PROF__BEGIN(site, level) (PROF__ON(site, level) ? prof__begin(&(site)) : 0)
/* begin evaluates arguments. A scope that is off begins all the same while it is watched for arguments. */
#if defined(__GNUC__)
#define PROF__BEGIN_WITH(site, level, ...)                                                                             \
    __extension__({                                                                                                    \
        const uint32_t prof__now_is = (level) <= PROF_MAX_LEVEL ? PROF__STATE(&(site)) : PROF__OFF;                    \
        PROF__LIKELY(!prof__now_is) || (prof__now_is != PROF__OFF && prof__check(&(site))) ? (__VA_ARGS__)             \
            : prof__now_is != PROF__OFF ? prof__begin(&(site)) : 0;                                                    \
    })
#else
#define PROF__BEGIN_WITH(site, level, ...) \
    (PROF__LIVE(site, level) ? (__VA_ARGS__) : PROF__ON(site, level) ? prof__begin(&(site)) : 0)
#endif
#define PROF__RECORDED(token) ((token) >> 60 ? (token) : 0) /* 0: the scope is off */

#if defined(__cplusplus)
#define PROF__GUARD(variable, token) prof__guard variable = {token}
#define PROF__GUARD_SYNC(variable, token) prof__guard_sync variable = {token}
#define PROF__GUARD_STAGE(token) PROF__GUARD(prof__stage, token)
#define PROF__STAGE_TOKEN prof__stage.token
#define PROF__HANDLE(handle, guard) const prof_scope handle PROF__UNUSED = PROF__RECORDED(guard.token)
#define PROF__TOKEN_OF(scope) scope.token
#elif defined(__GNUC__)
#define PROF__GUARD(variable, token) \
    __extension__ __attribute__((__cleanup__(prof__guard_end), __unused__)) prof__token variable = token
#define PROF__GUARD_SYNC(variable, token) \
    __extension__ __attribute__((__cleanup__(prof__guard_sync), __unused__)) prof__token variable = token
#define PROF__GUARD_STAGE(token)                                                                           \
    __extension__ __attribute__((__cleanup__(prof__guard_end))) prof__token prof__stage = token
#define PROF__STAGE_TOKEN prof__stage
#define PROF__HANDLE(handle, guard) const prof_scope handle __attribute__((__unused__)) = PROF__RECORDED(guard)
#define PROF__TOKEN_OF(scope) scope
#endif

#if !defined(__cplusplus) && !defined(__GNUC__)
#define PROF__GUARD(variable, token) prof__this_compiler_has_only_PROFILE_BLOCK
#define PROF__GUARD_SYNC PROF__GUARD
#define PROF__GUARD_STAGE(token) PROF__GUARD(prof__stage, token)
#define PROF__HANDLE(handle, guard) const prof_scope handle = guard
#define PROF__TOKEN_OF(scope) 0
#endif

/* A statement that owns a site: action may use PROF__HERE. */
#define PROF__STATEMENT(kind, name, category, level, action)                   \
    do {                                                                       \
        PROF__SITE(PROF__HERE, kind, name, category, level);                   \
        if (PROF__LIVE(PROF__HERE, level)) action;                             \
    } while (0)
/* id makes the names unique; site and token are the macro's own variables, and begin may use site. */
#define PROF__SCOPE(...) PROF__AGAIN(PROF__SCOPE_(__VA_ARGS__))
#define PROF__SCOPE_(id, name, category, level, begin, ...)                    \
    PROF__SITE_AT(prof__site_##id, PROF__KIND_BEGIN, name, category, level, 0, 0)                          \
    PROF__GUARD(prof__scope_##id, begin(PROF__AT(prof__site_##id), level, __VA_ARGS__))
#define PROF__BEGIN_1(site, level, unused) PROF__BEGIN(site, level)
#define PROF__BEGIN_TEXT(site, level, text) PROF__BEGIN_WITH(site, level, prof__begin_text(&(site), PROF__TEXT(text)))
#define PROF__BEGIN_PART(site, level, ...) PROF__BEGIN_WITH(site, level, prof__begin_part(&(site), __VA_ARGS__))
#define PROF__BEGIN_FORMAT(site, level, ...) PROF__BEGIN_WITH(site, level, prof__begin_format(&(site), __VA_ARGS__))

#define PROFILE_SCOPE_CL(name, category, level)                                                            \
    PROF__EITHER(PROF__SCOPE(PROF_UNIQUE, name, category, level, PROF__BEGIN_1, 0),                        \
                 PROF__GONE(PROF_UNIQUE, sizeof(name) + sizeof(category) + (level)))
#define PROFILE_SCOPE(name) PROFILE_SCOPE_CL(name, PROF_CATEGORY, PROF_SITE_LEVEL)
#define PROF__SCOPE_AS(...) PROF__AGAIN(PROF__SCOPE_AS_(__VA_ARGS__))
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
#define PROFILE_SCOPE_DYNAMIC(text)                                                                        \
    PROF__EITHER(PROF__SCOPE(PROF_UNIQUE, "", PROF_CATEGORY, PROF_SITE_LEVEL, PROF__BEGIN_TEXT, text),     \
                 PROF__USE(text))
#define PROFILE_SCOPE_TEXT(text, bytes)                                                                    \
    PROF__EITHER(PROF__SCOPE(PROF_UNIQUE, "", PROF_CATEGORY, PROF_SITE_LEVEL, PROF__BEGIN_PART, text,      \
                             PROF__TO(size_t, bytes)),                                                     \
                 PROF__USE2(text, bytes))
#define PROFILE_SCOPE_F(...)                                                                               \
    PROF__EITHER(PROF__SCOPE(PROF_UNIQUE, PROF__FIRST(__VA_ARGS__), PROF_CATEGORY, PROF_SITE_LEVEL,        \
                             PROF__BEGIN_FORMAT, __VA_ARGS__),                                             \
                 PROF__USE(prof__format_check(__VA_ARGS__)))
#define PROF__SCOPE_COLOR(...) PROF__AGAIN(PROF__SCOPE_COLOR_(__VA_ARGS__))
#define PROF__SCOPE_COLOR_(id, name, color)                                                                \
    PROF__SITE_AT(prof__site_##id, PROF__KIND_BEGIN, name, PROF_CATEGORY, PROF_SITE_LEVEL, color, 0)       \
    PROF__GUARD(prof__scope_##id, PROF__BEGIN(PROF__AT(prof__site_##id), PROF_SITE_LEVEL))
#define PROFILE_SCOPE_COLOR(name, color)                                                                   \
    PROF__EITHER(PROF__SCOPE_COLOR(PROF_UNIQUE, name, color), PROF__GONE(PROF_UNIQUE, sizeof(name) + (color)))
#define PROF__SCOPE_SYNC(...) PROF__AGAIN(PROF__SCOPE_SYNC_(__VA_ARGS__))
#define PROF__SCOPE_SYNC_(id, name, category, level)                                                       \
    PROF__SITE_AT(prof__site_##id, PROF__KIND_BEGIN | PROF_ROLE_SYNC << PROF__ROLE_SHIFT, name, category, level,     \
                   0, 0)                                                                                   \
    PROF__GUARD_SYNC(prof__scope_##id, PROF__BEGIN(PROF__AT(prof__site_##id), level))
#define PROFILE_SCOPE_SYNC(name)                                                                           \
    PROF__EITHER(PROF__SCOPE_SYNC(PROF_UNIQUE, name, PROF_CATEGORY, PROF_SITE_LEVEL),                      \
                 PROF__GONE(PROF_UNIQUE, sizeof(name)))
#define PROFILE_SYNC()                                                                                     \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_MARK | PROF_ROLE_SYNC << PROF__ROLE_SHIFT, "sync", PROF_CATEGORY,  \
                                 PROF_SITE_LEVEL, prof__sync()),                                           \
                 (void)0)
#define PROF__SCOPE_MASK(...) PROF__AGAIN(PROF__SCOPE_MASK_(__VA_ARGS__))
#define PROF__SCOPE_MASK_(id, name, mask)                                                                  \
    PROF__SITE_AT(prof__site_##id, PROF__KIND_BEGIN, name, PROF_CATEGORY, PROF_SITE_LEVEL, 0,              \
                   PROF__TO(uint32_t, ~PROF__TO(uint32_t, mask)))                                          \
    PROF__GUARD(prof__scope_##id, PROF__BEGIN(PROF__AT(prof__site_##id), PROF_SITE_LEVEL))
#define PROFILE_SCOPE_MASK(name, mask)                                                                     \
    PROF__EITHER(PROF__SCOPE_MASK(PROF_UNIQUE, name, mask), PROF__GONE(PROF_UNIQUE, sizeof(name) + (mask)))
/* A scope of this role that has an argument at once. */
#define PROF__SCOPE_NUMBER(...) PROF__AGAIN(PROF__SCOPE_NUMBER_(__VA_ARGS__))
#define PROF__SCOPE_NUMBER_(id, name, role, key, type, number)                                             \
    PROF__SITE_AT(prof__site_##id, PROF__KIND_BEGIN | (role) << PROF__ROLE_SHIFT, name, PROF_CATEGORY,     \
                   PROF_SITE_LEVEL, 0, 0)                                                                  \
    PROF__SITE_AT(prof__key_##id, PROF__KIND_ARG, key, PROF_CATEGORY, PROF_SITE_LEVEL, 0, 0)               \
    PROF__GUARD(prof__scope_##id,                                                                          \
                PROF__BEGIN_WITH(PROF__AT(prof__site_##id), PROF_SITE_LEVEL,                               \
                                 prof__begin_number(&PROF__AT(prof__site_##id), &PROF__AT(prof__key_##id), \
                                                    type, PROF__TO(uint64_t, number))))
#define PROFILE_STEP(name, number)                                                                         \
    PROF__EITHER(PROF__SCOPE_NUMBER(PROF_UNIQUE, name, PROF_ROLE_STEP, "step_num", PROF_VALUE_INT,         \
                                    PROF__TO(int64_t, number)),                                            \
                 PROF__GONE(PROF_UNIQUE, sizeof(name) + sizeof(PROF__TO(int64_t, number))))
#define PROFILE_THROUGHPUT(name, bytes)                                                                    \
    PROF__EITHER(PROF__SCOPE_NUMBER(PROF_UNIQUE, name, PROF_ROLE_THROUGHPUT, "bytes", PROF_VALUE_UINT, bytes), \
                 PROF__GONE(PROF_UNIQUE, sizeof(name) + sizeof(PROF__TO(uint64_t, bytes))))
/* The same with a name made at run time. The argument is recorded after the begin, so that no other scope gets it. */
#define PROF__SCOPE_NAMED(...) PROF__AGAIN(PROF__SCOPE_NAMED_(__VA_ARGS__))
#define PROF__SCOPE_NAMED_(id, text, role, key, record, number)                                            \
    PROF__SITE_AT(prof__site_##id, PROF__KIND_BEGIN | (role) << PROF__ROLE_SHIFT, "", PROF_CATEGORY,       \
                   PROF_SITE_LEVEL, 0, 0)                                                                  \
    PROF__SITE_AT(prof__key_##id, PROF__KIND_ARG, key, PROF_CATEGORY, PROF_SITE_LEVEL, 0, 0)               \
    PROF__GUARD(prof__scope_##id, PROF__BEGIN_TEXT(PROF__AT(prof__site_##id), PROF_SITE_LEVEL, text));     \
    PROF__UNUSED int prof__number_##id =                                                                   \
        PROF__RECORDED(PROF__TOKEN_OF(prof__scope_##id)) && PROF__LIVE(PROF__AT(prof__key_##id), PROF_SITE_LEVEL)    \
            ? (record(&PROF__AT(prof__key_##id), number), 1)                                               \
            : 0
#define PROFILE_STEP_DYNAMIC(text, number)                                                                 \
    PROF__EITHER(PROF__SCOPE_NAMED(PROF_UNIQUE, text, PROF_ROLE_STEP, "step_num", prof__arg_int,           \
                                   PROF__TO(int64_t, number)),                                             \
                 PROF__USE2(text, number))
#define PROFILE_THROUGHPUT_DYNAMIC(text, bytes)                                                            \
    PROF__EITHER(PROF__SCOPE_NAMED(PROF_UNIQUE, text, PROF_ROLE_THROUGHPUT, "bytes", prof__arg_uint,       \
                                   PROF__TO(uint64_t, bytes)),                                             \
                 PROF__USE2(text, bytes))
#define PROFILE_FUNCTION() PROFILE_SCOPE(__func__)
#if defined(__has_attribute) && PROF_ENABLE
#if __has_attribute(__unavailable__)
extern __attribute__((__unavailable__("write PROFILE_FUNCTION(), with parentheses"))) int PROFILE_FUNCTION;
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
        PROF__SITE(PROF__HERE, PROF__KIND_BEGIN, name, category, level);                                   \
        PROF__BEGIN(PROF__HERE, level);                                                                    \
    })
#endif
#if defined(__cplusplus)
#ifndef PROF__BEGIN_HERE
#define PROF__BEGIN_HERE(name, category, level)                                                            \
    ([](const char *function) -> prof__token {                                                             \
        PROF__SITE(PROF__HERE, PROF__KIND_BEGIN, name, category, level);                                   \
        if (PROF__HERE.function != function) PROF__HERE.function = function; /* not that of the lambda */  \
        return PROF__BEGIN(PROF__HERE, level);                                                             \
    }(__func__))
#endif
#define PROF__BLOCK_(id, name, category, level)                                                            \
    for (prof__guard_block prof__block_##id = {PROF__BEGIN_HERE(name, category, level), 1};                \
         prof__block_##id.more; prof__block_##id.more = 0)
#elif defined(__GNUC__)
#define PROF__BLOCK_(id, name, category, level)                                                            \
    PROF__QUIET_INLINE                                                                                     \
    for (prof__token prof__scope_##id __attribute__((__cleanup__(prof__guard_end), __unused__)) =          \
             PROF__BEGIN_HERE(name, category, level),                                                      \
             prof__more_##id = 1;                                                                          \
         prof__more_##id; prof__more_##id = 0)                                                             \
    PROF__QUIET_END
#elif defined(PROF__BEGIN_HERE)
#define PROF__BLOCK_(id, name, category, level)                                                            \
    for (prof__token prof__scope_##id = PROF__BEGIN_HERE(name, category, level), prof__more_##id = 1;      \
         prof__more_##id; prof__more_##id = 0, prof__scope_##id ? prof__end(prof__scope_##id) : (void)0)
#else
#define PROF__BLOCK_(id, name, category, level)                                                            \
    PROF__SITE_AT(prof__site_##id, PROF__KIND_BEGIN, name, category, level, 0, 0)                          \
    for (prof__token prof__scope_##id = PROF__BEGIN(PROF__AT(prof__site_##id), level), prof__more_##id = 1;          \
         prof__more_##id; prof__more_##id = 0, prof__scope_##id ? prof__end(prof__scope_##id) : (void)0)
#endif
#define PROF__BLOCK(...) PROF__AGAIN(PROF__BLOCK_(__VA_ARGS__))

#define PROF__BEGIN_UNSCOPED(name, category, level)                                                        \
    PROF__EITHER(                                                                                          \
        do {                                                                                               \
            PROF__SITE(PROF__HERE, PROF__KIND_BEGIN, name, category, level);                               \
            if (PROF__ON(PROF__HERE, level)) prof__begin_unscoped(&PROF__HERE);                            \
        } while (0),                                                                                       \
        PROF__USE3(name, category, level))
#define PROFILE_BEGIN(name) PROF__BEGIN_UNSCOPED(name, PROF_CATEGORY, PROF_SITE_LEVEL)
#define PROFILE_BEGIN_C(name, category) PROF__BEGIN_UNSCOPED(name, category, PROF_SITE_LEVEL)
#define PROFILE_BEGIN_L(name, level) PROF__BEGIN_UNSCOPED(name, PROF_CATEGORY, level)
#define PROFILE_END(name)                                                                                  \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_END, name, "", 0, prof__end_unscoped(&PROF__HERE)), PROF__USE(name))

/* Keeps -Wshadow quiet about stages in a block inside the block of other stages: they are meant. */
#if defined(__GNUC__)
#define PROF__QUIET_SHADOW(declaration)                                                                    \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wshadow\"") declaration;             \
    _Pragma("GCC diagnostic pop")
#else
#define PROF__QUIET_SHADOW(declaration) declaration;
#endif
#define PROF__STAGE(...) PROF__AGAIN(PROF__STAGE_(__VA_ARGS__))
#define PROF__STAGE_(id, name)                                                                             \
    PROF__SITE_AT(prof__site_##id, PROF__KIND_BEGIN, name, PROF_CATEGORY, PROF_SITE_LEVEL, 0, 0)           \
    PROF__QUIET_SHADOW(PROF__GUARD_STAGE(PROF__BEGIN(PROF__AT(prof__site_##id), PROF_SITE_LEVEL)))         \
    typedef char prof__staged_##id[sizeof prof__stage] PROF__UNUSED /* uses it; the semicolon ends something */
#define PROFILE_STAGE(name) PROF__EITHER(PROF__STAGE(PROF_UNIQUE, name), PROF__GONE(PROF_UNIQUE, name))
#define PROFILE_NEXT(name)                                                                                 \
    PROF__EITHER(                                                                                          \
        do {                                                                                               \
            PROF__SITE(PROF__HERE, PROF__KIND_BEGIN, name, PROF_CATEGORY, PROF_SITE_LEVEL);                \
            if (PROF__STAGE_TOKEN || PROF__EXTENSION prof__on(&PROF__HERE))                                        \
                PROF__STAGE_TOKEN = prof__next(&PROF__HERE, PROF__STAGE_TOKEN);                            \
        } while (0),                                                                                       \
        PROF__USE(name))

#define PROF__MARK(name, category, level, action)                                                          \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_MARK, name, category, level, action), PROF__USE3(name, category, level))
#define PROFILE_MARK(name) PROF__MARK(name, PROF_CATEGORY, PROF_SITE_LEVEL, prof__mark(&PROF__HERE))
#define PROFILE_MARK_C(name, category) PROF__MARK(name, category, PROF_SITE_LEVEL, prof__mark(&PROF__HERE))
#define PROFILE_MARK_L(name, level) PROF__MARK(name, PROF_CATEGORY, level, prof__mark(&PROF__HERE))
#define PROFILE_MARK_DYNAMIC(text)                                                                         \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_MARK, "", PROF_CATEGORY, PROF_SITE_LEVEL,                      \
                                 prof__mark_text(&PROF__HERE, PROF__TEXT(text))),                                      \
                 PROF__USE(text))
#define PROFILE_MARK_TEXT(text, bytes)                                                                     \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_MARK, "", PROF_CATEGORY, PROF_SITE_LEVEL,                      \
                                 prof__mark_part(&PROF__HERE, text, PROF__TO(size_t, bytes))),             \
                 PROF__USE2(text, bytes))
#define PROFILE_MARK_F(...)                                                                                \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_MARK, PROF__FIRST(__VA_ARGS__), PROF_CATEGORY, PROF_SITE_LEVEL, \
                                 prof__mark_format(&PROF__HERE, __VA_ARGS__)),                             \
                 PROF__USE(prof__format_check(__VA_ARGS__)))
#define PROFILE_FRAME(name)                                                                                         \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_FRAME, name, PROF_CATEGORY, PROF_SITE_LEVEL, prof__frame(&PROF__HERE)), \
                 PROF__USE(name))

#define PROF__FLOW(name, type, id)                                                                         \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_EVENT, name, PROF_CATEGORY, PROF_SITE_LEVEL,                   \
                                 prof__event(&PROF__HERE, type, 0, id)),                                   \
                 PROF__USE2(name, id))
#define PROFILE_FLOW_OUT_NAMED(name, id) PROF__FLOW(name, PROF_EVENT_FLOW_OUT, id)
#define PROFILE_FLOW_STEP_NAMED(name, id) PROF__FLOW(name, PROF_EVENT_FLOW_STEP, id)
#define PROFILE_FLOW_IN_NAMED(name, id) PROF__FLOW(name, PROF_EVENT_FLOW_IN, id)
#define PROFILE_FLOW_OUT(id) PROFILE_FLOW_OUT_NAMED("flow", id)
#define PROFILE_FLOW_STEP(id) PROFILE_FLOW_STEP_NAMED("flow", id)
#define PROFILE_FLOW_IN(id) PROFILE_FLOW_IN_NAMED("flow", id)

#define PROF__LOG_LEVEL(severity) ((severity) >= PROF_LOG_WARNING ? 1 : (severity) >= PROF_LOG_INFO ? 2 : 3)
#define PROFILE_LOG(severity, ...)                                                                         \
    PROF__EITHER(                                                                                          \
        do {                                                                                               \
            PROF__QUIET_INLINE static prof__log_format PROF__KNOWN;                                        \
            PROF__QUIET_END                                                                                \
            PROF__STATEMENT(PROF__KIND_EVENT, PROF__FIRST(__VA_ARGS__), PROF_CATEGORY,                     \
                            PROF__LOG_LEVEL(severity),                                                     \
                            prof__log(&PROF__HERE, &PROF__KNOWN, PROF__TO(uint64_t, severity), __VA_ARGS__));  \
        } while (0),                                                                                       \
        (0 ? (void)(severity) : PROF__USE(prof__format_check(__VA_ARGS__))))
#define PROF__MARK_ROLE(reach)                                                                             \
    (PROF__TO(int, reach) != 0 ? PROF_ROLE_MARK_GLOBAL - PROF__TO(int, PROF_MARK_GLOBAL) + PROF__TO(int, reach) : 0)
#define PROFILE_MARK_REACH(name, reach)                                                                    \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_MARK | PROF__MARK_ROLE(reach) << PROF__ROLE_SHIFT, name, PROF_CATEGORY, \
                                 PROF_SITE_LEVEL, prof__mark(&PROF__HERE)),                                \
                 PROF__USE2(name, reach))

#define PROF__SPAN(type, name, id, category)                                                               \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_EVENT, name, category, PROF_SITE_LEVEL,                        \
                                 prof__event(&PROF__HERE, type, 0, PROF__TO(uint64_t, id))),               \
                 PROF__USE3(name, id, category))
#define PROFILE_SPAN_BEGIN(name, id) PROF__SPAN(PROF_EVENT_SPAN_BEGIN, name, id, PROF_CATEGORY)
#define PROFILE_SPAN_BEGIN_C(name, id, category) PROF__SPAN(PROF_EVENT_SPAN_BEGIN, name, id, category)
#define PROFILE_SPAN_MARK(name, id) PROF__SPAN(PROF_EVENT_SPAN_MARK, name, id, PROF_CATEGORY)
#define PROFILE_SPAN_MARK_C(name, id, category) PROF__SPAN(PROF_EVENT_SPAN_MARK, name, id, category)
#define PROFILE_SPAN_END(name, id) PROF__SPAN(PROF_EVENT_SPAN_END, name, id, PROF_CATEGORY)
#define PROFILE_SPAN_END_C(name, id, category) PROF__SPAN(PROF_EVENT_SPAN_END, name, id, category)

/* 1 converted to the type of value, halved, is not 0 only in floating point; value is evaluated once. */
#ifdef PROF__NO_DOUBLE
#ifdef __cplusplus
#define PROF__INTEGER(value) PROF__TO(int64_t, value)
#else /* a width of -1: the value is floating-point */
#define PROF__INTEGER(value) \
    ((void)sizeof(struct { int is_not_an_integer_see_PROF_NO_DOUBLE : \
                               __builtin_types_compatible_p(__typeof__((value) + 0), double) || \
                               __builtin_types_compatible_p(__typeof__((value) + 0), float) ? -1 : 1; }), \
     PROF__TO(int64_t, value))
#endif
#define PROF__NUMBER(value, real, integer) integer
#else
#define PROF__INTEGER(value) PROF__TO(int64_t, value)
#define PROF__NUMBER(value, real, integer) (((1 ? 1 : (value)) / 2 > 0) ? real : integer)
#endif
/* 0 converted to the type of value, less 1, is above 0 only if that is unsigned, and not promoted to int. */
#define PROF__BY_SIGN(value, whole, integer) (((1 ? 0 : (value)) - 1 > 0) ? whole : integer)
#define PROF__COUNTER(name, value, category, level, unit)                                                  \
    PROF__EITHER(                                                                                          \
        do {                                                                                               \
            PROF__SITE_UNIT(name, category, level, unit);                                                  \
            if (PROF__LIVE(PROF__HERE, level))                                                             \
                PROF__NUMBER(value, prof__counter_double(&PROF__HERE, PROF__TO(double, value)),            \
                             PROF__BY_SIGN(value,                                                          \
                                           prof__counter_uint(&PROF__HERE, PROF__TO(uint64_t, value)),     \
                                           prof__counter_int(&PROF__HERE, PROF__INTEGER(value))));         \
        } while (0),                                                                                       \
        PROF__USE5(name, value, category, level, unit))
#define PROFILE_COUNTER(name, value) PROF__COUNTER(name, value, PROF_CATEGORY, PROF_SITE_LEVEL, PROF_UNIT)
#define PROFILE_COUNTER_C(name, value, category) PROF__COUNTER(name, value, category, PROF_SITE_LEVEL, PROF_UNIT)
#define PROFILE_COUNTER_L(name, value, level) PROF__COUNTER(name, value, PROF_CATEGORY, level, PROF_UNIT)
#define PROFILE_COUNTER_UNIT(name, value, unit) PROF__COUNTER(name, value, PROF_CATEGORY, PROF_SITE_LEVEL, unit)

/* Not a PROF__STATEMENT, because it also counts while it is off. */
#define PROF__COUNT(how, name, value, category, unit)                                                      \
    PROF__EITHER(                                                                                          \
        do {                                                                                               \
            PROF__SITE_UNIT(name, category, PROF_SITE_LEVEL, unit);                                        \
            PROF__QUIET_INLINE static prof__number PROF__COUNTED;                                          \
            PROF__QUIET_END                                                                                \
            if ((PROF_SITE_LEVEL) > PROF_MAX_LEVEL) break;                                                 \
            PROF__NUMBER(value, prof__count_double(&PROF__HERE, &PROF__COUNTED, how, PROF__TO(double, value)), \
                         PROF__BY_SIGN(value, prof__count_uint(&PROF__HERE, &PROF__COUNTED, how,           \
                                                               PROF__TO(uint64_t, value)),                 \
                                       prof__count_int(&PROF__HERE, &PROF__COUNTED, how, PROF__INTEGER(value)))); \
        } while (0),                                                                                       \
        PROF__USE4(name, value, category, unit))
#define PROFILE_COUNTER_ADD(name, delta) PROF__COUNT(PROF__COUNT_ADD, name, delta, PROF_CATEGORY, PROF_UNIT)
#define PROFILE_COUNTER_ADD_C(name, delta, category) PROF__COUNT(PROF__COUNT_ADD, name, delta, category, PROF_UNIT)
#define PROFILE_COUNTER_ADD_UNIT(name, delta, unit) PROF__COUNT(PROF__COUNT_ADD, name, delta, PROF_CATEGORY, unit)
#define PROFILE_COUNTER_SUB(name, delta) PROF__COUNT(PROF__COUNT_SUB, name, delta, PROF_CATEGORY, PROF_UNIT)
#define PROFILE_COUNTER_SUB_C(name, delta, category) PROF__COUNT(PROF__COUNT_SUB, name, delta, category, PROF_UNIT)
#define PROFILE_COUNTER_SUB_UNIT(name, delta, unit) PROF__COUNT(PROF__COUNT_SUB, name, delta, PROF_CATEGORY, unit)
#define PROFILE_COUNTER_SET(name, value) PROF__COUNT(PROF__COUNT_SET, name, value, PROF_CATEGORY, PROF_UNIT)
#define PROFILE_COUNTER_SET_C(name, value, category) PROF__COUNT(PROF__COUNT_SET, name, value, category, PROF_UNIT)
#define PROFILE_COUNTER_SET_UNIT(name, value, unit) PROF__COUNT(PROF__COUNT_SET, name, value, PROF_CATEGORY, unit)

#define PROF__ARG(key, value, function)                                                                              \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_ARG, key, PROF_CATEGORY, PROF_SITE_LEVEL, function(&PROF__HERE, value)), \
                 PROF__USE2(key, value))
#define PROFILE_ARG_I(key, value) PROF__ARG(key, value, prof__arg_int)
#define PROFILE_ARG_U(key, value) PROF__ARG(key, value, prof__arg_uint)
#define PROFILE_ARG_D(key, value) PROF__ARG(key, value, prof__arg_double)
#define PROFILE_ARG_B(key, value) PROF__ARG(key, value, prof__arg_bool)
#define PROFILE_ARG_S(key, value) PROF__ARG(key, PROF__TEXT(value), prof__arg_string)
#define PROFILE_ARG_P(key, value) PROF__ARG(key, value, prof__arg_pointer)
#define PROFILE_ARG_TEXT(key, text, bytes)                                                                 \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_ARG, key, PROF_CATEGORY, PROF_SITE_LEVEL,                      \
                                 prof__arg_part(&PROF__HERE, text, PROF__TO(size_t, bytes))),              \
                 PROF__USE3(key, text, bytes))
#if defined(__cplusplus)
#define PROFILE_ARG(key, value) PROF__ARG(key, value, prof__arg)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
/* The function for the type of value: f##int and so on. */
#ifdef PROF__NO_DOUBLE
#define PROF__REAL_TYPES(f)
#else
#define PROF__REAL_TYPES(f) float: f##double, double: f##double,
#endif
#define PROF__BY_TYPE(f, value)                                                                               \
    _Generic((value), _Bool: f##bool, char: f##int, signed char: f##int, short: f##int, int: f##int,          \
        long: f##int, long long: f##int, unsigned char: f##uint, unsigned short: f##uint, unsigned: f##uint,  \
        unsigned long: f##uint, unsigned long long: f##uint, PROF__REAL_TYPES(f)                              \
        char *: f##string, const char *: f##string,                                                           \
        default: _Generic((0 ? 0ll : (value)), long long: f##int, /* bit-fields */                            \
                          unsigned long long: f##uint, default: f##pointer))
#define PROFILE_ARG(key, value) PROF__ARG(key, value, PROF__BY_TYPE(prof__arg_, value))
#endif

/* Arguments for lists; they have no other use. With PROF_ENABLE=0 they only use their operands. */
#define PROF__USED(key, value) ((void)(key), (void)(value), 0)
#define PROF__USE_LIST(...) PROF__USE(prof__args_check(0, __VA_ARGS__))
#define PROF__MAKE(function, key, value) \
    PROF__EITHER(PROF__EXTENSION function(PROF__TEXT(key), value), PROF__USED(key, value))
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
#ifdef __TINYC__ /* counts only the elements of arrays of scalars; the rest has no type */
#define PROF__LIST_SIZE (PROF_DEVICE_ARGS + 1)
#else
#define PROF__LIST_SIZE
#endif
#define PROF__WITH(site, type, object, ...)                                                                   \
    {                                                                                                         \
        const prof_arg prof__args[PROF__LIST_SIZE] = {__VA_ARGS__};                                           \
        prof__with(site, type, object, prof__args, PROF__TO(uint32_t, sizeof prof__args / sizeof *prof__args)); \
    }
#endif
#define PROFILE_ARGS(...)                                                                                     \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_ARG, "", PROF_CATEGORY, PROF_SITE_LEVEL,                          \
                                 PROF__WITH(&PROF__HERE, PROF_EVENT_SCOPE, 0, __VA_ARGS__)),                  \
                 PROF__USE_LIST(__VA_ARGS__))
#define PROFILE_ARGS_TO(handle, ...)                                                                          \
    PROF__EITHER(                                                                                             \
        do {                                                                                                  \
            const prof_scope prof__to = (handle);                                                             \
            if (prof__to) PROF__WITH(PROF__NO_SITE, PROF_EVENT_SCOPE, prof__to, __VA_ARGS__);                \
        } while (0),                                                                                          \
        (0 ? (void)(handle) : PROF__USE_LIST(__VA_ARGS__)))
#define PROFILE_ARG_TO_TEXT(handle, key, text, bytes)                                                      \
    PROF__EITHER(                                                                                          \
        do {                                                                                               \
            const prof_scope prof__to = (handle);                                                          \
            if (prof__to) prof__arg_part_to(prof__to, PROF__TEXT(key), text, PROF__TO(size_t, bytes));     \
        } while (0),                                                                                       \
        PROF__USE4(handle, key, text, bytes))
#define PROFILE_ARG_TO(handle, key, value) PROFILE_ARGS_TO(handle, PROF_ARG(key, value))
#define PROFILE_ARG_TO_I(handle, key, value) PROFILE_ARGS_TO(handle, PROF_ARG_I(key, value))
#define PROFILE_ARG_TO_U(handle, key, value) PROFILE_ARGS_TO(handle, PROF_ARG_U(key, value))
#define PROFILE_ARG_TO_D(handle, key, value) PROFILE_ARGS_TO(handle, PROF_ARG_D(key, value))
#define PROFILE_ARG_TO_B(handle, key, value) PROFILE_ARGS_TO(handle, PROF_ARG_B(key, value))
#define PROFILE_ARG_TO_S(handle, key, value) PROFILE_ARGS_TO(handle, PROF_ARG_S(key, value))
#define PROFILE_ARG_TO_P(handle, key, value) PROFILE_ARGS_TO(handle, PROF_ARG_P(key, value))
#define PROF__EVENT_ARGS(kind, type, name, id, ...)                                                           \
    PROF__EITHER(PROF__STATEMENT(kind, name, PROF_CATEGORY, PROF_SITE_LEVEL,                                  \
                                 PROF__WITH(&PROF__HERE, type, PROF__TO(uint64_t, id), __VA_ARGS__)),         \
                 (0 ? (void)(name), (void)(id) : PROF__USE_LIST(__VA_ARGS__)))
#define PROFILE_MARK_ARGS(name, ...) PROF__EVENT_ARGS(PROF__KIND_MARK, PROF_EVENT_MARK, name, 0, __VA_ARGS__)
#define PROFILE_SPAN_BEGIN_ARGS(name, id, ...) \
    PROF__EVENT_ARGS(PROF__KIND_EVENT, PROF_EVENT_SPAN_BEGIN, name, id, __VA_ARGS__)
#define PROFILE_SPAN_MARK_ARGS(name, id, ...) \
    PROF__EVENT_ARGS(PROF__KIND_EVENT, PROF_EVENT_SPAN_MARK, name, id, __VA_ARGS__)
#define PROFILE_SPAN_END_ARGS(name, id, ...)                                                               \
    PROF__EVENT_ARGS(PROF__KIND_EVENT, PROF_EVENT_SPAN_END, name, id, __VA_ARGS__)
#define PROFILE_FLOW_OUT_ARGS(id, ...) PROF__EVENT_ARGS(PROF__KIND_EVENT, PROF_EVENT_FLOW_OUT, "flow", id, __VA_ARGS__)
#define PROFILE_FLOW_STEP_ARGS(id, ...)                                                                    \
    PROF__EVENT_ARGS(PROF__KIND_EVENT, PROF_EVENT_FLOW_STEP, "flow", id, __VA_ARGS__)
#define PROFILE_FLOW_IN_ARGS(id, ...) PROF__EVENT_ARGS(PROF__KIND_EVENT, PROF_EVENT_FLOW_IN, "flow", id, __VA_ARGS__)
#define PROF__TASK_ARGS(type, task, ...)                                                                      \
    PROF__EITHER(                                                                                             \
        do {                                                                                                  \
            prof_task *prof__task = (task);                                                                   \
            if (prof__task) PROF__WITH(PROF__NO_SITE, type, PROF__ADDRESS(prof__task), __VA_ARGS__);   \
        } while (0),                                                                                          \
        (0 ? (void)(task) : PROF__USE_LIST(__VA_ARGS__)))
#define PROFILE_TASK_START_ARGS(task, ...) PROF__TASK_ARGS(PROF_EVENT_SPAN_BEGIN, task, __VA_ARGS__)
#define PROFILE_TASK_STOP_ARGS(task, ...) PROF__TASK_ARGS(PROF_EVENT_SPAN_END, task, __VA_ARGS__)

#define PROF__MEMORY(name, pool, how, freed, pointer, bytes)                                                         \
    PROF__STATEMENT(PROF__KIND_EVENT | PROF_ROLE_MEMORY << PROF__ROLE_SHIFT, name, pool, PROF_SITE_LEVEL,            \
                    prof__memory(&PROF__HERE, how, PROF__ADDRESS(freed), PROF__ADDRESS(pointer),                     \
                                 PROF__TO(uint64_t, bytes)))
#define PROFILE_ALLOC_POOL(pointer, bytes, pool) \
    PROF__EITHER(PROF__MEMORY("alloc", pool, 0, 0, pointer, bytes), PROF__USE3(pointer, bytes, pool))
#define PROFILE_ALLOC(pointer, bytes) PROFILE_ALLOC_POOL(pointer, bytes, PROF_CATEGORY)
#define PROFILE_FREE_POOL(pointer, pool) \
    PROF__EITHER(PROF__MEMORY("free", pool, PROF__FREE_IN_POOL, pointer, 0, 0), PROF__USE2(pointer, pool))
#define PROFILE_FREE(pointer) \
    PROF__EITHER(PROF__MEMORY("free", PROF_CATEGORY, 0, pointer, 0, 0), PROF__USE(pointer))
#define PROF__REALLOC(old, pointer, bytes, pool, how)                                                    \
    PROF__EITHER(PROF__MEMORY("realloc", pool, PROF__FREE_LATE | (how), old, pointer, bytes),            \
                 (0 ? (void)(old) : PROF__USE3(pointer, bytes, pool)))
#define PROFILE_REALLOC(old, pointer, bytes) PROF__REALLOC(old, pointer, bytes, PROF_CATEGORY, 0)
#define PROFILE_REALLOC_POOL(old, pointer, bytes, pool) PROF__REALLOC(old, pointer, bytes, pool, PROF__FREE_IN_POOL)
#define PROF__MEMORY_SCOPE(...) PROF__AGAIN(PROF__MEMORY_SCOPE_(__VA_ARGS__))
#define PROF__MEMORY_SCOPE_(id, name, begin, text)                                                                   \
    PROF__SITE_AT(prof__site_##id, PROF__KIND_BEGIN | PROF_ROLE_MEMORY << PROF__ROLE_SHIFT, name, PROF_CATEGORY,     \
                   PROF_SITE_LEVEL, 0, 0)                                                                  \
    PROF__GUARD(prof__scope_##id, begin(PROF__AT(prof__site_##id), PROF_SITE_LEVEL, text))
#define PROFILE_MEMORY_SCOPE(name) \
    PROF__EITHER(PROF__MEMORY_SCOPE(PROF_UNIQUE, name, PROF__BEGIN_1, 0), PROF__GONE(PROF_UNIQUE, name))
#define PROFILE_MEMORY_SCOPE_DYNAMIC(text) \
    PROF__EITHER(PROF__MEMORY_SCOPE(PROF_UNIQUE, "", PROF__BEGIN_TEXT, text), PROF__USE(text))

#define PROF__LOCK_EVENT(lock, name, type)                                                                           \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_EVENT | PROF_ROLE_LOCK << PROF__ROLE_SHIFT, name, PROF_CATEGORY,         \
                                 PROF_SITE_LEVEL, prof__event(&PROF__HERE, type, 0, PROF__ADDRESS(lock))),           \
                 PROF__USE2(lock, name))
#define PROFILE_LOCK_WAIT(lock, name) PROF__LOCK_EVENT(lock, name, PROF_EVENT_LOCK_WAIT)
#define PROFILE_LOCK_ACQUIRE(lock, name) PROF__LOCK_EVENT(lock, name, PROF_EVENT_LOCK_ACQUIRE)
#define PROFILE_LOCK_RELEASE(lock, name) PROF__LOCK_EVENT(lock, name, PROF_EVENT_LOCK_RELEASE)
/* For the mutexes of POSIX threads. */
#if !defined(_WIN32) && (defined(__GNUC__) || defined(__TINYC__))
#define PROF__MUTEX_LOCK(mutex, name)                                                                                \
    __extension__({                                                                                                  \
        PROF__SITE(PROF__WAITING, PROF__KIND_BEGIN, "wait for " name, PROF_CATEGORY, PROF_SITE_LEVEL);     \
        PROF__SITE(PROF__HERE, PROF__KIND_EVENT | PROF_ROLE_LOCK << PROF__ROLE_SHIFT, name, PROF_CATEGORY,           \
                   PROF_SITE_LEVEL);                                                                                 \
        PROF__LIVE(PROF__HERE, PROF_SITE_LEVEL) ? prof__mutex_lock(&PROF__WAITING, &PROF__HERE, mutex)     \
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
/* For the locks of Windows. Detail 1 of a LOCK_WAIT: another thread had the lock. */
#ifdef _WIN32
#define PROF__SYSTEM_LOCK(lock, name, attempt, wait)                                                                 \
    do {                                                                                                             \
        if (attempt) {                                                                                               \
            PROFILE_LOCK_ACQUIRE(lock, name);                                                                        \
        } else {                                                                                                     \
            PROFILE_BLOCK("wait for " name) {                                                                        \
                PROF__STATEMENT(PROF__KIND_EVENT | PROF_ROLE_LOCK << PROF__ROLE_SHIFT, name, PROF_CATEGORY,          \
                                PROF_SITE_LEVEL,                                                                     \
                                prof__event(&PROF__HERE, PROF_EVENT_LOCK_WAIT, 1, PROF__ADDRESS(lock)));             \
                wait;                                                                                                \
                PROFILE_LOCK_ACQUIRE(lock, name);                                                                    \
            }                                                                                                        \
        }                                                                                                            \
    } while (0)
#define PROF__SYSTEM_UNLOCK(lock, leave)                                                                             \
    do {                                                                                                             \
        PROFILE_LOCK_RELEASE(lock, "unlock");                                                                        \
        leave;                                                                                                       \
    } while (0)
#define PROFILE_CRITICAL_SECTION_ENTER(section, name)                                                                \
    PROF__EITHER(PROF__SYSTEM_LOCK(section, name, TryEnterCriticalSection(section), EnterCriticalSection(section)),  \
                 EnterCriticalSection(section))
#define PROFILE_CRITICAL_SECTION_LEAVE(section)                                                                      \
    PROF__EITHER(PROF__SYSTEM_UNLOCK(section, LeaveCriticalSection(section)),                                        \
                 LeaveCriticalSection(section))
#define PROFILE_SRWLOCK_ACQUIRE(lock, name)                                                                          \
    PROF__EITHER(PROF__SYSTEM_LOCK(lock, name, TryAcquireSRWLockExclusive(lock), AcquireSRWLockExclusive(lock)),     \
                 AcquireSRWLockExclusive(lock))
#define PROFILE_SRWLOCK_RELEASE(lock)                                                                                \
    PROF__EITHER(PROF__SYSTEM_UNLOCK(lock, ReleaseSRWLockExclusive(lock)),                                           \
                 ReleaseSRWLockExclusive(lock))
#define PROFILE_SRWLOCK_ACQUIRE_SHARED(lock, name)                                                                   \
    PROF__EITHER(PROF__SYSTEM_LOCK(lock, name, TryAcquireSRWLockShared(lock), AcquireSRWLockShared(lock)),           \
                 AcquireSRWLockShared(lock))
#define PROFILE_SRWLOCK_RELEASE_SHARED(lock)                                                                         \
    PROF__EITHER(PROF__SYSTEM_UNLOCK(lock, ReleaseSRWLockShared(lock)),                                              \
                 ReleaseSRWLockShared(lock))
#endif

#define PROFILE_THREAD(name) PROF__EITHER(prof_set_thread_name(PROF__TEXT(name)), PROF__USE(name))
#define PROFILE_THREAD_TEXT(text, bytes) \
    PROF__EITHER(prof__thread_part(text, PROF__TO(size_t, bytes)), PROF__USE2(text, bytes))

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

/*-- DEPRECATED ---------------------------------------------------------------------------------------- >>deprecated --
   Old spellings. They do what they did, and will be gone in version 0.3. Fields of prof_config: save_last,
   save_every. */

/* prof_save_last_ns(), in seconds. */
#define prof_save_last(path, seconds) prof_save_last_ns(path, PROF__TO(uint64_t, PROF__TO(int64_t, (seconds) * 1e9)))

/* Names that have changed. */
#define PROFILE_SCOPE_S        PROFILE_SCOPE_DYNAMIC
#define PROFILE_MARK_S         PROFILE_MARK_DYNAMIC
#define PROFILE_STEP_S         PROFILE_STEP_DYNAMIC
#define PROFILE_THROUGHPUT_S   PROFILE_THROUGHPUT_DYNAMIC
#define PROFILE_MEMORY_SCOPE_S PROFILE_MEMORY_SCOPE_DYNAMIC
#define PROFILE_SCOPE_M        PROFILE_SCOPE_MASK
#define PROFILE_ALLOC_C        PROFILE_ALLOC_POOL
#define PROFILE_FREE_C         PROFILE_FREE_POOL
#define PROFILE_REALLOC_C      PROFILE_REALLOC_POOL
#define PROFILE_FLOW_OUT_N     PROFILE_FLOW_OUT_NAMED
#define PROFILE_FLOW_STEP_N    PROFILE_FLOW_STEP_NAMED
#define PROFILE_FLOW_IN_N      PROFILE_FLOW_IN_NAMED
#define PROFILE_MARK_SCOPE     PROFILE_MARK_REACH
#define prof_mark_scope        prof_mark_reach
#define PROF_MARK_SCOPE_COUNT  PROF_MARK_REACH_COUNT
#define prof_thread_name       prof_set_thread_name
#define prof_device_track      prof_device_row_create
#define prof_trace_live        prof_trace_open_live
#define prof_trace_memory      prof_trace_open_memory
#define prof_trace_window      prof_trace_set_window
#define prof_trace_watch       prof_trace_set_progress
#define prof_image_window      prof_image_set_window
#define prof_dump              prof_mxnet_dump
#define prof_dumps             prof_mxnet_dumps
#define prof_set_paused        prof_mxnet_set_paused
#define prof_ntff_parser_end   prof_ntff_parser_destroy

#ifdef __cplusplus
} /* extern "C" */
#endif

#ifdef __clang__
#pragma clang diagnostic pop
#endif
#pragma pack(pop)
#endif /* PROF_H */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF__IMPLEMENTED)
#define PROF__IMPLEMENTED
#if defined(PROF_WITH_ITT) || defined(PROF_WITH_NVTX) || defined(PROF_WITH_SDT)
#define PROF__BRIDGED 1
#endif

/*-- WHAT IS LEFT OUT: see PROF_MINIMAL in >>options ----------------------------------------------------------------*/
#if defined(PROF_NO_SERVICE) || defined(PROF_NO_STREAM) || defined(PROF_NO_STATS)
#error "prof.h: PROF_NO_SERVICE, PROF_NO_STREAM and PROF_NO_STATS are one switch now: define PROF_NO_THREAD"
#endif
#if defined(PROF_NO_CONFIG_TEXT) || defined(PROF_NO_AUTOSTART)
#error "prof.h: PROF_NO_CONFIG_TEXT and PROF_NO_AUTOSTART are PROF_NO_TEXT now; PROF_STATIC does without autostart, too"
#endif
#if defined(PROF_NO_COPIES) || defined(PROF_NO_COSTS) || defined(PROF_NO_DEVICES) || defined(PROF_NO_NAMES) || \
    defined(PROF_NO_OBJECTS) || defined(PROF_NO_OFF_SCOPES) || defined(PROF_NO_SAVE)
#error "prof.h: PROF_NO_COPIES, _COSTS, _DEVICES, _NAMES, _OBJECTS, _OFF_SCOPES and _SAVE are gone: define PROF_MINIMAL"
#endif
#ifdef PROF_NO_READER
#error "prof.h: PROF_NO_READER is gone: prof.h alone has no reader; include prof_read.h instead where you want one"
#endif
#ifdef PROF_MINIMAL
#define PROF__MINIMAL 1 /* a constant for plain if statements: the compiler removes the dead branch */
#else
#define PROF__MINIMAL 0
#endif
/* WASI has no threads and no signals, Emscripten has no signals. PROF_NO_TEXT follows from the absence of double,
   because some values in the text of a configuration are fractions of seconds. */
#if !defined(PROF_NO_THREAD) && (defined(PROF_MINIMAL) || defined(__wasi__))
#define PROF_NO_THREAD
#endif
#if !defined(PROF_NO_CRASH) && (defined(PROF_MINIMAL) || defined(__wasi__) || defined(__EMSCRIPTEN__))
#define PROF_NO_CRASH
#endif
#if !defined(PROF_NO_TEXT) && (defined(PROF_MINIMAL) || defined(PROF__NO_DOUBLE))
#define PROF_NO_TEXT
#endif
#if defined(PROF_FREESTANDING) || defined(_WIN32) || defined(__wasi__)
#define PROF__NO_FORK 1
#define PROF__NO_SIGNALS 1
#endif
#if defined(PROF_FREESTANDING) || defined(PROF_NO_THREAD)
#define PROF__ALONE 1 /* sessions have no background thread */
#endif
#if defined(PROF_FREESTANDING) ? defined(PROF_ALLOCATE) : !defined(PROF_MINIMAL)
#define PROF__SNAPSHOTS 1
#endif
#if !defined(PROF_FREESTANDING) && !defined(PROF_MINIMAL)
#define PROF__RENAMES 1 /* also record a name that a thread sets after its first event */
#endif
#if defined(PROF_TINY) && !(defined(PROF_FREESTANDING) && defined(PROF_MINIMAL))
#error "PROF_TINY is for PROF_FREESTANDING with PROF_MINIMAL"
#endif
#if !defined(PROF_TINY) || defined(PROF_WITH_CATEGORIES)
#define PROF__CATEGORIES 1
#endif
#if !defined(PROF_TINY) || defined(PROF_WITH_SHARED_CHUNKS)
#define PROF__SHARED_CHUNKS 1
#endif
/* The sizes of tables in static data: the smallest in a freestanding PROF_MINIMAL build, whose program may have little
   memory. */
#if defined(PROF_FREESTANDING) && defined(PROF_MINIMAL)
#define PROF__LESS(max, least) least
#else
#define PROF__LESS(max, least) max
#endif
#ifdef PROF_FREESTANDING
#define PROF__PATH(size) 8 /* there are no files */
#else
#define PROF__PATH(size) size
#endif

#pragma pack(push, 16)
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpragma-pack" /* macOS's headers end with the default */
#endif
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* what a switch or the lack of another header leaves without use */
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*-- PLATFORM -------------------------------------------------------------------------------------------- >>platform --
   The differences between operating systems. With PROF_FREESTANDING the user's macros replace the system: see the
   manual. */

#if defined(PROF_FREESTANDING)
#if !defined(PROF_CLOCK_READ) || !defined(PROF_CPU_STATE) || !defined(PROF_CPU_STATE_SIZE)
#error "prof.h: PROF_FREESTANDING needs PROF_CLOCK_READ(), PROF_CPU_STATE() and PROF_CPU_STATE_SIZE: see the manual"
#endif
#elif defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>
#else
/* System headers declare what the feature-test macros (_GNU_SOURCE) ask for when the first of them is included. If the
   program included one before prof.h (PROF__LATE), the macros are evaluated again here. That helps for headers that
   were not included yet. What the others may lack is declared below. */
#if defined(PROF__LATE) && !(defined(__USE_MISC) && defined(__USE_XOPEN2K8))
#define PROF__LATE_POSIX 1 /* the program's macros may hide even POSIX: -std=c99, _POSIX_C_SOURCE, musl */
#endif
#if defined(PROF__LATE) && defined(__GLIBC__)
#if (defined(_BITS_STRUCT_STAT_H) || defined(_BITS_STAT_H)) && !defined(__USE_LARGEFILE64)
#define PROF__LATE_STAT 1 /* struct stat64 was left out */
#endif
#undef _FEATURES_H
#include <features.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#ifndef __wasi__
#include <signal.h>
#endif
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#ifdef __EMSCRIPTEN__
#include <malloc.h>
extern size_t emscripten_get_heap_max(void); /* its header cannot be included in extern "C" */
#endif
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#ifdef SYS_futex
#define PROF__FUTEX 1 /* a thread can sleep until a word changes */
#endif
#endif
#ifdef PROF__LATE_POSIX
#if !defined(SIG_BLOCK) || (defined(__GLIBC__) && !defined(SS_DISABLE)) /* its types are missing: include it again */
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
#if (!defined(CLOCK_MONOTONIC) && !defined(PROF__LATE)) || !defined(MAP_ANONYMOUS) || \
    (!defined(SA_ONSTACK) && !defined(__wasi__))
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
#elif defined(__KERNEL__)
#include <linux/stdarg.h>
#else
#include <stdarg.h>
#endif

/* On 32-bit processors glibc's off_t has 32 bits, unless the program asks for 64 before its first system header.
   Recordings can exceed 2 GiB there, too. So prof calls the 64-bit functions by their names in the library. */
#if defined(__GLIBC__) && !defined(PROF_FREESTANDING) && !defined(__USE_FILE_OFFSET64) && \
    !defined(__OFF_T_MATCHES_OFF64_T)
#define PROF__NARROW 1
#endif
#if defined(PROF__NARROW) && defined(PROF__LATE_STAT)
#define stat prof__stat_again
#ifdef _BITS_STRUCT_STAT_H
#undef _BITS_STRUCT_STAT_H
#include <bits/struct_stat.h>
#else
#undef _BITS_STAT_H
#include <bits/stat.h>
#endif
#undef stat
#endif
#if defined(__GLIBC__) && (defined(__USE_FILE_OFFSET64) || defined(PROF__NARROW))
#define PROF__LIBC_OFFSET(name) name "64"
#else
#define PROF__LIBC_OFFSET(name) name
#endif
#ifdef PROF__NARROW
typedef __off64_t prof__offset;
typedef struct stat64 prof__about;
#define PROF__O_FILE (O_CLOEXEC | __O_LARGEFILE)
extern int prof__libc_stat(const char *path, prof__about *about) __asm__("stat64");
extern int prof__libc_lstat(const char *path, prof__about *about) __asm__("lstat64");
extern int prof__libc_fstat(int file, prof__about *about) __asm__("fstat64");
extern prof__offset prof__libc_lseek(int file, prof__offset at, int from) __asm__("lseek64");
extern FILE *prof__libc_fopen(const char *path, const char *mode) __asm__("fopen64");
#define prof__stat(path, about) prof__libc_stat(path, about)
#define prof__lstat(path, about) prof__libc_lstat(path, about)
#define prof__fstat(file, about) prof__libc_fstat(file, about)
#define prof__lseek(file, at, from) prof__libc_lseek(file, at, from)
#elif !defined(PROF_FREESTANDING) && !defined(_WIN32)
typedef off_t prof__offset;
typedef struct stat prof__about;
#define PROF__O_FILE O_CLOEXEC
#define prof__stat(path, about) stat(path, about)
#define prof__lstat(path, about) lstat(path, about)
#define prof__fstat(file, about) fstat(file, about)
#define prof__lseek(file, at, from) lseek(file, at, from)
#endif

#ifdef PROF__LATE
/* Declares the missing functions under names of prof's own, because the program may still include their headers. On
   32-bit processors, the functions for a 64-bit off_t or time_t have other names in the library. */
extern char *prof__libc_secure_getenv(const char *name) __asm__("secure_getenv");
#endif
#if defined(PROF__LATE) || defined(PROF__NARROW)
extern int prof__libc_fallocate(int file, int how, prof__offset at,
                                prof__offset size) __asm__(PROF__LIBC_OFFSET("fallocate"));
#ifndef fallocate
#define fallocate(file, how, at, size) prof__libc_fallocate(file, how, at, size)
#endif
#endif
#if defined(PROF__LATE_POSIX) || defined(PROF__NARROW)
extern int prof__libc_ftruncate(int file, prof__offset size) __asm__(PROF__LIBC_OFFSET("ftruncate"));
extern int prof__libc_posix_fallocate(int file, prof__offset at,
                                      prof__offset size) __asm__(PROF__LIBC_OFFSET("posix_fallocate"));
extern ssize_t prof__libc_pread(int file, void *to, size_t size, prof__offset at) __asm__(PROF__LIBC_OFFSET("pread"));
extern ssize_t prof__libc_pwrite(int file, const void *from, size_t size,
                                 prof__offset at) __asm__(PROF__LIBC_OFFSET("pwrite"));
extern int prof__libc_fseeko(FILE *file, prof__offset at, int from) __asm__(PROF__LIBC_OFFSET("fseeko"));
extern prof__offset prof__libc_ftello(FILE *file) __asm__(PROF__LIBC_OFFSET("ftello"));
#define ftruncate(file, size) prof__libc_ftruncate(file, size)
#define posix_fallocate(file, at, size) prof__libc_posix_fallocate(file, at, size)
#ifndef pread /* tests define some of these as macros */
#define pread(file, to, size, at) prof__libc_pread(file, to, size, at)
#endif
#ifndef pwrite
#define pwrite(file, from, size, at) prof__libc_pwrite(file, from, size, at)
#endif
#define fseeko(file, at, from) prof__libc_fseeko(file, at, from)
#define ftello(file) prof__libc_ftello(file)
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
#ifndef CLOCK_BOOTTIME
#define CLOCK_BOOTTIME 7
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
#ifndef PROF__NARROW
extern int prof__libc_lstat(const char *path, struct stat *about) __asm__(
    PROF__LIBC_TIME(PROF__LIBC_OFFSET("lstat"), "__lstat64_time64", "__lstat_time64"));
#endif
extern ssize_t prof__libc_readlink(const char *path, char *to, size_t size) __asm__("readlink");
extern int prof__libc_gethostname(char *to, size_t size) __asm__("gethostname");
extern int prof__libc_linkat(int from, const char *old, int to, const char *name, int flags) __asm__("linkat");
extern FILE *prof__libc_fdopen(int file, const char *mode) __asm__("fdopen");
extern int prof__libc_fchdir(int folder) __asm__("fchdir");
extern int prof__libc_nice(int by) __asm__("nice");
extern int prof__libc_fileno(FILE *file) __asm__("fileno");
extern int prof__libc_madvise(void *at, size_t size, int advice) __asm__("madvise");
extern int prof__libc_sigaltstack(const stack_t *stack, stack_t *old) __asm__("sigaltstack");
extern long prof__libc_syscall(long number, ...) __asm__("syscall");
#define PROF__LIBC(name) prof__libc_##name
#define clock_gettime(clock, now) prof__libc_clock_gettime(clock, now)
#define nanosleep(time, left) prof__libc_nanosleep(time, left)
#define localtime_r(time, to) prof__libc_localtime_r(time, to)
#ifndef PROF__NARROW
#define lstat(path, about) prof__libc_lstat(path, about)
#endif
#define readlink(path, to, size) prof__libc_readlink(path, to, size)
#define gethostname(to, size) prof__libc_gethostname(to, size)
#define linkat(from, old, to, name, flags) prof__libc_linkat(from, old, to, name, flags)
#define fdopen(file, mode) prof__libc_fdopen(file, mode)
#define fchdir(folder) prof__libc_fchdir(folder)
#define nice(by) prof__libc_nice(by)
#define fileno(file) prof__libc_fileno(file)
#define madvise(at, size, advice) prof__libc_madvise(at, size, advice)
#define sigaltstack(stack, old) prof__libc_sigaltstack(stack, old)
#define syscall(...) prof__libc_syscall(__VA_ARGS__)
#else
#define PROF__LIBC(name) name
#endif

/*-- COMPILER ------------------------------------------------------------------------------------------ >>compiler --*/
#if defined(__GNUC__)
#define PROF__PER_THREAD __thread
#define PROF__INLINED inline __attribute__((__always_inline__))
#define PROF__SWAPPED(word) __builtin_bswap64(word)
/* Stops the compiler from reordering memory accesses, so that a signal handler of this thread sees stores in program
   order. Emits no instruction. */
#define PROF__BARRIER() __asm__ volatile("" ::: "memory")
/* PROF__AT_START declares a static function that runs before main, lower orders first. PROF__AT_END declares one that
   runs at exit, higher orders first. */
#define PROF__AT_START(order, name) static void name(void) __attribute__((__constructor__(order)))
#define PROF__LAST 65535 /* the order of constructors without a given order */
#if defined(_WIN32) && !defined(PROF_FREESTANDING)
/* When a DLL is unloaded, gcc frees the thread-local variables that it emulates, and runs the DLL's destructors
   afterwards. The destructors of prof use such variables. So on unload they run earlier, as callbacks of the loader,
   which calls them in the order of their sections' names. */
static int prof__unloaded;
#define PROF__AT_UNLOAD(part, name) \
    static __attribute__((__section__(".CRT$XLB" part), __used__)) PIMAGE_TLS_CALLBACK name##_callback = name
static void NTAPI prof__unloads(void *module, DWORD why, void *process_ends)
{
    (void)module;
    if (why == DLL_PROCESS_DETACH && !process_ends) prof__unloaded = 1;
}
PROF__AT_UNLOAD("9", prof__unloads);
#define PROF__AT_END_(order, name) \
    static void name(void); \
    static void NTAPI name##_at_unload(void *module, DWORD why, void *process_ends) \
    { \
        (void)module; \
        if (why == DLL_PROCESS_DETACH && !process_ends) name(); \
    } \
    static void __attribute__((__destructor__(order))) name##_at_exit(void) \
    { \
        if (!prof__unloaded) name(); \
    } \
    PROF__AT_UNLOAD(#order, name##_at_unload)
#define PROF__AT_END(order, name) PROF__AT_END_(order, name)
#else
#define PROF__AT_END(order, name) static void name(void) __attribute__((__destructor__(order)))
#endif
#elif defined(_MSC_VER)
#if !defined(__cplusplus) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 201112L)
#error "prof.h: as C, the file with PROF_IMPLEMENTATION needs /std:c11 or /std:c17"
#endif
#include <intrin.h>
#define PROF__PER_THREAD __declspec(thread)
#define PROF__INLINED __forceinline
#define PROF__SWAPPED(word) _byteswap_uint64(word)
#define PROF__BARRIER() _ReadWriteBarrier()
#define PROF__LOW_HALF 0
typedef uint32_t prof__half; /* Microsoft's compiler does not use types to decide which pointers can alias */

/* The C library calls the functions in sections .CRT$XCT* in the order of the sections' names, and functions of
   atexit() in reverse order of registration. /include keeps the linker from dropping a pointer that no code refers
   to. */
#if defined(PROF_STATIC) && defined(__clang__)
#define PROF__STARTER(name) static __attribute__((__used__)) void (*prof__starter_##name)(void)
#elif defined(PROF_STATIC) /* a static variable has no name for the linker to keep */
#define PROF__STARTER(name) static void (*prof__starter_##name)(void)
#elif defined(_M_IX86)
#define PROF__STARTER(name) \
    __pragma(comment(linker, "/include:_prof__starter_" #name)) void (*prof__starter_##name)(void)
#else
#define PROF__STARTER(name) \
    __pragma(comment(linker, "/include:prof__starter_" #name)) void (*prof__starter_##name)(void)
#endif
#define PROF__AT_START_(order, name) \
    static void name(void); \
    __pragma(section(".CRT$XCT" #order, read)) \
    __declspec(allocate(".CRT$XCT" #order)) PROF__STARTER(name) = name
#define PROF__AT_START(order, name) PROF__AT_START_(order, name)
#define PROF__AT_END(order, name) \
    static void name(void); \
    static void name##_at_exit(void) { atexit(name); } \
    PROF__AT_START(order, name##_at_exit)
#define PROF__LAST 999

/* -- gcc's __atomic functions for the types that prof uses: chosen by _Generic in C, by overloading in C++ -- */

#ifndef __ATOMIC_RELAXED
#define __ATOMIC_RELAXED 0
#define __ATOMIC_ACQUIRE 2
#define __ATOMIC_RELEASE 3
#define __ATOMIC_ACQ_REL 4
#define __ATOMIC_SEQ_CST 5
#endif
/* A barrier for ordered loads and stores. The _Interlocked functions are full barriers and need none besides. */
#ifdef _M_ARM64
#define PROF__ORDERED() __dmb(11) /* 11: DMB ISH: loads and stores, all processors */
#else
#define PROF__ORDERED() _ReadWriteBarrier()
#endif
#define PROF__WHOLE(bits, at) (*(const volatile __int##bits *)(at))
#define PROF__PUT_WHOLE(bits, at, value) (*(volatile __int##bits *)(at) = (value))

#ifdef _M_IX86 /* 32-bit x86 has one atomic 64-bit instruction, cmpxchg8b; SSE2 loads and stores 64 bits at once */
static __forceinline __int64 prof__whole(const volatile void *at)
{
    __m128i both = _mm_loadl_epi64((const __m128i *)at);
    _ReadWriteBarrier();
    return (__int64)((uint64_t)(uint32_t)_mm_cvtsi128_si32(_mm_srli_epi64(both, 32)) << 32 |
                     (uint32_t)_mm_cvtsi128_si32(both));
}
static __forceinline void prof__put_whole(volatile void *at, __int64 value)
{
    _ReadWriteBarrier();
    _mm_storel_epi64((__m128i *)at, _mm_set_epi32(0, 0, (int)(value >> 32), (int)value));
    _ReadWriteBarrier();
}
#define PROF__LOAD_64(at) prof__whole(at)
#define PROF__STORE_64(at, value) prof__put_whole(at, value)
static __int64 prof__exchange_64(volatile __int64 *at, __int64 value, __int64 add, int adds)
{
    __int64 now = prof__whole(at), before;
    while ((before = _InterlockedCompareExchange64(at, adds ? now + add : value, now)) != now) now = before;
    return now;
}
#define PROF__EXCHANGE_64(at, value) prof__exchange_64(at, value, 0, 0)
#define PROF__ADD_64(at, value) prof__exchange_64(at, 0, value, 1)
#else
#define PROF__LOAD_64(at) PROF__WHOLE(64, at)
#define PROF__STORE_64(at, value) PROF__PUT_WHOLE(64, at, value)
#define PROF__EXCHANGE_64(at, value) _InterlockedExchange64(at, value)
#define PROF__ADD_64(at, value) _InterlockedExchangeAdd64(at, value)
#endif
#define PROF__LOAD_32(at) PROF__WHOLE(32, at)
#define PROF__STORE_32(at, value) PROF__PUT_WHOLE(32, at, value)
#define PROF__EXCHANGE_32(at, value) _InterlockedExchange(at, value)
#define PROF__ADD_32(at, value) _InterlockedExchangeAdd(at, value)
#define PROF__TRADE_32(at, value, if_it_is) _InterlockedCompareExchange(at, value, if_it_is)
#define PROF__TRADE_64(at, value, if_it_is) _InterlockedCompareExchange64(at, value, if_it_is)
#define PROF__LOAD_8(at) PROF__WHOLE(8, at)
#define PROF__STORE_8(at, value) PROF__PUT_WHOLE(8, at, value)

typedef unsigned char prof__u8;
#ifdef __cplusplus
#define PROF__OF_TYPE(name, type) prof__##name
#define PROF__OF_BYTES(name, at) prof__##name
#define PROF__OF_WORDS(name, at) prof__##name
#define PROF__OF_NUMBERS(name, at) prof__##name
extern "C++" {
#else
#define PROF__OF_TYPE(name, type) prof__##name##_##type
#define PROF__NUMBERS(name) \
    int: prof__##name##_int, uint32_t: prof__##name##_uint32_t, int64_t: prof__##name##_int64_t, \
    uint64_t: prof__##name##_uint64_t
#define PROF__OF_BYTES(name, at) \
    _Generic(*(at), char: prof__##name##_char, prof__u8: prof__##name##_prof__u8, PROF__NUMBERS(name), \
             default: prof__##name##_pointer)
#define PROF__OF_WORDS(name, at) _Generic(*(at), PROF__NUMBERS(name), default: prof__##name##_pointer)
#define PROF__OF_NUMBERS(name, at) _Generic(*(at), PROF__NUMBERS(name))
#endif
#define PROF__LOADS(type, bits, word)                                                                                \
    static __forceinline type PROF__OF_TYPE(load, type)(const volatile type *at, int order)                          \
    {                                                                                                                \
        type value = (type)PROF__LOAD_##bits(at);                                                                    \
        if (order != __ATOMIC_RELAXED) PROF__ORDERED();                                                              \
        return value;                                                                                                \
    }                                                                                                                \
    static __forceinline void PROF__OF_TYPE(store, type)(volatile type * at, type value, int order)                  \
    {                                                                                                                \
        if (order != __ATOMIC_RELAXED) PROF__ORDERED();                                                              \
        PROF__STORE_##bits(at, (word)value);                                                                         \
    }
#define PROF__EXCHANGES(type, bits, word)                                                                            \
    PROF__LOADS(type, bits, word)                                                                                    \
    static __forceinline type PROF__OF_TYPE(exchange, type)(volatile type * at, type value)                          \
    {                                                                                                                \
        return (type)PROF__EXCHANGE_##bits((volatile word *)at, (word)value);                                        \
    }                                                                                                                \
    static __forceinline type PROF__OF_TYPE(add, type)(volatile type * at, type value)                               \
    {                                                                                                                \
        return (type)PROF__ADD_##bits((volatile word *)at, (word)value);                                             \
    }                                                                                                                \
    static __forceinline int PROF__OF_TYPE(trade, type)(volatile type * at, type *expected, type value)              \
    {                                                                                                                \
        type found = (type)PROF__TRADE_##bits((volatile word *)at, (word)value, (word)*expected);                    \
        if (found == *expected) return 1;                                                                            \
        *expected = found;                                                                                           \
        return 0;                                                                                                    \
    }
PROF__LOADS(char, 8, __int8)
PROF__LOADS(prof__u8, 8, __int8)
PROF__EXCHANGES(int, 32, long)
PROF__EXCHANGES(uint32_t, 32, long)
PROF__EXCHANGES(int64_t, 64, __int64)
PROF__EXCHANGES(uint64_t, 64, __int64)

static __forceinline void *prof__load_pointer(const volatile void *at, int order)
{
    void *value = *(void *const volatile *)at;
    if (order != __ATOMIC_RELAXED) PROF__ORDERED();
    return value;
}
static __forceinline void prof__store_pointer(volatile void *at, const void *value, int order)
{
    if (order != __ATOMIC_RELAXED) PROF__ORDERED();
    *(const void *volatile *)at = value;
}
static __forceinline void *prof__exchange_pointer(volatile void *at, const void *value)
{
    return _InterlockedExchangePointer((void *volatile *)at, (void *)value);
}
static __forceinline int prof__trade_pointer(volatile void *at, void *expected, const void *value)
{
    void **was = (void **)expected;
    void *found = _InterlockedCompareExchangePointer((void *volatile *)at, (void *)value, *was);
    if (found == *was) return 1;
    *was = found;
    return 0;
}
#ifdef __cplusplus
template <typename Any> struct prof__same { typedef Any type; }; /* keeps a parameter out of the deduction of Any */
template <typename Any> static __forceinline Any *prof__load(Any *const volatile *at, int order)
{
    return (Any *)prof__load_pointer(at, order);
}
template <typename Any>
static __forceinline void prof__store(Any *volatile *at, typename prof__same<Any *>::type value, int order)
{
    prof__store_pointer(at, (const void *)value, order);
}
template <typename Any>
static __forceinline Any *prof__exchange(Any *volatile *at, typename prof__same<Any *>::type value)
{
    return (Any *)prof__exchange_pointer(at, (const void *)value);
}
template <typename Any>
static __forceinline int prof__trade(Any *volatile *at, Any **expected, typename prof__same<Any *>::type value)
{
    return prof__trade_pointer(at, expected, (const void *)value);
}
} /* extern "C++" */
#endif
#define __atomic_load_n(at, order) PROF__OF_BYTES(load, at)(at, order)
#define __atomic_store_n(at, value, order) PROF__OF_BYTES(store, at)(at, value, order)
#define __atomic_exchange_n(at, value, order) PROF__OF_WORDS(exchange, at)(at, value)
#define __atomic_compare_exchange_n(at, now, value, weak, order, failed) PROF__OF_WORDS(trade, at)(at, now, value)
#define __atomic_fetch_add(at, value, order) PROF__OF_NUMBERS(add, at)(at, value)
#define __atomic_fetch_sub(at, value, order) PROF__OF_NUMBERS(add, at)(at, 0 - (value))
#define __atomic_fetch_or(at, value, order) ((uint32_t)_InterlockedOr((volatile long *)(at), (long)(value)))
#define __atomic_fetch_and(at, value, order) ((uint32_t)_InterlockedAnd((volatile long *)(at), (long)(value)))
#define __atomic_thread_fence(order) PROF__ORDERED()
#else
#error "prof.h: the implementation needs gcc, clang or Microsoft's compiler; marked-up files any of C99 or C++11"
#endif

/* A sanitizer replaces malloc() with its own allocator, which must see every call. So PROF_WRAP_MALLOC has no effect
   under one. */
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
/* prof calls glibc's allocator by its internal names, which PROF_WRAP_MALLOC does not wrap: see >>malloc */
#ifdef PROF__WRAPS_MALLOC
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *at, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *at);
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
/* Nonzero while prof calls a function of the C library that may allocate. The wrappers of >>malloc record no allocation
   then. */
static PROF__PER_THREAD uint32_t prof__quiet;
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
#ifdef PROF__NARROW
#define fopen(path, mode) PROF__QUIETLY(FILE *, prof__libc_fopen(path, mode))
#else
#define fopen(path, mode) PROF__QUIETLY(FILE *, fopen(path, mode))
#endif
#undef fdopen
#define fdopen(file, mode) PROF__QUIETLY(FILE *, PROF__LIBC(fdopen)(file, mode))
#define fclose(file) PROF__QUIETLY(int, fclose(file))
#define fread(to, size, count, file) PROF__QUIETLY(size_t, fread(to, size, count, file))
#define fwrite(from, size, count, file) PROF__QUIETLY(size_t, fwrite(from, size, count, file))
#define fgets(to, size, file) PROF__QUIETLY(char *, fgets(to, size, file))
#define fgetc(file) PROF__QUIETLY(int, fgetc(file))
#undef localtime_r
#define localtime_r(time, to) PROF__QUIETLY(struct tm *, PROF__LIBC(localtime_r)(time, to))
#define pthread_create(thread, how, run, with) PROF__QUIETLY(int, pthread_create(thread, how, run, with))
#define pthread_setspecific(key, value) PROF__QUIETLY(int, pthread_setspecific(key, value))
#endif

#ifdef __EMSCRIPTEN__
/* Emscripten's malloc() ends the program when the heap is full and cannot grow, unless the program is linked otherwise.
   So prof first computes how many bytes the heap has left: those above the heap's current end, and those that malloc()
   keeps free at its end. */
static int prof__heap_has(size_t size)
{
    size_t used = (size_t)(uintptr_t)sbrk(0), all = emscripten_get_heap_max();
    size_t room = (used < all ? all - used : 0) + (size_t)mallinfo().keepcost;
    return size < room && room - size > 65536; /* leaves 64 KiB for malloc() itself */
}
static void *prof__heap_resize(void *at, size_t size)
{
    return prof__heap_has(size) ? realloc(at, size) : NULL;
}
static void *prof__heap_clear(size_t count, size_t size)
{
    return !size || (count < (size_t)-1 / size && prof__heap_has(count * size)) ? calloc(count, size) : NULL;
}
#define malloc(size) prof__heap_resize(NULL, size)
#define calloc(count, size) prof__heap_clear(count, size)
#define realloc(at, size) prof__heap_resize(at, size)
#endif

/* The mode of files that prof creates: others may read them, but only the owner may write. The recorder trusts the
   recording that it has mapped into memory. So the mode is explicit, because a daemon may have called umask(0). */
#define PROF__FILE_MODE 0644

#define PROF__LOAD(p) __atomic_load_n(p, __ATOMIC_RELAXED)
#define PROF__ACQUIRE(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define PROF__STORE(p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)
#define PROF__RELEASE(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define PROF__ADD(p, v) __atomic_fetch_add(p, v, __ATOMIC_RELAXED)

/* 1 if the processor stores 64 bits with one instruction. A 32-bit processor writes a word as two halves, the low half
   first. A reader of a running recording may come in between, and can rely only on the low half of a counter in the
   image. */
#define PROF__WIDE (UINTPTR_MAX > 0xffffffffu)

/* A reader may copy a chunk while its owner writes into it. The chunk's sequence number tells the reader afterwards
   whether the copy is valid. The thread sanitizer would report this as a race, so under it each access to a chunk's
   words is atomic. */
#if defined(__SANITIZE_THREAD__)
#define PROF__THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PROF__THREAD_SANITIZER 1
#endif
#endif

/* The thread sanitizer does not support fences, but treats all accesses that they order as atomic. */
#ifdef PROF__THREAD_SANITIZER
#define PROF__FENCE() ((void)0)
#else
#define PROF__FENCE() __atomic_thread_fence(__ATOMIC_RELEASE)
#endif

static void prof__copy(void *to, const void *from, size_t size)
{
#ifdef PROF_FREESTANDING
    for (size_t i = 0; i < size; ++i) {
        ((char *)to)[i] = ((const char *)from)[i];
        PROF__BARRIER(); /* else the compiler turns the loop into a call of memcpy() */
    }
#else
    memcpy(to, from, size);
#endif
}

static void prof__clear(void *at, size_t size) /* at, size: multiples of the word size */
{
#if defined(PROF_FREESTANDING) || defined(PROF__THREAD_SANITIZER)
    for (size_t i = 0; i < size / sizeof(uintptr_t); ++i) {
        PROF__STORE((uintptr_t *)at + i, 0);
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

#if defined(__linux__) && !defined(PROF_FREESTANDING) && !defined(PROF_MINIMAL)
#define PROF__META_GROWS 1 /* meta and its index get their disk blocks and pages as they grow */
#endif

/* Returns the number of the highest bit that is set, or 0 if none is. */
static unsigned prof__log2(uint64_t value)
{
#ifdef __GNUC__
    return value ? 63 - (unsigned)__builtin_clzll(value) : 0;
#else
    unsigned bits = 0, step;
    for (step = 32; step; step /= 2)
        if (value >> step) {
            value >>= step;
            bits += step;
        }
    return bits;
#endif
}

/* Continues a hash of 32 bits (FNV-1a). */
static uint32_t prof__hash_add(uint32_t hash, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; ++i) hash = (hash ^ ((const unsigned char *)bytes)[i]) * 16777619u;
    return hash;
}

/* Bytes are hashed in units of this size. If the recorder rebuilds the index of meta from the stored records, it hashes
   a text with the zeros that pad it to whole words. So the first hash of the text includes these zeros, too. */
#ifdef PROF__META_GROWS
#define PROF__HASH_UNIT 8
#else
#define PROF__HASH_UNIT 1
#endif
static uint32_t prof__hash(const void *bytes, size_t size)
{
    uint32_t hash = prof__hash_add(2166136261u, bytes, size);
    for (; size % PROF__HASH_UNIT; ++size) hash *= 16777619u; /* a zero byte */
    return hash ^ hash >> 15;
}

/* Continues a hash of 64 bits (FNV-1a) with a text. */
#define PROF__TEXTS_START 0xCBF29CE484222325u
static uint64_t prof__texts_hash(uint64_t hash, const char *text)
{
    for (; *text; ++text) hash = (hash ^ (unsigned char)*text) * 0x100000001B3u;
    return hash;
}

static void prof__text_copy(char *to, size_t size, const char *from)
{
    size_t i = 0;
    for (; from[i] && i + 1 < size; ++i) to[i] = from[i];
    to[i] = 0;
}

#ifndef PROF_FREESTANDING
/* Appends `from` to the text in `to`, which has `size` bytes. Returns 0, and changes nothing, if it does not fit. */
static int prof__text_add(char *to, size_t size, const char *from)
{
    size_t at = prof__length(to), length = prof__length(from);
    if (at + length + 1 > size) return 0;
    prof__copy(to + at, from, length + 1);
    return 1;
}
#endif

/*-- NUMBERS ---------------------------------------------------------------------------------------------- >>numbers --
   With -ffast-math a compiler removes comparisons that are true or false for every finite number, such as x != x. And a
   host program may have enabled floating-point traps (feenableexcept), so that a comparison with a NaN or an inexact
   result ends it. So this module looks at numbers of the host as integers, and functions that compute with them use the
   default environment (PROF__CALM). */

#ifndef PROF_FREESTANDING
/* Returns the bits of a number. Volatile, because with -ffast-math the compiler may assume that a double is finite. */
static uint64_t prof__number_bits(double value)
{
    volatile double kept = value;
    double read = kept;
    uint64_t bits;
    memcpy(&bits, &read, sizeof bits);
    return bits;
}

#define PROF__INFINITE_BITS ((uint64_t)0x7FF << 52)

/* Returns 1 if a number is neither infinite nor a NaN. */
static int prof__finite(double value)
{
    return (prof__number_bits(value) & PROF__INFINITE_BITS) != PROF__INFINITE_BITS;
}

/* Returns the text for a number that is infinite or a NaN. */
static const char *prof__not_finite(double value)
{
    uint64_t bits = prof__number_bits(value);
    if (bits << 1 != PROF__INFINITE_BITS << 1) return "nan";
    return bits >> 63 ? "-inf" : "inf";
}

static int prof__is_nan(uint64_t bits) { return bits << 1 > PROF__INFINITE_BITS << 1; }

static int prof__nan(double value) { return prof__is_nan(prof__number_bits(value)); }

/* Returns 1 if a < b. A NaN is greater than every number, and equal to another NaN. */
static int prof__less(double a, double b)
{
    uint64_t x = prof__number_bits(a), y = prof__number_bits(b);
    if (prof__is_nan(x) || prof__is_nan(y)) return !prof__is_nan(x);
    if (!(x << 1 | y << 1)) return 0; /* 0 and -0 */
    if (x >> 63 != y >> 63) return (int)(x >> 63);
    return x >> 63 ? x > y : x < y;
}

/* Returns 1 if a > b. A NaN is less than every number here, so that it sorts last and never is a maximum. */
static int prof__greater(double a, double b)
{
    uint64_t x = prof__number_bits(a), y = prof__number_bits(b);
    return prof__is_nan(x) || prof__is_nan(y) ? !prof__is_nan(x) : prof__less(b, a);
}
#endif

/* PROF__CALM() at the start of a function gives the thread the default floating-point environment until the function
   returns: no traps, rounding to nearest, no flushing of denormal numbers. Then the host's environment is restored,
   exception flags included. This is fenv.h's feholdexcept() without libm. */
#if defined(__GNUC__) && !defined(PROF_FREESTANDING) && !defined(PROF_MINIMAL) && \
    (defined(__x86_64__) || defined(__i386__) || defined(__aarch64__))
typedef struct prof__fpu {
#ifdef __aarch64__
    uint64_t control, status;
#else
    uint32_t x87[7], sse;
#endif
} prof__fpu;

static prof__fpu prof__calm_enter(void)
{
    prof__fpu before;
#ifdef __aarch64__
    __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr\n\tmsr fpcr, xzr"
                     : "=r"(before.control), "=r"(before.status)::"memory");
#else
    before.sse = 0;
#if defined(__SSE__)
    const uint32_t calm = 0x1F80;
    __asm__ volatile("stmxcsr %0\n\tldmxcsr %1" : "=m"(before.sse) : "m"(calm) : "memory");
#endif
    __asm__ volatile("fnstenv %0\n\tfninit" : "=m"(before.x87)::"memory");
#endif
    return before;
}

static void prof__calm_leave(const prof__fpu *before)
{
#ifdef __aarch64__
    __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1" ::"r"(before->control), "r"(before->status) : "memory");
#else
#if defined(__SSE__)
    __asm__ volatile("ldmxcsr %0" ::"m"(before->sse) : "memory");
#endif
    __asm__ volatile("fldenv %0" ::"m"(before->x87) : "memory");
#endif
}
#define PROF__CALM() \
    const prof__fpu prof__calm __attribute__((__cleanup__(prof__calm_leave), __unused__)) = prof__calm_enter()

/* Returns 1 if this thread has any floating-point trap enabled. */
static inline int prof__traps(void)
{
#ifdef __aarch64__
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return (control & 0x9F00) != 0;
#elif defined(__SSE__) && !defined(__i386__)
    uint32_t sse = 0; /* initialised for the memory sanitizer, which ignores assembly */
    __asm__ volatile("stmxcsr %0" : "=m"(sse));
    return (sse & 0x1F80) != 0x1F80;
#else
    uint16_t control = 0;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    return (control & 0x3F) != 0x3F;
#endif
}
#else
typedef char prof__fpu;
static prof__fpu prof__calm_enter(void) { return 0; }
static void prof__calm_leave(const prof__fpu *before) { (void)before; }
#define PROF__CALM() ((void)0)
static int prof__traps(void) { return 0; }
#endif

#ifndef PROF_FREESTANDING
/* Writes value in decimal to `to`: at most 20 digits, not terminated. Returns how many digits. */
static size_t prof__digits(char *to, uint64_t value)
{
#ifdef PROF_MINIMAL /* small instead of fast */
    size_t size = value >= 10 ? prof__digits(to, value / 10) : 0; /* recurses at most 19 times */
    to[size] = (char)('0' + value % 10);
    return size + 1;
#else
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    uint64_t upper = value / 10000;
    size_t size = upper ? prof__digits(to, upper) : 0; /* recurses at most four times */
    uint32_t left = (uint32_t)(value - upper * 10000), two = left / 100;
    if (upper || left >= 1000) {
        memcpy(to + size, pairs + two * 2, 2);
        size += 2;
    } else if (left >= 100) {
        to[size++] = (char)('0' + two);
    } else if (left < 10) {
        *to = (char)('0' + left);
        return 1;
    }
    memcpy(to + size, pairs + (left - two * 100) * 2, 2);
    return size + 2;
#endif
}

/* Writes a number in decimal, terminated. Async-signal-safe. */
static void prof__number_text(char to[24], uint64_t number)
{
    to[prof__digits(to, number)] = 0;
}

/* Writes value to `to` (32 bytes, terminated) with the fewest significant digits, between least and max, that read back
   as the same number. Returns the length. The decimal separator is a point in every locale. Infinity and NaN are
   written "inf", "-inf", "nan". */
static size_t prof__double_digits(char *to, double value, int least, int max)
{
    char text[48];
    size_t from, at = 0;
    int digits = least;
    if (!prof__finite(value)) {
        strcpy(to, prof__not_finite(value));
        return strlen(to);
    }
    for (;;) {
        double back;
        snprintf(text, sizeof text, "%.*g", digits, value);
        back = strtod(text, NULL);
        if (digits++ >= max || prof__number_bits(back) == prof__number_bits(value)) break;
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

/* Writes value (32 bytes, terminated) so that it reads back as the same double. Returns the length. */
static size_t prof__double_text(char *to, double value)
{
    return prof__double_digits(to, value, 15, 17);
}

/* Writes 1234567 as 1,234,567 to `to` (32 bytes). */
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

/* Writes a whole number with a decimal point before its last `decimals` digits to `to` (32 bytes, terminated): 1234
   with 3 is "1.234". Returns the length. */
static size_t prof__decimals(char *to, uint64_t value, unsigned decimals)
{
    char digits[24];
    size_t length = prof__digits(digits, value), at = 0, i;
    if (length <= decimals) {
        to[at++] = '0';
    } else {
        memcpy(to, digits, length - decimals);
        at = length - decimals;
    }
    if (decimals) to[at++] = '.';
    for (i = length; i < decimals; i++) to[at++] = '0';
    i = length > decimals ? length - decimals : 0;
    memcpy(to + at, digits + i, length - i);
    at += length - i;
    to[at] = 0;
    return at;
}

/* Writes value (>= 0) with `decimals` digits (0 to 3) after the point to `to` (32 bytes, terminated). Returns the
   length. */
static size_t prof__fixed(char *to, double value, unsigned decimals)
{
    static const unsigned scales[] = {1, 10, 100, 1000};
    uint64_t scaled = value < 1e15 ? (uint64_t)(value * scales[decimals] + 0.5) : (uint64_t)1000000000000000000;
    return prof__decimals(to, scaled, decimals);
}

/* Writes value (>= 0) to `to` (48 bytes, terminated) with four digits and a unit. units: names of units, each 1000 of
   the one before, then NULL. Chooses the largest unit that leaves the value above 1. A whole number below 1000 of the
   first unit has no decimals. */
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

static void prof__human_hz(char *to, double hz)
{
    static const char *const units[] = {"Hz", "kHz", "MHz", "GHz", NULL};
    prof__human(to, hz, units);
}

/* Writes the value of a counter to `to` (32 bytes, terminated): whole numbers up to 2^53 exactly, others with six
   significant digits. Returns the length. */
static size_t prof__counter_text(char *to, double value)
{
    const double max = 9007199254740992.0;
    int whole = prof__finite(value) && value >= -max && value <= max &&
                !((double)(int64_t)value < value || (double)(int64_t)value > value);
    return prof__double_digits(to, value, whole ? 16 : 6, whole ? 16 : 6);
}
#endif

/*-- INSTANCES ------------------------------------------------------------------------------------------ >>instances --
   A program and its plugins may each contain an instance of the implementation. Usually the dynamic loader directs all
   calls to the first instance. It cannot if the program does not export its symbols, if plugins are loaded RTLD_LOCAL,
   or if symbols are hidden or linked with -Bsymbolic. So each instance has an ELF note that leads to a table of its
   functions. An instance in a library takes the first instance in the loader's list as its leader: it records nothing
   itself, but forwards every call to the leader. The program is always first in the loader's list, and libraries that
   are loaded later are added at its end, so a leader stays the first. Its followers hold a reference to the leader's
   module, which keeps it loaded. An instance with another layout of its types, or compiled with PROF_STATIC, records by
   itself. From the tables of the others it only learns which output files they write, so that it does not overwrite
   these. */

#if defined(__linux__) && defined(__ELF__) && !defined(PROF_FREESTANDING) && !defined(PROF_MINIMAL)
#define PROF__INSTANCES 1
#include <elf.h>

typedef struct prof__instance prof__instance;
struct prof__log_list;
struct prof__session_status;
static char *prof__error_here(void);
static void prof__instance_join(prof__instance *follower);
static void prof__instance_leave(prof__instance *follower);
static void prof__counter_write(prof_site *site, uint64_t kind, uint64_t number);
static inline void prof__arg_write(prof_site *site, prof_value_type type, uint64_t number);
static prof__token prof__named(prof_site *site, const char *name, int owes_end);
static inline void prof__log_write(prof_site *site, prof__log_format *known, uint64_t severity, const char *format,
                                   struct prof__log_list *list);
static void prof__instant(prof_site *site);
static struct prof__shared_counter *prof__shared_counter_find(const prof_site *site);
static prof_status prof__pause_by(int step);
static prof_status prof__metadata_change(const char *key, const char *value);
static prof_status prof__category_enable(const char *pattern, int on, int exact);
static void prof__device_report(prof_device_row *row, const prof_device_event *event);
static void prof__saved_with(prof_status (*hook)(void));
static void prof__session_status_take(struct prof__session_status *look);
static prof_status prof__output_again(const char *what);
static prof_status prof__trace_live_here(prof_trace **trace);
static prof_status prof__trace_write_here(const prof_trace *trace, const char *path, const char *extension);

/* The functions that an instance forwards: those that access the recorder's state. All other functions reach the state
   through these. */
#define PROF__FORWARDED_FUNCTIONS(X)                                                                                 \
    X(prof__instance_join) X(prof__instance_leave)                                                                   \
    X(prof__error_here)                                                                                              \
    X(prof__check) X(prof__begin) X(prof__end) X(prof__next) X(prof__counter_write) X(prof__arg_write)               \
    X(prof__arg_string) X(prof__named) X(prof__begin_number) X(prof__event) X(prof__log_write) X(prof__memory)       \
    X(prof__instant) X(prof__frame) X(prof__begin_unscoped) X(prof__end_unscoped) X(prof__shared_counter_find)       \
    X(prof__sync)                                                                                                    \
    X(prof__end_sync)                                                                                                \
    X(prof__with) X(prof_flow_new) X(prof_set_thread_name) X(prof_fiber_switch) X(prof_fiber_destroy) X(prof_start)  \
    X(prof_stop) X(prof_reset) X(prof__pause_by) X(prof_enabled_at) X(prof_set_level) X(prof_set_filter_mask)        \
    X(prof__category_enable) X(prof__metadata_change) X(prof_set_sync) X(prof_config_claim) X(prof_config_set)       \
    X(prof_save) X(prof_save_last_ns) X(prof_save_request) X(prof__saved_with) X(prof__trace_live_here)              \
    X(prof__trace_write_here) X(prof_writer_register) X(prof_writer_unregister) X(prof_domain_create)                \
    X(prof_domain_list) X(prof_task_create) X(prof_frame_create) X(prof_device_create) X(prof_device_row_create)     \
    X(prof_device_sync) X(prof__device_report) X(prof__session_status_take) X(prof__output_again)

struct prof__instance {
    /* The first three fields are the same in all versions of prof. */
    char magic[8];
    uint64_t layout; /* identifies the layout of all types in forwarded calls; 0: PROF_STATIC */
    char *output;    /* 1024 bytes: the output file of the instance's last session; "" for none */
    /* The other fields are used only between instances of the same layout. */
    uint32_t constructed;    /* 1: the constructors of the instance's module have run */
    uint32_t *config_version; /* of a follower: the config version that its call sites compare with */
    prof__instance *next;    /* of a follower: the next one in the leader's list */
    prof__instance **leader; /* of a follower: its variable that points to the leader */
#define PROF__INSTANCE_FIELD(name) __typeof__(name) *to_##name;
    PROF__FORWARDED_FUNCTIONS(PROF__INSTANCE_FIELD)
};
extern PROF__HIDDEN prof__instance prof__this_instance;

__asm__(".pushsection .note.prof,\"a\",%note\n"
        ".balign 4\n"
        ".long 5, 4, 1\n" /* bytes of the name, bytes of the content, type */
        ".asciz \"prof\"\n"
        ".balign 4\n"
        ".long prof__this_instance - .\n"
        ".popsection\n");

/* The same layout as dl_phdr_info in <link.h>, which declares that type only if _GNU_SOURCE was defined before its
   first include. */
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

static prof__instance *prof__instance_of_notes(const char *at, size_t size, size_t align)
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
        prof__instance *instance = (prof__instance *)((uintptr_t)(at + begin) + (uintptr_t)(intptr_t)distance);
        if (!memcmp(instance->magic, "prof hub", 8)) return instance;
    }
    return NULL;
}

/* Returns the table of a loaded module, or NULL if the module has none. */
static prof__instance *prof__instance_of(const prof__loaded *loaded)
{
    prof__instance *instance = NULL;
    for (uint16_t i = 0; i < loaded->segment_count && !instance; ++i) {
        const prof__segment *segment = (const prof__segment *)loaded->segments + i;
        if (segment->p_type == PT_NOTE)
            instance = prof__instance_of_notes((const char *)(loaded->base + (uintptr_t)segment->p_vaddr),
                                     (size_t)segment->p_memsz, segment->p_align == 8 ? 8 : 4);
    }
    return instance;
}
#endif

#if defined(PROF__INSTANCES) && !defined(PROF_STATIC)
static prof__instance *prof__followers; /* changes under prof__lock_word; crash handlers read it without the lock */
#endif

#if defined(PROF__INSTANCES) && defined(PROF__SHARED) && !defined(PROF_STATIC)
static prof__instance *prof__leader; /* NULL: this instance is a leader, or records by itself */
static int prof__joined;

typedef struct prof__instance_search {
    prof__instance *found;
    const char *name; /* of its module */
} prof__instance_search;

static int prof__instance_visit(const prof__loaded *loaded, size_t size, void *user)
{
    prof__instance_search *search = (prof__instance_search *)user;
    prof__instance *instance = prof__instance_of(loaded);
    (void)size;
    if (!instance || instance->layout != prof__this_instance.layout) return 0;
    search->found = instance;
    search->name = loaded->name ? loaded->name : "";
    return 1;
}

/* Weak: a static program has no dlopen(), and no library that could be unloaded. */
extern void *prof__module_open(const char *path, int how) __asm__("dlopen") __attribute__((__weak__));
extern int prof__module_close(void *module) __asm__("dlclose") __attribute__((__weak__));
static void *prof__leader_module;

static PROF__COLD void prof__join(void)
{
    prof__instance_search search = {NULL, NULL};
    if (__atomic_exchange_n(&prof__joined, 1, __ATOMIC_ACQ_REL)) return;
    prof__this_instance.constructed = 1;
    prof__loaded_each(prof__instance_visit, &search);
    if (!search.found || search.found == &prof__this_instance) return;
    /* Holds a reference to the leader's module, so that it stays loaded as long as this library. The program needs
       none. Nor does a leader whose constructors have not run yet: the same dlopen() is loading both, because the
       leader depends on this library, so the leader is unloaded before this library or with it. */
    if (*search.name && search.found->constructed && prof__module_open)
        prof__leader_module = prof__module_open(search.name, 1 | 4); /* RTLD_LAZY | RTLD_NOLOAD */
    search.found->to_prof__instance_join(&prof__this_instance);
    PROF__RELEASE(&prof__leader, search.found);
}

static inline prof__instance *prof__forwarding(void)
{
    if (PROF__UNLIKELY(!PROF__ACQUIRE(&prof__joined))) prof__join();
    return PROF__ACQUIRE(&prof__leader);
}
static int prof__is_whole(void) { return !prof__forwarding(); } /* 1: calls are not forwarded */

PROF__AT_START(101, prof__join_early);
static void prof__join_early(void) { prof__forwarding(); }

/* Called when the library is unloaded. A follower leaves its leader. The followers of a leader record by themselves
   from now on. */
static void prof__unjoin(void)
{
    if (prof__leader) prof__leader->to_prof__instance_leave(&prof__this_instance);
    for (prof__instance *each = prof__followers; each; each = each->next)
        PROF__RELEASE(each->leader, (prof__instance *)NULL);
    prof__followers = NULL;
}
/* Drops the reference to the leader's module. Runs at exit as the last use of the leader. */
PROF__AT_END(101, prof__unjoin_late);
static void prof__unjoin_late(void)
{
    void *module = prof__leader_module;
    prof__leader_module = NULL;
    if (module && prof__module_close) prof__module_close(module);
}

/* The first statement of every function in PROF__FORWARDED_FUNCTIONS: if this instance has a leader, calls the leader's
   function and returns. */
#define PROF__FORWARD(function, arguments)                                                                           \
    do {                                                                                                             \
        const prof__instance *prof__to = prof__forwarding();                                                         \
        if (prof__to) return prof__to->to_##function arguments;                                                      \
    } while (0)
#define PROF__FORWARD_VOID(function, arguments)                                                                      \
    do {                                                                                                             \
        const prof__instance *prof__to = prof__forwarding();                                                         \
        if (prof__to) {                                                                                              \
            prof__to->to_##function arguments;                                                                       \
            return;                                                                                                  \
        }                                                                                                            \
    } while (0)
#else
#define PROF__FORWARD(function, arguments) ((void)0)
#define PROF__FORWARD_VOID(function, arguments) ((void)0)
static int prof__is_whole(void) { return 1; }
static void prof__unjoin(void) {}
#endif

#ifdef PROF_FREESTANDING
#ifndef PROF_WAIT
#if defined(__x86_64__) || defined(__i386__)
#define PROF_WAIT() __asm__ volatile("pause" ::: "memory")
#elif defined(__aarch64__)
#define PROF_WAIT() __asm__ volatile("yield" ::: "memory")
#else
#define PROF_WAIT() PROF__BARRIER()
#endif
#endif
static void prof__wait(void) { PROF_WAIT(); }
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
/* The parameters have prefixed names, because the user's macros expand inside this function and could otherwise pick up
   a parameter instead of a variable of the program. */
static void prof__system_name(char *prof__to, size_t prof__size)
{
    (void)prof__size;
    prof__to[0] = 0;
#ifdef PROF_CPU_NAME
    PROF_CPU_NAME(prof__to, prof__size);
#endif
}
static uint64_t prof__process_id(void) { return 0; }
#else

#if defined(__ELF__) && !defined(PROF_STATIC)
#define PROF__ONE_PER_PROCESS PROF_DEF
#else
#define PROF__ONE_PER_PROCESS static
#endif
static int prof__exits_watched;

/* A macro must leave errno as it was. */
#define PROF__ERRNO_SAVE() int prof__errno = errno
#define PROF__ERRNO_RESTORE() (void)(errno = prof__errno)

#ifdef _WIN32
static void prof__wait(void) { Sleep(0); }
static uint64_t prof__thread_id(void) { return GetCurrentThreadId(); }
static uint64_t prof__process_id(void) { return GetCurrentProcessId(); }
static uint64_t prof__parent_id(void) { return 0; }
/* A thread of Windows ends with the loader's lock held, and then waits for the recorder's lock. So code that holds the
   recorder's lock must not take the loader's, as GetModuleHandle() does: this function is called before. */
static FARPROC prof__thread_describe;
static void prof__system_ask(void)
{
    HMODULE kernel = GetModuleHandleA("kernel32");
    if (kernel) prof__thread_describe = GetProcAddress(kernel, "GetThreadDescription");
}
/* Writes the name that SetThreadDescription() gave a thread, or "". Windows 10 and later have such names. */
static void prof__description(HANDLE thread, char *name, size_t size)
{
    typedef HRESULT(WINAPI * describe)(HANDLE, PWSTR *);
    union { FARPROC any; describe of; } get;
    PWSTR wide = NULL;
    name[0] = 0;
    get.any = prof__thread_describe;
    if (!get.any || get.of(thread, &wide) < 0 || !wide) return;
    if (!WideCharToMultiByte(CP_UTF8, 0, wide, -1, name, (int)size, NULL, NULL)) name[size - 1] = 0;
    LocalFree(wide);
}
static void prof__system_name(char *name, size_t size) { prof__description(GetCurrentThread(), name, size); }
#ifdef PROF__RENAMES
/* Writes the name of the thread with this id, or "". */
static void prof__system_name_of(uint64_t id, char *name, size_t size)
{
    HANDLE thread = OpenThread(0x0800 /* THREAD_QUERY_LIMITED_INFORMATION */, FALSE, (DWORD)id);
    name[0] = 0;
    if (!thread) return;
    prof__description(thread, name, size);
    CloseHandle(thread);
}
#endif
/* A key for one pointer for each thread, or fiber of Windows. The system passes the pointer to `end` when the thread
   ends. */
typedef DWORD prof__tss;
#define PROF__TSS_END WINAPI
static int prof__tss_make(prof__tss *key, void(PROF__TSS_END *end)(void *))
{
    prof__system_ask();
    return (*key = FlsAlloc(end)) != FLS_OUT_OF_INDEXES;
}
static int prof__tss_set(prof__tss key, void *pointer) { return FlsSetValue(key, pointer) != 0; }
static void prof__exits_watch(void) {}
#else
/* A thread can not be cancelled inside a macro, nor while it holds a lock of the recorder. */
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
static void prof__wait(void) /* sleeps 20 us: a thread of lower priority, which may have the lock, can run */
{
    struct timespec moment = {0, 20000};
    int cancel = prof__cancel_disable();
    nanosleep(&moment, NULL);
    prof__cancel_restore(cancel);
}
#ifdef __wasi__ /* WASI has no processes */
static uint64_t prof__process_id(void) { return 1; }
static uint64_t prof__parent_id(void) { return 0; }
#else
static uint64_t prof__process_id(void) { return (uint64_t)getpid(); }
static uint64_t prof__parent_id(void) { return (uint64_t)getppid(); }
#endif
static uint64_t prof__thread_id(void)
{
#ifdef __linux__
    return (uint64_t)syscall(SYS_gettid);
#else
    return (uint64_t)(uintptr_t)pthread_self();
#endif
}
#if defined(__APPLE__) && (!defined(_POSIX_C_SOURCE) || defined(_DARWIN_C_SOURCE)) /* else not declared */
#define PROF__PTHREAD_NAME(thread, name, size) (void)pthread_getname_np(thread, name, size)
#else
#define PROF__PTHREAD_NAME(thread, name, size) (void)(size)
#endif
static void prof__system_name(char *name, size_t size) /* size: at least 16 */
{
    memset(name, 0, size); /* prctl() may fail; and the memory sanitizer does not see that it writes */
#ifdef __linux__
    prctl(PR_GET_NAME, name, 0, 0, 0);
#else
    PROF__PTHREAD_NAME(pthread_self(), name, size);
#endif
}
#ifdef PROF__RENAMES
/* Writes the name of the thread with this id, or "". */
static void prof__system_name_of(uint64_t id, char *name, size_t size)
{
    name[0] = 0;
#ifdef __linux__
    char path[64];
    int cancel = prof__cancel_disable(), file = -1;
    if (id == prof__thread_id())
        prof__system_name(name, size); /* works in a sandbox without /proc */
    else if (snprintf(path, sizeof path, "/proc/self/task/%llu/comm", (unsigned long long)id) > 0)
        file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file >= 0 ? read(file, name, size - 1) : 0;
    if (file >= 0) close(file);
    if (file >= 0) name[got > 0 ? got - (name[got - 1] == '\n') : 0] = 0;
    prof__cancel_restore(cancel);
#else
    PROF__PTHREAD_NAME((pthread_t)(uintptr_t)id, name, size);
    (void)id;
#endif
}
#endif
/* A key for one pointer for each thread. The system passes the pointer to `end` when the thread ends. */
typedef pthread_key_t prof__tss;
#define PROF__TSS_END
static int prof__tss_make(prof__tss *key, void (*end)(void *)) { return !pthread_key_create(key, end); }
static void *prof__tss_get(prof__tss key) { return pthread_getspecific(key); }
static int prof__tss_set(prof__tss key, void *pointer) { return !pthread_setspecific(key, pointer); }
#ifdef PROF__SHARED
static int prof__exits;
static void prof__exit_begins(void) { prof__exits = 1; } /* before destructors at exit, after them in dlclose() */
#endif
static void prof__exits_watch(void)
{
#ifdef PROF__SHARED
    atexit(prof__exit_begins);
#endif
}
#endif
#endif

#ifndef PROF_FREESTANDING
#define PROF__UTF8_REPLACED "\xEF\xBF\xBD" /* U+FFFD, written for bytes that are not UTF-8 */

/* Returns how many bytes the UTF-8 character at text has. If the bytes there are invalid, returns minus the number of
   bytes that one U+FFFD replaces. */
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

/* Returns how many bytes the UTF-8 character at text has, or 0 if the bytes there are invalid. */
static size_t prof__utf8(const char *text)
{
    int length = prof__utf8_length(text);
    return length > 0 ? (size_t)length : 0;
}

/* Returns 1 for a control character of Unicode: a terminal may obey it. */
static int prof__is_control(const char *text)
{
    unsigned char first = (unsigned char)text[0];
    return first < 0x20 || first == 0x7F || (first == 0xC2 && (unsigned char)text[1] < 0xA0);
}

/* Returns the text after its first character. An invalid byte counts as a character. */
static const char *prof__next_character(const char *text)
{
    size_t length = prof__utf8(text);
    return text + (length ? length : 1);
}

/* Returns 1 for a byte that is not the first one of its character. */
static int prof__utf8_inner(char byte) { return ((unsigned char)byte & 0xC0) == 0x80; }

/* Returns how many of a text's first `most` bytes to keep, so that the cut is not inside a character. The text has more
   bytes than that. Bytes that are not UTF-8 do not make the rest shorter. */
static size_t prof__utf8_cut(const char *text, size_t most)
{
    size_t back = 0;
    while (back < 4 && back < most && prof__utf8_inner(text[most - back])) back++;
    return back < 4 ? most - back : most;
}

static size_t prof__characters(const char *text)
{
    size_t count = 0;
    for (; *text; text = prof__next_character(text)) count++;
    return count;
}
#endif

/*-- ERRORS ---------------------------------------------------------------------------------------------- >>errors --*/

#define PROF__ERROR_SIZE 256
#ifdef PROF_TINY /* PROF_TINY keeps status codes only */
#define prof__fail(status, ...) (status)
#elif defined(PROF_FREESTANDING)
static char prof__error_text[PROF__ERROR_SIZE];
#define PROF__ERROR_TEXT() prof__error_text
#elif defined(_WIN32)
static PROF__PER_THREAD char prof__error_text[PROF__ERROR_SIZE];
static char *prof__error_here(void) { return prof__error_text; }
#define PROF__ERROR_TEXT() prof__error_here()
#else
/* Most threads never fail, so a thread gets memory for its message at its first failure. When the thread ends, the
   memory stays in a list, and another thread may take it. No function here takes a lock or calls malloc(), so all work
   in signal handlers. */
typedef struct prof__error_place {
    char text[PROF__ERROR_SIZE];
    struct prof__error_place *next;
    uint32_t taken;
} prof__error_place;
static prof__error_place *prof__error_places; /* the list of all messages; none is removed before unload */
static prof__tss prof__error_key;
static uint32_t prof__error_key_state; /* 0: not made; 1: being made; 2: made; 3: the system has no key left */

static void prof__error_leaves(void *place) { PROF__RELEASE(&((prof__error_place *)place)->taken, 0u); }

static int prof__error_key_made(void)
{
    uint32_t state = 0;
    if (__atomic_compare_exchange_n(&prof__error_key_state, &state, 1u, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
        state = prof__tss_make(&prof__error_key, prof__error_leaves) ? 2 : 3;
        PROF__RELEASE(&prof__error_key_state, state);
    }
    return state == 2;
}

static prof__error_place *prof__error_take(void)
{
    prof__error_place *place = PROF__ACQUIRE(&prof__error_places);
    while (place && __atomic_exchange_n(&place->taken, 1u, __ATOMIC_ACQUIRE)) place = place->next;
    if (place) {
        place->text[0] = 0;
        return place;
    }
    void *map = mmap(NULL, sizeof *place, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) return NULL;
    place = (prof__error_place *)map;
    place->taken = 1;
    place->next = PROF__LOAD(&prof__error_places);
    while (!__atomic_compare_exchange_n(&prof__error_places, &place->next, place, 0, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED)) {
    }
    return place;
}

/* Returns the calling thread's message buffer. If the system has no memory or no key left, threads share one buffer. */
static char *prof__error_here(void)
{
    static prof__error_place shared;
    PROF__FORWARD(prof__error_here, ());
    if (!prof__error_key_made()) return shared.text;
    prof__error_place *place = (prof__error_place *)prof__tss_get(prof__error_key);
    if (place) return place->text;
    place = prof__error_take();
    if (!place) return shared.text;
    if (prof__tss_set(prof__error_key, place)) return place->text;
    prof__error_leaves(place);
    return shared.text;
}
#define PROF__ERROR_TEXT() prof__error_here()

/* Frees all messages. Called when the library is unloaded, when no thread can ask for its message any more. */
static void prof__errors_unmap(void)
{
    prof__error_place *place = prof__error_places;
    if (prof__error_key_state == 2) pthread_key_delete(prof__error_key);
    prof__error_key_state = 3;
    prof__error_places = NULL;
    while (place) {
        prof__error_place *next = place->next;
        munmap(place, sizeof *place);
        place = next;
    }
}
#endif

#ifndef PROF_TINY
static prof_status prof__fail(prof_status status, const char *format, ...) PROF__PRINTF(2, 3);
#ifdef PROF_FREESTANDING
/* Formats a message without the C library's printf(). Supports %s, %.20s, %d and %%, which are the only conversions in
   messages of a freestanding build. */
static void prof__error_format(const char *format, va_list list)
{
    size_t at = 0;
    for (; *format && at < PROF__ERROR_SIZE - 1; ++format) {
        char digits[12], *number = digits + sizeof digits;
        const char *text = format;
        size_t most = 1;
        if (*format == '%') {
            most = PROF__ERROR_SIZE;
            if (*++format == '.')
                for (most = 0; *++format >= '0' && *format <= '9';) most = most * 10 + (size_t)(*format - '0');
            if (*format == 's') {
                text = va_arg(list, const char *);
            } else if (*format == 'd') {
                int value = va_arg(list, int), left = value;
                *--number = 0;
                do *--number = (char)('0' + (left < 0 ? -(left % 10) : left % 10));
                while ((left /= 10) != 0);
                if (value < 0) *--number = '-';
                text = number;
            } else {
                text = format;
                most = *format != 0;
            }
        }
        while (*text && most-- && at < PROF__ERROR_SIZE - 1) prof__error_text[at++] = *text++;
        if (!*format) break;
    }
    prof__error_text[at] = 0;
}
#endif

#ifndef PROF_FREESTANDING
/* Sets the thread's message. A text that is too long is shortened in its middle: messages begin with what failed and
   end with the reason, and a long path stands between. */
static void prof__error_set(const char *text)
{
    const size_t head = PROF__ERROR_SIZE / 3, room = PROF__ERROR_SIZE - 4;
    size_t length = prof__length(text), first = length, rest = length;
    if (length >= PROF__ERROR_SIZE) {
        first = prof__utf8_cut(text, head);
        rest = length - (room - head);
        while (prof__utf8_inner(text[rest])) ++rest;
    }
    char *to = PROF__ERROR_TEXT();
    prof__copy(to, text, first);
    if (rest > first) prof__copy(to + first, "...", 3);
    prof__copy(to + first + (rest > first ? 3 : 0), text + rest, length - rest + 1);
}
#endif

static prof_status prof__fail(prof_status status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
#ifdef PROF_FREESTANDING
    prof__error_format(format, list);
#else
    char text[2600]; /* room for two long paths and more */
    if (vsnprintf(text, sizeof text, format, list) < 0) text[0] = 0;
    prof__error_set(text);
#endif
    va_end(list);
    return status;
}
#endif

#ifdef PROF_FREESTANDING /* a literal: there is no printf() to join the texts */
#define prof__must_be(name, values) prof__fail(PROF_INVALID_ARGUMENT, name ": must be " values)
#else
static prof_status prof__must_be(const char *name, const char *values)
{
    return prof__fail(PROF_INVALID_ARGUMENT, "%s: must be %s", name, values);
}

/* what: continues "no memory": "for ..." or "to ..." */
static prof_status prof__no_memory(const char *what)
{
    return prof__fail(PROF_NO_MEMORY, "no memory %s", what);
}

static prof_status prof__null(const char *function, const char *what)
{
    return prof__fail(PROF_INVALID_ARGUMENT, "%s: %s is null", function, what);
}

/* Reports that opening, reading or writing a file failed, with the reason in errno. otherwise: the reason if errno is
   0. */
static prof_status prof__cannot(const char *verb, const char *path, const char *otherwise)
{
    return prof__fail(PROF_IO, "cannot %s %s: %s", verb, path, errno ? strerror(errno) : otherwise);
}
#endif

/* Reports a call of something that this build does not contain. what: the function or key; by: the switch of >>options
   that removed it. */
static prof_status prof__left_out(const char *what, const char *by)
{
    (void)what, (void)by;
    return prof__fail(PROF_UNSUPPORTED, "%s: %s has left it out of this program", what, by);
}

#ifdef PROF_TINY
PROF_DEF const char *prof_error(void) { return ""; }
#else
PROF_DEF const char *prof_error(void) { return PROF__ERROR_TEXT(); }
#endif

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

#ifdef PROF_FREESTANDING
#ifndef PROF_INTERRUPTS_OFF
#define PROF__INTERRUPTS_COME 1 /* interrupts can come on this processor while a lock is held */
#define PROF_INTERRUPTS_OFF() 0
#define PROF_INTERRUPTS_RESTORE(before) ((void)(before))
#endif
typedef uintptr_t prof__signals;
static void prof__signals_block(prof__signals *prof__old) { *prof__old = (uintptr_t)(PROF_INTERRUPTS_OFF()); }
static void prof__signals_restore(const prof__signals *prof__old) { PROF_INTERRUPTS_RESTORE(*prof__old); }
#elif defined(_WIN32) || defined(__wasi__)
typedef int prof__signals;
static void prof__signals_block(prof__signals *old) { *old = 0; }
static void prof__signals_restore(const prof__signals *old) { (void)old; }
#endif
#ifdef PROF_FREESTANDING /* no files */
#else
/* Returns 1 if a system call was interrupted by a signal and must be repeated. tries: counts interruptions in a row,
   from 0. Gives up after 1000, because a sandbox may fail a call with EINTR for ever. */
static int prof__interrupted(int *tries) { return errno == EINTR && ++*tries < 1000; }
#endif
#ifdef PROF_FREESTANDING
#elif defined(PROF__NO_SIGNALS)
typedef int prof__file_signal;
static void prof__file_signal_hold_for(prof__file_signal *signal, int standard_output) { *signal = standard_output; }
static void prof__file_signal_hold(prof__file_signal *signal) { prof__file_signal_hold_for(signal, 0); }
static void prof__file_signal_drop(const prof__file_signal *signal) { (void)signal; }
#else
typedef sigset_t prof__signals;
/* Blocks all signals but faults: the kernel kills a thread with a blocked fault, without calling the handler */
static void prof__signals_block(prof__signals *old)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    sigset_t all;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; ++i) sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_BLOCK, &all, old);
}
static void prof__signals_restore(const prof__signals *old) { pthread_sigmask(SIG_SETMASK, old, NULL); }

/* A write beyond RLIMIT_FSIZE, or to a pipe without a reader, fails and also sends the thread a signal, which ends the
   program by default. Between prof__file_signal_hold() and prof__file_signal_drop() the write only fails. Neither
   function changes errno. */
static const int prof__file_signals[] = {SIGXFSZ, SIGPIPE};

typedef struct prof__file_signal {
    sigset_t before, waited; /* waited: signals of the program's own, pending before the hold */
    int count;               /* how many of prof__file_signals are blocked */
} prof__file_signal;

/* Blocks these signals. For standard output SIGPIPE is not blocked: if nobody reads the output, the program ends, as it
   would without prof. */
static void prof__file_signal_hold_for(prof__file_signal *signal, int standard_output)
{
    sigset_t set;
    int i;
    signal->count = standard_output ? 1 : 2;
    sigemptyset(&set);
    for (i = 0; i < signal->count; ++i) sigaddset(&set, prof__file_signals[i]);
    pthread_sigmask(SIG_BLOCK, &set, &signal->before);
    if (sigpending(&signal->waited)) sigemptyset(&signal->waited); /* a sandbox may refuse sigpending() */
}

static void prof__file_signal_hold(prof__file_signal *signal) { prof__file_signal_hold_for(signal, 0); }

/* Removes a pending, blocked signal of this number, if there is one. Does not wait. */
static void prof__signal_take(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
#if defined(__APPLE__) || defined(__OpenBSD__)
    sigset_t pending;
    if (!sigpending(&pending) && sigismember(&pending, number)) sigwait(&set, &number);
#else
    static const struct timespec at_once = {0, 0};
    sigtimedwait(&set, NULL, &at_once);
#endif
}

static void prof__file_signal_drop(const prof__file_signal *signal)
{
    int error = errno, i;
    sigset_t pending;
    int known = !sigpending(&pending);
    for (i = 0; i < signal->count; ++i) {
        int number = prof__file_signals[i];
        if (sigismember(&signal->waited, number)) continue;
        if (!known || sigismember(&pending, number)) prof__signal_take(number);
    }
    pthread_sigmask(SIG_SETMASK, &signal->before, NULL);
    errno = error;
}
#endif

#ifndef PROF_FREESTANDING
#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#define PROF__WIDE_SIZE 4096 /* the longest path, in UTF-16 units */

/* Converts a path to UTF-16. A path that is not valid UTF-8 is taken to be in the program's code page, as argv and
   getenv() have it. A path that is too long for the classic limit becomes absolute and gets the prefix "\\?\", which
   lifts that limit. Returns 0 if the path is longer than PROF__WIDE_SIZE. */
static int prof__wide(const char *path, WCHAR to[PROF__WIDE_SIZE])
{
    WCHAR given[PROF__WIDE_SIZE];
    int n = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, given, PROF__WIDE_SIZE);
    if (!n) n = MultiByteToWideChar(CP_ACP, 0, path, -1, given, PROF__WIDE_SIZE);
    if (!n) return 0;
    DWORD length = GetFullPathNameW(given, PROF__WIDE_SIZE - 8, to + 8, NULL); /* also turns slashes into backslashes */
    if (!length || length >= PROF__WIDE_SIZE - 8) return 0;
    int server = to[8] == '\\' && to[9] == '\\';
    if (length < 240 || (server && (to[10] == '?' || to[10] == '.'))) {
        memcpy(to, given, (size_t)n * sizeof *to);
        return 1;
    }
    const char *prefix = server ? "\\\\?\\UNC\\" : "\\\\?\\";
    size_t at = 0, from = server ? 10 : 8;
    while (prefix[at]) to[at] = (WCHAR)prefix[at], ++at;
    memmove(to + at, to + from, (8 + length + 1 - from) * sizeof *to);
    return 1;
}

/* Converts UTF-16 to UTF-8. Returns how many bytes it wrote, with the zero at the end, or 0 if `to` is too small. */
static int prof__narrow(const WCHAR *from, char *to, size_t size)
{
    int n = WideCharToMultiByte(CP_UTF8, 0, from, -1, to, (int)size, NULL, NULL);
    if (!n) to[0] = 0;
    return n;
}

static int prof__windows_errno(DWORD error)
{
    switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND: return ENOENT;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS: return EEXIST;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL: return ENOSPC;
    case ERROR_FILENAME_EXCED_RANGE: return ENAMETOOLONG;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION: return EACCES;
    default: return EIO;
    }
}

static HANDLE prof__windows_open(const char *path, DWORD access, DWORD share, DWORD how)
{
    WCHAR wide[PROF__WIDE_SIZE];
    if (prof__wide(path, wide)) return CreateFileW(wide, access, share, NULL, how, FILE_ATTRIBUTE_NORMAL, NULL);
    SetLastError(ERROR_FILENAME_EXCED_RANGE);
    return INVALID_HANDLE_VALUE;
}

static DWORD prof__windows_about(const char *path)
{
    WCHAR wide[PROF__WIDE_SIZE];
    return prof__wide(path, wide) ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;
}

static int prof__folder_create(const char *path) /* returns 0 or an errno */
{
    WCHAR wide[PROF__WIDE_SIZE];
    if (!prof__wide(path, wide)) return ENAMETOOLONG;
    return CreateDirectoryW(wide, NULL) ? 0 : prof__windows_errno(GetLastError());
}

static FILE *prof__file_open(const char *path, const char *mode)
{
    WCHAR wide[PROF__WIDE_SIZE], how[8];
    size_t i = 0;
    errno = ENAMETOOLONG;
    if (!prof__wide(path, wide)) return NULL;
    if (mode[0] == 'r') { /* works while another process renames the file, and lets others rename it */
        HANDLE file = CreateFileW(wide, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                  OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
        errno = prof__windows_errno(GetLastError());
        if (file == INVALID_HANDLE_VALUE) return NULL;
        int number = _open_osfhandle((intptr_t)file, _O_RDONLY | _O_BINARY);
        FILE *stream = number < 0 ? NULL : _fdopen(number, "rb");
        if (number < 0) CloseHandle(file);
        else if (!stream) _close(number);
        return stream;
    }
    for (; mode[i] && i < 7; ++i) how[i] = (WCHAR)mode[i];
    how[i] = 0;
    return _wfopen(wide, how);
}

static int prof__file_remove(const char *path)
{
    WCHAR wide[PROF__WIDE_SIZE];
    return prof__wide(path, wide) && DeleteFileW(wide) ? 0 : -1;
}

static int prof__file_rename(const char *from, const char *to) /* replaces an existing file */
{
    WCHAR old[PROF__WIDE_SIZE], wide[PROF__WIDE_SIZE];
    errno = ENAMETOOLONG;
    if (!prof__wide(from, old) || !prof__wide(to, wide)) return -1;
    for (int i = 0; i < 100; ++i) { /* another process may have the old file open for a moment */
        if (MoveFileExW(old, wide, MOVEFILE_REPLACE_EXISTING)) return 0;
        errno = prof__windows_errno(GetLastError());
        if (errno != EACCES) return -1;
        Sleep(i < 20 ? 1 : 10);
    }
    return -1;
}

/* Returns an environment variable as UTF-8, or NULL. The text stays valid for ever, like that of getenv(): each
   different text is kept once. */
static const char *prof__windows_variable(const char *name)
{
    typedef struct kept_text { struct kept_text *next; char text[1]; } kept;
    static kept *first;
    char text[PROF__WIDE_SIZE];
    WCHAR wide[64], value[PROF__WIDE_SIZE];
    size_t i = 0;
    for (; name[i] && i < 63; ++i) wide[i] = (WCHAR)(unsigned char)name[i];
    wide[i] = 0;
    DWORD length = GetEnvironmentVariableW(wide, value, PROF__WIDE_SIZE);
    if (!length || length >= PROF__WIDE_SIZE) return getenv(name); /* empty, none, or too long */
    if (!prof__narrow(value, text, sizeof text)) return NULL;
    for (kept *each = PROF__ACQUIRE(&first); each; each = each->next)
        if (!strcmp(each->text, text)) return each->text;
    kept *one = (kept *)malloc(sizeof *one + strlen(text));
    if (!one) return NULL;
    strcpy(one->text, text);
    one->next = PROF__ACQUIRE(&first);
    while (!__atomic_compare_exchange_n(&first, &one->next, one, 0, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) {}
    return one->text;
}
#else
static FILE *prof__file_open(const char *path, const char *mode)
{
#if defined(PROF__NARROW) && !defined(fopen)
    return prof__libc_fopen(path, mode);
#else
    return fopen(path, mode);
#endif
}
#define prof__file_remove(path) remove(path)
static int prof__file_rename(const char *from, const char *to) { return rename(from, to); }
#endif

/* Sets a stream's position, also beyond 2 GiB where long has 32 bits. Returns 0 if it succeeds, like fseek(). */
static int prof__file_seek(FILE *file, uint64_t offset, int from)
{
    if (offset > (uint64_t)INT64_MAX) return -1;
#ifdef _WIN32
    return _fseeki64(file, (long long)offset, from);
#else
    return fseeko(file, (prof__offset)offset, from);
#endif
}
#endif

#ifndef PROF_FREESTANDING
/*-- OUTPUT -------------------------------------------------------------------------------------------------- >>out --
   Every report and exporter writes through this. After the first error the writer accepts and discards everything, and
   prof__out_close() returns that error. A regular file is written under a temporary name, "<path>.<process>-<n>.part"
   (a long name is shortened), and renamed when complete, so nobody sees half a file. If the path is a symbolic link,
   the file that the link leads to is replaced. A fifo or a device is written directly. */

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
#define PROF__OUT_RESERVE ((size_t)4096) /* the largest request of prof__out_reserve(), bytes */

typedef struct prof__out {
    char *cursor, *limit; /* the free part of the buffer */
    char *buffer;         /* PROF__OUT_SIZE bytes on the heap; reserve if there is no memory */
    prof_sink sink;       /* write is NULL for files */
    FILE *file;
    char *path, *part; /* owned; part: the temporary name, NULL for a fifo or device */
    char *target;      /* owned: the file that path, a symbolic link, leads to; else NULL */
    int restore;       /* Windows: standard output's mode (text, binary) before */
    size_t flushes;    /* how often the buffer was written out */
    uint64_t hole;     /* zero bytes to skip in the file before the next write */
    prof_status status;
    char reserve[PROF__OUT_RESERVE];
} prof__out;

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

/* Marks the output as failed, unless it has failed before. For a caller that cannot produce the rest of its text. */
static void prof__out_fail(prof__out *out, prof_status status)
{
    if (out->status == PROF_OK) out->status = status;
}

/* Seeks over the pending zeros, which leaves a hole in the file. Returns 0 if that fails. */
static int prof__out_skip(prof__out *out)
{
    int failed = out->hole ? prof__file_seek(out->file, out->hole, SEEK_CUR) : 0;
    if (!failed) out->hole = 0;
    return !failed;
}

/* Writes bytes to the file or sink. Sets the output's status if that fails. */
static void prof__out_deliver(prof__out *out, const char *data, size_t size)
{
    if (!size || out->status != PROF_OK) return;
    if (out->sink.write) {
        if (out->sink.write(out->sink.user, data, size))
            out->status = prof__fail(PROF_IO, "the sink refused %lu bytes", (unsigned long)size);
    } else if (out->file) {
        prof__file_signal signal;
        size_t done = 0, before;
        int tries = 0;
        prof__file_signal_hold_for(&signal, out->file == stdout);
        int moved = prof__out_skip(out);
        if (moved) do {
            errno = 0;
            before = done;
            done += fwrite(data + done, 1, size - done, out->file);
            if (done > before) tries = 0;
        } while (done < size && prof__interrupted(&tries));
        if (done < size)
            out->status = prof__cannot("write", out->part ? out->part : out->path, "write error");
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

/* Returns room for size bytes (at most PROF__OUT_RESERVE) in the buffer. Never fails. prof__out_commit() says how many
   of them were written. */
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

/* Writes size zero bytes. In a new file a long run becomes a hole, which takes no space on the disk. */
static void prof__out_zeros(prof__out *out, uint64_t size)
{
    if (out->part && size > PROF__OUT_RESERVE) {
        prof__out_flush(out);
        out->hole += size - 1; /* writing the last byte sets the file's length */
        size = 1;
    }
    while (size) {
        size_t part = size < PROF__OUT_RESERVE ? (size_t)size : PROF__OUT_RESERVE;
        memset(prof__out_reserve(out, part), 0, part);
        prof__out_commit(out, part);
        size -= part;
    }
}

static void prof__out_text(prof__out *out, const char *text)
{
    prof__out_bytes(out, text, strlen(text));
}

static void prof__out_unsigned(prof__out *out, uint64_t value)
{
    prof__out_commit(out, prof__digits(prof__out_reserve(out, 20), value));
}

static void prof__out_signed(prof__out *out, int64_t value)
{
    char *to = prof__out_reserve(out, 21);
    if (value < 0) {
        *to = '-';
        prof__out_commit(out, 1 + prof__digits(to + 1, 0 - (uint64_t)value));
    } else {
        prof__out_commit(out, prof__digits(to, (uint64_t)value));
    }
}

static void prof__out_double(prof__out *out, double value)
{
    prof__out_commit(out, prof__double_text(prof__out_reserve(out, 32), value));
}

static void prof__out_sink(prof__out *out, prof_sink sink)
{
    prof__out_init(out);
    out->sink = sink;
    if (!sink.write) out->status = prof__fail(PROF_INVALID_ARGUMENT, "sink.write is null");
}

static int prof__is_slash(char c)
{
#ifdef _WIN32
    return c == '/' || c == '\\';
#else
    return c == '/';
#endif
}

#define PROF__NAME_MOST ((size_t)255)  /* the longest file name of nearly all file systems, bytes */
#define PROF__NAME_SHORT ((size_t)143) /* the longest on encrypted file systems; for temporary files */

/* Writes to `to` the first `base` bytes of path, then ending. If the file's name becomes longer than `most` bytes, it
   is cut before the ending, and a hash of the whole name keeps it different from others (not with PROF_MINIMAL).
   Returns 0 if `to` is too small. Async-signal-safe. */
static int prof__path_ending(const char *path, size_t base, const char *ending, size_t most, char *to, size_t size)
{
    size_t end = prof__length(ending), hashed = 0;
#ifdef PROF_MINIMAL
    (void)most;
#else
    size_t name = base;
    uint32_t hash = 0;
    while (name && !prof__is_slash(path[name - 1])) --name;
    if (base - name + end > most && end + 9 < most) {
        hash = prof__hash(path + name, base - name);
        base = name + prof__utf8_cut(path + name, most - end - 9);
        hashed = 9;
    }
#endif
    if (base + hashed + end >= size) return 0;
    prof__copy(to, path, base);
#ifndef PROF_MINIMAL
    for (size_t i = 0; i < hashed; ++i) to[base + i] = i ? "0123456789abcdef"[hash >> (4 * (8 - i)) & 15] : '~';
#endif
    prof__copy(to + base + hashed, ending, end + 1);
    return 1;
}

/* Returns 1 if path does not exist or is a regular file, so that a rename can replace it. Does not follow links. */
static int prof__file_replaceable(const char *path)
{
#ifdef _WIN32
    static const char *const devices[] = {"nul", "con", "prn", "aux", "conout$"};
    size_t i, n;
    if (!strncmp(path, "\\\\.\\", 4)) return 0;
    for (i = 0; i < sizeof devices / sizeof *devices; i++) {
        for (n = 0; devices[i][n] && (path[n] | 32) == (devices[i][n] | 32); n++) continue;
        if (!devices[i][n] && (!path[n] || path[n] == ':')) return 0;
    }
    return 1;
#else
    prof__about about;
    return prof__lstat(path, &about) != 0 || S_ISREG(about.st_mode);
#endif
}

#ifndef _WIN32
#define PROF__PATH_SIZE ((size_t)2048)
#define PROF__PATH_LINKS 40 /* symbolic links followed for one path; the kernel's limit */
#define PROF__PATH_STICKY 01000

enum {
    PROF__PATH_PLAIN,   /* the path is not a link: write the path */
    PROF__PATH_LINK,    /* the path is a link: write `done`, the file that it leads to, which need not exist */
    PROF__PATH_DIRECT,  /* the path leads to an open file of a process, like /dev/stdout: open the path itself */
    PROF__PATH_PLANTED, /* `done` is a link or a fifo that another user may have put there: refuse */
    PROF__PATH_UNKNOWN  /* the path is too long, or its links form a circle: let the system report it */
};

/* A path that is being followed. done: the part whose links are resolved; rest: the part still to follow; link:
   scratch. */
typedef struct prof__path {
    char done[PROF__PATH_SIZE], rest[PROF__PATH_SIZE], link[PROF__PATH_SIZE];
} prof__path;

/* Returns 1 if another user may have planted `thing` in folder: the folder is like /tmp (everybody may create files,
   only owners may remove them), and the thing's owner is neither this user nor the folder's owner. The kernel's
   fs.protected_symlinks has the same rule. */
static int prof__path_planted(const char *folder, const prof__about *thing)
{
#ifdef __wasi__ /* WASI has no users */
    (void)folder, (void)thing;
    return 0;
#else
    prof__about about;
    return thing->st_uid != geteuid() && !prof__stat(*folder ? folder : ".", &about) &&
           about.st_mode & PROF__PATH_STICKY && about.st_mode & S_IWOTH && thing->st_uid != about.st_uid;
#endif
}

/* Replaces the link at p->done with its target: puts the target in front of p->rest. folder: the length of p->done
   without the link's name. Returns 0 if the path becomes too long. */
static int prof__path_link(prof__path *p, size_t folder)
{
    ssize_t n = readlink(p->done, p->link, sizeof p->link - 1);
    size_t rest = strlen(p->rest);
    if (n <= 0 || (size_t)n + 1 + rest >= sizeof p->rest) return 0;
    memmove(p->rest + n, p->rest, rest + 1); /* rest is empty or begins with a slash */
    memcpy(p->rest, p->link, (size_t)n);
    p->done[p->link[0] == '/' ? 0 : folder] = 0;
    return 1;
}

/* Follows all links of a path and returns one of PROF__PATH_... Async-signal-safe. */
static int prof__path_follow(prof__path *p, const char *path)
{
    prof__about about;
    int result = !prof__lstat(path, &about) && S_ISLNK(about.st_mode) ? PROF__PATH_LINK : PROF__PATH_PLAIN, links = 0;
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
        if (!name || prof__lstat(p->done, &about) || !(S_ISLNK(about.st_mode) || S_ISFIFO(about.st_mode))) continue;
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
    return prof__fail(PROF_IO, "%.80s: %s is another user's, in a folder where anyone may create files: remove it, or "
                      "write elsewhere", path, p->done + (length > 80 ? length - 80 : 0));
}

/* Opens a device or a fifo for writing. Returns NULL with errno EPIPE for a fifo without a reader, instead of waiting
   for one. follow: whether path may be a link. */
static FILE *prof__file_direct(const char *path, int follow)
{
    prof__about about;
    int file = open(path, O_WRONLY | O_TRUNC | O_NONBLOCK | O_NOCTTY | PROF__O_FILE | (follow ? 0 : O_NOFOLLOW)), flags;
    FILE *stream;
    if (file < 0 && errno == ENXIO && !prof__stat(path, &about) && S_ISFIFO(about.st_mode)) errno = EPIPE;
    if (file < 0) return NULL;
    flags = fcntl(file, F_GETFL);
    if (flags >= 0) fcntl(file, F_SETFL, flags & ~O_NONBLOCK); /* writes wait for a slow reader */
    stream = fdopen(file, "wb");
    if (!stream) close(file);
    return stream;
}

/* Creates a file. Removes an old temporary file of the same name, which a killed process has left. O_EXCL does not
   follow a link that somebody has put there. */
static FILE *prof__file_new(const char *path)
{
    FILE *stream;
    int file = -1;
    for (int i = 0; i < 2 && file < 0; i++) {
        file = open(path, O_WRONLY | O_CREAT | O_EXCL | PROF__O_FILE, PROF__FILE_MODE);
        if (file < 0 && (errno != EEXIST || unlink(path))) return NULL;
    }
    stream = file < 0 ? NULL : fdopen(file, "wb");
    if (file >= 0 && !stream) {
        int error = errno;
        close(file);
        unlink(path);
        errno = error;
    }
    return stream;
}
#else
static FILE *prof__file_new(const char *path) { return prof__file_open(path, "wb"); }
#endif

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

/* Returns 1 if path is a directory or ends with a slash: the writer then creates files in it. */
static int prof__is_folder(const char *path)
{
    size_t n = prof__length(path);
    if (!n) return 0;
    if (prof__is_slash(path[n - 1])) return 1;
#ifdef _WIN32
    DWORD about = prof__windows_about(path);
    return about != INVALID_FILE_ATTRIBUTES && (about & FILE_ATTRIBUTE_DIRECTORY);
#else
    prof__about about;
    return !prof__stat(path, &about) && S_ISDIR(about.st_mode);
#endif
}

/* Creates a directory and its missing parents. Returns 0 or an errno. Async-signal-safe. */
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
        error = prof__folder_create(part);
#else
        error = mkdir(part, 0755) ? errno : 0;
#endif
        if (error == EEXIST) error = prof__is_folder(part) ? 0 : ENOTDIR; /* another process may have been first */
    }
    return error;
}

static prof_status prof__folder_make(const char *path)
{
    int error = prof__folder_add(path);
    return error ? prof__fail(PROF_IO, "cannot make the directory %.400s: %s", path, strerror(error)) : PROF_OK;
}

/* Writes the directory part of a file's path, or "." if the path has none. Returns 0 if `to` is too small. */
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

/* Creates the directory of a file's path, unless it exists. Returns 0 or an errno. Async-signal-safe. */
static int prof__folder_for(const char *path)
{
    char folder[1200];
    if (!prof__folder_of(path, folder, sizeof folder)) return ENAMETOOLONG;
    return prof__is_folder(folder) ? 0 : prof__folder_add(folder);
}

/* Frees an output that could not be opened. Returns status. */
static prof_status prof__out_refuse(prof__out *out, prof_status status)
{
    prof__out_free(out);
    return status;
}

/* Returns the temporary name for writing the file at path, on the heap, or NULL if there is no memory. */
static char *prof__out_part(const char *path)
{
    static unsigned counter; /* if two threads write one path at once, the file is that of the last, complete */
    char ending[48];
    size_t length = strlen(path), size;
    snprintf(ending, sizeof ending, ".%llu-%u.part", (unsigned long long)prof__process_id(), PROF__ADD(&counter, 1u));
    size = length + sizeof ending + 10;
    char *part = (char *)malloc(size);
    if (part) prof__path_ending(path, length, ending, PROF__NAME_SHORT, part, size);
    return part;
}

/* Creates a file and its missing directories. Returns NULL, with errno, if that fails. */
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

#ifndef _WIN32
/* Returns an error if the system refuses the name as too long. The error says how long the name is and how long it can
   be. */
static prof_status prof__name_check(const char *path)
{
    prof__about about;
    size_t length = prof__length(path), name = length;
    if (!prof__lstat(path, &about) || errno != ENAMETOOLONG) return PROF_OK;
    while (name && path[name - 1] != '/') --name;
    if (length - name <= PROF__NAME_MOST) return prof__cannot("create", path, NULL);
    return prof__fail(PROF_IO, "cannot create %s: the name has %lu bytes, and can have %lu", path,
                      (unsigned long)(length - name), (unsigned long)PROF__NAME_MOST);
}
#endif

#ifdef _WIN32
static prof_status prof__out_open(prof__out *out, const char *path)
{
    int part = prof__file_replaceable(path);
    out->path = prof__text_join(path, "");
    if (part) out->part = prof__out_part(path);
    if (!out->path || (part && !out->part)) return prof__fail(PROF_NO_MEMORY, "no memory to write %s", path);
    out->file = part ? prof__out_make(out->part) : prof__file_open(out->path, "wb");
    if (out->file) return PROF_OK;
    return prof__cannot("create", part ? out->part : out->path, NULL);
}
#else
static prof_status prof__out_open(prof__out *out, const char *path)
{
    prof__path followed;
    int way = prof__path_follow(&followed, path), part = way != PROF__PATH_DIRECT;
    const char *target = way == PROF__PATH_LINK ? followed.done : path;
    if (way == PROF__PATH_PLANTED) return prof__path_refuse(&followed, path);
    prof_status status = prof__name_check(target);
    if (status) return status;
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
    return prof__cannot("create", part ? out->part : path, NULL);
}
#endif

/* Opens a file, and creates missing directories of its path. path: NULL or "-" is standard output. If the result is not
   PROF_OK, the output is freed and must not be closed. */
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
    if (!out->path) return prof__out_refuse(out, prof__no_memory("to write standard output"));
    out->file = stdout;
#ifdef _WIN32
    fflush(stdout);
    out->restore = _setmode(1, _O_BINARY);
#endif
    return PROF_OK;
}

/* Opens the sink or, if that is NULL, the file at path. */
static prof_status prof__out_to(prof__out *out, const char *path, const prof_sink *sink)
{
    if (!sink) return prof__out_file(out, path);
    prof__out_sink(out, *sink);
    return PROF_OK;
}

/* Writes the buffered rest, renames a complete file to its final name, removes a failed one, and frees the output.
   Returns the first error of all. */
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
            out->status = prof__cannot("write", out->part ? out->part : out->path, "write error");
        if (out->part && out->status == PROF_OK && prof__file_rename(out->part, out->target ? out->target : out->path))
            out->status = prof__fail(PROF_IO, "cannot rename %s to %s: %s", out->part, out->path, strerror(errno));
        if (out->part && out->status != PROF_OK) prof__file_remove(out->part);
    }
    status = out->status;
    prof__out_free(out);
    return status;
}
#endif

/*-- IMAGE -------------------------------------------------------------------------------------------------- >>image --
   The format of a recording: the same bytes in memory, in a .prof file and in a core dump. Every field has a fixed
   width and the byte order of the program that writes. docs/format.md is the guide for readers.

     prof__header       at 0
     meta               append-only records: strings, call sites, session key/values; published by their non-zero head
     index              a hash table over meta, private to the recorder; readers ignore it
     chunks             the ring: chunk_count slots of chunk_size bytes. A slot is one chunk: a prof__chunk, then words.
                        Or it was split into chunks of a half, a quarter and so on; each states its own size

   A chunk belongs to one thread at a time. Its words are a sequence of records. The first word of a record is its head.
   The writer stores the head last: its non-zero kind publishes the record. So a reader stops at the first word where a
   head should be and whose kind is 0. Layouts (bits):

       63..60 kind   59..40 call site id   39..0 ticks since the chunk's base     BEGIN END MARK FRAME
                                                                                  COUNTER_*, then 1 word: the value
       63..60 kind   59..40 call site id   39..32 value type   31 cut   15..0 n   ARG, then n words: the value
                     30 key   29 to                                               NAME, the same: a string, site 0
       63..60 kind   59..32 serial, low part   31 fiber   29..0 name (string id)  TRACK, then 2 words:
                     30 the name is the system's
                     63..40 serial, high part   39..0 track id;  63..0 thread id
       63..60 kind   39..0 count                                                  LOST
       63..60 kind   59..40 call site id   39..0 ticks since the chunk's base     EVENT, then 2 words:
                     63..8 detail   7..0 prof_event_type;  63..0 object
       63..60 kind   59..40 call site id   39..32 value type   31 cut   15..0 n   DATA, then n words: the value

   TRACK says to which track the records after it belong, and on which thread they were made. Each chunk begins with
   one. Its serial counts the TRACK records of its track from 1, over all threads and chunks. It orders them, and a
   missing number shows a missing chunk. If bit 30 says that the name is the system's, it is the name that the thread
   had when the track began; a THREAD record of meta has a newer one.
   ARG is an argument of the innermost open scope of its track. If bit 29 is set, the last word of the ARG is the head
   of a BEGIN without its ticks, and the argument belongs to the innermost open scope of that call site.
   DATA is a value of the EVENT, MARK or DATA directly before it. Its call site is the value's key, or 0 for none.
   An ARG or DATA with bit 30 is a string: the key of the next record, which has the same kind and call site 0.
   A DATA after a FRAME is the number of the frame's boundary, counted from 0 for each name and track. Only some FRAMEs
   have one, but at least the first FRAME of each chunk: a reader counts on from there. If no FRAME has a number, the
   first one is number 0.
   An EVENT whose type is no prof_event_type belongs to a device, not to its track: see >>device.
   NAME is the run-time name of the BEGIN, MARK or EVENT directly before it.
   An END closes the innermost open scope of its call site. If no scope of that call site is open, it closes the
   innermost one of the same name. Scopes that are open inside the closed one have no end: longjmp() has left them.
   A string ends with at least one zero byte and is padded with zeros to whole words.
   Chunks are in the order of their sequence numbers.
   A power loss can leave some pages of a file as they were at an earlier time: empty, or with words of another chunk
   that had the same place. A reader must not take such words for this chunk's. So a chunk with PROF__FORM_MARKED has
   parts: its pages, or its quarters if it is larger than four pages. Until a record needs the last word of a part, that
   word is a mark, which names this chunk: see prof__part_state(). The last part's last word always is a mark. When the
   thread goes on to another part or leaves the chunk, the header gets a sum of the last words of each part that it
   leaves: see prof__part_sum() and >>intact. */

#define PROF__MAGIC "prof.img"
#define PROF__IMAGE_VERSION 4
#define PROF__IMAGE_OLDEST 3 /* the oldest version that readers accept; its slots are never split */
#define PROF__BYTE_ORDER 0x01020304u
#define PROF__TICK_BITS 40
#define PROF__TICK_MASK ((1ull << PROF__TICK_BITS) - 1)
#define PROF__SITE_BITS 20
#define PROF__SITE_MASK ((1u << PROF__SITE_BITS) - 1)
#define PROF__KIND_SHIFT 60
#define PROF__NAME_OF_SYSTEM (1u << 30) /* in TRACK: the name is the system's */
#define PROF__ARG_KEY (1u << 30) /* in ARG and DATA: this is the key of the next record */
#define PROF__ARG_TO (1u << 29)  /* in ARG: the last word says to which scope it belongs */

/* One moment on the session's clock (tick) and on the system's clocks. width: ticks that passed while CLOCK_MONOTONIC
   was read; the smaller, the more exact the pair. */
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
    uint32_t state;       /* PROF__RUNNING or PROF__STOPPED */
    uint32_t session;     /* the session's number in its process, from 1 */
    uint64_t pid;
    uint64_t tick_hz;     /* as the processor or the user states it; 0: compute it from the pairs */
    uint64_t resolution_ticks, cost_ticks_x1000; /* the clock's resolution; what one scope costs */
    prof__pair first, last;                      /* at the session's start; the newest one known */
    uint64_t next_chunk;  /* counts chunks that were tried: the ring's position */
    uint64_t overwritten; /* chunks whose older words were lost by reuse */
    uint64_t meta_used;   /* bytes */
    uint64_t lost;        /* events lost on threads without a chunk; a chunk counts those of its thread */
    uint64_t sites_lost;  /* call sites and names that did not fit into meta */
    uint64_t tracks;      /* how many track ids are in use, at most 2^40 - 1 */
    uint64_t parent_pid;  /* the process that created this one; 0: unknown */
    char program[64], clock_name[24], boot_id[40]; /* boot_id: tells whether the processor's counter has restarted */
    /* PROF_STREAM: file offsets of the archive: where its region begins and ends, its oldest block, where its next
       block goes */
    uint64_t archive_offset, archive_limit, archive_first, archive_next;
    uint64_t write_failures; /* failed writes in the background, each of which is tried again */
    char write_error[64];    /* why the last one failed, or why the file stopped growing */
    uint64_t window_from, window_to; /* ticks: readers show this window only; 0: no limit */
    uint64_t copy_tick; /* in a copy of a running image: when the copy began; later events may be missing.
                           0: this is no copy */
    /* The header of an older image may end here: prof__read_header() sets the rest to 0. */
    uint64_t taken_back;    /* scopes removed as too short, in chunks reused since; other chunks count theirs */
    uint64_t call_x1000;    /* ticks: the cost of a call traced by the compiler's hooks; 0: no hooks */
    uint64_t text_x1000, format_x1000; /* ticks: the cost of a scope with a run-time name; and with a formatted one */
    uint64_t lost_args;     /* lost arguments of all threads; arguments are no events */
    uint64_t lost_busy;     /* of the lost events: those that had room: see prof__lose_busy() */
    uint64_t lost_deep;     /* of the lost events: PROFILE_BEGINs beyond what can be open (record/unscoped_slots.h), and
                               calls nested deeper than PROF_INSTRUMENT_DEPTH */
    uint64_t time_namespace; /* Linux: the id of the process's time namespace; 0: unknown */
    uint64_t since_boot_ns; /* time since boot at the first pair, suspended time included; 0: unknown */
    uint64_t start_ns;      /* duration of prof_start() */
    uint64_t ready_ticks;   /* time that threads spent on mapping pages and reserving blocks of the file */
} prof__header;

#define PROF__HEADER_LEAST offsetof(prof__header, taken_back)

enum { PROF__RUNNING = 1, PROF__STOPPED = 2 };

#define PROF__PARTS 4
typedef struct prof__chunk {
    uint64_t sequence; /* the chunk's number, from 1; 0: empty or being reused */
    prof__pair base;
    uint32_t state;    /* one of PROF__CHUNK_... */
    uint32_t form;     /* flags PROF__FORM_...; bits 8 to 11: how often the slot was halved */
    uint64_t lost;     /* events that the chunk's last thread lost since its last LOST record */
    uint64_t taken_back; /* scopes that were removed from this chunk because they were too short */
    /* The chunk header of version 3 ends here: see prof__chunk_get(). */
    uint32_t sums[PROF__PARTS]; /* prof__part_sum() of each part that the thread has left; 0: none yet */
} prof__chunk;

#define PROF__LEAST_CHUNK offsetof(prof__chunk, sums)

#define PROF__FORM_SECOND_CHANCE 1u /* the ring skips the chunk once (second chance): see prof__chunk_give() */
#define PROF__FORM_MARKED 4u /* its parts have marks and sums */
#define PROF__FORM_PLAIN 8u /* in a copy: the marks were removed, as a thread was writing */
#define PROF__FORM_SHIFT 8
#define PROF__FORM_DEPTH(form) ((form) >> PROF__FORM_SHIFT & 15)
#define PROF__FORM_KNOWN 0xF0Du
#define PROF__FORM_LEAST 256u /* bytes of the smallest chunk */

/* LEFT: a partial chunk, which its thread no longer uses. HELD: full, but kept by its thread as long as the thread's
   next chunk has few events. A ring reuses every chunk that is not OWNED, HELD ones last. */
enum { PROF__CHUNK_FREE = 0, PROF__CHUNK_OWNED, PROF__CHUNK_FULL, PROF__CHUNK_PARTIAL, PROF__CHUNK_HELD };

/* The archive (PROF_STREAM) holds chunks that were packed (see >>pack) and removed from the ring, as blocks in the
   region that begins at archive_offset. Blocks are in the order of time from archive_first to archive_next. A block
   that does not fit before archive_limit goes to archive_offset again. The rest of the region that it leaves free has a
   header with sequence 0, or is smaller than a header (64 bytes). */
typedef struct prof__block {
    uint32_t magic, size; /* size: bytes, this header included; a multiple of 8 */
    uint64_t sequence;    /* sequence, base and lost are copied from the chunk */
    prof__pair base;
    uint64_t lost;
    uint32_t words;       /* of the chunk that are packed here */
    uint32_t check;       /* prof__block_check(): wrong while the block is incomplete or overwritten */
} prof__block;

/* Files rely on these sizes, whatever packing of structs the program asks its compiler for. */
typedef char prof__layout_is_fixed[sizeof(prof__header) == 600 && sizeof(prof__chunk) == 80 && sizeof(prof__block) == 64
                                       ? 1 : -1];

#define PROF__BLOCK_MAGIC 0x6B6C6270u

/* The records of meta. The head of each is kind << 56 | words << 32 | id; words counts the head, too. Each kind counts
   its ids from 1. A SITE has: name | file << 32, function | category << 32 (string ids, 0 is ""), line | color << 32,
   level | kind << 32; and only for a counter with a unit one word more: unit (string id). */
enum { /* the kinds of records of meta: src/kinds.sh makes these lines */
    PROF__META_STRING = 1,
    PROF__META_SITE,
    PROF__META_SESSION,
    PROF__META_DEVICE,
    PROF__META_ROW,
    PROF__META_THREAD,
    PROF__META_RATE
};
#define PROF__META_SITE_WORDS 5 /* words without the unit */

/*-- CLOCK -------------------------------------------------------------------------------------------------- >>clock --
   An event's time stamp is a raw reading of the clock, in ticks. A reader converts ticks to nanoseconds with the pairs
   (counter, system clock) that the image contains. */

#if defined(PROF_FREESTANDING)
#define PROF__COUNTER_NAME "user"
static inline uint64_t prof__counter(void) { return (uint64_t)(PROF_CLOCK_READ()); }
#ifndef PROF_TINY
static uint64_t prof__counter_ordered(void) { return prof__counter(); }
static int prof__counter_usable(void) { return 1; }
static uint64_t prof__counter_hz(void) { return 0; }
#endif
#elif defined(PROF__SIMULATED_HZ) /* for tests/clocks.sh: a counter with a chosen rate */
#define PROF__COUNTER_NAME "simulated"
static inline uint64_t prof__counter(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * (PROF__SIMULATED_HZ) + (uint64_t)t.tv_nsec * (PROF__SIMULATED_HZ) / 1000000000u;
}
static uint64_t prof__counter_ordered(void) { return prof__counter(); }
static int prof__counter_usable(void) { return 3; }
static uint64_t prof__counter_hz(void) { return 0; } /* 0: unknown, as on many machines */
#elif defined(__x86_64__) || defined(__i386__) || defined(_M_X64) || defined(_M_IX86)
#define PROF__COUNTER_NAME "rdtsc"
#ifdef __GNUC__
#include <cpuid.h>
static inline uint64_t prof__counter(void) { return __builtin_ia32_rdtsc(); }
static uint64_t prof__counter_ordered(void)
{
    unsigned a, d, c;
    __asm__ volatile("rdtscp" : "=a"(a), "=d"(d), "=c"(c)::"memory");
    return (uint64_t)d << 32 | a;
}
#define PROF__CPUID(leaf, to) __get_cpuid(leaf, &(to)[0], &(to)[1], &(to)[2], &(to)[3])
#else
static inline uint64_t prof__counter(void) { return __rdtsc(); }
static uint64_t prof__counter_ordered(void)
{
    unsigned processor;
    return __rdtscp(&processor);
}
static int prof__cpuid(unsigned leaf, unsigned to[4]) /* like gcc's __get_cpuid(): 0 if there is no such leaf */
{
    __cpuid((int *)to, (int)(leaf & 0x80000000u));
    if (to[0] < leaf) return 0;
    __cpuid((int *)to, (int)leaf);
    return 1;
}
#define PROF__CPUID(leaf, to) prof__cpuid(leaf, to)
#endif
/* Bit 0: the rate is constant and all processors agree; bit 1: prof__counter_ordered() works */
static int prof__counter_usable(void)
{
    unsigned got[4], usable = 0;
    if (PROF__CPUID(0x80000007u, got) && (got[3] & 1u << 8)) usable |= 1;
    int ordered = PROF__CPUID(0x80000001u, got) && (got[3] & 1u << 27) ? 2 : 0; /* rdtscp */
#ifdef __linux__
    { /* the kernel compares the counters of all processors, and switches to another clock source if they drift apart */
        char text[16] = {0};
        int file = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
        if (file >= 0) {
            if (read(file, text, sizeof text - 1) > 0 && (text[0] == 'h' || text[0] == 'a' || text[0] == 'j'))
                usable = 0; /* hpet, acpi_pm, jiffies */
            if (text[0] == 't') usable = 1; /* tsc: a virtual machine may hide the CPUID bit */
            close(file);
        }
    }
#endif
    return usable ? (int)usable | ordered : 0;
}
static uint64_t prof__counter_hz(void)
{
    unsigned got[4];
    if (PROF__CPUID(0x15u, got) && got[0] && got[1] && got[2]) return (uint64_t)got[2] * got[1] / got[0];
    return 0;
}
#elif defined(_M_ARM64) && !defined(__GNUC__)
#define PROF__COUNTER_NAME "cntvct"
static inline uint64_t prof__counter(void) { return (uint64_t)_ReadStatusReg(0x5f02); } /* CNTVCT_EL0 */
static uint64_t prof__counter_ordered(void)
{
    __isb(15);
    return prof__counter();
}
static int prof__counter_usable(void) { return 3; }
static uint64_t prof__counter_hz(void) { return (uint64_t)_ReadStatusReg(0x5f00); } /* CNTFRQ_EL0 */
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

#ifdef PROF_MONOTONIC_NS
#ifndef PROF_UNIX_NS
#define PROF_UNIX_NS() 0
#endif
static uint64_t prof__monotonic(void) { return (uint64_t)(PROF_MONOTONIC_NS()); }
static uint64_t prof__unix_time(void) { return (uint64_t)(PROF_UNIX_NS()); }
#endif

/* prof__lock_word guards rare changes of the recorder's state: a new call site, a new thread. A macro that cannot take
   it within some tenths of a second gives up: it loses an event, but does not hang the program. Control functions wait.
   They take prof__change_word first and hold it around prof__lock_word. A fork, which can take long, holds
   prof__change_word: that keeps the state consistent, and macros do not wait for it. */
static int prof__lock_word, prof__control_word;
#ifndef PROF_FREESTANDING
static int prof__change_word;
#endif

#define PROF__PATIENCE 5000 /* attempts, together some tenths of a second */

/* How many attempts a macro makes. In a freestanding build an attempt is short. There a macro makes 1000 times as many
   if interrupts are off while a lock is held, so the owner runs on another processor; and a single one if
   PROF_MAY_WAIT() says that it must not wait. */
#ifdef PROF_FREESTANDING
#ifndef PROF_MAY_WAIT
#define PROF_MAY_WAIT() 1
#endif
static PROF__INLINED int prof__may_wait(void) { return PROF_MAY_WAIT() != 0; }
#ifdef PROF__INTERRUPTS_COME
#define PROF__MACRO_PATIENCE() (prof__may_wait() ? PROF__PATIENCE : 1)
#else
#define PROF__MACRO_PATIENCE() (prof__may_wait() ? 1000 * PROF__PATIENCE : 1)
#endif
#else
#define PROF__MACRO_PATIENCE() PROF__PATIENCE
#endif

/* Tries once to take a lock. Its values: 0 free, 1 taken, 2 taken and threads may be asleep until it is free. A thread
   that has slept takes it with 2, because others may still sleep. */
static int prof__lock_take(int *lock, int slept)
{
    int taken = 0;
    if (slept) return !__atomic_exchange_n(lock, 2, __ATOMIC_ACQUIRE);
    return __atomic_compare_exchange_n(lock, &taken, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

#ifdef PROF__FUTEX
static uint32_t prof__lock_turns; /* counts releases of all locks; if it does not change, an owner may be stuck */

/* Sleeps while the lock is 2, at most a tenth of a second: a thread that was woken may leave by siglongjmp() from a
   signal handler before it takes the lock, and then nobody wakes the next one. Returns how many attempts of
   PROF__PATIENCE the sleep counts as. These are few if a lock was released meanwhile: then the owners make progress,
   and only the machine is overloaded. (Polling instead of sleeping is not an option: thousands of threads that looked
   every 20 us kept two processors from all other work.) */
static int prof__lock_sleep(int *lock, int spent)
{
    uint32_t turns = PROF__LOAD(&prof__lock_turns);
    (void)spent;
    struct { long seconds, ns; } time = {0, 100000000}; /* the kernel's timespec */
    PROF__ERRNO_SAVE();
    int late = syscall(SYS_futex, lock, 0 | 128, 2, &time, NULL, 0) && errno == ETIMEDOUT; /* FUTEX_WAIT, private */
    PROF__ERRNO_RESTORE();
    return !late ? 1 : PROF__LOAD(&prof__lock_turns) == turns ? PROF__PATIENCE / 5 : PROF__PATIENCE / 50;
}
static void prof__unlock(int *lock)
{
    __atomic_store_n(&prof__lock_turns, PROF__LOAD(&prof__lock_turns) + 1, __ATOMIC_RELAXED);
    if (__atomic_exchange_n(lock, 0, __ATOMIC_RELEASE) == 2)
        syscall(SYS_futex, lock, 1 | 128, 1, NULL, NULL, 0); /* FUTEX_WAKE, private */
}
#else
/* Without a futex a thread polls. On Windows prof__wait() returns at once if no other thread is ready to run, and never
   lets a thread of lower priority run. So after 1000 attempts the thread sleeps for a millisecond, which counts as
   20. */
static int prof__lock_sleep(int *lock, int spent)
{
    (void)lock;
#if defined(_WIN32) && !defined(PROF_FREESTANDING)
    if (spent > 1000) {
        Sleep(1);
        return 20;
    }
#else
    (void)spent;
#endif
    prof__wait();
    return 1;
}
static void prof__unlock(int *lock) { __atomic_store_n(lock, 0, __ATOMIC_RELEASE); }
#endif

/* Takes a lock. Returns 0 after PROF__PATIENCE attempts. */
static int prof__lock_try(int *lock)
{
    for (int spent = 0; spent < PROF__PATIENCE;) {
        int slept = spent > 100;
        if (prof__lock_take(lock, slept)) return 1;
        spent += slept ? prof__lock_sleep(lock, spent) : 1;
    }
    return 0;
}

static void prof__lock(int *lock)
{
    while (!prof__lock_try(lock)) {
    }
}

/* Takes a lock for a macro, or returns 0 after PROF__MACRO_PATIENCE() attempts. Blocks signals until
   prof__lock_leave(): a handler could otherwise leave by siglongjmp() and keep the lock for ever. */
static int prof__lock_enter(int *lock, prof__signals *old)
{
    for (int spent = 0, patience = PROF__MACRO_PATIENCE(); spent < patience;) {
        int slept = spent > 100;
        if (slept || !PROF__LOAD(lock)) { /* no system calls to block signals while another thread has the lock */
            prof__signals_block(old);
            if (prof__lock_take(lock, slept)) return 1;
            prof__signals_restore(old);
        }
        spent += slept ? prof__lock_sleep(lock, spent) : 1;
    }
    return 0;
}

static void prof__lock_leave(int *lock, const prof__signals *old)
{
    prof__unlock(lock);
    prof__signals_restore(old);
}

/* Takes a lock around file input and output, and disables cancellation of the thread meanwhile. Pass the result of
   prof__lock_steady() to prof__unlock_steady(). */
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

#ifndef PROF_FREESTANDING
/* Sleeps until *word differs from value, at most ns nanoseconds. May return early without a reason. */
static void prof__word_wait(uint32_t *word, uint32_t value, uint64_t ns)
{
#ifdef PROF__FUTEX
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

/* Adds 1 to *word and wakes at most count threads that wait for its change. Async-signal-safe. */
static void prof__word_wake_some(uint32_t *word, int count)
{
    __atomic_fetch_add(word, 1, __ATOMIC_RELEASE);
#ifdef PROF__FUTEX
    PROF__ERRNO_SAVE();
    syscall(SYS_futex, word, 1 | 128, count, NULL, NULL, 0); /* FUTEX_WAKE, private */
    PROF__ERRNO_RESTORE();
#else
    (void)count;
#endif
}
static void prof__word_wake(uint32_t *word) { prof__word_wake_some(word, 0x7fffffff); }
#endif

#if defined(PROF_FREESTANDING) && !defined(PROF_MONOTONIC_NS)
static void prof__pair_take(uint32_t clock, uint64_t hz, prof__pair *pair)
{
    (void)clock;
    pair->tick = prof__counter();
    pair->monotonic_ns = hz ? pair->tick / hz * 1000000000u + pair->tick % hz * 1000000000u / hz : pair->tick;
    pair->unix_ns = 0;
    pair->width = 0;
}
#else
#define PROF__PAIR_LONG 100000 /* ticks, about 30 us; reading both system clocks takes much less */

/* Reads a pair. Its tick is the middle between the readings before and after CLOCK_MONOTONIC was read. Returns 0 if the
   thread was probably preempted meanwhile: the two system clocks usually take about the same time to read, so it
   suspects a pair where one took far longer than the other, or both took long. */
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

static void prof__pair_store(prof__pair *to, const prof__pair *pair) /* word by word: a reader may be reading it */
{
    PROF__STORE(&to->tick, pair->tick);
    PROF__STORE(&to->monotonic_ns, pair->monotonic_ns);
    PROF__STORE(&to->unix_ns, pair->unix_ns);
    PROF__STORE(&to->width, pair->width);
}

/* Takes nine pairs and keeps the most exact one. For the start and the end of a session, when time does not matter. */
static void prof__pair_take_well(uint32_t clock, uint64_t hz, prof__pair *pair)
{
    prof__pair_take(clock, hz, pair);
    for (int i = 0; i < 8; ++i) {
        prof__pair again;
        prof__pair_take(clock, hz, &again);
        if (again.width <= pair->width) *pair = again;
    }
}

/*-- KINDS ------------------------------------------------------------------------------------------------- >>kinds --
   All that has a number in the records of an image, one row for each. X is a macro that makes something of a row: so
   code gets its constants and arrays. src/kinds.sh makes text of the rows when the headers are assembled: the enums of
   C, the tables of docs/format.md, the constants of the page's decoder and of examples/read_trace.py.

   A new kind of event is a row at the end of PROF__EVENTS, with the next number, and a macro or function that records
   it with prof__event(). All readers and exporters show it at once: as an instant, if it is of no group that they show
   in another way. Numbers of older rows never change, because images hold them. */

/* The kinds of records in a chunk. X(name, code, words, timed, sited, shown, named, valued, holds, layout, by):
     words    of the record; PROF__IN_HEAD: bits 15..0 of the head say how many follow it
     timed    1: bits 39..0 of the head are ticks
     sited    1: bits 59..40 of the head are a call site, or 0
     shown    1: readers make an event of it, but for an EVENT of a type that they do not know
     named    1: a NAME after it is its name, but for an EVENT that is a flow
     valued   1: DATA after it are its arguments (after a FRAME, its number)
     holds    the prof_value_type of the words after the head; NONE: other numbers; TYPED: the head says which
     layout   bits of the head; and the other words
     by       what it is written for */
#define PROF__KINDS(X)                                                                                                \
    X(NONE, 0, 0, 0, 0, 0, 0, 0, NONE, "not written yet", "")                                                         \
    X(BEGIN, 1, 1, 1, 1, 1, 1, 0, NONE, "call site 59..40, ticks 39..0", "the begin of a scope")                      \
    X(END, 2, 1, 1, 1, 0, 0, 0, NONE, "call site, ticks", "the end of a scope")                                       \
    X(MARK, 3, 1, 1, 1, 1, 1, 1, NONE, "call site, ticks", "an instant")                                              \
    X(COUNTER_INT, 4, 2, 1, 1, 1, 0, 0, INT, "call site, ticks; the value, signed", "a counter")                      \
    X(COUNTER_DOUBLE, 5, 2, 1, 1, 1, 0, 0, DOUBLE, "call site, ticks; the value, IEEE 754", "a counter")              \
    X(FRAME, 6, 1, 1, 1, 1, 0, 0, NONE, "call site, ticks", "a frame's boundary")                                     \
    X(ARG, 7, PROF__IN_HEAD, 0, 1, 0, 0, 0, TYPED, "a value: see below", "an argument of a scope")                    \
    X(NAME, 8, PROF__IN_HEAD, 0, 0, 0, 0, 0, STRING,                                                                  \
      "n in bits 15..0; a text: the run-time name of the BEGIN, MARK or EVENT directly before it. Not of a flow",     \
      "a name made at run time")                                                                                      \
    X(TRACK, 9, 3, 0, 0, 0, 0, 0, NONE,                                                                               \
      "bits 59..32: serial, low 28 bits; 31: a fiber; 30: the system named it; 29..0: name (string id). Track id "    \
      "(39..0) and serial, bits 51..28 (63..40). Thread id", "a thread or fiber that begins to use the chunk")        \
    X(LOST, 10, 1, 0, 0, 1, 0, 0, NONE, "bits 39..0: how many events are missing here", "events that were lost")      \
    X(EVENT, 11, 3, 1, 1, 1, 1, 1, NONE,                                                                              \
      "call site, ticks; type (7..0) and detail (63..8); object", "all other events: see below")                      \
    X(DATA, 12, PROF__IN_HEAD, 0, 1, 0, 0, 0, TYPED, "a value: see below", "an argument of an instant or EVENT")      \
    X(COUNTER_UINT, 13, 2, 1, 1, 1, 0, 0, UINT, "call site, ticks; the value, unsigned", "a counter")

#define PROF__IN_HEAD 15

/* The types of events: prof_event_type. An EVENT has one from SPAN_BEGIN on; those before are of records of their
   own. There is room for 200. X(name, code, group, object, text, one, many, what), in the order of the codes:
     group    those that readers treat alike
     object   the prof_value_type of its object: UINT, an id, or POINTER, an address; NONE: it has none
     text     its name in CSV
     one      its name for people, and many, the plural
     what     the fields of prof_event that it has */
#define PROF__EVENTS(X)                                                                                               \
    X(SCOPE, 0, SCOPE, NONE, "scope", "scope", "scopes", "duration_ns, depth, flags, args")                           \
    X(MARK, 1, MARK, NONE, "mark", "mark", "marks", "an instant; args")                                               \
    X(COUNTER, 2, COUNTER, NONE, "counter", "counter sample", "counter samples", "value")                             \
    X(FRAME, 3, FRAME, NONE, "frame", "frame boundary", "frame boundaries",                                           \
      "the boundary between two frames; duration_ns: since the boundary before, 0 for the first; detail: the number " \
      "of the frame that it ends, counted for each name and track from 1 on, also those that a ring has "             \
      "overwritten; 0 for the first boundary")                                                                        \
    X(LOST, 4, LOST, NONE, "lost", "loss", "losses",                                                                  \
      "value.as.u scopes or other events could not be recorded before this point")                                    \
    X(SPAN_BEGIN, 5, SPAN, UINT, "span_begin", "span begin", "span begins",                                           \
      "object: the span's id, the same for its begin and end, on any threads; args")                                  \
    X(SPAN_MARK, 6, SPAN, UINT, "span_mark", "span mark", "span marks", "object: the span's id; args")                \
    X(SPAN_END, 7, SPAN, UINT, "span_end", "span end", "span ends", "object: the span's id; args")                    \
    X(FLOW_OUT, 8, FLOW, UINT, "flow_out", "flow begin", "flow begins",                                               \
      "object: the flow's id; args. An arrow leads from the scope around it ...")                                     \
    X(FLOW_STEP, 9, FLOW, UINT, "flow_step", "flow step", "flow steps", "object: the flow's id; args")                \
    X(FLOW_IN, 10, FLOW, UINT, "flow_in", "flow end", "flow ends",                                                    \
      "object: the flow's id; args. ... to the scope around this one")                                                \
    X(ALLOC, 11, MEMORY, POINTER, "alloc", "allocation", "allocations", "object: the address; detail: bytes")         \
    X(FREE, 12, MEMORY, POINTER, "free", "free", "frees",                                                             \
      "object: the address; detail: 1: of this pool, 2: it was freed some time ago")                                  \
    X(LOCK_WAIT, 13, LOCK, POINTER, "lock_wait", "lock wait", "lock waits",                                           \
      "object: the lock's address; detail: 1: another thread had it")                                                 \
    X(LOCK_ACQUIRE, 14, LOCK, POINTER, "lock_acquire", "lock acquisition", "lock acquisitions",                       \
      "object: the lock's address")                                                                                   \
    X(LOCK_RELEASE, 15, LOCK, POINTER, "lock_release", "lock release", "lock releases", "object: the lock's address") \
    X(LOG, 16, MESSAGE, NONE, "log", "message", "messages",                                                           \
      "detail: prof_severity, from 0 (debug) to 4 (fatal); value: the message; args: its values, without keys")

/* The types of EVENTs of devices, which are on no thread's track: see >>device. X(name, code, what) */
#define PROF__DEVICE_EVENTS(X)             \
    X(SCOPE, 200, "a scope")               \
    X(MARK, 201, "an instant")             \
    X(COUNTER, 202, "a counter")           \
    X(PAIR, 203, "a pair of clocks")

/* What a call site records, besides the kind: prof_role. X(name, code, what), in the order of the codes */
#define PROF__ROLES(X)                                                                                                \
    X(NONE, 0, "")                                                                                                    \
    X(STEP, 1, "a scope that is one step of a loop; its argument step_num is the number")                             \
    X(THROUGHPUT, 2, "a scope that moved data; its argument bytes says how much")                                     \
    X(SYNC, 3, "a scope that waits for a device before it ends")                                                      \
    X(MARK_GLOBAL, 4, "an instant that concerns all processes")                                                       \
    X(MARK_PROCESS, 5, "an instant that concerns this process")                                                       \
    X(MARK_TASK, 6, "an instant that concerns a task")                                                                \
    X(MARK_MARKER, 7, "an instant that concerns the point alone; without a role, its thread")                         \
    X(TASK, 8, "a span, or scope, of prof_task_create()")                                                             \
    X(DEVICE, 9, "events of a device; its name is their category")                                                    \
    X(FRAME, 10, "a span of prof_frame_create()")                                                                     \
    X(MEMORY, 11, "a PROFILE_MEMORY_SCOPE, PROFILE_ALLOC or PROFILE_FREE")                                            \
    X(LOCK, 12, "a PROFILE_LOCK_WAIT, _ACQUIRE or _RELEASE")                                                          \
    X(RANGE, 13, "a scope of prof_range_create()")

/* The types of values: prof_value_type. X(name, code, what) */
#define PROF__VALUES(X)                                                                                               \
    X(NONE, 0, "")                                                                                                    \
    X(INT, 1, "signed")                                                                                               \
    X(UINT, 2, "unsigned")                                                                                            \
    X(DOUBLE, 3, "IEEE 754")                                                                                          \
    X(BOOL, 4, "0 or not")                                                                                            \
    X(POINTER, 5, "an address")                                                                                       \
    X(STRING, 6, "text")

/* The kinds of records of meta. X(name, code, words after the head) */
#define PROF__META(X)                                                                                                 \
    X(STRING, 1, "the text, padded with zeros to whole words")                                                        \
    X(SITE, 2, "a call site: four words and, for a counter with a unit, a fifth: see below")                          \
    X(SESSION, 3,                                                                                                     \
      "metadata: a key and a value, two texts, one after the other; its id is 0. A later value replaces an "          \
      "earlier one; an empty key removes all before it")                                                              \
    X(DEVICE, 4,                                                                                                      \
      "name (string id, bits 31..0) and bits of its counter (63..32); ticks per second; eight pairs of three "        \
      "words: ticks, CLOCK_MONOTONIC, check")                                                                         \
    X(ROW, 5, "name (string id, bits 31..0) and device (63..32)")                                                     \
    X(THREAD, 6, "a track. The id is that of the string which the system calls the track's thread by now")            \
    X(RATE, 7, "ticks per second as measured in the start, to 1 %: shows whether the clocks agree later")

/* Columns of PROF__KINDS as constants, four bits or one bit for each kind: a table in a number replaces a branch for
   each record. */
#define PROF__COLUMN_WORDS(name, code, words, ...) | (uint64_t)(words) << 4 * (code)
#define PROF__COLUMN_TIMED(name, code, words, timed, ...) | (unsigned)(timed) << (code)
#define PROF__COLUMN_SITED(name, code, words, timed, sited, ...) | (unsigned)(sited) << (code)
#define PROF__COLUMN_SHOWN(name, code, words, timed, sited, shown, ...) | (unsigned)(shown) << (code)
#define PROF__COLUMN_NAMED(name, code, words, timed, sited, shown, named, ...) | (unsigned)(named) << (code)
#define PROF__COLUMN_VALUED(name, code, words, timed, sited, shown, named, valued, ...) | (unsigned)(valued) << (code)
#define PROF__WORDS (0u PROF__KINDS(PROF__COLUMN_WORDS))
#define PROF__TIMED (0u PROF__KINDS(PROF__COLUMN_TIMED))
#define PROF__SITED (0u PROF__KINDS(PROF__COLUMN_SITED))
#define PROF__SHOWN (0u PROF__KINDS(PROF__COLUMN_SHOWN))
#define PROF__NAMED (0u PROF__KINDS(PROF__COLUMN_NAMED))
#define PROF__VALUED (0u PROF__KINDS(PROF__COLUMN_VALUED))
#define PROF__KIND_LAST (0 PROF__KINDS(PROF__COLUMN_COUNT) - 1)
#define PROF__COLUMN_COUNT(...) + 1

/* Returns 1 if the kind of a record is in a set such as PROF__TIMED. */
static inline int prof__record_in(unsigned kinds, uint64_t head)
{
    return (int)(kinds >> (head >> PROF__KIND_SHIFT) & 1);
}

/* Returns 1 if bits 39..0 of the head are ticks. */
static inline int prof__record_timed(uint64_t head) { return prof__record_in(PROF__TIMED, head); }

/* Returns how many words the record with this head has, or 0 if the head is no record's, or more than `left` words. */
static inline size_t prof__record_words(uint64_t head, size_t left)
{
    size_t words = (size_t)(PROF__WORDS >> (head >> PROF__KIND_SHIFT << 2)) & 15;
    if (words == PROF__IN_HEAD) words = 1 + (size_t)(head & 0xFFFF);
    return words <= left ? words : 0;
}

/* Like prof__record_words(), but not inline, for code that runs seldom. */
static size_t prof__record_length(uint64_t head, size_t left)
{
    return prof__record_words(head, left);
}

#define PROF__HOLE_WORDS 64u

/* Returns the index of the first hole: PROF__HOLE_WORDS or more zero words with other words after them. Returns count
   if there is none. Looks at every 32nd word only. */
static size_t prof__words_hole(const uint64_t *words, size_t count)
{
    size_t at = 0, first, end, all = count;
    while (count && !words[count - 1]) --count;
    for (; at < count; at += PROF__HOLE_WORDS / 2) {
        if (words[at]) continue;
        for (first = at; first && !words[first - 1];) --first;
        for (end = at; !words[end];) ++end;
        if (end - first >= PROF__HOLE_WORDS) return first;
    }
    return all;
}

#define PROF__PAGE_BYTES 4096u

/* Returns 1 if a chunk of this form can begin at byte `at` of the ring. slot: bytes of a slot. */
static int prof__form_likely(uint64_t slot, uint64_t at, uint32_t form)
{
    uint64_t bytes = slot >> PROF__FORM_DEPTH(form);
    if (bytes != slot && (bytes < PROF__FORM_LEAST || bytes % 8)) return 0;
    return !(form & ~PROF__FORM_KNOWN) && at % slot % bytes == 0;
}

/* Returns how many bytes the chunk of this form at byte `at` of the ring has. In a damaged image the form may be
   impossible: then the next chunk is assumed to begin at the next page. */
static uint64_t prof__form_bytes(uint64_t slot, uint64_t at, uint32_t form)
{
    uint64_t rest = slot - at % slot, bytes = slot >> PROF__FORM_DEPTH(form);
    if (!prof__form_likely(slot, at, form)) bytes = PROF__PAGE_BYTES - at % PROF__PAGE_BYTES;
    return bytes > rest ? rest : bytes;
}

/* -- which parts of a chunk are its own after a power loss: see format.h -- */

/* Returns the mark that the last word of a part has until a record needs the word. Its kind is 0, and its bits differ
   from chunk to chunk, so no record looks like it by chance. */
static uint64_t prof__empty_word(uint64_t sequence) { return (sequence * 0x9E3779B97F4A7C15u | 1) >> 4; }

#define PROF__BEGUN_BIT (1ull << 59)
enum { PROF__PART_EMPTY = 1, PROF__PART_BEGUN };

/* Returns what the last word of a part says: PROF__PART_EMPTY, PROF__PART_BEGUN (the thread may have written to the
   part), or 0 if the word is not a mark of this chunk. */
static int prof__part_state(uint64_t sequence, uint64_t last)
{
    uint64_t empty = prof__empty_word(sequence);
    return last == empty ? PROF__PART_EMPTY : (last ^ empty) == PROF__BEGUN_BIT ? PROF__PART_BEGUN : 0;
}

/* Returns how many bytes a part of a chunk has: a page, or a quarter of a chunk that is larger than four pages. */
static size_t prof__part_bytes(size_t bytes)
{
    size_t quarter = bytes / PROF__PARTS / 8 * 8;
    return quarter > PROF__PAGE_BYTES ? quarter : PROF__PAGE_BYTES;
}

/* Returns how many words of a chunk lie before the end of part 0, 1, 2 or 3. bytes: the size of the chunk. A small
   chunk has fewer parts; the others have no words. */
static size_t prof__part_end(size_t bytes, size_t header, size_t part)
{
    size_t step = prof__part_bytes(bytes), end = bytes / step > part + 1 ? step * (part + 1) : bytes;
    if (part + 1 == PROF__PARTS) end = bytes;
    return end > header ? (end - header) / 8 : 0;
}

#define PROF__SUM_REST 511u
#define PROF__SUM_WORDS 64u

/* Returns a sum of the last words of a part, without the unused `rest` words at its end; the low bits of the sum are
   that number. Never 0. A thread only appends to a part. So after a power loss a page of the part has words of an
   earlier chunk, or only the first words of this one. The last words and their number tell which, because their times
   differ from chunk to chunk. The sum need not resist attacks: power losses happen by chance. */
static uint32_t prof__part_sum(const uint64_t *words, size_t count, uint32_t rest)
{
    uint64_t a = 0, b = 0;
    const uint64_t *end = words + (count - rest);
    if (count - rest > PROF__SUM_WORDS) words = end - PROF__SUM_WORDS;
    for (; end - words >= 8; words += 8) {
        a += words[0], b += words[1], a += words[2], b += words[3];
        a += words[4], b += words[5], a += words[6], b += words[7];
    }
    while (words < end) a += *words++;
    a = (a + b * 3) * 0x9E3779B97F4A7C15u;
    uint32_t sum = (uint32_t)(a >> 32) & ~PROF__SUM_REST;
    return (sum ? sum : PROF__SUM_REST + 1) | rest;
}

/* Returns 1 if a chunk was never used: its header is zero except for the chunk's size. Looks only at fields that all
   versions have. */
static int prof__chunk_blank(const prof__chunk *chunk)
{
    const unsigned char *bytes = (const unsigned char *)chunk;
    size_t i = 0;
    if (chunk->form >> PROF__FORM_SHIFT) return !chunk->sequence && chunk->state == PROF__CHUNK_FREE;
    while (i < PROF__LEAST_CHUNK && !bytes[i]) ++i;
    return i == PROF__LEAST_CHUNK;
}

/* Returns 1 if this can be the header of a chunk with marks at byte `at` of the ring. slot: bytes of a slot. */
static int prof__chunk_likely(const prof__chunk *chunk, uint64_t slot, uint64_t at)
{
    return chunk->form & PROF__FORM_MARKED && chunk->state <= PROF__CHUNK_HELD &&
           prof__form_likely(slot, at, chunk->form);
}

/* Returns 1 if a chunk has marks and sums. header: bytes of a chunk's header in this image; that of version 3 has
   none. */
static int prof__chunk_marked(const prof__chunk *chunk, size_t header)
{
    return chunk->form & PROF__FORM_MARKED && header >= sizeof *chunk;
}

static void prof__marks_clear(uint64_t sequence, uint64_t *words, size_t bytes, size_t header)
{
    for (size_t i = 0; i < PROF__PARTS; ++i) {
        size_t end = prof__part_end(bytes, header, i);
        if (end && prof__part_state(sequence, words[end - 1])) words[end - 1] = 0;
    }
}

/* Removes the marks of a chunk when nobody needs to check its parts any more. bytes: the size of the chunk, header
   included. */
static void prof__chunk_unmark(prof__chunk *chunk, uint64_t *words, size_t bytes, size_t header)
{
    if (!prof__chunk_marked(chunk, header)) return;
    prof__marks_clear(chunk->sequence, words, bytes, header);
    chunk->form ^= PROF__FORM_MARKED ^ PROF__FORM_PLAIN;
}

/* Stores a word of a chunk with release order. The head of a record is stored last, which publishes the record. */
static void prof__store_word(uint64_t *at, uint64_t word)
{
#if PROF__WIDE
    PROF__RELEASE(at, word);
#else
    prof__half *half = (prof__half *)at;
    PROF__STORE(half + PROF__LOW_HALF, (uint32_t)word);
    PROF__RELEASE(half + !PROF__LOW_HALF, (uint32_t)(word >> 32)); /* the half with the kind: publishes the word */
#endif
}

/* Returns the id of the track of a TRACK record. */
static uint64_t prof__track_id(const uint64_t *record) { return record[1] & PROF__TICK_MASK; }

/* Returns the serial number of a TRACK record within its track. */
static uint64_t prof__track_serial(const uint64_t *record)
{
    return record[1] >> PROF__TICK_BITS << 28 | (record[0] >> 32 & 0xFFFFFFF);
}

/*-- SESSION STATE --------------------------------------------------------------------------------------------------*/

#define PROF__MAX_RULES PROF__LESS(64, 8)
#define PROF__MAX_PARTIAL PROF__LESS(256, 16)
#define PROF__PARTIAL_BUSY 0xffffffffu

#ifndef PROF_FREESTANDING
/* The background threads of a session, the service and the writer of files: see >>service. */
typedef struct prof__service {
    uint32_t word;    /* changes to wake the service before its next look at the clock */
    uint32_t stop;    /* 1: the service must do a last round and end */
    uint32_t writer_word, writer_stop; /* the same two for the writer of files */
    uint32_t end_due; /* 1: recording has ended by itself; the output must be written */
    int wanted, wants_writer; /* 1: the configuration needs the service; and the writer */
    int running;      /* 1: the service was started and not joined yet; under the control lock */
    uint64_t process; /* the process in which the service runs: a child of fork() has none */
    uint64_t shortest_ns, longest_ns; /* bounds of the time between two looks at the ring */
    uint64_t dump_at; /* when to write the output next (CLOCK_MONOTONIC) */
    uint64_t names_at; /* when to ask for the names of threads next */
#ifdef _WIN32
    HANDLE thread, writer;
#else
    pthread_t thread, writer;
#endif
} prof__service;
#endif

#ifndef PROF_FREESTANDING
/* The file to which the image is mapped, and the archive that PROF_STREAM writes there after the ring: see >>stream. */
typedef struct prof__stream {
#ifdef _WIN32
    HANDLE handle;
#endif
    int file, opened;        /* file: the mapped file, open for its lock and the archive; opened: 1: it is */
    uint64_t device, inode;  /* the file's identity: a program may close descriptors of others */
    uint64_t retry_at, backoff_ns; /* when, and after which time, to repeat a failed write */
    uint64_t seen;           /* the value of next_chunk when all full chunks had been packed */
    int full;                /* 1: max_file_size is reached, and no old block may be dropped */
    int failing, lost;       /* failing: 1: the last write failed; lost: 1: events were lost meanwhile */
    prof__block *block;      /* a buffer for the block of a packed chunk */
    prof__chunk **chunks;    /* room for pointers to all chunks of the ring */
    char path[1040];         /* the file's path if it is not the output itself, else "" */
} prof__stream;
#endif

/* Another program has truncated the image's file; and a thread has touched what is gone, so recording is over. */
enum { PROF__CUT = 1, PROF__CUT_OVER = 2 };

/* prof__session is the private data of an image. It is freed only when no thread can hold a pointer into the image any
   more. */
#ifdef PROF_TINY
typedef uintptr_t prof__extent; /* a size in the image; 32 bits spare 64-bit arithmetic */
#else
typedef uint64_t prof__extent;
#endif

/* The ring of chunks of a session. */
typedef struct prof__session_ring {
#ifdef PROF__SHARED_CHUNKS
    struct { /* partial chunks, which threads have left */
        uint64_t sequence;
        uint32_t words, chunk; /* chunk: its place in units of 64 bytes, from 1; 0: this entry is free;
                                  PROF__PARTIAL_BUSY: a thread is changing the entry */
    } partial_chunks[PROF__MAX_PARTIAL];
    uint32_t partial_count; /* entries in use */
#endif
    uint32_t ready_chunks; /* chunks from the first on that are writable, or PROF__ALL_READY: see >>ring */
    uint32_t claimed_chunks; /* ready_chunks, and those that a thread is making ready */
    uint64_t chunks_asked; /* chunks wanted, if the disk had no room for all; else 0 */
    const char *room_error; /* why the disk had no room */
    uint32_t all_owned[2]; /* PROF_RING: the value of prof__room_changes when each chunk was owned or held (0), and when
                              each was owned (1). 0: unknown */
    int32_t free_chunks;  /* if the service empties chunks: how many are free; < 0 after the ring was cut */
    uint32_t pieces;      /* chunks in all slots: more than slots if some are split */
    uint32_t depth, deepest; /* how often the most split slot was halved; how often one may be */
    uint32_t spare_chunk; /* 1: one more is free, for the service's own scopes */
    uint32_t released;    /* changes with each chunk that the service releases */
    uint32_t waiting;     /* threads that sleep until the service releases a chunk */
} prof__session_ring;

/* When a session records: see >>schedule. */
typedef struct prof__session_schedule {
    uint64_t begin_at, duration_ns, end_at; /* CLOCK_MONOTONIC; end_at: 0 until recording begins. See >>schedule */
    uint64_t warmup_left;
    int held;             /* the value of prof__state.held at the start */
    uint32_t warmup_what, warmup_name; /* PROF__WARMUP_...; hash of the name whose steps count, 0: not known yet */
} prof__session_schedule;

/* The files of a session: the one that the image is mapped to, and the output. */
typedef struct prof__session_file {
    char *live_path;   /* the file to which the image is mapped: output, or stream.path; NULL: none */
    void *mapping;     /* NULL: the image is in the user's memory */
    size_t mapping_size;
    char output[PROF__PATH(1024)]; /* expanded; "": none */
    char layout[24];   /* the configuration's layout; "": none */
    char part_path[PROF__PATH(1100)]; /* the file's temporary name until the start is complete */
    int cut;               /* PROF__CUT... */
#ifndef PROF_FREESTANDING
    uint64_t max_file_size;
    uint32_t at_limit;
    int written;          /* 1: output is complete, but prof_stop() was not called yet */
#endif
    char pattern[PROF__PATH(1024)];  /* the configuration's output as an absolute path, for children of forks */
    char started[16];     /* the time that %t means */
#ifdef _WIN32
    int private_memory;   /* 1: the image is in memory, not in a mapped file */
    int to_remove;        /* 1: closing stream.handle removes the sidecar file */
#endif
    int sidecar;          /* 1: output is written at the end. Until then the image is in a sidecar file beside it or, if
                             that cannot be created, in memory */
    int unnamed;          /* 1: the mapped file has no name yet */
    int apart;            /* 1: the mapping is private; prof_stop() writes it to the file: see prof__map_shared() */
    int sidecar_error;    /* the errno if the sidecar file could not be created or mapped; else 0 */
    int whole;            /* 1: all blocks of the file are reserved at the start; PROF_STREAM needs all soon */
    prof_existing existing;
    int number;           /* 1: older files of this name are kept, and this session's gets a number; also in children */
    int named;            /* 1: the names of the session's files are chosen */
    uint64_t root[2], folder_is[2]; /* device and inode: of the root directory at the start; of the output's folder */
    int folder;           /* the descriptor + 1 of the folder of an output that is written at the end; 0: none */
    int error;            /* this child of a fork could not create its file, for this errno, and records in memory */
    int claimed;          /* 1: the session has created an empty file at output, which reserves the name */
    int taken, replaces;  /* taken: 1: live_path is a new file of this session; replaces: 1: of an older file */
    int keeps;            /* 1: the older file stays under another name */
    int old_file;         /* the descriptor + 1 that locks the older file meanwhile; 0: none */
} prof__session_file;

typedef struct prof__session {
    prof__header *header; /* the image; the next fields are places and sizes inside it */
    char *chunks;
    uint64_t *meta;
    uint32_t chunk_size;
    uint32_t fast; /* 1: a scope needs the inline counter only; PROF__SHORT: and min_ticks */
    prof__extent meta_words, meta_ready, chunk_words; /* meta_ready: what is writable; chunk_words: of a whole slot */
    prof__extent text_words; /* of the chunks that threads get now, times 2 at most: see prof__chunk_split() */
    prof__extent chunk_count; /* how many slots the ring has */
    uint64_t min_ticks, ordered_excess;
    uint32_t session_id, clock;
    uint32_t string_count, site_count;
    prof__session_file file; /* fields up to its output are reached with short instructions */
    uint32_t *index;
    uint32_t index_mask, site_without_room;
    uint32_t attached; /* threads that hold pointers into the image, readers included */
    uint32_t readers;  /* threads that copy the image */
    size_t image_size;
    struct prof__session *next;
    prof__session_ring ring;
    prof__session_schedule schedule;
#ifdef PROF__META_GROWS
    const char *names_error; /* why the disk had no room for names; NULL: it had room */
#endif
#ifndef PROF_FREESTANDING
    struct prof__follow *follow; /* what follows the ring, see >>follow; NULL: nothing */
    prof__service service;
    prof__stream stream;
    uint64_t wait_ns, dump_period_ns;
#endif
    int crash_report;
    uint64_t start_hz;    /* see PROF__META_RATE; 0: unknown */
    uint64_t process;     /* the pid of the process to which this record belongs */
    int sandbox;          /* the sandbox at the start: see prof__sandbox() */
    int failed;           /* the errno if a child's image could not be created; else 0 */
#ifndef PROF_FREESTANDING
    uint64_t look_at;     /* when the service is next due by the clock; 0: unknown */
#endif
#ifndef PROF_FREESTANDING
    prof__header like;    /* the header as at the start: the model for a child's image */
#endif
} prof__session;

/* PROF_MINIMAL has no names of outputs, so no sidecar file. */
#ifdef PROF_MINIMAL
#define PROF__SIDECAR(condition) 0
#else
#define PROF__SIDECAR(condition) (condition)
#endif

/* The recorder's state. It changes under prof__lock_word, together with the config version, which shows that something
   has changed. */
static struct {
    prof__session *session; /* the running session, or the last one until it is reset */
    prof__session *retired; /* a list of older sessions to which threads still point */
    prof__session *inherited; /* a child's running session that has no image yet, or never will: see >>fork */
    int running, paused, level;
    int held;  /* PROF__HELD_...: running, but recording has not begun; sites are off */
    int ended; /* 1: the session ended by itself; prof_stop() was not called yet */
    int frozen; /* 1: a crash is being reported, so sites are off. The only field that changes without the lock */
    int no_sync, no_devices;
    uint32_t filter_mask;
    uint32_t session_id;
#ifdef PROF__CATEGORIES
    int rule_count, category_named, category_default;
    struct {
        int on, exact; /* exact: 1: pattern is a plain name, without * and ? */
        char pattern[48];
    } rules[PROF__MAX_RULES];
#endif
} prof__state;

/* These are constants with PROF_MINIMAL, and more of them with PROF_TINY: the compiler then leaves out what depends on
   them. */
#ifdef PROF_MINIMAL
#define PROF__MIN_TICKS(s) ((void)(s), (uint64_t)0)
#define PROF__HELD() 0
#define PROF__TAKEN_BACK(chunk) ((void)(chunk), (uint64_t)0)
#else
#define PROF__MIN_TICKS(s) ((s)->min_ticks)
#define PROF__HELD() (prof__state.held)
#define PROF__TAKEN_BACK(chunk) PROF__LOAD(&(chunk)->taken_back)
#endif
#ifdef PROF_TINY
#define PROF__BY_COUNTER(s) ((void)(s), 1)
#define PROF__CRASH_REPORT(s) ((void)(s), 0)
#define PROF__FAST(s) ((void)(s), 1)
#else
#define PROF__BY_COUNTER(s) ((s)->clock == PROF_CLOCK_COUNTER)
#define PROF__CRASH_REPORT(s) ((s)->crash_report)
#define PROF__FAST(s) ((s)->fast == 1)
#endif

/* prof_server.h starts a session for a capture if the program has none. The program must not notice. So its
   prof_start() calls this function, under the control lock, which ends the server's session; its prof_stop() finds no
   session; and children of forks inherit none. NULL: if there is a session, it is the program's. */
#ifdef PROF_FREESTANDING
#define prof__on_demand ((void (*)(void))NULL)
#else
static void (*prof__on_demand)(void);
#endif

/* The first word is the config version. Until something is started it is 0x80000000, which equals no site's state and
   turns off the sites that were never used. On Linux the config version has a page to itself. Once a program has
   started a session, that page is 0 in every child process, whatever call created the child. 0 equals no thread's
   synced version, so it sends each macro to its slow path. So even a child of _Fork() or clone(), for which no fork
   handler runs, does not write to its parent's image. Before the first constructor the config version is 0, too. */
#if defined(__linux__) && defined(__GNUC__) && !defined(PROF_FREESTANDING)
#define PROF__CONFIG_VERSION_PAGE 4096
PROF_DEF uint32_t prof__config_version[PROF__CONFIG_VERSION_PAGE / 4]
    __attribute__((__aligned__(PROF__CONFIG_VERSION_PAGE)));
static void (*prof__child_found)(void); /* called by a child that finds 0; NULL before that page exists */
#else
PROF_DEF uint32_t prof__config_version[1] = {PROF__OFF};
#endif
#ifndef PROF__NO_FORK
static void (*prof__inherited_make)(void); /* makes the image of a child of a fork that has inherited its session */
#endif
static uint32_t prof__config_version_count; /* how many config versions there were; a child continues the count */
#ifndef PROF_FREESTANDING
static PROF__UNUSED prof_writer *prof__writers;
#endif

/* The call sites of followers compare with a config version of their own, which this updates; the functions that they
   call check the leader's again. */
#if defined(PROF__INSTANCES) && !defined(PROF_STATIC)
static void prof__instances_tell(uint32_t config_version)
{
    for (prof__instance *each = PROF__ACQUIRE(&prof__followers); each; each = PROF__ACQUIRE(&each->next))
        if (each->config_version != prof__config_version) PROF__STORE(each->config_version, config_version);
}
#else
static void prof__instances_tell(uint32_t config_version) { (void)config_version; }
#endif

/* Called before each lock of the state is taken. A child for which no fork handler has run finds out here that it is
   one: other threads of its parent may have held the lock, and do not exist in it. */
static void prof__child_check(void)
{
#ifdef PROF__CONFIG_VERSION_PAGE
    uint32_t none = 0;
    if (PROF__LIKELY(PROF__LOAD(prof__config_version) != 0)) return;
    if (prof__child_found)
        prof__child_found();
    else
        __atomic_compare_exchange_n(prof__config_version, &none, PROF__OFF, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
}

#define PROF__OFF_SCOPE_ASKED 0x40000000u /* a flag in a site's state; config versions are below it. See >>off_scope */
static void prof__next_config_version(void)
{
    /* keeps the bit PROF__SHORT clear */
    uint32_t next = PROF__ADD(&prof__config_version_count, 1u) % (PROF__OFF_SCOPE_ASKED / 2 - 1) + 1;
    PROF__RELEASE(prof__config_version, next);
    prof__instances_tell(next);
}

static uint64_t prof__now_of(uint32_t clock)
{
#ifdef PROF_FREESTANDING
    (void)clock;
#else
    if (clock == PROF_CLOCK_MONOTONIC) return prof__monotonic();
#endif
    return prof__counter();
}

/* Reads the clock of a session. at_end: 1: for the end of a scope, where PROF_CLOCK_ORDERED waits for earlier
   instructions. */
static uint64_t prof__now(const prof__session *s, int at_end)
{
#ifdef PROF_FREESTANDING
    (void)s, (void)at_end;
#else
    if (s->clock == PROF_CLOCK_MONOTONIC) return prof__monotonic();
    if (s->clock == PROF_CLOCK_ORDERED && at_end) return prof__counter_ordered() - s->ordered_excess;
#endif
    return prof__counter();
}

/* PROF_MINIMAL does not number frames: a reader counts those that it finds. */
#ifndef PROF_MINIMAL
#define PROF__FRAME_NAMES 8
#endif

/* The recorder's state of a track. A track belongs to a thread, or to a fiber, which moves from thread to thread. */
struct prof_fiber {
    uint64_t track, serial; /* track: its id in the session; serial: how many TRACK records it has */
    uint64_t reserved_ends; /* words to reserve for ends of scopes that were open when it left its last thread */
    uint32_t session_id;    /* the id of the session that knows the track; 0: none yet */
    uint32_t name_id;       /* the string id of its name; PROF__NAME_NEW: name is not in the image yet */
    uint32_t is_fiber;
    uint32_t unscoped_count, unscoped_turn; /* unscoped_turn: where to look for a slot in a full list */
    uint32_t unscoped_name[32]; /* names of the first unscoped begins that are open */
    uint32_t off_scope_marker; /* its off-scope marker while no thread runs it: see prof__thread */
    uint64_t unscoped[32];
    struct prof__unscoped_block *unscoped_more; /* slots for further unscoped begins */
    char name[64]; /* the program's name for it, for all sessions; "": none */
#ifdef PROF__FRAME_NAMES
    uint64_t frame_count[PROF__FRAME_NAMES]; /* boundaries of each of the session's first names of frames */
    uint32_t frame_name[PROF__FRAME_NAMES];  /* the hashes of these names; 0: free */
#endif
#ifdef PROF__BRIDGED
    struct prof__bridge_stack *bridge; /* the scopes that are open in other tools; NULL: none yet */
#endif
};
#define PROF__OFF_SCOPE_HIDDEN_SHIFT 9 /* in an off-scope marker: see >>off_scope */
#define PROF__NAME_NEW 0xffffffffu
/* Values of unscoped_name that are no name of an open begin. A name has bits 30 and 31 clear. */
#define PROF__UNSCOPED_ENDED 0x80000001u
#define PROF__UNSCOPED_FREE 0x80000002u /* beyond unscoped_count, or not written yet */
#define PROF__UNSCOPED_PASSED 0x40000000u /* a flag of a name: a begin before this one may have ended */
typedef char prof__fiber_fits[sizeof(struct prof_fiber) <= PROF_FIBER_SIZE ? 1 : -1];

/* One for each thread; in a kernel, one for each processor. The fast path uses only the first cache line. */
typedef struct prof__thread {
    uint32_t write_lock; /* the config version for which the fast path is open, or PROF__BUSY or PROF__SHUT */
    uint32_t session_id; /* the id of the session that it records into; tokens carry it from begin to end */
    uint64_t *cursor, *end;
    uint64_t base; /* ticks */
    uint64_t free_words; /* words of the chunk that may be written, less those reserved for ends of open scopes */
    uint32_t open; /* the value of write_lock when the thread is synced and not writing */
    uint32_t synced_version; /* the config version that the thread has applied */
    struct prof__session *session;
    prof__chunk *chunk;
    prof__chunk *filled; /* its previous chunk while the present one is less than half full, then HELD; or NULL */
    prof_fiber *fiber; /* the fiber that runs on this thread; NULL: none, events go to `own` */
    uint64_t thread_id;
    uint32_t exits;   /* how often its destructor has run: see prof__thread_leaves */
    uint32_t entered; /* 1: the chunk's last TRACK record is the present track's; 0: cursor is end, free_words 0 */
    struct {                  /* with min_duration: whether the next end may remove its begin */
        uint64_t *at, *end;   /* the last begin or end, and the word after it; valid if `end` is the cursor */
        uint64_t *known;      /* from here to `at` all words are begins and ends; the first one may instead be a
                                 word of another event whose bits look like neither */
    } short_scope;
    prof_fiber own;
    struct {
        uint32_t marker; /* of the innermost scope that is off: see >>off_scope; 0: none */
        uint32_t slot;   /* index + 1 in prof__off_scopes.with_args of its site; 0: only its token knows */
    } off_scope;
    uint32_t soft;      /* words at the chunk's end not to be used as long as `filled` is kept */
    uint32_t impatient; /* 1: this is the service, which never waits for a chunk and has a spare one */
    struct {                    /* when it last found no chunk */
        uint32_t waited;        /* the value of prof__room_mark() when it last waited for one in vain */
        uint32_t missing;       /* the value of prof__room_changes when it found none; 0: it found one */
        uint32_t failed_allocs; /* events that it has lost since */
    } room;
    /* borrowed_chunk: 1: its chunk is borrowed for one scope. borrows: how often it has borrowed one: see
       prof__borrows_chunk. */
    uint32_t borrowed_chunk, borrows;
    void *signal_stack; /* see prof__signal_stack_take */
#ifdef PROF__FRAME_NAMES
    struct {              /* the last frame boundary, unless its track has left the chunk since */
        const void *site; /* (void: this struct is visible in C++, and prof_site is hidden there) */
        uint64_t *count;  /* of boundaries of that frame's name */
    } frame;
#endif
    uint32_t syncing;   /* 1: it is in the function of prof_set_sync() */
    struct {
        uint32_t forking;    /* how many fork() are going on: fork handlers may fork again. See >>fork */
        uint32_t holds;      /* 1: it has taken prof__change_word for them */
        uint32_t write_lock; /* the write lock's value before the first */
    } fork;
#ifdef PROF__BRIDGED
    struct {
        uint32_t busy;                    /* 1: the thread runs another tool's code */
        uint32_t named;                   /* 1: that tool knows its name */
        prof_fiber *fiber;                /* whose scopes are open on it as that tool sees it; NULL: its own */
        struct prof__bridge_stack *spare; /* a free one, for the next fiber */
    } bridge;
#endif
#ifdef PROF__SHARED
    struct {
        struct prof__thread *next; /* of all: see prof__self_make(); does not change */
        uint32_t taken, first;     /* taken: 1: a thread has it; first: 1: the first record of its mapping */
    } record;
#endif
} prof__thread;

/* Returns the track on which the thread records. */
static prof_fiber *prof__track_of(prof__thread *self) { return self->fiber ? self->fiber : &self->own; }

/* Not 0 if the thread gives its chunk back after this scope: it is a borrowed chunk, or the thread is ending.
   Freestanding threads keep their chunks. */
#ifdef PROF_FREESTANDING
#define PROF__LEAVES_SOON(self) ((void)(self), 0)
#else
#define PROF__LEAVES_SOON(self) ((self)->exits | (self)->borrowed_chunk)
#endif
#define PROF__BORROWS 100u     /* see prof__borrows_chunk */
#define PROF__BUSY 0x80000000u /* the thread is writing: a signal handler that finds this must not write */
#define PROF__SHUT 0x80000001u /* all macros take the slow path */
/* A write lock that differs from the config version in this bit is open to begins and ends only. A session with
   min_duration uses it when the last word is a begin or an end, and no end could take a word of another event for its
   begin. Small builds have no such state. */
#if defined(PROF_MINIMAL) || defined(PROF_FREESTANDING)
#define PROF__SHORT 0u
#else
#define PROF__SHORT 0x20000000u
#endif
#ifdef PROF__SHARED
#define PROF__EXITS 3u /* how often a thread's destructor may run; then it records no more */
#else
#define PROF__EXITS 0xFFFFFFFFu
#endif

/* Takes the thread's write lock: from here on no signal handler writes, or moves the thread to another session. Returns
   the lock's old value, for prof__leave_write(). */
static inline uint32_t prof__enter_write(prof__thread *self)
{
    uint32_t write_lock = self->write_lock;
    self->write_lock = PROF__BUSY;
    PROF__BARRIER();
    return write_lock;
}

/* Gives the write lock its old value back, when nothing was recorded. If a signal handler interrupted a thread that was
   writing, the lock stays PROF__BUSY. */
static inline void prof__leave_write(prof__thread *self, uint32_t write_lock)
{
    PROF__BARRIER();
    self->write_lock = write_lock;
}

/* Releases the write lock of a thread that is synced. */
static inline void prof__leave(prof__thread *self)
{
    PROF__BARRIER();
    self->write_lock = self->open;
}

/*-- RING -------------------------------------------------------------------------------------------------- >>ring --*/

/* Events lost on threads without a chunk and a session. The next thread that holds the lock adds them to the image. */
static uint64_t prof__lost_without_chunk;
static uint64_t prof__lost_args_without_chunk; /* arguments lost on threads without a session */
static uint64_t prof__lost_busy_without_chunk; /* see prof__lose_busy() */

/* Always odd. Changes when a thread that found no free chunk might find one now. */
static uint32_t prof__room_changes = 1;
#define PROF__NO_LOCK 2u /* in no_room: the thread could not get the lock to take a chunk */
static void prof__room_changed(void) { __atomic_fetch_add(&prof__room_changes, 2, __ATOMIC_RELEASE); }

/* Moves the counts of losses of threads without a chunk to the image. Under the lock. */
static void prof__lost_collect(prof__session *s)
{
    PROF__ADD(&s->header->lost, __atomic_exchange_n(&prof__lost_without_chunk, 0, __ATOMIC_RELAXED));
    PROF__ADD(&s->header->lost_args, __atomic_exchange_n(&prof__lost_args_without_chunk, 0, __ATOMIC_RELAXED));
    PROF__ADD(&s->header->lost_busy, __atomic_exchange_n(&prof__lost_busy_without_chunk, 0, __ATOMIC_RELAXED));
}

static uint64_t *prof__chunk_first(const prof__chunk *chunk) { return (uint64_t *)(uintptr_t)(chunk + 1); }

/* Returns 1 if the thread's chunk is of an earlier session, whose memory may be the user's again. This happens only in
   freestanding builds: elsewhere a session keeps its memory as long as a thread points to it. */
static inline int prof__stale(const prof__thread *self)
{
#ifdef PROF_FREESTANDING
    return self->session_id != PROF__LOAD(&prof__state.session_id);
#else
    (void)self;
    return 0;
#endif
}

/* Counts events that this thread could not record. If it has a chunk, counts in the chunk's header: a reader finds the
   count there even after a crash, and assigns the loss to the track that wrote there last. */
static void prof__lose(prof__thread *self, uint64_t count)
{
    prof__session *s = self->session;
    if (self->impatient) return; /* the service's own scopes are no loss of the program's */
    PROF__ADD(self->entered && !prof__stale(self) ? &self->chunk->lost
              : s                                 ? &s->header->lost
                                                  : &prof__lost_without_chunk,
              count);
}

/* What a macro loses if it finds no room, or interrupts another macro: an event, arguments, or both. */
#define PROF__LOSS_EVENT 1u
#define PROF__LOSS_ARGS(count) ((uint32_t)(count) << 1)

/* Counts a loss of an event, of arguments, or both. Arguments have a count of their own, because they are no events. */
static void prof__lose_all(prof__thread *self, uint32_t loss)
{
    prof__session *s = self->session;
    if (loss & PROF__LOSS_EVENT) prof__lose(self, 1);
    if (PROF__UNLIKELY(loss > PROF__LOSS_EVENT))
        PROF__ADD(s ? &s->header->lost_args : &prof__lost_args_without_chunk, (uint64_t)(loss >> 1));
}

/* Counts a loss although there was room: the macro interrupted another one of the same thread (in a signal handler or
   an interrupt), or another thread kept the lock too long. */
static PROF__COLD void prof__lose_busy(prof__thread *self, uint32_t loss)
{
    prof__session *s = self->session;
    if (self->impatient) return;
    prof__lose_all(self, loss);
    if (loss & PROF__LOSS_EVENT) PROF__ADD(s ? &s->header->lost_busy : &prof__lost_busy_without_chunk, 1u);
}

/* Counts an event that was lost because too many scopes were open. */
static PROF__COLD void prof__lose_deep(prof__thread *self)
{
    prof__lose(self, 1);
    if (self->session) PROF__ADD(&self->session->header->lost_deep, 1u);
}

/* Returns 1 if the service adds events to statistics in this mode. */
static int prof__mode_counts(uint32_t mode) { return mode == PROF_STATS || mode == PROF_RING_STATS; }

/* Returns 1 if the service empties the chunks. Then threads take only chunks that the service has released. free_chunks
   counts these, so that a thread sees without a search of the whole ring that there is none. */
static int prof__chunks_kept(const prof__session *s)
{
#ifdef PROF__ALONE
    return (void)s, 0;
#else
    return s->header->mode == PROF_STREAM || prof__mode_counts(s->header->mode);
#endif
}

/* Reserves a chunk that the service has released; for the service itself, if there is none, its spare one. Returns 0 if
   there is neither. */
static int prof__chunk_reserve(prof__session *s, int service)
{
    int32_t free_chunks = PROF__LOAD(&s->ring.free_chunks);
    while (free_chunks > 0)
        if (__atomic_compare_exchange_n(&s->ring.free_chunks, &free_chunks, free_chunks - 1, 1, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return 1;
    if (!service || !s->ring.spare_chunk) return 0;
    s->ring.spare_chunk = 0;
    return 1;
}

/* The thread that takes a chunk near the end of the ready part of the ring makes the next piece ready: its pages are
   mapped and its blocks of the file reserved. No thread gets a chunk before its blocks are reserved. A thread that
   overtakes the one at work does the same work again, which changes nothing. If the disk is full, the ring ends
   there, as if it had been that small from the start: as no chunk beyond was used, all numbers still lead to the same
   slots. */
#define PROF__ALL_READY 0xffffffffu
#define PROF__READY_ENDS 0x80000000u /* a flag of ready_chunks: a thread is reducing the ring to this size. For
                                        others it is that small already, before chunk_count says so */
#define PROF__READY_AHEAD 8u         /* chunks */
#define PROF__READY_PIECE 16u        /* chunks whose pages are mapped at a time; at first 1, then up to 4, because
                                        many programs, and most children of forks, need only one */
#define PROF__BLOCKS_PIECE 64u       /* chunks whose blocks are reserved at a time; at first fewer */
#define PROF__META_FIRST 8192u       /* bytes from the beginning of the file that are ready at first */
#define PROF__INDEX_FIRST 4096u      /* bytes at the end of the index that are ready at first */

/* Returns how many chunks from the beginning of the ring may be read. The pages of others may be holes in a file: a
   file system in memory allocates memory even when a hole is read. */
static prof__extent prof__chunks_there(const prof__session *s)
{
#ifdef PROF_FREESTANDING
    return s->chunk_count;
#else
    uint32_t ready = PROF__ACQUIRE(&s->ring.ready_chunks);
    return ready == PROF__ALL_READY ? PROF__LOAD(&s->chunk_count) : ready & ~PROF__READY_ENDS;
#endif
}

#define PROF__LIMIT_REACHED "max_file_size is reached" /* a write_error that is not the disk's */

#ifndef PROF_FREESTANDING
/* Stores in the image, for reports, why something in the background failed. Of a long text it keeps the end: the reason
   follows the path. A reader may be reading the text meanwhile. */
static void prof__background_failed(prof__session *s, const char *why)
{
    char *to = s->header->write_error;
    size_t length = prof__length(why), max = sizeof s->header->write_error - 1;
    if (length > max) why += length - max;
    for (size_t i = 0; i + 1 < sizeof s->header->write_error; ++i) {
        PROF__STORE(to + i, *why);
        if (*why) ++why;
    }
    PROF__ADD(&s->header->write_failures, 1);
}

#ifndef _WIN32
/* The state of the image's file. Emscripten's fstat() looks for the name with which the file was opened, so it is asked
   by name. */
#ifdef __EMSCRIPTEN__
#define PROF__FILE_ABOUT(s, about) prof__lstat((s)->file.live_path, about)
#else
#define PROF__FILE_ABOUT(s, about) prof__fstat((s)->stream.file, about)
#endif

/* Returns 1 if the descriptor still belongs to the image's file, and the file's state. A program may have closed all
   its descriptors and opened another file with this number. */
static int prof__stream_file_about(const prof__session *s, prof__about *about)
{
    return s->stream.opened && !PROF__FILE_ABOUT(s, about) && (uint64_t)about->st_dev == s->stream.device &&
           (uint64_t)about->st_ino == s->stream.inode;
}

static int prof__stream_file_there(const prof__session *s)
{
    prof__about about;
    return prof__stream_file_about(s, &about);
}

/* Returns 1, and notes it in the session, if another program has truncated the file. */
static int prof__file_cut(prof__session *s, const prof__about *about)
{
    int cut = (uint64_t)about->st_size < s->image_size;
    if (cut) __atomic_fetch_or(&s->file.cut, PROF__CUT, __ATOMIC_RELAXED);
    return cut;
}
#endif
#endif

#if defined(__linux__) && !defined(PROF_FREESTANDING)
/* Makes pages present and writable without a fault each (Linux 5.14). Returns 0 or -1. Async-signal-safe. */
static int prof__populate(void *memory, size_t size) { return madvise(memory, size, 23 /* MADV_POPULATE_WRITE */); }

/* Reserves blocks of a file, whose size stays: another program may truncate it just now. Returns 0; EOPNOTSUPP if that
   is not possible here, also on a disk with room; or errno, if there is no room. Async-signal-safe. */
static int prof__blocks_reserve(int file, uint64_t at, uint64_t size)
{
    prof__file_signal signal;
    prof__file_signal_hold(&signal);
    int error = fallocate(file, 1 /* FALLOC_FL_KEEP_SIZE */, (prof__offset)at, (prof__offset)size) ? errno : 0;
    prof__file_signal_drop(&signal);
    return !error || error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO ? error : EOPNOTSUPP;
}

/* Reserves blocks for a part of the image. The program may have closed the descriptor. A file that another program has
   truncated is not enlarged again: the missing part would come back as zeros, unnoticed. */
static int prof__part_reserve(prof__session *s, uint64_t from, uint64_t end)
{
    prof__about about;
    if (!prof__stream_file_about(s, &about)) return EOPNOTSUPP;
    if (prof__file_cut(s, &about)) return EIO;
    return prof__blocks_reserve(s->stream.file, from, end - from);
}

/* Makes a part of the image writable, and reserves its blocks up to `blocks` (0: none). Returns 0 or an errno. A page
   of a file that becomes present gets its block as well. */
static int prof__part_ready(prof__session *s, uint64_t from, uint64_t end, uint64_t blocks)
{
    int reserves = s->file.live_path && !s->file.whole;
    int error = reserves && blocks ? prof__part_reserve(s, from, blocks) : EOPNOTSUPP;
    if (error && error != EOPNOTSUPP) return error;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), first = from / page * page;
    if (!prof__populate((char *)s->file.mapping + first, (size_t)(end - first)) || !reserves) return 0;
    int no_room = errno == EFAULT;
    if (error) error = prof__part_reserve(s, from, end);
    return error != EOPNOTSUPP ? error : no_room ? ENOSPC : EIO;
}

/* Returns the chunk up to which blocks are reserved together with the piece that begins at chunk `from`, or 0 for
   none. */
static uint64_t prof__blocks_end(uint64_t from)
{
    if (from <= PROF__READY_PIECE) return from * 4;
    return from % PROF__BLOCKS_PIECE ? 0 : from + PROF__BLOCKS_PIECE;
}

/* Makes chunks from .. end - 1 writable; prof__map_begin() has done that for chunk 0. Returns 0 or an errno. */
static int prof__chunks_populate(prof__session *s, uint64_t from, uint64_t end)
{
    uint64_t at = (uint64_t)(s->chunks - (char *)s->file.mapping), ahead = prof__blocks_end(from);
    uint64_t count = PROF__LOAD(&s->chunk_count);
    if (!from) return 0;
    if (ahead > count) ahead = count; /* below from, if another thread has reduced the ring */
    return prof__part_ready(s, at + from * s->chunk_size, at + end * s->chunk_size,
                            from < ahead ? at + ahead * s->chunk_size : 0);
}

static const char *prof__room_text(int error) /* strerror() is not async-signal-safe */
{
    return error == ENOSPC   ? "No space left on device"
           : error == EDQUOT ? "Disk quota exceeded"
           : error == EFBIG  ? "File too large"
                             : "Input/output error, or refused by a sandbox";
}

/* Reduces the ring to count chunks, which may be 0. No chunk beyond was ever taken; none of them counts as free any
   more. */
static void prof__ring_end(prof__session *s, uint32_t count, int error)
{
    uint32_t missing = (uint32_t)s->chunk_count - count;
    s->ring.chunks_asked = s->chunk_count;
    __atomic_fetch_sub(&s->ring.free_chunks, (int32_t)missing, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&s->ring.pieces, missing, __ATOMIC_RELAXED);
    s->ring.room_error = prof__room_text(error);
    PROF__STORE(&s->chunk_count, (uint64_t)count);
    PROF__STORE(&s->header->chunk_count, (uint64_t)count);
    PROF__STORE(&s->like.chunk_count, (uint64_t)count);
    prof__background_failed(s, s->ring.room_error);
    PROF__RELEASE(&s->ring.ready_chunks, PROF__ALL_READY);
    prof__room_changed();
}

/* Returns the number of the chunk after the piece that begins at chunk `from`. */
static uint32_t prof__piece_end(uint32_t from)
{
    return from >= PROF__READY_PIECE ? (from / PROF__READY_PIECE + 1) * PROF__READY_PIECE : from ? from * 4 : 1;
}

/* Makes the piece that begins at chunk `from` ready. If the disk has no room for it, the ring ends before it. */
static void prof__piece_take(prof__session *s, uint32_t from)
{
    uint64_t count = PROF__LOAD(&s->chunk_count), end = prof__piece_end(from);
    uint32_t ready = from;
    if (from >= count) return; /* another thread has reduced the ring */
    if (end > count) end = count;
    uint64_t began = PROF__MINIMAL ? 0 : prof__now(s, 0);
    int error = prof__chunks_populate(s, from, end);
    if (!PROF__MINIMAL) PROF__ADD(&s->header->ready_ticks, prof__now(s, 0) - began);
    if (!error)
        __atomic_compare_exchange_n(&s->ring.ready_chunks, &ready, end == count ? PROF__ALL_READY : (uint32_t)end, 0,
                                    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    else if (__atomic_compare_exchange_n(&s->ring.ready_chunks, &ready, from | PROF__READY_ENDS, 0, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
        prof__ring_end(s, from, error);
}

/* Makes chunk `number` writable, unless the ring ends before it. */
static void prof__chunks_ready(prof__session *s, uint64_t number)
{
    PROF__ERRNO_SAVE();
    uint32_t claimed = PROF__LOAD(&s->ring.claimed_chunks), ready;
    if (number + PROF__READY_AHEAD >= claimed && claimed < PROF__LOAD(&s->chunk_count) &&
        __atomic_compare_exchange_n(&s->ring.claimed_chunks, &claimed, prof__piece_end(claimed), 0, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED))
        prof__piece_take(s, claimed);
    while (!((ready = PROF__ACQUIRE(&s->ring.ready_chunks)) & PROF__READY_ENDS) && number >= ready)
        prof__piece_take(s, ready); /* PROF__ALL_READY has that flag, too */
    PROF__ERRNO_RESTORE();
}
#elif !defined(PROF_FREESTANDING)
static void prof__chunks_ready(prof__session *s, uint64_t number) { (void)s, (void)number; }
#endif

/* These builds never split slots: a kernel has few processors, and PROF_MINIMAL must be small. */
#if defined(PROF_FREESTANDING) || defined(PROF_MINIMAL)
#define PROF__WHOLE_SLOTS
#endif

#ifdef PROF__WHOLE_SLOTS
#define PROF__MARKED 0 /* no marks: nobody notices pages of other chunks after a power loss */
#else
#define PROF__MARKED 1 /* the last word of a chunk is a mark, see format.h */
#endif

/* Returns how many words for records a chunk of this form has. */
static prof__extent prof__form_words(const prof__session *s, uint32_t form)
{
#ifdef PROF__WHOLE_SLOTS
    return (void)form, s->chunk_words;
#else
    if (PROF__LIKELY(!PROF__FORM_DEPTH(form))) return s->chunk_words;
    return ((s->chunk_size >> PROF__FORM_DEPTH(form)) - (uint32_t)sizeof(prof__chunk)) / 8 - PROF__MARKED;
#endif
}
static prof__extent prof__words_of(const prof__session *s, const prof__chunk *chunk)
{
    return prof__form_words(s, PROF__LOAD(&chunk->form));
}

#ifdef PROF__WHOLE_SLOTS
static prof__chunk *prof__chunk_at(const prof__session *s, prof__extent count, uint64_t number)
{
    return (prof__chunk *)(void *)(s->chunks + (prof__extent)number % count * s->chunk_size);
}
#define PROF__SEARCH(s, count) ((void)(s), (uint64_t)(count))
static void prof__chunk_mark(const prof__session *s, prof__chunk *chunk, uint64_t sequence)
{
    (void)s, (void)chunk, (void)sequence;
}
static void prof__chunk_seal(const prof__session *s, prof__chunk *chunk, size_t used)
{
    (void)s, (void)chunk, (void)used;
}
static void prof__chunk_pass(const prof__session *s, prof__chunk *chunk, size_t used, size_t limit)
{
    (void)s, (void)chunk, (void)used, (void)limit;
}
static void prof__chunk_unseal(const prof__session *s, prof__chunk *chunk, size_t used)
{
    (void)s, (void)chunk, (void)used;
}
#else
#define PROF__SEARCH(s, count) ((uint64_t)(count) << PROF__LOAD(&(s)->ring.depth))

#define PROF__HEAD_WORDS (sizeof(prof__chunk) / 8)

static size_t prof__chunk_bytes(const prof__session *s, const prof__chunk *chunk)
{
    return s->chunk_size >> PROF__FORM_DEPTH(PROF__LOAD(&chunk->form));
}

/* Loops over the parts of a chunk: part is at the words from .. end - 1. The last parts of a small chunk are empty. */
#define PROF__EACH_PART(part, from, end, bytes)                                                        \
    for (size_t part = 0, from = 0, step = prof__part_bytes(bytes) / 8, all = bytes / 8 - PROF__HEAD_WORDS, \
                end = (step < bytes / 8 ? step : bytes / 8) - PROF__HEAD_WORDS;                        \
         part < PROF__PARTS; ++part, from = end, end = all - end > step ? end + step : all)

/* Stores the marks of all parts of a chunk (see format.h). The chunk's words are zero. */
static void prof__chunk_mark(const prof__session *s, prof__chunk *chunk, uint64_t sequence)
{
    size_t bytes = prof__chunk_bytes(s, chunk);
    PROF__STORE(&chunk->form, PROF__LOAD(&chunk->form) | PROF__FORM_MARKED);
    PROF__EACH_PART(i, from, end, bytes) {
        PROF__STORE(&chunk->sums[i], 0u);
        PROF__STORE(prof__chunk_first(chunk) + end - 1, prof__empty_word(sequence));
        (void)from;
    }
}

/* Stores the sum of a part of a chunk. used: how many words of the chunk its thread has used. */
static void prof__part_seal(prof__chunk *chunk, size_t part, size_t from, size_t end, size_t used)
{
    size_t rest = end > used && from < used ? end - used : 0;
    if (rest > PROF__SUM_REST) rest = PROF__SUM_REST;
    PROF__RELEASE(&chunk->sums[part], prof__part_sum(prof__chunk_first(chunk) + from, end - from, (uint32_t)rest));
}

/* Stores the sums of all parts of a chunk that its thread leaves. used: how many words the thread has used. */
static void prof__chunk_seal(const prof__session *s, prof__chunk *chunk, size_t used)
{
    size_t bytes = prof__chunk_bytes(s, chunk);
    PROF__EACH_PART(i, from, end, bytes) prof__part_seal(chunk, i, from, end, used);
}

/* Called before a thread uses its chunk up to the word `limit`. Stores the sums of the parts that it has used and that
   end before `limit`, and marks the others as begun. A sum leaves out at most PROF__SUM_REST words that the thread has
   still to write. A part that lacks more, because many scopes are open, gets its sum later. */
static void prof__chunk_pass(const prof__session *s, prof__chunk *chunk, size_t used, size_t limit)
{
    size_t bytes = prof__chunk_bytes(s, chunk);
    PROF__EACH_PART(i, from, end, bytes) {
        uint64_t *last = prof__chunk_first(chunk) + end - 1;
        if (from >= limit) break;
        int ready = end <= limit && from < used && end <= used + PROF__SUM_REST;
        if (ready && !PROF__LOAD(&chunk->sums[i])) prof__part_seal(chunk, i, from, end, used);
        if (end > used && *last == prof__empty_word(chunk->sequence)) PROF__STORE(last, *last ^ PROF__BEGUN_BIT);
    }
}

/* Removes the sums of the parts behind the used words, before a thread writes to a partial chunk of another one. */
static void prof__chunk_unseal(const prof__session *s, prof__chunk *chunk, size_t used)
{
    size_t bytes = prof__chunk_bytes(s, chunk);
    PROF__EACH_PART(i, from, end, bytes) {
        if (end > used) PROF__STORE(&chunk->sums[i], 0u);
        (void)from;
    }
    PROF__FENCE();
}

/* Returns the chunk to which a number of the ring leads. The number modulo count is the slot. If that is split, each
   bit of the lap (number / count) chooses a half of what is left: so the chunks of a slot take turns. */
static prof__chunk *prof__chunk_at(const prof__session *s, prof__extent count, uint64_t number)
{
    prof__chunk *chunk = (prof__chunk *)(void *)(s->chunks + number % count * s->chunk_size);
    uint64_t lap = number / count;
    for (uint32_t depth = 0; depth < PROF__FORM_DEPTH(PROF__ACQUIRE(&chunk->form)); lap >>= 1) {
        ++depth;
        if (lap & 1) chunk = (prof__chunk *)(void *)((char *)chunk + (s->chunk_size >> depth));
    }
    return chunk;
}

/* Returns how often a slot must be halved for one more thread, which needs a chunk of at least `words` words. The ring
   shall have four times as many chunks as threads. Then those that took whole slots have a quarter of the ring, each
   doubling of the threads takes another eighth, and some of it is always left. So every thread keeps its newest events,
   and a thread that records finds a chunk that nobody owns. */
static uint32_t prof__depth_wanted(const prof__session *s, uint64_t count, uint64_t words)
{
    uint64_t threads = (uint64_t)PROF__LOAD(&s->attached) + 1;
    uint32_t depth = 0;
    while (depth < s->ring.deepest && count << depth < threads * 4) ++depth;
    while (depth && prof__form_words(s, depth << PROF__FORM_SHIFT) < words) --depth;
    return depth;
}

/* Halves a chunk that this thread owns, and whose words are zero, until its slot was halved `wanted` times. Returns the
   part to which the lap leads; the other parts become free. */
static prof__chunk *prof__chunk_split(prof__session *s, prof__chunk *chunk, uint64_t lap, uint32_t wanted)
{
    uint32_t depth = PROF__FORM_DEPTH(PROF__LOAD(&chunk->form)), parts = wanted - depth;
    uint32_t deepest = PROF__LOAD(&s->ring.depth);
    for (lap >>= depth; depth < wanted; lap >>= 1) {
        ++depth;
        prof__chunk *half = (prof__chunk *)(void *)((char *)chunk + (s->chunk_size >> depth));
        uint32_t form = depth << PROF__FORM_SHIFT;
        prof__clear(half, sizeof *half);
        PROF__STORE(&half->form, form);
        if (lap & 1) PROF__STORE(&half->state, (uint32_t)PROF__CHUNK_OWNED);
        PROF__RELEASE(&chunk->form, form); /* now other threads can find the half */
        if (!(lap & 1)) continue;
        PROF__STORE(&chunk->lost, 0);
        PROF__RELEASE(&chunk->state, (uint32_t)PROF__CHUNK_FREE);
        chunk = half;
    }
    while (deepest < wanted && !__atomic_compare_exchange_n(&s->ring.depth, &deepest, wanted, 0, __ATOMIC_RELAXED,
                                                            __ATOMIC_RELAXED)) {
    }
    /* Texts are limited to half of the smallest chunk. */
    uint64_t words = (uint64_t)prof__form_words(s, wanted << PROF__FORM_SHIFT) * 2;
    if (words < PROF__LOAD(&s->text_words)) PROF__STORE(&s->text_words, (prof__extent)words);
    __atomic_fetch_add(&s->ring.pieces, parts, __ATOMIC_RELAXED);
    if (prof__chunks_kept(s)) __atomic_fetch_add(&s->ring.free_chunks, (int32_t)parts, __ATOMIC_RELAXED);
    prof__room_changed();
    return chunk;
}
#endif

/* Called when a search found no chunk. If its numbers were consecutive (all), it has tried each chunk of the ring, and
   no thread need search again before one is released. Otherwise other threads searched at the same time. */
static void prof__search_failed(prof__session *s, int held, int all, uint32_t room)
{
    if (s->header->mode == PROF_RING && all) PROF__STORE(&s->ring.all_owned[held], room);
}

/* Gives up a chunk that this thread owns. state: FULL or LEFT. newest: 1 if a track has its newest events there. A ring
   overwrites chunks in the order in which they were taken. A thread that records seldom had its chunk for most of a
   lap, so that it would soon be overwritten, although its last events are new. Such a chunk gets a second chance: it
   stays for one more lap. It does not if a later chunk continues its track, as that would be overwritten before it. */
static void prof__chunk_give(const prof__session *s, prof__chunk *chunk, uint32_t state, int newest)
{
    uint64_t age = PROF__LOAD(&s->header->next_chunk) - chunk->sequence;
    uint32_t form = PROF__LOAD(&chunk->form) & ~PROF__FORM_SECOND_CHANCE;
    uint64_t lap = (uint64_t)PROF__LOAD(&s->chunk_count) << PROF__FORM_DEPTH(form);
    PROF__STORE(&chunk->form,
                form | (newest && !prof__chunks_kept(s) && age >= lap / 2 ? PROF__FORM_SECOND_CHANCE : 0));
    PROF__RELEASE(&chunk->state, state);
}

/* Begins a chunk that this thread owns; its earlier words are lost. number: its sequence number - 1. */
static void prof__chunk_begin(prof__session *s, prof__chunk *chunk, uint64_t number)
{
    PROF__STORE(&chunk->lost, 0);
    prof__chunk_mark(s, chunk, number + 1);
    prof__pair base;
    prof__pair_take(s->clock, s->header->tick_hz, &base);
    prof__pair_store(&chunk->base, &base);
    PROF__RELEASE(&chunk->sequence, number + 1);
}

/* Empties a chunk that this thread owns: sets its sequence and its words to 0. */
static void prof__chunk_forget(prof__session *s, prof__chunk *chunk)
{
    prof__header *h = s->header;
    uint64_t taken_back = PROF__TAKEN_BACK(chunk);
    if (taken_back) {
        PROF__ADD(&h->taken_back, taken_back);
        PROF__STORE(&chunk->taken_back, 0);
    }
    if (!prof__chunks_kept(s) || h->mode == PROF_RING_STATS) PROF__ADD(&h->overwritten, 1);
    PROF__RELEASE(&chunk->sequence, 0); /* a reader that misses this chunk knows of a gap */
    PROF__FENCE(); /* a reader that sees a later store also sees this zero */
    prof__clear(prof__chunk_first(chunk), (size_t)(prof__words_of(s, chunk) + PROF__MARKED) * 8);
}

/* Takes the chunk to which a number leads, or returns NULL if it is owned. least: words it must have. held: 1: take it
   even if a thread holds it. Sets *late to 1 if the chunk was only skipped this time (second chance). */
static prof__chunk *prof__chunk_try(prof__session *s, uint64_t number, prof__extent count, uint64_t least, int held,
                                    int *late)
{
    prof__chunk *chunk = prof__chunk_at(s, count, number);
    uint32_t state = PROF__LOAD(&chunk->state);
    if ((prof__chunks_kept(s) ? state != PROF__CHUNK_FREE
                               : state == PROF__CHUNK_OWNED || (state == PROF__CHUNK_HELD && !held)) ||
        prof__words_of(s, chunk) < least ||
        !__atomic_compare_exchange_n(&chunk->state, &state, PROF__CHUNK_OWNED, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return NULL;
    uint32_t form = PROF__LOAD(&chunk->form);
    /* If this thread slept for a lap, the slot has newer events now, or was split. */
    *late = chunk->sequence > number || form & PROF__FORM_SECOND_CHANCE || chunk != prof__chunk_at(s, count, number);
    if (*late) {
        PROF__STORE(&chunk->form, form & ~PROF__FORM_SECOND_CHANCE);
        PROF__RELEASE(&chunk->state, state);
        prof__room_changed(); /* other threads saw it as taken */
        return NULL;
    }
    if (chunk->sequence) prof__chunk_forget(s, chunk);
#ifndef PROF__WHOLE_SLOTS
    uint32_t wanted = prof__depth_wanted(s, PROF__LOAD(&s->chunk_count), least);
    if (PROF__UNLIKELY(wanted > PROF__FORM_DEPTH(form)) && s->header->mode != PROF_FILL)
        chunk = prof__chunk_split(s, chunk, number / count, wanted);
#endif
    prof__chunk_begin(s, chunk, number);
    return chunk;
}

/* Takes the next chunk of the ring: usually one atomic operation for some thousand events. least: words it should have;
   if no chunk is so large, takes a smaller one. held: 1: if no chunk is free, take one that another thread only holds.
   Returns NULL if there is none. */
static prof__chunk *prof__chunk_take_of(prof__session *s, int service, uint64_t least, int held)
{
    prof__header *h = s->header;
    int kept = prof__chunks_kept(s), late = 0;
    uint32_t room = PROF__ACQUIRE(&prof__room_changes);
    uint64_t first = 0, last = 0, tries, slots = PROF__LOAD(&s->chunk_count), lap = PROF__SEARCH(s, slots);
    uint64_t max = kept || held ? lap * 2 : lap; /* if kept, a chunk is free, but others may have moved it along */
    if (kept ? !prof__chunk_reserve(s, service) : PROF__LOAD(&s->ring.all_owned[held]) == room) return NULL;
    for (tries = 0; tries < max; ++tries) {
        if (h->mode == PROF_FILL && PROF__LOAD(&h->next_chunk) >= PROF__LOAD(&s->chunk_count)) return NULL;
        /* Release order: a reader that sees this number also sees all that the thread wrote to its previous chunk. */
        uint64_t number = __atomic_fetch_add(&h->next_chunk, 1, __ATOMIC_RELEASE);
        last = number;
        if (!tries) first = number;
#ifndef PROF_FREESTANDING
        uint32_t ready = PROF__ACQUIRE(&s->ring.ready_chunks) & ~PROF__READY_ENDS;
        if (PROF__UNLIKELY(number + PROF__READY_AHEAD >= ready)) prof__chunks_ready(s, number);
#endif
        prof__extent count = prof__chunks_there(s); /* read after the chunk was made ready: count is larger than
                                                       number now, or is the size of the whole ring */
        if (!count || (h->mode == PROF_FILL && number >= count)) break;
        prof__chunk *chunk = prof__chunk_try(s, number, count, least, held && tries >= lap, &late);
        if (chunk) return chunk;
        if (late) max = tries + 1 + lap; /* come here once more, if all others are owned */
        late = 0;
        if (least && tries + 1 >= slots) { /* no chunk is so large: a smaller one will do */
            least = 0;
            max += slots;
        }
    }
    if (kept) {
        PROF__ADD(&s->ring.free_chunks, 1);
        prof__room_changed();
    } else if (tries == max) {
        prof__search_failed(s, held, last - first == tries - 1, room);
    }
    return NULL;
}

static prof__chunk *prof__chunk_take(prof__session *s, int service) { return prof__chunk_take_of(s, service, 0, 1); }

/* Begins a thread's chunk anew because there is no other: what it had is lost. */
static prof__chunk *prof__chunk_again(prof__session *s, prof__chunk *chunk)
{
    uint64_t number = __atomic_fetch_add(&s->header->next_chunk, 1, __ATOMIC_RELEASE);
    PROF__ADD(&s->header->lost, PROF__LOAD(&chunk->lost)); /* the chunk's own count would be lost */
    prof__chunk_forget(s, chunk);
    prof__chunk_begin(s, chunk, number);
    return chunk;
}

/* Notes that the program loses events because the file of a stream cannot be written. */
static void prof__stream_loses(const prof__thread *self, prof__session *s)
{
#if !defined(PROF_FREESTANDING) && !defined(PROF_NO_THREAD)
    if (!self->impatient && PROF__LOAD(&s->stream.failing)) PROF__STORE(&s->stream.lost, 1);
#else
    (void)self, (void)s;
#endif
}

/* If the service empties chunks, prof__room_wait() sleeps until the service has released one, at most the session's
   wait_ns. Returns 1 if it has. A thread that waited in vain does not wait again before a chunk is released. The
   service itself never waits. Needs that the caller holds no lock. prof__room_waits() returns 1 if it would sleep. */
#ifdef PROF__ALONE
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
/* Returns a number that changes with each released chunk, and with the session. */
static uint32_t prof__room_mark(const prof__session *s)
{
    return PROF__ACQUIRE(&s->ring.released) + s->session_id * 0x9E3779B1u;
}

#define PROF__ROOM_NAP 100000000u /* ns; a nap is short: the one thread that a released chunk wakes may have left */

static int prof__room_waits(const prof__thread *self, const prof__session *s)
{
    return s->wait_ns && prof__chunks_kept(s) && !self->impatient && self->room.waited != prof__room_mark(s) &&
           PROF__LOAD(&s->chunk_count);
}

static int prof__room_wait(prof__thread *self, prof__session *s)
{
    if (!prof__room_waits(self, s)) return 0;
    PROF__ERRNO_SAVE();
    uint64_t now = prof__monotonic(), deadline = now + s->wait_ns;
    int found = 0;
    __atomic_fetch_add(&s->ring.waiting, 1, __ATOMIC_SEQ_CST);
    prof__word_wake(&s->service.word); /* the service may sleep for longer */
    while (!(found = PROF__LOAD(&s->ring.free_chunks) > 0) && now < deadline && !PROF__ACQUIRE(&s->service.stop)) {
        uint32_t released = __atomic_load_n(&s->ring.released, __ATOMIC_SEQ_CST);
        uint64_t left = deadline - now;
        if (left > PROF__ROOM_NAP) left = PROF__ROOM_NAP;
        if (PROF__LOAD(&s->ring.free_chunks) <= 0) prof__word_wait(&s->ring.released, released, left);
        now = prof__monotonic();
    }
    __atomic_fetch_sub(&s->ring.waiting, 1, __ATOMIC_SEQ_CST);
    if (!found) self->room.waited = prof__room_mark(s);
    PROF__ERRNO_RESTORE();
    return found;
}
#endif

/*-- META --------------------------------------------------------------------------------------------------- >>meta --
   Strings and call sites are stored once each, found by their content. So a plugin that is loaded a thousand times
   takes the space of one. The caller of each function here holds the state's lock. */

#ifdef PROF__META_GROWS
/* Doubles the index, a hash table whose slots hold the place of a record. It grows downwards from the chunks, so that
   its first part and the first chunk are contiguous in the file. The memory of the new part is zero and writable. */
static void prof__index_double(prof__session *s)
{
    uint32_t slots = (s->index_mask + 1) * 2;
    s->index -= slots / 2;
    s->index_mask = slots - 1;
    prof__clear(s->index + slots / 2, slots / 2 * sizeof *s->index);
    for (uint64_t at = 0, used = s->header->meta_used / 8, words; at < used; at += words) {
        words = s->meta[at] >> 32 & 0xffffff;
        uint32_t slot = prof__hash(s->meta + at + 1, (size_t)(words - 1) * 8) + (uint32_t)(s->meta[at] >> 56);
        for (slot &= s->index_mask; s->index[slot];) slot = (slot + 1) & s->index_mask;
        s->index[slot] = (uint32_t)at + 1;
    }
}

/* Makes more of meta writable, and of its index, which always has at least as many slots as meta has words. Returns 0
   if the disk has no room. */
static int prof__meta_grow(prof__session *s, uint64_t words)
{
    uint64_t meta = (uint64_t)((char *)s->meta - (char *)s->file.mapping);
    uint64_t index = (uint64_t)((char *)s->index - (char *)s->file.mapping);
    PROF__ERRNO_SAVE();
    int error = 0;
    while (!error && words >= s->meta_ready && s->meta_ready < s->meta_words) {
        uint64_t ready = s->meta_ready * 2 < s->meta_words ? s->meta_ready * 2 : s->meta_words;
        uint64_t more = (uint64_t)s->index_mask + 1 < ready ? ((uint64_t)s->index_mask + 1) * 4 : 0;
        error = prof__part_ready(s, meta + s->meta_ready * 8, meta + ready * 8, meta + ready * 8);
        if (!error && more) error = prof__part_ready(s, index - more, index, index);
        if (error) break;
        if (more) prof__index_double(s);
        index -= more;
        s->meta_ready = (prof__extent)ready;
    }
    if (error && !s->names_error) prof__background_failed(s, s->names_error = prof__room_text(error));
    PROF__ERRNO_RESTORE();
    return !error;
}
#endif

/* Returns 1 if meta has room for this many words, counted from its beginning, and a zero word after them. Otherwise
   counts the loss and returns 0. */
static int prof__meta_room(prof__session *s, uint64_t words)
{
#ifdef PROF__META_GROWS
    if (words < s->meta_ready || (words <= s->meta_words && prof__meta_grow(s, words))) return 1;
#else
    if (words <= s->meta_words) return 1;
#endif
    s->header->sites_lost++;
    return 0;
}

/* Finds the record of this kind and content; appends one if there is none. The content is the words after the head,
   padded with zeros. A new record has the next id, ++*count. count: NULL: append none. Returns the head of the record,
   or NULL if there is none and none could be appended. */
static uint64_t *prof__meta_record(prof__session *s, uint32_t kind, const void *bytes, size_t size, uint32_t *count)
{
    uint64_t words = 1 + (size + 7) / 8, used = s->header->meta_used / 8;
    uint32_t hash = prof__hash(bytes, size) + kind, slot = hash & s->index_mask;
    for (; s->index[slot]; slot = (slot + 1) & s->index_mask) {
        uint64_t *record = s->meta + (s->index[slot] - 1);
        if (record[0] >> 32 != ((uint64_t)kind << 24 | words)) continue;
        const char *stored = (const char *)(record + 1);
        size_t i = 0;
        while (i < size && stored[i] == ((const char *)bytes)[i]) ++i;
        if (i == size) return record;
    }
    if (!count) return NULL;
    if (words >= 1u << 24 || *count >= PROF__SITE_MASK) words = s->meta_words + 1;
    if (!prof__meta_room(s, used + words)) return NULL;
    uint64_t *record = s->meta + used;
    prof__copy(record + 1, bytes, size);
    uint32_t id = ++*count;
#ifdef PROF__META_GROWS
    for (slot = hash & s->index_mask; s->index[slot];) slot = (slot + 1) & s->index_mask; /* the index may have grown */
#endif
    s->index[slot] = (uint32_t)used + 1;
    s->header->meta_used = (used + words) * 8;
    PROF__RELEASE(&record[0], (uint64_t)kind << 56 | words << 32 | id);
    return record;
}

/* Finds or appends a record and returns its id, or 0 if there is no room. */
static uint32_t prof__meta_intern(prof__session *s, uint32_t kind, const void *bytes, size_t size, uint32_t *count)
{
    const uint64_t *record = prof__meta_record(s, kind, bytes, size, count);
    return record ? (uint32_t)*record : 0;
}

/* Returns the id of a string, 0 for "" or if there is no room. The stored text includes its terminator. */
static uint32_t prof__meta_string(prof__session *s, const char *text)
{
    size_t length = text ? prof__length(text) : 0;
    return length ? prof__meta_intern(s, PROF__META_STRING, text, length + 1, &s->string_count) : 0;
}

#ifdef PROF__RENAMES
/* Stores the name that the system gives the thread of this track now, in the track's THREAD record. id: the string id
   of the name. needed: 1: make the record if there is none. A reader may be reading the record, so only the lower half
   of its head changes. */
static void prof__meta_thread(prof__session *s, uint64_t track, uint32_t id, int needed)
{
    uint32_t before = id - 1;
    uint64_t *record = prof__meta_record(s, PROF__META_THREAD, &track, sizeof track, needed ? &before : NULL);
    if (record && (uint32_t)*record != id) PROF__STORE((prof__half *)record + PROF__LOW_HALF, id);
}
#endif

/* Stores the rate of the clock, if it was measured. */
static void prof__meta_rate(prof__session *s)
{
    uint32_t count = 0;
    if (s->start_hz) prof__meta_record(s, PROF__META_RATE, &s->start_hz, sizeof s->start_hz, &count);
}

/* Returns the unit of a counter, or "". The unit is behind the terminator of the file's name. */
static const char *prof__site_unit(const prof_site *site)
{
    return site->kind & PROF__KIND_UNIT ? site->file + prof__length(site->file) + 1 : "";
}

static uint32_t prof__meta_site(prof__session *s, prof_site *site)
{
    uint64_t words[PROF__META_SITE_WORDS];
    size_t size = sizeof words - sizeof *words;
    PROF__STORE(&site->private_name, prof__meta_string(s, site->name));
    words[0] = (uint64_t)prof__meta_string(s, site->file) << 32 | site->private_name;
    words[1] = prof__meta_string(s, site->function);
    words[1] |= (uint64_t)prof__meta_string(s, site->category) << 32;
    words[2] = (uint64_t)site->color << 32 | site->line;
    words[3] = (uint64_t)(site->kind & ~PROF__KIND_UNIT) << 32 | site->level;
    if (site->kind & PROF__KIND_UNIT) {
        words[4] = prof__meta_string(s, prof__site_unit(site));
        size = sizeof words;
    }
    return prof__meta_intern(s, PROF__META_SITE, words, size, &s->site_count);
}

/* Appends a pair of metadata. A pair without a key tells readers to forget all pairs before it. Returns 0 if there is
   no room. */
static int prof__meta_pair(prof__session *s, const char *key, const char *value)
{
    size_t k = prof__length(key) + 1, v = prof__length(value) + 1;
    uint64_t words = 1 + (k + v + 7) / 8, used = s->header->meta_used / 8;
    if (!prof__meta_room(s, words < 1u << 24 ? used + words : s->meta_words + 1)) return 0;
    uint64_t *record = s->meta + used;
    prof__copy(record + 1, key, k);
    prof__copy((char *)(record + 1) + k, value, v);
    s->header->meta_used = (used + words) * 8;
    PROF__RELEASE(&record[0], (uint64_t)PROF__META_SESSION << 56 | words << 32);
    return 1;
}

#ifdef PROF_TINY /* metadata of earlier sessions is not kept */
static void prof__metadata_write(prof__session *s) { (void)s; }
#else
/* The pairs of prof_set_metadata(), kept for later sessions: key, zero, value, zero, and so on. */
static struct {
    size_t used;
    char pairs[PROF__LESS(4096, 256)];
} prof__metadata;

static size_t prof__metadata_size(const char *pair)
{
    size_t key = prof__length(pair) + 1;
    return key + prof__length(pair + key) + 1;
}

#ifndef PROF_FREESTANDING
static char prof__rank[64]; /* the rank that %r means in the last session; "": unknown */
#ifndef PROF_MINIMAL
static struct {
    char id[64], step[24], task[24], local_rank[24]; /* of the job on a cluster; "": unknown */
} prof__job;
#endif
static char prof__host[64]; /* the machine's name if there is a rank, else "" */
#endif

/* Writes all metadata into a new image. */
static void prof__metadata_write(prof__session *s)
{
#if !defined(PROF_FREESTANDING) && !defined(PROF_MINIMAL) /* only the other builds look for them */
    if (prof__rank[0]) prof__meta_pair(s, "rank", prof__rank);
    if (prof__host[0]) prof__meta_pair(s, "host", prof__host);
    if (prof__job.local_rank[0]) prof__meta_pair(s, "local rank", prof__job.local_rank);
    if (prof__job.id[0]) prof__meta_pair(s, "job", prof__job.id);
    if (prof__job.step[0]) prof__meta_pair(s, "job step", prof__job.step);
    if (prof__job.task[0]) prof__meta_pair(s, "array task", prof__job.task);
#endif
    for (const char *each = prof__metadata.pairs; each < prof__metadata.pairs + prof__metadata.used;
         each += prof__metadata_size(each))
        prof__meta_pair(s, each, each + prof__length(each) + 1);
}

/* Sets the value of a metadata key. Returns 0, and keeps the old value, if there is no room. */
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
#endif

#ifndef PROF__CATEGORIES
static int prof__category_on(const char *category)
{
    (void)category;
    return 1;
}
static const char *prof__category_of(const prof_site *site) { return site->category; }
#else
/* Returns 1 if a text matches a pattern, where * stands for any characters and ? for one. */
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

/* Returns the index of the last rule that matches a category, or -1. */
static int prof__rule_of(const char *category)
{
    int i = prof__state.rule_count;
    while (i-- > 0)
        if ((prof__state.rules[i].exact ? prof__equal : prof__match)(prof__state.rules[i].pattern, category)) break;
    return i;
}

static int prof__category_on(const char *category)
{
    int rule = prof__rule_of(category ? category : "");
    return rule < 0 ? prof__state.category_default : prof__state.rules[rule].on;
}

/* Returns the category that turns a site on and off. For an allocation that is "memory", unless a rule names its own
   category. */
static const char *prof__category_of(const prof_site *site)
{
    int memory = site->kind >> PROF__ROLE_SHIFT == PROF_ROLE_MEMORY;
    return memory && prof__rule_of(site->category ? site->category : "") < 0 ? "memory" : site->category;
}
#endif

#ifndef PROF_FREESTANDING
/* The categories of all call sites, each terminated, for prof_domain_list(). They are copies, because the sites'
   modules may be unloaded. The list grows under the lock, and is read without it. */
static struct {
    uint32_t used;
    char names[4092];
} prof__categories;

static void prof__category_note(const char *category)
{
    char *each = prof__categories.names, *end = each + prof__categories.used;
    size_t size = category && !PROF__MINIMAL ? prof__length(category) + 1 : 1;
    if (size == 1 || size > sizeof prof__categories.names - prof__categories.used) return;
    while (each < end && !prof__equal(each, category)) each += prof__length(each) + 1;
    if (each < end) return;
    prof__copy(end, category, size);
    PROF__RELEASE(&prof__categories.used, prof__categories.used + (uint32_t)size);
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
    if (PROF__LOAD(half + PROF__LOW_HALF) != low) low = PROF__SHUT; /* it is changing: take the slow path */
    return (uint64_t)high << 32 | low;
#endif
}

/* Sets the state of a site. Under the lock. Does not write a state that is the same already: each new thread settles
   the sites that it uses, and other threads would find them changing and take the slow path. */
static void prof__site_store(prof_site *site, uint64_t state)
{
    if (prof__site_load(site) == state) return;
#if PROF__WIDE
    PROF__RELEASE(&site->private_state, state);
#else
    prof__half *half = (prof__half *)&site->private_state;
    PROF__RELEASE(half + PROF__LOW_HALF, PROF__SHUT);
    PROF__RELEASE(half + !PROF__LOW_HALF, (uint32_t)(state >> 32));
    PROF__RELEASE(half + PROF__LOW_HALF, (uint32_t)state);
#endif
}

static uint64_t prof__site_kind(const prof_site *site) { return site->kind & ((1u << PROF__ROLE_SHIFT) - 1); }

/* -- sites that are off but still call the recorder: see >>off_scope. Bits 32 to 39 of a site's state count the passes
   that are left until the site is simply off -- */

#define PROF__PASSES_SHIFT 32
#define PROF__PASSES_ALL 255u  /* the site calls the recorder until the config version changes */
#define PROF__PASSES_MORE 250u /* how many passes without an argument are waited for */

static struct { /* cleared under the state's lock; bits are set without it */
    uint32_t session_id;     /* the session id to which the bits below belong */
    uint32_t with_args[128]; /* by the site's number: scopes in which an argument was dropped */
    uint32_t given_up[16];   /* by hash of its name: functions with a scope that no longer calls */
    uint32_t known[16];      /* by hash of its name: functions for which prof__site_late() has returned 1 */
} prof__off_scopes;

static int prof__bit(const uint32_t *bits, uint32_t at) { return (int)(PROF__LOAD(&bits[at / 32]) >> at % 32 & 1); }
static void prof__bit_set(uint32_t *bits, uint32_t at)
{
    uint32_t word = PROF__LOAD(&bits[at / 32]), bit = 1u << at % 32;
    while (!(word & bit) && !__atomic_compare_exchange_n(&bits[at / 32], &word, word | bit, 1, __ATOMIC_RELAXED,
                                                         __ATOMIC_RELAXED)) {
    }
}

/* Return the index of a site, and of its function, in these bit sets. Two that share an index only cost time. */
static uint32_t prof__off_scope_slot(uint64_t head) { return (uint32_t)(head >> PROF__TICK_BITS) % (128 * 32); }
static uint32_t prof__off_scope_function(const prof_site *site)
{
    const char *function = site->function ? site->function : "";
    return prof__hash(function, prof__length(function)) % (16 * 32);
}

/* Returns 1 if a site is off but calls the recorder at each pass. */
static int prof__site_off_scope(const prof_site *site)
{
    return !PROF__MINIMAL &&
           (uint32_t)prof__site_load(site) == (PROF__LOAD(prof__config_version) | PROF__OFF_SCOPE_ASKED);
}

/* Returns the state of a site that is off. A scope that the compiler's hooks recorded has no source line. Such a site
   does not call the recorder: an argument in its function belongs to the enclosing scope. */
static uint64_t prof__site_off(const prof_site *site, uint64_t head, uint32_t config_version)
{
    if (PROF__MINIMAL || prof__site_kind(site) != PROF__KIND_BEGIN || !site->line)
        return head | (config_version ^ PROF__OFF);
    uint64_t passes =
        prof__bit(prof__off_scopes.with_args, prof__off_scope_slot(head)) ? PROF__PASSES_ALL : PROF__PASSES_MORE;
    return head | passes << PROF__PASSES_SHIFT | config_version | PROF__OFF_SCOPE_ASKED;
}

/* Counts a pass of a site that is off and calls the recorder. If another thread changes the site at the same time, the
   pass is not counted. */
static void prof__site_pass(prof_site *site)
{
    uint64_t state = prof__site_load(site);
    prof__half *half = (prof__half *)&site->private_state;
    uint32_t low = (uint32_t)state, high = (uint32_t)(state >> 32), left = high & 255;
    if (left == PROF__PASSES_ALL || !(low & PROF__OFF_SCOPE_ASKED) || low & PROF__OFF) return;
    if (prof__bit(prof__off_scopes.with_args, prof__off_scope_slot(state))) {
        __atomic_compare_exchange_n(half + !PROF__LOW_HALF, &high, high | PROF__PASSES_ALL, 0, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
    } else if (left) {
        __atomic_compare_exchange_n(half + !PROF__LOW_HALF, &high, high - 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    } else {
        prof__bit_set(prof__off_scopes.given_up, prof__off_scope_function(site));
        __atomic_compare_exchange_n(half + PROF__LOW_HALF, &low, (low ^ PROF__OFF_SCOPE_ASKED) ^ PROF__OFF, 0,
                                    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    }
}

/* Clears what earlier sessions have learned, because each session numbers the sites anew. Under the state's lock. */
static void prof__off_scopes_clear(uint32_t session_id)
{
    if (PROF__MINIMAL || prof__off_scopes.session_id == session_id) return;
    prof__off_scopes.session_id = session_id;
    for (uint32_t i = 0; i < 128; ++i) PROF__STORE(&prof__off_scopes.with_args[i], 0u);
    for (uint32_t i = 0; i < 16; ++i) {
        PROF__STORE(&prof__off_scopes.given_up[i], 0u);
        PROF__STORE(&prof__off_scopes.known[i], 0u);
    }
}

/* Returns 1 if this site of an argument is used for the first time, and a scope of the same function no longer calls
   the recorder because it seemed to have no arguments. Then all sites must call once more. Returns 1 only once for each
   function. Under the state's lock. */
static int prof__site_late(const prof_site *site)
{
    if (PROF__MINIMAL) return 0;
    uint32_t function = prof__off_scope_function(site);
    if (!prof__bit(prof__off_scopes.given_up, function) || prof__bit(prof__off_scopes.known, function)) return 0;
    prof__bit_set(prof__off_scopes.known, function);
    return 1;
}

/*-- THE CALLING THREAD ---------------------------------------------------------------------------------------------*/

#ifdef PROF_FREESTANDING
static PROF__INLINED prof__thread *prof__self_get(void) { return (prof__thread *)PROF_CPU_STATE(); }
#define PROF__SELF() prof__self_get()
typedef char prof__cpu_state_fits[sizeof(prof__thread) <= PROF_CPU_STATE_SIZE ? 1 : -1];
static void prof__on_exit_of_thread(prof__thread *self) { (void)self; }
#define PROF__EXIT_WATCHED_UNLOCKED 0
static void prof__signal_stack_take(prof__thread *self) { (void)self; }
#else

/* The loader has little room for fast (initial-exec) thread-local storage of libraries that are loaded later: 1.6 KiB
   for all of them with glibc, none with musl. So a library keeps only a pointer there, to a record that is mapped when
   the thread first needs it. A program keeps the whole record there. */
#ifdef PROF__SHARED
#ifdef __GLIBC__
static PROF__PER_THREAD prof__thread *prof__self_here __attribute__((__tls_model__("initial-exec")));
#else
static PROF__PER_THREAD prof__thread *prof__self_here;
#endif
static prof__thread *prof__self_make(void);
#define PROF__SELF() (PROF__LIKELY(prof__self_here != NULL) ? prof__self_here : prof__self_make())
#elif defined(__MINGW32__) && !defined(__clang__)
/* With gcc on Windows, winpthreads frees the memory of __thread variables when a thread of its own ends, before Windows
   calls prof__thread_leaves(). So the record is in section .tls$, as __thread variables are with other compilers.
   Windows gives each thread a copy of the section, and frees it last. The address of the record is that of the thread's
   copy plus the offset in the section. The C runtime has the beginning of the section (_tls_start) and the module's
   index (_tls_index). */
extern unsigned long _tls_index;
extern char *_tls_start;
#define PROF__EACH_THREAD __attribute__((__section__(".tls$")))
static PROF__EACH_THREAD union { uint32_t write_lock; prof__thread record; } prof__self = {PROF__SHUT};
static PROF__INLINED prof__thread *prof__self_get(void)
{
    const uintptr_t *copies; /* this thread's copies of the modules' sections */
#if defined(__x86_64__)
    __asm__ volatile("movq %%gs:0x58, %0" : "=r"(copies));
#elif defined(__i386__)
    __asm__ volatile("movl %%fs:0x2C, %0" : "=r"(copies));
#else
    copies = ((uintptr_t **)NtCurrentTeb())[11];
#endif
    return (prof__thread *)(copies[_tls_index] + ((uintptr_t)&prof__self - (uintptr_t)&_tls_start));
}
#define PROF__SELF() prof__self_get()
#else
/* A new record has the write lock PROF__SHUT, not 0. Its synced version is 0, and so is the config version before the
   first constructor and in some children of forks: a write lock of 0 would open the fast path. The union avoids
   compilers' warnings about members without an initializer. */
static PROF__PER_THREAD union { uint32_t write_lock; prof__thread record; } prof__self = {PROF__SHUT};
#define PROF__SELF() (&prof__self.record)
#endif

static prof__tss prof__exit_key;
static int prof__exit_key_made;
#ifdef _WIN32
/* At exit, or when the DLL is unloaded: threads that end later must not call code that is gone. FlsFree() makes the
   calls now, for each thread that has a record. */
PROF__AT_END(PROF__LAST, prof__exit_key_drop);
static void prof__exit_key_drop(void)
{
    if (!prof__exit_key_made) return;
    prof__exit_key_made = 0;
    FlsFree(prof__exit_key);
}
#endif
static void prof__on_exit_of_thread(prof__thread *self) { prof__tss_set(prof__exit_key, self); }
#ifdef _WIN32
/* FlsSetValue() may take a lock that Windows holds while FLS callbacks run, and these wait for the recorder's lock. */
#define PROF__EXIT_WATCHED_UNLOCKED 1
#else
#define PROF__EXIT_WATCHED_UNLOCKED 0
#endif

#if defined(PROF_NO_CRASH)
static void prof__signal_stack_take(prof__thread *self) { (void)self; }
static void prof__signal_stack_give(prof__thread *self) { (void)self; }
#elif defined(_WIN32)
/* Reserves a part of the thread's stack, so that the report of a stack overflow can run. */
static void prof__signal_stack_take(prof__thread *self)
{
    ULONG size = 0, wanted = 64u << 10;
    (void)self;
    if (SetThreadStackGuarantee(&size) && size < wanted) SetThreadStackGuarantee(&wanted);
}
static void prof__signal_stack_give(prof__thread *self) { (void)self; }
#else
/* Gives a thread a stack for signal handlers until it ends, so that a stack overflow can be reported. A thread that has
   such a stack already keeps it. */
static size_t prof__signal_stack_size(void)
{
    size_t size = 64u << 10;
#ifdef _SC_SIGSTKSZ
    long wanted = sysconf(_SC_SIGSTKSZ); /* depends on how many registers the kernel saves there */
    if (wanted > 0 && (size_t)wanted > size) size = (size_t)wanted;
#endif
    return size;
}
static void prof__signal_stack_take(prof__thread *self)
{
    stack_t stack;
    if (sigaltstack(NULL, &stack) || !(stack.ss_flags & SS_DISABLE)) return;
    stack.ss_size = prof__signal_stack_size();
    if (!self->signal_stack) { /* else the return of a handler, in which it was set, has unset it */
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
    /* if the program has set another stack, it may restore this one later: so its memory stays */
    if (ours || none) munmap(self->signal_stack, prof__signal_stack_size());
    self->signal_stack = NULL;
}
#endif

#ifdef PROF__SHARED
/* The records of a library's threads. A record is never freed while the library is loaded; another thread reuses it. No
   lock is taken, because a thread's first scope may be in a signal handler. */
#define PROF__SELF_STRIDE ((sizeof(prof__thread) + 63) & ~(size_t)63)
#define PROF__SELF_MAP ((size_t)16384)
static prof__thread *prof__selves; /* the list of all records */
static uint32_t prof__selves_free; /* how many are free, at least */

/* Returns the record of all threads that cannot have their own, or have none any more. Its write lock is always
   PROF__BUSY, so that what they record is lost. */
static prof__thread *prof__nobody(void)
{
    static prof__thread nobody;
    PROF__STORE(&nobody.write_lock, PROF__BUSY);
    PROF__STORE(&nobody.exits, PROF__EXITS);
    return &nobody;
}

static prof__thread *prof__self_take(void)
{
    for (prof__thread *each = PROF__ACQUIRE(&prof__selves); each && PROF__LOAD(&prof__selves_free);
         each = each->record.next) {
        if (PROF__LOAD(&each->record.taken) || __atomic_exchange_n(&each->record.taken, 1u, __ATOMIC_ACQUIRE)) continue;
        __atomic_fetch_sub(&prof__selves_free, 1u, __ATOMIC_RELAXED);
        prof__clear(each, offsetof(prof__thread, record.next));
        each->write_lock = PROF__SHUT; /* not 0, which the config version may be */
        return each;
    }
    char *map = (char *)mmap(NULL, PROF__SELF_MAP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == (char *)MAP_FAILED) return NULL;
    prof__thread *first = (prof__thread *)(void *)map, *last = first;
    uint32_t more = 0;
    first->record.taken = first->record.first = 1;
    first->write_lock = PROF__SHUT;
    for (size_t at = PROF__SELF_STRIDE; at + sizeof *first <= PROF__SELF_MAP; at += PROF__SELF_STRIDE, ++more)
        last = last->record.next = (prof__thread *)(void *)(map + at);
    last->record.next = PROF__LOAD(&prof__selves);
    while (
        !__atomic_compare_exchange_n(&prof__selves, &last->record.next, first, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
    __atomic_fetch_add(&prof__selves_free, more, __ATOMIC_RELAXED);
    return first;
}

static void prof__self_free(prof__thread *self)
{
    PROF__RELEASE(&self->record.taken, 0u);
    __atomic_fetch_add(&prof__selves_free, 1u, __ATOMIC_RELAXED);
}

/* Gives the thread a record at its first scope. A signal handler may do so in between. */
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

/* Called at the end of the thread's destructor. The third call releases the record. */
static void prof__self_leaves(prof__thread *self)
{
    if (self->exits < PROF__EXITS) {
        prof__on_exit_of_thread(self);
        return;
    }
    prof__self_here = prof__nobody();
    prof__self_free(self);
}

/* Unmaps all records. Called when the library is unloaded, when no thread can use a record any more. */
static void prof__selves_unmap(void)
{
    prof__thread *each = prof__selves;
    prof__selves = prof__self_here = NULL;
    prof__selves_free = 0;
    while (each) {
        void *map = each;
        for (each = each->record.next; each && !each->record.first;) each = each->record.next;
        munmap(map, PROF__SELF_MAP);
    }
}
#else
static void prof__self_leaves(prof__thread *self) { (void)self; }
#endif
#endif

/* PROF__FORWARD for the fast path: the forwarding costs nothing there, because a thread never has a record in an
   instance that forwards. */
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

/*-- OTHER TOOLS ------------------------------------------------------------------------------------------ >>bridge --
   The recorder calls these hooks after it has recorded an event and released the thread's write lock. So other tools
   may call prof again. Without a PROF_WITH_... switch the hooks expand to nothing. */

#ifdef PROF__BRIDGED
#ifdef __cplusplus
} /* extern "C" */
#endif
#define PROF__BRIDGE_HERE
#include "prof_bridge.h"
#ifdef __cplusplus
extern "C" {
#endif
#else
#define PROF__BRIDGE_BEGIN(site, text, token) ((void)0) /* token 0: neither recorded nor sent to other tools */
#define PROF__BRIDGE_BEGIN_NUMBER(site, key, token, type, number) ((void)0) /* a begin with its first argument */
#define PROF__BRIDGE_UNSCOPED(track, token) ((void)0) /* the new scope is unscoped: PROFILE_END ends it */
#define PROF__BRIDGE_END(self, token) ((void)0)
#define PROF__BRIDGE_ARG(site, type, number) ((void)0)
#define PROF__BRIDGE_ARG_TEXT(site, text) ((void)0)
#define PROF__BRIDGE_MARK(site, text) ((void)0)
#define PROF__BRIDGE_COUNTER(site, type, number) ((void)0)
#define PROF__BRIDGE_COUNTER_GONE(site) ((void)0) /* the counter is destroyed */
#define PROF__BRIDGE_FRAME(site) ((void)0)
#define PROF__BRIDGE_EVENT(site, type, detail, object) ((void)0)
#define PROF__BRIDGE_LOG_KEEP(list) ((void)0) /* keeps the values, before the recorder fetches them */
#define PROF__BRIDGE_LOG(site, severity, format) ((void)0) /* sends the message with the kept values */
#define PROF__BRIDGE_THREAD(name) ((void)0)
#define PROF__BRIDGE_SWITCH(self) ((void)0)        /* another fiber runs on this thread now */
#define PROF__BRIDGE_FORGET(self, track) ((void)0) /* a thread or fiber ends */
#define PROF__BRIDGE_PAUSE() ((void)0)             /* pause or resume */
#define PROF__BRIDGE_START() ((void)0)             /* before prof_start() starts */
#define PROF__BRIDGE_STARTED() ((void)0)           /* after prof_start() has started */
#define PROF__BRIDGE_STOP() ((void)0)
#define PROF__BRIDGE_CHILD() ((void)0)             /* in the child of a fork */
#define PROF__BRIDGE_UNLOAD() ((void)0)
#endif

/*-- places of open PROFILE_BEGINs --
   The first 32 slots are in the track's own record. More are in blocks, each twice as large as the one before, which
   are mapped when needed. A track keeps its blocks until its thread ends or its fiber is destroyed; then another track
   may have them. Slots never move, because a signal handler may be using them. */
#define PROF__UNSCOPED_OWN (sizeof((prof_fiber *)0)->unscoped / sizeof *((prof_fiber *)0)->unscoped)

typedef struct prof__unscoped_slot {
    uint32_t *name;
    prof__token *token;
} prof__unscoped_slot;

/* In these builds a track has no more than its own 32 slots. */
#if defined(PROF_FREESTANDING) || defined(PROF_MINIMAL) || defined(__wasi__)
#define PROF__UNSCOPED_MAX PROF__UNSCOPED_OWN
static prof__unscoped_slot prof__unscoped_beyond(const prof_fiber *track, uint32_t at)
{
    prof__unscoped_slot none = {NULL, NULL};
    (void)track, (void)at;
    return none;
}
static int prof__unscoped_grow(prof_fiber *track) { return (void)track, 0; }
static void prof__unscoped_clear(prof_fiber *track) { (void)track; }
static void prof__unscoped_release(prof_fiber *track) { (void)track; }
static void prof__unscoped_unmap(void) {}
#else
/* The most slots of a track. A program with more open begins has forgotten PROFILE_END. */
#define PROF__UNSCOPED_BLOCKS 11u
#define PROF__UNSCOPED_MAX                                                                                             \
    (PROF__UNSCOPED_OWN + ((1u << PROF__UNSCOPED_BLOCKS) - 1) * 4096 / sizeof(prof__unscoped_entry))

typedef struct prof__unscoped_entry {
    prof__token token;
    uint32_t name, spare;
} prof__unscoped_entry;
struct prof__unscoped_block {
    struct prof__unscoped_block *above; /* the next block of the track */
    struct prof__unscoped_block *next; /* the next block of all */
    uint32_t count, taken;           /* count: entries of the block; taken: 1: a track has it */
    prof__unscoped_entry *entries;
};
static struct prof__unscoped_block *prof__unscoped_blocks; /* the list of all blocks */

#ifdef _WIN32
static void *prof__unscoped_map(size_t size)
{
    return VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}
#else
static void *prof__unscoped_map(size_t size)
{
    void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}
#endif

static struct prof__unscoped_block *prof__unscoped_block_take(uint32_t count)
{
    struct prof__unscoped_block *block = PROF__ACQUIRE(&prof__unscoped_blocks);
    size_t size = sizeof *block + count * sizeof *block->entries;
    while (block && (block->count != count || __atomic_exchange_n(&block->taken, 1u, __ATOMIC_ACQUIRE)))
        block = block->next;
    if (block) return block;
    block = (struct prof__unscoped_block *)prof__unscoped_map(size);
    if (!block) return NULL;
    block->count = count;
    block->taken = 1;
    block->entries = (prof__unscoped_entry *)(void *)(block + 1);
    block->next = PROF__LOAD(&prof__unscoped_blocks);
    while (!__atomic_compare_exchange_n(&prof__unscoped_blocks, &block->next, block, 0, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED)) {
    }
    return block;
}

/* Returns a slot beyond the track's own, or null pointers if its block does not exist yet. */
static PROF__COLD prof__unscoped_slot prof__unscoped_beyond(const prof_fiber *track, uint32_t at)
{
    prof__unscoped_slot place = {NULL, NULL};
    struct prof__unscoped_block *block = PROF__ACQUIRE(&track->unscoped_more);
    for (at -= (uint32_t)PROF__UNSCOPED_OWN; block && at >= block->count; block = PROF__ACQUIRE(&block->above))
        at -= block->count;
    if (!block) return place;
    place.name = &block->entries[at].name;
    place.token = &block->entries[at].token;
    return place;
}

/* Adds a block of slots to a track. Returns 0 if the track has the most blocks, or there is no memory. If a signal
   handler has added a block meanwhile, this one is given back. */
static PROF__COLD int prof__unscoped_grow(prof_fiber *track)
{
    struct prof__unscoped_block **link = &track->unscoped_more, *none = NULL, *block;
    uint32_t blocks = 0;
    for (; (block = PROF__ACQUIRE(link)) != NULL; link = &block->above) ++blocks;
    if (blocks == PROF__UNSCOPED_BLOCKS) return 0;
    PROF__ERRNO_SAVE();
    block = prof__unscoped_block_take((4096u << blocks) / (uint32_t)sizeof *block->entries);
    PROF__ERRNO_RESTORE();
    if (!block) return 0;
    PROF__STORE(&block->above, none);
    for (uint32_t i = 0; i < block->count; ++i) block->entries[i].name = PROF__UNSCOPED_FREE;
    if (!__atomic_compare_exchange_n(link, &none, block, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        PROF__RELEASE(&block->taken, 0u);
    return 1;
}

static void prof__unscoped_clear(prof_fiber *track)
{
    for (struct prof__unscoped_block *block = track->unscoped_more; block; block = block->above)
        for (uint32_t i = 0; i < block->count; ++i) block->entries[i].name = PROF__UNSCOPED_FREE;
}

/* Gives the blocks of a track back, at the end of its thread or fiber. Only the track's own slots remain. */
static void prof__unscoped_release(prof_fiber *track)
{
    struct prof__unscoped_block *block = track->unscoped_more, *above;
    track->unscoped_more = NULL;
    if (track->unscoped_count > PROF__UNSCOPED_OWN) track->unscoped_count = (uint32_t)PROF__UNSCOPED_OWN;
    for (; block; block = above) {
        above = block->above;
        PROF__RELEASE(&block->taken, 0u);
    }
}

/* Unmaps all blocks. Called when the library is unloaded, when no macro uses a slot any more. */
static void prof__unscoped_unmap(void)
{
    struct prof__unscoped_block *block = prof__unscoped_blocks, *next;
    prof__unscoped_blocks = NULL;
    for (; block; block = next) {
        next = block->next;
#ifdef _WIN32
        VirtualFree(block, 0, MEM_RELEASE);
#else
        munmap((void *)block, sizeof *block + block->count * sizeof *block->entries);
#endif
    }
}
#endif

static inline prof__unscoped_slot prof__unscoped_at(prof_fiber *track, uint32_t at)
{
    if (PROF__UNLIKELY(at >= PROF__UNSCOPED_OWN)) return prof__unscoped_beyond(track, at);
    prof__unscoped_slot place = {&track->unscoped_name[at], &track->unscoped[at]};
    return place;
}

/* Returns the name in a slot, or PROF__UNSCOPED_FREE if there is no such slot. */
static inline uint32_t prof__unscoped_name(prof_fiber *track, uint32_t at)
{
    prof__unscoped_slot place = prof__unscoped_at(track, at);
    return place.name ? PROF__LOAD(place.name) : PROF__UNSCOPED_FREE;
}

/* Writes a TRACK record of the present track. The serial is incremented last: if a signal handler interrupts and leaves
   by siglongjmp(), a serial occurs twice, but none is missing. */
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
#ifdef PROF__FRAME_NAMES
    self->frame.site = NULL;
#endif
    self->cursor = at + 3;
    self->free_words -= 3;
}

/* Returns how many words, reserved for ends of enclosing scopes, the off-scope marker hides behind `end`: see
   >>off_scope. */
static uint32_t prof__off_scope_hidden(const prof__thread *self)
{
    return self->off_scope.marker >> PROF__OFF_SCOPE_HIDDEN_SHIFT;
}

/* Returns how many words are reserved for the ends of open scopes of the present track. */
static uint64_t prof__reserved_ends(const prof__thread *self)
{
    const prof_fiber *track = self->fiber ? self->fiber : &self->own;
    if (self->entered) return (uint64_t)(self->end - self->cursor) - self->free_words + prof__off_scope_hidden(self);
    return track->session_id == PROF__LOAD(&prof__state.session_id) ? track->reserved_ends : 0;
}

/* Gives up a chunk that this thread has filled. In a ring, threads that found no chunk may take it. The newest events
   of the thread's own track are in its next chunk, but those of a fiber may be in this one. */
static void prof__chunk_finish(const prof__thread *self, prof__chunk *chunk)
{
    const prof__session *s = self->session;
#ifdef PROF_WITH_DRAIN /* prof_drain() may not have read it yet */
    int newest = 1;
#else
    int newest = self->fiber != NULL;
#endif
    prof__chunk_give(s, chunk, PROF__CHUNK_FULL, newest);
    if (s->header->mode == PROF_RING) prof__room_changed();
}

/* Returns 1 if the thread's chunk has an event of its own: more than the first TRACK record, and arguments of a scope
   that began in the previous chunk. */
static int prof__chunk_begun(const prof__thread *self)
{
    const uint64_t *at = prof__chunk_first(self->chunk) + 3;
    while (at < self->cursor && *at >> PROF__KIND_SHIFT == PROF__KIND_ARG) at += 1 + (*at & 0xFFFF);
    return at < self->cursor;
}

/* Keeps the chunk that the thread has just filled until its next one is half full. So at least half a chunk of its
   newest events stays: without this, other threads could overtake it by a lap of the ring while it changes chunks, or
   while it sleeps, and overwrite them. Another thread takes the kept chunk only if it has none and finds no other. Only
   a ring reuses chunks that nobody has read. */
static void prof__filled_keep(prof__thread *self)
{
    self->filled = self->chunk;
    PROF__RELEASE(&self->filled->state, (uint32_t)PROF__CHUNK_HELD);
}

/* Takes the kept full chunk back. Returns NULL if the thread keeps none, or another thread has taken it. */
static prof__chunk *prof__filled_take(prof__thread *self)
{
    prof__chunk *filled = self->filled;
    uint32_t state = PROF__CHUNK_HELD;
    self->filled = NULL;
    if (!filled || !__atomic_compare_exchange_n(&filled->state, &state, PROF__CHUNK_OWNED, 0, __ATOMIC_ACQUIRE,
                                                __ATOMIC_RELAXED))
        return NULL;
    return filled;
}

/* Gives up the kept full chunk, if there still is one. */
static void prof__filled_finish(prof__thread *self)
{
    prof__chunk *filled = prof__filled_take(self);
    if (filled) prof__chunk_finish(self, filled);
}

/* Returns up to which word the thread may use its chunk if it needs so many of its words: to the end of the part in
   which these end, but at most to the middle as long as it keeps its previous chunk. So after a power loss only the
   last part that the thread used has no sum, and that part's last word shows whose it is. */
static uint64_t prof__chunk_limit(const prof__thread *self, uint64_t needed)
{
    const prof__session *s = self->session;
    uint64_t all = prof__words_of(s, self->chunk), limit = self->filled && needed <= all / 2 ? all / 2 : all;
#if PROF__MARKED
    uint64_t step = prof__part_bytes(prof__chunk_bytes(s, self->chunk)) / 8;
    uint64_t last = ((needed + PROF__HEAD_WORDS) / step + 1) * step - PROF__HEAD_WORDS - 1; /* the mark */
    if (last < limit) limit = last;
#endif
    return limit;
}

/* Lets the thread use its chunk up to the word `limit`. used: how many words it has used. */
static void prof__chunk_open(prof__thread *self, uint64_t used, uint64_t limit)
{
    uint64_t all = prof__words_of(self->session, self->chunk);
    prof__chunk_pass(self->session, self->chunk, (size_t)used, (size_t)limit);
    self->soft = (uint32_t)(all - limit);
    self->end = prof__chunk_first(self->chunk) + limit - prof__off_scope_hidden(self);
    if (limit > all / 2) prof__filled_finish(self);
}

/* Forgets the last begin and end, so that no end removes them as too short. */
static void prof__begun_forget(prof__thread *self)
{
    if (!PROF__MINIMAL) self->short_scope.at = self->short_scope.end = NULL;
}

/* Lets the thread use more of its chunk: enough for `words` more words and the ends of its open scopes. Words that have
   a sum stay, even those of a scope that was too short. */
static PROF__COLD void prof__chunk_widen(prof__thread *self, uint64_t words)
{
    uint64_t used = (uint64_t)(self->cursor - prof__chunk_first(self->chunk)),
             reserved_ends = prof__reserved_ends(self);
    uint64_t limit = prof__chunk_limit(self, used + reserved_ends + words);
    prof__chunk_open(self, used, limit);
    self->free_words = limit - used - reserved_ends;
    prof__begun_forget(self);
    self->short_scope.known = self->cursor;
}

/* Stores the sums of the thread's chunk, before the thread leaves it. */
static void prof__chunk_close(const prof__thread *self)
{
    prof__chunk_seal(self->session, self->chunk, (size_t)(self->cursor - prof__chunk_first(self->chunk)));
}

/* Continues the thread's present track in this chunk, after the used words. reserved ends: how many words to reserve
   for ends. */
static void prof__chunk_enter(prof__thread *self, prof__chunk *chunk, uint64_t used, uint64_t reserved_ends)
{
    self->chunk = chunk;
    self->base = chunk->base.tick;
    self->cursor = prof__chunk_first(chunk) + used;
    /* no words are reserved for the marker now */
    if (prof__off_scope_hidden(self) > reserved_ends) self->off_scope.marker = self->off_scope.slot = 0;
    uint64_t limit = prof__chunk_limit(self, used + reserved_ends + 8);
    prof__chunk_open(self, used, limit);
    self->free_words = limit - used - reserved_ends;
    prof__begun_forget(self);
    self->entered = 1;
    prof__track_write(self);
}

/* Returns 1 if no chunk was released since this thread found none: it need not search, nor take the lock, for every
   lost event. Every 1024th time it returns 0 all the same, so that losses of a thread without a chunk get into the
   image. */
static int prof__room_missing(prof__thread *self)
{
    return self->room.missing == PROF__LOAD(&prof__room_changes) && ++self->room.failed_allocs % 1024;
}

/* Writes a LOST record of the events that this thread has lost on its present track, if there is a free word. */
static void prof__lost_write(prof__thread *self)
{
    uint64_t lost = self->cursor < self->end ? __atomic_exchange_n(&self->chunk->lost, 0, __ATOMIC_RELAXED) : 0;
    if (!lost) return;
    prof__store_word(self->cursor, (uint64_t)PROF__KIND_LOST << PROF__KIND_SHIFT | (lost & PROF__TICK_MASK));
    self->cursor++;
}

/* Leaves the present track. Nothing can be written until prof__track_enter(), for this track or another one. */
static void prof__track_leave(prof__thread *self)
{
    if (!self->entered) return;
    prof__track_of(self)->reserved_ends = prof__reserved_ends(self);
    if (PROF__UNLIKELY(PROF__LOAD(&self->chunk->lost))) prof__lost_write(self);
    self->entered = 0;
    self->end = self->cursor;
    self->free_words = self->soft = 0;
    prof__begun_forget(self);
}

/* Moves the thread to a new chunk; it may have an old one. The words reserved for ends move along. They may be too
   many, because a longjmp() over scopes leaves their words reserved for ever. If they exceed three quarters of a
   chunk (1500 scopes), none are reserved any more, and an end takes a free word, or a new chunk. Returns 0 if chunk
   is NULL. */
static int prof__chunk_change(prof__thread *self, prof__chunk *chunk)
{
    uint64_t reserved_ends = prof__reserved_ends(self);
    prof__session *s = self->session;
    prof__chunk *old = self->chunk != chunk ? self->chunk : NULL;
    if (!chunk) return 0;
    if (old) prof__chunk_close(self);
    if (self->filled && prof__chunk_begun(self)) prof__filled_finish(self);
    if (old && !self->filled && s->header->mode == PROF_RING) {
        prof__filled_keep(self);
        old = NULL;
    }
    prof__chunk_enter(self, chunk, 0, reserved_ends > prof__words_of(s, chunk) / 4 * 3 ? 0 : reserved_ends);
    if (old) prof__chunk_finish(self, old); /* if the chunk before it is still held, this one has no event of its own */
    return 1;
}

/* Takes the one of the thread's own chunks in a ring that has the older events, to use it anew. */
static prof__chunk *prof__chunk_own(prof__thread *self)
{
    prof__chunk *filled = self->filled && prof__chunk_begun(self) ? prof__filled_take(self) : NULL;
    return prof__chunk_again(self->session, filled ? filled : self->chunk);
}

#ifndef PROF__ALONE
/* Waits for a chunk. Meanwhile the thread gives up its full chunk, because the service may need it to make room. If the
   thread has waited in vain, it takes the full chunk back unless another has it: words in it are reserved for ends of
   open scopes. */
static prof__chunk *prof__chunk_await(prof__thread *self, uint64_t least)
{
    prof__session *s = self->session;
    prof__thread before = *self;
    prof__chunk *full = self->chunk, *chunk = NULL;
    uint64_t sequence = full ? full->sequence : 0;
    uint32_t state = PROF__CHUNK_FULL;
    if (!prof__room_waits(self, s)) return NULL;
    if (full) {
        prof__chunk_close(self);
        prof__track_of(self)->reserved_ends = prof__reserved_ends(self);
        self->entered = 0;
        self->free_words = self->soft = 0;
        self->chunk = NULL;
        self->cursor = self->end = self->short_scope.at = self->short_scope.end = NULL;
        prof__chunk_finish(self, full);
    }
    while (!chunk && prof__room_wait(self, s)) chunk = prof__chunk_take_of(s, self->impatient != 0, least, 0);
    if (chunk || !full || !__atomic_compare_exchange_n(&full->state, &state, PROF__CHUNK_OWNED, 0, __ATOMIC_ACQUIRE,
                                                       __ATOMIC_RELAXED))
        return chunk;
    if (full->sequence != sequence) { /* another thread has used it since */
        PROF__RELEASE(&full->state, state);
        return NULL;
    }
    prof__chunk_unseal(s, full, (size_t)(before.cursor - prof__chunk_first(full)));
    self->chunk = full;
    self->soft = before.soft;
    self->cursor = before.cursor;
    self->end = before.end;
    self->free_words = before.free_words;
    self->entered = before.entered;
    return NULL;
}
#endif

/* Gives the thread another chunk with room for `words` words, or a smaller one if none is so large. Returns 0 if there
   is none. In a ring that nobody empties the thread then uses its own chunk anew: a thread that records keeps its
   newest events, whatever other threads do. */
static PROF__COLD int prof__chunk_next(prof__thread *self, uint64_t words)
{
    prof__session *s = self->session;
    int service = self->impatient != 0, again = s->header->mode == PROF_RING;
    uint64_t reserved_ends = prof__reserved_ends(self);
    if (!again && prof__room_missing(self)) return 0;
    uint32_t room = PROF__ACQUIRE(&prof__room_changes);
    uint64_t least = words + 8 + (reserved_ends > s->chunk_words / 4 * 3 ? 0 : reserved_ends + reserved_ends / 2);
    if (least > s->chunk_words) least = s->chunk_words;
    prof__chunk *chunk = prof__chunk_take_of(s, service, least, 0);
    if (!chunk && again) chunk = prof__chunk_own(self);
#ifndef PROF__ALONE
    if (!chunk) chunk = prof__chunk_await(self, least);
#endif
    self->room.missing = chunk ? 0 : room;
    if (!chunk) prof__stream_loses(self, s);
    return prof__chunk_change(self, chunk);
}

/* Continues the present track in the rest of the thread's chunk. If the rest is too small, the next write takes a new
   chunk, and may wait for it. That is not done here, because the caller may hold the lock, and because a chunk without
   an event is of no use. */
static void prof__track_enter(prof__thread *self)
{
    if (!self->chunk) return;
    uint64_t used = (uint64_t)(self->cursor - prof__chunk_first(self->chunk)),
             reserved_ends = prof__track_of(self)->reserved_ends;
    if (used + 3 + reserved_ends + 2 <= prof__words_of(self->session, self->chunk))
        prof__chunk_enter(self, self->chunk, used, reserved_ends);
}

/* Returns 1 if the session knows this track and its name, so that it can be entered without the lock. */
static int prof__track_known(const prof__thread *self, const prof_fiber *track)
{
    return track->session_id == self->session_id && track->name_id != PROF__NAME_NEW;
}

/* Asks the system again for the name of a thread that the program has not named. The thread's next TRACK record has the
   name. If the thread ends (ends is 1), writes that record now. Under the lock. */
static void prof__thread_rename(prof__thread *self, int ends)
{
#ifdef PROF__RENAMES
    prof_fiber *own = &self->own;
    char name[sizeof own->name];
    uint32_t known = own->name_id & ~PROF__NAME_OF_SYSTEM;
    if (own->session_id != self->session->session_id || own->name[0] || own->name_id == PROF__NAME_NEW) return;
    prof__system_name(name, sizeof name);
    uint32_t id = prof__meta_string(self->session, name);
    if (!id) return;
    own->name_id = id | PROF__NAME_OF_SYSTEM;
    int room = self->entered && !self->fiber && self->free_words >= 3;
    if (ends && id != known && room) prof__track_write(self);
    prof__meta_thread(self->session, own->track, id, ends && id != known && !room);
#else
    (void)self, (void)ends;
#endif
}

/* Gives the present track an id and a name in the thread's session, if it has none there. Under the lock. */
static void prof__track_know(prof__thread *self)
{
    prof_fiber *track = prof__track_of(self);
    prof__session *s = self->session;
    if (track->session_id != s->session_id) {
        track->track = PROF__ADD(&s->header->tracks, 1) + 1;
        track->serial = track->reserved_ends = 0;
        track->unscoped_count = 0;
#ifdef PROF__FRAME_NAMES
        for (uint32_t at = 0; at < PROF__FRAME_NAMES; ++at) track->frame_name[at] = 0;
#endif
        for (uint32_t at = 0; at < sizeof track->unscoped_name / sizeof *track->unscoped_name; ++at)
            track->unscoped_name[at] = PROF__UNSCOPED_FREE;
        prof__unscoped_clear(track);
        track->name_id = PROF__NAME_NEW;
        track->session_id = s->session_id;
    }
    if (track->name_id != PROF__NAME_NEW) {
        if (!track->is_fiber) prof__thread_rename(self, 0);
        return;
    }
    char name[sizeof track->name];
    prof__copy(name, track->name, sizeof name);
    uint32_t of_system = name[0] || track->is_fiber ? 0 : PROF__NAME_OF_SYSTEM;
    if (of_system) prof__system_name(name, sizeof name);
    track->name_id = prof__meta_string(s, name);
    if (track->name_id) track->name_id |= of_system;
}

/* The slow path of prof__reserve_or_lose(), if too few words are free or the chunk is too old to express the time.
   Returns NULL, and counts the loss, if there is no chunk. */
static PROF__COLD uint64_t *prof__reserve_slow(prof__thread *self, uint64_t words, uint64_t *now, uint32_t loss)
{
    if ((int64_t)(*now - self->base) < 0 && (int64_t)(prof__now(self->session, 0) - self->base) >= 0) {
        *now = self->base; /* a handler took this chunk after the clock was read; otherwise the counter restarted */
        if (self->free_words >= words) return self->cursor;
    }
    int late = (*now - self->base) >> PROF__TICK_BITS != 0;
    if (self->soft && !late && self->free_words < words) prof__chunk_widen(self, words);
    if ((late || self->free_words < words) && prof__chunk_next(self, words) && self->free_words < words && self->soft)
        prof__chunk_widen(self, words); /* the event is long */
    if (self->free_words < words || (*now > self->base && (*now - self->base) >> PROF__TICK_BITS)) {
        if (self->chunk) /* the last word has a sum now, but may still be removed as a scope that was too short */
            prof__chunk_unseal(self->session, self->chunk, (size_t)(self->cursor - prof__chunk_first(self->chunk)) - 1);
        prof__lose_all(self, loss);
        return NULL;
    }
    if ((int64_t)(*now - self->base) < 0) *now = self->base; /* the counter may have wrapped */
    return self->cursor;
}

/* Returns room for `words` words at the cursor, in a chunk that can express the time *now (ticks since its base, 40
   bits). Returns NULL, and counts the loss, if there is none. */
static inline uint64_t *prof__reserve_or_lose(prof__thread *self, uint64_t words, uint64_t *now, uint32_t loss)
{
    if (PROF__UNLIKELY(self->free_words < words || (*now - self->base) >> PROF__TICK_BITS))
        return prof__reserve_slow(self, words, now, loss);
    return self->cursor;
}

/* Reserves words for an event without arguments: see prof__reserve_or_lose(). */
static inline uint64_t *prof__reserve(prof__thread *self, uint64_t words, uint64_t *now)
{
    return prof__reserve_or_lose(self, words, now, PROF__LOSS_EVENT);
}

static void prof__commit(prof__thread *self, uint64_t words)
{
    self->cursor += words;
    self->free_words -= words;
}

/* Detaches the thread from its session. The session's image may be unmapped as soon as `attached` is decremented. */
static void prof__detach(prof__thread *self)
{
    prof__session *s = self->session;
    self->entered = 0;
    self->session = NULL;
    self->chunk = self->filled = NULL;
    self->cursor = self->end = NULL;
    prof__begun_forget(self);
    self->free_words = self->soft = 0;
    self->session_id = self->off_scope.marker = 0;
    if (s) __atomic_fetch_sub(&s->attached, 1, __ATOMIC_RELEASE);
}

#ifndef PROF__SHARED_CHUNKS /* no partial chunks: a chunk serves one thread only */
static prof__chunk *prof__partial_take(prof__session *s, uint64_t *used)
{
    (void)s, (void)used;
    return NULL;
}
static int prof__partial_put(prof__session *s, prof__chunk *chunk, uint32_t words)
{
    (void)s, (void)chunk, (void)words;
    return 0;
}
#else
/* Takes a partial chunk, which another thread has left. *used: set to its used words. Returns NULL if there is none. */
static prof__chunk *prof__partial_take(prof__session *s, uint64_t *used)
{
    for (uint32_t i = 0; i < PROF__MAX_PARTIAL && PROF__LOAD(&s->ring.partial_count); ++i) {
        uint32_t number = PROF__LOAD(&s->ring.partial_chunks[i].chunk), state = PROF__CHUNK_PARTIAL;
        if (!number || number == PROF__PARTIAL_BUSY ||
            !__atomic_compare_exchange_n(&s->ring.partial_chunks[i].chunk, &number, PROF__PARTIAL_BUSY, 0,
                                         __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        prof__chunk *chunk = (prof__chunk *)(void *)(s->chunks + (uint64_t)(number - 1) * 64);
        uint64_t sequence = s->ring.partial_chunks[i].sequence;
        *used = s->ring.partial_chunks[i].words;
        PROF__RELEASE(&s->ring.partial_chunks[i].chunk, 0u);
        __atomic_fetch_sub(&s->ring.partial_count, 1, __ATOMIC_RELAXED);
        if (!__atomic_compare_exchange_n(&chunk->state, &state, PROF__CHUNK_OWNED, 0, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
            continue; /* the ring has reused the chunk */
        if (chunk->sequence == sequence) return chunk;
        /* reused by the ring, and partial again, with another entry */
        PROF__RELEASE(&chunk->state, PROF__CHUNK_PARTIAL);
    }
    return NULL;
}

/* Adds a chunk to the list of partial chunks. words: how many are used. Returns 0 if the list is full. */
static int prof__partial_put(prof__session *s, prof__chunk *chunk, uint32_t words)
{
    for (uint32_t i = 0; i < PROF__MAX_PARTIAL; ++i) {
        uint32_t none = 0;
        if (PROF__LOAD(&s->ring.partial_chunks[i].chunk) ||
            !__atomic_compare_exchange_n(&s->ring.partial_chunks[i].chunk, &none, PROF__PARTIAL_BUSY, 0,
                                         __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        s->ring.partial_chunks[i].sequence = chunk->sequence;
        s->ring.partial_chunks[i].words = words;
        prof__chunk_give(s, chunk, PROF__CHUNK_PARTIAL, 1);
        PROF__RELEASE(&s->ring.partial_chunks[i].chunk, (uint32_t)((uint64_t)((char *)chunk - s->chunks) / 64) + 1);
        __atomic_fetch_add(&s->ring.partial_count, 1, __ATOMIC_RELAXED);
        return 1;
    }
    return 0;
}
#endif

/* Returns 1 if the thread must borrow its chunk for one scope at a time. If there are nearly as many threads as there
   can be chunks, the threads that come last share the rest in this way. A thread that has borrowed often keeps its
   chunk, as long as some are left to share. */
static int prof__borrows_chunk(const prof__thread *self, const prof__session *s)
{
#ifdef PROF_FREESTANDING
    (void)self;
    (void)s;
    return 0;
#else
    uint64_t owned = (uint64_t)PROF__LOAD(&s->attached) * 32, all = PROF__LOAD(&s->chunk_count);
    if (s->header->mode != PROF_FILL) all <<= s->ring.deepest;
    return owned >= all * (self->borrows < PROF__BORROWS ? 24 : 31);
#endif
}

/* Attaches the thread to the session: gives it a chunk, preferably a partial one, and gives its track an id. Returns 0
   if there is no chunk. Under the lock. */
static int prof__attach(prof__thread *self)
{
    prof__session *s = prof__state.session;
    prof__chunk *chunk = NULL;
    uint64_t used = 0;
    self->room.missing = 0; /* the value may be of an earlier session */
    while (!chunk && (chunk = prof__partial_take(s, &used)) != NULL) {
        if ((prof__now(s, 0) - chunk->base.tick) >> (PROF__TICK_BITS - 1)) { /* too old to express the next times */
            PROF__RELEASE(&chunk->state, PROF__CHUNK_FULL);
            prof__room_changed(); /* other threads have seen it taken */
            chunk = NULL;
        }
    }
    if (!chunk) {
        used = 0;
        chunk = prof__chunk_take(s, self->impatient != 0);
        if (!chunk) return 0;
    }
    self->session = s;
    self->session_id = s->session_id;
    self->borrowed_chunk = (uint32_t)prof__borrows_chunk(self, s);
    self->borrows += self->borrowed_chunk;
    __atomic_fetch_add(&s->attached, 1, __ATOMIC_RELAXED);
    self->thread_id = prof__thread_id();
    if (used) prof__chunk_unseal(s, chunk, (size_t)used);
    self->chunk = chunk;
    self->base = chunk->base.tick;
    self->cursor = self->end = prof__chunk_first(chunk) + used;
    prof__track_know(self);
    prof__track_enter(self);
    prof__pair_take(s->clock, s->header->tick_hz, &s->header->last);
    if (!PROF__EXIT_WATCHED_UNLOCKED) prof__on_exit_of_thread(self);
    if (PROF__CRASH_REPORT(s)) prof__signal_stack_take(self);
    return 1;
}

/* Waits until a chunk is released and attaches the thread to the session. Other threads may be faster: then waits
   again. The thread sleeps without the lock, and keeps the session's memory. Returns 0 if it has waited in vain. */
static int prof__attach_later(prof__thread *self, prof__session *s, prof__signals *signals)
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

/* Gives the thread's chunk back when the thread ends or has borrowed it. The unused rest becomes a partial chunk for
   another thread. */
static void prof__give_back(prof__thread *self)
{
    prof__session *s = self->session;
    prof__chunk *chunk = self->chunk;
    prof__track_leave(self);
    prof__filled_finish(self);
    if (!chunk) return; /* given up: see prof__chunk_await() */
    uint64_t words = (uint64_t)(self->cursor - prof__chunk_first(chunk));
    prof__chunk_close(self);
    if (PROF__LOAD(&chunk->lost) || words + 16 > prof__words_of(s, chunk) ||
        !prof__partial_put(s, chunk, (uint32_t)words))
        prof__chunk_give(s, chunk, PROF__CHUNK_FULL, 1);
    prof__room_changed();
}

#ifndef PROF_FREESTANDING
/* Gives the thread's chunk back and detaches the thread from its session. The thread holds its write lock. */
static void prof__thread_detach(prof__thread *self)
{
    if (!self->session) return;
    if (self->session == PROF__LOAD(&prof__state.session)) prof__give_back(self);
    prof__detach(self);
}

/* The destructor of thread-specific data: runs when a thread ends. Later destructors may have scopes, too; these attach
   the thread again, see prof__last_scope_ended(). In a shared library, where records are allocated, this runs in up to
   three rounds. Then the record serves another thread, and this one records no more. */
static void PROF__TSS_END prof__thread_leaves(void *pointer)
{
    prof__thread *self = (prof__thread *)pointer;
    if (!self) return;
    self->write_lock = PROF__BUSY;
    PROF__BARRIER();
    prof__child_check();
    prof__lock(&prof__lock_word);
    if (self->session && self->session == prof__state.session) prof__thread_rename(self, 1);
    if (self->session) self->own.session_id = 0; /* what the thread still records goes to a new track */
    prof__thread_detach(self);
    prof__unlock(&prof__lock_word);
    prof__unscoped_release(&self->own);
    prof__signal_stack_give(self);
    PROF__BRIDGE_FORGET(self, &self->own);
    PROF__BARRIER();
    self->synced_version = 0;
    if (++self->exits < PROF__EXITS) self->write_lock = PROF__SHUT;
    prof__self_leaves(self);
}

/* Called when a scope has ended on a thread with a borrowed chunk, or on one whose destructor has run. Gives the chunk
   back, unless an outer scope is open: nothing may come later that could. */
static PROF__COLD void prof__last_scope_ended(prof__thread *self)
{
    uint32_t write_lock = self->write_lock;
    if (write_lock == PROF__BUSY || !self->session || prof__reserved_ends(self)) return;
    self->write_lock = PROF__BUSY;
    PROF__BARRIER();
    prof__thread_detach(self);
    if (self->exits) {
        PROF__ERRNO_SAVE();
        prof__signal_stack_give(self);
        PROF__BRIDGE_FORGET(self, &self->own);
        PROF__ERRNO_RESTORE();
    }
    PROF__BARRIER();
    self->write_lock = write_lock;
}

static void prof__exit_key_make(void)
{
    if (!prof__exit_key_made) prof__exit_key_made = prof__tss_make(&prof__exit_key, prof__thread_leaves);
}
#endif

/*-- OFF SCOPES ----------------------------------------------------------------------------------------- >>off_scope --
   A scope that is off leaves no record, so PROFILE_ARG could not see that it is open, and would add its argument to the
   enclosing scope. Therefore the site of a scope that is off first gets the flag PROF__OFF_SCOPE_ASKED: each pass calls
   prof__begin() and prof__end(), which keep a marker on the thread while the scope is open. An argument that comes
   while the scope of the marker is the innermost one is dropped, and the site keeps the flag. A site that was passed
   about 250 times without an argument loses the flag and costs no more calls. So only scopes with arguments pay for
   markers, and scopes that are on pay nothing.

   The words reserved for ends show which scope is the innermost one. When a marker begins, it hides the words reserved
   for enclosing scopes: it lowers `end` by their number. Then (end - cursor) - free_words counts only the scopes inside
   the marker's scope. If an enclosing scope ends first, it finds no reserved word and takes the slow path. There it is
   clear that a longjmp() has left the marker's scope.

   With PROF_MINIMAL there are no markers: arguments in a scope that is off belong to the enclosing scope.

   A scope that was lost has a marker, too, if its arguments might not be lost: they may find a free chunk, or get the
   lock.

   A thread's marker has 24 bits: bit 0: an argument was dropped; bit 1: the scope was lost; bits 2 to 8: how many
   markers are nested; bits 9 to 23: how many words are hidden. The token of a scope with a marker has PROF__OFF_SCOPE
   where other tokens have the session id, and the enclosing marker. */

#define PROF__OFF_SCOPE 0x80000000u
#define PROF__OFF_SCOPE_MASK 0xFFFFFFu
#define PROF__OFF_SCOPE_DROPPED 1u
#define PROF__OFF_SCOPE_LOST (PROF__MINIMAL ? 0u : 2u)
#define PROF__OFF_SCOPE_NESTED 0x1FCu
#define PROF__OFF_SCOPE_ONE 4u /* one marker, in PROF__OFF_SCOPE_NESTED */

/* Returns the owner of a token: the session in bits 24 to 30, a hash of the track in bits 32 to 47. */
static uint64_t prof__off_scope_owner(const prof__thread *self)
{
    uint64_t track = (uint64_t)(uintptr_t)(self->fiber ? self->fiber : &self->own) * 0x9E3779B97F4A7C15u >> 48;
    return track << 32 | (uint64_t)(PROF__LOAD(&prof__state.session_id) & 127) << 24;
}
#define PROF__OFF_SCOPE_OWNER ((0xFFFFull << 32) | (127u << 24))
#define PROF__OFF_SCOPE_SLOT_SHIFT 48

/* Replaces the thread's marker, and moves `end` by the difference in hidden words. */
static void prof__off_scope_set(prof__thread *self, uint32_t note)
{
    if (self->entered)
        self->end += (int64_t)prof__off_scope_hidden(self) - (int64_t)(note >> PROF__OFF_SCOPE_HIDDEN_SHIFT);
    self->off_scope.marker = note;
    self->off_scope.slot = 0;
}

static void prof__off_scope_forget(prof__thread *self)
{
    if (!PROF__MINIMAL) prof__off_scope_set(self, 0);
}

/* Returns 1 if no recorded scope is open inside the marker's scope. */
static int prof__off_scope_is_innermost(const prof__thread *self)
{
    return !PROF__MINIMAL && prof__reserved_ends(self) <= prof__off_scope_hidden(self);
}

static PROF__COLD void prof__off_scope_loses(prof__thread *self, uint32_t count)
{
    prof__lose_all(self, PROF__LOSS_ARGS(count));
}

/* Returns 1 if `count` arguments must be dropped, because the innermost scope is off or was lost. */
static inline int prof__off_scope_drops(prof__thread *self, uint32_t count)
{
    if (PROF__MINIMAL || PROF__LIKELY(!self->off_scope.marker) || !prof__off_scope_is_innermost(self)) return 0;
    if (PROF__UNLIKELY(self->off_scope.marker & PROF__OFF_SCOPE_LOST)) prof__off_scope_loses(self, count);
    self->off_scope.marker |= PROF__OFF_SCOPE_DROPPED;
    /* now: the scope may never end */
    if (self->off_scope.slot) prof__bit_set(prof__off_scopes.with_args, self->off_scope.slot - 1);
    return 1;
}

/* Begins a scope that is off, or that was lost (lost: PROF__OFF_SCOPE_LOST). The thread holds its write lock. */
static prof__token prof__off_scope_begin(prof__thread *self, prof_site *site, uint32_t lost)
{
    if (PROF__MINIMAL) return 0;
    uint64_t reserved_ends = prof__reserved_ends(self);
    uint32_t place = prof__off_scope_slot(prof__site_load(site));
    if (reserved_ends >> 15) return 0;
    if ((self->off_scope.marker & PROF__OFF_SCOPE_NESTED) == PROF__OFF_SCOPE_NESTED) prof__off_scope_forget(self);
    prof__token token = (uint64_t)place << PROF__OFF_SCOPE_SLOT_SHIFT | prof__off_scope_owner(self) | PROF__OFF_SCOPE |
                        self->off_scope.marker;
    prof__off_scope_set(self, (uint32_t)reserved_ends << PROF__OFF_SCOPE_HIDDEN_SHIFT |
                             ((self->off_scope.marker & PROF__OFF_SCOPE_NESTED) + PROF__OFF_SCOPE_ONE) | lost);
    self->off_scope.slot = place + 1;
    prof__site_pass(site);
    return token;
}

/* Ends a scope with a marker. If markers inside it are still open, they were not nested properly, and all are removed.
   The token of another session or thread, or of a marker that was removed, changes nothing. */
static PROF__COLD void prof__off_scope_end(prof__thread *self, prof__token token)
{
    if (PROF__MINIMAL) return;
    uint32_t before = (uint32_t)token & PROF__OFF_SCOPE_MASK,
             nested = (before & PROF__OFF_SCOPE_NESTED) + PROF__OFF_SCOPE_ONE;
    if ((token ^ prof__off_scope_owner(self)) & PROF__OFF_SCOPE_OWNER ||
        (self->off_scope.marker & PROF__OFF_SCOPE_NESTED) < nested)
        return;
    if (self->off_scope.marker & PROF__OFF_SCOPE_DROPPED)
        prof__bit_set(prof__off_scopes.with_args, (uint32_t)(token >> PROF__OFF_SCOPE_SLOT_SHIFT));
    prof__off_scope_set(self, (self->off_scope.marker & PROF__OFF_SCOPE_NESTED) == nested ? before : 0);
}

/*-- SCHEDULE -------------------------------------------------------------------------------------------- >>schedule --
   A session may begin to record later than it starts. Until then all sites are off, as in a pause, and cost as little.
   The service looks at the clock (prof__schedule_step). During a warm-up, the sites of the steps or frames that count
   are not off but out of date: each use of them, and of no other site, takes the slow path, where it is counted under
   the lock. The child of a fork has no service, so during a delay all its sites are out of date in this way. */

#define PROF__CENTURY (100ull * 366 * 86400 * 1000000000) /* in ns */
enum { PROF__HELD_TIME = 1, PROF__HELD_WARMUP = 2 };
enum { PROF__WARMUP_STEPS = 1, PROF__WARMUP_FRAMES };

static prof__session *prof__state_session(void)
{
    return prof__state.session ? prof__state.session : prof__state.inherited;
}

#ifdef PROF_MINIMAL /* sessions record at once */
static int prof__schedule_sees(const prof_site *site)
{
    (void)site;
    return 0;
}
static void prof__schedule_look(const prof_site *site) { (void)site; }
static void prof__schedule_release(prof__session *s, int held)
{
    (void)s, (void)held;
    prof__next_config_version();
}
#else
/* Returns 1 if the session begins after a delay but has no service: only macros notice when the delay is over. */
static int prof__schedule_alone(const prof__session *s)
{
#ifdef PROF__ALONE
    (void)s;
    return 0;
#else
    return prof__state.held & PROF__HELD_TIME && s == prof__state.inherited;
#endif
}

static int prof__warmup_counts(const prof__session *s, const prof_site *site)
{
    if (s->schedule.warmup_what == PROF__WARMUP_FRAMES)
        return (site->kind & ((1u << PROF__ROLE_SHIFT) - 1)) == PROF__KIND_FRAME;
    return site->kind >> PROF__ROLE_SHIFT == PROF_ROLE_STEP;
}

/* Returns 1 if the session waits for its beginning, and every use of this site must take the slow path. Under the
   lock. */
static int prof__schedule_sees(const prof_site *site)
{
    const prof__session *s = prof__state_session();
    if (!prof__state.held || !prof__state.running || prof__state.paused || !s) return 0;
    return prof__schedule_alone(s) || (prof__state.held == PROF__HELD_WARMUP && prof__warmup_counts(s, site));
}

/* Removes one reason to wait, PROF__HELD_TIME or PROF__HELD_WARMUP. After the last one, recording begins, and with it
   the session's time. Under the lock. */
static void prof__schedule_release(prof__session *s, int held)
{
    prof__state.held &= ~held;
    prof__next_config_version();
    if (prof__state.held) return;
    if (held && s->header) {
        prof__pair_take_well(s->clock, s->header->tick_hz, &s->header->first);
        s->header->last = s->header->first;
    }
#ifndef PROF__ALONE
    if (s->schedule.duration_ns && s->header)
        s->schedule.end_at = s->header->first.monotonic_ns + s->schedule.duration_ns;
    prof__word_wake(&s->service.word);
#endif
}

/* Called at each use of a site for which prof__schedule_sees() returns 1. Under the lock. */
static void prof__schedule_look(const prof_site *site)
{
    prof__session *s = prof__state_session();
#ifndef PROF__ALONE
    if (prof__schedule_alone(s) && prof__monotonic() >= s->schedule.begin_at)
        prof__schedule_release(s, PROF__HELD_TIME);
#endif
    if (prof__state.held != PROF__HELD_WARMUP || !prof__warmup_counts(s, site)) return;
    uint32_t name = prof__hash(site->name, prof__length(site->name)) | 1;
    if (!s->schedule.warmup_name) s->schedule.warmup_name = name;
    if (s->schedule.warmup_name != name) return;
    if (s->schedule.warmup_left)
        s->schedule.warmup_left--;
    else
        prof__schedule_release(s, PROF__HELD_WARMUP);
}
#endif

/* Returns 1 if all sites but those of ends are off: in a pause, during a crash report, or because the image's file was
   truncated. The pause changes under the lock only. */
static int prof__sites_rest(void)
{
#ifndef PROF_NO_CRASH
    const prof__session *s = prof__state.session;
    if (PROF__LOAD(&prof__state.frozen) || (s && PROF__LOAD(&s->file.cut) & PROF__CUT_OVER)) return 1;
#endif
    return PROF__LOAD(&prof__state.paused);
}

/* Returns 1 if the configuration records this site. Sites of devices have no level: level 0 turns off the host's
   events, no_devices those of devices. */
static int prof__site_wanted(const prof_site *site)
{
    int device = site->kind >> PROF__ROLE_SHIFT == PROF_ROLE_DEVICE;
    return !prof__sites_rest() && !PROF__HELD() &&
           (device ? !prof__state.no_devices : (int)site->level <= prof__state.level) &&
           (~site->unmask & prof__state.filter_mask) && prof__category_on(prof__category_of(site));
}

/* Settles a site: sets its state for the present config version. Under the lock. The thread holds its write lock. */
static void prof__site_resolve(prof_site *site)
{
    uint32_t config_version = PROF__ACQUIRE(prof__config_version); /* acquire: also of prof__state.frozen */
    if (PROF__HELD() && prof__schedule_sees(site)) return;
#ifndef PROF__NO_FORK
    if (prof__state.running && prof__state.inherited) {
        if (prof__site_kind(site) == PROF__KIND_END) return; /* its begin was in the parent: needs no image */
        if (prof__site_wanted(site)) prof__inherited_make();
    }
#endif
    prof__session *s = prof__state.session;
    if (!prof__state.running || !s) {
        prof__category_note(site->category);
        prof__site_store(site, config_version ^ PROF__OFF);
        return;
    }
    uint64_t head = prof__site_load(site) >> PROF__TICK_BITS << PROF__TICK_BITS;
    if (site->private_session != s->session_id || !head) {
        uint32_t id = prof__meta_site(s, site);
        if (!id) id = s->site_without_room;
        prof__category_note(site->category);
        head = prof__site_kind(site) << PROF__KIND_SHIFT | (uint64_t)id << PROF__TICK_BITS;
        site->private_session = s->session_id;
        prof__off_scopes_clear(s->session_id);
        prof__pair_take(s->clock, s->header->tick_hz, &s->header->last);
        prof__lost_collect(s);
    }
    int on = prof__site_kind(site) == PROF__KIND_END || prof__site_wanted(site);
    if (on && prof__site_kind(site) == PROF__KIND_ARG && prof__site_late(site)) { /* all sites must call once more */
        prof__next_config_version();
        config_version = PROF__LOAD(prof__config_version);
    }
    if (on)
        prof__site_store(site, head | config_version);
    else if (prof__sites_rest() || PROF__HELD())
        prof__site_store(site, head | (config_version ^ PROF__OFF));
    else
        prof__site_store(site, prof__site_off(site, head, config_version));
}

/*-- WRITER ------------------------------------------------------------------------------------------------ >>writer --
   The fast path of every macro: (1) read the counter. (2) Take the thread's write lock, so that a signal handler that
   interrupts from here on does not write. (3) Check that site, thread and config version agree; not earlier, because a
   handler may move the thread to another session until (2). (4) Store the event and move the cursor. (5) Release the
   write lock. */

/* Settles site and thread: updates both to the present config version. Returns 1 if the site is on and the thread has a
   chunk. If the site is on but there is no chunk, counts the loss. site: NULL: only the thread. */
static int prof__resolve_site(prof__thread *self, prof_site *site, uint32_t loss)
{
    uint32_t config_version = PROF__LOAD(prof__config_version), state;
    int recording, in_step;
    if (site && prof__site_off_scope(site)) return 0;
    state = site ? (uint32_t)prof__site_load(site) : config_version; /* read once: another thread may be changing it */
    in_step = self->synced_version == config_version && !((state ^ config_version) & ~PROF__OFF);
    if (in_step && !self->session && prof__room_missing(self)) {
        if (state == config_version) prof__lose_all(self, loss);
        return 0;
    }
    if (!in_step || !self->session) {
        uint32_t room = PROF__ACQUIRE(&prof__room_changes);
        prof__signals signals;
        PROF__ERRNO_SAVE();
        prof__child_check();
        if (!prof__lock_enter(&prof__lock_word, &signals)) {
            prof__lose_busy(self, loss);
            if (loss & PROF__LOSS_EVENT) self->room.missing = PROF__NO_LOCK; /* so its arguments will be lost, too */
            PROF__ERRNO_RESTORE();
            return 0;
        }
        if (PROF__UNLIKELY(PROF__HELD()) && site && prof__schedule_sees(site)) prof__schedule_look(site);
        if (site) prof__site_resolve(site); /* first: this may make the image, and a new config version */
        config_version = PROF__LOAD(prof__config_version);
        prof__session *s = prof__state.running ? prof__state.session : NULL;
        if (self->session && (self->session != s || self->session_id != s->session_id)) prof__detach(self);
        int attached = self->session != NULL;
        recording = s && (!site || (uint32_t)prof__site_load(site) == config_version);
        int missed = !self->session && self->room.missing;
        self->room.missing = 0;
        if (recording && !self->session && !prof__attach(self) && !prof__attach_later(self, s, &signals)) {
            prof__lose_all(self, loss);
            if (prof__state.session == s) prof__lost_collect(s);
            if (prof__state.session == s) prof__stream_loses(self, s);
            self->room.missing = room;
            recording = 0;
        }
        if (self->session && !self->entered) { /* a switch of fibers has left this to the next macro */
            prof__track_know(self);
            prof__track_enter(self);
        }
        if (missed && recording && !(loss & PROF__LOSS_EVENT) && !prof__reserved_ends(self)) {
            prof__lose_all(self, loss); /* the arguments of a lost scope */
            recording = 0;
        }
        self->synced_version = config_version; /* a control call during a wait: the next macro notices it */
        self->open = self->session && PROF__FAST(s) && !PROF__LEAVES_SOON(self) ? config_version : PROF__SHUT;
        prof__lock_leave(&prof__lock_word, &signals);
        /* only when the thread attaches: later it may run a fiber, whose end is not the thread's */
        if (PROF__EXIT_WATCHED_UNLOCKED && self->session && !attached) prof__on_exit_of_thread(self);
        PROF__ERRNO_RESTORE();
        return recording && self->session;
    }
    return state == config_version;
}

/* A write lock with PROF__SHORT implies that the last word is a begin or an end. Notes this for the slow paths, unless
   the thread has changed its session since. */
static PROF__COLD void prof__short_passes(prof__thread *self, uint32_t write_lock)
{
    if (write_lock != (self->synced_version ^ PROF__SHORT) || !self->cursor) return;
    self->short_scope.at = self->cursor - 1;
    self->short_scope.end = self->cursor;
}

/* Called after a prof__enter_write() that found the fast path closed. Returns 1 if the thread may write for this site
   or, if site is NULL, is attached. In a signal handler that interrupted a macro, counts what is lost. */
static PROF__COLD int prof__enter_slow(prof__thread *self, prof_site *site, uint32_t write_lock, uint32_t loss)
{
    if (PROF__UNLIKELY(write_lock & PROF__SHORT)) prof__short_passes(self, write_lock);
    if (write_lock == PROF__BUSY)
        prof__lose_busy(self, loss);
    else if (prof__resolve_site(self, site, loss))
        return 1;
    prof__leave_write(self, write_lock);
    return 0;
}

/* Returns 1 if a site is on. Called before the arguments of a macro are evaluated. */
PROF_DEF int prof__check(prof_site *site)
{
    PROF__SELF_OR(PROF__FORWARD(prof__check, (site)));
    if (prof__site_off_scope(site)) return 0;
    uint32_t write_lock = prof__enter_write(self);
    if (write_lock == PROF__BUSY) return 1; /* so the macro counts the loss, with its arguments */
    prof__signals signals;
    PROF__ERRNO_SAVE();
    prof__child_check();
    if (prof__lock_enter(&prof__lock_word, &signals)) {
        prof__site_resolve(site);
        prof__lock_leave(&prof__lock_word, &signals);
    }
    PROF__ERRNO_RESTORE();
    prof__leave_write(self, write_lock);
    return prof__on(site) && !prof__site_off_scope(site);
}

static uint64_t prof__site_head(const prof_site *site)
{
    return prof__site_load(site) >> PROF__TICK_BITS << PROF__TICK_BITS;
}

/* Takes the thread's write lock to write for a site. Returns 1 if it may write. Otherwise releases the lock and, if the
   site is on, counts the loss. */
static inline int prof__enter_or_lose(prof__thread *self, prof_site *site, uint64_t *head, uint32_t loss)
{
    uint32_t write_lock = prof__enter_write(self), config_version = PROF__LOAD(prof__config_version);
    *head = prof__site_load(site) ^ config_version;
    if (PROF__LIKELY(!((uint32_t)*head | (write_lock ^ config_version)))) return 1;
    if (!prof__enter_slow(self, site, write_lock, loss)) return 0;
    *head = prof__site_head(site);
    return 1;
}

/* Takes the thread's write lock for an event without arguments: see prof__enter_or_lose(). */
static inline int prof__enter(prof__thread *self, prof_site *site, uint64_t *head)
{
    return prof__enter_or_lose(self, site, head, PROF__LOSS_EVENT);
}

/* Room for an event. at: its words, NULL if there is no room. head: its first word, which is to be stored last; 0 if
   the event is off or came while the thread was writing. */
typedef struct prof__slot {
    uint64_t *at;
    uint64_t head;
} prof__slot;

static PROF__COLD prof__slot prof__slot_slow(prof__thread *self, prof_site *site, uint64_t words, uint32_t write_lock)
{
    prof__slot place = {NULL, 0};
    if (!prof__enter_slow(self, site, write_lock, PROF__LOSS_EVENT)) return place;
    uint64_t now = prof__now(self->session, 0);
    place.at = prof__reserve(self, words, &now);
    place.head = prof__site_head(site) | (now - self->base);
    if (!place.at) prof__leave(self);
    return place;
}

/* Takes the thread's write lock and room for an event of the site at the present time. Reads the counter: an open fast
   path implies that the counter is the session's clock. */
static inline prof__slot prof__slot_take(prof__thread *self, prof_site *site, uint64_t words)
{
    uint32_t write_lock = prof__enter_write(self), config_version = PROF__LOAD(prof__config_version);
    prof__slot place;
    place.head = prof__site_load(site) ^ config_version;
    if (PROF__UNLIKELY((uint32_t)place.head | (write_lock ^ config_version)))
        return prof__slot_slow(self, site, words, write_lock);
    uint64_t elapsed = prof__counter() - self->base;
    if (PROF__UNLIKELY((self->free_words < words) | (elapsed >> PROF__TICK_BITS != 0)))
        return prof__slot_slow(self, site, words, write_lock);
    place.at = self->cursor;
    place.head |= elapsed;
    return place;
}

/* Counts the words of an event as written, and releases the write lock. */
static inline void prof__slot_leave(prof__thread *self, prof__slot place, uint64_t words)
{
    self->cursor = place.at + words;
    self->free_words -= words;
    prof__leave(self);
}

#define PROF__END_OF_BEGIN ((uint64_t)(PROF__KIND_BEGIN ^ PROF__KIND_END) << PROF__KIND_SHIFT)

/* Begins the off-scope marker of a scope that is off or was lost: see >>off_scope. In a signal handler that interrupted
   a macro there is no marker, and the scope's arguments are lost. */
static PROF__COLD prof__token prof__begin_off(prof__thread *self, prof_site *site, uint32_t write_lock, uint32_t lost)
{
    prof__token token = write_lock == PROF__BUSY ? 0 : prof__off_scope_begin(self, site, lost);
    if (write_lock & PROF__SHORT) {
        prof__short_passes(self, write_lock);
        write_lock = PROF__SHUT; /* an end must look at markers */
    }
    prof__leave_write(self, write_lock);
    return token;
}

/* Begins the off-scope marker of a scope that was lost for want of room, see >>off_scope. Begins none if there will be
   no room for its arguments either. */
static prof__token prof__begin_lost(prof__thread *self, prof_site *site)
{
    if (!PROF__OFF_SCOPE_LOST || !site || (self->free_words < 2 && self->session->header->mode == PROF_FILL)) return 0;
    return prof__off_scope_begin(self, site, PROF__OFF_SCOPE_LOST);
}

/* With min_duration: notes a begin or an end that was just written, so that an end finds the scope that it may
   remove. */
static PROF__COLD void prof__begun_note(prof__thread *self, uint64_t *at)
{
    if (*at >> PROF__KIND_SHIFT == PROF__KIND_END)
        self->short_scope.known = at;
    else if (self->short_scope.end != at || self->short_scope.at + 1 != at)
        self->short_scope.known = at[-1] >> PROF__KIND_SHIFT == PROF__KIND_BEGIN ? at : at - 1;
    self->short_scope.at = at;
    self->short_scope.end = self->cursor;
}

/* The slow paths of begin and end. The thread holds its write lock before and after. site: NULL: the scope gets no
   arguments. */
static prof__token prof__begin_at(prof__thread *self, prof_site *site, uint64_t head, uint64_t now)
{
    uint64_t *at = prof__reserve(self, 2, &now);
    if (!at) return prof__begin_lost(self, site);
    prof__store_word(at, head | (now - self->base));
    prof__commit(self, 1);
    self->free_words -= 1; /* reserved for the end */
    if (PROF__MIN_TICKS(self->session)) prof__begun_note(self, at);
    return head | self->session_id;
}

static void prof__count_taken_back(prof__chunk *chunk)
{
    PROF__STORE(&chunk->taken_back, PROF__LOAD(&chunk->taken_back) + 1);
}

/* Removes a scope that was too short, and its run-time name, if nothing else was recorded since its begin, or all of it
   was removed. Clears the scope's head first, so that a reader never sees a part. */
static PROF__COLD int prof__begin_undo(prof__thread *self, uint64_t head, uint64_t now)
{
    uint64_t *at = self->short_scope.at, *end = self->cursor, tick;
    if (self->short_scope.end != end || (tick = *at ^ head) >> PROF__TICK_BITS) return 0;
    if (now - self->base - tick >= PROF__MIN_TICKS(self->session)) return 0;
    prof__store_word(at, 0);
    prof__clear(at, (size_t)(end - at) * 8);
    self->free_words += (uint64_t)(end - at) + 1;
    self->cursor = at;
    self->short_scope.end = at > self->short_scope.known ? at : NULL;
    self->short_scope.at = at - 1;
    prof__count_taken_back(self->chunk);
    return 1;
}

static void prof__end_at(prof__thread *self, uint64_t head, uint64_t now)
{
    prof__session *s = self->session;
    if (PROF__UNLIKELY(self->off_scope.marker) && prof__off_scope_is_innermost(self)) prof__off_scope_forget(self);
    if (PROF__MIN_TICKS(s) && prof__begin_undo(self, head, now)) return;
    if (self->soft && self->cursor == self->end) prof__chunk_widen(self, 1);
    int full = self->cursor == self->end || (int64_t)(now - self->base) >> PROF__TICK_BITS > 0;
    if (full && !prof__chunk_next(self, 1)) {
        prof__lose(self, 1);
        return;
    }
    if ((uint64_t)(self->end - self->cursor) <= self->free_words) self->free_words--; /* its reserved word is gone */
    if ((int64_t)(now - self->base) < 0) now = self->base;
    prof__store_word(self->cursor, (head ^ PROF__END_OF_BEGIN) | (now - self->base));
    self->cursor++;
    if (PROF__MIN_TICKS(s)) prof__begun_note(self, self->cursor - 1);
}

/* Called for a scope that prof__enter() refused, because it is off, because the lock was taken for long, or because it
   cannot have a marker. Begins an off-scope marker if it can. */
static prof__token prof__begin_refused(prof__thread *self, prof_site *site)
{
    uint32_t lost = prof__site_off_scope(site) ? 0 : PROF__OFF_SCOPE_LOST;
    if (!PROF__OFF_SCOPE_LOST || (lost && self->room.missing != PROF__NO_LOCK)) return 0;
    return prof__begin_off(self, site, prof__enter_write(self), lost);
}

/* The attribute of slow paths that every scope takes in a session whose clock is not the bare counter. */
#define PROF__SLOW PROF__NOINLINE

/* Returns the time on a slow path. read: what the fast path has read; 0: nothing. Returns that if it is of the
   session's clock and the thread was synced (was_in_step), so that it has not waited since. Otherwise reads the
   clock. */
static uint64_t prof__now_again(const prof__session *s, uint64_t read, int was_in_step, int at_end)
{
    return read && was_in_step && PROF__BY_COUNTER(s) ? read : prof__now(s, at_end);
}
static int prof__in_step(const prof__thread *self)
{
    return self->session && self->synced_version == PROF__LOAD(prof__config_version);
}

/* Returns the next value of the write lock with min_duration: open to begins and ends only, unless one of these could
   take a word of another event for its begin. */
static PROF__COLD uint32_t prof__write_lock_short(const prof__thread *self, uint32_t write_lock)
{
    int open = self->cursor && self->short_scope.end == self->cursor &&
               *self->short_scope.known >> PROF__KIND_SHIFT != PROF__KIND_BEGIN &&
               !self->off_scope.marker && !PROF__LEAVES_SOON(self);
    return open ? self->synced_version ^ PROF__SHORT : write_lock;
}

/* Releases the write lock after the slow path of a begin or an end. From then on a signal handler may move the thread
   to another session, or to none. */
static void prof__leave_scope(prof__thread *self)
{
    uint32_t write_lock = self->open;
    if (PROF__SHORT && PROF__UNLIKELY(self->session->fast == PROF__SHORT))
        write_lock = prof__write_lock_short(self, write_lock);
    PROF__BARRIER();
    self->write_lock = write_lock;
}

static PROF__SLOW prof__token prof__begin_slow(prof__thread *self, prof_site *site, uint32_t write_lock, uint64_t read)
{
    int in_step = prof__in_step(self), ready = in_step && write_lock != PROF__BUSY;
    if (!ready || (uint32_t)prof__site_load(site) != self->synced_version) {
        if (prof__site_off_scope(site)) return prof__begin_off(self, site, write_lock, 0);
        ready = prof__enter_slow(self, site, write_lock, PROF__LOSS_EVENT);
        in_step = 0; /* this may have waited for the lock */
    }
    if (!ready) return prof__begin_refused(self, site);
    if (PROF__UNLIKELY(write_lock & PROF__SHORT)) prof__short_passes(self, write_lock);
    prof__token token =
        prof__begin_at(self, site, prof__site_head(site), prof__now_again(self->session, read, in_step, 0));
    prof__leave_scope(self);
    PROF__BRIDGE_BEGIN(site, NULL, token);
    return token;
}

PROF_DEF prof__token prof__begin(prof_site *site)
{
    PROF__SELF_OR(PROF__FORWARD(prof__begin, (site)));
    uint64_t now = prof__counter();
    uint32_t write_lock = prof__enter_write(self), config_version = PROF__LOAD(prof__config_version);
    uint64_t head = prof__site_load(site) ^ config_version;
    uint32_t differs = (uint32_t)head | (write_lock ^ config_version);
    if (PROF__UNLIKELY(differs) && differs != PROF__SHORT) {
        return prof__begin_slow(self, site, write_lock, now);
    }
    uint64_t *at = self->cursor, left = self->free_words, elapsed = now - self->base;
    if (PROF__UNLIKELY((left < 2) | (elapsed >> PROF__TICK_BITS != 0))) {
        return prof__begin_slow(self, site, write_lock, 0);
    }
    prof__store_word(at, head | elapsed);
    self->cursor = at + 1;
    self->free_words = left - 2;
    prof__token token = head | self->session_id;
    PROF__BARRIER();
    self->write_lock = write_lock;
    PROF__BRIDGE_BEGIN(site, NULL, token);
    return token;
}

static PROF__SLOW void prof__end_slow(prof__thread *self, prof__token token, uint32_t write_lock, uint64_t read)
{
    int in_step = prof__in_step(self);
    if (token & PROF__OFF_SCOPE) {
        if (write_lock != PROF__BUSY) prof__off_scope_end(self, token);
        prof__leave_write(self, write_lock);
        return;
    }
    if ((uint32_t)token != PROF__LOAD(&prof__state.session_id)) { /* begun in another session, where it stays open */
        prof__leave_write(self, write_lock);
    } else if ((in_step && write_lock != PROF__BUSY) || prof__enter_slow(self, NULL, write_lock, PROF__LOSS_EVENT)) {
        if (PROF__UNLIKELY(write_lock & PROF__SHORT)) prof__short_passes(self, write_lock);
        if ((uint32_t)token == self->session_id)
            prof__end_at(self, token ^ self->session_id, prof__now_again(self->session, read, in_step, 1));
        prof__leave_scope(self);
    }
    PROF__BRIDGE_END(self, token);
#ifndef PROF_FREESTANDING
    if (PROF__UNLIKELY(PROF__LEAVES_SOON(self))) prof__last_scope_ended(self);
#endif
}

/* Ends a scope while the write lock says that the last word is a begin or an end. Returns 1 if that word is the scope's
   begin and the scope was too short: removes it. */
static inline int prof__end_short(prof__thread *self, uint64_t head, uint64_t elapsed)
{
    uint64_t *at = self->cursor - 1, tick = *at ^ head;
    if (tick >> PROF__TICK_BITS || elapsed - tick >= PROF__MIN_TICKS(self->session)) return 0;
    prof__store_word(at, 0);
    self->free_words += 2;
    self->cursor = at;
    prof__count_taken_back(self->chunk);
    return 1;
}

PROF_DEF void prof__end(prof__token token)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof__end, (token)));
    uint64_t now = prof__counter();
    uint32_t write_lock = prof__enter_write(self), config_version = PROF__LOAD(prof__config_version);
    uint64_t head = token ^ self->session_id;
    uint32_t differs = (uint32_t)head | (write_lock ^ config_version);
    if (PROF__UNLIKELY(differs)) {
        int open = differs == PROF__SHORT;
        if (open && prof__end_short(self, head, now - self->base)) {
            PROF__BARRIER();
            self->write_lock = write_lock;
            PROF__BRIDGE_END(self, token);
            return;
        }
        if (!open) {
            prof__end_slow(self, token, write_lock, now);
            return;
        }
    }
    uint64_t *at = self->cursor, elapsed = now - self->base;
    if (PROF__UNLIKELY(((uint64_t)(self->end - at) <= self->free_words) | (elapsed >> PROF__TICK_BITS != 0))) {
        prof__end_slow(self, token, write_lock, 0);
        return;
    }
    prof__store_word(at, (head ^ PROF__END_OF_BEGIN) | elapsed);
    self->cursor = at + 1;
    PROF__BARRIER();
    self->write_lock = write_lock;
    PROF__BRIDGE_END(self, token);
}

#ifndef PROF_FREESTANDING
/* Records a scope of the service that began at `began` and ends now. Begin and end are written together: an open scope
   at the end of a recording would look as if the program had hung there. */
static void prof__service_scope(const prof__session *s, prof_site *site, uint64_t began)
{
    prof__thread *self = PROF__SELF();
    uint64_t head;
    if (site->level > PROF_MAX_LEVEL || !prof__enter(self, site, &head)) return;
    if (self->session == s) {
        prof__token token = prof__begin_at(self, NULL, head, began);
        if (token) prof__end_at(self, head, prof__now(s, 1));
    }
    prof__leave(self);
}
#endif

/* The slow path of prof__next(): ends one stage and begins the next one at the same time. So it gets a chunk with room
   for both before it reads the clock. */
static PROF__COLD prof__token prof__next_slow(prof__thread *self, prof_site *site, prof__token token,
                                              uint32_t write_lock)
{
    uint64_t head;
    prof__leave_write(self, write_lock);
    if (token & PROF__OFF_SCOPE) {
        prof__end(token);
        token = 0;
    }
    if (!prof__live(site) || !prof__enter(self, site, &head)) {
        if (token) prof__end(token);
        return prof__begin_refused(self, site);
    }
    uint64_t now = prof__now(self->session, 1);
    int fits = prof__reserve(self, 2, &now) != NULL;
    if (token && (uint32_t)token == self->session_id) prof__end_at(self, token ^ self->session_id, now);
    prof__token next = fits ? prof__begin_at(self, site, head, now) : prof__begin_lost(self, site);
    prof__leave(self);
    PROF__BRIDGE_END(self, token);
    PROF__BRIDGE_BEGIN(site, NULL, next);
    return next;
}

PROF_DEF prof__token prof__next(prof_site *site, prof__token token)
{
    PROF__SELF_OR(PROF__FORWARD(prof__next, (site, token)));
    uint64_t now = prof__counter();
    uint32_t write_lock = prof__enter_write(self), config_version = PROF__LOAD(prof__config_version);
    uint64_t head = prof__site_load(site) ^ config_version, old = token ^ self->session_id;
    if (PROF__UNLIKELY((uint32_t)head | (uint32_t)old | (write_lock ^ config_version)))
        return prof__next_slow(self, site, token, write_lock);
    uint64_t *at = self->cursor, left = self->free_words, elapsed = now - self->base;
    if (PROF__UNLIKELY((left < 2) | ((uint64_t)(self->end - at) <= left) | (elapsed >> PROF__TICK_BITS != 0)))
        return prof__next_slow(self, site, token, write_lock);
    prof__store_word(at, (old ^ PROF__END_OF_BEGIN) | elapsed);
    prof__store_word(at + 1, head | elapsed);
    self->cursor = at + 2;
    self->free_words = left - 2;
    prof__token next = head | self->session_id;
    PROF__BARRIER();
    self->write_lock = config_version;
    PROF__BRIDGE_END(self, token);
    PROF__BRIDGE_BEGIN(site, NULL, next);
    return next;
}

/* Writes a record of two words: a head and a number. */
static inline void prof__number_write(prof__thread *self, uint64_t head, uint64_t number)
{
    PROF__STORE(self->cursor + 1, number);
    prof__store_word(self->cursor, head);
    prof__commit(self, 2);
}

/* Records the value of a counter. kind: PROF__KIND_COUNTER_..., replaces the kind in the site's state. */
static void prof__counter_write(prof_site *site, uint64_t kind, uint64_t number)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof__counter_write, (site, kind, number)));
    prof__slot place = prof__slot_take(self, site, 2);
    if (!place.at) return;
    PROF__STORE(place.at + 1, number);
    prof__store_word(place.at, (place.head & ~(15ull << PROF__KIND_SHIFT)) | kind << PROF__KIND_SHIFT);
    prof__slot_leave(self, place, 2);
}

/* The slow path of prof__arg_write(). */
static PROF__COLD void prof__arg_slow(prof__thread *self, prof_site *site, uint64_t low, uint64_t number,
                                      uint32_t write_lock)
{
    if (write_lock != PROF__BUSY && prof__off_scope_drops(self, 1)) {
        prof__leave_write(self, write_lock);
        return;
    }
    if (!prof__enter_slow(self, site, write_lock, PROF__LOSS_ARGS(1))) return;
    uint64_t now = self->base; /* an argument has no time */
    if (prof__reserve_or_lose(self, 2, &now, PROF__LOSS_ARGS(1)))
        prof__number_write(self, prof__site_head(site) | low, number);
    prof__leave(self);
}

static inline void prof__arg_write(prof_site *site, prof_value_type type, uint64_t number)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof__arg_write, (site, type, number)));
#ifdef PROF__BRIDGED
    if (prof__off_scope_drops(self, 1)) return; /* other tools get none either */
#endif
    PROF__BRIDGE_ARG(site, type, number);
    uint32_t write_lock = prof__enter_write(self), config_version = PROF__LOAD(prof__config_version);
    uint64_t head = prof__site_load(site) ^ config_version, low = (uint64_t)type << 32 | 1;
    if (PROF__UNLIKELY(((uint32_t)head | (write_lock ^ config_version) | self->off_scope.marker) ||
                       self->free_words < 2)) {
        prof__arg_slow(self, site, low, number, write_lock);
        return;
    }
    prof__number_write(self, head | low, number);
    PROF__BARRIER();
    self->write_lock = config_version;
}

#ifndef PROF__NO_DOUBLE
static uint64_t prof__double_bits(double value)
{
    uint64_t bits;
    prof__copy(&bits, &value, sizeof bits);
    return bits;
}
#endif

PROF_DEF void prof__counter_int(prof_site *site, int64_t value)
{
    prof__counter_write(site, PROF__KIND_COUNTER_INT, (uint64_t)value);
    PROF__BRIDGE_COUNTER(site, PROF_VALUE_INT, (uint64_t)value);
}
PROF_DEF void prof__counter_uint(prof_site *site, uint64_t value)
{
    prof__counter_write(site, PROF__KIND_COUNTER_UINT, value);
    PROF__BRIDGE_COUNTER(site, PROF_VALUE_UINT, value);
}
#ifndef PROF__NO_DOUBLE
PROF_DEF void prof__counter_double(prof_site *site, double value)
{
    prof__counter_write(site, PROF__KIND_COUNTER_DOUBLE, prof__double_bits(value));
    PROF__BRIDGE_COUNTER(site, PROF_VALUE_DOUBLE, prof__double_bits(value));
}
PROF_DEF void prof__arg_double(prof_site *site, double value)
{
    prof__arg_write(site, PROF_VALUE_DOUBLE, prof__double_bits(value));
}
#endif
PROF_DEF void prof__arg_int(prof_site *site, int64_t value)
{
    prof__arg_write(site, PROF_VALUE_INT, (uint64_t)value);
}
PROF_DEF void prof__arg_uint(prof_site *site, uint64_t value) { prof__arg_write(site, PROF_VALUE_UINT, value); }
PROF_DEF void prof__arg_bool(prof_site *site, int value) { prof__arg_write(site, PROF_VALUE_BOOL, value != 0); }
PROF_DEF void prof__arg_pointer(prof_site *site, const volatile void *value)
{
    prof__arg_write(site, PROF_VALUE_POINTER, (uint64_t)(uintptr_t)value);
}

typedef struct prof__text {
    const char *bytes;
    uint64_t length, words;
    int cut;
} prof__text;

/* Measures how much of a text is recorded: at most `max` bytes and PROF_MAX_TEXT, cut between UTF-8 characters. given:
   how many bytes may be read, if no terminator comes before. */
static prof__text prof__measure_part(const char *bytes, uint64_t max, uint64_t given)
{
    prof__text text;
    if (max > PROF_MAX_TEXT) max = PROF_MAX_TEXT;
    text.bytes = bytes ? bytes : "(null)";
#ifdef PROF_FREESTANDING
    text.length = 0;
    while (text.length < max && text.length < given && text.bytes[text.length]) ++text.length;
#else
    if (max > given) max = given;
    const char *zero = (const char *)memchr(text.bytes, 0, (size_t)max); /* reads nothing after the zero */
    text.length = zero ? (uint64_t)(zero - text.bytes) : max;
#endif
    text.cut = text.length < given && text.bytes[text.length] != 0;
    if (text.cut)
        for (int i = 0; i < 3 && text.length && ((unsigned char)text.bytes[text.length] & 0xc0) == 0x80; ++i)
            --text.length;
    text.words = text.length / 8 + 1;
    return text;
}

/* Measures a terminated text, of which at most PROF_MAX_TEXT bytes are recorded. Faster if it is not longer. */
static inline prof__text prof__measure_text(const char *bytes)
{
#ifndef PROF_FREESTANDING
    const char *zero = bytes ? (const char *)memchr(bytes, 0, PROF_MAX_TEXT) : NULL;
    if (PROF__LIKELY(zero != NULL)) {
        prof__text text = {bytes, (uint64_t)(zero - bytes), (uint64_t)(zero - bytes) / 8 + 1, 0};
        return text;
    }
#endif
    return prof__measure_part(bytes, PROF_MAX_TEXT, ~(uint64_t)0);
}

/* Measures a terminated text, of which at most a quarter of a chunk of chunk_words words is recorded. */
static prof__text prof__measure_in(uint64_t chunk_words, const char *bytes)
{
    return prof__measure_part(bytes, chunk_words * 2, ~(uint64_t)0);
}
static prof__text prof__measure(const prof__session *s, const char *bytes)
{
    return prof__measure_in(PROF__LOAD(&s->text_words), bytes);
}

/* Returns a text's last word: its fewer than eight bytes after the last whole word, then zeros. */
static inline uint64_t prof__text_tail(const prof__text *text)
{
    uint64_t word = 0, left = text->length & 7;
    if (text->length < 8) {
        prof__copy(&word, text->bytes, (size_t)left);
        return word;
    }
    prof__copy(&word, text->bytes + text->length - 8, 8); /* a copy of constant size is one instruction */
#if PROF__LOW_HALF
    return word << 1 << (63 - 8 * left);
#else
    return word >> 1 >> (63 - 8 * left);
#endif
}

/* Writes a head and the words of a text. head: its count of words may include words that follow the text. padded: 1:
   zeros follow the text in memory, up to the end of its last word. */
static inline void prof__text_write_as(uint64_t *at, uint64_t head, const prof__text *text, int padded)
{
    uint64_t whole = text->words - !padded;
    for (uint64_t i = 0; i < whole; ++i) {
        uint64_t word;
        prof__copy(&word, text->bytes + i * 8, 8);
        PROF__STORE(at + 1 + i, word);
    }
    if (!padded) PROF__STORE(at + text->words, prof__text_tail(text));
    prof__store_word(at, (head | (uint64_t)PROF_VALUE_STRING << 32 | (text->cut ? 1u << 31 : 0u)) + text->words);
}

static void prof__text_write(uint64_t *at, uint64_t head, const prof__text *text)
{
    prof__text_write_as(at, head, text, 0);
}

PROF_DEF void prof__arg_string(prof_site *site, const char *value)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof__arg_string, (site, value)));
    if (prof__off_scope_drops(self, 1)) return;
    PROF__BRIDGE_ARG_TEXT(site, value);
    uint64_t head;
    if (!prof__enter_or_lose(self, site, &head, PROF__LOSS_ARGS(1))) return;
    prof__text text = prof__measure(self->session, value);
    uint64_t now = self->base; /* an argument has no time */
    uint64_t *at = prof__reserve_or_lose(self, 1 + text.words, &now, PROF__LOSS_ARGS(1));
    if (at) {
        prof__text_write(at, head, &text);
        prof__commit(self, 1 + text.words);
    }
    prof__leave(self);
}

/* The slow path of prof__named_text(). Also for a text that is too long for the chunks. The thread holds its write
   lock. */
static PROF__COLD prof__token prof__named_slow(prof__thread *self, prof_site *site, prof__text text,
                                               uint64_t reserved_ends, uint32_t write_lock)
{
    if (!prof__enter_slow(self, site, write_lock, PROF__LOSS_EVENT))
        return reserved_ends ? prof__begin_refused(self, site) : 0;
    if (text.length > PROF__LOAD(&self->session->text_words) * 2) text = prof__measure(self->session, text.bytes);
    uint64_t head = prof__site_head(site), now = prof__now(self->session, 0);
    uint64_t *at = prof__reserve(self, 2 + text.words + reserved_ends, &now);
    if (at) {
        prof__text_write(at + 1, (uint64_t)PROF__KIND_NAME << PROF__KIND_SHIFT, &text);
        prof__store_word(at, head | (now - self->base));
        prof__commit(self, 2 + text.words);
        self->free_words -= reserved_ends;
        if (PROF__MIN_TICKS(self->session)) prof__begun_note(self, at); /* min_duration has closed the fast path */
        head |= self->session_id;
    } else if (reserved_ends) {
        head = prof__begin_lost(self, site);
    }
    prof__leave(self);
    return at || reserved_ends ? head : 0;
}

/* Writes a begin or a mark and, directly after it in the same chunk, its run-time name. padded: as for
   prof__text_write_as(). owes_end: 1 for a begin, which reserves a word for its end. */
static PROF__INLINED prof__token prof__named_text(prof_site *site, const prof__text *text, int padded,
                                                   int owes_end)
{
    PROF__SELF_OR(PROF__FORWARD(prof__named, (site, text->bytes, owes_end)));
    uint64_t reserved_ends = (uint64_t)owes_end, words = 2 + text->words + reserved_ends, elapsed = 0;
    uint32_t write_lock = prof__enter_write(self), config_version = PROF__LOAD(prof__config_version);
    uint64_t head = prof__site_load(site) ^ config_version, *at = self->cursor;
    prof__token token = head | self->session_id;
    int fast = !((uint32_t)head | (write_lock ^ config_version)) && text->length <= self->session->chunk_words * 2;
    if (PROF__LIKELY(fast)) elapsed = prof__counter() - self->base;
    if (PROF__UNLIKELY(!fast || self->free_words < words || elapsed >> PROF__TICK_BITS)) {
        token = prof__named_slow(self, site, *text, reserved_ends, write_lock);
    } else {
        prof__text_write_as(at + 1, (uint64_t)PROF__KIND_NAME << PROF__KIND_SHIFT, text, padded);
        prof__store_word(at, head | elapsed);
        self->cursor = at + words - reserved_ends;
        self->free_words -= words;
        PROF__BARRIER();
        self->write_lock = config_version;
    }
    PROF__BRIDGE_BEGIN(site, text->bytes, owes_end ? token : 0);
    return token;
}

static prof__token prof__named(prof_site *site, const char *name, int owes_end)
{
    prof__text text = prof__measure_text(name);
    return prof__named_text(site, &text, 0, owes_end);
}

PROF_DEF prof__token prof__begin_text(prof_site *site, const char *text) { return prof__named(site, text, 1); }
PROF_DEF void prof__mark_text(prof_site *site, const char *text)
{
    prof__named(site, text, 0);
    PROF__BRIDGE_MARK(site, text);
}

/* The slow path of prof__begin_number(), which begins a scope with a number as its argument. Settles the scope's site
   first, because recording may begin with this step, then the argument's site, before it takes the write lock. If a
   control call comes in between, the scope is lost. */
static PROF__COLD prof__token prof__begin_number_slow(prof__thread *self, prof_site *site, prof_site *key, uint64_t low,
                                                      uint64_t number, uint32_t write_lock)
{
    const uint32_t loss = PROF__LOSS_EVENT | PROF__LOSS_ARGS(1);
    prof__token token = 0;
    uint64_t head;
    prof__leave_write(self, write_lock);
    if (!prof__enter_or_lose(self, site, &head, loss)) return prof__begin_refused(self, site);
    if ((uint32_t)prof__site_load(key) != PROF__LOAD(prof__config_version)) {
        prof__leave(self);
        if (!prof__live(key) || !prof__enter_or_lose(self, site, &head, loss)) return prof__begin_refused(self, site);
    }
    uint64_t now = prof__now(self->session, 0), *at = NULL;
    if ((uint32_t)prof__site_load(key) != PROF__LOAD(prof__config_version))
        prof__lose_busy(self, loss);
    else
        at = prof__reserve_or_lose(self, 4, &now, loss);
    if (at) {
        PROF__STORE(at + 2, number);
        prof__store_word(at + 1, prof__site_head(key) | low);
        prof__store_word(at, head | (now - self->base));
        prof__commit(self, 3);
        self->free_words -= 1;
        token = head | self->session_id;
    } else {
        token = prof__begin_lost(self, site);
    }
    prof__leave(self);
    PROF__BRIDGE_BEGIN_NUMBER(site, key, token, (prof_value_type)(low >> 32), number);
    return token;
}

PROF_DEF prof__token prof__begin_number(prof_site *site, prof_site *key, uint64_t type, uint64_t number)
{
    PROF__SELF_OR(PROF__FORWARD(prof__begin_number, (site, key, type, number)));
    uint64_t now = prof__counter();
    uint32_t write_lock = prof__enter_write(self), config_version = PROF__LOAD(prof__config_version);
    uint64_t head = prof__site_load(site) ^ config_version, key_head = prof__site_load(key) ^ config_version;
    uint64_t *at = self->cursor, elapsed = now - self->base, low = type << 32 | 1;
    if (PROF__UNLIKELY(((uint32_t)head | (uint32_t)key_head | (write_lock ^ config_version)) ||
                       ((self->free_words < 4) | (elapsed >> PROF__TICK_BITS != 0))))
        return prof__begin_number_slow(self, site, key, low, number, write_lock);
    PROF__STORE(at + 2, number);
    prof__store_word(at + 1, key_head | low);
    prof__store_word(at, head | elapsed);
    self->cursor = at + 3;
    self->free_words -= 4;
    prof__token token = head | self->session_id;
    PROF__BARRIER();
    self->write_lock = config_version;
    PROF__BRIDGE_BEGIN_NUMBER(site, key, token, (prof_value_type)type, number);
    return token;
}

/* 1 if one instruction compares and exchanges 64 bits. Most 32-bit processors have such an instruction, too. */
#ifndef PROF__SHARED_COUNTER_WIDE
#if PROF__WIDE || (!defined(PROF_FREESTANDING) && __GCC_ATOMIC_LLONG_LOCK_FREE == 2) || defined(_MSC_VER)
#define PROF__SHARED_COUNTER_WIDE 1
#else
#define PROF__SHARED_COUNTER_WIDE 0
#endif
#endif
#ifdef __GNUC__
#define PROF__SHARED_COUNTER_ALIGNED __attribute__((__aligned__(8)))
#else
#define PROF__SHARED_COUNTER_ALIGNED
#endif

enum { PROF__SHARED_COUNTER_INT = 0, PROF__SHARED_COUNTER_DOUBLE, PROF__SHARED_COUNTER_UINT };

/* A shared counter: the number that all call sites of the same category, name and unit change. */
typedef struct prof__shared_counter {
    uintptr_t key; /* hash of category, name and unit; 0: the entry is free */
    uint64_t bits PROF__SHARED_COUNTER_ALIGNED;
    uint32_t real; /* PROF__SHARED_COUNTER_...: the type of the number in bits */
    int busy;      /* a lock, used only if no instruction exchanges 64 bits */
} prof__shared_counter;

#define PROF__SHARED_COUNTERS PROF__LESS(1024, 16)
#if defined(PROF_FREESTANDING) || defined(_WIN32) || defined(__wasi__)
static prof__shared_counter prof__shared_counters[PROF__SHARED_COUNTERS]; /* a hash table of the macros' counters */
static prof__shared_counter *prof__shared_counters_get(void) { return prof__shared_counters; }
#else
static prof__shared_counter *prof__shared_counters; /* the same table, mapped at first use, maybe in a signal handler */
static prof__shared_counter *prof__shared_counters_get(void)
{
    size_t size = PROF__SHARED_COUNTERS * sizeof *prof__shared_counters;
    prof__shared_counter *shared_counters = PROF__ACQUIRE(&prof__shared_counters), *made;
    if (shared_counters) return shared_counters;
    PROF__ERRNO_SAVE();
    made = (prof__shared_counter *)mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == (prof__shared_counter *)MAP_FAILED)
        made = NULL;
    else if (!__atomic_compare_exchange_n(&prof__shared_counters, &shared_counters, made, 0, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE))
        munmap((void *)made, size);
    PROF__ERRNO_RESTORE();
    return shared_counters ? shared_counters : made;
}

/* Unmaps the table. Called when the library is unloaded, when no macro can count any more. */
static void prof__shared_counters_unmap(void)
{
    if (prof__shared_counters)
        munmap((void *)prof__shared_counters, PROF__SHARED_COUNTERS * sizeof *prof__shared_counters);
    prof__shared_counters = NULL;
}
#endif

static int64_t prof__count_next(int64_t now, int how, int64_t value)
{
    if (how == PROF__COUNT_ADD) {
        if (value > 0 && now > INT64_MAX - value) return INT64_MAX;
        return value < 0 && now < INT64_MIN - value ? INT64_MIN : now + value;
    }
    if (how == PROF__COUNT_SUB) {
        if (value < 0 && now > INT64_MAX + value) return INT64_MAX;
        return value > 0 && now < INT64_MIN + value ? INT64_MIN : now - value;
    }
    return value;
}

/* Returns the integer `bits` of *type plus `size`, or minus size if less is 1. Stays at the ends of its range. An
   unsigned counter reaches 2^64 - 1, and so does one to which an unsigned number is added (whole is 1): then sets *type
   to PROF__SHARED_COUNTER_UINT. */
static uint64_t prof__count_wide(uint64_t bits, uint32_t *type, int less, uint64_t size, int whole)
{
    int negative = *type == PROF__SHARED_COUNTER_INT && bits >> 63;
    uint64_t now = negative ? 0 - bits : bits;
    if (negative == less) {
        now = now + size < size ? UINT64_MAX : now + size;
    } else if (now >= size) {
        now -= size;
    } else {
        now = size - now;
        negative = less;
    }
    if (negative) {
        *type = PROF__SHARED_COUNTER_INT;
        return now > (uint64_t)INT64_MAX ? (uint64_t)INT64_MIN : 0 - now;
    }
    if (*type == PROF__SHARED_COUNTER_INT && !whole && now > (uint64_t)INT64_MAX) now = (uint64_t)INT64_MAX;
    if (now > (uint64_t)INT64_MAX) *type = PROF__SHARED_COUNTER_UINT;
    return now;
}

#ifndef PROF__NO_DOUBLE
static double prof__count_next_double(double now, int how, double value)
{
    return how == PROF__COUNT_ADD ? now + value : how == PROF__COUNT_SUB ? now - value : value;
}
#endif

/* Without the counter's lock the two halves may be of different numbers. prof__shared_counter_swap() finds that out. */
static uint64_t prof__shared_counter_load(const prof__shared_counter *shared)
{
#if PROF__SHARED_COUNTER_WIDE
    return PROF__LOAD(&shared->bits);
#else
    const prof__half *half = (const prof__half *)&shared->bits;
    return (uint64_t)PROF__LOAD(half + !PROF__LOW_HALF) << 32 | PROF__LOAD(half + PROF__LOW_HALF);
#endif
}

enum { PROF__SHARED_COUNTER_AGAIN = 0, PROF__SHARED_COUNTER_DONE, PROF__SHARED_COUNTER_GIVEN_UP };

/* Compares and exchanges: if bits are `before`, sets them to `after`; else sets *before to the present bits and returns
   PROF__SHARED_COUNTER_AGAIN. Gives up if it cannot get the lock for long: an interrupt has stopped the owner, or the
   owner was killed. (A signal handler cannot stop the owner, because the lock blocks signals.) */
static int prof__shared_counter_swap(prof__shared_counter *shared, uint64_t *before, uint64_t after)
{
#if PROF__SHARED_COUNTER_WIDE
    return __atomic_compare_exchange_n(&shared->bits, before, after, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
               ? PROF__SHARED_COUNTER_DONE : PROF__SHARED_COUNTER_AGAIN;
#else
    prof__signals signals;
    if (!prof__lock_enter(&shared->busy, &signals)) return PROF__SHARED_COUNTER_GIVEN_UP;
    prof__half *half = (prof__half *)&shared->bits;
    uint64_t now = prof__shared_counter_load(shared);
    int same = now == *before;
    if (same) {
        PROF__STORE(half + PROF__LOW_HALF, (uint32_t)after);
        PROF__STORE(half + !PROF__LOW_HALF, (uint32_t)(after >> 32));
    }
    *before = now;
    prof__lock_leave(&shared->busy, &signals);
    return same ? PROF__SHARED_COUNTER_DONE : PROF__SHARED_COUNTER_AGAIN;
#endif
}

#ifndef PROF__NO_FORK
/* Called in the child of a fork(). Only the forking thread exists there, so nobody would release the locks of
   others. */
static void prof__shared_counters_unlock(void)
{
    for (size_t i = 0; prof__shared_counters && i < PROF__SHARED_COUNTERS && !PROF__SHARED_COUNTER_WIDE; ++i)
        prof__shared_counters[i].busy = 0;
}
#endif

static uintptr_t prof__shared_counter_key(const prof_site *site)
{
    uint64_t key = PROF__TEXTS_START;
    const char *const texts[] = {site->category, site->name, prof__site_unit(site)};
    for (int i = 0; i < 3; ++i) /* the factor is FNV-1a's step for a zero byte, which separates texts */
        key = prof__texts_hash(key, texts[i] ? texts[i] : "") * 0x100000001B3u;
    return (uintptr_t)(key ^ key >> 32) | 1;
}

/* Returns the shared counter of a macro's category, name and unit. Returns NULL if the table is full or there is no
   memory. Takes no lock, because macros may run in signal handlers. The counters are not in the memory of the call
   site's module, because a module can be unloaded. */
static PROF__COLD prof__shared_counter *prof__shared_counter_find(const prof_site *site)
{
    PROF__FORWARD(prof__shared_counter_find, (site));
    uintptr_t key = prof__shared_counter_key(site);
    prof__shared_counter *shared_counters = prof__shared_counters_get();
    for (size_t i = 0; shared_counters && i < PROF__SHARED_COUNTERS; ++i) {
        prof__shared_counter *shared = &shared_counters[((size_t)(key >> 1) + i) % PROF__SHARED_COUNTERS];
        uintptr_t found = PROF__LOAD(&shared->key);
        if (!found && __atomic_compare_exchange_n(&shared->key, &found, key, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            found = key;
        if (found == key) return shared;
    }
    return NULL;
}

/* Returns the shared counter of a call site. Returns NULL, and counts the sample as lost, if
   prof__shared_counter_find() has none. */
static inline prof__shared_counter *prof__shared_counter_of(const prof_site *site, prof__number *known)
{
    prof__shared_counter *shared = PROF__LOAD(&known->shared);
    if (PROF__LIKELY(shared != NULL)) return shared;
    shared = prof__shared_counter_find(site);
    PROF__STORE(&known->shared, shared);
    if (!shared && prof__on(site)) prof__lose(PROF__SELF(), 1);
    return shared;
}

/* Returns 1 if the change of a counter was given up; counts it as a lost event. */
static inline int prof__shared_counter_given_up(const prof_site *site, int swapped)
{
    if (PROF__LIKELY(swapped != PROF__SHARED_COUNTER_GIVEN_UP)) return 0;
    if (prof__on(site)) prof__lose_busy(PROF__SELF(), PROF__LOSS_EVENT);
    return 1;
}

#ifndef PROF__NO_DOUBLE
static PROF__NOINLINE void prof__shared_counter_calm(prof_site *site, prof__shared_counter *shared, int how,
                                                     double value)
{
    uint64_t before = prof__shared_counter_load(shared), after;
    double number;
    int swapped;
    do {
        prof__copy(&number, &before, sizeof number);
        uint32_t type = PROF__LOAD(&shared->real);
        if (type != PROF__SHARED_COUNTER_DOUBLE)
            number = type == PROF__SHARED_COUNTER_INT ? (double)(int64_t)before : (double)before;
        number = prof__count_next_double(number, how, value);
        after = prof__double_bits(number);
        swapped = prof__shared_counter_swap(shared, &before, after);
    } while (swapped == PROF__SHARED_COUNTER_AGAIN);
    if (prof__shared_counter_given_up(site, swapped)) return;
    PROF__STORE(&shared->real, (uint32_t)PROF__SHARED_COUNTER_DOUBLE);
    if (prof__live(site)) prof__counter_double(site, number);
}

/* Changes the counter while the host's floating-point traps are off: the arithmetic could otherwise end the program. */
static PROF__COLD void prof__shared_counter_trapped(prof_site *site, prof__shared_counter *shared, int how,
                                                    double value)
{
    PROF__CALM();
    prof__shared_counter_calm(site, shared, how, value);
}

static void prof__shared_counter_real(prof_site *site, prof__shared_counter *shared, int how, double value)
{
    if (PROF__UNLIKELY(prof__traps()))
        prof__shared_counter_trapped(site, shared, how, value);
    else
        prof__shared_counter_calm(site, shared, how, value);
}

PROF_DEF void prof__count_double(prof_site *site, prof__number *known, int how, double value)
{
    prof__shared_counter *shared = prof__shared_counter_of(site, known);
    if (shared) prof__shared_counter_real(site, shared, how, value);
}
#endif

/* Changes a counter if its number or the change may be unsigned or floating-point. whole: 1: the change is unsigned.
   less: 1: the change is negative, and value is its magnitude. */
static PROF__COLD void prof__count_whole(prof_site *site, prof__shared_counter *shared, int how, uint64_t value,
                                         int less, int whole)
{
    uint32_t real = PROF__LOAD(&shared->real), type;
#ifndef PROF__NO_DOUBLE
    if (real == PROF__SHARED_COUNTER_DOUBLE) {
        prof__shared_counter_real(site, shared, how, less ? -(double)value : (double)value);
        return;
    }
#endif
    uint64_t before = prof__shared_counter_load(shared), after;
    int swapped;
    do {
        type = real;
        if (how == PROF__COUNT_SET) {
            type = whole ? PROF__SHARED_COUNTER_UINT : PROF__SHARED_COUNTER_INT;
            after = less ? 0 - value : value;
        } else {
            after = prof__count_wide(before, &type, less != (how == PROF__COUNT_SUB), value, whole);
        }
        swapped = prof__shared_counter_swap(shared, &before, after);
    } while (swapped == PROF__SHARED_COUNTER_AGAIN);
    if (prof__shared_counter_given_up(site, swapped)) return;
    if (type != real) PROF__STORE(&shared->real, type);
    if (!prof__live(site)) return;
    if (type == PROF__SHARED_COUNTER_UINT)
        prof__counter_uint(site, after);
    else
        prof__counter_int(site, (int64_t)after);
}

PROF_DEF void prof__count_int(prof_site *site, prof__number *known, int how, int64_t value)
{
    prof__shared_counter *shared = prof__shared_counter_of(site, known);
    if (!shared) return;
    if (PROF__UNLIKELY(PROF__LOAD(&shared->real))) {
        prof__count_whole(site, shared, how, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0, 0);
        return;
    }
    uint64_t before = prof__shared_counter_load(shared), after;
    int swapped;
    do {
        after = (uint64_t)prof__count_next((int64_t)before, how, value);
        swapped = prof__shared_counter_swap(shared, &before, after);
    } while (swapped == PROF__SHARED_COUNTER_AGAIN);
    if (prof__shared_counter_given_up(site, swapped)) return;
    if (prof__live(site)) prof__counter_int(site, (int64_t)after);
}

PROF_DEF void prof__count_uint(prof_site *site, prof__number *known, int how, uint64_t value)
{
    prof__shared_counter *shared = prof__shared_counter_of(site, known);
    if (!shared) return;
    if (how != PROF__COUNT_SET && !PROF__LOAD(&shared->real) && value <= 1u << 31 &&
        prof__shared_counter_load(shared) + ((uint64_t)1 << 62) < (uint64_t)1 << 63)
        prof__count_int(site, known, how, (int64_t)value); /* cannot overflow */
    else
        prof__count_whole(site, shared, how, value, 0, 1);
}

/*-- messages --
   A format is parsed once for each call site. The result has one code for each value to fetch, so that recording a
   message does not look at the format. The reader parses the format again and assigns the values to its conversions in
   order. */

#define PROF__LOG_VALUES 16
#define PROF__LOG_COUNT 0xFFu      /* in `known`: the number of values + 1 */
#define PROF__LOG_HAS_TEXT 0x100u  /* in `known`: a text is among the values */

enum { /* codes of values: type and size in bits */
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
    PROF__LOG_LONG_DOUBLE, /* is recorded as a double */
    PROF__LOG_POINTER,
    PROF__LOG_TEXT,
    PROF__LOG_TEXT_STAR, /* the previous value is its precision */
    PROF__LOG_TEXT_PART  /* the next two codes are its precision: low byte, high byte */
};

typedef struct prof__log_spec {
    int width, precision; /* or PROF__LOG_OMITTED, or PROF__LOG_STAR: it is a value of its own */
    char flags[6];        /* those of "-+ #0" that the conversion has, terminated */
    char conversion;
    unsigned char code;
    int supported;        /* 0: the value is not recorded, and the message says so */
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

/* Parses a length modifier. *size: the bytes of an integer; *is_long: 1 after l (wide text) or L (long double). */
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

/* Parses a conversion whose first character after the % is at `at`. Returns the text after the conversion. Returns NULL
   if it is unknown: then nothing after it can be interpreted. */
static PROF__COLD const char *prof__log_parse(const char *at, prof__log_spec *spec)
{
    size_t size, flags = 0;
    int is_long;
    spec->supported = 1;
    spec->code = PROF__LOG_NONE;
    spec->precision = PROF__LOG_OMITTED;
    for (;; ++at) {
        if (*at == '\'') continue;
        if (*at != '-' && *at != '+' && *at != ' ' && *at != '#' && *at != '0') break;
#ifndef PROF_FREESTANDING /* only readers need flags */
        size_t i = 0;
        while (i < flags && spec->flags[i] != *at) ++i;
        if (i == flags) spec->flags[flags++] = *at;
#endif
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
    case 'n': /* the target of %n is not changed */
        spec->code = PROF__LOG_POINTER;
        spec->supported = 0;
        return at + 1;
    case 'm': /* %m has no value */
        spec->supported = 0;
        return at + 1;
    default: return NULL;
    }
}

/* Parses a call site's format. Several threads may do so at the same time, because all store the same values. */
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
        if (spec.code == PROF__LOG_LONG_DOUBLE) break; /* converting it to double may need a library */
#endif
#ifdef PROF__NO_DOUBLE
        if (spec.code == PROF__LOG_DOUBLE) break; /* without double no caller can pass one */
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

/* A va_list in a struct, to pass its address: on some platforms va_list is an array. */
typedef struct prof__log_list {
    va_list values;
} prof__log_list;

#ifndef PROF_FREESTANDING
static uint64_t prof__log_long_double(prof__log_list *list)
{
    PROF__CALM(); /* it may exceed the range of double */
    return prof__double_bits((double)va_arg(list->values, long double));
}
#endif

/* Fetches the next value. code: below PROF__LOG_TEXT. */
static inline uint64_t prof__log_fetch(unsigned code, prof__log_list *list)
{
    if (PROF__UNLIKELY(code > PROF__LOG_UINT32 || code == PROF__LOG_INT64)) {
#ifndef PROF__NO_DOUBLE
        if (code == PROF__LOG_DOUBLE) return prof__double_bits(va_arg(list->values, double));
#endif
#ifndef PROF_FREESTANDING
        if (code == PROF__LOG_LONG_DOUBLE) return prof__log_long_double(list);
#endif
        if (!PROF__WIDE && code == PROF__LOG_POINTER) return (uint64_t)(uintptr_t)va_arg(list->values, void *);
        return va_arg(list->values, unsigned long long);
    }
    int value = va_arg(list->values, int); /* shorter types are passed as an int */
    if (code == PROF__LOG_INT32) return (uint64_t)value;
    int shift = 32 - (8 << (code - 1) % 4);
    return code < PROF__LOG_INT64 ? (uint64_t)((int32_t)((uint32_t)value << shift) >> shift)
                                  : (uint32_t)value << shift >> shift;
}

/* Returns the head of a value's record; of a text without its size. */
static inline uint64_t prof__log_head(unsigned code)
{
    unsigned type = code <= PROF__LOG_INT64         ? PROF_VALUE_INT
                    : code <= PROF__LOG_UINT64      ? PROF_VALUE_UINT
                    : code <= PROF__LOG_LONG_DOUBLE ? PROF_VALUE_DOUBLE
                                                    : PROF_VALUE_POINTER;
    return (uint64_t)PROF__KIND_DATA << PROF__KIND_SHIFT | (uint64_t)type << 32 | 1;
}

/* Copies numbers from the caller's registers to the chunk at `at`. Returns how many words they take. */
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
    prof__text text; /* bytes is NULL for a number */
} prof__log_value;

/* Fetches as many values as fit into `room` words. Sets *words to the words that they take. Returns how many. */
static uint32_t prof__log_collect(const prof__log_format *known, uint32_t values, prof__log_list *list, uint64_t room,
                                  prof__log_value *to, uint64_t *words)
{
    const unsigned char *code = known->codes;
    uint64_t used = 0;
    uint32_t count = 0;
    for (; count < values && used + 2 <= room; ++count, ++code) {
        unsigned kind = PROF__LOAD(code);
        uint64_t given = ~(uint64_t)0, kept = used + 2 * (values - count); /* leaves two words for each of the rest */
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

/* Reserves words for a message and writes its values, if some are texts, which must be measured first. Returns what
   prof__reserve() returns. */
static uint64_t *prof__log_mixed(prof__thread *self, const prof__log_format *known, uint32_t values,
                                 prof__log_list *list, uint64_t *now, uint64_t *words)
{
    prof__log_value fetched[PROF__LOG_VALUES];
    uint32_t count = prof__log_collect(known, values, list, PROF__LOAD(&self->session->text_words) / 4, fetched, words);
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
    PROF__SELF_OR(PROF__FORWARD_VOID(prof__log_write, (site, known, severity, format, list)));
    uint64_t head, words, *at;
    if (!prof__enter(self, site, &head)) return;
    uint64_t now = prof__now(self->session, 0);
    if (PROF__UNLIKELY(!PROF__ACQUIRE(&known->known))) prof__log_learn(known, format);
    uint32_t values = (PROF__LOAD(&known->known) & PROF__LOG_COUNT) - 1;
    PROF__BRIDGE_LOG_KEEP(list);
    if (PROF__LOAD(&known->known) & PROF__LOG_HAS_TEXT || self->session->text_words < 8 * PROF__LOG_VALUES) {
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

PROF_DEF void prof__log(prof_site *site, prof__log_format *known, uint64_t severity, const char *format, ...)
{
    prof__log_list list;
    va_start(list.values, format);
    prof__log_write(site, known, severity, format, &list);
    va_end(list.values);
}

/*-- names made by a format --
   vsnprintf() takes about 600 instructions for "job %d". So this module formats the usual conversions itself: %d %i %u
   %x %X of int, long, long long and size_t, %c, %s and %%, with a width and a leading 0, and %s with a precision. A
   format with any other conversion, and a long name, is passed to vsnprintf() as a whole. The results are the same. */

#if !defined(PROF_VSNPRINTF) && !defined(PROF_FREESTANDING)
#define PROF_VSNPRINTF vsnprintf
#define PROF__SHORT_NAME (PROF_MAX_TEXT < 200 ? PROF_MAX_TEXT : 200) /* bytes of a name formatted here */
#define PROF__SHORT_ITEM 40                                          /* the most bytes of a width or a number */

/* A parsed conversion: %[0][width][.precision][size]letter. */
typedef struct prof__conversion {
    int width, precision; /* precision: -1: none */
    size_t size;          /* of an integer, in bytes */
    char fill;            /* '0' or a space */
    char letter;
    char wide;            /* 1: a size was given */
} prof__conversion;

static inline const char *prof__conversion_number(const char *at, int *number)
{
    for (*number = 0; *at >= '0' && *at <= '9'; ++at)
        if (*number < 10000) *number = *number * 10 + (*at - '0');
    return at;
}

/* Parses a conversion whose first character after the % is at `at`. Returns the address of its letter. */
static inline const char *prof__conversion_parse(const char *at, prof__conversion *to, prof__log_list *list)
{
    to->width = 0;
    to->precision = -1;
    to->fill = ' ';
    to->size = sizeof(int);
    if (*at == '0') to->fill = *at++;
    if (*at >= '1' && *at <= '9') at = prof__conversion_number(at, &to->width);
    if (PROF__UNLIKELY(*at == '.')) {
        if (*++at == '*') {
            to->precision = va_arg(list->values, int);
            ++at;
        } else {
            at = prof__conversion_number(at, &to->precision);
        }
    }
    const char *size = at;
    if (*at == 'z') {
        to->size = sizeof(size_t);
        ++at;
    } else if (*at == 'l') {
        to->size = *++at == 'l' ? sizeof(long long) : sizeof(long);
        at += *at == 'l';
    }
    to->wide = at != size;
    to->letter = *at;
    return at;
}

/* Fetches the integer of a conversion. If it is negative, sets *sign to '-' and returns the absolute value; else sets
   *sign to 0. */
static inline uint64_t prof__conversion_fetch(const prof__conversion *how, prof__log_list *list, char *sign)
{
    uint64_t value;
    *sign = 0;
    if (how->size > sizeof(int))
        value = va_arg(list->values, unsigned long long);
    else
        value = va_arg(list->values, unsigned);
    if (how->letter != 'd' && how->letter != 'i') return value;
    if (how->size == sizeof(int)) value = (uint64_t)(int)value;
    if ((int64_t)value >= 0) return value;
    *sign = '-';
    return 0 - value;
}

static size_t prof__hex_digits(char *to, uint64_t value, char ten)
{
    size_t size = 0;
    int shift = 60;
    while (shift && !(value >> shift)) shift -= 4;
    for (; shift >= 0; shift -= 4) {
        char digit = (char)(value >> shift & 15);
        to[size++] = (char)(digit < 10 ? '0' + digit : ten + digit - 10);
    }
    return size;
}

/* Inserts count `fill` characters before the text from `from` to `to`. Returns the new end of the text. */
static char *prof__widen(char *from, char *to, int count, char fill)
{
    memmove(from + count, from, (size_t)(to - from));
    memset(from, fill, (size_t)count);
    return to + count;
}

/* prof__conversion_integer() and prof__conversion_text() write a conversion at `to`. They return the end of what they
   wrote, or NULL if vsnprintf() must format the whole name. */
static inline char *prof__conversion_integer(char *to, const prof__conversion *how, prof__log_list *list)
{
    char *from = to, sign;
    if (how->precision >= 0) return NULL;
    uint64_t value = prof__conversion_fetch(how, list, &sign);
    if (sign) *to++ = sign;
    char *digits = to;
    if (how->letter == 'x' || how->letter == 'X')
        to += prof__hex_digits(to, value, how->letter == 'x' ? 'a' : 'A');
    else
        to += prof__digits(to, value);
    if (PROF__UNLIKELY(to - from < how->width))
        to = prof__widen(how->fill == '0' ? digits : from, to, how->width - (int)(to - from), how->fill);
    return to;
}

static inline char *prof__conversion_text(char *to, const char *end, const prof__conversion *how, const char *text)
{
    size_t max = (size_t)(end - to) + 1, length;
    int part = how->precision >= 0 && (size_t)how->precision < max; /* else a longer text goes to vsnprintf() */
    if (!text || how->wide || how->fill == '0' || how->width > PROF__SHORT_ITEM) return NULL;
    if (part) max = (size_t)how->precision;
    const char *zero = (const char *)memchr(text, 0, max);
    if (!zero && !part) return NULL;
    length = zero ? (size_t)(zero - text) : max;
    memcpy(to, text, length);
    to += length;
    if (PROF__LIKELY(length >= (size_t)how->width)) return to;
    return prof__widen(to - length, to, how->width - (int)length, ' ');
}

/* Writes a number below 10000. */
static inline char *prof__four_digits(char *to, unsigned number)
{
    unsigned upper = number / 100, lower = number % 100;
    if (upper >= 10) *to++ = (char)('0' + upper / 10);
    if (upper) *to++ = (char)('0' + upper % 10);
    if (number >= 10) *to++ = (char)('0' + lower / 10);
    *to = (char)('0' + lower % 10);
    return to + 1;
}

typedef struct prof__format_place {
    char *to;           /* NULL: vsnprintf() must format the whole name */
    const char *format; /* the rest of the format */
} prof__format_place;

/* Writes a conversion. at.format: its first character after the %. */
static PROF__NOINLINE prof__format_place prof__format_one(prof__format_place at, const char *end, prof__log_list *list)
{
    prof__conversion how;
    at.format = prof__conversion_parse(at.format, &how, list);
    switch (how.letter) {
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
        at.to = how.width <= PROF__SHORT_ITEM ? prof__conversion_integer(at.to, &how, list) : NULL;
        break;
    case 's': at.to = prof__conversion_text(at.to, end, &how, va_arg(list->values, const char *)); break;
    case 'c':
        *at.to = (char)va_arg(list->values, int);
        at.to = *at.to && !how.wide && !how.width && how.precision < 0 && how.fill != '0' ? at.to + 1 : NULL;
        break;
    case '%':
        *at.to = '%';
        at.to = at.format[-1] == '%' ? at.to + 1 : NULL;
        break;
    default: at.to = NULL; break;
    }
    ++at.format;
    return at;
}

/* Formats a name, and appends zeros up to the end of the last word. Returns the name's length, or -1 if vsnprintf()
   must format the name. text: room for PROF__SHORT_NAME + PROF__SHORT_ITEM + 8 bytes. */
static PROF__NOINLINE int prof__format_short(char *text, const char *format, prof__log_list *list)
{
    char *const end = text + PROF__SHORT_NAME;
    prof__format_place at = {text, format};
    for (char c; (c = *at.format++) != 0;) {
        if (at.to >= end) return -1;
        if (c != '%') {
            *at.to++ = c;
        } else if (*at.format == 'd') {
            int value = va_arg(list->values, int);
            unsigned number = (unsigned)value;
            if (value < 0) {
                *at.to++ = '-';
                number = 0 - number;
            }
            at.to = number < 10000 ? prof__four_digits(at.to, number) : at.to + prof__digits(at.to, number);
            ++at.format;
        } else {
            at = prof__format_one(at, end, list);
            if (!at.to) return -1;
        }
    }
    if (at.to > end) return -1;
    memset(at.to, 0, 8);
    return (int)(at.to - text);
}
#endif

static PROF__COLD prof__token prof__format_long(prof_site *site, const char *format, prof__log_list *list,
                                                int owes_end) PROF__PRINTF(2, 0);
static PROF__COLD prof__token prof__format_long(prof_site *site, const char *format, prof__log_list *list,
                                                int owes_end)
{
#ifdef PROF_VSNPRINTF
    char text[PROF_MAX_TEXT + 2];
    PROF__ERRNO_SAVE();
    /* vsnprintf() fails, for example, if the value of %lc is no character. Then the name is the format itself. */
    const char *name = PROF_VSNPRINTF(text, (int)sizeof text, format, list->values) < 0 ? format : text;
    PROF__ERRNO_RESTORE();
    if (!owes_end) PROF__BRIDGE_MARK(site, name);
    return prof__named(site, name, owes_end);
#else
    (void)list;
    return prof__named(site, format, owes_end);
#endif
}

PROF_DEF prof__token prof__begin_format(prof_site *site, const char *format, ...)
{
    prof__log_list list;
#ifdef PROF__SHORT_NAME
    uint64_t name[(PROF__SHORT_NAME + PROF__SHORT_ITEM + 8) / 8 + 1];
    va_start(list.values, format);
    int length = prof__format_short((char *)name, format, &list);
    va_end(list.values);
    if (PROF__LIKELY(length >= 0)) {
        prof__text text = {(const char *)name, (uint64_t)length, (uint64_t)length / 8 + 1, 0};
        return prof__named_text(site, &text, 1, 1);
    }
#endif
    va_start(list.values, format);
    prof__token token = prof__format_long(site, format, &list, 1);
    va_end(list.values);
    return token;
}

PROF_DEF void prof__mark_format(prof_site *site, const char *format, ...)
{
    prof__log_list list;
#ifdef PROF__SHORT_NAME
    uint64_t name[(PROF__SHORT_NAME + PROF__SHORT_ITEM + 8) / 8 + 1];
    va_start(list.values, format);
    int length = prof__format_short((char *)name, format, &list);
    va_end(list.values);
    if (PROF__LIKELY(length >= 0)) {
        PROF__BRIDGE_MARK(site, (const char *)name);
        prof__named(site, (const char *)name, 0);
        return;
    }
#endif
    va_start(list.values, format);
    prof__format_long(site, format, &list, 0);
    va_end(list.values);
}

#define PROF__UNSCOPED_NONE 0xffffffffu /* unscoped_turn: no slot can be reused before a begin ends */

/* Finds a slot to reuse in a full list of unscoped begins: one whose begin has ended, else one whose begin was passed:
   a scope around it has ended, so its own end may never come. Looks round robin from unscoped_turn. A begin that gets
   such a slot is marked as passed, too, as it stands among older begins. Returns null pointers if there is none. */
static PROF__COLD prof__unscoped_slot prof__unscoped_take(prof_fiber *track)
{
    prof__unscoped_slot place = {NULL, NULL};
    uint32_t count = track->unscoped_count, turn = track->unscoped_turn;
    if (turn == PROF__UNSCOPED_NONE) return place;
    for (uint32_t i = 0; i < 2 * count; ++i) {
        uint32_t at = (turn + i) % count, name;
        place = prof__unscoped_at(track, at);
        if (!place.name) break;
        name = PROF__LOAD(place.name);
        if (i < count ? name != PROF__UNSCOPED_ENDED : !(name & PROF__UNSCOPED_PASSED)) continue;
        if (!__atomic_compare_exchange_n(place.name, &name, PROF__UNSCOPED_FREE, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            continue;
        track->unscoped_turn = at + 1;
        return place;
    }
    track->unscoped_turn = PROF__UNSCOPED_NONE;
    place.name = NULL;
    return place;
}

/* Begins a scope when the list of unscoped begins is full. The list may still be that of an earlier session. */
static PROF__COLD void prof__begin_unscoped_full(prof__thread *self, prof_fiber *track, prof_site *site)
{
    uint64_t head;
    prof__unscoped_slot place = {NULL, NULL};
    if (prof__site_off_scope(site) || !prof__enter(self, site, &head)) return;
    int full = !prof__unscoped_at(track, track->unscoped_count).name;
    if (full) {
        place = prof__unscoped_take(track);
        if (!place.name && prof__unscoped_grow(track)) full = 0;
        if (full && !place.name) prof__lose_deep(self);
    }
    prof__leave(self);
    if (!full) {
        prof__begin_unscoped(site);
        return;
    }
    if (!place.name) return;
    *place.token = prof__begin(site);
    PROF__BARRIER();
    PROF__STORE(place.name,
                *place.token ? PROF__LOAD(&site->private_name) | PROF__UNSCOPED_PASSED : PROF__UNSCOPED_ENDED);
    if (*place.token) PROF__BRIDGE_UNSCOPED(track, *place.token);
}

/* Returns the index + 1 of the last begin in the list whose name is not known, or 0 if there is none. A site that could
   not get the lock has no name yet: its begin is only an off-scope marker, see >>off_scope. */
static PROF__COLD uint32_t prof__unscoped_nameless(prof_fiber *track)
{
    uint32_t at = track->unscoped_count;
    while (at && prof__unscoped_name(track, at - 1) & ~PROF__UNSCOPED_PASSED) --at;
    return at;
}

PROF_DEF void prof__begin_unscoped(prof_site *site)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof__begin_unscoped, (site)));
    prof_fiber *track = prof__track_of(self);
    if (PROF__UNLIKELY(track->unscoped_count >= PROF__UNSCOPED_OWN) &&
        !prof__unscoped_at(track, track->unscoped_count).name) {
        prof__begin_unscoped_full(self, track, site);
        return;
    }
    prof__token token = prof__begin(site);
    if (!token) return;
    uint32_t at = track->unscoped_count;
    prof__unscoped_slot place = prof__unscoped_at(track, at);
    if (PROF__UNLIKELY(!place.name)) { /* a signal handler has taken the last slot */
        prof__end(token);
        return;
    }
    /* Before the slot is written: a signal handler that interrupts here takes the next slot. */
    track->unscoped_count = at + 1;
    PROF__BARRIER();
    *place.name = PROF__LOAD(&site->private_name);
    *place.token = token;
    PROF__BRIDGE_UNSCOPED(track, token);
}

/* Marks the begin at index at - 1 as ended, and those from index `at` on, which began inside it, as passed. No slot
   moves, because a signal handler may be using it. */
static PROF__COLD void prof__unscoped_pass(prof_fiber *track, uint32_t at)
{
    prof__unscoped_slot place = prof__unscoped_at(track, at - 1);
    if (place.name) PROF__STORE(place.name, PROF__UNSCOPED_ENDED);
    for (; at < track->unscoped_count && (place = prof__unscoped_at(track, at)).name; ++at) {
        uint32_t name = PROF__LOAD(place.name);
        if (!(name & 0x80000000u))
            __atomic_compare_exchange_n(place.name, &name, name | PROF__UNSCOPED_PASSED, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED);
    }
    if (track->unscoped_turn == PROF__UNSCOPED_NONE) track->unscoped_turn = 0;
}

/* Removes ended begins from the end of the list. */
static PROF__COLD void prof__unscoped_shrink(prof_fiber *track)
{
    uint32_t at = track->unscoped_count;
    while (at && prof__unscoped_name(track, at - 1) == PROF__UNSCOPED_ENDED)
        *prof__unscoped_at(track, --at).name = PROF__UNSCOPED_FREE;
    PROF__BARRIER();
    track->unscoped_count = at;
}

PROF_DEF void prof__end_unscoped(prof_site *site)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof__end_unscoped, (site)));
    prof_fiber *track = prof__track_of(self);
    uint64_t head;
    if (!track->unscoped_count) return;
    /* Settles a new site first, whose name is not known yet. If the begin was lost because this handler interrupted a
       macro, the end is lost as well. */
    if (PROF__UNLIKELY(((uint32_t)prof__site_load(site) ^ PROF__LOAD(prof__config_version)) ||
                       self->write_lock == PROF__BUSY)) {
        if (!prof__enter(self, site, &head)) return;
        prof__leave(self);
    }
    uint32_t name = PROF__LOAD(&site->private_name), at = track->unscoped_count;
    while (at && (prof__unscoped_name(track, at - 1) & ~PROF__UNSCOPED_PASSED) != name) --at;
    if (!at && !(PROF__OFF_SCOPE_LOST && (at = prof__unscoped_nameless(track)) != 0)) return;
    prof__unscoped_slot place = prof__unscoped_at(track, at - 1);
    prof__token token = *place.token;
    if (PROF__UNLIKELY(at < track->unscoped_count)) {
        prof__unscoped_pass(track, at);
    } else {
        *place.name = PROF__UNSCOPED_FREE;
        PROF__BARRIER();
        track->unscoped_count = --at;
        if (PROF__UNLIKELY(at && prof__unscoped_name(track, at - 1) == PROF__UNSCOPED_ENDED))
            prof__unscoped_shrink(track);
    }
    prof__end(token);
}

/* prof__state_lock() also takes the thread's write lock: a signal handler with a scope then gives up at once, instead
   of waiting for a lock that its own thread holds. */
#ifdef PROF_FREESTANDING
static prof__signals prof__state_interrupts; /* changes under prof__lock_word */

/* Keeps interrupts off while the lock is held: an interrupt has a state of its own, and would wait for the lock that it
   interrupted. Takes no write lock: without PROF_INTERRUPTS_OFF() the caller may be moved to another processor
   meanwhile, which has another write lock, and the processor that it left may be in a macro. Then macros of an
   interrupt give up after PROF__PATIENCE. */
static uint32_t prof__state_lock(void)
{
    prof__signals signals;
    prof__signals_block(&signals);
    prof__lock(&prof__lock_word);
    prof__state_interrupts = signals;
    return PROF__BUSY;
}

static void prof__state_unlock(uint32_t write_lock)
{
    prof__signals signals = prof__state_interrupts;
    (void)write_lock;
    prof__unlock(&prof__lock_word);
    prof__signals_restore(&signals);
}
#else
static uint32_t prof__state_lock(void)
{
    uint32_t write_lock = prof__enter_write(PROF__SELF());
    prof__child_check();
    prof__lock(&prof__change_word);
    prof__lock(&prof__lock_word);
    return write_lock;
}

static void prof__state_unlock(uint32_t write_lock)
{
    prof__unlock(&prof__lock_word);
    prof__unlock(&prof__change_word);
    prof__leave_write(PROF__SELF(), write_lock);
}
#endif

/* The control lock: one control function at a time. */
static int prof__control_cancel; /* under the control lock: the thread's cancel state before */
static prof__fpu prof__control_before; /* under it, too: the thread's floating-point environment before */
static void prof__control_lock(void)
{
    prof__child_check();
    int before = prof__lock_steady(&prof__control_word);
    prof__control_cancel = before;
    prof__control_before = prof__calm_enter();
}
static void prof__control_unlock(void)
{
    prof__calm_leave(&prof__control_before);
    prof__unlock_steady(&prof__control_word, prof__control_cancel);
}

/* Sets the name of a track. A long name is cut between UTF-8 characters. NULL counts as "". */
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

PROF_DEF void prof_set_thread_name(const char *name)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof_set_thread_name, (name)));
    prof__track_name(&self->own, name);
    PROF__BRIDGE_THREAD(name);
    if (self->fiber || !self->session || !prof__enter_slow(self, NULL, prof__enter_write(self), PROF__LOSS_EVENT))
        return;
    if (self->own.name_id != PROF__NAME_NEW) { /* the session did not know the track: it has the new name now */
        prof__leave(self);
        return;
    }
    prof__signals signals;
    PROF__ERRNO_SAVE();
    if (prof__lock_enter(&prof__lock_word, &signals)) {
        prof__track_know(self);
        prof__lock_leave(&prof__lock_word, &signals);
        if (self->soft && self->free_words < 3 + 2) prof__chunk_widen(self, 3 + 2);
        if (self->free_words >= 3 + 2)
            prof__track_write(self);
        else
            prof__chunk_next(self, 3); /* a new chunk begins with a TRACK record */
    } else {
        prof__lose_busy(self, PROF__LOSS_EVENT);
    }
    PROF__ERRNO_RESTORE();
    prof__leave(self);
}

#ifdef PROF_FREESTANDING
PROF_DEF void prof_cpu_state_end(void *state)
{
    prof__thread *self = (prof__thread *)state;
    uint32_t write_lock = prof__state_lock();
    const prof__session *s = prof__state.session;
    if (s && self->session && self->session_id == s->session_id) prof__give_back(self);
    prof__clear(self, sizeof *self / 8 * 8);
    prof__state_unlock(write_lock);
}
#endif

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

PROF_DEF void prof_fiber_destroy(prof_fiber *fiber)
{
    PROF__FORWARD_VOID(prof_fiber_destroy, (fiber));
    if (fiber && PROF__SELF()->fiber == fiber) prof_fiber_switch(NULL);
    PROF__BRIDGE_FORGET(PROF__SELF(), fiber);
    if (fiber) prof__unscoped_release(fiber);
    free(fiber);
}
#endif

/* Moves the off-scope markers to the thread's new track, see >>off_scope: those of the old track stay with it. */
static PROF__COLD void prof__off_scope_switch(prof__thread *self, prof_fiber *to)
{
    prof__track_of(self)->off_scope_marker = self->off_scope.marker;
    self->off_scope.marker = to->session_id == PROF__LOAD(&prof__state.session_id) ? to->off_scope_marker : 0;
    self->off_scope.slot = to->off_scope_marker = 0;
}

static inline void prof__off_scope_move(prof__thread *self, prof_fiber *to)
{
    if (!PROF__MINIMAL && PROF__UNLIKELY(self->off_scope.marker | to->off_scope_marker))
        prof__off_scope_switch(self, to);
}

/* Makes a thread record on the track of a fiber, or on its own track if fiber is NULL. If the thread is not synced to
   the config version, or the session does not know the track, only closes the fast path: the next macro enters the
   track, in prof__resolve_site(). During a pause it always does this, so that no record is written in vain. Does
   nothing in a signal handler that interrupted a macro. */
PROF_DEF void prof_fiber_switch(prof_fiber *fiber)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof_fiber_switch, (fiber)));
    if (fiber == self->fiber || prof__enter_write(self) == PROF__BUSY) return;
    if (prof__stale(self)) self->entered = 0;
    prof__track_leave(self);
    prof_fiber *to = fiber ? fiber : &self->own;
    prof__off_scope_move(self, to);
    self->fiber = fiber;
    if (PROF__LIKELY(self->session && self->synced_version == PROF__LOAD(prof__config_version) &&
                     prof__track_known(self, to) && !prof__sites_rest())) {
        prof__track_enter(self);
    } else {
        self->synced_version = 0;
        self->open = PROF__SHUT;
    }
    PROF__BARRIER();
    self->write_lock = self->open;
    PROF__BRIDGE_SWITCH(self);
}

/* Records an instant: one word, its head. */
static void prof__instant(prof_site *site)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof__instant, (site)));
    prof__slot place = prof__slot_take(self, site, 1);
    if (!place.at) return;
    prof__store_word(place.at, place.head);
    prof__slot_leave(self, place, 1);
}
PROF_DEF void prof__mark(prof_site *site)
{
    prof__instant(site);
    PROF__BRIDGE_MARK(site, NULL);
}

#ifndef PROF__FRAME_NAMES
PROF_DEF void prof__frame(prof_site *site)
{
    prof__instant(site);
    PROF__BRIDGE_FRAME(site);
}
#else
/* Returns the count of frame boundaries of this name on the present track, or NULL if the track has too many names of
   frames. */
static PROF__COLD uint64_t *prof__frames_of(prof__thread *self, const prof_site *site)
{
    prof_fiber *track = prof__track_of(self);
    uint32_t name = prof__hash(site->name, prof__length(site->name)) | 1;
    for (uint32_t i = 0; i < PROF__FRAME_NAMES; ++i) {
        if (!track->frame_name[i]) {
            track->frame_name[i] = name;
            track->frame_count[i] = 0;
        }
        if (track->frame_name[i] == name) return &track->frame_count[i];
    }
    return NULL;
}

/* Records a frame boundary with its number: the first one of a chunk, or after a boundary of another call site. If the
   event is lost, still counts the boundary, so that the next one has the right number. */
static PROF__COLD void prof__frame_slow(prof__thread *self, prof_site *site, prof__slot place)
{
    uint64_t words = 1;
    if (!place.at && (!place.head || prof__track_of(self)->session_id != self->session_id)) return;
    uint64_t *frames = self->frame.count = prof__frames_of(self, site);
    self->frame.site = place.at && frames ? site : NULL;
    if (place.at && frames) {
        PROF__STORE(place.at + 2, *frames);
        PROF__STORE(place.at + 1, (uint64_t)PROF__KIND_DATA << PROF__KIND_SHIFT | (uint64_t)PROF_VALUE_UINT << 32 | 1);
        words = 3;
    }
    if (frames) ++*frames;
    if (!place.at) return;
    prof__store_word(place.at, place.head);
    prof__slot_leave(self, place, words);
}

/* Records the boundary of a frame. Boundaries are numbered from 0 for each name and track. The number is written only
   now and then: a reader counts on from there. */
PROF_DEF void prof__frame(prof_site *site)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof__frame, (site)));
    prof__slot place = prof__slot_take(self, site, 3);
    if (PROF__LIKELY(place.at && self->frame.site == site)) {
        ++*self->frame.count;
        prof__store_word(place.at, place.head);
        prof__slot_leave(self, place, 1);
    } else {
        prof__frame_slow(self, site, place);
    }
    PROF__BRIDGE_FRAME(site);
}
#endif

static uint64_t prof__flow_last;

PROF_DEF uint64_t prof_flow_new(void)
{
    PROF__FORWARD(prof_flow_new, ());
    return PROF__ADD(&prof__flow_last, 1) + 1;
}

/* Writes an EVENT: the two words after its head first, then the head, which publishes the event. */
static void prof__event_write(uint64_t *at, uint64_t head, uint64_t what, uint64_t object)
{
    PROF__STORE(at + 1, what);
    PROF__STORE(at + 2, object);
    prof__store_word(at, head);
}

PROF_DEF void prof__event(prof_site *site, uint64_t type, uint64_t detail, uint64_t object)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof__event, (site, type, detail, object)));
    prof__slot place = prof__slot_take(self, site, 3);
    if (place.at) {
        prof__event_write(place.at, place.head, detail << 8 | type, object);
        prof__slot_leave(self, place, 3);
    } else if (!place.head) {
        return;
    }
    PROF__BRIDGE_EVENT(site, type, detail, object);
}

PROF_DEF void prof__memory(prof_site *site, uint64_t how, uint64_t freed, uint64_t address, uint64_t bytes)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof__memory, (site, how, freed, address, bytes)));
    uint64_t first = freed ? 3 : 0, words = first + (address ? 3 : 0);
    if (!words || (!address && bytes)) return; /* free(NULL), or a failed allocation */
    if (bytes > PROF__EVENT_DETAIL_MAX) bytes = PROF__EVENT_DETAIL_MAX;
    prof__slot place = prof__slot_take(self, site, words);
    if (place.at) {
        if (address) prof__event_write(place.at + first, place.head, bytes << 8 | PROF_EVENT_ALLOC, address);
        if (freed) prof__event_write(place.at, place.head, how << 8 | PROF_EVENT_FREE, freed);
        prof__slot_leave(self, place, words);
    } else if (!place.head) {
        return;
    }
    if (freed) PROF__BRIDGE_EVENT(site, PROF_EVENT_FREE, how, freed);
    if (address) PROF__BRIDGE_EVENT(site, PROF_EVENT_ALLOC, bytes, address);
}

#if !defined(_WIN32) && !defined(PROF_FREESTANDING)
/* Locks a mutex and records that. If the mutex is taken, also records the wait for it as a scope. */
PROF_DEF int prof__mutex_lock(prof_site *wait, prof_site *event, void *mutex)
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

#ifndef PROF__CATEGORIES
static prof_status prof__rule_add(const char *pattern, size_t length, int on, int exact)
{
    (void)pattern, (void)length, (void)on, (void)exact;
    return prof__left_out("categories", "PROF_TINY");
}

static prof_status prof__rules_set(const char *list) { return list && *list ? prof__rule_add(list, 0, 0, 0) : PROF_OK; }
#else
/* Adds a rule. A rule replaces an older one with the same pattern; "*" replaces all. exact: 1: the pattern is a name
   without wildcards. Called under the state lock. */
static prof_status prof__rule_add(const char *pattern, size_t length, int on, int exact)
{
    if ((length == 0 && !exact) || length >= sizeof prof__state.rules[0].pattern)
        return prof__fail(PROF_INVALID_ARGUMENT, "category pattern '%.60s': must have 1 to 47 bytes", pattern);
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
    if (count == PROF__MAX_RULES)
        return prof__fail(PROF_NO_MEMORY, "categories: at most %d rules are possible", PROF__MAX_RULES);
    if (!prof__state.category_named && !exact) prof__state.category_default = !on;
    if (!exact) prof__state.category_named = 1;
    prof__copy(prof__state.rules[count].pattern, text, length + 1);
    prof__state.rules[count].on = on;
    prof__state.rules[count].exact = exact;
    prof__state.rule_count = count + 1;
    return PROF_OK;
}

/* Replaces all rules by those of a list such as "net,render*,-audio". Called under the state lock. */
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
#endif

#ifndef PROF_FREESTANDING
/*-- PACK --------------------------------------------------------------------------------------------------- >>pack --
   The archive, which follows the ring in a file, consists of blocks of packed records. A record is packed as its
   symbol, its ticks and its payload. The symbol is the head without the ticks, or the whole head if the record has no
   time. Programs repeat themselves: the packer expects that a symbol is followed by the one that followed it last time.
   So most records become a single number:

     number   ticks since the previous record with a time << 1 | 1 if the symbol is not the expected one, when a code
              follows:
     code     0: an END of the innermost open call site; 1: the whole head follows, 8 bytes; 2: a new symbol follows,
              as the number kind | site << 4 and, if it has no time, bits 39..0 of the head as another; 3 and above:
              3 + the index of a known symbol, in order of first appearance
     payload  integers as zigzag numbers; doubles as 8 bytes; other words as numbers. A string that equals the previous
              string of its symbol is the number 1; another is its length << 1, without the zeros at its end, and its
              bytes

   A number is stored in groups of 7 bits, low groups first; each byte but the last has its eighth bit set. Heads,
   doubles, and the head after a string (PROF__ARG_TO) are 8 bytes, little-endian. So packed bytes are the same on every
   machine. The table of symbols is bounded: a symbol that finds no room in it is written as new each time. A block can
   be unpacked without any other block. Any words are restored exactly: a word that is no record, or a time that runs
   backwards, is packed with code 1. */

#define PROF__PACK_SYMBOLS 500u
#define PROF__PACK_SLOTS 2048u /* a power of two */
#define PROF__PACK_OPEN 64u
#define PROF__PACK_BOUND(count) ((size_t)(count) * 12 + 16) /* bytes that always suffice for count words */
#define PROF__BLOCK_BOUND(count) (sizeof(prof__block) + (PROF__PACK_BOUND(count) + 7) / 8 * 8)

enum { PROF__PACK_INNER = 0, PROF__PACK_WHOLE, PROF__PACK_NEW, PROF__PACK_KNOWN };

/* What packer and unpacker both learn from the records so far. Symbols are numbered from 1. */
typedef struct prof__packer {
    uint64_t tick;
    uint32_t count, before, depth;
    uint64_t symbols[PROF__PACK_SYMBOLS + 1];
    uint32_t strings[PROF__PACK_SYMBOLS + 1]; /* index of the first word of its last string; 0: none */
    uint16_t next[PROF__PACK_SYMBOLS + 1];    /* the symbol that followed this one last; 0: none yet */
    uint16_t slots[PROF__PACK_SLOTS];         /* hash table over symbols */
    uint32_t open[PROF__PACK_OPEN];           /* call sites of the innermost open scopes, as a ring */
} prof__packer;

/* Returns 1 if the head is a BEGIN or END: one word with a time. Most records are of these kinds. */
static inline int prof__record_scope(uint64_t head)
{
    return (head >> PROF__KIND_SHIFT) - PROF__KIND_BEGIN <= PROF__KIND_END - PROF__KIND_BEGIN;
}

/* What the words after a head are, four bits for each kind: a prof_value_type, or PROF__HOLDS_TYPED. */
enum {
    PROF__HOLDS_NONE = PROF_VALUE_NONE,
    PROF__HOLDS_INT = PROF_VALUE_INT,
    PROF__HOLDS_UINT = PROF_VALUE_UINT,
    PROF__HOLDS_DOUBLE = PROF_VALUE_DOUBLE,
    PROF__HOLDS_STRING = PROF_VALUE_STRING,
    PROF__HOLDS_TYPED = 15
};
#define PROF__COLUMN_HOLDS(name, code, words, timed, sited, shown, named, valued, holds, ...) \
    | (uint64_t)PROF__HOLDS_##holds << 4 * (code)
#define PROF__HOLDS (0u PROF__KINDS(PROF__COLUMN_HOLDS))

/* Returns the prof_value_type of the words after the head; PROF_VALUE_NONE: other numbers. */
static unsigned prof__record_holds(uint64_t head)
{
    unsigned holds = (unsigned)(PROF__HOLDS >> (head >> PROF__KIND_SHIFT << 2)) & 15;
    return holds == PROF__HOLDS_TYPED ? (unsigned)(head >> 32 & 0xFF) : holds;
}

/* Returns how many words after the head are a string. Others are numbers, or the head of a scope. */
static size_t prof__record_text_words(uint64_t head, size_t words)
{
    if (prof__record_holds(head) != PROF_VALUE_STRING) return 0;
    return words - 1 - (head >> PROF__KIND_SHIFT == PROF__KIND_ARG && head & PROF__ARG_TO && words > 1);
}

/* Returns the symbol of a head. */
static uint64_t prof__pack_symbol(uint64_t head)
{
    return prof__record_timed(head) ? head & ~PROF__TICK_MASK : head;
}

/* Returns the number of a symbol; adds a new symbol if add is 1. Returns 0 if a new symbol is not added or finds no
   room. */
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
    p->symbols[0] = 0;
    p->strings[0] = 0;
    memset(p->slots, 0, sizeof p->slots);
}

/* Returns the symbol of an END of the innermost open call site. */
static uint64_t prof__pack_inner(const prof__packer *p)
{
    return (uint64_t)PROF__KIND_END << PROF__KIND_SHIFT |
           (uint64_t)p->open[(p->depth - 1) % PROF__PACK_OPEN] << PROF__TICK_BITS;
}

/* Updates the packer with a record that was just packed or unpacked. number: that of the head's symbol; 0: it has
   none. */
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

static unsigned char *prof__pack_integer(unsigned char *to, uint64_t value)
{
    for (; value >= 128; value >>= 7) *to++ = (unsigned char)(value | 128);
    *to++ = (unsigned char)value;
    return to;
}

/* Copies count words and converts them between this machine's byte order and little-endian. */
static void prof__pack_words(void *to, const void *from, size_t count)
{
    memcpy(to, from, count * 8);
#if PROF__LOW_HALF
    unsigned char *at = (unsigned char *)to, other;
    for (; count; --count, at += 8)
        for (int i = 0; i < 4; ++i) {
            other = at[i];
            at[i] = at[7 - i];
            at[7 - i] = other;
        }
#endif
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
    if (backwards || !(head >> PROF__KIND_SHIFT) || head >> PROF__KIND_SHIFT > PROF__KIND_LAST) {
        *to++ = PROF__PACK_WHOLE;
        prof__pack_words(to, &head, 1);
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

/* Writes the n words of a string. headed: 1: the last word is no text, but the head of a scope (PROF__ARG_TO). */
static unsigned char *prof__pack_string(const uint64_t *words, size_t n, int headed, unsigned char *to)
{
    const unsigned char *bytes = (const unsigned char *)words;
    size_t size = n * 8, before = size - 8;
    unsigned char last[8];
    memcpy(last, bytes + before, 8);
    if (headed) prof__pack_words(last, bytes + before, 1);
    while (size > before && !last[size - before - 1]) --size;
    while (size <= before && size && !bytes[size - 1]) --size;
    to = prof__pack_integer(to, (uint64_t)size << 1);
    if (size > before) memcpy(to + before, last, size - before);
    memcpy(to, bytes, size < before ? size : before);
    return to + size;
}

/* Packs n words of payload. at: the index in words of the first one; the record's head is before it. */
static unsigned char *prof__pack_payload(prof__packer *p, const uint64_t *words, size_t at, size_t n, unsigned char *to)
{
    size_t i;
    uint32_t before;
    switch (prof__record_holds(words[at - 1])) {
    case PROF_VALUE_STRING:
        before = p->strings[p->before]; /* the previous string of the same symbol has as many words */
        if (p->before) p->strings[p->before] = (uint32_t)at;
        if (p->before && before && !memcmp(words + before, words + at, n * 8)) return prof__pack_integer(to, 1);
        return prof__pack_string(words + at, n, prof__record_text_words(words[at - 1], n + 1) < n, to);
    case PROF_VALUE_DOUBLE: prof__pack_words(to, words + at, n); return to + n * 8;
    case PROF_VALUE_INT:
        for (i = 0; i < n; i++) to = prof__pack_integer(to, words[at + i] << 1 ^ (0 - (words[at + i] >> 63)));
        return to;
    default:
        for (i = 0; i < n; i++) to = prof__pack_integer(to, words[at + i]);
        return to;
    }
}

/* Writes a number below 2^28 without branches: lengths vary too much for the processor to predict them. Writes 4 bytes
   and returns how many of them count. */
static inline size_t prof__pack_small(unsigned char *to, uint32_t value)
{
    uint32_t groups = (value & 0x7F) | (value & 0x3F80) << 1 | (value & 0x1FC000) << 2 | (value & 0xFE00000) << 3;
    uint32_t more = (uint32_t)(value >= 1u << 7) + (value >= 1u << 14) + (value >= 1u << 21);
    groups |= 0x808080u & ((1u << 8 * more) - 1);
#if PROF__LOW_HALF
    groups = __builtin_bswap32(groups);
#endif
    memcpy(to, &groups, 4);
    return more + 1;
}

/* Packs BEGINs and ENDs from words[at] on, as long as they are the expected ones. Returns the index of the first other
   record. A large or backward time also ends the run: prof__pack_head() packs that record. to: needs 4 bytes a word,
   and 4 more. */
static size_t prof__pack_expected(prof__packer *p, const uint64_t *words, size_t at, size_t count, unsigned char **to)
{
    unsigned char *out = *to;
    uint64_t tick = p->tick;
    uint32_t before = p->before, depth = p->depth;
    for (; at < count; at++) {
        uint64_t head = words[at], ticks = (head & PROF__TICK_MASK) - tick;
        uint32_t number = p->next[before];
        if ((p->symbols[number] ^ head) >> PROF__TICK_BITS || !prof__record_scope(head) || ticks >= 1u << 27) break;
        if (ticks < 64) /* always so in a tight loop */
            *out++ = (unsigned char)(ticks << 1);
        else
            out += prof__pack_small(out, (uint32_t)ticks << 1);
        tick += ticks;
        before = number;
        if (head >> PROF__KIND_SHIFT == PROF__KIND_BEGIN)
            p->open[depth++ % PROF__PACK_OPEN] = (uint32_t)(head >> PROF__TICK_BITS) & PROF__SITE_MASK;
        else if (depth)
            depth--;
    }
    p->tick = tick;
    p->before = before;
    p->depth = depth;
    *to = out;
    return at;
}

/* Packs count words (below 2^32) into at most size bytes. Returns how many bytes it wrote, or 0 if size might not
   suffice; PROF__PACK_BOUND(count) always suffices. end: if it is not NULL, packing ends at the first word that is no
   record, and *end is set to the index of that word. */
static size_t prof__pack(const uint64_t *words, size_t count, unsigned char *to, size_t size, size_t *end)
{
    prof__packer p;
    unsigned char *out = to;
    size_t at, length;
    prof__pack_reset(&p);
    for (at = 0;; at += length) {
        size_t rest = (size - (size_t)(out - to)) / 4;
        at = prof__pack_expected(&p, words, at, count - at < rest ? count : at + (rest ? rest - 1 : 0), &out);
        if (at == count) break;
        length = prof__record_words(words[at], count - at);
        if (!length && end) break;
        if (!length) length = 1;
        if (size - (size_t)(out - to) < PROF__PACK_BOUND(length)) return 0;
        out = prof__pack_head(&p, words[at], out);
        if (length > 1) out = prof__pack_payload(&p, words, at + 1, length - 1, out);
    }
    if (end) *end = at;
    return (size_t)(out - to);
}

static uint64_t prof__block_hash(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

/* Returns the value that block->check must have, the same on every machine. bytes: the packed bytes after the
   header. */
static uint32_t prof__block_check(const prof__block *block, const void *bytes)
{
    const unsigned char *at = (const unsigned char *)bytes;
    uint64_t hash = 0xCBF29CE484222325u, word;
    uint32_t i;
    hash = prof__block_hash(hash, (uint64_t)block->size << 32 | block->magic);
    hash = prof__block_hash(hash, block->sequence);
    hash = prof__block_hash(hash, block->base.tick);
    hash = prof__block_hash(hash, block->base.monotonic_ns);
    hash = prof__block_hash(hash, block->base.unix_ns);
    hash = prof__block_hash(hash, block->base.width);
    hash = prof__block_hash(hash, block->lost);
    hash = prof__block_hash(hash, block->words);
    for (i = 0; i < (block->size - (uint32_t)sizeof *block) / 8; i++) {
        prof__pack_words(&word, at + (size_t)i * 8, 1);
        hash = prof__block_hash(hash, word);
    }
    return (uint32_t)(hash ^ hash >> 32);
}

/* Makes a block from a chunk and the records in its first count words. Returns the size of the block in bytes. block:
   8-byte aligned, with PROF__BLOCK_BOUND(count) bytes. */
static uint32_t prof__block_pack(const prof__chunk *chunk, const uint64_t *words, size_t count, prof__block *block)
{
    unsigned char *bytes = (unsigned char *)(block + 1);
    size_t end, size = prof__pack(words, count, bytes, PROF__PACK_BOUND(count), &end);
    while (size % 8) bytes[size++] = 0;
    memset(block, 0, sizeof *block);
    block->magic = PROF__BLOCK_MAGIC;
    block->size = (uint32_t)(sizeof *block + size);
    block->sequence = chunk->sequence;
    block->base = chunk->base;
    block->lost = chunk->lost;
    block->words = (uint32_t)end;
    block->check = prof__block_check(block, bytes);
    return block->size;
}

/*-- MATCHING -------------------------------------------------------------------------------------------- >>match --
   docs/format.md has the rules by which an END finds its scope. read/match applies them to a whole trace, with indexes
   and memory in proportion to it, and notes what cursors need. This matcher has a stack of open scopes, and a list of
   scopes that the END of an outer scope has cut, because their own ENDs may still come: then the two have overlapped.
   Its owner gives it the memory, and keeps more of each scope: elements begin with a prof__begun. Functions are told
   the elements' size, which compilers then know. What has no space is only counted (open scopes), or stays without its
   END (cut ones). */

typedef struct prof__begun {
    uint64_t number;     /* counts the begins of the track, from 1 */
    uint32_t site, name; /* name: the id of the site's name; 0: not known. site of a cut scope that has ended: ~0 */
} prof__begun;

typedef struct prof__matching {
    void *open, *cut;         /* arrays; cut: may be NULL */
    size_t depth, open_room;  /* open scopes, and how many the array has space for */
    size_t beyond;            /* open scopes for which there was no space; they are inside all others */
    size_t cut_count, cut_room;
    uint64_t begins;
    int partial;              /* 1: begins before the first record are missing, but none after it, and no cut scope was
                                 forgotten: so an END without a begin ends a scope around all others */
} prof__matching;

/* What an END does. */
typedef enum prof__ending {
    PROF__ENDS_NOTHING, /* its begin is missing, and so is nothing else: leave it out */
    PROF__ENDS_OPEN,    /* it ends an open scope; those inside are cut */
    PROF__ENDS_CUT,     /* it ends a scope that was cut */
    PROF__ENDS_BEFORE,  /* it ends a scope that began before the first record: all that are open are cut */
    PROF__ENDS_BEYOND   /* it ends a scope for which there was no space */
} prof__ending;

static inline prof__begun *prof__matching_at(void *items, size_t size, size_t at)
{
    return (prof__begun *)(void *)((char *)items + at * size);
}

/* Forgets all scopes. */
static void prof__matching_reset(prof__matching *m)
{
    m->depth = m->beyond = m->cut_count = 0;
    m->begins = 0;
}

/* Opens a scope. Returns its element, or NULL if there is no space for it. */
static inline prof__begun *prof__matching_begin(prof__matching *m, size_t open_size, uint32_t site, uint32_t name)
{
    prof__begun *begun;
    if (PROF__UNLIKELY(m->depth == m->open_room || m->beyond)) {
        m->beyond++;
        return NULL;
    }
    begun = prof__matching_at(m->open, open_size, m->depth++);
    begun->number = ++m->begins;
    begun->site = site;
    begun->name = name;
    return begun;
}

/* Returns the index of the cut scope of a site that began last, or m->cut_count if there is none. */
static size_t prof__matching_late(const prof__matching *m, size_t cut_size, uint32_t site)
{
    size_t at, found = m->cut_count;
    uint64_t latest = 0;
    for (at = 0; at < m->cut_count; at++) {
        const prof__begun *cut = prof__matching_at(m->cut, cut_size, at);
        if (cut->site != site || cut->number <= latest) continue;
        latest = cut->number;
        found = at;
    }
    return found;
}

/* Finds what an END does, and changes nothing but m->beyond. *at: the index of the scope that ends. */
static inline prof__ending prof__matching_end(prof__matching *m, size_t open_size, size_t cut_size, uint32_t site,
                                              size_t *at)
{
    size_t i = m->depth;
    if (PROF__UNLIKELY(m->beyond)) {
        m->beyond--;
        return PROF__ENDS_BEYOND;
    }
    while (i && prof__matching_at(m->open, open_size, i - 1)->site != site) i--;
    *at = i - 1;
    if (PROF__LIKELY(i)) return PROF__ENDS_OPEN;
    *at = prof__matching_late(m, cut_size, site);
    return *at < m->cut_count ? PROF__ENDS_CUT : m->partial ? PROF__ENDS_BEFORE : PROF__ENDS_NOTHING;
}

/* Finds the innermost open scope of a name, for an END that has no begin of its site. Returns 0 if there is none. */
static int prof__matching_named(const prof__matching *m, size_t open_size, uint32_t name, size_t *at)
{
    size_t i = m->depth;
    while (i && prof__matching_at(m->open, open_size, i - 1)->name != name) i--;
    *at = i - 1;
    return i != 0;
}

/* Puts the open scopes from `from` on into the list of those that are cut; the caller takes them off the stack. Returns
   the index of the first of them in the list, the outermost; m->cut_count if there is no space for so many. If the list
   is full, its older half is forgotten. */
static size_t prof__matching_cut(prof__matching *m, size_t open_size, size_t cut_size, size_t from)
{
    size_t half = m->cut_room / 2, count = m->depth - from, first, i;
    if (!count) return m->cut_count;
    if (!m->cut || count > half) {
        m->partial = 0;
        return m->cut_count;
    }
    if (m->cut_count + count > m->cut_room) {
        m->partial = 0;
        first = m->cut_count > half ? m->cut_count - half : 0;
        memmove(m->cut, prof__matching_at(m->cut, cut_size, m->cut_count - first), first * cut_size);
        m->cut_count = first;
    }
    first = m->cut_count;
    for (i = from; i < m->depth; i++)
        *prof__matching_at(m->cut, cut_size, m->cut_count++) = *prof__matching_at(m->open, open_size, i);
    return first;
}

/* Notes that a cut scope has ended. */
static void prof__matching_took(prof__matching *m, size_t cut_size, size_t at)
{
    prof__matching_at(m->cut, cut_size, at)->site = ~0u;
    while (m->cut_count && prof__matching_at(m->cut, cut_size, m->cut_count - 1)->site == ~0u) m->cut_count--;
}

/*-- THE READER, FOR THE RECORDER -----------------------------------------------------------------------------------*/

#ifndef PROF_FREESTANDING
struct prof__aggregated;
struct prof__follow;
struct prof__stat_row;

typedef struct prof__reader_hooks {
    prof_status (*write_live)(const char *path, const prof_writer *writer);
    const prof_writer *csv, *summary; /* NULL: there is no reader */
    prof_status (*follow_make)(prof__session *s, const prof_config *config);
    int (*follow_step)(prof__session *s); /* does pending work; returns 1 if there was any */
    void (*follow_free)(struct prof__follow *f);
    prof_status (*save_arm)(const prof__session *s);
    int (*save_step)(prof__session *s);
    void (*save_disarm)(void); /* async-signal-safe */
    prof_status (*save_request)(void); /* the same */
    prof_status (*save_last)(const char *path, uint64_t last_ns);
    prof_status (*trace_live)(prof_trace **trace); /* for another instance, like the next one */
    prof_status (*trace_write)(const prof_trace *trace, const char *path, const char *extension);
    /* Functions for the statistics that a follower keeps. */
    prof_status (*aggregated_take)(struct prof__aggregated *stats, int reset);
    prof_status (*aggregated_give)(struct prof__aggregated *stats, prof_trace *trace);
    void (*aggregated_free)(struct prof__aggregated *stats);
    void (*aggregated_free_rows)(struct prof__stat_row *rows, size_t count);
} prof__reader_hooks;

#ifdef PROF__READER
/* The reader follows in this file. So the table is a constant: a constructor of the program may start a session before
   any constructor of prof has run, and a compiler that sees the table can call its functions directly. */
#define PROF__READER_KNOWN 1
static prof_status prof__live_write(const char *path, const prof_writer *writer);
static prof_status prof__csv_default(const prof_trace *trace, const char *path);
static prof_status prof__summary_default(const prof_trace *trace, const char *path);
static prof_status prof__follow_make(prof__session *s, const prof_config *config);
static int prof__follow_step(prof__session *s);
static void prof__follow_free(struct prof__follow *f);
static prof_status prof__save_arm(const prof__session *s);
static int prof__save_step(prof__session *s);
static void prof__save_disarm(void);
static prof_status prof__save_asked(void);
static prof_status prof__save_last(const char *path, uint64_t last_ns);
static prof_status prof__trace_live_own(prof_trace **trace);
static prof_status prof__trace_write_own(const prof_trace *trace, const char *path, const char *extension);
static prof_status prof__aggregated_take(struct prof__aggregated *stats, int reset);
static prof_status prof__aggregated_give(struct prof__aggregated *stats, prof_trace *trace);
static void prof__aggregated_free(struct prof__aggregated *stats);
static void prof__aggregated_free_rows(struct prof__stat_row *rows, size_t count);

static const prof_writer prof__csv_writer = {".csv", NULL, NULL, prof__csv_default, NULL};
static const prof_writer prof__summary_writer = {".txt", NULL, NULL, prof__summary_default, NULL};
static const prof__reader_hooks prof__reader_table = {
    prof__live_write,      &prof__csv_writer,       &prof__summary_writer,  prof__follow_make,
    prof__follow_step,     prof__follow_free,       prof__save_arm,         prof__save_step,
    prof__save_disarm,     prof__save_asked,        prof__save_last,        prof__trace_live_own,
    prof__trace_write_own, prof__aggregated_take,   prof__aggregated_give,  prof__aggregated_free,
    prof__aggregated_free_rows,
};
static inline const prof__reader_hooks *prof__reader(void) { return &prof__reader_table; }
#else
/* There is no reader in this file, or it comes later. */
static prof_status prof__no_reader(const char *what)
{
#ifdef PROF_MINIMAL
    return prof__left_out(what, "PROF_MINIMAL");
#else
    return prof__fail(PROF_UNSUPPORTED, "%s: this program has no reader: include prof_read.h in the file with "
                      "PROF_IMPLEMENTATION", what);
#endif
}
static prof_status prof__none_write(const char *path, const prof_writer *writer)
{
    (void)writer;
    return prof__no_reader(path);
}
static prof_status prof__none_follow(prof__session *s, const prof_config *config)
{
    (void)s;
    if (prof__mode_counts((uint32_t)config->mode)) return prof__no_reader("mode stats");
    if (config->save || config->save_over || config->save_signal) return prof__no_reader("save");
    return PROF_OK;
}
static int prof__none_step(prof__session *s) { return (void)s, 0; }
static void prof__none_free(struct prof__follow *f) { (void)f; }
static prof_status prof__none_arm(const prof__session *s) { return (void)s, PROF_OK; }
static void prof__none_disarm(void) {}
static prof_status prof__none_request(void) { return prof__no_reader("prof_save_request"); }
static prof_status prof__none_last(const char *path, uint64_t last_ns)
{
    (void)path, (void)last_ns;
    return prof__no_reader("prof_save_last_ns");
}
static prof_status prof__none_live(prof_trace **trace)
{
    *trace = NULL;
    return prof__no_reader("prof_trace_open_live");
}
static prof_status prof__none_trace(const prof_trace *trace, const char *path, const char *extension)
{
    (void)trace, (void)extension;
    return prof__no_reader(path);
}

/* A trace that is made before main has no statistics of a session. */
static prof_status prof__none_take(struct prof__aggregated *stats, int reset)
{
    return (void)stats, (void)reset, PROF_OK;
}
static prof_status prof__none_give(struct prof__aggregated *stats, prof_trace *trace)
{
    return (void)stats, (void)trace, PROF_OK;
}
static void prof__none_free_stats(struct prof__aggregated *stats) { (void)stats; }
static void prof__none_free_rows(struct prof__stat_row *rows, size_t count) { (void)rows, (void)count; }

static const prof__reader_hooks prof__reader_none = {
    prof__none_write,   NULL,            NULL,            prof__none_follow, prof__none_step,  prof__none_free,
    prof__none_arm,     prof__none_step, prof__none_disarm, prof__none_request, prof__none_last, prof__none_live,
    prof__none_trace,   prof__none_take, prof__none_give, prof__none_free_stats, prof__none_free_rows,
};
#ifdef PROF_MINIMAL
static inline const prof__reader_hooks *prof__reader(void) { return &prof__reader_none; }
#else
static const prof__reader_hooks *prof__reader_now = &prof__reader_none; /* prof_read.h that comes later sets it */
static const prof__reader_hooks *prof__reader(void) { return prof__reader_now; }
#endif
#endif

PROF_DEF prof_status prof_save_last_ns(const char *path, uint64_t last_ns)
{
    PROF__FORWARD(prof_save_last_ns, (path, last_ns));
    return prof__reader()->save_last(path, last_ns);
}

PROF_DEF prof_status prof_save_request(void)
{
    PROF__FORWARD(prof_save_request, ());
    return prof__reader()->save_request();
}

/* What another copy calls, which forwards to this one. */
static prof_status prof__trace_live_here(prof_trace **trace) { return prof__reader()->trace_live(trace); }
static prof_status prof__trace_write_here(const prof_trace *trace, const char *path, const char *extension)
{
    return prof__reader()->trace_write(trace, path, extension);
}
#endif

/* 1: the environment started the session, so prof prints messages on stderr. */
static PROF__UNUSED int prof__autostarted;
static const char *prof__environment(const char *name)
{
#if defined(PROF__LATE) && defined(__GLIBC__)
    return prof__libc_secure_getenv(name);
#elif defined(__GLIBC__) && defined(_GNU_SOURCE)
    return secure_getenv(name); /* a set-user-id program must not write files because its caller asks for it */
#elif defined(_WIN32)
    return prof__windows_variable(name);
#else
    return getenv(name);
#endif
}

/* Writes the file name of the program, or "program" if it is unknown. */
static void prof__program_name(char *name, size_t size)
{
    char path[1024];
    long n = 0;
#ifdef _WIN32
    WCHAR wide[PROF__WIDE_SIZE];
    /* N is -1 on failure. */
    if (GetModuleFileNameW(NULL, wide, PROF__WIDE_SIZE)) n = prof__narrow(wide, path, sizeof path) - 1;
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

/* Stores what aligns recordings of one machine. CLOCK_MONOTONIC stops while the machine is suspended, and starts
   elsewhere in a different time namespace. */
static void prof__machine_time(prof__header *h)
{
#if defined(__linux__) && !defined(PROF_MINIMAL)
    struct stat about;
    uint64_t now = prof__clock_ns(CLOCK_BOOTTIME), since = prof__monotonic() - h->first.monotonic_ns;
    if (now > since) h->since_boot_ns = now - since;
    if (!stat("/proc/self/ns/time", &about)) h->time_namespace = (uint64_t)about.st_ino;
#else
    (void)h;
#endif
}

/* Reads a pair of clocks for an image that another process records. Returns 0 if that image was not recorded on this
   machine since its last boot. */
static int prof__pair_now(uint32_t clock, const char *boot_id, prof__pair *out)
{
    char here[40];
    prof__boot_id(here, sizeof here);
    if (!here[0] || !prof__equal(here, boot_id)) return 0;
    if (clock != PROF_CLOCK_MONOTONIC && !prof__counter_usable()) return 0;
    prof__pair_take_well(clock, 0, out);
    return 1;
}

/* Returns the part of a path that messages show: the last 100 bytes. */
static const char *prof__path_end(const char *path)
{
    size_t length = prof__length(path);
    return path + (length > 100 ? length - 100 : 0);
}

#ifndef _WIN32
/* Creates a thread with all signals blocked. Returns 0 or an errno. */
static int prof__thread_create(pthread_t *thread, void *(*main)(void *user), void *user)
{
    PROF__CALM(); /* the new thread inherits this setting and the signal mask */
    prof__signals signals;
    prof__signals_block(&signals);
    int error = pthread_create(thread, NULL, main, user);
    prof__signals_restore(&signals);
    return error;
}
#endif

#ifdef PROF__RENAMES
/* Returns the seccomp mode of the process (Linux); 0: no sandbox. */
static int prof__sandbox(void)
{
#ifdef PR_GET_SECCOMP
    return prctl(PR_GET_SECCOMP, 0, 0, 0, 0);
#else
    return 0;
#endif
}
#else
static int prof__sandbox(void) { return 0; }
#endif
#endif
/*-- MEMORY ----------------------------------------------------------------------------------------------- >>memory --
   An image lives in plain memory, in a mapped file, or in an array of the program. Recording never writes to a page for
   which the disk may have no space: the file's blocks and pages are reserved before a thread needs them, by
   prof__chunks_ready(), or all of them here on systems that cannot reserve a part. */

#define PROF__MIN_IMAGE (2u << 10) /* bytes; small enough for microcontrollers */
#define PROF__SMALL_IMAGE (16u << 10)
#define PROF__MIN_BUFFER (128u << 10)
#ifdef __EMSCRIPTEN__ /* Emscripten's heap has 16 MiB in all unless the program asks for more */
#define PROF__DEFAULT_BUFFER (4u << 20)
#define PROF__MORE_HEAP ": link with -sALLOW_MEMORY_GROWTH or a larger -sINITIAL_MEMORY"
#else
#define PROF__MORE_HEAP ""
#define PROF__DEFAULT_BUFFER (16u << 20)
#endif
#define PROF__DEFAULT_LEVEL 2
static int prof__level_of(const prof_config *config)
{
    return !config->level ? PROF__DEFAULT_LEVEL : config->level < 0 ? 0 : config->level;
}
#define PROF__MAX_WAIT 10000000000u
#define PROF__MIN_PERIOD 10000000u
#define PROF__MAX_PERIOD 864000000000000u /* ten days; a longer period in text was probably meant in nanoseconds */

static prof__extent prof__round(prof__extent value, prof__extent unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Returns where the chunks begin in an image of size bytes. *meta: bytes of meta. *index: slots of meta's index, more
   than meta can have records. */
static prof__extent prof__layout_head(prof__extent size, prof__extent *meta, prof__extent *index)
{
    *meta = prof__round(size / 16, 4096);
    if (*meta > 8u << 20) *meta = 8u << 20;
    if (*meta * 4 > size) *meta = size / 4 / 64 * 64;
    uint32_t max = size < PROF__SMALL_IMAGE ? 12 : 8; /* bytes of meta for each slot of the index */
    if (size < 4096) *meta = size / 5 / 64 * 64;
    prof__extent head = prof__round(sizeof(prof__header), 64);
    if (*meta > 4096) *meta -= head; /* header and meta then fill whole pages, and chunks begin at a page. So do the
                                        parts of a split slot. A power loss keeps or loses pages as a whole */
    for (*index = 32; *index * max < *meta;) *index *= 2;
    return prof__round(head + *meta + *index * 4, !PROF__MARKED || size < 65536 ? 64 : 4096);
}

#ifndef PROF_FREESTANDING
#ifdef _WIN32
/* Gives up the sidecar file, because of this error; the image will be in plain memory. */
static void prof__file_forget(prof__session *s, int error)
{
    if (s->stream.opened) {
        CloseHandle(s->stream.handle);
        prof__file_remove(s->file.live_path);
    }
    s->stream.opened = s->file.taken = 0;
    s->file.live_path = NULL;
    s->file.sidecar_error = error;
}

/* Creates the image's file, and opens it so that no other process may write to it: by that, other recorders see that
   the file is in use. Returns 0 or the system's error. */
static DWORD prof__file_create(prof__session *s, DWORD how)
{
    HANDLE file =
        prof__windows_open(s->file.live_path, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE, how);
    if (file == INVALID_HANDLE_VALUE) return GetLastError();
    s->stream.handle = file;
    s->stream.opened = s->file.taken = 1;
    return 0;
}

/* Returns 0 if the disk has no room for a file of this size. */
static int prof__disk_has(const char *path, uint64_t size)
{
    WCHAR wide[PROF__WIDE_SIZE];
    char folder[1024];
    ULARGE_INTEGER room;
    if (!prof__folder_of(path, folder, sizeof folder) || !prof__wide(folder[0] ? folder : ".", wide)) return 1;
    return !GetDiskFreeSpaceExW(wide, &room, NULL, NULL) || room.QuadPart >= size; /* or the free space is unknown */
}

/* Maps the image's file. Creates it first if choosing the output's name has not done so. Returns 0 or the system's
   error. */
static DWORD prof__memory_map(prof__session *s, size_t size)
{
    DWORD error = s->stream.opened ? 0 : prof__file_create(s, CREATE_ALWAYS);
    if (!error && PROF__SIDECAR(s->file.sidecar) && !prof__disk_has(s->file.live_path, (uint64_t)size * 4))
        return ERROR_DISK_FULL;
    if (error) return error;
    HANDLE map = CreateFileMappingA(s->stream.handle, NULL, PAGE_READWRITE, (DWORD)((uint64_t)size >> 32), (DWORD)size,
                                    NULL);
    if (map) s->file.mapping = MapViewOfFile(map, FILE_MAP_ALL_ACCESS, 0, 0, size);
    error = s->file.mapping ? 0 : GetLastError();
    if (map) CloseHandle(map);
    return error;
}

static prof_status prof__memory_take(prof__session *s, size_t size)
{
    DWORD error = s->file.live_path ? prof__memory_map(s, size) : 0;
    if (error && PROF__SIDECAR(s->file.sidecar)) prof__file_forget(s, prof__windows_errno(error));
    else if (error) return prof__fail(PROF_IO, "%s: cannot be mapped (error %lu)", s->file.live_path, error);
    if (!s->file.live_path) s->file.mapping = VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (!s->file.mapping)
        return prof__fail(PROF_NO_MEMORY, "no memory for a buffer of %llu bytes", (unsigned long long)size);
    s->file.private_memory = !s->file.live_path;
    s->file.mapping_size = size;
    s->ring.ready_chunks = PROF__ALL_READY;
    for (size_t i = 0; i < size; i += 4096) ((volatile char *)s->file.mapping)[i] = 0;
    return PROF_OK;
}

/* Moves the image from its file to memory, because Windows does not let a mapped file be removed. Returns 0 if that is
   not possible, because a thread may still point into the image. */
static int prof__memory_move(prof__session *s)
{
    char *to = (char *)VirtualAlloc(NULL, s->file.mapping_size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (!to) return 0;
    uint32_t write_lock = prof__state_lock();
    prof__thread *self = PROF__SELF();
    if (self->session == s) prof__detach(self);
    void *from = s->file.mapping;
    int moves = !s->readers && !__atomic_load_n(&s->attached, __ATOMIC_ACQUIRE);
    if (moves) {
        ptrdiff_t by = to - (char *)from;
        memcpy(to, from, s->file.mapping_size);
        s->header = (prof__header *)(void *)to;
        s->meta = (uint64_t *)(void *)((char *)s->meta + by);
        s->index = (uint32_t *)(void *)((char *)s->index + by);
        s->chunks += by;
        s->file.mapping = to;
        s->file.private_memory = 1;
    }
    prof__state_unlock(write_lock);
    if (moves) UnmapViewOfFile(from);
    else VirtualFree(to, 0, MEM_RELEASE);
    return moves;
}

static void prof__memory_free(prof__session *s)
{
    if (s->file.mapping && s->file.private_memory) VirtualFree(s->file.mapping, 0, MEM_RELEASE);
    else if (s->file.mapping) UnmapViewOfFile(s->file.mapping);
    if (s->file.to_remove) CloseHandle(s->stream.handle); /* closing the handle removes the file */
}
static void prof__memory_retire(prof__session *s) { (void)s; }
#else
/* Locks a file that this process records into. Returns 1 if another process holds the lock. The lock ends with the last
   descriptor of the file, and so with the process: exec() closes the descriptor, and children of fork() close theirs.
   On a file system without locks, every file counts as not locked. */
static int prof__file_lock(int file)
{
#ifdef __wasi__ /* WASI has no file locks */
    (void)file;
    return 0;
#else
    int failed, tries = 0;
    do failed = flock(file, LOCK_EX | LOCK_NB);
    while (failed && prof__interrupted(&tries));
    return failed && errno == EWOULDBLOCK;
#endif
}

static void prof__file_unlock(int file)
{
#ifdef __wasi__
    (void)file;
#else
    flock(file, LOCK_UN);
#endif
}

/* Keeps the descriptor of the mapped file, and with it the file's lock. */
static void prof__file_keep(prof__session *s, int file)
{
    prof__about about;
#ifdef F_DUPFD_CLOEXEC
    /* If the program closes a high descriptor number, the number is not soon reused. */
    int high = fcntl(file, F_DUPFD_CLOEXEC, 200);
#else
    int high = -1;
#endif
    s->stream.file = high < 0 ? file : high;
    s->stream.opened = 1;
    if (high >= 0) close(file);
    if (s->stream.inode || prof__fstat(s->stream.file, &about)) return;
    s->stream.device = (uint64_t)about.st_dev;
    s->stream.inode = (uint64_t)about.st_ino;
}

/* Makes the file size bytes large and reserves all its blocks. Returns 0; EOPNOTSUPP or EINVAL if the system cannot
   reserve blocks; or errno. */
static int prof__file_allocate(int file, size_t size)
{
#if defined(__APPLE__)
    fstore_t ask = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, (prof__offset)size, 0};
    if (fcntl(file, F_PREALLOCATE, &ask) < 0) return errno == ENOSPC ? ENOSPC : EOPNOTSUPP;
    return ftruncate(file, (prof__offset)size) ? errno : 0;
#elif defined(__OpenBSD__)
    (void)file;
    (void)size;
    return EOPNOTSUPP;
#else
    return posix_fallocate(file, 0, (prof__offset)size);
#endif
}

/* Makes the file size bytes large and reserves all its blocks if the system can. If it cannot, the file is sparse, and
   *sparse is 1. Returns 0 or errno. */
static int prof__file_reserve(int file, size_t size, int *sparse)
{
    prof__signals signals;
    /* Any signal makes the reservation fail, and a profiler's timer signal always arrives during it. */
    prof__signals_block(&signals);
    int error = prof__file_allocate(file, size);
    prof__signals_restore(&signals);
    *sparse = error == EOPNOTSUPP || error == EINVAL;
    if (*sparse) error = ftruncate(file, (prof__offset)size) ? errno : 0;
    return error;
}

/* Returns 1 if the disk has enough space for the file. A sidecar file may take at most a quarter of the free space,
   because the output needs some, too; if it would take more, the image is in memory. */
static int prof__file_fits(const prof__session *s, int file, size_t size)
{
    struct statvfs about;
    (void)s;
    if (!PROF__SIDECAR(s->file.sidecar)) return 1;
    /* EOVERFLOW: the disk has more blocks than 32 bits can count. */
    if (fstatvfs(file, &about)) return errno == EOVERFLOW;
    return (uint64_t)about.f_bavail * about.f_frsize / 4 >= size;
}

#ifdef __linux__
/* Returns 1 if only the first parts of meta and of its index (PROF__META_FIRST, PROF__INDEX_FIRST) are made ready at
   the start, and grow later. Returns 0 if both are made ready as a whole: in a small image, or if all blocks are
   reserved. */
static int prof__meta_starts_small(const prof__session *s, uint64_t size, uint64_t chunks)
{
#ifdef PROF__META_GROWS
    return !s->file.whole && chunks >= PROF__META_FIRST + PROF__INDEX_FIRST && chunks + PROF_CHUNK_SIZE <= size;
#else
    return (void)s, (void)size, (void)chunks, 0;
#endif
}

/* Reserves the first blocks of a new file and makes its pages present; for memory (file is -1), only the pages. These
   are the beginning of meta, the end of meta's index, and the first chunk. Called before anybody records. Returns 0;
   EINVAL if the system has no such call; or errno. */
static int prof__map_begin(const prof__session *s, int file, char *map, uint64_t size)
{
    uint64_t meta, index, chunks = prof__layout_head(size, &meta, &index);
    uint64_t end = chunks + PROF_CHUNK_SIZE < size ? chunks + PROF_CHUNK_SIZE : size, head = s->file.whole ? size : end;
    if (prof__meta_starts_small(s, size, chunks)) {
        uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), from = (chunks - PROF__INDEX_FIRST) / page * page;
        head = PROF__META_FIRST;
        int error = file < 0 ? 0 : prof__blocks_reserve(file, from, end - from);
        if (error && error != EOPNOTSUPP) return error;
        if (prof__populate(map + from, (size_t)(end - from))) return errno == EFAULT && file >= 0 ? ENOSPC : EINVAL;
    }
    int error = file < 0 ? 0 : prof__blocks_reserve(file, 0, head);
    if (error && error != EOPNOTSUPP) return error;
    if (!error && s->file.whole) head = end; /* all blocks are reserved */
    return !prof__populate(map, (size_t)head) ? 0 : errno == EFAULT && file >= 0 ? ENOSPC : EINVAL;
}
#endif

/* Makes the file size bytes large and maps it, or maps memory if file is -1. Only for systems that can reserve blocks
   and pages later, before a thread needs them; on others *at stays NULL. Returns 0 or errno. */
static int prof__map_ahead(prof__session *s, int file, size_t size, void **at)
{
    *at = NULL;
#ifdef __linux__
    if (file >= 0 && ftruncate(file, (prof__offset)size)) return errno;
    void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, file, 0);
    if (map == MAP_FAILED) return errno;
    /* MADV_RANDOM: otherwise the kernel reads MiBs of zeros around each page of the new file. */
    if (file >= 0) madvise(map, size, 1);
    int error = prof__map_begin(s, file, (char *)map, size);
    if (!error) {
        *at = map;
        s->ring.ready_chunks = s->ring.claimed_chunks = 0;
        return 0;
    }
    munmap(map, size);
    return error == EINVAL ? 0 : error;
#else
    (void)s, (void)file, (void)size;
    return 0;
#endif
}

/* Makes the file size bytes large and maps it, or maps memory if file is -1, with all blocks and pages ready at once.
   Returns 0 or errno. */
static int prof__map_whole(prof__session *s, int file, size_t size, void **at)
{
    int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, sparse = 0;
    int error = file < 0 ? 0 : prof__file_reserve(file, size, &sparse);
    if (error || (sparse && PROF__SIDECAR(s->file.sidecar))) return error ? error : EOPNOTSUPP;
#ifdef MAP_POPULATE
    flags |= MAP_POPULATE;
#endif
#ifdef __EMSCRIPTEN__
    if (!prof__heap_has(size)) return ENOMEM;
#endif
    void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, file, 0);
    if (map == MAP_FAILED) return errno;
    *at = map;
    s->ring.ready_chunks = PROF__ALL_READY;
    for (size_t i = 0; i < size; i += 4096) ((volatile char *)map)[i] = 0;
    return 0;
}

/* Returns 0 if the mapping is only a copy of the file, because the system imitates shared mappings (Emscripten). *at: a
   word of the mapping, zero before and after. Async-signal-safe. */
static int prof__map_shared(int file, volatile uint64_t *at)
{
    uint64_t probe = 0x6D61702070726F62u, there = 0;
    *at = probe;
    ssize_t got = pread(file, &there, sizeof there, 0);
    *at = 0;
    return got != (ssize_t)sizeof there || there == probe;
}

/* Returns 1 if this error of mmap() means that the file system has no shared mappings. */
static int prof__map_missing(int error)
{
    return error == ENODEV || error == EINVAL || error == ENOSYS || error == EOPNOTSUPP;
}

/* Writes a path of an open file that needs no name: "/proc/self/fd/3" for descriptor 3. `to` has 32 bytes. */
static void prof__file_link_name(int file, char *to)
{
    char number[24];
    prof__number_text(number, (uint64_t)file);
    prof__text_copy(to, 32, "/proc/self/fd/");
    prof__text_add(to, 32, number);
}

/* Opens a new file without a name in the directory of live_path. The file disappears if the process is killed before
   the file gets a name. On systems without such files, creates a file named part_path. Returns -1 and errno on
   failure. */
static int prof__file_make(prof__session *s)
{
    s->file.unnamed = 0;
#if defined(O_TMPFILE) && defined(__linux__)
    char path[sizeof s->stream.path], *end = path;
    prof__text_copy(path, sizeof path, s->file.live_path);
    for (char *c = path; *c; ++c)
        if (*c == '/') end = c + 1;
    prof__text_copy(end, 2, ".");
    int file = open(path, O_TMPFILE | O_RDWR | PROF__O_FILE, PROF__FILE_MODE);
    if (file >= 0) {
        prof__file_link_name(file, path);
        s->file.unnamed = !access(path, F_OK); /* without /proc the file could not get a name later */
        if (s->file.unnamed) return file;
        close(file);
    }
#endif
    unlink(s->file.part_path);
    return open(s->file.part_path, O_RDWR | O_CREAT | O_EXCL | PROF__O_FILE, PROF__FILE_MODE);
}

/* Gives the file one more name, which no other file may have. Returns 0 or errno. */
static int prof__file_link(const prof__session *s, const char *name)
{
    char path[32];
    if (s->file.unnamed) prof__file_link_name(s->stream.file, path);
    return linkat(AT_FDCWD, s->file.unnamed ? path : s->file.part_path, AT_FDCWD, name, AT_SYMLINK_FOLLOW) ? errno : 0;
}

/* Gives the file the name part_path if it has no name yet. Returns 0 or errno. */
static int prof__file_name(prof__session *s)
{
    if (s->file.unnamed) unlink(s->file.part_path);
    int error = s->file.unnamed ? prof__file_link(s, s->file.part_path) : 0;
    if (!error) s->file.unnamed = 0;
    return error;
}

/* Maps memory for the image, or the image's file if there is one. The file has the name part_path, or none, until the
   start has succeeded; so a process that still records into an older file of the final name keeps that file. Returns 0
   or the system's error. Async-signal-safe, because the child of a fork may call it in a signal handler. */
static int prof__memory_map(prof__session *s, size_t size)
{
    int file = -1, error = 0;
    void *at = NULL;
    if (s->file.live_path) {
        char ending[40] = ".";
        prof__number_text(ending + 1, prof__process_id());
        prof__text_add(ending, sizeof ending, ".part");
        prof__path_ending(s->file.live_path, prof__length(s->file.live_path), ending, PROF__NAME_SHORT,
                          s->file.part_path, sizeof s->file.part_path);
        file = prof__file_make(s);
        if (file < 0) return errno;
        prof__file_lock(file);
        if (!prof__file_fits(s, file, size)) error = ENOSPC;
    }
    if (!error) error = prof__map_ahead(s, file, size, &at);
    if (!error && !at) error = prof__map_whole(s, file, size, &at);
    /* Without shared mappings the image is in memory, and is copied to the file at the end. */
    if (file >= 0 && !PROF__SIDECAR(s->file.sidecar) && prof__map_missing(error)) {
        s->file.sidecar_error = error;
        error = ftruncate(file, (prof__offset)size) ? errno : prof__map_whole(s, -1, size, &at);
    }
    if (error) {
        if (file >= 0) close(file);
        return error;
    }
    if (file >= 0) s->file.apart = !prof__map_shared(file, (volatile uint64_t *)at);
    if (file >= 0) prof__file_keep(s, file);
    s->file.mapping = at;
    s->file.mapping_size = size;
#if defined(MADV_WIPEONFORK) && !defined(__wasi__)
    /* A child of fork() gets zeros, not a copy: copying on write would cost the parent page faults. */
    if (file < 0) madvise(at, size, MADV_WIPEONFORK);
#endif
    return 0;
}

/* Gives up the sidecar file, because it could not be created. If it is mapped already, the mapping stays usable as
   memory. */
static void prof__file_forget(prof__session *s, int error)
{
    if (s->file.part_path[0]) unlink(s->file.part_path);
    s->file.part_path[0] = 0;
    s->file.live_path = NULL;
    s->file.sidecar_error = error;
}

/* Maps the image as prof__memory_map() does, but in memory if the sidecar file cannot be created. Returns 0 or
   errno. */
static int prof__memory_get(prof__session *s, size_t size)
{
    int error = prof__memory_map(s, size);
    if (!error || !PROF__SIDECAR(s->file.sidecar && s->file.live_path)) return error;
    prof__file_forget(s, error);
    return prof__memory_map(s, size);
}

/* Returns 0 if the disk has no room for a file of this size. */
static int prof__disk_has(const char *path, uint64_t size)
{
    char folder[1024];
    struct statvfs disk;
    if (!prof__folder_of(path, folder, sizeof folder)) return 1;
    if (statvfs(folder, &disk) || !disk.f_frsize || !disk.f_blocks) return 1; /* the free space is unknown */
    return (uint64_t)disk.f_bavail >= size / disk.f_frsize;
}

static prof_status prof__memory_take(prof__session *s, size_t size)
{
    prof__about about;
    if (s->file.live_path && !PROF__SIDECAR(s->file.sidecar) && !prof__stat(s->file.live_path, &about) &&
        !S_ISREG(about.st_mode))
        return prof__fail(PROF_IO, "%s: not a regular file", s->file.live_path);
    if (s->file.live_path && !PROF__SIDECAR(s->file.sidecar) && !prof__disk_has(s->file.live_path, size))
        return prof__fail(PROF_IO, "%s: the disk has no room for %llu bytes: choose a smaller buffer, or another disk",
                          s->file.live_path, (unsigned long long)size);
    int error = prof__memory_get(s, size);
    if (!error) return PROF_OK;
    if (!s->file.live_path || error == ENOMEM)
        return prof__fail(PROF_NO_MEMORY, "a buffer of %llu bytes: %s%s", (unsigned long long)size, strerror(error),
                          PROF__MORE_HEAP);
    return prof__fail(PROF_IO, "%s: %llu bytes: %s", s->file.live_path, (unsigned long long)size, strerror(error));
}
static void prof__memory_free(prof__session *s)
{
    if (s->file.mapping) munmap(s->file.mapping, s->file.mapping_size);
    if (s->file.part_path[0]) unlink(s->file.part_path);
}
/* Replaces the image by empty pages, which cost no memory. They stay mapped, because a thread may be in the middle of a
   write to the image. */
static void prof__memory_retire(prof__session *s)
{
    if (s->file.mapping)
        mmap(s->file.mapping, s->file.mapping_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0);
}
#endif
#endif

/* Divides size bytes at memory, which are all zero, into header, meta, index and chunks. */
static prof_status prof__layout(prof__session *s, void *memory, prof__extent size)
{
    prof__extent meta, index, chunks_at = prof__layout_head(size, &meta, &index);
    prof__extent start = prof__round(sizeof(prof__header), 64), chunk = PROF_CHUNK_SIZE;
    while (chunk > 1024 && (size - chunks_at) / chunk < 8) chunk /= 2;
    while (chunk > 256 && (size - chunks_at) / chunk < 4) chunk /= 2;
    if (chunks_at + 2 * chunk > size) return prof__fail(PROF_INVALID_ARGUMENT, "the buffer is too small");
    prof__header *h = (prof__header *)memory;
    s->header = h;
    s->meta = (uint64_t *)(void *)((char *)memory + start);
    s->index = (uint32_t *)(void *)((char *)memory + start + meta);
    s->chunks = (char *)memory + chunks_at;
    s->meta_words = s->meta_ready = meta / 8;
    s->index_mask = (uint32_t)index - 1;
    s->chunk_size = (uint32_t)chunk;
    s->chunk_words = s->text_words = (chunk - (prof__extent)sizeof(prof__chunk)) / 8 - PROF__MARKED;
    s->ring.depth = s->ring.deepest = 0;
#ifndef PROF__WHOLE_SLOTS
    while (chunk >> (s->ring.deepest + 1) >= PROF__FORM_LEAST && s->ring.deepest < 15) ++s->ring.deepest;
#endif
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
    if (!s->file.mapping) s->ring.ready_chunks = PROF__ALL_READY;
#ifdef PROF__META_GROWS
    if (!s->ring.ready_chunks && prof__meta_starts_small(s, size, chunks_at)) {
        s->meta_ready = (PROF__META_FIRST - start) / 8;
        s->index += index - PROF__INDEX_FIRST / 4;
        s->index_mask = PROF__INDEX_FIRST / 4 - 1;
    }
#endif
    s->ring.pieces = (uint32_t)s->chunk_count;
    s->ring.free_chunks = (int32_t)s->ring.pieces - 1;
    s->ring.spare_chunk = 1;
    return PROF_OK;
}

/* Completes the header of an image that prof__layout() has divided. Afterwards the image is valid. */
static void prof__image_begin(prof__session *s)
{
    static prof_site no_room = {0, "(no room for more call sites)", "", "", "", 0, 0, 0, PROF__KIND_BEGIN, 0, 0, 0};
    s->site_without_room = prof__meta_site(s, &no_room);
    s->header->state = PROF__RUNNING;
    prof__copy(s->header->magic, PROF__MAGIC, sizeof s->header->magic);
}

#ifdef PROF__RENAMES
/* Finds the last TRACK record in a chunk, which names the thread that owns the chunk. Returns 0 if there is none, or if
   the thread's name did not come from the system. */
static int prof__owner_track(const prof__session *s, prof__chunk *chunk, uint64_t track[3])
{
    const uint64_t *words = prof__chunk_first(chunk);
    uint64_t sequence = PROF__ACQUIRE(&chunk->sequence), owner = 0, head;
    size_t at = 0, length;
    track[0] = track[1] = track[2] = 0;
    if (!sequence || PROF__ACQUIRE(&chunk->state) != PROF__CHUNK_OWNED) return 0;
    for (; at < s->chunk_words; at += length) {
        head = PROF__ACQUIRE(words + at);
        length = head ? prof__record_length(head, (size_t)(s->chunk_words - at)) : 0;
        if (!length) break;
        if (head >> PROF__KIND_SHIFT != PROF__KIND_TRACK) continue;
        owner = PROF__LOAD(words + at + 2);
        if (head >> 31 & 1) continue; /* names a fiber */
        track[0] = head;
        track[1] = PROF__LOAD(words + at + 1) & PROF__TICK_MASK;
        track[2] = owner;
    }
    if (PROF__ACQUIRE(&chunk->sequence) != sequence) return 0; /* the chunk was reused meanwhile */
    return track[0] & PROF__NAME_OF_SYSTEM && track[2] == owner;
}

/* Asks the system for the names of all threads that record. Does nothing if the program has entered a sandbox since the
   start, because a sandbox may end a program that opens a file. Holds no lock while it asks; the caller keeps the image
   mapped. */
static void prof__names_look(prof__session *s)
{
    PROF__ERRNO_SAVE();
    uint64_t chunks = prof__sandbox() == s->sandbox ? prof__chunks_there(s) : 0;
    for (uint64_t i = 0; i < chunks && i < PROF__LOAD(&s->header->next_chunk); ++i) {
        uint64_t track[3];
        char name[64];
        if (!prof__owner_track(s, (prof__chunk *)(void *)(s->chunks + i * s->chunk_size), track)) continue;
        prof__system_name_of(track[2], name, sizeof name);
        if (!name[0]) continue;
        uint32_t write_lock = prof__state_lock(), id;
        if (prof__state.session == s && prof__state.running && (id = prof__meta_string(s, name)) != 0)
            prof__meta_thread(s, track[1], id, id != (track[0] & (PROF__NAME_OF_SYSTEM - 1)));
        prof__state_unlock(write_lock);
    }
    PROF__ERRNO_RESTORE();
}
#else
static void prof__names_look(prof__session *s) { (void)s; }
#endif

#ifdef PROF_TINY
static prof_status prof__clock_choose(prof__session *s, const prof_config *config)
{
    s->clock = s->header->clock = PROF_CLOCK_COUNTER;
    s->header->tick_hz = config->clock_hz;
    prof__copy(s->header->clock_name, PROF__COUNTER_NAME, sizeof PROF__COUNTER_NAME);
    prof__pair_take_well(s->clock, s->header->tick_hz, &s->header->first);
    s->header->last = s->header->first;
    return PROF_OK;
}
#else
/* Returns the smallest difference between two reads of the clock, in ticks; ~0 if the clock did not move. */
static uint64_t prof__clock_step(const prof__session *s)
{
    uint64_t step = ~0ull;
    /* A slow counter needs more reads until it advances. */
    for (int i = 0; i < 64 || (step == ~0ull && i < 4096); ++i) {
        uint64_t a = prof__now(s, 0), b = prof__now(s, 0);
        if (b > a && b - a < step) step = b - a;
    }
    return step;
}

/* Returns how many ticks an ordered read of the counter takes beyond a plain read. */
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

/* Chooses the clock that config asks for, and stores its name, its rate and the first clock pair in the header. Returns
   an error if this machine does not have the clock. */
static prof_status prof__clock_choose(prof__session *s, const prof_config *config)
{
    int usable = prof__counter_usable();
    s->clock = (uint32_t)config->clock;
    if (s->clock == PROF_CLOCK_AUTO) s->clock = usable ? PROF_CLOCK_COUNTER : PROF_CLOCK_MONOTONIC;
    if (s->clock == PROF_CLOCK_COUNTER && !usable)
        return prof__fail(PROF_UNSUPPORTED, "clock: this machine has no counter that can be trusted: use monotonic");
    if (s->clock == PROF_CLOCK_ORDERED && !(usable & 2))
        return prof__fail(PROF_UNSUPPORTED, "clock: this processor cannot read its counter in order: use counter");
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

/* Sets min_ticks, the threshold of config.min_duration. Scopes compare with it from the first one on, so the rate of
   the clock must be known now. If the system does not state the rate, this function measures it for 0.2 ms. */
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
#endif

#ifndef PROF_FREESTANDING
#ifdef PROF_MINIMAL
/*-- MINIMAL: NO NAMES OF OUTPUTS, NO SAVES -------------------------------------------------------------------------*/

static PROF__UNUSED char prof__start_note[1]; /* PROF_MINIMAL has no notes about the start */
static PROF__UNUSED int prof__output_apart;
#ifdef PROF__INSTANCES
static char prof__output_told[1]; /* other recorders of the process do not learn the output */
#endif

static prof_status prof__rank_find(const char *given, int *several)
{
    (void)given;
    *several = 0;
    return PROF_OK;
}
static void prof__host_name(char *name, size_t size)
{
    (void)size;
    name[0] = 0;
}

/* Makes path absolute, because the program may change its working directory. Returns 0 if the path is too long. */
static int prof__path_absolute(const char *path, char *to, size_t size)
{
    to[0] = 0;
#ifndef _WIN32
    if (path[0] != '/' && (!getcwd(to, size) || !prof__text_add(to, size, "/"))) to[0] = 0;
#endif
    return prof__text_add(to, size, path) || ((to[0] = 0), prof__text_add(to, size, path));
}

#define PROF__PID_ROOM 24 /* bytes for a process id such as ".1234" */

static prof_status prof__output_prepare(prof__session *s, const prof_config *config, int several)
{
    const char *output = config->output;
    size_t length = prof__length(output);
    (void)several;
    if (length < 5 || !prof__equal(output + length - 5, ".prof")) return prof__no_reader(prof__path_end(output));
    if (strchr(output, '%')) return prof__left_out("% in output", "PROF_MINIMAL");
    if (!prof__path_absolute(output, s->file.output, sizeof s->file.output - PROF__PID_ROOM))
        return prof__fail(PROF_INVALID_ARGUMENT, "path too long: %.80s...", output);
    prof__text_copy(s->file.pattern, sizeof s->file.pattern, s->file.output);
    s->file.live_path = s->file.output;
    return PROF_OK;
}

static prof_status prof__output_name(prof__session *s) { return (void)s, PROF_OK; }
static prof_status prof__output_again(const char *what)
{
    return prof__left_out(what, "PROF_MINIMAL");
}
static prof_status prof__output_write(prof__session *s) { return prof__no_reader(s->file.output); }
static void prof__path_unclaim(prof__session *s) { (void)s; }
static void prof__folder_drop(prof__session *s) { (void)s; }
static prof_status prof__in_folder(prof__session *s, prof_status (*work)(prof__session *s, prof_status status),
                                   prof_status status)
{
    return work(s, status);
}

#ifndef _WIN32
static int prof__name_take(prof__session *s) { return (void)s, 0; }
static void prof__name_drop(prof__session *s) { (void)s; }

/* Renames the complete image to its final path. Returns 0 or errno. Async-signal-safe. */
static int prof__name_publish(prof__session *s)
{
    int error = prof__file_name(s);
    if (!error && rename(s->file.part_path, s->file.live_path)) error = errno;
    if (!error) s->file.part_path[0] = 0;
    return error;
}

/* Sets the output of a child of fork(): "run.1234.prof" for the parent's "run.prof". Returns 0 or errno.
   Async-signal-safe. */
static int prof__child_path(prof__session *s)
{
    char number[24];
    size_t length = prof__length(s->file.pattern);
    if (!s->file.output[0]) return 0;
    prof__number_text(number, s->process);
    prof__text_copy(s->file.output, length - 3, s->file.pattern); /* up to and with the dot */
    prof__text_add(s->file.output, sizeof s->file.output, number);
    prof__text_add(s->file.output, sizeof s->file.output, ".prof");
    return 0;
}
#endif

PROF_DEF void prof_writer_register(prof_writer *writer) { (void)writer; } /* PROF_MINIMAL writes only images */
PROF_DEF void prof_writer_unregister(prof_writer *writer) { (void)writer; }
PROF_DEF prof_status prof_fail(prof_status status, const char *text) { return prof__fail(status, "%s", text); }

struct prof__session_status;
static void prof__session_status_take(struct prof__session_status *look) { (void)look; }
PROF_DEF prof_status prof_save(const char *path)
{
    (void)path;
    return prof__left_out("prof_save", "PROF_MINIMAL");
}
#else
/*-- jobs --*/

/* Environment variables in which launchers name the job. The first one that is set counts. */
static const char *const prof__job_ids[] = {
    "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "COBALT_JOBID", "JOB_ID", /* JOB_ID: Grid Engine */
    "TORCHELASTIC_RUN_ID", "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", NULL};
static const char *const prof__job_steps[] = {"SLURM_STEP_ID", NULL};
static const char *const prof__job_tasks[] = {"SLURM_ARRAY_TASK_ID", "PBS_ARRAY_INDEX", "PBS_ARRAYID", "LSB_JOBINDEX",
                                              "SGE_TASK_ID", NULL};
static const char *const prof__job_locals[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                               "MV2_COMM_WORLD_LOCAL_RANK", "PALS_LOCAL_RANKID", "FLUX_TASK_LOCAL_ID",
                                               "LOCAL_RANK", "SLURM_LOCALID", NULL};

/* Copies the first of the variables that has a value. Replaces characters that file names cannot have by
   underscores. */
static void prof__job_take(const char *const *variables, char *to, size_t size)
{
    to[0] = 0;
    for (; *variables && !to[0]; ++variables) {
        const char *value = prof__environment(*variables);
        if (!value || prof__equal(value, "none") || prof__equal(value, "undefined")) continue;
        prof__text_copy(to, size, value);
    }
    for (char *c = to; *c; ++c)
        if (*c == '/' || *c == '\\' || *c == ':' || (unsigned char)*c < 32) *c = '_';
}

/* Reads the job's variables of the environment into prof__job. */
static void prof__job_find(void)
{
    prof__job_take(prof__job_ids, prof__job.id, sizeof prof__job.id);
    prof__job_take(prof__job_steps, prof__job.step, sizeof prof__job.step);
    prof__job_take(prof__job_tasks, prof__job.task, sizeof prof__job.task);
    prof__job_take(prof__job_locals, prof__job.local_rank, sizeof prof__job.local_rank);
    /* LSF sets index 0 outside of job arrays. */
    if (prof__equal(prof__job.task, "0") && !prof__environment("SLURM_ARRAY_TASK_ID")) prof__job.task[0] = 0;
}

/* Writes the text of %j: the job's id. Appends the step unless it is the first, because each step numbers its ranks
   anew. */
static void prof__job_text(char *to, size_t size)
{
    prof__text_copy(to, size, prof__job.id[0] ? prof__job.id : "0");
    if (!prof__job.step[0] || prof__equal(prof__job.step, "0")) return;
    prof__text_add(to, size, ".");
    prof__text_add(to, size, prof__job.step);
}

#ifndef _WIN32
/* Sets path to the file that holds this job's common time. It lies beside the outputs, in the last directory that the
   pattern names before its first percent sign. Returns 0 if the path is too long. */
static int prof__job_path(const char *pattern, char *path, size_t size)
{
    char job[96];
    size_t length = 0;
    for (size_t i = 0; pattern[i] && pattern[i] != '%'; ++i)
        if (pattern[i] == '/') length = i + 1;
    if (length >= size) return 0;
    prof__text_copy(path, length + 1, pattern);
    prof__job_text(job, sizeof job);
    return prof__text_add(path, size, ".prof-job-") && prof__text_add(path, size, job);
}

/* Agrees with all processes of the job on one time for %t; otherwise each process would make a directory of its own.
   The first process writes its time to a file, in one step, and the others read it. If that fails, `started` stays this
   process's own time. */
static void prof__job_time(const char *pattern, char started[16])
{
    char path[1024], mine[1060], number[24], text[16] = "";
    if (!prof__job.id[0] || !prof__job_path(pattern, path, sizeof path)) return;
    prof__number_text(number, prof__process_id());
    prof__text_copy(mine, sizeof mine, path);
    prof__text_add(mine, sizeof mine, ".");
    prof__text_add(mine, sizeof mine, number);
    prof__folder_for(path);
    int file = open(mine, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, PROF__FILE_MODE);
    if (file >= 0) {
        int whole = write(file, started, prof__length(started)) == (ssize_t)prof__length(started);
        close(file);
        if (whole && link(mine, path) && errno != EEXIST) whole = 0;
        unlink(mine);
        if (!whole) return;
    }
    file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return;
    ssize_t n = read(file, text, sizeof text - 1);
    close(file);
    text[n > 0 ? n : 0] = 0;
    if (n == 15 && text[8] == '-' && !strpbrk(text, "/\\%")) prof__text_copy(started, 16, text);
}
#else
static void prof__job_time(const char *pattern, char started[16]) { (void)pattern, (void)started; }
#endif

/*-- names of outputs --*/

/* Environment variables in which launchers give each process its rank and the number of processes. */
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
    {"RANK", "WORLD_SIZE"},                           /* torchrun, and launchers that follow it */
    /* Slurm; last, because a batch script that calls mpirun has Slurm's variables, too. */
    {"SLURM_PROCID", "SLURM_NTASKS"},
};

static int prof__is_number(const char *text)
{
    size_t length = 0;
    for (; text && text[length] >= '0' && text[length] <= '9'; ++length) {
    }
    return length && length < 20 && !text[length];
}

/* Sets prof__rank to `given` or, if that is NULL, to the rank that a launcher gave. Sets *several to 1 if other
   processes may write files of the same name: the launcher started more than one, or a rank was given. */
static prof_status prof__rank_find(const char *given, int *several)
{
    *several = given != NULL;
    prof__rank[0] = 0;
    prof__job_find();
    if (given) {
        size_t length = prof__length(given), bad = !length || length >= sizeof prof__rank;
        for (size_t i = 0; i < length; ++i) bad |= given[i] == '/' || given[i] == '\\' || (unsigned char)given[i] < 32;
        if (bad) return prof__fail(PROF_INVALID_ARGUMENT, "rank '%.80s': must have 1 to 63 bytes, no / or \\", given);
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

/* Writes the machine's name, or "host" if it is unknown. Replaces slashes by underscores. */
static void prof__host_name(char *name, size_t size)
{
#ifdef _WIN32
    DWORD n = (DWORD)size;
    if (!GetComputerNameA(name, &n)) name[0] = 0;
#elif defined(__wasi__)
    (void)size;
    name[0] = 0;
#else
    if (gethostname(name, size)) name[0] = 0;
    name[size - 1] = 0;
#endif
    if (!name[0]) prof__text_copy(name, size, "host");
    for (char *c = name; *c; ++c)
        if (*c == '/' || *c == '\\') *c = '_';
}

/* Returns 1 if one of these letters follows a percent sign in the pattern. */
static int prof__pattern_has(const char *pattern, const char *letters)
{
    for (const char *c = pattern; *c; ++c) {
        if (*c != '%') continue;
        if (!*++c) return 0;
        if (strchr(letters, *c)) return 1;
    }
    return 0;
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


static int prof__path_put(const char *path, const char *text, size_t most, char *to, size_t size)
{
    const char *extension = prof__extension(path);
    char ending[1100] = ".";
    return prof__text_add(ending, sizeof ending, text) && prof__text_add(ending, sizeof ending, extension) &&
           prof__path_ending(path, prof__length(path) - prof__length(extension), ending, most, to, size);
}

/* Writes a pattern with ".text" inserted before its extension. Returns 0 if the result is too long. */
static int prof__path_with(const char *pattern, const char *text, char *to, size_t size)
{
    return prof__path_put(pattern, text, (size_t)-1, to, size);
}

/* Writes a path with ".text" inserted before its extension. Cuts the file name if it becomes too long for the system.
   Returns 0 if the path is too long. */
static int prof__name_with(const char *path, const char *text, char *to, size_t size)
{
    return prof__path_put(path, text, PROF__NAME_MOST, to, size);
}

/* Reserves a file name by creating an empty file. Returns 0, EEXIST if a file has that name already, or another errno.
   Async-signal-safe. */
static int prof__path_claim(const char *path)
{
#ifdef _WIN32
    HANDLE file = prof__windows_open(path, GENERIC_WRITE, 0, CREATE_NEW);
    if (file == INVALID_HANDLE_VALUE) return prof__windows_errno(GetLastError());
    CloseHandle(file);
#else
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, PROF__FILE_MODE);
    if (file < 0) return errno;
    close(file);
#endif
    return 0;
}

/* Writes the i-th name of trace.json, trace.2.json, trace.3.json, ... to path. Returns 0 if it is too long. */
static int prof__path_numbered(const char *first, uint64_t i, char *path, size_t size)
{
    char number[24];
    prof__number_text(number, i);
    return prof__name_with(first, number, path, size);
}

/* Changes path to the first free name of trace.json, trace.2.json, trace.3.json, ..., and reserves it with an empty
   file. Returns 0 or errno. */
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

/* Removes the empty file that reserved the output's name, unless something was written to it. Also removes the image's
   file of a start that failed. */
static void prof__path_unclaim(prof__session *s)
{
    FILE *file = s->file.claimed ? prof__file_open(s->file.output, "rb") : NULL;
    int empty = file && fgetc(file) == EOF;
    if (file) fclose(file);
    if (empty) prof__file_remove(s->file.output);
#ifdef _WIN32
    if (s->file.taken && s->file.mapping) UnmapViewOfFile(s->file.mapping);
    if (s->file.taken) s->file.mapping = NULL;
    if (s->file.taken) prof__file_forget(s, 0);
#else
    if (s->file.taken && s->file.part_path[0]) prof__file_remove(s->file.live_path);
#endif
    s->file.claimed = s->file.taken = 0;
}

/*-- the outputs of this process --*/

/* Hashes of the outputs that this process has written. A later session does not replace an output that is listed here.
   The list has a fixed size: once it is full, further outputs are not remembered, and can be replaced. */
static uint32_t prof__outputs[512], prof__output_count;
/* Unix time in seconds when the first session with an output started; 0: there was none. */
static uint64_t prof__outputs_since;

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

/* A note about the start, which a session of PROF_OUTPUT prints on stderr; "": none. Protected by the control lock. */
static char prof__start_note[512];

static void prof__start_note_set(const char *path, const char *words, const char *more)
{
    size_t length = prof__length(path);
    prof__start_note[0] = 0; /* of a long path only the end is kept, because the file's name is there */
    prof__text_add(prof__start_note, sizeof prof__start_note, path + (length > 200 ? length - 200 : 0));
    prof__text_add(prof__start_note, sizeof prof__start_note, words);
    length = prof__length(more);
    prof__text_add(prof__start_note, sizeof prof__start_note, more + (length > 200 ? length - 200 : 0));
}

/* Expands %p %n %t %r %j %h %% in path, and %c if count is not 0. started: the text of %t. Returns NULL on success, the
   position of a percent sign whose letter is unknown, or "" if the result does not fit into size bytes.
   Async-signal-safe. */
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
            case 'j': prof__job_text(piece, sizeof piece); break;
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

/* Converts a Unix time in seconds to local time. Returns 0 if the system cannot. */
static int prof__local_time(uint64_t seconds, struct tm *here)
{
    time_t moment = (time_t)seconds;
#ifdef _WIN32
    const struct tm *known = localtime(&moment);
    if (known) *here = *known;
    return known != NULL;
#else
    return localtime_r(&moment, here) != NULL;
#endif
}

static void prof__time_text(char to[16])
{
    struct tm here;
    if (!prof__local_time((uint64_t)time(NULL), &here) || !strftime(to, 16, "%Y%m%d-%H%M%S", &here)) to[0] = 0;
}

/* Returns 1 if the path begins with ~/, which only shells expand. prof would create a directory named ~, and a user who
   removes that by name may remove the home directory. */
static int prof__is_home(const char *path) { return path[0] == '~' && path[1] == '/'; }

/* Expands a path as prof__expand_at() does, and reports errors. started: the text of %t. */
static prof_status prof__expand_started(const char *path, const char *started, uint64_t count, char *to, size_t size)
{
    if (prof__is_home(path))
        return prof__fail(PROF_INVALID_ARGUMENT, "%s: only a shell knows ~: write the whole path, or ./~/", path);
    const char *wrong = prof__expand_at(path, started, count, to, size);
    if (!wrong) return PROF_OK;
    if (*wrong != '%') return prof__fail(PROF_INVALID_ARGUMENT, "path too long: %.80s...", path);
    if (wrong[1] == 'c') return prof__fail(PROF_INVALID_ARGUMENT, "%s: %%c can be used in prof_config.save only", path);
    return prof__fail(PROF_INVALID_ARGUMENT, "%s: unknown %.2s: use %%p, %%n, %%t, %%r, %%j, %%h or %%%%", path, wrong);
}

static prof_status prof__expand_counted(const char *path, uint64_t count, char *to, size_t size)
{
    char now[16];
    prof__time_text(now);
    return prof__expand_started(path, now, count, to, size);
}

static prof_status prof__expand(const char *path, char *to, size_t size)
{
    return prof__expand_counted(path, 0, to, size);
}

/* Returns the layout of a writer that prof_report.h has registered as "layout:NAME", or as "layout:NAME/" if it writes
   a directory. Returns NULL for other writers. */
static const char *prof__writer_layout(const prof_writer *writer)
{
    static const char prefix[] = "layout:";
    const char *name = writer->extension;
    for (size_t i = 0; prefix[i]; ++i, ++name)
        if (*name != prefix[i]) return NULL;
    return name;
}

/* Finds the writer of a layout, for a file or for a directory. */
static prof_status prof__layout_find(const char *layout, const char *path, const prof_writer **writer)
{
    char known[160] = "", wanted[32];
    int folder = prof__is_folder(path), exists = 0;
    prof__text_copy(wanted, sizeof wanted - 1, layout);
    if (folder) prof__text_add(wanted, sizeof wanted, "/");
    *writer = NULL;
    for (prof_writer *w = PROF__ACQUIRE(&prof__writers); w; w = w->private_next) {
        const char *name = prof__writer_layout(w);
        if (!name) continue;
        if (prof__equal(name, wanted)) *writer = w;
        exists |= prof__equal(name, layout);
        if (!*name || name[prof__length(name) - 1] == '/') continue;
        if (known[0]) prof__text_add(known, sizeof known, ", ");
        prof__text_add(known, sizeof known, name);
    }
    if (!*writer && !known[0])
        return prof__fail(PROF_INVALID_ARGUMENT, "layout '%.20s': no reports in this program: include prof_report.h in "
                          "the file with PROF_IMPLEMENTATION", layout);
    if (!*writer && !exists)
        return prof__fail(PROF_INVALID_ARGUMENT, "unknown layout '%.20s': use %s", layout, known);
    if (!*writer)
        return prof__fail(PROF_INVALID_ARGUMENT, "layout '%.20s': is one file, but %s is a directory", layout,
                          prof__path_end(path));
    if (!folder && prof__equal(prof__extension(path), ".prof"))
        return prof__fail(PROF_INVALID_ARGUMENT, "layout '%.20s': %s is the recording itself: give the report another "
                          "extension", layout, prof__path_end(path));
    return PROF_OK;
}

/* Returns the header that has the writer of an extension, of a directory's "/", too, or NULL. */
static const char *prof__writer_header(const char *extension)
{
    if (prof__equal(extension, ".json")) return "prof_chrome.h";
    if (prof__equal(extension, ".html")) return "prof_html.h";
    if (prof__equal(extension, "/")) return "prof_xplane.h";
    return prof__equal(extension, ".csv") || prof__equal(extension, ".txt") ? "prof_read.h" : NULL;
}

/* Copies a path's extension in lower case; a directory's is "/". Returns it as it is in the path. */
static const char *prof__extension_lower(const char *path, char *to, size_t size)
{
    const char *given = prof__is_folder(path) ? "/" : prof__extension(path);
    size_t length = 0;
    for (; given[length] && length + 1 < size; ++length)
        to[length] = (char)(given[length] >= 'A' && given[length] <= 'Z' ? given[length] + 32 : given[length]);
    to[length] = 0;
    return given;
}

/* Finds the writer for a path's extension; a directory's is "/". Sets *writer to NULL for the image itself (.prof). */
static prof_status prof__writer_find(const char *path, const prof_writer **writer)
{
    char known[128], extension[16];
    const char *given = prof__extension_lower(path, extension, sizeof extension);
    size_t n = (size_t)snprintf(known, sizeof known, ".prof%s", prof__reader()->csv ? " .csv .txt" : "");
    *writer = NULL;
    if (prof__equal(extension, ".prof")) return PROF_OK;
    if (prof__equal(extension, ".csv")) *writer = prof__reader()->csv;
    if (prof__equal(extension, ".txt")) *writer = prof__reader()->summary;
    for (prof_writer *w = PROF__ACQUIRE(&prof__writers); w; w = w->private_next) {
        if (prof__equal(extension, w->extension) || prof__equal(given, w->extension)) *writer = w;
        if (n < sizeof known && !prof__writer_layout(w))
            n += (size_t)snprintf(known + n, sizeof known - n, " %s", w->extension);
    }
    if (*writer) return PROF_OK;
    const char *header = prof__writer_header(extension);
    if (header)
        return prof__fail(*extension == '/' ? PROF_IO : PROF_INVALID_ARGUMENT,
                          "%s: no writer for %s in this program: include %s in the file with PROF_IMPLEMENTATION, or "
                          "convert a .prof by `prof export`",
                          prof__path_end(path), *extension == '/' ? "a directory" : extension, header);
    if (!*extension)
        return prof__fail(PROF_INVALID_ARGUMENT, "%s: has no extension: add one of %s, or / for a directory",
                          prof__path_end(path), known);
    return prof__fail(PROF_INVALID_ARGUMENT, "%s: no writer for '%.40s' in this program: use %s",
                      prof__path_end(path), given, known);
}

/* Returns 1 if another header of prof would write this output, and this program does not include it. */
static int prof__writer_lacks(const char *path)
{
    char extension[16];
    const prof_writer *writer;
    prof__extension_lower(path, extension, sizeof extension);
    return prof__writer_header(extension) && prof__writer_find(path, &writer) != PROF_OK;
}

/* Refuses an output that needs events if the session keeps none. writer: the path's writer; NULL for .prof. */
static prof_status prof__writer_fits(const char *path, const prof_writer *writer, uint32_t mode)
{
    const char *layout = writer ? prof__writer_layout(writer) : NULL;
    if (mode != PROF_STATS || writer == prof__reader()->summary) return PROF_OK;
    if (layout && !prof__equal(layout, "cntk-detail")) return PROF_OK;
    return prof__fail(PROF_INVALID_ARGUMENT,
                      "%s: mode stats keeps statistics and no events: write a .txt, or use mode ring or stream", path);
}

/* Returns the mode of the current session. */
static uint32_t prof__live_mode(void)
{
    uint32_t write_lock = prof__state_lock();
    uint32_t mode = prof__state.session ? prof__state.session->header->mode : (uint32_t)PROF_RING;
    prof__state_unlock(write_lock);
    return mode;
}

/* Finds the writer for a path's extension, and refuses one that needs events in a mode without events. Sets *writer to
   NULL for the image itself (.prof). */
static prof_status prof__writer_for(const char *path, uint32_t mode, const prof_writer **writer)
{
    prof_status status = prof__writer_find(path, writer);
    return status ? status : prof__writer_fits(path, *writer, mode);
}

/* Checks the output and creates its directories. Called at the start, so that errors appear then and not at the end. */
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
#ifndef _WIN32
    if (path[0] != '/' && !getcwd(folder, sizeof folder) && errno == ENOENT)
        return prof__fail(PROF_IO, "%s: the working directory was removed: give a whole path", path);
#endif
    if (prof__is_folder(path)) return prof__folder_make(path);
    if (!prof__folder_of(target, folder, sizeof folder))
        return prof__fail(PROF_INVALID_ARGUMENT, "path too long: %.80s...", path);
#ifndef _WIN32
    prof__about about;
    if (!prof__stat(path, &about) && !S_ISREG(about.st_mode))
        return access(path, W_OK) ? prof__fail(PROF_IO, "%s: %s", path, strerror(errno)) : PROF_OK;
#endif
    prof_status status = prof__folder_make(folder);
#ifndef _WIN32
    if (!status) status = prof__name_check(target);
#endif
    if (status) return status;
#ifndef _WIN32
    if (access(folder, W_OK | X_OK))
        return prof__fail(PROF_IO, "%s: cannot write to the directory %s: %s", path, folder, strerror(errno));
#endif
    return PROF_OK;
}

/* Follows a symbolic link: the image gets the name of the file that the link leads to, so that the link itself
   stays. */
static prof_status prof__output_follow(prof__session *s)
{
#ifndef _WIN32
    prof__path followed;
    if (prof__path_follow(&followed, s->file.output) != PROF__PATH_LINK || !prof__file_replaceable(followed.done))
        return PROF_OK;
    if (strlen(followed.done) >= sizeof s->file.output)
        return prof__fail(PROF_INVALID_ARGUMENT, "%.80s: this link leads to a path that is too long", s->file.output);
    prof__text_copy(s->file.output, sizeof s->file.output, followed.done);
#else
    (void)s;
#endif
    return PROF_OK;
}

/* Makes a pattern absolute, because the program may change its working directory before anything is written. The
   pattern stays relative if the working directory has no name, or if both together are too long. Returns 0 if the
   pattern alone is too long. */
static int prof__pattern_absolute(const char *pattern, char *to, size_t size)
{
    size_t at = 0;
    char folder[1024];
#ifdef _WIN32
    WCHAR wide[PROF__WIDE_SIZE];
    DWORD n = GetCurrentDirectoryW(PROF__WIDE_SIZE, wide);
    int known = !prof__is_slash(pattern[0]) && !(pattern[0] && pattern[1] == ':') && n && n < PROF__WIDE_SIZE &&
                prof__narrow(wide, folder, sizeof folder);
#else
    int known = pattern[0] != '/' && getcwd(folder, sizeof folder) && folder[0] == '/';
#endif
    if (known) {
        for (const char *c = folder; *c && at + 3 < size; ++c) {
            if (*c == '%') to[at++] = '%';
            to[at++] = *c;
        }
        if (to[at - 1] != '/') to[at++] = '/';
    }
    if (at + prof__length(pattern) >= size) at = 0;
    prof__text_copy(to + at, size - at, pattern);
    return prof__length(pattern) < size;
}

/*-- AFTER chroot() ---------------------------------------------------------------------------------------------------
   After chroot() the output's path leads elsewhere: into the new root, where directories would be made for it. So a
   session that writes its output at the end holds the output's directory open. A thread with a working directory of its
   own writes the output there: the held directory, which is outside of the new root. A .prof output needs none of this,
   because its file has its name from the start. */
#if defined(__linux__) && defined(SYS_unshare)
#define PROF__HOLDS_FOLDER 1


static void prof__root_now(uint64_t root[2])
{
    prof__about about;
    root[0] = root[1] = 0;
    if (prof__stat("/", &about)) return;
    root[0] = (uint64_t)about.st_dev;
    root[1] = (uint64_t)about.st_ino;
}

/* Returns 1 if the process's root directory has changed since the start of the session. Async-signal-safe. */
static int prof__root_moved(const prof__session *s)
{
    uint64_t now[2];
    if (!s->file.root[1]) return 0;
    prof__root_now(now);
    return now[0] != s->file.root[0] || now[1] != s->file.root[1];
}

/* Opens the output's directory and keeps it open. */
static void prof__folder_hold(prof__session *s)
{
    char folder[sizeof s->file.output];
    prof__about about;
    prof__root_now(s->file.root);
    if (s->file.live_path == s->file.output || !prof__folder_of(s->file.output, folder, sizeof folder)) return;
#ifdef O_PATH
    int file = open(folder, O_PATH | O_CLOEXEC);
#else
    int file = open(folder, O_RDONLY | O_CLOEXEC);
#endif
    /* If the program closes a high descriptor number, the number is not soon reused. */
    int high = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, 200);
    if (file >= 0) close(file);
    if (high < 0 || prof__fstat(high, &about)) return;
    s->file.folder = high + 1;
    s->file.folder_is[0] = (uint64_t)about.st_dev;
    s->file.folder_is[1] = (uint64_t)about.st_ino;
}

/* Returns 1 if the held descriptor still refers to the output's directory: the program may have closed all its
   descriptors. */
static int prof__folder_held(const prof__session *s)
{
    prof__about about;
    return s->file.folder && !prof__fstat(s->file.folder - 1, &about) &&
           (uint64_t)about.st_dev == s->file.folder_is[0] && (uint64_t)about.st_ino == s->file.folder_is[1];
}

static void prof__folder_drop(prof__session *s)
{
    if (prof__folder_held(s)) close(s->file.folder - 1);
    s->file.folder = 0;
}

/* The work of the thread that runs in the held directory, and its result. */
typedef struct prof__folder_work {
    prof__session *s;
    prof_status (*work)(prof__session *s, prof_status status);
    prof_status status;
    int done;
    char error[PROF__ERROR_SIZE];
} prof__folder_work;

static void *prof__folder_main(void *user)
{
    prof__folder_work *w = (prof__folder_work *)user;
    if (syscall(SYS_unshare, 0x200 /* CLONE_FS */) || fchdir(w->s->file.folder - 1)) return NULL;
    w->done = 1;
    w->status = w->work(w->s, PROF_OK);
    if (w->status) memcpy(w->error, PROF__ERROR_TEXT(), sizeof w->error);
    return NULL;
}

/* Replaces a path by "./name", relative to its own directory. */
static void prof__folder_name(char *path, size_t size)
{
    char name[sizeof((prof__session *)NULL)->stream.path] = ".";
    const char *last = path;
    if (!path[0]) return;
    for (const char *c = path; *c; ++c)
        if (*c == '/') last = c;
    prof__text_add(name, sizeof name, *last == '/' ? "" : "/");
    prof__text_add(name, sizeof name, last);
    prof__text_copy(path, size, name);
}

/* Calls work(). After chroot(), calls it in a thread whose working directory is the held one, with file names relative
   to that directory. Returns status itself if that is an error. */
static prof_status prof__in_folder(prof__session *s, prof_status (*work)(prof__session *s, prof_status status),
                                   prof_status status)
{
    char output[sizeof s->file.output], path[sizeof s->stream.path];
    pthread_t thread;
    prof__folder_work *w = NULL;
    if (status || !prof__root_moved(s)) return work(s, status);
    /* If the program has entered a sandbox meanwhile, unshare() might end the program. */
    if (prof__folder_held(s) && prof__sandbox() == s->sandbox) w = (prof__folder_work *)calloc(1, sizeof *w);
    if (w) {
        w->s = s;
        w->work = work;
        memcpy(output, s->file.output, sizeof output);
        memcpy(path, s->stream.path, sizeof path);
        prof__folder_name(s->file.output, sizeof s->file.output);
        prof__folder_name(s->stream.path, sizeof s->stream.path);
        if (!prof__thread_create(&thread, prof__folder_main, w)) pthread_join(thread, NULL);
        memcpy(s->file.output, output, sizeof output);
        memcpy(s->stream.path, path, sizeof path);
    }
    status = w && w->done ? w->status : PROF_IO;
    if (w && w->done && status)
        prof__fail(status, "%s", w->error);
    else if (status)
        prof__fail(status, "%s: not written: the program has changed its root directory (chroot)",
                   prof__path_end(s->file.output));
    free(w);
    return status;
}
#else
static int prof__root_moved(const prof__session *s) { return (void)s, 0; }
static void prof__folder_hold(prof__session *s) { (void)s; }
static void prof__folder_drop(prof__session *s) { (void)s; }
static prof_status prof__in_folder(prof__session *s, prof_status (*work)(prof__session *s, prof_status status),
                                   prof_status status)
{
    return work(s, status);
}
#endif

/* Expands a pattern to an absolute path, or to a relative one if the absolute path is too long. */
static prof_status prof__expand_absolute(const char *pattern, const char *started, char *to, size_t size)
{
    char absolute[1024];
    int fits = !prof__is_home(pattern) && prof__pattern_absolute(pattern, absolute, sizeof absolute);
    return fits && !prof__expand_started(absolute, started, 0, to, size)
               ? PROF_OK : prof__expand_started(pattern, started, 0, to, size);
}

/* Writes the path of an output's sidecar file: "trace.json.prof" for a file, "logs/1234.prof" for the directory
   logs/. */
static void prof__output_sidecar(const prof__session *s, char *to, size_t size)
{
    char ending[32] = "";
    if (prof__is_folder(s->file.output)) prof__number_text(ending, prof__process_id());
    prof__text_add(ending, sizeof ending, ".prof");
    prof__path_ending(s->file.output, prof__length(s->file.output), ending, PROF__NAME_MOST, to, size);
}

static int prof__file_is(const char *path) /* Returns 1 if something has this name */
{
#ifdef _WIN32
    return prof__windows_about(path) != INVALID_FILE_ATTRIBUTES;
#else
    prof__about about;
    return !prof__lstat(path, &about);
#endif
}

/* Returns 1 if the output's file must not be replaced: because config.existing says so, or because this process has
   written it. numbered: 1: the name has a number; then a file that any process has written since this process's first
   session must not be replaced either. */
static int prof__output_stays(const prof__session *s, int numbered)
{
    if (prof__is_folder(s->file.output) || !prof__file_is(s->file.output) || s->file.existing == PROF_EXISTING_REPLACE)
        return 0;
    if (s->file.number || s->file.existing == PROF_EXISTING_REFUSE || prof__output_ours(s->file.output)) return 1;
#ifndef _WIN32
    prof__about about;
    if (numbered) return prof__lstat(s->file.output, &about) || (uint64_t)about.st_mtime >= prof__outputs_since;
#endif
    return numbered;
}

/* Sets output to the first name that is free at present. A session in memory reserves the name only when it writes.
   Returns 0 or errno. */
static int prof__name_choose(prof__session *s)
{
    char first[sizeof s->file.output];
    prof__text_copy(first, sizeof first, s->file.output);
    for (uint64_t i = 2; prof__output_stays(s, i > 2); ++i) {
        s->file.number = 1;
        if (s->file.existing == PROF_EXISTING_REFUSE || i == 1000000) return EEXIST;
        if (!prof__path_numbered(first, i, s->file.output, sizeof s->file.output)) return ENAMETOOLONG;
    }
    return 0;
}

/* Notes for the user that another recorder, of this process or of another one, is using the file of this session's
   name. */
static void prof__name_note(prof__session *s)
{
#ifdef _WIN32
    const char *words = " is recorded by another process, or a library of this one: this one writes ";
#else
    const char *words = " is recorded by another process: this one writes ";
#endif
    prof__start_note_set(s->file.live_path, words, "");
    s->file.number = 1; /* the other recorder may end at any time, and its output must not be replaced then either */
}

/* Renames the sidecar file that a killed program has left, to keep its recording. Returns 0 on failure. */
static int prof__name_keep(const prof__session *s)
{
    char old[sizeof s->stream.path];
    if (!prof__name_with(s->file.live_path, "old", old, sizeof old) || prof__file_rename(s->file.live_path, old))
        return 0;
    if (!s->file.number)
        prof__start_note_set(old, " holds the recording of an earlier program that did not end it", "");
    return 1;
}

/* Returns 1 if the file is an image whose session did not end, for example because its process was killed. */
#ifdef _WIN32
static int prof__image_open_ended(HANDLE file)
{
    prof__header header;
    DWORD got = 0;
    int whole = ReadFile(file, &header, sizeof header, &got, NULL) && got == sizeof header;
#else
static int prof__image_open_ended(int file)
{
    prof__header header;
    int whole = pread(file, &header, sizeof header, 0) == (ssize_t)sizeof header;
#endif
    return whole && !memcmp(header.magic, PROF__MAGIC, 8) && header.state == PROF__RUNNING;
}

#ifdef _WIN32
/* Returns 1 if the present file of the image's name is kept under another name. existing=replace is about outputs, so
   it does not apply to a sidecar file. */
static int prof__name_keeps(const prof__session *s, HANDLE there)
{
    return s->file.live_path != s->file.output ||
           (s->file.existing != PROF_EXISTING_REPLACE && prof__image_open_ended(there));
}

/* Creates the image's file. numbered: 1: its name has a number. Returns 0 or errno; EEXIST: the name is in use. */
static int prof__name_try(prof__session *s, int numbered)
{
    DWORD error = ERROR_SHARING_VIOLATION;
    if (prof__output_stays(s, numbered)) return EEXIST;
    /* Another process may create the file between the two calls. */
    for (int i = 0; i < 3 && error == ERROR_SHARING_VIOLATION; ++i) {
        HANDLE there =
            prof__windows_open(s->file.live_path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, OPEN_EXISTING);
        error = there == INVALID_HANDLE_VALUE ? GetLastError() : 0;
        int keeps = !error && prof__name_keeps(s, there);
        if (!error) CloseHandle(there);
        if (error == ERROR_SHARING_VIOLATION) {
            prof__name_note(s);
            return EEXIST;
        }
        if (!error && s->file.number) return EEXIST;
        if (!error && (!keeps || !prof__name_keep(s)))
            prof__file_remove(s->file.live_path); /* a process that has mapped the old file keeps it */
        error = prof__file_create(s, CREATE_ALWAYS);
    }
    return error ? prof__windows_errno(error) : 0;
}
#else
/* Closes the older file that was to be replaced, and forgets it. */
static void prof__name_drop(prof__session *s)
{
    if (s->file.old_file) close(s->file.old_file - 1);
    s->file.old_file = s->file.replaces = s->file.keeps = 0;
}

/* Decides whether the file at live_path may be replaced. Returns 0 if it may, EEXIST if not, EAGAIN if there is a
   different file by now. */
static int prof__name_replace(prof__session *s, int numbered)
{
    prof__about there, opened;
    int file;
    s->file.replaces = 1;
    s->file.keeps = s->file.live_path != s->file.output; /* existing=replace is about outputs, so a sidecar file is kept
                                                            */
    if (s->file.existing == PROF_EXISTING_REPLACE) return 0;
    if (s->file.number || s->file.existing == PROF_EXISTING_REFUSE) return EEXIST;
    file = open(s->file.live_path, O_RDWR | PROF__O_FILE | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0 && errno == EACCES) file = open(s->file.live_path, O_RDONLY | PROF__O_FILE | O_NOFOLLOW | O_NONBLOCK);
    if (file >= 0 && prof__file_lock(file)) {
        close(file);
        prof__name_note(s);
        return EEXIST;
    }
    if (file >= 0) s->file.old_file = file + 1;
    if (!s->file.keeps) s->file.keeps = file >= 0 && prof__image_open_ended(file);
    if (prof__lstat(s->file.live_path, &there)) return EAGAIN;
    if (file >= 0 && (prof__fstat(file, &opened) || opened.st_dev != there.st_dev || opened.st_ino != there.st_ino))
        return EAGAIN;
    return s->file.live_path == s->file.output && prof__output_stays(s, numbered) ? EEXIST : 0;
}

/* Reserves the name live_path and, for a sidecar file, the output's name as well. numbered: 1: the name has a number.
   Returns 0 or errno; EEXIST if a name is in use. */
static int prof__name_try(prof__session *s, int numbered)
{
    int error = EAGAIN;
    for (int i = 0; i < 100 && error == EAGAIN; ++i) {
        prof__name_drop(s);
        error = prof__file_link(s, s->file.live_path);
        s->file.taken = !error;
        if (error && error != EEXIST && !prof__file_is(s->file.live_path)) { /* a file system without hard links */
            error = prof__path_claim(s->file.live_path);
            s->file.taken = s->file.replaces = !error;
        } else if (error) { /* another file has the name */
            error = prof__name_replace(s, numbered);
        }
    }
    if (!error && s->file.live_path != s->file.output && prof__output_stays(s, numbered)) error = EEXIST;
    if (error && s->file.taken && s->file.unnamed) /* a file that has lost its only name cannot get a new one */
        s->file.unnamed = rename(s->file.live_path, s->file.part_path) != 0;
    else if (error && s->file.taken)
        unlink(s->file.live_path);
    if (error) prof__name_drop(s);
    if (error) s->file.taken = 0;
    return error;
}

/* Gives the image's file its final name. A sidecar file that a killed program has left is renamed, not replaced.
   Returns 0, or errno if nothing has changed. */
static int prof__name_publish(prof__session *s)
{
    int error = 0;
    if (s->file.replaces && !s->file.taken && s->file.keeps) prof__name_keep(s);
    if (s->file.replaces || !s->file.taken) {
        error = prof__file_name(s);
        if (!error && rename(s->file.part_path, s->file.live_path)) error = errno;
    } else if (!s->file.unnamed) {
        unlink(s->file.part_path);
    }
    if (error) return error;
    s->file.unnamed = 0;
    s->file.part_path[0] = 0;
    if (s->file.old_file) close(s->file.old_file - 1);
    s->file.old_file = 0;
    if (s->file.live_path == s->file.output) prof__output_remember(s->file.output);
    return 0;
}
#endif

/* Reserves the first of trace.json, trace.2.json, ... that is free or may be replaced, for the output and for the
   image's file. The file is complete by then, but on Windows it is created here. Returns 0 or errno.
   Async-signal-safe. */
static int prof__name_take(prof__session *s)
{
    char first[sizeof s->stream.path];
    int folder = prof__is_folder(s->file.output), error = prof__name_try(s, 0);
    prof__text_copy(first, sizeof first, folder ? s->stream.path : s->file.output);
    for (uint64_t i = 2; error == EEXIST && s->file.existing != PROF_EXISTING_REFUSE && i < 1000000; ++i) {
        if (!prof__path_numbered(first, i, folder ? s->stream.path : s->file.output, sizeof s->file.output))
            return ENAMETOOLONG;
        if (!folder && s->file.live_path != s->file.output)
            prof__output_sidecar(s, s->stream.path, sizeof s->stream.path);
        error = prof__name_try(s, 1);
        if (!error && prof__start_note[0]) prof__text_add(prof__start_note, sizeof prof__start_note, s->file.output);
    }
    return error;
}

/* Chooses and reserves the names of the session's files. */
static prof_status prof__output_name(prof__session *s)
{
    if (!s->file.output[0]) return PROF_OK;
    if (!prof__outputs_since) prof__outputs_since = (uint64_t)time(NULL);
    prof__folder_hold(s);
    int error = s->file.live_path ? prof__name_take(s) : prof__name_choose(s);
    if (error && error != EEXIST && s->file.sidecar && s->file.live_path) {
        prof__file_forget(s, error);
        error = prof__name_choose(s);
    }
    if (!error) return PROF_OK;
    if (error == EEXIST) return prof__fail(PROF_IO, "%s: exists already (existing=refuse)", s->file.output);
#ifdef _WIN32
    if (error == EACCES && prof__file_is(s->file.output))
        return prof__fail(PROF_IO, "%s: cannot be replaced: another program, or a trace of this one, has it open",
                          s->file.output);
#endif
    return prof__fail(PROF_IO, "%s: %s", s->file.output, strerror(error));
}

static prof_status prof__output_writer(const prof__session *s, const prof_writer **writer)
{
    return s->file.layout[0] ? prof__layout_find(s->file.layout, s->file.output, writer)
                             : prof__writer_find(s->file.output, writer);
}

/* Returns 1 if the output that prof_stop() wrote still exists. Always returns 1 for a directory, and for PROF_STREAM,
   whose file was the only copy: those outputs cannot be written again. */
static int prof__output_stands(const prof__session *s)
{
    FILE *file;
    if (prof__is_folder(s->file.output) || s->header->mode == PROF_STREAM) return 1;
    file = prof__file_open(s->file.output, "rb");
    if (file) fclose(file);
    return file != NULL;
}

static prof_status prof__output_write_here(prof__session *s, prof_status status)
{
    const prof_writer *writer = NULL;
    if (!status) status = prof__output_writer(s, &writer);
    if (!status && !s->file.live_path && !s->file.claimed &&
        (s->file.number || s->file.existing == PROF_EXISTING_REFUSE)) {
        int error = s->file.number ? prof__path_number(s->file.output, sizeof s->file.output)
                                   : prof__path_claim(s->file.output);
        if (error) status = prof__fail(PROF_IO, "%s: %s", s->file.output, strerror(error));
        s->file.claimed = !error;
    }
    if (!status) status = prof__reader()->write_live(s->file.output, writer);
    if (!status) prof__output_remember(s->file.output);
    return status;
}

/* Writes the output from what is recorded. If the session is in memory, reserves the output's name first. */
static prof_status prof__output_write(prof__session *s)
{
    if (s->file.error)
        return prof__fail(PROF_IO, "%s: %s: what was recorded is in memory only: prof_save() ca write it elsewhere",
                          prof__path_end(s->file.output), strerror(s->file.error));
    return prof__in_folder(s, prof__output_write_here, PROF_OK);
}

/* Writes the output again if the session still runs or if the output was removed. what: the calling function's name,
   for errors. */
static prof_status prof__output_again(const char *what)
{
    PROF__FORWARD(prof__output_again, (what));
    prof_status status = PROF_OK;
    prof__control_lock();
    prof__session *s = prof__on_demand ? NULL : prof__state.session;
    if (!s) {
        status = prof__fail(PROF_INVALID_STATE, "%s: nothing was recorded", what);
    } else if (!s->file.output[0]) {
        status = prof__fail(PROF_INVALID_STATE, "%s: the session has no output: set config.output, or call prof_save()",
                            what);
    /* Otherwise the output is the image itself. */
    } else if (s->file.live_path != s->file.output && (prof__state.running || !prof__output_stands(s))) {
        status = prof__output_write(s);
    }
    prof__control_unlock();
    return status;
}

/* Returns 1 if the output is, or will be, a file or a directory, and not a device or a pipe. */
static int prof__output_is_file(const char *path)
{
#ifdef _WIN32
    (void)path;
    return 1;
#else
    prof__about about;
    return prof__stat(path, &about) || S_ISREG(about.st_mode) || S_ISDIR(about.st_mode);
#endif
}

/* A process may have several recorders that do not know each other, for example in two libraries. PROF_OUTPUT names the
   same file to all of them. The first recorder writes that file. Each later one inserts the name of its own library
   before the extension and writes that file instead. */
static PROF__UNUSED int prof__output_apart; /* 1: this recorder inserted its library's name into its output */
#ifdef PROF__INSTANCES
/* The output as an absolute path; other recorders in this process compare theirs with it. */
static char prof__output_told[1024];

typedef struct prof__output_search {
    const char *path;
    int taken;
    char module[64]; /* file name of the library that contains this recorder */
} prof__output_search;

static int prof__output_visit(const prof__loaded *loaded, size_t size, void *user)
{
    prof__output_search *search = (prof__output_search *)user;
    const prof__instance *instance = prof__instance_of(loaded);
    (void)size;
    if (instance == &prof__this_instance && loaded->name && *loaded->name) {
        const char *slash = strrchr(loaded->name, '/');
        prof__text_copy(search->module, sizeof search->module, slash ? slash + 1 : loaded->name);
    } else if (instance && instance != &prof__this_instance) {
        search->taken |= prof__equal(instance->output, search->path);
    }
    return 0;
}

/* Makes path absolute, because other recorders store their outputs as absolute paths. Cuts a path that does not fit. */
static void prof__output_absolute(const char *path, char *to, size_t size)
{
    to[0] = 0;
    if (path[0] != '/' && getcwd(to, size - 1)) prof__text_add(to, size, "/");
    prof__text_add(to, size, path);
}

/* Chooses an output that no other recorder in this process writes. Returns the pattern to use, and sets s->output to
   its expansion. tagged: a buffer that receives the pattern if it had to be changed. */
static const char *prof__output_own(prof__session *s, const char *pattern, char *tagged, size_t size)
{
    char path[sizeof prof__output_told], text[96];
    prof__output_search search;
    prof__about about;
    prof__output_apart = 0;
    if (prof__is_folder(s->file.output) || (!prof__stat(s->file.output, &about) && !S_ISREG(about.st_mode)))
        return pattern;
    prof__program_name(search.module, sizeof search.module);
    search.path = path;
    for (int i = 1; i < 1000; ++i) {
        prof__output_absolute(s->file.output, path, sizeof path);
        search.taken = 0;
        prof__loaded_each(prof__output_visit, &search);
        if (!search.taken) break;
        search.module[strcspn(search.module, ".%")] = 0;
        snprintf(text, sizeof text, i > 1 ? "%s.%d" : "%s", search.module, i);
        if (!prof__path_with(pattern, text, tagged, size) ||
            prof__expand_absolute(tagged, s->file.started, s->file.output, sizeof s->file.output))
            return pattern;
        prof__output_apart = 1;
    }
    prof__text_copy(prof__output_told, sizeof prof__output_told, path);
    return prof__output_apart ? tagged : pattern;
}
#else
static const char *prof__output_own(prof__session *s, const char *pattern, char *tagged, size_t size)
{
    (void)s, (void)tagged, (void)size;
    return pattern;
}
#endif

/* Works out a session's output from its configuration: the path, the writer, and whether a sidecar file records until
   the output is written. several: 1: other processes of the job may write files of the same name. Returns an error if
   the output cannot be written later. */
static prof_status prof__output_prepare(prof__session *s, const prof_config *config, int several)
{
    const prof_writer *writer;
    const char *output = config->output;
    prof_mode mode = config->mode;
    char ranked[sizeof s->file.pattern], tagged[sizeof s->file.pattern];
    prof__time_text(s->file.started);
    if (several && prof__pattern_has(output, "t")) prof__job_time(output, s->file.started);
    /* A directory's writer puts the rank into its file names itself. */
    if (several && !prof__pattern_has(output, "rp") && !prof__is_folder(output) &&
        prof__path_with(output, "%r", ranked, sizeof ranked))
        output = ranked;
    prof_status status = prof__expand_absolute(output, s->file.started, s->file.output, sizeof s->file.output);
    if (!status && prof__is_folder(s->file.output) && !prof__is_slash(s->file.output[prof__length(s->file.output) - 1]))
        prof__text_add(s->file.output, sizeof s->file.output, "/");
    if (!status) output = prof__output_own(s, output, tagged, sizeof tagged);
    if (config->layout) prof__text_copy(s->file.layout, sizeof s->file.layout, config->layout);
    if (!status) status = prof__output_writer(s, &writer);
    if (!status) status = prof__writer_fits(s->file.output, writer, (uint32_t)mode);
    if (!status) status = prof__output_check(s->file.output);
    if (!status && !writer) status = prof__output_follow(s);
    s->file.existing = config->existing;
    s->file.number = s->file.existing == PROF_EXISTING_NUMBER ||
                (s->file.existing == PROF_EXISTING_AUTO && prof__pattern_has(output, "pt"));
    if (prof__is_folder(s->file.output)) s->file.number = 0; /* the writer of a directory never replaces a file */
    if (!status && !writer) s->file.live_path = s->file.output;
    if (!status && writer && !prof__output_is_file(s->file.output)) {
        s->file.existing = PROF_EXISTING_REPLACE; /* a device or a pipe has no older recording to protect */
        s->file.number = 0;
    } else if (!status && writer) {
/* There, a sidecar file would be filled only at the end, and so protects nothing. */
#if !defined(__EMSCRIPTEN__) && !defined(__wasi__)
        s->file.sidecar = mode != PROF_STREAM && mode != PROF_STATS && !config->memory;
#endif
    }
    s->file.whole = mode == PROF_STREAM;
    if (!status && writer && (s->file.sidecar || mode == PROF_STREAM)) {
        prof__output_sidecar(s, s->stream.path, sizeof s->stream.path);
        s->file.live_path = s->stream.path;
    }
    prof__pattern_absolute(output, s->file.pattern, sizeof s->file.pattern);
#ifdef _WIN32
    if (!status) status = prof__output_name(s);
    s->file.named = 1;
#endif
    return status;
}

#ifndef PROF__NO_FORK
/* Sets the output of a child of fork(): the parent's pattern expanded again, with the process id before the extension
   unless the pattern has %p. Returns 0 or errno. Async-signal-safe. */
static int prof__child_path(prof__session *s)
{
    char number[24], path[sizeof s->file.output], before[sizeof s->file.output];
    int has_pid = prof__pattern_has(s->file.pattern, "p");
    if (!s->file.output[0]) return 0;
    prof__text_copy(before, sizeof before, s->file.output);
    if (prof__expand_at(s->file.pattern, s->file.started, 0, path, sizeof path)) return ENAMETOOLONG;
    prof__number_text(number, s->process);
    if (has_pid || prof__is_folder(path))
        prof__text_copy(s->file.output, sizeof s->file.output, path);
    else if (!prof__name_with(path, number, s->file.output, sizeof s->file.output))
        return ENAMETOOLONG;
    if (s->file.sidecar) {
        prof__output_sidecar(s, s->stream.path, sizeof s->stream.path);
        s->file.live_path = s->stream.path;
    }
    if (!prof__folder_of(before, before, sizeof before) || !prof__folder_of(s->file.output, path, sizeof path) ||
        !prof__equal(before, path))
        prof__folder_drop(s); /* the held folder is the parent's, and the child writes elsewhere */
    /* %p may be in a directory's name */
    if (s->file.live_path && !prof__root_moved(s)) prof__folder_for(s->file.live_path);
    return 0;
}
#endif

PROF_DEF void prof_writer_register(prof_writer *writer)
{
    PROF__FORWARD_VOID(prof_writer_register, (writer));
    prof_writer *first = PROF__ACQUIRE(&prof__writers);
    for (prof_writer *w = first; w; w = w->private_next)
        if (w == writer) return;
    do writer->private_next = first;
    while (!__atomic_compare_exchange_n(&prof__writers, &first, writer, 0, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE));
}

PROF_DEF prof_status prof_fail(prof_status status, const char *text)
{
    return prof__fail(status, "%s", text ? text : "");
}

PROF_DEF void prof_writer_unregister(prof_writer *writer)
{
    PROF__FORWARD_VOID(prof_writer_unregister, (writer));
    /* If another thread holds the control lock, the writer is removed without the lock: prof_stop() may hold it for
       long, and the program is about to end. */
    int locked = prof__lock_try(&prof__control_word);
    for (prof_writer **w = &prof__writers; *w; w = &(*w)->private_next)
        if (*w == writer) {
            *w = writer->private_next;
            break;
        }
    if (locked) prof__unlock(&prof__control_word);
}
#endif
/*-- THE MAPPED FILE ------------------------------------------------------------------------------------------------*/

/* Frees a chunk that is in the given state, so that threads can take it again. The chunk keeps its sequence number, by
   which readers recognise that its events are in the archive as well. Returns 0 if the thread that filled the chunk has
   taken it back. */
static int prof__chunk_release(prof__session *s, prof__chunk *chunk, uint32_t state)
{
    if (!__atomic_compare_exchange_n(&chunk->state, &state, PROF__CHUNK_FREE, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        return 0;
    if (!s->ring.spare_chunk) {
        /* The spare chunk comes first, because the service may have found none for its own events. */
        s->ring.spare_chunk = 1;
        prof__room_changed();
        return 1;
    }
    __atomic_fetch_add(&s->ring.free_chunks, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&s->ring.released, 1, __ATOMIC_SEQ_CST);
    prof__room_changed();
    if (__atomic_load_n(&s->ring.waiting, __ATOMIC_SEQ_CST)) prof__word_wake_some(&s->ring.released, 1);
    return 1;
}

/* Adds to the error of a failed export where the recording is kept. */
static prof_status prof__file_kept(const prof__session *s, prof_status status)
{
    char why[PROF__ERROR_SIZE];
    memcpy(why, PROF__ERROR_TEXT(), sizeof why);
    /* A long text is cut at the front, because the reason is at its end. */
    size_t length = strlen(why), cut = length > 110 ? length - 107 : 0;
    while (prof__utf8_inner(why[cut])) ++cut;
    return prof__fail(status, "%s%s: the recording is kept in %s", cut ? "..." : "", why + cut,
                      prof__path_end(s->file.live_path));
}

#ifdef _WIN32
static void prof__file_head(prof__session *s) { (void)s; }
static int prof__stream_file_there(const prof__session *s) { return s->stream.opened; }
static void prof__file_close(prof__session *s)
{
    if (s->stream.opened) CloseHandle(s->stream.handle);
    s->stream.opened = 0;
}
static void prof__stream_close(prof__session *s)
{
    free(s->stream.block);
    free(s->stream.chunks);
    s->stream.block = NULL;
    s->stream.chunks = NULL;
    prof__file_close(s);
}

/* Finishes the image's file after the session has ended. A sidecar file is removed once the output is written. If
   threads still point into it, Windows refuses that; then the file is removed with the mapping, or with the process. */
static prof_status prof__file_finish(prof__session *s, prof_status status)
{
    WCHAR wide[PROF__WIDE_SIZE];
    prof__file_close(s);
    if (s->file.live_path == s->file.output) return status;
    if (status) return prof__file_kept(s, status);
    prof__memory_move(s);
    if (!prof__file_remove(s->file.live_path) || !prof__wide(s->file.live_path, wide)) return PROF_OK;
    s->stream.handle = CreateFileW(wide, DELETE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                   OPEN_EXISTING, FILE_FLAG_DELETE_ON_CLOSE, NULL);
    s->file.to_remove = s->stream.handle != INVALID_HANDLE_VALUE;
    return PROF_OK;
}
#else
static void prof__stream_close(prof__session *s)
{
#ifndef PROF_NO_THREAD
    free(s->stream.block);
    free(s->stream.chunks);
    s->stream.block = NULL;
    s->stream.chunks = NULL;
#endif
    if (prof__stream_file_there(s)) close(s->stream.file);
    s->stream.opened = 0;
}

#define PROF__LATE_CHUNKS 256 /* chunks that threads may still take: their macros began before the session ended */

/* Frees the disk blocks of chunks that no thread has used, if the blocks of the whole ring were reserved. */
static void prof__file_trim(const prof__session *s)
{
#ifdef __linux__
    uint64_t first = PROF__LOAD(&s->header->next_chunk) + PROF__LATE_CHUNKS;
    uint64_t at = (uint64_t)(s->chunks - (char *)s->file.mapping);
    if (!s->file.whole || first >= PROF__LOAD(&s->chunk_count)) return;
    fallocate(s->stream.file, 3 /* FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE */,
              (prof__offset)(at + first * s->chunk_size),
              (prof__offset)((PROF__LOAD(&s->chunk_count) - first) * s->chunk_size));
#else
    (void)s;
#endif
}

/* Writes the first size bytes of the image to its file, and checks that they arrived. Needed where a mapping is only a
   copy of the file, which prof__map_shared() finds out. Returns 0 or errno. */
static int prof__file_copy(const prof__session *s, uint64_t size)
{
    const char *from = (const char *)s->file.mapping;
    char magic[8];
    int tries = 0;
    if (!prof__stream_file_there(s)) return EBADF;
    for (uint64_t at = 0; at < size;) {
        uint64_t left = size - at, piece = left < 1u << 20 ? left : 1u << 20;
        ssize_t n = pwrite(s->stream.file, from + at, (size_t)piece, (prof__offset)at);
        if (n < 0 && prof__interrupted(&tries)) continue;
        if (n <= 0) return n ? errno : EIO;
        tries = 0;
        at += (uint64_t)n;
    }
    if (pread(s->stream.file, magic, sizeof magic, 0) != (ssize_t)sizeof magic) return EIO;
    if (memcmp(magic, PROF__MAGIC, 8)) return EIO;
    return 0;
}

/* Writes the header and meta to a file whose chunks are written only at the end, because it has no shared mappings. So
   a program that is killed leaves a file whose header explains why there are no events. Also notes this for the message
   at the start. */
static void prof__file_head(prof__session *s)
{
    if (!s->file.apart || s->file.live_path != s->file.output) return;
    prof__file_copy(s, s->header->chunk_offset);
    if (!s->file.sidecar_error) return;
#ifndef PROF_MINIMAL
    prof__start_note_set(s->file.live_path,
                         " is on a file system without shared mappings: its events are written at the end, and a "
                         "program that is killed leaves none", "");
#endif
}

/* Finishes the image's file after the session has ended. If the file is not the output itself, status is the result of
   the export. */
static prof_status prof__file_finish(prof__session *s, prof_status status)
{
    prof__about about;
    int named = !prof__lstat(s->file.live_path, &about);
    int here = named && (uint64_t)about.st_dev == s->stream.device && (uint64_t)about.st_ino == s->stream.inode;
    int open = prof__stream_file_about(s, &about); /* also if the file was moved or renamed meanwhile */
    int error = s->file.apart && s->file.live_path == s->file.output && !status ? prof__file_copy(s, s->image_size) : 0;
    if (error)
        status = prof__fail(PROF_IO, "%s: cannot be written: %s", prof__path_end(s->file.live_path), strerror(error));
    if (!status && !PROF__LOAD(&s->chunk_count))
        status = prof__fail(PROF_IO, "%s: %s: nothing could be recorded", prof__path_end(s->file.live_path),
                            s->ring.room_error);
    else if (PROF__SIDECAR(s->file.live_path != s->file.output) && status) {
        status = prof__file_kept(s, status);
    } else if (PROF__SIDECAR(s->file.live_path != s->file.output)) {
        if (here) unlink(s->file.live_path);
    } else if (!status && !here && (!open || PROF__FILE_ABOUT(s, &about) || !about.st_nlink)) {
        status = prof__fail(PROF_IO, "%s was %s while it was recorded%s", prof__path_end(s->file.live_path),
                            named ? "replaced by another file" : "removed",
                            PROF__MINIMAL ? "" : ": prof_save() can still write it elsewhere");
    } else if (!status && !(open && prof__file_cut(s, &about)) && prof__chunks_there(s) < s->ring.chunks_asked) {
        status = prof__fail(PROF_IO, "%s: %s: its buffer has %llu KiB instead of %llu",
                            prof__path_end(s->file.live_path), s->ring.room_error,
                            (unsigned long long)(PROF__LOAD(&s->chunk_count) * s->chunk_size >> 10),
                            (unsigned long long)(s->ring.chunks_asked * s->chunk_size >> 10));
    }
#ifdef PROF__META_GROWS
    if (!status && s->names_error && s->file.live_path == s->file.output)
        status = prof__fail(PROF_IO, "%s: %s: names did not fit", prof__path_end(s->file.live_path), s->names_error);
#endif
    if (!status && PROF__LOAD(&s->file.cut))
        status = prof__fail(PROF_IO, "%s: another program truncated it while it was recorded: what was there is lost",
                            prof__path_end(s->file.live_path));
    if (open) prof__file_trim(s);
    if (open) prof__file_unlock(s->stream.file); /* other processes may replace the file from now on */
    return status;
}
#endif
#ifdef PROF_NO_THREAD
/*-- NO THREAD ------------------------------------------------------------------------------------------------------
   prof__service_configure() refuses a configuration that needs the service thread. */

static int prof__stream_step(prof__session *s) { return (void)s, 0; }
static prof_status prof__stream_told(const char *written) { return (void)written, PROF_OK; }
static prof_status prof__service_check(const prof_config *config)
{
    return config->delay_ns || config->start_unix_ns || config->duration_ns
               ? prof__left_out("delay, start_unix, duration", "PROF_NO_THREAD")
               : PROF_OK;
}
static prof_status prof__service_configure(prof__session *s, const prof_config *config)
{
    int fresh = !s->file.output[0] || s->file.live_path == s->file.output; /* no output needs to be rewritten */
    if (config->dump_period_ns && config->dump_period_ns != PROF_NEVER && !fresh)
        return prof__left_out("dump_period", "PROF_NO_THREAD");
    if (config->mode == PROF_STREAM) return prof__left_out("mode stream", "PROF_NO_THREAD");
    return prof__reader()->follow_make(s, config);
}
static prof_status prof__service_start(prof__session *s) { return (void)s, PROF_OK; }
static void prof__service_stop(prof__session *s) { (void)s; }
static void prof__service_wake(prof__session *s) { (void)s; }
#else
/*-- STREAM ----------------------------------------------------------------------------------------------- >>stream --
   With PROF_STREAM, the service packs full chunks, the oldest first, into blocks that follow the ring in the file (the
   archive). It releases each chunk only when its block is complete and the header points past it. So the file is
   complete at every moment. What cannot be written stays in the ring and is tried again. Once the ring is full, events
   are lost and counted. */

#define PROF__MIN_ARCHIVE (512u << 10) /* bytes; a size limit must leave space for some blocks */
/* Ns until a failed write is tried again; doubles with each failure, up to a second. */
#define PROF__FIRST_RETRY 10000000u

/* Returns 1 if the service may empty this chunk: it is full; or it is partial, because its thread has ended, and few
   chunks are left for other threads. */
static int prof__chunk_full(prof__session *s, prof__chunk *chunk)
{
    uint32_t state = PROF__ACQUIRE(&chunk->state);
    return state == PROF__CHUNK_FULL ||
           (state == PROF__CHUNK_PARTIAL &&
            PROF__LOAD(&s->ring.free_chunks) < (int32_t)(PROF__LOAD(&s->ring.pieces) / 4) &&
            __atomic_compare_exchange_n(&chunk->state, &state, (uint32_t)PROF__CHUNK_FULL, 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED));
}

/* Prepares the archive. Called after the image's memory was taken and before the file has its name. */
static prof_status prof__stream_open(prof__session *s)
{
    prof__header *h = s->header;
    uint64_t least = 2 * PROF__BLOCK_BOUND(s->chunk_words);
    if (least < PROF__MIN_ARCHIVE) least = PROF__MIN_ARCHIVE;
    if (!s->file.live_path)
        return prof__fail(PROF_INVALID_ARGUMENT, "mode stream needs an output, for example trace.prof");
    if (s->file.max_file_size && s->file.max_file_size < prof__round(s->file.mapping_size, 4096) + least)
        return prof__fail(PROF_INVALID_ARGUMENT,
                          "max_file_size %llu: must be at least %lluK more than the buffer (%llu)",
                          (unsigned long long)s->file.max_file_size, (unsigned long long)(least + 1023) / 1024,
                          (unsigned long long)s->file.mapping_size);
    s->stream.block = (prof__block *)malloc(PROF__BLOCK_BOUND(s->chunk_words));
    s->stream.chunks = (prof__chunk **)malloc(((size_t)s->chunk_count << s->ring.deepest) * sizeof *s->stream.chunks);
    if (!s->stream.block || !s->stream.chunks) return prof__no_memory("to pack chunks");
    h->archive_offset = h->archive_first = h->archive_next = prof__round(s->file.mapping_size, 4096);
    h->archive_limit = s->file.max_file_size ? s->file.max_file_size / 8 * 8 : INT64_MAX / 4096 * 4096;
    return PROF_OK;
}

#ifdef _WIN32
/* Writes or reads size bytes at offset `at` of the file. Returns 0 or an errno. */
static int prof__stream_move(prof__session *s, void *bytes, size_t size, uint64_t at, int writes)
{
    char *next = (char *)bytes;
    while (size) {
        OVERLAPPED place;
        DWORD n = 0, part = size < 1u << 30 ? (DWORD)size : 1u << 30;
        memset(&place, 0, sizeof place);
        place.Offset = (DWORD)at;
        place.OffsetHigh = (DWORD)(at >> 32);
        if (!(writes ? WriteFile(s->stream.handle, next, part, &n, &place)
                     : ReadFile(s->stream.handle, next, part, &n, &place)))
            return prof__windows_errno(GetLastError());
        if (!n) return writes ? ENOSPC : EILSEQ;
        next += n;
        at += n;
        size -= n;
    }
    return 0;
}
static int prof__stream_write(prof__session *s, const void *bytes, size_t size, uint64_t at) /* 0 or errno */
{
    return s->stream.opened ? prof__stream_move(s, (void *)(uintptr_t)bytes, size, at, 1) : EBADF;
}
static int prof__stream_read(prof__session *s, void *to, size_t size, uint64_t at)
{
    return prof__stream_move(s, to, size, at, 0);
}
#else
/* Opens the file again by its name. Returns 0 and sets errno on failure. */
static int prof__stream_file_open(prof__session *s, const char *path)
{
    int file = open(path, O_RDWR | PROF__O_FILE);
    if (file < 0) return 0;
    prof__file_lock(file);
    prof__file_keep(s, file);
    return 1;
}

/* Makes sure that the descriptor refers to the image's file; opens the file again if the program has closed the
   descriptor. Returns 0 on failure. */
static int prof__stream_file_ready(prof__session *s, prof__about *about)
{
    if (prof__stream_file_about(s, about)) return 1;
    if (prof__stream_file_open(s, s->file.live_path)) {
        if (prof__stream_file_about(s, about)) return 1;
        close(s->stream.file); /* a different file has the name by now */
        s->stream.opened = 0;
    }
    return 0;
}

/* Writes at offset `at` of the file. Called only in the service thread, in which all signals are blocked, also those
   that a failing write raises. Returns 0 or errno. */
static int prof__stream_write(prof__session *s, const void *bytes, size_t size, uint64_t at)
{
    const char *from = (const char *)bytes;
    int tries = 0;
    prof__about about;
    if (!prof__stream_file_ready(s, &about)) return EBADF;
    /* Another program has truncated the file; a write would extend it again. */
    if (prof__file_cut(s, &about)) return EILSEQ;
    while (size) {
        prof__offset offset = (prof__offset)at;
        errno = EFBIG;
        ssize_t n = (uint64_t)offset == at ? pwrite(s->stream.file, from, size, offset) : -1;
        if (n < 0 && prof__interrupted(&tries)) continue;
        if (n <= 0) return n ? errno : ENOSPC;
        tries = 0;
        from += n;
        at += (uint64_t)n;
        size -= (size_t)n;
    }
    return 0;
}

/* Returns 0 or errno; EILSEQ if the file has fewer bytes. */
static int prof__stream_read(prof__session *s, void *to, size_t size, uint64_t at)
{
    ssize_t n = pread(s->stream.file, to, size, (prof__offset)at);
    return n < 0 ? errno : n != (ssize_t)size ? EILSEQ : 0;
}
#endif

/* Drops the archive's oldest block, or the mark that ends a lap. Returns 0 or errno. */
static int prof__archive_drop(prof__session *s)
{
    prof__header *h = s->header;
    prof__block block;
    uint64_t first = h->archive_first, left = h->archive_limit - first;
    int ends = left < sizeof block;
    if (!ends) {
        int error = prof__stream_read(s, &block, sizeof block, first);
        if (error) return error;
        if (block.magic != PROF__BLOCK_MAGIC || block.size < sizeof block ||
            block.size > left)
            return EILSEQ; /* the bytes are not those that were written there */
        ends = !block.sequence;
        if (!ends) PROF__ADD(&h->overwritten, 1);
    }
    PROF__RELEASE(&h->archive_first, ends ? h->archive_offset : first + block.size);
    return 0;
}

/* Writes a mark that ends a lap of the archive at this offset. Returns 0 or errno. */
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

/* Finds the offset for a block of size bytes. Drops older blocks to make space if at_limit is PROF_LIMIT_ROTATE.
   Returns 0, errno, or EDOM if the archive has reached its limit. */
static int prof__archive_room(prof__session *s, uint64_t size, uint64_t *at)
{
    prof__header *h = s->header;
    int error = 0;
    uint64_t next = h->archive_next;
    /* After the first lap, space ends at the oldest block, which must not be overwritten. */
    while (!error && h->archive_first > next) {
        *at = next;
        if (h->archive_first - next > size) return 0;
        error = prof__archive_drop(s);
    }
    if (error) return error;
    *at = next;
    if (h->archive_limit - next >= size) return 0;
    if (s->file.at_limit != PROF_LIMIT_ROTATE) return EDOM;
    *at = h->archive_offset;
    error = prof__archive_lap(s, next);
    while (!error && h->archive_first <= *at + size && h->archive_first != next) error = prof__archive_drop(s);
    return error;
}

/* Packs a chunk and writes it to the archive; the caller may release the chunk afterwards. Returns 0 or errno. */
static int prof__stream_put(prof__session *s, const prof__chunk *chunk)
{
    const uint64_t *words = (const uint64_t *)(const void *)(chunk + 1);
    uint64_t at = 0;
    uint32_t size = prof__block_pack(chunk, words, (size_t)prof__words_of(s, chunk), s->stream.block);
    int error = prof__archive_room(s, size, &at);
    if (!error) error = prof__stream_write(s, s->stream.block, size, at);
    if (!error) PROF__RELEASE(&s->header->archive_next, at + size);
    return error;
}

/* Notes that a chunk could not be written, and when to try again. EDOM: the file has reached its limit, and nothing
   more is written. */
static void prof__stream_failed(prof__session *s, int error)
{
    prof__stream *stream = &s->stream;
    if (error == EDOM) {
        stream->full = 1;
        prof__background_failed(s, PROF__LIMIT_REACHED);
        return;
    }
    PROF__STORE(&stream->failing, 1);
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

/* Lists the full chunks, the oldest first, and returns how many there are. A thread fills one chunk before it starts
   the next. So once a pass over the ring finds no more full chunks than the previous pass, every listed chunk's older
   full chunks of the same thread are listed, too. That order matters: a rotating archive drops blocks in the order in
   which they were written, and must not drop from the middle of a thread's events. Chunks that were never taken are not
   read, because reading would give them pages. */
static size_t prof__stream_gather(prof__session *s)
{
    size_t count = 0, before;
    do {
        uint64_t taken = PROF__ACQUIRE(&s->header->next_chunk), slots = PROF__LOAD(&s->chunk_count);
        uint64_t end = (taken < slots ? taken : slots) * s->chunk_size;
        before = count;
        count = 0;
        for (uint64_t at = 0, bytes; at < end; at += bytes) {
            prof__chunk *chunk = (prof__chunk *)(void *)(s->chunks + at);
            bytes = prof__form_bytes(s->chunk_size, at, PROF__ACQUIRE(&chunk->form));
            if (prof__chunk_full(s, chunk)) s->stream.chunks[count++] = chunk;
        }
    } while (count != before);
    qsort(s->stream.chunks, count, sizeof *s->stream.chunks, prof__stream_order);
    return count;
}

/* Packs the full chunks into the archive. Returns 1 if there were any. */
static int prof__stream_step(prof__session *s)
{
    prof__stream *stream = &s->stream;
    if (s->header->mode != PROF_STREAM || stream->full) return 0;
    if (stream->backoff_ns && prof__monotonic() < stream->retry_at) return 0;
    uint64_t next = PROF__LOAD(&s->header->next_chunk);
    if (next == stream->seen && PROF__LOAD(&s->ring.free_chunks) > (int32_t)(PROF__LOAD(&s->ring.pieces) / 2))
        return 0; /* no thread has taken a chunk since, and more than half of the chunks are free */
    stream->seen = next;
    size_t count = prof__stream_gather(s);
    if (!count) return 0;
    uint64_t began = prof__now(s, 0);
    int error = 0;
    for (size_t i = 0; i < count && !error && !PROF__ACQUIRE(&s->service.stop); ++i) {
        prof__chunk *chunk = stream->chunks[i];
        uint32_t state = PROF__CHUNK_FULL;
        if (!__atomic_compare_exchange_n(&chunk->state, &state, PROF__CHUNK_HELD, 0, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
            continue; /* the thread that filled this chunk found no free one, and has taken this one back */
        error = prof__stream_put(s, chunk);
        if (error) PROF__RELEASE(&chunk->state, state);
        if (error) break;
        stream->backoff_ns = 0;
        PROF__STORE(&stream->failing, 0);
        prof__chunk_release(s, chunk, PROF__CHUNK_HELD);
    }
    if (error) {
        stream->seen = ~0ull;
        prof__stream_failed(s, error);
    }
    PROF__SITE(site, PROF__KIND_BEGIN, "pack", "prof", 2);
    prof__service_scope(s, &site, began);
    return 1;
}

/* Returns PROF_OK, or an error if events were lost while the stream's file could not be written. written: the file that
   has all other events, for the message. */
static prof_status prof__stream_told(const char *written)
{
    uint32_t write_lock = prof__state_lock();
    const prof__session *s = prof__state.session;
    char path[sizeof s->file.output] = "", why[sizeof s->header->write_error];
    if (s && s->file.live_path && PROF__LOAD(&s->stream.lost)) {
        prof__text_copy(path, sizeof path, s->file.live_path);
        for (size_t i = 0; i < sizeof why; ++i) why[i] = PROF__LOAD(s->header->write_error + i);
    }
    prof__state_unlock(write_lock);
    if (!path[0]) return PROF_OK;
    return prof__fail(PROF_IO, "%s: has what could be kept, but events were lost, because %s could not be written: %s",
                      prof__path_end(written), prof__equal(path, written) ? "it" : prof__path_end(path), why);
}
#endif
#endif
/*-- SESSION -------------------------------------------------------------------------------------------- >>session --*/

/* Returns PROF__RUNS if a session runs, PROF__ENDED if one has ended by itself, else 0. The service ends a session
   under the state lock alone. So holding the control lock does not make the answer superfluous. */
enum { PROF__ENDED = 1, PROF__RUNS };
static int prof__session_phase(void)
{
    uint32_t write_lock = prof__state_lock();
    int phase = prof__state.running ? PROF__RUNS : prof__state.ended ? PROF__ENDED : 0;
    prof__state_unlock(write_lock);
    return phase;
}

/* Ends recording and keeps the image. Called under the state lock. */
static void prof__recording_ends(void)
{
    PROF__STORE(&prof__state.running, 0);
    prof__next_config_version();
    if (prof__state.session) {
        prof__header *h = prof__state.session->header;
        prof__pair_take_well(h->clock, h->tick_hz, &h->last);
        prof__lost_collect(prof__state.session);
        PROF__RELEASE(&h->state, (uint32_t)PROF__STOPPED);
    }
}

#ifdef PROF_TINY /* PROF_TINY has no signal handlers to recover from */
static void prof__recover(void) {}
#else
/* Repairs a thread that holds its write lock although it runs ordinary code: a signal handler interrupted a macro and
   left with siglongjmp(). Gives up that macro's event and the thread's chunk. Called while no session runs. */
static void prof__recover(void)
{
    prof__thread *self = PROF__SELF();
    if (self->write_lock != PROF__BUSY || self->exits >= PROF__EXITS) return;
    /* Switches of fibers were ignored meanwhile: the fiber may be destroyed, or run on another thread. */
    self->fiber = NULL;
    prof__track_of(self)->reserved_ends = 0;
    prof__filled_finish(self);
    if (self->chunk) PROF__RELEASE(&self->chunk->state, (uint32_t)PROF__CHUNK_FULL);
    prof__detach(self);
    self->synced_version = 0;
    self->open = PROF__SHUT;
    prof__leave(self);
}
#endif

#ifdef PROF_FREESTANDING
/* There is one image at a time, in the user's memory, and no memory for a second session. */
static prof__session prof__only_session;
static prof__session *prof__session_new(void)
{
    prof__clear(&prof__only_session, sizeof prof__only_session);
    return &prof__only_session;
}
static void prof__session_delete(prof__session *s) { (void)s; }
#else
static prof__session *prof__session_new(void) { return (prof__session *)calloc(1, sizeof(prof__session)); }
static void prof__session_delete(prof__session *s)
{
    prof__stream_close(s);
    prof__folder_drop(s);
    prof__memory_free(s);
    prof__reader()->follow_free(s->follow);
    free(s);
}
#endif

#ifdef PROF_FREESTANDING
/* Ends the one session. Threads notice that by its session id. */
static void prof__sessions_reap(int present)
{
    uint32_t write_lock = prof__state_lock();
    prof__thread *self = PROF__SELF();
    if (present && self->session) prof__detach(self);
    if (present) prof__state.session = NULL;
    prof__state_unlock(write_lock);
}
#else
/* Deletes the sessions that no thread points to any more. present: 1: also retires the current session. Called under
   the control lock. */
static void prof__sessions_reap(int present)
{
    uint32_t write_lock = prof__state_lock();
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
    prof__state_unlock(write_lock);
#ifdef PROF__THREAD_SANITIZER /* not with ThreadSanitizer: replacing the pages would be reported as a data race */
    retire = 0;
#endif
    if (retire && prof__state.retired == s) prof__memory_retire(s);
    while (dead) {
        prof__session *next = dead->next;
        prof__session_delete(dead);
        dead = next;
    }
}
#endif

#ifndef PROF_FREESTANDING
/* A function that saves more data when a trigger saves the recording; prof_ntff.h sets it. NULL: none. */
static prof_status (*prof__saved_hook)(void);
static void prof__saved_with(prof_status (*hook)(void))
{
    PROF__FORWARD_VOID(prof__saved_with, (hook));
    PROF__RELEASE(&prof__saved_hook, hook);
}
#endif
#ifndef PROF_FREESTANDING
#ifndef PROF_NO_THREAD
/*-- SERVICE --------------------------------------------------------------------------------------------- >>service --
   The service is a thread that prof.h starts if, and only if, the configuration needs it. It does in the background
   what takes longer than a scope may. Each of its steps looks for work and does it. A recording thread does not wake
   the service, because that would cost a system call, unless the thread waits for a chunk. Instead, the service looks
   so often that the ring should not fill between two looks. All signals are blocked in it. It takes no control lock,
   because prof_stop() holds that lock while it waits for the service to end. Its own scopes are recorded like all
   others, on a track "prof".
   Writing an output takes as long as the output is large. The service must not do that where threads may wait for it to
   empty chunks. There, a second thread, the writer, writes outputs, on a track "prof writer". */

static int prof__service_session_runs(const prof__session *s)
{
    uint32_t write_lock = prof__state_lock();
    int runs = prof__state.running && prof__state.session == s;
    prof__state_unlock(write_lock);
    return runs;
}

/* Writes the output every dump_period, as prof_stop() does at the end. */
static int prof__dump_step(prof__session *s)
{
    prof__service *service = &s->service;
    uint64_t now = s->dump_period_ns ? prof__monotonic() : 0;
    if (!s->dump_period_ns || now < service->dump_at) return 0;
    if (!prof__service_session_runs(s)) return 0; /* the session has not been published yet */
    uint64_t began = prof__now(s, 0);
    if (prof__output_write(s)) prof__background_failed(s, prof_error());
    service->dump_at = prof__monotonic() + s->dump_period_ns;
    PROF__SITE(site, PROF__KIND_BEGIN, "dump", "prof", 2);
    prof__service_scope(s, &site, began);
    return 1;
}

/* Asks for the names of threads once a second, so that the file of a program that is killed has them, too. */
static void prof__names_step(prof__session *s)
{
    uint64_t now = prof__monotonic();
    if (now < s->service.names_at || !prof__service_session_runs(s)) return;
    prof__names_look(s);
    s->service.names_at = now + 1000000000;
}

/* Begins and ends recording at the configured times. At the end, the output is written as prof_stop() would write
   it. */
static int prof__schedule_step(prof__session *s)
{
    uint64_t now = s->schedule.begin_at || s->schedule.duration_ns ? prof__monotonic() : 0;
    int ended = 0;
    if (!now) return 0;
    if (s->schedule.end_at && now >= s->schedule.end_at) prof__names_look(s);
    s->look_at = s->schedule.begin_at; /* looked at until the session is published */
    uint32_t write_lock = prof__state_lock();
    if (prof__state.running && prof__state.session == s) {
        if (prof__state.held & PROF__HELD_TIME && now >= s->schedule.begin_at)
            prof__schedule_release(s, PROF__HELD_TIME);
        ended = !prof__state.held && s->schedule.end_at && now >= s->schedule.end_at;
        if (ended) prof__recording_ends();
        prof__state.ended |= ended;
        s->look_at = ended ? 0 : prof__state.held & PROF__HELD_TIME ? s->schedule.begin_at : s->schedule.end_at;
    } else if (prof__state.session == s) {
        s->look_at = 0;
    }
    prof__state_unlock(write_lock);
    if (ended) PROF__RELEASE(&s->service.end_due, 1u);
    return ended;
}

/* Writes the output of a recording that has ended by itself. */
static int prof__end_step(prof__session *s)
{
    if (!PROF__ACQUIRE(&s->service.end_due)) return 0;
    PROF__STORE(&s->service.end_due, 0u);
    if (!s->file.output[0] || s->file.live_path == s->file.output) return 0;
    prof_status status = prof__output_write(s);
    if (status) prof__background_failed(s, prof_error()); /* prof_stop() will try again */
    s->file.written = !status;
    return 1;
}

/* Does the steps that take long: saves and outputs. stop: 1: this is the last round. Returns 1 if there was work. */
static int prof__write_steps(prof__session *s, uint32_t stop)
{
    int work = prof__reader()->save_step(s);
    if (!stop) work |= prof__dump_step(s) | prof__end_step(s);
    return work;
}

/* Returns how long the service may sleep until the next time of the schedule, at most `sleep` ns. */
static uint64_t prof__schedule_sleep(const prof__session *s, uint64_t sleep)
{
    uint64_t now = s->look_at ? prof__monotonic() : 0;
    if (!s->look_at || s->look_at >= now + sleep) return sleep;
    return s->look_at > now ? s->look_at - now : 1;
}

/* Wakes the service and the writer. Any thread and any signal handler may call this function. */
static void prof__service_wake(prof__session *s)
{
    prof__word_wake(&s->service.word);
    prof__word_wake(&s->service.writer_word);
}

/* Returns how long to sleep next, in ns, after a sleep of `before` ns. If the service empties chunks, this depends on
   how many chunks were filled (used). */
static uint64_t prof__service_sleep(const prof__session *s, uint64_t before, uint64_t used, int work)
{
    const prof__service *service = &s->service;
    uint64_t sleep = before, count = PROF__LOAD(&s->ring.pieces);
    if (!prof__chunks_kept(s))
        sleep = work ? service->shortest_ns : before * 2;
    else if (used > count / 4)
        sleep = before / 2;
    else if (used < count / 6)
        sleep = before * 2;
    if (sleep < service->shortest_ns) sleep = service->shortest_ns;
    return sleep < service->longest_ns ? sleep : service->longest_ns;
}

/* The service thread: does each step, then sleeps until the next one may have work. */
static void prof__service_run(prof__session *s)
{
    prof__service *service = &s->service;
    uint64_t sleep = service->shortest_ns;
    PROF__SELF()->impatient = 1;
    prof_set_thread_name("prof");
    for (;;) {
        uint32_t word = PROF__ACQUIRE(&service->word), stop = PROF__ACQUIRE(&service->stop);
        uint64_t used = PROF__LOAD(&s->ring.pieces) - (uint32_t)PROF__LOAD(&s->ring.free_chunks);
        int work = stop ? 0 : prof__stream_step(s); /* at the end, the ring stays in the file as it is */
        work |= prof__reader()->follow_step(s); /* counts statistics and looks for triggers of saves */
        if (!stop) prof__names_step(s);
        work |= stop ? 0 : prof__schedule_step(s);
        if (!service->wants_writer) work |= prof__write_steps(s, stop);
        if (stop) break;
        sleep = prof__service_sleep(s, sleep, used, work);
        prof__word_wait(&service->word, word, prof__schedule_sleep(s, sleep));
    }
}

#define PROF__FOLLOW_PERIOD 5000000u /* ns; the longest time between two looks for triggers of saves */

#ifndef PROF__WRITER_NICE
#define PROF__WRITER_NICE 10
#endif

/* Returns how long the writer may sleep, in ns. It must look often for requests of saves, because a request only sets a
   flag. */
static uint64_t prof__writer_sleep(const prof__session *s)
{
    uint64_t now = prof__monotonic(), sleep = s->follow ? PROF__FOLLOW_PERIOD : 1000000000u;
    if (s->dump_period_ns && s->service.dump_at < now + sleep)
        sleep = s->service.dump_at > now ? s->service.dump_at - now : 1;
    return sleep;
}

/* The writer thread: writes outputs and saves when they are due. */
static void prof__writer_run(prof__session *s)
{
    prof__service *service = &s->service;
    PROF__SELF()->impatient = 1;
    prof_set_thread_name("prof writer");
    for (;;) {
        uint32_t word = PROF__ACQUIRE(&service->writer_word), stop = PROF__ACQUIRE(&service->writer_stop);
        prof__write_steps(s, stop);
        if (stop) break;
        prof__word_wait(&service->writer_word, word, prof__writer_sleep(s));
    }
}

#ifdef _WIN32
static DWORD WINAPI prof__service_main(LPVOID session)
{
    prof__service_run((prof__session *)session);
    return 0;
}
static DWORD WINAPI prof__writer_main(LPVOID session)
{
    prof__writer_run((prof__session *)session);
    return 0;
}
static int prof__service_create(HANDLE *thread, LPTHREAD_START_ROUTINE run, prof__session *s)
{
    *thread = CreateThread(NULL, 0, run, s, 0, NULL); /* 0 or the system's error */
    return *thread ? 0 : (int)GetLastError();
}
static void prof__service_join(HANDLE thread)
{
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
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
static void *prof__writer_main(void *session)
{
#ifdef __linux__
    prctl(PR_SET_NAME, "prof writer", 0, 0, 0);
    if (nice(PROF__WRITER_NICE) == -1) errno = 0; /* on Linux, nice() changes this thread only */
#endif
    prof__writer_run((prof__session *)session);
    return NULL;
}
static int prof__service_create(pthread_t *thread, void *(*run)(void *), prof__session *s)
{
    return prof__thread_create(thread, run, s);
}
static void prof__service_join(pthread_t thread) { pthread_join(thread, NULL); }
#endif

/* Returns the longest sleep, in ns: an eighth of the time in which the ring fills at 160 MB a second (10 million scopes
   a second). It is never less than a millisecond, so that an idle program costs little; a ring of less than 1.3 MB may
   therefore fill in between. */
static uint64_t prof__service_longest(const prof__session *s)
{
    uint64_t ns = s->chunk_count * s->chunk_size / 8 * 25 / 4;
    if (!prof__chunks_kept(s)) ns = s->dump_period_ns / 10;
    if (ns < 1000000) ns = 1000000;
    return ns < 1000000000 ? ns : 1000000000;
}

/* Checks the fields of the configuration that only the service uses. */
static prof_status prof__service_check(const prof_config *c)
{
    if ((unsigned)c->at_limit > PROF_LIMIT_ROTATE) return prof__must_be("at_limit", "stop or rotate");
    if (c->wait_ns > PROF__MAX_WAIT && c->wait_ns != PROF_NEVER) return prof__must_be("wait", "at most 10s");
    if (c->dump_period_ns && c->dump_period_ns < PROF__MIN_PERIOD) /* PROF_NEVER is more */
        return prof__must_be("dump_period", "at least 10ms");
    if (c->delay_ns > PROF__CENTURY || c->duration_ns > PROF__CENTURY)
        return prof__must_be("delay, duration", "at most a century");
    return PROF_OK;
}

/* Decides whether the session needs the service and the writer, and how often they look for work. */
static prof_status prof__service_configure(prof__session *s, const prof_config *config)
{
    prof__service *service = &s->service;
    s->file.max_file_size = config->max_file_size;
    s->file.at_limit = (uint32_t)config->at_limit;
    s->wait_ns = config->wait_ns == PROF_NEVER ? 0 : config->wait_ns;
    if (!config->wait_ns && prof__mode_counts((uint32_t)config->mode)) s->wait_ns = PROF__MAX_WAIT;
    /* The output of a mapped file is always up to date. */
    int fresh = s->file.live_path && (s->file.live_path == s->file.output || config->mode == PROF_STREAM);
    s->dump_period_ns =
        fresh || !s->file.output[0] || config->dump_period_ns == PROF_NEVER ? 0 : config->dump_period_ns;
    service->wanted = prof__chunks_kept(s) || s->dump_period_ns != 0;
    service->longest_ns = prof__service_longest(s);
    service->shortest_ns = service->longest_ns / 16 > 100000 ? service->longest_ns / 16 : 100000;
    service->dump_at = prof__monotonic() + s->dump_period_ns;
    prof_status status = prof__reader()->follow_make(s, config);
    if (s->follow) service->wanted = 1;
    service->wants_writer = prof__chunks_kept(s) && (s->dump_period_ns || (config->save && config->save[0]));
    if (s->follow && (!prof__chunks_kept(s) || service->longest_ns > PROF__FOLLOW_PERIOD) && config->save) {
        service->longest_ns = PROF__FOLLOW_PERIOD;
        service->shortest_ns = PROF__FOLLOW_PERIOD / 8;
    }
    if (!service->wanted && (config->delay_ns || config->start_unix_ns || config->duration_ns)) {
        service->wanted = 1; /* the service only compares the clock with the schedule */
        service->longest_ns = service->shortest_ns = 1000000000;
    }
    return status || config->mode != PROF_STREAM ? status : prof__stream_open(s);
}

/* Stops the threads after they have finished their work: the service first, because it may still find a reason for a
   save. In a child of fork() the threads do not exist. Called under the control lock. */
static void prof__service_stop(prof__session *s)
{
    prof__service *service = &s->service;
    if (!service->running) return;
    service->running = 0;
    if (service->process != prof__process_id()) return;
    PROF__RELEASE(&service->stop, 1u);
    prof__word_wake(&s->ring.released); /* threads that wait for a chunk get no more chunks */
    prof__service_wake(s);
    prof__service_join(service->thread);
    if (!service->wants_writer) return;
    PROF__RELEASE(&service->writer_stop, 1u);
    prof__service_wake(s);
    prof__service_join(service->writer);
}

/* Starts the threads that the session needs. Called under the control lock. */
static prof_status prof__service_start(prof__session *s)
{
    prof__service *service = &s->service;
    if (!service->wanted) return PROF_OK;
    service->process = prof__process_id();
    int error = prof__service_create(&service->thread, prof__service_main, s);
    if (!error) service->running = 1;
    if (!error && service->wants_writer) {
        error = prof__service_create(&service->writer, prof__writer_main, s);
        if (error) service->wants_writer = 0;
        if (error) prof__service_stop(s);
    }
    return error ? prof__fail(PROF_NO_MEMORY, "the service thread cannot be started: error %d", error) : PROF_OK;
}

/* Stops the threads at exit and at an unload, because their code may be unloaded next, or the process may end without
   prof_stop(). */
PROF__AT_END(PROF__LAST, prof__service_leave);
static void prof__service_leave(void)
{
    if (!prof__lock_try(&prof__control_word)) return;
    if (prof__state.session) prof__service_stop(prof__state.session);
    prof__unlock(&prof__control_word);
}
#endif
/*-- SYMBOLS ---------------------------------------------------------------------------------------------- >>symbols --
   A function that the compiler's hooks traced has a call site whose texts encode its address. Name: "module+0x1b40",
   the address as in the module's symbol table. File: the path of the module (program or library). Function: the build
   id of the module, see prof__module_identify. When a trace is opened, the reader looks the name up in the module's
   file or in its separate debug file, if the build id still matches. As an image may name any path, these files are not
   trusted. */

#ifndef PROF_FREESTANDING
#include <limits.h>
#include <sys/stat.h>

#define PROF__BUILD_ID "?build-id=" /* no function's name begins with '?' */
#define PROF__BUILD_TIME "?modified="
#define PROF__MAX_BUILD_ID 64 /* bytes; linkers make 8 to 32 */
#define PROF__MAX_MODULES 256 /* for one trace */

typedef struct prof__symbol {
    uint64_t value;
    const char *name, *file; /* file: the source file of a local symbol, as the compiler got it, else NULL */
    int rank;                /* of several names of an address the highest rank is shown: global, weak, local */
} prof__symbol;

/* The functions of one module, in order of their addresses. */
typedef struct prof__module_symbols {
    char *path, *build;
    char *texts; /* the string table, with a zero behind it */
    prof__symbol *list;
    size_t count;
} prof__module_symbols;

typedef struct prof__symbols {
    prof__module_symbols *modules;
    size_t count;
} prof__symbols;

/* An open ELF file. wide: 64-bit; big: big-endian. */
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

/* Reads a field that is at `narrow` with 4 bytes in 32-bit files, and at `wide` with 8 bytes in 64-bit files. */
static uint64_t prof__elf_word(const prof__elf *elf, const unsigned char *record, size_t narrow, size_t wide)
{
    return elf->wide ? prof__elf_number(elf, record + wide, 8) : prof__elf_number(elf, record + narrow, 4);
}

static int prof__elf_read(const prof__elf *elf, uint64_t offset, void *to, size_t size)
{
    if (offset > elf->size || size > elf->size - offset) return 0;
    return !prof__file_seek(elf->file, offset, SEEK_SET) && fread(to, 1, size, elf->file) == size;
}

/* Returns the bytes of a section with a zero behind them; the caller frees them. Returns NULL if the section lies
   beyond the file, is larger than 1 GiB, or there is no memory. */
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

/* Writes a build id in hex, or "" if there is none. notes: the bytes of a note section or segment. to: 2 *
   PROF__MAX_BUILD_ID + 1 bytes. */
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

/* Writes what identifies the build of a module without a build id: its size and modification time. Returns 0 if path is
   not a regular file. Such a file is never opened, because a path in an image may name a device. build: 48 bytes. */
static int prof__file_build(const char *path, uint64_t *size, char *build)
{
#ifdef _WIN32
    struct _stat64 about;
    if (_stat64(path, &about) || !(about.st_mode & _S_IFREG)) return 0;
#else
    prof__about about;
    if (prof__stat(path, &about) || !S_ISREG(about.st_mode)) return 0;
#endif
    *size = (uint64_t)about.st_size;
    snprintf(build, 48, "%llu,%lld", (unsigned long long)*size, (long long)about.st_mtime);
    return 1;
}

/* Opens path if it is an ELF file of this build. Returns 0 otherwise. */
static int prof__elf_open(prof__elf *elf, const char *path, const char *build)
{
    char now[48];
    unsigned char head[64];
    memset(elf, 0, sizeof *elf);
    if (!prof__file_build(path, &elf->size, now)) return 0;
    if (!strncmp(build, PROF__BUILD_TIME, sizeof PROF__BUILD_TIME - 1) &&
        strcmp(build + sizeof PROF__BUILD_TIME - 1, now))
        return 0;
    elf->file = prof__file_open(path, "rb");
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

/* Reads the functions in the symbol table of this type. Returns 0 if the file has none, or the table is broken. */
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
        if (kind == 4) file = *name ? name : NULL; /* an empty name: the next symbols have no source file */
        if ((kind != 2 && kind != 10) || !section || !*name) continue; /* 2: function; 10: ifunc */
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

/* Reads the module's full symbol table; if that was stripped, the one in its separate debug file; else the dynamic
   symbol table, which has exported names only. */
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

/* Returns the symbols of a module, loaded at first use. Returns NULL if there is no memory, or if a trace names more
   than PROF__MAX_MODULES modules. */
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

/* Returns the symbol of a call site whose texts encode an address. Returns NULL if they do not, or the symbol is
   unknown; the reader then shows the site's own texts. symbols: zeroed before the first call; owns the result until
   prof__symbols_free(). */
static const prof__symbol *prof__symbol_find(prof__symbols *symbols, const char *name, const char *file,
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

static void prof__symbols_free(prof__symbols *symbols)
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

/*-- INSTRUMENT ---------------------------------------------------------------------------------------- >>instrument --
   gcc and clang call __cyg_profile_func_enter and _exit in every function that is compiled with -finstrument-functions.
   A function gets a call site at its first call while something records. The tables are static, so this works before
   main, in signal handlers, and without an allocation. Limits: (1) After a longjmp(), calls made by the function that
   called setjmp() may appear inside a call that longjmp() has left. This ends when that function returns or makes the
   same call again: frame addresses do not always show that a call was left. (2) Scopes of coroutines that switch stacks
   on one thread are cut short. (3) If a module is unloaded and another one is loaded at its address, functions keep the
   names of the first. */

#ifdef PROF_INSTRUMENT_FUNCTIONS
#if defined(PROF_FREESTANDING) || !defined(__ELF__)
#error "prof.h: PROF_INSTRUMENT_FUNCTIONS needs a system with ELF modules and a libc: Linux or a BSD"
#endif
#include <link.h>
#include <signal.h>
#ifdef PROF__LATE /* see >>platform: link.h declares these only with _GNU_SOURCE */
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
#define PROF_INSTRUMENT_MAX 16384 /* functions; the calls of any others count as "(more functions)" */
#endif
#ifndef PROF_INSTRUMENT_DEPTH
#define PROF_INSTRUMENT_DEPTH 1024 /* nested calls of a thread; deeper ones are lost, and counted */
#endif
#define PROF__NOT_TRACED __attribute__((__no_instrument_function__, __noinline__)) /* each has its own frame */
#define PROF__FUNCTION_SLOTS (2 * (PROF_INSTRUMENT_MAX > 1 ? PROF_INSTRUMENT_MAX : 2)) /* so some are always free */

typedef struct prof__loaded_module {
    char path[512];
    char build[32 + 2 * PROF__MAX_BUILD_ID];
} prof__loaded_module;

typedef struct PROF__SITE_TYPE prof__function {
    uintptr_t address;
    prof_site site;
    char name[64];
} prof__function;

/* prof__function_slots is a hash table with open addressing. A slot holds the number of a function, from 1. Writers
   hold prof__function_lock. Readers take no lock, because a slot is stored after the function that it names. Functions
   and modules stay in the tables when the module is unloaded. */
static int prof__function_lock;
static prof__function prof__functions[PROF_INSTRUMENT_MAX + 1]; /* one more, for measuring costs */
static uint32_t prof__function_slots[PROF__FUNCTION_SLOTS], prof__function_count;
static prof__loaded_module prof__loaded_modules[64];
static uint32_t prof__loaded_module_count;
static prof__function prof__more_functions = {
    0, {0, "(more functions)", "function", "", "", 0, 0, 1, PROF__KIND_BEGIN, 0, 0, 0}, ""};

/* A call that has not returned. frame: the frame address of the enter hook. As stacks grow down, it tells calls that a
   longjmp() has left from those that will return. caller and hook: the addresses to which the function and its hook
   return. They distinguish calls with the same frame: functions that are inlined into one another share frame and
   caller, but each has its own call of the hook. */
typedef struct prof__call {
    uintptr_t address, frame, caller, hook;
    prof__token token;
} prof__call;

typedef struct prof__calls {
    uint32_t depth;
    uint32_t busy; /* 1: in a hook, so that prof's own functions are not recorded */
    uint32_t over; /* open calls beyond the most that the list holds */
    prof__call list[PROF_INSTRUMENT_DEPTH];
} prof__calls;

static PROF__PER_THREAD prof__calls prof__thread_calls;

typedef struct prof__module_search {
    uintptr_t address, base;
    prof__loaded_module *module;
} prof__module_search;

/* Stores what identifies the build of a module: its build id or, without one, its file's size and modification time. */
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

/* Stores the path of a module. name: the path as the loader knows it, "" for the program itself. A relative path
   becomes absolute, because the program may change its directory. */
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

/* The loader calls this for each loaded module. Returns 1, which ends the search, at the module that contains the
   address. */
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

/* Fills in the call site of a function that is called for the first time. Under prof__function_lock. */
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

/* Adds a function that is called for the first time. If the table is full, or its lock is taken (this may be a signal
   handler that interrupted the owner), the call counts for the common "(more functions)". */
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

/* Removes all calls from index `number` on from the list. Only the first of them gets an end here, which also closes
   the scopes inside. But an end closes the innermost open scope of its function. So if the function has further calls
   inside, those get their ends first. */
static void prof__calls_leave(prof__calls *calls, uint32_t number)
{
    uintptr_t address = calls->list[number].address;
    while (calls->depth > number) {
        prof__call *call = &calls->list[--calls->depth];
        if (call->address == address && call->token) prof__end(call->token);
    }
    calls->over = 0;
}

/* Removes calls that a longjmp() has left: those whose frame is below the entered one's, and those in the same frame
   with another caller or the same hook. Does nothing in a signal handler on its own stack, whose frame addresses cannot
   be compared. */
static PROF__COLD void prof__calls_abandon(prof__calls *calls, const prof__call *entered)
{
    stack_t stack;
    uint32_t number = calls->depth, i;
    int error = errno, other;
    while (number && calls->list[number - 1].frame < entered->frame) --number;
    for (i = number; i && calls->list[i - 1].frame == entered->frame; --i)
        if (calls->list[i - 1].caller != entered->caller || calls->list[i - 1].hook == entered->hook) number = i - 1;
    if (number == calls->depth) return;
    other = sigaltstack(NULL, &stack) || (stack.ss_flags & SS_ONSTACK);
    errno = error;
    if (!other) prof__calls_leave(calls, number);
}

static __attribute__((__noinline__)) void prof__call_enter(prof__calls *calls, uintptr_t address, uintptr_t frame,
                                                           uintptr_t caller, uintptr_t hook)
{
    uint32_t slot, depth = calls->depth;
    prof__function *function = prof__function_find(address, &slot);
    if (PROF__UNLIKELY(!function)) function = prof__function_add(address);
    if (PROF__UNLIKELY(depth && calls->list[depth - 1].frame <= frame)) {
        prof__call entered = {address, frame, caller, hook, 0};
        prof__calls_abandon(calls, &entered);
        depth = calls->depth;
    }
    if (PROF__UNLIKELY(depth == PROF_INSTRUMENT_DEPTH)) {
        ++calls->over;
        if (prof__live(&function->site)) prof__lose_deep(PROF__SELF());
        return;
    }
    calls->depth = depth + 1;
    calls->list[depth].address = address;
    calls->list[depth].frame = frame;
    calls->list[depth].caller = caller;
    calls->list[depth].hook = hook;
    calls->list[depth].token = prof__on(&function->site) ? prof__begin(&function->site) : 0;
}

/* Returns the index of the call that returns, or depth if its entry was not seen. Usually it is the last call, and the
   exit hook's frame is where the enter hook's frame was. Calls with lower frames were left by a longjmp(). But if the
   exit hook is a tail call, the function's frame is gone: then the hook's frame is higher than the enter hook's was,
   and may be where the caller's was. If the function called alloca(), the hook's frame is lower. */
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

/* Ends the scope of the function that returns. If the hook returns to the same address as the function, the hook was a
   tail call. */
static __attribute__((__noinline__)) void prof__call_exit(prof__calls *calls, uintptr_t address, uintptr_t frame,
                                                          uintptr_t caller, uintptr_t hook)
{
    uint32_t number = calls->depth - 1;
    int tail = caller == hook;
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

/* Both hooks have the same shape, so that their frames have the same size and can be compared. All other work is in
   other functions. */
PROF_DEF void __cyg_profile_func_enter(void *function, void *caller)
{
    prof__calls *calls = &prof__thread_calls;
    if (PROF__LOAD(prof__config_version) == PROF__OFF || calls->busy) return;
    calls->busy = 1;
    PROF__BARRIER();
    prof__call_enter(calls, (uintptr_t)function, (uintptr_t)__builtin_frame_address(0), (uintptr_t)caller,
                     (uintptr_t)__builtin_return_address(0));
    PROF__BARRIER();
    calls->busy = 0;
}

PROF_DEF void __cyg_profile_func_exit(void *function, void *caller)
{
    prof__calls *calls = &prof__thread_calls;
    if (!calls->depth || calls->busy) return;
    calls->busy = 1;
    PROF__BARRIER();
    prof__call_exit(calls, (uintptr_t)function, (uintptr_t)__builtin_frame_address(0), (uintptr_t)caller,
                    (uintptr_t)__builtin_return_address(0));
    PROF__BARRIER();
    calls->busy = 0;
}
#endif
#endif
#ifdef PROF__SNAPSHOTS
/*-- SNAPSHOT -------------------------------------------------------------------------------------------- >>snapshot --
   Makes a consistent copy of an image that threads go on writing to. The image is in this process's memory or in
   another process's file. Chunks are copied from the newest to the oldest; in a ring, those that are being written come
   first. Chunks that are taken after the start of the copy are left out. So the copy has, for each thread, everything
   that the thread recorded up to some moment, without a gap. Meta is copied last, so that it has every call site that
   the chunks name. */

#ifdef PROF_FREESTANDING
static void *prof__zeroed(size_t prof__count, size_t prof__size) { return PROF_ALLOCATE(prof__count * prof__size); }
static void prof__release(void *prof__at) { PROF_RELEASE(prof__at); }
#else
static void *prof__zeroed(size_t count, size_t size) { return calloc(count, size); }
static void prof__release(void *at) { free(at); }
#endif

/* Where an image is read from. read() reads whole words in order, and returns 0 on errors. A freestanding program, such
   as a kernel, reads only its own image, which has no archive. */
#ifdef PROF_FREESTANDING
typedef struct prof__source {
    void *user;
} prof__source;
static int prof__memory_read(void *image, uint64_t offset, void *to, size_t size);
#define PROF__SOURCE(read, user) {(user)->header}
#define PROF__READ(from, offset, to, size) prof__memory_read((from)->user, offset, to, size)
#define PROF__HAS_ARCHIVE(h) ((void)(h), 0)
#define PROF__IS_STATS(h) 0
#else
typedef struct prof__source {
    int (*read)(void *user, uint64_t offset, void *to, size_t size);
    void *user;
} prof__source;
#define PROF__SOURCE(read, user) {read, user}
#define PROF__READ(from, offset, to, size) (from)->read((from)->user, offset, to, size)
#define PROF__HAS_ARCHIVE(h) ((h)->archive_offset != 0)
#define PROF__IS_STATS(h) ((h)->mode == PROF_STATS)
#endif

/* Ends the copy of a chunk before the first record that differs between two readings: a thread was removing a short
   scope there, or a file's words were not read in order. Then the run-time name of the last record may be missing from
   the first reading. The thread writes the name before the record itself, so the second reading has all of it. */
static void prof__chunk_cut(uint64_t *words, const uint64_t *again, size_t count)
{
    size_t at = 0, last = 0, next, hole = prof__words_hole(words, count);
    for (next = hole; next < count && next < hole + PROF__HOLE_WORDS && !again[next];) ++next;
    if (next == hole + PROF__HOLE_WORDS) return; /* a power loss has left the hole in the chunk; readers handle that */
    for (; at < count && words[at] >> PROF__KIND_SHIFT; last = at, at = next) {
        next = at + prof__record_length(words[at], count - at);
        if (next == at || memcmp(words + at, again + at, (next - at) * 8)) break;
    }
    if (at == count) return;
    memset(words + at, 0, (count - at) * 8);
    unsigned parts = 1u << PROF__KIND_NAME | 1u << PROF__KIND_DATA;
    if (!prof__record_in(PROF__NAMED | PROF__VALUED | 1u << PROF__KIND_FRAME | 1u << PROF__KIND_DATA, words[last]))
        return;
    for (; at < count; at += next) {
        next = prof__record_in(parts, again[at]) ? prof__record_length(again[at], count - at) : 0;
        if (!next) return;
        memcpy(words + at, again + at, next * 8);
    }
}

/* Ends the copy of a chunk before the first record that differs between two readings. If they differ at all, a thread
   is writing to the chunk. Then the marks that detect a power loss are removed from the copy, because its words and its
   sums are of different moments. */
static void prof__chunk_end(prof__chunk *chunk, prof__chunk *again, size_t header, size_t bytes)
{
    uint64_t *words = (uint64_t *)(void *)((char *)chunk + header);
    uint64_t *others = (uint64_t *)(void *)((char *)again + header);
    if (prof__chunk_marked(chunk, header) && !memcmp(chunk, again, bytes)) return;
    prof__chunk_unmark(chunk, words, bytes, header);
    prof__chunk_unmark(again, others, bytes, header);
    prof__chunk_cut(words, others, (bytes - header) / 8);
}

/* Copies a chunk whose header is empty, as a power loss can leave it: readers see by the chunk's words that it was
   used. now: the chunk's header. Returns 0 on errors. */
static int prof__chunk_headless(const prof__source *from, const prof__chunk *now, uint64_t offset, size_t bytes,
                                char *to)
{
    if (!prof__chunk_blank(now)) return 1;
    if (!PROF__READ(from, offset, to, bytes)) return 0;
    prof__chunk *copy = (prof__chunk *)(void *)to;
    int taken = !prof__chunk_blank(copy);
    if (!PROF__READ(from, offset, to, PROF__LEAST_CHUNK)) return 0;
    if (taken || !prof__chunk_blank(copy)) memset(to, 0, bytes); /* a thread has taken the chunk just now */
    return 1;
}

/* Copies the chunk at offset. If the chunk was reused meanwhile, or is newer than `newest`, the copy is empty. scratch
   has chunk_size bytes. `to` is all zero. Returns 0 on errors. */
static int prof__chunk_snapshot(const prof__source *from, const prof__header *h, uint64_t offset, uint64_t newest,
                                char *to, char *scratch)
{
    prof__chunk *chunk = (prof__chunk *)(void *)to, *again = (prof__chunk *)(void *)scratch;
    size_t first = h->chunk_header_size, check, bytes;
    uint64_t sequence; /* read last: the chunk must not have been cleared during the comparison either */
    int tries = 0;
    do { /* repeated if losses were written as a record meanwhile, because they might count twice */
        if (!PROF__READ(from, offset, scratch, first)) return 0;
        bytes = (size_t)prof__form_bytes(h->chunk_size, offset - h->chunk_offset, again->form);
        if (!again->sequence) {
            if (chunk->sequence) memset(to, 0, bytes);
            return prof__chunk_headless(from, again, offset, bytes, to);
        }
        /* A chunk that was full before it was read has not changed. */
        check = again->state == PROF__CHUNK_FULL ? first : bytes;
        if (!PROF__READ(from, offset, to, bytes)) return 0;
        if (!PROF__READ(from, offset, scratch, check)) return 0;
    } while (again->lost < chunk->lost && ++tries < 8);
    if (!PROF__READ(from, offset + offsetof(prof__chunk, sequence), &sequence, sizeof sequence)) return 0;
    int header = chunk->state <= PROF__CHUNK_HELD && !(chunk->sequence >> 48) &&
                 prof__form_likely(h->chunk_size, offset - h->chunk_offset, chunk->form);
    /* A power loss has damaged this header; readers will find out. */
    if (!header && !memcmp(chunk, again, first)) return 1;
    if (!chunk->sequence || chunk->sequence > newest || again->sequence != chunk->sequence ||
        sequence != chunk->sequence)
        memset(to, 0, bytes);
    else if (check > first)
        prof__chunk_end(chunk, again, first, bytes);
    return 1;
}

/* A chunk of the ring, as it was when a copy began. */
typedef struct prof__copied {
    uint64_t sequence, offset;
    uint64_t held; /* the sequence number if the chunk was being written, else 0 */
    uint64_t seen; /* the sequence number that the first pass read */
    uint32_t form, bytes;
} prof__copied;

/* A copy of an image in progress. */
typedef struct prof__copying {
    const prof__source *from;
    const prof__header *h;
    char *copy, *scratch;
    prof__copied *chunks;
    size_t count, capacity;
    uint32_t depth;  /* how often the most split slot of the ring was halved */
    uint64_t listed; /* the highest sequence number in the list when the copy began */
    uint64_t newest; /* no chunk with a higher sequence number is in the copy */
    uint64_t tick;   /* ticks; everything that was recorded before is in the copy, or was overwritten */
    /* A hash of which chunks were being written and of how many were taken; it changes while threads record. */
    uint64_t mark;
    uint64_t before; /* the mark of the previous try */
    int tries;
    int lapped;      /* 1: threads have filled half of the ring during the copy */
    int torn;        /* 1: threads recorded so fast that their last events may be missing from the copy */
} prof__copying;

#define PROF__COPIED UINT64_MAX /* in place of a sequence number: the first pass has copied this chunk */

/* Makes room in the list for one more chunk. Returns 0 if there is no memory. In a freestanding program slots are never
   split, so the list never grows. */
static int prof__copied_room(prof__copying *c)
{
    if (c->count < c->capacity) return 1;
    size_t capacity = c->count ? c->count * 2 : (size_t)c->h->chunk_count + 1;
    prof__copied *more = (prof__copied *)prof__zeroed(capacity, sizeof *more);
    if (!more) return 0;
    if (c->count) memcpy(more, c->chunks, c->count * sizeof *more);
    prof__release(c->chunks);
    c->chunks = more;
    c->capacity = capacity;
    return 1;
}

/* Lists the chunks in slots `from` up to `end`. held: 1: also notes which of them are being written. Returns 0 on
   errors. */
static int prof__chunks_list(prof__copying *c, uint64_t from, uint64_t end, int held)
{
    const prof__header *h = c->h;
    if (end > h->chunk_count) end = h->chunk_count;
    for (uint64_t at = from * h->chunk_size; at < end * h->chunk_size; at += c->chunks[c->count++].bytes) {
        prof__chunk chunk;
        chunk.state = chunk.form = 0; /* in freestanding builds gcc does not see that the read fills the chunk */
        if (!prof__copied_room(c) || !PROF__READ(c->from, h->chunk_offset + at, &chunk, PROF__LEAST_CHUNK)) return 0;
        prof__copied *one = &c->chunks[c->count];
        one->sequence = chunk.sequence;
        if (held && chunk.sequence > c->listed && prof__chunk_likely(&chunk, h->chunk_size, at))
            c->listed = chunk.sequence; /* lower than next_chunk, unless a power loss left header and chunks as they
                                           were at different moments */
        one->offset = h->chunk_offset + at;
        int written = chunk.state == PROF__CHUNK_OWNED || chunk.state == PROF__CHUNK_HELD;
        one->held = held && written ? chunk.sequence : 0;
        one->form = chunk.form & ~PROF__FORM_SECOND_CHANCE;
        one->bytes = (uint32_t)prof__form_bytes(h->chunk_size, at, chunk.form);
        if (PROF__FORM_DEPTH(one->form) > c->depth) c->depth = PROF__FORM_DEPTH(one->form);
        if (held) c->mark = c->mark * 0x9E3779B97F4A7C15u + one->held;
    }
    return 1;
}

/* The copy visits the chunks from the newest to the oldest. A freestanding program does not sort them: it visits them
   in the order of the slots, which is the same with few exceptions. */
#ifdef PROF_FREESTANDING
static void prof__chunks_order(prof__copying *c) { (void)c; }
static prof__copied *prof__copied_at(const prof__copying *c, size_t i)
{
    prof__extent count = (prof__extent)c->count;
    return &c->chunks[((prof__extent)c->newest % count + count - 1 - i) % count];
}
#else
static int prof__copied_newer(const void *a, const void *b)
{
    const prof__copied *x = (const prof__copied *)a, *y = (const prof__copied *)b;
    if (x->sequence != y->sequence) return x->sequence < y->sequence ? 1 : -1;
    return x->offset < y->offset ? 1 : -1;
}
static void prof__chunks_order(prof__copying *c)
{
    if (c->count > 1) qsort(c->chunks, c->count, sizeof *c->chunks, prof__copied_newer);
}
static prof__copied *prof__copied_at(const prof__copying *c, size_t i) { return &c->chunks[i]; }
#endif

static int prof__chunk_copy(prof__copying *c, prof__copied *one)
{
    prof__chunk *chunk = (prof__chunk *)(void *)(c->copy + one->offset);
    if (c->tries > 1) memset(chunk, 0, one->bytes); /* an earlier try has copied what was there */
    if (!prof__chunk_snapshot(c->from, c->h, one->offset, c->newest, c->copy + one->offset, c->scratch)) return 0;
    if (chunk->sequence && PROF__FORM_DEPTH(chunk->form) != PROF__FORM_DEPTH(one->form)) memset(chunk, 0, one->bytes);
    c->torn |= one->held && chunk->sequence != one->held;
    /* An empty chunk keeps its size, so that readers find the next chunk. */
    if (!chunk->sequence && one->form) chunk->form = one->form;
    return 1;
}

/* Copies the chunks that were being written when they were listed. Starts at the newest slot and goes backwards, an
   order that readers rely on. */
static int prof__chunks_held(prof__copying *c)
{
    const prof__header *h = c->h;
    prof__extent slots = (prof__extent)h->chunk_count, newest = (prof__extent)c->newest % (slots ? slots : 1);
    size_t first = 0;
    while (newest && first < c->count && c->chunks[first].offset < h->chunk_offset + (uint64_t)newest * h->chunk_size)
        ++first;
    for (size_t i = 0; i < c->count; ++i) {
        prof__copied *one = &c->chunks[(first + c->count - 1 - i) % c->count];
        if (one->held && !prof__chunk_copy(c, one)) return 0;
    }
    return 1;
}

/* First pass: copies the chunks that threads may still write to and that are not copied yet. Second pass: copies the
   others. If the chunk at a place is no longer the one that the first pass saw, it is newer than this copy and is left
   out. Returns 0 on errors. */
static int prof__chunks_turn(prof__copying *c, int first)
{
    for (size_t i = 0; i < c->count; ++i) {
        prof__copied *one = prof__copied_at(c, i);
        prof__chunk *chunk = (prof__chunk *)(void *)(c->copy + one->offset), now;
        if (first) {
            if (!PROF__READ(c->from, one->offset, &now, PROF__LEAST_CHUNK)) return 0;
            one->seen = one->held ? PROF__COPIED : now.sequence;
            /* The slot was split after it was listed. */
            c->torn |= PROF__FORM_DEPTH(now.form) != PROF__FORM_DEPTH(one->form);
            if (now.state == PROF__CHUNK_FULL || now.state == PROF__CHUNK_FREE) continue;
        }
        if (one->seen == PROF__COPIED) continue;
        if (!prof__chunk_copy(c, one)) return 0;
        if (!first && !PROF__HAS_ARCHIVE(c->h) && chunk->sequence != one->seen) {
            memset(chunk, 0, one->bytes);
            if (one->form) chunk->form = one->form;
        }
        if (first) one->seen = PROF__COPIED;
    }
    return 1;
}

/* Returns 1 if the copy must be made again: up to 20 times if little may be left of it, up to 100 times if it may be
   wrong. Returns 0 if nothing has changed since the previous try, because then the image contradicts itself and another
   try would not help. */
static int prof__copy_again(const prof__copying *c)
{
    return (c->lapped || c->torn) && c->mark != c->before && !PROF__HAS_ARCHIVE(c->h) &&
           c->tries < (c->torn ? 100 : 20);
}

/* Returns how many slots of the ring have been used, if next_chunk is `next`. After a power loss the header may be
   older than the chunks, so slots beyond `next` are checked. */
static uint64_t prof__slots_used(const prof__copying *c, uint64_t next)
{
    const prof__header *h = c->h;
    prof__chunk chunk;
    while (next < h->chunk_count &&
           PROF__READ(c->from, h->chunk_offset + next * h->chunk_size, &chunk, PROF__LEAST_CHUNK) &&
           !prof__chunk_blank(&chunk))
        ++next;
    return next;
}

/* Copies all chunks once, first those that are being written. They have the newest events of their threads, and can be
   anywhere in the ring. If they came later, such a chunk could be reused before it is copied, while older chunks of its
   thread still get into the copy, because the thread that is about to take those sleeps. With an archive, reused chunks
   are in the archive. */
static int prof__chunks_copy(prof__copying *c)
{
    const prof__header *h = c->h;
    uint64_t before, used, after, position = offsetof(prof__header, next_chunk);
    c->before = c->mark;
    ++c->tries;
    if (!PROF__READ(c->from, position, &before, sizeof before)) return 0;
    c->mark = before;
    c->count = c->depth = 0;
    used = prof__slots_used(c, before);
    if (!prof__chunks_list(c, 0, used, 1)) return 0; /* the unused slots of a ring in its first lap are empty */
    c->tick = prof__now_of(h->clock);
    if (!PROF__READ(c->from, position, &c->newest, sizeof c->newest)) return 0;
    if (c->newest < c->listed) c->newest = c->listed;
    c->lapped = c->torn = 0;
    if (!PROF__HAS_ARCHIVE(h)) {
        if (!prof__chunks_held(c)) return 0; /* copied without delay, because their threads go on */
        if (prof__copy_again(c)) return 1;
    }
    if (!prof__chunks_list(c, used, c->newest, 0)) return 0;
    prof__chunks_order(c);
    for (int first = !PROF__HAS_ARCHIVE(h); first >= 0; --first) {
        if (!prof__chunks_turn(c, first) || !PROF__READ(c->from, position, &after, sizeof after)) return 0;
        c->lapped = after - before > (h->chunk_count << c->depth) / 2;
        c->torn |= first && c->lapped;
    }
    return 1;
}

/* Copies the chunks of the image with header h, which was validated, to their places in a copy that is all zero. If
   threads have overtaken the copy, makes it again. *newest: the highest sequence number that can be in the copy. *tick:
   everything that was recorded before is in the copy, or was overwritten. Returns 0 if reading failed or there was no
   memory. */
static int prof__chunks_snapshot(const prof__source *from, const prof__header *h, char *copy, uint64_t *newest,
                                 uint64_t *tick)
{
    prof__copying c;
    int good;
    memset(&c, 0, sizeof c);
    c.from = from;
    c.h = h;
    c.copy = copy;
    c.scratch = (char *)prof__zeroed(1, h->chunk_size);
    do good = c.scratch && prof__chunks_copy(&c);
    while (good && prof__copy_again(&c));
    *newest = c.newest;
    *tick = c.tick;
    prof__release(c.chunks);
    prof__release(c.scratch);
    return good;
}

static int prof__memory_read(void *image, uint64_t offset, void *to, size_t size)
{
    const uint64_t *from = (const uint64_t *)(const void *)((const char *)image + offset);
    for (size_t i = 0; i < size / 8; ++i) ((uint64_t *)to)[i] = PROF__ACQUIRE(from + i);
    return 1;
}

#ifndef PROF_FREESTANDING
/* Reads from the image of a session. A chunk whose pages are not ready yet reads as zeros. */
static int prof__session_read(void *session, uint64_t offset, void *to, size_t size)
{
    const prof__session *s = (const prof__session *)session;
    uint64_t chunks = (uint64_t)(s->chunks - (const char *)s->header);
    if (offset < chunks + prof__chunks_there(s) * s->chunk_size) return prof__memory_read(s->header, offset, to, size);
    memset(to, 0, size);
    return 1;
}
#endif

/* Returns how many short scopes were removed from the chunks that are in the ring now. */
static uint64_t prof__taken_back(const prof__session *s)
{
    uint64_t count = 0;
    uint64_t slots = PROF__LOAD(&s->chunk_count), taken = PROF__LOAD(&s->header->next_chunk), bytes;
    for (uint64_t at = 0; at < (taken < slots ? taken : slots) * s->chunk_size; at += bytes) {
        const prof__chunk *chunk = (const prof__chunk *)(const void *)(s->chunks + at);
        bytes = prof__form_bytes(s->chunk_size, at, PROF__ACQUIRE(&chunk->form));
        count += PROF__LOAD(&chunk->taken_back);
    }
    return count;
}

/* Makes a private copy of the present image. Recording threads never wait for it. */
static prof_status prof__image_copy(void **bytes, size_t *size)
{
    *bytes = NULL;
    *size = 0;
    uint32_t write_lock = prof__state_lock();
    prof__session *s = prof__state.session;
    if (!s) {
        prof__state_unlock(write_lock);
        return prof__fail(PROF_INVALID_STATE, "nothing has been recorded: call prof_start() first");
    }
    prof__header h;
    memset(&h, 0, sizeof h);
    prof__memory_read(s->header, sizeof h.magic, (char *)&h + sizeof h.magic, sizeof h - sizeof h.magic);
    /* The magic is not copied: in a dump of the machine's memory, the remains of this header must not look like an
       image. */
    if (PROF__IS_STATS(&h)) h.chunk_count = 0; /* all events of these sessions are in the statistics */
    uint64_t taken_back = PROF__IS_STATS(&h) ? prof__taken_back(s) : 0;
    __atomic_fetch_add(&s->attached, 1, __ATOMIC_RELAXED); /* keeps the image mapped while the lock is not held */
    s->readers++;
    int running = prof__state.running;
    if (running) {
        prof__pair_take_well(s->clock, h.tick_hz, &s->header->last);
        h.copy_tick = s->header->last.tick;
    }
    prof__lost_collect(s);
    prof__state_unlock(write_lock);
    if (running) prof__names_look(s);

    prof_status status = PROF_OK;
    prof__source source = PROF__SOURCE(prof__session_read, s);
    char *copy = (char *)prof__zeroed(s->image_size, 1); /* pages of the copy that are never touched cost nothing */
    uint64_t newest = 0, tick = 0;
    if (!copy || !prof__chunks_snapshot(&source, &h, copy, &newest, &tick)) {
        status = prof__fail(PROF_NO_MEMORY, "no memory for a copy of the image (%llu bytes)" PROF__MORE_HEAP,
                            (unsigned long long)s->image_size);
    } else {
        write_lock = prof__state_lock();
        prof__memory_read(s->header, 0, copy, sizeof h);
        ((prof__header *)(void *)copy)->next_chunk = newest;
        ((prof__header *)(void *)copy)->copy_tick = h.copy_tick ? tick : 0;
        memcpy(copy + h.meta_offset, s->meta, (size_t)s->header->meta_used);
        ((prof__header *)(void *)copy)->chunk_count = h.chunk_count;
        ((prof__header *)(void *)copy)->taken_back += taken_back;
        prof__state_unlock(write_lock);
    }
    *size = s->image_size;
    write_lock = prof__state_lock();
    s->readers--;
    __atomic_fetch_sub(&s->attached, 1, __ATOMIC_RELEASE);
    prof__state_unlock(write_lock);
    if (status) {
        prof__release(copy);
        copy = NULL;
    }
    *bytes = copy;
    return status;
}

#ifdef PROF_FREESTANDING
PROF_DEF prof_status prof_snapshot(void **image, size_t *size) { return prof__image_copy(image, size); }
#endif
#endif
#if defined(PROF_FREESTANDING) || defined(PROF_NO_CRASH)
/*-- NO CRASH REPORTS -----------------------------------------------------------------------------------------------*/

static prof_status prof__crash_prepare(prof__session *s)
{
    (void)s;
#ifdef PROF_NO_CRASH
    return prof__left_out("crash_report", "PROF_NO_CRASH");
#else
    return prof__fail(PROF_UNSUPPORTED, "crash_report: this platform has no POSIX signals");
#endif
}
static void prof__crash_install(prof__session *s) { (void)s; }
static void prof__crash_remove(void) {}
static void prof__crash_forget(void) {}
#else
#ifndef _WIN32
/*-- CRASH ------------------------------------------------------------------------------------------------- >>crash --
   config.crash_report installs a handler for the signals that bugs raise. The handler says on stderr what the threads
   were doing, and writes the image to a file unless the image is mapped to one. It then restores the signal actions
   that it found and lets the signal happen again, so that the exit status, the core dump, sanitizers and the program's
   own handlers are as without prof.
   The program may have died in malloc(), in the recorder, or of a stack overflow. So a report allocates nothing, takes
   no locks, and calls only functions that are async-signal-safe (and, of libc, errno, setjmp() and
   pthread_setcancelstate()). prof_start() has reserved all memory. A second crash, inside the report, ends only that
   part of the report.
   Other threads run on during the report. All call sites are off meanwhile, or the threads would overwrite what led to
   the crash. A thread still finishes the record that it has begun, so chunks are copied as in a snapshot. Scopes that
   end during the report are shown as open. */

#include <poll.h>
#include <setjmp.h>

#define PROF__CRASH_SETJMP(at) setjmp(at)
#define PROF__CRASHED() prof__thread_id()
#define PROF__CRASH_NAP() poll(NULL, 0, 10)

static const struct {
    int number;
    char name[8];
} prof__crash_signals[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}, {SIGABRT, "SIGABRT"}};
#define PROF__CRASH_SIGNALS (sizeof prof__crash_signals / sizeof *prof__crash_signals)

typedef struct prof__crash_system {
    int file;      /* descriptor of the report's file; -1: none is open */
    sigset_t mask; /* the handler's signal mask, which is restored after a crash inside the report */
    struct sigaction quiet[2], idle[2];
    int cancel;
} prof__crash_system;

static const char *prof__crash_cause(int signal)
{
    for (size_t i = 0; i < PROF__CRASH_SIGNALS; ++i)
        if (prof__crash_signals[i].number == signal) return prof__crash_signals[i].name;
    return "";
}

/* Writes to stderr. Returns the number of bytes written; 0 or less if stderr accepts none within a second, for example
   a full pipe that nobody reads. */
static ssize_t prof__crash_say(const char *text, size_t size)
{
    struct pollfd ready = {2, POLLOUT, 0};
    return poll(&ready, 1, 1000) > 0 ? write(2, text, size) : -1;
}

/*-- the file --*/

static void prof__crash_names(prof__crash_system *of, const char *part, const char *path)
{
    (void)of;
    (void)part;
    (void)path;
}

static int prof__crash_create(prof__crash_system *of, const char *part)
{
    unlink(part);
    of->file = open(part, O_WRONLY | O_CREAT | O_EXCL | PROF__O_FILE, PROF__FILE_MODE);
    return of->file >= 0;
}

static int prof__crash_write(prof__crash_system *of, uint64_t offset, const void *bytes, size_t size)
{
    if (prof__lseek(of->file, (prof__offset)offset, SEEK_SET) < 0) return 0;
    for (size_t at = 0; at < size;) {
        ssize_t n = write(of->file, (const char *)bytes + at, size - at);
        if (n <= 0) return 0;
        at += (size_t)n;
    }
    return 1;
}

static int prof__crash_resize(prof__crash_system *of, uint64_t size)
{
    return !ftruncate(of->file, (prof__offset)size);
}

/* Renames a complete file to its final path, and removes an incomplete one. Returns 1 if the file is at its path. */
static int prof__crash_finish(prof__crash_system *of, int good, const char *part, const char *path)
{
    if (of->file >= 0 && close(of->file)) good = 0;
    of->file = -1;
    if (good && !rename(part, path)) return 1;
    unlink(part);
    return 0;
}

/*-- before and after --*/

/* Signals that writing the report may raise. They are ignored meanwhile, because they would end the process in place of
   the crash. */
static const int prof__crash_quiet[] = {SIGPIPE, SIGXFSZ};

static void prof__crash_ignore(struct sigaction *old)
{
    struct sigaction ignore;
    memset(&ignore, 0, sizeof ignore);
    ignore.sa_handler = SIG_IGN;
    for (size_t i = 0; i < 2; ++i) sigaction(prof__crash_quiet[i], &ignore, &old[i]);
}

static void prof__crash_before(prof__crash_system *of)
{
    prof__crash_ignore(of->quiet);
#ifndef __ANDROID__
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &of->cancel); /* write() is a cancellation point */
#endif
    of->file = -1;
    pthread_sigmask(SIG_SETMASK, NULL, &of->mask);
}

static void prof__crash_after(prof__crash_system *of)
{
#ifndef __ANDROID__
    pthread_setcancelstate(of->cancel, &of->cancel);
#endif
    prof__crash_ignore(of->idle); /* ignoring a signal once more discards a pending one */
    for (size_t i = 0; i < 2; ++i) sigaction(prof__crash_quiet[i], &of->quiet[i], NULL);
}
#endif

#ifdef _WIN32
/*-- CRASH ------------------------------------------------------------------------------------------------- >>crash --
   config.crash_report sets the filter of unhandled exceptions, and a handler of SIGABRT, because abort() raises no
   exception. Both say on stderr what the threads were doing, and write the image to a file unless it is mapped to one.
   Then they call what was set before them, so that the program dies as it would without prof, with the same exit
   status.
   The program may have died in malloc(), in the recorder, or of a stack overflow. So prof_start() has reserved all
   memory. A second crash, inside the report, ends only that part of the report: a vectored exception handler continues
   with the next one. CreateFile() and MoveFileEx() allocate from the process heap, whose lock the crashing thread holds
   if it died inside the heap's code.
   A thread that records keeps a part of its stack for the report of a stack overflow; for other threads, a new thread
   writes it. Other threads run on, but all call sites are off meanwhile, and scopes that end during the report are
   shown as open. */

#include <setjmp.h>
#include <signal.h>

/* setjmp() without a frame pointer: longjmp() then restores the registers and unwinds no frames. */
#if defined(__x86_64__) && defined(__GNUC__)
#define PROF__CRASH_SETJMP(at) _setjmp(at, NULL)
#elif defined(_M_X64) && !defined(__GNUC__)
#define PROF__CRASH_SETJMP(at) (setjmp(at) ? 1 : (int)(((_JUMP_BUFFER *)(at))->Frame = 0))
#else
#define PROF__CRASH_SETJMP(at) setjmp(at)
#endif
#define PROF__CRASH_NAP() Sleep(10)

#define PROF__CRASH_ABORT 3 /* in place of an exception code; 3 is the exit status of abort() */

static DWORD prof__crashed; /* the crashed thread; another thread may write the report */
#define PROF__CRASHED() ((uint64_t)prof__crashed)

typedef struct prof__crash_system {
    HANDLE file; /* the report's file; NULL: none is open */
    WCHAR path[PROF__WIDE_SIZE], part[PROF__WIDE_SIZE];
} prof__crash_system;

static const char *prof__crash_cause(int code)
{
    static char other[] = "exception 0x00000000";
    switch ((DWORD)code) {
    case PROF__CRASH_ABORT: return "abort()";
    case EXCEPTION_ACCESS_VIOLATION: return "access violation";
    case EXCEPTION_STACK_OVERFLOW: return "stack overflow";
    case EXCEPTION_INT_DIVIDE_BY_ZERO: return "division by zero";
    case EXCEPTION_ILLEGAL_INSTRUCTION: return "illegal instruction";
    case EXCEPTION_PRIV_INSTRUCTION: return "privileged instruction";
    case EXCEPTION_IN_PAGE_ERROR: return "page error";
    case EXCEPTION_BREAKPOINT: return "breakpoint";
    case EXCEPTION_FLT_DIVIDE_BY_ZERO:
    case EXCEPTION_FLT_INVALID_OPERATION:
    case EXCEPTION_FLT_OVERFLOW: return "floating-point exception";
    default: break;
    }
    for (int i = 0; i < 8; ++i) other[12 + i] = "0123456789ABCDEF"[(DWORD)code >> (28 - 4 * i) & 15];
    return other;
}

/* Writes to stderr. Returns the number of bytes written, 0 on errors. */
static ptrdiff_t prof__crash_say(const char *text, size_t size)
{
    HANDLE to = GetStdHandle(STD_ERROR_HANDLE);
    DWORD n = 0;
    return to && to != INVALID_HANDLE_VALUE && WriteFile(to, text, (DWORD)size, &n, NULL) ? (ptrdiff_t)n : 0;
}

/*-- the file --*/

static void prof__crash_names(prof__crash_system *of, const char *part, const char *path)
{
    if (!prof__wide(part, of->part)) of->part[0] = 0;
    if (!prof__wide(path, of->path)) of->path[0] = 0;
}

static int prof__crash_create(prof__crash_system *of, const char *part)
{
    HANDLE file = CreateFileW(of->part, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, NULL);
    (void)part;
    of->file = file == INVALID_HANDLE_VALUE ? NULL : file;
    return of->file != NULL;
}

static int prof__crash_write(prof__crash_system *of, uint64_t offset, const void *bytes, size_t size)
{
    OVERLAPPED place;
    DWORD n = 0;
    memset(&place, 0, sizeof place);
    place.Offset = (DWORD)offset;
    place.OffsetHigh = (DWORD)(offset >> 32);
    return WriteFile(of->file, bytes, (DWORD)size, &n, &place) && n == size;
}

static int prof__crash_resize(prof__crash_system *of, uint64_t size)
{
    LARGE_INTEGER to;
    to.QuadPart = (LONGLONG)size;
    return SetFilePointerEx(of->file, to, NULL, FILE_BEGIN) && SetEndOfFile(of->file);
}

/* Renames a complete file to its final path, and removes an incomplete one. Returns 1 if the file is at its path. */
static int prof__crash_finish(prof__crash_system *of, int good, const char *part, const char *path)
{
    (void)part;
    (void)path;
    if (of->file && !CloseHandle(of->file)) good = 0;
    of->file = NULL;
    if (good && MoveFileExW(of->part, of->path, MOVEFILE_REPLACE_EXISTING)) return 1;
    DeleteFileW(of->part);
    return 0;
}

/*-- before and after --*/

static void prof__crash_before(prof__crash_system *of) { of->file = NULL; }
static void prof__crash_after(prof__crash_system *of) { (void)of; }
#endif

/*-- the memory of a report --*/

#define PROF__CRASH_THREADS 64  /* threads that a report shows; further ones are only counted */
#define PROF__CRASH_DEPTH 64    /* open scopes that a report shows of a thread; further ones are only counted */
#define PROF__CRASH_CUT 32      /* scopes of a thread that another END has closed, and whose own ENDs may come */
#define PROF__CRASH_NAME 64     /* longest name that a report prints, in bytes */
/* Number of newest chunks that are searched for open scopes; reading so many takes about a second. */
#define PROF__CRASH_REACH 65536

typedef struct prof__crash_scope {
    prof__begun begun;
    /* name: offset in the image of the scope's NAME record, or 0. sequence: number of the chunk that holds that
       record. */
    uint64_t name, sequence;
    uint32_t inside; /* bytes from the start of the chunk to the NAME record */
} prof__crash_scope;

typedef struct prof__crash_thread {
    uint64_t track, thread_id;
    uint64_t sequence; /* sequence number of the thread's newest chunk; 0: the thread has none */
    uint64_t serial;   /* of the newest TRACK record that was read; 0: none was */
    uint32_t name_id;
    prof__matching match;
    prof__crash_scope open[PROF__CRASH_DEPTH];
    prof__begun cut[PROF__CRASH_CUT];
} prof__crash_thread;

typedef struct prof__crash_work { /* memory that a report needs; reserved by prof_start() */
    volatile sig_atomic_t guarded;    /* 1: a second crash, inside the report, continues at escape */
    int mute;                         /* 1: stderr no longer accepts output */
    size_t used, thread_count, more_threads;
    prof__crash_system system;
    jmp_buf escape;
    char text[1024]; /* for stderr */
    char path[1040], part[1080];
    prof__header header;
    prof__crash_thread threads[PROF__CRASH_THREADS]; /* the first is the one that crashed */
    uint64_t chunk[PROF_CHUNK_SIZE / 8], scratch[PROF_CHUNK_SIZE / 8];
    /* By sequence number: where its chunk is in the ring, in units of 64 bytes plus 1; 0: nowhere. */
    uint32_t order[PROF__CRASH_REACH + 2];
} prof__crash_work;

enum { PROF__CRASH_OFF = 0, PROF__CRASH_READY };

static struct {
    uintptr_t reporter; /* PROF__CRASH_OFF, PROF__CRASH_READY, or the address of the reporting thread's state */
    uint64_t process;
    prof__session *session;
    prof__crash_work *work; /* never freed, because later sessions use it again */
} prof__crash;

/*-- text --*/

static void prof__crash_flush(prof__crash_work *w)
{
    for (size_t at = 0; at < w->used && !w->mute;) {
        ptrdiff_t n = prof__crash_say(w->text + at, w->used - at);
        if (n > 0)
            at += (size_t)n;
        else
            w->mute = 1;
    }
    w->used = 0;
}

/* Not inlined, because copies of it in some twenty places would be 1.7 KB (gcc 12.2 -O2). */
static PROF__NOINLINE void prof__crash_put(prof__crash_work *w, const char *text)
{
    for (; *text; ++text) {
        if (w->used == sizeof w->text) prof__crash_flush(w);
        w->text[w->used++] = *text;
    }
}

static void prof__crash_put_number(prof__crash_work *w, uint64_t number)
{
    char digits[24];
    prof__number_text(digits, number);
    prof__crash_put(w, digits);
}

/* Writes a name that is stored in the image in at most size bytes. Replaces control characters and invalid UTF-8 by
   "?". */
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
        length = prof__utf8(text + at);
        if (length && !prof__is_control(text + at)) {
            prof__copy(one, text + at, length);
            one[length] = 0;
        }
        if (!length) length = 1;
        prof__crash_put(w, one);
    }
    if (used < size && name[used]) prof__crash_put(w, "...");
}

/* Returns the first word of the meta record with this kind and id, or NULL. *words: the record's length. */
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

/* Makes a thread one without open scopes. partial: 1: the ring has overwritten what is older. */
static void prof__crash_thread_reset(prof__crash_thread *thread, int partial)
{
    prof__matching *m = &thread->match;
    thread->sequence = thread->serial = 0;
    m->open = thread->open;
    m->open_room = PROF__CRASH_DEPTH;
    m->cut = thread->cut;
    m->cut_room = PROF__CRASH_CUT;
    m->partial = partial;
    prof__matching_reset(m);
}

/* How many scopes of a thread are open, also those for which there was no space. */
static size_t prof__crash_depth(const prof__crash_thread *thread)
{
    return thread->match.depth + thread->match.beyond;
}

/* Does not compare names, as the reader does: meta is too slow to search, and an END has the site of its BEGIN. */
static void prof__crash_end(prof__crash_thread *thread, uint32_t site)
{
    prof__matching *m = &thread->match;
    size_t at = 0;
    prof__ending ending = prof__matching_end(m, sizeof *thread->open, sizeof *thread->cut, site, &at);
    if (ending == PROF__ENDS_CUT) prof__matching_took(m, sizeof *thread->cut, at);
    if (ending != PROF__ENDS_OPEN && ending != PROF__ENDS_BEFORE) return;
    if (ending == PROF__ENDS_BEFORE) at = 0; /* around all that are open */
    prof__matching_cut(m, sizeof *thread->open, sizeof *thread->cut, ending == PROF__ENDS_OPEN ? at + 1 : 0);
    m->depth = at;
}

/* Begins a part of a track. If the part before is missing, so may be begins and ends: then an END without a begin does
   not show that all open scopes were inside it. */
static void prof__crash_part(prof__crash_thread *thread, const uint64_t *record)
{
    uint64_t serial = prof__track_serial(record);
    if (thread->serial && serial != thread->serial + 1) thread->match.partial = 0;
    thread->serial = serial;
}

static prof__crash_thread *prof__crash_find(prof__crash_work *w, uint64_t track)
{
    for (size_t i = 0; i < w->thread_count; ++i)
        if (w->threads[i].sequence && w->threads[i].track == track) return &w->threads[i];
    return NULL;
}

/* Updates the threads' open scopes with the records of the chunk in w->chunk. offset: the chunk's offset in the
   image. */
static void prof__crash_follow(prof__crash_work *w, const prof__session *s, uint64_t offset)
{
    const prof__chunk *chunk = (const prof__chunk *)(const void *)w->chunk;
    const uint64_t *words = w->chunk + sizeof *chunk / 8;
    prof__crash_thread *thread = NULL;
    prof__crash_scope *begun = NULL;
    size_t count = (size_t)prof__words_of(s, chunk);
    for (size_t at = 0, length; at < count; at += length) {
        uint64_t kind = words[at] >> PROF__KIND_SHIFT;
        uint32_t site = (uint32_t)(words[at] >> PROF__TICK_BITS) & PROF__SITE_MASK;
        length = prof__record_length(words[at], count - at);
        if (!length) break;
        if (kind == PROF__KIND_TRACK) {
            thread = prof__crash_find(w, prof__track_id(words + at));
            if (thread) prof__crash_part(thread, words + at);
        } else if (thread && kind == PROF__KIND_END) {
            prof__crash_end(thread, site);
        } else if (begun && kind == PROF__KIND_NAME) {
            begun->inside = (uint32_t)(sizeof *chunk + at * 8);
            begun->name = offset + begun->inside;
            begun->sequence = chunk->sequence;
        }
        begun = NULL;
        if (!thread || kind != PROF__KIND_BEGIN) continue;
        begun = (prof__crash_scope *)(void *)prof__matching_begin(&thread->match, sizeof *thread->open, site, 0);
        if (begun) begun->name = 0;
    }
}

/* Cuts the copied chunk before the first scope end that is later than the crash, because that scope was open when the
   program crashed. */
static void prof__crash_rewind(prof__crash_work *w, const prof__session *s, uint64_t crashed)
{
    prof__chunk *chunk = (prof__chunk *)(void *)w->chunk;
    uint64_t *words = w->chunk + sizeof *chunk / 8;
    size_t count = (size_t)prof__words_of(s, chunk);
    for (size_t at = 0, length; at < count; at += length) {
        length = prof__record_length(words[at], count - at);
        if (!length) break;
        if (words[at] >> PROF__KIND_SHIFT != PROF__KIND_END ||
            chunk->base.tick + (words[at] & PROF__TICK_MASK) <= crashed)
            continue;
        prof__chunk_unmark(chunk, words, s->chunk_size >> PROF__FORM_DEPTH(chunk->form), sizeof *chunk);
        prof__clear(words + at, (count - at) * 8);
        break;
    }
}

/* Copies the chunk at byte `at` of the ring to w->chunk. Returns the chunk's offset in the image, or 0 if it is
   empty. */
static uint64_t prof__crash_copy(prof__crash_work *w, const prof__session *s, const prof__header *h, uint64_t at,
                                 uint64_t newest)
{
    prof__source source = {prof__session_read, (void *)(uintptr_t)s};
    uint64_t offset = (uint64_t)(s->chunks - (const char *)s->header) + at;
    prof__chunk_snapshot(&source, h, offset, newest, (char *)w->chunk, (char *)w->scratch);
    if (!((const prof__chunk *)(const void *)w->chunk)->sequence) return 0;
    prof__crash_rewind(w, s, h->copy_tick);
    return offset;
}

static const prof__chunk *prof__crash_chunk(const prof__session *s, uint64_t at)
{
    return (const prof__chunk *)(const void *)(s->chunks + at);
}

/* Returns the size in bytes of the chunk at byte `at` of the ring. */
static uint64_t prof__crash_bytes(const prof__session *s, uint64_t at)
{
    return prof__form_bytes(s->chunk_size, at, PROF__ACQUIRE(&prof__crash_chunk(s, at)->form));
}

/* Adds the thread that owns the chunk in w->chunk to the report. The last TRACK record of the chunk names this
   thread. */
static void prof__crash_meet(prof__crash_work *w, const prof__session *s)
{
    const prof__chunk *chunk = (const prof__chunk *)(const void *)w->chunk;
    const uint64_t *words = w->chunk + sizeof *chunk / 8, *track = NULL;
    size_t count = (size_t)prof__words_of(s, chunk);
    for (size_t at = 0, length; at < count; at += length) {
        length = prof__record_length(words[at], count - at);
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
        prof__crash_thread_reset(thread, w->threads[0].match.partial);
    }
    if (thread->sequence > chunk->sequence) return;
    thread->track = prof__track_id(track);
    thread->thread_id = track[2];
    thread->sequence = chunk->sequence;
    thread->name_id = (uint32_t)track[0] & (PROF__NAME_OF_SYSTEM - 1);
}

/* Finds the living threads, each of which owns a chunk, and then reads the ring from the oldest chunk to the newest to
   find their open scopes. */
static void prof__crash_search(prof__crash_work *w, const prof__session *s, const prof__header *h)
{
    uint64_t count = PROF__SEARCH(s, PROF__LOAD(&s->chunk_count)), newest = h->next_chunk;
    uint64_t end = prof__chunks_there(s) * s->chunk_size, oldest = newest > count ? newest - count : 0;
    w->threads[0].thread_id = PROF__CRASHED();
    w->threads[0].name_id = 0;
    prof__crash_thread_reset(&w->threads[0], newest > count);
    w->thread_count = 1;
    w->more_threads = 0;
    for (uint64_t at = 0; at < end; at += prof__crash_bytes(s, at))
        if (PROF__ACQUIRE(&prof__crash_chunk(s, at)->state) == PROF__CHUNK_OWNED &&
            prof__crash_copy(w, s, h, at, ~0ull))
            prof__crash_meet(w, s);
    uint64_t from = newest - oldest > PROF__CRASH_REACH ? newest - PROF__CRASH_REACH : oldest;
    prof__clear(w->order, (size_t)(newest - from) / 2 * 8 + 8);
    /* First, chunks that slow threads have kept for more than a lap of the ring; then all other chunks in order. */
    for (uint64_t at = 0; at < end; at += prof__crash_bytes(s, at)) {
        const prof__chunk *chunk = prof__crash_chunk(s, at);
        uint64_t sequence = PROF__LOAD(&chunk->sequence);
        if (sequence > from && sequence <= newest) w->order[sequence - 1 - from] = (uint32_t)(at / 64) + 1;
        uint32_t state = PROF__ACQUIRE(&chunk->state);
        if ((state != PROF__CHUNK_OWNED && state != PROF__CHUNK_HELD) || sequence > oldest) continue;
        uint64_t offset = prof__crash_copy(w, s, h, at, oldest);
        if (offset) prof__crash_follow(w, s, offset);
    }
    for (uint64_t number = from; number < newest; ++number) {
        uint32_t place = w->order[number - from];
        uint64_t offset = place ? prof__crash_copy(w, s, h, (uint64_t)(place - 1) * 64, number + 1) : 0;
        if (offset) prof__crash_follow(w, s, offset);
    }
}

/*-- the report --*/

/* Writes a scope's run-time name if the chunk that holds the name was not reused, else the name of its call site.
   place: 1: also writes the source file and line, for the innermost scope. */
static void prof__crash_put_scope(prof__crash_work *w, const prof__session *s, const prof__crash_scope *scope,
                                  int place)
{
    size_t words = 0;
    const uint64_t *site = prof__crash_meta(s, PROF__META_SITE, scope->begun.site, &words);
    uint64_t head = 0;
    if (scope->name) {
        const uint64_t *name = (const uint64_t *)(const void *)((const char *)s->header + scope->name);
        const prof__chunk *chunk = (const prof__chunk *)(const void *)((const char *)name - scope->inside);
        head = PROF__LOAD(name);
        if (PROF__LOAD(&chunk->sequence) == scope->sequence &&
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

/* Writes a line such as: thread 1234 "worker 2": game > frame > physics (physics.c:88) */
static void prof__crash_put_thread(prof__crash_work *w, const prof__session *s, const prof__crash_thread *thread,
                                   int cut)
{
    size_t kept = thread->match.depth;
    prof__crash_put(w, "thread ");
    prof__crash_put_number(w, thread->thread_id);
    if (thread->name_id) {
        prof__crash_put(w, " \"");
        prof__crash_put_string(w, s, thread->name_id);
        prof__crash_put(w, "\"");
    }
    prof__crash_put(w, cut ? ": ... > " : ": ");
    if (!kept) prof__crash_put(w, "no scope is open");
    for (size_t i = 0, next; i < kept; i = next) {
        uint32_t site = thread->open[i].begun.site;
        for (next = i + 1; next < kept && !thread->open[next].name && thread->open[next].begun.site == site; ++next) {
        }
        if (i) prof__crash_put(w, " > ");
        prof__crash_put_scope(w, s, &thread->open[i], next == kept);
        if (next - i < 2) continue;
        prof__crash_put(w, " x ");
        prof__crash_put_number(w, next - i);
    }
    if (thread->match.beyond) {
        prof__crash_put(w, " > and ");
        prof__crash_put_number(w, thread->match.beyond);
        prof__crash_put(w, " more");
    }
    prof__crash_put(w, "\n");
    prof__crash_flush(w);
}

/* Returns 1 if the crashing thread probably has more open scopes than were found, because their begins were
   overwritten. That is likely, too, if the scopes found are so many that no words could be reserved for their ends. */
static int prof__crash_cut(const prof__session *s, const prof__crash_thread *thread)
{
#ifdef _WIN32
    /* emulated thread-local storage allocates memory when a thread first uses it */
    if (!thread->sequence || PROF__CRASHED() != prof__thread_id()) return 0;
#endif
    const prof__thread *self = PROF__SELF();
    uint64_t count = PROF__LOAD(&s->chunk_count);
    if (self->session != s || !self->chunk || PROF__LOAD(&s->header->next_chunk) <= count) return 0;
    size_t depth = prof__crash_depth(thread);
    return prof__reserved_ends(self) > depth || depth > prof__words_of(s, self->chunk) / 4 * 3;
}

/* Writes what crashed and the open scopes of all threads to stderr, the crashed thread first. */
static void prof__crash_describe(prof__crash_work *w, const prof__session *s, const prof__header *h, int signal)
{
    prof__crash_search(w, s, h);
    prof__crash_put(w, "prof: ");
    prof__crash_put(w, prof__crash_cause(signal));
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

/* Writes the chunk at byte `at` of the ring to the file. Of an empty chunk that is a part of a split slot, writes only
   the header, which tells the chunk's size. */
static int prof__crash_write_chunk(prof__crash_work *w, const prof__session *s, const prof__header *h, uint64_t at,
                                   uint64_t bytes)
{
    prof__chunk empty = {0, {0, 0, 0, 0}, 0, 0, 0, 0, {0, 0, 0, 0}};
    empty.form = PROF__LOAD(&prof__crash_chunk(s, at)->form) & ~PROF__FORM_SECOND_CHANCE;
    uint64_t sequence = PROF__LOAD(&prof__crash_chunk(s, at)->sequence);
    uint64_t offset = sequence ? prof__crash_copy(w, s, h, at, h->next_chunk) : 0;
    if (offset) return prof__crash_write(&w->system, offset, w->chunk, (size_t)bytes);
    if (!empty.form) return 1;
    offset = (uint64_t)(s->chunks - (const char *)s->header) + at;
    return prof__crash_write(&w->system, offset, &empty, sizeof empty);
}

/* Writes the chunks, the newest first. Writes meta next, so that it has the call sites of all written chunks, and the
   header last. Parts that are not written are holes in the file, which read as zeros. */
static int prof__crash_write_image(prof__crash_work *w, const prof__session *s, prof__header *h)
{
    uint64_t count = prof__chunks_there(s), newest = h->next_chunk, began = h->copy_tick;
    uint64_t meta = (uint64_t)((const char *)s->meta - (const char *)s->header);
    int good = 1;
    for (uint64_t i = 0; good && i < count; ++i) {
        uint64_t slot = (newest % count + count - 1 - i) % count, end = (slot + 1) * s->chunk_size, bytes;
        for (uint64_t at = slot * s->chunk_size; good && at < end; at += bytes)
            good = prof__crash_write_chunk(w, s, h, at, bytes = prof__crash_bytes(s, at));
    }
    uint64_t used = PROF__ACQUIRE(&s->header->meta_used);
    if (used > s->meta_words * 8) used = s->meta_words * 8;
    /* What follows meta's used part may be a hole. */
    for (uint64_t at = 0; good && at < used; at += sizeof w->scratch) {
        uint64_t size = used - at;
        if (size > sizeof w->scratch) size = sizeof w->scratch;
        prof__memory_read(s->meta, at, w->scratch, (size_t)size);
        good = prof__crash_write(&w->system, meta + at, w->scratch, (size_t)size);
    }
    prof__memory_read(s->header, 0, h, sizeof *h);
    h->next_chunk = newest;
    h->copy_tick = began;
    prof__pair_take_well(s->clock, h->tick_hz, &h->last);
    h->lost += PROF__LOAD(&prof__lost_without_chunk);
    h->lost_args += PROF__LOAD(&prof__lost_args_without_chunk);
    h->lost_busy += PROF__LOAD(&prof__lost_busy_without_chunk);
    return good && prof__crash_write(&w->system, 0, h, sizeof *h) &&
           prof__crash_resize(&w->system, s->image_size);
}

static void prof__crash_save(prof__crash_work *w, const prof__session *s, prof__header *h)
{
    int good = prof__crash_create(&w->system, w->part) && prof__crash_write_image(w, s, h);
    if (!prof__crash_finish(&w->system, good, w->part, w->path)) w->path[0] = 0;
}

static void prof__crash_tell_file(prof__crash_work *w, const prof__session *s)
{
    const char *path = s->file.live_path && !(s->file.sidecar && w->path[0]) ? s->file.live_path : w->path;
    prof__crash_put(w, *path ? "prof: the trace is in " : "prof: the trace could not be written");
    prof__crash_put(w, path);
    prof__crash_put(w, "\n");
    prof__crash_flush(w);
}

static void prof__crash_freeze(int frozen)
{
    PROF__STORE(&prof__state.frozen, frozen);
    prof__next_config_version();
}

/* Determines the moment of the crash. First notes the newest chunk, then reads the clock, then turns the call sites
   off: so a scope in these chunks that has no end there ended later than the crash. If this thread lost its processor
   in between, others may have filled the whole ring. Then the steps are repeated, and the second moment counts. */
static void prof__crash_stop(prof__crash_work *w, const prof__session *s)
{
    prof__pair now;
    for (int i = 0; i < 2; ++i) {
        prof__memory_read(s->header, 0, &w->header, sizeof w->header);
        prof__pair_take(s->clock, s->like.tick_hz, &now);
        w->header.copy_tick = now.tick;
        if (i == 0) prof__crash_freeze(1);
        if (PROF__LOAD(&s->header->next_chunk) - w->header.next_chunk <= PROF__LOAD(&s->chunk_count) / 8) break;
    }
}

/* Writes the report part by part. If one part crashes, the next one still runs. */
static void prof__crash_report(prof__crash_work *w, const prof__session *s, int signal)
{
    w->used = 0;
    w->mute = 0;
    prof__crash_before(&w->system);
    if (!PROF__CRASH_SETJMP(w->escape)) {
        w->guarded = 1;
        prof__crash_stop(w, s);
        prof__crash_describe(w, s, &w->header, signal);
    }
    if (!PROF__CRASH_SETJMP(w->escape)) {
        /* Threads run on, so the image is written as it is now. */
        if (!s->file.live_path || s->file.sidecar) prof__crash_save(w, s, &w->header);
    } else {
        prof__crash_finish(&w->system, 0, w->part, w->path);
        w->path[0] = 0;
    }
    if (!PROF__CRASH_SETJMP(w->escape)) prof__crash_tell_file(w, s);
    w->guarded = 0;
    prof__crash_freeze(0);
    prof__crash_after(&w->system);
}

#ifdef _WIN32
/*-- the filter --*/

static struct {
    LPTOP_LEVEL_EXCEPTION_FILTER filter;
    void(__cdecl *abort)(int);
    PVOID vectored;
    int filters, aborts; /* 1: prof's filter or handler is set */
} prof__crash_others;

#define PROF__CRASH_ROOM 24576 /* bytes of stack that writing a report needs */

static int prof__crash_has_room(void)
{
    MEMORY_BASIC_INFORMATION stack;
    memset(&stack, 0, sizeof stack);
    return VirtualQuery(&stack, &stack, sizeof stack) &&
           (size_t)((char *)&stack - (char *)stack.AllocationBase) > PROF__CRASH_ROOM;
}

static DWORD WINAPI prof__crash_aside(LPVOID code)
{
    PROF__RELEASE(&prof__crash.reporter, (uintptr_t)GetCurrentThreadId());
    prof__crash_report(prof__crash.work, prof__crash.session, (int)(uintptr_t)code);
    PROF__RELEASE(&prof__crash.reporter, (uintptr_t)PROF__CRASH_OFF);
    return 0;
}

/* Writes the report from a new thread, because the stack of the dying thread is exhausted. The new thread cannot start
   if the dying one holds the loader's lock, or another lock that the start of a thread needs: so the wait ends after 10
   s. */
static void prof__crash_report_aside(DWORD code)
{
    HANDLE thread = CreateThread(NULL, 0, prof__crash_aside, (LPVOID)(uintptr_t)code, 0, NULL);
    if (!thread) return;
    WaitForSingleObject(thread, 10000);
    CloseHandle(thread);
}

/* Writes the report, unless one has been written. While another thread writes one, waits for it, because this thread's
   crash would end the process. */
static void prof__crash_tell(DWORD code)
{
    uintptr_t self = GetCurrentThreadId(), reporter = PROF__CRASH_READY;
    if (__atomic_compare_exchange_n(&prof__crash.reporter, &reporter, self, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
        prof__crashed = GetCurrentThreadId();
        if (code == EXCEPTION_STACK_OVERFLOW && !prof__crash_has_room())
            prof__crash_report_aside(code);
        else
            prof__crash_report(prof__crash.work, prof__crash.session, (int)code);
        PROF__RELEASE(&prof__crash.reporter, (uintptr_t)PROF__CRASH_OFF);
    } else if (reporter != self) {
        for (int i = 0; i < 1000 && PROF__ACQUIRE(&prof__crash.reporter) > PROF__CRASH_READY; ++i) PROF__CRASH_NAP();
    }
}

/* Called for an exception that no handler has taken. Codes without the high bit do not end a program: gcc, for example,
   uses one for C++ exceptions, which its runtime hands back to the throw. */
static LONG WINAPI prof__crash_filter(EXCEPTION_POINTERS *about)
{
    LPTOP_LEVEL_EXCEPTION_FILTER old = prof__crash_others.filter;
    DWORD code = about->ExceptionRecord->ExceptionCode;
    if (code >> 31) prof__crash_tell(code);
    return old ? old(about) : EXCEPTION_CONTINUE_SEARCH;
}

/* Called for every exception, before all other handlers. Handles only a crash inside the report, and continues after
   that part. */
static LONG WINAPI prof__crash_again(EXCEPTION_POINTERS *about)
{
    if (PROF__LOAD(&prof__crash.reporter) == (uintptr_t)GetCurrentThreadId() && prof__crash.work->guarded &&
        about->ExceptionRecord->ExceptionCode >> 30 == 3)
        longjmp(prof__crash.work->escape, 1);
    return EXCEPTION_CONTINUE_SEARCH;
}

/* Handles SIGABRT. The runtime has removed this handler before it calls it. */
static void __cdecl prof__crash_aborts(int number)
{
    void(__cdecl *old)(int) = prof__crash_others.abort;
    prof__crash_tell(PROF__CRASH_ABORT);
    if (old != SIG_DFL) {
        old(number);
        return;
    }
    signal(SIGABRT, SIG_DFL);
#ifdef _UCRT
    abort(); /* raise() would end the process with a different exit status */
#else
    raise(SIGABRT); /* abort() would print its message a second time */
#endif
}

/*-- on and off; under the control lock --*/

/* Sets prof's exception filter. A filter that the program has set since, and that may call prof's, stays. */
static void prof__crash_filter_set(void)
{
    LPTOP_LEVEL_EXCEPTION_FILTER now = SetUnhandledExceptionFilter(prof__crash_filter);
    if (now == prof__crash_filter) return;
    if (prof__crash_others.filters && now)
        SetUnhandledExceptionFilter(now);
    else
        prof__crash_others.filter = now;
    prof__crash_others.filters = 1;
}

static void prof__crash_filter_drop(void)
{
    LPTOP_LEVEL_EXCEPTION_FILTER now;
    if (!prof__crash_others.filters) return;
    now = SetUnhandledExceptionFilter(prof__crash_others.filter);
    if (now == prof__crash_filter)
        prof__crash_others.filters = 0;
    else
        SetUnhandledExceptionFilter(now);
}

/* Sets prof's handler for abort(). If the program ignores SIGABRT, the signal stays ignored. */
static void prof__crash_abort_set(void)
{
    void(__cdecl *now)(int) = signal(SIGABRT, prof__crash_aborts);
    if (now == prof__crash_aborts || now == SIG_ERR) return;
    if (now == SIG_IGN || (prof__crash_others.aborts && now != SIG_DFL)) {
        signal(SIGABRT, now);
        return;
    }
    prof__crash_others.abort = now;
    prof__crash_others.aborts = 1;
}

static void prof__crash_abort_drop(void)
{
    void(__cdecl *now)(int);
    if (!prof__crash_others.aborts) return;
    now = signal(SIGABRT, prof__crash_others.abort);
    if (now == prof__crash_aborts)
        prof__crash_others.aborts = 0;
    else if (now != SIG_ERR)
        signal(SIGABRT, now);
}

static void prof__crash_install(prof__session *s)
{
    prof__crash.session = s;
    PROF__RELEASE(&prof__crash.reporter, (uintptr_t)PROF__CRASH_READY);
    if (!prof__crash_others.vectored) prof__crash_others.vectored = AddVectoredExceptionHandler(1, prof__crash_again);
    prof__crash_filter_set();
    prof__crash_abort_set();
}

static void prof__crash_forget(void)
{
    PROF__RELEASE(&prof__crash.reporter, (uintptr_t)PROF__CRASH_OFF);
    prof__crash.session = NULL;
    prof__crash_filter_drop();
    prof__crash_abort_drop();
    if (prof__crash_others.vectored) RemoveVectoredExceptionHandler(prof__crash_others.vectored);
    prof__crash_others.vectored = NULL;
}
#endif

#ifndef _WIN32
/*-- the image's file was truncated --*/

#ifdef BUS_ADRERR
#define PROF__BUS_ADRERR BUS_ADRERR
#else
#define PROF__BUS_ADRERR 2 /* the value on Linux, macOS and the BSDs; some C standard modes do not declare it */
#endif

static void prof__crash_tell_cut(const prof__session *s)
{
    struct pollfd ready = {2, POLLOUT, 0};
    char text[1200] = "prof: ";
    prof__text_add(text, sizeof text, s->file.live_path);
    prof__text_add(text, sizeof text, ": another program truncated it while it was recorded: the recording ended\n");
    if (poll(&ready, 1, 1000) > 0 && write(2, text, prof__length(text)) < 0) return; /* stderr accepts no more output */
}

/* Handles a SIGBUS for a page of the image that is no longer in its file, because another program truncated the file.
   Returns 1 if memory has replaced that page and all pages after it; then nothing more is recorded, and the program
   goes on. The events that were cut off are lost. If the header was cut off, an image without events remains. */
static int prof__crash_survives(int signal, const siginfo_t *info)
{
    prof__session *s = prof__crash.session;
    if (signal != SIGBUS || info->si_code != PROF__BUS_ADRERR || !s || !s->file.live_path || !s->file.mapping) return 0;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), from = (size_t)((uintptr_t)info->si_addr - (uintptr_t)s->file.mapping);
    prof__about about;
    if (from >= s->file.mapping_size) return 0;
    size_t end = (from = from / page * page) + page;
    if (prof__stream_file_about(s, &about) && (uint64_t)about.st_size <= from) {
        from = (size_t)prof__round((uint64_t)about.st_size, page);
        end = s->file.mapping_size;
    }
    if (mmap((char *)s->file.mapping + from, end - from, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        return 0;
    if (!from) {
        *s->header = s->like;
        s->header->meta_used = 0;
        prof__copy(s->header->magic, PROF__MAGIC, sizeof s->header->magic);
    }
    int was = __atomic_fetch_or(&s->file.cut, PROF__CUT | PROF__CUT_OVER, __ATOMIC_RELAXED);
    prof__next_config_version();
    if (!(was & PROF__CUT_OVER)) prof__crash_tell_cut(s);
    return 1;
}

/*-- the handler --*/

static struct {
    int installed[PROF__CRASH_SIGNALS];
    struct sigaction old[PROF__CRASH_SIGNALS];
} prof__crash_was;

static void prof__crash_handler(int signal, siginfo_t *info, void *context);

static int prof__crash_is_ours(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == prof__crash_handler;
}

/* Restores the action of before prof, unless the program has installed another one since. */
static void prof__crash_restore(size_t i)
{
    struct sigaction now;
    if (!prof__crash_was.installed[i] || sigaction(prof__crash_signals[i].number, NULL, &now) ||
        !prof__crash_is_ours(&now))
        return;
    sigaction(prof__crash_signals[i].number, &prof__crash_was.old[i], NULL);
    prof__crash_was.installed[i] = 0;
}

/* Returns 1 if returning from the handler executes the faulting instruction again, and so raises the signal again; 0 if
   a process sent the signal, or if the hardware reported the fault later than the instruction. */
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

/* Lets the signal happen as it would without prof. The signal is delivered after the handler has returned, so that a
   debugger or a core dump finds the thread where it crashed. If a handler that was installed later called this one as
   its predecessor, the action of before prof follows, too. */
static void prof__crash_pass_on(int signal, siginfo_t *info)
{
    for (size_t i = 0; i < PROF__CRASH_SIGNALS; ++i) {
        /* the child of vfork() shares its parent's memory, so it changes nothing here */
        if (prof__process_id() == prof__crash.process) prof__crash_restore(i);
        if (prof__crash_signals[i].number == signal) sigaction(signal, &prof__crash_was.old[i], NULL);
    }
    if (prof__crash_repeats(signal, info)) return;
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    pthread_sigmask(SIG_BLOCK, &one, NULL); /* blocked until the handler returns */
#ifdef SYS_rt_tgsigqueueinfo
    /* passes on who sent the signal */
    if (!syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)prof__thread_id(), signal, info)) return;
#endif
    raise(signal);
}

/* Handles the signals of bugs: survives a truncated file, else writes a report once and passes the signal on. In a
   child of vfork() it only passes the signal on. */
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
                pthread_sigmask(SIG_SETMASK, &prof__crash.work->system.mask, NULL);
                longjmp(prof__crash.work->escape, 1);
            }
        } else { /* This thread's signal must not end the process while another thread writes the report. */
            for (int i = 0; i < 1000 && PROF__ACQUIRE(&prof__crash.reporter) > PROF__CRASH_READY; ++i)
                PROF__CRASH_NAP();
        }
    }
    prof__crash_pass_on(signal, info);
    PROF__ERRNO_RESTORE();
}

/*-- on and off; under the control lock --*/

/* Installs the handler for each signal, unless the program ignores that signal. */
static void prof__crash_install(prof__session *s)
{
    struct sigaction ours;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = prof__crash_handler;
    /* SA_NODEFER: a crash inside the report must reach the handler. */
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
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
        /* The program's own handler may call prof's. */
        if (prof__crash_was.installed[i] && !(plain && now.sa_handler == SIG_DFL)) continue;
        prof__crash_was.old[i] = now;
        prof__crash_was.installed[i] = 1;
        sigaction(prof__crash_signals[i].number, &ours, NULL);
    }
}

/* Removes the handlers. Also called in a child of fork(), which writes no reports. */
static void prof__crash_forget(void)
{
    PROF__RELEASE(&prof__crash.reporter, (uintptr_t)PROF__CRASH_OFF);
    if (PROF__LOAD(&prof__state.frozen)) prof__crash_freeze(0);
    prof__crash.session = NULL;
    for (size_t i = 0; i < PROF__CRASH_SIGNALS; ++i) prof__crash_restore(i);
}
#endif

/*-- on and off; under the control lock --*/

/* Reserves the memory of a report, chooses the path of its image file, and checks that the file can be created. */
static prof_status prof__crash_prepare(prof__session *s)
{
    prof__crash_work *w = prof__crash.work;
    if (!w) w = (prof__crash_work *)calloc(1, sizeof *w);
    if (!w) return prof__no_memory("for crash_report");
    prof__crash.work = w;
    if (s->file.output[0])
        prof__output_sidecar(s, w->path, sizeof w->path);
    else
        prof__expand_absolute("%n.%p.prof", "", w->path, sizeof w->path);
#ifdef _WIN32 /* Windows does not let a report replace the sidecar file while it is mapped */
    if (s->file.sidecar && s->file.live_path) prof__name_with(s->file.live_path, "crash", w->path, sizeof w->path);
#endif
    char ending[40];
    snprintf(ending, sizeof ending, ".%llu.part", (unsigned long long)prof__process_id());
    prof__path_ending(w->path, prof__length(w->path), ending, PROF__NAME_SHORT, w->part, sizeof w->part);
    prof__crash_names(&w->system, w->part, w->path);
    return s->file.live_path ? PROF_OK : prof__output_check(w->path);
}

/* Ends crash reports for a session. Waits up to 10 s for a report that is being written. */
static void prof__crash_remove(void)
{
    if (!prof__crash.session) return;
    for (int i = 0; i < 1000; ++i) { /* a report that is being written still reads the session */
        uintptr_t reporter = PROF__CRASH_READY;
        if (__atomic_compare_exchange_n(&prof__crash.reporter, &reporter, (uintptr_t)PROF__CRASH_OFF, 0,
                                        __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE) ||
            reporter == PROF__CRASH_OFF)
            break;
        PROF__CRASH_NAP();
    }
    prof__crash_forget();
}

/* Removes the handlers at exit and at an unload, because their code may be unloaded next. */
PROF__AT_END(PROF__LAST, prof__crash_leave);
static void prof__crash_leave(void) { prof__crash_remove(); }
#endif
#ifdef PROF_MINIMAL /* PROF_MINIMAL measures neither the cost of a scope nor the smallest step of the clock */
static void prof__calibrate(prof__session *s) { (void)s; }
#else
/* Uses of a macro in one measured burst: one use is too short to time. */
#define PROF__BURST 64
#define PROF__BURST_SHORT 16 /* uses in a burst of slower macros */
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

/* Returns the cost of one use in a burst, in thousandths of a tick, at least 1. Takes the fastest burst; if the clock's
   step is too long to time one burst, takes the mean of all. The records go into a scratch buffer. The caller has
   attached the thread and blocked all signals, or scopes of a signal handler would go into the scratch buffer, too. */
static uint64_t prof__burst_measure(prof__session *s, uint64_t step, void (*burst)(prof_site *site), prof_site *site,
                                    uint64_t uses)
{
    static uint64_t scratch[PROF__BURST_WORDS + 2];
    enum { ROUNDS = 8 };
    prof__thread *self = PROF__SELF();
    uint64_t *cursor = self->cursor, *end = self->end, left = self->free_words, best = ~0ull, total = 0, cost;
    for (int round = 0; round < ROUNDS; ++round) {
        uint64_t start = prof__now(s, 0);
        self->write_lock = PROF__BUSY;
        PROF__BARRIER();
        self->cursor = scratch + 1;
        self->end = scratch + sizeof scratch / sizeof *scratch;
        self->free_words = PROF__BURST_WORDS;
        PROF__BARRIER();
        self->write_lock = self->open;
        burst(site);
        self->write_lock = PROF__BUSY;
        PROF__BARRIER();
        self->cursor = cursor;
        self->end = end;
        self->free_words = left;
        PROF__BARRIER();
        self->write_lock = self->open;
        uint64_t took = prof__now(s, 0) - start;
        if (took < best) best = took;
        total += took;
    }
    cost = best / 16 >= step ? best * 1000 / uses : total * 1000 / (ROUNDS * uses);
    return cost ? cost : 1;
}

#ifdef PROF_INSTRUMENT_FUNCTIONS
/* Stands for a function whose calls are measured: only its address is used. */
static const char prof__call_measured = 0;

/* Registers prof__call_measured as an instrumented function. Returns its call site, which the caller turns on and off
   again, or NULL if the cost cannot be measured now. */
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

/* Measures and stores the cost of each sort of scope. No sort is recorded as cheaper than a plain scope, even if a
   coarse clock measures it so. */
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

/* Estimates the rate of the clock from the time since the start, and records it. */
static void prof__start_rate(prof__session *s)
{
    prof__header *h = s->header;
    prof__pair now;
    prof__pair_take_well(s->clock, h->tick_hz, &now);
    uint64_t ticks = now.tick - h->first.tick, ns = now.monotonic_ns - h->first.monotonic_ns;
    /* Too short to be exact, or the thread was interrupted for long. */
    if (ns < 100000 || ns >= 1000000000 || ticks >> 33) return;
    s->start_hz = ticks * 1000000000u / ns;
    uint32_t write_lock = prof__state_lock();
    prof__meta_rate(s);
    prof__state_unlock(write_lock);
}

/* Measures the smallest step of the clock and the costs of scopes, with real scopes that write to a scratch buffer.
   Attaches the thread for that. */
static void prof__calibrate(prof__session *s)
{
    prof__thread *self = PROF__SELF();
    prof__header *h = s->header;
    uint64_t step = prof__clock_step(s);
    PROF__STORE(&h->resolution_ticks, step == ~0ull ? 0 : step);
#ifndef PROF_FREESTANDING
    PROF__STORE(&s->like.resolution_ticks, h->resolution_ticks);
#endif
    uint32_t write_lock = prof__state_lock();
    uint32_t config_version = PROF__LOAD(prof__config_version);
    /* The thread still has a chunk of an earlier session. */
    if (self->session && self->session != s) prof__detach(self);
    int attached = self->session == s, ready = prof__state.running && (attached || prof__attach(self));
    self->synced_version = config_version;
    self->open = ready && PROF__FAST(s) ? config_version : PROF__SHUT;
    prof__state_unlock(write_lock);
    if (PROF__EXIT_WATCHED_UNLOCKED && ready && !attached) prof__on_exit_of_thread(self);
    if (!ready) return;
    prof__signals signals;
    prof__signals_block(&signals);
    prof__chunk *chunk = self->chunk;
    uint64_t taken_back = PROF__LOAD(&chunk->taken_back);
    prof__costs_measure(s, step, (uint64_t)PROF__KIND_BEGIN << PROF__KIND_SHIFT | config_version);
    /* A different chunk: the session has ended meanwhile. */
    if (self->chunk == chunk) PROF__STORE(&chunk->taken_back, taken_back);
    prof__signals_restore(&signals);
    prof__start_rate(s);
#ifndef PROF_FREESTANDING
    prof__header *like = &s->like;
    PROF__STORE(&like->cost_ticks_x1000, h->cost_ticks_x1000);
    PROF__STORE(&like->call_x1000, h->call_x1000);
    PROF__STORE(&like->text_x1000, h->text_x1000);
    PROF__STORE(&like->format_x1000, h->format_x1000);
#endif
}
#endif
#ifndef PROF_FREESTANDING
/*-- FORK ---------------------------------------------------------------------------------------------------- >>fork --
   A child of fork() records with its parent's configuration, into an image of its own. At the fork, the child only
   detaches from the parent's image, and keeps the session's data as prof__state.inherited. The child's first scope
   creates the image. So a child that calls exec(), or has no scopes, costs nothing and leaves no file. The first scope
   may be in a signal handler, and at the fork other threads of the parent may have held any lock of libc. So creating
   the image uses no allocation, no stdio and no time zone.
   There is one exception: a fork in a signal handler that interrupted the recorder itself. The recorder's state is
   unknown then, so the child records nothing. The interrupted macro still finds its memory when the handler returns. */

/* Ends a session that was inherited and has no image. If a scope needed the image, returns why it could not be
   created. */
static prof_status prof__inherited_end(void)
{
    prof_status status = PROF_OK;
    uint32_t write_lock = prof__state_lock();
    prof__session *s = prof__state.inherited;
    prof__state.inherited = NULL;
    prof__state_unlock(write_lock);
    if (!s) return PROF_OK;
    if (s->failed)
        status = prof__fail(s->file.live_path ? PROF_IO : PROF_NO_MEMORY,
                            "%s: %llu bytes: %s: this process recorded nothing",
                            s->file.output[0] ? s->file.output : "a buffer after a fork",
                            (unsigned long long)s->file.mapping_size, strerror(s->failed));
    s->file.mapping = NULL;
    prof__session_delete(s);
    return status;
}

#ifndef PROF__NO_FORK
#ifndef PROF_MINIMAL
/* Says on stderr that this child records in memory only, if the environment started the session, so that the program
   itself prints nothing. Async-signal-safe. */
static void prof__child_tells(const prof__session *s, const char *why)
{
    char text[sizeof s->file.output + 400] = "prof: ";
    prof__text_add(text, sizeof text, s->file.output);
    prof__text_add(text, sizeof text, ": ");
    prof__text_add(text, sizeof text, why);
    prof__text_add(text, sizeof text, ": this process records in memory only. To keep its recording, record a scope "
                   "before the process gives up its rights (setuid, chroot), or let PROF_OUTPUT name a directory in "
                   "which it may create files\n");
    if (prof__autostarted && write(2, text, prof__length(text)) < 0) return;
}

/* Gets the memory of the child's image: a mapped file, or plain memory if the child may not create the file. Returns 0
   or errno. */
static int prof__child_memory(prof__session *s)
{
    int beside = s->file.sidecar && s->file.live_path, moved = prof__root_moved(s);
    int error = moved ? ENOENT : prof__memory_get(s, s->file.mapping_size);
    int cause = error ? error : beside ? s->file.sidecar_error : 0;
    const char *why = moved                               ? "the process has changed its root directory (chroot)"
                      : cause == EACCES || cause == EPERM ? "Permission denied"
                      : cause == EROFS                    ? "Read-only file system"
                      : cause == ENOENT                   ? "its directory is not there"
                                                          : NULL;
    if (!why || !s->file.output[0]) return error;
    if (error && !beside) s->file.error = error;
    if (error) prof__file_forget(s, error);
    if (error) error = prof__memory_map(s, s->file.mapping_size);
    /* Otherwise the output can still be written through the held folder. */
    if (!error && !(moved && beside && s->file.folder)) prof__child_tells(s, why);
    return error;
}
#else
static int prof__child_memory(prof__session *s) { return prof__memory_get(s, s->file.mapping_size); }
#endif

/* Creates the child's image with what it keeps of the parent's header. Returns 0 or errno. Async-signal-safe. */
static int prof__child_image(prof__session *s)
{
    int error = prof__child_path(s);
    if (!error) error = prof__child_memory(s);
    if (error) return error;
    const prof__header *like = &s->like;
    if (prof__layout(s, s->file.mapping, s->file.mapping_size)) return EINVAL;
    prof__header *h = s->header;
    h->mode = like->mode == PROF_FILL ? PROF_FILL : PROF_RING;
    h->clock = like->clock;
    h->session = s->session_id;
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
    prof__meta_rate(s);
    if (!s->file.live_path) return 0;
    error = prof__name_take(s);
    if (!error) error = prof__name_publish(s);
    if (!error || !PROF__SIDECAR(s->file.sidecar)) return error;
    prof__file_forget(s, error);
    return 0;
}

/* Creates the child's image at the child's first scope. Called under the state lock, while the thread holds its write
   lock. On failure the child records nothing, and prof_stop() returns why. */
static void prof__child_make(void)
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
        if (s->file.part_path[0] && s->file.taken) unlink(s->file.live_path);
        if (s->file.part_path[0]) unlink(s->file.part_path);
        prof__name_drop(s);
        if (s->stream.opened) close(s->stream.file);
        s->file.taken = s->stream.opened = 0;
        if (s->file.mapping) munmap(s->file.mapping, s->file.mapping_size);
        s->file.part_path[0] = 0;
        s->header = NULL;
        s->file.mapping = NULL;
    } else {
        /* Set before `inherited` is cleared: if another thread forks in between, its child finds the session in one of
           both. */
        prof__state.session = s;
        prof__state.inherited = NULL;
    }
}

static prof__signals prof__fork_signals; /* protected by prof__change_word */

/* Runs before fork() in the parent. Blocks signals until the child has detached from the image, because the child must
   not write there. Scopes in the program's own fork handlers are lost meanwhile, and counted as lost. */
static void prof__before_fork(void)
{
    prof__thread *self = PROF__SELF();
    PROF__ERRNO_SAVE();
    if (self->fork.forking++ == 0) {
        self->fork.holds = self->write_lock != PROF__BUSY && prof__lock_try(&prof__change_word);
        if (self->fork.holds) {
            prof__signals_block(&prof__fork_signals);
            self->fork.write_lock = prof__enter_write(self);
        }
    }
    PROF__ERRNO_RESTORE();
}

static void prof__parent_of_fork(void)
{
    prof__thread *self = PROF__SELF();
    if (--self->fork.forking || !self->fork.holds) return;
    prof__signals signals = prof__fork_signals;
    prof__leave_write(self, self->fork.write_lock);
    prof__unlock(&prof__change_word);
    prof__signals_restore(&signals);
}

/* Changes the copied session into the child's: drops the parent's image, files and threads, and keeps the
   configuration. The service threads exist only in the parent, and a signal handler cannot create new ones, so the
   child of a PROF_STREAM or PROF_STATS session records as with PROF_RING. */
static void prof__session_inherit(prof__session *s)
{
    prof__stream_close(s);
    memset(&s->stream, 0, sizeof s->stream);
    memset(&s->service, 0, sizeof s->service);
    prof__reader()->follow_free(s->follow);
    s->follow = NULL;
    s->dump_period_ns = s->wait_ns = s->file.max_file_size = 0;
    s->crash_report = 0;
    if (PROF__SIDECAR(s->file.live_path && s->file.live_path != s->file.output)) s->file.sidecar = 1;
    if (PROF__SIDECAR(s->file.live_path != s->file.output)) s->file.live_path = NULL;
    if (s->header) {
        /* memory that the program gave is still the parent's to use, so only its size is kept */
        if (!s->file.mapping) s->file.mapping_size = (size_t)prof__round(s->image_size, 4096);
        if (s->file.mapping) munmap(s->file.mapping, s->file.mapping_size);
    }
    s->like.parent_pid = s->process;
    s->process = prof__process_id();
    s->header = NULL;
    s->file.mapping = NULL;
    s->file.part_path[0] = 0;
    s->file.claimed = s->file.written = s->file.taken = s->file.replaces = s->file.old_file = s->file.sidecar_error =
        s->file.whole = 0;
    s->ring.chunks_asked = 0;
    s->file.error = 0;
#ifdef PROF__META_GROWS
    s->names_error = NULL;
#endif
    s->ring.all_owned[0] = s->ring.all_owned[1] = 0;
    s->file.cut = 0;
    s->string_count = s->site_count = s->ring.partial_count = s->attached = s->readers = 0;
    memset(s->ring.partial_chunks, 0, sizeof s->ring.partial_chunks);
    s->failed = 0;
    s->session_id = ++prof__state.session_id ? prof__state.session_id : ++prof__state.session_id;
}

/* Sets up the recorder in a child, whose only thread is the calling one. inherits: 1: the parent's session goes on in
   the child. interrupted: 1: the recorder's state or this thread's may be half changed; then only memory is kept,
   because the interrupted macro may still write to it. */
static void prof__child_begins(prof__thread *self, int inherits, int interrupted)
{
    prof__session *s = prof__state.session;
    self->fork.forking = self->fork.holds = 0;
    PROF__BRIDGE_CHILD();
    prof__next_config_version();
    prof__reader()->save_disarm();
    prof__crash_forget();
    if (interrupted) {
        if (s) prof__memory_retire(s);
        s = NULL;
    } else {
        self->write_lock = PROF__BUSY;
        PROF__BARRIER();
        self->session = NULL; /* the session's count of threads stays, because the whole session is replaced */
        prof__detach(self);
        for (prof__session *each = prof__state.retired, *next; each; each = next) {
            next = each->next;
            prof__session_delete(each);
        }
        if (prof__state.inherited) s = prof__state.inherited;
        if (s && inherits && prof__state.running && !prof__on_demand) {
            prof__session_inherit(s);
        } else if (s) {
            prof__session_delete(s);
            s = NULL;
        }
    }
    prof__state.session = prof__state.retired = NULL;
    prof__state.inherited = s;
    prof__inherited_make = prof__child_make;
    prof__state.running = s != NULL;
    if (!s) prof__state.paused = prof__state.held = 0;
    prof__state.ended = 0;
    prof__on_demand = NULL;
    prof__lost_without_chunk = prof__lost_args_without_chunk = prof__lost_busy_without_chunk = 0;
    prof__flow_last = prof__process_id() << 32;
    prof__shared_counters_unlock();
    PROF__BARRIER();
    self->open = PROF__SHUT;
    if (!interrupted) self->write_lock = PROF__SHUT;
}

static void prof__child_of_fork(void)
{
    prof__thread *self = PROF__SELF();
    int inherits = self->fork.forking && self->fork.holds;
    prof__lock_word = prof__change_word = prof__control_word = 0;
    prof__child_begins(self, inherits, !inherits && self->write_lock == PROF__BUSY);
    if (inherits) prof__signals_restore(&prof__fork_signals);
}

#ifdef PROF__CONFIG_VERSION_PAGE
/* Forgets the memory that prof__child_begins() would free. Another thread of the parent may have held malloc()'s lock,
   which only a fork() that runs handlers releases. */
static void prof__child_keep(void)
{
    prof__session *s = prof__state.session;
    prof__state.retired = NULL;
    if (!s) return;
    if (prof__on_demand || !prof__state.running) prof__state.session = NULL;
    s->stream.block = NULL;
    s->stream.chunks = NULL;
    s->follow = NULL;
}

/* Detects and sets up a child of _Fork() or clone(), for which no fork handlers run. Called at the child's first macro,
   control function or end of a thread. Other threads of the parent may have been in the middle of a change; the caller
   was not, and holds its write lock or will take a lock. If the child already has several threads, one sets up the
   child while it holds the locks, and the others wait. If that one is not the first thread, the first thread still
   points to the parent's session, which then stays and is not inherited. */
static PROF__COLD void prof__child_unannounced(void)
{
    prof__thread *self = PROF__SELF();
    uint32_t write_lock = self->write_lock, nobody = 0;
    PROF__ERRNO_SAVE();
    if (self->fork.forking) return; /* this is a fork() whose handler will run */
    if (!__atomic_compare_exchange_n(&prof__config_version[1], &nobody, 1u, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        while (!PROF__ACQUIRE(prof__config_version)) prof__wait();
    } else {
        int changing = prof__lock_word || prof__change_word || prof__thread_id() != prof__process_id();
        if (!changing) prof__child_keep();
        prof__lock_word = prof__change_word = 1;
        prof__control_word = 0;
        prof__child_begins(self, !changing, changing);
        prof__unlock(&prof__lock_word);
        prof__unlock(&prof__change_word);
    }
    self->write_lock = write_lock;
    PROF__ERRNO_RESTORE();
}

/* Asks the kernel to zero the page of the config version in every child, which marks a child of _Fork() or clone().
   Called before a session starts. Needs Linux 4.14 and pages of 4 KiB. */
static void prof__children_watch(void)
{
    if (prof__child_found || sysconf(_SC_PAGESIZE) != PROF__CONFIG_VERSION_PAGE) return;
    if (madvise(prof__config_version, PROF__CONFIG_VERSION_PAGE, 18 /* MADV_WIPEONFORK */)) return;
    prof__child_found = prof__child_unannounced;
}
#endif

/* Registered early, so that this child handler runs before the handlers of the program, which may have scopes and call
   prof_stop(). */
PROF__AT_START(101, prof__forks_watch);
static void prof__forks_watch(void)
{
    if (!prof__is_whole()) return;
    prof__child_check();
    pthread_atfork(prof__before_fork, prof__parent_of_fork, prof__child_of_fork);
    prof__exit_key_make(); /* early, because glibc's pthread_setspecific() allocates for keys from 32 on */
}
#endif
#endif
#ifdef PROF_FREESTANDING
static prof_status prof__memory_publish(prof__session *s)
{
    (void)s;
    return PROF_OK;
}
#elif defined(_WIN32)
static prof_status prof__memory_publish(prof__session *s)
{
    s->file.taken = 0; /* the file stays, even if the start fails now */
    return PROF_OK;
}
#else
/* Gives the image's file its final name. If that fails for a sidecar file, goes on without it. */
static prof_status prof__memory_publish(prof__session *s)
{
    int error = s->file.live_path ? prof__name_publish(s) : 0;
    if (error && PROF__SIDECAR(s->file.sidecar)) {
        prof__file_forget(s, error);
        return PROF_OK;
    }
    return error ? prof__fail(PROF_IO, "%s: cannot be renamed to %s: %s", s->file.part_path, s->file.live_path,
                              strerror(error))
                 : PROF_OK;
}
#endif

/* Sets the reasons why recording does not begin at once: a delay, a start time, a warm-up. Called before the service
   starts, because it reads them. */
static void prof__schedule_configure(prof__session *s, const prof_config *config)
{
#ifdef PROF_MINIMAL
    (void)s, (void)config;
#else
    const prof__pair *now = &s->header->first;
    uint64_t wait = config->delay_ns;
    s->schedule.duration_ns = config->duration_ns;
    s->schedule.warmup_what = config->warmup_steps ? PROF__WARMUP_STEPS : PROF__WARMUP_FRAMES;
    s->schedule.warmup_left = config->warmup_frames ? config->warmup_frames - 1 : config->warmup_steps;
    if (config->start_unix_ns > now->unix_ns && config->start_unix_ns - now->unix_ns > wait)
        wait = config->start_unix_ns - now->unix_ns;
    if (wait) s->schedule.begin_at = now->monotonic_ns + (wait < PROF__CENTURY ? wait : PROF__CENTURY);
    s->schedule.held =
        (wait ? PROF__HELD_TIME : 0) | (config->warmup_steps || config->warmup_frames ? PROF__HELD_WARMUP : 0);
#endif
}

static prof_status prof__session_make(prof__session *s, const prof_config *config)
{
    prof_status status;
    void *memory = config->memory;
#ifdef PROF_FREESTANDING
    prof__extent size = (prof__extent)config->memory_size;
#else
    uint64_t size = memory ? config->memory_size : config->buffer_size ? config->buffer_size : PROF__DEFAULT_BUFFER;
#endif
#ifndef PROF_FREESTANDING
    int several;
    if ((status = prof__rank_find(config->rank, &several)) != PROF_OK) return status;
    prof__host[0] = 0;
    if (!PROF__MINIMAL && prof__rank[0]) prof__host_name(prof__host, sizeof prof__host);
    if (config->output && config->output[0] && (status = prof__output_prepare(s, config, several)) != PROF_OK)
        return status;
#endif
    if (!PROF__MINIMAL && config->layout && config->layout[0] && !s->file.output[0])
        return prof__fail(PROF_INVALID_ARGUMENT, "layout '%.20s': needs an output: set config.output", config->layout);
    if (memory) {
        uint32_t skip = (uint32_t)(0 - (uintptr_t)memory) & 63;
        if (s->file.live_path)
            return prof__fail(PROF_INVALID_ARGUMENT,
                              "output %s: a .prof is recorded into its file: set config.memory to NULL",
                              s->file.live_path);
        if (size < PROF__MIN_IMAGE + skip)
            return prof__fail(PROF_INVALID_ARGUMENT, "memory_size: must be at least %d", (int)PROF__MIN_IMAGE + 64);
        memory = (char *)memory + skip;
        size -= skip;
        prof__clear(memory, (size_t)(size / 8 * 8));
    } else {
#ifdef PROF_FREESTANDING
        return prof__fail(PROF_INVALID_ARGUMENT, "PROF_FREESTANDING: set config.memory and config.memory_size");
#else
        size = prof__round(size, 4096);
        prof__file_signal signal;
        prof__file_signal_hold(&signal);
        status = prof__memory_take(s, (size_t)size);
        prof__file_signal_drop(&signal);
        if (status) return status;
        memory = s->file.mapping;
#endif
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
    s->sandbox = prof__sandbox();
#endif
#ifndef PROF_FREESTANDING
    h->parent_pid = prof__parent_id();
    prof__program_name(h->program, sizeof h->program);
    prof__boot_id(h->boot_id, sizeof h->boot_id);
    prof__machine_time(h);
    status = prof__service_configure(s, config);
    if (status) return status;
#endif
#ifndef PROF_MINIMAL
    if (config->min_duration_ns) prof__threshold_set(s, config->min_duration_ns);
#endif
    s->fast = s->clock != PROF_CLOCK_COUNTER ? 0 : PROF__MIN_TICKS(s) ? PROF__SHORT : 1;
    prof__image_begin(s);
#ifndef PROF_FREESTANDING
    if (!s->file.named) status = prof__output_name(s);
#endif
    return status || !PROF__CRASH_REPORT(s) ? status : prof__crash_prepare(s);
}

#ifdef PROF_TINY
static prof_status prof__config_check(const prof_config *c)
{
    if ((unsigned)c->mode > PROF_FILL || c->level < -1 || c->level > 255) return PROF_INVALID_ARGUMENT;
    return c->save || c->crash_report || c->min_duration_ns || c->delay_ns || c->duration_ns || c->start_unix_ns ||
                   c->warmup_steps || c->warmup_frames || c->clock > PROF_CLOCK_COUNTER
               ? PROF_UNSUPPORTED
               : PROF_OK;
}
#else
static prof_status prof__config_check(const prof_config *c)
{
    if ((unsigned)c->mode > PROF_RING_STATS)
        return prof__must_be("mode", "ring, fill, stream, stats or ring+stats");
#ifdef PROF_FREESTANDING
    if (c->mode > PROF_FILL) return prof__fail(PROF_UNSUPPORTED, "mode: must be ring or fill with PROF_FREESTANDING");
    if (c->save) return prof__fail(PROF_UNSUPPORTED, "save: not supported with PROF_FREESTANDING");
#endif
    if ((unsigned)c->clock > PROF_CLOCK_MONOTONIC)
        return prof__must_be("clock", "auto, counter, ordered or monotonic");
    if (c->level < -1 || c->level > 255)
        return prof__fail(PROF_INVALID_ARGUMENT, "level %d: must be 1 to 255, or -1", c->level);
    if (PROF__MINIMAL && (c->min_duration_ns || c->warmup_steps || c->warmup_frames || c->rank ||
                          (c->layout && c->layout[0]) || (unsigned)c->existing > PROF_EXISTING_REPLACE))
        return prof__left_out("min_duration, warmup, rank, layout, existing", "PROF_MINIMAL");
    if (c->warmup_steps && c->warmup_frames)
        return prof__fail(PROF_INVALID_ARGUMENT, "warmup_steps, warmup_frames: only one of them can be set");
    if (!PROF__MINIMAL && (unsigned)c->existing > PROF_EXISTING_REFUSE)
        return prof__must_be("existing", "auto, replace, number or refuse");
#ifdef PROF_FREESTANDING
    if (c->delay_ns || c->start_unix_ns || c->duration_ns)
        return prof__fail(PROF_UNSUPPORTED,
                          "delay, start_unix, duration: not supported with PROF_FREESTANDING");
#endif
    if (!c->memory && c->buffer_size && (c->buffer_size < PROF__MIN_BUFFER || (uint64_t)c->buffer_size >> 30 > 64))
        return prof__must_be("buffer_size", "128K to 64G");
#ifdef PROF_FREESTANDING
    return PROF_OK;
#else
    return prof__service_check(c);
#endif
}
#endif

/* What prof_server.h passes to start an on-demand session. */
typedef struct prof__on_demand_start {
    void (*yield)(void);       /* called when the program starts a session of its own; ends this one */
    void (*limit)(void *user); /* called under the state lock before anything is recorded; restricts what is recorded */
    void *user;
} prof__on_demand_start;

#if defined(PROF_MINIMAL) || defined(PROF_FREESTANDING)
#define PROF__START_CLOCK() 0
static void prof__start_took(prof__session *s, uint64_t began) { (void)s, (void)began; }
#else
#define PROF__START_CLOCK() prof__monotonic()
/* Stores how long the start took. That time includes making the first pages ready, so the time for those is set to
   0. */
static void prof__start_took(prof__session *s, uint64_t began)
{
    const uint64_t took = prof__monotonic() - began;
    PROF__STORE(&s->header->start_ns, took); /* stored atomically, because the service may read it by now */
    PROF__STORE(&s->like.start_ns, took);
    PROF__STORE(&s->header->ready_ticks, 0u);
}
#endif

/* Does the work of prof_start(). Called under the control lock. */
static prof_status prof__start_locked(const prof_config *config, const prof__on_demand_start *on_demand)
{
    uint64_t began = PROF__START_CLOCK();
    if (prof__on_demand) prof__on_demand();
    int phase = prof__session_phase();
    if (!PROF__MINIMAL && phase == PROF__ENDED)
        return prof__fail(PROF_INVALID_STATE, "the previous session has ended by itself: call prof_stop() first");
    if (phase == PROF__RUNS)
        return prof__fail(PROF_INVALID_STATE, "a session is running already: call prof_stop() first%s",
                          !PROF__MINIMAL && prof__state_session()->file.output[0]
                              ? ", or leave PROF_OUTPUT out of the environment" : "");
    prof_status status = prof__config_check(config);
    if (status) return status;
    prof__recover();
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
    status = prof__service_start(s); /* the service has nothing to do until the session runs */
    if (!status) status = prof__reader()->save_arm(s);
#endif
#ifdef PROF__CONFIG_VERSION_PAGE
    prof__children_watch();
#endif
    uint32_t write_lock = prof__state_lock();
    if (!status) status = prof__rules_set(config->categories);
    if (!status) status = prof__memory_publish(s);
    if (!status) {
        s->session_id = prof__state.session_id + 1 ? prof__state.session_id + 1 : 1;
        PROF__STORE(&prof__state.session_id, s->session_id); /* ends of scopes compare their session id with it without
                                                                a lock */
        s->header->session = s->session_id;
        prof__metadata_write(s);
#ifndef PROF_FREESTANDING
        if (s->file.sidecar_error) prof__meta_pair(s, "in memory only", strerror(s->file.sidecar_error));
#endif
#ifndef PROF_FREESTANDING
        s->like = *s->header;
        /* Without the magic, so that a search for images in a core dump does not find this copy. */
        s->like.magic[0] = 0;
#endif
        prof__state.session = s;
        prof__state.level = prof__level_of(config);
        prof__state.filter_mask = config->filter_mask ? config->filter_mask : ~0u;
        if (on_demand) on_demand->limit(on_demand->user);
        PROF__STORE(&prof__state.paused, 0);
        prof__state.held = s->schedule.held;
        PROF__STORE(&prof__state.no_sync, config->no_sync);
        prof__state.no_devices = config->no_devices;
        PROF__STORE(&prof__state.running, 1);
        PROF__STORE(&prof__lost_without_chunk, 0u);
        PROF__STORE(&prof__lost_args_without_chunk, 0u);
        PROF__STORE(&prof__lost_busy_without_chunk, 0u);
        if (PROF__HELD())
            prof__next_config_version();
        else
            prof__schedule_release(s, 0);
    }
    prof__state_unlock(write_lock);
    if (status) {
#ifndef PROF_FREESTANDING
        prof__reader()->save_disarm();
        prof__service_stop(s);
        prof__path_unclaim(s);
#endif
        prof__session_delete(s);
        return status;
    }
#ifndef PROF_FREESTANDING
    prof__file_head(s);
#endif
    if (PROF__CRASH_REPORT(s)) prof__crash_install(s);
    prof__calibrate(s);
    prof__start_took(s, began);
    return PROF_OK;
}

/* Starts a session. on_demand is NULL for the program's own session. */
static prof_status prof__start_as(const prof_config *config, const prof__on_demand_start *on_demand)
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
        status = prof__start_locked(config, on_demand);
#ifndef PROF_FREESTANDING
        if (!status) PROF__STORE(&prof__on_demand, on_demand ? on_demand->yield : NULL);
#endif
        PROF__BRIDGE_STARTED();
    }
    prof__control_unlock();
    return status;
}

PROF_DEF prof_status prof_start(const prof_config *config)
{
    PROF__FORWARD(prof_start, (config));
    prof_config defaults;
    prof__clear(&defaults, sizeof defaults);
    return prof__start_as(config ? config : &defaults, NULL);
}

/* Stops recording. on_demand: 1: stops only a session that prof_server.h has started; 0: only one of the program.
   Called under the control lock. */
static prof_status prof__stop_recording(int on_demand)
{
    if (prof__state.session && prof__state.running) prof__names_look(prof__state.session);
    uint32_t write_lock = prof__state_lock();
    int running = !prof__on_demand == !on_demand && (prof__state.running || prof__state.ended);
#ifndef PROF_FREESTANDING
    if (on_demand) PROF__STORE(&prof__on_demand, NULL);
#endif
    if (running && prof__state.running) prof__recording_ends();
    if (running) prof__state.ended = 0;
    prof__state_unlock(write_lock);
    return running ? PROF_OK : prof__fail(PROF_INVALID_STATE, "no session is running");
}

/* Does the work of prof_stop(). Called under the control lock. */
static prof_status prof__stop_locked(void)
{
    prof_status status = prof__stop_recording(0);
#ifdef PROF_FREESTANDING
    if (!status) prof__crash_remove();
#else
    int stopped = !status;
    if (stopped) status = prof__inherited_end();
    prof__session *s = status ? NULL : prof__state.session;
    if (s) prof__service_stop(s); /* before the next line: its threads may touch what another program truncated */
    if (stopped) prof__crash_remove();
    if (s) prof__reader()->save_disarm();
    if (s && s->file.output[0] && PROF__SIDECAR(s->file.live_path != s->file.output) && !s->file.written)
        status = prof__output_write(s);
    if (s && PROF__SIDECAR(s->file.live_path && s->file.live_path != s->file.output))
        status = prof__in_folder(s, prof__file_finish, status);
    else if (s && s->file.live_path)
        status = prof__file_finish(s, status);
    if (s && s->file.live_path && !status) status = prof__stream_told(s->file.output);
    if (s && status) prof__path_unclaim(s);
#endif
    PROF__BRIDGE_STOP();
    return status;
}

PROF_DEF prof_status prof_stop(void)
{
    PROF__FORWARD(prof_stop, ());
    prof__control_lock();
    prof_status status = prof__stop_locked();
    prof__control_unlock();
    return status;
}

#ifndef PROF_FREESTANDING
/* Writes the output if the program ends without prof_stop(). Runs after the destructors of the program's own objects,
   which may have scopes or call prof_stop(), and before the writers are removed. Does nothing if another thread is
   inside a control function, rather than wait for it. */
PROF__AT_END(102, prof__exit_stop);
static void prof__exit_stop(void)
{
    PROF__CALM();
    prof__child_check();
    if (!prof__is_whole() || !prof__lock_try(&prof__control_word)) return;
    const prof__session *s = NULL;
    if (!prof__on_demand && prof__session_phase())
        s = prof__state.session ? prof__state.session : prof__state.inherited;
    if (s && s->file.output[0] && prof__stop_locked()) fprintf(stderr, "prof: %s\n", prof_error());
    prof__unlock(&prof__control_word);
}
#endif

PROF_DEF prof_status prof_reset(void)
{
    PROF__FORWARD(prof_reset, ());
    prof__control_lock();
    prof_status status = PROF_OK;
    if (!prof__on_demand && prof__session_phase())
        status = prof__fail(PROF_INVALID_STATE, "the session is running: call prof_stop() first");
    else
        prof__sessions_reap(!prof__on_demand);
    prof__control_unlock();
    return status;
}

/* Adds step to the number of pauses: 1 pauses, -1 resumes. Recording goes on when no pause is left. */
static prof_status prof__pause_by(int step)
{
    PROF__FORWARD(prof__pause_by, (step));
    prof_status status = PROF_OK;
    uint32_t write_lock = prof__state_lock();
    if (!prof__state.running && !prof__state.ended) {
        status = prof__fail(PROF_INVALID_STATE, "no session is running");
    } else if (prof__state.paused + step < 0) {
        status = prof__fail(PROF_INVALID_STATE, "prof_resume() was called more often than prof_pause()");
    } else {
        PROF__STORE(&prof__state.paused, prof__state.paused + step);
        prof__next_config_version();
    }
    prof__state_unlock(write_lock);
    PROF__BRIDGE_PAUSE();
    return status;
}
PROF_DEF prof_status prof_pause(void) { return prof__pause_by(1); }
PROF_DEF prof_status prof_resume(void) { return prof__pause_by(-1); }

/* Sets one pair of metadata, or removes all metadata if key is NULL. */
static prof_status prof__metadata_change(const char *key, const char *value)
{
    PROF__FORWARD(prof__metadata_change, (key, value));
    uint32_t write_lock = prof__state_lock();
    prof__session *s = prof__state.running ? prof__state.session : NULL;
#ifdef PROF_TINY
    int fits = s != NULL;
#else
    int fits = !key || prof__metadata_put(key, value);
    if (!key) prof__metadata.used = 0;
#endif
    if (fits && s) fits = prof__meta_pair(s, key ? key : "", key ? value : "");
    prof__state_unlock(write_lock);
    return fits ? PROF_OK : prof__fail(PROF_NO_MEMORY, "metadata '%.80s': no space is left for it", key ? key : "");
}

PROF_DEF prof_status prof_set_metadata(const char *key, const char *value)
{
    if (!key || !value || !key[0])
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_set_metadata: key or value is null, or key empty");
    return prof__metadata_change(key, value);
}
PROF_DEF prof_status prof_clear_metadata(void) { return prof__metadata_change(NULL, NULL); }

/* The function that prof_set_sync() set. Threads read it without a lock: version is odd during a change, and a reader
   that sees an odd or a changed version reads again. */
static struct {
    uint32_t version;
    void (*function)(void *user);
    void *user;
} prof__sync_hook;

PROF_DEF prof_status prof_set_sync(void (*sync)(void *user), void *user)
{
    PROF__FORWARD(prof_set_sync, (sync, user));
    uint32_t write_lock = prof__state_lock();
    PROF__STORE(&prof__sync_hook.version, prof__sync_hook.version + 1);
    PROF__FENCE();
    PROF__RELEASE(&prof__sync_hook.function, sync);
    PROF__RELEASE(&prof__sync_hook.user, user);
    PROF__RELEASE(&prof__sync_hook.version, prof__sync_hook.version + 1);
    prof__state_unlock(write_lock);
    return PROF_OK;
}

/* Calls the function that prof_set_sync() set. In a signal handler that interrupted prof_set_sync(), no function is
   called. */
PROF_DEF void prof__sync(void)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof__sync, ()));
    for (int i = 0; i < 100; ++i) {
        uint32_t version = PROF__ACQUIRE(&prof__sync_hook.version);
        void (*function)(void *) = PROF__ACQUIRE(&prof__sync_hook.function);
        void *user = PROF__ACQUIRE(&prof__sync_hook.user);
        if (version & 1 || PROF__ACQUIRE(&prof__sync_hook.version) != version) continue;
        if (!function || self->syncing || PROF__LOAD(&prof__state.no_sync)) return;
        PROF__ERRNO_SAVE();
        self->syncing = 1; /* the function may itself contain scopes that wait for the device */
        function(user);
        PROF__SELF()->syncing = 0;
        PROF__ERRNO_RESTORE();
        return;
    }
}

/* Ends a scope after waiting for the device. Does not wait if the scope's session is over. */
PROF_DEF void prof__end_sync(prof__token token)
{
    PROF__FORWARD_VOID(prof__end_sync, (token));
    if ((uint32_t)token == PROF__LOAD(&prof__state.session_id) && PROF__LOAD(&prof__state.running)) prof__sync();
    prof__end(token);
}

PROF_DEF int prof_enabled_at(int level)
{
    PROF__FORWARD(prof_enabled_at, (level));
    uint32_t write_lock = prof__state_lock();
    int enabled = prof__state.running && !prof__state.paused && !prof__state.held && level <= prof__state.level;
    if (prof__state.inherited && prof__state.inherited->failed) enabled = 0;
    prof__state_unlock(write_lock);
    return enabled;
}
PROF_DEF int prof_enabled(void) { return prof_enabled_at(0); }

PROF_DEF prof_status prof_set_level(int level)
{
    PROF__FORWARD(prof_set_level, (level));
    prof_status status = PROF_OK;
    if (level < 0 || level > 255) return prof__fail(PROF_INVALID_ARGUMENT, "level %d: must be 0 to 255", level);
    uint32_t write_lock = prof__state_lock();
    if (prof__state.running || prof__state.ended) {
        prof__state.level = level;
        prof__next_config_version();
    } else {
        status = prof__fail(PROF_INVALID_STATE, "no session is running: set prof_config.level");
    }
    prof__state_unlock(write_lock);
    return status;
}

PROF_DEF prof_status prof_set_filter_mask(uint32_t mask)
{
    PROF__FORWARD(prof_set_filter_mask, (mask));
    prof_status status = PROF_OK;
    uint32_t write_lock = prof__state_lock();
    if (prof__state.running || prof__state.ended) {
        prof__state.filter_mask = mask ? mask : ~0u;
        prof__next_config_version();
    } else {
        status = prof__fail(PROF_INVALID_STATE, "no session is running: set prof_config.filter_mask");
    }
    prof__state_unlock(write_lock);
    return status;
}

static prof_status prof__category_enable(const char *pattern, int on, int exact)
{
    PROF__FORWARD(prof__category_enable, (pattern, on, exact));
    prof_status status;
    uint32_t write_lock = prof__state_lock();
    if (prof__state.running || prof__state.ended) {
        status = prof__rule_add(pattern, prof__length(pattern), on != 0, exact);
        prof__next_config_version();
    } else {
        status = prof__fail(PROF_INVALID_STATE, "no session is running: set prof_config.categories");
    }
    prof__state_unlock(write_lock);
    return status;
}

PROF_DEF prof_status prof_category_enable(const char *pattern, int on)
{
    if (!pattern) return prof__fail(PROF_INVALID_ARGUMENT, "category pattern is null");
    return prof__category_enable(pattern, on, 0);
}

#ifndef PROF_FREESTANDING
PROF_DEF prof_status prof_domain_enable(prof_domain *domain, int on)
{
    if (!domain) return prof__fail(PROF_INVALID_ARGUMENT, "prof_domain_enable: domain is null");
    return prof__category_enable(prof_domain_name(domain), on, 1);
}
#endif

#if defined(PROF_FREESTANDING) && defined(PROF_WITH_DRAIN)
/*-- DRAIN -------------------------------------------------------------------------------------------------------------
   Together the pieces make an image in which each chunk has the place that its sequence number gives. prof_drain() owns
   a chunk while it writes it, so that the ring leaves that chunk out, and frees the chunk afterwards. */
static struct {
    uint32_t session_id; /* id of the session that the counts below belong to */
    uint64_t meta, chunks; /* bytes of meta, and chunks, that were handed out */
} prof__drained;

/* Hands out a chunk that no thread writes to, and frees it. If write() fails, the chunk stays for the next call. */
static prof_status prof__drain_chunk(prof__session *s, prof__chunk *chunk, prof_drain_write *write, void *user)
{
    uint32_t state = PROF__LOAD(&chunk->state);
    if (state == PROF__CHUNK_FREE || (state == PROF__CHUNK_OWNED && prof__state.running) ||
        !__atomic_compare_exchange_n(&chunk->state, &state, PROF__CHUNK_OWNED, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return PROF_OK;
    prof__chunk head = *chunk;
    prof_status status = PROF_OK;
    uint64_t offset = s->header->chunk_offset + (head.sequence - 1) * s->chunk_size;
    head.state = PROF__CHUNK_FULL;
    if (head.sequence) status = write(user, offset + sizeof head, chunk + 1, s->chunk_size - sizeof head);
    if (head.sequence && !status) status = write(user, offset, &head, sizeof head);
    if (!head.sequence || status) {
        PROF__RELEASE(&chunk->state, state);
        prof__room_changed();
        return status;
    }
    PROF__STORE(&chunk->taken_back, 0);
    ++prof__drained.chunks;
    PROF__RELEASE(&chunk->state, PROF__CHUNK_FREE);
    prof__room_changed();
    return PROF_OK;
}

/* Writes the header, after everything else, because it makes an image of the pieces. Chunks that were reused before
   they were handed out count as overwritten. */
static prof_status prof__drain_header(prof__session *s, prof_drain_write *write, void *user)
{
    prof__header h;
    /* The magic is never copied to the stack: in a dump of the memory, the copy would look like an image. */
    const size_t magic = sizeof h.magic;
    uint64_t reused = prof__drained.chunks;
    for (uint32_t i = 0; i < s->chunk_count; ++i) {
        const prof__chunk *chunk = (const prof__chunk *)(const void *)(s->chunks + i * s->chunk_size);
        reused -= PROF__LOAD(&chunk->state) == PROF__CHUNK_FREE && PROF__LOAD(&chunk->sequence);
    }
    prof__copy((char *)&h + magic, (const char *)s->header + magic, sizeof h - magic);
    h.overwritten -= reused < h.overwritten ? reused : h.overwritten;
    if (h.next_chunk > h.chunk_count) h.chunk_count = h.next_chunk;
    h.image_size = h.chunk_offset + h.chunk_count * h.chunk_size;
    prof_status status = write(user, magic, (const char *)&h + magic, sizeof h - magic);
    return status ? status : write(user, 0, s->header->magic, magic);
}

PROF_DEF prof_status prof_drain(prof_drain_write *write, void *user)
{
    prof__session *s = prof__state.session;
    prof_status status = PROF_OK;
    if (!s) return prof__fail(PROF_INVALID_STATE, "prof_drain: nothing has been recorded");
    if (prof__drained.session_id != s->session_id) {
        prof__drained.session_id = s->session_id;
        prof__drained.meta = prof__drained.chunks = 0;
    }
    uint64_t last = s->header->image_size - 8, zero = 0; /* makes the file as long as the image */
    if (!prof__drained.meta) status = write(user, last, &zero, sizeof zero);
    for (uint32_t i = 0; i < s->chunk_count && !status; ++i)
        status = prof__drain_chunk(s, (prof__chunk *)(void *)(s->chunks + i * s->chunk_size), write, user);
    uint32_t write_lock = prof__state_lock();
    uint64_t from = prof__drained.meta, to = s->header->meta_used;
    prof__state_unlock(write_lock);
    if (!status && to > from)
        status = write(user, s->header->meta_offset + from, (const char *)s->meta + from, (size_t)(to - from));
    if (!status) {
        prof__drained.meta = to;
        status = prof__drain_header(s, write, user);
    }
    return status ? prof__fail(status, "prof_drain: the pieces could not be written") : status;
}
#endif

#ifndef PROF_FREESTANDING
/*-- OBJECTS ---------------------------------------------------------------------------------------------- >>objects --
   A handle is one block on the heap with its call sites and strings. Nothing else keeps a pointer to it: the image has
   copies of the strings, and tokens hold only ids. So its owner may destroy it while a session runs. */

struct prof_domain {
    prof_domain *next;
    /* below: the children in a tree of all domains, by the next bit of the name's hash; by the first child once all
       bits are used. */
    prof_domain *below[2];
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
    prof__shared_counter shared;
};
struct PROF__SITE_TYPE prof_marker {
    prof_site sites[PROF_MARK_REACH_COUNT];
};

static prof_domain *prof__domains; /* the list of all; it only grows, at its head */
static prof_domain *prof__domain_tree;
static uint64_t prof__object_ids;

/* Allocates a zeroed object with a copy of the name behind it. name: may be NULL. Returns NULL if there is no
   memory. */
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

/* Allocates an object whose first field is a call site. */
static void *prof__object_make(size_t size, const prof_domain *domain, const char *name, unsigned kind, unsigned role)
{
    const char *copy = NULL;
    prof_site *site = (prof_site *)prof__object(size, name, &copy);
    if (site) prof__object_site(site, domain, copy, kind, role);
    return site;
}

/* Returns the domain of this name, made at the first call. Returns NULL if there is no memory. Lock-free. */
static prof_domain *prof__domain_make(const char *name)
{
    prof_domain **at = &prof__domain_tree, *domain, *made = NULL;
    uint32_t hash = prof__hash(name, strlen(name));
    const char *copy;
    for (;; at = &domain->below[hash >> 31], hash <<= 1) {
        domain = PROF__ACQUIRE(at);
        if (!domain) {
            if (!made && !(made = (prof_domain *)prof__object(sizeof *made, name, &copy))) return NULL;
            made->name = copy;
            if (__atomic_compare_exchange_n(at, &domain, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) break;
        }
        if (!strcmp(domain->name, name)) {
            free(made); /* another thread has made it first */
            return domain;
        }
    }
    while (!__atomic_compare_exchange_n(&prof__domains, &made->next, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    return made;
}

PROF_DEF prof_domain *prof_domain_create(const char *name)
{
    PROF__FORWARD(prof_domain_create, (name));
    return prof__domain_make(name ? name : "");
}

PROF_DEF const char *prof_domain_name(const prof_domain *domain) { return domain ? domain->name : ""; }

static size_t prof__domain_names(const char **names, size_t capacity)
{
    prof_domain *first = PROF__ACQUIRE(&prof__domains);
    const char *category = prof__categories.names, *end = category + PROF__ACQUIRE(&prof__categories.used);
    size_t count = 0;
    for (const prof_domain *domain = first; domain; domain = domain->next, ++count)
        if (names && count < capacity) names[count] = domain->name;
    for (; category < end; category += prof__length(category) + 1) {
        const prof_domain *same = first;
        while (same && strcmp(same->name, category)) same = same->next;
        if (same) continue;
        if (names && count < capacity) names[count] = category;
        ++count;
    }
    return count;
}

PROF_DEF size_t prof_domain_list(const char **names, size_t capacity)
{
    PROF__FORWARD(prof_domain_list, (names, capacity));
    return prof__domain_names(names, capacity);
}

PROF_DEF prof_task *prof_task_create(prof_domain *domain, const char *name)
{
    PROF__FORWARD(prof_task_create, (domain, name));
    prof_task *task = (prof_task *)prof__object_make(sizeof *task, domain, name, PROF__KIND_EVENT, PROF_ROLE_TASK);
    if (task) task->id = PROF__ADD(&prof__object_ids, 1) + 1;
    return task;
}

/* *object: a pointer to a task. Returns the task's call site, and sets *object to the task's id. */
static prof_site *prof__task_site(uint64_t *object)
{
    prof_task *task = (prof_task *)(uintptr_t)*object;
    *object = task->id;
    return &task->site;
}

PROF_DEF void prof_task_start(prof_task *task)
{
    if (task && prof__on(&task->site)) prof__event(&task->site, PROF_EVENT_SPAN_BEGIN, 0, task->id);
}

PROF_DEF void prof_task_stop(prof_task *task)
{
    if (task && prof__on(&task->site)) prof__event(&task->site, PROF_EVENT_SPAN_END, 0, task->id);
}

PROF_DEF void prof_task_destroy(prof_task *task) { free(task); }

PROF_DEF prof_frame *prof_frame_create(prof_domain *domain, const char *name)
{
    PROF__FORWARD(prof_frame_create, (domain, name));
    prof_frame *frame = (prof_frame *)prof__object_make(sizeof *frame, domain, name, PROF__KIND_EVENT, PROF_ROLE_FRAME);
    if (frame) frame->id = PROF__ADD(&prof__object_ids, 1) + 1;
    return frame;
}

/* Counts frames even when nothing records, so that a frame has the program's number. */
PROF_DEF void prof_frame_start(prof_frame *frame)
{
    if (!frame) return;
    uint64_t number = PROF__ADD(&frame->number, 1) + 1;
    if (prof__on(&frame->site))
        prof__event(&frame->site, PROF_EVENT_SPAN_BEGIN, number & PROF__EVENT_DETAIL_MAX, frame->id);
}

PROF_DEF void prof_frame_stop(prof_frame *frame)
{
    if (frame && prof__on(&frame->site))
        prof__event(&frame->site, PROF_EVENT_SPAN_END, PROF__LOAD(&frame->number) & PROF__EVENT_DETAIL_MAX, frame->id);
}

PROF_DEF void prof_frame_destroy(prof_frame *frame) { free(frame); }

PROF_DEF prof_range *prof_range_create(const char *name)
{
    prof_range *range = (prof_range *)prof__object_make(sizeof *range, NULL, name, PROF__KIND_BEGIN, PROF_ROLE_RANGE);
    if (!range) return NULL;
    range->stop = range->start;
    range->stop.kind = PROF__KIND_END; /* ends are never off */
    return range;
}

PROF_DEF void prof_range_start(prof_range *range)
{
    if (range && prof__live(&range->start)) prof__begin_unscoped(&range->start);
}

PROF_DEF void prof_range_stop(prof_range *range)
{
    if (range && prof__live(&range->stop)) prof__end_unscoped(&range->stop);
}

PROF_DEF void prof_range_destroy(prof_range *range) { free(range); }

PROF_DEF prof_counter *prof_counter_create(prof_domain *domain, const char *name)
{
    return (prof_counter *)prof__object_make(sizeof(prof_counter), domain, name, PROF__KIND_COUNTER_INT,
                                             PROF_ROLE_NONE);
}

PROF_DEF prof_counter *prof_counter_create_unit(prof_domain *domain, const char *name, const char *unit)
{
    size_t length = unit ? strlen(unit) : 0, at = sizeof(prof_counter);
    prof_counter *counter;
    if (!length) return prof_counter_create(domain, name);
    /* behind the object: the empty name of a file, the unit, the counter's name */
    counter = (prof_counter *)prof__object_make(at + 1 + length + 1, domain, name, PROF__KIND_COUNTER_INT,
                                                PROF_ROLE_NONE);
    if (!counter) return NULL;
    counter->site.file = (const char *)counter + at;
    memcpy((char *)counter + at + 1, unit, length);
    counter->site.kind |= PROF__KIND_UNIT;
    return counter;
}

static void prof__counter_change(prof_counter *counter, int how, int64_t value)
{
    prof__number number;
    if (!counter) return;
    number.shared = &counter->shared;
    prof__count_int(&counter->site, &number, how, value);
}

static void prof__counter_change_double(prof_counter *counter, int how, double value)
{
    prof__number number;
    if (!counter) return;
    number.shared = &counter->shared;
    prof__count_double(&counter->site, &number, how, value);
}

PROF_DEF void prof_counter_set(prof_counter *counter, int64_t value)
{
    prof__counter_change(counter, PROF__COUNT_SET, value);
}
PROF_DEF void prof_counter_add(prof_counter *counter, int64_t delta)
{
    prof__counter_change(counter, PROF__COUNT_ADD, delta);
}
PROF_DEF void prof_counter_sub(prof_counter *counter, int64_t delta)
{
    prof__counter_change(counter, PROF__COUNT_SUB, delta);
}
PROF_DEF void prof_counter_set_uint(prof_counter *counter, uint64_t value)
{
    prof__number number;
    if (!counter) return;
    number.shared = &counter->shared;
    prof__count_uint(&counter->site, &number, PROF__COUNT_SET, value);
}
PROF_DEF void prof_counter_set_double(prof_counter *counter, double value)
{
    prof__counter_change_double(counter, PROF__COUNT_SET, value);
}
PROF_DEF void prof_counter_add_double(prof_counter *counter, double delta)
{
    prof__counter_change_double(counter, PROF__COUNT_ADD, delta);
}

PROF_DEF void prof_counter_destroy(prof_counter *counter)
{
    if (counter) PROF__BRIDGE_COUNTER_GONE(&counter->site);
    free(counter);
}

PROF_DEF prof_marker *prof_marker_create(prof_domain *domain, const char *name)
{
    prof_marker *marker = (prof_marker *)prof__object_make(sizeof *marker, domain, name, PROF__KIND_MARK,
                                                           (unsigned)PROF__MARK_ROLE(0));
    for (int scope = 1; marker && scope < (int)PROF_MARK_REACH_COUNT; ++scope) {
        marker->sites[scope] = marker->sites[0];
        marker->sites[scope].kind = (uint16_t)(PROF__KIND_MARK | (unsigned)PROF__MARK_ROLE(scope) << PROF__ROLE_SHIFT);
    }
    return marker;
}

PROF_DEF void prof_marker_mark(prof_marker *marker, prof_mark_reach scope)
{
    unsigned at = (unsigned)scope < (unsigned)PROF_MARK_REACH_COUNT ? (unsigned)scope : 0;
    if (marker && prof__on(&marker->sites[at])) prof__mark(&marker->sites[at]);
}

PROF_DEF void prof_marker_destroy(prof_marker *marker) { free(marker); }
#endif

/*-- texts with a length --
   The recorder, other tools and other instances take terminated texts. So the part of a text that can be recorded is
   copied first. */

/* Copies a text of `bytes` bytes to `to`, terminated. Of a text that is too long it copies one byte more than is
   recorded, by which the recorder sees that the text was cut. Returns the copy. */
static const char *prof__part(char to[PROF_MAX_TEXT + 2], const char *text, size_t bytes)
{
    if (!text && bytes) return NULL; /* recorded as "(null)" */
    if (bytes > PROF_MAX_TEXT + 1) bytes = PROF_MAX_TEXT + 1;
    if (bytes) prof__copy(to, text, bytes);
    to[bytes] = 0;
    return to;
}

PROF_DEF prof__token prof__begin_part(prof_site *site, const char *text, size_t bytes)
{
    char copy[PROF_MAX_TEXT + 2];
    return prof__begin_text(site, prof__part(copy, text, bytes));
}

PROF_DEF void prof__mark_part(prof_site *site, const char *text, size_t bytes)
{
    char copy[PROF_MAX_TEXT + 2];
    prof__mark_text(site, prof__part(copy, text, bytes));
}

PROF_DEF void prof__arg_part(prof_site *site, const char *text, size_t bytes)
{
    char copy[PROF_MAX_TEXT + 2];
    prof__arg_string(site, prof__part(copy, text, bytes));
}

PROF_DEF void prof__arg_part_to(prof_scope scope, const char *key, const char *text, size_t bytes)
{
    char copy[PROF_MAX_TEXT + 2];
    prof_arg arg = prof__made_string(key, prof__part(copy, text, bytes));
    prof__with(NULL, PROF_EVENT_SCOPE, scope, &arg, 1);
}

PROF_DEF void prof__thread_part(const char *text, size_t bytes)
{
    char copy[PROF_MAX_TEXT + 2];
    prof_set_thread_name(prof__part(copy, text, bytes));
}

/* -- lists of arguments: in contiguous words with their event, so that no other record comes between -- */

#define PROF__WITH_ARGS PROF_DEVICE_ARGS

typedef struct prof__with_arg {
    prof__text key, text; /* text: the value, if it is a string */
    uint64_t words;       /* of the two records: key and value */
} prof__with_arg;

typedef struct prof__with_list {
    const prof_arg *args;
    uint64_t kind, to;    /* kind: ARG or DATA; to: the head of the BEGIN that they belong to, or 0 */
    uint64_t words, count;
    prof__with_arg parts[PROF__WITH_ARGS];
} prof__with_list;

/* Counts how many of the arguments fit into `room` words, usually all of them. Long texts are cut to make room. */
static void prof__with_measure(prof__with_list *list, uint32_t count, uint64_t room)
{
    uint64_t to = list->to != 0;
    list->words = list->count = 0;
    for (; list->count < count && room - list->words >= 8; ++list->count) {
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

/* Writes the arguments to the words at `at`, from the last to the first. The head of the first one, stored last,
   publishes all, so a reader sees all arguments or none. */
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

/* Writes the arguments of a scope. The thread holds its write lock. */
static void prof__with_scope(prof__thread *self, prof__with_list *list, uint32_t count)
{
    uint64_t now = self->base, *at; /* arguments have no time */
    list->kind = PROF__KIND_ARG;
    prof__with_measure(list, count, PROF__LOAD(&self->session->text_words) / 4);
    at = prof__reserve_or_lose(self, list->words, &now, PROF__LOSS_ARGS(list->count));
    if (!at) return;
    prof__with_write(at, list);
    prof__commit(self, list->words);
}

/* Writes the arguments of a scope that a handle (token) names. That scope may be recorded although its category is off
   by now. */
static void prof__with_handle(prof__thread *self, uint64_t token, prof__with_list *list, uint32_t count)
{
    uint32_t write_lock = prof__enter_write(self);
    if ((uint32_t)token != PROF__LOAD(&prof__state.session_id)) {
        prof__leave_write(self, write_lock);
    } else if (prof__enter_slow(self, NULL, write_lock, PROF__LOSS_ARGS(count))) {
        list->to = token ^ self->session_id;
        if ((uint32_t)token == self->session_id && !prof__sites_rest()) prof__with_scope(self, list, count);
        prof__leave(self);
    }
}

/* Writes a MARK or an EVENT with arguments. The thread holds its write lock. */
static void prof__with_event(prof__thread *self, uint64_t head, uint64_t type, uint64_t object, prof__with_list *list,
                             uint32_t count)
{
    uint64_t first = type == PROF_EVENT_MARK ? 1 : 3, now = prof__now(self->session, 0), *at;
    list->kind = PROF__KIND_DATA;
    prof__with_measure(list, count, PROF__LOAD(&self->session->text_words) / 4);
    at = prof__reserve_or_lose(self, first + list->words, &now, PROF__LOSS_EVENT | PROF__LOSS_ARGS(list->count));
    if (!at) return;
    prof__with_write(at + first, list);
    if (type != PROF_EVENT_MARK) {
        PROF__STORE(at + 1, type);
        PROF__STORE(at + 2, object);
    }
    prof__store_word(at, head | (now - self->base));
    prof__commit(self, first + list->words);
}

PROF_DEF void prof__with(prof_site *site, uint64_t type, uint64_t object, const prof_arg *args, uint32_t count)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof__with, (site, type, object, args, count)));
    prof__with_list list;
    uint64_t head;
    uint32_t loss = type == PROF_EVENT_SCOPE ? 0 : PROF__LOSS_EVENT;
    while (count && args[count - 1].value.type == PROF_VALUE_NONE) --count;
    if (count > PROF__WITH_ARGS) count = PROF__WITH_ARGS;
    loss |= PROF__LOSS_ARGS(count);
    list.args = args;
    list.to = 0;
    if (!site && type == PROF_EVENT_SCOPE) {
        prof__with_handle(self, object, &list, count);
        return;
    }
#ifndef PROF_FREESTANDING
    if (!site) site = prof__task_site(&object);
#endif
    if (!site || !prof__on(site) || (type == PROF_EVENT_SCOPE && prof__off_scope_drops(self, count)) ||
        !prof__enter_or_lose(self, site, &head, loss))
        return;
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

/* A unit that may follow a number, and its factor. A table of units ends with a name of NULL. */
typedef struct prof__unit {
    const char *name;
    uint64_t factor;
} prof__unit;

/* Parses a number with an optional fraction and a unit from the table. Returns 0 if text is not such a number, or if
   the result is no whole number. */
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
            if (fraction * units->factor % scale) return 0; /* for example 1.5 bytes */
            *out = value * units->factor + fraction * units->factor / scale;
            return 1;
        }
    return 0;
}

/* The table for numbers without a unit. */
static PROF__UNUSED const prof__unit prof__ones[] = {{"", 1}, {NULL, 0}};
static int prof__parse_whole(const char *text, uint64_t *out)
{
    return prof__parse_number(text, prof__ones, out);
}

static PROF__UNUSED const char *const prof__mode_names[] = {"ring", "fill", "stream", "stats", "ring+stats", NULL};
#ifdef PROF_NO_TEXT
/*-- NO CONFIGURATION FROM TEXT -------------------------------------------------------------------------------------*/

PROF_DEF prof_status prof_config_claim(const char *prefix,
                                       prof_status (*claim)(void *user, const char *key, const char *value), void *user)
{
    (void)prefix, (void)claim, (void)user;
    return prof__left_out("prof_config_claim", "PROF_NO_TEXT");
}
PROF_DEF prof_status prof_config_set(prof_config *config, const char *key, const char *value)
{
    (void)config, (void)key, (void)value;
    return prof__left_out("prof_config_set", "PROF_NO_TEXT");
}
static int prof__layout_alone(const char *layout) { return (void)layout, 0; }
PROF_DEF int prof_config_describe(size_t index, prof_option *option) { return (void)index, (void)option, 0; }
PROF_DEF prof_status prof_config_from_env(prof_config *config)
{
    (void)config;
    return prof__left_out("prof_config_from_env", "PROF_NO_TEXT");
}
#else
/*-- CONFIGURATION FROM TEXT ---------------------------------------------------------------------------------------*/

static int prof__parse_name(const char *text, const char *const *names)
{
    for (int i = 0; names[i]; ++i)
        if (prof__equal(names[i], text)) return i;
    return -1;
}

/* Returns the edit distance of two words, for "did you mean ...?". Returns 99 if b is longer than 30 bytes. */
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

/* Returns the number of a signal such as "10", "USR1" or "SIGUSR1", or -1 if the name is unknown. */
static int prof__parse_signal(const char *text)
{
    uint64_t number;
    if (prof__parse_whole(text, &number)) return number <= 64 ? (int)number : -1;
#ifndef PROF__NO_SIGNALS
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

/* Parses a 32-bit mask, decimal or hexadecimal with 0x. Returns 0 if text is not such a number. */
static int prof__parse_mask(const char *text, uint64_t *out)
{
    uint64_t number = 0;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        const char *digits = text += 2;
        for (; *text && text - digits < 9; ++text) {
            char c = *text >= 'A' && *text <= 'F' ? (char)(*text - 'A' + 'a') : *text;
            if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f')) return 0;
            number = number << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
        }
        if (text == digits || *text) return 0;
    } else if (!prof__parse_whole(text, &number)) {
        return 0;
    }
    *out = number;
    return !(number >> 32);
}

static const char *const prof__clock_names[] = {"auto", "counter", "ordered", "monotonic", NULL};
static const char *const prof__limit_names[] = {"stop", "rotate", NULL};
static const char *const prof__existing_names[] = {"auto", "replace", "number", "refuse", NULL};
static const char *const prof__zero_one[] = {"0", "1", NULL};
/* Words that any of the supported profilers accepts for false and true. Words at odd indices mean true. */
static const char *const prof__switch_names[] = {"0",  "1",   "off",   "on",   "false", "true",
                                                 "no", "yes", "False", "True", NULL};

/* How a key's text is parsed, and the type of the field of prof_config that stores the value. */
enum {
    PROF__KEY_TEXT,    /* const char * */
    PROF__KEY_SIZE,    /* size_t */
    PROF__KEY_BYTES,   /* uint64_t */
    PROF__KEY_COUNT,   /* uint64_t */
    PROF__KEY_TIME,    /* uint64_t, nanoseconds */
    /* uint64_t, nanoseconds; a number without a unit is an error, because seconds may have been meant. */
    PROF__KEY_SPAN,
    PROF__KEY_SECONDS, /* uint64_t, nanoseconds; a number without a unit is seconds */
    PROF__KEY_INT,     /* int; CHOICE, SWITCH and SIGNAL are ints, too */
    PROF__KEY_CHOICE,
    PROF__KEY_SWITCH,
    PROF__KEY_SIGNAL,
    PROF__KEY_MASK,    /* uint32_t */
    PROF__KEY_LEVEL,   /* int; 0 is stored as PROF_LEVEL_NONE */
    PROF__KEY_PERIOD,  /* uint64_t, nanoseconds; a number without a unit is seconds */
    PROF__KEY_WAIT     /* uint64_t, nanoseconds; 0 is stored as PROF_NEVER */
};
static const char *const prof__key_types[] = {"text", "size",    "size",   "number", "time",  "time",
                                              "time", "number", "choice", "switch", "signal", "mask",
                                              "number",  "time",   "time"};

/* One key for each field of prof_config that text can set. The parser, the environment, error messages and
   prof_config_describe() share this table. least and max bound a number; zero: 1 if 0 is valid as well. */
typedef struct prof__key {
    const char *name;
    unsigned type;
    size_t field;
    uint64_t least, max;
    int zero;
    const char *const *choices;
    const char *standard, *values, *meaning;
} prof__key;

#define PROF__KEY(name, type, field, least, max, zero, choices, standard, values, meaning) \
    {name, PROF__KEY_##type, offsetof(prof_config, field), least, max, zero, choices, standard, values, meaning}
static const prof__key prof__keys[] = {
    PROF__KEY("output", TEXT, output, 0, 0, 0, NULL, "", "a path that ends in .json, .csv, .txt or .prof",
              "file written by prof_stop(); .prof is up to date at any time; %p process id, %n program, %t time, %h "
              "host, %r rank"),
    PROF__KEY("existing", CHOICE, existing, 0, 0, 0, prof__existing_names, "auto", "auto, replace, number or refuse",
              "what happens to an older file of that name; auto: number if it has %p or %t, or is this process's or in "
              "use, else replace"),
    PROF__KEY("layout", TEXT, layout, 0, 0, 0, NULL, "", "mxnet, json, cntk, cntk-detail, domains, histogram or paths",
              "output is this report of prof_report.h, whatever its extension; cntk and a directory: both of its "
              "files"),
    PROF__KEY("rank", TEXT, rank, 0, 0, 0, NULL, "", "up to 63 bytes, no / or \\",
              "what %r is; default: the launcher's number of this process (MPI, Slurm, torchrun, ...), else 0"),
    PROF__KEY("buffer", SIZE, buffer_size, PROF__MIN_BUFFER, 64ull << 30, 0, NULL, "16M",
              "bytes from 128K to 64G, for example 64M", "memory for what is recorded"),
    PROF__KEY("mode", CHOICE, mode, 0, 0, 0, prof__mode_names, "ring", "ring, fill, stream, stats or ring+stats",
              "when the buffer is full: reuse the oldest part, end, pack it into the file, or keep statistics only"),
    PROF__KEY("clock", CHOICE, clock, 0, 0, 0, prof__clock_names, "auto", "auto, counter, ordered or monotonic",
              "what tells the time; ordered: exact short scopes, at 1.4 to 2.8 times the cost"),
    PROF__KEY("level", LEVEL, level, 1, 255, 1, NULL, "2", "0 to 255", "call sites of a higher level are off; 0: all"),
    PROF__KEY("categories", TEXT, categories, 0, 0, 0, NULL, "", "patterns with * and ?, joined by commas; - turns off",
              "which categories are on, for example net,render*,-audio; default: all"),
    PROF__KEY("min_duration", TIME, min_duration_ns, 0, UINT64_MAX, 1, NULL, "0",
              "a time, for example 500ns, 2us, 1.5ms", "a scope that is shorter and has nothing inside is removed"),
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
              "recording begins with the PROFILE_FRAME of this number"),
    PROF__KEY("max_file_size", BYTES, max_file_size, 0, UINT64_MAX, 1, NULL, "0", "bytes, for example 2G",
              "mode stream: bytes that the file may have, buffer included; 0: no limit"),
    PROF__KEY("at_limit", CHOICE, at_limit, 0, 0, 0, prof__limit_names, "stop", "stop or rotate",
              "mode stream: which end is kept once the file is that large: the oldest or the newest events"),
    PROF__KEY("wait", WAIT, wait_ns, 0, PROF__MAX_WAIT, 1, NULL, "", "a time up to 10s, for example 5ms; 0: not at all",
              "how long a thread waits for room in the buffer, before events are lost; default: 10s with stats and "
              "ring+stats, else 0"),
    PROF__KEY("dump_period", PERIOD, dump_period_ns, PROF__MIN_PERIOD, PROF__MAX_PERIOD, 1, NULL, "0",
              "seconds from 0.01 to 864000, or a time, for example 10ms or 5s",
              "writes output that often; 0: only at the end"),
    PROF__KEY("save", TEXT, save, 0, 0, 0, NULL, "", "a path as for output; %c counts the files",
              "file for the last seconds, whenever save_over, save_signal or prof_save_request() ask for it"),
    PROF__KEY("save_last", SECONDS, save_last_ns, 1, UINT64_MAX, 0, NULL, "10", "seconds, for example 10 or 500ms",
              "how much a save holds"),
    PROF__KEY("save_over", TEXT, save_over, 0, 0, 0, NULL, "",
              "frame>TIME, frame:NAME>TIME or scope:NAME>TIME, joined by commas",
              "what must not take longer, for example frame>16.7ms,scope:net.*>2ms"),
    PROF__KEY("save_every", SECONDS, save_every_ns, 0, UINT64_MAX, 1, NULL, "0", "seconds, for example 30 or 500ms",
              "from one save for save_over to the next, at least; 0: only one"),
    PROF__KEY("save_signal", SIGNAL, save_signal, 0, 64, 1, NULL, "0", "a number, or a name such as USR1",
              "a signal that saves"),
    PROF__KEY("crash_report", SWITCH, crash_report, 0, 1, 1, NULL, "0", "0 or 1",
              "1: when the process dies of a bug, say on stderr what its threads were doing, and write the image"),
    PROF__KEY("filter_mask", MASK, filter_mask, 0, UINT32_MAX, 1, NULL, "0", "32 bits, for example 5 or 0xff",
              "which PROFILE_SCOPE_MASK(name, mask) are on: those with one of these bits in their mask; 0: all"),
    PROF__KEY("no_sync", SWITCH, no_sync, 0, 1, 1, NULL, "0", "0 or 1",
              "1: PROFILE_SYNC and PROFILE_SCOPE_SYNC do not wait"),
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

/* Parses a time as nanoseconds; a number without a unit is seconds. Returns 0 if text is not a time. */
static int prof__parse_seconds(const char *text, uint64_t *ns)
{
    return prof__parse_number(text, prof__seconds, ns);
}

/* Returns 1 if value is valid for this key. *number: the value of a number, or the index of a choice. */
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
    return *number >= key->least && *number <= key->max;
}

/* Stores a value that was parsed in the field of its key. */
static void prof__key_store(const prof__key *key, prof_config *config, const char *value, uint64_t number)
{
    void *field = (char *)config + key->field;
    size_t size = (size_t)number;
    int narrow = key->type == PROF__KEY_LEVEL && !number ? PROF_LEVEL_NONE : (int)number;
    uint32_t mask = (uint32_t)number;
    switch (key->type) {
    case PROF__KEY_TEXT: prof__copy(field, &value, sizeof value); break;
    case PROF__KEY_SIZE: prof__copy(field, &size, sizeof size); break;
    case PROF__KEY_BYTES:
    case PROF__KEY_COUNT:
    case PROF__KEY_TIME:
    case PROF__KEY_SECONDS:
    case PROF__KEY_SPAN: prof__copy(field, &number, sizeof number); break;
    case PROF__KEY_PERIOD:
        if (config->dump_period_ns != PROF_NEVER) prof__copy(field, &number, sizeof number);
        break;
    case PROF__KEY_WAIT:
        if (!number) number = PROF_NEVER;
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

/* Sets a field of the configuration from text. key_name: the key name that the user wrote, for errors: it may be
   another profiler's. */
static prof_status prof__key_set(const prof__key *key, const char *key_name, prof_config *config, const char *value)
{
    uint64_t number;
    if (!prof__key_parse(key, value, &number))
        return prof__fail(PROF_INVALID_ARGUMENT, "%s '%s': must be %s", key_name, value, key->values);
    prof__key_store(key, config, value, number);
    return PROF_OK;
}

/* What a key of another profiler does in prof. "native": prof's own key that corresponds to it, named in the field
   `home`. */
enum {
    PROF__OTHER_SAME,   /* the value is given to the native key */
    PROF__OTHER_FILE,   /* the value is a path for the native key; a writer for its extension must exist */
    PROF__OTHER_LEVEL,  /* the native key is a level; the value is a TraceMe level, 0 to 3 */
    PROF__OTHER_MS,     /* the native key is a time; the value is in milliseconds */
    PROF__OTHER_NOT,    /* the native key is a switch with the opposite meaning */
    PROF__OTHER_DEVICES, /* the native key is a switch with the opposite meaning; a level above 1 is unsupported */
    PROF__OTHER_ENABLED, /* the native key is a level; false turns all call sites off */
    /* True: rewrites the output once a second, or every dump_period if that is set; false: never, even if it is set. */
    PROF__OTHER_PERIOD,
    PROF__OTHER_COUNTS, /* a switch; true: also keeps statistics of everything, unless a mode was chosen */
    PROF__OTHER_BOTH,   /* a switch; both values are accepted without effect */
    PROF__OTHER_FUNCTIONS, /* a switch; true is supported only with PROF_INSTRUMENT_FUNCTIONS */
    PROF__OTHER_ON,     /* prof always behaves as if true; false is unsupported */
    PROF__OTHER_OFF,    /* prof always behaves as if false; true is unsupported */
    PROF__OTHER_ONLY,   /* prof always behaves as with the value in `home`; all others are unsupported */
    PROF__OTHER_AMONG,  /* `home` lists values: first those that prof's behaviour corresponds to, separated by |; after
                           a ; those that are unsupported. Values in neither part are invalid. A list without a ; treats
                           all other values of the first one's type (number, switch or any text) as unsupported. 1-9 is
                           a range of numbers */
    PROF__OTHER_TRACES, /* like PROF__OTHER_AMONG; the value TRACE_ONLY_HOST also leaves out devices */
    PROF__OTHER_NEVER   /* always an error */
};
typedef struct prof__other_key {
    const char *system, *name;
    int how;
    const char *native_key, *meaning; /* meaning: for the list of keys and for errors; NULL: the native key's */
} prof__other_key;

#define PROF__NO_DEVICE "concerns a device: no plug-in for it has claimed this key"
#define PROF__NO_NEURON "concerns a device: include prof_ntff.h, which takes this key"
#define PROF__CNTK_FOLDER "set output to the folder, with / at its end, and layout to cntk"
#define PROF__NO_FOLDER "name the whole file, folder included, in output"
static const prof__other_key prof__other_keys[] = {
    {"CNTK", "profilerEnabled", PROF__OTHER_ENABLED, "level",
     "1: mode ring+stats, unless another one is chosen; 0: all sites are off until prof_set_level(), and devices"},
/* A freestanding program, such as a kernel, uses none of these profilers; one entry stays, because C has no empty
   arrays. */
#ifndef PROF_FREESTANDING
    {"CNTK", "profilerBufferSize", PROF__OTHER_SAME, "buffer", NULL},
    {"CNTK", "customEventBufferBytes", PROF__OTHER_SAME, "buffer", NULL},
    {"CNTK", "reserve_mem", PROF__OTHER_SAME, "buffer", NULL},
    {"CNTK", "profilerSyncGpu", PROF__OTHER_NOT, "no_sync", "1: PROFILE_SYNC calls the function of prof_set_sync()"},
    {"CNTK", "syncGpu", PROF__OTHER_NOT, "no_sync", "1: PROFILE_SYNC calls the function of prof_set_sync()"},
    {"CNTK", "sync_gpu", PROF__OTHER_NOT, "no_sync", "1: PROFILE_SYNC calls the function of prof_set_sync()"},
    {"CNTK", "profilerDir", PROF__OTHER_NEVER, NULL, PROF__CNTK_FOLDER},
    {"CNTK", "dir", PROF__OTHER_NEVER, NULL, PROF__CNTK_FOLDER},
    {"CNTK", "logSuffix", PROF__OTHER_SAME, "rank", NULL},
    {"CNTK", "suffix", PROF__OTHER_SAME, "rank", NULL},
    {"MXNet", "filename", PROF__OTHER_FILE, "output", NULL},
    {"MXNet", "profile_all", PROF__OTHER_BOTH, NULL, "everything is recorded but what categories and level turn off"},
    {"MXNet", "profile_symbolic", PROF__OTHER_ON, NULL, "turn a category off with categories, for example -operator"},
    {"MXNet", "profile_imperative", PROF__OTHER_ON, NULL, "turn a category off with categories, for example -operator"},
    {"MXNet", "profile_memory", PROF__OTHER_ON, NULL, "turn allocations off with categories: -memory"},
    {"MXNet", "profile_api", PROF__OTHER_ON, NULL, "turn a category off with categories, for example -api"},
    {"MXNet", "continuous_dump", PROF__OTHER_PERIOD, "dump_period",
     "1: output is rewritten every second, or dump_period, mode ring+stats unless another one is chosen; 0: at the "
     "end"},
    {"MXNet", "aggregate_stats", PROF__OTHER_COUNTS, NULL,
     "1: mode ring+stats, unless another one is chosen: statistics of everything, at any time"},
    {"MXNet", "profile_process", PROF__OTHER_AMONG, "worker;server", "this process; give others a PROF_OUTPUT"},
    {"MXNet", "gpu_memory_profile_filename_prefix", PROF__OTHER_AMONG, "gpu_memory_profile|", PROF__NO_DEVICE},
    {"MXNet", "MXNET_PROFILER_AUTOSTART", PROF__OTHER_NEVER, NULL, "set PROF_OUTPUT in the environment"},
    {"MXNet", "MXNET_PROFILER_MODE", PROF__OTHER_NEVER, NULL, "set categories and level"},
    {"TensorFlow", "TF_DISABLE_PROFILING", PROF__OTHER_NEVER, NULL, "leave out PROF_OUTPUT or prof_start()"},
    {"TensorFlow", "host_tracer_level", PROF__OTHER_LEVEL, "level", NULL},
    {"TensorFlow", "device_tracer_level", PROF__OTHER_DEVICES, "no_devices",
     "0: what devices report is not recorded; there is no level above 1"},
    {"TensorFlow", "python_tracer_level", PROF__OTHER_FUNCTIONS, NULL,
     "records nothing here, because C has no interpreter: define PROF_INSTRUMENT_FUNCTIONS, and compile with "
     "-finstrument-functions, for a scope per function; for Python see docs/guide/python.md"},
    {"TensorFlow", "delay_ms", PROF__OTHER_MS, "delay", NULL},
    {"TensorFlow", "duration_ms", PROF__OTHER_MS, "duration", NULL},
    {"TensorFlow", "start_timestamp_ns", PROF__OTHER_SAME, "start_unix", NULL},
    {"TensorFlow", "host_traceme_filter_mask", PROF__OTHER_SAME, "filter_mask", NULL},
    {"TensorFlow", "include_dataset_ops", PROF__OTHER_BOTH, NULL, "there are no data set operations: mark up your own"},
    {"TensorFlow", "enable_hlo_proto", PROF__OTHER_BOTH, NULL, "there are no XLA programs"},
    {"TensorFlow", "version", PROF__OTHER_ONLY, "1", "the only version of these options"},
    {"TensorFlow", "device_type", PROF__OTHER_AMONG, "UNSPECIFIED|CPU|0|1;GPU|TPU|PLUGGABLE_DEVICE|2|3|4",
     PROF__NO_DEVICE},
    {"TensorFlow", "max_events", PROF__OTHER_NEVER, NULL, "the buffer has a size in bytes: set buffer"},
    {"TensorFlow", "repository_path", PROF__OTHER_AMONG, "", PROF__NO_FOLDER},
    {"TensorFlow", "raise_error_on_start_failure", PROF__OTHER_BOTH, NULL, "prof_start() always says what is wrong"},
    {"TensorFlow", "override_hostname", PROF__OTHER_AMONG, "", "name the file as you like in output"},
    {"JAX", "session_id", PROF__OTHER_AMONG, "", "name the file as you like in output"},
    {"JAX", "create_perfetto_trace", PROF__OTHER_OFF, NULL, "ui.perfetto.dev opens an output that ends in .json"},
    {"JAX", "create_perfetto_link", PROF__OTHER_OFF, NULL, "ui.perfetto.dev opens an output that ends in .json"},
    {"JAX", "enable_continuous_profiling", PROF__OTHER_BOTH, NULL,
     "use mode ring, and prof_save() for a snapshot"},
    {"JAX", "profile_subprocesses", PROF__OTHER_ON, NULL,
     "children of fork() record; other programs need PROF_OUTPUT"},
    {"JAX", "override_hostnames", PROF__OTHER_AMONG, "", "name the file as you like in output"},
    {"JAX", "tpu_trace_mode", PROF__OTHER_TRACES, "TRACE_ONLY_XLA|TRACE_ONLY_HOST;TRACE_COMPUTE|TRACE_COMPUTE_AND_SYNC",
     PROF__NO_DEVICE},
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
    {"JAX", "gpu_pm_sample_buffer_size_per_gpu_mb", PROF__OTHER_AMONG, "64;1-4096", PROF__NO_DEVICE},
    {"JAX", "gpu_num_chips_to_profile_per_task", PROF__OTHER_AMONG, "0", PROF__NO_DEVICE},
    {"JAX", "gpu_dump_graph_node_mapping", PROF__OTHER_AMONG, "false", PROF__NO_DEVICE},
    {"JAX", "gpu_range_profiling_counters", PROF__OTHER_AMONG, "", PROF__NO_DEVICE},
    {"JAX", "gpu_range_profiling_allow_multipass", PROF__OTHER_AMONG, "false", PROF__NO_DEVICE},
    {"Neuron", "NEURON_RT_INSPECT_ENABLE", PROF__OTHER_ON, NULL, "prof_start() begins a session"},
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
#endif
};
#define PROF__OTHER_COUNT_ALL (sizeof prof__other_keys / sizeof *prof__other_keys)

/* Looks up a value in the list of a PROF__OTHER_AMONG key. Returns 1 if prof behaves that way, 0 if the value is
   unsupported, -1 if it is invalid. */
static int prof__other_among(const char *native_key, const char *value)
{
    int fine = 1, closed = 0, is_switch = prof__equal(native_key, "false"),
        is_number = native_key[0] >= '0' && native_key[0] <= '9';
    uint64_t number, low, high;
    if (is_number && !prof__parse_number(value, prof__ones, &number)) return -1;
    for (const char *each = native_key;; ++each) {
        const char *c = value, *end = each;
        while (*c && *each == *c) ++each, ++c;
        if (!*c && (!*each || *each == '|' || *each == ';')) return fine;
        for (low = high = 0; *end >= '0' && *end <= '9'; ++end) low = low * 10 + (uint64_t)(*end - '0');
        if (*end == '-' && prof__parse_whole(end + 1, &high) && prof__parse_whole(value, &number) && number >= low &&
            number <= high)
            return fine;
        while (*each && *each != '|' && *each != ';') ++each;
        if (*each == ';') fine = 0, closed = 1;
        if (!*each) break;
    }
    if (is_switch) {
        int on = prof__parse_name(value, prof__switch_names);
        return on < 0 ? -1 : !(on & 1);
    }
    return closed ? -1 : 0;
}

static prof_status prof__other_must_be(const prof__other_key *other, const char *value, const char *what)
{
    return prof__fail(PROF_INVALID_ARGUMENT, "%s '%s': must be %s", other->name, value, what);
}

static prof_status prof__other_unsupported(const prof__other_key *other, const char *value)
{
    return prof__fail(PROF_UNSUPPORTED, "%s '%s': %s", other->name, value, other->meaning);
}

/* Checks a value of a PROF__OTHER_AMONG key, and explains why it is refused. */
static prof_status prof__other_among_check(const prof__other_key *other, const char *value)
{
    char list[160];
    size_t at = 0;
    int found = prof__other_among(other->native_key, value);
    if (found > 0) return PROF_OK;
    if (!found) return prof__other_unsupported(other, value);
    if (prof__equal(other->native_key, "false")) return prof__other_must_be(other, value, "0 or 1");
    const char *ends = other->native_key; /* without a ; the valid values are numbers */
    while (*ends && *ends != ';') ++ends;
    if (!*ends) return prof__other_must_be(other, value, "a number");
    for (const char *c = other->native_key; *c && at + 3 < sizeof list; ++c) {
        list[at++] = *c == '|' || *c == ';' ? ',' : *c;
        if (list[at - 1] == ',') list[at++] = ' ';
    }
    list[at] = 0;
    return prof__other_must_be(other, value, list);
}

/* Bits of prof_config.private_keys. They remember which keys of other profilers were set, so that these keys can be set
   in any order, and again. */
enum {
    PROF__ASKED_AGGREGATE = 1, /* this key and the next two ask for statistics of everything */
    PROF__ASKED_DUMP = 2,
    PROF__ASKED_ENABLED = 4,
    PROF__ASKED_COUNTS = 7,
    PROF__ASKED_MODE = 8,      /* one of those three keys has changed the mode */
    PROF__ASKED_DEVICES = 16,  /* this key and the next two leave out devices */
    PROF__ASKED_HOST = 32,
    /* This key also turns off all call sites; the level before that is kept in the bits from PROF__ASKED_LEVEL on. */
    PROF__ASKED_DISABLED = 64,
    PROF__ASKED_LEVEL = 16     /* index of the lowest bit of the kept level, which is stored plus 1 */
};

static int prof__asks(prof_config *config, uint32_t bit, int on)
{
    int asked = (config->private_keys & bit) != 0;
    config->private_keys = on ? config->private_keys | bit : config->private_keys & ~bit;
    return asked;
}

/* Asks for statistics of everything, or takes that back. Other profilers' statistics cover the whole run, so a ring of
   events is not enough. */
static void prof__other_counts(prof_config *config, uint32_t bit, int on)
{
    prof__asks(config, bit, on);
    if (on && config->mode == PROF_RING) {
        config->mode = PROF_RING_STATS;
        prof__asks(config, PROF__ASKED_MODE, 1);
    }
    if (config->private_keys & PROF__ASKED_COUNTS || !prof__asks(config, PROF__ASKED_MODE, 0)) return;
    if (config->mode == PROF_RING_STATS) config->mode = PROF_RING;
}

static void prof__other_devices(prof_config *config, uint32_t bit, int off)
{
    if (prof__asks(config, bit, off) || off || bit == PROF__ASKED_DEVICES)
        config->no_devices =
            (config->private_keys & (PROF__ASKED_DEVICES | PROF__ASKED_HOST | PROF__ASKED_DISABLED)) != 0;
}

static void prof__other_period(prof_config *config, int on)
{
    prof__other_counts(config, PROF__ASKED_DUMP, on);
    if (!on)
        config->dump_period_ns = PROF_NEVER;
    else if (!config->dump_period_ns || config->dump_period_ns == PROF_NEVER)
        config->dump_period_ns = 1000000000u;
}

/* Turns recording on or off at the start, as CNTK's profilerEnabled does. Turning it on again restores the level and
   the devices of before. */
static void prof__other_enabled(prof_config *config, int on)
{
    int was_off = (config->private_keys & PROF__ASKED_DISABLED) != 0;
    prof__other_counts(config, PROF__ASKED_ENABLED, on);
    prof__other_devices(config, PROF__ASKED_DISABLED, !on);
    if (!on && !was_off && config->level >= 0) {
        config->private_keys |= (uint32_t)(config->level + 1) << PROF__ASKED_LEVEL;
        config->level = PROF_LEVEL_NONE;
    } else if (on && config->private_keys >> PROF__ASKED_LEVEL) {
        if (config->level == PROF_LEVEL_NONE) config->level = (int)(config->private_keys >> PROF__ASKED_LEVEL) - 1;
        config->private_keys &= (1u << PROF__ASKED_LEVEL) - 1;
    }
}

/* Sets output. Fails at once if this program has no writer for the path, because prof_start() would fail later. */
static prof_status prof__other_file(const prof__other_key *other, const prof__key *native_key, prof_config *config,
                                    const char *value)
{
#if !defined(PROF_FREESTANDING) && !defined(PROF_MINIMAL) /* PROF_MINIMAL writes only .prof files */
    const prof_writer *writer;
    char why[PROF__ERROR_SIZE];
    prof_status status = config->layout ? PROF_OK : prof__writer_find(value, &writer);
    if (status) {
        prof__copy(why, PROF__ERROR_TEXT(), sizeof why);
        return prof__fail(status, "%s '%.60s': %.160s", other->name, value, why);
    }
#endif
    return prof__key_set(native_key, other->name, config, value);
}

/* Sets a key whose value is not a plain switch. Returns 0 if the key or the value is not of this kind. */
static int prof__other_value(const prof__other_key *other, const prof__key *native_key, prof_config *config,
                             const char *value, prof_status *status)
{
    uint64_t number;
    switch (other->how) {
    case PROF__OTHER_SAME: *status = prof__key_set(native_key, other->name, config, value); return 1;
    case PROF__OTHER_FILE: *status = prof__other_file(other, native_key, config, value); return 1;
    case PROF__OTHER_LEVEL:
        *status = prof__parse_whole(value, &number) && number <= 3
                      ? prof__key_set(native_key, other->name, config, value)
                      : prof__other_must_be(other, value, "0 to 3");
        return 1;
    case PROF__OTHER_MS:
        *status = PROF_OK;
        if (!prof__parse_number(value, prof__ones, &number) || number > PROF__CENTURY / 1000000)
            *status = prof__other_must_be(other, value, "a number of milliseconds");
        else
            prof__key_store(native_key, config, value, number * 1000000);
        return 1;
    case PROF__OTHER_ONLY:
        *status =
            prof__equal(value, other->native_key) ? PROF_OK : prof__other_must_be(other, value, other->native_key);
        return 1;
    case PROF__OTHER_AMONG: *status = prof__other_among_check(other, value); return 1;
    case PROF__OTHER_TRACES:
        *status = prof__other_among_check(other, value);
        if (!*status) prof__other_devices(config, PROF__ASKED_HOST, prof__equal(value, "TRACE_ONLY_HOST"));
        return 1;
    case PROF__OTHER_NEVER: *status = prof__fail(PROF_UNSUPPORTED, "%s: %s", other->name, other->meaning); return 1;
    /* Other profilers have more levels for GPUs, with events that no plug-in of prof produces. */
    case PROF__OTHER_DEVICES:
        if (prof__parse_name(value, prof__switch_names) >= 0) return 0;
        if (!prof__parse_number(value, prof__ones, &number)) return 0;
        *status = prof__other_unsupported(other, value);
        return 1;
    default: return 0;
    }
}

/* Sets what another profiler's key means in prof. */
static prof_status prof__other_set(const prof__other_key *other, prof_config *config, const char *value)
{
    const prof__key *native_key =
        other->native_key && other->how < PROF__OTHER_BOTH ? prof__key_find(other->native_key) : NULL;
    prof_status status = PROF_OK;
    if (other->how < PROF__OTHER_BOTH && other->native_key && !native_key)
        return prof__fail(PROF_UNSUPPORTED, "%s: this build has no %s", other->name, other->native_key);
    if (prof__other_value(other, native_key, config, value, &status)) return status;
    int on = prof__parse_name(value, prof__switch_names);
    if (on < 0) return prof__other_must_be(other, value, "0 or 1");
    on &= 1;
#ifdef PROF_INSTRUMENT_FUNCTIONS
    const int functions = 1;
#else
    const int functions = 0;
#endif
    switch (other->how) {
    case PROF__OTHER_NOT: prof__key_store(native_key, config, value, (uint64_t)!on); break;
    case PROF__OTHER_DEVICES: prof__other_devices(config, PROF__ASKED_DEVICES, !on); break;
    case PROF__OTHER_ENABLED: prof__other_enabled(config, on); break;
    case PROF__OTHER_COUNTS: prof__other_counts(config, PROF__ASKED_AGGREGATE, on); break;
    case PROF__OTHER_PERIOD: prof__other_period(config, on); break;
    case PROF__OTHER_ON: status = on ? PROF_OK : prof__other_unsupported(other, value); break;
    case PROF__OTHER_OFF: status = on ? prof__other_unsupported(other, value) : PROF_OK; break;
    case PROF__OTHER_FUNCTIONS: status = on && !functions ? prof__other_unsupported(other, value) : PROF_OK; break;
    default: break;
    }
    return status;
}

static struct prof__claim {
    char prefix[32];
    prof_status (*claim)(void *user, const char *key, const char *value);
    void *user;
} prof__claims[16]; /* protected by the state lock */

static int prof__begins(const char *text, const char *prefix)
{
    while (*prefix && *text == *prefix) ++text, ++prefix;
    return !*prefix;
}

/* Adds, replaces or (claim is NULL) removes the claim of a prefix of keys. */
static prof_status prof__claim_put(const char *prefix,
                                   prof_status (*claim)(void *user, const char *key, const char *value), void *user)
{
    size_t length = prefix ? prof__length(prefix) : 0, count = sizeof prof__claims / sizeof *prof__claims, at = count;
    if (!length || length >= sizeof prof__claims->prefix)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_config_claim: prefix must have 1 to 31 bytes");
    uint32_t write_lock = prof__state_lock();
    for (size_t i = 0; i < count; ++i) {
        if (prof__claims[i].claim && prof__equal(prof__claims[i].prefix, prefix)) at = i;
        if (!prof__claims[i].claim && at == count && claim) at = i;
    }
    if (at < count) {
        prof__copy(prof__claims[at].prefix, prefix, length + 1);
        prof__claims[at].claim = claim;
        prof__claims[at].user = user;
    }
    prof__state_unlock(write_lock);
    if (at == count && claim)
        return prof__fail(PROF_NO_MEMORY, "prof_config_claim: at most %d prefixes can be claimed", (int)count);
    return PROF_OK;
}

PROF_DEF prof_status prof_config_claim(const char *prefix,
                                       prof_status (*claim)(void *user, const char *key, const char *value), void *user)
{
    PROF__FORWARD(prof_config_claim, (prefix, claim, user));
    return prof__claim_put(prefix, claim, user);
}

/* Returns 1 if a claim has handled the key, with its result in *status. If claim() fails, and a function of prof that
   it called has left an error text, that text is kept, because it says more than a general one. */
static int prof__claimed(const char *key, const char *value, prof_status *status)
{
    struct prof__claim found;
    char *text = PROF__ERROR_TEXT(), before[PROF__ERROR_SIZE];
    size_t longest = 0;
    prof__clear(&found, sizeof found);
    uint32_t write_lock = prof__state_lock();
    for (size_t i = 0; i < sizeof prof__claims / sizeof *prof__claims; ++i) {
        size_t length = prof__length(prof__claims[i].prefix);
        if (!prof__claims[i].claim || length < longest || !prof__begins(key, prof__claims[i].prefix)) continue;
        longest = length;
        found = prof__claims[i];
    }
    prof__state_unlock(write_lock);
    if (!found.claim) return 0;
    prof__copy(before, text, sizeof before);
    *text = 0;
    *status = found.claim(found.user, key, value);
    if (!*status)
        prof__copy(text, before, sizeof before);
    else if (!*text)
        prof__fail(*status, "%s '%s': %s (refused by the claim of '%s')", key, value, prof_status_text(*status),
                   found.prefix);
    return 1;
}

/* Returns the known key that a user most likely meant by name, or NULL. At most half of the letters of name, or two if
   that is more, may be wrong. */
static const char *prof__key_nearest(const char *name)
{
    const char *nearest = prof__keys[0].name;
    size_t most = prof__length(name) / 2;
    for (size_t i = 0; i < PROF__KEY_COUNT_ALL + PROF__OTHER_COUNT_ALL; ++i) {
        const char *each =
            i < PROF__KEY_COUNT_ALL ? prof__keys[i].name : prof__other_keys[i - PROF__KEY_COUNT_ALL].name;
        if (prof__distance(name, each) < prof__distance(name, nearest)) nearest = each;
    }
    return prof__distance(name, nearest) <= (most > 2 ? most : 2) ? nearest : NULL;
}

PROF_DEF prof_status prof_config_set(prof_config *config, const char *key, const char *value)
{
    PROF__CALM();
    PROF__FORWARD(prof_config_set, (config, key, value));
    prof_status status;
    if (!config || !key || !value) return prof__fail(PROF_INVALID_ARGUMENT, "prof_config_set: null argument");
    const prof__key *own = prof__key_find(key);
    if (own) return prof__key_set(own, key, config, value);
    if (prof__claimed(key, value, &status)) return status;
    for (size_t i = 0; i < PROF__OTHER_COUNT_ALL; ++i)
        if (prof__equal(prof__other_keys[i].name, key)) return prof__other_set(&prof__other_keys[i], config, value);
    const char *nearest = prof__key_nearest(key);
    if (nearest) return prof__fail(PROF_INVALID_ARGUMENT, "unknown key '%s': did you mean '%s'?", key, nearest);
    return prof__fail(PROF_INVALID_ARGUMENT, "unknown key '%s': \"prof config\" lists all keys", key);
}

/* Writes the environment variable of a key: "PROF_BUFFER" for "buffer". */
static void prof__key_variable(const char *key, char *to, size_t size)
{
    size_t at = 5;
    prof__copy(to, "PROF_", 6);
    for (; *key && at + 1 < size; ++key) to[at++] = (char)(*key >= 'a' && *key <= 'z' ? *key - 'a' + 'A' : *key);
    to[at] = 0;
}

/* Describes the key with this index: first prof's own keys, then other profilers'. Returns 0 after the last. */
static int prof__key_describe(size_t index, prof_option *option)
{
    if (!option || index >= PROF__KEY_COUNT_ALL + PROF__OTHER_COUNT_ALL) return 0;
    prof__clear(option, sizeof *option);
    option->system = option->native_key = option->standard = "";
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
    const prof__key *native_key =
        other->native_key && other->how < PROF__OTHER_BOTH ? prof__key_find(other->native_key) : NULL;
    int is_switch = other->how >= PROF__OTHER_NOT && other->how <= PROF__OTHER_OFF;
    option->key = other->name;
    option->system = other->system;
    option->type = is_switch                      ? "switch"
                   : other->how == PROF__OTHER_MS ? "number"
                   : native_key                         ? prof__key_types[native_key->type]
                                                  : "text";
    option->values = other->how == PROF__OTHER_ON          ? "1"
                     : other->how == PROF__OTHER_OFF       ? "0"
                     : is_switch                           ? "0 or 1"
                     : other->how == PROF__OTHER_MS        ? "a number of milliseconds"
                     : other->how == PROF__OTHER_LEVEL     ? "0 to 3"
                     : other->how == PROF__OTHER_ONLY      ? other->native_key
                     : other->how == PROF__OTHER_AMONG || other->how == PROF__OTHER_TRACES
                         ? other->native_key[0] ? other->native_key : "empty"
                     : native_key                                   ? native_key->values
                                                           : "none";
    option->meaning = other->meaning ? other->meaning : native_key ? native_key->meaning : "not in this build";
    if (native_key) option->native_key = native_key->name;
    return 1;
}

PROF_DEF int prof_config_describe(size_t index, prof_option *option)
{
    return prof__key_describe(index, option);
}

#ifdef PROF_FREESTANDING
PROF_DEF prof_status prof_config_from_env(prof_config *config)
{
    PROF__CALM();
    (void)config;
    return prof__fail(PROF_UNSUPPORTED, "prof_config_from_env: freestanding has no environment");
}
#else
/* Reports an environment variable that begins with PROF_ and is almost, but not exactly, the name of a key: it would be
   ignored by mistake. starts: 1: reports only variables that resemble one that starts a recording. */
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
        return prof__fail(PROF_INVALID_ARGUMENT, "unknown variable %.*s: did you mean %s?", (int)(5 + length), *each,
                          meant);
    }
    return PROF_OK;
}

/* Returns 1 if this layout has an output of its own, so that config.output may be empty. */
static int prof__layout_alone(const char *layout) { return layout && prof__equal(layout, "cntk"); }

PROF_DEF prof_status prof_config_from_env(prof_config *config)
{
    if (!config) return prof__null("prof_config_from_env", "config");
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
    /* the directory that CNTK itself writes to */
    if (!status && prof__layout_alone(config->layout) && !(config->output && *config->output))
        config->output = "profiler/";
    return status;
}
#endif
#endif

#ifndef PROF_FREESTANDING
/*-- DEVICES ----------------------------------------------------------------------------------------------- >>device --
   A device's event has a time of its own, by the device's clock. It is stored in the chunk of the thread that reports
   it. Its type is no prof_event_type, so the thread's track does not show it. The writer reserves the words of all its
   records in one piece, and stores the head of the EVENT last, which publishes them together:

     EVENT  call site: the device's   detail: number of the row (of a pair: of the device)   object: ticks of the device
     NAME   unless it is empty
     DATA   without a key. Type NONE: a scope's duration in ticks, or the CLOCK_MONOTONIC of a pair; INT or DOUBLE: a
            counter's value. A second word is the id of the event's flow, if it has one
     DATA   two for each argument: its key (a STRING), its value

   A ring may overwrite all events that are pairs of clocks. So the device's record in meta also has the first pair and
   the last seven that the process knows. Each has three words: ticks, CLOCK_MONOTONIC, and a check word, which is wrong
   while the pair is being replaced. */

enum { /* the types of EVENTs of devices: src/kinds.sh makes these lines */
    PROF__DEVICE_SCOPE = 200, /* a scope */
    PROF__DEVICE_MARK,        /* an instant */
    PROF__DEVICE_COUNTER,     /* a counter */
    PROF__DEVICE_PAIR         /* a pair of clocks */
};
#define PROF__DEVICE_PAIRS 8
#define PROF__DEVICE_WORDS (3 + 3 * PROF__DEVICE_PAIRS) /* words of a DEVICE record in meta, head included */
#define PROF__ROW_WORDS 2

/* Returns the check word of a pair. Never 0, which marks a pair that is being replaced. */
static uint64_t prof__device_check(uint64_t ticks, uint64_t ns)
{
    return (ticks ^ ns * 0x9E3779B97F4A7C15u) | 1;
}

#ifndef PROF_FREESTANDING
/* All fields except name, clock and site change under the state's lock. session_id: the id of the session to whose
   image the device was added. */
struct prof_device {
    void *site; /* the prof_site behind this struct; void, as C++ hides prof_site from the program */
    const char *name;
    prof_device *next;
    prof_device_row *rows;
    prof_device_clock clock;
    uint32_t number, session_id;
    uint64_t *record; /* the device's record in that session's meta; NULL: no room */
    uint64_t pair_count;
    struct {
        uint64_t ticks, ns;
    } pairs[PROF__DEVICE_PAIRS];
};

struct prof_device_row {
    prof_device *device;
    prof_device_row *next;
    uint32_t number, session_id;
    const char *name;
};

static prof_device *prof__devices;
static uint32_t prof__device_count, prof__row_count;

/* Allocates a zeroed object with a copy of its name behind it. Returns NULL if there is no memory. */
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

static prof_device *prof__device_make(const char *name, const prof_device_clock *clock)
{
    prof_device *made, *device;
    prof_site *site;
    const char *copy;
    if (!name || !*name || (clock && clock->bits > 64)) {
        prof__fail(PROF_INVALID_ARGUMENT, "prof_device_create: %s", name && *name ? "a clock has at most 64 bits"
                                                                                 : "name is null or empty");
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
    uint32_t write_lock = prof__state_lock();
    for (device = prof__devices; device && strcmp(device->name, name); device = device->next) continue;
    if (!device) {
        made->number = ++prof__device_count;
        made->next = prof__devices;
        device = prof__devices = made;
    }
    prof__state_unlock(write_lock);
    if (device != made) free(made);
    return device;
}

PROF_DEF prof_device *prof_device_create(const char *name, const prof_device_clock *clock)
{
    PROF__FORWARD(prof_device_create, (name, clock));
    return prof__device_make(name, clock);
}

PROF_DEF prof_device_row *prof_device_row_create(prof_device *device, const char *name)
{
    PROF__FORWARD(prof_device_row_create, (device, name));
    prof_device_row *made, *row;
    const char *copy;
    if (!device || !name) {
        prof__null("prof_device_row_create", "device or name");
        return NULL;
    }
    made = (prof_device_row *)prof__named_object(sizeof *made, name, &copy);
    if (!made) return NULL;
    made->device = device;
    made->name = copy;
    uint32_t write_lock = prof__state_lock();
    for (row = device->rows; row && strcmp(row->name, name); row = row->next) continue;
    if (!row) {
        made->number = ++prof__row_count;
        made->next = device->rows;
        row = device->rows = made;
    }
    prof__state_unlock(write_lock);
    if (row != made) free(made);
    return row;
}

/* Appends a record to meta, even if an equal one exists. words: the record without its head. Returns the record, or
   NULL if there is no room. Under the state's lock. */
static uint64_t *prof__meta_append(prof__session *s, uint32_t kind, uint32_t id, const uint64_t *words, uint64_t count)
{
    uint64_t used = s->header->meta_used / 8, *record = s->meta + used;
    if (!prof__meta_room(s, used + 1 + count)) return NULL;
    prof__copy(record + 1, words, (size_t)count * 8);
    s->header->meta_used = (used + 1 + count) * 8;
    PROF__RELEASE(&record[0], (uint64_t)kind << 56 | (1 + count) << 32 | id);
    return record;
}

/* Stores a pair of clocks in three words, so that a reader finds the whole pair or sees by the check word that it is
   not complete. */
static void prof__device_store(uint64_t *slot, uint64_t ticks, uint64_t ns)
{
    PROF__RELEASE(slot + 2, 0);
    PROF__RELEASE(slot, ticks);
    PROF__RELEASE(slot + 1, ns);
    PROF__RELEASE(slot + 2, prof__device_check(ticks, ns));
}

/* Adds the device, and the row if it is not NULL, to the image of the thread's session. Returns 0, and counts the loss,
   if the lock is taken for long. The thread holds its write lock. */
static PROF__COLD int prof__device_know(prof__thread *self, prof_device *device, prof_device_row *row, uint32_t loss)
{
    prof__session *s = self->session;
    prof__signals signals;
    PROF__ERRNO_SAVE();
    int good = prof__lock_enter(&prof__lock_word, &signals);
    if (good) {
        uint64_t words[PROF__DEVICE_WORDS] = {0};
        if (device->session_id != s->session_id) {
            words[0] = prof__meta_string(s, device->name) | (uint64_t)device->clock.bits << 32;
            words[1] = device->clock.hz;
            for (uint64_t i = 0; i < device->pair_count && i < PROF__DEVICE_PAIRS; ++i)
                prof__device_store(words + 2 + 3 * i, device->pairs[i].ticks, device->pairs[i].ns);
            device->record = prof__meta_append(s, PROF__META_DEVICE, device->number, words, PROF__DEVICE_WORDS - 1);
            PROF__RELEASE(&device->session_id, s->session_id);
        }
        if (row && row->session_id != s->session_id) {
            words[0] = prof__meta_string(s, row->name) | (uint64_t)device->number << 32;
            prof__meta_append(s, PROF__META_ROW, row->number, words, PROF__ROW_WORDS - 1);
            PROF__RELEASE(&row->session_id, s->session_id);
        }
        prof__lock_leave(&prof__lock_word, &signals);
    } else {
        prof__lose_busy(self, loss);
    }
    PROF__ERRNO_RESTORE();
    return good;
}

/* The measured parts of an event. All its words are reserved in one piece, so their number must be known first. */
typedef struct prof__device_parts {
    const prof_device_event *event;
    prof__text name, keys[PROF_DEVICE_ARGS], texts[PROF_DEVICE_ARGS];
    uint64_t words, number;
    uint32_t args;
} prof__device_parts;

static uint32_t prof__device_arg_count(const prof_device_event *event)
{
    if (!event->args) return 0;
    return event->arg_count < PROF_DEVICE_ARGS ? event->arg_count : PROF_DEVICE_ARGS;
}

static void prof__device_measure(uint64_t chunk_words, const prof_device_event *event, prof__device_parts *parts)
{
    parts->event = event;
    parts->args = prof__device_arg_count(event);
    parts->name = prof__measure_in(chunk_words, event->name ? event->name : "");
    parts->words = 3 + (parts->name.length ? 1 + parts->name.words : 0) + 2 + (event->flow != 0);
    for (uint32_t i = 0; i < parts->args; ++i) {
        const prof_arg *arg = &event->args[i];
        parts->keys[i] = prof__measure_in(chunk_words, arg->key ? arg->key : "");
        if (arg->value.type == PROF_VALUE_STRING)
            parts->texts[i] = prof__measure_in(chunk_words, arg->value.as.string);
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

/* Writes all records of an event but the EVENT's head. The head is still zero, so no reader reads these words yet. */
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

/* Returns 1 if the device's events may be recorded. Callers check this first, because it is the cheapest check. */
static inline int prof__device_live(const prof_device *device) { return prof__live((prof_site *)device->site); }

/* Writes an event of a row. If row is NULL, writes a pair of clocks instead: event->start is the device's time in
   ticks, number is CLOCK_MONOTONIC in nanoseconds. */
static PROF__COLD void prof__device_write(prof_device *device, prof_device_row *row, uint64_t type,
                                          const prof_device_event *event, uint64_t number)
{
    prof__thread *self = PROF__SELF();
    prof_site *site = (prof_site *)device->site;
    prof__device_parts parts;
    const uint32_t loss = PROF__LOSS_EVENT | PROF__LOSS_ARGS(prof__device_arg_count(event));
    uint64_t head;
    if (!prof__enter_or_lose(self, site, &head, loss)) return;
    prof__session *s = self->session;
    if (s->header->mode != PROF_STATS && ((PROF__ACQUIRE(&device->session_id) == s->session_id &&
                                           (!row || PROF__ACQUIRE(&row->session_id) == s->session_id)) ||
                                          prof__device_know(self, device, row, loss))) {
        prof__device_measure(PROF__LOAD(&s->text_words), event, &parts);
        parts.number = number;
        uint64_t now = prof__now(s, 0), *at = prof__reserve_or_lose(self, parts.words, &now, loss);
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
    PROF__FORWARD_VOID(prof__device_report, (row, event));
    if (event->type == PROF_EVENT_SCOPE)
        prof__device_write(row->device, row, PROF__DEVICE_SCOPE, event, event->end - event->start);
    else if (event->type == PROF_EVENT_MARK)
        prof__device_write(row->device, row, PROF__DEVICE_MARK, event, 0);
    else if (event->type == PROF_EVENT_COUNTER &&
             event->value.type >= PROF_VALUE_INT && event->value.type <= PROF_VALUE_DOUBLE)
        prof__device_write(row->device, row, PROF__DEVICE_COUNTER, event, event->value.as.u);
}

PROF_DEF void prof_device_record(prof_device_row *row, const prof_device_event *event)
{
    if (row && event && prof__device_live(row->device)) prof__device_report(row, event);
}

static prof_device_event prof__device_event_of(prof_event_type type, const char *name, uint64_t time)
{
    prof_device_event event; /* set field by field: gcc's code to clear it as a whole takes ten times as long */
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

/* Records an event without arguments. number: the end of a scope in ticks, or the value of a counter. value: the type
   of the counter's value. */
static void prof__device_plain(prof_device_row *row, const char *name, uint64_t time, uint64_t number,
                               prof_event_type type, prof_value_type value)
{
    if (!row || !prof__device_live(row->device)) return;
    prof_device_event event = prof__device_event_of(type, name, time);
    event.end = event.value.as.u = number;
    event.value.type = value;
    prof__device_report(row, &event);
}

PROF_DEF void prof_device_scope(prof_device_row *row, const char *name, uint64_t start, uint64_t end)
{
    prof__device_plain(row, name, start, end, PROF_EVENT_SCOPE, PROF_VALUE_NONE);
}

PROF_DEF void prof_device_mark(prof_device_row *row, const char *name, uint64_t time)
{
    prof__device_plain(row, name, time, 0, PROF_EVENT_MARK, PROF_VALUE_NONE);
}

PROF_DEF void prof_device_counter(prof_device_row *row, const char *name, uint64_t time, int64_t value)
{
    prof__device_plain(row, name, time, (uint64_t)value, PROF_EVENT_COUNTER, PROF_VALUE_INT);
}

PROF_DEF void prof_device_counter_double(prof_device_row *row, const char *name, uint64_t time, double value)
{
    prof__device_plain(row, name, time, prof__double_bits(value), PROF_EVENT_COUNTER, PROF_VALUE_DOUBLE);
}

PROF_DEF uint64_t prof_host_ns(void) { return prof__monotonic(); }

static void prof__device_pair(prof_device *device, uint64_t ticks, uint64_t host_ns)
{
    if (!host_ns) {
        host_ns = prof__monotonic();
    } else if (device->clock.unix_time) {
        prof__pair now;
        prof__pair_take(PROF_CLOCK_MONOTONIC, 0, &now);
        host_ns += now.monotonic_ns - now.unix_ns;
    }
    uint32_t write_lock = prof__state_lock();
    uint64_t at = device->pair_count ? 1 + (device->pair_count - 1) % (PROF__DEVICE_PAIRS - 1) : 0;
    const prof__session *s = prof__state.running ? prof__state.session : NULL;
    device->pair_count++;
    device->pairs[at].ticks = ticks;
    device->pairs[at].ns = host_ns;
    if (s && device->session_id == s->session_id && device->record)
        prof__device_store(device->record + 3 + 3 * at, ticks, host_ns);
    prof__state_unlock(write_lock);
    prof_device_event event = prof__device_event_of(PROF_EVENT_MARK, NULL, ticks);
    if (prof__device_live(device)) prof__device_write(device, NULL, PROF__DEVICE_PAIR, &event, host_ns);
}

PROF_DEF prof_status prof_device_sync(prof_device *device, uint64_t ticks, uint64_t host_ns)
{
    PROF__FORWARD(prof_device_sync, (device, ticks, host_ns));
    if (!device) return prof__null("prof_device_sync", "device");
    prof__device_pair(device, ticks, host_ns);
    return PROF_OK;
}

/* Returns Unix time minus CLOCK_MONOTONIC, in nanoseconds. The difference is constant until somebody sets the system's
   clock. So it is measured once, and replaced only if it has changed by more than 1 ms: a new measurement differs
   slightly each time, and could swap events that are close together. Under the state's lock. */
static int64_t prof__host_offset(void)
{
    static int64_t offset;
    static uint64_t measured;
    uint64_t best = ~(uint64_t)0, after = prof__monotonic();
    int64_t found = 0, off;
    int i;
    if (measured && after - measured < 100000000) return offset;
    for (i = 0; i < 8; i++) {
        uint64_t before = prof__monotonic(), now = prof__unix_time();
        after = prof__monotonic();
        if (after - before >= best) continue;
        best = after - before;
        found = (int64_t)(now - before - best / 2);
    }
    off = found - offset;
    if (!measured || off > 1000000 || off < -1000000) offset = found;
    measured = after;
    return offset;
}

/* Makes the time of a device that has no pair yet the same as CLOCK_MONOTONIC. Its clock must tick once a nanosecond.
   Returns what to subtract from a Unix time to get the device's time. Any thread may call this. */
static int64_t prof__device_on_host(prof_device *device)
{
    uint32_t write_lock = prof__state_lock();
    int64_t offset = prof__host_offset();
    int fresh = !device->pair_count;
    prof__state_unlock(write_lock);
    if (fresh) { /* if two threads do this at once, both set the same time */
        uint64_t now = prof_host_ns();
        prof_device_sync(device, now, now);
    }
    return offset;
}
#endif
#ifndef PROF_MINIMAL
/* Reads size bytes of a seekable file, from offset on. Several threads may do so at the same time. Returns 0 if the
   file has fewer bytes. */
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
        int tries = 0;
        if ((uint64_t)(prof__offset)offset != offset || (prof__offset)offset < 0) return 0;
        do got = pread(fileno(file), at, part, (prof__offset)offset);
        while (got < 0 && prof__interrupted(&tries));
        if (got <= 0) return 0;
#endif
        at += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return 1;
}

/* Opens the file that has the archive of a session. copy: a copy of that session's header. Returns NULL if there is
   none. */
static FILE *prof__archive_open(const prof__header *copy)
{
    FILE *stream = NULL;
#ifdef PROF_NO_THREAD
    (void)copy;
#elif defined(_WIN32)
    uint32_t write_lock = prof__state_lock();
    const prof__session *s = prof__state.session;
    if (copy->archive_offset && s && s->file.live_path && s->header->session == copy->session)
        stream = prof__file_open(s->file.live_path, "rb");
    prof__state_unlock(write_lock);
#else
    int file = -1;
    uint32_t write_lock = prof__state_lock();
    const prof__session *s = prof__state.session;
    prof__about about;
    if (copy->archive_offset && s && s->file.live_path && s->header->session == copy->session) {
        if (prof__stream_file_there(s)) file = fcntl(s->stream.file, F_DUPFD_CLOEXEC, 0);
        if (file < 0) file = open(s->file.live_path, O_RDONLY | PROF__O_FILE);
        if (file >= 0 && (prof__fstat(file, &about) || (uint64_t)about.st_ino != s->stream.inode ||
                          (uint64_t)about.st_dev != s->stream.device)) {
            close(file); /* a different file has that name by now */
            file = -1;
        }
    }
    prof__state_unlock(write_lock);
    if (file >= 0) stream = fdopen(file, "rb");
    if (file >= 0 && !stream) close(file);
#endif
    return stream;
}

/* Returns where the archive's oldest lap ends. An archive that rotates begins anew at its start when it is full: the
   blocks from one beginning to the next are a lap. */
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
    long long end = prof__file_seek(file, 0, SEEK_END) ? -1 : _ftelli64(file);
#else
    prof__offset end = prof__file_seek(file, 0, SEEK_END) ? -1 : ftello(file);
#endif
    *size = end < 0 ? 0 : (uint64_t)end;
    return end >= 0;
}

/* Returns where to stop copying the archive's bytes: at `to`. If the file was truncated before that, returns one word
   after the end of the file: readers count the missing word as a lost block. */
static uint64_t prof__archive_cut(FILE *file, uint64_t from, uint64_t to)
{
    uint64_t size;
    if (from >= to || !prof__read_size(file, &size) || to <= size) return to;
    size = size / 8 * 8;
    return (size > from ? size : from) + 8;
}

/* Copies bytes of the archive. Readers notice if some are overwritten meanwhile. Missing bytes are copied as zeros. */
static void prof__out_archive(prof__out *out, FILE *file, uint64_t from, uint64_t to)
{
    uint64_t bytes[512];
    while (from < to && !out->status) {
        size_t size = to - from < sizeof bytes ? (size_t)(to - from) : sizeof bytes;
        if (!prof__file_at(file, from, bytes, size)) {
            size = 8; /* near the end of the file, word by word */
            if (!prof__file_at(file, from, bytes, size)) bytes[0] = 0;
        }
        prof__out_bytes(out, bytes, size);
        from += size;
    }
}

/* Writes bytes, and leaves holes for pages that are all zero. */
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

/* Writes an image without its archive: the used parts of meta and of the chunks, and the parts of meta's index that are
   not zero. */
static void prof__out_used(prof__out *out, const void *bytes, size_t size)
{
    const prof__header *h = (const prof__header *)bytes;
    const char *from = (const char *)bytes;
    uint64_t used = h->next_chunk && h->next_chunk < h->chunk_count ? h->next_chunk : h->chunk_count;
    uint64_t meta = h->meta_offset + (h->meta_used && h->meta_used < h->meta_size ? h->meta_used : h->meta_size);
    uint64_t index = h->meta_offset + h->meta_size;
    if (index > h->chunk_offset || h->chunk_offset > size || used > (size - h->chunk_offset) / h->chunk_size) {
        prof__out_bytes(out, bytes, size); /* this layout is not prof_start()'s, so everything is written */
        return;
    }
    uint64_t end = h->chunk_offset + used * h->chunk_size;
    prof__out_bytes(out, from, (size_t)meta);
    prof__out_zeros(out, index - meta);
    prof__out_sparse(out, from + index, h->chunk_offset - index);
    prof__out_bytes(out, from + h->chunk_offset, (size_t)(end - h->chunk_offset));
    prof__out_zeros(out, size - end);
}

/* Writes a copy of an image and, directly after it, the image's archive from file, the oldest block first. Changes the
   copy's header accordingly. */
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

/* Writes a copy of the image that is being recorded, with its archive. Opens the archive's file itself. */
static prof_status prof__out_live(prof__out *out, void *bytes, size_t size)
{
    const prof__header *h = (const prof__header *)bytes;
    FILE *file = NULL;
    if (h->archive_first != h->archive_next && !(file = prof__archive_open(h)))
        return prof__fail(PROF_IO, "cannot read the archive of what was recorded: its file was removed");
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
    PROF__FORWARD(prof_save, (path));
    char expanded[1024];
    const prof_writer *writer;
    if (!path) return prof__null("prof_save", "path");
    prof_status status = prof__expand(path, expanded, sizeof expanded);
    if (!status) status = prof__writer_for(expanded, prof__live_mode(), &writer);
    if (status) return status;
    status = writer ? prof__reader()->write_live(expanded, writer) : prof__save_image(expanded);
    return status ? status : prof__stream_told(expanded);
}

/*-- ON DEMAND --------------------------------------------------------------------------------------- >>on_demand --*/

/* A session's status at one moment. */
typedef struct prof__session_status {
    int running, paused;
    int ended;     /* 1: the session has ended by itself, and prof_stop() has not been called yet */
    int held;      /* 1: the session has started, but recording has not begun yet */
    int on_demand; /* 1: prof_server.h has started the session, not the program */
    int level;     /* current level; 0: no session runs */
    prof_mode mode;
    uint32_t session_id;            /* session id, unique in the process; 0: there is no session */
    /* buffer: its size in bytes; chunks: how many it has; taken: chunks that threads took since the session began. */
    uint64_t buffer, chunks, taken;
} prof__session_status;

/* Adds the status of this process's session to a status that is all zero. */
static void prof__session_status_take(prof__session_status *look)
{
    PROF__FORWARD_VOID(prof__session_status_take, (look));
    uint32_t write_lock = prof__state_lock();
    const prof__session *s = prof__state_session();
    look->running = prof__state.running;
    look->ended = prof__state.ended;
    look->paused = prof__state.paused != 0;
    look->held = prof__state.held != 0;
    look->level = prof__state.running ? prof__state.level : 0;
    look->on_demand = PROF__LOAD(&prof__on_demand) != NULL;
    if (s) {
        look->session_id = s->session_id;
        look->mode = (prof_mode)(s->header ? s->header->mode : s->like.mode);
        look->buffer = s->file.mapping_size ? s->file.mapping_size : s->image_size;
        look->chunks = PROF__LOAD(&s->chunk_count);
        if (s->header) look->taken = PROF__LOAD(&s->header->next_chunk);
    }
    prof__state_unlock(write_lock);
}

/* Returns the session's present status. Any thread may call this function. */
static prof__session_status prof__session_status_now(void)
{
    prof__session_status look;
    memset(&look, 0, sizeof look);
    prof__session_status_take(&look);
    return look;
}

/* What an on-demand session records, and what happens to its image when the program starts a session of its own. */
typedef struct prof__on_demand_options {
    int no_scopes, no_devices;
    void (*keep)(void *image, size_t size); /* Called under the control lock when the program starts a session. Gets a
                                               copy of the image, which it must free; image is NULL if there was no
                                               memory for a copy */
} prof__on_demand_options;

static void (*prof__on_demand_keep)(void *image, size_t size);

/* Ends the on-demand session and keeps its image. Returns 0 if there is no such session. Called under the control
   lock. */
static int prof__on_demand_stop(void)
{
    if (!prof__on_demand) return 0;
    prof__stop_recording(1);
    PROF__BRIDGE_STOP();
    return 1;
}

/* Frees the image of an on-demand session that has ended. Called under the control lock. */
static void prof__on_demand_free(void) { prof__sessions_reap(1); }

/* Ends the on-demand session and hands out its image, because the program starts a session of its own. Called under the
   control lock. */
static void prof__on_demand_yield(void)
{
    void *image = NULL;
    size_t size = 0;
    prof__on_demand_stop();
    if (prof__image_copy(&image, &size)) size = 0;
    prof__on_demand_keep(image, size);
}

/* Restricts an on-demand session to what its options ask for. Called under the state lock. */
static void prof__on_demand_limit(void *user)
{
    const prof__on_demand_options *wish = (const prof__on_demand_options *)user;
    prof__on_demand_keep = wish->keep;
    if (wish->no_scopes) prof__state.level = 0;
    if (wish->no_devices)
        for (const prof_device *device = prof__devices; device; device = device->next)
            prof__rule_add(device->name, prof__length(device->name), 0, 1);
}

/* Starts an on-demand session, which the program does not notice: the program can still start its own at any time,
   which ends this one. Returns PROF_INVALID_STATE if there is a session already. */
static prof_status prof__on_demand_begin(const prof_config *config, const prof__on_demand_options *wish)
{
    prof__on_demand_options own = *wish;
    prof__on_demand_start on_demand = {prof__on_demand_yield, prof__on_demand_limit, &own};
    return prof__start_as(config, &on_demand);
}
#endif
/*-- AUTOSTART ------------------------------------------------------------------------------------------ >>autostart --
   `PROF_OUTPUT=trace.json ./program` records from before main() to exit. PROF_SAVE and PROF_CRASH_REPORT start a
   recording as well. prof prints on stderr in three cases only: here, in a crash report, and when a session is stopped
   at exit. It prints errors, crash reports, and the output's path if that differs from the path that was asked for.
   A program that cannot write the output, because a header is missing, records a .prof: trace.json.prof. */

#if !defined(PROF_FREESTANDING) && !defined(PROF_NO_TEXT) && (!defined(PROF_STATIC) || defined(PROF_AUTOSTART))
#define PROF__AUTOSTARTS 1
static void prof__autostop(void)
{
    if (!PROF__LOAD(&prof__on_demand) && prof__session_phase() && prof_stop())
        fprintf(stderr, "prof: %s\n", prof_error());
}

/* Returns the variable that asks for a recording, or NULL. */
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
    return prof__layout_alone(prof__environment("PROF_LAYOUT")) ? "PROF_LAYOUT" : NULL;
}

/* Starts the session of a variable. If the output needs a header that this program does not include, records a .prof
   beside where the output would be, which the tool converts. Returns an error if nothing is recorded. */
static prof_status prof__autostart_begin(prof_config *config, const char *by)
{
    char image[1024], why[PROF__ERROR_SIZE];
    const char *output = config->output;
    prof_status status = prof_start(config);
    if (!status || !output || !*output || config->layout || !prof__writer_lacks(output)) return status;
    prof__copy(why, PROF__ERROR_TEXT(), sizeof why);
    prof__text_copy(image, sizeof image, output);
    if (prof__is_folder(output))
        prof__text_add(image, sizeof image, prof__is_slash(output[prof__length(output) - 1]) ? "%p" : "/%p");
    if (!prof__text_add(image, sizeof image, ".prof")) return status;
    config->output = image;
    status = prof_start(config);
    config->output = output;
    if (!status) fprintf(stderr, "prof: %s: %s; records %s\n", by, why, prof__state_session()->file.output);
    return status;
}

PROF__AT_START(103, prof__autostart);
/* Starts a session before main() if a variable of the environment asks for one, and prints errors and notes on
   stderr. */
static void prof__autostart(void)
{
    prof_config config;
    if (!prof__is_whole()) return; /* this instance forwards to another one, which has started by itself */
    const char *by = prof__autostart_by();
    memset(&config, 0, sizeof config);
    if (by ? prof_config_from_env(&config) : prof__environment_check(1)) {
        fprintf(stderr, "prof: %s; nothing is recorded\n", prof_error());
        return;
    }
    if (!by) return;
    if (prof__autostart_begin(&config, by))
        fprintf(stderr, "prof: %s: %s; nothing is recorded\n", by, prof_error());
    else
        prof__autostarted = !atexit(prof__autostop);
    if (prof__output_apart && prof__session_phase())
        fprintf(stderr, "prof: %s: another recorder of this process writes there; this one writes %s\n", config.output,
                prof__state_session()->file.output);
    if (prof__start_note[0]) fprintf(stderr, "prof: %s\n", prof__start_note);
}
#endif

/* On Windows and WASI pthread_key_delete() hangs at this point. */
#if !defined(PROF_FREESTANDING) && !defined(_WIN32) && !defined(__wasi__)
/* Frees everything when the library that contains the recorder is unloaded, because no thread can run the recorder's
   code afterwards. Also called at the end of the process: then everything stays, because other threads may still
   record. */
PROF__AT_END(PROF__LAST, prof__unload);
static void prof__unload(void)
{
#ifdef PROF__SHARED
    if (prof__exits) return;
    prof__unjoin();
    prof__exit_stop(); /* atexit() would stop a session of PROF_OUTPUT only after its code is gone */
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
    /* If exits are not watched, this may be the end of the process, with other threads still recording. */
    if (prof__exits_watched) {
        prof__selves_unmap();
        prof__shared_counters_unmap();
        prof__unscoped_unmap();
    }
    prof__errors_unmap();
#endif
    if (prof__exit_key_made) pthread_key_delete(prof__exit_key);
}
#endif

#if defined(PROF__INSTANCES) && !defined(PROF_STATIC)
/*-- the table of this instance, to which other instances in the process may forward: see >>instances --*/

/* Adds an instance of prof that forwards to this one to the list prof__followers. That instance calls this function. */
static void prof__instance_join(prof__instance *follower)
{
    uint32_t write_lock = prof__state_lock();
    follower->next = prof__followers;
    if (follower->config_version != prof__config_version)
        PROF__STORE(follower->config_version, PROF__LOAD(prof__config_version));
    PROF__RELEASE(&prof__followers, follower);
    prof__state_unlock(write_lock);
}

static void prof__instance_leave(prof__instance *follower)
{
    uint32_t write_lock = prof__state_lock();
    for (prof__instance **at = &prof__followers; *at; at = &(*at)->next)
        if (*at == follower) {
            PROF__RELEASE(at, follower->next);
            break;
        }
    prof__state_unlock(write_lock);
}
#elif defined(PROF__INSTANCES)
static void prof__instance_join(prof__instance *follower) { (void)follower; }
static void prof__instance_leave(prof__instance *follower) { (void)follower; }
#endif

#ifdef PROF__INSTANCES
#ifdef PROF_STATIC
#define PROF__LAYOUT 0
#else
/* A checksum of structure sizes. Two instances whose versions or options differ usually differ in one of the sizes, and
   then do not work together. */
#define PROF__LAYOUT                                                                                                 \
    ((uint64_t)PROF_VERSION << 48 ^ (uint64_t)sizeof(prof__instance) << 36 ^ (uint64_t)sizeof(prof_config) << 26 ^   \
     (uint64_t)sizeof(struct prof_fiber) << 4 ^ (uint64_t)(sizeof(prof_writer) + sizeof(struct prof_counter)))
#endif
#define PROF__INSTANCE_ENTRY(name) name,
extern uint32_t prof__config_version[];
PROF__HIDDEN __attribute__((__used__)) prof__instance prof__this_instance = {
    {'p', 'r', 'o', 'f', ' ', 'h', 'u', 'b'}, PROF__LAYOUT, prof__output_told, 0, prof__config_version, NULL,
#if defined(PROF__SHARED) && !defined(PROF_STATIC)
    &prof__leader,
#else
    NULL,
#endif
    PROF__FORWARDED_FUNCTIONS(PROF__INSTANCE_ENTRY)};
#endif

/*-- MALLOC ------------------------------------------------------------------------------------------------ >>malloc --
   PROF_WRAP_MALLOC records the calls of the C library's allocator. A malloc() that the program defines replaces that of
   every library, for all modules of the process. glibc also exports its allocator under internal names, so that the
   original need not be looked up with dlsym(), which allocates. */

#ifdef __EMSCRIPTEN__ /* they were defined in ground/base.h, see prof__heap_has() */
#undef malloc
#undef calloc
#undef realloc
#endif
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
#undef fgets
#undef fgetc
#undef localtime_r
#undef pthread_create
#undef pthread_setspecific
#ifdef PROF__LATE_POSIX /* as in ground/platform.h, for prof's other headers */
#define fdopen(file, mode) prof__libc_fdopen(file, mode)
#define localtime_r(time, to) prof__libc_localtime_r(time, to)
#endif
#ifdef __cplusplus
#define PROF__NOTHROW noexcept
#else
#define PROF__NOTHROW
#endif
#define PROF__MALLOC_SITE(variable, name) /* no source line: the enclosing scope says more */                          \
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

#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif
#ifdef __clang__
#pragma clang diagnostic pop
#endif
#pragma pack(pop)
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
