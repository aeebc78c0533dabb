#!/bin/sh
# Tests the command-line tool: what each command prints and writes for recordings of known content, all its errors, its
# exit statuses; manual and completion against its own help; images in core dumps. BUILD: see the Makefile.
# run: long
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
in_work tool
ulimit -S -f 12000000 # 6 GB: a fault must not fill the disk

says() { # says NAME LINE: all that it said on standard error
    if [ "$(cat err)" = "$2" ]; then ok "$1"; else fail "$1: said '$(cat err)', not '$2'"; fi
}
sizeless() { sed -E 's/[0-9,]+ (of up to [0-9,]+ )?bytes at 0x[0-9a-f]+/\1bytes/; s/of up to [0-9,]+ /a part of the /' out >less && mv less out; }
columns() { tr -d '\r' <"$1" | cut -d, -f1-12; } # of a CSV file, without places in the source

"$build/tests/tool_images" . || { echo "FAIL tool_images"; echo "0 passed, 1 failed, 0 skipped"; exit 1; }

# ---- export

is "export csv" 0 "$prof" export whole.prof -o whole.csv
[ ! -s out ] && [ ! -s err ] && ok "export is silent" || fail "export is silent"
columns whole.csv >out
prints "csv: every event" <<'END'
track_id,thread_id,thread,type,name,category,start_ns,duration_ns,depth,flags,value,args
1,100,main,scope,tick,,1000,7000,0,,,
1,100,main,scope,draw,,2000,2000,1,,,
1,100,main,scope,shape,gfx,2100,500,2,,,"number=0"
1,100,main,scope,shape,gfx,3100,500,2,,,"number=1"
1,100,main,counter,objects,,5000,0,1,,10,
1,100,main,mark,saved,,6000,0,1,,,
1,100,main,frame,frame,,9000,0,0,,,
1,100,main,scope,tick,,11000,7000,0,,,
1,100,main,scope,draw,,12000,2000,1,,,
1,100,main,scope,shape,gfx,12100,500,2,,,"number=0"
1,100,main,scope,shape,gfx,13100,500,2,,,"number=1"
1,100,main,counter,objects,,15000,0,1,,11,
1,100,main,mark,saved,,16000,0,1,,,
1,100,main,frame,frame,,19000,10000,0,,,
2,101,worker,scope,draw,,4000,1000,0,,,
2,101,worker,scope,shape,gfx,4100,500,1,,,"number=0"
END
is "export json" 0 "$prof" export whole.prof --output=whole.json
[ "$(grep -c '"ph":"X"' whole.json)" = 11 ] && [ "$(tail -n 1 whole.json)" = "]}" ] && ok "json: every scope and frame" || fail "json: every scope and frame"
is "export --source args" 0 "$prof" export whole.prof -o source.json --source args --min-duration 1us
has "the source as an argument" source.json '"source":"'
[ "$(grep -c '"name":"shape"' source.json)" = 0 ] && [ "$(grep -c '"name":"draw"' source.json)" = 3 ] && ok "without short scopes" || fail "without short scopes"
is "export --no-args" 0 "$prof" export whole.prof -o bare.json --no-args --no-spans --source=none
has "arguments are there otherwise" whole.json '"number":1'
! grep -q -e '"number":1' -e '"loc"' bare.json && ok "no arguments, no source" || fail "no arguments, no source"
is "merge --no-args" 0 "$prof" merge whole.prof later.prof -o bare.json --no-args --source none
! grep -q -e '"number":1' -e '"loc"' bare.json && ok "merged: no arguments, no source" || fail "merged: no arguments, no source"
is "export --allocations" 0 "$prof" export whole.prof -o - -f json --allocations --progress never
fails "export --allocations of CSV" "export: --allocations is for .json" "$prof" export whole.prof -o other.csv --allocations
fails "export --source of CSV" "export: --source is for .json" "$prof" export whole.prof -o other.csv --source args
fails "export --source of nothing" "--source 'here': must be loc, args, none" "$prof" export whole.prof -o other.json --source here
is "export txt" 0 "$prof" export -o whole.txt whole.prof
is "summary" 0 "$prof" summary whole.prof
same "txt is the summary" whole.txt out
is "export html" 0 "$prof" export whole.prof -o whole.html
is "it is a page" 0 sh -c 'head -n 1 whole.html | grep -q "^<!doctype html>"'
is "export html to standard output" 0 sh -c '"$1" export whole.prof -o - -f html | cmp - whole.html' sh "$prof"
printf 'one\n' >a.c
is "export --sources" 0 "$prof" export whole.prof -o sources.html --sources .
! cmp -s sources.html whole.html && ok "it has something more" || fail "it has something more"
is "view --sources" 0 "$prof" view --no-browser whole.prof -o viewed.html --sources .
same "view: the same" viewed.html sources.html
fails "export --sources of JSON" "export: --sources is for .html" "$prof" export whole.prof -o other.json --sources .
fails "export --sources of a file" "export: --sources 'whole.prof' is not a folder" "$prof" export whole.prof -o other.html --sources whole.prof
fails "view --sources of nothing" "view: --sources 'nowhere' is not a folder" "$prof" view whole.prof -o other.html --sources nowhere
[ ! -e other.html ] && ok "nothing is written" || fail "nothing is written"
is "export --events" 0 "$prof" export whole.prof -o few.html --events 10 --from 0 --to 1ms
! cmp -s few.html whole.html && ok "it is an outline" || fail "it is an outline"
is "view --events" 0 "$prof" view --no-browser whole.prof -o viewed.html --events 10 --from 0 --to 1ms
same "view: the same outline" viewed.html few.html
fails "export --events of JSON" "export: --events is for .html" "$prof" export whole.prof -o other.json --events 10
fails "export --to before --from" "export: --to 1ms is not later than --from 2ms" "$prof" export whole.prof -o other.html --from 2ms --to 1ms
mkdir -p view && is "view" 0 env TMPDIR="$PWD/view" BROWSER=true "$prof" view whole.prof
same "its path is printed, and the same page is there" "$(cat out)" whole.html
is "view of several, to a file" 0 "$prof" view --no-browser whole.prof whole.prof -o two.html
prints "the path" <<'END'
two.html
END
is "view without a browser" 0 env TMPDIR="$PWD/view" BROWSER=false "$prof" view whole.prof
says "it says so" "prof: no browser could be started: open this file in one"
is "view --live" 0 env BROWSER=true "$prof" view --live localhost:9012
prints "its address" <<'END'
http://localhost:9012/
END
is "view --live of a port, without a browser" 0 env BROWSER=false "$prof" view --live 9012
prints "its address, too" <<'END'
http://localhost:9012/
END
says "and says so" "prof: no browser could be started: open this address in one"
fails "view --live of a file" "view: --live takes one HOST:PORT, for example localhost:9012, not 'whole.prof'" "$prof" view --live whole.prof
fails "view --live of a command" "view: --live takes one HOST:PORT, for example localhost:9012, not 'x;reboot:1'" "$prof" view --live 'x;reboot:1'
fails "view of nothing" "view: a file is missing; usage: prof view FILE..." "$prof" view
is "export pprof" 0 "$prof" export whole.prof -o memory.pprof
is "the memory profile is compressed" 0 sh -c 'test "$(head -c 2 memory.pprof | od -An -tx1)" = " 1f 8b"'
is "export prof" 0 "$prof" export whole.prof -o copy.prof
same "prof is a copy" whole.prof copy.prof
is "export of standard input to standard output" 0 sh -c "'$prof' export - -o - -f csv <whole.prof >piped.csv"
same "the same through pipes" whole.csv piped.csv
is "export prof through pipes" 0 sh -c "cat whole.prof | '$prof' export -f prof -o - - | cat >piped.prof"
same "the copy through pipes" whole.prof piped.prof
cp whole.prof ./-odd.prof
is "a name with a dash" 0 "$prof" export -o odd.csv -- -odd.prof
same "its content" whole.csv odd.csv
is "--format beats the ending" 0 "$prof" export whole.prof -fcsv -o whole.other
same "its content" whole.csv whole.other
is "export over itself" 0 "$prof" export copy.prof -o copy.prof
same "nothing happened to it" whole.prof copy.prof
is "progress" 0 "$prof" export whole.prof -o bar.csv --progress always
tr '\r' '\n' <err >bar
has "a bar" bar "export [########################################] 100 %"
same "the same file" whole.csv bar.csv

