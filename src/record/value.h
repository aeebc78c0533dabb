// record/value: Records arguments, values of counters and run-time names: a head, then words.
#ifndef PROF__RECORD_VALUE_H
#define PROF__RECORD_VALUE_H
#include "api/markup.h"
#include "api/values.h"
#include "ground/clock.h"
#include "ground/instances.h"
#include "image/format.h"
#include "image/words.h"
#include "record/bridge.h"
#include "record/off_scope.h"
#include "record/ring.h"
#include "record/scope.h"
#include "record/self.h"
#include "record/site.h"
#include "record/state.h"
#include "record/thread.h"
#include "record/track.h"

/* Writes a record of two words: a head and a number. */
static inline void prof__number_write(prof__thread *self, uint64_t head, uint64_t number)
{
    PROF__STORE(self->cursor + 1, number);
    prof__store_word(self->cursor, head);
    prof__commit(self, 2);
}

/* Records the value of a counter. kind: PROF__KIND_COUNTER_..., replaces the kind in the site's state. */
static void prof__counter_write(prof_site *site, uint64_t kind, uint64_t number)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof__counter_write, (site, kind, number)));
    prof__slot place = prof__slot_take(self, site, 2);
    if (!place.at) return;
    PROF__STORE(place.at + 1, number);
    prof__store_word(place.at, (place.head & ~(15ull << PROF__KIND_SHIFT)) | kind << PROF__KIND_SHIFT);
    prof__slot_leave(self, place, 2);
}

/* The slow path of prof__arg_write(). */
static PROF__COLD void prof__arg_slow(prof__thread *self, prof_site *site, uint64_t low, uint64_t number,
                                      uint32_t write_lock)
{
    if (write_lock != PROF__BUSY && prof__off_scope_drops(self, 1)) {
        prof__leave_write(self, write_lock);
        return;
    }
    if (!prof__enter_slow(self, site, write_lock, PROF__LOSS_ARGS(1))) return;
    uint64_t now = self->base; /* an argument has no time */
    if (prof__reserve_or_lose(self, 2, &now, PROF__LOSS_ARGS(1)))
        prof__number_write(self, prof__site_head(site) | low, number);
    prof__leave(self);
}

static inline void prof__arg_write(prof_site *site, prof_value_type type, uint64_t number)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof__arg_write, (site, type, number)));
#ifdef PROF__BRIDGED
    if (prof__off_scope_drops(self, 1)) return; /* other tools get none either */
#endif
    PROF__BRIDGE_ARG(site, type, number);
    uint32_t write_lock = prof__enter_write(self), config_version = PROF__LOAD(prof__config_version);
    uint64_t head = prof__site_load(site) ^ config_version, low = (uint64_t)type << 32 | 1;
    if (PROF__UNLIKELY(((uint32_t)head | (write_lock ^ config_version) | self->off_scope.marker) ||
                       self->free_words < 2)) {
        prof__arg_slow(self, site, low, number, write_lock);
        return;
    }
    prof__number_write(self, head | low, number);
    PROF__BARRIER();
    self->write_lock = config_version;
}

#ifndef PROF__NO_DOUBLE
static uint64_t prof__double_bits(double value)
{
    uint64_t bits;
    prof__copy(&bits, &value, sizeof bits);
    return bits;
}
#endif

