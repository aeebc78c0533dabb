// session/config_others: The configuration keys of other profilers (CNTK, MXNet, TensorFlow, JAX, Neuron), and what
// each does in prof.
#ifndef PROF__SESSION_CONFIG_OTHERS_H
#define PROF__SESSION_CONFIG_OTHERS_H
#include "api/writers.h"
#include "ground/errors.h"
#include "record/schedule.h"
#include "session/config.h"
#include "session/config_set.h"
#include "session/memory.h"
#include "session/number.h"
#include "session/write.h"

/* What a key of another profiler does in prof. "native": prof's own key that corresponds to it, named in the field
   `home`. */
enum {
    PROF__OTHER_SAME,   /* the value is given to the native key */
    PROF__OTHER_FILE,   /* the value is a path for the native key; a writer for its extension must exist */
    PROF__OTHER_LEVEL,  /* the native key is a level; the value is a TraceMe level, 0 to 3 */
    PROF__OTHER_MS,     /* the native key is a time; the value is in milliseconds */
    PROF__OTHER_NOT,    /* the native key is a switch with the opposite meaning */
    PROF__OTHER_DEVICES, /* the native key is a switch with the opposite meaning; a level above 1 is unsupported */
    PROF__OTHER_ENABLED, /* the native key is a level; false turns all call sites off */
    /* True: rewrites the output once a second, or every dump_period if that is set; false: never, even if it is set. */
    PROF__OTHER_PERIOD,
    PROF__OTHER_COUNTS, /* a switch; true: also keeps statistics of everything, unless a mode was chosen */
    PROF__OTHER_BOTH,   /* a switch; both values are accepted without effect */
    PROF__OTHER_FUNCTIONS, /* a switch; true is supported only with PROF_INSTRUMENT_FUNCTIONS */
    PROF__OTHER_ON,     /* prof always behaves as if true; false is unsupported */
    PROF__OTHER_OFF,    /* prof always behaves as if false; true is unsupported */
    PROF__OTHER_ONLY,   /* prof always behaves as with the value in `home`; all others are unsupported */
    PROF__OTHER_AMONG,  /* `home` lists values: first those that prof's behaviour corresponds to, separated by |; after
                           a ; those that are unsupported. Values in neither part are invalid. A list without a ; treats
                           all other values of the first one's type (number, switch or any text) as unsupported. 1-9 is
                           a range of numbers */
    PROF__OTHER_TRACES, /* like PROF__OTHER_AMONG; the value TRACE_ONLY_HOST also leaves out devices */
    PROF__OTHER_NEVER   /* always an error */
};
typedef struct prof__other_key {
    const char *system, *name;
    int how;
    const char *native_key, *meaning; /* meaning: for the list of keys and for errors; NULL: the native key's */
} prof__other_key;

