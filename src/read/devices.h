// read/devices: Collects the events of devices, reads devices and rows from meta, and aligns the devices' clocks with
// the host's.
#ifndef PROF__READ_DEVICES_H
#define PROF__READ_DEVICES_H
#include "api/markup.h"
#include "api/read.h"
#include "api/values.h"
#include "ground/hash.h"
#include "image/device.h"
#include "image/format.h"
#include "image/words.h"
#include "read/chunks.h"
#include "read/clock.h"
#include "read/faults.h"
#include "read/names.h"
#include "read/records.h"
#include "read/chains.h"
#include "read/switches.h"
#include "read/trace.h"

/*-- tracks of devices --
   While chunks are cut into segments, the events of devices are collected from all threads. They stay in memory, and
   are sorted once by device, row and time. Clock pairs become lines from a device's ticks to nanoseconds. The ticks of
   a counter that wraps are first converted to a scale without wraps, which starts in the middle of the 64-bit range. */

#define PROF__DEVICE_SUBROWS 64
#define PROF__DEVICE_MIDDLE ((uint64_t)1 << 63) /* a multiple of the period of every counter */

static int prof__device_add_pair(prof_trace *trace, uint32_t device, uint64_t ticks, uint64_t monotonic_ns)
{
    prof__read_pairing *pair =
        (prof__read_pairing *)PROF__MORE(trace->pairings, trace->pairing_capacity, trace->pairing_count);
    if (!pair) return 0;
    pair->device = device;
    pair->tick = ticks;
    pair->ns = prof__read_since(trace, monotonic_ns);
    return 1;
}

/* Returns the index of a name, which is copied, or PROF__NONE if there is no memory. */
static size_t prof__device_name(prof_trace *trace, const char *text)
{
    size_t name = prof__read_find(&trace->name_index, prof__text_hash(text), prof__read_same_name, trace, text);
    if (name != PROF__NONE) return name;
    text = prof__read_text(trace, text, "");
    return text ? prof__read_name(trace, text) : PROF__NONE;
}

/* Returns the length of the record at this word if it is a part, of this kind, of a device's event, else 0. Also
   terminates the record's string, because the words have been cut only up to here. The flags of other events' arguments
   show that a record is not such a part. */
static size_t prof__device_part(uint64_t *words, size_t at, size_t count, unsigned kind)
{
    size_t length = at < count ? prof__record_length(words[at], count - at) : 0;
    if (!length || prof__read_kind(words[at]) != kind || words[at] & (PROF__ARG_KEY | PROF__ARG_TO)) return 0;
    prof__read_seal_text(words + at, length);
    return length;
}

static int prof__device_is_text(uint64_t head) { return (head >> 32 & 0xFF) == PROF_VALUE_STRING; }

/* Copies the records of an event's arguments to kept, one after the other, and counts them. Returns 0 if there is no
   memory. */
static int prof__device_args(prof_trace *trace, prof__read_device_record *e, uint64_t *words, size_t at, size_t count)
{
    size_t key, value;
    e->args = trace->kept_count;
    for (; (key = prof__device_part(words, at, count, PROF__KIND_DATA)) != 0; at += key + value) {
        value = prof__device_part(words, at + key, count, PROF__KIND_DATA);
        if (!value || !prof__device_is_text(words[at])) break;
        if (prof__read_keep(trace, words + at, key + value) == PROF__NONE) return 0;
        e->arg_count++;
    }
    return 1;
}

