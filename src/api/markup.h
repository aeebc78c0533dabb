// api/markup: What the PROFILE_ macros mean, a call site's record, and the functions that macros call.
/*-- MARKUP ------------------------------------------------------------------------------------------------ >>markup --
   name, category, key: string literals, constant arrays and, in C++, constexpr; others are refused when compiled, and
   go through the _S and _F forms. A text of an _S form may be a std::string, std::string_view or the like, too. A scope
   is a declaration: `if (x) PROFILE_SCOPE("a");` needs braces. category groups call sites for
   prof_category_enable() and viewers; level: 1 to 255. Where none is given they are PROF_CATEGORY and PROF_SITE_LEVEL.
   Every macro may stand in any function, any number of times, in handlers of signals and in code that runs before main
   or after prof_stop(); but C99 allows no static variable in an `inline` function that is not static. No macro changes
   errno or allocates. Only a call site or a thread that is new, or a control call since its last use, takes a lock: for
   microseconds as a rule, and after some tenths of a second it gives up, which loses that event.

     PROFILE_SCOPE(name)             from here to the end of the block, however it is left
       _C(name, category)  _L(name, level)  _CL(name, category, level)
       _S(text)                      name made at run time: copied into the trace, up to PROF_MAX_TEXT bytes
       _F(format, ...)               as printf; neither formatted nor evaluated while off
       _COLOR(name, 0xRRGGBB)        for viewers that can be told a colour
       _M(name, mask)                on if config.filter_mask has one of the 32 bits of mask, a constant
     PROFILE_FUNCTION()              the same, named after the function; _C(category) _L(level)
     PROFILE_SCOPE_SYNC(name)        before its end is recorded it waits for the device, by prof_set_sync()'s function
     PROFILE_SYNC()                  waits for the device, and records nothing by itself
     PROFILE_BLOCK(name) { ... }     a scope in front of its own block; _C _L. Leave it early by return or goto, not by
                                     break or continue, which would concern the block itself, and only when not
                                     stripped. With neither C++ nor the cleanup attribute, leaving early leaves it open
     PROFILE_BEGIN(name)             not bound to a block: ended by PROFILE_END(name) on the same thread; _C _L.
     PROFILE_END(name)               An end without its begin does nothing. Up to 32 may be open at a time. What ends
                                     after a scope around it is a span for readers, see PROF_EVENT_SPAN_BEGIN
     PROFILE_STAGE(name)             a scope that PROFILE_NEXT(name), in the same block or one inside, ends while it
     PROFILE_NEXT(name)              begins the next one, with one clock read for both; the last ends with the block
     PROFILE_MARK(name)              an instant; _C _L _S(text) _F(format, ...)
     PROFILE_FRAME(name)             the boundary between two frames; one name, one track of frames
     PROFILE_MARK_SCOPE(name, scope) an instant that concerns more than its thread: a prof_mark_scope, a constant
     PROFILE_SPAN_BEGIN(name, id)    something that takes time, such as a request, on whatever threads: the end has the
     PROFILE_SPAN_MARK(name, id)     same name and id (an integer, uint64_t), and spans may overlap in any way; _C.
     PROFILE_SPAN_END(name, id)      What was off at the one and on at the other is half a span, marked and counted
     PROFILE_COUNTER(name, value)    a sample of an integer (int64_t) or floating-point (double) number; _C _L
     PROFILE_COUNTER_ADD(name, delta)   changes a number that all these macros of the name and category share, and
     PROFILE_COUNTER_SUB(name, delta)   samples it; _C. The number also counts while nothing is recorded, which then
     PROFILE_COUNTER_SET(name, value)   costs some 5 ns. It does not go round, see prof_counter. Up to 1024 names
     PROFILE_ARG(key, value)         a value on the innermost scope that this thread is recording: any integer,
                                     floating-point number, bool, pointer or C string (C11 and C++); in C++ also
                                     enum class, std::string and std::string_view. In C99 say which:
       _I int64_t  _U uint64_t  _D double  _B bool  _S string, copied  _P pointer
     PROFILE_SCOPE_AS(handle, name)  a scope with a handle (a prof_scope), which the macro declares; _C _L _CL
     PROFILE_ARG_TO(handle, key, value)   a value on that scope, whatever is open inside it; nowhere while it is off. In
       _I  _U  _D  _B  _S  _P        C99 say which. key: also one made at run time
     PROFILE_ARGS(PROF_ARG(key, value), ...)   several, keys made at run time, on the scope that PROFILE_ARG adds to;
                                     PROF_ARG_I and so on. Also PROFILE_ARGS_TO(handle, PROF_ARG(key, value), ...)
     PROFILE_MARK_ARGS(name, PROF_ARG(key, value), ...)   an instant with arguments; and so
                                     PROFILE_SPAN_BEGIN_ARGS(name, id, ...), _SPAN_MARK_ARGS, _SPAN_END_ARGS,
                                     PROFILE_FLOW_OUT_ARGS(id, ...), _FLOW_STEP_ARGS, _FLOW_IN_ARGS,
                                     PROFILE_TASK_START_ARGS(task, ...) and PROFILE_TASK_STOP_ARGS(task, ...)
     PROFILE_STEP(name, number)      a scope that is step number (int64_t) of a loop: has the argument "step_num"
     PROFILE_THROUGHPUT(name, bytes) a scope that moves so many bytes (uint64_t), its argument; reports have MB/s, 10^6
                                     bytes. Neither is taken back by min_duration. _S(text, ...), both
     PROFILE_FLOW_OUT(id)            an arrow from the scope around this to those around PROFILE_FLOW_IN(id), by way of
     PROFILE_FLOW_STEP(id)           those around PROFILE_FLOW_STEP(id), in order of time, whatever their threads. id:
     PROFILE_FLOW_IN(id)             any uint64_t, such as prof_flow_new()'s; _N(name, id): other names, other flows
     PROFILE_LOG(severity, format, ...)   a message, formatted as by printf, but only when it is read: its arguments are
                                     copied, strings and all. severity: PROF_LOG_DEBUG, _INFO, _WARNING, _ERROR, _FATAL;
                                     it makes the level. Not %n, %m, %ls and %lc: the text says so. Up to 16 values
     PROFILE_THREAD(name)            names the thread: any string, copied, up to 63 bytes

     PROFILE_ALLOC(pointer, bytes)   behind an allocation; _C(pointer, bytes, pool)
     PROFILE_FREE(pointer)           in front of a free; _C(pointer, pool)
     PROFILE_REALLOC(old, pointer, bytes)   behind a realloc; _C(old, pointer, bytes, pool). old: keep it as a
                                     uintptr_t, because a pointer must not be used any more
     PROFILE_MEMORY_SCOPE(name)      a scope by which allocations inside, by this thread, are counted; _S(text)
     PROFILE_LOCK_WAIT(lock, name)   in front of a lock that may have to wait; the lock: any address
     PROFILE_LOCK_ACQUIRE(lock, name)  behind it
     PROFILE_LOCK_RELEASE(lock, name)  in front of the unlock
     PROFILE_MUTEX_LOCK(mutex, name) pthread_mutex_lock() with these, and its value; a wait is a scope "wait for name"
     PROFILE_MUTEX_UNLOCK(mutex)     pthread_mutex_unlock() */

