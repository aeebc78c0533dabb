/* elf.c - reads ELF files of any width and byte order: sections, segments, build id, functions. See elf.h. */
#include "elf.h"
#include "inflate.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MOST_SECTIONS 0xFFFFu
#define MOST_UNPACKED ((uint64_t)4 << 30)

enum { NOBITS = 8, SYMTAB = 2, DYNSYM = 11, COMPRESSED = 0x800, ARM = 40 };

typedef struct section {
    const char *name;
    uint32_t name_at, type, link;
    uint64_t flags, address, offset, size;
    unsigned char *bytes; /* read and unpacked; NULL: not yet */
    size_t length;
} section;

typedef struct segment {
    uint32_t type, flags;
    uint64_t offset, address, size;
} segment;

struct elf_file {
    FILE *file;
    uint64_t size;
    int wide, big, machine; /* wide: 64 bits */
    section *sections;
    segment *segments;
    size_t section_count, segment_count;
    char build_id[2 * 64 + 1];
};

/*-- bytes --*/

uint64_t elf_get(elf_reader *from, unsigned size)
{
    uint64_t value = 0;
    unsigned i;
    if ((size_t)(from->end - from->at) < size) {
        from->bad = 1;
        from->at = from->end;
        return 0;
    }
    for (i = 0; i < size; i++) value |= (uint64_t)from->at[from->big ? size - 1 - i : i] << 8 * i;
    from->at += size;
    return value;
}

void elf_skip(elf_reader *from, uint64_t size)
{
    if ((uint64_t)(from->end - from->at) < size) from->bad = 1;
    from->at = from->bad ? from->end : from->at + size;
}

const char *elf_text_at(const elf_reader *from, uint64_t offset)
{
    if (offset >= (uint64_t)(from->end - from->at)) return NULL;
    return memchr(from->at + offset, 0, (size_t)(from->end - from->at) - (size_t)offset) ?
           (const char *)from->at + offset : NULL;
}

const char *elf_text(elf_reader *from)
{
    const char *text = elf_text_at(from, 0);
    elf_skip(from, text ? strlen(text) + 1 : (uint64_t)-1);
    return text ? text : "";
}

static int seek_to(FILE *file, uint64_t offset)
{
#ifdef _WIN32
    return !_fseeki64(file, (int64_t)offset, SEEK_SET);
#else
    return !fseeko(file, (off_t)offset, SEEK_SET);
#endif
}

/* Reads a part of the file into memory. Returns NULL if it is not all there. */
static unsigned char *read_part(elf_file *from, uint64_t offset, uint64_t size)
{
    unsigned char *bytes;
    if (offset > from->size || size > from->size - offset || size >= (size_t)-1) return NULL;
    bytes = (unsigned char *)malloc((size_t)size + 1);
    if (bytes && (!seek_to(from->file, offset) || fread(bytes, 1, (size_t)size, from->file) != size)) {
        free(bytes);
        bytes = NULL;
    }
    return bytes;
}

static elf_reader reader_of(const elf_file *file, const unsigned char *bytes, size_t size)
{
    elf_reader reader;
    reader.at = bytes;
    reader.end = bytes + size;
    reader.big = file->big;
    reader.bad = 0;
    return reader;
}

/*-- opening --*/

static void read_section(elf_file *file, elf_reader *from, section *to)
{
    unsigned word = file->wide ? 8 : 4;
    to->name_at = (uint32_t)elf_get(from, 4);
    to->type = (uint32_t)elf_get(from, 4);
    to->flags = elf_get(from, word);
    to->address = elf_get(from, word);
    to->offset = elf_get(from, word);
    to->size = elf_get(from, word);
    to->link = (uint32_t)elf_get(from, 4);
    elf_get(from, 4);
    elf_get(from, word);
    elf_get(from, word);
}

static void read_segment(elf_file *file, elf_reader *from, segment *to)
{
    unsigned word = file->wide ? 8 : 4;
    to->type = (uint32_t)elf_get(from, 4);
    if (file->wide) to->flags = (uint32_t)elf_get(from, 4);
    to->offset = elf_get(from, word);
    to->address = elf_get(from, word);
    elf_get(from, word);
    to->size = elf_get(from, word);
    elf_get(from, word);
    if (!file->wide) to->flags = (uint32_t)elf_get(from, 4);
    elf_get(from, word);
}

