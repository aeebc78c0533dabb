// read/manual: What a program that reads recordings has to know first.
/* prof_read.h: the reader of prof's recordings: events, statistics, the summary, CSV, saves of the last seconds

    #define PROF_IMPLEMENTATION            // in exactly one file of the program, C or C++
    #include "prof_read.h"                 // includes prof.h

    prof_trace *trace;
    if (!prof_trace_open("run.prof", &trace)) prof_summary_write(trace, NULL, NULL);
    prof_trace_close(trace);

    prof.h records, into a .prof. This header brings what reads: >>read has traces and cursors, >>reports has tables.
    With it a program also writes .csv and .txt by itself, follows what is recorded (mode stats and ring+stats, save and
    prof_save_last_ns()), and reads what it records: prof_trace_open_live(). prof_chrome.h, prof_html.h, prof_report.h,
    prof_xplane.h, prof_ntff.h and prof_server.h include it.

    Files that only mark up include prof.h, which takes compilers less time. Not with PROF_FREESTANDING or PROF_MINIMAL.
    Where a program and its plugins have copies of prof, the one that records needs this header for such outputs. */