PROF_DEF void prof__counter_int(prof_site *site, int64_t value)
{
    prof__counter_write(site, PROF__KIND_COUNTER_INT, (uint64_t)value);
    PROF__BRIDGE_COUNTER(site, PROF_VALUE_INT, (uint64_t)value);
}
PROF_DEF void prof__counter_uint(prof_site *site, uint64_t value)
{
    prof__counter_write(site, PROF__KIND_COUNTER_UINT, value);
    PROF__BRIDGE_COUNTER(site, PROF_VALUE_UINT, value);
}
#ifndef PROF__NO_DOUBLE
PROF_DEF void prof__counter_double(prof_site *site, double value)
{
    prof__counter_write(site, PROF__KIND_COUNTER_DOUBLE, prof__double_bits(value));
    PROF__BRIDGE_COUNTER(site, PROF_VALUE_DOUBLE, prof__double_bits(value));
}
PROF_DEF void prof__arg_double(prof_site *site, double value)
{
    prof__arg_write(site, PROF_VALUE_DOUBLE, prof__double_bits(value));
}
#endif
PROF_DEF void prof__arg_int(prof_site *site, int64_t value)
{
    prof__arg_write(site, PROF_VALUE_INT, (uint64_t)value);
}
PROF_DEF void prof__arg_uint(prof_site *site, uint64_t value) { prof__arg_write(site, PROF_VALUE_UINT, value); }
PROF_DEF void prof__arg_bool(prof_site *site, int value) { prof__arg_write(site, PROF_VALUE_BOOL, value != 0); }
PROF_DEF void prof__arg_pointer(prof_site *site, const volatile void *value)
{
    prof__arg_write(site, PROF_VALUE_POINTER, (uint64_t)(uintptr_t)value);
}

typedef struct prof__text {
    const char *bytes;
    uint64_t length, words;
    int cut;
    uint32_t values; /* of a name: how many of the words are values that its reader formats; they follow the text */
} prof__text;

/* Measures how much of a text is recorded: at most `max` bytes and PROF_MAX_TEXT, cut between UTF-8 characters. given:
   how many bytes may be read, if no terminator comes before. */
static prof__text prof__measure_part(const char *bytes, uint64_t max, uint64_t given)
{
    prof__text text;
    if (max > PROF_MAX_TEXT) max = PROF_MAX_TEXT;
    text.bytes = bytes ? bytes : "(null)";
#ifdef PROF_FREESTANDING
    text.length = 0;
    while (text.length < max && text.length < given && text.bytes[text.length]) ++text.length;
#else
    if (max > given) max = given;
    const char *zero = (const char *)memchr(text.bytes, 0, (size_t)max); /* reads nothing after the zero */
    text.length = zero ? (uint64_t)(zero - text.bytes) : max;
#endif
    text.cut = text.length < given && text.bytes[text.length] != 0;
    if (text.cut)
        for (int i = 0; i < 3 && text.length && ((unsigned char)text.bytes[text.length] & 0xc0) == 0x80; ++i)
            --text.length;
    text.words = text.length / 8 + 1;
    text.values = 0;
    return text;
}

/* Measures a terminated text, of which at most PROF_MAX_TEXT bytes are recorded. Faster if it is not longer. */
static inline prof__text prof__measure_text(const char *bytes)
{
#ifndef PROF_FREESTANDING
    const char *zero = bytes ? (const char *)memchr(bytes, 0, PROF_MAX_TEXT) : NULL;
    if (PROF__LIKELY(zero != NULL)) {
        prof__text text = {bytes, (uint64_t)(zero - bytes), (uint64_t)(zero - bytes) / 8 + 1, 0, 0};
        return text;
    }
#endif
    return prof__measure_part(bytes, PROF_MAX_TEXT, ~(uint64_t)0);
}

/* Measures a terminated text, of which at most a quarter of a chunk of chunk_words words is recorded. */
static prof__text prof__measure_in(uint64_t chunk_words, const char *bytes)
{
    return prof__measure_part(bytes, chunk_words * 2, ~(uint64_t)0);
}
static prof__text prof__measure(const prof__session *s, const char *bytes)
{
    return prof__measure_in(PROF__LOAD(&s->text_words), bytes);
}

/* Returns a text's last word: its fewer than eight bytes after the last whole word, then zeros. */
static inline uint64_t prof__text_tail(const prof__text *text)
{
    uint64_t word = 0, left = text->length & 7;
    if (text->length < 8) {
        prof__copy(&word, text->bytes, (size_t)left);
        return word;
    }
    prof__copy(&word, text->bytes + text->length - 8, 8); /* a copy of constant size is one instruction */
#if PROF__LOW_HALF
    return word << 1 << (63 - 8 * left);
#else
    return word >> 1 >> (63 - 8 * left);
#endif
}

