// record/bridge: The hooks for prof_bridge.h, which sends events to other tools. Without a PROF_WITH_... they are
// empty.
#ifndef PROF__RECORD_BRIDGE_H
#define PROF__RECORD_BRIDGE_H
#include "ground/lock.h"
#include "ground/signals.h"
#include "ground/threads.h"
#include "record/self.h"
#include "record/state.h"
#include "record/thread.h"

/*-- OTHER TOOLS ------------------------------------------------------------------------------------------ >>bridge --
   The recorder calls these hooks after it has recorded an event and released the thread's write lock. So other tools
   may call prof again. Without a PROF_WITH_... switch the hooks expand to nothing. */

#ifdef PROF__BRIDGED
#ifdef __cplusplus
} /* extern "C" */
#endif
#define PROF__BRIDGE_HERE
#include "prof_bridge.h"
#ifdef __cplusplus
extern "C" {
#endif
#else
#define PROF__BRIDGE_BEGIN(site, text, token) ((void)0) /* token 0: neither recorded nor sent to other tools */
#define PROF__BRIDGE_BEGIN_NUMBER(site, key, token, type, number) ((void)0) /* a begin with its first argument */
#define PROF__BRIDGE_UNSCOPED(track, token) ((void)0) /* the new scope is unscoped: PROFILE_END ends it */
#define PROF__BRIDGE_END(self, token) ((void)0)
#define PROF__BRIDGE_ARG(site, type, number) ((void)0)
#define PROF__BRIDGE_ARG_TEXT(site, text) ((void)0)
#define PROF__BRIDGE_MARK(site, text) ((void)0)
#define PROF__BRIDGE_WHOLE(otherwise) ((void)0) /* otherwise: if some tool needs the whole text of a name */
#define PROF__BRIDGE_COUNTER(site, type, number) ((void)0)
#define PROF__BRIDGE_COUNTER_GONE(site) ((void)0) /* the counter is destroyed */
#define PROF__BRIDGE_FRAME(site) ((void)0)
#define PROF__BRIDGE_EVENT(site, type, detail, object) ((void)0)
#define PROF__BRIDGE_LOG_KEEP(list) ((void)0) /* keeps the values, before the recorder fetches them */
#define PROF__BRIDGE_LOG(site, severity, format) ((void)0) /* sends the message with the kept values */
#define PROF__BRIDGE_THREAD(name) ((void)0)
#define PROF__BRIDGE_SWITCH(self) ((void)0)        /* another fiber runs on this thread now */
#define PROF__BRIDGE_FORGET(self, track) ((void)0) /* a thread or fiber ends */
#define PROF__BRIDGE_PAUSE() ((void)0)             /* pause or resume */
#define PROF__BRIDGE_START() ((void)0)             /* before prof_start() starts */
#define PROF__BRIDGE_STARTED() ((void)0)           /* after prof_start() has started */
#define PROF__BRIDGE_STOP() ((void)0)
#define PROF__BRIDGE_CHILD() ((void)0)             /* in the child of a fork */
#define PROF__BRIDGE_UNLOAD() ((void)0)
#endif

#endif /* PROF__RECORD_BRIDGE_H */
