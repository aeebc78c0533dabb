#!/bin/sh
# tests/run.sh itself: what it says of programs that hang, loop, crash, or do not say how they ended.
cd "$(dirname "$0")/.." || exit 1
out=${BUILD:-build}/tests/out/test_runner
rm -rf "$out" && mkdir -p "$out/tests" || exit 1
passed=0 failed=0
command -v timeout >/dev/null || { echo "SKIP runner: there is no timeout here"; echo "0 passed, 0 failed, 1 skipped"; exit; }
program() { # NAME COMMANDS
    printf '#!/bin/sh\n%s\n' "$2" >"$out/$1" && chmod +x "$out/$1"
}
program hangs 'sleep 30'
program loops 'while :; do :; done'
program crashes 'kill -SEGV $$'
program passes 'echo 3 passed, 0 failed, 1 skipped'
BUILD=$out PROF_TEST_SECONDS=1 JOBS=2 sh tests/run.sh "$out/hangs" "$out/loops" "$out/crashes" "$out/passes" >"$out/said" 2>&1
says() { # WHAT TEXT
    if grep -qF "$2" "$out/said"; then
        passed=$((passed + 1))
        echo "ok   $1"
    else
        failed=$((failed + 1))
        echo "FAIL $1: not said: $2"
        cat "$out/said"
    fi
}
says "one that hangs" "hangs: was stopped: it was not done in 4 s. It hangs, or this machine is busy: PROF_TEST_SECONDS=2 "
says "one that loops" "loops: was stopped: it " # for its processor time, unless the machine has other work
says "one that crashes" "crashes: ended with status 139 and no closing line"
says "one that passes" "passes: 3 passed, 0 failed, 1 skipped"
says "the sum" "3 passed, 3 failed, 1 skipped"
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
