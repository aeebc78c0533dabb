// record/site: Finds out which call sites are on, by category, level and mask; the state of a site. All under
// prof__lock_word, except a site's own word.
static int prof__match(const char *pattern, const char *text)
{
    const char *star = NULL, *retry = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            retry = text;
        } else if (*pattern == '?' || *pattern == *text) {
            ++pattern;
            ++text;
        } else if (star) {
            pattern = star;
            text = ++retry;
        } else {
            return 0;
        }
    }
    while (*pattern == '*') ++pattern;
    return !*pattern;
}

static int prof__category_on(const char *category)
{
    int on = prof__state.category_default;
    if (!category) category = "";
    for (int i = 0; i < prof__state.rule_count; ++i)
        if ((prof__state.rules[i].exact ? prof__equal : prof__match)(prof__state.rules[i].pattern, category))
            on = prof__state.rules[i].on;
    return on;
}

#if !defined(PROF_FREESTANDING) && !defined(PROF_NO_OBJECTS)
/* The categories of call sites, for prof_domain_list(): copies, because the modules that they are from may be unloaded.
   The list grows under the lock, and is read without it. */
static struct {
    uint32_t count, used;
    const char *names[128];
    char text[4096];
} prof__categories;

static void prof__category_note(const char *category)
{
    uint32_t count = prof__categories.count;
    size_t size = category ? prof__length(category) + 1 : 1;
    char *copy = prof__categories.text + prof__categories.used;
    if (size == 1 || size > sizeof prof__categories.text - prof__categories.used ||
        count == sizeof prof__categories.names / sizeof *prof__categories.names)
        return;
    for (uint32_t i = 0; i < count; ++i)
        if (prof__equal(prof__categories.names[i], category)) return;
    prof__copy(copy, category, size);
    prof__categories.used += (uint32_t)size;
    prof__categories.names[count] = copy;
    PROF__RELEASE(&prof__categories.count, count + 1);
}
#else
#define prof__category_note(category) ((void)0)
#endif

static uint64_t prof__site_load(const prof_site *site)
{
#if PROF__WIDE
    return PROF__LOAD(&site->private_state);
#else
    const prof__half *half = (const prof__half *)&site->private_state;
    uint32_t low = PROF__ACQUIRE(half + PROF__LOW_HALF), high = PROF__ACQUIRE(half + !PROF__LOW_HALF);
    if (PROF__LOAD(half + PROF__LOW_HALF) != low) low = PROF__SHUT; /* it was changing: leave it to the slow path */
    return (uint64_t)high << 32 | low;
#endif
}

static void prof__site_store(prof_site *site, uint64_t state)
{
#if PROF__WIDE
    PROF__RELEASE(&site->private_state, state);
#else
    prof__half *half = (prof__half *)&site->private_state;
    PROF__RELEASE(half + PROF__LOW_HALF, PROF__SHUT);
    PROF__RELEASE(half + !PROF__LOW_HALF, (uint32_t)(state >> 32));
    PROF__RELEASE(half + PROF__LOW_HALF, (uint32_t)state);
#endif
}

/*-- off, but asked: see >>note. Bits 32 to 39 of such a site's state count the passes for which it stays so --*/

#define PROF__PASSES_SHIFT 32
#define PROF__PASSES_ALL 255u /* for the rest of the generation */
#define PROF__PASSES_MORE 250u /* without an argument */

static struct { /* under the lock, but the bits are set without it */
    uint32_t epoch;         /* the session that these are of */
    uint32_t with_args[128]; /* by number: scopes in which an argument was dropped */
    uint32_t given_up[16];  /* by hash: functions with a scope that is no longer asked */
    uint32_t known[16];     /* by hash: functions that were told of an argument behind it */
} prof__asked;

static int prof__bit(const uint32_t *bits, uint32_t at) { return (int)(PROF__LOAD(&bits[at / 32]) >> at % 32 & 1); }
static void prof__bit_set(uint32_t *bits, uint32_t at)
{
    if (!prof__bit(bits, at)) __atomic_fetch_or(&bits[at / 32], 1u << at % 32, __ATOMIC_RELAXED);
}

