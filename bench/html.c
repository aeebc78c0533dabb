/* What a report in one HTML file costs: bench_html [THOUSANDS [ROUNDS [FILE.prof]]]

   Records scopes of random durations, four deep on two threads, without arguments, into /dev/shm/bench_html.prof,
   or takes FILE.prof. Writes the report of it into nothing, in turns with a cursor that only reads: processor time,
   the best of some rounds. Then writes /dev/shm/bench_html.html, for bench/html.mjs, which says how long a reader of it takes. */
#define PROF_IMPLEMENTATION
#include "../prof_html.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile uint32_t sink;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time); /* others may want the processor, too */
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void need(int good, const char *what)
{
    if (good) return;
    fprintf(stderr, "bench_html: %s: %s\n", what, prof_error());
    exit(1);
}

static int count(void *user, const void *data, size_t size)
{
    (void)data;
    *(uint64_t *)user += size;
    return 0;
}

static uint32_t any(uint32_t *state, uint32_t limit)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % limit;
}

static void spin(uint32_t *state, uint32_t most)
{
    for (uint32_t i = any(state, most); i; --i) sink += i;
}

static void *record(void *scopes)
{
    uint32_t state = (uint32_t)(size_t)scopes;
    for (long left = (long)(size_t)scopes; left > 0; --left) {
        PROFILE_SCOPE("frame");
        spin(&state, 30);
        for (uint32_t updates = 1 + any(&state, 4); updates; --updates, --left) {
            PROFILE_SCOPE("update");
            spin(&state, 60);
            for (uint32_t items = any(&state, 4); items; --items, --left) {
                PROFILE_SCOPE("item");
                spin(&state, 90);
                for (uint32_t steps = any(&state, 5); steps; --steps, --left) {
                    if (any(&state, 2)) {
                        PROFILE_SCOPE("short step");
                        spin(&state, 40);
                    } else {
                        PROFILE_SCOPE("long step");
                        spin(&state, 2000);
                    }
                }
            }
        }
    }
    return NULL;
}

static void make(const char *path, size_t scopes)
{
    prof_config config;
    pthread_t other;
    memset(&config, 0, sizeof config);
    config.output = path;
    config.buffer_size = scopes * 40 + (8 << 20);
    need(!prof_start(&config), path);
    pthread_create(&other, NULL, record, (void *)(scopes / 2 + 1));
    record((void *)(scopes / 2));
    pthread_join(other, NULL);
    need(!prof_stop(), path);
}

static double walk(const prof_trace *trace, double *scopes)
{
    prof_cursor *cursor;
    prof_event event;
    double events = 0;
    *scopes = 0;
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
        need(!prof_cursor_open(trace, i, &cursor), "cursor");
        for (; prof_cursor_next(cursor, &event); ++events) *scopes += event.type == PROF_EVENT_SCOPE;
        prof_cursor_close(cursor);
    }
    return events;
}

int main(int argc, char **argv)
{
    static const char made[] = "/dev/shm/bench_html.prof", page[] = "/dev/shm/bench_html.html";
    size_t scopes = (size_t)(argc > 1 ? atol(argv[1]) : 1000) * 1000;
    int rounds = argc > 2 ? atoi(argv[2]) : 5;
    const char *path = argc > 3 ? argv[3] : made;
    double writing = 1e9, reading = 1e9, events = 0, of_scopes = 0, start;
    uint64_t bytes = 0, own = 0;
    prof_trace *trace;
    prof_sink to;
    to.write = count;
    to.user = &bytes;
    if (path == made) make(path, scopes);
    need(!prof_trace_open(path, &trace), path);
    while (rounds-- > 0) {
        double took;
        bytes = 0;
        start = now();
        need(!prof_html_stream(trace, to, NULL), "report");
        took = now() - start;
        if (took < writing) writing = took;
        start = now();
        events = walk(trace, &of_scopes);
        took = now() - start;
        if (took < reading) reading = took;
    }
    for (size_t i = 0; prof__html_page[i]; ++i) own += strlen(prof__html_page[i]);
    need(!prof_html_write(trace, page, NULL), page);
    prof_trace_close(trace);
    if (path == made) remove(made);
    printf("%.2f million events, %.2f million scopes\n", events / 1e6, of_scopes / 1e6);
    printf("%.2f bytes a scope, beside %.0f KB of page; %.1f MB in all\n", (double)(bytes - own) / of_scopes,
           (double)own / 1e3, (double)bytes / 1e6);
    printf("written: %.1f million events a second, %.1f ns each, of which the cursor %.1f ns\n", events / writing / 1e6,
           writing / events * 1e9, reading / events * 1e9);
    printf("%s: node bench/html.mjs %s\n", page, page);
    return 0;
}
