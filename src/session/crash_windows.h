// session/crash_windows: Windows: what a crash report needs of the system: stderr, the file, the failing thread.
#ifndef PROF__SESSION_CRASH_WINDOWS_H
#define PROF__SESSION_CRASH_WINDOWS_H
#include "ground/windows.h"

#ifdef _WIN32
/*-- CRASH ------------------------------------------------------------------------------------------------- >>crash --
   config.crash_report sets the filter of unhandled exceptions, and a handler of SIGABRT, because abort() raises no
   exception. Both say on stderr what the threads were doing, and write the image to a file unless it is mapped to one.
   Then they call what was set before them, so that the program dies as it would without prof, with the same exit
   status.
   The program may have died in malloc(), in the recorder, or of a stack overflow. So prof_start() has reserved all
   memory. A second crash, inside the report, ends only that part of the report: a vectored exception handler continues
   with the next one. CreateFile() and MoveFileEx() allocate from the process heap, whose lock the crashing thread holds
   if it died inside the heap's code.
   A thread that records keeps a part of its stack for the report of a stack overflow; for other threads, a new thread
   writes it. Other threads run on, but all call sites are off meanwhile, and scopes that end during the report are
   shown as open. */

#include <setjmp.h>
#include <signal.h>

/* setjmp() without a frame pointer: longjmp() then restores the registers and unwinds no frames. */
#if defined(__x86_64__) && defined(__GNUC__)
#define PROF__CRASH_SETJMP(at) _setjmp(at, NULL)
#elif defined(_M_X64) && !defined(__GNUC__)
#define PROF__CRASH_SETJMP(at) (setjmp(at) ? 1 : (int)(((_JUMP_BUFFER *)(at))->Frame = 0))
#else
#define PROF__CRASH_SETJMP(at) setjmp(at)
#endif
#define PROF__CRASH_NAP() Sleep(10)

#define PROF__CRASH_ABORT 3 /* in place of an exception code; 3 is the exit status of abort() */

static DWORD prof__crashed; /* the crashed thread; another thread may write the report */
#define PROF__CRASHED() ((uint64_t)prof__crashed)

typedef struct prof__crash_system {
    HANDLE file; /* the report's file; NULL: none is open */
    WCHAR path[PROF__WIDE_SIZE], part[PROF__WIDE_SIZE];
} prof__crash_system;

static const char *prof__crash_cause(int code)
{
    static char other[] = "exception 0x00000000";
    switch ((DWORD)code) {
    case PROF__CRASH_ABORT: return "abort()";
    case EXCEPTION_ACCESS_VIOLATION: return "access violation";
    case EXCEPTION_STACK_OVERFLOW: return "stack overflow";
    case EXCEPTION_INT_DIVIDE_BY_ZERO: return "division by zero";
    case EXCEPTION_ILLEGAL_INSTRUCTION: return "illegal instruction";
    case EXCEPTION_PRIV_INSTRUCTION: return "privileged instruction";
    case EXCEPTION_IN_PAGE_ERROR: return "page error";
    case EXCEPTION_BREAKPOINT: return "breakpoint";
    case EXCEPTION_FLT_DIVIDE_BY_ZERO:
    case EXCEPTION_FLT_INVALID_OPERATION:
    case EXCEPTION_FLT_OVERFLOW: return "floating-point exception";
    default: break;
    }
    for (int i = 0; i < 8; ++i) other[12 + i] = "0123456789ABCDEF"[(DWORD)code >> (28 - 4 * i) & 15];
    return other;
}

/* Writes to stderr. Returns the number of bytes written, 0 on errors. */
static ptrdiff_t prof__crash_say(const char *text, size_t size)
{
    HANDLE to = GetStdHandle(STD_ERROR_HANDLE);
    DWORD n = 0;
    return to && to != INVALID_HANDLE_VALUE && WriteFile(to, text, (DWORD)size, &n, NULL) ? (ptrdiff_t)n : 0;
}

/*-- the file --*/

static void prof__crash_names(prof__crash_system *of, const char *part, const char *path)
{
    if (!prof__wide(part, of->part)) of->part[0] = 0;
    if (!prof__wide(path, of->path)) of->path[0] = 0;
}

static int prof__crash_create(prof__crash_system *of, const char *part)
{
    HANDLE file = CreateFileW(of->part, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, NULL);
    (void)part;
    of->file = file == INVALID_HANDLE_VALUE ? NULL : file;
    return of->file != NULL;
}

static int prof__crash_write(prof__crash_system *of, uint64_t offset, const void *bytes, size_t size)
{
    OVERLAPPED place;
    DWORD n = 0;
    memset(&place, 0, sizeof place);
    place.Offset = (DWORD)offset;
    place.OffsetHigh = (DWORD)(offset >> 32);
    return WriteFile(of->file, bytes, (DWORD)size, &n, &place) && n == size;
}

static int prof__crash_resize(prof__crash_system *of, uint64_t size)
{
    LARGE_INTEGER to;
    to.QuadPart = (LONGLONG)size;
    return SetFilePointerEx(of->file, to, NULL, FILE_BEGIN) && SetEndOfFile(of->file);
}

/* Renames a complete file to its final path, and removes an incomplete one. Returns 1 if the file is at its path. */
static int prof__crash_finish(prof__crash_system *of, int good, const char *part, const char *path)
{
    (void)part;
    (void)path;
    if (of->file && !CloseHandle(of->file)) good = 0;
    of->file = NULL;
    if (good && MoveFileExW(of->part, of->path, MOVEFILE_REPLACE_EXISTING)) return 1;
    DeleteFileW(of->part);
    return 0;
}

/*-- before and after --*/

static void prof__crash_before(prof__crash_system *of) { of->file = NULL; }
static void prof__crash_after(prof__crash_system *of) { (void)of; }
#endif

#endif /* PROF__SESSION_CRASH_WINDOWS_H */
