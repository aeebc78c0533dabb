// session/memory: Takes the memory of an image (plain memory, a mapped file, or the user's array), and divides it into
// header, meta, index and chunks.
#ifndef PROF__SESSION_MEMORY_H
#define PROF__SESSION_MEMORY_H
#include "api/markup.h"
#include "ground/digits.h"
#include "ground/errors.h"
#include "ground/out.h"
#include "ground/signals.h"
#include "ground/threads.h"
#include "ground/windows.h"
#include "image/format.h"
#include "record/locks.h"
#include "record/meta.h"
#include "record/ring.h"
#include "record/self.h"
#include "record/state.h"
#include "record/thread.h"
#include "record/track.h"

/*-- MEMORY ----------------------------------------------------------------------------------------------- >>memory --
   An image lives in plain memory, in a mapped file, or in an array of the program. Recording never writes to a page for
   which the disk may have no space: the file's blocks and pages are reserved before a thread needs them, by
   prof__chunks_ready(), or all of them here on systems that cannot reserve a part. */

#define PROF__MIN_IMAGE (2u << 10) /* bytes; small enough for microcontrollers */
#define PROF__SMALL_IMAGE (16u << 10)
#define PROF__MIN_BUFFER (128u << 10)
#ifdef __EMSCRIPTEN__ /* Emscripten's heap has 16 MiB in all unless the program asks for more */
#define PROF__DEFAULT_BUFFER (4u << 20)
#define PROF__MORE_HEAP ": link with -sALLOW_MEMORY_GROWTH or a larger -sINITIAL_MEMORY"
#else
#define PROF__MORE_HEAP ""
#define PROF__DEFAULT_BUFFER (16u << 20)
#endif
#define PROF__DEFAULT_LEVEL 2
static int prof__level_of(const prof_config *config)
{
    return !config->level ? PROF__DEFAULT_LEVEL : config->level < 0 ? 0 : config->level;
}
#define PROF__MAX_WAIT 10000000000u
#define PROF__WAITS_NS 10000u /* the standard of config.waits_ns */
#define PROF__MIN_PERIOD 10000000u
#define PROF__MAX_PERIOD 864000000000000u /* ten days; a longer period in text was probably meant in nanoseconds */

