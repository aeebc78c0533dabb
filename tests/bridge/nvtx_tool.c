/* Stands in for Nsight: the library that NVTX loads because of NVTX_INJECTION64_PATH. Domains and strings are what this file
   says they are: addresses of their texts. */
#include <nvtx3/nvToolsExt.h>
#include <stdint.h>
#include <string.h>
#include "log.h"

static const char *text_of(const nvtxEventAttributes_t *event)
{
    static __thread char text[300];
    const char *message = "?";
    char more[64] = "";
    if (event->version != NVTX_VERSION || event->size != sizeof *event) message = "WRONG VERSION OR SIZE";
    else if (event->messageType == NVTX_MESSAGE_TYPE_ASCII) message = event->message.ascii;
    else if (event->messageType == NVTX_MESSAGE_TYPE_REGISTERED) message = (const char *)event->message.registered;
    if (event->payloadType == NVTX_PAYLOAD_TYPE_INT64) snprintf(more, sizeof more, " = %lld", (long long)event->payload.llValue);
    if (event->payloadType == NVTX_PAYLOAD_TYPE_UNSIGNED_INT64)
        snprintf(more, sizeof more, " = %lluu", (unsigned long long)event->payload.ullValue);
    if (event->payloadType == NVTX_PAYLOAD_TYPE_DOUBLE) snprintf(more, sizeof more, " = %g", event->payload.dValue);
    if (event->colorType == NVTX_COLOR_ARGB) snprintf(more, sizeof more, " #%08x", event->color);
    snprintf(text, sizeof text, "%s%s%s", event->messageType == NVTX_MESSAGE_TYPE_ASCII ? "ascii " : "", message, more);
    return text;
}
static const char *domain_of(nvtxDomainHandle_t domain) { return domain ? (const char *)domain : "NO DOMAIN"; }

static nvtxDomainHandle_t NVTX_API domain_create(const char *name)
{
    say("domain %s", name);
    return (nvtxDomainHandle_t)(void *)strdup(name);
}
static nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t domain, const char *text)
{
    say("string %s: %s", domain_of(domain), text);
    return (nvtxStringHandle_t)(void *)strdup(text);
}
static __thread int depth;
static int NVTX_API push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event)
{
    say("push %s: %s", domain_of(domain), text_of(event));
    return depth++;
}
static int NVTX_API pop(nvtxDomainHandle_t domain)
{
    say("pop %s%s", domain_of(domain), depth ? "" : " WITHOUT A PUSH");
    return --depth;
}
static void NVTX_API mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event)
{
    say("mark %s: %s", domain_of(domain), text_of(event));
}
static nvtxRangeId_t NVTX_API range_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event)
{
    static nvtxRangeId_t count;
    nvtxRangeId_t id = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
    say("start %s: %s -> %llu", domain_of(domain), text_of(event), (unsigned long long)id);
    return id;
}
static void NVTX_API range_end(nvtxDomainHandle_t domain, nvtxRangeId_t id)
{
    say("end %s: %llu", domain_of(domain), (unsigned long long)id);
}
static void NVTX_API name_thread(uint32_t id, const char *name)
{
    say("thread %s%s", name, (long)id == (long)gettid() ? "" : " WRONG ID");
}

static void fill(NvtxFunctionTable table, unsigned size, unsigned id, void (*function)(void))
{
    if (id < size && table[id]) *table[id] = function;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get);
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get)
{
    const NvtxExportTableCallbacks *callbacks = (const NvtxExportTableCallbacks *)get(NVTX_ETID_CALLBACKS);
    NvtxFunctionTable core, more;
    unsigned core_size = 0, more_size = 0;
    if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &core, &core_size) ||
        !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &more, &more_size))
        return 0;
    fill(core, core_size, NVTX_CBID_CORE_NameOsThreadA, (void (*)(void))name_thread);
    fill(more, more_size, NVTX_CBID_CORE2_DomainCreateA, (void (*)(void))domain_create);
    fill(more, more_size, NVTX_CBID_CORE2_DomainRegisterStringA, (void (*)(void))register_string);
    fill(more, more_size, NVTX_CBID_CORE2_DomainRangePushEx, (void (*)(void))push);
    fill(more, more_size, NVTX_CBID_CORE2_DomainRangePop, (void (*)(void))pop);
    fill(more, more_size, NVTX_CBID_CORE2_DomainMarkEx, (void (*)(void))mark);
    fill(more, more_size, NVTX_CBID_CORE2_DomainRangeStartEx, (void (*)(void))range_start);
    fill(more, more_size, NVTX_CBID_CORE2_DomainRangeEnd, (void (*)(void))range_end);
    return 1;
}
