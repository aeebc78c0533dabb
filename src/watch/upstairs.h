// watch/upstairs: The table of the functions of read, report and watch that session calls. In the list it comes before
// the rooms that use it. It is a constant: a constructor of the program may start a session before any of ours has run,
// C++ has no other way to declare a variable of this file before it has a value, and a compiler that sees the table
// calls its functions directly.
/*-- UPSTAIRS -------------------------------------------------------------------------------------------------------*/

/* The definitions need types of their own rooms. */
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

static const struct prof__upstairs prof__upstairs = {
    prof__live_write,           &prof__csv_writer,     &prof__summary_writer, prof__follow_make,
    prof__follow_step,          prof__follow_free,     prof__save_arm,        prof__save_step,
    prof__save_disarm,          prof__aggregated_take, prof__aggregated_give, prof__aggregated_free,
    prof__aggregated_free_rows,
};
