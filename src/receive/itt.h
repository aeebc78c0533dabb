// receive/itt: Takes the calls of ITT: puts functions into the table of each library that has a copy of it.
#ifndef PROF__RECEIVE_ITT_H
#define PROF__RECEIVE_ITT_H
#include "receive/sites.h"
#include "api/objects.h"

#include <stdio.h>

#ifdef PROF_RECEIVE_ITT

/*-- the interface between a program and a tool: see ittnotify_config.h of ITT --*/

typedef struct prof__itt_api {
    const char *name;
    void **function;
    void *first, *none; /* first: loads the tool; none: does nothing */
    int group;
} prof__itt_api;

typedef struct prof__itt_domain {
    volatile int flags; /* 0: the program need not call */
    const char *name;
    void *wide;
    int reserved;
    void *more;
    struct prof__itt_domain *next;
} prof__itt_domain;

typedef struct prof__itt_string {
    const char *text;
    void *wide;
    int reserved;
    void *more;
    struct prof__itt_string *next;
} prof__itt_string;

typedef struct prof__itt_global { /* it grows at its end */
    unsigned char magic[8];
    unsigned long major, minor, build;
    volatile long initialized, mutex_initialized, counter;
    pthread_mutex_t mutex;
    void *library, *error_handler;
    const char **path;
    prof__itt_api *apis; /* the last one has no name */
} prof__itt_global;

typedef struct prof__itt_id {
    unsigned long long d1, d2, d3;
} prof__itt_id;

/* What occurred and leaves no trace: the metadata is written once for each kind. */
enum { PROF__ITT_SYNC = 0, PROF__ITT_TEXTS, PROF__ITT_NAMES };
static const char *const prof__itt_kinds[] = {"synchronization objects", "formatted metadata",
                                              "tasks and events with a further name than 4096"};
static uint32_t prof__itt_missed;
static void prof__itt_miss(int kind)
{
    prof__receive_miss("itt not shown", prof__itt_kinds, 3, &prof__itt_missed, kind);
}

/*-- domains and strings: one for each name in all copies of ITT. They are never freed --*/

static prof__itt_domain *prof__itt_domains;
static prof__itt_string *prof__itt_strings[256];

static prof__itt_domain *prof__itt_domain_create(const char *name)
{
    prof__itt_domain *domain = PROF__ACQUIRE(&prof__itt_domains);
    size_t size = strlen(name ? name : "") + 1;
    while (domain && strcmp(domain->name, name ? name : "")) domain = domain->next;
    if (domain) return domain;
    domain = (prof__itt_domain *)calloc(1, sizeof *domain + size);
    if (!domain) return NULL;
    memcpy(domain + 1, name ? name : "", size);
    domain->name = (const char *)(domain + 1);
    domain->flags = 1;
    PROF__RECEIVE_ADD(&prof__itt_domains, domain);
    return domain;
}

static prof__itt_string *prof__itt_string_create(const char *text)
{
    size_t size = strlen(text ? text : "") + 1;
    prof__itt_string **list = &prof__itt_strings[prof__hash_add(0, text ? text : "", size) % 256],
                     *string = PROF__ACQUIRE(list);
    while (string && strcmp(string->text, text ? text : "")) string = string->next;
    if (string) return string;
    string = (prof__itt_string *)calloc(1, sizeof *string + size);
    if (!string) return NULL;
    memcpy(string + 1, text ? text : "", size);
    string->text = (const char *)(string + 1);
    PROF__RECEIVE_ADD(list, string);
    return string;
}

static prof__receive_site *prof__itt_site(const void *group, const char *category, const char *text, unsigned kind)
{
    prof__received what;
    what.text = text ? text : "";
    what.category = category ? category : "itt";
    what.group = group;
    what.number = what.color = 0;
    what.kind = (uint16_t)kind;
    prof__receive_site *node = prof__receive_site_of(&what);
    if (!node) prof__itt_miss(PROF__ITT_NAMES);
    return node;
}

static const char *prof__itt_text(const prof__itt_string *string) { return string ? string->text : ""; }
static const char *prof__itt_category(const prof__itt_domain *domain) { return domain ? domain->name : NULL; }

/*-- tasks --*/

static void prof__itt_begin(const void *group, const char *category, const char *text)
{
    prof__receive_site *node = prof__itt_site(group, category, text, PROF__KIND_BEGIN);
    (void)prof__receive_push(group, node && prof__on(&node->site) ? prof__begin(&node->site) : 0);
}

static void prof__itt_task_begin(const prof__itt_domain *domain, prof__itt_id id, prof__itt_id parent,
                                 const prof__itt_string *name)
{
    (void)id, (void)parent;
    prof__itt_begin(domain, prof__itt_category(domain), prof__itt_text(name));
}