/* Writes a head and the words of a text. head: its count of words may include words that follow the text. padded: 1:
   zeros follow the text in memory, up to the end of its last word, and then its values. */
static inline void prof__text_write_as(uint64_t *at, uint64_t head, const prof__text *text, int padded)
{
    uint64_t whole = text->words - !padded;
    for (uint64_t i = 0; i < whole; ++i) {
        uint64_t word;
        prof__copy(&word, text->bytes + i * 8, 8);
        PROF__STORE(at + 1 + i, word);
    }
    if (!padded) PROF__STORE(at + text->words, prof__text_tail(text));
    prof__store_word(at, (head | (uint64_t)PROF_VALUE_STRING << 32 | (text->cut ? 1u << 31 : 0u)) + text->words);
}

static void prof__text_write(uint64_t *at, uint64_t head, const prof__text *text)
{
    prof__text_write_as(at, head, text, 0);
}

PROF_DEF void prof__arg_string(prof_site *site, const char *value)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof__arg_string, (site, value)));
    if (prof__off_scope_drops(self, 1)) return;
    PROF__BRIDGE_ARG_TEXT(site, value);
    uint64_t head;
    if (!prof__enter_or_lose(self, site, &head, PROF__LOSS_ARGS(1))) return;
    prof__text text = prof__measure(self->session, value);
    uint64_t now = self->base; /* an argument has no time */
    uint64_t *at = prof__reserve_or_lose(self, 1 + text.words, &now, PROF__LOSS_ARGS(1));
    if (at) {
        prof__text_write(at, head, &text);
        prof__commit(self, 1 + text.words);
    }
    prof__leave(self);
}

/* The slow path of prof__named_text(). Also for a text that is too long for the chunks. The thread holds its write
   lock. */
static PROF__COLD prof__token prof__named_slow(prof__thread *self, prof_site *site, prof__text text,
                                               uint64_t reserved_ends, uint32_t write_lock)
{
    if (!prof__enter_slow(self, site, write_lock, PROF__LOSS_EVENT))
        return reserved_ends ? prof__begin_refused(self, site) : 0;
    if (text.length > PROF__LOAD(&self->session->text_words) * 2) text = prof__measure(self->session, text.bytes);
    uint64_t head = prof__site_head(site), now = prof__now(self->session, 0);
    uint64_t *at = prof__reserve(self, 2 + text.words + reserved_ends, &now);
    if (at) {
        prof__text_write_as(at + 1, PROF__NAME_HEAD(text.values), &text, text.values != 0);
        prof__store_word(at, head | (now - self->base));
        prof__commit(self, 2 + text.words);
        self->free_words -= reserved_ends;
        if (PROF__MIN_TICKS(self->session)) prof__begun_note(self, at); /* min_duration has closed the fast path */
        head |= self->session_id;
    } else if (reserved_ends) {
        head = prof__begin_lost(self, site);
    }
    prof__leave(self);
    return at || reserved_ends ? head : 0;
}

/* Writes a begin or a mark and, directly after it in the same chunk, its run-time name. padded: as for
   prof__text_write_as(). owes_end: 1 for a begin, which reserves a word for its end. */
static PROF__INLINED prof__token prof__named_text(prof_site *site, const prof__text *text, int padded,
                                                   int owes_end)
{
    PROF__SELF_OR(PROF__FORWARD(prof__named, (site, text->bytes, owes_end)));
    uint64_t reserved_ends = (uint64_t)owes_end, words = 2 + text->words + reserved_ends, elapsed = 0;
    uint32_t write_lock = prof__enter_write(self), config_version = PROF__LOAD(prof__config_version);
    uint64_t head = prof__site_load(site) ^ config_version, *at = self->cursor;
    prof__token token = head | self->session_id;
    int fast = !((uint32_t)head | (write_lock ^ config_version)) && text->length <= self->session->chunk_words * 2;
    if (PROF__LIKELY(fast)) elapsed = prof__counter() - self->base;
    if (PROF__UNLIKELY(!fast || self->free_words < words || elapsed >> PROF__TICK_BITS)) {
        token = prof__named_slow(self, site, *text, reserved_ends, write_lock);
    } else {
        prof__text_write_as(at + 1, PROF__NAME_HEAD(text->values), text, padded);
        prof__store_word(at, head | elapsed);
        self->cursor = at + words - reserved_ends;
        self->free_words -= words;
        PROF__BARRIER();
        self->write_lock = config_version;
    }
    PROF__BRIDGE_BEGIN(site, text->bytes, owes_end ? token : 0);
    return token;
}

