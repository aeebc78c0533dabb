// layouts/cntk_files: prof_report_cntk(): both files of CNTK.
#ifndef PROF__LAYOUTS_CNTK_FILES_H
#define PROF__LAYOUTS_CNTK_FILES_H
#include "api/options.h"
#include "api/read.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/base.h"
#include "ground/errors.h"
#include "ground/numbers.h"
#include "ground/out.h"
#include "session/names.h"
#include "layouts/api.h"
#include "layouts/parts.h"
#include "layouts/write.h"

/*-- the two files of CNTK --*/

/* Makes the end of the files' names: the suffix with %r, %p and %% replaced. */
static prof_status prof__report_suffix(const prof_trace *trace, const char *suffix, char *to, size_t size)
{
    const char *rank = prof__trace_said(trace, "rank");
    char pid[24];
    snprintf(pid, sizeof pid, "%llu", (unsigned long long)prof_trace_about(trace)->pid);
    if (!suffix || !*suffix) suffix = *rank ? "%r" : "%p";
    for (*to = 0; *suffix; suffix++) {
        char piece[2] = {*suffix, 0};
        const char *text = piece;
        if (*suffix == '%') {
            suffix++;
            if (!*suffix || !strchr("rp%", *suffix))
                return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_cntk: suffix: use %%r, %%p or %%%%");
            text = *suffix == 'r' ? (*rank ? rank : "0") : *suffix == 'p' ? pid : "%";
        }
        if (!prof__text_add(to, size, text))
            return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_cntk: folder and suffix are too long");
    }
    if (to[strcspn(to, "/\\")])
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_cntk: a suffix must not contain a slash: %s", to);
    return PROF_OK;
}

/* Reserves the name of a file of this kind, and writes it to `to`. */
static prof_status prof__report_cntk_path(const prof_trace *trace, const char *folder, const char *suffix,
                                          const char *kind, const char *extension, char *to, size_t size)
{
    char time[32];
    unsigned long long pid = (unsigned long long)prof_trace_about(trace)->pid;
    unsigned i;
    const char *slash = *folder && prof__is_slash(folder[strlen(folder) - 1]) ? "" : "/";
    prof__report_time(trace, "%Y-%m-%d_%H-%M-%S", time, sizeof time);
    for (i = 0; i < 100000; i++) {
        char unique[64] = "";
        int length, error;
        if (i == 1) snprintf(unique, sizeof unique, "_%llu", pid);
        if (i > 1) snprintf(unique, sizeof unique, "_%llu_%u", pid, i);
        length = snprintf(to, size, "%s%s%s_%s_%s%s%s", folder, slash, time, kind, suffix, unique, extension);
        if (length < 0 || (size_t)length >= size)
            return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_cntk: folder and suffix are too long");
        error = prof__path_claim(to);
        if (!error) return PROF_OK;
        if (error != EEXIST) return prof__fail(PROF_IO, "cannot create %s: %s", to, strerror(error));
    }
    return prof__fail(PROF_IO, "cannot create %s: too many files of that name", to);
}

static prof_status prof__report_cntk_file(const prof_trace *trace, const char *folder, const char *suffix,
                                          const prof_report_options *options, const char *kind, const char *extension)
{
    char path[1024];
    prof_status status = prof__report_cntk_path(trace, folder, suffix, kind, extension, path, sizeof path);
    if (status != PROF_OK) return status;
    status = prof_report_write(trace, path, options);
    if (status != PROF_OK) remove(path);
    return status;
}

static prof_status prof__report_cntk_files(const prof_trace *trace, const char *folder, const char *suffix,
                                           prof_report_options how, int detail)
{
    char own[300];
    prof_status status = prof__report_suffix(trace, suffix, own, sizeof own);
    if (status == PROF_OK) status = prof__folder_make(folder);
    if (status != PROF_OK) return status;
    how.layout = PROF_REPORT_CNTK;
    status = prof__report_cntk_file(trace, folder, own, &how, "summary", ".txt");
    how.layout = PROF_REPORT_CNTK_DETAIL;
    if (status == PROF_OK && detail) status = prof__report_cntk_file(trace, folder, own, &how, "detail", ".csv");
    return status;
}

PROF_DEF prof_status prof_report_cntk(const prof_trace *trace, const char *folder, const char *suffix,
                                      const prof_report_options *options)
{
    PROF__CALM();
    prof_report_options how;
    prof_status status = prof__report_check(options);
    memset(&how, 0, sizeof how);
    if (options) how = *options;
    if (!trace) return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_cntk: trace is null");
    how.layout = PROF_REPORT_CNTK_DETAIL;
    if (status == PROF_OK) status = prof__report_fits(trace, &how);
    return status == PROF_OK ? prof__report_cntk_files(trace, folder && *folder ? folder : ".", suffix, how, 1)
                             : status;
}

#endif /* PROF__LAYOUTS_CNTK_FILES_H */
