// session/fork: The child of fork(): detaches from the parent's image, and creates an image of its own at its first
// scope, without stdio or allocation.
#ifndef PROF__SESSION_FORK_H
#define PROF__SESSION_FORK_H
#include "api/markup.h"
#include "ground/instances.h"
#include "ground/errors.h"
#include "ground/lock.h"
#include "ground/signals.h"
#include "ground/threads.h"
#include "image/format.h"
#include "image/pair.h"
#include "record/bridge.h"
#include "record/counter.h"
#include "record/event.h"
#include "record/functions.h"
#include "record/locks.h"
#include "record/meta.h"
#include "record/ring.h"
#include "record/self.h"
#include "record/state.h"
#include "record/thread.h"
#include "record/track.h"
#include "session/prepare_output.h"
#include "session/beside.h"
#include "session/crash_filter.h"
#include "session/crash_handler.h"
#include "session/file.h"
#include "session/hooks.h"
#include "session/memory.h"
#include "session/place.h"
#include "session/process.h"
#include "session/root.h"
#include "session/state.h"

/*-- FORK ---------------------------------------------------------------------------------------------------- >>fork --
   A child of fork() records with its parent's configuration, into an image of its own. At the fork, the child only
   detaches from the parent's image, and keeps the session's data as prof__state.inherited. The child's first scope
   creates the image. So a child that calls exec(), or has no scopes, costs nothing and leaves no file. The first scope
   may be in a signal handler, and at the fork other threads of the parent may have held any lock of libc. So creating
   the image uses no allocation, no stdio and no time zone.
   There is one exception: a fork in a signal handler that interrupted the recorder itself. The recorder's state is
   unknown then, so the child records nothing. The interrupted macro still finds its memory when the handler returns. */

/* Ends a session that was inherited and has no image. If a scope needed the image, returns why it could not be
   created. */
static prof_status prof__inherited_end(void)
{
    prof_status status = PROF_OK;
    uint32_t write_lock = prof__state_lock();
    prof__session *s = prof__state.inherited;
    prof__state.inherited = NULL;
    prof__state_unlock(write_lock);
    if (!s) return PROF_OK;
    if (s->failed)
        status = prof__fail(s->file.live_path ? PROF_IO : PROF_NO_MEMORY,
                            "%s: %llu bytes: %s: this process recorded nothing",
                            s->file.output[0] ? s->file.output : "a buffer after a fork",
                            (unsigned long long)s->file.mapping_size, strerror(s->failed));
    s->file.mapping = NULL;
    prof__session_delete(s);
    return status;
}

#ifndef PROF__NO_FORK
#ifndef PROF_MINIMAL
/* Says on stderr that this child records in memory only, if the environment started the session, so that the program
   itself prints nothing. Async-signal-safe. */
static void prof__child_tells(const prof__session *s, const char *why)
{
    char text[sizeof s->file.output + 400] = "prof: ";
    prof__text_add(text, sizeof text, s->file.output);
    prof__text_add(text, sizeof text, ": ");
    prof__text_add(text, sizeof text, why);
    prof__text_add(text, sizeof text, ": this process records in memory only. To keep its recording, record a scope "
                   "before the process gives up its rights (setuid, chroot), or let PROF_OUTPUT name a directory in "
                   "which it may create files\n");
    if (prof__autostarted && write(2, text, prof__length(text)) < 0) return;
}

/* Gets the memory of the child's image: a mapped file, or plain memory if the child may not create the file. Returns 0
   or errno. */
