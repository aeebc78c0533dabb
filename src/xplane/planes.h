// xplane/planes: Writes the planes of a trace: threads, devices, frames, spans, locks and the environment.
#ifndef PROF__XPLANE_PLANES_H
#define PROF__XPLANE_PLANES_H
#include "api/options.h"
#include "api/read.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/errors.h"
#include "ground/hash.h"
#include "ground/out.h"
#include "session/number.h"
#include "read/records.h"
#include "report/summary.h"
#include "xplane/bytes.h"
#include "xplane/counters.h"
#include "xplane/events.h"
#include "xplane/flows.h"
#include "xplane/lines.h"
#include "xplane/names.h"
#include "xplane/state.h"
#include "xplane/states.h"
#include "xplane/stats.h"
#include "xplane/work.h"

static void prof__xplane_put_plane(prof__xplane *x, const char *prefix, const char *name, const char *behind, int plain)
{
    char number[16];
    uint64_t size = 0;
    size_t i;
    if (!x->flows_done && prof__xplane_any(x, PROF__GROUP_FLOW)) prof__xplane_number_flows(x);
    for (i = 0; i < x->line_count; i++) size += prof__xplane_line_size(x, i);
    if (!prof__xplane_sound(x) || (!size && !plain)) return;
    if (strcmp(prefix, "/host:CPU") && !x->gpu) x->custom++;
    x->meta.size = 0;
    if (x->gpu) {
        prof__xplane_number(&x->meta, PROF__XPLANE_NUMBER, (uint64_t)x->gpus);
    } else if (x->custom && !plain) {
        prof__xplane_number(&x->meta, PROF__XPLANE_NUMBER, (uint64_t)(PROF__XPLANE_CUSTOM + x->custom));
    }
    x->text.size = 0;
    prof__xplane_letters(&x->text, prefix);
    if (x->gpu) {
        snprintf(number, sizeof number, "%d ", x->gpus);
        prof__xplane_letters(&x->text, number);
    }
    prof__xplane_letters(&x->text, name);
    prof__xplane_letters(&x->text, behind);
    prof__xplane_message(&x->meta, PROF__XPLANE_NAME, x->text.data, x->text.size);
    prof__xplane_stat_number(x, &x->meta, PROF__XPLANE_STAT, PROF__STAT_PID, PROF__XSTAT_INT, x->about->pid);
    if (plain || x->gpu) prof__xplane_add(&x->meta, x->stats.data, x->stats.size);
    prof__xplane_names(x);
    size += x->meta.size;
    x->total += size;
    if (x->total > PROF__XPLANE_MOST)
        x->status = prof__fail(PROF_UNSUPPORTED,
                               "%s would have more than 2 GiB, which XProf cannot read: write a part of the trace "
                               "(from_ns, to_ns), or leave out short scopes (min_duration_ns)",
                               prof__xplane_file_name(x));
    if (!prof__xplane_sound(x)) return;
    prof__xplane_put_head(x, PROF__XSPACE_PLANE, size);
    prof__out_bytes(&x->out, x->meta.data, x->meta.size);
    for (i = 0; i < x->line_count && prof__xplane_sound(x); i++) prof__xplane_put_line(x, i);
}

static const char *prof__xplane_metadata(const prof_trace *trace, const char *wanted) /* NULL: it has none */
{
    const char *said = prof__trace_said(trace, wanted);
    return *said ? said : NULL;
}

/* Returns 1 for names such as "gpu", "GPU 0", "tpu:1" and "NeuronCore 2", but not for "gpus". */
static int prof__xplane_called_accelerator(const char *device)
{
    static const char *const kinds[] = {"gpu", "tpu", "neuroncore"};
    size_t i, at;
    for (i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (at = 0; kinds[i][at] && (device[at] | 32) == kinds[i][at]; at++) {
        }
        if (!kinds[i][at]) return !((device[at] | 32) >= 'a' && (device[at] | 32) <= 'z');
    }
    return 0;
}

