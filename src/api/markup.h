// api/markup: What the PROFILE_ macros mean, a call site's record, and the functions that macros call.
#ifndef PROF__API_MARKUP_H
#define PROF__API_MARKUP_H
#include "api/values.h"

/*-- MARKUP ------------------------------------------------------------------------------------------------ >>markup --
   name, category and key are string literals, constant arrays and, in C++, constexpr; anything else does not compile:
   use the _DYNAMIC and _F forms. The text of a _DYNAMIC or _S form may also be a std::string, std::string_view or the
   like. A scope is a declaration: `if (x) PROFILE_SCOPE("a");` needs braces, and so does each `case` in which a scope
   begins (in C, gcc says so only with -Wjump-misses-init: without braces later cases record ends that belong to
   nothing). category groups call sites for prof_category_enable() and viewers. level is 1 to 255. The defaults are
   PROF_CATEGORY and PROF_SITE_LEVEL. Every macro may be used in any function, any number of times, in signal handlers
   and in code that runs before main or after prof_stop(), and in headers, whatever the files that include them have.
   (In C an `inline` function that is not static has call sites of its own in each file; gcc warns of that.)
   No macro changes errno or allocates. A macro takes a lock only for a new call site or thread, or if a control
   function was called since its last use: usually for microseconds; after some tenths of a second it gives up, which
   loses that event.

     PROFILE_SCOPE(name)             a scope from here to the end of the block, on every way out of it
       _C(name, category)  _L(name, level)  _CL(name, category, level)
       _DYNAMIC(text)                a name made at run time: copied into the trace, up to PROF_MAX_TEXT bytes
       _F(format, ...)               a name formatted as by printf; neither formatted nor evaluated while off
       _COLOR(name, 0xRRGGBB)        a colour, for viewers that support it
       _MASK(name, mask)             on if config.filter_mask has one of the 32 bits of mask, a constant
       _TEXT(text, bytes)            a name made at run time that need not end with a zero: of these bytes, up to the
                                     first zero among them. Also PROFILE_MARK_TEXT(text, bytes),
                                     PROFILE_ARG_TEXT(key, text, bytes), PROFILE_ARG_TO_TEXT(handle, key, text, bytes)
                                     and PROFILE_THREAD_TEXT(text, bytes); for messages, PROFILE_LOG(severity, "%.*s")
     PROFILE_FUNCTION()              a scope named after the function; _C(category) _L(level) _COLOR(0xRRGGBB). In C++
                                     with its class and template arguments: "Tpl<int>::update", "main::lambda"; with
                                     PROF_SHORT_FUNCTION, or as PROFILE_SCOPE(__func__), without
     PROFILE_SCOPE_SYNC(name)        a scope that waits for the device, by prof_set_sync()'s function, before its end
     PROFILE_SYNC()                  waits for the device, and records nothing by itself
     PROFILE_BLOCK(name) { ... }     a scope with its own block; _C _L. Leave the block early only by return or goto: a
                                     break or continue acts on the block itself, unless PROF_ENABLE is 0. With neither
                                     C++ nor the cleanup attribute, leaving early leaves the scope open
     PROFILE_BEGIN(name)             begins a scope without a block, which PROFILE_END(name) on the same thread ends; _C
                                     _L. For more than 32 that are open on a thread, memory is mapped, for up to 500,000
                                     (on Windows, under WASI and freestanding 32 are the most)
     PROFILE_END(name)               ends the newest open scope of PROFILE_BEGIN(name), and what is open in it; _C _L.
                                     Without a begin it does nothing. A scope that ends after an enclosing one is a span
                                     for readers, see PROF_EVENT_SPAN_BEGIN
     PROFILE_STAGE(name)             begins a scope, the first of stages that follow one another; the last of them ends
                                     with the block
     PROFILE_NEXT(name)              ends the stage before, in the same block or one around it, and begins the next one,
                                     with one clock read for both
     PROFILE_MARK(name)              an instant; _C _L _DYNAMIC(text) _F(format, ...)
     PROFILE_FRAME(name)             the boundary between two frames; each name has a track of frames, numbered from 1
                                     on for each thread. They keep their numbers if a ring overwrites the first ones
     PROFILE_MARK_REACH(name, reach) an instant that concerns more than its thread: a prof_mark_reach, a constant
     PROFILE_SPAN_BEGIN(name, id)    begins a span: something that takes time, such as a request. It may end on another
                                     thread, and overlap others in any way; id: an integer (uint64_t); _C
     PROFILE_SPAN_MARK(name, id)     an instant of the open span of this name and id; _C
     PROFILE_SPAN_END(name, id)      ends the newest open span of this name and id; _C. If only one of begin and end was
                                     on, the span is marked as truncated, and counted
     PROFILE_COUNTER(name, value)    a sample of an integer (int64_t, uint64_t) or a double; _C _L
       _UNIT(name, value, unit)      with the unit that outputs show, a string literal; the default is PROF_UNIT. Bytes
                                     ("B", "bytes") are shown as sizes, "s" "ms" "us" "ns" as times; any other unit, "%"
                                     or "MHz", is put after the number. A name says nothing about a unit
     PROFILE_COUNTER_ADD(name, delta)   adds to a number, and samples it; _C _UNIT. ADD, SUB and SET of one name,
                                     category and unit share the number. It also counts while nothing is recorded, which
                                     then costs some 5 ns. It saturates, see prof_counter. Up to 1024 names
     PROFILE_COUNTER_SUB(name, delta)   subtracts from the number of PROFILE_COUNTER_ADD; _C _UNIT
     PROFILE_COUNTER_SET(name, value)   sets the number of PROFILE_COUNTER_ADD; _C _UNIT
     PROFILE_ARG(key, value)         an argument of the innermost scope of this thread, dropped while that is off: any
                                     integer, floating-point number, bool, pointer or C string (C11, C++); in C++ also
                                     enum class, std::string, std::string_view, durations of std::chrono ("16 ms"),
                                     std::atomic, a char as a letter, and every class or enumeration whose namespace has
                                     a function prof_text(value): that returns a text that lasts, a std::string or a
                                     number. There the value may have commas. In C99 name the type:
       _I int64_t  _U uint64_t  _D double  _B bool  _S string, copied  _P pointer
     PROFILE_SCOPE_AS(handle, name)  a scope with a handle (a prof_scope), which the macro declares; _C _L _CL
     PROFILE_ARG_TO(handle, key, value)   an argument of that scope, also from inner scopes; not recorded while it is
       _I  _U  _D  _B  _S  _P        off. In C99 name the type. key may be made at run time
     PROFILE_ARGS(PROF_ARG(key, value), ...)   several arguments, whose keys may be made at run time, of the scope that
                                     PROFILE_ARG adds to; in C99 PROF_ARG_I and so on. Also PROFILE_ARGS_TO(handle, ...)
     PROFILE_MARK_ARGS(name, PROF_ARG(key, value), ...)   an instant with arguments; so are those of spans and flows,
                                     PROFILE_SPAN_BEGIN_ARGS(name, id, ...) for example
     PROFILE_TASK_START_ARGS(task, PROF_ARG(key, value), ...)   prof_task_start() with arguments
     PROFILE_TASK_STOP_ARGS(task, PROF_ARG(key, value), ...)   prof_task_stop() with arguments
     PROFILE_STEP(name, number)      a scope that is one step of a loop: number (int64_t) is its argument "step_num"
     PROFILE_THROUGHPUT(name, bytes) a scope that moves data: bytes (uint64_t) is its argument; reports have MB/s, 10^6
                                     bytes. min_duration does not remove either of the two. Both have _DYNAMIC
     PROFILE_THROUGHPUT_UNIT(name, count, unit)   the same of anything: unit is a string literal, such as "samples";
                                     reports have samples/s
     PROFILE_FLOW_OUT(id)            begins a flow: an arrow from the enclosing scope to those of PROFILE_FLOW_STEP(id)
                                     and PROFILE_FLOW_IN(id), in order of time, on any threads. id: any uint64_t, for
                                     example of prof_flow_new(); _NAMED(name, id): a flow with a name of its own
     PROFILE_FLOW_STEP(id)           leads the flow's arrow through the enclosing scope; _NAMED
     PROFILE_FLOW_IN(id)             ends the flow's arrow in the enclosing scope; _NAMED
     PROFILE_FLOW_OUT_SHARED(id)     begins a flow that may go on in other processes: where their recordings are merged,
                                     points with the same id are joined. _STEP_SHARED(id), _IN_SHARED(id). The id has
                                     to be unique among all processes, for example made of sender, receiver and the
                                     number of the message; ids of other flows are each process's own
     PROFILE_LOG(severity, format, ...)   a message, formatted as by printf, but only when it is read: its arguments are
                                     copied, also strings. severity: PROF_LOG_DEBUG, _INFO, _WARNING, _ERROR, _FATAL; it
                                     sets the level. %n, %m, %ls and %lc do not work: the text says so. Up to 16 values
     PROFILE_THREAD(name)            names the thread: any string, copied, up to 63 bytes

     PROFILE_ALLOC(pointer, bytes)   put it after an allocation; _POOL(pointer, bytes, pool)
     PROFILE_FREE(pointer)           put it before a free; _POOL(pointer, pool)
     PROFILE_REALLOC(old, pointer, bytes)   put it after a realloc; _POOL(old, pointer, bytes, pool). Keep old as a
                                     uintptr_t, because the old pointer must not be used any more
     PROFILE_MEMORY_SCOPE(name)      a scope under whose name the allocations of this thread in it count; _DYNAMIC(text)
     PROFILE_LOCK_WAIT(lock, name)   put it before a lock call that may have to wait; lock: any address
     PROFILE_LOCK_ACQUIRE(lock, name)  put it after the lock call
     PROFILE_LOCK_RELEASE(lock, name)  put it before the unlock call
     PROFILE_MUTEX_LOCK(mutex, name) calls pthread_mutex_lock() and returns its value, with these three; a wait is a
                                     scope "wait for name"
     PROFILE_MUTEX_UNLOCK(mutex)     calls pthread_mutex_unlock()
     PROFILE_CRITICAL_SECTION_ENTER(section, name), PROFILE_CRITICAL_SECTION_LEAVE(section)   the same for locks of
                                     Windows, in windows.h; name: a string literal
     PROFILE_SRWLOCK_ACQUIRE(lock, name), PROFILE_SRWLOCK_RELEASE(lock)   likewise; _SHARED: for readers */

