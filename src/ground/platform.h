// ground/platform: Includes system headers, and declares what they omit under -std=c99 or when the program included
// them first.
#ifndef PROF__GROUND_PLATFORM_H
#define PROF__GROUND_PLATFORM_H
#include "ground/leave_out.h"

/*-- PLATFORM -------------------------------------------------------------------------------------------- >>platform --
   The differences between operating systems. With PROF_FREESTANDING the user's macros replace the system: see the
   manual. */

#if defined(PROF_FREESTANDING)
#if !defined(PROF_CLOCK_READ) || !defined(PROF_CPU_STATE) || !defined(PROF_CPU_STATE_SIZE)
#error "prof.h: PROF_FREESTANDING needs PROF_CLOCK_READ(), PROF_CPU_STATE() and PROF_CPU_STATE_SIZE: see the manual"
#endif
#elif defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>
#else
/* System headers declare what the feature-test macros (_GNU_SOURCE) ask for when the first of them is included. If the
   program included one before prof.h (PROF__LATE), the macros are evaluated again here. That helps for headers that
   were not included yet. What the others may lack is declared below. */
#if defined(PROF__LATE) && !(defined(__USE_MISC) && defined(__USE_XOPEN2K8))
#define PROF__LATE_POSIX 1 /* the program's macros may hide even POSIX: -std=c99, _POSIX_C_SOURCE, musl */
#endif
#if defined(PROF__LATE) && defined(__GLIBC__)
#if (defined(_BITS_STRUCT_STAT_H) || defined(_BITS_STAT_H)) && !defined(__USE_LARGEFILE64)
#define PROF__LATE_STAT 1 /* struct stat64 was left out */
#endif
#undef _FEATURES_H
#include <features.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#ifndef __wasi__
#include <signal.h>
#endif
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#ifdef __EMSCRIPTEN__
#include <malloc.h>
extern size_t emscripten_get_heap_max(void); /* its header cannot be included in extern "C" */
#endif
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#ifdef SYS_futex
#define PROF__FUTEX 1 /* a thread can sleep until a word changes */
#endif
#endif
#ifdef PROF__LATE_POSIX
#if !defined(SIG_BLOCK) || (defined(__GLIBC__) && !defined(SS_DISABLE)) /* its types are missing: include it again */
#undef _SIGNAL_H
#include <signal.h>
#endif
#ifndef SS_DISABLE
#define SS_ONSTACK 1
#define SS_DISABLE 2
#endif
#if !defined(SA_ONSTACK) && !defined(__alpha__) && !defined(__sparc__) && !defined(__hppa__)
#define SA_ONSTACK 0x08000000
#endif
#if !defined(SA_NODEFER) && defined(SA_ONSTACK)
#define SA_NODEFER 0x40000000
#endif
#if !defined(SA_RESTART) && defined(SA_ONSTACK)
#define SA_RESTART 0x10000000
#endif
#ifndef MAP_ANONYMOUS
#undef _SYS_MMAN_H
#include <sys/mman.h>
#endif
#endif
#if (!defined(CLOCK_MONOTONIC) && !defined(PROF__LATE)) || !defined(MAP_ANONYMOUS) || \
    (!defined(SA_ONSTACK) && !defined(__wasi__))
#error "prof.h: in the file with PROF_IMPLEMENTATION, include it first or compile with -D_GNU_SOURCE"
#endif
#endif
#ifndef PROF_FREESTANDING
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#elif defined(__KERNEL__)
#include <linux/stdarg.h>
#else
#include <stdarg.h>
#endif

/* On 32-bit processors glibc's off_t has 32 bits, unless the program asks for 64 before its first system header.
   Recordings can exceed 2 GiB there, too. So prof calls the 64-bit functions by their names in the library. */
#if defined(__GLIBC__) && !defined(PROF_FREESTANDING) && !defined(__USE_FILE_OFFSET64) && \
    !defined(__OFF_T_MATCHES_OFF64_T)
