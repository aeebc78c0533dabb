#!/bin/sh
# The tests on Windows: built by MinGW, run by wine. What tests use of POSIX is in tests/windows/posix.h; which tests
# cannot run, and why, in tests/windows/skipped.h and in the list of programs below.
#
# usage: tests/wine.sh [PROGRAM[:TEST,TEST...]]...     args, reader:csv
#        CC=i686-w64-mingw32-gcc JOBS=2 tests/wine.sh  32 bits: needs a wine that runs them
#        CC=x86_64-w64-mingw32-gcc-posix tests/wine.sh threads places_cpp    threads of winpthreads, as MSYS2 and WinLibs
#                                             have them: there is C++'s std::thread, and __thread is winpthreads' memory
#        MSVC=1 tests/wine.sh [PROGRAM]...    the implementation that programs share is compiled by clang, in the dialect
#                                             of Microsoft's compiler
cd "$(dirname "$0")/.." || exit 1
CC=${CC:-x86_64-w64-mingw32-gcc} JOBS=${JOBS:-2}
work=$PWD/build/wine.$CC prefix=$PWD/build/wine.$CC/prefix more=
[ -z "$MSVC" ] || work=$PWD/build/wine.msvc more=$PWD/build/wine.msvc/runtime.o
export CC MSVC WINEPREFIX="$prefix" WINEDEBUG=-all PROF_TEST_QUICK=${PROF_TEST_QUICK:-1}
flags="-std=gnu99 -O0 -I. -Itests/windows/include -include tests/windows/posix.h"
# Microsoft's long double is a double, that of MinGW, which compiles the tests, is not.
[ -z "$MSVC" ] || flags="$flags -DLONG_DOUBLES_ARE_LOST"
libraries="-static -pthread -lws2_32 -lpsapi"
runner=$(command -v wine || echo /usr/lib/wine/wine64)

programs='follow control windows sockets threads fibers html sessions tally archive chrome devices foreign memory notes reader
    args clock events flaws image objects record'

