// xplane/session: prof_xplane_start_trace() and prof_xplane_stop_trace().
#ifndef PROF__XPLANE_SESSION_H
#define PROF__XPLANE_SESSION_H
#include "api/control.h"
#include "api/devices.h"
#include "api/options.h"
#include "api/read.h"
#include "api/types.h"
#include "api/values.h"
#include "api/writers.h"
#include "ground/base.h"
#include "ground/compiler.h"
#include "ground/errors.h"
#include "ground/lock.h"
#include "ground/numbers.h"
#include "ground/out.h"
#include "session/on_demand.h"
#include "session/pattern.h"
#include "session/write.h"
#include "xplane/api.h"
#include "xplane/folder.h"
#include "xplane/perfetto.h"

/*-- start and stop --*/

static struct {
    int word;      /* the lock of the fields below */
    int running;   /* 1: start_trace has started the session; 2: it uses another session */
    int perfetto;  /* 1: also writes perfetto_trace.json.gz; 2: and says how to open it */
    uint64_t begin_ns; /* CLOCK_MONOTONIC at start_trace */
    char logdir[1024];
} prof__xplane_session;

/* What prof_stop() needs to know to write the directory of a session that start_trace has started. */
static struct {
    int word; /* the lock of the fields below */
    int perfetto;
    char logdir[1024];
} prof__xplane_wish;

#ifndef _WIN32
/* Releases the locks in the child of a fork(), where the thread that held them may not exist. */
static void prof__xplane_child_of_fork(void) { prof__xplane_session.word = prof__xplane_wish.word = 0; }
PROF__AT_START(101, prof__xplane_forks);
static void prof__xplane_forks(void)
{
    pthread_atfork(NULL, NULL, prof__xplane_child_of_fork);
}
#endif

static void prof__xplane_wish_set(int perfetto, const char *logdir)
{
    int cancel = prof__lock_steady(&prof__xplane_wish.word);
    prof__xplane_wish.perfetto = perfetto;
    prof__text_copy(prof__xplane_wish.logdir, sizeof prof__xplane_wish.logdir, logdir);
    prof__unlock_steady(&prof__xplane_wish.word, cancel);
}

/* Returns `perfetto` of this output. The path may have become absolute since start_trace. */
static int prof__xplane_wished(const char *path)
{
    int cancel = prof__lock_steady(&prof__xplane_wish.word), perfetto = 0;
    size_t length = strlen(path), own = strlen(prof__xplane_wish.logdir);
    if (own <= length && !strcmp(path + length - own, prof__xplane_wish.logdir) &&
        (own == length || prof__is_slash(path[length - own - 1])))
        perfetto = prof__xplane_wish.perfetto;
    prof__unlock_steady(&prof__xplane_wish.word, cancel);
    return perfetto;
}

static prof_status prof__xplane_write_all(const prof_trace *trace, const char *logdir, int perfetto)
{
    char where[1600];
    prof_status status = prof__xplane_merge(&trace, 1, logdir, NULL, where, sizeof where);
    return status || !perfetto ? status : prof__xplane_perfetto(trace, where, perfetto > 1);
}

/* Makes the configuration of a session that start_trace starts. */
static prof_status prof__xplane_config(prof_config *config, const prof_xplane_trace_options *options,
                                       const char *pattern)
{
    const prof_writer *writer;
    memset(config, 0, sizeof *config);
    if (options && options->config) *config = *options->config;
    if (config->output)
        return prof__fail(PROF_INVALID_ARGUMENT,
                          "prof_xplane_start_trace: the output is logdir: config.output must be null");
    config->output = pattern;
#ifndef _WIN32
    if (config->mode == PROF_RING) config->mode = PROF_STREAM;
#endif
    if (options && (options->create_perfetto_trace || options->create_perfetto_link))
        return prof__writer_for(".json", PROF_RING, &writer);
    return PROF_OK;
}