static prof__extent prof__round(prof__extent value, prof__extent unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Returns where the chunks begin in an image of size bytes. *meta: bytes of meta. *index: slots of meta's index, more
   than meta can have records. */
static prof__extent prof__layout_head(prof__extent size, prof__extent *meta, prof__extent *index)
{
    *meta = prof__round(size / 16, 4096);
    if (*meta > 8u << 20) *meta = 8u << 20;
    if (*meta * 4 > size) *meta = size / 4 / 64 * 64;
    uint32_t max = size < PROF__SMALL_IMAGE ? 12 : 8; /* bytes of meta for each slot of the index */
    if (size < 4096) *meta = size / 5 / 64 * 64;
    prof__extent head = prof__round(sizeof(prof__header), 64);
    if (*meta > 4096) *meta -= head; /* header and meta then fill whole pages, and chunks begin at a page. So do the
                                        parts of a split slot. A power loss keeps or loses pages as a whole */
    for (*index = 32; *index * max < *meta;) *index *= 2;
    return prof__round(head + *meta + *index * 4, !PROF__MARKED || size < 65536 ? 64 : 4096);
}

#ifndef PROF_FREESTANDING
#ifdef _WIN32
/* Gives up the sidecar file, because of this error; the image will be in plain memory. */
static void prof__file_forget(prof__session *s, int error)
{
    if (s->stream.opened) {
        CloseHandle(s->stream.handle);
        prof__file_remove(s->file.live_path);
    }
    s->stream.opened = s->file.taken = 0;
    s->file.live_path = NULL;
    s->file.sidecar_error = error;
}

/* Creates the image's file, and opens it so that no other process may write to it: by that, other recorders see that
   the file is in use. Returns 0 or the system's error. */
static DWORD prof__file_create(prof__session *s, DWORD how)
{
    HANDLE file =
        prof__windows_open(s->file.live_path, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE, how);
    if (file == INVALID_HANDLE_VALUE) return GetLastError();
    s->stream.handle = file;
    s->stream.opened = s->file.taken = 1;
    return 0;
}

/* Returns 0 if the disk has no room for a file of this size. */
static int prof__disk_has(const char *path, uint64_t size)
{
    WCHAR wide[PROF__WIDE_SIZE];
    char folder[1024];
    ULARGE_INTEGER room;
    if (!prof__folder_of(path, folder, sizeof folder) || !prof__wide(folder[0] ? folder : ".", wide)) return 1;
    return !GetDiskFreeSpaceExW(wide, &room, NULL, NULL) || room.QuadPart >= size; /* or the free space is unknown */
}

/* Maps the image's file. Creates it first if choosing the output's name has not done so. Returns 0 or the system's
   error. */
static DWORD prof__memory_map(prof__session *s, size_t size)
{
    DWORD error = s->stream.opened ? 0 : prof__file_create(s, CREATE_ALWAYS);
    if (!error && PROF__SIDECAR(s->file.sidecar) && !prof__disk_has(s->file.live_path, (uint64_t)size * 4))
        return ERROR_DISK_FULL;
    if (error) return error;
    HANDLE map = CreateFileMappingA(s->stream.handle, NULL, PAGE_READWRITE, (DWORD)((uint64_t)size >> 32), (DWORD)size,
                                    NULL);
    if (map) s->file.mapping = MapViewOfFile(map, FILE_MAP_ALL_ACCESS, 0, 0, size);
    error = s->file.mapping ? 0 : GetLastError();
    if (map) CloseHandle(map);
    return error;
}

static prof_status prof__memory_take(prof__session *s, size_t size)
{
    DWORD error = s->file.live_path ? prof__memory_map(s, size) : 0;
    if (error && PROF__SIDECAR(s->file.sidecar)) prof__file_forget(s, prof__windows_errno(error));
    else if (error) return prof__fail(PROF_IO, "%s: cannot be mapped (error %lu)", s->file.live_path, error);
    if (!s->file.live_path) s->file.mapping = VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (!s->file.mapping)
        return prof__fail(PROF_NO_MEMORY, "no memory for a buffer of %llu bytes", (unsigned long long)size);
    s->file.private_memory = !s->file.live_path;
    s->file.mapping_size = size;
    s->ring.ready_chunks = PROF__ALL_READY;
    for (size_t i = 0; i < size; i += 4096) ((volatile char *)s->file.mapping)[i] = 0;
    return PROF_OK;
}

/* Moves the image from its file to memory, because Windows does not let a mapped file be removed. Returns 0 if that is
   not possible, because a thread may still point into the image. */
static int prof__memory_move(prof__session *s)
{
    char *to = (char *)VirtualAlloc(NULL, s->file.mapping_size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (!to) return 0;
    uint32_t write_lock = prof__state_lock();
    prof__thread *self = PROF__SELF();
    if (self->session == s) prof__detach(self);
    void *from = s->file.mapping;
    int moves = !s->readers && !__atomic_load_n(&s->attached, __ATOMIC_ACQUIRE);
    if (moves) {
        ptrdiff_t by = to - (char *)from;
        memcpy(to, from, s->file.mapping_size);
        s->header = (prof__header *)(void *)to;
        s->meta = (uint64_t *)(void *)((char *)s->meta + by);
        s->index = (uint32_t *)(void *)((char *)s->index + by);
        s->chunks += by;
        s->file.mapping = to;
        s->file.private_memory = 1;
    }
    prof__state_unlock(write_lock);
    if (moves) UnmapViewOfFile(from);
    else VirtualFree(to, 0, MEM_RELEASE);
    return moves;
}

static void prof__memory_free(prof__session *s)
{
    if (s->file.mapping && s->file.private_memory) VirtualFree(s->file.mapping, 0, MEM_RELEASE);
    else if (s->file.mapping) UnmapViewOfFile(s->file.mapping);
    if (s->file.to_remove) CloseHandle(s->stream.handle); /* closing the handle removes the file */
}
static void prof__memory_retire(prof__session *s) { (void)s; }
#else
/* Locks a file that this process records into. Returns 1 if another process holds the lock. The lock ends with the last
   descriptor of the file, and so with the process: exec() closes the descriptor, and children of fork() close theirs.
   On a file system without locks, every file counts as not locked. */
static int prof__file_lock(int file)
{
#ifdef __wasi__ /* WASI has no file locks */
    (void)file;
    return 0;
#else
    int failed, tries = 0;
    do failed = flock(file, LOCK_EX | LOCK_NB);
    while (failed && prof__interrupted(&tries));
    return failed && errno == EWOULDBLOCK;
#endif
}

static void prof__file_unlock(int file)
{
#ifdef __wasi__
    (void)file;
#else
    flock(file, LOCK_UN);
#endif
}

/* Keeps the descriptor of the mapped file, and with it the file's lock. */
static void prof__file_keep(prof__session *s, int file)
{
    prof__about about;
#ifdef F_DUPFD_CLOEXEC
    /* If the program closes a high descriptor number, the number is not soon reused. */
    int high = fcntl(file, F_DUPFD_CLOEXEC, 200);
#else
    int high = -1;
#endif
    s->stream.file = high < 0 ? file : high;
    s->stream.opened = 1;
    if (high >= 0) close(file);
    if (s->stream.inode || prof__fstat(s->stream.file, &about)) return;
    s->stream.device = (uint64_t)about.st_dev;
    s->stream.inode = (uint64_t)about.st_ino;
}

/* Makes the file size bytes large and reserves all its blocks. Returns 0; EOPNOTSUPP or EINVAL if the system cannot
   reserve blocks; or errno. */
static int prof__file_allocate(int file, size_t size)
{
#if defined(__APPLE__)
    fstore_t ask = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, (prof__offset)size, 0};
    if (fcntl(file, F_PREALLOCATE, &ask) < 0) return errno == ENOSPC ? ENOSPC : EOPNOTSUPP;
    return ftruncate(file, (prof__offset)size) ? errno : 0;
#elif defined(__OpenBSD__)
    (void)file;
    (void)size;
    return EOPNOTSUPP;
#else
    return posix_fallocate(file, 0, (prof__offset)size);
#endif
}

/* Makes the file size bytes large and reserves all its blocks if the system can. If it cannot, the file is sparse, and
   *sparse is 1. Returns 0 or errno. */
static int prof__file_reserve(int file, size_t size, int *sparse)
{
    prof__signals signals;
    /* Any signal makes the reservation fail, and a profiler's timer signal always arrives during it. */
    prof__signals_block(&signals);
    int error = prof__file_allocate(file, size);
    prof__signals_restore(&signals);
    *sparse = error == EOPNOTSUPP || error == EINVAL;
    if (*sparse) error = ftruncate(file, (prof__offset)size) ? errno : 0;
    return error;
}

/* Returns 1 if the disk has enough space for the file. A sidecar file may take at most a quarter of the free space,
   because the output needs some, too; if it would take more, the image is in memory. */
static int prof__file_fits(const prof__session *s, int file, size_t size)
{
    struct statvfs about;
    (void)s;
    if (!PROF__SIDECAR(s->file.sidecar)) return 1;
    /* EOVERFLOW: the disk has more blocks than 32 bits can count. */
    if (fstatvfs(file, &about)) return errno == EOVERFLOW;
    return (uint64_t)about.f_bavail * about.f_frsize / 4 >= size;
}

#ifdef __linux__
/* Returns 1 if only the first parts of meta and of its index (PROF__META_FIRST, PROF__INDEX_FIRST) are made ready at
   the start, and grow later. Returns 0 if both are made ready as a whole, in a small image. */
static int prof__meta_starts_small(uint64_t size, uint64_t chunks)
{
#ifdef PROF__META_GROWS
    return chunks >= PROF__META_FIRST + PROF__INDEX_FIRST && chunks + PROF_CHUNK_SIZE <= size;
#else
    return (void)size, (void)chunks, 0;
#endif
}

/* Reserves the first blocks of a new file and makes its pages present; for memory (file is -1), only the pages. These
   are the beginning of meta, the end of meta's index, and the first chunk. Called before anybody records. Returns 0;
   EINVAL if the system has no such call; or errno. */
static int prof__map_begin(int file, char *map, uint64_t size)
{
    uint64_t meta, index, chunks = prof__layout_head(size, &meta, &index);
    uint64_t end = chunks + PROF_CHUNK_SIZE < size ? chunks + PROF_CHUNK_SIZE : size, head = end;
    if (prof__meta_starts_small(size, chunks)) {
        uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), from = (chunks - PROF__INDEX_FIRST) / page * page;
        head = PROF__META_FIRST;
        int error = file < 0 ? 0 : prof__blocks_reserve(file, from, end - from);
        if (error && error != EOPNOTSUPP) return error;
        if (prof__populate(map + from, (size_t)(end - from))) return errno == EFAULT && file >= 0 ? ENOSPC : EINVAL;
    }
    int error = file < 0 ? 0 : prof__blocks_reserve(file, 0, head);
    if (error && error != EOPNOTSUPP) return error;
    return !prof__populate(map, (size_t)head) ? 0 : errno == EFAULT && file >= 0 ? ENOSPC : EINVAL;
}
#endif