enum { /* the kinds of records, see >>kinds: src/kinds.sh makes these lines */
    PROF__KIND_NONE = 0,
    PROF__KIND_BEGIN,
    PROF__KIND_END,
    PROF__KIND_MARK,
    PROF__KIND_COUNTER_INT,
    PROF__KIND_COUNTER_DOUBLE,
    PROF__KIND_FRAME,
    PROF__KIND_ARG,
    PROF__KIND_NAME,
    PROF__KIND_TRACK,
    PROF__KIND_LOST,
    PROF__KIND_EVENT,
    PROF__KIND_DATA,
    PROF__KIND_COUNTER_UINT
};
#define PROF__ROLE_SHIFT 4 /* a site's kind: PROF__KIND_... | PROF_ROLE_... << PROF__ROLE_SHIFT */
#define PROF__KIND_UNIT 0x8000 /* or this as well: the unit stands behind the file's name and its zero */

#define PROF__EVENT_DETAIL_MAX ((1ull << 56) - 1)
#define PROF__FREE_IN_POOL 1u /* a FREE: the block belongs to this pool */
#define PROF__FREE_LATE 2u    /* a FREE: the block was freed some time ago; another thread may have it meanwhile */

#if PROF_ENABLE
typedef uint64_t prof__token; /* what a begin passes to its end; 0: nothing was recorded */

