// layouts/register: The writers of the layouts that config.layout names.
#ifndef PROF__LAYOUTS_REGISTER_H
#define PROF__LAYOUTS_REGISTER_H
#include "api/options.h"
#include "api/read.h"
#include "api/types.h"
#include "api/values.h"
#include "api/writers.h"
#include "ground/compiler.h"
#include "layouts/api.h"
#include "layouts/cntk_files.h"

/*-- writers for the layouts of config.layout --*/

static prof_status prof__report_as(const prof_trace *trace, const char *path, prof_report_layout layout)
{
    prof_report_options how;
    memset(&how, 0, sizeof how);
    how.layout = layout;
    return prof_report_write(trace, path, &how);
}

static prof_status prof__report_cntk_both(const prof_trace *trace, const char *path)
{
    prof_report_options how;
    memset(&how, 0, sizeof how);
    return prof__report_cntk_files(trace, path, NULL, how, prof_trace_about(trace)->mode != PROF_STATS);
}

#define PROF__REPORT_LAYOUTS(X)                                                                                    \
    X(PATHS, "paths") X(DOMAINS, "domains") X(HISTOGRAM, "histogram") X(JSON, "json") X(MXNET, "mxnet")            \
    X(CNTK, "cntk") X(CNTK_DETAIL, "cntk-detail")
#define PROF__REPORT_WRITE(layout, name)                                               \
    static prof_status prof__report_as_##layout(const prof_trace *trace, const char *path) \
    {                                                                                  \
        return prof__report_as(trace, path, PROF_REPORT_##layout);                     \
    }
PROF__REPORT_LAYOUTS(PROF__REPORT_WRITE)
#define PROF__REPORT_WRITER(layout, name) {"layout:" name, NULL, NULL, prof__report_as_##layout, NULL},
static prof_writer prof__report_writers[] = {
    PROF__REPORT_LAYOUTS(PROF__REPORT_WRITER){"layout:cntk/", NULL, NULL, prof__report_cntk_both, NULL}};

PROF__AT_START(101, prof__report_register);
static void prof__report_register(void)
{
    size_t i = sizeof prof__report_writers / sizeof *prof__report_writers;
    while (i--) prof_writer_register(&prof__report_writers[i]); /* registering puts each before the others */
}
#ifdef PROF__SHARED
PROF__AT_END(101, prof__report_unregister);
static void prof__report_unregister(void)
{
    size_t i = sizeof prof__report_writers / sizeof *prof__report_writers;
    while (i--) prof_writer_unregister(&prof__report_writers[i]);
}
#endif

#endif /* PROF__LAYOUTS_REGISTER_H */
