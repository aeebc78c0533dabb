// ntff/runtime: The wrappers of the runtime's functions. Refuses captures that exclude each other, and explains errors.
#ifndef PROF__NTFF_RUNTIME_H
#define PROF__NTFF_RUNTIME_H
#include "ground/errors.h"
#include "ground/threads.h"
#include "ntff/api.h"
#include "ntff/api_runtime.h"
#include "ntff/defaults.h"
#include "ntff/table.h"

/*-- RUNTIME ---------------------------------------------------------------------------------------------- >>runtime --
   The word prof__ntff_captures says which captures are open, and in which process. The process matters because the
   child of a fork() inherits the word, but not the runtime's threads. A function that begins a capture sets the
   capture's bit before it calls the runtime. */

enum {
    PROF__NTFF_INSPECT = 1,
    PROF__NTFF_CONTINUOUS = 2,
    PROF__NTFF_SYS_TRACE = 4,
    PROF__NTFF_TRACE = 8,
    PROF__NTFF_WITH_SYSTEM = 16, /* the inspect session has a system profile */
    PROF__NTFF_WITH_DEVICE = 32  /* the inspect session has a device profile */
};
static uint64_t prof__ntff_captures; /* the id of the process << 32 | bits of the captures */

static const char *prof__ntff_capture_name(unsigned bit)
{
    return bit & PROF__NTFF_INSPECT      ? "an inspect session"
           : bit & PROF__NTFF_CONTINUOUS ? "a continuous profile"
           : bit & PROF__NTFF_SYS_TRACE  ? "a system trace"
                                         : "a trace";
}

static unsigned prof__ntff_bit(int role)
{
    switch (role) {
    case PROF_NTFF_BEGINS_INSPECT:
    case PROF_NTFF_BEGINS_OPTIONS:
    case PROF_NTFF_ENDS_INSPECT: return PROF__NTFF_INSPECT;
    case PROF_NTFF_BEGINS_CONTINUOUS:
    case PROF_NTFF_ENDS_CONTINUOUS: return PROF__NTFF_CONTINUOUS;
    case PROF_NTFF_BEGINS_SYS_TRACE:
    case PROF_NTFF_ENDS_SYS_TRACE: return PROF__NTFF_SYS_TRACE;
    case PROF_NTFF_BEGINS_TRACE:
    case PROF_NTFF_ENDS_TRACE: return PROF__NTFF_TRACE;
    default: return 0;
    }
}

static int prof__ntff_begins(int role) { return role >= PROF_NTFF_BEGINS_INSPECT && role <= PROF_NTFF_BEGINS_TRACE; }
static int prof__ntff_ends(int role) { return role >= PROF_NTFF_ENDS_INSPECT && role <= PROF_NTFF_ENDS_TRACE; }

