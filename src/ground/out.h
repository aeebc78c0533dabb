// ground/out: A buffered writer of files and sinks: text, numbers, sticky errors. One thread at a time.
#ifndef PROF__GROUND_OUT_H
#define PROF__GROUND_OUT_H
#include "api/reports.h"
#include "ground/digits.h"
#include "ground/errors.h"
#include "ground/signals.h"
#include "ground/threads.h"
#include "ground/windows.h"

#ifndef PROF_FREESTANDING
/*-- OUTPUT -------------------------------------------------------------------------------------------------- >>out --
   A buffered writer for every report and exporter. Errors are sticky: after the first one everything is accepted and
   discarded, and prof__out_close() returns the error. A file is written under a temporary name
   ("<path>.<process>-<n>.part", where a long name is cut) and renamed when it is complete; of a symbolic link, the file
   that it leads to is replaced. What is not a regular file (a fifo, a device) is written directly. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#else
#include <sys/stat.h>
#endif

#define PROF__OUT_SIZE ((size_t)65536)
#define PROF__OUT_RESERVE ((size_t)4096) /* the maximum for prof__out_reserve() */

typedef struct prof__out {
    char *cursor, *limit; /* the free part of the buffer */
    char *buffer;         /* PROF__OUT_SIZE bytes on the heap or, without memory, reserve */
    prof_sink sink;       /* write is NULL for files */
    FILE *file;
    char *path, *part; /* owned; part is NULL when the file is written directly */
    char *target;      /* owned: if path is a link, the file that it leads to, else NULL */
    int restore;       /* Windows: the mode that standard output had */
    size_t flushes;    /* so far */
    uint64_t hole;     /* zero bytes of a new file before what is delivered next */
    prof_status status;
    char reserve[PROF__OUT_RESERVE];
} prof__out;

static char *prof__text_join(const char *a, const char *b)
{
    size_t na = strlen(a), nb = strlen(b);
    char *text = (char *)malloc(na + nb + 1);
    if (text) {
        memcpy(text, a, na);
        memcpy(text + na, b, nb + 1);
    }
    return text;
}

static void prof__out_init(prof__out *out)
{
    memset(out, 0, sizeof *out - sizeof out->reserve);
    out->buffer = (char *)malloc(PROF__OUT_SIZE);
    out->cursor = out->buffer ? out->buffer : out->reserve;
    out->limit = out->cursor + (out->buffer ? PROF__OUT_SIZE : sizeof out->reserve);
    if (!out->buffer) out->buffer = out->reserve;
}

/* Makes the whole output fail; the first status counts. For callers that cannot go on. */
static void prof__out_fail(prof__out *out, prof_status status)
{
    if (out->status == PROF_OK) out->status = status;
}

/* Seeks over the hole. Returns 0 if that fails. */
static int prof__out_skip(prof__out *out)
{
    int failed = out->hole ? prof__file_seek(out->file, out->hole, SEEK_CUR) : 0;
    if (!failed) out->hole = 0;
    return !failed;
}

static void prof__out_deliver(prof__out *out, const char *data, size_t size)
{
    if (!size || out->status != PROF_OK) return;
    if (out->sink.write) {
        if (out->sink.write(out->sink.user, data, size))
            out->status = prof__fail(PROF_IO, "the sink refused %lu bytes", (unsigned long)size);
    } else if (out->file) {
        prof__file_signal signal;
        size_t done = 0, before;
        int tries = 0;
        prof__file_signal_hold_for(&signal, out->file == stdout);
        int moved = prof__out_skip(out);
        if (moved) do {
            errno = 0;
            before = done;
            done += fwrite(data + done, 1, size - done, out->file);
            if (done > before) tries = 0;
        } while (done < size && prof__interrupted(&tries));
        if (done < size)
            out->status = prof__cannot("write", out->part ? out->part : out->path, "write error");
        prof__file_signal_drop(&signal);
    }
}

static void prof__out_flush(prof__out *out)
{
    size_t used = (size_t)(out->cursor - out->buffer);
    out->cursor = out->buffer;
    out->flushes++;
    prof__out_deliver(out, out->buffer, used);
}

/* Returns space for size bytes, at most PROF__OUT_RESERVE; never fails. What is written there counts after the
   commit. */
static char *prof__out_reserve(prof__out *out, size_t size)
{
    if (size > (size_t)(out->limit - out->cursor)) prof__out_flush(out);
    return out->cursor;
}

static void prof__out_commit(prof__out *out, size_t size)
{
    out->cursor += size;
}

