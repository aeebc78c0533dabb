#!/bin/sh
# Runs test programs and scripts, longest first, twice as many at a time as there are processors; shows what failed,
# and adds up their last lines.
#
# usage: tests/run.sh PROGRAM[:[TEST,TEST...]]...   with a colon: results are shown one by one, of these tests or of all
#        JOBS=2                                     for how many processors; 1: one at a time
#        BUILD=build                                where logs go, and how long each took, by which the next run is sorted
#        PROF_TEST_SECONDS=240                      one of which a process takes more processor time has failed, and one that
#                                                   is not done in four times as long: a machine may have other work
#
# A line "/* run: alone */" of a test program's source, or "# run: alone" of a script, says that it runs by itself,
# after the others; "long", that it begins first, where no run before has shown how long it takes. See tests/marked.sh.
build=${BUILD:-build}
most=${PROF_TEST_SECONDS:-240} limit=
command -v timeout >/dev/null && limit="timeout -k 5 $((most * 4))" # a hang is a failure, not a wait

name_of() { # PROGRAM[:TESTS]: the name that its source and its log have
    name=${1%%:*}
    name=${name##*/}
}

# Where the addresses in a report are, if a sanitizer was told not to say it: to say it for each crash that a test makes on
# purpose, it would start a symbolizer.
places() { # LOG
    command -v addr2line >/dev/null || return
    sed -n 's/^ *#[0-9]* 0x[0-9a-f]* *(\([^()]*\)+\(0x[0-9a-f]*\)).*/\1 \2/p' "$1" | tail -n 20 | while read -r file at; do
        echo "    $at is in $(addr2line -fpe "$file" "$at")"
    done
}

# Says how a program ended that did not say it itself.
ended() { # STATUS
    case $1 in
    124 | 137) echo "was stopped: it was not done in $((most * 4)) s. It hangs, or this machine is busy: PROF_TEST_SECONDS=$((most * 2)) gives it twice as long" ;;
    152) echo "was stopped: it took $most s of processor time. It loops, or this machine is slow: PROF_TEST_SECONDS=$((most * 2)) gives it twice as much" ;;
    *) echo "ended with status $1 and no closing line" ;;
    esac
}

# Runs one, and says in one piece how it went. Leaves "passed failed skipped" in the folder $results.
one() { # PROGRAM[:TESTS]
    program=${1%%:*} names= shown='^SKIP'
    name_of "$1"
    case $1 in *:*) names=$(echo "${1#*:}" | tr ',' ' ') shown='^(ok|SKIP)' ;; esac
    log=$build/tests/$name.log began=$(date +%s) # BUILD and its names have no blanks
    (
        ulimit -S -t "$most" 2>/dev/null # each process of it
        case $program in
        *.sh) JOBS=1 exec $limit sh "$program" $names ;;
        *) exec $limit "$program" $names ;;
        esac
    ) >"$log" 2>&1 </dev/null
    status=$? seconds=$(($(date +%s) - began))
    line=$(grep -aE '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1)
    if [ -z "$line" ]; then
        set -- 0 1 0
        echo "FAIL $program: $(ended "$status")"
        grep -anE 'runtime error|ERROR: |WARNING: |SUMMARY: ' "$log" | head -n 10 # what a sanitizer said may be far above
        tail -n 40 "$log"
        places "$log"
    else
        set -- $(echo "$line" | tr -dc '0-9 ')
        if [ "$status" -ne 0 ] || [ "$2" -ne 0 ]; then
            [ "$2" -ne 0 ] || set -- "$1" 1 "$3"
            grep -avE '^ok ' "$log" | tail -n 40
            places "$log"
            echo "FAIL $program: $line (status $status)"
        else
            grep -aE "$shown" "$log"
            echo "ok   $program: $line, $seconds s"
            [ -n "$names$PROF_TEST_QUICK" ] || echo "$seconds" >"$build/tests/$name.seconds"
        fi
    fi >"$results/$name.text"
    printf '%s\n' "$(cat "$results/$name.text")" # at once: others write as well, and cat into a file writes over them
    echo "$1 $2 ${3:-0}" >"$results/$name.count"
}

if [ "$1" = --one ]; then
    one "$2"
    exit 0 # xargs goes on whatever it was
fi

mkdir -p "$build/tests"
results=$build/tests/results.$$
rm -rf "$results" && mkdir "$results" || exit 1
export results
trap 'rm -rf "$results"' EXIT
trap 'exit 130' HUP INT TERM

alone=$(sh tests/marked.sh alone | tr '\n' ' ') long=$(sh tests/marked.sh long | tr '\n' ' ')
is_in() { # "PATH PATH "
    case " $1" in *"/$name "* | *"/$name.c "* | *"/$name.cpp "*) return 0 ;; esac
    return 1
}

# Those that take longest come first, so that none of them is left to run at the end while processors wait.
for each; do
    name_of "$each"
    seconds=$(cat "$build/tests/$name.seconds" 2>/dev/null)
    [ -n "$seconds" ] || { seconds=1 && is_in "$long" && seconds=60; }
    if is_in "$alone"; then when=alone; else when=together; fi
    echo "$seconds $each" >>"$results/$when"
done
run() { # together|alone AT_A_TIME
    [ -f "$results/$1" ] || return
    sort -rn "$results/$1" | cut -d ' ' -f 2 | if [ "$2" -gt 2 ]; then
        xargs -n 1 -P "$2" sh tests/run.sh --one
    else
        while read -r each; do one "$each"; done
    fi
}
[ -n "$JOBS" ] || JOBS=$({ nproc || getconf _NPROCESSORS_ONLN || sysctl -n hw.ncpu || echo 1; } 2>/dev/null)
echo true | xargs -n 1 -P 2 sh -c : 2>/dev/null || JOBS=1 # POSIX knows no -P, though all that we know of do
run together $((JOBS * 2)) # of two that run, one waits most of the time
run alone 1
passed=0 failed=0 skipped=0
for each; do
    name_of "$each"
    if [ -f "$results/$name.count" ]; then
        read -r one_passed one_failed one_skipped <"$results/$name.count"
        passed=$((passed + one_passed)) failed=$((failed + one_failed)) skipped=$((skipped + one_skipped))
    else
        echo "FAIL $each: it was not run to its end"
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
