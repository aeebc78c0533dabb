/* image_switches.h - context switches in images of image.h, after which it is included. Ticks are nanoseconds, and time 0
   is CLOCK_MONOTONIC START_MONOTONIC. */
#ifndef IMAGE_SWITCHES_H
#define IMAGE_SWITCHES_H

static uint64_t switches_serial;

static inline void system_event(image *im, unsigned what, uint32_t processor, uint64_t ns, const uint64_t *words, size_t count)
{
    put(im, head(PROF__KIND_EVENT, 0, 100));
    put(im, ((switches_serial++ & 0xFFFF) << 40 | (uint64_t)what << 32 | processor) << 8 | PROF__DEVICE_SWITCHES);
    put(im, START_MONOTONIC + ns);
    if (count) put(im, (uint64_t)PROF__KIND_DATA << PROF__KIND_SHIFT | count);
    for (size_t i = 0; i < count; ++i) put(im, words[i]);
}

static inline void switch_at(image *im, uint32_t processor, uint64_t ns, uint32_t thread, unsigned what)
{
    uint64_t word = prof__switch_word(0, thread, what);
    system_event(im, PROF__SWITCHES_OF, processor, ns, &word, 1);
}

static inline void known_until(image *im, uint64_t ns) { system_event(im, PROF__SWITCHES_UNTIL, 0, ns, NULL, 0); }

static inline void system_begin(image *im, uint64_t ns, uint32_t thread, unsigned what)
{
    uint64_t word = prof__switch_word(0, thread, what);
    system_event(im, PROF__SWITCHES_BEGIN, 0, ns, &word, 1);
}

#endif
