#!/bin/sh
# What prof.h brings into a program: names that all begin with prof or PROF, two headers of the compiler, and at most
# 800 lines of declarations.
#
# usage: tests/compile/names.sh
cd "$(dirname "$0")/../.." || exit 1
out=build/compile/names
rm -rf $out
mkdir -p $out
. tests/checks.sh


printf '#include "prof.h"\n' >$out/declarations.c
printf '#define PROF_IMPLEMENTATION\n#include "prof.h"\n' >$out/implementation.c
printf '#include <stddef.h>\n#include <stdint.h>\n' >$out/two.c
: >$out/empty.c

# Types, enumerators and variables at the left margin of the text: no compiler tells them from the system's.
for header in prof*.h; do
    sed -n -e 's, */\*.*,,' -e 's/^typedef .*[ *]\([A-Za-z0-9_]*\)\(\[.*\]\)*;.*/\1/p' \
        -e 's/^} \([A-Za-z0-9_]*\);.*/\1/p' \
        -e 's/^\(typedef \)*\(struct\|union\|enum\) \([A-Za-z0-9_]*\) {.*/\3/p' \
        -e 's/^\(static\|extern\) [^(=]*[ *]\([A-Za-z0-9_]*\)\(\[[^=]*\)*\( = .*\|;.*\)$/\2/p' $header >$out/types
    # what MinGW's runtime defines, and prof.h only declares
    check "$header: types and variables are prof_ and prof__ ($(wc -l <$out/types))" \
        "$(grep -v -e '^prof_' -e '^_tls_index$' -e '^_tls_start$' $out/types)"
done

now() { date +%s%N; }
best() { # the shorter of two runs, in microseconds
    shortest=
    for run in 1 2; do
        start=$(now)
        "$@" || return
        took=$((($(now) - start) / 1000))
        [ -n "$shortest" ] && [ "$shortest" -le "$took" ] || shortest=$took
    done
    echo "$shortest"
}

# Old spellings of functions and types are macros, for one release.
sed -n '/DEPRECATED -.*>>deprecated/,/END OF HEADER/s/^#define \(prof_[a-z_]*\)[ (].*/\1/p' prof.h >$out/deprecated

for compiler in gcc clang g++ clang++; do
    if ! command -v $compiler >/dev/null 2>&1; then
        echo "SKIP $compiler: not installed"
        skipped=$((skipped + 1))
        continue
    fi
    case $compiler in *++) language="-x c++ -std=c++11" ;; *) language="-x c -std=c11" ;; esac
    cc="$compiler $language -I."

    # -P leaves out line markers and empty lines; what the two headers bring is not ours.
    lines=$($cc -E -P $out/declarations.c | wc -l)
    theirs=$($cc -E -P $out/two.c | wc -l)
    name="$compiler: declarations are $((lines - theirs)) lines"
    if [ $((lines - theirs)) -gt 800 ]; then check "$name" "at most 800 are promised"
    elif [ $((lines - theirs)) -lt 50 ]; then check "$name" "that cannot be all"
    else check "$name" ""; fi

    for enable in 1 0; do
        $cc -DPROF_ENABLE=$enable -E $out/declarations.c | sed -n 's/^# [0-9]* "\([^<"]*\)".*/\1/p' |
            sort -u >$out/files
        $cc -E $out/two.c | sed -n 's/^# [0-9]* "\([^<"]*\)".*/\1/p' | sort -u >$out/files.two
        check "$compiler: PROF_ENABLE=$enable includes only <stddef.h> and <stdint.h>" \
            "$(grep -vxFf $out/files.two $out/files | grep -v -e '/prof\.h$' -e '^prof\.h$' -e declarations.c)"

        $cc -DPROF_ENABLE=$enable -E -dM $out/two.c | grep -v 'define PROF_ENABLE ' | sort >$out/macros.two
        $cc -DPROF_ENABLE=$enable -E -dM $out/declarations.c | sort | comm -13 $out/macros.two - |
            sed 's/^#define \([A-Za-z0-9_]*\).*/\1/' >$out/macros
        [ $enable = 0 ] && stripped='|^prof_[a-z]' || stripped=
        check "$compiler: PROF_ENABLE=$enable: macros are PROF_, PROF__, PROFILE_${stripped:+, prof_}" \
            "$(grep -Ev "^PROF_|^PROFILE_$stripped" $out/macros | grep -vxFf $out/deprecated)"
        [ -s $out/macros ] || check "$compiler: macros are defined" "none"
    done

    $cc -O0 -c $out/implementation.c -o $out/implementation.o
    nm -g --defined-only $out/implementation.o | awk '{print $NF}' >$out/globals
    # what C++ compilers themselves put beside code that destroys a scope
    check "$compiler: global symbols are prof_ and prof__ ($(wc -l <$out/globals))" \
        "$(grep -v -e '^prof_' -e '^DW\.ref\.__gxx_personality_v0$' -e '^__clang_call_terminate$' $out/globals)"
    grep -q '^prof_start$' $out/globals || check "$compiler: the implementation has prof_start" "it has not"
    nm $out/implementation.o | awk 'NF == 3 && $2 == "t" {print $3}' | sed 's/^_ZL*[0-9]*//' >$out/locals
    check "$compiler: local functions are prof__ ($(wc -l <$out/locals))" \
        "$(grep -v -e '^prof__' -e GLOBAL__sub_I -e '^__get_cpuid' $out/locals)" # <cpuid.h>, of the compiler

    $cc -O1 -c $out/declarations.c -o $out/declarations.o
    check "$compiler: including prof.h puts nothing into an object file" "$(nm $out/declarations.o)"

    empty=$(best $cc -c $out/empty.c -o $out/time.o)
    ours=$(best $cc -c $out/declarations.c -o $out/time.o)
    both=$(best $cc -c $out/two.c -o $out/time.o)
    echo "     $compiler: an empty file takes $empty us, $both us with <stddef.h> and <stdint.h>, $ours with prof.h"
done

finish
