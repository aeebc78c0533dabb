/* rtt.h - a way out without files of a host: two buffers in memory that a debug probe finds and empties while the program
   runs. Their layout is that of SEGGER's RTT, which J-Link, OpenOCD, pyOCD and probe-rs know. Buffer 0 is for text, 1 has
   the pieces of prof_drain(): 4 bytes each for place and size, then the bytes. place.py makes a file of them. */
typedef struct rtt_up {
    const char *name;
    unsigned char *buffer;
    uint32_t size;
    volatile uint32_t written, read; /* places in the buffer; the probe changes the second one */
    uint32_t flags;                  /* 0: what does not fit is not written */
} rtt_up;

static unsigned char rtt_text[128], rtt_pieces[2048]; /* a piece is at most as large as a chunk */
static struct {
    volatile char id[16];
    uint32_t ups, downs;
    rtt_up up[2];
} rtt;
typedef char rtt_fits[sizeof rtt == 24 + 2 * 24 ? 1 : -1];

static void rtt_start(void)
{
    static const char backwards[] = "TTR REGGES"; /* the probe must find it once in memory */
    rtt.ups = 2;
    rtt.up[0].name = "Terminal";
    rtt.up[0].buffer = rtt_text;
    rtt.up[0].size = sizeof rtt_text;
    rtt.up[1].name = "prof";
    rtt.up[1].buffer = rtt_pieces;
    rtt.up[1].size = sizeof rtt_pieces;
    __asm__ volatile("" ::: "memory");
    for (uint32_t i = 0; i < 10; ++i) rtt.id[i] = backwards[9 - i];
}

static uint32_t rtt_copy(const rtt_up *up, uint32_t at, const void *from, uint32_t size)
{
    for (uint32_t i = 0; i < size; ++i) {
        up->buffer[at] = ((const unsigned char *)from)[i];
        at = at + 1 == up->size ? 0 : at + 1;
    }
    return at;
}

/* Adds both parts, or nothing, while there is no space: then returns 0. */
static int rtt_write(rtt_up *up, const void *head, uint32_t head_size, const void *data, uint32_t size)
{
    uint32_t at = up->written, read = up->read, used = at >= read ? at - read : at + up->size - read;
    if (head_size + size >= up->size - used) return 0; /* a full buffer would look like an empty one */
    at = rtt_copy(up, at, head, head_size);
    at = rtt_copy(up, at, data, size);
    __asm__ volatile("" ::: "memory");
    up->written = at;
    return 1;
}

static void rtt_print(const char *text)
{
    uint32_t size = 0;
    while (text[size]) ++size;
    rtt_write(&rtt.up[0], NULL, 0, text, size);
}

/* For prof_drain(), which tries again what found no space. */
static prof_status rtt_piece(void *unused, uint64_t offset, const void *data, size_t size)
{
    uint32_t head[] = {(uint32_t)offset, (uint32_t)size};
    (void)unused;
    return rtt_write(&rtt.up[1], head, sizeof head, data, (uint32_t)size) ? PROF_OK : PROF_IO;
}
