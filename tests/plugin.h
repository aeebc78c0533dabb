/* The interface of the plugins of test_plugins.c. */
#ifndef PLUGIN_H
#define PLUGIN_H
#include "../prof.h"

typedef struct plugin {
    void (*scopes)(int count, int first); /* that many, with an argument i that counts from first */
    int (*thread_begin)(void);            /* a thread that has a scope, waits, and has another one */
    int (*thread_end)(void);
    void (*count)(void);                  /* adds to a counter that has the same name in all, and a unit of its own */
    const void *site;                     /* an address in the plugin's data */
    /* null in a plugin that has only markup; else the functions that the plugin's own calls reach */
    prof_status (*start)(const prof_config *config);
    prof_status (*stop)(void);
    prof_status (*save)(const char *path);
    int (*enabled)(void);
    const char *(*error)(void);
    prof_status (*set_paused)(int paused);
    prof_status (*dump)(int finished);
} plugin;

typedef const plugin *plugin_get_function(void);
#endif