/* Returns 1 if a device is an accelerator, as prof_xplane_options defines it. */
static int prof__xplane_is_accelerator(const prof__xplane *x, const char *device)
{
    const char *list = x->options.accelerators, *end;
    size_t length = strlen(device);
    if (!list) list = prof__xplane_metadata(x->trace, "accelerators");
    if (!list) return prof__xplane_called_accelerator(device);
    if (!strcmp(list, "*")) return 1;
    for (; *list; list = *end ? end + 1 : end) {
        while (*list == ' ') list++;
        for (end = list; *end && *end != ','; end++) {
        }
        if ((size_t)(end - list) == length && !memcmp(list, device, length)) return 1;
    }
    return 0;
}

static void prof__xplane_new_plane(prof__xplane *x, const char *device)
{
    prof__xplane_names_clear(x);
    x->line_count = x->measured = 0;
    x->states = 0;
    x->kept.size = 0;
    x->device = device;
    x->gpu = device && prof__xplane_is_accelerator(x, device);
}

static void prof__xplane_line_of(prof__xplane *x, prof__xplane_kind kind, size_t track)
{
    prof__xplane_line *line = prof__xplane_line_add(x, kind);
    if (line) line->track = track;
}

static void prof__xplane_host_plane(prof__xplane *x)
{
    size_t i, tracks = prof_trace_track_count(x->trace);
    prof__xplane_new_plane(x, NULL);
    for (i = 0; i < tracks; i++) {
        if (!*prof_trace_track(x->trace, i)->device) prof__xplane_line_of(x, PROF__XPLANE_THREAD, i);
        if (!prof__xplane_has_states(x, i)) continue;
        prof__xplane_line_of(x, PROF__XPLANE_STATES_OF, i);
        x->states = 1;
    }
    prof__xplane_measure(x);
    if (prof__xplane_any(x, PROF__GROUP_COUNTER)) prof__xplane_line_of(x, PROF__XPLANE_COUNTERS, 0);
    if (prof__xplane_any(x, PROF__GROUP_MEMORY)) {
        prof__xplane_line_of(x, PROF__XPLANE_MEMORY, 0);
        prof__xplane_line_of(x, PROF__XPLANE_POOLS, 0);
    }
    for (i = 0; i < tracks; i++) {
        const prof_track *track = prof_trace_track(x->trace, i);
        if (*track->device && !strcmp(track->name, "memory") && prof__xplane_is_accelerator(x, track->device))
            prof__xplane_line_of(x, PROF__XPLANE_DEVICE_MEMORY, i);
    }
    prof__xplane_measure(x);
    prof__xplane_put_plane(x, "/host:CPU", "", "", 0);
}

/* Puts what the metadata says about the device, under "DEVICE.KEY", into x->stats. */
static void prof__xplane_device_facts(prof__xplane *x)
{
    const char *key, *value;
    size_t i, item, length = strlen(x->device);
    uint64_t number;
    x->stats.size = 0;
    for (i = 0; x->gpu && prof_trace_metadata(x->trace, i, &key, &value); i++) {
        if (strncmp(key, x->device, length) || key[length] != '.') continue;
        item = prof__xplane_key_of(x, key + length + 1);
        if (item == PROF__NONE)
            x->status = PROF_NO_MEMORY;
        else if (prof__parse_whole(value, &number))
            prof__xplane_stat_number(x, &x->stats, PROF__XPLANE_STAT, PROF__STAT_COUNT + item, PROF__XSTAT_UINT,
                                     number);
        else
            prof__xplane_stat_text(x, &x->stats, PROF__XPLANE_STAT, PROF__STAT_COUNT + item, value);
    }
}

/* Returns the rows of the host's steps that this device's plane needs: XProf reads the times of steps from devices
   only. None if the device says who made it, as those of prof_cuda.h do, whose work XProf can assign by its launches: a
   step then lasts from its first work there to its last, as in recordings of XProf's own, even if the host is ahead. */
static size_t prof__xplane_step_rows(const prof__xplane *x)
{
    const char *key, *value;
    size_t length = strlen(x->device);
    for (size_t i = 0; x->gpu && prof_trace_metadata(x->trace, i, &key, &value); i++)
        if (!strncmp(key, x->device, length) && !strcmp(key + length, ".device_vendor")) return 0;
    return x->gpu ? x->step_rows : 0;
}

