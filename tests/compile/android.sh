#!/bin/bash
# Android: all headers compile with bionic's headers for three of its processors and for old and new releases, without a
# warning; and all that the object file needs is in the lists of what bionic exports in that release. Nothing
# is linked with an NDK, or run. BIONIC is a checkout of platform/bionic (for example github.com/aosp-mirror's).
#
# usage: BIONIC=folder tests/compile/android.sh
cd "$(dirname "$0")/../.." || exit 1
work=build/compile/android
passed=0 failed=0
finish() {
    echo "$passed passed, $failed failed, ${1:-0} skipped"
    [ $failed = 0 ]
    exit
}
if ! [ -f "${BIONIC:-/nowhere}/libc/libc.map.txt" ]; then
    echo "SKIP android: no bionic, set BIONIC to a checkout of platform/bionic"
    finish 1
fi
nm=$(command -v llvm-nm || command -v llvm-nm-14 || echo nm)
command -v clang >/dev/null && command -v python3 >/dev/null || { echo "SKIP android: no clang, or no python3"; finish 1; }
mkdir -p $work
printf '#define PROF_IMPLEMENTATION\n#include "tests/compile/all.h"\n' >$work/all.c
cp $work/all.c $work/all.cpp

# what is undefined in an object file, and is in none of bionic's lists for this processor and release
cat >$work/missing.py <<'END'
import re, subprocess, sys
bionic, arch, release, file = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
there = {'atexit'}                                       # in each program's own crtbegin
there |= {'__emutls_get_address', '__trunctfdf2', '__extenddftf2'}  # in the compiler's library, as the next ones
for name in ('libc/libc.map.txt', 'libdl/libdl.map.txt', 'libm/libm.map.txt'):
    for line in open(f'{bionic}/{name}'):
        match = re.match(r'\s+(\w+);\s*(?:#\s*(.*))?$', line)
        if not match: continue
        tags, since = (match[2] or '').split(), 0
        archs = [t for t in tags if t in ('arm', 'arm64', 'x86', 'x86_64', 'riscv64')]
        for tag in tags:
            if tag.startswith(('introduced=', f'introduced-{arch}=')): since = int(tag.split('=')[1])
        if (not archs or arch in archs) and since <= release: there.add(match[1])
lines = subprocess.run([sys.argv[5], '-u', file], capture_output=True, text=True, check=True).stdout.split('\n')
needed = {line.split()[-1] for line in lines if line.strip()}
missing = sorted(n for n in needed - there if not n.startswith(('__aeabi_', '__udivdi', '__umoddi', '__divdi', '__moddi')))
assert len(needed) > 100, needed
print(' '.join(missing))
END
for target in "arm64 aarch64-linux-android arm64" "x86_64 x86_64-linux-android x86" "arm armv7a-linux-androideabi arm"; do
    set -- $target
    for release in 21 24 30; do
        flags="--target=$2$release -nostdinc -isystem $(clang -print-resource-dir)/include -isystem $BIONIC/libc/include
            -isystem $BIONIC/libc/kernel/uapi -isystem $BIONIC/libc/kernel/uapi/asm-$3
            -isystem $BIONIC/libc/kernel/android/uapi -Wall -Wextra -Wshadow -Wno-misleading-indentation -I. -O0"
        if text=$(clang -std=gnu99 $flags -c $work/all.c -o $work/all.o 2>&1) && [ -z "$text" ] &&
            text=$(python3 $work/missing.py "$BIONIC" $1 $release $work/all.o "$nm" 2>&1) && [ -z "$text" ]; then
            echo "ok   android: $1, API $release"
            passed=$((passed + 1))
        else
            echo "FAIL android: $1, API $release"
            echo "$text" | head -n 8
            failed=$((failed + 1))
        fi
        [ "$1" = arm64 ] || break
    done
done
finish
