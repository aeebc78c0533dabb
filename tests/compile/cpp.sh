#!/bin/sh
# What only C++ has, for g++ and clang++, in C++11 and C++20: no warning, the same counts and names without exceptions
# and RTTI, with -flto, and next to an implementation in C; compiled with PROF_ENABLE=0; as Microsoft's dialect. A file
# with PROF_SHORT_FUNCTION has the names of C.
#
# usage: tests/compile/cpp.sh
cd "$(dirname "$0")/../.." || exit 1
out=${BUILD:-build}/compile/cpp
mkdir -p $out
. tests/checks.sh
warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-misleading-indentation"

printf '#define PROF_IMPLEMENTATION\n#include "prof_read.h"\n' >$out/recorder.c
${CC:-cc} -std=gnu99 -O0 -I. -c $out/recorder.c -o $out/recorder.o || exit 1
cat >$out/short.cpp <<'END'
#define PROF_SHORT_FUNCTION
#include "prof_read.h"
#include <string.h>
struct type { void method() { PROFILE_FUNCTION(); } };
int main()
{
    prof_trace *trace;
    prof_event event;
    prof_timeline *timeline;
    if (prof_start(nullptr)) return 1;
    type().method();
    if (prof_trace_open_live(&trace) || prof_timeline_open(trace, &timeline)) return 2;
    return prof_timeline_next(timeline, &event, nullptr) && !strcmp(event.name, "method") ? 0 : 3;
}
END
cat >$out/classes.cpp <<'END'
#include "prof.hpp"
struct mutex { void lock(); bool try_lock(); void unlock(); };
struct both { prof::scope running; prof::lockable<mutex> lock{"x"}; void method() { PROFILE_FUNCTION(); } };
void used(both &x);
void used(both &x)
{
    prof::begin("a");
    prof::end();
    prof::scope moved(prof::static_name("b", 3)), text("c", 4);
    moved.begin("d");
    moved = static_cast<prof::scope &&>(text);
    PROFILE_ARG_TO(moved.handle(), "key", 1);
    if (moved) moved.end();
    x.lock.lock();
    x.lock.unlock();
    x.method();
}
END
cat >$out/constexpr.cpp <<'END'
#include "prof_read.h"
#include <string.h>
constexpr int plain(int x) { PROFILE_FUNCTION(); PROFILE_SCOPE("inside"); return x + 1; }
template <typename T> constexpr T twice(T x) { PROFILE_SCOPE("twice"); return x * 2; }
static_assert(plain(1) == 2 && twice(2) == 4);
int main(int count, char **)
{
    if (prof_start(nullptr)) return 1;
    constexpr int computed = plain(5);
    int made = computed + plain(count) + twice(count), names = PROF_ENABLE ? 0 : 111;
    prof_trace *trace = nullptr;
    prof_timeline *timeline = nullptr;
    prof_event event;
    if (prof_trace_open_live(&trace) || prof_timeline_open(trace, &timeline)) return PROF_ENABLE ? 2 : 0;
    while (prof_timeline_next(timeline, &event, nullptr))
        names += !strcmp(event.name, "plain") + 10 * !strcmp(event.name, "inside") + 100 * !strcmp(event.name, "twice");
    return names == 111 && made == 10 ? 0 : 3;
}
END
cat >$out/coroutine.cpp <<'END'
#include "prof.hpp" /* also before <coroutine> */
#include <coroutine>
struct task {
    struct promise_type {
        task get_return_object() { return task(); }
        std::suspend_never initial_suspend() { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
};
struct number : std::suspend_always { int await_resume() { return 1; } };
task used(int &sum);
task used(int &sum)
{
    prof::resumable part(prof::static_name("part"));
    co_await prof::traced(part, std::suspend_always());
    PROFILE_AWAIT(part, std::suspend_always());
    sum += co_await prof::traced(part, number());
    sum += PROFILE_AWAIT(part, number());
    if (part.runs()) part.end();
    part.go_on();
}
END
# What it includes is what it costs: containers, texts and locks of the library cost ten times as much as prof.hpp.
printf '#include "examples/tracy/Tracy.hpp"\n#include "examples/tracy/TracyOpenGL.hpp"\n' >$out/tracy.cpp
check "tracy.hpp includes no part of C++'s library" \
    "$(${CXX:-c++} -std=c++17 -I. -M $out/tracy.cpp 2>&1 | grep -oE '[^ ]*/(basic_string|stl_algobase|atomic_base|std_mutex|char_traits)[^ ]*')"
if command -v clang >/dev/null 2>&1; then
    for target in x86_64 aarch64 i686; do
        for enable in 1 0; do
            silent "Microsoft's dialect: $target, PROF_ENABLE=$enable" clang --target=$target-pc-windows-msvc \
                -fms-extensions -fms-compatibility -fms-compatibility-version=19.38 -U__GNUC__ -U__clang__ -ffreestanding \
                -Wall -Wextra -Werror -I. -DPROF_ENABLE=$enable -x c++ -std=c++14 -c $out/classes.cpp -o $out/classes.o
        done
    done
fi
for compiler in g++ clang++; do
    if ! command -v $compiler >/dev/null 2>&1; then
        skip $compiler "not installed"
        continue
    fi
    for standard in c++11 c++20; do
        [ $standard = c++11 ] && optimised=-O2 || optimised="-O2 -flto=auto"
        for flags in "-O0 -fno-exceptions -fno-rtti" "$optimised"; do
            program="$compiler -std=$standard $warnings $flags"
            silent "$program: compiles" $program -D_GNU_SOURCE -DTRACE_FOLDER="\"$out\"" -Itests tests/test_cpp.cpp \
                $out/recorder.o -o $out/program -pthread -ldl || continue
            succeeds "$program: counts and names" env -u PROF_OUTPUT $out/program
        done
        silent "$compiler $standard: PROF_ENABLE=0" $compiler -std=$standard $warnings -DPROF_ENABLE=0 -D_GNU_SOURCE \
            -Wno-unused -c tests/test_cpp.cpp -o $out/stripped.o
        silent "$compiler $standard: classes" $compiler -std=$standard $warnings -Wold-style-cast -O2 -fno-exceptions -I. \
            -c $out/classes.cpp -o $out/classes.o
        check "$compiler $standard: the recorder makes the names of functions, not each file" \
            "$(nm -C $out/classes.o | grep -iE ' [tw] .*(function|signature)')"
        $compiler -std=$standard -O1 -fno-exceptions -DPROF_ENABLE=0 -I. -c $out/classes.cpp -o $out/classes.o
        check "$compiler $standard: PROF_ENABLE=0 leaves nothing" "$(nm -C $out/classes.o | grep -v ' mutex::\| used(')"
    done
    for flags in "" -fno-exceptions "-DPROF_ENABLE=0"; do
        silent "$compiler c++20 $flags: coroutines" $compiler -std=c++20 $warnings $flags -I. \
            -fsyntax-only $out/coroutine.cpp
    done
    for enable in 1 0; do # C++23
        case $($compiler -std=c++2b -dM -E -x c++ /dev/null 2>/dev/null | grep -o '__cpp_constexpr .*') in
        *2021* | *202[2-9]*)
            silent "$compiler: constexpr functions with scopes, PROF_ENABLE=$enable" $compiler -std=c++2b $warnings -I. \
                -DPROF_ENABLE=$enable $out/constexpr.cpp $out/recorder.o -o $out/constexpr -pthread -ldl &&
                succeeds "$compiler: where they are not computed, PROF_ENABLE=$enable" env -u PROF_OUTPUT $out/constexpr
            ;;
        *) skip "$compiler: constexpr functions with scopes" "not before C++23" ;;
        esac
    done
    for standard in c++11 c++14 c++17 c++20; do # before, the live build and the stripped one both refuse them
        for mark in 'PROFILE_FUNCTION()' 'PROFILE_SCOPE("a")' 'PROFILE_SCOPE_AS(s, "a")' 'PROFILE_STEP("a", 1)' \
            'PROFILE_STAGE("a")' 'PROFILE_SCOPE_DYNAMIC("a")' 'PROFILE_SCOPE_F("a")'; do
            printf '#include "prof.h"\nconstexpr int f(int x) { %s; return x; }\nint main() { return f(0); }\n' \
                "$mark" >$out/refused.cpp
            for enable in 1 0; do
                $compiler -std=$standard -DPROF_ENABLE=$enable -I. -fsyntax-only $out/refused.cpp 2>$out/refused.txt
                code=$?
                [ $code = 1 ] && grep -q constexpr $out/refused.txt && code=
                check "$compiler $standard: $mark is not for constexpr functions, PROF_ENABLE=$enable" "$code"
            done
        done
    done
    succeeds "$compiler: PROF_SHORT_FUNCTION" $compiler -std=c++11 -I. $out/short.cpp $out/recorder.o -o $out/short -pthread -ldl &&
        succeeds "$compiler: PROF_SHORT_FUNCTION: the name of C" env -u PROF_OUTPUT $out/short
done
finish
