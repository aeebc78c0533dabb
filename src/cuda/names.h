// cuda/names: Names of kernels for people: those of C++ without their mangling.
#ifndef PROF__CUDA_NAMES_H
#define PROF__CUDA_NAMES_H
#include "cuda/state.h"

#ifdef PROF__CUDA_LINUX
#include <dlfcn.h>

#define PROF__CUDA_NAMES 256u /* kernels whose names are kept */

static struct {
    char *mangled, *plain;
} prof__cuda_names[PROF__CUDA_NAMES];

/* Returns the name of a kernel, demangled if the process has a C++ library to do that. Valid until the next call. Of
   the collector's thread only, which may allocate. */
static const char *prof__cuda_name(const char *mangled)
{
    static char *(*demangle)(const char *, char *, size_t *, int *);
    static int looked;
    int status = -1;
    uint32_t hash = 0;
    if (!mangled || !*mangled) return "kernel";
    if (strncmp(mangled, "_Z", 2)) return mangled;
    for (const char *c = mangled; *c; ++c) hash = (hash ^ (unsigned char)*c) * 16777619u;
    hash = (hash ^ hash >> 16) % PROF__CUDA_NAMES;
    if (prof__cuda_names[hash].mangled && !strcmp(prof__cuda_names[hash].mangled, mangled))
        return prof__cuda_names[hash].plain;
    if (!looked) {
        void *program = dlopen(NULL, RTLD_NOW), *symbol = program ? dlsym(program, "__cxa_demangle") : NULL;
        memcpy(&demangle, &symbol, sizeof symbol);
        looked = 1;
    }
    size_t size = strlen(mangled) + 1;
    char *plain = demangle ? demangle(mangled, NULL, NULL, &status) : NULL, *copy = (char *)malloc(size);
    if (status || !plain || !copy) {
        free(plain);
        free(copy);
        return mangled;
    }
    memcpy(copy, mangled, size);
    free(prof__cuda_names[hash].mangled);
    free(prof__cuda_names[hash].plain);
    prof__cuda_names[hash].mangled = copy;
    prof__cuda_names[hash].plain = plain;
    return plain;
}
#endif

#endif /* PROF__CUDA_NAMES_H */
