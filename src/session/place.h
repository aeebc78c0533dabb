// session/place: Chooses the name of an output, depending on the file that has it already and who wrote that.
#ifndef PROF__SESSION_PLACE_H
#define PROF__SESSION_PLACE_H
#include "api/writers.h"
#include "ground/instances.h"
#include "ground/digits.h"
#include "ground/errors.h"
#include "ground/out.h"
#include "ground/threads.h"
#include "ground/windows.h"
#include "image/format.h"
#include "record/locks.h"
#include "record/state.h"
#include "session/hooks.h"
#include "session/memory.h"
#include "session/names.h"
#include "session/pattern.h"
#include "session/process.h"
#include "session/root.h"
#include "session/write.h"

/* Expands a pattern to an absolute path, or to a relative one if the absolute path is too long. */
static prof_status prof__expand_absolute(const char *pattern, const char *started, char *to, size_t size)
{
    char absolute[1024];
    int fits = !prof__is_home(pattern) && prof__pattern_absolute(pattern, absolute, sizeof absolute);
    return fits && !prof__expand_started(absolute, started, 0, to, size)
               ? PROF_OK : prof__expand_started(pattern, started, 0, to, size);
}

/* Writes the path of an output's sidecar file: "trace.json.prof" for a file, "logs/1234.prof" for the directory
   logs/. */
static void prof__output_sidecar(const prof__session *s, char *to, size_t size)
{
    char ending[32] = "";
    if (prof__is_folder(s->output)) prof__number_text(ending, prof__process_id());
    prof__text_add(ending, sizeof ending, ".prof");
    prof__path_ending(s->output, prof__length(s->output), ending, PROF__NAME_MOST, to, size);
}

static int prof__file_is(const char *path) /* Returns 1 if something has this name */
{
#ifdef _WIN32
    return prof__windows_about(path) != INVALID_FILE_ATTRIBUTES;
#else
    prof__about about;
    return !prof__lstat(path, &about);
#endif
}

/* Returns 1 if the output's file must not be replaced: because config.existing says so, or because this process has
   written it. numbered: 1: the name has a number; then a file that any process has written since this process's first
   session must not be replaced either. */
static int prof__output_stays(const prof__session *s, int numbered)
{
    if (prof__is_folder(s->output) || !prof__file_is(s->output) || s->existing == PROF_EXISTING_REPLACE) return 0;
    if (s->number || s->existing == PROF_EXISTING_REFUSE || prof__output_ours(s->output)) return 1;
#ifndef _WIN32
    prof__about about;
    if (numbered) return prof__lstat(s->output, &about) || (uint64_t)about.st_mtime >= prof__outputs_since;
#endif
    return numbered;
}

/* Sets output to the first name that is free at present. A session in memory reserves the name only when it writes.
   Returns 0 or errno. */
static int prof__name_choose(prof__session *s)
{
    char first[sizeof s->output];
    prof__text_copy(first, sizeof first, s->output);
    for (uint64_t i = 2; prof__output_stays(s, i > 2); ++i) {
        s->number = 1;
        if (s->existing == PROF_EXISTING_REFUSE || i == 1000000) return EEXIST;
        if (!prof__path_numbered(first, i, s->output, sizeof s->output)) return ENAMETOOLONG;
    }
    return 0;
}

/* Notes for the user that another recorder, of this process or of another one, is using the file of this session's
   name. */
static void prof__name_note(prof__session *s)
{
#ifdef _WIN32
    const char *words = " is recorded by another process, or a library of this one: this one writes ";
#else
    const char *words = " is recorded by another process: this one writes ";
#endif
    prof__start_note_set(s->live_path, words, "");
    s->number = 1; /* the other recorder may end at any time, and its output must not be replaced then either */
}

/* Renames the sidecar file that a killed program has left, to keep its recording. Returns 0 on failure. */
static int prof__name_keep(const prof__session *s)
{
    char old[sizeof s->stream.path];
    if (!prof__name_with(s->live_path, "old", old, sizeof old) || prof__file_rename(s->live_path, old)) return 0;
    if (!s->number)
        prof__start_note_set(old, " holds the recording of an earlier program that did not end it", "");
    return 1;
}

