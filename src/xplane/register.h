// xplane/register: The writers of log directories and of .pprof.
#ifndef PROF__XPLANE_REGISTER_H
#define PROF__XPLANE_REGISTER_H
#include "api/options.h"
#include "api/types.h"
#include "api/values.h"
#include "api/writers.h"
#include "ground/compiler.h"
#include "xplane/api.h"
#include "xplane/pprof.h"
#include "xplane/session.h"

static prof_status prof__xplane_default(const prof_trace *trace, const char *path)
{
    return prof__xplane_write_all(trace, path, prof__xplane_wished(path));
}

static prof_writer prof__xplane_writer = {"/", NULL, NULL, prof__xplane_default, NULL};
static prof_writer prof__pprof_writer = {".pprof", NULL, NULL, prof_xplane_pprof_write, NULL};
PROF__AT_START(101, prof__xplane_register);
static void prof__xplane_register(void)
{
    prof_writer_register(&prof__xplane_writer);
    prof_writer_register(&prof__pprof_writer);
}
#ifdef PROF__SHARED
PROF__AT_END(101, prof__xplane_unregister);
static void prof__xplane_unregister(void)
{
    prof_writer_unregister(&prof__pprof_writer);
    prof_writer_unregister(&prof__xplane_writer);
}
#endif

#endif /* PROF__XPLANE_REGISTER_H */
