// session/no_save: PROF_NO_SAVE: what stands in the place of a copy of the image.
PROF_DEF prof_status prof_save(const char *path)
{
    (void)path;
    return prof__left_out("prof_save", "PROF_NO_SAVE");
}
