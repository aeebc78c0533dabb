// session/rules: Rules for categories. Under prof__lock_word.
/* Under the lock. */
static prof_status prof__rule_add(const char *pattern, size_t length, int on, int exact)
{
    if ((length == 0 && !exact) || length >= sizeof prof__state.rules[0].pattern)
        return prof__fail(PROF_INVALID_ARGUMENT, "category pattern '%.60s': 1 to 47 bytes", pattern);
    if (length == 1 && pattern[0] == '*' && !exact) {
        prof__state.rule_count = 0;
        prof__state.category_default = on;
        return PROF_OK;
    }
    char text[sizeof prof__state.rules[0].pattern];
    prof__copy(text, pattern, length);
    text[length] = 0;
    int count = 0;
    for (int i = 0; i < prof__state.rule_count; ++i)
        if (prof__state.rules[i].exact != exact || !prof__equal(prof__state.rules[i].pattern, text))
            prof__state.rules[count++] = prof__state.rules[i];
    if (count == PROF__MAX_RULES) return prof__fail(PROF_NO_MEMORY, "more than %d category rules", PROF__MAX_RULES);
    if (!prof__state.category_named && !exact) prof__state.category_default = !on;
    if (!exact) prof__state.category_named = 1;
    prof__copy(prof__state.rules[count].pattern, text, length + 1);
    prof__state.rules[count].on = on;
    prof__state.rules[count].exact = exact;
    prof__state.rule_count = count + 1;
    return PROF_OK;
}

/* "net,render*,-audio". Under the lock. */
static prof_status prof__rules_set(const char *list)
{
    prof_status status = PROF_OK;
    prof__state.rule_count = prof__state.category_named = 0;
    prof__state.category_default = 1;
    while (list && *list && !status) {
        size_t length = 0;
        int on = *list != '-';
        if (!on) ++list;
        while (list[length] && list[length] != ',') ++length;
        status = prof__rule_add(list, length, on, 0);
        list += length;
        if (*list == ',') ++list;
    }
    return status;
}

/* What one use of a macro costs is measured with some uses in a row. */
#define PROF__BURST 64
#define PROF__BURST_SHORT 16 /* of what takes longer */
#define PROF__BURST_WORDS (PROF__BURST * 3)

static void prof__burst_scopes(prof_site *site)
{
    for (int i = 0; i < PROF__BURST; ++i) prof__end(prof__begin(site));
}

static void prof__burst_texts(prof_site *site)
{
    for (int i = 0; i < PROF__BURST_SHORT; ++i) prof__end(prof__begin_text(site, "a name, 20 letters"));
}

static void prof__burst_formats(prof_site *site)
{
    for (int i = 0; i < PROF__BURST_SHORT; ++i) prof__end(prof__begin_format(site, "job %d of %d", i, 1000));
}

/* Thousandths of a tick that one of the uses in a burst takes: by the fastest burst, or, where the clock's step is too
   long for that, by all of them. Not 0. The thread is attached, and signals are blocked: a handler's scopes would go into
   the scratch, too. */
static uint64_t prof__burst_measure(prof__session *s, uint64_t step, void (*burst)(prof_site *site), prof_site *site,
                                    uint64_t uses)
{
    static uint64_t scratch[PROF__BURST_WORDS + 2];
    enum { ROUNDS = 8 };
    prof__thread *self = PROF__SELF();
    uint64_t *cursor = self->cursor, *end = self->end, room = self->room, best = ~0ull, total = 0, cost;
    for (int round = 0; round < ROUNDS; ++round) {
        uint64_t start = prof__now(s, 0);
        self->gate = PROF__BUSY;
        PROF__BARRIER();
        self->cursor = scratch + 1;
        self->end = scratch + sizeof scratch / sizeof *scratch;
        self->room = PROF__BURST_WORDS;
        PROF__BARRIER();
        self->gate = self->open;
        burst(site);
        self->gate = PROF__BUSY;
        PROF__BARRIER();
        self->cursor = cursor;
        self->end = end;
        self->room = room;
        PROF__BARRIER();
        self->gate = self->open;
        uint64_t took = prof__now(s, 0) - start;
        if (took < best) best = took;
        total += took;
    }
    cost = best / 16 >= step ? best * 1000 / uses : total * 1000 / (ROUNDS * uses);
    return cost ? cost : 1;
}

#ifdef PROF_INSTRUMENT_FUNCTIONS
static prof_site *prof__calls_prepare(void);
static void prof__burst_calls(prof_site *site);
#endif

/* What scopes of each sort cost, each no less than a plain one, which a coarse clock could make of it. */
static void prof__costs_measure(prof__session *s, uint64_t step, uint64_t on)
{
    prof__header *h = s->header;
    prof_site site = {0, "", "", "", "", 0, 0, 0, PROF__KIND_BEGIN, 0, 0, 0};
    uint64_t scope, text, format;
    prof__site_store(&site, on);
    scope = prof__burst_measure(s, step, prof__burst_scopes, &site, PROF__BURST);
    text = prof__burst_measure(s, step, prof__burst_texts, &site, PROF__BURST_SHORT);
    format = prof__burst_measure(s, step, prof__burst_formats, &site, PROF__BURST_SHORT);
    PROF__STORE(&h->cost_ticks_x1000, scope);
    PROF__STORE(&h->text_x1000, text > scope ? text : scope);
    PROF__STORE(&h->format_x1000, format > scope ? format : scope);
#ifdef PROF_INSTRUMENT_FUNCTIONS
    prof_site *called = prof__calls_prepare();
    if (!called) return;
    prof__site_store(called, on);
    uint64_t call = prof__burst_measure(s, step, prof__burst_calls, called, PROF__BURST_SHORT);
    prof__site_store(called, 0);
    PROF__STORE(&h->call_x1000, call > scope ? call : scope);
#endif
}
