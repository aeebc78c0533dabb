// ntff/parser: Reads the events of both kinds of JSON, and pairs starts with stops.
#ifndef PROF__NTFF_PARSER_H
#define PROF__NTFF_PARSER_H
#include "ground/errors.h"
#include "ground/numbers.h"
#include "ntff/api.h"
#include "ntff/clock.h"
#include "ntff/events.h"
#include "ntff/json.h"

/*-- pairs --*/

static void prof__ntff_give_up(prof_ntff_parser *p, prof__ntff_open *start)
{
    start->event.flags |= PROF_NTFF_UNMATCHED_START;
    prof__ntff_finish(p, start);
}

static void prof__ntff_start(prof_ntff_parser *p, const prof__ntff_said *said)
{
    prof__ntff_open *start = prof__ntff_claim(p, &said->event);
    prof__ntff_open **slot;
    if (start) prof__ntff_give_up(p, start); /* a new start: the earlier one has lost its stop */
    while (p->starts.count >= PROF__NTFF_OPEN || p->starts.bytes >= PROF__NTFF_BYTES)
        prof__ntff_give_up(p, prof__ntff_claim(p, &p->starts.oldest->event));
    start = prof__ntff_keep(said);
    if (!start) {
        p->stats.errors++;
        return;
    }
    start->raw = prof__ntff_is_raw(said);
    start->hash = prof__ntff_hash(&start->event);
    slot = &p->slots[start->hash % (sizeof p->slots / sizeof *p->slots)];
    start->next = *slot;
    *slot = start;
    prof__ntff_append(&p->starts, start);
}

static void prof__ntff_single(prof_ntff_parser *p, prof__ntff_said *said)
{
    prof__ntff_open *kept;
    if (!prof__ntff_is_raw(said)) {
        prof__ntff_hand_over(p, &said->event);
        return;
    }
    kept = prof__ntff_keep(said);
    if (!kept) {
        p->stats.errors++;
        return;
    }
    kept->raw = 1;
    prof__ntff_finish(p, kept);
}

static void prof__ntff_lone_stop(prof_ntff_parser *p, prof__ntff_said *said)
{
    said->event.flags |= PROF_NTFF_UNMATCHED_STOP;
    said->event.duration_ns = -1;
    prof__ntff_single(p, said);
}

static void prof__ntff_stop(prof_ntff_parser *p, prof__ntff_said *said)
{
    prof__ntff_open *start = prof__ntff_claim(p, &said->event);
    int64_t ns = -1;
    int raw;
    if (!start) {
        prof__ntff_lone_stop(p, said);
        return;
    }
    raw = start->raw || prof__ntff_is_raw(said); /* both have the core's time if one has */
    if (!raw)
        ns = said->time - start->event.start_ns;
    else if (start->has_nc && said->has_nc)
        ns = prof__ntff_minus(said->nc_ns, start->nc_ns);
    start->raw = raw && start->has_nc; /* without the core's start, its time cannot be converted */
    if (ns < 0 || ns >= PROF__NTFF_FAR) { /* it cannot be the stop of this start */
        prof__ntff_give_up(p, start);
        prof__ntff_lone_stop(p, said);
        return;
    }
    start->event.duration_ns = ns;
    if (start->event.core_idx < 0) start->event.core_idx = said->event.core_idx;
    p->stats.pairs++;
    prof__ntff_finish(p, start);
}

/*-- objects --*/

enum {
    PROF__NTFF_NAME = 1, PROF__NTFF_PHASE, PROF__NTFF_TIME, PROF__NTFF_DURATION, PROF__NTFF_UNIT, PROF__NTFF_NC,
    PROF__NTFF_LNC, PROF__NTFF_CORE, PROF__NTFF_WORKER, PROF__NTFF_TID, PROF__NTFF_PID, PROF__NTFF_TRACKING,
    PROF__NTFF_EXEC, PROF__NTFF_SEQ, PROF__NTFF_DATA_OBJECT, PROF__NTFF_NC_TIME, PROF__NTFF_CPU_TIME, PROF__NTFF_GROUP,
    PROF__NTFF_SOURCE, PROF__NTFF_INSTANCE, PROF__NTFF_VALUE, PROF__NTFF_PERCENT, PROF__NTFF_CPU, PROF__NTFF_OTHER
};

