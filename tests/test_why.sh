#!/bin/sh
# prof why: programs that run, wait for a lock, sleep, are preempted, fault and are throttled, and that measure the truth
# themselves; its options, its text and its errors. Images of which every time is known are in tests/test_why.c. CC, BUILD:
# see the Makefile.
# run: traces unchecked
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
[ "$(uname -s)" = Linux ] || { skip why "no Linux"; finish; }
in_work out/test_why_sh
unset PROF_OUTPUT PROF_SWITCHES PROF_SYSTEM LD_PRELOAD
cc="${CC:-cc} -std=gnu99 -I$root"

succeeds "the program" $cc -O1 -w "$root/tests/why_program.c" -o program -pthread -ldl || finish
succeeds "without wrappers and switches" $cc -O1 -w -DPLAIN "$root/tests/why_program.c" -o plain -pthread -ldl || finish
succeeds "the check" $cc -O0 -w "$root/tests/why_check.c" -o check -pthread -ldl || finish

# What a sleep of 20 ms may take on a busy machine: that or more.
ms='([2-9][0-9]|[1-9][0-9]{2,})\.[0-9]+ ms'
ns='([2-9][0-9]{7}|[1-9][0-9]{8,})'

# ---- each with a known truth
fits() { "$prof" why -s call -n 1000 -f json "$1.prof" >"$1.json" && text=$(./check "$1.prof" "$1.json" "$1"); }
truth() { # KIND COMMAND...: the command records again: a busy machine may disturb too many calls, a fault does so each time
    kind=$1
    shift
    if fits "$kind" || { "$@" && fits "$kind"; } || { "$@" && fits "$kind"; }; then
        ok "$kind: $(echo "$text" | tail -n 1)"
    else
        fail "$kind" "$text"
    fi
}
switched() { rm -f "$1.prof" && env PROF_SWITCHES=1 PROF_OUTPUT="$1.prof" ./program "$@"; } # KIND CALLS
switched lock 40
refused=$("$prof" check lock.prof | sed -n 's/^ *switches *//p' | grep -c 'not recorded')
switches=$("$prof" why -s call -f json lock.prof | grep -c '"running_ns":0,')
if [ "$switches$refused" != 00 ]; then
    skip "programs with a known truth" "the system refuses to record switches"
else
    for each in sleep preempted woken fault; do switched $each 40; done
    for each in lock sleep preempted woken fault; do truth $each switched $each 40; done
    PROF_SWITCHES=1 PROF_OUTPUT=device.prof ./program device
    "$prof" why -s draw -c 0 device.prof >text
    has "what a device did while a thread waited" text ", as it seems for GPU, graphics: shadow pass"
    "$prof" frames device.prof >text
    check "frames: the same" "$(grep -qE "^ +3 .* waited $ms, as it seems for GPU, graphics: shadow pass $ms" text || cat text)"
    "$prof" why -s call -n 40 lock.prof >text
    has "the lock, and who held it" text "held by thread worker in scope save, in pthread_mutex_lock() of scope load_texture"
fi

"$prof" export lock.prof -o lock.csv
check "waits of the program's threads only" "$(grep -q ',pthread_mutex_lock,wait,' lock.csv && ! grep ',prof[^,]*,scope,[^,]*,wait,' lock.csv)"

# ---- pages that are read from a disk
if PROF_FAULTS=1 PROF_OUTPUT=disk.prof ./program disk 40 && [ "$switches$refused" = 00 ]; then
    "$prof" why -s call -n 40 -f json disk.prof >text
    if [ "$(grep -c '"kind":"fault","object":".*/disk.bin"' text)" -ge 30 ]; then ok "the file of the pages"
    else fail "the file of the pages" "$(grep '"kind"' text | head -n 5)"; fi
    "$prof" why -s call disk.prof >text
    has "the same as text" text "for pages of $work/disk.bin, read from a disk, in scope load"
    PROF_SWITCHES=1 PROF_OUTPUT=undisked.prof ./program disk 40
    "$prof" why -s call -n 40 -f json undisked.prof >text
    lacks "unless it is asked for" text '"fault"'