# ---- summary

is "by path" 0 "$prof" summary --by-path whole.prof
sed -n '/^call path/,/^$/p' out | sed 's/ *tool_images.*//' >table
mv table out
prints "a tree" <<'END'
call path         calls      total       self   % of run       mean        min        p50        p90        p99        max     stddev  where
tick                  2   14.00 us   10.00 us     73.7 %   7.000 us   7.000 us   7.000 us   7.000 us   7.000 us   7.000 us       0 ns
  draw                2   4.000 us   2.000 us     21.1 %   2.000 us   2.000 us   2.000 us   2.000 us   2.000 us   2.000 us       0 ns
    shape             4   2.000 us   2.000 us     10.5 %     500 ns     500 ns     500 ns     500 ns     500 ns     500 ns       0 ns
draw                  1   1.000 us     500 ns      5.3 %   1.000 us   1.000 us   1.000 us   1.000 us   1.000 us   1.000 us       0 ns
  shape               1     500 ns     500 ns      2.6 %     500 ns     500 ns     500 ns     500 ns     500 ns     500 ns       0 ns

END
names() { sed -n '/^\(scope\|call path\)  /,/^\(and\|$\)/p' out | grep -E '^ *(tick|draw|shape|and)' | awk '{ printf "%s%s", (NR > 1 ? " " : ""), $1 }'; }
order() { # order EXPECTED OPTION...
    ordered=$1
    shift
    is "summary $*" 0 "$prof" summary "$@" whole.prof
    [ "$(names)" = "$ordered" ] && ok "order of $*" || fail "order of $*: $(names)"
}
order "tick draw shape"
order "shape draw tick" --ascending
order "tick draw shape" --sort self
order "shape draw tick" --sort calls
order "tick draw shape" --sort mean
order "tick draw shape" --sort=min
order "tick draw shape" -s max
order "tick draw shape" -sp99
order "draw shape tick" --sort name
order "tick and" --top 1
order "tick draw and" --top=2
order "tick draw shape draw shape" -p
order "tick draw shape and" -p -n 3
order "tick and" -p --top 1
order "tick draw shape and" -p -n 1 -s calls

is "layout mxnet" 0 "$prof" summary --layout mxnet whole.prof
prints "MXNet's table" <<'END'

Profile Statistics:
	Note the difference in units for different entries.
event
=================
Name                          Total Count        Time (ms)    Min Time (ms)    Max Time (ms)    Avg Time (ms)
----                          -----------        ---------    -------------    -------------    -------------
tick                                    2           0.0140           0.0070           0.0070           0.0070
objects                                 2          11.0000          10.0000          11.0000          10.5000
draw                                    3           0.0050           0.0010           0.0020           0.0017

frame
=================
Name                          Total Count        Time (ms)    Min Time (ms)    Max Time (ms)    Avg Time (ms)
----                          -----------        ---------    -------------    -------------    -------------
frame                                   1           0.0100           0.0100           0.0100           0.0100

gfx
=================
Name                          Total Count        Time (ms)    Min Time (ms)    Max Time (ms)    Avg Time (ms)
----                          -----------        ---------    -------------    -------------    -------------
shape                                   5           0.0025           0.0005           0.0005           0.0005

END
is "layout domains" 0 "$prof" summary -l domains whole.prof
prints "domains" <<'END'
domain         calls      total       self  % of self    longest  truncated
(none)             5   15.00 us   12.50 us     83.3 %   7.000 us          0
gfx                5   2.500 us   2.500 us     16.7 %     500 ns          0
END
is "layout histogram" 0 "$prof" summary -l histogram --top 1 whole.prof
prints "histogram" <<'END'

tick: 2 calls, total 14.00 us, mean 7.000 us, p50 7.000 us, p99 7.000 us
        from       below         count     share    so far
    4.096 us    8.192 us             2   100.0 %   100.0 %  |########################################
END
is "layout cntk" 0 "$prof" summary -l cntk --others whole.prof
has "CNTK's summary" out "draw                      :         0.002 ms         0.000 ms         0.001 ms         0.002 ms                3         0.005 ms"
is "layout cntk-detail" 0 "$prof" summary -l cntk-detail whole.prof
[ "$(head -n 1 out)" = "EventDescription,ThreadId,BeginTimeStamp(ms),EndTimeStamp(ms)" ] && [ "$(wc -l <out)" -eq 11 ] && ok "CNTK's events" || fail "CNTK's events"
is "layout json" 0 "$prof" summary -l json whole.prof
has "JSON" out '"tick":{"Count":2,"Total":0.014,"Min":0.007,"Max":0.007,"Avg":0.007,"StdDev":0,"Self":0.01,'
is "two recordings" 0 "$prof" summary -l domains whole.prof whole.prof
[ "$(grep -c '^== .*, process [0-9]* ==$' out)" -eq 2 ] && [ "$(grep -c '^gfx ' out)" -eq 2 ] && ok "one after another" || fail "one after another"

# ---- check

is "check: whole" 0 "$prof" check whole.prof
prints "check" <<'END'
whole.prof
  program   alpha
  process   100
  started   2023-11-14 22:13:20 UTC
  lasted    19.00 us
  clock     test clock, 1.000 GHz, smallest step 1 ns
  buffer    57,344 bytes in chunks of 4,096, reused as a ring
  events    16: 10 scopes, 2 marks, 2 counter samples, 2 frame boundaries
  sites     6
  tracks    2
    main                 thread 100      14 events, 1.000 us to 19.00 us
    worker               thread 101      2 events, 4.000 us to 5.000 us
  missing   nothing
whole
END
sed 's/worker/w\xC2\x9Bker/' whole.prof >obeyed.prof
is "check: a name that a terminal would obey" 0 "$prof" check obeyed.prof
has "shows none of it" out "w?ker "
is "check: crashed" 1 "$prof" check crashed.prof
sed -n '/tracks/,$p' out >tracks
mv tracks out
prints "what it was doing" <<'END'
  tracks    2
    main                 thread 100      18 events, 1.000 us to 34.00 us
      open at the end:
        tick  for at least 10.00 us
          load  for at least 9.000 us
            parse  for at least 8.500 us
    worker               thread 101      3 events, 4.000 us to 40.00 us
      open at the end:
        wait  for at least 0 ns: it was begun last
  missing   the end: the session was not stopped; process 100 saved this while it ran, or crashed, was killed or left by _exit
