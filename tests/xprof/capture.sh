#!/bin/sh
# XProf's "Capture profile", spoken by the real XProf to running programs: see capture.py. XProf is where run.sh has it, in
# build/xprof/venv, or comes there. Run it at the top of the repository.
venv=build/xprof/venv
work=build/xprof_capture
mkdir -p $work build/xprof

sh tests/xprof/install.sh $venv >$work/pip.log 2>&1 || {
    echo "SKIP xprof capture: pip install xprof failed, see $work/pip.log"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}
make -s build/server_program build/server_program_bare || {
    echo "FAIL xprof capture: server_program.c does not compile"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
}
rm -rf $work/logs
mkdir -p $work/logs
exec timeout 900 $venv/bin/python tests/xprof/capture.py $work
