// system/files: Small files of the system as text: read once, or opened once and read again and again.
#ifndef PROF__SYSTEM_FILES_H
#define PROF__SYSTEM_FILES_H
#include "system/state.h"

#ifdef PROF__SYSTEM_LINUX
#include <sys/resource.h>

/* Before the paths of files whose contents are sampled. Tests have a folder of their own there. */
static const char *prof__system_root = "";

/* Reads a small file of the system as text. Returns 0 if it cannot. */
static int prof__system_read(const char *path, char *text, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file >= 0 ? read(file, text, size - 1) : -1;
    if (file >= 0) close(file);
    text[got > 0 ? got : 0] = 0;
    if (got > 0 && text[got - 1] == '\n') text[got - 1] = 0;
    return got > 0;
}

/* Returns the greatest number that a file of prof may have: half of the files are the program's. */
static uint64_t prof__system_most_files(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY ? INT32_MAX
                                                                               : (uint64_t)limit.rlim_cur / 2;
}

/* Opens a file that stays open: folder/name. Returns -1 if it cannot be read, or files get scarce. */
static int prof__system_open_file(const char *folder, const char *name)
{
    char path[1024], byte;
    int length = snprintf(path, sizeof path, "%s%s/%s", prof__system_root, folder, name);
    int file = length > 0 && (size_t)length < sizeof path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return -1;
    if ((uint64_t)file <= prof__system_most_files() && pread(file, &byte, 1, 0) == 1) return file;
    close(file);
    return -1;
}

/* Reads an open file from its beginning. Returns 0 if it cannot. */
static int prof__system_reread(int file, char *text, size_t size)
{
    ssize_t got = file >= 0 ? pread(file, text, size - 1, 0) : -1;
    text[got > 0 ? got : 0] = 0;
    return got > 0;
}

/* Reads a file of any size. Returns a text for free(), NULL if it cannot. */
static char *prof__system_read_all(const char *path)
{
    char full[256], *text = NULL;
    size_t size = 0, room = 0;
    ssize_t got = 1;
    snprintf(full, sizeof full, "%s%s", prof__system_root, path);
    int file = open(full, O_RDONLY | O_CLOEXEC);
    while (file >= 0 && got > 0) {
        if (room - size < 4096) {
            char *more = (char *)realloc(text, room += 16384);
            if (!more) break;
            text = more;
        }
        got = read(file, text + size, room - size - 1);
        if (got > 0) size += (size_t)got;
    }
    if (file >= 0) close(file);
    if (text) text[size] = 0;
    return text;
}

/* Returns 1 if a list such as "0-3,5" has a number; *last: receives its last one. */
static int prof__system_in_list(const char *list, uint64_t number, uint64_t *last)
{
    int found = 0;
    char *end;
    *last = 0;
    for (;; list = end + 1) {
        uint64_t from = strtoull(list, &end, 10), to = from;
        if (end == list) return found;
        if (*end == '-') to = strtoull(end + 1, &end, 10);
        if (to < from) return found;
        found |= number >= from && number <= to;
        *last = to;
        if (*end != ',') return found;
    }
}

/* Finds the number behind a word that begins a line. Returns 0 if there is none. */
static int prof__system_number(const char *text, const char *word, uint64_t *number)
{
    size_t length = strlen(word);
    char *end;
    for (; text; text = strchr(text, '\n')) {
        text += *text == '\n';
        if (strncmp(text, word, length) || text[length] != ' ') continue;
        *number = strtoull(text + length, &end, 10);
        return end != text + length;
    }
    return 0;
}
#endif

#endif /* PROF__SYSTEM_FILES_H */
