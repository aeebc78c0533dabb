// session/hooks: The table of the reader's functions that a session calls. Each instance of the recorder has its own
// table.
#ifndef PROF__SESSION_HOOKS_H
#define PROF__SESSION_HOOKS_H
#include "api/read.h"
#include "api/reports.h"
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
    const prof_writer *csv, *summary;
    prof_status (*follow_make)(prof__session *s, const prof_config *config);
    int (*follow_step)(prof__session *s); /* does pending work; returns 1 if there was any */
    void (*follow_free)(struct prof__follow *f);
    prof_status (*save_arm)(const prof__session *s);
    int (*save_step)(prof__session *s);
    void (*save_disarm)(void); /* async-signal-safe */
    /* Functions for the statistics that a follower keeps. */
    prof_status (*aggregated_take)(struct prof__aggregated *stats, int reset);
    prof_status (*aggregated_give)(struct prof__aggregated *stats, prof_trace *trace);
    void (*aggregated_free)(struct prof__aggregated *stats);
    void (*aggregated_free_rows)(struct prof__stat_row *rows, size_t count);
} prof__reader_hooks;

static prof_status prof__no_reader(const char *what)
{
    return prof__fail(PROF_UNSUPPORTED, "%s: PROF_NO_READER: write a .prof, and read it with the tool", what);
}

#ifdef PROF__READER
/* The reader is compiled into the same file. So the table is a constant: a constructor of the program may start a
   session before any constructor of prof has run, and a compiler that sees the table can call its functions
   directly. */
static prof_status prof__live_write(const char *path, const prof_writer *writer);
static prof_status prof__summary_default(const prof_trace *trace, const char *path);
static prof_status prof__follow_make(prof__session *s, const prof_config *config);
static int prof__follow_step(prof__session *s);
static void prof__follow_free(struct prof__follow *f);
static prof_status prof__save_arm(const prof__session *s);
static int prof__save_step(prof__session *s);
static void prof__save_disarm(void);
static prof_status prof__aggregated_take(struct prof__aggregated *stats, int reset);
static prof_status prof__aggregated_give(struct prof__aggregated *stats, prof_trace *trace);
static void prof__aggregated_free(struct prof__aggregated *stats);
static void prof__aggregated_free_rows(struct prof__stat_row *rows, size_t count);

static const prof_writer prof__csv_writer = {".csv", NULL, NULL, prof_csv_write, NULL};
static const prof_writer prof__summary_writer = {".txt", NULL, NULL, prof__summary_default, NULL};

static const prof__reader_hooks prof__reader_table = {
    prof__live_write,           &prof__csv_writer,     &prof__summary_writer, prof__follow_make,
    prof__follow_step,          prof__follow_free,     prof__save_arm,        prof__save_step,
    prof__save_disarm,          prof__aggregated_take, prof__aggregated_give, prof__aggregated_free,
    prof__aggregated_free_rows,
};
#else
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

static const prof__reader_hooks prof__reader_table = {
    prof__none_write, NULL,           NULL,            prof__none_follow, prof__none_step, prof__none_free,
    prof__none_arm,   prof__none_step, prof__none_disarm, NULL,          NULL,            NULL,
    NULL,
};
#endif
#endif

#endif /* PROF__SESSION_HOOKS_H */
