// session/config_env: Sets a configuration from keys and from the environment. Keys may be claimed by other headers.
// Suggests the nearest known key for a misspelt one.
#ifndef PROF__SESSION_CONFIG_ENV_H
#define PROF__SESSION_CONFIG_ENV_H
#include "api/control.h"
#include "ground/instances.h"
#include "ground/errors.h"
#include "ground/numbers.h"
#include "record/locks.h"
#include "session/config.h"
#include "session/config_others.h"
#include "session/config_set.h"
#include "session/process.h"

static struct prof__claim {
    char prefix[32];
    prof_status (*claim)(void *user, const char *key, const char *value);
    void *user;
} prof__claims[16]; /* protected by the state lock */

static int prof__begins(const char *text, const char *prefix)
{
    while (*prefix && *text == *prefix) ++text, ++prefix;
    return !*prefix;
}

/* Adds, replaces or (claim is NULL) removes the claim of a prefix of keys. */
static prof_status prof__claim_put(const char *prefix,
                                   prof_status (*claim)(void *user, const char *key, const char *value), void *user)
{
    size_t length = prefix ? prof__length(prefix) : 0, count = sizeof prof__claims / sizeof *prof__claims, at = count;
    if (!length || length >= sizeof prof__claims->prefix)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_config_claim: prefix must have 1 to 31 bytes");
    uint32_t write_lock = prof__state_lock();
    for (size_t i = 0; i < count; ++i) {
        if (prof__claims[i].claim && prof__equal(prof__claims[i].prefix, prefix)) at = i;
        if (!prof__claims[i].claim && at == count && claim) at = i;
    }
    if (at < count) {
        prof__copy(prof__claims[at].prefix, prefix, length + 1);
        prof__claims[at].claim = claim;
        prof__claims[at].user = user;
    }
    prof__state_unlock(write_lock);
    if (at == count && claim)
        return prof__fail(PROF_NO_MEMORY, "prof_config_claim: at most %d prefixes can be claimed", (int)count);
    return PROF_OK;
}

PROF_DEF prof_status prof_config_claim(const char *prefix,
                                       prof_status (*claim)(void *user, const char *key, const char *value), void *user)
{
    PROF__FORWARD(prof_config_claim, (prefix, claim, user));
    return prof__claim_put(prefix, claim, user);
}

/* Returns 1 if a claim has handled the key, with its result in *status. If claim() fails, and a function of prof that
   it called has left an error text, that text is kept, because it says more than a general one. */
static int prof__claimed(const char *key, const char *value, prof_status *status)
{
    struct prof__claim found;
    char *text = PROF__ERROR_TEXT(), before[PROF__ERROR_SIZE];
    size_t longest = 0;
    prof__clear(&found, sizeof found);
    uint32_t write_lock = prof__state_lock();
    for (size_t i = 0; i < sizeof prof__claims / sizeof *prof__claims; ++i) {
        size_t length = prof__length(prof__claims[i].prefix);
        if (!prof__claims[i].claim || length < longest || !prof__begins(key, prof__claims[i].prefix)) continue;
        longest = length;
        found = prof__claims[i];
    }
    prof__state_unlock(write_lock);
    if (!found.claim) return 0;
    prof__copy(before, text, sizeof before);
    *text = 0;
    *status = found.claim(found.user, key, value);
    if (!*status)
        prof__copy(text, before, sizeof before);
    else if (!*text)
        prof__fail(*status, "%s '%s': %s (refused by the claim of '%s')", key, value, prof_status_text(*status),
                   found.prefix);
    return 1;
}

/* Returns the known key that a user most likely meant by name, or NULL. At most half of the letters of name, or two if
   that is more, may be wrong. */
static const char *prof__key_nearest(const char *name)
{
    const char *nearest = prof__keys[0].name;
    size_t most = prof__length(name) / 2;
    for (size_t i = 0; i < PROF__KEY_COUNT_ALL + PROF__OTHER_COUNT_ALL; ++i) {
        const char *each =
            i < PROF__KEY_COUNT_ALL ? prof__keys[i].name : prof__other_keys[i - PROF__KEY_COUNT_ALL].name;
        if (prof__distance(name, each) < prof__distance(name, nearest)) nearest = each;
    }
    return prof__distance(name, nearest) <= (most > 2 ? most : 2) ? nearest : NULL;
}

PROF_DEF prof_status prof_config_set(prof_config *config, const char *key, const char *value)
{
    PROF__CALM();
    PROF__FORWARD(prof_config_set, (config, key, value));
    prof_status status;
    if (!config || !key || !value) return prof__fail(PROF_INVALID_ARGUMENT, "prof_config_set: null argument");
    const prof__key *own = prof__key_find(key);
    if (own) return prof__key_set(own, key, config, value);
    if (prof__claimed(key, value, &status)) return status;
    for (size_t i = 0; i < PROF__OTHER_COUNT_ALL; ++i)
        if (prof__equal(prof__other_keys[i].name, key)) return prof__other_set(&prof__other_keys[i], config, value);
    const char *nearest = prof__key_nearest(key);
    if (nearest) return prof__fail(PROF_INVALID_ARGUMENT, "unknown key '%s': did you mean '%s'?", key, nearest);
    return prof__fail(PROF_INVALID_ARGUMENT, "unknown key '%s': \"prof config\" lists all keys", key);
}

/* Writes the environment variable of a key: "PROF_BUFFER" for "buffer". */
static void prof__key_variable(const char *key, char *to, size_t size)
{
    size_t at = 5;
    prof__copy(to, "PROF_", 6);
    for (; *key && at + 1 < size; ++key) to[at++] = (char)(*key >= 'a' && *key <= 'z' ? *key - 'a' + 'A' : *key);
    to[at] = 0;
}

