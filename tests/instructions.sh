#!/bin/sh
# What a macro costs in instructions and in bytes of code, compared with limits: repeatable figures that need no quiet
# machine. Instructions: gcc -O2 on x86-64, counted by valgrind; each figure is the difference between 200 and 100 uses,
# less the loop around them. Bytes: what the first and the second scope add to a function.
#
# usage: tests/instructions.sh
cd "$(dirname "$0")/.." || exit 1
out=build/instructions
rm -rf $out
mkdir -p $out
unset PROF_OUTPUT
passed=0 failed=0 skipped=0

# The limits: the figures of gcc 12.2 and clang 14 and some room for other versions. Raise one only with a reason.
LIMITS='
bytes-first-scope-gcc          70
bytes-next-scope-gcc           63
bytes-first-scope-clang        139
bytes-next-scope-clang         148
instructions-scope             80
instructions-scope_off         7
instructions-scope_off_args    375
instructions-scope_short       86
instructions-block             80
instructions-begin_end         162
instructions-mark              45
instructions-mark_off          9
instructions-counter           60
instructions-counter_double    61
instructions-arg               37
instructions-arg_string        190
instructions-scope_text        195
instructions-next              62
instructions-scope_mask        80
instructions-scope_lost        80
instructions-step              102
instructions-flow              60
instructions-log               123
instructions-log_int           157
instructions-log_ints          187
instructions-log_off           9
instructions-arg_unsigned      37
instructions-arg_double        39
instructions-arg_bool          41
instructions-arg_pointer       37
instructions-frame             45
instructions-mark_scope        45
instructions-mark_text         160
instructions-counter_add       95
instructions-scope_format      295
instructions-scope_format_double 335
instructions-scope_format_rare 525
instructions-scope_sync        115
instructions-throughput        102
instructions-span              116
instructions-span_mark         60
instructions-alloc_free        164
instructions-memory_scope      80
instructions-mutex             210
instructions-fiber_switch      35
instructions-task              126
instructions-counter_object    105
instructions-domain            2500
instructions-read_far_args     90000
instructions-open_categories   160000
instructions-many_csv          125000
instructions-many_json         160000
instructions-many_html         390000
instructions-many_xplane       290000
instructions-many_summary      660000
instructions-ntff_string       4800
instructions-ntff_fetch        1000000
instructions-save_last         20000
instructions-save_look         12700
'

check() { # name, figure, unit
    limit=$(echo "$LIMITS" | awk -v name="$1" '$1 == name {print $2}')
    if [ -z "$limit" ]; then
        echo "FAIL $1: $2 $3, and no limit is known"
        failed=$((failed + 1))
    elif [ "$2" -gt "$limit" ] 2>/dev/null || [ -z "$2" ]; then
        echo "FAIL $1: $2 $3 are more than $limit"
        failed=$((failed + 1))
    else
        echo "ok   $1: $2 $3 (at most $limit)"
        passed=$((passed + 1))
    fi
}
skip() {
    echo "SKIP $1: $2"
    skipped=$((skipped + 1))
}
have() { command -v "$1" >/dev/null 2>&1; }

size() { # object function: its bytes, with the part that the compiler moved out of the way
    nm -S -t d "$1" | awk -v name="$2" '$4 == name || index($4, name ".") == 1 {sum += $2} END {print sum + 0}'
}

for compiler in gcc clang; do
    have $compiler || { skip "bytes: $compiler" "not installed"; continue; }
    case $($compiler -dumpmachine) in
    x86_64*) ;;
    *) skip "bytes: $compiler" "the limits are for x86-64"; continue ;;
    esac
    $compiler -std=gnu99 -O2 -I. -c tests/instructions.c -o $out/$compiler.o || { failed=$((failed + 1)); continue; }
    zero=$(size $out/$compiler.o size_0) one=$(size $out/$compiler.o size_1) two=$(size $out/$compiler.o size_2)
    check bytes-first-scope-$compiler $((one - zero)) bytes
    check bytes-next-scope-$compiler $((two - one)) bytes
done

# Instructions that load memory before it is used cost nothing that could be counted. gcc once removed most of them: 4
# were left, of 14.
prefetches() {
    have objdump || return 0
    loads=$(objdump -d $out/implementation.o | grep -c prefetch)
    if [ "$loads" -lt 12 ]; then
        echo "FAIL prefetches: gcc has kept $loads, not at least 12"
        failed=$((failed + 1))
    else
        echo "ok   prefetches: gcc has kept $loads (at least 12)"
        passed=$((passed + 1))
    fi
}

count() {
    printf '#define PROF_IMPLEMENTATION\n#include "prof_%s.h"\n' chrome html ntff xplane >$out/implementation.c
    gcc -std=gnu99 -O2 -I. -c $out/implementation.c -o $out/implementation.o && prefetches &&
        gcc $out/gcc.o $out/implementation.o -o $out/instructions -pthread -ldl || return 1
    valgrind --tool=callgrind --vgdb=no --callgrind-out-file=$out/dump '--dump-before=measure_*' \
        $out/instructions >$out/output 2>$out/valgrind
    code=$?
    [ $code -eq 0 ] || return $code
    # Dumps in order, each with what ran since the one before it, at the begins of four calls for each function: one
    # use, 100, 200, one. The third dump has the 100, the fourth the 200.
    ls $out/dump.* | sed 's/.*\.//' | sort -n | while read -r number; do
        sed -n -e 's/^desc: Trigger: --dump-before=measure_//p' -e 's/^summary: //p' $out/dump.$number | tr '\n' ' '
        echo
    done | awk '{
        if ($1 == name) ++uses; else { name = $1; uses = 1 }
        if (uses == 3) hundred = $2
        if (uses == 4) print name, ($2 - hundred) / 100
    }' >$out/counts
}

if ! have gcc || ! have valgrind; then
    skip "instructions" "needs gcc and valgrind"
elif ! valgrind -q true >/dev/null 2>&1; then
    skip "instructions" "valgrind does not work here"
elif [ "$(gcc -dumpmachine | cut -d- -f1)" != x86_64 ]; then
    skip "instructions" "the limits are for x86-64"
else
    count
    code=$?
    if [ $code -eq 3 ]; then
        skip "instructions" "$(cat $out/output)" # this processor's counter cannot be trusted
    elif [ $code -ne 0 ] || ! [ -s $out/counts ]; then
        echo "FAIL instructions: cannot be counted"
        tail -5 $out/valgrind | sed 's/^/    /'
        failed=$((failed + 1))
    else
        loop=$(awk '$1 == "loop" {print $2}' $out/counts)
        while read -r name figure; do
            [ $name = loop ] && continue
            whole=$(echo "$figure $loop" | awk '{x = $1 - $2; print x == int(x) ? x : int(x) + 1}')
            check instructions-$name "$whole" instructions
        done <$out/counts
    fi
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
