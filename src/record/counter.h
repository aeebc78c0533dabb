// record/counter: The shared counters behind PROFILE_COUNTER_ADD, _SUB and _SET: one number for each name. Atomic,
// without a lock.
#ifndef PROF__RECORD_COUNTER_H
#define PROF__RECORD_COUNTER_H
#include "api/markup.h"
#include "ground/copies.h"
#include "ground/lock.h"
#include "ground/numbers.h"
#include "ground/signals.h"
#include "ground/threads.h"
#include "record/meta.h"
#include "record/ring.h"
#include "record/self.h"
#include "record/value.h"

/* 1 if one instruction compares and exchanges 64 bits. Most 32-bit processors have such an instruction, too. */
#ifndef PROF__TALLY_WIDE
#if PROF__WIDE || (!defined(PROF_FREESTANDING) && __GCC_ATOMIC_LLONG_LOCK_FREE == 2) || defined(_MSC_VER)
#define PROF__TALLY_WIDE 1
#else
#define PROF__TALLY_WIDE 0
#endif
#endif
#ifdef __GNUC__
#define PROF__TALLY_ALIGNED __attribute__((__aligned__(8)))
#else
#define PROF__TALLY_ALIGNED
#endif

enum { PROF__TALLY_INT = 0, PROF__TALLY_DOUBLE, PROF__TALLY_UINT };

/* A shared counter: the number that all call sites of the same category, name and unit change. */
typedef struct prof__tally {
    uintptr_t key; /* hash of category, name and unit; 0: the entry is free */
    uint64_t bits PROF__TALLY_ALIGNED;
    uint32_t real; /* PROF__TALLY_...: the type of the number in bits */
    int busy;      /* a lock, used only if no instruction exchanges 64 bits */
} prof__tally;

#define PROF__TALLIES PROF__LESS(1024, 16)
#if defined(PROF_FREESTANDING) || defined(_WIN32) || defined(__wasi__)
static prof__tally prof__tallies[PROF__TALLIES]; /* a hash table of the macros' counters */
static prof__tally *prof__tallies_get(void) { return prof__tallies; }
#else
static prof__tally *prof__tallies; /* the same table, mapped at first use, maybe in a signal handler */
static prof__tally *prof__tallies_get(void)
{
    size_t size = PROF__TALLIES * sizeof *prof__tallies;
    prof__tally *tallies = PROF__ACQUIRE(&prof__tallies), *made;
    if (tallies) return tallies;
    PROF__ERRNO_SAVE();
    made = (prof__tally *)mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == (prof__tally *)MAP_FAILED)
        made = NULL;
    else if (!__atomic_compare_exchange_n(&prof__tallies, &tallies, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        munmap((void *)made, size);
    PROF__ERRNO_RESTORE();
    return tallies ? tallies : made;
}

/* Unmaps the table. Called when the library is unloaded, when no macro can count any more. */
static void prof__tallies_unmap(void)
{
    if (prof__tallies) munmap((void *)prof__tallies, PROF__TALLIES * sizeof *prof__tallies);
    prof__tallies = NULL;
}
#endif

static int64_t prof__count_next(int64_t now, int how, int64_t value)
{
    if (how == PROF__TALLY_ADD) {
        if (value > 0 && now > INT64_MAX - value) return INT64_MAX;
        return value < 0 && now < INT64_MIN - value ? INT64_MIN : now + value;
    }
    if (how == PROF__TALLY_SUB) {
        if (value < 0 && now > INT64_MAX + value) return INT64_MAX;
        return value > 0 && now < INT64_MIN + value ? INT64_MIN : now - value;
    }
    return value;
}

/* Returns the integer `bits` of *type plus `size`, or minus size if less is 1. Stays at the ends of its range. An
   unsigned counter reaches 2^64 - 1, and so does one to which an unsigned number is added (whole is 1): then sets *type
   to PROF__TALLY_UINT. */
static uint64_t prof__count_wide(uint64_t bits, uint32_t *type, int less, uint64_t size, int whole)
{
    int negative = *type == PROF__TALLY_INT && bits >> 63;
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
        *type = PROF__TALLY_INT;
        return now > (uint64_t)INT64_MAX ? (uint64_t)INT64_MIN : 0 - now;
    }
    if (*type == PROF__TALLY_INT && !whole && now > (uint64_t)INT64_MAX) now = (uint64_t)INT64_MAX;
    if (now > (uint64_t)INT64_MAX) *type = PROF__TALLY_UINT;
    return now;
}

