// cuda/sampling: Samples performance counters of GPUs (JAX's gpu_pm_sample_counters), as counters of the device.
#ifndef PROF__CUDA_SAMPLING_H
#define PROF__CUDA_SAMPLING_H
#include "record/device.h"
#include "session/beside.h"
#include "cuda/event.h"
#include "cuda/loader.h"
#include "cuda/sampling_abi.h"

#ifdef PROF__CUDA_LINUX
#define PROF__CUDA_SAMPLES 2048u            /* that are decoded at once */
#define PROF__CUDA_DECODE 100000000u        /* ns from one time to the next, as in JAX */
#define PROF__CUDA_SAMPLE_ROW "performance counters"

/* A GPU whose counters are sampled. CUPTI's object stays: to give it back ends all of CUPTI in some versions. */
typedef struct prof__cuda_sampler {
    void *object, *host; /* host: evaluates; NULL: the GPU is not sampled in this session */
    uint8_t *available, *config, *data;
    size_t config_bytes, data_bytes, count;
    const char *names[PROF__CUDA_COUNTERS];
    prof_device_row *row;
    int runs;
} prof__cuda_sampler;

static prof__cupti_sampling prof__cupti_sampling_api;
static prof__cuda_sampler prof__cuda_samplers[PROF__CUDA_GPUS];
static uint64_t prof__cuda_decoded; /* ns of the last time */
static char prof__cuda_counter_text[PROF__CUDA_COUNTER_TEXT];

/* Calls a function of CUPTI, with the size that its struct has in the newest version, and then, if CUPTI does not know
   that, in the oldest. */
#define PROF__CUPTI_SIZE(type, last) (offsetof(prof__cupti_##type, last) + sizeof((prof__cupti_##type *)0)->last)
#define PROF__CUPTI_CALLER(name, type, newest, oldest)                                                     \
    static int prof__cupti_do_##name(prof__cupti_##type *parameters)                                       \
    {                                                                                                      \
        parameters->size = PROF__CUPTI_SIZE(type, newest);                                                 \
        int result = prof__cupti_sampling_api.name(parameters);                                            \
        if (result != PROF__CUPTI_INVALID || parameters->size == PROF__CUPTI_SIZE(type, oldest)) return result; \
        parameters->size = PROF__CUPTI_SIZE(type, oldest);                                                 \
        return prof__cupti_sampling_api.name(parameters);                                                  \
    }
