/* The recorder, compiled by itself, as a program of many files has it. */
#define PROF_IMPLEMENTATION
#include "prof_read.h"
