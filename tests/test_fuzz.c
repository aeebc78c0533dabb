/* test_fuzz.c - runs the targets of fuzz.c with what fuzzers found before, tests/fuzz/TARGET, and with the committed
   images, tests/corpus; each file whole, and cut short at some places. Then it reads images that were changed by what
   is known of their format, see mutate.h, and holds the reader to what it promises of every trace, see fuzz_image.c.
   Sanitizers see most of what goes wrong: .ci/run runs this program with the address, the undefined behaviour and the
   memory sanitizer.

   PROF_TEST_FUZZ=image:FILE runs one file.
   PROF_TEST_SEED=n makes another series of images. PROF_TEST_LONG=1 reads a hundred million, PROF_TEST_LONG=30 as many
   millions. PROF_TEST_IMAGES=folder changes those in a folder, of at most 4 KiB each, instead of tests/corpus. If the
   program dies, the image that it was at is build/tests/out/test_fuzz/mutated.prof. */
/* run: traces memory */
#include "private.h"
#define FUZZ_TEST
#include "fuzz.c"
#include "test.h"
#include "trace.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>

/* Runs a file, and ever shorter beginnings of it. Each is a block of its own, so that a sanitizer sees where it ends. */
static void run_file(const fuzz_target *target, const char *path, size_t cuts)
{
    size_t size = 0, whole;
    char *bytes = trace_file_text(path, &size);
    CHECK(bytes != NULL);
    if (!bytes) return;
    for (whole = size; cuts-- && size; size -= 1 + whole / 7 < size ? 1 + whole / 7 : size) {
        uint8_t *copy = (uint8_t *)malloc(size);
        REQUIRE(copy != NULL);
        memcpy(copy, bytes, size);
        target->run(copy, size);
        free(copy);
    }
    free(bytes);
}

static size_t run_folder(const fuzz_target *target, const char *folder, size_t cuts)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    size_t count = 0;
    while (dir && (entry = readdir(dir)) != NULL) {
        char path[1200];
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        printf("%s\n", path); /* the last one of these, if it dies */
        fflush(stdout);
        run_file(target, path, cuts);
        ++count;
    }
    if (dir) closedir(dir);
    return count;
}

/* prof recover says on standard output what it has found. */
static void quiet(int on)
{
    static int kept = -1;
    fflush(stdout);
    if (on) {
        int null = open("/dev/null", O_WRONLY);
        kept = dup(1);
        if (null >= 0) dup2(null, 1);
        if (null >= 0) close(null);
    } else {
        dup2(kept, 1);
        close(kept);
    }
}

TEST(what_fuzzers_found_is_read_or_refused)
{
    const char *one = getenv("PROF_TEST_FUZZ"), *colon = one ? strchr(one, ':') : NULL;
    for (size_t i = 0; i < sizeof fuzz_targets / sizeof *fuzz_targets; ++i) {
        const fuzz_target *target = &fuzz_targets[i];
        char folder[300];
        if (one && (!colon || strncmp(one, target->name, (size_t)(colon - one)))) continue;
        if (one) {
            run_file(target, colon + 1, 1);
            continue;
        }
        snprintf(folder, sizeof folder, "tests/fuzz/%s", target->name);
        if (target->run == fuzz_tool) quiet(1);
        size_t count = run_folder(target, folder, 4);
        if (target->run == fuzz_image || target->run == fuzz_tool) count += run_folder(target, "tests/corpus", 1);
        if (target->run == fuzz_tool) quiet(0);
        CHECK(count > 0);
    }
}

/*-- changed images --*/

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

static uint64_t changed[MUTATE_MOST / 8];
static size_t image_size;
static char image_path[300];

static void image_keep(void)
{
    int file = open(image_path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0 || write(file, changed, image_size) != (ssize_t)image_size) return;
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

TEST(changed_images_are_read_or_refused)
{
    const char *folder = getenv("PROF_TEST_IMAGES"), *text = getenv("PROF_TEST_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : 1;
    long count = trace_times(500, 5000, 100000000), done = 0;
    double begin = test_seconds(), noted = begin;
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
        memcpy(changed, from->bytes, image_size);
        alarm(PATIENCE_S);
        for (; steps && done < count; --steps, ++done) {
            image_size = mutate(changed, image_size, sizeof changed);
            size_t exporter = (size_t)done % IMAGE_EXPORTERS; /* one for each image: more images */
            image_read((const uint8_t *)changed, image_size, exporter, exporter + 1);
        }
        if (count > 1000000 && test_seconds() - noted > 60) {
            noted = test_seconds();
            printf("%ld images read, %.0f per second\n", done, (double)done / (noted - begin));
        }
    }
    printf("%ld images read in %.0f s, %.0f per second\n", done, test_seconds() - begin, (double)done / (test_seconds() - begin));
    printf("%.1f %% of them were refused\n", 100 - 100 * (double)images_opened / (double)done);
    if (!folder) CHECK(images_opened > (unsigned long)done / 2);
    alarm(0);
    for (size_t i = 0; i < seed_count; ++i) free(seeds[i].bytes);
    free(seeds);
}

TEST_MAIN
