/* What only a machine with NeuronCores can show: executes a NEFF with the real runtime, captures it in every way that
   prof_ntff.h has, and checks what came. For tools/check_on_trn.sh, which compiles it with AWS's headers.

   usage: neuron FILE.neff FOLDER       one "ok", "FAIL" or "SKIP" line for each check */
#define PROF_IMPLEMENTATION
#include "../../prof_ntff.h"
#include "../../prof_chrome.h"
#include <nrt/nrt.h>
#include <nrt/nrt_experimental.h>

enum { STEPS = 50 };

static int passed, failed, skipped;

static void say(int good, const char *what)
{
    if (good)
        ++passed, printf("ok   %s\n", what);
    else
        ++failed, printf("FAIL %s: %s\n", what, prof_error());
}

static void skip(const char *what, const char *why) { ++skipped, printf("SKIP %s: %s\n", what, why); }

/*-- a model with its tensors, all zero --*/

static nrt_model_t *model;
static nrt_tensor_set_t *inputs, *outputs;

static int succeeded(NRT_STATUS status, const char *what)
{
    if (status != NRT_SUCCESS) printf("FAIL %s: %s (%u)\n", what, prof_ntff_nrt_status_name(status), (unsigned)status), ++failed;
    return status == NRT_SUCCESS;
}

static int tensors_make(void)
{
    nrt_tensor_info_array_t *all = NULL;
    if (!succeeded(nrt_get_model_tensor_info(model, &all), "nrt_get_model_tensor_info")) return 0;
    if (!succeeded(nrt_allocate_tensor_set(&inputs), "nrt_allocate_tensor_set") ||
        !succeeded(nrt_allocate_tensor_set(&outputs), "nrt_allocate_tensor_set"))
        return 0;
    for (uint64_t i = 0; i < all->tensor_count; i++) {
        const nrt_tensor_info_t *each = &all->tensor_array[i];
        nrt_tensor_t *tensor = NULL;
        if (!succeeded(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, each->size, each->name, &tensor), each->name) ||
            !succeeded(nrt_add_tensor_to_tensor_set(each->usage == NRT_TENSOR_USAGE_INPUT ? inputs : outputs, each->name, tensor),
                       each->name))
            return 0;
    }
    nrt_free_model_tensor_info(all);
    return 1;
}

static int model_load(const char *path)
{
    FILE *file = fopen(path, "rb");
    long size;
    char *bytes;
    int good;
    if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) <= 0 || fseek(file, 0, SEEK_SET)) {
        printf("FAIL %s: can't be read\n", path), ++failed;
        return 0;
    }
    bytes = (char *)malloc((size_t)size);
    good = bytes && fread(bytes, 1, (size_t)size, file) == (size_t)size;
    fclose(file);
    good = good && succeeded(nrt_load(bytes, (size_t)size, -1, -1, &model), "nrt_load") && tensors_make();
    free(bytes);
    return good;
}

static int execute(int times)
{
    for (int i = 0; i < times; i++) {
        PROFILE_SCOPE("step");
        if (!succeeded(nrt_execute(model, inputs, outputs), "nrt_execute")) return 0;
    }
    return 1;
}

/*-- checks --*/

typedef struct interval {
    int64_t start, end;
} interval;

static size_t intervals(const prof_trace *trace, const char *device, const char *name, interval *to, size_t room)
{
    size_t count = 0;
    for (size_t i = 0; i < prof_trace_track_count(trace); i++) {
        const char *of = prof_trace_track(trace, i)->device;
        prof_cursor *cursor = NULL;
        prof_event event;
        if (strncmp(of, device, strlen(device)) || (!*device && *of) || prof_cursor_open(trace, i, &cursor)) continue;
        while (prof_cursor_next(cursor, &event))
            if (event.type == PROF_EVENT_SCOPE && !strcmp(event.name, name) && count < room) {
                to[count].start = event.start_ns;
                to[count++].end = event.start_ns + event.duration_ns;
            }
        prof_cursor_close(cursor);
    }
    return count;
}