incomplete
END
is "check: several, of which two hang" 1 "$prof" check whole.prof crashed.prof obeyed.prof crashed.prof
sed '/^$/,$d' out >hangs
mv hangs out
prints "where, and since when, first of all" <<'END'
what threads were in at the end, by their innermost scope, UTC, the earliest first:
  parse                            for at least 8.500 us, since 22:13:20.000: 2 threads, first main of crashed.prof
  wait                             for at least 0 ns, since 22:13:20.000: 2 threads, first worker of crashed.prof
END
is "check: scopes that longjmp() left" 0 "$prof" check left.prof
[ "$(grep -c ' for [0-9]' out)" = 32 ] && ok "shows the outermost and the innermost" || fail "shows $(grep -c ' for ' out)"
has "how many more there are" out "... 48 more ..."
has "what the process is for" out "  program   alpha server"
is "flame of processes" 0 "$prof" flame whole.prof left.prof -o t.folded
has "what the process is for, too" t.folded "alpha server (process 100);"
is "check: a kernel that was not stopped" 1 "$prof" check kernel.prof
sed -n /missing/p out >kept && mv kept out
prints "speaks of no process" <<'END'
  missing   the end: the session was not stopped
END
is "check: full" 1 "$prof" check full.prof
has "why" out "  missing   2,548 events lost in a full buffer: enlarge PROF_BUFFER to 128K"
has "why" out "            3 arguments lost in a full buffer: enlarge PROF_BUFFER to 128K"
has "where" out "(unnamed)            thread 100      1,453 events, 1.000 us to 146.1 us, 2,548 events lost"
is "check: lost in handlers" 1 "$prof" check busy.prof
has "why" out "  missing   2 events lost in signal handlers or interrupts that came while a macro was at work"
is "check: ring" 1 "$prof" check ring.prof
has "why" out "  missing   22 older chunks overwritten in the ring: enlarge PROF_BUFFER to 128K to see them all"
is "check --quiet" 1 "$prof" check -q ring.prof
[ ! -s out ] && [ ! -s err ] && ok "quiet" || fail "quiet"
is "check --quiet of a whole one" 0 "$prof" check --quiet whole.prof
is "check --quiet of two" 1 "$prof" check -q whole.prof ring.prof whole.prof
is "check of several" 2 "$prof" check whole.prof nowhere.prof ring.prof
has "the first" out "whole.prof"
has "the last" out "ring.prof"
has "what is not there" err "cannot open nowhere.prof: No such file or directory"
is "check of standard input" 0 sh -c "'$prof' check - <whole.prof"
has "its name" out "standard input"

# ---- summary into files

