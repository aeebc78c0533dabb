// session/service: The threads behind a session: they pack a stream, count statistics, keep the schedule, and write
// dumps and saves.
#ifndef PROF__SESSION_SERVICE_H
#define PROF__SESSION_SERVICE_H
#include "api/control.h"
#include "api/macros.h"
#include "api/markup.h"
#include "ground/clock.h"
#include "ground/errors.h"
#include "ground/lock.h"
#include "ground/threads.h"
#include "record/locks.h"
#include "record/ring.h"
#include "record/schedule.h"
#include "record/scope.h"
#include "record/self.h"
#include "record/state.h"
#include "session/beside.h"
#include "session/hooks.h"
#include "session/memory.h"
#include "session/place.h"
#include "session/process.h"
#include "session/renamed.h"
#include "session/state.h"
#include "session/stream.h"

/*-- SERVICE --------------------------------------------------------------------------------------------- >>service --
   The service is a thread that prof.h starts if, and only if, the configuration needs it. It does in the background
   what takes longer than a scope may. Each of its steps looks for work and does it. A recording thread does not wake
   the service, because that would cost a system call, unless the thread waits for a chunk. Instead, the service looks
   so often that the ring should not fill between two looks. All signals are blocked in it. It takes no control lock,
   because prof_stop() holds that lock while it waits for the service to end. Its own scopes are recorded like all
   others, on a track "prof".
   Writing an output takes as long as the output is large. The service must not do that where threads may wait for it to
   empty chunks. There, a second thread, the writer, writes outputs, on a track "prof writer". */

static int prof__service_session_runs(const prof__session *s)
{
    uint32_t write_lock = prof__state_lock();
    int runs = prof__state.running && prof__state.session == s;
    prof__state_unlock(write_lock);
    return runs;
}

/* Writes the output every dump_period, as prof_stop() does at the end. */
static int prof__dump_step(prof__session *s)
{
    prof__service *service = &s->service;
    uint64_t now = s->dump_period_ns ? prof__monotonic() : 0;
    if (!s->dump_period_ns || now < service->dump_at) return 0;
    if (!prof__service_session_runs(s)) return 0; /* the session has not been published yet */
    uint64_t began = prof__now(s, 0);
    if (prof__output_write(s)) prof__background_failed(s, prof_error());
    service->dump_at = prof__monotonic() + s->dump_period_ns;
    PROF__SITE(site, PROF__KIND_BEGIN, "dump", "prof", 2);
    prof__service_scope(s, &site, began);
    return 1;
}

/* Asks for the names of threads once a second, so that the file of a program that is killed has them, too. */
static void prof__names_step(prof__session *s)
{
    uint64_t now = prof__monotonic();
    if (now < s->service.names_at || !prof__service_session_runs(s)) return;
    prof__names_look(s);
    s->service.names_at = now + 1000000000;
}

/* Begins and ends recording at the configured times. At the end, the output is written as prof_stop() would write
   it. */
static int prof__schedule_step(prof__session *s)
{
    uint64_t now = s->schedule.begin_at || s->schedule.duration_ns ? prof__monotonic() : 0;
    int ended = 0;
    if (!now) return 0;
    uint64_t end_at = PROF__LOAD(&s->schedule.end_at); /* another thread may just begin the session's time */
    if (end_at && now >= end_at) {
        prof__names_look(s);
        if (!prof__beside_end(0)) return 1; /* until the next look */
    }
    s->look_at = s->schedule.begin_at; /* looked at until the session is published */
    uint32_t write_lock = prof__state_lock();
    if (prof__state.running && prof__state.session == s) {
        if (prof__state.held & PROF__HELD_TIME && now >= s->schedule.begin_at)
            prof__schedule_release(s, PROF__HELD_TIME);
        ended = !prof__state.held && s->schedule.end_at && now >= s->schedule.end_at;
        if (ended) prof__recording_ends();
        prof__state.ended |= ended;
        s->look_at = ended ? 0 : prof__state.held & PROF__HELD_TIME ? s->schedule.begin_at : s->schedule.end_at;
    } else if (prof__state.session == s) {
        s->look_at = 0;
    }
    prof__state_unlock(write_lock);
    if (ended) PROF__RELEASE(&s->service.end_due, 1u);
    return ended;
}

