/* refuse.h - a part of a test in a process of its own, in which the system refuses a call. Linux. Include it after
   test.h. */
#ifndef REFUSE_H
#define REFUSE_H

#ifdef __linux__
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs a test's part in a child of fork(), which may end with its process. Returns its exit status, or -1. */
static inline int in_child(void (*part)(void))
{
    int status = 0;
    pid_t child = fork();
    if (!child) {
        part();
        _exit(test_failures ? 1 : 0);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Makes the system refuse a call, with an error or (error 0) by killing the process. Ends the process with NO_FILTERS
   where it has no filters, as in an emulator. The layout is the kernel's: systems of musl may lack its headers. */
enum { NO_FILTERS = 77 };
static inline void refuse(long call, int error)
{
    struct {
        uint16_t code;
        uint8_t if_true, if_false;
        uint32_t k;
    } filter[] = {
        {0x20, 0, 0, 0},                              /* load the number of the call */
        {0x15, 0, 1, (uint32_t)call},                 /* is it this one? */
        /* yes: SECCOMP_RET_ERRNO, or _KILL_PROCESS */
        {0x06, 0, 0, error ? 0x00050000u | (uint32_t)error : 0x80000000u},
        {0x06, 0, 0, 0x7FFF0000u},                    /* no: SECCOMP_RET_ALLOW */
    };
    struct {
        unsigned short count;
        void *filter;
    } program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_seccomp, 1, 1, &program)) /* for all threads */
        _exit(NO_FILTERS);
}
#endif

#endif /* REFUSE_H */
