/* symbols.h - finds functions and lines of sampled addresses. Add places, resolve all of them, then look at them. */
#ifndef PROF_SYMBOLS_H
#define PROF_SYMBOLS_H

#include "tool.h"

#define SYMBOLS_NONE ((size_t)-1)

typedef struct symbols symbols;

typedef struct symbols_function {
    char *name;      /* demangled, without parameters; MODULE+0xOFFSET if it has none that is known */
    char *mangled;   /* the name in the file; NULL: none */
    char *file;      /* where it begins; NULL: not known */
    uint32_t line;
    const char *module; /* the last part of its path; "": not known */
    size_t home;        /* the number of the file that it is in */
    uint64_t start;     /* in the file */
} symbols_function;

typedef struct symbols_place {
    uint64_t address;           /* in the program */
    const prof_module *module;  /* NULL: none was there */
    int after_call;             /* 1: a return address: the call is before it */
    size_t function;
    char *file;                 /* NULL: not known */
    uint32_t line;              /* 0: not known */
} symbols_place;

/* folder: where to look for files first; may be NULL. Returns NULL without memory. */
symbols *symbols_open(const prof_trace *trace, const char *folder);
void symbols_close(symbols *all); /* may be NULL */

/* Returns the number of a place; the same for the same address of a module. Returns SYMBOLS_NONE without memory. */
size_t symbols_add(symbols *all, uint64_t address, int64_t time_ns, int after_call);
/* Finds functions and lines of all places. Returns 0 without memory. */
int symbols_resolve(symbols *all);

size_t symbols_places(const symbols *all);
const symbols_place *symbols_at(const symbols *all, size_t place);
size_t symbols_functions(const symbols *all);
const symbols_function *symbols_function_at(const symbols *all, size_t function);
/* What could not be found, and what to do about it: a line for each file. Returns NULL after the last one. */
const char *symbols_note(const symbols *all, size_t i);

#endif