else
    skip "pages that are read from a disk" "no such file here, or the system refuses to record switches"
fi

# ---- a quota: a cgroup of version 1 or 2, which root makes
group=
for folder in /sys/fs/cgroup/cpu /sys/fs/cgroup/cpu,cpuacct /sys/fs/cgroup; do
    [ -f "$folder/cgroup.procs" ] && mkdir "$folder/prof-why-$$" 2>/dev/null || continue
    group=$folder/prof-why-$$
    { echo 10000 >$group/cpu.cfs_period_us && echo 3000 >$group/cpu.cfs_quota_us; } 2>/dev/null && break
    echo "3000 10000" 2>/dev/null >$group/cpu.max && break
    rmdir "$group"
    group=
done
if [ -z "$group" ] || [ "$switches$refused" != 00 ]; then
    skip "throttled" "needs a cgroup, which root makes, and switches"
else
    throttled() { rm -f throttled.prof && sh -c "echo \$\$ >$group/cgroup.procs && exec env PROF_SYSTEM=1 PROF_OUTPUT=throttled.prof ./program throttled 20"; }
    throttled
    truth throttled throttled
    rmdir "$group"
fi

# ---- with none of the system's records: scopes, locks, memory
PROF_OUTPUT=plain.prof ./plain lock 10
"$prof" why plain.prof >text
has "says what it chose" text "No scope was chosen: this is the slowest of 10 calls of "
"$prof" why -s call plain.prof >text
has "without records: unknown has a share" text "100.0 %  unknown"
has "what would tell" text "PROF_SWITCHES=1"
has "scopes inside" text "load_texture took"

PROF_OUTPUT=device.prof ./plain device
"$prof" why -s draw device.prof >text
has "devices meanwhile" text "shadow pass, on graphics of GPU"
"$prof" why -s draw -f json device.prof >text
check "devices: as data" "$(grep -qE '"devices":\[\{"name":"shadow pass","device":"GPU","row":"graphics","ns":'"$ns" text || cat text)"
lacks "devices: not what threads of the host do in CUDA" text '"device":"CUDA"'
"$prof" frames device.prof >text
check "frames: how long devices worked, and at what" "$(grep -qE "^ +3 .* $ms  .* draw took $ms.*; meanwhile GPU did shadow pass for $ms" text || cat text)"
"$prof" frames -f json device.prof >text
check "frames: the same as data" "$([ "$(grep -cE '^\{"number":3,.*"wall_ns":'"$ns"',"devices_ns":'"$ns," text)" = 1 ] || cat text)"
check "frames: in which they did nothing" "$([ "$(grep -c '"devices_ns":0,' text)" = 5 ] || cat text)"

# ---- frames and steps, each against the median of its name
PROF_OUTPUT=rounds.prof ./plain rounds 20
"$prof" steps rounds.prof >text
has "steps: how many, and of what name" text "turn: 20 steps, median "
check "steps: which is slow, and why" "$(grep -qE '^ +106 .* main +waited .* for lock store held by thread worker in scope save' text || cat text)"
check "steps: the slowest one first" "$(sed -n 4p text | grep -qE '^ +106 ' || cat text)"
has "steps: other names" text "other steps, for --name: other turn"
has "steps: what says more" text "prof why --step NUMBER says more of one."
"$prof" why --step 106 rounds.prof >text
has "why --step" text "turn 106 took "
"$prof" why --step 0x6a -f json rounds.prof >text
has "why --step: as data" text ',"step":106,'
"$prof" steps --name "other turn" -n 20 -f json rounds.prof >text
check "steps: all of another name, negative numbers too" \
    "$([ "$(grep -c '^{"number":-' text)" = 19 ] && grep -q '"name":"other turn","kind":"step","count":20,' text || cat text)"
"$prof" frames --slowest 1 -f json rounds.prof >text
check "frames: the slowest, and why" "$([ "$(grep -c '^{"number":6,.*"why":"waited .* for lock store held by thread worker in scope save' text)" = 1 ] || cat text)"

