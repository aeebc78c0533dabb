// record/hub: The table of this copy's functions. It is the last room, because it needs the declarations of all.
#if defined(PROF__HUBS) && !defined(PROF_STATIC)
/*-- the table of this copy: see >>copies. It is at the end because it refers to everything before. */

/* A follower calls this in its leader. */
static void prof__hub_join(prof__hub *follower)
{
    uint32_t gate = prof__state_lock();
    follower->next = prof__followers;
    if (follower->generation != prof__generation) PROF__STORE(follower->generation, PROF__LOAD(prof__generation));
    PROF__RELEASE(&prof__followers, follower);
    prof__state_unlock(gate);
}

static void prof__hub_leave(prof__hub *follower)
{
    uint32_t gate = prof__state_lock();
    for (prof__hub **at = &prof__followers; *at; at = &(*at)->next)
        if (*at == follower) {
            PROF__RELEASE(at, follower->next);
            break;
        }
    prof__state_unlock(gate);
}
#elif defined(PROF__HUBS)
static void prof__hub_join(prof__hub *follower) { (void)follower; }
static void prof__hub_leave(prof__hub *follower) { (void)follower; }
#endif

#ifdef PROF__HUBS
#ifdef PROF_STATIC
#define PROF__LAYOUT 0
#else
#ifdef PROF_NO_READER
#define PROF__TRACE_SIZE 0 /* a copy without a reader cannot make the traces of a copy with one */
#else
#define PROF__TRACE_SIZE sizeof(struct prof_trace)
#endif
/* Versions and options that differ usually differ in one of these sizes. */
#define PROF__LAYOUT                                                                                                 \
    ((uint64_t)PROF_VERSION << 48 ^ (uint64_t)sizeof(prof__hub) << 36 ^ (uint64_t)sizeof(prof_config) << 26 ^        \
     (uint64_t)PROF__TRACE_SIZE << 14 ^ (uint64_t)sizeof(struct prof_fiber) << 4 ^                                   \
     (uint64_t)(sizeof(prof_event) + sizeof(prof_writer) + sizeof(prof_callsite) + sizeof(struct prof_counter)))
#endif
#define PROF__HUB_ENTRY(name) name,
extern uint32_t prof__generation[];
PROF__HIDDEN __attribute__((__used__)) prof__hub prof__hub_here = {
    {'p', 'r', 'o', 'f', ' ', 'h', 'u', 'b'}, PROF__LAYOUT, prof__output_told, 0, prof__generation, NULL,
#if defined(PROF__SHARED) && !defined(PROF_STATIC)
    &prof__leader,
#else
    NULL,
#endif
    PROF__HUB_FUNCTIONS(PROF__HUB_ENTRY)};
#endif

#if defined(PROF__HUBS) && defined(PROF__SHARED) && !defined(PROF_STATIC)
typedef struct prof__hub_search {
    prof__hub *found;
    const char *name; /* of its module */
} prof__hub_search;

static int prof__hub_visit(const prof__loaded *loaded, size_t size, void *user)
{
    prof__hub_search *search = (prof__hub_search *)user;
    prof__hub *hub = prof__hub_of(loaded);
    (void)size;
    if (!hub || hub->layout != prof__hub_here.layout) return 0;
    search->found = hub;
    search->name = loaded->name ? loaded->name : "";
    return 1;
}

/* These exist wherever a library can be loaded later. */
extern void *prof__module_open(const char *path, int how) __asm__("dlopen") __attribute__((__weak__));
extern int prof__module_close(void *module) __asm__("dlclose") __attribute__((__weak__));
static void *prof__leader_module;

static PROF__COLD void prof__join(void)
{
    prof__hub_search search = {NULL, NULL};
    if (__atomic_exchange_n(&prof__joined, 1, __ATOMIC_ACQ_REL)) return;
    prof__hub_here.settled = 1;
    prof__loaded_each(prof__hub_visit, &search);
    if (!search.found || search.found == &prof__hub_here) return;
    /* A leader that the same call loads, because it depends on this library, is unloaded before it, or with it. */
    if (*search.name && search.found->settled && prof__module_open)
        prof__leader_module = prof__module_open(search.name, 1 | 4); /* RTLD_LAZY | RTLD_NOLOAD */
    search.found->to_prof__hub_join(&prof__hub_here);
    PROF__RELEASE(&prof__leader, search.found);
}

PROF__AT_START(101, prof__join_early);
static void prof__join_early(void) { prof__led(); }

/* The library is unloaded: it leaves its leader, or its followers become recorders of their own. */
static void prof__unjoin(void)
{
    if (prof__leader) prof__leader->to_prof__hub_leave(&prof__hub_here);
    for (prof__hub *each = prof__followers; each; each = each->next) PROF__RELEASE(each->leader, (prof__hub *)NULL);
    prof__followers = NULL;
}
/* Called after the last use of the leader. */
PROF__AT_END(101, prof__unjoin_late);
static void prof__unjoin_late(void)
{
    void *module = prof__leader_module;
    prof__leader_module = NULL;
    if (module && prof__module_close) prof__module_close(module);
}
#elif defined(PROF__SHARED)
static void prof__unjoin(void) {}
#endif