#define PROF__NO_DEVICE "concerns a device: no plug-in for it has claimed this key"
#define PROF__NO_CUDA "concerns a GPU: include prof_cuda.h, which takes this key, or claim it with a plug-in"
#define PROF__NO_NEURON "concerns a device: include prof_ntff.h, which takes this key"
#define PROF__CNTK_FOLDER "set output to the folder, with / at its end, and layout to cntk"
#define PROF__NO_FOLDER "name the whole file, folder included, in output"
static const prof__other_key prof__other_keys[] = {
    {"CNTK", "profilerEnabled", PROF__OTHER_ENABLED, "level",
     "1: mode ring+stats, unless another one is chosen; 0: all sites are off until prof_set_level(), and devices"},
/* A freestanding program, such as a kernel, uses none of these profilers; one entry stays, because C has no empty
   arrays. */
#ifndef PROF_FREESTANDING
    {"CNTK", "profilerBufferSize", PROF__OTHER_SAME, "buffer", NULL},
    {"CNTK", "customEventBufferBytes", PROF__OTHER_SAME, "buffer", NULL},
    {"CNTK", "reserve_mem", PROF__OTHER_SAME, "buffer", NULL},
    {"CNTK", "profilerSyncGpu", PROF__OTHER_NOT, "no_sync", "1: PROFILE_SYNC calls the function of prof_set_sync()"},
    {"CNTK", "syncGpu", PROF__OTHER_NOT, "no_sync", "1: PROFILE_SYNC calls the function of prof_set_sync()"},
    {"CNTK", "sync_gpu", PROF__OTHER_NOT, "no_sync", "1: PROFILE_SYNC calls the function of prof_set_sync()"},
    {"CNTK", "profilerDir", PROF__OTHER_NEVER, NULL, PROF__CNTK_FOLDER},
    {"CNTK", "dir", PROF__OTHER_NEVER, NULL, PROF__CNTK_FOLDER},
    {"CNTK", "logSuffix", PROF__OTHER_SAME, "rank", NULL},
    {"CNTK", "suffix", PROF__OTHER_SAME, "rank", NULL},
    {"MXNet", "filename", PROF__OTHER_FILE, "output", NULL},
    {"MXNet", "profile_all", PROF__OTHER_BOTH, NULL, "everything is recorded but what categories and level turn off"},
    {"MXNet", "profile_symbolic", PROF__OTHER_ON, NULL, "turn a category off with categories, for example -operator"},
    {"MXNet", "profile_imperative", PROF__OTHER_ON, NULL, "turn a category off with categories, for example -operator"},
    {"MXNet", "profile_memory", PROF__OTHER_ON, NULL, "turn allocations off with categories: -memory"},
    {"MXNet", "profile_api", PROF__OTHER_ON, NULL, "turn a category off with categories, for example -api"},
    {"MXNet", "continuous_dump", PROF__OTHER_PERIOD, "dump_period",
     "1: output is rewritten every second, or dump_period, mode ring+stats unless another one is chosen; 0: at the "
     "end"},
    {"MXNet", "aggregate_stats", PROF__OTHER_COUNTS, NULL,
     "1: mode ring+stats, unless another one is chosen: statistics of everything, at any time"},
    {"MXNet", "profile_process", PROF__OTHER_AMONG, "worker;server", "this process; give others a PROF_OUTPUT"},
    {"MXNet", "gpu_memory_profile_filename_prefix", PROF__OTHER_AMONG, "gpu_memory_profile|", PROF__NO_DEVICE},
    {"MXNet", "MXNET_PROFILER_AUTOSTART", PROF__OTHER_NEVER, NULL, "set PROF_OUTPUT in the environment"},
    {"MXNet", "MXNET_PROFILER_MODE", PROF__OTHER_NEVER, NULL, "set categories and level"},
    {"TensorFlow", "TF_DISABLE_PROFILING", PROF__OTHER_NEVER, NULL, "leave out PROF_OUTPUT or prof_start()"},
    {"TensorFlow", "host_tracer_level", PROF__OTHER_LEVEL, "level", NULL},
    {"TensorFlow", "device_tracer_level", PROF__OTHER_DEVICES, "no_devices",
     "0: what devices report is not recorded; there is no level above 1"},
    {"TensorFlow", "python_tracer_level", PROF__OTHER_FUNCTIONS, NULL,
     "records nothing here, because C has no interpreter: define PROF_INSTRUMENT_FUNCTIONS, and compile with "
     "-finstrument-functions, for a scope per function; for Python see docs/guide/python.md"},
    {"TensorFlow", "delay_ms", PROF__OTHER_MS, "delay", NULL},
    {"TensorFlow", "duration_ms", PROF__OTHER_MS, "duration", NULL},
    {"TensorFlow", "start_timestamp_ns", PROF__OTHER_SAME, "start_unix", NULL},
    {"TensorFlow", "host_traceme_filter_mask", PROF__OTHER_SAME, "filter_mask", NULL},
    {"TensorFlow", "include_dataset_ops", PROF__OTHER_BOTH, NULL, "there are no data set operations: mark up your own"},
    {"TensorFlow", "enable_hlo_proto", PROF__OTHER_BOTH, NULL, "there are no XLA programs"},
    {"TensorFlow", "version", PROF__OTHER_ONLY, "1", "the only version of these options"},
    {"TensorFlow", "device_type", PROF__OTHER_AMONG, "UNSPECIFIED|CPU|0|1;GPU|TPU|PLUGGABLE_DEVICE|2|3|4",
     PROF__NO_DEVICE},
    {"TensorFlow", "max_events", PROF__OTHER_NEVER, NULL, "the buffer has a size in bytes: set buffer"},
    {"TensorFlow", "repository_path", PROF__OTHER_AMONG, "", PROF__NO_FOLDER},
    {"TensorFlow", "raise_error_on_start_failure", PROF__OTHER_BOTH, NULL, "prof_start() always says what is wrong"},
    {"TensorFlow", "override_hostname", PROF__OTHER_AMONG, "", "name the file as you like in output"},
    {"JAX", "session_id", PROF__OTHER_AMONG, "", "name the file as you like in output"},
    {"JAX", "create_perfetto_trace", PROF__OTHER_OFF, NULL, "ui.perfetto.dev opens an output that ends in .json"},
    {"JAX", "create_perfetto_link", PROF__OTHER_OFF, NULL, "ui.perfetto.dev opens an output that ends in .json"},
    {"JAX", "enable_continuous_profiling", PROF__OTHER_BOTH, NULL,
     "use mode ring, and prof_save() for a snapshot"},
    {"JAX", "profile_subprocesses", PROF__OTHER_ON, NULL,
     "children of fork() record; other programs need PROF_OUTPUT"},
    {"JAX", "override_hostnames", PROF__OTHER_AMONG, "", "name the file as you like in output"},
    {"JAX", "tpu_trace_mode", PROF__OTHER_TRACES, "TRACE_ONLY_XLA|TRACE_ONLY_HOST;TRACE_COMPUTE|TRACE_COMPUTE_AND_SYNC",
     PROF__NO_DEVICE},
    {"JAX", "tpu_num_sparse_cores_to_trace", PROF__OTHER_AMONG, "0", PROF__NO_DEVICE},
    {"JAX", "tpu_num_sparse_core_tiles_to_trace", PROF__OTHER_AMONG, "0", PROF__NO_DEVICE},
    {"JAX", "tpu_num_chips_to_profile_per_task", PROF__OTHER_AMONG, "0", PROF__NO_DEVICE},
    {"JAX", "tpu_power_trace_level", PROF__OTHER_AMONG, "0", PROF__NO_DEVICE},
    {"JAX", "tpu_perf_counters", PROF__OTHER_AMONG, "", PROF__NO_DEVICE},
    {"JAX", "tpu_cpu_perf_counter_profile_events", PROF__OTHER_AMONG, "|context-switches,page-faults", PROF__NO_DEVICE},
    {"JAX", "gpu_max_callback_api_events", PROF__OTHER_AMONG, "2097152", PROF__NO_CUDA},
    {"JAX", "gpu_max_activity_api_events", PROF__OTHER_AMONG, "2097152", PROF__NO_CUDA},
    {"JAX", "gpu_max_annotation_strings", PROF__OTHER_AMONG, "1048576", PROF__NO_CUDA},
    {"JAX", "gpu_enable_nvtx_tracking", PROF__OTHER_AMONG, "false", PROF__NO_CUDA},
    {"JAX", "gpu_enable_cupti_activity_graph_trace", PROF__OTHER_AMONG, "false", PROF__NO_CUDA},
    {"JAX", "gpu_pm_sample_counters", PROF__OTHER_AMONG, "", PROF__NO_CUDA},
    {"JAX", "gpu_pm_sample_interval_us", PROF__OTHER_AMONG, "500", PROF__NO_CUDA},
    {"JAX", "gpu_pm_sample_buffer_size_per_gpu_mb", PROF__OTHER_AMONG, "64;1-4096", PROF__NO_CUDA},
    {"JAX", "gpu_num_chips_to_profile_per_task", PROF__OTHER_AMONG, "0", PROF__NO_CUDA},
    {"JAX", "gpu_dump_graph_node_mapping", PROF__OTHER_AMONG, "false", PROF__NO_CUDA},
    {"JAX", "gpu_range_profiling_counters", PROF__OTHER_AMONG, "", PROF__NO_CUDA},
    {"JAX", "gpu_range_profiling_allow_multipass", PROF__OTHER_AMONG, "false", PROF__NO_CUDA},
    {"Neuron", "NEURON_RT_INSPECT_ENABLE", PROF__OTHER_ON, NULL, "prof_start() begins a session"},
    {"Neuron", "NEURON_RT_INSPECT_OUTPUT_DIR", PROF__OTHER_NEVER, NULL, PROF__NO_FOLDER},
    {"Neuron", "NEURON_RT_INSPECT_ON_FAIL", PROF__OTHER_NEVER, NULL, "set crash_report, or save"},
    {"Neuron", "NEURON_RT_INSPECT_SYSTEM_PROFILE", PROF__OTHER_NEVER, NULL, PROF__NO_NEURON},
    {"Neuron", "NEURON_RT_INSPECT_DEVICE_PROFILE", PROF__OTHER_NEVER, NULL, PROF__NO_NEURON},
    {"Neuron", "NEURON_RT_INSPECT_DEVICE_PROFILE_NUM_WARMUP", PROF__OTHER_NEVER, NULL,
     "the runtime's alone: set it in the environment"},
    {"Neuron", "NEURON_RT_INSPECT_CPU_UTIL", PROF__OTHER_NEVER, NULL, PROF__NO_NEURON},
    {"Neuron", "NEURON_RT_INSPECT_HOST_MEMORY", PROF__OTHER_NEVER, NULL, PROF__NO_NEURON},
    {"Neuron", "NEURON_RT_INSPECT_EVENT_FILTER_NC", PROF__OTHER_NEVER, NULL, PROF__NO_NEURON},
    {"Neuron", "NEURON_RT_INSPECT_EVENT_FILTER_TYPE", PROF__OTHER_NEVER, NULL, PROF__NO_NEURON},
    {"Neuron", "NEURON_RT_INSPECT_SYS_TRACE_MAX_EVENTS_PER_NC", PROF__OTHER_NEVER, NULL, PROF__NO_NEURON},
    {"Neuron", "NEURON_RT_INSPECT_PRECACHE_ENABLE", PROF__OTHER_NEVER, NULL,
     "the runtime's alone: set it in the environment"},
#endif
};
#define PROF__OTHER_COUNT_ALL (sizeof prof__other_keys / sizeof *prof__other_keys)

