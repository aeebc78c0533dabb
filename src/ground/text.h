// ground/text: UTF-8, names for terminals, numbers with units.
/*-- SUMMARY -------------------------------------------------------------------------------------------- >>summary --*/

#define PROF__NAME_MAX ((size_t)48)   /* characters of a name in a table */
#define PROF__INDENT_MAX ((size_t)24) /* deeper call paths are not indented further */

#define PROF__UTF8_REPLACED "\xEF\xBF\xBD" /* U+FFFD, which replaces what is not UTF-8 */

/* Returns the bytes of the UTF-8 character at text, or minus the number of bytes that one U+FFFD replaces. */
static int prof__utf8_length(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    unsigned low = 0x80, high = 0xBF;
    int length, i;
    if (*s < 0x80) return 1;
    if (*s < 0xC2 || *s > 0xF4) return -1;
    length = *s < 0xE0 ? 2 : *s < 0xF0 ? 3 : 4;
    if (*s == 0xE0) low = 0xA0;  /* else overlong */
    if (*s == 0xED) high = 0x9F; /* else a surrogate */
    if (*s == 0xF0) low = 0x90;  /* else overlong */
    if (*s == 0xF4) high = 0x8F; /* else beyond U+10FFFF */
    for (i = 1; i < length; i++) {
        if (s[i] < low || s[i] > high) return -i;
        low = 0x80;
        high = 0xBF;
    }
    return length;
}

/* Returns the bytes of the UTF-8 character at text, or 0 if there is none. */
static size_t prof__utf8(const char *text)
{
    int length = prof__utf8_length(text);
    return length > 0 ? (size_t)length : 0;
}

/* Steps over one character: what is not UTF-8 counts byte by byte. */
static const char *prof__next_character(const char *text)
{
    size_t length = prof__utf8(text);
    return text + (length ? length : 1);
}

static size_t prof__characters(const char *text)
{
    size_t count = 0;
    for (; *text; text = prof__next_character(text)) count++;
    return count;
}

static void prof__out_spaces(prof__out *out, size_t count)
{
    for (; count; count--) prof__out_bytes(out, " ", 1);
}

/* Writes this many characters of a text, without control characters. Returns the text after them. */
static const char *prof__out_characters(prof__out *out, const char *text, size_t count)
{
    for (; count; count--) {
        const char *next = prof__next_character(text);
        unsigned char first = (unsigned char)*text;
        int control = first < 0x20 || first == 0x7F || (first == 0xC2 && (unsigned char)text[1] < 0xA0);
        if (control || !prof__utf8(text))
            prof__out_bytes(out, "?", 1);
        else
            prof__out_bytes(out, text, (size_t)(next - text));
        text = next;
    }
    return text;
}

/* Writes a text of at most width characters, padded with spaces, without control characters. Of a longer text the
   middle is left out, because names differ at their ends. */
static void prof__out_name(prof__out *out, const char *text, size_t width)
{
    size_t all = prof__characters(text), shown, tail, i;
    if (all <= width) {
        prof__out_characters(out, text, all);
        prof__out_spaces(out, width - all);
        return;
    }
    shown = width > 3 ? width - 3 : 0;
    tail = shown / 2;
    text = prof__out_characters(out, text, shown - tail);
    prof__out_text(out, &"..."[width < 3 ? 3 - width : 0]);
    for (i = all - (shown - tail); i > tail; i--) text = prof__next_character(text);
    prof__out_characters(out, text, tail);
}

/* Writes a whole text, without control characters. */
static void prof__out_clean(prof__out *out, const char *text)
{
    prof__out_characters(out, text, prof__characters(text));
}

/* Writes a whole text from the character `at` of a line on. What is beyond limit (0: no limit) is wrapped to further
   lines, after indent spaces. */
static void prof__out_wrapped(prof__out *out, const char *text, size_t at, size_t indent, size_t limit)
{
    for (;;) {
        size_t left = prof__characters(text), fits = 0, i;
        const char *c = text;
        for (i = 0; limit && at + left > limit && i + at <= limit && *c; i++, c = prof__next_character(c))
            if (*c == ' ') fits = i; /* the last space that fits into the line */
        if (!limit || at + left <= limit || !fits) {
            prof__out_characters(out, text, left);
            return;
        }
        text = prof__out_characters(out, text, fits) + 1;
        prof__out_text(out, "\n");
        prof__out_spaces(out, at = indent);
    }
}

