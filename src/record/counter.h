// record/counter: The shared counters behind PROFILE_COUNTER_ADD, _SUB and _SET: one number for each name. Atomic,
// without a lock.
#ifndef PROF__RECORD_COUNTER_H
#define PROF__RECORD_COUNTER_H
#include "api/markup.h"
#include "ground/instances.h"
#include "ground/lock.h"
#include "ground/numbers.h"
#include "ground/signals.h"
#include "ground/threads.h"
#include "record/meta.h"
#include "record/ring.h"
#include "record/self.h"
#include "record/value.h"

/* 1 if one instruction compares and exchanges 64 bits. Most 32-bit processors have such an instruction, too. */
#ifndef PROF__SHARED_COUNTER_WIDE
#if PROF__WIDE || (!defined(PROF_FREESTANDING) && __GCC_ATOMIC_LLONG_LOCK_FREE == 2) || defined(_MSC_VER)
#define PROF__SHARED_COUNTER_WIDE 1
#else
#define PROF__SHARED_COUNTER_WIDE 0
#endif
#endif
#ifdef __GNUC__
#define PROF__SHARED_COUNTER_ALIGNED __attribute__((__aligned__(8)))
#else
#define PROF__SHARED_COUNTER_ALIGNED
#endif

enum { PROF__SHARED_COUNTER_INT = 0, PROF__SHARED_COUNTER_DOUBLE, PROF__SHARED_COUNTER_UINT };

/* A shared counter: the number that all call sites of the same category, name and unit change. */
typedef struct prof__shared_counter {
    uintptr_t key; /* hash of category, name and unit; 0: the entry is free */
    uint64_t bits PROF__SHARED_COUNTER_ALIGNED;
    uint32_t real; /* PROF__SHARED_COUNTER_...: the type of the number in bits */
    int busy;      /* a lock, used only if no instruction exchanges 64 bits */
} prof__shared_counter;

#define PROF__SHARED_COUNTERS PROF__LESS(1024, 16)
#if defined(PROF_FREESTANDING) || defined(_WIN32) || defined(__wasi__)
static prof__shared_counter prof__shared_counters[PROF__SHARED_COUNTERS]; /* a hash table of the macros' counters */
static prof__shared_counter *prof__shared_counters_get(void) { return prof__shared_counters; }
#else
static prof__shared_counter *prof__shared_counters; /* the same table, mapped at first use, maybe in a signal handler */
static prof__shared_counter *prof__shared_counters_get(void)
{
    size_t size = PROF__SHARED_COUNTERS * sizeof *prof__shared_counters;
    prof__shared_counter *shared_counters = PROF__ACQUIRE(&prof__shared_counters), *made;
    if (shared_counters) return shared_counters;
    PROF__ERRNO_SAVE();
    made = (prof__shared_counter *)mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == (prof__shared_counter *)MAP_FAILED)
        made = NULL;
    else if (!__atomic_compare_exchange_n(&prof__shared_counters, &shared_counters, made, 0, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE))
        munmap((void *)made, size);
    PROF__ERRNO_RESTORE();
    return shared_counters ? shared_counters : made;
}

/* Unmaps the table. Called when the library is unloaded, when no macro can count any more. */
static void prof__shared_counters_unmap(void)
{
    if (prof__shared_counters)
        munmap((void *)prof__shared_counters, PROF__SHARED_COUNTERS * sizeof *prof__shared_counters);
    prof__shared_counters = NULL;
}
#endif

static int64_t prof__count_next(int64_t now, int how, int64_t value)
{
    if (how == PROF__COUNT_ADD) {
        if (value > 0 && now > INT64_MAX - value) return INT64_MAX;
        return value < 0 && now < INT64_MIN - value ? INT64_MIN : now + value;
    }
    if (how == PROF__COUNT_SUB) {
        if (value < 0 && now > INT64_MAX + value) return INT64_MAX;
        return value > 0 && now < INT64_MIN + value ? INT64_MIN : now - value;
    }
    return value;
}

/* Returns the integer `bits` of *type plus `size`, or minus size if less is 1. Stays at the ends of its range. An
   unsigned counter reaches 2^64 - 1, and so does one to which an unsigned number is added (whole is 1): then sets *type
   to PROF__SHARED_COUNTER_UINT. */
static uint64_t prof__count_wide(uint64_t bits, uint32_t *type, int less, uint64_t size, int whole)
{
    int negative = *type == PROF__SHARED_COUNTER_INT && bits >> 63;
    uint64_t now = negative ? 0 - bits : bits;
    if (negative == less) {
        now = now + size < size ? UINT64_MAX : now + size;
    } else if (now >= size) {
        now -= size;
    } else {
        now = size - now;
        negative = less;
    }
    if (negative) {
        *type = PROF__SHARED_COUNTER_INT;
        return now > (uint64_t)INT64_MAX ? (uint64_t)INT64_MIN : 0 - now;
    }
    if (*type == PROF__SHARED_COUNTER_INT && !whole && now > (uint64_t)INT64_MAX) now = (uint64_t)INT64_MAX;
    if (now > (uint64_t)INT64_MAX) *type = PROF__SHARED_COUNTER_UINT;
    return now;
}