/* Starts a session, or uses the one that runs. The caller holds the lock. */
static prof_status prof__xplane_begin_trace(const char *pattern, const prof_config *config, int own)
{
    prof_status status = prof__expand(pattern, prof__xplane_session.logdir, sizeof prof__xplane_session.logdir);
    prof__xplane_session.begin_ns = prof_host_ns();
    prof__xplane_session.running = 2;
    if (status) return status;
    /* no session, or one on demand, which prof_start() ends */
    if (!prof_enabled() || prof__session_status_now().on_demand) {
        prof__xplane_wish_set(prof__xplane_session.perfetto, prof__xplane_session.logdir);
        status = prof_start(config);
        if (status) prof__xplane_wish_set(0, "");
        if (!status) prof__xplane_session.running = 1;
        if (status == PROF_INVALID_STATE) status = PROF_OK;
    }
    if (status || prof__xplane_session.running == 1) return status;
    if (own)
        return prof__fail(PROF_INVALID_STATE,
                          "prof_xplane_start_trace: a session is running, which has a configuration already: start the "
                          "trace without config");
    return prof__writer_fits(prof__xplane_session.logdir, NULL, prof__live_mode());
}

PROF_DEF prof_status prof_xplane_start_trace_with(const char *logdir, const prof_xplane_trace_options *options)
{
    PROF__CALM();
    prof_config config;
    prof_status status;
    char pattern[1024];
    int cancel;
    size_t length = logdir ? strlen(logdir) : 0;
    if (!length) return prof__fail(PROF_INVALID_ARGUMENT, "prof_xplane_start_trace: logdir is null or empty");
    if (length + 2 > sizeof pattern) return prof__fail(PROF_INVALID_ARGUMENT, "path too long: %.80s...", logdir);
    memcpy(pattern, logdir, length + 1);
    if (!prof__is_slash(pattern[length - 1])) strcpy(pattern + length, "/");
    status = prof__xplane_config(&config, options, pattern);
    if (status) return status;
    cancel = prof__lock_steady(&prof__xplane_session.word);
    if (prof__xplane_session.running) {
        status = prof__fail(PROF_INVALID_STATE, "prof_xplane_start_trace: a trace has been started already");
    } else {
        prof__xplane_session.perfetto =
            !options ? 0 : options->create_perfetto_link ? 2 : options->create_perfetto_trace ? 1 : 0;
        status = prof__xplane_begin_trace(pattern, &config, options && options->config);
        if (status) prof__xplane_session.running = 0;
    }
    prof__unlock_steady(&prof__xplane_session.word, cancel);
    return status;
}

PROF_DEF prof_status prof_xplane_start_trace(const char *logdir) { return prof_xplane_start_trace_with(logdir, NULL); }

/* Writes what the running session has recorded from begin_ns on. */
static prof_status prof__xplane_part(uint64_t begin_ns, const char *logdir, int perfetto)
{
    prof_trace *trace = NULL;
    uint64_t end_ns = prof_host_ns(), start;
    prof_status status = prof_trace_open_live(&trace);
    if (!status) status = prof__writer_fits(logdir, NULL, (uint32_t)prof_trace_about(trace)->mode);
    if (!status) {
        start = prof_trace_about(trace)->start_monotonic_ns;
        status = prof_trace_set_window(trace, begin_ns > start ? (int64_t)(begin_ns - start) : 0,
                                       end_ns > start ? (int64_t)(end_ns - start) : 1);
    }
    if (!status) status = prof__xplane_write_all(trace, logdir, perfetto);
    prof_trace_close(trace);
    return status;
}

PROF_DEF prof_status prof_xplane_stop_trace(void)
{
    PROF__CALM();
    prof_status status;
    int running, cancel = prof__lock_steady(&prof__xplane_session.word);
    running = prof__xplane_session.running;
    prof__xplane_session.running = 0;
    if (!running)
        status = prof__fail(PROF_INVALID_STATE, "prof_xplane_stop_trace: no trace has been started");
    else if (running == 1)
        status = prof_stop();
    else
        status = prof__xplane_part(prof__xplane_session.begin_ns, prof__xplane_session.logdir,
                                   prof__xplane_session.perfetto);
    if (running == 1) prof__xplane_wish_set(0, "");
    prof__unlock_steady(&prof__xplane_session.word, cancel);
    return status;
}

#endif /* PROF__XPLANE_SESSION_H */
