// prof_bridge.h, assembled by src/assemble.sh. See src/prof.h. A part of the recorder: record/bridge includes it.
#include "bridge/manual.h"
#ifndef PROF_BRIDGE_H
#define PROF_BRIDGE_H
#include "prof.h"
#endif

/*== END OF HEADER ==================================================================================================*/

/* prof.h includes the rest of this header inside its implementation, where the hooks belong. */
#ifdef PROF__BRIDGE_HERE
#undef PROF__BRIDGE_HERE

#include "bridge/tools.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "bridge/hooks.h"

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF__BRIDGE_HERE */

#include "api/licence.h"
