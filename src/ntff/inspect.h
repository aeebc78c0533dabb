// ntff/inspect: Captures that libnrt writes to files: inspect sessions and continuous profiles.
#ifndef PROF__NTFF_INSPECT_H
#define PROF__NTFF_INSPECT_H
#include "api/read.h"
#include "api/values.h"
#include "ground/clock.h"
#include "ground/errors.h"
#include "ground/lock.h"
#include "ground/out.h"
#include "ground/threads.h"
#include "session/state.h"
#include "ntff/api.h"
#include "ntff/api_runtime.h"
#include "ntff/runtime.h"
#include "ntff/sessions.h"
#include "ntff/stripped.h"
#include "ntff/table.h"

/*-- inspect --*/

static struct {
    uint64_t phase;
    struct nrt_inspect_config *options;
    uint64_t began; /* Unix time */
    int no_trace_json, may_be_empty;
    char output_dir[PROF_NTFF_PATH];
} prof__ntff_session;

static unsigned prof__ntff_activities(const prof_ntff_config *config)
{
    return config->activities ? config->activities & ~PROF__NTFF_CHOSEN : (unsigned)PROF_NTFF_SYSTEM;
}

static prof_status prof__ntff_set_activities(struct nrt_inspect_config *options, unsigned activities)
{
    static const char *const names[] = {"system_profile", "device_profile", "host_memory", "cpu_util"};
    prof_status status = prof_ntff_inspect_config_set_activity(options, "all", 0);
    for (unsigned i = 0; i < 4 && !status; i++)
        if (activities >> i & 1) status = prof_ntff_inspect_config_set_activity(options, names[i], 1);
    return status;
}

/* Sets the mode of the device profile. A runtime that lacks the function is older, and always uses the mode `model`. */
static prof_status prof__ntff_set_device_mode(struct nrt_inspect_config *options, const prof_ntff_config *config)
{
    int on = (prof__ntff_activities(config) & PROF_NTFF_DEVICE) != 0,
        model = config->device_mode == PROF_NTFF_DEVICE_MODEL;
    if ((!on || model) && !(prof_ntff_capabilities() & PROF_NTFF_CAN_DEVICE_MODE)) return PROF_OK;
    return prof_ntff_inspect_config_set_inspect_device_profile_mode(options, !on ? 0u : model ? 1u : 2u);
}

static prof_status prof__ntff_set_on_fail(struct nrt_inspect_config *options, prof_ntff_on_fail on_fail)
{
    prof_status status = prof_ntff_inspect_config_set_enable_inspect(options, on_fail != PROF_NTFF_ON_FAIL_ONLY);
    const prof__ntff_api *api = prof__ntff_get();
    if (status || !api || (!on_fail && !api->inspect_config_set_enable_inspect_on_fail)) return status;
    return prof_ntff_inspect_config_set_enable_inspect_on_fail(options, on_fail != PROF_NTFF_ON_FAIL_NO);
}

static prof_status prof__ntff_set_options(struct nrt_inspect_config *options, const prof_ntff_config *config)
{
    prof__ntff_target target = {NULL, NULL};
    target.inspect = options;
    prof_status status = prof_ntff_inspect_config_set_defaults(options);
    if (!status) status = prof__ntff_set_on_fail(options, config->on_fail);
    if (!status) status = prof__ntff_set_activities(options, prof__ntff_activities(config));
    if (!status) status = prof__ntff_set_device_mode(options, config);
    if (!status) status = prof_ntff_inspect_config_set_session_id(options, config->session_id ? config->session_id : 1);
    if (!status)
        status = prof_ntff_inspect_config_set_output_dir(options, config->output_dir ? config->output_dir : "./output");
    if (!status && config->max_events_per_nc)
        status = prof_ntff_inspect_config_set_sys_trace_max_events_per_nc(options, config->max_events_per_nc);
    if (!status) status = prof__ntff_filter_ncs(&target, config->ncs);
    if (!status) status = prof__ntff_filter_types(&target, config->event_types);
    return status;
}

