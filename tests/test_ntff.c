/* The bridge to the Neuron runtime, with a runtime that is a fake: fake_nrt.c. Each test is a process of its own,
   because a runtime is loaded for good. */
/* run: traces */
#include "private.h"
#include "../prof_ntff.h"
#include "test.h"
#include "trace.h"
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

/*-- a process for each test --*/

#define ALONE(name)                      \
    static void alone_##name(void);      \
    TEST(name) { in_child(alone_##name); } \
    static void alone_##name(void)

static void in_child(void (*run)(void))
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        test_failures = 0;
        run();
        if (test_skip) printf("SKIP %s\n", test_skip);
        exit(test_failures != 0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
}

/*-- the fake --*/

static const char *fake_path(const char *name)
{
    static char paths[4][1200];
    static unsigned next;
    char *path = paths[next++ % 4];
    ssize_t n = readlink("/proc/self/exe", path, 1000);
    CHECK(n > 0);
    while (n > 0 && path[n - 1] != '/') n--;
    snprintf(path + n, sizeof paths[0] - (size_t)n, "fake_nrt/%s", name);
    return path;
}

static struct {
    const char *(*log)(void);
    void (*log_clear)(void);
    void (*fail)(const char *name, unsigned status);
    unsigned long (*outstanding)(void);
    void (*clock)(uint64_t unix_ns);
    unsigned (*execute)(uint32_t nc, const char *model, uint64_t ns);
    void (*push)(const char *json);
} fake;

static void find(void *handle, const char *name, void *to)
{
    void *symbol = dlsym(handle, name);
    CHECK(symbol != NULL);
    memcpy(to, &symbol, sizeof symbol);
}

static void controls(void *handle)
{
    find(handle, "fake_log", &fake.log);
    find(handle, "fake_log_clear", &fake.log_clear);
    find(handle, "fake_fail", &fake.fail);
    find(handle, "fake_outstanding", &fake.outstanding);
    find(handle, "fake_clock", &fake.clock);
    find(handle, "fake_execute", &fake.execute);
    find(handle, "fake_push", &fake.push);
}

static void load(const char *name)
{
    unsetenv("NEURON_RT_INSPECT_ENABLE");
    unsetenv("PROF_NTFF_LIBNRT");
    CHECK_EQUAL(prof_ntff_load(fake_path(name)), PROF_OK);
    void *handle = dlopen(fake_path(name), RTLD_NOW | RTLD_NOLOAD);
    CHECK(handle != NULL);
    if (handle) controls(handle);
}

/* The whole runtime, ready. */
static void ready(void)
{
    load("libnrt.so.1");
    CHECK_EQUAL(prof_ntff_init(1, "1.0", "1.0"), PROF_OK);
    fake.log_clear();
}

#define CHECK_ERROR(call, status, part)                                                            \
    do {                                                                                           \
        CHECK_EQUAL(call, status);                                                                 \
        if (!strstr(prof_error(), part)) {                                                         \
            ++test_failures;                                                                       \
            printf("%s:%d: \"%s\" has no \"%s\"\n", __FILE__, __LINE__, prof_error(), part);       \
        }                                                                                          \
    } while (0)

/*-- files --*/

static int count_files(const char *folder, const char *part)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    int count = 0;
    while (dir && (entry = readdir(dir)) != NULL) count += strstr(entry->d_name, part) != NULL;
    if (dir) closedir(dir);
    return count;
}

static void empty(const char *folder)
{
    char command[512];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    CHECK_EQUAL(system(command), 0);
}

/*-- loader --*/

ALONE(without_a_runtime_everything_says_so)
{
    struct nrt_inspect_config *options = NULL;
    setenv("PROF_NTFF_LIBNRT", "/nowhere/libnrt.so.1", 1);
    CHECK_ERROR(prof_ntff_load(NULL), PROF_UNSUPPORTED, "/nowhere/libnrt.so.1");
    CHECK_EQUAL(prof_ntff_capabilities(), 0);
    CHECK(prof_ntff_runtime_version() == NULL);
    CHECK(prof_ntff_library() == NULL);
    CHECK_ERROR(prof_ntff_inspect_begin(), PROF_UNSUPPORTED, "cannot load the Neuron runtime");
    CHECK_ERROR(prof_ntff_inspect_config_allocate(&options), PROF_UNSUPPORTED, "cannot load the Neuron runtime");
    CHECK_ERROR(prof_ntff_session_begin(NULL), PROF_UNSUPPORTED, "cannot load the Neuron runtime");
    CHECK_ERROR(prof_ntff_session_end(NULL), PROF_INVALID_STATE, "no capture was begun");
    CHECK_ERROR(prof_ntff_continuous_begin(NULL), PROF_UNSUPPORTED, "cannot load the Neuron runtime");
    CHECK_ERROR(prof_ntff_continuous_save(0), PROF_INVALID_STATE, "no capture was begun");
    CHECK_ERROR(prof_ntff_systrace_start(NULL), PROF_UNSUPPORTED, "cannot load the Neuron runtime");
    CHECK_ERROR(prof_ntff_systrace_fetch(NULL), PROF_INVALID_STATE, "no capture was begun");
    CHECK_EQUAL(prof_ntff_nrt_status(), 0);
    CHECK(options == NULL);
    unsetenv("PROF_NTFF_LIBNRT"); /* once there is one it is found */
    CHECK_EQUAL(prof_ntff_load(fake_path("libnrt.so.1")), PROF_OK);
    CHECK_EQUAL(prof_ntff_inspect_config_allocate(&options), PROF_OK);
    CHECK_EQUAL(prof_ntff_inspect_config_free(options), PROF_OK);
}

ALONE(where_there_is_no_libnrt_the_package_is_named)
{
    unsetenv("PROF_NTFF_LIBNRT");
    if (!access("/opt/aws/neuron/lib/libnrt.so.1", F_OK)) SKIP("there is a runtime on this machine");
    CHECK_ERROR(prof_ntff_load(NULL), PROF_UNSUPPORTED, "aws-neuronx-runtime-lib");
}

ALONE(a_runtime_by_its_path)
{
    load("libnrt.so.1");
    CHECK_TEXT(prof_ntff_runtime_version(), "2.34.10.0");
    CHECK_TEXT(prof_ntff_library(), fake_path("libnrt.so.1"));
    CHECK_EQUAL(prof_ntff_capabilities(), 127);
    CHECK_EQUAL(prof_ntff_load(NULL), PROF_OK);
    CHECK_EQUAL(prof_ntff_load(fake_path("libnrt.so.1")), PROF_OK);
    CHECK_ERROR(prof_ntff_load(fake_path("other/libnrt.so.1")), PROF_INVALID_STATE, "in use already");
    CHECK_ERROR(prof_ntff_load("/nowhere/libnrt.so.1"), PROF_INVALID_STATE, "in use already");
}

ALONE(a_runtime_by_the_environment)
{
    setenv("PROF_NTFF_LIBNRT", fake_path("early/libnrt.so.1"), 1);
    CHECK_EQUAL(prof_ntff_profile_stop("x"), PROF_INVALID_STATE); /* loads it, which is not initialised */
    CHECK_TEXT(prof_ntff_library(), fake_path("early/libnrt.so.1"));
}

ALONE(the_runtime_that_the_process_has_is_used)
{
    void *handle = dlopen(fake_path("other/libnrt.so.1"), RTLD_NOW | RTLD_LOCAL); /* as a framework does */
    CHECK(handle != NULL);
    setenv("PROF_NTFF_LIBNRT", fake_path("libnrt.so.1"), 1);
    CHECK_ERROR(prof_ntff_load(NULL), PROF_INVALID_STATE, "has loaded another libnrt");
    CHECK(dlopen(fake_path("libnrt.so.1"), RTLD_NOW | RTLD_NOLOAD) == NULL); /* was not loaded to find out */
    unsetenv("PROF_NTFF_LIBNRT");
    CHECK_EQUAL(prof_ntff_load(NULL), PROF_OK);
    CHECK_TEXT(prof_ntff_library(), fake_path("other/libnrt.so.1"));
    dlclose(handle); /* stays: the functions found would be gone */
    CHECK_EQUAL(prof_ntff_inspect_begin(), PROF_INVALID_STATE);
    CHECK_EQUAL(prof_ntff_nrt_status(), 13);
}

ALONE(a_runtime_inside_the_program)
{
    unsetenv("PROF_NTFF_LIBNRT");
    CHECK(dlopen(fake_path("libframework.so"), RTLD_NOW | RTLD_GLOBAL) != NULL); /* as what the linker put in */
    CHECK_ERROR(prof_ntff_load(fake_path("libnrt.so.1")), PROF_INVALID_STATE, "has loaded another libnrt");
    CHECK(dlopen(fake_path("libnrt.so.1"), RTLD_NOW | RTLD_NOLOAD) == NULL);
    CHECK_EQUAL(prof_ntff_load(NULL), PROF_OK);
    CHECK_TEXT(prof_ntff_library(), fake_path("libframework.so"));
}

ALONE(a_library_that_is_no_runtime)
{
    CHECK_ERROR(prof_ntff_load("libc.so.6"), PROF_UNSUPPORTED, "no nrt_init");
    setenv("PROF_NTFF_LIBNRT", "libc.so.6", 1);
    CHECK_ERROR(prof_ntff_load(NULL), PROF_UNSUPPORTED, "libc.so.6 is not a Neuron runtime");
    CHECK_EQUAL(prof_ntff_load(fake_path("libnrt.so.1")), PROF_OK);
}

static void *load_at_once(void *status)
{
    *(prof_status *)status = prof_ntff_load(NULL);
    return NULL;
}

ALONE(threads_load_one)
{
    pthread_t threads[8];
    prof_status status[8];
    setenv("PROF_NTFF_LIBNRT", fake_path("libnrt.so.1"), 1);
    for (int i = 0; i < 8; i++) pthread_create(&threads[i], NULL, load_at_once, &status[i]);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 8; i++) CHECK_EQUAL(status[i], PROF_OK);
}

