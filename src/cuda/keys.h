// cuda/keys: Takes JAX's keys for GPUs, with JAX's defaults.
#ifndef PROF__CUDA_KEYS_H
#define PROF__CUDA_KEYS_H
#include "api/control.h"
#include "ground/errors.h"
#include "ground/instances.h"
#include "session/config_set.h"
#include "session/number.h"
#include "cuda/state.h"

#ifdef PROF__CUDA_LINUX
#define PROF__CUDA_DEFAULTS {2097152, 2097152, 1048576, 0, 0, 0, 500, 64, ""}
static prof__cuda_wishes prof__cuda_wished = PROF__CUDA_DEFAULTS; /* under the lock prof__cuda_wishing */
static int prof__cuda_wishing;
#endif

#if !defined(PROF_NO_TEXT) && defined(PROF__CUDA_LINUX)
#define PROF__CUDA_PREFIX "gpu_"

/* What is not supported: the values that ask for nothing. */
#define PROF__CUDA_NO_RANGES "counters of ranges are not supported; gpu_pm_sample_counters samples them"
static const struct {
    const char *key, *none, *why;
} prof__cuda_unsupported[] = {
    {"gpu_range_profiling_counters", "", PROF__CUDA_NO_RANGES},
    {"gpu_range_profiling_allow_multipass", NULL, PROF__CUDA_NO_RANGES},
    {"gpu_dump_graph_node_mapping", NULL, "JAX documents it, but no version of JAX acts on it, nor does prof"},
};

static prof_status prof__cuda_must_be(const char *key, const char *value, const char *what)
{
    return prof__fail(PROF_INVALID_ARGUMENT, "%s '%.60s': must be %s", key, value, what);
}

static prof_status prof__cuda_number(const char *key, const char *value, uint64_t *number)
{
    uint64_t parsed;
    if (!prof__parse_number(value, prof__ones, &parsed)) return prof__cuda_must_be(key, value, "a number");
    *number = parsed;
    return PROF_OK;
}

/* Takes a number of a range. */
static prof_status prof__cuda_ranged(const char *key, const char *value, uint64_t most, uint64_t *number)
{
    uint64_t parsed;
    char what[40];
    if (prof__parse_number(value, prof__ones, &parsed) && parsed && parsed <= most) {
        *number = parsed;
        return PROF_OK;
    }
    snprintf(what, sizeof what, "a number, 1 to %llu", (unsigned long long)most);
    return prof__cuda_must_be(key, value, what);
}

/* Takes a list of counters. */
static prof_status prof__cuda_counters(const char *key, const char *value, char *counters)
{
    size_t count = 0, length = strlen(value);
    int empty = 0;
    for (const char *at = value; *value && at; ++count) {
        empty |= !*at || *at == ',';
        at = strchr(at, ',');
        if (at) ++at;
    }
    if (empty || strchr(value, ' '))
        return prof__cuda_must_be(key, value, "names of counters with commas, and no spaces, between them");
    if (count > PROF__CUDA_COUNTERS || length >= PROF__CUDA_COUNTER_TEXT)
        return prof__cuda_must_be(key, value, "64 names at most, of 4095 letters together");
    memcpy(counters, value, length + 1);
    return PROF_OK;
}

static prof_status prof__cuda_switch(const char *key, const char *value, int *on)
{
    int parsed = prof__parse_name(value, prof__switch_names);
    if (parsed < 0) return prof__cuda_must_be(key, value, "0 or 1");
    *on = parsed & 1;
    return PROF_OK;
}

/* Checks the value of a key that is not supported. none: NULL: a switch, of which 0 asks for nothing. */
static prof_status prof__cuda_refuse(const char *key, const char *value, const char *none, const char *why)
{
    int on = none && strcmp(value, none) != 0;
    prof_status status = none ? PROF_OK : prof__cuda_switch(key, value, &on);
    if (status || !on) return status;
    return prof__fail(PROF_UNSUPPORTED, "%s '%.60s': %s", key, value, why);
}

static prof_status prof__cuda_key(prof__cuda_wishes *wishes, const char *key, const char *value)
{
    const char *name = key + sizeof PROF__CUDA_PREFIX - 1;
    for (size_t i = 0; i < sizeof prof__cuda_unsupported / sizeof *prof__cuda_unsupported; ++i)
        if (!strcmp(key, prof__cuda_unsupported[i].key))
            return prof__cuda_refuse(key, value, prof__cuda_unsupported[i].none, prof__cuda_unsupported[i].why);
    if (!strcmp(name, "max_callback_api_events")) return prof__cuda_number(key, value, &wishes->calls);
    if (!strcmp(name, "max_activity_api_events")) return prof__cuda_number(key, value, &wishes->events);
    if (!strcmp(name, "max_annotation_strings")) return prof__cuda_number(key, value, &wishes->ranges);
    if (!strcmp(name, "num_chips_to_profile_per_task")) return prof__cuda_number(key, value, &wishes->gpus);
    if (!strcmp(name, "enable_nvtx_tracking")) return prof__cuda_switch(key, value, &wishes->nvtx);
    if (!strcmp(name, "enable_cupti_activity_graph_trace")) return prof__cuda_switch(key, value, &wishes->graphs);
    if (!strcmp(name, "pm_sample_counters")) return prof__cuda_counters(key, value, wishes->counters);
    if (!strcmp(name, "pm_sample_interval_us"))
        return prof__cuda_ranged(key, value, 1000000000, &wishes->sample_us);
    if (!strcmp(name, "pm_sample_buffer_size_per_gpu_mb")) {
        prof_status status = prof__cuda_ranged(key, value, 4096, &wishes->sample_mib);
        if (wishes->sample_mib < 64) wishes->sample_mib = 64; /* as in JAX */
        return status;
    }
    return prof__fail(PROF_INVALID_ARGUMENT,
                      "unknown key '%.60s': must be gpu_max_callback_api_events, _max_activity_api_events, "
                      "_max_annotation_strings, _enable_nvtx_tracking, _enable_cupti_activity_graph_trace, "
                      "_pm_sample_counters, _pm_sample_interval_us, _pm_sample_buffer_size_per_gpu_mb or "
                      "_num_chips_to_profile_per_task", key);
}

static prof_status prof__cuda_claim(void *user, const char *key, const char *value)
{
    (void)user;
    prof__lock(&prof__cuda_wishing);
    prof_status status = prof__cuda_key(&prof__cuda_wished, key, value);
    prof__unlock(&prof__cuda_wishing);
    return status;
}

/* Several plugins may have copies of this code; the loader directs all of them to one variable. */
PROF__ONE_PER_PROCESS const void *prof__cuda_owner = &prof__cuda_wished;

PROF__AT_START(101, prof__cuda_claims);
static void prof__cuda_claims(void)
{
    if (prof__cuda_owner == &prof__cuda_wished) prof_config_claim(PROF__CUDA_PREFIX, prof__cuda_claim, NULL);
}
#ifdef PROF__SHARED
PROF__AT_END(101, prof__cuda_claims_no_more);
static void prof__cuda_claims_no_more(void)
{
    if (prof__cuda_owner == &prof__cuda_wished) prof_config_claim(PROF__CUDA_PREFIX, NULL, NULL);
}
#endif
#endif

#endif /* PROF__CUDA_KEYS_H */
