// record/site: Decides which call sites are on, by category, level and mask; loads and stores the state of a site. All
// under prof__lock_word, except loading a site's state.
#ifndef PROF__RECORD_SITE_H
#define PROF__RECORD_SITE_H
#include "api/markup.h"
#include "api/values.h"
#include "record/state.h"
#include "record/thread.h"

#ifndef PROF__CATEGORIES
static int prof__category_on(const char *category)
{
    (void)category;
    return 1;
}
static const char *prof__category_of(const prof_site *site) { return site->category; }
#else
/* Returns 1 if a text matches a pattern, where * stands for any characters and ? for one. */
static int prof__match(const char *pattern, const char *text)
{
    const char *star = NULL, *retry = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            retry = text;
        } else if (*pattern == '?' || *pattern == *text) {
            ++pattern;
            ++text;
        } else if (star) {
            pattern = star;
            text = ++retry;
        } else {
            return 0;
        }
    }
    while (*pattern == '*') ++pattern;
    return !*pattern;
}

/* Returns the index of the last rule that matches a category, or -1. */
static int prof__rule_of(const char *category)
{
    int i = prof__state.rule_count;
    while (i-- > 0)
        if ((prof__state.rules[i].exact ? prof__equal : prof__match)(prof__state.rules[i].pattern, category)) break;
    return i;
}

static int prof__category_on(const char *category)
{
    int rule = prof__rule_of(category ? category : "");
    return rule < 0 ? prof__state.category_default : prof__state.rules[rule].on;
}

/* Returns the category that turns a site on and off. For an allocation that is "memory", unless a rule names its own
   category. */
static const char *prof__category_of(const prof_site *site)
{
    int memory = site->kind >> PROF__ROLE_SHIFT == PROF_ROLE_MEMORY;
    return memory && prof__rule_of(site->category ? site->category : "") < 0 ? "memory" : site->category;
}
#endif

#ifndef PROF_FREESTANDING
/* The categories of all call sites, each terminated, for prof_domain_list(). They are copies, because the sites'
   modules may be unloaded. The list grows under the lock, and is read without it. */
static struct {
    uint32_t used;
    char names[4092];
} prof__categories;

static void prof__category_note(const char *category)
{
    char *each = prof__categories.names, *end = each + prof__categories.used;
    size_t size = category && !PROF__MINIMAL ? prof__length(category) + 1 : 1;
    if (size == 1 || size > sizeof prof__categories.names - prof__categories.used) return;
    while (each < end && !prof__equal(each, category)) each += prof__length(each) + 1;
    if (each < end) return;
    prof__copy(end, category, size);
    PROF__RELEASE(&prof__categories.used, prof__categories.used + (uint32_t)size);
}
#else
#define prof__category_note(category) ((void)0)
#endif

static uint64_t prof__site_load(const prof_site *site)
{
#if PROF__WIDE
    return PROF__LOAD(&site->private_state);
#else
    const prof__half *half = (const prof__half *)&site->private_state;
    uint32_t low = PROF__ACQUIRE(half + PROF__LOW_HALF), high = PROF__ACQUIRE(half + !PROF__LOW_HALF);
    if (PROF__LOAD(half + PROF__LOW_HALF) != low) low = PROF__SHUT; /* it is changing: take the slow path */
    return (uint64_t)high << 32 | low;
#endif
}

/* Sets the state of a site. Under the lock. Does not write a state that is the same already: each new thread settles
   the sites that it uses, and other threads would find them changing and take the slow path. */
static void prof__site_store(prof_site *site, uint64_t state)
{
    if (prof__site_load(site) == state) return;
#if PROF__WIDE
    PROF__RELEASE(&site->private_state, state);
#else
    prof__half *half = (prof__half *)&site->private_state;
    PROF__RELEASE(half + PROF__LOW_HALF, PROF__SHUT);
    PROF__RELEASE(half + !PROF__LOW_HALF, (uint32_t)(state >> 32));
    PROF__RELEASE(half + PROF__LOW_HALF, (uint32_t)state);
#endif
}

static uint64_t prof__site_kind(const prof_site *site) { return site->kind & ((1u << PROF__ROLE_SHIFT) - 1); }

#endif /* PROF__RECORD_SITE_H */
