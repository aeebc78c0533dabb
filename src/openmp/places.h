// openmp/places: Call sites for the constructs of a program, each named after the function that has it.
#ifndef PROF__OPENMP_PLACES_H
#define PROF__OPENMP_PLACES_H
#include "api/markup.h"
#include "api/values.h"
#include "ground/instances.h"
#include "ground/lock.h"
#include "ground/symbols.h"
#include "openmp/interface.h"

#include <pthread.h>

enum { /* constructs; those of work have the numbers of ompt_work_t, and those of waiting come behind them */
    PROF__OPENMP_PARALLEL,
    PROF__OPENMP_LOOP,
    PROF__OPENMP_SECTIONS,
    PROF__OPENMP_SINGLE,
    PROF__OPENMP_SINGLE_OTHER,
    PROF__OPENMP_WORKSHARE,
    PROF__OPENMP_DISTRIBUTE,
    PROF__OPENMP_TASKLOOP,
    PROF__OPENMP_SCOPE,
    PROF__OPENMP_THREAD,
    PROF__OPENMP_TASK,
    PROF__OPENMP_BARRIER,
    PROF__OPENMP_IMPLICIT,
    PROF__OPENMP_TASKWAIT,
    PROF__OPENMP_TASKGROUP
};
static const char *const prof__openmp_names[] = {
    "omp parallel",  "omp loop",       "omp sections", "omp single", "",           "omp workshare",
    "omp distribute", "omp taskloop",  "omp scope",    "omp thread", "omp task",   "omp barrier",
    "omp implicit barrier", "omp taskwait", "omp taskgroup"};

/* A construct at an address of the program, for ever. */
typedef struct PROF__SITE_TYPE prof__openmp_place {
    struct prof__openmp_place *next;
    uintptr_t address;
    int construct;
    prof_site site;
    const char *function; /* in name */
    char name[96];
} prof__openmp_place;

#define PROF__OPENMP_SLOTS 512
static prof__openmp_place *prof__openmp_places[PROF__OPENMP_SLOTS]; /* a place is whole before it is in a list */
static pthread_mutex_t prof__openmp_making = PTHREAD_MUTEX_INITIALIZER;

static void prof__openmp_lock(void) { pthread_mutex_lock(&prof__openmp_making); }
static void prof__openmp_unlock(void) { pthread_mutex_unlock(&prof__openmp_making); }

#ifdef PROF__INSTANCES
static prof__symbols prof__openmp_symbols; /* with the lock */

typedef struct prof__openmp_search {
    uintptr_t address, base;
    char path[512];
} prof__openmp_search;

static int prof__openmp_visit(const prof__loaded *loaded, size_t size, void *user)
{
    prof__openmp_search *search = (prof__openmp_search *)user;
    const prof__segment *segments = (const prof__segment *)loaded->segments;
    (void)size;
    for (uint16_t i = 0; i < loaded->segment_count; ++i) {
        if (segments[i].p_type != PT_LOAD ||
            search->address - loaded->base - (uintptr_t)segments[i].p_vaddr >= (uintptr_t)segments[i].p_memsz)
            continue;
        search->base = loaded->base;
        prof__loaded_path(search->path, sizeof search->path, loaded->name ? loaded->name : "");
        return 1;
    }
    return 0;
}

#ifdef PROF__SHARED
#include <dlfcn.h>
extern void *prof__openmp_open_module(const char *path, int how) __asm__("dlopen") __attribute__((__weak__));

