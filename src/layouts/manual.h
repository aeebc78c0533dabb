// layouts/manual: What users read.
/* prof_report.h - prof's reports: those of other profilers, JSON, and text in memory - public domain
                   or MIT-0; needs prof.h and nothing else; the licence is at the end of this file

QUICK START

    #define PROF_IMPLEMENTATION            // in exactly one file of the program, C or C++
    #include "prof_report.h"               // includes prof.h

    int main(void)
    {
        prof_start(NULL);
        for (int i = 0; i < 100; ++i) { PROFILE_SCOPE_C("step", "train"); }
        char *text = prof_mxnet_dumps(PROF_REPORT_MXNET, PROF_SORT_TOTAL, 0, 0);
        if (text) puts(text);              // of the running session, at any time
        prof_report_free(text);
        return (int)prof_stop();
    }

For a recording, call prof_trace_open("trace.prof", &trace), then prof_report_write(trace, "report.txt", &options); or
run `prof summary --layout mxnet trace.prof`.

LAYOUTS                                                                                                    >>layouts

    SUMMARY     the table of prof_summary_write()
    PATHS       the same by call path, as a tree
    DOMAINS     a row for the scopes of each category, the domains of other profilers
    HISTOGRAM   for each scope, span and frame, how its durations are distributed
    JSON        the rows of scopes, spans, frames and counters with all their numbers, not rounded; the run; losses
    MXNET       the table of MXNet's profiler.dumps(format='table')
    CNTK        the summary of CNTK's performance profiler
    CNTK_DETAIL the list of events of CNTK's profiler, as CSV

    SUMMARY, PATHS, DOMAINS and HISTOGRAM fit into lines of options.columns characters or, if they are written to a
    terminal, into its lines: names are shortened in the middle, and columns left out, the least important first. The
    layouts of other systems are the same as those systems write.

    Rows are scopes and spans (whose begins and ends may be on different threads), frames, and counters. All call sites
    of the same name and category make one row; in CNTK, which has no categories, all of the same name. A scope, span or
    frame whose begin or end was not recorded adds no time; all layouts but MXNET and CNTK say how many there are.
    Scopes that overlap on one thread each have all of their time; the one that ends later has all of its time as self
    time, and the one that ends earlier loses none of its own. A task of prof_task_create() that starts and stops on one
    thread has the time without the tasks inside it. All other spans have all of their time as self time, because what
    is inside may be on any thread.
    Losses, if there are any, are after each report; JSON always has them, as "Losses". A report without such a line has
    all that was recorded. What was off, paused or removed by min_duration was not recorded, and is no loss. Control
    characters of names become question marks in text. In JSON, those below U+0020 become \u00XX, and invalid UTF-8
    becomes U+FFFD.

    prof_sort determines the order: MXNet's 'total', 'avg', 'min', 'max' and 'count' are PROF_SORT_TOTAL, _MEAN, _MIN,
    _MAX and _CALLS; counters are sorted by their last, mean, lowest and highest value. Equal rows are sorted by name,
    from Z to A, which is MXNet's order (PROF_SORT_NAME: from A to Z). CNTK's own rows are in the order of its table.

WHY                                                                                                            >>why

    prof_why() says why a frame, or a call of a scope, took as long as it did; `prof why trace.prof` prints it.

        prof_why_options options = {0};     // in C++: = {}
        prof_why_report *report;
        options.name = "load_level";       // without a name: frames, or the outermost scopes that differ most
        options.slowest = 5;
        if (!prof_why(trace, &options, &report)) {
            for (size_t i = 0; i < report->count; ++i)
                printf("%llu ns, %llu of them waiting\n", (unsigned long long)report->calls[i].split.wall_ns,
                       (unsigned long long)report->calls[i].split.waiting_ns);
            prof_why_free(report);
        }

    Running, ready, waiting and unknown add up to the wall time; the waits to the waiting; the scopes inside to the wall
    time. What is not recorded is unknown: see prof_system.h for the first three, and PROF_WRAP_WAITS and
    PROFILE_LOCK_WAIT for the reasons of waits.

MXNET                                                                                                        >>mxnet

    The report has the same bytes as dumps() prints (src/profiler/aggregate_stats.cc): categories from A to Z, each with
    its table; times in milliseconds with four decimals, rounded like its floats. In the categories "Device Storage" and
    "Pool Memory" counters are memory: kB of 1000 bytes, without a total. "Device Storage" also has what PROFILE_ALLOC,
    PROFILE_FREE and PROFILE_REALLOC recorded: the live bytes of each pool after each change, as "Memory: POOL", and
    those without a pool as "Memory: cpu/0", as MXNet calls the host's memory. If a counter has such a name already, it
    is shown instead. PROF_STATS keeps no allocations, and so lacks these rows. Frames are in "<category>,frame", those
    without a category in "frame"; everything else without a category is in "event", where MXNet has its Event objects.
    PROF_REPORT_JSON contains dumps(format='json'): {"Time": {category: {name: {"Count", "Total", "Min", "Max",
    "Avg"}}}, "Memory": ..., "Unit": {"Time": "ms", "Memory": "kB"}}. If prof_system.h has recorded what threads did,
    scopes have it, too: "Running", "Ready", "Waiting" and "Unknown", which add up to the time of the outermost calls,
    "Switches" and "Migrations".

    These differ, because MXNet is wrong there: the average of a counter is the mean of its values, not (max - min) / 2;
    its minimum starts with the first value, not with 2147483647; counters other than memory are not divided by 1000:
    they have their own unit, and in JSON an object of their own, "Counter"; JSON has all digits, not four; times are
    rounded from nanoseconds, not from microseconds; names are not cut after 127 bytes; quotes in names do not break the
    JSON.

    MXNet's calls are here: dumps() is prof_mxnet_dumps(); dump() is prof_mxnet_dump(), also after prof_stop(); pause()
    and resume() are prof_mxnet_set_paused(1) and (0), a flag that may be set at any time.

CNTK                                                                                                          >>cntk

    The summary has the same bytes as ProfilerClose() writes (Source/PerformanceProfilerDll): the fixed events in their
    order, from scopes and spans whose names are exactly the labels, such as "_Minibatch Iteration".
    prof_report_options.events replaces that table. A row appears if something was measured; separators always appear. A
    throughput row is made of scopes that say how much data they moved (PROF_ROLE_THROUGHPUT, argument "bytes"): MB/s of
    10^6 bytes, mean over the scopes, and the sum in KiB or MiB, called kB and MB. options.others adds rows for all
    other names, under a line of their own.

    prof_report_cntk() writes both files under CNTK's names, <folder>/2017-05-12_08-13-20_summary_<suffix>.txt and
    ..._detail_<suffix>.csv. The time is that of the recording's end, which is in the summary, too. Like
    ProfilerClose(), prof_stop() writes them itself at the end of a recording with

        config.output = "profiler/"; config.layout = "cntk";  // PROF_OUTPUT=profiler/ PROF_LAYOUT=cntk ./program

    PROF_STATS has no events, so that only the summary is written. That is also so if output is a file ("profiler.txt"),
    which may have any other of these layouts as well.

    These differ, because CNTK is wrong there: 59.9999 s after a minute is 00:02:00.000, not 00:01:60.000; rates are
    computed with all digits, not from whole kB/s; no file is replaced: a second one of the same name gets the process
    id, and a number if needed; a suffix is never empty: the default is the rank, or the process id if no launcher has
    set a rank; quotes in the CSV are doubled (RFC 4180); its times are exact, while a double has 0.2 us of noise:
    milliseconds since 1970 with the six decimals of nanoseconds, and 00; losses are in both files, in the CSV as an
    event "(N events lost)". The CSV has scopes and spans in the order of their ends, like CNTK's.

SINCE THE LAST RESET                                                                                        >>reset

    After prof_mxnet_dumps(..., reset = 1), the next prof_mxnet_dumps() has only what ended after this one: each scope
    is in exactly one of them. Nothing is erased for prof_trace_open_live() and prof_stop(). In PROF_RING the buffer
    must hold what happens between two calls; what was overwritten is counted, but since the start of the session, like
    all losses. In PROF_STATS and PROF_RING_STATS the statistics themselves are reset: also those of
    prof_summary_write() and of an output .txt. They have no call paths, so that DOMAINS counts the time of scopes
    inside others of their category twice. CNTK_DETAIL fails with PROF_INVALID_ARGUMENT in PROF_STATS, and has all
    events of the ring in PROF_RING_STATS.

    A row of a device has the events that end after the last one of the previous report. An event that is reported late,
    after a report that has events that ended later, is in no report.
*/
