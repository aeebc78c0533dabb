/* recover.c - prof recover: finds recordings in core dumps, copies of memory and damaged files. */
#include "tool.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#include <unistd.h>
#endif

#define SCAN ((size_t)1 << 20) /* how many bytes are read at a time */
#define MAGIC "prof.img"
#define MAGIC_SIZE 8

static const tool_option options[] = {
    {"--output", "-o", "OUT", "the first image; further ones get a number: OUT.2.prof; default: IN.recovered.prof"},
    TOOL_PROGRESS,
    {NULL, NULL, NULL, NULL}};

/* A part of an ELF core file. Its bytes were adjacent in memory. */
typedef struct piece {
    uint64_t address, offset, size; /* size: how many of the bytes are in the file */
} piece;

typedef struct source {
    FILE *file;
    uint64_t size;
    piece *pieces; /* of a core file, sorted by address; NULL: another kind of file */
    size_t piece_count;
    const piece *home; /* the piece in which the present image begins; NULL: not a core file */
} source;

typedef struct hunt {
    source from;
    const char *in, *out; /* out: NULL: a name made of `in` */
    uint64_t written;
    int found, failed, empty; /* how many images were written, could not be written, have no events */
} hunt;

static int seek(FILE *file, uint64_t offset)
{
#ifdef _WIN32
    return _fseeki64(file, (long long)offset, SEEK_SET);
#else
    return offset > 0x7FFFFFFFFFFFFFFFu || fseeko(file, (off_t)offset, SEEK_SET);
#endif
}

static uint64_t file_size(FILE *file)
{
#ifdef _WIN32
    long long size = _fseeki64(file, 0, SEEK_END) ? -1 : _ftelli64(file);
#else
    off_t size = fseeko(file, 0, SEEK_END) ? -1 : ftello(file);
#endif
    return size < 0 ? 0 : (uint64_t)size;
}

/* Reads up to `size` bytes at an offset. Returns how many it read. */
static size_t read_at(const source *from, uint64_t offset, void *to, size_t size)
{
    return offset < from->size && !seek(from->file, offset) ? fread(to, 1, size, from->file) : 0;
}

/* Returns the next offset outside of a hole of the file, as far as the system can tell. */
static uint64_t skip_hole(const source *from, uint64_t offset)
{
#ifdef SEEK_DATA
    off_t data = lseek(fileno(from->file), (off_t)offset, SEEK_DATA);
    if (data > (off_t)offset) return (uint64_t)data;
    if (data < 0 && errno == ENXIO) return from->size;
#else
    (void)from;
#endif
    return offset;
}

/*-- core files --*/

/* Returns a number of `size` bytes from a core file, which may have another machine's byte order. */
static uint64_t field(const unsigned char *at, size_t size, int little)
{
    uint64_t value = 0;
    size_t i;
    for (i = 0; i < size; i++) value = value << 8 | at[little ? size - 1 - i : i];
    return value;
}

static int by_address(const void *a, const void *b)
{
    const piece *x = (const piece *)a, *y = (const piece *)b;
    return x->address < y->address ? -1 : x->address > y->address;
}

/* Returns how many program headers there are. If they are more than 65534, the first section header has the number. */
static uint64_t header_count(const source *from, const unsigned char *elf, int wide, int little)
{
    unsigned char section[64];
    uint64_t count = field(elf + (wide ? 56 : 44), 2, little);
    uint64_t sections = wide ? field(elf + 40, 8, little) : field(elf + 32, 4, little);
    if (count != 0xFFFF || read_at(from, sections, section, sizeof section) < (wide ? 48u : 32u)) return count;
    return field(section + (wide ? 44 : 28), 4, little);
}

