/* fuzz.h - what the targets of fuzz.c share. */
#ifndef FUZZ_H
#define FUZZ_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* memfd_create() */
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define REQUIRE(condition)                                                                  \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);   \
            abort();                                                                        \
        }                                                                                   \
    } while (0)

/* Makes a file in memory of these bytes. path: its name, 64 bytes. Returns its descriptor, or -1. */
static inline int fuzz_file(const uint8_t *data, size_t size, char *path)
{
    int file = memfd_create("fuzz", 0);
    if (file >= 0 && write(file, data, size) != (ssize_t)size) {
        close(file);
        file = -1;
    }
    if (file >= 0) snprintf(path, 64, "/proc/self/fd/%d", file);
    return file;
}

/* Reads every byte that an exporter writes, so that a memory sanitizer sees what was never written. */
static inline int fuzz_swallow(void *user, const void *data, size_t size)
{
    const unsigned char *at = (const unsigned char *)data, *end = at + size;
    uint32_t sum = 0;
    for (; at < end; ++at) sum = sum * 31 + *at;
    if (sum == 0x12345678) ++*(uint32_t *)user;
    return 0;
}

#endif
