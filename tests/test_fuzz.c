/* test_fuzz.c - runs the targets of fuzz.c with what fuzzers found before, tests/fuzz/TARGET, and with the committed
   images, tests/corpus; each file whole, and cut short at some places. Sanitizers see most of what goes wrong: .ci/run
   runs this program with the address, the undefined behaviour and the memory sanitizer.

   PROF_TEST_FUZZ=image:FILE runs one file. */
/* run: memory */
#define FUZZ_TEST
#include "private.h"
#include "fuzz.c"
#include "test.h"
#include "trace.h"
#include <dirent.h>
#include <fcntl.h>

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

/* The values of devices' arguments, and their texts, are checked like those of others. */

TEST_MAIN
