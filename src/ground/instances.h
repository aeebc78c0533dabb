// ground/instances: Several instances of the implementation in one process: each finds the first one and forwards its
// calls to that.
#ifndef PROF__GROUND_INSTANCES_H
#define PROF__GROUND_INSTANCES_H
#include "api/control.h"
#include "api/devices.h"
#include "api/markup.h"
#include "api/objects.h"
#include "api/values.h"
#include "api/writers.h"
#include "ground/base.h"

/*-- INSTANCES ------------------------------------------------------------------------------------------ >>instances --
   A program and its plugins may each contain an instance of the implementation. Usually the dynamic loader directs all
   calls to the first instance. It cannot if the program does not export its symbols, if plugins are loaded RTLD_LOCAL,
   or if symbols are hidden or linked with -Bsymbolic. So each instance has an ELF note that leads to a table of its
   functions. An instance in a library takes the first instance in the loader's list as its leader: it records nothing
   itself, but forwards every call to the leader. The program is always first in the loader's list, and libraries that
   are loaded later are added at its end, so a leader stays the first. Its followers hold a reference to the leader's
   module, which keeps it loaded. An instance with another layout of its types, or compiled with PROF_STATIC, records by
   itself. From the tables of the others it only learns which output files they write, so that it does not overwrite
   these. */

#if defined(__linux__) && defined(__ELF__) && !defined(PROF_FREESTANDING) && !defined(PROF_MINIMAL)
#define PROF__INSTANCES 1
#include <elf.h>

typedef struct prof__instance prof__instance;
struct prof__log_list;
struct prof__session_status;
static char *prof__error_here(void);
static void prof__instance_join(prof__instance *follower);
static void prof__instance_leave(prof__instance *follower);
static void prof__counter_write(prof_site *site, uint64_t kind, uint64_t number);
static inline void prof__arg_write(prof_site *site, prof_value_type type, uint64_t number);
static prof__token prof__named(prof_site *site, const char *name, int owes_end);
static inline void prof__log_write(prof_site *site, prof__log_format *known, uint64_t severity, const char *format,
                                   struct prof__log_list *list);
static void prof__instant(prof_site *site);
static struct prof__shared_counter *prof__shared_counter_find(const prof_site *site);
static prof_status prof__pause_by(int step);
static prof_status prof__metadata_change(const char *key, const char *value);
static prof_status prof__category_enable(const char *pattern, int on, int exact);
static void prof__device_report(prof_device_row *row, const prof_device_event *event);
static void prof__saved_with(prof_status (*hook)(void));
static void prof__session_status_take(struct prof__session_status *look);
static prof_status prof__output_again(const char *what);
static prof_status prof__trace_live_here(prof_trace **trace);
static prof_status prof__trace_write_here(const prof_trace *trace, const char *path, const char *extension);

/* The functions that an instance forwards: those that access the recorder's state. All other functions reach the state
   through these. */
#define PROF__FORWARDED_FUNCTIONS(X)                                                                                 \
    X(prof__instance_join) X(prof__instance_leave)                                                                   \
    X(prof__error_here)                                                                                              \
    X(prof__check) X(prof__begin) X(prof__end) X(prof__next) X(prof__counter_write) X(prof__arg_write)               \
    X(prof__arg_string) X(prof__named) X(prof__begin_number) X(prof__event) X(prof__log_write) X(prof__memory)       \
    X(prof__instant) X(prof__frame) X(prof__begin_unscoped) X(prof__end_unscoped) X(prof__shared_counter_find)       \
    X(prof__sync)                                                                                                    \
    X(prof__end_sync)                                                                                                \
    X(prof__with) X(prof_flow_new) X(prof_set_thread_name) X(prof_fiber_switch) X(prof_fiber_destroy) X(prof_start)  \
    X(prof_stop) X(prof_reset) X(prof__pause_by) X(prof_enabled_at) X(prof_set_level) X(prof_set_filter_mask)        \
    X(prof__category_enable) X(prof__metadata_change) X(prof_set_sync) X(prof_config_claim) X(prof_config_set)       \
    X(prof_save) X(prof_save_last_ns) X(prof_save_request) X(prof_save_request_ns) X(prof__saved_with)                \
    X(prof__trace_live_here) X(prof__trace_write_here) X(prof_writer_register) X(prof_writer_unregister)             \
    X(prof_domain_create)                                                                                            \
    X(prof_domain_list) X(prof_task_create) X(prof_frame_create) X(prof_device_create) X(prof_device_row_create)     \
    X(prof_device_sync) X(prof__device_report) X(prof__session_status_take) X(prof__output_again)