static int load(elf_file *file, section *from)
{
    elf_reader head;
    uint64_t size, kind;
    unsigned char *unpacked;
    size_t offset = file->wide ? 24 : 12;
    if (from->bytes) return 1;
    if (from->type == NOBITS || !from->size) return 0;
    from->bytes = read_part(file, from->offset, from->size);
    if (!from->bytes) return 0;
    from->length = (size_t)from->size;
    if (!(from->flags & COMPRESSED)) return 1;
    head = reader_of(file, from->bytes, from->length);
    kind = elf_get(&head, 4);
    if (file->wide) elf_get(&head, 4);
    size = elf_get(&head, file->wide ? 8 : 4);
    /* 1 is zlib, whose head has two bytes. It packs at most to a thousandth. */
    if (kind != 1 || from->length < offset + 2 || size > MOST_UNPACKED || size / 1100 > from->length) size = 0;
    unpacked = size ? (unsigned char *)malloc((size_t)size) : NULL;
    if (unpacked && !inflate_to(from->bytes + offset + 2, from->length - offset - 2, unpacked, (size_t)size)) {
        free(unpacked);
        unpacked = NULL;
    }
    free(from->bytes);
    from->bytes = unpacked;
    from->length = (size_t)size;
    return unpacked != NULL;
}

/* Finds the build id: a note whose name is GNU and whose type is 3. */
static void find_build_id(elf_file *file)
{
    static const char digit[] = "0123456789abcdef";
    size_t i, j;
    for (i = 0; i < file->section_count; i++) {
        section *at = &file->sections[i];
        elf_reader note;
        if (at->type != 7 || at->size > 65536 || !load(file, at)) continue;
        note = reader_of(file, at->bytes, at->length);
        while (!note.bad && note.at < note.end) {
            uint64_t name = elf_get(&note, 4), size = elf_get(&note, 4), type = elf_get(&note, 4);
            int wanted = type == 3 && name == 4 && size <= 64 && note.end - note.at >= 4 && !memcmp(note.at, "GNU", 4);
            elf_skip(&note, (name + 3) & ~(uint64_t)3);
            if (wanted && !note.bad && (uint64_t)(note.end - note.at) >= size) {
                for (j = 0; j < size; j++) {
                    file->build_id[2 * j] = digit[note.at[j] >> 4];
                    file->build_id[2 * j + 1] = digit[note.at[j] & 15];
                }
                return;
            }
            elf_skip(&note, (size + 3) & ~(uint64_t)3);
        }
    }
}

/* Reads the tables of sections and segments. Returns 0 if one is damaged. */
static int read_tables(elf_file *file)
{
    unsigned word = file->wide ? 8 : 4;
    unsigned char head[64] = {0}, *bytes;
    elf_reader from = reader_of(file, head, sizeof head), names;
    uint64_t segments, sections;
    size_t segment_size, section_size, strings, i;
    if (!seek_to(file->file, 0) || fread(head, 1, sizeof head, file->file) < 52) return 0;
    elf_skip(&from, 18);
    file->machine = (int)elf_get(&from, 2);
    elf_skip(&from, 4 + word);
    segments = elf_get(&from, word);
    sections = elf_get(&from, word);
    elf_skip(&from, 6);
    segment_size = (size_t)elf_get(&from, 2);
    file->segment_count = (size_t)elf_get(&from, 2);
    section_size = (size_t)elf_get(&from, 2);
    file->section_count = (size_t)elf_get(&from, 2);
    strings = (size_t)elf_get(&from, 2);
    if (file->segment_count && segment_size != (file->wide ? 56u : 32u)) return 0;
    if (sections && section_size != (file->wide ? 64u : 40u)) return 0;
    if (!sections) file->section_count = 0;
    bytes = read_part(file, segments, file->segment_count * segment_size);
    file->segments = (segment *)calloc(file->segment_count + 1, sizeof *file->segments);
    if (!bytes || !file->segments) return free(bytes), 0;
    from = reader_of(file, bytes, file->segment_count * segment_size);
    for (i = 0; i < file->segment_count; i++) read_segment(file, &from, &file->segments[i]);
    free(bytes);
    if (sections && (!file->section_count || strings == MOST_SECTIONS)) { /* section 0 has what is larger */
        section first;
        bytes = read_part(file, sections, section_size);
        if (!bytes) return 0;
        from = reader_of(file, bytes, section_size);
        read_section(file, &from, &first);
        free(bytes);
        if (!file->section_count && first.size <= file->size / section_size) file->section_count = (size_t)first.size;
        if (strings == MOST_SECTIONS) strings = first.link;
    }
    bytes = read_part(file, sections, file->section_count * section_size);
    file->sections = (section *)calloc(file->section_count + 1, sizeof *file->sections);
    if (!bytes || !file->sections) {
        file->section_count = 0;
        return free(bytes), 0;
    }
    from = reader_of(file, bytes, file->section_count * section_size);
    for (i = 0; i < file->section_count; i++) read_section(file, &from, &file->sections[i]);
    free(bytes);
    if (strings >= file->section_count || !load(file, &file->sections[strings])) return file->section_count == 0;
    names = reader_of(file, file->sections[strings].bytes, file->sections[strings].length);
    for (i = 0; i < file->section_count; i++) file->sections[i].name = elf_text_at(&names, file->sections[i].name_at);
    return 1;
}

