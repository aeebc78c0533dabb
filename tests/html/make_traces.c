/* Records what tests/viewers/make_trace.c records, and writes it as PREFIX.html and PREFIX.csv, and
   twice as PREFIX.twice.html: make_traces KIND PREFIX. */
#define PROF_IMPLEMENTATION
#include "../../prof_chrome.h"
#include "../../prof_html.h"
#include <stdio.h>
#include <string.h>

static prof_status write_page(const prof_trace *trace, const char *path)
{
    char page[1024];
    const prof_trace *twice[2];
    twice[0] = twice[1] = trace;
    snprintf(page, sizeof page, "%.*s.twice.html", (int)(strlen(path) - strlen(".json")), path);
    if (prof_html_merge(twice, 2, page, NULL)) return PROF_IO;
    snprintf(page, sizeof page, "%.*s.html", (int)(strlen(path) - strlen(".json")), path);
    return prof_html_write(trace, page, NULL);
}

#define prof_chrome_write(trace, path, options) write_page(trace, path)
#include "../viewers/make_trace.c"
