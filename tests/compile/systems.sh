#!/bin/bash
# Other systems: every header with its implementation compiles without a warning for macOS, FreeBSD, NetBSD and OpenBSD,
# and a recorder links for macOS, FreeBSD and Windows on AArch64. None of these is run. A recorder for WASI is linked and
# run by wasmtime. The compiler with the system headers of all is Zig's, which comes from PyPI as wasmtime does; both stay
# in build/systems.
#
# Zig builds the libraries that a program links, in minutes: so programs go without those of its own sanitizer, and, where
# the system's library suffices, without the compiler's. For Windows all of MinGW would be built: instead, what the
# recorder needs must be in Debian's MinGW for x86-64, which has the same sources. PROF_TEST_LONG=1, or no such MinGW: it
# is linked. For WASI the objects are linked with Debian's wasi-libc; what that one is too old to have is compiled from
# Zig's, which is newer. PROF_TEST_LONG=1, or no such package: with the library that Zig builds.
cd "$(dirname "$0")/../.." || exit 1
work=$PWD/build/systems
. tests/checks.sh
mkdir -p "$work"
export ZIG_GLOBAL_CACHE_DIR=$work/cache ZIG_LOCAL_CACHE_DIR=$work/cache
python=$work/venv/bin/python
if ! "$python" -m ziglang version >/dev/null 2>&1; then
    rm -rf "$work/venv"
    python3 -m venv "$work/venv" >"$work/pip.log" 2>&1 && "$work/venv/bin/pip" install --no-compile --quiet ziglang >>"$work/pip.log" 2>&1
fi
if ! "$python" -m ziglang version >/dev/null 2>&1; then
    echo "SKIP systems: pip install ziglang failed, see $work/pip.log"
    skipped=1
    finish
fi

{
    echo '#define PROF_IMPLEMENTATION'
    for header in $(ls prof*.h | grep -v mpi); do echo "#include \"$header\""; done
} >"$work/all.c"
cp "$work/all.c" "$work/all.cpp"
cat >"$work/recorder.c" <<'C'
#define PROF_IMPLEMENTATION
#include "prof_chrome.h"
int main(void)
{
    if (prof_start(NULL) != PROF_OK) return 1;
    for (int i = 0; i < 1000; ++i) {
        PROFILE_SCOPE("scope");
        PROFILE_ARG_I("i", i);
    }
    return prof_stop() != PROF_OK || prof_save("trace.json") != PROF_OK;
}
C
builds() { # NAME ARGUMENTS...: succeeds, and says nothing
    name=$1
    shift
    if text=$(timeout 600 "$python" -m ziglang "$@" 2>&1) && [ -z "$text" ]; then
        echo "ok   $name"
        passed=$((passed + 1))
    else
        echo "FAIL $name"
        echo "$text" | grep -E 'error|warning' | head -8
        failed=$((failed + 1))
    fi
}
plain='-O0 -fno-sanitize=undefined -I.'
warnings='-Wall -Wextra -Wshadow'
for target in aarch64-macos x86_64-freebsd x86_64-netbsd x86_64-openbsd; do
    builds "$target: all headers in C99" \
        cc -target $target -std=gnu99 $plain $warnings -c "$work/all.c" -o "$work/$target.o"
done
# Zig has no headers of iOS: those of macOS, which are the same SDK's, but do not hide what iOS has not.
darwin=$("$python" -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__))')/lib/libc/include/any-darwin-any
builds "aarch64-ios: all headers in C99, with the headers of macOS" \
    cc -target aarch64-ios -std=gnu99 $plain $warnings -isystem "$darwin" -c "$work/all.c" -o "$work/ios.o"
builds "aarch64-macos: all headers in C++11" \
    c++ -target aarch64-macos -std=c++11 $plain $warnings -c "$work/all.cpp" -o "$work/cpp.o"
for target in aarch64-macos x86_64-freebsd; do
    builds "$target: a recorder links" build-exe -target $target -lc -fno-compiler-rt -fno-ubsan-rt \
        -cflags -std=gnu99 $plain -- "$work/recorder.c" "-femit-bin=$work/recorder.$target"
done

cat >"$work/undefined.py" <<'PYTHON'
import struct, sys
data = open(sys.argv[1], "rb").read() # an object of Windows: 18 bytes for each symbol, then long names
symbols, count = struct.unpack_from("<II", data, 8)
names, at = symbols + 18 * count, 0
while at < count:
    text, value, section, kind, storage, more = struct.unpack_from("<8sIhHBB", data, symbols + 18 * at)
    if text[:4] == bytes(4):
        start = names + struct.unpack_from("<I", text, 4)[0]
        text = data[start:data.index(0, start)]
    if storage == 2 and section == 0 and value == 0: # external, and not here
        print(text.rstrip(bytes(1)).decode())
    at += 1 + more
PYTHON
windows=aarch64-windows-gnu mingw=/usr/x86_64-w64-mingw32/lib
if [ -n "$PROF_TEST_LONG" ] || ! [ -f $mingw/libucrt.a ]; then
    builds "$windows: a recorder links" cc -target $windows -std=gnu99 $plain "$work/recorder.c" -o "$work/recorder.exe"
