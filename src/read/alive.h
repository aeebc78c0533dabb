// read/alive: Whether the process that records into a file is alive, so that its open scopes last until now.
#ifndef PROF__READ_ALIVE_H
#define PROF__READ_ALIVE_H
#include "api/read.h"
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
/* Returns 1 if all threads of a process have ended, but its parent has not asked how. Not known outside of Linux. */
static int prof__process_zombie(long pid)
{
    char path[48], line[1024], *rest = NULL, state = 0;
    int threads = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    if (fgets(line, sizeof line, file)) rest = strrchr(line, ')'); /* after the name, which may have any character */
    fclose(file);
    const char *fields = ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %d";
    return rest && sscanf(rest, fields, &state, &threads) == 2 && (state == 'Z' || state == 'X') && threads <= 1;
}

/* Returns 1 if a process has the file of this path mapped. Another one may have its number, in another container for
   example, and the file may be a copy. Returns 0 where that cannot be seen. */
static int prof__process_maps(long pid, const char *path)
{
    char maps[48], line[4400];
    struct stat about;
    int found = 0;
    snprintf(maps, sizeof maps, "/proc/%ld/maps", pid);
    FILE *file = stat(path, &about) ? NULL : fopen(maps, "r");
    while (file && !found && fgets(line, sizeof line, file)) { /* devices differ from stat()'s on some file systems */
        unsigned long long inode;
        found = sscanf(line, "%*s %*s %*s %*s %llu", &inode) == 1 && inode == (unsigned long long)about.st_ino;
    }
    if (file) fclose(file);
    return found;
}

/* Returns 1 if this process is alive, as far as can be known here. path: of the file that it records into; NULL: not
   known. */
static int prof__process_records(uint64_t pid, const char *boot_id, const char *path)
{
    char here[40];
    prof__boot_id(here, sizeof here);
    if (!here[0] || !prof__equal(here, boot_id) || !pid || pid >= 0x7FFFFFFF) return 0;
    if (kill((pid_t)pid, 0) && errno != EPERM) return 0;
    return !prof__process_zombie((long)pid) && (!path || prof__process_maps((long)pid, path));
}
#endif

/* A trace reaches as far as scopes that are open are known to have been open. */
static void prof__read_reach(prof_trace *trace)
{
    size_t i;
    for (i = 0; i < trace->track_count && trace->info.duration_ns < trace->newest_ns; i++)
        if (trace->tracks[i].about.open && trace->tracks[i].lives) trace->info.duration_ns = trace->newest_ns;
}

/* Lets open scopes of a trace last until now if the process is recording into the file. */
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
