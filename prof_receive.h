/* prof_receive.h - records programs and libraries that are marked up for NVTX or ITT - public domain or MIT-0; needs
                   assembled from src/: change it there, see CONTRIBUTING.md
                   prof.h and libc, no header of these; the licence is at the end of this file

QUICK START

    prof run -o trace.html ./program       preloads libprof.so, which has this header: nothing is compiled again

    #define PROF_IMPLEMENTATION            // or: in exactly one file of the program, C or C++
    #define PROF_RECEIVE_NVTX              // and, or instead, PROF_RECEIVE_ITT
    #include "prof_receive.h"              // includes prof.h

    In a program that is linked with this file NVTX finds the receiver by itself. For libraries that the program loads
    export it, cc -rdynamic, and set NVTX_INJECTION64_PATH and INTEL_LIBITTNOTIFY64 to empty texts: NVTX and ITT then
    look for it in the program. The same goes for libprof.so:
    LD_PRELOAD=libprof.so NVTX_INJECTION64_PATH= INTEL_LIBITTNOTIFY64= PROF_OUTPUT=trace.json ./program

WHAT IT RECORDS

    NVTX                                   prof

    range push, pop                        a scope. Each domain has a stack for each thread, as in NVTX: a pop ends the
                                           newest push of its domain
    range start, end                       a span, with an id that is the range's
    mark                                   an instant
    domain                                 the category; of the default domain "nvtx"
    category that has a name               the category; in a domain "DOMAIN:CATEGORY". Name it before its first use
    colour                                 the colour, without alpha
    payload                                the argument "payload"
    message, also wide and registered      the name, as UTF-8, up to PROF_MAX_TEXT bytes
    name of the calling thread             its name

    Not shown: payloads of schemas, resources, synchronization objects, names of other threads and of CUDA's and
    OpenCL's objects. Of these the metadata "nvtx not shown" lists what occurred.

    ITT                                    prof

    task                                   a scope. A task ends the newest of its domain on the thread
    overlapped task, region                a span
    frame                                  a span with the name of its domain
    event                                  a scope
    marker                                 an instant
    metadata, also text                    an argument of the newest task of the domain
    counter                                a counter
    domain                                 the category; without one "itt"
    pause, resume                          prof_pause(), prof_resume()
    name of the calling thread             its name

    Not shown: synchronization objects and formatted metadata, which "itt not shown" lists; stacks, relations, groups,
    heaps, histograms, times of other clocks, the ids of tasks and their parents.

    A range that begins while nothing is recorded is not recorded, and its pop ends no other one. The functions return
    what NVTX's would: the level of the range in its domain on this thread, from 0 on; a pop -1 where none is open.

    The first 4096 names, each with its domain, category and colour, are sites of their own, as of PROFILE_SCOPE. What
    has a further name is recorded with the name in each event: a push without colour, a mark without payload. A
    start of a further name, and what ITT has of it, is not recorded: "nvtx not shown" and "itt not shown" say so.

    Up to 65,536 ranges are open on a thread; what is deeper ends at once.

WHAT IT COSTS

    A push and its pop take 1.4 times what a PROFILE_SCOPE takes with a registered message, 1.7 with another one of 15
    characters; while nothing is recorded 18 and 24 ns (bench/receive.c on an AMD EPYC, gcc 12 -O2, 2026-11-28).

COMPILE-TIME OPTIONS

    PROF_RECEIVE_NVTX                      receives NVTX. Not with PROF_WITH_NVTX, which sends there
    PROF_RECEIVE_ITT                       receives ITT. Not with PROF_WITH_ITT

Any thread may call NVTX and ITT at any time, also before main, in a child of fork() and while a session starts or
stops. Not in a signal handler. A library that has this header must not be unloaded: both keep its addresses.
PROF_ENABLE=0 leaves everything out. Windows, and NVTX before version 2: nothing is received.

The interfaces are the public ones for tools: of NVTX 2 and 3 NvtxExportTableCallbacks, modules CORE and CORE2; of ITT
3 __itt_api_init(), and the list of its functions by name.
*/
#include "prof.h" /* outside of the include guard, because this may be the inclusion with PROF_IMPLEMENTATION */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_RECEIVE_NVTX) && defined(PROF_WITH_NVTX)
#error "prof_receive.h: PROF_RECEIVE_NVTX would receive what PROF_WITH_NVTX sends: define one of them"
#endif
#if defined(PROF_RECEIVE_ITT) && defined(PROF_WITH_ITT)
#error "prof_receive.h: PROF_RECEIVE_ITT would receive what PROF_WITH_ITT sends: define one of them"
#endif

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && \
    (defined(PROF_RECEIVE_NVTX) || defined(PROF_RECEIVE_ITT)) && \
    !defined(PROF__RECEIVE_IMPLEMENTED) && defined(__GNUC__) && !defined(_WIN32) && !defined(__wasi__) && \
    !defined(__EMSCRIPTEN__)
