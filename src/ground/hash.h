// ground/hash: Arrays that grow, and an index by hash.
#ifndef PROF__GROUND_HASH_H
#define PROF__GROUND_HASH_H
#include "api/markup.h"
#include "ground/clock.h"

#define PROF__NONE ((size_t)-1)
#define PROF__NONE32 0xFFFFFFFFu

/* A hash index over items that the owner keeps in an array. */
typedef struct prof__read_slot {
    uint32_t hash, item; /* item + 1, 0: free */
} prof__read_slot;

typedef struct prof__read_index {
    prof__read_slot *slots;
    size_t capacity, used; /* capacity: a power of two, or 0 */
} prof__read_index;

typedef int prof__read_equal(const void *owner, size_t item, const void *key);

/* Makes space for one more element of an array on the heap. Returns 0 without memory; the array is unchanged then. */
#define PROF__ROOM(array, capacity, count) \
    ((count) < (capacity) || prof__more_room(&(array), &(capacity), sizeof *(array)))
static int prof__more_room(void *array, size_t *capacity, size_t element)
{
    size_t wanted = *capacity < 8 ? 16 : *capacity + *capacity / 2;
    void *old;
    if (wanted > (size_t)-1 / 2 / element) return 0;
    memcpy(&old, array, sizeof old); /* array points to a pointer of some type */
    old = realloc(old, wanted * element);
    if (!old) return 0;
    memcpy(array, &old, sizeof old);
    *capacity = wanted;
    return 1;
}

/* Adds an element, all zero, to an array on the heap. Returns it, or NULL without memory. For what runs seldom. */
#define PROF__MORE(array, capacity, count) prof__more(&(array), &(capacity), &(count), sizeof *(array))
static void *prof__more(void *array, size_t *capacity, size_t *count, size_t element)
{
    char *items;
    if (*count >= *capacity && !prof__more_room(array, capacity, element)) return NULL;
    memcpy(&items, array, sizeof items);
    return memset(items + (*count)++ * element, 0, element);
}

static uint64_t prof__read_seed_now; /* 0: not chosen yet */

static uint64_t prof__read_seed_make(void)
{
    uint64_t now = 0, made, *seed = &prof__read_seed_now;
    made = (prof__monotonic() ^ PROF__ADDRESS(&made) << 20 ^ PROF__ADDRESS(seed) << 40) * 0x9E3779B97F4A7C15u | 1;
    return __atomic_compare_exchange_n(seed, &now, made, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ? made : now;
}

/* Returns the process's own seed for hashes, so that nobody can make an image whose names collide. It is never 0. No
   output depends on it. */
static uint64_t prof__read_seed(void)
{
    uint64_t seed = PROF__LOAD(&prof__read_seed_now);
    return PROF__LIKELY(seed) ? seed : prof__read_seed_make();
}

static uint64_t prof__mix(uint64_t h)
{
    h = (h ^ prof__read_seed()) * 0x9E3779B97F4A7C15u;
    h = (h ^ h >> 32) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 29;
}

static uint32_t prof__text_hash(const char *text)
{
    uint64_t h = 0xCBF29CE484222325u ^ prof__read_seed();
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 0x100000001B3u;
    return (uint32_t)prof__mix(h);
}

static size_t prof__read_find(const prof__read_index *index, uint32_t hash, prof__read_equal *equal, const void *owner,
                              const void *key)
{
    size_t at;
    if (!index->capacity) return PROF__NONE;
    for (at = hash & (index->capacity - 1); index->slots[at].item; at = (at + 1) & (index->capacity - 1))
        if (index->slots[at].hash == hash && equal(owner, index->slots[at].item - 1, key))
            return index->slots[at].item - 1;
    return PROF__NONE;
}

static void prof__read_put(prof__read_index *index, uint32_t hash, uint32_t item)
{
    size_t at = hash & (index->capacity - 1);
    while (index->slots[at].item) at = (at + 1) & (index->capacity - 1);
    index->slots[at].hash = hash;
    index->slots[at].item = item;
    index->used++;
}

/* Makes a larger table, for count more items. Returns 0 without memory. */
static int prof__read_grow(prof__read_index *index, size_t count)
{
    prof__read_index larger;
    size_t i;
    memset(&larger, 0, sizeof larger);
    larger.capacity = index->capacity ? index->capacity : 16;
    while (larger.capacity / 4 * 3 < index->used + count) {
        if (larger.capacity > (size_t)-1 / 4 / sizeof *larger.slots) return 0;
        larger.capacity *= 2;
    }
    larger.slots = (prof__read_slot *)calloc(larger.capacity, sizeof *larger.slots);
    if (!larger.slots) return 0;
    for (i = 0; i < index->capacity; i++)
        if (index->slots[i].item) prof__read_put(&larger, index->slots[i].hash, index->slots[i].item);
    free(index->slots);
    *index = larger;
    return 1;
}

/* Makes space for count more items. Returns 0 without memory. */
static int prof__read_reserve(prof__read_index *index, size_t count)
{
    return index->used + count <= index->capacity / 4 * 3 || prof__read_grow(index, count);
}

static int prof__read_add(prof__read_index *index, uint32_t hash, size_t item)
{
    if (item >= PROF__NONE32 - 1 || !prof__read_reserve(index, 1)) return 0;
    prof__read_put(index, hash, (uint32_t)item + 1);
    return 1;
}

/* Does the same for an array that has an index. Returns the element's number, or PROF__NONE without memory. */
#define PROF__NEW(index, hash, array, capacity, count) \
    prof__new_item(&(index), hash, &(array), &(capacity), &(count), sizeof *(array))
static size_t prof__new_item(prof__read_index *index, uint32_t hash, void *array, size_t *capacity, size_t *count,
                             size_t element)
{
    return prof__more(array, capacity, count, element) && prof__read_add(index, hash, *count - 1) ? *count - 1
                                                                                                 : PROF__NONE;
}

#endif /* PROF__GROUND_HASH_H */
