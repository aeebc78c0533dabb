/* implementation.c - the implementation alone, as a program keeps it in a file of its own. Compiled as C and as C++. */
#define PROF_IMPLEMENTATION
#include "prof_read.h"
