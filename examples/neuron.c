/* Neuron: a loop like one that trains, whose steps, scopes and executions on NeuronCores are on one time line. It needs
   no Neuron device: the runtime is the one of the tests, which only looks busy, on cores whose clocks are not the
   host's.

       cc -O2 -shared -fPIC -Iexamples/.. examples/../tests/fake_nrt.c -o libnrt.so.1 -Wl,-soname,libnrt.so.1 -pthread
       cc -O2 examples/neuron.c -o neuron -pthread -ldl && ./neuron

   It writes neuron.json: open it in ui.perfetto.dev. On an instance with a device keep all lines with prof in them, and
   replace fake_execute() by what your program does: nrt_execute() or a call of its framework. */
#define PROF_IMPLEMENTATION
#include "../prof_ntff.h"
#include "../prof_chrome.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STEPS = 12, CORES = 2 };

static unsigned (*fake_execute)(uint32_t core, const char *model, uint64_t ns);

static volatile double sink;

static void host_work(int much)
{
    PROFILE_FUNCTION();
    double sum = 0;
    for (int i = 0; i < much * 10000; i++) sum += 1.0 / (i + 1);
    sink = sum;
}

/* Runs one core after the other. A real program, or its framework, has a thread for each core. */
static void execute(const char *model, uint64_t ns)
{
    PROFILE_SCOPE("execute");
    PROFILE_ARG_S("model", model);
    for (uint32_t core = 0; core < CORES; core++) {
        PROFILE_SCOPE("nrt_execute");
        PROFILE_ARG_U("core", core);
        fake_execute(core, model, ns);
    }
}

static void train(int step)
{
    PROFILE_STEP("train", step);
    {
        PROFILE_SCOPE("load batch");
        host_work(step == 7 ? 300 : 30); /* the late step */
    }
    {
        PROFILE_SCOPE("forward");
        execute("forward.neff", 1500000);
    }
    {
        PROFILE_SCOPE("backward");
        execute("backward.neff", 3000000);
    }
    {
        PROFILE_SCOPE("optimizer");
        host_work(20);
        execute("adam.neff", 400000);
    }
}

static int failed(prof_status status)
{
    if (status) fprintf(stderr, "neuron: %s\n", prof_error());
    return status != PROF_OK;
}

int main(void)
{
    prof_config config;
    prof_ntff_stats stats;
    const char *path = getenv("PROF_NTFF_LIBNRT"), *version;
    void *runtime, *symbol;
    memset(&config, 0, sizeof config);
    memset(&stats, 0, sizeof stats);
    config.output = "neuron.json";

    runtime = dlopen(path ? path : "./libnrt.so.1", RTLD_NOW); /* prof_ntff.h takes the one that the process has loaded */
    if (failed(prof_ntff_load(NULL))) return 1;
    version = prof_ntff_runtime_version();
    printf("runtime %s\n", version ? version : "not known"); /* NULL with PROF_ENABLE=0 */
    symbol = runtime ? dlsym(runtime, "fake_execute") : NULL;
    memcpy(&fake_execute, &symbol, sizeof symbol);
    if (!fake_execute) {
        fprintf(stderr, "neuron: a real runtime: put your own nrt_execute() where fake_execute() is\n");
        return 1;
    }
    if (failed(prof_ntff_init(1, "", ""))) return 1; /* nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, ...): most frameworks have done it */

    if (failed(prof_start(&config)) || failed(prof_ntff_systrace_start(NULL))) return 1;
    for (int step = 0; step < STEPS; step++) {
        train(step);
        if (step % 4 == 3 && failed(prof_ntff_systrace_fetch(&stats))) return 1; /* before the runtime's ring is full */
    }
    if (failed(prof_ntff_systrace_stop(&stats)) || failed(prof_stop())) return 1;
    printf("%llu events of the runtime and its NeuronCores, %llu without a start or a stop\nneuron.json: drop it into ui.perfetto.dev\n",
           (unsigned long long)stats.events, (unsigned long long)(stats.unmatched_starts + stats.unmatched_stops));
    return failed(prof_ntff_close());
}