if [ "$1" = --one ]; then # NAME[:TESTS]
    name=${2%%:*} names=
    case $2 in *:*) names=$(echo "${2#*:}" | tr ',' ' ') ;; esac
    implementation=$work/implementation.o
    source=tests/test_$name.c
    [ -f "$source" ] || source=tests/windows/test_$name.c flags="$flags -Itests"
    compiler=$CC
    if ! [ -f "$source" ]; then # C++
        source=tests/test_$name.cpp
        flags=$(echo "$flags" | sed 's/-std=gnu99/-std=c++17/')
        compiler=${CC%gcc*}g++${CC##*gcc}
    fi
    grep -qE '^.(define PROF_IMPLEMENTATION|include "private.h")' "$source" && implementation= # it has its own
    if [ "$name" = windows ]; then
        { # the program exports its recorder, and nothing else, to DLLs that mark up
            echo EXPORTS
            ${CC%gcc*}nm "$implementation" | sed -n -e 's/.* T _*\(prof_[a-z_]*\)$/\1/p' -e 's/.* [BD] _*\(prof_[a-z_]*\)$/\1 DATA/p'
        } >"$work/windows.def"
        more="$more $work/windows.def -Wl,--out-implib,$work/libwindows.a"
    fi
    flags="$flags -DTEST_PROGRAM=\"$name\" -DTRACE_FOLDER=\"$work/out/$name\""
    if ! $compiler $flags "$source" "$work/posix.o" $implementation $more -o "$work/$name.exe" $libraries \
        >"$work/$name.log" 2>&1; then
        echo "FAIL $name: does not compile"
        grep -E 'error|undefined' "$work/$name.log" | head -n 5
    elif [ "$name" = windows ] && ! {
        $CC -std=gnu99 -I. -shared tests/windows/library.c -o "$work/windows_plain.dll" "$work/libwindows.a" -static &&
            $CC -std=gnu99 -I. -shared -DLIBRARY_RECORDER tests/windows/library.c -o "$work/windows_own.dll" -static &&
            case " $names " in
            "  " | *" arguments_of_the_tool_are_utf_8 "*) $CC -std=gnu99 -O0 -I. tools/*.c -o "$work/prof.exe" $libraries ;;
            esac
    }; then
        echo "FAIL $name: does not compile"
    elif [ "$name" = windows ] && command -v clang >/dev/null && case $CC in x86_64*) true ;; *) false ;; esac && ! {
        sh tests/compile/msvc.sh --object "$work/library_msvc.o" &&
            $CC -shared "$work/library_msvc.o" -o "$work/windows_msvc.dll" "$work/libwindows.a" -static 2>/dev/null
    }; then
        echo "FAIL $name: does not compile"
    elif timeout -k 5 "${PROF_TEST_SECONDS:-240}" "$runner" "$work/$name.exe" $names >"$work/$name.log" 2>&1 \
        </dev/null && tail -n 1 "$work/$name.log" | grep -aq ' 0 failed'; then
        grep -a '^SKIP' "$work/$name.log" | sed "s/^SKIP /SKIP $name: /"
        echo "ok   $name: $(tail -n 1 "$work/$name.log" | tr -d '\r')"
    else
        status=$?
        [ $status != 124 ] || echo "$name was stopped: it took ${PROF_TEST_SECONDS:-240} s. PROF_TEST_SECONDS=600 gives it longer"
        grep -aE '^tests|^FAIL' "$work/$name.log" | head -n 20
        tail -n 3 "$work/$name.log"
        echo "FAIL $name"
    fi
    exit 0
fi

skip_all() {
    echo "SKIP wine: $1"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}
command -v "$CC" >/dev/null || skip_all "$CC is not installed"
[ -x "$runner" ] || skip_all "wine is not installed"
[ -z "$MSVC" ] || command -v clang >/dev/null || skip_all "clang is not installed"
mkdir -p "$work/out" "$prefix"
echo 'int main(void) { return 0; }' >"$work/none.c"
$CC "$work/none.c" -o "$work/none.exe" || exit 1
timeout 300 "$runner" "$work/none.exe" >"$work/prefix.log" 2>&1 # makes its folder, once, which is not silent
"$runner" "$work/none.exe" >/dev/null 2>&1 || skip_all "$runner does not run programs of $CC"

if [ -n "$MSVC" ]; then
    sh tests/compile/msvc.sh --implementation "$work/implementation.o" &&
        ${CC%gcc*}objcopy --redefine-sym __chkstk=___chkstk_ms "$work/implementation.o" || exit 1
    sh tests/compile/msvc.sh --runtime "$more" || exit 1
else
    $CC -std=gnu99 -O0 -Wall -Wextra -Wshadow -Werror -I. -c tests/implementation.c -o "$work/implementation.o" || exit 1
fi
$CC $flags -w -c tests/windows/posix.c -o "$work/posix.o" || exit 1
[ $# -gt 0 ] || set -- $programs
printf '%s\n' "$@" | xargs -n 1 -P "$JOBS" sh tests/wine.sh --one | tee "$work/results"
wineserver -k 2>/dev/null || /usr/lib/wine/wineserver64 -k 2>/dev/null # this folder's, which would wait for more
awk -v all=$# '
    /^ok / { for (i = 3; i < NF; ++i) { if ($(i + 1) ~ /^passed/) passed += $i; if ($(i + 1) ~ /^skipped/) skipped += $i }; ++done }
    /^FAIL / { ++failed }
    /^FAIL [a-z_]+(: does not compile)?$/ { ++done }
    END {
        if (done < all) { print "FAIL wine: " all - done " programs were not run"; ++failed }
        print passed + 0 " passed, " failed + 0 " failed, " skipped + 0 " skipped"
        exit failed > 0
    }' "$work/results"