extern PROF_DEF uint32_t prof__config_version[];
PROF__API int prof__check(prof_site *site);
PROF__API prof__token prof__begin(prof_site *site);
/* Begins the scope of a function of C++ whose site is new, or not known in this session. Its name, of size bytes, is
   made of the signature. All threads that come here at once write the same name: none waits for another, nor a signal
   handler for what it interrupted. */
PROF__API prof__token prof__begin_function(prof_site *site, const char *pretty, size_t size);
PROF__API prof__token prof__begin_text(prof_site *site, const char *text);
PROF__API prof__token prof__begin_format(prof_site *site, const char *format, ...) PROF__PRINTF(2, 3);
PROF__API void prof__end(prof__token token);
PROF__API void prof__end_sync(prof__token token);
PROF__API void prof__sync(void);
PROF__API prof__token prof__next(prof_site *site, prof__token token);
PROF__API void prof__begin_unscoped(prof_site *site);
PROF__API void prof__end_unscoped(prof_site *site);
PROF__API void prof__mark(prof_site *site);
PROF__API void prof__mark_text(prof_site *site, const char *text);
PROF__API void prof__mark_format(prof_site *site, const char *format, ...) PROF__PRINTF(2, 3);
PROF__API void prof__frame(prof_site *site);
/* Records an EVENT of a site: type is a prof_event_type, detail at most PROF__EVENT_DETAIL_MAX. */
PROF__API void prof__event(prof_site *site, uint64_t type, uint64_t detail, uint64_t object);
/* Begins a scope that has an argument at once; type: PROF_VALUE_INT or PROF_VALUE_UINT. */
PROF__API prof__token prof__begin_number(prof_site *site, prof_site *key, uint64_t type, uint64_t number);
PROF__API uint64_t prof_flow_new(void); /* returns an id that no other call returns, also not in a child of fork() */
/* The values that a format takes. */
typedef struct PROF__SITE_TYPE prof__log_format { uint32_t known; unsigned char codes[36]; } prof__log_format;
PROF__API void prof__log(prof_site *site, prof__log_format *known, uint64_t severity, const char *format, ...)
    PROF__PRINTF(4, 5);
