// ntff/artifacts: Finds the files of captures below a folder, and parses their names.
#ifndef PROF__NTFF_ARTIFACTS_H
#define PROF__NTFF_ARTIFACTS_H
#include "ground/errors.h"
#include "ground/hash.h"
#include "ground/out.h"
#include "ground/windows.h"
#include "ntff/api.h"
#include "ntff/kineto_file.h"

/*-- ARTIFACTS --------------------------------------------------------------------------------------- >>artifacts -- */

#ifndef _WIN32
#include <dirent.h>
#ifdef PROF__WRAPS_MALLOC
#define opendir(path) PROF__QUIETLY(DIR *, opendir(path))
#define closedir(folder) PROF__QUIETLY(int, closedir(folder))
#endif
#endif

#define PROF__ARTIFACTS_DEPTH 4
#define PROF__ARTIFACTS_MAX 100000u              /* files; a folder with more is not one of captures */
#define PROF__ARTIFACTS_NTFF ((uint64_t)5 << 30) /* bytes; Neuron Explorer fails with larger files, as documented */

/* Gets each entry of a folder. If it does not return 0, the search stops. */
typedef int prof__entry_fn(void *user, const char *folder, const char *name);

/* Calls fn for each entry of a folder. Returns 0 if the folder cannot be read. */
static int prof__entries(const char *folder, prof__entry_fn *fn, void *user)
{
#ifdef _WIN32
    WIN32_FIND_DATAA entry;
    char *pattern = prof__text_join(folder, "\\*");
    HANDLE find = pattern ? FindFirstFileA(pattern, &entry) : INVALID_HANDLE_VALUE;
    free(pattern);
    if (find == INVALID_HANDLE_VALUE) return 0;
    do {
        if (strcmp(entry.cFileName, ".") && strcmp(entry.cFileName, "..") && fn(user, folder, entry.cFileName)) break;
    } while (FindNextFileA(find, &entry));
    FindClose(find);
#else
    DIR *find = opendir(folder);
    const struct dirent *entry;
    if (!find) return 0;
    while ((entry = readdir(find)) != NULL)
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") && fn(user, folder, entry->d_name)) break;
    closedir(find);
#endif
    return 1;
}

static char *prof__path_join(const char *folder, const char *name)
{
    size_t a = strlen(folder), b = strlen(name);
    char *path = (char *)malloc(a + b + 2);
    if (!path) return NULL;
    memcpy(path, folder, a);
    path[a] = '/';
    memcpy(path + a + 1, name, b + 1);
    return path;
}

/*-- names --*/

/* Reads a number at *text, and moves *text behind it. Returns 0 if there is none. */
static int prof__name_number(const char **text, int32_t *number)
{
    const char *c = *text;
    int64_t value = 0;
    for (; *c >= '0' && *c <= '9'; c++) value = value < 0x7FFFFFFF ? value * 10 + (*c - '0') : value;
    if (c == *text || value > 0x7FFFFFFF) return 0;
    *number = (int32_t)value;
    *text = c;
    return 1;
}

static int prof__name_ends(const char *name, const char *end)
{
    size_t a = strlen(name), b = strlen(end);
    return a > b && !strcmp(name + a - b, end);
}

/* Copies the hexadecimal digits at `name`, which end before `end`. Returns 0 if there are none. */
static int prof__name_hash(const char *name, const char *end, char *hash)
{
    size_t length = 0;
    while ((name[length] >= '0' && name[length] <= '9') || (name[length] >= 'a' && name[length] <= 'f')) length++;
    if (!length || length > 71 || strncmp(name + length, end, strlen(end))) return 0;
    memcpy(hash, name, length);
    hash[length] = 0;
    return 1;
}

static void prof__name_after(const char *name, const char *word, int32_t *number)
{
    const char *at = strstr(name, word);
    if (at && (at += strlen(word), prof__name_number(&at, number))) return;
}