/* Collects the event of a device, if the EVENT record at this word is one. Returns 0 if there is no memory. */
static int prof__device_take(prof_trace *trace, size_t chunk, uint64_t *words, size_t at, size_t count)
{
    const uint64_t *record = words + at;
    prof__read_device_record e;
    size_t length, name;
    memset(&e, 0, sizeof e);
    e.type = (uint8_t)(record[1] & 0xFF);
    if (e.type == PROF__DEVICE_SWITCHES) return prof__switches_take(trace, chunk, words, at, count);
    if (e.type == PROF__DEVICE_FAULTS) return prof__faults_take(trace, words, at, count);
    if (e.type == PROF__DEVICE_DELAYS) return prof__delays_take(trace, words, at, count);
    if (e.type == PROF__DEVICE_SAMPLES) return prof__samples_take(trace, words, at, count);
    if (e.type < PROF__DEVICE_SCOPE || e.type > PROF__DEVICE_PAIR) {
        trace->info.unknown++;
        return 1;
    }
    e.row = (uint32_t)(record[1] >> 8);
    e.time = record[2];
    e.tick = prof__read_tick(trace->chunks[chunk].tick, record[0], 0);
    e.id = prof__read_event_id(trace, &trace->chunks[chunk], at);
    e.site = (uint32_t)prof__read_site_of(trace, prof__read_id(record[0]));
    e.name = trace->sites[e.site].name;
    at += 3;
    length = prof__device_part(words, at, count, PROF__KIND_NAME);
    if (length > 1) {
        name = prof__device_name(trace, (const char *)(words + at + 1));
        if (name == PROF__NONE) return 0;
        e.name = (uint32_t)name;
        at += length;
    }
    length = prof__device_part(words, at, count, PROF__KIND_DATA);
    if (length > 1 && !prof__device_is_text(words[at])) {
        e.value = (uint8_t)(words[at] >> 32);
        e.number = words[at + 1];
        if (length > 2) e.flow = words[at + 2];
        at += length;
    }
    if (e.type == PROF__DEVICE_PAIR) return prof__device_add_pair(trace, e.row, e.time, e.number);
    if (!prof__device_args(trace, &e, words, at, count) ||
        !PROF__ROOM(trace->device_records, trace->device_record_capacity, trace->device_record_count))
        return 0;
    trace->device_records[trace->device_record_count++] = e;
    return 1;
}

/*-- devices and rows --*/

static int prof__device_order(const void *a, const void *b)
{
    uint32_t x = ((const prof__read_device *)a)->number, y = ((const prof__read_device *)b)->number;
    return x < y ? -1 : x > y;
}

static int prof__row_order(const void *a, const void *b)
{
    uint32_t x = ((const prof__read_row *)a)->number, y = ((const prof__read_row *)b)->number;
    return x < y ? -1 : x > y;
}

/* Returns the index of the device with this number, or 0: the first device stands for those that meta lacks. */
static uint32_t prof__device_find(const prof_trace *trace, uint32_t number)
{
    prof__read_device key, *found;
    key.number = number;
    found = (prof__read_device *)bsearch(&key, trace->devices, trace->device_count, sizeof key, prof__device_order);
    return found ? (uint32_t)(found - trace->devices) : 0;
}

static uint32_t prof__row_find(const prof_trace *trace, uint32_t number)
{
    prof__read_row key, *found;
    key.number = number;
    found = (prof__read_row *)bsearch(&key, trace->rows, trace->row_count, sizeof key, prof__row_order);
    return found ? (uint32_t)(found - trace->rows) : 0;
}

static int prof__device_add(prof_trace *trace, uint32_t number, size_t name, uint64_t bits, uint64_t hz)
{
    prof__read_device *device =
        (prof__read_device *)PROF__MORE(trace->devices, trace->device_capacity, trace->device_count);
    if (!device) return 0;
    device->number = number;
    device->name = (uint32_t)name;
    device->wraps = bits > 0 && bits < 64;
    device->mask = device->wraps ? ((uint64_t)1 << bits) - 1 : ~(uint64_t)0;
    device->hz = hz <= (uint64_t)1 << 50 ? hz : 0;
    return 1;
}

static int prof__row_add(prof_trace *trace, uint32_t number, size_t name, uint32_t device)
{
    prof__read_row *row = (prof__read_row *)PROF__MORE(trace->rows, trace->row_capacity, trace->row_count);
    if (!row) return 0;
    row->number = number;
    row->name = (uint32_t)name;
    row->device = device;
    return 1;
}

