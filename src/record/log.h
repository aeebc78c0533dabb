// record/log: Log messages: reads the format once for each call site, then only copies values.
/*-- messages --
   A format is parsed once for each call site, into one code for each value that has to be fetched, so that copying does
   not look at the text. The reader parses the format again and pairs its conversions with the values in order. */

#define PROF__LOG_VALUES 16
#define PROF__LOG_COUNT 0xFFu      /* known: the number of values, plus 1, ... */
#define PROF__LOG_HAS_TEXT 0x100u  /* ... and this flag if a text is among them */

enum { /* codes: the type of a value, and its bytes */
    PROF__LOG_NONE = 0,
    PROF__LOG_INT8,
    PROF__LOG_INT16,
    PROF__LOG_INT32,
    PROF__LOG_INT64,
    PROF__LOG_UINT8,
    PROF__LOG_UINT16,
    PROF__LOG_UINT32,
    PROF__LOG_UINT64,
    PROF__LOG_DOUBLE,
    PROF__LOG_LONG_DOUBLE, /* recorded as a double */
    PROF__LOG_POINTER,
    PROF__LOG_TEXT,
    PROF__LOG_TEXT_STAR, /* its precision is the previous value */
    PROF__LOG_TEXT_PART  /* its precision is in the next two codes */
};

typedef struct prof__log_spec {
    int width, precision; /* PROF__LOG_OMITTED, PROF__LOG_STAR: a value of its own */
    char flags[6];        /* the flags of "-+ #0" that are set */
    char conversion;
    unsigned char code;
    int supported;        /* 0: not recorded, as the message says */
} prof__log_spec;

enum { PROF__LOG_OMITTED = -1, PROF__LOG_STAR = -2 };

static const char *prof__log_number(const char *at, int *value)
{
    if (*at == '*') {
        *value = PROF__LOG_STAR;
        return at + 1;
    }
    for (*value = 0; *at >= '0' && *at <= '9'; ++at)
        if (*value < 10000) *value = *value * 10 + (*at - '0');
    return at;
}

/* Reads the size of an integer, and whether there was an l (wide text) or L (long double). */
static const char *prof__log_length(const char *at, size_t *size, int *is_long)
{
    *size = sizeof(int);
    *is_long = *at == 'l' || *at == 'L';
    switch (*at) {
    case 'h': *size = at[1] == 'h' ? 1 : sizeof(short); return at + 1 + (at[1] == 'h');
    case 'l': *size = at[1] == 'l' ? 8 : sizeof(long); return at + 1 + (at[1] == 'l');
    case 'L':
    case 'q':
    case 'j': *size = 8; return at + 1;
    case 'z': *size = sizeof(size_t); return at + 1;
    case 't': *size = sizeof(ptrdiff_t); return at + 1;
    case 'I': /* Windows: I64, I32, I */
        *size = at[1] == '6' ? 8 : at[1] == '3' ? 4 : sizeof(size_t);
        return at + ((at[1] == '6' && at[2] == '4') || (at[1] == '3' && at[2] == '2') ? 3 : 1);
    default: return at;
    }
}

static unsigned char prof__log_integer(unsigned char code, size_t size)
{
    return (unsigned char)(code + (size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3));
}

/* Parses a conversion that begins after its %. Returns the text after it, or NULL if it is unknown, so that nothing
   after it can be interpreted. */
