// image/kinds: The table of what is recorded: kinds of records, types of events and values, roles of call sites.
#ifndef PROF__IMAGE_KINDS_H
#define PROF__IMAGE_KINDS_H

/*-- KINDS ------------------------------------------------------------------------------------------------- >>kinds --
   All that has a number in the records of an image, one row for each. X is a macro that makes something of a row: so
   code gets its constants and arrays. src/kinds.sh makes text of the rows when the headers are assembled: the enums of
   C, the tables of docs/format.md, the constants of the page's decoder and of examples/read_trace.py.

   A new kind of event is a row at the end of PROF__EVENTS, with the next number, and a macro or function that records
   it with prof__event(). All readers and exporters show it at once: as an instant, if it is of no group that they show
   in another way. Numbers of older rows never change, because images hold them. */

/* The kinds of records in a chunk. X(name, code, words, timed, sited, shown, named, valued, holds, layout, by):
     words    of the record; PROF__IN_HEAD: bits 15..0 of the head say how many follow it
     timed    1: bits 39..0 of the head are ticks
     sited    1: bits 59..40 of the head are a call site, or 0
     shown    1: readers make an event of it, but for an EVENT of a type that they do not know
     named    1: a NAME after it is its name, but for an EVENT that is a flow
     valued   1: DATA after it are its arguments (after a FRAME and its number, those of the frame that it ends)
     holds    the prof_value_type of the words after the head; NONE: other numbers; TYPED: the head says which
     layout   bits of the head; and the other words
     by       what it is written for */
#define PROF__KINDS(X)                                                                                                \
    X(NONE, 0, 0, 0, 0, 0, 0, 0, NONE, "not written yet", "")                                                         \
    X(BEGIN, 1, 1, 1, 1, 1, 1, 0, NONE, "call site 59..40, ticks 39..0", "the begin of a scope")                      \
    X(END, 2, 1, 1, 1, 0, 0, 0, NONE, "call site, ticks", "the end of a scope")                                       \
    X(MARK, 3, 1, 1, 1, 1, 1, 1, NONE, "call site, ticks", "an instant")                                              \
    X(COUNTER_INT, 4, 2, 1, 1, 1, 0, 0, INT, "call site, ticks; the value, signed", "a counter")                      \
    X(COUNTER_DOUBLE, 5, 2, 1, 1, 1, 0, 0, DOUBLE, "call site, ticks; the value, IEEE 754", "a counter")              \
    X(FRAME, 6, 1, 1, 1, 1, 0, 1, NONE, "call site, ticks", "a frame's boundary")                                     \
    X(ARG, 7, PROF__IN_HEAD, 0, 1, 0, 0, 0, TYPED, "a value: see below", "an argument of a scope")                    \
    X(NAME, 8, PROF__IN_HEAD, 0, 0, 0, 0, 0, STRING,                                                                  \
      "n in bits 15..0, v in bits 20..16; a text: the run-time name of the BEGIN, MARK or EVENT directly before it. " \
      "Not of a flow. If v is not 0, the text is a format, and v values for it follow: see below",                    \
      "a name made at run time")                                                                                      \
    X(TRACK, 9, 3, 0, 0, 0, 0, 0, NONE,                                                                               \
      "bits 59..32: serial, low 28 bits; 31: a fiber; 30: the system named it; 29..0: name (string id). Track id "    \
      "(39..0) and serial, bits 51..28 (63..40). Thread id", "a thread or fiber that begins to use the chunk")        \
    X(LOST, 10, 1, 0, 0, 1, 0, 0, NONE, "bits 39..0: how many events are missing here", "events that were lost")      \
    X(EVENT, 11, 3, 1, 1, 1, 1, 1, NONE,                                                                              \
      "call site, ticks; type (7..0) and detail (63..8); object", "all other events: see below")                      \
    X(DATA, 12, PROF__IN_HEAD, 0, 1, 0, 0, 0, TYPED, "a value: see below",                                            \
      "an argument of an instant, FRAME or EVENT")                                                                    \
    X(COUNTER_UINT, 13, 2, 1, 1, 1, 0, 0, UINT, "call site, ticks; the value, unsigned", "a counter")

