// cuda/sampling_abi: What prof_cuda.h uses of CUPTI's binary interface for sampling performance counters.
#ifndef PROF__CUDA_SAMPLING_ABI_H
#define PROF__CUDA_SAMPLING_ABI_H
#include "ground/base.h"

/* Each function takes one struct, whose first field is its size, up to the end of its last field. Two structs have
   grown since CUDA 12.6, the first version that has all this. CUPTI refuses, as an invalid parameter, a size that it
   does not know: later ones than its own, and those of some older versions. tests/compile/cupti.sh compares all of this
   with NVIDIA's headers. CUPTI writes the fields that begin with out_. */

enum {
    PROF__CUPTI_OF_SAMPLING = 1, /* a type of profiler */
    PROF__CUPTI_BY_TIME = 1,     /* what triggers samples: the interval is in nanoseconds */
    PROF__CUPTI_IMAGE_FULL = 1,  /* why decoding has stopped */
    PROF__CUPTI_INVALID = 1,     /* results */
    PROF__CUPTI_NO_MEMORY = 8
};

#define PROF__CUPTI_HEAD size_t size; void *reserved;
typedef struct prof__cupti_plain { PROF__CUPTI_HEAD } prof__cupti_plain;
typedef struct prof__cupti_object { PROF__CUPTI_HEAD void *object; } prof__cupti_object;
typedef struct prof__cupti_chip { PROF__CUPTI_HEAD size_t device; const char *out_name; } prof__cupti_chip;
typedef struct prof__cupti_available {
    PROF__CUPTI_HEAD size_t device, out_bytes; uint8_t *image;
} prof__cupti_available;
typedef struct prof__cupti_host {
    PROF__CUPTI_HEAD uint32_t type; const char *chip; const uint8_t *available; void *out_host;
    const char *counter_set;
} prof__cupti_host;
typedef struct prof__cupti_metrics {
    PROF__CUPTI_HEAD void *host; const char *const *names; size_t count;
} prof__cupti_metrics;
typedef struct prof__cupti_config_size { PROF__CUPTI_HEAD void *host; size_t out_bytes; } prof__cupti_config_size;
typedef struct prof__cupti_config {
    PROF__CUPTI_HEAD void *host; size_t bytes; uint8_t *image;
} prof__cupti_config;
typedef struct prof__cupti_passes {
    PROF__CUPTI_HEAD size_t bytes; uint8_t *image; size_t out_passes;
} prof__cupti_passes;
typedef struct prof__cupti_enable { PROF__CUPTI_HEAD size_t device; void *out_object; } prof__cupti_enable;
typedef struct prof__cupti_set {
    PROF__CUPTI_HEAD void *object; size_t bytes; const uint8_t *image; size_t buffer; uint64_t interval;
    uint32_t trigger, keeps;
} prof__cupti_set;
typedef struct prof__cupti_data_size {
    PROF__CUPTI_HEAD void *object; const char *const *names; size_t count; uint32_t most_samples; size_t out_bytes;
} prof__cupti_data_size;
typedef struct prof__cupti_data {
    PROF__CUPTI_HEAD void *object; size_t bytes; uint8_t *image;
} prof__cupti_data;
typedef struct prof__cupti_decode {
    PROF__CUPTI_HEAD void *object; uint8_t *image; size_t bytes; uint32_t out_reason; uint8_t out_overflow;
} prof__cupti_decode;
typedef struct prof__cupti_data_info {
    PROF__CUPTI_HEAD const uint8_t *image; size_t bytes, out_total, out_populated, out_completed;
} prof__cupti_data_info;
typedef struct prof__cupti_sample {
    PROF__CUPTI_HEAD void *object; const uint8_t *image; size_t bytes, index; uint64_t out_start, out_end;
} prof__cupti_sample;
typedef struct prof__cupti_values {
    PROF__CUPTI_HEAD void *host; const uint8_t *image; size_t bytes, index; const char *const *names; size_t count;
    double *values;
} prof__cupti_values;

/* X(function, its struct, the last field of that in the newest version, and in the oldest) */
#define PROF__CUPTI_SAMPLING(X)                                                \
    X(ProfilerInitialize, plain, reserved, reserved)                           \
    X(DeviceGetChipName, chip, out_name, out_name)                             \
    X(PmSamplingGetCounterAvailability, available, image, image)               \
    X(ProfilerHostInitialize, host, counter_set, out_host)                     \
    X(ProfilerHostDeinitialize, object, object, object)                        \
    X(ProfilerHostConfigAddMetrics, metrics, count, count)                     \
    X(ProfilerHostGetConfigImageSize, config_size, out_bytes, out_bytes)       \
    X(ProfilerHostGetConfigImage, config, image, image)                        \
    X(ProfilerHostGetNumOfPasses, passes, out_passes, out_passes)              \
    X(PmSamplingEnable, enable, out_object, out_object)                        \
    X(PmSamplingSetConfig, set, keeps, trigger)                                \
    X(PmSamplingGetCounterDataSize, data_size, out_bytes, out_bytes)           \
    X(PmSamplingCounterDataImageInitialize, data, image, image)                \
    X(PmSamplingStart, object, object, object)                                 \
    X(PmSamplingStop, object, object, object)                                  \
    X(PmSamplingDecodeData, decode, out_overflow, out_overflow)                \
    X(PmSamplingGetCounterDataInfo, data_info, out_completed, out_completed)   \
    X(PmSamplingCounterDataGetSampleInfo, sample, out_end, out_end)            \
    X(ProfilerHostEvaluateToGpuValues, values, values, values)

typedef struct prof__cupti_sampling {
#define PROF__CUPTI_POINTER(name, type, newest, oldest) int (*name)(prof__cupti_##type *);
    PROF__CUPTI_SAMPLING(PROF__CUPTI_POINTER)
#undef PROF__CUPTI_POINTER
} prof__cupti_sampling;

#endif /* PROF__CUDA_SAMPLING_ABI_H */