/* Finds out from the name of a file what it is. Returns 0 if it is not a file of Neuron. */
static int prof__artifact_name(const char *name, prof_ntff_artifact *a)
{
    static const struct {
        const char *name;
        prof_ntff_kind kind;
    } names[] = {{"ntrace.pb", PROF_NTFF_NTRACE},         {"trace_info.pb", PROF_NTFF_TRACE_INFO},
                 {"cpu_util.pb", PROF_NTFF_CPU_UTIL_PB},  {"host_mem.pb", PROF_NTFF_HOST_MEM_PB},
                 {"trace.json", PROF_NTFF_TRACE_JSON}};
    size_t i;
    memset(a, 0, sizeof *a);
    a->nc = a->session = -1;
    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i].name)) {
            a->kind = names[i].kind;
            return 1;
        }
    if (!strncmp(name, "neuron_framework_trace_rank_", 28) && prof__name_ends(name, ".json")) {
        a->kind = PROF_NTFF_STRAY_JSON;
    } else if (prof__name_ends(name, ".neff")) {
        a->kind = PROF_NTFF_NEFF;
        prof__name_after(name, "_vnc_", &a->nc);
        if (!strncmp(name, "neff_", 5) && !prof__name_hash(name + 5, "_vnc_", a->hash))
            (void)prof__name_hash(name + 5, ".neff", a->hash);
        if (!strncmp(name, "graph_", 6)) (void)prof__name_hash(name + 6, ".neff", a->hash);
    } else if (prof__name_ends(name, ".ntff")) {
        a->kind = PROF_NTFF_NTFF;
        if (!strncmp(name, "profile_nc_", 11)) {
            prof__name_after(name, "profile_nc_", &a->nc);
            prof__name_after(name, "_session_", &a->session);
        } else {
            prof__name_after(name, "_vnc_", &a->nc);
            (void)prof__name_hash(name, "_instid_", a->hash);
        }
    } else {
        return 0;
    }
    return 1;
}

/* Returns 1 if two hashes are equal. The first may be decimal, the second is hexadecimal. */
static int prof__hash_same(const char *a, const char *b)
{
    uint64_t decimal = 0, hex = 0;
    const char *c;
    if (!strcmp(a, b)) return 1;
    if (strlen(a) > 20 || strlen(b) > 16) return 0;
    for (c = a; *c; c++) {
        if (*c > '9') return 0;
        decimal = decimal * 10 + (uint64_t)(*c - '0');
    }
    for (c = b; *c; c++) hex = hex * 16 + (uint64_t)(*c <= '9' ? *c - '0' : *c - 'a' + 10);
    return decimal == hex;
}

/*-- a tree --*/

typedef struct prof__tree {
    prof_ntff_artifact *list;
    size_t count, capacity;
    char **texts;
    size_t text_count, text_capacity;
    const char **closed; /* the folders that could not be read */
    size_t closed_count, closed_capacity;
    int depth, no_memory;
    uint32_t seen;
} prof__tree;

/* Takes ownership of a text on the heap, and returns it. Returns NULL without memory. */
static char *prof__tree_keep(prof__tree *tree, char *text)
{
    if (text && PROF__ROOM(tree->texts, tree->text_capacity, tree->text_count))
        return tree->texts[tree->text_count++] = text;
    free(text);
    tree->no_memory = 1;
    return NULL;
}

static int prof__tree_blank(const char *path)
{
    unsigned char bytes[64];
    size_t got = 0, i;
    FILE *file = prof__file_open(path, "rb");
    if (file) {
        got = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
    }
    for (i = 0; i < got; i++)
        if (bytes[i]) return 0;
    return got > 0;
}

static int prof__tree_add(void *user, const char *folder, const char *name)
{
    prof__tree *tree = (prof__tree *)user;
    prof_ntff_artifact a;
    uint64_t size = 0, changed;
    char *path = prof__path_join(folder, name);
    int kind = path ? prof__path_kind(path, &size, &changed) : 0, known = kind == 1 && prof__artifact_name(name, &a);
    if (!path) tree->no_memory = 1;
    if (++tree->seen > PROF__ARTIFACTS_MAX || tree->no_memory || (kind != 2 && !known) ||
        (kind == 2 && tree->depth == PROF__ARTIFACTS_DEPTH)) {
        free(path);
        return tree->no_memory || tree->seen > PROF__ARTIFACTS_MAX;
    }
    path = prof__tree_keep(tree, path);
    if (!path) return 1;
    if (kind == 2) {
        tree->depth++;
        if (!prof__entries(path, prof__tree_add, tree)) {
            if (PROF__ROOM(tree->closed, tree->closed_capacity, tree->closed_count))
                tree->closed[tree->closed_count++] = path;
            else
                tree->no_memory = 1;
        }
        tree->depth--;
        return tree->no_memory;
    }
    a.path = path;
    a.folder = folder;
    a.name = path + strlen(folder) + 1;
    a.size = size;
    a.blank = a.kind != PROF_NTFF_TRACE_JSON && prof__tree_blank(path);
    if (!PROF__ROOM(tree->list, tree->capacity, tree->count)) return tree->no_memory = 1;
    tree->list[tree->count++] = a;
    return 0;
}