"$prof" summary --layout cntk whole.prof >expected
is "summary -o" 0 "$prof" summary --layout cntk -o made/here/cntk.txt whole.prof
[ ! -s out ] && ok "summary -o is silent" || fail "summary -o is silent"
same "summary -o: the same" expected made/here/cntk.txt
is "summary -o -" 0 "$prof" summary --layout cntk -o - whole.prof
same "summary -o -: the same" expected out
is "CNTK's two files" 0 "$prof" summary --layout cntk -o made/profiler/ whole.prof
same "CNTK's summary" expected made/profiler/*_summary_100.txt
"$prof" summary --layout cntk-detail whole.prof >expected
same "CNTK's detail" expected made/profiler/*_detail_100.csv
is "of several recordings" 0 "$prof" summary -o made/%p.txt whole.prof whole.prof
[ -s made/100.txt ] && ok "a file for each" || fail "a file for each"
rm -rf made

# ---- columns

longest() { awk '{ if (length($0) > most) most = length($0) } END { print most + 0 }' "$1"; }
for command in "summary" "summary --by-path" "summary -l domains" "summary -l histogram" "check"; do
    is "$command --columns 80" 0 "$prof" $command --columns 80 whole.prof
    [ "$(longest out)" -le 80 ] && ok "$command: fits" || fail "$command: a line has $(longest out) characters"
done
is "a pipe has no width" 0 env COLUMNS=80 "$prof" summary whole.prof
same "it is as wide as it needs to be" whole.txt out
is "--columns 0" 0 "$prof" summary --columns 0 whole.prof
same "so it is for 0" whole.txt out
fails "--columns 20" "--columns '20': must be a number from 40 to 10000" "$prof" check --columns 20 whole.prof
if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    is "on a terminal" 0 script -qec "stty cols 80 rows 24; '$prof' summary whole.prof" /dev/null
    tr -d '\r' <out >terminal
    "$prof" summary -c 80 whole.prof >out
    same "it is as wide as that" terminal out
else
    skip "on a terminal: script is not installed"
fi

# ---- bars

is "--bars" 0 "$prof" summary --bars whole.prof
sed -n "$(($(wc -l <whole.txt) + 1)),\$p" out >bars
head -n "$(wc -l <whole.txt)" out | cmp -s - whole.txt && ok "bars come after the report" || fail "bars come after the report"
mv bars out
prints "a bar is as long as its share" <<'END'

self time                 share
tick         10.00 us    66.7 %  ███████████████████████████████████████████████
draw         2.500 us    16.7 %  ███████████▊
shape        2.500 us    16.7 %  ███████████▊
END
bars() { sed -n '/^self time/,$p' out >bars && mv bars out; }
is "--bars --top 1" 0 "$prof" summary --bars --by-path --top 1 --columns 40 whole.prof && bars
prints "the others, in a narrow line" <<'END'
self time                 share
tick         10.00 us    66.7 %  ███████
2 others     5.000 us    33.3 %  ███▌
END
is "bars of a recording with a short scope" 0 "$prof" summary --bars before.prof && bars
prints "rounded to eighths, but never to nothing" <<'END'
self time                 share
better       400.0 us    28.6 %  ███████████████████████████████████████████████
steady       400.0 us    28.6 %  ███████████████████████████████████████████████
worse        400.0 us    28.6 %  ███████████████████████████████████████████████
noisy        199.6 us    14.3 %  ███████████████████████▌
old            300 ns     0.0 %  ▏
END
is "--no-bars" 0 "$prof" summary --no-bars whole.prof
same "the report alone" whole.txt out
is "a pipe has no bars" 0 env TERM=xterm LC_ALL=C.UTF-8 "$prof" summary whole.prof
same "it has the report alone" whole.txt out
is "--bars of two recordings" 0 "$prof" summary --bars whole.prof later.prof
[ "$(grep -A2 '^== .*\.prof ==$' out | grep -cE '^(== (whole|later)\.prof ==|self time .*)$')" = 4 ] && ok "bars of each" || fail "bars of each: $(tail -n 12 out)"
fails "bars of another layout" "summary: --bars needs --layout own" "$prof" summary --bars -l json whole.prof
fails "bars in a file" "summary: --bars needs standard output" "$prof" summary --bars -o bars.txt whole.prof
fails "bars or not" "summary: --bars and --no-bars contradict each other" "$prof" summary --bars --no-bars whole.prof
if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    terminal() { # terminal COLUMNS COMMAND...: what it prints on such a terminal
        wide=$1
        shift
        is "on a terminal: $*" 0 script -qec "stty cols $wide rows 24; $*" /dev/null
        tr -d '\r' <out >terminal && mv terminal out
    }
    drawn() { # drawn YES COLUMNS VARIABLES: yes: with bars; no: the report alone
        terminal "$2" "$3 '$prof' summary whole.prof"
        cp out terminal
        [ "$1" = yes ] && bars=--bars || bars=--no-bars
        "$prof" summary $bars -c "$2" whole.prof >out
        same "bars: $1" terminal out
    }
    drawn yes 80 "TERM=xterm LC_ALL=C.UTF-8"
    drawn yes 60 "TERM=xterm LC_ALL= LC_CTYPE= LANG=en_US.utf8"
    drawn yes 120 "TERM=xterm LC_ALL= LC_CTYPE=de_DE.UTF-8 LANG=C"
    drawn no 59 "TERM=xterm LC_ALL=C.UTF-8"
    drawn no 80 "TERM=xterm LC_ALL= LC_CTYPE= LANG=C"
    drawn no 80 "TERM=xterm LC_ALL=C LANG=C.UTF-8"
    drawn no 80 "TERM= LC_ALL=C.UTF-8"
    drawn no 80 "TERM=dumb LC_ALL=C.UTF-8"
    drawn no 80 "TERM=linux LC_ALL=C.UTF-8"
    terminal 80 "TERM=xterm LC_ALL=C.UTF-8 '$prof' summary --no-bars whole.prof"
    cp out terminal
    "$prof" summary -c 80 whole.prof >out
    same "--no-bars on a terminal" terminal out
else
    skip "bars on a terminal: script is not installed"
fi

# ---- merge

is "merge" 0 "$prof" merge whole.prof later.prof -o merged.json
has "aligned exactly" merged.json '"processes aligned by":"monotonic clock"'
has "the first process" merged.json '"name":"process_name","cat":"__metadata","pid":100,"tid":100,"ts":0,"args":{"name":"alpha (100)"}'
has "the second one with a pid of its own" merged.json '"pid":1000000001,"tid":1000000001,"ts":0,"args":{"name":"beta (100)"}'
grep -o '"name":"tick".*"ts":[0-9.]*' merged.json | sed 's/"loc".*"ts"/"ts"/' >out
prints "times by the monotonic clock, whatever Unix time said" <<'END'
"name":"tick","cat":"prof","ts":1.000
"name":"tick","cat":"prof","ts":11.000
"name":"tick","cat":"prof","ts":2001.008
"name":"tick","cat":"prof","ts":2011.008
END
is "merge of two machines" 0 "$prof" merge elsewhere.prof whole.prof -o - 
has "aligned by Unix time" out '"processes aligned by":"Unix time"'
grep -o '"name":"tick".*"ts":[0-9.]*' out | sed 's/"loc".*"ts"/"ts"/' >times
mv times out
prints "times by Unix time" <<'END'
"name":"tick","cat":"prof","ts":4.000
"name":"tick","cat":"prof","ts":14.000
"name":"tick","cat":"prof","ts":1.000
"name":"tick","cat":"prof","ts":11.000
END
is "merge of three" 0 "$prof" merge whole.prof later.prof elsewhere.prof whole.prof -o four.json
[ "$(grep -o '"pid":[0-9]*,"tid":[0-9]*,"ts":0,"args":{"name":"[a-z]* ([0-9]*)"' four.json | grep -cE 'alpha|beta|gamma')" = 4 ] &&
    ok "four processes" || fail "four processes"
[ "$(grep '"thread_name"' four.json | grep -o '"tid":[0-9]*' | sort | uniq -d)" = "" ] && ok "each thread has an id of its own" || fail "each thread has an id of its own"
is "merge of one" 0 "$prof" merge whole.prof -o one.json
same "is an export" whole.json one.json

is "merge to CSV" 0 "$prof" merge whole.prof later.prof -o merged.csv
tr -d '\r' <merged.csv | cut -d, -f1-14 | sed -n '1,3p;18,19p' >out
prints "processes are columns, times those of the JSON" <<'END'
process_id,process,track_id,thread_id,thread,type,name,category,start_ns,duration_ns,depth,flags,value,args
100,"alpha (100)",1,100,main,scope,tick,,1000,7000,0,,,
100,"alpha (100)",1,100,main,scope,draw,,2000,2000,1,,,
1000000001,"beta (100)",1,100,main,scope,tick,,2001008,7000,0,,,
1000000001,"beta (100)",1,100,main,scope,draw,,2002008,2000,1,,,
END
"$build/tests/states_images" >/dev/null || fail "states_images"
is "merge to CSV: one with states, one without" 0 "$prof" merge whole.prof states.prof -o mixed.csv
tr -d '\r' <mixed.csv | sed -n '1p;2p;$p' | sed 's/"[^"]*"//g; s/[^,]//g' | sort -u >out
[ "$(wc -l <out)" = 1 ] && ok "all lines have as many columns" || fail "all lines have as many columns"
is "merge to a page" 0 "$prof" merge whole.prof later.prof -o merged.html
is "it is a page" 0 sh -c 'head -n 1 merged.html | grep -q "^<!doctype html>"'
is "merge to text" 0 "$prof" merge whole.prof later.prof -o merged.txt
[ "$(head -n 1 merged.txt)" = "2 processes" ] && ok "processes together come first" || fail "processes together come first"
[ "$(grep -c '^== .*, process .* ==$' merged.txt)" = 2 ] && ok "then each" || fail "then each"

# ---- processes added up

is "summary --by process" 0 "$prof" summary --by process whole.prof later.prof
prints "all calls, and who has most" <<'END'
2 processes

scope              calls      total       mean        max  max/mean  most in
tick                   4   28.00 us   14.00 us   14.00 us      1.00  alpha (100)
draw                   6   10.00 us   5.000 us   5.000 us      1.00  alpha (100)
shape                 10   5.000 us   2.500 us   2.500 us      1.00  alpha (100)
END
is "summary --by thread" 0 "$prof" summary --by thread -n 2 whole.prof
prints "threads of one recording" <<'END'
2 threads with scopes; a mean is of those that have the scope

scope              calls      total       mean        max  max/mean  most in
tick                   2   14.00 us   14.00 us   14.00 us      1.00  main
draw                   3   5.000 us   2.500 us   4.000 us      1.60  main
1 more
END
is "summary --by host as data" 0 "$prof" summary --by host -l json whole.prof later.prof -o by.json
has "the figures of each" by.json '{"name":"shape","calls":10,"total_ns":5000,"mean_ns":2500.0,"max_mean":1.0000,"most_in":"alpha (100)","each":[{"group":0,"calls":5,"total_ns":2500,"longest_ns":500,"share":0.5000},'
fails "by what" "--by 'node': must be thread, process, rank, host, file" "$prof" summary --by node whole.prof
fails "by in another layout" "summary: --by needs --layout own or json" "$prof" summary --by rank -l mxnet whole.prof

# ---- compare

narrow() { # the table fits a terminal
    [ "$(awk 'length($0) > 80' out | wc -l)" -eq 0 ] && ok "$1: 80 columns" || fail "$1: $(awk 'length($0) > 80' out | head -1)"
}
squeeze() { tr -s ' ' <out | sed 's/ $//' >squeezed && mv squeezed out; }
is "compare: slower" 1 "$prof" compare before.prof after.prof
narrow "compare"
squeeze
prints "what became slower" <<'END'
A: before.prof
B: after.prof
scope a call p50 A p50 B p99 max total
worse SLOWER +20.0 % +-0.1 1.003 us 1.207 us +20%! +20%! +20%!
better faster -50.0 % +-0.1 1.003 us 501 ns -50%* -50%* -50%*
old gone - 100 ns - - - -
young new - - 100 ns - - -
1 slower, 1 faster, 2 the same, 0 unsure, 1 new, 1 gone
p99, max, total: ! slower, * faster, ? unsure
END
is "compare: the other way round" 1 "$prof" compare after.prof before.prof
is "compare: within the threshold" 0 "$prof" compare before.prof after.prof --threshold 25
is "compare: just beyond it" 1 "$prof" compare before.prof after.prof -t 19.5
is "compare: a gate of its own" 0 "$prof" compare before.prof after.prof --fail-over 25%
has "is still called slower" out SLOWER
is "compare: beyond the gate" 1 "$prof" compare before.prof after.prof --threshold 30 --fail-over 15%
is "compare: what the gate is about" 1 "$prof" compare before.prof after.prof --fail-on total,max
fails "compare: what it may be about" "--fail-on 'mean': must be call, p99, max, total" "$prof" compare before.prof after.prof --fail-on call,mean
fails "compare: a share" "--fail-over 'much': must be a number from 0 to 1e+06" "$prof" compare before.prof after.prof --fail-over much
"$build/tests/states_images" >/dev/null || fail "states_images"
is "compare: what grew" 1 "$prof" compare calm.prof late.prof
narrow "compare: what grew"
has "the largest first" out "  a mean call: 100.0 us -> 200.0 us: waiting +90.00 us, ready +10.00 us"
is "compare: what became less" 0 "$prof" compare late.prof calm.prof
has "with a sign" out "  a mean call: 200.0 us -> 100.0 us: waiting -90.00 us, ready -10.00 us"
is "compare: nothing grew" 0 "$prof" compare calm.prof calm.prof --all
lacks "nothing to say of it" out "a mean call"
is "compare: of several runs" 1 "$prof" compare calm.prof calm.prof -- late.prof late.prof
has "their mean" out "  a mean call: 100.0 us -> 200.0 us: waiting +90.00 us, ready +10.00 us"
is "compare: what grew, json" 1 "$prof" compare calm.prof late.prof -f json
has "in numbers, before" out '"total_ns":4000000,"unknown_ns":0,"running_ns":3200000,"ready_ns":0,"waiting_ns":800000}'
has "and after" out '"total_ns":8000000,"unknown_ns":0,"running_ns":3200000,"ready_ns":400000,"waiting_ns":4400000}'
is "compare: what grew, markdown" 1 "$prof" compare calm.prof late.prof -f markdown
has "as a list" out '- a mean call of `draw`: 100.0 us -> 200.0 us: waiting +90.00 us, ready +10.00 us'
is "compare: where nothing is known" 1 "$prof" compare before.prof after.prof -f json
lacks "nothing about it" out running_ns
is "compare: with itself" 0 "$prof" compare before.prof before.prof
prints "nothing to say" <<'END'
0 slower, 0 faster, 4 the same, 1 unsure, 0 new, 0 gone
END
is "compare --all" 0 "$prof" compare --all before.prof before.prof
[ "$(wc -l <out)" -eq 10 ] && ok "all rows" || fail "all rows"
is "compare --by-path" 0 "$prof" compare -pa whole.prof whole.prof
has "paths" out "tick > draw > shape"
narrow "compare --by-path"
is "compare: no calls in common" 0 "$prof" compare whole.prof before.prof
is "compare: a broken file" 2 "$prof" compare whole.prof /dev/null
is "compare: a few disturbed calls" 1 "$prof" compare old0.prof new0.prof
squeeze
has "the shift" out "noisy SLOWER +31.3 %"
has "of which the total knows nothing" out " +3%?"
is "compare: several runs" 1 "$prof" compare old?.prof -- new?.prof
narrow "compare: several runs"
squeeze
has "so many" out "5 recordings against 5"
has "which files are B" out "B: new0.prof and 4 more"
has "slower in all of them" out "worse SLOWER +29.3 %"
has "in spite of disturbed calls" out "noisy SLOWER +29.3 %"
has "the others" out "2 slower, 0 faster, 1 the same"
mkdir -p runs/monday runs/tuesday && cp before.prof runs/monday/it.prof && cp after.prof runs/tuesday/it.prof
is "compare: files of one name" 1 "$prof" compare "$PWD/runs/monday/it.prof" "$PWD/runs/tuesday/it.prof"
has "A, from where they differ" out "A: monday/it.prof"
has "B, from where they differ" out "B: tuesday/it.prof"
is "compare: files of one name, markdown" 1 "$prof" compare -f markdown runs/monday/it.prof runs/tuesday/it.prof
has "both in markdown" out 'A: `monday/it.prof`; B: `tuesday/it.prof`'
is "compare: runs against one" 1 "$prof" compare old?.prof -- new1.prof
is "compare: the same runs" 0 "$prof" compare old0.prof old2.prof old4.prof -- old1.prof old3.prof
is "compare: two behind --" 0 "$prof" compare -- before.prof before.prof
fails "compare: three files" "compare: with several recordings a side, put -- between A and B: prof compare A1 A2 -- B1 B2" "$prof" compare old0.prof old1.prof old2.prof
is "compare: JSON" 1 "$prof" compare old?.prof -- new?.prof -f json
has "JSON: how many" out '{"recordings_a":5,"recordings_b":5,"threshold_percent":5,"fail_over_percent":5,'
has "JSON: a verdict" out '"name":"worse","category":"","function":"call"'
[ "$(grep -c '"call":{"verdict":"slower","ratio":1.[23]' out)" -eq 2 ] && ok "JSON: verdicts" || fail "JSON: verdicts"
if command -v python3 >/dev/null; then
    cp out compare.json # which the next line empties
    is "JSON is JSON" 0 python3 -c 'import json; d = json.load(open("compare.json")); assert d["failed"] and len(d["scopes"]) == 3'
else
    skip "JSON is JSON: no python3"
fi
is "compare: JSON of names that are no UTF-8" 0 "$prof" compare misnamed.prof misnamed.prof -f json
has "JSON: they become UTF-8" out "$(printf '"name":"a\\"\357\277\275z\357\277\275\\\\"')"
is "compare: Markdown" 1 "$prof" compare before.prof after.prof -f markdown
has "Markdown: what failed is bold" out '| `worse` | **SLOWER** | +20.0 % +-0.1 | 1.003 us | 1.207 us | +20% SLOWER |'
[ "$(grep '^|' out | tr -cd '|\n' | sort -u)" = "|||||||||||" ] && ok "Markdown: columns" || fail "Markdown: columns"

# ---- cut

columns whole.csv | sed '1d' >all
is "cut csv" 0 "$prof" cut crashed.prof --from 12us --to 32us -o cut.csv
columns cut.csv | cut -d, -f1-10 >out
prints "the part" <<'END'
track_id,thread_id,thread,type,name,category,start_ns,duration_ns,depth,flags
1,100,main,scope,tick,,12000,6000,0,truncated_begin
1,100,main,scope,draw,,12000,2000,1,
1,100,main,scope,shape,gfx,12100,500,2,
1,100,main,scope,shape,gfx,13100,500,2,
1,100,main,counter,objects,,15000,0,1,
1,100,main,mark,saved,,16000,0,1,
1,100,main,frame,frame,,19000,7000,0,truncated_begin
1,100,main,scope,tick,,30000,2000,0,truncated_end
1,100,main,scope,load,,31000,1000,1,truncated_end
1,100,main,scope,parse,,31500,500,2,truncated_end
END
is "cut prof" 0 "$prof" cut crashed.prof --from 12us --to 32us -o cut.prof
is "export of it" 0 "$prof" export cut.prof -o cut2.csv
same "the same part" cut.csv cut2.csv
is "check of it" 1 "$prof" check cut.prof
has "its window" out "  window    12.00 us to 32.00 us"
is "cut of standard input" 0 sh -c "'$prof' cut - --from 12us --to 0.032ms -f csv -o - <crashed.prof >cut3.csv"
same "the same part" cut.csv cut3.csv
is "from the end" 0 "$prof" cut crashed.prof --from -28us --to -8us -o cut4.csv
[ "$(wc -l <cut4.csv)" -gt 5 ] && ok "counted back" || fail "counted back"
is "a ring" 0 "$prof" cut ring.prof --from 300us --to 300.2us -o small.prof
is "export of it" 0 "$prof" export small.prof -f csv -o small.csv
is "the part of the whole" 0 "$prof" cut ring.prof --from 300us --to 300.2us -o small2.csv
same "the same" small.csv small2.csv
is "all of it again" 0 "$prof" cut cut.prof --from 0 -o again.prof
same "as it was" crashed.prof again.prof
is "the whole of it" 0 "$prof" cut whole.prof --from 0 -o zero.csv
same "is an export" whole.csv zero.csv

# ---- recover

is "recover of an image" 0 "$prof" recover whole.prof -o r.prof
[ "$(cut -d' ' -f4-6 <out)" = "at 0x0; alpha," ] && ok "where" || fail "where: $(cat out)"
sizeless
prints "what was found" <<'END'
r.prof: bytes; alpha, process 100, 16 events on 2 tracks
END
same "as it was" whole.prof r.prof
{ head -c 12345 /dev/zero; printf 'prof.imgprof.img'; cat whole.prof; printf 'xprof.img and more prof.im'; cat ring.prof; head -c 999 full.prof; } >dump
is "recover of a dump" 0 "$prof" recover dump -o found.prof --progress always
has "the place of the first" out "at 0x3049;"
sizeless
prints "both" <<'END'
found.prof: bytes; alpha, process 100, 16 events on 2 tracks
found.2.prof: bytes; alpha, process 100, 1,338 events on 1 track
END
same "the first" whole.prof found.prof
same "the second" ring.prof found.2.prof
[ -e found.3.prof ] && fail "no third" || ok "no third"
cp dump dump.prof
is "recover without -o" 0 "$prof" recover dump.prof
same "its name" whole.prof dump.recovered.prof
is "recover of standard input" 0 sh -c "'$prof' recover - -o s.prof <dump"
same "the same" whole.prof s.prof
fails "recover of a pipe" "standard input: it must be a file, because recover seeks in it: prof recover - < FILE" sh -c "cat dump | '$prof' recover -"
if [ "$(printf '\001\000' | od -An -tu2 | tr -d ' ')" = 1 ]; then
    is "a core file with the image in pieces" 0 "$prof" recover pieces -o p.prof
    same "put together" ring.prof p.prof
    [ -e p.2.prof ] && fail "no second" || ok "no second"
    is "a core file without the end of the image" 0 "$prof" recover pieces.cut -o p.prof
    sizeless
    sed -i 's/[0-9,]* events/many events/' out
    prints "what there is" <<'END'
p.prof: a part of the bytes; alpha, process 100, many events on 1 track
END
    [ "$($prof export p.prof -f csv -o - | grep -c ,work,)" -gt 900 ] && ok "its events" || fail "its events"
else
    skip "a core file with the image in pieces: it is made for little-endian machines"
fi
if dd if=/dev/null of=sparse bs=1 seek=5000000000 2>/dev/null && dd if=whole.prof of=sparse bs=1 seek=4999900001 conv=notrunc 2>/dev/null; then
    is "beyond 4 GB" 0 "$prof" recover sparse -o far.prof
    same "the same" whole.prof far.prof
else
    skip "beyond 4 GB: no sparse files"
fi
rm -f sparse

# ---- truncated and broken files: no crash, status 2, and recover saves what is there

size=$(wc -c <ring.prof) wrong= saved=0 parts=50 least=35
[ "$PROF_TEST_QUICK" != 1 ] || parts=10 least=6
for part in $(seq 0 $((parts - 1))); do
    head -c $((size * part / parts)) ring.prof >t.prof
    for command in "check t.prof" "summary t.prof" "export t.prof -o t.json" "cut t.prof --from 1us -o t.csv" "merge t.prof whole.prof -o t.json" "compare t.prof whole.prof"; do
        $limit "$prof" $command >out 2>err </dev/null
        [ $? -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && [ ! -s out ] || wrong="$wrong $part:$command"
    done
    rm -f t2.prof
    $limit "$prof" recover t.prof -o t2.prof >out 2>err </dev/null
    status=$?
    if [ $status -eq 0 ]; then
        saved=$((saved + 1))
        $limit "$prof" check t2.prof >out 2>err </dev/null
        [ $? -eq 1 ] || wrong="$wrong $part:recovered"
    else
        [ $status -eq 2 ] && [ ! -e t2.prof ] || wrong="$wrong $part:recover"
    fi
done
[ -z "$wrong" ] && ok "truncated at each 1/$parts" || fail "truncated at each 1/$parts:$wrong"
[ $saved -ge $least ] && ok "$saved of $parts are recovered" || fail "$saved of $parts are recovered"
head -c 20000 ring.prof >t.prof
is "a third" 0 "$prof" recover t.prof -o t2.prof
[ "$($prof export t2.prof -f csv -o - | grep -c ,work,)" -gt 500 ] && ok "its events" || fail "its events"
for seed in $(seq $((parts / 5))); do
    awk -v seed=$seed 'BEGIN { srand(seed); for (i = 0; i < 3000; i++) printf "%c", int(rand() * 256) }' >random.prof
    for command in "check random.prof" "summary random.prof" "recover random.prof" "export random.prof -o t.json"; do
        $limit "$prof" $command >out 2>err </dev/null
        [ $? -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] || fail "random bytes, seed $seed: $command"
    done
done
ok "random bytes"

# ---- log directories

is "export to a log directory" 0 "$prof" export whole.prof -o logs/
is "a second run" 0 "$prof" export whole.prof -o logs
[ "$(find logs/plugins/profile/*/*.xplane.pb | wc -l)" -eq 2 ] && ok "two runs" || fail "two runs"
is "merge to a log directory" 0 "$prof" merge whole.prof later.prof -o logs/plugins/profile/both/
[ "$(find logs/plugins/profile/both/*.xplane.pb | wc -l)" -eq 2 ] && ok "two hosts" || fail "two hosts"
fails "accelerators in JSON" "export: --accelerators is for a log directory (OUT/)" \
    "$prof" export whole.prof -o other.json --accelerators "npu 0"
