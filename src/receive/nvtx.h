// receive/nvtx: Takes the calls of NVTX: puts functions into the tables of each library that has a copy of it.
#ifndef PROF__RECEIVE_NVTX_H
#define PROF__RECEIVE_NVTX_H
#include "receive/sites.h"
#include "ground/utf8.h"

#include <stdio.h>
#include <wchar.h>

#ifdef PROF_RECEIVE_NVTX

/*-- the interface between a program and a tool, as versions 2 and 3 of NVTX have it --*/

enum { PROF__NVTX_ASCII = 1, PROF__NVTX_WIDE, PROF__NVTX_REGISTERED }; /* of a message */
enum { PROF__NVTX_U64 = 1, PROF__NVTX_I64, PROF__NVTX_DOUBLE, PROF__NVTX_U32, PROF__NVTX_I32, PROF__NVTX_FLOAT };
enum { PROF__NVTX_CORE = 1, PROF__NVTX_CORE2 = 5, PROF__NVTX_SLOTS = 16 }; /* tables, and how many slots they have */

typedef struct prof__nvtx_string {
    char *text;
    struct prof__nvtx_string *next;
} prof__nvtx_string;

typedef union prof__nvtx_message {
    const char *ascii;
    const wchar_t *wide;
    const prof__nvtx_string *registered;
} prof__nvtx_message;

typedef struct prof__nvtx_event { /* nvtxEventAttributes_t */
    uint16_t version, size;
    uint32_t category;
    int32_t color_type; /* 1: color is ARGB */
    uint32_t color;
    int32_t payload_type, reserved;
    union {
        uint64_t u64;
        int64_t i64;
        double real;
        uint32_t u32;
        int32_t i32;
        float single;
    } payload;
    int32_t message_type;
    prof__nvtx_message message;
} prof__nvtx_event;

typedef struct prof__nvtx_callbacks { /* NvtxExportTableCallbacks */
    size_t size;
    int (*table)(int module, prof__receive_function ***slots, unsigned *count);
} prof__nvtx_callbacks;
typedef const void *(*prof__nvtx_exports)(uint32_t which);

/*-- domains, categories and strings. They are never freed: programs, sites and open ranges have their addresses --*/

typedef struct prof__nvtx_category {
    uint32_t number;
    const char *name; /* "DOMAIN:CATEGORY" */
    struct prof__nvtx_category *next;
} prof__nvtx_category;

typedef struct prof__nvtx_domain {
    const char *name;
    int unnamed; /* 1: it is the default domain */
    prof__nvtx_category *categories;
    struct prof__nvtx_domain *next;
} prof__nvtx_domain;

static prof__nvtx_domain prof__nvtx_default = {"nvtx", 1, NULL, NULL}, *prof__nvtx_domains;
static prof__nvtx_string *prof__nvtx_strings;

static prof__nvtx_domain *prof__nvtx_domain_of(prof__nvtx_domain *domain)
{
    return domain ? domain : &prof__nvtx_default;
}

/* What occurred and leaves no trace: the metadata is written once for each kind. */
enum { PROF__NVTX_SCHEMAS, PROF__NVTX_RESOURCES, PROF__NVTX_THREADS, PROF__NVTX_NAMES, PROF__NVTX_KINDS };
static const char *const prof__nvtx_kinds[PROF__NVTX_KINDS] = {
    "payloads of schemas", "resources", "names of other threads", "ranges with a further name than 4096"};
static uint32_t prof__nvtx_missed;
static void prof__nvtx_miss(int kind)
{
    prof__receive_miss("nvtx not shown", prof__nvtx_kinds, PROF__NVTX_KINDS, &prof__nvtx_missed, kind);
}

