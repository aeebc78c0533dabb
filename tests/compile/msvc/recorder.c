/* A recorder in a program of Microsoft's kind, with several threads: tests/compile/msvc.sh runs it by wine. */
#define PROF_IMPLEMENTATION
#include "prof.h"
#ifndef RECORDER_ALONE
#include "prof_chrome.h"
#endif
#include <windows.h>

enum { THREADS = 8, TIMES = 20000 };

static DWORD WINAPI work(LPVOID number)
{
    int i = 0;
    PROFILE_THREAD("worker");
    for (i = 0; i < TIMES; ++i) {
        PROFILE_BLOCK("work") {
            PROFILE_ARG_I("thread", (int)(intptr_t)number);
            PROFILE_COUNTER("i", i);
            PROFILE_COUNTER_ADD("all", 1);
        }
    }
    return 0;
}

/* The program is recorded because PROF_OUTPUT is set: from before main to exit. */
int main(void)
{
    HANDLE threads[THREADS];
    int i = 0;
    PROFILE_BEGIN("main");
    for (i = 0; i < THREADS; ++i) threads[i] = CreateThread(NULL, 0, work, (LPVOID)(intptr_t)i, 0, NULL);
    WaitForMultipleObjects(THREADS, threads, TRUE, INFINITE);
    for (i = 0; i < THREADS; ++i) CloseHandle(threads[i]);
    PROFILE_END("main");
    return 0;
}
