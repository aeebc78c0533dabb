#!/bin/sh
# What Microsoft's compiler would compile: clang in its mode, without the names of gcc and clang.
# - Marked-up files, without any header of Windows; as C and C++, for three processors. clang's preprocessor splits
#   __VA_ARGS__, Microsoft's older one does not: tests/compile/arguments.py looks at the text of the macros.
# - The implementation in all headers, with MinGW's headers in the place of Microsoft's (tests/compile/msvc/dialect.h);
#   the same, and none of its text has a word of gcc's.
# - A recorder with threads: linked by lld-link, run by wine. The tool reads what it wrote.
# - The project file for whoever has Microsoft's compiler (tests/compile/msvc/CMakeLists.txt), here with MinGW.
#
# usage: tests/compile/msvc.sh
#        tests/compile/msvc.sh --object FILE      only compiles tests/windows/library.c, for tests/wine.sh
#        tests/compile/msvc.sh --implementation FILE       only compiles what test programs share, for MSVC=1
#        tests/compile/msvc.sh --runtime FILE     only compiles what such code needs of its library
cd "$(dirname "$0")/../.." || exit 1
mode='-fms-extensions -fms-compatibility -fms-compatibility-version=19.38'
microsoft="$mode -U__GNUC__ -U__clang__ -ffreestanding -Wall -Wextra -Werror -I."
dialect="$mode -Wno-builtin-macro-redefined -include tests/compile/msvc/dialect.h -isystem tests/compile/msvc
    -isystem $(clang -print-resource-dir 2>/dev/null)/include -isystem /usr/x86_64-w64-mingw32/include
    -Wall -Wextra -Wvla -Wgnu -Wno-unused-function -Wno-unused-variable -Werror -I."
case $1 in
--object) exec clang --target=x86_64-pc-windows-msvc $microsoft '-DPROF_DEF=__declspec(dllimport)' -std=c11 \
    -c tests/windows/library.c -o "$2" ;;
--implementation) exec clang --target=x86_64-pc-windows-msvc $dialect -std=c11 -O0 -c tests/implementation.c -o "$2" ;;
--runtime) exec clang --target=x86_64-pc-windows-msvc -fms-extensions -c tests/compile/msvc/runtime.c -o "$2" ;;
esac
if ! command -v clang >/dev/null; then
    echo "SKIP msvc: clang is not installed"
    exit 0
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
result() { # WHAT STATUS: with what is in the log
    if [ "$2" = 0 ]; then
        echo "ok   $1"
    else
        echo "FAIL $1"
        grep -E 'error|warning' "$work/log" | head -n 5
        failed=1
    fi
}
cat >"$work/marked.c" <<'C'
#include "prof.h"
int marked(int n);
int marked(int n)
{
    PROFILE_BLOCK("block") {
        PROFILE_ARG_I("n", n);
        PROFILE_ARG_S("text", "a text");
        PROFILE_MARK("mark");
        PROFILE_COUNTER("counter", n);
    }
    PROFILE_BEGIN("begin");
    PROFILE_END("begin");
    PROFILE_FRAME("frame");
    PROFILE_THREAD("thread");
#ifdef __cplusplus
    PROFILE_SCOPE("scope");
    PROFILE_FUNCTION();
    if (n) {
        PROFILE_SCOPE("inner");
        return 1;
    }
#endif
    return n;
}
C
if command -v python3 >/dev/null; then
    python3 tests/compile/arguments.py prof*.h >"$work/found"
    status=$?
    cat "$work/found"
    result "macros: arguments for the preprocessor without /Zc:preprocessor" $status
else
    echo "SKIP msvc macros: python3 is not installed"
fi
for target in x86_64 aarch64 i686; do
    for language in "c -std=c99" "c -std=c11" "c++ -std=c++14" "c++ -std=c++20"; do
        for enable in 1 0; do
            clang --target=$target-pc-windows-msvc $microsoft -DPROF_ENABLE=$enable -x $language -c "$work/marked.c" \
                -o "$work/marked.o" 2>"$work/log"
            result "marked up: $target, $language, PROF_ENABLE=$enable" $?
        done
    done
done

if [ ! -f /usr/x86_64-w64-mingw32/include/windows.h ]; then
    echo "SKIP msvc: the implementation: MinGW's headers are not installed"
    exit ${failed:-0}
