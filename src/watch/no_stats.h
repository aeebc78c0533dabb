// watch/no_stats: PROF_NO_THREAD: what stands in for followers and saves on demand in a build without a thread.
#ifndef PROF__WATCH_NO_STATS_H
#define PROF__WATCH_NO_STATS_H
#include "api/values.h"
#include "ground/errors.h"
#include "record/ring.h"
#include "record/state.h"
#include "watch/past.h"

/*-- NO STATISTICS --------------------------------------------------------------------------------------------------*/

static prof_status prof__follow_make(prof__session *s, const prof_config *config)
{
    (void)s;
    if (prof__mode_counts((uint32_t)config->mode)) return prof__left_out("mode stats", "PROF_NO_THREAD");
    if (config->save || config->save_over || config->save_signal) return prof__left_out("save", "PROF_NO_THREAD");
    return PROF_OK;
}
static int prof__follow_step(prof__session *s) { return (void)s, 0; }
static void prof__follow_free(struct prof__follow *f)
{
    (void)f;
    prof__past_drop();
}
static prof_status prof__save_arm(const prof__session *s) { return (void)s, PROF_OK; }
static int prof__save_step(prof__session *s) { return (void)s, 0; }
static void prof__save_disarm(void) {}
static prof_status prof__save_asked(void) { return prof__left_out("prof_save_request", "PROF_NO_THREAD"); }
static prof_status prof__save_later(const char *path, uint64_t last_ns)
{
    (void)path, (void)last_ns;
    return prof__left_out("prof_save_request_ns", "PROF_NO_THREAD");
}

/* Called by functions of the reader. They do nothing, because no session of this build has statistics. */
struct prof__aggregated;
static prof_status prof__aggregated_take(struct prof__aggregated *stats, int reset)
{
    (void)stats, (void)reset;
    return PROF_OK;
}
static prof_status prof__aggregated_give(struct prof__aggregated *stats, prof_trace *trace)
{
    (void)stats, (void)trace;
    return PROF_OK;
}
static void prof__aggregated_free(struct prof__aggregated *stats) { (void)stats; }

#endif /* PROF__WATCH_NO_STATS_H */
