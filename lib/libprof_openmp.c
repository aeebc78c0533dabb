/* libprof_openmp.so: libprof.so with prof_openmp.h, for programs that nobody compiled with it: `make openmp` builds it.
   Preload it instead of libprof.so. */
#include "libprof.c"
#include "prof_openmp.h"
