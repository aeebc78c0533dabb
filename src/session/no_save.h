// session/no_save: PROF_NO_SAVE: replaces copies of the image, and prof_save().
#ifndef PROF__SESSION_NO_SAVE_H
#define PROF__SESSION_NO_SAVE_H
#include "api/control.h"
#include "ground/errors.h"

struct prof__look;
static void prof__look_take(struct prof__look *look) { (void)look; }
PROF_DEF prof_status prof_save(const char *path)
{
    (void)path;
    return prof__left_out("prof_save", "PROF_NO_SAVE");
}

#endif /* PROF__SESSION_NO_SAVE_H */