fails "a file in the way" "cannot make the directory whole.prof/plugins/profile/x: Not a directory" \
    "$prof" export whole.prof -o whole.prof/plugins/profile/x/

# ---- errors

fails "no command" "no command given: see prof --help" "$prof"
fails "unknown command" "unknown command 'exprot': did you mean 'export'? See prof --help" "$prof" exprot
fails "an option first" "unknown option '--foo': a command must come first; see prof --help" "$prof" --foo
fails "unknown option" "summary: unknown option '--srot': did you mean '--sort'?" "$prof" summary --srot self whole.prof
fails "unknown letter" "summary: unknown option '-x'; see prof summary --help" "$prof" summary -px whole.prof
fails "no value behind a letter" "summary: --top needs a value: N" "$prof" summary whole.prof -pn
fails "no value" "summary: --sort needs a value: KEY" "$prof" summary whole.prof --sort
fails "a value too many" "summary: --by-path takes no value" "$prof" summary whole.prof --by-path=1
fails "no file" "summary: a file is missing; usage: prof summary IN ..." "$prof" summary
fails "two files" "export: too many files; usage: prof export IN -o OUT" "$prof" export whole.prof ring.prof
fails "a folder for another layout" "summary: folder/ is a folder, which needs --layout cntk" "$prof" summary --layout mxnet -o folder/ whole.prof
fails "by path in another layout" "summary: --by-path needs --layout own" "$prof" summary -p --layout mxnet whole.prof
fails "bad layout" "--layout 'table': must be own, mxnet, json, cntk, cntk-detail, domains, histogram" "$prof" summary -l table whole.prof
fails "the CSV of two" "prof_report_each: the CSV has no column for processes: give a path with %p" "$prof" summary -l cntk-detail whole.prof whole.prof
fails "bad choice" "--sort 'size': must be total, self, calls, mean, min, max, p99, name" "$prof" summary --sort size whole.prof
fails "bad number" "--top 'x': must be a number from 1 to 1e+09" "$prof" summary --top x whole.prof
fails "bad format" "--format 'xml': must be html, json, csv, txt, prof, pprof, speedscope" "$prof" export whole.prof -o x.xml --format xml
fails "bad time" "--from '5': must be a time such as 1.5s, 20ms, 300us, or -2s for 2 s before the end" "$prof" cut whole.prof --from 5 -o x.csv
fails "times the wrong way" "cut: --to 1us is not later than --from 2us" "$prof" cut whole.prof --from 2us --to 1us -o x.csv
fails "no times" "cut: no part chosen: add --from TIME, --to TIME or both" "$prof" cut whole.prof -o x.csv
fails "no output" "export: no output: add -o OUT.html, .json, .csv, .txt, .prof, .pprof, .speedscope or a directory/" "$prof" export whole.prof
fails "unknown kind" "export: x.xml: unknown kind of file: use .html, .json, .csv, .txt, .prof, .pprof or .speedscope, or add --format" "$prof" export whole.prof -o x.xml
fails "standard output of what kind" "export: -o - needs --format html, json, csv, txt, prof, pprof or speedscope" "$prof" export whole.prof -o -
fails "merge to pprof" "merge: x.pprof: cannot hold several processes: use .prof, .json, .html, .csv, .txt or OUT/" "$prof" merge whole.prof later.prof -o x.pprof
fails "merge --sources of CSV" "merge: --sources is for .html" "$prof" merge whole.prof later.prof -o x.csv --sources .
fails "merge without output" "merge: no output: add -o OUT.prof, .json, .html, .csv, .txt or OUT/" "$prof" merge whole.prof later.prof
fails "recover to standard output" "recover: -o -: there may be several images: name a file instead" "$prof" recover whole.prof -o -
fails "missing file" "cannot open nowhere.prof: No such file or directory" "$prof" check nowhere.prof
cp whole.prof stopped.json.prof
is "the output of a program that was stopped" 2 "$prof" summary stopped.json
has "names what there is" err "prof: stopped.json.prof holds what a program recorded until it was stopped"
rm stopped.json.prof
fails "missing dump" "cannot open nowhere: No such file or directory" "$prof" recover nowhere
: >empty.prof
fails "empty file" "empty.prof: not a prof image (empty)" "$prof" check empty.prof
fails "empty dump" "empty.prof: no image in it (empty)" "$prof" recover empty.prof
echo "this is no image" >text.prof
fails "bad magic" "text.prof: not a prof image (bad magic)" "$prof" check text.prof
fails "bad magic on standard input" "standard input: not a prof image (bad magic)" sh -c "'$prof' check - <text.prof"
fails "nothing on standard input" "standard input: not a prof image (empty)" "$prof" check -
fails "no image in it" "text.prof: no image in it (see prof recover --help)" "$prof" recover text.prof
head -c 20000 ring.prof >t.prof
fails "truncated" "t.prof: truncated: 20000 of $size bytes are left" "$prof" check t.prof
mkdir -p folder
is "a folder" 2 "$prof" check folder
has "its words" err "Is a directory"
is "a folder as a dump" 2 "$prof" recover folder
is "a folder as output" 2 "$prof" export whole.prof -o whole.prof/nowhere/x.json
has "its words" err "cannot create whole.prof/nowhere/x.json"
[ "$(ls folder)" = "" ] && ok "nothing is left behind" || fail "nothing is left behind"
if [ -c /dev/full ]; then
    ln -s /dev/full full.json
    is "a full disk" 2 "$prof" export whole.prof -o full.json
    has "its words" err "No space left on device"
    ln -s /dev/full full.out.prof
    is "recover to a full disk" 2 "$prof" recover whole.prof -o full.out.prof
    has "its words" err "No space left on device"
    for command in "summary whole.prof" "check whole.prof" "compare whole.prof whole.prof" "export whole.prof -f json -o -" "--help" "--version" "help cut" "cut whole.prof --from 0 -f prof -o -" "merge whole.prof -o -"; do
        is "standard output is full: $command" 2 sh -c "'$prof' $command >/dev/full"
        [ "$(wc -l <err)" -eq 1 ] && ok "one line" || fail "one line: $(cat err)"
    done
