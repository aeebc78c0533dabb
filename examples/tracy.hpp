// Tracy's macros on top of prof: a program that is marked up with them needs only another include, and one file that
// defines PROF_IMPLEMENTATION. docs/coming-from/tracy.md says what becomes of each. Take what you need, or all of it.
//
//     #include "tracy.hpp"        // instead of "tracy/Tracy.hpp"; includes tracyc.h, for files with "tracy/TracyC.h"
//
// Or change no include: with -Iexamples the folder examples/tracy has headers of Tracy's names.
#ifndef PROF_TRACY_HPP
#define PROF_TRACY_HPP

#include "../prof.hpp"
#include "tracy/common/TracyColor.hpp"
#include "tracyc.h"

namespace tracy {

inline prof_frame *frame(const char *name) { return tracyc_frame(name); }
inline prof_fiber *fiber(const char *name) { return tracyc_fiber(name); }

inline void plot_set(prof_counter *counter, float value)
{
    prof_counter_set_double(counter, static_cast<double>(value));
}
inline void plot_set(prof_counter *counter, double value) { prof_counter_set_double(counter, value); }
template <typename Integer> void plot_set(prof_counter *counter, Integer value)
{
    prof_counter_set(counter, static_cast<int64_t>(value));
}

inline void SetThreadName(const char *name) { tracyc_thread(name); }
inline void SetThreadNameWithHint(const char *name, int32_t) { tracyc_thread(name); }
inline void StartupProfiler() {}
inline void ShutdownProfiler() {}
inline bool ProfilerAvailable() { return true; }
inline bool IsProfilerStarted() { return true; }

enum class PlotFormatType : uint8_t { Number, Memory, Percentage, Watt };
enum class MessageSeverity : uint8_t { Trace, Debug, Info, Warning, Error, Fatal };
inline void log(MessageSeverity severity, size_t size, const char *text)
{
    (void)severity, (void)size, (void)text; // with PROF_ENABLE=0
    switch (severity) {
    case MessageSeverity::Trace: PROFILE_LOG(PROF_LOG_DEBUG, "%.*s", static_cast<int>(size), text); break;
    case MessageSeverity::Debug: PROFILE_LOG(PROF_LOG_DEBUG, "%.*s", static_cast<int>(size), text); break;
    case MessageSeverity::Info: PROFILE_LOG(PROF_LOG_INFO, "%.*s", static_cast<int>(size), text); break;
    case MessageSeverity::Warning: PROFILE_LOG(PROF_LOG_WARNING, "%.*s", static_cast<int>(size), text); break;
    case MessageSeverity::Error: PROFILE_LOG(PROF_LOG_ERROR, "%.*s", static_cast<int>(size), text); break;
    case MessageSeverity::Fatal: PROFILE_LOG(PROF_LOG_FATAL, "%.*s", static_cast<int>(size), text); break;
    }
}
inline void log(MessageSeverity severity, const char *text) { log(severity, strlen(text), text); }

#define TRACY_FORMATTED(active, record, ...)                              \
    do {                                                                  \
        if (!(active)) break;                                             \
        char tracy_formatted[256];                                        \
        snprintf(tracy_formatted, sizeof tracy_formatted, __VA_ARGS__);   \
        record;                                                           \
    } while (0)

// Zones that a program makes itself, and those with a variable. `active` may be known at run time.
struct SourceLocationData {
    const char *name, *function, *file;
    uint32_t line, color;
};
struct Part { // of a text
    const char *text;
    size_t bytes;
    const char *data() const { return text; }
    size_t size() const { return bytes; }
};
class ScopedZone {
public:
    explicit ScopedZone(const SourceLocationData *place, int32_t = -1, bool active = true)
    {
        const char *name = place->name ? place->name : place->function;
        if (active) zone.begin(prof::static_name(name, place->color & 0xffffff, place->file, place->line));
    }
    ScopedZone(uint32_t, const char *, size_t, const char *function, size_t function_size, const char *name,
               size_t name_size, uint32_t color, int32_t = -1, bool active = true)
    {
        const Part text = {name ? name : function, name ? name_size : function_size};
        if (active) zone.begin(text, color & 0xffffff);
    }
    ScopedZone(uint32_t line, const char *file, size_t file_size, const char *function, size_t function_size,
               const char *name, size_t name_size, int32_t depth = -1, bool active = true)
        : ScopedZone(line, file, file_size, function, function_size, name, name_size, 0u, depth, active)
    {
    }
    ScopedZone(const ScopedZone &) = delete;
    void Text(const char *text, size_t size) { PROFILE_ARG_TO_TEXT(zone.handle(), "text", text, size); }
    void Name(const char *text, size_t size) { PROFILE_ARG_TO_TEXT(zone.handle(), "name", text, size); }
    template <typename... Values> void TextFmt(const char *format, Values... values)
    {
        TRACY_FORMATTED(zone, Text(tracy_formatted, strlen(tracy_formatted)), format, values...);
    }
    template <typename... Values> void NameFmt(const char *format, Values... values)
    {
        TRACY_FORMATTED(zone, Name(tracy_formatted, strlen(tracy_formatted)), format, values...);
    }
    void Value(uint64_t value) { PROFILE_ARG_TO_U(zone.handle(), "value", value); }
    void Color(uint32_t) {}
    bool IsActive() const { return static_cast<bool>(zone); }

private:
    prof::scope zone;
};

// A lock of the program's own.
class LockableCtx {
public:
    explicit LockableCtx(const SourceLocationData *place)
        : events(prof::static_name(place->name ? place->name : place->function, 0, place->file, place->line))
    {
    }
    bool BeforeLock() { return events.wait(), true; }
    void AfterLock() { events.acquire(); }
    void AfterUnlock() { events.release(); }
    void AfterTryLock(bool acquired) { if (acquired) events.acquire(); }
    bool BeforeLockShared() { return BeforeLock(); }
    void AfterLockShared() { AfterLock(); }
    void AfterUnlockShared() { AfterUnlock(); }
    void AfterTryLockShared(bool acquired) { AfterTryLock(acquired); }
    void Mark(const SourceLocationData *) {}
    void CustomName(const char *, size_t) {}

private:
    prof::lock_events events;
};
using SharedLockableCtx = LockableCtx;
template <typename Mutex> using Lockable = prof::lockable<Mutex>;
template <typename Mutex> using SharedLockable = prof::lockable<Mutex>;
} // namespace tracy

