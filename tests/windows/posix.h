/* posix.h - what the tests use of POSIX and Windows lacks, for tests/wine.sh, which puts it before each test program.

   What has a counterpart is built of that. The others are declared, so that programs compile: who calls one of these
   leaves its test, which then is skipped by the name of what is missing (posix.c). */
#ifndef WINDOWS_POSIX_H
#define WINDOWS_POSIX_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <direct.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <malloc.h>
#include <process.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Where a test goes on that called what is not there; see test_run() of test.h. */
extern jmp_buf test_left;
extern const char *test_lacking;
extern const char *const test_program; /* its name */
#ifdef TEST_PROGRAM
const char *const test_program = TEST_PROGRAM;
#endif
const char *test_cannot(const char *name); /* why this test is skipped; null: it is not */
void test_lacks(const char *what) __attribute__((__noreturn__));
int posix_host_name(char *to, size_t size);
#define gethostname(to, size) posix_host_name(to, (size_t)(size))
int posix_system(const char *command);
#define system(command) posix_system(command)
#define LACKS(type, call, ...) static inline type call { (void)sizeof(__VA_ARGS__); test_lacks(#call); }

/*-- what has a counterpart --*/

#define mkdir(path, mode) _mkdir(path)
#define setenv(name, value, replace) _putenv_s(name, value)
#define unsetenv(name) _putenv_s(name, "")
#define realpath(path, to) _fullpath(to, path, 260)
#define strndup(text, size) posix_strndup(text, size)
static inline char *posix_strndup(const char *text, size_t size)
{
    size_t length = strnlen(text, size);
    char *copy = (char *)malloc(length + 1);
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}
static inline void *memmem(const void *at, size_t size, const void *wanted, size_t length)
{
    for (const char *each = (const char *)at; (size_t)(each - (const char *)at) + length <= size; ++each)
        if (!memcmp(each, wanted, length)) return (void *)each;
    return NULL;
}
void *posix_anonymous(size_t size);
int posix_release(void *at);
long posix_resident(void);

#ifndef localtime_r
#define localtime_r(time, to) (*(to) = *localtime(time), to)
#endif
struct winsize { unsigned short ws_row, ws_col; };
#define TIOCSWINSZ 1
#define O_NOCTTY 0
LACKS(int, ioctl(int file, int what, void *with), file, what, with)
LACKS(int, posix_openpt(int how), how)
LACKS(int, grantpt(int file), file)
LACKS(int, unlockpt(int file), file)
LACKS(char *, ptsname(int file), file)
#define malloc_usable_size(at) _msize(at)
#define flockfile(file) _lock_file(file)
#define funlockfile(file) _unlock_file(file)
#define EDQUOT 122

/*-- memory --*/

#define _SC_PAGESIZE 1
static inline long sysconf(int what) { return (void)what, 4096; }
#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_FIXED 16
#define MAP_ANONYMOUS 32
#define MAP_NORESERVE 64
#define MAP_FAILED ((void *)-1)
static inline void *mmap(void *at, size_t size, int protection, int flags, int file, off_t offset)
{
    if (at || !(flags & MAP_ANONYMOUS) || protection != (PROT_READ | PROT_WRITE)) test_lacks("mmap() of a file");
    (void)file, (void)offset;
    void *memory = posix_anonymous(size);
    return memory ? memory : MAP_FAILED;
}
static inline int munmap(void *at, size_t size) { return (void)size, posix_release(at); }
LACKS(int, mincore(void *at, size_t size, unsigned char *there), at, size, there)
LACKS(int, mprotect(void *at, size_t size, int protection), at, size, protection)

/*-- processes --*/

struct rlimit { unsigned long long rlim_cur, rlim_max; };
struct rusage {
    struct timeval ru_utime, ru_stime;
    long ru_maxrss, ru_minflt, ru_majflt, ru_nvcsw, ru_nivcsw;
};
#define RLIMIT_AS 1
#define RLIMIT_CORE 2
#define RLIMIT_FSIZE 3
#define RLIMIT_NOFILE 4
#define RLIMIT_STACK 5
#define RLIMIT_DATA 6
#define RLIM_INFINITY (~0ull)
#define RUSAGE_SELF 0
#define RUSAGE_THREAD 1
#define RUSAGE_CHILDREN (-1)
#define WNOHANG 1
#define WUNTRACED 2
#define WIFSTOPPED(status) ((status) * 0)
#define WIFEXITED(status) ((status) >= 0)
#define WEXITSTATUS(status) (status)
#define WIFSIGNALED(status) 0
#define WTERMSIG(status) ((status) * 0)
#define WCOREDUMP(status) ((status) * 0)
LACKS(pid_t, fork(void), 0)
LACKS(void, quick_exit(int status), status)
LACKS(pid_t, waitpid(pid_t child, int *status, int how), child, status, how)
LACKS(pid_t, wait(int *status), status)
LACKS(pid_t, getppid(void), 0)
LACKS(int, kill(pid_t process, int number), process, number)
LACKS(int, pipe(int ends[2]), ends)
LACKS(int, setrlimit(int which, const struct rlimit *limit), which, limit)
LACKS(int, getrlimit(int which, struct rlimit *limit), which, limit)
LACKS(int, getrusage(int whose, struct rusage *usage), whose, usage)
LACKS(unsigned, geteuid(void), 0)
LACKS(unsigned, getuid(void), 0)

/*-- files --*/

