// ntff/checkup: Finds the newest session below a folder, and checks the files of sessions.
#ifndef PROF__NTFF_CHECKUP_H
#define PROF__NTFF_CHECKUP_H
#include "ground/errors.h"
#include "ground/out.h"
#include "ground/windows.h"
#include "ntff/api.h"
#include "ntff/artifacts.h"
#include "ntff/json.h"
#include "ntff/kineto_file.h"

/*-- the newest session --*/

typedef struct prof__session_search {
    char ends[2][32]; /* how the process's folder may end; "": as it likes */
    uint64_t not_before, newest;
    int level;        /* of the folder that is searched: 0: OUTPUT_DIR; 1: the folder of a process */
    int best;         /* 2: `found` has a trace_info.pb; 1: it has none; 0: nothing was found */
    int no_memory;
    char *found;
} prof__session_search;

/* Returns the Unix time that the name of a folder is, in s, ms, us or ns. Returns 0 for other names, such as dates. */
static uint64_t prof__folder_time(const char *name)
{
    int negative;
    uint64_t time;
    size_t length = strlen(name);
    if (length < 10 || length > 19 || length % 3 != 1 || *name == '0' || length != strspn(name, "0123456789") ||
        !prof__json_whole(name, &negative, &time))
        return 0;
    for (; length < 19; length += 3) time *= 1000;
    return time;
}

static void prof__session_offer(prof__session_search *search, const char *path, uint64_t time)
{
    char *info = prof__path_join(path, "trace_info.pb");
    uint64_t size, changed = 0;
    int good = info && prof__path_kind(info, &size, &changed) == 1 ? 2 : 1;
    if (!info) search->no_memory = 1;
    free(info);
    if (!time) time = changed;
    if (!time && prof__path_kind(path, &size, &changed) == 2) time = changed;
    if (time + 2000000000u < search->not_before || good < search->best ||
        (good == search->best && time < search->newest))
        return;
    info = prof__text_join(path, "");
    if (!info) search->no_memory = 1;
    free(search->found);
    search->found = info;
    search->best = good;
    search->newest = time;
}

static int prof__session_look(void *user, const char *folder, const char *name)
{
    prof__session_search *search = (prof__session_search *)user;
    char *path;
    uint64_t size, changed, time = prof__folder_time(name);
    int fits = search->level ? time != 0
                             : (search->ends[0][0]
                                    ? prof__name_ends(name, search->ends[0]) || prof__name_ends(name, search->ends[1])
                                    : strstr(name, "_pid_") != NULL || strncmp(name, "i-", 2) == 0);
    if (!fits) return 0;
    path = prof__path_join(folder, name);
    if (!path) search->no_memory = 1;
    if (path && prof__path_kind(path, &size, &changed) == 2) {
        prof__session_offer(search, path, search->level ? time : 0);
        if (!search->level) {
            search->level = 1;
            prof__entries(path, prof__session_look, search);
            search->level = 0;
        }
    }
    free(path);
    return search->no_memory;
}

PROF_DEF prof_status prof_ntff_find_session(const char *output_dir, uint64_t pid, uint64_t not_before_unix_ns,
                                            char *folder, size_t size)
{
    prof__session_search search;
    prof_status status = PROF_OK;
    if (!output_dir || !*output_dir || !folder || !size)
        return prof__fail(PROF_INVALID_ARGUMENT,
                          "prof_ntff_find_session: output_dir is null or empty, or folder is null");
    folder[0] = 0;
    memset(&search, 0, sizeof search);
    search.not_before = not_before_unix_ns;
    if (pid) {
        snprintf(search.ends[0], sizeof search.ends[0], "_pid_%llu", (unsigned long long)pid);
        snprintf(search.ends[1], sizeof search.ends[1], "-%llu", (unsigned long long)pid);
    }
    if (!prof__entries(output_dir, prof__session_look, &search))
        status = prof__fail(PROF_IO, "cannot read %s: %s", output_dir, strerror(errno));
    else if (search.no_memory)
        status = prof__fail(PROF_NO_MEMORY, "%s: no memory to search it", output_dir);
    else if (!search.found)
        status = prof__fail(PROF_INVALID_STATE, "%s: no session%s: neither INSTANCE_pid_PID nor INSTANCE-PID",
                            output_dir, pid ? " of this process" : "");
    else if (strlen(search.found) >= size)
        status = prof__fail(PROF_INVALID_ARGUMENT, "%s: its name is too long", search.found);
    else
        memcpy(folder, search.found, strlen(search.found) + 1);
    free(search.found);
    return status;
}

/*-- what is wrong --*/

typedef struct prof__checkup {
    prof_ntff_say_fn say;
    void *user;
    int problems;
    const prof__tree *tree;
    size_t counts[PROF_NTFF_KIND_COUNT]; /* how many files of each kind the present folder has */
} prof__checkup;

