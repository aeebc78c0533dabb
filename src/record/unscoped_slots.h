// record/unscoped_slots: Slots for the unscoped begins (PROFILE_BEGIN) that are open on a track.
#ifndef PROF__RECORD_UNSCOPED_SLOTS_H
#define PROF__RECORD_UNSCOPED_SLOTS_H
#include "api/markup.h"
#include "ground/threads.h"
#include "record/thread.h"

/*-- places of open PROFILE_BEGINs --
   The first 32 slots are in the track's own record. More are in blocks, each twice as large as the one before, which
   are mapped when needed. A track keeps its blocks until its thread ends or its fiber is destroyed; then another track
   may have them. Slots never move, because a signal handler may be using them. */
#define PROF__UNSCOPED_OWN (sizeof((prof_fiber *)0)->unscoped / sizeof *((prof_fiber *)0)->unscoped)

typedef struct prof__unscoped_slot {
    uint32_t *name;
    prof__token *token;
} prof__unscoped_slot;

/* In these builds a track has no more than its own 32 slots. */
#if defined(PROF_FREESTANDING) || defined(PROF_MINIMAL) || defined(__wasi__)
#define PROF__UNSCOPED_MAX PROF__UNSCOPED_OWN
static prof__unscoped_slot prof__unscoped_beyond(const prof_fiber *track, uint32_t at)
{
    prof__unscoped_slot none = {NULL, NULL};
    (void)track, (void)at;
    return none;
}
static int prof__unscoped_grow(prof_fiber *track) { return (void)track, 0; }
static void prof__unscoped_clear(prof_fiber *track) { (void)track; }
static void prof__unscoped_release(prof_fiber *track) { (void)track; }
static void prof__unscoped_unmap(void) {}
#else
/* The most slots of a track. A program with more open begins has forgotten PROFILE_END. */
#define PROF__UNSCOPED_BLOCKS 11u
#define PROF__UNSCOPED_MAX                                                                                             \
    (PROF__UNSCOPED_OWN + ((1u << PROF__UNSCOPED_BLOCKS) - 1) * 4096 / sizeof(prof__unscoped_entry))

typedef struct prof__unscoped_entry {
    prof__token token;
    uint32_t name, spare;
} prof__unscoped_entry;
struct prof__unscoped_block {
    struct prof__unscoped_block *above; /* the next block of the track */
    struct prof__unscoped_block *next; /* the next block of all */
    uint32_t count, taken;           /* count: entries of the block; taken: 1: a track has it */
    prof__unscoped_entry *entries;
};
static struct prof__unscoped_block *prof__unscoped_blocks; /* the list of all blocks */

#ifdef _WIN32
static void *prof__unscoped_map(size_t size)
{
    return VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}
#else
static void *prof__unscoped_map(size_t size)
{
    void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}
#endif

static struct prof__unscoped_block *prof__unscoped_block_take(uint32_t count)
{
    struct prof__unscoped_block *block = PROF__ACQUIRE(&prof__unscoped_blocks);
    size_t size = sizeof *block + count * sizeof *block->entries;
    while (block && (block->count != count || __atomic_exchange_n(&block->taken, 1u, __ATOMIC_ACQUIRE)))
        block = block->next;
    if (block) return block;
    block = (struct prof__unscoped_block *)prof__unscoped_map(size);
    if (!block) return NULL;
    block->count = count;
    block->taken = 1;
    block->entries = (prof__unscoped_entry *)(void *)(block + 1);
    block->next = PROF__LOAD(&prof__unscoped_blocks);
    while (!__atomic_compare_exchange_n(&prof__unscoped_blocks, &block->next, block, 0, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED)) {
    }
    return block;
}

/* Returns a slot beyond the track's own, or null pointers if its block does not exist yet. */
static PROF__COLD prof__unscoped_slot prof__unscoped_beyond(const prof_fiber *track, uint32_t at)
{
    prof__unscoped_slot place = {NULL, NULL};
    struct prof__unscoped_block *block = PROF__ACQUIRE(&track->unscoped_more);
    for (at -= (uint32_t)PROF__UNSCOPED_OWN; block && at >= block->count; block = PROF__ACQUIRE(&block->above))
        at -= block->count;
    if (!block) return place;
    place.name = &block->entries[at].name;
    place.token = &block->entries[at].token;
    return place;
}

/* Adds a block of slots to a track. Returns 0 if the track has the most blocks, or there is no memory. If a signal
   handler has added a block meanwhile, this one is given back. */
static PROF__COLD int prof__unscoped_grow(prof_fiber *track)
{
    struct prof__unscoped_block **link = &track->unscoped_more, *none = NULL, *block;
    uint32_t blocks = 0;
    for (; (block = PROF__ACQUIRE(link)) != NULL; link = &block->above) ++blocks;
    if (blocks == PROF__UNSCOPED_BLOCKS) return 0;
    PROF__ERRNO_SAVE();
    block = prof__unscoped_block_take((4096u << blocks) / (uint32_t)sizeof *block->entries);
    PROF__ERRNO_RESTORE();
    if (!block) return 0;
    PROF__STORE(&block->above, none);
    for (uint32_t i = 0; i < block->count; ++i) block->entries[i].name = PROF__UNSCOPED_FREE;
    if (!__atomic_compare_exchange_n(link, &none, block, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        PROF__RELEASE(&block->taken, 0u);
    return 1;
}

static void prof__unscoped_clear(prof_fiber *track)
{
    for (struct prof__unscoped_block *block = track->unscoped_more; block; block = block->above)
        for (uint32_t i = 0; i < block->count; ++i) block->entries[i].name = PROF__UNSCOPED_FREE;
}

/* Gives the blocks of a track back, at the end of its thread or fiber. Only the track's own slots remain. */
static void prof__unscoped_release(prof_fiber *track)
{
    struct prof__unscoped_block *block = track->unscoped_more, *above;
    track->unscoped_more = NULL;
    if (track->unscoped_count > PROF__UNSCOPED_OWN) track->unscoped_count = (uint32_t)PROF__UNSCOPED_OWN;
    for (; block; block = above) {
        above = block->above;
        PROF__RELEASE(&block->taken, 0u);
    }
}

/* Unmaps all blocks. Called when the library is unloaded, when no macro uses a slot any more. */
static void prof__unscoped_unmap(void)
{
    struct prof__unscoped_block *block = prof__unscoped_blocks, *next;
    prof__unscoped_blocks = NULL;
    for (; block; block = next) {
        next = block->next;
#ifdef _WIN32
        VirtualFree(block, 0, MEM_RELEASE);
#else
        munmap((void *)block, sizeof *block + block->count * sizeof *block->entries);
#endif
    }
}
#endif

static inline prof__unscoped_slot prof__unscoped_at(prof_fiber *track, uint32_t at)
{
    if (PROF__UNLIKELY(at >= PROF__UNSCOPED_OWN)) return prof__unscoped_beyond(track, at);
    prof__unscoped_slot place = {&track->unscoped_name[at], &track->unscoped[at]};
    return place;
}

/* Returns the name in a slot, or PROF__UNSCOPED_FREE if there is no such slot. */
static inline uint32_t prof__unscoped_name(prof_fiber *track, uint32_t at)
{
    prof__unscoped_slot place = prof__unscoped_at(track, at);
    return place.name ? PROF__LOAD(place.name) : PROF__UNSCOPED_FREE;
}

#endif /* PROF__RECORD_UNSCOPED_SLOTS_H */
