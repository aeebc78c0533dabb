/* crash_report: what a dying program writes and leaves, and that it dies exactly as it would have without: with the
   same signal, core dump and output, and the same handlers of its own. */
/* run: unraced */
#include "private.h"
#include "test.h"
#include "trace.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int bugs[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { BUGS = sizeof bugs / sizeof *bugs };

#if defined(__GLIBC__) && !TRACE_SANITIZER
#define COUNTS_MALLOC 1
static int in_report; /* from the crash on: malloc is then forbidden */
static int crash_in_malloc;

void *__libc_malloc(size_t size);
void *malloc(size_t size)
{
    volatile int *null = NULL;
    if (crash_in_malloc) {
        crash_in_malloc = 0;
        in_report = 1;
        *null = 1;
    }
    if (in_report) {
        if (write(2, "malloc in the report\n", 21)) _exit(90);
        _exit(91);
    }
    return __libc_malloc(size);
}
#else
#define COUNTS_MALLOC 0
#endif

/*-- a child that dies --*/

typedef struct outcome {
    int status;
    char *said;   /* on stderr */
    char path[64]; /* where its trace would be */
} outcome;

enum { NO_PROF, NO_REPORT, REPORT, REPORT_MAPPED, REPORT_OF_MEMORY };
static size_t buffer_size = 1u << 20;

static void start(int with, const char *path)
{
    static uint64_t memory[32768];
    prof_config config = trace_config(buffer_size);
    if (with == NO_PROF) return;
    if (with == REPORT_OF_MEMORY) {
        config.memory = memory;
        config.memory_size = sizeof memory;
    }
    config.crash_report = with != NO_REPORT;
    config.output = with == REPORT_MAPPED || with == NO_REPORT ? path : TRACE_FOLDER "/report.csv";
    trace_start(&config);
}

/* Runs the function in a child whose stderr goes to a file. */
static outcome dies(int with, void (*run)(int), int argument)
{
    outcome result;
    struct rlimit no_core = {0, 0};
    char err[256];
    snprintf(err, sizeof err, "%s", trace_path("report.err"));
    snprintf(result.path, sizeof result.path, "%s",
             with == REPORT_MAPPED || with == NO_REPORT ? TRACE_FOLDER "/report.prof" : TRACE_FOLDER "/report.csv.prof");
    unlink(result.path);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        if (!freopen(err, "w", stderr)) _exit(96);
        setvbuf(stderr, NULL, _IONBF, 0);
        alarm(200); /* a hang is to be told, before run.sh ends the whole program */
        setrlimit(RLIMIT_CORE, &no_core);
        start(with, result.path);
        run(argument);
        _exit(97);
    }
    waitpid(child, &result.status, 0);
    result.said = trace_file_text(err, NULL);
    if (!result.said) exit(1);
    return result;
}

static int killed_by(const outcome *death, int signal_number)
{
    if (WIFSIGNALED(death->status) && WTERMSIG(death->status) == signal_number) return 1;
    printf("status %x: %s", (unsigned)death->status, death->said);
    return 0;
}

static int lines_with(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; ++at) ++count;
    return count;
}

static void expect(const char *text, const char *part)
{
    if (strstr(text, part)) return;
    ++test_failures;
    printf("\"%s\" is not in:\n%s", part, text);
}

/*-- ways to die --*/

static int __attribute__((noinline)) recurse(int depth)
{
    volatile char room[256];
    PROFILE_FUNCTION();
    room[0] = (char)depth;
    return (depth < 0 ? 0 : recurse(depth + 1)) + room[0];
}

static volatile int *volatile nothing_there = (volatile int *)64;

