// report/table: The tables of the summary, which are made to fit the width of the terminal.
#ifndef PROF__REPORT_TABLE_H
#define PROF__REPORT_TABLE_H
#include "api/read.h"
#include "api/values.h"
#include "ground/digits.h"
#include "ground/out.h"
#include "ground/text.h"
#include "ground/utf8.h"
#include "read/clock.h"
#include "report/measured.h"

/*-- A table has a column of names, columns of numbers, and a note at the end of each row. The caller produces all rows
     twice: in the first pass they are measured, in the second they are written. If a table is too wide for a line, it
     first loses the space between columns, then columns in the order of prof__column.order; then names are cut. --*/

#define PROF__TABLE_COLUMNS 13
#define PROF__TABLE_TIME ((size_t)8) /* characters of 1.234 us: no time below 999 s has more */
#define PROF__TABLE_LEAST ((size_t)40)       /* characters; a table does not become narrower than this */
#define PROF__TABLE_NAME_LEAST ((size_t)24)  /* characters; names stay as wide as this while a column can be left out */

typedef struct prof__column {
    const char *title;
    size_t order; /* when the column is left out: 1: first, 2: next, and so on; 0: never */
    size_t width; /* characters, if the line has space; 0: 14 for the first column, 11 for the others */
} prof__column;

typedef struct prof__table {
    prof__out *out;
    size_t limit; /* characters of a line: from prof__out_columns() */
    const char *title, *note_title;
    const prof__column *columns;
    size_t count;                       /* the number of columns */
    size_t name, max, note;            /* characters: of names, the limit for names, of notes */
    size_t note_order;                  /* when notes are left out, 1 first; 0: never: they get lines of their own */
    size_t rows, at, line;              /* at: the present column; line: characters written of the present note */
    int writing, below;                 /* writing: 1 in the second pass; below: 1: notes are on lines of their own */
    size_t widths[PROF__TABLE_COLUMNS]; /* characters of each column; 0: left out */
    double most[PROF__TABLE_COLUMNS];   /* of numbers that are the longer the larger they are: the largest measured */
} prof__table;

/* Begins a table. The last element of `columns` has the title NULL. note_title is NULL for a table without notes. */
static void prof__table_begin(prof__table *t, prof__out *out, size_t limit, const char *title,
                              const prof__column *columns, const char *note_title, size_t note_order)
{
    memset(t, 0, sizeof *t);
    t->out = out;
    t->limit = limit;
    t->title = title;
    t->columns = columns;
    t->note_title = note_title;
    t->note_order = note_order;
    t->name = prof__characters(title);
    t->max = PROF__NAME_MAX;
    if (note_title) t->note = prof__characters(note_title) + 2;
    for (; columns[t->count].title; t->count++) {
        t->widths[t->count] = prof__characters(columns[t->count].title);
        t->most[t->count] = -1;
    }
}

static void prof__table_row(prof__table *t, const char *name, size_t depth)
{
    if (!*name) name = "(unnamed)"; /* made at run time, and overwritten by the ring with the scope's begin */
    size_t indent = 2 * (depth < PROF__INDENT_MAX ? depth : PROF__INDENT_MAX), length;
    t->at = t->line = 0;
    t->rows++;
    if (!t->writing && depth) t->max = PROF__NAME_MAX + 2 * PROF__INDENT_MAX;
    if (!t->writing && strlen(name) + indent <= t->name) return;
    length = prof__characters(name) + indent;
    if (!t->writing) {
        if (length > t->name) t->name = length;
        return;
    }
    if (length > t->name && indent > t->name / 2) indent = t->name / 2;
    prof__out_spaces(t->out, indent);
    prof__out_name(t->out, name, t->name - indent);
}

/* Adds the next number of the row. */
static void prof__table_text(prof__table *t, const char *text)
{
    size_t length = prof__characters(text), at = t->at++;
    if (!t->writing && length > t->widths[at]) t->widths[at] = length;
    if (t->writing && t->widths[at]) prof__out_right(t->out, text, t->widths[at]);
}

/* Returns 1 if a number is not written, and cannot make its column wider: one as large has been measured. */
static int prof__table_measured(prof__table *t, double value)
{
    if (t->writing || !(value <= t->most[t->at])) {
        if (value > t->most[t->at]) t->most[t->at] = value;
        return 0;
    }
    t->at++;
    return 1;
}

static void prof__table_ns(prof__table *t, double ns)
{
    char text[48];
    if (!t->writing && t->widths[t->at] >= PROF__TABLE_TIME && ns < 999e9) {
        t->at++;
        return;
    }
    prof__human_ns(text, ns);
    prof__table_text(t, text);
}

static void prof__table_time(prof__table *t, uint64_t ns) { prof__table_ns(t, prof__real(ns)); }

static void prof__table_count(prof__table *t, uint64_t count)
{
    char text[32];
    if (count >> 53 == 0 && prof__table_measured(t, (double)count)) return;
    prof__grouped(text, count);
    prof__table_text(t, text);
}

