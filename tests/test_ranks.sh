#!/bin/sh
# The ranks of a simulated training job with planted faults, examples/training: a straggler, a rank that is killed, one
# that hangs, a clock that runs 50 ppm fast and one that is 3.015 s behind. Each command names them. CC, BUILD: see the
# Makefile.
# run: unchecked
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
[ "$(uname -s)" = Linux ] || { skip ranks "no Linux"; finish; }
in_work out/test_ranks_sh
unset PROF_OUTPUT LD_PRELOAD
succeeds "the job" ${CC:-cc} -std=gnu99 -I"$root" -O0 -w "$root/examples/training/training.c" -o training -pthread -ldl || finish
succeeds "it runs" ./training job 8 100
succeeds "with offsets" ./training known 8 100 offsets
succeeds "12 ranks" ./training twelve 12 10
says() { if [ "$(cat err)" = "$2" ]; then ok "$1"; else fail "$1: said '$(cat err)', not '$2'"; fi; }
line() { grep -F -e "$2" out >one || : >one; if [ "$(cat one)" = "$3" ]; then ok "$1"; else fail "$1" "$(cat out)"; fi; }

# ---- one table of all ranks
is "summary of ranks" 0 "$prof" summary -n 4 job/rank-*.prof
prints "where they differ" <<'EOF'
8 ranks of job 4711 on 2 hosts; mean: of a call; min, median, max: of a rank's total

scope               calls       mean        min     median        max   rank  max/mean   waiting
train                 751   24.03 ms    1.659 s    2.410 s    2.410 s      1      1.07
MPI_Allreduce         749   9.941 ms   50.23 ms    1.139 s    1.140 s      1      1.23    94.9 %
read batch            770   5.000 ms   350.0 ms   500.0 ms   500.0 ms      1      1.04
fwd layer.1           750   3.483 ms   142.4 ms   202.9 ms    1.293 s      5      3.96
11 more
EOF
is "sorted by calls" 0 "$prof" summary -n 1 -s calls job/rank-*.prof
line "the most calls" "read batch" "read batch           770   5.000 ms   350.0 ms   500.0 ms   500.0 ms      1      1.04"
is "summary --by rank" 0 "$prof" summary --by rank -n 2 -c 60 twelve/rank-*.prof
prints "a matrix, in the order of numbers" <<'EOF'
12 ranks of job 4711 on 3 hosts; the total of each

scope             rank 0     rank 1     rank 2     rank 3
train           234.6 ms   234.6 ms   147.7 ms   234.6 ms
MPI_Allreduce   107.7 ms   107.8 ms   71.31 ms   107.6 ms

scope             rank 4     rank 5     rank 6     rank 7
train           234.6 ms   234.6 ms   185.6 ms   234.6 ms
MPI_Allreduce   107.6 ms   5.000 ms   84.31 ms   107.7 ms

scope             rank 8     rank 9    rank 10    rank 11
train           234.6 ms   234.6 ms   234.6 ms   234.6 ms
MPI_Allreduce   107.5 ms   107.5 ms   107.5 ms   107.6 ms
13 more
EOF
is "as data" 0 "$prof" summary --by rank -l json -n 2 job/rank-*.prof
has "the spread" out '"max_mean":1.2252,"min_ns":50226765,"median_ns":1139137048,"max_ns":1140363085,"waiting":0.9495,"most_in":"rank 1"'
is "a report of each" 0 "$prof" summary --by file job/rank-0.prof job/rank-5.prof
has "which rank it is" out "== training, rank 5 of job 4711 on node1 =="
fails "p99 of all" "summary: --sort p99 needs one recording, or --by file" "$prof" summary -s p99 job/rank-0.prof job/rank-1.prof
fails "bars of all" "summary: --bars needs one recording, or --by file" "$prof" summary --bars job/rank-0.prof job/rank-1.prof

# ---- who is late
is "stragglers" 0 "$prof" stragglers job/rank-*.prof
prints "the planted faults, and no others" <<'EOF'
8 ranks of job 4711 on 2 hosts; train: 100 steps, median 24.53 ms

