// system/cgroup: What a control group allows the process, and how often it stopped the process for that. A container is
// one. Both versions: a controller is in a hierarchy of its own (1), or in the common one (2).
#ifndef PROF__SYSTEM_CGROUP_H
#define PROF__SYSTEM_CGROUP_H
#include "system/files.h"

#ifdef PROF__SYSTEM_LINUX

#define PROF__CGROUP_LEVELS 8 /* the process's own group, and those around it */
enum { PROF__CGROUP_PROCESSOR = 0, PROF__CGROUP_MEMORY, PROF__CGROUP_CONTROLLERS };
static const char *const prof__cgroup_controllers[] = {"cpu", "memory"};

/* A group's files, -1: none. */
typedef struct prof__cgroup_level {
    int stat, quota, period, limit;
} prof__cgroup_level;

static struct {
    prof__cgroup_level levels[PROF__CGROUP_LEVELS];
    int count;
    int used, events, old; /* of memory; old: version 1 */
} prof__cgroup;

/* Returns 1 if a list, of words with commas in between, has this one. end: of the list. */
static int prof__cgroup_lists(const char *list, const char *end, const char *word)
{
    size_t length = strlen(word);
    while (list < end) {
        const char *comma = list;
        while (comma < end && *comma != ',') ++comma;
        if ((size_t)(comma - list) == length && !memcmp(list, word, length)) return 1;
        list = comma + 1;
    }
    return 0;
}

/* Finds the group of the process in the hierarchy of a controller: of a line "4:memory:/path", or of "0::/path" if none
   has the controller. *old: it is of version 1. Returns 0 if there is none. */
static int prof__cgroup_path(const char *groups, const char *controller, char *path, size_t size, int *old)
{
    int found = 0;
    for (const char *line = groups, *end; *line; line = *end ? end + 1 : end) {
        end = strchr(line, '\n') ? strchr(line, '\n') : line + strlen(line);
        const char *list = strchr(line, ':'), *at = list ? strchr(list + 1, ':') : NULL;
        if (!at || at > end || (size_t)(end - at) > size) continue;
        int has = prof__cgroup_lists(list + 1, at, controller);
        if (!has && (at != list + 1 || found)) continue;
        memcpy(path, at + 1, (size_t)(end - at - 1));
        path[end - at - 1] = 0;
        *old = has;
        found = 1;
        if (has) break;
    }
    return found;
}

/* Copies the next word of a line. Returns what follows it. */
static const char *prof__cgroup_word(const char *at, const char *end, char *word, size_t size)
{
    size_t length = 0;
    for (; at < end && *at != ' '; ++at)
        if (length + 1 < size) word[length++] = *at;
    word[length] = 0;
    return at < end ? at + 1 : end;
}

/* Sets folder to the place of a group below the mount of its hierarchy. *top: how many characters of it are the mount.
   A line is "36 35 98:0 /root /mount options - type source options". A container may see a part of the hierarchy only,
   root, or have a path that leads out of what it sees: then its group is at the mount. */
static int prof__cgroup_folder(const char *mounts, const char *controller, int old, const char *path, char *folder,
                               size_t size, size_t *top)
{
    char word[64], root[512], mount[512], type[16], options[256];
    for (const char *line = mounts, *end; *line; line = *end ? end + 1 : end) {
        end = strchr(line, '\n') ? strchr(line, '\n') : line + strlen(line);
        const char *at = line;
        for (int i = 0; i < 3; ++i) at = prof__cgroup_word(at, end, word, sizeof word);
        at = prof__cgroup_word(at, end, root, sizeof root);
        at = prof__cgroup_word(at, end, mount, sizeof mount);
        do at = prof__cgroup_word(at, end, word, sizeof word);
        while (at < end && strcmp(word, "-"));
        at = prof__cgroup_word(at, end, type, sizeof type);
        at = prof__cgroup_word(at, end, word, sizeof word);
        prof__cgroup_word(at, end, options, sizeof options);
        if (strcmp(type, old ? "cgroup" : "cgroup2") ||
            (old && !prof__cgroup_lists(options, options + strlen(options), controller)))
            continue;
        size_t length = strcmp(root, "/") ? strlen(root) : 0;
        int below = !strncmp(path, root, length) && (!path[length] || path[length] == '/') && !strstr(path, "..");
        const char *rest = below ? path + length : "";
        if (!strcmp(rest, "/")) rest = "";
        *top = strlen(mount);
        int all = snprintf(folder, size, "%s%s", mount, rest);
        return all > 0 && (size_t)all < size;
    }
    return 0;
}

static void prof__cgroup_open_level(prof__cgroup_level *level, int controller, const char *folder)
{
    if (controller == PROF__CGROUP_MEMORY) {
        level->limit = prof__system_open_file(folder, prof__cgroup.old ? "memory.limit_in_bytes" : "memory.max");
        return;
    }
    level->stat = prof__system_open_file(folder, "cpu.stat");
    level->quota = prof__system_open_file(folder, "cpu.max");
    if (level->quota >= 0) return;
    level->quota = prof__system_open_file(folder, "cpu.cfs_quota_us");
    level->period = prof__system_open_file(folder, "cpu.cfs_period_us");
}

