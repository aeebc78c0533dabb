// record/device: Records events of devices, such as a GPU, in the chunk of the thread that reports them.
#ifndef PROF__RECORD_DEVICE_H
#define PROF__RECORD_DEVICE_H
#include "api/devices.h"
#include "api/markup.h"
#include "api/values.h"
#include "ground/clock.h"
#include "ground/instances.h"
#include "ground/errors.h"
#include "ground/lock.h"
#include "ground/signals.h"
#include "ground/threads.h"
#include "image/device.h"
#include "image/format.h"
#include "image/pair.h"
#include "image/words.h"
#include "record/locks.h"
#include "record/meta.h"
#include "record/ring.h"
#include "record/scope.h"
#include "record/self.h"
#include "record/state.h"
#include "record/thread.h"
#include "record/track.h"
#include "record/value.h"

#ifndef PROF_FREESTANDING
/* All fields except name, clock and site change under the state's lock. session_id: the id of the session to whose
   image the device was added. */
struct prof_device {
    void *site; /* the prof_site behind this struct; void, as C++ hides prof_site from the program */
    const char *name;
    prof_device *next;
    prof_device_row *rows;
    prof_device_clock clock;
    uint32_t number, session_id;
    uint64_t *record; /* the device's record in that session's meta; NULL: no room */
    uint64_t pair_count;
    struct {
        uint64_t ticks, ns;
    } pairs[PROF__DEVICE_PAIRS];
};

struct prof_device_row {
    prof_device *device;
    prof_device_row *next;
    uint32_t number, session_id;
    const char *name;
};

static prof_device *prof__devices;
static uint32_t prof__device_count, prof__row_count;

/* Allocates a zeroed object with a copy of its name behind it. Returns NULL if there is no memory. */
static void *prof__named_object(size_t size, const char *name, const char **copy)
{
    size_t length = strlen(name) + 1;
    char *object = (char *)calloc(1, size + length);
    if (!object) {
        prof__fail(PROF_NO_MEMORY, "no memory for '%.100s'", name);
        return NULL;
    }
    memcpy(object + size, name, length);
    *copy = object + size;
    return object;
}

static prof_device *prof__device_make(const char *name, const prof_device_clock *clock)
{
    prof_device *made, *device;
    prof_site *site;
    const char *copy;
    if (!name || !*name || (clock && clock->bits > 64)) {
        prof__fail(PROF_INVALID_ARGUMENT, "prof_device_create: %s", name && *name ? "a clock has at most 64 bits"
                                                                                 : "name is null or empty");
        return NULL;
    }
    made = (prof_device *)prof__named_object(sizeof *made + sizeof *site, name, &copy);
    if (!made) return NULL;
    site = (prof_site *)(void *)(made + 1);
    site->name = site->file = site->function = "";
    site->category = made->name = copy;
    site->level = 1;
    site->kind = PROF__KIND_EVENT | PROF_ROLE_DEVICE << PROF__ROLE_SHIFT;
    made->site = site;
    if (clock) made->clock = *clock;
    if (made->clock.bits == 64) made->clock.bits = 0;
    uint32_t write_lock = prof__state_lock();
    for (device = prof__devices; device && strcmp(device->name, name); device = device->next) continue;
    if (!device) {
        made->number = ++prof__device_count;
        made->next = prof__devices;
        device = prof__devices = made;
    }
    prof__state_unlock(write_lock);
    if (device != made) free(made);
    return device;
}

PROF_DEF prof_device *prof_device_create(const char *name, const prof_device_clock *clock)
{
    PROF__FORWARD(prof_device_create, (name, clock));
    return prof__device_make(name, clock);
}

PROF_DEF prof_device_row *prof_device_row_create(prof_device *device, const char *name)
{
    PROF__FORWARD(prof_device_row_create, (device, name));
    prof_device_row *made, *row;
    const char *copy;
    if (!device || !name) {
        prof__null("prof_device_row_create", "device or name");
        return NULL;
    }
    made = (prof_device_row *)prof__named_object(sizeof *made, name, &copy);
    if (!made) return NULL;
    made->device = device;
    made->name = copy;
    uint32_t write_lock = prof__state_lock();
    for (row = device->rows; row && strcmp(row->name, name); row = row->next) continue;
    if (!row) {
        made->number = ++prof__row_count;
        made->next = device->rows;
        row = device->rows = made;
    }
    prof__state_unlock(write_lock);
    if (row != made) free(made);
    return row;
}

/* Appends a record to meta, even if an equal one exists. words: the record without its head. Returns the record, or
   NULL if there is no room. Under the state's lock. */
