// image/words: How many words a record has. For those who read what is being written.
/* The words of a record of each kind, four bits each; 15: the head says how many follow. One number replaces a branch
   for each record. */
#define PROF__WORDS_OF(kind, words) ((uint64_t)(words) << 4 * (kind))
#define PROF__WORDS                                                                                                   \
    (PROF__WORDS_OF(PROF__KIND_BEGIN, 1) | PROF__WORDS_OF(PROF__KIND_END, 1) | PROF__WORDS_OF(PROF__KIND_MARK, 1) |   \
     PROF__WORDS_OF(PROF__KIND_FRAME, 1) | PROF__WORDS_OF(PROF__KIND_LOST, 1) | PROF__WORDS_OF(PROF__KIND_EVENT, 3) | \
     PROF__WORDS_OF(PROF__KIND_COUNTER_INT, 2) | PROF__WORDS_OF(PROF__KIND_COUNTER_DOUBLE, 2) | \
     PROF__WORDS_OF(PROF__KIND_COUNTER_UINT, 2) |                       \
     PROF__WORDS_OF(PROF__KIND_TRACK, 3) | PROF__WORDS_OF(PROF__KIND_ARG, 15) | PROF__WORDS_OF(PROF__KIND_DATA, 15) | \
     PROF__WORDS_OF(PROF__KIND_NAME, 15))

/* Returns the words of the record with this head, or 0 if it is not a record. left: the words that remain. */
static inline size_t prof__record_words(uint64_t head, size_t left)
{
    size_t words = (size_t)(PROF__WORDS >> (head >> PROF__KIND_SHIFT << 2)) & 15;
    if (words == 15) words = 1 + (size_t)(head & 0xFFFF);
    return words <= left ? words : 0;
}

/* Does the same, for what runs seldom. */
static size_t prof__record_length(uint64_t head, size_t left)
{
    return prof__record_words(head, left);
}

#define PROF__HOLE_WORDS 64u

/* Returns where so many words of zero begin that others follow, or count. Looks at every 32nd word. */
static size_t prof__words_hole(const uint64_t *words, size_t count)
{
    size_t at = 0, first, end, all = count;
    while (count && !words[count - 1]) --count;
    for (; at < count; at += PROF__HOLE_WORDS / 2) {
        if (words[at]) continue;
        for (first = at; first && !words[first - 1];) --first;
        for (end = at; !words[end];) ++end;
        if (end - first >= PROF__HOLE_WORDS) return first;
    }
    return all;
}

/* Returns the bytes of the chunk of this form at `at`, in a ring of slots of this size. What the form of a damaged
   image says may be wrong: then they are the rest of the slot. */
static uint64_t prof__form_bytes(uint64_t slot, uint64_t at, uint32_t form)
{
    uint64_t rest = slot - at % slot, bytes = slot >> PROF__FORM_DEPTH(form);
    return bytes < PROF__FORM_LEAST || bytes % 8 || bytes > rest ? rest : bytes;
}