/* Refuses a folder without a name, which versions of the runtime handle differently, and a name that is too long. */
static prof_status prof__ntff_folder_check(const char *folder)
{
    if (!folder || (*folder && strlen(folder) < PROF_NTFF_PATH)) return PROF_OK;
    return prof__fail(PROF_INVALID_ARGUMENT, "output_dir: must have 1 to %d bytes; NULL means \"./output\"",
                      PROF_NTFF_PATH - 1);
}

static prof_status prof__ntff_config_check(const prof_ntff_config *config)
{
    prof_status status = prof__ntff_folder_check(config->output_dir);
    if (status) return status;
    if (prof__ntff_activities(config) & ~15u || (unsigned)config->device_mode > PROF_NTFF_DEVICE_MODEL ||
        (unsigned)config->on_fail > PROF_NTFF_ON_FAIL_ONLY)
        return prof__fail(PROF_INVALID_ARGUMENT,
                          "prof_ntff_config: activities, device_mode or on_fail is out of range");
    if (!prof__ntff_activities(config) && !config->on_fail)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_ntff_config: no activity: nothing would be captured");
    return PROF_OK;
}

/* Begins a session. The caller has set the phase to busy. */
static prof_status prof__ntff_session_open(const prof_ntff_config *config)
{
    struct nrt_inspect_config *options = NULL;
    unsigned activities = prof__ntff_activities(config);
    prof__ntff_trouble trouble = {PROF_OK, 0, ""};
    prof_status status = prof__ntff_config_check(config);
    if (!status && activities & PROF_NTFF_SYSTEM && PROF__LOAD(&prof__ntff_captures) & PROF__NTFF_SYS_TRACE)
        status = prof__fail(PROF_INVALID_STATE, "prof_ntff_session_begin: a system trace is open: end it first");
    if (!status && activities & PROF_NTFF_DEVICE && PROF__LOAD(&prof__ntff_captures) & PROF__NTFF_CONTINUOUS)
        status = prof__fail(PROF_INVALID_STATE, "prof_ntff_session_begin: a continuous profile is open: end it first");
    if (!status) status = prof_ntff_inspect_config_allocate(&options);
    if (!status && !options) status = prof__fail(PROF_NO_MEMORY, "nrt_inspect_config_allocate returned no options");
    if (!status) status = prof__ntff_set_options(options, config);
    prof__ntff_session.began = prof__unix_time();
    prof__text_copy(prof__ntff_session.output_dir, PROF_NTFF_PATH,
                    config->output_dir ? config->output_dir : "./output");
    prof__ntff_session.no_trace_json = config->no_trace_json;
    prof__ntff_session.may_be_empty = config->on_fail == PROF_NTFF_ON_FAIL_ONLY;
    /* some runtimes create only the last folder of a path */
    if (!status && config->output_dir) status = prof__folder_make(config->output_dir);
    if (!status) status = prof_ntff_inspect_begin_with_options(options);
    if (!status)
        prof__ntff_captures_change((activities & PROF_NTFF_SYSTEM) * PROF__NTFF_WITH_SYSTEM |
                                       (activities & PROF_NTFF_DEVICE) / PROF_NTFF_DEVICE * PROF__NTFF_WITH_DEVICE, 0);
    prof__ntff_session.options = status ? NULL : options;
    prof__ntff_note(&trouble, status);
    if (status && options) prof_ntff_inspect_config_free(options);
    return prof__ntff_say(&trouble);
}

PROF_DEF prof_status prof_ntff_session_begin(const prof_ntff_config *config)
{
    prof__ntff_wish wish;
    prof_status status = prof__ntff_phase(&prof__ntff_session.phase, PROF__NTFF_NONE, "prof_ntff_session_begin");
    if (status) return status;
    if (!config) {
        prof__lock(&prof__ntff_wish_word);
        wish = prof__ntff_wished;
        prof__ntff_wish_keep(&wish);
        prof__unlock(&prof__ntff_wish_word);
        config = &wish.config;
    }
    status = prof__ntff_session_open(config);
    prof__ntff_phase_set(&prof__ntff_session.phase, status ? PROF__NTFF_NONE : PROF__NTFF_BEGUN);
    return status;
}

/* Writes what prof has recorded since the session began into the session's folder, as trace.json. Writes nothing if
   nothing was recorded, or if a framework has written its own trace.json. */
