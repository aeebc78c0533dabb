// layouts/write: prof_report_write() and the like: write a report in any of the layouts.
#ifndef PROF__LAYOUTS_WRITE_H
#define PROF__LAYOUTS_WRITE_H
#include "api/options.h"
#include "api/read.h"
#include "api/reports.h"
#include "api/types.h"
#include "api/values.h"
#include "api/writers.h"
#include "ground/errors.h"
#include "ground/numbers.h"
#include "ground/out.h"
#include "report/summary_write.h"
#include "layouts/api.h"
#include "layouts/cntk.h"
#include "layouts/cntk_detail.h"
#include "layouts/domains.h"
#include "layouts/histogram.h"
#include "layouts/json.h"
#include "layouts/mxnet.h"
#include "layouts/rows.h"
#include "layouts/state.h"

/*-- a report --*/

static prof_status prof__report_check(const prof_report_options *options)
{
    size_t i;
    if (!options) return PROF_OK;
    if ((unsigned)options->layout >= PROF_REPORT_LAYOUT_COUNT)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_report: layout %d is not one of prof_report_layout",
                          (int)options->layout);
    if ((unsigned)options->sort > PROF_SORT_NAME)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_report: sort %d is not one of prof_sort", (int)options->sort);
    if (!options->events && options->event_count)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_report: events is null, but event_count is not 0");
    for (i = 0; i < options->event_count; i++)
        if (!options->events[i].label || (unsigned)options->events[i].kind > PROF_REPORT_SEPARATOR)
            return prof__fail(PROF_INVALID_ARGUMENT, "prof_report: events[%lu] has no label or no valid kind",
                              (unsigned long)i);
    return PROF_OK;
}

/* Returns PROF_OK if the trace has what the layout shows. CNTK_DETAIL lists events, and PROF_STATS keeps none. */
static prof_status prof__report_fits(const prof_trace *trace, const prof_report_options *options)
{
    if (!options || options->layout != PROF_REPORT_CNTK_DETAIL || prof_trace_about(trace)->mode != PROF_STATS)
        return PROF_OK;
    return prof__fail(PROF_INVALID_ARGUMENT, "prof_report: CNTK's detail needs events, and mode stats keeps none");
}

static void prof__report_own(prof__report *r)
{
    prof_summary_options options;
    options.sort = r->options.sort;
    options.ascending = r->options.ascending;
    options.top = r->options.top;
    options.by_path = r->options.layout == PROF_REPORT_PATHS;
    options.columns = r->options.columns;
    prof__summary(r->trace, r->out, &options);
}

static prof_status prof__report_put(prof__report *r)
{
    prof_status status;
    switch ((int)r->options.layout) {
    case PROF_REPORT_SUMMARY:
    case PROF_REPORT_PATHS: prof__report_own(r); return PROF_OK;
    case PROF_REPORT_DOMAINS: return prof__report_domains(r);
    case PROF_REPORT_CNTK_DETAIL: return prof__report_detail(r);
    default: break;
    }
    status = prof__report_rows(r);
    if (status != PROF_OK) return status;
    switch ((int)r->options.layout) {
    case PROF_REPORT_MXNET: prof__report_mxnet(r); break;
    case PROF_REPORT_CNTK: prof__report_cntk(r); break;
    case PROF_REPORT_HISTOGRAM: prof__report_histograms(r); break;
    default: prof__report_json(r); break;
    }
    return PROF_OK;
}

/* Writes the report of one trace. options: NULL, or values that were checked. */
static void prof__report_one(const prof_trace *trace, uint64_t pid, prof__out *out, const prof_report_options *options)
{
    prof__report r;
    prof_status status;
    memset(&r, 0, sizeof r);
    r.trace = trace;
    r.pid = pid;
    r.out = out;
    if (options) r.options = *options;
    status = prof__report_put(&r);
    if (status != PROF_OK) prof__out_fail(out, status);
    prof__report_clear(&r);
}

/* Writes the report of one trace, and closes the output. */
static prof_status prof__report_close(const prof_trace *trace, uint64_t pid, prof__out *out,
                                      const prof_report_options *options)
{
    prof__report_one(trace, pid, out, options);
    if (options && options->layout == PROF_REPORT_JSON) PROF__REPORT_LITERAL(out, "\n");
    return prof__out_close(out);
}

PROF_DEF prof_status prof_report_write(const prof_trace *trace, const char *path, const prof_report_options *options)
{
    PROF__CALM();
    prof__out out;
    prof_status status = prof__report_check(options);
    if (!trace) return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_write: trace is null");
    if (status == PROF_OK) status = prof__report_fits(trace, options);
    if (status == PROF_OK) status = prof__out_file(&out, path);
    return status == PROF_OK ? prof__report_close(trace, prof_trace_about(trace)->pid, &out, options) : status;
}

PROF_DEF prof_status prof_report_stream(const prof_trace *trace, prof_sink sink, const prof_report_options *options)
{
    PROF__CALM();
    prof__out out;
    prof_status status = prof__report_check(options);
    if (!trace) return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_stream: trace is null");
    if (status == PROF_OK) status = prof__report_fits(trace, options);
    if (status != PROF_OK) return status;
    prof__out_sink(&out, sink);
    return prof__report_close(trace, prof_trace_about(trace)->pid, &out, options);
}

typedef struct prof__report_buffer {
    char *text;
    size_t size, capacity;
} prof__report_buffer;

static int prof__report_buffer_write(void *user, const void *data, size_t size)
{
    prof__report_buffer *buffer = (prof__report_buffer *)user;
    if (size >= buffer->capacity - buffer->size) {
        size_t wanted = buffer->capacity * 2 + size + 256;
        char *text = wanted > size ? (char *)realloc(buffer->text, wanted) : NULL;
        if (!text) return 1;
        buffer->text = text;
        buffer->capacity = wanted;
    }
    memcpy(buffer->text + buffer->size, data, size);
    buffer->size += size;
    buffer->text[buffer->size] = 0;
    return 0;
}

PROF_DEF prof_status prof_report_text(const prof_trace *trace, const prof_report_options *options, char **text,
                                      size_t *size)
{
    PROF__CALM();
    prof__report_buffer buffer = {NULL, 0, 0};
    prof_sink sink;
    prof_status status;
    if (!text) return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_text: text is null");
    *text = NULL;
    if (size) *size = 0;
    sink.write = prof__report_buffer_write;
    sink.user = &buffer;
    status = prof_report_stream(trace, sink, options);
    if (status == PROF_IO) status = prof__report_no_memory(); /* a sink in memory fails for no other reason */
    if (status == PROF_OK) {
        *text = buffer.text;
        if (size) *size = buffer.size;
    } else {
        free(buffer.text);
    }
    return status;
}

PROF_DEF void prof_report_free(char *text)
{
    free(text);
}

#endif /* PROF__LAYOUTS_WRITE_H */