static PROF__COLD const char *prof__log_parse(const char *at, prof__log_spec *spec)
{
    size_t size, flags = 0;
    int is_long;
    spec->supported = 1;
    spec->code = PROF__LOG_NONE;
    spec->precision = PROF__LOG_OMITTED;
    for (;; ++at) {
        if (*at == '\'') continue;
        if (*at != '-' && *at != '+' && *at != ' ' && *at != '#' && *at != '0') break;
#ifndef PROF_FREESTANDING /* only readers need them */
        size_t i = 0;
        while (i < flags && spec->flags[i] != *at) ++i;
        if (i == flags) spec->flags[flags++] = *at;
#endif
    }
    spec->flags[flags] = 0;
    at = prof__log_number(at, &spec->width);
    if (*at == '.') at = prof__log_number(at + 1, &spec->precision);
    at = prof__log_length(at, &size, &is_long);
    spec->conversion = *at;
    switch (*at) {
    case '%': return at + 1;
    case 'd':
    case 'i': spec->code = prof__log_integer(PROF__LOG_INT8, size); return at + 1;
    case 'u':
    case 'o':
    case 'x':
    case 'X': spec->code = prof__log_integer(PROF__LOG_UINT8, size); return at + 1;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A': spec->code = at[-1] == 'L' ? PROF__LOG_LONG_DOUBLE : PROF__LOG_DOUBLE; return at + 1;
    case 'p': spec->code = PROF__LOG_POINTER; return at + 1;
    case 'C':
    case 'c':
        spec->code = PROF__LOG_INT32;
        spec->supported = *at == 'c' && !is_long;
        return at + 1;
    case 'S':
    case 's':
        spec->supported = *at == 's' && !is_long;
        spec->code = !spec->supported                          ? PROF__LOG_POINTER
                     : spec->precision == PROF__LOG_OMITTED ? PROF__LOG_TEXT
                     : spec->precision == PROF__LOG_STAR    ? PROF__LOG_TEXT_STAR
                                                               : PROF__LOG_TEXT_PART;
        return at + 1;
    case 'n': /* its target is not changed */
        spec->code = PROF__LOG_POINTER;
        spec->supported = 0;
        return at + 1;
    case 'm': /* has no value */
        spec->supported = 0;
        return at + 1;
    default: return NULL;
    }
}

/* Parses a call site's format. Several threads may do this at the same time: they store the same values. */
static PROF__COLD void prof__log_learn(prof__log_format *known, const char *format)
{
    size_t at = 0;
    uint32_t values = 0, has_text = 0;
    while (format && *format) {
        unsigned char codes[5];
        uint32_t count = 0, more;
        prof__log_spec spec;
        if (*format++ != '%') continue;
        format = prof__log_parse(format, &spec);
        if (!format) break;
#ifdef PROF_FREESTANDING
        if (spec.code == PROF__LOG_LONG_DOUBLE) break; /* its conversion to a double may need a library */
#endif
#ifdef PROF__NO_DOUBLE
        if (spec.code == PROF__LOG_DOUBLE) break; /* no caller can pass one */
#endif
        if (spec.width == PROF__LOG_STAR) codes[count++] = PROF__LOG_INT32;
        if (spec.precision == PROF__LOG_STAR) codes[count++] = PROF__LOG_INT32;
        if (spec.code) codes[count++] = spec.code;
        more = count;
        if (spec.code == PROF__LOG_TEXT_PART) {
            codes[count++] = (unsigned char)(spec.precision & 255);
            codes[count++] = (unsigned char)(spec.precision >> 8);
        }
        if (values + more > PROF__LOG_VALUES || at + count >= sizeof known->codes) break;
        values += more;
        if (spec.code >= PROF__LOG_TEXT) has_text = PROF__LOG_HAS_TEXT;
        for (uint32_t i = 0; i < count; ++i) PROF__STORE(&known->codes[at + i], codes[i]);
        at += count;
    }
    PROF__STORE(&known->codes[at], (unsigned char)PROF__LOG_NONE);
    PROF__RELEASE(&known->known, (values + 1) | has_text);
}

/* Passes a va_list by reference, whatever its type is. */
typedef struct prof__log_list {
    va_list values;
} prof__log_list;

#ifndef PROF_FREESTANDING
static uint64_t prof__log_long_double(prof__log_list *list)
{
    PROF__CALM(); /* it may be too large for a double */
    return prof__double_bits((double)va_arg(list->values, long double));
}
#endif

