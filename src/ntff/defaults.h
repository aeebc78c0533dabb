// ntff/defaults: Functions that stand in front of the runtime's: they replace options that are NULL by the runtime's
// defaults, and remember whether options enable anything.
#ifndef PROF__NTFF_DEFAULTS_H
#define PROF__NTFF_DEFAULTS_H
#include "ground/lock.h"
#include "ntff/api.h"
#include "ntff/api_runtime.h"
#include "ntff/table.h"

/*-- options that are NULL, or enable nothing --*/

#ifdef __linux__
/* Options objects that have a flag set. The options that the runtime allocates have none, and so capture nothing. */
static struct {
    const void *options;
    unsigned flags; /* 1: enable_inspect, 2: enable_inspect_on_fail */
} prof__ntff_enabled[32];
static int prof__ntff_enabled_word;             /* the lock of prof__ntff_enabled */
static PROF__PER_THREAD int prof__ntff_nothing; /* 1: the options of this thread's last session enable nothing */

/* Sets a flag of an options object to `on`. flag 0: clears all flags, or with `on` only reads them. Returns the flags.
   Returns 3 if the object has no entry because the table is full: then anything may be enabled. */
static unsigned prof__ntff_flag(const void *options, unsigned flag, int on)
{
    size_t count = sizeof prof__ntff_enabled / sizeof *prof__ntff_enabled, at = count, empty = count;
    unsigned flags = 0;
    prof__lock(&prof__ntff_enabled_word);
    for (size_t i = 0; i < count; i++) {
        if (prof__ntff_enabled[i].options == options) at = i;
        if (!prof__ntff_enabled[i].flags) empty = i;
    }
    if (at == count) at = empty;
    if (at < count) {
        flags = prof__ntff_enabled[at].options == options ? prof__ntff_enabled[at].flags : 0;
        flags = !flag ? (on ? flags : 0u) : on ? flags | flag : flags & ~flag;
        prof__ntff_enabled[at].options = options;
        prof__ntff_enabled[at].flags = flags;
    } else {
        flags = 3;
    }
    prof__unlock(&prof__ntff_enabled_word);
    return flags;
}

static PROF_NTFF_NRT_STATUS prof__ntff_allocate(struct nrt_inspect_config **options)
{
    const prof__ntff_api *api = prof__ntff_get();
    PROF_NTFF_NRT_STATUS status = api->inspect_config_allocate(options);
    if (!status && options) prof__ntff_flag(*options, 0, 0); /* freed options may have had this address */
    return status;
}
static PROF_NTFF_NRT_STATUS prof__ntff_enable(struct nrt_inspect_config *options, prof_ntff_bool on)
{
    const prof__ntff_api *api = prof__ntff_get();
    PROF_NTFF_NRT_STATUS status = api->inspect_config_set_enable_inspect(options, on);
    if (!status) prof__ntff_flag(options, 1, on);
    return status;
}
static PROF_NTFF_NRT_STATUS prof__ntff_enable_on_fail(struct nrt_inspect_config *options, prof_ntff_bool on)
{
    const prof__ntff_api *api = prof__ntff_get();
    PROF_NTFF_NRT_STATUS status = api->inspect_config_set_enable_inspect_on_fail(options, on);
    if (!status) prof__ntff_flag(options, 2, on);
    return status;
}

/* Begins a session. Without options, it captures all that the runtime's defaults name. */
static PROF_NTFF_NRT_STATUS prof__ntff_begin_with(struct nrt_inspect_config *options)
{
    const prof__ntff_api *api = prof__ntff_get();
    struct nrt_inspect_config *own = NULL;
    prof__ntff_nothing = options && !prof__ntff_flag(options, 0, 1);
    if (options || !api->inspect_config_set_defaults || !api->inspect_config_free)
        return api->inspect_begin_with_options(options);
    PROF_NTFF_NRT_STATUS status = api->inspect_config_allocate(&own);
    if (!status) status = api->inspect_config_set_defaults(own);
    if (!status) status = api->inspect_config_set_enable_inspect(own, 1);
    if (!status) status = api->inspect_begin_with_options(own);
    if (own) (void)api->inspect_config_free(own);
    return status;
}
static PROF_NTFF_NRT_STATUS prof__ntff_trace_with(struct nrt_sys_trace_config *options)
{
    const prof__ntff_api *api = prof__ntff_get();
    struct nrt_sys_trace_config *own = NULL;
    if (options || !api->sys_trace_config_set_defaults || !api->sys_trace_config_free)
        return api->sys_trace_start(options);
    PROF_NTFF_NRT_STATUS status = api->sys_trace_config_allocate(&own);
    if (!status) api->sys_trace_config_set_defaults(own);
    if (!status) status = api->sys_trace_start(own);
    if (own) api->sys_trace_config_free(own);
    return status;
}
static PROF_NTFF_NRT_STATUS prof__ntff_profile_with(struct nrt_profile_continuous_options *options)
{
    const prof__ntff_api *api = prof__ntff_get();
    struct nrt_profile_continuous_options *own = NULL;
    if (options || !api->profile_continuous_options_free) return api->profile_continuous_start(options);
    PROF_NTFF_NRT_STATUS status = api->profile_continuous_options_allocate(&own);
    if (!status) status = api->profile_continuous_start(own);
    if (own) (void)api->profile_continuous_options_free(own);
    return status;
}
static PROF_NTFF_NRT_STATUS prof__ntff_save_with(uint32_t vnc, struct nrt_profile_continuous_options *options)
{
    const prof__ntff_api *api = prof__ntff_get();
    struct nrt_profile_continuous_options *own = NULL;
    if (options || !api->profile_continuous_options_free) return api->profile_continuous_save(vnc, options);
    PROF_NTFF_NRT_STATUS status = api->profile_continuous_options_allocate(&own);
    if (!status) status = api->profile_continuous_save(vnc, own);
    if (own) (void)api->profile_continuous_options_free(own);
    return status;
}

/* Replaces functions in a copy of the runtime's table by those above. */
static void prof__ntff_front(prof__ntff_api *api)
{
    if (api->can & PROF_NTFF_CAN_INSPECT) {
        api->inspect_config_allocate = prof__ntff_allocate;
        api->inspect_config_set_enable_inspect = prof__ntff_enable;
        if (api->inspect_config_set_enable_inspect_on_fail)
            api->inspect_config_set_enable_inspect_on_fail = prof__ntff_enable_on_fail;
        api->inspect_begin_with_options = prof__ntff_begin_with;
    }
    if (api->can & PROF_NTFF_CAN_SYS_TRACE) api->sys_trace_start = prof__ntff_trace_with;
    if (api->can & PROF_NTFF_CAN_CONTINUOUS) {
        api->profile_continuous_start = prof__ntff_profile_with;
        api->profile_continuous_save = prof__ntff_save_with;
    }
}
#else
static PROF__PER_THREAD int prof__ntff_nothing;
#endif

#endif /* PROF__NTFF_DEFAULTS_H */