/* Looks up a value in the list of a PROF__OTHER_AMONG key. Returns 1 if prof behaves that way, 0 if the value is
   unsupported, -1 if it is invalid. */
static int prof__other_among(const char *native_key, const char *value)
{
    int fine = 1, closed = 0, is_switch = prof__equal(native_key, "false"),
        is_number = native_key[0] >= '0' && native_key[0] <= '9';
    uint64_t number, low, high;
    if (is_number && !prof__parse_number(value, prof__ones, &number)) return -1;
    for (const char *each = native_key;; ++each) {
        const char *c = value, *end = each;
        while (*c && *each == *c) ++each, ++c;
        if (!*c && (!*each || *each == '|' || *each == ';')) return fine;
        for (low = high = 0; *end >= '0' && *end <= '9'; ++end) low = low * 10 + (uint64_t)(*end - '0');
        if (*end == '-' && prof__parse_whole(end + 1, &high) && prof__parse_whole(value, &number) && number >= low &&
            number <= high)
            return fine;
        while (*each && *each != '|' && *each != ';') ++each;
        if (*each == ';') fine = 0, closed = 1;
        if (!*each) break;
    }
    if (is_switch) {
        int on = prof__parse_name(value, prof__switch_names);
        return on < 0 ? -1 : !(on & 1);
    }
    return closed ? -1 : 0;
}

