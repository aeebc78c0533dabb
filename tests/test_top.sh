#!/bin/sh
# prof top: tables of a program that runs, what it says when that ends, is killed or does not run, and keys in a terminal.
# What the figures are is in test_periods.c. No check depends on how fast anything is. BUILD: see the Makefile.
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
in_work top
unset COLUMNS NO_COLOR
much=
trap 'touch "$work/end"' EXIT # ends the program, and with it prof top
trap 'exit 1' HUP INT TERM

within() { # within COMMAND...: waits until it succeeds, for at most 60 s
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] || return 1
        sleep 0.1
    done
}
gone() { ! kill -0 "$1" 2>/dev/null; }
shows() { "$prof" summary "$1" | grep -Eq '^round +[0-9]{2}'; } # ten rounds and more
start() { # start OUTPUT IMAGE [VARIABLE=VALUE]...: the program, as $program
    output=$1 image=$2
    shift 2
    rm -f end
    env PROF_OUTPUT="$output" "$@" "$build/tests/top_program" end $much &
    program=$!
    within shows "$image" || fail "the program records into $image"
}
watch() { # watch FILE...: prof top, as $watcher; three tables later it returns
    : >live # else the tables of the last one may be counted
    "$prof" top -p 50ms "$@" >live 2>err </dev/null &
    watcher=$!
    within eval '[ "$(grep -c "^scope " live)" -ge 3 ]' || fail "three tables of $1"
}
ends() { # ends NAME: prof top does, with status 0
    if within gone $watcher; then
        wait $watcher
        got=$?
        if [ $got -eq 0 ] && [ ! -s err ]; then ok "$1"; else fail "$1: status $got: $(cat err)"; fi
    else
        fail "$1: it goes on" && kill -9 $watcher
    fi
}
escape=$(printf '\033')

# ---- one table

start run.prof run.prof PROF_BUFFER=16M
sleep 0.5 # the main loop was open in all of the last 200 ms
full() { # a table of all scopes
    "$prof" top --once --period 200ms run.prof >out && grep -q frames: out && [ "$(wc -l <out)" -eq 7 ]
} # not at once: on a machine with much to do the program may have slept in all of the 200 ms
is "--once" 0 "$prof" top --once run.prof
[ ! -s err ] && ok "it is silent" || fail "it is silent: $(cat err)"
within full || fail "a table of all scopes"
has "program and process" out "top_program, process $program, "
has "the head of the table" out "scope        calls/s   self %     total      mean       max"
has "threads" out "1 of 1 threads recorded, "
has "lost" out " events/s, 0 lost; the ring of "
has "frames" out "; frames: tick?[2J "
lacks "no escape codes" out "$escape"
sed -n '/^scope/,$p' out | sed 1d >rows
[ "$(sed 's/  *[0-9-].*//' rows | sort | tr '\n' ' ')" = "main loop rest round work " ] && ok "the scopes" || fail "the scopes: $(cat rows)"
span=$(sed -n '1s/.*the last //p' out)
has "the main loop was open all the time" rows " $span "
sed 's/main loop/main_loop/' rows | awk '{ sum += $3; if ($3 < 0 || $3 > 100.05) exit 1 }
    END { exit !(sum > 99.7 && sum < 100.3) }' && ok "self times add up to a processor" || fail "self times add up: $(cat rows)"
sed 's/main loop/main_loop/' rows | awk '{ if ($3 > before) exit 1 } { before = $3 } BEGIN { before = 101 }' &&
    ok "sorted by self" || fail "sorted by self: $(cat rows)"
sed -n 's/^main loop *//p' rows >row
[ "$(awk '{ print $1, $5, $6 }' row)" = "0.0 - -" ] && ok "no call of it ended" || fail "no call of it ended: $(cat row)"
[ "$(awk 'length > 80' out | wc -l)" -le 2 ] && ok "the table has 80 columns" || fail "the table has 80 columns"
is "--columns" 0 "$prof" top --once -p 200ms -c 72 run.prof
[ "$(awk 'length > 72' out | wc -l)" -eq 0 ] && ok "lines of 72" || { fail "lines of 72" && cat out; }
is "--rows" 0 "$prof" top --once --period 1h --rows 2 run.prof
[ "$(sed -n '/^scope/,$p' out | wc -l)" -eq 3 ] && ok "two rows" || fail "two rows"
is "--sort total" 0 "$prof" top -1 -p 1h --sort total -n 1 run.prof
has "the main loop is first" out "main loop"
is "--sort calls" 0 "$prof" top -1 -p 1h -s calls run.prof
[ "$(tail -n 1 out | cut -c 1-9)" = "main loop" ] && ok "the main loop is last" || fail "the main loop is last"
is "--sort max" 0 "$prof" top -1 -p 1h -s max -n 1 run.prof
has "round is the longest" out "round"

# ---- errors

fails "sort" "--sort 'name': must be self, total, calls, max" "$prof" top -s name run.prof
fails "rows" "--rows '0': must be a number from 1 to 100000" "$prof" top -n 0 run.prof
fails "period" "--period '1ms': must be from 50ms to 1h" "$prof" top -p 1ms run.prof
fails "no unit" "--period '1': must be a time such as 1.5s, 20ms, 300us, or -2s for 2 s before the end" "$prof" top -p 1 run.prof
fails "no file" "cannot open absent.prof: No such file or directory" "$prof" top absent.prof
fails "standard input" "top: cannot watch standard input: name the file that the program records into" "$prof" top -
fails "a server" "top: reads only files: for a program with prof_server.h use curl 'localhost:9012/summary?ms=1000'" "$prof" top localhost:9012
echo "no image" >text.prof
fails "no image" "text.prof: not a prof image (bad magic)" "$prof" top text.prof

