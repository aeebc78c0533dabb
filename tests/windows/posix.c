/* posix.c - beside a test program on Windows: see posix.h. */
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#include <psapi.h>
#include "prof.h"

jmp_buf test_left;
const char *test_lacking;
static DWORD main_thread;

/* The main thread has a name, as it has on Linux. */
static void __attribute__((constructor)) posix_begin(void)
{
    typedef HRESULT(WINAPI * describe)(HANDLE, PCWSTR);
    describe set = (describe)(void *)GetProcAddress(GetModuleHandleA("kernel32"), "SetThreadDescription");
    main_thread = GetCurrentThreadId();
    if (set) set(GetCurrentThread(), L"test");
}

/* Ends the test, and the session that it may have begun: the next test begins one, too. */
void test_lacks(const char *what)
{
    if (GetCurrentThreadId() != main_thread) {
        printf("a thread needs what is missing: %s\n", what);
        exit(3);
    }
    prof_stop();
    test_lacking = what;
    longjmp(test_left, 1);
}

void *posix_anonymous(size_t size) { return VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE); }
int posix_release(void *at) { return VirtualFree(at, 0, MEM_RELEASE) ? 0 : -1; }
long posix_resident(void)
{
    PROCESS_MEMORY_COUNTERS memory;
    return K32GetProcessMemoryInfo(GetCurrentProcess(), &memory, sizeof memory) ? (long)memory.WorkingSetSize : 0;
}

int posix_host_name(char *to, size_t size)
{
    DWORD length = (DWORD)size;
    return GetComputerNameA(to, &length) ? 0 : -1;
}

/* Tests that cannot run here, of whichever program. Those that call what is missing before they start a thread
   skip themselves. */
static const struct { const char *program, *test, *why; } cannot[] = {
#include "skipped.h"
    {NULL, NULL, NULL}};

const char *test_cannot(const char *name)
{
    for (int i = 0; cannot[i].program; ++i)
        if (!strcmp(cannot[i].program, test_program) && !strcmp(cannot[i].test, name)) return cannot[i].why;
    return NULL;
}

/* Runs rm -rf, of one path. */
int posix_system(const char *command)
{
    char windows[1024];
    const char *path = command + 7;
    if (strncmp(command, "rm -rf ", 7) || strpbrk(path, ";&|")) test_lacks(command);
    char *to = windows + sprintf(windows, "rmdir /s /q ");
    for (; *path && to < windows + 900; ++path) *to++ = *path == '/' ? '\\' : *path == '\'' ? '"' : *path;
    strcpy(to, " >nul 2>nul");
#undef system
    system(windows);
    return 0;
}
