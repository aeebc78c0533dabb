// session/no_text: PROF_NO_TEXT: replaces the modules that read a configuration from text or from the environment.
#ifndef PROF__SESSION_NO_TEXT_H
#define PROF__SESSION_NO_TEXT_H
#include "api/control.h"
#include "ground/errors.h"

/*-- NO CONFIGURATION FROM TEXT -------------------------------------------------------------------------------------*/

PROF_DEF prof_status prof_config_claim(const char *prefix,
                                       prof_status (*claim)(void *user, const char *key, const char *value), void *user)
{
    (void)prefix, (void)claim, (void)user;
    return prof__left_out("prof_config_claim", "PROF_NO_TEXT");
}
PROF_DEF prof_status prof_config_set(prof_config *config, const char *key, const char *value)
{
    (void)config, (void)key, (void)value;
    return prof__left_out("prof_config_set", "PROF_NO_TEXT");
}
static int prof__layout_alone(const char *layout) { return (void)layout, 0; }
PROF_DEF int prof_config_describe(size_t index, prof_option *option) { return (void)index, (void)option, 0; }
PROF_DEF prof_status prof_config_from_env(prof_config *config)
{
    (void)config;
    return prof__left_out("prof_config_from_env", "PROF_NO_TEXT");
}

#endif /* PROF__SESSION_NO_TEXT_H */
