// read/ring: The chunks of the ring, and what of them a power loss has left.
/*-- chunks of which a page is missing ------------------------------------------------------------------- >>intact --
   A power loss leaves pages of a file that are empty. Words of a chunk are written one after the other, so words behind
   many that are zero show that a page is missing; a thread that died left no more than one record without its head.
   Only what lies before the hole is read. A page at the end of a chunk is known to be missing if the next chunk's
   header was in it. */
#define PROF__PAGE_WORDS 512u

/* Returns the first word from `at` on that begins a page of the file. place: of the chunk's first word. */
static size_t prof__read_border(uint64_t place, size_t at)
{
    return at + (size_t)(0 - (place + at)) % PROF__PAGE_WORDS;
}

/* Returns where the record ends, or begins if `whole` is 1, that has the word before this one. Returns `limit` if none
   has. */
static size_t prof__read_record_at(const uint64_t *words, size_t count, size_t limit, int whole)
{
    size_t at = 0, length;
    for (; at < limit && (length = prof__record_length(words[at], count - at)) != 0; at += length)
        if (at + length > limit) return whole ? at : at + length;
    return at < limit ? at : limit;
}

/* Returns how many words of a chunk of the ring can be read. *torn: 1 if others are missing. headless: 1 if the next
   chunk lacks its header. */
static size_t prof__read_intact(const prof__read_chunk *chunk, const uint64_t *words, int headless, int *torn)
{
    size_t count = chunk->words, hole = prof__words_hole(words, count), used = count, border;
    *torn = hole < count;
    if (*torn) return prof__read_record_at(words, count, hole, 1);
    while (used && !words[used - 1]) used--;
    border = prof__read_border(chunk->place, used);
    if (!used || border >= count) return count;
    if (border - used < PROF__HOLE_WORDS) used = prof__read_record_at(words, count, border, 0);
    *torn = headless && used >= border && count - border < PROF__PAGE_WORDS;
    return *torn ? prof__read_record_at(words, count, border, 1) : count;
}

/* Returns 1 if a chunk without a sequence lacks its header. A chunk that is being reused has its time. Words: of the
   chunk, `bytes` with the header. */
static int prof__read_headless(const prof_trace *trace, const prof__chunk *chunk, uint64_t offset, uint64_t bytes)
{
    static const prof__chunk none = {0, {0, 0, 0, 0}, 0, 0, 0, 0};
    uint64_t part[64], end = offset + bytes;
    if (memcmp(chunk, &none, sizeof none)) return 0;
    for (offset += sizeof none; offset < end; offset += sizeof part) {
        size_t size = end - offset < sizeof part ? (size_t)(end - offset) : sizeof part;
        if (!prof__read_ring_part(trace, offset, part, size)) return 0;
        for (size_t i = 0; i < size / 8; i++)
            if (part[i]) return 1;
    }
    return 0;
}

/*-- the ring --*/

typedef struct prof__read_ring_chunk {
    prof__read_chunk about; /* the first field: see prof__read_chunk_order() */
    prof__pair base;
    int headless; /* 1: the next chunk lacks its header */
} prof__read_ring_chunk;

typedef struct prof__read_ring_chunks {
    prof__read_ring_chunk *at;
    size_t count, capacity;
} prof__read_ring_chunks;

/* Lists the chunks of the ring that were used, in order. Does not touch slots that were never used. Returns 0 without
   memory. */
static int prof__read_ring_list(prof_trace *trace, prof__read_ring_chunks *chunks)
{
    const prof__header *header = &trace->header;
    uint64_t slots = header->chunk_count, bytes, before = 0; /* before: where the last chunk of the list ends */
    if (header->next_chunk && header->next_chunk < slots) slots = header->next_chunk;
    for (uint64_t at = 0; at < slots * header->chunk_size; at += bytes) {
        uint64_t offset = header->chunk_offset + at;
        prof__chunk chunk;
        if (!prof__read_ring_part(trace, offset, &chunk, sizeof chunk)) {
            trace->info.lost_blocks++;
            bytes = prof__form_bytes(header->chunk_size, at, 0);
            continue;
        }
        bytes = prof__form_bytes(header->chunk_size, at, chunk.form);
        trace->info.chunks++;
        trace->info.taken_back += chunk.taken_back;
        if (!chunk.sequence && prof__read_headless(trace, &chunk, offset, bytes)) {
            trace->info.lost_blocks++;
            if (chunks->count && before == offset) chunks->at[chunks->count - 1].headless = 1;
        }
        if (!chunk.sequence || bytes <= header->chunk_header_size) continue;
        prof__read_ring_chunk *one = PROF__MORE(chunks->at, chunks->capacity, chunks->count)
                                         ? &chunks->at[chunks->count - 1] : NULL;
        if (!one) return 0;
        one->about.sequence = chunk.sequence;
        one->about.tick = chunk.base.tick;
        one->about.lost = chunk.lost;
        one->about.owned = chunk.state == PROF__CHUNK_OWNED;
        one->about.place = (offset + header->chunk_header_size) / 8;
        one->about.words = (uint32_t)(bytes - header->chunk_header_size) / 8;
        one->base = chunk.base;
        before = offset + bytes;
    }
    trace->info.chunks += header->chunk_count - slots;
    if (chunks->count > 1) qsort(chunks->at, chunks->count, sizeof *chunks->at, prof__read_chunk_order);
    return 1;
}

/* Adds a chunk of the ring, unless its words went into the archive. next: the one with the next sequence, or NULL.
   Returns 0 without memory. */
static int prof__read_ring_add(prof_trace *trace, prof__read_ring_chunk *chunk, const prof__read_ring_chunk *next)
{
    uint64_t place = chunk->about.place, *words = trace->paged ? trace->buffer.words : trace->image + place;
    int torn = 0;
    trace->buffer.chunk = 0;
    trace->buffer.segment = NULL;
    if (prof__read_known(trace, chunk->about.sequence)) return 1;
    if (trace->paged && !prof__file_at(trace->file, place * 8, words, (size_t)chunk->about.words * 8)) {
        trace->info.lost_blocks++;
        return 1;
    }
    size_t count = prof__read_intact(&chunk->about, words, chunk->headless, &torn);
    int doubled = next && next->about.sequence == chunk->about.sequence; /* one has a page of the other */
    chunk->about.torn = (uint8_t)torn;
    trace->info.lost_blocks += (uint64_t)(torn || doubled);
    if (torn && doubled) return 1;
    return prof__read_add_chunk(trace, &chunk->about, &chunk->base, words, count);
}

/* Adds the chunks of the ring. Returns 0 without memory. */
static int prof__read_ring(prof_trace *trace)
{
    prof__read_ring_chunks chunks = {NULL, 0, 0};
    int good = (!trace->paged || prof__read_buffer_make(trace, &trace->buffer)) && prof__read_ring_list(trace, &chunks);
    for (size_t i = 0; good && i < chunks.count; i++)
        good = prof__read_ring_add(trace, &chunks.at[i], i + 1 < chunks.count ? &chunks.at[i + 1] : NULL);
    free(chunks.at);
    return good;
}

static int prof__read_chunks(prof_trace *trace)
{
    const prof__header *header = &trace->header;
    if (!prof__read_archive(trace) || !prof__read_ring(trace)) return 0;
    if (trace->segment_count > 1)
        qsort(trace->segments, trace->segment_count, sizeof *trace->segments, prof__read_segment_order);
    trace->partial =
        header->overwritten || trace->info.lost_blocks ||
        (header->mode != PROF_FILL && header->mode != PROF_STREAM && header->next_chunk > header->chunk_count);
    return 1;
}
