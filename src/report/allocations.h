// report/allocations: What prof_memory() counts with: a hash table of blocks, and rows of pools, scopes and call sites.
#ifndef PROF__REPORT_ALLOCATIONS_H
#define PROF__REPORT_ALLOCATIONS_H
#include "api/read.h"
#include "api/reports.h"
#include "api/values.h"
#include "ground/hash.h"
#include "read/trace.h"

/*-- ALLOCATIONS -------------------------------------------------------------------------------------- >>allocations --
   prof_memory() makes the memory statistics in one walk over the events of all tracks, in order of time. The walk keeps
   a table of the live blocks and of blocks freed recently. The freed ones tell a block that is freed twice from a block
   that was allocated before the trace began. prof_chrome.h walks in this way, too: its memory counters are what each
   step of the walk changes. */

#define PROF__HEAP_LEAST ((size_t)4096)  /* the smallest number of slots of the table of blocks */
#define PROF__HEAP_KEEP ((size_t)262144) /* a table with at most this many slots keeps all freed blocks */
#define PROF__HEAP_DEEP 32               /* at most this many nested memory scopes make up a scope's path */
#define PROF__HEAP_POOLS 256             /* at most this many pools are kept apart at one address */
/* The difference between clocks, in nanoseconds, that the walk tolerates. Threads read the clock without ordering it
   against memory accesses, and on different processors. So when a block passes from one thread to another, the events
   of the second thread may appear up to this much earlier than those of the first. */
#define PROF__ORDER_NS 500

typedef enum prof__heap_state {
    PROF__HEAP_NONE = 0, /* a free slot of the table */
    PROF__HEAP_LIVE,
    PROF__HEAP_FREED,
    PROF__HEAP_UNKNOWN, /* freed while not live, and nothing is known of an earlier free: in freed_unknown */
    PROF__HEAP_TWICE    /* freed again, without an allocation in between: in freed_twice */
} prof__heap_state;

typedef struct prof__heap_block {
    uint64_t address, bytes;
    int64_t ns; /* when the block's last event was; the event is on the track `track` */
    size_t track;
    uint32_t row, pool; /* row: of the call site of the allocation */
    uint32_t owed;      /* how many more frees are expected: allocations seen at this address while it was still live */
    prof__heap_state state;
} prof__heap_block;

typedef enum prof__heap_kind {
    PROF__HEAP_POOL,
    PROF__HEAP_SCOPE,
    PROF__HEAP_SITE,
    PROF__HEAP_NAME /* the run-time name of a scope around allocations; makes no row of the statistics */
} prof__heap_kind;

typedef struct prof__heap_row {
    prof_memory_row about;
    prof__heap_kind kind;
    uint32_t scope, pool; /* rows: of a site: its scope's and pool's; of a scope: scope is the enclosing one's */
    uint32_t around;      /* of a site: the row of the run-time name of the scope around it; 0: that scope has none */
    uint32_t deep;        /* of a scope: how many scopes enclose it */
    char *path;           /* of a scope or a name; owned. A scope's path ends with the scope's own name, */
    size_t name;          /* which begins at this offset */
} prof__heap_row;

/* A memory scope that is open on a track. Allocations count for the innermost one. */
typedef struct prof__heap_enclosing {
    const prof_callsite *site;
    uint32_t scope, name; /* rows of the scope and of its run-time name; name 0: it has the site's name */
} prof__heap_enclosing;

typedef struct prof__heap_stack {
    prof__heap_enclosing *items;
    size_t count, capacity;
} prof__heap_stack;

typedef struct prof__heap {
    prof__heap_block *blocks; /* a hash table; the key is the address */
    size_t capacity, used, live;
    prof__heap_row *rows; /* [0]: allocations outside of all memory scopes */
    size_t row_count, row_capacity;
    prof__read_index index;
    prof__heap_stack *stacks; /* the open memory scopes of each track */
    size_t tracks;
    size_t changed; /* the row of the pool whose live bytes the last step changed, or PROF__NONE; */
    uint64_t bytes; /* and by how many bytes */
    prof_memory_stats stats;
    prof_timeline *timeline;
    prof_status status;
} prof__heap;

/* Returns 1 if the trace has a call site with this role. Without one, callers skip the walk. */
static int prof__has_role(const prof_trace *trace, uint32_t role)
{
    size_t i;
    for (i = 0; i < trace->site_count; i++)
        if (trace->sites[i].about.role == role) return 1;
    return 0;
}