/* Returns the meaning of a key of either kind of file. OTHER: a key that is not used here. */
static int prof__ntff_key(const char *key)
{
    static const struct {
        const char *name;
        unsigned char length, field;
    } keys[] = {
#define PROF__NTFF_KEY(name, field) {name, sizeof(name) - 1, field}
        PROF__NTFF_KEY("event_type", PROF__NTFF_NAME), PROF__NTFF_KEY("name", PROF__NTFF_NAME),
        PROF__NTFF_KEY("phase", PROF__NTFF_PHASE), PROF__NTFF_KEY("timestamp_ns", PROF__NTFF_TIME),
        PROF__NTFF_KEY("timestamp", PROF__NTFF_TIME), PROF__NTFF_KEY("duration", PROF__NTFF_DURATION),
        PROF__NTFF_KEY("timestamp_unit", PROF__NTFF_UNIT), PROF__NTFF_KEY("nc_idx", PROF__NTFF_NC),
        PROF__NTFF_KEY("lnc_idx", PROF__NTFF_LNC), PROF__NTFF_KEY("device_core_idx", PROF__NTFF_CORE),
        PROF__NTFF_KEY("pcore_idx", PROF__NTFF_CORE), PROF__NTFF_KEY("worker_gid", PROF__NTFF_WORKER),
        PROF__NTFF_KEY("thread_id", PROF__NTFF_TID), PROF__NTFF_KEY("process_id", PROF__NTFF_PID),
        PROF__NTFF_KEY("tracking_id", PROF__NTFF_TRACKING), PROF__NTFF_KEY("exec_id", PROF__NTFF_EXEC),
        PROF__NTFF_KEY("nrta_seq_id", PROF__NTFF_SEQ), PROF__NTFF_KEY("data", PROF__NTFF_DATA_OBJECT),
        PROF__NTFF_KEY("nc_timestamp_ns", PROF__NTFF_NC_TIME), PROF__NTFF_KEY("cpu_timestamp_ns", PROF__NTFF_CPU_TIME),
        PROF__NTFF_KEY("group", PROF__NTFF_GROUP), PROF__NTFF_KEY("trace_event_source", PROF__NTFF_SOURCE),
        PROF__NTFF_KEY("instance_id", PROF__NTFF_INSTANCE), PROF__NTFF_KEY("usage", PROF__NTFF_VALUE),
        PROF__NTFF_KEY("util", PROF__NTFF_VALUE), PROF__NTFF_KEY("percent_usage", PROF__NTFF_PERCENT),
        PROF__NTFF_KEY("cpu_id", PROF__NTFF_CPU), PROF__NTFF_KEY("id", PROF__NTFF_OTHER),
        PROF__NTFF_KEY("parent_id", PROF__NTFF_OTHER), PROF__NTFF_KEY("type", PROF__NTFF_OTHER)};
#undef PROF__NTFF_KEY
    size_t i, length = strlen(key);
    for (i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].length == length && !memcmp(keys[i].name, key, length)) return keys[i].field;
    return 0;
}

static void prof__ntff_index(int32_t *index, const prof__json_value *value, int64_t max)
{
    int64_t number;
    if (prof__json_signed(value, &number) && number >= 0 && number <= max) *index = (int32_t)number;
}

static void prof__ntff_group(prof__ntff_said *said, const char *group)
{
    if (!strncmp(group, "framework", 9) && !said->has_source) said->event.source = PROF_NTFF_SOURCE_FRAMEWORK;
    if (!strncmp(group, "nrt-nc-", 7) && said->lnc_idx < 0) {
        int negative;
        uint64_t number;
        if (prof__json_whole(group + 7, &negative, &number) && !negative && number <= INT32_MAX)
            said->lnc_idx = (int64_t)number;
    }
}

