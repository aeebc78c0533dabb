#!/bin/sh
# Markup in a header that three files include, each after another number of macros: every event has its own name,
# function, category and arguments, and is recorded as often as it happened. In C++ the files share the variables of such
# functions, or inline the functions and share only the variables: in files of their own, in a unity build, and with
# optimisation by the linker, which must not find that files define one thing in two ways.
#
# usage: tests/compile/shared.sh        PROF_TEST_LONG=1: all levels of optimisation in all ways
cd "$(dirname "$0")/../.." || exit 1
here=tests/compile
out=${BUILD:-build}/compile/shared
rm -rf "$out"
mkdir -p "$out"
unset PROF_OUTPUT
UNITY= link=
passed=0 failed=0 skipped=0
skip() {
    echo "SKIP $*"
    skipped=$((skipped + 1))
}
result() { # NAME, STATUS; what was said is in the file `said`
    if [ "$2" -eq 0 ]; then
        echo "ok   $1"
        passed=$((passed + 1))
    else
        echo "FAIL $1"
        head -8 "$out/said" | cut -c 1-200 | sed 's/^/    /'
        failed=$((failed + 1))
    fi
}
inlined='__attribute__((__always_inline__))'
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
${CC:-cc} -std=gnu99 -O0 -w -I. -D_GNU_SOURCE -DPROF_IMPLEMENTATION -x c -c prof_read.h -o "$out/prof.o" || exit 1

parts() { # COMPILER FLAGS...: the three files; UNITY: as one
    if [ -n "$UNITY" ]; then
        for part in 0 1 2; do printf '#undef PART\n#define PART %d\n#include "%s/shared.c"\n' $part "$PWD/$here"; done >"$out/unity.c"
        "$@" $warnings -I. "-DINLINED=$INLINED" -c "$out/unity.c" -o "$out/part0.o"
        return
    fi
    for part in 0 1 2; do
        "$@" $warnings -I. "-DINLINED=$INLINED" -DPART=$part -c $here/shared.c -o "$out/part$part.o" || return
    done
}
program() { # NAMES COMPILER FLAGS...: it runs, and finds so many names
    names=$1
    shift
    rm -f "$out"/part?.o "$out/program"
    case $* in *-flto*) ;; *) link= ;; esac
    parts "$@" && "$@" $warnings -I. -D_GNU_SOURCE -c $here/shared_main.c -o "$out/main.o" &&
        "$@" -x none $link "$out"/part?.o "$out/main.o" "$out/prof.o" -o "$out/program" -pthread -ldl && "$out/program" "$names"
}
try() { # WHAT NAMES COMPILER FLAGS...
    what=$1
    shift
    program "$@" >"$out/said" 2>&1
    result "$what" $?
}

for compiler in gcc clang g++ clang++; do
    $compiler --version >/dev/null 2>&1 || { skip "$compiler: not installed"; continue; }
    # gcc warns of every static variable of an inline function of C99: the variables are in each file then
    quiet= language="-x c++"
    case $compiler in
    *++*) standards="c++11 c++17" ;;
    *clang*) standards=c99 language="-x c" ;;
    *) standards=c99 language="-x c" quiet=-w ;;
    esac
    for standard in $standards; do
        case $standard in c99) names=101 ;; c++11) names=589 ;; *) names=642 ;; esac
        each="$compiler -std=$standard $language $quiet"
        ways="-O0 -O1+" # +: all is inlined
        [ $standard = c++11 ] && ways=-O1+
        [ $standard = c99 ] && ways=-O0
        [ -n "$PROF_TEST_LONG" ] && ways="-O0 -O0+ -O1 -O1+ -O2 -O2+ -O3 -O3+ -Os -Os+ -Og -Og+"
        for way in $ways; do
            case $way in *+) INLINED=$inlined ;; *) INLINED= ;; esac
            try "$compiler $standard $way" $names $each ${way%+}
        done
        [ $standard = c++11 ] && [ -z "$PROF_TEST_LONG" ] && continue
        if [ $standard != c99 ] || [ -n "$PROF_TEST_LONG" ]; then
            INLINED=$inlined UNITY=yes
            try "$compiler $standard -O1, a unity build" $names $each -O1
            UNITY=
        fi
        case $compiler in
        *clang*) link=-fuse-ld=lld ;;
        *++*) link=-Werror=odr ;;
        *) link= ;;
        esac
        if ! echo 'int main(void) { return 0; }' | $each -O2 -flto $link - -o "$out/needs" 2>/dev/null; then
            skip "$compiler: no -flto"
            continue
        fi
        INLINED= levels=-O2
        [ -n "$PROF_TEST_LONG" ] && levels="-O0 -O2 -O3"
        for level in $levels; do try "$compiler $standard $level -flto" $names $each $level -flto; done
    done
done

# files of two compilers in one program
if clang++ --version >/dev/null 2>&1 && g++ --version >/dev/null 2>&1; then
    INLINED=$inlined
    mixed() {
        rm -f "$out"/part?.o "$out/main.o" # the last main.o may be for the linker of another compiler
        g++ -std=c++17 $warnings -I. -D_GNU_SOURCE -x c++ -c $here/shared_main.c -o "$out/main.o" || return
        parts clang++ -std=c++17 -x c++ -O1 && mv "$out/part1.o" "$out/part1" && parts g++ -std=c++17 -x c++ -O1 &&
            mv "$out/part1" "$out/part1.o" && g++ "$out"/part?.o "$out/main.o" "$out/prof.o" -o "$out/program" -pthread -ldl && "$out/program" 642
    }
    mixed >"$out/said" 2>&1
    result "g++ and clang++ in one program" $?
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