/* Opens the files of the process's group of a controller, and of the groups around it. */
static void prof__cgroup_open_controller(int controller, const char *groups, const char *mounts)
{
    const char *name = prof__cgroup_controllers[controller];
    char path[512], folder[1024];
    size_t top;
    if (!prof__cgroup_path(groups, name, path, sizeof path, &prof__cgroup.old) ||
        !prof__cgroup_folder(mounts, name, prof__cgroup.old, path, folder, sizeof folder, &top))
        return;
    if (controller == PROF__CGROUP_MEMORY) {
        int old = prof__cgroup.old;
        prof__cgroup.used = prof__system_open_file(folder, old ? "memory.usage_in_bytes" : "memory.current");
        prof__cgroup.events = prof__system_open_file(folder, old ? "memory.failcnt" : "memory.events");
    }
    for (int i = 0; i < PROF__CGROUP_LEVELS; ++i) {
        prof__cgroup_open_level(&prof__cgroup.levels[i], controller, folder);
        if (prof__cgroup.count <= i) prof__cgroup.count = i + 1;
        char *slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < top) break;
        *slash = 0;
    }
}

static void prof__cgroup_open(void)
{
    char *groups = prof__system_read_all("/proc/self/cgroup"), *mounts = prof__system_read_all("/proc/self/mountinfo");
    memset(&prof__cgroup, 0xFF, sizeof prof__cgroup); /* no files */
    prof__cgroup.count = 0;
    for (int i = 0; groups && mounts && i < PROF__CGROUP_CONTROLLERS; ++i)
        prof__cgroup_open_controller(i, groups, mounts);
    free(groups);
    free(mounts);
}

/* Async-signal-safe. */
static void prof__cgroup_close(void)
{
    for (int i = 0; i < prof__cgroup.count; ++i) {
        const prof__cgroup_level *level = &prof__cgroup.levels[i];
        if (level->stat >= 0) close(level->stat);
        if (level->quota >= 0) close(level->quota);
        if (level->period >= 0) close(level->period);
        if (level->limit >= 0) close(level->limit);
    }
    if (prof__cgroup.count && prof__cgroup.used >= 0) close(prof__cgroup.used);
    if (prof__cgroup.count && prof__cgroup.events >= 0) close(prof__cgroup.events);
    prof__cgroup.count = 0;
}

/* Sums up how often, and how long, the process's groups had used up their quota. Returns 0 if none tells. */
static int prof__cgroup_throttled(uint64_t *periods, uint64_t *us)
{
    int found = 0;
    char text[1024];
    *periods = *us = 0;
    for (int i = 0; i < prof__cgroup.count; ++i) {
        uint64_t count, time;
        if (!prof__system_reread(prof__cgroup.levels[i].stat, text, sizeof text) ||
            !prof__system_number(text, "nr_throttled", &count))
            continue;
        if (!prof__system_number(text, "throttled_usec", &time)) {
            if (!prof__system_number(text, "throttled_time", &time)) continue;
            time /= 1000;
        }
        *periods += count;
        *us += time;
        found = 1;
    }
    return found;
}

/* Returns the smallest quota of the process's groups, in percent of a processor; 0: there is none. */
static double prof__cgroup_quota(void)
{
    double least = 0;
    char text[64], *end;
    for (int i = 0; i < prof__cgroup.count; ++i) {
        const prof__cgroup_level *level = &prof__cgroup.levels[i];
        if (!prof__system_reread(level->quota, text, sizeof text)) continue;
        double quota = (double)strtoll(text, &end, 10), period;
        if (end == text || quota <= 0) continue; /* "max", -1 */
        if (level->period >= 0 && !prof__system_reread(level->period, text, sizeof text)) continue;
        period = (double)strtoll(level->period >= 0 ? text : end, NULL, 10);
        if (period > 0 && (least <= 0 || quota / period * 100 < least)) least = quota / period * 100;
    }
    return least;
}

/* Returns the smallest limit of memory of the process's groups, in bytes; 0: there is none. */
static uint64_t prof__cgroup_memory_limit(void)
{
    uint64_t least = 0;
    char text[64], *end;
    for (int i = 0; i < prof__cgroup.count; ++i) {
        if (!prof__system_reread(prof__cgroup.levels[i].limit, text, sizeof text)) continue;
        uint64_t limit = strtoull(text, &end, 10);
        if (end == text || limit >> 60) continue; /* "max", or what version 1 has instead */
        if (!least || limit < least) least = limit;
    }
    return least;
}
#endif

#endif /* PROF__SYSTEM_CGROUP_H */