static uint64_t *prof__meta_append(prof__session *s, uint32_t kind, uint32_t id, const uint64_t *words, uint64_t count)
{
    uint64_t used = s->header->meta_used / 8, *record = s->meta + used;
    if (!prof__meta_room(s, used + 1 + count)) return NULL;
    prof__copy(record + 1, words, (size_t)count * 8);
    s->header->meta_used = (used + 1 + count) * 8;
    PROF__RELEASE(&record[0], (uint64_t)kind << 56 | (1 + count) << 32 | id);
    return record;
}

/* Stores a pair of clocks in three words, so that a reader finds the whole pair or sees by the check word that it is
   not complete. */
static void prof__device_store(uint64_t *slot, uint64_t ticks, uint64_t ns)
{
    PROF__RELEASE(slot + 2, 0);
    PROF__RELEASE(slot, ticks);
    PROF__RELEASE(slot + 1, ns);
    PROF__RELEASE(slot + 2, prof__device_check(ticks, ns));
}

/* Adds the device, and the row if it is not NULL, to the image of the thread's session. Returns 0, and counts the loss,
   if the lock is taken for long. The thread holds its write lock. */
static PROF__COLD int prof__device_know(prof__thread *self, prof_device *device, prof_device_row *row, uint32_t loss)
{
    prof__session *s = self->session;
    prof__signals signals;
    PROF__ERRNO_SAVE();
    int good = prof__lock_enter(&prof__lock_word, &signals);
    if (good) {
        uint64_t words[PROF__DEVICE_WORDS] = {0};
        if (device->session_id != s->session_id) {
            words[0] = prof__meta_string(s, device->name) | (uint64_t)device->clock.bits << 32;
            words[1] = device->clock.hz;
            for (uint64_t i = 0; i < device->pair_count && i < PROF__DEVICE_PAIRS; ++i)
                prof__device_store(words + 2 + 3 * i, device->pairs[i].ticks, device->pairs[i].ns);
            device->record = prof__meta_append(s, PROF__META_DEVICE, device->number, words, PROF__DEVICE_WORDS - 1);
            PROF__RELEASE(&device->session_id, s->session_id);
        }
        if (row && row->session_id != s->session_id) {
            words[0] = prof__meta_string(s, row->name) | (uint64_t)device->number << 32;
            prof__meta_append(s, PROF__META_ROW, row->number, words, PROF__ROW_WORDS - 1);
            PROF__RELEASE(&row->session_id, s->session_id);
        }
        prof__lock_leave(&prof__lock_word, &signals);
    } else {
        prof__lose_busy(self, loss);
    }
    PROF__ERRNO_RESTORE();
    return good;
}

/* The measured parts of an event. All its words are reserved in one piece, so their number must be known first. */
typedef struct prof__device_parts {
    const prof_device_event *event;
    prof__text name, keys[PROF_DEVICE_ARGS], texts[PROF_DEVICE_ARGS];
    uint64_t words, number;
    uint32_t args;
} prof__device_parts;

static uint32_t prof__device_arg_count(const prof_device_event *event)
{
    if (!event->args) return 0;
    return event->arg_count < PROF_DEVICE_ARGS ? event->arg_count : PROF_DEVICE_ARGS;
}

static void prof__device_measure(uint64_t chunk_words, const prof_device_event *event, prof__device_parts *parts)
{
    parts->event = event;
    parts->args = prof__device_arg_count(event);
    parts->name = prof__measure_in(chunk_words, event->name ? event->name : "");
    parts->words = 3 + (parts->name.length ? 1 + parts->name.words : 0) + 2 + (event->flow != 0);
    for (uint32_t i = 0; i < parts->args; ++i) {
        const prof_arg *arg = &event->args[i];
        parts->keys[i] = prof__measure_in(chunk_words, arg->key ? arg->key : "");
        if (arg->value.type == PROF_VALUE_STRING)
            parts->texts[i] = prof__measure_in(chunk_words, arg->value.as.string);
        parts->words += 1 + parts->keys[i].words;
        parts->words += 1 + (arg->value.type == PROF_VALUE_STRING ? parts->texts[i].words : 1);
    }
}

static uint64_t *prof__device_put_text(uint64_t *at, uint64_t kind, const prof__text *text)
{
    prof__text_write(at, kind << PROF__KIND_SHIFT, text);
    return at + 1 + text->words;
}

static uint64_t *prof__device_put_number(uint64_t *at, uint64_t type, uint64_t words, uint64_t number)
{
    PROF__STORE(at + 1, number);
    prof__store_word(at, (uint64_t)PROF__KIND_DATA << PROF__KIND_SHIFT | type << 32 | words);
    return at + 1 + words;
}

