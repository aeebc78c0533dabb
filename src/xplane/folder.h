// xplane/folder: The log directory: names of runs and hosts, and files that nobody else has.
#ifndef PROF__XPLANE_FOLDER_H
#define PROF__XPLANE_FOLDER_H
#include "api/options.h"
#include "api/read.h"
#include "api/types.h"
#include "api/values.h"
#include "api/writers.h"
#include "ground/base.h"
#include "ground/errors.h"
#include "ground/hash.h"
#include "ground/numbers.h"
#include "ground/out.h"
#include "ground/threads.h"
#include "session/names.h"
#include "session/pattern.h"
#include "xplane/api.h"
#include "xplane/events.h"
#include "xplane/open.h"
#include "xplane/planes.h"
#include "xplane/state.h"

/*-- the log directory --*/

/* Returns the id of the job that this process is a rank of, from the launcher's environment variables. Returns NULL if
   there is none. */
static const char *prof__xplane_job(void)
{
    static const char *const keys[] = {"SLURM_JOB_ID", "PMIX_NAMESPACE", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID",
                                       "TORCHELASTIC_RUN_ID", "PMI_JOBID"};
    size_t i;
    for (i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *value = getenv(keys[i]);
        if (value && *value && strcmp(value, "none")) return value; /* "none" is torchrun's default */
    }
    return NULL;
}

/* Copies a text. Replaces characters that a file name cannot have, and colons, because XProf takes what follows for a
   port. */
static void prof__xplane_name_text(char *to, size_t size, const char *text)
{
    char *c;
    prof__text_copy(to, size, text);
    for (c = to; *c; c++)
        if (*c == '/' || *c == '\\' || *c == ':' || (unsigned char)*c < 32) *c = '_';
}

/* Makes the name of a host. size: the bytes of `to`, at least 64. */
static void prof__xplane_host(char *to, size_t size, const prof_trace *trace, const prof_xplane_options *options)
{
    char own[256], text[400];
    const char *host =
        options && options->host && *options->host ? options->host : prof__xplane_metadata(trace, "host");
    const char *rank = prof__xplane_metadata(trace, "rank");
    if (!host) {
        prof__host_name(own, sizeof own);
        host = own;
    }
    snprintf(text, sizeof text, rank ? "%.250s.%.64s" : "%.250s", host, rank ? rank : "");
    prof__xplane_name_text(to, size, text);
}

static void prof__xplane_run_name(char *to, size_t size, const prof_trace *trace, const prof_xplane_options *options)
{
    const prof_trace_info *about = prof_trace_about(trace);
    uint64_t begin = (about->start_unix_ns + (uint64_t)prof__xplane_time(about->from_ns)) / 1000000000u;
    const char *job =
        about->pid == prof__process_id() && prof__xplane_metadata(trace, "rank") ? prof__xplane_job() : NULL;
    struct tm here;
    if (options && options->run && *options->run) {
        prof__xplane_name_text(to, size, options->run);
        return;
    }
    if (job) {
        char text[200];
        snprintf(text, sizeof text, "job_%.180s", job);
        prof__xplane_name_text(to, size, text);
        return;
    }
    if (!prof__local_time(begin, &here)) memset(&here, 0, sizeof here);
    if (!strftime(to, size, "%Y_%m_%d_%H_%M_%S", &here)) prof__text_copy(to, size, "run");
}

/* Makes the path of the directory of runs, "logs/plugins/profile/". If `path` is the directory of a run, sets `run` to
   the run's name. Returns 0 if the path is too long. */
static int prof__xplane_base(const char *path, char *base, size_t base_size, char *run, size_t run_size)
{
    static const char middle[] = "plugins/profile/";
    size_t length = path ? strlen(path) : 0, at, i;
    while (length > 1 && prof__is_slash(path[length - 1])) length--;
    for (at = length; at && !prof__is_slash(path[at - 1]); at--) {
    }
    if (length + sizeof middle + 1 >= base_size || length - at >= run_size) return 0;
    if (length) memcpy(base, path, length);
    base[length] = 0;
    if (at < length && at >= sizeof middle - 1) {
        for (i = 0; i + 1 < sizeof middle; i++) {
            char c = path[at - sizeof middle + 1 + i];
            if (c != middle[i] && !(prof__is_slash(c) && middle[i] == '/')) break;
        }
        if (i + 1 == sizeof middle && (at == sizeof middle - 1 || prof__is_slash(path[at - sizeof middle]))) {
            memcpy(run, path + at, length - at);
            run[length - at] = 0;
            base[at] = 0;
            return 1;
        }
    }
    if (length && !prof__is_slash(base[length - 1])) base[length++] = '/';
    memcpy(base + length, middle, sizeof middle);
    return 1;
}