static prof_status prof__other_must_be(const prof__other_key *other, const char *value, const char *what)
{
    return prof__fail(PROF_INVALID_ARGUMENT, "%s '%s': must be %s", other->name, value, what);
}

static prof_status prof__other_unsupported(const prof__other_key *other, const char *value)
{
    return prof__fail(PROF_UNSUPPORTED, "%s '%s': %s", other->name, value, other->meaning);
}

/* Checks a value of a PROF__OTHER_AMONG key, and explains why it is refused. */
static prof_status prof__other_among_check(const prof__other_key *other, const char *value)
{
    char list[160];
    size_t at = 0;
    int found = prof__other_among(other->native_key, value);
    if (found > 0) return PROF_OK;
    if (!found) return prof__other_unsupported(other, value);
    if (prof__equal(other->native_key, "false")) return prof__other_must_be(other, value, "0 or 1");
    const char *ends = other->native_key; /* without a ; the valid values are numbers */
    while (*ends && *ends != ';') ++ends;
    if (!*ends) return prof__other_must_be(other, value, "a number");
    for (const char *c = other->native_key; *c && at + 3 < sizeof list; ++c) {
        list[at++] = *c == '|' || *c == ';' ? ',' : *c;
        if (list[at - 1] == ',') list[at++] = ' ';
    }
    list[at] = 0;
    return prof__other_must_be(other, value, list);
}