static void prof__checkup_say(prof__checkup *c, prof_ntff_word word, const char *format, ...) PROF__PRINTF(3, 4);
static void prof__checkup_say(prof__checkup *c, prof_ntff_word word, const char *format, ...)
{
    char text[2048];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    c->problems += word == PROF_NTFF_PROBLEM;
    if (c->say) c->say(c->user, word, text);
}

static void prof__checkup_profile(prof__checkup *c, const prof_ntff_artifact *a)
{
    if (a->size > PROF__ARTIFACTS_NTFF)
        prof__checkup_say(c, PROF_NTFF_PROBLEM,
                          "%s has %.1f GB: Neuron Explorer fails beyond 5 GB; capture fewer executions", a->name,
                          (double)a->size / 1e9);
    if (a->paired || !a->size) return;
    if (a->hash[0])
        prof__checkup_say(c, PROF_NTFF_PROBLEM,
                          "%s: its model, neff_%s.neff, is missing, and without it a profile cannot "
                          "be read: copy it from the compiler's cache of the machine that ran it",
                          a->name, a->hash);
    else
        prof__checkup_say(c, PROF_NTFF_PROBLEM,
                          "%s: no model (.neff) is beside it, and without one a profile cannot be read: "
                          "copy it from the compiler's cache, or set TORCH_NEURONX_NEFF_CACHE_DIR",
                          a->name);
}

static void prof__checkup_file(prof__checkup *c, const prof_ntff_artifact *a)
{
    if (!a->size && a->kind == PROF_NTFF_NTFF)
        prof__checkup_say(c, PROF_NTFF_PROBLEM,
                          "%s has 0 bytes: nothing ran on that NeuronCore while the session was open; begin "
                          "it before the first execution, and end it after the last is done",
                          a->name);
    else if (!a->size)
        prof__checkup_say(c, PROF_NTFF_PROBLEM, "%s has 0 bytes: the process was stopped before it was written",
                          a->name);
    else if (a->blank)
        prof__checkup_say(c, PROF_NTFF_PROBLEM, "%s begins with zeros: it was not written to the end", a->name);
    if (a->kind == PROF_NTFF_NTFF) prof__checkup_profile(c, a);
    if (a->kind == PROF_NTFF_STRAY_JSON)
        prof__checkup_say(c, PROF_NTFF_PROBLEM,
                          "%s: no tool looks for that name: call it trace.json, in the folder of the same "
                          "process that has trace_info.pb",
                          a->name);
}

/* Checks a trace.json: its place, and whether it has a base time. */
static void prof__checkup_json(prof__checkup *c, const prof_ntff_artifact *a)
{
    char head[4097];
    size_t got = 0, i;
    const prof_ntff_artifact *info = NULL;
    FILE *file = prof__file_open(a->path, "rb");
    if (file) {
        got = fread(head, 1, sizeof head - 1, file);
        fclose(file);
    }
    head[got] = 0;
    if (a->size && !strstr(head, "baseTimeNanoseconds"))
        prof__checkup_say(c, PROF_NTFF_PROBLEM,
                          "%s has no baseTimeNanoseconds where PyTorch writes it: its times may not match "
                          "those of the NeuronCores",
                          a->name);
    for (i = 0; i < c->tree->count; i++) {
        if (c->tree->list[i].kind != PROF_NTFF_TRACE_INFO) continue;
        if (!strcmp(c->tree->list[i].folder, a->folder)) return;
        if (prof__path_below(c->tree->list[i].folder, a->folder)) info = &c->tree->list[i];
    }
    if (info)
        prof__checkup_say(c, PROF_NTFF_PROBLEM,
                          "%s: Neuron Explorer looks for it beside trace_info.pb: move it into %s", a->name,
                          info->folder);
    else
        prof__checkup_say(c, PROF_NTFF_PROBLEM,
                          "%s: no trace_info.pb is beside it, where Neuron Explorer would look for it", a->name);
}

/* Writes a count, such as "2 device profiles, ", at *to, and moves *to behind it. There must be space before `end`. */
static void prof__checkup_count(char **to, const char *end, size_t count, const char *one)
{
    if (!count) return;
    *to += snprintf(*to, (size_t)(end - *to), "%lu %s%s, ", (unsigned long)count, one, count > 1 ? "s" : "");
}

/* Tells the user which files a folder has. */
static void prof__checkup_folder(prof__checkup *c, const char *folder)
{
    static const char *const names[PROF_NTFF_KIND_COUNT] = {
        "device profile",         "model",      "system profile",      "", "list of CPU samples",
        "list of memory samples", "host trace", "misnamed host trace"};
    char text[512], *to = text;
    int i;
    for (i = 0; i < PROF_NTFF_KIND_COUNT; i++)
        if (i != PROF_NTFF_TRACE_INFO) prof__checkup_count(&to, text + sizeof text, c->counts[i], names[i]);
    if (to > text) to -= 2;
    *to = 0;
    prof__checkup_say(c, PROF_NTFF_FOLDER, "%s: %s%s%s", folder,
                      c->counts[PROF_NTFF_TRACE_INFO] ? "a session" : "no session", to > text ? ": " : "", text);
}

