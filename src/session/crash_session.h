// session/crash_session: Prepares crash reports at the start of a session, and ends them with it.
#ifndef PROF__SESSION_CRASH_SESSION_H
#define PROF__SESSION_CRASH_SESSION_H
#include "ground/errors.h"
#include "ground/out.h"
#include "ground/threads.h"
#include "record/state.h"
#include "session/crash.h"
#include "session/crash_filter.h"
#include "session/crash_handler.h"
#include "session/crash_posix.h"
#include "session/crash_windows.h"
#include "session/names.h"
#include "session/place.h"
#include "session/write.h"

/*-- on and off; under the control lock --*/

/* Reserves the memory of a report, chooses the path of its image file, and checks that the file can be created. */
static prof_status prof__crash_prepare(prof__session *s)
{
    prof__crash_work *w = prof__crash.work;
    if (!w) w = (prof__crash_work *)calloc(1, sizeof *w);
    if (!w) return prof__no_memory("for crash_report");
    prof__crash.work = w;
    if (s->file.output[0])
        prof__output_sidecar(s, w->path, sizeof w->path);
    else
        prof__expand_absolute("%n.%p.prof", "", w->path, sizeof w->path);
#ifdef _WIN32 /* Windows does not let a report replace the sidecar file while it is mapped */
    if (s->file.sidecar && s->file.live_path) prof__name_with(s->file.live_path, "crash", w->path, sizeof w->path);
#endif
    char ending[40];
    snprintf(ending, sizeof ending, ".%llu.part", (unsigned long long)prof__process_id());
    prof__path_ending(w->path, prof__length(w->path), ending, PROF__NAME_SHORT, w->part, sizeof w->part);
    prof__crash_names(&w->system, w->part, w->path);
    return s->file.live_path ? PROF_OK : prof__output_check(w->path);
}

/* Ends crash reports for a session. Waits up to 10 s for a report that is being written. */
static void prof__crash_remove(void)
{
    if (!prof__crash.session) return;
    for (int i = 0; i < 1000; ++i) { /* a report that is being written still reads the session */
        uintptr_t reporter = PROF__CRASH_READY;
        if (__atomic_compare_exchange_n(&prof__crash.reporter, &reporter, (uintptr_t)PROF__CRASH_OFF, 0,
                                        __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE) ||
            reporter == PROF__CRASH_OFF)
            break;
        PROF__CRASH_NAP();
    }
    prof__crash_forget();
}

/* Removes the handlers at exit and at an unload, because their code may be unloaded next. */
PROF__AT_END(PROF__LAST, prof__crash_leave);
static void prof__crash_leave(void) { prof__crash_remove(); }

#endif /* PROF__SESSION_CRASH_SESSION_H */