/* Every line of the table, in every runtime: found if it is there, and named if not. */
static void check_symbols(const char *name)
{
    load(name);
    void *handle = dlopen(fake_path(name), RTLD_NOW | RTLD_NOLOAD);
    const prof__ntff_api *api = prof__ntff_get();
    for (size_t i = 0; i < sizeof prof__ntff_symbols / sizeof *prof__ntff_symbols; i++)
        CHECK(prof__ntff_symbol(api, prof__ntff_symbols[i].field) == dlsym(handle, prof__ntff_symbols[i].name));
}

ALONE(every_symbol_of_the_table)
{
    check_symbols("libnrt.so.1");
    CHECK_EQUAL(sizeof prof__ntff_symbols / sizeof *prof__ntff_symbols, 62);
}
ALONE(every_symbol_of_an_early_runtime) { check_symbols("early/libnrt.so.1"); }
ALONE(every_symbol_of_a_plain_runtime) { check_symbols("plain/libnrt.so.1"); }

ALONE(what_a_runtime_lacks_is_named)
{
    struct nrt_inspect_config *options = NULL;
    prof_ntff_config config;
    memset(&config, 0, sizeof config);
    load("early/libnrt.so.1");
    CHECK_EQUAL(prof_ntff_capabilities(), PROF_NTFF_CAN_PROFILE | PROF_NTFF_CAN_TRACE);
    prof_ntff_init(1, NULL, NULL);
    CHECK_ERROR(prof_ntff_inspect_config_allocate(&options), PROF_UNSUPPORTED,
                "nrt_inspect_config_allocate: this runtime does not have it (2.34.10.0");
    CHECK_ERROR(prof_ntff_sys_trace_buffer_free(NULL), PROF_UNSUPPORTED, "nrt_sys_trace_buffer_free: this runtime");
    CHECK_ERROR(prof_ntff_session_begin(&config), PROF_UNSUPPORTED, "nrt_inspect_config_allocate");
    CHECK_ERROR(prof_ntff_systrace_start(NULL), PROF_UNSUPPORTED, "nrt_sys_trace_config_allocate");
    CHECK_ERROR(prof_ntff_continuous_begin(NULL), PROF_UNSUPPORTED, "nrt_profile_continuous_options_allocate");
    CHECK(!prof_ntff_session_active());
    CHECK_EQUAL(fake.outstanding(), 0);
}

ALONE(a_runtime_without_device_modes)
{
    prof_ntff_config config;
    memset(&config, 0, sizeof config);
    load("plain/libnrt.so.1");
    prof_ntff_init(1, NULL, NULL);
    CHECK_TEXT(prof_ntff_runtime_version(), "unknown");
    CHECK_TEXT(prof_ntff_nrt_status_name(7777), "NRT_STATUS_7777");
    CHECK_EQUAL(prof_ntff_capabilities(), 127 & ~PROF_NTFF_CAN_DEVICE_MODE);
    config.output_dir = trace_path("ntff_plain");
    config.activities = PROF_NTFF_DEVICE; /* of the session: not to be had, and so nothing begins */
    CHECK_ERROR(prof_ntff_session_begin(&config), PROF_UNSUPPORTED, "set_inspect_device_profile_mode");
    CHECK_EQUAL(fake.outstanding(), 0);
    config.device_mode = PROF_NTFF_DEVICE_MODEL; /* what it does anyway */
    CHECK_EQUAL(prof_ntff_session_begin(&config), PROF_OK);
    CHECK_EQUAL(prof_ntff_session_end(NULL), PROF_OK);
    config.on_fail = PROF_NTFF_ON_FAIL_TOO;
    CHECK_ERROR(prof_ntff_session_begin(&config), PROF_UNSUPPORTED, "enable_inspect_on_fail");
    CHECK_EQUAL(fake.outstanding(), 0);
    CHECK_EQUAL(prof_ntff_systrace_start(NULL), PROF_OK); /* fetches all at once */
    CHECK_EQUAL(prof_ntff_systrace_stop(NULL), PROF_OK);
    CHECK_EQUAL(fake.outstanding(), 0);
}

/*-- statuses --*/

ALONE(names_of_statuses)
{
    static const unsigned known[] = {0,   1,    2,    3,    4,    5,    6,    7,    9,    10,   11,   13,   14,   15,
                                     101, 1002, 1003, 1004, 1005, 1006, 1100, 1200, 1201, 1202, 1203, 1204, 1205, 1206};
    CHECK_TEXT(prof_ntff_nrt_status_name(12), "NRT_STATUS_12"); /* without a runtime */
    CHECK_TEXT(prof_ntff_nrt_status_name(13), "NRT_UNINITIALIZED");
    load("libnrt.so.1");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        CHECK(!strncmp(prof_ntff_nrt_status_name(known[i]), "NRT_", 4) && !strstr(prof_ntff_nrt_status_name(known[i]), "STATUS_"));
    CHECK_TEXT(prof_ntff_nrt_status_name(1203), "NRT_EXEC_HW_ERR_DMA_ABORT");
    CHECK_TEXT(prof_ntff_nrt_status_name(7777), "NRT_OF_A_LATER_VERSION");
    CHECK_TEXT(prof_ntff_get_status_as_str(8), "NRT_STATUS_8"); /* the runtime says "unknown" */
}

ALONE(what_statuses_become)
{
    static const struct {
        unsigned nrt;
        prof_status status;
        const char *text;
    } each[] = {{1, PROF_IO, "nrt_profile_stop: NRT_FAILURE (1)"},
                {2, PROF_INVALID_ARGUMENT, "nrt_profile_stop: NRT_INVALID (2)"},
                {3, PROF_INVALID_ARGUMENT, "NRT_INVALID_HANDLE (3)"},
                {4, PROF_NO_MEMORY, "NRT_RESOURCE (4)"},
                {5, PROF_IO, "NRT_TIMEOUT (5)"},
                {11, PROF_NO_MEMORY, "NRT_FAIL_HOST_MEM_ALLOC (11)"},
                {13, PROF_INVALID_STATE, "call nrt_init() first"},
                {14, PROF_INVALID_STATE, "not after nrt_close()"},
                {1200, PROF_IO, "NRT_EXEC_HW_ERR_COLLECTIVES (1200)"}};
    ready();
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        fake.fail("nrt_profile_stop", each[i].nrt);
        CHECK_ERROR(prof_ntff_profile_stop("x"), each[i].status, each[i].text);
        CHECK_EQUAL(prof_ntff_nrt_status(), each[i].nrt);
    }
    CHECK_EQUAL(prof_ntff_get_visible_vnc_count(&(uint32_t){0}), PROF_OK);
    CHECK_EQUAL(prof_ntff_nrt_status(), 0);
}

/*-- one for one --*/

ALONE(the_same_calls_as_in_nrt_profile_h)
{
    struct nrt_inspect_config *options = NULL;
    struct nrt_profile_continuous_options *continuous = NULL;
    const char **types = NULL;
    size_t count = 0;
    int fd = 0, none;
    ready();
    CHECK_EQUAL(prof_ntff_inspect_config_allocate(&options), PROF_OK);
    CHECK_EQUAL(prof_ntff_inspect_config_set_defaults(options), PROF_OK);
    CHECK_EQUAL(prof_ntff_inspect_config_set_session_id(options, 7), PROF_OK);
    CHECK_EQUAL(prof_ntff_inspect_config_set_output_dir(options, trace_path("ntff_calls")), PROF_OK);
    CHECK_EQUAL(prof_ntff_inspect_config_set_output_dir(options, ""), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_ntff_inspect_config_set_enable_inspect(options, 1), PROF_OK);
    CHECK_EQUAL(prof_ntff_inspect_config_set_activity(options, "cpu_util", 1), PROF_OK);
    CHECK_EQUAL(prof_ntff_inspect_config_set_activity(options, "gpu_util", 1), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_ntff_inspect_config_get_all_activity_types(&types, &count), PROF_OK);
    CHECK_EQUAL(count, 4);
    CHECK_EQUAL(prof_ntff_inspect_config_free_activity_types(types, count), PROF_OK);
    CHECK_EQUAL(prof_ntff_inspect_config_get_enabled_activity_types(options, &types, &count), PROF_OK);
    CHECK_EQUAL(count, 1);
    CHECK_TEXT(types[0], "cpu_util");
    CHECK_EQUAL(prof_ntff_inspect_config_free_activity_types(types, count), PROF_OK);
    CHECK_EQUAL(prof_ntff_inspect_begin_with_options(options), PROF_OK);
    CHECK_ERROR(prof_ntff_inspect_begin_with_options(options), PROF_INVALID_STATE, "an inspect session is open already");
    CHECK_EQUAL(prof_ntff_inspect_stop(), PROF_OK);
    CHECK_EQUAL(prof_ntff_inspect_config_free(options), PROF_OK);
    CHECK_EQUAL(prof_ntff_profile_continuous_options_allocate(&continuous), PROF_OK);
    CHECK_EQUAL(prof_ntff_profile_continuous_start(continuous), PROF_OK);
    CHECK_EQUAL(prof_ntff_profile_continuous_save(0, continuous), PROF_INVALID_ARGUMENT); /* nothing has run there */
    CHECK_EQUAL(prof_ntff_profile_continuous_stop(), PROF_OK);
    CHECK_EQUAL(prof_ntff_profile_continuous_options_free(continuous), PROF_OK);
    CHECK_EQUAL(prof_ntff_trace_start(1), PROF_OK);
    CHECK_EQUAL(prof_ntff_trace_stop(trace_path("ntff_trace.bin")), PROF_OK);
    CHECK_EQUAL(prof_ntff_debug_client_connect(0, &fd), PROF_OK);
    CHECK_EQUAL(prof_ntff_debug_client_connect(0, &none), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_ntff_debug_client_connect_close(fd), PROF_OK);
    CHECK_EQUAL(prof_ntff_async_drain_queued_execs(0), PROF_OK);
    CHECK_EQUAL(fake.outstanding(), 0);
    CHECK_EQUAL(prof_ntff_close(), PROF_OK);
}

