// chrome/process: Gives processes and threads ids, names and places, and writes what is known of the run.
#ifndef PROF__CHROME_PROCESS_H
#define PROF__CHROME_PROCESS_H
#include "api/options.h"
#include "api/read.h"
#include "api/values.h"
#include "ground/json.h"
#include "ground/out.h"
#include "session/number.h"
#include "display/tracks.h"
#include "chrome/args.h"
#include "chrome/line.h"
#include "chrome/numbers.h"
#include "chrome/state.h"

/*-- processes and threads --*/

static int prof__chrome_id_order(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Gives each process an id that no other has. */
static void prof__chrome_processes(prof__chrome *c)
{
    size_t i, j;
    for (i = 0; i < c->part_count; i++) {
        uint64_t pid = prof_trace_about(c->parts[i].trace)->pid;
        for (j = 0; j < i && prof_trace_about(c->parts[j].trace)->pid != pid; j++) continue;
        c->parts[i].pid = pid && pid < PROF__DISPLAY_ID && j == i ? (uint32_t)pid
                          : i                                     ? PROF__DISPLAY_ID + (uint32_t)i
                                                                  : 1;
    }
}

/* Gives each track an id that no other has. `threads` has space for the tracks of all traces. Returns 0 without
   memory. */
static int prof__chrome_threads(prof__chrome *c, prof__chrome_thread *threads, size_t tracks)
{
    size_t i, at = 0;
    uint32_t next = PROF__DISPLAY_ID, *ids = (uint32_t *)malloc((tracks + 1) * sizeof *ids);
    c->taken = (uint32_t *)malloc((tracks + c->part_count) * sizeof *c->taken);
    c->taken_count = c->taken_at = 0;
    c->last_id = 0;
    if (!ids || !c->taken || !prof__display_ids(c->traces, c->part_count, tracks, ids, &next)) {
        free(ids);
        return 0;
    }
    for (i = 0; i < c->part_count; i++) {
        c->parts[i].threads = threads + at;
        at += prof_trace_track_count(c->parts[i].trace);
        c->taken[c->taken_count++] = c->parts[i].pid;
    }
    for (i = 0; i < tracks; i++)
        if (ids[i] < PROF__DISPLAY_ID) c->taken[c->taken_count++] = ids[i];
    qsort(c->taken, c->taken_count, sizeof *c->taken, prof__chrome_id_order);
    for (i = 0; i < tracks; i++) threads[i].id = ids[i] < PROF__DISPLAY_ID ? ids[i] : prof__chrome_new_id(c);
    free(ids);
    return 1;
}

/* Gives each device the id of a process of its own. */
static void prof__chrome_devices(prof__chrome *c)
{
    size_t i, j;
    for (i = 0; i < c->part_count; i++)
        for (j = 0; j < prof_trace_track_count(c->parts[i].trace); j++) {
            const prof_track *track = prof_trace_track(c->parts[i].trace, j);
            int same = j && prof_trace_track(c->parts[i].trace, j - 1)->device == track->device;
            c->parts[i].threads[j].pid = !*track->device ? c->parts[i].pid
                                         : same          ? c->parts[i].threads[j - 1].pid
                                                         : prof__chrome_new_id(c);
            c->parts[i].devices += *track->device && !same;
        }
}

static void prof__chrome_select(prof__chrome *c, const prof__chrome_part *part)
{
    c->part = part;
    c->trace = part->trace;
    c->about = prof_trace_about(part->trace);
    c->offset = part->offset;
    c->pid = part->pid;
    c->threads = part->threads;
}

/* Begins a line of otherData, with "key": */
static void prof__chrome_about_key(prof__chrome *c, const char *key)
{
    PROF__CHROME_LITERAL(&c->out, ",\n\"");
    prof__out_text(&c->out, key);
    if (c->part_count > 1) {
        PROF__CHROME_LITERAL(&c->out, " ");
        prof__out_unsigned(&c->out, c->pid);
    }
    PROF__CHROME_LITERAL(&c->out, "\":");
}

static void prof__chrome_about_text(prof__chrome *c, const char *key, const char *text)
{
    prof__out *out = &c->out;
    prof__chrome_about_key(c, key);
    PROF__CHROME_LITERAL(out, "\"");
    prof__out_json(out, text);
    PROF__CHROME_LITERAL(out, "\"");
}

/* Writes the metadata of prof_set_metadata(), with a prefix that tells its keys from those of prof. */
static void prof__chrome_about_metadata(prof__chrome *c)
{
    const char *key, *value;
    for (size_t i = 0; prof_trace_metadata(c->trace, i, &key, &value); i++) {
        PROF__CHROME_LITERAL(&c->out, ",\n\"metadata.");
        prof__out_json(&c->out, key);
        if (c->part_count > 1) {
            PROF__CHROME_LITERAL(&c->out, " ");
            prof__out_unsigned(&c->out, c->pid);
        }
        PROF__CHROME_LITERAL(&c->out, "\":\"");
        prof__out_json(&c->out, value);
        PROF__CHROME_LITERAL(&c->out, "\"");
    }
}

static void prof__chrome_about_value(prof__chrome *c, const char *key, prof_value_type type, uint64_t u, double d)
{
    prof_value value;
    memset(&value, 0, sizeof value);
    value.type = type;
    if (type == PROF_VALUE_DOUBLE)
        value.as.d = d;
    else
        value.as.u = u;
    prof__chrome_about_key(c, key);
    prof__chrome_value(&c->out, &value);
}

static void prof__chrome_recorder(prof__chrome *c)
{
    prof__out *out = &c->out;
    PROF__CHROME_LITERAL(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\n\"recorder\":\"prof ");
    prof__out_unsigned(out, PROF_VERSION / 10000);
    PROF__CHROME_LITERAL(out, ".");
    prof__out_unsigned(out, PROF_VERSION / 100 % 100);
    PROF__CHROME_LITERAL(out, ".");
    prof__out_unsigned(out, PROF_VERSION % 100);
    PROF__CHROME_LITERAL(out, "\"");
    if (c->part_count < 2) return;
    PROF__CHROME_LITERAL(out, ",\n\"processes aligned by\":\"");
    prof__out_text(out, c->machines < 2 ? "monotonic clock\"" : "Unix time\"");
}

/* Writes the otherData of one trace. */
static void prof__chrome_about(prof__chrome *c)
{
    const prof_trace_info *about = c->about;
    prof__chrome_about_text(c, "program", about->program);
    prof__chrome_about_value(c, "pid", PROF_VALUE_UINT, about->pid, 0);
    prof__chrome_about_text(c, "clock", about->clock);
    prof__chrome_about_value(c, "tick_hz", PROF_VALUE_UINT, about->tick_hz, 0);
    prof__chrome_about_value(c, "clock_resolution_ns", PROF_VALUE_DOUBLE, 0, about->clock_resolution_ns);
    prof__chrome_about_value(c, "scope_cost_ns", PROF_VALUE_DOUBLE, 0, about->scope_cost_ns);
    prof__chrome_about_value(c, "start_unix_ns", PROF_VALUE_UINT, about->start_unix_ns, 0);
    prof__chrome_about_value(c, "duration_ns", PROF_VALUE_UINT, (uint64_t)prof__chrome_time(about->duration_ns), 0);
    prof__chrome_about_value(c, "events", PROF_VALUE_UINT, about->event_count, 0);
    prof__chrome_about_value(c, "lost", PROF_VALUE_UINT, about->lost, 0);
    prof__chrome_about_value(c, "lost_args", PROF_VALUE_UINT, about->lost_args, 0);
    prof__chrome_about_value(c, "lost_busy", PROF_VALUE_UINT, about->lost_busy, 0);
    prof__chrome_about_value(c, "overwritten_chunks", PROF_VALUE_UINT, about->overwritten_chunks, 0);
    prof__chrome_about_value(c, "unmatched_ends", PROF_VALUE_UINT, about->unmatched, 0);
    prof__chrome_about_value(c, "sites_lost", PROF_VALUE_UINT, about->sites_lost, 0);
    prof__chrome_about_text(c, "mode", prof__mode_names[about->mode]);
    prof__chrome_about_value(c, "complete", PROF_VALUE_BOOL, (uint64_t)about->complete, 0);
    prof__chrome_about_metadata(c);
}

/* Writes where viewers put a process or device. Devices come below the process that used them. number: of the device,
   from 1; 0: the process. */
static void prof__chrome_process_place(prof__chrome *c, uint32_t number)
{
    uint64_t place = number;
    const prof__chrome_part *part;
    for (part = c->parts; part < c->part; part++) place += 1 + part->devices;
    prof__chrome_metadata(c, "process_sort_index", c->pid, "sort_index");
    prof__out_unsigned(&c->out, place);
    PROF__CHROME_LITERAL(&c->out, "}}");
}

/* Writes the name of a process. With one trace, that is its program. The ranks of a job and the processes of a server
   all have one program, so with several traces, " ROLE (rank 3, host)" follows, as far as the metadata have these, or
   the process id if there is no rank. */
static void prof__chrome_process_name(prof__chrome *c)
{
    prof__out *out = &c->out;
    const char *rank = prof__trace_said(c->trace, "rank"), *host = prof__trace_said(c->trace, "host");
    const char *role = prof__trace_said(c->trace, "role");
    prof__out_json(out, *c->about->program ? c->about->program : "(unnamed)");
    if (c->part_count == 1) return;
    prof__out_text(out, *role ? " " : "");
    prof__out_json(out, role);
    PROF__CHROME_LITERAL(out, " (");
    if (*rank) PROF__CHROME_LITERAL(out, "rank ");
    prof__out_json(out, rank);
    if (!*rank) prof__out_unsigned(out, c->about->pid);
    if (*host) PROF__CHROME_LITERAL(out, ", ");
    prof__out_json(out, host);
    PROF__CHROME_LITERAL(out, ")");
}

static void prof__chrome_process(prof__chrome *c)
{
    const prof_trace_info *about = c->about;
    prof__out *out = &c->out;
    prof__out_text(out, c->part == c->parts ? "\n" : ",\n");
    PROF__CHROME_LITERAL(out, "{\"ph\":\"M\",\"name\":\"process_name\",\"cat\":\"__metadata\",\"pid\":");
    prof__out_unsigned(out, c->pid);
    PROF__CHROME_LITERAL(out, ",\"tid\":");
    prof__out_unsigned(out, c->pid);
    PROF__CHROME_LITERAL(out, ",\"ts\":0,\"args\":{\"name\":\"");
    prof__chrome_process_name(c);
    PROF__CHROME_LITERAL(out, "\"}}");
    if (about->lost) {
        prof__chrome_metadata(c, "process_labels", c->pid, "labels");
        PROF__CHROME_LITERAL(out, "\"lost ");
        prof__out_unsigned(out, about->lost);
        PROF__CHROME_LITERAL(out, " events\"}}");
    }
    if (c->part_count > 1 || c->part->devices) prof__chrome_process_place(c, 0);
}

/* Writes a device as a process, which viewers put below the process that used it. */
static void prof__chrome_device(prof__chrome *c, const prof_track *track, uint32_t number)
{
    prof__out *out = &c->out;
    prof__chrome_metadata(c, "process_name", c->pid, "name");
    PROF__CHROME_LITERAL(out, "\"");
    prof__out_json(out, track->device);
    if (c->part_count > 1) {
        PROF__CHROME_LITERAL(out, " of ");
        prof__chrome_process_name(c);
    }
    if (track->alignment == PROF_ALIGN_GUESS) PROF__CHROME_LITERAL(out, " (clock not aligned)");
    PROF__CHROME_LITERAL(out, "\"}}");
    prof__chrome_process_place(c, number);
}

/* Writes the losses of threads that have no track, because they never got a chunk to record into. */
static void prof__chrome_lost_elsewhere(prof__chrome *c)
{
    prof__out *out = &c->out;
    uint64_t lost = c->about->lost;
    size_t i;
    for (i = 0; i < prof_trace_track_count(c->trace); i++) {
        uint64_t here = prof_trace_track(c->trace, i)->lost;
        lost -= here < lost ? here : lost;
    }
    if (!lost) return;
    PROF__CHROME_LITERAL(out, ",\n{\"ph\":\"i\",\"name\":\"lost ");
    prof__out_unsigned(out, lost);
    PROF__CHROME_LITERAL(out, " events on other threads\",\"cat\":\"prof\",\"pid\":");
    prof__out_unsigned(out, c->pid);
    PROF__CHROME_LITERAL(out, ",\"tid\":");
    prof__out_unsigned(out, c->pid);
    PROF__CHROME_LITERAL(out, ",\"ts\":");
    prof__chrome_ns(out, prof__chrome_time(c->offset + c->about->duration_ns));
    PROF__CHROME_LITERAL(out, ",\"s\":\"p\"}");
}

#endif /* PROF__CHROME_PROCESS_H */
