/* shared.c - one of the files that include shared.h: PART 0, 1 or 2, which differ in how many macros are before. */
#include "prof.h"
#if PART == 1
static inline void before(void)
{
    PROFILE_SCOPE("before");
    PROFILE_ARG_I("before", 1);
    PROFILE_MARK("before");
}
#elif PART == 2
#define MORE
static inline void before_this(void)
{
    PROFILE_SCOPE("one");
    PROFILE_STEP("two", 2);
    PROFILE_COUNTER_ADD("three", 3);
    PROFILE_STAGE("four");
}
#endif
#include "shared.h"

#if PART == 0
#ifndef __cplusplus
extern inline void c99(void);
#endif
void part_0(void);
void part_0(void) { call_all(); }
#elif PART == 1
void part_1(void);
void part_1(void) { call_all(); before(); }
#else
void part_2(void);
void part_2(void) { call_all(); before_this(); }
#endif
