// xplane/lines: Measures the lines of a plane, and then writes them.
#ifndef PROF__XPLANE_LINES_H
#define PROF__XPLANE_LINES_H
#include "api/read.h"
#include "api/types.h"
#include "ground/errors.h"
#include "ground/hash.h"
#include "ground/out.h"
#include "image/pack.h"
#include "xplane/bytes.h"
#include "xplane/counters.h"
#include "xplane/memory.h"
#include "xplane/spans.h"
#include "xplane/state.h"
#include "xplane/states.h"
#include "xplane/threads.h"
#include "xplane/work.h"

/*-- planes --*/

static void prof__xplane_walk(prof__xplane *x, const prof__xplane_line *line)
{
    switch ((int)line->kind) {
    case PROF__XPLANE_THREAD: prof__xplane_walk_track(x, line->track); break;
    case PROF__XPLANE_STATES_OF: prof__xplane_walk_states(x, line->track); break;
    case PROF__XPLANE_COUNTERS: prof__xplane_walk_counters(x); break;
    case PROF__XPLANE_MEMORY: prof__xplane_walk_memory(x, 0); break;
    case PROF__XPLANE_DEVICE_MEMORY: prof__xplane_walk_device_memory(x, line->track); break;
    case PROF__XPLANE_POOLS: prof__xplane_walk_memory(x, 1); break;
    case PROF__XPLANE_FRAMES_OF: prof__xplane_walk_frames(x, line); break;
    case PROF__XPLANE_LOCKS: prof__xplane_walk_locks(x); break;
    case PROF__XPLANE_STEP_TIMES: prof__xplane_walk_steps(x, line); break;
    default: prof__xplane_walk_spans(x, line); break;
    }
}

static prof__xplane_line *prof__xplane_line_add(prof__xplane *x, prof__xplane_kind kind)
{
    prof__xplane_line *line;
    if (!PROF__ROOM(x->lines, x->line_capacity, x->line_count)) {
        x->status = PROF_NO_MEMORY;
        return NULL;
    }
    line = &x->lines[x->line_count++];
    memset(line, 0, sizeof *line);
    line->kind = kind;
    return line;
}

/* Measures the lines whose sizes are not known yet. */
static void prof__xplane_measure(prof__xplane *x)
{
    x->writing = 0;
    for (; x->measured < x->line_count && x->status == PROF_OK; x->measured++) {
        prof__xplane_line line = x->lines[x->measured];
        x->size = 0;
        x->keeping = line.kind != PROF__XPLANE_THREAD || /* 1: 10 bytes an event fit */
                     prof_trace_track(x->trace, line.track)->event_count < PROF__XPLANE_KEEP / 10;
        x->kept_before = x->kept.size;
        prof__xplane_walk(x, &line);
        x->lines[x->measured].size = x->size;
        x->lines[x->measured].kept = x->keeping ? x->kept_before + 1 : 0;
    }
}

/* Returns 1 if a line also gets the program's name: the line of the thread of main(), unless the thread is already
   called that. */
static int prof__xplane_is_main(const prof__xplane *x, const prof_track *track)
{
    const char *program = x->about->program;
    size_t length = strlen(track->name);
    if (track->fiber || *track->device || track->thread_id != x->about->pid || !*program) return 0;
    return !length || strncmp(track->name, program, length); /* the system cuts thread names to 15 bytes */
}

static void prof__xplane_line_name(prof__xplane *x, const prof__xplane_line *line)
{
    const prof_track *track = prof_trace_track(x->trace, line->track);
    char number[40];
    switch ((int)line->kind) {
    case PROF__XPLANE_COUNTERS:
    case PROF__XPLANE_POOLS:
    case PROF__XPLANE_DEVICE_MEMORY:
    case PROF__XPLANE_MEMORY: /* under this name, the trace viewer leaves out the line, which has no events for it */
        prof__xplane_text(x, &x->entry, PROF__XLINE_NAME, "_counters_");
        return;
    case PROF__XPLANE_SPANS: prof__xplane_text(x, &x->entry, PROF__XLINE_NAME, "spans"); return;
    case PROF__XPLANE_STEP_TIMES: prof__xplane_text(x, &x->entry, PROF__XLINE_NAME, "host steps"); return;
    case PROF__XPLANE_LOCKS: prof__xplane_text(x, &x->entry, PROF__XLINE_NAME, "locks"); return;
    case PROF__XPLANE_HANDLE: prof__xplane_text(x, &x->entry, PROF__XLINE_NAME, line->name); return;
    default: break;
    }
    x->text.size = 0;
    if (line->kind == PROF__XPLANE_FRAMES_OF) {
        prof__xplane_letters(&x->text, *line->name ? line->name : "(unnamed)");
        prof__xplane_letters(&x->text, " of ");
    }
    if (line->kind == PROF__XPLANE_STATES_OF) prof__xplane_letters(&x->text, "state of ");
    snprintf(number, sizeof number, "%s %lu", track->fiber ? "fiber" : *track->device ? "row" : "thread",
             (unsigned long)x->tracks[line->track].id);
    prof__xplane_letters(&x->text, *track->name ? track->name : number);
    /* A thread with this name is told apart from the line that XProf reads counters from. */
    if (!strcmp(track->name, "_counters_")) prof__xplane_letters(&x->text, " ");
    prof__xplane_message(&x->entry, PROF__XLINE_NAME, x->text.data, x->text.size);
    if (line->kind != PROF__XPLANE_THREAD || !prof__xplane_is_main(x, track)) return;
    prof__xplane_letters(&x->text, " (");
    prof__xplane_letters(&x->text, x->about->program);
    prof__xplane_letters(&x->text, ")");
    prof__xplane_message(&x->entry, PROF__XLINE_SHOWN, x->text.data, x->text.size);
}

