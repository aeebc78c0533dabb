/* The implementation, for the tests that use nothing but what a program may use: compiled once, and linked to each. */
#define PROF_IMPLEMENTATION
#include "prof_chrome.h"
#include "prof_report.h"
