// chrome/manual: What users read.
/* prof_chrome.h - Chrome trace JSON for prof: Perfetto, chrome://tracing, speedscope - public domain or MIT-0
                   needs prof.h and nothing else; the licence is at the end of this file

QUICK START

    #define PROF_IMPLEMENTATION            // in exactly one file of the program, C or C++
    #include "prof_chrome.h"               // includes prof.h

    int main(void)
    {
        prof_config config = {0};
        config.output = "trace.json";      // this header is the writer of .json
        prof_start(&config);
        { PROFILE_SCOPE("work"); }
        return (int)prof_stop();           // drop trace.json into ui.perfetto.dev, chrome://tracing or speedscope.app
    }

An image of an earlier run: prof_trace_open("trace.prof", &trace), then prof_chrome_write(trace, "trace.json", NULL).

WHAT IS WRITTEN                                                                                             >>chrome

    scope       one complete event ("X"): name, category, call site, start, duration, arguments. Without a recorded
                begin or end it has the argument "truncated": "begin", "end" or "begin and end"
    mark        an instant ("i") of its thread. The reach of a PROFILE_MARK_REACH is the argument "scope". Marks of the
                process and global marks are on a track "mark: NAME" above the threads, with the thread that made them
                as an argument: there viewers show their names, which they do not show for "s":"g" or "p". Those with
                names made at run time are on a track "marks". The 65th and later names of a file stay on their threads
    span        "b" and "e" with an id of their own, both on the thread that began the span, where viewers show a row
                for each name or each thread. The id in the program is the argument "id". "n" for each PROFILE_SPAN_MARK
                in between. A span whose begin or end is missing has the argument "truncated", as a scope, and reaches
                to the begin or end of the trace. The arguments of begin and end are all on the "b"; if the program has
                an argument "id", the id is "span id"
    counter     samples ("C"): one counter for each name and category, whichever threads recorded it. Its only series
                has no name: Perfetto would show that behind the counter's. Tracy tells counters apart by it alone:
                options.tracy gives it the counter's name. A value that is no finite number becomes an instant. A unit
                is the key "unit" of the event, which viewers pass over
    frame       an "X" from each boundary to the next on a track of its own, "frames: NAME", one for each thread that
                records such frames, and for each handle of prof_frame_create(). Frames of 0 ns are left out; the 65th
                and later names of a thread become instants, the 65th and later handles spans
    message     an instant of its thread, with the text as its name and the severity as an argument
    flow        arrows ("s", "t", "f") from FLOW_OUT through the later points of the same name and id, in order of time,
                to the last of them. They join the scopes that enclose the points; a point outside of scopes becomes a
                slice of 0 ns, and one inside that has arguments becomes an instant with them, too. If an id is used
                again, the second flow is called "NAME #2", because viewers would join equal ones. A point without a
                partner is an instant without an arrow. Arrows join threads of one process only. Ids are hexadecimal
    allocations for each pool a counter "memory: POOL" of its live bytes, which counts the blocks whose allocation is in
                the trace. The curve has 5000 steps at most, of each the first, lowest, highest and last value. With
                options.allocations it has all values, and each allocation and each free is an instant ("i") of its
                thread, with address and bytes: 300 bytes of file for each
    locks       async spans ("b", "e"): "lock NAME", one row for each lock below the threads, with the thread that held
                it; and "wait for NAME" at the thread that waits, unless the wait is a scope, as that of
                PROFILE_MUTEX_LOCK. Those without an end reach to the end of the trace. A lock that several threads hold
                at the same time is shown at each of them
    losses      an instant "lost N events" where they happened; the sum is in the label of the process and in otherData
    device      a process of its own below the one that used it, with its rows as threads. "(clock not aligned)" in its
                name says that its times are only guessed. A flow that leads to an event comes after it
    thread      its name and its place: the main thread first, then by appearance. A thread id that was used before in
                the trace, or that is 0 or too large, is replaced by the smallest number from 1 on that no
                thread or process of the file has; frames, marks, locks, states and devices have such numbers, too
    otherData   program, clock and its rate, start as Unix time, losses, cost of a scope (chrome://tracing: "Metadata")

    Times are microseconds since prof_start() with three decimals, made from integer nanoseconds; they are exact for 100
    days. Each event is a line. The lines of a thread are in order of time, a parent before its children; flows and
    then counters come last. Memory does not grow with the number of events, except by some 50 bytes for each flow: the
    writer needs one cursor, and, if there are counters or flows, one for each thread.

    The file is strict JSON in valid UTF-8, whatever bytes the names have: invalid ones become U+FFFD. In arguments,
    integers beyond 2^53, pointers, infinities and NaN are strings. An empty name is written as (unnamed), an empty
    category as prof; a color as the nearest of the names that chrome://tracing knows.

WHAT VIEWERS SHOW                          (tests/viewers loads traces into them and compares every event)

    Names. A name that a viewer would take for an event of its own gets a space at its end: Profile, Paint, FunctionCall
    and some 60 more, with which DevTools or speedscope would refuse the file. A category that contains
    trace_event_overhead or blink.user_timing is written as prof. Keys of arguments that this file uses itself
    (truncated, source, function) get a space, too.

    Durations with more decimals. Viewers add start and duration as floating-point numbers. So the end of a scope can
    come out 10^-10 us after its parent's end, or after the begin of its neighbour: speedscope then loses the nesting,
    and DevTools the event. Where a scope may share its end with another, its duration has the decimals that make the
    sum right: "dur":12.345000000002. Where the next scope begins at the same nanosecond and has the same name, the
    duration is 0.1 ns shorter, and a scope of 0 ns is written as 0.1 ns, because speedscope would nest the one and drop
    the other. Rounded to nanoseconds, which is what Perfetto does, all these are exact.

    Devices stand below the process that used them in chrome://tracing. Perfetto 52 orders processes by their number of
    scopes, whatever the file says: a device that has more scopes than the program stands above it.

    Perfetto drops scopes deeper than 512. speedscope shows neither marks nor counters, makes arguments part of the
    name, and with clocks of slow ticks confuses calls of the same name that begin or end at the same time.
    chrome://tracing, speedscope and DevTools read at most 500 MB: write a part (from_ns, to_ns) or leave out short
    scopes (min_duration_ns).
*/