rank 5 (node1) is late in 96 of 100 steps: fwd layer.1 takes 6.6 times the median; the others wait 96 % of MPI_Allreduce for it, 7.070 s in all
rank 2 (node0) was killed, or crashed, in train, in step 69; others went on for 30 steps
rank 6 (node1) hangs in load batch, for at least 2.000 s, in step 80; others went on for 19 steps
rank 1 (node0): its clock is 50.00 ms ahead and runs 50.0 ppm fast, by the ends of collectives
rank 3 (node0): its clock is 3.015 s behind, by the ends of collectives
--align step puts that right; so does --offset, in prof merge, too.
EOF
is "with known offsets" 0 "$prof" stragglers known/rank-*.prof
lacks "no clock is off" out clock
is "an offset" 0 "$prof" stragglers --offset rank=3:+3.015s,rank=1:-50ms job/rank-*.prof
lacks "it is not off any more" out "rank 3"
has "the other still runs fast" out "runs 50.0 ppm fast"
is "without the straggler" 0 "$prof" stragglers job/rank-0.prof job/rank-4.prof job/rank-7.prof
has "all is well" out "No rank is often late, and none has ended before the others."
succeeds "another job" ./training other 4 100
succeeds "the same ranks of another job" env SLURM_JOB_ID=4712 ./training next 2 10
both="job/rank-0.prof and next/rank-0.prof are both rank 0, of the jobs 4711 and 4712: prof compare A... -- B... compares two jobs"
for command in summary steps stragglers "summary --by host"; do
    fails "$command: two jobs are not added up" "$both" "$prof" $command job/rank-0.prof next/rank-0.prof
done
printf '#define PROF_IMPLEMENTATION\n#include "prof.h"\nint main(void) { PROFILE_SCOPE("run"); return 0; }\n' >run.c
succeeds "a program" ${CC:-cc} -std=gnu99 -I"$root" -O0 -w run.c -o run -pthread -ldl
for number in 1 2; do PROF_RANK=3 PROF_OUTPUT=run-$number.prof ./run; done
fails "two runs of it are not added up" "run-1.3.prof and run-2.3.prof are both rank 3, at different times: prof compare A... -- B... compares two runs" "$prof" summary run-1.3.prof run-2.3.prof
cp run run-other && PROF_RANK=3 PROF_OUTPUT=run-3.prof ./run-other
is "two programs of a rank are" 0 "$prof" summary run-1.3.prof run-3.3.prof
has "as one rank" out "1 rank on 1 host"
fails "a recording that is given twice" "job/rank-0.prof and job/rank-0.prof are the same recording" "$prof" summary job/rank-0.prof job/rank-0.prof
is "they are compared" 0 "$prof" compare job/rank-0.prof -- next/rank-0.prof
is "ranks that do not wait for each other" 0 "$prof" stragglers job/rank-0.prof other/rank-1.prof other/rank-2.prof
lacks "say nothing about clocks" out clock
is "two ranks" 0 "$prof" stragglers job/rank-5.prof job/rank-0.prof
has "one of them" out "rank 5 (node1) is late in 96 of 100 steps: fwd layer.1 takes 6.6 times the median; the others wait"
is "as data" 0 "$prof" stragglers -f json job/rank-*.prof
has "who" out '{"rank":"5","host":"node1","late":96,"last":96,"steps":100,"lost_ns":1089412824,"scope":"fwd layer.1","ratio":6.591,"wait":"MPI_Allreduce","wait_share":0.9559,"waited_ns":'
has "who has ended" out '{"rank":"2","host":"node0","hangs":false,"scope":"train",'
has "who hangs" out '{"rank":"6","host":"node1","hangs":true,"scope":"load batch",'
has "whose clock" out '{"rank":"3","ahead_ns":-3015000000,"ppm":0.00}'
fails "no such rank" "--offset: no recording has the rank 9" "$prof" stragglers --offset rank=9:1s job/rank-0.prof job/rank-1.prof
fails "no such thing" "--offset '3:+1s': must be rank=3:+3.015s or host=node2:-20ms, or several of these, with commas" "$prof" stragglers --offset 3:+1s job/rank-0.prof job/rank-1.prof
fails "no such steps" "there are no steps named 'eval'" "$prof" stragglers -s eval job/rank-0.prof job/rank-1.prof
fails "one recording" "stragglers: a file is missing; usage: prof stragglers IN IN ..." "$prof" stragglers job/rank-0.prof

