/* A plugin for test_plugins.c. PLUGIN_NUMBER: a digit, part of its names and lines. PLUGIN_RECORDER: with a copy of the
   implementation. */
#ifdef PLUGIN_RECORDER
#define PROF_IMPLEMENTATION
#include "../prof_chrome.h"
#include "../prof_report.h"
#endif
#include "plugin.h"
#include <pthread.h>
#include <semaphore.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#undef PROF_CATEGORY
#define PROF_CATEGORY "category " TEXT(PLUGIN_NUMBER)
#undef PROF_UNIT
#define PROF_UNIT "unit " TEXT(PLUGIN_NUMBER)

const plugin *plugin_get(void);
void plugin_more(int i);

static sem_t thread_goes, thread_there;
static pthread_t thread;

static void *thread_main(void *unused)
{
    PROFILE_BLOCK("thread " TEXT(PLUGIN_NUMBER)) {}
    sem_post(&thread_there);
    sem_wait(&thread_goes);
    PROFILE_BLOCK("thread " TEXT(PLUGIN_NUMBER)) {}
    return unused;
}

static int thread_begin(void)
{
    sem_init(&thread_goes, 0, 0);
    sem_init(&thread_there, 0, 0);
    if (pthread_create(&thread, NULL, thread_main, NULL)) return 0;
    return !sem_wait(&thread_there);
}

static int thread_end(void)
{
    sem_post(&thread_goes);
    return !pthread_join(thread, NULL);
}

static void count(void) { PROFILE_COUNTER_ADD_C("memory", PLUGIN_NUMBER, "all"); }

#define PLUGIN_JOIN_(a, b) 1##a##b
#define PLUGIN_JOIN(a, b) PLUGIN_JOIN_(a, b)
#define PLUGIN_LINE PLUGIN_JOIN(PLUGIN_NUMBER, 001)
#line PLUGIN_LINE "tests/plugin.c"
static void scopes(int count, int first)
{
    for (int i = first; i < first + count; ++i) {
        PROFILE_SCOPE("plugin " TEXT(PLUGIN_NUMBER));
        PROFILE_ARG_I("i", i);
#ifdef PROF_STATIC
        plugin_more(i);
#endif
    }
}

#ifdef PLUGIN_RECORDER
static prof_status plugin_write(void *user, const prof_trace *trace, prof_sink sink)
{
    (void)trace;
    return sink.write(sink.user, user, 6) ? PROF_IO : PROF_OK;
}
PROF_WRITER(plugin_writer, ".plugin", plugin_write, (void *)"plugin");
#endif

const plugin *plugin_get(void)
{
    static prof_site site;
    static const plugin about = {
        scopes,         thread_begin, thread_end, count,        &site,
#ifdef PLUGIN_RECORDER
        prof_start,     prof_stop,    prof_save,  prof_enabled, prof_error, prof_mxnet_set_paused,
        prof_mxnet_dump
#else
                                 NULL, NULL, NULL, NULL, NULL, NULL, NULL
#endif
    };
    return &about;
}
