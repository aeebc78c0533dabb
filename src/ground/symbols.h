// ground/symbols: Finds names of functions by address in ELF files. The files are not trusted: every field is checked.
#ifndef PROF__GROUND_SYMBOLS_H
#define PROF__GROUND_SYMBOLS_H
#include "ground/windows.h"

/*-- SYMBOLS ---------------------------------------------------------------------------------------------- >>symbols --
   A function that the compiler's hooks traced, and a place that calls malloc(), has a call site whose texts encode its
   address. Name: "module+0x1b40", the address as in the module's symbol table. File: the path of the module (program or
   library). Function: the build id of the module, see prof__module_identify. When a trace is opened, the reader looks
   the name up in the module's file or in its separate debug file, if the build id still matches. As an image may name
   any path, these files are not trusted. */

#ifndef PROF_FREESTANDING
#include <limits.h>
#include <sys/stat.h>

#define PROF__BUILD_ID "?build-id=" /* no function's name begins with '?' */
#define PROF__BUILD_TIME "?modified="
#define PROF__MAX_BUILD_ID 64 /* bytes; linkers make 8 to 32 */
#define PROF__MAX_MODULES 256 /* for one trace */

typedef struct prof__symbol {
    uint64_t value, size;
    const char *name, *file; /* file: the source file of a local symbol, as the compiler got it, else NULL */
    int rank;                /* of several names of an address the highest rank is shown: global, weak, local */
} prof__symbol;

/* The functions of one module, in order of their addresses. */
typedef struct prof__module_symbols {
    char *path, *build;
    char *texts; /* the string table, with a zero behind it */
    prof__symbol *list;
    size_t count;
} prof__module_symbols;

typedef struct prof__symbols {
    prof__module_symbols *modules;
    size_t count;
} prof__symbols;

/* An open ELF file. wide: 64-bit; big: big-endian. */
typedef struct prof__elf {
    FILE *file;
    uint64_t size;
    int wide, big;
    uint64_t sections; /* file offset of the section headers */
    size_t section_size, section_count;
} prof__elf;

typedef struct prof__elf_section {
    uint64_t type, offset, size, link, entry_size;
} prof__elf_section;

enum { PROF__ELF_SYMTAB = 2, PROF__ELF_NOTE = 7, PROF__ELF_DYNSYM = 11 };

static uint64_t prof__elf_number(const prof__elf *elf, const unsigned char *at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; ++i) value = value << 8 | at[elf->big ? i : size - 1 - i];
    return value;
}

/* Reads a field that is at `narrow` with 4 bytes in 32-bit files, and at `wide` with 8 bytes in 64-bit files. */
static uint64_t prof__elf_word(const prof__elf *elf, const unsigned char *record, size_t narrow, size_t wide)
{
    return elf->wide ? prof__elf_number(elf, record + wide, 8) : prof__elf_number(elf, record + narrow, 4);
}

static int prof__elf_read(const prof__elf *elf, uint64_t offset, void *to, size_t size)
{
    if (offset > elf->size || size > elf->size - offset) return 0;
    return !prof__file_seek(elf->file, offset, SEEK_SET) && fread(to, 1, size, elf->file) == size;
}

/* Returns the bytes of a section with a zero behind them; the caller frees them. Returns NULL if the section lies
   beyond the file, is larger than 1 GiB, or there is no memory. */
static unsigned char *prof__elf_load(const prof__elf *elf, const prof__elf_section *section)
{
    unsigned char *bytes;
    if (section->offset > elf->size || section->size > elf->size - section->offset) return NULL;
    if (section->size > 1u << 30) return NULL;
    bytes = (unsigned char *)malloc((size_t)section->size + 1);
    if (bytes && !prof__elf_read(elf, section->offset, bytes, (size_t)section->size)) {
        free(bytes);
        return NULL;
    }
    if (bytes) bytes[section->size] = 0;
    return bytes;
}

static int prof__elf_section_read(const prof__elf *elf, size_t index, prof__elf_section *section)
{
    unsigned char record[64];
    if (index >= elf->section_count ||
        !prof__elf_read(elf, elf->sections + index * elf->section_size, record, elf->wide ? 64 : 40))
        return 0;
    section->type = prof__elf_number(elf, record + 4, 4);
    section->offset = prof__elf_word(elf, record, 16, 24);
    section->size = prof__elf_word(elf, record, 20, 32);
    section->link = prof__elf_number(elf, record + (elf->wide ? 40 : 24), 4);
    section->entry_size = prof__elf_word(elf, record, 36, 56);
    return 1;
}

