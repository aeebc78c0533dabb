#!/bin/sh
# The test programs that make sense under valgrind's memory checker, with their short counts: some that the memory
# sanitizer does not run, and one that it runs as well. PROF_TEST_LONG=1: all that it runs.
command -v valgrind >/dev/null || { echo "SKIP valgrind: not installed"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
valgrind -q --error-exitcode=9 true || { echo "SKIP valgrind: it does not work here"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
passed=0 failed=0
names=$(sh tests/marked.sh -n valgrind)
[ -z "$PROF_TEST_LONG" ] || names=$(printf '%s\n' $names $(sh tests/marked.sh -n memory) | sort -u)
unset PROF_TEST_LONG
export PROF_TEST_QUICK=1
for name in $names; do
    make -s build/tests/test_$name || exit 1
    # threads in turns, so that one that waits does not keep from running the one that it waits for
    if valgrind -q --fair-sched=try --vgdb=no --error-exitcode=9 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
        build/tests/test_$name >build/tests/valgrind_$name.log 2>&1; then
        passed=$((passed + 1)) && echo "ok   $name"
    else
        failed=$((failed + 1)) && echo "FAIL $name" && tail -n 40 build/tests/valgrind_$name.log
    fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
