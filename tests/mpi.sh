#!/bin/sh
# prof_mpi.h with real MPIs, Open MPI's and MPICH's, on this machine, with four ranks: each arrow leads from a message's send
# to its receive, also where receives are of any source, in doubt, cancelled, persistent or matched; arguments of messages
# and collectives; clocks that differ; a program that nobody compiled with it. In C and C++, and left out.
#
# usage: tests/mpi.sh [openmpi|mpich]...
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
unset PROF_OUTPUT
out=$PWD/build/mpi
rm -rf "$out"
mkdir -p "$out"
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Wno-misleading-indentation -Wno-error=stringop-overflow"
make -s CFLAGS=-O0 build/prof >/dev/null 2>&1
[ -x build/prof ] || fail "the tool"

ranks() { # VARIABLE=VALUE PROGRAM ARGUMENTS...: four of them, whose recordings are $kind-RANK.prof
    variable=$1
    shift
    rm -f "$out/$kind"-*
    case $mpi in openmpi) set -- --allow-run-as-root --oversubscribe -x "${variable%%=*}" -n 4 "$@" ;; *) set -- -n 4 "$@" ;; esac
    (cd "$out" && env "$variable" timeout 100 mpirun.$mpi "$@") >"$out/said" 2>&1 || { fail "$called" "$(cat "$out/said")"; return 1; }
    for each in "$out/$kind"-*.prof; do build/prof export "$each" -o "${each%.prof}.csv" || return 1; done
}
arrows() { # EXPECTED MISSING
    check "$called: arrows" "$(python3 tests/mpi/arrows.py "$1" "$2" "$out/$kind"-*.csv 2>&1)"
}
args_of() { grep -F ",scope,$2," "$out/$kind-$1.csv" | sed 's/.*"\(.*\)".*/\1/'; } # RANK NAME

[ $# -gt 0 ] || set -- openmpi mpich
command -v python3 >/dev/null || { skip "mpi: python3 is not installed"; finish; }
for mpi; do
    command -v mpicc.$mpi >/dev/null && command -v mpirun.$mpi >/dev/null || { skip "$mpi: not installed"; continue; }
    c="mpicc.$mpi -std=gnu99 -I. -O0 -g"
    printf '#define PROF_IMPLEMENTATION\n#include "prof_mpi.h"\nint nothing;\n' >"$out/alone.c"
    cp "$out/alone.c" "$out/alone.cpp"
    succeeds "$mpi: strict C99" mpicc.$mpi -std=c99 -I. -O1 $warnings -c "$out/alone.c" -o "$out/alone.o"
    if command -v mpicxx.$mpi >/dev/null; then
        succeeds "$mpi: C++" mpicxx.$mpi -std=c++11 -I. -O0 $warnings -Wno-cast-function-type -c "$out/alone.cpp" -o "$out/alone.o"
    else
        skip "$mpi: no mpicxx"
    fi
    succeeds "$mpi: left out" mpicc.$mpi -std=c99 -I. -O0 $warnings -DPROF_ENABLE=0 -c "$out/alone.c" -o "$out/alone.o"
    check "$mpi: nothing of it is there then" "$(nm "$out/alone.o" | grep -i -e mpi -e prof)"
    succeeds "$mpi: the program" $c $warnings tests/mpi/program.c -o "$out/program" -pthread -ldl || continue

    called="$mpi: messages of all kinds" kind=all
    if ranks PROF_OUTPUT=all-%r.prof ./program; then
        arrows 69 2
        build/prof summary "$out/all-0.prof" >"$out/said"
        has "$mpi: says which have no arrow" "$out/said" "2 messages without an arrow: from any source"
        has "$mpi: how many ranks" "$out/said" "ranks     4"
        check "$mpi: a message's arguments" "$(args_of 1 MPI_Send | grep -qxF 'peer=0;tag=20;bytes=8' || args_of 1 MPI_Send)"
        check "$mpi: of any source, whose it was" "$(args_of 0 MPI_Recv | grep -qxF 'peer=3;tag=20;bytes=8' || args_of 0 MPI_Recv)"
        check "$mpi: in another communicator, too" "$(args_of 0 MPI_Send | grep -qxF 'peer=3;tag=80;bytes=8' || args_of 0 MPI_Send)"
        check "$mpi: a collective's" "$(args_of 2 MPI_Allreduce | grep -qE '^bytes=4;ranks=2;call=1;comm=[0-9]+$' || args_of 2 MPI_Allreduce)"
        check "$mpi: the ranks of a half number it alike, the halves do not" "$(
            set -- $(for rank in 0 1 2 3; do args_of $rank MPI_Allreduce | sed 's/.*comm=//'; done)
            [ "$1" = "$2" ] && [ "$3" = "$4" ] && [ "$1" != "$3" ] || echo "$*")"
    fi

    called="$mpi: late senders and receivers" kind=late
    if ranks PROF_OUTPUT=late-%r.prof ./program late; then
        build/prof messages "$out"/late-*.prof >"$out/said" 2>&1 # 300 ms each
        check "$called" "$(grep -qE 'rank 1 to rank 0: 1 message, late sender [0-9.]* ms, at most .*MPI_Recv' "$out/said" &&
            grep -qE 'rank 2 to rank 3: 1 message, late receiver [0-9.]* ms, at most .*MPI_Send' "$out/said" || cat "$out/said")"
        build/prof messages --format json "$out"/late-*.prof >"$out/said" 2>&1
        succeeds "$called: as JSON" python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); assert d["messages"] == 2, d
