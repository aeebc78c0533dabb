/* Allocates what tests/library.sh knows: in named functions, on threads, in a child. Each stores what it gets, so that no
   call is a jump that ends the function. ALLOCATOR: this file is instead an allocator, which takes nothing that is not
   its own. PROF_IMPLEMENTATION: records by itself. */
#ifdef ALLOCATOR
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Alignas(64) char room[8 << 20];
static size_t used, count;

void *memalign(size_t alignment, size_t size)
{
    if (alignment < 16) alignment = 16;
    if (size > sizeof room) return NULL;
    size_t at = __atomic_fetch_add(&used, size + 32 + alignment, __ATOMIC_RELAXED);
    if (at + size + 32 + alignment > sizeof room) return NULL;
    char *block = (char *)(((uintptr_t)room + at + 16 + alignment - 1) / alignment * alignment);
    memcpy(block - 8, &size, sizeof size);
    __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
    return block;
}
void *malloc(size_t size) { return memalign(16, size); }
void *calloc(size_t number, size_t size) { return memalign(16, number * size); }
void free(void *block)
{
    if (block && ((char *)block < room || (char *)block >= room + sizeof room)) abort();
}
void *realloc(void *block, size_t size)
{
    void *more = malloc(size);
    size_t before;
    free(block);
    if (!block || !more) return more;
    memcpy(&before, (char *)block - 8, sizeof before);
    return memcpy(more, block, before < size ? before : size);
}
static __attribute__((__destructor__)) void says(void) { fprintf(stderr, "%zu blocks\n", count); }
#else
#ifdef PROF_IMPLEMENTATION
#include "prof_html.h"
#endif
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNCTION __attribute__((__noinline__)) static void
static void *volatile keep;

FUNCTION planted_leak(size_t size) { keep = malloc(size); keep = (char *)keep + 1; }
FUNCTION planted_two(void) { planted_leak(100); planted_leak(100); keep = NULL; }
FUNCTION planted_one(void) { planted_leak(1000); keep = NULL; }
FUNCTION planted_freed(void) { free(keep = realloc(keep = malloc(500), 700)); keep = NULL; }
FUNCTION planted_refused(void) { keep = malloc(30); if (!realloc(keep, (size_t)-1 / 4)) free(keep); keep = NULL; }
FUNCTION planted_aligned(void)
{
    void *block;
    if (posix_memalign(&block, 64, 640)) abort();
    keep = block;
}
static void *planted_thread(void *nothing) { planted_two(); return keep = nothing; }

int main(void)
{
    pthread_t threads[4];
    int status;
    planted_one();
    planted_freed();
    planted_refused();
    planted_aligned();
    for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, planted_thread, NULL);
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    pid_t child = fork();
    if (!child) {
        planted_one();
        planted_two();
        exit(7);
    }
    return waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7;
}
#endif
