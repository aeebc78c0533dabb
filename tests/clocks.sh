#!/bin/sh
# Runs the test programs with counters of other rates: whether a test passes must not depend on the rate of this
# machine's. With a slow clock many events have the same time. Usage: tests/clocks.sh [HZ...]; TESTS="record reader"
# runs some of the programs. One build serves all rates.
[ $# -gt 0 ] || set -- 100000 1000000 24000000 25000000 62500000 2600000000 3000000000
passed=0 failed=0 skipped=0
build=build/clocks
mkdir -p build
programs() { # the paths of the test programs
    for name in ${TESTS:-$(ls tests/test_*.c tests/test_*.cpp | sed 's,tests/test_\(.*\)\..*,\1,')}; do
        echo "$build/tests/test_$name"
    done
}
for hz; do
    echo "---- $hz Hz"
    SIMULATED_HZ=$hz make -s BUILD=$build SCRIPTS= TESTS="$(programs | tr '\n' ' ')" \
        CFLAGS="-O0 -g1 -Wno-misleading-indentation -include tests/simulated_hz.h" test >$build.$hz.log 2>&1
    status=$?
    grep -vE '^ok ' $build.$hz.log
    line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' $build.$hz.log | tail -n 1)
    [ $status -eq 0 ] || [ -n "$line" ] || line="0 passed, 1 failed, 0 skipped"
    values=$(echo "$line" | tr -dc '0-9 ')
    set -- $values
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