/* Writes all records of an event but the EVENT's head. The head is still zero, so no reader reads these words yet. */
static void prof__device_fill(uint64_t *at, const prof__device_parts *parts)
{
    const prof_device_event *event = parts->event;
    uint64_t type = (uint64_t)(event->type == PROF_EVENT_COUNTER ? event->value.type : PROF_VALUE_NONE);
    at += 3;
    if (parts->name.length) at = prof__device_put_text(at, PROF__KIND_NAME, &parts->name);
    if (event->flow) PROF__STORE(at + 2, event->flow);
    at = prof__device_put_number(at, type, 1 + (event->flow != 0), parts->number);
    for (uint32_t i = 0; i < parts->args; ++i) {
        const prof_value *value = &event->args[i].value;
        at = prof__device_put_text(at, PROF__KIND_DATA, &parts->keys[i]);
        at = value->type == PROF_VALUE_STRING
                 ? prof__device_put_text(at, PROF__KIND_DATA, &parts->texts[i])
                 : prof__device_put_number(at, (uint64_t)value->type, 1,
                                           value->type == PROF_VALUE_NONE ? 0 : value->as.u);
    }
}

/* Returns 1 if the device's events may be recorded. Callers check this first, because it is the cheapest check. */
static inline int prof__device_live(const prof_device *device) { return prof__live((prof_site *)device->site); }

/* Writes an event of a row. If row is NULL, writes a pair of clocks instead: event->start is the device's time in
   ticks, number is CLOCK_MONOTONIC in nanoseconds. */
static PROF__COLD void prof__device_write(prof_device *device, prof_device_row *row, uint64_t type,
                                          const prof_device_event *event, uint64_t number)
{
    prof__thread *self = PROF__SELF();
    prof_site *site = (prof_site *)device->site;
    prof__device_parts parts;
    const uint32_t loss = PROF__LOSS_EVENT | PROF__LOSS_ARGS(prof__device_arg_count(event));
    uint64_t head;
    if (!prof__enter_or_lose(self, site, &head, loss)) return;
    prof__session *s = self->session;
    if (s->header->mode != PROF_STATS && ((PROF__ACQUIRE(&device->session_id) == s->session_id &&
                                           (!row || PROF__ACQUIRE(&row->session_id) == s->session_id)) ||
                                          prof__device_know(self, device, row, loss))) {
        prof__device_measure(PROF__LOAD(&s->text_words), event, &parts);
        parts.number = number;
        uint64_t now = prof__now(s, 0), *at = prof__reserve_or_lose(self, parts.words, &now, loss);
        if (at) {
            prof__device_fill(at, &parts);
            PROF__STORE(at + 1, (uint64_t)(row ? row->number : device->number) << 8 | type);
            PROF__STORE(at + 2, event->start);
            prof__store_word(at, head | (now - self->base));
            prof__commit(self, parts.words);
        }
    }
    prof__leave(self);
}

static void prof__device_report(prof_device_row *row, const prof_device_event *event)
{
    PROF__FORWARD_VOID(prof__device_report, (row, event));
    if (event->type == PROF_EVENT_SCOPE)
        prof__device_write(row->device, row, PROF__DEVICE_SCOPE, event, event->end - event->start);
    else if (event->type == PROF_EVENT_MARK)
        prof__device_write(row->device, row, PROF__DEVICE_MARK, event, 0);
    else if (event->type == PROF_EVENT_COUNTER &&
             event->value.type >= PROF_VALUE_INT && event->value.type <= PROF_VALUE_DOUBLE)
        prof__device_write(row->device, row, PROF__DEVICE_COUNTER, event, event->value.as.u);
}

PROF_DEF void prof_device_record(prof_device_row *row, const prof_device_event *event)
{
    if (row && event && prof__device_live(row->device)) prof__device_report(row, event);
}

static prof_device_event prof__device_event_of(prof_event_type type, const char *name, uint64_t time)
{
    prof_device_event event; /* set field by field: gcc's code to clear it as a whole takes ten times as long */
    event.type = type;
    event.name = name;
    event.start = time;
    event.end = event.flow = 0;
    event.value.type = PROF_VALUE_NONE;
    event.value.cut = 0;
    event.value.as.u = 0;
    event.args = NULL;
    event.arg_count = 0;
    return event;
}

/* Records an event without arguments. number: the end of a scope in ticks, or the value of a counter. value: the type
   of the counter's value. */
