/* private.h - the headers with what is private of them, for a test that looks at it.

   Where the Makefile can have it so, this only declares the functions, of the implementation that all programs share:
   tests/declared.sh makes such headers. Otherwise it is an implementation for this program alone, which takes 3 s to
   compile. A test may replace functions of libc before, for the implementation:

       #define malloc test_malloc
       #include "private.h"
       #undef malloc

   and define void *test_malloc(size_t), which is not static. A switch of prof.h needs an implementation of its own:
   #define PROF_IMPLEMENTATION and #include "../prof.h". So do headers that are not here, after this one. */
#define PROF_IMPLEMENTATION
#include "prof_chrome.h"
#include "prof_report.h"
#ifdef _WIN32 /* words of windows.h */
#undef far
#undef near
#undef small
#undef max
#undef min
#endif
