#!/bin/sh
# The report in one HTML file: what its modules read out of recordings equals the CSV of these, what damaged and
# hostile data do; the page, and the picture of prof flame, in Chromium and Firefox; and the same of the page that
# prof_server.h serves, of a program that runs. In WebKit, the engine of Safari: what may differ there.
# Downloads go to build/viewers, as those of tests/viewers/run.sh. Run it at the top of the repository.
# PROF_TEST_LONG=1: all recordings in Firefox, too, and pictures: build/html/*.png.
cd "$(dirname "$0")/../.." || exit 1
work=build/html
firefox=${FIREFOX:-/usr/bin/firefox-esr}
unset FIREFOX
kinds="plain hostile coarse repeat partial full notes objects devices names"
skipped=0
mkdir -p $work build/viewers

skip() {
    echo "SKIP html: $1"
    echo "${passed:-0} passed, 0 failed, $((skipped + 1)) skipped"
    exit 0
}
fail() {
    echo "FAIL html: $1"
    echo "${passed:-0} passed, 1 failed, 0 skipped"
    exit 1
}
numbers() { grep -aE '^[0-9]+ passed, [0-9]+ failed' "$1" | tail -n 1 | tr -dc '0-9 '; }

"${CC:-cc}" -O0 -g tests/html/make_traces.c -o $work/make_traces -pthread || fail "make_traces.c does not compile"
prefixes=
for kind in $kinds; do
    $work/make_traces $kind $work/$kind || fail "make_traces $kind"
    prefixes="$prefixes $work/$kind"
done

[ -x build/prof ] || make -s build/prof >$work/make.log 2>&1 || fail "build/prof, see $work/make.log"
"${CC:-cc}" -O0 -g -c tests/html/implementation.c -o $work/implementation.o || fail "implementation.c does not compile"
for program in pair views live; do
    "${CC:-cc}" -O0 -g tests/html/make_$program.c $work/implementation.o -o $work/make_$program -pthread ||
        fail "make_$program.c does not compile"