/* Writes a text as UTF-8. Returns `to`, which has PROF_MAX_TEXT + 1 bytes. */
static const char *prof__nvtx_narrow(const wchar_t *wide, char *to)
{
    size_t used = 0;
    for (; wide && *wide && used + 4 <= PROF_MAX_TEXT; ++wide) {
        uint32_t code = (uint32_t)*wide;
        used += prof__utf8_write(to + used, code > 0x10FFFF || (code & 0xFFFFF800u) == 0xD800 ? 0xFFFD : code);
    }
    to[used] = 0;
    return to;
}

static const char *prof__nvtx_text(const prof__nvtx_event *event, char *buffer)
{
    const char *text = NULL;
    if (event->message_type == PROF__NVTX_ASCII) text = event->message.ascii;
    if (event->message_type == PROF__NVTX_WIDE) text = prof__nvtx_narrow(event->message.wide, buffer);
    if (event->message_type == PROF__NVTX_REGISTERED && event->message.registered)
        text = event->message.registered->text;
    return text ? text : "";
}

static const char *prof__nvtx_category_of(const prof__nvtx_domain *domain, uint32_t number)
{
    const prof__nvtx_category *category = number ? PROF__ACQUIRE(&domain->categories) : NULL;
    while (category && category->number != number) category = category->next;
    return category ? category->name : domain->name;
}

static prof__receive_site *prof__nvtx_site(const prof__nvtx_domain *domain, const prof__nvtx_event *event,
                                           const char *text, unsigned kind)
{
    prof__received what;
    what.text = text;
    what.category = prof__nvtx_category_of(domain, event->category);
    what.group = domain;
    what.number = event->category;
    what.color = event->color_type == 1 ? event->color & 0xFFFFFF : 0;
    what.kind = (uint16_t)kind;
    return prof__receive_site_of(&what);
}

/* Makes an argument of a payload. Returns 0 if there is none that can be shown. */
static int prof__nvtx_payload(const prof__nvtx_event *event, prof_arg *arg)
{
    switch (event->payload_type) {
    case PROF__NVTX_U64: *arg = prof__made_uint("payload", event->payload.u64); return 1;
    case PROF__NVTX_I64: *arg = prof__made_int("payload", event->payload.i64); return 1;
    case PROF__NVTX_DOUBLE: *arg = prof__made_double("payload", event->payload.real); return 1;
    case PROF__NVTX_U32: *arg = prof__made_uint("payload", event->payload.u32); return 1;
    case PROF__NVTX_I32: *arg = prof__made_int("payload", event->payload.i32); return 1;
    case PROF__NVTX_FLOAT: *arg = prof__made_double("payload", (double)event->payload.single); return 1;
    case 0: return 0;
    default: prof__nvtx_miss(PROF__NVTX_SCHEMAS); return 0;
    }
}

/* Makes an event of a plain message. */
static prof__nvtx_event prof__nvtx_plain(const char *text)
{
    prof__nvtx_event event;
    memset(&event, 0, sizeof event);
    event.message_type = PROF__NVTX_ASCII;
    event.message.ascii = text;
    return event;
}

/*-- what programs call --*/

static void prof__nvtx_mark(prof__nvtx_domain *domain, const prof__nvtx_event *event)
{
    static prof_site unnamed = {0, "", "nvtx", "", "", 0, 0, 1, PROF__KIND_MARK, 0, 0, 0};
    char buffer[PROF_MAX_TEXT + 1];
    const char *text;
    prof__receive_site *node;
    prof_arg payload;
    if (!event) return;
    text = prof__nvtx_text(event, buffer);
    node = prof__nvtx_site(prof__nvtx_domain_of(domain), event, text, PROF__KIND_MARK);
    if (!prof__on(node ? &node->site : &unnamed)) return;
    if (!node)
        prof__mark_text(&unnamed, text);
    else if (prof__nvtx_payload(event, &payload))
        prof__with(&node->site, PROF_EVENT_MARK, 0, &payload, 1);
    else
        prof__mark(&node->site);
}

