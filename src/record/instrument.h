// record/instrument: -finstrument-functions: call sites by address. Static tables, no allocation.
#ifndef PROF__RECORD_INSTRUMENT_H
#define PROF__RECORD_INSTRUMENT_H
#include "api/markup.h"
#include "ground/lock.h"
#include "ground/symbols.h"
#include "record/ring.h"
#include "record/self.h"

/*-- INSTRUMENT ---------------------------------------------------------------------------------------- >>instrument --
   gcc and clang call __cyg_profile_func_enter and _exit in every function compiled with -finstrument-functions. A
   function gets a call site when it is first called while something records; the tables are static, so that this works
   before main, in signal handlers, and without an allocation.

   Limits. After a longjmp(), calls of the function that called setjmp() may show inside a call that was left, until it
   returns or makes the same call again: the addresses of frames do not always show it. Scopes of coroutines that switch
   stacks on one thread are cut short. If a module is unloaded and another one loaded at its address, functions keep the
   names of the first. */

#ifdef PROF_INSTRUMENT_FUNCTIONS
#if defined(PROF_FREESTANDING) || !defined(__ELF__)
#error "prof.h: PROF_INSTRUMENT_FUNCTIONS needs a system with ELF modules and a libc: Linux or a BSD"
#endif
#include <link.h>
#include <signal.h>
#ifdef PROF__LATE /* see >>platform: link.h leaves this out without _GNU_SOURCE */
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
#define PROF_INSTRUMENT_MAX 16384 /* functions; calls of all others count as "(more functions)" */
#endif
#ifndef PROF_INSTRUMENT_DEPTH
#define PROF_INSTRUMENT_DEPTH 1024 /* nested calls on a thread; deeper ones are lost, and counted */
#endif
#define PROF__NOT_TRACED __attribute__((__no_instrument_function__, __noinline__)) /* they have frames of their own */
#define PROF__FUNCTION_SLOTS (2 * (PROF_INSTRUMENT_MAX > 1 ? PROF_INSTRUMENT_MAX : 2)) /* some are always free */

typedef struct prof__loaded_module {
    char path[512];
    char build[32 + 2 * PROF__MAX_BUILD_ID];
} prof__loaded_module;

typedef struct PROF__SITE_TYPE prof__function {
    uintptr_t address;
    prof_site site;
    char name[64];
} prof__function;

/* A hash table of functions with open addressing; a slot holds the function's number, from 1. It is written under
   prof__function_lock, and read without it: a slot is published last. Modules and their functions stay here when the
   module is unloaded. */
static int prof__function_lock;
static prof__function prof__functions[PROF_INSTRUMENT_MAX + 1]; /* one more, which is no function, for measurements */
static uint32_t prof__function_slots[PROF__FUNCTION_SLOTS], prof__function_count;
static prof__loaded_module prof__loaded_modules[64];
static uint32_t prof__loaded_module_count;
static prof__function prof__more_functions = {
    0, {0, "(more functions)", "function", "", "", 0, 0, 1, PROF__KIND_BEGIN, 0, 0, 0}, ""};

/* A call that has not returned. frame, that of the hook, distinguishes calls that a longjmp() has left from those that
   will return: stacks grow down. caller, where the call returns to, and hook, where its hook does, tell apart calls
   of the same frame: functions that are inlined into one another share frame and caller, and each has a hook of its
   own. */
typedef struct prof__call {
    uintptr_t address, frame, caller, hook;
    prof__token token;
} prof__call;

typedef struct prof__calls {
    uint32_t depth;
    uint32_t busy; /* 1: in a hook; prevents recursion if the implementation is traced, too */
    uint32_t over; /* calls beyond the last one in the list */
    prof__call list[PROF_INSTRUMENT_DEPTH];
} prof__calls;

static PROF__PER_THREAD prof__calls prof__thread_calls;

typedef struct prof__module_search {
    uintptr_t address, base;
    prof__loaded_module *module;
} prof__module_search;

/* Identifies the build of a module: its build id, or the time when its file was changed. */
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

/* Stores the path of a module. name: the loader's, "" for the program itself. The path must stay valid when the program
   changes its directory. */
static void prof__module_path(prof__loaded_module *module, const char *name)
{
    char *path = module->path;
    size_t length = 0;
    if (!*name) {
        ssize_t size = readlink("/proc/self/exe", path, sizeof module->path - 1);
        path[size > 0 ? size : 0] = 0;
        return;
    }
    if (*name != '/' && getcwd(path, sizeof module->path - 1)) {
        length = strlen(path);
        path[length++] = '/';
    }
    snprintf(path + length, sizeof module->path - length, "%s", name);
}

