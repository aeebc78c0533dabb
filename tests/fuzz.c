/* fuzz.c - all that is fuzzed, in one program, because the headers take longer to compile than all of this.

   With libFuzzer (clang -fsanitize=fuzzer), the name of the file that is run, "image", "http2" or another, says which
   target it is: tests/fuzz.sh links it to all of them. test_fuzz.c runs the targets without libFuzzer. */
#ifndef FUZZ_TEST
#define PROF_IMPLEMENTATION
#define PROF_STATIC
#endif
#define PROF_HTML_LARGE 1 /* for the tool */
#include "fuzz.h"
#include "fuzz_image.c"
#include "fuzz_neuron.c"
#include "fuzz_server.c"
#include "fuzz_text.c"
#include "fuzz_tool.c" /* last: the tool has short names for what is its own */
#include "fuzz_elf.c"

typedef struct fuzz_target {
    const char *name;
    int (*run)(const uint8_t *data, size_t size);
} fuzz_target;

static const fuzz_target fuzz_targets[] = {
    {"elf", fuzz_elf},     {"environment", fuzz_environment}, {"hpack", fuzz_hpack},   {"http1", fuzz_http1},
    {"http2", fuzz_http2}, {"image", fuzz_image},             {"kineto", fuzz_kineto}, {"module", fuzz_module},
    {"neuron", fuzz_neuron}, {"proto", fuzz_proto},           {"text", fuzz_text},     {"tool", fuzz_tool}};

#ifndef FUZZ_TEST
static const fuzz_target *fuzzed;

static const fuzz_target *fuzz_find(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof fuzz_targets / sizeof *fuzz_targets; ++i)
        if (!strcmp(name, fuzz_targets[i].name)) return &fuzz_targets[i];
    return NULL;
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    fuzzed = fuzz_find((*argv)[0]);
    REQUIRE(argc && fuzzed);
    REQUIRE(fuzzed->run != fuzz_tool || freopen("/dev/null", "w", stdout)); /* what the tool reports */
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzzed->run(data, size);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    return fuzzed->run == fuzz_image ? fuzz_image_mutate(data, size, most, seed) : LLVMFuzzerMutate(data, size, most);
}
#endif
