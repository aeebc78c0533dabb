/* What only Windows has: TerminateProcess(), exceptions, paths in UTF-16 and long ones, fibers, ends of threads, DLLs. Run by
   tests/wine.sh. */
#include "prof_read.h"
#define WIN32_LEAN_AND_MEAN /* else it declares gethostname() */
#include <windows.h>
#include "test.h"
#include "trace.h"

static WCHAR *wide(const char *text, WCHAR *to)
{
    MultiByteToWideChar(CP_UTF8, 0, text, -1, to, 2000);
    return to;
}

static HANDLE child_stderr; /* NULL: ours */

/* Runs this program with one of the tasks below. Returns its exit status; if it is to be terminated, once it said so. */
static DWORD run_self(const char *task, int terminate)
{
    WCHAR command[2000], self[600];
    STARTUPINFOW how;
    PROCESS_INFORMATION process;
    DWORD status = 99;
    HANDLE ready = CreateEventA(NULL, TRUE, FALSE, "prof-test-ready");
    GetModuleFileNameW(NULL, self, 600);
    wsprintfW(command, L"\"%s\" %S", self, task);
    memset(&how, 0, sizeof how);
    how.cb = sizeof how;
    if (child_stderr) {
        how.dwFlags = STARTF_USESTDHANDLES;
        how.hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE);
        how.hStdError = child_stderr;
    }
    SetEnvironmentVariableA("PROF_TEST_TASK", task);
    BOOL made = CreateProcessW(self, command, NULL, NULL, child_stderr != NULL, 0, NULL, NULL, &how, &process);
    SetEnvironmentVariableA("PROF_TEST_TASK", NULL);
    CHECK(made);
    if (!made) return status;
    if (terminate) {
        CHECK_EQUAL(WaitForSingleObject(ready, 60000), WAIT_OBJECT_0);
        TerminateProcess(process.hProcess, 7);
    }
    CHECK_EQUAL(WaitForSingleObject(process.hProcess, 20000), WAIT_OBJECT_0);
    TerminateProcess(process.hProcess, 100); /* one that hangs */
    GetExitCodeProcess(process.hProcess, &status);
    CloseHandle(process.hThread);
    CloseHandle(process.hProcess);
    CloseHandle(ready);
    return status;
}

/* The child: records 20,000 scopes, of which the last is open, says so, and waits for its end. */
static void task_terminated(int stream, int beside)
{
    prof_config config = trace_config(stream ? 128u << 10 : 1u << 20);
    config.output = trace_path(beside ? "terminated.csv" : stream ? "terminated-stream.prof" : "terminated.prof");
    config.mode = stream ? PROF_STREAM : PROF_RING;
    if (stream) config.wait_ns = 10000000000u;
    trace_start(&config);
    for (int i = 0; i < 20000; ++i) PROFILE_BLOCK("scope") {}
    PROFILE_BEGIN("open");
    SetEvent(OpenEventA(EVENT_MODIFY_STATE, FALSE, "prof-test-ready"));
    Sleep(60000);
}

static size_t count_named(const prof_trace *about, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < prof_trace_track_count(about); ++i) {
        trace_list list = trace_read(about, i);
        count += trace_count(&list, name);
        trace_free(&list);
    }
    return count;
}

static void check_terminated(const char *task, const char *path)
{
    CHECK_EQUAL(run_self(task, 1), 7);
    prof_trace *trace = trace_open_file(path);
    if (!trace) return;
    CHECK_EQUAL(count_named(trace, "scope"), 20000);
    CHECK_EQUAL(count_named(trace, "open"), 1);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    prof_trace_close(trace);
}

TEST(a_terminated_process_leaves_its_recording)
{
    check_terminated("terminated", trace_path("terminated.prof"));
    check_terminated("terminated-stream", trace_path("terminated-stream.prof"));
    check_terminated("terminated-beside", trace_path("terminated.csv.prof"));
}

static int is_there(const char *name) { return GetFileAttributesA(trace_path(name)) != INVALID_FILE_ATTRIBUTES; }

static void check_scopes(const char *name, size_t first, size_t other)
{
    char *text = trace_file_text(trace_path(name), NULL);
    size_t firsts = 0, others = 0;
    for (char *at = text; at && (at = strstr(at, ",scope,first,")) != NULL; ++at) ++firsts;
    for (char *at = text; at && (at = strstr(at, ",scope,other,")) != NULL; ++at) ++others;
    CHECK_EQUAL(firsts, first);
    CHECK_EQUAL(others, other);
    free(text);
}

