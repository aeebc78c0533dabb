/* prof_ntff.h - v0.1 - AWS Neuron for prof: the runtime's own captures, and NeuronCores on the time line of the host
                        - public domain or MIT-0; needs prof.h and nothing else; the licence is at the end of this file

QUICK START

    (to come)

CONTENTS

    >>loader     the Neuron runtime of the process, if there is one
    >>runtime    its profiling functions, one for one
    >>sessions   captures that libnrt writes: inspect, profiles of models, continuous profiles
    >>systrace   its system trace, in memory
    >>events     what a system trace and Neuron Explorer tell, as events
    >>json       their JSON
    >>clock      Unix time, the host's clock and the NeuronCores'
    >>kineto     trace.json for Neuron Explorer
    >>artifacts  the files of a session
*/
#ifndef PROF_NTFF_H
#define PROF_NTFF_H
#include "prof.h"

#ifdef __cplusplus
extern "C" {
#endif

/*-- EVENTS ------------------------------------------------------------------------------------------------- >>events -- */

typedef enum prof_ntff_source { /* who says so */
    PROF_NTFF_SOURCE_UNKNOWN = 0,
    PROF_NTFF_SOURCE_RUNTIME,   /* neuron_rt: libnrt on the host */
    PROF_NTFF_SOURCE_HARDWARE,  /* neuron_hw: a NeuronCore */
    PROF_NTFF_SOURCE_FRAMEWORK, /* framework: PyTorch, JAX */
    PROF_NTFF_SOURCE_HOST,
    PROF_NTFF_SOURCE_COUNT
} prof_ntff_source;

enum { /* prof_ntff_event.flags */
    PROF_NTFF_UNMATCHED_START = 1, /* its stop was not seen: duration_ns is 0 */
    PROF_NTFF_UNMATCHED_STOP = 2,  /* its start was not seen: so is start_ns the stop's */
    PROF_NTFF_REALIGNED = 4,       /* put into the host's time here, by a sync point, not by the runtime */
    PROF_NTFF_RAW_CLOCK = 8,       /* in the time of the NeuronCore: no sync point was there */
    PROF_NTFF_COUNTER = 16         /* a value at a time, not a piece of time: value */
};

/* One event, complete, in the host's time. What is not known is -1, of ids 0. Strings are valid during the call only. */
typedef struct prof_ntff_event {
    const char *name;
    prof_ntff_source source;
    int64_t start_ns, duration_ns; /* Unix time; duration_ns -1: an instant */
    int32_t nc_idx, core_idx, worker_gid;
    uint64_t tid, pid, tracking_id, exec_id, nrta_seq;
    double value;                  /* PROF_NTFF_COUNTER */
    const char *args;              /* JSON object: what else it said; not terminated */
    size_t args_size;
    unsigned flags;
} prof_ntff_event;

/* Not 0 ends what calls it, with PROF_OK. */
typedef int (*prof_ntff_event_fn)(void *user, const prof_ntff_event *event);

/* What a reader has seen, summed over calls. */
typedef struct prof_ntff_stats {
    uint64_t events, instants, pairs, unmatched_starts, unmatched_stops, realigned, raw_clock, errors;
    int data_version;
} prof_ntff_stats;

/* Starts whose stops were in no fetch yet, and sync points: from one piece of JSON to the next. */
typedef struct prof_ntff_parser prof_ntff_parser;

#if PROF_ENABLE
PROF_DEF prof_ntff_parser *prof_ntff_parser_create(void);
/* fn: hears of what still waits for its stop, PROF_NTFF_UNMATCHED_START; may be null. parser may be null. */
PROF_DEF void prof_ntff_parser_end(prof_ntff_parser *parser, prof_ntff_event_fn fn, void *user, prof_ntff_stats *stats);
/* The JSON of one nrt_sys_trace_fetch_events(). parser, stats: may be null. */
PROF_DEF prof_status prof_ntff_parse_systrace_json(prof_ntff_parser *parser, const char *json, size_t size,
                                                   prof_ntff_event_fn fn, void *user, prof_ntff_stats *stats);
/* A prof_ntff_event_fn: records it on a track of its NeuronCore, of the running session of prof. user is not used. */
PROF_DEF int prof_ntff_record(void *user, const prof_ntff_event *event);
#else
#endif

/*-- JSON ----------------------------------------------------------------------------------------------------- >>json -- */

/*-- CLOCK --------------------------------------------------------------------------------------------------- >>clock -- */

/*-- KINETO ------------------------------------------------------------------------------------------------- >>kineto -- */

/*-- ARTIFACTS ------------------------------------------------------------------------------------------- >>artifacts -- */

/*-- LOADER ------------------------------------------------------------------------------------------------- >>loader -- */

/*-- RUNTIME ----------------------------------------------------------------------------------------------- >>runtime -- */

/*-- SESSIONS --------------------------------------------------------------------------------------------- >>sessions -- */

/*-- SYSTEM TRACE ----------------------------------------------------------------------------------------- >>systrace -- */

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_NTFF_H */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && !defined(PROF__NTFF_IMPLEMENTED)
#define PROF__NTFF_IMPLEMENTED

#ifdef PROF__WRAPS_MALLOC /* what prof itself allocates is not the program's */
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
#define qsort(at, count, size, order) prof__quiet_sort(at, count, size, order)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*-- JSON ----------------------------------------------------------------------------------------------------- >>json -- */

/*-- CLOCK --------------------------------------------------------------------------------------------------- >>clock -- */

/*-- EVENTS ------------------------------------------------------------------------------------------------- >>events -- */

/*-- KINETO ------------------------------------------------------------------------------------------------- >>kineto -- */

/*-- ARTIFACTS ------------------------------------------------------------------------------------------- >>artifacts -- */

/*-- LOADER ------------------------------------------------------------------------------------------------- >>loader -- */

/*-- RUNTIME ----------------------------------------------------------------------------------------------- >>runtime -- */

/*-- SESSIONS --------------------------------------------------------------------------------------------- >>sessions -- */

/*-- SYSTEM TRACE ----------------------------------------------------------------------------------------- >>systrace -- */

#ifdef PROF__WRAPS_MALLOC
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef qsort
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
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
