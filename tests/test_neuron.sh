#!/bin/sh
# Tests prof neuron: captures as users have them, recordings joined with Neuron's JSON, trace.json beside trace_info.pb,
# and reading these with Python. BUILD: see the Makefile.
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
in_work neuron

file() { mkdir -p "$(dirname "$1")" && printf '%s' "${2-x}" >"$1"; }

"$build/tests/tool_images" . || { echo "FAIL tool_images"; echo "0 passed, 1 failed, 0 skipped"; exit 1; }

# ---- check

whole=good/i-0f20_pid_100/1776672348756756905
file $whole/trace_info.pb && file $whole/ntrace.pb && file $whole/profile_nc_0_session_1.ntff && file $whole/neffs/graph_ab.neff
file $whole/trace.json '{"baseTimeNanoseconds": 0, "traceEvents": []}'
is "check of a good one" 0 "$prof" neuron check good
prints "check: what is there" <<END
$whole: a session: 1 device profile, 1 model, 1 system profile, 1 host trace
END

mkdir nothing
is "check: nothing" 1 "$prof" neuron check nothing
has "check: why nothing is there" out "problem: nothing was captured here."
fails "check: no folder" "cannot read nowhere: No such file or directory" "$prof" neuron check nowhere

killed=killed/i-0f20_pid_101
file $killed/ntrace.pb "" && file $killed/12_instid_0_vnc_0.ntff "" && file $killed/34_instid_0_vnc_1.ntff
file $killed/neff_c.neff && head -c 100 /dev/zero >$killed/cpu_util.pb && file killed/trace.json '{"traceEvents": []}'
is "check of a killed process" 1 "$prof" neuron check killed/
prints "check: what it left" <<'END'
killed: no session: 1 host trace
  problem: trace.json has no baseTimeNanoseconds where PyTorch writes it: its times may not match those of the NeuronCores
  problem: trace.json: no trace_info.pb is beside it, where Neuron Explorer would look for it
killed/i-0f20_pid_101: no session: 2 device profiles, 1 model, 1 system profile, 1 list of CPU samples
  problem: trace_info.pb is missing, without which Neuron Explorer opens no folder: the session was not ended. Call nrt_inspect_stop() or prof_ntff_session_end() before nrt_close(), and do not kill the process before that is done
  problem: 12_instid_0_vnc_0.ntff has 0 bytes: nothing ran on that NeuronCore while the session was open; begin it before the first execution, and end it after the last is done
  problem: 34_instid_0_vnc_1.ntff: its model, neff_34.neff, is missing, and without it a profile cannot be read: copy it from the compiler's cache of the machine that ran it
  problem: cpu_util.pb begins with zeros: it was not written to the end
  problem: ntrace.pb has 0 bytes: the process was stopped before it was written
END
file $killed/trace_info.pb
is "check: a trace.json above its session" 1 "$prof" neuron check killed
has "check: where it belongs" out "  problem: trace.json: Neuron Explorer looks for it beside trace_info.pb: move it into killed/i-0f20_pid_101"
has "check: no host trace" out "  no trace.json: Neuron Explorer shows nothing of the host's scopes (prof neuron place)"

system=system/i-0f20-102
file $system/trace_info.pb && file system/neuron_framework_trace_rank_0.json && file system/profile.ntff
truncate -s 6G system/profile.ntff 2>/dev/null
is "check without a system profile" 1 "$prof" neuron check system
has "check: ntrace.pb" out "  problem: ntrace.pb is missing"
has "check: no device profile" out "  no device profile (.ntff): there is none unless asked for"
has "check: the name of a trace" out "  problem: neuron_framework_trace_rank_0.json: no tool looks for that name"
has "check: a model" out "  problem: profile.ntff: no model (.neff) is beside it"
[ "$(wc -c <system/profile.ntff)" -lt 6000000000 ] || has "check: too large" out "  problem: profile.ntff has 6.4 GB: Neuron Explorer fails beyond 5 GB"
rm -f system/profile.ntff

