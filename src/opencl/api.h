// opencl/api: Declarations.
#ifndef PROF__OPENCL_API_H
#define PROF__OPENCL_API_H
#include "api/macros.h"
#include "api/options.h"
#include "api/types.h"

typedef struct prof_cl prof_cl;                          /* the events of this process */
typedef void (*prof_cl_function)(void);
typedef prof_cl_function prof_cl_load(const char *name); /* returns a function of OpenCL, or null */

/* All zero is the default. prof_cl_create() copies the texts. */
typedef struct prof_cl_options {
    uint32_t events;       /* how many may be on their way to a device and back, up to 65536; 0: 1024 */
    uint32_t calibrate_ms; /* how often prof_cl_collect() reads both clocks; 0: 1000; UINT32_MAX: only once */
    int no_arrows;         /* 1: no arrows from the scopes of the host */
    int no_timer;          /* 1: markers instead of clGetDeviceAndHostTimer(), where that is not the clock of events */
} prof_cl_options;

/* How many events there were so far. */
typedef struct prof_cl_info {
    uint64_t recorded;    /* their times were read, whether a session ran then or not */
    uint64_t pending;     /* not complete when they were last looked at */
    uint64_t full;        /* lost: the ring was full */
    uint64_t unprofiled;  /* lost: the queue has no profiling */
    uint64_t failed;      /* lost: the command failed */
    uint64_t refused;     /* lost: OpenCL returned an error instead of times */
    uint64_t timeless;    /* lost: the times are zero, or in the wrong order */
    uint64_t destroyed;   /* lost: prof_cl_destroy() came before they were complete */
} prof_cl_info;

#if PROF_ENABLE
/* Finds OpenCL. load may be NULL. Returns NULL, and prof_error() says why, if OpenCL is not there or lacks a function,
   an option is out of range or memory runs out. */
PROF__API prof_cl *prof_cl_create(prof_cl_load *load, const prof_cl_options *options);
/* Lets go of all events. Returns what prof_cl_collect() does. */
PROF__API prof_status prof_cl_destroy(prof_cl *cl);
/* Names the queue's track. queue: a cl_command_queue. Returns PROF_INVALID_STATE if the queue has events already,
   PROF_INVALID_ARGUMENT if it is none, PROF_NO_MEMORY. */
PROF__API prof_status prof_cl_queue_name(prof_cl *cl, void *queue, const char *name);
/* Records what is complete, without waiting for the rest. Returns PROF_INVALID_STATE if events were lost since the last
   call: prof_error() says how many and why. If another thread is collecting, it does nothing. */
PROF__API prof_status prof_cl_collect(prof_cl *cl);
/* Waits until all events are complete, and records them. Returns what prof_cl_collect() does. An event that waits for a
   user event of the program waits here, too. */
PROF__API prof_status prof_cl_finish(prof_cl *cl);
PROF__API prof_status prof_cl_get_info(prof_cl *cl, prof_cl_info *info);
/* What PROFILE_CL_EVENT calls. queue: a cl_command_queue, event: a cl_event; a null event is ignored. name is copied,
   up to 95 bytes. */
PROF__API void prof_cl_event(prof_cl *cl, void *queue, void *event, const char *name);
/* What PROFILE_CL_ENQUEUE calls: begins an arrow at the scope of this thread, and returns its id, which the second
   takes. 0: no arrow. */
PROF__API uint64_t prof_cl_arrow(prof_cl *cl);
PROF__API void prof_cl_event_of(prof_cl *cl, void *queue, void *event, const char *name, uint64_t arrow);
#else
#define prof_cl_create(load, options) PROF__STRIPPED(PROF__STRIPPED_OBJECT(prof_cl *), PROF__USE2(load, options))
#define prof_cl_destroy(cl) PROF__STRIPPED(PROF_OK, PROF__USE(cl))
#define prof_cl_queue_name(cl, queue, name) PROF__STRIPPED(PROF_OK, PROF__USE3(cl, queue, name))
#define prof_cl_collect(cl) PROF__STRIPPED(PROF_OK, PROF__USE(cl))
#define prof_cl_finish(cl) PROF__STRIPPED(PROF_OK, PROF__USE(cl))
#define prof_cl_get_info(cl, info) \
    PROF__STRIPPED((prof__stripped_none(info, sizeof(prof_cl_info)), PROF_OK), PROF__USE(cl))
#define prof_cl_event(cl, queue, event, name) PROF__STRIPPED((void)0, PROF__USE4(cl, queue, event, name))
#define prof_cl_arrow(cl) PROF__STRIPPED(PROF__TO(uint64_t, 0), PROF__USE(cl))
#define prof_cl_event_of(cl, queue, event, name, arrow) \
    PROF__STRIPPED((void)0, (0 ? (void)(arrow) : PROF__USE4(cl, queue, event, name)))
#endif

/* Makes a call that queues a command, and records when the device did it:
   PROFILE_CL_ENQUEUE(cl, queue, event, "matmul", error = clEnqueueNDRangeKernel(queue, ..., &event)). event is null
   before, so that it is where the call fails. With PROF_ENABLE=0 the call is made, too. name may be of run time. */
#define PROFILE_CL_ENQUEUE(cl, queue, event, name, ...)                                                    \
    PROF__EITHER(do {                                                                                      \
                     const uint64_t prof__arrow = prof_cl_arrow(cl);                                       \
                     __VA_ARGS__;                                                                          \
                     prof_cl_event_of(cl, queue, event, PROF__TEXT(name), prof__arrow);                    \
                 } while (0),                                                                              \
                 do { __VA_ARGS__; PROF__USE4(cl, queue, event, name); } while (0))
/* Records when the device did the command of this event: put it after the call that returned the event. It has no arrow
   if the command began before that. */
#define PROFILE_CL_EVENT(cl, queue, event, ...)                                                            \
    PROF__EITHER(prof_cl_event(cl, queue, event, PROF__TEXT(__VA_ARGS__)),                                 \
                 PROF__USE4(cl, queue, event, (__VA_ARGS__)))

#endif /* PROF__OPENCL_API_H */
