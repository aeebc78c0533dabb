// api/arguments: What values of C++ become as arguments: numbers, texts, classes.
#ifndef PROF__API_ARGUMENTS_H
#define PROF__API_ARGUMENTS_H
#include "api/markup.h"

#if PROF_ENABLE && defined(__cplusplus)
extern "C++" { /* also in a header that is included in extern "C" { } */
#define PROF__INLINE PROF__HIDDEN PROF__UNTRACED inline
#define PROF__TEMPLATE template <typename Any> PROF__INLINE
#define PROF__ARG_OF(type, record, number) \
    PROF__INLINE void prof__arg(prof_site *site, type value) { record(site, number); }
PROF__ARG_OF(bool, prof__arg_bool, value)
PROF__UNLESS_NO_DOUBLE(PROF__ARG_OF(double, prof__arg_double, value))
PROF__UNLESS_NO_DOUBLE(PROF__ARG_OF(float, prof__arg_double, static_cast<double>(value)))
PROF__ARG_OF(int, prof__arg_int, value) PROF__ARG_OF(long, prof__arg_int, value)
PROF__ARG_OF(long long, prof__arg_int, value) PROF__ARG_OF(unsigned, prof__arg_uint, value)
PROF__ARG_OF(unsigned long, prof__arg_uint, value) PROF__ARG_OF(unsigned long long, prof__arg_uint, value)
PROF__UNLESS_NO_DOUBLE(PROF__ARG_OF(long double, prof__arg_double, static_cast<double>(value)))
PROF__ARG_OF(const char *, prof__arg_string, value) PROF__ARG_OF(const volatile void *, prof__arg_pointer, value)

/* Texts of classes: std::string and all others with a c_str() of char; std::string_view and all others with data() of
   char and size(), as a copy, because no zero needs to follow. */
template <typename Any> struct PROF__HIDDEN prof__copy_of {
    char text[PROF_MAX_TEXT + 2];
    operator const char *() const { return text; }
    PROF__UNTRACED explicit prof__copy_of(const Any &from)
    {
        size_t size = from.size() < sizeof text ? from.size() : sizeof text - 1;
        for (size_t i = 0; i < size; ++i) text[i] = from.data()[i];
        text[size] = 0;
    }
};
PROF__TEMPLATE auto prof__chars_of(const Any &text, int) -> decltype(static_cast<const char *>(text.c_str()))
{
    return text.c_str();
}
PROF__TEMPLATE auto prof__chars_of(const Any &text, long)
    -> decltype(static_cast<const char *>(text.data()), text.size(), prof__copy_of<Any>(text))
{
    return prof__copy_of<Any>(text);
}
PROF__INLINE const char *prof__chars(const char *text) { return text; }
PROF__TEMPLATE auto prof__chars(const Any &text) -> decltype(prof__chars_of(text, 0))
{
    return prof__chars_of(text, 0);
}

/* For PROF__CONSTANT, which refuses what is not constant: arrays and classes usually hold names made at run time. */
PROF__HIDDEN PROF__UNTRACED constexpr bool prof__given(const char *text) { return text != nullptr; }
template <size_t size> bool prof__given(char (&text)[size]);
template <typename Any, bool> struct prof__class_if {};
template <typename Any> struct prof__class_if<Any, true> { typedef bool type; };
template <typename Any> typename prof__class_if<Any, __is_class(Any)>::type prof__given(const Any &text);

/* A short text that is made of a value. */
struct PROF__HIDDEN prof__short_text {
    char text[64];
    size_t used;
    PROF__UNTRACED prof__short_text() : used(0) { text[0] = 0; }
    PROF__UNTRACED const char *c_str() const { return text; }
    PROF__UNTRACED void put(char c)
    {
        if (used + 1 < sizeof text) text[used++] = c;
        text[used] = 0;
    }
    PROF__UNTRACED void put(const char *from)
    {
        while (*from) put(*from++);
    }
    PROF__UNTRACED void put_number(unsigned long long number)
    {
        char digits[20];
        size_t count = 0;
        do digits[count++] = static_cast<char>('0' + number % 10);
        while (number /= 10);
        while (count) put(digits[--count]);
    }
};
/* A char is a letter; one that no viewer can show is "\x1b". */
PROF__INLINE prof__short_text prof__letter(char c)
{
    prof__short_text made;
    if (c >= ' ' && c <= '~') {
        made.put(c);
        return made;
    }
    made.put("\\x");
    made.put("0123456789abcdef"[static_cast<unsigned char>(c) >> 4]);
    made.put("0123456789abcdef"[static_cast<unsigned char>(c) & 15]);
    return made;
}
PROF__INLINE void prof__arg(prof_site *site, char value) { prof__arg_string(site, prof__letter(value).text); }

/* A duration of std::chrono as "16 ms", of a period without a name as "3 * 1/60 s". */
template <typename Any> struct PROF__HIDDEN prof__duration {
    typedef typename Any::rep rep;
    typedef typename Any::period period;
    static const char *unit()
    {
        return period::num == 1 ? period::den == 1            ? " s"
                                  : period::den == 1000       ? " ms"
                                  : period::den == 1000000    ? " us"
                                  : period::den == 1000000000 ? " ns"
                                                              : nullptr
               : period::den != 1     ? nullptr
               : period::num == 60    ? " min"
               : period::num == 3600  ? " h"
               : period::num == 86400 ? " d"
                                      : nullptr;
    }
    static void put_whole(prof__short_text &made, long long count)
    {
        const unsigned long long number = static_cast<unsigned long long>(count);
        if (count < 0) made.put('-');
        made.put_number(count < 0 ? 0 - number : number);
    }
    template <typename Real> static void put_real(prof__short_text &made, Real count) /* six digits behind the point */
    {
        if (count < 0) made.put('-');
        if (count < 0) count = -count;
        if (!(count < static_cast<Real>(1e18))) return made.put(count > 0 ? "1e18 or more" : "nan");
        unsigned long long all = static_cast<unsigned long long>(count), part;
        part = static_cast<unsigned long long>((count - static_cast<Real>(all)) * 1000000 + static_cast<Real>(0.5));
        made.put_number(all + part / 1000000);
        if (!(part %= 1000000)) return;
        made.put('.');
        for (unsigned long long digit = 100000; part; digit /= 10) {
            made.put(static_cast<char>('0' + part / digit));
            part %= digit;
        }
    }
    template <typename Rep, bool> struct count_of {
        static void put(prof__short_text &made, Rep count) { put_whole(made, static_cast<long long>(count)); }
    };
    template <typename Rep> struct count_of<Rep, true> {
        static void put(prof__short_text &made, Rep count) { put_real(made, count); }
    };
    PROF__UNTRACED static prof__short_text text(const Any &value)
    {
        prof__short_text made;
        count_of<rep, (rep(1) / 2 > 0)>::put(made, value.count());
        if (unit()) {
            made.put(unit());
            return made;
        }
        made.put(" * ");
        made.put_number(static_cast<unsigned long long>(period::num));
        made.put('/');
        made.put_number(static_cast<unsigned long long>(period::den));
        made.put(" s");
        return made;
    }
};

/* What a class or an enumeration is recorded as: what a function prof_text() of its namespace returns, a text of its
   own, a duration, the value of an atomic, or the number of an enumeration. */
template <int rank> struct prof__order : prof__order<rank - 1> {};
template <> struct prof__order<0> {};
template <typename Any, bool> struct prof__enum_if {};
template <typename Any> struct prof__enum_if<Any, true> { typedef __underlying_type(Any) type; };
template <typename Any> struct prof__enum : prof__enum_if<Any, __is_enum(Any)> {};
PROF__TEMPLATE auto prof__value(const Any &value, prof__order<4>) -> decltype(prof_text(value))
{
    return prof_text(value);
}
PROF__TEMPLATE auto prof__value(const Any &value, prof__order<3>) -> decltype(prof__chars_of(value, 0))
{
    return prof__chars_of(value, 0);
}
PROF__TEMPLATE auto prof__value(const Any &value, prof__order<2>)
    -> decltype(static_cast<void>(value.count()), static_cast<void>(sizeof(typename Any::period)), prof__short_text())
{
    return prof__duration<Any>::text(value);
}
PROF__TEMPLATE auto prof__value(const Any &value, prof__order<1>)
    -> decltype(static_cast<void>(value.is_lock_free()), value.load())
{
    return value.load();
}
PROF__TEMPLATE typename prof__enum<Any>::type prof__value(const Any &value, prof__order<0>)
{
    return static_cast<typename prof__enum<Any>::type>(value);
}
PROF__TEMPLATE auto prof__arg(prof_site *site, const Any &value)
    -> decltype(static_cast<void>(prof__value(value, prof__order<4>())))
{
    prof__arg(site, prof__value(value, prof__order<4>()));
}

/* Lists of arguments. The text of a class, or its copy, lives until the list has been recorded. */
#define PROF__MADE_AS(type, name)                                                                          \
    PROF__INLINE type prof__plain(type value) { return value; }                                            \
    PROF__INLINE prof_arg prof__made(const char *key, type value) { return prof__made_##name(key, value); }
PROF__MADE_AS(bool, bool) PROF__UNLESS_NO_DOUBLE(PROF__MADE_AS(double, double)) PROF__MADE_AS(int, int)
PROF__MADE_AS(long, int) PROF__MADE_AS(long long, int) PROF__MADE_AS(unsigned, uint) PROF__MADE_AS(unsigned long, uint)
PROF__MADE_AS(unsigned long long, uint) PROF__MADE_AS(const char *, string)
PROF__MADE_AS(const volatile void *, pointer)
#define PROF__PLAIN_DOUBLE(type) \
    PROF__INLINE double prof__plain(type value) { return static_cast<double>(value); }
PROF__UNLESS_NO_DOUBLE(PROF__PLAIN_DOUBLE(float) PROF__PLAIN_DOUBLE(long double))
PROF__INLINE prof__short_text prof__plain(char value) { return prof__letter(value); }
PROF__TEMPLATE auto prof__plain(const Any &value) -> decltype(prof__value(value, prof__order<4>()))
{
    return prof__value(value, prof__order<4>());
}
PROF__TEMPLATE auto prof__made(const char *key, const Any &text)
    -> decltype(prof__made_string(key, static_cast<const char *>(text.c_str())))
{
    return prof__made_string(key, text.c_str());
}
template <typename... Any>
PROF__INLINE void prof__with_all(prof_site *site, uint64_t type, uint64_t object, const Any &...args)
{
    const prof_arg list[] = {args...};
    prof__with(site, type, object, list, static_cast<uint32_t>(sizeof...(args)));
}
} /* extern "C++" */
#endif

#endif /* PROF__API_ARGUMENTS_H */
