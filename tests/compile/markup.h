/* markup.h - code with markup in a header, as a library might ship it: every file that includes it gets its own copies
   of the call sites. Part of the source that tests/compile/ builds in every way; see markup.c. */
#ifndef MARKUP_H
#define MARKUP_H

#ifndef MARKUP_BARE /* stripped.sh takes the markup away with a header of its own */
#include "prof.h"
#endif

/* Scopes that end by themselves at the end of the block need gcc, clang or C++. */
#if defined(__GNUC__) || defined(__cplusplus) || defined(MARKUP_BARE) || !PROF_ENABLE
#define MARKUP_SCOPES 1
#else
#define MARKUP_SCOPES 0
#endif

/* The macro that finds out the type of its value needs _Generic or overloading. */
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L)
#define MARKUP_TYPED 1
#else
#define MARKUP_TYPED 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

static inline int markup_header(int value)
{
    PROFILE_BLOCK("header block") {
        PROFILE_MARK("header mark");
        ++value;
    }
#if MARKUP_SCOPES
    PROFILE_SCOPE("header scope");
#endif
    return value;
}

int markup_all(int value);  /* markup.c: every macro in every form; returns a number made from value */
int markup_live(int value); /* live.c */

#ifdef __cplusplus
}
#endif
#endif
