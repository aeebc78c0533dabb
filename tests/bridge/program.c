/* A program whose scopes other tools are to see. Compiled with one or more of PROF_WITH_ITT, PROF_WITH_NVTX, PROF_WITH_SDT, as
   C and as C++. usage: program PART [PLUGIN]... */
#define PROF_IMPLEMENTATION
#include "prof.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
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
        PROFILE_SCOPE_F("number %.0f", (double)number); /* a name that prof formats late */
    }
    {
        PROFILE_SCOPE_DYNAMIC("text of run time");
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
    PROFILE_MARK_F("mark %.0f", 1.0);
    PROFILE_MARK_DYNAMIC("mark of run time");
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

/* Events that carry an object, and objects made at run time. */
static void events(void)
{
    static int lock;
    prof_config config;
    memset(&config, 0, sizeof config);
    config.categories = "-off";
    prof_start(&config);
    PROFILE_SPAN_BEGIN("span", 1);
    PROFILE_SPAN_BEGIN("span", 2);
    PROFILE_SPAN_BEGIN_C("span", 1, "net");
    PROFILE_SPAN_MARK("span", 1);
    PROFILE_SPAN_END("span", 1);
    PROFILE_SPAN_END("span", 3); /* never began */
    PROFILE_SPAN_END("span", 2);
    PROFILE_SPAN_END_C("span", 1, "net");
    PROFILE_LOCK_WAIT(&lock, "lock");
    PROFILE_LOCK_ACQUIRE(&lock, "lock");
    PROFILE_LOCK_RELEASE(&lock, "lock");
    PROFILE_ALLOC(&lock, 100);
    PROFILE_FREE(&lock);
    PROFILE_FLOW_OUT(7);
    PROFILE_MARK_REACH("to the process", PROF_MARK_PROCESS);
    PROFILE_COUNTER_ADD("sum", 2);
    PROFILE_COUNTER_ADD("sum", 3);
    {
        PROFILE_STEP("step", 41);
        PROFILE_THROUGHPUT("throughput", 1000);
    }
    PROFILE_LOG(PROF_LOG_ERROR, "%s %d", "message", 5);
    prof_stop();
}

static void objects(void)
{
    static const char *const names[] = {"domain", "off", NULL};
    prof_config config;
    memset(&config, 0, sizeof config);
    config.categories = "-off";
    prof_start(&config);
    for (int i = 0; i < 3; ++i) { /* what is off says nothing, from its first use on */
        prof_domain *domain = names[i] ? prof_domain_create(names[i]) : NULL;
        prof_task *task = prof_task_create(domain, "task");
        prof_frame *frame = prof_frame_create(domain, "frame");
        prof_counter *counter = prof_counter_create(domain, "counter");
        prof_marker *marker = prof_marker_create(domain, "marker");
        prof_range *range = prof_range_create("range");
        prof_task_start(task);
        prof_frame_start(frame);
        prof_counter_set(counter, 5);
        prof_counter_sub(counter, 2);
        prof_counter_set_double(counter, 0.25);
        prof_range_start(range);
        prof_marker_mark(marker, PROF_MARK_GLOBAL);
        prof_range_stop(range);
        prof_frame_stop(frame);
        prof_task_stop(task);
        prof_task_destroy(task);
        prof_frame_destroy(frame);
        prof_counter_destroy(counter);
        prof_marker_destroy(marker);
        prof_range_destroy(range);
    }
    prof_stop();
}

static void *task_elsewhere(void *task)
{
    prof_task_stop((prof_task *)task);
    return NULL;
}

/* Tasks that nest, and those that do not: of these the next ones of the name overlap. */
static void tasks(void)
{
    static const char *const names[] = {"nests", "crosses", "leaves", "goes on"};
    prof_task *made[4];
    pthread_t thread;
    prof_config config;
    memset(&config, 0, sizeof config);
    prof_start(&config);
    for (int i = 0; i < 4; ++i) made[i] = prof_task_create(NULL, names[i]);
    for (int twice = 0; twice < 2; ++twice) {
        prof_task_start(made[1]);
        prof_task_start(made[0]);
        {
            PROFILE_SCOPE("in both");
            prof_task_stop(made[1]);
        }
        prof_task_stop(made[0]);
        prof_task_start(made[2]);
        pthread_create(&thread, NULL, task_elsewhere, made[2]);
        pthread_join(thread, NULL);
        {
            PROFILE_SCOPE("around its begin");
            prof_task_start(made[3]);
        }
        prof_task_stop(made[3]);
    }
    for (int i = 0; i < 4; ++i) prof_task_destroy(made[i]);
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

static jmp_buf *out;
static void down(int levels)
{
    PROFILE_SCOPE("down");
    if (levels > 1)
        down(levels - 1);
    else if (out)
        longjmp(*out, 1);
}
static void depth(void)
{
    jmp_buf jump;
    start();
    down(PROF_BRIDGE_DEPTH + 20);
    {
        PROFILE_SCOPE("around those that longjmp() leaves");
        out = &jump;
        if (!setjmp(jump)) down(PROF_BRIDGE_DEPTH + 20);
        out = NULL;
    }
    {
        PROFILE_SCOPE("after");
    }
    for (int i = 0; i < PROF_BRIDGE_NAMES + 3; ++i) {
        PROFILE_SCOPE_F("%d", i);
    }
    {
        PROFILE_SCOPE_DYNAMIC("one more");
    }
    prof_stop();
}

static void *thread(void *name)
{
    PROFILE_THREAD((const char *)name);
    for (int i = 0; i < 2; ++i) {
        PROFILE_SCOPE("of a thread");
        PROFILE_SCOPE_DYNAMIC((const char *)name);
    }
    PROFILE_BEGIN("left to the thread's end");
    return NULL;
}
static void threads(void)
{
    pthread_t id;
    char names[2][8] = {"red", "green"};
    prof_set_thread_name("main, named before the session");
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
    } parts[] = {{"macros", macros}, {"frames", frames},   {"events", events}, {"objects", objects}, {"tasks", tasks},
                 {"depth", depth},   {"threads", threads}, {"crowd", crowd},   {"fibers", fibers},
                 {"forks", forks},   {"sessions", sessions}, {"autostarted", autostarted}};
    const char *part = argc > 1 ? argv[1] : "";
    if (!strcmp(part, "plugins")) plugins(argc - 2, argv + 2);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
        if (!strcmp(part, parts[i].name)) parts[i].run();
    return 0;
}
