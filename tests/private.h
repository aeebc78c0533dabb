/* private.h - an implementation for this program alone, which takes 2 s to compile: for a test that looks at what is
   private. It may replace functions of libc before:

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