static void fault(int signal_number)
{
    switch (signal_number) {
    case SIGSEGV: *nothing_there = 1; break;
    case SIGBUS: {
        FILE *file = tmpfile();
        if (!file || ftruncate(fileno(file), 4096)) _exit(95);
        volatile char *page = (volatile char *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
        if (ftruncate(fileno(file), 0)) _exit(95);
        *page = 1;
        break;
    }
    case SIGFPE:
#if defined(__x86_64__) || defined(__i386__)
        __asm__ volatile("xorl %%edx, %%edx\n\txorl %%ecx, %%ecx\n\tmovl $1, %%eax\n\tdivl %%ecx" ::: "eax", "ecx", "edx");
#endif
        raise(SIGFPE);
        break;
    case SIGILL: __builtin_trap();
    default: abort();
    }
}

static void by_fault(int signal_number)
{
    fputs("last words\n", stderr);
    PROFILE_SCOPE("game");
    PROFILE_SCOPE_DYNAMIC("a\x1b[2Jb\x7f\xc2\x9b\xff c\xc3\xa4");
    PROFILE_BLOCK("done") {}
    PROFILE_SCOPE_F("%.2f%%, %g of %+d, %#llx", 12.5, -0.125, -7, 1ull << 40); /* in short forms: printf() is not safe */
    PROFILE_SCOPE_F("%s%e", "100%", 1e300);
    PROFILE_SCOPE("step");
    fault(signal_number);
}

static void by_fault_on_a_fiber(int signal_number)
{
    prof_fiber_switch(prof_fiber_create("walker"));
    by_fault(signal_number);
}

static void by_sending(int signal_number)
{
    PROFILE_SCOPE("sends");
    fputs("last words\n", stderr);
    if (signal_number & 1)
        raise(signal_number);
    else
        kill(getpid(), signal_number);
    pause_ms(1000);
}

static void by_recursion(int depth)
{
    PROFILE_SCOPE("outside");
    _exit(recurse(depth));
}

static void *thread_recurses(void *unused)
{
    PROFILE_THREAD("deep");
    recurse(0);
    return unused;
}

static void by_recursion_of_a_thread(int unused)
{
    pthread_t thread;
    (void)unused;
    PROFILE_SCOPE("outside");
    pthread_create(&thread, NULL, thread_recurses, NULL);
    pthread_join(thread, NULL);
}

/* The place of a line that contains this text in this file. */
static int line_of(const char *text)
{
    char line[512];
    FILE *file = fopen(__FILE__, "r");
    int number = 0;
    while (file && ++number && fgets(line, sizeof line, file))
        if (strstr(line, text)) break;
    if (file) fclose(file);
    return number;
}

TEST(what_it_says_and_leaves)
{
    for (int with = REPORT; with <= REPORT_MAPPED; ++with)
        for (int i = 0; i < BUGS; ++i) {
            char line[256];
            outcome death = dies(with, by_fault, bugs[i]);
#if TRACE_SANITIZER
            if (bugs[i] == SIGABRT) CHECK(killed_by(&death, bugs[i])); /* its own handler exits in its own way */
#else
            CHECK(killed_by(&death, bugs[i]));
#endif
            snprintf(line, sizeof line, "prof: %s in thread ",
                     bugs[i] == SIGSEGV ? "SIGSEGV" : bugs[i] == SIGBUS ? "SIGBUS" : bugs[i] == SIGFPE ? "SIGFPE"
                     : bugs[i] == SIGILL ? "SIGILL" : "SIGABRT");
            expect(death.said, line);
            CHECK_EQUAL(lines_with(death.said, "prof: SIG"), 1);
            CHECK_EQUAL(lines_with(death.said, "\"\""), 0); /* the name that the system gives a thread is there */
            snprintf(line, sizeof line, "\": game > a?[2Jb??? c\xc3\xa4 > 12.500%%, -0.125 of -7, 0x10000000000 > 100%%%%e > step (%s:%d)\n", __FILE__,
                     line_of("PROFILE_SCOPE(\"step\")"));
            expect(death.said, line);
            expect(death.said, "last words\n");
            snprintf(line, sizeof line, "/%s\n", death.path);
            expect(death.said, "prof: the trace is in /"); /* wherever the program has gone since the start */
            expect(death.said, line);
            prof_trace *trace = trace_open_file(death.path);
            if (trace) {
                trace_list list = trace_read(trace, 0);
                CHECK_EQUAL(prof_trace_about(trace)->complete, 0);
                CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
                const char *crash = prof_trace_about(trace)->crash, *at = strstr(crash, " at 0x");
                snprintf(line, sizeof line, "prof: %.*s in thread ", (int)(at ? at - crash : (ptrdiff_t)strlen(crash)), crash);
                expect(death.said, line);
                if (bugs[i] == SIGSEGV) CHECK_TEXT(at ? at : "", " at 0x40");
                if (bugs[i] == SIGABRT) CHECK(!at);
                /* others went on while it was copied; without a time a reader takes its own, which is later */
                CHECK(with == REPORT_MAPPED || trace->header.copy_tick <= trace->header.last.tick);
                CHECK_EQUAL(prof_trace_track_count(trace), 1);
                CHECK_EQUAL(list.count, 6);
                if (list.count == 6) {
                    CHECK_TEXT(list.events[0].name, "game");
                    CHECK_TEXT(list.events[2].name, "done");
                    CHECK_TEXT(list.events[3].name, "12.50%, -0.125 of -7, 0x10000000000");
                    CHECK_TEXT(list.events[4].name, "100%1.000000e+300");
                    CHECK_TEXT(list.events[5].name, "step");
                    CHECK_EQUAL(list.events[2].flags, 0);
                    CHECK_EQUAL(list.events[5].flags, PROF_TRUNCATED_END);
                    CHECK_EQUAL(list.events[0].flags, PROF_TRUNCATED_END);
                }
                trace_free(&list);
                prof_trace_close(trace);
            }
            free(death.said);
        }
}

/* The system's name of a thread, and that of a fiber, which a track marks as such. */
TEST(who_crashed)
{
    char name[64] = "";
#ifdef __linux__
    pthread_getname_np(pthread_self(), name, sizeof name);
#endif
    for (int fiber = 0; fiber < 2; ++fiber) {
        char line[128];
        outcome death = dies(REPORT, fiber ? by_fault_on_a_fiber : by_fault, SIGSEGV);
        snprintf(line, sizeof line, " \"%s\": game > ", fiber ? "walker" : name);
        expect(death.said, line);
        free(death.said);
    }
}

TEST(stack_overflow)
{
    size_t before = buffer_size;
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer takes minutes for it");
    buffer_size = 8u << 20; /* for all that fit onto a stack, however small the compiler makes them */
    for (int thread = 0; thread < 2; ++thread) {
        outcome death = dies(REPORT, thread ? by_recursion_of_a_thread : by_recursion, 0);
#if !TRACE_SANITIZER
        CHECK(killed_by(&death, SIGSEGV));
#endif
        expect(death.said, "prof: SIGSEGV in thread ");
        expect(death.said, thread ? " \"deep\": recurse (" : "\": outside > recurse (");
        expect(death.said, " more\n");
        if (thread) expect(death.said, "outside (");
        prof_trace *trace = trace_open_file(death.path);
        prof_trace_close(trace);
        free(death.said);
    }
    buffer_size = before;
}

TEST(stack_overflow_in_a_small_buffer)
{
    size_t before = buffer_size;
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer takes minutes for it");
    buffer_size = 128u << 10;
    outcome death = dies(REPORT, by_recursion, 0);
    expect(death.said, ": ... > recurse (");
    expect(death.said, " more\n");
    prof_trace *trace = trace_open_file(death.path);
    prof_trace_close(trace);
    free(death.said);
    buffer_size = before;
}

/*-- as if it were not there --*/

#if TRACE_SANITIZER
/* Everything that differs from run to run: numbers. */
static void without_numbers(char *text)
{
    char *to = text;
    for (; *text; ++text) {
        int hexadecimal = text[0] == '0' && text[1] == 'x';
        if (*text >= '0' && *text <= '9') {
            if (hexadecimal) ++text;
            while ((text[1] >= '0' && text[1] <= '9') || (hexadecimal && text[1] >= 'a' && text[1] <= 'f')) ++text;
            *to++ = '#';
        } else {
            *to++ = *text;
        }
    }
    *to = 0;
}

#else
static void without_ours(char *text) /* lines that begin with "prof: " */
{
    char *to = text;
    while (*text) {
        char *end = strchr(text, '\n') ? strchr(text, '\n') + 1 : text + strlen(text);
        if (strncmp(text, "prof: ", 6)) {
            memmove(to, text, (size_t)(end - text));
            to += end - text;
        }
        text = end;
    }
    *to = 0;
}

#endif
static void core_too(int signal_number)
{
    struct rlimit core = {RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_CORE, &core);
    if (chdir(TRACE_FOLDER)) _exit(94); /* where it is removed */
    by_fault(signal_number);
}

static void sent_with_core(int signal_number)
{
    struct rlimit core = {RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_CORE, &core);
    if (chdir(TRACE_FOLDER)) _exit(94);
    by_sending(signal_number);
}

static void corrupts_the_heap(int unused)
{
    (void)unused;
#if COUNTS_MALLOC
    PROFILE_SCOPE("heap");
    char *block = (char *)malloc(200), *volatile before = block - 8; /* volatile: compilers warn of what they see */
    memset(before, 0x5a, 8);
    free(block); /* "free(): invalid pointer", and abort() with locks held */
#endif
    abort();
}

TEST(same_death_with_and_without)
{
    static void (*const ways[])(int) = {by_fault, by_sending, core_too, sent_with_core, by_recursion, corrupts_the_heap};
    for (size_t way = 0; way < sizeof ways / sizeof *ways; ++way) {
        if (TRACE_SANITIZER == 2 && ways[way] == by_recursion) continue;
        if (TRACE_SANITIZER && (ways[way] == core_too || ways[way] == sent_with_core)) continue; /* of many terabytes */
        for (int i = 0; i < BUGS; ++i) {
            if ((ways[way] == by_recursion || ways[way] == corrupts_the_heap) && i) continue;
            outcome bare = dies(NO_PROF, ways[way], ways[way] == by_recursion ? 0 : bugs[i]);
            for (int with = NO_REPORT; with <= REPORT_MAPPED; ++with) {
                outcome death = dies(with, ways[way], ways[way] == by_recursion ? 0 : bugs[i]);
                CHECK_EQUAL(death.status, bare.status); /* the bit of the core dump, too */
#if TRACE_SANITIZER
                without_numbers(death.said);
                if (with == NO_REPORT) without_numbers(bare.said);
                const char *summary = strstr(bare.said, "SUMMARY:");
                if (summary && ways[way] != by_recursion && TRACE_SANITIZER == 1) expect(death.said, summary);
#else
                if (with >= REPORT) CHECK(lines_with(death.said, "prof: SIG") == 1);
                if (with >= REPORT) without_ours(death.said);
                CHECK_TEXT(death.said, bare.said); /* byte by byte */
#endif
                if (test_failures) printf("  way %d, signal %d, with %d\n", (int)way, bugs[i], with);
                free(death.said);
            }
            free(bare.said);
        }
    }
    unlink(TRACE_FOLDER "/core");
}

/*-- where it must work --*/

static void holds_all_locks(int signal_number)
{
    PROFILE_SCOPE("locked");
    flockfile(stderr);
    flockfile(stdout);
    prof__lock(&prof__lock_word);
    prof__lock(&prof__control_word);
    fault(signal_number);
}

static void inside_the_lock(int unused)
{
    prof_site bad = {0, (const char *)64, "", "", "", 0, 0, 1, PROF__KIND_BEGIN, 0, 0, 0};
    (void)unused;
    PROFILE_SCOPE("registers");
    prof__begin(&bad);
}

static void inside_the_recorder(int unused)
{
    (void)unused;
    PROFILE_SCOPE("recorder");
    PROF__SELF()->cursor = (uint64_t *)8;
    PROFILE_SCOPE("never recorded");
}

#if COUNTS_MALLOC
static void inside_malloc(int unused)
{
    (void)unused;
    PROFILE_SCOPE("allocates");
    crash_in_malloc = 1;
    void *volatile block = malloc(100);
    free(block);
}
#endif

TEST(locks_and_malloc)
{
    outcome death = dies(REPORT, holds_all_locks, SIGSEGV);
    expect(death.said, "\": locked (");
    CHECK_EQUAL(trace_file_size(death.path) > 0, 1);
    free(death.said);
    death = dies(REPORT, inside_the_recorder, 0);
    expect(death.said, "\": recorder (");
    prof_trace_close(trace_open_file(death.path));
    free(death.said);
    death = dies(REPORT, inside_the_lock, 0);
    CHECK(TRACE_SANITIZER || killed_by(&death, SIGSEGV));
    expect(death.said, "\": registers (");
    prof_trace_close(trace_open_file(death.path));
    free(death.said);
#if COUNTS_MALLOC
    death = dies(REPORT, inside_malloc, 0);
    CHECK(killed_by(&death, SIGSEGV));
    expect(death.said, "\": allocates (");
    CHECK(!strstr(death.said, "malloc in the report"));
    prof_trace_close(trace_open_file(death.path));
    free(death.said);
#endif
}

/* The image itself can't be read any more: the report crashes, too. */
static void without_the_image(int what)
{
    prof__session *s = prof__state.session;
    PROFILE_SCOPE("gone");
    if (what == 0) mprotect(s->file.mapping, s->file.mapping_size, PROT_NONE);
    if (what == 1) mprotect((char *)s->file.mapping + s->file.mapping_size / 2, s->file.mapping_size / 2, PROT_NONE);
    if (what == 2 && truncate(s->file.live_path, 8192)) _exit(93);
    fault(SIGABRT);
}

TEST(second_crash_in_the_report)
{
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer ends a program whose handler crashes");
    for (int what = 0; what < 3; ++what) {
        outcome death = dies(what == 2 ? REPORT_MAPPED : REPORT, without_the_image, what);
        CHECK(killed_by(&death, SIGABRT));
        expect(death.said, "prof: the trace is in "); /* the file that was mapped */
        CHECK(trace_file_size(death.path) > 0);
        CHECK(lines_with(death.said, "\n") < 4);
        free(death.said);
    }
}

static pthread_barrier_t barrier;

static void *crashes_with_others(void *which)
{
    char name[16];
    snprintf(name, sizeof name, "suicide %ld", (long)(intptr_t)which);
    PROFILE_THREAD(name);
    PROFILE_SCOPE("jumps");
    pthread_barrier_wait(&barrier);
    fault((intptr_t)which & 1 ? SIGSEGV : SIGABRT);
    return NULL;
}

static void all_at_once(int count)
{
    pthread_t threads[8];
    pthread_barrier_init(&barrier, NULL, (unsigned)count);
    for (int i = 0; i < count; ++i) pthread_create(&threads[i], NULL, crashes_with_others, (void *)(intptr_t)i);
    for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
}

TEST(threads_that_crash_at_once)
{
    for (long i = 0; i < trace_times(3, 30, 1000) && !test_failures; ++i) {
        outcome death = dies(REPORT, all_at_once, 8);
        CHECK(TRACE_SANITIZER || WIFSIGNALED(death.status));
        CHECK_EQUAL(lines_with(death.said, "prof: SIG"), 1);
        CHECK_EQUAL(lines_with(death.said, " \"suicide "), 8);
        CHECK_EQUAL(lines_with(death.said, ": jumps ("), 8);
        prof_trace *trace = trace_open_file(death.path);
        if (trace) CHECK_EQUAL(prof_trace_track_count(trace), 9);
        prof_trace_close(trace);
        if (test_failures) printf("%s\n", death.said);
        free(death.said);
    }
}

/*-- threads --*/

static void *leaves(void *which)
{
    PROFILE_THREAD("ended");
    PROFILE_SCOPE("short");
    return which;
}

static void *stays(void *which)
{
    char name[16];
    snprintf(name, sizeof name, "thread %ld", (long)(intptr_t)which);
    PROFILE_THREAD(name);
    PROFILE_SCOPE("serves");
    for (int i = 0; i < 5000; ++i) PROFILE_BLOCK("request") {} /* over several chunks */
    if ((intptr_t)which % 2) {
        PROFILE_SCOPE("waits");
        pthread_barrier_wait(&barrier);
        for (;;) pause();
    }
    pthread_barrier_wait(&barrier);
    for (;;) pause();
    return NULL;
}

static void among_threads(int count)
{
    pthread_t thread;
    pthread_create(&thread, NULL, leaves, NULL);
    pthread_join(thread, NULL);
    pthread_barrier_init(&barrier, NULL, (unsigned)count + 1);
    for (int i = 0; i < count; ++i) pthread_create(&thread, NULL, stays, (void *)(intptr_t)i);
    pthread_barrier_wait(&barrier);
    PROFILE_SCOPE("crashes");
    fault(SIGSEGV);
}

TEST(other_threads)
{
    static const int counts[] = {1, 5, 80};
    buffer_size = 16u << 20;
    for (int i = 0; i < 3; ++i) {
        int shown = counts[i] < 63 ? counts[i] : 63;
        outcome death = dies(REPORT, among_threads, counts[i]);
        expect(death.said, "\": crashes (");
        CHECK(strstr(death.said, "\": crashes (") < strstr(death.said, "prof:   thread "));
        CHECK(!strstr(death.said, "ended"));
        int waiting = lines_with(death.said, ": serves > waits ("), most = counts[i] / 2;
        CHECK(waiting <= most && waiting >= most - (counts[i] - shown));
        CHECK_EQUAL(lines_with(death.said, "prof:   thread "), shown);
        if (counts[i] == 80) expect(death.said, "prof:   and 17 more threads\n");
        CHECK_EQUAL(lines_with(death.said, "prof: "), counts[i] == 80 ? 66 : shown + 2);
        prof_trace *trace = trace_open_file(death.path);
        prof_trace_close(trace);
        free(death.said);
    }
    buffer_size = 1u << 20;
}

static void after_a_long_time(int unused)
{
    (void)unused;
    PROFILE_SCOPE("main");
    PROFILE_SCOPE("loop");
    for (int i = 0; i < 200000; ++i) PROFILE_BLOCK("turn") {}
    PROFILE_SCOPE("last turn");
    fault(SIGSEGV);
}

static void with_a_slow_thread(int unused)
{
    pthread_t thread;
    (void)unused;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, stays, (void *)1);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 200000; ++i) PROFILE_BLOCK("turn") {} /* several times around the ring */
    fault(SIGSEGV);
}

