/* receive.c - what a range of NVTX takes that prof_receive.h records, beside a scope of prof.h.

     make library && cc -O2 -I. -I/usr/local/cuda/include bench/receive.c -o receive build/libprof.so -Wl,-rpath,build -ldl
     NVTX_INJECTION64_PATH= PROF_OUTPUT=receive.prof ./receive      without PROF_OUTPUT: while nothing is recorded */
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <time.h>
#include "prof.h"

enum { CALLS = 20000, ROUNDS = 60 };

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(void)
{
    double best[3] = {1e9, 1e9, 1e9};
    nvtxDomainHandle_t domain = nvtxDomainCreateA("bench");
    nvtxEventAttributes_t event = {0};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = nvtxDomainRegisterStringA(domain, "pass of a frame");
    for (int round = 0; round < ROUNDS; ++round)
        for (int kind = 0; kind < 3; ++kind) {
            double begin = now_ns(), each;
            for (int i = 0; i < CALLS; ++i) {
                if (kind == 0) PROFILE_BLOCK("pass of a frame") {}
                if (kind == 1) nvtxDomainRangePushEx(domain, &event), nvtxDomainRangePop(domain);
                if (kind == 2) nvtxRangePushA("pass of a frame"), nvtxRangePop();
            }
            each = (now_ns() - begin) / CALLS;
            if (each < best[kind]) best[kind] = each;
        }
    printf("a scope %.1f ns; a range with a registered message %.1f (%.2f), with another one %.1f (%.2f)\n", best[0],
           best[1], best[1] / best[0], best[2], best[2] / best[0]);
    return 0;
}