# ---- several programs

twice() { # a table in which everything was recorded twice
    "$prof" top --once --period 200ms run.prof run.prof >out && sed 's/main loop/main_loop/' out >rows &&
        [ "$(grep -c "^top_program, process $program, " rows)" = 2 ] && [ "$(sed '1,/^scope/d' rows | wc -l)" = 4 ] &&
        awk '/^scope/ { on = 1; next } on { sum += $3 } END { exit !(sum > 199 && sum < 201) }' rows
}
within twice && ok "scopes of several programs are added up by name" || fail "scopes of several programs" "$(cat out)"
fails "one of several is no image" "text.prof: not a prof image (bad magic)" "$prof" top --once run.prof text.prof

# ---- a program that ends

watch run.prof run.prof
touch end
ends "the programs end: so does prof top of several"
[ "$(grep -c "^top_program (process $program) has ended: see prof summary run.prof$" live)" = 2 ] &&
    ok "it says so of each" || fail "it says so of each: $(tail -n 3 live)"
wait $program
start run.prof run.prof PROF_BUFFER=16M
watch run.prof
touch end
ends "the program ends: so does prof top"
wait $program
[ "$(tail -n 1 live)" = "top_program (process $program) has ended: see prof summary run.prof" ] && ok "it says so" || fail "it says so: $(tail -n 1 live)"
lacks "plain tables" live "$escape"
has "the end of the main loop" live "main loop"
fails "a recording that has ended" "top: run.prof: process $program does not record into it any more: use prof summary run.prof" "$prof" top --once run.prof

start killed.prof killed.prof
watch killed.prof
kill -9 $program
ends "the program is killed: so ends prof top" # before its parent asks how it ended
wait $program 2>/dev/null
[ "$(tail -n 1 live)" = "top_program (process $program) was killed, crashed or left by _exit(): see prof check killed.prof" ] &&
    ok "it says that, too" || fail "it says that, too: $(tail -n 1 live)"
fails "a recording of the dead" "top: killed.prof: process $program does not record into it any more: use prof summary killed.prof" "$prof" top killed.prof

start beside.csv beside.csv.prof
$limit "$prof" top --once beside.csv >out 2>err </dev/null
[ $? -eq 2 ] && ok "the output is not the image" || fail "the output is not the image"
has "the file beside it" err "beside.csv.prof holds what a program recorded until it was stopped, or is recording now: read that file"
watch beside.csv.prof
touch end
ends "the image is removed: prof top ends"
wait $program
tail -n 1 live >last
has "the program has ended" last "top_program (process $program) has ended"

# ---- a stream, of which the buffer is read

much=much
start stream.prof stream.prof PROF_MODE=stream PROF_BUFFER=256K
much=
written() { "$prof" top --once --period 1h stream.prof | grep -q "holds less than a period"; }
within written || fail "the buffer of a stream has been used again"
is "a stream" 0 "$prof" top --once --period 1h stream.prof
has "the buffer of a stream" out "B, which goes into the file, holds "
has "its scopes" out "tiny"
has "not all of it is in the buffer" out "the buffer holds less than a period"
watch stream.prof
within grep -q '^tiny ' live && ok "tables of a stream" || fail "tables of a stream"
touch end
ends "the stream ends"
wait $program

# ---- a terminal

cat >terminal.py <<'END'
import os, pty, select, sys, time
def run(keys, arguments):
    """Runs a command in a terminal; presses each key when another table has come; returns output and status."""
    pid, terminal = pty.fork()
    if not pid:
        os.execvp(arguments[0], arguments)
    output, seen, deadline = b"", 0, time.monotonic() + 50
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 0.5)[0]:
            continue
        try:
            part = os.read(terminal, 65536)
        except OSError:
            part = b""
        if not part:
            break
        output += part
        while keys and output.count(b"calls/s") > seen:
            seen = output.count(b"calls/s")
            os.write(terminal, keys[:1])
            keys = keys[1:]
    else:
        os.kill(pid, 9)
    status = os.waitpid(pid, 0)[1]
    return output, status
output, status = run(sys.argv[1].encode(), sys.argv[2:])
sys.stdout.buffer.write(output)
sys.exit(0 if not status else 1)
END
if ! python3 -c 'import pty; pid, terminal = pty.fork(); pid or __import__("os")._exit(0)' 2>/dev/null; then
    skip "keys: no terminal of python3"
else
    start keys.prof keys.prof
    is "q quits" 0 env TERM=xterm python3 terminal.py sxq "$prof" top -p 50ms keys.prof
    has "the screen is cleared" out "$escape[H$escape[J"
    has "the head is inverse" out "$escape[7m"
    lacks "no control character of a name" out "$escape[2J"
    is "p pauses" 0 env TERM=xterm python3 terminal.py pq "$prof" top -p 50ms keys.prof
    has "it says that it pauses" out "(paused)"
    is "Ctrl-C ends" 0 env TERM=xterm python3 terminal.py "$(printf '\003')" "$prof" top -p 50ms keys.prof
    is "NO_COLOR" 0 env TERM=xterm NO_COLOR=1 python3 terminal.py q "$prof" top -p 50ms keys.prof
    has "no colours: the screen is cleared" out "$escape[H$escape[J"
    lacks "no colours: none" out "$escape[7m"
    is "TERM=dumb" 0 env TERM=dumb python3 terminal.py xx "$prof" top -1 -p 50ms keys.prof
    lacks "a dumb terminal: no escape codes" out "$escape"
    touch end
    wait $program
fi

finish
