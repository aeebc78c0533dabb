// system/write: Records what the system did.
#ifndef PROF__SYSTEM_WRITE_H
#define PROF__SYSTEM_WRITE_H
#include "api/macros.h"
#include "ground/clock.h"
#include "ground/lock.h"
#include "record/ring.h"
#include "record/scope.h"
#include "record/self.h"
#include "record/track.h"
#include "session/process.h"
#include "system/state.h"

#ifdef PROF__SYSTEM_LINUX
/* In a sandbox that the program has entered since the start, only what it already did is allowed. */
static int prof__system_may(void) { return prof__sandbox() == prof__system.sandbox; }

/* Records an EVENT with these words behind it. about: its type and detail; holds: the prof_value_type of the words.
   Returns 0 if there is no room, or the session is paused. */
static int prof__system_write(uint64_t about, uint64_t ns, prof_value_type holds, const uint64_t *words, uint64_t count)
{
    const prof__session *s = prof__system.session;
    prof__thread *self = PROF__SELF();
    uint64_t all = 3 + (count ? 1 + count : 0), *at = NULL;
    if (PROF__LOAD(&prof__state.paused) || PROF__HELD()) return 0;
    if (!prof__enter_slow(self, NULL, prof__enter_write(self), 0)) return 0;
    if (self->session == s) {
        uint64_t now = prof__now(s, 0);
        at = prof__reserve_or_lose(self, all, &now, 0);
        if (at) {
            for (uint64_t i = 0; i < count; ++i) PROF__STORE(at + 4 + i, words[i]);
            if (count)
                prof__store_word(at + 3, (uint64_t)PROF__KIND_DATA << PROF__KIND_SHIFT | (uint64_t)holds << 32 | count);
            PROF__STORE(at + 1, about);
            PROF__STORE(at + 2, ns);
            prof__store_word(at, (uint64_t)PROF__KIND_EVENT << PROF__KIND_SHIFT | (now - self->base));
            prof__commit(self, all);
        }
    }
    prof__leave(self);
    return at != NULL;
}
#endif

#endif /* PROF__SYSTEM_WRITE_H */
