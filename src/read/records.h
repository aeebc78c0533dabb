// read/records: Reads the fields of records.
#ifndef PROF__READ_RECORDS_H
#define PROF__READ_RECORDS_H
#include "api/markup.h"
#include "api/values.h"
#include "image/format.h"
#include "image/kinds.h"
#include "image/pack.h"
#include "image/words.h"
#include "read/trace.h"

static unsigned prof__read_kind(uint64_t head)
{
    return (unsigned)(head >> PROF__KIND_SHIFT);
}

static uint32_t prof__read_id(uint64_t head)
{
    return (uint32_t)(head >> PROF__TICK_BITS) & PROF__SITE_MASK;
}

/* Groups of event types that readers treat alike: see PROF__EVENTS. */
enum {
    PROF__GROUP_SCOPE = 0,
    PROF__GROUP_MARK,
    PROF__GROUP_COUNTER,
    PROF__GROUP_FRAME,
    PROF__GROUP_LOST,
    PROF__GROUP_SPAN,
    PROF__GROUP_FLOW,
    PROF__GROUP_MEMORY,
    PROF__GROUP_LOCK,
    PROF__GROUP_MESSAGE
};

#define PROF__COLUMN_GROUP(name, code, group, ...) PROF__GROUP_##group,
static unsigned prof__event_group(unsigned type)
{
    static const unsigned char groups[] = {PROF__EVENTS(PROF__COLUMN_GROUP)};
    return groups[type];
}

/* Returns the prof_value_type of the object of an event of this type. */
#define PROF__COLUMN_OBJECT(name, code, group, object, ...) PROF_VALUE_##object,
static prof_value_type prof__event_object(unsigned type)
{
    static const unsigned char objects[] = {PROF__EVENTS(PROF__COLUMN_OBJECT)};
    return (prof_value_type)objects[type];
}

/* Returns the name of an event type in CSV. */
#define PROF__COLUMN_TEXT(name, code, group, object, text, ...) text,
static const char *prof__event_text(unsigned type)
{
    static const char *const texts[] = {PROF__EVENTS(PROF__COLUMN_TEXT)};
    return texts[type];
}

/* Returns the name of an event type for people; many: 1: the plural. */
#define PROF__COLUMN_NAMES(name, code, group, object, text, one, many, ...) {one, many},
static const char *prof__event_name(unsigned type, int many)
{
    static const char *const names[][2] = {PROF__EVENTS(PROF__COLUMN_NAMES)};
    return names[type][many];
}

/* Returns the type of an EVENT record, or 0 if readers do not show such events. */
static unsigned prof__read_event_type(const uint64_t *record)
{
    unsigned type = (unsigned)(record[1] & 0xFF);
    return type > PROF_EVENT_LOST && type < PROF_EVENT_TYPE_COUNT ? type : 0;
}

/* Returns the length in words of an ARG or DATA record, together with the record of its value if this one has a key
   made at run time. left: words from this record on. */
static size_t prof__read_arg_words(const uint64_t *words, size_t left)
{
    size_t key = prof__record_words(words[0], left), value;
    if (!key || key == left || !(words[0] & PROF__ARG_KEY)) return key;
    value = prof__record_words(words[key], left - key);
    if (!value || prof__read_kind(words[key]) != prof__read_kind(words[0]) || words[key] & PROF__ARG_KEY) return key;
    return key + value;
}

/* Returns 0 if the argument is a key without a value, which readers leave out. */
static int prof__read_arg_whole(const uint64_t *words, size_t length)
{
    return !(words[0] & PROF__ARG_KEY) || length > 1 + (size_t)(words[0] & 0xFFFF);
}

/* Returns the record with the argument's value; *length: that record's words. */
static const uint64_t *prof__read_arg_value(const uint64_t *words, size_t *length)
{
    if (words[0] & PROF__ARG_KEY) words += 1 + (size_t)(words[0] & 0xFFFF);
    *length = 1 + (size_t)(words[0] & 0xFFFF);
    return words;
}

/* Returns the id of the call site whose scope an ARG record belongs to, or 0 for the innermost scope. */
static uint32_t prof__read_arg_target(const uint64_t *words)
{
    size_t length;
    words = prof__read_arg_value(words, &length);
    return words[0] & PROF__ARG_TO && length > 1 ? prof__read_id(words[length - 1]) : 0;
}

