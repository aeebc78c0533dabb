// cuda/manual: The manual of prof_cuda.h.
/* prof_cuda.h - what NVIDIA GPUs do, on the time line of prof.h. A single C header.

   See README.md and docs/gpu.md. Licence: at the end of the file.

     #define PROF_IMPLEMENTATION
     #include "prof_cuda.h"

     int main(void)
     {
         prof_cuda_enable(NULL);            // before the program's first CUDA call
         prof_start(NULL);
         ...                                // CUDA, by any library and language: nothing else is marked
         prof_stop();
     }

   Each GPU is a device of the trace, "GPU 0", with a track for each stream: kernels, copies, fills, graphs. Other
   tracks have its memory, what waits for it, page migrations of unified memory, and CUPTI's own overhead. Calls of the
   CUDA runtime and of the driver become scopes of the threads that make them, inside the program's own scopes; an arrow
   leads from each launch to the kernel. What the runtime has the driver do for the same call is not recorded twice. The
   arguments are those of XProf's own recorder, so that its kernel statistics work.

   It uses NVIDIA's tracing library CUPTI, and needs neither CUDA's headers nor a library to link: the driver and CUPTI
   are loaded at run time, and never unloaded. CUPTI comes with the CUDA toolkit, and with the Python packages
   nvidia-cuda-cupti and nvidia-cuda-cupti-cu12. It needs CUPTI of CUDA 12.0 or later, and Linux.

   NOBODY HAS RUN IT ON A GPU YET. It was tested with a CUPTI of our own (tests/fake_cupti.c), whose interface is
   compared with NVIDIA's headers. tools/check_on_gpu.sh checks everything on a machine with a GPU: please send what it
   prints.

SESSIONS

   After prof_cuda_enable() every session records GPUs, but one with no_devices (TensorFlow's device_tracer_level 0),
   and one of PROF_STATS, which keeps no events of devices. At level 0 (host_tracer_level 0) calls and arrows are left
   out. prof_stop() has CUPTI hand over what it has: a kernel that runs on has no end, and is counted in
   prof_cuda_counts.untimed. To have it, wait for the GPU first (cuCtxSynchronize, cudaDeviceSynchronize).

   Costs: prof_cuda_enable() initialises the driver (cuInit). A session has a thread, and config.memory for CUPTI's
   records: 16 MiB. A launch costs its thread what CUPTI costs, and a scope, an argument and an arrow. Nothing is
   allocated there. A kernel takes some 400 bytes of prof's buffer.

   One profiler at a time can use CUPTI: not beside Nsight, or the profilers of JAX and PyTorch.
   A child of fork() records no GPU, and CUDA does not work there.

KEYS of JAX, for prof_config_set(). They hold for the sessions that begin after they were set, whatever the prof_config.

     gpu_max_callback_api_events     2097152   calls that a session records; more are counted as dropped
     gpu_max_activity_api_events     2097152   likewise kernels, copies and so on
     gpu_max_annotation_strings      1048576   likewise ranges of NVTX
     gpu_enable_nvtx_tracking        false     records ranges of NVTX. It has to be set before the first call of NVTX
     gpu_enable_cupti_activity_graph_trace  false   a graph is one event, not one for each kernel in it
     gpu_num_chips_to_profile_per_task      0  records this many GPUs, the first ones; 0: all
     gpu_pm_sample_counters          ""        samples these performance counters: see below
     gpu_pm_sample_interval_us       500       so often
     gpu_pm_sample_buffer_size_per_gpu_mb  64  room on each GPU for samples until CUPTI takes them, every 100 ms: up to
                                               4096; less than 64 is 64
     gpu_range_profiling_counters    ""        not supported: other values are errors
     gpu_dump_graph_node_mapping     false     likewise: JAX documents it, and nothing in it reads it

PERFORMANCE COUNTERS

   prof_config_set(&config, "gpu_pm_sample_counters", "sm__cycles_active.avg,pcie__read_bytes.sum") makes the row
   "performance counters" of each GPU, with a counter for each name, 64 at most. A value holds from the begin of its
   sample to that of the next one. `ncu --query-metrics-collection pmsampling --chip gh100` lists names. All of them
   have to fit into one pass of the GPU: those that do not, and those that a GPU does not have, are left out, as in JAX,
   and the metadata say it. It needs CUPTI of CUDA 12.6 or later, a GPU that samples by time (not Turing, not GA100),
   and often more privileges than tracing. The GPU's counters stay this process's until it ends: to give them back ends
   all of CUPTI in some versions. */