TEST(begins_that_were_overwritten)
{
    outcome death = dies(REPORT, after_a_long_time, 0);
    expect(death.said, "\": ... > last turn (");
    free(death.said);
    death = dies(REPORT, with_a_slow_thread, 0);
    expect(death.said, "\": no scope is open\n");
    expect(death.said, " \"thread 1\": ");
    expect(death.said, "waits (");
    free(death.said);
}

static void jumps(int unused)
{
    static jmp_buf back;
    (void)unused;
    PROFILE_SCOPE("outer");
    PROFILE_BEGIN("loose");
    if (!setjmp(back)) {
        PROFILE_BEGIN("left 1");
        PROFILE_BEGIN("left 2");
        longjmp(back, 1);
    }
    PROFILE_END("loose");
    PROFILE_STAGE("one");
    PROFILE_NEXT("two");
    fault(SIGSEGV);
}

TEST(scopes_left_by_longjmp)
{
    outcome death = dies(REPORT, jumps, 0);
    expect(death.said, "\": outer > two (");
    free(death.said);
}

/* The begin of "old" is overwritten: its end ends what was left inside it, as in the reader. */
static void jumps_after_a_long_time(int unused)
{
    static jmp_buf back;
    (void)unused;
    PROFILE_BEGIN("old");
    for (int i = 0; i < 200000; ++i) PROFILE_BLOCK("turn") {}
    if (!setjmp(back)) {
        PROFILE_BEGIN("left");
        longjmp(back, 1);
    }
    PROFILE_END("old");
    PROFILE_SCOPE("last");
    fault(SIGSEGV);
}

