// xplane/manual: What users read.
/* prof_xplane.h - log directories for XProf and TensorBoard, for prof - public domain or MIT-0
                   needs prof.h and nothing else, no protobuf; the licence is at the end of this file

QUICK START

    #define PROF_IMPLEMENTATION            // in exactly one file of the program, C or C++
    #include "prof_xplane.h"               // includes prof.h

    int main(void)
    {
        int i;
        prof_xplane_start_trace("logs");
        for (i = 0; i < 100; i++) {
            PROFILE_STEP("train", i);
            { PROFILE_SCOPE("forward"); }
        }
        return (int)prof_xplane_stop_trace(); // pip install xprof; xprof --logdir logs --port 6006
    }

Other ways: PROF_OUTPUT=logs/ ./program. For an image of an earlier run: prof_trace_open("trace.prof", &trace), then
prof_xplane_write(trace, "logs", NULL); or `prof export trace.prof -o logs/` and `prof merge a.prof b.prof -o logs/`.

FILES                                                                                                       >>xplane

    logs/plugins/profile/RUN/HOST.xplane.pb, whatever else is in logs. An output is a log directory if it ends in / or
    is a directory. RUN is the local time when the session (or the window of the trace) began, such as
    2026_11_21_16_05_59; to choose another, give the run's own directory, logs/plugins/profile/RUN/. HOST is this
    computer's name, or the trace's metadata "host", followed by .RANK if the trace has a rank. No file is ever
    replaced, because XProf keeps what it once made of one: if a run already has a file of the host, the next run is
    RUN_2, RUN_3, ... Directories are made as needed.

    Ranks of a job become hosts of one run if their launcher says which job it is (SLURM_JOB_ID, PMIX_NAMESPACE and so
    on): then RUN is job_ID. Otherwise give the run's directory, or merge their traces.

    prof_xplane_trace_options.create_perfetto_trace also writes perfetto_trace.json.gz beside that file, which
    ui.perfetto.dev opens as it is: what prof_chrome.h writes, compressed, with all events. If another host of the run
    has that file already, it is HOST.perfetto_trace.json.gz.

MEMORY PROFILE                                                                                               >>pprof

    Written by prof_xplane_pprof_write(), prof_save("memory.pprof"), PROF_OUTPUT=memory.pprof, or `prof export
    trace.prof -o memory.pprof`: what PROFILE_ALLOC and the like recorded, for `go tool pprof memory.pprof` and other
    readers of pprof's profile.proto, compressed. For each call site: alloc_objects and alloc_space, all allocations;
    inuse_objects and inuse_space, which pprof shows first, those that were not freed by the end. JAX's file has the
    last two. The leaf is the function that has the macro; its parent is the enclosing scope. The labels "pool" and
    "memory scope" can be filtered by (-tagfocus, -tagroot). Blocks that were allocated before the trace are in none of
    the numbers.

WHAT IS WRITTEN                            (plane and line: process and row of the trace viewer)

    From top to bottom: accelerators, the threads, other devices, and the planes named CUSTOM below.

    thread      a line of the plane "/host:CPU". Its number is the system's thread id or, if that is taken, 0 or too
                large, one from 1000000000 on; fibers likewise. Threads without events are left out. The main thread
                is shown with the program's name, "main (server)"
    state of X  a line below that of the thread X, where the recording has states of threads (see prof_system.h): events
                "running", with the stat "on processor", "ready", "waiting", and "not running" where that is all that is
                known. Lines then have other numbers in the trace viewer: twice the thread's, and the next one
    scope       an event. Its arguments are stats of their types: integers signed and unsigned, doubles; a bool is 0 or
                1, a pointer a string. Without a recorded begin or end it has the stat "truncated". Call site and
                category are the stats "source" and "category"
    step        PROFILE_STEP is a step of XProf: overview page and input pipeline analyzer show its times. What is
                inside belongs to it, and what is on other threads if a flow leads there. A step with no scope inside,
                or with something else before its first scope, gets a scope of its own name, because XProf drops steps
                in which nothing was computed
    mark        an event of 0 ns; the scope of a PROFILE_MARK_REACH is the stat "scope". Messages likewise, with their
                text as the name, and the stat "severity"
    counter     the line "_counters_". A value that is no finite number is an event of 0 ns on its thread
    flow        arrows from FLOW_OUT to each later FLOW_STEP and FLOW_IN of its name and id: from the enclosing scope if
                the point comes first in it and has no arguments, else from an event of 0 ns of its own. If an id is
                used again, each FLOW_OUT begins another flow
    frame       the plane "/device:CUSTOM:frames", with a line for each thread and name, and the number as the stat
                "frame"; the 65th and later names of a trace are left out, and a warning says so
    span        the plane "/device:CUSTOM:spans", with a row for each name, the stat "span_id", and arguments; a
                PROFILE_SPAN_MARK is an event of 0 ns. Locks are in "/device:CUSTOM:locks"
    device      the plane "/device:CUSTOM:NAME", with its rows as lines. "(clock not aligned)" after the name says that
                its times are only guessed
    accelerator a device that is called gpu, tpu or NeuronCore, as in "gpu 0" and "GPU:1", or that
                prof_set_metadata("accelerators", "npu 0,npu 1") or the options name: the plane "/device:GPU:0 NAME".
                XProf counts its work as that of its own GPUs: device compute on the overview page, "Framework Op Stats"
                (op: the name; type: the row), "Kernel Stats". Of nested scopes the innermost count. MEMCPYHtoD and the
                like are transfers, nccl... are collectives. Work belongs to the step from which a flow leads to it, or
                else to the step in which it began; steps without any work are then not on the overview page. The
                arguments bytes_accessed, flops, kernel_details ("regs:32 grid:8,1,1 block:256,1,1"), memcpy_details,
                correlation_id, shape, tf_op and others of prof_cuda.h are XProf's stats; work with details other than
                kernel_details is no kernel. Metadata "gpu 0.KEY" are stats of the plane. The line "host steps" has the
                times of steps; there are several if steps of threads overlap. With metadata "gpu 0.device_vendor", as
                of prof_cuda.h, there is none: a step lasts from its first work there to its last, as in XProf's own
                recordings
    allocations MemoryAllocation and MemoryDeallocation for the Memory Profile tool: the pool is the allocator, the
                memory scope or the enclosing scope the op, the call site the shape; and a counter "memory: POOL".
                Allocations of GPUs that prof_cuda.h records are there, too: the allocator is the device
    the run     the plane "Task Environment" has process id, begin and end as Unix time, program, clock, mode, and the
                metadata of prof_set_metadata(). XProf reads the times; no tool shows the others yet
    losses      an event "lost events" where they happened, and warnings on the overview page: what was lost and what to
                do about it, as in the summary; older events that a ring has overwritten, unless the window begins
                later; clocks that are not aligned. Scopes without a recorded begin or end have no warning, as in a
                capture of JAX

    Times are picoseconds since the stat profile_start_time of "Task Environment", up to 106 days. XProf adds them to
    that time to show several hosts side by side. It is the time of prof_start(), or the begin of the window (a capture,
    prof_save_last_ns()); for several traces in one run, that of the first of these. The events of a line are in order
    of time, a parent before its children; spans and locks, which may overlap, are in order of their ends. A scope that
    ends in the same nanosecond as the scope around it is written a picosecond shorter, because XProf would lose it.

    Memory does not grow with the number of events, except by some 50 bytes for each flow, block that is allocated, open
    span, and, if there is an accelerator, step; and by the distinct run-time names, of which a plane keeps 65536;
    further ones get the name of their call site, and the stat "name". In this
    format lengths come first: up to 64 MiB of events wait in memory until their length is known; threads with more, and
    those with flows, are read twice. XProf reads files of less than 2 GiB, some 100 million scopes: a larger one is not
    written (PROF_UNSUPPORTED), but a part of the trace can be.

NAMES

    Strings are valid UTF-8 whatever bytes the program's had: invalid ones become U+FFFD, because a single one would
    make the whole file unreadable. An empty name is written as (unnamed).

    XProf knows stats by their names. An argument whose key is also one of XProf's, such as group_id, id or flow, begins
    with an underscore, or is one of the names above, gets "arg." before its key.

    "Framework Op Stats" lists names of the form op:type. So a scope is named by its name, without colons, and its
    category, or "scope". For names made at run time by a format, the op is the format ("job %d"); for a call site with
    more than 16 other run-time names that were used less than 4 times each on average, it is the function. Other events
    are "mark: NAME" and the like. The trace viewer shows the true name, and this one as "long_name". If a scope's name
    begins in a way that means something to XProf (train, test, Eager, ...), this one has ./ before it. Names of
    counters have no quotation marks, backslashes and control characters, because XProf does not escape them.
*/