static void prof__out_right(prof__out *out, const char *text, size_t width)
{
    size_t length = prof__characters(text);
    if (length < width) prof__out_spaces(out, width - length);
    prof__out_clean(out, text);
}

/* Writes 1234567 as 1,234,567 to `to` (32 bytes). */
static void prof__grouped(char *to, uint64_t value)
{
    char digits[20];
    size_t length = prof__digits(digits, value), i, at = 0;
    for (i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) to[at++] = ',';
        to[at++] = digits[i];
    }
    to[at] = 0;
}

/* Writes a number >= 0 with this many decimals (up to 3) to `to` (32 bytes). */
static size_t prof__fixed(char *to, double value, unsigned decimals)
{
    static const unsigned scales[] = {1, 10, 100, 1000};
    uint64_t scaled = value < 1e15 ? (uint64_t)(value * scales[decimals] + 0.5) : (uint64_t)1000000000000000000;
    size_t at = prof__digits(to, scaled / scales[decimals]);
    if (decimals) {
        char fraction[20];
        size_t length = prof__digits(fraction, scales[decimals] + scaled % scales[decimals]);
        to[at++] = '.';
        memcpy(to + at, fraction + 1, length - 1);
        at += length - 1;
    }
    to[at] = 0;
    return at;
}

/* Writes value (>= 0) to `to` (48 bytes) with four digits, in the largest unit that leaves it above 1; each unit is
   1000 of the previous one. A whole number of the first unit is written unchanged. */
static void prof__human(char *to, double value, const char *const *units)
{
    int scaled = value >= 999.95;
    unsigned decimals;
    size_t at;
    for (; value >= 999.95 && units[1]; units++) value /= 1000;
    decimals = value < 9.9995 ? 3 : value < 99.995 ? 2 : value < 999.95 ? 1 : 0;
    if (!scaled && !((double)(uint64_t)value < value)) decimals = 0;
    at = prof__fixed(to, value, decimals);
    to[at++] = ' ';
    strcpy(to + at, *units);
}

static void prof__human_ns(char *to, double ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s", NULL};
    prof__human(to, ns, units);
}

static void prof__human_hz(char *to, double hz)
{
    static const char *const units[] = {"Hz", "kHz", "MHz", "GHz", NULL};
    prof__human(to, hz, units);
}

static void prof__out_ns(prof__out *out, double ns, size_t width)
{
    char text[48];
    prof__human_ns(text, ns);
    prof__out_right(out, text, width);
}

static void prof__out_count(prof__out *out, uint64_t count, size_t width)
{
    char text[32];
    prof__grouped(text, count);
    prof__out_right(out, text, width);
}

/* Writes "1 event", "2 events". */
static void prof__out_many(prof__out *out, uint64_t count, const char *thing)
{
    prof__out_count(out, count, 0);
    prof__out_text(out, " ");
    prof__out_text(out, thing);
    if (count != 1) prof__out_text(out, "s");
}

/* Writes "1 event" or "2 events" and what is the matter with them; nothing if there are none. */
static void prof__out_note(prof__out *out, uint64_t count, const char *thing, const char *text)
{
    if (!count) return;
    prof__out_many(out, count, thing);
    prof__out_text(out, text);
}

/* Says how many rows of a table are left out; nothing if there are none. */
static void prof__out_more(prof__out *out, uint64_t count)
{
    if (!count) return;
    prof__out_text(out, "and ");
    prof__out_count(out, count, 0);
    prof__out_text(out, " more\n");
}

/* Writes the number of a counter to `to` (32 bytes): whole numbers up to 2^53 unchanged, others with six digits.
   Returns the length. */
static size_t prof__counter_text(char *to, double value)
{
    const double max = 9007199254740992.0;
    int whole = prof__finite(value) && value >= -max && value <= max &&
                !((double)(int64_t)value < value || (double)(int64_t)value > value);
    return prof__double_digits(to, value, whole ? 16 : 6, whole ? 16 : 6);
}
