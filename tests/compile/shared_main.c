/* shared_main.c - calls what the three files made of shared.h, and checks that each name was recorded as often as it
   says, in its own function and category. An argument: how many names there are. */
#include "prof_read.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif
extern int handle_of_all;
extern pthread_mutex_t shared_mutex;
#ifdef __cplusplus
}
#endif
int handle_of_all;
pthread_mutex_t shared_mutex = PTHREAD_MUTEX_INITIALIZER;
void part_0(void);
void part_1(void);
void part_2(void);

enum { CALLS = 1 + 3 + 9, NAMES = 2000 };
static struct name { char text[100]; unsigned long count; } names[NAMES];
static int name_count, failures;

static int times_of(const char *text) /* -1: it has no count */
{
    const char *x = strrchr(text, 'x');
    return x && x > text && x[-1] == ' ' && x[1] ? atoi(x + 1) : -1;
}
/* How often one call of everything calls the functions of that name. */
static unsigned long calls_of(const char *function)
{
    static const struct { const char *name; unsigned long calls; } more[] = {
        {"type", 2}, {"~type", 2}, {"overridden", 2}, {"function_template", 2}, {"of_template", 2}, {"variadic", 2},
    };
    for (size_t i = 0; i < sizeof more / sizeof *more; ++i)
        if (!strcmp(more[i].name, function)) return more[i].calls;
    return 1;
}
static void wrong(const char *what, const char *name, const prof_event *event)
{
    if (++failures <= 5)
        printf("%s: \"%s\" of %s(), category \"%s\", line %u\n", what, name, event->site->function,
               event->site->category, (unsigned)event->site->line);
}
static void count(const char *text, const prof_event *event)
{
    int i = 0, times = times_of(text);
    size_t length = strlen(event->site->function);
    if (times < 0) return;
    if (strncmp(text, event->site->function, length) || text[length] != ':') wrong("of another function", text, event);
    if (!times) return;
    while (i < name_count && strcmp(names[i].text, text)) ++i;
    if (i == NAMES || strlen(text) >= sizeof names->text) {
        wrong("no room for", text, event);
        return;
    }
    if (i == name_count) strcpy(names[name_count++].text, text);
    names[i].count++;
}
static void look(const prof_event *event)
{
    const char *category = event->site->category;
    const char *name = event->type == PROF_EVENT_LOG ? event->value.as.string : event->name;
    count(name, event);
    if (times_of(name) < 0) count(category, event);
    else if (times_of(category) >= 0 && strcmp(name, category)) wrong("in another's category", name, event);
    if (event->type == PROF_EVENT_LOG) return;
    for (uint32_t i = 0; i < event->arg_count; ++i) {
        const prof_arg *arg = &event->args[i];
        count(arg->key, event);
        if (times_of(name) >= 0 && (!strcmp(arg->key, "step_num") || !strcmp(arg->key, "bytes")) && arg->value.as.i != times_of(name))
            wrong("with another's argument", name, event);
    }
}

int main(int argc, char **argv)
{
    prof_config config;
    prof_trace *trace = NULL;
    prof_timeline *timeline = NULL;
    prof_event event;
    memset(&config, 0, sizeof config);
    if (argc != 2 || prof_start(&config)) return 2;
    part_0();
    for (int i = 0; i < 3; ++i) part_1();
    for (int i = 0; i < 9; ++i) part_2();
    if (prof_stop() || prof_trace_open_live(&trace) || prof_timeline_open(trace, &timeline)) return 2;
    if (prof_trace_about(trace)->lost || prof_trace_about(trace)->lost_args) return 2;
    while (prof_timeline_next(timeline, &event, NULL)) look(&event);
    if (prof_timeline_close(timeline)) return 2;
    prof_trace_close(trace);
    for (int i = 0; i < name_count; ++i) {
        unsigned long times = (unsigned long)times_of(names[i].text) * CALLS;
        char function[100];
        strcpy(function, names[i].text);
        strchr(function, ':')[0] = 0;
        times *= calls_of(function);
        if (names[i].count != times && ++failures <= 5)
            printf("\"%s\": recorded %lu times, not %lu\n", names[i].text, names[i].count, times);
    }
    if (name_count != atoi(argv[1]) && ++failures) printf("%d names, not %s\n", name_count, argv[1]);
    if (failures) printf("%d failures\n", failures);
    return failures != 0;
}