#define TracyLockableN(type, variable, name) prof::lockable<type> variable{name}
#define TracyLockable(type, variable) TracyLockableN(type, variable, #variable)
#define TracySharedLockableN(type, variable, name) TracyLockableN(type, variable, name)
#define TracySharedLockable(type, variable) TracyLockable(type, variable)
#define LockableBase(type) prof::lockable<type>
#define SharedLockableBase(type) prof::lockable<type>
#define LockMark(variable) ((void)(variable))
#define LockableName(variable, text, size) ((void)(variable))

// Zones. Some programs write no semicolon after the first four, because Tracy has one in them.
#define ZoneScoped PROFILE_FUNCTION();
#define ZoneScopedN(name) PROFILE_SCOPE(name);
#define ZoneScopedC(color) PROFILE_FUNCTION_COLOR(color);
#define ZoneScopedNC(name, color) PROFILE_SCOPE_COLOR(name, color);
#define ZoneScopedS(depth) ZoneScoped
#define ZoneScopedNS(name, depth) ZoneScopedN(name)
#define ZoneScopedCS(color, depth) ZoneScopedC(color)
#define ZoneScopedNCS(name, color, depth) ZoneScopedNC(name, color)
#define ZoneNamedNC(variable, name, color, active)                                                 \
    static const tracy::SourceLocationData TracyConcat(tracy_place_, __LINE__) = {name, __func__, __FILE__, __LINE__, \
                                                                                  color}; \
    tracy::ScopedZone variable(&TracyConcat(tracy_place_, __LINE__), -1, active)
#define ZoneNamedN(variable, name, active) ZoneNamedNC(variable, name, 0, active)
#define ZoneNamed(variable, active) ZoneNamedNC(variable, nullptr, 0, active)
#define ZoneNamedC(variable, color, active) ZoneNamedNC(variable, nullptr, color, active)
#define ZoneTransientNC(variable, name, color, active) \
    tracy::ScopedZone variable(0, "", 0, __func__, sizeof __func__ - 1, name, strlen(name), color, -1, active)
#define ZoneTransientN(variable, name, active) ZoneTransientNC(variable, name, 0u, active)
#define ZoneTransient(variable, active) ZoneTransientN(variable, __func__, active)
#define ZoneNamedS(variable, depth, active) ZoneNamed(variable, active)
#define ZoneNamedNS(variable, name, depth, active) ZoneNamedN(variable, name, active)
#define ZoneNamedCS(variable, color, depth, active) ZoneNamedC(variable, color, active)
#define ZoneNamedNCS(variable, name, color, depth, active) ZoneNamedNC(variable, name, color, active)
#define ZoneTransientS(variable, depth, active) ZoneTransient(variable, active)
#define ZoneTransientNS(variable, name, depth, active) ZoneTransientN(variable, name, active)

// An argument belongs to the innermost scope of the thread; with a variable, to that one.
#define ZoneText(text, size) PROFILE_ARG_TEXT("text", text, size)
#define ZoneTextV(variable, text, size) variable.Text(text, size)
#define ZoneTextF(...) TRACY_FORMATTED(prof_enabled(), PROFILE_ARG_S("text", tracy_formatted), __VA_ARGS__)
#define ZoneTextVF(variable, ...) variable.TextFmt(__VA_ARGS__)
#define ZoneName(text, size) PROFILE_ARG_TEXT("name", text, size)
#define ZoneNameV(variable, text, size) variable.Name(text, size)
#define ZoneNameF(...) TRACY_FORMATTED(prof_enabled(), PROFILE_ARG_S("name", tracy_formatted), __VA_ARGS__)
#define ZoneNameVF(variable, ...) variable.NameFmt(__VA_ARGS__)
#define ZoneValue(value) PROFILE_ARG("value", value)
#define ZoneValueV(variable, value) variable.Value(static_cast<uint64_t>(value))
#define ZoneColor(color) ((void)0)
#define ZoneColorV(variable, color) variable.Color(color)
#define ZoneIsActive (prof_enabled() != 0)
#define ZoneIsActiveV(variable) variable.IsActive()

