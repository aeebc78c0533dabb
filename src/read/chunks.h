// read/chunks: Cuts the words of chunks and blocks into segments, each of one track.
/*-- records --*/

static unsigned prof__read_kind(uint64_t head)
{
    return (unsigned)(head >> PROF__KIND_SHIFT);
}

static uint32_t prof__read_id(uint64_t head)
{
    return (uint32_t)(head >> PROF__TICK_BITS) & PROF__SITE_MASK;
}

/* Returns the type of an EVENT record, or 0 if readers do not show it. */
static unsigned prof__read_event_type(const uint64_t *record)
{
    unsigned type = (unsigned)(record[1] & 0xFF);
    return type > PROF_EVENT_LOST && type < PROF_EVENT_TYPE_COUNT ? type : 0;
}

/* Returns the words of an ARG or DATA: those of a key made at run time, and of the value after it. */
static size_t prof__read_arg_words(const uint64_t *words, size_t left)
{
    size_t key = prof__record_words(words[0], left), value;
    if (!key || key == left || !(words[0] & PROF__ARG_KEY)) return key;
    value = prof__record_words(words[key], left - key);
    if (!value || prof__read_kind(words[key]) != prof__read_kind(words[0]) || words[key] & PROF__ARG_KEY) return key;
    return key + value;
}

/* Returns 0 for a key without its value, which readers leave out. */
static int prof__read_arg_whole(const uint64_t *words, size_t length)
{
    return !(words[0] & PROF__ARG_KEY) || length > 1 + (size_t)(words[0] & 0xFFFF);
}

/* Returns the record with the value; *length: its words. */
static const uint64_t *prof__read_arg_value(const uint64_t *words, size_t *length)
{
    if (words[0] & PROF__ARG_KEY) words += 1 + (size_t)(words[0] & 0xFFFF);
    *length = 1 + (size_t)(words[0] & 0xFFFF);
    return words;
}

/* Returns the id of the call site whose scope an ARG belongs to, or 0 if it belongs to the innermost scope. */
static uint32_t prof__read_arg_target(const uint64_t *words)
{
    size_t length;
    words = prof__read_arg_value(words, &length);
    return words[0] & PROF__ARG_TO && length > 1 ? prof__read_id(words[length - 1]) : 0;
}

/* Returns the number of a boundary of a frame, or NULL if its record has none. left: the words from this record on. */
static const uint64_t *prof__read_frame_data(const uint64_t *record, size_t left)
{
    uint64_t wanted = (uint64_t)PROF__KIND_DATA << PROF__KIND_SHIFT | (uint64_t)PROF_VALUE_UINT << 32 | 1;
    return left > 2 && record[1] == wanted ? record + 2 : NULL;
}

/* Returns 1 if a DATA record after this one is an argument of an event that is shown. before: the answer for the
   previous record. */
static int prof__read_takes_data(const uint64_t *record, int before)
{
    switch (prof__read_kind(record[0])) {
    case PROF__KIND_MARK: return 1;
    case PROF__KIND_EVENT: return prof__read_event_type(record) != 0;
    case PROF__KIND_NAME:
    case PROF__KIND_DATA: return before;
    default: return 0;
    }
}

static int prof__is_flow(prof_event_type type) { return type >= PROF_EVENT_FLOW_OUT && type <= PROF_EVENT_FLOW_IN; }

/* Returns 1 if a NAME record after this one is the name of its event. Flows have none, because exporters keep their
   names from block to block. */
static int prof__read_takes_name(const uint64_t *record)
{
    unsigned kind = prof__read_kind(record[0]);
    if (kind == PROF__KIND_EVENT) return !prof__is_flow((prof_event_type)prof__read_event_type(record));
    return kind == PROF__KIND_BEGIN || kind == PROF__KIND_MARK;
}

/* Returns the tick of a record, which is never less than that of the previous record. */
static uint64_t prof__read_tick(uint64_t base, uint64_t head, uint64_t before)
{
    uint64_t tick = base + (head & PROF__TICK_MASK);
    if (tick < base) tick = ~(uint64_t)0;
    return tick > before ? tick : before;
}

