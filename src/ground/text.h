// ground/text: Writes text for people: names, columns, wrapped lines.
#ifndef PROF__GROUND_TEXT_H
#define PROF__GROUND_TEXT_H
#include "ground/digits.h"
#include "ground/out.h"
#include "ground/utf8.h"

#ifndef PROF_FREESTANDING
/*-- SUMMARY -------------------------------------------------------------------------------------------- >>summary --*/

#define PROF__NAME_MAX ((size_t)48)   /* characters of a name in a table's column */
#define PROF__INDENT_MAX ((size_t)24) /* spaces; deeper call paths are indented by this much */

static void prof__out_spaces(prof__out *out, size_t count)
{
    for (; count > PROF__OUT_RESERVE; count -= PROF__OUT_RESERVE) prof__out_spaces(out, PROF__OUT_RESERVE);
    memset(prof__out_reserve(out, count), ' ', count);
    prof__out_commit(out, count);
}

/* Writes count characters of a text, with "?" for control characters and bytes that are not UTF-8. Returns the text
   after them. */
static const char *prof__out_characters(prof__out *out, const char *text, size_t count)
{
    for (;;) {
        const char *next = text;
        while (count && *next >= ' ' && *next < 127) next++, count--; /* most texts have no others */
        prof__out_bytes(out, text, (size_t)(next - text));
        if (!count) return next;
        text = next;
        next = prof__next_character(text);
        if (prof__is_control(text) || !prof__utf8(text))
            prof__out_bytes(out, "?", 1);
        else
            prof__out_bytes(out, text, (size_t)(next - text));
        text = next;
        count--;
    }
}

/* Writes a text in exactly width characters, padded with spaces. A longer text loses its middle, because names often
   differ at their ends. */
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

/* Writes a whole text, with "?" for control characters. */
static void prof__out_clean(prof__out *out, const char *text)
{
    prof__out_characters(out, text, prof__characters(text));
}

/* Writes a text, wrapped at spaces. at: the column at which it begins; indent: spaces before each further line; limit:
   the width of lines, 0 for no limit. */
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
    prof__out_characters(out, text, length);
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

/* Writes a count and a noun in singular or plural: "1 event", "2 events". */
static void prof__out_many(prof__out *out, uint64_t count, const char *thing)
{
    prof__out_count(out, count, 0);
    prof__out_text(out, " ");
    prof__out_text(out, thing);
    if (count != 1) prof__out_text(out, "s");
}

/* Writes a count, a noun and a text about them, or nothing if count is 0. */
static void prof__out_note(prof__out *out, uint64_t count, const char *thing, const char *text)
{
    if (!count) return;
    prof__out_many(out, count, thing);
    prof__out_text(out, text);
}

/* Writes how many rows of a table were left out, or nothing if count is 0. */
static void prof__out_more(prof__out *out, uint64_t count)
{
    if (!count) return;
    prof__out_text(out, "and ");
    prof__out_count(out, count, 0);
    prof__out_text(out, " more\n");
}
#endif

#endif /* PROF__GROUND_TEXT_H */