elf_file *elf_open(const char *path, const char **why)
{
    unsigned char start[6] = {0};
    struct stat about;
    elf_file *file;
    *why = "";
    memset(&about, 0, sizeof about); /* the memory sanitizer does not know that stat() writes it */
    if (stat(path, &about)) return NULL;
    *why = "is no file"; /* a pipe would not open */
    if ((about.st_mode & S_IFMT) != S_IFREG) return NULL;
    file = (elf_file *)calloc(1, sizeof *file);
    *why = "cannot be read";
    if (!file || !(file->file = tool_file_open(path, "rb"))) return free(file), NULL;
    file->size = (uint64_t)about.st_size;
    *why = "is no ELF file";
    if (fread(start, 1, 6, file->file) == 6 && !memcmp(start, "\177ELF", 4) && (start[4] == 1 || start[4] == 2) &&
        (start[5] == 1 || start[5] == 2)) {
        file->wide = start[4] == 2;
        file->big = start[5] == 2;
        *why = "is a damaged ELF file";
        if (read_tables(file)) {
            find_build_id(file);
            return file;
        }
    }
    elf_close(file);
    return NULL;
}

void elf_close(elf_file *file)
{
    size_t i;
    if (!file) return;
    for (i = 0; file->sections && i < file->section_count; i++) free(file->sections[i].bytes);
    free(file->sections);
    free(file->segments);
    fclose(file->file);
    free(file);
}

const char *elf_build_id(const elf_file *file) { return file->build_id; }

int elf_is_big(const elf_file *file) { return file->big; }

static section *find_section(elf_file *file, const char *name)
{
    size_t i;
    for (i = 0; i < file->section_count; i++) {
        section *at = &file->sections[i];
        if (at->name && tool_same(at->name, name)) return load(file, at) ? at : NULL;
    }
    return NULL;
}

int elf_section(elf_file *file, const char *name, elf_reader *bytes)
{
    const section *at = find_section(file, name);
    *bytes = reader_of(file, at ? at->bytes : (const unsigned char *)"", at ? at->length : 0);
    return at != NULL;
}

const char *elf_debug_link(elf_file *file, uint32_t *crc)
{
    elf_reader from;
    const char *name;
    const unsigned char *begin;
    if (!elf_section(file, ".gnu_debuglink", &from)) return NULL;
    begin = from.at;
    name = elf_text(&from);
    elf_skip(&from, (uint64_t)(-(from.at - begin) & 3));
    *crc = (uint32_t)elf_get(&from, 4);
    return from.bad || !*name || strchr(name, '/') ? NULL : name;
}

