// session/renamed: Finds the names that threads got from the system after their first event: at a snapshot, at the end
// of a session, and once a second in the service. No recording thread does this work.
#ifndef PROF__SESSION_RENAMED_H
#define PROF__SESSION_RENAMED_H
#include "api/markup.h"
#include "ground/threads.h"
#include "image/format.h"
#include "image/words.h"
#include "record/locks.h"
#include "record/meta.h"
#include "record/ring.h"
#include "record/state.h"
#include "session/process.h"

#ifdef PROF__RENAMES
/* Finds the last TRACK record in a chunk that a thread owns, which names the thread. Returns 0 if there is none, or if
   the thread's name did not come from the system. */
static int prof__owner_track(const prof__session *s, prof__chunk *chunk, uint64_t track[3])
{
    const uint64_t *words = prof__chunk_first(chunk);
    uint64_t sequence = PROF__ACQUIRE(&chunk->sequence), owner = 0, head;
    size_t at = 0, length;
    track[0] = track[1] = track[2] = 0;
    for (; at < s->chunk_words; at += length) {
        head = PROF__ACQUIRE(words + at);
        length = head ? prof__record_length(head, (size_t)(s->chunk_words - at)) : 0;
        if (!length) break;
        if (head >> PROF__KIND_SHIFT != PROF__KIND_TRACK) continue;
        owner = PROF__LOAD(words + at + 2);
        if (head >> 31 & 1) continue; /* names a fiber */
        track[0] = head;
        track[1] = PROF__LOAD(words + at + 1) & PROF__TICK_MASK;
        track[2] = owner;
    }
    if (PROF__ACQUIRE(&chunk->sequence) != sequence) return 0; /* the chunk was reused meanwhile */
    return track[0] & PROF__NAME_OF_SYSTEM && track[2] == owner;
}

/* Returns how many threads record. Readers are attached to the image, too. */
static uint32_t prof__names_threads(const prof__session *s)
{
    uint32_t write_lock = prof__state_lock(), threads = PROF__LOAD(&s->attached) - s->readers;
    prof__state_unlock(write_lock);
    return threads;
}

/* Asks the system for the names of all threads that record. Does nothing if the program has entered a sandbox since the
   start, because a sandbox may end a program that opens a file. Holds no lock while it asks; the caller keeps the image
   mapped. */
static void prof__names_look(prof__session *s)
{
    PROF__ERRNO_SAVE();
    uint64_t there = prof__sandbox() == s->sandbox ? prof__chunks_there(s) : 0;
    uint64_t next = PROF__LOAD(&s->header->next_chunk), count = next < there ? next : there;
    uint32_t threads = prof__names_threads(s);
    for (uint64_t i = 1; i <= count && threads; ++i) { /* from the newest on: most threads have a new one */
        prof__chunk *chunk = (prof__chunk *)(void *)(s->chunks + (next - i) % count * s->chunk_size);
        uint64_t track[3];
        char name[64];
        if (PROF__ACQUIRE(&chunk->state) != PROF__CHUNK_OWNED || !PROF__ACQUIRE(&chunk->sequence)) continue;
        threads--; /* of which each owns one chunk at most */
        if (!prof__owner_track(s, chunk, track)) continue;
        prof__system_name_of(track[2], name, sizeof name);
        if (!name[0]) continue;
        uint32_t write_lock = prof__state_lock(), id;
        if (prof__state.session == s && prof__state.running && (id = prof__meta_string(s, name)) != 0)
            prof__meta_thread(s, track[1], id, id != (track[0] & (PROF__NAME_OF_SYSTEM - 1)));
        prof__state_unlock(write_lock);
    }
    PROF__ERRNO_RESTORE();
}
#else
static void prof__names_look(prof__session *s) { (void)s; }
#endif

#endif /* PROF__SESSION_RENAMED_H */
