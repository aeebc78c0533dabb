// report/csv: prof_csv_write() and prof_csv_stream(): write a trace as a table of events.
#ifndef PROF__REPORT_CSV_H
#define PROF__REPORT_CSV_H
#include "api/markup.h"
#include "api/read.h"
#include "api/reports.h"
#include "api/values.h"
#include "api/writers.h"
#include "ground/digits.h"
#include "ground/errors.h"
#include "ground/numbers.h"
#include "ground/out.h"
#include "ground/utf8.h"
#include "read/log.h"
#include "read/records.h"
#include "read/spans.h"
#include "read/trace.h"
#include "report/site_texts.h"

/*-- CSV ------------------------------------------------------------------------------------------------------ >>csv --
   Writes a trace as RFC 4180 says: a header line, then a line for each event, with CRLF. The output is valid UTF-8
   whatever bytes the names hold. The field args joins "key=value" pairs with ';'. In keys and texts, a backslash stands
   before each ';', '=' and backslash. Where the trace has states of threads, three columns more say what a scope's
   thread did meanwhile; what they leave of the duration is unknown. */

static void prof__csv_byte(prof__out *out, char byte)
{
    *prof__out_reserve(out, 1) = byte;
    prof__out_commit(out, 1);
}

static int prof__csv_plain(const char *text)
{
    return text[strcspn(text, ",\"\r\n")] == 0 && text[0] != ' ' && (!text[0] || text[strlen(text) - 1] != ' ');
}

/* Writes size bytes of a text. */
static void prof__csv_text(prof__out *out, const char *text, size_t size)
{
    size_t run = 0;
    while (run < size) {
        int length = prof__utf8_length(text + run);
        if (length > 0) {
            run += (size_t)length;
            continue;
        }
        prof__out_bytes(out, text, run);
        prof__out_bytes(out, PROF__UTF8_REPLACED, sizeof PROF__UTF8_REPLACED - 1);
        text += run + (size_t)-length;
        size -= run + (size_t)-length;
        run = 0;
    }
    prof__out_bytes(out, text, run);
}

/* Writes the inside of a quoted field. `special` lists the characters that need an escape: the quote, which is doubled,
   and the characters that get a backslash. */
static void prof__csv_quoted(prof__out *out, const char *text, const char *special)
{
    for (;;) {
        size_t plain = strcspn(text, special);
        prof__csv_text(out, text, plain);
        text += plain;
        if (!*text) return;
        prof__csv_byte(out, *text == '"' ? '"' : '\\');
        prof__csv_byte(out, *text++);
    }
}

/* Returns the length of a field that is written as it is, as most are: a few printable characters of ASCII. Returns 0
   for other fields. */
static size_t prof__csv_simple(const char *text)
{
    size_t size = 0;
    while (text[size] >= ' ' && text[size] < 127 && text[size] != ',' && text[size] != '"') size++;
    return text[size] || !size || size > PROF__OUT_RESERVE / 2 || text[0] == ' ' || text[size - 1] == ' ' ? 0 : size;
}

/* Writes a comma and a field. */
static PROF__NOINLINE void prof__csv_field(prof__out *out, const char *text)
{
    size_t simple = prof__csv_simple(text);
    prof__csv_byte(out, ',');
    if (simple) {
        prof__out_bytes(out, text, simple);
    } else if (prof__csv_plain(text)) {
        prof__csv_text(out, text, strlen(text));
    } else {
        prof__csv_byte(out, '"');
        prof__csv_quoted(out, text, "\"");
        prof__csv_byte(out, '"');
    }
}

static void prof__csv_value(prof__out *out, const prof_value *value)
{
    char digits[16];
    int i;
    switch ((int)value->type) {
    case PROF_VALUE_INT: prof__out_signed(out, value->as.i); break;
    case PROF_VALUE_UINT: prof__out_unsigned(out, value->as.u); break;
    case PROF_VALUE_DOUBLE: prof__out_double(out, value->as.d); break;
    case PROF_VALUE_BOOL: prof__out_text(out, value->as.u ? "true" : "false"); break;
    case PROF_VALUE_POINTER:
        for (i = 0; i < 16; i++) digits[i] = "0123456789abcdef"[value->as.u >> (60 - 4 * i) & 15];
        for (i = 0; i < 15 && digits[i] == '0';) i++;
        prof__out_text(out, "0x");
        prof__out_bytes(out, digits + i, (size_t)(16 - i));
        break;
    case PROF_VALUE_STRING:
        prof__csv_quoted(out, value->as.string, "\";=\\");
        if (value->cut) prof__out_text(out, "...");
        break;
    default: break;
    }
}

static void prof__csv_args(prof__out *out, const prof_event *event)
{
    uint32_t i;
    prof__csv_byte(out, ',');
    if (!event->arg_count) return;
    prof__csv_byte(out, '"');
    for (i = 0; i < event->arg_count; i++) {
        if (i) prof__csv_byte(out, ';');
        prof__csv_quoted(out, event->args[i].key, "\";=\\");
        prof__csv_byte(out, '=');
        prof__csv_value(out, &event->args[i].value);
    }
    prof__csv_byte(out, '"');
}