static int prof__nvtx_push(prof__nvtx_domain *domain, const prof__nvtx_event *event)
{
    static prof_site unnamed = {0, "", "nvtx", "", "", 0, 0, 1, PROF__KIND_BEGIN, 0, 0, 0};
    char buffer[PROF_MAX_TEXT + 1];
    const char *text;
    prof__receive_site *node;
    prof__token token = 0;
    prof_arg payload;
    domain = prof__nvtx_domain_of(domain);
    if (!event) return prof__receive_push(domain, 0);
    text = prof__nvtx_text(event, buffer);
    node = prof__nvtx_site(domain, event, text, PROF__KIND_BEGIN);
    if (prof__on(node ? &node->site : &unnamed))
        token = node ? prof__begin(&node->site) : prof__begin_text(&unnamed, text);
    if (PROF__RECORDED(token) && prof__nvtx_payload(event, &payload))
        prof__with(PROF__NO_SITE, PROF_EVENT_SCOPE, PROF__RECORDED(token), &payload, 1);
    return prof__receive_push(domain, token);
}

static int prof__nvtx_pop(prof__nvtx_domain *domain)
{
    return prof__receive_pop(prof__nvtx_domain_of(domain));
}

/* A range's id: above 40 bits the number of its call site, from 1 on, or 0 if it is not recorded. */
static uint64_t prof__nvtx_start(prof__nvtx_domain *domain, const prof__nvtx_event *event)
{
    static uint64_t ids;
    uint64_t id = (PROF__ADD(&ids, (uint64_t)1) + 1) & (((uint64_t)1 << 40) - 1);
    char buffer[PROF_MAX_TEXT + 1];
    prof__receive_site *node;
    prof_arg payload;
    if (!event) return id;
    node = prof__nvtx_site(prof__nvtx_domain_of(domain), event, prof__nvtx_text(event, buffer), PROF__KIND_EVENT);
    if (!node) prof__nvtx_miss(PROF__NVTX_NAMES);
    if (!node || !prof__live(&node->site)) return id;
    id |= (uint64_t)(node->index + 1) << 40;
    if (prof__nvtx_payload(event, &payload))
        prof__with(&node->site, PROF_EVENT_SPAN_BEGIN, id, &payload, 1);
    else
        prof__event(&node->site, PROF_EVENT_SPAN_BEGIN, 0, id);
    return id;
}

static void prof__nvtx_end(prof__nvtx_domain *domain, uint64_t id)
{
    uint64_t index = id >> 40;
    prof__receive_site *node = index && index <= PROF__RECEIVE_SITES
                                   ? PROF__ACQUIRE(&prof__receive_sites.all[index - 1]) : NULL;
    (void)domain;
    if (node && prof__on(&node->site)) prof__event(&node->site, PROF_EVENT_SPAN_END, 0, id);
}

static void prof__nvtx_name_category(prof__nvtx_domain *domain, uint32_t number, const char *name)
{
    prof__nvtx_category *category;
    size_t size;
    char *text;
    domain = prof__nvtx_domain_of(domain);
    if (!name || !number) return;
    size = strlen(domain->name) + strlen(name) + 2;
    category = (prof__nvtx_category *)malloc(sizeof *category + size);
    if (!category) return;
    text = (char *)(category + 1);
    snprintf(text, size, "%s%s%s", domain->unnamed ? "" : domain->name, domain->unnamed ? "" : ":", name);
    category->number = number;
    category->name = text;
    PROF__RECEIVE_ADD(&domain->categories, category);
}

static void prof__nvtx_name_thread(uint32_t thread, const char *name)
{
    if (!name) return;
    if (thread == (uint32_t)prof__thread_id())
        prof_set_thread_name(name);
    else
        prof__nvtx_miss(PROF__NVTX_THREADS);
}

static prof__nvtx_domain *prof__nvtx_domain_create(const char *name)
{
    size_t size = strlen(name ? name : "") + 1;
    prof__nvtx_domain *domain = (prof__nvtx_domain *)calloc(1, sizeof *domain + size);
    if (!domain) return NULL; /* the default domain */
    memcpy(domain + 1, name ? name : "", size);
    domain->name = (const char *)(domain + 1);
    PROF__RECEIVE_ADD(&prof__nvtx_domains, domain);
    return domain;
}

