#!/bin/sh
# Checks the models with Spin: each configuration completely, and each mutant, which lacks one precaution, until it fails.
# States are told apart by a hash of 96 bits. Usage: tests/model/run.sh. Skipped without spin.
cd "$(dirname "$0")" || exit 1
if ! command -v spin >/dev/null; then
    echo "SKIP model: spin is not installed"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
here=$(pwd)
model=$(mkdir -p ../../build/model && cd ../../build/model && pwd) || exit 1 # and not /tmp, where nothing may be run
work=$model/$$ # of this run alone
mkdir "$work" || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
passed=0 failed=0
if command -v tcc >/dev/null; then fast=tcc; else fast="${CC:-cc} -O0"; fi # for what has not many states to see

# failure NAME: shows what is known of it, and keeps it in build/model/failed.NAME. The search is the same each time: one
# that ends in another way the second time tells of the machine, or of the script, not of the model.
failure() {
    kept=$model/failed.$1
    rm -rf "$kept"
    cp -R "$work/run" "$kept"
    cp "$work/log" "$kept/log"
    cat "$work/log"
    cd "$kept" || return
    if [ -f "$file.pml.trail" ]; then
        timeout 60 ./pan -r >way 2>&1
        echo "---- the way to it is in $kept; its last steps:"
        grep '(state [0-9]*).*\[\|^pan:' way | tail -n 50 | cut -c 1-120
    fi
    echo "---- once more: $(search 2>&1 | grep -a 'errors:\|states, stored' | tr -s '\n ' ' ')"
    cd "$here" || exit 1
}

search() { # a reader may wait for ever
    GLIBC_TUNABLES=$pages timeout -k 5 "${PROF_TEST_SECONDS:-600}" ./pan -m1000000 $([ "$file" = ring ] && echo -E)
    status=$?
    [ $status -eq 0 ] || echo "pan: exit status $status: 124 is the time limit, 137 too, or a lack of memory"
    return $status
}

# check WANTED NAME FILE FLAGS...: WANTED is the number of errors, 0 or 1.
check() {
    wanted=$1 name=$2 file=$3 compiler=$fast order= pages=
    shift 3
    case "$wanted $file $*" in
    *-DNO_CUT*) order=-DREVERSE ;; # found after 5,000 states, not 4 million
    *-DWRITERS=1* | 0\ ring*-DSTREAM*) ;;
    0\ ring*) compiler="${CC:-cc} -O1" pages=glibc.malloc.hugetlb=1 ;; # a million states are worth to clear large pages
    esac
    rm -rf "$work/run"
    mkdir "$work/run"
    cp "$here"/*.pml "$work/run"
    (
        cd "$work/run" || exit 1
        # Spin's hash for tables of this size has 32 bits only, of which -DHC4 stores as many, and takes 1 of 400 states for
        # one that it knows: the other one is as fast.
        spin -a "$@" "$file.pml" && sed 's/hasher = d_sfh;/hasher = d_hash;/' pan.c >hashed.c && ! cmp -s pan.c hashed.c &&
            $compiler $order -w -DSAFETY -DHC4 -DNOFAIR -DMEMLIM=2000 -o pan hashed.c && search
    ) >"$work/log" 2>&1
    errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' "$work/log")
    states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' "$work/log")
    cut=$(grep -c 'Search not completed\|max search depth\|unreached.*error' "$work/log")
    if [ "$errors" = "$wanted" ] && { [ "$wanted" = 1 ] || [ "$cut" = 0 ]; }; then
        passed=$((passed + 1))
        echo "ok   $name: $states states"
    else
        failed=$((failed + 1))
        echo "FAIL $name: ${errors:-no} errors instead of $wanted"
        failure "$(echo "$name" | tr -c 'a-z0-9\n' _)"
    fi
}

check 0 "ring: one writer comes round" ring -DWRITERS=1 -DCHUNKS=2 -DWORDS=2 -DEVENTS=7 -DTHERE -DBASES
check 0 "ring: two writers take and recycle three chunks" ring -DEVENTS=2 -DTHERE
check 0 "ring: a slow writer is overtaken" ring -DEVENTS=3 -DSLOW=1 -DBASES
check 0 "ring: threads come and go" ring -DCHUNKS=2 -DTRACKS=3 -DEVENTS=3 -DWORDS=2 -DSTART=4
check 0 "ring: short scopes are taken back" ring -DCHUNKS=2 -DEVENTS=3 -DSLOW=2 -DWORDS=2 -DUNDO
check 0 "ring: fills up" ring -DFILL -DCHUNKS=3 -DEVENTS=3 -DTHERE

check 0 "stream: one writer and the service" ring -DSTREAM -DWRITERS=1 -DCHUNKS=2 -DWORDS=2 -DEVENTS=7 -DTHERE
check 0 "stream: two writers and the service" ring -DSTREAM -DCHUNKS=2 -DEVENTS=2 -DSLOW=1
check 0 "gate: a handler interrupts two scopes" gate
check 0 "gate: a handler interrupts a handler" gate -DSCOPES=1 -DLEVELS=2
check 0 "gate: a pause" gate -DSCOPES=1 -DPAUSE

check 1 "mutant: a claim that is no release" ring -DCHUNKS=2 -DTRACKS=3 -DEVENTS=3 -DWORDS=2 -DSTART=5 -DNO_RELEASE_OF_CLAIM
check 1 "mutant: no second look at the sequence" ring -DWRITERS=1 -DCHUNKS=2 -DWORDS=2 -DEVENTS=5 -DNO_SECOND_LOOK
check 1 "mutant: no third look at the sequence" ring -DWRITERS=1 -DCHUNKS=2 -DWORDS=2 -DEVENTS=5 -DNO_THIRD_LOOK
check 1 "mutant: no fence before the chunk is cleared" ring -DWRITERS=1 -DCHUNKS=2 -DWORDS=2 -DEVENTS=5 -DNO_FENCE
check 1 "mutant: chunks of any age copied" ring -DWRITERS=1 -DCHUNKS=2 -DWORDS=2 -DEVENTS=5 -DNO_LIMIT
check 1 "mutant: a late claim takes a newer chunk" ring -DCHUNKS=2 -DEVENTS=3 -DNO_LATE_CLAIM
check 1 "mutant: a chunk is let go before the next one has an event" ring -DEVENTS=2 -DNO_HOLD
check 1 "mutant: the newest events are refused, for want of a chunk" ring -DEVENTS=2 -DNO_AGAIN
check 1 "mutant: the copy is not compared" ring -DCHUNKS=2 -DEVENTS=3 -DWORDS=2 -DUNDO -DNO_CUT
check 1 "mutant: a chunk is let go before its block is there" ring -DSTREAM -DWRITERS=1 -DCHUNKS=2 -DEVENTS=5 -DNO_BLOCK_FIRST
check 1 "mutant: the archive is read before the ring" ring -DSTREAM -DWRITERS=1 -DCHUNKS=2 -DEVENTS=5 -DNO_ARCHIVE_LAST
check 1 "mutant: a handler takes the thread's busyness away" gate -DSCOPES=1 -DHANDLERS=2 -DNO_CARE_FOR_THE_INTERRUPTED
check 1 "mutant: a look at the gate before the thread is taken" gate -DNO_TAKE_BEFORE_THE_CHECK
check 1 "mutant: an end of whatever session" gate -DNO_LOOK_AT_THE_TOKEN

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
