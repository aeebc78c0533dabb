// vulkan/clock: What the clocks of device and host show at the same moment.
#ifndef PROF__VULKAN_CLOCK_H
#define PROF__VULKAN_CLOCK_H
#include "ground/platform.h"
#include "vulkan/state.h"

#define PROF__VK_PAIR_NS 500000000u /* between two pairs */

/* Reads a clock of the host that prof_host_ns() is not, and its rate. */
static uint64_t prof__vk_host_clock(double *ns_of_tick)
{
    *ns_of_tick = 1;
#if defined(_WIN32)
    LARGE_INTEGER now, hz;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&hz);
    *ns_of_tick = 1e9 / (double)hz.QuadPart;
    return (uint64_t)now.QuadPart;
#elif defined(CLOCK_MONOTONIC_RAW)
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#else
    return prof_host_ns();
#endif
}

/* Converts a time of the host's clock that the driver read to prof_host_ns(). Adds what is not known to *error_ns. */
static uint64_t prof__vk_host_time(const prof_vk *vk, uint64_t ticks, uint64_t *error_ns)
{
    if (vk->domain == PROF__VK_DOMAIN_MONOTONIC) return ticks;
    double ns_of_tick;
    uint64_t before = prof_host_ns(), now = prof__vk_host_clock(&ns_of_tick), half = (prof_host_ns() - before) / 2;
    *error_ns += half;
    return before + half - (uint64_t)((double)(now - ticks) * ns_of_tick);
}

/* Lets the driver read both clocks. The moment is between the begin and the end of the call, whatever it says. */
static int32_t prof__vk_read_both(prof_vk *vk, prof__vk_moment *moment)
{
    prof__vk_calibrated_info infos[2];
    uint64_t ticks[2] = {0, 0}, deviation = 0;
    memset(infos, 0, sizeof infos);
    infos[0].type = infos[1].type = PROF__VK_CALIBRATED_INFO;
    infos[0].domain = PROF__VK_DOMAIN_DEVICE;
    infos[1].domain = vk->domain;
    uint64_t before = prof_host_ns();
    int32_t result = vk->call.calibrated(vk->of, vk->domain ? 2 : 1, infos, ticks, &deviation);
    uint64_t half = (prof_host_ns() - before) / 2;
    moment->ticks = ticks[0] & vk->mask;
    moment->ns = before + half;
    moment->error_ns = half;
    if (!result && vk->domain) {
        uint64_t ns = prof__vk_host_time(vk, ticks[1], &deviation);
        if (ns + deviation < before || ns > before + 2 * half + deviation) return 0;
        moment->ns = ns;
        moment->error_ns = deviation;
    }
    return result;
}

static prof_status prof__vk_read_clocks(prof_vk *vk, prof__vk_moment *best)
{
    best->error_ns = ~(uint64_t)0;
    for (int tries = 0; tries < 4 && best->error_ns > 1000; ++tries) {
        prof__vk_moment moment;
        int32_t result = prof__vk_read_both(vk, &moment);
        if (result) return prof__vk_failed(vk, "vkGetCalibratedTimestamps", result);
        if (moment.error_ns < best->error_ns) *best = moment;
    }
    return PROF_OK;
}

/* Lets the queue write the time, and waits for that. seen->ns: when the host knew that it is done. */
static prof_status prof__vk_ask_queue(prof_vk *vk, prof__vk_moment *seen)
{
    uint64_t found[2] = {0, 0};
    if (vk->call.host_reset) vk->call.host_reset(vk->of, vk->clock_queries, 0, 1);
    int32_t result = vk->call.reset_fences(vk->of, 1, &vk->clock_fence);
    if (result) return prof__vk_failed(vk, "vkResetFences", result);
    prof_status status = prof__vk_submit(vk, &vk->clock_commands, vk->clock_fence);
    if (status) return status;
    result = vk->call.wait(vk->of, 1, &vk->clock_fence, 1, 5000000000u);
    if (result) return prof__vk_failed(vk, "vkWaitForFences", result);
    seen->ns = prof_host_ns();
    result = vk->call.results(vk->of, vk->clock_queries, 0, 1, sizeof found, found, sizeof found,
                              PROF__VK_RESULT_64_WITH_AVAILABILITY);
    if (result) return prof__vk_failed(vk, "vkGetQueryPoolResults", result);
    seen->ticks = found[0] & vk->mask;
    return PROF_OK;
}

