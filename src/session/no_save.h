// session/no_save: PROF_NO_SAVE: replaces copies of the image, and prof_save().
struct prof__look;
static void prof__look_take(struct prof__look *look) { (void)look; }
PROF_DEF prof_status prof_save(const char *path)
{
    (void)path;
    return prof__left_out("prof_save", "PROF_NO_SAVE");
}
