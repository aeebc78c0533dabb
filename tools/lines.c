/* lines.c - finds the source lines of addresses in the line tables of DWARF, versions 2 to 5 (section 6.2 of version
   5). It reads .debug_line once from its begin to its end, and keeps nothing but what was asked for. */
#include "elf.h"
#include <stdlib.h>
#include <string.h>

typedef struct path_entry {
    const char *name; /* NULL: not given */
    uint64_t folder;
} path_entry;

typedef struct path_list {
    path_entry *items;
    size_t count, capacity;
} path_list;

typedef struct decoder {
    elf_reader strings, line_strings; /* .debug_str and .debug_line_str */
    path_list folders, files;             /* of the present unit */
    elf_line *lines;
    size_t count;
    size_t *open;                     /* open[i]: the first of lines[i], lines[i + 1] ... that was not found yet, or a
                                         step on the way to it */
    int version, wide;                /* of the present unit; wide: 64-bit DWARF */
    int failed;                       /* memory ran out */
} decoder;

typedef struct row {
    uint64_t address, file, line;
    uint64_t op; /* the index of the operation in a bundle of a VLIW processor */
    int valid;   /* 1: the row before begins a range that this one ends */
} row;

static uint64_t get_unsigned(elf_reader *from)
{
    uint64_t value = 0;
    unsigned shift = 0, byte;
    do {
        byte = (unsigned)elf_get(from, 1);
        if (shift < 64) value |= (uint64_t)(byte & 127) << shift;
        shift += shift < 64 ? 7 : 0;
    } while (byte & 128);
    return value;
}

static uint64_t get_signed(elf_reader *from)
{
    uint64_t value = 0;
    unsigned shift = 0, byte;
    do {
        byte = (unsigned)elf_get(from, 1);
        if (shift < 64) value |= (uint64_t)(byte & 127) << shift;
        shift += shift < 64 ? 7 : 0;
    } while (byte & 128);
    return byte & 64 && shift < 64 ? value | ~(uint64_t)0 << shift : value;
}

static void add_path(decoder *d, path_list *to, const char *name, uint64_t folder)
{
    if (to->count == to->capacity) {
        size_t capacity = to->capacity ? to->capacity * 2 : 64;
        path_entry *more = (path_entry *)realloc(to->items, capacity * sizeof *more);
        if (!more) {
            d->failed = 1;
            return;
        }
        to->items = more;
        to->capacity = capacity;
    }
    to->items[to->count].name = name;
    to->items[to->count++].folder = folder;
}

/* Reads the lists of versions 2 to 4, in which files and folders count from 1. */
static void get_paths(decoder *d, elf_reader *from)
{
    const char *name;
    add_path(d, &d->folders, NULL, 0);
    while (!from->bad && !d->failed && *(name = elf_text(from))) add_path(d, &d->folders, name, 0);
    add_path(d, &d->files, NULL, 0);
    while (!from->bad && !d->failed && *(name = elf_text(from))) {
        add_path(d, &d->files, name, get_unsigned(from));
        get_unsigned(from);
        get_unsigned(from);
    }
}

/* Reads a value of an entry. A text is set, a number is returned. */
static uint64_t get_form(decoder *d, elf_reader *from, uint64_t form, const char **text)
{
    switch (form) {
    case 0x08: return *text = elf_text(from), 0;
    case 0x0E: return *text = elf_text_at(&d->strings, elf_get(from, d->wide ? 8 : 4)), 0;
    case 0x1F: return *text = elf_text_at(&d->line_strings, elf_get(from, d->wide ? 8 : 4)), 0;
    case 0x0B: return elf_get(from, 1);
    case 0x05: return elf_get(from, 2);
    case 0x06: return elf_get(from, 4);
    case 0x07: return elf_get(from, 8);
    case 0x0F: return get_unsigned(from);
    case 0x1E: return elf_skip(from, 16), 0;
    case 0x09: return elf_skip(from, get_unsigned(from)), 0;
    default: return from->bad = 1, 0;
    }
}

