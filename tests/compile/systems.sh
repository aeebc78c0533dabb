#!/bin/bash
# Other systems: every header with its implementation compiles without a warning for macOS, FreeBSD, NetBSD and OpenBSD, and
# a recorder links for macOS and FreeBSD. The compiler with the system headers of all is Zig's, from PyPI; it goes to
# build/systems and stays there. Nothing is run.
cd "$(dirname "$0")/../.." || exit 1
work=$PWD/build/systems
passed=0 failed=0 skipped=0
mkdir -p "$work"
export ZIG_GLOBAL_CACHE_DIR=$work/cache ZIG_LOCAL_CACHE_DIR=$work/cache
python=$work/venv/bin/python
finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    exit $((failed > 0))
}
if ! "$python" -m ziglang version >/dev/null 2>&1; then
    rm -rf "$work/venv"
    python3 -m venv "$work/venv" >"$work/pip.log" 2>&1 && "$work/venv/bin/pip" install --quiet ziglang >>"$work/pip.log" 2>&1
fi
if ! "$python" -m ziglang version >/dev/null 2>&1; then
    echo "SKIP systems: pip install ziglang failed, see $work/pip.log"
    skipped=1
    finish
fi

{
    echo '#define PROF_IMPLEMENTATION'
    for header in prof*.h; do echo "#include \"$header\""; done
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
warnings='-O0 -Wall -Wextra -Wshadow'
for target in aarch64-macos x86_64-freebsd x86_64-netbsd x86_64-openbsd; do
    builds "$target: all headers in C99" cc -target $target -std=gnu99 $warnings -I. -c "$work/all.c" -o "$work/$target.o"
done
builds "aarch64-macos: all headers in C++11" \
    c++ -target aarch64-macos -std=c++11 $warnings -I. -c "$work/all.cpp" -o "$work/cpp.o"
for target in aarch64-macos x86_64-freebsd; do
    builds "$target: a recorder links" cc -target $target -std=gnu99 -O0 -I. "$work/recorder.c" -o "$work/recorder.$target"
done
finish
