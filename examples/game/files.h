/* What the game leaves behind: its last frame as a PNG, what was heard as a WAV. */
#undef PROF_CATEGORY
#define PROF_CATEGORY "files"

static unsigned char *put_big(unsigned char *to, uint32_t x)
{
    for (int shift = 24; shift >= 0; shift -= 8) *to++ = (unsigned char)(x >> shift);
    return to;
}

static unsigned char *put_little(unsigned char *to, uint32_t x, int bytes)
{
    for (; bytes; bytes--, x >>= 8) *to++ = (unsigned char)x;
    return to;
}

static void write_file(const char *path, const unsigned char *data, const unsigned char *end)
{
    FILE *file = fopen(path, "wb");
    size_t size = (size_t)(end - data), written = file ? fwrite(data, 1, size, file) : 0;
    if (file && fclose(file) == 0 && written == size) return;
    fprintf(stderr, "game: cannot write %s: %s\n", path, strerror(errno));
    exit(1);
}

/* Completes a chunk of a PNG: size, four letters, what is there already, checksum. Returns where the next begins. */
static unsigned char *png_chunk(unsigned char *chunk, const char *letters, unsigned char *end)
{
    uint32_t crc = 0xffffffffu;
    put_big(chunk, (uint32_t)(end - chunk - 8));
    memcpy(chunk + 4, letters, 4);
    for (unsigned char *p = chunk + 4; p < end; p++) {
        crc ^= *p;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return put_big(end, ~crc);
}

/* Nothing is compressed: each row is one stored block of deflate. */
static void write_picture(const char *path)
{
    enum { ROW = 1 + 3 * WIDTH };
    static unsigned char png[128 + HEIGHT * (5 + ROW)];
    uint32_t sum = 1, sums = 0;
    PROFILE_FUNCTION();
    memcpy(png, "\211PNG\r\n\032\n", 8);
    unsigned char *chunk = png + 8, *p = put_big(put_big(chunk + 8, WIDTH), HEIGHT);
    memcpy(p, "\10\2\0\0\0", 5); /* 8 bits each of red, green and blue */
    chunk = png_chunk(chunk, "IHDR", p + 5);
    p = put_little(chunk + 8, 0x0178, 2);
    for (int y = 0; y < HEIGHT; y++) {
        *p++ = y == HEIGHT - 1;
        p = put_little(put_little(p, ROW, 2), 65535 - ROW, 2);
        unsigned char *row = p;
        *p++ = 0; /* no filter */
        for (int x = 0; x < WIDTH; x++) {
            uint32_t color = picture[y * WIDTH + x];
            p = put_little(p, color >> 16 | (color & 0xff00) | (color & 255) << 16, 3);
        }
        for (; row < p; row++) sum = (sum + *row) % 65521, sums = (sums + sum) % 65521;
    }
    chunk = png_chunk(chunk, "IDAT", put_big(p, sums << 16 | sum));
    write_file(path, png, png_chunk(chunk, "IEND", chunk + 8));
}

static void write_sound(const char *path)
{
    static unsigned char wav[44 + 2 * TAPE];
    uint32_t bytes = 2 * (uint32_t)sound.used;
    PROFILE_FUNCTION();
    memcpy(wav, "RIFF....WAVEfmt ", 16);
    put_little(wav + 4, 36 + bytes, 4);
    unsigned char *p = put_little(wav + 16, 16, 4);
    p = put_little(put_little(p, 1, 2), 1, 2); /* PCM, one channel */
    p = put_little(put_little(p, RATE, 4), 2 * RATE, 4);
    p = put_little(put_little(p, 2, 2), 16, 2); /* bytes and bits of a sample */
    memcpy(p, "data", 4);
    p = put_little(p + 4, bytes, 4);
    for (int i = 0; i < sound.used; i++) p = put_little(p, (uint32_t)sound.tape[i], 2);
    write_file(path, wav, p);
}
