// record/off_scope_sites: Off-scope markers of call sites: which sites that are off still call the recorder at each
// pass, and what it has learned from these calls.
#ifndef PROF__RECORD_OFF_SCOPE_SITES_H
#define PROF__RECORD_OFF_SCOPE_SITES_H
#include "api/markup.h"
#include "image/format.h"
#include "record/site.h"
#include "record/state.h"

/* -- sites that are off but still call the recorder: see >>off_scope. Bits 32 to 39 of a site's state count the passes
   that are left until the site is simply off -- */

#define PROF__PASSES_SHIFT 32
#define PROF__PASSES_ALL 255u  /* the site calls the recorder until the config version changes */
#define PROF__PASSES_MORE 250u /* how many passes without an argument are waited for */

static struct { /* cleared under the state's lock; bits are set without it */
    uint32_t session_id;     /* the session id to which the bits below belong */
    uint32_t with_args[128]; /* by the site's number: scopes in which an argument was dropped */
    uint32_t given_up[16];   /* by hash of its name: functions with a scope that no longer calls */
    uint32_t known[16];      /* by hash of its name: functions for which prof__site_late() has returned 1 */
} prof__off_scopes;

static int prof__bit(const uint32_t *bits, uint32_t at) { return (int)(PROF__LOAD(&bits[at / 32]) >> at % 32 & 1); }
static void prof__bit_set(uint32_t *bits, uint32_t at)
{
    uint32_t word = PROF__LOAD(&bits[at / 32]), bit = 1u << at % 32;
    while (!(word & bit) && !__atomic_compare_exchange_n(&bits[at / 32], &word, word | bit, 1, __ATOMIC_RELAXED,
                                                         __ATOMIC_RELAXED)) {
    }
}

/* Return the index of a site, and of its function, in these bit sets. Two that share an index only cost time. */
static uint32_t prof__off_scope_slot(uint64_t head) { return (uint32_t)(head >> PROF__TICK_BITS) % (128 * 32); }
static uint32_t prof__off_scope_function(const prof_site *site)
{
    const char *function = site->function ? site->function : "";
    return prof__hash(function, prof__length(function)) % (16 * 32);
}

/* Returns 1 if a site is off but calls the recorder at each pass. */
static int prof__site_off_scope(const prof_site *site)
{
    return !PROF__MINIMAL &&
           (uint32_t)prof__site_load(site) == (PROF__LOAD(prof__config_version) | PROF__OFF_SCOPE_ASKED);
}

/* Returns the state of a site that is off. A scope that the compiler's hooks recorded has no source line. Such a site
   does not call the recorder: an argument in its function belongs to the enclosing scope. */
static uint64_t prof__site_off(const prof_site *site, uint64_t head, uint32_t config_version)
{
    if (PROF__MINIMAL || prof__site_kind(site) != PROF__KIND_BEGIN || !site->line)
        return head | (config_version ^ PROF__OFF);
    uint64_t passes =
        prof__bit(prof__off_scopes.with_args, prof__off_scope_slot(head)) ? PROF__PASSES_ALL : PROF__PASSES_MORE;
    return head | passes << PROF__PASSES_SHIFT | config_version | PROF__OFF_SCOPE_ASKED;
}

/* Counts a pass of a site that is off and calls the recorder. If another thread changes the site at the same time, the
   pass is not counted. */
static void prof__site_pass(prof_site *site)
{
    uint64_t state = prof__site_load(site);
    prof__half *half = (prof__half *)&site->private_state;
    uint32_t low = (uint32_t)state, high = (uint32_t)(state >> 32), left = high & 255;
    if (left == PROF__PASSES_ALL || !(low & PROF__OFF_SCOPE_ASKED) || low & PROF__OFF) return;
    if (prof__bit(prof__off_scopes.with_args, prof__off_scope_slot(state))) {
        __atomic_compare_exchange_n(half + !PROF__LOW_HALF, &high, high | PROF__PASSES_ALL, 0, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
    } else if (left) {
        __atomic_compare_exchange_n(half + !PROF__LOW_HALF, &high, high - 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    } else {
        prof__bit_set(prof__off_scopes.given_up, prof__off_scope_function(site));
        __atomic_compare_exchange_n(half + PROF__LOW_HALF, &low, (low ^ PROF__OFF_SCOPE_ASKED) ^ PROF__OFF, 0,
                                    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    }
}

/* Clears what earlier sessions have learned, because each session numbers the sites anew. Under the state's lock. */
static void prof__off_scopes_clear(uint32_t session_id)
{
    if (PROF__MINIMAL || prof__off_scopes.session_id == session_id) return;
    prof__off_scopes.session_id = session_id;
    for (uint32_t i = 0; i < 128; ++i) PROF__STORE(&prof__off_scopes.with_args[i], 0u);
    for (uint32_t i = 0; i < 16; ++i) {
        PROF__STORE(&prof__off_scopes.given_up[i], 0u);
        PROF__STORE(&prof__off_scopes.known[i], 0u);
    }
}

/* Returns 1 if this site of an argument is used for the first time, and a scope of the same function no longer calls
   the recorder because it seemed to have no arguments. Then all sites must call once more. Returns 1 only once for each
   function. Under the state's lock. */
static int prof__site_late(const prof_site *site)
{
    if (PROF__MINIMAL) return 0;
    uint32_t function = prof__off_scope_function(site);
    if (!prof__bit(prof__off_scopes.given_up, function) || prof__bit(prof__off_scopes.known, function)) return 0;
    prof__bit_set(prof__off_scopes.known, function);
    return 1;
}

#endif /* PROF__RECORD_OFF_SCOPE_SITES_H */