static void prof__itt_task_begin_fn(const prof__itt_domain *domain, prof__itt_id id, prof__itt_id parent,
                                    void *function)
{
    char text[32];
    (void)id, (void)parent;
    snprintf(text, sizeof text, "%p", function);
    prof__itt_begin(domain, prof__itt_category(domain), text);
}

static void prof__itt_task_end(const prof__itt_domain *domain) { (void)prof__receive_pop(domain); }

/* An end has no name: what is open is in this list, which is short. Protected by the lock. */
typedef struct PROF__SITE_TYPE prof__itt_open {
    const prof__itt_domain *domain;
    prof__itt_id id;
    prof__receive_site *node;
    uint64_t span;
    struct prof__itt_open *next;
} prof__itt_open;
static prof__itt_open *prof__itt_opens[256];
static pthread_mutex_t prof__itt_lock = PTHREAD_MUTEX_INITIALIZER;

static prof__itt_open **prof__itt_list(const prof__itt_domain *domain, const prof__itt_id *id)
{
    uint32_t hash = prof__hash_add((uint32_t)((uintptr_t)domain >> 4), id, sizeof *id);
    return &prof__itt_opens[hash % 256];
}

static void prof__itt_span_begin(const prof__itt_domain *domain, prof__itt_id id, const char *text)
{
    static uint64_t spans;
    prof__receive_site *node = prof__itt_site(domain, prof__itt_category(domain), text, PROF__KIND_EVENT);
    prof__itt_open *open, **list = prof__itt_list(domain, &id);
    if (!node || !prof__live(&node->site) || !(open = (prof__itt_open *)malloc(sizeof *open))) return;
    open->domain = domain;
    open->id = id;
    open->node = node;
    open->span = PROF__ADD(&spans, (uint64_t)1) + 1;
    prof__event(&node->site, PROF_EVENT_SPAN_BEGIN, 0, open->span);
    pthread_mutex_lock(&prof__itt_lock);
    open->next = *list;
    *list = open;
    pthread_mutex_unlock(&prof__itt_lock);
}

static void prof__itt_span_end(const prof__itt_domain *domain, prof__itt_id id)
{
    prof__itt_open **at = prof__itt_list(domain, &id), *open;
    pthread_mutex_lock(&prof__itt_lock);
    while (*at && ((*at)->domain != domain || memcmp(&(*at)->id, &id, sizeof id))) at = &(*at)->next;
    open = *at;
    if (open) *at = open->next;
    pthread_mutex_unlock(&prof__itt_lock);
    if (!open) return;
    if (prof__on(&open->node->site)) prof__event(&open->node->site, PROF_EVENT_SPAN_END, 0, open->span);
    free(open);
}

static void prof__itt_overlapped_begin(const prof__itt_domain *domain, prof__itt_id id, prof__itt_id parent,
                                       const prof__itt_string *name)
{
    (void)parent;
    prof__itt_span_begin(domain, id, prof__itt_text(name));
}

static const prof__itt_id prof__itt_no_id = {0, 0, 0};
static void prof__itt_frame_begin(const prof__itt_domain *domain, const prof__itt_id *id)
{
    prof__itt_span_begin(domain, id ? *id : prof__itt_no_id, prof__itt_category(domain));
}
static void prof__itt_frame_end(const prof__itt_domain *domain, const prof__itt_id *id)
{
    prof__itt_span_end(domain, id ? *id : prof__itt_no_id);
}

static void prof__itt_marker(const prof__itt_domain *domain, prof__itt_id id, const prof__itt_string *name, int scope)
{
    prof__receive_site *node = prof__itt_site(domain, prof__itt_category(domain), prof__itt_text(name),
                                              PROF__KIND_MARK);
    (void)id, (void)scope;
    if (node && prof__on(&node->site)) prof__mark(&node->site);
}

/*-- metadata of the innermost task of a domain --*/

enum { PROF__ITT_U64 = 1, PROF__ITT_I64, PROF__ITT_U32, PROF__ITT_I32, PROF__ITT_U16, PROF__ITT_I16, PROF__ITT_FLOAT,
       PROF__ITT_DOUBLE };

