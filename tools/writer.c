/* writer.c - writes .json and .csv with two threads: one makes the text, and the other writes it, which takes as long.
   */
#include "tool.h"
#include <stdlib.h>
#include <string.h>

static prof_status make(const prof_trace *const *traces, size_t count, const prof_chrome_options *chrome,
                        prof_sink sink)
{
    return chrome ? prof_chrome_merge_stream(traces, count, sink, chrome) : prof_csv_stream(*traces, sink);
}

static int put_now(void *user, const void *data, size_t size)
{
    tool_out *out = (tool_out *)user;
    tool_out_bytes(out, data, size);
    return !tool_out_good(out);
}

/* Writes without a second thread. */
static int write_now(const prof_trace *const *traces, size_t count, const prof_chrome_options *chrome, tool_out *out)
{
    prof_sink sink = {put_now, NULL};
    prof_status status;
    sink.user = out;
    status = make(traces, count, chrome, sink);
    if (!status || !tool_out_good(out)) return tool_out_close(out, 1);
    tool_status(status);
    return tool_out_close(out, 0);
}

#ifndef _WIN32
#include <pthread.h>
#include <sched.h>

/* Returns 1 if the process may use only one processor. A second thread would only add work then. */
static int is_alone(void)
{
#ifdef __linux__
    cpu_set_t processors;
    return !sched_getaffinity(0, sizeof processors, &processors) && CPU_COUNT(&processors) == 1;
#else
    return 0;
#endif
}

enum { PARTS = 4, PART = 1 << 20 };

typedef struct writer {
    tool_out *out;
    char *parts;        /* PARTS of PART bytes, used in turn */
    size_t used[PARTS]; /* how many bytes each has */
    pthread_mutex_t lock; /* the lock of the fields below */
    pthread_cond_t changed;
    size_t made, written; /* how many parts were made, and written */
    int ended, good, failed, result; /* good: 1: all text was made; failed: 1: a write failed */
} writer;

/* Hands the filled part to the other thread, and waits until a part is free. */
static void hand_over(writer *w)
{
    pthread_mutex_lock(&w->lock);
    w->made++;
    pthread_cond_signal(&w->changed);
    while (w->made - w->written == PARTS) pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
    w->used[w->made % PARTS] = 0;
}

static int put(void *user, const void *data, size_t size)
{
    writer *w = (writer *)user;
    const char *from = (const char *)data;
    while (size) {
        size_t at = w->made % PARTS, left = PART - w->used[at], take = size < left ? size : left;
        memcpy(w->parts + at * PART + w->used[at], from, take);
        w->used[at] += take;
        from += take;
        size -= take;
        if (take == left) hand_over(w);
    }
    return __atomic_load_n(&w->failed, __ATOMIC_RELAXED);
}

static void *write_parts(void *user)
{
    writer *w = (writer *)user;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        size_t at = w->written % PARTS;
        while (w->written == w->made && !w->ended) pthread_cond_wait(&w->changed, &w->lock);
        if (w->written == w->made) break;
        pthread_mutex_unlock(&w->lock);
        tool_out_bytes(w->out, w->parts + at * PART, w->used[at]);
        __atomic_store_n(&w->failed, !tool_out_good(w->out), __ATOMIC_RELAXED);
        pthread_mutex_lock(&w->lock);
        w->written++;
        pthread_cond_signal(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    w->result = tool_out_close(w->out, w->good); /* here: prof_error() is of the thread that failed */
    return NULL;
}

int tool_write(const prof_trace *const *traces, size_t count, const prof_chrome_options *chrome, const char *path)
{
    tool_out *out = tool_out_open(path);
    writer w;
    pthread_t thread;
    prof_sink sink = {put, NULL};
    prof_status status;
    if (!out) return TOOL_ERROR;
    if (is_alone()) return write_now(traces, count, chrome, out);
    memset(&w, 0, sizeof w);
    w.out = out;
    w.parts = (char *)malloc(PARTS * PART);
    pthread_mutex_init(&w.lock, NULL);
    pthread_cond_init(&w.changed, NULL);
    if (!w.parts || pthread_create(&thread, NULL, write_parts, &w)) {
        free(w.parts);
        return write_now(traces, count, chrome, out);
    }
    sink.user = &w;
    status = make(traces, count, chrome, sink);
    if (w.used[w.made % PARTS]) hand_over(&w);
    pthread_mutex_lock(&w.lock);
    w.ended = 1;
    w.good = !status || w.failed;
    pthread_cond_signal(&w.changed);
    pthread_mutex_unlock(&w.lock);
    if (!w.good) tool_status(status);
    pthread_join(thread, NULL);
    free(w.parts);
    return w.result;
}
#else
int tool_write(const prof_trace *const *traces, size_t count, const prof_chrome_options *chrome, const char *path)
{
    tool_out *out = tool_out_open(path);
    return out ? write_now(traces, count, chrome, out) : TOOL_ERROR;
}
#endif