enum { /* what a word of the image is: see >>image */
    PROF__KIND_NONE = 0, PROF__KIND_BEGIN, PROF__KIND_END, PROF__KIND_MARK, PROF__KIND_COUNTER_INT,
    PROF__KIND_COUNTER_DOUBLE, PROF__KIND_FRAME, PROF__KIND_ARG, PROF__KIND_NAME, PROF__KIND_TRACK, PROF__KIND_LOST,
    PROF__KIND_EVENT, PROF__KIND_DATA
};
#define PROF__ROLE_SHIFT 4 /* a site's kind: PROF__KIND_... | PROF_ROLE_... << PROF__ROLE_SHIFT */

#define PROF__EVENT_DETAIL_MAX ((1ull << 56) - 1)
#define PROF__FREE_IN_POOL 1u /* of a FREE: the block is one of this pool */
#define PROF__FREE_LATE 2u    /* it was freed some time ago, and may be another thread's meanwhile */

#if PROF_ENABLE
typedef uint64_t prof__token; /* what a begin hands to its end; 0: nothing was recorded */

#if defined(_WIN32) || !defined(__GNUC__)
extern uint32_t prof__generation[];
#else
extern PROF_DEF uint32_t prof__generation[];
#endif
PROF_DEF int prof__check(prof_site *site);
PROF_DEF prof__token prof__begin(prof_site *site);
PROF_DEF prof__token prof__begin_text(prof_site *site, const char *text);
PROF_DEF prof__token prof__begin_format(prof_site *site, const char *format, ...) PROF__PRINTF(2, 3);
PROF_DEF void prof__end(prof__token token);
PROF_DEF void prof__end_sync(prof__token token);
PROF_DEF void prof__sync(void);
PROF_DEF prof__token prof__next(prof_site *site, prof__token token);
PROF_DEF void prof__begin_loose(prof_site *site);
PROF_DEF void prof__end_loose(prof_site *site);
PROF_DEF void prof__mark(prof_site *site);
PROF_DEF void prof__mark_text(prof_site *site, const char *text);
PROF_DEF void prof__mark_format(prof_site *site, const char *format, ...) PROF__PRINTF(2, 3);
PROF_DEF void prof__frame(prof_site *site);
/* An EVENT record of a site: type is a prof_event_type, detail up to PROF__EVENT_DETAIL_MAX. */
PROF_DEF void prof__event(prof_site *site, uint64_t type, uint64_t detail, uint64_t object);
/* A scope with an argument from the start; type: PROF_VALUE_INT or PROF_VALUE_UINT. */
PROF_DEF prof__token prof__begin_number(prof_site *site, prof_site *key, uint64_t type, uint64_t number);
PROF_DEF uint64_t prof_flow_new(void); /* an id that no other call returns, nor one in a child of fork() */
typedef struct PROF__SITE_TYPE prof__log_format { uint32_t known; unsigned char codes[36]; } prof__log_format; /* its values */
PROF_DEF void prof__log(prof_site *site, prof__log_format *known, uint64_t severity, const char *format, ...) PROF__PRINTF(4, 5);
typedef struct prof__tally prof__tally; /* the number behind a counter */
typedef struct PROF__SITE_TYPE prof__number { prof__tally *tally; } prof__number; /* null: not looked for yet */
enum { PROF__TALLY_SET, PROF__TALLY_ADD, PROF__TALLY_SUB };
PROF_DEF void prof__count_int(prof_site *site, prof__number *number, int how, int64_t value);
PROF_DEF void prof__count_double(prof_site *site, prof__number *number, int how, double value);
/* A FREE of one address, as how says, and an ALLOC of another, at the same moment; 0: none. */
PROF_DEF void prof__memory(prof_site *site, uint64_t how, uint64_t freed, uint64_t address, uint64_t bytes);
PROF_DEF int prof__mutex_lock(prof_site *wait, prof_site *event, void *mutex);
PROF_DEF void prof__counter_int(prof_site *site, int64_t value);
PROF_DEF void prof__counter_double(prof_site *site, double value);
PROF_DEF void prof__arg_int(prof_site *site, int64_t value); PROF_DEF void prof__arg_uint(prof_site *site, uint64_t value);
PROF_DEF void prof__arg_double(prof_site *site, double value);
PROF_DEF void prof__arg_bool(prof_site *site, int value);
PROF_DEF void prof__arg_pointer(prof_site *site, const volatile void *value);
PROF_DEF void prof__arg_string(prof_site *site, const char *value);
/* A list of arguments, all or, if there is no room, none: of a new MARK of the site; of a new EVENT of it, whose type is
   a prof_event_type; with no site, of the task that object points to. PROF_EVENT_SCOPE: of the innermost scope, for a
   site, else of the one whose handle object is. */