/* Called for each loaded module; ends the search when it holds the address. */
static int prof__module_visit(prof__phdr_info *info, size_t size, void *argument)
{
    prof__module_search *search = (prof__module_search *)argument;
    prof__loaded_module *module = &prof__loaded_modules[prof__loaded_module_count];
    (void)size;
    if (!prof__module_holds(info, search->address)) return 0;
    search->base = info->dlpi_addr;
    if (prof__loaded_module_count == sizeof prof__loaded_modules / sizeof *prof__loaded_modules) return 1;
    prof__module_path(module, info->dlpi_name ? info->dlpi_name : "");
    prof__module_identify(module, info);
    search->module = module;
    for (uint32_t i = 0; i < prof__loaded_module_count; ++i) {
        prof__loaded_module *known = &prof__loaded_modules[i];
        if (!strcmp(known->path, module->path) && !strcmp(known->build, module->build)) {
            search->module = known;
            return 1;
        }
    }
    ++prof__loaded_module_count;
    return 1;
}

/* Fills in the call site of a function. Under prof__function_lock. */
static void prof__function_describe(prof__function *function, uintptr_t address)
{
    prof__module_search search;
    const char *path = "", *base;
    memset(&search, 0, sizeof search);
    search.address = address;
    prof__libc_dl_iterate_phdr(prof__module_visit, &search);
    if (search.module) path = search.module->path;
    base = strrchr(path, '/');
    snprintf(function->name, sizeof function->name, "%.40s+0x%llx", base ? base + 1 : path,
             (unsigned long long)(address - search.base));
    function->site = prof__more_functions.site;
    function->site.private_state = 0;
    function->site.name = function->name;
    function->site.file = path;
    function->site.function = search.module ? search.module->build : "";
    function->address = address;
}

static uint32_t prof__function_slot(uintptr_t address)
{
    return (uint32_t)((uint64_t)address * 0x9E3779B97F4A7C15u >> 32) % PROF__FUNCTION_SLOTS;
}

static prof__function *prof__function_find(uintptr_t address, uint32_t *slot)
{
    uint32_t number;
    *slot = prof__function_slot(address);
    while ((number = PROF__ACQUIRE(&prof__function_slots[*slot])) != 0) {
        if (prof__functions[number - 1].address == address) return &prof__functions[number - 1];
        *slot = (*slot + 1) % PROF__FUNCTION_SLOTS;
    }
    return NULL;
}

/* Adds a function that is called for the first time. If the table is full, or its lock is taken (a signal handler may
   have interrupted the owner), the call counts for all such functions together. */
static PROF__COLD prof__function *prof__function_add(uintptr_t address)
{
    prof__function *function = &prof__more_functions;
    uint32_t slot;
    int error = errno;
    if (PROF__LOAD(&prof__function_count) < PROF_INSTRUMENT_MAX && prof__lock_try(&prof__function_lock)) {
        prof__function *found = prof__function_find(address, &slot);
        if (!found && prof__function_count < PROF_INSTRUMENT_MAX) {
            found = &prof__functions[prof__function_count];
            prof__function_describe(found, address);
            PROF__STORE(&prof__function_count, prof__function_count + 1);
            PROF__RELEASE(&prof__function_slots[slot], prof__function_count);
        }
        if (found) function = found;
        prof__unlock(&prof__function_lock);
    }
    errno = error;
    return function;
}

/* Removes the calls from number on from the list. Only the first of them gets its end here, which closes those inside
   it. But an end closes the innermost scope of its function, so that further calls of that function need their ends
   first. */
static void prof__calls_leave(prof__calls *calls, uint32_t number)
{
    uintptr_t address = calls->list[number].address;
    while (calls->depth > number) {
        prof__call *call = &calls->list[--calls->depth];
        if (call->address == address && call->token) prof__end(call->token);
    }
    calls->over = 0;
}

/* If a function is entered above the frame of one that was called before it, or in its frame by another caller or by
   the same hook, longjmp() has left that one. This does not hold for a signal handler on a stack of its own. */
static PROF__COLD void prof__calls_abandon(prof__calls *calls, const prof__call *entered)
{
    stack_t stack;
    uint32_t number = calls->depth, i;
    int error = errno, other;
    while (number && calls->list[number - 1].frame < entered->frame) --number;
    for (i = number; i && calls->list[i - 1].frame == entered->frame; --i)
        if (calls->list[i - 1].caller != entered->caller || calls->list[i - 1].hook == entered->hook) number = i - 1;
    if (number == calls->depth) return;
    other = sigaltstack(NULL, &stack) || (stack.ss_flags & SS_ONSTACK);
    errno = error;
    if (!other) prof__calls_leave(calls, number);
}

