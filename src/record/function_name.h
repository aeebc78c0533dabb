// record/function_name: PROFILE_FUNCTION in C++: makes the name, with the class and the template's arguments.
#ifndef PROF__RECORD_FUNCTION_NAME_H
#define PROF__RECORD_FUNCTION_NAME_H
#include "api/markup.h"
#include "record/scope.h"

/* __func__ has no class, and compilers spell __PRETTY_FUNCTION__ each in its own way. So the name is made of the second
   when a site is used for the first time in a session, before the recorder reads it. It is made in the program: a site
   that is on costs what every other costs. */
#ifdef __GNUC__

/* Makes a name of a signature. gcc and clang write:
     T Tpl<T>::set(U) [with U = char; T = int]        T Tpl<int>::set(U) [T = int, U = char]        Tpl<int>::set<char>
     {anonymous}::f()::<lambda(int)>     auto (anonymous namespace)::f()::(anonymous class)::operator()(int) const
                                                                                                    f::lambda */
typedef struct prof__entry { /* of the list in brackets: a parameter, and what it stands for */
    const char *key, *key_end, *value, *value_end; /* without the brackets of a pack */
    const char *next;
    unsigned number;
    int pack;
} prof__entry;
typedef struct prof__signature {
    const char *at, *end, *list, *list_end; /* the list in brackets: where parameters have values */
    char *out;
    size_t size, used, arguments; /* arguments: of the classes */
    uint64_t taken;               /* bits: which entries of the list stand in the name */
    int with;                     /* gcc's list, whose values replace parameters */
} prof__signature;

static int prof__is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
           (c & 0x80);
}
static int prof__is_at(const char *text, const char *end, const char *what)
{
    for (; *what && text < end && *text == *what; ++what) ++text;
    return !*what;
}
/* Returns where an item ends: at this separator, or at the end of what is open around it. */
static const char *prof__item_end(const char *text, const char *end, char separator)
{
    for (int depth = 0; text < end; ++text) {
        if (*text == '\'') { /* a letter as a value */
            for (++text; text < end && *text != '\''; ++text) text += *text == '\\';
        } else if (*text == '(' || *text == '<' || *text == '[' || *text == '{') {
            ++depth;
        } else if (*text == ')' || *text == ']' || *text == '}' || (*text == '>' && text[-1] != '-')) {
            if (!depth--) return text;
        } else if (!depth && *text == separator) {
            return text;
        }
    }
    return end;
}
static const char *prof__group_end(const char *open, const char *end) /* after the bracket that closes it */
{
    const char *close = prof__item_end(open + 1, end, 0);
    return close < end ? close + 1 : end;
}
static size_t prof__needless(const char *text, const char *end) /* the length of what a name does not need */
{
    return prof__is_at(text, end, "{anonymous}::")             ? 13
           : prof__is_at(text, end, "(anonymous namespace)::") ? 23
           : prof__is_at(text, end, "()::")                    ? 2
           : prof__is_at(text, end, "__cxx11::")               ? 9
           : prof__is_at(text, end, "__1::")                   ? 5
                                                               : 0;
}
static int prof__is_at_lambda(const char *text, const char *end)
{
    return prof__is_at(text, end, "<lambda") || prof__is_at(text, end, "(lambda at ");
}
static void prof__put_char(prof__signature *s, char c)
{
    if (s->used + 1 < s->size) s->out[s->used++] = c;
}
static void prof__put_chars(prof__signature *s, const char *text)
{
    while (*text) prof__put_char(s, *text++);
}