/* Writes the rows of a device, beginning with track `first`. Returns the track after them. */
static size_t prof__xplane_device_plane(prof__xplane *x, size_t first)
{
    const prof_track *track = prof_trace_track(x->trace, first);
    size_t i = first, row, rows, tracks = prof_trace_track_count(x->trace);
    prof__xplane_new_plane(x, track->device);
    rows = prof__xplane_step_rows(x);
    for (row = 1; row <= rows; row++) {
        prof__xplane_line_of(x, PROF__XPLANE_STEP_TIMES, first);
        if (x->line_count) x->lines[x->line_count - 1].id = row;
    }
    for (; i < tracks && prof_trace_track(x->trace, i)->device == track->device; i++)
        prof__xplane_line_of(x, PROF__XPLANE_THREAD, i);
    prof__xplane_measure(x);
    if (prof__xplane_any(x, PROF__GROUP_COUNTER)) prof__xplane_line_of(x, PROF__XPLANE_COUNTERS, first);
    prof__xplane_measure(x);
    prof__xplane_device_facts(x);
    prof__xplane_put_plane(x, x->gpu ? "/device:GPU:" : "/device:CUSTOM:", track->device,
                           track->alignment == PROF_ALIGN_GUESS ? " (clock not aligned)" : "", 0);
    x->gpus += x->gpu;
    x->gpu = 0;
    return i;
}

static void prof__xplane_frames_plane(prof__xplane *x)
{
    size_t i;
    prof__xplane_new_plane(x, NULL);
    for (i = 0; i < x->frame_count; i++) {
        prof__xplane_line *line = prof__xplane_line_add(x, x->frames[i].kind);
        if (line) *line = x->frames[i];
    }
    prof__xplane_measure(x);
    prof__xplane_put_plane(x, "/device:CUSTOM:", "frames", "", 0);
}

/* Writes a plane with a line of spans or locks. group: of the events that the line shows. */
static void prof__xplane_async_plane(prof__xplane *x, prof__xplane_kind kind, const char *name, unsigned group)
{
    if (!prof__xplane_sound(x) || !prof__xplane_any(x, group)) return;
    prof__xplane_new_plane(x, NULL);
    prof__xplane_line_of(x, kind, 0);
    prof__xplane_measure(x);
    prof__xplane_put_plane(x, "/device:CUSTOM:", name, "", 0);
}

static void prof__xplane_env_text(prof__xplane *x, const char *prefix, const char *key, const char *text)
{
    size_t item;
    x->joined.size = 0;
    prof__xplane_add(&x->joined, prefix, strlen(prefix));
    prof__xplane_add(&x->joined, key, strlen(key) + 1);
    if (x->joined.failed) return;
    item = prof__xplane_key_of(x, (const char *)x->joined.data);
    if (item == PROF__NONE)
        x->status = PROF_NO_MEMORY;
    else
        prof__xplane_stat_text(x, &x->stats, PROF__XPLANE_STAT, PROF__STAT_COUNT + item, text);
}

/* Writes the plane with the window in Unix time, and with facts about the run. XProf adds the times of events to
   profile_start_time, so that is the time from which they count. */
static void prof__xplane_env_plane(prof__xplane *x)
{
    const prof_trace_info *about = x->about;
    const char *key, *value;
    char text[40];
    size_t i;
    int64_t end = prof__xplane_end(about);
    prof__xplane_new_plane(x, NULL);
    x->stats.size = 0;
    prof__xplane_stat_number(x, &x->stats, PROF__XPLANE_STAT, PROF__STAT_BEGIN, PROF__XSTAT_UINT,
                             x->start_unix_ns);
    prof__xplane_stat_number(x, &x->stats, PROF__XPLANE_STAT, PROF__STAT_END, PROF__XSTAT_UINT,
                             x->start_unix_ns + (uint64_t)x->later + (uint64_t)prof__xplane_time(end - x->from));
    snprintf(text, sizeof text, "prof %d.%d.%d", PROF_VERSION / 10000, PROF_VERSION / 100 % 100, PROF_VERSION % 100);
    prof__xplane_env_text(x, "", "recorder", text);
    prof__xplane_env_text(x, "", "program", about->program);
    prof__xplane_env_text(x, "", "clock", about->clock);
    prof__xplane_env_text(x, "", "mode", prof__mode_names[about->mode]);
    for (i = 0; prof_trace_metadata(x->trace, i, &key, &value); i++) prof__xplane_env_text(x, "metadata.", key, value);
    prof__xplane_put_plane(x, "Task Environment", "", "", 1);
}