else
    skip "a full disk: no /dev/full"
fi
for command in "summary whole.prof" "check whole.prof" "export whole.prof -f json -o -"; do
    is "standard output is closed: $command" 2 sh -c "'$prof' $command >&-"
    has "its words" err "prof: cannot write standard output: Bad file descriptor"
done
same "the recording is as it was" whole.prof copy.prof
is "nobody reads" 0 sh -c "{ '$prof' export before.prof -f csv -o - 2>pipe.err; echo \$? >pipe.status; } | head -n 1 >pipe.out"
[ "$(cat pipe.status)" -ne 0 ] && [ ! -s pipe.err ] && ok "an error without noise" || fail "an error without noise: $(cat pipe.status pipe.err)"
is "nobody reads, signal ignored" 0 sh -c "trap '' PIPE; { '$prof' export before.prof -f csv -o - 2>pipe.err; echo \$? >pipe.status; } | head -n 1 >pipe.out"
[ "$(cat pipe.status)" -eq 2 ] && [ ! -s pipe.err ] && ok "an error without noise" || fail "an error without noise: $(cat pipe.status pipe.err)"

# ---- config

is "config" 0 "$prof" config
[ "$(grep -c ' PROF_[A-Z_]*$' out)" -gt 20 ] && ! grep -q "keys of" out && ok "config: our keys" || fail "config: our keys"
is "config --all" 0 "$prof" config --all
for system in CNTK MXNet TensorFlow JAX Neuron; do has "config: keys of $system" out "keys of $system"; done
is "config KEY" 0 "$prof" config buffer
prints "config: one key" <<'END'
buffer          size     16M      PROF_BUFFER
    memory for what is recorded
    bytes from 128K to 64G, for example 64M