/* Keeps this library loaded: the runtime calls it until the program ends. */
static void prof__openmp_stay(void)
{
    prof__openmp_search search;
    memset(&search, 0, sizeof search);
    search.address = (uintptr_t)&prof__openmp_making;
    if (prof__openmp_open_module && prof__loaded_each(prof__openmp_visit, &search))
        prof__openmp_open_module(search.path, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}
#else
static void prof__openmp_stay(void) {}
#endif

/* Writes the name of the function that has an address. */
static void prof__openmp_function(uintptr_t address, char *to, size_t size)
{
    prof__openmp_search search;
    memset(&search, 0, sizeof search);
    search.address = address;
    const char *base = "", *name = NULL;
    if (prof__loaded_each(prof__openmp_visit, &search)) {
        const prof__module_symbols *module = prof__module_of(&prof__openmp_symbols, search.path, "");
        base = strrchr(search.path, '/');
        base = base ? base + 1 : search.path;
        for (size_t low = 0, high = module ? module->count : 0; low < high;) { /* the last one that is not behind it */
            size_t middle = low + (high - low) / 2;
            if (module->list[middle].value <= address - search.base) {
                name = module->list[middle].name;
                low = middle + 1;
            } else {
                high = middle;
            }
        }
    }
    snprintf(to, size, "%s", name ? name : "");
    if (!name) snprintf(to, size, "%s+0x%llx", base, (unsigned long long)(address - search.base));
}
#else
static void prof__openmp_stay(void) {}

static void prof__openmp_function(uintptr_t address, char *to, size_t size)
{
    snprintf(to, size, "0x%llx", (unsigned long long)address);
}
#endif

/* There if the program has C++'s library. */
extern char *prof__openmp_demangle(const char *name, char *to, size_t *size, int *status) __asm__("__cxa_demangle")
    __attribute__((__weak__));

/* Names a place. A compiler's function that is the body of a region is named after what the region is named after.
   region: NULL: unknown. */
static void prof__openmp_name(prof__openmp_place *place, const prof__openmp_place *region)
{
    static const char *const bodies[] = {".omp_outlined", ".omp_task_entry", "._omp_fn"}; /* clang's, and gcc's */
    char function[512], *plain = NULL, *end;
    int status, room = (int)sizeof place->name - 1 - (int)strlen(prof__openmp_names[place->construct]) - 1;
    prof__openmp_function(place->address - 1, function, sizeof function); /* it is where a call returns to */
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; ++i)
        if ((end = strstr(function, bodies[i])) != NULL) *end = 0;
    if (!strncmp(function, "_Z", 2) && prof__openmp_demangle)
        plain = prof__openmp_demangle(function, NULL, NULL, &status);
    if (plain && (end = strchr(plain, '(')) != NULL && end != plain) *end = 0;
    snprintf(place->name, sizeof place->name, "%s %.*s", prof__openmp_names[place->construct], room,
             plain ? plain : *function ? function : region ? region->function : "?");
    place->function = place->name + strlen(prof__openmp_names[place->construct]) + 1;
    free(plain);
}

static prof__openmp_place *prof__openmp_find(prof__openmp_place *place, uintptr_t address, int construct)
{
    while (place && (place->address != address || place->construct != construct)) place = place->next;
    return place;
}

static prof__openmp_place *prof__openmp_make(prof__openmp_place **slot, uintptr_t address, int construct,
                                             const prof__openmp_place *region)
{
    int error = errno;
    prof__openmp_lock();
    prof__openmp_place *place = prof__openmp_find(*slot, address, construct);
    if (!place && (place = (prof__openmp_place *)calloc(1, sizeof *place)) != NULL) {
        place->address = address;
        place->construct = construct;
        place->site.category = "openmp";
        place->site.name = place->name;
        place->site.file = place->site.function = "";
        place->site.level = 1;
        place->site.kind = PROF__KIND_BEGIN;
        if (construct >= PROF__OPENMP_BARRIER)
            place->site.kind = (uint16_t)(place->site.kind | PROF_ROLE_WAIT << PROF__ROLE_SHIFT);
        prof__openmp_name(place, region);
        place->next = *slot;
        PROF__RELEASE(slot, place);
    }
    prof__openmp_unlock();
    errno = error;
    return place;
}

/* Returns NULL without memory. */
static prof__openmp_place *prof__openmp_place_of(const void *code, int construct, const prof__openmp_place *region)
{
    uintptr_t address = (uintptr_t)code;
    uint64_t mixed = ((uint64_t)address * 16 + (uint64_t)construct) * 0x9E3779B97F4A7C15u;
    prof__openmp_place **slot = &prof__openmp_places[mixed >> 32 & (PROF__OPENMP_SLOTS - 1)];
    prof__openmp_place *place = prof__openmp_find(PROF__ACQUIRE(slot), address, construct);
    return place ? place : prof__openmp_make(slot, address, construct, region);
}

#endif /* PROF__OPENMP_PLACES_H */