static int prof__elf_section_find(const prof__elf *elf, uint64_t type, prof__elf_section *section)
{
    for (size_t i = 0; i < elf->section_count; ++i)
        if (prof__elf_section_read(elf, i, section) && section->type == type) return 1;
    return 0;
}

/* Writes a build id in hex, or "" if there is none. notes: the bytes of a note section or segment. to: 2 *
   PROF__MAX_BUILD_ID + 1 bytes. */
static void prof__build_id_text(const prof__elf *elf, const unsigned char *notes, size_t size, size_t align, char *to)
{
    size_t at = 0;
    *to = 0;
    while (size - at >= 12) {
        uint64_t name = prof__elf_number(elf, notes + at, 4), about = prof__elf_number(elf, notes + at + 4, 4);
        uint64_t type = prof__elf_number(elf, notes + at + 8, 4);
        uint64_t about_at = (12 + name + align - 1) & ~((uint64_t)align - 1); /* below 2^33: no overflow */
        uint64_t next = (about_at + about + align - 1) & ~((uint64_t)align - 1);
        if (about_at + about > size - at) return;
        if (type == 3 && name == 4 && !memcmp(notes + at + 12, "GNU", 4) && about <= PROF__MAX_BUILD_ID) {
            for (size_t i = 0; i < about; ++i) {
                unsigned char byte = notes[at + about_at + i];
                *to++ = "0123456789abcdef"[byte >> 4];
                *to++ = "0123456789abcdef"[byte & 15];
            }
            *to = 0;
            return;
        }
        if (next > size - at) return;
        at += (size_t)next;
    }
}

#ifndef _WIN32
/* Writes the path of a loaded module. name: as the loader knows it, "" for the program itself. A relative path becomes
   absolute, because the program may change its directory. */
static void prof__loaded_path(char *path, size_t size, const char *name)
{
    size_t length = 0;
    if (!*name) {
        ssize_t got = readlink("/proc/self/exe", path, size - 1);
        path[got > 0 ? got : 0] = 0;
        return;
    }
    if (strchr(name, '/') && *name != '/' && getcwd(path, size - 1)) {
        length = strlen(path);
        path[length++] = '/';
    }
    snprintf(path + length, size - length, "%s", name);
}
#endif

static void prof__elf_close(prof__elf *elf)
{
    if (elf->file) fclose(elf->file);
    elf->file = NULL;
}

/* Writes what identifies the build of a module without a build id: its size and modification time. Returns 0 if path is
   not a regular file. Such a file is never opened, because a path in an image may name a device. build: 48 bytes. */
static int prof__file_build(const char *path, uint64_t *size, char *build)
{
#ifdef _WIN32
    struct _stat64 about;
    if (_stat64(path, &about) || !(about.st_mode & _S_IFREG)) return 0;
#else
    prof__about about;
    if (prof__stat(path, &about) || !S_ISREG(about.st_mode)) return 0;
#endif
    *size = (uint64_t)about.st_size;
    snprintf(build, 48, "%llu,%lld", (unsigned long long)*size, (long long)about.st_mtime);
    return 1;
}