PROF_DEF void prof__with(prof_site *site, uint64_t type, uint64_t object, const prof_arg *args, uint32_t count);
#define PROF__MADE_OF(name, c_type, tag, member) \
    static inline PROF__UNTRACED prof_arg prof__made_##name(const char *key, c_type value) \
    { prof_arg arg; arg.key = key; arg.value.type = tag; arg.value.cut = 0; arg.value.as.member; return arg; }
#define PROF__MADE \
    PROF__MADE_OF(int, int64_t, PROF_VALUE_INT, i = value) PROF__MADE_OF(uint, uint64_t, PROF_VALUE_UINT, u = value) \
    PROF__MADE_OF(double, double, PROF_VALUE_DOUBLE, d = value) PROF__MADE_OF(bool, int, PROF_VALUE_BOOL, u = value != 0) \
    PROF__MADE_OF(string, const char *, PROF_VALUE_STRING, string = value) \
    PROF__MADE_OF(pointer, const volatile void *, PROF_VALUE_POINTER, u = (uint64_t)(uintptr_t)value)
PROF__MADE
PROF_DEF void prof_thread_name(const char *name); /* null: back to the system's name */

#define PROF__OFF 0x80000000u

/* A site's state says, for one generation of the control state, what the site is: its low half equals the generation
   (on), differs from it in the top bit (off), or is out of date, which is for the slow path to settle. */