/* Ends that come after those of outer scopes end nothing else. */
static void overlaps_after_a_long_time(int pairs)
{
    for (int i = 0; i < 200000; ++i) PROFILE_BLOCK("turn") {}
    PROFILE_SCOPE("outer");
    for (int i = 0; i < pairs; ++i) {
        PROFILE_BEGIN("first");
        PROFILE_BEGIN("second");
        PROFILE_END("first");
        PROFILE_END("second");
    }
    PROFILE_SCOPE("last");
    fault(SIGSEGV);
}

TEST(ends_whose_begins_were_overwritten)
{
    outcome death = dies(REPORT, jumps_after_a_long_time, 0);
    expect(death.said, "last (");
    CHECK(!strstr(death.said, "left"));
    free(death.said);
    death = dies(REPORT, overlaps_after_a_long_time, 100);
    expect(death.said, "\": outer > last (");
    free(death.said);
}

static uint32_t any_state;
static uint32_t any(uint32_t limit)
{
    any_state = any_state * 1664525u + 1013904223u;
    return (any_state >> 8) % limit;
}

static void begin_any(uint32_t which)
{
    switch (which) {
    case 0: PROFILE_BEGIN("a"); break;
    case 1: PROFILE_BEGIN("b"); break;
    case 2: PROFILE_BEGIN("c"); break;
    case 3: PROFILE_BEGIN("d"); break;
    default: PROFILE_BEGIN("e"); break;
    }
}

