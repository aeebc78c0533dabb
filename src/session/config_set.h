// session/config_set: Sets a field of the configuration from text.
#ifndef PROF__SESSION_CONFIG_SET_H
#define PROF__SESSION_CONFIG_SET_H
#include "ground/errors.h"
#include "session/config.h"
#include "session/memory.h"
#include "session/number.h"

static const prof__unit prof__sizes[] = {{"", 1},          {"K", 1u << 10},   {"M", 1u << 20},   {"G", 1u << 30},
                                         {"KiB", 1u << 10}, {"MiB", 1u << 20}, {"GiB", 1u << 30}, {NULL, 0}};
static const prof__unit prof__times[] = {{"ns", 1},         {"us", 1000}, {"ms", 1000000},
                                         {"s", 1000000000}, {"", 1},      {NULL, 0}};
static const prof__unit prof__seconds[] = {{"ns", 1},         {"us", 1000},       {"ms", 1000000},
                                           {"s", 1000000000}, {"", 1000000000}, {NULL, 0}};

/* Parses a time as nanoseconds; a number without a unit is seconds. Returns 0 if text is not a time. */
static int prof__parse_seconds(const char *text, uint64_t *ns)
{
    return prof__parse_number(text, prof__seconds, ns);
}

/* Returns 1 if value is valid for this key. *number: the value of a number, or the index of a choice. */
static int prof__key_parse(const prof__key *key, const char *value, uint64_t *number)
{
    const prof__unit *units = prof__ones;
    int choice = 0;
    *number = 0;
    switch (key->type) {
    case PROF__KEY_TEXT: return 1;
    case PROF__KEY_CHOICE: choice = prof__parse_name(value, key->choices); break;
    case PROF__KEY_SWITCH: choice = prof__parse_name(value, prof__zero_one); break;
    case PROF__KEY_SIGNAL: choice = prof__parse_signal(value); break;
    case PROF__KEY_MASK: return prof__parse_mask(value, number);
    case PROF__KEY_SIZE:
    case PROF__KEY_BYTES: units = prof__sizes; break;
    case PROF__KEY_TIME:
    case PROF__KEY_WAIT:
    case PROF__KEY_SPAN: units = prof__times; break;
    case PROF__KEY_PERIOD:
    case PROF__KEY_SECONDS: units = prof__seconds; break;
    default: break;
    }
    if (key->type >= PROF__KEY_CHOICE && key->type < PROF__KEY_MASK) {
        *number = (uint64_t)choice;
        return choice >= 0;
    }
    if (!prof__parse_number(value, units, number)) return 0;
    if (!*number) return key->zero;
    if (key->type == PROF__KEY_SPAN && value[prof__length(value) - 1] != 's') return 0;
    if (key->type == PROF__KEY_SIZE && (size_t)*number != *number) return 0;
    return *number >= key->least && *number <= key->max;
}

/* Stores a value that was parsed in the field of its key. */
static void prof__key_store(const prof__key *key, prof_config *config, const char *value, uint64_t number)
{
    void *field = (char *)config + key->field;
    size_t size = (size_t)number;
    int narrow = key->type == PROF__KEY_LEVEL && !number ? PROF_LEVEL_NONE : (int)number;
    uint32_t mask = (uint32_t)number;
    switch (key->type) {
    case PROF__KEY_TEXT: prof__copy(field, &value, sizeof value); break;
    case PROF__KEY_SIZE: prof__copy(field, &size, sizeof size); break;
    case PROF__KEY_BYTES:
    case PROF__KEY_COUNT:
    case PROF__KEY_TIME:
    case PROF__KEY_SECONDS:
    case PROF__KEY_SPAN: prof__copy(field, &number, sizeof number); break;
    case PROF__KEY_PERIOD:
        if (config->dump_period_ns != PROF_NEVER) prof__copy(field, &number, sizeof number);
        break;
    case PROF__KEY_WAIT:
        if (!number) number = PROF_NEVER;
        prof__copy(field, &number, sizeof number);
        break;
    case PROF__KEY_MASK: prof__copy(field, &mask, sizeof mask); break;
    default: prof__copy(field, &narrow, sizeof narrow); break;
    }
}
typedef char prof__choices_are_ints[sizeof(prof_mode) == sizeof(int) && sizeof(prof_existing) == sizeof(int) ? 1 : -1];

static const prof__key *prof__key_find(const char *name)
{
    for (size_t i = 0; i < PROF__KEY_COUNT_ALL; ++i)
        if (prof__equal(prof__keys[i].name, name)) return &prof__keys[i];
    return NULL;
}

/* Sets a field of the configuration from text. key_name: the key name that the user wrote, for errors: it may be
   another profiler's. */
static prof_status prof__key_set(const prof__key *key, const char *key_name, prof_config *config, const char *value)
{
    uint64_t number;
    if (!prof__key_parse(key, value, &number))
        return prof__fail(PROF_INVALID_ARGUMENT, "%s '%s': must be %s", key_name, value, key->values);
    prof__key_store(key, config, value, number);
    return PROF_OK;
}

#endif /* PROF__SESSION_CONFIG_SET_H */
