// html/register: The writer of .html.
#ifndef PROF__HTML_REGISTER_H
#define PROF__HTML_REGISTER_H
#include "api/values.h"
#include "api/writers.h"
#include "html/api.h"

static prof_status prof__html_default(const prof_trace *trace, const char *path)
{
    return prof_html_write(trace, path, NULL);
}

static prof_writer prof__html_writer = {".html", NULL, NULL, prof__html_default, NULL};
PROF__AT_START(101, prof__html_register);
static void prof__html_register(void) { prof_writer_register(&prof__html_writer); }
#ifdef PROF__SHARED
PROF__AT_END(101, prof__html_unregister);
static void prof__html_unregister(void) { prof_writer_unregister(&prof__html_writer); }
#endif

#endif /* PROF__HTML_REGISTER_H */
