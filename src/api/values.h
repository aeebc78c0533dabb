// api/values: Types of what is recorded: values, events, severities. Both the recorder and the reader use them.
#ifndef PROF__API_VALUES_H
#define PROF__API_VALUES_H
#include "api/types.h"

/*-- VALUES ---------------------------------------------------------------------------------------------- >>values --*/

typedef struct prof_trace prof_trace; /* see prof_read.h */

/* What a call site records, besides the kind of event. */
typedef enum prof_role {
    PROF_ROLE_NONE = 0,
    PROF_ROLE_STEP,         /* a scope that is one step of a loop; its argument step_num is the number */
    PROF_ROLE_THROUGHPUT,   /* a scope that moved data; its argument bytes says how much */
    PROF_ROLE_SYNC,         /* a scope that waits for a device before it ends */
    PROF_ROLE_MARK_GLOBAL,  /* an instant that concerns all processes */
    PROF_ROLE_MARK_PROCESS, /* an instant that concerns this process */
    PROF_ROLE_MARK_TASK,    /* an instant that concerns a task */
    PROF_ROLE_MARK_MARKER,  /* an instant that concerns the point alone; without a role, its thread */
    PROF_ROLE_TASK,         /* a span, or scope, of prof_task_create() */
    PROF_ROLE_DEVICE,       /* events of a device; its name is their category */
    PROF_ROLE_FRAME,        /* a span of prof_frame_create() */
    PROF_ROLE_MEMORY,       /* a PROFILE_MEMORY_SCOPE, PROFILE_ALLOC or PROFILE_FREE */
    PROF_ROLE_LOCK,         /* a PROFILE_LOCK_WAIT, _ACQUIRE or _RELEASE */
    PROF_ROLE_RANGE,        /* a scope of prof_range_create() */
    PROF_ROLE_WAIT,         /* a scope that is a wait in a call of the C library: see PROF_WRAP_WAITS */
    PROF_ROLE_SHARED,       /* a point of a flow whose id means the same in all processes: see PROFILE_FLOW_OUT_SHARED
                               */
    PROF_ROLE_COUNT
} prof_role;

/* The type of a value. */
typedef enum prof_value_type {
    PROF_VALUE_NONE = 0,
    PROF_VALUE_INT,      /* signed */
    PROF_VALUE_UINT,     /* unsigned */
    PROF_VALUE_DOUBLE,   /* IEEE 754 */
    PROF_VALUE_BOOL,     /* 0 or not */
    PROF_VALUE_POINTER,  /* an address */
    PROF_VALUE_STRING    /* text */
} prof_value_type;

typedef struct prof_value {
    prof_value_type type;
    int cut; /* 1: the string was longer than PROF_MAX_TEXT, and its end is missing */
    union {
        int64_t i;          /* INT */
        uint64_t u;         /* UINT, BOOL, POINTER */
        double d;           /* DOUBLE */
        const char *string; /* STRING, terminated, valid until the cursor moves */
    } as;
} prof_value;

typedef struct prof_arg {
    const char *key; /* valid until the cursor moves */
    prof_value value;
} prof_arg;

typedef uint64_t prof_scope; /* a handle of PROFILE_SCOPE_AS(); 0: the scope is off */

/* The types of events. Those from PROF_EVENT_SPAN_BEGIN on are instants on the track of their thread, with an object. A
   PROF_EVENT_SPAN_BEGIN is also the begin of a scope that ended after an enclosing one (in begin a, begin b, end a, end
   b: b): its site->kind is PROF__KIND_BEGIN, and statistics count it as a scope. Images hold these numbers: they never
   change. */
typedef enum prof_event_type {
    PROF_EVENT_SCOPE = 0,    /* duration_ns, depth, flags, args */
    PROF_EVENT_MARK,         /* an instant; args */
    PROF_EVENT_COUNTER,      /* value */
    PROF_EVENT_FRAME,        /* the boundary between two frames; duration_ns: since the boundary before, 0 for the
                                first; detail: the number of the frame that it ends, counted for each name and track
                                from 1 on, also those that a ring has overwritten; 0 for the first boundary */
    PROF_EVENT_LOST,         /* value.as.u scopes or other events could not be recorded before this point */
    PROF_EVENT_SPAN_BEGIN,   /* object: the span's id, the same for its begin and end, on any threads; args */
    PROF_EVENT_SPAN_MARK,    /* object: the span's id; args */
    PROF_EVENT_SPAN_END,     /* object: the span's id; args */
    PROF_EVENT_FLOW_OUT,     /* object: the flow's id; args. An arrow leads from the scope around it ... */
    PROF_EVENT_FLOW_STEP,    /* object: the flow's id; args */
    PROF_EVENT_FLOW_IN,      /* object: the flow's id; args. ... to the scope around this one */
    PROF_EVENT_ALLOC,        /* object: the address; detail: bytes */
    PROF_EVENT_FREE,         /* object: the address; detail: 1: of this pool, 2: it was freed some time ago */
    PROF_EVENT_LOCK_WAIT,    /* object: the lock's address; detail: 1: another thread had it */
    PROF_EVENT_LOCK_ACQUIRE, /* object: the lock's address */
    PROF_EVENT_LOCK_RELEASE, /* object: the lock's address */
    PROF_EVENT_LOG,          /* detail: prof_severity, from 0 (debug) to 4 (fatal); value: the message; args: its
                                values, without keys */
    PROF_EVENT_TYPE_COUNT
} prof_event_type;

/* The severity of a log message. Images hold these numbers. */
typedef enum prof_severity {
    PROF_LOG_DEBUG = 0, /* has level 3: not recorded unless asked for */
    PROF_LOG_INFO,      /* level 2 */
    PROF_LOG_WARNING,   /* level 1, like the next two */
    PROF_LOG_ERROR,
    PROF_LOG_FATAL      /* is only recorded: the program goes on */
} prof_severity;

#endif /* PROF__API_VALUES_H */