/* Reads the program headers of a core file: which of its parts were where in memory. Does nothing for other files. */
static void read_pieces(source *from)
{
    unsigned char elf[64] = {0}, head[56];
    int wide, little;
    uint64_t count, table, i;
    size_t size;
    if (read_at(from, 0, elf, sizeof elf) < 52 || memcmp(elf, "\177ELF", 4)) return;
    wide = elf[4] == 2;
    little = elf[5] == 1;
    if (field(elf + 16, 2, little) != 4) return;
    size = wide ? 56 : 32;
    table = wide ? field(elf + 32, 8, little) : field(elf + 28, 4, little);
    count = header_count(from, elf, wide, little);
    if (count > from->size / size) return;
    from->pieces = (piece *)calloc((size_t)count + 1, sizeof *from->pieces);
    for (i = 0; from->pieces && i < count; i++) {
        piece *p = &from->pieces[from->piece_count];
        if (read_at(from, table + i * size, head, size) < size || field(head, 4, little) != 1) continue;
        p->offset = wide ? field(head + 8, 8, little) : field(head + 4, 4, little);
        p->address = wide ? field(head + 16, 8, little) : field(head + 8, 4, little);
        p->size = wide ? field(head + 32, 8, little) : field(head + 16, 4, little);
        if (p->offset >= from->size) continue;
        if (p->size > from->size - p->offset) p->size = from->size - p->offset;
        from->piece_count += p->size != 0;
    }
    if (from->pieces) qsort(from->pieces, from->piece_count, sizeof *from->pieces, by_address);
}

/* Returns the piece that has the byte at an offset of the file. Returns NULL if none has. */
static const piece *piece_of_offset(const source *from, uint64_t offset)
{
    size_t i;
    for (i = 0; i < from->piece_count; i++)
        if (offset >= from->pieces[i].offset && offset - from->pieces[i].offset < from->pieces[i].size)
            return &from->pieces[i];
    return NULL;
}

/* Finds the byte that was `distance` bytes after the byte at `start` in memory. Sets *offset to its offset in the file.
   Returns how many bytes the file has from there. Returns 0 if the byte was not dumped, or the file is too short. */
static uint64_t find_bytes(const source *from, uint64_t start, uint64_t distance, uint64_t *offset)
{
    const piece *p = from->home;
    uint64_t address, end = p ? p->offset + p->size : from->size;
    size_t low, high = from->piece_count;
    *offset = start + distance;
    if (distance < end - start) return end - start - distance;
    if (!p) return 0;
    address = p->address + (start - p->offset) + distance;
    for (low = (size_t)(p - from->pieces); high - low > 1;) { /* the last piece that begins at or before it */
        size_t middle = low + (high - low) / 2;
        if (from->pieces[middle].address <= address)
            low = middle;
        else
            high = middle;
    }
    p = &from->pieces[low];
    if (address - p->address >= p->size) return 0;
    *offset = p->offset + (address - p->address);
    return p->size - (address - p->address);
}

/* Returns how many of the `size` bytes from `start` on, as they were in memory, the file has. */
static uint64_t measure(const source *from, uint64_t start, uint64_t size)
{
    uint64_t done = 0, run, offset;
    while (done < size && (run = find_bytes(from, start, done, &offset)) != 0) done += run;
    return done < size ? done : size;
}

/*-- one image --*/

/* Returns OUT.prof, OUT.2.prof, OUT.3.prof and so on. The caller frees it. */
static char *output_path(const hunt *h, int number)
{
    const char *base = h->out ? h->out : tool_same(h->in, "-") ? "stdin" : h->in;
    size_t length = strlen(base);
    char *path = (char *)malloc(length + 64);
    if (!path) return NULL;
    if (tool_same(tool_extension(base), ".prof")) length -= 5;
    memcpy(path, base, length);
    if (!h->out) length += (size_t)sprintf(path + length, ".recovered");
    if (number > 1)
        sprintf(path + length, ".%d.prof", number);
    else
        strcpy(path + length, h->out ? h->out + length : ".prof");
    return path;
}