/* Writes the fields value and args of a message: its text and its severity. */
static void prof__csv_message(prof__out *out, const prof_event *event)
{
    prof__csv_field(out, event->value.as.string);
    prof__out_text(out, ",severity=");
    prof__out_text(out, prof__severity_text(event->detail));
}

/* Writes the field value. For an event with an object, the value is the object's id or address. */
static void prof__csv_object(prof__out *out, const prof_event *event)
{
    prof_value value = event->value;
    if (prof__event_object(event->type)) {
        value.type = prof__event_object(event->type);
        value.as.u = event->object;
    }
    prof__csv_value(out, &value);
}

/* Writes the fields that all events of a track have in common. */
static PROF__NOINLINE void prof__csv_track(prof__out *out, const prof_track *track)
{
    prof__out_unsigned(out, track->id);
    prof__csv_byte(out, ',');
    prof__out_unsigned(out, track->thread_id);
    prof__csv_field(out, track->name);
}

static PROF__NOINLINE void prof__csv_head(prof__out *out, const prof_event *event)
{
    prof__csv_field(out, prof__event_text(event->type));
    prof__csv_field(out, event->name);
    prof__csv_field(out, event->site->category);
    prof__csv_byte(out, ',');
}

/* line_end: what comes behind it; "" if the states do. */
static PROF__NOINLINE void prof__csv_tail(prof__out *out, const prof_callsite *site, const char *line_end)
{
    prof__csv_field(out, site->file);
    prof__csv_byte(out, ',');
    if (site->line) prof__out_unsigned(out, site->line);
    prof__csv_field(out, site->function);
    prof__out_text(out, line_end);
}

static void prof__csv_event(prof__out *out, const prof_track *track, const prof_event *event, const char *line_end)
{
    static const char *const flags[] = {"", "truncated_begin", "truncated_end", "truncated_begin truncated_end"};
    prof__csv_track(out, track);
    prof__csv_head(out, event);
    prof__out_signed(out, event->start_ns);
    prof__csv_byte(out, ',');
    prof__out_signed(out, event->duration_ns);
    prof__csv_byte(out, ',');
    prof__out_unsigned(out, event->depth);
    prof__csv_field(out, flags[event->flags & 3]);
    if (event->type == PROF_EVENT_LOG) {
        prof__csv_message(out, event);
    } else {
        prof__csv_byte(out, ',');
        prof__csv_object(out, event);
        if (event->type == PROF_EVENT_ALLOC) {
            prof__out_text(out, ",bytes=");
            prof__out_unsigned(out, event->detail);
        } else if (*event->site->unit) {
            prof__out_text(out, ",\"unit=");
            prof__csv_quoted(out, event->site->unit, "\";=\\");
            prof__csv_byte(out, '"');
        } else {
            prof__csv_args(out, event);
        }
    }
    prof__csv_tail(out, event->site, line_end);
}

#define PROF__CSV_TYPE 6 /* bytes of ,scope */

/* What the lines of plain scopes are made of: the text of the present track, and that of each call site: the type, the
   name, at `rest` the category, at `head` what follows the three numbers. */
typedef struct prof__csv_texts {
    prof__site_texts sites;
    size_t size; /* of the track's text; 0: it is too long */
    char track[PROF__SITE_TEXT + PROF__SITE_COPY];
} prof__csv_texts;

/* Makes the text of a track. */
static void prof__csv_enter(prof__out *out, prof__csv_texts *texts, const prof_track *track)
{
    char *start = prof__out_reserve(out, PROF__OUT_RESERVE); /* the text stays in the buffer */
    texts->size = 0;
    if (strlen(track->name) >= PROF__SITE_TEXT) return;
    prof__csv_track(out, track);
    texts->size = (size_t)(out->cursor - start);
    out->cursor = start;
    if (texts->size > PROF__SITE_TEXT) texts->size = 0;
    memcpy(texts->track, start, texts->size);
}

/* Makes the text of a call site. Returns 0 if the text is too long, or without memory. */
static int prof__csv_keep(prof__out *out, prof__csv_texts *texts, prof__site_text *kept, const prof_callsite *site,
                          const char *line_end)
{
    char *start = prof__site_text_begin(kept, site, out);
    size_t rest, head;
    if (!start) return 0;
    prof__csv_field(out, prof__event_text(PROF_EVENT_SCOPE));
    prof__csv_field(out, site->name);
    rest = (size_t)(out->cursor - start);
    prof__csv_field(out, site->category);
    prof__csv_byte(out, ',');
    head = (size_t)(out->cursor - start);
    prof__out_text(out, ",,,");
    prof__csv_tail(out, site, line_end);
    return prof__site_text_end(&texts->sites, kept, out, start, rest, head);
}

/* Writes a plain scope, the most frequent kind of event. All of its line but three numbers, and a name that was made at
   run time, depends on the track and the call site alone. Returns 0 if the event is no plain scope. */