/* Checks that the folder of a session has all files that it should have. */
static void prof__checkup_session(prof__checkup *c)
{
    const size_t *n = c->counts;
    if (!n[PROF_NTFF_TRACE_INFO] && (n[PROF_NTFF_NTRACE] || n[PROF_NTFF_CPU_UTIL_PB] || n[PROF_NTFF_HOST_MEM_PB]))
        prof__checkup_say(c, PROF_NTFF_PROBLEM,
                          "trace_info.pb is missing, without which Neuron Explorer opens no folder: the "
                          "session was not ended. Call nrt_inspect_stop() or prof_ntff_session_end() before "
                          "nrt_close(), and do not kill the process before that is done");
    if (!n[PROF_NTFF_TRACE_INFO]) return;
    if (!n[PROF_NTFF_NTRACE])
        prof__checkup_say(c, PROF_NTFF_PROBLEM,
                          "ntrace.pb is missing, without which Neuron Explorer opens no folder: the activity "
                          "system_profile was off (NEURON_RT_INSPECT_SYSTEM_PROFILE)");
    if (!n[PROF_NTFF_NTFF])
        prof__checkup_say(c, PROF_NTFF_REMARK,
                          "no device profile (.ntff): there is none unless asked for "
                          "(NEURON_RT_INSPECT_DEVICE_PROFILE=session, or the activity device_profile)");
    if (!n[PROF_NTFF_TRACE_JSON])
        prof__checkup_say(c, PROF_NTFF_REMARK,
                          "no trace.json: Neuron Explorer shows nothing of the host's scopes (prof neuron place)");
}

/* Checks the files of one folder, which are those from `first` up to `end`. */
static void prof__checkup_files(prof__checkup *c, size_t first, size_t end)
{
    const char *folder = c->tree->list[first].folder;
    size_t i;
    int bad = 0;
    memset(c->counts, 0, sizeof c->counts);
    for (i = first; i < end; i++) {
        c->counts[c->tree->list[i].kind]++;
        bad |= !c->tree->list[i].size || c->tree->list[i].blank;
    }
    if (c->counts[PROF_NTFF_NEFF] == end - first && !bad) return; /* only models: they belong to the session above */
    for (i = 0; i < c->tree->count; i++)
        c->counts[PROF_NTFF_NEFF] += c->tree->list[i].kind == PROF_NTFF_NEFF &&
                                     prof__path_below(c->tree->list[i].folder, folder) &&
                                     !strcmp(c->tree->list[i].folder + strlen(folder), "/neffs");
    prof__checkup_folder(c, folder);
    prof__checkup_session(c);
    for (i = first; i < end; i++) {
        prof__checkup_file(c, &c->tree->list[i]);
        if (c->tree->list[i].kind == PROF_NTFF_TRACE_JSON) prof__checkup_json(c, &c->tree->list[i]);
    }
}

static void prof__checkup_all(prof__checkup *c, const char *dir)
{
    size_t first, end, count = c->tree->count, models = 0;
    for (first = 0; first < count; first = end) {
        for (end = first + 1; end < count && !strcmp(c->tree->list[end].folder, c->tree->list[first].folder);) end++;
        prof__checkup_files(c, first, end);
    }
    for (first = 0; first < count; first++) models += c->tree->list[first].kind == PROF_NTFF_NEFF;
    for (first = 0; first < c->tree->closed_count; first++) {
        prof__checkup_say(c, PROF_NTFF_FOLDER, "%s: cannot be read", c->tree->closed[first]);
        prof__checkup_say(c, PROF_NTFF_PROBLEM,
                          "its files were not checked: run this as the user who ran the program");
    }
    if (models < count || c->tree->closed_count) return;
    memset(c->counts, 0, sizeof c->counts);
    c->counts[PROF_NTFF_NEFF] = models;
    prof__checkup_folder(c, dir);
    prof__checkup_say(c, PROF_NTFF_PROBLEM,
                      "nothing was captured here. If the program ran on a NeuronCore: either "
                      "NEURON_RT_INSPECT_ENABLE=1 is set before it calls nrt_init(), or a session is begun "
                      "after that, or PyTorch's or JAX's profiler is used, but only one of them; and the folder "
                      "is NEURON_RT_INSPECT_OUTPUT_DIR, or ./output where it was started");
}

PROF_DEF prof_status prof_ntff_check(const char *dir, prof_ntff_say_fn say, void *user, int *problems)
{
    prof__tree tree;
    prof__checkup c;
    prof_status status = prof__tree_read(&tree, dir);
    memset(&c, 0, sizeof c);
    c.say = say;
    c.user = user;
    c.tree = &tree;
    if (status == PROF_OK) prof__checkup_all(&c, dir);
    prof__tree_free(&tree);
    if (problems) *problems = c.problems;
    return status;
}

#endif /* PROF__NTFF_CHECKUP_H */
