// record/bridge: Hooks for prof_bridge.h; nothing without PROF_WITH_...
#ifndef PROF__RECORD_BRIDGE_H
#define PROF__RECORD_BRIDGE_H
#include "ground/lock.h"
#include "ground/signals.h"
#include "ground/threads.h"
#include "record/self.h"
#include "record/state.h"
#include "record/thread.h"

/*-- OTHER TOOLS ------------------------------------------------------------------------------------------ >>bridge --
   The places where the recorder calls prof_bridge.h for other tools, after it has recorded an event and opened the gate
   for signal handlers again. Without PROF_WITH_... the lines with PROF__BRIDGE_ are empty. */

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
#define PROF__BRIDGE_BEGIN(site, text, token) ((void)0) /* token 0: not recorded, and not sent to other tools */
#define PROF__BRIDGE_BEGIN_NUMBER(site, key, token, type, number) ((void)0) /* with its first argument */
#define PROF__BRIDGE_LOOSE(track, token) ((void)0) /* the scope that has just begun ends with PROFILE_END */
#define PROF__BRIDGE_END(self, token) ((void)0)
#define PROF__BRIDGE_ARG(site, type, number) ((void)0)
#define PROF__BRIDGE_ARG_TEXT(site, text) ((void)0)
#define PROF__BRIDGE_MARK(site, text) ((void)0)
#define PROF__BRIDGE_COUNTER(site, type, number) ((void)0)
#define PROF__BRIDGE_COUNTER_GONE(site) ((void)0) /* it is destroyed */
#define PROF__BRIDGE_FRAME(site) ((void)0)
#define PROF__BRIDGE_EVENT(site, type, detail, object) ((void)0)
#define PROF__BRIDGE_LOG_KEEP(list) ((void)0) /* the values, before they are fetched from the list */
#define PROF__BRIDGE_LOG(site, severity, format) ((void)0) /* of these values */
#define PROF__BRIDGE_THREAD(name) ((void)0)
#define PROF__BRIDGE_SWITCH(self) ((void)0)        /* another fiber runs on this thread */
#define PROF__BRIDGE_FORGET(self, track) ((void)0) /* of a thread or fiber that ends */
#define PROF__BRIDGE_PAUSE() ((void)0)             /* or resume */
#define PROF__BRIDGE_START() ((void)0)             /* before prof_start(), */
#define PROF__BRIDGE_STARTED() ((void)0)           /* and after it */
#define PROF__BRIDGE_STOP() ((void)0)
#define PROF__BRIDGE_CHILD() ((void)0)             /* of a fork */
#define PROF__BRIDGE_UNLOAD() ((void)0)
#endif

#endif /* PROF__RECORD_BRIDGE_H */
