/* What packing costs, and how much it saves, on recorded images: bench_pack FILE.prof...

   Packs and unpacks each chunk of the ring as PROF_STREAM does, several times, and prints the best round. */
#define PROF_IMPLEMENTATION
#include "../prof_read.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time); /* others may want the processor, too */
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void *must(void *memory)
{
    if (memory) return memory;
    fprintf(stderr, "bench_pack: no memory\n");
    exit(1);
}

static void bench(const char *path, FILE *file)
{
    prof__header h;
    size_t count = 0, room, i, k;
    uint64_t scopes = 0, words = 0, bytes = 0;
    double pack = 1e9, unpack = 1e9;
    if (fread(&h, sizeof h, 1, file) != 1 || memcmp(h.magic, PROF__MAGIC, 8) || h.chunk_header_size != sizeof(prof__chunk)) {
        fprintf(stderr, "bench_pack: %s is no image\n", path);
        return;
    }
    room = (h.chunk_size - sizeof(prof__chunk)) / 8;
    char *chunks = (char *)must(malloc((size_t)(h.chunk_count + 1) * h.chunk_size));
    prof__block *block = (prof__block *)must(malloc(PROF__BLOCK_BOUND(room)));
    uint64_t *back = (uint64_t *)must(malloc(room * 8));
    if (fseek(file, (long)h.chunk_offset, SEEK_SET)) return;
    for (i = 0; i < h.chunk_count && fread(chunks + count * h.chunk_size, h.chunk_size, 1, file) == 1; ++i)
        count += ((prof__chunk *)(void *)(chunks + count * h.chunk_size))->sequence != 0;
    for (k = 0; k < 5; ++k) {
        double packing = 0, unpacking = 0;
        scopes = words = bytes = 0;
        for (i = 0; i < count; ++i) {
            prof__chunk *chunk = (prof__chunk *)(void *)(chunks + i * h.chunk_size);
            const uint64_t *at = (const uint64_t *)(const void *)(chunk + 1);
            double start = now(), middle;
            size_t used, w;
            bytes += prof__block_pack(chunk, at, room, block);
            used = block->words;
            middle = now();
            packing += middle - start;
            if (prof__block_check(block, block + 1) != block->check ||
                prof__unpack((const unsigned char *)(block + 1), block->size - sizeof *block, back, used) != used ||
                memcmp(back, at, used * 8)) {
                fprintf(stderr, "bench_pack: %s: chunk %lu does not come back\n", path, (unsigned long)i);
                exit(1);
            }
            unpacking += now() - middle;
            words += used;
            for (w = 0; w < used; w += prof__record_words(at[w], used - w)) scopes += at[w] >> PROF__KIND_SHIFT == PROF__KIND_BEGIN;
        }
        if (packing < pack) pack = packing;
        if (unpacking < unpack) unpack = unpacking;
    }
    printf("%s: %lu chunks, %.1f %% of their words, %.2f bytes a scope; packs %.0f, unpacks %.0f MB/s of words\n", path,
           (unsigned long)count, 100.0 * (double)bytes / ((double)words * 8 + !words), (double)bytes / ((double)scopes + !scopes),
           (double)words * 8e-6 / pack, (double)words * 8e-6 / unpack);
    free(chunks);
    free(block);
    free(back);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; ++i) {
        FILE *file = fopen(argv[i], "rb");
        if (!file) {
            perror(argv[i]);
            return 1;
        }
        bench(argv[i], file);
        fclose(file);
    }
    return 0;
}
