// session/write: Finds the writer for an output's extension or layout, checks an output at the start, and creates its
// directories.
#ifndef PROF__SESSION_WRITE_H
#define PROF__SESSION_WRITE_H
#include "api/writers.h"
#include "ground/errors.h"
#include "ground/out.h"
#include "ground/windows.h"
#include "record/locks.h"
#include "record/state.h"
#include "session/hooks.h"
#include "session/names.h"
#include "session/process.h"

/* Returns the layout of a writer that prof_report.h has registered as "layout:NAME", or as "layout:NAME/" if it writes
   a directory. Returns NULL for other writers. */
static const char *prof__writer_layout(const prof_writer *writer)
{
    static const char prefix[] = "layout:";
    const char *name = writer->extension;
    for (size_t i = 0; prefix[i]; ++i, ++name)
        if (*name != prefix[i]) return NULL;
    return name;
}

/* Finds the writer of a layout, for a file or for a directory. */
static prof_status prof__layout_find(const char *layout, const char *path, const prof_writer **writer)
{
    char known[160] = "", wanted[32];
    int folder = prof__is_folder(path), exists = 0;
    prof__text_copy(wanted, sizeof wanted - 1, layout);
    if (folder) prof__text_add(wanted, sizeof wanted, "/");
    *writer = NULL;
    for (prof_writer *w = PROF__ACQUIRE(&prof__writers); w; w = w->private_next) {
        const char *name = prof__writer_layout(w);
        if (!name) continue;
        if (prof__equal(name, wanted)) *writer = w;
        exists |= prof__equal(name, layout);
        if (!*name || name[prof__length(name) - 1] == '/') continue;
        if (known[0]) prof__text_add(known, sizeof known, ", ");
        prof__text_add(known, sizeof known, name);
    }
    if (!*writer && !known[0])
        return prof__fail(PROF_INVALID_ARGUMENT, "layout '%.20s': no reports in this program: include prof_report.h in "
                          "the file with PROF_IMPLEMENTATION", layout);
    if (!*writer && !exists)
        return prof__fail(PROF_INVALID_ARGUMENT, "unknown layout '%.20s': use %s", layout, known);
    if (!*writer)
        return prof__fail(PROF_INVALID_ARGUMENT, "layout '%.20s': is one file, but %s is a directory", layout,
                          prof__path_end(path));
    if (!folder && prof__equal(prof__extension(path), ".prof"))
        return prof__fail(PROF_INVALID_ARGUMENT, "layout '%.20s': %s is the recording itself: give the report another "
                          "extension", layout, prof__path_end(path));
    return PROF_OK;
}

/* Returns the header that has the writer of an extension, of a directory's "/", too, or NULL. */
static const char *prof__writer_header(const char *extension)
{
    if (prof__equal(extension, ".json")) return "prof_chrome.h";
    if (prof__equal(extension, ".html")) return "prof_html.h";
    if (prof__equal(extension, "/")) return "prof_xplane.h";
    return prof__equal(extension, ".csv") || prof__equal(extension, ".txt") ? "prof_read.h" : NULL;
}

/* Copies a path's extension in lower case; a directory's is "/". Returns it as it is in the path. */
static const char *prof__extension_lower(const char *path, char *to, size_t size)
{
    const char *given = prof__is_folder(path) ? "/" : prof__extension(path);
    size_t length = 0;
    for (; given[length] && length + 1 < size; ++length)
        to[length] = (char)(given[length] >= 'A' && given[length] <= 'Z' ? given[length] + 32 : given[length]);
    to[length] = 0;
    return given;
}

/* Finds the writer for a path's extension; a directory's is "/". Sets *writer to NULL for the image itself (.prof). */
static prof_status prof__writer_find(const char *path, const prof_writer **writer)
{
    char known[128], extension[16];
    const char *given = prof__extension_lower(path, extension, sizeof extension);
    size_t n = (size_t)snprintf(known, sizeof known, ".prof%s", prof__reader()->csv ? " .csv .txt" : "");
    *writer = NULL;
    if (prof__equal(extension, ".prof")) return PROF_OK;
    if (prof__equal(extension, ".csv")) *writer = prof__reader()->csv;
    if (prof__equal(extension, ".txt")) *writer = prof__reader()->summary;
    for (prof_writer *w = PROF__ACQUIRE(&prof__writers); w; w = w->private_next) {
        if (prof__equal(extension, w->extension) || prof__equal(given, w->extension)) *writer = w;
        if (n < sizeof known && !prof__writer_layout(w))
            n += (size_t)snprintf(known + n, sizeof known - n, " %s", w->extension);
    }
    if (*writer) return PROF_OK;
    const char *header = prof__writer_header(extension);
    if (header)
        return prof__fail(*extension == '/' ? PROF_IO : PROF_INVALID_ARGUMENT,
                          "%s: no writer for %s in this program: include %s in the file with PROF_IMPLEMENTATION, or "
                          "convert a .prof by `prof export`",
                          prof__path_end(path), *extension == '/' ? "a directory" : extension, header);
    if (!*extension)
        return prof__fail(PROF_INVALID_ARGUMENT, "%s: has no extension: add one of %s, or / for a directory",
                          prof__path_end(path), known);
    return prof__fail(PROF_INVALID_ARGUMENT, "%s: no writer for '%.40s' in this program: use %s",
                      prof__path_end(path), given, known);
}

