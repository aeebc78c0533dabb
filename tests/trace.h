/* trace.h - what the tests of the recorder share: a track as an array, and the checks that every trace must pass.
   Include it after prof.h and test.h. Valid in C99 and C++11. */
#ifndef TRACE_H
#define TRACE_H

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* Where this program's files go. The Makefile names a folder for each program: programs run at the same time. */
#ifndef TRACE_FOLDER
#define TRACE_FOLDER "build/tests/out"
#endif

#if defined(__SANITIZE_THREAD__)
#define TRACE_SANITIZER 2
#elif defined(__SANITIZE_ADDRESS__)
#define TRACE_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TRACE_SANITIZER 2
#elif __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define TRACE_SANITIZER 1
#endif
#endif
#ifndef TRACE_SANITIZER
#define TRACE_SANITIZER 0 /* 1: the address or memory sanitizer, 2: the thread sanitizer, which delays signals */
#endif

/* Memory that this process has; 0: not known. */
static inline long trace_resident(void) /* bytes */
{
#ifdef _WIN32
    return posix_resident();
#else
    long pages = 0, all;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) return 0;
    if (fscanf(file, "%ld %ld", &all, &pages) != 2) pages = 0;
    fclose(file);
    return pages * 4096;
#endif
}

/* How often a test repeats itself: PROF_TEST_QUICK=1 is for valgrind and sanitizers, PROF_TEST_LONG=1 for patience, and
   PROF_TEST_LONG=30 for so many per cent of it. */
static inline long trace_times(long quick, long normal, long patient)
{
    const char *is_quick = getenv("PROF_TEST_QUICK"), *is_long = getenv("PROF_TEST_LONG");
    if (is_quick && *is_quick == '1') return quick;
    long percent = is_long ? atol(is_long) : 0, part = percent == 1 ? patient : patient * percent / 100;
    return part > normal ? part : normal;
}

/* Waits until the slowest counter, of 1 MHz, has moved: what follows does not share an instant with what was before. */
#ifdef PROF__SIMULATED_HZ
#define TRACE_INSTANT (PROF__SIMULATED_HZ < 1000000 ? 2000000000LL / (long long)PROF__SIMULATED_HZ : 2000) /* ns */
#else
#define TRACE_INSTANT 2000
#endif
static inline void trace_next_instant(void)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000000000LL + (now.tv_nsec - begin.tv_nsec) < TRACE_INSTANT);
}

/* A path below the folder for output, in a buffer of its own for each of the last eight calls. */
static inline const char *trace_path(const char *name)
{
    static char paths[8][256];
    static unsigned next;
    char *path = paths[next++ % 8];
    char folder[] = TRACE_FOLDER;
    for (char *end = folder + 1; *end; ++end) {
        if (*end != '/') continue;
        *end = 0;
        mkdir(folder, 0777);
        *end = '/';
    }
    mkdir(folder, 0777);
    snprintf(path, sizeof paths[0], "%s/%s", TRACE_FOLDER, name);
    return path;
}

static inline long trace_file_size(const char *path) /* -1: there is none */
{
    struct stat about;
    return stat(path, &about) ? -1 : (long)about.st_size;
}

/* The whole of a file, terminated; to be freed. Null if it can't be read. */
static inline char *trace_file_text(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t used = 0, room = 0, got = 1;
    while (file && got) {
        if (room - used < 4096) text = (char *)realloc(text, room = room * 2 + 8192);
        got = fread(text + used, 1, room - used - 1, file);
        used += got;
    }
    if (file) fclose(file);
    if (text) text[used] = 0;
    if (size) *size = used;
    return text;
}

static inline void trace_write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL);
    if (!file) return;
    CHECK(fwrite(bytes, 1, size, file) == size);
    CHECK(!fclose(file));
}

/*-- what is written to a sink, with a zero behind it --*/

typedef struct trace_bytes {
    char *bytes;
    size_t size, room, limit; /* limit: more are refused; 0: never */
} trace_bytes;

static inline int trace_bytes_add(void *user, const void *data, size_t size)
{
    trace_bytes *all = (trace_bytes *)user;
    if (all->limit && all->size + size > all->limit) return 1;
    if (all->size + size >= all->room) all->bytes = (char *)realloc(all->bytes, all->room = (all->size + size) * 2 + 1);
    memcpy(all->bytes + all->size, data, size);
    all->bytes[all->size += size] = 0;
    return 0;
}

static inline prof_sink trace_sink(trace_bytes *all)
{
    prof_sink sink;
    sink.write = trace_bytes_add;
    sink.user = all;
    return sink;
}

/*-- one track as an array --*/

typedef struct trace_list {
    prof_event *events; /* each with a copy of its args and its run-time strings */
    size_t count;
    char **texts; /* these strings */
    size_t text_count;
} trace_list;