/* Reads the devices and rows in meta, and their clock pairs. Returns 0 if there is no memory. */
static int prof__device_meta(prof_trace *trace)
{
    const uint64_t *words = trace->image + trace->header.meta_offset / 8, *field;
    size_t count = (size_t)(trace->header.meta_size / 8), at, length, slot;
    size_t unnamed = prof__device_name(trace, "?"); /* for devices and rows for which meta had no space */
    if (unnamed == PROF__NONE || !prof__device_add(trace, 0, unnamed, 0, 0) || !prof__row_add(trace, 0, unnamed, 0))
        return 0;
    for (at = 0; (length = prof__read_meta_words(words, at, count)) != 0; at += length) {
        uint32_t id = (uint32_t)words[at];
        field = words + at + 1;
        if (!id) continue;
        if (words[at] >> 56 == PROF__META_DEVICE && length >= PROF__DEVICE_WORDS) {
            if (!prof__device_add(trace, id, prof__read_string_name(trace, field[0] & 0xFFFFFFFFu), field[0] >> 32,
                                  field[1]))
                return 0;
            for (slot = 2; slot + 3 <= PROF__DEVICE_WORDS - 1; slot += 3)
                if (field[slot + 2] == prof__device_check(field[slot], field[slot + 1]) &&
                    !prof__device_add_pair(trace, id, field[slot], field[slot + 1]))
                    return 0;
        } else if (words[at] >> 56 == PROF__META_ROW && length >= PROF__ROW_WORDS) {
            if (!prof__row_add(trace, id, prof__read_string_name(trace, field[0] & 0xFFFFFFFFu),
                               (uint32_t)(field[0] >> 32)))
                return 0;
        }
    }
    qsort(trace->devices, trace->device_count, sizeof *trace->devices, prof__device_order);
    qsort(trace->rows, trace->row_count, sizeof *trace->rows, prof__row_order);
    for (at = 0; at < trace->row_count; at++) trace->rows[at].device = prof__device_find(trace, trace->rows[at].device);
    for (at = 0; at < trace->pairing_count; at++)
        trace->pairings[at].device = prof__device_find(trace, trace->pairings[at].device);
    return 1;
}

/*-- clocks --*/

/* Returns the greatest tick on the scale without wraps that is at most `latest` and has the low bits of ticks. */
static uint64_t prof__device_unwrap(const prof__read_device *device, uint64_t latest, uint64_t ticks)
{
    return latest - ((latest - ticks) & device->mask);
}

/* Returns how many ticks ns nanoseconds are, limited to about 2^63. */
static uint64_t prof__device_ticks(double hz, int64_t ns)
{
    double ticks = (double)ns * (hz / 1e9);
    if (!(ticks < 9e18)) ticks = 9e18;
    if (ticks < -9e18) ticks = -9e18;
    return (uint64_t)(int64_t)ticks;
}

static int prof__pairing_order(const void *a, const void *b)
{
    const prof__read_pairing *x = (const prof__read_pairing *)a, *y = (const prof__read_pairing *)b;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    if (x->ns != y->ns) return x->ns < y->ns ? -1 : 1;
    return x->tick < y->tick ? -1 : x->tick > y->tick;
}

/* Keeps those sorted pairs of a device in which both clocks go forward, and converts them to the scale without wraps.
   Returns how many are left. */
static size_t prof__device_pairs(prof__read_device *device, prof__read_pairing *pairs, size_t count)
{
    prof__read_pairing last = pairs[0];
    size_t i, kept = 0;
    for (i = 0; i < count; i++) {
        prof__read_pairing pair = pairs[i], before = pairs[kept ? kept - 1 : 0];
        if (i && pair.ns == last.ns && pair.tick == last.tick) continue; /* the pair is in meta as well as in a chunk */
        last = pair;
        if (device->wraps && !kept)
            pair.tick = PROF__DEVICE_MIDDLE + (pair.tick & device->mask);
        else if (device->wraps)
            pair.tick = prof__device_unwrap(
                device,
                device->hz
                    ? before.tick + device->mask / 2 + prof__device_ticks(prof__real(device->hz), pair.ns - before.ns)
                    : before.tick + device->mask,
                pair.tick);
        if (kept && (pair.tick <= before.tick || pair.ns <= before.ns))
            device->refused++;
        else
            pairs[kept++] = pair;
    }
    return kept;
}

