// session/root: Writes the output after chroot() to the path that it had before. For that, a session holds the output's
// directory open.
#ifndef PROF__SESSION_ROOT_H
#define PROF__SESSION_ROOT_H
#include "ground/errors.h"
#include "ground/out.h"
#include "record/state.h"
#include "session/process.h"

/*-- AFTER chroot() ---------------------------------------------------------------------------------------------------
   After chroot() the output's path leads elsewhere: into the new root, where directories would be made for it. So a
   session that writes its output at the end holds the output's directory open. A thread with a working directory of its
   own writes the output there: the held directory, which is outside of the new root. A .prof output needs none of this,
   because its file has its name from the start. */
#if defined(__linux__) && defined(SYS_unshare)
#define PROF__HOLDS_FOLDER 1


static void prof__root_now(uint64_t root[2])
{
    prof__about about;
    root[0] = root[1] = 0;
    if (prof__stat("/", &about)) return;
    root[0] = (uint64_t)about.st_dev;
    root[1] = (uint64_t)about.st_ino;
}

/* Returns 1 if the process's root directory has changed since the start of the session. Async-signal-safe. */
static int prof__root_moved(const prof__session *s)
{
    uint64_t now[2];
    if (!s->file.root[1]) return 0;
    prof__root_now(now);
    return now[0] != s->file.root[0] || now[1] != s->file.root[1];
}

/* Opens the output's directory and keeps it open. */
static void prof__folder_hold(prof__session *s)
{
    char folder[sizeof s->file.output];
    prof__about about;
    prof__root_now(s->file.root);
    if (s->file.live_path == s->file.output || !prof__folder_of(s->file.output, folder, sizeof folder)) return;
#ifdef O_PATH
    int file = open(folder, O_PATH | O_CLOEXEC);
#else
    int file = open(folder, O_RDONLY | O_CLOEXEC);
#endif
    /* If the program closes a high descriptor number, the number is not soon reused. */
    int high = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, 200);
    if (file >= 0) close(file);
    if (high < 0 || prof__fstat(high, &about)) return;
    s->file.folder = high + 1;
    s->file.folder_is[0] = (uint64_t)about.st_dev;
    s->file.folder_is[1] = (uint64_t)about.st_ino;
}

/* Returns 1 if the held descriptor still refers to the output's directory: the program may have closed all its
   descriptors. */
static int prof__folder_held(const prof__session *s)
{
    prof__about about;
    return s->file.folder && !prof__fstat(s->file.folder - 1, &about) &&
           (uint64_t)about.st_dev == s->file.folder_is[0] && (uint64_t)about.st_ino == s->file.folder_is[1];
}

static void prof__folder_drop(prof__session *s)
{
    if (prof__folder_held(s)) close(s->file.folder - 1);
    s->file.folder = 0;
}

/* The work of the thread that runs in the held directory, and its result. */
typedef struct prof__folder_work {
    prof__session *s;
    prof_status (*work)(prof__session *s, prof_status status);
    prof_status status;
    int done;
    char error[PROF__ERROR_SIZE];
} prof__folder_work;

static void *prof__folder_main(void *user)
{
    prof__folder_work *w = (prof__folder_work *)user;
    if (syscall(SYS_unshare, 0x200 /* CLONE_FS */) || fchdir(w->s->file.folder - 1)) return NULL;
    w->done = 1;
    w->status = w->work(w->s, PROF_OK);
    if (w->status) memcpy(w->error, PROF__ERROR_TEXT(), sizeof w->error);
    return NULL;
}

/* Replaces a path by "./name", relative to its own directory. */
static void prof__folder_name(char *path, size_t size)
{
    char name[sizeof((prof__session *)NULL)->stream.path] = ".";
    const char *last = path;
    if (!path[0]) return;
    for (const char *c = path; *c; ++c)
        if (*c == '/') last = c;
    prof__text_add(name, sizeof name, *last == '/' ? "" : "/");
    prof__text_add(name, sizeof name, last);
    prof__text_copy(path, size, name);
}

/* Calls work(). After chroot(), calls it in a thread whose working directory is the held one, with file names relative
   to that directory. Returns status itself if that is an error. */
static prof_status prof__in_folder(prof__session *s, prof_status (*work)(prof__session *s, prof_status status),
                                   prof_status status)
{
    char output[sizeof s->file.output], path[sizeof s->stream.path];
    pthread_t thread;
    prof__folder_work *w = NULL;
    if (status || !prof__root_moved(s)) return work(s, status);
    /* If the program has entered a sandbox meanwhile, unshare() might end the program. */
    if (prof__folder_held(s) && prof__sandbox() == s->sandbox) w = (prof__folder_work *)calloc(1, sizeof *w);
    if (w) {
        w->s = s;
        w->work = work;
        memcpy(output, s->file.output, sizeof output);
        memcpy(path, s->stream.path, sizeof path);
        prof__folder_name(s->file.output, sizeof s->file.output);
        prof__folder_name(s->stream.path, sizeof s->stream.path);
        if (!prof__thread_create(&thread, prof__folder_main, w)) pthread_join(thread, NULL);
        memcpy(s->file.output, output, sizeof output);
        memcpy(s->stream.path, path, sizeof path);
    }
    status = w && w->done ? w->status : PROF_IO;
    if (w && w->done && status)
        prof__fail(status, "%s", w->error);
    else if (status)
        prof__fail(status, "%s: not written: the program has changed its root directory (chroot)",
                   prof__path_end(s->file.output));
    free(w);
    return status;
}
#else
static int prof__root_moved(const prof__session *s) { return (void)s, 0; }
static void prof__folder_hold(prof__session *s) { (void)s; }
static void prof__folder_drop(prof__session *s) { (void)s; }
static prof_status prof__in_folder(prof__session *s, prof_status (*work)(prof__session *s, prof_status status),
                                   prof_status status)
{
    return work(s, status);
}
#endif

#endif /* PROF__SESSION_ROOT_H */
