#!/bin/sh
# Fuzzes everything that parses for SECONDS each (default 60), on both processors (for less than 60: on one), from
# committed or made seeds: the image reader, the tool's search for images in files, texts (configurations, rules, paths,
# symbol tables), what the server is told, and the JSON of AWS Neuron.
seconds=${1:-60}
build=build/fuzz
optimise=-O1
runs="1 2"
[ "$seconds" -ge 60 ] || optimise=-O0 runs=1 # compiles half a minute faster, and tries half as many a second
clang -x c -fsyntax-only -fsanitize=fuzzer /dev/null 2>/dev/null || { echo "SKIP fuzz: no clang with libFuzzer"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
mkdir -p $build/image_seeds $build/tool_seeds $build/text_seeds $build/server_seeds $build/neuron_seeds
passed=0 failed=0

clang -std=gnu99 -g1 $optimise -I. -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all tests/fuzz.c -o $build/all -ldl || exit 1

# fuzz NAME LENGTH: tests/fuzz_NAME.c, with inputs of at most LENGTH bytes, from $build/NAME_seeds
fuzz() {
    ln -f $build/all "$build/$1" || exit 1
    for seed in $runs; do
        "$build/$1" -max_total_time="$seconds" -max_len="$2" -seed=$seed -rss_limit_mb=2048 -timeout=120 \
            -artifact_prefix=$build/ -print_final_stats=1 "$build/$1_seeds" >"$build/$1.log.$seed" 2>&1 &
        eval "pid$seed=\$!"
    done
    for seed in $runs; do
        if eval "wait \$pid$seed"; then
            passed=$((passed + 1))
            echo "ok   fuzz $1, seed $seed: $(sed -n 's/.*number_of_executed_units: *//p' "$build/$1.log.$seed") inputs"
        else
            failed=$((failed + 1))
            echo "FAIL fuzz $1, seed $seed"
            tail -n 30 "$build/$1.log.$seed"
        fi
    done
}

cp tests/corpus/* $build/image_seeds/
fuzz image 4096

cc -std=gnu99 -I. tests/tool_images.c -o $build/tool_images -ldl && $build/tool_images $build/tool_seeds || exit 1
rm -f $(find $build/tool_seeds -size +40k)
cp tests/corpus/* $build/tool_seeds/
fuzz tool 40000

printf 'frame>16.7ms,scope:net.*>2ms\n64M' >$build/text_seeds/limits
printf 'net,render*,-audio\nUSR1' >$build/text_seeds/rules
printf '/tmp/%%n-%%p-%%t.%%c.json\n1.5ms' >$build/text_seeds/path
printf 'int f(void){return 1;} static int g(void){return 2;} int (*h)(void) = g;' | cc -x c -c -o $build/text_seeds/module.o -
fuzz text 4096

seeds=$build/server_seeds # the first byte: in what pieces, see fuzz_server.c
printf '\013GET /trace?ms=1&format=csv&level=3&categories=a,-b HTTP/1.1\r\nHost: localhost\r\n\r\n' >$seeds/trace
printf '\011POST /level?level=3 HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Length: 7\r\n\r\nlevel=4' >$seeds/level
printf '\017GET http://x/status HTTP/1.0\nAuthorization: Bearer token\n\nGET /summary?last=500ms HTTP/1.1\r\n' >$seeds/token
printf '\013GET /live?level=1&buffer=64K HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: same-origin\r\n\r\n' >$seeds/live
printf '\017GET / HTTP/1.1\r\nAccept: text/html,*/*;q=0.8\r\nHost: x\r\nAuthorization: Basic bWU6dG9rZW4=\r\n\r\n' >$seeds/page
printf '\013PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\6\4\0\0\0\0\0\0\4\0\1\0\0\0\0\14\1\5\0\0\0\1\202\104\7/status\206\276' >$seeds/http2
{
    printf '\013PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0'
    printf '\0\0\105\1\4\0\0\0\1\203\104\043/tensorflow.ProfilerService/Profile\137\020application/grpc\100\2te\010trailers'
    printf '\0\0\050\0\1\0\0\0\1\0\0\0\0\043\010\1\042\026\020\2\030\1\110\1\142\016\012\006buffer\022\004\012\0021M\062\1s\072\4host'
} >$seeds/profile
fuzz server 4096

cat >$build/neuron_seeds/systrace <<'END'
{"data_version":2,"events":[{"event_type":"nc_exec_running","phase":"start","nc_idx":0,"tracking_id":1,"thread_id":9,
"data":{"device_core_idx":1,"exec_id":7,"nc_timestamp_ns":100,"model_name":"/m/\u00e4.neff","l":[1,{}],"d":-1.5e3,"b":true},
"timestamp_ns":100,"nrta_seq_id":281474976710657},{"event_type":"nc_exec_running","phase":"stop","nc_idx":0,"tracking_id":1,
"data":{"nc_timestamp_ns":200},"timestamp_ns":200},{"event_type":"timestamp_sync_point","phase":"instant","nc_idx":0,
"data":{"device_core_idx":1,"exec_id":7,"nc_timestamp_ns":210,"cpu_timestamp_ns":5210},"timestamp_ns":5210}]}
END
cat >$build/neuron_seeds/explorer <<'END'
{"trace_events":{"a":{"duration":27,"group":"nrt-nc-003","instance_id":"i-0","lnc_idx":"0","name":"nrt_tensor_write","process_id":
"16","thread_id":16,"timestamp":1729888371056597613},"b":[{"group":"framework-8","name":"f","timestamp":5,"timestamp_unit":"us"}]},
"mem_usage":[{"percent_usage":9.72,"timestamp":17,"usage":518}],"cpu_util":[{"cpu_id":"47","timestamp":17,"util":2.3}]}
END
printf '{"baseTimeNanoseconds": 5, "traceEvents": [ {"ph":"X"} ], "traceName": "x"}' >$build/neuron_seeds/kineto
fuzz neuron 4096

echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