/* The number behind a counter; NULL: not looked up yet. */
typedef struct PROF__SITE_TYPE prof__number { struct prof__shared_counter *shared; } prof__number;
enum { PROF__COUNT_SET, PROF__COUNT_ADD, PROF__COUNT_SUB };
PROF__API void prof__count_int(prof_site *site, prof__number *number, int how, int64_t value);
PROF__API void prof__count_uint(prof_site *site, prof__number *number, int how, uint64_t value);
PROF__API void prof__count_double(prof_site *site, prof__number *number, int how, double value);
/* Records a FREE of one address, with the flags `how`, and an ALLOC of another, with the same time; an address of 0:
   none. */
PROF__API void prof__memory(prof_site *site, uint64_t how, uint64_t freed, uint64_t address, uint64_t bytes);
PROF__API int prof__mutex_lock(prof_site *wait, prof_site *event, void *mutex);
PROF__API void prof__counter_int(prof_site *site, int64_t value);
PROF__API void prof__counter_uint(prof_site *site, uint64_t value);
PROF__API void prof__counter_double(prof_site *site, double value);
PROF__API void prof__arg_int(prof_site *site, int64_t value);
PROF__API void prof__arg_uint(prof_site *site, uint64_t value);
PROF__API void prof__arg_double(prof_site *site, double value);
PROF__API void prof__arg_bool(prof_site *site, int value);
PROF__API void prof__arg_pointer(prof_site *site, const volatile void *value);
PROF__API void prof__arg_string(prof_site *site, const char *value);
/* Of texts with a length, which need not end with a zero. */
PROF__API prof__token prof__begin_part(prof_site *site, const char *text, size_t bytes);
PROF__API void prof__mark_part(prof_site *site, const char *text, size_t bytes);
PROF__API void prof__arg_part(prof_site *site, const char *text, size_t bytes);
PROF__API void prof__arg_part_to(prof_scope scope, const char *key, const char *text, size_t bytes);
PROF__API void prof__thread_part(const char *text, size_t bytes);
/* Records a list of arguments, all or, if the buffer is full, none. They belong to a new MARK of the site; or to a new
   EVENT of it, of this prof_event_type; or, without a site, to the task that object points to. PROF_EVENT_SCOPE: with a
   site, to the innermost scope, else to the scope whose handle object is. */
