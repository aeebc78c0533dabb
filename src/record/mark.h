// record/mark: Records instants and boundaries of frames.
#ifndef PROF__RECORD_MARK_H
#define PROF__RECORD_MARK_H
#include "api/markup.h"
#include "api/values.h"
#include "ground/instances.h"
#include "image/format.h"
#include "image/words.h"
#include "record/bridge.h"
#include "record/scope.h"
#include "record/self.h"
#include "record/thread.h"

/* Records an instant: one word, its head. */
static void prof__instant(prof_site *site)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof__instant, (site)));
    prof__slot place = prof__slot_take(self, site, 1);
    if (!place.at) return;
    prof__store_word(place.at, place.head);
    prof__slot_leave(self, place, 1);
}
PROF_DEF void prof__mark(prof_site *site)
{
    prof__instant(site);
    PROF__BRIDGE_MARK(site, NULL);
}

#ifndef PROF__FRAME_NAMES
PROF_DEF void prof__frame(prof_site *site)
{
    prof__instant(site);
    PROF__BRIDGE_FRAME(site);
}
#else
/* Returns the count of frame boundaries of this name on the present track, or NULL if the track has too many names of
   frames. */
static PROF__COLD uint64_t *prof__frames_of(prof__thread *self, const prof_site *site)
{
    prof_fiber *track = prof__track_of(self);
    uint32_t name = prof__hash(site->name, prof__length(site->name)) | 1;
    for (uint32_t i = 0; i < PROF__FRAME_NAMES; ++i) {
        if (!track->frame_name[i]) {
            track->frame_name[i] = name;
            track->frame_count[i] = 0;
        }
        if (track->frame_name[i] == name) return &track->frame_count[i];
    }
    return NULL;
}

/* Records a frame boundary with its number: the first one of a chunk, or after a boundary of another call site. If the
   event is lost, still counts the boundary, so that the next one has the right number. */
static PROF__COLD void prof__frame_slow(prof__thread *self, prof_site *site, prof__slot place)
{
    uint64_t words = 1;
    if (!place.at && (!place.head || prof__track_of(self)->session_id != self->session_id)) return;
    uint64_t *frames = self->frame.count = prof__frames_of(self, site);
    self->frame.site = place.at && frames ? site : NULL;
    if (place.at && frames) {
        PROF__STORE(place.at + 2, *frames);
        PROF__STORE(place.at + 1, PROF__FRAME_NUMBER);
        words = 3;
    }
    if (frames) ++*frames;
    if (!place.at) return;
    prof__store_word(place.at, place.head);
    prof__slot_leave(self, place, words);
}

/* Records the boundary of a frame. Boundaries are numbered from 0 for each name and track. The number is written only
   now and then: a reader counts on from there. */
PROF_DEF void prof__frame(prof_site *site)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof__frame, (site)));
    prof__slot place = prof__slot_take(self, site, 3);
    if (PROF__LIKELY(place.at && self->frame.site == site)) {
        ++*self->frame.count;
        prof__store_word(place.at, place.head);
        prof__slot_leave(self, place, 1);
    } else {
        prof__frame_slow(self, site, place);
    }
    PROF__BRIDGE_FRAME(site);
}
#endif

#endif /* PROF__RECORD_MARK_H */