#define PROF__IN_HEAD 15

/* The types of events: prof_event_type. An EVENT has one from SPAN_BEGIN on; those before are of records of their
   own. There is room for 200. X(name, code, group, object, text, one, many, what), in the order of the codes:
     group    those that readers treat alike
     object   the prof_value_type of its object: UINT, an id, or POINTER, an address; NONE: it has none
     text     its name in CSV
     one      its name for people, and many, the plural
     what     the fields of prof_event that it has */
#define PROF__EVENTS(X)                                                                                               \
    X(SCOPE, 0, SCOPE, NONE, "scope", "scope", "scopes", "duration_ns, depth, flags, args")                           \
    X(MARK, 1, MARK, NONE, "mark", "mark", "marks", "an instant; args")                                               \
    X(COUNTER, 2, COUNTER, NONE, "counter", "counter sample", "counter samples", "value")                             \
    X(FRAME, 3, FRAME, NONE, "frame", "frame boundary", "frame boundaries",                                           \
      "the boundary between two frames; duration_ns: since the boundary before, 0 for the first; detail: the number " \
      "of the frame that it ends, counted for each name and track from 1 on, also those that a ring has "             \
      "overwritten; 0 for the first boundary")                                                                        \
    X(LOST, 4, LOST, NONE, "lost", "loss", "losses",                                                                  \
      "value.as.u scopes or other events could not be recorded before this point")                                    \
    X(SPAN_BEGIN, 5, SPAN, UINT, "span_begin", "span begin", "span begins",                                           \
      "object: the span's id, the same for its begin and end, on any threads; args")                                  \
    X(SPAN_MARK, 6, SPAN, UINT, "span_mark", "span mark", "span marks", "object: the span's id; args")                \
    X(SPAN_END, 7, SPAN, UINT, "span_end", "span end", "span ends", "object: the span's id; args")                    \
    X(FLOW_OUT, 8, FLOW, UINT, "flow_out", "flow begin", "flow begins",                                               \
      "object: the flow's id; args. An arrow leads from the scope around it ...")                                     \
    X(FLOW_STEP, 9, FLOW, UINT, "flow_step", "flow step", "flow steps", "object: the flow's id; args")                \
    X(FLOW_IN, 10, FLOW, UINT, "flow_in", "flow end", "flow ends",                                                    \
      "object: the flow's id; args. ... to the scope around this one")                                                \
    X(ALLOC, 11, MEMORY, POINTER, "alloc", "allocation", "allocations", "object: the address; detail: bytes")         \
    X(FREE, 12, MEMORY, POINTER, "free", "free", "frees",                                                             \
      "object: the address; detail: 1: of this pool, 2: it was freed some time ago")                                  \
    X(LOCK_WAIT, 13, LOCK, POINTER, "lock_wait", "lock wait", "lock waits",                                           \
      "object: the lock's address; detail: 1: another thread had it")                                                 \
    X(LOCK_ACQUIRE, 14, LOCK, POINTER, "lock_acquire", "lock acquisition", "lock acquisitions",                       \
      "object: the lock's address")                                                                                   \
    X(LOCK_RELEASE, 15, LOCK, POINTER, "lock_release", "lock release", "lock releases", "object: the lock's address") \
    X(LOG, 16, MESSAGE, NONE, "log", "message", "messages",                                                           \
      "detail: prof_severity, from 0 (debug) to 4 (fatal); value: the message; args: its values, without keys")

/* The types of EVENTs of devices, and of the processors, which are on no thread's track: see >>device and >>system.
   X(name, code, what) */
