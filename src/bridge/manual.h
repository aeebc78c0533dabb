// bridge/manual: What users read.
/* prof_bridge.h - what prof records, in other tools at the same time - public domain or MIT-0
                   ITT (VTune and others), NVTX (Nsight), SDT (perf, bpftrace, SystemTap, gdb); the licence is
                   at the end of this file

QUICK START

    Define one, two or all three in the file with PROF_IMPLEMENTATION, and nowhere else. prof.h then includes this
    header by itself; marked-up files do not change, and need not be compiled again.

    cc -DPROF_WITH_NVTX -I/usr/local/cuda/include -c prof.c        needs <nvtx3/nvToolsExt.h>, and -ldl to link
    cc -DPROF_WITH_ITT -I.../ittapi/include -c prof.c              needs <ittnotify.h>, and -littnotify -ldl to link
    cc -DPROF_WITH_SDT -c prof.c                                   needs <sys/sdt.h>: systemtap-sdt-dev, -devel

    PROF_BRIDGE=1 nsys profile --trace=nvtx ./program              or vtune -collect hotspots ./program
    bpftrace -e 'usdt:./program:prof:scope_begin { printf("%s\n", str(arg0)); }' -c ./program

WHAT IT COSTS

    None of the three defined              nothing: a test checks that the object files are the same
    Defined, but no tool is attached       a scope takes 12 (NVTX) to 15 (SDT) more instructions, a mark 7 to 11 more
                                           (gcc 12 -O2 under callgrind, 2026-11-21; ITT was not measured)
    A tool is attached                     in addition, what the tool takes for each call

ENVIRONMENT

    PROF_BRIDGE=1          records for a tool alone, without an output, from before main to exit, in a program that does
                           not call prof_start()

COMPILE-TIME OPTIONS, besides the three

    PROF_BRIDGE_DOMAIN     "prof"    the domain of scopes and other events without a category
    PROF_BRIDGE_DEPTH      128       nested scopes that are sent to a tool; deeper ones are in the trace only
    PROF_BRIDGE_NAMES      4096      names made at run time that are kept; for further ones see Names below

MANUAL

    When. A tool receives exactly what prof records: call sites that are on, in a session that runs and is not paused.
    So levels, categories and pauses apply to tools, too. If only the tool is to record, start a session without an
    output: it needs a buffer (128 KiB are enough) and leaves no file. PROF_BRIDGE=1 in the environment does that from
    before main to exit, for a program that does not call prof_start(). ITT and NVTX look for their tool in the first
    prof_start(); for SDT a tool may come at any time.

    What.              ITT                            NVTX                            SDT, provider prof

    category           domain                         domain                          an argument
    name               string handle                  registered string               an argument
    scope, function,   task begin, end                push, pop; color                scope_begin(name, category)
      block, stage                                                                    scope_end(name, category)
    argument           metadata of the task           -                               arg(key, category, type, bits)
                                                                                      arg_string(key, category, text)
      of a handle, list  -                              -                               -
    mark               marker, with the mark's scope  mark; color                     mark(name, category)
    counter            counter, typed: set            mark; payload: the value        counter(name, category, value)
                                                                                      counter_double(..., bits)
    step, throughput   task with metadata             push, pop; payload: the number  scope_begin, arg, scope_end
    PROFILE_FRAME      frame begin, end (v3)          range start, end                frame(name, category), at each
                                                                                        boundary
    span               overlapped task                range start, end; payload: id   event(name, category, type,
    frame of a handle  frame begin, end (v3)          the same                          object, detail): these
    task               task begin, end (see below)    as a span                         and all other types
    lock               sync prepare, acquired,        -
                         releasing
    flow, memory       -                              -
    range of a handle  event start, end               push, pop                       scope_begin, scope_end
    message            marker: the format             mark: the message               log(message, category, severity)
    name of a thread   thread name                    name of the OS thread           thread(name)
    pause, resume      pause, resume of collection    -                               pause(), resume()

    type is a prof_value_type or a prof_event_type; bits are those of a double, as an integer. SDT probes have
    semaphores. ITT's frames are in the domain of their category or, if they have none, in a domain of their own name.
    Rows of devices are in the trace only. Messages are formatted at once if a tool is attached.

    Order. prof reads its clock before it tells a tool of a begin or an end. So the time that the tool takes for a begin
    counts in that scope, and the time for an end in the enclosing scope. min_duration removes scopes only from the
    trace. In a tool, a scope that longjmp() has left ends with the next enclosing scope, and a PROFILE_BEGIN of a
    session that is over ends with the next scope on its thread. A frame ends at a boundary, at a pause, and in
    prof_stop().

    Tasks. ITT gets a task of prof_task_create() as a task of its thread, as MXNet sends it, as long as it nests with
    the thread's scopes. Once one did not, or has ended on another thread, those of its name are overlapped tasks.
    prof_counter_destroy() destroys ITT's counters of that name.

    Fibers. In a tool, open scopes belong to a thread. When a fiber leaves a thread, its scopes end in the tool, and
    when it continues they begin again: the tool sees them in parts.

    Names. A tool's handle is made once for each name of a category, under a lock, and then found without one. It is
    found by its name, not by its call site alone, because a plugin may be unloaded and another one loaded at its
    address. The first PROF_BRIDGE_NAMES names made at run time (_DYNAMIC, _F) are kept as well; for further ones NVTX
    and SDT get the text itself, ITT the literal.

    Signals. While a thread is in a tool's code, what a handler or the tool itself records is in the trace only. But
    prof does not know when a thread is in other code of the tool, or in malloc(): with scopes in signal handlers use
    SDT, which is safe there. After a siglongjmp() out of a tool's code, tools get no scopes of that thread until it
    calls prof_start().

    fork(). Tools get the scopes of a child if they follow it.

    Shared libraries. Tools are called by the recorder that records for the process (see >>instances in prof.h); one
    with PROF_STATIC calls them itself. If a recorder is unloaded, so are the names that it has kept.
*/