static void prof__device_plain(prof_device_row *row, const char *name, uint64_t time, uint64_t number,
                               prof_event_type type, prof_value_type value)
{
    if (!row || !prof__device_live(row->device)) return;
    prof_device_event event = prof__device_event_of(type, name, time);
    event.end = event.value.as.u = number;
    event.value.type = value;
    prof__device_report(row, &event);
}

PROF_DEF void prof_device_scope(prof_device_row *row, const char *name, uint64_t start, uint64_t end)
{
    prof__device_plain(row, name, start, end, PROF_EVENT_SCOPE, PROF_VALUE_NONE);
}

PROF_DEF void prof_device_mark(prof_device_row *row, const char *name, uint64_t time)
{
    prof__device_plain(row, name, time, 0, PROF_EVENT_MARK, PROF_VALUE_NONE);
}

PROF_DEF void prof_device_counter(prof_device_row *row, const char *name, uint64_t time, int64_t value)
{
    prof__device_plain(row, name, time, (uint64_t)value, PROF_EVENT_COUNTER, PROF_VALUE_INT);
}

PROF_DEF void prof_device_counter_double(prof_device_row *row, const char *name, uint64_t time, double value)
{
    prof__device_plain(row, name, time, prof__double_bits(value), PROF_EVENT_COUNTER, PROF_VALUE_DOUBLE);
}

PROF_DEF uint64_t prof_host_ns(void) { return prof__monotonic(); }

static void prof__device_pair(prof_device *device, uint64_t ticks, uint64_t host_ns)
{
    if (!host_ns) {
        host_ns = prof__monotonic();
    } else if (device->clock.unix_time) {
        prof__pair now;
        prof__pair_take(PROF_CLOCK_MONOTONIC, 0, &now);
        host_ns += now.monotonic_ns - now.unix_ns;
    }
    uint32_t write_lock = prof__state_lock();
    uint64_t at = device->pair_count ? 1 + (device->pair_count - 1) % (PROF__DEVICE_PAIRS - 1) : 0;
    const prof__session *s = prof__state.running ? prof__state.session : NULL;
    device->pair_count++;
    device->pairs[at].ticks = ticks;
    device->pairs[at].ns = host_ns;
    if (s && device->session_id == s->session_id && device->record)
        prof__device_store(device->record + 3 + 3 * at, ticks, host_ns);
    prof__state_unlock(write_lock);
    prof_device_event event = prof__device_event_of(PROF_EVENT_MARK, NULL, ticks);
    if (prof__device_live(device)) prof__device_write(device, NULL, PROF__DEVICE_PAIR, &event, host_ns);
}

PROF_DEF prof_status prof_device_sync(prof_device *device, uint64_t ticks, uint64_t host_ns)
{
    PROF__FORWARD(prof_device_sync, (device, ticks, host_ns));
    if (!device) return prof__null("prof_device_sync", "device");
    prof__device_pair(device, ticks, host_ns);
    return PROF_OK;
}

/* Returns Unix time minus CLOCK_MONOTONIC, in nanoseconds. The difference is constant until somebody sets the system's
   clock. So it is measured once, and replaced only if it has changed by more than 1 ms: a new measurement differs
   slightly each time, and could swap events that are close together. Under the state's lock. */
static int64_t prof__host_offset(void)
{
    static int64_t offset;
    static uint64_t measured;
    uint64_t best = ~(uint64_t)0, after = prof__monotonic();
    int64_t found = 0, off;
    int i;
    if (measured && after - measured < 100000000) return offset;
    for (i = 0; i < 8; i++) {
        uint64_t before = prof__monotonic(), now = prof__unix_time();
        after = prof__monotonic();
        if (after - before >= best) continue;
        best = after - before;
        found = (int64_t)(now - before - best / 2);
    }
    off = found - offset;
    if (!measured || off > 1000000 || off < -1000000) offset = found;
    measured = after;
    return offset;
}

/* Makes the time of a device that has no pair yet the same as CLOCK_MONOTONIC. Its clock must tick once a nanosecond.
   Returns what to subtract from a Unix time to get the device's time. Any thread may call this. */
static int64_t prof__device_on_host(prof_device *device)
{
    uint32_t write_lock = prof__state_lock();
    int64_t offset = prof__host_offset();
    int fresh = !device->pair_count;
    prof__state_unlock(write_lock);
    if (fresh) { /* if two threads do this at once, both set the same time */
        uint64_t now = prof_host_ns();
        prof_device_sync(device, now, now);
    }
    return offset;
}
#endif

#endif /* PROF__RECORD_DEVICE_H */