static void prof__ntff_from(prof__ntff_said *said, const char *source)
{
    said->event.source = !strcmp(source, "neuron_rt")   ? PROF_NTFF_SOURCE_RUNTIME
                         : !strcmp(source, "neuron_hw") ? PROF_NTFF_SOURCE_HARDWARE
                         : !strcmp(source, "framework") ? PROF_NTFF_SOURCE_FRAMEWORK
                                                        : PROF_NTFF_SOURCE_UNKNOWN;
    said->has_source = said->event.source != PROF_NTFF_SOURCE_UNKNOWN;
}

/* Returns how many ns a unit has. Returns 0 for an unknown unit, because a guess would put the event anywhere. */
static int64_t prof__ntff_unit(const char *text)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    int64_t ns = 1;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++, ns *= 1000)
        if (!strcmp(text, units[i])) return ns;
    return 0;
}

static void prof__ntff_text(char *to, size_t size, const prof__json_value *value)
{
    size_t length = strlen(value->text);
    if (length >= size) length = size - 1;
    memcpy(to, value->text, length);
    to[length] = 0;
}

static void prof__ntff_field(prof__ntff_said *said, int field, const prof__json_value *value)
{
    prof_ntff_event *event = &said->event;
    switch (field) {
    case PROF__NTFF_NAME: prof__ntff_text(said->name, sizeof said->name, value); break;
    case PROF__NTFF_PHASE:
        said->phase = value->text[0] == 's' ? 's' : 'i';
        said->stop = !strcmp(value->text, "stop");
        break;
    case PROF__NTFF_TIME: said->has_time = prof__json_signed(value, &said->time); break;
    case PROF__NTFF_DURATION: said->has_duration = prof__json_signed(value, &said->duration); break;
    case PROF__NTFF_UNIT: said->unit = prof__ntff_unit(value->text); break;
    case PROF__NTFF_NC: prof__ntff_index(&event->nc_idx, value, INT32_MAX); break;
    case PROF__NTFF_LNC: (void)prof__json_signed(value, &said->lnc_idx); break;
    case PROF__NTFF_CORE: prof__ntff_index(&event->core_idx, value, PROF__NTFF_CORES - 1); break;
    case PROF__NTFF_WORKER: prof__ntff_index(&event->worker_gid, value, INT32_MAX); break;
    case PROF__NTFF_TID: (void)prof__json_unsigned(value, &event->tid); break;
    case PROF__NTFF_PID: (void)prof__json_unsigned(value, &event->pid); break;
    case PROF__NTFF_TRACKING: (void)prof__json_unsigned(value, &event->tracking_id); break;
    case PROF__NTFF_EXEC: (void)prof__json_unsigned(value, &event->exec_id); break;
    case PROF__NTFF_SEQ: (void)prof__json_unsigned(value, &event->nrta_seq); break;
    case PROF__NTFF_NC_TIME: said->has_nc = prof__json_signed(value, &said->nc_ns); break;
    case PROF__NTFF_CPU_TIME: said->has_cpu = prof__json_signed(value, &said->cpu_ns); break;
    case PROF__NTFF_GROUP: prof__ntff_group(said, value->text); break;
    case PROF__NTFF_SOURCE: prof__ntff_from(said, value->text); break;
    case PROF__NTFF_INSTANCE: prof__ntff_text(said->instance, sizeof said->instance, value); break;
    case PROF__NTFF_VALUE: said->has_value = prof__json_double(value, &event->value); break;
    case PROF__NTFF_PERCENT: (void)prof__json_double(value, &said->percent); break;
    case PROF__NTFF_CPU: prof__ntff_text(said->name, 64, value); break;
    default: break;
    }
}

