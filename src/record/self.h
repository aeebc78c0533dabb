// record/self: Records of threads in a shared library. Without a lock: a thread's first scope may be in a signal
// handler.
#ifdef PROF__SHARED
/*-- records of threads. They are never freed while the library is loaded, but reused by other threads; without a lock,
   because a thread's first scope may be in a signal handler. */
#define PROF__SELF_STRIDE ((sizeof(prof__thread) + 63) & ~(size_t)63)
#define PROF__SELF_MAP ((size_t)16384)
static prof__thread *prof__selves; /* all records */
static uint32_t prof__selves_free; /* how many there are, at least */

/* The record of all threads that cannot have one, or have none any more. It is always busy, so that what they record is
   lost. */
static prof__thread *prof__nobody(void)
{
    static prof__thread nobody;
    PROF__STORE(&nobody.gate, PROF__BUSY);
    PROF__STORE(&nobody.exits, PROF__EXITS);
    return &nobody;
}

static prof__thread *prof__self_take(void)
{
    for (prof__thread *each = PROF__ACQUIRE(&prof__selves); each && PROF__LOAD(&prof__selves_free); each = each->next) {
        if (PROF__LOAD(&each->taken) || __atomic_exchange_n(&each->taken, 1u, __ATOMIC_ACQUIRE)) continue;
        __atomic_fetch_sub(&prof__selves_free, 1u, __ATOMIC_RELAXED);
        prof__clear(each, offsetof(prof__thread, next));
        each->gate = PROF__SHUT; /* the generation may be 0: see there */
        return each;
    }
    char *map = (char *)mmap(NULL, PROF__SELF_MAP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == (char *)MAP_FAILED) return NULL;
    prof__thread *first = (prof__thread *)(void *)map, *last = first;
    uint32_t more = 0;
    first->taken = first->first = 1;
    first->gate = PROF__SHUT;
    for (size_t at = PROF__SELF_STRIDE; at + sizeof *first <= PROF__SELF_MAP; at += PROF__SELF_STRIDE, ++more)
        last = last->next = (prof__thread *)(void *)(map + at);
    last->next = PROF__LOAD(&prof__selves);
    while (!__atomic_compare_exchange_n(&prof__selves, &last->next, first, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
    __atomic_fetch_add(&prof__selves_free, more, __ATOMIC_RELAXED);
    return first;
}

static void prof__self_free(prof__thread *self)
{
    PROF__RELEASE(&self->taken, 0u);
    __atomic_fetch_add(&prof__selves_free, 1u, __ATOMIC_RELAXED);
}

/* Gives the thread a record, at its first scope, or at that of a signal handler which interrupts it. */
static PROF__COLD prof__thread *prof__self_make(void)
{
    prof__thread *none = NULL, *self;
    if (!prof__is_whole()) return prof__nobody();
    PROF__ERRNO_SAVE();
    self = prof__self_take();
    if (self && !__atomic_compare_exchange_n(&prof__self_here, &none, self, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        prof__self_free(self);
        self = none;
    } else if (self && prof__exit_key_made) {
        prof__on_exit_of_thread(self);
    }
    PROF__ERRNO_RESTORE();
    return self ? self : prof__nobody();
}

/* Called at the end of a destructor of the thread. The third one releases the record. */
static void prof__self_leaves(prof__thread *self)
{
    if (self->exits < PROF__EXITS) {
        prof__on_exit_of_thread(self);
        return;
    }
    prof__self_here = prof__nobody();
    prof__self_free(self);
}

/* The library is unloaded: no thread has a record any more. */
static void prof__selves_unmap(void)
{
    prof__thread *each = prof__selves;
    prof__selves = prof__self_here = NULL;
    prof__selves_free = 0;
    while (each) {
        void *map = each;
        for (each = each->next; each && !each->first;) each = each->next;
        munmap(map, PROF__SELF_MAP);
    }
}
#elif !defined(PROF_FREESTANDING)
static void prof__self_leaves(prof__thread *self) { (void)self; }
#endif
