/* elf.h - reads ELF files for symbols.c: their build id, functions and sections; and, in lines.c, their line tables. A
   file may be damaged, or made to mislead: each read is checked against the size of what is read. */
#ifndef PROF_ELF_H
#define PROF_ELF_H

#include "tool.h"

typedef struct elf_file elf_file;

/* Bytes that are read from the front. A read beyond the end gives 0 and sets bad. */
typedef struct elf_reader {
    const unsigned char *at, *end;
    int big; /* 1: the most significant byte is first */
    int bad;
} elf_reader;

uint64_t elf_get(elf_reader *from, unsigned size); /* an integer of 1 to 8 bytes */
void elf_skip(elf_reader *from, uint64_t size);
const char *elf_text(elf_reader *from); /* what ends in a 0 byte */
/* Returns a text at this offset of what `from` was made with; NULL if none ends there. */
const char *elf_text_at(const elf_reader *from, uint64_t offset);

/* A function, or the begin of one whose name is not known. */
typedef struct elf_function {
    uint64_t start, end;
    const char *name; /* NULL: not known. Lives as long as the file is open */
    int rank;         /* of several at one address that with the highest one is taken */
} elf_function;

/* Opens an ELF file. Returns NULL if there is none; *why is "" then if the path leads to no file at all. */
elf_file *elf_open(const char *path, const char **why);
void elf_close(elf_file *file); /* file may be NULL */
const char *elf_build_id(const elf_file *file); /* in hex; "": it has none */
int elf_is_big(const elf_file *file);

/* Reads a section, and unpacks it. It lives as long as the file is open. Returns 0 if there is none with bytes. */
int elf_section(elf_file *file, const char *name, elf_reader *bytes);

/* The name of the separate file with debug information, and the CRC of all its bytes. Returns NULL if there is none. */
const char *elf_debug_link(elf_file *file, uint32_t *crc);
uint32_t elf_crc(elf_file *file); /* the CRC of this file; 0 if it cannot be read */

/* Finds the address that the byte at an offset of the file has, before relocation. mapped: the offset with which the
   mapping begins, which is needed for files of debug information, because their segments have no bytes. */
int elf_address(const elf_file *file, uint64_t offset, uint64_t mapped, uint64_t *address);

/* Lists functions by address, at most one for each. full: 1 if they are those of .symtab; 0: exported ones, and begins
   that the unwind table knows. The caller frees *list. Returns 0 without memory. */
int elf_functions(elf_file *file, elf_function **list, size_t *count, int *full);

/* A place to find in the line table. */
typedef struct elf_line {
    uint64_t address; /* before relocation */
    size_t user;      /* for the caller */
    char *file;       /* found: its path, which the caller frees; else NULL */
    uint32_t line;    /* 0: none */
} elf_line;

/* Finds lines. Sorts `lines` by address. Returns 0 if the file has no line table that can be read. */
int elf_lines(elf_file *file, elf_line *lines, size_t count);

#endif