END
is "config VARIABLE" 0 "$prof" config PROF_DURATION
has "config: a variable" out "duration        time"
is "config KEY=VALUE" 0 "$prof" config buffer=64M filename=a=b,c:d.json
prints "config: values that are accepted" <<'END'
buffer=64M: accepted
filename=a=b,c:d.json: accepted
END
fails "config: a value" "buffer '64': must be bytes from 128K to 64G, for example 64M" "$prof" config buffer=64
fails "config: a key" "unknown key 'bufer': did you mean 'buffer'?" "$prof" config bufer=64M
fails "config: an unknown key" "unknown key 'bufer': did you mean 'buffer'?" "$prof" config bufer
fails "config: a key of a device" "tpu_trace_mode 'TRACE_COMPUTE': concerns a device: no plug-in for it has claimed this key" "$prof" config tpu_trace_mode=TRACE_COMPUTE

# ---- help, manual, completion

is "--help" 0 "$prof" --help
sed -n '/^commands:/,/^$/p' out | awk 'NR > 1 && NF { print $1 }' >commands
[ "$(tr '\n' ' ' <commands)" = "export summary check recover merge compare cut config neuron view flame hot top why frames steps request stragglers messages run help " ] && ok "the commands" || fail "the commands"
is "-h" 0 "$prof" -h
is "help" 0 "$prof" help
is "--version" 0 "$prof" --version
[ "$(cat out)" = "prof $(awk '/^#define PROF_VERSION/ { printf "%d.%d.%d", $3 / 10000, $3 / 100 % 100, $3 % 100 }' "$root/prof.h")" ] && ok "the version" || fail "the version: $(cat out)"
fails "help of nothing" "unknown command 'comapre': did you mean 'compare'? See prof --help" "$prof" help comapre
for command in $(grep -v help commands); do
    is "help $command" 0 "$prof" help "$command"
    cp out help
    is "$command --help" 0 "$prof" "$command" --help
    same "the same" help out
    has "$command has an example" help "example: prof $command"
    grep -oE -e '--[a-z-]+' help | sed 's/-*$//' | grep -xE -e '--[a-z].*' | sort -u >inhelp
    sed -n '/^options:/,/^$/p' help | grep -oE -e '--[a-z-]+' | sort -u >options
    for word in $(cat inhelp); do grep -qx -e "$word" options || [ "$word" = --by-path ] || fail "$command: the help speaks of $word"; done
    sed -n "s/^ *$command) options=\"\(.*\)\".*/\1/p" "$root/tools/prof-completion.bash" | tr ' ' '\n' | sort -u >completed
    same "$command: completion" options completed
    { echo --help; sed -n "/^\.SS $command /,/^\.S[SH] /p" "$root/tools/prof.1" | grep '^\.B' | grep -oE -e '--[a-z-]+'; } | sort -u >manual
    same "$command: manual" options manual
    sed -n '/^options:/,/^$/p' help | sed -n 's/^  \(-[a-z]\), \(--[a-z-]*\).*/\1, \2/p; s/^  \(--[a-z-]*\), \(-h\).*//p' | grep -v help >letters
    while read -r line; do
        sed -n "/^\.SS $command /,/^\.S[SH] /p" "$root/tools/prof.1" | grep -qF -e "$line" || fail "$command: $line is not in the manual"
    done <letters
