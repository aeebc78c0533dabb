#!/bin/sh
# The implementation after other headers: every system header first, in every standard of C and C++, without a warning;
# whatever feature macros the program sets; each header of prof by itself; and programs that record, are read again,
# and crash.
#
# usage: tests/compile/headers.sh [quick]     quick: two standards and a program, for `make test`
#        PROF_TEST_LONG=1                     each compiler with each standard and feature: else they share what only the
#                                             system's headers, which are the same to them, care for
cd "$(dirname "$0")/../.." || exit 1
here=tests/compile
out=${BUILD:-build}/compile/headers
case $out in /*) out=build/compile/headers ;; esac # programs are run as ./$out/program
quick=$1
rm -rf $out
mkdir -p $out
. tests/checks.sh
unset PROF_OUTPUT

have() { command -v "$1" >/dev/null 2>&1; }
WARNINGS="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wfloat-equal -Wswitch-enum -Werror -Wno-misleading-indentation"
looks() { # COMPILER LANGUAGE FLAGS...: what the compiler has to say, without making code
    compiler=$1 language=$2
    shift 2
    silent "$compiler $*" $compiler -x $language $WARNINGS -I. -I$here "$@" -fsyntax-only $here/headers.c
}
knows() { $1 -x $2 -std=$3 -fsyntax-only /dev/null >/dev/null 2>&1; } # COMPILER LANGUAGE STANDARD

# runs COMPILER FLAGS...: a program that records and is read again, and one that crashes and says where
runs() {
    program=$out/program
    rm -f $program*
    called="$*: a program"
    "$@" -Wall -Wno-misleading-indentation -Werror -I. -I$here $here/headers.c -o $program -pthread -ldl >$program.made 2>&1
    # a static glibc warns of dlopen()
    silent "$called" sh -c "grep -a -v -e 'in function' -e 'statically linked' $program.made; test -x $program" || return
    silent "$called records" env PROF_OUTPUT=$program.prof ./$program || return
    silent "$called is read again" ./$program $program.prof
    PROF_OUTPUT=$program.crash.prof PROF_CRASH_REPORT=1 sh -c "ulimit -c 0; ./$program crash" >$program.said 2>&1
    silent "$called reports its crash" grep -q 'SIGSEGV in thread.*work' $program.said
}

if [ "$quick" = quick ]; then
    for compiler in gcc clang; do
        have $compiler || { skip $compiler "not installed"; continue; }
        looks $compiler c -std=c99 -DORDER=EVERY
        looks $compiler c -std=gnu17 -DORDER=TWICE
    done
    have gcc && runs gcc -std=c99 -DORDER=EVERY
    echo "$passed passed, $failed failed, $skipped skipped"
    [ $failed -eq 0 ]
    exit
fi

# Every standard, and the features that programs ask for.
shared() { [ -z "$PROF_TEST_LONG" ] && have clang && have gcc && have g++ && have clang++; }
for compiler in gcc clang; do
    have $compiler || { skip $compiler "not installed"; continue; }
    standards="c99 c11 c17 c2x gnu99 gnu11 gnu17 gnu2x" orders="ONE TWICE ASKED POLLUTED" all="EVERY TWICE"
    ! shared || case $compiler in
    gcc) standards="c99 c2x gnu17" all=EVERY ;;
    clang) standards="c99 c17 gnu11 gnu2x" orders="TWICE POLLUTED" all= ;;
    esac
    for standard in $standards; do
        knows $compiler c $standard || { skip "$compiler -std=$standard" "not known"; continue; }
        looks $compiler c -std=$standard -DORDER=EVERY
    done
    for order in $orders; do looks $compiler c -std=c99 -DORDER=$order; done
    for order in $all; do
        for feature in _POSIX_C_SOURCE=199309L _POSIX_C_SOURCE=200809L _XOPEN_SOURCE=600 _DEFAULT_SOURCE; do
            looks $compiler c -std=c11 -D$feature -DORDER=$order
        done
    done
    looks $compiler c -std=c99 -D_GNU_SOURCE -DORDER=EVERY
    looks $compiler c -std=c99 -DPROF_INSTRUMENT_FUNCTIONS -DPROF_WRAP_MALLOC -DPROF_MALLOC_CALLERS=8 -DPROF_WRAP_WAITS -DORDER=EVERY
done
for compiler in g++ clang++; do
    have $compiler || { skip $compiler "not installed"; continue; }
    standards="c++11 c++14 c++17 c++20 c++2b gnu++17"
    ! shared || case $compiler in
    g++) standards="c++11 c++17 c++2b" ;;
    clang++) standards="c++14 c++20 gnu++17" ;;
    esac
    for standard in $standards; do
        knows $compiler c++ $standard || { skip "$compiler -std=$standard" "not known"; continue; }
        looks $compiler c++ -std=$standard -DORDER=EVERY
    done
    for order in TWICE POLLUTED; do looks $compiler c++ -std=c++11 -DORDER=$order; done
done

# Programs warn of more than we do; macros must not make them warn of their own lines.
strict="-Wcast-qual -Wsign-conversion -Wdouble-promotion -Wfloat-equal -Wformat=2 -Wundef"
strict="$strict -Wmissing-declarations -Wredundant-decls -Wvla"
for compiler in gcc clang; do
    have $compiler || continue
    [ $compiler = gcc ] && more= || more="-Wextra-semi-stmt -Wcomma -Wassign-enum -Wunreachable-code -Wshadow-all"
    silent "$compiler: stricter warnings" $compiler -std=c99 -Wall -Wextra $strict $more -I. -c $here/markup.c -o $out/strict.o
    have ${compiler%cc}++ && compiler=${compiler%cc}++
    [ $compiler = clang ] && compiler=clang++
    have $compiler || continue
    silent "$compiler: stricter warnings" $compiler -x c++ -std=c++17 -Wall -Wextra $strict -Wold-style-cast $more \
        -Wextra-semi -Wnon-virtual-dtor -Woverloaded-virtual -I. -c $here/markup.c -o $out/strict.o
done

# What is left of clang's -Weverything where prof.h is a system header: docs/guide/start.md names it. The rest is of markup.c itself.
mkdir -p $out/system
for file in markup.c markup.h; do sed 's/#include "prof.h"/#include <prof.h>/' $here/$file >$out/system/$file; done
every="-Weverything -Wno-used-but-marked-unused -Wno-padded -Wno-unused-macros -isystem . -fsyntax-only $out/system/markup.c"
have clang && silent "clang: -Weverything" clang -std=c11 -Wno-declaration-after-statement $every
have clang++ && silent "clang++: -Weverything" clang++ -x c++ -std=c++20 -Wno-c++98-compat -Wno-c++98-compat-pedantic \
    -Wno-zero-as-null-pointer-constant $every

# Each header brings what it needs; tests/mpi.sh has the one that needs MPI.
for header in $(ls prof*.h | grep -v mpi); do
    printf '#define PROF_IMPLEMENTATION\n#include "%s"\nextern int nothing;\n' $header >$out/alone.c
    have gcc && silent "gcc: $header alone" gcc -std=c99 $WARNINGS -I. -fsyntax-only $out/alone.c
    [ -n "$PROF_TEST_LONG" ] && have g++ && silent "g++: $header alone" g++ -x c++ -std=c++20 $WARNINGS -I. -fsyntax-only $out/alone.c
done

# Of indentation once, of all: it takes gcc longer than anything else.
printf '#define PROF_IMPLEMENTATION\n#include "tests/compile/all.h"\nextern int nothing;\n' >$out/alone.c
have gcc && silent "gcc: indentation" gcc -std=c99 $WARNINGS -Wmisleading-indentation -I. -fsyntax-only $out/alone.c

# Optimised, once; other C libraries and processors: their names of functions whose types became wider.
have gcc && runs gcc -std=c99 -Og -Wextra -D_FORTIFY_SOURCE=2 -DORDER=EVERY
have clang && runs clang -std=gnu17 -DORDER=ONE
if have musl-gcc; then
    for order in ONE EVERY TWICE; do looks musl-gcc c -std=c99 -DORDER=$order; done
    for feature in _POSIX_C_SOURCE=200809L _XOPEN_SOURCE=600 _GNU_SOURCE; do
        looks musl-gcc c -std=c11 -D$feature -DORDER=EVERY
    done
    runs musl-gcc -std=c99 -DORDER=EVERY -static
else
    skip musl-gcc "not installed"
fi
for compiler in i686-linux-gnu-gcc arm-linux-gnueabihf-gcc; do
    have $compiler || { skip $compiler "not installed"; continue; }
    looks $compiler c -std=c99 -DORDER=EVERY
    wide="-D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64"
    looks $compiler c -std=c99 $wide -DORDER=EVERY
    [ $compiler = i686-linux-gnu-gcc ] || continue
    printf 'int main(void) { return 0; }\n' >$out/trivial.c
    if $compiler -static $out/trivial.c -o $out/trivial 2>/dev/null && ./$out/trivial 2>/dev/null; then
        runs $compiler -std=c99 $wide -DORDER=EVERY -static
    else
        skip "$compiler: a program" "does not run here"
    fi
done

finish
