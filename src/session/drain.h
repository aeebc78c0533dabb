// session/drain: Freestanding builds: hands out what was recorded, piece by piece, while recording goes on.
#ifndef PROF__SESSION_DRAIN_H
#define PROF__SESSION_DRAIN_H
#include "api/control.h"
#include "ground/errors.h"
#include "image/format.h"
#include "record/locks.h"
#include "record/ring.h"
#include "record/state.h"

#if defined(PROF_FREESTANDING) && defined(PROF_WITH_DRAIN)
/*-- DRAIN -------------------------------------------------------------------------------------------------------------
   Together the pieces make an image in which each chunk has the place that its sequence number gives. prof_drain() owns
   a chunk while it writes it, so that the ring leaves that chunk out, and frees the chunk afterwards. */
static struct {
    uint32_t session_id; /* id of the session that the counts below belong to */
    uint64_t meta, chunks; /* bytes of meta, and chunks, that were handed out */
} prof__drained;

/* Hands out a chunk that no thread writes to, and frees it. If write() fails, the chunk stays for the next call. */
static prof_status prof__drain_chunk(prof__session *s, prof__chunk *chunk, prof_drain_write *write, void *user)
{
    uint32_t state = PROF__LOAD(&chunk->state);
    if (state == PROF__CHUNK_FREE || (state == PROF__CHUNK_OWNED && prof__state.running) ||
        !__atomic_compare_exchange_n(&chunk->state, &state, PROF__CHUNK_OWNED, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return PROF_OK;
    prof__chunk head = *chunk;
    prof_status status = PROF_OK;
    uint64_t offset = s->header->chunk_offset + (head.sequence - 1) * s->chunk_size;
    head.state = PROF__CHUNK_FULL;
    if (head.sequence) status = write(user, offset + sizeof head, chunk + 1, s->chunk_size - sizeof head);
    if (head.sequence && !status) status = write(user, offset, &head, sizeof head);
    if (!head.sequence || status) {
        PROF__RELEASE(&chunk->state, state);
        prof__room_changed();
        return status;
    }
    PROF__STORE(&chunk->taken_back, 0);
    ++prof__drained.chunks;
    PROF__RELEASE(&chunk->state, PROF__CHUNK_FREE);
    prof__room_changed();
    return PROF_OK;
}

/* Writes the header, after everything else, because it makes an image of the pieces. Chunks that were reused before
   they were handed out count as overwritten. */
static prof_status prof__drain_header(prof__session *s, prof_drain_write *write, void *user)
{
    prof__header h;
    /* The magic is never copied to the stack: in a dump of the memory, the copy would look like an image. */
    const size_t magic = sizeof h.magic;
    uint64_t reused = prof__drained.chunks;
    for (uint32_t i = 0; i < s->chunk_count; ++i) {
        const prof__chunk *chunk = (const prof__chunk *)(const void *)(s->chunks + i * s->chunk_size);
        reused -= PROF__LOAD(&chunk->state) == PROF__CHUNK_FREE && PROF__LOAD(&chunk->sequence);
    }
    prof__copy((char *)&h + magic, (const char *)s->header + magic, sizeof h - magic);
    h.overwritten -= reused < h.overwritten ? reused : h.overwritten;
    if (h.next_chunk > h.chunk_count) h.chunk_count = h.next_chunk;
    h.image_size = h.chunk_offset + h.chunk_count * h.chunk_size;
    prof_status status = write(user, magic, (const char *)&h + magic, sizeof h - magic);
    return status ? status : write(user, 0, s->header->magic, magic);
}

PROF_DEF prof_status prof_drain(prof_drain_write *write, void *user)
{
    prof__session *s = prof__state.session;
    prof_status status = PROF_OK;
    if (!s) return prof__fail(PROF_INVALID_STATE, "prof_drain: nothing has been recorded");
    if (prof__drained.session_id != s->session_id) {
        prof__drained.session_id = s->session_id;
        prof__drained.meta = prof__drained.chunks = 0;
    }
    uint64_t last = s->header->image_size - 8, zero = 0; /* makes the file as long as the image */
    if (!prof__drained.meta) status = write(user, last, &zero, sizeof zero);
    for (uint32_t i = 0; i < s->chunk_count && !status; ++i)
        status = prof__drain_chunk(s, (prof__chunk *)(void *)(s->chunks + i * s->chunk_size), write, user);
    uint32_t write_lock = prof__state_lock();
    uint64_t from = prof__drained.meta, to = s->header->meta_used;
    prof__state_unlock(write_lock);
    if (!status && to > from)
        status = write(user, s->header->meta_offset + from, (const char *)s->meta + from, (size_t)(to - from));
    if (!status) {
        prof__drained.meta = to;
        status = prof__drain_header(s, write, user);
    }
    return status ? prof__fail(status, "prof_drain: the pieces could not be written") : status;
}
#endif

#endif /* PROF__SESSION_DRAIN_H */
