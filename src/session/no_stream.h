// session/no_stream: PROF_NO_STREAM: replaces session/stream.
#ifndef PROF__SESSION_NO_STREAM_H
#define PROF__SESSION_NO_STREAM_H
#include "ground/errors.h"
#include "record/state.h"

/*-- NO STREAM ------------------------------------------------------------------------------------------------------*/

static prof_status prof__stream_open(prof__session *s)
{
    (void)s;
    return prof__left_out("mode stream", "PROF_NO_STREAM");
}
static int prof__stream_step(prof__session *s)
{
    (void)s;
    return 0;
}
static prof_status prof__stream_told(const char *written)
{
    (void)written;
    return PROF_OK;
}

#endif /* PROF__SESSION_NO_STREAM_H */
