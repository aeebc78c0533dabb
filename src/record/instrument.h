// record/instrument: Records functions that were compiled with -finstrument-functions: a call site for each.
#ifndef PROF__RECORD_INSTRUMENT_H
#define PROF__RECORD_INSTRUMENT_H
#include "api/markup.h"
#include "record/functions.h"
#include "record/ring.h"
#include "record/self.h"

/*-- INSTRUMENT ---------------------------------------------------------------------------------------- >>instrument --
   gcc and clang call __cyg_profile_func_enter and _exit in every function that is compiled with -finstrument-functions.
   A function gets a call site at its first call while something records. The tables are static, so this works before
   main, in signal handlers, and without an allocation. Limits: (1) After a longjmp(), calls made by the function that
   called setjmp() may appear inside a call that longjmp() has left. This ends when that function returns or makes the
   same call again: frame addresses do not always show that a call was left. (2) Scopes of coroutines that switch stacks
   on one thread are cut short. */

#ifdef PROF_INSTRUMENT_FUNCTIONS
#include <signal.h>

#ifndef PROF_INSTRUMENT_DEPTH
#define PROF_INSTRUMENT_DEPTH 1024 /* nested calls of a thread; deeper ones are lost, and counted */
#endif
#define PROF__NOT_TRACED __attribute__((__no_instrument_function__, __noinline__)) /* each has its own frame */

static prof_site prof__more_functions = {0, "(more functions)", "function", "", "", 0, 0, 1, PROF__KIND_BEGIN, 0, 0, 0};

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
    prof__function *function = prof__function_find(address, 0, &slot);
    prof_site *site;
    if (PROF__UNLIKELY(!function)) function = prof__function_add(address, 0, &prof__more_functions);
    site = PROF__LIKELY(function != NULL) ? &function->site : &prof__more_functions;
    if (PROF__UNLIKELY(depth && calls->list[depth - 1].frame <= frame)) {
        prof__call entered = {address, frame, caller, hook, 0};
        prof__calls_abandon(calls, &entered);
        depth = calls->depth;
    }
    if (PROF__UNLIKELY(depth == PROF_INSTRUMENT_DEPTH)) {
        ++calls->over;
        if (prof__live(site)) prof__lose_deep(PROF__SELF());
        return;
    }
    calls->depth = depth + 1;
    calls->list[depth].address = address;
    calls->list[depth].frame = frame;
    calls->list[depth].caller = caller;
    calls->list[depth].hook = hook;
    calls->list[depth].token = prof__on(site) ? prof__begin(site) : 0;
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