/* Parses an object, and the object "data" inside it. Returns 0 if it is not an object. */
static int prof__ntff_object(prof_ntff_parser *p, prof__json *j, int inner)
{
    char key[24];
    int first = 1, field;
    prof__slice data;
    prof__json within;
    if (!prof__json_expect(j, '{', "is not an object")) return 0;
    while (prof__json_more(j, '}', &first)) {
        if (!prof__json_key(j, key, sizeof key)) return 0;
        field = prof__ntff_key(key);
        if (field == PROF__NTFF_DATA_OBJECT && !inner && prof__json_peek(j) == '{') {
            if (!prof__json_slice(j, &data)) return 0;
            prof__json_memory(&within, data.bytes, data.size);
            if (!prof__ntff_object(p, &within, 1)) return 0;
            p->said.event.args = data.bytes;
            p->said.event.args_size = data.size;
        } else if (!prof__json_take(j, &p->value)) {
            return 0;
        } else if (field && (!inner || field == PROF__NTFF_EXEC || field == PROF__NTFF_CORE ||
                             field == PROF__NTFF_NC_TIME || field == PROF__NTFF_CPU_TIME)) {
            prof__ntff_field(&p->said, field, &p->value);
        }
    }
    return !j->error;
}

/* Makes an event, a start or a stop from the fields of an object. Returns 0 if the fields are none of these. */
static int prof__ntff_complete(prof__ntff_said *said)
{
    prof_ntff_event *event = &said->event;
    int64_t max = said->unit ? PROF__NTFF_FAR / said->unit : 0;
    if (!said->has_time || said->time <= 0 || said->time >= max) return 0;
    said->time *= said->unit;
    event->start_ns = said->time;
    event->duration_ns = said->phase == 's' ? 0 : -1;
    if (said->has_duration && !said->phase) {
        if (said->duration < 0 || said->duration >= max || said->duration * said->unit > PROF__NTFF_FAR - said->time)
            return 0;
        event->duration_ns = said->duration * said->unit;
    }
    if (event->nc_idx < 0 && said->lnc_idx >= 0 && said->lnc_idx <= INT32_MAX) event->nc_idx = (int32_t)said->lnc_idx;
    if (!said->has_source && prof__ntff_is_hardware(said->name)) event->source = PROF_NTFF_SOURCE_HARDWARE;
    if (event->source == PROF_NTFF_SOURCE_UNKNOWN) event->source = PROF_NTFF_SOURCE_RUNTIME;
    return 1;
}

static void prof__ntff_event_of(prof_ntff_parser *p, const prof__slice *whole)
{
    prof__ntff_said *said = &p->said;
    if (!said->name[0] || !prof__ntff_complete(said)) {
        p->stats.errors++;
        return;
    }
    if (!said->phase) { /* an event of Neuron Explorer, which is complete */
        said->event.args = whole->bytes;
        said->event.args_size = whole->size;
        p->stats.complete += said->event.duration_ns >= 0;
    }
    if (said->phase == 's' && said->stop) {
        prof__ntff_stop(p, said);
    } else if (said->phase == 's') {
        prof__ntff_start(p, said);
    } else {
        if (said->has_nc && said->has_cpu && said->cpu_ns > 0 && said->cpu_ns < PROF__NTFF_FAR) {
            prof__ntff_sync_point(p, said);
            if (prof__ntff_is_raw(said)) said->time = said->event.start_ns = said->cpu_ns;
        }
        prof__ntff_single(p, said);
    }
}

enum { PROF__NTFF_EVENTS = 1, PROF__NTFF_MEMORY, PROF__NTFF_LOAD };

static void prof__ntff_counter(prof_ntff_parser *p, int kind)
{
    prof__ntff_said *said = &p->said;
    char cpu[64];
    if (!said->has_value || !prof__ntff_complete(said)) {
        p->stats.errors++;
        return;
    }
    memcpy(cpu, said->name, sizeof cpu);
    cpu[sizeof cpu - 1] = 0;
    if (kind == PROF__NTFF_MEMORY)
        snprintf(said->name, sizeof said->name, "memory used (bytes)");
    else
        snprintf(said->name, sizeof said->name, cpu[0] ? "cpu %s (%%)" : "cpu (%%)", cpu);
    said->event.source = PROF_NTFF_SOURCE_HOST;
    said->event.duration_ns = -1;
    said->event.flags = PROF_NTFF_COUNTER;
    prof__ntff_hand_over(p, &said->event);
    if (kind != PROF__NTFF_MEMORY || !(said->percent > 0)) return;
    snprintf(said->name, sizeof said->name, "memory used (%%)");
    said->event.value = said->percent;
    prof__ntff_hand_over(p, &said->event);
}

