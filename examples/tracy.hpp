// Tracy's macros on top of prof: a program that is marked up with them needs only another include, and one file that
// defines PROF_IMPLEMENTATION. docs/coming-from/tracy.md says what becomes of each. Take what you need, or all of it.
//
//     #include "tracy.hpp"        // instead of "tracy/Tracy.hpp"; includes tracyc.h, for files with "tracy/TracyC.h"
//
// Or change no include: with -Iexamples the folder examples/tracy has headers of Tracy's names.
#ifndef PROF_TRACY_HPP
#define PROF_TRACY_HPP

#include "../prof.hpp"
#include "tracyc.h"
#include <atomic>
#include <map>
#include <mutex>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <string>

namespace tracy {

// Fibers and frames are known by their names. They are never destroyed: destructors of the program may still use them.
template <typename Object> Object *named(const char *name, Object *(*create)(const char *))
{
    static std::mutex &lock = *new std::mutex;
    static std::map<std::string, Object *> &known = *new std::map<std::string, Object *>;
    std::lock_guard<std::mutex> guard(lock);
    Object *&object = known[name];
    if (!object) object = create(name);
    return object;
}
inline prof_frame *frame_create(const char *name) { return prof_frame_create(NULL, name); }
inline prof_fiber *fiber_create(const char *name) { return prof_fiber_create(name); }
inline prof_frame *frame(const char *name) { return named<prof_frame>(name, frame_create); }
inline prof_fiber *fiber(const char *name) { return named<prof_fiber>(name, fiber_create); }

inline prof_counter *counter_create(const char *name) { return prof_counter_create(NULL, name); }
inline prof_counter *counter(const char *name) { return named<prof_counter>(name, counter_create); }

// A plot whose name is a pointer, which a place in the program mostly gives again. The text must stay, as for Tracy.
struct Plot {
    const char *name;
    prof_counter *counter;
};
inline const Plot *plot_create(const char *name) { return new Plot{name, counter(name)}; }
inline prof_counter *plot(std::atomic<const Plot *> &last, const char *name)
{
    const Plot *known = last.load(std::memory_order_acquire);
    if (known && known->name == name) return known->counter;
    static std::mutex &lock = *new std::mutex;
    static std::map<const char *, const Plot *> &all = *new std::map<const char *, const Plot *>;
    std::lock_guard<std::mutex> guard(lock);
    const Plot *&made = all[name];
    if (!made) made = plot_create(name);
    last.store(made, std::memory_order_release);
    return made->counter;
}
inline void plot_set(prof_counter *counter, float value)
{
    prof_counter_set_double(counter, static_cast<double>(value));
}
inline void plot_set(prof_counter *counter, double value) { prof_counter_set_double(counter, value); }
template <typename Integer> void plot_set(prof_counter *counter, Integer value)
{
    prof_counter_set(counter, static_cast<int64_t>(value));
}

inline void SetThreadName(const char *name) { PROFILE_THREAD(name); }
inline void SetThreadNameWithHint(const char *name, int32_t) { PROFILE_THREAD(name); }

// Zones that a program makes itself, without the macros.
struct SourceLocationData {
    const char *name, *function, *file;
    uint32_t line, color;
};
class ScopedZone {
public:
    explicit ScopedZone(const SourceLocationData *place, int32_t = -1, bool active = true)
    {
        if (active) zone.begin(prof::static_name(place->name ? place->name : place->function, place->color & 0xffffff));
    }
    ScopedZone(uint32_t, const char *, size_t, const char *function, size_t function_size, const char *name,
               size_t name_size, uint32_t color, int32_t = -1, bool active = true)
    {
        const std::string text = name ? std::string(name, name_size) : std::string(function, function_size);
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
    void Value(uint64_t value) { PROFILE_ARG_TO_U(zone.handle(), "value", value); }
    void Color(uint32_t) {}
    bool IsActive() const { return static_cast<bool>(zone); }

private:
    prof::scope zone;
};

// note records what happens to a lock, under the name that its declaration gave.
enum class LockEvent { wait, acquire, release };
template <typename Mutex> class Lockable {
public:
    explicit Lockable(void (*recorder)(const void *, LockEvent)) : note(recorder) {}
    Lockable(const Lockable &) = delete;
    void lock()
    {
        if (!mutex.try_lock()) {
            PROFILE_SCOPE("wait for a lock");
            note(this, LockEvent::wait);
            mutex.lock();
        }
        note(this, LockEvent::acquire);
    }
    bool try_lock()
    {
        bool taken = mutex.try_lock();
        if (taken) note(this, LockEvent::acquire);
        return taken;
    }
    void unlock()
    {
        note(this, LockEvent::release);
        mutex.unlock();
    }

protected:
    Mutex mutex;

private:
    void (*note)(const void *, LockEvent);
};
// Readers are not recorded: several may hold the lock.
template <typename Mutex> class SharedLockable : public Lockable<Mutex> {
public:
    using Lockable<Mutex>::Lockable;
    void lock_shared() { this->mutex.lock_shared(); }
    bool try_lock_shared() { return this->mutex.try_lock_shared(); }
    void unlock_shared() { this->mutex.unlock_shared(); }
};
} // namespace tracy

#define TRACY_NOTE(name)                                                               \
    [](const void *tracy_lock, tracy::LockEvent tracy_event) {                         \
        switch (tracy_event) {                                                         \
        case tracy::LockEvent::wait: PROFILE_LOCK_WAIT(tracy_lock, name); break;       \
        case tracy::LockEvent::acquire: PROFILE_LOCK_ACQUIRE(tracy_lock, name); break; \
        case tracy::LockEvent::release: PROFILE_LOCK_RELEASE(tracy_lock, name); break; \
        }                                                                              \
    }
#define TracyLockableN(type, variable, name) tracy::Lockable<type> variable{TRACY_NOTE(name)}
#define TracyLockable(type, variable) TracyLockableN(type, variable, #variable)
#define TracySharedLockableN(type, variable, name) tracy::SharedLockable<type> variable{TRACY_NOTE(name)}
#define TracySharedLockable(type, variable) TracySharedLockableN(type, variable, #variable)
#define LockableBase(type) tracy::Lockable<type>
#define SharedLockableBase(type) tracy::SharedLockable<type>
#define LockMark(variable) ((void)(variable))
#define LockableName(variable, text, size) ((void)(variable))

// Zones. `active` is a constant here.
#define ZoneScoped PROFILE_FUNCTION()
#define ZoneScopedN(name) PROFILE_SCOPE(name)
#define ZoneScopedC(color) PROFILE_FUNCTION_COLOR(color)
#define ZoneScopedNC(name, color) PROFILE_SCOPE_COLOR(name, color)
#define ZoneScopedS(depth) ZoneScoped
#define ZoneScopedNS(name, depth) ZoneScopedN(name)
#define ZoneScopedCS(color, depth) ZoneScopedC(color)
#define ZoneScopedNCS(name, color, depth) ZoneScopedNC(name, color)
#define ZoneNamedN(variable, name, active) PROFILE_SCOPE_AS_L(variable, name, (active) ? 1 : 255)
#define ZoneNamed(variable, active) ZoneNamedN(variable, __func__, active)
#define ZoneNamedC(variable, color, active) ZoneNamed(variable, active)
#define ZoneNamedNC(variable, name, color, active) ZoneNamedN(variable, name, active)
#define ZoneTransient(variable, active) ZoneNamed(variable, active)
#define ZoneTransientN(variable, name, active) PROFILE_SCOPE_DYNAMIC(name)
#define ZoneTransientNC(variable, name, color, active) prof::scope variable(name, (color) & 0xffffff)
#define ZoneNamedS(variable, depth, active) ZoneNamed(variable, active)
#define ZoneNamedNS(variable, name, depth, active) ZoneNamedN(variable, name, active)
#define ZoneNamedCS(variable, color, depth, active) ZoneNamedC(variable, color, active)
#define ZoneNamedNCS(variable, name, color, depth, active) ZoneNamedNC(variable, name, color, active)
#define ZoneTransientS(variable, depth, active) ZoneTransient(variable, active)
#define ZoneTransientNS(variable, name, depth, active) ZoneTransientN(variable, name, active)

// An argument belongs to the innermost scope of the thread; with a variable, to that one.
#define TRACY_FORMATTED(record, ...)                                      \
    do {                                                                  \
        if (!prof_enabled()) break;                                       \
        char tracy_formatted[256];                                        \
        snprintf(tracy_formatted, sizeof tracy_formatted, __VA_ARGS__);   \
        record;                                                           \
    } while (0)
#define ZoneText(text, size) PROFILE_ARG_TEXT("text", text, size)
#define ZoneTextV(variable, text, size) PROFILE_ARG_TO_TEXT(variable, "text", text, size)
#define ZoneTextF(...) TRACY_FORMATTED(PROFILE_ARG_S("text", tracy_formatted), __VA_ARGS__)
#define ZoneTextVF(variable, ...) TRACY_FORMATTED(PROFILE_ARG_TO_S(variable, "text", tracy_formatted), __VA_ARGS__)
#define ZoneName(text, size) PROFILE_ARG_TEXT("name", text, size)
#define ZoneNameV(variable, text, size) PROFILE_ARG_TO_TEXT(variable, "name", text, size)
#define ZoneNameF(...) TRACY_FORMATTED(PROFILE_ARG_S("name", tracy_formatted), __VA_ARGS__)
#define ZoneNameVF(variable, ...) TRACY_FORMATTED(PROFILE_ARG_TO_S(variable, "name", tracy_formatted), __VA_ARGS__)
#define ZoneValue(value) PROFILE_ARG("value", value)
#define ZoneValueV(variable, value) PROFILE_ARG_TO(variable, "value", value)
#define ZoneColor(color) ((void)0)
#define ZoneColorV(variable, color) ((void)0)
#define ZoneIsActive (prof_enabled() != 0)
#define ZoneIsActiveV(variable) (prof_enabled() != 0)

#define FrameMark PROFILE_FRAME("Frame")
#define FrameMarkNamed(name) prof_frame_start(tracy::frame(name)) // the name may be a pointer; ends the frame before
#define FrameMarkStart(name) prof_frame_start(tracy::frame(name))
#define FrameMarkEnd(name) prof_frame_stop(tracy::frame(name))
#define FrameImage(image, width, height, offset, flip) ((void)0)

#define TracyPlot(name, value)                                       \
    do {                                                             \
        static std::atomic<const tracy::Plot *> tracy_last(nullptr); \
        tracy::plot_set(tracy::plot(tracy_last, name), value);       \
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
#define TracyAppInfo(text, size) prof_set_metadata("app info", std::string(text, size).c_str())
#define TracySetProgramName(name) prof_set_metadata("program name", name)

#define TracyAlloc(pointer, size) PROFILE_ALLOC(pointer, size)
#define TracyFree(pointer) PROFILE_FREE(pointer)
#define TracyAllocN(pointer, size, pool) PROFILE_ALLOC_POOL(pointer, size, pool)
#define TracyFreeN(pointer, pool) PROFILE_FREE_POOL(pointer, pool)
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
#define TracyMemoryDiscardS(name, depth) ((void)(name))
#define TracySourceCallbackRegister(callback, data) ((void)(callback), (void)(data))
#define TracyParameterRegister(callback, data) ((void)(callback), (void)(data))
#define TracyParameterSetup(index, name, type, value) ((void)0)
#define TracySectionEnter(...) 0
#define TracySectionEnterCategory(...) 0
#define TracySectionLeave(section) ((void)(section))
#define TracySectionSetup(...) ((void)0)
#endif