static void end_any(uint32_t which)
{
    switch (which) {
    case 0: PROFILE_END("a"); break;
    case 1: PROFILE_END("b"); break;
    case 2: PROFILE_END("c"); break;
    case 3: PROFILE_END("d"); break;
    default: PROFILE_END("e"); break;
    }
}

/* Whether a report would show the scopes that the reader finds open. */
static int shows_what_is_open(void)
{
    prof__session *s = prof__state.session;
    prof__crash_work *w = prof__crash.work;
    prof_trace *trace = NULL;
    prof_open_scope *scopes = NULL;
    size_t count = 0, words, same = 0;
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    CHECK_EQUAL(prof_open_scopes(trace, &scopes, &count), PROF_OK);
    prof__memory_read(s->header, 0, &w->header, sizeof w->header);
    w->header.copy_tick = ~(uint64_t)0;
    prof__crash_search(w, s, &w->header);
    const prof__crash_thread *thread = &w->threads[0];
    while (same < count && same < thread->match.depth) {
        const uint64_t *site = prof__crash_meta(s, PROF__META_SITE, thread->open[same].begun.site, &words);
        const uint64_t *name = site ? prof__crash_meta(s, PROF__META_STRING, (uint32_t)site[1], &words) : NULL;
        if (!name || strcmp((const char *)(name + 1), scopes[same].name)) break;
        ++same;
    }
    CHECK_EQUAL(prof__crash_depth(thread), count);
    CHECK_EQUAL(same, count < PROF__CRASH_DEPTH ? count : PROF__CRASH_DEPTH);
    prof_open_scopes_free(scopes);
    prof_trace_close(trace);
    return !test_failures;
}

/* Short scopes, some of which overlap, and now and then one of "c", "d" and "e" begins or ends, in any order. */
static void any_step(void)
{
    if (any(800) == 0) {
        any(2) ? begin_any(2 + any(3)) : end_any(2 + any(3));
        return;
    }
    begin_any(0);
    if (any(4) == 0) begin_any(1);
    end_any(0);
    end_any(1);
}

