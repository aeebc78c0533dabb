#!/bin/sh
# prof_openmp.h with LLVM's OpenMP: regions, loops, tasks, barriers, names of threads, nested regions, the child of a fork,
# sessions that begin late; a program that nobody compiled with it, and a library that is unloaded; with gcc's OpenMP
# it changes nothing. In C and C++, and left out.
#
# usage: tests/openmp.sh
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
unset PROF_OUTPUT
out=$PWD/build/openmp
rm -rf "$out"
mkdir -p "$out"
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"
printf '#define PROF_IMPLEMENTATION\n#include "prof_openmp.h"\nextern int nothing;\nint nothing;\n' >"$out/alone.c"
cp "$out/alone.c" "$out/alone.cpp"
for cc in gcc clang; do
    command -v $cc >/dev/null || { skip "$cc" "not installed"; continue; }
    quiet=$([ $cc = gcc ] && echo -Wno-misleading-indentation)
    [ $cc = clang ] || succeeds "$cc: strict C99" $cc -std=c99 -I. -O0 $warnings $quiet -c "$out/alone.c" -o "$out/alone.o"
    succeeds "$cc: C++" $cc -std=c++11 -I. -O0 $warnings $quiet -c "$out/alone.cpp" -o "$out/alone.o"
done
cc=$(command -v clang || echo cc)
succeeds "with PROF_MINIMAL" $cc -std=c99 -I. -O0 $warnings -DPROF_MINIMAL -c "$out/alone.c" -o "$out/alone.o"
succeeds "left out" $cc -std=c99 -I. -O0 $warnings -DPROF_ENABLE=0 -c "$out/alone.c" -o "$out/alone.o"
check "nothing of it is there then" "$(nm "$out/alone.o" | grep -i -e omp -e prof)"

c="$cc -std=gnu99 -I. -O0 -g"
echo 'int main(void) { return 0; }' >"$out/empty.c"
if ! $cc -fopenmp "$out/empty.c" -o "$out/empty" 2>/dev/null || ! nm -D "$(ldd "$out/empty" | sed -n 's/.*libomp.* => \([^ ]*\).*/\1/p')" 2>/dev/null | grep -q ompt_start_tool; then
    skip "LLVM's OpenMP" "libomp-dev is not installed"
    finish
fi
if echo '#include <omp-tools.h>' | $cc -E - >/dev/null 2>&1; then
    succeeds "the interface is that of omp-tools.h" $c $warnings -c tests/openmp/interface.c -o "$out/interface.o"
else
    skip "omp-tools.h" "not installed"
fi
make -s CFLAGS=-O0 build/prof >/dev/null 2>&1
[ -x build/prof ] || fail "the tool"
succeeds "the program" $c $warnings -fopenmp tests/openmp/program.c -o "$out/program" -pthread -ldl || finish
cp tests/openmp/program.c "$out/program.cpp"

record() { # KIND [PROGRAM]: what it records is in KIND.csv, what it prints in KIND.txt
    rm -f "$out/$1".*
    (cd "$out" && PROF_OUTPUT=$1.prof timeout 100 "./${2:-program}" "$1") >"$out/$1.txt" 2>"$out/said" &&
        build/prof export "$out/$1.prof" -o "$out/$1.csv" || { fail "$1" "$(cat "$out/said")"; return 1; }
}
calls() { grep -cE ",scope,\"?$2\"?,openmp," "$out/$1.csv"; } # KIND NAME
number() { check "$1" "$([ "$2" = "$3" ] || echo "$2, not $3")"; } # WHAT FOUND EXPECTED

if record loops; then
    check "loops: as threads measure them" "$(python3 tests/openmp/sums.py "$out/loops.txt" "$out/loops.csv" 2>&1)"
    number "regions" "$(calls loops 'omp parallel loops')" 20
    number "each thread's part" "$(calls loops 'omp thread loops')" 60
    number "its number" "$(grep -c ',omp thread loops,.*"thread=2"' "$out/loops.csv")" 20
    check "threads have names" "$(build/prof summary "$out/loops.prof" | grep -q 'LLVM' || echo "no version of the runtime")$(
        cut -d, -f3 "$out/loops.csv" | grep '^loops ' | sort -u | tr '\n' ' ' | grep -vx 'loops 1 loops 2 ')"
    check "nothing is open but what waits for the next region" "$(grep truncated "$out/loops.csv" | grep -v 'omp idle')"
