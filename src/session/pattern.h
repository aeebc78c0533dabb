// session/pattern: Expands %p, %t and so on in names of outputs. Remembers which outputs this process has written.
#ifndef PROF__SESSION_PATTERN_H
#define PROF__SESSION_PATTERN_H
#include "ground/digits.h"
#include "ground/errors.h"
#include "ground/threads.h"
#include "record/meta.h"
#include "session/job.h"
#include "session/names.h"
#include "session/process.h"

/*-- the outputs of this process --*/

/* Hashes of the outputs that this process has written. A later session does not replace an output that is listed here.
   The list has a fixed size: once it is full, further outputs are not remembered, and can be replaced. */
static uint32_t prof__outputs[512], prof__output_count;
/* Unix time in seconds when the first session with an output started; 0: there was none. */
static uint64_t prof__outputs_since;

static int prof__output_ours(const char *path)
{
    uint32_t hash = prof__hash(path, prof__length(path)), count = PROF__LOAD(&prof__output_count);
    for (uint32_t i = 0; i < count; ++i)
        if (PROF__LOAD(&prof__outputs[i]) == hash) return 1;
    return 0;
}

static void prof__output_remember(const char *path)
{
    uint32_t count = PROF__LOAD(&prof__output_count);
    if (prof__output_ours(path) || count == sizeof prof__outputs / sizeof *prof__outputs) return;
    PROF__STORE(&prof__outputs[count], prof__hash(path, prof__length(path)));
    PROF__STORE(&prof__output_count, count + 1);
}

/* A note about the start, which a session of PROF_OUTPUT prints on stderr; "": none. Protected by the control lock. */
static char prof__start_note[512];

static void prof__start_note_set(const char *path, const char *words, const char *more)
{
    size_t length = prof__length(path);
    prof__start_note[0] = 0; /* of a long path only the end is kept, because the file's name is there */
    prof__text_add(prof__start_note, sizeof prof__start_note, path + (length > 200 ? length - 200 : 0));
    prof__text_add(prof__start_note, sizeof prof__start_note, words);
    length = prof__length(more);
    prof__text_add(prof__start_note, sizeof prof__start_note, more + (length > 200 ? length - 200 : 0));
}

/* Expands %p %n %t %r %j %h %% in path, and %c if count is not 0. started: the text of %t. Returns NULL on success, the
   position of a percent sign whose letter is unknown, or "" if the result does not fit into size bytes.
   Async-signal-safe. */
static const char *prof__expand_at(const char *path, const char *started, uint64_t count, char *to, size_t size)
{
    to[0] = 0;
    for (const char *c = path; *c; ++c) {
        char piece[64];
        piece[0] = *c;
        piece[1] = 0;
        if (*c == '%') {
            switch (c[1]) {
            case '%': break;
            case 'p': prof__number_text(piece, prof__process_id()); break;
            case 'n': prof__program_name(piece, sizeof piece); break;
            case 't': prof__text_copy(piece, sizeof piece, started); break;
            case 'r': prof__text_copy(piece, sizeof piece, prof__rank[0] ? prof__rank : "0"); break;
            case 'j': prof__job_text(piece, sizeof piece); break;
            case 'h': prof__host_name(piece, sizeof piece); break;
            case 'c':
                if (!count) return c;
                prof__number_text(piece, count);
                break;
            default: return c;
            }
            ++c;
        }
        if (!prof__text_add(to, size, piece)) return "";
    }
    return NULL;
}

/* Converts a Unix time in seconds to local time. Returns 0 if the system cannot. */
static int prof__local_time(uint64_t seconds, struct tm *here)
{
    time_t moment = (time_t)seconds;
#ifdef _WIN32
    const struct tm *known = localtime(&moment);
    if (known) *here = *known;
    return known != NULL;
#else
    return localtime_r(&moment, here) != NULL;
#endif
}

static void prof__time_text(char to[16])
{
    struct tm here;
    if (!prof__local_time((uint64_t)time(NULL), &here) || !strftime(to, 16, "%Y%m%d-%H%M%S", &here)) to[0] = 0;
}

/* Returns 1 if the path begins with ~/, which only shells expand. prof would create a directory named ~, and a user who
   removes that by name may remove the home directory. */
static int prof__is_home(const char *path) { return path[0] == '~' && path[1] == '/'; }

/* Expands a path as prof__expand_at() does, and reports errors. started: the text of %t. */
static prof_status prof__expand_started(const char *path, const char *started, uint64_t count, char *to, size_t size)
{
    if (prof__is_home(path))
        return prof__fail(PROF_INVALID_ARGUMENT, "%s: only a shell knows ~: write the whole path, or ./~/", path);
    const char *wrong = prof__expand_at(path, started, count, to, size);
    if (!wrong) return PROF_OK;
    if (*wrong != '%') return prof__fail(PROF_INVALID_ARGUMENT, "path too long: %.80s...", path);
    if (wrong[1] == 'c') return prof__fail(PROF_INVALID_ARGUMENT, "%s: %%c can be used in prof_config.save only", path);
    return prof__fail(PROF_INVALID_ARGUMENT, "%s: unknown %.2s: use %%p, %%n, %%t, %%r, %%j, %%h or %%%%", path, wrong);
}

static prof_status prof__expand_counted(const char *path, uint64_t count, char *to, size_t size)
{
    char now[16];
    prof__time_text(now);
    return prof__expand_started(path, now, count, to, size);
}

static prof_status prof__expand(const char *path, char *to, size_t size)
{
    return prof__expand_counted(path, 0, to, size);
}

#endif /* PROF__SESSION_PATTERN_H */
