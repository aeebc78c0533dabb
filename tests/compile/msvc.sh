#!/bin/sh
# Marked-up files, as Microsoft's compiler would see them: clang in its mode, without the names of gcc and clang, and
# without the headers of Windows, which these files don't need. C and C++, on three processors.
#
# usage: tests/compile/msvc.sh
#        tests/compile/msvc.sh --object FILE     only compiles tests/windows/library.c, for tests/wine.sh
cd "$(dirname "$0")/../.." || exit 1
microsoft='-fms-extensions -fms-compatibility -fms-compatibility-version=19.30 -U__GNUC__ -U__clang__ -ffreestanding
    -Wall -Wextra -Werror -I.'
if [ "$1" = --object ]; then
    exec clang --target=x86_64-pc-windows-msvc $microsoft '-DPROF_DEF=__declspec(dllimport)' -std=c11 \
        -c tests/windows/library.c -o "$2"
fi
if ! command -v clang >/dev/null; then
    echo "SKIP msvc: clang is not installed"
    exit 0
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cat >"$work/marked.c" <<'C'
#include "prof.h"
int marked(int n);
int marked(int n)
{
    PROFILE_BLOCK("block") {
        PROFILE_ARG_I("n", n);
        PROFILE_ARG_S("text", "a text");
        PROFILE_MARK("mark");
        PROFILE_COUNTER("counter", n);
    }
    PROFILE_BEGIN("begin");
    PROFILE_END("begin");
    PROFILE_FRAME("frame");
    PROFILE_THREAD("thread");
#ifdef __cplusplus
    PROFILE_SCOPE("scope");
    PROFILE_FUNCTION();
    if (n) {
        PROFILE_SCOPE("inner");
        return 1;
    }
#endif
    return n;
}
C
for target in x86_64 aarch64 i686; do
    for language in "c -std=c99" "c -std=c11" "c++ -std=c++14" "c++ -std=c++20"; do
        for enable in 1 0; do
            if clang --target=$target-pc-windows-msvc $microsoft -DPROF_ENABLE=$enable -x $language -c "$work/marked.c" \
                -o "$work/marked.o" 2>"$work/log"; then
                echo "ok   $target, $language, PROF_ENABLE=$enable"
            else
                echo "FAIL $target, $language, PROF_ENABLE=$enable"
                grep -E 'error|warning' "$work/log" | head -5
                failed=1
            fi
        done
    done
done
exit ${failed:-0}
