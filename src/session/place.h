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
    if (prof__is_folder(s->file.output)) prof__number_text(ending, prof__process_id());
    prof__text_add(ending, sizeof ending, ".prof");
    prof__path_ending(s->file.output, prof__length(s->file.output), ending, PROF__NAME_MOST, to, size);
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
    if (prof__is_folder(s->file.output) || !prof__file_is(s->file.output) || s->file.existing == PROF_EXISTING_REPLACE)
        return 0;
    if (s->file.number || s->file.existing == PROF_EXISTING_REFUSE || prof__output_ours(s->file.output)) return 1;
#ifndef _WIN32
    prof__about about;
    if (numbered) return prof__lstat(s->file.output, &about) || (uint64_t)about.st_mtime >= prof__outputs_since;
#endif
    return numbered;
}

/* Sets output to the first name that is free at present. A session in memory reserves the name only when it writes.
   Returns 0 or errno. */
static int prof__name_choose(prof__session *s)
{
    char first[sizeof s->file.output];
    prof__text_copy(first, sizeof first, s->file.output);
    for (uint64_t i = 2; prof__output_stays(s, i > 2); ++i) {
        s->file.number = 1;
        if (s->file.existing == PROF_EXISTING_REFUSE || i == 1000000) return EEXIST;
        if (!prof__path_numbered(first, i, s->file.output, sizeof s->file.output)) return ENAMETOOLONG;
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
    prof__start_note_set(s->file.live_path, words, "");
    s->file.number = 1; /* the other recorder may end at any time, and its output must not be replaced then either */
}

/* Renames the sidecar file that a killed program has left, to keep its recording. Returns 0 on failure. */
static int prof__name_keep(const prof__session *s)
{
    char old[sizeof s->stream.path];
    if (!prof__name_with(s->file.live_path, "old", old, sizeof old) || prof__file_rename(s->file.live_path, old))
        return 0;
    if (!s->file.number)
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
    return s->file.live_path != s->file.output ||
           (s->file.existing != PROF_EXISTING_REPLACE && prof__image_open_ended(there));
}

/* Creates the image's file. numbered: 1: its name has a number. Returns 0 or errno; EEXIST: the name is in use. */
static int prof__name_try(prof__session *s, int numbered)
{
    DWORD error = ERROR_SHARING_VIOLATION;
    if (prof__output_stays(s, numbered)) return EEXIST;
    /* Another process may create the file between the two calls. */
    for (int i = 0; i < 3 && error == ERROR_SHARING_VIOLATION; ++i) {
        HANDLE there =
            prof__windows_open(s->file.live_path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, OPEN_EXISTING);
        error = there == INVALID_HANDLE_VALUE ? GetLastError() : 0;
        int keeps = !error && prof__name_keeps(s, there);
        if (!error) CloseHandle(there);
        if (error == ERROR_SHARING_VIOLATION) {
            prof__name_note(s);
            return EEXIST;
        }
        if (!error && s->file.number) return EEXIST;
        if (!error && (!keeps || !prof__name_keep(s)))
            prof__file_remove(s->file.live_path); /* a process that has mapped the old file keeps it */
        error = prof__file_create(s, CREATE_ALWAYS);
    }
    return error ? prof__windows_errno(error) : 0;
}
#else
/* Closes the older file that was to be replaced, and forgets it. */
static void prof__name_drop(prof__session *s)
{
    if (s->file.old_file) close(s->file.old_file - 1);
    s->file.old_file = s->file.replaces = s->file.keeps = 0;
}

/* Decides whether the file at live_path may be replaced. Returns 0 if it may, EEXIST if not, EAGAIN if there is a
   different file by now. */
static int prof__name_replace(prof__session *s, int numbered)
{
    prof__about there, opened;
    int file;
    s->file.replaces = 1;
    s->file.keeps = s->file.live_path != s->file.output; /* existing=replace is about outputs, so a sidecar file is kept
                                                            */
    if (s->file.existing == PROF_EXISTING_REPLACE) return 0;
    if (s->file.number || s->file.existing == PROF_EXISTING_REFUSE) return EEXIST;
    file = open(s->file.live_path, O_RDWR | PROF__O_FILE | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0 && errno == EACCES) file = open(s->file.live_path, O_RDONLY | PROF__O_FILE | O_NOFOLLOW | O_NONBLOCK);
    if (file >= 0 && prof__file_lock(file)) {
        close(file);
        prof__name_note(s);
        return EEXIST;
    }
    if (file >= 0) s->file.old_file = file + 1;
    if (!s->file.keeps) s->file.keeps = file >= 0 && prof__image_open_ended(file);
    if (prof__lstat(s->file.live_path, &there)) return EAGAIN;
    if (file >= 0 && (prof__fstat(file, &opened) || opened.st_dev != there.st_dev || opened.st_ino != there.st_ino))
        return EAGAIN;
    return s->file.live_path == s->file.output && prof__output_stays(s, numbered) ? EEXIST : 0;
}

/* Reserves the name live_path and, for a sidecar file, the output's name as well. numbered: 1: the name has a number.
   Returns 0 or errno; EEXIST if a name is in use. */
static int prof__name_try(prof__session *s, int numbered)
{
    int error = EAGAIN;
    for (int i = 0; i < 100 && error == EAGAIN; ++i) {
        prof__name_drop(s);
        error = prof__file_link(s, s->file.live_path);
        s->file.taken = !error;
        if (error && error != EEXIST && !prof__file_is(s->file.live_path)) { /* a file system without hard links */
            error = prof__path_claim(s->file.live_path);
            s->file.taken = s->file.replaces = !error;
        } else if (error) { /* another file has the name */
            error = prof__name_replace(s, numbered);
        }
    }
    if (!error && s->file.live_path != s->file.output && prof__output_stays(s, numbered)) error = EEXIST;
    if (error && s->file.taken && s->file.unnamed) /* a file that has lost its only name cannot get a new one */
        s->file.unnamed = rename(s->file.live_path, s->file.part_path) != 0;
    else if (error && s->file.taken)
        unlink(s->file.live_path);
    if (error) prof__name_drop(s);
    if (error) s->file.taken = 0;
    return error;
}

/* Gives the image's file its final name. A sidecar file that a killed program has left is renamed, not replaced.
   Returns 0, or errno if nothing has changed. */
static int prof__name_publish(prof__session *s)
{
    int error = 0;
    if (s->file.replaces && !s->file.taken && s->file.keeps) prof__name_keep(s);
    if (s->file.replaces || !s->file.taken) {
        error = prof__file_name(s);
        if (!error && rename(s->file.part_path, s->file.live_path)) error = errno;
    } else if (!s->file.unnamed) {
        unlink(s->file.part_path);
    }
    if (error) return error;
    s->file.unnamed = 0;
    s->file.part_path[0] = 0;
    if (s->file.old_file) close(s->file.old_file - 1);
    s->file.old_file = 0;
    if (s->file.live_path == s->file.output) prof__output_remember(s->file.output);
    return 0;
}
#endif

/* Reserves the first of trace.json, trace.2.json, ... that is free or may be replaced, for the output and for the
   image's file. The file is complete by then, but on Windows it is created here. Returns 0 or errno.
   Async-signal-safe. */
static int prof__name_take(prof__session *s)
{
    char first[sizeof s->stream.path];
    int folder = prof__is_folder(s->file.output), error = prof__name_try(s, 0);
    prof__text_copy(first, sizeof first, folder ? s->stream.path : s->file.output);
    for (uint64_t i = 2; error == EEXIST && s->file.existing != PROF_EXISTING_REFUSE && i < 1000000; ++i) {
        if (!prof__path_numbered(first, i, folder ? s->stream.path : s->file.output, sizeof s->file.output))
            return ENAMETOOLONG;
        if (!folder && s->file.live_path != s->file.output)
            prof__output_sidecar(s, s->stream.path, sizeof s->stream.path);
        error = prof__name_try(s, 1);
        if (!error && prof__start_note[0]) prof__text_add(prof__start_note, sizeof prof__start_note, s->file.output);
    }
    return error;
}

/* Chooses and reserves the names of the session's files. */
static prof_status prof__output_name(prof__session *s)
{
    if (!s->file.output[0]) return PROF_OK;
    if (!prof__outputs_since) prof__outputs_since = (uint64_t)time(NULL);
    prof__folder_hold(s);
    int error = s->file.live_path ? prof__name_take(s) : prof__name_choose(s);
    if (error && error != EEXIST && s->file.sidecar && s->file.live_path) {
        prof__file_forget(s, error);
        error = prof__name_choose(s);
    }
    if (!error) return PROF_OK;
    if (error == EEXIST) return prof__fail(PROF_IO, "%s: exists already (existing=refuse)", s->file.output);
#ifdef _WIN32
    if (error == EACCES && prof__file_is(s->file.output))
        return prof__fail(PROF_IO, "%s: cannot be replaced: another program, or a trace of this one, has it open",
                          s->file.output);
#endif
    return prof__fail(PROF_IO, "%s: %s", s->file.output, strerror(error));
}

static prof_status prof__output_writer(const prof__session *s, const prof_writer **writer)
{
    return s->file.layout[0] ? prof__layout_find(s->file.layout, s->file.output, writer)
                             : prof__writer_find(s->file.output, writer);
}

/* Returns 1 if the output that prof_stop() wrote still exists. Always returns 1 for a directory, and for PROF_STREAM,
   whose file was the only copy: those outputs cannot be written again. */
static int prof__output_stands(const prof__session *s)
{
    FILE *file;
    if (prof__is_folder(s->file.output) || s->header->mode == PROF_STREAM) return 1;
    file = prof__file_open(s->file.output, "rb");
    if (file) fclose(file);
    return file != NULL;
}

static prof_status prof__output_write_here(prof__session *s, prof_status status)
{
    const prof_writer *writer = NULL;
    if (!status) status = prof__output_writer(s, &writer);
    if (!status && !s->file.live_path && !s->file.claimed &&
        (s->file.number || s->file.existing == PROF_EXISTING_REFUSE)) {
        int error = s->file.number ? prof__path_number(s->file.output, sizeof s->file.output)
                                   : prof__path_claim(s->file.output);
        if (error) status = prof__fail(PROF_IO, "%s: %s", s->file.output, strerror(error));
        s->file.claimed = !error;
    }
    if (!status) status = prof__reader()->write_live(s->file.output, writer);
    if (!status) prof__output_remember(s->file.output);
    return status;
}

/* Writes the output from what is recorded. If the session is in memory, reserves the output's name first. */
static prof_status prof__output_write(prof__session *s)
{
    if (s->file.error)
        return prof__fail(PROF_IO, "%s: %s: what was recorded is in memory only: prof_save() ca write it elsewhere",
                          prof__path_end(s->file.output), strerror(s->file.error));
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
    } else if (!s->file.output[0]) {
        status = prof__fail(PROF_INVALID_STATE, "%s: the session has no output: set config.output, or call prof_save()",
                            what);
    /* Otherwise the output is the image itself. */
    } else if (s->file.live_path != s->file.output && (prof__state.running || !prof__output_stands(s))) {
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