#ifndef PROF__NO_DOUBLE
static double prof__count_next_double(double now, int how, double value)
{
    return how == PROF__COUNT_ADD ? now + value : how == PROF__COUNT_SUB ? now - value : value;
}
#endif

/* Without the counter's lock the two halves may be of different numbers. prof__shared_counter_swap() finds that out. */
static uint64_t prof__shared_counter_load(const prof__shared_counter *shared)
{
#if PROF__SHARED_COUNTER_WIDE
    return PROF__LOAD(&shared->bits);
#else
    const prof__half *half = (const prof__half *)&shared->bits;
    return (uint64_t)PROF__LOAD(half + !PROF__LOW_HALF) << 32 | PROF__LOAD(half + PROF__LOW_HALF);
#endif
}

enum { PROF__SHARED_COUNTER_AGAIN = 0, PROF__SHARED_COUNTER_DONE, PROF__SHARED_COUNTER_GIVEN_UP };

/* Compares and exchanges: if bits are `before`, sets them to `after`; else sets *before to the present bits and returns
   PROF__SHARED_COUNTER_AGAIN. Gives up if it cannot get the lock for long: an interrupt has stopped the owner, or the
   owner was killed. (A signal handler cannot stop the owner, because the lock blocks signals.) */
static int prof__shared_counter_swap(prof__shared_counter *shared, uint64_t *before, uint64_t after)
{
#if PROF__SHARED_COUNTER_WIDE
    return __atomic_compare_exchange_n(&shared->bits, before, after, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
               ? PROF__SHARED_COUNTER_DONE : PROF__SHARED_COUNTER_AGAIN;
#else
    prof__signals signals;
    if (!prof__lock_enter(&shared->busy, &signals)) return PROF__SHARED_COUNTER_GIVEN_UP;
    prof__half *half = (prof__half *)&shared->bits;
    uint64_t now = prof__shared_counter_load(shared);
    int same = now == *before;
    if (same) {
        PROF__STORE(half + PROF__LOW_HALF, (uint32_t)after);
        PROF__STORE(half + !PROF__LOW_HALF, (uint32_t)(after >> 32));
    }
    *before = now;
    prof__lock_leave(&shared->busy, &signals);
    return same ? PROF__SHARED_COUNTER_DONE : PROF__SHARED_COUNTER_AGAIN;
#endif
}

#ifndef PROF__NO_FORK
/* Called in the child of a fork(). Only the forking thread exists there, so nobody would release the locks of
   others. */
static void prof__shared_counters_unlock(void)
{
    for (size_t i = 0; prof__shared_counters && i < PROF__SHARED_COUNTERS && !PROF__SHARED_COUNTER_WIDE; ++i)
        prof__shared_counters[i].busy = 0;
}
#endif

static uintptr_t prof__shared_counter_key(const prof_site *site)
{
    uint64_t key = PROF__TEXTS_START;
    const char *const texts[] = {site->category, site->name, prof__site_unit(site)};
    for (int i = 0; i < 3; ++i) /* the factor is FNV-1a's step for a zero byte, which separates texts */
        key = prof__texts_hash(key, texts[i] ? texts[i] : "") * 0x100000001B3u;
    return (uintptr_t)(key ^ key >> 32) | 1;
}

/* Returns the shared counter of a macro's category, name and unit. Returns NULL if the table is full or there is no
   memory. Takes no lock, because macros may run in signal handlers. The counters are not in the memory of the call
   site's module, because a module can be unloaded. */
static PROF__COLD prof__shared_counter *prof__shared_counter_find(const prof_site *site)
{
    PROF__FORWARD(prof__shared_counter_find, (site));
    uintptr_t key = prof__shared_counter_key(site);
    prof__shared_counter *shared_counters = prof__shared_counters_get();
    for (size_t i = 0; shared_counters && i < PROF__SHARED_COUNTERS; ++i) {
        prof__shared_counter *shared = &shared_counters[((size_t)(key >> 1) + i) % PROF__SHARED_COUNTERS];
        uintptr_t found = PROF__LOAD(&shared->key);
        if (!found && __atomic_compare_exchange_n(&shared->key, &found, key, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            found = key;
        if (found == key) return shared;
    }
    return NULL;
}

/* Returns the shared counter of a call site. Returns NULL, and counts the sample as lost, if
   prof__shared_counter_find() has none. */
static inline prof__shared_counter *prof__shared_counter_of(const prof_site *site, prof__number *known)
{
    prof__shared_counter *shared = PROF__LOAD(&known->shared);
    if (PROF__LIKELY(shared != NULL)) return shared;
    shared = prof__shared_counter_find(site);
    PROF__STORE(&known->shared, shared);
    if (!shared && prof__on(site)) prof__lose(PROF__SELF(), 1);
    return shared;
}

/* Returns 1 if the change of a counter was given up; counts it as a lost event. */
static inline int prof__shared_counter_given_up(const prof_site *site, int swapped)
{
    if (PROF__LIKELY(swapped != PROF__SHARED_COUNTER_GIVEN_UP)) return 0;
    if (prof__on(site)) prof__lose_busy(PROF__SELF(), PROF__LOSS_EVENT);
    return 1;
}

#ifndef PROF__NO_DOUBLE
static PROF__NOINLINE void prof__shared_counter_calm(prof_site *site, prof__shared_counter *shared, int how,
                                                     double value)
{
    uint64_t before = prof__shared_counter_load(shared), after;
    double number;
    int swapped;
    do {
        prof__copy(&number, &before, sizeof number);
        uint32_t type = PROF__LOAD(&shared->real);
        if (type != PROF__SHARED_COUNTER_DOUBLE)
            number = type == PROF__SHARED_COUNTER_INT ? (double)(int64_t)before : (double)before;
        number = prof__count_next_double(number, how, value);
        after = prof__double_bits(number);
        swapped = prof__shared_counter_swap(shared, &before, after);
    } while (swapped == PROF__SHARED_COUNTER_AGAIN);
    if (prof__shared_counter_given_up(site, swapped)) return;
    PROF__STORE(&shared->real, (uint32_t)PROF__SHARED_COUNTER_DOUBLE);
    if (prof__live(site)) prof__counter_double(site, number);
}

/* Changes the counter while the host's floating-point traps are off: the arithmetic could otherwise end the program. */
static PROF__COLD void prof__shared_counter_trapped(prof_site *site, prof__shared_counter *shared, int how,
                                                    double value)
{
    PROF__CALM();
    prof__shared_counter_calm(site, shared, how, value);
}

static void prof__shared_counter_real(prof_site *site, prof__shared_counter *shared, int how, double value)
{
    if (PROF__UNLIKELY(prof__traps()))
        prof__shared_counter_trapped(site, shared, how, value);
    else
        prof__shared_counter_calm(site, shared, how, value);
}

PROF_DEF void prof__count_double(prof_site *site, prof__number *known, int how, double value)
{
    prof__shared_counter *shared = prof__shared_counter_of(site, known);
    if (shared) prof__shared_counter_real(site, shared, how, value);
}
#endif

/* Changes a counter if its number or the change may be unsigned or floating-point. whole: 1: the change is unsigned.
   less: 1: the change is negative, and value is its magnitude. */
static PROF__COLD void prof__count_whole(prof_site *site, prof__shared_counter *shared, int how, uint64_t value,
                                         int less, int whole)
{
    uint32_t real = PROF__LOAD(&shared->real), type;
#ifndef PROF__NO_DOUBLE
    if (real == PROF__SHARED_COUNTER_DOUBLE) {
        prof__shared_counter_real(site, shared, how, less ? -(double)value : (double)value);
        return;
    }
#endif
    uint64_t before = prof__shared_counter_load(shared), after;
    int swapped;
    do {
        type = real;
        if (how == PROF__COUNT_SET) {
            type = whole ? PROF__SHARED_COUNTER_UINT : PROF__SHARED_COUNTER_INT;
            after = less ? 0 - value : value;
        } else {
            after = prof__count_wide(before, &type, less != (how == PROF__COUNT_SUB), value, whole);
        }
        swapped = prof__shared_counter_swap(shared, &before, after);
    } while (swapped == PROF__SHARED_COUNTER_AGAIN);
    if (prof__shared_counter_given_up(site, swapped)) return;
    if (type != real) PROF__STORE(&shared->real, type);
    if (!prof__live(site)) return;
    if (type == PROF__SHARED_COUNTER_UINT)
        prof__counter_uint(site, after);
    else
        prof__counter_int(site, (int64_t)after);
}

PROF_DEF void prof__count_int(prof_site *site, prof__number *known, int how, int64_t value)
{
    prof__shared_counter *shared = prof__shared_counter_of(site, known);
    if (!shared) return;
    if (PROF__UNLIKELY(PROF__LOAD(&shared->real))) {
        prof__count_whole(site, shared, how, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0, 0);
        return;
    }
    uint64_t before = prof__shared_counter_load(shared), after;
    int swapped;
    do {
        after = (uint64_t)prof__count_next((int64_t)before, how, value);
        swapped = prof__shared_counter_swap(shared, &before, after);
    } while (swapped == PROF__SHARED_COUNTER_AGAIN);
    if (prof__shared_counter_given_up(site, swapped)) return;
    if (prof__live(site)) prof__counter_int(site, (int64_t)after);
}

PROF_DEF void prof__count_uint(prof_site *site, prof__number *known, int how, uint64_t value)
{
    prof__shared_counter *shared = prof__shared_counter_of(site, known);
    if (!shared) return;
    if (how != PROF__COUNT_SET && !PROF__LOAD(&shared->real) && value <= 1u << 31 &&
        prof__shared_counter_load(shared) + ((uint64_t)1 << 62) < (uint64_t)1 << 63)
        prof__count_int(site, known, how, (int64_t)value); /* cannot overflow */
    else
        prof__count_whole(site, shared, how, value, 0, 1);
}

#endif /* PROF__RECORD_COUNTER_H */