/* Reads a number as an argument. Returns 0 if there is no such type. */
static int prof__itt_number(const char *key, int type, const void *data, prof_arg *arg)
{
    union {
        uint64_t u64;
        int64_t i64;
        uint32_t u32;
        int32_t i32;
        uint16_t u16;
        int16_t i16;
        float single;
        double real;
    } number;
    static const unsigned char sizes[] = {0, 8, 8, 4, 4, 2, 2, 4, 8};
    if (!data || type < PROF__ITT_U64 || type > PROF__ITT_DOUBLE) return 0;
    memcpy(&number, data, sizes[type]);
    switch (type) {
    case PROF__ITT_U64: *arg = prof__made_uint(key, number.u64); break;
    case PROF__ITT_I64: *arg = prof__made_int(key, number.i64); break;
    case PROF__ITT_U32: *arg = prof__made_uint(key, number.u32); break;
    case PROF__ITT_I32: *arg = prof__made_int(key, number.i32); break;
    case PROF__ITT_U16: *arg = prof__made_uint(key, number.u16); break;
    case PROF__ITT_I16: *arg = prof__made_int(key, number.i16); break;
    case PROF__ITT_FLOAT: *arg = prof__made_double(key, (double)number.single); break;
    default: *arg = prof__made_double(key, number.real); break;
    }
    return 1;
}

static void prof__itt_metadata(const prof__itt_domain *domain, prof__itt_id id, const prof__itt_string *key, int type,
                               size_t count, const void *data)
{
    prof__token token = prof__receive_token(domain);
    prof_arg arg;
    (void)id;
    if (PROF__RECORDED(token) && count && prof__itt_number(prof__itt_text(key), type, data, &arg))
        prof__with(PROF__NO_SITE, PROF_EVENT_SCOPE, PROF__RECORDED(token), &arg, 1);
}

static void prof__itt_metadata_text(const prof__itt_domain *domain, prof__itt_id id, const prof__itt_string *key,
                                    const char *text, size_t length)
{
    prof__token token = prof__receive_token(domain);
    (void)id;
    if (PROF__RECORDED(token) && text)
        prof__arg_part_to(PROF__RECORDED(token), prof__itt_text(key), text, length ? length : strlen(text));
}

static void prof__itt_formatted(const prof__itt_domain *domain, const prof__itt_string *format, ...)
{
    (void)domain, (void)format;
    prof__itt_miss(PROF__ITT_TEXTS);
}

/*-- events: each has a stack of its own on each thread --*/

static const void *prof__itt_events(void) { return &prof__itt_lock; } /* the group of their names */

static int prof__itt_event_create(const char *name, int length)
{
    char text[PROF_MAX_TEXT + 1];
    prof__receive_site *node;
    snprintf(text, sizeof text, "%.*s", length < 0 ? 0 : length, name ? name : "");
    node = prof__itt_site(prof__itt_events(), NULL, text, PROF__KIND_BEGIN);
    return node ? (int)node->index + 1 : 0;
}

static prof__receive_site *prof__itt_event(int event)
{
    return event > 0 && event <= PROF__RECEIVE_SITES ? PROF__ACQUIRE(&prof__receive_sites.all[event - 1]) : NULL;
}

static int prof__itt_event_start(int event)
{
    prof__receive_site *node = prof__itt_event(event);
    if (!node) return 1;
    (void)prof__receive_push(node, prof__on(&node->site) ? prof__begin(&node->site) : 0);
    return 0;
}

static int prof__itt_event_end(int event)
{
    prof__receive_site *node = prof__itt_event(event);
    return !node || prof__receive_pop(node) < 0;
}

/*-- counters. A counter is a prof_counter, and its type --*/

typedef struct PROF__SITE_TYPE prof__itt_counter {
    prof_counter *counter;
    int type;
} prof__itt_counter;

static prof__itt_counter *prof__itt_counter_make(const char *name, const char *domain, int type)
{
    prof__itt_counter *counter = (prof__itt_counter *)malloc(sizeof *counter);
    if (!counter) return NULL;
    counter->counter = prof_counter_create(prof_domain_create(domain && *domain ? domain : "itt"), name ? name : "");
    counter->type = type;
    return counter;
}
static prof__itt_counter *prof__itt_counter_create(const char *name, const char *domain)
{
    return prof__itt_counter_make(name, domain, PROF__ITT_U64);
}
static prof__itt_counter *prof__itt_counter_create_in(const prof__itt_domain *domain, const char *name, int type)
{
    return prof__itt_counter_make(name, prof__itt_category(domain), type);
}
static void prof__itt_counter_set(prof__itt_counter *counter, const void *value)
{
    prof_arg arg;
    if (!counter || !prof__itt_number("", counter->type, value, &arg)) return;
    if (arg.value.type == PROF_VALUE_DOUBLE)
        prof_counter_set_double(counter->counter, arg.value.as.d);
    else if (arg.value.type == PROF_VALUE_UINT)
        prof_counter_set_uint(counter->counter, arg.value.as.u);
    else
        prof_counter_set(counter->counter, arg.value.as.i);
}
static void prof__itt_counter_inc_delta(prof__itt_counter *counter, unsigned long long delta)
{
    if (counter) prof_counter_add(counter->counter, (int64_t)delta);
}
static void prof__itt_counter_inc(prof__itt_counter *counter) { prof__itt_counter_inc_delta(counter, 1); }
static void prof__itt_counter_dec_delta(prof__itt_counter *counter, unsigned long long delta)
{
    if (counter) prof_counter_sub(counter->counter, (int64_t)delta);
}
static void prof__itt_counter_dec(prof__itt_counter *counter) { prof__itt_counter_dec_delta(counter, 1); }
static void prof__itt_counter_destroy(prof__itt_counter *counter)
{
    if (counter) prof_counter_destroy(counter->counter);
    free(counter);
}

