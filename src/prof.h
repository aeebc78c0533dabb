// prof.h, assembled by src/assemble.sh: this list, in which a line #include "layer/module.h" stands for the module and
// all that it includes and that is not there yet. Lines that begin with // stay behind.
//
// Layers, from the lowest: ground (the system), image (the format), record (what macros do), session (a session's
// life), waits (wrappers of calls that may block); and, in prof_read.h, read (an image becomes events), report (tables
// of events), display (what all exporters show), watch (statistics for ever, saves on demand). A module includes
// modules of its own layer and of lower ones; those above session are called through the table of session/hooks:
// tests/rooms.sh checks it. api is what users see, and may be used by all. The picture is in
// docs/internals/architecture.md.
#include "api/manual.h"
#ifndef PROF_H
#define PROF_H

#include "api/options.h"

/* All files of a program agree on the layout of what follows, whatever a header before has left on. */
#pragma pack(push, 16)
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpragma-pack" /* macOS's headers end with the default */
#endif

#ifdef __cplusplus
extern "C" {
#endif

#include "api/types.h"
#include "api/values.h"
#include "api/control.h"
#include "api/objects.h"
#include "api/writers.h"
#include "api/devices.h"
#include "api/markup.h"
#include "api/macros.h"
#include "api/functions.h"
#include "api/stripped.h"
#include "api/deprecated.h"

#ifdef __cplusplus
} /* extern "C" */
#endif

#ifdef __clang__
#pragma clang diagnostic pop
#endif
#pragma pack(pop)
#endif /* PROF_H */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF__IMPLEMENTED)
#define PROF__IMPLEMENTED
#if defined(PROF_WITH_ITT) || defined(PROF_WITH_NVTX) || defined(PROF_WITH_SDT)
#define PROF__BRIDGED 1
#endif

#include "ground/leave_out.h"

#pragma pack(push, 16)
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpragma-pack" /* macOS's headers end with the default */
#endif
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* what a switch or the lack of another header leaves without use */
#endif

#ifdef __cplusplus
extern "C" {
#endif

#include "ground/out.h"
#include "record/meta.h"
#include "record/site.h"
#include "record/off_scope_sites.h"
#include "record/track.h"
#include "record/off_scope.h"
#include "record/counter.h"
#include "record/formatted.h"
#include "record/function_name.h"
#include "record/unscoped.h"
#include "record/fiber.h"
#include "record/mark.h"
#include "record/event.h"
#include "session/rules.h"
#include "session/beside.h"

#ifndef PROF_FREESTANDING
#include "image/pack.h"
#include "image/match.h"
#include "session/hooks.h"
#include "session/process.h"
#endif
#include "session/memory.h"
#include "session/renamed.h"
#include "session/calibrate.h"

#ifndef PROF_FREESTANDING
#ifdef PROF_MINIMAL
#include "session/minimal.h"
#else
#include "session/names.h"
#include "session/pattern.h"
#include "session/write.h"
#include "session/root.h"
#include "session/place.h"
#include "session/prepare_output.h"
#endif
#include "session/file.h"
#ifdef PROF_NO_THREAD
#include "session/no_thread.h"
#else
#include "session/stream.h"
#endif
#endif
#include "session/state.h"
#ifndef PROF_FREESTANDING
#ifndef PROF_NO_THREAD
#include "session/service.h"
#endif
#include "record/instrument.h"
#endif
#ifdef PROF__SNAPSHOTS
#include "session/snapshot.h"
#endif
#if defined(PROF_FREESTANDING) || defined(PROF_NO_CRASH)
#include "session/no_crash.h"
#else
#include "session/crash_filter.h"
#include "session/crash_handler.h"
#include "session/crash_session.h"
#endif
#include "session/costs.h"
#ifndef PROF_FREESTANDING
#include "session/fork.h"
#endif
#include "session/start.h"
#include "session/stop.h"
#include "session/control.h"
#include "session/drain.h"
#include "record/objects.h"
#include "record/part.h"
#include "record/args.h"

#include "session/number.h"
#ifdef PROF_NO_TEXT
#include "session/no_text.h"
#else
#include "session/config_env.h"
#endif

#ifndef PROF_FREESTANDING
#include "image/device.h"
#include "image/system.h"
#include "record/device.h"
#ifndef PROF_MINIMAL
#include "session/save.h"
#include "session/on_demand.h"
#endif
#include "session/autostart.h"

#include "session/hub.h"
#include "record/malloc.h"
#include "waits/calls.h"

#endif /* PROF_FREESTANDING */

#ifdef __cplusplus
} /* extern "C" */
#endif

#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif
#ifdef __clang__
#pragma clang diagnostic pop
#endif
#pragma pack(pop)
#endif /* PROF_IMPLEMENTATION */

#include "api/licence.h"
