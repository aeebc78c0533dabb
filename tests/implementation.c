/* The implementation that test programs share: compiled once, and linked to each. */
#define PROF_IMPLEMENTATION
#define PROF_RECEIVE_NVTX
#define PROF_RECEIVE_ITT
#include "prof_chrome.h"
#include "prof_report.h"
#include "prof_xplane.h"
#include "prof_gl.h"
#include "prof_opencl.h"
#include "prof_receive.h"