/* Without calibrated timestamps: the queue writes the time after the submit, and before the host knows that it is done.
   Each of some tries bounds what lies between the clocks from below and from above; together they do so more closely
   than the best of them. */
static prof_status prof__vk_bound_clocks(prof_vk *vk, prof__vk_moment *moment)
{
    double low = 0, high = 0, device_ns = 0;
    uint64_t first = 0, origin = prof_host_ns();
    for (int tries = 0; tries < 16; ++tries) {
        prof__vk_moment seen = {0, 0, 0};
        uint64_t before = prof_host_ns();
        prof_status status = prof__vk_ask_queue(vk, &seen);
        if (status) return status;
        if (!tries) first = seen.ticks;
        device_ns = (double)((seen.ticks - first) & vk->mask) * vk->period;
        double least = (double)(before - origin) - device_ns, most = (double)(seen.ns - origin) - device_ns;
        if (!tries || least > low) low = least;
        if (!tries || most < high) high = most;
        moment->ticks = seen.ticks;
    }
    moment->ns = origin + (uint64_t)(device_ns + (low + high) / 2);
    moment->error_ns = high > low ? (uint64_t)((high - low) / 2) : 0;
    return PROF_OK;
}

PROF_DEF prof_status prof_vk_calibrate(prof_vk *vk)
{
    if (!vk) return prof__null("prof_vk_calibrate", "vk");
    prof__vk_moment moment = {0, 0, 0};
    prof_status status = vk->domain < 0 ? prof__vk_bound_clocks(vk, &moment) : prof__vk_read_clocks(vk, &moment);
    if (status) return status;
    vk->moment = moment;
    vk->info.clock_error_ns = moment.error_ns;
    return prof_device_sync(vk->device, moment.ticks, moment.ns);
}

/* Returns what the device's clock shows now, by the newest pair. */
static uint64_t prof__vk_ticks_now(const prof_vk *vk)
{
    return (vk->moment.ticks + (uint64_t)((double)(prof_host_ns() - vk->moment.ns) / vk->period)) & vk->mask;
}

/* Chooses the host's clock that the driver reads together with the device's. Returns -1 if it reads none. */
static int prof__vk_choose_domain(const prof_vk *vk)
{
    int32_t domains[16];
    uint32_t count = 16;
    if (!vk->call.calibrated || !vk->call.domains) return -1;
    int32_t result = vk->call.domains(vk->physical, &count, domains);
    if (result && result != PROF__VK_INCOMPLETE) return -1;
    int best = PROF__VK_DOMAIN_DEVICE, of_device = 0;
    for (uint32_t i = 0; i < count && i < 16; ++i) {
#if defined(_WIN32)
        int usable = domains[i] == PROF__VK_DOMAIN_QPC;
#elif defined(CLOCK_MONOTONIC_RAW)
        int usable = domains[i] == PROF__VK_DOMAIN_MONOTONIC || domains[i] == PROF__VK_DOMAIN_MONOTONIC_RAW;
#else
        int usable = domains[i] == PROF__VK_DOMAIN_MONOTONIC;
#endif
        of_device = of_device || domains[i] == PROF__VK_DOMAIN_DEVICE;
        if (usable && (!best || domains[i] < best)) best = domains[i];
    }
    return of_device ? best : -1;
}

#endif /* PROF__VULKAN_CLOCK_H */
