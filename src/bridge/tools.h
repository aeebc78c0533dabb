// bridge/tools: The headers of the tools, and compile-time options.
#ifndef PROF__BRIDGE_TOOLS_H
#define PROF__BRIDGE_TOOLS_H

#ifdef PROF_FREESTANDING
#error "prof_bridge.h: PROF_WITH_ITT, PROF_WITH_NVTX and PROF_WITH_SDT need a system: not with PROF_FREESTANDING"
#endif
#ifndef PROF__BRIDGED
#define PROF__BRIDGED 1 /* for a module that is compiled alone: prof.h defines it if a tool is wanted */
#endif
#ifndef PROF_BRIDGE_DOMAIN
#define PROF_BRIDGE_DOMAIN "prof"
#endif
#ifndef PROF_BRIDGE_DEPTH
#define PROF_BRIDGE_DEPTH 128
#endif
#ifndef PROF_BRIDGE_NAMES
#define PROF_BRIDGE_NAMES 4096
#endif
#ifndef PROF_VSNPRINTF
#define PROF_VSNPRINTF vsnprintf
#endif

#ifndef PROF_FREESTANDING /* with PROF_FREESTANDING, the error above says enough */
/* The headers of the tools cause warnings that prof's own do not. */
#pragma GCC diagnostic push
#ifdef __clang__
#pragma GCC diagnostic ignored "-Weverything"
#endif
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-variable"
#ifdef PROF_WITH_ITT
#include <ittnotify.h>
#endif
#ifdef PROF_WITH_NVTX
#include <nvtx3/nvToolsExt.h>
#endif
#ifdef PROF_WITH_SDT
#ifndef __ELF__
#error "prof_bridge.h: PROF_WITH_SDT needs ELF and <sys/sdt.h>: Linux or a BSD"
#endif
#if defined(_SYS_SDT_H) && !defined(_SDT_HAS_SEMAPHORES)
#error "prof_bridge.h: PROF_WITH_SDT: in the file with PROF_IMPLEMENTATION, include prof.h before <sys/sdt.h>"
#endif
#ifndef _SDT_HAS_SEMAPHORES
#define _SDT_HAS_SEMAPHORES 1
#endif
#include <sys/sdt.h>
#endif
#pragma GCC diagnostic pop
#endif

#endif /* PROF__BRIDGE_TOOLS_H */
