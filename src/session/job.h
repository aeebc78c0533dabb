// session/job: The cluster job that the process belongs to: its id for %j, and a time for %t that all its processes
// share.
#ifndef PROF__SESSION_JOB_H
#define PROF__SESSION_JOB_H
#include "ground/digits.h"
#include "ground/out.h"
#include "ground/threads.h"
#include "record/meta.h"
#include "session/process.h"

/*-- jobs --*/

/* Environment variables in which launchers name the job. The first one that is set counts. */
static const char *const prof__job_ids[] = {
    "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "COBALT_JOBID", "JOB_ID", /* JOB_ID: Grid Engine */
    "TORCHELASTIC_RUN_ID", "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", NULL};
static const char *const prof__job_steps[] = {"SLURM_STEP_ID", NULL};
static const char *const prof__job_tasks[] = {"SLURM_ARRAY_TASK_ID", "PBS_ARRAY_INDEX", "PBS_ARRAYID", "LSB_JOBINDEX",
                                              "SGE_TASK_ID", NULL};
static const char *const prof__job_locals[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                               "MV2_COMM_WORLD_LOCAL_RANK", "PALS_LOCAL_RANKID", "FLUX_TASK_LOCAL_ID",
                                               "LOCAL_RANK", "SLURM_LOCALID", NULL};

/* Copies the first of the variables that has a value. Replaces characters that file names cannot have by
   underscores. */
static void prof__job_take(const char *const *variables, char *to, size_t size)
{
    to[0] = 0;
    for (; *variables && !to[0]; ++variables) {
        const char *value = prof__environment(*variables);
        if (!value || prof__equal(value, "none") || prof__equal(value, "undefined")) continue;
        prof__text_copy(to, size, value);
    }
    for (char *c = to; *c; ++c)
        if (*c == '/' || *c == '\\' || *c == ':' || (unsigned char)*c < 32) *c = '_';
}

/* Reads the job's variables of the environment into prof__job. */
static void prof__job_find(void)
{
    prof__job_take(prof__job_ids, prof__job.id, sizeof prof__job.id);
    prof__job_take(prof__job_steps, prof__job.step, sizeof prof__job.step);
    prof__job_take(prof__job_tasks, prof__job.task, sizeof prof__job.task);
    prof__job_take(prof__job_locals, prof__job.local_rank, sizeof prof__job.local_rank);
    /* LSF sets index 0 outside of job arrays. */
    if (prof__equal(prof__job.task, "0") && !prof__environment("SLURM_ARRAY_TASK_ID")) prof__job.task[0] = 0;
}

/* Writes the text of %j: the job's id. Appends the step unless it is the first, because each step numbers its ranks
   anew. */
static void prof__job_text(char *to, size_t size)
{
    prof__text_copy(to, size, prof__job.id[0] ? prof__job.id : "0");
    if (!prof__job.step[0] || prof__equal(prof__job.step, "0")) return;
    prof__text_add(to, size, ".");
    prof__text_add(to, size, prof__job.step);
}

#ifndef _WIN32
/* Sets path to the file that holds this job's common time. It lies beside the outputs, in the last directory that the
   pattern names before its first percent sign. Returns 0 if the path is too long. */
static int prof__job_path(const char *pattern, char *path, size_t size)
{
    char job[96];
    size_t length = 0;
    for (size_t i = 0; pattern[i] && pattern[i] != '%'; ++i)
        if (pattern[i] == '/') length = i + 1;
    if (length >= size) return 0;
    prof__text_copy(path, length + 1, pattern);
    prof__job_text(job, sizeof job);
    return prof__text_add(path, size, ".prof-job-") && prof__text_add(path, size, job);
}

/* Agrees with all processes of the job on one time for %t; otherwise each process would make a directory of its own.
   The first process writes its time to a file, in one step, and the others read it. If that fails, `started` stays this
   process's own time. */
static void prof__job_time(const char *pattern, char started[16])
{
    char path[1024], mine[1060], number[24], text[16] = "";
    if (!prof__job.id[0] || !prof__job_path(pattern, path, sizeof path)) return;
    prof__number_text(number, prof__process_id());
    prof__text_copy(mine, sizeof mine, path);
    prof__text_add(mine, sizeof mine, ".");
    prof__text_add(mine, sizeof mine, number);
    prof__folder_for(path);
    int file = open(mine, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, PROF__FILE_MODE);
    if (file >= 0) {
        int whole = write(file, started, prof__length(started)) == (ssize_t)prof__length(started);
        close(file);
        if (whole && link(mine, path) && errno != EEXIST) whole = 0;
        unlink(mine);
        if (!whole) return;
    }
    file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return;
    ssize_t n = read(file, text, sizeof text - 1);
    close(file);
    text[n > 0 ? n : 0] = 0;
    if (n == 15 && text[8] == '-' && !strpbrk(text, "/\\%")) prof__text_copy(started, 16, text);
}
#else
static void prof__job_time(const char *pattern, char started[16]) { (void)pattern, (void)started; }
#endif

#endif /* PROF__SESSION_JOB_H */
