// record/counter: The numbers behind PROFILE_COUNTER_ADD and so on. Atomic, without a lock.
/* The number behind a counter. */
typedef struct prof__tally {
    uintptr_t key; /* hash of a macro's name and category; 0 while it is free */
    uint64_t bits;
    uint32_t real, busy; /* real: 1: bits are a double's. busy: a lock on systems without 64-bit atomics */
} prof__tally;

#define PROF__TALLIES 1024
static prof__tally prof__tallies[PROF__TALLIES]; /* of macros */

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

static double prof__count_next_double(double now, int how, double value)
{
    return how == PROF__TALLY_ADD ? now + value : how == PROF__TALLY_SUB ? now - value : value;
}

/* Compare and exchange: returns 1 if bits were `before` and are now `after`; else sets before to them. */
static int prof__tally_swap(prof__tally *tally, uint64_t *before, uint64_t after)
{
#if PROF__WIDE
    return __atomic_compare_exchange_n(&tally->bits, before, after, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#else
    /* A handler that interrupts the owner of the lock goes on without it after a while. */
    int locked = 0;
    for (int i = 0; i < 5000 && !locked; ++i) locked = !__atomic_exchange_n(&tally->busy, 1, __ATOMIC_ACQUIRE);
    int same = tally->bits == *before;
    if (same)
        tally->bits = after;
    else
        *before = tally->bits;
    if (locked) __atomic_store_n(&tally->busy, 0, __ATOMIC_RELEASE);
    return same;
#endif
}

static uint64_t prof__tally_load(const prof__tally *tally)
{
#if PROF__WIDE
    return PROF__LOAD(&tally->bits);
#else
    return tally->bits;
#endif
}

static uintptr_t prof__tally_key(const prof_site *site)
{
    uint64_t key = 0xCBF29CE484222325u; /* FNV-1a */
    for (const char *c = site->category; c && *c; ++c) key = (key ^ (unsigned char)*c) * 0x100000001B3u;
    key *= 0x100000001B3u; /* the same as for a zero byte */
    for (const char *c = site->name; c && *c; ++c) key = (key ^ (unsigned char)*c) * 0x100000001B3u;
    return (uintptr_t)(key ^ key >> 32) | 1;
}

/* Returns the number of a macro's name and category: without a lock, because macros may be used in signal handlers, and
   not in memory of the call site's module, which may be unloaded. Returns NULL if there are too many. */
static PROF__COLD prof__tally *prof__tally_find(const prof_site *site)
{
    PROF__LED(prof__tally_find, (site));
    uintptr_t key = prof__tally_key(site);
    for (size_t i = 0; i < PROF__TALLIES; ++i) {
        prof__tally *tally = &prof__tallies[((size_t)(key >> 1) + i) % PROF__TALLIES];
        uintptr_t found = PROF__LOAD(&tally->key);
        if (!found && __atomic_compare_exchange_n(&tally->key, &found, key, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            found = key;
        if (found == key) return tally;
    }
    return NULL;
}

/* NULL: one too many; its samples count as lost. */
static inline prof__tally *prof__tally_of(const prof_site *site, prof__number *known)
{
    prof__tally *tally = PROF__LOAD(&known->tally);
    if (PROF__LIKELY(tally != NULL)) return tally;
    tally = prof__tally_find(site);
    PROF__STORE(&known->tally, tally);
    if (!tally && prof__on(site)) prof__lose(PROF__SELF(), 1);
    return tally;
}

static void prof__tally_real(prof_site *site, prof__tally *tally, int how, double value)
{
    uint64_t before = prof__tally_load(tally), after;
    double number;
    do {
        prof__copy(&number, &before, sizeof number);
        if (!PROF__LOAD(&tally->real)) number = (double)(int64_t)before;
        number = prof__count_next_double(number, how, value);
        after = prof__double_bits(number);
    } while (!prof__tally_swap(tally, &before, after));
    PROF__STORE(&tally->real, 1);
    if (prof__live(site)) prof__counter_double(site, number);
}

PROF__ENTRY void prof__count_double(prof_site *site, prof__number *known, int how, double value)
{
    prof__tally *tally = prof__tally_of(site, known);
    if (tally) prof__tally_real(site, tally, how, value);
}

PROF__ENTRY void prof__count_int(prof_site *site, prof__number *known, int how, int64_t value)
{
    prof__tally *tally = prof__tally_of(site, known);
    if (!tally) return;
    if (PROF__UNLIKELY(PROF__LOAD(&tally->real))) {
        prof__tally_real(site, tally, how, (double)value);
        return;
    }
    uint64_t before = prof__tally_load(tally), after;
    do after = (uint64_t)prof__count_next((int64_t)before, how, value);
    while (!prof__tally_swap(tally, &before, after));
    if (prof__live(site)) prof__counter_int(site, (int64_t)after);
}
