// ntff/kineto_file: Writes trace.json into the folder of a session, or appends to the file of another program.
#ifndef PROF__NTFF_KINETO_FILE_H
#define PROF__NTFF_KINETO_FILE_H
#include "api/values.h"
#include "ground/errors.h"
#include "ground/numbers.h"
#include "ground/out.h"
#include "ground/windows.h"
#include "session/save.h"
#include "read/byteswap.h"
#include "ntff/api.h"
#include "ntff/json.h"
#include "ntff/kineto.h"

/*-- beside other files --*/

/* Returns 1 for a file, 2 for a folder, and 0 for anything else or nothing. Follows links. */
static int prof__path_kind(const char *path, uint64_t *size, uint64_t *changed_ns)
{
#ifdef _WIN32
    struct _stat64 about; /* sizes of struct stat have 32 bits only */
    if (_stat64(path, &about)) return 0;
#else
    prof__about about;
    if (prof__stat(path, &about)) return 0;
#endif
    *size = (uint64_t)about.st_size;
    *changed_ns = (uint64_t)about.st_mtime * 1000000000u;
    unsigned kind = (unsigned)about.st_mode & 0170000u; /* S_IFMT, S_IFREG and S_IFDIR, which some headers lack */
    return kind == 0100000u ? 1 : kind == 0040000u ? 2 : 0;
}

enum { PROF__KINETO_NONE, PROF__KINETO_PROFS, PROF__KINETO_OTHERS };

/* Returns who has written a file: prof, another program, or nobody. prof's own files say so near their end. Follows
   links. Standard output, pipes and devices have no writer. Neither has an empty file behind a link, because
   /dev/stdout may be such a link. */
static int prof__kineto_whose(const char *path)
{
    char tail[513];
    uint64_t size = 0, changed;
    size_t got = 0;
    FILE *file;
    if (!strcmp(path, "-")) return PROF__KINETO_NONE;
    if (!prof__file_replaceable(path) && (prof__path_kind(path, &size, &changed) != 1 || !size))
        return PROF__KINETO_NONE;
    file = prof__file_open(path, "rb");
    if (!file) return errno == ENOENT ? PROF__KINETO_NONE : PROF__KINETO_OTHERS;
    if (prof__read_size(file, &size)) {
        got = size < sizeof tail - 1 ? (size_t)size : sizeof tail - 1;
        if (!prof__read_at(file, size - got, tail, got)) got = 0;
    }
    tail[got] = 0;
    fclose(file);
    return strstr(tail, PROF__KINETO_OURS) ? PROF__KINETO_PROFS : PROF__KINETO_OTHERS;
}

/* Where the events of another program's file end, and the base time of that file. */
typedef struct prof__kineto_other {
    uint64_t end;  /* offset of the end of the last event; without events, of the opening bracket's end */
    int64_t base;
    int events;
} prof__kineto_other;

static int prof__kineto_scan(prof__json *j, prof__kineto_other *other, prof__json_value *value)
{
    int first = 1, inner, found = 0;
    char key[32];
    if (!prof__json_expect(j, '{', "is not a JSON object")) return 0;
    while (prof__json_more(j, '}', &first)) {
        if (!prof__json_key(j, key, sizeof key)) return 0;
        if (!strcmp(key, "baseTimeNanoseconds")) {
            if (!prof__json_take(j, value)) return 0;
            if (!prof__json_signed(value, &other->base) || other->base < 0)
                return prof__json_fail(j, "has an invalid baseTimeNanoseconds");
        } else if (!strcmp(key, "traceEvents") && prof__json_peek(j) == '[') {
            if (found) return prof__json_fail(j, "has two traceEvents");
            found = inner = 1;
            j->at++;
            other->end = prof__json_offset(j);
            while (prof__json_more(j, ']', &inner)) {
                if (!prof__json_pass(j)) return 0;
                other->end = prof__json_offset(j);
                other->events = 1;
            }
        } else if (!prof__json_pass(j)) {
            return 0;
        }
    }
    if (j->error) return 0;
    return found || prof__json_fail(j, "has no traceEvents");
}

static void prof__kineto_copy(prof__kineto *k, FILE *from, uint64_t at, uint64_t end)
{
    char part[4096];
    while (at < end && k->out.status == PROF_OK) {
        size_t size = end - at < sizeof part ? (size_t)(end - at) : sizeof part;
        if (!prof__read_at(from, at, part, size)) {
            k->out.status = prof__fail(PROF_IO, "cannot read %s: it became shorter", k->out.path);
            return;
        }
        prof__out_bytes(&k->out, part, size);
        at += size;
    }
}