ALONE(profile_of_one_model)
{
    int memory;
    struct nrt_model *model = (struct nrt_model *)(void *)&memory;
    const char *path = trace_path("ntff_model.ntff");
    remove(path);
    ready();
    CHECK_ERROR(prof_ntff_profile_start(NULL, path), PROF_INVALID_ARGUMENT, "nrt_profile_start: NRT_INVALID");
    CHECK_EQUAL(prof_ntff_profile_start(model, path), PROF_OK);
    CHECK_EQUAL(prof_ntff_profile_start(model, path), PROF_INVALID_ARGUMENT); /* the file's name is the key */
    CHECK_EQUAL(fake.execute(0, "model.neff", 1000), 0);
    CHECK_EQUAL(prof_ntff_profile_stop(path), PROF_OK);
    CHECK_EQUAL(prof_ntff_profile_stop(path), PROF_INVALID_ARGUMENT);
    CHECK(trace_file_size(path) > 0);
}

/*-- sessions --*/

static prof_ntff_config everything(void)
{
    prof_ntff_config config;
    memset(&config, 0, sizeof config);
    config.output_dir = TRACE_FOLDER "/ntff";
    config.activities = PROF_NTFF_SYSTEM | PROF_NTFF_DEVICE | PROF_NTFF_CPU_UTIL;
    config.max_events_per_nc = 5000;
    config.ncs = "1,2-3";
    config.session_id = 9;
    config.on_fail = PROF_NTFF_ON_FAIL_TOO;
    return config;
}

/* In the order of AWS's own code, everything said. */
ALONE(a_session_says_everything)
{
    prof_ntff_config config = everything();
    char expected[16384];
    trace_path("");
    ready();
    CHECK_EQUAL(prof_ntff_session_begin(&config), PROF_OK);
    CHECK(prof_ntff_session_active());
    CHECK_EQUAL(prof_ntff_session_end(NULL), PROF_OK);
    CHECK(!prof_ntff_session_active());
    snprintf(expected, sizeof expected, "%s",
             "nrt_inspect_config_allocate\n"
             "nrt_inspect_config_set_defaults\n"
             "nrt_inspect_config_set_enable_inspect 1\n"
             "nrt_inspect_config_set_enable_inspect_on_fail 1\n"
             "nrt_inspect_config_set_activity all 0\n"
             "nrt_inspect_config_set_activity system_profile 1\n"
             "nrt_inspect_config_set_activity device_profile 1\n"
             "nrt_inspect_config_set_activity cpu_util 1\n"
             "nrt_inspect_config_set_inspect_device_profile_mode 2\n"
             "nrt_inspect_config_set_session_id 9\n"
             "nrt_inspect_config_set_output_dir " TRACE_FOLDER "/ntff\n"
             "nrt_inspect_config_set_sys_trace_max_events_per_nc 5000\n"
             "nrt_inspect_config_set_capture_enabled_for_nc 0 0\n"
             "nrt_inspect_config_set_capture_enabled_for_nc 1 1\n"
             "nrt_inspect_config_set_capture_enabled_for_nc 2 1\n"
             "nrt_inspect_config_set_capture_enabled_for_nc 3 1\n");
    for (int i = 4; i < 128; i++) strcat(expected, "nrt_inspect_config_set_capture_enabled_for_nc\n"); /* of no core here */
    strcat(expected, "nrt_inspect_begin_with_options\nnrt_inspect_stop\nnrt_inspect_config_free\n");
    CHECK_TEXT(fake.log(), expected);
    CHECK_EQUAL(fake.outstanding(), 0);
}

ALONE(a_session_by_default)
{
    trace_path("");
    ready();
    prof_ntff_config config;
    memset(&config, 0, sizeof config);
    config.output_dir = TRACE_FOLDER "/ntff";
    CHECK_EQUAL(prof_ntff_session_begin(&config), PROF_OK);
    CHECK_TEXT(fake.log(), "nrt_inspect_config_allocate\n"
                           "nrt_inspect_config_set_defaults\n"
                           "nrt_inspect_config_set_enable_inspect 1\n"
                           "nrt_inspect_config_set_enable_inspect_on_fail 0\n"
                           "nrt_inspect_config_set_activity all 0\n"
                           "nrt_inspect_config_set_activity system_profile 1\n"
                           "nrt_inspect_config_set_inspect_device_profile_mode 0\n"
                           "nrt_inspect_config_set_session_id 1\n"
                           "nrt_inspect_config_set_output_dir " TRACE_FOLDER "/ntff\n"
                           "nrt_inspect_begin_with_options\n");
    CHECK_EQUAL(prof_ntff_session_end(NULL), PROF_OK);
}

/* Whichever call fails: no session, nothing kept, and the next one begins. */
ALONE(a_session_that_cannot_begin_leaves_nothing)
{
    static const char *const calls[] = {
        "nrt_inspect_config_allocate", "nrt_inspect_config_set_defaults", "nrt_inspect_config_set_enable_inspect",
        "nrt_inspect_config_set_enable_inspect_on_fail", "nrt_inspect_config_set_activity",
        "nrt_inspect_config_set_inspect_device_profile_mode", "nrt_inspect_config_set_session_id",
        "nrt_inspect_config_set_output_dir", "nrt_inspect_config_set_sys_trace_max_events_per_nc",
        "nrt_sys_trace_get_event_types", "nrt_inspect_config_set_capture_enabled_for_event_type_string",
        "nrt_inspect_begin_with_options"};
    prof_ntff_config config = everything();
    config.event_types = "hardware";
    trace_path("");
    ready();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        char text[128];
        snprintf(text, sizeof text, "%s: NRT_TIMEOUT (5)", calls[i]);
        fake.fail(calls[i], 5);
        CHECK_ERROR(prof_ntff_session_begin(&config), PROF_IO, text);
        CHECK_EQUAL(prof_ntff_nrt_status(), 5); /* not that of what cleaned up */
        CHECK(!prof_ntff_session_active());
        CHECK_EQUAL(fake.outstanding(), 0);
        CHECK_ERROR(prof_ntff_session_end(NULL), PROF_INVALID_STATE, "no capture was begun");
    }
    CHECK_EQUAL(prof_ntff_session_begin(&config), PROF_OK);
    fake.fail("nrt_inspect_stop", 5);
    CHECK_ERROR(prof_ntff_session_end(NULL), PROF_IO, "nrt_inspect_stop: NRT_TIMEOUT (5)");
    CHECK_EQUAL(fake.outstanding(), 0);
}

ALONE(before_init_and_after_close)
{
    prof_ntff_config config = everything();
    load("libnrt.so.1");
    CHECK_ERROR(prof_ntff_session_begin(&config), PROF_INVALID_STATE, "nrt_inspect_begin_with_options: NRT_UNINITIALIZED (13): call nrt_init() first");
    CHECK_ERROR(prof_ntff_systrace_start(NULL), PROF_INVALID_STATE, "nrt_sys_trace_start: NRT_UNINITIALIZED (13)");
    CHECK_ERROR(prof_ntff_continuous_begin(NULL), PROF_INVALID_STATE, "NRT_UNINITIALIZED (13)");
    CHECK_EQUAL(fake.outstanding(), 0);
    for (int i = 0; i < 4; i++) { /* what is refused beforehand has no status of the runtime's */
        CHECK_EQUAL(prof_ntff_inspect_begin(), PROF_INVALID_STATE);
        CHECK_EQUAL(prof_ntff_nrt_status(), 13);
        config.activities = i ? config.activities : 64;
        CHECK(i == 0 ? prof_ntff_session_begin(&config) : i == 1 ? prof_ntff_session_end(NULL)
              : i == 2 ? prof_ntff_continuous_save(0) : prof_ntff_systrace_fetch(NULL));
        CHECK_EQUAL(prof_ntff_nrt_status(), 0);
        config = everything();
    }
    CHECK_EQUAL(prof_ntff_init(1, NULL, NULL), PROF_OK);
    CHECK_EQUAL(prof_ntff_session_begin(&config), PROF_OK);
    CHECK_ERROR(prof_ntff_close(), PROF_INVALID_STATE, "nrt_close: an inspect session is open: end it first");
    void (*close)(void); /* the program itself closes it */
    find(dlopen(fake_path("libnrt.so.1"), RTLD_NOW | RTLD_NOLOAD), "nrt_close", &close);
    close();
    CHECK_ERROR(prof_ntff_session_end(NULL), PROF_INVALID_STATE, "NRT_CLOSED (14): too late, captures end before nrt_close()");
    CHECK_ERROR(prof_ntff_session_begin(&config), PROF_INVALID_STATE, "NRT_CLOSED (14): not after nrt_close()");
    CHECK_EQUAL(fake.outstanding(), 0);
}

