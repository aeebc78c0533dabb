/* config.c - prof config: explains the keys of prof_config, from the table that prof_config_set() reads. */
#include "tool.h"
#include <stdlib.h>
#include <string.h>

static const tool_option options[] = {
    {"--all", "-a", NULL, "also lists the keys of CNTK, MXNet, TensorFlow, JAX and Neuron, and what each does here"},
    {NULL, NULL, NULL, NULL}};

static void print_key(const prof_option *option)
{
    printf("%-15s %-8s %-8s %s\n", option->key, option->type, *option->standard ? option->standard : "-",
           option->environment);
    printf("    %s\n    %s\n", option->meaning, option->values);
}

/* Prints which key a variable of another system sets, or why prof has none for it. */
static void print_other(const prof_option *option)
{
    printf("%-44s ", option->key);
    if (*option->native_key) printf("sets %s: ", option->native_key);
    printf("%s", option->meaning);
    if (*option->values && !tool_same(option->values, "none")) printf("; %s", option->values);
    printf("\n");
}

static void print_all(int others)
{
    prof_option option;
    const char *system = "";
    size_t i;
    printf("%-15s %-8s %-8s %s\n\n", "key", "type", "default", "environment");
    for (i = 0; prof_config_describe(i, &option); i++) {
        if (*option.system && !others) return;
        if (!tool_same(system, option.system)) printf("\nkeys of %s\n\n", option.system);
        system = option.system;
        if (*system)
            print_other(&option);
        else
            print_key(&option);
    }
}

/* Explains a key, or checks a setting "KEY=VALUE". Returns the exit status. */
static int look_up(const char *text)
{
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : strlen(text), i;
    prof_option option;
    prof_config config;
    char *key;
    int result = TOOL_OK;
    memset(&config, 0, sizeof config);
    for (i = 0; !equals && prof_config_describe(i, &option); i++)
        if (tool_same(option.key, text) || tool_same(option.environment, text)) {
            if (*option.system)
                print_other(&option);
            else
                print_key(&option);
            return TOOL_OK;
        }
    key = (char *)malloc(length + 1);
    if (!key) return tool_fail("out of memory");
    memcpy(key, text, length);
    key[length] = 0;
    result = tool_status(prof_config_set(&config, key, equals ? equals + 1 : ""));
    if (result == TOOL_OK) printf("%s: accepted\n", text);
    free(key);
    return result;
}

static int run(const tool_args *args)
{
    int i, result = TOOL_OK;
    if (!args->file_count) print_all(tool_value(args, "--all") != NULL);
    for (i = 0; i < args->file_count; i++)
        if (look_up(args->files[i])) result = TOOL_ERROR;
    return result;
}

const tool_command tool_config = {
    "config", "[KEY | KEY=VALUE]...", "Explains the keys of a recording's configuration, or checks values for them",
    0, 1000000, run, options,
    "KEY is a key of prof_config_set(), or a variable of the environment: PROF_ and the key in capitals. KEY=VALUE\n"
    "checks a value. Exit status 2: prof_config_set() would refuse the key or the value, for the reason that is\n"
    "printed.\n\n"
    "example: prof config buffer duration=10s\n"};