/* Where the NeuronCores' executions lie in the host's scopes, and by how much they miss them. */
static void system_trace(const char *folder)
{
    static interval host[STEPS], cores[64 * STEPS];
    char path[PROF_NTFF_PATH + 32];
    prof_config config;
    prof_ntff_stats stats;
    prof_trace *trace = NULL;
    int64_t worst = 0;
    memset(&config, 0, sizeof config);
    memset(&stats, 0, sizeof stats);
    if (!(prof_ntff_capabilities() & PROF_NTFF_CAN_SYS_TRACE)) {
        skip("system trace", "not in this runtime");
        return;
    }
    snprintf(path, sizeof path, "%s/timeline.json", folder);
    config.output = path;
    say(!prof_start(&config), "prof_start");
    say(!prof_ntff_systrace_start(NULL), "prof_ntff_systrace_start");
    say(execute(STEPS / 2), "half of the steps");
    say(!prof_ntff_systrace_fetch(&stats), "prof_ntff_systrace_fetch");
    say(execute(STEPS - STEPS / 2), "the other half");
    say(!prof_ntff_systrace_stop(&stats), "prof_ntff_systrace_stop");
    say(!prof_stop(), "prof_stop");
    printf("     events %llu, pairs %llu, instants %llu, sync points %llu, off by %llu ns at most, realigned %llu, raw %llu, "
           "unmatched %llu + %llu, errors %llu, data_version %d\n",
           (unsigned long long)stats.events, (unsigned long long)stats.pairs, (unsigned long long)stats.instants,
           (unsigned long long)stats.sync_points, (unsigned long long)stats.sync_error_ns, (unsigned long long)stats.realigned,
           (unsigned long long)stats.raw_clock, (unsigned long long)stats.unmatched_starts,
           (unsigned long long)stats.unmatched_stops, (unsigned long long)stats.errors, stats.data_version);
    say(!stats.errors, "all of the JSON was understood");
    say(!prof_trace_open_live(&trace), "prof_trace_open_live");
    size_t steps = intervals(trace, "", "step", host, STEPS);
    size_t runs = intervals(trace, "NeuronCore ", "nc_exec_running", cores, sizeof cores / sizeof *cores), inside = 0;
    for (size_t i = 0; i < runs; i++) {
        int64_t least = INT64_MAX;
        for (size_t k = 0; k < steps; k++) {
            int64_t early = host[k].start - cores[i].start, late = cores[i].end - host[k].end;
            int64_t miss = early > late ? early : late;
            if (miss < least) least = miss;
        }
        inside += least <= 1000;
        if (least > worst && runs) worst = least;
    }
    printf("     %zu steps, %zu executions on cores, %zu within a step (1 us); the worst lies %lld ns outside\n", steps, runs, inside,
           (long long)worst);
    say(steps == STEPS, "every step");
    say(runs >= STEPS, "executions of NeuronCores");
    say(runs && inside == runs, "every execution lies within its step");
    prof_trace_close(trace);
}

static void session(const char *folder, unsigned activities, const char *what)
{
    char found[PROF_NTFF_PATH];
    prof_ntff_config config;
    memset(&config, 0, sizeof config);
    config.output_dir = folder;
    config.activities = activities;
    if (activities & PROF_NTFF_DEVICE && !(prof_ntff_capabilities() & PROF_NTFF_CAN_DEVICE_MODE))
        config.device_mode = PROF_NTFF_DEVICE_MODEL;
    prof_start(NULL);
    say(!prof_ntff_session_begin(&config), what);
    execute(5);
    say(!prof_ntff_session_end(found), "prof_ntff_session_end");
    prof_stop();
    printf("     session %s\n", found);
    say(*found != 0, "its folder was found");
}

static void continuous(const char *folder)
{
    prof_ntff_continuous config;
    memset(&config, 0, sizeof config);
    config.output_dir = folder;
    if (!(prof_ntff_capabilities() & PROF_NTFF_CAN_CONTINUOUS)) {
        skip("continuous profile", "not in this runtime");
        return;
    }
    say(!prof_ntff_continuous_begin(&config), "prof_ntff_continuous_begin");
    execute(2);
    say(prof_ntff_continuous_save_if(0, 2, 1), "prof_ntff_continuous_save_if");
    say(!prof_ntff_continuous_end(), "prof_ntff_continuous_end");
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    say(!prof_ntff_load(NULL), "the runtime that the program is linked with is found");
    printf("     %s, version %s, capabilities 0x%x\n", prof_ntff_library(), prof_ntff_runtime_version(), prof_ntff_capabilities());
    say(prof_ntff_session_begin(NULL) == PROF_INVALID_STATE && prof_ntff_nrt_status() == NRT_UNINITIALIZED,
        "before nrt_init() a session is refused with NRT_UNINITIALIZED");
    if (!succeeded(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), "nrt_init") || !model_load(argv[1]) || !execute(2)) return 1;
    system_trace(argv[2]);
    session(argv[2], PROF_NTFF_SYSTEM, "inspect session: system_profile");
    session(argv[2], PROF_NTFF_SYSTEM | PROF_NTFF_DEVICE, "inspect session: system_profile and device_profile");
    continuous(argv[2]);
    nrt_unload(model);
    nrt_close();
    say(prof_ntff_session_begin(NULL) == PROF_INVALID_STATE && prof_ntff_nrt_status() == NRT_CLOSED,
        "after nrt_close() a session is refused with NRT_CLOSED");
    printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    return failed != 0;
}
