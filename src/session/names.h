// session/names: The process's rank, the machine's name, and file names of outputs with a suffix or a number.
#ifndef PROF__SESSION_NAMES_H
#define PROF__SESSION_NAMES_H
#include "ground/digits.h"
#include "ground/errors.h"
#include "ground/out.h"
#include "ground/windows.h"
#include "record/meta.h"
#include "record/state.h"
#include "session/job.h"
#include "session/memory.h"
#include "session/process.h"

/*-- names of outputs --*/

/* Environment variables in which launchers give each process its rank and the number of processes. */
static const struct {
    const char *rank, *count;
} prof__launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, /* Open MPI */
    {"PMIX_RANK", NULL},                              /* PMIx */
    {"PMI_RANK", "PMI_SIZE"},                         /* MPICH, Intel MPI, Cray */
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},   /* MVAPICH */
    {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"},           /* Intel MPI, on one machine */
    {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE"},     /* IBM jsrun */
    {"FLUX_TASK_RANK", "FLUX_JOB_SIZE"},              /* Flux */
    {"PALS_RANKID", NULL},                            /* HPE Cray PALS */
    {"RANK", "WORLD_SIZE"},                           /* torchrun, and launchers that follow it */
    /* Slurm; last, because a batch script that calls mpirun has Slurm's variables, too. */
    {"SLURM_PROCID", "SLURM_NTASKS"},
};

static int prof__is_number(const char *text)
{
    size_t length = 0;
    for (; text && text[length] >= '0' && text[length] <= '9'; ++length) {
    }
    return length && length < 20 && !text[length];
}

/* Sets prof__rank to `given` or, if that is NULL, to the rank that a launcher gave. Sets *several to 1 if other
   processes may write files of the same name: the launcher started more than one, or a rank was given. */
static prof_status prof__rank_find(const char *given, int *several)
{
    *several = given != NULL;
    prof__rank[0] = 0;
    prof__job_find();
    if (given) {
        size_t length = prof__length(given), bad = !length || length >= sizeof prof__rank;
        for (size_t i = 0; i < length; ++i) bad |= given[i] == '/' || given[i] == '\\' || (unsigned char)given[i] < 32;
        if (bad) return prof__fail(PROF_INVALID_ARGUMENT, "rank '%.80s': must have 1 to 63 bytes, no / or \\", given);
        prof__text_copy(prof__rank, sizeof prof__rank, given);
        return PROF_OK;
    }
    for (size_t i = 0; i < sizeof prof__launchers / sizeof *prof__launchers; ++i) {
        const char *rank = prof__environment(prof__launchers[i].rank);
        if (!prof__is_number(rank)) continue;
        const char *count = prof__launchers[i].count ? prof__environment(prof__launchers[i].count) : NULL;
        prof__text_copy(prof__rank, sizeof prof__rank, rank);
        *several = !prof__equal(rank, "0") || (prof__is_number(count) && !prof__equal(count, "1"));
        return PROF_OK;
    }
    return PROF_OK;
}

/* Reads a number. Returns where it ends; NULL if there is none. */
static const char *prof__rank_number(const char *text, uint64_t *number)
{
    const char *at = text;
    for (*number = 0; *at >= '0' && *at <= '9' && at - text < 10; ++at) *number = *number * 10 + (uint64_t)(*at - '0');
    return at > text ? at : NULL;
}

/* Sets *listed to 1 if a list such as "0,3,8-15" has this process's rank; one that is no number counts as 0. */
static prof_status prof__rank_listed(const char *list, int *listed)
{
    const char *at = list;
    uint64_t own = 0, from, to;
    if (prof__is_number(prof__rank)) (void)prof__rank_number(prof__rank, &own);
    for (*listed = 0;; ++at) {
        if ((at = prof__rank_number(at, &from)) == NULL) break;
        to = from;
        if (*at == '-' && (at = prof__rank_number(at + 1, &to)) == NULL) break;
        if (to < from) break;
        *listed |= own >= from && own <= to;
        if (!*at) return PROF_OK;
        if (*at != ',') break;
    }
    return prof__fail(PROF_INVALID_ARGUMENT, "ranks '%.80s': must be numbers and ranges, for example 0,3,8-15", list);
}

/* Sets `to` to the output of a rank of which only statistics are kept: "rank-%r.txt" for "rank-%r.prof" or
   "rank-%r.json", "logs/rank-%r.txt" for "logs/". Returns 0 if it is too long. */
static int prof__rank_output(const char *output, char *to, size_t size)
{
    size_t length = prof__length(output), end = length;
    while (end && output[end - 1] != '/' && output[end - 1] != '\\' && output[end - 1] != '.') --end;
    if (end && output[end - 1] == '.') length = end - 1; /* else the file has no extension, or it is a folder */
    if (length + 16 > size) return 0;
    prof__text_copy(to, length + 1, output);
    return prof__text_add(to, size, end == length && length ? "rank-%r.txt" : ".txt");
}

/* Makes the configuration of a rank whose events are not recorded, only their statistics. Returns it, or `config` if
   the rank is recorded as the mode says. NULL: ranks is wrong. output: room for its output. */
static const prof_config *prof__rank_config(const prof_config *config, prof_config *own, char *output, size_t size)
{
    int several, listed = 1;
    if (!config->ranks || !config->ranks[0]) return config;
    if (prof__rank_find(config->rank, &several) || prof__rank_listed(config->ranks, &listed)) return NULL;
    if (listed) return config;
    *own = *config;
    own->mode = PROF_STATS;
    if (!config->output || !config->output[0]) return own;
    own->output = output;
    if (prof__rank_output(config->output, output, size)) return own;
    return prof__fail(PROF_INVALID_ARGUMENT, "output: the path is too long"), (const prof_config *)NULL;
}

/* Writes the machine's name, or "host" if it is unknown. Replaces slashes by underscores. */
static void prof__host_name(char *name, size_t size)
{
#ifdef _WIN32
    DWORD n = (DWORD)size;
    if (!GetComputerNameA(name, &n)) name[0] = 0;
#elif defined(__wasi__)
    (void)size;
    name[0] = 0;
#else
    if (gethostname(name, size)) name[0] = 0;
    name[size - 1] = 0;
#endif
    if (!name[0]) prof__text_copy(name, size, "host");
    for (char *c = name; *c; ++c)
        if (*c == '/' || *c == '\\') *c = '_';
}

/* Returns 1 if one of these letters follows a percent sign in the pattern. */
static int prof__pattern_has(const char *pattern, const char *letters)
{
    for (const char *c = pattern; *c; ++c) {
        if (*c != '%') continue;
        if (!*++c) return 0;
        if (strchr(letters, *c)) return 1;
    }
    return 0;
}

static const char *prof__extension(const char *path)
{
    const char *dot = "";
    for (const char *c = path; *c; ++c) {
        if (*c == '.') dot = c;
        if (*c == '/' || *c == '\\') dot = "";
    }
    return dot;
}


static int prof__path_put(const char *path, const char *text, size_t most, char *to, size_t size)
{
    const char *extension = prof__extension(path);
    char ending[1100] = ".";
    return prof__text_add(ending, sizeof ending, text) && prof__text_add(ending, sizeof ending, extension) &&
           prof__path_ending(path, prof__length(path) - prof__length(extension), ending, most, to, size);
}

/* Writes a pattern with ".text" inserted before its extension. Returns 0 if the result is too long. */
static int prof__path_with(const char *pattern, const char *text, char *to, size_t size)
{
    return prof__path_put(pattern, text, (size_t)-1, to, size);
}

/* Writes a path with ".text" inserted before its extension. Cuts the file name if it becomes too long for the system.
   Returns 0 if the path is too long. */
static int prof__name_with(const char *path, const char *text, char *to, size_t size)
{
    return prof__path_put(path, text, PROF__NAME_MOST, to, size);
}

/* Reserves a file name by creating an empty file. Returns 0, EEXIST if a file has that name already, or another errno.
   Async-signal-safe. */
static int prof__path_claim(const char *path)
{
#ifdef _WIN32
    HANDLE file = prof__windows_open(path, GENERIC_WRITE, 0, CREATE_NEW);
    if (file == INVALID_HANDLE_VALUE) return prof__windows_errno(GetLastError());
    CloseHandle(file);
#else
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, PROF__FILE_MODE);
    if (file < 0) return errno;
    close(file);
#endif
    return 0;
}

