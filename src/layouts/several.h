// layouts/several: prof_report_each(): reports of several processes.
#ifndef PROF__LAYOUTS_SEVERAL_H
#define PROF__LAYOUTS_SEVERAL_H
#include "api/options.h"
#include "api/read.h"
#include "api/types.h"
#include "api/values.h"
#include "api/writers.h"
#include "ground/digits.h"
#include "ground/errors.h"
#include "ground/numbers.h"
#include "ground/out.h"
#include "ground/text.h"
#include "layouts/api.h"
#include "layouts/state.h"
#include "layouts/write.h"

/*-- several processes --*/

/* Returns the process id that the report shows for trace `which`: its own, unless an earlier trace has that. */
static uint64_t prof__report_pid(const prof_trace *const *traces, size_t which)
{
    uint64_t pid = prof_trace_about(traces[which])->pid;
    size_t i;
    for (i = 0; i < which; i++)
        if (prof_trace_about(traces[i])->pid == pid) return 1000000000 + which;
    return pid;
}

/* Returns 1 if the path has %p, and 0 if not. Returns -1 if a percent sign is no part of %p, %n or %%. */
static int prof__report_pattern(const char *path)
{
    int found = 0;
    for (; *path; path++) {
        if (*path != '%') continue;
        path++;
        if (*path != 'p' && *path != 'n' && *path != '%') return -1;
        found |= *path == 'p';
    }
    return found;
}

/* Returns the path with %p, %n and %% replaced; the caller frees it. Returns NULL without memory. `program` may come
   from an untrusted file: its slashes become _, so that it names no folder. */
static char *prof__report_path(const char *path, const char *program, uint64_t pid)
{
    size_t room = strlen(path) + 1, at = 0;
    const char *c;
    char digits[24], *to;
    digits[prof__digits(digits, pid)] = 0;
    for (c = path; *c; c++)
        if (*c == '%' && *++c != '%') room += *c == 'p' ? strlen(digits) : strlen(program);
    to = (char *)malloc(room);
    for (c = path; to && *c; c++) {
        const char *piece = *c != '%' || *++c == '%' ? NULL : *c == 'p' ? digits : program;
        if (piece) {
            for (; *piece; piece++) to[at++] = strchr("/\\:", *piece) || (unsigned char)*piece < 32 ? '_' : *piece;
        } else {
            to[at++] = *c;
        }
    }
    if (to) to[at] = 0;
    return to;
}

static prof_status prof__report_files(const prof_trace *const *traces, size_t count, const char *path,
                                      const prof_report_options *options)
{
    prof_status status = PROF_OK;
    size_t i;
    for (i = 0; i < count && status == PROF_OK; i++) {
        uint64_t pid = prof__report_pid(traces, i);
        char *own = prof__report_path(path, prof_trace_about(traces[i])->program, pid);
        prof__out out;
        status = own ? prof__out_file(&out, own) : prof__report_no_memory();
        if (status == PROF_OK) status = prof__report_close(traces[i], pid, &out, options);
        free(own);
    }
    return status;
}

/* Writes "train, rank 3 of job 4711 on node0", as far as it is known, or "train, process 1234" without a rank. */
static void prof__report_process(const prof_trace *trace, uint64_t pid, prof__out *out)
{
    static const char *const keys[] = {"rank", "job", "host"}, *const before[] = {", rank ", " of job ", " on "};
    const prof_trace_info *info = prof_trace_about(trace);
    size_t i;
    prof__out_clean(out, *info->program ? info->program : "program");
    if (!*prof__trace_said(trace, "rank")) {
        PROF__REPORT_LITERAL(out, ", process ");
        prof__out_unsigned(out, pid);
        return;
    }
    for (i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *value = prof__trace_said(trace, keys[i]);
        if (!*value) continue;
        prof__out_text(out, before[i]);
        prof__out_clean(out, value);
    }
}

/* Writes the reports of several traces, and closes the output. */
static prof_status prof__report_together(const prof_trace *const *traces, size_t count, prof__out *out,
                                         const prof_report_options *options)
{
    int json = options && options->layout == PROF_REPORT_JSON;
    size_t i;
    if (json) PROF__REPORT_LITERAL(out, "{\"Processes\":[\n");
    for (i = 0; i < count; i++) {
        uint64_t pid = prof__report_pid(traces, i);
        if (json) {
            if (i) PROF__REPORT_LITERAL(out, ",\n");
        } else {
            prof__out_text(out, i ? "\n== " : "== ");
            prof__report_process(traces[i], pid, out);
            PROF__REPORT_LITERAL(out, " ==\n");
        }
        prof__report_one(traces[i], pid, out, options);
    }
    if (json) PROF__REPORT_LITERAL(out, "\n]}\n");
    return prof__out_close(out);
}

static prof_status prof__report_each_check(const prof_trace *const *traces, size_t count, int files,
                                           const prof_report_options *options)
{
    prof_status status = prof__report_check(options);
    size_t i;
    if (!traces && count) return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_each: traces is null");
    for (i = 0; i < count; i++)
        if (!traces[i])
            return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_each: trace %lu is null", (unsigned long)i);
    if (status == PROF_OK && !files && options && options->layout == PROF_REPORT_CNTK_DETAIL)
        status = prof__fail(PROF_INVALID_ARGUMENT,
                            "prof_report_each: the CSV has no column for processes: give a path with %%p");
    for (i = 0; i < count && status == PROF_OK; i++) status = prof__report_fits(traces[i], options);
    return status;
}

PROF_DEF prof_status prof_report_each(const prof_trace *const *traces, size_t count, const char *path,
                                      const prof_report_options *options)
{
    PROF__CALM();
    int files = path ? prof__report_pattern(path) : 0;
    prof_status status = prof__report_each_check(traces, count, files, options);
    char *own = NULL;
    prof__out out;
    if (status != PROF_OK) return status;
    if (files < 0)
        return prof__fail(PROF_INVALID_ARGUMENT, "%s: unknown %%: use %%p, %%n or %%%%", path);
    if (files) return prof__report_files(traces, count, path, options);
    if (path && !(own = prof__report_path(path, count ? prof_trace_about(traces[0])->program : "", 0)))
        return prof__report_no_memory();
    status = prof__out_file(&out, own);
    free(own);
    return status == PROF_OK ? prof__report_together(traces, count, &out, options) : status;
}

PROF_DEF prof_status prof_report_each_stream(const prof_trace *const *traces, size_t count, prof_sink sink,
                                             const prof_report_options *options)
{
    PROF__CALM();
    prof_status status = prof__report_each_check(traces, count, 0, options);
    prof__out out;
    if (status != PROF_OK) return status;
    prof__out_sink(&out, sink);
    return prof__report_together(traces, count, &out, options);
}

#endif /* PROF__LAYOUTS_SEVERAL_H */
