// session/no_crash: Replaces the modules of crash reports, with PROF_NO_CRASH and on systems without POSIX signals.
#ifndef PROF__SESSION_NO_CRASH_H
#define PROF__SESSION_NO_CRASH_H
#include "ground/errors.h"
#include "record/state.h"

/*-- NO CRASH REPORTS -----------------------------------------------------------------------------------------------*/

static prof_status prof__crash_prepare(prof__session *s)
{
    (void)s;
#ifdef PROF_NO_CRASH
    return prof__left_out("crash_report", "PROF_NO_CRASH");
#else
    return prof__fail(PROF_UNSUPPORTED, "crash_report: this platform has no POSIX signals");
#endif
}
static void prof__crash_install(prof__session *s) { (void)s; }
static void prof__crash_remove(void) {}
static void prof__crash_forget(void) {}

#endif /* PROF__SESSION_NO_CRASH_H */
