/* symbols.c - finds functions and lines of addresses: in the modules that a recording names, in their separate files of
   debug information, and in the maps of just-in-time compilers. See symbols.h. Files are opened one after the other,
   and closed when the places in them are known. */
#include "symbols.h"
#include "elf.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#ifndef _WIN32
#include <unistd.h>
#endif

#define PATH 4200

/* A file that modules were mapped from. */
typedef struct home {
    const char *path, *build_id; /* those of the trace */
    const char *name;            /* the last part of the path */
    size_t unnamed;              /* places without a name */
} home;

struct symbols {
    const prof_trace *trace;
    const char *folder;
    symbols_place *places;
    size_t *homes_of; /* by place; SYMBOLS_NONE: no module */
    size_t place_count, place_capacity, *place_slots, place_slot_count;
    symbols_function *functions;
    size_t function_count, function_capacity;
    home *homes;
    size_t home_count, home_capacity;
    char **notes;
    size_t note_count, note_capacity;
    int failed;
};

/* Makes room for one more item of an array that has `count`. Returns the array, which may have moved; NULL without
   memory. */
static void *roomy(void *items, size_t *capacity, size_t count, size_t size)
{
    size_t wanted = *capacity ? *capacity * 2 : 64;
    if (count < *capacity) return items;
    items = realloc(items, wanted * size);
    if (items) *capacity = wanted;
    return items;
}

static char *text_of(symbols *all, const char *format, ...) PROF__PRINTF(2, 3);
static char *text_of(symbols *all, const char *format, ...)
{
    char text[2 * PATH + 600], *copy;
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    copy = (char *)malloc(strlen(text) + 1);
    if (!copy) all->failed = 1;
    return copy ? strcpy(copy, text) : NULL;
}

static void add_note(symbols *all, char *text)
{
    char **notes = (char **)roomy(all->notes, &all->note_capacity, all->note_count, sizeof *notes);
    if (!text || !notes) {
        all->failed = 1;
        free(text);
        return;
    }
    all->notes = notes;
    notes[all->note_count++] = text;
}

/*-- places --*/

symbols *symbols_open(const prof_trace *trace, const char *folder)
{
    symbols *all = (symbols *)calloc(1, sizeof *all);
    if (!all) return NULL;
    all->trace = trace;
    all->folder = folder;
    return all;
}

