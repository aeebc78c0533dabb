// session/minimal: PROF_MINIMAL: replaces the modules names, pattern, write, place, alone and save. An output is a
// plain path, and a new file replaces an older one.
#ifndef PROF__SESSION_MINIMAL_H
#define PROF__SESSION_MINIMAL_H
#include "api/control.h"
#include "api/writers.h"
#include "ground/instances.h"
#include "ground/digits.h"
#include "ground/errors.h"
#include "record/state.h"
#include "session/hooks.h"
#include "session/memory.h"
#include "session/process.h"

/*-- MINIMAL: NO NAMES OF OUTPUTS, NO SAVES -------------------------------------------------------------------------*/

static PROF__UNUSED char prof__start_note[1]; /* PROF_MINIMAL has no notes about the start */
static PROF__UNUSED int prof__output_apart;
#ifdef PROF__INSTANCES
static char prof__output_told[1]; /* other recorders of the process do not learn the output */
#endif

static prof_status prof__rank_find(const char *given, int *several)
{
    (void)given;
    *several = 0;
    return PROF_OK;
}
static void prof__host_name(char *name, size_t size)
{
    (void)size;
    name[0] = 0;
}

/* Makes path absolute, because the program may change its working directory. Returns 0 if the path is too long. */
static int prof__path_absolute(const char *path, char *to, size_t size)
{
    to[0] = 0;
#ifndef _WIN32
    if (path[0] != '/' && (!getcwd(to, size) || !prof__text_add(to, size, "/"))) to[0] = 0;
#endif
    return prof__text_add(to, size, path) || ((to[0] = 0), prof__text_add(to, size, path));
}

#define PROF__PID_ROOM 24 /* bytes for a process id such as ".1234" */

static prof_status prof__output_prepare(prof__session *s, const prof_config *config, int several)
{
    const char *output = config->output;
    size_t length = prof__length(output);
    (void)several;
    if (length < 5 || !prof__equal(output + length - 5, ".prof")) return prof__no_reader(prof__path_end(output));
    if (strchr(output, '%')) return prof__left_out("% in output", "PROF_MINIMAL");
    if (!prof__path_absolute(output, s->file.output, sizeof s->file.output - PROF__PID_ROOM))
        return prof__fail(PROF_INVALID_ARGUMENT, "path too long: %.80s...", output);
    prof__text_copy(s->file.pattern, sizeof s->file.pattern, s->file.output);
    s->file.live_path = s->file.output;
    return PROF_OK;
}

static prof_status prof__output_name(prof__session *s) { return (void)s, PROF_OK; }
static prof_status prof__output_again(const char *what)
{
    return prof__left_out(what, "PROF_MINIMAL");
}
static prof_status prof__output_write(prof__session *s) { return prof__no_reader(s->file.output); }
static void prof__path_unclaim(prof__session *s) { (void)s; }
static void prof__folder_drop(prof__session *s) { (void)s; }
static prof_status prof__in_folder(prof__session *s, prof_status (*work)(prof__session *s, prof_status status),
                                   prof_status status)
{
    return work(s, status);
}

#ifndef _WIN32
static int prof__name_take(prof__session *s) { return (void)s, 0; }
static void prof__name_drop(prof__session *s) { (void)s; }

/* Renames the complete image to its final path. Returns 0 or errno. Async-signal-safe. */
static int prof__name_publish(prof__session *s)
{
    int error = prof__file_name(s);
    if (!error && rename(s->file.part_path, s->file.live_path)) error = errno;
    if (!error) s->file.part_path[0] = 0;
    return error;
}

/* Sets the output of a child of fork(): "run.1234.prof" for the parent's "run.prof". Returns 0 or errno.
   Async-signal-safe. */
static int prof__child_path(prof__session *s)
{
    char number[24];
    size_t length = prof__length(s->file.pattern);
    if (!s->file.output[0]) return 0;
    prof__number_text(number, s->process);
    prof__text_copy(s->file.output, length - 3, s->file.pattern); /* up to and with the dot */
    prof__text_add(s->file.output, sizeof s->file.output, number);
    prof__text_add(s->file.output, sizeof s->file.output, ".prof");
    return 0;
}
#endif

PROF_DEF void prof_writer_register(prof_writer *writer) { (void)writer; } /* PROF_MINIMAL writes only images */
PROF_DEF void prof_writer_unregister(prof_writer *writer) { (void)writer; }
PROF_DEF prof_status prof_fail(prof_status status, const char *text) { return prof__fail(status, "%s", text); }

struct prof__session_status;
static void prof__session_status_take(struct prof__session_status *look) { (void)look; }
PROF_DEF prof_status prof_save(const char *path)
{
    (void)path;
    return prof__left_out("prof_save", "PROF_MINIMAL");
}

#endif /* PROF__SESSION_MINIMAL_H */
