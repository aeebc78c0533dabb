#!/bin/sh
# Runs test programs and scripts, shows what failed, and adds up their closing lines. Usage: tests/run.sh PROGRAM...
passed=0 failed=0 skipped=0
mkdir -p build/tests
limit=
command -v timeout >/dev/null && limit="timeout -k 5 ${PROF_TEST_SECONDS:-240}" # a hang is a failure, not a wait
for program in "$@"; do
    [ -f "$program" ] || continue
    log=build/tests/$(basename "$program").log began=$(date +%s)
    case $program in
    *.sh) $limit sh "$program" >"$log" 2>&1 ;;
    *) $limit "$program" >"$log" 2>&1 ;;
    esac
    status=$?
    line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1)
    if [ -z "$line" ]; then
        failed=$((failed + 1))
        echo "FAIL $program: ended with status $status and no closing line"
        grep -nE 'runtime error|ERROR: |WARNING: |SUMMARY: ' "$log" | head -n 10 # what a sanitizer said may be far above
        tail -n 40 "$log"
        continue
    fi
    set -- $(echo "$line" | tr -dc '0-9 ')
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + ${3:-0}))
    if [ "$status" -ne 0 ] || [ "$2" -ne 0 ]; then
        [ "$2" -ne 0 ] || failed=$((failed + 1))
        grep -vE '^ok ' "$log" | tail -n 40
        echo "FAIL $program: $line (status $status)"
    else
        grep -E '^SKIP' "$log"
        echo "ok   $program: $line, $(($(date +%s) - began)) s"
    fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
