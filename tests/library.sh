#!/bin/sh
# Tests libprof.so as `make install` installs it: a program without the implementation links to it; it is preloaded into
# a program that does not use prof; in a program with another recorder it stays out of the way. CC, BUILD as in the
# Makefile.
cd "$(dirname "$0")/.." || exit 1
root=$PWD
out=$root/build/library build=${BUILD:-build}
case $build in /*) ;; *) build=$root/$build ;; esac
cc="${CC:-cc} -std=gnu99 -O0 -Wall -Wextra -Wpedantic"
rm -rf "$out"
mkdir -p "$out"
unset PROF_OUTPUT LD_PRELOAD
. tests/checks.sh

succeeds "make install" make -s install CFLAGS=-O0 BUILD="$build" DESTDIR="$out/root" PREFIX=/usr
include=$out/root/usr/include lib=$out/root/usr/lib
[ -f "$lib/libprof.so" ] || { failed=$((failed + 1)) && finish; }

cat >"$out/linked.c" <<'END'
#include <prof_chrome.h>
int main(void)
{
    for (int i = 0; i < 3; ++i) {
        PROFILE_SCOPE("scope of linked");
        PROFILE_ARG_I("i", i);
    }
    return 0;
}
END
scopes() { # FILE NAME COUNT: the JSON has so many scopes of that name
    [ "$(grep -o "\"name\":\"$2\"" "$1" | wc -l)" = "$3" ]
}
succeeds "a program links to it" $cc -I"$include" "$out/linked.c" -o "$out/linked" -L"$lib" -lprof -Wl,-rpath,"$lib"
succeeds "and runs" env PROF_OUTPUT="$out/linked.json" "$out/linked"
succeeds "and PROF_OUTPUT records it" scopes "$out/linked.json" "scope of linked" 3

# The plugin calls what nobody but the preloaded library has.
succeeds "a plugin of markup" $cc -I"$root" -fPIC -shared -DPLUGIN_NUMBER=3 tests/plugin.c -o "$out/plugin.so" -pthread
succeeds "a program without prof" $cc -I"$root" tests/plugin_host.c -o "$out/host" -pthread -ldl
succeeds "runs under LD_PRELOAD" env LD_PRELOAD="$lib/libprof.so" PROF_OUTPUT="$out/preloaded.json" "$out/host" all "$out/plugin.so"
succeeds "and PROF_OUTPUT records the plugin" scopes "$out/preloaded.json" "plugin 3" 100

# The program's own recorder is the one.
printf '#define PROF_IMPLEMENTATION\n' | cat - "$out/linked.c" >"$out/own.c"
succeeds "a program with the implementation" $cc -I"$include" "$out/own.c" -o "$out/own" -pthread -ldl
succeeds "runs under LD_PRELOAD, too" env LD_PRELOAD="$lib/libprof.so" PROF_OUTPUT="$out/own.json" "$out/own"
succeeds "and is recorded once" scopes "$out/own.json" "scope of linked" 3

# A program that nobody marked up, and what it allocates: PROF_MALLOC tells by which functions, whatever its allocator, as
# docs/guide/memory.md says. The lines are those of the call tree.
planted() { # FILE: the rows of the tree
    sed -n '/^allocated, by stack/,/^$/s/^ *\(planted[a-z_]*\)/\1/p' "$1" | sed 's/  *[^ ]*$//; s/  */ /g'
}
cat >"$out/parent.wanted" <<'END'
planted_freed 2 1.200 kB 0 0 B
planted_one 1 1.000 kB 1 1.000 kB
planted_leak 1 1.000 kB 1 1.000 kB
planted_aligned 1 640 B 1 640 B
planted_refused 1 30 B 0 0 B
planted_thread 8 800 B 8 800 B
planted_two 8 800 B 8 800 B
planted_leak 8 800 B 8 800 B
END
cat >"$out/child.wanted" <<'END'
planted_one 1 1.000 kB 1 1.000 kB
planted_leak 1 1.000 kB 1 1.000 kB
planted_two 2 200 B 2 200 B
planted_leak 2 200 B 2 200 B
END
stacks() { # NAME COMMAND...: what it records, and what its child records
    name=$1
    shift
    rm -f "$out"/stacks*
    succeeds "$name" env PROF_OUTPUT="$out/stacks.txt" "$@" || return
    planted "$out/stacks.txt" >"$out/stacks.parent"
    planted "$(ls "$out"/stacks.*.txt)" >"$out/stacks.child"
    same "$name: each function has what it allocated" "$out/stacks.parent" "$out/parent.wanted"
    same "$name: and so in the child" "$out/stacks.child" "$out/child.wanted"
}
preload="LD_PRELOAD=$lib/libprof.so"
if echo '#include <gnu/libc-version.h>' | $cc -x c -fsyntax-only - 2>/dev/null; then
    program=$out/malloc
    succeeds "a program that allocates" $cc -I"$root" tests/malloc_program.c -o "$program" -pthread
    stacks "PROF_MALLOC records its allocations" "$preload" PROF_MALLOC=8 "$program"
    succeeds "an allocator" $cc -DALLOCATOR -fno-builtin -fPIC -shared tests/malloc_program.c -o "$out/liballocator.so"
    succeeds "a program with it" $cc tests/malloc_program.c -o "$program" -pthread -L"$out" -lallocator -Wl,-rpath,"$out"
    stacks "PROF_MALLOC records what another allocator gives" "$preload" PROF_MALLOC=8 "$program"
    succeeds "a program with another allocator" env PROF_OUTPUT="$out/none.txt" "$preload" "$program"
    lacks "without PROF_MALLOC no allocation is recorded" "$out/none.txt" "allocated by"
    for bad in 33 8x -1; do
        env "$preload" PROF_MALLOC=$bad "$program" 2>"$out/said"
        has "PROF_MALLOC=$bad is refused" "$out/said" "prof: PROF_MALLOC '$bad': must be 0, or how many functions"
    done
    succeeds "a program that records its stacks" $cc -I"$root" -DPROF_IMPLEMENTATION -DPROF_WRAP_MALLOC \
        -DPROF_MALLOC_CALLERS=8 tests/malloc_program.c -o "$program" -pthread -ldl
    stacks "PROF_MALLOC_CALLERS=8" "$program"
else
    skip "PROF_MALLOC" "not glibc"
fi
finish
