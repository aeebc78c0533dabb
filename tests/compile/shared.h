/* shared.h - functions with markup, in a header that several files include: see shared.sh. In C++ these files share
   one copy of each, or inline their own; in both cases each event must get its own name.

   A name has its function, what it is and how often one call of the function records it: "method: scope x2". Categories
   are like that, too, where there is one. x0: not counted, because files differ in it.
   INLINED: nothing, or what makes a compiler inline a function that it thinks is too large. */
#ifndef SHARED_H
#define SHARED_H
#include "prof.h"
#include <stdlib.h>

#ifndef _WIN32
#include <pthread.h>
extern pthread_mutex_t shared_mutex;
#endif

#define TIMES(n) for (int time_##n = 0; time_##n < n; ++time_##n)
#define SCOPE(name) PROFILE_SCOPE_C(name, name)

/* A line of a function of the program that expands to several sites: all have the same line. */
#define SCOPES(f)                                                                                                     \
    TIMES(2) { SCOPE(f ": scope x2"); PROFILE_ARG_I(f ": arg x2", 2); PROFILE_ARG_S(f ": text x2", "x2"); }           \
    TIMES(3) { SCOPE(f ": two x3"); SCOPE(f ": of a block x3"); }                                                     \
    TIMES(4) { PROFILE_SCOPE_DYNAMIC(f ": run-time name x4"); PROFILE_SCOPE_F(f ": format x%d", 4); }                 \
    TIMES(4) { PROFILE_SCOPE_TEXT(f ": length x4 of more", sizeof f ": length x4" - 1); }                             \
    TIMES(2) { PROFILE_SCOPE_MASK(f ": mask x2", 1); PROFILE_SCOPE_SYNC(f ": sync x2"); }                             \
    TIMES(3) { PROFILE_STEP(f ": step x3", 3); PROFILE_THROUGHPUT(f ": throughput x3", 3); }                          \
    TIMES(4) { PROFILE_STEP_DYNAMIC(f ": named step x4", 4); PROFILE_THROUGHPUT_DYNAMIC(f ": named throughput x4", \
    4); }                                                                                                             \
    TIMES(2) { PROFILE_STAGE(f ": stage x2"); PROFILE_NEXT(f ": next x2"); PROFILE_NEXT(f ": last x2"); }             \
    TIMES(3) PROFILE_BLOCK_C(f ": block x3", f ": block x3") PROFILE_BLOCK(f ": inner block x3") {}                   \
    TIMES(4) { PROFILE_BEGIN(f ": begin x4"); PROFILE_END(f ": begin x4"); }                                          \
    TIMES(2) { PROFILE_MEMORY_SCOPE(f ": memory x2"); PROFILE_SCOPE_COLOR(f ": colour x2", 0xff0000); }               \
    TIMES(5) {                                                                                                        \
        PROFILE_SCOPE_AS(handle, f ": handle x5");                                                                    \
        PROFILE_ARG_TO_I(handle, f ": to x5", 5);                                                                     \
    }
#define EVENTS(f)                                                                                                     \
    TIMES(2) PROFILE_MARK_C(f ": mark x2", f ": mark x2");                                                            \
    TIMES(3) { PROFILE_MARK_DYNAMIC(f ": run-time mark x3"); PROFILE_MARK_F(f ": formatted mark x%d", 3); }           \
    TIMES(4) { PROFILE_MARK_REACH(f ": wide mark x4", PROF_MARK_PROCESS); PROFILE_FRAME(f ": frame x4"); }            \
    TIMES(2) { PROFILE_COUNTER_C(f ": counter x2", 2, f ": counter x2"); PROFILE_COUNTER(f ": real x2", 2.0); }       \
    TIMES(2) { PROFILE_COUNTER_UNIT(f ": unit x2", 2, "MHz"); PROFILE_COUNTER_ADD_UNIT(f ": unit sum x2", 2, "B"); }  \
    TIMES(3) { PROFILE_COUNTER_ADD(f ": sum x3", 1); PROFILE_COUNTER_SET(f ": set x3", 3); }                          \
    TIMES(4) PROFILE_SPAN_MARK(f ": span x4", 1);                                                                     \
    TIMES(2) { PROFILE_FLOW_OUT_NAMED(f ": flow out x2", 1); PROFILE_FLOW_IN_NAMED(f ": flow in x2", 1); }            \
    TIMES(3) PROFILE_LOG(PROF_LOG_INFO, f ": message x%d", 3);                                                        \
    TIMES(4) PROFILE_LOG(PROF_LOG_ERROR, f ": %s x%s", "texts", "4");                                                 \
    TIMES(2) { PROFILE_ALLOC_POOL(&handle_of_all, 16, f ": alloc x2"); PROFILE_FREE_POOL(&handle_of_all, \
    f ": free x2"); }                                                                                                 \
    TIMES(3) { PROFILE_LOCK_WAIT(&handle_of_all, f ": wait x3"); PROFILE_LOCK_ACQUIRE(&handle_of_all, f ": lock x3"); }\
    TIMES(2) PROFILE_MARK_ARGS(f ": with args x2", PROF_ARG_I("any", 1));                                             \
    TIMES(4) { MUTEX(f ": mutex x4") }