#define PROF__RECEIVE_IMPLEMENTED

#ifdef PROF__WRAPS_MALLOC /* so that prof's own allocations are not recorded as the program's */
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PROF__RECEIVE_SITES 4096
#define PROF__RECEIVE_RECENT 256
#define PROF__RECEIVE_DEEPEST 65536

typedef void (*prof__receive_function)(void);

/* Puts something at the head of a list that only grows. Lock-free. */
#define PROF__RECEIVE_ADD(list, item)                                                                                \
    do {                                                                                                             \
        (item)->next = PROF__ACQUIRE(list);                                                                          \
        while (!__atomic_compare_exchange_n(list, &(item)->next, item, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))       \
            continue;                                                                                                \
    } while (0)

/* Says in the metadata that one of some kinds of calls occurred, and leaves no trace. Writes it once for each. */
static PROF__COLD void prof__receive_miss(const char *key, const char *const *kinds, int count, uint32_t *missed,
                                          int kind)
{
    char text[256] = "";
    uint32_t all;
    if (PROF__LOAD(missed) >> kind & 1) return;
    all = __atomic_or_fetch(missed, 1u << kind, __ATOMIC_RELAXED);
    for (int i = 0; i < count; ++i) {
        if (!(all >> i & 1)) continue;
        if (*text) strcat(text, ", ");
        strcat(text, kinds[i]);
    }
    prof_set_metadata(key, text);
}

/* What makes a call site: a name in a group of names, and how it looks. kind: as of prof_site. */
typedef struct prof__received {
    const char *text, *category;
    const void *group;
    uint32_t number, color;
    uint16_t kind;
} prof__received;

/* A call site that is never freed. In a tree by the next bit of its hash; by the first child once all bits are used. */
typedef struct PROF__SITE_TYPE prof__receive_site {
    prof_site site;
    const void *group;
    uint32_t number, index; /* number: of the category; index: in the list of all */
    struct prof__receive_site *below[2];
} prof__receive_site;

static struct {
    prof__receive_site *tree, *all[PROF__RECEIVE_SITES];
    prof__receive_site *recent[PROF__RECEIVE_RECENT]; /* by the text's address, which saves its hash */
    uint32_t count;
} prof__receive_sites;

static int prof__receive_is(const prof__receive_site *node, const prof__received *what)
{
    return node->group == what->group && node->number == what->number && node->site.color == what->color &&
           node->site.kind == what->kind && !strcmp(node->site.name, what->text);
}

/* Makes a call site, and puts it into the list of all. Returns NULL if there are too many, or no memory. */
static PROF__COLD prof__receive_site *prof__receive_make(const prof__received *what)
{
    size_t name = strlen(what->text) + 1, category = strlen(what->category) + 1;
    uint32_t index = PROF__LOAD(&prof__receive_sites.count);
    prof__receive_site *node = index < PROF__RECEIVE_SITES
                                   ? (prof__receive_site *)calloc(1, sizeof *node + name + category) : NULL;
    if (!node) return NULL;
    index = PROF__ADD(&prof__receive_sites.count, 1u);
    if (index >= PROF__RECEIVE_SITES) {
        PROF__STORE(&prof__receive_sites.count, (uint32_t)PROF__RECEIVE_SITES);
        free(node);
        return NULL;
    }
    memcpy(node + 1, what->text, name);
    memcpy((char *)(node + 1) + name, what->category, category);
    node->site.name = (const char *)(node + 1);
    node->site.category = node->site.name + name;
    node->site.file = node->site.function = "";
    node->site.color = what->color;
    node->site.level = 1;
    node->site.kind = what->kind;
    node->group = what->group;
    node->number = what->number;
    node->index = index;
    __atomic_store_n(&prof__receive_sites.all[index], node, __ATOMIC_RELEASE);
    return node;
}