/* Makes the file size bytes large and maps it, or maps memory if file is -1. Only for systems that can reserve blocks
   and pages later, before a thread needs them; on others *at stays NULL. Returns 0 or errno. */
static int prof__map_ahead(prof__session *s, int file, size_t size, void **at)
{
    *at = NULL;
#ifdef __linux__
    if (file >= 0 && ftruncate(file, (prof__offset)size)) return errno;
    void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, file, 0);
    if (map == MAP_FAILED) return errno;
    /* MADV_RANDOM: otherwise the kernel reads MiBs of zeros around each page of the new file. */
    if (file >= 0) madvise(map, size, 1);
    int error = prof__map_begin(file, (char *)map, size);
    if (!error) {
        *at = map;
        s->ring.ready_chunks = s->ring.claimed_chunks = 0;
        return 0;
    }
    munmap(map, size);
    return error == EINVAL ? 0 : error;
#else
    (void)s, (void)file, (void)size;
    return 0;
#endif
}

/* Makes the file size bytes large and maps it, or maps memory if file is -1, with all blocks and pages ready at once.
   Returns 0 or errno. */
static int prof__map_whole(prof__session *s, int file, size_t size, void **at)
{
    int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, sparse = 0;
    int error = file < 0 ? 0 : prof__file_reserve(file, size, &sparse);
    if (error || (sparse && PROF__SIDECAR(s->file.sidecar))) return error ? error : EOPNOTSUPP;
#ifdef MAP_POPULATE
    flags |= MAP_POPULATE;
#endif
#ifdef __EMSCRIPTEN__
    if (!prof__heap_has(size)) return ENOMEM;
#endif
    void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, file, 0);
    if (map == MAP_FAILED) return errno;
    *at = map;
    s->ring.ready_chunks = PROF__ALL_READY;
    for (size_t i = 0; i < size; i += 4096) ((volatile char *)map)[i] = 0;
    return 0;
}