static prof_status prof__ntff_session_scopes(const char *folder)
{
    char path[PROF_NTFF_PATH + 16];
    prof_trace *trace = NULL;
    prof_status status = prof_trace_open_live(&trace);
    if (status) return status == PROF_INVALID_STATE ? PROF_OK : status;
    uint64_t start = prof_trace_about(trace)->start_unix_ns, began = prof__ntff_session.began;
    status = prof_trace_set_window(trace, began > start ? (int64_t)(began - start) : 0, 0);
    snprintf(path, sizeof path, "%s/trace.json", folder);
    if (!status) status = prof_ntff_trace_json(trace, path, NULL);
    prof_trace_close(trace);
    return status == PROF_INVALID_STATE ? PROF_OK : status;
}

static int prof__ntff_session_file(void *user, const prof_ntff_artifact *artifact)
{
    int *written = (int *)user;
    *written = artifact->size && artifact->kind != PROF_NTFF_TRACE_JSON && artifact->kind != PROF_NTFF_STRAY_JSON;
    return *written;
}

/* Finds the folder with the session's files. Fails if there is none. */
static prof_status prof__ntff_session_files(char *found, size_t size)
{
    const char *folder = prof__ntff_session.output_dir;
    int written = 0;
    prof_status status = prof_ntff_find_session(folder, prof__process_id(), prof__ntff_session.began, found, size);
    if (!status) status = prof_ntff_list(found, prof__ntff_session_file, &written);
    if (!status && written) return PROF_OK;
    *found = 0;
    if (prof__ntff_session.may_be_empty) return PROF_OK;
    if (status && status != PROF_IO && status != PROF_INVALID_STATE) return status;
    return prof__fail(PROF_IO, "prof_ntff_session_end: the runtime has written no files of this session below %.400s: "
                               "was a model executed between begin and end?", folder);
}

PROF_DEF prof_status prof_ntff_session_end(char *folder)
{
    char found[PROF_NTFF_PATH] = "";
    prof__ntff_trouble trouble = {PROF_OK, 0, ""};
    if (folder) *folder = 0;
    prof_status status = prof__ntff_phase(&prof__ntff_session.phase, PROF__NTFF_BEGUN, "prof_ntff_session_end");
    if (status) return status;
    prof__ntff_note(&trouble, prof_ntff_inspect_stop());
    prof_ntff_inspect_config_free(prof__ntff_session.options);
    prof__ntff_session.options = NULL;
    if (!trouble.status) prof__ntff_note(&trouble, prof__ntff_session_files(found, sizeof found));
    if (*found && !prof__ntff_session.no_trace_json) prof__ntff_note(&trouble, prof__ntff_session_scopes(found));
    if (folder) prof__text_copy(folder, PROF_NTFF_PATH, found);
    prof__ntff_phase_set(&prof__ntff_session.phase, PROF__NTFF_NONE);
    return prof__ntff_say(&trouble);
}

static int prof__ntff_is_open(const uint64_t *word)
{
    return PROF__ACQUIRE(word) == (prof__process_id() << 8 | PROF__NTFF_BEGUN);
}

PROF_DEF int prof_ntff_session_active(void) { return prof__ntff_is_open(&prof__ntff_session.phase); }

/*-- continuous --*/

static struct {
    uint64_t phase, saves;
    struct nrt_profile_continuous_options *options;
    uint32_t vnc;
    int word; /* the lock of `options`; only taken while this process has a capture */
} prof__ntff_continuous;

/* Saves a profile when prof saves the last seconds; runs on prof's thread. Returns PROF_OK also if the capture begins
   or ends meanwhile, or belongs to the parent of this process: that is no failure of the recording. */
static prof_status prof__ntff_continuous_on_save(void)
{
    const uint64_t *phase = &prof__ntff_continuous.phase;
    uint32_t vnc = PROF__LOAD(&prof__ntff_continuous.vnc);
    prof_status status = prof__ntff_is_open(phase) ? prof_ntff_continuous_save(vnc) : PROF_OK;
    return prof__ntff_is_open(phase) ? status : PROF_OK;
}

