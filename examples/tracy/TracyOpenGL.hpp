// Zones on a GPU with OpenGL: not recorded, because prof does not read the GPU's clock. Pass its times to a device of
// prof.h instead: examples/device.c.
#ifndef PROF_TRACY_OPENGL_HPP
#define PROF_TRACY_OPENGL_HPP

#include "../tracy.hpp"

#define TracyGpuContext
#define TracyGpuContextName(name, size)
#define TracyGpuNamedZone(variable, name, active)
#define TracyGpuNamedZoneC(variable, name, color, active)
#define TracyGpuZone(name)
#define TracyGpuZoneC(name, color)
#define TracyGpuZoneTransient(variable, name, active)
#define TracyGpuCollect
#define TracyGpuNamedZoneS(variable, name, depth, active)
#define TracyGpuNamedZoneCS(variable, name, color, depth, active)
#define TracyGpuZoneS(name, depth)
#define TracyGpuZoneCS(name, color, depth)
#define TracyGpuZoneTransientS(variable, name, depth, active)

namespace tracy {
class GpuCtxScope {
public:
    GpuCtxScope(const SourceLocationData *, bool) {}
    GpuCtxScope(const SourceLocationData *, int32_t, bool) {}
};
} // namespace tracy
#endif
