// ground/hash: Arrays on the heap that grow, and a hash index over the items of such an array.
#ifndef PROF__GROUND_HASH_H
#define PROF__GROUND_HASH_H
#include "api/markup.h"
#include "ground/clock.h"

#define PROF__NONE ((size_t)-1)
#define PROF__NONE32 0xFFFFFFFFu

/* A hash index (open addressing, linear probing) from keys to items. It stores item numbers only. The owner keeps the
   items in an array, and compares an item with a key. */
typedef struct prof__read_slot {
    uint32_t hash, item; /* item: its number + 1; 0: a free slot */
} prof__read_slot;

typedef struct prof__read_index {
    prof__read_slot *slots;
    size_t capacity, used; /* capacity: a power of two, or 0 */
} prof__read_index;

typedef int prof__read_equal(const void *owner, size_t item, const void *key);

/* Makes room in an array on the heap for one more element. Returns 0, and leaves the array unchanged, if there is no
   memory. */
#define PROF__ROOM(array, capacity, count) \
    ((count) < (capacity) || prof__more_room(&(array), &(capacity), sizeof *(array)))
static int prof__more_room(void *array, size_t *capacity, size_t element)
{
    size_t wanted = *capacity < 8 ? 16 : *capacity + *capacity / 2;
    void *old;
    if (wanted > (size_t)-1 / 2 / element) return 0;
    memcpy(&old, array, sizeof old); /* array: the address of a pointer to any type of object */
    old = realloc(old, wanted * element);
    if (!old) return 0;
    memcpy(array, &old, sizeof old);
    *capacity = wanted;
    return 1;
}

/* Adds a zeroed element to an array on the heap. Returns the element, or NULL if there is no memory. Slower than
   PROF__ROOM. */
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

/* Returns a seed for hashes that is random for each process, so that nobody can craft an image whose names all collide.
   Never returns 0. Hashes decide no order, so output does not depend on the seed. */
static uint64_t prof__read_seed(void)
{
    uint64_t seed = PROF__LOAD(&prof__read_seed_now);
    return PROF__LIKELY(seed) ? seed : prof__read_seed_make();
}

/* Makes all bits of a hash depend on each other. */
static uint64_t prof__scatter(uint64_t h)
{
    h = (h ^ h >> 32) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 29;
}

/* Returns a hash of a number, which depends on the process's seed. */
static uint64_t prof__mix(uint64_t h)
{
    return prof__scatter((h ^ prof__read_seed()) * 0x9E3779B97F4A7C15u);
}

/* Returns a hash of a text that is as good as the text itself, because it depends on the process's seed. Takes eight
   bytes at a time: names have 10 to 30. Never returns 0. */
static uint64_t prof__text_key(const char *text)
{
    size_t size = strlen(text);
    uint64_t hash = prof__read_seed() ^ size, word;
    for (; size >= sizeof word; size -= sizeof word, text += sizeof word) {
        memcpy(&word, text, sizeof word);
        hash = prof__scatter(hash ^ word);
    }
    for (word = 0; size; size--) word = word << 8 | (unsigned char)*text++;
    return prof__mix(hash ^ word) | (uint64_t)1 << 63;
}

/* Returns a hash of a number, and of the text that has this prof__text_key(); 0: there is no text. Takes no time for a
   text, whose key is as good as random. */
static inline uint64_t prof__mix_key(uint64_t number, uint64_t key)
{
    return key ? key ^ number * 0x9E3779B97F4A7C15u : prof__mix(number);
}

/* Returns a hash of a text, which depends on the process's seed. */
static uint32_t prof__text_hash(const char *text) { return (uint32_t)prof__text_key(text); }

/* Returns the item that `equal` finds equal to the key, or PROF__NONE. */
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

/* An item with this hash is looked for soon: begins to load its place in the table, which takes 30 to 150 ns where the
   table is too large for the processor's caches. */
static inline void prof__read_soon(const prof__read_index *index, uint32_t hash)
{
    if (index->capacity) PROF__SOON(&index->slots[hash & (index->capacity - 1)]);
}

/* Returns the item that prof__read_find() probably returns, without looking at items. */
static inline size_t prof__read_guess(const prof__read_index *index, uint32_t hash)
{
    const prof__read_slot *slot = index->capacity ? &index->slots[hash & (index->capacity - 1)] : NULL;
    return slot && slot->item && slot->hash == hash ? slot->item - 1 : PROF__NONE;
}

/* Adds an item for which there is room. item: its number + 1. */
static void prof__read_put(prof__read_index *index, uint32_t hash, uint32_t item)
{
    size_t at = hash & (index->capacity - 1);
    while (index->slots[at].item) at = (at + 1) & (index->capacity - 1);
    index->slots[at].hash = hash;
    index->slots[at].item = item;
    index->used++;
}

/* Removes all items. count: of the owner's array. */
static void prof__read_forget(prof__read_index *index, size_t *count)
{
    if (index->capacity) memset(index->slots, 0, index->capacity * sizeof *index->slots);
    index->used = *count = 0;
}

/* Makes a larger table with room for count more items. Returns 0, and leaves the table unchanged, if there is no
   memory. */
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

/* Makes room for count more items, so that prof__read_put() can follow count times. Returns 0 if there is no memory. */
static int prof__read_reserve(prof__read_index *index, size_t count)
{
    return index->used + count <= index->capacity / 4 * 3 || prof__read_grow(index, count);
}

/* Adds an item. Returns 0 if there is no memory, or too many items. */
static int prof__read_add(prof__read_index *index, uint32_t hash, size_t item)
{
    if (item >= PROF__NONE32 - 1 || !prof__read_reserve(index, 1)) return 0;
    prof__read_put(index, hash, (uint32_t)item + 1);
    return 1;
}

/* Adds a zeroed element to an array on the heap, and to the index of that array under this hash. Returns the number of
   the element, or PROF__NONE if there is no memory. */
#define PROF__NEW(index, hash, array, capacity, count) \
    prof__new_item(&(index), hash, &(array), &(capacity), &(count), sizeof *(array))
static size_t prof__new_item(prof__read_index *index, uint32_t hash, void *array, size_t *capacity, size_t *count,
                             size_t element)
{
    return prof__more(array, capacity, count, element) && prof__read_add(index, hash, *count - 1) ? *count - 1
                                                                                                 : PROF__NONE;
}

#endif /* PROF__GROUND_HASH_H */
