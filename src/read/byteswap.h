// read/byteswap: Byte swap: converts an image of a machine with the other byte order to this machine's, in place,
// before the rest of the reader sees it. The word size of the recording program changes nothing in an image.
#ifndef PROF__READ_BYTESWAP_H
#define PROF__READ_BYTESWAP_H
#include "ground/errors.h"
#include "ground/windows.h"
#include "image/format.h"
#include "image/pack.h"
#include "image/words.h"
#include "read/names.h"
#include "read/set.h"

/*-- images of the other byte order --
   In this module, "turns" means: reverses the bytes of words or fields. An image consists of words, except for texts
   and the bytes of packed blocks, which are the same on all machines. For images in this machine's byte order, the
   module costs one comparison. */

#define PROF__BYTE_ORDER_TURNED 0x04030201u

/* Returns 1 if an image has the other byte order. image: at least its header must be there. */
static int prof__byteswap(const void *image)
{
    uint32_t order;
    memcpy(&order, (const char *)image + offsetof(prof__header, byte_order), sizeof order);
    return order == PROF__BYTE_ORDER_TURNED;
}

static void prof__turn(uint64_t *words, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) words[i] = PROF__SWAPPED(words[i]);
}

/* Turns the fields of a struct, each of size bytes (4 or 8), from byte `from` up to byte `to`. */
static void prof__turn_fields(void *all, size_t from, size_t to, size_t size)
{
    unsigned char *at = (unsigned char *)all + from, *end = (unsigned char *)all + to, other;
    size_t i;
    for (; at < end; at += size)
        for (i = 0; i < size / 2; i++) {
            other = at[i];
            at[i] = at[size - 1 - i];
            at[size - 1 - i] = other;
        }
}

static void prof__turn_header(prof__header *h)
{
    prof__turn_fields(h, offsetof(prof__header, version), offsetof(prof__header, image_size), 4);
    prof__turn_fields(h, offsetof(prof__header, image_size), offsetof(prof__header, chunk_size), 8);
    prof__turn_fields(h, offsetof(prof__header, chunk_size), offsetof(prof__header, pid), 4);
    prof__turn_fields(h, offsetof(prof__header, pid), offsetof(prof__header, program), 8);
    prof__turn_fields(h, offsetof(prof__header, archive_offset), offsetof(prof__header, write_error), 8);
    prof__turn_fields(h, offsetof(prof__header, window_from), offsetof(prof__header, crash), 8);
}

static void prof__turn_block(prof__block *block)
{
    prof__turn_fields(block, 0, offsetof(prof__block, sequence), 4);
    prof__turn_fields(block, offsetof(prof__block, sequence), offsetof(prof__block, words), 8);
    prof__turn_fields(block, offsetof(prof__block, words), sizeof *block, 4);
}

/* Reads the header of an image of either byte order, and converts it to this machine's. */
static void prof__header_get(const void *image, prof__header *header)
{
    memcpy(header, image, sizeof *header);
    if (prof__byteswap(image)) prof__turn_header(header);
}

/* Writes the header of an image in the byte order that the image has. */
static void prof__header_put(void *image, const prof__header *header)
{
    prof__header changed = *header;
    if (prof__byteswap(image)) prof__turn_header(&changed);
    memcpy(image, &changed, sizeof changed);
}

/* Reads size bytes of a stream at offset. Returns 0 if they cannot all be read. Moves the position of the stream, so
   only one thread may use it. */
static int prof__read_at(FILE *file, uint64_t offset, void *to, size_t size)
{
    if (prof__file_seek(file, offset, SEEK_SET)) return 0;
    return fread(to, 1, size, file) == size;
}

/* Reads size bytes at an offset in an image. */
static int prof__image_at(const prof__image_place *place, uint64_t offset, void *to, size_t size)
{
    return prof__read_at(place->file, place->base + offset, to, size);
}

static void prof__turn_meta(uint64_t *words, size_t count)
{
    size_t at, length;
    for (at = 0; at < count; at += length) {
        prof__turn(words + at, 1);
        length = prof__read_meta_words(words, at, count);
        if (!length) return;
        if (words[at] >> 56 != PROF__META_STRING && words[at] >> 56 != PROF__META_SESSION)
            prof__turn(words + at + 1, length - 1);
    }
}

/* Turns the records of a chunk. What follows the last record is left as it is, because the reader does not use it. */
static void prof__turn_records(uint64_t *words, size_t count)
{
    size_t at, length, texts;
    for (at = 0; at < count; at += length) {
        prof__turn(words + at, 1);
        length = prof__record_length(words[at], count - at);
        if (!length) return;
        texts = prof__record_text_words(words[at], length);
        prof__turn(words + at + 1 + texts, length - 1 - texts);
    }
}