/* Returns 0 if the mapping is only a copy of the file, because the system imitates shared mappings (Emscripten). *at: a
   word of the mapping, zero before and after. Async-signal-safe. */
static int prof__map_shared(int file, volatile uint64_t *at)
{
    uint64_t probe = 0x6D61702070726F62u, there = 0;
    *at = probe;
    ssize_t got = pread(file, &there, sizeof there, 0);
    *at = 0;
    return got != (ssize_t)sizeof there || there == probe;
}

/* Returns 1 if this error of mmap() means that the file system has no shared mappings. */
static int prof__map_missing(int error)
{
    return error == ENODEV || error == EINVAL || error == ENOSYS || error == EOPNOTSUPP;
}

/* Writes a path of an open file that needs no name: "/proc/self/fd/3" for descriptor 3. `to` has 32 bytes. */
static void prof__file_link_name(int file, char *to)
{
    char number[24];
    prof__number_text(number, (uint64_t)file);
    prof__text_copy(to, 32, "/proc/self/fd/");
    prof__text_add(to, 32, number);
}

/* Opens a new file without a name in the directory of live_path. The file disappears if the process is killed before
   the file gets a name. On systems without such files, creates a file named part_path. Returns -1 and errno on
   failure. */
static int prof__file_make(prof__session *s)
{
    s->file.unnamed = 0;
#if defined(O_TMPFILE) && defined(__linux__)
    char path[sizeof s->stream.path], *end = path;
    prof__text_copy(path, sizeof path, s->file.live_path);
    for (char *c = path; *c; ++c)
        if (*c == '/') end = c + 1;
    prof__text_copy(end, 2, ".");
    int file = open(path, O_TMPFILE | O_RDWR | PROF__O_FILE, PROF__FILE_MODE);
    if (file >= 0) {
        prof__file_link_name(file, path);
        s->file.unnamed = !access(path, F_OK); /* without /proc the file could not get a name later */
        if (s->file.unnamed) return file;
        close(file);
    }
#endif
    unlink(s->file.part_path);
    return open(s->file.part_path, O_RDWR | O_CREAT | O_EXCL | PROF__O_FILE, PROF__FILE_MODE);
}

