// html/live: What prof_server.h sends to a browser that watches a program: a page, and then messages with the events of
// one period each. docs/internals/html.md, Live, describes them.
#ifndef PROF__HTML_LIVE_H
#define PROF__HTML_LIVE_H
#include "api/read.h"
#include "api/values.h"
#include "api/writers.h"
#include "ground/errors.h"
#include "ground/out.h"
#include "html/pack.h"
#include "html/page.h"
#include "html/writer.h"

/*-- live --*/

/* Writes the page up to where its data begin, with the script that only live pages have. The page may load data from
   the server that it came from, and from nowhere else. */
static void prof__html_live_head(prof__out *out)
{
    static const char policy[] = "default-src 'none';", end[] = "})();\n";
    for (size_t i = 0; prof__html_page[i]; ++i) {
        const char *text = prof__html_page[i], *at;
        if ((at = strstr(text, policy)) != NULL) {
            at += sizeof policy - 1;
            prof__out_bytes(out, text, (size_t)(at - text));
            prof__out_text(out, " connect-src 'self';");
            text = at;
        }
        if ((at = strstr(text, end)) != NULL) {
            prof__out_bytes(out, text, (size_t)(at - text));
            for (size_t k = 0; prof__html_live[k]; ++k) prof__out_text(out, prof__html_live[k]);
            text = at;
        }
        prof__out_text(out, text);
    }
}

/* Writes the page that watches a program: a report that has no events yet. */
static prof_status prof__html_live_page(prof_sink sink, const char *program)
{
    prof__html *h = (prof__html *)calloc(1, sizeof *h);
    if (!h) return prof__fail(PROF_NO_MEMORY, "no memory to write the page");
    prof__out_sink(&h->out, sink);
    prof__html_live_head(&h->out);
    prof__html_u(&h->rows, PROF__HTML_VERSION);
    prof__html_u(&h->rows, 1);
    prof__html_text(&h->rows, "");
    prof__html_block1(h, 'H', &h->rows);
    prof__html_about(h, "program", program);
    prof__html_about(h, "complete", "1");
    prof__html_block1(h, 'P', &h->rows);
    prof__html_end(h);
    prof__out_text(&h->out, "</body>\n</html>\n");
    return prof__html_done(h);
}

/* Writes a message as blocks that are not packed. `pairs` is a list of keys and values, up to NULL, which becomes a
   block of the kind L. A trace, if there is one, follows as a report. Before its events comes a block of the kind I,
   with a number for each track by which the page recognises the track in the next period; 0 for tracks of devices. */
static prof_status prof__html_live_message(prof_sink sink, const char *const *pairs, const prof_trace *trace)
{
    const prof_track *track;
    prof__html *h = (prof__html *)calloc(1, sizeof *h);
    if (!h) return prof__fail(PROF_NO_MEMORY, "no memory to write what the live page reads");
    h->plain = 1;
    prof__out_sink(&h->out, sink);
    for (size_t i = 0; pairs[i]; i += 2) prof__html_about(h, pairs[i], pairs[i + 1]);
    prof__html_block1(h, 'L', &h->rows);
    if (trace) {
        prof__html_u(&h->rows, PROF__HTML_VERSION);
        prof__html_u(&h->rows, 1);
        prof__html_text(&h->rows, "");
        prof__html_block1(h, 'H', &h->rows);
        for (size_t i = 0; (track = prof_trace_track(trace, i)) != NULL; ++i) {
            prof__html_u(&h->rows, track->device[0] ? 0 : track->id);
            if (h->rows.size >= PROF__HTML_COLUMN) prof__html_block1(h, 'I', &h->rows);
        }
        prof__html_block1(h, 'I', &h->rows);
        prof__html_trace(h, trace, 0);
        prof__html_end(h);
    }
    return prof__html_done(h);
}

#endif /* PROF__HTML_LIVE_H */
