#!/bin/sh
# XProf's "Capture profile", spoken by the real XProf to running programs: see capture.py. XProf is where run.sh has it, in
# build/xprof/venv, or comes there. Run it at the top of the repository.
venv=build/xprof/venv
work=build/xprof_capture
mkdir -p $work build/xprof

if [ ! -x $venv/bin/xprof ]; then
    rm -rf $venv
    python3 -m venv $venv >$work/pip.log 2>&1 && $venv/bin/pip install --no-compile --quiet xprof==2.24.2 >>$work/pip.log 2>&1 || {
        echo "SKIP xprof capture: pip install xprof failed, see $work/pip.log"
        echo "0 passed, 0 failed, 1 skipped"
        exit 0
    }
fi
for flag in WITH WITHOUT; do
    "${CC:-cc}" -std=gnu99 -O1 -g -I. -D${flag}_EXPORTERS tests/server_program.c -o $work/$flag -pthread || {
        echo "FAIL xprof capture: server_program.c does not compile"
        echo "0 passed, 1 failed, 0 skipped"
        exit 1
    }
done
rm -rf $work/logs
mkdir -p $work/logs
exec timeout 900 $venv/bin/python tests/xprof/capture.py $work