/* Gives the file one more name, which no other file may have. Returns 0 or errno. */
static int prof__file_link(const prof__session *s, const char *name)
{
    char path[32];
    if (s->file.unnamed) prof__file_link_name(s->stream.file, path);
    return linkat(AT_FDCWD, s->file.unnamed ? path : s->file.part_path, AT_FDCWD, name, AT_SYMLINK_FOLLOW) ? errno : 0;
}

/* Gives the file the name part_path if it has no name yet. Returns 0 or errno. */
static int prof__file_name(prof__session *s)
{
    if (s->file.unnamed) unlink(s->file.part_path);
    int error = s->file.unnamed ? prof__file_link(s, s->file.part_path) : 0;
    if (!error) s->file.unnamed = 0;
    return error;
}

/* Maps memory for the image, or the image's file if there is one. The file has the name part_path, or none, until the
   start has succeeded; so a process that still records into an older file of the final name keeps that file. Returns 0
   or the system's error. Async-signal-safe, because the child of a fork may call it in a signal handler. */
static int prof__memory_map(prof__session *s, size_t size)
{
    int file = -1, error = 0;
    void *at = NULL;
    if (s->file.live_path) {
        char ending[40] = ".";
        prof__number_text(ending + 1, prof__process_id());
        prof__text_add(ending, sizeof ending, ".part");
        prof__path_ending(s->file.live_path, prof__length(s->file.live_path), ending, PROF__NAME_SHORT,
                          s->file.part_path, sizeof s->file.part_path);
        file = prof__file_make(s);
        if (file < 0) return errno;
        prof__file_lock(file);
        if (!prof__file_fits(s, file, size)) error = ENOSPC;
    }
    if (!error) error = prof__map_ahead(s, file, size, &at);
    if (!error && !at) error = prof__map_whole(s, file, size, &at);
    /* Without shared mappings the image is in memory, and is copied to the file at the end. */
    if (file >= 0 && !PROF__SIDECAR(s->file.sidecar) && prof__map_missing(error)) {
        s->file.sidecar_error = error;
        error = ftruncate(file, (prof__offset)size) ? errno : prof__map_whole(s, -1, size, &at);
    }
    if (error) {
        if (file >= 0) close(file);
        return error;
    }
    if (file >= 0) s->file.apart = !prof__map_shared(file, (volatile uint64_t *)at);
    if (file >= 0) prof__file_keep(s, file);
    s->file.mapping = at;
    s->file.mapping_size = size;
#if defined(MADV_WIPEONFORK) && !defined(__wasi__)
    /* A child of fork() gets zeros, not a copy: copying on write would cost the parent page faults. */
    if (file < 0) madvise(at, size, MADV_WIPEONFORK);
#endif
    return 0;
}

/* Gives up the sidecar file, because it could not be created. If it is mapped already, the mapping stays usable as
   memory. */
static void prof__file_forget(prof__session *s, int error)
{
    if (s->file.part_path[0]) unlink(s->file.part_path);
    s->file.part_path[0] = 0;
    s->file.live_path = NULL;
    s->file.sidecar_error = error;
}

/* Maps the image as prof__memory_map() does, but in memory if the sidecar file cannot be created. Returns 0 or
   errno. */
static int prof__memory_get(prof__session *s, size_t size)
{
    int error = prof__memory_map(s, size);
    if (!error || !PROF__SIDECAR(s->file.sidecar && s->file.live_path)) return error;
    prof__file_forget(s, error);
    return prof__memory_map(s, size);
}

/* Returns 0 if the disk has no room for a file of this size. */
static int prof__disk_has(const char *path, uint64_t size)
{
    char folder[1024];
    struct statvfs disk;
    if (!prof__folder_of(path, folder, sizeof folder)) return 1;
    if (statvfs(folder, &disk) || !disk.f_frsize || !disk.f_blocks) return 1; /* the free space is unknown */
    return (uint64_t)disk.f_bavail >= size / disk.f_frsize;
}