#if defined(__GNUC__)
typedef uint32_t __attribute__((may_alias)) prof__half;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define PROF__LOW_HALF 1
#else
#define PROF__LOW_HALF 0
#endif
#define PROF__STATE(site)                                                                                  \
    (__atomic_load_n((const prof__half *)&(site)->private_state + PROF__LOW_HALF, __ATOMIC_RELAXED) ^       \
     __atomic_load_n(prof__generation, __ATOMIC_RELAXED))
#else
#define PROF__STATE(site) \
    ((uint32_t) * (const volatile uint64_t *)&(site)->private_state ^ *(const volatile uint32_t *)prof__generation)
#endif
static inline PROF__UNTRACED int prof__on(const prof_site *site) /* or not known yet */
{
    return PROF__STATE(site) != PROF__OFF;
}
/* For macros with arguments, which are evaluated only when on. */
static inline PROF__UNTRACED int prof__live(prof_site *site)
{
    uint32_t state = PROF__STATE(site);
    return PROF__LIKELY(!state) || (state != PROF__OFF && prof__check(site));
}

#ifdef __cplusplus
} /* extern "C" */
#ifdef PROF_STATIC /* else it may stand inside types of the program, such as the frame of a coroutine */
#define PROF__GUARD_TYPE PROF__HIDDEN
#else
#define PROF__GUARD_TYPE
#endif
#define PROF__GUARD_STRUCT(guard, more, end) \
    struct PROF__GUARD_TYPE guard { prof__token token; more PROF__UNTRACED ~guard() { if (token) end(token); } }
PROF__GUARD_STRUCT(prof__guard, , prof__end); PROF__GUARD_STRUCT(prof__guard_sync, , prof__end_sync);
PROF__GUARD_STRUCT(prof__guard_block, int more;, prof__end);
#define PROF__ARG_OF(type, record, number) \
    PROF__HIDDEN PROF__UNTRACED inline void prof__arg(prof_site *site, type value) { record(site, number); }
#define PROF__TEMPLATE template <typename T> PROF__HIDDEN PROF__UNTRACED inline
#define PROF__ARGS \
    PROF__ARG_OF(bool, prof__arg_bool, value) PROF__ARG_OF(double, prof__arg_double, value) \
    PROF__ARG_OF(int, prof__arg_int, value) PROF__ARG_OF(long, prof__arg_int, value) PROF__ARG_OF(long long, prof__arg_int, value) \
    PROF__ARG_OF(unsigned, prof__arg_uint, value) PROF__ARG_OF(unsigned long, prof__arg_uint, value) \
    PROF__ARG_OF(unsigned long long, prof__arg_uint, value) PROF__ARG_OF(long double, prof__arg_double, static_cast<double>(value)) \
    PROF__ARG_OF(const char *, prof__arg_string, value) PROF__ARG_OF(const volatile void *, prof__arg_pointer, value)