static int prof__csv_scope(prof__out *out, prof__csv_texts *texts, const prof_event *event, const char *line_end)
{
    prof__site_text *kept;
    const char *from;
    size_t head;
    char *to;
    if (event->type != PROF_EVENT_SCOPE || (event->arg_count | event->flags) || !texts->size || event->start_ns < 0 ||
        event->duration_ns < 0)
        return 0;
    kept = prof__site_text_of(&texts->sites, event->site);
    if (PROF__UNLIKELY(!prof__site_text_kept(kept)) && !prof__csv_keep(out, texts, kept, event->site, line_end))
        return 0;
    from = prof__site_text_at(&texts->sites, kept);
    head = kept->head;
    to = prof__out_reserve(out, 3 * (PROF__SITE_TEXT + PROF__SITE_COPY) + 64);
    to = prof__site_text_copy(to, texts->track, texts->size);
    if (PROF__UNLIKELY(event->name != event->site->name)) {
        memcpy(to, from, PROF__CSV_TYPE);
        out->cursor = to + PROF__CSV_TYPE;
        prof__csv_field(out, event->name);
        to = prof__out_reserve(out, 2 * (PROF__SITE_TEXT + PROF__SITE_COPY) + 64);
        from += kept->rest;
        head -= kept->rest;
    }
    to = prof__site_text_copy(to, from, head);
    to += prof__digits(to, (uint64_t)event->start_ns);
    *to++ = ',';
    to += prof__digits(to, (uint64_t)event->duration_ns);
    *to++ = ',';
    to += prof__digits(to, event->depth);
    out->cursor = prof__site_text_copy(to, from + head, kept->size - kept->head);
    return 1;
}

/* Returns the field "thread" of a device's row: the device and the row, as in "gpu 0/compute". Returns NULL without
   memory; then the caller writes the row's name alone. */
static char *prof__csv_row(const prof_track *track)
{
    char *device = prof__text_join(track->device, "/"), *name = device ? prof__text_join(device, track->name) : NULL;
    free(device);
    return name;
}

/* Writes what a scope's thread did meanwhile, and the end of the line. */
static void prof__csv_states(prof__out *out, const prof_trace *trace, size_t track, const prof_event *event)
{
    prof_split split;
    size_t count;
    prof_track_states(trace, track, &count);
    if (event->type != PROF_EVENT_SCOPE || prof_event_split(trace, track, event, &split) ||
        (!count && split.unknown_ns == split.wall_ns)) {
        prof__out_text(out, ",,,\r\n");
        return;
    }
    prof__csv_byte(out, ',');
    prof__out_unsigned(out, split.running_ns);
    prof__csv_byte(out, ',');
    prof__out_unsigned(out, split.ready_ns);
    prof__csv_byte(out, ',');
    prof__out_unsigned(out, split.waiting_ns);
    prof__out_text(out, "\r\n");
}

/* Writes a trace, and closes the output. */
static prof_status prof__csv(const prof_trace *trace, prof__out *out)
{
    size_t i;
    int states = trace->state_count != 0;
    const char *line_end = states ? "" : "\r\n";
    prof__csv_texts texts;
    memset(&texts, 0, sizeof texts);
    prof__site_texts_open(&texts.sites, trace);
    prof__out_text(out, "track_id,thread_id,thread,type,name,category,start_ns,duration_ns,depth,flags,value,args,"
                        "file,line,function");
    prof__out_text(out, states ? ",running_ns,ready_ns,waiting_ns\r\n" : line_end);
    for (i = 0; i < prof_trace_track_count(trace) && out->status == PROF_OK; i++) {
        prof_track track = *prof_trace_track(trace, i);
        char *name = *track.device ? prof__csv_row(&track) : NULL;
        prof_cursor *cursor;
        prof_event event;
        prof_status status = prof_cursor_open(trace, i, &cursor);
        if (name) track.name = name;
        if (status != PROF_OK) prof__out_fail(out, status);
        prof__csv_enter(out, &texts, &track);
        while (out->status == PROF_OK && prof_cursor_next(cursor, &event)) {
            if (!prof__csv_scope(out, &texts, &event, line_end)) prof__csv_event(out, &track, &event, line_end);
            if (states) prof__csv_states(out, trace, i, &event);
        }
        prof_cursor_close(cursor);
        free(name);
    }
    prof__site_texts_free(&texts.sites);
    return prof__out_close(out);
}

/* Writes to the file `path`, or to `sink` if that is not NULL. */
static prof_status prof__csv_to(const prof_trace *trace, const char *path, const prof_sink *sink)
{
    prof__out out;
    prof_status status;
    if (!trace) return prof__null(sink ? "prof_csv_stream" : "prof_csv_write", "trace");
    status = prof__out_to(&out, path, sink);
    return status == PROF_OK ? prof__csv(trace, &out) : status;
}

static prof_status prof__csv_default(const prof_trace *trace, const char *path)
{
    return prof_csv_write(trace, path);
}

PROF_DEF prof_status prof_csv_write(const prof_trace *trace, const char *path)
{
    PROF__CALM();
    return prof__csv_to(trace, path, NULL);
}

PROF_DEF prof_status prof_csv_stream(const prof_trace *trace, prof_sink sink)
{
    PROF__CALM();
    return prof__csv_to(trace, NULL, &sink);
}

#endif /* PROF__REPORT_CSV_H */