ALONE(one_capture_of_a_kind)
{
    prof_ntff_config config = everything();
    ready();
    CHECK_EQUAL(prof_ntff_session_begin(&config), PROF_OK);
    CHECK_ERROR(prof_ntff_session_begin(&config), PROF_INVALID_STATE, "prof_ntff_session_begin: a capture is open already");
    CHECK_ERROR(prof_ntff_inspect_begin(), PROF_INVALID_STATE, "nrt_inspect_begin: an inspect session is open already");
    CHECK_ERROR(prof_ntff_systrace_start(NULL), PROF_INVALID_STATE, "the inspect session captures the system profile");
    CHECK_ERROR(prof_ntff_continuous_begin(NULL), PROF_INVALID_STATE, "the inspect session captures the device profile");
    CHECK_EQUAL(prof_ntff_session_end(NULL), PROF_OK);
    CHECK_EQUAL(prof_ntff_systrace_start(NULL), PROF_OK);
    CHECK_EQUAL(prof_ntff_continuous_begin(NULL), PROF_OK);
    CHECK_ERROR(prof_ntff_systrace_start(NULL), PROF_INVALID_STATE, "open already");
    CHECK_ERROR(prof_ntff_continuous_begin(NULL), PROF_INVALID_STATE, "open already");
    config.activities = PROF_NTFF_SYSTEM;
    CHECK_ERROR(prof_ntff_session_begin(&config), PROF_INVALID_STATE, "a system trace is open");
    config.activities = PROF_NTFF_DEVICE;
    CHECK_ERROR(prof_ntff_session_begin(&config), PROF_INVALID_STATE, "a continuous profile is open");
    config.activities = PROF_NTFF_CPU_UTIL; /* goes with both */
    CHECK_EQUAL(prof_ntff_session_begin(&config), PROF_OK);
    CHECK_EQUAL(prof_ntff_session_end(NULL), PROF_OK);
    CHECK_EQUAL(prof_ntff_continuous_end(), PROF_OK);
    CHECK_EQUAL(prof_ntff_systrace_stop(NULL), PROF_OK);
    CHECK_EQUAL(fake.outstanding(), 0);
    CHECK_EQUAL(prof_ntff_close(), PROF_OK);
}

/* What somebody else opened the runtime knows, and the text says who it may be. */
ALONE(a_capture_of_somebody_else)
{
    prof_ntff_config config = everything();
    unsigned (*begin)(void);
    ready();
    setenv("NEURON_RT_INSPECT_ENABLE", "1", 1);
    setenv("NEURON_RT_INSPECT_OUTPUT_DIR", trace_path("ntff_environment"), 1);
    find(dlopen(fake_path("libnrt.so.1"), RTLD_NOW | RTLD_NOLOAD), "nrt_inspect_begin", &begin);
    CHECK_EQUAL(begin(), 0);
    unsetenv("NEURON_RT_INSPECT_ENABLE");
    CHECK_ERROR(prof_ntff_session_begin(&config), PROF_IO, "is another capture open");
    CHECK_ERROR(prof_ntff_systrace_start(NULL), PROF_IO, "is a system profile open");
    CHECK_EQUAL(prof_ntff_inspect_stop(), PROF_OK);
    CHECK_EQUAL(prof_ntff_session_begin(&config), PROF_OK);
    CHECK_EQUAL(prof_ntff_session_end(NULL), PROF_OK);
}

ALONE(the_environment_captures_already)
{
    prof_ntff_config config = everything();
    load("libnrt.so.1");
    setenv("NEURON_RT_INSPECT_ENABLE", "1", 1);
    setenv("NEURON_RT_INSPECT_OUTPUT_DIR", trace_path("ntff_environment"), 1);
    CHECK_EQUAL(prof_ntff_init(1, NULL, NULL), PROF_OK);
    CHECK_ERROR(prof_ntff_session_begin(&config), PROF_INVALID_STATE, "NEURON_RT_INSPECT_ENABLE=1 in the environment already captures");
    CHECK_ERROR(prof_ntff_systrace_start(NULL), PROF_INVALID_STATE, "NEURON_RT_INSPECT_ENABLE=1");
    CHECK_EQUAL(prof_ntff_continuous_begin(NULL), PROF_OK); /* no device profile in there */
    CHECK_EQUAL(prof_ntff_continuous_end(), PROF_OK);
    setenv("NEURON_RT_INSPECT_DEVICE_PROFILE", "session", 1);
    CHECK_ERROR(prof_ntff_continuous_begin(NULL), PROF_INVALID_STATE, "NEURON_RT_INSPECT_ENABLE=1");
    CHECK_EQUAL(prof_ntff_inspect_stop(), PROF_OK); /* may be ended early, as in the runtime */
    setenv("NEURON_RT_INSPECT_SYSTEM_PROFILE", "0", 1);
    CHECK_EQUAL(prof_ntff_systrace_start(NULL), PROF_OK);
    CHECK_EQUAL(prof_ntff_systrace_stop(NULL), PROF_OK);
    setenv("NEURON_RT_INSPECT_ENABLE", "0", 1);
    CHECK_EQUAL(prof_ntff_session_begin(&config), PROF_OK);
    CHECK_EQUAL(prof_ntff_session_end(NULL), PROF_OK);
    CHECK_EQUAL(fake.outstanding(), 0);
}

/* As AWS documents of nrt_inspect_begin_with_options(): what the environment says is nothing to it. */
ALONE(a_session_with_options_ignores_the_environment)
{
    prof_ntff_config config = everything();
    struct nrt_inspect_config *options = NULL;
    ready();
    setenv("NEURON_RT_INSPECT_ENABLE", "1", 1); /* too late for nrt_init(): nothing is captured */
    setenv("NEURON_RT_INSPECT_OUTPUT_DIR", "/dev/null/environment", 1);
    CHECK_EQUAL(prof_ntff_session_begin(&config), PROF_OK);
    CHECK_EQUAL(prof_ntff_session_end(NULL), PROF_OK);
    CHECK_EQUAL(prof_ntff_inspect_config_allocate(&options), PROF_OK);
    CHECK_EQUAL(prof_ntff_inspect_config_set_defaults(options), PROF_OK);
    CHECK_EQUAL(prof_ntff_inspect_config_set_enable_inspect(options, 1), PROF_OK);
    CHECK_EQUAL(prof_ntff_inspect_config_set_output_dir(options, config.output_dir), PROF_OK);
    CHECK_EQUAL(prof_ntff_inspect_begin_with_options(options), PROF_OK);
    CHECK_EQUAL(prof_ntff_inspect_stop(), PROF_OK);
    CHECK_EQUAL(prof_ntff_inspect_config_free(options), PROF_OK);
}

/* Options that are NULL are defaults; options that enable nothing are refused, and that is said. */
ALONE(options_have_defaults)
{
    struct nrt_inspect_config *options = NULL;
    empty(trace_path("ntff_defaults"));
    CHECK(!mkdir(trace_path("ntff_defaults"), 0777) || errno == EEXIST);
    ready();
    CHECK(!chdir(trace_path("ntff_defaults"))); /* files go to ./output there */
    CHECK_EQUAL(prof_ntff_inspect_begin_with_options(NULL), PROF_OK);
    CHECK_ERROR(prof_ntff_inspect_begin_with_options(NULL), PROF_INVALID_STATE, "an inspect session is open already");
    CHECK_EQUAL(prof_ntff_inspect_stop(), PROF_OK);
    CHECK_EQUAL(prof_ntff_sys_trace_start(NULL), PROF_OK);
    CHECK_EQUAL(prof_ntff_sys_trace_stop(), PROF_OK);
    CHECK_EQUAL(prof_ntff_profile_continuous_start(NULL), PROF_OK);
    CHECK_EQUAL(fake.execute(0, "model", 1000), 0);
    CHECK_EQUAL(prof_ntff_profile_continuous_save(0, NULL), PROF_OK);
    CHECK_EQUAL(prof_ntff_profile_continuous_stop(), PROF_OK);
    CHECK_EQUAL(fake.outstanding(), 0);
    for (int i = 0; i < 40; ++i) { /* more than are remembered, at one address or at many */
        CHECK_EQUAL(prof_ntff_inspect_config_allocate(&options), PROF_OK);
        CHECK_EQUAL(prof_ntff_inspect_config_set_output_dir(options, "elsewhere"), PROF_OK);
        CHECK_ERROR(prof_ntff_inspect_begin_with_options(options), PROF_INVALID_ARGUMENT,
                    "the options enable nothing: call nrt_inspect_config_set_enable_inspect(options, true)");
        CHECK(!strstr(prof_error(), "capture"));
        if (i % 2) CHECK_EQUAL(prof_ntff_inspect_config_set_enable_inspect(options, 1), PROF_OK);
        if (i % 2) CHECK_EQUAL(prof_ntff_inspect_begin_with_options(options), PROF_OK);
        if (i % 2) CHECK_EQUAL(prof_ntff_inspect_stop(), PROF_OK);
        CHECK_EQUAL(prof_ntff_inspect_config_free(options), PROF_OK);
    }
    unsetenv("NEURON_RT_INSPECT_ENABLE");
    CHECK_ERROR(prof_ntff_inspect_begin(), PROF_INVALID_ARGUMENT, "NEURON_RT_INSPECT_ENABLE is not 1");
    CHECK_EQUAL(fake.outstanding(), 0);
}

