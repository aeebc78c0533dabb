// ground/windows: Opens, renames and seeks files. On Windows paths are UTF-8 and may be long, and environment variables
// are read as UTF-8.
#ifndef PROF__GROUND_WINDOWS_H
#define PROF__GROUND_WINDOWS_H
#include "ground/base.h"

#ifndef PROF_FREESTANDING
#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#define PROF__WIDE_SIZE 4096 /* the longest path, in UTF-16 units */

/* Converts a path to UTF-16. A path that is not valid UTF-8 is taken to be in the program's code page, as argv and
   getenv() have it. A path that is too long for the classic limit becomes absolute and gets the prefix "\\?\", which
   lifts that limit. Returns 0 if the path is longer than PROF__WIDE_SIZE. */
static int prof__wide(const char *path, WCHAR to[PROF__WIDE_SIZE])
{
    WCHAR given[PROF__WIDE_SIZE];
    int n = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, given, PROF__WIDE_SIZE);
    if (!n) n = MultiByteToWideChar(CP_ACP, 0, path, -1, given, PROF__WIDE_SIZE);
    if (!n) return 0;
    DWORD length = GetFullPathNameW(given, PROF__WIDE_SIZE - 8, to + 8, NULL); /* also turns slashes into backslashes */
    if (!length || length >= PROF__WIDE_SIZE - 8) return 0;
    int server = to[8] == '\\' && to[9] == '\\';
    if (length < 240 || (server && (to[10] == '?' || to[10] == '.'))) {
        memcpy(to, given, (size_t)n * sizeof *to);
        return 1;
    }
    const char *prefix = server ? "\\\\?\\UNC\\" : "\\\\?\\";
    size_t at = 0, from = server ? 10 : 8;
    while (prefix[at]) to[at] = (WCHAR)prefix[at], ++at;
    memmove(to + at, to + from, (8 + length + 1 - from) * sizeof *to);
    return 1;
}

/* Converts UTF-16 to UTF-8. Returns how many bytes it wrote, with the zero at the end, or 0 if `to` is too small. */
static int prof__narrow(const WCHAR *from, char *to, size_t size)
{
    int n = WideCharToMultiByte(CP_UTF8, 0, from, -1, to, (int)size, NULL, NULL);
    if (!n) to[0] = 0;
    return n;
}

static int prof__windows_errno(DWORD error)
{
    switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND: return ENOENT;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS: return EEXIST;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL: return ENOSPC;
    case ERROR_FILENAME_EXCED_RANGE: return ENAMETOOLONG;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION: return EACCES;
    default: return EIO;
    }
}

static HANDLE prof__windows_open(const char *path, DWORD access, DWORD share, DWORD how)
{
    WCHAR wide[PROF__WIDE_SIZE];
    if (prof__wide(path, wide)) return CreateFileW(wide, access, share, NULL, how, FILE_ATTRIBUTE_NORMAL, NULL);
    SetLastError(ERROR_FILENAME_EXCED_RANGE);
    return INVALID_HANDLE_VALUE;
}

static DWORD prof__windows_about(const char *path)
{
    WCHAR wide[PROF__WIDE_SIZE];
    return prof__wide(path, wide) ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;
}

static int prof__folder_create(const char *path) /* returns 0 or an errno */
{
    WCHAR wide[PROF__WIDE_SIZE];
    if (!prof__wide(path, wide)) return ENAMETOOLONG;
    return CreateDirectoryW(wide, NULL) ? 0 : prof__windows_errno(GetLastError());
}

static FILE *prof__file_open(const char *path, const char *mode)
{
    WCHAR wide[PROF__WIDE_SIZE], how[8];
    size_t i = 0;
    errno = ENAMETOOLONG;
    if (!prof__wide(path, wide)) return NULL;
    if (mode[0] == 'r') { /* works while another process renames the file, and lets others rename it */
        HANDLE file = CreateFileW(wide, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                  OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
        errno = prof__windows_errno(GetLastError());
        if (file == INVALID_HANDLE_VALUE) return NULL;
        int number = _open_osfhandle((intptr_t)file, _O_RDONLY | _O_BINARY);
        FILE *stream = number < 0 ? NULL : _fdopen(number, "rb");
        if (number < 0) CloseHandle(file);
        else if (!stream) _close(number);
        return stream;
    }
    for (; mode[i] && i < 7; ++i) how[i] = (WCHAR)mode[i];
    how[i] = 0;
    return _wfopen(wide, how);
}

static int prof__file_remove(const char *path)
{
    WCHAR wide[PROF__WIDE_SIZE];
    return prof__wide(path, wide) && DeleteFileW(wide) ? 0 : -1;
}

static int prof__file_rename(const char *from, const char *to) /* replaces an existing file */
{
    WCHAR old[PROF__WIDE_SIZE], wide[PROF__WIDE_SIZE];
    errno = ENAMETOOLONG;
    if (!prof__wide(from, old) || !prof__wide(to, wide)) return -1;
    for (int i = 0; i < 100; ++i) { /* another process may have the old file open for a moment */
        if (MoveFileExW(old, wide, MOVEFILE_REPLACE_EXISTING)) return 0;
        errno = prof__windows_errno(GetLastError());
        if (errno != EACCES) return -1;
        Sleep(i < 20 ? 1 : 10);
    }
    return -1;
}

/* Returns an environment variable as UTF-8, or NULL. The text stays valid for ever, like that of getenv(): each
   different text is kept once. */
static const char *prof__windows_variable(const char *name)
{
    typedef struct kept_text { struct kept_text *next; char text[1]; } kept;
    static kept *first;
    char text[PROF__WIDE_SIZE];
    WCHAR wide[64], value[PROF__WIDE_SIZE];
    size_t i = 0;
    for (; name[i] && i < 63; ++i) wide[i] = (WCHAR)(unsigned char)name[i];
    wide[i] = 0;
    DWORD length = GetEnvironmentVariableW(wide, value, PROF__WIDE_SIZE);
    if (!length || length >= PROF__WIDE_SIZE) return getenv(name); /* empty, none, or too long */
    if (!prof__narrow(value, text, sizeof text)) return NULL;
    for (kept *each = PROF__ACQUIRE(&first); each; each = each->next)
        if (!strcmp(each->text, text)) return each->text;
    kept *one = (kept *)malloc(sizeof *one + strlen(text));
    if (!one) return NULL;
    strcpy(one->text, text);
    one->next = PROF__ACQUIRE(&first);
    while (!__atomic_compare_exchange_n(&first, &one->next, one, 0, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) {}
    return one->text;
}
#else
static FILE *prof__file_open(const char *path, const char *mode)
{
#if defined(PROF__NARROW) && !defined(fopen)
    return prof__libc_fopen(path, mode);
#else
    return fopen(path, mode);
#endif
}
#define prof__file_remove(path) remove(path)
static int prof__file_rename(const char *from, const char *to) { return rename(from, to); }
#endif

/* Sets a stream's position, also beyond 2 GiB where long has 32 bits. Returns 0 if it succeeds, like fseek(). */
static int prof__file_seek(FILE *file, uint64_t offset, int from)
{
    if (offset > (uint64_t)INT64_MAX) return -1;
#ifdef _WIN32
    return _fseeki64(file, (long long)offset, from);
#else
    return fseeko(file, (prof__offset)offset, from);
#endif
}
#endif

#endif /* PROF__GROUND_WINDOWS_H */