static void prof__out_bytes(prof__out *out, const void *data, size_t size)
{
    if (size > (size_t)(out->limit - out->cursor)) {
        prof__out_flush(out);
        if (size > (size_t)(out->limit - out->cursor)) {
            prof__out_deliver(out, (const char *)data, size);
            return;
        }
    }
    if (!size) return;
    memcpy(out->cursor, data, size);
    out->cursor += size;
}

/* Writes zeros: in a file that is new a hole, which takes nothing of the disk. */
static void prof__out_zeros(prof__out *out, uint64_t size)
{
    if (out->part && size > PROF__OUT_RESERVE) {
        prof__out_flush(out);
        out->hole += size - 1; /* the last byte gives the file its length */
        size = 1;
    }
    while (size) {
        size_t part = size < PROF__OUT_RESERVE ? (size_t)size : PROF__OUT_RESERVE;
        memset(prof__out_reserve(out, part), 0, part);
        prof__out_commit(out, part);
        size -= part;
    }
}

static void prof__out_text(prof__out *out, const char *text)
{
    prof__out_bytes(out, text, strlen(text));
}

static void prof__out_unsigned(prof__out *out, uint64_t value)
{
    prof__out_commit(out, prof__digits(prof__out_reserve(out, 20), value));
}

static void prof__out_signed(prof__out *out, int64_t value)
{
    char *to = prof__out_reserve(out, 21);
    if (value < 0) {
        *to = '-';
        prof__out_commit(out, 1 + prof__digits(to + 1, 0 - (uint64_t)value));
    } else {
        prof__out_commit(out, prof__digits(to, (uint64_t)value));
    }
}

static void prof__out_double(prof__out *out, double value)
{
    prof__out_commit(out, prof__double_text(prof__out_reserve(out, 32), value));
}

static void prof__out_sink(prof__out *out, prof_sink sink)
{
    prof__out_init(out);
    out->sink = sink;
    if (!sink.write) out->status = prof__fail(PROF_INVALID_ARGUMENT, "sink.write is null");
}

static int prof__is_slash(char c)
{
#ifdef _WIN32
    return c == '/' || c == '\\';
#else
    return c == '/';
#endif
}

#define PROF__NAME_MOST ((size_t)255)  /* bytes of a file's name, on nearly all disks */
#define PROF__NAME_SHORT ((size_t)143) /* the same on encrypted ones: for files that do not stay */

/* Writes the first `base` bytes of path, and an ending. A file's name that would have more than `most` bytes is cut
   before the ending, where a hash tells it from others, but not with PROF_MINIMAL. Returns 0 if `to` is too small.
   Async-signal-safe. */
static int prof__path_ending(const char *path, size_t base, const char *ending, size_t most, char *to, size_t size)
{
    size_t end = prof__length(ending), hashed = 0;
#ifdef PROF_MINIMAL
    (void)most;
#else
    size_t name = base;
    uint32_t hash = 0;
    while (name && !prof__is_slash(path[name - 1])) --name;
    if (base - name + end > most && end + 9 < most) {
        hash = prof__hash(path + name, base - name);
        base = name + most - end - 9;
        while (base > name && ((unsigned char)path[base] & 0xC0) == 0x80) --base;
        hashed = 9;
    }
#endif
    if (base + hashed + end >= size) return 0;
    prof__copy(to, path, base);
#ifndef PROF_MINIMAL
    for (size_t i = 0; i < hashed; ++i) to[base + i] = i ? "0123456789abcdef"[hash >> (4 * (8 - i)) & 15] : '~';
#endif
    prof__copy(to + base + hashed, ending, end + 1);
    return 1;
}

/* Returns 1 if path does not exist or is a regular file, so that a new file can replace it. Does not follow links. */
static int prof__file_replaceable(const char *path)
{
#ifdef _WIN32
    static const char *const devices[] = {"nul", "con", "prn", "aux", "conout$"};
    size_t i, n;
    if (!strncmp(path, "\\\\.\\", 4)) return 0;
    for (i = 0; i < sizeof devices / sizeof *devices; i++) {
        for (n = 0; devices[i][n] && (path[n] | 32) == (devices[i][n] | 32); n++) continue;
        if (!devices[i][n] && (!path[n] || path[n] == ':')) return 0;
    }
    return 1;
#else
    prof__about about;
    return prof__lstat(path, &about) != 0 || S_ISREG(about.st_mode);
#endif
}

#ifndef _WIN32
#define PROF__PATH_SIZE ((size_t)2048)
#define PROF__PATH_LINKS 40 /* for one path, as in the kernel */
#define PROF__PATH_STICKY 01000