/* The entries of the list, one after the other: entry is all zero before the first. Returns 0 after the last. */
static int prof__entry_next(const prof__signature *s, prof__entry *entry)
{
    const char *end;
    if (entry->next) ++entry->number;
    entry->key = entry->next ? entry->next : s->list;
    if (entry->key >= s->list_end) return 0;
    end = prof__item_end(entry->key, s->list_end, s->with ? ';' : ',');
    entry->key_end = prof__item_end(entry->key, end, '=');
    entry->value = end - entry->key_end > 2 ? entry->key_end + 2 : end;
    entry->value_end = end;
    if (entry->key_end > entry->key && entry->key_end[-1] == ' ') --entry->key_end;
    entry->pack = entry->value < end && (*entry->value == '{' || *entry->value == '<') &&
                  !prof__is_at(entry->value, end, "<lambda") && prof__group_end(entry->value, end) == end;
    if (entry->pack) {
        ++entry->value;
        --entry->value_end;
    }
    entry->next = end < s->list_end ? end + 2 : end;
    return 1;
}
static void prof__put_type(prof__signature *s, const char *text, const char *end, int replace);
static int prof__replaced(prof__signature *s, const char *word, const char *end) /* puts the value of this parameter */
{
    prof__entry entry = {NULL, NULL, NULL, NULL, NULL, 0, 0};
    while (s->with && prof__entry_next(s, &entry)) {
        const char *a = entry.key_end, *b = end;
        for (; a > entry.key && prof__is_letter(a[-1]) && b > word && a[-1] == b[-1]; --b) --a; /* "int N" */
        if (b > word || (a > entry.key && prof__is_letter(a[-1])) || entry.number > 63) continue;
        s->taken |= (uint64_t)1 << entry.number;
        prof__put_type(s, entry.value, entry.value_end, 0);
        return 1;
    }
    return 0;
}
/* Puts a type, or a list of types; replace: with values in the places of parameters. */
static void prof__put_type(prof__signature *s, const char *text, const char *end, int replace)
{
    while (text < end) {
        const char *next = text;
        size_t unnamed = prof__needless(text, end);
        if (unnamed) {
            text += unnamed;
        } else if (prof__is_at_lambda(text, end)) {
            prof__put_chars(s, "lambda");
            text = prof__group_end(text, end);
        } else if (prof__is_letter(*text)) {
            while (next < end && prof__is_letter(*next)) ++next;
            if (!replace || (text[-1] == ':' && text[-2] == ':') || !prof__replaced(s, text, next))
                for (; text < next; ++text) prof__put_char(s, *text);
            text = next;
        } else {
            char after = text + 1 < end ? text[1] : 0;
            if (*text != ' ' || (after != '*' && after != '&' && after != '>')) prof__put_char(s, *text);
            ++text;
        }
    }
}
/* After "operator": up to the parameters. */
static void prof__put_operator(prof__signature *s)
{
    const char *from = s->at;
    if (prof__is_at(s->at, s->end, "()")) s->at += 2;
    while (s->at < s->end && *s->at != '(') ++s->at;
    prof__put_type(s, from, s->at, 1);
}
static void prof__put_arguments(prof__signature *s) /* of a class */
{
    const char *from = s->at;
    s->at = prof__group_end(from, s->end);
    for (const char *each = from; each < s->at - 1; ++s->arguments)
        if ((each = prof__item_end(each + 1, s->at, ',')) == from + 1) break; /* <> */
    prof__put_type(s, from, s->at, 1);
}
static int prof__signature_goes_on(prof__signature *s) /* at parameters: 1: something in their function follows */
{
    s->at = prof__group_end(s->at, s->end);
    while (s->at < s->end && (*s->at == ' ' || *s->at == '&' || prof__is_letter(*s->at))) ++s->at; /* const */
    return prof__is_at(s->at, s->end, "::");
}
static int prof__signature_step(prof__signature *s) /* reads a part of the name; 0: it ends here */
{
    const char *from = s->at;
    size_t unnamed = prof__needless(s->at, s->end);
    if (unnamed) {
        s->at += unnamed;
    } else if (prof__is_at_lambda(s->at, s->end) || prof__is_at(s->at, s->end, "(anonymous class)::operator()")) {
        s->at = prof__group_end(s->at, s->end);
        if (prof__is_at(s->at, s->end, "::operator()")) s->at += 12;
        prof__put_chars(s, "lambda");
    } else if (prof__is_letter(*s->at)) {
        while (s->at < s->end && prof__is_letter(*s->at)) prof__put_char(s, *s->at++);
        if (s->at - from == 8 && prof__is_at(from, s->at, "operator")) prof__put_operator(s);
    } else if (*s->at == '<') {
        prof__put_arguments(s);
    } else if (*s->at == '(' && s->used && !(s->used == 8 && prof__is_at(s->out, s->out + s->used, "decltype"))) {
        return prof__signature_goes_on(s);
    } else if (*s->at == ':' || *s->at == '~' || *s->at == '.') {
        prof__put_char(s, *s->at++);
    } else { /* all before is no part of the name */
        s->used = s->arguments = 0;
        s->taken = 0;
        ++s->at;
    }
    return 1;
}
/* Returns whether a parameter is the function's, not its class's. gcc lists typedefs of the signature, too. */
static int prof__is_own(prof__signature *s, const prof__entry *entry)
{
    size_t count = 0;
    for (const char *c = entry->key; c < entry->key_end; ++c)
        if (*c == ':' || *c == '(') return 0;
    if (s->with)
        return !(entry->number < 64 && s->taken >> entry->number & 1) &&
               !(entry->key_end - entry->key > 2 && prof__is_at(entry->key_end - 2, entry->key_end, "_t"));
    if (!s->arguments) return 1;
    for (const char *c = entry->value; c < entry->value_end; ++count) {
        c = prof__item_end(c, entry->value_end, entry->pack ? ',' : 0);
        if (c < entry->value_end) ++c;
    }
    s->arguments -= count < s->arguments ? count : s->arguments;
    return 0;
}
static void prof__put_own(prof__signature *s) /* what the function's own parameters stand for */
{
    prof__entry entry = {NULL, NULL, NULL, NULL, NULL, 0, 0};
    const char *before = "<";
    while (prof__entry_next(s, &entry)) {
        if (entry.value == entry.value_end || !prof__is_own(s, &entry)) continue;
        prof__put_chars(s, before);
        prof__put_type(s, entry.value, entry.value_end, 0);
        before = ", ";
    }
    if (*before != '<') prof__put_char(s, '>');
}
static void prof__signature_find_list(prof__signature *s) /* at the end, in brackets */
{
    const char *open = s->end;
    int depth = 0;
    if (s->end == s->at || s->end[-1] != ']') return;
    do depth += (open[-1] == ']') - (open[-1] == '[');
    while (--open > s->at && depth);
    if (depth || open == s->at || open[-1] != ' ') return;
    s->list = open + 1;
    s->list_end = s->end - 1;
    s->end = open - 1;
    s->with = prof__is_at(s->list, s->list_end, "with ");
    if (s->with) s->list += 5;
}
static size_t prof__function_name(const char *pretty, char *out, size_t size)
{
    prof__signature s = {pretty, pretty, NULL, NULL, NULL, 0, 0, 0, 0, 0};
    s.out = out;
    s.size = size;
    while (*s.end) ++s.end;
    prof__signature_find_list(&s);
    while (s.at < s.end && prof__signature_step(&s)) continue;
    if (s.used && (s.used < 6 || !prof__is_at(out + s.used - 6, out + s.used, "lambda"))) prof__put_own(&s);
    return s.used;
}

PROF_DEF prof__token prof__begin_function(prof_site *site, const char *pretty, size_t size)
{
    char *name = (char *)(uintptr_t)site->name, made[PROF_MAX_TEXT + 2];
    if (!__atomic_load_n(name - 1, __ATOMIC_ACQUIRE)) {
        size_t length = prof__function_name(pretty, made, size < sizeof made ? size : sizeof made);
        const char *text = length ? made : site->function;
        for (size_t i = 0; length ? i < length : text[i] && i + 1 < size; ++i)
            if (__atomic_load_n(name + i, __ATOMIC_RELAXED) != text[i])
                __atomic_store_n(name + i, text[i], __ATOMIC_RELAXED);
        __atomic_store_n(name - 1, 1, __ATOMIC_RELEASE);
    }
    return prof__begin(site);
}
#endif

#endif /* PROF__RECORD_FUNCTION_NAME_H */
