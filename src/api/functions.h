// api/functions: PROFILE_FUNCTION, and the names that C++ gives it: with the class and the template's arguments.
#ifndef PROF__API_FUNCTIONS_H
#define PROF__API_FUNCTIONS_H
#include "api/macros.h"

#if defined(__cplusplus) && defined(__GNUC__) && PROF_ENABLE && !defined(PROF_SHORT_FUNCTION)
/* The name stands behind a byte that is 1 once the recorder has made it. */
extern "C++" {
template <size_t size> struct PROF__HIDDEN prof__function_title { char text[size]; };
} /* extern "C++" */
#define PROF__TITLE PROF__OF_LINE(prof__title_)
#define PROF__FUNCTION_ROOM (2 * sizeof __PRETTY_FUNCTION__) /* a parameter may stand in the name twice */
#define PROF__FUNCTION_SITE(variable, category, level, color)                                              \
    typedef void *variable##_needs_braces_around_it;                                                       \
    variable##_needs_braces_around_it variable;                                                            \
    PROF__UNLESS_COMPUTED {                                                                                \
        static prof__function_title<PROF__FUNCTION_ROOM + 1> PROF__TITLE;                                   \
        PROF__SITE_AS(prof_site, PROF__HERE, PROF__KIND_BEGIN, PROF__TITLE.text + 1, category, level, color, 0); \
        variable = &PROF__HERE;                                                                            \
    }
#define PROF__BEGIN_FUNCTION(site, level)                                                                  \
    __extension__({                                                                                        \
        const uint32_t prof__now_is = (level) <= PROF_MAX_LEVEL && PROF_ANY_ON() ? PROF__STATE(&(site)) : PROF__OFF; \
        PROF__LIKELY(!prof__now_is) ? prof__begin(&(site))                                                 \
            : prof__now_is != PROF__OFF ? prof__begin_function(&(site), __PRETTY_FUNCTION__, PROF__FUNCTION_ROOM) : 0; \
    })
#define PROF__FUNCTION(...) PROF__AGAIN(PROF__FUNCTION_(__VA_ARGS__))
#define PROF__FUNCTION_(id, category, level, color)                                                        \
    PROF__FUNCTION_SITE(prof__site_##id, category, level, color)                                           \
    PROF__GUARD(prof__scope_##id, PROF__BEGIN_FUNCTION(PROF__AT(prof__site_##id), level))
#define PROFILE_FUNCTION() PROF__FUNCTION(PROF_UNIQUE, PROF_CATEGORY, PROF_SITE_LEVEL, 0)
#define PROFILE_FUNCTION_C(category) PROF__FUNCTION(PROF_UNIQUE, category, PROF_SITE_LEVEL, 0)
#define PROFILE_FUNCTION_L(level) PROF__FUNCTION(PROF_UNIQUE, PROF_CATEGORY, level, 0)
#define PROFILE_FUNCTION_COLOR(color) PROF__FUNCTION(PROF_UNIQUE, PROF_CATEGORY, PROF_SITE_LEVEL, color)
#else
#if defined(_MSC_VER) && defined(__cplusplus) && !defined(PROF_SHORT_FUNCTION)
#define PROF__FUNCTION_NAME __FUNCTION__ /* Microsoft's compiler puts the class before it */
#else
#define PROF__FUNCTION_NAME __func__
#endif
#define PROFILE_FUNCTION() PROFILE_SCOPE(PROF__FUNCTION_NAME)
#define PROFILE_FUNCTION_C(category) PROFILE_SCOPE_C(PROF__FUNCTION_NAME, category)
#define PROFILE_FUNCTION_L(level) PROFILE_SCOPE_L(PROF__FUNCTION_NAME, level)
#define PROFILE_FUNCTION_COLOR(color) PROFILE_SCOPE_COLOR(PROF__FUNCTION_NAME, color)
#endif
#if defined(__has_attribute) && PROF_ENABLE
#if __has_attribute(__unavailable__)
extern __attribute__((__unavailable__("write PROFILE_FUNCTION(), with parentheses"))) int PROFILE_FUNCTION;
#endif
#endif

#endif /* PROF__API_FUNCTIONS_H */