/* Writes another program's file anew with our events after that program's own. Every byte of the file is kept. */
static prof_status prof__kineto_append(prof__kineto *k, const char *path)
{
    prof__kineto_other other;
    prof__json_value *value = (prof__json_value *)malloc(sizeof *value);
    prof__json j;
    uint64_t size = 0;
    int opened = 0;
    prof_status status = !prof__file_replaceable(path)
                             ? prof__fail(PROF_INVALID_ARGUMENT, "%s is a link: append to the file itself", path)
                         : value ? prof__json_open(&j, path)
                                 : prof__fail(PROF_NO_MEMORY, "%s: no memory to read it", path);
    if (status == PROF_OK) {
        memset(&other, 0, sizeof other);
        if (!prof__kineto_scan(&j, &other, value))
            status = prof__json_say(&j, path, ": nothing was appended");
        if (status == PROF_OK && !prof__read_size(j.file, &size)) status = prof__fail(PROF_IO, "cannot read %s", path);
        if (status == PROF_OK) status = prof__out_file(&k->out, path);
        opened = status == PROF_OK;
        if (opened) {
            k->base = other.base;
            k->lines = other.events;
            k->next = PROF__KINETO_ID; /* the other program's ids count from 1, and link its kernels */
            prof__kineto_copy(k, j.file, 0, other.end);
            prof__kineto_events(k);
            prof__kineto_copy(k, j.file, other.end, size);
        }
        prof__json_close(&j); /* before the file is replaced: Windows does not replace open files */
        if (opened) status = prof__out_close(&k->out);
    }
    free(value);
    return status;
}

/* Gives a complete file its final name. Fails if another program has created a file of that name meanwhile. */
static prof_status prof__kineto_publish(const char *part, const char *path, int replace)
{
    int failed;
#ifdef _WIN32
    failed = replace ? prof__file_rename(part, path) : rename(part, path); /* rename() of Windows replaces nothing */
#else
    failed = replace ? rename(part, path) : link(part, path);
    /* the file system may have no hard links */
    if (failed && !replace && errno != EEXIST && access(path, F_OK)) failed = rename(part, path);
#endif
    if (failed) {
        prof_status status = errno == EEXIST
                                 ? prof__fail(PROF_INVALID_STATE,
                                              "%s: another program has just changed it: nothing was appended", path)
                                 : prof__fail(PROF_IO, "cannot write %s: %s", path, strerror(errno));
        remove(part);
        return status;
    }
    if (!replace) remove(part);
    return PROF_OK;
}

static prof_status prof__kineto_new(prof__kineto *k, const char *path, int replace)
{
    char *part;
    prof_status status;
    if (!strcmp(path, "-") || !prof__file_replaceable(path)) { /* standard output, a pipe or a device */
        status = prof__out_file(&k->out, path);
        if (status != PROF_OK) return status;
        prof__kineto_document(k);
        return prof__out_close(&k->out);
    }
    part = prof__out_part(path);
    if (!part) return prof__fail(PROF_NO_MEMORY, "%s: no memory to write it", path);
    status = prof__out_file(&k->out, part);
    if (status == PROF_OK) {
        prof__kineto_document(k);
        status = prof__out_close(&k->out);
        if (status == PROF_OK) status = prof__kineto_publish(part, path, replace);
    }
    free(part);
    return status;
}

PROF_DEF prof_status prof_ntff_trace_json(const prof_trace *trace, const char *path,
                                          const prof_ntff_trace_options *options)
{
    PROF__CALM();
    prof__kineto *k;
    prof_status status;
    int whose;
    if (!path) return prof__fail(PROF_INVALID_ARGUMENT, "prof_ntff_trace_json: path is null");
    k = prof__kineto_make(trace, options);
    if (!k) return trace ? PROF_NO_MEMORY : PROF_INVALID_ARGUMENT;
    whose = prof__kineto_whose(path);
    if (whose != PROF__KINETO_OTHERS)
        status = prof__kineto_new(k, path, whose == PROF__KINETO_PROFS);
    else if (k->options.append)
        status = prof__kineto_append(k, path);
    else
        status = prof__fail(PROF_INVALID_STATE,
                            "%s was not written by prof, but perhaps by PyTorch: append to it, or write another file",
                            path);
    free(k);
    return status;
}

#endif /* PROF__NTFF_KINETO_FILE_H */
