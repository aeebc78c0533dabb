// read/alive: Finds out whether the process that records into a file is alive. If so, the scopes that are open in the
// file last until now.
#ifndef PROF__READ_ALIVE_H
#define PROF__READ_ALIVE_H
#include "api/values.h"
#include "image/format.h"
#include "session/process.h"
#include "read/clock.h"
#include "read/trace.h"

#if defined(_WIN32) || defined(__wasi__)
static int prof__process_records(uint64_t pid, const char *boot_id, const char *path)
{
    (void)pid, (void)boot_id, (void)path;
    return 0;
}
#else
/* Returns 1 if the process is a zombie: all its threads have ended, and its parent has not yet read its exit status.
   Always returns 0 outside of Linux. */
static int prof__process_zombie(long pid)
{
    char path[48], line[1024], *rest = NULL, state = 0;
    int threads = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    /* The fields follow the name, which may have any character. */
    if (fgets(line, sizeof line, file)) rest = strrchr(line, ')');
    fclose(file);
    const char *fields = ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %d";
    return rest && sscanf(rest, fields, &state, &threads) == 2 && (state == 'Z' || state == 'X') && threads <= 1;
}

/* Returns 1 if the process has mapped the file at path. The process id alone proves nothing: a process in another
   container may have the same id, or the file may be a copy. Returns 0 where the system does not show mappings. */
static int prof__process_maps(long pid, const char *path)
{
    char maps[48], line[4400];
    struct stat about;
    int found = 0;
    snprintf(maps, sizeof maps, "/proc/%ld/maps", pid);
    FILE *file = stat(path, &about) ? NULL : fopen(maps, "r");
    /* Only inodes are compared: on some file systems the device differs from stat()'s. */
    while (file && !found && fgets(line, sizeof line, file)) {
        unsigned long long inode;
        found = sscanf(line, "%*s %*s %*s %*s %llu", &inode) == 1 && inode == (unsigned long long)about.st_ino;
    }
    if (file) fclose(file);
    return found;
}

/* Returns 1 if this process is alive, as far as this machine can tell. path: the file that it records into; NULL:
   unknown. */
static int prof__process_records(uint64_t pid, const char *boot_id, const char *path)
{
    char here[40];
    prof__boot_id(here, sizeof here);
    if (!here[0] || !prof__equal(here, boot_id) || !pid || pid >= 0x7FFFFFFF) return 0;
    if (kill((pid_t)pid, 0) && errno != EPERM) return 0;
    return !prof__process_zombie((long)pid) && (!path || prof__process_maps((long)pid, path));
}
#endif

/* Extends a trace's duration to the latest time at which scopes are known to have been open. */
static void prof__read_reach(prof_trace *trace)
{
    size_t i;
    for (i = 0; i < trace->track_count && trace->info.duration_ns < trace->newest_ns; i++)
        if (trace->tracks[i].about.open && trace->tracks[i].lives) trace->info.duration_ns = trace->newest_ns;
}

/* Extends a trace's open scopes until now if a live process is recording into the file. */
static void prof__trace_alive(prof_trace *trace, const char *path)
{
    const prof__header *header = &trace->header;
    prof__pair now;
    size_t hint = 0;
    int64_t ns;
    if (trace->info.complete || !prof__process_records(header->pid, header->boot_id, path) ||
        !prof__pair_now(header->clock, header->boot_id, &now))
        return;
    ns = prof__read_ns(trace, now.tick, &hint);
    trace->info.alive = 1;
    if (ns > trace->newest_ns) trace->newest_ns = ns;
    prof__read_reach(trace);
}

#endif /* PROF__READ_ALIVE_H */
