// ground/out: A buffered writer to a file or a sink, for text and numbers. Its first error stays. One thread at a time
// uses it.
#ifndef PROF__GROUND_OUT_H
#define PROF__GROUND_OUT_H
#include "api/writers.h"
#include "ground/digits.h"
#include "ground/errors.h"
#include "ground/signals.h"
#include "ground/threads.h"
#include "ground/utf8.h"
#include "ground/windows.h"

#ifndef PROF_FREESTANDING
/*-- OUTPUT -------------------------------------------------------------------------------------------------- >>out --
   Every report and exporter writes through this. After the first error the writer accepts and discards everything, and
   prof__out_close() returns that error. A regular file is written under a temporary name, "<path>.<process>-<n>.part"
   (a long name is shortened), and renamed when complete, so nobody sees half a file. If the path is a symbolic link,
   the file that the link leads to is replaced. A fifo or a device is written directly. */

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
#define PROF__OUT_RESERVE ((size_t)4096) /* the largest request of prof__out_reserve(), bytes */

typedef struct prof__out {
    char *cursor, *limit; /* the free part of the buffer */
    char *buffer;         /* PROF__OUT_SIZE bytes on the heap; reserve if there is no memory */
    prof_sink sink;       /* write is NULL for files */
    FILE *file;
    char *path, *part; /* owned; part: the temporary name, NULL for a fifo or device */
    char *target;      /* owned: the file that path, a symbolic link, leads to; else NULL */
    int restore;       /* Windows: standard output's mode (text, binary) before */
    size_t flushes;    /* how often the buffer was written out */
    uint64_t hole;     /* zero bytes to skip in the file before the next write */
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

/* Marks the output as failed, unless it has failed before. For a caller that cannot produce the rest of its text. */
static void prof__out_fail(prof__out *out, prof_status status)
{
    if (out->status == PROF_OK) out->status = status;
}

/* Seeks over the pending zeros, which leaves a hole in the file. Returns 0 if that fails. */
static int prof__out_skip(prof__out *out)
{
    int failed = out->hole ? prof__file_seek(out->file, out->hole, SEEK_CUR) : 0;
    if (!failed) out->hole = 0;
    return !failed;
}

/* Writes bytes to the file or sink. Sets the output's status if that fails. */
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

/* Returns room for size bytes (at most PROF__OUT_RESERVE) in the buffer. Never fails. prof__out_commit() says how many
   of them were written. */
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

/* Writes size zero bytes. In a new file a long run becomes a hole, which takes no space on the disk. */
static void prof__out_zeros(prof__out *out, uint64_t size)
{
    if (out->part && size > PROF__OUT_RESERVE) {
        prof__out_flush(out);
        out->hole += size - 1; /* writing the last byte sets the file's length */
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

#define PROF__NAME_MOST ((size_t)255)  /* the longest file name of nearly all file systems, bytes */
#define PROF__NAME_SHORT ((size_t)143) /* the longest on encrypted file systems; for temporary files */

/* Writes to `to` the first `base` bytes of path, then ending. If the file's name becomes longer than `most` bytes, it
   is cut before the ending, and a hash of the whole name keeps it different from others (not with PROF_MINIMAL).
   Returns 0 if `to` is too small. Async-signal-safe. */
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
        base = name + prof__utf8_cut(path + name, most - end - 9);
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

/* Returns 1 if path does not exist or is a regular file, so that a rename can replace it. Does not follow links. */
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
#define PROF__PATH_LINKS 40 /* symbolic links followed for one path; the kernel's limit */
#define PROF__PATH_STICKY 01000

enum {
    PROF__PATH_PLAIN,   /* the path is not a link: write the path */
    PROF__PATH_LINK,    /* the path is a link: write `done`, the file that it leads to, which need not exist */
    PROF__PATH_DIRECT,  /* the path leads to an open file of a process, like /dev/stdout: open the path itself */
    PROF__PATH_PLANTED, /* `done` is a link or a fifo that another user may have put there: refuse */
    PROF__PATH_UNKNOWN  /* the path is too long, or its links form a circle: let the system report it */
};

/* A path that is being followed. done: the part whose links are resolved; rest: the part still to follow; link:
   scratch. */
typedef struct prof__path {
    char done[PROF__PATH_SIZE], rest[PROF__PATH_SIZE], link[PROF__PATH_SIZE];
} prof__path;

/* Returns 1 if another user may have planted `thing` in folder: the folder is like /tmp (everybody may create files,
   only owners may remove them), and the thing's owner is neither this user nor the folder's owner. The kernel's
   fs.protected_symlinks has the same rule. */
static int prof__path_planted(const char *folder, const prof__about *thing)
{
#ifdef __wasi__ /* WASI has no users */
    (void)folder, (void)thing;
    return 0;
#else
    prof__about about;
    return thing->st_uid != geteuid() && !prof__stat(*folder ? folder : ".", &about) &&
           about.st_mode & PROF__PATH_STICKY && about.st_mode & S_IWOTH && thing->st_uid != about.st_uid;
#endif
}

/* Replaces the link at p->done with its target: puts the target in front of p->rest. folder: the length of p->done
   without the link's name. Returns 0 if the path becomes too long. */
static int prof__path_link(prof__path *p, size_t folder)
{
    ssize_t n = readlink(p->done, p->link, sizeof p->link - 1);
    size_t rest = strlen(p->rest);
    if (n <= 0 || (size_t)n + 1 + rest >= sizeof p->rest) return 0;
    memmove(p->rest + n, p->rest, rest + 1); /* rest is empty or begins with a slash */
    memcpy(p->rest, p->link, (size_t)n);
    p->done[p->link[0] == '/' ? 0 : folder] = 0;
    return 1;
}

/* Follows all links of a path and returns one of PROF__PATH_... Async-signal-safe. */
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

/* Opens a device or a fifo for writing. Returns NULL with errno EPIPE for a fifo without a reader, instead of waiting
   for one. follow: whether path may be a link. */
static FILE *prof__file_direct(const char *path, int follow)
{
    prof__about about;
    int file = open(path, O_WRONLY | O_TRUNC | O_NONBLOCK | O_NOCTTY | PROF__O_FILE | (follow ? 0 : O_NOFOLLOW)), flags;
    FILE *stream;
    if (file < 0 && errno == ENXIO && !prof__stat(path, &about) && S_ISFIFO(about.st_mode)) errno = EPIPE;
    if (file < 0) return NULL;
    flags = fcntl(file, F_GETFL);
    if (flags >= 0) fcntl(file, F_SETFL, flags & ~O_NONBLOCK); /* writes wait for a slow reader */
    stream = fdopen(file, "wb");
    if (!stream) close(file);
    return stream;
}

/* Creates a file. Removes an old temporary file of the same name, which a killed process has left. O_EXCL does not
   follow a link that somebody has put there. */
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

/* Returns 1 if path is a directory or ends with a slash: the writer then creates files in it. */
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

/* Creates a directory and its missing parents. Returns 0 or an errno. Async-signal-safe. */
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
        if (error == EEXIST) error = prof__is_folder(part) ? 0 : ENOTDIR; /* another process may have been first */
    }
    return error;
}

static prof_status prof__folder_make(const char *path)
{
    int error = prof__folder_add(path);
    return error ? prof__fail(PROF_IO, "cannot make the directory %.400s: %s", path, strerror(error)) : PROF_OK;
}

/* Writes the directory part of a file's path, or "." if the path has none. Returns 0 if `to` is too small. */
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

/* Creates the directory of a file's path, unless it exists. Returns 0 or an errno. Async-signal-safe. */
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

/* Returns the temporary name for writing the file at path, on the heap, or NULL if there is no memory. */
static char *prof__out_part(const char *path)
{
    static unsigned counter; /* if two threads write one path at once, the file is that of the last, complete */
    char ending[48];
    size_t length = strlen(path), size;
    snprintf(ending, sizeof ending, ".%llu-%u.part", (unsigned long long)prof__process_id(), PROF__ADD(&counter, 1u));
    size = length + sizeof ending + 10;
    char *part = (char *)malloc(size);
    if (part) prof__path_ending(path, length, ending, PROF__NAME_SHORT, part, size);
    return part;
}

/* Creates a file and its missing directories. Returns NULL, with errno, if that fails. */
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
/* Returns an error if the system refuses the name as too long. The error says how long the name is and how long it can
   be. */
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

/* Opens a file, and creates missing directories of its path. path: NULL or "-" is standard output. If the result is not
   PROF_OK, the output is freed and must not be closed. */
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

/* Opens the sink or, if that is NULL, the file at path. */
static prof_status prof__out_to(prof__out *out, const char *path, const prof_sink *sink)
{
    if (!sink) return prof__out_file(out, path);
    prof__out_sink(out, *sink);
    return PROF_OK;
}

/* Writes the buffered rest, renames a complete file to its final name, removes a failed one, and frees the output.
   Returns the first error of all. */
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
