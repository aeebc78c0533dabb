/* The declarations of src/cuda/sampling_abi.h beside those of NVIDIA's headers, from 12.6 on: see
   tests/compile/cupti.sh. */
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>
#include "cuda/sampling_abi.h"

#define SAME(name, ours, theirs) typedef char name[(long long)(ours) == (long long)(theirs) ? 1 : -1]
#define FIELD(ours, a, theirs, b)                                                                          \
    SAME(same_##ours##_##a, offsetof(prof__cupti_##ours, a), offsetof(theirs, b));                         \
    SAME(wide_##ours##_##a, sizeof((prof__cupti_##ours *)0)->a, sizeof((theirs *)0)->b)
/* The whole of it: from its begin to what its size says. */
#define WHOLE(ours, last, theirs)                                                                          \
    FIELD(ours, size, theirs, structSize);                                                                 \
    FIELD(ours, reserved, theirs, pPriv);                                                                  \
    SAME(whole_##ours, offsetof(prof__cupti_##ours, last) + sizeof((prof__cupti_##ours *)0)->last, theirs##_STRUCT_SIZE)

WHOLE(plain, reserved, CUpti_Profiler_Initialize_Params);
FIELD(object, object, CUpti_PmSampling_Start_Params, pPmSamplingObject);
WHOLE(object, object, CUpti_PmSampling_Start_Params);
SAME(stops, CUpti_PmSampling_Stop_Params_STRUCT_SIZE, CUpti_PmSampling_Start_Params_STRUCT_SIZE);
SAME(ends, CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE, CUpti_PmSampling_Start_Params_STRUCT_SIZE);
SAME(stops_at, offsetof(CUpti_PmSampling_Stop_Params, pPmSamplingObject), offsetof(prof__cupti_object, object));
SAME(ends_at, offsetof(CUpti_Profiler_Host_Deinitialize_Params, pHostObject), offsetof(prof__cupti_object, object));
WHOLE(chip, out_name, CUpti_Device_GetChipName_Params);
FIELD(chip, device, CUpti_Device_GetChipName_Params, deviceIndex);
WHOLE(available, image, CUpti_PmSampling_GetCounterAvailability_Params);
FIELD(available, device, CUpti_PmSampling_GetCounterAvailability_Params, deviceIndex);
FIELD(available, out_bytes, CUpti_PmSampling_GetCounterAvailability_Params, counterAvailabilityImageSize);
/* These two have grown at their end. */
#define END(ours, last) (offsetof(prof__cupti_##ours, last) + sizeof((prof__cupti_##ours *)0)->last)
#define GROWN(ours, oldest, newest, theirs)                                                                \
    typedef char grown_##ours[theirs##_STRUCT_SIZE == END(ours, oldest) ||                                 \
                              theirs##_STRUCT_SIZE == END(ours, newest) ? 1 : -1]
GROWN(host, out_host, counter_set, CUpti_Profiler_Host_Initialize_Params);
GROWN(set, trigger, keeps, CUpti_PmSampling_SetConfig_Params);
FIELD(host, type, CUpti_Profiler_Host_Initialize_Params, profilerType);
FIELD(host, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
FIELD(host, available, CUpti_Profiler_Host_Initialize_Params, pCounterAvailabilityImage);
FIELD(host, out_host, CUpti_Profiler_Host_Initialize_Params, pHostObject);
WHOLE(metrics, count, CUpti_Profiler_Host_ConfigAddMetrics_Params);
FIELD(metrics, host, CUpti_Profiler_Host_ConfigAddMetrics_Params, pHostObject);
FIELD(metrics, names, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames);
WHOLE(config_size, out_bytes, CUpti_Profiler_Host_GetConfigImageSize_Params);
FIELD(config_size, host, CUpti_Profiler_Host_GetConfigImageSize_Params, pHostObject);
WHOLE(config, image, CUpti_Profiler_Host_GetConfigImage_Params);
FIELD(config, host, CUpti_Profiler_Host_GetConfigImage_Params, pHostObject);
FIELD(config, bytes, CUpti_Profiler_Host_GetConfigImage_Params, configImageSize);
WHOLE(passes, out_passes, CUpti_Profiler_Host_GetNumOfPasses_Params);
FIELD(passes, bytes, CUpti_Profiler_Host_GetNumOfPasses_Params, configImageSize);
FIELD(passes, image, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage);
WHOLE(enable, out_object, CUpti_PmSampling_Enable_Params);
FIELD(enable, device, CUpti_PmSampling_Enable_Params, deviceIndex);
FIELD(set, object, CUpti_PmSampling_SetConfig_Params, pPmSamplingObject);
FIELD(set, bytes, CUpti_PmSampling_SetConfig_Params, configSize);
FIELD(set, image, CUpti_PmSampling_SetConfig_Params, pConfig);
FIELD(set, buffer, CUpti_PmSampling_SetConfig_Params, hardwareBufferSize);
FIELD(set, interval, CUpti_PmSampling_SetConfig_Params, samplingInterval);
FIELD(set, trigger, CUpti_PmSampling_SetConfig_Params, triggerMode);
WHOLE(data_size, out_bytes, CUpti_PmSampling_GetCounterDataSize_Params);
FIELD(data_size, object, CUpti_PmSampling_GetCounterDataSize_Params, pPmSamplingObject);
FIELD(data_size, names, CUpti_PmSampling_GetCounterDataSize_Params, pMetricNames);
FIELD(data_size, count, CUpti_PmSampling_GetCounterDataSize_Params, numMetrics);
FIELD(data_size, most_samples, CUpti_PmSampling_GetCounterDataSize_Params, maxSamples);
WHOLE(data, image, CUpti_PmSampling_CounterDataImage_Initialize_Params);
FIELD(data, object, CUpti_PmSampling_CounterDataImage_Initialize_Params, pPmSamplingObject);
FIELD(data, bytes, CUpti_PmSampling_CounterDataImage_Initialize_Params, counterDataSize);
WHOLE(decode, out_overflow, CUpti_PmSampling_DecodeData_Params);
FIELD(decode, object, CUpti_PmSampling_DecodeData_Params, pPmSamplingObject);
FIELD(decode, image, CUpti_PmSampling_DecodeData_Params, pCounterDataImage);
FIELD(decode, bytes, CUpti_PmSampling_DecodeData_Params, counterDataImageSize);
FIELD(decode, out_reason, CUpti_PmSampling_DecodeData_Params, decodeStopReason);
WHOLE(data_info, out_completed, CUpti_PmSampling_GetCounterDataInfo_Params);
FIELD(data_info, image, CUpti_PmSampling_GetCounterDataInfo_Params, pCounterDataImage);
FIELD(data_info, bytes, CUpti_PmSampling_GetCounterDataInfo_Params, counterDataImageSize);
FIELD(data_info, out_total, CUpti_PmSampling_GetCounterDataInfo_Params, numTotalSamples);
FIELD(data_info, out_populated, CUpti_PmSampling_GetCounterDataInfo_Params, numPopulatedSamples);
WHOLE(sample, out_end, CUpti_PmSampling_CounterData_GetSampleInfo_Params);
FIELD(sample, object, CUpti_PmSampling_CounterData_GetSampleInfo_Params, pPmSamplingObject);
FIELD(sample, image, CUpti_PmSampling_CounterData_GetSampleInfo_Params, pCounterDataImage);
FIELD(sample, bytes, CUpti_PmSampling_CounterData_GetSampleInfo_Params, counterDataImageSize);
FIELD(sample, index, CUpti_PmSampling_CounterData_GetSampleInfo_Params, sampleIndex);
FIELD(sample, out_start, CUpti_PmSampling_CounterData_GetSampleInfo_Params, startTimestamp);
WHOLE(values, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params);
FIELD(values, host, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pHostObject);
FIELD(values, image, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pCounterDataImage);
FIELD(values, bytes, CUpti_Profiler_Host_EvaluateToGpuValues_Params, counterDataImageSize);
FIELD(values, index, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex);
FIELD(values, names, CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames);
FIELD(values, count, CUpti_Profiler_Host_EvaluateToGpuValues_Params, numMetrics);

SAME(of_sampling, PROF__CUPTI_OF_SAMPLING, CUPTI_PROFILER_TYPE_PM_SAMPLING);
SAME(by_time, PROF__CUPTI_BY_TIME, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
SAME(image_full, PROF__CUPTI_IMAGE_FULL, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL);
SAME(no_memory, PROF__CUPTI_NO_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY);

/* The functions: a name or a struct that differs would not compile. */
#define TAKES(name, type) CUptiResult (*const takes_##name)(type *) = cupti##name;
TAKES(ProfilerInitialize, CUpti_Profiler_Initialize_Params)
TAKES(DeviceGetChipName, CUpti_Device_GetChipName_Params)
TAKES(PmSamplingGetCounterAvailability, CUpti_PmSampling_GetCounterAvailability_Params)
TAKES(ProfilerHostInitialize, CUpti_Profiler_Host_Initialize_Params)
TAKES(ProfilerHostDeinitialize, CUpti_Profiler_Host_Deinitialize_Params)
TAKES(ProfilerHostConfigAddMetrics, CUpti_Profiler_Host_ConfigAddMetrics_Params)
TAKES(ProfilerHostGetConfigImageSize, CUpti_Profiler_Host_GetConfigImageSize_Params)
TAKES(ProfilerHostGetConfigImage, CUpti_Profiler_Host_GetConfigImage_Params)
TAKES(ProfilerHostGetNumOfPasses, CUpti_Profiler_Host_GetNumOfPasses_Params)
TAKES(PmSamplingEnable, CUpti_PmSampling_Enable_Params)
TAKES(PmSamplingSetConfig, CUpti_PmSampling_SetConfig_Params)
TAKES(PmSamplingGetCounterDataSize, CUpti_PmSampling_GetCounterDataSize_Params)
TAKES(PmSamplingCounterDataImageInitialize, CUpti_PmSampling_CounterDataImage_Initialize_Params)
TAKES(PmSamplingStart, CUpti_PmSampling_Start_Params)
TAKES(PmSamplingStop, CUpti_PmSampling_Stop_Params)
TAKES(PmSamplingDecodeData, CUpti_PmSampling_DecodeData_Params)
TAKES(PmSamplingGetCounterDataInfo, CUpti_PmSampling_GetCounterDataInfo_Params)
TAKES(PmSamplingCounterDataGetSampleInfo, CUpti_PmSampling_CounterData_GetSampleInfo_Params)
TAKES(ProfilerHostEvaluateToGpuValues, CUpti_Profiler_Host_EvaluateToGpuValues_Params)