PROF__CUPTI_SAMPLING(PROF__CUPTI_CALLER)
#undef PROF__CUPTI_CALLER
#define PROF__CUPTI_TRY(name, parameters)                                     \
    do {                                                                      \
        int result_ = prof__cupti_do_##name(parameters);                      \
        if (result_) return prof__cupti_failed(#name, result_);               \
    } while (0)

static prof_status prof__cuda_sampling_load(void)
{
#define PROF__CUDA_NAME(name, type, newest, oldest) "cupti" #name,
    static const char *const names[] = {PROF__CUPTI_SAMPLING(PROF__CUDA_NAME)};
#undef PROF__CUDA_NAME
    const char *missing = prof__cuda_symbols(prof__cuda.library, names, sizeof names / sizeof *names,
                                             (void *)&prof__cupti_sampling_api);
    if (missing)
        return prof__fail(PROF_UNSUPPORTED, "%s is not in this CUPTI: it needs that of CUDA 12.6 or later", missing);
    prof__cupti_plain parameters = {0, NULL};
    PROF__CUPTI_TRY(ProfilerInitialize, &parameters);
    return PROF_OK;
}

static uint8_t *prof__cuda_image(uint8_t **image, size_t bytes)
{
    free(*image);
    *image = (uint8_t *)calloc(1, bytes ? bytes : 1);
    if (!*image) prof__fail(PROF_NO_MEMORY, "no memory for performance counters");
    return *image;
}

static void prof__cuda_sampler_stop(prof__cuda_sampler *sampler)
{
    prof__cupti_object object = {0, NULL, sampler->object};
    if (sampler->runs) prof__cupti_do_PmSamplingStop(&object);
    sampler->runs = 0;
}

static int prof__cuda_sampler_start(prof__cuda_sampler *sampler)
{
    prof__cupti_object object = {0, NULL, sampler->object};
    int result = prof__cupti_do_PmSamplingStart(&object);
    sampler->runs = !result;
    return result;
}

/* Gives back what a session needs. */
static void prof__cuda_sampler_close(prof__cuda_sampler *sampler)
{
    prof__cupti_object host = {0, NULL, sampler->host};
    prof__cuda_sampler_stop(sampler);
    if (sampler->host) prof__cupti_do_ProfilerHostDeinitialize(&host);
    sampler->host = NULL;
    free(sampler->available);
    free(sampler->config);
    free(sampler->data);
    sampler->available = sampler->config = sampler->data = NULL;
}

/* Makes an object that evaluates these counters, and the configuration of the GPU for them. *passes: as often would
   the same work have to run for all of them. */
static prof_status prof__cuda_configure(prof__cuda_sampler *sampler, const char *chip, size_t *passes)
{
    prof__cupti_object old = {0, NULL, sampler->host};
    if (sampler->host) prof__cupti_do_ProfilerHostDeinitialize(&old);
    sampler->host = NULL;
    prof__cupti_host host = {0, NULL, PROF__CUPTI_OF_SAMPLING, chip, sampler->available, NULL, NULL};
    PROF__CUPTI_TRY(ProfilerHostInitialize, &host);
    sampler->host = host.out_host;
    prof__cupti_metrics metrics = {0, NULL, sampler->host, sampler->names, sampler->count};
    PROF__CUPTI_TRY(ProfilerHostConfigAddMetrics, &metrics);
    prof__cupti_config_size size = {0, NULL, sampler->host, 0};
    PROF__CUPTI_TRY(ProfilerHostGetConfigImageSize, &size);
    if (!prof__cuda_image(&sampler->config, size.out_bytes)) return PROF_NO_MEMORY;
    sampler->config_bytes = size.out_bytes;
    prof__cupti_config config = {0, NULL, sampler->host, size.out_bytes, sampler->config};
    PROF__CUPTI_TRY(ProfilerHostGetConfigImage, &config);
    prof__cupti_passes needed = {0, NULL, size.out_bytes, sampler->config, 0};
    PROF__CUPTI_TRY(ProfilerHostGetNumOfPasses, &needed);
    *passes = needed.out_passes;
    return PROF_OK;
}

/* Chooses the counters: those asked for, in their order, but for what the GPU does not have, and what does not fit into
   the one pass that sampling has. After a wrong name CUPTI needs a new object: so each try has one. */
static prof_status prof__cuda_choose(prof__cuda_sampler *sampler, const char *chip, const char *const *names,
                                     size_t count)
{
    size_t passes = 0;
    memcpy((void *)sampler->names, (const void *)names, count * sizeof *names);
    sampler->count = count;
    prof_status status = prof__cuda_configure(sampler, chip, &passes);
    if (!status && passes == 1) return PROF_OK;
    sampler->count = 0;
    for (size_t i = 0; i < count; ++i) {
        char key[200], why[200];
        sampler->names[sampler->count++] = names[i];
        status = prof__cuda_configure(sampler, chip, &passes);
        if (status == PROF_NO_MEMORY) return status;
        if (!status && passes == 1) continue;
        --sampler->count;
        snprintf(key, sizeof key, "CUDA %.150s not recorded", names[i]);
        snprintf(why, sizeof why, "%.100s: see ncu --query-metrics-collection pmsampling --chip %.20s",
                 status ? prof_error() : "it does not fit into one pass with those before it", chip);
        prof__beside_says(prof__cuda.session, key, why);
    }
    return sampler->count ? prof__cuda_configure(sampler, chip, &passes)
                          : prof__fail(PROF_UNSUPPORTED, "the GPU (%.40s) has none of gpu_pm_sample_counters", chip);
}

/* Begins to sample a GPU. */
static prof_status prof__cuda_sampler_open(prof__cuda_sampler *sampler, unsigned ordinal, const char *const *names,
                                           size_t count)
{
    prof__cupti_chip chip = {0, NULL, ordinal, NULL};
    prof__cupti_available available = {0, NULL, ordinal, 0, NULL};
    PROF__CUPTI_TRY(DeviceGetChipName, &chip);
    PROF__CUPTI_TRY(PmSamplingGetCounterAvailability, &available);
    available.image = prof__cuda_image(&sampler->available, available.out_bytes);
    if (!available.image) return PROF_NO_MEMORY;
    PROF__CUPTI_TRY(PmSamplingGetCounterAvailability, &available);
    prof_status status = prof__cuda_choose(sampler, chip.out_name ? chip.out_name : "", names, count);
    if (status) return status;
    prof__cupti_enable enable = {0, NULL, ordinal, NULL};
    if (!sampler->object) PROF__CUPTI_TRY(PmSamplingEnable, &enable);
    if (!sampler->object) sampler->object = enable.out_object;
    prof__cupti_set set = {0, NULL, sampler->object, sampler->config_bytes, sampler->config,
                           (size_t)prof__cuda.wishes.sample_mib << 20, prof__cuda.wishes.sample_us * 1000,
                           PROF__CUPTI_BY_TIME, 0};
    PROF__CUPTI_TRY(PmSamplingSetConfig, &set);
    prof__cupti_data_size size = {0, NULL, sampler->object, sampler->names, sampler->count, PROF__CUDA_SAMPLES, 0};
    PROF__CUPTI_TRY(PmSamplingGetCounterDataSize, &size);
    if (!prof__cuda_image(&sampler->data, size.out_bytes)) return PROF_NO_MEMORY;
    sampler->data_bytes = size.out_bytes;
    prof__cupti_data data = {0, NULL, sampler->object, sampler->data_bytes, sampler->data};
    PROF__CUPTI_TRY(PmSamplingCounterDataImageInitialize, &data);
    sampler->row = prof_device_row_create(prof__cuda.gpu[ordinal].device, PROF__CUDA_SAMPLE_ROW);
    if (!sampler->row) return PROF_NO_MEMORY;
    int result = prof__cuda_sampler_start(sampler);
    return result ? prof__cupti_failed("PmSamplingStart", result) : PROF_OK;
}

/* Begins to sample the GPUs of a session, if it asks for counters. Whatever fails is in the metadata. */
static void prof__cuda_sampling_begin(void)
{
    const char *names[PROF__CUDA_COUNTERS];
    size_t count = 0;
    char key[80];
    memcpy(prof__cuda_counter_text, prof__cuda.wishes.counters, sizeof prof__cuda_counter_text);
    for (char *at = prof__cuda_counter_text; *at && count < PROF__CUDA_COUNTERS; ++count) {
        names[count] = at;
        at += strcspn(at, ",");
        if (*at) *at++ = 0;
    }
    if (!count) return;
    prof_status status = prof__cuda_sampling_load();
    for (unsigned i = 0; i < prof__cuda.gpus; ++i) {
        prof__cuda_sampler *sampler = &prof__cuda_samplers[i];
        if (!prof__cuda.gpu[i].device) continue;
        if (!status && !prof__cuda_sampler_open(sampler, i, names, count)) continue;
        snprintf(key, sizeof key, "GPU %u: " PROF__CUDA_SAMPLE_ROW " not recorded", i);
        prof__beside_says(prof__cuda.session, key, prof_error());
        prof__cuda_sampler_close(sampler);
    }
    prof__cuda_decoded = prof__monotonic();
}

/* Records a decoded sample: for each counter, what it was from its begin on. */
static void prof__cuda_sample(const prof__cuda_sampler *sampler, size_t index)
{
    double values[PROF__CUDA_COUNTERS];
    prof__cupti_sample sample = {0, NULL, sampler->object, sampler->data, sampler->data_bytes, index, 0, 0};
    prof__cupti_values value = {0, NULL, sampler->host, sampler->data, sampler->data_bytes, index, sampler->names,
                                sampler->count, values};
    if (prof__cupti_do_PmSamplingCounterDataGetSampleInfo(&sample) || !sample.out_start ||
        sample.out_end < sample.out_start || prof__cupti_do_ProfilerHostEvaluateToGpuValues(&value)) {
        prof__cuda_count(&prof__cuda.counts.samples_dropped, 1);
        return;
    }
    for (size_t i = 0; i < sampler->count; ++i)
        prof_device_counter_double(sampler->row, sampler->names[i], sample.out_start, values[i]);
    prof__cuda_count(&prof__cuda.counts.samples, 1);
}

/* Says why a GPU is sampled no longer. */
static void prof__cuda_sampling_ends(prof__cuda_sampler *sampler, const char *call, int result)
{
    char key[80];
    prof__cupti_failed(call, result);
    snprintf(key, sizeof key, "GPU %u: " PROF__CUDA_SAMPLE_ROW " end", (unsigned)(sampler - prof__cuda_samplers));
    prof__beside_says(prof__cuda.session, key, prof_error());
    prof__cuda_sampler_close(sampler);
}

/* Decodes samples, as many as there is room for, and records them. Returns 1 if there may be more. */
static int prof__cuda_sampler_decode(prof__cuda_sampler *sampler)
{
    prof__cupti_decode decode = {0, NULL, sampler->object, sampler->data, sampler->data_bytes, 0, 0};
    prof__cupti_data_info info = {0, NULL, sampler->data, sampler->data_bytes, 0, 0, 0};
    prof__cupti_data data = {0, NULL, sampler->object, sampler->data_bytes, sampler->data};
    const char *call = "PmSamplingDecodeData";
    int result = prof__cupti_do_PmSamplingDecodeData(&decode);
    if (result == PROF__CUPTI_NO_MEMORY && sampler->runs) { /* the GPU has no more room: sampling begins anew */
        prof__cuda_count(&prof__cuda.counts.sample_overflows, 1);
        call = "PmSamplingStart";
        prof__cuda_sampler_stop(sampler);
        result = prof__cuda_sampler_start(sampler);
        if (!result) return 0;
    }
    if (!result) {
        call = "PmSamplingGetCounterDataInfo";
        result = prof__cupti_do_PmSamplingGetCounterDataInfo(&info);
    }
    for (size_t i = 0; !result && i < info.out_completed; ++i) prof__cuda_sample(sampler, i);
    if (!result) {
        call = "PmSamplingCounterDataImageInitialize";
        result = prof__cupti_do_PmSamplingCounterDataImageInitialize(&data);
    }
    if (result) prof__cuda_sampling_ends(sampler, call, result);
    prof__cuda_count(&prof__cuda.counts.sample_overflows, decode.out_overflow != 0);
    return !result && decode.out_reason == PROF__CUPTI_IMAGE_FULL && info.out_completed;
}

/* Records the samples that GPUs have taken. */
static void prof__cuda_sampling_read(void)
{
    prof__cuda_decoded = prof__monotonic();
    for (unsigned i = 0; i < prof__cuda.gpus; ++i)
        while (prof__cuda_samplers[i].host && prof__cuda_sampler_decode(&prof__cuda_samplers[i])) continue;
}

/* Ends sampling, and records what is left. */
static void prof__cuda_sampling_end(void)
{
    for (unsigned i = 0; i < prof__cuda.gpus; ++i) prof__cuda_sampler_stop(&prof__cuda_samplers[i]);
    prof__cuda_sampling_read();
    for (unsigned i = 0; i < prof__cuda.gpus; ++i) prof__cuda_sampler_close(&prof__cuda_samplers[i]);
}
#endif

#endif /* PROF__CUDA_SAMPLING_H */