/* Until the ring has come round some times. */
TEST(a_report_shows_what_the_reader_finds_open)
{
    for (uint32_t seed = 0; seed < (uint32_t)trace_times(3, 10, 300) && !test_failures; ++seed) {
        prof_config config = trace_config(128 << 10);
        config.crash_report = 1;
        CHECK_EQUAL(prof_start(&config), PROF_OK);
        any_state = seed;
        for (int look = 0; look < 40 && !test_failures; ++look) {
            for (int i = 0; i < 1000; ++i) any_step();
            if (!shows_what_is_open()) printf("     with seed %u, look %d\n", (unsigned)seed, look);
        }
        for (int i = 0; i < 500; ++i) end_any((uint32_t)i % 5);
        prof_stop();
    }
}

/*-- where the report can't go --*/

static void into_a_closed_pipe(int unused)
{
    int ends[2];
    (void)unused;
    if (pipe(ends) || dup2(ends[1], 2) < 0 || close(ends[0])) _exit(93);
    fault(SIGSEGV);
}

static void fill_stderr(void)
{
    int ends[2];
    char rest[4096];
    memset(rest, 0, sizeof rest);
    if (pipe(ends) || dup2(ends[1], 2) < 0 || fcntl(2, F_SETFL, O_NONBLOCK)) _exit(93);
    while (write(2, rest, sizeof rest) > 0) continue;
    fcntl(2, F_SETFL, 0);
}

static void into_a_full_pipe(int unused)
{
    (void)unused;
    fill_stderr();
    fault(SIGSEGV);
}

static void without_stderr(int unused)
{
    (void)unused;
    close(2);
    fault(SIGSEGV);
}

static void beyond_a_file_limit(int unused)
{
    struct rlimit limit = {65536, 65536};
    (void)unused;
    for (int i = 0; i < 20000; ++i) PROFILE_BLOCK("fill") {}
    setrlimit(RLIMIT_FSIZE, &limit);
    fault(SIGSEGV);
}

TEST(nowhere_to_write)
{
    static void (*const ways[])(int) = {into_a_closed_pipe, into_a_full_pipe, without_stderr};
    for (int i = 0; i < 3; ++i) {
        outcome death = dies(REPORT, ways[i], 0);
        if (!TRACE_SANITIZER) CHECK(killed_by(&death, SIGSEGV));
        prof_trace_close(trace_open_file(death.path));
        free(death.said);
        if (TRACE_SANITIZER && i == 0) ++i; /* they would wait for the pipe themselves */
    }
    outcome death = dies(REPORT_OF_MEMORY, beyond_a_file_limit, 0);
    if (!TRACE_SANITIZER) CHECK(killed_by(&death, SIGSEGV));
    expect(death.said, "prof: the trace could not be written\n");
    CHECK_EQUAL(trace_file_size(death.path), -1);
    free(death.said);
    death = dies(REPORT, beyond_a_file_limit, 0); /* it is in a file anyway */
    if (!TRACE_SANITIZER) CHECK(killed_by(&death, SIGSEGV));
    prof_trace_close(trace_open_file(death.path));
    free(death.said);
}

/*-- what other threads do meanwhile --*/

enum { BUSY = 3, ENOUGH = 50000 };

static struct shared_with_child {
    uint64_t turns[BUSY];  /* of each thread */
    uint64_t before[BUSY]; /* as many at least had been made when the program crashed */
    int child; /* of a fork: 0: there is none, 1: it runs, 2: it has recorded, 3: it could not */
} *shared;

