#!/bin/sh
# Checks the errors at compile time: each says what to do. Correct code compiles without a warning, even if headers of
# Windows define some of its names as macros.
#
# usage: tests/compile/refused.sh
cd "$(dirname "$0")/../.." || exit 1
here=tests/compile
out=${BUILD:-build}/compile/refused
mkdir -p $out
. tests/checks.sh

refused() { # WRONG WORDS: the compiler says so
    said=$($compile -DWRONG=$1 $here/refused.c 2>&1) && { check "$compile: $1" "it compiles"; return; }
    echo "$said" | grep -q "$2" && said=
    check "$compile: $1: $2" "$said"
}

for compile in "gcc -std=c99" "gcc -std=gnu17" "clang -std=c99" "clang -std=gnu17" "g++ -x c++ -std=c++11" \
    "g++ -x c++ -std=c++20" "clang++ -x c++ -std=c++11" "clang++ -x c++ -std=c++20"; do
    if ! ${compile%% *} --version >/dev/null 2>&1; then
        echo "SKIP ${compile%% *}: not installed"
        skipped=$((skipped + 1))
        continue
    fi
    compile="$compile -I. -fsyntax-only"
    check "$compile: what is right" \
        "$($compile -Wall -Wextra -Wpedantic -Wconversion -Wshadow -DWRONG=0 $here/refused.c 2>&1)"
    for wrong in 1 2 3; do refused $wrong PROFILE_SCOPE_DYNAMIC; done
    case $compile in *c++*) refused 8 PROFILE_SCOPE_DYNAMIC ;; esac
    for wrong in 4 5; do refused $wrong needs_braces_around_it; done
    echo '#if __has_attribute(unavailable)
#else
#error
#endif' | $compile -x c - 2>/dev/null && refused 6 'with parentheses'
    case $compile in
    gcc*) compile="$compile -Wjump-misses-init -Werror" ;; # it says nothing otherwise
    clang*) check "$compile: no marks that are not so" \
        "$($compile -Wused-but-marked-unused -Werror -DWRONG=0 $here/refused.c 2>&1)" ;;
    esac
    refused 7 jump
done

# What a header before has left on, or is around prof's, changes nothing.
{
    echo '#pragma pack(1)'
    for each in chrome html report xplane ntff server vulkan gl opencl; do echo "#include \"prof_$each.h\""; done
    echo '#include <stddef.h>'
    echo 'struct packed { char a; int b; };'
    echo 'typedef char still_packed[sizeof(struct packed) == 5 ? 1 : -1];'
    echo 'typedef char aligned[offsetof(prof_config, min_duration_ns) % sizeof(char *) == 0 ? 1 : -1];'
    echo 'typedef char no_gap[offsetof(prof_config, mode) == sizeof(char *) + sizeof(size_t) ? 1 : -1];'
    echo 'typedef char a_gap[offsetof(prof_config, categories) % sizeof(char *) == 0 ? 1 : -1];'
} >$out/packed.c
cat >$out/extern.cpp <<'END'
extern "C" {
#include "tests/compile/all.h"
static inline int tick(int n)
{
    PROFILE_BLOCK("tick") { ++n; }
    PROFILE_ARG("n", n);
    PROFILE_TRACE("logs") { PROFILE_SCOPE("traced"); }
    return n;
}
}
int main() { PROFILE_ARGS(PROF_ARG("n", 1)); return tick(-1); }
END
for compile in "gcc -std=c99" "clang -std=c99" "g++ -x c++ -std=c++11" "clang++ -x c++ -std=c++20"; do
    ${compile%% *} --version >/dev/null 2>&1 || continue
    flags="-Wall -Wextra -Wpedantic -I. -fsyntax-only"
    check "$compile: #pragma pack(1)" "$($compile $flags $out/packed.c 2>&1)"
    case $compile in *++*) check "$compile: extern \"C\"" "$($compile $flags $out/extern.cpp 2>&1)" ;; esac
done

for compile in "gcc -std=c89" "clang -ansi" "g++ -x c++ -std=c++98" "clang++ -x c++ -std=gnu++98"; do
    ${compile%% *} --version >/dev/null 2>&1 || continue # said above
    compile="$compile -I. -fsyntax-only"
    refused 0 'prof.h needs C'
done

# rpcndr.h, windef.h, combaseapi.h, dlgs.h
for word in near far cdecl pascal IN OUT OPTIONAL FAR CONST VOID; do echo "#define $word"; done >$out/windows.h
{
    echo '#define small char'
    echo '#define hyper long long'
    echo '#define interface struct'
    echo '#define min(a, b) ((a) < (b) ? (a) : (b))'
    echo '#define max(a, b) ((a) > (b) ? (a) : (b))'
    for word in ERROR NO_ERROR TRUE FALSE DELETE STRICT Yield MIN MAX PASCAL lst1 edt1 ico1 scr1 stc1 grp1 chx1; do
        echo "#define $word 0"
    done
} >>$out/windows.h
{
    sed 's/.*/#include <&>/' <<END
errno.h
fcntl.h
pthread.h
signal.h
stdio.h
stdlib.h
string.h
time.h
unistd.h
setjmp.h
poll.h
limits.h
link.h
dirent.h
dlfcn.h
arpa/inet.h
netinet/in.h
netinet/tcp.h
sys/mman.h
sys/prctl.h
sys/socket.h
sys/stat.h
sys/syscall.h
END
    echo '#include "windows.h"'
    echo '#define PROF_IMPLEMENTATION'
    echo '#include "tests/compile/all.h"'
} >$out/words.c
for compile in "gcc -std=gnu17" "g++ -x c++ -std=c++17"; do
    ${compile%% *} --version >/dev/null 2>&1 || continue
    check "$compile: words of Windows" \
        "$($compile -w -I. -I$out -D_GNU_SOURCE -DPROF_INSTRUMENT_FUNCTIONS -fsyntax-only $out/words.c 2>&1 | grep error)"
done

finish
