// ntff/table: The table of the Neuron runtime's functions.
#ifndef PROF__NTFF_TABLE_H
#define PROF__NTFF_TABLE_H
#include "ntff/api.h"
#include "ntff/api_runtime.h"

#define PROF__NTFF_ABI_status PROF_NTFF_NRT_STATUS
#define PROF__NTFF_ABI_nothing void
#define PROF__NTFF_ABI_text const char *
#define PROF__NTFF_FIELD(result, name, parameters, arguments, role) PROF__NTFF_ABI_##result(*name) parameters;
typedef struct prof__ntff_api {
    PROF_NTFF_TABLE(PROF__NTFF_FIELD)
    void *handle;
    struct prof__ntff_api *front; /* a copy with some functions replaced: see prof__ntff_front() */
    unsigned can;
    char version[96], path[PROF_NTFF_PATH];
} prof__ntff_api;

static const struct {
    const char *name;
    size_t field;
} prof__ntff_symbols[] = {
#define PROF__NTFF_SYMBOL(result, name, parameters, arguments, role) {"nrt_" #name, offsetof(prof__ntff_api, name)},
    PROF_NTFF_TABLE(PROF__NTFF_SYMBOL)
};

static const prof__ntff_api *prof__ntff_api_now;
static PROF__PER_THREAD unsigned prof__ntff_status; /* the NRT_STATUS of this thread's last call of the runtime */

/* Returns a function of the table, as a pointer to data. Returns NULL if the runtime lacks it. */
static void *prof__ntff_symbol(const prof__ntff_api *api, size_t field)
{
    void *symbol;
    memcpy(&symbol, (const char *)api + field, sizeof symbol);
    return symbol;
}
#define PROF__NTFF_HAS(api, name) (prof__ntff_symbol(api, offsetof(prof__ntff_api, name)) != NULL)

/* Returns the table, which the first call fills. Returns NULL if there is no runtime. */
static const prof__ntff_api *prof__ntff_get(void)
{
    const prof__ntff_api *api = PROF__ACQUIRE(&prof__ntff_api_now);
    if (!api && !prof_ntff_load(NULL)) api = PROF__ACQUIRE(&prof__ntff_api_now);
    return api;
}

#endif /* PROF__NTFF_TABLE_H */