else
    builds "$windows: a recorder compiles" \
        cc -target $windows -std=gnu99 $plain -fno-stack-protector -c "$work/recorder.c" -o "$work/recorder.obj"
    "$python" "$work/undefined.py" "$work/recorder.obj" | LC_ALL=C sort -u >"$work/undefined"
    { # the first two are named otherwise for x86-64, the third is where a program begins
        printf '%s\n' __chkstk __imp__setjmpex atexit
        for name in ucrt mingwex mingw32 kernel32; do x86_64-w64-mingw32-nm -g --defined-only $mingw/lib$name.a; done
    } 2>/dev/null | awk 'NF { print $NF }' | LC_ALL=C sort -u >"$work/defined"
    missing=$(LC_ALL=C comm -23 "$work/undefined" "$work/defined")
    if [ "$(wc -l <"$work/undefined")" -gt 30 ] && [ -z "$missing" ]; then
        echo "ok   $windows: libraries have the $(wc -l <"$work/undefined") names that a recorder needs"
        passed=$((passed + 1))
    else
        echo "FAIL $windows: not in any library:" $missing "($(wc -l <"$work/undefined") names needed)"
        failed=$((failed + 1))
    fi
fi

# WASI: a file that prof_start() names, written by prof_stop() because mappings are copies there, and one of prof_save().
cat >"$work/wasi.c" <<'C'
#define PROF_IMPLEMENTATION
#include "prof_chrome.h"
#include <stdio.h>
int main(void)
{
    prof_config config;
    if (prof_config_from_env(&config)) return 2;
    config.output = "wasi.prof";
    if (prof_start(&config)) return fprintf(stderr, "%s\n", prof_error()), 3;
    for (int i = 0; i < 1000; ++i) {
        PROFILE_SCOPE("scope");
        PROFILE_ARG_I("i", i);
    }
    prof_config stream = {0};
    stream.output = "stream.prof";
    stream.mode = PROF_STREAM;
    if (prof_stop() || prof_save("wasi.json")) return fprintf(stderr, "%s\n", prof_error()), 4;
    if (prof_start(&stream) != PROF_UNSUPPORTED) return 5; /* there are no threads */
    return 0;
}
C
cat >"$work/wasi.py" <<'PYTHON'
import sys
from wasmtime import Engine, ExitTrap, Linker, Module, Store, WasiConfig
store = Store(Engine())
linker = Linker(store.engine)
linker.define_wasi()
wasi = WasiConfig()
wasi.inherit_stderr()
wasi.preopen_dir(".", ".")
store.set_wasi(wasi)
try:
    linker.instantiate(store, Module.from_file(store.engine, sys.argv[1])).exports(store)["_start"](store)
except ExitTrap as ended:
    sys.exit(ended.code)
PYTHON
rm -f "$work/wasi.wasm"
wasi="cc -target wasm32-wasi -std=gnu99 $plain -D_WASI_EMULATED_MMAN"
libc=/usr/lib/wasm32-wasi builtins=$(clang --target=wasm32-wasi -print-libgcc-file-name 2>/dev/null)
if [ -n "$PROF_TEST_LONG" ] || ! [ -f $libc/libc.a ] || ! [ -f "$builtins" ] || ! command -v wasm-ld >/dev/null; then
    builds "wasm32-wasi: a recorder links" $wasi $warnings "$work/wasi.c" -lwasi-emulated-mman -o "$work/wasi.wasm"
else
    library=$("$python" -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__))')/lib/libc
    musl=$library/musl wasi_musl=$library/wasi/libc-top-half/musl
    floor=$library/wasi/libc-bottom-half
    folders="-I$floor/headers/private -I$floor/cloudlibc/src/include" objects=
    for folder in "$wasi_musl/arch/wasm32" {"$wasi_musl","$musl"}/{arch/generic,src/include,src/internal}; do
        folders="$folders -I$folder"
    done
    builds "wasm32-wasi: a recorder compiles" $wasi $warnings -fno-stack-protector -c "$work/wasi.c" -o "$work/wasi.o"
    for source in "$musl"/src/thread/pthread_{getspecific,setspecific,setcancelstate}.c \
        "$wasi_musl"/src/thread/pthread_{key_create,self}.c "$library"/wasi/thread-stub/pthread_rwlock_{wrlock,unlock}.c \
        "$floor/sources/posix.c"; do
        object=$work/wasi_$(basename "$source" .c).o
        "$python" -m ziglang $wasi -w -fno-stack-protector $folders -c "$source" -o "$object" >>"$work/wasi.log" 2>&1
        objects="$objects $object"
    done
    if text=$(wasm-ld -L$libc $libc/crt1-command.o "$work/wasi.o" $objects -lwasi-emulated-mman -lc "$builtins" \
        -o "$work/wasi.wasm" 2>&1) && [ -z "$text" ]; then
        echo "ok   wasm32-wasi: a recorder links"
        passed=$((passed + 1))
    else
        echo "FAIL wasm32-wasi: a recorder links"
        echo "$text" | head -8
        failed=$((failed + 1))
    fi
fi
scopes() { # FILE COUNT: its scopes, as prof summary tells them
    build/prof summary "$1" | grep -E "^scope +$2 "
}
if "$python" -c 'import wasmtime' 2>/dev/null || "$python" -m pip install --no-compile --quiet wasmtime >>"$work/pip.log" 2>&1; then
    rm -f "$work/wasi.prof" "$work/wasi.json"
    succeeds "wasm32-wasi: the recorder runs" bash -c "cd '$work' && timeout 120 venv/bin/python3 wasi.py wasi.wasm"
    succeeds "wasm32-wasi: all scopes are in its .json" test "$(grep -c '"ph":"X"' "$work/wasi.json")" = 1000
    if make -s CFLAGS=-O0 build/prof >/dev/null 2>&1; then
        succeeds "wasm32-wasi: all scopes are in its .prof" scopes "$work/wasi.prof" 1,000
    fi
else
    echo "SKIP wasm32-wasi: pip install wasmtime failed, see $work/pip.log"
    skipped=$((skipped + 1))
fi
finish