static int prof__artifact_order(const void *a, const void *b)
{
    const prof_ntff_artifact *x = (const prof_ntff_artifact *)a, *y = (const prof_ntff_artifact *)b;
    int order = strcmp(x->folder, y->folder);
    return order ? order : strcmp(x->name, y->name);
}

/* Returns 1 if `path` is `dir` or below it. */
static int prof__path_below(const char *path, const char *dir)
{
    size_t length = strlen(dir);
    return !strncmp(path, dir, length) && (!path[length] || path[length] == '/');
}

/* Returns 1 if a model belongs to a profile. If both names have a hash, these must be equal, and one file's folder must
   be the other's or below it. If a name has no hash, the two must be in one folder. */
static int prof__artifact_pair(const prof_ntff_artifact *ntff, const prof_ntff_artifact *neff)
{
    if (ntff->hash[0] && neff->hash[0])
        return prof__hash_same(ntff->hash, neff->hash) &&
               (prof__path_below(neff->folder, ntff->folder) || prof__path_below(ntff->folder, neff->folder));
    if (!prof__path_below(neff->folder, ntff->folder)) return 0;
    const char *below = neff->folder + strlen(ntff->folder);
    return !*below || !strcmp(below, "/neffs");
}

/* Compares each model with each profile, and counts the pairs. Models are few; profiles are many, one a NeuronCore. */
static void prof__tree_pair(prof__tree *tree)
{
    size_t i, j;
    for (j = 0; j < tree->count; j++) {
        for (i = 0; i < tree->count && tree->list[j].kind == PROF_NTFF_NEFF; i++) {
            if (tree->list[i].kind != PROF_NTFF_NTFF || !prof__artifact_pair(&tree->list[i], &tree->list[j])) continue;
            tree->list[i].paired++;
            tree->list[j].paired++;
        }
    }
}

static void prof__tree_free(prof__tree *tree)
{
    size_t i;
    for (i = 0; i < tree->text_count; i++) free(tree->texts[i]);
    free(tree->texts);
    free(tree->closed);
    free(tree->list);
}

static prof_status prof__tree_read(prof__tree *tree, const char *dir)
{
    size_t length;
    char *root;
    memset(tree, 0, sizeof *tree);
    if (!dir || !*dir) return prof__fail(PROF_INVALID_ARGUMENT, "folder is null or empty");
    root = prof__tree_keep(tree, prof__text_join(dir, ""));
    for (length = root ? strlen(root) : 0; length > 1 && root[length - 1] == '/'; length--) root[length - 1] = 0;
    if (root && !prof__entries(root, prof__tree_add, tree))
        return prof__fail(PROF_IO, "cannot read %s: %s", dir, strerror(errno));
    if (tree->no_memory) return prof__fail(PROF_NO_MEMORY, "%s: no memory to list it", dir);
    if (tree->seen > PROF__ARTIFACTS_MAX)
        return prof__fail(PROF_UNSUPPORTED,
                          "%s holds more than %u files and folders: name a folder that the Neuron runtime wrote",
                          dir, PROF__ARTIFACTS_MAX);
    if (tree->count > 1) qsort(tree->list, tree->count, sizeof *tree->list, prof__artifact_order);
    prof__tree_pair(tree);
    return PROF_OK;
}

PROF_DEF prof_status prof_ntff_list(const char *dir, prof_ntff_artifact_fn fn, void *user)
{
    prof__tree tree;
    prof_status status = prof__tree_read(&tree, dir);
    size_t i;
    for (i = 0; status == PROF_OK && fn && i < tree.count && !fn(user, &tree.list[i]); i++) continue;
    prof__tree_free(&tree);
    return status;
}

#endif /* PROF__NTFF_ARTIFACTS_H */