enum {
    PROF__PATH_PLAIN,   /* no link: the path itself */
    PROF__PATH_LINK,    /* it is a link: done is the file that it leads to, which need not exist */
    PROF__PATH_DIRECT,  /* it leads to an open file of a process, like /dev/stdout: the path itself, unchanged */
    PROF__PATH_PLANTED, /* done is a link or a fifo that somebody else may have put there */
    PROF__PATH_UNKNOWN  /* too long, or links in a circle */
};

/* The state of following a path, link by link. */
typedef struct prof__path {
    char done[PROF__PATH_SIZE], rest[PROF__PATH_SIZE], link[PROF__PATH_SIZE]; /* the part without links */
} prof__path;

/* Returns 1 for a file of a user who is neither this user nor the folder's owner, in a folder like /tmp, where
   everybody may create files and only their owners may remove them. This is the kernel's rule for
   fs.protected_symlinks. */
static int prof__path_planted(const char *folder, const prof__about *thing)
{
#ifdef __wasi__ /* it has no users */
    (void)folder, (void)thing;
    return 0;
#else
    prof__about about;
    return thing->st_uid != geteuid() && !prof__stat(*folder ? folder : ".", &about) &&
           about.st_mode & PROF__PATH_STICKY && about.st_mode & S_IWOTH && thing->st_uid != about.st_uid;
#endif
}

/* Follows the link at p->done. folder: the length of p->done up to the link's name. Returns 0 if the path becomes too
   long. */
static int prof__path_link(prof__path *p, size_t folder)
{
    ssize_t n = readlink(p->done, p->link, sizeof p->link - 1);
    size_t rest = strlen(p->rest);
    if (n <= 0 || (size_t)n + 1 + rest >= sizeof p->rest) return 0;
    memmove(p->rest + n, p->rest, rest + 1); /* it is empty, or begins with a slash */
    memcpy(p->rest, p->link, (size_t)n);
    p->done[p->link[0] == '/' ? 0 : folder] = 0;
    return 1;
}

/* Follows all links of a path. Async-signal-safe. */
static int prof__path_follow(prof__path *p, const char *path)
{
    prof__about about;
    int result = !prof__lstat(path, &about) && S_ISLNK(about.st_mode) ? PROF__PATH_LINK : PROF__PATH_PLAIN, links = 0;
    if (strlen(path) >= sizeof p->rest) return PROF__PATH_UNKNOWN;
    strcpy(p->rest, path);
    p->done[0] = 0;
    while (p->rest[0]) {
        size_t folder = strlen(p->done), slashes = strspn(p->rest, "/"), name = strcspn(p->rest + slashes, "/"), slash;
        slash = slashes && (!folder || p->done[folder - 1] != '/');
        if (folder + slash + name >= sizeof p->done) return PROF__PATH_UNKNOWN;
        if (slash) p->done[folder++] = '/';
        memcpy(p->done + folder, p->rest + slashes, name);
        p->done[folder + name] = 0;
        memmove(p->rest, p->rest + slashes + name, strlen(p->rest + slashes + name) + 1);
        if (!name || prof__lstat(p->done, &about) || !(S_ISLNK(about.st_mode) || S_ISFIFO(about.st_mode))) continue;
        strcpy(p->link, p->done);
        p->link[folder] = 0;
        if (prof__path_planted(p->link, &about)) return PROF__PATH_PLANTED;
        if (S_ISFIFO(about.st_mode)) continue;
        if (!strncmp(p->done, "/proc/", 6)) return result == PROF__PATH_LINK ? PROF__PATH_DIRECT : result;
        if (++links > PROF__PATH_LINKS || !prof__path_link(p, folder)) return PROF__PATH_UNKNOWN;
    }
    return result;
}

static prof_status prof__path_refuse(const prof__path *p, const char *path)
{
    size_t length = strlen(p->done);
    return prof__fail(PROF_IO, "%.80s: %s is another user's, in a folder where anyone may create files: remove it, or "
                      "write elsewhere", path, p->done + (length > 80 ? length - 80 : 0));
}

/* Opens a device or a fifo, which may have no reader. */
static FILE *prof__file_direct(const char *path, int follow)
{
    prof__about about;
    int file = open(path, O_WRONLY | O_TRUNC | O_NONBLOCK | O_NOCTTY | PROF__O_FILE | (follow ? 0 : O_NOFOLLOW)), flags;
    FILE *stream;
    if (file < 0 && errno == ENXIO && !prof__stat(path, &about) && S_ISFIFO(about.st_mode)) errno = EPIPE;
    if (file < 0) return NULL;
    flags = fcntl(file, F_GETFL);
    if (flags >= 0) fcntl(file, F_SETFL, flags & ~O_NONBLOCK); /* a reader may be slow */
    stream = fdopen(file, "wb");
    if (!stream) close(file);
    return stream;
}

