// record/functions: A call site for each address of code, or stack of them, which the reader names by the symbol
// tables. Static tables, no allocation.
#ifndef PROF__RECORD_FUNCTIONS_H
#define PROF__RECORD_FUNCTIONS_H
#include "api/markup.h"
#include "ground/lock.h"
#include "ground/symbols.h"

/*-- FUNCTIONS ------------------------------------------------------------------------------------------ >>functions --
   The call sites of functions that >>instrument traces, and of those that call malloc(). With a stack, each function
   has a call site for each stack that it was called from: a node of a tree, whose parent is the function's caller. They
   work before main, in signal handlers, and without an allocation. If a module is unloaded and another one is loaded at
   its address, functions keep the names of the first. */

#if defined(PROF_INSTRUMENT_FUNCTIONS) || defined(PROF__MALLOC_CALLERS)
#if defined(PROF_FREESTANDING) || !defined(__ELF__)
#error "prof.h: PROF_INSTRUMENT_FUNCTIONS needs a system with ELF modules and a libc: Linux or a BSD"
#endif
#include <link.h>
#ifdef PROF__LATE /* see >>platform: link.h declares these only with _GNU_SOURCE */
typedef struct prof__phdr_info {
    ElfW(Addr) dlpi_addr;
    const char *dlpi_name;
    const ElfW(Phdr) *dlpi_phdr;
    ElfW(Half) dlpi_phnum;
} prof__phdr_info;
extern int prof__libc_dl_iterate_phdr(int (*visit)(prof__phdr_info *info, size_t size, void *argument),
                                      void *argument) __asm__("dl_iterate_phdr");
#else
typedef struct dl_phdr_info prof__phdr_info;
#define prof__libc_dl_iterate_phdr dl_iterate_phdr
#endif

#ifndef PROF_INSTRUMENT_MAX
#define PROF_INSTRUMENT_MAX 16384 /* functions; the calls of any others count as "(more functions)" */
#endif
#define PROF__FUNCTION_SLOTS (2 * (PROF_INSTRUMENT_MAX > 1 ? PROF_INSTRUMENT_MAX : 2)) /* so some are always free */

typedef struct prof__loaded_module {
    char path[512];
    char build[32 + 2 * PROF__MAX_BUILD_ID];
} prof__loaded_module;

typedef struct PROF__SITE_TYPE prof__function {
    uintptr_t address;
    uint32_t caller; /* the number of the function that called this one, if that is told apart; else 0 */
    prof_site site;
    char name[64];
} prof__function;

/* prof__function_slots is a hash table with open addressing. A slot holds the number of a function, from 1. Writers
   hold prof__function_lock. Readers take no lock, because a slot is stored after the function that it names. Functions
   and modules stay in the tables when the module is unloaded. */
static int prof__function_lock;
static prof__function prof__functions[PROF_INSTRUMENT_MAX + 1]; /* one more, for measuring costs */
static uint32_t prof__function_slots[PROF__FUNCTION_SLOTS], prof__function_count;
static prof__loaded_module prof__loaded_modules[PROF__MAX_MODULES];
static uint32_t prof__loaded_module_count;

typedef struct prof__module_search {
    uintptr_t address, base;
    prof__loaded_module module; /* path "": not found */
} prof__module_search;

/* Stores what identifies the build of a module: its build id or, without one, its file's size and modification time. */
static void prof__module_identify(prof__loaded_module *module, const prof__phdr_info *info)
{
    char id[2 * PROF__MAX_BUILD_ID + 1] = "", build[48] = "";
    uint64_t size;
    prof__elf elf;
    memset(&elf, 0, sizeof elf);
    elf.big = PROF__LOW_HALF;
    for (size_t i = 0; i < info->dlpi_phnum && !*id; ++i) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_NOTE)
            prof__build_id_text(&elf, (const unsigned char *)(uintptr_t)(info->dlpi_addr + segment->p_vaddr),
                                (size_t)segment->p_memsz, segment->p_align == 8 ? 8 : 4, id);
    }
    if (!*id) prof__file_build(module->path, &size, build);
    snprintf(module->build, sizeof module->build, "%s%s", *id ? PROF__BUILD_ID : PROF__BUILD_TIME, *id ? id : build);
}

static int prof__module_holds(const prof__phdr_info *info, uintptr_t address)
{
    for (size_t i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && address - info->dlpi_addr - segment->p_vaddr < segment->p_memsz) return 1;
    }
    return 0;
}

