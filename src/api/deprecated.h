// api/deprecated: Old spellings, which stay for one release.
#ifndef PROF__API_DEPRECATED_H
#define PROF__API_DEPRECATED_H
#include "api/control.h"

/*-- DEPRECATED ---------------------------------------------------------------------------------------- >>deprecated --
   Old spellings. They do what they did, and will be gone in version 0.3. Fields of prof_config: save_last,
   save_every. */

/* prof_save_last_ns(), in seconds. */
#define prof_save_last(path, seconds) prof_save_last_ns(path, PROF__TO(uint64_t, PROF__TO(int64_t, (seconds) * 1e9)))

#endif /* PROF__API_DEPRECATED_H */
