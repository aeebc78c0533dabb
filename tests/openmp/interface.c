/* What prof_openmp.h says of OMPT is what omp-tools.h says. */
#define PROF_IMPLEMENTATION
#include "prof_openmp.h"
#include <omp-tools.h>
#define SAME(own, theirs) typedef char own##_is[(int)own == (int)theirs ? 1 : -1]
SAME(PROF__OMPT_THREAD_END, ompt_callback_thread_end);
SAME(PROF__OMPT_PARALLEL_BEGIN, ompt_callback_parallel_begin);
SAME(PROF__OMPT_PARALLEL_END, ompt_callback_parallel_end);
SAME(PROF__OMPT_TASK_CREATE, ompt_callback_task_create);
SAME(PROF__OMPT_TASK_SCHEDULE, ompt_callback_task_schedule);
SAME(PROF__OMPT_IMPLICIT_TASK, ompt_callback_implicit_task);
SAME(PROF__OMPT_WORK, ompt_callback_work);
SAME(PROF__OMPT_SYNC_REGION, ompt_callback_sync_region);
SAME(PROF__OMPT_BEGIN, ompt_scope_begin);
SAME(PROF__OMPT_END, ompt_scope_end);
SAME(PROF__OMPT_INITIAL, ompt_task_initial);
SAME(PROF__OMPT_EXPLICIT, ompt_task_explicit);
SAME(PROF__OMPT_COMPLETE, ompt_task_complete);
SAME(PROF__OMPT_CANCEL, ompt_task_cancel);
SAME(PROF__OMPT_DETACH, ompt_task_detach);
SAME(PROF__OPENMP_LOOP, ompt_work_loop);
SAME(PROF__OPENMP_SECTIONS, ompt_work_sections);
SAME(PROF__OPENMP_SINGLE, ompt_work_single_executor);
SAME(PROF__OPENMP_SINGLE_OTHER, ompt_work_single_other);
SAME(PROF__OPENMP_WORKSHARE, ompt_work_workshare);
SAME(PROF__OPENMP_DISTRIBUTE, ompt_work_distribute);
SAME(PROF__OPENMP_TASKLOOP, ompt_work_taskloop);
SAME(PROF__OPENMP_SCOPE, ompt_work_scope);
typedef char tool_is[sizeof(prof__ompt_tool) == sizeof(ompt_start_tool_result_t) ? 1 : -1];
typedef char data_is[sizeof(prof__ompt_data) == sizeof(ompt_data_t) ? 1 : -1];

/* Each function has the parameters that the runtime passes; enums are passed as int. */
static void check(ompt_data_t *data)
{
    ompt_callback_work_t work = 0;
    ompt_callback_sync_region_t sync = 0;
    ompt_callback_task_schedule_t schedule = 0;
    ompt_callback_implicit_task_t implicit = 0;
    ompt_callback_parallel_begin_t begin = 0;
    ompt_callback_parallel_end_t end = 0;
    ompt_callback_task_create_t create = 0;
    ompt_callback_thread_end_t thread = 0;
    if (thread) thread(data);
    if (work) work(ompt_work_loop, ompt_scope_begin, data, data, (uint64_t)0, (const void *)0);
    if (sync) sync(ompt_sync_region_taskwait, ompt_scope_begin, data, data, (const void *)0);
    if (schedule) schedule(data, ompt_task_complete, data);
    if (implicit) implicit(ompt_scope_begin, data, data, 0u, 0u, 0);
    if (begin) begin(data, (const ompt_frame_t *)0, data, 0u, 0, (const void *)0);
    if (end) end(data, data, 0, (const void *)0);
    if (create) create(data, (const ompt_frame_t *)0, data, 0, 0, (const void *)0);
}
extern void (*const checked)(ompt_data_t *data);
void (*const checked)(ompt_data_t *data) = check;
