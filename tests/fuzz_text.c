/* fuzz_text.c - whatever else parses: the values of a configuration, the environment, category rules, limits of
   save_over, patterns of paths; and the symbol tables of module files that a trace names. A part of fuzz.c. */
#define PROF_IMPLEMENTATION
#include "../prof.h"
#include "fuzz.h"

/* A failure says why, in one line. */
static void told(prof_status status)
{
    REQUIRE(status == PROF_OK || (*prof_error() && strlen(prof_error()) < PROF__ERROR_SIZE));
}

static void keys(const char *key, const char *value)
{
    prof_config config;
    memset(&config, 0, sizeof config);
    told(prof_config_set(&config, key, value));
    prof_option option;
    for (size_t i = 0; prof_config_describe(i, &option); ++i) {
        prof_status status = prof_config_set(&config, option.key, value);
        told(status);
        if (!status) REQUIRE(prof_config_set(&config, option.key, value) == PROF_OK);
    }
    config.memory = NULL;
    told(prof__config_check(&config));
}

static void rules(const char *list)
{
    static prof__follow follow;
    uint32_t write_lock = prof__state_lock();
    told(prof__rules_set(list));
    REQUIRE(prof__state.rule_count >= 0 && prof__state.rule_count <= PROF__MAX_RULES);
    prof__category_on(list);
    prof__state_unlock(write_lock);
    follow.rule_count = 0;
    told(prof__follow_rules(&follow, list));
}

static void paths(const char *path)
{
    char small[16], large[1024];
    told(prof__expand_counted(path, 7, small, sizeof small));
    REQUIRE(memchr(small, 0, sizeof small));
    if (prof__expand_counted(path, 0, large, sizeof large) == PROF_OK) REQUIRE(strlen(large) < sizeof large);
}

/* name: of a call site that is an address; the rest is the module's file. */
static void modules(const uint8_t *data, size_t size, char *name)
{
    static int file = -1;
    static char path[64], build[] = PROF__BUILD_ID "00";
    prof__symbols symbols = {NULL, 0};
    prof__module_symbols module;
    if (file < 0) {
        file = memfd_create("module", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    if (file < 0 || ftruncate(file, 0) || pwrite(file, data, size, 0) != (ssize_t)size) return;
    memset(&module, 0, sizeof module);
    module.path = path;
    module.build = (char *)"";
    for (uint64_t type = PROF__ELF_SYMTAB; type <= PROF__ELF_DYNSYM; type += PROF__ELF_DYNSYM - PROF__ELF_SYMTAB) {
        if (!prof__module_read(&module, path, type)) continue;
        size_t bytes = 0;
        for (size_t i = 0; i < module.count; ++i)
            bytes += strlen(module.list[i].name) + (module.list[i].file ? strlen(module.list[i].file) : 0);
        REQUIRE(bytes > 0);
        prof__module_clear(&module);
    }
    prof__symbol_find(&symbols, name, path, build);
    prof__symbols_free(&symbols);
}

/* Each line is a variable, PROF_ before it. */
static void environment(char *lines)
{
    prof_config config;
    char *line, *next, names[64][40];
    size_t count = 0;
    memset(&config, 0, sizeof config);
    for (line = lines; line && *line && count < 64; line = next) {
        char *value;
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        value = strchr(line, '=');
        if (!value || value - line > 30) continue;
        snprintf(names[count], sizeof names[count], "PROF_%.*s", (int)(value - line), line);
        if (!setenv(names[count], value + 1, 1)) ++count;
    }
    told(prof_config_from_env(&config));
    config.memory = NULL;
    told(prof__config_check(&config));
    while (count) unsetenv(names[--count]);
}

static char *text_of(const uint8_t *data, size_t size)
{
    char *text = (char *)malloc(size + 1);
    REQUIRE(text != NULL);
    memcpy(text, data, size);
    text[size] = 0;
    return text;
}

static int fuzz_text(const uint8_t *data, size_t size)
{
    char *text = text_of(data, size), *second = strchr(text, '\n');
    if (second) *second++ = 0;
    rules(text);
    paths(text);
    keys(text, second ? second : text);
    free(text);
    return 0;
}

static int fuzz_environment(const uint8_t *data, size_t size)
{
    char *text = text_of(data, size);
    environment(text);
    free(text);
    return 0;
}

/* The file of a module, after the name of a call site in it. */
static int fuzz_module(const uint8_t *data, size_t size)
{
    char *text = text_of(data, size);
    size_t name = strlen(text) < size ? strlen(text) + 1 : 0;
    modules(data + name, size - name, text);
    free(text);
    return 0;
}
