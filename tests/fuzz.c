/* All that is fuzzed, in one program, because the headers take longer to compile than all of this: the name of the file
   that is run, "image", "tool" or another, says which it is. tests/fuzz.sh links it to all of them. */
#define PROF_IMPLEMENTATION
#define PROF_NO_AUTOSTART
#define LLVMFuzzerTestOneInput fuzz_tool
#define LLVMFuzzerInitialize fuzz_tool_begin
#include "fuzz_tool.c" /* first: it says how it wants the headers */
#undef LLVMFuzzerInitialize
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_image
#define LLVMFuzzerCustomMutator fuzz_image_mutate
#include "fuzz_image.c"
#undef LLVMFuzzerCustomMutator
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_text
#include "fuzz_text.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_server
#include "fuzz_server.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_neuron
#include "fuzz_neuron.c"
#undef LLVMFuzzerTestOneInput

static int (*fuzzed)(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const struct {
        const char *name;
        int (*run)(const uint8_t *data, size_t size);
    } all[] = {{"image", fuzz_image},
               {"tool", fuzz_tool},
               {"text", fuzz_text},
               {"server", fuzz_server},
               {"neuron", fuzz_neuron}};
    const char *slash = strrchr((*argv)[0], '/'), *name = slash ? slash + 1 : (*argv)[0];
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        if (!strcmp(name, all[i].name)) fuzzed = all[i].run;
    REQUIRE(fuzzed);
    return fuzzed == fuzz_tool ? fuzz_tool_begin(argc, argv) : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzzed(data, size);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    return fuzzed == fuzz_image ? fuzz_image_mutate(data, size, most, seed) : LLVMFuzzerMutate(data, size, most);
}
