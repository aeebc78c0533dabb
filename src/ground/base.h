// ground/base: What every module uses: prof's own allocations, hidden from the program's recorded ones; atomics and
// fences; copying, comparing and hashing bytes and texts without the C library.
#ifndef PROF__GROUND_BASE_H
#define PROF__GROUND_BASE_H
#include "ground/compiler.h"

/* A sanitizer replaces malloc() with its own allocator, which must see every call. So PROF_WRAP_MALLOC has no effect
   under one. */
#if defined(PROF_WRAP_MALLOC) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if !defined(__GLIBC__)
#error "prof.h: PROF_WRAP_MALLOC needs Linux with glibc"
#endif
#define PROF__WRAPS_MALLOC 1
#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#undef PROF__WRAPS_MALLOC
#endif
#endif
#endif
/* PROF__MALLOC_CALLERS: the most functions that are told of the stack of an allocation. PROF__MALLOC_NEXT: the wrappers
   call the allocator behind them, whichever that is, and record nothing unless the environment asks for it. */
#if defined(PROF__WRAPS_MALLOC) && PROF_WRAP_MALLOC + 0 == 2
#define PROF__MALLOC_NEXT 1
#define PROF__MALLOC_CALLERS 32
#elif defined(PROF__WRAPS_MALLOC) && defined(PROF_MALLOC_CALLERS)
#define PROF__MALLOC_CALLERS (PROF_MALLOC_CALLERS + 0 > 1 ? PROF_MALLOC_CALLERS + 0 : 1)
#endif
/* prof calls glibc's allocator by its internal names, which PROF_WRAP_MALLOC does not wrap: see >>malloc */
#ifdef PROF__WRAPS_MALLOC
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *at, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *at);
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
/* Nonzero while prof calls a function of the C library that may allocate. The wrappers of >>malloc record no allocation
   then. */
#if defined(PROF__SHARED) && defined(PROF__MALLOC_NEXT) /* any other storage of a library is allocated at first use */
static PROF__PER_THREAD uint32_t prof__quiet __attribute__((__tls_model__("initial-exec")));
#else
static PROF__PER_THREAD uint32_t prof__quiet;
#endif
#define PROF__QUIETLY(type, call)                                                                                    \
    __extension__({                                                                                                  \
        prof__quiet++;                                                                                               \
        type prof__result = (call);                                                                                  \
        prof__quiet--;                                                                                               \
        prof__result;                                                                                                \
    })
static inline void prof__quiet_sort(void *at, size_t count, size_t size, int (*order)(const void *, const void *))
{
    prof__quiet++;
    qsort(at, count, size, order);
    prof__quiet--;
}
#define qsort(at, count, size, order) prof__quiet_sort(at, count, size, order)
#ifdef PROF__NARROW
#define fopen(path, mode) PROF__QUIETLY(FILE *, prof__libc_fopen(path, mode))
#else
#define fopen(path, mode) PROF__QUIETLY(FILE *, fopen(path, mode))
#endif
#undef fdopen
#define fdopen(file, mode) PROF__QUIETLY(FILE *, PROF__LIBC(fdopen)(file, mode))
#define fclose(file) PROF__QUIETLY(int, fclose(file))
#define fread(to, size, count, file) PROF__QUIETLY(size_t, fread(to, size, count, file))
#define fwrite(from, size, count, file) PROF__QUIETLY(size_t, fwrite(from, size, count, file))
#define fgets(to, size, file) PROF__QUIETLY(char *, fgets(to, size, file))
#define fgetc(file) PROF__QUIETLY(int, fgetc(file))
#undef localtime_r
#define localtime_r(time, to) PROF__QUIETLY(struct tm *, PROF__LIBC(localtime_r)(time, to))
#define pthread_create(thread, how, run, with) PROF__QUIETLY(int, pthread_create(thread, how, run, with))
#define pthread_setspecific(key, value) PROF__QUIETLY(int, pthread_setspecific(key, value))
#endif