ALONE(a_session_without_files_is_told)
{
    static const char *const ways[] = {"none", "empty"};
    prof_ntff_config config = everything();
    char folder[PROF_NTFF_PATH];
    config.output_dir = trace_path("ntff_no/files/at all");
    empty(trace_path("ntff_no"));
    ready();
    CHECK_EQUAL(prof_start(NULL), PROF_OK);
    for (int i = 0; i < 2; ++i) {
        setenv("FAKE_NRT_FILES", ways[i], 1);
        config.on_fail = PROF_NTFF_ON_FAIL_TOO;
        CHECK_EQUAL(prof_ntff_session_begin(&config), PROF_OK);
        CHECK_ERROR(prof_ntff_session_end(folder), PROF_IO, "no files of this session below " TRACE_FOLDER "/ntff_no/files/at all");
        CHECK_TEXT(folder, "");
        CHECK_EQUAL(prof_ntff_session_active(), 0);
        config.on_fail = PROF_NTFF_ON_FAIL_ONLY; /* and nothing failed */
        CHECK_EQUAL(prof_ntff_session_begin(&config), PROF_OK);
        CHECK_EQUAL(prof_ntff_session_end(folder), PROF_OK);
        CHECK_TEXT(folder, "");
    }
    unsetenv("FAKE_NRT_FILES");
    CHECK_EQUAL(prof_ntff_session_begin(&config), PROF_OK);
    CHECK_EQUAL(prof_ntff_session_end(folder), PROF_OK);
    CHECK(strstr(folder, "ntff_no/files/at all/i-") != NULL);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(fake.outstanding(), 0);
}

ALONE(an_empty_output_dir_is_refused)
{
    prof_ntff_config config = everything();
    prof_ntff_continuous continuous;
    char folder[PROF_NTFF_PATH];
    memset(&continuous, 0, sizeof continuous);
    continuous.output_dir = config.output_dir = "";
    ready();
    CHECK_ERROR(prof_ntff_session_begin(&config), PROF_INVALID_ARGUMENT, "output_dir: must have 1 to 1023 bytes");
    CHECK_ERROR(prof_ntff_continuous_begin(&continuous), PROF_INVALID_ARGUMENT, "output_dir: must have 1 to 1023 bytes");
    CHECK_EQUAL(prof_ntff_continuous_saves(), 0);
    CHECK_ERROR(prof_ntff_find_session("", 0, 0, folder, sizeof folder), PROF_INVALID_ARGUMENT, "output_dir");
    CHECK_ERROR(prof_ntff_list("", NULL, NULL), PROF_INVALID_ARGUMENT, "empty");
    CHECK_TEXT(fake.log(), ""); /* the runtime was not asked */
    empty(trace_path("ntff_deep"));
    continuous.output_dir = trace_path("ntff_deep/a/b");
    CHECK_EQUAL(prof_ntff_continuous_begin(&continuous), PROF_OK);
    CHECK_EQUAL(access(continuous.output_dir, W_OK), 0);
    CHECK_EQUAL(prof_ntff_continuous_end(), PROF_OK);
    CHECK_EQUAL(fake.outstanding(), 0);
}

/* The folder that the runtime has made, and the scopes of the session's time in it. */
ALONE(a_session_has_a_folder_with_the_scopes)
{
    prof_ntff_config config = everything();
    char folder[PROF_NTFF_PATH], path[PROF_NTFF_PATH + 32], before[PROF_NTFF_PATH], *text;
    config.output_dir = trace_path("ntff_folder");
    empty(config.output_dir);
    ready();
    CHECK_EQUAL(prof_ntff_session_begin(&config), PROF_OK);
    CHECK_EQUAL(prof_ntff_session_end(before), PROF_OK);
    snprintf(path, sizeof path, "%s/trace.json", before);
    CHECK_EQUAL(trace_file_size(path), -1); /* prof has recorded nothing */
    CHECK_EQUAL(prof_start(NULL), PROF_OK);
    {
        PROFILE_SCOPE("before it");
    }
    pause_ms(2); /* "before it" is not in the session, by any clock */
    CHECK_EQUAL(prof_ntff_session_begin(&config), PROF_OK);
    for (int i = 0; i < 3; i++) {
        PROFILE_SCOPE("in the session");
        CHECK_EQUAL(fake.execute(2, "model.neff", 100000), 0);
    }
    CHECK_EQUAL(prof_ntff_session_end(folder), PROF_OK);
    CHECK(strstr(folder, "ntff_folder/i-0fa4efa4efa4efa4e_pid_") != NULL);
    CHECK(strcmp(folder, before) != 0);
    CHECK_EQUAL(count_files(folder, "profile_nc_2_session_9.ntff"), 1);
    CHECK_EQUAL(count_files(folder, "trace_info.pb"), 1);
    snprintf(path, sizeof path, "%s/trace.json", folder);
    text = trace_file_text(path, NULL);
    CHECK(text && strstr(text, "baseTimeNanoseconds") && strstr(text, "\"in the session\"") && !strstr(text, "\"before it\""));
    free(text);
    config.no_trace_json = 1;
    pause_ms(2); /* "before it" is not in the session, by any clock */
    CHECK_EQUAL(prof_ntff_session_begin(&config), PROF_OK);
    CHECK_EQUAL(prof_ntff_session_end(folder), PROF_OK);
    CHECK(*folder && strcmp(folder, before));
    snprintf(path, sizeof path, "%s/trace.json", folder);
    CHECK_EQUAL(trace_file_size(path), -1);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    config.activities = PROF_NTFF_DEVICE; /* by models: there is no folder of the session, only one of the process */
    config.device_mode = PROF_NTFF_DEVICE_MODEL;
    CHECK_EQUAL(prof_ntff_session_begin(&config), PROF_OK);
    CHECK_EQUAL(fake.execute(0, "model.neff", 1000), 0);
    fake.fail("nrt_inspect_stop", 4);
    CHECK_ERROR(prof_ntff_session_end(folder), PROF_NO_MEMORY, "nrt_inspect_stop: NRT_RESOURCE (4)");
    CHECK_TEXT(folder, "");
}

/*-- filters, keys --*/

TEST(numbers_of_cores)
{
    static const char *const bad[] = {"", ",", "0,", ",0", "a", "0-", "-1", "3-1", "128", "0-128", "999999999999999999999", "0 1", "0--2", "1-2-3"};
    unsigned char set[PROF__NTFF_NCS];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) CHECK(!prof__ntff_parse_ncs(bad[i], set));
    CHECK(prof__ntff_parse_ncs("0,2,4-7,127", set));
    for (int i = 0; i < PROF__NTFF_NCS; i++) CHECK_EQUAL(set[i], i == 0 || i == 2 || (i >= 4 && i <= 7) || i == 127);
    CHECK(prof__ntff_parse_ncs("0-127", set));
    for (int i = 0; i < PROF__NTFF_NCS; i++) CHECK_EQUAL(set[i], 1);
}

TEST(types_of_events)
{
    static const struct {
        const char *filter, *type;
        int on;
    } each[] = {{"hardware", "nc_exec_running", 1},        {"hardware", "nrt_execute", 0},
                {"software", "nc_exec_running", 0},        {"software", "nrt_execute", 1},
                {"hardware,^cc_running", "cc_running", 0}, {"hardware,^cc_running", "hw_notify", 1},
                {"^cc_running", "cc_running", 0},          {"^cc_running", "nrt_execute", 1},
                {"nrt_load", "nrt_loads", 0},              {"nrt_load,nrt_execute", "nrt_execute", 1},
                {"^hardware,cc_running", "cc_running", 1}, {"hardware,nrt_tensor_read", "nrt_tensor_read", 1}};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        CHECK_EQUAL(prof__ntff_type_on(each[i].filter, each[i].type), each[i].on);
}

ALONE(filters_reach_the_runtime)
{
    prof_ntff_config config = everything();
    const char *log;
    int on = 0, off = 0;
    ready();
    config.ncs = NULL;
    config.event_types = "hardware,nrt_execute,^hw_notify";
    CHECK_EQUAL(prof_ntff_session_begin(&config), PROF_OK);
    for (log = fake.log(); (log = strstr(log, "event_type_string ")) != NULL; log++)
        if (strchr(log, '\n')[-1] == '1')
            on++;
        else
            off++;
    CHECK_EQUAL(on, 7);
    CHECK_EQUAL(off, 21);
    CHECK(strstr(fake.log(), "event_type_string nrt_execute 1\n") != NULL);
    CHECK(strstr(fake.log(), "event_type_string hw_notify 0\n") != NULL);
    CHECK_EQUAL(prof_ntff_session_end(NULL), PROF_OK);
    config.event_types = "nrt_exceute";
    CHECK_ERROR(prof_ntff_session_begin(&config), PROF_INVALID_ARGUMENT, "event_types 'nrt_exceute'");
    config.event_types = "hardware,^softwear"; /* as long as hardware and software are */
    CHECK_ERROR(prof_ntff_session_begin(&config), PROF_INVALID_ARGUMENT, "event_types '^softwear'");
    config.event_types = NULL;
    config.ncs = "3-1";
    CHECK_ERROR(prof_ntff_session_begin(&config), PROF_INVALID_ARGUMENT, "ncs '3-1'");
    config.ncs = "100"; /* the machine has four */
    CHECK_ERROR(prof_ntff_session_begin(&config), PROF_INVALID_ARGUMENT, "set_capture_enabled_for_nc: NRT_INVALID");
    config.ncs = NULL;
    config.output_dir = "";
    CHECK_ERROR(prof_ntff_session_begin(&config), PROF_INVALID_ARGUMENT, "output_dir");
    config.output_dir = NULL;
    config.activities = 64;
    CHECK_ERROR(prof_ntff_session_begin(&config), PROF_INVALID_ARGUMENT, "activities");
    CHECK_EQUAL(fake.outstanding(), 0);
}