/* Creates a new file: removes an older one of this name, which a killed process has left, and does not follow a
   link. */
static FILE *prof__file_new(const char *path)
{
    FILE *stream;
    int file = -1;
    for (int i = 0; i < 2 && file < 0; i++) {
        file = open(path, O_WRONLY | O_CREAT | O_EXCL | PROF__O_FILE, PROF__FILE_MODE);
        if (file < 0 && (errno != EEXIST || unlink(path))) return NULL;
    }
    stream = file < 0 ? NULL : fdopen(file, "wb");
    if (file >= 0 && !stream) {
        int error = errno;
        close(file);
        unlink(path);
        errno = error;
    }
    return stream;
}
#else
static FILE *prof__file_new(const char *path) { return prof__file_open(path, "wb"); }
#endif

static void prof__out_free(prof__out *out)
{
    if (out->buffer != out->reserve) free(out->buffer);
    free(out->path);
    free(out->part);
    free(out->target);
    out->buffer = out->cursor = out->reserve;
    out->limit = out->reserve + sizeof out->reserve;
    out->path = out->part = out->target = NULL;
    out->file = NULL;
}

/* Returns 1 if an output is a directory, in which its writer creates files. */
static int prof__is_folder(const char *path)
{
    size_t n = prof__length(path);
    if (!n) return 0;
    if (prof__is_slash(path[n - 1])) return 1;
#ifdef _WIN32
    DWORD about = prof__windows_about(path);
    return about != INVALID_FILE_ATTRIBUTES && (about & FILE_ATTRIBUTE_DIRECTORY);
#else
    prof__about about;
    return !prof__stat(path, &about) && S_ISDIR(about.st_mode);
#endif
}

/* Creates a directory and its missing parents. Returns 0 or errno. Async-signal-safe. */
static int prof__folder_add(const char *path)
{
    char part[1200];
    size_t n = prof__length(path);
    int error = 0;
    if (n >= sizeof part) return ENAMETOOLONG;
    for (size_t i = 1; i <= n; ++i) {
        if (i < n && !prof__is_slash(path[i])) continue;
        prof__copy(part, path, i);
        part[i] = 0;
        if (prof__is_folder(part)) continue;
#ifdef _WIN32
        error = prof__folder_create(part);
#else
        error = mkdir(part, 0755) ? errno : 0;
#endif
        if (error == EEXIST) error = prof__is_folder(part) ? 0 : ENOTDIR; /* another process may have made it */
    }
    return error;
}

static prof_status prof__folder_make(const char *path)
{
    int error = prof__folder_add(path);
    return error ? prof__fail(PROF_IO, "cannot make the directory %.400s: %s", path, strerror(error)) : PROF_OK;
}

/* Writes the directory of the file path, or "." if it names none. Returns 0 if that is too long. */
static int prof__folder_of(const char *path, char *to, size_t size)
{
    size_t length = 0;
    for (size_t i = 0; path[i]; ++i)
        if (prof__is_slash(path[i])) length = i ? i : 1;
    if (length >= size) return 0;
    prof__copy(to, length ? path : ".", length ? length : 1);
    to[length ? length : 1] = 0;
    return 1;
}

/* Creates the directory of the file path, unless it exists. Returns 0 or errno. Async-signal-safe. */
static int prof__folder_for(const char *path)
{
    char folder[1200];
    if (!prof__folder_of(path, folder, sizeof folder)) return ENAMETOOLONG;
    return prof__is_folder(folder) ? 0 : prof__folder_add(folder);
}

/* Frees an output that could not be opened. Returns status. */
static prof_status prof__out_refuse(prof__out *out, prof_status status)
{
    prof__out_free(out);
    return status;
}

/* Returns the name under which the file at path is written until it is complete, or NULL without memory. */
static char *prof__out_part(const char *path)
{
    static unsigned counter; /* two may write the same file at once: the last one wins, with a complete file */
    char ending[48];
    size_t length = strlen(path), size;
    snprintf(ending, sizeof ending, ".%llu-%u.part", (unsigned long long)prof__process_id(), PROF__ADD(&counter, 1u));
    size = length + sizeof ending + 10;
    char *part = (char *)malloc(size);
    if (part) prof__path_ending(path, length, ending, PROF__NAME_SHORT, part, size);
    return part;
}

