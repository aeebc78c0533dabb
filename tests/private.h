/* private.h - for a test that looks at what is private. Such programs share an implementation whose private parts are
   global: tests/apart.awk makes it. A test may replace functions of libc in it:

       void *test_malloc(size_t size);
       #define malloc test_malloc
       #include "private.h"
       #undef malloc

   A switch of prof.h needs #define PROF_IMPLEMENTATION and #include "../prof.h" instead. Other headers come after. */
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
