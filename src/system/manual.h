// system/manual: What users read.
/* prof_system.h - what the operating system does with the program's threads, on the time line of its scopes - public
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