static inline const char *trace_keep(trace_list *list, const char *text)
{
    char *copy = (char *)malloc(strlen(text) + 1);
    if (!(list->text_count & (list->text_count + 1)))
        list->texts = (char **)realloc(list->texts, (list->text_count * 2 + 1) * sizeof *list->texts);
    strcpy(copy, text);
    return list->texts[list->text_count++] = copy;
}

static inline trace_list trace_read(const prof_trace *trace, size_t track)
{
    trace_list list = {NULL, 0, NULL, 0};
    prof_cursor *cursor = NULL;
    prof_event event;
    size_t room = 0;
    prof_status status = prof_cursor_open(trace, track, &cursor);
    CHECK_EQUAL(status, PROF_OK);
    if (status) return list;
    while (prof_cursor_next(cursor, &event)) {
        if (list.count == room) {
            room = room * 2 + 64;
            list.events = (prof_event *)realloc(list.events, room * sizeof event);
        }
        if (event.arg_count) {
            prof_arg *args = (prof_arg *)malloc(event.arg_count * sizeof *args);
            memcpy(args, event.args, event.arg_count * sizeof *args);
            for (uint32_t i = 0; i < event.arg_count; ++i) {
                args[i].key = trace_keep(&list, args[i].key);
                if (args[i].value.type == PROF_VALUE_STRING)
                    args[i].value.as.string = trace_keep(&list, args[i].value.as.string);
            }
            event.args = args;
        } else {
            event.args = NULL;
        }
        if (event.name != event.site->name) event.name = trace_keep(&list, event.name);
        if (event.value.type == PROF_VALUE_STRING) event.value.as.string = trace_keep(&list, event.value.as.string);
        list.events[list.count++] = event;
    }
    prof_cursor_close(cursor);
    return list;
}

static inline void trace_free(trace_list *list)
{
    for (size_t i = 0; i < list->count; ++i) free((void *)list->events[i].args);
    for (size_t i = 0; i < list->text_count; ++i) free(list->texts[i]);
    free(list->events);
    free(list->texts);
    memset(list, 0, sizeof *list);
}

/* The nth event of this name, counted from 0; null: there are not as many. */
static inline const prof_event *trace_nth(const trace_list *list, const char *name, size_t nth)
{
    for (size_t i = 0; i < list->count; ++i)
        if (!strcmp(list->events[i].name, name) && !nth--) return &list->events[i];
    return NULL;
}

static inline const prof_event *trace_find(const trace_list *list, const char *name)
{
    return trace_nth(list, name, 0);
}

static inline size_t trace_count(const trace_list *list, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; ++i) count += !strcmp(list->events[i].name, name);
    return count;
}

/* Those that also have an argument with this key and this text. */
static inline size_t trace_count_with(const trace_list *list, const char *name, const char *key, const char *text)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; ++i)
        for (size_t k = 0; k < list->events[i].arg_count; ++k) {
            const prof_arg *arg = &list->events[i].args[k];
            if (!strcmp(list->events[i].name, name) && !strcmp(arg->key, key) && arg->value.type == PROF_VALUE_STRING)
                count += !strcmp(arg->value.as.string, text);
        }
    return count;
}

static inline size_t trace_count_messages(const trace_list *list, const char *text)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; ++i)
        if (list->events[i].type == PROF_EVENT_LOG) count += !strcmp(list->events[i].value.as.string, text);
    return count;
}

/* The newest argument of this key; null: none. */
static inline const prof_value *trace_arg(const prof_event *event, const char *key)
{
    const prof_value *found = NULL;
    for (size_t i = 0; event && i < event->arg_count; ++i)
        if (!strcmp(event->args[i].key, key)) found = &event->args[i].value;
    return found;
}

static inline int64_t trace_end(const prof_event *event) { return event->start_ns + event->duration_ns; }

/* The index of the track with this name; the number of tracks if there is none. */
static inline size_t trace_track_named(const prof_trace *trace, const char *name)
{
    size_t i = 0, count = prof_trace_track_count(trace);
    while (i < count && strcmp(prof_trace_track(trace, i)->name, name)) ++i;
    return i;
}

/*-- what holds for every trace --*/