/* Writes the output of a recording that has ended by itself. */
static int prof__end_step(prof__session *s)
{
    if (!PROF__ACQUIRE(&s->service.end_due)) return 0;
    PROF__STORE(&s->service.end_due, 0u);
    if (!s->file.output[0] || s->file.live_path == s->file.output) return 0;
    prof_status status = prof__output_write(s);
    if (status) prof__background_failed(s, prof_error()); /* prof_stop() will try again */
    s->file.written = !status;
    return 1;
}

/* Does the steps that take long: saves and outputs. stop: 1: this is the last round. Returns 1 if there was work. */
static int prof__write_steps(prof__session *s, uint32_t stop)
{
    int work = prof__reader()->save_step(s);
    if (!stop) work |= prof__dump_step(s) | prof__end_step(s);
    return work;
}

/* Returns how long the service may sleep until the next time of the schedule, at most `sleep` ns. */
static uint64_t prof__schedule_sleep(const prof__session *s, uint64_t sleep)
{
    uint64_t now = s->look_at ? prof__monotonic() : 0;
    if (!s->look_at || s->look_at >= now + sleep) return sleep;
    return s->look_at > now ? s->look_at - now : 1;
}

/* Wakes the service and the writer. Any thread and any signal handler may call this function. */
static void prof__service_wake(prof__session *s)
{
    prof__word_wake(&s->service.word);
    prof__word_wake(&s->service.writer_word);
}

/* Returns how long to sleep next, in ns, after a sleep of `before` ns. If the service empties chunks, this depends on
   how many chunks were filled (used). */
static uint64_t prof__service_sleep(const prof__session *s, uint64_t before, uint64_t used, int work)
{
    const prof__service *service = &s->service;
    uint64_t sleep = before, count = PROF__LOAD(&s->ring.pieces);
    if (!prof__chunks_kept(s))
        sleep = work ? service->shortest_ns : before * 2;
    else if (used > count / 4)
        sleep = before / 2;
    else if (used < count / 6)
        sleep = before * 2;
    if (sleep < service->shortest_ns) sleep = service->shortest_ns;
    return sleep < service->longest_ns ? sleep : service->longest_ns;
}

/* The service thread: does each step, then sleeps until the next one may have work. */
static void prof__service_run(prof__session *s)
{
    prof__service *service = &s->service;
    uint64_t sleep = service->shortest_ns;
    PROF__SELF()->impatient = 1;
    prof_set_thread_name("prof");
    for (;;) {
        uint32_t word = PROF__ACQUIRE(&service->word), stop = PROF__ACQUIRE(&service->stop);
        uint64_t used = PROF__LOAD(&s->ring.pieces) - (uint32_t)PROF__LOAD(&s->ring.free_chunks);
        int work = stop ? 0 : prof__stream_step(s); /* at the end, the ring stays in the file as it is */
        work |= prof__reader()->follow_step(s); /* counts statistics and looks for triggers of saves */
        if (!stop) prof__names_step(s);
        work |= stop ? 0 : prof__schedule_step(s);
        if (!service->wants_writer) work |= prof__write_steps(s, stop);
        if (stop) break;
        sleep = prof__service_sleep(s, sleep, used, work);
        prof__word_wait(&service->word, word, prof__schedule_sleep(s, sleep));
    }
}

#define PROF__FOLLOW_PERIOD 5000000u /* ns; the longest time between two looks for triggers of saves */

#ifndef PROF__WRITER_NICE
#define PROF__WRITER_NICE 10
#endif

/* Returns how long the writer may sleep, in ns. It must look often for requests of saves, because a request only sets a
   flag. */