/* Makes a line that begins at pair a and has the slope from pair b to pair c. */
static void prof__device_line(prof__read_line *line, const prof__read_pairing *a, const prof__read_pairing *b,
                              const prof__read_pairing *c)
{
    line->tick = a->tick;
    line->ns = a->ns;
    prof__read_slope(line, c->tick - b->tick, (uint64_t)(c->ns - b->ns));
}

/* Makes a device's lines: one before the first pair, and one from each pair on. Returns 0 if there is no memory. */
static int prof__device_lines(prof__read_device *device, const prof__read_pairing *pairs, size_t count)
{
    const prof__read_pairing *first = pairs, *last = pairs + count - 1;
    /* A stated rate is better than one that is measured over less than 10 ms. */
    int measured = count > 1 && last->ns - first->ns >= 10000000;
    size_t i;
    device->lines = (prof__read_line *)calloc(count + 1, sizeof *device->lines);
    if (!device->lines) return 0;
    device->line_count = count + 1;
    device->rate = device->hz ? prof__real(device->hz) : 1e9;
    if (count > 1 && (measured || !device->hz))
        device->rate = prof__real(last->tick - first->tick) * 1e9 / (double)(last->ns - first->ns);
    for (i = 0; i + 1 < count; i++) prof__device_line(&device->lines[i + 1], &pairs[i], &pairs[i], &pairs[i + 1]);
    if (count > 1 && (measured || !device->hz)) {
        int early = first[1].ns - first->ns >= 1000000000, late = last->ns - last[-1].ns >= 1000000000;
        prof__device_line(&device->lines[0], first, first, early ? first + 1 : last);
        prof__device_line(&device->lines[count], last, late ? last - 1 : first, last);
    } else {
        device->lines[0].tick = first->tick;
        device->lines[0].ns = first->ns;
        prof__read_slope(&device->lines[0], device->hz ? device->hz : 1000000000u, 1000000000u);
        device->lines[count] = device->lines[0];
        device->lines[count].tick = last->tick;
        device->lines[count].ns = last->ns;
    }
    return 1;
}

/* Returns a clock pair for a device that has none, on the assumption that its first recorded event ended when it was
   recorded. */
static prof__read_pairing prof__device_guess(const prof_trace *trace, const prof__read_device *device)
{
    const prof__read_device_record *first = &trace->device_records[device->first - 1];
    prof__read_pairing pair;
    size_t hint = 0;
    pair.device = 0;
    pair.tick = first->time + (first->type == PROF__DEVICE_SCOPE ? first->number : 0);
    if (pair.tick < first->time && !device->wraps) pair.tick = first->time;
    if (device->wraps) pair.tick = PROF__DEVICE_MIDDLE + (pair.tick & device->mask);
    pair.ns = prof__read_ns(trace, first->tick, &hint);
    return pair;
}

/* Makes the lines of each device that has events, from its clock pairs or from a guess. Returns 0 if there is no
   memory. */
static int prof__device_clocks(prof_trace *trace)
{
    size_t i, at = 0, end;
    if (trace->pairing_count > 1)
        qsort(trace->pairings, trace->pairing_count, sizeof *trace->pairings, prof__pairing_order);
    for (i = 0; i < trace->device_count; i++, at = end) {
        prof__read_device *device = &trace->devices[i];
        prof__read_pairing guess, *pairs = trace->pairings ? trace->pairings + at : NULL;
        for (end = at; end < trace->pairing_count && trace->pairings[end].device == i;) end++;
        device->pairs = end > at ? prof__device_pairs(device, pairs, end - at) : 0;
        device->alignment = device->pairs > 1                 ? PROF_ALIGN_PAIRS
                            : device->pairs == 1 && device->hz ? PROF_ALIGN_RATE
                                                               : PROF_ALIGN_GUESS;
        if (!device->first) continue;
        if (!device->pairs) {
            guess = prof__device_guess(trace, device);
            pairs = &guess;
        }
        if (!prof__device_lines(device, pairs, device->pairs ? (size_t)device->pairs : 1)) return 0;
    }
    return 1;
}

#endif /* PROF__READ_DEVICES_H */