/* Writes a string field of the file. */
static void prof__xplane_put_text(prof__xplane *x, unsigned tag, const char *text)
{
    size_t size;
    x->text.size = 0;
    prof__xplane_letters(&x->text, text);
    size = x->text.size;
    prof__xplane_put_head(x, tag, size);
    prof__out_bytes(&x->out, x->text.data, size);
}

/* Writes a warning for the overview page, in the words of XProf's own recorder of GPUs. */
static void prof__xplane_warning(prof__xplane *x, const char *host, const char *what, const char *why)
{
    char text[1024];
    snprintf(text, sizeof text, "Detected %s on %s: %s", what, host, why);
    prof__xplane_put_text(x, PROF__XSPACE_WARNING, text);
}

static void prof__xplane_warning_of(prof__xplane *x, const char *host, const char *what, uint64_t count,
                                    const char *why)
{
    char text[160];
    if (!count) return;
    snprintf(text, sizeof text, "%llu %s", (unsigned long long)count, why);
    prof__xplane_warning(x, host, what, text);
}

/* Writes warnings of what the file lacks. Like XProf's own recorders, does not warn of scopes that began before the
   recording or the window, or that go on after it. */
static void prof__xplane_warnings(prof__xplane *x, const char *host)
{
    int64_t from = x->options.from_ns - x->offset;
    uint64_t unaligned = 0;
    char why[512], what[32];
    const char *key, *value;
    size_t i;
    int kind;
    if (from < x->about->from_ns) from = x->about->from_ns;
    for (kind = 0; kind < PROF__LOSSES; kind++) {
        const char *things = prof__dropped(x->trace, kind, from, why, sizeof why);
        if (!things) continue;
        snprintf(what, sizeof what, "%s dropped", things);
        prof__xplane_warning(x, host, what, why);
    }
    for (i = 0; i < prof_trace_track_count(x->trace); i++)
        unaligned += prof_trace_track(x->trace, i)->alignment == PROF_ALIGN_GUESS;
    prof__xplane_warning_of(x, host, "clocks not aligned", unaligned, "rows of devices have places that are guessed");
    prof__xplane_warning_of(x, host, "frames dropped", x->frames_out,
                            "frames of the 65th and later names are left out");
    prof__xplane_warning_of(x, host, "events dropped", x->late,
                            "events after 106 days are left out: XProf's times end there");
    for (i = 0; prof_trace_metadata(x->trace, i, &key, &value); i++) /* of prof_cuda.h */
        if (!strncmp(key, "CUDA ", 5) && strstr(key, " dropped")) prof__xplane_warning(x, host, key, value);
    if (x->changed)
        prof__xplane_warning(x, host, "events dropped",
                             "the recording changed while this was written, and a part of it may be missing");
}

static void prof__xplane_space(prof__xplane *x, const char *host)
{
    size_t i, tracks = prof_trace_track_count(x->trace), gpus = 0;
    const char *last = NULL; /* the accelerator whose rows these are */
    for (i = 0; i < tracks; i++) {
        const char *device = prof_trace_track(x->trace, i)->device;
        int is = *device && prof__xplane_is_accelerator(x, device);
        x->accelerators += is;
        gpus += is && device != last;
        if (is) last = device;
        x->tracks[i].gpu = is && gpus <= PROF__XPLANE_NO_GPU ? (uint8_t)(gpus - 1) : PROF__XPLANE_NO_GPU;
    }
    prof__xplane_host_plane(x);
    prof__xplane_step_places(x);
    for (i = 0; i < tracks && prof__xplane_sound(x);) {
        if (*prof_trace_track(x->trace, i)->device)
            i = prof__xplane_device_plane(x, i);
        else
            i++;
    }
    prof__xplane_async_plane(x, PROF__XPLANE_SPANS, "spans", PROF__GROUP_SPAN);
    if (x->frame_count && prof__xplane_sound(x)) prof__xplane_frames_plane(x);
    prof__xplane_async_plane(x, PROF__XPLANE_LOCKS, "locks", PROF__GROUP_LOCK);
    if (prof__xplane_sound(x)) prof__xplane_env_plane(x);
    if (!prof__xplane_sound(x)) return;
    prof__xplane_warnings(x, host);
    prof__xplane_put_text(x, PROF__XSPACE_HOST, host);
}

#endif /* PROF__XPLANE_PLANES_H */