void symbols_close(symbols *all)
{
    size_t i;
    if (!all) return;
    for (i = 0; i < all->place_count; i++) free(all->places[i].file);
    for (i = 0; i < all->function_count; i++) {
        free(all->functions[i].name);
        free(all->functions[i].mangled);
        free(all->functions[i].file);
    }
    for (i = 0; i < all->note_count; i++) free(all->notes[i]);
    free(all->places);
    free(all->homes_of);
    free(all->place_slots);
    free(all->functions);
    free(all->homes);
    free(all->notes);
    free(all);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Returns the number of the file of a module: segments of one file, and the same file mapped anew, share it. */
static size_t home_of(symbols *all, const prof_module *module)
{
    home *homes;
    size_t i;
    for (i = 0; i < all->home_count; i++)
        if (tool_same(all->homes[i].path, module->path) && tool_same(all->homes[i].build_id, module->build_id))
            return i;
    homes = (home *)roomy(all->homes, &all->home_capacity, i, sizeof *homes);
    if (!homes) return SYMBOLS_NONE;
    all->homes = homes;
    memset(&homes[i], 0, sizeof homes[i]);
    homes[i].path = module->path;
    homes[i].build_id = module->build_id;
    homes[i].name = last_part(module->path);
    return all->home_count++;
}

static size_t *slot_of(symbols *all, const prof_module *module, uint64_t address, int after_call)
{
    uint64_t hash = (address * 2 + (uint64_t)after_call + (uint64_t)(uintptr_t)module) * 0x9E3779B97F4A7C15u;
    size_t mask = all->place_slot_count - 1, i = (size_t)(hash >> 32) & mask;
    for (; all->place_slots[i] != SYMBOLS_NONE; i = (i + 1) & mask) {
        const symbols_place *at = &all->places[all->place_slots[i]];
        if (at->address == address && at->module == module && at->after_call == after_call) break;
    }
    return &all->place_slots[i];
}

/* Keeps a third of the slots free. Returns 0 without memory. */
static int grow_slots(symbols *all)
{
    size_t size = all->place_slot_count ? all->place_slot_count * 2 : 1024, i, *slots;
    if (all->place_count * 3 < all->place_slot_count * 2) return 1;
    slots = (size_t *)malloc(size * sizeof *slots);
    if (!slots) return 0;
    free(all->place_slots);
    all->place_slots = slots;
    all->place_slot_count = size;
    for (i = 0; i < size; i++) slots[i] = SYMBOLS_NONE;
    for (i = 0; i < all->place_count; i++)
        *slot_of(all, all->places[i].module, all->places[i].address, all->places[i].after_call) = i;
    return 1;
}

size_t symbols_add(symbols *all, uint64_t address, int64_t time_ns, int after_call)
{
    const prof_module *module = prof_module_at(all->trace, address - (uint64_t)(after_call != 0), time_ns);
    size_t capacity = all->place_capacity, *slot, *homes;
    symbols_place *places, *to;
    if (!grow_slots(all)) return SYMBOLS_NONE;
    slot = slot_of(all, module, address, after_call != 0);
    if (*slot != SYMBOLS_NONE) return *slot;
    places = (symbols_place *)roomy(all->places, &capacity, all->place_count, sizeof *places);
    if (!places) return SYMBOLS_NONE;
    all->places = places;
    homes = (size_t *)roomy(all->homes_of, &all->place_capacity, all->place_count, sizeof *homes);
    if (!homes) return SYMBOLS_NONE;
    all->homes_of = homes;
    homes[all->place_count] = module ? home_of(all, module) : SYMBOLS_NONE;
    to = &places[all->place_count];
    memset(to, 0, sizeof *to);
    to->address = address;
    to->module = module;
    to->after_call = after_call != 0;
    to->function = SYMBOLS_NONE;
    return *slot = all->place_count++;
}

size_t symbols_places(const symbols *all) { return all->place_count; }
const symbols_place *symbols_at(const symbols *all, size_t place) { return &all->places[place]; }
size_t symbols_functions(const symbols *all) { return all->function_count; }
const symbols_function *symbols_function_at(const symbols *all, size_t function) { return &all->functions[function]; }
const char *symbols_note(const symbols *all, size_t i) { return i < all->note_count ? all->notes[i] : NULL; }

static size_t add_function(symbols *all, size_t home_number, uint64_t start, char *name, const char *mangled)
{
    symbols_function *to =
        (symbols_function *)roomy(all->functions, &all->function_capacity, all->function_count, sizeof *to);
    if (!to || !name) {
        if (to) all->functions = to;
        free(name);
        all->failed = 1;
        return SYMBOLS_NONE;
    }
    all->functions = to;
    to += all->function_count;
    memset(to, 0, sizeof *to);
    to->name = name;
    to->mangled = mangled ? text_of(all, "%s", mangled) : NULL;
    to->module = home_number == SYMBOLS_NONE ? "" : all->homes[home_number].name;
    to->home = home_number;
    to->start = start;
    return all->function_count++;
}

/*-- the files of a module --*/

#define OPEN 4

typedef struct search {
    symbols *all;
    const home *of;
    elf_file *files[OPEN];
    size_t count;
    elf_file *lines;         /* has a line table; NULL: none was found */
    elf_function *functions;
    size_t function_count;
    int full;                /* 1: the functions are all that the file was linked of */
    char refused[PATH];      /* a file with another build id; "": none */
    const char *why;         /* what is wrong with the module's own file */
} search;

static int search_done(const search *s) { return (s->full && s->lines) || s->count == OPEN || s->all->failed; }

/* Takes what is still missing from a file, if it is there and belongs to the module. crc: what its bytes must have, if
   there is no build id to compare; NULL: anything. */
static void try_file(search *s, const char *path, const uint32_t *crc)
{
    elf_function *functions = NULL;
    elf_reader line;
    elf_file *file;
    const char *why;
    size_t count = 0;
    int full = 0, other;
    if (search_done(s)) return;
    file = elf_open(path, &why);
    if (tool_same(path, s->of->path)) s->why = file ? NULL : *why ? why : "is not on this machine";
    if (!file) return;
    other = *s->of->build_id ? !tool_same(elf_build_id(file), s->of->build_id) : crc && elf_crc(file) != *crc;
    if (other) {
        if (!*s->refused) snprintf(s->refused, sizeof s->refused, "%s", path);
        elf_close(file);
        return;
    }
    s->files[s->count++] = file;
    if (!s->lines && elf_section(file, ".debug_line", &line)) s->lines = file;
    if (s->full) return;
    if (!elf_functions(file, &functions, &count, &full)) s->all->failed = 1;
    if (count && (full || !s->function_count)) {
        free(s->functions);
        s->functions = functions;
        s->function_count = count;
        s->full = full;
    } else {
        free(functions);
    }
}

/* Looks for FOLDER/.build-id/ab/cdef.debug. */
static void try_build_id(search *s, const char *folder)
{
    char path[PATH];
    if (strlen(s->of->build_id) < 4) return;
    snprintf(path, sizeof path, "%s/.build-id/%.2s/%s.debug", folder, s->of->build_id, s->of->build_id + 2);
    try_file(s, path, NULL);
}

/* Looks in a folder for the module's path, and for shorter and shorter ends of it; for a separate file as well. */
static void try_tails(search *s, const char *folder)
{
    const char *tail = s->of->path;
    char path[PATH];
    while (tail) {
        tail += *tail == '/';
        snprintf(path, sizeof path, "%s/%s", folder, tail);
        try_file(s, path, NULL);
        snprintf(path, sizeof path, "%s/%s.debug", folder, tail);
        try_file(s, path, NULL);
        tail = strchr(tail, '/');
    }
}

/* Looks where debuggers look for the file that a stripped file names. */
static void try_debug_link(search *s)
{
    char path[PATH + 300], folder[PATH] = ".";
    const char *link = NULL, *slash = strrchr(s->of->path, '/');
    uint32_t crc = 0;
    size_t i;
    for (i = 0; i < s->count && !link; i++) link = elf_debug_link(s->files[i], &crc);
    if (!link) return;
    if (slash) snprintf(folder, sizeof folder, "%.*s", (int)(slash - s->of->path), s->of->path);
    snprintf(path, sizeof path, "%s/%.255s", folder, link);
    try_file(s, path, &crc);
    snprintf(path, sizeof path, "%s/.debug/%.255s", folder, link);
    try_file(s, path, &crc);
    snprintf(path, sizeof path, "/usr/lib/debug%s/%.255s", folder, link);
    try_file(s, path, &crc);
    if (!s->all->folder) return;
    snprintf(path, sizeof path, "%s/%.255s", s->all->folder, link);
    try_file(s, path, &crc);
}

static void find_files(search *s)
{
    if (s->all->folder) {
        try_build_id(s, s->all->folder);
        try_tails(s, s->all->folder);
    }
    try_file(s, s->of->path, NULL);
    try_build_id(s, "/usr/lib/debug");
    try_debug_link(s);
}

/*-- functions and lines of a module --*/

typedef struct seeking {
    size_t place;
    uint64_t offset;  /* in the file */
    uint64_t address; /* before relocation */
    int known;        /* 1: the address is */
} seeking;

static int seeking_order(const void *left, const void *right)
{
    const seeking *a = (const seeking *)left, *b = (const seeking *)right;
    if (a->address != b->address) return a->address < b->address ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* Lists the places of a file, by address. Returns NULL without memory. */
static seeking *list_places(search *s, size_t home_number, size_t *count)
{
    symbols *all = s->all;
    seeking *list = (seeking *)malloc((all->place_count + 1) * sizeof *list);
    size_t i, j;
    *count = 0;
    for (i = 0; list && i < all->place_count; i++) {
        const symbols_place *place = &all->places[i];
        seeking *to = &list[*count];
        if (all->homes_of[i] != home_number) continue;
        to->place = i;
        to->offset = place->address - (uint64_t)place->after_call - place->module->start + place->module->file_offset;
        for (to->known = 0, j = 0; j < s->count && !to->known; j++)
            to->known = elf_address(s->files[j], to->offset, place->module->file_offset, &to->address);
        if (!to->known) to->address = to->offset;
        ++*count;
    }
    if (list) qsort(list, *count, sizeof *list, seeking_order);
    return list;
}

static const elf_function *find_function(const search *s, uint64_t address)
{
    size_t low = 0, high = s->function_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->functions[middle].start <= address) low = middle + 1;
        else high = middle;
    }
    return low && address < s->functions[low - 1].end ? &s->functions[low - 1] : NULL;
}

