/* Records with the real CUPTI and a driver that is none: see tests/compile/cupti.sh. Prints what is wrong. */
#define PROF_IMPLEMENTATION
#include "prof_cuda.h"

int main(int count, char **arguments)
{
    prof_cuda_config config;
    memset(&config, 0, sizeof config);
    if (count != 3) return 2;
    config.driver = arguments[1];
    config.cupti = arguments[2];
    for (int i = 0; i < 2; ++i) {
        prof_cuda_enable(&config);
        if (prof_start(NULL)) printf("prof_start: %s\n", prof_error());
        { PROFILE_SCOPE("goes on"); }
        if (prof_cuda_status() != PROF_UNSUPPORTED || strncmp(prof_error(), "cupti", 5) || !strchr(prof_error(), ','))
            printf("prof_cuda_status: %s\n", prof_error());
        if (prof_stop()) printf("prof_stop: %s\n", prof_error());
    }
    return 0;
}
