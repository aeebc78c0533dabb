#!/bin/bash
# Tests every snippet and command of README.md: C blocks compile without a warning (those with a main are built and
# run), the shell blocks run in a folder where the first block is hello.c. With PROF_ENABLE=0 each block runs to its end,
# and its functions return what they return when all goes well.
set -e
trap 'echo "FAIL readme.sh: line $LINENO"' ERR
cd "$(dirname "$0")/.."
export no_proxy=localhost # of what curl asks
export BROWSER=true # what prof view starts
root=$PWD
work=build/readme
rm -rf $work && mkdir -p $work
export TMPDIR=$root/$work
python=$(command -v python3) || { echo "SKIP readme: no python3"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
$python - $work <<'END'
import re, sys
text, work = open('README.md').read(), sys.argv[1]
for number, block in enumerate(re.findall(r'```c\n(.*?)```', text, re.S)):
    open(f'{work}/block{number}.c', 'w').write(block)
# A program for each block, which calls its functions. One that may fail returns 0 when it has not.
for number, block in enumerate(re.findall(r'```c\n(.*?)```', text, re.S)):
    calls = []
    for result, name, parameters, body in re.findall(r'^([a-z][\w ]*?[ *]+)(\w+)\(([^)]*)\) *(?:/\*.*\*/)?\n\{(.*?)^\}', block, re.S | re.M):
        if name == 'main' or name == 'into_the_background': continue # the program itself; daemon() leaves the test
        given = ', '.join('(void *)buffer' if '*' in one else '1' for one in parameters.split(',')) if parameters != 'void' else ''
        call = f'{name}({given})'
        calls.append(f'if ({call}) return puts("{call}"), 1;' if re.search(r'return (1;|\(int\)|prof_)', body) else f'{call};')
    for name, parameters in re.findall(r'^void (\w+)\(([^)]*)\);', block, re.M):
        block += f'void {name}({parameters}) {{}}\n'
    if not re.search(r'\bmain\(', block):
        block += '#include <stdint.h>\n#include <stdio.h>\nint main(void)\n{\n    static uint64_t buffer[512]; /* any object, all zero */\n    (void)buffer;\n    '
        block += '\n    '.join(calls) + '\n    return 0;\n}\n'
    open(f'{work}/stripped{number}.c', 'w').write(block)
for number, block in enumerate(re.findall(r'```sh\n(.*?)```', text, re.S)):
    open(f'{work}/block{number}.sh', 'w').write(block)
END
passed=0 skipped=0
# Blocks get the warnings of cc; commands, which say cc, clang where it is: it needs half the time.
mkdir $work/bin
[ -z "$(command -v clang)" ] || ln -s "$(command -v clang)" $work/bin/cc
for file in $work/block*.c; do
    sh tests/compile/warned.sh cc -std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wno-misleading-indentation -Werror -I. \
        -O0 -c "$file" -o "${file%.c}.o"
    echo "ok   $file compiles"
    passed=$((passed + 1))
done
crash=$(grep -l 'PROFILE_SCOPE("frame")' $work/block*.c)
for file in $work/stripped*.c; do
    cc -std=gnu99 -DPROF_ENABLE=0 -I. -O1 -w "$file" -o "${file%.c}" -pthread -lm
    expected=0
    cmp -s "$file" "${crash/block/stripped}" && expected=139 # of SIGSEGV, with prof and without
    status=0
    (cd $work && timeout 60 "./$(basename "${file%.c}")" </dev/null >stripped.txt 2>&1) 2>/dev/null || status=$?
    [ $status = $expected ] || { cat $work/stripped.txt; echo "FAIL $file ended with status $status"; false; }
    echo "ok   $file ends well without prof"
    passed=$((passed + 1))
done
PATH=$root/$work/bin:$PATH
cp $work/block0.c $work/hello.c
cp prof*.h $work
(cd $work && sh -e block0.sh)
grep -q '"work"' $work/trace.json
grep -q work $work/summary.txt
test "$(head -c 8 $work/ring.prof)" = prof.img
echo "ok   the commands of the first example"
$python bench/plot.py bench/peers/results.txt | cmp - docs/images/cost.svg
echo "ok   the plot is that of the figures"
passed=$((passed + 1))
cp "$crash" $work/crash.c
report=$(basename "$(grep -l PROF_CRASH_REPORT $work/block*.sh)")
(cd $work && sh -e "$report") 2>$work/crash.txt
grep -qE '^prof: SIG(SEGV|BUS) in thread [0-9]+ "crash": game > frame > solve \(crash.c:6\)$' $work/crash.txt
test "$(head -c 8 $work/crash.csv.prof)" = prof.img
echo "ok   the crash report"
modes=$(basename "$(grep -l 'PROF_MODE=stream' $work/block*.sh)")
(cd $work && sh -e "$modes")
grep -q work $work/totals.txt
for file in long last; do test "$(head -c 8 $work/$file.prof)" = prof.img; done
echo "ok   long recordings"
window=$(basename "$(grep -l 'PROF_DURATION' $work/block*.sh)")
(cd $work && sh -e "$window")
grep -q '"work"' $work/window.json
test "$(head -c 8 $work/rank-3.prof)" = prof.img
echo "ok   parts of a run, and ranks"
xplane=$(grep -l prof_xplane_start_trace $work/block*.c)
(cd $work && cc -o xplane "$(basename "$xplane")" -pthread -ldl && ./xplane && test -s logs/plugins/profile/*/*.xplane.pb)
echo "ok   a log directory"
(cd $work && sed 's/prof_chrome/prof_report/' hello.c >cntk.c && cc -o cntk cntk.c -pthread -ldl && PROF_LAYOUT=cntk ./cntk &&
    grep -q work profiler/*_detail_*.csv && grep -q 'Performance Profiler Summary' profiler/*_summary_*.txt)
echo "ok   CNTK's folder"
if command -v curl >/dev/null; then
    cp "$(grep -l prof_server_start $work/block*.c)" $work/server.c
    server=$(basename "$(grep -l 'curl -s' $work/block*.sh)")
    (cd $work && bash -e "$server" >server.txt 2>&1) || true # of the kill
    grep -q '"tick"' $work/second.json && grep -q tick $work/server.txt
    echo "ok   a program that is asked"
    passed=$((passed + 1))
else
    echo "SKIP a program that is asked: no curl"
    skipped=1
fi
make -s build/prof
tool=$(basename "$(grep -l 'prof export' $work/block*.sh)")
(cd $work && PATH=$root/build:$PATH sh -e "$tool" >tool.txt)
grep -q work $work/end.json
test -s $work/saved.prof
grep -q PROF_BUFFER $work/tool.txt
echo "ok   the commands of the tool"
processes=$(basename "$(grep -l 'server-%p' $work/block*.sh)")
(cd $work && PATH=$root/build:$PATH sh -e "$processes" >processes.txt)
grep -q '"work"' $work/server.json
grep -q '>work' $work/server.svg
grep -q '^whole$' $work/processes.txt
echo "ok   a recording of each process"
jumps=$(basename "$(grep -l 'longjmp(' $work/block*.c)")
(cd $work && cc -o jumps "$jumps" -pthread -ldl && PROF_OUTPUT=jumps.prof ./jumps)
build/prof summary --by-path $work/jumps.prof >$work/jumps.txt
grep -qE '^command +100 ' $work/jumps.txt && grep -qE '^  divide +100 ' $work/jumps.txt
[ "$(grep -cE '^ *(command|divide) ' $work/jumps.txt)" = 2 ]
echo "ok   commands that fail"
passed=$((passed + 8))
grep -oE '^make [a-z]+' $work/block1.sh | while read -r command; do
    grep -qE "^$(echo "$command" | cut -d' ' -f2):" "$root/Makefile" || { echo "FAIL $command is not in the Makefile"; exit 1; }
    echo "ok   $command exists (run by itself elsewhere)"
done
echo "$((passed + 3)) passed, 0 failed, $skipped skipped"