/* Gives each place its function, and lists what to look up in the line table: places, and begins of functions. */
static void name_places(search *s, size_t home_number, const seeking *list, size_t count, elf_line *lines,
                        size_t *wanted)
{
    symbols *all = s->all;
    const elf_function *last = NULL;
    size_t function = SYMBOLS_NONE, i;
    for (i = 0; i < count && !all->failed; i++) {
        const seeking *at = &list[i];
        const elf_function *found = at->known ? find_function(s, at->address) : NULL;
        if (!found || found != last) {
            uint64_t start = found ? found->start : at->address, offset = at->offset - (at->address - start);
            const char *name = found ? found->name : NULL;
            function = add_function(all, home_number, start,
                                    name ? text_of(all, "%s", name)
                                         : text_of(all, "%s+0x%llx", s->of->name, (unsigned long long)offset),
                                    name);
            if (at->known) {
                lines[*wanted].address = start;
                lines[(*wanted)++].user = function * 2;
            }
        }
        last = found;
        all->places[at->place].function = function;
        if (!found || !found->name) all->homes[home_number].unnamed++;
        if (at->known) {
            lines[*wanted].address = at->address;
            lines[(*wanted)++].user = at->place * 2 + 1;
        }
    }
}

static void take_lines(symbols *all, const elf_line *lines, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        size_t to = lines[i].user / 2;
        if (lines[i].user & 1) {
            all->places[to].file = lines[i].file;
            all->places[to].line = lines[i].file ? lines[i].line : 0;
        } else {
            all->functions[to].file = lines[i].file;
            all->functions[to].line = lines[i].file ? lines[i].line : 0;
        }
    }
}