static void prof__ntff_clear(prof__ntff_said *said)
{
    prof_ntff_event *event = &said->event;
    memset(event, 0, sizeof *event);
    event->name = said->name;
    event->instance = said->instance;
    event->nc_idx = event->core_idx = event->worker_gid = -1;
    said->name[0] = said->instance[0] = said->phase = 0;
    said->stop = said->has_time = said->has_duration = said->has_nc = said->has_cpu = said->has_value =
        said->has_source = 0;
    said->unit = 1;
    said->lnc_idx = -1;
    said->percent = 0;
}

/* Reads an element of an array. Returns 0 if nothing can be read after it. */
static int prof__ntff_element(prof_ntff_parser *p, prof__json *j, int kind)
{
    prof__slice whole;
    prof__json inside;
    if (!prof__json_slice(j, &whole)) return 0;
    prof__json_memory(&inside, whole.bytes, whole.size);
    prof__ntff_clear(&p->said);
    if (!whole.size || !prof__ntff_object(p, &inside, 0))
        p->stats.errors++;
    else if (kind == PROF__NTFF_EVENTS)
        prof__ntff_event_of(p, &whole);
    else
        prof__ntff_counter(p, kind);
    return !p->ended;
}

/* Reads an array of objects, or an object whose members are objects or arrays of objects. */
static int prof__ntff_elements(prof_ntff_parser *p, prof__json *j, int kind, int inner)
{
    int first = 1, bracket = prof__json_peek(j);
    char key[8], close = bracket == '[' ? ']' : '}';
    if (bracket != '[' && bracket != '{') return prof__json_pass(j);
    j->at++;
    while (prof__json_more(j, close, &first)) {
        if (close == '}' && !prof__json_key(j, key, sizeof key)) return 0;
        if (close == '}' && !inner && prof__json_peek(j) == '[') {
            if (!prof__ntff_elements(p, j, kind, 1)) return 0;
        } else if (!prof__ntff_element(p, j, kind)) {
            return 0;
        }
    }
    return !j->error;
}

static int prof__ntff_document(prof_ntff_parser *p, prof__json *j)
{
    static const struct {
        const char *key;
        int kind;
    } arrays[] = {{"events", PROF__NTFF_EVENTS},
                  {"trace_event", PROF__NTFF_EVENTS},
                  {"trace_events", PROF__NTFF_EVENTS},
                  {"mem_usage", PROF__NTFF_MEMORY},
                  {"cpu_util", PROF__NTFF_LOAD}};
    int first = 1, known = 0, good = 1;
    char key[32];
    size_t i;
    if (prof__json_peek(j) == 0x1F) return prof__json_fail(j, "is compressed: decompress it with gunzip");
    if (j->end - j->at >= 3 && !memcmp(j->at, "\xEF\xBB\xBF", 3)) j->at += 3;
    if (!prof__json_expect(j, '{', "is not a JSON object")) return 0;
    while (good && prof__json_more(j, '}', &first)) {
        if (!prof__json_key(j, key, sizeof key)) return 0;
        for (i = 0; i < sizeof arrays / sizeof *arrays && strcmp(arrays[i].key, key); i++) continue;
        if (i < sizeof arrays / sizeof *arrays) {
            known = 1;
            good = prof__ntff_elements(p, j, arrays[i].kind, 0);
        } else if (!strcmp(key, "data_version")) {
            int64_t version = 0;
            good = prof__json_take(j, &p->value);
            if (good && prof__json_signed(&p->value, &version) && version > 0 && version < 1000000)
                p->stats.data_version = (int)version;
        } else {
            good = prof__json_pass(j);
        }
    }
    if (j->error || p->ended) return 0;
    return known || prof__json_fail(j, "has no events: neither \"trace_event\" of Neuron Explorer nor \"events\" of a "
                                       "system trace");
}

static prof_status prof__ntff_read(prof_ntff_parser *p, prof__json *j, const char *what)
{
    prof__ntff_document(p, j);
    prof__ntff_resolve(p, 0);
    if (!j->error || p->ended) return PROF_OK;
    return prof__json_say(j, what, "");
}