/*-- the rest --*/

static void prof__itt_pause(void) { (void)prof_pause(); }
static void prof__itt_resume(void) { (void)prof_resume(); }
static void prof__itt_thread_name(const char *name) { prof_set_thread_name(name); }
static void prof__itt_sync(void *object)
{
    (void)object;
    prof__itt_miss(PROF__ITT_SYNC);
}
static const char *prof__itt_version(void) { return "prof"; } /* OpenCV turns itself off without a version */

/* Each copy of ITT calls this once. */
__attribute__((__visibility__("default"))) void __itt_api_init(prof__itt_global *global, int groups);
__attribute__((__visibility__("default"))) void __itt_api_init(prof__itt_global *global, int groups)
{
#define PROF__ITT(name, function) {name, (prof__receive_function)function}
    static const struct {
        const char *name;
        prof__receive_function function;
    } functions[] = {
        PROF__ITT("__itt_domain_create", prof__itt_domain_create),
        PROF__ITT("__itt_string_handle_create", prof__itt_string_create),
        PROF__ITT("__itt_task_begin", prof__itt_task_begin), PROF__ITT("__itt_task_begin_fn", prof__itt_task_begin_fn),
        PROF__ITT("__itt_task_end", prof__itt_task_end),
        PROF__ITT("__itt_task_begin_overlapped", prof__itt_overlapped_begin),
        PROF__ITT("__itt_task_end_overlapped", prof__itt_span_end),
        PROF__ITT("__itt_region_begin", prof__itt_overlapped_begin), PROF__ITT("__itt_region_end", prof__itt_span_end),
        PROF__ITT("__itt_frame_begin_v3", prof__itt_frame_begin), PROF__ITT("__itt_frame_end_v3", prof__itt_frame_end),
        PROF__ITT("__itt_marker", prof__itt_marker), PROF__ITT("__itt_metadata_add", prof__itt_metadata),
        PROF__ITT("__itt_metadata_str_add", prof__itt_metadata_text),
        PROF__ITT("__itt_formatted_metadata_add", prof__itt_formatted),
        PROF__ITT("__itt_event_create", prof__itt_event_create), PROF__ITT("__itt_event_start", prof__itt_event_start),
        PROF__ITT("__itt_event_end", prof__itt_event_end),
        PROF__ITT("__itt_counter_create", prof__itt_counter_create),
        PROF__ITT("__itt_counter_create_typed", prof__itt_counter_make),
        PROF__ITT("__itt_counter_create_v3", prof__itt_counter_create_in),
        PROF__ITT("__itt_counter_set_value", prof__itt_counter_set),
        PROF__ITT("__itt_counter_set_value_v3", prof__itt_counter_set),
        PROF__ITT("__itt_counter_inc", prof__itt_counter_inc), PROF__ITT("__itt_counter_dec", prof__itt_counter_dec),
        PROF__ITT("__itt_counter_inc_delta", prof__itt_counter_inc_delta),
        PROF__ITT("__itt_counter_dec_delta", prof__itt_counter_dec_delta),
        PROF__ITT("__itt_counter_destroy", prof__itt_counter_destroy), PROF__ITT("__itt_pause", prof__itt_pause),
        PROF__ITT("__itt_resume", prof__itt_resume), PROF__ITT("__itt_thread_set_name", prof__itt_thread_name),
        PROF__ITT("__itt_sync_create", prof__itt_sync), PROF__ITT("__itt_api_version", prof__itt_version)};
    (void)groups;
    for (prof__itt_api *api = global ? global->apis : NULL; api && api->name; ++api) {
        void *function = api->none;
        for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i)
            if (!strcmp(api->name, functions[i].name)) memcpy(&function, &functions[i].function, sizeof function);
        if (api->function) __atomic_store_n(api->function, function, __ATOMIC_RELEASE);
    }
}
#endif

#endif /* PROF__RECEIVE_ITT_H */
