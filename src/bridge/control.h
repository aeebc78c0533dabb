// bridge/control: Looks for tools when a session starts, and pauses and stops them with it.
#ifndef PROF__BRIDGE_CONTROL_H
#define PROF__BRIDGE_CONTROL_H
#include "bridge/tools.h"
#include "api/options.h"
#include "ground/base.h"
#include "ground/lock.h"
#include "ground/signals.h"
#include "ground/threads.h"
#include "record/self.h"
#include "record/state.h"
#include "record/thread.h"
#include "bridge/instants.h"
#include "bridge/itt.h"
#include "bridge/nvtx.h"
#include "bridge/scopes.h"
#include "bridge/sdt.h"
#include "bridge/state.h"

/*-- control --*/

static void prof__bridge_frames_end(void) /* the caller holds prof__bridge_lock */
{
    for (size_t i = 0; i < PROF__BRIDGE_BUCKETS; ++i)
        for (prof__bridge_name *name = prof__bridge_names[i]; name; name = name->next)
            if (name->in_frame) prof__bridge_frame_step(name, 0);
}

/* Starts or pauses the tools as the session has it. If several threads call this at once, the last one decides. */
static void prof__bridge_follow(int stops)
{
    prof__thread *self = PROF__SELF();
    prof__signals signals;
    if (!prof__bridge_enter(self)) return;
    PROF__ERRNO_SAVE();
    if (prof__lock_enter(&prof__bridge_lock, &signals)) {
        uint32_t paused = !stops && PROF__LOAD(&prof__state.running) && PROF__LOAD(&prof__state.paused) > 0;
        if (paused || stops) prof__bridge_frames_end();
        if (paused != prof__bridge_paused) {
            prof__itt_pause((int)paused);
            prof__sdt_pause((int)paused);
        }
        prof__bridge_paused = paused;
        prof__lock_leave(&prof__bridge_lock, &signals);
    }
    PROF__ERRNO_RESTORE();
    prof__bridge_leave(self);
}

/* Looks for tools. Scopes by which prof_start() measures its own cost afterwards are not sent to them. */
static void prof__bridge_start(void)
{
    PROF__ERRNO_SAVE();
    PROF__SELF()->bridge.busy = 1;
    uint32_t tools = prof__itt_attach() ? PROF__BRIDGE_ITT : 0;
    if (prof__nvtx_attach()) tools |= PROF__BRIDGE_NVTX;
    PROF__STORE(&prof__bridge_tools, tools);
    PROF__ERRNO_RESTORE();
}

#ifdef PROF__SHARED
static void prof__bridge_unload(void)
{
    for (prof__bridge_pages *pages = prof__bridge_memory, *next; pages; pages = next) {
        next = pages->next;
#ifdef _WIN32
        free(pages);
#else
        munmap(pages, pages->size);
#endif
    }
}
#endif

#endif /* PROF__BRIDGE_CONTROL_H */
