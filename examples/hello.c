/* The shortest program with a profile.

       cc -O2 examples/hello.c -o hello -pthread && ./hello

   Then drag hello.json into https://ui.perfetto.dev. */
#define PROF_IMPLEMENTATION
#include "../prof_chrome.h"
#include <stdio.h>

static void work(int step)
{
    PROFILE_FUNCTION();
    PROFILE_ARG_I("step", step);
    for (volatile int i = 0; i < step * 100000; i++) continue;
}

int main(void)
{
    prof_config config = {.output = "hello.json"};
    if (prof_start(&config)) return puts(prof_error()), 1;
    for (int step = 1; step <= 10; step++) work(step);
    if (prof_stop()) return puts(prof_error()), 1;
    return 0;
}