/* Bits of prof_config.private_keys. They remember which keys of other profilers were set, so that these keys can be set
   in any order, and again. */
enum {
    PROF__ASKED_AGGREGATE = 1, /* this key and the next two ask for statistics of everything */
    PROF__ASKED_DUMP = 2,
    PROF__ASKED_ENABLED = 4,
    PROF__ASKED_COUNTS = 7,
    PROF__ASKED_MODE = 8,      /* one of those three keys has changed the mode */
    PROF__ASKED_DEVICES = 16,  /* this key and the next two leave out devices */
    PROF__ASKED_HOST = 32,
    /* This key also turns off all call sites; the level before that is kept in the bits from PROF__ASKED_LEVEL on. */
    PROF__ASKED_DISABLED = 64,
    PROF__ASKED_LEVEL = 16     /* index of the lowest bit of the kept level, which is stored plus 1 */
};

static int prof__asks(prof_config *config, uint32_t bit, int on)
{
    int asked = (config->private_keys & bit) != 0;
    config->private_keys = on ? config->private_keys | bit : config->private_keys & ~bit;
    return asked;
}

/* Asks for statistics of everything, or takes that back. Other profilers' statistics cover the whole run, so a ring of
   events is not enough. */
static void prof__other_counts(prof_config *config, uint32_t bit, int on)
{
    prof__asks(config, bit, on);
    if (on && config->mode == PROF_RING) {
        config->mode = PROF_RING_STATS;
        prof__asks(config, PROF__ASKED_MODE, 1);
    }
    if (config->private_keys & PROF__ASKED_COUNTS || !prof__asks(config, PROF__ASKED_MODE, 0)) return;
    if (config->mode == PROF_RING_STATS) config->mode = PROF_RING;
}

static void prof__other_devices(prof_config *config, uint32_t bit, int off)
{
    if (prof__asks(config, bit, off) || off || bit == PROF__ASKED_DEVICES)
        config->no_devices =
            (config->private_keys & (PROF__ASKED_DEVICES | PROF__ASKED_HOST | PROF__ASKED_DISABLED)) != 0;
}

static void prof__other_period(prof_config *config, int on)
{
    prof__other_counts(config, PROF__ASKED_DUMP, on);
    if (!on)
        config->dump_period_ns = PROF_NEVER;
    else if (!config->dump_period_ns || config->dump_period_ns == PROF_NEVER)
        config->dump_period_ns = 1000000000u;
}

/* Turns recording on or off at the start, as CNTK's profilerEnabled does. Turning it on again restores the level and
   the devices of before. */
static void prof__other_enabled(prof_config *config, int on)
{
    int was_off = (config->private_keys & PROF__ASKED_DISABLED) != 0;
    prof__other_counts(config, PROF__ASKED_ENABLED, on);
    prof__other_devices(config, PROF__ASKED_DISABLED, !on);
    if (!on && !was_off && config->level >= 0) {
        config->private_keys |= (uint32_t)(config->level + 1) << PROF__ASKED_LEVEL;
        config->level = PROF_LEVEL_NONE;
    } else if (on && config->private_keys >> PROF__ASKED_LEVEL) {
        if (config->level == PROF_LEVEL_NONE) config->level = (int)(config->private_keys >> PROF__ASKED_LEVEL) - 1;
        config->private_keys &= (1u << PROF__ASKED_LEVEL) - 1;
    }
}

/* Sets output. Fails at once if this program has no writer for the path, because prof_start() would fail later. */
static prof_status prof__other_file(const prof__other_key *other, const prof__key *native_key, prof_config *config,
                                    const char *value)
{
#if !defined(PROF_FREESTANDING) && !defined(PROF_MINIMAL) /* PROF_MINIMAL writes only .prof files */
    const prof_writer *writer;
    char why[PROF__ERROR_SIZE];
    prof_status status = config->layout ? PROF_OK : prof__writer_find(value, &writer);
    if (status) {
        prof__copy(why, PROF__ERROR_TEXT(), sizeof why);
        return prof__fail(status, "%s '%.60s': %.160s", other->name, value, why);
    }
#endif
    return prof__key_set(native_key, other->name, config, value);
}