/* Fetches the next value, of a code below PROF__LOG_TEXT. */
static inline uint64_t prof__log_fetch(unsigned code, prof__log_list *list)
{
    if (PROF__UNLIKELY(code > PROF__LOG_UINT32 || code == PROF__LOG_INT64)) {
#ifndef PROF__NO_DOUBLE
        if (code == PROF__LOG_DOUBLE) return prof__double_bits(va_arg(list->values, double));
#endif
#ifndef PROF_FREESTANDING
        if (code == PROF__LOG_LONG_DOUBLE) return prof__log_long_double(list);
#endif
        if (!PROF__WIDE && code == PROF__LOG_POINTER) return (uint64_t)(uintptr_t)va_arg(list->values, void *);
        return va_arg(list->values, unsigned long long);
    }
    int value = va_arg(list->values, int); /* what is shorter is passed as an int, too */
    if (code == PROF__LOG_INT32) return (uint64_t)value;
    int shift = 32 - (8 << (code - 1) % 4);
    return code < PROF__LOG_INT64 ? (uint64_t)((int32_t)((uint32_t)value << shift) >> shift)
                                  : (uint32_t)value << shift >> shift;
}

/* Returns the head of a value, without the size of a text. */
static inline uint64_t prof__log_head(unsigned code)
{
    unsigned type = code <= PROF__LOG_INT64         ? PROF_VALUE_INT
                    : code <= PROF__LOG_UINT64      ? PROF_VALUE_UINT
                    : code <= PROF__LOG_LONG_DOUBLE ? PROF_VALUE_DOUBLE
                                                    : PROF_VALUE_POINTER;
    return (uint64_t)PROF__KIND_DATA << PROF__KIND_SHIFT | (uint64_t)type << 32 | 1;
}

/* Copies numbers from the caller's registers into the chunk, from `at` on. Returns the words that they take. */
static inline uint64_t prof__log_numbers(uint64_t *at, const prof__log_format *known, uint32_t values,
                                         prof__log_list *list)
{
    for (uint32_t i = 0; i < values; ++i, at += 2) {
        unsigned code = PROF__LOAD(&known->codes[i]);
        PROF__STORE(at + 1, prof__log_fetch(code, list));
        prof__store_word(at, prof__log_head(code));
    }
    return 2 * (uint64_t)values;
}

typedef struct prof__log_value {
    uint64_t head, number;
    prof__text text; /* bytes is NULL: a number */
} prof__log_value;

/* Fetches as many values as fit into `room` words; sets *words to the words that they take. */
static uint32_t prof__log_collect(const prof__log_format *known, uint32_t values, prof__log_list *list, uint64_t room,
                                  prof__log_value *to, uint64_t *words)
{
    const unsigned char *code = known->codes;
    uint64_t used = 0;
    uint32_t count = 0;
    for (; count < values && used + 2 <= room; ++count, ++code) {
        unsigned kind = PROF__LOAD(code);
        uint64_t given = ~(uint64_t)0, kept = used + 2 * (values - count); /* leaves a word for each of the rest */
        prof__log_value *value = &to[count];
        value->text.bytes = NULL;
        value->text.words = 1;
        if (kind < PROF__LOG_TEXT) {
            value->head = prof__log_head(kind);
            value->number = prof__log_fetch(kind, list);
        } else {
            if (kind == PROF__LOG_TEXT_STAR && (int64_t)to[count - 1].number >= 0) given = to[count - 1].number;
            if (kind == PROF__LOG_TEXT_PART) {
                given = (uint64_t)PROF__LOAD(code + 1) | (uint64_t)PROF__LOAD(code + 2) << 8;
                code += 2;
            }
            value->text = prof__measure_part(va_arg(list->values, const char *),
                                             (kept < room ? (room - kept) * 8 : 0) + 7, given);
        }
        used += 1 + value->text.words;
    }
    *words = used;
    return count;
}

/* Reserves words for values with texts among them, which must be measured first. Returns what prof__reserve()
   returns. */
static uint64_t *prof__log_mixed(prof__thread *self, const prof__log_format *known, uint32_t values,
                                 prof__log_list *list, uint64_t *now, uint64_t *words)
{
    prof__log_value fetched[PROF__LOG_VALUES];
    uint32_t count = prof__log_collect(known, values, list, PROF__LOAD(&self->session->text_words) / 4, fetched, words);
    uint64_t *at = prof__reserve(self, 3 + *words, now), *to = at ? at + 3 : NULL;
    for (uint32_t i = 0; at && i < count; to += 1 + fetched[i++].text.words) {
        if (fetched[i].text.bytes) {
            prof__text_write(to, (uint64_t)PROF__KIND_DATA << PROF__KIND_SHIFT, &fetched[i].text);
        } else {
            PROF__STORE(to + 1, fetched[i].number);
            prof__store_word(to, fetched[i].head);
        }
    }
    return at;
}