TEST(keys_are_those_of_the_environment)
{
    static const struct {
        const char *key, *value;
        prof_status status;
    } each[] = {{"NEURON_RT_INSPECT_ENABLE", "1", PROF_OK},
                {"NEURON_RT_INSPECT_ENABLE", "0", PROF_UNSUPPORTED},
                {"NEURON_RT_INSPECT_OUTPUT_DIR", "", PROF_INVALID_ARGUMENT},
                {"NEURON_RT_INSPECT_SYSTEM_PROFILE", "2", PROF_INVALID_ARGUMENT},
                {"NEURON_RT_INSPECT_DEVICE_PROFILE", "models", PROF_INVALID_ARGUMENT},
                {"NEURON_RT_INSPECT_EVENT_FILTER_NC", "1;2", PROF_INVALID_ARGUMENT},
                {"NEURON_RT_INSPECT_SYS_TRACE_MAX_EVENTS_PER_NC", "many", PROF_INVALID_ARGUMENT},
                {"NEURON_RT_INSPECT_PRECACHE_ENABLE", "1", PROF_UNSUPPORTED},
                {"NEURON_RT_INSPECT_DEVICE_PROFILE_NUM_WARMUP", "1", PROF_UNSUPPORTED},
                {"NEURON_RT_INSPECT_NOTHING", "1", PROF_INVALID_ARGUMENT},
                {"OUTPUT_DIR", "x", PROF_INVALID_ARGUMENT}};
    prof_ntff_config config;
    memset(&config, 0, sizeof config);
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        CHECK_EQUAL(prof_ntff_config_set(&config, each[i].key, each[i].value), each[i].status);
    CHECK(!config.activities && !config.output_dir && !config.ncs && !config.max_events_per_nc);
    CHECK_EQUAL(prof_ntff_config_set(&config, "NEURON_RT_INSPECT_OUTPUT_DIR", "here"), PROF_OK);
    CHECK_EQUAL(prof_ntff_config_set(&config, "NEURON_RT_INSPECT_EVENT_FILTER_NC", "0-3"), PROF_OK);
    CHECK_EQUAL(prof_ntff_config_set(&config, "NEURON_RT_INSPECT_EVENT_FILTER_TYPE", "hardware"), PROF_OK);
    CHECK_EQUAL(prof_ntff_config_set(&config, "NEURON_RT_INSPECT_SYS_TRACE_MAX_EVENTS_PER_NC", "250000"), PROF_OK);
    CHECK_EQUAL(prof_ntff_config_set(&config, "NEURON_RT_INSPECT_ON_FAIL", "1"), PROF_OK);
    CHECK_EQUAL(prof_ntff_config_set(&config, "NEURON_RT_INSPECT_DEVICE_PROFILE", "session"), PROF_OK);
    CHECK_TEXT(config.output_dir, "here");
    CHECK_TEXT(config.ncs, "0-3");
    CHECK_TEXT(config.event_types, "hardware");
    CHECK_EQUAL(config.max_events_per_nc, 250000);
    CHECK_EQUAL(config.on_fail, PROF_NTFF_ON_FAIL_TOO);
    CHECK_EQUAL(prof__ntff_activities(&config), PROF_NTFF_SYSTEM | PROF_NTFF_DEVICE); /* as there: the system's is on */
    CHECK_EQUAL(config.device_mode, PROF_NTFF_DEVICE_SESSION);
    CHECK_EQUAL(prof_ntff_config_set(&config, "NEURON_RT_INSPECT_DEVICE_PROFILE", "1"), PROF_OK);
    CHECK_EQUAL(config.device_mode, PROF_NTFF_DEVICE_MODEL);
    CHECK_EQUAL(prof_ntff_config_set(&config, "NEURON_RT_INSPECT_DEVICE_PROFILE", "0"), PROF_OK);
    CHECK_EQUAL(prof_ntff_config_set(&config, "NEURON_RT_INSPECT_SYSTEM_PROFILE", "0"), PROF_OK);
    CHECK_EQUAL(prof__ntff_activities(&config), 0);
    CHECK_EQUAL(prof_ntff_config_set(NULL, "NEURON_RT_INSPECT_ENABLE", "1"), PROF_INVALID_ARGUMENT);
    CHECK_ERROR(prof_ntff_config_set(&config, "NEURON_RT_INSPECT_MAXIMUM_OF_THE_EVENTS_OF_EACH_NEURONCORE_PER_TRACE", "1"),
                PROF_INVALID_ARGUMENT, "_EVENT_FILTER_TYPE or _SYS_TRACE_MAX_EVENTS_PER_NC"); /* it says which there are */
}

/* prof_config_set() answers for them as if they were prof's own, and a session without a configuration begins so. */
ALONE(keys_through_prof_config_set)
{
    prof_config config;
    char folder[] = TRACE_FOLDER "/ntff_keys";
    memset(&config, 0, sizeof config);
    CHECK_EQUAL(prof_config_set(&config, "NEURON_RT_INSPECT_OUTPUT_DIR", folder), PROF_OK);
    CHECK_EQUAL(prof_config_set(&config, "NEURON_RT_INSPECT_CPU_UTIL", "1"), PROF_OK);
    CHECK_EQUAL(prof_config_set(&config, "NEURON_RT_INSPECT_SYSTEM_PROFILE", "0"), PROF_OK);
    CHECK_EQUAL(prof_config_set(&config, "NEURON_RT_INSPECT_EVENT_FILTER_NC", "1"), PROF_OK);
    CHECK_ERROR(prof_config_set(&config, "NEURON_RT_INSPECT_HOST_MEMORY", "maybe"), PROF_INVALID_ARGUMENT, "NEURON_RT_INSPECT_HOST_MEMORY");
    CHECK_EQUAL(prof_config_set(&config, "NEURON_RT_INSPECT_PRECACHE_ENABLE", "1"), PROF_UNSUPPORTED);
    memset(folder, 'x', sizeof folder - 1); /* was copied */
    char longer[PROF_NTFF_PATH + 1];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    CHECK_ERROR(prof_config_set(&config, "NEURON_RT_INSPECT_OUTPUT_DIR", longer), PROF_INVALID_ARGUMENT,
                "must be shorter than 1024 bytes");
    CHECK_ERROR(prof_config_set(&config, "NEURON_RT_INSPECT_CPU_UTIL", "1"), PROF_OK, "must be shorter than 1024 bytes");
    ready();
    trace_path("");
    CHECK_EQUAL(prof_ntff_session_begin(NULL), PROF_OK);
    CHECK(strstr(fake.log(), "set_output_dir " TRACE_FOLDER "/ntff_keys\n") != NULL);
    CHECK(strstr(fake.log(), "set_activity cpu_util 1\n") != NULL);
    CHECK(strstr(fake.log(), "set_activity system_profile") == NULL);
    CHECK(strstr(fake.log(), "enabled_for_nc 1 1\n") != NULL);
    CHECK(strstr(fake.log(), "enabled_for_nc 0 0\n") != NULL);
    CHECK_EQUAL(prof_ntff_session_end(NULL), PROF_OK);
    CHECK_EQUAL(prof_config_set(&config, "NEURON_RT_INSPECT_CPU_UTIL", "0"), PROF_OK);
    CHECK_ERROR(prof_ntff_session_begin(NULL), PROF_INVALID_ARGUMENT, "nothing would be captured");
}

/*-- continuous --*/

ALONE(a_profile_of_what_was_slow)
{
    prof_ntff_continuous config;
    const char *folder = trace_path("ntff_continuous");
    memset(&config, 0, sizeof config);
    config.output_dir = folder;
    empty(folder);
    ready();
    CHECK_EQUAL(prof_ntff_continuous_begin(&config), PROF_OK);
    CHECK_ERROR(prof_ntff_continuous_save(0), PROF_INVALID_ARGUMENT, "nrt_profile_continuous_save: NRT_INVALID");
    CHECK_EQUAL(fake.execute(1, "model.neff", 1000), 0);
    CHECK_EQUAL(prof_ntff_continuous_save_if(1, 2000, 2000), 0);
    CHECK_EQUAL(prof_ntff_continuous_saves(), 0);
    CHECK_EQUAL(prof_ntff_continuous_save_if(1, 2001, 2000), 1);
    CHECK_EQUAL(prof_ntff_continuous_save(1), PROF_OK);
    CHECK_EQUAL(prof_ntff_continuous_saves(), 2);
    CHECK_EQUAL(prof_ntff_continuous_end(), PROF_OK);
    CHECK_ERROR(prof_ntff_continuous_save(1), PROF_INVALID_STATE, "no capture was begun");
    CHECK_ERROR(prof_ntff_continuous_end(), PROF_INVALID_STATE, "no capture was begun");
    CHECK_EQUAL(count_files(folder, "_vnc_1_"), 2);
    CHECK_EQUAL(fake.outstanding(), 0);
}

/* A scope was too long: prof saves what the host did, and the device's profile along with it. */
ALONE(a_profile_whenever_prof_saves)
{
    prof_ntff_continuous continuous;
    prof_config config;
    const char *folder = trace_path("ntff_on_save");
    memset(&continuous, 0, sizeof continuous);
    memset(&config, 0, sizeof config);
    continuous.output_dir = folder;
    continuous.vnc = 2;
    continuous.on_save = 1;
    empty(folder);
    config.save = TRACE_FOLDER "/ntff_slow.prof";
    config.save_over = "scope:step>1ms";
    ready();
    CHECK_EQUAL(prof_ntff_continuous_begin(&continuous), PROF_OK);
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    for (int i = 0; i < 3; i++) {
        PROFILE_SCOPE("step");
        CHECK_EQUAL(fake.execute(2, "model.neff", i == 1 ? 3000000 : 1000), 0);
    }
    WAIT_UNTIL(prof_ntff_continuous_saves());
    CHECK_EQUAL(prof_ntff_continuous_saves(), 1);
    CHECK_EQUAL(prof_ntff_continuous_end(), PROF_OK);
    CHECK_EQUAL(prof_stop(), PROF_OK); /* and nothing failed behind the program's back */
    CHECK_EQUAL(count_files(folder, "_vnc_2_"), 1);
    CHECK(trace_file_size(TRACE_FOLDER "/ntff_slow.prof") > 0);
}

/*-- system trace --*/