static int prof__read_chunk_order(const void *a, const void *b)
{
    const prof__read_chunk *x = (const prof__read_chunk *)a, *y = (const prof__read_chunk *)b;
    if (x->sequence != y->sequence) return x->sequence < y->sequence ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static int prof__read_segment_order(const void *a, const void *b)
{
    const prof__read_segment *x = (const prof__read_segment *)a, *y = (const prof__read_segment *)b;
    if (x->track != y->track) return x->track < y->track ? -1 : 1;
    if (x->serial != y->serial) return x->serial < y->serial ? -1 : 1;
    if (x->chunk != y->chunk) return x->chunk < y->chunk ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static uint64_t prof__track_id(const uint64_t *record) { return record[1] & PROF__TICK_MASK; }

/* Returns the serial of a TRACK record within its track. */
static uint64_t prof__track_serial(const uint64_t *record)
{
    return record[1] >> PROF__TICK_BITS << 28 | (record[0] >> 32 & 0xFFFFFFF);
}

/*-- the words of a chunk --*/

/* Reads size bytes from offset on, from the file or memory of the trace. Returns 0 if they are missing, or no longer
   there. */
static int prof__read_part(const prof_trace *trace, uint64_t offset, void *to, size_t size)
{
    if (offset > trace->size || size > trace->size - offset) return 0;
    if (trace->file) return prof__file_at(trace->file, offset, to, size);
    memcpy(to, (const char *)trace->image + offset, size);
    return 1;
}

static void prof__read_buffer_free(prof__read_buffer *buffer)
{
    free(buffer->words);
    free(buffer->block);
    memset(buffer, 0, sizeof *buffer);
}

/* Returns 0 without memory. */
static int prof__read_buffer_make(const prof_trace *trace, prof__read_buffer *buffer)
{
    if (buffer->words) return 1;
    buffer->words = (uint64_t *)malloc(trace->chunk_words * 8);
    buffer->block = (char *)malloc(PROF__BLOCK_BOUND(trace->chunk_words));
    if (buffer->words && buffer->block) return 1;
    prof__read_buffer_free(buffer);
    return 0;
}

/* Returns 1 if this may be the header of a block that ends before end. */
static int prof__read_block_likely(const prof_trace *trace, const prof__block *block, uint64_t offset, uint64_t end)
{
    return block->magic == PROF__BLOCK_MAGIC && block->sequence && block->words && block->words <= trace->chunk_words &&
           block->size > sizeof *block && block->size % 8 == 0 &&
           block->size <= PROF__BLOCK_BOUND(trace->chunk_words) && block->size <= end - offset;
}

/* Terminates the string of a NAME, ARG or DATA, if it has one, so that callers can get it: a key is one, whatever type
   it states. */
static void prof__read_seal_text(uint64_t *record, size_t length)
{
    unsigned kind = prof__read_kind(*record);
    int key = kind != PROF__KIND_NAME && *record & PROF__ARG_KEY;
    if (kind == PROF__KIND_ARG && *record & PROF__ARG_TO && !key && length > 1) --length;
    if (length > 1 && (kind == PROF__KIND_NAME || key || (*record >> 32 & 0xFF) == PROF_VALUE_STRING))
        ((char *)(record + length))[-1] = 0;
}

static int prof__read_has_text(unsigned kind)
{
    return kind == PROF__KIND_NAME || kind == PROF__KIND_ARG || kind == PROF__KIND_DATA;
}

static void prof__read_seal(uint64_t *words, size_t count)
{
    size_t at, length;
    for (at = 0; at < count; at += length) {
        length = 1;
        if (prof__read_kind(words[at]) - PROF__KIND_BEGIN <= PROF__KIND_END - PROF__KIND_BEGIN) continue;
        length = prof__record_words(words[at], count - at);
        if (!length) return;
        if (prof__read_has_text(prof__read_kind(words[at]))) prof__read_seal_text(words + at, length);
    }
}

/* Returns a hash that shows whether words are still the same. Unlike with the check in a block, an attacker cannot
   choose other words with the same hash. */
static uint64_t prof__read_mark(const prof_trace *trace, const uint64_t *words, size_t count)
{
    const uint64_t *keys = trace->keys;
    uint64_t mark = 0;
    size_t i, part;
    for (; count; words += part, count -= part) {
#ifdef __SIZEOF_INT128__
        __extension__ typedef unsigned __int128 prof__product;
        prof__product sum = 0;
        part = count < PROF__READ_KEYS ? count : PROF__READ_KEYS;
        for (i = 0; i + 1 < part; i += 2) sum += (prof__product)(words[i] + keys[i]) * (words[i + 1] + keys[i + 1]);
        if (i < part) sum += (prof__product)(words[i] + keys[i]) * keys[i + 1];
        mark = prof__mix(mark + (uint64_t)sum) + (uint64_t)(sum >> 64);
#else
        uint64_t sum = 0;
        part = count < PROF__READ_KEYS ? count : PROF__READ_KEYS;
        for (i = 0; i < part; i++)
            sum += (uint64_t)(uint32_t)(words[i] + keys[i]) * (uint32_t)((words[i] >> 32) + (keys[i] >> 32));
        mark = prof__mix(mark + sum);
#endif
    }
    return mark;
}

/* Reads the block at offset, which must end before end, and unpacks it; its strings are not terminated. block: receives
   its header. Returns 0 if there is no block. */
static int prof__read_block(const prof_trace *trace, prof__read_buffer *buffer, uint64_t offset, uint64_t end,
                            prof__block *block)
{
    char *bytes = buffer->block + sizeof *block;
    buffer->chunk = 0;
    buffer->segment = NULL;
    if (offset > end || end - offset < sizeof *block || !prof__read_part(trace, offset, block, sizeof *block) ||
        !prof__read_block_likely(trace, block, offset, end) ||
        !prof__read_part(trace, offset + sizeof *block, bytes, block->size - sizeof *block) ||
        prof__block_check(block, bytes) != block->check ||
        prof__unpack((const unsigned char *)bytes, block->size - sizeof *block, buffer->words, block->words) !=
            block->words)
        return 0;
    return 1;
}

/* Reads size bytes of the ring, from offset in the image on. Returns 0 if they are no longer there. */
static int prof__read_ring_part(const prof_trace *trace, uint64_t offset, void *to, size_t size)
{
    if (trace->paged) return prof__file_at(trace->file, offset, to, size);
    memcpy(to, (const char *)trace->image + offset, size);
    return 1;
}

#define PROF__LATE_RECORDS 4 /* records that may be written late, one after the other: handlers interrupt handlers */

/* Returns the word of the next record that has reached this tick, or 0 if none of the next few of the turn has. */
static size_t prof__read_reaches(const uint64_t *words, size_t at, size_t count, uint64_t tick)
{
    size_t length, timed = 0;
    for (; at < count && timed < PROF__LATE_RECORDS; at += length) {
        length = prof__record_length(words[at], count - at);
        if (!length) return 0;
        if (prof__read_kind(words[at]) == PROF__KIND_TRACK) return 0;
        if (prof__record_timed(words[at]) && (words[at] & PROF__TICK_MASK) >= tick) return at;
        timed += prof__record_timed(words[at]) != 0;
    }
    return 0;
}

#define PROF__JUMPS 64 /* of a chunk: in more the counter did not begin again */

/* Changes the ticks of records as if a counter that began again had gone on. It did not where the next records
   have reached the tick again: then signal handlers recorded, for long, after the clock was read and before that was
   written. Done to words of a chunk whenever they have been read. behind: see prof_trace. write: 0: changes nothing.
   Returns the largest tick. */
static uint64_t prof__read_mend(uint64_t *words, size_t count, uint64_t behind, int write)
{
    uint64_t last = 0, more = 0, most = 0;
    size_t at, length, late = 0; /* late: records before this one were written late */
    int jumps = 0;
    for (at = 0; at < count && (length = prof__record_length(words[at], count - at)) != 0; at += length) {
        uint64_t tick = (words[at] & PROF__TICK_MASK) + more;
        if (prof__read_kind(words[at]) == PROF__KIND_TRACK) last = more = 0;
        if (!prof__record_timed(words[at])) continue;
        if (at >= late && tick < last && last - tick > behind && jumps < PROF__JUMPS) {
            late = last >= more ? prof__read_reaches(words, at + length, count, last - more) : 0;
            if (!late) {
                more += last - tick;
                tick = last;
                jumps++;
            }
        }
        if (tick > PROF__TICK_MASK) tick = PROF__TICK_MASK;
        if (tick > last) last = tick;
        if (tick > most) most = tick;
        if (write) words[at] = (words[at] & ~PROF__TICK_MASK) | tick;
    }
    return most;
}

/* Reads a segment of a ring to its place in the buffer. Returns NULL if it is no longer there. */
static const uint64_t *prof__read_page(const prof_trace *trace, prof__read_buffer *buffer,
                                       const prof__read_segment *segment)
{
    uint64_t *words = buffer->words + segment->first;
    size_t count = segment->end - segment->first;
    if (buffer->segment == segment) return buffer->words;
    buffer->chunk = 0;
    buffer->segment = NULL;
    if (!prof__read_ring_part(trace, (trace->chunks[segment->chunk].place + segment->first) * 8, words, count * 8))
        return NULL;
    if (trace->chunks[segment->chunk].texts) prof__read_seal(words, count);
    if (prof__read_mark(trace, words, count) != segment->mark) return NULL;
    if (trace->chunks[segment->chunk].jumps) prof__read_mend(words, count, trace->behind, 1);
    buffer->segment = segment;
    return buffer->words;
}

/* Returns the words of a chunk, at least those of this segment: in the image, or in the buffer until the next call.
   Returns NULL if they can no longer be read, or have changed, so that the tables do not fit them. */
static const uint64_t *prof__read_words(const prof_trace *trace, prof__read_buffer *buffer,
                                        const prof__read_segment *segment)
{
    const prof__read_chunk *chunk = &trace->chunks[segment->chunk];
    uint32_t size = PROF__LOAD(&chunk->size);
    prof__block block;
    if (!size && !trace->paged) return trace->image + chunk->place;
    if (!buffer->words) return NULL;
    if (!size) return prof__read_page(trace, buffer, segment);
    if (buffer->chunk == segment->chunk + (size_t)1) return buffer->words;
    if (size == PROF__NONE32 || !prof__read_block(trace, buffer, chunk->place, chunk->place + size, &block) ||
        block.size != size || block.sequence != chunk->sequence || block.words != chunk->words)
        return NULL;
    if (chunk->texts) prof__read_seal(buffer->words, chunk->words);
    if (prof__read_mark(trace, buffer->words, chunk->words) != chunk->mark) return NULL;
    if (chunk->jumps) prof__read_mend(buffer->words, chunk->words, trace->behind, 1);
    buffer->chunk = segment->chunk + (size_t)1;
    return buffer->words;
}

/*-- records and segments --*/

/* Collects the event of a device, if the EVENT at this word is one. Returns 0 without memory. */
static int prof__device_take(prof_trace *trace, size_t chunk, uint64_t *words, size_t at, size_t count);

#define PROF__OUTLINE_DEPTH 128 /* scopes that are open at a time, and began in the segment */
#define PROF__OUTLINE_HALVES 24 /* ENDs of those that did not, and BEGINs that stay open */

/* Makes the outline of a segment, see read/outline. */
typedef struct prof__read_outliner {
    prof__read_outline sum;
    uint64_t base;  /* the chunk's tick */
    uint64_t ticks; /* the largest so far, from there on */
    uint64_t behind;   /* a tick that is less than the largest by more: the counter began again */
    int jumps;      /* 1: some are */
    int good;       /* 0: the matcher has to read this segment */
    int takes_data;
    uint32_t data;  /* DATA records of the previous event so far */
    size_t next;    /* the word after the last argument */
    prof__read_half ends[PROF__OUTLINE_HALVES], *top, open[PROF__OUTLINE_DEPTH + 1]; /* open[0] is none */
} prof__read_outliner;

static void prof__read_outline_begin(prof__read_outliner *o, uint64_t base);
static size_t prof__read_outline_scopes(prof__read_outliner *o, const prof_trace *trace, const uint64_t *words,
                                        size_t at, size_t count);
static void prof__read_outline_record(prof__read_outliner *o, const prof_trace *trace, const uint64_t *words,
                                      size_t at, size_t count);
static void prof__read_outline_keep(prof_trace *trace, prof__read_segment *segment, prof__read_outliner *o);

/* Sets a segment's first time, if this is its first record that has one. */
static inline void prof__read_cut_time(const prof_trace *trace, size_t chunk, prof__read_segment *segment,
                                       uint64_t head)
{
    if (!segment || segment->record != ~(uint64_t)0) return;
    segment->record = prof__read_tick(trace->chunks[chunk].tick, head, 0);
    if (segment->tick == ~(uint64_t)0) segment->tick = segment->record;
}

/* Ends a segment before this word. Its strings are terminated already. */
static void prof__read_cut_end(prof_trace *trace, prof__read_segment *segment, const uint64_t *words, size_t at,
                               prof__read_outliner *outliner)
{
    segment->end = (uint32_t)at;
    if (outliner->jumps) trace->chunks[segment->chunk].jumps = 1;
    outliner->good &= !outliner->jumps;
    outliner->jumps = 0;
    prof__read_outline_keep(trace, segment, outliner);
    if (trace->paged && !trace->chunks[segment->chunk].size)
        segment->mark = prof__read_mark(trace, words + segment->first, at - segment->first);
}

/* Cuts the words of a chunk into segments, terminates its strings and adds its call sites. Returns 0 without memory. */
static int prof__read_cut(prof_trace *trace, size_t chunk, uint64_t *words, size_t count)
{
    size_t at, length, segments = trace->segment_count;
    prof__read_segment *segment = NULL;
    prof__read_outliner outliner;
    prof__read_outline_begin(&outliner, trace->chunks[chunk].tick);
    outliner.behind = trace->behind;
    outliner.jumps = 0;
    for (at = 0; at < count; at += length) {
        unsigned kind = prof__read_kind(words[at]);
        if (kind == PROF__KIND_BEGIN || kind == PROF__KIND_END) {
            prof__read_cut_time(trace, chunk, segment, words[at]);
            length = prof__read_outline_scopes(&outliner, trace, words, at, count) - at;
            if (length) continue;
            if (!prof__read_know_site(trace, prof__read_id(words[at]), kind)) return 0;
            outliner.good = 0;
            length = 1;
            continue;
        }
        length = prof__record_words(words[at], count - at);
        if (!length) break;
        if (prof__read_has_text(kind)) {
            prof__read_seal_text(words + at, length);
            trace->chunks[chunk].texts = 1;
        }
        if (kind == PROF__KIND_TRACK) {
            if (trace->segment_count > segments)
                prof__read_cut_end(trace, &trace->segments[trace->segment_count - 1], words, at, &outliner);
            prof__read_outline_begin(&outliner, trace->chunks[chunk].tick);
            if (trace->segment_count >= PROF__NONE32) return 0;
            segment = (prof__read_segment *)PROF__MORE(trace->segments, trace->segment_capacity, trace->segment_count);
            if (!segment) return 0;
            segment->track = prof__track_id(words + at);
            segment->serial = prof__track_serial(words + at);
            segment->tick = at ? ~(uint64_t)0 : trace->chunks[chunk].tick;
            segment->record = ~(uint64_t)0;
            segment->chunk = (uint32_t)chunk;
            segment->first = (uint32_t)at;
            segment->name = (uint32_t)(words[at] & (PROF__NAME_OF_SYSTEM - 1));
            segment->of_system = (words[at] & PROF__NAME_OF_SYSTEM) != 0;
            segment->fiber = words[at] >> 31 & 1;
        } else if (prof__record_timed(words[at]) || kind == PROF__KIND_ARG || kind == PROF__KIND_DATA) {
            if ((prof__record_timed(words[at]) || prof__read_id(words[at])) &&
                !prof__read_know_site(trace, prof__read_id(words[at]), kind))
                return 0;
            if (kind == PROF__KIND_ARG && words[at] & PROF__ARG_TO && length > 1 &&
                !prof__read_know_site(trace, prof__read_id(words[at + length - 1]), PROF__KIND_BEGIN))
                return 0;
            if (prof__record_timed(words[at])) {
                uint64_t now = words[at] & PROF__TICK_MASK;
                prof__read_cut_time(trace, chunk, segment, words[at]);
                outliner.jumps |= now < outliner.ticks && outliner.ticks - now > outliner.behind;
                if (now > outliner.ticks) outliner.ticks = now;
            }
            if (kind == PROF__KIND_EVENT && !prof__read_event_type(words + at) &&
                !prof__device_take(trace, chunk, words, at, count))
                return 0;
        }
        if (outliner.good) prof__read_outline_record(&outliner, trace, words, at, count);
    }
    if (segment) {
        prof__read_cut_end(trace, segment, words, at, &outliner);
        segment->last = 1;
        if (trace->chunks[chunk].jumps) {
            int kept = !trace->paged && !trace->chunks[chunk].size;
            uint64_t reached = trace->chunks[chunk].tick + prof__read_mend(words, at, trace->behind, kept);
            if (reached > trace->reached) trace->reached = reached;
        }
    } else {
        trace->info.lost += trace->chunks[chunk].lost;
    }
    return 1;
}

static int prof__read_same_sequence(const void *owner, size_t item, const void *key)
{
    return ((const prof_trace *)owner)->chunks[item].sequence == *(const uint64_t *)key;
}

/* Keeps a clock pair, unless one nearby is already known. In a trace of any length some ten thousand are kept. */
static int prof__read_pair(prof_trace *trace, const prof__pair *pair)
{
    size_t i, kept = 1;
    if (pair->monotonic_ns <= trace->header.first.monotonic_ns) return 1;
    if (trace->pair_ns) {
        uint64_t before = trace->pairs[trace->pair_count - 1].monotonic_ns, ns = pair->monotonic_ns;
        if ((ns > before ? ns - before : before - ns) < trace->pair_ns) return 1;
    }
    if (trace->pair_count >= 65536) {
        trace->pair_ns = !trace->pair_ns ? 1000000 : trace->pair_ns >> 62 ? trace->pair_ns : trace->pair_ns * 2;
        for (i = 1; i < trace->pair_count; i++) {
            uint64_t before = trace->pairs[kept - 1].monotonic_ns, ns = trace->pairs[i].monotonic_ns;
            if (ns > before && ns - before >= trace->pair_ns) trace->pairs[kept++] = trace->pairs[i];
        }
        trace->pair_count = kept;
    }
    prof__pair *more = (prof__pair *)PROF__MORE(trace->pairs, trace->pair_capacity, trace->pair_count);
    if (more) *more = *pair;
    return more != NULL;
}

static int prof__read_known(const prof_trace *trace, uint64_t sequence)
{
    return prof__read_find(&trace->sequences, (uint32_t)prof__mix(sequence), prof__read_same_sequence, trace,
                           &sequence) != PROF__NONE;
}

/* Adds a chunk with its words, unless there is one with the same sequence. Returns 0 without memory. */
static int prof__read_add_chunk(prof_trace *trace, const prof__read_chunk *chunk, const prof__pair *base,
                                uint64_t *words, size_t count)
{
    uint32_t hash = (uint32_t)prof__mix(chunk->sequence);
    size_t item;
    if (prof__read_known(trace, chunk->sequence)) return 1;
    item = PROF__NEW(trace->sequences, hash, trace->chunks, trace->chunk_capacity, trace->chunk_count);
    if (item == PROF__NONE) return 0;
    trace->chunks[item] = *chunk;
    prof__pair pair = prof__read_unwrap(trace, base);
    trace->chunks[item].tick = pair.tick;
    if (!prof__read_pair(trace, &pair) || !prof__read_cut(trace, item, words, count)) return 0;
    if (chunk->size) trace->chunks[item].mark = prof__read_mark(trace, words, count);
    return 1;
}

/* Returns the next place from offset on, before end, where a block may begin, or end if there is none. */
static uint64_t prof__read_resume(const prof_trace *trace, uint64_t offset, uint64_t end)
{
    uint64_t words[256], last = end < trace->size ? end : trace->size;
    size_t count, i;
    for (; offset < last && last - offset >= 8; offset += count * 8) {
        uint32_t magic;
        count = (last - offset) / 8 < 256 ? (size_t)((last - offset) / 8) : 256;
        if (!prof__read_part(trace, offset, words, count * 8)) return end;
        for (i = 0; i < count; i++) {
            memcpy(&magic, words + i, sizeof magic);
            if (magic == PROF__BLOCK_MAGIC) return offset + i * 8;
        }
    }
    return end;
}

/* Returns 1 if the archive went back to its beginning instead of writing a block here. */
static int prof__read_lap_ends(const prof_trace *trace, uint64_t offset, uint64_t end)
{
    prof__block block;
    if (end - offset < sizeof block) return 1;
    return prof__read_part(trace, offset, &block, sizeof block) && block.magic == PROF__BLOCK_MAGIC &&
           !block.sequence && block.size == sizeof block && block.check == prof__block_check(&block, NULL);
}

/* Reads the blocks from offset to end; before end there may be unused bytes if the archive wraps. Leaves out damaged
   blocks and counts them. Returns 0 without memory. */
static int prof__read_blocks(prof_trace *trace, uint64_t offset, uint64_t end, int wraps)
{
    int damaged = 0;
    uint64_t size = end - offset, tried = 0; /* bytes that are no block */
    while (offset < end) {
        prof__block block;
        uint64_t step;
        memset(&block, 0, sizeof block);
        if (prof__read_block(trace, &trace->buffer, offset, end, &block)) {
            prof__read_chunk chunk;
            damaged = 0;
            memset(&chunk, 0, sizeof chunk);
            chunk.sequence = block.sequence;
            chunk.tick = block.base.tick;
            chunk.lost = block.lost;
            chunk.place = offset;
            chunk.size = block.size;
            chunk.words = block.words;
            /* chunks that began after the ring was copied may be here before chunks that began earlier */
            if ((trace->header.state == PROF__STOPPED || block.sequence <= trace->header.next_chunk) &&
                !prof__read_add_chunk(trace, &chunk, &block.base, trace->buffer.words, block.words))
                return 0;
            offset += block.size;
            continue;
        }
        if (wraps && prof__read_lap_ends(trace, offset, end)) return 1;
        trace->info.lost_blocks += !damaged;
        damaged = 1;
        step = prof__read_block_likely(trace, &block, offset, end) ? block.size : 8;
        tried += step;
        if (tried / 16 < size) step = 8; /* else the image was made so that everything looks like a block */
        offset = prof__read_resume(trace, offset + step, end);
    }
    return 1;
}

static int prof__read_archive(prof_trace *trace)
{
    const prof__header *h = &trace->header;
    uint64_t limit = h->archive_limit && h->archive_limit < trace->size ? h->archive_limit : trace->size;
    if (!h->archive_offset || h->archive_first == h->archive_next) return 1;
    if (!prof__read_buffer_make(trace, &trace->buffer)) return 0;
    if (h->archive_first < h->archive_next) return prof__read_blocks(trace, h->archive_first, h->archive_next, 0);
    return prof__read_blocks(trace, h->archive_first, limit, 1) &&
           prof__read_blocks(trace, h->archive_offset, h->archive_next, 0);
}
