#!/bin/sh
# Records a program of everything (record.c) as two hosts of one run, starts the real XProf server on its log directory, and
# compares what that understood with the recordings: see check.py. XProf goes to build/xprof/venv and stays there; the
# picture of its trace viewer is build/xprof/trace_viewer.png. Run it at the top of the repository.
work=build/xprof
mkdir -p $work

skip() {
    echo "SKIP xprof: $1"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}
fail() {
    echo "FAIL xprof: $1"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
}

"${CC:-cc}" -O0 -g ${HZ:+-DPROF__SIMULATED_HZ=${HZ}ull} tests/xprof/record.c -o $work/record -pthread || fail "record.c does not compile"
rm -rf $work/out
mkdir -p $work/out
$work/record $work/out || fail "record"
[ -x build/prof ] || make -s build/prof >$work/make.log 2>&1 || fail "build/prof, see $work/make.log"
"${CC:-cc}" -O0 -g tests/states_images.c -o $work/states_images -pthread || fail "states_images.c does not compile"
(cd $work && ./states_images >/dev/null) || fail "states_images"
build/prof export $work/states.prof -o $work/out/logs/plugins/profile/states/ || fail "prof export of states"
sh tests/xprof/install.sh $work/venv >$work/pip.log 2>&1 || skip "pip install xprof failed, see $work/pip.log"
node_modules=$work/node_modules
if command -v node >/dev/null && [ -x "${CHROMIUM:-/usr/bin/chromium}" ]; then
    [ -d build/viewers/node_modules/playwright-core ] && node_modules=build/viewers/node_modules
    if [ ! -d $node_modules/playwright-core ]; then
        cp tests/viewers/package.json $work/
        (cd $work && npm install --no-audit --no-fund) >$work/npm.log 2>&1
    fi
fi
exec $work/venv/bin/python tests/xprof/check.py $work $node_modules
