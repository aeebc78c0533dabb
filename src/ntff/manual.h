// ntff/manual: The manual for users.
/* prof_ntff.h - AWS Neuron for prof: the runtime's own captures, and NeuronCores on the time line of the host
                 - public domain or MIT-0; needs prof.h and nothing else; the licence is at the end of this file

QUICK START

    #define PROF_IMPLEMENTATION            // in exactly one file of the program, C or C++
    #include "prof_ntff.h"                 // includes prof.h
    #include "prof_chrome.h"               // the writer of .json

    int main(void)
    {
        prof_config config = {0};           // in C++: = {}
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
        prof_ntff_config session = {0};     // in C++: = {}
        session.activities = PROF_NTFF_SYSTEM | PROF_NTFF_DEVICE;
        prof_ntff_session_begin(&session);
        // ... what is to be profiled
        prof_ntff_session_end(folder);     // has written .ntff, .neff, ntrace.pb, trace_info.pb and trace.json there

examples/neuron.c does the first without a device. Link with -ldl if the C library needs that.

WHAT IT IS, AND WHAT IT IS NOT

    This header connects prof with the profiler of AWS Neuron. It (1) starts and stops the captures of libnrt, the
    runtime in the process, which write .ntff, .neff and .pb; (2) reads the JSON of the runtime and of Neuron Explorer,
    and puts its events on prof's time line, and so into every exporter; (3) writes the program's scopes as trace.json
    beside the runtime's files, in the format of PyTorch's profiler; (4) finds these files, and says what is wrong with
    them. Only the runtime writes NTFF files: their format is not public, so this header neither writes nor reads them.
    Compiling and linking need nothing of Neuron, and (2) to (4) work on any machine. Without a runtime, the functions
    that need one return PROF_UNSUPPORTED.

WHAT WAS VERIFIED, AND HOW

    Compilers have checked 60 of the 62 prototypes against AWS's public headers (SDK 2.32); tests/compile/neuron.sh does
    so with the headers of any version. The other two are in no header: nrt_inspect_config_set_inspect_device_profile_
    mode, whose values are known from public code of AWS, and nrt_inspect_get_instance_output_dir, which nothing here
    calls.
    Everything else was tested with a fake runtime that was made from the documentation (tests/fake_nrt.c). That shows
    the order of this header's calls, that it frees what it gets, and how it handles errors and JSON. It does not show
    that a real runtime does what its documentation says. Nothing has run on a machine with NeuronCores yet.
    tools/check_on_trn.sh FILE.neff is the missing test for such a machine: it executes the NEFF, captures it in every
    way, and checks that executions lie within the scopes around them, and that Neuron Explorer reads the sessions.
    Until then it is not known whether Explorer shows a trace.json that PyTorch has not written, whether timestamp_ns is
    in the host's time in every version (if not, this header notices, and converts it by the sync points), and how each
    version names the folders of sessions.

WHAT GOES WRONG MOST OFTEN

    Two captures. The runtime can have one capture of each kind, whoever began it. NEURON_RT_INSPECT_ENABLE=1 in the
    environment, the profiler of PyTorch or JAX, and this header exclude one another. So do a system trace and an
    inspect session with the system profile, and a continuous profile and an inspect session with the device profile.
    If this header knows of the other capture, it returns PROF_INVALID_STATE, and prof_error() has the reason. Else the
    runtime refuses the second one, and prof_error() says what the other may be.
    Order. nrt_init() - prof_ntff_..._begin, _start - work - _end, _stop - nrt_close(). After nrt_close() a capture
    is lost.
    No files. A session writes its files in prof_ntff_session_end(): a process that is killed writes none.
    A full ring. The runtime's ring drops its oldest events without a notice: call prof_ntff_systrace_fetch() often, and
    look at unmatched_stops of its stats.
    Memory. Device profiles reserve gigabytes of the device's memory. PROF_NTFF_SYSTEM alone takes host memory only.
    fork(). A child has its parent's captures, but not its runtime: functions that concern them return
    PROF_INVALID_STATE there.
    Threads. Any thread may call these functions at any time, but not in signal handlers. If two threads begin the same
    capture at once, one of them succeeds. libnrt itself catches SIGTERM and SIGINT while an inspect session is open.
    Keys. NEURON_RT_INSPECT_OUTPUT_DIR and the others can be given to prof_config_set() (or on a command line that is
    passed to it), and say how prof_ntff_session_begin(NULL) begins. The variables of the environment are for the
    runtime: this header reads them only to find out whether a capture is open.

CONTENTS

    >>loader     the Neuron runtime of the process, if there is one
    >>runtime    its profiling functions, under their own names
    >>sessions   captures that libnrt writes to files: inspect, profiles of models, continuous profiles
    >>systrace   its system trace, in memory
    >>events     the events of a system trace and of Neuron Explorer
    >>json       reads their JSON
    >>clock      Unix time, the host's clock and the NeuronCores' clocks
    >>kineto     trace.json for Neuron Explorer
    >>artifacts  the files of a session
*/