static void prof__ntff_stats_add(prof_ntff_stats *to, prof_ntff_stats *from)
{
    if (to) {
        to->events += from->events;
        to->pairs += from->pairs;
        to->complete += from->complete;
        to->instants += from->instants;
        to->counters += from->counters;
        to->unmatched_starts += from->unmatched_starts;
        to->unmatched_stops += from->unmatched_stops;
        to->realigned += from->realigned;
        to->raw_clock += from->raw_clock;
        to->sync_points += from->sync_points;
        to->errors += from->errors;
        if (from->sync_error_ns > to->sync_error_ns) to->sync_error_ns = from->sync_error_ns;
        if (from->first_ns && (!to->first_ns || from->first_ns < to->first_ns)) to->first_ns = from->first_ns;
        if (from->last_ns > to->last_ns) to->last_ns = from->last_ns;
        if (from->data_version) to->data_version = from->data_version;
    }
    memset(from, 0, sizeof *from);
}

PROF_DEF prof_ntff_parser *prof_ntff_parser_create(void)
{
    prof_ntff_parser *parser = (prof_ntff_parser *)calloc(1, sizeof *parser);
    if (!parser) prof__fail(PROF_NO_MEMORY, "prof_ntff_parser_create: no memory");
    return parser;
}

PROF_DEF void prof_ntff_parser_destroy(prof_ntff_parser *parser, prof_ntff_event_fn fn, void *user,
                                       prof_ntff_stats *stats)
{
    prof__ntff_open *kept;
    if (!parser) return;
    parser->fn = fn;
    parser->user = user;
    parser->ended = 0;
    while ((kept = parser->starts.oldest) != NULL) prof__ntff_give_up(parser, prof__ntff_claim(parser, &kept->event));
    prof__ntff_resolve(parser, 1);
    prof__ntff_stats_add(stats, &parser->stats);
    free(parser->syncs);
    free(parser);
}

/* Frees the parser, as prof_ntff_parser_destroy() does. Once fn has asked to stop, what still waits is neither passed
   to fn nor counted. */
static void prof__ntff_parser_close(prof_ntff_parser *p, prof_ntff_event_fn fn, void *user, prof_ntff_stats *stats)
{
    int ended = p->ended;
    prof_ntff_parser_destroy(p, ended ? NULL : fn, user, ended ? NULL : stats);
}

PROF_DEF prof_status prof_ntff_parse_systrace_json(prof_ntff_parser *parser, const char *json, size_t size,
                                                   prof_ntff_event_fn fn, void *user, prof_ntff_stats *stats)
{
    PROF__CALM();
    prof_ntff_parser *p = parser ? parser : prof_ntff_parser_create();
    prof_status status;
    prof__json j;
    if (!p) return PROF_NO_MEMORY;
    if (!json) size = 0;
    while (size && !json[size - 1]) size--; /* the runtime may count the terminating zero */
    prof__json_memory(&j, json ? json : "", size);
    p->fn = fn;
    p->user = user;
    p->ended = 0;
    status = prof__ntff_read(p, &j, "system trace");
    prof__ntff_stats_add(stats, &p->stats);
    if (!parser) prof__ntff_parser_close(p, fn, user, stats);
    return status;
}

PROF_DEF prof_status prof_ntff_read_system_json(const char *path, prof_ntff_event_fn fn, void *user,
                                                prof_ntff_stats *stats)
{
    PROF__CALM();
    prof_ntff_parser *p;
    prof__json j;
    prof_status status;
    if (!path) return prof__fail(PROF_INVALID_ARGUMENT, "prof_ntff_read_system_json: path is null");
    status = prof__json_open(&j, path);
    if (status != PROF_OK) return status;
    p = prof_ntff_parser_create();
    if (p) {
        p->fn = fn;
        p->user = user;
        status = prof__ntff_read(p, &j, path);
        prof__ntff_stats_add(stats, &p->stats);
        prof__ntff_parser_close(p, fn, user, stats);
    }
    prof__json_close(&j);
    return p ? status : PROF_NO_MEMORY;
}

#endif /* PROF__NTFF_PARSER_H */
