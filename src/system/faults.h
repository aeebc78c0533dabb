// system/faults: Packs page faults that had to read a disk, and records them.
#ifndef PROF__SYSTEM_FAULTS_H
#define PROF__SYSTEM_FAULTS_H
#include "record/locks.h"
#include "record/meta.h"
#include "system/files.h"
#include "system/write.h"

#ifdef PROF__SYSTEM_LINUX
/* Finds the files that are mapped at the addresses of the faults, in a text such as that of /proc/self/maps, which it
   changes. Under the state's lock. */
static void prof__faults_name(char *maps)
{
    char *line, *next, *end, *path;
    for (line = maps; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        uint64_t from = strtoull(line, &end, 16), to = *end == '-' ? strtoull(end + 1, &end, 16) : 0;
        path = strchr(end, '/');
        for (size_t i = 0; path && i < prof__system.fault_count; ++i)
            if (prof__system.fault[i].address >= from && prof__system.fault[i].address < to)
                prof__system.fault[i].file = prof__meta_string(prof__system.session, path);
    }
}

/* Records the faults that were found. What the system is asked for, only in the sandbox of the start. */
static void prof__faults_flush(void)
{
    uint64_t words[PROF__FAULTS * PROF__FAULT_WORDS], base = prof__system.fault[0].ns;
    char *maps = prof__system.fault_count && prof__system_may() ? prof__system_read_all("/proc/self/maps") : NULL;
    size_t count = 0;
    if (maps) {
        uint32_t write_lock = prof__state_lock();
        if (prof__state.session == prof__system.session) prof__faults_name(maps);
        prof__state_unlock(write_lock);
        free(maps);
    }
    for (size_t i = 1; i < prof__system.fault_count; ++i)
        if (prof__system.fault[i].ns < base) base = prof__system.fault[i].ns;
    for (size_t i = 0; i < prof__system.fault_count; ++i) {
        const prof__fault *fault = &prof__system.fault[i];
        words[count++] = prof__delay_word(fault->ns - base, fault->thread);
        words[count++] = fault->address;
        words[count++] = fault->file;
    }
    if (count) prof__system_write(PROF__DEVICE_FAULTS, base, PROF_VALUE_NONE, words, count);
    prof__system.fault_count = 0;
}

static void prof__fault_put(uint64_t ns, uint32_t thread, uint64_t address)
{
    if (prof__system.fault_count == PROF__FAULTS) prof__faults_flush();
    prof__fault *fault = &prof__system.fault[prof__system.fault_count++];
    fault->ns = ns;
    fault->thread = thread;
    fault->address = address;
    fault->file = 0;
}
#endif

#endif /* PROF__SYSTEM_FAULTS_H */
