// session/prepare_output: Prepares a session's output before the session starts: several recorders in one process,
// ranks of a parallel job, children of fork(). Registers writers of output formats.
#ifndef PROF__SESSION_PREPARE_OUTPUT_H
#define PROF__SESSION_PREPARE_OUTPUT_H
#include "api/writers.h"
#include "ground/instances.h"
#include "ground/digits.h"
#include "ground/errors.h"
#include "ground/lock.h"
#include "ground/out.h"
#include "record/state.h"
#include "session/job.h"
#include "session/names.h"
#include "session/pattern.h"
#include "session/place.h"
#include "session/process.h"
#include "session/root.h"
#include "session/write.h"

/* A process may have several recorders that do not know each other, for example in two libraries. PROF_OUTPUT names the
   same file to all of them. The first recorder writes that file. Each later one inserts the name of its own library
   before the extension and writes that file instead. */
static PROF__UNUSED int prof__output_apart; /* 1: this recorder inserted its library's name into its output */
#ifdef PROF__INSTANCES
/* The output as an absolute path; other recorders in this process compare theirs with it. */
static char prof__output_told[1024];

typedef struct prof__output_search {
    const char *path;
    int taken;
    char module[64]; /* file name of the library that contains this recorder */
} prof__output_search;

static int prof__output_visit(const prof__loaded *loaded, size_t size, void *user)
{
    prof__output_search *search = (prof__output_search *)user;
    const prof__instance *instance = prof__instance_of(loaded);
    (void)size;
    if (instance == &prof__this_instance && loaded->name && *loaded->name) {
        const char *slash = strrchr(loaded->name, '/');
        prof__text_copy(search->module, sizeof search->module, slash ? slash + 1 : loaded->name);
    } else if (instance && instance != &prof__this_instance) {
        search->taken |= prof__equal(instance->output, search->path);
    }
    return 0;
}

/* Makes path absolute, because other recorders store their outputs as absolute paths. Cuts a path that does not fit. */
static void prof__output_absolute(const char *path, char *to, size_t size)
{
    to[0] = 0;
    if (path[0] != '/' && getcwd(to, size - 1)) prof__text_add(to, size, "/");
    prof__text_add(to, size, path);
}

/* Chooses an output that no other recorder in this process writes. Returns the pattern to use, and sets s->output to
   its expansion. tagged: a buffer that receives the pattern if it had to be changed. */
static const char *prof__output_own(prof__session *s, const char *pattern, char *tagged, size_t size)
{
    char path[sizeof prof__output_told], text[96];
    prof__output_search search;
    prof__about about;
    prof__output_apart = 0;
    if (prof__is_folder(s->file.output) || (!prof__stat(s->file.output, &about) && !S_ISREG(about.st_mode)))
        return pattern;
    prof__program_name(search.module, sizeof search.module);
    search.path = path;
    for (int i = 1; i < 1000; ++i) {
        prof__output_absolute(s->file.output, path, sizeof path);
        search.taken = 0;
        prof__loaded_each(prof__output_visit, &search);
        if (!search.taken) break;
        search.module[strcspn(search.module, ".%")] = 0;
        snprintf(text, sizeof text, i > 1 ? "%s.%d" : "%s", search.module, i);
        if (!prof__path_with(pattern, text, tagged, size) ||
            prof__expand_absolute(tagged, s->file.started, s->file.output, sizeof s->file.output))
            return pattern;
        prof__output_apart = 1;
    }
    prof__text_copy(prof__output_told, sizeof prof__output_told, path);
    return prof__output_apart ? tagged : pattern;
}
#else
static const char *prof__output_own(prof__session *s, const char *pattern, char *tagged, size_t size)
{
    (void)s, (void)tagged, (void)size;
    return pattern;
}
#endif

/* Works out a session's output from its configuration: the path, the writer, and whether a sidecar file records until
   the output is written. several: 1: other processes of the job may write files of the same name. Returns an error if
   the output cannot be written later. */
