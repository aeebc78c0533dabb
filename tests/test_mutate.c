/* test_mutate.c - reads images that were changed by what is known of their format, see mutate.h, and holds the reader
   to what it promises of every trace, see fuzz_image.c. If it dies, the image that it was at is
   build/tests/out/test_mutate/mutated.prof: give it to build/tests/test_fuzz.

   PROF_TEST_SEED=n makes another series of images. PROF_TEST_LONG=1 reads a hundred million, PROF_TEST_LONG=30 as many
   millions. PROF_TEST_IMAGES=folder changes those in a folder, of at most 4 KiB each, instead of tests/corpus. */
/* run: traces memory */
#define FUZZ_TEST
#include "private.h"
#include "fuzz_image.c"
#include "test.h"
#include "trace.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

typedef struct seed_image {
    size_t size;
    unsigned char *bytes;
} seed_image;

static seed_image *seeds;
static size_t seed_count;

static void seeds_read(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    while (dir && (entry = readdir(dir)) != NULL) {
        char path[1200];
        size_t size = 0;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        char *bytes = entry->d_name[0] == '.' ? NULL : trace_file_text(path, &size);
        if (!bytes || size > MUTATE_MOST) {
            free(bytes);
            continue;
        }
        seeds = (seed_image *)realloc(seeds, (seed_count + 1) * sizeof *seeds);
        seeds[seed_count].size = size;
        seeds[seed_count++].bytes = (unsigned char *)bytes;
    }
    if (dir) closedir(dir);
}

/* The same order on every file system. */
static int seed_order(const void *a, const void *b)
{
    const seed_image *x = (const seed_image *)a, *y = (const seed_image *)b;
    if (x->size != y->size) return x->size < y->size ? -1 : 1;
    return memcmp(x->bytes, y->bytes, x->size);
}

/*-- the image that is being read, for whoever wants to see it once more --*/

enum { PATIENCE_S = 300 }; /* for two dozen images */

static uint64_t image[MUTATE_MOST / 8];
static size_t image_size;
static char image_path[300];

static void image_keep(void)
{
    int file = open(image_path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0 || write(file, image, image_size) != (ssize_t)image_size) return;
    close(file);
}

static void image_keep_signal(int number)
{
    image_keep();
    signal(number, SIG_DFL);
    raise(number);
}

/* Sanitizers call it in front of their end; it's theirs, where there is one. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void image_keep_always(void)
{
    static const int signals[] = {SIGABRT, SIGALRM, SIGBUS, SIGFPE, SIGILL, SIGSEGV};
    snprintf(image_path, sizeof image_path, "%s", trace_path("mutated.prof"));
    for (size_t i = 0; i < sizeof signals / sizeof *signals; ++i)
        if (!TRACE_SANITIZER || signals[i] == SIGABRT || signals[i] == SIGALRM) signal(signals[i], image_keep_signal);
    if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(image_keep);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

TEST(changed_images_are_read_or_refused)
{
    const char *folder = getenv("PROF_TEST_IMAGES"), *text = getenv("PROF_TEST_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : 1;
    long count = trace_times(500, 5000, 100000000), done = 0;
    double begin = seconds(), noted = begin;
    seeds_read(folder ? folder : "tests/corpus");
    if (!folder) CHECK(seed_count >= 10);
    if (!seed_count) return;
    qsort(seeds, seed_count, sizeof *seeds, seed_order);
    printf("PROF_TEST_SEED=%llu, %lu images\n", (unsigned long long)seed, (unsigned long)seed_count);
    image_keep_always();
    mutate_seed(seed);
    while (done < count) { /* from one seed a row of images, each further from it */
        const seed_image *from = &seeds[mutate_below(seed_count)];
        size_t steps = 1 + mutate_below(24);
        image_size = from->size;
        memcpy(image, from->bytes, image_size);
        alarm(PATIENCE_S);
        for (; steps && done < count; --steps, ++done) {
            image_size = mutate(image, image_size, sizeof image);
            size_t exporter = (size_t)done % IMAGE_EXPORTERS; /* one for each image: more images */
            image_read((const uint8_t *)image, image_size, exporter, exporter + 1);
        }
        if (count > 1000000 && seconds() - noted > 60) {
            noted = seconds();
            printf("%ld images read, %.0f per second\n", done, (double)done / (noted - begin));
        }
    }
    printf("%ld images read in %.0f s, %.0f per second\n", done, seconds() - begin, (double)done / (seconds() - begin));
    printf("%.1f %% of them were refused\n", 100 - 100 * (double)images_opened / (double)done);
    if (!folder) CHECK(images_opened > (unsigned long)done / 2);
    alarm(0);
    for (size_t i = 0; i < seed_count; ++i) free(seeds[i].bytes);
    free(seeds);
}

TEST_MAIN
