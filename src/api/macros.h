// api/macros: The PROFILE_ macros themselves, live and stripped.
#ifndef PROF__API_MACROS_H
#define PROF__API_MACROS_H
#include "api/arguments.h"
#include "api/devices.h"
#include "api/markup.h"
#include "api/objects.h"

#if defined(__cplusplus) && PROF_ENABLE /* also takes std::string and the like */
#define PROF__TEXT(...) prof__chars(__VA_ARGS__)
#else
#define PROF__TEXT(...) __VA_ARGS__
#endif
#define PROF__JOIN_(a, b) a##b
#define PROF__JOIN(a, b) PROF__JOIN_(a, b)
#define PROF__FIRST_(a, ...) a
#define PROF__FIRST(...) PROF__AGAIN(PROF__FIRST_(__VA_ARGS__, 0))
/* Uses x for the compiler, but evaluates nothing and leaves no instruction at any level of optimisation. */
#define PROF__USE(x) (0 ? (void)(x) : (void)0)
#define PROF__USE2(x, y) (0 ? (void)(x) : PROF__USE(y))
#define PROF__USE3(x, y, z) (0 ? (void)(x) : PROF__USE2(y, z))
#define PROF__USE4(w, x, y, z) (0 ? (void)(w) : PROF__USE3(x, y, z))
#define PROF__USE5(v, w, x, y, z) (0 ? (void)(v) : PROF__USE4(w, x, y, z))

/* The one switch between the live and the stripped API. */
#if PROF_ENABLE
#define PROF__EITHER(live, stripped) live
#else
#define PROF__EITHER(live, stripped) stripped
#endif

/* A site is initialised once, at compile time: a name made at run time would stay that of the first use. C refuses such
   a name anyway. C++ does so because of constant initialization; before that, an assertion says what to do. */
#if defined(__cplusplus) && defined(__clang__)
#define PROF__CONSTANT_SITE __attribute__((__require_constant_initialization__))
#elif defined(__cplusplus) && defined(__GNUC__) && __GNUC__ >= 10
#define PROF__CONSTANT_SITE __constinit
#elif defined(__cplusplus) && defined(__cpp_constinit)
#define PROF__CONSTANT_SITE constinit
#else
#define PROF__CONSTANT_SITE
#endif
#if defined(__cplusplus) && defined(__GNUC__)
#define PROF__CONSTANT(name)                                                                               \
    static_assert(__builtin_constant_p(prof__given(name)), "prof: a name, category or key is a string literal, " \
        "a constant array or constexpr; a name made at run time goes to PROFILE_SCOPE_DYNAMIC and the like");
#else
#define PROF__CONSTANT(name)
#endif
/* C compilers show this macro with their error. The type of a scope's site is what compilers do not find after
   `if (x) PROFILE_SCOPE("a");`, where the scope would not end at the semicolon. */
#define PROF__A_LITERAL_ELSE_USE_PROFILE_SCOPE_DYNAMIC(name) name

/* In C++ all files of a program share the static variables of inline functions, of methods and of templates, by name.
   PROF_UNIQUE counts the macros before, and so differs between files that include a header; the line does not. Where
   variables of one function have one name, compilers number them, but they need blocks of their own. Microsoft's
   compiler numbers the blocks; with its /ZI a line is no number. */
#if defined(__GNUC__)
#define PROF__OF_LINE(name) PROF__JOIN(name, __LINE__)
#else
#define PROF__OF_LINE(name) name
#endif
#define PROF__HERE PROF__OF_LINE(prof__here_)
#define PROF__WAITING PROF__OF_LINE(prof__waiting_)
#define PROF__KNOWN PROF__OF_LINE(prof__known_)
#define PROF__COUNTED PROF__OF_LINE(prof__counted_)
/* An inline function of C99 has its own static variables in each file, which is what clang warns of. */
#if defined(__clang__) && !defined(__cplusplus)
#define PROF__QUIET_INLINE                                                                                 \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wstatic-local-in-inline\"")      \
    _Pragma("clang diagnostic ignored \"-Wstatic-in-inline\"")
#define PROF__QUIET_END _Pragma("clang diagnostic pop")
#else
#define PROF__QUIET_INLINE
#define PROF__QUIET_END
#endif

#ifndef PROF_SITE_PLACE
#define PROF_SITE_PLACE /* see Freestanding in the manual */
#endif
/* A site in a block of the macro's own, or of a function of the recorder. */
#define PROF__SITE(variable, kind, name, category, level)                                                  \
    PROF__SITE_AS(prof_site, variable, kind, name, category, level, 0, 0)
#define PROF__SITE_AS(type, variable, kind, name, category, level, color, unmask)                          \
    PROF__SITE_OF(type, variable, kind, name, category, __FILE__, level, color, unmask)
#define PROF__SITE_OF(type, variable, kind, name, category, file, level, color, unmask)                    \
    PROF__CONSTANT(name) PROF__CONSTANT(category)                                                          \
    PROF__QUIET_INLINE static PROF__CONSTANT_SITE type variable PROF_SITE_PLACE = {                        \
        0, PROF__A_LITERAL_ELSE_USE_PROFILE_SCOPE_DYNAMIC(name), category, file, __func__, __LINE__, color, \
        level, kind, 0, 0, unmask} PROF__QUIET_END
/* A site of a counter. Its unit, a literal, stands behind the name of the file, which is always one, so that sites
   without a unit are no larger. */
#define PROF__SITE_UNIT(name, category, level, unit)                                                       \
    PROF__SITE_OF(prof_site, PROF__HERE, PROF__KIND_COUNTER_INT | (sizeof(unit) > 1 ? PROF__KIND_UNIT : 0), name, \
                  category, sizeof(unit) > 1 ? __FILE__ "\0" unit : __FILE__, level, 0, 0)
/* A site of a scope, whose block is the user's. After it, PROF__AT(variable) is the site. The address is not the value
   of a ({ }), from which clang 14 leaves out the initial values of a static variable if nothing else is in it. Its type
   is not that of the site, which is hidden, but the frame of a coroutine is not. */
#ifdef __cplusplus
#define PROF__SITE_IN(variable, kind, name, category, file, level, color, unmask)                          \
    typedef void *variable##_needs_braces_around_it;                                                       \
    variable##_needs_braces_around_it variable;                                                            \
    PROF__UNLESS_COMPUTED {                                                                                \
        PROF__SITE_OF(prof_site, PROF__HERE, kind, name, category, file, level, color, unmask);            \
        variable = &PROF__HERE;                                                                            \
    }