/* Returns 1 if a call site was recorded by its address, so that a function is all that is known of the place. */
static int prof__site_by_address(const prof_callsite *site) { return !site->line && *site->file; }

/* Returns the function that allocates, or "". If the symbols of its module could not be read, that is "module+0x..". */
static const char *prof__memory_function(const prof_callsite *site)
{
    return prof__site_by_address(site) ? site->name : site->function;
}

/*-- rows --*/

typedef struct prof__heap_key {
    prof__heap_kind kind;
    const prof_callsite *site, *around;
    uint32_t scope;
    const char *text; /* of a pool and a name: its name; of a scope: the last part of its name; of a site: the name of
                         the scope around the site, a pointer shared by all rows of that name */
} prof__heap_key;

static int prof__heap_same(const void *owner, size_t item, const void *key)
{
    const prof__heap_row *row = (const prof__heap_row *)owner + item;
    const prof__heap_key *wanted = (const prof__heap_key *)key;
    if (row->kind != wanted->kind) return 0;
    if (row->kind == PROF__HEAP_POOL) return !strcmp(row->about.pool, wanted->text);
    if (row->kind == PROF__HEAP_NAME) return !strcmp(row->path, wanted->text);
    if (row->scope != wanted->scope) return 0;
    if (row->kind == PROF__HEAP_SCOPE) return item && !strcmp(row->path + row->name, wanted->text);
    return row->about.site == wanted->site && row->about.around == wanted->around &&
           row->about.around_name == wanted->text;
}

static char *prof__heap_path(const char *outer, const char *name)
{
    size_t before = strlen(outer);
    char *path = (char *)malloc(before + strlen(name) + 2);
    if (!path) return NULL;
    memcpy(path, outer, before);
    if (before) path[before++] = ':';
    strcpy(path + before, name);
    return path;
}

/* Returns the number of the row with this key. Adds the row if it is new. Returns PROF__NONE without memory. */
static size_t prof__heap_row_of(prof__heap *heap, const prof__heap_key *key)
{
    uint32_t hash = (uint32_t)prof__mix((uint64_t)(uintptr_t)key->site * 31 + (uint64_t)(uintptr_t)key->around * 17 +
                                        key->scope * 5u + (uint64_t)key->kind) +
                    (!key->text                    ? 0
                     : key->kind == PROF__HEAP_SITE ? (uint32_t)prof__mix((uint64_t)(uintptr_t)key->text)
                                                    : prof__text_hash(key->text));
    size_t item = prof__read_find(&heap->index, hash, prof__heap_same, heap->rows, key);
    prof__heap_row *row;
    if (item != PROF__NONE) return item;
    item = PROF__NEW(heap->index, hash, heap->rows, heap->row_capacity, heap->row_count);
    if (item == PROF__NONE) return item;
    row = &heap->rows[item];
    row->kind = key->kind;
    row->about.site = key->site;
    row->about.around = key->around;
    row->scope = key->scope;
    if (key->kind == PROF__HEAP_POOL) row->about.pool = key->text;
    if (key->kind == PROF__HEAP_SITE) row->about.around_name = key->text;
    if (key->kind == PROF__HEAP_NAME) {
        row->path = prof__heap_path("", key->text);
        if (!row->path) return PROF__NONE;
    }
    if (key->kind == PROF__HEAP_SCOPE) {
        const prof__heap_row *outer = &heap->rows[key->scope];
        row->path = prof__heap_path(outer->path, key->text);
        if (!row->path) return PROF__NONE;
        row->name = strlen(row->path) - strlen(key->text);
        row->deep = outer->deep + 1;
    }
    return item;
}

static void prof__heap_row_add(prof__heap_row *row, uint64_t bytes, int64_t ns)
{
    prof_memory_row *about = &row->about;
    about->count++;
    about->bytes += bytes;
    about->live_count++;
    about->live_bytes += bytes;
    if (about->live_bytes <= about->peak_bytes) return;
    about->peak_bytes = about->live_bytes;
    about->peak_ns = ns;
}