/* Sets a key whose value is not a plain switch. Returns 0 if the key or the value is not of this kind. */
static int prof__other_value(const prof__other_key *other, const prof__key *native_key, prof_config *config,
                             const char *value, prof_status *status)
{
    uint64_t number;
    switch (other->how) {
    case PROF__OTHER_SAME: *status = prof__key_set(native_key, other->name, config, value); return 1;
    case PROF__OTHER_FILE: *status = prof__other_file(other, native_key, config, value); return 1;
    case PROF__OTHER_LEVEL:
        *status = prof__parse_whole(value, &number) && number <= 3
                      ? prof__key_set(native_key, other->name, config, value)
                      : prof__other_must_be(other, value, "0 to 3");
        return 1;
    case PROF__OTHER_MS:
        *status = PROF_OK;
        if (!prof__parse_number(value, prof__ones, &number) || number > PROF__CENTURY / 1000000)
            *status = prof__other_must_be(other, value, "a number of milliseconds");
        else
            prof__key_store(native_key, config, value, number * 1000000);
        return 1;
    case PROF__OTHER_ONLY:
        *status =
            prof__equal(value, other->native_key) ? PROF_OK : prof__other_must_be(other, value, other->native_key);
        return 1;
    case PROF__OTHER_AMONG: *status = prof__other_among_check(other, value); return 1;
    case PROF__OTHER_TRACES:
        *status = prof__other_among_check(other, value);
        if (!*status) prof__other_devices(config, PROF__ASKED_HOST, prof__equal(value, "TRACE_ONLY_HOST"));
        return 1;
    case PROF__OTHER_NEVER: *status = prof__fail(PROF_UNSUPPORTED, "%s: %s", other->name, other->meaning); return 1;
    /* Other profilers have more levels for GPUs, with events that no plug-in of prof produces. */
    case PROF__OTHER_DEVICES:
        if (prof__parse_name(value, prof__switch_names) >= 0) return 0;
        if (!prof__parse_number(value, prof__ones, &number)) return 0;
        *status = prof__other_unsupported(other, value);
        return 1;
    default: return 0;
    }
}

/* Sets what another profiler's key means in prof. */
static prof_status prof__other_set(const prof__other_key *other, prof_config *config, const char *value)
{
    const prof__key *native_key =
        other->native_key && other->how < PROF__OTHER_BOTH ? prof__key_find(other->native_key) : NULL;
    prof_status status = PROF_OK;
    if (other->how < PROF__OTHER_BOTH && other->native_key && !native_key)
        return prof__fail(PROF_UNSUPPORTED, "%s: this build has no %s", other->name, other->native_key);
    if (prof__other_value(other, native_key, config, value, &status)) return status;
    int on = prof__parse_name(value, prof__switch_names);
    if (on < 0) return prof__other_must_be(other, value, "0 or 1");
    on &= 1;
#ifdef PROF_INSTRUMENT_FUNCTIONS
    const int functions = 1;
#else
    const int functions = 0;
#endif
    switch (other->how) {
    case PROF__OTHER_NOT: prof__key_store(native_key, config, value, (uint64_t)!on); break;
    case PROF__OTHER_DEVICES: prof__other_devices(config, PROF__ASKED_DEVICES, !on); break;
    case PROF__OTHER_ENABLED: prof__other_enabled(config, on); break;
    case PROF__OTHER_COUNTS: prof__other_counts(config, PROF__ASKED_AGGREGATE, on); break;
    case PROF__OTHER_PERIOD: prof__other_period(config, on); break;
    case PROF__OTHER_ON: status = on ? PROF_OK : prof__other_unsupported(other, value); break;
    case PROF__OTHER_OFF: status = on ? prof__other_unsupported(other, value) : PROF_OK; break;
    case PROF__OTHER_FUNCTIONS: status = on && !functions ? prof__other_unsupported(other, value) : PROF_OK; break;
    default: break;
    }
    return status;
}

#endif /* PROF__SESSION_CONFIG_OTHERS_H */