/* Removes the marks that detect a power loss from a chunk, because its sums are those of the words before turning.
   chunk: its header has been turned already. bytes: size of the chunk with its header. */
static void prof__turn_marks(prof__chunk *chunk, size_t bytes, size_t header)
{
    uint64_t *words = (uint64_t *)(void *)((char *)chunk + header), last;
    if (!prof__chunk_marked(chunk, header)) return;
    for (size_t i = 0; i < PROF__PARTS; i++) {
        size_t end = prof__part_end(bytes, header, i);
        if (!end) continue;
        last = words[end - 1];
        prof__turn(&last, 1);
        if (prof__part_state(chunk->sequence, last)) words[end - 1] = 0;
    }
    chunk->form ^= PROF__FORM_MARKED ^ PROF__FORM_PLAIN;
}

/* Turns the headers and records of all chunks of the ring, and removes their marks. */
static void prof__turn_chunks(char *image, const prof__header *h)
{
    uint64_t bytes;
    for (uint64_t at = 0; at < h->chunk_count * h->chunk_size; at += bytes) {
        char *chunk = image + h->chunk_offset + at;
        prof__turn_fields(chunk, 0, offsetof(prof__chunk, state), 8);
        prof__turn_fields(chunk, offsetof(prof__chunk, state), offsetof(prof__chunk, lost), 4);
        prof__turn_fields(chunk, offsetof(prof__chunk, lost), PROF__LEAST_CHUNK, 8);
        bytes = prof__form_bytes(h->chunk_size, at, ((prof__chunk *)(void *)chunk)->form);
        if (bytes > h->chunk_header_size) {
            prof__turn_marks((prof__chunk *)(void *)chunk, (size_t)bytes, h->chunk_header_size);
            prof__turn_records((uint64_t *)(void *)(chunk + h->chunk_header_size),
                               (size_t)(bytes - h->chunk_header_size) / 8);
        }
    }
}

/* Turns the headers of the blocks whose checksum is right. The reader counts other blocks as lost. */
static void prof__turn_archive(char *image, size_t size, const prof__header *h)
{
    uint64_t at = h->archive_offset, max = PROF__BLOCK_BOUND(h->chunk_size / 8), tried = 0;
    while (at && at <= size && size - at >= sizeof(prof__block) && tried / 16 <= size) {
        prof__block block;
        memcpy(&block, image + at, sizeof block);
        prof__turn_block(&block);
        if (block.magic == PROF__BLOCK_MAGIC && block.size >= sizeof block && block.size % 8 == 0 &&
            block.size <= max && block.size <= size - at) {
            if (prof__block_check(&block, image + at + sizeof block) == block.check) {
                memcpy(image + at, &block, sizeof block);
                at += block.size;
                continue;
            }
            tried += block.size; /* limits the work for an image that was made so that everything looks like a block */
        }
        at += 8;
    }
}

/* Converts an image to this machine's byte order. size: bytes of the image with its archive, which are 8-byte aligned.
   h: the header, which prof__read_header() has checked. */
static void prof__turn_image(void *image, size_t size, const prof__header *h)
{
    prof__header raw;
    char *bytes = (char *)image;
    if (!prof__byteswap(image)) return;
    memcpy(&raw, image, sizeof raw);
    prof__turn_header(&raw);
    /* The header of an older version is shorter. */
    memcpy(image, &raw, h->header_size < sizeof raw ? h->header_size : sizeof raw);
    prof__turn_meta((uint64_t *)(void *)(bytes + h->meta_offset), (size_t)(h->meta_size / 8));
    prof__turn_chunks(bytes, h);
    prof__turn_archive(bytes, size, h);
}

/* Reads a whole file, with its archive, whose image has the other byte order, and converts it to this machine's. */
static prof_status prof__byteswap_read(const prof__image_place *place, const char *path, const prof__header *h,
                                      unsigned char **image, uint64_t *size)
{
    if (!h->archive_offset) *size = h->image_size;
    *image = *size < (size_t)-1 ? (unsigned char *)malloc((size_t)*size) : NULL;
    if (!*image) return prof__fail(PROF_NO_MEMORY, "%s: no memory to read %lu bytes", path, (unsigned long)*size);
    errno = 0;
    if (!prof__image_at(place, 0, *image, (size_t)*size) || !prof__byteswap(*image))
        return prof__cannot("read", path, "it changed meanwhile");
    prof__turn_image(*image, (size_t)*size, h);
    return PROF_OK;
}

#endif /* PROF__READ_BYTESWAP_H */