static prof_status prof__output_prepare(prof__session *s, const prof_config *config, int several)
{
    const prof_writer *writer;
    const char *output = config->output;
    prof_mode mode = config->mode;
    char ranked[sizeof s->file.pattern], tagged[sizeof s->file.pattern];
    prof__time_text(s->file.started);
    if (several && prof__pattern_has(output, "t")) prof__job_time(output, s->file.started);
    /* A directory's writer puts the rank into its file names itself. */
    if (several && !prof__pattern_has(output, "rp") && !prof__is_folder(output) &&
        prof__path_with(output, "%r", ranked, sizeof ranked))
        output = ranked;
    prof_status status = prof__expand_absolute(output, s->file.started, s->file.output, sizeof s->file.output);
    if (!status && prof__is_folder(s->file.output) && !prof__is_slash(s->file.output[prof__length(s->file.output) - 1]))
        prof__text_add(s->file.output, sizeof s->file.output, "/");
    if (!status) output = prof__output_own(s, output, tagged, sizeof tagged);
    if (config->layout) prof__text_copy(s->file.layout, sizeof s->file.layout, config->layout);
    if (!status) status = prof__output_writer(s, &writer);
    if (!status) status = prof__writer_fits(s->file.output, writer, (uint32_t)mode);
    if (!status) status = prof__output_check(s->file.output);
    if (!status && !writer) status = prof__output_follow(s);
    s->file.existing = config->existing;
    s->file.number = s->file.existing == PROF_EXISTING_NUMBER ||
                (s->file.existing == PROF_EXISTING_AUTO && prof__pattern_has(output, "pt"));
    if (prof__is_folder(s->file.output)) s->file.number = 0; /* the writer of a directory never replaces a file */
    if (!status && !writer) s->file.live_path = s->file.output;
    if (!status && writer && !prof__output_is_file(s->file.output)) {
        s->file.existing = PROF_EXISTING_REPLACE; /* a device or a pipe has no older recording to protect */
        s->file.number = 0;
    } else if (!status && writer) {
/* There, a sidecar file would be filled only at the end, and so protects nothing. */
#if !defined(__EMSCRIPTEN__) && !defined(__wasi__)
        s->file.sidecar = mode != PROF_STREAM && mode != PROF_STATS && !config->memory;
#endif
    }
    if (!status && writer && (s->file.sidecar || mode == PROF_STREAM)) {
        prof__output_sidecar(s, s->stream.path, sizeof s->stream.path);
        s->file.live_path = s->stream.path;
    }
    prof__pattern_absolute(output, s->file.pattern, sizeof s->file.pattern);
#ifdef _WIN32
    if (!status) status = prof__output_name(s);
    s->file.named = 1;
#endif
    return status;
}

#ifndef PROF__NO_FORK
/* Sets the output of a child of fork(): the parent's pattern expanded again, with the process id before the extension
   unless the pattern has %p. Returns 0 or errno. Async-signal-safe. */
static int prof__child_path(prof__session *s)
{
    char number[24], path[sizeof s->file.output], before[sizeof s->file.output];
    int has_pid = prof__pattern_has(s->file.pattern, "p");
    if (!s->file.output[0]) return 0;
    prof__text_copy(before, sizeof before, s->file.output);
    if (prof__expand_at(s->file.pattern, s->file.started, 0, path, sizeof path)) return ENAMETOOLONG;
    prof__number_text(number, s->process);
    if (has_pid || prof__is_folder(path))
        prof__text_copy(s->file.output, sizeof s->file.output, path);
    else if (!prof__name_with(path, number, s->file.output, sizeof s->file.output))
        return ENAMETOOLONG;
    if (s->file.sidecar) {
        prof__output_sidecar(s, s->stream.path, sizeof s->stream.path);
        s->file.live_path = s->stream.path;
    }
    if (!prof__folder_of(before, before, sizeof before) || !prof__folder_of(s->file.output, path, sizeof path) ||
        !prof__equal(before, path))
        prof__folder_drop(s); /* the held folder is the parent's, and the child writes elsewhere */
    /* %p may be in a directory's name */
    if (s->file.live_path && !prof__root_moved(s)) prof__folder_for(s->file.live_path);
    return 0;
}
#endif

PROF_DEF void prof_writer_register(prof_writer *writer)
{
    PROF__FORWARD_VOID(prof_writer_register, (writer));
    prof_writer *first = PROF__ACQUIRE(&prof__writers);
    for (prof_writer *w = first; w; w = w->private_next)
        if (w == writer) return;
    do writer->private_next = first;
    while (!__atomic_compare_exchange_n(&prof__writers, &first, writer, 0, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE));
}

PROF_DEF prof_status prof_fail(prof_status status, const char *text)
{
    return prof__fail(status, "%s", text ? text : "");
}

PROF_DEF void prof_writer_unregister(prof_writer *writer)
{
    PROF__FORWARD_VOID(prof_writer_unregister, (writer));
    /* If another thread holds the control lock, the writer is removed without the lock: prof_stop() may hold it for
       long, and the program is about to end. */
    int locked = prof__lock_try(&prof__control_word);
    for (prof_writer **w = &prof__writers; *w; w = &(*w)->private_next)
        if (*w == writer) {
            *w = writer->private_next;
            break;
        }
    if (locked) prof__unlock(&prof__control_word);
}

#endif /* PROF__SESSION_PREPARE_OUTPUT_H */