assert [p["in"] for p in d["pairs"]] in (["MPI_Recv", "MPI_Send"], ["MPI_Send", "MPI_Recv"]), d' "$out/said"
    fi

    called="$mpi: a recording that begins later" kind=quiet
    ranks LATE_OUTPUT=quiet-%r.prof ./program quiet && arrows 69 2

    called="$mpi: a library" kind=library
    rm -f "$out/libprof_mpi.so"
    if make -s mpi BUILD="$out" MPICC=mpicc.$mpi CFLAGS=-O0 >"$out/said" 2>&1 &&
        $c -DPRELOADED tests/mpi/program.c -o "$out/linked" -pthread -ldl "$out/libprof_mpi.so" -Wl,-rpath,"$out" >"$out/said" 2>&1 &&
        $c tests/mpi/plain.c -o "$out/plain" >"$out/said" 2>&1; then
        ranks PROF_OUTPUT=library-%r.prof ./linked && arrows 69 2
        called="$mpi: a library that is preloaded" kind=plain
        ranks PROF_OUTPUT=plain-%r.prof env LD_PRELOAD="$out/libprof_mpi.so" ./plain &&
            check "$called" "$([ "$(grep -c ',scope,MPI_Bcast,' "$out/plain-2.csv")" = 3 ] || head -20 "$out/plain-2.csv")"
    else
        fail "$called" "$(cat "$out/said")"
    fi

    called="$mpi: clocks" kind=clocks
    if $c -DCLOCK_AHEAD tests/mpi/program.c -o "$out/program_clock" -pthread -ldl 2>"$out/said" &&
        ranks PROF_OUTPUT=clocks-%r.prof ./program_clock; then
        check "$mpi: ranks of a machine have its clock, one that is 3 s ahead does not" "$(
            for rank in 0 1 2 3; do
                build/prof summary "$out/clocks-$rank.prof" | awk -v rank=$rank '
                    /^  clock offset/ { for (i = 4; i <= NF; i += 2) {
                        wrong = rank < 3 ? $i != 0 : $i > -3e9 || $i < -3.0e9 - ($(i - 1) / 20000) * 1.1
                        if (wrong) print "rank " rank ": " $0; ++found } }
                    END { if (found != 2) print "rank " rank ": " found + 0 " offsets" }'
            done)"
    else
        fail "$called" "$(cat "$out/said")"
    fi
done
finish