#define PROF__NARROW 1
#endif
#if defined(PROF__NARROW) && defined(PROF__LATE_STAT)
#define stat prof__stat_again
#ifdef _BITS_STRUCT_STAT_H
#undef _BITS_STRUCT_STAT_H
#include <bits/struct_stat.h>
#else
#undef _BITS_STAT_H
#include <bits/stat.h>
#endif
#undef stat
#endif
#if defined(__GLIBC__) && (defined(__USE_FILE_OFFSET64) || defined(PROF__NARROW))
#define PROF__LIBC_OFFSET(name) name "64"
#else
#define PROF__LIBC_OFFSET(name) name
#endif
#ifdef PROF__NARROW
typedef __off64_t prof__offset;
typedef struct stat64 prof__about;
#define PROF__O_FILE (O_CLOEXEC | __O_LARGEFILE)
extern int prof__libc_stat(const char *path, prof__about *about) __asm__("stat64");
extern int prof__libc_lstat(const char *path, prof__about *about) __asm__("lstat64");
extern int prof__libc_fstat(int file, prof__about *about) __asm__("fstat64");
extern prof__offset prof__libc_lseek(int file, prof__offset at, int from) __asm__("lseek64");
extern FILE *prof__libc_fopen(const char *path, const char *mode) __asm__("fopen64");
#define prof__stat(path, about) prof__libc_stat(path, about)
#define prof__lstat(path, about) prof__libc_lstat(path, about)
#define prof__fstat(file, about) prof__libc_fstat(file, about)
#define prof__lseek(file, at, from) prof__libc_lseek(file, at, from)
#elif !defined(PROF_FREESTANDING) && !defined(_WIN32)
typedef off_t prof__offset;
typedef struct stat prof__about;
#define PROF__O_FILE O_CLOEXEC
#define prof__stat(path, about) stat(path, about)
#define prof__lstat(path, about) lstat(path, about)
#define prof__fstat(file, about) fstat(file, about)
#define prof__lseek(file, at, from) lseek(file, at, from)
#endif

#ifdef PROF__LATE
/* Declares the missing functions under names of prof's own, because the program may still include their headers. On
   32-bit processors, the functions for a 64-bit off_t or time_t have other names in the library. */
extern char *prof__libc_secure_getenv(const char *name) __asm__("secure_getenv");
#endif
#if defined(PROF__LATE) || defined(PROF__NARROW)
extern int prof__libc_fallocate(int file, int how, prof__offset at,
                                prof__offset size) __asm__(PROF__LIBC_OFFSET("fallocate"));
#ifndef fallocate
#define fallocate(file, how, at, size) prof__libc_fallocate(file, how, at, size)
#endif
#endif
#if defined(PROF__LATE_POSIX) || defined(PROF__NARROW)
extern int prof__libc_ftruncate(int file, prof__offset size) __asm__(PROF__LIBC_OFFSET("ftruncate"));
extern int prof__libc_posix_fallocate(int file, prof__offset at,
                                      prof__offset size) __asm__(PROF__LIBC_OFFSET("posix_fallocate"));
extern ssize_t prof__libc_pread(int file, void *to, size_t size, prof__offset at) __asm__(PROF__LIBC_OFFSET("pread"));
extern ssize_t prof__libc_pwrite(int file, const void *from, size_t size,
                                 prof__offset at) __asm__(PROF__LIBC_OFFSET("pwrite"));