static int count_events(void *user, const prof_ntff_event *event)
{
    int *counts = (int *)user;
    counts[0]++;
    counts[1] += !strcmp(event->name, "nc_exec_running");
    return 0;
}

static int count_three(void *user, const prof_ntff_event *event)
{
    (void)event;
    return ++*(int *)user == 3;
}

ALONE(a_system_trace_in_pieces)
{
    prof_ntff_systrace config;
    prof_ntff_stats stats;
    int counts[2] = {0, 0};
    memset(&config, 0, sizeof config);
    memset(&stats, 0, sizeof stats);
    config.max_events_per_nc = 100;
    config.ncs = "0,1";
    config.event_types = "nrt_execute,hardware";
    config.event = count_events;
    config.user = counts;
    ready();
    CHECK_EQUAL(prof_ntff_systrace_start(&config), PROF_OK);
    CHECK_EQUAL(prof_ntff_systrace_fetch(&stats), PROF_OK); /* nothing yet */
    CHECK_EQUAL(stats.events, 0);
    for (int i = 0; i < 5; i++) {
        CHECK_EQUAL(fake.execute(0, "a.neff", 1000), 0);
        CHECK_EQUAL(fake.execute(3, "not captured", 1000), 0);
        CHECK_EQUAL(prof_ntff_systrace_fetch(i & 1 ? &stats : NULL), PROF_OK);
    }
    CHECK_EQUAL(fake.execute(1, "b.neff", 1000), 0);
    CHECK_EQUAL(prof_ntff_systrace_stop(&stats), PROF_OK);
    CHECK_EQUAL(stats.events, 3 * 5); /* of each execution: 1 + 2 pairs, 2 sync points; of the three whose fetch had stats */
    CHECK_EQUAL(stats.pairs, 3 * 3);
    CHECK_EQUAL(stats.sync_points, 3 * 2);
    CHECK_EQUAL(stats.unmatched_starts + stats.unmatched_stops + stats.errors, 0);
    CHECK_EQUAL(counts[0], 6 * 5);
    CHECK_EQUAL(counts[1], 6 * 2);
    CHECK_ERROR(prof_ntff_systrace_fetch(&stats), PROF_INVALID_STATE, "no capture was begun");
    CHECK_ERROR(prof_ntff_systrace_stop(NULL), PROF_INVALID_STATE, "no capture was begun");
    CHECK_EQUAL(fake.outstanding(), 0);
}

/* More than fits into a piece: all of it comes with one call. */
ALONE(a_system_trace_of_many_events)
{
    prof_ntff_systrace config;
    prof_ntff_stats stats;
    int counts[2] = {0, 0};
    const int many = (int)trace_times(20000, 50000, 200000);
    memset(&config, 0, sizeof config);
    memset(&stats, 0, sizeof stats);
    config.max_events_per_nc = 1000000;
    config.event = count_events;
    config.user = counts;
    ready();
    CHECK_EQUAL(prof_ntff_systrace_start(&config), PROF_OK);
    for (int i = 0; i < many; i++) {
        char event[256];
        snprintf(event, sizeof event, "{\"event_type\":\"hw_notify\",\"phase\":\"instant\",\"nc_idx\":0,\"tracking_id\":%d,"
                                      "\"data\":{},\"timestamp_ns\":%d}", i + 1, i + 1);
        fake.push(event);
    }
    fake.log_clear();
    CHECK_EQUAL(prof_ntff_systrace_fetch(&stats), PROF_OK);
    CHECK_EQUAL(stats.events, many);
    CHECK_EQUAL(counts[0], many);
    CHECK(strstr(strstr(fake.log(), "nrt_sys_trace_fetch_events") + 1, "nrt_sys_trace_fetch_events") != NULL);
    CHECK_EQUAL(prof_ntff_systrace_stop(&stats), PROF_OK);
    CHECK_EQUAL(fake.outstanding(), 0);
}

/* Whoever has heard enough hears no more of this call: neither of its next piece nor, at the end, of what waits. */
ALONE(a_system_trace_of_which_three_events_are_enough)
{
    prof_ntff_systrace config;
    prof_ntff_stats stats;
    int count = 0;
    memset(&config, 0, sizeof config);
    memset(&stats, 0, sizeof stats);
    config.max_events_per_nc = 1000000;
    config.event = count_three;
    config.user = &count;
    ready();
    CHECK_EQUAL(prof_ntff_systrace_start(&config), PROF_OK);
    fake.push("{\"event_type\":\"nrt_execute\",\"phase\":\"start\",\"nc_idx\":0,\"tracking_id\":7,\"data\":{},\"timestamp_ns\":1}");
    for (int i = 0; i < 20000; i++)
        fake.push("{\"event_type\":\"hw_notify\",\"phase\":\"instant\",\"nc_idx\":0,\"data\":{},\"timestamp_ns\":5}");
    fake.log_clear();
    CHECK_EQUAL(prof_ntff_systrace_fetch(&stats), PROF_OK);
    CHECK_EQUAL(count, 3);
    CHECK_EQUAL(stats.events, 3);
    CHECK(strstr(strstr(fake.log(), "nrt_sys_trace_fetch_events") + 1, "nrt_sys_trace_fetch_events") == NULL);
    count = 0;
    CHECK_EQUAL(prof_ntff_systrace_stop(&stats), PROF_OK);
    CHECK_EQUAL(count, 3);
    CHECK_EQUAL(stats.events, 6);
    CHECK_EQUAL(fake.outstanding(), 0);
}

/* A start comes with one call and its stop with the next; of what the ring has dropped, or what is still going on, only half
   comes; and what is no JSON costs itself alone. */
ALONE(a_system_trace_of_halves)
{
    prof_ntff_systrace config;
    prof_ntff_stats stats;
    int counts[2] = {0, 0};
    memset(&config, 0, sizeof config);
    memset(&stats, 0, sizeof stats);
    config.max_events_per_nc = 4;
    config.event = count_events;
    config.user = counts;
    ready();
    CHECK_EQUAL(prof_ntff_systrace_start(&config), PROF_OK);
    fake.push("{\"event_type\":\"nrt_execute\",\"phase\":\"start\",\"nc_idx\":0,\"tracking_id\":7,\"data\":{},\"timestamp_ns\":1000}");
    CHECK_EQUAL(prof_ntff_systrace_fetch(&stats), PROF_OK);
    CHECK_EQUAL(stats.events, 0);
    fake.push("{\"event_type\":\"nrt_execute\",\"phase\":\"stop\",\"nc_idx\":0,\"tracking_id\":7,\"data\":{},\"timestamp_ns\":3000}");
    CHECK_EQUAL(prof_ntff_systrace_fetch(&stats), PROF_OK);
    CHECK_EQUAL(stats.pairs, 1);
    CHECK_EQUAL(fake.execute(0, "model.neff", 1000), 0); /* eight events, of which the ring keeps the last four: */
    CHECK_EQUAL(prof_ntff_systrace_fetch(&stats), PROF_OK);
    CHECK_EQUAL(stats.pairs, 2);           /* the second core's, */
    CHECK_EQUAL(stats.unmatched_stops, 1); /* and the end of nrt_execute */
    fake.push("{\"event_type\":\"nrt_execute\",\"phase\":");
    CHECK_EQUAL(prof_ntff_systrace_fetch(&stats), PROF_CORRUPT);
    CHECK_EQUAL(prof_ntff_nrt_status(), 0);
    fake.push("{\"event_type\":\"nrt_execute\",\"phase\":\"start\",\"nc_idx\":0,\"tracking_id\":8,\"data\":{},\"timestamp_ns\":5000}");
    CHECK_EQUAL(prof_ntff_systrace_stop(&stats), PROF_OK);
    CHECK_EQUAL(stats.unmatched_starts, 1);
    CHECK_EQUAL(counts[0], stats.events);
    CHECK_EQUAL(fake.outstanding(), 0);
}

ALONE(a_system_trace_that_fails)
{
    static const char *const calls[] = {"nrt_sys_trace_config_allocate", "nrt_sys_trace_get_event_types",
                                        "nrt_sys_trace_config_set_capture_enabled_for_event_type", "nrt_sys_trace_start"};
    prof_ntff_systrace config;
    memset(&config, 0, sizeof config);
    config.event_types = "^hw_notify";
    ready();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        fake.fail(calls[i], 5);
        CHECK_ERROR(prof_ntff_systrace_start(&config), PROF_IO, calls[i]);
        CHECK_EQUAL(prof_ntff_nrt_status(), 5);
        CHECK_EQUAL(fake.outstanding(), 0);
    }
    fake.fail("nrt_sys_trace_fetch_options_allocate", 4); /* then all at once */
    CHECK_EQUAL(prof_ntff_systrace_start(&config), PROF_OK);
    fake.fail("nrt_sys_trace_fetch_events", 5);
    CHECK_ERROR(prof_ntff_systrace_fetch(NULL), PROF_IO, "nrt_sys_trace_fetch_events: NRT_TIMEOUT (5)");
    CHECK_EQUAL(prof_ntff_systrace_fetch(NULL), PROF_OK);
    fake.fail("nrt_sys_trace_stop", 5);
    CHECK_ERROR(prof_ntff_systrace_stop(NULL), PROF_IO, "nrt_sys_trace_stop: NRT_TIMEOUT (5)");
    CHECK_EQUAL(prof_ntff_sys_trace_stop(), PROF_OK); /* may be tried again */
    CHECK_EQUAL(fake.outstanding(), 0);
}

/*-- one time line --*/

#define STEPS 20

typedef struct interval {
    int64_t start, end;
} interval;