/* Reads a list of version 5, which says of what its entries consist. */
static void get_entries(decoder *d, elf_reader *from, path_list *to)
{
    uint64_t content[255], form[255], count;
    unsigned parts = (unsigned)elf_get(from, 1), i;
    for (i = 0; i < parts; i++) {
        content[i] = get_unsigned(from);
        form[i] = get_unsigned(from);
    }
    for (count = get_unsigned(from); count && !from->bad && !d->failed; count--) {
        const char *name = NULL;
        uint64_t folder = 0;
        const unsigned char *before = from->at;
        for (i = 0; i < parts && !from->bad; i++) {
            const char *text = NULL;
            uint64_t number = get_form(d, from, form[i], &text);
            if (content[i] == 1) name = text;
            if (content[i] == 2) folder = number;
        }
        if (from->at == before) from->bad = 1; /* entries of no bytes, and any number of them */
        add_path(d, to, name, folder);
    }
}

static size_t first_open(decoder *d, size_t i)
{
    while (d->open[i] != i) i = d->open[i] = d->open[d->open[i]];
    return i;
}

static char *join(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = (char *)malloc(size);
    if (path) snprintf(path, size, "%s%s%s", folder, *folder ? "/" : "", name);
    return path;
}

static const char *folder_name(const decoder *d, uint64_t folder)
{
    return folder < d->folders.count && d->folders.items[folder].name ? d->folders.items[folder].name : "";
}

/* The path of a file: relative folders begin in folder 0, where the compiler ran. Versions before 5 do not say that. */
static char *path_of(decoder *d, uint64_t file)
{
    const path_entry *at = file < d->files.count ? &d->files.items[file] : NULL;
    const char *folder;
    char *path, *whole;
    if (!at || !at->name) return NULL;
    folder = *at->name == '/' ? "" : folder_name(d, at->folder);
    path = join(folder, at->name);
    if (path && *path != '/' && at->folder && *folder_name(d, 0)) {
        whole = join(folder_name(d, 0), path);
        free(path);
        path = whole;
    }
    if (!path) d->failed = 1;
    return path;
}

/* Gives the row's line to what was asked for from its address to `end`. */
static void take_row(decoder *d, const row *at, uint64_t end)
{
    size_t low = 0, high = d->count;
    if (!at->valid || end <= at->address) return;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (d->lines[middle].address < at->address) low = middle + 1;
        else high = middle;
    }
    for (low = first_open(d, low); low < d->count && d->lines[low].address < end; low = first_open(d, low)) {
        d->lines[low].line = at->line <= 0xFFFFFFFFu ? (uint32_t)at->line : 0;
        d->lines[low].file = at->line ? path_of(d, at->file) : NULL;
        d->open[low] = low + 1;
    }
}

typedef struct program {
    unsigned least, operations, range, base; /* least: bytes of an instruction; base: the first special opcode */
    int line_base;
    unsigned char lengths[256];
} program;

static void advance(row *at, const program *p, uint64_t operations)
{
    uint64_t all = at->op + operations;
    at->address += p->least * (p->operations > 1 ? all / p->operations : operations);
    at->op = p->operations > 1 ? all % p->operations : 0;
}

static void run_extended(decoder *d, elf_reader *from, row *at, row *last, int *dead)
{
    uint64_t size = get_unsigned(from);
    const unsigned char *end;
    unsigned code;
    if (!size || size > (uint64_t)(from->end - from->at)) {
        from->bad = 1;
        return;
    }
    end = from->at + size;
    code = (unsigned)elf_get(from, 1);
    if (code == 1) { /* the end of a sequence */
        if (!*dead) take_row(d, last, at->address);
        memset(at, 0, sizeof *at);
        at->file = at->line = 1;
        last->valid = *dead = 0;
    } else if (code == 2 && size >= 2 && size <= 9) { /* an address; 0 or the highest: of code that was left out */
        at->address = elf_get(from, (unsigned)size - 1);
        at->op = 0;
        *dead = !at->address || at->address >= (size == 9 ? ~(uint64_t)1 : 0xFFFFFFFEu);
    } else if (code == 3 && d->version < 5) {
        const char *name = elf_text(from);
        add_path(d, &d->files, name, get_unsigned(from));
    }
    from->at = end;
}

