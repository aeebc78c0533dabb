/* fake_nrt.c - a Neuron runtime without Neuron: libnrt.so.1 for tests and demonstrations. Its functions are those of
   the table in prof_ntff.h, so none can be missing or have another prototype. What it does is what AWS's headers and
   documentation say of the real one, as far as they do: it shows that prof_ntff.h calls a runtime as documented, not
   that the real one does as documented.

   It has states (before nrt_init(), after nrt_close(), one capture of a kind), a log of all calls, NeuronCores whose
   clocks have an origin and a drift of their own, an allocator that free() can't free, and errors on demand:

     const char *fake_log(void)                          all calls since fake_log_clear(), one a line: name and arguments
     void fake_fail(const char *name, unsigned status)   the next call of this function returns this, and does nothing
     unsigned long fake_outstanding(void)                what was allocated and not freed
     void fake_clock(uint64_t unix_ns)                   sets the time, until the next call; 0: the real time
     unsigned fake_execute(uint32_t nc, const char *model, uint64_t ns)
                                                         runs something on this NeuronCore, and waits for it
     void fake_push(const char *json)                    an event as given, on NeuronCore 0

   In the environment: FAKE_NRT_UNADJUSTED=1: events of NeuronCores come in the NeuronCores' own time.
   FAKE_NRT_FILES=none, empty: the end of a session writes no files, not even a folder, or nothing into it.

   cc -shared -fPIC -I. -Wl,-soname,libnrt.so.1 tests/fake_nrt.c -o libnrt.so.1 */
#define _GNU_SOURCE 1
#include "prof_ntff.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

const char *fake_log(void);
void fake_log_clear(void);
void fake_fail(const char *name, unsigned status);
unsigned long fake_outstanding(void);
void fake_clock(uint64_t unix_ns);
unsigned fake_execute(uint32_t nc, const char *model, uint64_t ns);
void fake_push(const char *json);

enum { SUCCESS, FAILURE, INVALID, RESOURCE = 4, UNINITIALIZED = 13, CLOSED = 14 };
enum { CORES = 4, TYPES = 28 };

static pthread_mutex_t fake_mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; /* around each call */

/*-- log --*/

static char log_text[1 << 18];
static size_t log_size;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    va_list list;
    int n;
    va_start(list, format);
    n = vsnprintf(log_text + log_size, sizeof log_text - log_size, format, list);
    va_end(list);
    if (n > 0 && log_size + (size_t)n < sizeof log_text) log_size += (size_t)n;
    log_text[log_size] = 0;
}

EXPORT const char *fake_log(void) { return log_text; }
EXPORT void fake_log_clear(void) { log_text[log_size = 0] = 0; }

static char fail_name[128];
static unsigned fail_status;

EXPORT void fake_fail(const char *name, unsigned status)
{
    snprintf(fail_name, sizeof fail_name, "%s", name);
    fail_status = status;
}

static unsigned injected(const char *name)
{
    unsigned status = fail_status;
    if (!status || strcmp(name, fail_name)) return 0;
    fail_status = 0;
    return status;
}

/*-- memory: what free() gets of it is in the middle of a block --*/

#define MAGIC 0xFA4EFA4EFA4EFA4Eu
static unsigned long outstanding;

static void *take(size_t size)
{
    uint64_t *block = (uint64_t *)calloc(1, size + 64);
    if (!block) return NULL;
    block[0] = MAGIC;
    outstanding++;
    return block + 8;
}

static void give(void *memory)
{
    uint64_t *block = (uint64_t *)memory;
    if (!memory) return;
    block -= 8;
    if (block[0] != MAGIC) {
        fprintf(stderr, "fake_nrt: freed twice, or not of this runtime\n");
        abort();
    }
    block[0] = 0;
    outstanding--;
    free(block);
}

EXPORT unsigned long fake_outstanding(void) { return outstanding; }

static char *take_text(const char *text)
{
    char *copy = (char *)take(strlen(text) + 1);
    strcpy(copy, text);
    return copy;
}

static unsigned take_texts(const char *const *texts, const int *on, size_t all, const char ***out, size_t *count)
{
    if (!out || !count) return INVALID;
    *out = (const char **)take(all * sizeof **out);
    *count = 0;
    for (size_t i = 0; i < all; i++)
        if (!on || on[i]) (*out)[(*count)++] = take_text(texts[i]);
    return SUCCESS;
}

