// openmp/interface: What of OMPT, the interface of tools in OpenMP 5, is used here. Runtimes do not change it.
#ifndef PROF__OPENMP_INTERFACE_H
#define PROF__OPENMP_INTERFACE_H
#include "ground/base.h"

enum { /* events, as ompt_callbacks_t */
    PROF__OMPT_THREAD_END = 2,
    PROF__OMPT_PARALLEL_BEGIN = 3,
    PROF__OMPT_PARALLEL_END = 4,
    PROF__OMPT_TASK_CREATE = 5,
    PROF__OMPT_TASK_SCHEDULE = 6,
    PROF__OMPT_IMPLICIT_TASK = 7,
    PROF__OMPT_WORK = 20,
    PROF__OMPT_SYNC_REGION = 23
};
enum { PROF__OMPT_BEGIN = 1, PROF__OMPT_END = 2 };           /* ompt_scope_endpoint_t */
enum { PROF__OMPT_INITIAL = 1, PROF__OMPT_EXPLICIT = 4 };    /* ompt_task_flag_t */
enum { PROF__OMPT_COMPLETE = 1, PROF__OMPT_CANCEL = 3, PROF__OMPT_DETACH = 4 }; /* ompt_task_status_t */

typedef union prof__ompt_data { /* of a thread, region or task: the tool's */
    uint64_t value;
    void *pointer;
} prof__ompt_data;

typedef void (*prof__ompt_function)(void);
typedef prof__ompt_function (*prof__ompt_lookup)(const char *name);
typedef int (*prof__ompt_set_callback)(int event, prof__ompt_function callback);

typedef struct prof__ompt_tool {
    int (*initialize)(prof__ompt_lookup lookup, int device, prof__ompt_data *tool);
    void (*finalize)(prof__ompt_data *tool);
    prof__ompt_data tool;
} prof__ompt_tool;

/* The runtime calls this function when it starts. A label, because the program may include omp-tools.h, which declares
   it with types of its own. */
#define PROF__OMPT_TEXT_(x) #x
#define PROF__OMPT_TEXT(x) PROF__OMPT_TEXT_(x)
__attribute__((__visibility__("default"), __used__)) extern prof__ompt_tool *
prof__ompt_start(unsigned version, const char *runtime)
    __asm__(PROF__OMPT_TEXT(__USER_LABEL_PREFIX__) "ompt_start_tool");

#endif /* PROF__OPENMP_INTERFACE_H */