uint32_t elf_crc(elf_file *file)
{
    static unsigned char bytes[65536];
    uint32_t crc = 0xFFFFFFFFu;
    size_t size, i;
    int bit;
    if (!seek_to(file->file, 0)) return 0;
    while ((size = fread(bytes, 1, sizeof bytes, file->file)) > 0)
        for (i = 0; i < size; i++)
            for (crc ^= bytes[i], bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    return ~crc;
}

/*-- addresses --*/

int elf_address(const elf_file *file, uint64_t offset, uint64_t mapped, uint64_t *address)
{
    const segment *code = NULL;
    size_t i, codes = 0;
    for (i = 0; i < file->segment_count; i++) {
        const segment *at = &file->segments[i];
        if (at->type != 1) continue;
        if (at->flags & 1) code = at, codes++;
        if (offset >= at->offset && offset - at->offset < at->size && at->flags & 1) {
            *address = at->address + (offset - at->offset);
            return 1;
        }
    }
    /* A file of debug information has the addresses of segments, not their bytes. A mapping begins where the segment
       does, or at the page that it begins in. */
    if (codes != 1 || code->size || offset < mapped) return 0;
    *address = (code->address & ~(uint64_t)4095) + (mapped & 4095) + (offset - mapped);
    return 1;
}

/*-- functions --*/

typedef struct functions {
    elf_function *items;
    size_t count, capacity;
    int failed;
} functions;

static void add_function(functions *to, uint64_t start, uint64_t end, const char *name, int rank)
{
    if (to->count == to->capacity) {
        size_t capacity = to->capacity ? to->capacity * 2 : 256;
        elf_function *more = (elf_function *)realloc(to->items, capacity * sizeof *more);
        if (!more) {
            to->failed = 1;
            return;
        }
        to->items = more;
        to->capacity = capacity;
    }
    to->items[to->count].start = start;
    to->items[to->count].end = end;
    to->items[to->count].name = name;
    to->items[to->count++].rank = rank;
}

/* Adds the functions of a table of symbols. A symbol without a size reaches to the next one: end == start. */
static void add_symbols(elf_file *file, section *table, functions *to)
{
    section *strings = table->link < file->section_count ? &file->sections[table->link] : NULL;
    elf_reader from, names;
    if (!load(file, table) || !strings || !load(file, strings)) return;
    from = reader_of(file, table->bytes, table->length);
    names = reader_of(file, strings->bytes, strings->length);
    while (!to->failed && (size_t)(from.end - from.at) >= (file->wide ? 24u : 16u)) {
        uint64_t name_at = elf_get(&from, 4), value = 0, size = 0, home;
        unsigned info, type, bind;
        const char *name;
        if (!file->wide) value = elf_get(&from, 4), size = elf_get(&from, 4);
        info = (unsigned)elf_get(&from, 1);
        elf_get(&from, 1);
        home = elf_get(&from, 2);
        if (file->wide) value = elf_get(&from, 8), size = elf_get(&from, 8);
        type = info & 15;
        bind = info >> 4;
        if (type != 0 && type != 2 && type != 10) continue; /* no code, function, chosen when loaded */
        if (!home || home >= 0xFF00u || home >= file->section_count || !(file->sections[home].flags & 4)) continue;
        name = elf_text_at(&names, name_at);
        if (!name || !*name || *name == '$' || *name == '.') continue; /* $a and .L are marks of assemblers */
        if (file->machine == ARM) value &= ~(uint64_t)1;
        if (size > ~value) size = 0;
        add_function(to, value, value + size, name, (size ? 8 : 0) + (type ? 4 : 0) + (bind == 1 ? 2 : bind == 2));
    }
}

/* Adds those of the first table of this type; a file has one of each. */
static void add_table(elf_file *file, uint32_t type, functions *to)
{
    size_t i = 0;
    while (i < file->section_count && file->sections[i].type != type) i++;
    if (i < file->section_count) add_symbols(file, &file->sections[i], to);
}

/* Adds the begins of functions that the search table of the unwind information has, without names. */
static void add_begins(elf_file *file, functions *to)
{
    const section *at = find_section(file, ".eh_frame_hdr");
    elf_reader from;
    uint64_t count;
    if (!at) return;
    from = reader_of(file, at->bytes, at->length);
    /* version 1; a pointer relative to itself; a number of 4 bytes; a table of numbers relative to the section */
    if (elf_get(&from, 1) != 1 || elf_get(&from, 1) != 0x1B || elf_get(&from, 1) != 3 || elf_get(&from, 1) != 0x3B)
        return;
    elf_get(&from, 4);
    for (count = elf_get(&from, 4); count && from.end - from.at >= 8 && !to->failed; count--) {
        uint64_t start = at->address + (uint64_t)(int64_t)(int32_t)(uint32_t)elf_get(&from, 4);
        elf_get(&from, 4);
        add_function(to, start, start, NULL, -1);
    }
}

static int function_order(const void *left, const void *right)
{
    const elf_function *a = (const elf_function *)left, *b = (const elf_function *)right;
    size_t m, n;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    if (a->rank != b->rank) return a->rank > b->rank ? -1 : 1;
    if (!a->name || !b->name) return 0;
    m = strspn(a->name, "_"), n = strspn(b->name, "_");
    return m != n ? (m < n ? -1 : 1) : strcmp(a->name, b->name);
}

int elf_functions(elf_file *file, elf_function **list, size_t *count, int *full)
{
    functions all;
    size_t i, kept = 0;
    uint64_t covered = 0;
    memset(&all, 0, sizeof all);
    add_table(file, SYMTAB, &all);
    *full = all.count > 0;
    add_table(file, DYNSYM, &all);
    if (!*full) add_begins(file, &all);
    if (all.count) qsort(all.items, all.count, sizeof *all.items, function_order);
    for (i = 0; i < all.count; i++) {
        elf_function *at = &all.items[i];
        if (kept && all.items[kept - 1].start == at->start) continue;
        if (at->start < covered && at->end == at->start) continue; /* a label inside a function */
        if (at->end > covered) covered = at->end;
        all.items[kept++] = *at;
    }
    for (i = 0; i < kept; i++)
        if (all.items[i].end == all.items[i].start)
            all.items[i].end = i + 1 < kept ? all.items[i + 1].start : ~(uint64_t)0;
    *list = all.items;
    *count = kept;
    return !all.failed;
}