#define PROF__XPLANE_HOST 280 /* bytes of a host's name, with a number that may follow it */

/* A file of a run. Each trace has one. */
typedef struct prof__xplane_file {
    char host[PROF__XPLANE_HOST + 40], path[1600];
    unsigned long number; /* the last number that was put behind this name */
    int claimed, shared;  /* claimed: 1: the name is reserved; shared: 1: several traces are of this host */
    int made;             /* of the first file: 1: the directory of the run was made for it */
} prof__xplane_file;

/* Removes files that were reserved. Also removes the directory made for them, which XProf would show as a run, if it
   has no other files. */
static void prof__xplane_unclaim(prof__xplane_file *files, size_t count)
{
    char *folder = files[0].path, *end = strrchr(folder, '/');
    size_t i;
    for (i = 0; i < count; i++)
        if (files[i].claimed) remove(files[i].path);
    for (i = 0; i < count; i++) files[i].claimed = 0;
    if (!files[0].made || !end) return;
    *end = 0;
    remove(folder);
    files[0].made = 0;
}

/* Reserves the names of the files in the first of the directories RUN, RUN_2 and so on that has none of them. */
static prof_status prof__xplane_claim(prof__xplane_file *files, size_t count, const char *base, const char *run)
{
    char folder[1200];
    unsigned number;
    size_t i;
    for (number = 1; number < 100000; number++) {
        prof_status status;
        int made, error = 0;
        int length = number == 1 ? snprintf(folder, sizeof folder, "%s%s", base, run)
                                 : snprintf(folder, sizeof folder, "%s%s_%u", base, run, number);
        if (length < 0 || (size_t)length >= sizeof folder) break;
        made = !prof__is_folder(folder);
        status = prof__folder_make(folder);
        if (status) return status;
        files[0].made = made;
        for (i = 0; i < count && !error; i++) {
            length = snprintf(files[i].path, sizeof files[i].path, "%s/%s.xplane.pb", folder, files[i].host);
            error =
                length < 0 || (size_t)length >= sizeof files[i].path ? ENAMETOOLONG : prof__path_claim(files[i].path);
            files[i].claimed = !error;
        }
        if (!error) return PROF_OK;
        if (error != EEXIST) {
            status = prof__fail(PROF_IO, "cannot create %s: %s", files[i - 1].path, strerror(error));
            prof__xplane_unclaim(files, count);
            return status;
        }
        prof__xplane_unclaim(files, count);
    }
    return prof__fail(PROF_INVALID_ARGUMENT, "path too long: %.80s...", base);
}

static int prof__xplane_same_host(const void *owner, size_t item, const void *key)
{
    return !strcmp(((const prof__xplane_file *)owner)[item].host, (const char *)key);
}

/* Returns the file in the index that is for the same host name as file `own`. If there is none, adds file `own`, and
   returns it. Returns NULL without memory. */
static prof__xplane_file *prof__xplane_host_file(prof__read_index *index, prof__xplane_file *files, size_t own)
{
    uint32_t hash = prof__text_hash(files[own].host);
    size_t item = prof__read_find(index, hash, prof__xplane_same_host, files, files[own].host);
    if (item != PROF__NONE) return &files[item];
    return prof__read_add(index, hash, own) ? &files[own] : NULL;
}

/* Gives each file a host name that no other has: HOST.RANK, or HOST.PID if several would have one name, with a number
   if that is not enough. Returns 0 without memory. */
static int prof__xplane_hosts(prof__xplane_file *files, const prof_trace *const *traces, size_t count,
                              const prof_xplane_options *options)
{
    prof__read_index hosts, names;
    prof__xplane_file *first, *same = files;
    size_t i;
    memset(&hosts, 0, sizeof hosts);
    memset(&names, 0, sizeof names);
    for (i = 0; i < count && same; i++) {
        files[i].number = 1;
        prof__xplane_host(files[i].host, PROF__XPLANE_HOST, traces[i], options);
        same = prof__xplane_host_file(&hosts, files, i);
        if (same && same != &files[i]) same->shared = files[i].shared = 1;
    }
    free(hosts.slots);
    for (i = 0; i < count && same; i++) {
        char *end = files[i].host + strlen(files[i].host);
        size_t room = (size_t)(files[i].host + PROF__XPLANE_HOST - end);
        if (files[i].shared) snprintf(end, room, ".%lu", (unsigned long)prof_trace_about(traces[i])->pid);
        end += strlen(end);
        room = (size_t)(files[i].host + sizeof files[i].host - end);
        first = same = prof__xplane_host_file(&names, files, i);
        while (same && same != &files[i]) {
            snprintf(end, room, "_%lu", ++first->number);
            same = prof__xplane_host_file(&names, files, i);
        }
    }
    free(names.slots);
    return same != NULL;
}