/* Writes the i-th name of trace.json, trace.2.json, trace.3.json, ... to path. Returns 0 if it is too long. */
static int prof__path_numbered(const char *first, uint64_t i, char *path, size_t size)
{
    char number[24];
    prof__number_text(number, i);
    return prof__name_with(first, number, path, size);
}

/* Changes path to the first free name of trace.json, trace.2.json, trace.3.json, ..., and reserves it with an empty
   file. Returns 0 or errno. */
static int prof__path_number(char *path, size_t size)
{
    char first[1024];
    int error = prof__path_claim(path);
    if (error != EEXIST) return error;
    prof__text_copy(first, sizeof first, path);
    for (uint64_t i = 2; i < 1000000 && error == EEXIST; ++i)
        error = prof__path_numbered(first, i, path, size) ? prof__path_claim(path) : ENAMETOOLONG;
    return error;
}

/* Removes the empty file that reserved the output's name, unless something was written to it. Also removes the image's
   file of a start that failed. */
static void prof__path_unclaim(prof__session *s)
{
    FILE *file = s->file.claimed ? prof__file_open(s->file.output, "rb") : NULL;
    int empty = file && fgetc(file) == EOF;
    if (file) fclose(file);
    if (empty) prof__file_remove(s->file.output);
#ifdef _WIN32
    if (s->file.taken && s->file.mapping) UnmapViewOfFile(s->file.mapping);
    if (s->file.taken) s->file.mapping = NULL;
    if (s->file.taken) prof__file_forget(s, 0);
#else
    if (s->file.taken && s->file.part_path[0]) prof__file_remove(s->file.live_path);
#endif
    s->file.claimed = s->file.taken = 0;
}

#endif /* PROF__SESSION_NAMES_H */