/* The child: records into the output of its parent. */
static void task_same_output(void)
{
    prof_config config = trace_config(256u << 10);
    config.output = trace_path("same.csv");
    trace_start(&config);
    PROFILE_BLOCK("other") {}
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

TEST(two_processes_with_one_output)
{
    prof_config config = trace_config(256u << 10);
    remove(trace_path("same.csv"));
    remove(trace_path("same.2.csv"));
    config.output = trace_path("same.csv");
    trace_start(&config);
    PROFILE_BLOCK("first") {}
    CHECK_EQUAL(run_self("same-output", 0), 0);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    check_scopes("same.csv", 1, 0);
    check_scopes("same.2.csv", 0, 1);
    CHECK(!is_there("same.csv.prof") && !is_there("same.2.csv.prof"));
    prof_trace *trace = NULL; /* what was recorded can still be read and saved, though its file is gone */
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    if (trace) CHECK_EQUAL(count_named(trace, "first"), 1);
    prof_trace_close(trace);
}

static DWORD WINAPI thread_stays(LPVOID ready)
{
    PROFILE_BLOCK("first") {}
    SetEvent(ready);
    Sleep(INFINITE);
    return 0;
}

/* The child: ends while a thread of it still points into the image. */
static void task_thread_stays(void)
{
    prof_config config = trace_config(256u << 10);
    HANDLE ready = CreateEventA(NULL, TRUE, FALSE, NULL);
    config.output = trace_path("stays.csv");
    trace_start(&config);
    CreateThread(NULL, 0, thread_stays, ready, 0, NULL);
    WaitForSingleObject(ready, 60000);
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

TEST(the_file_beside_an_output_goes)
{
    CHECK_EQUAL(run_self("thread-stays", 0), 0);
    check_scopes("stays.csv", 1, 0);
    CHECK(!is_there("stays.csv.prof"));
    for (int k = 0; k < 2; ++k) { /* what a killed program left is kept, and its output is the next program's */
        FILE *file = fopen(trace_path("stays.csv.prof"), "wb");
        fputs(k ? "second" : "first", file);
        fclose(file);
        CHECK_EQUAL(run_self("thread-stays", 0), 0);
        char *text = trace_file_text(trace_path("stays.csv.old.prof"), NULL);
        CHECK(text && !strcmp(text, k ? "second" : "first"));
        free(text);
    }
    CHECK(!is_there("stays.2.csv"));
}

/* Another program has a file of the output's name open, and shares it with nobody: the export fails. */
TEST(what_cannot_be_exported_is_kept)
{
    prof_config config = trace_config(128u << 10);
    const char *output = trace_path("kept.csv");
    config.output = output;
    config.mode = PROF_STREAM;
    remove(output);
    trace_start(&config);
    PROFILE_BLOCK("scope") {}
    HANDLE held = CreateFileA(output, GENERIC_READ, 0, NULL, CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, NULL);
    CHECK(held != INVALID_HANDLE_VALUE);
    CHECK(prof_stop() != PROF_OK);
    CloseHandle(held);
    CHECK(strstr(prof_error(), "kept.csv: ") && strstr(prof_error(), ": the recording is kept in "));
    CHECK(strstr(prof_error(), "kept.csv.prof"));
    prof_trace *trace = trace_open_file(trace_path("kept.csv.prof"));
    if (trace) CHECK_EQUAL(count_named(trace, "scope"), 1);
    prof_trace_close(trace);
}

/*-- paths --*/

#define NAMED "\xC3\xA4\xE6\xBC\xA2\xF0\x9F\x98\x80" /* a umlaut, a CJK character, and one outside the first plane */

static void save_and_read(const char *path)
{
    WCHAR name[2000];
    CHECK_EQUAL(prof_save(path), PROF_OK);
    prof_trace *trace = NULL;
    CHECK_EQUAL(prof_trace_open(path, &trace), PROF_OK);
    if (trace) CHECK_EQUAL(count_named(trace, "scope"), 1);
    prof_trace_close(trace);
    if (strlen(path) < 200) CHECK(GetFileAttributesW(wide(path, name)) != INVALID_FILE_ATTRIBUTES);
}

TEST(paths_are_utf_8)
{
    prof_config config = trace_config(256u << 10);
    char path[300], json[300];
    WCHAR name[2000];
    snprintf(path, sizeof path, "%s/%s.prof", trace_path(NAMED), NAMED); /* in a folder that is not there yet */
    config.output = path;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    PROFILE_BLOCK("scope") {}
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK(GetFileAttributesW(wide(path, name)) != INVALID_FILE_ATTRIBUTES);
    prof_trace *trace = trace_open_file(path);
    if (trace) CHECK_EQUAL(count_named(trace, "scope"), 1);
    prof_trace_close(trace);
    snprintf(json, sizeof json, "%s", trace_path("saved " NAMED ".prof"));
    save_and_read(json);
    save_and_read(json); /* replaces */
}

/* Runs the tool with these arguments, in UTF-8. Returns its exit status and what it said. */
static DWORD run_tool(const char *arguments, char **said)
{
    SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};
    WCHAR command[2000], tool[600];
    STARTUPINFOW how;
    PROCESS_INFORMATION process;
    DWORD status = 99;
    char line[1000], path[300];
    GetModuleFileNameW(NULL, tool, 600);
    wcscpy(wcsrchr(tool, '\\') + 1, L"prof.exe");
    snprintf(line, sizeof line, "prof %s", arguments);
    snprintf(path, sizeof path, "%s", trace_path("tool.txt"));
    memset(&how, 0, sizeof how);
    how.cb = sizeof how;
    how.dwFlags = STARTF_USESTDHANDLES;
    how.hStdOutput = CreateFileA(path, GENERIC_WRITE, FILE_SHARE_READ, &inherit, CREATE_ALWAYS, 0, NULL);
    how.hStdError = how.hStdOutput;
    BOOL made = CreateProcessW(tool, wide(line, command), NULL, NULL, TRUE, 0, NULL, NULL, &how, &process);
    CHECK(made);
    if (made) {
        CHECK_EQUAL(WaitForSingleObject(process.hProcess, 60000), WAIT_OBJECT_0);
        GetExitCodeProcess(process.hProcess, &status);
        CloseHandle(process.hThread);
        CloseHandle(process.hProcess);
    }
    CloseHandle(how.hStdOutput);
    *said = trace_file_text(path, NULL);
    return status;
}

TEST(arguments_of_the_tool_are_utf_8)
{
    prof_config config = trace_config(256u << 10);
    char path[300], arguments[700], *said;
    snprintf(path, sizeof path, "%s", trace_path("tool " NAMED ".prof"));
    config.output = path;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    PROFILE_BLOCK("scope of a file") {}
    CHECK_EQUAL(prof_stop(), PROF_OK);
    snprintf(arguments, sizeof arguments, "summary \"%s\"", path);
    CHECK_EQUAL(run_tool(arguments, &said), 0);
    CHECK(said && strstr(said, "scope of a file"));
    free(said);
    snprintf(arguments, sizeof arguments, "export \"%s\" -o \"%s.json\"", path, path);
    CHECK_EQUAL(run_tool(arguments, &said), 0);
    free(said);
    snprintf(arguments, sizeof arguments, "summary \"%s.none\"", path);
    CHECK_EQUAL(run_tool(arguments, &said), 2);
    CHECK(said && strstr(said, NAMED ".prof.none")); /* as it was given */
    free(said);
    snprintf(arguments, sizeof arguments, "summary %s", trace_path("tool*.prof"));
    CHECK_EQUAL(run_tool(arguments, &said), 0);
    CHECK(said && strstr(said, "scope of a file"));
    free(said);
}

TEST(the_environment_is_utf_8)
{
    char path[600];
    WCHAR name[2000];
    snprintf(path, sizeof path, "%s", trace_path("env " NAMED ".prof"));
    DeleteFileW(wide(path, name));
    SetEnvironmentVariableW(L"PROF_OUTPUT", wide(path, name));
    prof_config config = trace_config(256u << 10);
    CHECK_EQUAL(prof_config_from_env(&config), PROF_OK);
    SetEnvironmentVariableW(L"PROF_OUTPUT", NULL);
    CHECK_TEXT(config.output, path);
    prof_status status = prof_start(&config);
    if (status) printf("%s\n", prof_error());
    CHECK_EQUAL(status, PROF_OK);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK(GetFileAttributesW(wide(path, name)) != INVALID_FILE_ATTRIBUTES);
}

TEST(paths_longer_than_260)
{
    prof_config config = trace_config(256u << 10);
    char path[900];
    snprintf(path, sizeof path, "%s", trace_path("long"));
    for (int i = 0; i < 6; ++i) strcat(path, "/0123456789012345678901234567890123456789012345678901234567890123456789");
    strcat(path, "/trace.prof");
    config.output = path;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    PROFILE_BLOCK("scope") {}
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_trace *trace = trace_open_file(path);
    if (trace) CHECK_EQUAL(count_named(trace, "scope"), 1);
    prof_trace_close(trace);
    memcpy(strrchr(path, '/') + 1, "other", 5);
    save_and_read(path);
}

/*-- crashes --*/

static volatile int *volatile nothing_there = (volatile int *)64;

/* Takes the stack page by page, from near their ends: wine 8 leaves two pages to the handlers, whatever was asked for,
   and so that these are whole. */
static void __attribute__((noinline)) overflow(void)
{
    char here;
    for (size_t size = ((uintptr_t)&here - 3900) & 4095;; size = 4096) *(volatile char *)__builtin_alloca(size) = 1;
}

static DWORD WINAPI thread_overflows(LPVOID unused)
{
    PROFILE_THREAD("deep");
    PROFILE_BLOCK("recursion") overflow();
    return unused != NULL;
}

static LONG WINAPI filter_of_the_program(EXCEPTION_POINTERS *about)
{
    char text[40]; /* there is little stack after an overflow */
    DWORD code = about->ExceptionRecord->ExceptionCode, size = 23, written;
    memcpy(text, "filter of the program: ", size);
    for (int at = 28; at >= 0; at -= 4) text[size++] = "0123456789abcdef"[code >> at & 15];
    WriteFile(GetStdHandle(STD_ERROR_HANDLE), text, size, &written, NULL);
    return EXCEPTION_EXECUTE_HANDLER; /* the process ends with the exception's code */
}

/* Handles one exception before all filters, which therefore never see it. */
static LONG WINAPI continue_after(EXCEPTION_POINTERS *about)
{
    return about->ExceptionRecord->ExceptionCode == 0xe0001111 ? EXCEPTION_CONTINUE_EXECUTION : EXCEPTION_CONTINUE_SEARCH;
}

static void handler_of_the_program(int number)
{
    fprintf(stderr, "handler of the program: %d\n", number);
    exit(42);
}

static DWORD WINAPI thread_waits(LPVOID ready)
{
    PROFILE_THREAD("waiting");
    PROFILE_BLOCK("wait") {
        SetEvent(ready);
        Sleep(60000);
    }
    return 0;
}

enum { IMAGE_SIZE = 1 << 20 };
static void *image;

static void die(const char *how)
{
    DWORD old;
    if (strstr(how, "access")) *nothing_there = 1;
    if (strstr(how, "illegal")) __builtin_trap();
    if (strstr(how, "division"))
        __asm__ volatile("xorl %%edx, %%edx\n\txorl %%ecx, %%ecx\n\tmovl $1, %%eax\n\tdivl %%ecx" ::: "eax", "ecx", "edx");
    if (strstr(how, "overflow")) overflow();
    if (strstr(how, "thread")) WaitForSingleObject(CreateThread(NULL, 0, thread_overflows, NULL, 0, NULL), 60000);
    if (strstr(how, "abort")) abort();
    if (strstr(how, "raise")) raise(SIGABRT);
    if (strstr(how, "other")) RaiseException(0xe0001234, 0, 0, NULL);
    if (strstr(how, "twice")) { /* the report dies, too, of an image that is not there */
        VirtualProtect(image, IMAGE_SIZE, PAGE_NOACCESS, &old);
        *nothing_there = 1;
    }
}

/* The child: dies as its task says; "bare": without a report. */
static void task_crashes(const char *how)
{
    prof_config config = trace_config(IMAGE_SIZE);
    char name[100];
    HANDLE ready = CreateEventA(NULL, TRUE, FALSE, NULL);
    if (strstr(how, "twice")) {
        config.memory = image = VirtualAlloc(NULL, IMAGE_SIZE, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
        config.memory_size = IMAGE_SIZE;
    }
    SetUnhandledExceptionFilter(filter_of_the_program);
    if (strstr(how, "handler")) signal(SIGABRT, handler_of_the_program);
    snprintf(name, sizeof name, "%s.%s", how, strstr(how, "mapped") ? "prof" : "csv");
    config.output = trace_path(name);
    config.crash_report = !strstr(how, "bare");
    trace_start(&config);
    PROFILE_THREAD("main");
    CreateThread(NULL, 0, thread_waits, ready, 0, NULL);
    WaitForSingleObject(ready, 60000);
    PROFILE_BEGIN("game");
    PROFILE_BLOCK("done") {}
    AddVectoredExceptionHandler(0, continue_after);
    RaiseException(0xe0001111, 0, 0, NULL); /* the program handles it: no report */
    PROFILE_BEGIN("step");
    die(how);
    fprintf(stderr, "it lives\n");
    exit(98);
}

/* Runs a child that dies. Returns its exit status and what it said on stderr. */
static DWORD crash(const char *how, char **said)
{
    SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};
    char path[300];
    snprintf(path, sizeof path, "%s", trace_path("crash.err"));
    child_stderr = CreateFileA(path, GENERIC_WRITE, FILE_SHARE_READ, &inherit, CREATE_ALWAYS, 0, NULL);
    DWORD status = run_self(how, 0);
    CloseHandle(child_stderr);
    child_stderr = NULL;
    *said = trace_file_text(path, NULL);
    return status;
}

static void expect(const char *text, const char *part)
{
    if (strstr(text, part)) return;
    ++test_failures;
    printf("\"%s\" is not in:\n%s", part, text);
}

/* The report names the cause and the open scopes of both threads, the trace has them, and the death is the same. */
static void check_crash(const char *how, const char *cause, DWORD status, const char *last)
{
    char bare[100], name[100], path[300], line[400], *said;
    snprintf(bare, sizeof bare, "bare-%s", how);
    snprintf(name, sizeof name, strstr(how, "mapped") ? "%s.prof" : "%s.csv.crash.prof", how);
    snprintf(path, sizeof path, "%s", trace_path(name));
    remove(path);
    CHECK_EQUAL(crash(bare, &said), status);
    CHECK(!strstr(said, "prof:"));
    expect(said, last);
    free(said);
    CHECK_EQUAL(crash(how, &said), status);
    snprintf(line, sizeof line, "prof: %s in thread ", cause);
    expect(said, line);
    if (!strstr(how, "thread")) expect(said, " \"main\": game > step (");
    expect(said, strstr(how, "thread") ? " \"deep\": recursion (" : " \"waiting\": wait (");
    CHECK(!strstr(said, "it lives"));
    expect(said, last);
    if (*last) CHECK(strstr(said, last) > strstr(said, "prof: the trace is in ")); /* called after the report */
    const char *first = strstr(said, " in thread ");
    CHECK(first && !strstr(first + 1, " in thread ")); /* one report */
    expect(said, name);
    free(said);
    prof_trace *trace = trace_open_file(path);
    if (!trace) return;
    trace_check(trace);
    CHECK_EQUAL(prof_trace_about(trace)->complete, 0);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    trace_list list = trace_read(trace, trace_track_named(trace, "main"));
    const prof_event *step = trace_find(&list, "step"), *done = trace_find(&list, "done");
    CHECK_EQUAL(list.count, 3);
    CHECK(step && step->flags == PROF_TRUNCATED_END && step->depth == 1);
    CHECK(done && !done->flags);
    trace_free(&list);
    CHECK_EQUAL(count_named(trace, "wait"), 1);
    prof_trace_close(trace);
}

#define FILTERED(code) "filter of the program: " #code

TEST(crashes_are_reported)
{
    check_crash("access", "access violation", 0xc0000005, FILTERED(c0000005));
    check_crash("access-mapped", "access violation", 0xc0000005, FILTERED(c0000005));
    check_crash("illegal", "illegal instruction", 0xc000001d, FILTERED(c000001d));
    check_crash("division", "division by zero", 0xc0000094, FILTERED(c0000094));
    check_crash("other", "exception 0xE0001234", 0xe0001234, FILTERED(e0001234));
    check_crash("abort", "abort()", 3, "");
    check_crash("raise", "abort()", 3, "");
}

TEST(stack_overflows_are_reported)
{
    check_crash("overflow", "stack overflow", 0xc00000fd, FILTERED(c00000fd));
    check_crash("thread", "stack overflow", 0xc00000fd, FILTERED(c00000fd));
}

TEST(a_handler_of_abort_follows_the_report) { check_crash("handler-abort", "abort()", 42, "handler of the program: 22"); }

TEST(a_crash_in_the_report_ends_only_the_report)
{
    char *said;
    CHECK_EQUAL(crash("twice", &said), 0xc0000005);
    expect(said, "prof: the trace could not be written\n");
    expect(said, FILTERED(c0000005));
    free(said);
}

/*-- saves --*/

static void set_save_event(void)
{
    char name[60];
    snprintf(name, sizeof name, "Local\\prof-save-%lu", GetCurrentProcessId());
    HANDLE event = OpenEventA(EVENT_MODIFY_STATE, FALSE, name);
    CHECK(event != NULL);
    SetEvent(event);
    CloseHandle(event);
}

static long wait_for_file(const char *path, DWORD ms)
{
    for (DWORD i = 0; i < ms / 10 && trace_file_size(path) < 0; ++i) Sleep(10);
    return trace_file_size(path);
}

TEST(an_event_saves)
{
    prof_config config = trace_config(1u << 20);
    char pattern[300], first[300], second[300];
    snprintf(pattern, sizeof pattern, "%s", trace_path("event-%c.prof"));
    snprintf(first, sizeof first, "%s", trace_path("event-1.prof"));
    snprintf(second, sizeof second, "%s", trace_path("event-2.prof"));
    remove(first);
    remove(second);
    config.save = pattern;
    config.save_signal = 1;
    trace_start(&config);
    PROFILE_BLOCK("scope") {}
    set_save_event();
    CHECK(wait_for_file(first, 20000) > 0);
    prof_trace *trace = trace_open_file(first);
    if (trace) {
        CHECK_EQUAL(count_named(trace, "scope"), 1);
        CHECK(trace_track_named(trace, "prof") < prof_trace_track_count(trace));
    }
    prof_trace_close(trace);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    set_save_event(); /* nobody listens: it must not save in the next session */
    remove(first);
    trace_start(&config);
    CHECK_EQUAL(wait_for_file(first, 300), -1);
    set_save_event();
    CHECK(wait_for_file(first, 20000) > 0);
    CHECK_EQUAL(trace_file_size(second), -1);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    config.save_signal = 0; /* the event is there, but this session does not ask for it */
    remove(first);
    trace_start(&config);
    set_save_event();
    CHECK_EQUAL(wait_for_file(first, 300), -1);
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

/*-- locks --*/

static CRITICAL_SECTION section;
static SRWLOCK srw_lock = SRWLOCK_INIT;
static volatile long counted[2];

static DWORD WINAPI lock_and_count(LPVOID unused)
{
    (void)unused;
    for (int i = 0; i < 2000; ++i) {
        PROFILE_CRITICAL_SECTION_ENTER(&section, "section");
        counted[0] = counted[0] + 1;
        if (i % 64 == 0) Sleep(0); /* so that others have to wait */
        PROFILE_CRITICAL_SECTION_LEAVE(&section);
        PROFILE_SRWLOCK_ACQUIRE(&srw_lock, "srw");
        counted[1] = counted[1] + 1;
        if (i % 64 == 0) Sleep(0);
        PROFILE_SRWLOCK_RELEASE(&srw_lock);
    }
    return 0;
}

static DWORD WINAPI wait_for_both(LPVOID ready)
{
    SetEvent(ready);
    PROFILE_CRITICAL_SECTION_ENTER(&section, "section");
    PROFILE_CRITICAL_SECTION_LEAVE(&section);
    PROFILE_SRWLOCK_ACQUIRE(&srw_lock, "srw");
    PROFILE_SRWLOCK_RELEASE(&srw_lock);
    return 0;
}

TEST(locks_of_windows)
{
    prof_config config = trace_config(16u << 20);
    HANDLE threads[4], ready = CreateEventA(NULL, TRUE, FALSE, NULL);
    prof_lock_row *rows = NULL;
    size_t count = 0;
    InitializeCriticalSection(&section);
    trace_start(&config);
    for (int i = 0; i < 4; ++i) threads[i] = CreateThread(NULL, 0, lock_and_count, NULL, 0, NULL);
    WaitForMultipleObjects(4, threads, TRUE, 60000);
    for (int i = 0; i < 4; ++i) CloseHandle(threads[i]);
    CHECK_EQUAL(counted[0], 4 * 2000);
    CHECK_EQUAL(counted[1], 4 * 2000);
    PROFILE_CRITICAL_SECTION_ENTER(&section, "section"); /* a thread that surely waits */
    PROFILE_SRWLOCK_ACQUIRE(&srw_lock, "srw");
    threads[0] = CreateThread(NULL, 0, wait_for_both, ready, 0, NULL);
    WaitForSingleObject(ready, 60000);
    Sleep(100);
    PROFILE_CRITICAL_SECTION_LEAVE(&section);
    Sleep(100);
    PROFILE_SRWLOCK_RELEASE(&srw_lock);
    CHECK_EQUAL(WaitForSingleObject(threads[0], 60000), WAIT_OBJECT_0);
    CloseHandle(threads[0]);
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(prof_locks(trace, 0, &rows, &count), PROF_OK);
    CHECK_EQUAL(count, 2);
    for (size_t i = 0; i < count; ++i) {
        char waits[40];
        snprintf(waits, sizeof waits, "wait for %s", rows[i].name);
        CHECK(!strcmp(rows[i].name, "section") || !strcmp(rows[i].name, "srw"));
        CHECK_EQUAL(rows[i].acquired, 4 * 2000 + 2);
        CHECK_EQUAL(rows[i].holding + rows[i].waiting + rows[i].unmatched + rows[i].abandoned, 0);
        CHECK(rows[i].contended >= 1);
        CHECK_EQUAL(rows[i].contended, count_named(trace, waits));
    }
    prof_locks_free(rows);
    prof_trace_close(trace);
    DeleteCriticalSection(&section);
}

/* Two threads hold a lock at the same time; one that wants it alone waits for both. */
static HANDLE shared_held[2], shared_ends;

static DWORD WINAPI share(LPVOID held)
{
    PROFILE_SRWLOCK_ACQUIRE_SHARED(&srw_lock, "shared");
    SetEvent(held);
    WaitForSingleObject(shared_ends, 60000);
    PROFILE_SRWLOCK_RELEASE_SHARED(&srw_lock);
    return 0;
}

static DWORD WINAPI have_alone(LPVOID held)
{
    SetEvent(held);
    PROFILE_SRWLOCK_ACQUIRE(&srw_lock, "shared");
    PROFILE_SRWLOCK_RELEASE(&srw_lock);
    return 0;
}

TEST(locks_that_are_shared)
{
    prof_config config = trace_config(1u << 20);
    HANDLE threads[3], waits = CreateEventA(NULL, FALSE, FALSE, NULL);
    prof_lock_row *rows = NULL;
    size_t count = 0;
    shared_ends = CreateEventA(NULL, TRUE, FALSE, NULL);
    trace_start(&config);
    for (int i = 0; i < 2; ++i) {
        shared_held[i] = CreateEventA(NULL, TRUE, FALSE, NULL);
        threads[i] = CreateThread(NULL, 0, share, shared_held[i], 0, NULL);
    }
    CHECK_EQUAL(WaitForMultipleObjects(2, shared_held, TRUE, 60000), WAIT_OBJECT_0); /* both at once */
    threads[2] = CreateThread(NULL, 0, have_alone, waits, 0, NULL);
    WaitForSingleObject(waits, 60000);
    Sleep(100);
    SetEvent(shared_ends);
    CHECK_EQUAL(WaitForMultipleObjects(3, threads, TRUE, 60000), WAIT_OBJECT_0);
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(prof_locks(trace, 0, &rows, &count), PROF_OK);
    CHECK_EQUAL(count, 1);
    if (count == 1) {
        CHECK(!strcmp(rows[0].name, "shared"));
        CHECK_EQUAL(rows[0].acquired, 3);
        CHECK_EQUAL(rows[0].contended, 1);
        CHECK_EQUAL(rows[0].holding + rows[0].waiting + rows[0].unmatched + rows[0].abandoned, 0);
    }
    CHECK_EQUAL(count_named(trace, "wait for shared"), 1);
    prof_locks_free(rows);
    prof_trace_close(trace);
    for (int i = 0; i < 3; ++i) CloseHandle(threads[i]);
}

/*-- fibers and threads --*/

static prof_fiber *fiber_track;
static void *fiber_main;
static VOID WINAPI fiber_run(PVOID unused)
{
    (void)unused;
    for (int i = 0; i < 3; ++i) {
        PROFILE_BLOCK("on the fiber") {
            prof_fiber_switch(NULL);
            SwitchToFiber(fiber_main);
            prof_fiber_switch(fiber_track);
        }
    }
    prof_fiber_switch(NULL);
    SwitchToFiber(fiber_main);
}

TEST(fibers_have_tracks)
{
    prof_config config = trace_config(1u << 20);
    trace_start(&config);
    fiber_main = ConvertThreadToFiber(NULL);
    CHECK(fiber_main != NULL);
    void *fiber = CreateFiber(0, fiber_run, NULL);
    fiber_track = prof_fiber_create("the fiber");
    for (int i = 0; i < 4; ++i) {
        PROFILE_BLOCK("on the thread") {}
        prof_fiber_switch(fiber_track);
        SwitchToFiber(fiber);
    }
    DeleteFiber(fiber);
    prof_fiber_destroy(fiber_track);
    PROFILE_BLOCK("after the fiber") {} /* whose end must not be taken for that of the thread */
    ConvertFiberToThread();
    PROFILE_BLOCK("after the fiber") {}
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, trace_track_named(trace, "the fiber"));
    CHECK_EQUAL(trace_count(&list, "on the fiber"), 3);
    trace_free(&list);
    list = trace_read(trace, 0);
    CHECK_EQUAL(trace_count(&list, "on the thread"), 4);
    CHECK_EQUAL(trace_count(&list, "after the fiber"), 2);
    trace_free(&list);
    prof_trace_close(trace);
}

static DWORD WINAPI short_thread(LPVOID unused)
{
    (void)unused;
    PROFILE_BLOCK("scope") {}
    return 0;
}

/* Threads give what is left of their chunk to the next: else 500 would need as many chunks, and the ring has 60. */
TEST(threads_that_end_give_their_chunks_back)
{
    prof_config config = trace_config(1u << 20);
    config.mode = PROF_FILL;
    trace_start(&config);
    for (int i = 0; i < 500; ++i) {
        HANDLE thread = CreateThread(NULL, 0, short_thread, NULL, 0, NULL);
        WaitForSingleObject(thread, INFINITE);
        CloseHandle(thread);
    }
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(count_named(trace, "scope"), 500);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    prof_trace_close(trace);
}

/*-- DLLs --*/

static int (*in_library(HMODULE library, const char *name))(int)
{
    union { FARPROC any; int (*of)(int); } get;
    get.any = library ? GetProcAddress(library, name) : NULL;
    return get.of;
}

/* DLLs that only mark up, and call the program's recorder. */
static void check_marks(const char *name)
{
    prof_config config = trace_config(1u << 20);
    trace_start(&config);
    HMODULE library = LoadLibraryA(name);
    int (*marks)(int) = in_library(library, "library_marks");
    CHECK(marks != NULL);
    if (marks) CHECK_EQUAL(marks(10), 10);
    FreeLibrary(library);
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(count_named(trace, "in a library"), marks ? 10 : -1);
    prof_trace_close(trace);
}

TEST(a_library_that_marks_up) { check_marks("windows_plain.dll"); }

/* Compiled by clang as Microsoft's compiler would: that has no extensions of GNU. */
TEST(a_library_of_microsofts_kind)
{
    HMODULE library = LoadLibraryA("windows_msvc.dll"); /* where the program is */
    if (!library) SKIP("no clang");
    FreeLibrary(library);
    check_marks("windows_msvc.dll");
}

/* One with a recorder for itself, which is unloaded before the thread ends that it has recorded. */
static DWORD WINAPI use_library(LPVOID unused)
{
    (void)unused;
    HMODULE library = LoadLibraryA("windows_own.dll");
    int (*records)(int) = in_library(library, "library_records");
    CHECK(records != NULL);
    if (records) CHECK_EQUAL(records(5), 5);
    FreeLibrary(library);
    CHECK(!GetModuleHandleA("windows_own.dll"));
    return 0;
}

TEST(a_library_with_a_recorder_of_its_own)
{
    prof_config config = trace_config(1u << 20);
    trace_start(&config);
    HANDLE thread = CreateThread(NULL, 0, use_library, NULL, 0, NULL);
    CHECK_EQUAL(WaitForSingleObject(thread, 60000), WAIT_OBJECT_0);
    CloseHandle(thread);
    PROFILE_BLOCK("scope") {}
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(count_named(trace, "in a library of its own"), 0);
    CHECK_EQUAL(count_named(trace, "scope"), 1);
    prof_trace_close(trace);
}

/* Two recorders in one process that were told the same output. */
TEST(a_program_and_a_library_with_one_output)
{
    prof_config config = trace_config(256u << 10);
    HMODULE library = LoadLibraryA("windows_own.dll");
    union { FARPROC any; int (*of)(const char *); } starts;
    int (*stops)(int) = in_library(library, "library_stops");
    starts.any = library ? GetProcAddress(library, "library_starts") : NULL;
    for (int beside = 0; beside < 2 && starts.any; ++beside) {
        const char *mine = beside ? "both.csv" : "both.prof", *its = beside ? "both.2.csv" : "both.2.prof";
        remove(trace_path(mine));
        remove(trace_path(its));
        config.output = trace_path(mine);
        trace_start(&config);
        PROFILE_BLOCK("first") {}
        CHECK_EQUAL(starts.of(config.output), 0);
        CHECK_EQUAL(stops(0), 0);
        CHECK_EQUAL(prof_stop(), PROF_OK);
        char *text = trace_file_text(trace_path(its), NULL);
        CHECK(text != NULL);
        free(text);
        if (beside) check_scopes("both.csv", 1, 0);
        prof_reset();
    }
    CHECK(starts.any && stops);
    FreeLibrary(library);
}

int main(int argc, char **argv)
{
    const char *task = getenv("PROF_TEST_TASK");
    if (task && !strncmp(task, "terminated", 10))
        task_terminated(strstr(task, "stream") != NULL, strstr(task, "beside") != NULL);
    else if (task && !strcmp(task, "same-output")) task_same_output();
    else if (task && !strcmp(task, "thread-stays")) task_thread_stays();
    else if (task && *task) task_crashes(task);
    else return test_run(argc, argv);
    return 0;
}