static prof_status prof__xplane_files(prof__xplane_file *files, const prof_trace *const *traces, const int64_t *offsets,
                                      size_t count, const prof_xplane_options *options)
{
    prof_status status = PROF_OK;
    size_t i, first = 0;
    for (i = 1; i < count; i++)
        if (prof__xplane_begin(traces[i], offsets[i]) < prof__xplane_begin(traces[first], offsets[first])) first = i;
    for (i = 0; i < count && !status; i++) {
        prof__xplane *x = prof__xplane_new(options);
        if (!x) return PROF_NO_MEMORY;
        status = prof__out_file(&x->out, files[i].path);
        if (!status)
            status = prof__xplane_trace(x, traces[i], offsets[i], traces[first], offsets[first], files[i].host);
        free(x);
    }
    return status;
}

/* Writes traces as the hosts of one run. where: if not NULL, gets the path of the first trace's file, in `size`
   bytes. */
static prof_status prof__xplane_merge(const prof_trace *const *traces, size_t count, const char *logdir,
                                      const prof_xplane_options *options, char *where, size_t size)
{
    prof__xplane_file *files;
    int64_t *offsets;
    char base[1024], run[256];
    prof_status status = PROF_OK;
    size_t i;
    if (!traces || !count) return prof__fail(PROF_INVALID_ARGUMENT, "no trace to write");
    for (i = 0; i < count; i++)
        if (!traces[i]) return prof__fail(PROF_INVALID_ARGUMENT, "no trace to write");
    status = prof__xplane_check(options);
    if (status) return status;
    prof__xplane_run_name(run, sizeof run, traces[0], options);
    if (!prof__xplane_base(logdir, base, sizeof base, run, sizeof run))
        return prof__fail(PROF_INVALID_ARGUMENT, "path too long: %.80s...", logdir);
    offsets = (int64_t *)calloc(count, sizeof *offsets);
    files = (prof__xplane_file *)calloc(count, sizeof *files);
    if (!offsets || !files) {
        status = prof__fail(PROF_NO_MEMORY, "no memory to write %lu traces", (unsigned long)count);
    } else {
        prof_trace_align(traces, count, offsets);
        if (!prof__xplane_hosts(files, traces, count, options))
            status = prof__fail(PROF_NO_MEMORY, "no memory to write %lu traces", (unsigned long)count);
        if (!status) status = prof__xplane_claim(files, count, base, run);
        if (!status) status = prof__xplane_files(files, traces, offsets, count, options);
        if (status) prof__xplane_unclaim(files, count);
        if (where) prof__text_copy(where, size, files[0].path);
    }
    free(offsets);
    free(files);
    return status;
}

PROF_DEF prof_status prof_xplane_merge(const prof_trace *const *traces, size_t count, const char *logdir,
                                       const prof_xplane_options *options)
{
    PROF__CALM();
    return prof__xplane_merge(traces, count, logdir, options, NULL, 0);
}

PROF_DEF prof_status prof_xplane_write(const prof_trace *trace, const char *logdir, const prof_xplane_options *options)
{
    PROF__CALM();
    return prof_xplane_merge(&trace, 1, logdir, options);
}

PROF_DEF prof_status prof_xplane_stream(const prof_trace *trace, prof_sink sink, const prof_xplane_options *options)
{
    PROF__CALM();
    prof__xplane *x;
    prof_status status;
    char host[280];
    if (!trace) return prof__fail(PROF_INVALID_ARGUMENT, "no trace to write");
    status = prof__xplane_check(options);
    if (status) return status;
    x = prof__xplane_new(options);
    if (!x) return PROF_NO_MEMORY;
    prof__xplane_host(host, sizeof host, trace, options);
    prof__out_sink(&x->out, sink);
    status = prof__xplane_trace(x, trace, 0, trace, 0, host);
    free(x);
    return status;
}

#endif /* PROF__XPLANE_FOLDER_H */