struct prof__instance {
    /* The first three fields are the same in all versions of prof. */
    char magic[8];
    uint64_t layout; /* identifies the layout of all types in forwarded calls; 0: PROF_STATIC */
    char *output;    /* 1024 bytes: the output file of the instance's last session; "" for none */
    /* The other fields are used only between instances of the same layout. */
    uint32_t constructed;    /* 1: the constructors of the instance's module have run */
    uint32_t *config_version; /* of a follower: the config version that its call sites compare with */
    prof__instance *next;    /* of a follower: the next one in the leader's list */
    prof__instance **leader; /* of a follower: its variable that points to the leader */
#define PROF__INSTANCE_FIELD(name) __typeof__(name) *to_##name;
    PROF__FORWARDED_FUNCTIONS(PROF__INSTANCE_FIELD)
};
extern PROF__HIDDEN prof__instance prof__this_instance;

__asm__(".pushsection .note.prof,\"a\",%note\n"
        ".balign 4\n"
        ".long 5, 4, 1\n" /* bytes of the name, bytes of the content, type */
        ".asciz \"prof\"\n"
        ".balign 4\n"
        ".long prof__this_instance - .\n"
        ".popsection\n");

/* The same layout as dl_phdr_info in <link.h>, which declares that type only if _GNU_SOURCE was defined before its
   first include. */
typedef struct prof__loaded {
    uintptr_t base;
    const char *name; /* "" for the program */
    const void *segments;
    uint16_t segment_count;
} prof__loaded;
extern int prof__loaded_each(int (*visit)(const prof__loaded *loaded, size_t size, void *user), void *user)
    __asm__("dl_iterate_phdr");
#if UINTPTR_MAX > 0xffffffffu
typedef Elf64_Phdr prof__segment;
#else
typedef Elf32_Phdr prof__segment;
#endif

static prof__instance *prof__instance_of_notes(const char *at, size_t size, size_t align)
{
    for (size_t next; size >= 12; at += next, size -= next) {
        uint32_t head[3];
        int32_t distance;
        memcpy(head, at, sizeof head);
        size_t name = ((size_t)head[0] + 3) & ~(size_t)3, begin = (12 + name + align - 1) & ~(align - 1);
        next = (begin + head[1] + align - 1) & ~(align - 1);
        if (head[0] > size || head[1] > size || next > size) break;
        if (head[0] != 5 || head[1] != 4 || memcmp(at + 12, "prof", 5)) continue;
        memcpy(&distance, at + begin, sizeof distance);
        prof__instance *instance = (prof__instance *)((uintptr_t)(at + begin) + (uintptr_t)(intptr_t)distance);
        if (!memcmp(instance->magic, "prof hub", 8)) return instance;
    }
    return NULL;
}

/* Returns the table of a loaded module, or NULL if the module has none. */
static prof__instance *prof__instance_of(const prof__loaded *loaded)
{
    prof__instance *instance = NULL;
    for (uint16_t i = 0; i < loaded->segment_count && !instance; ++i) {
        const prof__segment *segment = (const prof__segment *)loaded->segments + i;
        if (segment->p_type == PT_NOTE)
            instance = prof__instance_of_notes((const char *)(loaded->base + (uintptr_t)segment->p_vaddr),
                                     (size_t)segment->p_memsz, segment->p_align == 8 ? 8 : 4);
    }
    return instance;
}
#endif

#if defined(PROF__INSTANCES) && !defined(PROF_STATIC)
static prof__instance *prof__followers; /* changes under prof__lock_word; crash handlers read it without the lock */
#endif

