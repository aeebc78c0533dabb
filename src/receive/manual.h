// receive/manual: What users read.
/* prof_receive.h - records programs and libraries that are marked up for NVTX or ITT - public domain or MIT-0; needs
                   prof.h and libc, no header of these; the licence is at the end of this file

QUICK START

    prof run -o trace.html ./program       preloads libprof.so, which has this header: nothing is compiled again

    #define PROF_IMPLEMENTATION            // or: in exactly one file of the program, C or C++
    #define PROF_RECEIVE_NVTX              // and, or instead, PROF_RECEIVE_ITT
    #include "prof_receive.h"              // includes prof.h

    In a program that is linked with this file NVTX finds the receiver by itself. For libraries that the program loads
    export it, cc -rdynamic, and set NVTX_INJECTION64_PATH and INTEL_LIBITTNOTIFY64 to empty texts: NVTX and ITT then
    look for it in the program. The same goes for libprof.so:
    LD_PRELOAD=libprof.so NVTX_INJECTION64_PATH= INTEL_LIBITTNOTIFY64= PROF_OUTPUT=trace.json ./program

WHAT IT RECORDS

    NVTX                                   prof

    range push, pop                        a scope. Each domain has a stack for each thread, as in NVTX: a pop ends the
                                           newest push of its domain
    range start, end                       a span, with an id that is the range's
    mark                                   an instant
    domain                                 the category; of the default domain "nvtx"
    category that has a name               the category; in a domain "DOMAIN:CATEGORY". Name it before its first use
    colour                                 the colour, without alpha
    payload                                the argument "payload"
    message, also wide and registered      the name, as UTF-8, up to PROF_MAX_TEXT bytes
    name of the calling thread             its name

    Not shown: payloads of schemas, resources, synchronization objects, names of other threads and of CUDA's and
    OpenCL's objects. Of these the metadata "nvtx not shown" lists what occurred.

    ITT                                    prof

    task                                   a scope. A task ends the newest of its domain on the thread
    overlapped task, region                a span
    frame                                  a span with the name of its domain
    event                                  a scope
    marker                                 an instant
    metadata, also text                    an argument of the newest task of the domain
    counter                                a counter
    domain                                 the category; without one "itt"
    pause, resume                          prof_pause(), prof_resume()
    name of the calling thread             its name

    Not shown: synchronization objects and formatted metadata, which "itt not shown" lists; stacks, relations, groups,
    heaps, histograms, times of other clocks, the ids of tasks and their parents.

    A range that begins while nothing is recorded is not recorded, and its pop ends no other one. The functions return
    what NVTX's would: the level of the range in its domain on this thread, from 0 on; a pop -1 where none is open.

    The first 4096 names, each with its domain, category and colour, are sites of their own, as of PROFILE_SCOPE. What
    has a further name is recorded with the name in each event: a push without colour, a mark without payload. A
    start of a further name, and what ITT has of it, is not recorded: "nvtx not shown" and "itt not shown" say so.

    Up to 65,536 ranges are open on a thread; what is deeper ends at once.

WHAT IT COSTS

    A push and its pop take 1.4 times what a PROFILE_SCOPE takes with a registered message, 1.7 with another one of 15
    characters; while nothing is recorded 18 and 24 ns (bench/receive.c on an AMD EPYC, gcc 12 -O2, 2026-11-28).

COMPILE-TIME OPTIONS

    PROF_RECEIVE_NVTX                      receives NVTX. Not with PROF_WITH_NVTX, which sends there
    PROF_RECEIVE_ITT                       receives ITT. Not with PROF_WITH_ITT

Any thread may call NVTX and ITT at any time, also before main, in a child of fork() and while a session starts or
stops. Not in a signal handler. A library that has this header must not be unloaded: both keep its addresses.
PROF_ENABLE=0 leaves everything out. Windows, and NVTX before version 2: nothing is received.

The interfaces are the public ones for tools: of NVTX 2 and 3 NvtxExportTableCallbacks, modules CORE and CORE2; of ITT
3 __itt_api_init(), and the list of its functions by name.
*/
