/* prof.hpp - what C++ has beside the macros of prof.h: scopes as objects, hooks of engines, locks - public domain or
              MIT-0, see prof.h

    #include "prof.hpp"                        // includes prof.h, and no header of the standard library

    prof::scope                                a scope as an object: a member, moved, ended early, std::optional
    prof::begin(name), prof::end()             a scope that begins in one function and ends in another
    prof::static_name("text", 0xRRGGBB)        a name that is not copied, with a colour
    prof::lockable<std::mutex> lock{"pool"}    a lock that records its waits and holds
    prof::lock_events                          the same for a lock of your own
    co_await prof::traced(part, something)     C++20: a scope over co_await, without the time in which it waits
    PROFILE_AWAIT(part, something)             the same for coroutines that only wait for what their library has

    docs/guide/cpp.md has examples. All of it is C++11, needs neither exceptions nor RTTI, and is empty with
    PROF_ENABLE=0: there prof::lockable is the lock alone. So an object of these classes in a structure that files share
    needs the same PROF_ENABLE in these files. */
#ifndef PROF_HPP
#define PROF_HPP

#ifndef __cplusplus
#error "prof.hpp is for C++: include prof.h"
#endif
#include "prof.h"

namespace prof {

/* A text that lives as long as the program or library that records it and does not change, such as a string literal
   that reaches a hook as a pointer. It is recorded by its address, which costs what PROFILE_SCOPE costs and a look into
   a table of 4096 names. Beyond these a name is copied, and has no colour. color: 0xRRGGBB, 0: the viewer's choice.
   file and line: the place in the source, if it is known; file lives as long as text. */
struct static_name {
    const char *text, *file;
    uint32_t color, line;
    constexpr explicit static_name(const char *name, uint32_t rgb = 0, const char *where = "",
                                   uint32_t number = 0) noexcept
        : text(name), file(where), color(rgb), line(number)
    {
    }
};

/* Files with PROF_ENABLE=0 have other classes than those without, also in one program. */
#if PROF_ENABLE
inline namespace recorded {

/* A call site that is known by its name's address and its color. */
struct PROF__HIDDEN prof__place {
    long state; /* 0: free, 1: somebody writes it, 2: it can be used */
    prof_site site;
};
enum { PROF__PLACES = 4096, PROF__PROBES = 64, PROF__UNNAMED = 32, PROF__OPEN_BEGINS = 512 };
#ifdef __GNUC__
PROF__HIDDEN PROF__UNTRACED inline long prof__place_state(const long *state)
{
    return __atomic_load_n(state, __ATOMIC_ACQUIRE);
}
PROF__HIDDEN PROF__UNTRACED inline bool prof__place_moves(long *state, long from, long to)
{
    return __atomic_compare_exchange_n(state, &from, to, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}
#else
extern "C" long _InterlockedCompareExchange(long volatile *, long, long);
inline bool prof__place_moves(long *state, long from, long to)
{
    return _InterlockedCompareExchange(state, to, from) == from;
}
inline long prof__place_state(long *state) { return _InterlockedCompareExchange(state, 2, 2); }
#endif

PROF__HIDDEN PROF__UNTRACED inline void prof__site_set(prof_site &site, static_name name, unsigned kind)
{
    const prof_site made = {0, name.text, "", name.file, "", name.line, name.color, 1, static_cast<uint16_t>(kind), 0,
                            0, 0};
    site = made;
}
/* Returns the call site of a name in a table, or NULL where all places are taken. Waits for nobody: who finds a place
   that somebody writes takes another one. */
PROF__HIDDEN PROF__UNTRACED inline prof_site *prof__site_in(prof__place *places, size_t count, size_t first,
                                                           static_name name)
{
    for (size_t i = 0; i < PROF__PROBES; ++i) {
        prof__place &place = places[(first + i) % count];
        prof_site &site = place.site;
        const long state = prof__place_state(&place.state);
        if (state == 2 && site.name == name.text && site.color == name.color && site.line == name.line) return &site;
        if (state || !prof__place_moves(&place.state, 0, 1)) continue;
        prof__site_set(site, name, PROF__KIND_BEGIN);
        (void)prof__place_moves(&place.state, 1, 2);
        return &site;
    }
    return nullptr;
}
PROF__HIDDEN PROF__UNTRACED inline prof_site *prof__site_of(static_name name)
{
    static prof__place places[PROF__PLACES];
    const uintptr_t key = (reinterpret_cast<uintptr_t>(name.text) ^ name.color ^ name.line) * 0x9e3779b1u;
    return prof__site_in(places, PROF__PLACES, static_cast<size_t>(key >> 12), name);
}

/* Begins a scope. */
PROF__HIDDEN PROF__UNTRACED inline prof__token prof__open(const char *text, uint32_t color)
{
    /* A reader tells scopes that overlap by their sites: those with a name made at run time have several, in turn. */
    static const char unnamed[PROF__UNNAMED] = {0};
    static prof__place plain[PROF__UNNAMED];
    static thread_local unsigned turn;
    const unsigned at = turn++ % PROF__UNNAMED;
    prof_site *site = color ? prof__site_of(static_name(unnamed + at, color, "", at + 1)) : nullptr;
    if (!site) site = prof__site_in(plain, PROF__UNNAMED, at, static_name(unnamed + at, 0, "", at + 1));
    if (!site) return 0;
    return prof__on(site) ? prof__begin_text(site, text) : 0;
}
PROF__HIDDEN PROF__UNTRACED inline prof__token prof__open(static_name name)
{
    prof_site *site = prof__site_of(name);
    if (!site) return prof__open(name.text, name.color);
    return prof__on(site) ? prof__begin(site) : 0;
}

/* A scope that ends with the object, or earlier by end(). Name: a static_name, or a text made at run time, which is
   copied: a const char *, a std::string and the like. It ends on the thread, or fiber, on which it began. */
class scope {
public:
    scope() noexcept : token_(0) {} /* none */
    explicit PROF__HIDDEN PROF__UNTRACED scope(static_name name) : token_(prof__open(name)) {}
    explicit PROF__HIDDEN PROF__UNTRACED scope(const char *text, uint32_t color = 0)
        : token_(prof__open(text, color))
    {
    }
    template <typename Text, typename = decltype(prof__chars_of(*static_cast<const Text *>(nullptr), 0))>
    explicit PROF__HIDDEN PROF__UNTRACED scope(const Text &text, uint32_t color = 0)
        : token_(prof__open(prof__chars(text), color))
    {
    }
    PROF__HIDDEN PROF__UNTRACED scope(scope &&other) noexcept : token_(other.token_) { other.token_ = 0; }
    PROF__HIDDEN PROF__UNTRACED scope &operator=(scope &&other) noexcept
    {
        if (this == &other) return *this;
        end();
        token_ = other.token_;
        other.token_ = 0;
        return *this;
    }
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;
    PROF__HIDDEN PROF__UNTRACED ~scope() { end(); }
    /* Ends this scope, if one is open, and begins the next one. */
    template <typename Name> PROF__HIDDEN PROF__UNTRACED void begin(const Name &name, uint32_t color)
    {
        end();
        token_ = scope(name, color).release();
    }
    template <typename Name> PROF__HIDDEN PROF__UNTRACED void begin(const Name &name)
    {
        end();
        token_ = scope(name).release();
    }
    PROF__HIDDEN PROF__UNTRACED void end() noexcept
    {
        if (token_) prof__end(token_);
        token_ = 0;
    }
    /* For PROFILE_ARG_TO(); 0: it is off, or has ended. */
    PROF__HIDDEN PROF__UNTRACED prof_scope handle() const noexcept { return PROF__RECORDED(token_); }
    explicit operator bool() const noexcept { return handle() != 0; }

private:
    PROF__HIDDEN PROF__UNTRACED prof__token release() noexcept
    {
        const prof__token token = token_;
        token_ = 0;
        return token;
    }
    prof__token token_;
};

/* "wait for NAME". */
struct PROF__HIDDEN prof__wait_name {
    char text[96];
    PROF__UNTRACED explicit prof__wait_name(const char *name)
    {
        size_t at = 0;
        for (const char *from = "wait for "; *from; ++from) text[at++] = *from;
        while (*name && at < sizeof text - 1) text[at++] = *name++;
        text[at] = 0;
    }
};

/* The scopes of begin() that are open on a thread. */
struct PROF__HIDDEN prof__begins {
    uint32_t count;
    prof__token tokens[PROF__OPEN_BEGINS];
};
PROF__HIDDEN PROF__UNTRACED inline prof__begins &prof__begun()
{
    static thread_local prof__begins begun;
    return begun;
}
/* The place is taken first: a signal handler that interrupts here takes the next one. */
PROF__HIDDEN PROF__UNTRACED inline void prof__push(prof__token token)
{
    prof__begins &begun = prof__begun();
    const uint32_t at = begun.count++;
    if (at < PROF__OPEN_BEGINS) begun.tokens[at] = token;
    else if (token) prof__end(token);
}

/* begin() begins a scope that the end() which belongs to it ends, as brackets do, on the same thread, whether the scope
   is on or off. For hooks of an engine, "begin(const char *)" and "end()". Up to 512 are open on a thread; what is
   deeper ends at once. Code that moves between threads, as a fiber, keeps a prof::scope instead. */
PROF__HIDDEN PROF__UNTRACED inline void begin(static_name name) { prof__push(prof__open(name)); }
PROF__HIDDEN PROF__UNTRACED inline void begin(const char *text, uint32_t color = 0)
{
    prof__push(prof__open(text, color));
}
PROF__HIDDEN PROF__UNTRACED inline void end()
{
    prof__begins &begun = prof__begun();
    if (!begun.count) return;
    const uint32_t at = begun.count - 1;
    const prof__token token = at < PROF__OPEN_BEGINS ? begun.tokens[at] : 0;
    begun.count = at;
    if (token) prof__end(token);
}

/* What happens to a lock that is not a mutex of C++, in the order of the calls: a thread waits for it, has it, and has
   left it. name lives as long as for static_name. */
class lock_events {
public:
    PROF__HIDDEN explicit lock_events(static_name name)
    {
        static_assert(sizeof place_ >= sizeof(prof_site), "");
        prof__site_set(*site(), name, PROF__KIND_EVENT | PROF_ROLE_LOCK << PROF__ROLE_SHIFT);
    }
    lock_events(const lock_events &) = delete;
    lock_events &operator=(const lock_events &) = delete;
    PROF__HIDDEN PROF__UNTRACED void wait() { note(PROF_EVENT_LOCK_WAIT, 1); }
    PROF__HIDDEN PROF__UNTRACED void acquire() { note(PROF_EVENT_LOCK_ACQUIRE, 0); }
    PROF__HIDDEN PROF__UNTRACED void release() { note(PROF_EVENT_LOCK_RELEASE, 0); }
    PROF__HIDDEN PROF__UNTRACED const char *name() { return site()->name; }

private:
    PROF__HIDDEN PROF__UNTRACED void note(prof_event_type type, uint64_t detail)
    {
        if (prof__live(site())) prof__event(site(), type, detail, PROF__ADDRESS(this));
    }
    /* The type of a site is hidden, but a class that has a lock may not be. */
    PROF__HIDDEN PROF__UNTRACED prof_site *site() { return reinterpret_cast<prof_site *>(place_); }
    uint64_t place_[12];
};

/* A mutex that records how long threads wait for it and how long they hold it, by the name that it is made with: a text
   as for static_name. It takes the place of any mutex of the standard library or of your own, also timed and shared
   ones: std::unique_lock<prof::lockable<std::mutex>>, with std::condition_variable_any. A wait is a scope "wait for
   NAME". A free lock costs one event. That a timed call waited is recorded as the scope alone. */
template <typename Mutex> class lockable {
public:
    PROF__HIDDEN lockable() : lockable("lock") {}
    template <typename... Args>
    explicit PROF__HIDDEN lockable(const char *name, Args &&...args)
        : mutex_(static_cast<Args &&>(args)...), events_(static_name(name))
    {
    }
    lockable(const lockable &) = delete;
    lockable &operator=(const lockable &) = delete;

    PROF__HIDDEN PROF__UNTRACED void lock()
    {
        if (mutex_.try_lock()) return events_.acquire();
        scope waits(prof__wait_name(events_.name()).text);
        events_.wait();
        mutex_.lock();
        events_.acquire();
    }
    PROF__HIDDEN PROF__UNTRACED bool try_lock() { return took_if(mutex_.try_lock()); }
    template <typename Time> PROF__HIDDEN PROF__UNTRACED bool try_lock_for(const Time &time)
    {
        if (try_lock()) return true;
        scope waits(prof__wait_name(events_.name()).text);
        return took_if(mutex_.try_lock_for(time));
    }
    template <typename Time> PROF__HIDDEN PROF__UNTRACED bool try_lock_until(const Time &time)
    {
        if (try_lock()) return true;
        scope waits(prof__wait_name(events_.name()).text);
        return took_if(mutex_.try_lock_until(time));
    }
    PROF__HIDDEN PROF__UNTRACED void unlock()
    {
        events_.release();
        mutex_.unlock();
    }
    PROF__HIDDEN PROF__UNTRACED void lock_shared()
    {
        if (mutex_.try_lock_shared()) return events_.acquire();
        scope waits(prof__wait_name(events_.name()).text);
        events_.wait();
        mutex_.lock_shared();
        events_.acquire();
    }
    PROF__HIDDEN PROF__UNTRACED bool try_lock_shared() { return took_if(mutex_.try_lock_shared()); }
    template <typename Time> PROF__HIDDEN PROF__UNTRACED bool try_lock_shared_for(const Time &time)
    {
        if (try_lock_shared()) return true;
        scope waits(prof__wait_name(events_.name()).text);
        return took_if(mutex_.try_lock_shared_for(time));
    }
    template <typename Time> PROF__HIDDEN PROF__UNTRACED bool try_lock_shared_until(const Time &time)
    {
        if (try_lock_shared()) return true;
        scope waits(prof__wait_name(events_.name()).text);
        return took_if(mutex_.try_lock_shared_until(time));
    }
    PROF__HIDDEN PROF__UNTRACED void unlock_shared()
    {
        events_.release();
        mutex_.unlock_shared();
    }
    Mutex &base() noexcept { return mutex_; } /* the mutex itself: its calls record nothing */

private:
    PROF__HIDDEN PROF__UNTRACED bool took_if(bool taken)
    {
        if (taken) events_.acquire();
        return taken;
    }
    Mutex mutex_;
    lock_events events_;
};

#ifdef __cpp_impl_coroutine
/* Never inlined into a coroutine, because a compiler may keep there, over the wait, the address of what a thread has of
   its own, and another thread goes on; and because clang before version 18 may keep the variables of await_suspend() in
   the coroutine, which may be gone by then. */
#ifdef __GNUC__
#define PROF__NOT_INLINED __attribute__((__noinline__))
#else
#define PROF__NOT_INLINED __declspec(noinline)
#endif

/* A scope of a coroutine, over co_await:
       prof::resumable part(prof::static_name("load"));
       co_await prof::traced(part, socket.read());
   If the coroutine waits there, the scope ends, and another one of the same name begins where it goes on, on whatever
   thread. So time in which it is suspended is no time of a scope, and a name has as many calls as the coroutine ran.
   Scopes inside of it end before the co_await. It works with coroutines of any library, and with whatever they wait for,
   unless the library takes only what is its own, as asio does:
       size_t bytes = PROFILE_AWAIT(part, socket.async_read_some(buffer, use_awaitable));
   There the scope also ends, and begins anew, if the coroutine need not wait. */
class resumable {
public:
    explicit resumable(static_name name) noexcept : name_(name), part_(name), runs_(true) {}
    resumable(const resumable &) = delete;
    resumable &operator=(const resumable &) = delete;
    PROF__NOT_INLINED void end() noexcept
    {
        part_.end();
        runs_ = false;
    }
    PROF__NOT_INLINED void go_on() noexcept
    {
        part_.begin(name_);
        runs_ = true;
    }
    bool runs() const noexcept { return runs_; } /* whether go_on() was the last call, also if the scope is off */

private:
    static_name name_;
    scope part_;
    bool runs_;
};

/* Its name is for those who read the compiler's error. */
template <typename Awaiter> struct this_promise_takes_only_what_is_its_own_use_PROFILE_AWAIT {
    resumable &part;
    Awaiter awaiter; /* a reference, unless it was made of what is waited for: that lives until the end of co_await */
    bool waits;
    bool await_ready() { return static_cast<bool>(awaiter.await_ready()); }
    template <typename Handle>
    PROF__NOT_INLINED auto await_suspend(Handle handle) -> decltype(awaiter.await_suspend(handle))
    {
        waits = true;
        part.end(); /* before another thread can go on */
#ifdef __cpp_exceptions
        try {
            return awaiter.await_suspend(handle);
        } catch (...) { /* it was not suspended */
            part.go_on();
            throw;
        }
#else
        return awaiter.await_suspend(handle);
#endif
    }
    decltype(auto) await_resume()
    {
        if (waits) part.go_on();
        return awaiter.await_resume();
    }
};
template <typename Awaitable> decltype(auto) prof__awaiter_of(Awaitable &&awaitable)
{
    if constexpr (requires { static_cast<Awaitable &&>(awaitable).operator co_await(); })
        return static_cast<Awaitable &&>(awaitable).operator co_await();
    else if constexpr (requires { operator co_await(static_cast<Awaitable &&>(awaitable)); })
        return operator co_await(static_cast<Awaitable &&>(awaitable));
    else
        return static_cast<Awaitable &&>(awaitable);
}
template <typename Awaitable> auto traced(resumable &part, Awaitable &&awaitable)
{
    using awaiter = decltype(prof__awaiter_of(static_cast<Awaitable &&>(awaitable)));
    return this_promise_takes_only_what_is_its_own_use_PROFILE_AWAIT<awaiter>{
        part, prof__awaiter_of(static_cast<Awaitable &&>(awaitable)), false};
}

/* PROFILE_AWAIT: where an exception passes, the scope goes on, too; but not where a coroutine is destroyed that waits.
   The function of <exception>, a header that costs more than all of prof.h, tells the one from the other. */
#if !defined(__cpp_exceptions)
inline int prof__exceptions() { return 0; }
#elif defined(__GNUC__)
#define PROF__TEXT_OF_(x) #x
#define PROF__TEXT_OF(x) PROF__TEXT_OF_(x)
int prof__exceptions() noexcept __asm__(PROF__TEXT_OF(__USER_LABEL_PREFIX__) "_ZSt19uncaught_exceptionsv");
#else
extern "C" int __cdecl __uncaught_exceptions();
inline int prof__exceptions() { return __uncaught_exceptions(); }
#endif
class prof__pause {
public:
    explicit prof__pause(resumable &part) noexcept : part_(part) { part.end(); }
    prof__pause(const prof__pause &) = delete;
    prof__pause &operator=(const prof__pause &) = delete;
    ~prof__pause()
    {
        if (!part_.runs() && prof__exceptions()) part_.go_on();
    }

private:
    resumable &part_;
};
struct prof__going_on {
    explicit prof__going_on(resumable &part) noexcept { part.go_on(); }
};
/* A comma passes the value on; after co_await of nothing, it is that of the language. */
template <typename Value>
    requires(__is_constructible(Value, Value))
Value operator,(Value &&value, prof__going_on) { return static_cast<Value &&>(value); }
template <typename Value>
    requires(!__is_constructible(Value, Value))
Value &&operator,(Value &&value, prof__going_on) { return static_cast<Value &&>(value); }
#define PROFILE_AWAIT(part, ...) \
    (static_cast<void>(prof::prof__pause(part)), co_await __VA_ARGS__, prof::prof__going_on(part))
#endif
} /* inline namespace recorded */
#else
inline namespace stripped {
class scope {
public:
    scope() noexcept {}
    template <typename Name> explicit scope(const Name &) noexcept {}
    template <typename Name> scope(const Name &, uint32_t) noexcept {}
    scope(scope &&) noexcept {}
    scope &operator=(scope &&) noexcept { return *this; }
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;
    ~scope() {} /* as with PROF_ENABLE, an object that nobody uses is no mistake */
    template <typename Name> void begin(const Name &, uint32_t = 0) noexcept {}
    void end() noexcept {}
    prof_scope handle() const noexcept { return 0; }
    explicit operator bool() const noexcept { return false; }
};
inline void begin(static_name) {}
inline void begin(const char *, uint32_t = 0) {}
inline void end() {}
class lock_events {
public:
    explicit lock_events(static_name) noexcept {}
    lock_events(const lock_events &) = delete;
    lock_events &operator=(const lock_events &) = delete;
    ~lock_events() {}
    void wait() noexcept {}
    void acquire() noexcept {}
    void release() noexcept {}
};
template <typename Mutex> class lockable {
public:
    lockable() {}
    template <typename... Args>
    explicit lockable(const char *, Args &&...args) : mutex_(static_cast<Args &&>(args)...)
    {
    }
    lockable(const lockable &) = delete;
    lockable &operator=(const lockable &) = delete;
    void lock() { mutex_.lock(); }
    bool try_lock() { return mutex_.try_lock(); }
    template <typename Time> bool try_lock_for(const Time &time) { return mutex_.try_lock_for(time); }
    template <typename Time> bool try_lock_until(const Time &time) { return mutex_.try_lock_until(time); }
    void unlock() { mutex_.unlock(); }
    void lock_shared() { mutex_.lock_shared(); }
    bool try_lock_shared() { return mutex_.try_lock_shared(); }
    template <typename Time> bool try_lock_shared_for(const Time &time) { return mutex_.try_lock_shared_for(time); }
    template <typename Time> bool try_lock_shared_until(const Time &time) { return mutex_.try_lock_shared_until(time); }
    void unlock_shared() { mutex_.unlock_shared(); }
    Mutex &base() noexcept { return mutex_; }

private:
    Mutex mutex_;
};
#ifdef __cpp_impl_coroutine
class resumable {
public:
    explicit resumable(static_name) noexcept {}
    resumable(const resumable &) = delete;
    resumable &operator=(const resumable &) = delete;
    ~resumable() {}
    void end() noexcept {}
    void go_on() noexcept {}
    bool runs() const noexcept { return false; }
};
template <typename Awaitable> Awaitable &&traced(resumable &, Awaitable &&awaitable)
{
    return static_cast<Awaitable &&>(awaitable);
}
#define PROFILE_AWAIT(part, ...) (static_cast<void>(part), co_await __VA_ARGS__)
#endif
} /* inline namespace stripped */
#endif
} /* namespace prof */

#endif /* PROF_HPP */