static prof__nvtx_string *prof__nvtx_register(prof__nvtx_domain *domain, const char *text)
{
    size_t size = strlen(text ? text : "") + 1;
    prof__nvtx_string *string = (prof__nvtx_string *)malloc(sizeof *string + size);
    (void)domain;
    if (!string) return NULL;
    string->text = (char *)(string + 1);
    memcpy(string->text, text ? text : "", size);
    PROF__RECEIVE_ADD(&prof__nvtx_strings, string);
    return string;
}

/*-- the calls of the tables that lead to the functions above --*/

static void prof__nvtx_mark_core(const prof__nvtx_event *event) { prof__nvtx_mark(NULL, event); }
static void prof__nvtx_mark_a(const char *text)
{
    const prof__nvtx_event event = prof__nvtx_plain(text);
    prof__nvtx_mark(NULL, &event);
}
static void prof__nvtx_mark_w(const wchar_t *wide)
{
    char text[PROF_MAX_TEXT + 1];
    prof__nvtx_mark_a(prof__nvtx_narrow(wide, text));
}
static uint64_t prof__nvtx_start_core(const prof__nvtx_event *event) { return prof__nvtx_start(NULL, event); }
static uint64_t prof__nvtx_start_a(const char *text)
{
    const prof__nvtx_event event = prof__nvtx_plain(text);
    return prof__nvtx_start(NULL, &event);
}
static uint64_t prof__nvtx_start_w(const wchar_t *wide)
{
    char text[PROF_MAX_TEXT + 1];
    return prof__nvtx_start_a(prof__nvtx_narrow(wide, text));
}
static void prof__nvtx_end_core(uint64_t id) { prof__nvtx_end(NULL, id); }
static int prof__nvtx_push_core(const prof__nvtx_event *event) { return prof__nvtx_push(NULL, event); }
static int prof__nvtx_push_a(const char *text)
{
    const prof__nvtx_event event = prof__nvtx_plain(text);
    return prof__nvtx_push(NULL, &event);
}
static int prof__nvtx_push_w(const wchar_t *wide)
{
    char text[PROF_MAX_TEXT + 1];
    return prof__nvtx_push_a(prof__nvtx_narrow(wide, text));
}
static int prof__nvtx_pop_core(void) { return prof__nvtx_pop(NULL); }
static void prof__nvtx_name_category_a(uint32_t number, const char *name)
{
    prof__nvtx_name_category(NULL, number, name);
}
static void prof__nvtx_name_category_w(uint32_t number, const wchar_t *wide)
{
    char text[PROF_MAX_TEXT + 1];
    prof__nvtx_name_category(NULL, number, prof__nvtx_narrow(wide, text));
}
static void prof__nvtx_name_thread_w(uint32_t thread, const wchar_t *wide)
{
    char text[PROF_MAX_TEXT + 1];
    prof__nvtx_name_thread(thread, prof__nvtx_narrow(wide, text));
}
static void prof__nvtx_name_domain_category_w(prof__nvtx_domain *domain, uint32_t number, const wchar_t *wide)
{
    char text[PROF_MAX_TEXT + 1];
    prof__nvtx_name_category(domain, number, prof__nvtx_narrow(wide, text));
}
static prof__nvtx_domain *prof__nvtx_domain_create_w(const wchar_t *wide)
{
    char text[PROF_MAX_TEXT + 1];
    return prof__nvtx_domain_create(prof__nvtx_narrow(wide, text));
}
static prof__nvtx_string *prof__nvtx_register_w(prof__nvtx_domain *domain, const wchar_t *wide)
{
    char text[PROF_MAX_TEXT + 1];
    return prof__nvtx_register(domain, prof__nvtx_narrow(wide, text));
}
static void *prof__nvtx_resource(prof__nvtx_domain *domain, const void *attributes)
{
    (void)domain, (void)attributes;
    prof__nvtx_miss(PROF__NVTX_RESOURCES);
    return NULL;
}
static void prof__nvtx_forget(void *what) { (void)what; }

