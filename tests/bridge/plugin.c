/* A library whose only difference to others made of this file is PLUGIN_NAME. */
#include "prof.h"

void plugin_work(void);
void plugin_work(void)
{
    PROFILE_SCOPE(PLUGIN_NAME);
    PROFILE_MARK(PLUGIN_NAME);
}