fi
if record nested; then
    check "a thread keeps its track in nested regions" "$(
        tracks=$(awk -F, '$4 == "scope" { print $1 }' "$out/nested.csv" | sort -u | wc -l)
        [ "$tracks" -le "$(cat "$out/nested.txt")" ] && [ "$tracks" -gt 3 ] || echo "$tracks tracks of $(cat "$out/nested.txt") threads")"
    number "nested regions have the name of the function" "$(calls nested 'omp parallel nested')" 1200
fi
if record tasks; then
    number "tasks" "$(calls tasks 'omp task tasks')" 80
    number "waits for tasks" "$(calls tasks 'omp taskwait tasks')" 40
    number "one thread is in a single" "$(calls tasks 'omp single tasks')" 1
    number "barriers" "$(calls tasks 'omp barrier tasks')" 3
    number "sections" "$(calls tasks 'omp sections tasks')" 3
    number "barriers are waiting" "$(build/prof summary "$out/tasks.prof" | grep -c 'omp implicit barrier tasks')" 1
fi
if record named; then
    number "a thread keeps the name that the program gives" "$(grep -c ',my own,scope,of the program,' "$out/named.csv")" 2
fi
rm -f "$out"/child-*
if (cd "$out" && PROF_OUTPUT=child-%p.prof timeout 100 ./program child) >"$out/said" 2>&1; then
    for each in "$out"/child-*.prof; do build/prof export "$each" -o "$out/child.csv" && calls child 'omp parallel region'; done |
        sort | tr '\n' ' ' >"$out/counts"
    check "the child of a fork" "$(grep -vx '1 2 ' "$out/counts")"
else
    fail "the child of a fork" "$(cat "$out/said")"
fi
if (cd "$out" && timeout 100 ./program late) >"$out/said" 2>&1 && build/prof export "$out/late.prof" -o "$out/late.csv"; then
    number "a session that begins late" "$(calls late 'omp parallel region') $(calls late 'omp thread region')" "1 2"
    check "its threads have names" "$(grep -q ',region 1,scope,' "$out/late.csv" || cat "$out/late.csv")"
else
    fail "a session that begins late" "$(cat "$out/said")"
fi

if clang++ -std=c++11 -I. -O0 -fopenmp "$out/program.cpp" -o "$out/programpp" -pthread -ldl 2>"$out/said"; then
    record tasks programpp && number "C++: names are readable" "$(calls tasks 'omp task tasks')" 80
else
    fail "C++" "$(cat "$out/said")"
fi

plain="-DPLAIN -std=gnu99 -O0 -fopenmp tests/openmp/program.c"
if make -s openmp BUILD="$out" CC="$cc" CFLAGS=-O0 >"$out/said" 2>&1 && $cc $plain -o "$out/plain" 2>"$out/said"; then
    (cd "$out" && timeout 100 env PROF_OUTPUT=plain.prof LD_PRELOAD=./libprof_openmp.so ./plain plain) >"$out/said" 2>&1
    build/prof export "$out/plain.prof" -o "$out/plain.csv" 2>>"$out/said"
    number "a library that is preloaded" "$(calls plain 'omp parallel region')" 1
    cat >"$out/unload.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
static void region(void)
{
#pragma omp parallel num_threads(2)
    __asm__ volatile("");
}
int main(int count, char **args)
{
    void *library = dlopen(args[1], RTLD_NOW | RTLD_GLOBAL);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
    region();
    if (dlclose(library)) return 2;
    region();
    return count != 2;
}
END
    $c -fopenmp "$out/unload.c" -o "$out/unload" -ldl 2>"$out/said" &&
        succeeds "a library that is unloaded" env PROF_OUTPUT="$out/unload.prof" "$out/unload" "$out/libprof_openmp.so"
else
    fail "the library" "$(cat "$out/said")"
fi
if command -v gcc >/dev/null; then
    if gcc -std=gnu99 -I. -O0 -fopenmp tests/openmp/program.c -o "$out/gnu" -pthread -ldl 2>"$out/said" && record named gnu; then
        number "gcc's OpenMP: scopes of the program alone" "$(grep -c ',scope,' "$out/named.csv") $(grep -c ',my own,scope,of the program,' "$out/named.csv")" "4 2"
    fi
    if gcc -std=gnu99 -I. -O0 -fopenmp -c tests/openmp/program.c -o "$out/gnu.o" 2>"$out/said" &&
        $cc "$out/gnu.o" -fopenmp -o "$out/mixed" -pthread -ldl 2>"$out/said"; then
        record tasks mixed && number "a program of gcc, linked to LLVM's" "$(calls tasks 'omp parallel tasks') $(calls tasks 'omp task tasks')" "1 80"
    fi
fi
finish
