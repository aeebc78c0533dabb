// ntff/sessions: The phase of each capture, the filters of NeuronCores and event types, and the keys of sessions.
#ifndef PROF__NTFF_SESSIONS_H
#define PROF__NTFF_SESSIONS_H
#include "api/control.h"
#include "ground/errors.h"
#include "ground/lock.h"
#include "ground/threads.h"
#include "session/config.h"
#include "session/number.h"
#include "ntff/api_runtime.h"
#include "ntff/events.h"
#include "ntff/stripped.h"
#include "ntff/table.h"

/*-- SESSIONS ------------------------------------------------------------------------------------------ >>sessions --*/

/* Each kind of capture has a word with its phase and the id of its process. The word takes the place of a lock: calls
   of the runtime may take seconds, and a fork() of another thread meanwhile would leave a lock locked for ever. */
enum { PROF__NTFF_NONE, PROF__NTFF_BEGUN, PROF__NTFF_BUSY };

static void prof__ntff_phase_set(uint64_t *word, unsigned phase)
{
    PROF__RELEASE(word, phase ? prof__process_id() << 8 | phase : 0);
}

static prof_status prof__ntff_phase(uint64_t *word, unsigned from, const char *name)
{
    uint64_t process = prof__process_id(), now = from ? process << 8 | from : 0;
    prof__ntff_status = 0; /* no call of the runtime has failed yet */
    if (__atomic_compare_exchange_n(word, &now, process << 8 | PROF__NTFF_BUSY, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return PROF_OK;
    if (now && now >> 8 != process)
        return prof__fail(PROF_INVALID_STATE,
                          "%s: the capture belongs to process %u, and this is a child of its fork()", name,
                          (unsigned)(now >> 8));
    if ((now & 255) == PROF__NTFF_BUSY)
        return prof__fail(PROF_INVALID_STATE, "%s: another thread is using the capture", name);
    return prof__fail(PROF_INVALID_STATE, "%s: %s", name,
                      from ? "no capture was begun" : "a capture is open already: end it first");
}

/* Keeps the first failure of several calls. The calls that clean up after it may set another status and text. */
typedef struct prof__ntff_trouble {
    prof_status status;
    unsigned nrt;
    char text[256];
} prof__ntff_trouble;

static void prof__ntff_note(prof__ntff_trouble *first, prof_status status)
{
    if (first->status || !status) return;
    first->status = status;
    first->nrt = prof__ntff_status;
    prof__text_copy(first->text, sizeof first->text, prof_error());
}

static prof_status prof__ntff_say(const prof__ntff_trouble *first)
{
    prof__ntff_status = first->status ? first->nrt : 0;
    return first->status ? prof__fail(first->status, "%s", first->text) : PROF_OK;
}

/*-- filters --*/

#define PROF__NTFF_NCS 128 /* NeuronCores that a filter may name: as many as in the documentation's example */

/* Parses a list such as "0,2,4-7" into a set. Returns 0 if it is invalid. */
static int prof__ntff_parse_ncs(const char *text, unsigned char *set)
{
    memset(set, 0, PROF__NTFF_NCS);
    for (;;) {
        unsigned long from = 0, to;
        const char *at = text;
        while (*at >= '0' && *at <= '9' && from < PROF__NTFF_NCS) from = from * 10 + (unsigned long)(*at++ - '0');
        if (at == text || from >= PROF__NTFF_NCS) return 0;
        to = from;
        if (*at == '-') {
            text = ++at;
            for (to = 0; *at >= '0' && *at <= '9' && to < PROF__NTFF_NCS;) to = to * 10 + (unsigned long)(*at++ - '0');
            if (at == text || to >= PROF__NTFF_NCS || to < from) return 0;
        }
        for (; from <= to; from++) set[from] = 1;
        if (!*at) return 1;
        if (*at != ',') return 0;
        text = at + 1;
    }
}

/* Returns 1 for "hardware" and 0 for "software", which name all event types of a kind. Returns -1 for other items. */
static int prof__ntff_type_kind(const char *item, size_t size)
{
    if (size != 8) return -1;
    return !memcmp(item, "hardware", 8) ? 1 : !memcmp(item, "software", 8) ? 0 : -1;
}

static int prof__ntff_type_matches(const char *item, size_t size, const char *type)
{
    int kind = prof__ntff_type_kind(item, size);
    if (kind >= 0) return prof__ntff_is_hardware(type) == kind;
    return strlen(type) == size && !memcmp(item, type, size);
}

/* Returns 1 if a filter such as "hardware,nrt_execute,^cc_running" accepts an event type. The last item that matches
   the type decides. */
static int prof__ntff_type_on(const char *filter, const char *type)
{
    int on = *filter == '^';
    while (*filter) {
        size_t size = strcspn(filter, ",");
        int without = *filter == '^';
        if (prof__ntff_type_matches(filter + without, size - (size_t)without, type)) on = !without;
        filter += size;
        if (*filter) filter++;
    }
    return on;
}

static prof_status prof__ntff_types_check(const char *filter, const char **types, size_t count)
{
    while (*filter) {
        size_t size = strcspn(filter, ","), without = *filter == '^', found = 0;
        for (size_t i = 0; i < count; i++)
            found += types[i] && prof__ntff_type_matches(filter + without, size - without, types[i]) != 0;
        if (!found && prof__ntff_type_kind(filter + without, size - without) < 0)
            return prof__fail(PROF_INVALID_ARGUMENT,
                              "event_types '%.*s': must be hardware, software, or a type that "
                              "nrt_sys_trace_get_event_types() lists",
                              size > 60 ? 60 : (int)size, filter);
        filter += size;
        if (*filter) filter++;
    }
    return PROF_OK;
}

/* The options that a filter is applied to: those of a session, or those of a system trace. */
typedef struct prof__ntff_target {
    struct nrt_inspect_config *inspect; /* one of these two is NULL */
    struct nrt_sys_trace_config *trace;
} prof__ntff_target;

static prof_status prof__ntff_set_nc(const prof__ntff_target *to, uint32_t nc, int on)
{
    return to->inspect ? prof_ntff_inspect_config_set_capture_enabled_for_nc(to->inspect, nc, on != 0)
                       : prof_ntff_sys_trace_config_set_capture_enabled_for_nc(to->trace, nc, on != 0);
}

static prof_status prof__ntff_set_type(const prof__ntff_target *to, const char *type, int on)
{
    return to->inspect ? prof_ntff_inspect_config_set_capture_enabled_for_event_type_string(to->inspect, type, on != 0)
                       : prof_ntff_sys_trace_config_set_capture_enabled_for_event_type(to->trace, type, on != 0);
}

/* Turns the NeuronCores of `ncs` on, and all others off. If the runtime refuses to turn a core off, the machine does
   not have that core, and this is no error. */
static prof_status prof__ntff_filter_ncs(const prof__ntff_target *to, const char *ncs)
{
    unsigned char set[PROF__NTFF_NCS];
    prof_status status = PROF_OK;
    if (!ncs) return PROF_OK;
    if (!prof__ntff_parse_ncs(ncs, set))
        return prof__fail(PROF_INVALID_ARGUMENT, "ncs '%.60s': must be numbers below %d, for example 0,2,4-7", ncs,
                          PROF__NTFF_NCS);
    for (uint32_t i = 0; i < PROF__NTFF_NCS && !status; i++) {
        prof_status each = prof__ntff_set_nc(to, i, set[i]);
        if (set[i] || each == PROF_UNSUPPORTED) status = each;
    }
    return status;
}

static prof_status prof__ntff_filter_types(const prof__ntff_target *to, const char *filter)
{
    prof__ntff_trouble trouble = {PROF_OK, 0, ""};
    const char **types = NULL;
    size_t count = 0;
    if (!filter || !*filter) return PROF_OK;
    prof_status status = prof_ntff_sys_trace_get_event_types(&types, &count);
    if (status) return status;
    prof__ntff_note(&trouble, prof__ntff_types_check(filter, types, count));
    for (size_t i = 0; i < count && !trouble.status; i++)
        if (types[i])
            prof__ntff_note(&trouble, prof__ntff_set_type(to, types[i], prof__ntff_type_on(filter, types[i])));
    if (types) prof_ntff_sys_trace_free_event_types(types, count);
    return prof__ntff_say(&trouble);
}

/*-- keys --*/

#define PROF__NTFF_PREFIX "NEURON_RT_INSPECT_"
#define PROF__NTFF_CHOSEN 0x80000000u /* a bit of `activities`: keys have set them, even if all are off */

static void prof__ntff_choose(prof_ntff_config *config, unsigned activity, int on)
{
    unsigned now = config->activities ? config->activities : (unsigned)PROF_NTFF_SYSTEM;
    config->activities = (on ? now | activity : now & ~activity) | PROF__NTFF_CHOSEN;
}

static prof_status prof__ntff_bad(const char *key, const char *value, const char *values)
{
    return prof__fail(PROF_INVALID_ARGUMENT, "%s '%.60s': must be %s", key, value, values);
}

static prof_status prof__ntff_set_switch(prof_ntff_config *config, const char *key, const char *name, const char *value)
{
    int on = prof__parse_name(value, prof__switch_names);
    if (!strcmp(name, "DEVICE_PROFILE") && (!strcmp(value, "model") || !strcmp(value, "session"))) on = 1;
    if (on < 0) return prof__ntff_bad(key, value, strcmp(name, "DEVICE_PROFILE") ? "0 or 1" : "0, 1, model or session");
    on &= 1;
    if (!strcmp(name, "SYSTEM_PROFILE")) prof__ntff_choose(config, PROF_NTFF_SYSTEM, on);
    if (!strcmp(name, "HOST_MEMORY")) prof__ntff_choose(config, PROF_NTFF_HOST_MEMORY, on);
    if (!strcmp(name, "CPU_UTIL")) prof__ntff_choose(config, PROF_NTFF_CPU_UTIL, on);
    if (!strcmp(name, "ON_FAIL")) config->on_fail = on ? PROF_NTFF_ON_FAIL_TOO : PROF_NTFF_ON_FAIL_NO;
    if (!strcmp(name, "DEVICE_PROFILE")) {
        prof__ntff_choose(config, PROF_NTFF_DEVICE, on);
        config->device_mode = strcmp(value, "session") ? PROF_NTFF_DEVICE_MODEL : PROF_NTFF_DEVICE_SESSION;
    }
    if (!strcmp(name, "ENABLE") && !on)
        return prof__fail(PROF_UNSUPPORTED, "%s '%.60s': not possible here: call prof_ntff_session_begin()",
                          key, value);
    return PROF_OK;
}

PROF_DEF prof_status prof_ntff_config_set(prof_ntff_config *config, const char *key, const char *value)
{
    static const char *const switches[] = {"SYSTEM_PROFILE", "DEVICE_PROFILE", "HOST_MEMORY", "CPU_UTIL",
                                           "ON_FAIL",        "ENABLE",         NULL};
    unsigned char set[PROF__NTFF_NCS];
    if (!config || !key || !value) return prof__fail(PROF_INVALID_ARGUMENT, "prof_ntff_config_set: null argument");
    const size_t prefix = sizeof PROF__NTFF_PREFIX - 1;
    const char *name = strncmp(key, PROF__NTFF_PREFIX, prefix) ? "" : key + prefix;
    if (prof__parse_name(name, switches) >= 0) return prof__ntff_set_switch(config, key, name, value);
    if (!strcmp(name, "OUTPUT_DIR")) {
        if (!*value || strlen(value) >= PROF_NTFF_PATH) return prof__ntff_bad(key, value, "a folder");
        config->output_dir = value;
    } else if (!strcmp(name, "EVENT_FILTER_NC")) {
        if (!prof__ntff_parse_ncs(value, set))
            return prof__ntff_bad(key, value, "NeuronCores below 128, for example 0,2,4-7");
        config->ncs = value;
    } else if (!strcmp(name, "EVENT_FILTER_TYPE")) {
        config->event_types = value;
    } else if (!strcmp(name, "SYS_TRACE_MAX_EVENTS_PER_NC")) {
        if (!prof__parse_whole(value, &config->max_events_per_nc)) return prof__ntff_bad(key, value, "a number");
    } else if (!strcmp(name, "DEVICE_PROFILE_NUM_WARMUP") || !strcmp(name, "PRECACHE_ENABLE")) {
        return prof__fail(PROF_UNSUPPORTED, "%s: the runtime has no public function for it: set it in the environment",
                          key);
    } else {
        return prof__fail(PROF_INVALID_ARGUMENT,
                          "unknown key '%.50s': must be " PROF__NTFF_PREFIX "OUTPUT_DIR, _ENABLE, _SYSTEM_PROFILE, "
                          "_DEVICE_PROFILE, _HOST_MEMORY, _CPU_UTIL, _ON_FAIL, _EVENT_FILTER_NC, _EVENT_FILTER_TYPE or "
                          "_SYS_TRACE_MAX_EVENTS_PER_NC", key);
    }
    return PROF_OK;
}

/* What prof_config_set() has set, with copies of the strings. The lock is prof__ntff_wish_word. */
typedef struct prof__ntff_wish {
    prof_ntff_config config;
    char texts[3][PROF_NTFF_PATH];
} prof__ntff_wish;
static prof__ntff_wish prof__ntff_wished;
static int prof__ntff_wish_word;

static void prof__ntff_wish_keep(prof__ntff_wish *wish)
{
    const char **texts[3];
    texts[0] = &wish->config.output_dir;
    texts[1] = &wish->config.ncs;
    texts[2] = &wish->config.event_types;
    for (int i = 0; i < 3; i++) {
        if (!*texts[i]) continue;
        if (*texts[i] != wish->texts[i]) prof__text_copy(wish->texts[i], PROF_NTFF_PATH, *texts[i]);
        *texts[i] = wish->texts[i];
    }
}

static prof_status prof__ntff_claim_key(void *user, const char *key, const char *value)
{
    (void)user;
    if (strlen(value) >= PROF_NTFF_PATH) return prof__ntff_bad(key, value, "shorter than 1024 bytes");
    prof__lock(&prof__ntff_wish_word);
    prof_ntff_config config = prof__ntff_wished.config;
    prof_status status = prof_ntff_config_set(&config, key, value);
    if (!status) {
        prof__ntff_wished.config = config;
        prof__ntff_wish_keep(&prof__ntff_wished);
    }
    prof__unlock(&prof__ntff_wish_word);
    return status;
}

/* Several plugins may have copies of this code. The loader directs all of them to one variable, and only the copy whose
   address it holds handles the keys. */
PROF__ONE_PER_PROCESS const void *prof__ntff_owner = &prof__ntff_wished;

PROF__AT_START(101, prof__ntff_claims);
static void prof__ntff_claims(void)
{
    if (prof__ntff_owner == &prof__ntff_wished) prof_config_claim(PROF__NTFF_PREFIX, prof__ntff_claim_key, NULL);
}
#ifdef PROF__SHARED
PROF__AT_END(101, prof__ntff_claims_no_more);
static void prof__ntff_claims_no_more(void)
{
    if (prof__ntff_owner == &prof__ntff_wished) prof_config_claim(PROF__NTFF_PREFIX, NULL, NULL);
}
#endif

#endif /* PROF__NTFF_SESSIONS_H */