# ---- steps
is "steps of ranks" 0 "$prof" steps -n 2 known/rank-*.prof
prints "the slowest ones" <<'EOF'
8 ranks of job 4711 on 2 hosts; train: 100 steps, median 24.53 ms

    number        took x median skew begin   skew end  slowest   why
         4    24.83 ms     1.01       1 ns       0 ns  5         fwd layer.1 took 13.59 ms, 6.7 times the median
        17    24.81 ms     1.01       0 ns       0 ns  5         fwd layer.1 took 13.60 ms, 6.7 times the median

prof stragglers says which rank is late most often.
EOF
is "clocks that are off" 0 "$prof" steps -n 1 job/rank-*.prof
has "make skew" out "3.065 s    3.065 s"
is "aligned by steps" 0 "$prof" steps -n 1 --align step job/rank-*.prof
has "no more of it" out "2.500 us   2.499 us"
is "as data" 0 "$prof" steps -n 1 -f json known/rank-*.prof
has "the step" out '{"number":4,"wall_ns":24828998,"ranks":8,"rank":"5","skew_begin_ns":1,"skew_end_ns":0,"scope":"fwd layer.1",'
fails "of one recording" "steps: --offset and --align are for several recordings" "$prof" steps --align step job/rank-0.prof

# ---- one time line
begins() { # begins NUMBER: when each rank begins this step, in us
    awk -F, -v step="\"step_num=$1\"" '$8 == "train" && $14 == step { printf "%d ", $10 / 1000 }' merged.csv
}
aligned() { # aligned NAME FILES... -- OPTIONS
    if "$prof" merge -o merged.csv "$@"; then ok "merge $*"; else fail "merge $*"; fi
}
aligned known/rank-0.prof known/rank-1.prof known/rank-3.prof
check "recorded offsets put the first steps on one line, and the last" "$([ "$(begins 0) $(begins 99)" = "4999 4999 4999  2390135 2390135 2390135 " ] || begins 99)"
kernels=$(awk -F, '$8 == "conv2d" { n++; if (n % 100 == 0) printf "%d ", $10 / 1000 }' merged.csv)
check "their devices, too" "$([ "$kernels" = "2390455 2390455 2390455 " ] || echo "$kernels")"
aligned job/rank-0.prof job/rank-3.prof --offset rank=3:+3.015s
check "so does an offset" "$([ "$(begins 0) $(begins 99)" = "4999 4999  2390135 2390135 " ] || begins 99)"
aligned job/rank-0.prof job/rank-3.prof --offset host=node0:-20ms
check "a host's ranks stay together" "$([ "$(begins 0)" = "3019999 4999 " ] || begins 0)"
aligned job/rank-0.prof job/rank-3.prof --align step
check "so do steps" "$([ "$(begins 0) $(begins 99)" = "4999 4999  2390135 2390135 " ] || begins 99)"

# ---- one recording of all ranks
echo "of the user" >all.prof.0.part
succeeds "merge into one .prof" "$prof" merge -o all.prof job/rank-*.prof
check "no other file is touched" "$([ "$(cat all.prof.*)" = "of the user" ] || ls all.prof*)"
rm all.prof.0.part
same() { # same COMMAND...: it says of all.prof what it says of the recordings that are in it
    "$prof" "$@" job/rank-*.prof >parts 2>&1
    "$prof" "$@" all.prof 2>&1 | sed 's|all\.prof/|job/|' >whole
    if [ -s parts ] && cmp -s parts whole; then ok "$* of one file"; else fail "$* of one file" "$(diff parts whole)"; fi
}
same summary
same summary --by rank -l json
same summary --by file
same steps
same stragglers
same messages
same check
same merge -o -
same merge --align step -o -
same view --no-browser -o -
for kind in csv txt html; do
    "$prof" merge -o parts.$kind job/rank-*.prof && "$prof" merge -o whole.$kind all.prof
    if cmp -s parts.$kind whole.$kind; then ok "$kind of one file"; else fail "$kind of one file"; fi
