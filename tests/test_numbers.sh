#!/bin/sh
# Numbers that are not finite, denormal or huge, in every output, in programs whose floating-point exceptions trap, and in
# programs compiled with -ffast-math. BUILD: see the Makefile.
# run: traces unchecked
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build}
work=$build/tests/numbers
mkdir -p "$work"
passed=0 failed=0 skipped=0

# check NAME COMPILER OPTION...
check() {
    name=$1
    shift
    if ! command -v "$1" >/dev/null; then skipped=$((skipped + 1)) && echo "SKIP $name: no $1" && return; fi
    if ! "$@" -std=gnu99 -w -I. -DTRACE_FOLDER="\"$work/$name\"" tests/numbers_program.c -o "$work/$name.program" \
        -pthread -lm -ldl; then
        failed=$((failed + 1)) && echo "FAIL $name: does not compile" && return
    fi
    "$work/$name.program" >"$work/$name.log" 2>&1
    status=$?
    sed "s/^\(ok  \|FAIL\|SKIP\) /\1 $name: /; /^[0-9]* passed/d" "$work/$name.log"
    set -- $(grep -E '^[0-9]+ passed' "$work/$name.log" | tr -dc '0-9 ')
    [ $# -eq 3 ] || set -- 0 1 0
    [ $status -lt 2 ] || echo "FAIL $name: status $status"
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}
check plain "${CC:-cc}" -O0
# Without what takes most of the time and has nothing to do with numbers.
check gcc_fast gcc -Og -ffast-math
check clang_fast clang -O1 -fno-inline -ffast-math
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