#if defined(PROF__INSTANCES) && defined(PROF__SHARED) && !defined(PROF_STATIC)
static prof__instance *prof__leader; /* NULL: this instance is a leader, or records by itself */
static int prof__joined;

typedef struct prof__instance_search {
    prof__instance *found;
    const char *name; /* of its module */
} prof__instance_search;

static int prof__instance_visit(const prof__loaded *loaded, size_t size, void *user)
{
    prof__instance_search *search = (prof__instance_search *)user;
    prof__instance *instance = prof__instance_of(loaded);
    (void)size;
    if (!instance || instance->layout != prof__this_instance.layout) return 0;
    search->found = instance;
    search->name = loaded->name ? loaded->name : "";
    return 1;
}

/* Weak: a static program has no dlopen(), and no library that could be unloaded. */
extern void *prof__module_open(const char *path, int how) __asm__("dlopen") __attribute__((__weak__));
extern int prof__module_close(void *module) __asm__("dlclose") __attribute__((__weak__));
static void *prof__leader_module;

static PROF__COLD void prof__join(void)
{
    prof__instance_search search = {NULL, NULL};
    if (__atomic_exchange_n(&prof__joined, 1, __ATOMIC_ACQ_REL)) return;
    prof__this_instance.constructed = 1;
    prof__loaded_each(prof__instance_visit, &search);
    if (!search.found || search.found == &prof__this_instance) return;
    /* Holds a reference to the leader's module, so that it stays loaded as long as this library. The program needs
       none. Nor does a leader whose constructors have not run yet: the same dlopen() is loading both, because the
       leader depends on this library, so the leader is unloaded before this library or with it. */
    if (*search.name && search.found->constructed && prof__module_open)
        prof__leader_module = prof__module_open(search.name, 1 | 4); /* RTLD_LAZY | RTLD_NOLOAD */
    search.found->to_prof__instance_join(&prof__this_instance);
    PROF__RELEASE(&prof__leader, search.found);
}

static inline prof__instance *prof__forwarding(void)
{
    if (PROF__UNLIKELY(!PROF__ACQUIRE(&prof__joined))) prof__join();
    return PROF__ACQUIRE(&prof__leader);
}
static int prof__is_whole(void) { return !prof__forwarding(); } /* 1: calls are not forwarded */

PROF__AT_START(101, prof__join_early);
static void prof__join_early(void) { prof__forwarding(); }

/* Called when the library is unloaded. A follower leaves its leader. The followers of a leader record by themselves
   from now on. */
static void prof__unjoin(void)
{
    if (prof__leader) prof__leader->to_prof__instance_leave(&prof__this_instance);
    for (prof__instance *each = prof__followers; each; each = each->next)
        PROF__RELEASE(each->leader, (prof__instance *)NULL);
    prof__followers = NULL;
}
/* Drops the reference to the leader's module. Runs at exit as the last use of the leader. */
PROF__AT_END(101, prof__unjoin_late);
static void prof__unjoin_late(void)
{
    void *module = prof__leader_module;
    prof__leader_module = NULL;
    if (module && prof__module_close) prof__module_close(module);
}

/* The first statement of every function in PROF__FORWARDED_FUNCTIONS: if this instance has a leader, calls the leader's
   function and returns. */
#define PROF__FORWARD(function, arguments)                                                                           \
    do {                                                                                                             \
        const prof__instance *prof__to = prof__forwarding();                                                         \
        if (prof__to) return prof__to->to_##function arguments;                                                      \
    } while (0)
#define PROF__FORWARD_VOID(function, arguments)                                                                      \
    do {                                                                                                             \
        const prof__instance *prof__to = prof__forwarding();                                                         \
        if (prof__to) {                                                                                              \
            prof__to->to_##function arguments;                                                                       \
            return;                                                                                                  \
        }                                                                                                            \
    } while (0)
#else
#define PROF__FORWARD(function, arguments) ((void)0)
#define PROF__FORWARD_VOID(function, arguments) ((void)0)
static int prof__is_whole(void) { return 1; }
static void prof__unjoin(void) {}
#endif

#endif /* PROF__GROUND_INSTANCES_H */