static int prof__child_memory(prof__session *s)
{
    int beside = s->file.sidecar && s->file.live_path, moved = prof__root_moved(s);
    int error = moved ? ENOENT : prof__memory_get(s, s->file.mapping_size);
    int cause = error ? error : beside ? s->file.sidecar_error : 0;
    const char *why = moved                               ? "the process has changed its root directory (chroot)"
                      : cause == EACCES || cause == EPERM ? "Permission denied"
                      : cause == EROFS                    ? "Read-only file system"
                      : cause == ENOENT                   ? "its directory is not there"
                                                          : NULL;
    if (!why || !s->file.output[0]) return error;
    if (error && !beside) s->file.error = error;
    if (error) prof__file_forget(s, error);
    if (error) error = prof__memory_map(s, s->file.mapping_size);
    /* Otherwise the output can still be written through the held folder. */
    if (!error && !(moved && beside && s->file.folder)) prof__child_tells(s, why);
    return error;
}
#else
static int prof__child_memory(prof__session *s) { return prof__memory_get(s, s->file.mapping_size); }
#endif

/* Creates the child's image with what it keeps of the parent's header. Returns 0 or errno. Async-signal-safe. */
static int prof__child_image(prof__session *s)
{
    int error = prof__child_path(s);
    if (!error) error = prof__child_memory(s);
    if (error) return error;
    const prof__header *like = &s->like;
    if (prof__layout(s, s->file.mapping, s->file.mapping_size)) return EINVAL;
    prof__header *h = s->header;
    h->mode = like->mode == PROF_FILL ? PROF_FILL : PROF_RING;
    h->clock = like->clock;
    h->session = s->session_id;
    h->pid = s->process;
    h->parent_pid = like->parent_pid;
    h->tick_hz = like->tick_hz;
    h->resolution_ticks = like->resolution_ticks;
    h->cost_ticks_x1000 = like->cost_ticks_x1000;
    h->call_x1000 = like->call_x1000;
    h->text_x1000 = like->text_x1000;
    h->format_x1000 = like->format_x1000;
    prof__copy(h->program, like->program, sizeof h->program);
    prof__copy(h->clock_name, like->clock_name, sizeof h->clock_name);
    prof__copy(h->boot_id, like->boot_id, sizeof h->boot_id);
    prof__pair_take_well(s->clock, h->tick_hz, &h->first);
    h->last = h->first;
    prof__image_begin(s);
    prof__metadata_write(s);
    prof__beside_child_image(s);
    prof__meta_rate(s);
    if (!s->file.live_path) return 0;
    error = prof__name_take(s);
    if (!error) error = prof__name_publish(s);
    if (!error || !PROF__SIDECAR(s->file.sidecar)) return error;
    prof__file_forget(s, error);
    return 0;
}

/* Creates the child's image at the child's first scope. Called under the state lock, while the thread holds its write
   lock. On failure the child records nothing, and prof_stop() returns why. */
static void prof__child_make(void)
{
    prof__session *s = prof__state.inherited;
    prof__file_signal signal;
    if (s->failed) return;
    int cancel = prof__cancel_disable();
    prof__file_signal_hold(&signal);
    s->failed = prof__child_image(s);
    prof__file_signal_drop(&signal);
    prof__cancel_restore(cancel);
    if (s->failed) {
        if (s->file.part_path[0] && s->file.taken) unlink(s->file.live_path);
        if (s->file.part_path[0]) unlink(s->file.part_path);
        prof__name_drop(s);
        if (s->stream.opened) close(s->stream.file);
        s->file.taken = s->stream.opened = 0;
        if (s->file.mapping) munmap(s->file.mapping, s->file.mapping_size);
        s->file.part_path[0] = 0;
        s->header = NULL;
        s->file.mapping = NULL;
    } else {
        /* Set before `inherited` is cleared: if another thread forks in between, its child finds the session in one of
           both. */
        prof__state.session = s;
        prof__state.inherited = NULL;
    }
}

static prof__signals prof__fork_signals; /* protected by prof__change_word */

/* Runs before fork() in the parent. Blocks signals until the child has detached from the image, because the child must
   not write there. Scopes in the program's own fork handlers are lost meanwhile, and counted as lost. */
static void prof__before_fork(void)
{
    prof__thread *self = PROF__SELF();
    PROF__ERRNO_SAVE();
    if (self->fork.forking++ == 0) {
        self->fork.holds = self->write_lock != PROF__BUSY && prof__lock_try(&prof__change_word);
        if (self->fork.holds) {
            prof__signals_block(&prof__fork_signals);
            self->fork.write_lock = prof__enter_write(self);
        }
    }
    PROF__ERRNO_RESTORE();
}

