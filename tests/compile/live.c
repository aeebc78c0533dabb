/* live.c - the live file of a program whose markup.c is stripped: see stripped.sh. */
#include "markup.h"

int markup_live(int value)
{
    PROFILE_SCOPE("live");
    return markup_header(markup_all(value)) + 1;
}