/* Says why places of a file have no names. */
static void explain(search *s, const home *of)
{
    const char *why = s->why ? s->why : "has no symbols";
    if (!of->unnamed || s->full) return; /* with all symbols, the rest is what no function has, as calls of libraries */
    if (*s->refused)
        add_note(s->all, text_of(s->all, "%s: %s is another build than the one that ran (its build id differs), so its "
                                 "names are not used: give the folder of the right one with --symbols DIR",
                                 of->name, s->refused));
    else if (s->why)
        add_note(s->all, text_of(s->all, "%s: %s %s: give the folder of a copy with --symbols DIR", of->name, of->path,
                                 why));
    else if (!s->full)
        add_note(s->all, text_of(s->all, "%s: %s %s, but for those that it exports: give the folder of its debug file "
                                 "with --symbols DIR", of->name, of->path, why));
}

static void resolve_home(symbols *all, size_t home_number)
{
    search s;
    seeking *list;
    elf_line *lines;
    size_t count, wanted = 0, i;
    memset(&s, 0, sizeof s);
    s.all = all;
    s.of = &all->homes[home_number];
    find_files(&s);
    list = list_places(&s, home_number, &count);
    lines = list ? (elf_line *)calloc(count * 2 + 1, sizeof *lines) : NULL;
    if (!lines) all->failed = 1;
    if (!all->failed) name_places(&s, home_number, list, count, lines, &wanted);
    if (!all->failed && s.lines && elf_lines(s.lines, lines, wanted)) take_lines(all, lines, wanted);
    explain(&s, &all->homes[home_number]);
    for (i = 0; i < s.count; i++) elf_close(s.files[i]);
    free(s.functions);
    free(lines);
    free(list);
}