/* Puts the functions into a table of one copy of NVTX. A slot may be missing, and more may come. */
static void prof__nvtx_fill(const prof__nvtx_callbacks *callbacks, int module, const prof__receive_function *functions)
{
    prof__receive_function **slots = NULL;
    unsigned count = 0;
    if (!callbacks->table(module, &slots, &count) || !slots) return;
    for (unsigned i = 1; i < count && i < PROF__NVTX_SLOTS; ++i)
        if (slots[i]) *slots[i] = functions[i];
}

/* Each copy of NVTX, one in each library of the program, calls this at its first call. Returns 1 if it can serve. */
#define PROF__NVTX(function) (prof__receive_function)function
__attribute__((__visibility__("default"))) int InitializeInjectionNvtx2(prof__nvtx_exports exports);
__attribute__((__visibility__("default"))) int InitializeInjectionNvtx2(prof__nvtx_exports exports)
{
    static const prof__receive_function core[PROF__NVTX_SLOTS] = {
        NULL, PROF__NVTX(prof__nvtx_mark_core), PROF__NVTX(prof__nvtx_mark_a), PROF__NVTX(prof__nvtx_mark_w),
        PROF__NVTX(prof__nvtx_start_core), PROF__NVTX(prof__nvtx_start_a), PROF__NVTX(prof__nvtx_start_w),
        PROF__NVTX(prof__nvtx_end_core), PROF__NVTX(prof__nvtx_push_core), PROF__NVTX(prof__nvtx_push_a),
        PROF__NVTX(prof__nvtx_push_w), PROF__NVTX(prof__nvtx_pop_core), PROF__NVTX(prof__nvtx_name_category_a),
        PROF__NVTX(prof__nvtx_name_category_w), PROF__NVTX(prof__nvtx_name_thread),
        PROF__NVTX(prof__nvtx_name_thread_w)};
    static const prof__receive_function core2[PROF__NVTX_SLOTS] = {
        NULL, PROF__NVTX(prof__nvtx_mark), PROF__NVTX(prof__nvtx_start), PROF__NVTX(prof__nvtx_end),
        PROF__NVTX(prof__nvtx_push), PROF__NVTX(prof__nvtx_pop), PROF__NVTX(prof__nvtx_resource),
        PROF__NVTX(prof__nvtx_forget), PROF__NVTX(prof__nvtx_name_category),
        PROF__NVTX(prof__nvtx_name_domain_category_w), PROF__NVTX(prof__nvtx_register),
        PROF__NVTX(prof__nvtx_register_w), PROF__NVTX(prof__nvtx_domain_create),
        PROF__NVTX(prof__nvtx_domain_create_w), PROF__NVTX(prof__nvtx_forget), PROF__NVTX(prof__nvtx_forget)};
    const prof__nvtx_callbacks *callbacks = (const prof__nvtx_callbacks *)exports(1);
    if (!callbacks || callbacks->size < sizeof *callbacks || !callbacks->table) return 0;
    prof__nvtx_fill(callbacks, PROF__NVTX_CORE, core);
    prof__nvtx_fill(callbacks, PROF__NVTX_CORE2, core2);
    return 1;
}

/* By this a copy of NVTX that is linked with this file finds it, without a variable of the environment. */
extern __attribute__((__visibility__("default"))) int (*InitializeInjectionNvtx2_fnptr)(prof__nvtx_exports exports);
__attribute__((__visibility__("default"))) int (*InitializeInjectionNvtx2_fnptr)(prof__nvtx_exports exports) =
    InitializeInjectionNvtx2;
#endif

#endif /* PROF__RECEIVE_NVTX_H */
