// opencl/manual: What users read.
/* prof_opencl.h - what devices do for OpenCL, on the time line of the program's scopes - public domain or MIT-0; needs
                   prof.h and libc, no header of OpenCL and no library; the licence is at the end of this file

QUICK START

    #define PROF_IMPLEMENTATION            // in exactly one file of the program, C or C++
    #include "prof_opencl.h"               // includes prof.h

    prof_cl *gpu = prof_cl_create(NULL, NULL);
    queue made with CL_QUEUE_PROFILING_ENABLE
    PROFILE_CL_ENQUEUE(gpu, queue, event, "matmul", error = clEnqueueNDRangeKernel(queue, kernel, ..., &event));
    clReleaseEvent(event);                 // as before: prof holds the event itself for as long as it needs it
    prof_cl_collect(gpu);                  // now and then: records what is complete, without waiting
    prof_cl_finish(gpu);                   // before prof_stop(): waits for the rest
    prof_cl_destroy(gpu);

WHAT IT RECORDS

    The device "OpenCL NAME OF THE DEVICE" has a track for each queue, "queue 1" and so on, or the name that
    prof_cl_queue_name() gave. A scope there lasts from the command's start to its end. Its arguments say how long the
    command was in the queue of the host (queued_ns: until it was submitted to the device) and in that of the device
    (submitted_ns: until it started). An arrow leads to each from the scope of the host that queued it. Commands of an
    out-of-order queue that overlap are on further tracks, "queue 1 #2" and so on. The category of all of them is the
    device's name.

    PROFILE_CL_ENQUEUE retains the event, and puts it into a ring. PROFILE_CL_EVENT(gpu, queue, event, "matmul") after
    a call does so, too; its arrow is missing where the command began before the call had returned. prof_cl_collect()
    asks each event whether it is complete; of a queue that is in order it stops at the first that is not. If the ring
    is full, an event that is added collects by itself. While nothing is recorded, it does nothing. Memory is
    allocated when a queue is first seen.

    Clocks. A device's first event reads its clock beside the host's, then one a second (options.calibrate_ms): with
    clGetDeviceAndHostTimer(), of OpenCL 2.1. Where that does not work it puts four markers into the queue, and reads
    their times later; where these leave more than 4 us open, again after the next event, up to four times. A marker
    waits for the commands before it, and nothing waits for a marker.

WHAT IT NEEDS

    OpenCL 1.2, and queues with CL_QUEUE_PROFILING_ENABLE: events of others have no times, which is said once.
    prof_cl_create(NULL, ...) finds OpenCL in the process or loads it: libOpenCL.so.1, OpenCL.dll, OpenCL.framework. A
    program that has its own loader passes it. If something is missing, prof_cl_create() returns NULL and prof_error()
    says what; everything else does nothing with a NULL. Any thread may call these functions; prof_cl_destroy() comes
    after all others. One prof_cl serves for all queues, contexts and devices of the process.

WHAT IS LOST

    prof_cl_collect() and prof_cl_finish() return PROF_INVALID_STATE if events were lost since the last call, and
    prof_error() says how many and why; the recording's metadata say it, too. The ring was full (options.events: 1024
    are on their way); the queue has no profiling; the command failed; OpenCL refused to tell, with its error; the
    device gave no times; prof_cl_destroy() came before they were complete.

WHAT IT COSTS

    24 ns for each event on the host, and what clRetainEvent() and two clGetCommandQueueInfo() take, which tell whether
    the queue at this address is still the same one; 90 ns when it is collected. Markers take the host
    0.1 ms a second on pocl.
*/
