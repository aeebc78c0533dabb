// ntff/manual: What users read.
/* prof_ntff.h - v0.1 - AWS Neuron for prof: the runtime's own captures, and NeuronCores on the time line of the host
                        - public domain or MIT-0; needs prof.h and nothing else; the licence is at the end of this file

QUICK START

    #define PROF_IMPLEMENTATION            // in exactly one file of the program, C or C++
    #include "prof_ntff.h"                 // includes prof.h
    #include "prof_chrome.h"               // the writer of .json

    int main(void)
    {
        prof_config config = {0};
        config.output = "timeline.json";
        // ... nrt_init(), or the first operation of the framework
        prof_start(&config);
        prof_ntff_systrace_start(NULL);    // what the runtime and its NeuronCores do, from memory
        for (int i = 0; i < 100; ++i) {
            PROFILE_STEP("train", i);
            // ... nrt_execute()
        }
        prof_ntff_systrace_stop(NULL);     // before prof_stop() and nrt_close()
        return (int)prof_stop();           // steps, scopes and executions on one time line: ui.perfetto.dev
    }

The runtime's own profile, for Neuron Explorer, with the program's scopes in it:

        char folder[PROF_NTFF_PATH];
        prof_ntff_config session = {0};
        session.activities = PROF_NTFF_SYSTEM | PROF_NTFF_DEVICE;
        prof_ntff_session_begin(&session);
        // ... what is of interest
        prof_ntff_session_end(folder);     // .ntff, .neff, ntrace.pb, trace_info.pb, trace.json are there

examples/neuron.c does the first without a device. Link with -ldl where the C library wants it.

WHAT IT IS, AND WHAT IT IS NOT

    A bridge between prof and the profiler of AWS Neuron. It (1) starts and stops the captures of the runtime of the
    process, libnrt, which write .ntff, .neff and .pb; (2) reads what the runtime and Neuron Explorer say in JSON,
    and puts it on prof's time line, into every exporter; (3) writes the program's scopes as trace.json beside the
    runtime's files, in the shape of PyTorch's profiler; (4) finds these files, and says what is wrong with them.
    NTFF files are the runtime's: their format is not public, so this header neither writes nor reads any. Nothing
    of Neuron is needed to compile or link, and (2) to (4) work on any machine: PROF_UNSUPPORTED is all that happens
    where there is no runtime.

WHAT WAS VERIFIED, AND HOW

    Against AWS's public headers (SDK 2.32): 60 of the 62 prototypes, by compilers. tests/compile/neuron.sh does it
    again with the headers of any version. nrt_inspect_config_set_inspect_device_profile_mode is in no header, and
    its numbers are known from second hand; nrt_inspect_get_instance_output_dir, too, and is not used here.
    Against a runtime that is a fake, made from the documentation (tests/fake_nrt.c): everything else. That shows in
    which order this header calls what, that it frees what it gets, and what it makes of errors and of JSON. It does
    not show that a real runtime does as documented. Nothing has run on a machine with NeuronCores yet.
    tools/check_on_trn.sh FILE.neff does there what is missing: it executes the NEFF, captures it in every way,
    checks that executions lie within the scopes around them, and that Neuron Explorer reads the sessions. What is
    not known until then: whether Explorer shows a trace.json that PyTorch has not written; whether timestamp_ns is
    in the host's time in every version (if not it is noticed, and put there by the sync points); how the folders of
    sessions are called in each.

WHAT GOES WRONG MOST OFTEN

    Two captures. The runtime has one of a kind, whoever began it. NEURON_RT_INSPECT_ENABLE=1 in the environment,
    the profiler of PyTorch or JAX, and this header exclude one another; so do a system trace and an inspect session
    with the system profile, a continuous profile and one with the device profile. What can be seen from here is
    refused beforehand, with PROF_INVALID_STATE and the reason; the rest says the runtime, and prof_error() adds who
    it may be.
    Order. nrt_init() - prof_ntff_..._begin, _start - work - _end, _stop - nrt_close(). After nrt_close() a capture
    is lost.
    A session writes its files in prof_ntff_session_end(): a process that is killed has none.
    Little room. The runtime's ring drops what is oldest, and does not say so: call prof_ntff_systrace_fetch() now
    and then, and look at unmatched_stops of its stats.
    Device profiles reserve gigabytes of the device's memory. PROF_NTFF_SYSTEM alone takes host memory only.
    fork(). A child has its parent's captures, but not its runtime: everything about them is PROF_INVALID_STATE
    there.
    Threads. Any, at any time, but nothing here in signal handlers; what two of them begin at once one of them gets.
    libnrt itself catches SIGTERM and SIGINT while an inspect session is open.
    Keys. NEURON_RT_INSPECT_OUTPUT_DIR and the others, given to prof_config_set() (or on a command line that passes
    them on), say how prof_ntff_session_begin(NULL) begins. The environment itself is the runtime's: nothing here
    reads these variables but for finding out whether a capture is open.

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
#include "prof.h" /* each time, because the last one may be that of PROF_IMPLEMENTATION */