/* Opens path if it is an ELF file of this build. Returns 0 otherwise. */
static int prof__elf_open(prof__elf *elf, const char *path, const char *build)
{
    char now[48];
    unsigned char head[64];
    memset(elf, 0, sizeof *elf);
    if (!prof__file_build(path, &elf->size, now)) return 0;
    if (!strncmp(build, PROF__BUILD_TIME, sizeof PROF__BUILD_TIME - 1) &&
        strcmp(build + sizeof PROF__BUILD_TIME - 1, now))
        return 0;
    elf->file = prof__file_open(path, "rb");
    if (!elf->file) return 0;
    if (prof__elf_read(elf, 0, head, 52) && !memcmp(head, "\177ELF", 4)) {
        elf->wide = head[4] == 2;
        elf->big = head[5] == 2;
        if (!elf->wide || prof__elf_read(elf, 0, head, 64)) {
            elf->sections = prof__elf_word(elf, head, 32, 40);
            elf->section_size = (size_t)prof__elf_number(elf, head + (elf->wide ? 58 : 46), 2);
            elf->section_count = (size_t)prof__elf_number(elf, head + (elf->wide ? 60 : 48), 2);
        }
    }
    if (elf->sections > elf->size || elf->section_size < (elf->wide ? 64u : 40u)) elf->section_count = 0;
    if (!strncmp(build, PROF__BUILD_ID, sizeof PROF__BUILD_ID - 1)) {
        int same = 0;
        for (size_t i = 0; i < elf->section_count && !same; ++i) {
            prof__elf_section section;
            unsigned char *notes = NULL;
            char id[2 * PROF__MAX_BUILD_ID + 1] = "";
            if (prof__elf_section_read(elf, i, &section) && section.type == PROF__ELF_NOTE &&
                section.size <= 1u << 16)
                notes = prof__elf_load(elf, &section);
            if (notes) prof__build_id_text(elf, notes, (size_t)section.size, 4, id);
            same = *id && !strcmp(id, build + sizeof PROF__BUILD_ID - 1);
            free(notes);
        }
        if (!same) elf->section_count = 0;
    }
    if (elf->section_count) return 1;
    prof__elf_close(elf);
    return 0;
}

