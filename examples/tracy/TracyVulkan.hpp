// Tracy's zones of Vulkan: not recorded. Tracy's context is made of other objects than prof_vulkan.h's: PROFILE_VK_SCOPE of
// that header records them.
#ifndef PROF_TRACY_VULKAN_HPP
#define PROF_TRACY_VULKAN_HPP

#include "../tracy.hpp"

#define TracyVkContext(...) nullptr
#define TracyVkContextCalibrated(...) nullptr
#define TracyVkContextHostCalibrated(...) nullptr
#define TracyVkDestroy(context)
#define TracyVkContextName(context, name, size)
#define TracyVkNamedZone(context, variable, buffer, name, active)
#define TracyVkNamedZoneC(context, variable, buffer, name, color, active)
#define TracyVkZone(context, buffer, name)
#define TracyVkZoneC(context, buffer, name, color)
#define TracyVkZoneTransient(context, variable, buffer, name, active)
#define TracyVkCollect(context, buffer)
#define TracyVkCollectHost(context)
#define TracyVkNamedZoneS(context, variable, buffer, name, depth, active)
#define TracyVkNamedZoneCS(context, variable, buffer, name, color, depth, active)
#define TracyVkZoneS(context, buffer, name, depth)
#define TracyVkZoneCS(context, buffer, name, color, depth)
#define TracyVkZoneTransientS(context, variable, buffer, name, depth, active)

namespace tracy {
class VkCtxScope {};
} // namespace tracy
typedef void *TracyVkCtx;
#endif