/* The events of this name on the tracks of devices whose name begins so, or of threads; up to room of them. */
static size_t intervals(const prof_trace *trace, const char *device, const char *name, interval *to, size_t room)
{
    size_t count = 0;
    for (size_t i = 0; i < prof_trace_track_count(trace); i++) {
        const char *of = prof_trace_track(trace, i)->device;
        if (device ? strncmp(of, device, strlen(device)) != 0 : *of != 0) continue;
        trace_list list = trace_read(trace, i);
        for (size_t k = 0; k < list.count; k++)
            if (list.events[k].type == PROF_EVENT_SCOPE && !strcmp(list.events[k].name, name) && count < room) {
                to[count].start = list.events[k].start_ns;
                to[count++].end = list.events[k].start_ns + list.events[k].duration_ns;
            }
        trace_free(&list);
    }
    return count;
}

/* A NeuronCore's clock began years ago and is 40 ppm too fast: what it did still lies within the host's scopes around it,
   and nowhere else. raw: the runtime does not put it into the host's time. */
static void one_time_line(const char *raw)
{
    static interval host[2 * STEPS], device[4 * STEPS], runtime[2 * STEPS];
    prof_trace *trace = NULL;
    prof_ntff_stats stats;
    const int64_t slack = trace_times(100000, 1000, 1000); /* valgrind's clocks are read some us apart */
    memset(&stats, 0, sizeof stats);
    setenv("FAKE_NRT_UNADJUSTED", raw, 1);
    ready();
    CHECK_EQUAL(prof_start(NULL), PROF_OK);
    CHECK_EQUAL(prof_ntff_systrace_start(NULL), PROF_OK);
    for (int i = 0; i < STEPS; i++) {
        PROFILE_SCOPE("step");
        CHECK_EQUAL(fake.execute(i % 2 ? 1 : 0, "model.neff", 2000000), 0);
        if (i % 7 == 0) CHECK_EQUAL(prof_ntff_systrace_fetch(&stats), PROF_OK);
    }
    CHECK_EQUAL(prof_ntff_systrace_stop(&stats), PROF_OK);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(stats.pairs, STEPS * 3);
    CHECK_EQUAL(stats.realigned, *raw == '1' ? STEPS * 2 : 0);
    CHECK_EQUAL(stats.raw_clock + stats.unmatched_starts + stats.unmatched_stops + stats.errors, 0);
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    CHECK_EQUAL(intervals(trace, NULL, "step", host, 2 * STEPS), STEPS);
    CHECK_EQUAL(intervals(trace, "NeuronCore ", "nc_exec_running", device, 4 * STEPS), STEPS * 2);
    CHECK_EQUAL(intervals(trace, "Neuron runtime ", "nrt_execute", runtime, 2 * STEPS), STEPS);
    for (int i = 0; i < STEPS; i++) {
        int inside = 0, calls = 0;
        for (int k = 0; k < STEPS * 2; k++)
            inside += device[k].start >= host[i].start - slack && device[k].end <= host[i].end + slack;
        for (int k = 0; k < STEPS; k++)
            calls += runtime[k].start >= host[i].start - slack && runtime[k].end <= host[i].end + slack;
        CHECK_EQUAL(inside, 2); /* both physical cores */
        CHECK_EQUAL(calls, 1);
    }
    for (int k = 0; k < STEPS * 2; k++) /* of what the host saw the core was busy for four fifths */
        CHECK(device[k].end - device[k].start >= 1590000 && device[k].end > device[k].start);
    prof_trace_close(trace);
    CHECK_EQUAL(fake.outstanding(), 0);
}

ALONE(executions_lie_within_the_scopes_around_them) { one_time_line("0"); }
ALONE(and_if_the_runtime_leaves_them_in_the_cores_time) { one_time_line("1"); }

/*-- fork, threads --*/

ALONE(a_child_leaves_its_parents_captures_alone)
{
    prof_ntff_config config = everything();
    int status = 0;
    config.activities = PROF_NTFF_CPU_UTIL;
    ready();
    CHECK_EQUAL(prof_ntff_session_begin(&config), PROF_OK);
    CHECK_EQUAL(prof_ntff_systrace_start(NULL), PROF_OK);
    CHECK_EQUAL(prof_ntff_continuous_begin(NULL), PROF_OK);
    fake.log_clear();
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        CHECK_ERROR(prof_ntff_session_begin(&config), PROF_INVALID_STATE, "a child of its fork()");
        CHECK_ERROR(prof_ntff_session_end(NULL), PROF_INVALID_STATE, "a child of its fork()");
        CHECK_ERROR(prof_ntff_inspect_stop(), PROF_INVALID_STATE, "a child of its fork()");
        CHECK_ERROR(prof_ntff_systrace_fetch(NULL), PROF_INVALID_STATE, "a child of its fork()");
        CHECK_ERROR(prof_ntff_systrace_stop(NULL), PROF_INVALID_STATE, "a child of its fork()");
        CHECK_ERROR(prof_ntff_continuous_save(0), PROF_INVALID_STATE, "a child of its fork()");
        CHECK_ERROR(prof_ntff_continuous_end(), PROF_INVALID_STATE, "a child of its fork()");
        CHECK_ERROR(prof_ntff_close(), PROF_INVALID_STATE, "a child of its fork()");
        CHECK(!prof_ntff_session_active());
        CHECK_TEXT(fake.log(), ""); /* the runtime was not asked */
        exit(test_failures != 0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status));
    CHECK(prof_ntff_session_active());
    CHECK_EQUAL(prof_ntff_continuous_end(), PROF_OK);
    CHECK_EQUAL(prof_ntff_systrace_stop(NULL), PROF_OK);
    CHECK_EQUAL(prof_ntff_session_end(NULL), PROF_OK);
}

/* The parent's wish to save a device profile with each save is not a failure of what its child records. */
ALONE(a_child_saves_without_its_parent_s_profile)
{
    prof_ntff_continuous continuous;
    int status = 0;
    memset(&continuous, 0, sizeof continuous);
    continuous.output_dir = trace_path("ntff_parent");
    continuous.on_save = 1;
    ready();
    CHECK_EQUAL(prof_ntff_continuous_begin(&continuous), PROF_OK);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        static const char *const files[] = {TRACE_FOLDER "/ntff_child1.prof", TRACE_FOLDER "/ntff_child2.prof"};
        prof_config config;
        prof_trace *trace = NULL;
        memset(&config, 0, sizeof config);
        config.save = TRACE_FOLDER "/ntff_child%c.prof";
        CHECK_EQUAL(prof_start(&config), PROF_OK);
        for (int k = 0; k < 2; k++) { /* at the second, all of the first is done */
            remove(files[k]);
            CHECK_EQUAL(prof_save_request(), PROF_OK);
            WAIT_UNTIL(!access(files[k], F_OK));
        }
        CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
        CHECK_EQUAL(prof_trace_about(trace)->write_failures, 0);
        prof_trace_close(trace);
        CHECK_EQUAL(prof_stop(), PROF_OK);
        exit(test_failures != 0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status));
    CHECK_EQUAL(prof_ntff_continuous_end(), PROF_OK);
}

static int sessions, refused;

static void *begin_and_end(void *unused)
{
    (void)unused;
    prof_ntff_config config;
    memset(&config, 0, sizeof config);
    config.output_dir = TRACE_FOLDER "/ntff_threads";
    config.activities = PROF_NTFF_CPU_UTIL;
    for (int i = 0; i < 50; i++) {
        prof_status status = prof_ntff_session_begin(&config);
        if (status == PROF_OK) {
            __atomic_add_fetch(&sessions, 1, __ATOMIC_RELAXED);
            if (prof_ntff_session_end(NULL)) __atomic_add_fetch(&refused, 1000000, __ATOMIC_RELAXED);
        } else {
            __atomic_add_fetch(&refused, status == PROF_INVALID_STATE ? 1 : 1000000, __ATOMIC_RELAXED);
        }
    }
    return NULL;
}

ALONE(threads_that_begin_at_once)
{
    pthread_t threads[8];
    ready();
    for (int i = 0; i < 8; i++) pthread_create(&threads[i], NULL, begin_and_end, NULL);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    CHECK(sessions > 0);
    CHECK_EQUAL(sessions + refused, 400);
    CHECK(!prof_ntff_session_active());
    CHECK_EQUAL(fake.outstanding(), 0);
    CHECK_EQUAL(prof__ntff_captures, 0);
}

static int running;

static void *fetch_all_the_time(void *counts)
{
    (void)counts;
    while (PROF__LOAD(&running)) {
        if (prof_ntff_systrace_fetch(NULL)) __atomic_add_fetch(&refused, 1, __ATOMIC_RELAXED);
        prof_ntff_continuous_save_if(0, 2, 1);
    }
    return NULL;
}

ALONE(scopes_while_a_thread_fetches)
{
    pthread_t thread;
    prof_ntff_continuous continuous;
    memset(&continuous, 0, sizeof continuous);
    continuous.output_dir = trace_path("ntff_fetches");
    ready();
    CHECK_EQUAL(prof_start(NULL), PROF_OK);
    CHECK_EQUAL(prof_ntff_systrace_start(NULL), PROF_OK);
    CHECK_EQUAL(prof_ntff_continuous_begin(&continuous), PROF_OK);
    running = 1;
    pthread_create(&thread, NULL, fetch_all_the_time, NULL);
    for (int i = 0; i < 200; i++) {
        PROFILE_SCOPE("step");
        CHECK_EQUAL(fake.execute(0, "model.neff", 20000), 0);
    }
    PROF__STORE(&running, 0);
    pthread_join(thread, NULL);
    CHECK_EQUAL(refused, 0);
    CHECK_EQUAL(prof_ntff_continuous_end(), PROF_OK);
    CHECK_EQUAL(prof_ntff_systrace_stop(NULL), PROF_OK);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(fake.outstanding(), 0);
    empty(continuous.output_dir);
}

TEST_MAIN