static prof__receive_site *prof__receive_find(const prof__received *what)
{
    prof__receive_site **at = &prof__receive_sites.tree, *node, *made = NULL;
    uint32_t hash = prof__hash_add(what->number * 0x9e3779b1u ^ what->color ^ what->kind, what->text,
                                   strlen(what->text));
    for (;; at = &node->below[hash >> 31], hash <<= 1) {
        node = PROF__ACQUIRE(at);
        if (!node) {
            if (!made && !(made = prof__receive_make(what))) return NULL;
            if (__atomic_compare_exchange_n(at, &node, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return made;
        }
        if (prof__receive_is(node, what)) break;
    }
    if (made) { /* another thread was first */
        __atomic_store_n(&prof__receive_sites.all[made->index], (prof__receive_site *)NULL, __ATOMIC_RELEASE);
        free(made);
    }
    return node;
}

/* Returns the call site of a name, made at the first call. Returns NULL for a new name if there are too many, or no
   memory. Lock-free. */
static prof__receive_site *prof__receive_site_of(const prof__received *what)
{
    uintptr_t key = (uintptr_t)what->text >> 2 ^ (uintptr_t)what->group >> 4 ^ what->kind;
    prof__receive_site **recent = &prof__receive_sites.recent[key % PROF__RECEIVE_RECENT];
    prof__receive_site *node = PROF__ACQUIRE(recent);
    if (node && prof__receive_is(node, what)) return node;
    node = prof__receive_find(what);
    if (node) PROF__RELEASE(recent, node);
    return node;
}

/*-- the ranges that are open on a thread --*/

typedef struct prof__receive_range {
    const void *group; /* whose pop ends it */
    prof__token token; /* 0: it is not recorded */
    int level;         /* how many of its group were open before */
} prof__receive_range;

typedef struct prof__receive_ranges {
    uint32_t count, room;
    prof__receive_range open[1]; /* really: room of them */
} prof__receive_ranges;

static PROF__PER_THREAD prof__receive_ranges *prof__receive_open;
static pthread_key_t prof__receive_key;
static pthread_once_t prof__receive_once = PTHREAD_ONCE_INIT;

static void prof__receive_key_make(void)
{
    (void)pthread_key_create(&prof__receive_key, free);
}

/* Makes room for another range. Returns 0 if there are too many, or no memory. */
static PROF__COLD int prof__receive_grow(void)
{
    prof__receive_ranges *before = prof__receive_open, *more;
    uint32_t room = before ? 2 * before->room : 32;
    if (room > PROF__RECEIVE_DEEPEST) return 0;
    more = (prof__receive_ranges *)realloc(before, sizeof *more + room * sizeof more->open[0]);
    if (!more) return 0;
    if (!before) more->count = 0;
    more->room = room;
    pthread_once(&prof__receive_once, prof__receive_key_make);
    (void)pthread_setspecific(prof__receive_key, more);
    prof__receive_open = more;
    return 1;
}

/* Returns the index + 1 of the newest range of a group; 0: none is open. */
static uint32_t prof__receive_newest(const prof__receive_ranges *ranges, const void *group)
{
    uint32_t at = ranges ? ranges->count : 0;
    while (at && ranges->open[at - 1].group != group) --at;
    return at;
}

/* Opens a range. Returns how many of its group were open before; -1 if there is no room. */
static int prof__receive_push(const void *group, prof__token token)
{
    prof__receive_ranges *ranges = prof__receive_open;
    prof__receive_range *range;
    uint32_t outer;
    if ((!ranges || ranges->count == ranges->room) && !prof__receive_grow()) {
        if (token) prof__end(token);
        return -1;
    }
    ranges = prof__receive_open;
    outer = prof__receive_newest(ranges, group);
    range = &ranges->open[ranges->count];
    range->group = group;
    range->token = token;
    range->level = outer ? ranges->open[outer - 1].level + 1 : 0;
    ++ranges->count;
    return range->level;
}

/* Returns that of the newest range of a group; 0: none is open, or it is not recorded. */
static prof__token prof__receive_token(const void *group)
{
    uint32_t at = prof__receive_newest(prof__receive_open, group);
    return at ? prof__receive_open->open[at - 1].token : 0;
}

/* Ends the newest range of a group. Returns its level; -1 if none was open. */
static int prof__receive_pop(const void *group)
{
    prof__receive_ranges *ranges = prof__receive_open;
    uint32_t at = prof__receive_newest(ranges, group);
    prof__receive_range range;
    if (!at) return -1;
    range = ranges->open[--at];
    memmove(ranges->open + at, ranges->open + at + 1, (--ranges->count - at) * sizeof range);
    if (range.token) prof__end(range.token);
    return range.level;
}

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

#ifdef __cplusplus
} /* extern "C" */
#endif

#ifdef PROF__WRAPS_MALLOC
#undef malloc
#undef calloc
#undef realloc
#undef free
#endif
#endif /* PROF_IMPLEMENTATION */

/* This software is available under two licences: choose the one you prefer.

ALTERNATIVE A - MIT No Attribution (MIT-0)

Copyright 2026 the prof authors

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

ALTERNATIVE B - public domain (www.unlicense.org)

This is free and unencumbered software released into the public domain.

Anyone is free to copy, modify, publish, use, compile, sell, or distribute this software, either in source code form or
as a compiled binary, for any purpose, commercial or non-commercial, and by any means.

In jurisdictions that recognize copyright laws, the author or authors of this software dedicate any and all copyright
interest in the software to the public domain. We make this dedication for the benefit of the public at large and to the
detriment of our heirs and successors. We intend this dedication to be an overt act of relinquishment in perpetuity of
all present and future rights to this software under copyright law.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS BE
LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT
OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE. */