/* Writes the image at `start`, with `head` in place of its first bytes. */
static int write_image(const source *from, uint64_t start, const char *head, uint64_t size, tool_out *out, char *room)
{
    uint64_t done = size < PROF_IMAGE_LOOK ? size : PROF_IMAGE_LOOK, run, offset;
    tool_out_bytes(out, head, (size_t)done);
    while (done < size) {
        run = find_bytes(from, start, done, &offset);
        if (!run) return 0;
        if (run > size - done) run = size - done;
        if (run > SCAN) run = SCAN;
        if (read_at(from, offset, room, (size_t)run) < run) return 0;
        tool_out_bytes(out, room, (size_t)run);
        done += run;
    }
    return 1;
}

static void report(const char *path, uint64_t start, uint64_t whole, uint64_t left)
{
    prof_trace *trace = NULL;
    char a[48], b[48], c[48];
    printf("%s: %s ", path, tool_count(a, left));
    if (left < whole) printf("of up to %s ", tool_count(b, whole));
    printf("bytes at 0x%llx", (unsigned long long)start);
    if (prof_trace_open(path, &trace) == PROF_OK) {
        const prof_trace_info *info = prof_trace_about(trace);
        printf("; ");
        tool_print_name(*info->program ? info->program : "(unnamed)", 0);
        printf(", process %llu, %s event%s on %s track%s", (unsigned long long)info->pid,
               tool_count(c, info->event_count), info->event_count == 1 ? "" : "s",
               tool_count(a, prof_trace_track_count(trace)), prof_trace_track_count(trace) == 1 ? "" : "s");
        prof_trace_close(trace);
    } else {
        printf("; but it cannot be read: %s", prof_error());
    }
    printf("\n");
}

/* Saves the image that begins with `head`. Returns how many bytes of the file it takes from `start` on. */
static uint64_t save(hunt *h, uint64_t start, char *head, uint64_t whole, char *room)
{
    uint64_t left, size = whole, here, offset;
    char *path;
    tool_out *out;
    int good;
    h->from.home = piece_of_offset(&h->from, start);
    left = measure(&h->from, start, whole);
    if (left < whole && prof_image_shorten(head, left, &size) != PROF_OK) {
        h->empty++;
        return MAGIC_SIZE;
    }
    h->written += size;
    /* Images larger than the file that has them can only come from a file made to fill the disk. */
    if (h->written > h->from.size && ++h->failed)
        return tool_fail("%s: the images in it overlap", tool_shown(h->in)), MAGIC_SIZE;
    path = output_path(h, h->found + 1);
    out = path ? tool_out_open(path) : NULL;
    good = out && write_image(&h->from, start, head, size, out, room);
    if (out && !good)
        tool_fail("cannot read %s: %s", tool_shown(h->in),
                  ferror(h->from.file) ? strerror(errno ? errno : EIO) : "it became shorter");
    if (out && !tool_out_close(out, good)) {
        h->found++;
        tool_progress_end();
        report(path, start, whole, left);
    } else {
        h->failed++;
    }
    free(path);
    here = find_bytes(&h->from, start, 0, &offset);
    return here < left ? here : left;
}

/*-- the search --*/

/* Returns the offset of the next magic number in `size` bytes. Returns `size` if there is none. */
static size_t find_magic(const char *bytes, size_t size)
{
    const char *at = bytes, *end = bytes + size;
    while (end - at >= MAGIC_SIZE &&
           (at = (const char *)memchr(at, MAGIC[0], (size_t)(end - at) - MAGIC_SIZE + 1)) != NULL) {
        if (!memcmp(at, MAGIC, MAGIC_SIZE)) return (size_t)(at - bytes);
        at++;
    }
    return size;
}

/* Examines a place with a magic number, of which `got` bytes were read. Returns how many bytes the search may skip. */
static uint64_t look(hunt *h, uint64_t start, const char *bytes, size_t got, char *room)
{
    char head[PROF_IMAGE_LOOK];
    uint64_t size;
    memset(head, 0, sizeof head);
    if (got >= sizeof head)
        memcpy(head, bytes, got = sizeof head);
    else
        got = read_at(&h->from, start, head, sizeof head);
    if (prof_image_find(head, got, &size) != PROF_OK) return MAGIC_SIZE;
    return save(h, start, head, size, room);
}