/* The places of a site and of its function in these lists; a place that is shared only costs time. */
static uint32_t prof__asked_place(uint64_t head) { return (uint32_t)(head >> PROF__TICK_BITS) % (128 * 32); }
static uint32_t prof__asked_function(const prof_site *site)
{
    const char *function = site->function ? site->function : "";
    return prof__hash(function, prof__length(function)) % (16 * 32);
}

static uint64_t prof__site_kind(const prof_site *site) { return site->kind & ((1u << PROF__ROLE_SHIFT) - 1); }

static int prof__site_asked(const prof_site *site)
{
    return (uint32_t)prof__site_load(site) == (PROF__LOAD(prof__generation) | PROF__ASKED);
}

/* Returns the state of a site that is off. Scopes that nobody wrote, those of instrumented functions, have no line: an
   argument in them belongs to a scope around. */
static uint64_t prof__site_off(const prof_site *site, uint64_t head, uint32_t generation)
{
    uint64_t passes = prof__bit(prof__asked.with_args, prof__asked_place(head)) ? PROF__PASSES_ALL : PROF__PASSES_MORE;
    if (prof__site_kind(site) != PROF__KIND_BEGIN || !site->line) return head | (generation ^ PROF__OFF);
    return head | passes << PROF__PASSES_SHIFT | generation | PROF__ASKED;
}

/* Counts a pass of an asked site. If another thread changes the site at the same time, the pass is not counted. */
static void prof__site_pass(prof_site *site)
{
    uint64_t state = prof__site_load(site);
    prof__half *half = (prof__half *)&site->private_state;
    uint32_t low = (uint32_t)state, high = (uint32_t)(state >> 32), left = high & 255;
    if (left == PROF__PASSES_ALL || !(low & PROF__ASKED) || low & PROF__OFF) return;
    if (prof__bit(prof__asked.with_args, prof__asked_place(state))) {
        __atomic_compare_exchange_n(half + !PROF__LOW_HALF, &high, high | PROF__PASSES_ALL, 0, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
    } else if (left) {
        __atomic_compare_exchange_n(half + !PROF__LOW_HALF, &high, high - 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    } else {
        prof__bit_set(prof__asked.given_up, prof__asked_function(site));
        __atomic_compare_exchange_n(half + PROF__LOW_HALF, &low, (low ^ PROF__ASKED) ^ PROF__OFF, 0, __ATOMIC_RELEASE,
                                    __ATOMIC_RELAXED);
    }
}

/* Forgets what earlier sessions have learned: sites get other numbers. Under the lock. */
static void prof__asked_clear(uint32_t epoch)
{
    if (prof__asked.epoch == epoch) return;
    prof__asked.epoch = epoch;
    for (uint32_t i = 0; i < 128; ++i) PROF__STORE(&prof__asked.with_args[i], 0u);
    for (uint32_t i = 0; i < 16; ++i) {
        PROF__STORE(&prof__asked.given_up[i], 0u);
        PROF__STORE(&prof__asked.known[i], 0u);
    }
}

/* Returns 1 if an argument's site, which is used for the first time, comes late: a scope of its function is not asked
   any more. Once for each function. Under the lock. */
static int prof__site_late(const prof_site *site)
{
    uint32_t function = prof__asked_function(site);
    if (!prof__bit(prof__asked.given_up, function) || prof__bit(prof__asked.known, function)) return 0;
    prof__bit_set(prof__asked.known, function);
    return 1;
}

/* Lost events of threads that have no chunk; the next holder of the lock moves the count into the image. */
static uint64_t prof__lost_without_chunk;
static uint64_t prof__lost_args_without_chunk; /* lost arguments of threads without a session */

/* Always odd; changes when a thread that found no chunk might find one. */
static uint32_t prof__room_changes = 1;
static void prof__room_changed(void) { __atomic_fetch_add(&prof__room_changes, 2, __ATOMIC_RELEASE); }

static void prof__lost_collect(prof__session *s)
{
    PROF__ADD(&s->header->lost, __atomic_exchange_n(&prof__lost_without_chunk, 0, __ATOMIC_RELAXED));
    PROF__ADD(&s->header->lost_args, __atomic_exchange_n(&prof__lost_args_without_chunk, 0, __ATOMIC_RELAXED));
}

#if defined(PROF_FREESTANDING) || defined(_WIN32)
static void prof__inherited_make(void) {}
#else
static void prof__inherited_make(void);
#endif