#define O_CLOEXEC 0
#define O_NONBLOCK 0
#define F_GETFL 1
#define F_SETFL 2
#define F_SETPIPE_SZ 3
LACKS(int, fcntl(int file, int what, ...), file, what)
LACKS(int, symlink(const char *to, const char *path), to, path)
LACKS(int, link(const char *old, const char *path), old, path)
#define S_ISLNK(mode) ((mode) * 0)
LACKS(int, chown(const char *path, unsigned user, unsigned group), path, user, group)
LACKS(int, lchown(const char *path, unsigned user, unsigned group), path, user, group)
LACKS(int, fsync(int file), file)
LACKS(int, mkfifo(const char *path, int mode), path, mode)
LACKS(ssize_t, readlink(const char *path, char *to, size_t size), path, to, size)
LACKS(ssize_t, pread(int file, void *to, size_t size, off_t at), file, to, size, at)
LACKS(ssize_t, pwrite(int file, const void *from, size_t size, off_t at), file, from, size, at)
LACKS(int, lstat(const char *path, struct stat *about), path, about)
LACKS(int, fchmod(int file, int mode), file, mode)
typedef struct { size_t gl_pathc; char **gl_pathv; } glob_t;
LACKS(int, glob(const char *pattern, int flags, int (*failed)(const char *, int), glob_t *found), pattern, flags, failed,
      found)
LACKS(void, globfree(glob_t *found), found)

/*-- signals --*/

#define SIGHUP 101
#define SIGQUIT 102
#define SIGTRAP 103
#define SIGBUS 104
#define SIGKILL 105
#define SIGUSR1 106
#define SIGUSR2 107
#define SIGPIPE 108
#define SIGALRM 109
#define SIGCHLD 110
#define SIGSTOP 111
#define SIGPROF 112
#define SIGURG 113
#define SIGWINCH 114
#define SIGXFSZ 115
#define SIGSYS 116
#define SIGCONT 117
#define SA_RESTART 1
#define SA_SIGINFO 2
#define SA_ONSTACK 4
#define SA_NODEFER 8
#define SA_RESETHAND 16
#define SIGEV_SIGNAL 0
#define SIGEV_THREAD_ID 4
#define SIG_BLOCK 0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2
typedef struct { int si_signo, si_code; pid_t si_pid; void *si_addr; } siginfo_t;
typedef struct { void *ss_sp; int ss_flags; size_t ss_size; } stack_t;
struct sigaction {
    void (*sa_handler)(int);
    void (*sa_sigaction)(int, siginfo_t *, void *);
    unsigned long long sa_mask;
    int sa_flags;
};
#define sigjmp_buf jmp_buf
#define sigsetjmp(to, save) setjmp(to)
#define siglongjmp(to, value) longjmp(to, value)
#define sigset_t unsigned long long
#define SIGSTKSZ 65536
#define SS_DISABLE 2
LACKS(int, sigaction(int number, const struct sigaction *now, struct sigaction *before), number, now, before)
LACKS(int, sigpending(sigset_t *set), set)
LACKS(int, sigemptyset(sigset_t *set), set)
LACKS(int, sigfillset(sigset_t *set), set)
LACKS(int, sigismember(const sigset_t *set, int number), set, number)
LACKS(int, sigaddset(sigset_t *set, int number), set, number)
LACKS(int, sigprocmask(int how, const sigset_t *now, sigset_t *before), how, now, before)
LACKS(int, sigaltstack(const stack_t *now, stack_t *before), now, before)
LACKS(int, posix_pthread_kill(pthread_t thread, int number), thread, number)
LACKS(int, posix_pthread_sigmask(int how, const sigset_t *now, sigset_t *before), how, now, before)
#undef pthread_sigmask
#define pthread_kill(thread, number) posix_pthread_kill(thread, number)
#define pthread_sigmask(how, now, before) posix_pthread_sigmask(how, now, before)
typedef void *timer_t;
struct sigevent { int sigev_notify, sigev_signo; union { int integer; void *pointer; } sigev_value; };
LACKS(int, timer_create(clockid_t clock, struct sigevent *event, timer_t *timer), clock, event, timer)
LACKS(int, timer_settime(timer_t timer, int how, const struct itimerspec *now, void *before), timer, how, now, before)
LACKS(int, timer_delete(timer_t timer), timer)
#define ITIMER_REAL 0
#define ITIMER_PROF 1
struct itimerval { struct timeval it_interval, it_value; };
LACKS(int, setitimer(int which, const struct itimerval *now, struct itimerval *before), which, now, before)
LACKS(int, pause(void), 0)
LACKS(unsigned, alarm(unsigned seconds), seconds)

/*-- libraries and contexts --*/

#define RTLD_NOW 2
#define RTLD_NOLOAD 4
#define RTLD_LAZY 1
#define RTLD_LOCAL 0
#define RTLD_GLOBAL 256
#define RTLD_DEFAULT NULL
#define RTLD_NEXT NULL
LACKS(void *, dlopen(const char *path, int how), path, how)
LACKS(void *, dlsym(void *library, const char *name), library, name)
LACKS(int, dlclose(void *library), library)
LACKS(char *, dlerror(void), 0)
typedef struct ucontext { stack_t uc_stack; struct ucontext *uc_link; } ucontext_t;
LACKS(int, getcontext(ucontext_t *context), context)
LACKS(int, swapcontext(ucontext_t *from, const ucontext_t *to), from, to)
LACKS(int, setcontext(const ucontext_t *to), to)
LACKS(void, makecontext(ucontext_t *context, void (*run)(void), int count, ...), context, run, count)
#ifdef __cplusplus
}
#endif
#endif
