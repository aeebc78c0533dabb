// api/manual: The quick start, the options and the manual: what users read.
/* prof.h - an exact timeline of a whole program, in one header - public domain or MIT-0
            depends on nothing but libc; the licence is at the end of this file

QUICK START

    #define PROF_IMPLEMENTATION            // in exactly one file of the program, C or C++
    #include "prof_chrome.h"               // includes prof.h and prof_read.h, and adds the writer of .json

    int main(void)
    {
        static prof_config config;         // zero is the default everywhere
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
    adds .json, prof_html.h the page; prof_report.h, prof_xplane.h, prof_ntff.h and prof_server.h what they say;
    prof_system.h records when the system ran each thread, and when not. prof.hpp has classes for C++: scopes as
    objects, hooks, locks. Each includes what it needs. prof_start()
    refuses an output that needs another header, and names it. PROF_OUTPUT then records into a .prof beside that output
    (trace.json.prof) and says so; `prof export` converts it.

WHAT IT COSTS                              (machine, date, commands and all other figures: BENCHMARKS.md)

    a scope, recording                     1.05 to 1.11 times two clock reads: in memory, in a file, in a library
    an integer argument                    3 ns more
    a scope whose name is made at run time, or by a format     1.2 to 2.0 times two clock reads
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
    PROF_SHORT_FUNCTION    -        PROFILE_FUNCTION is named as in C: "update" instead of "Tpl<int>::update"
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
    PROF_VSNPRINTF         vsnprintf   for the _F macros; for example stbsp_vsnprintf. If it is not set, the macros
                                    make names themselves, and leave what takes long to the reader: numbers with a
                                    point, for example, which have one in every locale
    PROF_AUTOSTART         -        with PROF_STATIC: PROF_OUTPUT starts it all the same, else nothing does
    PROF_INSTRUMENT_FUNCTIONS  -    adds the hooks of gcc's and clang's -finstrument-functions, see below
    PROF_INSTRUMENT_MAX    16384    functions that the hooks tell apart, and places that call malloc(); further ones
                                    share one name
    PROF_INSTRUMENT_DEPTH  1024     nested calls on a thread, 24 bytes each; deeper ones are lost, and counted
    PROF_WRAP_MALLOC       -        records malloc(), free() and so on of the whole process, see below
    PROF_MALLOC_CALLERS    -        with it: and by which functions they are called; 8: by up to 8 of a stack
    PROF_WRAP_WAITS        -        records where threads wait in calls of the C library, see below
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
    KiB, also in each child of a fork that records, later up to a MiB at a time. (On Linux before 5.14 and on other
    systems the whole buffer is reserved at the start.) If the disk has no room for the buffer at the start,
    prof_start() fails. If the disk becomes full later, or a quota is reached, the buffer ends there: PROF_RING and
    PROF_STREAM go on with the smaller buffer, PROF_FILL is full, names that come later are counted as lost,
    prof_stop() returns PROF_IO, and reports say why.

    Flight recorder. prof_save_last_ns() writes what led to this moment. Or let prof watch for the moment: with
        config.save = "slow-%c.json"; config.save_over = "frame>16.7ms,scope:net.*>2ms";
        config.save_last_ns = 5 * PROF_SECOND; config.save_every_ns = 30 * PROF_SECOND;
    a frame that took longer than 16.7 ms saves the last 5 seconds, including that frame, at most every 30 seconds. A
    background thread of prof reads what the others record. It finds a slow scope after it has ended, usually within 5
    ms, and does not disturb the recording threads (see BENCHMARKS.md). PROF_SAVE, PROF_SAVE_OVER and so on do the same
    for a program that only has scopes. The trace names the cause, as an instant on the track "prof" and as metadata,
    "save", also in a .txt; the metadata also say what of the cause or of save_last was no longer in the buffer.
    save_signal and prof_save_request() save as well, and are not limited by save_every; so does
    prof_save_request_ns(path, 5 * PROF_SECOND), which names the file and the time, and needs only save_last_ns. In a
    frame call one of these two: prof_save_last_ns() returns when the file is written.

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
    With PROF_MALLOC_CALLERS besides, each function that calls malloc() has a row of its own, named as in the symbol
    tables, or "module+0x1b40" if they lack it. So what was not freed has the function that allocated it. That takes 3
    ns a call and 2.4 MB of addresses, of which the system only gives what is used. With PROF_MALLOC_CALLERS=8, up to 8
    functions of the stack are recorded. The summary then has a call tree of what was allocated and what was not freed,
    and so has the memory profile for pprof; the page's table has a row for each stack. The stack is found without frame
    pointers, by the tables for exceptions, which takes 2 us a call. Where those are missing, it ends. If there are more
    stacks than PROF_INSTRUMENT_MAX, further ones count for the functions around them that are known. A call that ends a
    function may be compiled to a jump; then its caller counts. strdup() and the like count as themselves. If the
    implementation is compiled as C++, operator new and new[] count for their callers; nothrow and aligned forms, and
    all of them with an implementation in C, for the C++ library. An operator new of the program's own, in another file,
    takes the place of prof's.
    For a program that knows nothing of it: LD_PRELOAD=libprof.so PROF_MALLOC=8 PROF_OUTPUT=trace.prof ./program records
    its allocations with up to 8 functions of the stack, at most 32; 1: only the function that calls. That works with an
    allocator of the program's own in a library, too. Without PROF_MALLOC nothing is recorded of them, and each call
    takes 1 ns more. In a library of your own that is preloaded, define PROF_WRAP_MALLOC as 2.

    Waits. PROF_WRAP_WAITS (Linux, glibc or musl) records where a thread waits in a call of the C library: mutexes,
    read-write locks, conditions, semaphores and barriers of POSIX threads and C11, joins, read, write, send, recv and
    their like, poll, select, epoll_wait, accept, connect, sleeps, fsync, flock, sigwait, waitpid, and futexes by
    syscall(). It defines these functions in the program, for all modules of the process; calls inside the C library, as
    in fread(), are not seen. A library that has the implementation and is preloaded does the same for a program that
    knows nothing of it: LD_PRELOAD=libprof.so PROF_OUTPUT=trace.json ./program. A wait of config.waits_ns (PROF_WAITS,
    10 us) or longer is a scope of that name, in the category "wait"; a shorter one leaves nothing, nor does one that is
    cancelled. Its arguments say what the thread waited for and, of a lock, the thread that held it; an arrow leads to
    it from the thread that unlocked, signalled or posted, if the wait was long enough by then. Such a lock is shown as
    those below, with its waits and the holds that follow them. prof_waits() has all of it as data, with the scope that
    the holder was in. prof_fiber_switch() does not wait, so waits of fibers are those of their threads. A free mutex
    costs 2 ns, with or without a session, because the clock is only read if it is taken; a call that may wait, two
    readings of the clock. In a program that is linked statically define PROF_WRAP_WAITS as 2, and link with
    -Wl,@wrap_waits.txt, which is in lib/. Before glibc 2.34 link with -ldl. On 32-bit systems calls with a time_t of 64
    bits are not seen. With a sanitizer, which has its own wrappers, it does nothing. It records PROFILE_MUTEX_LOCK as
    before; for other locks use this or the macros, because a lock that has both is counted twice.

    Locks. WAIT, ACQUIRE and RELEASE record how often and how long threads waited for a lock, and how long it was held.
    They are shown in the summary, as data (prof_locks; prof_waits has each wait, with the scope that the holder was
    in), and as a row for each lock in the Chrome trace. An acquire
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
    same. Then call prof_set_metadata("prof.tasks", "fibers") after prof_start(), and prof_event_split(), tables and
    prof why say for how long a thread ran: from the first event of each turn on a processor to the last one. In
    between, whether it waited or could have run is not known. Code that interrupts (interrupt handlers, NMIs) gets a
    state of its own for each processor and kind, or the rules of signal handlers apply: what interrupts a macro on the
    same state is lost, and counted.
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
