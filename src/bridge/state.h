// bridge/state: What tools know of a program: domains, names and open scopes. Keeps them in memory of its own.
#ifndef PROF__BRIDGE_STATE_H
#define PROF__BRIDGE_STATE_H
#include "bridge/tools.h"
#include "api/markup.h"
#include "ground/base.h"

/*-- what the tools know: domains and names --*/

/* Each category has a domain, and each name in a category has an entry. Neither is ever freed, because a tool keeps
   their handles. Finding them takes no lock; making them takes prof__bridge_lock. */
typedef struct prof__bridge_domain {
    struct prof__bridge_domain *next;
    const char *category;
#ifdef PROF_WITH_ITT
    __itt_domain *itt;
#endif
#ifdef PROF_WITH_NVTX
    nvtxDomainHandle_t nvtx;
#endif
} prof__bridge_domain;

typedef struct prof__bridge_name {
    struct prof__bridge_name *next; /* the next in the same bucket */
    prof__bridge_domain *domain;
    const char *text;
    uint32_t hash;
    int in_frame; /* 1: a frame of this name has begun; under prof__bridge_lock */
#ifdef PROF_WITH_ITT
    __itt_string_handle *itt;
    __itt_domain *itt_frames;
    uint64_t itt_frame;
    __itt_event itt_event;         /* 0: not made yet */
    __itt_counter itt_counters[3]; /* for int64, double and uint64 values */
    int itt_overlaps;              /* 1: a task of this name has overlapped with scopes */
    uint64_t itt_elsewhere;        /* the id of the last such task that has ended on another thread; 0: none */
#endif
#ifdef PROF_WITH_NVTX
    nvtxStringHandle_t nvtx;
    nvtxRangeId_t nvtx_frame;
#endif
} prof__bridge_name;

/* An open scope, as it was sent to the tools. */
typedef struct prof__bridge_scope {
    prof__token token;
    prof__bridge_name *name;
    uint32_t color;
    uint16_t role, unscoped; /* unscoped: 1: begun by PROFILE_BEGIN */
    uint64_t task;        /* the id of a task of prof_task_create(), which only ITT shows as a scope; 0: a scope */
} prof__bridge_scope;

/* The open scopes of a thread or fiber. */
typedef struct prof__bridge_stack {
    struct prof__bridge_stack *next; /* the next in the list of unused stacks */
    uint32_t depth, over;            /* over: how many open scopes are beyond the last one in `open` */
    prof__bridge_scope open[PROF_BRIDGE_DEPTH];
} prof__bridge_stack;

#define PROF__BRIDGE_BUCKETS 4096

static int prof__bridge_lock;
static uint32_t prof__bridge_tools; /* bits of the tools that are attached */
#define PROF__BRIDGE_ITT 1u
#define PROF__BRIDGE_NVTX 2u
static uint32_t prof__bridge_paused, prof__bridge_name_count;
static prof__bridge_domain *prof__bridge_domains;
static prof__bridge_name *prof__bridge_names[PROF__BRIDGE_BUCKETS];
static prof__bridge_name *prof__bridge_sites[PROF__BRIDGE_BUCKETS]; /* a cache: see prof__bridge_name_of() */
static prof__bridge_stack *prof__bridge_stacks_free;

/* Memory for domains and names. Comes from the system, not malloc(), because a signal handler may be the first to use a
   call site. The caller holds prof__bridge_lock. */
typedef struct prof__bridge_pages {
    struct prof__bridge_pages *next;
    size_t size;
} prof__bridge_pages;
static prof__bridge_pages *prof__bridge_memory;
static char *prof__bridge_at;
static size_t prof__bridge_left;

static void *prof__bridge_pages_take(size_t size)
{
#ifdef _WIN32
    return calloc(1, size);
#else
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
#endif
}

static void *prof__bridge_new(size_t size) /* returns zeroed memory */
{
    size = (size + 15) & ~(size_t)15;
    if (prof__bridge_left < size) {
        size_t all = size + 16 > 65536 ? size + 16 : 65536;
        prof__bridge_pages *pages = (prof__bridge_pages *)prof__bridge_pages_take(all);
        if (!pages) return NULL;
        pages->next = prof__bridge_memory;
        pages->size = all;
        prof__bridge_memory = pages;
        prof__bridge_at = (char *)pages + 16;
        prof__bridge_left = all - 16;
    }
    void *memory = prof__bridge_at;
    prof__bridge_at += size;
    prof__bridge_left -= size;
    return memory;
}

static const char *prof__bridge_copy(const char *text)
{
    size_t size = prof__length(text) + 1;
    char *copy = (char *)prof__bridge_new(size);
    if (copy) prof__copy(copy, text, size);
    return copy;
}

#endif /* PROF__BRIDGE_STATE_H */