/* The sanitizers for addresses, threads and memory wrap the calls that may wait themselves. So PROF_WRAP_WAITS has no
   effect under one. */
#if defined(PROF_WRAP_WAITS) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if !defined(__linux__) || !defined(__ELF__) || !defined(__GNUC__) || defined(PROF_FREESTANDING)
#error "prof.h: PROF_WRAP_WAITS needs Linux, with glibc or musl, and gcc or clang"
#endif
#define PROF__WRAPS_WAITS 1
#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#undef PROF__WRAPS_WAITS
#endif
#endif
#endif
#ifdef PROF__WRAPS_WAITS
/* What >>waits knows of a thread. In a library it is in the loader's fast thread-local storage, because a signal
   handler may be the first to need it, and any other storage of a library is allocated at first use. */
typedef struct prof__waiting {
    uint32_t own;                /* nonzero while the thread runs prof's own code, whose waits are not recorded */
    uint32_t held_count;         /* locks in `held` */
    uint32_t thread_id;          /* 0: not known yet */
    uintptr_t inside;            /* the address of a wait that is going on on its stack; 0: none, or not known */
    struct prof__waiter *waiter; /* the thread's entry in the list of those who wait; NULL: none */
    struct { uintptr_t address; uint32_t depth; } held[8]; /* locks whose acquire is recorded: so must be the release */
} prof__waiting;
#if defined(PROF__SHARED) && defined(__GLIBC__)
static PROF__PER_THREAD prof__waiting prof__waiting_here __attribute__((__tls_model__("initial-exec")));
#else
static PROF__PER_THREAD prof__waiting prof__waiting_here;
#endif
#define PROF__OWN_BEGINS() (++prof__waiting_here.own)
#define PROF__OWN_ENDS() (--prof__waiting_here.own)
#else
#define PROF__OWN_BEGINS() ((void)0)
#define PROF__OWN_ENDS() ((void)0)
#endif

#ifdef __EMSCRIPTEN__
/* Emscripten's malloc() ends the program when the heap is full and cannot grow, unless the program is linked otherwise.
   So prof first computes how many bytes the heap has left: those above the heap's current end, and those that malloc()
   keeps free at its end. */
static int prof__heap_has(size_t size)
{
    size_t used = (size_t)(uintptr_t)sbrk(0), all = emscripten_get_heap_max();
    size_t room = (used < all ? all - used : 0) + (size_t)mallinfo().keepcost;
    return size < room && room - size > 65536; /* leaves 64 KiB for malloc() itself */
}
static void *prof__heap_resize(void *at, size_t size)
{
    return prof__heap_has(size) ? realloc(at, size) : NULL;
}
static void *prof__heap_clear(size_t count, size_t size)
{
    return !size || (count < (size_t)-1 / size && prof__heap_has(count * size)) ? calloc(count, size) : NULL;
}
#define malloc(size) prof__heap_resize(NULL, size)
#define calloc(count, size) prof__heap_clear(count, size)
#define realloc(at, size) prof__heap_resize(at, size)
#endif

/* The mode of files that prof creates: others may read them, but only the owner may write. The recorder trusts the
   recording that it has mapped into memory. So the mode is explicit, because a daemon may have called umask(0). */
#define PROF__FILE_MODE 0644

#define PROF__LOAD(p) __atomic_load_n(p, __ATOMIC_RELAXED)
#define PROF__ACQUIRE(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define PROF__STORE(p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)
#define PROF__RELEASE(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define PROF__ADD(p, v) __atomic_fetch_add(p, v, __ATOMIC_RELAXED)

/* 1 if the processor stores 64 bits with one instruction. A 32-bit processor writes a word as two halves, the low half
   first. A reader of a running recording may come in between, and can rely only on the low half of a counter in the
   image. */
#define PROF__WIDE (UINTPTR_MAX > 0xffffffffu)

/* A reader may copy a chunk while its owner writes into it. The chunk's sequence number tells the reader afterwards
   whether the copy is valid. The thread sanitizer would report this as a race, so under it each access to a chunk's
   words is atomic. */
