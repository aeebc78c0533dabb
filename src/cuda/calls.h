// cuda/calls: Scopes of the calls of driver and runtime, on the threads that make them, and arrows from launches.
#ifndef PROF__CUDA_CALLS_H
#define PROF__CUDA_CALLS_H
#include "record/event.h"
#include "record/scope.h"
#include "record/value.h"
#include "cuda/event.h"

#ifdef PROF__CUDA_LINUX
/* A function of the driver or the runtime, of which calls are recorded. */
typedef struct prof__cuda_function {
    const char *name;
    uint16_t domain, id, works; /* works: 1: it gives the GPU work */
} prof__cuda_function;

#define PROF__CUDA_DRIVERS(name, id, works) {#name, PROF__CUPTI_DOMAIN_DRIVER, id, works},
#define PROF__CUDA_RUNTIMES(name, version, id, works) {#name, PROF__CUPTI_DOMAIN_RUNTIME, id, works},
static const prof__cuda_function prof__cuda_functions[] = {
    PROF__CUDA_CALLS(PROF__CUDA_DRIVERS)
    PROF__CUDA_RUNTIME_CALLS(PROF__CUDA_RUNTIMES)
    PROF__CUDA_NEWER_CALLS(PROF__CUDA_RUNTIMES)
};
#undef PROF__CUDA_DRIVERS
#undef PROF__CUDA_RUNTIMES
#define PROF__CUDA_FUNCTION_COUNT (sizeof prof__cuda_functions / sizeof *prof__cuda_functions)

static prof_site prof__cuda_sites[PROF__CUDA_FUNCTION_COUNT]; /* of the scopes */
static prof_site prof__cuda_correlation_site, prof__cuda_flow_site;
static uint8_t prof__cuda_function_of[2][PROF__CUDA_IDS]; /* by domain and id, plus 1; 0: not recorded */
static PROF__PER_THREAD struct {
    uint32_t correlation, works; /* of the last call of the runtime on this thread; 0: none */
} prof__cuda_runtime;
typedef char prof__cuda_functions_fit[PROF__CUDA_FUNCTION_COUNT < 255 ? 1 : -1];

static void prof__cuda_site(prof_site *site, const char *name, uint32_t kind)
{
    site->name = name;
    site->category = "CUDA";
    site->file = site->function = "";
    site->level = 1;
    site->kind = (uint16_t)kind;
}

/* Under the lock `loading`, once. */
static void prof__cuda_sites_make(void)
{
    if (prof__cuda_flow_site.name) return;
    for (size_t i = 0; i < PROF__CUDA_FUNCTION_COUNT; ++i) {
        prof__cuda_site(&prof__cuda_sites[i], prof__cuda_functions[i].name, PROF__KIND_BEGIN);
        prof__cuda_function_of[prof__cuda_functions[i].domain - 1][prof__cuda_functions[i].id] = (uint8_t)(i + 1);
    }
    prof__cuda_site(&prof__cuda_correlation_site, "correlation_id", PROF__KIND_ARG);
    prof__cuda_site(&prof__cuda_flow_site, "flow", PROF__KIND_EVENT); /* as readers call the flow of a device's event */
}

/* Returns 1 if one more call may be recorded. */
static int prof__cuda_call_fits(void)
{
    uint64_t left = PROF__LOAD(&prof__cuda.call_room);
    while (left)
        if (__atomic_compare_exchange_n(&prof__cuda.call_room, &left, left - 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return 1;
    prof__cuda_count(&prof__cuda.counts.calls_dropped, 1);
    return 0;
}

/* Begins the scope of a call. Returns its token, for its end. The runtime calls the driver: where both calls have one
   correlation, which no other call has, they are one call of the program, and the driver's is not recorded. But if the
   runtime's call is not known to give the GPU work, and the driver's is, the arrow needs the driver's. */
static prof__token prof__cuda_call_begins(size_t function, const prof__cupti_call *call)
{
    prof_site *site = &prof__cuda_sites[function];
    uint16_t works = prof__cuda_functions[function].works;
    if (!PROF__LOAD(&prof__cuda.calls) || !prof__live(site)) return 0;
    if (prof__cuda_functions[function].domain == PROF__CUPTI_DOMAIN_RUNTIME) {
        prof__cuda_runtime.correlation = call->correlation;
        prof__cuda_runtime.works = works;
    } else if (call->correlation && call->correlation == prof__cuda_runtime.correlation &&
               works <= prof__cuda_runtime.works) {
        return 0;
    }
    if (!prof__cuda_call_fits()) return 0;
    prof__token token = prof__begin(site);
    if (!token || !works) return token;
    if (prof__live(&prof__cuda_correlation_site)) prof__arg_uint(&prof__cuda_correlation_site, call->correlation);
    if (prof__live(&prof__cuda_flow_site))
        prof__event(&prof__cuda_flow_site, PROF_EVENT_FLOW_OUT, 0, prof__cuda_flow(call->correlation));
    return token;
}

/* CUPTI calls this at the begin and the end of each call, on the calling thread. */
static void prof__cuda_called(void *user, uint32_t domain, uint32_t id, const void *about)
{
    const prof__cupti_call *call = (const prof__cupti_call *)about;
    (void)user;
    if (domain - 1 >= 2 || id >= PROF__CUDA_IDS || !prof__cuda_function_of[domain - 1][id] || !call->data) return;
    if (call->site != PROF__CUPTI_EXIT) {
        *call->data = prof__cuda_call_begins((size_t)prof__cuda_function_of[domain - 1][id] - 1, call);
    } else if (*call->data) {
        prof__end(*call->data);
        *call->data = 0;
    }
}
#endif

#endif /* PROF__CUDA_CALLS_H */
