/* Configures performance counters with the real CUPTI, which needs no GPU for that: see tests/compile/cupti.sh. Prints
   what is wrong. */
#define PROF_IMPLEMENTATION
#include "prof_cuda.h"
#include "prof_read.h"

static const char *said(const prof_trace *trace, const char *wanted)
{
    const char *key, *value;
    for (size_t i = 0; prof_trace_metadata(trace, i, &key, &value); ++i)
        if (!strcmp(key, wanted)) return value;
    return "";
}

int main(int count, char **arguments)
{
#define NAME(name, type, newest, oldest) "cupti" #name,
    static const char *const functions[] = {PROF__CUPTI_SAMPLING(NAME)};
    static const char *const names[] = {"sm__cycles_active.avg", "no_such_counter", "sm__cycles_elapsed.avg"};
    void *library = dlopen(count > 1 ? arguments[1] : "", RTLD_NOW);
    prof__cuda_sampler *sampler = &prof__cuda_samplers[0];
    prof_trace *trace = NULL;
    size_t passes = 0;
    if (!library) return puts(dlerror()), 1;
    if (prof__cuda_symbols(library, functions, sizeof functions / sizeof *functions, (void *)&prof__cupti_sampling_api))
        return puts("functions are missing"), 1;
    prof_start(NULL);
    prof__cuda.session = prof__state.session;
    if (prof__cuda_choose(sampler, "GH100", names, 3)) printf("prof__cuda_choose: %s\n", prof_error());
    if (sampler->count != 2 || strcmp(sampler->names[1], "sm__cycles_elapsed.avg")) puts("the counters are others");
    if (!sampler->config_bytes || prof__cuda_configure(sampler, "GH100", &passes) || passes != 1)
        printf("%u passes, %u bytes\n", (unsigned)passes, (unsigned)sampler->config_bytes);
    prof__cuda_sampler_close(sampler);
    if (!prof__cuda_choose(sampler, "GH100", names + 1, 1)) puts("a counter that does not exist is taken");
    if (!prof__cuda_choose(sampler, "no such chip", names, 1)) puts("a chip that does not exist is taken");
    prof__cuda_sampler_close(sampler);
    prof_stop();
    prof_trace_open_live(&trace);
    if (!strstr(said(trace, "CUDA no_such_counter not recorded"), "INVALID_PARAMETER: see ncu"))
        printf("it says: %s\n", said(trace, "CUDA no_such_counter not recorded"));
    prof_trace_close(trace);
    return 0;
}