static uint64_t prof__writer_sleep(const prof__session *s)
{
    uint64_t now = prof__monotonic(), sleep = s->follow ? PROF__FOLLOW_PERIOD : 1000000000u;
    if (s->dump_period_ns && s->service.dump_at < now + sleep)
        sleep = s->service.dump_at > now ? s->service.dump_at - now : 1;
    return sleep;
}

/* The writer thread: writes outputs and saves when they are due. */
static void prof__writer_run(prof__session *s)
{
    prof__service *service = &s->service;
    PROF__SELF()->impatient = 1;
    prof_set_thread_name("prof writer");
    for (;;) {
        uint32_t word = PROF__ACQUIRE(&service->writer_word), stop = PROF__ACQUIRE(&service->writer_stop);
        prof__write_steps(s, stop);
        if (stop) break;
        prof__word_wait(&service->writer_word, word, prof__writer_sleep(s));
    }
}

#ifdef _WIN32
static DWORD WINAPI prof__service_main(LPVOID session)
{
    prof__service_run((prof__session *)session);
    return 0;
}
static DWORD WINAPI prof__writer_main(LPVOID session)
{
    prof__writer_run((prof__session *)session);
    return 0;
}
static int prof__service_create(HANDLE *thread, LPTHREAD_START_ROUTINE run, prof__session *s)
{
    *thread = CreateThread(NULL, 0, run, s, 0, NULL); /* 0 or the system's error */
    return *thread ? 0 : (int)GetLastError();
}
static void prof__service_join(HANDLE thread)
{
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
}
#else
static void *prof__service_main(void *session)
{
#ifdef __linux__
    prctl(PR_SET_NAME, "prof", 0, 0, 0);
#endif
    prof__service_run((prof__session *)session);
    return NULL;
}
static void *prof__writer_main(void *session)
{
#ifdef __linux__
    prctl(PR_SET_NAME, "prof writer", 0, 0, 0);
    if (nice(PROF__WRITER_NICE) == -1) errno = 0; /* on Linux, nice() changes this thread only */
#endif
    prof__writer_run((prof__session *)session);
    return NULL;
}
static int prof__service_create(pthread_t *thread, void *(*run)(void *), prof__session *s)
{
    return prof__thread_create(thread, run, s);
}
static void prof__service_join(pthread_t thread) { pthread_join(thread, NULL); }
#endif

/* Returns the longest sleep, in ns: an eighth of the time in which the ring fills at 160 MB a second (10 million scopes
   a second). It is never less than a millisecond, so that an idle program costs little; a ring of less than 1.3 MB may
   therefore fill in between. */
static uint64_t prof__service_longest(const prof__session *s)
{
    uint64_t ns = s->chunk_count * s->chunk_size / 8 * 25 / 4;
    if (!prof__chunks_kept(s)) ns = s->dump_period_ns / 10;
    if (ns < 1000000) ns = 1000000;
    return ns < 1000000000 ? ns : 1000000000;
}

/* Checks the fields of the configuration that only the service uses. */
static prof_status prof__service_check(const prof_config *c)
{
    if ((unsigned)c->at_limit > PROF_LIMIT_ROTATE) return prof__must_be("at_limit", "stop or rotate");
    if (c->wait_ns > PROF__MAX_WAIT && c->wait_ns != PROF_NEVER) return prof__must_be("wait", "at most 10s");
    if (c->dump_period_ns && c->dump_period_ns < PROF__MIN_PERIOD) /* PROF_NEVER is more */
        return prof__must_be("dump_period", "at least 10ms");
    if (c->delay_ns > PROF__CENTURY || c->duration_ns > PROF__CENTURY)
        return prof__must_be("delay, duration", "at most a century");
    return PROF_OK;
}

/* Returns 1 if prof's thread saves the last seconds when it is asked to. */
static int prof__config_saves(const prof_config *config)
{
    return (config->save && config->save[0]) || config->save_last_ns || config->save_last > 0;
}

