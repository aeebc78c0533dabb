// server/windows: The functions on Windows, where they fail.
#ifdef __cplusplus
extern "C" {
#endif
PROF_DEF prof_status prof_server_start(int port, const prof_server_options *options)
{
    (void)port;
    (void)options;
    return prof__fail(PROF_UNSUPPORTED,
                      "prof_server_start: not supported on Windows: use config.save, or prof_save_last()");
}
PROF_DEF prof_status prof_server_stop(void) { return prof__fail(PROF_INVALID_STATE, "no server was started"); }
PROF_DEF int prof_server_port(void) { return 0; }
#ifdef __cplusplus
} /* extern "C" */
#endif