PROF__API void prof__with(prof_site *site, uint64_t type, uint64_t object, const prof_arg *args, uint32_t count);
/* Pointers may be numbers, for example addresses on a device. */
#define PROF__ADDRESS(pointer) PROF__TO(uint64_t, PROF__TO(uintptr_t, pointer))
#define PROF__MADE_OF(name, c_type, tag, member) \
    static inline PROF__UNTRACED prof_arg prof__made_##name(const char *key, c_type value) \
    { prof_arg arg; arg.key = key; arg.value.type = tag; arg.value.cut = 0; arg.value.as.member; return arg; }
#ifdef PROF__NO_DOUBLE
#define PROF__UNLESS_NO_DOUBLE(...)
#else
#define PROF__UNLESS_NO_DOUBLE(...) __VA_ARGS__
#endif
#define PROF__MADE \
    PROF__MADE_OF(int, int64_t, PROF_VALUE_INT, i = value) PROF__MADE_OF(uint, uint64_t, PROF_VALUE_UINT, u = value) \
    PROF__UNLESS_NO_DOUBLE(PROF__MADE_OF(double, double, PROF_VALUE_DOUBLE, d = value)) \
    PROF__MADE_OF(bool, int, PROF_VALUE_BOOL, u = value != 0) \
    PROF__MADE_OF(string, const char *, PROF_VALUE_STRING, string = value) \
    PROF__MADE_OF(pointer, const volatile void *, PROF_VALUE_POINTER, u = PROF__ADDRESS(value))
PROF__MADE
PROF__API void prof_set_thread_name(const char *name); /* NULL: back to the system's name */

#define PROF__OFF 0x80000000u

/* The state of a site is valid for one config version of the control state. Its low half equals the config version (the
   site is on), differs from it in the top bit (off), or is out of date: then the slow path updates it. */
#if defined(__GNUC__)
typedef uint32_t __attribute__((__may_alias__)) prof__half;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define PROF__LOW_HALF 1
#else
#define PROF__LOW_HALF 0
#endif
#ifdef __cplusplus
#define PROF__HALVES(word) reinterpret_cast<const prof__half *>(word)
#else
#define PROF__HALVES(word) ((const prof__half *)(word))
#endif
#define PROF__STATE(site)                                                                                  \
    (__atomic_load_n(PROF__HALVES(&(site)->private_state) + PROF__LOW_HALF, __ATOMIC_RELAXED) ^             \
     __atomic_load_n(prof__config_version, __ATOMIC_RELAXED))
#else
#define PROF__STATE(site) \
    ((uint32_t) * (const volatile uint64_t *)&(site)->private_state ^ *(const volatile uint32_t *)prof__config_version)
#endif
#ifndef PROF_ANY_ON
#define PROF_ANY_ON() 1 /* see Freestanding in the manual */
#endif
static inline PROF__UNTRACED int prof__on(const prof_site *site) /* 1: on, or not known yet */
{
    return PROF_ANY_ON() && PROF__STATE(site) != PROF__OFF;
}
/* For macros with arguments, which are evaluated only while the site is on. */
static inline PROF__UNTRACED int prof__live(prof_site *site)
{
    uint32_t state = PROF_ANY_ON() ? PROF__STATE(site) : PROF__OFF;
    return PROF__LIKELY(!state) || (state != PROF__OFF && prof__check(site));
}

