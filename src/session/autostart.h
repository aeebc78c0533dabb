// session/autostart: Records from before main() to exit if the environment asks for it. Frees everything if the
// recorder's library is unloaded.
#ifndef PROF__SESSION_AUTOSTART_H
#define PROF__SESSION_AUTOSTART_H
#include "api/control.h"
#include "ground/instances.h"
#include "ground/errors.h"
#include "ground/threads.h"
#include "record/bridge.h"
#include "record/counter.h"
#include "record/unscoped_slots.h"
#include "record/schedule.h"
#include "record/self.h"
#include "record/state.h"
#include "session/prepare_output.h"
#include "session/config_env.h"
#include "session/pattern.h"
#include "session/process.h"
#include "session/service.h"
#include "session/state.h"
#include "session/stop.h"

/*-- AUTOSTART ------------------------------------------------------------------------------------------ >>autostart --
   `PROF_OUTPUT=trace.json ./program` records from before main() to exit. PROF_SAVE and PROF_CRASH_REPORT start a
   recording as well. prof prints on stderr in three cases only: here, in a crash report, and when a session is stopped
   at exit. It prints errors, crash reports, and the output's path if that differs from the path that was asked for.
   A program that cannot write the output, because a header is missing, records a .prof: trace.json.prof. */

#if !defined(PROF_FREESTANDING) && !defined(PROF_NO_TEXT) && (!defined(PROF_STATIC) || defined(PROF_AUTOSTART))
#define PROF__AUTOSTARTS 1
static void prof__autostop(void)
{
    if (!PROF__LOAD(&prof__on_demand) && prof__session_phase() && prof_stop())
        fprintf(stderr, "prof: %s\n", prof_error());
}

/* Returns the variable that asks for a recording, or NULL. */
static const char *prof__autostart_by(void)
{
    static const char *const names[] = {
#ifdef PROF__BRIDGED
        "PROF_BRIDGE",
#endif
        "PROF_OUTPUT", "PROF_SAVE", "PROF_CRASH_REPORT"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const char *text = prof__environment(names[i]);
        if (text && *text && !prof__equal(text, "0")) return names[i];
    }
    return prof__layout_alone(prof__environment("PROF_LAYOUT")) ? "PROF_LAYOUT" : NULL;
}

/* Starts the session of a variable. If the output needs a header that this program does not include, records a .prof
   beside where the output would be, which the tool converts. Returns an error if nothing is recorded. */
static prof_status prof__autostart_begin(prof_config *config, const char *by)
{
    char image[1024], why[PROF__ERROR_SIZE];
    const char *output = config->output;
    prof_status status = prof_start(config);
    if (!status || !output || !*output || config->layout || !prof__writer_lacks(output)) return status;
    prof__copy(why, PROF__ERROR_TEXT(), sizeof why);
    prof__text_copy(image, sizeof image, output);
    if (prof__is_folder(output))
        prof__text_add(image, sizeof image, prof__is_slash(output[prof__length(output) - 1]) ? "%p" : "/%p");
    if (!prof__text_add(image, sizeof image, ".prof")) return status;
    config->output = image;
    status = prof_start(config);
    config->output = output;
    if (!status) fprintf(stderr, "prof: %s: %s; records %s\n", by, why, prof__state_session()->file.output);
    return status;
}

PROF__AT_START(103, prof__autostart);
/* Starts a session before main() if a variable of the environment asks for one, and prints errors and notes on
   stderr. */
static void prof__autostart(void)
{
    prof_config config;
    if (!prof__is_whole()) return; /* this instance forwards to another one, which has started by itself */
    const char *by = prof__autostart_by();
    memset(&config, 0, sizeof config);
    if (by ? prof_config_from_env(&config) : prof__environment_check(1)) {
        fprintf(stderr, "prof: %s; nothing is recorded\n", prof_error());
        return;
    }
    if (!by) return;
    if (prof__autostart_begin(&config, by))
        fprintf(stderr, "prof: %s: %s; nothing is recorded\n", by, prof_error());
    else
        prof__autostarted = !atexit(prof__autostop);
    if (prof__output_apart && prof__session_phase())
        fprintf(stderr, "prof: %s: another recorder of this process writes there; this one writes %s\n", config.output,
                prof__state_session()->file.output);
    if (prof__start_note[0]) fprintf(stderr, "prof: %s\n", prof__start_note);
}
#endif

/* On Windows and WASI pthread_key_delete() hangs at this point. */
#if !defined(PROF_FREESTANDING) && !defined(_WIN32) && !defined(__wasi__)
/* Frees everything when the library that contains the recorder is unloaded, because no thread can run the recorder's
   code afterwards. Also called at the end of the process: then everything stays, because other threads may still
   record. */
PROF__AT_END(PROF__LAST, prof__unload);
static void prof__unload(void)
{
#ifdef PROF__SHARED
    if (prof__exits) return;
    prof__unjoin();
    prof__exit_stop(); /* atexit() would stop a session of PROF_OUTPUT only after its code is gone */
    if (prof__state.session) {
        prof__service_stop(prof__state.session);
        prof__state.session->next = prof__state.retired;
        prof__state.retired = prof__state.session;
    }
    if (prof__state.inherited) prof__session_delete(prof__state.inherited);
    prof__state.session = prof__state.inherited = NULL;
    prof__state.running = prof__state.ended = 0;
    while (prof__state.retired) {
        prof__session *next = prof__state.retired->next;
        prof__session_delete(prof__state.retired);
        prof__state.retired = next;
    }
    PROF__BRIDGE_UNLOAD();
    /* If exits are not watched, this may be the end of the process, with other threads still recording. */
    if (prof__exits_watched) {
        prof__selves_unmap();
        prof__shared_counters_unmap();
        prof__unscoped_unmap();
    }
    prof__errors_unmap();
#endif
    if (prof__exit_key_made) pthread_key_delete(prof__exit_key);
}
#endif

#endif /* PROF__SESSION_AUTOSTART_H */