/* Creates the file and its missing directories. Returns NULL, with errno, if that fails. */
static FILE *prof__out_make(const char *part)
{
    FILE *file = prof__file_new(part);
    int error;
    if (file || errno != ENOENT) return file;
    error = prof__folder_for(part);
    if (!error) return prof__file_new(part);
    errno = error;
    return NULL;
}

#ifndef _WIN32
/* Refuses a name that the system does. */
static prof_status prof__name_check(const char *path)
{
    prof__about about;
    size_t length = prof__length(path), name = length;
    if (!prof__lstat(path, &about) || errno != ENAMETOOLONG) return PROF_OK;
    while (name && path[name - 1] != '/') --name;
    if (length - name <= PROF__NAME_MOST) return prof__cannot("create", path, NULL);
    return prof__fail(PROF_IO, "cannot create %s: the name has %lu bytes, and can have %lu", path,
                      (unsigned long)(length - name), (unsigned long)PROF__NAME_MOST);
}
#endif

#ifdef _WIN32
static prof_status prof__out_open(prof__out *out, const char *path)
{
    int part = prof__file_replaceable(path);
    out->path = prof__text_join(path, "");
    if (part) out->part = prof__out_part(path);
    if (!out->path || (part && !out->part)) return prof__fail(PROF_NO_MEMORY, "no memory to write %s", path);
    out->file = part ? prof__out_make(out->part) : prof__file_open(out->path, "wb");
    if (out->file) return PROF_OK;
    return prof__cannot("create", part ? out->part : out->path, NULL);
}
#else
static prof_status prof__out_open(prof__out *out, const char *path)
{
    prof__path followed;
    int way = prof__path_follow(&followed, path), part = way != PROF__PATH_DIRECT;
    const char *target = way == PROF__PATH_LINK ? followed.done : path;
    if (way == PROF__PATH_PLANTED) return prof__path_refuse(&followed, path);
    prof_status status = prof__name_check(target);
    if (status) return status;
    part = part && prof__file_replaceable(target);
    out->path = prof__text_join(path, "");
    if (part) out->part = prof__out_part(target);
    if (part && target != path) out->target = prof__text_join(target, "");
    if (!out->path || (part && (!out->part || (target != path && !out->target))))
        return prof__fail(PROF_NO_MEMORY, "no memory to write %s", path);
    out->file = part ? prof__out_make(out->part) : prof__file_direct(target, way >= PROF__PATH_DIRECT);
    if (out->file) return PROF_OK;
    if (!part && errno == EPIPE)
        return prof__fail(PROF_IO, "cannot write %s: it is a fifo that nobody reads: start its reader first", path);
    return prof__cannot("create", part ? out->part : path, NULL);
}
#endif

/* Opens a file, path null or "-": standard output. Makes the directories that path names. Unless this returns PROF_OK
   there is nothing to close. */
static prof_status prof__out_file(prof__out *out, const char *path)
{
    prof_status status;
    prof__out_init(out);
    if (path && strcmp(path, "-")) {
        status = prof__out_open(out, path);
        if (status != PROF_OK) return prof__out_refuse(out, status);
        setvbuf(out->file, NULL, _IONBF, 0);
        return PROF_OK;
    }
    out->path = prof__text_join("standard output", "");
    if (!out->path) return prof__out_refuse(out, prof__no_memory("to write standard output"));
    out->file = stdout;
#ifdef _WIN32
    fflush(stdout);
    out->restore = _setmode(1, _O_BINARY);
#endif
    return PROF_OK;
}

/* Opens a file, or a sink if that is not NULL. */
static prof_status prof__out_to(prof__out *out, const char *path, const prof_sink *sink)
{
    if (!sink) return prof__out_file(out, path);
    prof__out_sink(out, *sink);
    return PROF_OK;
}

/* Writes the rest, puts the file in its place, and returns the first error of all. */
static prof_status prof__out_close(prof__out *out)
{
    prof_status status;
    prof__out_flush(out);
    if (out->file) {
        int failed;
        errno = 0;
        failed = out->file == stdout ? fflush(stdout) : fclose(out->file);
#ifdef _WIN32
        if (out->file == stdout && out->restore != -1) _setmode(1, out->restore);
#endif
        if (failed && out->status == PROF_OK)
            out->status = prof__cannot("write", out->part ? out->part : out->path, "write error");
        if (out->part && out->status == PROF_OK && prof__file_rename(out->part, out->target ? out->target : out->path))
            out->status = prof__fail(PROF_IO, "cannot rename %s to %s: %s", out->part, out->path, strerror(errno));
        if (out->part && out->status != PROF_OK) prof__file_remove(out->part);
    }
    status = out->status;
    prof__out_free(out);
    return status;
}
#endif

#endif /* PROF__GROUND_OUT_H */