/*-- what has no file --*/

/* A function that a just-in-time compiler made: a line of /tmp/perf-PID.map. */
typedef struct compiled {
    uint64_t start, end;
    size_t order; /* later ones take the place of earlier ones */
    char *name;
    size_t function;
} compiled;

static int compiled_order(const void *left, const void *right)
{
    const compiled *a = (const compiled *)left, *b = (const compiled *)right;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static FILE *open_regular(const char *path)
{
    struct stat about;
    return stat(path, &about) || (about.st_mode & S_IFMT) != S_IFREG ? NULL : tool_file_open(path, "rb");
}

/* 1: the recording was made on this machine, since it was started. */
static int is_here(const prof_trace_info *info)
{
    char id[64] = "";
    FILE *file = *info->boot_id ? fopen("/proc/sys/kernel/random/boot_id", "r") : NULL;
    if (!file) return 0;
    if (!fgets(id, sizeof id, file)) *id = 0;
    fclose(file);
    id[strcspn(id, "\n")] = 0;
    return !strncmp(id, info->boot_id, strlen(info->boot_id));
}

static FILE *open_map(const symbols *all)
{
    const prof_trace_info *info = prof_trace_about(all->trace);
    char path[PATH];
    FILE *file = NULL;
    snprintf(path, sizeof path, "%.4000s/perf-%llu.map", all->folder ? all->folder : "", (unsigned long long)info->pid);
    if (all->folder) file = open_regular(path);
    snprintf(path, sizeof path, "/tmp/perf-%llu.map", (unsigned long long)info->pid);
    return file || !is_here(info) ? file : open_regular(path);
}

/* Reads lines of the form "START SIZE NAME", numbers in hex. */
static compiled *read_map(symbols *all, size_t *count)
{
    compiled *list = NULL;
    size_t capacity = 0;
    char line[PATH];
    FILE *file = open_map(all);
    *count = 0;
    while (file && fgets(line, sizeof line, file)) {
        unsigned long long start, size;
        int at = 0;
        compiled *more;
        line[strcspn(line, "\r\n")] = 0;
        if (sscanf(line, "%llx %llx %n", &start, &size, &at) != 2 || !at || !line[at] || !size || size > ~start)
            continue;
        more = (compiled *)roomy(list, &capacity, *count, sizeof *list);
        if (!more) break;
        list = more;
        list[*count].start = start;
        list[*count].end = start + size;
        list[*count].order = *count;
        list[*count].function = SYMBOLS_NONE;
        list[*count].name = text_of(all, "%s", line + at);
        if (!list[*count].name) break;
        ++*count;
    }
    if (file) fclose(file);
    if (*count) qsort(list, *count, sizeof *list, compiled_order);
    return list;
}

static compiled *find_compiled(compiled *list, size_t count, uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list[middle].start <= address) low = middle + 1;
        else high = middle;
    }
    return low && address < list[low - 1].end ? &list[low - 1] : NULL;
}

/* 0: the kernel's page, or a module whose name was lost. */
static int is_file(const home *at) { return *at->path && *at->path != '[' && !strstr(at->path, "vdso"); }

/* 1: the place is in memory that no file was mapped into, as far as is known. */
static int has_no_file(const symbols *all, size_t place)
{
    return all->homes_of[place] == SYMBOLS_NONE || !is_file(&all->homes[all->homes_of[place]]);
}