#if defined(__SANITIZE_THREAD__)
#define PROF__THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PROF__THREAD_SANITIZER 1
#endif
#endif

/* The thread sanitizer does not support fences, but treats all accesses that they order as atomic. */
#ifdef PROF__THREAD_SANITIZER
#define PROF__FENCE() ((void)0)
#else
#define PROF__FENCE() __atomic_thread_fence(__ATOMIC_RELEASE)
#endif

static void prof__copy(void *to, const void *from, size_t size)
{
#ifdef PROF_FREESTANDING
    for (size_t i = 0; i < size; ++i) {
        ((char *)to)[i] = ((const char *)from)[i];
        PROF__BARRIER(); /* else the compiler turns the loop into a call of memcpy() */
    }
#else
    memcpy(to, from, size);
#endif
}

static void prof__clear(void *at, size_t size) /* at, size: multiples of the word size */
{
#if defined(PROF_FREESTANDING) || defined(PROF__THREAD_SANITIZER)
    for (size_t i = 0; i < size / sizeof(uintptr_t); ++i) {
        PROF__STORE((uintptr_t *)at + i, 0);
        PROF__BARRIER();
    }
#else
    memset(at, 0, size);
#endif
}

static size_t prof__length(const char *text)
{
    size_t n = 0;
    while (text[n]) {
        ++n;
        PROF__BARRIER();
    }
    return n;
}

static int prof__equal(const char *a, const char *b)
{
    while (*a && *a == *b) ++a, ++b;
    return *a == *b;
}

#if defined(__linux__) && !defined(PROF_FREESTANDING) && !defined(PROF_MINIMAL)
#define PROF__META_GROWS 1 /* meta and its index get their disk blocks and pages as they grow */
#endif

/* Returns the number of the highest bit that is set, or 0 if none is. */
static unsigned prof__log2(uint64_t value)
{
#ifdef __GNUC__
    return value ? 63 - (unsigned)__builtin_clzll(value) : 0;
#else
    unsigned bits = 0, step;
    for (step = 32; step; step /= 2)
        if (value >> step) {
            value >>= step;
            bits += step;
        }
    return bits;
#endif
}

/* Continues a hash of 32 bits (FNV-1a). */
static uint32_t prof__hash_add(uint32_t hash, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; ++i) hash = (hash ^ ((const unsigned char *)bytes)[i]) * 16777619u;
    return hash;
}

/* Bytes are hashed in units of this size. If the recorder rebuilds the index of meta from the stored records, it hashes
   a text with the zeros that pad it to whole words. So the first hash of the text includes these zeros, too. */
#ifdef PROF__META_GROWS
#define PROF__HASH_UNIT 8
#else
#define PROF__HASH_UNIT 1
#endif
static uint32_t prof__hash(const void *bytes, size_t size)
{
    uint32_t hash = prof__hash_add(2166136261u, bytes, size);
    for (; size % PROF__HASH_UNIT; ++size) hash *= 16777619u; /* a zero byte */
    return hash ^ hash >> 15;
}

/* Continues a hash of 64 bits (FNV-1a) with a text. */
#define PROF__TEXTS_START 0xCBF29CE484222325u
static uint64_t prof__texts_hash(uint64_t hash, const char *text)
{
    for (; *text; ++text) hash = (hash ^ (unsigned char)*text) * 0x100000001B3u;
    return hash;
}

static void prof__text_copy(char *to, size_t size, const char *from)
{
    size_t i = 0;
    for (; from[i] && i + 1 < size; ++i) to[i] = from[i];
    to[i] = 0;
}

#ifndef PROF_FREESTANDING
/* Appends `from` to the text in `to`, which has `size` bytes. Returns 0, and changes nothing, if it does not fit. */
static int prof__text_add(char *to, size_t size, const char *from)
{
    size_t at = prof__length(to), length = prof__length(from);
    if (at + length + 1 > size) return 0;
    prof__copy(to + at, from, length + 1);
    return 1;
}
#endif

#endif /* PROF__GROUND_BASE_H */
