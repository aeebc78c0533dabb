// html/manual: What users read.
/* prof_html.h - a report in one HTML file for prof - public domain or MIT-0
                 needs prof.h and nothing else; the licence is at the end of this file

QUICK START

    #define PROF_IMPLEMENTATION            // in exactly one file of the program, C or C++
    #include "prof_html.h"                 // includes prof.h

    int main(void)
    {
        prof_config config = {0};
        config.output = "trace.html";      // this header is the writer of .html
        prof_start(&config);
        { PROFILE_SCOPE("work"); }
        return (int)prof_stop();           // open trace.html in a browser
    }

Or run a program that has this header with PROF_OUTPUT=trace.html in its environment. From an image of an earlier run,
prof_trace_open("trace.prof", &trace) and prof_html_write(trace, "trace.html", NULL) make a report; so do `prof export
trace.prof -o trace.html` and `prof view trace.prof`, which also opens it. prof_server.h serves the same page of a
running program, live.

WHAT IT SHOWS                                                                                                 >>html

    One file that needs no network and nothing installed: Chrome or Edge from 103 on, Firefox from 113 on, Safari from
    16.4 on, the first that unpack raw deflate. Bars of frames; a time line of processes, threads, fibers and devices,
    with counters, spans, marks, messages, locks, memory and flows, and when each thread ran and waited; for the
    selected range calls, total and self time, percentiles and a flame graph from the top or the bottom; of one scope
    the distribution and each of its calls with its arguments; of one call or frame why it took so long; tables of
    messages, memory, locks and frames; and what was lost, and what recording cost. The key ? lists all keys.

    The recording in the file is packed: 1 to 2.5 bytes a scope; docs/internals/html.md has the format. The page
    checks what it reads, may load nothing, and shows names only as text, so it is safe to open a report from somebody
    else. docs/guide/page.md says more about what the page shows.

    With a folder as the option `sources`, the panel of a scope also shows the lines around its call site: 4 before, 8
    after, of 400 bytes at most, 1 MiB in all. They are read when the report is written, from the regular file below
    the folder that the longest tail of the recorded path leads to; "/" takes all paths as they are. If there is no such
    file, the report has no lines of it, and counts it. Whoever has the report can read the lines, so the option is off
    by default.

    An event keeps its first 2000 arguments. Otherwise all that a cursor or prof_spans_next() returns is in the file. In
    mode stats there are no events: write a .txt.

COMPILE-TIME OPTIONS, where PROF_IMPLEMENTATION is

    PROF_HTML_LARGE        -        adds prof_html_outline(), which writes an outline of a trace of more than 50 million
                                    events, with statistics of all of them and the events of a window, as prof export
                                    and prof view do; 3 KB of code
*/
