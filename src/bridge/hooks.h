// bridge/hooks: The hooks that the recorder calls.
#ifndef PROF__BRIDGE_HOOKS_H
#define PROF__BRIDGE_HOOKS_H
#include "bridge/tools.h"
#include "api/options.h"
#include "api/values.h"
#include "ground/base.h"
#include "record/self.h"
#include "bridge/control.h"
#include "bridge/instants.h"
#include "bridge/scopes.h"
#include "bridge/sdt.h"
#include "bridge/state.h"

/*-- hooks, which prof.h calls. Without a tool, each costs a load and a branch --*/

#define PROF__BRIDGE_WANTED(probe, other)                                                                              \
    PROF__UNLIKELY(PROF__LOAD(&prof__bridge_tools) | (uint32_t)PROF__SDT_WANTED(probe) |                               \
                   (uint32_t)PROF__SDT_WANTED(other))
#define PROF__BRIDGE_BEGIN(site, text, token)                                                              \
    (PROF__BRIDGE_WANTED(scope_begin, scope_end) && (token) >> 60                                          \
         ? prof__bridge_scope_begin(site, text, token, PROF_VALUE_NONE, 0) : (void)0)
#define PROF__BRIDGE_BEGIN_NUMBER(site, key, token, type, number)                                          \
    do {                                                                                                   \
        if (PROF__BRIDGE_WANTED(scope_begin, scope_end) && (token) >> 60)                                  \
            prof__bridge_scope_begin(site, NULL, token, type, number);                                     \
        if (PROF__BRIDGE_WANTED_ARG(arg) && (token) >> 60) prof__bridge_arg(key, type, number, NULL);      \
    } while (0)
#define PROF__BRIDGE_LOG_KEEP(list)                                                                        \
    prof__log_list prof__again;                                                                            \
    va_copy(prof__again.values, (list)->values)
#define PROF__BRIDGE_LOG(site, severity, format)                                                           \
    do {                                                                                                   \
        if (PROF__BRIDGE_WANTED(log, log)) prof__bridge_log(site, severity, format, prof__again.values);   \
        va_end(prof__again.values);                                                                        \
    } while (0)
#define PROF__BRIDGE_UNSCOPED(track, token) prof__bridge_unscoped(track, token)
#define PROF__BRIDGE_END(self, token) prof__bridge_end(self, token)
#define PROF__BRIDGE_WANTED_ARG(probe)                                                                     \
    PROF__UNLIKELY((PROF__LOAD(&prof__bridge_tools) & PROF__BRIDGE_ITT) | (uint32_t)PROF__SDT_WANTED(probe))
#define PROF__BRIDGE_ARG(site, type, number)                                                               \
    (PROF__BRIDGE_WANTED_ARG(arg) ? prof__bridge_arg(site, type, number, NULL) : (void)0)
#define PROF__BRIDGE_ARG_TEXT(site, text)                                                                  \
    (PROF__BRIDGE_WANTED_ARG(arg_string)                                                                   \
         ? prof__bridge_arg(site, PROF_VALUE_STRING, 0, (text) ? (text) : "(null)") : (void)0)
#define PROF__BRIDGE_MARK(site, text) (PROF__BRIDGE_WANTED(mark, mark) ? prof__bridge_mark(site, text) : (void)0)
#define PROF__BRIDGE_WHOLE(otherwise)                                                                      \
    do {                                                                                                   \
        if (PROF__BRIDGE_WANTED(scope_begin, mark)) otherwise;                                             \
    } while (0)
#define PROF__BRIDGE_COUNTER_GONE(site) prof__bridge_counter_gone(site)
#define PROF__BRIDGE_COUNTER(site, type, number)                                                           \
    (PROF__BRIDGE_WANTED(counter, counter_double) ? prof__bridge_counter(site, type, number) : (void)0)
#define PROF__BRIDGE_FRAME(site) (PROF__BRIDGE_WANTED(frame, frame) ? prof__bridge_frame(site) : (void)0)
#define PROF__BRIDGE_EVENT(site, type, detail, object)                                                     \
    (PROF__BRIDGE_WANTED(event, event) ? prof__bridge_event(site, type, detail, object) : (void)0)
#define PROF__BRIDGE_THREAD(name) (PROF__BRIDGE_WANTED(thread, thread) ? prof__bridge_thread(name) : (void)0)
#define PROF__BRIDGE_SWITCH(self)                                                                          \
    (PROF__UNLIKELY((self)->bridge.fiber != (self)->fiber) ? prof__bridge_switch(self) : (void)0)
#define PROF__BRIDGE_FORGET(self, track) prof__bridge_forget(self, track)
#define PROF__BRIDGE_PAUSE() prof__bridge_follow(0)
#define PROF__BRIDGE_START() prof__bridge_start()
#define PROF__BRIDGE_STARTED() prof__bridge_leave(PROF__SELF())
#define PROF__BRIDGE_STOP() prof__bridge_follow(1)
#define PROF__BRIDGE_CHILD() ((void)(prof__bridge_lock = 0))
#define PROF__BRIDGE_UNLOAD() prof__bridge_unload()

#endif /* PROF__BRIDGE_HOOKS_H */
