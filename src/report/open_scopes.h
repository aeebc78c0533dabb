// report/open_scopes: prof_open_scopes(): the scopes that each thread was inside of when the recording ended.
#ifndef PROF__REPORT_OPEN_SCOPES_H
#define PROF__REPORT_OPEN_SCOPES_H
#include "api/read.h"
#include "api/reports.h"
#include "api/values.h"
#include "ground/errors.h"
#include "ground/hash.h"
#include "ground/out.h"

/*-- OPEN SCOPES ------------------------------------------------------------------------------------ >>open_scopes --*/

typedef struct prof__open {
    prof_open_scope about;
    char *text; /* owned: the name, if it was made at run time; else NULL */
} prof__open;

typedef struct prof__open_list {
    prof__open *items;
    size_t count, capacity;
} prof__open_list;

static void prof__open_list_free(prof__open_list *all)
{
    for (size_t i = 0; i < all->count; i++) free(all->items[i].text);
    free(all->items);
}

/* Keeps a scope that may be open at the end of the recording. Returns 0 without memory. */
static int prof__open_put(prof__open *to, size_t track, const prof_event *event)
{
    free(to->text);
    to->text = event->name == event->site->name ? NULL : prof__text_join(event->name, "");
    to->about.name = event->site->name;
    to->about.site = event->site;
    to->about.track = track;
    to->about.depth = event->depth;
    to->about.start_ns = event->start_ns;
    to->about.duration_ns = event->duration_ns;
    return to->text || event->name == event->site->name;
}

/* Adds the open scopes of a track. At each depth, that is the last scope, if it has no end. */
static prof_status prof__open_track(prof__open_list *all, const prof_trace *trace, size_t track)
{
    size_t first = all->count, open = (size_t)prof_trace_track(trace, track)->open, i;
    prof_cursor *cursor;
    prof_event event;
    int good = 1;
    prof_status status;
    if (!open) return PROF_OK;
    status = prof_cursor_open(trace, track, &cursor);
    if (status != PROF_OK) return status;
    while (good && all->count < first + open) good = PROF__MORE(all->items, all->capacity, all->count) != NULL;
    while (good && prof_cursor_next(cursor, &event))
        if (event.type == PROF_EVENT_SCOPE && event.flags & PROF_TRUNCATED_END && event.depth < open)
            good = prof__open_put(&all->items[first + event.depth], track, &event);
    prof_cursor_close(cursor);
    for (i = first; i < all->count && all->items[i].about.site; i++) { /* the window may lack the scopes further in */
    }
    while (all->count > i) free(all->items[--all->count].text);
    return good ? PROF_OK : prof__no_memory("for the open scopes");
}

/* Allocates one block with the scopes, followed by the names made at run time. Returns NULL without memory. */
static prof_open_scope *prof__open_copy(const prof__open_list *all)
{
    size_t size = (all->count + 1) * sizeof(prof_open_scope), i;
    prof_open_scope *scopes;
    char *text;
    for (i = 0; i < all->count; i++)
        if (all->items[i].text) size += strlen(all->items[i].text) + 1;
    scopes = (prof_open_scope *)malloc(size);
    if (!scopes) return NULL;
    text = (char *)(scopes + all->count + 1);
    for (i = 0; i < all->count; i++) {
        scopes[i] = all->items[i].about;
        if (!all->items[i].text) continue;
        scopes[i].name = strcpy(text, all->items[i].text);
        text += strlen(text) + 1;
    }
    return scopes;
}

PROF_DEF prof_status prof_open_scopes(const prof_trace *trace, prof_open_scope **scopes, size_t *count)
{
    prof__open_list all;
    prof_status status = PROF_OK;
    size_t i;
    if (!trace || !scopes || !count) return prof__null("prof_open_scopes", "trace, scopes or count");
    memset(&all, 0, sizeof all);
    *scopes = NULL;
    for (i = 0; i < prof_trace_track_count(trace) && status == PROF_OK; i++) status = prof__open_track(&all, trace, i);
    if (status == PROF_OK && !(*scopes = prof__open_copy(&all))) status = prof__no_memory("for the open scopes");
    *count = *scopes ? all.count : 0;
    prof__open_list_free(&all);
    return status;
}

PROF_DEF void prof_open_scopes_free(prof_open_scope *scopes)
{
    free(scopes);
}

#endif /* PROF__REPORT_OPEN_SCOPES_H */
