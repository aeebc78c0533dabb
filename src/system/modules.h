// system/modules: Lists the program and its libraries, to which addresses of samples belong.
#ifndef PROF__SYSTEM_MODULES_H
#define PROF__SYSTEM_MODULES_H
#include "ground/clock.h"
#include "ground/instances.h"
#include "ground/symbols.h"
#include "record/locks.h"
#include "record/meta.h"
#include "system/state.h"

#ifdef PROF__SYSTEM_LINUX
/* A loaded part that has code, while the loader's list is read. */
typedef struct prof__found_module {
    uint64_t start, end, offset;
    char path[512], build[2 * PROF__MAX_BUILD_ID + 1];
} prof__found_module;

typedef struct prof__found_modules {
    prof__found_module *list;
    size_t count, room;
    int may, first; /* may: it may ask the system for paths; first: of the loader's list, which is the program */
    int missing;
} prof__found_modules;

/* What a newer dl_phdr_info has besides. */
typedef struct prof__loads {
    prof__loaded loaded;
    unsigned long long counts[2];
} prof__loads;

/* Tells how many modules the loader has loaded and unloaded so far, and ends with the first one of its list. */
static int prof__loads_visit(const prof__loaded *loaded, size_t size, void *user)
{
    prof__loads all;
    if (size < sizeof all) return 1;
    memcpy(&all, loaded, sizeof all);
    memcpy(user, all.counts, sizeof all.counts);
    return 1;
}

static void prof__found_build(const prof__loaded *loaded, prof__found_module *module)
{
    const prof__segment *segments = (const prof__segment *)loaded->segments;
    prof__elf elf;
    memset(&elf, 0, sizeof elf);
    elf.big = PROF__LOW_HALF;
    for (uint16_t i = 0; i < loaded->segment_count && !*module->build; ++i)
        if (segments[i].p_type == PT_NOTE)
            prof__build_id_text(&elf, (const unsigned char *)(loaded->base + (uintptr_t)segments[i].p_vaddr),
                                (size_t)segments[i].p_memsz, segments[i].p_align == 8 ? 8 : 4, module->build);
}

/* The loader calls this for each module, under a lock of its own: so it is not unloaded meanwhile. */
static int prof__found_visit(const prof__loaded *loaded, size_t size, void *user)
{
    prof__found_modules *found = (prof__found_modules *)user;
    const prof__segment *segments = (const prof__segment *)loaded->segments;
    const char *name = loaded->name ? loaded->name : "";
    int first = found->first;
    (void)size;
    found->first = 0;
    if (!found->may && (first || *name != '/')) return 0; /* it is known, or cannot be named */
    for (uint16_t i = 0; i < loaded->segment_count; ++i) {
        if (segments[i].p_type != PT_LOAD || !(segments[i].p_flags & PF_X)) continue;
        if (found->count == found->room) {
            size_t room = found->room ? found->room * 2 : 32;
            prof__found_module *more = (prof__found_module *)realloc(found->list, room * sizeof *more);
            found->missing |= !more;
            if (!more) return 1;
            found->list = more;
            found->room = room;
        }
        prof__found_module *module = &found->list[found->count++];
        memset(module, 0, sizeof *module);
        module->start = (uint64_t)(loaded->base + (uintptr_t)segments[i].p_vaddr);
        module->end = module->start + segments[i].p_memsz;
        module->offset = segments[i].p_offset;
        prof__found_build(loaded, module);
        if (first || *name) prof__loaded_path(module->path, sizeof module->path, name);
    }
    return 0;
}

/* Adds a module to the list, in place of those that had its addresses. Returns 0 if it was there, or without memory. */
static int prof__modules_add(const prof__known_module *module)
{
    size_t kept = 0;
    for (size_t i = 0; i < prof__system.module_count; ++i)
        if (!memcmp(&prof__system.modules[i], module, sizeof *module)) return 0;
    for (size_t i = 0; i < prof__system.module_count; ++i) {
        const prof__known_module *old = &prof__system.modules[i];
        if (old->end <= module->start || old->start >= module->end) prof__system.modules[kept++] = *old;
    }
    prof__system.module_count = kept;
    if (kept == prof__system.module_room) {
        size_t room = kept ? kept * 2 : 64;
        prof__known_module *more = (prof__known_module *)realloc(prof__system.modules, room * sizeof *more);
        prof__system.modules_missing |= !more;
        if (!more) return 0;
        prof__system.modules = more;
        prof__system.module_room = room;
    }
    prof__system.modules[prof__system.module_count++] = *module;
    return 1;
}

/* Records a module, if it is new. since: CLOCK_MONOTONIC, or 0. Under the state's lock. */
static void prof__modules_meet(const prof__found_module *found, uint64_t since)
{
    prof__session *s = prof__system.session;
    prof__known_module module;
    memset(&module, 0, sizeof module);
    module.start = found->start;
    module.end = found->end;
    module.offset = found->offset;
    module.path = prof__meta_string(s, found->path);
    module.build = prof__meta_string(s, found->build);
    if (!prof__modules_add(&module)) return;
    uint64_t words[PROF__MODULE_WORDS - 1] = {module.start, module.end, module.offset, since,
                                              (uint64_t)module.build << 32 | module.path};
    if (!prof__meta_intern(s, PROF__META_MODULE, words, sizeof words, &prof__system.module_records))
        prof__system.modules_missing = 1;
}

/* Records the modules that are new. may: 1: the system may be asked for their paths. */
static void prof__modules_list(int may, uint64_t since)
{
    prof__found_modules found;
    memset(&found, 0, sizeof found);
    found.may = may;
    found.first = 1;
    prof__loaded_each(prof__found_visit, &found);
    prof__system.modules_missing |= found.missing;
    uint32_t write_lock = prof__state_lock();
    for (size_t i = 0; i < found.count && prof__state.session == prof__system.session; ++i)
        prof__modules_meet(&found.list[i], since);
    prof__state_unlock(write_lock);
    free(found.list);
}

/* Records the modules that the program had when recording began. */
static void prof__modules_begin(void)
{
    prof__system.module_count = prof__system.module_records = 0;
    prof__system.modules_missing = 0;
    memset(prof__system.loads, 0, sizeof prof__system.loads);
    prof__loaded_each(prof__loads_visit, prof__system.loads);
    prof__modules_list(1, 0);
}

/* Records the modules that were loaded since the last look. */
static void prof__modules_look(int may)
{
    unsigned long long loads[2] = {0, 0};
    uint64_t now = prof__monotonic();
    prof__loaded_each(prof__loads_visit, loads);
    if (!memcmp(loads, prof__system.loads, sizeof loads)) return;
    memcpy(prof__system.loads, loads, sizeof loads);
    prof__modules_list(may, now);
}
#endif

#endif /* PROF__SYSTEM_MODULES_H */
