/* XRay of LLVM, flight data recorder mode: a function with sleds, which are patched at the start. */
#include <xray/xray_interface.h>
#include <xray/xray_log_interface.h>

[[clang::xray_always_instrument]] static void traced(int passes);

static int start()
{
    return __xray_log_select_mode("xray-fdr") != XRAY_REGISTRATION_OK ||
           __xray_log_init_mode("xray-fdr", "buffer_size=16384:buffer_max=1024:no_file_flush=true") !=
               XRAY_LOG_INITIALIZED ||
           __xray_patch() != XRayPatchingStatus::SUCCESS;
}

#define PEER_START() start()
#define PEER_SCOPE(work) traced(passes)
#include "loop.h"

static __attribute__((noinline)) void traced(int passes) { WORK(passes); }