static int prof__symbol_order(const void *a, const void *b)
{
    const prof__symbol *x = (const prof__symbol *)a, *y = (const prof__symbol *)b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    if (x->rank != y->rank) return x->rank > y->rank ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Reads the functions in the symbol table of this type. Returns 0 if the file has none, or the table is broken. */
static int prof__elf_symbols(const prof__elf *elf, uint64_t type, prof__module_symbols *module)
{
    prof__elf_section table, names;
    unsigned char *bytes;
    const char *file = NULL;
    size_t entry = elf->wide ? 24 : 16, count, text_size;
    if (!prof__elf_section_find(elf, type, &table) || table.entry_size != entry ||
        !prof__elf_section_read(elf, (size_t)table.link, &names))
        return 0;
    bytes = prof__elf_load(elf, &table);
    if (!bytes) return 0;
    count = (size_t)(table.size / entry);
    text_size = (size_t)names.size;
    module->texts = (char *)prof__elf_load(elf, &names);
    module->list = (prof__symbol *)calloc(count + 1, sizeof *module->list);
    for (size_t i = 0; module->texts && module->list && i < count; ++i) {
        const unsigned char *record = bytes + i * entry;
        uint64_t text = prof__elf_number(elf, record, 4);
        unsigned info = record[elf->wide ? 4 : 12], kind = info & 15, binding = info >> 4;
        uint64_t section = prof__elf_number(elf, record + (elf->wide ? 6 : 14), 2);
        const char *name = text < text_size ? module->texts + text : "";
        if (kind == 4) file = *name ? name : NULL; /* an empty name: the next symbols have no source file */
        if ((kind != 2 && kind != 10) || !section || !*name) continue; /* 2: function; 10: ifunc */
        prof__symbol *symbol = &module->list[module->count++];
        symbol->value = prof__elf_word(elf, record, 4, 8);
        symbol->size = prof__elf_word(elf, record, 8, 16);
        symbol->name = name;
        symbol->file = binding ? NULL : file;
        symbol->rank = binding == 1 ? 2 : binding == 2;
    }
    free(bytes);
    if (module->count) qsort(module->list, module->count, sizeof *module->list, prof__symbol_order);
    return module->count != 0;
}

static void prof__module_clear(prof__module_symbols *module)
{
    free(module->texts);
    free(module->list);
    module->texts = NULL;
    module->list = NULL;
    module->count = 0;
}

static int prof__module_read(prof__module_symbols *module, const char *path, uint64_t type)
{
    prof__elf elf;
    int good;
    if (!prof__elf_open(&elf, path, module->build)) return 0;
    good = prof__elf_symbols(&elf, type, module);
    prof__elf_close(&elf);
    if (!good) prof__module_clear(module);
    return good;
}

/* Reads the module's full symbol table; if that was stripped, the one in its separate debug file; else the dynamic
   symbol table, which has exported names only. */
static void prof__module_load(prof__module_symbols *module)
{
    const char *id = module->build + sizeof PROF__BUILD_ID - 1;
    char debug[64 + 2 * PROF__MAX_BUILD_ID];
    if (prof__module_read(module, module->path, PROF__ELF_SYMTAB)) return;
    if (!strncmp(module->build, PROF__BUILD_ID, sizeof PROF__BUILD_ID - 1) && strlen(id) > 2 &&
        strlen(id) <= 2 * PROF__MAX_BUILD_ID && strspn(id, "0123456789abcdef") == strlen(id)) {
        snprintf(debug, sizeof debug, "/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
        if (prof__module_read(module, debug, PROF__ELF_SYMTAB)) return;
    }
    prof__module_read(module, module->path, PROF__ELF_DYNSYM);
}

static char *prof__text_duplicate(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = (char *)malloc(size);
    if (copy) memcpy(copy, text, size);
    return copy;
}

/* Returns the symbols of a module, loaded at first use. Returns NULL if there is no memory, or if a trace names more
   than PROF__MAX_MODULES modules. */
static prof__module_symbols *prof__module_of(prof__symbols *symbols, const char *path, const char *build)
{
    prof__module_symbols *module = symbols->modules;
    for (size_t i = 0; i < symbols->count; ++i, ++module)
        if (!strcmp(module->path, path) && !strcmp(module->build, build)) return module;
    if (symbols->count == PROF__MAX_MODULES) return NULL;
    if (!symbols->modules) {
        symbols->modules = (prof__module_symbols *)calloc(PROF__MAX_MODULES, sizeof *symbols->modules);
        if (!symbols->modules) return NULL;
    }
    module = symbols->modules + symbols->count;
    module->path = prof__text_duplicate(path);
    module->build = prof__text_duplicate(build);
    if (!module->path || !module->build) {
        free(module->path);
        free(module->build);
        return NULL;
    }
    ++symbols->count;
    prof__module_load(module);
    return module;
}

/* Returns the function that begins at an address, or that the address is in. Returns NULL if there is none: between the
   symbols that a stripped module has left, there may be functions without one. */
static const prof__symbol *prof__module_function(const prof__module_symbols *module, uint64_t value)
{
    const prof__symbol *found;
    size_t low = 0, high = module->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (module->list[middle].value <= value)
            low = middle + 1;
        else
            high = middle;
    }
    for (found = NULL; low && (!found || module->list[low - 1].value == found->value); --low) {
        const prof__symbol *each = &module->list[low - 1];
        if (each->value != value && value - each->value >= each->size) break;
        found = each; /* in the end the first of those at this address, which has the highest rank */
    }
    return found;
}

/* Returns the symbol of a call site whose texts encode an address. Returns NULL if they do not, or the symbol is
   unknown; the reader then shows the site's own texts. symbols: zeroed before the first call; owns the result until
   prof__symbols_free(). */
static const prof__symbol *prof__symbol_find(prof__symbols *symbols, const char *name, const char *file,
                                             const char *function)
{
    const char *digits = strrchr(name, '+');
    prof__module_symbols *module;
    uint64_t value = 0;
    if (*function != '?' || !digits || strncmp(digits, "+0x", 3)) return NULL;
    if (strncmp(function, PROF__BUILD_ID, sizeof PROF__BUILD_ID - 1) &&
        strncmp(function, PROF__BUILD_TIME, sizeof PROF__BUILD_TIME - 1))
        return NULL;
    for (digits += 3; *digits; ++digits) {
        const char *digit = strchr("0123456789abcdef", *digits);
        if (!digit || value >> 60) return NULL;
        value = value << 4 | (uint64_t)(digit - "0123456789abcdef");
    }
    module = prof__module_of(symbols, file, function);
    return module ? prof__module_function(module, value) : NULL;
}

static void prof__symbols_free(prof__symbols *symbols)
{
    for (size_t i = 0; i < symbols->count; ++i) {
        prof__module_clear(&symbols->modules[i]);
        free(symbols->modules[i].path);
        free(symbols->modules[i].build);
    }
    free(symbols->modules);
    symbols->modules = NULL;
    symbols->count = 0;
}
#endif

#endif /* PROF__GROUND_SYMBOLS_H */
