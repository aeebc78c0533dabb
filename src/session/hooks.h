// session/hooks: The table of the reader's functions that the recorder calls. Each instance of the recorder has its own
// table.
#ifndef PROF__SESSION_HOOKS_H
#define PROF__SESSION_HOOKS_H
#include "api/control.h"
#include "api/values.h"
#include "api/writers.h"
#include "ground/instances.h"
#include "ground/errors.h"
#include "record/ring.h"
#include "record/state.h"

/*-- THE READER, FOR THE RECORDER -----------------------------------------------------------------------------------*/

#ifndef PROF_FREESTANDING
struct prof__aggregated;
struct prof__follow;
struct prof__stat_row;

typedef struct prof__reader_hooks {
    prof_status (*write_live)(const char *path, const prof_writer *writer);
    const prof_writer *csv, *summary; /* NULL: there is no reader */
    prof_status (*follow_make)(prof__session *s, const prof_config *config);
    int (*follow_step)(prof__session *s); /* does pending work; returns 1 if there was any */
    void (*follow_free)(struct prof__follow *f);
    prof_status (*save_arm)(const prof__session *s);
    int (*save_step)(prof__session *s);
    void (*save_disarm)(void); /* async-signal-safe */
    prof_status (*save_request)(void); /* the same */
    prof_status (*save_last)(const char *path, uint64_t last_ns);
    prof_status (*save_later)(const char *path, uint64_t last_ns);
    prof_status (*trace_live)(prof_trace **trace); /* for another instance, like the next one */
    prof_status (*trace_write)(const prof_trace *trace, const char *path, const char *extension);
    /* Functions for the statistics that a follower keeps. */
    prof_status (*aggregated_take)(struct prof__aggregated *stats, int reset);
    prof_status (*aggregated_give)(struct prof__aggregated *stats, prof_trace *trace);
    void (*aggregated_free)(struct prof__aggregated *stats);
    void (*aggregated_free_rows)(struct prof__stat_row *rows, size_t count);
} prof__reader_hooks;

#ifdef PROF__READER
/* The reader follows in this file. So the table is a constant: a constructor of the program may start a session before
   any constructor of prof has run, and a compiler that sees the table can call its functions directly. */
#define PROF__READER_KNOWN 1
static prof_status prof__live_write(const char *path, const prof_writer *writer);
static prof_status prof__csv_default(const prof_trace *trace, const char *path);
static prof_status prof__summary_default(const prof_trace *trace, const char *path);
static prof_status prof__follow_make(prof__session *s, const prof_config *config);
static int prof__follow_step(prof__session *s);
static void prof__follow_free(struct prof__follow *f);
static prof_status prof__save_arm(const prof__session *s);
static int prof__save_step(prof__session *s);
static void prof__save_disarm(void);
static prof_status prof__save_asked(void);
static prof_status prof__save_last(const char *path, uint64_t last_ns);
static prof_status prof__save_later(const char *path, uint64_t last_ns);
static prof_status prof__trace_live_own(prof_trace **trace);
static prof_status prof__trace_write_own(const prof_trace *trace, const char *path, const char *extension);
static prof_status prof__aggregated_take(struct prof__aggregated *stats, int reset);
static prof_status prof__aggregated_give(struct prof__aggregated *stats, prof_trace *trace);
static void prof__aggregated_free(struct prof__aggregated *stats);
static void prof__aggregated_free_rows(struct prof__stat_row *rows, size_t count);