#define PROF__AT(variable) (*static_cast<prof_site *>(variable))
#else
#define PROF__SITE_IN(variable, kind, name, category, file, level, color, unmask)                          \
    typedef prof_site variable##_needs_braces_around_it;                                                   \
    PROF__SITE_OF(variable##_needs_braces_around_it, variable, kind, name, category, file, level, color, unmask);
#define PROF__AT(variable) variable
#endif
#define PROF__SITE_AT(variable, kind, name, category, level, color, unmask)                                \
    PROF__SITE_IN(variable, kind, name, category, __FILE__, level, color, unmask)
#define PROF__ON(site, level) ((level) <= PROF_MAX_LEVEL && PROF__EXTENSION prof__on(&(site)))
#define PROF__LIVE(site, level) ((level) <= PROF_MAX_LEVEL && PROF__EXTENSION prof__live(&(site)))
#define PROF__BEGIN(site, level) (PROF__ON(site, level) ? prof__begin(&(site)) : 0)
/* begin evaluates arguments. A scope that is off begins all the same while it is watched for arguments. */
#if defined(__GNUC__)
#define PROF__BEGIN_WITH(site, level, ...)                                                                             \
    __extension__({                                                                                                    \
        const uint32_t prof__now_is = (level) <= PROF_MAX_LEVEL ? PROF__STATE(&(site)) : PROF__OFF;                    \
        PROF__LIKELY(!prof__now_is) || (prof__now_is != PROF__OFF && prof__check(&(site))) ? (__VA_ARGS__)             \
            : prof__now_is != PROF__OFF ? prof__begin(&(site)) : 0;                                                    \
    })
#else
#define PROF__BEGIN_WITH(site, level, ...) \
    (PROF__LIVE(site, level) ? (__VA_ARGS__) : PROF__ON(site, level) ? prof__begin(&(site)) : 0)
#endif
#define PROF__RECORDED(token) ((token) >> 60 ? (token) : 0) /* 0: the scope is off */

#if defined(__cplusplus)
#define PROF__GUARD(variable, ...) prof__guard variable = {PROF__NONE_IF_COMPUTED(__VA_ARGS__)}
#define PROF__GUARD_SYNC(variable, ...) prof__guard_sync variable = {PROF__NONE_IF_COMPUTED(__VA_ARGS__)}
#define PROF__GUARD_STAGE(token) PROF__GUARD(prof__stage, token)
#define PROF__STAGE_TOKEN prof__stage.token
#define PROF__HANDLE(handle, guard) const prof_scope handle PROF__UNUSED = PROF__RECORDED(guard.token)
#define PROF__TOKEN_OF(scope) scope.token
#elif defined(__GNUC__)
#define PROF__GUARD(variable, token) \
    __extension__ __attribute__((__cleanup__(prof__guard_end), __unused__)) prof__token variable = token
#define PROF__GUARD_SYNC(variable, token) \
    __extension__ __attribute__((__cleanup__(prof__guard_sync), __unused__)) prof__token variable = token
#define PROF__GUARD_STAGE(token)                                                                           \
    __extension__ __attribute__((__cleanup__(prof__guard_end))) prof__token prof__stage = token
#define PROF__STAGE_TOKEN prof__stage
#define PROF__HANDLE(handle, guard) const prof_scope handle __attribute__((__unused__)) = PROF__RECORDED(guard)
#define PROF__TOKEN_OF(scope) scope
#endif

#if !defined(__cplusplus) && !defined(__GNUC__)
#define PROF__GUARD(variable, token) prof__this_compiler_has_only_PROFILE_BLOCK
#define PROF__GUARD_SYNC PROF__GUARD
#define PROF__GUARD_STAGE(token) PROF__GUARD(prof__stage, token)
#define PROF__HANDLE(handle, guard) const prof_scope handle = guard
#define PROF__TOKEN_OF(scope) 0
#endif

/* A statement that owns a site: action may use PROF__HERE. */
#define PROF__STATEMENT(kind, name, category, level, action)                   \
    do {                                                                       \
        PROF__SITE(PROF__HERE, kind, name, category, level);                   \
        if (PROF__LIVE(PROF__HERE, level)) action;                             \
    } while (0)
/* id makes the names unique; site and token are the macro's own variables, and begin may use site. */
#define PROF__SCOPE(...) PROF__AGAIN(PROF__SCOPE_(__VA_ARGS__))
#define PROF__SCOPE_(id, name, category, level, begin, ...)                    \
    PROF__SITE_AT(prof__site_##id, PROF__KIND_BEGIN, name, category, level, 0, 0)                          \
    PROF__GUARD(prof__scope_##id, begin(PROF__AT(prof__site_##id), level, __VA_ARGS__))
#define PROF__BEGIN_1(site, level, unused) PROF__BEGIN(site, level)
#define PROF__BEGIN_TEXT(site, level, ...) \
    PROF__BEGIN_WITH(site, level, prof__begin_text(&(site), PROF__TEXT(__VA_ARGS__)))
#define PROF__BEGIN_PART(site, level, ...) PROF__BEGIN_WITH(site, level, prof__begin_part(&(site), __VA_ARGS__))
#define PROF__BEGIN_FORMAT(site, level, ...) PROF__BEGIN_WITH(site, level, prof__begin_format(&(site), __VA_ARGS__))

#define PROFILE_SCOPE_CL(name, category, level)                                                            \
    PROF__EITHER(PROF__SCOPE(PROF_UNIQUE, name, category, level, PROF__BEGIN_1, 0),                        \
                 PROF__GONE(PROF_UNIQUE, sizeof(name) + sizeof(category) + (level)))
#define PROFILE_SCOPE(name) PROFILE_SCOPE_CL(name, PROF_CATEGORY, PROF_SITE_LEVEL)
#define PROF__SCOPE_AS(...) PROF__AGAIN(PROF__SCOPE_AS_(__VA_ARGS__))
#define PROF__SCOPE_AS_(id, handle, name, category, level)                                                 \
    PROF__SCOPE_(id, name, category, level, PROF__BEGIN_1, 0);                                             \
    PROF__HANDLE(handle, prof__scope_##id)
#define PROFILE_SCOPE_AS_CL(handle, name, category, level)                                                 \
    PROF__EITHER(PROF__SCOPE_AS(PROF_UNIQUE, handle, name, category, level),                               \
                 PROF__GONE(PROF_UNIQUE, sizeof(name) + sizeof(category) + (level)); enum { handle = 0 })
#define PROFILE_SCOPE_AS(handle, name) PROFILE_SCOPE_AS_CL(handle, name, PROF_CATEGORY, PROF_SITE_LEVEL)
#define PROFILE_SCOPE_AS_C(handle, name, category) PROFILE_SCOPE_AS_CL(handle, name, category, PROF_SITE_LEVEL)
#define PROFILE_SCOPE_AS_L(handle, name, level) PROFILE_SCOPE_AS_CL(handle, name, PROF_CATEGORY, level)
#define PROFILE_SCOPE_C(name, category) PROFILE_SCOPE_CL(name, category, PROF_SITE_LEVEL)
#define PROFILE_SCOPE_L(name, level) PROFILE_SCOPE_CL(name, PROF_CATEGORY, level)
#define PROFILE_SCOPE_DYNAMIC(...)                                                                         \
    PROF__EITHER(PROF__SCOPE(PROF_UNIQUE, "", PROF_CATEGORY, PROF_SITE_LEVEL, PROF__BEGIN_TEXT, __VA_ARGS__), \
                 PROF__GONE_TEXT(PROF__USE((__VA_ARGS__))))
#define PROFILE_SCOPE_TEXT(text, bytes)                                                                    \
    PROF__EITHER(PROF__SCOPE(PROF_UNIQUE, "", PROF_CATEGORY, PROF_SITE_LEVEL, PROF__BEGIN_PART, text,      \
                             PROF__TO(size_t, bytes)),                                                     \
                 PROF__GONE_TEXT(PROF__USE2(text, bytes)))
#define PROFILE_SCOPE_F(...)                                                                               \
    PROF__EITHER(PROF__SCOPE(PROF_UNIQUE, PROF__FIRST(__VA_ARGS__), PROF_CATEGORY, PROF_SITE_LEVEL,        \
                             PROF__BEGIN_FORMAT, __VA_ARGS__),                                             \
                 PROF__GONE_TEXT(PROF__USE(prof__format_check(__VA_ARGS__))))
#define PROF__SCOPE_COLOR(...) PROF__AGAIN(PROF__SCOPE_COLOR_(__VA_ARGS__))
#define PROF__SCOPE_COLOR_(id, name, color)                                                                \
    PROF__SITE_AT(prof__site_##id, PROF__KIND_BEGIN, name, PROF_CATEGORY, PROF_SITE_LEVEL, color, 0)       \
    PROF__GUARD(prof__scope_##id, PROF__BEGIN(PROF__AT(prof__site_##id), PROF_SITE_LEVEL))
#define PROFILE_SCOPE_COLOR(name, color)                                                                   \
    PROF__EITHER(PROF__SCOPE_COLOR(PROF_UNIQUE, name, color), PROF__GONE(PROF_UNIQUE, sizeof(name) + (color)))
#define PROF__SCOPE_SYNC(...) PROF__AGAIN(PROF__SCOPE_SYNC_(__VA_ARGS__))
#define PROF__SCOPE_SYNC_(id, name, category, level)                                                       \
    PROF__SITE_AT(prof__site_##id, PROF__KIND_BEGIN | PROF_ROLE_SYNC << PROF__ROLE_SHIFT, name, category, level,     \
                   0, 0)                                                                                   \
    PROF__GUARD_SYNC(prof__scope_##id, PROF__BEGIN(PROF__AT(prof__site_##id), level))
#define PROFILE_SCOPE_SYNC(name)                                                                           \
    PROF__EITHER(PROF__SCOPE_SYNC(PROF_UNIQUE, name, PROF_CATEGORY, PROF_SITE_LEVEL),                      \
                 PROF__GONE(PROF_UNIQUE, sizeof(name)))
#define PROFILE_SYNC()                                                                                     \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_MARK | PROF_ROLE_SYNC << PROF__ROLE_SHIFT, "sync", PROF_CATEGORY,  \
                                 PROF_SITE_LEVEL, prof__sync()),                                           \
                 (void)0)
#define PROF__SCOPE_MASK(...) PROF__AGAIN(PROF__SCOPE_MASK_(__VA_ARGS__))
#define PROF__SCOPE_MASK_(id, name, mask)                                                                  \
    PROF__SITE_AT(prof__site_##id, PROF__KIND_BEGIN, name, PROF_CATEGORY, PROF_SITE_LEVEL, 0,              \
                   PROF__TO(uint32_t, ~PROF__TO(uint32_t, mask)))                                          \
    PROF__GUARD(prof__scope_##id, PROF__BEGIN(PROF__AT(prof__site_##id), PROF_SITE_LEVEL))
#define PROFILE_SCOPE_MASK(name, mask)                                                                     \
    PROF__EITHER(PROF__SCOPE_MASK(PROF_UNIQUE, name, mask), PROF__GONE(PROF_UNIQUE, sizeof(name) + (mask)))
/* A scope of this role that has an argument at once. */
#define PROF__SCOPE_NUMBER(...) PROF__AGAIN(PROF__SCOPE_NUMBER_(__VA_ARGS__))
#define PROF__SCOPE_NUMBER_(id, name, role, file, key, type, number)                                       \
    PROF__SITE_IN(prof__site_##id, PROF__KIND_BEGIN | (role) << PROF__ROLE_SHIFT, name, PROF_CATEGORY,     \
                   file, PROF_SITE_LEVEL, 0, 0)                                                            \
    PROF__SITE_AT(prof__key_##id, PROF__KIND_ARG, key, PROF_CATEGORY, PROF_SITE_LEVEL, 0, 0)               \
    PROF__GUARD(prof__scope_##id,                                                                          \
                PROF__BEGIN_WITH(PROF__AT(prof__site_##id), PROF_SITE_LEVEL,                               \
                                 prof__begin_number(&PROF__AT(prof__site_##id), &PROF__AT(prof__key_##id), \
                                                    type, PROF__TO(uint64_t, number))))
#define PROFILE_STEP(name, number)                                                                         \
    PROF__EITHER(PROF__SCOPE_NUMBER(PROF_UNIQUE, name, PROF_ROLE_STEP, __FILE__, "step_num", PROF_VALUE_INT, \
                                    PROF__TO(int64_t, number)),                                            \
                 PROF__GONE(PROF_UNIQUE, sizeof(name) + sizeof(PROF__TO(int64_t, number))))
#define PROFILE_THROUGHPUT(name, bytes)                                                                    \
    PROF__EITHER(PROF__SCOPE_NUMBER(PROF_UNIQUE, name, PROF_ROLE_THROUGHPUT, __FILE__, "bytes", PROF_VALUE_UINT,   \
                                    bytes),                                                                \
                 PROF__GONE(PROF_UNIQUE, sizeof(name) + sizeof(PROF__TO(uint64_t, bytes))))
/* The unit stands behind the name of the file, as that of a counter. */
#define PROF__ROLE_UNIT (PROF_ROLE_THROUGHPUT | PROF__KIND_UNIT >> PROF__ROLE_SHIFT)
#define PROFILE_THROUGHPUT_UNIT(name, count, unit)                                                         \
    PROF__EITHER(PROF__SCOPE_NUMBER(PROF_UNIQUE, name, PROF__ROLE_UNIT, __FILE__ "\0" unit, unit, PROF_VALUE_UINT, \
                                    count),                                                                \
                 PROF__GONE(PROF_UNIQUE, sizeof(name) + sizeof(unit) + sizeof(PROF__TO(uint64_t, count))))
/* The same with a name made at run time. The argument is recorded after the begin, so that no other scope gets it. */
#define PROF__SCOPE_NAMED(...) PROF__AGAIN(PROF__SCOPE_NAMED_(__VA_ARGS__))
#define PROF__SCOPE_NAMED_(id, text, role, key, record, number)                                            \
    PROF__SITE_AT(prof__site_##id, PROF__KIND_BEGIN | (role) << PROF__ROLE_SHIFT, "", PROF_CATEGORY,       \
                   PROF_SITE_LEVEL, 0, 0)                                                                  \
    PROF__SITE_AT(prof__key_##id, PROF__KIND_ARG, key, PROF_CATEGORY, PROF_SITE_LEVEL, 0, 0)               \
    PROF__GUARD(prof__scope_##id, PROF__BEGIN_TEXT(PROF__AT(prof__site_##id), PROF_SITE_LEVEL, text));     \
    PROF__UNUSED int prof__number_##id =                                                                   \
        PROF__RECORDED(PROF__TOKEN_OF(prof__scope_##id)) && PROF__LIVE(PROF__AT(prof__key_##id), PROF_SITE_LEVEL)    \
            ? (record(&PROF__AT(prof__key_##id), number), 1)                                               \
            : 0
#define PROFILE_STEP_DYNAMIC(text, number)                                                                 \
    PROF__EITHER(PROF__SCOPE_NAMED(PROF_UNIQUE, text, PROF_ROLE_STEP, "step_num", prof__arg_int,           \
                                   PROF__TO(int64_t, number)),                                             \
                 PROF__GONE_TEXT(PROF__USE2(text, number)))
#define PROFILE_THROUGHPUT_DYNAMIC(text, bytes)                                                            \
    PROF__EITHER(PROF__SCOPE_NAMED(PROF_UNIQUE, text, PROF_ROLE_THROUGHPUT, "bytes", prof__arg_uint,       \
                                   PROF__TO(uint64_t, bytes)),                                             \
                 PROF__GONE_TEXT(PROF__USE2(text, bytes)))
#define PROFILE_BLOCK(name) PROF__EITHER(PROF__BLOCK(PROF_UNIQUE, name, PROF_CATEGORY, PROF_SITE_LEVEL), )
#define PROFILE_BLOCK_C(name, category) PROF__EITHER(PROF__BLOCK(PROF_UNIQUE, name, category, PROF_SITE_LEVEL), )
#define PROFILE_BLOCK_L(name, level) PROF__EITHER(PROF__BLOCK(PROF_UNIQUE, name, PROF_CATEGORY, level), )
#if defined(__GNUC__) || defined(__TINYC__)
#define PROF__BEGIN_HERE(name, category, level)                                                            \
    __extension__({                                                                                        \
        PROF__SITE(PROF__HERE, PROF__KIND_BEGIN, name, category, level);                                   \
        PROF__BEGIN(PROF__HERE, level);                                                                    \
    })
#endif
#if defined(__cplusplus)
#ifndef PROF__BEGIN_HERE
#define PROF__BEGIN_HERE(name, category, level)                                                            \
    ([](const char *function) -> prof__token {                                                             \
        PROF__SITE(PROF__HERE, PROF__KIND_BEGIN, name, category, level);                                   \
        if (PROF__HERE.function != function) PROF__HERE.function = function; /* not that of the lambda */  \
        return PROF__BEGIN(PROF__HERE, level);                                                             \
    }(__func__))
#endif
#define PROF__BLOCK_(id, name, category, level)                                                            \
    for (prof__guard_block prof__block_##id = {PROF__BEGIN_HERE(name, category, level), 1};                \
         prof__block_##id.more; prof__block_##id.more = 0)
#elif defined(__GNUC__)
#define PROF__BLOCK_(id, name, category, level)                                                            \
    PROF__QUIET_INLINE                                                                                     \
    for (prof__token prof__scope_##id __attribute__((__cleanup__(prof__guard_end), __unused__)) =          \
             PROF__BEGIN_HERE(name, category, level),                                                      \
             prof__more_##id = 1;                                                                          \
         prof__more_##id; prof__more_##id = 0)                                                             \
    PROF__QUIET_END
#elif defined(PROF__BEGIN_HERE)
#define PROF__BLOCK_(id, name, category, level)                                                            \
    for (prof__token prof__scope_##id = PROF__BEGIN_HERE(name, category, level), prof__more_##id = 1;      \
         prof__more_##id; prof__more_##id = 0, prof__scope_##id ? prof__end(prof__scope_##id) : (void)0)
#else
#define PROF__BLOCK_(id, name, category, level)                                                            \
    PROF__SITE_AT(prof__site_##id, PROF__KIND_BEGIN, name, category, level, 0, 0)                          \
    for (prof__token prof__scope_##id = PROF__BEGIN(PROF__AT(prof__site_##id), level), prof__more_##id = 1;          \
         prof__more_##id; prof__more_##id = 0, prof__scope_##id ? prof__end(prof__scope_##id) : (void)0)
#endif
#define PROF__BLOCK(...) PROF__AGAIN(PROF__BLOCK_(__VA_ARGS__))

#define PROF__BEGIN_UNSCOPED(name, category, level)                                                        \
    PROF__EITHER(                                                                                          \
        do {                                                                                               \
            PROF__SITE(PROF__HERE, PROF__KIND_BEGIN, name, category, level);                               \
            if (PROF__ON(PROF__HERE, level)) prof__begin_unscoped(&PROF__HERE);                            \
        } while (0),                                                                                       \
        PROF__USE3(name, category, level))
#define PROFILE_BEGIN(name) PROF__BEGIN_UNSCOPED(name, PROF_CATEGORY, PROF_SITE_LEVEL)
#define PROFILE_BEGIN_C(name, category) PROF__BEGIN_UNSCOPED(name, category, PROF_SITE_LEVEL)
#define PROFILE_BEGIN_L(name, level) PROF__BEGIN_UNSCOPED(name, PROF_CATEGORY, level)
#define PROFILE_END(name)                                                                                  \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_END, name, "", 0, prof__end_unscoped(&PROF__HERE)), PROF__USE(name))

/* Keeps -Wshadow quiet about stages in a block inside the block of other stages: they are meant. */
#if defined(__GNUC__)
#define PROF__QUIET_SHADOW(declaration)                                                                    \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wshadow\"") declaration;             \
    _Pragma("GCC diagnostic pop")
#else
#define PROF__QUIET_SHADOW(declaration) declaration;
#endif
#define PROF__STAGE(...) PROF__AGAIN(PROF__STAGE_(__VA_ARGS__))
#define PROF__STAGE_(id, name)                                                                             \
    PROF__SITE_AT(prof__site_##id, PROF__KIND_BEGIN, name, PROF_CATEGORY, PROF_SITE_LEVEL, 0, 0)           \
    PROF__QUIET_SHADOW(PROF__GUARD_STAGE(PROF__BEGIN(PROF__AT(prof__site_##id), PROF_SITE_LEVEL)))         \
    typedef char prof__staged_##id[sizeof prof__stage] PROF__UNUSED /* uses it; the semicolon ends something */
#define PROFILE_STAGE(name) PROF__EITHER(PROF__STAGE(PROF_UNIQUE, name), PROF__GONE(PROF_UNIQUE, name))
#define PROFILE_NEXT(name)                                                                                 \
    PROF__EITHER(                                                                                          \
        do {                                                                                               \
            PROF__SITE(PROF__HERE, PROF__KIND_BEGIN, name, PROF_CATEGORY, PROF_SITE_LEVEL);                \
            if (PROF__STAGE_TOKEN || PROF__EXTENSION prof__on(&PROF__HERE))                                        \
                PROF__STAGE_TOKEN = prof__next(&PROF__HERE, PROF__STAGE_TOKEN);                            \
        } while (0),                                                                                       \
        PROF__USE(name))

#define PROF__MARK(name, category, level, action)                                                          \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_MARK, name, category, level, action), PROF__USE3(name, category, level))
#define PROFILE_MARK(name) PROF__MARK(name, PROF_CATEGORY, PROF_SITE_LEVEL, prof__mark(&PROF__HERE))
#define PROFILE_MARK_C(name, category) PROF__MARK(name, category, PROF_SITE_LEVEL, prof__mark(&PROF__HERE))
#define PROFILE_MARK_L(name, level) PROF__MARK(name, PROF_CATEGORY, level, prof__mark(&PROF__HERE))
#define PROFILE_MARK_DYNAMIC(...)                                                                          \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_MARK, "", PROF_CATEGORY, PROF_SITE_LEVEL,                      \
                                 prof__mark_text(&PROF__HERE, PROF__TEXT(__VA_ARGS__))),                   \
                 PROF__USE((__VA_ARGS__)))
#define PROFILE_MARK_TEXT(text, bytes)                                                                     \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_MARK, "", PROF_CATEGORY, PROF_SITE_LEVEL,                      \
                                 prof__mark_part(&PROF__HERE, text, PROF__TO(size_t, bytes))),             \
                 PROF__USE2(text, bytes))
#define PROFILE_MARK_F(...)                                                                                \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_MARK, PROF__FIRST(__VA_ARGS__), PROF_CATEGORY, PROF_SITE_LEVEL, \
                                 prof__mark_format(&PROF__HERE, __VA_ARGS__)),                             \
                 PROF__USE(prof__format_check(__VA_ARGS__)))
#define PROFILE_FRAME(name)                                                                                         \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_FRAME, name, PROF_CATEGORY, PROF_SITE_LEVEL, prof__frame(&PROF__HERE)), \
                 PROF__USE(name))

#define PROF__FLOW(kind, name, type, id)                                                                   \
    PROF__EITHER(PROF__STATEMENT(kind, name, PROF_CATEGORY, PROF_SITE_LEVEL,                               \
                                 prof__event(&PROF__HERE, type, 0, id)),                                   \
                 PROF__USE2(name, id))
#define PROFILE_FLOW_OUT_NAMED(name, id) PROF__FLOW(PROF__KIND_EVENT, name, PROF_EVENT_FLOW_OUT, id)
#define PROFILE_FLOW_STEP_NAMED(name, id) PROF__FLOW(PROF__KIND_EVENT, name, PROF_EVENT_FLOW_STEP, id)
#define PROFILE_FLOW_IN_NAMED(name, id) PROF__FLOW(PROF__KIND_EVENT, name, PROF_EVENT_FLOW_IN, id)
#define PROF__KIND_SHARED (PROF__KIND_EVENT | PROF_ROLE_SHARED << PROF__ROLE_SHIFT)
#define PROFILE_FLOW_OUT_SHARED(id) PROF__FLOW(PROF__KIND_SHARED, "flow", PROF_EVENT_FLOW_OUT, id)
#define PROFILE_FLOW_STEP_SHARED(id) PROF__FLOW(PROF__KIND_SHARED, "flow", PROF_EVENT_FLOW_STEP, id)
#define PROFILE_FLOW_IN_SHARED(id) PROF__FLOW(PROF__KIND_SHARED, "flow", PROF_EVENT_FLOW_IN, id)
#define PROFILE_FLOW_OUT(id) PROFILE_FLOW_OUT_NAMED("flow", id)
#define PROFILE_FLOW_STEP(id) PROFILE_FLOW_STEP_NAMED("flow", id)
#define PROFILE_FLOW_IN(id) PROFILE_FLOW_IN_NAMED("flow", id)

#define PROF__LOG_LEVEL(severity) ((severity) >= PROF_LOG_WARNING ? 1 : (severity) >= PROF_LOG_INFO ? 2 : 3)
#define PROFILE_LOG(severity, ...)                                                                         \
    PROF__EITHER(                                                                                          \
        do {                                                                                               \
            PROF__QUIET_INLINE static prof__log_format PROF__KNOWN;                                        \
            PROF__QUIET_END                                                                                \
            PROF__STATEMENT(PROF__KIND_EVENT, PROF__FIRST(__VA_ARGS__), PROF_CATEGORY,                     \
                            PROF__LOG_LEVEL(severity),                                                     \
                            prof__log(&PROF__HERE, &PROF__KNOWN, PROF__TO(uint64_t, severity), __VA_ARGS__));  \
        } while (0),                                                                                       \
        (0 ? (void)(severity) : PROF__USE(prof__format_check(__VA_ARGS__))))
#define PROF__MARK_ROLE(reach)                                                                             \
    (PROF__TO(int, reach) != 0 ? PROF_ROLE_MARK_GLOBAL - PROF__TO(int, PROF_MARK_GLOBAL) + PROF__TO(int, reach) : 0)
#define PROFILE_MARK_REACH(name, reach)                                                                    \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_MARK | PROF__MARK_ROLE(reach) << PROF__ROLE_SHIFT, name, PROF_CATEGORY, \
                                 PROF_SITE_LEVEL, prof__mark(&PROF__HERE)),                                \
                 PROF__USE2(name, reach))

#define PROF__SPAN(type, name, id, category)                                                               \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_EVENT, name, category, PROF_SITE_LEVEL,                        \
                                 prof__event(&PROF__HERE, type, 0, PROF__TO(uint64_t, id))),               \
                 PROF__USE3(name, id, category))
#define PROFILE_SPAN_BEGIN(name, id) PROF__SPAN(PROF_EVENT_SPAN_BEGIN, name, id, PROF_CATEGORY)
#define PROFILE_SPAN_BEGIN_C(name, id, category) PROF__SPAN(PROF_EVENT_SPAN_BEGIN, name, id, category)
#define PROFILE_SPAN_MARK(name, id) PROF__SPAN(PROF_EVENT_SPAN_MARK, name, id, PROF_CATEGORY)
#define PROFILE_SPAN_MARK_C(name, id, category) PROF__SPAN(PROF_EVENT_SPAN_MARK, name, id, category)
#define PROFILE_SPAN_END(name, id) PROF__SPAN(PROF_EVENT_SPAN_END, name, id, PROF_CATEGORY)
#define PROFILE_SPAN_END_C(name, id, category) PROF__SPAN(PROF_EVENT_SPAN_END, name, id, category)

/* 1 converted to the type of value, halved, is not 0 only in floating point; value is evaluated once. */
#ifdef PROF__NO_DOUBLE
#ifdef __cplusplus
#define PROF__INTEGER(value) PROF__TO(int64_t, value)
#else /* a width of -1: the value is floating-point */
#define PROF__INTEGER(value) \
    ((void)sizeof(struct { int is_not_an_integer_see_PROF_NO_DOUBLE : \
                               __builtin_types_compatible_p(__typeof__((value) + 0), double) || \
                               __builtin_types_compatible_p(__typeof__((value) + 0), float) ? -1 : 1; }), \
     PROF__TO(int64_t, value))
#endif
#define PROF__NUMBER(value, real, integer) integer
#else
#define PROF__INTEGER(value) PROF__TO(int64_t, value)
#define PROF__NUMBER(value, real, integer) (((1 ? 1 : (value)) / 2 > 0) ? real : integer)
#endif
/* 0 converted to the type of value, less 1, is above 0 only if that is unsigned, and not promoted to int. */
#define PROF__BY_SIGN(value, whole, integer) (((1 ? 0 : (value)) - 1 > 0) ? whole : integer)
#define PROF__COUNTER(name, value, category, level, unit)                                                  \
    PROF__EITHER(                                                                                          \
        do {                                                                                               \
            PROF__SITE_UNIT(name, category, level, unit);                                                  \
            if (PROF__LIVE(PROF__HERE, level))                                                             \
                PROF__NUMBER(value, prof__counter_double(&PROF__HERE, PROF__TO(double, value)),            \
                             PROF__BY_SIGN(value,                                                          \
                                           prof__counter_uint(&PROF__HERE, PROF__TO(uint64_t, value)),     \
                                           prof__counter_int(&PROF__HERE, PROF__INTEGER(value))));         \
        } while (0),                                                                                       \
        PROF__USE5(name, value, category, level, unit))
#define PROFILE_COUNTER(name, value) PROF__COUNTER(name, value, PROF_CATEGORY, PROF_SITE_LEVEL, PROF_UNIT)
#define PROFILE_COUNTER_C(name, value, category) PROF__COUNTER(name, value, category, PROF_SITE_LEVEL, PROF_UNIT)
#define PROFILE_COUNTER_L(name, value, level) PROF__COUNTER(name, value, PROF_CATEGORY, level, PROF_UNIT)
#define PROFILE_COUNTER_UNIT(name, value, unit) PROF__COUNTER(name, value, PROF_CATEGORY, PROF_SITE_LEVEL, unit)

/* Not a PROF__STATEMENT, because it also counts while it is off. */
#define PROF__COUNT(how, name, value, category, unit)                                                      \
    PROF__EITHER(                                                                                          \
        do {                                                                                               \
            PROF__SITE_UNIT(name, category, PROF_SITE_LEVEL, unit);                                        \
            PROF__QUIET_INLINE static prof__number PROF__COUNTED;                                          \
            PROF__QUIET_END                                                                                \
            if ((PROF_SITE_LEVEL) > PROF_MAX_LEVEL) break;                                                 \
            PROF__NUMBER(value, prof__count_double(&PROF__HERE, &PROF__COUNTED, how, PROF__TO(double, value)), \
                         PROF__BY_SIGN(value, prof__count_uint(&PROF__HERE, &PROF__COUNTED, how,           \
                                                               PROF__TO(uint64_t, value)),                 \
                                       prof__count_int(&PROF__HERE, &PROF__COUNTED, how, PROF__INTEGER(value)))); \
        } while (0),                                                                                       \
        PROF__USE4(name, value, category, unit))
#define PROFILE_COUNTER_ADD(name, delta) PROF__COUNT(PROF__COUNT_ADD, name, delta, PROF_CATEGORY, PROF_UNIT)
#define PROFILE_COUNTER_ADD_C(name, delta, category) PROF__COUNT(PROF__COUNT_ADD, name, delta, category, PROF_UNIT)
#define PROFILE_COUNTER_ADD_UNIT(name, delta, unit) PROF__COUNT(PROF__COUNT_ADD, name, delta, PROF_CATEGORY, unit)
#define PROFILE_COUNTER_SUB(name, delta) PROF__COUNT(PROF__COUNT_SUB, name, delta, PROF_CATEGORY, PROF_UNIT)
#define PROFILE_COUNTER_SUB_C(name, delta, category) PROF__COUNT(PROF__COUNT_SUB, name, delta, category, PROF_UNIT)
#define PROFILE_COUNTER_SUB_UNIT(name, delta, unit) PROF__COUNT(PROF__COUNT_SUB, name, delta, PROF_CATEGORY, unit)
#define PROFILE_COUNTER_SET(name, value) PROF__COUNT(PROF__COUNT_SET, name, value, PROF_CATEGORY, PROF_UNIT)
#define PROFILE_COUNTER_SET_C(name, value, category) PROF__COUNT(PROF__COUNT_SET, name, value, category, PROF_UNIT)
#define PROFILE_COUNTER_SET_UNIT(name, value, unit) PROF__COUNT(PROF__COUNT_SET, name, value, PROF_CATEGORY, unit)

/* The value comes last, and may have commas, as in f<a, b>(c). */
#define PROF__ARG(function, key, ...)                                                                      \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_ARG, key, PROF_CATEGORY, PROF_SITE_LEVEL,                      \
                                 function(&PROF__HERE, __VA_ARGS__)),                                      \
                 PROF__USE2(key, (__VA_ARGS__)))
#define PROFILE_ARG_I(key, ...) PROF__ARG(prof__arg_int, key, __VA_ARGS__)
#define PROFILE_ARG_U(key, ...) PROF__ARG(prof__arg_uint, key, __VA_ARGS__)
#define PROFILE_ARG_D(key, ...) PROF__ARG(prof__arg_double, key, __VA_ARGS__)
#define PROFILE_ARG_B(key, ...) PROF__ARG(prof__arg_bool, key, __VA_ARGS__)
#define PROFILE_ARG_S(key, ...) PROF__ARG(prof__arg_string, key, PROF__TEXT(__VA_ARGS__))
#define PROFILE_ARG_P(key, ...) PROF__ARG(prof__arg_pointer, key, __VA_ARGS__)
#define PROFILE_ARG_TEXT(key, text, bytes)                                                                 \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_ARG, key, PROF_CATEGORY, PROF_SITE_LEVEL,                      \
                                 prof__arg_part(&PROF__HERE, text, PROF__TO(size_t, bytes))),              \
                 PROF__USE3(key, text, bytes))
#if defined(__cplusplus)
#define PROFILE_ARG(key, ...) PROF__ARG(prof__arg, key, __VA_ARGS__)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
/* The function for the type of value: f##int and so on. */
#ifdef PROF__NO_DOUBLE
#define PROF__REAL_TYPES(f)
#else
#define PROF__REAL_TYPES(f) float: f##double, double: f##double,
#endif
#define PROF__BY_TYPE(f, value)                                                                               \
    _Generic((value), _Bool: f##bool, char: f##int, signed char: f##int, short: f##int, int: f##int,          \
        long: f##int, long long: f##int, unsigned char: f##uint, unsigned short: f##uint, unsigned: f##uint,  \
        unsigned long: f##uint, unsigned long long: f##uint, PROF__REAL_TYPES(f)                              \
        char *: f##string, const char *: f##string,                                                           \
        default: _Generic((0 ? 0ll : (value)), long long: f##int, /* bit-fields */                            \
                          unsigned long long: f##uint, default: f##pointer))
#define PROFILE_ARG(key, value) PROF__ARG(PROF__BY_TYPE(prof__arg_, value), key, value)
#endif

/* Arguments for lists; they have no other use. With PROF_ENABLE=0 they only use their operands. */
#define PROF__USED(key, value) ((void)(key), (void)(value), 0)
#define PROF__USE_LIST(...) PROF__USE(prof__args_check(0, __VA_ARGS__))
#define PROF__MAKE(function, key, value) \
    PROF__EITHER(PROF__EXTENSION function(PROF__TEXT(key), value), PROF__USED(key, value))
#define PROF_ARG_I(key, value) PROF__MAKE(prof__made_int, key, value)
#define PROF_ARG_U(key, value) PROF__MAKE(prof__made_uint, key, value)
#define PROF_ARG_D(key, value) PROF__MAKE(prof__made_double, key, value)
#define PROF_ARG_B(key, value) PROF__MAKE(prof__made_bool, key, value)
#define PROF_ARG_S(key, value) PROF__MAKE(prof__made_string, key, PROF__TEXT(value))
#define PROF_ARG_P(key, value) PROF__MAKE(prof__made_pointer, key, value)
#if defined(__cplusplus)
#define PROF_ARG(key, ...) \
    PROF__EITHER(prof__made(PROF__TEXT(key), prof__plain(__VA_ARGS__)), PROF__USED(key, (__VA_ARGS__)))
#define PROF__WITH(site, type, object, ...) prof__with_all(site, type, object, __VA_ARGS__)
#else
#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define PROF_ARG(key, value) PROF__MAKE(PROF__BY_TYPE(prof__made_, value), key, value)
#endif
#ifdef __TINYC__ /* counts only the elements of arrays of scalars; the rest has no type */
#define PROF__LIST_SIZE (PROF_DEVICE_ARGS + 1)
#else
#define PROF__LIST_SIZE
#endif
#define PROF__WITH(site, type, object, ...)                                                                   \
    {                                                                                                         \
        const prof_arg prof__args[PROF__LIST_SIZE] = {__VA_ARGS__};                                           \
        prof__with(site, type, object, prof__args, PROF__TO(uint32_t, sizeof prof__args / sizeof *prof__args)); \
    }
#endif
#define PROFILE_ARGS(...)                                                                                     \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_ARG, "", PROF_CATEGORY, PROF_SITE_LEVEL,                          \
                                 PROF__WITH(&PROF__HERE, PROF_EVENT_SCOPE, 0, __VA_ARGS__)),                  \
                 PROF__USE_LIST(__VA_ARGS__))
#define PROFILE_ARGS_TO(handle, ...)                                                                          \
    PROF__EITHER(                                                                                             \
        do {                                                                                                  \
            const prof_scope prof__to = (handle);                                                             \
            if (prof__to) PROF__WITH(PROF__NO_SITE, PROF_EVENT_SCOPE, prof__to, __VA_ARGS__);                \
        } while (0),                                                                                          \
        (0 ? (void)(handle) : PROF__USE_LIST(__VA_ARGS__)))
#define PROFILE_ARG_TO_TEXT(handle, key, text, bytes)                                                      \
    PROF__EITHER(                                                                                          \
        do {                                                                                               \
            const prof_scope prof__to = (handle);                                                          \
            if (prof__to) prof__arg_part_to(prof__to, PROF__TEXT(key), text, PROF__TO(size_t, bytes));     \
        } while (0),                                                                                       \
        PROF__USE4(handle, key, text, bytes))
#define PROFILE_ARG_TO(handle, key, ...) PROFILE_ARGS_TO(handle, PROF_ARG(key, __VA_ARGS__))
#define PROFILE_ARG_TO_I(handle, key, value) PROFILE_ARGS_TO(handle, PROF_ARG_I(key, value))
#define PROFILE_ARG_TO_U(handle, key, value) PROFILE_ARGS_TO(handle, PROF_ARG_U(key, value))
#define PROFILE_ARG_TO_D(handle, key, value) PROFILE_ARGS_TO(handle, PROF_ARG_D(key, value))
#define PROFILE_ARG_TO_B(handle, key, value) PROFILE_ARGS_TO(handle, PROF_ARG_B(key, value))
#define PROFILE_ARG_TO_S(handle, key, value) PROFILE_ARGS_TO(handle, PROF_ARG_S(key, value))
#define PROFILE_ARG_TO_P(handle, key, value) PROFILE_ARGS_TO(handle, PROF_ARG_P(key, value))
#define PROF__EVENT_ARGS(kind, type, name, id, ...)                                                           \
    PROF__EITHER(PROF__STATEMENT(kind, name, PROF_CATEGORY, PROF_SITE_LEVEL,                                  \
                                 PROF__WITH(&PROF__HERE, type, PROF__TO(uint64_t, id), __VA_ARGS__)),         \
                 (0 ? (void)(name), (void)(id) : PROF__USE_LIST(__VA_ARGS__)))
#define PROFILE_MARK_ARGS(name, ...) PROF__EVENT_ARGS(PROF__KIND_MARK, PROF_EVENT_MARK, name, 0, __VA_ARGS__)
#define PROFILE_SPAN_BEGIN_ARGS(name, id, ...) \
    PROF__EVENT_ARGS(PROF__KIND_EVENT, PROF_EVENT_SPAN_BEGIN, name, id, __VA_ARGS__)
#define PROFILE_SPAN_MARK_ARGS(name, id, ...) \
    PROF__EVENT_ARGS(PROF__KIND_EVENT, PROF_EVENT_SPAN_MARK, name, id, __VA_ARGS__)
#define PROFILE_SPAN_END_ARGS(name, id, ...)                                                               \
    PROF__EVENT_ARGS(PROF__KIND_EVENT, PROF_EVENT_SPAN_END, name, id, __VA_ARGS__)
#define PROFILE_FLOW_OUT_ARGS(id, ...) PROF__EVENT_ARGS(PROF__KIND_EVENT, PROF_EVENT_FLOW_OUT, "flow", id, __VA_ARGS__)
#define PROFILE_FLOW_STEP_ARGS(id, ...)                                                                    \
    PROF__EVENT_ARGS(PROF__KIND_EVENT, PROF_EVENT_FLOW_STEP, "flow", id, __VA_ARGS__)
#define PROFILE_FLOW_IN_ARGS(id, ...) PROF__EVENT_ARGS(PROF__KIND_EVENT, PROF_EVENT_FLOW_IN, "flow", id, __VA_ARGS__)
#define PROF__TASK_ARGS(type, task, ...)                                                                      \
    PROF__EITHER(                                                                                             \
        do {                                                                                                  \
            prof_task *prof__task = (task);                                                                   \
            if (prof__task) PROF__WITH(PROF__NO_SITE, type, PROF__ADDRESS(prof__task), __VA_ARGS__);   \
        } while (0),                                                                                          \
        (0 ? (void)(task) : PROF__USE_LIST(__VA_ARGS__)))
#define PROFILE_TASK_START_ARGS(task, ...) PROF__TASK_ARGS(PROF_EVENT_SPAN_BEGIN, task, __VA_ARGS__)
#define PROFILE_TASK_STOP_ARGS(task, ...) PROF__TASK_ARGS(PROF_EVENT_SPAN_END, task, __VA_ARGS__)

#define PROF__MEMORY(name, pool, how, freed, pointer, bytes)                                                         \
    PROF__STATEMENT(PROF__KIND_EVENT | PROF_ROLE_MEMORY << PROF__ROLE_SHIFT, name, pool, PROF_SITE_LEVEL,            \
                    prof__memory(&PROF__HERE, how, PROF__ADDRESS(freed), PROF__ADDRESS(pointer),                     \
                                 PROF__TO(uint64_t, bytes)))
#define PROFILE_ALLOC_POOL(pointer, bytes, pool) \
    PROF__EITHER(PROF__MEMORY("alloc", pool, 0, 0, pointer, bytes), PROF__USE3(pointer, bytes, pool))
#define PROFILE_ALLOC(pointer, bytes) PROFILE_ALLOC_POOL(pointer, bytes, PROF_CATEGORY)
#define PROFILE_FREE_POOL(pointer, pool) \
    PROF__EITHER(PROF__MEMORY("free", pool, PROF__FREE_IN_POOL, pointer, 0, 0), PROF__USE2(pointer, pool))
#define PROFILE_FREE(pointer) \
    PROF__EITHER(PROF__MEMORY("free", PROF_CATEGORY, 0, pointer, 0, 0), PROF__USE(pointer))
#define PROF__REALLOC(old, pointer, bytes, pool, how)                                                    \
    PROF__EITHER(PROF__MEMORY("realloc", pool, PROF__FREE_LATE | (how), old, pointer, bytes),            \
                 (0 ? (void)(old) : PROF__USE3(pointer, bytes, pool)))
#define PROFILE_REALLOC(old, pointer, bytes) PROF__REALLOC(old, pointer, bytes, PROF_CATEGORY, 0)
#define PROFILE_REALLOC_POOL(old, pointer, bytes, pool) PROF__REALLOC(old, pointer, bytes, pool, PROF__FREE_IN_POOL)
#define PROF__MEMORY_SCOPE(...) PROF__AGAIN(PROF__MEMORY_SCOPE_(__VA_ARGS__))
#define PROF__MEMORY_SCOPE_(id, name, begin, text)                                                                   \
    PROF__SITE_AT(prof__site_##id, PROF__KIND_BEGIN | PROF_ROLE_MEMORY << PROF__ROLE_SHIFT, name, PROF_CATEGORY,     \
                   PROF_SITE_LEVEL, 0, 0)                                                                  \
    PROF__GUARD(prof__scope_##id, begin(PROF__AT(prof__site_##id), PROF_SITE_LEVEL, text))
#define PROFILE_MEMORY_SCOPE(name) \
    PROF__EITHER(PROF__MEMORY_SCOPE(PROF_UNIQUE, name, PROF__BEGIN_1, 0), PROF__GONE(PROF_UNIQUE, name))
#define PROFILE_MEMORY_SCOPE_DYNAMIC(text) \
    PROF__EITHER(PROF__MEMORY_SCOPE(PROF_UNIQUE, "", PROF__BEGIN_TEXT, text), \
                 PROF__GONE_TEXT(PROF__USE(text)))

#define PROF__LOCK_EVENT(lock, name, type)                                                                           \
    PROF__EITHER(PROF__STATEMENT(PROF__KIND_EVENT | PROF_ROLE_LOCK << PROF__ROLE_SHIFT, name, PROF_CATEGORY,         \
                                 PROF_SITE_LEVEL, prof__event(&PROF__HERE, type, 0, PROF__ADDRESS(lock))),           \
                 PROF__USE2(lock, name))
#define PROFILE_LOCK_WAIT(lock, name) PROF__LOCK_EVENT(lock, name, PROF_EVENT_LOCK_WAIT)
#define PROFILE_LOCK_ACQUIRE(lock, name) PROF__LOCK_EVENT(lock, name, PROF_EVENT_LOCK_ACQUIRE)
#define PROFILE_LOCK_RELEASE(lock, name) PROF__LOCK_EVENT(lock, name, PROF_EVENT_LOCK_RELEASE)
/* For the mutexes of POSIX threads. */
#if !defined(_WIN32) && (defined(__GNUC__) || defined(__TINYC__))
#define PROF__MUTEX_LOCK(mutex, name)                                                                                \
    __extension__({                                                                                                  \
        PROF__SITE(PROF__WAITING, PROF__KIND_BEGIN, "wait for " name, PROF_CATEGORY, PROF_SITE_LEVEL);     \
        PROF__SITE(PROF__HERE, PROF__KIND_EVENT | PROF_ROLE_LOCK << PROF__ROLE_SHIFT, name, PROF_CATEGORY,           \
                   PROF_SITE_LEVEL);                                                                                 \
        PROF__LIVE(PROF__HERE, PROF_SITE_LEVEL) ? prof__mutex_lock(&PROF__WAITING, &PROF__HERE, mutex)     \
                                                : pthread_mutex_lock(mutex);                                         \
    })
#define PROF__MUTEX_UNLOCK(mutex)                                                                                    \
    __extension__({                                                                                                  \
        PROFILE_LOCK_RELEASE(mutex, "unlock");                                                                       \
        pthread_mutex_unlock(mutex);                                                                                 \
    })
#define PROFILE_MUTEX_LOCK(mutex, name) PROF__EITHER(PROF__MUTEX_LOCK(mutex, name), pthread_mutex_lock(mutex))
#define PROFILE_MUTEX_UNLOCK(mutex) PROF__EITHER(PROF__MUTEX_UNLOCK(mutex), pthread_mutex_unlock(mutex))
#endif
/* For the locks of Windows. Detail 1 of a LOCK_WAIT: another thread had the lock. */
#ifdef _WIN32
#define PROF__SYSTEM_LOCK(lock, name, attempt, wait)                                                                 \
    do {                                                                                                             \
        if (attempt) {                                                                                               \
            PROFILE_LOCK_ACQUIRE(lock, name);                                                                        \
        } else {                                                                                                     \
            PROFILE_BLOCK("wait for " name) {                                                                        \
                PROF__STATEMENT(PROF__KIND_EVENT | PROF_ROLE_LOCK << PROF__ROLE_SHIFT, name, PROF_CATEGORY,          \
                                PROF_SITE_LEVEL,                                                                     \
                                prof__event(&PROF__HERE, PROF_EVENT_LOCK_WAIT, 1, PROF__ADDRESS(lock)));             \
                wait;                                                                                                \
                PROFILE_LOCK_ACQUIRE(lock, name);                                                                    \
            }                                                                                                        \
        }                                                                                                            \
    } while (0)
#define PROF__SYSTEM_UNLOCK(lock, leave)                                                                             \
    do {                                                                                                             \
        PROFILE_LOCK_RELEASE(lock, "unlock");                                                                        \
        leave;                                                                                                       \
    } while (0)
#define PROFILE_CRITICAL_SECTION_ENTER(section, name)                                                                \
    PROF__EITHER(PROF__SYSTEM_LOCK(section, name, TryEnterCriticalSection(section), EnterCriticalSection(section)),  \
                 EnterCriticalSection(section))
#define PROFILE_CRITICAL_SECTION_LEAVE(section)                                                                      \
    PROF__EITHER(PROF__SYSTEM_UNLOCK(section, LeaveCriticalSection(section)),                                        \
                 LeaveCriticalSection(section))
#define PROFILE_SRWLOCK_ACQUIRE(lock, name)                                                                          \
    PROF__EITHER(PROF__SYSTEM_LOCK(lock, name, TryAcquireSRWLockExclusive(lock), AcquireSRWLockExclusive(lock)),     \
                 AcquireSRWLockExclusive(lock))
#define PROFILE_SRWLOCK_RELEASE(lock)                                                                                \
    PROF__EITHER(PROF__SYSTEM_UNLOCK(lock, ReleaseSRWLockExclusive(lock)),                                           \
                 ReleaseSRWLockExclusive(lock))
#define PROFILE_SRWLOCK_ACQUIRE_SHARED(lock, name)                                                                   \
    PROF__EITHER(PROF__SYSTEM_LOCK(lock, name, TryAcquireSRWLockShared(lock), AcquireSRWLockShared(lock)),           \
                 AcquireSRWLockShared(lock))
#define PROFILE_SRWLOCK_RELEASE_SHARED(lock)                                                                         \
    PROF__EITHER(PROF__SYSTEM_UNLOCK(lock, ReleaseSRWLockShared(lock)),                                              \
                 ReleaseSRWLockShared(lock))
#endif

#define PROFILE_THREAD(name) PROF__EITHER(prof_set_thread_name(PROF__TEXT(name)), PROF__USE(name))
#define PROFILE_THREAD_TEXT(text, bytes) \
    PROF__EITHER(prof__thread_part(text, PROF__TO(size_t, bytes)), PROF__USE2(text, bytes))

#endif /* PROF__API_MACROS_H */