extern int handle_of_all;
#if !defined(_WIN32) && defined(__GNUC__)
#define MUTEX(name) PROFILE_MUTEX_LOCK(&shared_mutex, name); pthread_mutex_unlock(&shared_mutex);
#else
#define MUTEX(name) PROFILE_MARK(name);
#endif

#ifdef __cplusplus
#define PLAIN INLINED inline
#else
#define PLAIN static INLINED inline
INLINED inline void c99(void) { SCOPES("c99") EVENTS("c99") } /* shared.c of part 0 has the external definition */
#endif
PLAIN void plain(void) { SCOPES("plain") EVENTS("plain") }

/* The same on lines of their own, as people write them. */
PLAIN void lines(int deep)
{
    SCOPE("lines: outer x2");
    if (deep) {
        SCOPE("lines: condition x1");
        PROFILE_ARG_I("lines: condition's x1", 1);
    } else {
        SCOPE("lines: else x1");
        PROFILE_ARG_I("lines: else's x1", 1);
    }
#ifdef MORE /* of one file alone: other files' scopes must not get its name */
    SCOPE("lines: of one file x0");
    PROFILE_MARK("lines: mark of one file x0");
    PROFILE_LOG(PROF_LOG_INFO, "lines: %f of one file x0", 0.5);
#endif
    TIMES(3) { SCOPE("lines: first x6"); }
    TIMES(4) { PROFILE_MARK("lines: second x8"); }
    TIMES(2) { PROFILE_LOG(PROF_LOG_INFO, "lines: %s%d", "third x", 4); }
    PROFILE_COUNTER_ADD("lines: fourth x2", 1);
    PROFILE_FUNCTION();
}

#ifdef __cplusplus
struct type {
    INLINED type() { SCOPES("type") }
    INLINED ~type() { EVENTS("~type") }
    INLINED void method() const { SCOPES("method") EVENTS("method") }
    virtual void overridden() { SCOPES("overridden") EVENTS("overridden") }
    INLINED static void of_type() { SCOPES("of_type") EVENTS("of_type") }
    INLINED type &operator++()
    {
        SCOPES("operator++")
        EVENTS("operator++")
        return *this;
    }
    INLINED friend void befriended(type &) { SCOPES("befriended") EVENTS("befriended") }
};
struct derived : type {
    void overridden() override { SCOPES("overridden") type::overridden(); EVENTS("overridden") }
};
template <typename T> INLINED inline void function_template(T) { SCOPES("function_template") EVENTS("function_template") }
template <typename T> struct class_template {
    template <int n> INLINED void of_template() { SCOPES("of_template") EVENTS("of_template") }
};
template <typename... All> INLINED inline void variadic(All...) { SCOPES("variadic") EVENTS("variadic") }
INLINED inline void lambdas()
{
    auto first = [] { SCOPES("operator()") };
    auto second = [](int) { EVENTS("operator()") };
    first();
    struct local {
        INLINED static void inside() { SCOPES("inside") EVENTS("inside") }
    };
    second(1);
    local::inside();
    [&] { [&] { SCOPE("operator(): inner x1"); }(); }();
    SCOPES("lambdas")
}
struct initialised {
    int value = [] { SCOPE("operator(): of a member x1"); return 1; }();
    int other = [] { SCOPE("operator(): of another x1"); PROFILE_MARK("operator(): its mark x1"); return 1; }();
};
#if __cplusplus >= 201703L
template <bool first> INLINED inline void branches()
{
    if constexpr (first) {
        SCOPE("branches: first x1");
        PROFILE_MARK("branches: first mark x1");
        SCOPES("branches")
    } else {
        SCOPE("branches: second x1");
        PROFILE_MARK("branches: second mark x1");
        EVENTS("branches")
    }
    SCOPE("branches: after x2");
}
inline auto variable = [] { SCOPE("operator(): of a variable x1"); PROFILE_MARK("operator(): its own mark x1"); };
#endif
#endif

static inline void call_all(void) /* of each file, with the file's own calls */
{
    lines(0);
    lines(1);
    plain();
#ifndef __cplusplus
    c99();
#else
    {
        type object;
        derived other;
        object.method();
        ++object;
        other.overridden();
        befriended(object);
    }
    type::of_type();
    function_template(1);
    function_template(1.0);
    class_template<int>().of_template<1>();
    class_template<char>().of_template<2>();
    variadic();
    variadic(1, 2.0);
    lambdas();
    initialised();
#if __cplusplus >= 201703L
    branches<true>();
    branches<false>();
    variable();
#endif
#endif
}
#endif
