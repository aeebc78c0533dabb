// system/api: Declarations.
#ifndef PROF__SYSTEM_API_H
#define PROF__SYSTEM_API_H
#include "api/macros.h"
#include "api/options.h"
#include "api/types.h"

#if PROF_ENABLE
/* Returns PROF_OK if the running session records what its configuration asked for with config.switches,
   config.counters (those that the system tells) or config.system; else, with the reason in prof_error(),
   PROF_UNSUPPORTED if the system refuses it, or PROF_INVALID_STATE if no session runs or it asked for nothing. Any
   thread may call it. */
PROF__API prof_status prof_system_status(void);
#else
#define prof_system_status() PROF__STRIPPED(PROF_OK, (void)0)
#endif

#endif /* PROF__SYSTEM_API_H */
