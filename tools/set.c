/* set.c - one file of several recordings: a tar archive, whose parts the reader opens by FILE/NAME. */
#include "tool.h"
#include <stdlib.h>
#include <string.h>

#define UNIT 512 /* bytes: headers and parts begin at multiples of it */

/* Writes a number in octal; one that is too large for that, in binary. */
static void put_number(char *to, size_t size, uint64_t number)
{
    size_t i;
    int binary = number >> 3 * (size - 1) != 0;
    if (!binary) to[--size] = 0;
    for (i = size; i-- > 0; number >>= binary ? 8 : 3)
        to[i] = (char)(binary ? number & 255 : '0' + (number & 7));
    if (binary) to[0] = (char)(to[0] | 0x80);
}

static void put_header(tool_out *out, const char *name, uint64_t size)
{
    char head[UNIT];
    uint64_t sum = 0;
    size_t i;
    memset(head, 0, sizeof head);
    memcpy(head, name, strlen(name)); /* at most 99 bytes */
    put_number(head + 100, 8, 0644);
    put_number(head + 108, 8, 0);
    put_number(head + 116, 8, 0);
    put_number(head + 124, 12, size);
    put_number(head + 136, 12, 0);
    memset(head + 148, ' ', 8);
    head[156] = '0';
    memcpy(head + 257, "ustar\00000", 8);
    for (i = 0; i < sizeof head; i++) sum += (unsigned char)head[i];
    put_number(head + 148, 7, sum);
    tool_out_bytes(out, head, sizeof head);
}

/* Names the part as its file, without folders and in at most 90 bytes; with its number before it if an earlier file has
   that name, too. */
static void name_part(const tool_args *args, int which, char to[100])
{
    const char *name = tool_base(args->files[which]);
    size_t size = strlen(name);
    int i;
    if (tool_same(name, "-")) name = "standard input.prof", size = strlen(name);
    while (size > 80 || ((unsigned char)*name & 0xC0) == 0x80) name++, size--;
    snprintf(to, 100, "%s", name);
    for (i = 0; i < which; i++)
        if (strstr(args->files[i], name) && tool_same(tool_base(args->files[i]), tool_base(args->files[which]))) break;
    if (i < which) snprintf(to, 100, "%d/%s", which, name);
}

/* Adds the bytes of a file. Long runs of zeros, where a ring was not full, take no space on the disk. */
static int put_bytes(tool_out *out, FILE *file, uint64_t size)
{
    char bytes[4096];
    uint64_t left = size, zeros = 0;
    while (left) {
        size_t got = fread(bytes, 1, left < sizeof bytes ? (size_t)left : sizeof bytes, file), i;
        if (!got) return 0;
        left -= got;
        for (i = 0; i < got && !bytes[i];) i++;
        if (i == got) {
            zeros += got;
            continue;
        }
        tool_out_zeros(out, zeros);
        tool_out_bytes(out, bytes, got);
        zeros = 0;
    }
    tool_out_zeros(out, zeros + (UNIT - size % UNIT) % UNIT);
    return 1;
}

/* Adds a recording: a copy, because a program may still record into the original. */
static int put_part(const tool_args *args, int which, const char *copy, tool_out *out)
{
    char name[100];
    FILE *file = NULL;
    uint64_t size = 0;
    int result = tool_copy(args->files[which], copy, -1, 0);
    if (result == TOOL_OK && !(file = tool_file_open(copy, "rb"))) result = tool_fail("cannot read %s", copy);
    if (result == TOOL_OK && !tool_file_size(file, &size)) result = tool_fail("cannot read %s", copy);
    if (result == TOOL_OK) {
        name_part(args, which, name);
        put_header(out, name, size);
        rewind(file);
        if (!put_bytes(out, file, size)) result = tool_fail("cannot read %s", copy);
    }
    if (file) fclose(file);
    remove(copy);
    return result;
}

/* Names a file beside the output that does not exist. Returns 0, with a message, if the name is too long. */
static int name_copy(const char *path, char *to, size_t size)
{
    FILE *file;
    int i;
    for (i = 0;; i++) {
        if (snprintf(to, size, "%s.%d.part", path, i) >= (int)size) return tool_fail("%s: too long", path), 0;
        file = tool_file_open(to, "rb");
        if (!file) return 1;
        fclose(file);
    }
}

int tool_set_write(const tool_args *args, const char *path)
{
    char copy[4200];
    int i, result = TOOL_OK;
    tool_out *out;
    if (!name_copy(path, copy, sizeof copy)) return TOOL_ERROR;
    out = tool_out_open(path);
    if (!out) return TOOL_ERROR;
    for (i = 0; i < args->file_count && result == TOOL_OK; i++) {
        result = tool_out_good(out) ? put_part(args, i, copy, out) : TOOL_ERROR;
        tool_progress(1.0 / args->file_count);
    }
    tool_out_zeros(out, 2 * UNIT);
    return tool_out_close(out, result == TOOL_OK || !tool_out_good(out));
}
