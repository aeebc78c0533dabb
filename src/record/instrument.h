// record/instrument: Records functions that were compiled with -finstrument-functions: a call site for each address.
// Static tables, no allocation.
#ifndef PROF__RECORD_INSTRUMENT_H
#define PROF__RECORD_INSTRUMENT_H
#include "api/markup.h"
#include "ground/lock.h"
#include "ground/symbols.h"
#include "record/ring.h"
#include "record/self.h"

/*-- INSTRUMENT ---------------------------------------------------------------------------------------- >>instrument --
   gcc and clang call __cyg_profile_func_enter and _exit in every function that is compiled with -finstrument-functions.
   A function gets a call site at its first call while something records. The tables are static, so this works before
   main, in signal handlers, and without an allocation. Limits: (1) After a longjmp(), calls made by the function that
   called setjmp() may appear inside a call that longjmp() has left. This ends when that function returns or makes the
   same call again: frame addresses do not always show that a call was left. (2) Scopes of coroutines that switch stacks
   on one thread are cut short. (3) If a module is unloaded and another one is loaded at its address, functions keep the
   names of the first. */

#ifdef PROF_INSTRUMENT_FUNCTIONS
#if defined(PROF_FREESTANDING) || !defined(__ELF__)
#error "prof.h: PROF_INSTRUMENT_FUNCTIONS needs a system with ELF modules and a libc: Linux or a BSD"
#endif
#include <link.h>
#include <signal.h>
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
#ifndef PROF_INSTRUMENT_DEPTH
#define PROF_INSTRUMENT_DEPTH 1024 /* nested calls of a thread; deeper ones are lost, and counted */
#endif
#define PROF__NOT_TRACED __attribute__((__no_instrument_function__, __noinline__)) /* each has its own frame */
#define PROF__FUNCTION_SLOTS (2 * (PROF_INSTRUMENT_MAX > 1 ? PROF_INSTRUMENT_MAX : 2)) /* so some are always free */

typedef struct prof__loaded_module {
    char path[512];
    char build[32 + 2 * PROF__MAX_BUILD_ID];
} prof__loaded_module;

typedef struct PROF__SITE_TYPE prof__function {
    uintptr_t address;
    prof_site site;
    char name[64];
} prof__function;

/* prof__function_slots is a hash table with open addressing. A slot holds the number of a function, from 1. Writers
   hold prof__function_lock. Readers take no lock, because a slot is stored after the function that it names. Functions
   and modules stay in the tables when the module is unloaded. */
static int prof__function_lock;
static prof__function prof__functions[PROF_INSTRUMENT_MAX + 1]; /* one more, for measuring costs */
static uint32_t prof__function_slots[PROF__FUNCTION_SLOTS], prof__function_count;
static prof__loaded_module prof__loaded_modules[64];
static uint32_t prof__loaded_module_count;
static prof__function prof__more_functions = {
    0, {0, "(more functions)", "function", "", "", 0, 0, 1, PROF__KIND_BEGIN, 0, 0, 0}, ""};

/* A call that has not returned. frame: the frame address of the enter hook. As stacks grow down, it tells calls that a
   longjmp() has left from those that will return. caller and hook: the addresses to which the function and its hook
   return. They distinguish calls with the same frame: functions that are inlined into one another share frame and
   caller, but each has its own call of the hook. */
typedef struct prof__call {
    uintptr_t address, frame, caller, hook;
    prof__token token;
} prof__call;

typedef struct prof__calls {
    uint32_t depth;
    uint32_t busy; /* 1: in a hook, so that prof's own functions are not recorded */
    uint32_t over; /* open calls beyond the most that the list holds */
    prof__call list[PROF_INSTRUMENT_DEPTH];
} prof__calls;

static PROF__PER_THREAD prof__calls prof__thread_calls;

typedef struct prof__module_search {
    uintptr_t address, base;
    prof__loaded_module *module;
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
    prof__loaded_module *module = &prof__loaded_modules[prof__loaded_module_count];
    (void)size;
    if (!prof__module_holds(info, search->address)) return 0;
    search->base = info->dlpi_addr;
    if (prof__loaded_module_count == sizeof prof__loaded_modules / sizeof *prof__loaded_modules) return 1;
    prof__loaded_path(module->path, sizeof module->path, info->dlpi_name ? info->dlpi_name : "");
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

/* Fills in the call site of a function that is called for the first time. Under prof__function_lock. */
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

/* Adds a function that is called for the first time. If the table is full, or its lock is taken (this may be a signal
   handler that interrupted the owner), the call counts for the common "(more functions)". */
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

/* Removes all calls from index `number` on from the list. Only the first of them gets an end here, which also closes
   the scopes inside. But an end closes the innermost open scope of its function. So if the function has further calls
   inside, those get their ends first. */
static void prof__calls_leave(prof__calls *calls, uint32_t number)
{
    uintptr_t address = calls->list[number].address;
    while (calls->depth > number) {
        prof__call *call = &calls->list[--calls->depth];
        if (call->address == address && call->token) prof__end(call->token);
    }
    calls->over = 0;
}

/* Removes calls that a longjmp() has left: those whose frame is below the entered one's, and those in the same frame
   with another caller or the same hook. Does nothing in a signal handler on its own stack, whose frame addresses cannot
   be compared. */
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

/* Returns the index of the call that returns, or depth if its entry was not seen. Usually it is the last call, and the
   exit hook's frame is where the enter hook's frame was. Calls with lower frames were left by a longjmp(). But if the
   exit hook is a tail call, the function's frame is gone: then the hook's frame is higher than the enter hook's was,
   and may be where the caller's was. If the function called alloca(), the hook's frame is lower. */
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

/* Ends the scope of the function that returns. If the hook returns to the same address as the function, the hook was a
   tail call. */
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

/* Both hooks have the same shape, so that their frames have the same size and can be compared. All other work is in
   other functions. */
PROF_DEF void __cyg_profile_func_enter(void *function, void *caller)
{
    prof__calls *calls = &prof__thread_calls;
    if (PROF__LOAD(prof__config_version) == PROF__OFF || calls->busy) return;
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
