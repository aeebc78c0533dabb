/* A pipeline on a GPU, in two streams: while one computes, the other copies. It shows on the time line which copies
   hide behind kernels, and who launched what. No CUDA toolkit is needed, but a driver, a GPU and CUPTI:

       cc -O2 -Iexamples/.. examples/cuda/pipeline.c -o pipeline -pthread -ldl && ./pipeline pipeline.json

   Open pipeline.json in ui.perfetto.dev; pipeline.html is a page; "logs/" is for XProf. */
#define PROF_IMPLEMENTATION
#include "prof_cuda.h"
#include "prof_chrome.h"
#include "prof_html.h"
#include "prof_xplane.h"
#include "driver.h"

enum { STREAMS = 2, BATCHES = 8, COUNT = 1 << 20 };

int main(int count, char **arguments)
{
    prof_config config;
    memset(&config, 0, sizeof config);
    config.output = count > 1 ? arguments[1] : "pipeline.json";
    if (prof_cuda_enable(NULL)) printf("without GPUs: %s\n", prof_error()); /* before the first CUDA call */
    if (prof_start(&config)) return printf("%s\n", prof_error()), 1;
    void *kernel = driver_open();
    if (!kernel) return printf("There is no GPU here.\n"), 0;

    void *streams[STREAMS], *host[STREAMS];
    uint64_t device[STREAMS];
    const size_t bytes = COUNT * sizeof(float);
    for (int i = 0; i < STREAMS; ++i) {
        PROFILE_SCOPE("allocate");
        CUDA(cuStreamCreate(&streams[i], 1));
        CUDA(cuMemAllocHost_v2(&host[i], bytes));
        CUDA(cuMemAlloc_v2(&device[i], bytes));
        memset(host[i], 0, bytes);
    }
    for (int batch = 0; batch < BATCHES; ++batch) {
        PROFILE_STEP("batch", batch);
        int i = batch % STREAMS;
        {
            PROFILE_SCOPE("wait for the batch before last");
            CUDA(cuStreamSynchronize(streams[i]));
        }
        {
            PROFILE_SCOPE("upload");
            CUDA(cuMemcpyHtoDAsync_v2(device[i], host[i], bytes, streams[i]));
        }
        {
            PROFILE_SCOPE("compute");
            CUDA(driver_launch(kernel, device[i], COUNT, 2000, streams[i]));
        }
        {
            PROFILE_SCOPE("download");
            CUDA(cuMemcpyDtoHAsync_v2(host[i], device[i], bytes, streams[i]));
        }
    }
    for (int i = 0; i < STREAMS; ++i) {
        CUDA(cuStreamSynchronize(streams[i]));
        CUDA(cuMemFree_v2(device[i]));
        CUDA(cuMemFreeHost(host[i]));
    }
    prof_status status = prof_stop();
    if (status) return printf("%s\n", prof_error()), 1;
    prof_cuda_counts counts;
    prof_cuda_counted(&counts);
    printf("%llu kernels and %llu copies of %d batches are in %s\n", (unsigned long long)counts.kernels,
           (unsigned long long)counts.copies, (int)BATCHES, config.output);
    return 0;
}