static inline int trace_compare_ids(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

typedef struct trace_open {
    int64_t start, end;
} trace_open;

/* Order of time, nesting and counts of one track; its ids are appended to ids, which has room for event_count. */
static inline uint64_t trace_check_track(const prof_trace *trace, size_t index, uint64_t *ids)
{
    const prof_track *track = prof_trace_track(trace, index);
    prof_cursor *cursor = NULL;
    prof_event event;
    trace_open *open = NULL;
    size_t depth = 0, room = 0;
    uint64_t count = 0, lost = 0;
    int64_t before = 0;
    CHECK_EQUAL(prof_cursor_open(trace, index, &cursor), PROF_OK);
    if (!cursor) return 0;
    CHECK(track->name != NULL);
    while (prof_cursor_next(cursor, &event) && count < track->event_count) {
        ids[count++] = event.id;
        CHECK(event.name && event.site && event.site->name && event.site->category && event.site->file);
        CHECK(event.start_ns >= before);
        CHECK(event.duration_ns >= 0);
        CHECK(event.start_ns >= track->first_ns && event.start_ns <= track->last_ns);
        before = event.start_ns;
        if (event.type == PROF_EVENT_LOST) {
            lost += event.value.as.u;
            continue;
        }
        CHECK(event.depth <= depth);
        while (depth > event.depth) {
            --depth;
            CHECK(open[depth].end <= event.start_ns);
        }
        if (depth) CHECK(event.start_ns >= open[depth - 1].start && event.start_ns <= open[depth - 1].end);
        if (event.type != PROF_EVENT_SCOPE) continue;
        if (depth) CHECK(event.start_ns + event.duration_ns <= open[depth - 1].end);
        CHECK(event.start_ns + event.duration_ns <=
              (track->open && event.flags & PROF_TRUNCATED_END ? prof_trace_about(trace)->duration_ns : track->last_ns));
        if (depth == room) open = (trace_open *)realloc(open, (room = room * 2 + 64) * sizeof *open);
        open[depth].start = event.start_ns;
        open[depth++].end = event.start_ns + event.duration_ns;
        if (test_failures > 20) break; /* one broken trace is enough to look at */
    }
    CHECK_EQUAL(count, track->event_count);
    CHECK_EQUAL(lost, track->lost);
    if (test_failures <= 20) CHECK(!prof_cursor_next(cursor, &event));
    prof_cursor_close(cursor);
    free(open);
    return count;
}

/* Everything that prof.h promises about any trace. */
static inline void trace_check(const prof_trace *trace)
{
    const prof_trace_info *info = prof_trace_about(trace);
    size_t tracks = prof_trace_track_count(trace);
    uint64_t count = 0, lost = 0;
    uint64_t *ids = (uint64_t *)malloc((size_t)(info->event_count + 1) * sizeof *ids);
    for (size_t i = 0; i < tracks && test_failures <= 20; ++i) {
        const prof_track *track = prof_trace_track(trace, i);
        CHECK(count + track->event_count <= info->event_count);
        if (count + track->event_count > info->event_count) break;
        count += trace_check_track(trace, i, ids + count);
        lost += track->lost;
        CHECK(track->last_ns <= info->duration_ns);
        if (i) CHECK(track->id > prof_trace_track(trace, i - 1)->id);
    }
    CHECK_EQUAL(count, info->event_count);
    CHECK(lost <= info->lost);
    CHECK(prof_trace_track(trace, tracks) == NULL);
    qsort(ids, (size_t)count, sizeof *ids, trace_compare_ids);
    uint64_t twice = 0; /* ids that more than one event has */
    for (uint64_t i = 1; i < count; ++i) twice += ids[i] == ids[i - 1];
    CHECK_EQUAL(twice, 0);
    free(ids);
}

/* The present trace, checked. Never null: without one the test program can't go on. */
static inline prof_trace *trace_live(void)
{
    prof_trace *trace = NULL;
    prof_status status = prof_trace_open_live(&trace);
    if (status) {
        printf("prof_trace_open_live: %s: %s\n", prof_status_text(status), prof_error());
        exit(1);
    }
    trace_check(trace);
    return trace;
}

static inline prof_trace *trace_stop(void)
{
    CHECK_EQUAL(prof_stop(), PROF_OK);
    return trace_live();
}

/* Null, and a failed check, if there is no trace in path. */
static inline prof_trace *trace_open_file(const char *path)
{
    prof_trace *trace = NULL;
    prof_status status = prof_trace_open(path, &trace);
    CHECK_EQUAL(status, PROF_OK);
    if (status) {
        printf("prof_trace_open: %s\n", prof_error());
        return NULL;
    }
    trace_check(trace);
    return trace;
}

/* config: all zero but the size of the buffer. */
static inline prof_config trace_config(size_t buffer_size)
{
    prof_config config;
    memset(&config, 0, sizeof config);
    config.buffer_size = buffer_size;
    config.existing = PROF_EXISTING_REPLACE; /* tests come back to their names */
    return config;
}

static inline void trace_start(const prof_config *config)
{
    prof_status status = prof_start(config);
    if (status) {
        printf("prof_start: %s: %s\n", prof_status_text(status), prof_error());
        exit(1);
    }
}
#endif