#define PROF__DEVICE_EVENTS(X)                                          \
    X(SCOPE, 200, "a scope")                                            \
    X(MARK, 201, "an instant")                                          \
    X(COUNTER, 202, "a counter")                                        \
    X(PAIR, 203, "a pair of clocks")                                    \
    X(SWITCHES, 204, "threads that a processor began or ceased to run") \
    X(SAMPLES, 205, "what threads were in the middle of")               \
    X(DELAYS, 206, "how long threads had been ready so far")            \
    X(FAULTS, 207, "pages that threads had waited for")

/* What a call site records, besides the kind: prof_role. X(name, code, what), in the order of the codes */
#define PROF__ROLES(X)                                                                                                \
    X(NONE, 0, "")                                                                                                    \
    X(STEP, 1, "a scope that is one step of a loop; its argument step_num is the number")                             \
    X(THROUGHPUT, 2, "a scope that moved data; its argument bytes says how much")                                     \
    X(SYNC, 3, "a scope that waits for a device before it ends")                                                      \
    X(MARK_GLOBAL, 4, "an instant that concerns all processes")                                                       \
    X(MARK_PROCESS, 5, "an instant that concerns this process")                                                       \
    X(MARK_TASK, 6, "an instant that concerns a task")                                                                \
    X(MARK_MARKER, 7, "an instant that concerns the point alone; without a role, its thread")                         \
    X(TASK, 8, "a span, or scope, of prof_task_create()")                                                             \
    X(DEVICE, 9, "events of a device; its name is their category")                                                    \
    X(FRAME, 10, "a span of prof_frame_create()")                                                                     \
    X(MEMORY, 11, "a PROFILE_MEMORY_SCOPE, PROFILE_ALLOC or PROFILE_FREE")                                            \
    X(LOCK, 12, "a PROFILE_LOCK_WAIT, _ACQUIRE or _RELEASE")                                                          \
    X(RANGE, 13, "a scope of prof_range_create()")                                                                    \
    X(WAIT, 14, "a scope that is a wait in a call of the C library: see PROF_WRAP_WAITS")                             \
    X(SHARED, 15, "a point of a flow whose id means the same in all processes: see PROFILE_FLOW_OUT_SHARED")

/* The types of values: prof_value_type. X(name, code, what) */
#define PROF__VALUES(X)                                                                                               \
    X(NONE, 0, "")                                                                                                    \
    X(INT, 1, "signed")                                                                                               \
    X(UINT, 2, "unsigned")                                                                                            \
    X(DOUBLE, 3, "IEEE 754")                                                                                          \
    X(BOOL, 4, "0 or not")                                                                                            \
    X(POINTER, 5, "an address")                                                                                       \
    X(STRING, 6, "text")

/* The kinds of records of meta. X(name, code, words after the head) */
#define PROF__META(X)                                                                                                 \
    X(STRING, 1, "the text, padded with zeros to whole words")                                                        \
    X(SITE, 2, "a call site: four words and, for a counter with a unit, a fifth: see below")                          \
    X(SESSION, 3,                                                                                                     \
      "metadata: a key and a value, two texts, one after the other; its id is 0. A later value replaces an "          \
      "earlier one; an empty key removes all before it. Key prof.tasks, value fibers: fibers are tasks of a "         \
      "kernel, and the thread id of a TRACK is the processor")                                                        \
    X(DEVICE, 4,                                                                                                      \
      "name (string id, bits 31..0) and bits of its counter (63..32); ticks per second; eight pairs of three "        \
      "words: ticks, CLOCK_MONOTONIC, check")                                                                         \
    X(ROW, 5, "name (string id, bits 31..0) and device (63..32)")                                                     \
    X(THREAD, 6, "a track. The id is that of the string which the system calls the track's thread by now")            \
    X(RATE, 7, "ticks per second as measured in the start, to 1 %: shows whether the clocks agree later")             \
    X(MODULE, 8,                                                                                                      \
      "a part of the program or of a library that has code: its first address; the address behind it; the place of "  \
      "its first byte in the file; since when it is known (CLOCK_MONOTONIC, ns; 0: from the start); path (string id, "\
      "bits 31..0) and build id (a string of hexadecimal digits, 63..32)")

#endif /* PROF__IMAGE_KINDS_H */