rm -f system/i-0f20-102/*
file system/neuron_framework_trace_rank_1.json
is "check of two names of no use" 1 "$prof" neuron check system
has "check: how many" out "system: no session: 2 misnamed host traces"

models=models/i-0f20_pid_103/neffs
file $models/graph_ab.neff
is "check of models alone" 1 "$prof" neuron check models
has "check: how many models" out "models: no session: 1 model"
has "check: nothing but models" out "  problem: nothing was captured here."
file $whole/neffs/graph_cd.neff "" && head -c 100 /dev/zero >$whole/neffs/graph_ef.neff
is "check of models that are none" 1 "$prof" neuron check good
prints "check: which models" <<END
$whole: a session: 1 device profile, 3 models, 1 system profile, 1 host trace
$whole/neffs: no session: 3 models
  problem: graph_cd.neff has 0 bytes: the process was stopped before it was written
  problem: graph_ef.neff begins with zeros: it was not written to the end
END
rm $whole/neffs/graph_cd.neff $whole/neffs/graph_ef.neff

# ---- import

# whole.prof began at 1700000000 s, in process 100: "draw" is from 2001 to 4001 ns and from 12000 to 14000
event() { # event PHASE NAME TRACKING DATA NS
    printf '{"event_type":"%s","phase":"%s","nc_idx":0,"tracking_id":%s,"thread_id":100,"data":{%s},"timestamp_ns":17000000000000%05d}' "$2" "$1" "$3" "$4" "$5"
}
{
    printf '{"data_version":2,"events":['
    event start nc_exec_running 1 '"device_core_idx":1,"exec_id":7,"model_name":"/m/\u00e4.neff"' 2500
    printf ,; event stop nc_exec_running 1 '' 3500
    printf ,; event start nrt_execute 2 '"model_id":10001' 2200
    printf ,; event stop nrt_execute 2 '' 3900
    printf ,; event stop nrt_tensor_read 3 '' 12500
    printf ,; event start nrt_tensor_write 4 '"size":4' 13000
    printf ']}'
} >fetched.json
is "import into a recording" 0 "$prof" neuron import fetched.json whole.prof -o both.prof
prints "import: what came of it" <<'END'
           4 events
           1 starts without a stop: they ended after the last fetch, or the runtime dropped the stop
           1 stops without a start: the runtime's ring was full and dropped its oldest events
END
is "the result" 0 "$prof" check both.prof
"$prof" export both.prof -o both.csv && "$prof" export whole.prof -o whole.csv
grep -v ',Neuron' both.csv | sed 's/\r//' >host.csv && sed 's/\r//' whole.csv >expected.csv
same "import: the host's events are as they were" expected.csv host.csv
tr -d '\r' <both.csv | grep Neuron | cut -d, -f3-5,7-12,16- >out
prints "import: the events of Neuron" <<'END'
NeuronCore 0/core 1,scope,nc_exec_running,2500,1000,0,,,"tracking_id=1;exec_id=7;model_name=/m/ä.neff"
Neuron runtime 0/thread 100,scope,nrt_execute,2200,1700,0,,,"tracking_id=2;model_id=10001"
Neuron runtime 0/thread 100,mark,nrt_tensor_read,12500,0,0,,,"truncated=begin;tracking_id=3"
Neuron runtime 0/thread 100,scope,nrt_tensor_write,13000,0,0,truncated_end,,"tracking_id=4;size=4"
END
cat >usage.json <<'END'
{"trace_event":[{"name":"PjitFunction(f)","group":"framework-7","process_id":"100","thread_id":7,"timestamp":1700000000000002100,"duration":200}],
 "mem_usage":[{"instance_id":"i-0","percent_usage":9.72,"timestamp":1700000000000003000,"usage":51805806592}],
 "cpu_util":[{"cpu_id":"47","instance_id":"i-0","timestamp":1700000000000004000,"util":2.3255813}]}
END
is "import of load and a framework" 0 "$prof" neuron import usage.json whole.prof -o usage.prof
"$prof" export usage.prof -o - -f csv | tr -d '\r' | grep Neuron | cut -d, -f3-5,7-12,16- >out
prints "import: load and a framework" <<'END'
Neuron framework/thread 7,scope,PjitFunction(f),2100,200,0,,,
Neuron host/memory,counter,memory used (bytes),3000,0,0,,51805806592,
Neuron host/memory,counter,memory used (%),3000,0,0,,9.72,
Neuron host/load,counter,cpu 47 (%),4000,0,0,,2.3255813,
END
is "summary of both" 0 "$prof" summary both.prof
has "import: in the summary" out nc_exec_running
is "export of both" 0 "$prof" export both.prof -o both.json
has "import: in the Chrome trace" both.json '"name":"nc_exec_running"'
is "import alone" 0 "$prof" neuron import fetched.json -o alone.prof
is "to a log directory" 0 "$prof" export alone.prof -o logs/plugins/profile/default/
is "with a device that counts" 0 "$prof" export alone.prof -o logs/plugins/profile/runtime/ --accelerators "x,Neuron runtime 0"
is "and with none" 0 "$prof" merge alone.prof -o logs/plugins/profile/none/ --accelerators ""
planes() { # RUN EXPECTED
    found=$(cat logs/plugins/profile/"$1"/*.pb | grep -aoE '/device:[A-Z]+:[0-9]* ?Neuron[a-z A-Z]*[0-9]?' | LC_ALL=C sort -u | tr '\n' ';')
    if [ "$found" = "$2" ]; then ok "planes: $1"; else fail "planes: $1: $found"; fi
}
planes default "/device:CUSTOM:Neuron runtime 0;/device:GPU:0 NeuronCore 0;"
planes runtime "/device:CUSTOM:NeuronCore 0;/device:GPU:0 Neuron runtime 0;"
planes none "/device:CUSTOM:Neuron runtime 0;/device:CUSTOM:NeuronCore 0;"
is "merge of both" 0 "$prof" merge whole.prof alone.prof -o merged.json
has "merged: by Unix time" merged.json '"processes aligned by":"Unix time"'
has "merged: where it belongs" merged.json '"cat":"NeuronCore 0","pid":3,"tid":1,"ts":2.500,'

sed 's/17000000/17000009/g' fetched.json >later.json
is "import of another run" 1 "$prof" neuron import later.json whole.prof -o both.prof
has "import: another run" out "problem: no event lies within the recording"
sed 's/"data_version":2/"data_version":9/' fetched.json >newer.json
is "import of a newer version" 0 "$prof" neuron import newer.json whole.prof -o both.prof
has "import: the version" out "9 is the version of the system trace: only 2 is known"

fails "import of nothing" "neuron: import needs a file: prof neuron import JSON [HOST.prof] -o OUT.prof" "$prof" neuron import -o x.prof
fails "import to nowhere" "neuron: no output: add -o OUT.prof" "$prof" neuron import fetched.json
fails "import to json" "neuron: x.json: must be a .prof, which prof export can convert" "$prof" neuron import fetched.json -o x.json
fails "import of an image" "whole.prof: is not a JSON object (byte 0)" "$prof" neuron import whole.prof -o x.prof
head -c 300 fetched.json >cut.json
fails "import of a part" "cut.json: ends too early (byte 300)" "$prof" neuron import cut.json whole.prof -o x.prof
printf '{"device_profile_list":[]}' >none.json
fails "import of no events" 'none.json: has no events: neither "trace_event" of Neuron Explorer nor "events" of a system trace (byte 26)' "$prof" neuron import none.json -o x.prof
gzip -c fetched.json >packed.json 2>/dev/null && fails "import of what is compressed" "packed.json: is compressed: decompress it with gunzip (byte 0)" "$prof" neuron import packed.json -o x.prof
fails "unknown verb" "neuron: unknown 'verify': use check, import or place" "$prof" neuron verify good
[ ! -e x.prof ] && ok "failures leave no file" || fail "failures leave no file"

# ---- place

fails "place without a session" "good: no session of this process: neither INSTANCE_pid_PID nor INSTANCE-PID" "$prof" neuron place whole.prof good --pid 10
fails "place over another's" "$whole/trace.json was not written by prof, but perhaps by PyTorch: append to it, or write another file" "$prof" neuron place whole.prof good
is "place behind another's" 0 "$prof" neuron place whole.prof good --append
rm $whole/trace.json
is "place" 0 "$prof" neuron place whole.prof good
prints "place: where" <<END
$whole/trace.json
END
is "place again" 0 "$prof" neuron place whole.prof good
is "place of another process" 0 "$prof" neuron place later.prof good --pid 100
is "place again" 0 "$prof" neuron place whole.prof good
is "check of what was placed" 0 "$prof" neuron check good
if command -v python3 >/dev/null; then
    cat >read.py <<'END'
import csv, json, sys
from decimal import Decimal
trace = json.load(open(sys.argv[1]), parse_float=Decimal)
start = 1700000000000000000
wanted = [(r["name"], int(r["thread_id"]), start + int(r["start_ns"]), int(r["duration_ns"]))
          for r in csv.DictReader(open(sys.argv[2])) if r["type"] == "scope"]
found = [(e["name"], e["tid"], int(trace["baseTimeNanoseconds"] + e["ts"] * 1000), int(e["dur"] * 1000))
         for e in trace["traceEvents"] if e["ph"] == "X"]
assert trace["baseTimeNanoseconds"] == start // 10**9 // 7889238 * 7889238 * 10**9
assert trace["schemaVersion"] == 1 and trace["displayTimeUnit"] == "ms" and trace["deviceProperties"] == []
assert found == wanted, (found, wanted)
assert {e["pid"] for e in trace["traceEvents"]} == {100}
assert len({e["args"]["External id"] for e in trace["traceEvents"] if e["ph"] == "X"}) == len(found)
print(len(found), "scopes")
END
    is "Python reads every scope to the nanosecond" 0 python3 read.py $whole/trace.json whole.csv
else
    skip "trace.json in Python: no python3"
fi

finish