/* Describes the key with this index: first prof's own keys, then other profilers'. Returns 0 after the last. */
static int prof__key_describe(size_t index, prof_option *option)
{
    if (!option || index >= PROF__KEY_COUNT_ALL + PROF__OTHER_COUNT_ALL) return 0;
    prof__clear(option, sizeof *option);
    option->system = option->native_key = option->standard = "";
    option->environment[0] = 0;
    if (index < PROF__KEY_COUNT_ALL) {
        const prof__key *key = &prof__keys[index];
        option->key = key->name;
        option->type = prof__key_types[key->type];
        option->values = key->values;
        option->standard = key->standard;
        option->meaning = key->meaning;
        prof__key_variable(key->name, option->environment, sizeof option->environment);
        return 1;
    }
    const prof__other_key *other = &prof__other_keys[index - PROF__KEY_COUNT_ALL];
    const prof__key *native_key =
        other->native_key && other->how < PROF__OTHER_BOTH ? prof__key_find(other->native_key) : NULL;
    int is_switch = other->how >= PROF__OTHER_NOT && other->how <= PROF__OTHER_OFF;
    option->key = other->name;
    option->system = other->system;
    option->type = is_switch                      ? "switch"
                   : other->how == PROF__OTHER_MS ? "number"
                   : native_key                         ? prof__key_types[native_key->type]
                                                  : "text";
    option->values = other->how == PROF__OTHER_ON          ? "1"
                     : other->how == PROF__OTHER_OFF       ? "0"
                     : is_switch                           ? "0 or 1"
                     : other->how == PROF__OTHER_MS        ? "a number of milliseconds"
                     : other->how == PROF__OTHER_LEVEL     ? "0 to 3"
                     : other->how == PROF__OTHER_ONLY      ? other->native_key
                     : other->how == PROF__OTHER_AMONG || other->how == PROF__OTHER_TRACES
                         ? other->native_key[0] ? other->native_key : "empty"
                     : native_key                                   ? native_key->values
                                                           : "none";
    option->meaning = other->meaning ? other->meaning : native_key ? native_key->meaning : "not in this build";
    if (native_key) option->native_key = native_key->name;
    return 1;
}

PROF_DEF int prof_config_describe(size_t index, prof_option *option)
{
    return prof__key_describe(index, option);
}

#ifdef PROF_FREESTANDING
PROF_DEF prof_status prof_config_from_env(prof_config *config)
{
    PROF__CALM();
    (void)config;
    return prof__fail(PROF_UNSUPPORTED, "prof_config_from_env: freestanding has no environment");
}
#else
/* Reports an environment variable that begins with PROF_ and is almost, but not exactly, the name of a key: it would be
   ignored by mistake. starts: 1: reports only variables that resemble one that starts a recording. */
static prof_status prof__environment_check(int starts)
{
#ifdef _WIN32
    char **each = _environ;
#else
    extern char **environ;
    char **each = environ;
#endif
    for (; each && *each; ++each) {
        char name[48];
        size_t length = 0;
        if (!prof__begins(*each, "PROF_")) continue;
        while ((*each)[5 + length] && (*each)[5 + length] != '=') ++length;
        if (length < 4 || length >= sizeof name || (*each)[5 + length] != '=' || !(*each)[6 + length]) continue;
        for (size_t i = 0; i < length; ++i) {
            char c = (*each)[5 + i];
            name[i] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
        }
        name[length] = 0;
        const char *nearest = prof__keys[0].name;
        for (size_t i = 1; i < PROF__KEY_COUNT_ALL; ++i)
            if (prof__distance(name, prof__keys[i].name) < prof__distance(name, nearest)) nearest = prof__keys[i].name;
        size_t distance = prof__distance(name, nearest);
        if (!distance || distance > (length > 5 ? 2u : 1u)) continue;
        if (starts && !prof__equal(nearest, "output") && !prof__equal(nearest, "save") &&
            !prof__equal(nearest, "crash_report"))
            continue;
        char meant[40];
        prof__key_variable(nearest, meant, sizeof meant);
        return prof__fail(PROF_INVALID_ARGUMENT, "unknown variable %.*s: did you mean %s?", (int)(5 + length), *each,
                          meant);
    }
    return PROF_OK;
}

/* Returns 1 if this layout has an output of its own, so that config.output may be empty. */
static int prof__layout_alone(const char *layout) { return layout && prof__equal(layout, "cntk"); }

PROF_DEF prof_status prof_config_from_env(prof_config *config)
{
    if (!config) return prof__null("prof_config_from_env", "config");
    prof_status status = prof__environment_check(0);
    for (size_t i = 0; i < PROF__KEY_COUNT_ALL && !status; ++i) {
        char name[40], why[PROF__ERROR_SIZE];
        prof__key_variable(prof__keys[i].name, name, sizeof name);
        const char *text = prof__environment(name);
        if (!text || !*text) continue;
        status = prof__key_set(&prof__keys[i], prof__keys[i].name, config, text);
        if (!status) continue;
        prof__copy(why, PROF__ERROR_TEXT(), sizeof why);
        prof__fail(status, "%s: %.200s", name, why);
    }
    /* the directory that CNTK itself writes to */
    if (!status && prof__layout_alone(config->layout) && !(config->output && *config->output))
        config->output = "profiler/";
    return status;
}
#endif

#endif /* PROF__SESSION_CONFIG_ENV_H */