static void prof__parent_of_fork(void)
{
    prof__thread *self = PROF__SELF();
    if (--self->fork.forking || !self->fork.holds) return;
    prof__signals signals = prof__fork_signals;
    prof__leave_write(self, self->fork.write_lock);
    prof__unlock(&prof__change_word);
    prof__signals_restore(&signals);
}

/* Changes the copied session into the child's: drops the parent's image, files and threads, and keeps the
   configuration. The service threads exist only in the parent, and a signal handler cannot create new ones, so the
   child of a PROF_STREAM or PROF_STATS session records as with PROF_RING. */
static void prof__session_inherit(prof__session *s)
{
    prof__stream_close(s);
    memset(&s->stream, 0, sizeof s->stream);
    memset(&s->service, 0, sizeof s->service);
    prof__reader()->follow_free(s->follow);
    s->follow = NULL;
    s->dump_period_ns = s->wait_ns = s->file.max_file_size = 0;
    s->crash_report = 0;
    if (PROF__SIDECAR(s->file.live_path && s->file.live_path != s->file.output)) s->file.sidecar = 1;
    if (PROF__SIDECAR(s->file.live_path != s->file.output)) s->file.live_path = NULL;
    if (s->header) {
        /* memory that the program gave is still the parent's to use, so only its size is kept */
        if (!s->file.mapping) s->file.mapping_size = (size_t)prof__round(s->image_size, 4096);
        if (s->file.mapping) munmap(s->file.mapping, s->file.mapping_size);
    }
    s->like.parent_pid = s->process;
    s->process = prof__process_id();
    s->header = NULL;
    s->file.mapping = NULL;
    s->file.part_path[0] = 0;
    s->file.claimed = s->file.written = s->file.taken = s->file.replaces = s->file.old_file = s->file.sidecar_error =
        0;
    s->ring.chunks_asked = 0;
    s->file.error = 0;
#ifdef PROF__META_GROWS
    s->names_error = NULL;
#endif
    s->ring.all_owned[0] = s->ring.all_owned[1] = 0;
    s->file.cut = 0;
    s->stream.sign = 0;
    s->string_count = s->site_count = s->ring.partial_count = s->attached = s->readers = 0;
    memset(s->ring.partial_chunks, 0, sizeof s->ring.partial_chunks);
    s->failed = 0;
    s->session_id = ++prof__state.session_id ? prof__state.session_id : ++prof__state.session_id;
}

/* Sets up the recorder in a child, whose only thread is the calling one. inherits: 1: the parent's session goes on in
   the child. interrupted: 1: the recorder's state or this thread's may be half changed; then only memory is kept,
   because the interrupted macro may still write to it. */
static void prof__child_begins(prof__thread *self, int inherits, int interrupted)
{
    prof__session *s = prof__state.session;
    self->fork.forking = self->fork.holds = 0;
    PROF__BRIDGE_CHILD();
    prof__next_config_version();
    prof__reader()->save_disarm();
    prof__beside_child();
    prof__crash_forget();
    if (interrupted) {
        if (s) prof__memory_retire(s);
        s = NULL;
    } else {
        self->write_lock = PROF__BUSY;
        PROF__BARRIER();
        self->session = NULL; /* the session's count of threads stays, because the whole session is replaced */
        prof__detach(self);
        for (prof__session *each = prof__state.retired, *next; each; each = next) {
            next = each->next;
            prof__session_delete(each);
        }
        if (prof__state.inherited) s = prof__state.inherited;
        if (s && inherits && prof__state.running && !prof__on_demand) {
            prof__session_inherit(s);
        } else if (s) {
            prof__session_delete(s);
            s = NULL;
        }
    }
    prof__state.session = prof__state.retired = NULL;
    prof__state.inherited = s;
    prof__inherited_make = prof__child_make;
    prof__state.running = s != NULL;
    if (!s) prof__state.paused = prof__state.held = 0;
    prof__state.ended = 0;
    prof__on_demand = NULL;
    prof__lost_without_chunk = prof__lost_args_without_chunk = prof__lost_busy_without_chunk = 0;
    prof__flow_last = prof__process_id() << 32;
    prof__shared_counters_unlock();
    PROF__BARRIER();
    self->open = PROF__SHUT;
    if (!interrupted) self->write_lock = PROF__SHUT;
}