static __attribute__((__noinline__)) void prof__call_enter(prof__calls *calls, uintptr_t address, uintptr_t frame,
                                                           uintptr_t caller, uintptr_t hook)
{
    uint32_t slot, depth = calls->depth;
    prof__function *function = prof__function_find(address, &slot);
    if (PROF__UNLIKELY(!function)) function = prof__function_add(address);
    if (PROF__UNLIKELY(depth && calls->list[depth - 1].frame <= frame)) {
        prof__call entered = {address, frame, caller, hook, 0};
        prof__calls_abandon(calls, &entered);
        depth = calls->depth;
    }
    if (PROF__UNLIKELY(depth == PROF_INSTRUMENT_DEPTH)) {
        ++calls->over;
        if (prof__live(&function->site)) prof__lose_deep(PROF__SELF());
        return;
    }
    calls->depth = depth + 1;
    calls->list[depth].address = address;
    calls->list[depth].frame = frame;
    calls->list[depth].caller = caller;
    calls->list[depth].hook = hook;
    calls->list[depth].token = prof__on(&function->site) ? prof__begin(&function->site) : 0;
}

/* Finds the call that returns. Usually it is the last one, and the exit hook's frame is where the enter hook's was.
   Frames below belong to calls that a longjmp() left. But if the exit hook is a tail call, the function's own frame is
   gone already, so that the hook's frame is higher than the enter hook's was, and may be where that of the caller was.
   If the function called alloca(), it is lower. Returns the call's number, or depth if its enter was not seen. */
static PROF__COLD uint32_t prof__call_match(const prof__calls *calls, uintptr_t address, uintptr_t frame, int tail)
{
    uint32_t i = calls->depth, below = calls->depth;
    for (; i && calls->list[i - 1].frame < frame; --i)
        if (calls->list[i - 1].address == address &&
            (below == calls->depth || calls->list[i - 1].frame > calls->list[below].frame))
            below = i - 1;
    if (tail && below < calls->depth) return below;
    if (i && calls->list[i - 1].address == address && (calls->list[i - 1].frame == frame || !calls->over)) return i - 1;
    return below;
}

/* If the hook returns to where the function does, it was a tail call. */
static __attribute__((__noinline__)) void prof__call_exit(prof__calls *calls, uintptr_t address, uintptr_t frame,
                                                          uintptr_t caller, uintptr_t hook)
{
    uint32_t number = calls->depth - 1;
    int tail = caller == hook;
    const prof__call *last = &calls->list[number];
    if (PROF__UNLIKELY(tail || last->address != address || last->frame != frame)) {
        number = prof__call_match(calls, address, frame, tail);
        if (number == calls->depth) {
            if (calls->over) --calls->over;
            return;
        }
    }
    prof__calls_leave(calls, number);
}

PROF_DEF void __cyg_profile_func_enter(void *function, void *caller) PROF__NOT_TRACED;
PROF_DEF void __cyg_profile_func_exit(void *function, void *caller) PROF__NOT_TRACED;

/* The two hooks have the same shape, so that their frames have the same size: all other work is in other functions. */
PROF_DEF void __cyg_profile_func_enter(void *function, void *caller)
{
    prof__calls *calls = &prof__thread_calls;
    if (PROF__LOAD(prof__generation) == PROF__OFF || calls->busy) return;
    calls->busy = 1;
    PROF__BARRIER();
    prof__call_enter(calls, (uintptr_t)function, (uintptr_t)__builtin_frame_address(0), (uintptr_t)caller,
                     (uintptr_t)__builtin_return_address(0));
    PROF__BARRIER();
    calls->busy = 0;
}

PROF_DEF void __cyg_profile_func_exit(void *function, void *caller)
{
    prof__calls *calls = &prof__thread_calls;
    if (!calls->depth || calls->busy) return;
    calls->busy = 1;
    PROF__BARRIER();
    prof__call_exit(calls, (uintptr_t)function, (uintptr_t)__builtin_frame_address(0), (uintptr_t)caller,
                    (uintptr_t)__builtin_return_address(0));
    PROF__BARRIER();
    calls->busy = 0;
}
#endif

#endif /* PROF__RECORD_INSTRUMENT_H */
