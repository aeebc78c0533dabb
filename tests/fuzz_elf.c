/* fuzz_elf.c - the tool's reader of ELF files and of their line tables, with any bytes as the file. A part of fuzz.c,
   after fuzz_tool.c, which replaces what of the tool lies beyond. */
#include "../tools/elf.c"
#include "../tools/lines.c"

#define FUZZ_LINES 64

/* Functions are in order, apart, and have names that end. */
static void fuzz_functions(elf_file *file, elf_line *lines)
{
    elf_function *list = NULL;
    size_t count = 0, i;
    uint64_t address, letters = 0;
    int full;
    REQUIRE(elf_functions(file, &list, &count, &full));
    for (i = 0; i < count; ++i) {
        REQUIRE(!i || list[i].start > list[i - 1].start);
        REQUIRE(list[i].end >= list[i].start);
        if (list[i].name) letters += strlen(list[i].name);
    }
    REQUIRE(letters < (uint64_t)-1);
    for (i = 0; i < FUZZ_LINES; ++i) {
        lines[i].address = i < count && i < FUZZ_LINES / 2 ? list[i].start + i % 3 : (uint64_t)i * 64;
        if (elf_address(file, i * 64, 0, &address) && i % 2) lines[i].address = address;
        lines[i].user = i;
    }
    free(list);
}

static int fuzz_elf(const uint8_t *data, size_t size)
{
    elf_line lines[FUZZ_LINES];
    elf_file *file;
    const char *why, *link;
    char path[64];
    uint32_t crc;
    size_t i, seen = 0;
    int descriptor = fuzz_file(data, size, path);
    memset(lines, 0, sizeof lines);
    if (descriptor < 0) return 0;
    file = elf_open(path, &why);
    if (file) {
        REQUIRE(strlen(elf_build_id(file)) <= 128);
        link = elf_debug_link(file, &crc);
        REQUIRE(!link || !strchr(link, '/'));
        REQUIRE(elf_crc(file) || size);
        fuzz_functions(file, lines);
        elf_lines(file, lines, FUZZ_LINES);
        for (i = 0; i < FUZZ_LINES; ++i) {
            REQUIRE(lines[i].user < FUZZ_LINES && !(seen >> (lines[i].user % 64) & 1));
            seen |= (size_t)1 << lines[i].user % 64;
            if (lines[i].file) REQUIRE(strlen(lines[i].file) <= 3 * size + 3);
            free(lines[i].file);
        }
    } else {
        REQUIRE(*why);
    }
    elf_close(file);
    close(descriptor);
    return 0;
}