/* Searches the whole file, SCAN bytes at a time. Reads the last few bytes again, because a magic number may begin in
   them. */
static void search(hunt *h, char *room, char *copy_room)
{
    uint64_t at = 0;
    while (at < h->from.size && !h->failed) {
        uint64_t data = skip_hole(&h->from, at), step = 0;
        size_t got, found;
        tool_progress((double)(data - at) / (double)h->from.size);
        at = data;
        got = read_at(&h->from, at, room, SCAN);
        if (got < MAGIC_SIZE) break;
        while (step < got && !h->failed) {
            found = (size_t)step + find_magic(room + step, got - (size_t)step);
            if (found == got) break;
            step = found + look(h, at + found, room + found, got - found, copy_room);
        }
        if (step + MAGIC_SIZE <= got) step = got - (MAGIC_SIZE - 1); /* a magic number may begin in the last bytes */
        at += step;
        tool_progress((double)step / (double)h->from.size);
    }
    if (ferror(h->from.file) && !h->failed++)
        tool_fail("cannot read %s: %s", tool_shown(h->in), strerror(errno ? errno : EIO));
}

static int hunt_in(hunt *h, const char *when)
{
    char *room = (char *)malloc(2 * SCAN);
    if (!room) return tool_fail("out of memory");
    h->from.size = file_size(h->from.file);
    setvbuf(h->from.file, NULL, _IONBF, 0);
    read_pieces(&h->from);
    tool_progress_begin("recover", when);
    search(h, room, room + SCAN);
    tool_progress_end();
    free(h->from.pieces);
    free(room);
    if (h->failed) return TOOL_ERROR;
    if (h->found) return TOOL_OK;
    if (h->empty) return tool_fail("%s: it has the header of an image, but no events are left", tool_shown(h->in));
    return tool_fail("%s: no image in it (%s)", tool_shown(h->in), h->from.size ? "see prof recover --help" : "empty");
}

static int run(const tool_args *args)
{
    hunt h;
    int choice, result;
    memset(&h, 0, sizeof h);
    h.in = args->files[0];
    h.out = tool_value(args, "--output");
    if (!tool_choice("--progress", tool_value(args, "--progress"), tool_progress_choices, &choice)) return TOOL_ERROR;
    if (h.out && tool_same(h.out, "-"))
        return tool_fail("recover: -o -: there may be several images: name a file instead");
    h.from.file = tool_same(h.in, "-") ? stdin : tool_file_open(h.in, "rb");
    if (!h.from.file) return tool_fail("cannot open %s: %s", h.in, strerror(errno));
    if (h.from.file == stdin && seek(stdin, 0))
        return tool_fail("standard input: it must be a file, because recover seeks in it: prof recover - < FILE");
    result = hunt_in(&h, tool_value(args, "--progress"));
    if (h.from.file != stdin) fclose(h.from.file);
    return result;
}

const tool_command tool_recover = {
    "recover", "IN [-o OUT.prof]", "Finds recordings in core dumps, copies of memory and damaged files",
    1, 1, run, options,
    "Scans the whole file, of any size, for images, and writes each image whose header is valid. If a part of an\n"
    "image is missing, the chunks that are left are readable, and the others count as lost.\n\n"
    "A core dump holds the image of a program that records into memory: everything up to the crash, with the scopes\n"
    "that were open. The kernel writes core dumps (ulimit -c unlimited), and gcore PID, or generate-core-file in\n"
    "gdb, writes one of a running program. An output that ends in .prof is a mapped file, which dumps leave out\n"
    "(bit 3 of /proc/PID/coredump_filter would include it); but then the file itself has everything.\n\n"
    "example: prof recover core.1234 -o crash.prof; prof check crash.prof\n"};
