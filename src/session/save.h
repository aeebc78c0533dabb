// session/save: prof_save(): writes a copy of the image, with its archive, to a file.
#ifndef PROF__SESSION_SAVE_H
#define PROF__SESSION_SAVE_H
#include "api/control.h"
#include "api/writers.h"
#include "ground/instances.h"
#include "ground/errors.h"
#include "ground/out.h"
#include "ground/signals.h"
#include "ground/windows.h"
#include "image/format.h"
#include "record/locks.h"
#include "record/ring.h"
#include "record/state.h"
#include "session/file.h"
#include "session/hooks.h"
#include "session/pattern.h"
#include "session/snapshot.h"
#include "session/stream.h"
#include "session/write.h"

/* Reads size bytes of a seekable file, from offset on. Several threads may do so at the same time. Returns 0 if the
   file has fewer bytes. */
static int prof__file_at(FILE *file, uint64_t offset, void *to, size_t size)
{
    char *at = (char *)to;
    while (size) {
        size_t part = size < (size_t)1 << 30 ? size : (size_t)1 << 30;
#ifdef _WIN32
        OVERLAPPED place;
        DWORD got = 0;
        memset(&place, 0, sizeof place);
        place.Offset = (DWORD)offset;
        place.OffsetHigh = (DWORD)(offset >> 32);
        if (!ReadFile((HANDLE)_get_osfhandle(_fileno(file)), at, (DWORD)part, &got, &place) || !got) return 0;
#else
        ssize_t got;
        int tries = 0;
        if ((uint64_t)(prof__offset)offset != offset || (prof__offset)offset < 0) return 0;
        do got = pread(fileno(file), at, part, (prof__offset)offset);
        while (got < 0 && prof__interrupted(&tries));
        if (got <= 0) return 0;
#endif
        at += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return 1;
}

/* Opens the file that has the archive of a session. copy: a copy of that session's header. Returns NULL if there is
   none. */
static FILE *prof__archive_open(const prof__header *copy)
{
    FILE *stream = NULL;
#ifdef PROF_NO_THREAD
    (void)copy;
#elif defined(_WIN32)
    uint32_t write_lock = prof__state_lock();
    const prof__session *s = prof__state.session;
    if (copy->archive_offset && s && s->file.live_path && s->header->session == copy->session)
        stream = prof__file_open(s->file.live_path, "rb");
    prof__state_unlock(write_lock);
#else
    int file = -1;
    uint32_t write_lock = prof__state_lock();
    const prof__session *s = prof__state.session;
    prof__about about;
    if (copy->archive_offset && s && s->file.live_path && s->header->session == copy->session) {
        if (prof__stream_file_there(s)) file = fcntl(s->stream.file, F_DUPFD_CLOEXEC, 0);
        if (file < 0) file = open(s->file.live_path, O_RDONLY | PROF__O_FILE);
        if (file >= 0 && (prof__fstat(file, &about) || (uint64_t)about.st_ino != s->stream.inode ||
                          (uint64_t)about.st_dev != s->stream.device)) {
            close(file); /* a different file has that name by now */
            file = -1;
        }
    }
    prof__state_unlock(write_lock);
    if (file >= 0) stream = fdopen(file, "rb");
    if (file >= 0 && !stream) close(file);
#endif
    return stream;
}

/* Returns where the archive's oldest lap ends. An archive that rotates begins anew at its start when it is full: the
   blocks from one beginning to the next are a lap. */
static uint64_t prof__archive_lap_end(FILE *file, const prof__header *h)
{
    uint64_t at = h->archive_first;
    prof__block block;
    if (at <= h->archive_next) return h->archive_next;
    while (h->archive_limit - at >= sizeof block && prof__file_at(file, at, &block, sizeof block) &&
           block.magic == PROF__BLOCK_MAGIC && block.sequence && block.size >= sizeof block &&
           block.size <= h->archive_limit - at)
        at += block.size;
    return at;
}

static int prof__read_size(FILE *file, uint64_t *size)
{
#ifdef _WIN32
    long long end = prof__file_seek(file, 0, SEEK_END) ? -1 : _ftelli64(file);
#else
    prof__offset end = prof__file_seek(file, 0, SEEK_END) ? -1 : ftello(file);
#endif
    *size = end < 0 ? 0 : (uint64_t)end;
    return end >= 0;
}

/* Returns where to stop copying the archive's bytes: at `to`. If the file was truncated before that, returns one word
   after the end of the file: readers count the missing word as a lost block. */
static uint64_t prof__archive_cut(FILE *file, uint64_t from, uint64_t to)
{
    uint64_t size;
    if (from >= to || !prof__read_size(file, &size) || to <= size) return to;
    size = size / 8 * 8;
    return (size > from ? size : from) + 8;
}

/* Copies bytes of the archive. Readers notice if some are overwritten meanwhile. Missing bytes are copied as zeros. */
static void prof__out_archive(prof__out *out, FILE *file, uint64_t from, uint64_t to)
{
    uint64_t bytes[512];
    while (from < to && !out->status) {
        size_t size = to - from < sizeof bytes ? (size_t)(to - from) : sizeof bytes;
        if (!prof__file_at(file, from, bytes, size)) {
            size = 8; /* near the end of the file, word by word */
            if (!prof__file_at(file, from, bytes, size)) bytes[0] = 0;
        }
        prof__out_bytes(out, bytes, size);
        from += size;
    }
}

/* Writes bytes, and leaves holes for pages that are all zero. */
static void prof__out_sparse(prof__out *out, const char *from, uint64_t size)
{
    uint64_t zeros = 0, piece;
    for (; size; from += piece, size -= piece) {
        piece = size < 4096 ? size : 4096;
        if (!*from && !memcmp(from, from + 1, (size_t)piece - 1)) {
            zeros += piece;
            continue;
        }
        prof__out_zeros(out, zeros);
        prof__out_bytes(out, from, (size_t)piece);
        zeros = 0;
    }
    prof__out_zeros(out, zeros);
}

/* Writes an image without its archive: the used parts of meta and of the chunks, and the parts of meta's index that are
   not zero. */
static void prof__out_used(prof__out *out, const void *bytes, size_t size)
{
    const prof__header *h = (const prof__header *)bytes;
    const char *from = (const char *)bytes;
    uint64_t used = h->next_chunk && h->next_chunk < h->chunk_count ? h->next_chunk : h->chunk_count;
    uint64_t meta = h->meta_offset + (h->meta_used && h->meta_used < h->meta_size ? h->meta_used : h->meta_size);
    uint64_t index = h->meta_offset + h->meta_size;
    if (index > h->chunk_offset || h->chunk_offset > size || used > (size - h->chunk_offset) / h->chunk_size) {
        prof__out_bytes(out, bytes, size); /* this layout is not prof_start()'s, so everything is written */
        return;
    }
    uint64_t end = h->chunk_offset + used * h->chunk_size;
    prof__out_bytes(out, from, (size_t)meta);
    prof__out_zeros(out, index - meta);
    prof__out_sparse(out, from + index, h->chunk_offset - index);
    prof__out_bytes(out, from + h->chunk_offset, (size_t)(end - h->chunk_offset));
    prof__out_zeros(out, size - end);
}

/* Writes a copy of an image and, directly after it, the image's archive from file, the oldest block first. Changes the
   copy's header accordingly. */
static void prof__out_image(prof__out *out, void *bytes, size_t size, FILE *file)
{
    prof__header *h = (prof__header *)bytes, from = *h;
    int laps = h->archive_first > h->archive_next;
    uint64_t end = h->archive_first != h->archive_next ? prof__archive_lap_end(file, h) : h->archive_next;
    end = prof__archive_cut(file, from.archive_first, end);
    if (laps) from.archive_next = prof__archive_cut(file, from.archive_offset, from.archive_next);
    if (h->archive_offset) {
        h->archive_offset = h->archive_first = size;
        h->archive_next = size + (end - from.archive_first) + (laps ? from.archive_next - from.archive_offset : 0);
        h->archive_limit = h->archive_next;
    }
    prof__out_used(out, bytes, size);
    prof__out_archive(out, file, from.archive_first, end);
    if (laps) prof__out_archive(out, file, from.archive_offset, from.archive_next);
}

/* Writes a copy of the image that is being recorded, with its archive. Opens the archive's file itself. */
static prof_status prof__out_live(prof__out *out, void *bytes, size_t size)
{
    const prof__header *h = (const prof__header *)bytes;
    FILE *file = NULL;
    if (h->archive_first != h->archive_next && !(file = prof__archive_open(h)))
        return prof__fail(PROF_IO, "cannot read the archive of what was recorded: its file was removed");
    prof__out_image(out, bytes, size, file);
    if (file) fclose(file);
    return PROF_OK;
}

static prof_status prof__image_write(const char *path, void *bytes, size_t size)
{
    prof__out out;
    prof_status status = prof__out_file(&out, path);
    if (status) return status;
    prof__out_fail(&out, prof__out_live(&out, bytes, size));
    return prof__out_close(&out);
}

static prof_status prof__save_image(const char *path)
{
    void *bytes;
    size_t size;
    prof_status status = prof__image_copy(&bytes, &size);
    if (status) return status;
    status = prof__image_write(path, bytes, size);
    free(bytes);
    return status;
}

PROF_DEF prof_status prof_save(const char *path)
{
    PROF__FORWARD(prof_save, (path));
    char expanded[1024];
    const prof_writer *writer;
    if (!path) return prof__null("prof_save", "path");
    prof_status status = prof__expand(path, expanded, sizeof expanded);
    if (!status) status = prof__writer_for(expanded, prof__live_mode(), &writer);
    if (status) return status;
    status = writer ? prof__reader()->write_live(expanded, writer) : prof__save_image(expanded);
    return status ? status : prof__stream_told(expanded);
}

#endif /* PROF__SESSION_SAVE_H */
