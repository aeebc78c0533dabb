// report/site_texts: Keeps, for a writer, the text that each call site adds to the lines of its events.
#ifndef PROF__REPORT_SITE_TEXTS_H
#define PROF__REPORT_SITE_TEXTS_H
#include "api/read.h"
#include "ground/hash.h"
#include "ground/out.h"
#include "read/names.h"

/*-- Texts are found by the number of the call site, so no number of call sites makes them slower. They lie close
     together: those of 10,000 call sites fit into the second cache of a processor. --*/

#define PROF__SITE_TEXT 240 /* bytes of a text that is kept; a longer one is made anew for each event */
#define PROF__SITE_COPY 64  /* bytes that are copied of a kept text at a time */

/* Where a text is. Behind its end, PROF__SITE_COPY bytes may be read. */
typedef struct prof__site_text {
    uint32_t at; /* in texts, plus 1; 0: not made yet; PROF__NONE32: too long */
    unsigned char size, rest, head; /* the writer says what begins at rest and at head */
} prof__site_text;

typedef struct prof__site_texts {
    const prof_trace *trace;
    prof__site_text *items; /* of each call site; NULL: no memory for it: slower, with equal output */
    char *texts;
    size_t size, capacity;
} prof__site_texts;

static void prof__site_texts_free(prof__site_texts *t)
{
    free(t->items);
    free(t->texts);
    memset(t, 0, sizeof *t);
}

/* Begins anew, with the call sites of this trace. The first time, all fields are 0. */
static void prof__site_texts_open(prof__site_texts *t, const prof_trace *trace)
{
    prof__site_texts_free(t);
    t->trace = trace;
    t->items = (prof__site_text *)calloc(prof__site_count(trace), sizeof *t->items);
}

/* Returns the place of a call site's text, or NULL if the trace does not have the call site. */
static inline prof__site_text *prof__site_text_of(const prof__site_texts *t, const prof_callsite *site)
{
    size_t number = t->items ? prof__site_number(t->trace, site) : PROF__NONE;
    return number == PROF__NONE ? NULL : &t->items[number];
}

static inline int prof__site_text_kept(const prof__site_text *kept) { return kept && kept->at - 1 < PROF__NONE32 - 1; }

/* Returns where the writer makes the text of a call site, in the output's buffer, or NULL if it would be too long. */
static char *prof__site_text_begin(prof__site_text *kept, const prof_callsite *site, prof__out *out)
{
    if (!kept || kept->at) return NULL;
    if (strlen(site->name) + strlen(site->category) + strlen(site->file) + strlen(site->function) < PROF__SITE_TEXT)
        return prof__out_reserve(out, PROF__OUT_RESERVE); /* so the text stays in the buffer, even if all is escaped */
    kept->at = PROF__NONE32;
    return NULL;
}

/* Takes the text from `start` on back out of the output, and keeps it. rest, head: offsets in the text. Returns 0 if it
   is too long or if there is no memory. */
static int prof__site_text_end(prof__site_texts *t, prof__site_text *kept, prof__out *out, char *start, size_t rest,
                               size_t head)
{
    size_t size = (size_t)(out->cursor - start);
    out->cursor = start;
    kept->at = PROF__NONE32;
    if (size > PROF__SITE_TEXT || t->size > PROF__NONE32 / 2) return 0;
    while (t->capacity < t->size + size + PROF__SITE_COPY)
        if (!prof__more_room(&t->texts, &t->capacity, 1)) return 0;
    memcpy(t->texts + t->size, start, size);
    memset(t->texts + t->size + size, 0, PROF__SITE_COPY);
    kept->at = (uint32_t)t->size + 1;
    kept->size = (unsigned char)size;
    kept->rest = (unsigned char)rest;
    kept->head = (unsigned char)head;
    t->size += size;
    return 1;
}

/* Copies `size` bytes of a text. Writes up to PROF__SITE_COPY bytes more. Returns the end of the copy. */
static inline char *prof__site_text_copy(char *to, const char *from, size_t size)
{
    size_t at = 0;
    do {
        memcpy(to + at, from + at, PROF__SITE_COPY);
        at += PROF__SITE_COPY;
    } while (PROF__UNLIKELY(at < size));
    return to + size;
}

static inline const char *prof__site_text_at(const prof__site_texts *t, const prof__site_text *kept)
{
    return t->texts + kept->at - 1;
}

#endif /* PROF__REPORT_SITE_TEXTS_H */
