// html/register: The writer of .html.
#if defined(__GNUC__) || defined(__TINYC__)
static prof_status prof__html_default(const prof_trace *trace, const char *path)
{
    return prof_html_write(trace, path, NULL);
}

static prof_writer prof__html_writer = {".html", prof__html_default, NULL};
static void __attribute__((__constructor__(101))) prof__html_register(void)
{ prof_writer_register(&prof__html_writer); }
#ifdef PROF__SHARED
static void __attribute__((__destructor__(101))) prof__html_unregister(void)
{ prof_writer_unregister(&prof__html_writer); }
#endif
#endif
