/* pages.c - huge pages for a file in tmpfs. To make, fill and free pages of 4 KiB costs the system three to four times
   as much as pages of 2 MiB do. MADV_COLLAPSE makes these, whatever the options of the mount, out of pages of 4 KiB and
   holes. */
#include "tool.h"

#ifdef __linux__
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define HUGE_PAGE ((size_t)2 << 20)
#define WINDOW (4 * HUGE_PAGE) /* the largest that is mapped: each time the system waits for all processors */
#define WORTH_NS ((int64_t)1000000) /* processor time of a huge page: the usual way takes as much to write it */
#define LOSS_NS ((int64_t)10000000) /* memory may be fragmented, or not yet this machine's: then give up */

enum { TMPFS = 0x01021994, POPULATE_WRITE = 23, COLLAPSE = 25 }; /* of Linux 6.1; older headers lack them */

struct tool_pages {
    int file;
    uint64_t at;         /* where the window begins in the file */
    char *window;        /* NULL: none is mapped */
    size_t used, space;  /* bytes of the window */
    size_t size;         /* of the next one: at first a huge page, to see what it takes */
    char *reserved;      /* WINDOW + HUGE_PAGE bytes of addresses */
    int64_t loss;        /* processor time that pages took beyond what they are worth */
};

static int is_in_tmpfs(int file)
{
    struct statfs about;
    return !fstatfs(file, &about) && about.f_type == TMPFS;
}

/* Returns 1 if the process may have files of this size: else the system would send a signal. */
static int is_allowed(uint64_t size)
{
    struct rlimit limit;
    return !getrlimit(RLIMIT_FSIZE, &limit) && (uint64_t)limit.rlim_cur >= size;
}

tool_pages *tool_pages_open(const char *path, uint64_t at)
{
    tool_pages *pages = (tool_pages *)calloc(1, sizeof *pages);
    if (!pages) return NULL;
    pages->at = at;
    pages->size = HUGE_PAGE;
    pages->file = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (pages->file >= 0 && is_in_tmpfs(pages->file)) {
        void *space = mmap(NULL, WINDOW + HUGE_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (space != MAP_FAILED) {
            pages->reserved = (char *)space;
            return pages;
        }
    }
    if (pages->file >= 0) close(pages->file);
    free(pages);
    return NULL;
}

static int64_t processor_time(void)
{
    struct timespec time = {0, 0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Makes the pages of a window. Once they are there, to write to them cannot fail. */
static int make(char *window, size_t size)
{
    size_t i;
    for (i = 0; i < size; i += HUGE_PAGE) /* COLLAPSE passes over what has no page at all */
        if (madvise(window + i, 4096, POPULATE_WRITE)) return 0;
    return !madvise(window, size, COLLAPSE);
}

/* Takes the next window to be as large as the time of this one allows. */
static void judge(tool_pages *pages, int64_t time)
{
    int64_t loss = time - (int64_t)(pages->space / HUGE_PAGE) * WORTH_NS;
    pages->size = loss > 0 ? HUGE_PAGE : pages->size < WINDOW ? 2 * pages->size : WINDOW;
    if (loss > 0) pages->loss += loss;
}

/* Maps the next window. Returns 0, with the file as long as before, if it can have no huge pages. */
static int next(tool_pages *pages)
{
    uint64_t at = pages->at + pages->used;
    size_t size = pages->size;
    char *window = pages->reserved + (HUGE_PAGE - (uintptr_t)pages->reserved % HUGE_PAGE);
    int64_t start = processor_time();
    if (pages->loss > LOSS_NS || !is_allowed(at + size) || ftruncate(pages->file, (off_t)(at + size))) return 0;
    if (mmap(window, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, pages->file, (off_t)at) == MAP_FAILED)
        return 0;
    pages->window = window;
    pages->at = at;
    pages->used = 0;
    pages->space = make(window, size) ? size : 0;
    judge(pages, processor_time() - start);
    return pages->space != 0;
}

size_t tool_pages_put(tool_pages *pages, const char *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        size_t left = pages->space - pages->used, take = size - done < left ? size - done : left;
        if (!left && !next(pages)) break;
        if (!left) continue;
        memcpy(pages->window + pages->used, bytes + done, take);
        pages->used += take;
        done += take;
    }
    return done;
}

int tool_pages_close(tool_pages *pages, uint64_t *end)
{
    int failed;
    *end = pages->at + pages->used;
    munmap(pages->reserved, WINDOW + HUGE_PAGE); /* first, because the file becomes shorter than the window */
    failed = ftruncate(pages->file, (off_t)*end);
    failed |= close(pages->file);
    free(pages);
    return !failed;
}
#else
tool_pages *tool_pages_open(const char *path, uint64_t at) { return (void)path, (void)at, (tool_pages *)0; }
size_t tool_pages_put(tool_pages *pages, const char *bytes, size_t size)
{
    return (void)pages, (void)bytes, (void)size, (size_t)0;
}
int tool_pages_close(tool_pages *pages, uint64_t *end) { return (void)pages, (void)end, 1; }
#endif