static void prof__ntff_captures_change(unsigned set, unsigned clear)
{
    uint64_t now = PROF__LOAD(&prof__ntff_captures), next;
    do {
        next = (now & 0xFFFFFFFFu & ~(uint64_t)clear) | set;
        if (next) next |= prof__process_id() << 32;
    } while (!__atomic_compare_exchange_n(&prof__ntff_captures, &now, next, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
}

/* Reads a switch of Neuron from the environment. As the runtime does in nrt_init(), reads it in set-user-id programs,
   too. */
static int prof__ntff_env_on(const char *name, int standard)
{
    const char *text = getenv(name);
    return text && *text ? strcmp(text, "0") != 0 : standard;
}

static prof_status prof__ntff_env_taken(const char *name)
{
    return prof__fail(PROF_INVALID_STATE,
                      "%s: NEURON_RT_INSPECT_ENABLE=1 in the environment already captures: unset it, or "
                                          "leave the capture to it", name);
}

/* Refuses captures that NEURON_RT_INSPECT_ENABLE=1 excludes. With it, the runtime captures from nrt_init() on, and
   allows no second capture of that kind. */
static prof_status prof__ntff_env_check(const char *name, int role)
{
    int taken = prof__ntff_env_on("NEURON_RT_INSPECT_ENABLE", 0);
    /* AWS documents that nrt_inspect_begin() follows the environment, and that the function with options ignores it. So
       neither is refused here; the runtime refuses what it cannot begin. */
    if (role == PROF_NTFF_BEGINS_INSPECT || role == PROF_NTFF_BEGINS_OPTIONS || role == PROF_NTFF_BEGINS_TRACE)
        return PROF_OK;
    if (role == PROF_NTFF_BEGINS_SYS_TRACE) taken = taken && prof__ntff_env_on("NEURON_RT_INSPECT_SYSTEM_PROFILE", 1);
    if (role == PROF_NTFF_BEGINS_CONTINUOUS) taken = taken && prof__ntff_env_on("NEURON_RT_INSPECT_DEVICE_PROFILE", 0);
    return taken ? prof__ntff_env_taken(name) : PROF_OK;
}

/* Refuses a capture that excludes an open one. open: bits of the open captures. */
static prof_status prof__ntff_begin_check(const char *name, int role, unsigned open)
{
    unsigned bit = prof__ntff_bit(role);
    if (open & bit)
        return prof__fail(PROF_INVALID_STATE, "%s: %s is open already: end it first", name,
                          prof__ntff_capture_name(bit));
    if (bit == PROF__NTFF_SYS_TRACE && open & PROF__NTFF_WITH_SYSTEM)
        return prof__fail(PROF_INVALID_STATE, "%s: the inspect session captures the system profile: end it first",
                          name);
    if (bit == PROF__NTFF_CONTINUOUS && open & PROF__NTFF_WITH_DEVICE)
        return prof__fail(PROF_INVALID_STATE, "%s: the inspect session captures the device profile: end it first",
                          name);
    return prof__ntff_env_check(name, role);
}

/* Checks whether a function that concerns captures may be called now, and sets the bit of a capture that it begins. */
static prof_status prof__ntff_role(const char *name, int role)
{
    uint64_t now = PROF__ACQUIRE(&prof__ntff_captures), process = prof__process_id() & 0xFFFFFFFFu;
    prof_status status = PROF_OK;
    do {
        unsigned open = (unsigned)now;
        if (open && now >> 32 != process)
            return prof__fail(PROF_INVALID_STATE, "%s: %s is open in process %u, and this is a child of its fork()",
                              name,
                              prof__ntff_capture_name(open), (unsigned)(now >> 32));
        if (role == PROF_NTFF_CLOSES && open)
            return prof__fail(PROF_INVALID_STATE, "%s: %s is open: end it first, or it is lost", name,
                              prof__ntff_capture_name(open));
        if (!prof__ntff_begins(role)) return PROF_OK;
        status = prof__ntff_begin_check(name, role, open);
        if (status) return status;
    } while (!__atomic_compare_exchange_n(&prof__ntff_captures, &now,
                                          process << 32 | (unsigned)now | prof__ntff_bit(role), 0, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE));
    return PROF_OK;
}

/* Gets the table of functions. Returns an error if the runtime lacks the function, or the call must be refused. */
static prof_status prof__ntff_enter(const char *name, size_t field, int role, const prof__ntff_api **api)
{
    prof__ntff_status = 0;
    *api = prof__ntff_get();
    if (!*api) return PROF_UNSUPPORTED; /* prof__ntff_get() has set prof_error() */
    if (!prof__ntff_symbol(*api, field))
        return prof__fail(PROF_UNSUPPORTED, "%s: this runtime does not have it (%s, %.100s)",
                          name, (*api)->version, (*api)->path);
    *api = (*api)->front;
    return role ? prof__ntff_role(name, role) : PROF_OK;
}

static const char *prof__ntff_hint(unsigned status, int role)
{
    if (status == 13) return ": call nrt_init() first, or run one operation of the framework, which does";
    if (status == 14)
        return prof__ntff_ends(role) ? ": too late, captures end before nrt_close()" : ": not after nrt_close()";
    if (status == 4 || status == 11) return "";
    switch (role) {
    case PROF_NTFF_BEGINS_OPTIONS:
        if (prof__ntff_nothing)
            return ": the options enable nothing: call nrt_inspect_config_set_enable_inspect(options, true)";
        if (status == 2) return ": an option is not valid";
        return prof__ntff_hint(status, PROF_NTFF_BEGINS_INSPECT);
    case PROF_NTFF_BEGINS_INSPECT:
        if (status == 2 && !prof__ntff_env_on("NEURON_RT_INSPECT_ENABLE", 0))
            return ": it takes its options from the environment, where NEURON_RT_INSPECT_ENABLE is not 1";
        return ": is another capture open, of the framework's profiler, the environment, or a system trace?";
    case PROF_NTFF_BEGINS_SYS_TRACE:
        return ": is a system profile open, of the framework's profiler or the environment?";
    case PROF_NTFF_BEGINS_CONTINUOUS:
        return ": not with an inspect session's device profile, nor asynchronous execution";
    default: return "";
    }
}

static prof_status prof__ntff_leave(const char *name, int role, unsigned status)
{
    prof__ntff_status = status;
    if (prof__ntff_begins(role) && status) prof__ntff_captures_change(0, prof__ntff_bit(role));
    if (prof__ntff_ends(role)) /* after a failure, too, because nothing tells what is still open */
        prof__ntff_captures_change(0, role == PROF_NTFF_ENDS_INSPECT
                                          ? PROF__NTFF_INSPECT | PROF__NTFF_WITH_SYSTEM | PROF__NTFF_WITH_DEVICE
                                          : prof__ntff_bit(role));
    if (!status) return PROF_OK;
    if (status == 1 && role == PROF_NTFF_BEGINS_OPTIONS && prof__ntff_env_on("NEURON_RT_INSPECT_ENABLE", 0))
        return prof__ntff_env_taken(name);
    return prof__fail(status == 2 || status == 3      ? PROF_INVALID_ARGUMENT
                      : status == 4 || status == 11   ? PROF_NO_MEMORY
                      : status == 13 || status == 14  ? PROF_INVALID_STATE
                                                      : PROF_IO,
                      "%s: %s (%u)%s", name, prof_ntff_nrt_status_name(status), status, prof__ntff_hint(status, role));
}

#define PROF__NTFF_CALL_status(name, call, role) return prof__ntff_leave(name, role, (unsigned)(call));
#define PROF__NTFF_CALL_nothing(name, call, role) \
    call;                                      \
    return prof__ntff_leave(name, role, 0);
#define PROF__NTFF_DEFINE(result, name, parameters, arguments, role)                                           \
    PROF_DEF prof_status prof_ntff_##name parameters                                                           \
    {                                                                                                          \
        const prof__ntff_api *api;                                                                             \
        prof_status status = prof__ntff_enter("nrt_" #name, offsetof(prof__ntff_api, name), role, &api);       \
        if (status) return status;                                                                             \
        PROF__NTFF_CALL_##result("nrt_" #name, api->name arguments, role)                                      \
    }
#define PROF__NTFF_DEFINE_status PROF__NTFF_DEFINE
#define PROF__NTFF_DEFINE_nothing PROF__NTFF_DEFINE
#define PROF__NTFF_DEFINE_text(result, name, parameters, arguments, role) /* defined above */
#define PROF__NTFF_DEFINE_ANY(result, name, parameters, arguments, role) \
    PROF__NTFF_DEFINE_##result(result, name, parameters, arguments, role)
PROF_NTFF_TABLE(PROF__NTFF_DEFINE_ANY)

#endif /* PROF__NTFF_RUNTIME_H */
