// session/costs: Measures, at the start of a session, what one scope costs.
#ifndef PROF__SESSION_COSTS_H
#define PROF__SESSION_COSTS_H
#include "api/markup.h"
#include "ground/lock.h"
#include "ground/signals.h"
#include "image/format.h"
#include "image/pair.h"
#include "record/instrument.h"
#include "record/locks.h"
#include "record/meta.h"
#include "record/self.h"
#include "record/site.h"
#include "record/state.h"
#include "record/thread.h"
#include "record/track.h"
#include "session/calibrate.h"

#ifdef PROF_MINIMAL /* PROF_MINIMAL measures neither the cost of a scope nor the smallest step of the clock */
static void prof__calibrate(prof__session *s) { (void)s; }
#else
/* Uses of a macro in one measured burst: one use is too short to time. */
#define PROF__BURST 64
#define PROF__BURST_SHORT 16 /* uses in a burst of slower macros */
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

/* Returns the cost of one use in a burst, in thousandths of a tick, at least 1. Takes the fastest burst; if the clock's
   step is too long to time one burst, takes the mean of all. The records go into a scratch buffer. The caller has
   attached the thread and blocked all signals, or scopes of a signal handler would go into the scratch buffer, too. */
static uint64_t prof__burst_measure(prof__session *s, uint64_t step, void (*burst)(prof_site *site), prof_site *site,
                                    uint64_t uses)
{
    static uint64_t scratch[PROF__BURST_WORDS + 2];
    enum { ROUNDS = 8 };
    prof__thread *self = PROF__SELF();
    uint64_t *cursor = self->cursor, *end = self->end, left = self->free_words, best = ~0ull, total = 0, cost;
    for (int round = 0; round < ROUNDS; ++round) {
        uint64_t start = prof__now(s, 0);
        self->write_lock = PROF__BUSY;
        PROF__BARRIER();
        self->cursor = scratch + 1;
        self->end = scratch + sizeof scratch / sizeof *scratch;
        self->free_words = PROF__BURST_WORDS;
        PROF__BARRIER();
        self->write_lock = self->open;
        burst(site);
        self->write_lock = PROF__BUSY;
        PROF__BARRIER();
        self->cursor = cursor;
        self->end = end;
        self->free_words = left;
        PROF__BARRIER();
        self->write_lock = self->open;
        uint64_t took = prof__now(s, 0) - start;
        if (took < best) best = took;
        total += took;
    }
    cost = best / 16 >= step ? best * 1000 / uses : total * 1000 / (ROUNDS * uses);
    return cost ? cost : 1;
}

#ifdef PROF_INSTRUMENT_FUNCTIONS
/* Stands for a function whose calls are measured: only its address is used. */
static const char prof__call_measured = 0;

/* Registers prof__call_measured as an instrumented function. Returns its call site, which the caller turns on and off
   again, or NULL if the cost cannot be measured now. */
static prof_site *prof__calls_prepare(void)
{
    prof__function *function = &prof__functions[PROF_INSTRUMENT_MAX];
    uint32_t slot;
    const prof__calls *calls = &prof__thread_calls;
    if (calls->busy || calls->depth == PROF_INSTRUMENT_DEPTH) return NULL;
    prof__lock(&prof__function_lock);
    if (!function->address) {
        function->address = (uintptr_t)&prof__call_measured;
        function->site = prof__more_functions;
        prof__function_find(function->address, 0, &slot);
        PROF__RELEASE(&prof__function_slots[slot], PROF_INSTRUMENT_MAX + 1);
    }
    prof__unlock(&prof__function_lock);
    return &function->site;
}

static void prof__burst_calls(prof_site *site)
{
    void (*volatile enter)(void *function, void *caller) = __cyg_profile_func_enter;
    void (*volatile leave)(void *function, void *caller) = __cyg_profile_func_exit;
    (void)site;
    for (int i = 0; i < PROF__BURST_SHORT; ++i) {
        enter((void *)(uintptr_t)&prof__call_measured, NULL);
        leave((void *)(uintptr_t)&prof__call_measured, NULL);
    }
}
#endif

/* Measures and stores the cost of each sort of scope. No sort is recorded as cheaper than a plain scope, even if a
   coarse clock measures it so. */
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

/* Estimates the rate of the clock from the time since the start, and records it. */
static void prof__start_rate(prof__session *s)
{
    prof__header *h = s->header;
    prof__pair now;
    prof__pair_take_well(s->clock, h->tick_hz, &now);
    uint64_t ticks = now.tick - h->first.tick, ns = now.monotonic_ns - h->first.monotonic_ns;
    /* Too short to be exact, or the thread was interrupted for long. */
    if (ns < 100000 || ns >= 1000000000 || ticks >> 33) return;
    s->start_hz = ticks * 1000000000u / ns;
    uint32_t write_lock = prof__state_lock();
    prof__meta_rate(s);
    prof__state_unlock(write_lock);
}

/* Measures the smallest step of the clock and the costs of scopes, with real scopes that write to a scratch buffer.
   Attaches the thread for that. */
static void prof__calibrate(prof__session *s)
{
    prof__thread *self = PROF__SELF();
    prof__header *h = s->header;
    uint64_t step = prof__clock_step(s);
    PROF__STORE(&h->resolution_ticks, step == ~0ull ? 0 : step);
#ifndef PROF_FREESTANDING
    PROF__STORE(&s->like.resolution_ticks, h->resolution_ticks);
#endif
    uint32_t write_lock = prof__state_lock();
    uint32_t config_version = PROF__LOAD(prof__config_version);
    /* The thread still has a chunk of an earlier session. */
    if (self->session && self->session != s) prof__detach(self);
    int attached = self->session == s, ready = prof__state.running && (attached || prof__attach(self));
    self->synced_version = config_version;
    self->open = ready && PROF__FAST(s) ? config_version : PROF__SHUT;
    prof__state_unlock(write_lock);
    if (PROF__EXIT_WATCHED_UNLOCKED && ready && !attached) prof__on_exit_of_thread(self);
    if (!ready) return;
    prof__signals signals;
    prof__signals_block(&signals);
    prof__chunk *chunk = self->chunk;
    uint64_t taken_back = PROF__LOAD(&chunk->taken_back);
    prof__costs_measure(s, step, (uint64_t)PROF__KIND_BEGIN << PROF__KIND_SHIFT | config_version);
    /* A different chunk: the session has ended meanwhile. */
    if (self->chunk == chunk) PROF__STORE(&chunk->taken_back, taken_back);
    prof__signals_restore(&signals);
    prof__start_rate(s);
#ifndef PROF_FREESTANDING
    prof__header *like = &s->like;
    PROF__STORE(&like->cost_ticks_x1000, h->cost_ticks_x1000);
    PROF__STORE(&like->call_x1000, h->call_x1000);
    PROF__STORE(&like->text_x1000, h->text_x1000);
    PROF__STORE(&like->format_x1000, h->format_x1000);
#endif
}
#endif

#endif /* PROF__SESSION_COSTS_H */