#ifndef PROF__NO_DOUBLE
static double prof__count_next_double(double now, int how, double value)
{
    return how == PROF__TALLY_ADD ? now + value : how == PROF__TALLY_SUB ? now - value : value;
}
#endif

/* Without the counter's lock the two halves may be of different numbers. prof__tally_swap() finds that out. */
static uint64_t prof__tally_load(const prof__tally *tally)
{
#if PROF__TALLY_WIDE
    return PROF__LOAD(&tally->bits);
#else
    const prof__half *half = (const prof__half *)&tally->bits;
    return (uint64_t)PROF__LOAD(half + !PROF__LOW_HALF) << 32 | PROF__LOAD(half + PROF__LOW_HALF);
#endif
}

enum { PROF__TALLY_AGAIN = 0, PROF__TALLY_DONE, PROF__TALLY_GIVEN_UP };

/* Compares and exchanges: if bits are `before`, sets them to `after`; else sets *before to the present bits and returns
   PROF__TALLY_AGAIN. Gives up if it cannot get the lock for long: an interrupt has stopped the owner, or the owner was
   killed. (A signal handler cannot stop the owner, because the lock blocks signals.) */
static int prof__tally_swap(prof__tally *tally, uint64_t *before, uint64_t after)
{
#if PROF__TALLY_WIDE
    return __atomic_compare_exchange_n(&tally->bits, before, after, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
               ? PROF__TALLY_DONE : PROF__TALLY_AGAIN;
#else
    prof__signals signals;
    if (!prof__lock_enter(&tally->busy, &signals)) return PROF__TALLY_GIVEN_UP;
    prof__half *half = (prof__half *)&tally->bits;
    uint64_t now = prof__tally_load(tally);
    int same = now == *before;
    if (same) {
        PROF__STORE(half + PROF__LOW_HALF, (uint32_t)after);
        PROF__STORE(half + !PROF__LOW_HALF, (uint32_t)(after >> 32));
    }
    *before = now;
    prof__lock_leave(&tally->busy, &signals);
    return same ? PROF__TALLY_DONE : PROF__TALLY_AGAIN;
#endif
}

#ifndef PROF__NO_FORK
/* Called in the child of a fork(). Only the forking thread exists there, so nobody would release the locks of
   others. */
static void prof__tallies_unlock(void)
{
    for (size_t i = 0; prof__tallies && i < PROF__TALLIES && !PROF__TALLY_WIDE; ++i) prof__tallies[i].busy = 0;
}
#endif

static uintptr_t prof__tally_key(const prof_site *site)
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
static PROF__COLD prof__tally *prof__tally_find(const prof_site *site)
{
    PROF__LED(prof__tally_find, (site));
    uintptr_t key = prof__tally_key(site);
    prof__tally *tallies = prof__tallies_get();
    for (size_t i = 0; tallies && i < PROF__TALLIES; ++i) {
        prof__tally *tally = &tallies[((size_t)(key >> 1) + i) % PROF__TALLIES];
        uintptr_t found = PROF__LOAD(&tally->key);
        if (!found && __atomic_compare_exchange_n(&tally->key, &found, key, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            found = key;
        if (found == key) return tally;
    }
    return NULL;
}

/* Returns the shared counter of a call site. Returns NULL, and counts the sample as lost, if prof__tally_find() has
   none. */
static inline prof__tally *prof__tally_of(const prof_site *site, prof__number *known)
{
    prof__tally *tally = PROF__LOAD(&known->tally);
    if (PROF__LIKELY(tally != NULL)) return tally;
    tally = prof__tally_find(site);
    PROF__STORE(&known->tally, tally);
    if (!tally && prof__on(site)) prof__lose(PROF__SELF(), 1);
    return tally;
}

/* Returns 1 if the change of a counter was given up; counts it as a lost event. */
static inline int prof__tally_given_up(const prof_site *site, int swapped)
{
    if (PROF__LIKELY(swapped != PROF__TALLY_GIVEN_UP)) return 0;
    if (prof__on(site)) prof__lose_busy(PROF__SELF(), PROF__LOSS_EVENT);
    return 1;
}

#ifndef PROF__NO_DOUBLE
static PROF__NOINLINE void prof__tally_calm(prof_site *site, prof__tally *tally, int how, double value)
{
    uint64_t before = prof__tally_load(tally), after;
    double number;
    int swapped;
    do {
        prof__copy(&number, &before, sizeof number);
        uint32_t type = PROF__LOAD(&tally->real);
        if (type != PROF__TALLY_DOUBLE) number = type == PROF__TALLY_INT ? (double)(int64_t)before : (double)before;
        number = prof__count_next_double(number, how, value);
        after = prof__double_bits(number);
        swapped = prof__tally_swap(tally, &before, after);
    } while (swapped == PROF__TALLY_AGAIN);
    if (prof__tally_given_up(site, swapped)) return;
    PROF__STORE(&tally->real, (uint32_t)PROF__TALLY_DOUBLE);
    if (prof__live(site)) prof__counter_double(site, number);
}

/* Changes the counter while the host's floating-point traps are off: the arithmetic could otherwise end the program. */
static PROF__COLD void prof__tally_trapped(prof_site *site, prof__tally *tally, int how, double value)
{
    PROF__CALM();
    prof__tally_calm(site, tally, how, value);
}

static void prof__tally_real(prof_site *site, prof__tally *tally, int how, double value)
{
    if (PROF__UNLIKELY(prof__traps()))
        prof__tally_trapped(site, tally, how, value);
    else
        prof__tally_calm(site, tally, how, value);
}

PROF_DEF void prof__count_double(prof_site *site, prof__number *known, int how, double value)
{
    prof__tally *tally = prof__tally_of(site, known);
    if (tally) prof__tally_real(site, tally, how, value);
}
#endif

/* Changes a counter if its number or the change may be unsigned or floating-point. whole: 1: the change is unsigned.
   less: 1: the change is negative, and value is its magnitude. */
static PROF__COLD void prof__count_whole(prof_site *site, prof__tally *tally, int how, uint64_t value, int less,
                                         int whole)
{
    uint32_t real = PROF__LOAD(&tally->real), type;
#ifndef PROF__NO_DOUBLE
    if (real == PROF__TALLY_DOUBLE) {
        prof__tally_real(site, tally, how, less ? -(double)value : (double)value);
        return;
    }
#endif
    uint64_t before = prof__tally_load(tally), after;
    int swapped;
    do {
        type = real;
        if (how == PROF__TALLY_SET) {
            type = whole ? PROF__TALLY_UINT : PROF__TALLY_INT;
            after = less ? 0 - value : value;
        } else {
            after = prof__count_wide(before, &type, less != (how == PROF__TALLY_SUB), value, whole);
        }
        swapped = prof__tally_swap(tally, &before, after);
    } while (swapped == PROF__TALLY_AGAIN);
    if (prof__tally_given_up(site, swapped)) return;
    if (type != real) PROF__STORE(&tally->real, type);
    if (!prof__live(site)) return;
    if (type == PROF__TALLY_UINT)
        prof__counter_uint(site, after);
    else
        prof__counter_int(site, (int64_t)after);
}

PROF_DEF void prof__count_int(prof_site *site, prof__number *known, int how, int64_t value)
{
    prof__tally *tally = prof__tally_of(site, known);
    if (!tally) return;
    if (PROF__UNLIKELY(PROF__LOAD(&tally->real))) {
        prof__count_whole(site, tally, how, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0, 0);
        return;
    }
    uint64_t before = prof__tally_load(tally), after;
    int swapped;
    do {
        after = (uint64_t)prof__count_next((int64_t)before, how, value);
        swapped = prof__tally_swap(tally, &before, after);
    } while (swapped == PROF__TALLY_AGAIN);
    if (prof__tally_given_up(site, swapped)) return;
    if (prof__live(site)) prof__counter_int(site, (int64_t)after);
}

PROF_DEF void prof__count_uint(prof_site *site, prof__number *known, int how, uint64_t value)
{
    prof__tally *tally = prof__tally_of(site, known);
    if (!tally) return;
    if (how != PROF__TALLY_SET && !PROF__LOAD(&tally->real) && value <= 1u << 31 &&
        prof__tally_load(tally) + ((uint64_t)1 << 62) < (uint64_t)1 << 63)
        prof__count_int(site, known, how, (int64_t)value); /* cannot overflow */
    else
        prof__count_whole(site, tally, how, value, 0, 1);
}

#endif /* PROF__RECORD_COUNTER_H */