PROF_DEF prof_status prof_ntff_continuous_begin(const prof_ntff_continuous *config)
{
    struct nrt_profile_continuous_options *options = NULL;
    const char *folder = config && config->output_dir ? config->output_dir : "./output";
    prof__ntff_trouble trouble = {PROF_OK, 0, ""};
    prof_status status = prof__ntff_phase(&prof__ntff_continuous.phase, PROF__NTFF_NONE, "prof_ntff_continuous_begin");
    if (status) return status;
    status = prof__ntff_folder_check(folder);
    if (!status) status = prof_ntff_profile_continuous_options_allocate(&options);
    if (!status && !options)
        status = prof__fail(PROF_NO_MEMORY, "nrt_profile_continuous_options_allocate returned no options");
    if (!status) status = prof_ntff_profile_continuous_options_set_output_dir(options, folder);
    if (!status && config && config->output_dir) status = prof__folder_make(folder);
    if (!status) status = prof_ntff_profile_continuous_start(options);
    prof__ntff_note(&trouble, status);
    if (status && options) prof_ntff_profile_continuous_options_free(options);
    prof__lock(&prof__ntff_continuous.word); /* another thread may still be saving the previous capture */
    prof__ntff_continuous.options = status ? NULL : options;
    prof__unlock(&prof__ntff_continuous.word);
    PROF__STORE(&prof__ntff_continuous.vnc, config ? config->vnc : 0);
    /* must come before the phase is set: from then on, another thread may end the capture */
    if (!status && config && config->on_save) prof__saved_with(prof__ntff_continuous_on_save);
    prof__ntff_phase_set(&prof__ntff_continuous.phase, status ? PROF__NTFF_NONE : PROF__NTFF_BEGUN);
    return prof__ntff_say(&trouble);
}

PROF_DEF prof_status prof_ntff_continuous_save(uint32_t vnc)
{
    prof_status status = PROF_OK;
    uint64_t phase = PROF__ACQUIRE(&prof__ntff_continuous.phase), process = prof__process_id();
    prof__ntff_status = 0;
    if (phase && phase >> 8 != process)
        return prof__fail(PROF_INVALID_STATE,
                          "prof_ntff_continuous_save: the capture belongs to process %u, and this is a child of its "
                          "fork()",
                          (unsigned)(phase >> 8));
    if (!prof__ntff_is_open(&prof__ntff_continuous.phase))
        return prof__fail(PROF_INVALID_STATE, "prof_ntff_continuous_save: no capture was begun");
    prof__lock(&prof__ntff_continuous.word);
    if (prof__ntff_continuous.options)
        status = prof_ntff_profile_continuous_save(vnc, prof__ntff_continuous.options);
    else
        status = prof__fail(PROF_INVALID_STATE,
                            "prof_ntff_continuous_save: the continuous profile was ended meanwhile");
    if (!status) PROF__STORE(&prof__ntff_continuous.saves, PROF__LOAD(&prof__ntff_continuous.saves) + 1);
    prof__unlock(&prof__ntff_continuous.word);
    return status;
}

PROF_DEF int prof_ntff_continuous_save_if(uint32_t vnc, uint64_t took_ns, uint64_t limit_ns)
{
    return took_ns > limit_ns && !prof_ntff_continuous_save(vnc);
}

PROF_DEF prof_status prof_ntff_continuous_end(void)
{
    prof_status status = prof__ntff_phase(&prof__ntff_continuous.phase, PROF__NTFF_BEGUN, "prof_ntff_continuous_end");
    prof__ntff_trouble trouble = {PROF_OK, 0, ""};
    if (status) return status;
    prof__saved_with(NULL);
    prof__lock(&prof__ntff_continuous.word);
    prof__ntff_note(&trouble, prof_ntff_profile_continuous_stop());
    prof_ntff_profile_continuous_options_free(prof__ntff_continuous.options);
    prof__ntff_continuous.options = NULL;
    prof__unlock(&prof__ntff_continuous.word);
    prof__ntff_phase_set(&prof__ntff_continuous.phase, PROF__NTFF_NONE);
    return prof__ntff_say(&trouble);
}

PROF_DEF uint64_t prof_ntff_continuous_saves(void) { return PROF__LOAD(&prof__ntff_continuous.saves); }

#endif /* PROF__NTFF_INSPECT_H */
