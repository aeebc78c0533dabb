// bridge/nvtx: Sends events to Nsight Systems.
#ifndef PROF__BRIDGE_NVTX_H
#define PROF__BRIDGE_NVTX_H
#include "bridge/tools.h"
#include "api/values.h"
#include "ground/lock.h"
#include "ground/signals.h"
#include "ground/threads.h"
#include "bridge/state.h"

/*-- NVTX --*/

#ifdef PROF_WITH_NVTX
/* A span that has begun. NVTX returned a number for it, which its end needs. Under prof__bridge_lock. */
typedef struct prof__nvtx_open {
    struct prof__nvtx_open *next;
    const prof__bridge_name *name;
    uint64_t object;
    nvtxRangeId_t range;
} prof__nvtx_open;
#define PROF__NVTX_SPANS 256
static prof__nvtx_open *prof__nvtx_spans[PROF__NVTX_SPANS], *prof__nvtx_spans_free;
static nvtxDomainHandle_t prof__nvtx_uncategorised;

static int prof__nvtx_attach(void)
{
    if (!prof__nvtx_uncategorised) prof__nvtx_uncategorised = nvtxDomainCreateA(PROF_BRIDGE_DOMAIN);
    return prof__nvtx_uncategorised != NULL; /* NULL: no tool is attached */
}
static void prof__nvtx_domain(prof__bridge_domain *domain)
{
    domain->nvtx = *domain->category ? nvtxDomainCreateA(domain->category) : prof__nvtx_uncategorised;
}
static void prof__nvtx_name(prof__bridge_name *name)
{
    name->nvtx = nvtxDomainRegisterStringA(name->domain->nvtx, name->text);
}

/* Returns an event for NVTX. text: a name made at run time that has no entry, or NULL. */
static nvtxEventAttributes_t prof__nvtx_event(const prof__bridge_name *name, const char *text, uint32_t color)
{
    nvtxEventAttributes_t event;
    memset(&event, 0, sizeof event);
    event.version = NVTX_VERSION;
    event.size = (uint16_t)sizeof event;
    if (color) {
        event.colorType = NVTX_COLOR_ARGB;
        event.color = 0xff000000u | color;
    }
    if (text || !name->nvtx) {
        event.messageType = NVTX_MESSAGE_TYPE_ASCII;
        event.message.ascii = text ? text : name->text;
    } else {
        event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
        event.message.registered = name->nvtx;
    }
    return event;
}
static void prof__nvtx_payload(nvtxEventAttributes_t *event, prof_value_type type, uint64_t number)
{
    if (type == PROF_VALUE_NONE) return;
    event->payloadType = type == PROF_VALUE_DOUBLE ? NVTX_PAYLOAD_TYPE_DOUBLE
                         : type == PROF_VALUE_INT  ? NVTX_PAYLOAD_TYPE_INT64
                                                   : NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
    event->payload.ullValue = number; /* copies the bits: the type says what they are */
}
static void prof__nvtx_begin(const prof__bridge_name *name, const char *text, uint32_t color, prof_value_type type,
                             uint64_t number)
{
    nvtxEventAttributes_t event = prof__nvtx_event(name, text, color);
    prof__nvtx_payload(&event, type, number);
    nvtxDomainRangePushEx(name->domain->nvtx, &event);
}
static void prof__nvtx_end(const prof__bridge_name *name) { nvtxDomainRangePop(name->domain->nvtx); }
static void prof__nvtx_mark(const prof__bridge_name *name, const char *text, uint32_t color)
{
    nvtxEventAttributes_t event = prof__nvtx_event(name, text, color);
    nvtxDomainMarkEx(name->domain->nvtx, &event);
}
static void prof__nvtx_counter(const prof__bridge_name *name, prof_value_type type, uint64_t number)
{
    nvtxEventAttributes_t event = prof__nvtx_event(name, NULL, 0);
    prof__nvtx_payload(&event, type, number);
    nvtxDomainMarkEx(name->domain->nvtx, &event);
}
static void prof__nvtx_frame(prof__bridge_name *name, int ends, int begins) /* the caller holds prof__bridge_lock */
{
    nvtxEventAttributes_t event = prof__nvtx_event(name, NULL, 0);
    if (ends) nvtxDomainRangeEnd(name->domain->nvtx, name->nvtx_frame);
    if (begins) name->nvtx_frame = nvtxDomainRangeStartEx(name->domain->nvtx, &event);
}

/* Returns the link that points to a span that has begun. If there is none, returns the link to add it to. */
static prof__nvtx_open **prof__nvtx_span_find(const prof__bridge_name *name, uint64_t object)
{
    uint64_t hash = (object ^ name->hash) * 0x9E3779B97F4A7C15u;
    prof__nvtx_open **at = &prof__nvtx_spans[(hash >> 32) % PROF__NVTX_SPANS];
    while (*at && ((*at)->object != object || (*at)->name != name)) at = &(*at)->next;
    return at;
}
static void prof__nvtx_span_begin(const prof__bridge_name *name, uint64_t object, uint32_t color)
{
    prof__nvtx_open **at = prof__nvtx_span_find(name, object), *span = prof__nvtx_spans_free;
    nvtxEventAttributes_t event = prof__nvtx_event(name, NULL, color);
    if (*at) return; /* it has begun before */
    if (span)
        prof__nvtx_spans_free = span->next;
    else
        span = (prof__nvtx_open *)prof__bridge_new(sizeof *span);
    if (!span) return;
    prof__nvtx_payload(&event, PROF_VALUE_UINT, object);
    span->next = NULL;
    span->name = name;
    span->object = object;
    span->range = nvtxDomainRangeStartEx(name->domain->nvtx, &event);
    *at = span;
}
static void prof__nvtx_span_end(const prof__bridge_name *name, uint64_t object)
{
    prof__nvtx_open **at = prof__nvtx_span_find(name, object), *span = *at;
    if (!span) return;
    *at = span->next;
    nvtxDomainRangeEnd(name->domain->nvtx, span->range);
    span->next = prof__nvtx_spans_free;
    prof__nvtx_spans_free = span;
}
static void prof__nvtx_span(const prof__bridge_name *name, uint64_t type, uint64_t object, uint32_t color)
{
    prof__signals signals;
    if (type == PROF_EVENT_SPAN_MARK) {
        prof__nvtx_mark(name, NULL, color);
    } else if (prof__lock_enter(&prof__bridge_lock, &signals)) {
        if (type == PROF_EVENT_SPAN_BEGIN)
            prof__nvtx_span_begin(name, object, color);
        else
            prof__nvtx_span_end(name, object);
        prof__lock_leave(&prof__bridge_lock, &signals);
    }
}
static void prof__nvtx_thread(const char *name) { nvtxNameOsThreadA((uint32_t)prof__thread_id(), name); }
#else
#define prof__nvtx_attach() 0
#define prof__nvtx_domain(domain) ((void)0)
#define prof__nvtx_name(name) ((void)0)
#define prof__nvtx_begin(name, text, color, type, number) ((void)0)
#define prof__nvtx_end(name) ((void)0)
#define prof__nvtx_mark(name, text, color) ((void)0)
#define prof__nvtx_counter(name, type, number) ((void)0)
#define prof__nvtx_frame(name, ends, begins) ((void)0)
#define prof__nvtx_span(name, type, object, color) ((void)0)
#define prof__nvtx_thread(name) ((void)0)
#endif

#endif /* PROF__BRIDGE_NVTX_H */