/* Returns 1 if the file is an image whose session did not end, for example because its process was killed. */
#ifdef _WIN32
static int prof__image_open_ended(HANDLE file)
{
    prof__header header;
    DWORD got = 0;
    int whole = ReadFile(file, &header, sizeof header, &got, NULL) && got == sizeof header;
#else
static int prof__image_open_ended(int file)
{
    prof__header header;
    int whole = pread(file, &header, sizeof header, 0) == (ssize_t)sizeof header;
#endif
    return whole && !memcmp(header.magic, PROF__MAGIC, 8) && header.state == PROF__RUNNING;
}

#ifdef _WIN32
/* Returns 1 if the present file of the image's name is kept under another name. existing=replace is about outputs, so
   it does not apply to a sidecar file. */
static int prof__name_keeps(const prof__session *s, HANDLE there)
{
    return s->live_path != s->output || (s->existing != PROF_EXISTING_REPLACE && prof__image_open_ended(there));
}

/* Creates the image's file. numbered: 1: its name has a number. Returns 0 or errno; EEXIST: the name is in use. */
static int prof__name_try(prof__session *s, int numbered)
{
    DWORD error = ERROR_SHARING_VIOLATION;
    if (prof__output_stays(s, numbered)) return EEXIST;
    /* Another process may create the file between the two calls. */
    for (int i = 0; i < 3 && error == ERROR_SHARING_VIOLATION; ++i) {
        HANDLE there =
            prof__windows_open(s->live_path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, OPEN_EXISTING);
        error = there == INVALID_HANDLE_VALUE ? GetLastError() : 0;
        int keeps = !error && prof__name_keeps(s, there);
        if (!error) CloseHandle(there);
        if (error == ERROR_SHARING_VIOLATION) {
            prof__name_note(s);
            return EEXIST;
        }
        if (!error && s->number) return EEXIST;
        if (!error && (!keeps || !prof__name_keep(s)))
            prof__file_remove(s->live_path); /* a process that has mapped the old file keeps it */
        error = prof__file_create(s, CREATE_ALWAYS);
    }
    return error ? prof__windows_errno(error) : 0;
}
#else
/* Closes the older file that was to be replaced, and forgets it. */
static void prof__name_drop(prof__session *s)
{
    if (s->old_file) close(s->old_file - 1);
    s->old_file = s->replaces = s->keeps = 0;
}

/* Decides whether the file at live_path may be replaced. Returns 0 if it may, EEXIST if not, EAGAIN if there is a
   different file by now. */
static int prof__name_replace(prof__session *s, int numbered)
{
    prof__about there, opened;
    int file;
    s->replaces = 1;
    s->keeps = s->live_path != s->output; /* existing=replace is about outputs, so a sidecar file is kept */
    if (s->existing == PROF_EXISTING_REPLACE) return 0;
    if (s->number || s->existing == PROF_EXISTING_REFUSE) return EEXIST;
    file = open(s->live_path, O_RDWR | PROF__O_FILE | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0 && errno == EACCES) file = open(s->live_path, O_RDONLY | PROF__O_FILE | O_NOFOLLOW | O_NONBLOCK);
    if (file >= 0 && prof__file_lock(file)) {
        close(file);
        prof__name_note(s);
        return EEXIST;
    }
    if (file >= 0) s->old_file = file + 1;
    if (!s->keeps) s->keeps = file >= 0 && prof__image_open_ended(file);
    if (prof__lstat(s->live_path, &there)) return EAGAIN;
    if (file >= 0 && (prof__fstat(file, &opened) || opened.st_dev != there.st_dev || opened.st_ino != there.st_ino))
        return EAGAIN;
    return s->live_path == s->output && prof__output_stays(s, numbered) ? EEXIST : 0;
}

/* Reserves the name live_path and, for a sidecar file, the output's name as well. numbered: 1: the name has a number.
   Returns 0 or errno; EEXIST if a name is in use. */
static int prof__name_try(prof__session *s, int numbered)
{
    int error = EAGAIN;
    for (int i = 0; i < 100 && error == EAGAIN; ++i) {
        prof__name_drop(s);
        error = prof__file_link(s, s->live_path);
        s->taken = !error;
        if (error && error != EEXIST && !prof__file_is(s->live_path)) { /* a file system without hard links */
            error = prof__path_claim(s->live_path);
            s->taken = s->replaces = !error;
        } else if (error) { /* another file has the name */
            error = prof__name_replace(s, numbered);
        }
    }
    if (!error && s->live_path != s->output && prof__output_stays(s, numbered)) error = EEXIST;
    if (error && s->taken && s->unnamed) /* a file that has lost its only name cannot get a new one */
        s->unnamed = rename(s->live_path, s->part_path) != 0;
    else if (error && s->taken)
        unlink(s->live_path);
    if (error) prof__name_drop(s);
    if (error) s->taken = 0;
    return error;
}

/* Gives the image's file its final name. A sidecar file that a killed program has left is renamed, not replaced.
   Returns 0, or errno if nothing has changed. */
static int prof__name_publish(prof__session *s)
{
    int error = 0;
    if (s->replaces && !s->taken && s->keeps) prof__name_keep(s);
    if (s->replaces || !s->taken) {
        error = prof__file_name(s);
        if (!error && rename(s->part_path, s->live_path)) error = errno;
    } else if (!s->unnamed) {
        unlink(s->part_path);
    }
    if (error) return error;
    s->unnamed = 0;
    s->part_path[0] = 0;
    if (s->old_file) close(s->old_file - 1);
    s->old_file = 0;
    if (s->live_path == s->output) prof__output_remember(s->output);
    return 0;
}
#endif

/* Reserves the first of trace.json, trace.2.json, ... that is free or may be replaced, for the output and for the
   image's file. The file is complete by then, but on Windows it is created here. Returns 0 or errno.
   Async-signal-safe. */
static int prof__name_take(prof__session *s)
{
    char first[sizeof s->stream.path];
    int folder = prof__is_folder(s->output), error = prof__name_try(s, 0);
    prof__text_copy(first, sizeof first, folder ? s->stream.path : s->output);
    for (uint64_t i = 2; error == EEXIST && s->existing != PROF_EXISTING_REFUSE && i < 1000000; ++i) {
        if (!prof__path_numbered(first, i, folder ? s->stream.path : s->output, sizeof s->output)) return ENAMETOOLONG;
        if (!folder && s->live_path != s->output) prof__output_sidecar(s, s->stream.path, sizeof s->stream.path);
        error = prof__name_try(s, 1);
        if (!error && prof__start_note[0]) prof__text_add(prof__start_note, sizeof prof__start_note, s->output);
    }
    return error;
}

/* Chooses and reserves the names of the session's files. */
static prof_status prof__output_name(prof__session *s)
{
    if (!s->output[0]) return PROF_OK;
    if (!prof__outputs_since) prof__outputs_since = (uint64_t)time(NULL);
    prof__folder_hold(s);
    int error = s->live_path ? prof__name_take(s) : prof__name_choose(s);
    if (error && error != EEXIST && s->sidecar && s->live_path) {
        prof__file_forget(s, error);
        error = prof__name_choose(s);
    }
    if (!error) return PROF_OK;
    if (error == EEXIST) return prof__fail(PROF_IO, "%s: exists already (existing=refuse)", s->output);
#ifdef _WIN32
    if (error == EACCES && prof__file_is(s->output))
        return prof__fail(PROF_IO, "%s: cannot be replaced: another program, or a trace of this one, has it open",
                          s->output);
#endif
    return prof__fail(PROF_IO, "%s: %s", s->output, strerror(error));
}

static prof_status prof__output_writer(const prof__session *s, const prof_writer **writer)
{
    return s->layout[0] ? prof__layout_find(s->layout, s->output, writer) : prof__writer_find(s->output, writer);
}

/* Returns 1 if the output that prof_stop() wrote still exists. Always returns 1 for a directory, and for PROF_STREAM,
   whose file was the only copy: those outputs cannot be written again. */
static int prof__output_stands(const prof__session *s)
{
    FILE *file;
    if (prof__is_folder(s->output) || s->header->mode == PROF_STREAM) return 1;
    file = prof__file_open(s->output, "rb");
    if (file) fclose(file);
    return file != NULL;
}

static prof_status prof__output_write_here(prof__session *s, prof_status status)
{
    const prof_writer *writer = NULL;
    if (!status) status = prof__output_writer(s, &writer);
    if (!status && !s->live_path && !s->claimed && (s->number || s->existing == PROF_EXISTING_REFUSE)) {
        int error = s->number ? prof__path_number(s->output, sizeof s->output) : prof__path_claim(s->output);
        if (error) status = prof__fail(PROF_IO, "%s: %s", s->output, strerror(error));
        s->claimed = !error;
    }
    if (!status) status = prof__reader()->write_live(s->output, writer);
    if (!status) prof__output_remember(s->output);
    return status;
}

/* Writes the output from what is recorded. If the session is in memory, reserves the output's name first. */
static prof_status prof__output_write(prof__session *s)
{
    if (s->file_error)
        return prof__fail(PROF_IO, "%s: %s: what was recorded is in memory only: prof_save() ca write it elsewhere",
                          prof__path_end(s->output), strerror(s->file_error));
    return prof__in_folder(s, prof__output_write_here, PROF_OK);
}

/* Writes the output again if the session still runs or if the output was removed. what: the calling function's name,
   for errors. */
static prof_status prof__output_again(const char *what)
{
    PROF__FORWARD(prof__output_again, (what));
    prof_status status = PROF_OK;
    prof__control_lock();
    prof__session *s = prof__on_demand ? NULL : prof__state.session;
    if (!s) {
        status = prof__fail(PROF_INVALID_STATE, "%s: nothing was recorded", what);
    } else if (!s->output[0]) {
        status = prof__fail(PROF_INVALID_STATE, "%s: the session has no output: set config.output, or call prof_save()",
                            what);
    /* Otherwise the output is the image itself. */
    } else if (s->live_path != s->output && (prof__state.running || !prof__output_stands(s))) {
        status = prof__output_write(s);
    }
    prof__control_unlock();
    return status;
}

/* Returns 1 if the output is, or will be, a file or a directory, and not a device or a pipe. */
static int prof__output_is_file(const char *path)
{
#ifdef _WIN32
    (void)path;
    return 1;
#else
    prof__about about;
    return prof__stat(path, &about) || S_ISREG(about.st_mode) || S_ISDIR(about.st_mode);
#endif
}

#endif /* PROF__SESSION_PLACE_H */
