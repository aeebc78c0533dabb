/* The job system: jobs_run(run, count) calls run(0) ... run(count - 1), each on whichever worker is free, and returns
   when all are done. */
#undef PROF_CATEGORY
#define PROF_CATEGORY "jobs"

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    void (*run)(int index);
    int count, next, left, quit;
    int worker_count;
    pthread_t workers[64];
} jobs = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static void *worker(void *number)
{
    char name[32];
    snprintf(name, sizeof name, "worker %d", (int)(intptr_t)number);
    PROFILE_THREAD(name);
    pthread_mutex_lock(&jobs.lock);
    for (;;) {
        while (jobs.next == jobs.count && !jobs.quit) pthread_cond_wait(&jobs.work, &jobs.lock);
        if (jobs.quit) break;
        void (*run)(int) = jobs.run;
        int index = jobs.next++;
        pthread_mutex_unlock(&jobs.lock);
        run(index);
        pthread_mutex_lock(&jobs.lock);
        if (--jobs.left == 0) pthread_cond_signal(&jobs.done);
    }
    pthread_mutex_unlock(&jobs.lock);
    return NULL;
}

static void jobs_run(void (*run)(int index), int count)
{
    PROFILE_SCOPE("wait for workers");
    PROFILE_ARG_I("jobs", count);
    pthread_mutex_lock(&jobs.lock);
    jobs.run = run;
    jobs.next = 0;
    jobs.count = jobs.left = count;
    pthread_cond_broadcast(&jobs.work);
    while (jobs.left) pthread_cond_wait(&jobs.done, &jobs.lock);
    pthread_mutex_unlock(&jobs.lock);
}

static void jobs_start(void)
{
    jobs.worker_count = clamp((int)sysconf(_SC_NPROCESSORS_ONLN), 2, COUNT(jobs.workers));
    for (int i = 0; i < jobs.worker_count; i++) start_thread(&jobs.workers[i], worker, i + 1);
}

static void jobs_stop(void)
{
    pthread_mutex_lock(&jobs.lock);
    jobs.quit = 1;
    pthread_cond_broadcast(&jobs.work);
    pthread_mutex_unlock(&jobs.lock);
    for (int i = 0; i < jobs.worker_count; i++) pthread_join(jobs.workers[i], NULL);
}