static inline void prof__log_write(prof_site *site, prof__log_format *known, uint64_t severity, const char *format,
                                   prof__log_list *list)
{
    PROF__SELF_OR(PROF__LED_VOID(prof__log_write, (site, known, severity, format, list)));
    uint64_t head, words, *at;
    if (!prof__enter(self, site, &head)) return;
    uint64_t now = prof__now(self->session, 0);
    if (PROF__UNLIKELY(!PROF__ACQUIRE(&known->known))) prof__log_learn(known, format);
    uint32_t values = (PROF__LOAD(&known->known) & PROF__LOG_COUNT) - 1;
    PROF__BRIDGE_LOG_KEEP(list);
    if (PROF__LOAD(&known->known) & PROF__LOG_HAS_TEXT || self->session->text_words < 8 * PROF__LOG_VALUES) {
        at = prof__log_mixed(self, known, values, list, &now, &words);
    } else {
        at = prof__reserve(self, 3 + 2 * (uint64_t)values, &now);
        words = at ? prof__log_numbers(at + 3, known, values, list) : 0;
    }
    if (at) {
        PROF__STORE(at + 1, (severity & 0xFF) << 8 | PROF_EVENT_LOG);
        PROF__STORE(at + 2, (uint64_t)0);
        prof__store_word(at, head | (now - self->base));
        prof__commit(self, 3 + words);
    }
    prof__leave(self);
    PROF__BRIDGE_LOG(site, severity, format);
}

PROF_DEF void prof__log(prof_site *site, prof__log_format *known, uint64_t severity, const char *format, ...)
{
    prof__log_list list;
    va_start(list.values, format);
    prof__log_write(site, known, severity, format, &list);
    va_end(list.values);
}

/*-- lists of arguments: contiguous words with their event, so that nothing comes in between --*/

#define PROF__WITH_ARGS PROF_DEVICE_ARGS

typedef struct prof__with_arg {
    prof__text key, text; /* text: of a string */
    uint64_t words;       /* of both records */
} prof__with_arg;

typedef struct prof__with_list {
    const prof_arg *args;
    uint64_t kind, to;    /* ARG or DATA; and the head of the scope that they belong to, or 0 */
    uint64_t words, count;
    prof__with_arg parts[PROF__WITH_ARGS];
} prof__with_list;

/* Finds out how many of the arguments fit into `room` words: usually all; long texts are cut. */
static void prof__with_measure(prof__with_list *list, uint32_t count, uint64_t room)
{
    uint64_t to = list->to != 0;
    list->words = list->count = 0;
    for (; list->count < count && room - list->words >= 8; ++list->count) {
        const prof_arg *arg = &list->args[list->count];
        prof__with_arg *part = &list->parts[list->count];
        uint64_t left = room - list->words;
        if (arg->value.type == PROF_VALUE_NONE) break;
        part->key = prof__measure_part(arg->key ? arg->key : "", (left / 2 - 2) * 8, ~(uint64_t)0);
        left -= 1 + part->key.words;
        part->text.words = 1;
        if (arg->value.type == PROF_VALUE_STRING)
            part->text = prof__measure_part(arg->value.as.string, (left - 2 - to) * 8 - 1, ~(uint64_t)0);
        part->words = 2 + part->key.words + part->text.words + to;
        list->words += part->words;
    }
}

static void prof__with_value(uint64_t *at, const prof__with_list *list, const prof_arg *arg, const prof__with_arg *part)
{
    uint64_t kind = list->kind << PROF__KIND_SHIFT, words = part->text.words;
    if (list->to) {
        PROF__STORE(at + 1 + words, list->to);
        kind |= PROF__ARG_TO;
        ++words;
    }
    if (arg->value.type == PROF_VALUE_STRING) {
        prof__text_write(at, kind + (list->to != 0), &part->text);
    } else {
        PROF__STORE(at + 1, arg->value.as.u);
        prof__store_word(at, kind | (uint64_t)arg->value.type << 32 | words);
    }
}

