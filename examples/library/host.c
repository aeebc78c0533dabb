/* One recorder for a program, a static library in it and a plugin that it loads and unloads: the program has the
   implementation, the others only the macros. -rdynamic lets the plugin find the recorder in the program.

       cc -O2 -c examples/library/shapes.c -o shapes.o && ar rc libshapes.a shapes.o
       cc -O2 -fPIC -shared examples/library/plugin.c -o plugin.so
       cc -O2 -rdynamic examples/library/host.c -L. -lshapes -o host -pthread -ldl && ./host ./plugin.so

   Then drag host.json into https://ui.perfetto.dev: all three are on one timeline, each in its category. */
#define PROF_CATEGORY "host"
#define PROF_IMPLEMENTATION
#include "../../prof_chrome.h"
#include "shapes.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef double filter_function(double area);

/* Loads the plugin again for each round: the names of its scopes stay in the trace after it is unloaded. */
static int round_with(const char *plugin, int round)
{
    double sum = 0;
    void *library;
    filter_function *filter;
    void *symbol;
    PROFILE_FUNCTION();
    PROFILE_ARG_I("round", round);
    PROFILE_BLOCK("load") { library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL); }
    symbol = library ? dlsym(library, "filter") : NULL;
    if (!symbol) {
        fprintf(stderr, "host: %s\n", dlerror());
        return 0;
    }
    memcpy(&filter, &symbol, sizeof filter); /* ISO C cannot convert an object pointer to a function pointer */
    for (int i = 1; i <= 12; i++) sum += filter(circle_area(round, i));
    PROFILE_COUNTER("sum", sum);
    printf("round %d: %.3f\n", round, sum);
    PROFILE_BLOCK("unload") { dlclose(library); }
    return 1;
}

int main(int argc, char **argv)
{
    const char *plugin = argc > 1 ? argv[1] : "./plugin.so";
    prof_config config = {.output = "host.json"};
    int good = 1;
    prof_status status = prof_start(&config);
    for (int round = 1; round <= 3 && good; round++) good = round_with(plugin, round);
    if (status == PROF_OK) status = prof_stop();
    if (status != PROF_OK) fprintf(stderr, "host: no trace: %s\n", prof_error());
    return good ? 0 : 1;
}