static void give_texts(const char **texts, size_t count)
{
    for (size_t i = 0; i < count; i++) give((void *)(uintptr_t)texts[i]);
    give((void *)texts);
}

/*-- clocks: of the host, and of each NeuronCore: an origin of its own, and 40 ppm too fast --*/

static uint64_t set_clock;

static uint64_t unix_now(void)
{
    struct timespec now;
    if (set_clock) return set_clock;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

EXPORT void fake_clock(uint64_t unix_ns) { set_clock = unix_ns; }

static uint64_t core_time(uint64_t unix_ns, unsigned core)
{
    uint64_t since = unix_ns - 1600000000000000000u;
    return since + since / 25000 - (uint64_t)core * 86400000000000u;
}

/*-- state --*/

static enum { BEFORE, READY, AFTER } state;

static unsigned usable(void) { return state == BEFORE ? UNINITIALIZED : state == AFTER ? CLOSED : SUCCESS; }

static const char *const types[TYPES] = {
    "nc_exec_running", "cc_running", "cc_exec_barrier", "numerical_err", "nc_model_switch", "timestamp_sync_point", "hw_notify",
    "nrt_load", "nrt_execute", "runtime_execute", "nrt_model_submit", "nrta_execute_schedule", "nrt_tensor_read",
    "nrt_tensor_write", "nrt_tensor_allocate", "nrt_tensor_free", "tensor_block_while_exec", "nrt_async_sema_wait",
    "dmem_buf_copyin", "dmem_buf_copyout", "nrt_dma_mem_alloc", "nrt_dma_mem_dealloc", "kbl_exec_pre", "kmgr_exec_core",
    "kbl_exec_wait", "kbl_exec_post", "exec_consume_gpsimd_stdio", "notification_consume_errors"};

static int type_index(const char *type)
{
    for (int i = 0; type && i < TYPES; i++)
        if (!strcmp(types[i], type)) return i;
    return -1;
}

static const char *const activities[] = {"system_profile", "device_profile", "host_memory", "cpu_util"};

struct nrt_inspect_config {
    int session_id, enable, on_fail, activity[4], type_on[TYPES], core_on[CORES];
    unsigned mode;
    uint64_t events;
    char dir[1024];
};
struct nrt_sys_trace_config {
    int type_on[TYPES], core_on[CORES];
    uint64_t events;
};
struct nrt_sys_trace_fetch_options {
    uint64_t events, core;
};
struct nrt_profile_continuous_options {
    char dir[1024];
};

static struct nrt_inspect_config inspect;
static int inspecting, tracing, continuing, old_tracing;
static char profiles[8][256]; /* file names of open profiles */

/*-- events: a ring for each core --*/

typedef struct ring {
    char **events;
    uint64_t capacity, first, count;
} ring;
static ring rings[CORES];
static struct nrt_sys_trace_config trace;
static uint64_t tracking, executions, executed[CORES];

static void ring_close(void)
{
    for (unsigned core = 0; core < CORES; core++) {
        ring *r = &rings[core];
        for (uint64_t i = 0; i < r->count; i++) give(r->events[(r->first + i) % r->capacity]);
        give(r->events);
        memset(r, 0, sizeof *r);
    }
}

static void ring_add(unsigned core, const char *event)
{
    ring *r = &rings[core];
    if (!r->events) return;
    if (r->count == r->capacity) {
        give(r->events[r->first]);
        r->first = (r->first + 1) % r->capacity;
        r->count--;
    }
    r->events[(r->first + r->count++) % r->capacity] = take_text(event);
}

EXPORT void fake_push(const char *json)
{
    pthread_mutex_lock(&fake_mutex);
    ring_add(0, json);
    pthread_mutex_unlock(&fake_mutex);
}

static void event(unsigned core, const char *type, const char *phase, uint64_t id, uint64_t time, const char *data)
{
    char text[1024];
    int index = type_index(type);
    if (!tracing || !trace.core_on[core] || index < 0 || !trace.type_on[index]) return;
    snprintf(text, sizeof text,
             "{\"event_type\":\"%s\",\"phase\":\"%s\",\"id\":%llu,\"nc_idx\":%u,\"nc_local_id\":%u,\"tracking_id\":%llu,"
             "\"thread_id\":%ld,\"worker_gid\":0,\"data\":{%s},\"timestamp_ns\":%llu}",
             type, phase, (unsigned long long)id, core, core, (unsigned long long)id, (long)gettid(), data,
             (unsigned long long)time);
    ring_add(core, text);
}

/* Where the runtime says that something of a core's clock was, by the sync point of its execution. */
static uint64_t synchronised(uint64_t core_ns, uint64_t sync_unix, uint64_t sync_core)
{
    const char *raw = getenv("FAKE_NRT_UNADJUSTED");
    return raw && *raw == '1' ? core_ns : sync_unix + core_ns - sync_core;
}

EXPORT unsigned fake_execute(uint32_t nc, const char *model, uint64_t ns)
{
    uint64_t before = unix_now(), id, exec;
    char data[512];
    unsigned status;
    pthread_mutex_lock(&fake_mutex);
    status = usable();
    pthread_mutex_unlock(&fake_mutex);
    if (status || nc >= CORES) return status ? status : INVALID;
    if (set_clock)
        set_clock += ns;
    else
        while (unix_now() < before + ns) usleep(20);
    uint64_t after = unix_now(), begin = before + ns / 10, end = after - ns / 10;
    pthread_mutex_lock(&fake_mutex);
    exec = ++executions;
    id = ++tracking;
    executed[nc]++;
    snprintf(data, sizeof data, "\"model_id\":10001,\"model_name\":\"%s\"", model);
    event(nc, "nrt_execute", "start", id, before, data);
    for (unsigned core = 2 * nc; core < 2 * nc + 2; core++) { /* both physical cores of a logical one */
        uint64_t sync = core_time(after, core), from = core_time(begin, core), to = core_time(end, core);
        uint64_t run = ++tracking;
        snprintf(data, sizeof data,
                 "\"device_core_idx\":%u,\"exec_id\":%llu,\"nc_timestamp_ns\":%llu,\"model_id\":10001,\"model_name\":\"%s\"",
                 core, (unsigned long long)exec, (unsigned long long)from, model);
        event(nc, "nc_exec_running", "start", run, synchronised(from, after, sync), data);
        snprintf(data, sizeof data, "\"nc_timestamp_ns\":%llu", (unsigned long long)to);
        event(nc, "nc_exec_running", "stop", run, synchronised(to, after, sync), data);
        snprintf(data, sizeof data,
                 "\"device_core_idx\":%u,\"exec_id\":%llu,\"nc_timestamp_ns\":%llu,\"cpu_timestamp_ns\":%llu", core,
                 (unsigned long long)exec, (unsigned long long)sync, (unsigned long long)after);
        event(nc, "timestamp_sync_point", "instant", ++tracking, after, data);
    }
    event(nc, "nrt_execute", "stop", id, after, "");
    pthread_mutex_unlock(&fake_mutex);
    return SUCCESS;
}

/*-- files --*/

static void folder(const char *path)
{
    char part[2048];
    snprintf(part, sizeof part, "%s", path);
    for (char *at = part + 1; *at; at++)
        if (*at == '/') {
            *at = 0;
            mkdir(part, 0777);
            *at = '/';
        }
    mkdir(part, 0777);
}

static unsigned file(const char *dir, const char *name)
{
    char path[4096];
    FILE *out;
    snprintf(path, sizeof path, "%s%s%s", dir, *dir ? "/" : "", name);
    out = fopen(path, "wb");
    if (!out) return RESOURCE;
    fprintf(out, "\001fake: no %s of a real runtime\n", strrchr(name, '.'));
    return fclose(out) ? RESOURCE : SUCCESS;
}

static unsigned session_files(void)
{
    char dir[2048], name[128];
    const char *files = getenv("FAKE_NRT_FILES");
    unsigned status = SUCCESS;
    int whole = !inspect.activity[1] || inspect.mode == 2;
    int n = snprintf(dir, sizeof dir, "%s/i-0fa4efa4efa4efa4e_pid_%ld", inspect.dir, (long)getpid());
    if (whole) snprintf(dir + n, sizeof dir - (size_t)n, "/%llu", (unsigned long long)unix_now());
    if (files && !strcmp(files, "none")) return SUCCESS;
    folder(dir);
    if (files && !strcmp(files, "empty")) return SUCCESS;
    if (inspect.activity[0]) status |= file(dir, "ntrace.pb");
    status |= file(dir, "trace_info.pb");
    if (inspect.activity[2]) status |= file(dir, "host_mem.pb");
    if (inspect.activity[3]) status |= file(dir, "cpu_util.pb");
    for (unsigned core = 0; core < CORES && inspect.activity[1]; core++) {
        if (!executed[core]) continue;
        snprintf(name, sizeof name, whole ? "profile_nc_%u_session_%d.ntff" : "fa4e0001_instid_0_vnc_%u.ntff", core, inspect.session_id);
        status |= file(dir, name);
        status |= file(dir, whole ? "neff_fa4e0001_vnc_0.neff" : "neff_fa4e0001.neff");
    }
    return status ? RESOURCE : SUCCESS;
}

/*-- nrt_profile.h --*/

#define ABI_status PROF_NTFF_NRT_STATUS
#define ABI_nothing void
#define ABI_text const char *
#define DECLARE(result, name, parameters, arguments, role) static ABI_##result fake_##name parameters;
PROF_NTFF_TABLE(DECLARE)
#define READY_OR_RETURN \
    do { \
        if (usable()) return usable(); \
    } while (0)

static unsigned fake_profile_start(struct nrt_model *model, const char *filename)
{
    say(" %s", filename ? filename : "(null)");
    READY_OR_RETURN;
    if (!model || !filename || strlen(filename) >= sizeof profiles[0]) return INVALID;
    for (int i = 0; i < 8; i++)
        if (!strcmp(profiles[i], filename)) return INVALID;
    for (int i = 0; i < 8; i++)
        if (!*profiles[i]) {
            strcpy(profiles[i], filename);
            return SUCCESS;
        }
    return RESOURCE;
}

static unsigned fake_profile_stop(const char *filename)
{
    say(" %s", filename ? filename : "(null)");
    READY_OR_RETURN;
    for (int i = 0; i < 8 && filename; i++)
        if (*profiles[i] && !strcmp(profiles[i], filename)) {
            *profiles[i] = 0;
            return file("", filename);
        }
    return INVALID;
}

static unsigned fake_profile_continuous_options_allocate(struct nrt_profile_continuous_options **options)
{
    if (!options) return INVALID;
    *options = (struct nrt_profile_continuous_options *)take(sizeof **options);
    strcpy((*options)->dir, "./output");
    return SUCCESS;
}

static unsigned fake_profile_continuous_options_free(struct nrt_profile_continuous_options *options)
{
    give(options);
    return options ? SUCCESS : INVALID;
}

static unsigned set_dir(char *dir, const char *to)
{
    say(" %s", to ? to : "(null)");
    if (!to || !*to || strlen(to) >= 1024 || !strcmp(to, "/dev/null")) return INVALID;
    strcpy(dir, to);
    return SUCCESS;
}

static unsigned fake_profile_continuous_options_set_output_dir(struct nrt_profile_continuous_options *options,
                                                               const char *output_dir)
{
    return options ? set_dir(options->dir, output_dir) : INVALID;
}

static unsigned fake_profile_continuous_start(struct nrt_profile_continuous_options *options)
{
    READY_OR_RETURN;
    if (!options) return INVALID;
    if (continuing || (inspecting && inspect.activity[1])) return FAILURE;
    continuing = 1;
    return SUCCESS;
}

static unsigned fake_profile_continuous_save(uint32_t vnc, struct nrt_profile_continuous_options *options)
{
    static unsigned count;
    char name[128];
    say(" %u", vnc);
    READY_OR_RETURN;
    if (!continuing) return FAILURE;
    if (!options || vnc >= CORES || !executed[vnc]) return INVALID;
    folder(options->dir);
    snprintf(name, sizeof name, "model_10001_pid_%ld_vnc_%u_inst_0_20260101_%06u.ntff", (long)getpid(), vnc, ++count);
    return file(options->dir, name);
}

static unsigned fake_profile_continuous_stop(void)
{
    READY_OR_RETURN;
    if (!continuing) return FAILURE;
    continuing = 0;
    return SUCCESS;
}

static unsigned begin_inspect(const struct nrt_inspect_config *options)
{
    READY_OR_RETURN;
    if (!options || (!options->enable && !options->on_fail)) return INVALID;
    if (inspecting || (tracing && options->activity[0]) || (continuing && options->activity[1])) return FAILURE;
    inspect = *options;
    inspecting = 1;
    memset(executed, 0, sizeof executed);
    return SUCCESS;
}

static unsigned fake_inspect_begin(void)
{
    struct nrt_inspect_config options;
    const char *dir = getenv("NEURON_RT_INSPECT_OUTPUT_DIR"), *on = getenv("NEURON_RT_INSPECT_ENABLE");
    memset(&options, 0, sizeof options);
    options.enable = on && *on == '1';
    options.activity[0] = 1;
    options.session_id = 1;
    snprintf(options.dir, sizeof options.dir, "%s", dir ? dir : "./output");
    return begin_inspect(&options);
}

static unsigned fake_inspect_begin_with_options(struct nrt_inspect_config *options) { return begin_inspect(options); }

static unsigned fake_inspect_stop(void)
{
    READY_OR_RETURN;
    if (!inspecting) return FAILURE;
    inspecting = 0;
    return session_files();
}

static unsigned fake_inspect_config_allocate(struct nrt_inspect_config **options)
{
    if (!options) return INVALID;
    *options = (struct nrt_inspect_config *)take(sizeof **options);
    return SUCCESS;
}

static unsigned fake_inspect_config_free(struct nrt_inspect_config *options)
{
    give(options);
    return options ? SUCCESS : INVALID;
}

/* As it was seen, not as the header says: no activity is on. So whoever relies on defaults captures nothing. */
static unsigned fake_inspect_config_set_defaults(struct nrt_inspect_config *options)
{
    if (!options) return INVALID;
    memset(options, 0, sizeof *options);
    options->session_id = 1;
    options->events = 1000000;
    strcpy(options->dir, "./output");
    for (int i = 0; i < TYPES; i++) options->type_on[i] = 1;
    for (int i = 0; i < CORES; i++) options->core_on[i] = 1;
    return SUCCESS;
}

static unsigned fake_inspect_config_set_session_id(struct nrt_inspect_config *options, int session_id)
{
    say(" %d", session_id);
    if (!options) return INVALID;
    options->session_id = session_id;
    return SUCCESS;
}

static unsigned fake_inspect_config_set_output_dir(struct nrt_inspect_config *options, const char *output_dir)
{
    return options ? set_dir(options->dir, output_dir) : INVALID;
}

static unsigned fake_inspect_config_set_sys_trace_max_events_per_nc(struct nrt_inspect_config *options, uint64_t events)
{
    say(" %llu", (unsigned long long)events);
    if (!options || !events) return INVALID;
    options->events = events;
    return SUCCESS;
}

static unsigned fake_inspect_config_set_capture_enabled_for_nc(struct nrt_inspect_config *options, uint32_t nc, prof_ntff_bool on)
{
    if (nc < CORES) say(" %u %d", nc, on);
    if (!options || nc >= CORES) return INVALID;
    options->core_on[nc] = on;
    return SUCCESS;
}

static unsigned fake_inspect_config_set_capture_enabled_for_event_type_string(struct nrt_inspect_config *options,
                                                                              const char *type, prof_ntff_bool on)
{
    say(" %s %d", type, on);
    if (!options || type_index(type) < 0) return INVALID;
    options->type_on[type_index(type)] = on;
    return SUCCESS;
}

static unsigned fake_inspect_config_set_enable_inspect(struct nrt_inspect_config *options, prof_ntff_bool on)
{
    say(" %d", on);
    if (!options) return INVALID;
    options->enable = on;
    return SUCCESS;
}

static unsigned fake_inspect_config_set_enable_inspect_on_fail(struct nrt_inspect_config *options, prof_ntff_bool on)
{
    say(" %d", on);
    if (!options) return INVALID;
    options->on_fail = on;
    return SUCCESS;
}

static unsigned fake_inspect_config_get_all_activity_types(const char ***out, size_t *count)
{
    return take_texts(activities, NULL, 4, out, count);
}

static unsigned fake_inspect_config_get_enabled_activity_types(struct nrt_inspect_config *options, const char ***out, size_t *count)
{
    return options ? take_texts(activities, options->activity, 4, out, count) : INVALID;
}

static void fake_inspect_config_free_activity_types(const char **texts, size_t count) { give_texts(texts, count); }

static unsigned fake_inspect_config_set_activity(struct nrt_inspect_config *options, const char *activity, prof_ntff_bool on)
{
    int found = 0;
    say(" %s %d", activity ? activity : "(null)", on);
    for (int i = 0; i < 4 && options && activity; i++)
        if (!strcmp(activity, "all") || !strcmp(activity, activities[i])) options->activity[i] = on, found = 1;
    return found ? SUCCESS : INVALID;
}

static unsigned fake_inspect_config_set_inspect_device_profile_mode(struct nrt_inspect_config *options, unsigned mode)
{
    say(" %u", mode);
    if (!options || mode > 2) return INVALID;
    options->mode = mode;
    return SUCCESS;
}

static unsigned fake_inspect_get_instance_output_dir(const char *output_dir, char *instance_dir, size_t size)
{
    int n = snprintf(instance_dir, size, "%s/i-0fa4efa4efa4efa4e_pid_%ld", output_dir, (long)getpid());
    return n > 0 && (size_t)n < size ? SUCCESS : INVALID;
}

/*-- nrt_sys_trace.h --*/

static unsigned fake_sys_trace_config_allocate(struct nrt_sys_trace_config **options)
{
    if (!options) return INVALID;
    *options = (struct nrt_sys_trace_config *)take(sizeof **options);
    return SUCCESS;
}

static void fake_sys_trace_config_set_defaults(struct nrt_sys_trace_config *options)
{
    options->events = 1000;
    for (int i = 0; i < TYPES; i++) options->type_on[i] = 1;
    for (int i = 0; i < CORES; i++) options->core_on[i] = 1;
}

static void fake_sys_trace_config_free(struct nrt_sys_trace_config *options) { give(options); }

static void fake_sys_trace_config_set_max_events_per_nc(struct nrt_sys_trace_config *options, uint64_t events)
{
    say(" %llu", (unsigned long long)events);
    options->events = events;
}

static void fake_sys_trace_config_set_capture_enabled_for_nc(struct nrt_sys_trace_config *options, uint32_t nc, prof_ntff_bool on)
{
    if (nc >= CORES) return;
    say(" %u %d", nc, on);
    options->core_on[nc] = on;
}

static unsigned fake_sys_trace_config_set_capture_enabled_for_event_type(struct nrt_sys_trace_config *options, const char *type,
                                                                         prof_ntff_bool on)
{
    say(" %s %d", type, on);
    if (!options || type_index(type) < 0) return INVALID;
    options->type_on[type_index(type)] = on;
    return SUCCESS;
}

static unsigned fake_sys_trace_get_event_types(const char ***out, size_t *count) { return take_texts(types, NULL, TYPES, out, count); }
static void fake_sys_trace_free_event_types(const char **texts, size_t count) { give_texts(texts, count); }

static unsigned fake_sys_trace_config_get_enabled_event_types(struct nrt_sys_trace_config *options, const char ***out, size_t *count)
{
    return options ? take_texts(types, options->type_on, TYPES, out, count) : INVALID;
}

static unsigned fake_sys_trace_start(struct nrt_sys_trace_config *options)
{
    READY_OR_RETURN;
    if (!options || !options->events) return INVALID;
    if (tracing || (inspecting && inspect.activity[0])) return FAILURE;
    trace = *options;
    for (unsigned core = 0; core < CORES; core++) {
        if (!trace.core_on[core]) continue;
        rings[core].capacity = trace.events < 1 << 20 ? trace.events : 1 << 20;
        rings[core].events = (char **)take((size_t)rings[core].capacity * sizeof(char *));
    }
    tracing = 1;
    return SUCCESS;
}

static unsigned fake_sys_trace_stop(void)
{
    READY_OR_RETURN;
    if (!tracing) return FAILURE;
    tracing = 0;
    ring_close();
    return SUCCESS;
}

static unsigned fake_sys_trace_fetch_options_allocate(struct nrt_sys_trace_fetch_options **options)
{
    if (!options) return INVALID;
    *options = (struct nrt_sys_trace_fetch_options *)take(sizeof **options);
    return SUCCESS;
}

static void fake_sys_trace_fetch_options_set_defaults(struct nrt_sys_trace_fetch_options *options)
{
    options->events = options->core = UINT64_MAX;
}

static void fake_sys_trace_fetch_options_free(struct nrt_sys_trace_fetch_options *options) { give(options); }

static void fake_sys_trace_fetch_options_set_max_events_per_nc(struct nrt_sys_trace_fetch_options *options, uint64_t events)
{
    say(" %llu", (unsigned long long)events);
    options->events = events;
}

static void fake_sys_trace_fetch_options_set_nc_idx(struct nrt_sys_trace_fetch_options *options, uint64_t nc)
{
    say(" %llu", (unsigned long long)nc);
    options->core = nc;
}

static unsigned fake_sys_trace_fetch_events(char **buffer, size_t *written_size, const struct nrt_sys_trace_fetch_options *options)
{
    char *json = NULL;
    size_t size = 0;
    FILE *out;
    READY_OR_RETURN;
    if (!tracing) return FAILURE;
    if (!buffer || *buffer || !written_size) return INVALID;
    out = open_memstream(&json, &size);
    fprintf(out, "{\"events\":[");
    for (unsigned core = 0, any = 0; core < CORES; core++) {
        ring *r = &rings[core];
        if (options && options->core != UINT64_MAX && options->core != core) continue;
        for (uint64_t i = 0; r->count && (!options || i < options->events); i++, any = 1) {
            fprintf(out, "%s%s", any ? "," : "", r->events[r->first]);
            give(r->events[r->first]);
            r->first = (r->first + 1) % r->capacity;
            r->count--;
        }
    }
    fprintf(out, "],\"data_version\":2}");
    fclose(out);
    *buffer = (char *)take(size); /* no NUL behind it */
    memcpy(*buffer, json, size);
    *written_size = size;
    free(json);
    return SUCCESS;
}

static void fake_sys_trace_buffer_free(char *buffer) { give(buffer); }

/*-- the rest --*/

static unsigned fake_trace_start(prof_ntff_bool trace_mem)
{
    say(" %d", trace_mem);
    READY_OR_RETURN;
    if (old_tracing) return FAILURE;
    old_tracing = 1;
    return SUCCESS;
}

static unsigned fake_trace_stop(const char *filename)
{
    say(" %s", filename);
    READY_OR_RETURN;
    if (!old_tracing) return FAILURE;
    old_tracing = 0;
    return file("", filename);
}

static unsigned fake_debug_client_connect(int nc, int *stream_fd)
{
    static int connected;
    say(" %d", nc);
    READY_OR_RETURN;
    if (!stream_fd || connected++) return INVALID; /* one client for each core */
    *stream_fd = 1000;
    return SUCCESS;
}

static void fake_debug_client_connect_close(int stream_fd) { say(" %d", stream_fd); }

static unsigned fake_debug_client_read_one_event(int stream_fd, struct ndebug_stream_event_header *header, void **payload)
{
    (void)stream_fd, (void)header, (void)payload;
    READY_OR_RETURN;
    return 15; /* NRT_QUEUE_EMPTY */
}

static unsigned fake_register_async_exec_callback(prof_ntff_exec_callback callback, void *params)
{
    READY_OR_RETURN;
    if (callback) callback(params, 10001, 0, 1, SUCCESS);
    return SUCCESS;
}

static unsigned fake_async_drain_queued_execs(int32_t vnc)
{
    say(" %d", vnc);
    return usable();
}

static unsigned fake_get_model_info(const struct nrt_model *model, struct nrt_model_info *info, size_t size, size_t *out)
{
    if (!model || !info || size < 4 || !out) return INVALID;
    memset(info, 0, 4);
    *out = 4;
    return SUCCESS;
}

#ifndef FAKE_VERSION
#define FAKE_VERSION {2, 34, 10, 0}
#endif
static unsigned fake_get_version(struct nrt_version *version, size_t size)
{
    static const uint64_t numbers[4] = FAKE_VERSION;
    if (!version || size < sizeof numbers) return INVALID;
    memcpy(version, numbers, sizeof numbers);
    return SUCCESS;
}

static unsigned fake_get_instance_info(struct nrt_instance_info *info, size_t size)
{
    if (!info || size < 32) return INVALID;
    memset(info, 0, size);
    return SUCCESS;
}

static unsigned cores(uint32_t *count)
{
    if (!count) return INVALID;
    *count = CORES;
    return SUCCESS;
}
static unsigned fake_get_visible_vnc_count(uint32_t *count) { return cores(count); }
static unsigned fake_get_visible_nc_count(uint32_t *count) { return cores(count); }
static unsigned fake_get_total_vnc_count(uint32_t *count) { return cores(count); }
static unsigned fake_get_total_nc_count(uint32_t *count) { return cores(count); }

static unsigned fake_init(unsigned framework, const char *fw_version, const char *fal_version)
{
    const char *on = getenv("NEURON_RT_INSPECT_ENABLE");
    say(" %u %s %s", framework, fw_version ? fw_version : "", fal_version ? fal_version : "");
    if (state == READY) return INVALID;
    state = READY;
    if (on && *on == '1') return fake_inspect_begin();
    return SUCCESS;
}

static void fake_close(void)
{
    if (inspecting) fake_inspect_stop();
    ring_close();
    inspecting = tracing = continuing = old_tracing = 0;
    state = AFTER;
}

static const char *fake_get_status_as_str(unsigned status)
{
    return status == 7777 ? "NRT_OF_A_LATER_VERSION" : status ? "unknown" : "NRT_SUCCESS";
}

/*-- what a program needs to execute a model, and prof_ntff.h does not --*/

typedef struct tensor_info { /* nrt_experimental.h */
    char name[256];
    int usage;
    size_t size;
    int type;
    uint32_t *shape, dimensions;
} tensor_info;
typedef struct tensor_infos {
    uint64_t count;
    tensor_info tensors[2];
} tensor_infos;
typedef struct nrt_model nrt_model;
EXPORT unsigned nrt_load(const void *neff, size_t size, int32_t vnc, int32_t vnc_count, nrt_model **model);
EXPORT unsigned nrt_unload(nrt_model *model);
EXPORT unsigned nrt_get_model_tensor_info(nrt_model *model, tensor_infos **infos);
EXPORT unsigned nrt_free_model_tensor_info(tensor_infos *infos);
EXPORT unsigned nrt_allocate_tensor_set(void **set);
EXPORT unsigned nrt_add_tensor_to_tensor_set(void *set, const char *name, void *tensor);
EXPORT unsigned nrt_tensor_allocate(int placement, int vnc, size_t size, const char *name, void **tensor);
EXPORT unsigned nrt_execute(nrt_model *model, const void *inputs, void *outputs);

unsigned nrt_load(const void *neff, size_t size, int32_t vnc, int32_t vnc_count, nrt_model **model)
{
    (void)vnc, (void)vnc_count;
    READY_OR_RETURN;
    if (!neff || !size || !model) return INVALID;
    *model = (nrt_model *)take(1);
    return SUCCESS;
}

unsigned nrt_unload(nrt_model *model)
{
    give(model);
    return SUCCESS;
}

unsigned nrt_get_model_tensor_info(nrt_model *model, tensor_infos **infos)
{
    (void)model;
    *infos = (tensor_infos *)take(sizeof **infos);
    (*infos)->count = 2;
    for (int i = 0; i < 2; i++) {
        strcpy((*infos)->tensors[i].name, i ? "output0" : "input0");
        (*infos)->tensors[i].usage = i;
        (*infos)->tensors[i].size = 64;
    }
    return SUCCESS;
}

unsigned nrt_free_model_tensor_info(tensor_infos *infos)
{
    give(infos);
    return SUCCESS;
}

unsigned nrt_allocate_tensor_set(void **set)
{
    *set = take(64);
    return SUCCESS;
}

unsigned nrt_add_tensor_to_tensor_set(void *set, const char *name, void *tensor) { return set && name && tensor ? SUCCESS : INVALID; }

unsigned nrt_tensor_allocate(int placement, int vnc, size_t size, const char *name, void **tensor)
{
    (void)placement, (void)vnc, (void)name;
    *tensor = take(size);
    return SUCCESS;
}

unsigned nrt_execute(nrt_model *model, const void *inputs, void *outputs)
{
    return model && inputs && outputs ? fake_execute(0, "model.neff", 1000000) : INVALID;
}

/*-- what is exported --*/

#define CALL_status(name, arguments)                         \
    pthread_mutex_lock(&fake_mutex);                         \
    say("nrt_" #name);                                       \
    unsigned fails = injected("nrt_" #name);                 \
    unsigned result = fails ? fails : fake_##name arguments; \
    say("\n");                                               \
    pthread_mutex_unlock(&fake_mutex);                       \
    return result;
#define CALL_nothing(name, arguments) \
    pthread_mutex_lock(&fake_mutex);  \
    say("nrt_" #name);                \
    fake_##name arguments;            \
    say("\n");                        \
    pthread_mutex_unlock(&fake_mutex);
#define CALL_text(name, arguments) return fake_##name arguments;
#define DEFINE(result, name, parameters, arguments, role) \
    ABI_##result nrt_##name parameters;                   \
    EXPORT ABI_##result nrt_##name parameters             \
    {                                                     \
        CALL_##result(name, arguments)                    \
    }
PROF_NTFF_TABLE(DEFINE)