/* Sets x->entry to the begin of a line, up to its events. */
static void prof__xplane_line_head(prof__xplane *x, size_t index)
{
    const prof__xplane_line *line = &x->lines[index];
    uint64_t id = line->kind == PROF__XPLANE_THREAD     ? x->tracks[line->track].id
                  : line->kind == PROF__XPLANE_STATES_OF ? PROF__XPLANE_STATE_LINES + line->track
                  : line->kind == PROF__XPLANE_COUNTERS ? (x->gpu ? PROF__XPLANE_GPU_COUNTERS : PROF__XPLANE_DERIVED)
                  : line->kind == PROF__XPLANE_MEMORY   ? PROF__XPLANE_DERIVED + 1
                  : line->kind == PROF__XPLANE_POOLS    ? PROF__XPLANE_DERIVED + 2
                  : line->kind == PROF__XPLANE_DEVICE_MEMORY ? PROF__XPLANE_DERIVED + 3
                                                        : index + 1;
    x->entry.size = 0;
    prof__xplane_number(&x->entry, PROF__XLINE_NUMBER, id);
    prof__xplane_line_name(x, line);
    /* The trace viewer sorts lines by this number. */
    if (x->states && (line->kind == PROF__XPLANE_THREAD || line->kind == PROF__XPLANE_STATES_OF))
        prof__xplane_number(&x->entry, PROF__XLINE_SHOWN_NUMBER,
                            2 * (uint64_t)x->tracks[line->track].id + (line->kind == PROF__XPLANE_STATES_OF));
    if (x->later) prof__xplane_number(&x->entry, PROF__XLINE_TIME, (uint64_t)x->later);
}

static uint64_t prof__xplane_line_size(prof__xplane *x, size_t index)
{
    uint64_t size;
    if (!x->lines[index].size) return 0;
    prof__xplane_line_head(x, index);
    size = x->entry.size + x->lines[index].size;
    return 1 + prof__xplane_length(size) + size;
}

static void prof__xplane_put_head(prof__xplane *x, unsigned tag, uint64_t size)
{
    unsigned char *to = (unsigned char *)prof__out_reserve(&x->out, 16);
    *to = (unsigned char)tag;
    prof__out_commit(&x->out, (size_t)(prof__pack_integer(to + 1, size) - to));
}

/* Fills up a line that has become shorter since it was measured. That happens if blocks of a file vanish while it is
   read. */
static void prof__xplane_fill(prof__xplane *x)
{
    static const char zeros[64] = {0};
    uint64_t body;
    unsigned char *to;
    if (!x->left || x->out.status != PROF_OK || x->status != PROF_OK) return;
    x->changed = 1;
    if (x->left == 1) {
        x->status = prof__fail(PROF_IO, "the recording was overwritten while it was read: try again");
        return;
    }
    body = x->left - 2 < 128 ? x->left - 2 : x->left - 11;
    to = (unsigned char *)prof__out_reserve(&x->out, 16);
    *to++ = PROF__XLINE_FILLER;
    if (x->left - 2 < 128) {
        *to = (unsigned char)body;
        prof__out_commit(&x->out, 2);
    } else { /* writes the length in ten bytes, whatever it is */
        int i;
        for (i = 0; i < 9; i++) to[i] = (unsigned char)(body >> 7 * i | 128);
        to[9] = 0;
        prof__out_commit(&x->out, 11);
    }
    for (; body; body -= body < sizeof zeros ? body : sizeof zeros)
        prof__out_bytes(&x->out, zeros, body < sizeof zeros ? (size_t)body : sizeof zeros);
    x->left = 0;
}

static void prof__xplane_put_line(prof__xplane *x, size_t index)
{
    prof__xplane_line line = x->lines[index];
    if (!line.size) return;
    prof__xplane_line_head(x, index);
    prof__xplane_put_head(x, PROF__XPLANE_LINE, x->entry.size + line.size);
    prof__out_bytes(&x->out, x->entry.data, x->entry.size);
    if (line.kept) {
        prof__out_bytes(&x->out, x->kept.data + line.kept - 1, (size_t)line.size);
        return;
    }
    x->writing = 1;
    x->left = line.size;
    prof__xplane_walk(x, &line);
    prof__xplane_fill(x);
}

static int prof__xplane_sound(const prof__xplane *x)
{
    int failed = x->stats.failed | x->point.failed | x->meta.failed | x->part.failed | x->entry.failed |
                 x->text.failed | x->joined.failed;
    return x->status == PROF_OK && x->out.status == PROF_OK && !failed;
}

/* Returns the name of the file for error messages. */
static const char *prof__xplane_file_name(const prof__xplane *x) { return x->out.path ? x->out.path : "the XSpace"; }

/* Writes a plane. Leaves out one without events, unless plain is 1: then the plane is about its stats. */

#endif /* PROF__XPLANE_LINES_H */
