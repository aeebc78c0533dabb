// api/functions: PROFILE_FUNCTION, and the names that C++ gives it: with the class and the template's arguments.
#ifndef PROF__API_FUNCTIONS_H
#define PROF__API_FUNCTIONS_H
#include "api/macros.h"

#if defined(__cplusplus) && defined(__GNUC__) && PROF_ENABLE && !defined(PROF_SHORT_FUNCTION)
/* __func__ has no class, and compilers spell __PRETTY_FUNCTION__ each in its own way. So the name is made of the second
   when a site is used for the first time in a session, before the recorder reads it. It is made in the program: a site
   that is on costs what every other costs. */
extern "C++" {
template <size_t size> struct PROF__HIDDEN prof__function_name { char text[size]; }; /* text[0]: 1 once it is made */

/* Makes a name of a signature. gcc and clang write:
     T Tpl<T>::set(U) [with U = char; T = int]        T Tpl<int>::set(U) [T = int, U = char]        Tpl<int>::set<char>
     {anonymous}::f()::<lambda(int)>     auto (anonymous namespace)::f()::(anonymous class)::operator()(int) const
                                                                                                    f::lambda */
struct PROF__HIDDEN prof__entry { /* of the list in brackets: a parameter, and what it stands for */
    const char *key, *key_end, *value, *value_end; /* without the brackets of a pack */
    unsigned number;
    bool pack;
};
struct PROF__HIDDEN prof__signature {
    const char *at, *end, *list, *list_end; /* the list in brackets: where parameters have values */
    char *out;
    size_t size, used, arguments; /* arguments: of the classes */
    unsigned long long taken;     /* bits: which entries of the list stand in the name */
    bool with;                    /* gcc's list, whose values replace parameters */

    static bool letter(char c)
    {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
               (c & 0x80);
    }
    static bool begins(const char *text, const char *last, const char *what)
    {
        for (; *what && text < last && *text == *what; ++what) ++text;
        return !*what;
    }
    /* Returns where an item ends: at this separator, or at the end of what is open around it. */
    static const char *item_end(const char *text, const char *last, char separator)
    {
        for (int depth = 0; text < last; ++text) {
            if (*text == '\'') { /* a letter as a value */
                for (++text; text < last && *text != '\''; ++text) text += *text == '\\';
            } else if (*text == '(' || *text == '<' || *text == '[' || *text == '{') {
                ++depth;
            } else if (*text == ')' || *text == ']' || *text == '}' || (*text == '>' && text[-1] != '-')) {
                if (!depth--) return text;
            } else if (!depth && *text == separator) {
                return text;
            }
        }
        return last;
    }
    static size_t needless(const char *text, const char *last) /* the length of what a name does not need */
    {
        return begins(text, last, "{anonymous}::")             ? 13
               : begins(text, last, "(anonymous namespace)::") ? 23
               : begins(text, last, "()::")                    ? 2
               : begins(text, last, "__cxx11::")               ? 9
               : begins(text, last, "__1::")                   ? 5
                                                               : 0;
    }
    static const char *group_end(const char *open, const char *last) /* after the bracket that closes it */
    {
        const char *close = item_end(open + 1, last, 0);
        return close < last ? close + 1 : last;
    }
    void put(char c)
    {
        if (used + 1 < size) out[used++] = c;
    }
    void put(const char *text)
    {
        while (*text) put(*text++);
    }

    /* Calls visit() for each entry of the list, until one returns true. */
    template <typename Visit> bool each(Visit visit) const
    {
        prof__entry entry = {list, list, list, list, 0, false};
        for (; entry.key < list_end; ++entry.number) {
            const char *last = item_end(entry.key, list_end, with ? ';' : ',');
            entry.key_end = item_end(entry.key, last, '=');
            entry.value = last - entry.key_end > 2 ? entry.key_end + 2 : last;
            entry.value_end = last;
            if (entry.key_end > entry.key && entry.key_end[-1] == ' ') --entry.key_end;
            entry.pack = entry.value < last && (*entry.value == '{' || *entry.value == '<') &&
                         !begins(entry.value, last, "<lambda") && group_end(entry.value, last) == last;
            if (entry.pack) {
                ++entry.value;
                --entry.value_end;
            }
            if (visit(entry)) return true;
            entry.key = last < list_end ? last + 2 : last;
        }
        return false;
    }
    bool replaced(const char *word, const char *word_end) /* puts the value of a parameter of this name */
    {
        return with && each([&](const prof__entry &entry) {
            const char *a = entry.key_end, *b = word_end;
            for (; a > entry.key && letter(a[-1]) && b > word && a[-1] == b[-1]; --b) --a; /* "int N" */
            if (b > word || (a > entry.key && letter(a[-1])) || entry.number > 63) return false;
            taken |= 1ull << entry.number;
            put_value(entry);
            return true;
        });
    }
    void put_value(const prof__entry &entry) { put_type(entry.value, entry.value_end, false); }
    /* Puts a type, or a list of types; replace: with values in the places of parameters. */
    void put_type(const char *text, const char *last, bool replace)
    {
        while (text < last) {
            const char *next = text;
            if (const size_t unnamed = needless(text, last)) text += unnamed;
            else if (begins(text, last, "<lambda") || begins(text, last, "(lambda at ")) {
                put("lambda");
                text = group_end(text, last);
            } else if (letter(*text)) {
                while (next < last && letter(*next)) ++next;
                if (!replace || (text[-1] == ':' && text[-2] == ':') || !replaced(text, next))
                    for (; text < next; ++text) put(*text);
                text = next;
            } else {
                const char next_one = text + 1 < last ? text[1] : 0;
                if (*text != ' ' || (next_one != '*' && next_one != '&' && next_one != '>')) put(*text);
                ++text;
            }
        }
    }
    /* After "operator": up to the parameters. */
    void put_operator()
    {
        const char *from = at;
        if (begins(at, end, "()")) at += 2;
        while (at < end && *at != '(') ++at;
        put_type(from, at, true);
    }
    bool goes_on() /* at parameters: true: something in their function follows */
    {
        at = group_end(at, end);
        while (at < end && (*at == ' ' || *at == '&' || letter(*at))) ++at; /* const */
        return begins(at, end, "::");
    }
    bool step() /* reads a part of the name; false: it ends here */
    {
        const char *from = at;
        if (const size_t unnamed = needless(at, end)) at += unnamed;
        else if (begins(at, end, "<lambda") || begins(at, end, "(lambda at ") ||
                 begins(at, end, "(anonymous class)::operator()")) {
            at = group_end(at, end);
            if (begins(at, end, "::operator()")) at += 12;
            put("lambda");
        } else if (letter(*at)) {
            while (at < end && letter(*at)) put(*at++);
            if (at - from == 8 && begins(from, at, "operator")) put_operator();
        } else if (*at == '<') {
            at = group_end(at, end);
            for (const char *each = from; each < at - 1; ++arguments)
                if ((each = item_end(each + 1, at, ',')) == from + 1) break; /* <> */
            put_type(from, at, true);
        } else if (*at == '(' && used && !(used == 8 && begins(out, out + used, "decltype"))) {
            return goes_on();
        } else if (*at == ':' || *at == '~' || *at == '.') {
            put(*at++);
        } else { /* all before is no part of the name */
            used = arguments = 0;
            taken = 0;
            ++at;
        }
        return true;
    }
    /* Returns whether a parameter is the function's, not its class's. gcc lists typedefs of the signature, too. */
    bool is_own(const prof__entry &entry)
    {
        size_t count = 0;
        for (const char *c = entry.key; c < entry.key_end; ++c)
            if (*c == ':' || *c == '(') return false;
        if (with)
            return !(entry.number < 64 && taken >> entry.number & 1) &&
                   !(entry.key_end - entry.key > 2 && begins(entry.key_end - 2, entry.key_end, "_t"));
        if (!arguments) return true;
        for (const char *c = entry.value; c < entry.value_end; ++count) {
            c = item_end(c, entry.value_end, entry.pack ? ',' : 0);
            if (c < entry.value_end) ++c;
        }
        arguments -= count < arguments ? count : arguments;
        return false;
    }
    void put_own() /* what the function's own parameters stand for */
    {
        bool first = true;
        each([&](const prof__entry &entry) {
            if (entry.value == entry.value_end || !is_own(entry)) return false;
            put(first ? "<" : ", ");
            put_value(entry);
            first = false;
            return false;
        });
        if (!first) put('>');
    }
    void find_list() /* at the end, in brackets */
    {
        const char *open = end;
        int depth = 0;
        if (end == at || end[-1] != ']') return;
        do depth += (open[-1] == ']') - (open[-1] == '[');
        while (--open > at && depth);
        if (depth || open == at || open[-1] != ' ') return;
        list = open + 1;
        list_end = end - 1;
        end = open - 1;
        with = begins(list, list_end, "with ");
        if (with) list += 5;
    }
    void make()
    {
        while (*end) ++end;
        find_list();
        while (at < end && step()) continue;
        if (!used) return;
        if (used < 6 || !begins(out + used - 6, out + used, "lambda")) put_own();
    }
};

/* Begins the scope of a function whose site is new, or not known in this session. All threads that come here at once
   write the same name: none waits for another, nor a signal handler for what it interrupted. */
PROF__HIDDEN PROF__UNTRACED PROF__COLD inline prof__token prof__begin_function(prof_site *site, const char *pretty,
                                                                              size_t size)
{
    char *name = const_cast<char *>(site->name), made[PROF_MAX_TEXT + 2];
    if (!__atomic_load_n(name - 1, __ATOMIC_ACQUIRE)) {
        if (size > sizeof made) size = sizeof made;
        prof__signature text = {pretty, pretty, nullptr, nullptr, made, size, 0, 0, 0, false};
        text.make();
        if (!text.used) text.put(site->function);
        for (size_t i = 0; i < text.used; ++i)
            if (__atomic_load_n(name + i, __ATOMIC_RELAXED) != made[i])
                __atomic_store_n(name + i, made[i], __ATOMIC_RELAXED);
        __atomic_store_n(name - 1, 1, __ATOMIC_RELEASE);
    }
    return prof__begin(site);
}
} /* extern "C++" */

#define PROF__TITLE PROF__OF_LINE(prof__title_)
#define PROF__FUNCTION_ROOM (2 * sizeof __PRETTY_FUNCTION__) /* a parameter may stand in the name twice */
#define PROF__FUNCTION_SITE(variable, category, level, color)                                              \
    typedef void *variable##_needs_braces_around_it;                                                       \
    variable##_needs_braces_around_it variable;                                                            \
    {                                                                                                      \
        static prof__function_name<PROF__FUNCTION_ROOM + 1> PROF__TITLE;                                   \
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