static prof_status prof__memory_take(prof__session *s, size_t size)
{
    prof__about about;
    if (s->file.live_path && !PROF__SIDECAR(s->file.sidecar) && !prof__stat(s->file.live_path, &about) &&
        !S_ISREG(about.st_mode))
        return prof__fail(PROF_IO, "%s: not a regular file", s->file.live_path);
    if (s->file.live_path && !PROF__SIDECAR(s->file.sidecar) && !prof__disk_has(s->file.live_path, size))
        return prof__fail(PROF_IO, "%s: the disk has no room for %llu bytes: choose a smaller buffer, or another disk",
                          s->file.live_path, (unsigned long long)size);
    int error = prof__memory_get(s, size);
    if (!error) return PROF_OK;
    if (!s->file.live_path || error == ENOMEM)
        return prof__fail(PROF_NO_MEMORY, "a buffer of %llu bytes: %s%s", (unsigned long long)size, strerror(error),
                          PROF__MORE_HEAP);
    return prof__fail(PROF_IO, "%s: %llu bytes: %s", s->file.live_path, (unsigned long long)size, strerror(error));
}
static void prof__memory_free(prof__session *s)
{
    if (s->file.mapping) munmap(s->file.mapping, s->file.mapping_size);
    if (s->file.part_path[0]) unlink(s->file.part_path);
}
/* Replaces the image by empty pages, which cost no memory. They stay mapped, because a thread may be in the middle of a
   write to the image. */
static void prof__memory_retire(prof__session *s)
{
    if (s->file.mapping)
        mmap(s->file.mapping, s->file.mapping_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0);
}
#endif
#endif

/* Divides size bytes at memory, which are all zero, into header, meta, index and chunks. */
static prof_status prof__layout(prof__session *s, void *memory, prof__extent size)
{
    prof__extent meta, index, chunks_at = prof__layout_head(size, &meta, &index);
    prof__extent start = prof__round(sizeof(prof__header), 64), chunk = PROF_CHUNK_SIZE;
    while (chunk > 1024 && (size - chunks_at) / chunk < 8) chunk /= 2;
    while (chunk > 256 && (size - chunks_at) / chunk < 4) chunk /= 2;
    if (chunks_at + 2 * chunk > size) return prof__fail(PROF_INVALID_ARGUMENT, "the buffer is too small");
    prof__header *h = (prof__header *)memory;
    s->header = h;
    s->meta = (uint64_t *)(void *)((char *)memory + start);
    s->index = (uint32_t *)(void *)((char *)memory + start + meta);
    s->chunks = (char *)memory + chunks_at;
    s->meta_words = s->meta_ready = meta / 8;
    s->index_mask = (uint32_t)index - 1;
    s->chunk_size = (uint32_t)chunk;
    s->chunk_words = s->text_words = (chunk - (prof__extent)sizeof(prof__chunk)) / 8 - PROF__MARKED;
    s->ring.depth = s->ring.deepest = 0;
#ifndef PROF__WHOLE_SLOTS
    while (chunk >> (s->ring.deepest + 1) >= PROF__FORM_LEAST && s->ring.deepest < 15) ++s->ring.deepest;
#endif
    s->chunk_count = (size - chunks_at) / chunk;
    s->image_size = (size_t)(chunks_at + s->chunk_count * chunk);
    h->version = PROF__IMAGE_VERSION;
    h->byte_order = PROF__BYTE_ORDER;
    h->header_size = sizeof *h;
    h->word_size = sizeof(void *);
    h->image_size = s->image_size;
    h->meta_offset = start;
    h->meta_size = meta;
    h->index_offset = start + meta;
    h->index_size = index * 4;
    h->chunk_offset = chunks_at;
    h->chunk_count = s->chunk_count;
    h->chunk_size = s->chunk_size;
    h->chunk_header_size = sizeof(prof__chunk);
    if (!s->file.mapping) s->ring.ready_chunks = PROF__ALL_READY;
#ifdef PROF__META_GROWS
    if (!s->ring.ready_chunks && prof__meta_starts_small(size, chunks_at)) {
        s->meta_ready = (PROF__META_FIRST - start) / 8;
        s->index += index - PROF__INDEX_FIRST / 4;
        s->index_mask = PROF__INDEX_FIRST / 4 - 1;
    }
#endif
    s->ring.pieces = (uint32_t)s->chunk_count;
    s->ring.free_chunks = (int32_t)s->ring.pieces - 1;
    s->ring.spare_chunk = 1;
    return PROF_OK;
}

/* Completes the header of an image that prof__layout() has divided. Afterwards the image is valid. */
static void prof__image_begin(prof__session *s)
{
    static prof_site no_room = {0, "(no room for more call sites)", "", "", "", 0, 0, 0, PROF__KIND_BEGIN, 0, 0, 0};
    s->site_without_room = prof__meta_site(s, &no_room);
    s->header->state = PROF__RUNNING;
    prof__copy(s->header->magic, PROF__MAGIC, sizeof s->header->magic);
}

#endif /* PROF__SESSION_MEMORY_H */
