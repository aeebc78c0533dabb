/* libprof.so: the implementation for programs and plugins that are compiled without one. `make` builds it, `make install`
   puts it beside the headers. Link with -lprof, or preload it under a program whose plugins have only markup. On Linux
   it also records where any program that it is preloaded into waits: see PROF_WRAP_WAITS. With glibc, PROF_MALLOC in the
   environment records what the program allocates: see PROF_WRAP_MALLOC. */
#define PROF_IMPLEMENTATION
#if defined(__linux__) && defined(__GNUC__)
#define PROF_WRAP_WAITS
#define PROF_RECEIVE_NVTX
#define PROF_RECEIVE_ITT
#ifdef __has_include
#if __has_include(<gnu/libc-version.h>) /* glibc; no header may come before the implementation to say it */
#define PROF_WRAP_MALLOC 2
#define PROF_INSTRUMENT_MAX 65536
#endif
#endif
#endif
#include "prof_chrome.h"
#include "prof_cuda.h"
#include "prof_gl.h"
#include "prof_html.h"
#include "prof_ntff.h"
#include "prof_opencl.h"
#include "prof_report.h"
#include "prof_receive.h"
#include "prof_server.h"
#include "prof_system.h"
#include "prof_vulkan.h"
#include "prof_xplane.h"