/* Returns 1 if another header of prof would write this output, and this program does not include it. */
static int prof__writer_lacks(const char *path)
{
    char extension[16];
    const prof_writer *writer;
    prof__extension_lower(path, extension, sizeof extension);
    return prof__writer_header(extension) && prof__writer_find(path, &writer) != PROF_OK;
}

/* Refuses an output that needs events if the session keeps none. writer: the path's writer; NULL for .prof. */
static prof_status prof__writer_fits(const char *path, const prof_writer *writer, uint32_t mode)
{
    const char *layout = writer ? prof__writer_layout(writer) : NULL;
    if (mode != PROF_STATS || writer == prof__reader()->summary) return PROF_OK;
    if (layout && !prof__equal(layout, "cntk-detail")) return PROF_OK;
    return prof__fail(PROF_INVALID_ARGUMENT,
                      "%s: mode stats keeps statistics and no events: write a .txt, or use mode ring or stream", path);
}

/* Returns the mode of the current session. */
static uint32_t prof__live_mode(void)
{
    uint32_t write_lock = prof__state_lock();
    uint32_t mode = prof__state.session ? prof__state.session->header->mode : (uint32_t)PROF_RING;
    prof__state_unlock(write_lock);
    return mode;
}

/* Finds the writer for a path's extension, and refuses one that needs events in a mode without events. Sets *writer to
   NULL for the image itself (.prof). */
static prof_status prof__writer_for(const char *path, uint32_t mode, const prof_writer **writer)
{
    prof_status status = prof__writer_find(path, writer);
    return status ? status : prof__writer_fits(path, *writer, mode);
}

/* Checks the output and creates its directories. Called at the start, so that errors appear then and not at the end. */
static prof_status prof__output_check(const char *path)
{
    const char *target = path;
    char folder[2048];
#ifndef _WIN32
    prof__path followed;
    int way = prof__path_follow(&followed, path);
    if (way == PROF__PATH_PLANTED) return prof__path_refuse(&followed, path);
    if (way == PROF__PATH_LINK) target = followed.done;
#endif
#ifndef _WIN32
    if (path[0] != '/' && !getcwd(folder, sizeof folder) && errno == ENOENT)
        return prof__fail(PROF_IO, "%s: the working directory was removed: give a whole path", path);
#endif
    if (prof__is_folder(path)) return prof__folder_make(path);
    if (!prof__folder_of(target, folder, sizeof folder))
        return prof__fail(PROF_INVALID_ARGUMENT, "path too long: %.80s...", path);
#ifndef _WIN32
    prof__about about;
    if (!prof__stat(path, &about) && !S_ISREG(about.st_mode))
        return access(path, W_OK) ? prof__fail(PROF_IO, "%s: %s", path, strerror(errno)) : PROF_OK;
#endif
    prof_status status = prof__folder_make(folder);
#ifndef _WIN32
    if (!status) status = prof__name_check(target);
#endif
    if (status) return status;
#ifndef _WIN32
    if (access(folder, W_OK | X_OK))
        return prof__fail(PROF_IO, "%s: cannot write to the directory %s: %s", path, folder, strerror(errno));
#endif
    return PROF_OK;
}

/* Follows a symbolic link: the image gets the name of the file that the link leads to, so that the link itself
   stays. */
static prof_status prof__output_follow(prof__session *s)
{
#ifndef _WIN32
    prof__path followed;
    if (prof__path_follow(&followed, s->file.output) != PROF__PATH_LINK || !prof__file_replaceable(followed.done))
        return PROF_OK;
    if (strlen(followed.done) >= sizeof s->file.output)
        return prof__fail(PROF_INVALID_ARGUMENT, "%.80s: this link leads to a path that is too long", s->file.output);
    prof__text_copy(s->file.output, sizeof s->file.output, followed.done);
#else
    (void)s;
#endif
    return PROF_OK;
}

/* Makes a pattern absolute, because the program may change its working directory before anything is written. The
   pattern stays relative if the working directory has no name, or if both together are too long. Returns 0 if the
   pattern alone is too long. */
static int prof__pattern_absolute(const char *pattern, char *to, size_t size)
{
    size_t at = 0;
    char folder[1024];
#ifdef _WIN32
    WCHAR wide[PROF__WIDE_SIZE];
    DWORD n = GetCurrentDirectoryW(PROF__WIDE_SIZE, wide);
    int known = !prof__is_slash(pattern[0]) && !(pattern[0] && pattern[1] == ':') && n && n < PROF__WIDE_SIZE &&
                prof__narrow(wide, folder, sizeof folder);
#else
    int known = pattern[0] != '/' && getcwd(folder, sizeof folder) && folder[0] == '/';
#endif
    if (known) {
        for (const char *c = folder; *c && at + 3 < size; ++c) {
            if (*c == '%') to[at++] = '%';
            to[at++] = *c;
        }
        if (to[at - 1] != '/') to[at++] = '/';
    }
    if (at + prof__length(pattern) >= size) at = 0;
    prof__text_copy(to + at, size - at, pattern);
    return prof__length(pattern) < size;
}

#endif /* PROF__SESSION_WRITE_H */