static void *is_busy(void *which)
{
    uint64_t *turns = &shared->turns[(intptr_t)which];
    char name[16];
    snprintf(name, sizeof name, "busy %d", (int)(intptr_t)which);
    PROFILE_THREAD(name);
    for (;;) {
        PROFILE_COUNTER("turn", *turns + 1);
        __atomic_fetch_add(turns, 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

/* The child of a fork during a report is not concerned. */
static void *forks_meanwhile(void *unused)
{
    WAIT_UNTIL(__atomic_load_n(&prof__state.frozen, __ATOMIC_ACQUIRE));
    if (!fork()) {
        prof_trace *trace = NULL;
        __atomic_store_n(&shared->child, 1, __ATOMIC_RELEASE);
        PROFILE_MARK("child");
        int good = !prof_stop() && !prof_trace_open_live(&trace) && prof_trace_about(trace)->event_count == 1;
        __atomic_store_n(&shared->child, good ? 2 : 3, __ATOMIC_RELEASE);
        _exit(0);
    }
    return unused;
}

/* What is said waits a second for its pipe before the trace is written. */
static void crashes_among_busy_threads(int unused)
{
    pthread_t threads[BUSY + 1];
    (void)unused;
    pthread_create(&threads[BUSY], NULL, forks_meanwhile, NULL);
    for (int k = 0; k < BUSY; ++k) pthread_create(&threads[k], NULL, is_busy, (void *)(intptr_t)k);
    for (int k = 0; k < BUSY; ++k)
        WAIT_UNTIL(__atomic_load_n(&shared->turns[k], __ATOMIC_ACQUIRE) >= ENOUGH);
    fill_stderr();
    for (int k = 0; k < BUSY; ++k) shared->before[k] = __atomic_load_n(&shared->turns[k], __ATOMIC_ACQUIRE);
    fault(SIGABRT); /* of which sanitizers say nothing: they would wait for the pipe for ever */
}

TEST(threads_that_run_on_overwrite_nothing)
{
    shared = (struct shared_with_child *)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                                              -1, 0);
    outcome death = dies(REPORT, crashes_among_busy_threads, 0);
    prof_trace *trace = trace_open_file(death.path);
    CHECK(prof_trace_about(trace)->overwritten_chunks > 0);
    CHECK(prof_trace_about(trace)->event_count > buffer_size / 16 / 2); /* of two words each: full */
    for (int k = 0; k < BUSY; ++k) {
        char name[16];
        snprintf(name, sizeof name, "busy %d", k);
        trace_list list = trace_read(trace, trace_track_named(trace, name));
        CHECK(list.count > 0 && list.events[list.count - 1].value.as.u >= shared->before[k]);
        for (size_t i = 1; i < list.count; ++i)
            CHECK(list.events[i].value.as.u == list.events[i - 1].value.as.u + 1);
        trace_free(&list);
    }
    WAIT_UNTIL(__atomic_load_n(&shared->child, __ATOMIC_ACQUIRE) != 1);
    CHECK(shared->child == 0 || shared->child == 2);
    prof_trace_close(trace);
    munmap(shared, sizeof *shared);
    free(death.said);
}

/*-- other handlers --*/

static volatile sig_atomic_t handled;
static void *volatile handled_address;
static sigjmp_buf recovery;

static void host(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    handled = signal_number;
    handled_address = info->si_addr;
    if (write(2, "host\n", 5) != 5) _exit(92);
    _exit(info->si_code > 0 ? 33 : 34);
}

static void recovers(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    handled = signal_number;
    handled_address = info->si_addr;
    siglongjmp(recovery, 1);
}

static struct sigaction before[BUGS]; /* what `chains` found */

static void chains(int signal_number, siginfo_t *info, void *context)
{
    if (write(2, "host\n", 5) != 5) _exit(92);
    for (int i = 0; i < BUGS; ++i)
        if (bugs[i] == signal_number && (before[i].sa_flags & SA_SIGINFO)) before[i].sa_sigaction(signal_number, info, context);
}

static void restores_and_raises(int signal_number, siginfo_t *info, void *context)
{
    (void)info;
    (void)context;
    if (write(2, "host\n", 5) != 5) _exit(92);
    for (int i = 0; i < BUGS; ++i)
        if (bugs[i] == signal_number) sigaction(signal_number, &before[i], NULL);
    raise(signal_number);
}

static void handle(void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO;
    sigaddset(&action.sa_mask, SIGUSR1);
    for (int i = 0; i < BUGS; ++i) sigaction(bugs[i], &action, &before[i]);
}

static void host_first(int signal_number)
{
    handle(host);
    start(REPORT, NULL);
    PROFILE_SCOPE("guarded");
    fault(signal_number);
}

static void host_later(int signal_number)
{
    start(REPORT, NULL);
    handle(signal_number % 2 ? chains : restores_and_raises);
    PROFILE_SCOPE("guarded");
    fault(signal_number);
}

static void host_between(int signal_number) /* on top of a first session's handler, below a second's */
{
    for (int i = 0; i < 3; ++i) {
        start(REPORT, NULL);
        if (i == 0) handle(signal_number % 2 ? chains : restores_and_raises);
        if (i < 2) prof_stop();
    }
    PROFILE_SCOPE("guarded");
    fault(signal_number);
}

static void host_recovers(int unused)
{
    (void)unused;
    handle(recovers);
    for (int session = 0; session < 3; ++session) {
        start(REPORT, NULL);
        PROFILE_SCOPE("session");
        for (volatile int i = 0; i < 2; ++i) { /* the second one is the host's alone */
            handled = 0;
            if (!sigsetjmp(recovery, 1)) {
                PROFILE_BLOCK("faults") fault(SIGSEGV);
            }
            if (handled != SIGSEGV || handled_address != (void *)64) _exit(50);
        }
        PROFILE_MARK("goes on");
        if (prof_stop()) _exit(51);
    }
    fputs("recovered\n", stderr);
    _exit(3);
}

TEST(handlers_of_the_program)
{
    for (int i = 0; i < BUGS; ++i) {
        outcome death = dies(NO_PROF, host_first, bugs[i]);
        CHECK(WIFEXITED(death.status));
        CHECK_EQUAL(WEXITSTATUS(death.status), bugs[i] == SIGABRT ? 34 : 33);
        CHECK_EQUAL(lines_with(death.said, "prof: SIG"), 1);
        CHECK(strstr(death.said, "prof: SIG") < strstr(death.said, "host\n")); /* the earlier comes later */
        free(death.said);
        death = dies(NO_PROF, host_later, bugs[i]);
        CHECK(killed_by(&death, bugs[i]) || TRACE_SANITIZER);
        CHECK_EQUAL(lines_with(death.said, "prof: SIG"), 1);
        CHECK_EQUAL(lines_with(death.said, "host\n"), 1);
        CHECK(strstr(death.said, "prof: SIG") > strstr(death.said, "host\n"));
        free(death.said);
        death = dies(NO_PROF, host_between, bugs[i]);
        CHECK(killed_by(&death, bugs[i]) || TRACE_SANITIZER);
        CHECK_EQUAL(lines_with(death.said, "prof: SIG"), 1);
        CHECK_EQUAL(lines_with(death.said, "host\n"), 1);
        free(death.said);
        if (test_failures) printf("  signal %d\n", bugs[i]);
    }
    outcome death = dies(NO_PROF, host_recovers, 0);
    CHECK(WIFEXITED(death.status) && WEXITSTATUS(death.status) == 3);
    CHECK_EQUAL(lines_with(death.said, "prof: SIGSEGV"), 3);
    expect(death.said, ": session > faults (");
    expect(death.said, "recovered\n");
    free(death.said);
    char *text = trace_file_text(TRACE_FOLDER "/report.csv", NULL);
    expect(text, "goes on"); /* recorded again */
    free(text);
}

static int same_actions(const struct sigaction *a)
{
    int same = 1;
    for (int i = 0; i < BUGS; ++i) {
        struct sigaction now;
        sigaction(bugs[i], NULL, &now);
        int flags = (now.sa_flags ^ a[i].sa_flags) & ~0x04000000; /* libc's own, once it was set */
        same &= now.sa_sigaction == a[i].sa_sigaction && !flags &&
                !memcmp(&now.sa_mask, &a[i].sa_mask, 8);
    }
    return same;
}

TEST(actions_are_put_back)
{
    struct sigaction actions[BUGS], old;
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer shows its own handlers after a change");
    signal(SIGFPE, SIG_IGN);
    for (int i = 0; i < BUGS; ++i) sigaction(bugs[i], NULL, &actions[i]);
    prof_config config = trace_config(128u << 10);
    trace_start(&config);
    CHECK(same_actions(actions)); /* nobody asked for a report */
    CHECK_EQUAL(prof_stop(), PROF_OK);
    config.crash_report = 1;
    config.output = TRACE_FOLDER "/report.csv";
    for (int i = 0; i < 3; ++i) {
        trace_start(&config);
        CHECK(!same_actions(actions));
        sigaction(SIGFPE, NULL, &old);
        CHECK(old.sa_handler == SIG_IGN); /* stays ignored */
        raise(SIGFPE);
        CHECK_EQUAL(prof_stop(), PROF_OK);
        CHECK(same_actions(actions));
    }
    signal(SIGFPE, SIG_DFL);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/*-- children --*/

static void parent_of_children(int unused)
{
    int status = 0;
    (void)unused;
    PROFILE_SCOPE("parent");
    pid_t child = fork();
    if (!child) {
        PROFILE_SCOPE("child");
        struct sigaction now;
        sigaction(SIGSEGV, NULL, &now);
        if (!TRACE_SANITIZER && now.sa_handler != SIG_DFL) _exit(63);
        fault(SIGSEGV);
    }
    waitpid(child, &status, 0);
    if (!TRACE_SANITIZER && (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV)) _exit(60);
#if !TRACE_SANITIZER
    child = vfork();
    if (!child) {
        *nothing_there = 1;
        _exit(61);
    }
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV) _exit(62);
#endif
    fprintf(stderr, "both died\n");
    fault(SIGSEGV);
}

TEST(children)
{
    outcome death = dies(REPORT, parent_of_children, 0);
    if (!TRACE_SANITIZER) CHECK(killed_by(&death, SIGSEGV));
    CHECK_EQUAL(lines_with(death.said, "prof: SIG"), 1);
    expect(death.said, "both died\nprof: SIGSEGV in thread ");
    expect(death.said, "\": parent (");
    free(death.said);
}

/*-- configuration --*/

static void starts_without_output(int unused)
{
    prof_config config = trace_config(128u << 10);
    (void)unused;
    if (chdir(TRACE_FOLDER)) _exit(94);
    config.crash_report = 1;
    trace_start(&config);
    PROFILE_SCOPE("nameless");
    fault(SIGSEGV);
}

static void first_scope(int number)
{
    (void)number;
    PROFILE_SCOPE("in the handler");
}

static int has_stack(void)
{
    stack_t stack;
    return !sigaltstack(NULL, &stack) && !(stack.ss_flags & SS_DISABLE);
}

/* The kernel takes the stack away again that a handler has set. */
static void *begins_in_a_handler(void *config)
{
    raise(SIGUSR1);
    CHECK(!has_stack() && PROF__SELF()->signal_stack);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    trace_start((const prof_config *)config);
    PROFILE_MARK("mark");
    CHECK(has_stack());
    return NULL;
}

TEST(a_stack_that_was_taken_in_a_handler)
{
    prof_config config = trace_config(256u << 10);
    pthread_t thread;
    if (TRACE_SANITIZER) SKIP("a sanitizer gives threads stacks of its own");
    config.crash_report = 1;
    signal(SIGUSR1, first_scope);
    trace_start(&config);
    pthread_create(&thread, NULL, begins_in_a_handler, &config);
    pthread_join(thread, NULL);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    signal(SIGUSR1, SIG_DFL);
}

TEST(file_without_an_output)
{
    char *name;
    outcome death = dies(NO_PROF, starts_without_output, 0);
    name = strstr(death.said, "prof: the trace is in ");
    CHECK(name && strstr(name, "test_crash_report."));
    if (name) {
        name += strlen("prof: the trace is in ");
        name[strcspn(name, "\n")] = 0;
        prof_trace_close(trace_open_file(name));
        unlink(name);
    }
    free(death.said);
}

TEST(configuration)
{
    prof_config config = trace_config(128u << 10);
    CHECK_EQUAL(prof_config_set(&config, "crash_report", "1"), PROF_OK);
    CHECK_EQUAL(config.crash_report, 1);
    CHECK_EQUAL(prof_config_set(&config, "crash_report", "yes"), PROF_INVALID_ARGUMENT);
    CHECK(strstr(prof_error(), "'yes': must be 0 or 1") != NULL);
    CHECK_EQUAL(prof_config_set(&config, "crash_reports", "1"), PROF_INVALID_ARGUMENT);
    CHECK(strstr(prof_error(), "'crash_report'?") != NULL);
    CHECK_EQUAL(prof_config_set(&config, "crash_report", "0"), PROF_OK);
    CHECK_EQUAL(config.crash_report, 0);
    config.crash_report = 1;
    config.output = "/dev/null/at/all.csv";
    CHECK_EQUAL(prof_start(&config), PROF_IO);
}

TEST_MAIN
