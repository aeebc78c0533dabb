/* control.c - the control calls of a program that is compiled without profiling: each is a constant, evaluates nothing,
   and links without an implementation. stripped.sh builds it as C and as C++, and runs it. */
#include "prof.h"

#include <stdio.h>

static int evaluated;
static const char *touch(const char *text)
{
    ++evaluated;
    return text;
}

int main(void)
{
    prof_config config = {0, 0, PROF_RING, PROF_CLOCK_AUTO, 0, 0, 0, 0, 0, 0};
    int failures = 0;
    int level = 3;
    config.output = "never-written.json";
    failures += prof_start(&config) != PROF_DISABLED;
    failures += prof_start(NULL) != PROF_DISABLED;
    failures += prof_pause() != PROF_DISABLED;
    failures += prof_resume() != PROF_DISABLED;
    failures += prof_enabled() != 0;
    failures += prof_set_level(level) != PROF_DISABLED;
    failures += prof_category_enable(touch("net"), 1) != PROF_DISABLED;
    failures += prof_config_set(&config, "output", touch("other.json")) != PROF_DISABLED;
    failures += prof_save(touch("never-written.json")) != PROF_DISABLED;
    failures += prof_stop() != PROF_DISABLED;
    failures += prof_reset() != PROF_DISABLED;
    failures += prof_status_text(PROF_IO)[0] != 0;
    failures += prof_error()[0] != 0;
    if (prof_start(&config)) ++evaluated; /* as a program does that handles the error */
    prof_thread_name(touch("name"));
    prof_stop();
    (void)prof_start(&config);
    PROFILE_THREAD(touch("name"));
    PROFILE_MARK_S(touch("mark"));
    PROFILE_ARG_S("key", touch("value"));
    failures += evaluated != 1;
    printf("%d\n", failures);
    return failures != 0;
}