# ---- a request: in a queue, on a thread, and on another that it calls
PROF_OUTPUT=requests.prof ./plain requests
"$prof" request requests.prof 8 -c 0 >text
check "request: the scopes on all threads, and the gap, in order" "$([ "$(sed -n 's/^.*| \([^|]*\)$/\1/p' text | sed 's/ for [0-9].*//')" = \
"main: accept
in queue: thread server was busy with serve of request 7
server: serve
  wait for the answer
helper: look up" ] || cat text)"
has "request: the child, by its argument" text "  query 99, by an argument: took 20"
check "request: the critical path goes to the thread that was called, and back" "$([ "$(sed -n '/^critical/,$ s/^.* %  //p' text |
    grep -v 'on its way')" = \
"accept on thread main
in queue
serve on thread server
look up on thread helper
serve on thread server" ] || cat text)"
"$prof" request requests.prof 99 >text
has "request: the parent" text "  request 8, by an argument: took "
"$prof" request requests.prof 7 >text
check "request: the loop around all requests is no part of one" "$(grep -q 'server: serve' text && ! grep -q 'server loop' text || cat text)"
"$prof" request requests.prof 8 -f json | tr -d '\n' >text
check "request: as data" "$(grep -q '{"kind":"gap","name":"in queue","thread":"server",.*"critical":true,"why":"thread server was busy with serve of request 7 for ' text || cat text)"
"$prof" request rounds.prof 106 >text
has "request: without a span, a step; the lock that it waited for" text "waited "
has "request: who held it" text " for lock store held by thread worker in scope save"
"$prof" request rounds.prof 50 >text
check "request: the step of another that it wakes is no part of it" "$(grep -q 'worker: flush 50' text && ! grep -q 'turn' text || cat text)"

# ---- functions that were sampled: a sample stands for 1 ms
cat >hot.txt <<'END'
pid 1 -
module 400000 500000 0 0 - /nowhere/game
thread 7 main
begin 1000 frame draw
sample 2000000 7 400100
sample 3000000 7 400200
sample 4000000 7 400200
end 5000000
sample 6000000 7 400300
END
if "$build/tests/hot_image" <hot.txt >hot.prof; then
    "$prof" why -s frame -f json hot.prof >text 2>err
    check "sampled functions of the call alone" "$(tr -d '\n' <text |
        grep -qF '"hot":[{"function":"game+0x200","ns":2000000,"samples":2,"module":"game"},{"function":"game+0x100","ns":1000000,' || cat text)"
    "$prof" why -s frame hot.prof >text 2>err
    has "as text" text "about 2.000 ms of that in game+0x200, by only 3 samples"
fi
# A call that ran for less than its samples stand for: 1.2 of 4 ms, with three samples of 1 ms each.
cat >short.txt <<'END'
pid 1 -
module 400000 500000 0 0 - /nowhere/game
thread 7 main
switch 0 0 7 known
begin 1000 frame draw
sample 1100000 7 400100
sample 1150000 7 400200
sample 1200000 7 400200
switch 1201000 0 7 waits
switch 4001000 0 7 in
end 4001000
known 5000000
END
if "$build/tests/hot_image" <short.txt >short.prof; then
    "$prof" why -s frame -f json short.prof | tr -d '\n' >text
    has "no function took longer than the call ran" text '"running_ns":1200000,'
    has "shares of that" text '"hot":[{"function":"game+0x200","ns":800000,"samples":2,"module":"game"},{"function":"game+0x100","ns":400000,'
    "$prof" why -s frame short.prof >text
    has "the same as text" text "about 800.0 us of that in game+0x200, by only 3 samples"
    "$prof" hot --scope frame short.prof >text
    has "prof hot" text "  66.7 %   800.0 us"
    has "prof hot says so" text "They stand for 3.000 ms, but these scopes ran for no more than 1.200 ms"
    "$prof" hot short.prof -f json | tr -d '\n' >text
    has "a whole recording" text '"self_samples":2,"self_ns":800667'
    "$prof" flame --samples -f folded -o text short.prof
    has "prof flame" text "game+0x200 800666"
    "$prof" hot --from 1ms --to 1300us short.prof >text
    has "a window" text "1.000 ms of processor time: 201.0 us"
