/* A program for test_plugins.c whose plugins bring a recorder; it has none, or, with HOST_RECORDER, one that it does
   not show to them, and is linked to. The first argument says what to do. */
#include "plugin.h"
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const plugin *load(const char *path, void **library)
{
    plugin_get_function *get;
    void *symbol;
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    symbol = *library ? dlsym(*library, "plugin_get") : NULL;
    if (!symbol) {
        printf("%s\n", dlerror());
        exit(1);
    }
    memcpy(&get, &symbol, sizeof get);
    return get();
}

static long resident(void) /* KiB; 0: not known */
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
    if (file) fclose(file);
    return pages * 4;
}

static sem_t goes, there;
static const plugin *present;

/* A thread of the program that outlives every plugin it calls. */
static void *calls(void *unused)
{
    for (;;) {
        sem_wait(&goes);
        if (!present) return unused;
        present->scopes(10, 0);
        sem_post(&there);
    }
}

/* how: 's' stops the session before it unloads the recorder. */
static int reload(const char *path, const char *how, int times)
{
    long before = 0;
    pthread_t thread;
    sem_init(&goes, 0, 0);
    sem_init(&there, 0, 0);
    if (pthread_create(&thread, NULL, calls, NULL)) return 1;
    for (int i = 0; i < times; ++i) {
        void *library;
        prof_config config;
        present = load(path, &library);
        memset(&config, 0, sizeof config);
        config.buffer_size = 4u << 20;
        if (present->start(&config)) {
            printf("start %d: %s\n", i, present->error());
            return 1;
        }
        present->scopes(1000, 0);
        sem_post(&goes);
        sem_wait(&there);
        if (*how == 's' && present->stop()) return 1;
        dlclose(library);
        if (i == times / 4) before = resident();
    }
    if (before && resident() > before + 16384) {
        printf("%ld KiB resident after %d times, %ld after %d\n", before, times / 4, resident(), times);
        return 1;
    }
    present = NULL;
    sem_post(&goes);
    return pthread_join(thread, NULL);
}

/* Loads them all, which record only if they started by themselves, and unloads them. */
static int load_all(int count, char **paths)
{
    void *libraries[16];
    int running = 0;
    for (int i = 0; i < count; ++i) {
        const plugin *each = load(paths[i], &libraries[i]);
        each->scopes(100, i * 100);
        running += each->enabled && each->enabled();
    }
    printf("%d running\n", running);
    for (int i = 0; i < count; ++i) dlclose(libraries[i]);
    return 0;
}

#define MANY 50

/* As many copies of the implementation, pattern.0 and so on, of which the first to come is the first to go; there is a
   thread of before them all. */
static int load_many(const char *pattern)
{
    static void *libraries[MANY];
    static const plugin *each[MANY];
    pthread_t thread;
    char path[1024];
    sem_init(&goes, 0, 0);
    sem_init(&there, 0, 0);
    if (pthread_create(&thread, NULL, calls, NULL)) return 1;
    for (int i = 0; i < MANY; ++i) {
        snprintf(path, sizeof path, "%s.%d", pattern, i);
        each[i] = load(path, &libraries[i]);
        if (!each[i]->enabled()) return 1;
    }
    for (int i = 0; i < MANY; ++i) {
        each[i]->scopes(10, i * 10);
        present = each[i];
        sem_post(&goes);
        sem_wait(&there);
    }
    for (int i = 0; i < MANY; ++i) {
        dlclose(libraries[i]);
        if (i + 1 < MANY) each[MANY - 1]->scopes(1, i);
    }
    present = NULL;
    sem_post(&goes);
    return pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
#ifdef HOST_RECORDER
    PROFILE_BLOCK("host") {}
#endif
    if (argc == 5 && !strcmp(argv[1], "reload")) return reload(argv[2], argv[3], atoi(argv[4]));
    if (argc > 2 && !strcmp(argv[1], "all")) return load_all(argc - 2, argv + 2);
    if (argc == 3 && !strcmp(argv[1], "many")) return load_many(argv[2]);
    return 2;
}
