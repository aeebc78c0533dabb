// xplane/perfetto: Writes perfetto_trace.json.gz.
#ifndef PROF__XPLANE_PERFETTO_H
#define PROF__XPLANE_PERFETTO_H
#include "api/reports.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/errors.h"
#include "ground/out.h"
#include "ground/windows.h"
#include "session/names.h"
#include "xplane/gzip.h"

/*-- perfetto_trace.json.gz --*/

/* Compresses a file. */
static prof_status prof__gzip_file(const char *from, const char *to)
{
    FILE *file = prof__file_open(from, "rb");
    prof__gzip *z = (prof__gzip *)calloc(1, sizeof *z);
    prof__out out;
    prof_status status = PROF_OK;
    if (!file)
        status = prof__fail(PROF_IO, "cannot read %s: %s", from, strerror(errno));
    else if (!z)
        status = prof__fail(PROF_NO_MEMORY, "no memory to compress %s", from);
    if (!status) status = prof__out_file(&out, to);
    if (!status) {
        unsigned char bytes[4096];
        size_t size;
        prof__gzip_begin(z, &out);
        while ((size = fread(bytes, 1, sizeof bytes, file)) > 0) prof__gzip_add(z, bytes, size);
        prof__gzip_end(z);
        if (ferror(file)) prof__out_fail(&out, prof__fail(PROF_IO, "cannot read %s: %s", from, strerror(errno)));
        status = prof__out_close(&out);
    }
    if (file) fclose(file);
    free(z);
    return status;
}

/* Writes perfetto_trace.json.gz into the directory of HOST.xplane.pb, whose path is `where`. If another host of the run
   has that file, the name is HOST.perfetto_trace.json.gz. link: 1: writes to stderr how to open it. */
static prof_status prof__xplane_perfetto(const prof_trace *trace, const char *where, int link)
{
    char path[1700], json[1720];
    prof_status status;
    int error;
    size_t host = strlen(where) - strlen(".xplane.pb"), folder = host;
    while (folder && !prof__is_slash(where[folder - 1])) folder--;
    snprintf(path, sizeof path, "%.*sperfetto_trace.json.gz", (int)folder, where);
    error = prof__path_claim(path);
    if (error == EEXIST) {
        snprintf(path, sizeof path, "%.*s.perfetto_trace.json.gz", (int)host, where);
        error = prof__path_claim(path);
    }
    if (error) return prof__fail(PROF_IO, "cannot create %s: %s", path, strerror(error));
    snprintf(json, sizeof json, "%s.part.json", path);
    status = prof_trace_write(trace, json, ".json");
    if (!status) status = prof__gzip_file(json, path);
    remove(json);
    if (status)
        remove(path);
    else if (link)
        fprintf(stderr, "prof: to see the trace, open https://ui.perfetto.dev and drop %s on the page\n", path);
    return status;
}

#endif /* PROF__XPLANE_PERFETTO_H */