/* Decides whether the session needs the service and the writer, and how often they look for work. */
static prof_status prof__service_configure(prof__session *s, const prof_config *config)
{
    prof__service *service = &s->service;
    s->file.max_file_size = config->max_file_size;
    s->file.at_limit = (uint32_t)config->at_limit;
    s->wait_ns = config->wait_ns == PROF_NEVER ? 0 : config->wait_ns;
    if (!config->wait_ns && prof__mode_counts((uint32_t)config->mode)) s->wait_ns = PROF__MAX_WAIT;
    /* The output of a mapped file is always up to date. */
    int fresh = s->file.live_path && (s->file.live_path == s->file.output || config->mode == PROF_STREAM);
    s->dump_period_ns =
        fresh || !s->file.output[0] || config->dump_period_ns == PROF_NEVER ? 0 : config->dump_period_ns;
    service->wanted = prof__chunks_kept(s) || s->dump_period_ns != 0;
    service->longest_ns = prof__service_longest(s);
    service->shortest_ns = service->longest_ns / 16 > 100000 ? service->longest_ns / 16 : 100000;
    service->dump_at = prof__monotonic() + s->dump_period_ns;
    prof_status status = prof__reader()->follow_make(s, config);
    if (s->follow) service->wanted = 1;
    service->wants_writer = prof__chunks_kept(s) && (s->dump_period_ns || prof__config_saves(config));
    if (s->follow && (!prof__chunks_kept(s) || service->longest_ns > PROF__FOLLOW_PERIOD) &&
        prof__config_saves(config)) {
        service->longest_ns = PROF__FOLLOW_PERIOD;
        service->shortest_ns = PROF__FOLLOW_PERIOD / 8;
    }
    if (!service->wanted && (config->delay_ns || config->start_unix_ns || config->duration_ns)) {
        service->wanted = 1; /* the service only compares the clock with the schedule */
        service->longest_ns = service->shortest_ns = 1000000000;
    }
    return status || config->mode != PROF_STREAM ? status : prof__stream_open(s);
}

/* Stops the threads after they have finished their work: the service first, because it may still find a reason for a
   save. In a child of fork() the threads do not exist. Called under the control lock. */
static void prof__service_stop(prof__session *s)
{
    prof__service *service = &s->service;
    if (!service->running) return;
    service->running = 0;
    if (service->process != prof__process_id()) return;
    PROF__RELEASE(&service->stop, 1u);
    prof__word_wake(&s->ring.released); /* threads that wait for a chunk get no more chunks */
    prof__service_wake(s);
    prof__service_join(service->thread);
    if (!service->wants_writer) return;
    PROF__RELEASE(&service->writer_stop, 1u);
    prof__service_wake(s);
    prof__service_join(service->writer);
}

/* Starts the threads that the session needs. Called under the control lock. */
static prof_status prof__service_start(prof__session *s)
{
    prof__service *service = &s->service;
    if (!service->wanted) return PROF_OK;
    service->process = prof__process_id();
    int error = prof__service_create(&service->thread, prof__service_main, s);
    if (!error) service->running = 1;
    if (!error && service->wants_writer) {
        error = prof__service_create(&service->writer, prof__writer_main, s);
        if (error) service->wants_writer = 0;
        if (error) prof__service_stop(s);
    }
    return error ? prof__fail(PROF_NO_MEMORY, "the service thread cannot be started: error %d", error) : PROF_OK;
}

/* Stops the threads at exit and at an unload, because their code may be unloaded next, or the process may end without
   prof_stop(). */
PROF__AT_END(PROF__LAST, prof__service_leave);
static void prof__service_leave(void)
{
    if (!prof__lock_try(&prof__control_word)) return;
    if (prof__state.session) prof__service_stop(prof__state.session);
    prof__unlock(&prof__control_word);
}

#endif /* PROF__SESSION_SERVICE_H */
