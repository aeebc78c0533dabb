#!/bin/sh
# Tests the server with real clients: curl, and gRPC's own Python client, which tests/xprof/run.sh has brought along, or which
# comes into a virtual environment in build/server.
# PYTHON=python3
cd "$(dirname "$0")/.." || exit 1
out=build/server
rm -rf $out/*.*
mkdir -p $out
python=${PYTHON:-python3}
. tests/checks.sh
same() { # name, what it is, what it should be
    if [ "$2" = "$3" ]; then ok "$1"; else fail "$1: '$2', not '$3'"; fi
}

make -s build/server_program build/server_program_bare || { fail "the program compiles, with exporters and without"; finish; }
command -v curl >/dev/null 2>&1 || { skip "curl: not installed"; finish; }

# until_true N COMMAND...: tries it N times, a tenth of a second apart
until_true() {
    tries=$1
    shift
    until "$@"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || return
        sleep 0.1
    done
}
# begin COMMAND...: in the background; $pid, and $url from the port that it prints
begin() {
    : >$out/port.txt
    timeout 600 "$@" >$out/port.txt 2>$out/program.log &
    pid=$!
    until_true 600 [ -s $out/port.txt ]
    url=http://localhost:$(cat $out/port.txt)
}
end() {
    kill $pid 2>/dev/null
    wait $pid 2>/dev/null
}
code() { curl -s -m 120 -o $out/answer.txt -w '%{http_code}' "$@" || echo " and then nothing more: $?"; }
says() { # words, then what to ask
    words=$1
    shift
    code "$@" >/dev/null
    grep -q "$words" $out/answer.txt
}
# The answer of a program that ends, and with it the capture, when 20 steps have been recorded: however long that takes.
captured() { # name, path
    begin build/server_program start 0 steps 20
    same "$1" "$(code "$url/$2")" 200
    end
}
# The port is one that nobody has, as far as can be known: a client's, which the system takes from 32768 on, is still
# taken a minute after the connection.
port=$((20000 + $$ % 10000))

begin build/server_program start 0
same "index" "$(code $url/)" 200
succeeds "the index says how" grep -q '/trace?ms=1000' $out/answer.txt
same "IPv4" "$(code -4 $url/status)" 200
if curl -s -m 5 -o /dev/null "http://[::1]:${url##*:}/status"; then ok "IPv6"; else skip "IPv6: not here"; fi
for format in json csv prof xplane; do same $format "$(code "$url/trace?ms=100&format=$format")" 200; done
same "summary" "$(code "$url/summary?ms=100")" 200
succeeds "a file's name of its own" sh -c "cd $out && curl -s -m 120 -OJ '$url/trace?ms=10' && ls server_program-*.json"
same "a wrong parameter" "$(code "$url/trace?mss=100")" 400
same "nothing is recorded" "$(code $url/save?last=5)" 409
same "a page of another site" "$(code -H 'Origin: http://evil.example' $url/status)" 403
same "a name that is not this machine's" "$(code -H 'Host: evil.example' $url/status)" 403
if curl --version | grep -q HTTP2; then
    same "HTTP/2" "$(code --http2-prior-knowledge "$url/summary?ms=50")" 200
else
    skip "HTTP/2: this curl has none"
fi
for i in 1 2 3 4; do curl -s -m 120 -o $out/many.$i -w '%{http_code}\n' "$url/trace?ms=300" >$out/code.$i & many="$many $!"; done
wait $many
same "four captures at once" "$(cat $out/code.? | sort | uniq -c | tr -d ' \n')" 4200

task=$(grep -l 'prof server' /proc/$pid/task/*/comm /proc/$(pgrep -P $pid 2>/dev/null | head -1)/task/*/comm 2>/dev/null | head -1)
if [ -n "$task" ]; then
    after=$(grep ctxt "${task%comm}status")
    for i in 1 2 3 4 5 6 7 8 9 10; do # it may not have seen yet that the last client is gone
        before=$after
        sleep 1
        after=$(grep ctxt "${task%comm}status")
        [ "$after" != "$before" ] || break
    done
    same "idle, the thread does not wake up" "$after" "$before"
else
    skip "how often the thread wakes up: no /proc"
fi
curl -s -m 120 -o $out/killed.txt "$url/trace?ms=60000" &
curl=$!
until_true 100 says '"capturing":1' $url/status
kill -KILL $(pgrep -P $pid 2>/dev/null) $pid 2>/dev/null
wait $curl
if [ $? -ne 0 ]; then ok "a program that is killed says nothing more"; else fail "a program that was killed has answered"; fi
end

captured "a program that ends during the capture answers" "trace?ms=60000&format=json"
succeeds "the JSON is JSON, with the program's scopes" $python -c '
import json, sys
names = [e["name"] for e in json.load(open(sys.argv[1]))["traceEvents"]]
assert names.count("forward") >= 20 and names.count("help") >= 20, names' $out/answer.txt
captured "so with csv" "trace?ms=60000&format=csv"
succeeds "the CSV has scopes" grep -q ',backward,' $out/answer.txt
captured "with prof" "trace?ms=60000&format=prof"
if [ -x build/prof ]; then
    mv $out/answer.txt $out/answer.prof
    succeeds "the tool reads the image" sh -c "build/prof summary $out/answer.prof | grep -q forward"
fi
captured "with xplane" "trace?ms=60000&format=xplane"
succeeds "the XSpace has its plane" grep -aq '/host:CPU' $out/answer.txt
succeeds "and scopes" grep -aq backward $out/answer.txt
captured "and with a summary" "summary?ms=60000"
succeeds "the summary has scopes" grep -q '^forward ' $out/answer.txt

begin build/server_program start 0 record
until_true 100 says ,forward, "$url/save?format=csv"
same "the last minute" "$(code "$url/save?last=60&format=csv")" 200
succeeds "has scopes" grep -q ',forward,' $out/answer.txt
same "pause" "$(code -X POST $url/pause)" 200
same "resume" "$(code -X POST $url/resume)" 200
same "level" "$(code -d level=3 $url/level)" 200
same "status" "$(code $url/status)" 200
succeeds "says so" grep -q '"session":"program","mode":"ring","level":3' $out/answer.txt
end

begin env PROF_SERVER=$port build/server_program
same "PROF_SERVER" "$(cat $out/port.txt)" $port
same "it answers" "$(code "$url/trace?ms=50")" 200
timeout 100 env PROF_SERVER=$port build/server_program for 1 >$out/second.txt 2>$out/second.log
succeeds "a second program says that the port is taken, and goes on" sh -c "grep -q 'prof: PROF_SERVER=$port: .*$port' $out/second.log && grep -qx 0 $out/second.txt"
end
begin env PROF_SERVER=127.0.0.1:$port PROF_SERVER_TOKEN=secret PROF_OUTPUT=$out/output.prof build/server_program
same "without the token" "$(code $url/status)" 401
same "with it" "$(code -H 'Authorization: Bearer secret' http://127.0.0.1:$port/status)" 200
succeeds "PROF_OUTPUT records" grep -q '"session":"program"' $out/answer.txt
end
timeout 100 env PROF_SERVER=0.0.0.0:$port build/server_program for 1 >$out/open.txt 2>$out/open.log
succeeds "open to all without a token is refused" grep -q 'set a token' $out/open.log
timeout 100 env PROF_SERVER=nonsense build/server_program for 1 >$out/open.txt 2>$out/open.log
succeeds "a port is a number" grep -q 'PROF_SERVER=nonsense: must be a port or ADDRESS:PORT' $out/open.log

begin build/server_program_bare start 0
same "no prof_chrome.h: no JSON" "$(code "$url/trace?ms=10&format=json")" 501
succeeds "and the answer says why" grep -q 'prof_chrome.h' $out/answer.txt
same "no prof_xplane.h: no XSpace" "$(code "$url/trace?ms=10&format=xplane")" 501
same "then an image is the default" "$(code "$url/trace?ms=10")" 200
end

grpc=build/xprof/venv/bin/python # where XProf is installed, it has brought gRPC
if ! $grpc -c 'import grpc' 2>/dev/null; then
    grpc=$out/python/bin/python
    [ -x $grpc ] || { $python -m venv $out/python && $grpc -m pip install --no-compile -q grpcio; } >/dev/null 2>&1
fi
if $grpc -c 'import grpc' 2>/dev/null; then
    begin build/server_program start 0
    timeout 500 $grpc tests/server_grpc.py ${url##*:} >$out/grpc.log 2>&1 || fail "gRPC's client: see $out/grpc.log"
    end
    begin build/server_program start 0 large
    timeout 500 $grpc tests/server_grpc.py ${url##*:} large >>$out/grpc.log 2>&1 || fail "gRPC's client, large answers"
    end
    grep -E '^(ok|FAIL)' $out/grpc.log
    passed=$((passed + $(grep -c '^ok' $out/grpc.log)))
    failed=$((failed + $(grep -c '^FAIL' $out/grpc.log)))
    [ $failed -eq 0 ] || tail -20 $out/grpc.log
else
    skip "gRPC's Python client: pip install grpcio did not work"
fi
finish