fi
cat >"$work/all.c" <<'C'
#define PROF_IMPLEMENTATION
#include "prof.h"
#include "prof_chrome.h"
#include "prof_gl.h"
#include "prof_html.h"
#include "prof_ntff.h"
#include "prof_opencl.h"
#include "prof_receive.h"
#include "prof_report.h"
#include "prof_server.h"
#include "prof_vulkan.h"
#include "prof_xplane.h"
C
for target in x86_64 aarch64 "i686 -msse2"; do
    for language in "c -std=c11" "c++ -std=c++14"; do
        clang --target=${target%% *}-pc-windows-msvc ${target#"${target%% *}"} $dialect -x $language -fsyntax-only \
            "$work/all.c" 2>"$work/log"
        result "implementation: $target, $language" $?
    done
done
for more in -DPROF_MINIMAL -DPROF_STATIC; do
    clang --target=x86_64-pc-windows-msvc $dialect $more -DPROF_IMPLEMENTATION -x c -std=c11 -fsyntax-only prof.h \
        2>"$work/log"
    result "implementation: $more" $?
done
clang --target=x86_64-pc-windows-msvc $dialect -x c -std=c11 -E "$work/all.c" 2>"$work/log" |
    awk '/^# [0-9]/ { ours = $3 ~ /prof(_[a-z]+)?\.h"$/ } ours' | grep -v '^#' |
    grep -woE \
        '__attribute__|__extension__|__typeof__|__asm__|asm|__thread|__int128|__atomic_[a-z_]+|__sync_[a-z]+_[a-z_]+' |
    sort -u >"$work/words"
[ ! -s "$work/words" ]
result "no word of gcc's: $(tr '\n' ' ' <"$work/words")" $?

runner=$(command -v wine || echo /usr/lib/wine/wine64)
if ! command -v lld-link >/dev/null || ! command -v x86_64-w64-mingw32-gcc >/dev/null || [ ! -x "$runner" ]; then
    echo "SKIP msvc: a recorder that runs: needs lld-link, MinGW and wine"
    exit ${failed:-0}
fi
library=/usr/x86_64-w64-mingw32/lib
more=$(dirname "$(x86_64-w64-mingw32-gcc -print-libgcc-file-name)")
prefix=build/wine.x86_64-w64-mingw32-gcc/prefix # that of tests/wine.sh
mkdir -p "$prefix"
export WINEPREFIX="$PWD/$prefix" WINEDEBUG=-all
make -s build/prof || exit 1
sh tests/compile/msvc.sh --runtime "$work/runtime.o" || exit 1
for language in "c -std=c11 -O1 -DRECORDER_ALONE" "c++ -std=c++14 -fno-exceptions -O0"; do
    clang --target=x86_64-pc-windows-msvc $dialect -x $language -c tests/compile/msvc/recorder.c \
        -o "$work/recorder.o" 2>"$work/log" &&
        lld-link /nologo /lldmingw /subsystem:console /entry:mainCRTStartup /alternatename:__chkstk=___chkstk_ms \
            /alternatename:__image_base__=__ImageBase "/out:$work/recorder.exe" $library/crt2.o "$work/recorder.o" \
            "$work/runtime.o" $library/libmingw32.a $library/libmingwex.a $library/libmsvcrt.a "$more/libgcc.a" \
            $library/libkernel32.a $library/libuser32.a $library/libadvapi32.a $library/libshell32.a >"$work/log" 2>&1 &&
        (cd "$work" && PROF_OUTPUT=recorder.prof timeout 300 "$runner" ./recorder.exe >/dev/null 2>"$work/log") &&
        build/prof summary "$work/recorder.prof" >"$work/summary" &&
        grep -q '^nothing lost' "$work/summary" && grep -qE '^work +160,000 ' "$work/summary" &&
        grep -qE '^main +1 ' "$work/summary" && grep -qE '^all .* 160,000$' "$work/summary"
    result "a recorder runs: $language" $?
    rm -f "$work/recorder.prof"
done
if command -v cmake >/dev/null; then
    rm -rf "$work/project"
    cmake -S tests/compile/msvc -B "$work/project" -DCMAKE_SYSTEM_NAME=Windows -DCMAKE_EXE_LINKER_FLAGS=-static \
        -DCMAKE_C_COMPILER=x86_64-w64-mingw32-gcc "-DCMAKE_CXX_COMPILER=$(command -v x86_64-w64-mingw32-g++)" \
        "-DCMAKE_CROSSCOMPILING_EMULATOR=$runner" >"$work/log" 2>&1 &&
        cmake --build "$work/project" --target recorder_c >"$work/log" 2>&1 &&
        ctest --test-dir "$work/project" -R '_c$' >"$work/log" 2>&1
    result "the project file" $?
else
    echo "SKIP msvc: the project file: cmake is not installed"
fi
exit ${failed:-0}