static void prof__heap_count(prof__heap *heap, const prof__heap_block *block, int64_t ns)
{
    const prof__heap_row *row = &heap->rows[block->row];
    prof__heap_row_add(&heap->rows[block->row], block->bytes, ns);
    prof__heap_row_add(&heap->rows[row->scope], block->bytes, ns);
    prof__heap_row_add(&heap->rows[row->pool], block->bytes, ns);
    heap->live++;
    heap->changed = row->pool;
    heap->bytes = block->bytes;
}

static void prof__heap_uncount(prof__heap *heap, const prof__heap_block *block)
{
    uint32_t each[3], i;
    each[0] = block->row;
    each[1] = heap->rows[block->row].scope;
    each[2] = heap->rows[block->row].pool;
    for (i = 0; i < 3; i++) {
        heap->rows[each[i]].about.live_count--;
        heap->rows[each[i]].about.live_bytes -= block->bytes;
    }
    heap->live--;
    heap->changed = each[2];
    heap->bytes = block->bytes;
}

/*-- blocks --*/

static size_t prof__heap_slot(const prof__heap *heap, uint64_t address)
{
    return (size_t)prof__mix(address * 0x9E3779B97F4A7C15u) & (heap->capacity - 1);
}

/* Returns the block of `pool` at an address, live or freed. If that pool has no live block there and `any` is 1,
   returns the newest live block of the other pools, if there is one. Returns NULL if the table has no block of the
   address. */
static prof__heap_block *prof__heap_find(const prof__heap *heap, uint64_t address, uint32_t pool, int any)
{
    prof__heap_block *own = NULL, *other = NULL;
    size_t at = prof__heap_slot(heap, address);
    for (; heap->blocks[at].state; at = (at + 1) & (heap->capacity - 1)) {
        prof__heap_block *block = &heap->blocks[at];
        if (block->address != address) continue;
        if (block->pool == pool)
            own = block;
        else if (block->state == PROF__HEAP_LIVE && (!other || other->ns <= block->ns))
            other = block;
    }
    return any && other && (!own || own->state != PROF__HEAP_LIVE) ? other : own;
}

/* Adds a block. An address may have PROF__HEAP_POOLS blocks, because a search visits all blocks of an address. At an
   address with more, the new block replaces one; if that one is live, it counts as not freed. */
static prof__heap_block *prof__heap_put(prof__heap *heap, const prof__heap_block *block)
{
    size_t at = prof__heap_slot(heap, block->address), same = 0;
    for (; heap->blocks[at].state; at = (at + 1) & (heap->capacity - 1))
        if (heap->blocks[at].address == block->address && ++same == PROF__HEAP_POOLS) break;
    heap->used += !heap->blocks[at].state;
    if (heap->blocks[at].state == PROF__HEAP_LIVE) {
        prof__heap_uncount(heap, &heap->blocks[at]);
        heap->stats.not_freed++;
    }
    heap->blocks[at] = *block;
    return &heap->blocks[at];
}

/* Makes the table larger, or copies the live blocks alone to one of equal size. */
static int prof__heap_grow(prof__heap *heap)
{
    prof__heap_block *old = heap->blocks;
    size_t count = heap->capacity, i;
    int all = count < PROF__HEAP_KEEP;
    if (all || heap->live > count / 2) heap->capacity = count ? count * 2 : PROF__HEAP_LEAST;
    heap->blocks = NULL;
    if (heap->capacity <= (size_t)-1 / sizeof *old)
        heap->blocks = (prof__heap_block *)calloc(heap->capacity, sizeof *old);
    if (!heap->blocks) {
        heap->blocks = old;
        heap->capacity = count;
        return 0;
    }
    heap->used = 0;
    for (i = 0; i < count; i++)
        if (old[i].state == PROF__HEAP_LIVE || (all && old[i].state)) prof__heap_put(heap, &old[i]);
    free(old);
    return 1;
}

/* Adds a block for a pool that has none at this address. Returns NULL without memory. */
static prof__heap_block *prof__heap_new(prof__heap *heap, uint64_t address, uint32_t pool)
{
    prof__heap_block block;
    if (heap->used >= heap->capacity / 4 * 3 && !prof__heap_grow(heap)) return NULL;
    memset(&block, 0, sizeof block);
    block.address = address;
    block.pool = pool;
    block.state = PROF__HEAP_FREED;
    return prof__heap_put(heap, &block);
}

#endif /* PROF__REPORT_ALLOCATIONS_H */