extern int prof__libc_fseeko(FILE *file, prof__offset at, int from) __asm__(PROF__LIBC_OFFSET("fseeko"));
extern prof__offset prof__libc_ftello(FILE *file) __asm__(PROF__LIBC_OFFSET("ftello"));
#define ftruncate(file, size) prof__libc_ftruncate(file, size)
#define posix_fallocate(file, at, size) prof__libc_posix_fallocate(file, at, size)
#ifndef pread /* tests define some of these as macros */
#define pread(file, to, size, at) prof__libc_pread(file, to, size, at)
#endif
#ifndef pwrite
#define pwrite(file, from, size, at) prof__libc_pwrite(file, from, size, at)
#endif
#define fseeko(file, at, from) prof__libc_fseeko(file, at, from)
#define ftello(file) prof__libc_ftello(file)
#endif
#ifdef PROF__LATE_POSIX
#ifndef CLOCK_MONOTONIC
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
#endif
#ifndef CLOCK_THREAD_CPUTIME_ID
#define CLOCK_PROCESS_CPUTIME_ID 2
#define CLOCK_THREAD_CPUTIME_ID 3
#endif
#ifndef O_CLOEXEC
#ifdef __O_CLOEXEC
#define O_CLOEXEC __O_CLOEXEC
#else
#define O_CLOEXEC 02000000
#endif
#endif
#if !defined(O_NOFOLLOW) && defined(__O_NOFOLLOW)
#define O_NOFOLLOW __O_NOFOLLOW
#elif !defined(O_NOFOLLOW)
#define O_NOFOLLOW 0
#endif
#if !defined(O_TMPFILE) && defined(__O_TMPFILE)
#define O_TMPFILE __O_TMPFILE
#endif
#ifndef AT_FDCWD
#define AT_FDCWD (-100)
#endif
#ifndef AT_SYMLINK_FOLLOW
#define AT_SYMLINK_FOLLOW 0x400
#endif
#ifndef F_DUPFD_CLOEXEC
#define F_DUPFD_CLOEXEC 1030
#endif
#ifndef CLOCK_BOOTTIME
#define CLOCK_BOOTTIME 7
#endif
#if defined(__GLIBC__) && defined(__USE_TIME_BITS64) && __TIMESIZE == 32
#define PROF__LIBC_TIME(old, glibc, musl) glibc
#elif !defined(__GLIBC__) && _REDIR_TIME64
#define PROF__LIBC_TIME(old, glibc, musl) musl
#else
#define PROF__LIBC_TIME(old, glibc, musl) old
#endif
extern int prof__libc_clock_gettime(int clock, struct timespec *now) __asm__(
    PROF__LIBC_TIME("clock_gettime", "__clock_gettime64", "__clock_gettime64"));
extern int prof__libc_nanosleep(const struct timespec *time, struct timespec *left) __asm__(
    PROF__LIBC_TIME("nanosleep", "__nanosleep64", "__nanosleep_time64"));
extern struct tm *prof__libc_localtime_r(const time_t *time, struct tm *to) __asm__(
    PROF__LIBC_TIME("localtime_r", "__localtime64_r", "__localtime64_r"));
#ifndef PROF__NARROW
extern int prof__libc_lstat(const char *path, struct stat *about) __asm__(
    PROF__LIBC_TIME(PROF__LIBC_OFFSET("lstat"), "__lstat64_time64", "__lstat_time64"));
#endif
extern ssize_t prof__libc_readlink(const char *path, char *to, size_t size) __asm__("readlink");
extern int prof__libc_gethostname(char *to, size_t size) __asm__("gethostname");
extern int prof__libc_linkat(int from, const char *old, int to, const char *name, int flags) __asm__("linkat");
extern FILE *prof__libc_fdopen(int file, const char *mode) __asm__("fdopen");
extern int prof__libc_fchdir(int folder) __asm__("fchdir");
extern int prof__libc_nice(int by) __asm__("nice");
extern int prof__libc_fileno(FILE *file) __asm__("fileno");
extern int prof__libc_madvise(void *at, size_t size, int advice) __asm__("madvise");
extern int prof__libc_sigaltstack(const stack_t *stack, stack_t *old) __asm__("sigaltstack");
extern long prof__libc_syscall(long number, ...) __asm__("syscall");
#define PROF__LIBC(name) prof__libc_##name
#define clock_gettime(clock, now) prof__libc_clock_gettime(clock, now)
#define nanosleep(time, left) prof__libc_nanosleep(time, left)
#define localtime_r(time, to) prof__libc_localtime_r(time, to)
#ifndef PROF__NARROW
#define lstat(path, about) prof__libc_lstat(path, about)
#endif
#define readlink(path, to, size) prof__libc_readlink(path, to, size)
#define gethostname(to, size) prof__libc_gethostname(to, size)
#define linkat(from, old, to, name, flags) prof__libc_linkat(from, old, to, name, flags)
#define fdopen(file, mode) prof__libc_fdopen(file, mode)
#define fchdir(folder) prof__libc_fchdir(folder)
#define nice(by) prof__libc_nice(by)
#define fileno(file) prof__libc_fileno(file)
#define madvise(at, size, advice) prof__libc_madvise(at, size, advice)
#define sigaltstack(stack, old) prof__libc_sigaltstack(stack, old)
#define syscall(...) prof__libc_syscall(__VA_ARGS__)
#else
#define PROF__LIBC(name) name
#endif

#endif /* PROF__GROUND_PLATFORM_H */