/* Texts of the program's classes: std::string and what else has a c_str() of char; std::string_view and what else has
   data() of char and size(), as a copy, because there need not be a zero behind it. Enumerations, enum class, too. */
#define PROF__TEXTS \
    template <typename T, bool> struct prof__enum_if {}; template <typename T> struct prof__enum_if<T, true> { typedef void type; }; \
    template <typename T> struct prof__enum : prof__enum_if<T, __is_enum(T)> {}; \
    template <typename T> struct PROF__HIDDEN prof__copy_of { char text[PROF_MAX_TEXT + 2]; operator const char *() const { return text; } \
        PROF__UNTRACED explicit prof__copy_of(const T &from) { \
            size_t size = from.size() < sizeof text ? from.size() : sizeof text - 1; \
            for (size_t i = 0; i < size; ++i) text[i] = from.data()[i]; \
            text[size] = 0; } }; \
    PROF__TEMPLATE auto prof__chars_of(const T &text, int) -> decltype(static_cast<const char *>(text.c_str())) { return text.c_str(); } \
    PROF__TEMPLATE auto prof__chars_of(const T &text, long) -> decltype(static_cast<const char *>(text.data()), text.size(), prof__copy_of<T>(text)) \
    { return prof__copy_of<T>(text); } \
    PROF__HIDDEN PROF__UNTRACED inline const char *prof__chars(const char *text) { return text; } \
    PROF__TEMPLATE auto prof__chars(const T &text) -> decltype(prof__chars_of(text, 0)) { return prof__chars_of(text, 0); } \
    PROF__TEMPLATE auto prof__arg(prof_site *site, const T &text) -> decltype(static_cast<void>(prof__chars_of(text, 0))) \
    { prof__arg_string(site, prof__chars_of(text, 0)); } \
    PROF__TEMPLATE typename prof__enum<T>::type prof__arg(prof_site *site, T value) \
    { prof__arg(site, static_cast<__underlying_type(T)>(value)); }
/* For PROF__CONSTANT. Arrays that may change hold names made at run time, as a rule. */
#define PROF__GIVEN \
    PROF__HIDDEN PROF__UNTRACED constexpr bool prof__given(const char *text) { return text != nullptr; } \
    template <size_t size> bool prof__given(char (&text)[size]);
/* Lists of arguments. What a class has for a text, or its copy, lives until the list has been recorded. */
#define PROF__MADE_AS(type, name) \
    PROF__HIDDEN PROF__UNTRACED inline type prof__plain(type value) { return value; } \
    PROF__HIDDEN PROF__UNTRACED inline prof_arg prof__made(const char *key, type value) { return prof__made_##name(key, value); }
#define PROF__LISTS \
    PROF__MADE_AS(bool, bool) PROF__MADE_AS(double, double) PROF__MADE_AS(int, int) PROF__MADE_AS(long, int) \
    PROF__MADE_AS(long long, int) PROF__MADE_AS(unsigned, uint) PROF__MADE_AS(unsigned long, uint) \
    PROF__MADE_AS(unsigned long long, uint) PROF__MADE_AS(const char *, string) PROF__MADE_AS(const volatile void *, pointer) \
    PROF__HIDDEN PROF__UNTRACED inline double prof__plain(long double value) { return static_cast<double>(value); } \
    PROF__TEMPLATE auto prof__plain(const T &text) -> decltype(prof__chars_of(text, 0)) { return prof__chars_of(text, 0); } \
    template <typename T, typename = typename prof__enum<T>::type> PROF__HIDDEN PROF__UNTRACED inline long long prof__plain(T value) \
    { return static_cast<long long>(value); } \
    template <typename... T> PROF__HIDDEN PROF__UNTRACED inline \
    void prof__with_all(prof_site *site, uint64_t type, uint64_t object, const T &...args) { \
        const prof_arg list[] = {args...}; prof__with(site, type, object, list, static_cast<uint32_t>(sizeof...(args))); }
PROF__ARGS PROF__TEXTS PROF__GIVEN PROF__LISTS
extern "C" {
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