#define FrameMark PROFILE_FRAME("Frame")
#define FrameMarkNamed(name) prof_frame_start(tracy::frame(name)) // the name may be a pointer; ends the frame before
#define FrameMarkStart(name) prof_frame_start(tracy::frame(name))
#define FrameMarkEnd(name) prof_frame_stop(tracy::frame(name))
#define FrameImage(image, width, height, offset, flip) ((void)0)

#define TracyPlot(name, value)                                         \
    do {                                                               \
        static tracyc_object *tracy_last;                              \
        tracy::plot_set(tracyc_plot(&tracy_last, name), value);        \
    } while (0)
#define TracyPlotConfig(name, type, step, fill, color) ((void)0)
#define TracyMessage(text, size) PROFILE_LOG(PROF_LOG_INFO, "%.*s", static_cast<int>(size), text)
#define TracyMessageL(text) PROFILE_LOG(PROF_LOG_INFO, "%s", text)
#define TracyMessageC(text, size, color) TracyMessage(text, size)
#define TracyMessageLC(text, color) TracyMessageL(text)
#define TracyMessageS(text, size, depth) TracyMessage(text, size)
#define TracyMessageLS(text, depth) TracyMessageL(text)
#define TracyMessageCS(text, size, color, depth) TracyMessage(text, size)
#define TracyMessageLCS(text, color, depth) TracyMessageL(text)
#define TracyLogString(severity, color, depth, ...) tracy::log(severity, __VA_ARGS__)
#define TracyAppInfo(text, size) tracyc_app_info(text, size)
#define TracySetProgramName(name) prof_set_metadata("program name", name)

#define TracyAlloc(pointer, size) PROFILE_ALLOC(pointer, size)
#define TracyFree(pointer) PROFILE_FREE(pointer)
#define TracyAllocN(pointer, size, pool) TRACYC_IN_POOL("alloc", pool, 0, pointer, size)
#define TracyFreeN(pointer, pool) TRACYC_IN_POOL("free", pool, pointer, 0, 0)
#define TracySecureAlloc(pointer, size) TracyAlloc(pointer, size)
#define TracySecureFree(pointer) TracyFree(pointer)
#define TracyAllocS(pointer, size, depth) TracyAlloc(pointer, size)
#define TracyFreeS(pointer, depth) TracyFree(pointer)
#define TracyAllocNS(pointer, size, depth, pool) TracyAllocN(pointer, size, pool)
#define TracyFreeNS(pointer, depth, pool) TracyFreeN(pointer, pool)
#define TracySecureAllocN(pointer, size, pool) TracyAllocN(pointer, size, pool)
#define TracySecureFreeN(pointer, pool) TracyFreeN(pointer, pool)
#define TracySecureAllocS(pointer, size, depth) TracyAlloc(pointer, size)
#define TracySecureFreeS(pointer, depth) TracyFree(pointer)
#define TracySecureAllocNS(pointer, size, depth, pool) TracyAllocN(pointer, size, pool)
#define TracySecureFreeNS(pointer, depth, pool) TracyFreeN(pointer, pool)

#define TracyFiberEnter(name) prof_fiber_switch(tracy::fiber(name))
#define TracyFiberEnterHint(name, group) TracyFiberEnter(name)
#define TracyFiberLeave prof_fiber_switch(NULL)

#define TracyIsConnected (prof_enabled() != 0)
#define TracyIsStarted true
#define TracyNoop ((void)0)

// What has no meaning here.
#define TracyLine static_cast<uint32_t>(__LINE__)
#define TracyFile __FILE__
#define TracyFunction __FUNCTION__
#define TracyParamTypeInt 0
#define TracyParamTypeBool 1
#define TracyParamTypeTrigger 2
#define TracyMemoryDiscard(name) ((void)(name))
#define TracySecureMemoryDiscard(name) ((void)(name))
#define TracySecureMemoryDiscardS(name, depth) ((void)(name))
#define TracyMemoryDiscardS(name, depth) ((void)(name))
#define TracySourceCallbackRegister(callback, data) ((void)(callback), (void)(data))
#define TracyParameterRegister(callback, data) ((void)(callback), (void)(data))
#define TracyParameterSetup(index, name, type, value) ((void)0)
#define TracySectionEnter(...) 0
#define TracySectionEnterCategory(...) 0
#define TracySectionLeave(section) ((void)(section))
#define TracySectionSetup(...) ((void)0)
#endif