fi

# ---- counters, in the unit that suits them
cat >counters.txt <<'END'
pid 1 -
thread 7 main
counter 900 memory B 2196270000
counter 910 queue - 123456789
counter 920 latency us 1500
counter 930 clock MHz 1400
begin 1000 frame draw
counter 2000 memory B 2196340000
counter 2010 queue - 123456780
counter 2020 latency us 2500
counter 2030 clock MHz 1410
end 5000
END
if "$build/tests/hot_image" <counters.txt >counters.prof; then
    "$prof" why -s frame counters.prof >text 2>err
    has "bytes" text "memory: from 2.196 GB to 2.196 GB, 70.00 kB more"
    has "a count with all its digits" text "queue: from 123,456,789 to 123,456,780, 9 less"
    has "a time" text "latency: from 1.500 ms to 2.500 ms, 1.000 ms more"
    has "another unit" text "clock: from 1,400 MHz to 1,410 MHz, 10 MHz more"
fi

# ---- of several waits between two readings only a sum is known
cat >several.txt <<'END'
pid 1 -
thread 7 main
switch 0 0 7 known
delay 50 7 0
begin 1000 frame draw
switch 1001000 0 7 waits
switch 2001000 0 7 in
switch 2002000 0 7 waits
switch 4002000 0 7 in
end 4500000
delay 4600000 7 1300000
known 5000000
END
if "$build/tests/hot_image" <several.txt >several.prof; then
    "$prof" why -s frame several.prof >text
    has "a thread that may have been ready" text "up to 1.300 ms of that it may have been ready, after it was woken"
    "$prof" why -s frame -f json several.prof | tr -d '\n' >text
    has "the same as JSON" text '"waiting_ns":3000000,"woken_ns":1300000'
fi

# ---- options and errors
fails "a name that does not exist" "no scope or frame is called 'cal': did you mean 'call'?" "$prof" why -s cal plain.prof
fails "frames that do not exist" "the recording has no frames: PROFILE_FRAME(name) marks them" "$prof" why --frame 1 plain.prof
fails "no number" "--slowest 'x': must be a number from 1 to 1000" "$prof" why --slowest x plain.prof
fails "no time" "--at 'x': must be a time such as 1.5s, 20ms, 300us, or -2s for 2 s before the end" "$prof" why --at x plain.prof
fails "no steps" "the recording has no steps: PROFILE_STEP(name, number) marks them" "$prof" steps plain.prof
fails "frames: there are none" "the recording has no frames: PROFILE_FRAME(name) marks them" "$prof" frames plain.prof
fails "a step that does not exist" "there is no step 7 of 'turn': it was not recorded, or is overwritten" "$prof" why --step 7 rounds.prof
fails "a name of no step" "no step is called 'save': did you mean 'turn'?" "$prof" steps --name save rounds.prof
fails "no whole number" "--step '7x': must be a whole number" "$prof" why --step 7x rounds.prof
fails "a step and a frame" "why: --step and --frame contradict each other" "$prof" why --step 7 --frame 7 rounds.prof
fails "a request that does not exist" "no span and no step has the number 5: prof summary lists spans and steps by name" \
    "$prof" request requests.prof 5
fails "a request of another name" "no span and no step of the name 'x' has the number 8: prof summary lists spans and steps by name" \
    "$prof" request --name x requests.prof 8
fails "a request at another time" "no span and no step has the number 8 at this time: prof summary lists spans and steps by name" \
    "$prof" request requests.prof 8 --at 0ns
fails "no number of a request" "request: '8x': must be the number of a span or a step, such as 371 or 0x173" \
    "$prof" request requests.prof 8x
succeeds "three calls" sh -c "[ \$('$prof' why -s call -n 3 plain.prof | grep -c '^call took') = 3 ]"
succeeds "at a time" sh -c "'$prof' why --at -1ms plain.prof | grep -q ' took '"
succeeds "from standard input" sh -c "'$prof' why - <plain.prof | grep -q ' took '"
finish