static const prof_writer prof__csv_writer = {".csv", NULL, NULL, prof__csv_default, NULL};
static const prof_writer prof__summary_writer = {".txt", NULL, NULL, prof__summary_default, NULL};
static const prof__reader_hooks prof__reader_table = {
    prof__live_write,      &prof__csv_writer,       &prof__summary_writer,  prof__follow_make,
    prof__follow_step,     prof__follow_free,       prof__save_arm,         prof__save_step,
    prof__save_disarm,     prof__save_asked,        prof__save_last,
    prof__save_later,      prof__trace_live_own,
    prof__trace_write_own, prof__aggregated_take,   prof__aggregated_give,  prof__aggregated_free,
    prof__aggregated_free_rows,
};
static inline const prof__reader_hooks *prof__reader(void) { return &prof__reader_table; }
#else
/* There is no reader in this file, or it comes later. */
static prof_status prof__no_reader(const char *what)
{
#ifdef PROF_MINIMAL
    return prof__left_out(what, "PROF_MINIMAL");
#else
    return prof__fail(PROF_UNSUPPORTED, "%s: this program has no reader: include prof_read.h in the file with "
                      "PROF_IMPLEMENTATION", what);
#endif
}
static prof_status prof__none_write(const char *path, const prof_writer *writer)
{
    (void)writer;
    return prof__no_reader(path);
}
static prof_status prof__none_follow(prof__session *s, const prof_config *config)
{
    (void)s;
    if (prof__mode_counts((uint32_t)config->mode)) return prof__no_reader("mode stats");
    if (config->save || config->save_over || config->save_signal) return prof__no_reader("save");
    return PROF_OK;
}
static int prof__none_step(prof__session *s) { return (void)s, 0; }
static void prof__none_free(struct prof__follow *f) { (void)f; }
static prof_status prof__none_arm(const prof__session *s) { return (void)s, PROF_OK; }
static void prof__none_disarm(void) {}
static prof_status prof__none_request(void) { return prof__no_reader("prof_save_request"); }
static prof_status prof__none_last(const char *path, uint64_t last_ns)
{
    (void)path, (void)last_ns;
    return prof__no_reader("prof_save_last_ns");
}
static prof_status prof__none_later(const char *path, uint64_t last_ns)
{
    (void)path, (void)last_ns;
    return prof__no_reader("prof_save_request_ns");
}
static prof_status prof__none_live(prof_trace **trace)
{
    *trace = NULL;
    return prof__no_reader("prof_trace_open_live");
}
static prof_status prof__none_trace(const prof_trace *trace, const char *path, const char *extension)
{
    (void)trace, (void)extension;
    return prof__no_reader(path);
}

/* A trace that is made before main has no statistics of a session. */
static prof_status prof__none_take(struct prof__aggregated *stats, int reset)
{
    return (void)stats, (void)reset, PROF_OK;
}
static prof_status prof__none_give(struct prof__aggregated *stats, prof_trace *trace)
{
    return (void)stats, (void)trace, PROF_OK;
}
static void prof__none_free_stats(struct prof__aggregated *stats) { (void)stats; }
static void prof__none_free_rows(struct prof__stat_row *rows, size_t count) { (void)rows, (void)count; }

static const prof__reader_hooks prof__reader_none = {
    prof__none_write,   NULL,            NULL,            prof__none_follow, prof__none_step,  prof__none_free,
    prof__none_arm,     prof__none_step, prof__none_disarm, prof__none_request, prof__none_last,
    prof__none_later,   prof__none_live,
    prof__none_trace,   prof__none_take, prof__none_give, prof__none_free_stats, prof__none_free_rows,
};
#ifdef PROF_MINIMAL
static inline const prof__reader_hooks *prof__reader(void) { return &prof__reader_none; }
#else
static const prof__reader_hooks *prof__reader_now = &prof__reader_none; /* prof_read.h that comes later sets it */
static const prof__reader_hooks *prof__reader(void) { return prof__reader_now; }
#endif
#endif

PROF_DEF prof_status prof_save_last_ns(const char *path, uint64_t last_ns)
{
    PROF__FORWARD(prof_save_last_ns, (path, last_ns));
    return prof__reader()->save_last(path, last_ns);
}

PROF_DEF prof_status prof_save_request(void)
{
    PROF__FORWARD(prof_save_request, ());
    return prof__reader()->save_request();
}

PROF_DEF prof_status prof_save_request_ns(const char *path, uint64_t last_ns)
{
    PROF__FORWARD(prof_save_request_ns, (path, last_ns));
    return prof__reader()->save_later(path, last_ns);
}

/* What another copy calls, which forwards to this one. */
static prof_status prof__trace_live_here(prof_trace **trace) { return prof__reader()->trace_live(trace); }
static prof_status prof__trace_write_here(const prof_trace *trace, const char *path, const char *extension)
{
    return prof__reader()->trace_write(trace, path, extension);
}
#endif

#endif /* PROF__SESSION_HOOKS_H */
