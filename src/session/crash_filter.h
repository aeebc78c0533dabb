// session/crash_filter: Windows: the exception filter and the SIGABRT handler that write a crash report. They are set
// and removed under the control lock.
#ifndef PROF__SESSION_CRASH_FILTER_H
#define PROF__SESSION_CRASH_FILTER_H
#include "record/state.h"
#include "session/crash.h"
#include "session/crash_posix.h"
#include "session/crash_report.h"
#include "session/crash_windows.h"

#ifdef _WIN32
/*-- the filter --*/

static struct {
    LPTOP_LEVEL_EXCEPTION_FILTER filter;
    void(__cdecl *abort)(int);
    PVOID vectored;
    int filters, aborts; /* 1: prof's filter or handler is set */
} prof__crash_others;

#define PROF__CRASH_ROOM 24576 /* bytes of stack that writing a report needs */

static int prof__crash_has_room(void)
{
    MEMORY_BASIC_INFORMATION stack;
    memset(&stack, 0, sizeof stack);
    return VirtualQuery(&stack, &stack, sizeof stack) &&
           (size_t)((char *)&stack - (char *)stack.AllocationBase) > PROF__CRASH_ROOM;
}

static DWORD WINAPI prof__crash_aside(LPVOID code)
{
    PROF__RELEASE(&prof__crash.reporter, (uintptr_t)GetCurrentThreadId());
    prof__crash_report(prof__crash.work, prof__crash.session, (int)(uintptr_t)code);
    PROF__RELEASE(&prof__crash.reporter, (uintptr_t)PROF__CRASH_OFF);
    return 0;
}

/* Writes the report from a new thread, because the stack of the dying thread is exhausted. The new thread cannot start
   if the dying one holds the loader's lock, or another lock that the start of a thread needs: so the wait ends after 10
   s. */
static void prof__crash_report_aside(DWORD code)
{
    HANDLE thread = CreateThread(NULL, 0, prof__crash_aside, (LPVOID)(uintptr_t)code, 0, NULL);
    if (!thread) return;
    WaitForSingleObject(thread, 10000);
    CloseHandle(thread);
}

/* Writes the report, unless one has been written. While another thread writes one, waits for it, because this thread's
   crash would end the process. */
static void prof__crash_tell(DWORD code)
{
    uintptr_t self = GetCurrentThreadId(), reporter = PROF__CRASH_READY;
    if (__atomic_compare_exchange_n(&prof__crash.reporter, &reporter, self, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
        prof__crashed = GetCurrentThreadId();
        if (code == EXCEPTION_STACK_OVERFLOW && !prof__crash_has_room())
            prof__crash_report_aside(code);
        else
            prof__crash_report(prof__crash.work, prof__crash.session, (int)code);
        PROF__RELEASE(&prof__crash.reporter, (uintptr_t)PROF__CRASH_OFF);
    } else if (reporter != self) {
        for (int i = 0; i < 1000 && PROF__ACQUIRE(&prof__crash.reporter) > PROF__CRASH_READY; ++i) PROF__CRASH_NAP();
    }
}

/* Called for an exception that no handler has taken. Codes without the high bit do not end a program: gcc, for example,
   uses one for C++ exceptions, which its runtime hands back to the throw. */
static LONG WINAPI prof__crash_filter(EXCEPTION_POINTERS *about)
{
    LPTOP_LEVEL_EXCEPTION_FILTER old = prof__crash_others.filter;
    DWORD code = about->ExceptionRecord->ExceptionCode;
    if (code >> 31) prof__crash_tell(code);
    return old ? old(about) : EXCEPTION_CONTINUE_SEARCH;
}

/* Called for every exception, before all other handlers. Handles only a crash inside the report, and continues after
   that part. */
static LONG WINAPI prof__crash_again(EXCEPTION_POINTERS *about)
{
    if (PROF__LOAD(&prof__crash.reporter) == (uintptr_t)GetCurrentThreadId() && prof__crash.work->guarded &&
        about->ExceptionRecord->ExceptionCode >> 30 == 3)
        longjmp(prof__crash.work->escape, 1);
    return EXCEPTION_CONTINUE_SEARCH;
}

/* Handles SIGABRT. The runtime has removed this handler before it calls it. */
static void __cdecl prof__crash_aborts(int number)
{
    void(__cdecl *old)(int) = prof__crash_others.abort;
    prof__crash_tell(PROF__CRASH_ABORT);
    if (old != SIG_DFL) {
        old(number);
        return;
    }
    signal(SIGABRT, SIG_DFL);
#ifdef _UCRT
    abort(); /* raise() would end the process with a different exit status */
#else
    raise(SIGABRT); /* abort() would print its message a second time */
#endif
}

/*-- on and off; under the control lock --*/

/* Sets prof's exception filter. A filter that the program has set since, and that may call prof's, stays. */
static void prof__crash_filter_set(void)
{
    LPTOP_LEVEL_EXCEPTION_FILTER now = SetUnhandledExceptionFilter(prof__crash_filter);
    if (now == prof__crash_filter) return;
    if (prof__crash_others.filters && now)
        SetUnhandledExceptionFilter(now);
    else
        prof__crash_others.filter = now;
    prof__crash_others.filters = 1;
}

static void prof__crash_filter_drop(void)
{
    LPTOP_LEVEL_EXCEPTION_FILTER now;
    if (!prof__crash_others.filters) return;
    now = SetUnhandledExceptionFilter(prof__crash_others.filter);
    if (now == prof__crash_filter)
        prof__crash_others.filters = 0;
    else
        SetUnhandledExceptionFilter(now);
}

/* Sets prof's handler for abort(). If the program ignores SIGABRT, the signal stays ignored. */
static void prof__crash_abort_set(void)
{
    void(__cdecl *now)(int) = signal(SIGABRT, prof__crash_aborts);
    if (now == prof__crash_aborts || now == SIG_ERR) return;
    if (now == SIG_IGN || (prof__crash_others.aborts && now != SIG_DFL)) {
        signal(SIGABRT, now);
        return;
    }
    prof__crash_others.abort = now;
    prof__crash_others.aborts = 1;
}

static void prof__crash_abort_drop(void)
{
    void(__cdecl *now)(int);
    if (!prof__crash_others.aborts) return;
    now = signal(SIGABRT, prof__crash_others.abort);
    if (now == prof__crash_aborts)
        prof__crash_others.aborts = 0;
    else if (now != SIG_ERR)
        signal(SIGABRT, now);
}

static void prof__crash_install(prof__session *s)
{
    prof__crash.session = s;
    PROF__RELEASE(&prof__crash.reporter, (uintptr_t)PROF__CRASH_READY);
    if (!prof__crash_others.vectored) prof__crash_others.vectored = AddVectoredExceptionHandler(1, prof__crash_again);
    prof__crash_filter_set();
    prof__crash_abort_set();
}

static void prof__crash_forget(void)
{
    PROF__RELEASE(&prof__crash.reporter, (uintptr_t)PROF__CRASH_OFF);
    prof__crash.session = NULL;
    prof__crash_filter_drop();
    prof__crash_abort_drop();
    if (prof__crash_others.vectored) RemoveVectoredExceptionHandler(prof__crash_others.vectored);
    prof__crash_others.vectored = NULL;
}
#endif

#endif /* PROF__SESSION_CRASH_FILTER_H */