/* The loader calls this for each loaded module. Returns 1, which ends the search, at the module that contains the
   address. */
static int prof__module_visit(prof__phdr_info *info, size_t size, void *argument)
{
    prof__module_search *search = (prof__module_search *)argument;
    (void)size;
    if (!prof__module_holds(info, search->address)) return 0;
    search->base = info->dlpi_addr;
    prof__loaded_path(search->module.path, sizeof search->module.path, info->dlpi_name ? info->dlpi_name : "");
    prof__module_identify(&search->module, info);
    return 1;
}

/* Returns the module's entry in the table, or NULL if the table is full. Under prof__function_lock. */
static const prof__loaded_module *prof__module_known(const prof__loaded_module *module)
{
    prof__loaded_module *known = prof__loaded_modules, *end = known + prof__loaded_module_count;
    for (; known < end; ++known)
        if (!strcmp(known->path, module->path) && !strcmp(known->build, module->build)) return known;
    if (prof__loaded_module_count == sizeof prof__loaded_modules / sizeof *prof__loaded_modules) return NULL;
    ++prof__loaded_module_count;
    *end = *module;
    return end;
}

/* Fills in the call site of an address that is met for the first time. Under prof__function_lock. */
static void prof__function_describe(prof__function *function, const prof__module_search *search, uint32_t caller,
                                    const prof_site *other)
{
    const prof__loaded_module *module = *search->module.path ? prof__module_known(&search->module) : NULL;
    const char *path = module ? module->path : "", *base = strrchr(path, '/');
    snprintf(function->name, sizeof function->name, "%.40s+0x%llx", base ? base + 1 : path,
             (unsigned long long)(search->address - search->base));
    function->site.category = other->category;
    function->site.level = other->level;
    function->site.kind = other->kind;
    function->site.name = function->name;
    function->site.file = path;
    function->site.function = module ? module->build : "";
    function->caller = caller;
    function->address = search->address;
}

static uint32_t prof__function_slot(uintptr_t address, uint32_t caller)
{
    uint64_t key = (uint64_t)address + ((uint64_t)caller << 40);
    return (uint32_t)(key * 0x9E3779B97F4A7C15u >> 32) % PROF__FUNCTION_SLOTS;
}

static prof__function *prof__function_find(uintptr_t address, uint32_t caller, uint32_t *slot)
{
    uint32_t number;
    *slot = prof__function_slot(address, caller);
    while ((number = PROF__ACQUIRE(&prof__function_slots[*slot])) != 0) {
        prof__function *function = &prof__functions[number - 1];
        if (function->address == address && function->caller == caller) return function;
        *slot = (*slot + 1) % PROF__FUNCTION_SLOTS;
    }
    return NULL;
}

/* Adds an address that is met for the first time, whose call site gets the category, level and kind of `other`. Returns
   NULL if the table is full, or its lock is taken (this may be a signal handler that interrupted the owner). */
static PROF__COLD prof__function *prof__function_add(uintptr_t address, uint32_t caller, const prof_site *other)
{
    prof__function *found = NULL;
    prof__module_search search;
    uint32_t slot;
    int error = errno;
    if (PROF__LOAD(&prof__function_count) >= PROF_INSTRUMENT_MAX) return NULL;
    memset(&search, 0, sizeof search);
    search.address = address;
    prof__libc_dl_iterate_phdr(prof__module_visit, &search); /* before the lock: the loader has one of its own */
    if (prof__lock_try(&prof__function_lock)) {
        found = prof__function_find(address, caller, &slot);
        if (!found && prof__function_count < PROF_INSTRUMENT_MAX) {
            found = &prof__functions[prof__function_count];
            prof__function_describe(found, &search, caller, other);
            PROF__STORE(&prof__function_count, prof__function_count + 1);
            PROF__RELEASE(&prof__function_slots[slot], prof__function_count);
        }
        prof__unlock(&prof__function_lock);
    }
    errno = error;
    return found;
}

/* Returns the call site of the function that called the function of this call site, or NULL if that is not told
   apart. */
static prof_site *prof__function_caller(const prof_site *site)
{
    uintptr_t at = (uintptr_t)site - (uintptr_t)prof__functions;
    uint32_t caller = at < sizeof prof__functions ? prof__functions[at / sizeof *prof__functions].caller : 0;
    return caller ? &prof__functions[caller - 1].site : NULL;
}
#endif

#endif /* PROF__RECORD_FUNCTIONS_H */