done
if command -v bash >/dev/null; then
    cat >complete.sh <<'END'
. "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) && _prof && echo "${COMPREPLY[*]}"
END
    complete() { bash complete.sh "$root/tools/prof-completion.bash" "$@"; }
    [ "$(complete prof su)" = "summary" ] && ok "completes a command" || fail "completes a command"
    [ "$(complete prof summary --so)" = "--sort" ] && ok "completes an option" || fail "completes an option"
    [ "$(complete prof summary --sort m)" = "mean min max" ] && ok "completes a value" || fail "completes a value"
    [ "$(complete prof check whole | tr ' ' '\n' | sort)" = "$(ls whole*)" ] && ok "completes a file" || fail "completes a file: $(complete prof check whole)"
else
    skip "completion: no bash"
fi

# ---- a recording with an archive behind its ring

events() { columns "$1" | cut -d, -f1-6,9-12; } # without times, which depend on the clock pairs that a file has
"$build/tests/tool_core" stream expected.csv || fail "tool_core stream"
is "stream: check" 0 "$prof" check stream.prof
has "its buffer" out "emptied into the file"
is "stream: export" 0 "$prof" export stream.prof -o stream.csv
same "as the program itself has it" expected.csv stream.csv
is "stream: copy" 0 "$prof" export stream.prof -o copied.prof
is "stream: export of the copy" 0 "$prof" export copied.prof -o copied.csv
same "the same" stream.csv copied.csv
is "stream: cut" 0 "$prof" cut stream.prof --from 1ms --to 3ms -o part.prof
is "stream: export of the part" 0 "$prof" export part.prof -o part.csv
is "stream: the part of the whole" 0 "$prof" cut stream.prof --from 1ms --to 3ms -o part2.csv
same "the same" part2.csv part.csv
is "stream: cut of standard input" 0 sh -c "'$prof' cut - --from 1ms --to 3ms -o - -f prof <stream.prof | '$prof' export - -f csv -o part3.csv"
same "the same" part2.csv part3.csv
is "stream: merge" 0 "$prof" merge stream.prof whole.prof -o both.json
is "stream: recover" 0 "$prof" recover stream.prof -o saved.prof
is "stream: export of it" 0 "$prof" export saved.prof -o saved.csv
same "the same" stream.csv saved.csv
head -c $(($(wc -c <stream.prof) * 9 / 10)) stream.prof >t.prof
is "stream, cut off: check" 1 "$prof" check t.prof
has "what is missing" out " of the file missing: it was cut"
is "stream, cut off: recover" 0 "$prof" recover t.prof -o t2.prof
same "keeps it as it is" t.prof t2.prof

# ---- core dumps

# found NAME: what was recovered of the core holds the same events as the program itself wrote, but for the clock pair
# that only one of them has.
found() {
    is "$1: recover" 0 "$prof" recover core.file -o core.prof
    is "$1: export" 0 "$prof" export core.prof -o core.csv
    events core.csv >core.events
    events expected.csv >expected.events
    same "$1: the events" expected.events core.events
    is "$1: check" 1 "$prof" check core.prof
    sed -n '/open at the end/,/missing/p' out | grep -v missing | sed 's/  for .*//' >open
    printf '      open at the end:\n        last\n          words\n' | cmp -s - open && ok "$1: what it was doing" || fail "$1: what it was doing: $(cat open)"
}
rm -f core core.*
[ ! -w /proc/self/coredump_filter ] || echo 0x33 >/proc/self/coredump_filter # what is in a core, if nobody chose otherwise
(ulimit -S -f unlimited; ulimit -c unlimited 2>/dev/null; "$build/tests/tool_core" abort expected.csv >/dev/null 2>&1) 2>/dev/null
for file in core core.*; do [ -f "$file" ] && mv "$file" core.file; done
if [ -s core.file ] && [ -s expected.csv ]; then
    found "a core of the kernel's"
else
    skip "a core of the kernel's: none was written (core_pattern: $(cat /proc/sys/kernel/core_pattern 2>/dev/null))"
fi
rm -f core core.* gdb.core* expected.csv
if grep -q -e __tsan_init -e __asan_init "$build/tests/tool_core"; then
    skip "a core of gdb's: it would hold all shadow memory of the sanitizer, and fill the disk"
elif command -v gdb >/dev/null; then
    : >ready
    "$build/tests/tool_core" wait expected.csv >ready 2>&1 &
    pid=$!
    until grep -q ready ready || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
    $limit gdb -batch -nx -p $pid -ex "generate-core-file gdb.core" >gdb.log 2>&1 </dev/null
    kill $pid 2>/dev/null
    wait $pid 2>/dev/null
    grep -q "^Saved corefile" gdb.log && mv gdb.core core.file
    if [ -s core.file ] && [ -s expected.csv ]; then
        found "a core of gdb's"
    else
        skip "a core of gdb's: $(tail -n 1 gdb.log)"
    fi
else
    skip "a core of gdb's: no gdb"
fi
rm -f core.file dump dump.prof

finish
