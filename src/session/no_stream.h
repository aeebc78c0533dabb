// session/no_stream: What stands in the place of PROF_STREAM where there is none.
/*-- NO STREAM ------------------------------------------------------------------------------------------------------*/

static prof_status prof__stream_open(prof__session *s)
{
    (void)s;
    return prof__left_out("mode stream", "PROF_NO_STREAM");
}
static PROF__UNUSED PROF__RARE int prof__stream_step(prof__session *s)
{
    (void)s;
    return 0;
}