static size_t kernels_page(symbols *all, size_t place)
{
    size_t at = all->homes_of[place], i;
    const char *name = at == SYMBOLS_NONE || !*all->homes[at].path ? "[unknown]"
                       : strstr(all->homes[at].path, "vdso")         ? "[vdso]"
                                                                     : all->homes[at].name;
    for (i = 0; i < all->function_count; i++)
        if (all->functions[i].home == at && tool_same(all->functions[i].name, name)) return i;
    return add_function(all, at, 0, text_of(all, "%s", name), NULL);
}

/* Names places outside of files: what a just-in-time compiler made, the kernel's page [vdso], or [unknown]. */
static void resolve_others(symbols *all)
{
    compiled *list = NULL;
    size_t count = 0, i;
    int read = 0;
    for (i = 0; i < all->place_count && !all->failed; i++) {
        symbols_place *place = &all->places[i];
        compiled *found;
        if (!has_no_file(all, i)) continue;
        if (!read++) list = read_map(all, &count);
        found = find_compiled(list, count, place->address - (uint64_t)place->after_call);
        if (!found) {
            place->function = kernels_page(all, i);
            continue;
        }
        if (found->function == SYMBOLS_NONE)
            found->function =
                add_function(all, SYMBOLS_NONE, found->start, text_of(all, "%s", found->name), found->name);
        place->function = found->function;
    }
    for (i = 0; i < count; i++) free(list[i].name);
    free(list);
}

/*-- names of C++ and Rust --*/

#ifdef _WIN32
static void demangle(symbols *all) { (void)all; }
#else
static int is_mangled(const char *name)
{
    size_t length;
    if (!name || *name != '_' || (name[1] != 'Z' && name[1] != 'R')) return 0;
    length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.$");
    return length < 4000 && !name[length];
}

/* Replaces the names of functions by the lines of what c++filt writes; leaves those that are missing. */
static size_t read_names(symbols *all, FILE *from)
{
    char line[16384];
    size_t i = 0, count = 0;
    while (fgets(line, sizeof line, from)) {
        size_t end = strcspn(line, "\n");
        char *name;
        if (!line[end]) break; /* longer than any line here: what follows would get the wrong names */
        line[end] = 0;
        while (i < all->function_count && !is_mangled(all->functions[i].mangled)) i++;
        if (i == all->function_count || !(name = (char *)malloc(end + 1))) break;
        strcpy(name, line);
        free(all->functions[i].name);
        all->functions[i++].name = name;
        count++;
    }
    return count;
}

/* Sends all names through one process. Its standard input is a file, so that neither waits for the other. */
static void demangle(symbols *all)
{
    size_t i, wanted = 0, got = 0;
    FILE *names = NULL, *from = NULL;
    int input;
    for (i = 0; i < all->function_count; i++) {
        if (!is_mangled(all->functions[i].mangled)) continue;
        if (!names && !(names = tmpfile())) return;
        fprintf(names, "%s\n", all->functions[i].mangled);
        wanted++;
    }
    if (!names) return;
    input = dup(0);
    if (!fflush(names) && lseek(fileno(names), 0, SEEK_SET) == 0 && input >= 0 && dup2(fileno(names), 0) == 0) {
        from = popen("c++filt -p -i 2>/dev/null", "r");
        dup2(input, 0);
    }
    if (from) got = read_names(all, from), pclose(from);
    if (input >= 0) close(input);
    fclose(names);
    if (got < wanted)
        add_note(all, text_of(all, "names of C++ and Rust are as the linker has them: c++filt, of binutils, is not "
                                   "installed"));
}
#endif

int symbols_resolve(symbols *all)
{
    size_t i;
    for (i = 0; i < all->home_count && !all->failed; i++)
        if (is_file(&all->homes[i])) resolve_home(all, i);
    if (!all->failed) resolve_others(all);
    if (!all->failed) demangle(all);
    return !all->failed;
}