static prof__token prof__named(prof_site *site, const char *name, int owes_end)
{
    prof__text text = prof__measure_text(name);
    return prof__named_text(site, &text, 0, owes_end);
}

PROF_DEF prof__token prof__begin_text(prof_site *site, const char *text) { return prof__named(site, text, 1); }
PROF_DEF void prof__mark_text(prof_site *site, const char *text)
{
    prof__named(site, text, 0);
    PROF__BRIDGE_MARK(site, text);
}

/* The slow path of prof__begin_number(), which begins a scope with a number as its argument. Settles the scope's site
   first, because recording may begin with this step, then the argument's site, before it takes the write lock. If a
   control call comes in between, the scope is lost. */
static PROF__COLD prof__token prof__begin_number_slow(prof__thread *self, prof_site *site, prof_site *key, uint64_t low,
                                                      uint64_t number, uint32_t write_lock)
{
    const uint32_t loss = PROF__LOSS_EVENT | PROF__LOSS_ARGS(1);
    prof__token token = 0;
    uint64_t head;
    prof__leave_write(self, write_lock);
    if (!prof__enter_or_lose(self, site, &head, loss)) return prof__begin_refused(self, site);
    if ((uint32_t)prof__site_load(key) != PROF__LOAD(prof__config_version)) {
        prof__leave(self);
        if (!prof__live(key) || !prof__enter_or_lose(self, site, &head, loss)) return prof__begin_refused(self, site);
    }
    uint64_t now = prof__now(self->session, 0), *at = NULL;
    if ((uint32_t)prof__site_load(key) != PROF__LOAD(prof__config_version))
        prof__lose_busy(self, loss);
    else
        at = prof__reserve_or_lose(self, 4, &now, loss);
    if (at) {
        PROF__STORE(at + 2, number);
        prof__store_word(at + 1, prof__site_head(key) | low);
        prof__store_word(at, head | (now - self->base));
        prof__commit(self, 3);
        self->free_words -= 1;
        token = head | self->session_id;
    } else {
        token = prof__begin_lost(self, site);
    }
    prof__leave(self);
    PROF__BRIDGE_BEGIN_NUMBER(site, key, token, (prof_value_type)(low >> 32), number);
    return token;
}

PROF_DEF prof__token prof__begin_number(prof_site *site, prof_site *key, uint64_t type, uint64_t number)
{
    PROF__SELF_OR(PROF__FORWARD(prof__begin_number, (site, key, type, number)));
    uint64_t now = prof__counter();
    uint32_t write_lock = prof__enter_write(self), config_version = PROF__LOAD(prof__config_version);
    uint64_t head = prof__site_load(site) ^ config_version, key_head = prof__site_load(key) ^ config_version;
    uint64_t *at = self->cursor, elapsed = now - self->base, low = type << 32 | 1;
    if (PROF__UNLIKELY(((uint32_t)head | (uint32_t)key_head | (write_lock ^ config_version)) ||
                       ((self->free_words < 4) | (elapsed >> PROF__TICK_BITS != 0))))
        return prof__begin_number_slow(self, site, key, low, number, write_lock);
    PROF__STORE(at + 2, number);
    prof__store_word(at + 1, key_head | low);
    prof__store_word(at, head | elapsed);
    self->cursor = at + 3;
    self->free_words -= 4;
    prof__token token = head | self->session_id;
    PROF__BARRIER();
    self->write_lock = config_version;
    PROF__BRIDGE_BEGIN_NUMBER(site, key, token, (prof_value_type)type, number);
    return token;
}

#endif /* PROF__RECORD_VALUE_H */
