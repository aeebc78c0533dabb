#!/bin/sh
# Compiles markup.c (every public macro in every form), program.c and the implementation, live and stripped, in every
# way that is promised to work, without a single warning; then runs program.c, which reads the trace and compares it
# with the text of markup.c.
#
# usage: tests/compile/matrix.sh [quick]     quick: a few of each, for `make test`; otherwise more, for CI
#        PROF_TEST_LONG=1                    every standard with every level, and an implementation of its own for each
#                                            level: else the first has all of them, and programs share implementations
#        JOBS=2                              how many at a time
cd "$(dirname "$0")/../.." || exit 1
here=tests/compile
out=${BUILD:-build}/compile/matrix
case $out in /*) out=build/compile/matrix ;; esac # programs are run as ./$out/program
WARNINGS="-Wall -Wextra -Wpedantic -Wconversion -Wshadow"
WARNINGS_C="-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition"

# ---- one job: matrix.sh job KIND NAME ARGUMENTS...; prints one line, and on failure what the commands had to say

# quietly COMMAND...: fails if the command does or says anything
quietly() {
    text=$("$@" 2>&1)
    code=$?
    if [ $code -ne 0 ] || [ -n "$text" ]; then
        { echo "$*"; echo "$text"; [ $code -eq 0 ] || echo "exit status $code"; } >>"$folder/log"
        return 1
    fi
}
compile() { # object source flags...
    object=$1 source=$2
    shift 2
    [ $kind = warnings ] && only="sh $here/warned.sh" || only=
    case $compiler in
    *clang*) ;;
    *) set -- -Wno-misleading-indentation "$@" ;; # takes gcc a second; headers.sh asks once
    esac
    case $language in
    c++) quietly $only $compiler -x c++ $WARNINGS -I. $flags "$@" -c $here/$source -o "$folder/$object" ;;
    *) quietly $only $compiler $WARNINGS $WARNINGS_C -I. $flags "$@" -c $here/$source -o "$folder/$object" ;;
    esac
}
finish() { # result
    case $1 in
    0) echo "ok   $name" ;;
    *) printf '%s\n' "FAIL $name
$(head -30 "$folder/log" | cut -c 1-300 | sed 's/^/    /')" ;;
    esac
    [ "$kind" = implementation ] || rm -rf "$folder"
    exit 0
}

if [ "$1" = job ]; then
    kind=$2 compiler=$3 language=$4 flags=$5 link=$6 runner=$7
    unset PROF_OUTPUT
    folder=$out/$(echo "$kind $compiler $language $flags $link" | tr -c 'A-Za-z0-9\n' '_')
    rm -rf "$folder"
    mkdir -p "$folder"
    name=$(echo "$kind: $compiler $flags $link" | sed 's/ *$//')
    case $kind in
    implementation | warnings) # alone: program jobs link it; only what the compiler says of it
        compile implementation.o implementation.c
        finish $?
        ;;
    program) # all three files, live and stripped, linked and run; runner "-": not run
        implementation=$8
        if [ -z "$implementation" ]; then
            compile implementation.o implementation.c || finish 1
            implementation=$folder/implementation.o
        fi
        compile markup.o markup.c && compile program.o program.c &&
            quietly $compiler $flags "$folder/markup.o" "$folder/program.o" "$implementation" \
                -o "$folder/program.exe" $link &&
            { [ "$runner" = - ] || quietly $runner "./$folder/program.exe"; } || finish 1
        case $PROF_TEST_LONG$flags in -*-O[3s]*) finish 0 ;; esac # stripped.sh compares these with what has no markup
        compile markup.o markup.c -DPROF_ENABLE=0 && compile program.o program.c -DPROF_ENABLE=0 &&
            compile implementation.o implementation.c -DPROF_ENABLE=0 &&
            quietly $compiler $flags "$folder/markup.o" "$folder/program.o" "$folder/implementation.o" \
                -o "$folder/program.exe" $link &&
            { [ "$runner" = - ] || quietly $runner "./$folder/program.exe"; }
        finish $?
        ;;
    headers) # all of them with their implementation, in one file
        printf '#define PROF_IMPLEMENTATION\n#include "tests/compile/all.h"\n' >"$folder/all.c"
        quietly sh $here/warned.sh $compiler $WARNINGS -Wno-misleading-indentation $WARNINGS_C -I. $flags -c "$folder/all.c" -o "$folder/all.o"
        finish $?
        ;;
    markup) # compiled by a compiler that cannot compile the implementation, linked by gcc
        implementation=$8
        quietly $compiler -I. $flags -c $here/markup.c -o "$folder/markup.o" &&
            quietly $compiler -I. $flags -c $here/program.c -o "$folder/program.o" &&
            quietly gcc "$folder/markup.o" "$folder/program.o" "$implementation" -o "$folder/program.exe" $link &&
            quietly "./$folder/program.exe" &&
            quietly $compiler -I. $flags -DPROF_ENABLE=0 -c $here/markup.c -o "$folder/markup.o"
        finish $?
        ;;
    *) echo "FAIL unknown job: $kind" ;;
    esac
    exit 0
fi

# ---- the list of jobs

rm -rf $out
mkdir -p $out
: >$out/implementations
: >$out/programs
: >$out/results

without() { for level in $1; do case " $2 " in *" $level "*) ;; *) echo $level ;; esac; done; }
skip() { echo "SKIP $1: $2" | tee -a $out/results; }
have() { command -v "$1" >/dev/null 2>&1; }
# links COMMAND...: this compiler with these flags makes a program of what ours need: libc's and the kernel's headers
# (asm/errno.h is missing where only half of gcc-multilib is), threads, and the library that divides wide numbers
links() {
    cat >$out/trivial.c <<'END'
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif
static volatile uint64_t wide = 10;
int main(void) { return wide / 3 == 3 && !errno ? 0 : 1; }
END
    "$@" $out/trivial.c -o $out/trivial.exe >/dev/null 2>&1
}
# job FILE KIND COMPILER LANGUAGE FLAGS LINK RUNNER IMPLEMENTATION: one line of quoted fields for xargs
job() {
    file=$1
    shift
    line=job
    for field; do line="$line \"$field\""; done
    echo "$line" >>$out/$file
}
object() { # compiler language flags: where its implementation job leaves the object
    echo $out/$(echo "implementation $1 $2 $3 " | tr -c 'A-Za-z0-9\n' '_')/implementation.o
}
# both COMPILER LANGUAGE "STANDARDS" "LEVELS" "OTHER LEVELS" CC LEVEL: an implementation for each level, in the first
# standard; programs of the other levels link that of CC, in C, with LEVEL, or with their own if it is empty. What a
# standard forbids a compiler says at any level, so the other standards have -O2 and -O0, in turns; of the implementation
# it says so in headers.sh, where it makes no code, and here in the last standard.
both() {
    first=$(echo $3 | cut -d' ' -f1) turn=-O0
    short() { # LEVEL: is left out
        [ -z "$quick$PROF_TEST_LONG" ] && [ $standard != $first ] && [ $1 != $turn ]
    }
    for level in $4; do job implementations implementation $1 $2 "-std=$first $level" "" ""; done
    for standard in $3; do
        [ $standard = $first ] || case $turn in -O0) turn=-O2 ;; *) turn=-O0 ;; esac
        for level in $4; do
            short $level ||
                job programs program $1 $2 "-std=$standard $level" -pthread "" "$(object $1 $2 "-std=$first $level")"
        done
        for level in $5; do
            short $level ||
                job programs program $1 $2 "-std=$standard $level" -pthread "" "$(object $6 c "-std=c99 ${7:-$level}")"
        done
    done
    [ -n "$quick" ] && return
    for standard in $3; do
        case $PROF_TEST_LONG$standard in "${3##* }" | [!cg]*) ;; *) continue ;; esac
        [ $standard = $first ] || job implementations warnings $1 $2 "-std=$standard -O0" "" ""
    done
}

quick= release=-O2 others=
case $1 in
quick) quick=1 release=-O1 levels="-O1" cxx_levels="-O0" c_standards="c99 c11" cxx_standards="c++11" ;;
"")
    # Each optimising level is there of gcc, as C or as C++, whose warnings depend on it: -Os with -flto, which optimises
    # in the same way, only later, and -O1 for other processors. clang warns of the same at all levels, and its -O2 is
    # tested elsewhere in .ci/run.
    levels="-O0 -O2" cxx_levels="-O0 -O3" others="-O2 -Os" lto_level=-Os
    [ -z "$PROF_TEST_LONG" ] ||
        levels="-O0 -O1 -O2 -O3 -Os" cxx_levels="-O0 -O2" others="-O1 -O3 -Os" lto_level=-O1
    c_standards="c99 c11 gnu17" cxx_standards="c++11 c++17 c++20"
    ;;
*)
    echo "usage: $0 [quick]" >&2
    exit 2
    ;;
esac

for compiler in gcc clang; do
    have $compiler || { skip $compiler "not installed"; continue; }
    more=$others
    if [ $compiler = clang ] && { [ -n "$quick" ] || [ -z "$PROF_TEST_LONG" ]; }; then levels=-O0 more=${others%% *}; fi
    both $compiler c "$c_standards" "$levels" "$(without "$more" "$levels")" $compiler ${levels##* }
    [ -n "$quick" ] && continue
    case $compiler in gcc) lto=-flto=2 ;; *) lto=-flto ;; esac # gcc warns where it is not told how many at a time
    if [ -z "$PROF_TEST_LONG" ] && [ $compiler = clang ] && have clang++; then # clang++ has it, below
        true
    elif links $compiler $lto $lto_level; then
        job programs program $compiler c "-std=c99 $lto_level $lto" -pthread "" ""
    else
        skip "$compiler -flto" "the linker has no plugin for it"
    fi
    # What only the compiler may have to say of is asked without making code, and linked to what is there.
    made=$(object $compiler c "-std=c99 -O0") library="-std=gnu17 -O0 -fPIC -funsigned-char -fvisibility=hidden"
    [ -z "$PROF_TEST_LONG" ] || made=
    if [ -n "$made" ] && [ $compiler = gcc ] && have clang; then
        job implementations warnings gcc c "$library" "" ""
    else
        job programs program $compiler c "$library" "-pthread -shared" - ""
    fi
    job programs program $compiler c "-std=c11 -O0 -DPROF_MAX_LEVEL=2 -DPROF_UNIQUE=__COUNTER__" -pthread "" "$made"
    [ -n "$PROF_TEST_LONG" ] || [ $compiler = gcc ] || continue # .ci/run has all tests with those of clang
    sanitizers="-fsanitize=address,undefined -fno-sanitize-recover=all"
    if links $compiler $sanitizers; then
        job programs program $compiler c "-std=c99 -g1 -O0 $sanitizers" -pthread "" "$made"
        [ -z "$made" ] || job implementations warnings $compiler c "-std=c99 -g1 -O0 $sanitizers" "" ""
    else
        skip "$compiler $sanitizers" "its run-time library is not installed"
    fi
done
optimised=${cxx_levels#* } # of g++
for compiler in g++ clang++; do
    have $compiler || { skip $compiler "not installed"; continue; }
    case $compiler in g++) cc=gcc level=-O2 ;; *) cc=clang level=-O0 ;; esac
    more=$others
    [ $compiler = g++ ] || [ -n "$PROF_TEST_LONG" ] || { cxx_levels=-O0 more=${others%% *} lto_level=-O0; }
    if ! have $cc; then
        both $compiler c++ "$cxx_standards" "$cxx_levels $more"
    else
        [ -z "$PROF_TEST_LONG" ] || level=
        both $compiler c++ "$cxx_standards" "$cxx_levels" "$(without "$more" "$cxx_levels")" $cc $level
    fi
    [ -n "$quick" ] && continue
    case $compiler in g++) lto=-flto=2 ;; *) lto=-flto ;; esac
    if [ -z "$PROF_TEST_LONG" ] && [ $compiler = g++ ] && have gcc; then # gcc has it, above
        true
    elif links $compiler -x c++ $lto $lto_level; then
        job programs program $compiler c++ "-std=c++17 $lto_level $lto" -pthread "" ""
    else
        skip "$compiler -flto" "the linker has no plugin for it"
    fi
done

# The implementation in C and markup in C++, and the other way round.
if [ -z "$quick" ] && have gcc && have g++; then
    job programs program g++ c++ "-std=c++14 -O2" -pthread "" "$(object gcc c "-std=c99 -O2")"
    job programs program gcc c "-std=gnu11 -O2" "-pthread -lstdc++" "" "$(object g++ c++ "-std=c++11 $optimised")"
fi

# tcc has no atomics and no thread-local variables for the implementation; its programs link one that gcc made. Its
# objects do not say that they need no executable stack, so the linker is told.
if have tcc && have gcc; then
    job programs markup tcc c "" "-pthread -Wl,-z,noexecstack" "" "$(object gcc c "-std=c99 $release")"
else
    skip tcc "not installed"
fi

if [ -z "$quick" ]; then
    if have musl-gcc; then
        job implementations implementation musl-gcc c "-std=c99 -O0" "" ""
        for link in -pthread "-pthread -static"; do
            job programs program musl-gcc c "-std=c99 -O2" "$link" "" "$(object musl-gcc c "-std=c99 -O0")"
        done
    else
        skip musl-gcc "not installed"
    fi

    if links gcc -m32 -pthread; then
        job programs program gcc c "-std=c99 -O2 -m32" -pthread "" ""
    else
        skip "gcc -m32" "gcc-multilib is not installed"
    fi

    # compiler and the program that runs what it makes
    for pair in x86_64-w64-mingw32-gcc:wine i686-w64-mingw32-gcc:wine32 i686-linux-gnu-gcc: \
        aarch64-linux-gnu-gcc:qemu-aarch64 arm-linux-gnueabihf-gcc:qemu-arm riscv64-linux-gnu-gcc:qemu-riscv64; do
        compiler=${pair%%:*} runner=${pair#*:} link="-pthread -static"
        have $compiler || { skip $compiler "not installed"; continue; }
        if [ "$runner" = wine ]; then
            have wine || runner=/usr/lib/wine/wine64
            export WINEDEBUG=-all WINEPREFIX="$PWD/$out/wine"
            links $compiler && $runner ./$out/trivial.exe >/dev/null 2>&1 # makes its folder, once, which is not silent
        fi
        if [ -n "$runner" ] && ! have $runner; then
            skip "$compiler: run" "${pair#*:} is not installed"
            runner=-
        fi
        # Optimised implementations: 32 bits, whose warnings depend on that, another processor, another system.
        case $compiler$PROF_TEST_LONG in
        i686-linux-*gcc) level=-O2 optimised=-O2 ;;
        aarch64-*gcc | x86_64-w64-*gcc) level=-O2 optimised=-O1 ;;
        arm-*gcc | riscv64-*gcc) level=-O1 optimised=-O0 ;;
        *gcc) level=-O0 optimised=-O0 ;;
        *) level=-O2 optimised=-O2 ;;
        esac
        job implementations implementation $compiler c "-std=c99 $optimised" "" ""
        implementation=$(object $compiler c "-std=c99 $optimised")
        job programs program $compiler c "-std=c99 $level" "$link" "$runner" "$implementation"
        # -O0 of others: tests/cpus.sh and tests/wine.sh have it
        [ -z "$PROF_TEST_LONG" ] || implementation=
        case $compiler$PROF_TEST_LONG in x86_64-*mingw* | *1)
            job programs program $compiler c "-std=gnu17 -O0" "$link" "$runner" "$implementation" ;;
        esac
        case $compiler in *mingw*) job programs headers $compiler c "-std=gnu17 -O0" "" "" "" ;; esac
    done
fi

# ---- run them

for list in implementations programs; do
    [ -s $out/$list ] || continue
    xargs -P "${JOBS:-2}" -L 1 sh $here/matrix.sh <$out/$list
done | tee -a $out/results

passed=$(grep -c '^ok ' $out/results)
failed=$(grep -c '^FAIL ' $out/results)
jobs=$(cat $out/implementations $out/programs | wc -l)
if [ $((passed + failed)) -ne "$jobs" ]; then
    echo "FAIL matrix: $jobs jobs, but $((passed + failed)) results"
    failed=$((failed + 1))
fi
skipped=$(grep -c '^SKIP ' $out/results)
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