static void prof__table_percent(prof__table *t, double part, double whole)
{
    char text[48] = "-";
    if (whole > 0 && prof__table_measured(t, part / whole)) return;
    if (whole > 0) strcpy(text + prof__fixed(text, part / whole * 100, 1), " %");
    prof__table_text(t, text);
}

static void prof__table_size(prof__table *t, uint64_t bytes)
{
    char text[48];
    prof__human(text, prof__real(bytes), prof__byte_units);
    prof__table_text(t, text);
}

/* Adds a rate in units of 10^6 bytes a second, formatted with a suitable unit. */
static void prof__table_rate(prof__table *t, double rate)
{
    static const char *const units[] = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s", NULL};
    char text[48];
    prof__human(text, rate * 1e6, units);
    prof__table_text(t, text);
}

/* Leaves the rest of the row's columns without numbers. */
static void prof__table_dashes(prof__table *t)
{
    while (t->at < t->count) prof__table_text(t, "-");
}

/* Adds text to the row's note. */
static void prof__table_note(prof__table *t, const char *text)
{
    if (t->writing && t->below && *text && !t->line) prof__out_text(t->out, "\n  ");
    t->line += prof__characters(text);
    if (t->writing && t->note) prof__out_clean(t->out, text);
}

static void prof__table_note_many(prof__table *t, uint64_t count, const char *thing, const char *end)
{
    char text[160];
    prof__grouped(text, count);
    snprintf(text + strlen(text), sizeof text - strlen(text), " %s%s%s", thing, count == 1 ? "" : "s", end);
    prof__table_note(t, text);
}

static void prof__table_end(prof__table *t)
{
    if (t->writing)
        prof__out_text(t->out, "\n");
    else if (t->line > t->note)
        t->note = t->line;
}

static size_t prof__table_width(const prof__table *t)
{
    size_t width = t->note_order ? t->note : 0, i;
    for (i = 0; i < t->count; i++) width += t->widths[i];
    return width;
}

/* Leaves out the columns, or the notes, that are next in order. Returns 0 if none can be left out. */
static int prof__table_leave_out(prof__table *t)
{
    size_t next = t->note ? t->note_order : 0, i;
    for (i = 0; i < t->count; i++)
        if (t->widths[i] && t->columns[i].order && (!next || t->columns[i].order < next)) next = t->columns[i].order;
    for (i = 0; i < t->count; i++)
        if (next && t->columns[i].order == next) t->widths[i] = 0;
    if (t->note_order == next) t->note = 0;
    return next != 0;
}

static void prof__table_fit(prof__table *t)
{
    size_t wide[PROF__TABLE_COLUMNS], all = 0, least, i;
    if (t->name > t->max) t->name = t->max;
    for (i = 0; i < t->count; i++) {
        wide[i] = t->columns[i].width ? t->columns[i].width : i ? 11 : 14;
        if (t->widths[i] >= wide[i]) wide[i] = t->widths[i] + 1; /* two columns never touch */
        all += wide[i];
        t->widths[i] += 2;
    }
    least = prof__table_width(t) + (t->note_order ? 0 : t->note);
    t->below = t->limit && !t->note_order && t->name + least > t->limit;
    if (!t->limit || t->name + all + (t->below ? 0 : t->note) <= t->limit) {
        memcpy(t->widths, wide, sizeof wide);
        return;
    }
    least = t->name < PROF__TABLE_NAME_LEAST ? t->name : PROF__TABLE_NAME_LEAST;
    while (least + prof__table_width(t) > t->limit && prof__table_leave_out(t)) {}
    all = prof__table_width(t);
    least = all + 8 < t->limit ? t->limit - all : 8;
    if (t->name > least) t->name = least;
}

/* Ends a pass. Returns 1 after the first one: the caller then produces all rows again, and they are written. A table
   without rows gets no title. */
static int prof__table_again(prof__table *t)
{
    size_t i;
    if (t->writing || !t->rows) return 0;
    prof__table_fit(t);
    t->writing = 1;
    prof__out_name(t->out, t->title, t->name);
    for (i = 0; i < t->count; i++)
        if (t->widths[i]) prof__out_right(t->out, t->columns[i].title, t->widths[i]);
    if (t->note_title && t->note) {
        prof__out_text(t->out, "  ");
        prof__out_text(t->out, t->note_title);
    }
    prof__out_text(t->out, "\n");
    return 1;
}

/* Writes the call site as file and line, without the folders of the file. */
static void prof__table_place(prof__table *t, const prof_callsite *site)
{
    const char *base = site->file, *c;
    char line[24] = ":";
    if (site->role == PROF_ROLE_DEVICE) { /* the name of a device's event tells more than a line of code */
        prof__table_note(t, "  ");
        prof__table_note(t, site->category);
    }
    if (!*base) return;
    for (c = base; *c; c++)
        if (*c == '/' || *c == '\\') base = c + 1;
    prof__table_note(t, "  ");
    prof__table_note(t, base);
    if (!site->line) return; /* only the symbol is known */
    line[1 + prof__digits(line + 1, site->line)] = 0;
    prof__table_note(t, line);
}

#endif /* PROF__REPORT_TABLE_H */
