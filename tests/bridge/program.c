/* A program whose scopes other tools are to see. Compiled with one or more of PROF_WITH_ITT, PROF_WITH_NVTX, PROF_WITH_SDT, as
   C and as C++. usage: program PART [PLUGIN]... */
#define PROF_IMPLEMENTATION
#include "prof.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>

static void start(void)
{
    prof_config config;
    memset(&config, 0, sizeof config);
    config.buffer_size = 1 << 20;
    config.level = 2;
    if (prof_start(&config)) printf("prof_start: %s\n", prof_error());
}

static void function(void) { PROFILE_FUNCTION_C("net"); }

static void early_return(int leave)
{
    PROFILE_SCOPE("outer");
    PROFILE_BLOCK("block")
    {
        if (leave) return;
    }
    PROFILE_SCOPE("not reached");
}

/* Every form of every macro that a tool hears of. */
static void macros(void)
{
    int number = 7;
    start();
    errno = 99;
    PROFILE_THREAD("first");
    {
        PROFILE_SCOPE("scope");
        PROFILE_SCOPE_C("in category", "net");
        PROFILE_ARG_I("i", -3);
        PROFILE_ARG_U("u", 4);
        PROFILE_ARG_D("d", 0.5);
        PROFILE_ARG_S("s", "text");
    }
    {
        PROFILE_SCOPE_L("too detailed", 3);
    }
    {
        PROFILE_SCOPE_COLOR("colored", 0x102030);
    }
    for (number = 7; number < 9; ++number) {
        PROFILE_SCOPE_F("number %d", number);
    }
    {
        PROFILE_SCOPE_S("text of run time");
    }
    function();
    early_return(1);
    PROFILE_BEGIN("a");
    PROFILE_BEGIN("b");
    PROFILE_END("b");
    PROFILE_BEGIN("left open");
    PROFILE_END("a");
    {
        PROFILE_STAGE("one");
        PROFILE_NEXT("two");
        PROFILE_NEXT("three");
    }
    PROFILE_MARK("mark");
    PROFILE_MARK_F("mark %d", 1);
    PROFILE_MARK_S("mark of run time");
    PROFILE_COUNTER("integer", -5);
    PROFILE_COUNTER_C("double", 2.5, "net");
    PROFILE_COUNTER("integer", 6);
    if (errno != 99) printf("errno is %d\n", errno);
    prof_stop();
}

static void frames(void)
{
    PROFILE_FRAME("before the session");
    start();
    for (int i = 0; i < 3; ++i) PROFILE_FRAME("frame"); /* two whole ones */
    prof_pause();
    prof_pause();
    PROFILE_FRAME("frame");
    prof_resume();
    prof_resume();
    PROFILE_FRAME("frame");
    prof_stop(); /* ends the third */
    start();
    PROFILE_FRAME("frame");
    prof_pause();
    prof_stop();
}

/* What a recorder's own records of objects become. */
static void events(void)
{
    static int lock;
    prof_site span = {0, "span", "net", __FILE__, "", 1, 0, 1, PROF__KIND_EVENT, 0, 0};
    prof_site other = {0, "other", "net", __FILE__, "", 1, 0, 1, PROF__KIND_EVENT, 0, 0};
    prof_site marker = {0, "marker", "", __FILE__, "", 1, 0, 1,
                        (uint16_t)(PROF__KIND_MARK | PROF_ROLE_MARK_PROCESS << PROF__ROLE_SHIFT), 0, 0};
    start();
    prof__event(&span, PROF_EVENT_SPAN_BEGIN, 0, 1);
    prof__event(&span, PROF_EVENT_SPAN_BEGIN, 0, 2);
    prof__event(&other, PROF_EVENT_SPAN_BEGIN, 0, 1);
    prof__event(&span, PROF_EVENT_SPAN_MARK, 0, 1);
    prof__event(&span, PROF_EVENT_SPAN_END, 0, 1);
    prof__event(&span, PROF_EVENT_SPAN_END, 0, 3); /* never began */
    prof__event(&span, PROF_EVENT_SPAN_END, 0, 2);
    prof__event(&other, PROF_EVENT_SPAN_END, 0, 1);
    prof__event(&span, PROF_EVENT_LOCK_WAIT, 0, (uint64_t)(uintptr_t)&lock);
    prof__event(&span, PROF_EVENT_LOCK_ACQUIRE, 0, (uint64_t)(uintptr_t)&lock);
    prof__event(&span, PROF_EVENT_LOCK_RELEASE, 0, (uint64_t)(uintptr_t)&lock);
    prof__mark(&marker);
    prof_stop();
}