done
is "one of its recordings" 0 "$prof" summary all.prof/rank-5.prof
has "is named" out "rank      5"
succeeds "it can be taken out" "$prof" export all.prof/rank-5.prof -o taken.prof
"$prof" export job/rank-5.prof -o copied.prof
check "and is whole" "$(cmp taken.prof copied.prof)"
check "tar reads it" "$(tar tf all.prof 2>&1 | tr '\n' ' ' | grep -vx 'rank-0.prof rank-1.prof rank-2.prof rank-3.prof rank-4.prof rank-5.prof rank-6.prof rank-7.prof ')"
is "two of them are compared" 0 "$prof" compare all.prof all.prof
has "each with all its ranks" out "8 recordings against 8"
fails "a command for one recording" "hot: needs one recording, and there are 8: name one of them, such as all.prof/rank-0.prof" "$prof" hot all.prof
fails "no such recording" "all.prof: holds no recording rank-9.prof" "$prof" summary all.prof/rank-9.prof
head -c 1000000 all.prof >cut.prof
fails "a file that was cut" "cut.prof: was cut in rank-1.prof, or is damaged after it; name the others, as in cut.prof/NAME, or use prof recover" "$prof" summary cut.prof
is "what it still has" 0 "$prof" summary cut.prof/rank-0.prof
fails "and what it has not" "cut.prof/rank-1.prof: truncated: 282176 of 716800 bytes are left" "$prof" summary cut.prof/rank-1.prof
{ head -c 717312 all.prof; head -c 4096 /dev/zero | tr '\0' x; tail -c +721409 all.prof; } >broken.prof
fails "a file that is damaged" "broken.prof: was cut in rank-0.prof, or is damaged after it; name the others, as in broken.prof/NAME, or use prof recover" "$prof" stragglers broken.prof
head -c 100000 job/rank-1.prof >bad.prof
fails "a damaged rank is named" "bad.prof: truncated: 100000 of 716800 bytes are left" "$prof" merge -o worse.prof job/rank-0.prof bad.prof
check "and nothing is written" "$(ls worse.prof* 2>/dev/null)"
fails "clocks stay as they are" "merge: x.prof: keeps the clock of each recording: give --offset and --align to the commands that read it" "$prof" merge -o x.prof --align step job/rank-0.prof job/rank-1.prof

# ---- arrows between ranks
"$prof" merge -o ring.json known/rank-0.prof known/rank-1.prof known/rank-7.prof
ends() { # ends PHASE: the ids of this end of arrows whose name no process has for itself
    grep -o "\"ph\":\"$1\",\"name\":\"flow\",.*\"id\":\"[0-9a-fx]*\"" ring.json | sed 's/.*"id":"//; s/"//' | sort
}
ends s >sent && ends f >received
check "each of three ranks sends 100 times, and receives as often" "$([ "$(cat sent | wc -l) $(cat received | wc -l)" = "300 300" ] || wc -l sent received)"
check "what ranks 0 and 7 send, ranks 1 and 0 receive" "$([ "$(comm -12 sent received | wc -l)" = 200 ] || comm -12 sent received | wc -l)"
cat >arrows.mjs <<EOF
import { open } from '$root/tests/html/report.mjs';
const { flows } = await open('ring.html'), name = track => track.process.name.match(/rank \d+/)[0];
const between = flows.filter(({ fromTrack, toTrack }) => fromTrack.process !== toTrack.process);
console.log(between.length, [...new Set(between.map(({ fromTrack, toTrack }) => name(fromTrack) + ' to ' + name(toTrack)))].sort().join(', '));
EOF
if node -e 'new DecompressionStream("deflate-raw")' 2>/dev/null; then
    "$prof" merge -o ring.html known/rank-0.prof known/rank-1.prof known/rank-7.prof
    arrows=$(node arrows.mjs 2>&1)
    check "so they do on the page" "$([ "$arrows" = "200 rank 0 to rank 1, rank 7 to rank 0" ] || echo "$arrows")"
else
    skip "arrows of the page" "there is no node, or an old one"
fi

# ---- many ranks: memory does not grow with them
succeeds "300 ranks" ./training many 300 50
limited() { (ulimit -v 160000; "$prof" "$@" >out 2>err) && ok "$1: in less than 160 MB" || fail "$1: in less than 160 MB" "$(cat err)"; }
limited summary many/rank-*.prof
limited stragglers many/rank-*.prof
limited merge many/rank-*.prof -o many.json
limited merge many/rank-*.prof -o many.html
rm -rf many many.json many.html
finish
