// session/rules: The rules that turn categories on and off. Protected by the state lock.
#ifndef PROF__SESSION_RULES_H
#define PROF__SESSION_RULES_H
#include "ground/errors.h"
#include "record/state.h"

#ifndef PROF__CATEGORIES
static prof_status prof__rule_add(const char *pattern, size_t length, int on, int exact)
{
    (void)pattern, (void)length, (void)on, (void)exact;
    return prof__left_out("categories", "PROF_TINY");
}

static prof_status prof__rules_set(const char *list) { return list && *list ? prof__rule_add(list, 0, 0, 0) : PROF_OK; }
#else
/* Adds a rule. A rule replaces an older one with the same pattern; "*" replaces all. exact: 1: the pattern is a name
   without wildcards. Called under the state lock. */
static prof_status prof__rule_add(const char *pattern, size_t length, int on, int exact)
{
    if ((length == 0 && !exact) || length >= sizeof prof__state.rules[0].pattern)
        return prof__fail(PROF_INVALID_ARGUMENT, "category pattern '%.60s': must have 1 to 47 bytes", pattern);
    if (length == 1 && pattern[0] == '*' && !exact) {
        prof__state.rule_count = 0;
        prof__state.category_default = on;
        return PROF_OK;
    }
    char text[sizeof prof__state.rules[0].pattern];
    prof__copy(text, pattern, length);
    text[length] = 0;
    int count = 0;
    for (int i = 0; i < prof__state.rule_count; ++i)
        if (prof__state.rules[i].exact != exact || !prof__equal(prof__state.rules[i].pattern, text))
            prof__state.rules[count++] = prof__state.rules[i];
    if (count == PROF__MAX_RULES)
        return prof__fail(PROF_NO_MEMORY, "categories: at most %d rules are possible", PROF__MAX_RULES);
    if (!prof__state.category_named && !exact) prof__state.category_default = !on;
    if (!exact) prof__state.category_named = 1;
    prof__copy(prof__state.rules[count].pattern, text, length + 1);
    prof__state.rules[count].on = on;
    prof__state.rules[count].exact = exact;
    prof__state.rule_count = count + 1;
    return PROF_OK;
}

/* Replaces all rules by those of a list such as "net,render*,-audio". Called under the state lock. */
static prof_status prof__rules_set(const char *list)
{
    prof_status status = PROF_OK;
    prof__state.rule_count = prof__state.category_named = 0;
    prof__state.category_default = 1;
    while (list && *list && !status) {
        size_t length = 0;
        int on = *list != '-';
        if (!on) ++list;
        while (list[length] && list[length] != ',') ++length;
        status = prof__rule_add(list, length, on, 0);
        list += length;
        if (*list == ',') ++list;
    }
    return status;
}
#endif

#endif /* PROF__SESSION_RULES_H */