/* Writes the arguments into the words at `at`, from the last to the first, so that a reader sees all or nothing. */
static void prof__with_write(uint64_t *at, const prof__with_list *list)
{
    at += list->words;
    for (uint64_t i = list->count; i--;) {
        const prof__with_arg *part = &list->parts[i];
        at -= part->words;
        prof__with_value(at + 1 + part->key.words, list, &list->args[i], part);
        prof__text_write(at, list->kind << PROF__KIND_SHIFT | PROF__ARG_KEY, &part->key);
    }
}

/* Writes the arguments of a scope. The thread is busy. */
static void prof__with_scope(prof__thread *self, prof__with_list *list, uint32_t count)
{
    uint64_t now = self->base, *at; /* they have no time */
    list->kind = PROF__KIND_ARG;
    prof__with_measure(list, count, PROF__LOAD(&self->session->text_words) / 4);
    at = prof__reserve_or_lose(self, list->words, &now, PROF__LOSS_ARGS(list->count));
    if (!at) return;
    prof__with_write(at, list);
    prof__commit(self, list->words);
}

/* The scope of a handle may be recorded although its category is off by now. */
static void prof__with_handle(prof__thread *self, uint64_t token, prof__with_list *list, uint32_t count)
{
    uint32_t gate = prof__take(self);
    if ((uint32_t)token != PROF__LOAD(&prof__state.epoch)) {
        prof__untake(self, gate);
    } else if (prof__enter_slow(self, NULL, gate, PROF__LOSS_ARGS(count))) {
        list->to = token ^ self->epoch;
        if ((uint32_t)token == self->epoch && !prof__sites_rest()) prof__with_scope(self, list, count);
        prof__leave(self);
    }
}

/* Writes a MARK or an EVENT with arguments. The thread is busy. */
static void prof__with_event(prof__thread *self, uint64_t head, uint64_t type, uint64_t object, prof__with_list *list,
                             uint32_t count)
{
    uint64_t first = type == PROF_EVENT_MARK ? 1 : 3, now = prof__now(self->session, 0), *at;
    list->kind = PROF__KIND_DATA;
    prof__with_measure(list, count, PROF__LOAD(&self->session->text_words) / 4);
    at = prof__reserve_or_lose(self, first + list->words, &now, PROF__LOSS_EVENT | PROF__LOSS_ARGS(list->count));
    if (!at) return;
    prof__with_write(at + first, list);
    if (type != PROF_EVENT_MARK) {
        PROF__STORE(at + 1, type);
        PROF__STORE(at + 2, object);
    }
    prof__store_word(at, head | (now - self->base));
    prof__commit(self, first + list->words);
}

#ifndef PROF_FREESTANDING
static prof_site *prof__task_site(uint64_t *object);
#endif

PROF_DEF void prof__with(prof_site *site, uint64_t type, uint64_t object, const prof_arg *args, uint32_t count)
{
    PROF__SELF_OR(PROF__LED_VOID(prof__with, (site, type, object, args, count)));
    prof__with_list list;
    uint64_t head;
    uint32_t loss = type == PROF_EVENT_SCOPE ? 0 : PROF__LOSS_EVENT;
    while (count && args[count - 1].value.type == PROF_VALUE_NONE) --count;
    if (count > PROF__WITH_ARGS) count = PROF__WITH_ARGS;
    loss |= PROF__LOSS_ARGS(count);
    list.args = args;
    list.to = 0;
    if (!site && type == PROF_EVENT_SCOPE) {
        prof__with_handle(self, object, &list, count);
        return;
    }
#ifndef PROF_FREESTANDING
    if (!site) site = prof__task_site(&object);
#endif
    if (!site || !prof__on(site) || (type == PROF_EVENT_SCOPE && prof__note_drops(self, count)) ||
        !prof__enter_or_lose(self, site, &head, loss))
        return;
    if (type == PROF_EVENT_SCOPE)
        prof__with_scope(self, &list, count);
    else
        prof__with_event(self, head, type, object, &list, count);
    prof__leave(self);
    if (type == PROF_EVENT_MARK) {
        PROF__BRIDGE_MARK(site, NULL);
    } else if (type != PROF_EVENT_SCOPE) {
        PROF__BRIDGE_EVENT(site, type, 0, object);
    }
}
