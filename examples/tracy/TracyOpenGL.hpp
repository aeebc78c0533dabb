// Tracy's zones of OpenGL, with prof_gl.h, which the file with PROF_IMPLEMENTATION includes as well. A context is made by
// the first zone or TracyGpuCollect of a thread that has said TracyGpuContext. Colors and depths are ignored.
#ifndef PROF_TRACY_OPENGL_HPP
#define PROF_TRACY_OPENGL_HPP

#include "../../prof_gl.h"
#include "../tracy.hpp"
#ifndef PROF_TRACY_GL_LOAD
#define PROF_TRACY_GL_LOAD nullptr // a prof_gl_load, of a program that loads OpenGL by itself
#endif

namespace tracy {
struct GpuCtx { // of a thread; the program's context may end before it does, so it is never destroyed
    prof_gl *queries;
    char name[64];
    bool wanted, tried;

    prof_gl *get()
    {
        if (tried || !wanted) return queries;
        prof_gl_options options = {};
        tried = true;
        options.row = name[0] ? name : nullptr;
        queries = prof_gl_create(PROF_TRACY_GL_LOAD, &options);
        if (!queries) PROFILE_LOG(PROF_LOG_WARNING, "TracyGpuContext: %s", prof_error());
        return queries;
    }
    void Name(const char *text, uint16_t bytes)
    {
        size_t size = bytes < sizeof name ? bytes : sizeof name - 1;
        memcpy(name, text, size);
        name[size] = 0;
    }
    void Collect() { prof_gl_collect(get()); }
};
inline GpuCtx &GetGpuCtx()
{
    static thread_local GpuCtx context;
    return context;
}

class GpuCtxScope {
public:
    GpuCtxScope(const SourceLocationData *place, bool active) { begin(place->name ? place->name : place->function, active); }
    GpuCtxScope(const SourceLocationData *place, int32_t, bool active) : GpuCtxScope(place, active) {}
    GpuCtxScope(uint32_t, const char *, size_t, const char *, size_t, const char *name, size_t, bool active)
    {
        begin(name, active);
    }
    GpuCtxScope(const GpuCtxScope &) = delete;
    ~GpuCtxScope()
    {
        if (scope) prof_gl_end(queries, scope);
    }

private:
    void begin(const char *name, bool active)
    {
        queries = active ? GetGpuCtx().get() : nullptr;
        scope = queries ? prof_gl_begin(queries, name) : 0;
        (void)name;
    }
    prof_gl *queries;
    prof_gl_scope scope;
};
} // namespace tracy

#define PROF_TRACY_GPU(variable, name, active) \
    tracy::GpuCtxScope variable(0, "", 0, "", 0, name, 0, active)
#define TracyGpuContext tracy::GetGpuCtx().wanted = true
#define TracyGpuContextName(name, size) tracy::GetGpuCtx().Name(name, static_cast<uint16_t>(size))
#define TracyGpuNamedZone(variable, name, active) PROF_TRACY_GPU(variable, name, active)
#define TracyGpuNamedZoneC(variable, name, color, active) PROF_TRACY_GPU(variable, name, active)
#define TracyGpuZone(name) PROF_TRACY_GPU(___tracy_gpu_zone, name, true)
#define TracyGpuZoneC(name, color) TracyGpuZone(name)
#define TracyGpuZoneTransient(variable, name, active) PROF_TRACY_GPU(variable, name, active)
#define TracyGpuCollect tracy::GetGpuCtx().Collect()
#define TracyGpuNamedZoneS(variable, name, depth, active) PROF_TRACY_GPU(variable, name, active)
#define TracyGpuNamedZoneCS(variable, name, color, depth, active) PROF_TRACY_GPU(variable, name, active)
#define TracyGpuZoneS(name, depth) TracyGpuZone(name)
#define TracyGpuZoneCS(name, color, depth) TracyGpuZone(name)
#define TracyGpuZoneTransientS(variable, name, depth, active) PROF_TRACY_GPU(variable, name, active)
#endif
