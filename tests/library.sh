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
finish
