// read/set: Files that hold several recordings: tar archives of images. FILE/NAME is the path of one of them.
#ifndef PROF__READ_SET_H
#define PROF__READ_SET_H
#include "ground/errors.h"
#include "ground/out.h"
#include "ground/text.h"
#include "session/save.h"

#define PROF__SET_UNIT 512 /* bytes: headers and files begin at multiples of it */
#define PROF__SET_NAME 101

/* Where an image is: a file, or a part of one. */
typedef struct prof__image_place {
    FILE *file;
    uint64_t base, size; /* of the image with its archive, in the file */
    int in_set;
} prof__image_place;

/* Reads a number: octal, or binary if its first bit is 1. */
static uint64_t prof__set_number(const unsigned char *from, size_t size)
{
    int binary = *from & 0x80, bits = binary ? 8 : 3;
    uint64_t number = binary ? *from & 0x3Fu : 0;
    for (size_t i = (size_t)(binary != 0); i < size; i++) {
        if (!binary && (from[i] == ' ' || !from[i])) continue;
        number = number << bits | (binary ? from[i] : from[i] & 7u);
    }
    return number;
}

/* Returns 1 if these 512 bytes are the header of a file in a tar archive. */
static int prof__set_header(const unsigned char *head)
{
    uint64_t sum = 0;
    for (int i = 0; i < PROF__SET_UNIT; i++) sum += i >= 148 && i < 156 ? ' ' : head[i];
    return !memcmp(head + 257, "ustar", 5) && prof__set_number(head + 148, 8) == sum;
}

static int prof__is_set(FILE *file)
{
    unsigned char head[PROF__SET_UNIT];
    return prof__file_at(file, 0, head, sizeof head) && prof__set_header(head);
}

/* Finds the next recording from *at on, and moves *at behind it. Returns 0 after the last one, -1 where the file is
   damaged, or ends without the zeros that must be at its end. */
static int prof__set_next(FILE *file, uint64_t *at, char name[PROF__SET_NAME], uint64_t *base, uint64_t *size)
{
    unsigned char head[PROF__SET_UNIT];
    while (prof__file_at(file, *at, head, sizeof head)) {
        if (!prof__set_header(head)) {
            for (int i = 0; i < PROF__SET_UNIT; i++)
                if (head[i]) return -1;
            return 0;
        }
        *base = *at + PROF__SET_UNIT;
        *size = prof__set_number(head + 124, 12);
        if (*size >> 62) return -1;
        *at = *base + (*size + PROF__SET_UNIT - 1) / PROF__SET_UNIT * PROF__SET_UNIT;
        memcpy(name, head, PROF__SET_NAME - 1);
        name[PROF__SET_NAME - 1] = 0;
        if (!head[156] || head[156] == '0') return 1;
        if (!strchr("125gxKL", head[156])) return -1; /* a form that is not read here, such as a file with holes */
    }
    return -1;
}

/* Finds the recording that a path names which is no file itself. Returns 0 if no part of the path is a file of several;
   -1, with a message, if the recording is not in it. */
static int prof__set_find(const char *path, prof__image_place *place)
{
    char set[4096], name[PROF__SET_NAME];
    for (const char *end = strchr(path, '/'); end && (size_t)(end - path) < sizeof set; end = strchr(end + 1, '/')) {
        uint64_t at = 0;
        int found = 0;
        if (end == path) continue;
        prof__text_copy(set, (size_t)(end - path) + 1, path);
        FILE *file = prof__file_open(set, "rb");
        if (!file) continue;
        int several = prof__is_set(file);
        while (several && (found = prof__set_next(file, &at, name, &place->base, &place->size)) > 0)
            if (!strcmp(name, end + 1)) break;
        place->file = file;
        place->in_set = found > 0;
        if (found > 0) return 1;
        fclose(file);
        place->file = NULL;
        if (!several) continue;
        prof__fail(PROF_IO, "%s: holds no recording %s%s", set, end + 1, found ? ": it is damaged, or was cut" : "");
        return -1;
    }
    return 0;
}

/* Opens the file that an image is read from. */
static prof_status prof__image_open(const char *path, prof__image_place *place)
{
    memset(place, 0, sizeof *place);
    errno = 0;
    place->file = prof__file_open(path, "rb");
    if (!place->file) {
        int error = errno, found = prof__set_find(path, place);
        errno = error;
        if (!found) return prof__cannot("open", path, NULL);
        if (found < 0) return PROF_IO;
    }
    setvbuf(place->file, NULL, _IONBF, 0); /* unbuffered: reads must see what is in the file at that moment */
    if (place->in_set || !prof__is_set(place->file)) return PROF_OK;
    fclose(place->file);
    place->file = NULL;
    return prof__fail(PROF_INVALID_ARGUMENT, "%s: holds several recordings: name one of them, as in %s/NAME", path,
                      path);
}

/* Returns the end of the image and its archive in the file; place->base is the begin. Returns 0 on errors. */
static int prof__image_size(const prof__image_place *place, uint64_t *size)
{
    uint64_t whole;
    if (!prof__read_size(place->file, &whole)) return 0;
    if (!place->in_set)
        *size = whole;
    else
        *size = whole < place->base ? 0 : whole - place->base < place->size ? whole - place->base : place->size;
    return 1;
}

#endif /* PROF__READ_SET_H */