#ifdef __cplusplus
extern "C++" { /* also in a header that is included in extern "C" { } */
#ifdef PROF_STATIC /* otherwise types of the program, such as the frame of a coroutine, may contain it */
#define PROF__GUARD_TYPE PROF__HIDDEN
#else
#define PROF__GUARD_TYPE
#endif
/* From C++23 on a constexpr function may have scopes, which are passed over where the compiler computes its value. */
#if defined(__GNUC__) && defined(__cpp_constexpr) && __cpp_constexpr >= 202110L
#define PROF__CONSTEXPR constexpr
#define PROF__UNLESS_COMPUTED if (!__builtin_is_constant_evaluated())
#define PROF__NONE_IF_COMPUTED(...) (__builtin_is_constant_evaluated() ? 0 : (__VA_ARGS__))
#else
#define PROF__CONSTEXPR
#define PROF__UNLESS_COMPUTED
#define PROF__NONE_IF_COMPUTED(...) __VA_ARGS__
#endif
#define PROF__GUARD_STRUCT(guard, more, end) \
    struct PROF__GUARD_TYPE guard { \
        prof__token token; more PROF__UNTRACED PROF__CONSTEXPR ~guard() { if (token) end(token); } }
PROF__GUARD_STRUCT(prof__guard, , prof__end); PROF__GUARD_STRUCT(prof__guard_sync, , prof__end_sync);
PROF__GUARD_STRUCT(prof__guard_block, int more;, prof__end);
} /* extern "C++" */
#elif defined(__GNUC__)
static inline PROF__UNTRACED void prof__guard_end(const prof__token *token)
{
    if (*token) prof__end(*token);
}
static inline PROF__UNTRACED void prof__guard_sync(const prof__token *token)
{
    if (*token) prof__end_sync(*token);
}
#endif
#endif /* PROF_ENABLE */

/* To Microsoft's preprocessor (without /Zc:preprocessor, which C++ does not ask for), __VA_ARGS__ is one argument of
   another macro, until it is read again. */
#define PROF__AGAIN(x) x
/* What is left of a scope: a declaration, as a live one is, too (see -Wdeclaration-after-statement). */
#if defined(__GNUC__)
#define PROF__GONE(...) PROF__AGAIN(PROF__GONE_(__VA_ARGS__))
#define PROF__GONE_(id, ...)                                                                               \
    PROF__NOT_CONSTEXPR                                                                                    \
    typedef __attribute__((__unused__)) char prof__gone_##id[1 + 0 * sizeof(__VA_ARGS__)]
/* A constexpr function may not have a live scope before C++23, so not a stripped one either: where compilers refuse it,
   this has a variable whose type is no literal, or a goto. Neither an instruction nor stack is left of it, also with
   -O0: gcc has stack for a variable that is never reached, and clang takes a goto. */
#if !defined(__cplusplus) || (defined(__cpp_constexpr) && __cpp_constexpr >= 202110L)
#define PROF__NOT_CONSTEXPR
#elif defined(__clang__)
extern "C++" {
struct prof__scope_before_cpp23 { prof__scope_before_cpp23(); };
}
#define PROF__NOT_CONSTEXPR if ((0)) { prof__scope_before_cpp23 prof__none; (void)prof__none; }
#else
#define PROF__NOT_CONSTEXPR                                                                                \
    if ((0)) __extension__({ __label__ prof__before_cpp23; goto prof__before_cpp23; prof__before_cpp23:; });
#endif
#define PROF__GONE_TEXT(use) PROF__NOT_CONSTEXPR use /* a name made at run time */
#else
#define PROF__GONE(id, ...) (void)sizeof(__VA_ARGS__)
#define PROF__GONE_TEXT(use) use
#endif

#endif /* PROF__API_MARKUP_H */
