// prof.h, assembled by src/assemble.sh: this list in its order, with the text of each room in the place of its
// #include. Lines that begin with // here and at the top of a room stay behind.
//
// Floors, from the lowest: ground (the system), image (the format), record (what macros do), session (a session's
// life), read (an image becomes events), report (tables of events), watch (statistics for ever, saves on demand). A
// room may call any room of its own floor or of a lower one, and those above session through the table prof__upstairs:
// tests/rooms.sh checks it. api is what users see, and may be used by all. The picture is in
// docs/internals/architecture.md.
//
// The order is that of the text before it was cut, so it goes up and down between the floors.
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
#include "api/control.h"
#include "api/objects.h"
#include "api/read.h"
#include "api/reports.h"
#include "api/devices.h"
#include "api/markup.h"
#include "api/macros.h"
#include "api/stripped.h"

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

#include "image/format.h"
#include "ground/platform.h"
#include "ground/compiler.h"
#include "ground/base.h"
#include "ground/numbers.h"
#include "record/thread.h"
#include "ground/threads.h"
#include "ground/signals.h"
#include "ground/lock.h"
#include "record/copies.h"
#include "record/self.h"
#include "ground/errors.h"
#include "ground/clock.h"
#include "record/state.h"
#include "record/bridge.h"
#include "record/meta.h"
#include "record/site.h"
#ifdef PROF_NO_OFF_SCOPES
#include "record/no_note.h"
#else
#include "record/asked.h"
#endif
#include "record/schedule.h"
#include "image/words.h"
#include "record/ring.h"
#include "record/places.h"
#include "record/track.h"
#ifndef PROF_NO_OFF_SCOPES
#include "record/note.h"
#endif
#include "record/scope.h"
#include "record/value.h"
#include "record/log.h"
#include "record/formatted.h"
#include "record/event.h"
#include "record/counter.h"
#include "record/mark.h"
#include "record/loose.h"
#include "record/fiber.h"
#include "record/part.h"

#ifndef PROF_FREESTANDING
#include "ground/windows.h"
#include "ground/out.h"
#include "image/pack.h"
#ifdef PROF_NO_STATS
#include "watch/no_stats.h"
#endif
#ifdef PROF_NO_READER
#include "watch/none.h"
#else
#include "watch/upstairs.h"
#endif
#endif /* PROF_FREESTANDING */

#include "session/memory.h"
#include "session/state.h"

#ifndef PROF_FREESTANDING
#include "session/process.h"
#ifdef PROF_NO_NAMES
#include "session/no_names.h"
#else
#include "session/names.h"
#include "session/job.h"
#include "session/pattern.h"
#include "session/write.h"
#include "session/root.h"
#include "session/place.h"
#include "session/alone.h"
#endif
#endif

#include "session/rules.h"
#include "session/calibrate.h"
#ifdef PROF_NO_COSTS
#include "session/no_costs.h"
#else
#include "session/costs.h"
#endif
#include "session/renamed.h"
#include "session/start.h"
#include "session/stop.h"
#include "session/control.h"
#if defined(PROF_FREESTANDING) && defined(PROF_WITH_DRAIN)
#include "session/drain.h"
#endif
#if defined(PROF_NO_OBJECTS) && !defined(PROF_FREESTANDING)
#include "record/no_objects.h"
#else
#include "record/objects.h"
#endif

#ifndef PROF_FREESTANDING
#include "session/fork.h"
#include "image/device.h"
#ifdef PROF_NO_DEVICES
#include "record/no_device.h"
#else
#include "record/device.h"
#endif
#include "session/file.h"
#ifdef PROF_NO_STREAM
#include "session/no_stream.h"
#else
#include "session/stream.h"
#endif
#ifdef PROF_NO_SERVICE
#include "session/no_service.h"
#else
#include "session/service.h"
#endif
#endif

#ifdef PROF__SNAPSHOTS
#include "session/snapshot.h"
#endif
#ifndef PROF_FREESTANDING
#ifdef PROF_NO_SAVE
#include "session/no_save.h"
#else
#include "session/save.h"
#include "session/on_demand.h"
#endif
#endif

#if defined(PROF_FREESTANDING) || defined(PROF_NO_CRASH)
#include "session/no_crash.h"
#else
#ifdef _WIN32
#include "session/crash_windows.h"
#else
#include "session/crash_posix.h"
#endif
#include "session/crash.h"
#include "session/crash_report.h"
#ifdef _WIN32
#include "session/crash_filter.h"
#else
#include "session/crash_handler.h"
#endif
#endif

#if !defined(PROF_NO_CONFIG_TEXT) || !defined(PROF_NO_READER)
#include "session/number.h"
#endif
#ifdef PROF_NO_CONFIG_TEXT
#include "session/no_config.h"
#else
#include "session/config.h"
#include "session/config_set.h"
#include "session/config_others.h"
#include "session/config_env.h"
#endif
#include "session/autostart.h"

#ifndef PROF_FREESTANDING
#include "ground/symbols.h"
#ifndef PROF_NO_READER
#include "read/trace.h"
#include "ground/hash.h"
#include "read/names.h"
#include "read/epochs.h"
#include "read/chunks.h"
#include "read/ring.h"
#include "read/clock.h"
#include "read/match.h"
#include "read/outline.h"
#include "read/tracks.h"
#include "read/devices.h"
#include "read/device_tracks.h"
#include "read/gaps.h"
#include "read/foreign.h"
#include "read/alive.h"
#include "read/open.h"
#include "read/find.h"
#ifndef PROF_NO_DEVICES
#include "read/import.h"
#endif
#include "read/since.h"
#include "read/log.h"
#include "read/cursor.h"
#include "read/event.h"
#include "read/timeline.h"
#include "read/spans.h"
#include "watch/last.h"
#include "report/percentiles.h"
#include "report/stat_rows.h"
#include "report/merge.h"
#include "report/statistics.h"
#include "report/allocations.h"
#include "report/allocations_walk.h"
#include "report/locks.h"
#include "report/open_scopes.h"
#endif
#include "ground/text.h"
#ifndef PROF_NO_READER
#include "report/summary_head.h"
#include "report/table.h"
#include "report/summary.h"
#include "report/summary_open.h"
#include "report/summary_memory.h"
#include "report/summary_write.h"
#include "report/csv.h"
#endif
#ifndef PROF_NO_STATS
#include "watch/follow.h"
#include "watch/follow_scopes.h"
#include "watch/follow_spans.h"
#include "watch/follow_passes.h"
#include "watch/aggregated.h"
#include "watch/follow_make.h"
#include "watch/save.h"
#endif
#ifndef PROF_NO_READER
#include "api/inner.h"
#endif

#include "record/instrument.h"
#include "record/hub.h"
#include "record/malloc.h"

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
