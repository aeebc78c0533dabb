// watch/follow_make: Makes a follower, parses the rules of its triggers, and frees it.
#ifndef PROF__WATCH_FOLLOW_MAKE_H
#define PROF__WATCH_FOLLOW_MAKE_H
#include "api/values.h"
#include "api/writers.h"
#include "ground/errors.h"
#include "ground/hash.h"
#include "ground/threads.h"
#include "record/ring.h"
#include "record/state.h"
#include "session/number.h"
#include "session/pattern.h"
#include "session/service.h"
#include "session/write.h"
#include "watch/follow.h"
#include "watch/follow_passes.h"
#include "watch/past.h"

/*-- making and freeing --*/

/* Parses rules such as "frame>16.7ms,scope:net.*>2ms". A time must have a unit, because frame>16 is likely to mean
   milliseconds. */
static prof_status prof__follow_rules(prof__follow *f, const char *list)
{
    static const prof__unit times[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {NULL, 0}};
    while (list && *list) {
        prof__follow_rule *rule = &f->rules[f->rule_count];
        size_t length = strcspn(list, ","), name = 0;
        char text[128], *limit;
        if (f->rule_count == PROF__FOLLOW_RULES)
            return prof__fail(PROF_INVALID_ARGUMENT, "save_over: at most %d limits are possible", PROF__FOLLOW_RULES);
        snprintf(text, sizeof text, "%.*s", (int)(length < 127 ? length : 127), list);
        limit = strrchr(text, '>');
        if (limit) *limit++ = 0;
        rule->frame = !strncmp(text, "frame", 5) && (!text[5] || text[5] == ':');
        if (rule->frame) name = text[5] ? 6 : 5;
        if (!strncmp(text, "scope:", 6)) name = 6;
        if (length > 127 || !limit || !name || (!text[name] && name == 6) ||
            strlen(text + name) >= sizeof rule->pattern || !prof__parse_number(limit, times, &rule->ns))
            return prof__fail(PROF_INVALID_ARGUMENT,
                              "save_over '%.100s': must be frame>16.7ms, frame:NAME>16.7ms or scope:NAME>2ms, joined "
                              "by commas", list);
        prof__text_copy(rule->pattern, sizeof rule->pattern, text[name] ? text + name : "*");
        f->rule_count++;
        list += length;
        if (*list) list++;
    }
    return PROF_OK;
}

/* A time of the configuration: the field in ns or, if that is 0, the deprecated one in seconds. */
static uint64_t prof__save_time(uint64_t ns, double seconds) { return ns ? ns : (uint64_t)(seconds * 1e9); }

static prof_status prof__save_check(prof__follow *f, const prof_config *config)
{
    const prof_writer *writer;
    char expanded[1024];
    int named = config->save && config->save[0];
    if (!named && (config->save_over || config->save_signal))
        return prof__fail(PROF_INVALID_ARGUMENT,
                          "save_over, save_signal: need the name of a file in save, for example slow-%%c.json");
    f->saves_here = prof__config_saves(config);
    if (!f->saves_here) return PROF_OK;
    if (!(config->save_last >= 0 && config->save_last < 1e9) || !(config->save_every >= 0 && config->save_every < 1e9))
        return prof__fail(PROF_INVALID_ARGUMENT, "save_last, save_every: must be 0 or more seconds");
    if (config->save_last_ns > PROF__CENTURY || config->save_every_ns > PROF__CENTURY)
        return prof__must_be("save_last, save_every", "at most 100 years");
    if (!named) return PROF_OK;
    if (strlen(config->save) >= sizeof f->save) return prof__fail(PROF_INVALID_ARGUMENT, "save: path too long");
    if (config->save_signal < 0 || config->save_signal > 64)
        return prof__fail(PROF_INVALID_ARGUMENT, "save_signal %d: must be 1 to 64", config->save_signal);
    prof_status status = prof__expand_counted(config->save, 1, expanded, sizeof expanded);
    if (!status) status = prof__writer_for(expanded, (uint32_t)config->mode, &writer);
    if (!status) status = prof__output_check(expanded);
    if (!status) status = prof__follow_rules(f, config->save_over);
    prof__pattern_absolute(config->save, f->save, sizeof f->save);
    f->last_seconds = (double)prof__save_time(config->save_last_ns, config->save_last) / 1e9;
    if (!(f->last_seconds > 0)) f->last_seconds = 10;
    f->every_ns = prof__save_time(config->save_every_ns, config->save_every);
    f->signal = config->save_signal;
    return status;
}

static int prof__follow_tables(prof__follow *f)
{
    const prof__session *s = f->session;
    uint64_t tracks = s->chunk_count * 2 < 256 ? 256 : s->chunk_count * 2 > 65536 ? 65536 : s->chunk_count * 2;
    uint32_t buckets = 256;
    while (buckets < tracks) buckets *= 2;
    f->track_limit = (uint32_t)tracks;
    f->bucket_mask = buckets - 1;
    f->tracks = (prof__follow_track *)calloc((size_t)tracks, sizeof *f->tracks);
    f->buckets = (uint32_t *)calloc(buckets, sizeof *f->buckets);
    f->stride = s->chunk_count;
    f->words = (uint64_t *)calloc((size_t)s->chunk_words, sizeof *f->words);
    f->again = (uint64_t *)calloc((size_t)s->chunk_words, sizeof *f->again);
    if (!f->tracks || !f->buckets || !prof__follow_places(f, 0) || !f->words || !f->again) return 0;
    return PROF__ROOM(f->rows, f->row_capacity, 0) && prof__follow_add(f, 0, PROF_EVENT_SCOPE, "", NULL) == 1;
}

/* Makes a follower for a session whose configuration needs one. The caller holds the control lock. */
static prof_status prof__follow_make(prof__session *s, const prof_config *config)
{
    prof_status status;
    if (!prof__mode_counts((uint32_t)config->mode) && !prof__config_saves(config) && !config->save_over &&
        !config->save_signal)
        return PROF_OK;
    prof__follow *f = (prof__follow *)calloc(1, sizeof *f);
    if (!f) return prof__no_memory("to follow what is recorded");
    s->follow = f; /* the session owns it, also after a failure */
    f->session = s;
    f->process = prof__process_id();
    f->stats = prof__mode_counts((uint32_t)config->mode);
    f->ns_per_tick = 1;
    status = prof__save_check(f, config);
    if (!status && !prof__follow_tables(f)) status = prof__no_memory("to follow what is recorded");
    return status;
}

static void prof__follow_free(prof__follow *f)
{
    prof__past_drop(); /* the session is gone; or this is the child of a fork */
    if (!f || f->process != prof__process_id()) return; /* a fork may have copied it half changed */
    while (f->asked) {
        prof__asked *asked = f->asked;
        f->asked = asked->next;
        free(asked);
    }
    for (size_t i = 0; f->tracks && i < f->track_limit; i++) {
        free(f->tracks[i].match.open);
        free(f->tracks[i].frames);
        free(f->tracks[i].match.cut);
        free(f->tracks[i].nested);
    }
    for (size_t i = 0; i < f->row_count; i++) {
        free(f->rows[i].text);
        free(f->rows[i].sums.histogram.steps);
    }
    free(f->halves);
    free(f->half_buckets);
    free(f->tracks);
    free(f->buckets);
    free(f->slots);
    free(f->active);
    free(f->order);
    free(f->words);
    free(f->again);
    free(f->strings);
    free(f->sites);
    free(f->rows);
    free(f->row_index.slots);
    free(f);
}

#endif /* PROF__WATCH_FOLLOW_MAKE_H */
