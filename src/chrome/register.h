// chrome/register: The functions that users call, and the writer of .json.
#ifndef PROF__CHROME_REGISTER_H
#define PROF__CHROME_REGISTER_H
#include "api/options.h"
#include "api/types.h"
#include "api/values.h"
#include "api/writers.h"
#include "ground/compiler.h"
#include "ground/numbers.h"
#include "ground/out.h"
#include "chrome/api.h"
#include "chrome/file.h"
#include "chrome/state.h"

PROF_DEF prof_status prof_chrome_merge(const prof_trace *const *traces, size_t count, const char *path,
                                       const prof_chrome_options *options)
{
    PROF__CALM();
    prof__chrome c;
    prof_status status = prof__chrome_check(&c, options);
    if (!status) status = prof__chrome_parts(&c, traces, count);
    if (status) return status;
    status = prof__out_file(&c.out, path);
    if (!status) {
        prof__chrome_all(&c);
        status = prof__out_close(&c.out);
    }
    free(c.parts);
    return status;
}

PROF_DEF prof_status prof_chrome_merge_stream(const prof_trace *const *traces, size_t count, prof_sink sink,
                                              const prof_chrome_options *options)
{
    PROF__CALM();
    prof__chrome c;
    prof_status status = prof__chrome_check(&c, options);
    if (!status) status = prof__chrome_parts(&c, traces, count);
    if (status) return status;
    prof__out_sink(&c.out, sink);
    if (c.out.status == PROF_OK) prof__chrome_all(&c);
    free(c.parts);
    return prof__out_close(&c.out);
}

PROF_DEF prof_status prof_chrome_write(const prof_trace *trace, const char *path, const prof_chrome_options *options)
{
    PROF__CALM();
    return prof_chrome_merge(&trace, 1, path, options);
}

PROF_DEF prof_status prof_chrome_stream(const prof_trace *trace, prof_sink sink, const prof_chrome_options *options)
{
    PROF__CALM();
    return prof_chrome_merge_stream(&trace, 1, sink, options);
}

static prof_status prof__chrome_default(const prof_trace *trace, const char *path)
{
    return prof_chrome_write(trace, path, NULL);
}

static prof_writer prof__chrome_writer = {".json", NULL, NULL, prof__chrome_default, NULL};
PROF__AT_START(101, prof__chrome_register);
static void prof__chrome_register(void)
{
    prof_writer_register(&prof__chrome_writer);
}
#ifdef PROF__SHARED
PROF__AT_END(101, prof__chrome_unregister);
static void prof__chrome_unregister(void)
{
    prof_writer_unregister(&prof__chrome_writer);
}
#endif

#endif /* PROF__CHROME_REGISTER_H */