done
$work/make_pair $work/pair || fail "make_pair"
build/prof export $work/pair.1.prof -o $work/pair.sources.html --sources . || fail "prof export --sources"
for what in "all --events 10000000" "last --events 20000" "first --events 20000 --from 0 --to 5ms" "few --events 200"; do
    # address space that the recording alone would not fit into
    (ulimit -v 24000 && build/prof export $work/pair.long.prof -o $work/pair.long.${what%% *}.html ${what#* }) ||
        fail "prof export, large, $what"
done
build/prof compare $work/pair.1.prof $work/pair.2.prof --format json >$work/pair.json
[ $? -le 1 ] || fail "prof compare"
build/prof flame $work/pair.1.prof -o $work/pair.svg || fail "prof flame"
$work/make_views $work/views || fail "make_views"
build/prof summary $work/views.prof >$work/views.txt || fail "prof summary"
build/prof summary --columns 0 $work/views.numbers.prof >$work/views.numbers.txt || fail "prof summary of numbers"
"${CC:-cc}" -O0 -g tests/states_images.c -o $work/states_images -pthread || fail "states_images.c does not compile"
(cd $work && ./states_images >/dev/null) || fail "states_images"
for name in states calm late slow marked waited preempted stopped; do
    build/prof export $work/$name.prof -o $work/$name.html && build/prof export $work/$name.prof -o $work/$name.csv ||
        fail "prof export $name.prof"
done
why() { # RECORDING SCOPE: why each of its calls took so long, as JSON
    build/prof why -s "$2" -n 1000 -f json $work/$1.prof >"$work/why.$1.$2.json" || fail "prof why $1.prof"
}
rm -f $work/why.*
for call in slow.frame slow.load_texture slow.save states.frame states.draw marked.draw late.draw waited.draw; do
    why ${call%.*} ${call#*.}
done
for call in "queue up" load train "all queries" layer fetch; do why views "$call"; done
# ---- requests; a program that _exit() ends in a scope, and one that records nothing
"${CC:-cc}" -O0 -g -w -DPLAIN tests/why_program.c -o $work/why_program -pthread -ldl || fail "why_program.c does not compile"
rm -f $work/request.* $work/rank.* $work/crashed* $work/faults*
for kind in requests rounds crashed empty grows crowd; do
    PROF_OUTPUT=$work/$kind.prof $work/why_program $kind 20 || fail "why_program $kind"
    build/prof export $work/$kind.prof -o $work/$kind.html || fail "prof export $kind.prof"
done
(PROF_CRASH_REPORT=1 PROF_OUTPUT=$work/faults.prof $work/why_program faults; true) 2>$work/faults.txt
build/prof export $work/faults.prof -o $work/faults.html || fail "prof export faults.prof"
for rank in 0 1 2 3; do
    ms=20
    [ $rank = 2 ] && ms=80
    PROF_RANK=$rank PROF_OUTPUT=$work/rank.prof $work/why_program share $ms || fail "why_program share"
done
build/prof merge $work/rank.*.prof -o $work/ranks.html || fail "prof merge to a page"
build/prof summary --by rank -l json $work/rank.*.prof -o $work/ranks.json || fail "prof summary --by rank"
build/prof view $work/calm.prof $work/late.prof -o $work/slower.html --no-browser >/dev/null || fail "prof view of two"
for one in requests.7 requests.8 requests.99 rounds.106; do
    build/prof request $work/${one%.*}.prof ${one#*.} -f json >$work/request.$one.json || fail "prof request $one"
done
build/prof export $work/states.prof -o $work/states.window.html --from 120us --to 280us || fail "prof export --from"

command -v node >/dev/null || skip "node is not installed"
node -e 'new DecompressionStream("deflate-raw")' 2>$work/node.log || skip "this node cannot unpack deflate: it takes 20.12 or later"
# Also what old versions wrote, and what test programs have left behind, as far as it can be read.
rm -rf $work/left
mkdir $work/left
left=
for file in tests/corpus/* $(find build/tests -name '*.prof' -size +1k -size -3000k 2>/dev/null | sort); do
    prefix=$work/left/$(echo "$file" | sed 's,^build/tests/,,; s,^tests/,,; s,[.]prof$,,' | tr / .)
    build/prof export "$file" -o "$prefix.html" >/dev/null 2>&1 && build/prof export "$file" -o "$prefix.csv" &&
        left="$left $prefix"
done
node tests/html/check.mjs $work/pair $prefixes $work/states $work/calm $work/late $left >$work/check.log 2>&1
status=$?
grep -v '^ok ' $work/check.log | grep -v ' passed, '
passed=$(numbers $work/check.log | cut -d ' ' -f 1)
[ $status -eq 0 ] || fail "check.mjs, see $work/check.log"
script() { # NAME ARGUMENTS: runs tests/html/NAME.mjs, and counts
    name=$1 log=$work/$1${FIREFOX:+-firefox}.log
    shift
    node tests/html/$name.mjs "$@" >$log 2>&1
    status=$?
    grep -v '^ok ' $log | grep -v ' passed, '
    more=$(numbers $log | cut -d ' ' -f 1)
    passed=$((passed + ${more:-0}))
    [ $status -eq 0 ] || fail "$name.mjs, see $log"
}
script live $work/make_live $work/live
MINIBROWSER=$(ls /usr/lib/*/webkit2gtk-4.*/MiniBrowser 2>/dev/null | tail -n 1)
if [ "$MINIBROWSER" ] && command -v WebKitWebDriver >/dev/null && command -v Xvfb >/dev/null; then
    export MINIBROWSER
    mkdir -p $work/webkit
    script webkit $work/webkit $work/make_live $work/pair $work/plain $work/hostile $work/full $work/notes $work/devices \
        $work/pair $work/pair.sources $work/pair.long.last $work/views
else
    echo "SKIP html, webkit: webkit2gtk-driver or xvfb is not installed"
    skipped=1
fi

[ -x "${CHROMIUM:-/usr/bin/chromium}" ] || skip "chromium is not installed"
if ! cmp -s tests/viewers/package.json build/viewers/package.json || [ ! -d build/viewers/node_modules/acorn ]; then
    cp tests/viewers/package.json build/viewers/
    (cd build/viewers && npm install --no-audit --no-fund) >$work/npm.log 2>&1 || skip "npm install failed, see $work/npm.log"
fi
NODE_FOLDER=build/viewers
export NODE_FOLDER
script squeezed
script answers $work
script browser $work $work/make_live $work/views $work/pair $prefixes $work/states
[ -x "$firefox" ] || skip "firefox is not installed"
mkdir -p $work/firefox
FIREFOX=$firefox
export FIREFOX
script answers $work
# What Firefox could read or draw otherwise: numbers, any text, rows of devices. How much is lost makes no difference to it.
[ -n "$PROF_TEST_LONG" ] || prefixes="$work/plain $work/hostile $work/notes $work/devices"
script browser $work/firefox $work/make_live $work/views $work/pair $prefixes
echo "$passed passed, 0 failed, $skipped skipped"