/* Returns the number of a frame's boundary, or NULL if its record has none. left: words from this record on. */
static const uint64_t *prof__read_frame_data(const uint64_t *record, size_t left)
{
    return left > 2 && record[1] == PROF__FRAME_NUMBER ? record + 2 : NULL;
}

/* Returns the length in words of a FRAME record, together with its number. */
static size_t prof__read_frame_words(const uint64_t *record, size_t left)
{
    return prof__read_frame_data(record, left) ? 3 : 1;
}

/* Returns 1 if readers make an event of the record. */
static inline int prof__read_shown(const uint64_t *record)
{
    return prof__record_in(PROF__SHOWN, record[0]) &&
           (prof__read_kind(record[0]) != PROF__KIND_EVENT || prof__read_event_type(record));
}

/* NAME and DATA are parts of the event before them. */
#define PROF__PARTS_OF_EVENT (1u << PROF__KIND_NAME | 1u << PROF__KIND_DATA)

/* Returns 1 if a DATA record after this one would be an argument of an event that is shown. shown: the result of
   prof__read_shown() for this record; before: the result of this function for the previous one. */
static inline int prof__read_takes_data(uint64_t head, int shown, int before)
{
    return shown ? prof__record_in(PROF__VALUED, head) : before & prof__record_in(PROF__PARTS_OF_EVENT, head);
}

static int prof__is_span(prof_event_type type) { return prof__event_group(type) == PROF__GROUP_SPAN; }

static int prof__is_flow(prof_event_type type) { return prof__event_group(type) == PROF__GROUP_FLOW; }

/* Returns 1 if a NAME record after this one would be the name of its event. Flows have no names of their own, because
   exporters keep a flow's name longer than a block of the archive stays in memory. */
static int prof__read_takes_name(const uint64_t *record)
{
    if (!prof__record_in(PROF__NAMED, record[0])) return 0;
    return prof__read_kind(record[0]) != PROF__KIND_EVENT ||
           !prof__is_flow((prof_event_type)prof__read_event_type(record));
}

/* Returns the tick of a record, at least that of the previous record (before). */
static uint64_t prof__read_tick(uint64_t base, uint64_t head, uint64_t before)
{
    uint64_t tick = base + (head & PROF__TICK_MASK);
    if (tick < base) tick = ~(uint64_t)0;
    return tick > before ? tick : before;
}

/* Returns how many values for the reader follow the text of a NAME of this length. */
static size_t prof__read_name_values(uint64_t head, size_t length)
{
    size_t values = prof__read_kind(head) == PROF__KIND_NAME ? (size_t)(head >> PROF__NAME_SHIFT) & 31 : 0;
    return values < length - 1 ? values : 0;
}

/* Terminates the string of a NAME, ARG or DATA record, if it has one, so that callers can use it in place. A key is a
   string, whatever type the record states. */
static void prof__read_seal_text(uint64_t *record, size_t length)
{
    unsigned kind = prof__read_kind(*record);
    int key = kind != PROF__KIND_NAME && *record & PROF__ARG_KEY;
    if (kind == PROF__KIND_ARG && *record & PROF__ARG_TO && !key && length > 1) --length;
    length -= prof__read_name_values(*record, length);
    if (length > 1 && (key || prof__record_holds(*record) == PROF_VALUE_STRING)) ((char *)(record + length))[-1] = 0;
}

/* Returns 1 if the record may be a text, because its length varies. */
static int prof__read_has_text(uint64_t head)
{
    return (PROF__WORDS >> (head >> PROF__KIND_SHIFT << 2) & 15) == PROF__IN_HEAD;
}

static void prof__read_seal(uint64_t *words, size_t count)
{
    size_t at, length;
    for (at = 0; at < count; at += length) {
        length = 1;
        if (prof__read_kind(words[at]) - PROF__KIND_BEGIN <= PROF__KIND_END - PROF__KIND_BEGIN) continue;
        length = prof__record_words(words[at], count - at);
        if (!length) return;
        if (prof__read_has_text(words[at])) prof__read_seal_text(words + at, length);
    }
}

/* Returns the id of an event, which is unique in its trace: the place of its first word. */
static uint64_t prof__read_event_id(const prof_trace *trace, const prof__read_chunk *chunk, size_t word)
{
    return chunk->sequence << trace->word_bits | word;
}

#endif /* PROF__READ_RECORDS_H */