static void prof__child_of_fork(void)
{
    prof__thread *self = PROF__SELF();
    int inherits = self->fork.forking && self->fork.holds;
    prof__lock_word = prof__change_word = prof__control_word = 0;
#ifdef PROF__FUNCTION_SLOTS
    prof__function_lock = 0; /* another thread may have held it; what it was adding is not in the table */
#endif
    prof__child_begins(self, inherits, !inherits && self->write_lock == PROF__BUSY);
    if (inherits) prof__signals_restore(&prof__fork_signals);
}

#ifdef PROF__CONFIG_VERSION_PAGE
/* Forgets the memory that prof__child_begins() would free. Another thread of the parent may have held malloc()'s lock,
   which only a fork() that runs handlers releases. */
static void prof__child_keep(void)
{
    prof__session *s = prof__state.session;
    prof__state.retired = NULL;
    if (!s) return;
    if (prof__on_demand || !prof__state.running) prof__state.session = NULL;
    s->stream.block = NULL;
    s->stream.chunks = NULL;
    s->follow = NULL;
}

/* Detects and sets up a child of _Fork() or clone(), for which no fork handlers run. Called at the child's first macro,
   control function or end of a thread. Other threads of the parent may have been in the middle of a change; the caller
   was not, and holds its write lock or will take a lock. If the child already has several threads, one sets up the
   child while it holds the locks, and the others wait. If that one is not the first thread, the first thread still
   points to the parent's session, which then stays and is not inherited. */
static PROF__COLD void prof__child_unannounced(void)
{
    prof__thread *self = PROF__SELF();
    uint32_t write_lock = self->write_lock, nobody = 0;
    PROF__ERRNO_SAVE();
    if (self->fork.forking) return; /* this is a fork() whose handler will run */
    if (!__atomic_compare_exchange_n(&prof__config_version[1], &nobody, 1u, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        while (!PROF__ACQUIRE(prof__config_version)) prof__wait();
    } else {
        int changing = prof__lock_word || prof__change_word || prof__thread_id() != prof__process_id();
        if (!changing) prof__child_keep();
        prof__lock_word = prof__change_word = 1;
        prof__control_word = 0;
        prof__child_begins(self, !changing, changing);
        prof__unlock(&prof__lock_word);
        prof__unlock(&prof__change_word);
    }
    self->write_lock = write_lock;
    PROF__ERRNO_RESTORE();
}

/* Asks the kernel to zero the page of the config version in every child, which marks a child of _Fork() or clone().
   Called before a session starts. Needs Linux 4.14 and pages of 4 KiB. */
static void prof__children_watch(void)
{
    if (prof__child_found || sysconf(_SC_PAGESIZE) != PROF__CONFIG_VERSION_PAGE) return;
    if (madvise(prof__config_version, PROF__CONFIG_VERSION_PAGE, 18 /* MADV_WIPEONFORK */)) return;
    prof__child_found = prof__child_unannounced;
}
#endif

/* Registered early, so that this child handler runs before the handlers of the program, which may have scopes and call
   prof_stop(). */
PROF__AT_START(101, prof__forks_watch);
static void prof__forks_watch(void)
{
    if (!prof__is_whole()) return;
    prof__child_check();
    pthread_atfork(prof__before_fork, prof__parent_of_fork, prof__child_of_fork);
    prof__exit_key_make(); /* early, because glibc's pthread_setspecific() allocates for keys from 32 on */
}
#endif

#endif /* PROF__SESSION_FORK_H */
