/* The second file of a plugin that has a recorder for itself: markup alone. */
#include "../prof.h"

void plugin_more(int i);

void plugin_more(int i)
{
    PROFILE_SCOPE("more");
    PROFILE_ARG_I("i", i);
}