/* Ends reach the tools whatever becomes of the session. */
static void sessions(void)
{
    PROFILE_SCOPE("before");
    start();
    {
        PROFILE_SCOPE("over a stop");
        PROFILE_BEGIN("loose");
        prof_stop();
        PROFILE_END("loose");
    }
    start();
    {
        PROFILE_SCOPE("over a pause");
        PROFILE_BEGIN("never ended");
        prof_pause();
        PROFILE_SCOPE("paused");
        prof_resume();
    }
    PROFILE_BEGIN("of the second session");
    prof_stop();
    start();
    {
        PROFILE_SCOPE("third session");
        prof_category_enable("net", 0);
        PROFILE_SCOPE_C("off", "net");
        PROFILE_SCOPE("on");
    }
    prof_stop();
}

static void down(int levels)
{
    PROFILE_SCOPE("down");
    if (levels > 1) down(levels - 1);
}
static void depth(void)
{
    start();
    down(PROF_BRIDGE_DEPTH + 20);
    {
        PROFILE_SCOPE("after");
    }
    for (int i = 0; i < PROF_BRIDGE_NAMES + 3; ++i) {
        PROFILE_SCOPE_F("%d", i);
    }
    {
        PROFILE_SCOPE_S("one more");
    }
    prof_stop();
}

static void *thread(void *name)
{
    PROFILE_THREAD((const char *)name);
    for (int i = 0; i < 2; ++i) {
        PROFILE_SCOPE("of a thread");
        PROFILE_SCOPE_S((const char *)name);
    }
    PROFILE_BEGIN("left to the thread's end");
    return NULL;
}
static void threads(void)
{
    pthread_t id;
    char names[2][8] = {"red", "green"};
    prof_thread_name("main, named before the session");
    start();
    for (int i = 0; i < 2; ++i) {
        PROFILE_SCOPE("around");
        pthread_create(&id, NULL, thread, names[i]);
        pthread_join(id, NULL);
    }
    prof_stop();
}

/* Many at once, with the same names and with their own: counted, not compared. */
static void *busy(void *argument)
{
    (void)argument;
    for (int i = 0; i < 2000; ++i) {
        PROFILE_SCOPE("busy");
        PROFILE_SCOPE_F("busy %d", i % 50);
        PROFILE_COUNTER("count", i);
        PROFILE_FRAME("busy frame");
        PROFILE_MARK("busy mark");
    }
    return NULL;
}
static void crowd(void)
{
    pthread_t ids[4];
    start();
    for (int i = 0; i < 4; ++i) pthread_create(&ids[i], NULL, busy, NULL);
    for (int i = 0; i < 4; ++i) pthread_join(ids[i], NULL);
    prof_stop();
}

static prof_fiber *fiber;
static void *carries_on(void *argument)
{
    (void)argument;
    PROFILE_SCOPE("second thread");
    prof_fiber_switch(fiber);
    PROFILE_BEGIN("inner 2");
    PROFILE_END("inner 2");
    PROFILE_END("outer");
    prof_fiber_switch(NULL);
    return NULL;
}
static void fibers(void)
{
    pthread_t id;
    start();
    fiber = prof_fiber_create("fiber");
    {
        PROFILE_SCOPE("first thread");
        prof_fiber_switch(fiber);
        PROFILE_BEGIN("outer");
        PROFILE_BEGIN("inner");
        PROFILE_END("inner");
        prof_fiber_switch(NULL);
        {
            PROFILE_SCOPE("meanwhile");
        }
    }
    pthread_create(&id, NULL, carries_on, NULL);
    pthread_join(id, NULL);
    prof_fiber_destroy(fiber);
    prof_stop();
}

static void forks(void)
{
    start();
    PROFILE_SCOPE("parent");
    pid_t child = fork();
    if (!child) {
        {
            PROFILE_SCOPE("child");
        }
        prof_stop();
        _exit(0);
    }
    waitpid(child, NULL, 0);
    prof_stop();
}

/* Plugins that differ in the names of their scopes alone, so that they come to lie where the one before did. */
static void plugins(int count, char **paths)
{
    start();
    for (int i = 0; i < count; ++i) {
        void *library = dlopen(paths[i], RTLD_NOW);
        void (*work)(void) = NULL;
        if (library) *(void **)&work = dlsym(library, "plugin_work");
        if (!work) {
            printf("%s\n", dlerror());
            return;
        }
        work();
        dlclose(library);
    }
    prof_stop();
}

static void autostarted(void)
{
    PROFILE_SCOPE("without a call");
    printf("%s\n", prof_enabled() ? "recording" : "not recording");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"macros", macros}, {"frames", frames},   {"events", events}, {"sessions", sessions},
                 {"depth", depth},   {"threads", threads}, {"crowd", crowd},   {"fibers", fibers},
                 {"forks", forks},   {"autostarted", autostarted}};
    const char *part = argc > 1 ? argv[1] : "";
    if (!strcmp(part, "plugins")) plugins(argc - 2, argv + 2);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
        if (!strcmp(part, parts[i].name)) parts[i].run();
    return 0;
}