static void run_program(decoder *d, elf_reader *from, const program *p)
{
    row at, last;
    int dead = 0;
    memset(&at, 0, sizeof at);
    at.file = at.line = 1;
    last = at;
    while (!from->bad && from->at < from->end && !d->failed) {
        unsigned code = (unsigned)elf_get(from, 1), i;
        int emit = code >= p->base;
        if (emit) {
            advance(&at, p, (code - p->base) / p->range);
            at.line += (uint64_t)(int64_t)(p->line_base + (int)((code - p->base) % p->range));
        } else if (code == 0) {
            run_extended(d, from, &at, &last, &dead);
        } else if (code == 1) {
            emit = 1;
        } else if (code == 2) {
            advance(&at, p, get_unsigned(from));
        } else if (code == 3) {
            at.line += get_signed(from);
        } else if (code == 4) {
            at.file = get_unsigned(from);
        } else if (code == 8) {
            advance(&at, p, (255 - p->base) / p->range);
        } else if (code == 9) {
            at.address += elf_get(from, 2);
            at.op = 0;
        } else { /* those without effect on lines, and unknown ones */
            for (i = 0; i < p->lengths[code]; i++) get_unsigned(from);
        }
        if (!emit) continue;
        if (!dead) take_row(d, &last, at.address);
        last = at;
        last.valid = 1;
    }
}

/* Reads the head of a unit and runs its program. */
static void read_unit(decoder *d, elf_reader *unit)
{
    program p;
    elf_reader head;
    uint64_t size;
    unsigned i;
    memset(&p, 0, sizeof p);
    d->folders.count = d->files.count = 0;
    d->version = (int)elf_get(unit, 2);
    if (d->version < 2 || d->version > 5) return;
    if (d->version == 5) elf_skip(unit, 2); /* sizes of addresses and segments */
    size = elf_get(unit, d->wide ? 8 : 4);
    head = *unit;
    elf_skip(unit, size);
    if (unit->bad) return;
    head.end = unit->at;
    p.least = (unsigned)elf_get(&head, 1);
    p.operations = d->version >= 4 ? (unsigned)elf_get(&head, 1) : 1;
    elf_get(&head, 1);
    p.line_base = (int)(signed char)(unsigned char)elf_get(&head, 1);
    p.range = (unsigned)elf_get(&head, 1);
    p.base = (unsigned)elf_get(&head, 1);
    if (!p.range || !p.base) return;
    for (i = 1; i < p.base; i++) p.lengths[i] = (unsigned char)elf_get(&head, 1);
    if (d->version < 5) {
        get_paths(d, &head);
    } else {
        get_entries(d, &head, &d->folders);
        get_entries(d, &head, &d->files);
    }
    if (!head.bad && !d->failed) run_program(d, unit, &p);
}

static int line_order(const void *left, const void *right)
{
    const elf_line *a = (const elf_line *)left, *b = (const elf_line *)right;
    if (a->address != b->address) return a->address < b->address ? -1 : 1;
    return a->user < b->user ? -1 : a->user > b->user;
}

int elf_lines(elf_file *file, elf_line *lines, size_t count)
{
    decoder d;
    elf_reader all;
    size_t i;
    if (count) qsort(lines, count, sizeof *lines, line_order);
    if (!elf_section(file, ".debug_line", &all)) return 0;
    memset(&d, 0, sizeof d);
    elf_section(file, ".debug_str", &d.strings);
    elf_section(file, ".debug_line_str", &d.line_strings);
    d.lines = lines;
    d.count = count;
    d.open = (size_t *)malloc((count + 1) * sizeof *d.open);
    if (!d.open) return 0;
    for (i = 0; i <= count; i++) d.open[i] = i;
    while (all.at < all.end && !all.bad && !d.failed && first_open(&d, 0) < count) {
        elf_reader unit;
        uint64_t size = elf_get(&all, 4);
        d.wide = size == 0xFFFFFFFFu;
        if (d.wide) size = elf_get(&all, 8);
        unit = all;
        elf_skip(&all, size);
        unit.end = all.at;
        if (!all.bad) read_unit(&d, &unit);
    }
    free(d.open);
    free(d.folders.items);
    free(d.files.items);
    return 1;
}
