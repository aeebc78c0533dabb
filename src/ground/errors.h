// ground/errors: The last failure of each thread, and texts of status codes.
/*-- ERRORS ---------------------------------------------------------------------------------------------- >>errors --*/

#ifdef PROF_FREESTANDING
static char prof__error_text[PROF__ERROR_SIZE];
#define PROF__ERROR_TEXT() prof__error_text
#elif defined(PROF__SHARED)
static PROF__RARE char *prof__error_here(void)
{
    PROF__LED(prof__error_here, ());
    return PROF__SELF()->error_text;
}
#define PROF__ERROR_TEXT() prof__error_here()
#else
static __thread char prof__error_text[PROF__ERROR_SIZE];
static PROF__RARE char *prof__error_here(void) { return prof__error_text; }
#define PROF__ERROR_TEXT() prof__error_here()
#endif

static prof_status prof__fail(prof_status status, const char *format, ...) PROF__PRINTF(2, 3);
static PROF__RARE prof_status prof__fail(prof_status status, const char *format, ...)
{
#ifdef PROF_FREESTANDING
    size_t n = prof__length(format);
    if (n > PROF__ERROR_SIZE - 1) n = PROF__ERROR_SIZE - 1;
    prof__copy(prof__error_text, format, n); /* without a printf the text keeps its place holders */
    prof__error_text[n] = 0;
#else
    va_list list;
    va_start(list, format);
    vsnprintf(PROF__ERROR_TEXT(), PROF__ERROR_SIZE, format, list);
    va_end(list);
#endif
    return status;
}

/* Called for something that a switch of >>options has left out. what: what was asked for; by: the switch. */
static PROF__UNUSED PROF__COLD prof_status prof__left_out(const char *what, const char *by)
{
    return prof__fail(PROF_UNSUPPORTED, "%s: %s has left it out of this program", what, by);
}

PROF_DEF const char *prof_error(void) { return PROF__ERROR_TEXT(); }

PROF_DEF const char *prof_status_text(prof_status status)
{
    static const char *const texts[PROF_STATUS_COUNT] = {
        "ok",
        "compiled without profiling (PROF_ENABLE=0)",
        "invalid argument",
        "not possible in this state",
        "not supported on this platform or in this build",
        "out of memory",
        "input or output failed",
        "not a valid prof image",
    };
    return (unsigned)status < PROF_STATUS_COUNT ? texts[status] : "unknown status";
}
