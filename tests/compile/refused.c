/* Uses that are refused, each with words that say what to do: see refused.sh. WRONG 0: what must go on to compile. */
#include "prof.h"

#undef PROF_CATEGORY
#define PROF_CATEGORY "first file of a unity build"
#undef PROF_CATEGORY
#define PROF_CATEGORY "second file"

static const char constant[] = "constant array";
#ifdef __cplusplus
static constexpr const char *pointer = constant;
struct type {
    static constexpr const char *name = "of a type";
};
template <typename T> void in_template()
{
    PROFILE_SCOPE(T::name);
    PROFILE_FUNCTION();
    PROFILE_SCOPE(__PRETTY_FUNCTION__);
}
#endif

void use(int count, char **texts);
void use(int count, char **texts)
{
#if WRONG == 0
    static const char local[] = "local array";
    PROFILE_FUNCTION();
    PROFILE_SCOPE("literal");
    PROFILE_SCOPE(constant);
    PROFILE_SCOPE(local);
    PROFILE_SCOPE(&local[1]);
    PROFILE_SCOPE(1 ? "one" : "other");
    PROFILE_SCOPE_C("name", constant);
    if (count) PROFILE_MARK("mark");
    else { PROFILE_SCOPE("braces"); }
    PROFILE_BLOCK("block") { PROFILE_SCOPE("inside"); }
#ifdef __cplusplus
    PROFILE_SCOPE(pointer);
    PROFILE_SCOPE(pointer + 1);
    in_template<type>();
    [] { PROFILE_FUNCTION(); }();
#endif
#elif WRONG == 1
    PROFILE_SCOPE(texts[0]);
#elif WRONG == 8
    struct text { const char *c_str() const { return "as std::string"; } } of_class;
    PROFILE_SCOPE(of_class);
#elif WRONG == 2
    char buffer[8] = "text";
    PROFILE_SCOPE(buffer);
#elif WRONG == 3
    PROFILE_MARK(texts[0]);
#elif WRONG == 4
    if (count) PROFILE_SCOPE("a");
    else count = 1;
#elif WRONG == 5
    if (count) PROFILE_SCOPE("a");
#elif WRONG == 6
    PROFILE_FUNCTION;
#elif WRONG == 7
    switch (count) {
    case 1:;
        PROFILE_SCOPE("a");
        break;
    case 2: count = 1;
    }
#endif
    (void)count, (void)texts;
}
