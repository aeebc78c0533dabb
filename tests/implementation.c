/* The implementation that test programs share: compiled once, and linked to each. */
#if defined(__clang__) || defined(DIALECT) /* it would leave out what only other headers call: programs that include private.h may do so */
#define _GNU_SOURCE 1
#include "prof.h" /* what is not the implementation */
#undef PROF__UNUSED
#define PROF__UNUSED __attribute__((__used__))
#pragma clang diagnostic ignored "-Wignored-attributes" /* used: of parameters and local variables */
#endif
#define PROF_IMPLEMENTATION
#include "prof_chrome.h"
#include "prof_report.h"
