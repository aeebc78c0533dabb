#!/bin/bash
# What a scope costs with prof and with other tools, in the same run: every round runs each tool once, with one and with
# two threads. Writes the medians to RESULTS; bench/plot.py draws them. README.md says what is measured, and how to
# install the tools; one that is not there is reported as skipped.
#
# usage: bench/peers/run.sh [ROUNDS [RESULTS]]     build/peers/results.txt if nothing else is said
cd "$(dirname "$0")/../.." || exit 1
rounds=${1:-7} out=$PWD/build/peers results=${2:-build/peers/results.txt} python=${PYTHON:-python3}
rm -rf "$out"
mkdir -p "$out"
unset PROF_OUTPUT
peers=() probed=
few=${QUICK:+-DBATCHES=4 -DWARM_UP=20000} # QUICK=1: only whether everything works
[ "$QUICK" ] && level=-O0 || level=-O2
cc="${CC:-cc} $level -std=gnu11 $few"

skip() { echo "SKIP $1: $2"; }
have() { command -v "$1" >/dev/null 2>&1; }
build() { # NAME COMPILER...: 1 and a line that says so if it does not compile
    local name=$1
    shift
    "$@" -I. -I"$out" -o "$out/$name" >"$out/$name.log" 2>&1 && return
    skip "$name" "does not compile: $(grep -m 1 -E 'error|not found' "$out/$name.log" | cut -c 1-100)"
    return 1
}
# add NAME COMMAND: takes part in the rounds; COMMAND prints the lines of loop.h.
add() {
    if eval "$2 1" >"$out/$1.first" 2>"$out/$1.error" && [ -s "$out/$1.first" ]; then
        peers+=("$1:$2")
    else
        skip "$1" "does not run: $(tail -n 1 "$out/$1.error" | cut -c 1-100)"
    fi
}
end() {
    [ "$probed" ] && perf probe -q -d "$probed:*" >/dev/null 2>&1
    [ -f "$out/session" ] && lttng destroy prof_bench >/dev/null 2>&1
    [ -f "$out/sessiond.pid" ] && kill "$(cat "$out/sessiond.pid")"
}
trap end EXIT

add_prof() {
    build prof $cc bench/peers/prof.c bench/implementation.c -pthread -ldl || return
    add prof "$out/prof"
    add prof-off "$out/prof off"
}
add_lttng() {
    have lttng && have lttng-sessiond || { skip lttng "not installed"; return; }
    build lttng $cc bench/peers/lttng.c -Ibench/peers -llttng-ust -ldl -pthread || return
    lttng list >/dev/null 2>&1 ||
        lttng-sessiond --daemonize --no-kernel --pidfile "$out/sessiond.pid" >"$out/sessiond.log" 2>&1
    {
        lttng create prof_bench --snapshot -o "$out/lttng.traces" && touch "$out/session" &&
            lttng enable-channel -u -s prof_bench --subbuf-size 8M --num-subbuf 2 rings &&
            lttng enable-event -u -s prof_bench -c rings 'prof_bench:*' && lttng start prof_bench
    } >"$out/session.log" 2>&1 ||
        { skip lttng "no session: $(tail -n 1 "$out/session.log")"; return; }
    add lttng "env LTTNG_UST_REGISTER_TIMEOUT=-1 $out/lttng"
}
add_uftrace() {
    have uftrace || { skip uftrace "not installed"; return; }
    build uftrace $cc -pg bench/peers/function.c -pthread || return
    add uftrace "uftrace record --no-libcall --no-event --no-pager -d $out/uftrace.data $out/uftrace"
}
add_uprobe() {
    have perf || { skip perf-uprobe "perf is not installed"; return; }
    build uprobe_$$ $cc -g bench/peers/function.c -pthread || return
    { perf probe -q -x "$out/uprobe_$$" traced && perf probe -q -x "$out/uprobe_$$" traced%return; } \
        >"$out/uprobe.log" 2>&1 ||
        { skip perf-uprobe "no probes: $(head -n 1 "$out/uprobe.log" | cut -c 1-100)"; return; }
    probed=probe_uprobe_$$
    add perf-uprobe "perf record -q -e '$probed:*' -o $out/perf.data $out/uprobe_$$"
}
add_xray() {
    have clang++ || { skip xray "clang++ is not installed"; return; }
    build xray clang++ -O2 -std=gnu++17 $few -fxray-instrument -fxray-instruction-threshold=100000 \
        bench/peers/xray.cpp -pthread || return
    add xray-off "$out/xray off"
    add xray "$out/xray"
}
add_barectf() {
    have barectf || { skip barectf "not installed"; return; }
    # Debian's module, also where another python3 comes first
    env PYTHONPATH=/usr/lib/python3/dist-packages "$(command -v barectf)" generate bench/peers/barectf.yaml \
        -c "$out" -H "$out" -m "$out" >"$out/barectf.log" 2>&1 ||
        { skip barectf "$(tail -n 1 "$out/barectf.log" | cut -c 1-100)"; return; }
    build barectf $cc bench/peers/barectf.c "$out/barectf.c" -pthread || return
    add barectf "$out/barectf"
}
# Not packaged: SPALL and TRACY are the folders of the projects.
add_spall() {
    [ "$SPALL" ] || { skip spall "set SPALL to a copy of its project"; return; }
    build spall $cc -I"$SPALL" bench/peers/spall.c -pthread || return
    add spall "$out/spall"
    local file=/dev/shm/prof_bench.$$.spall
    add spall-written "env PEER_FILE=$file sh -c '\"\$@\"; rm -f $file' sh $out/spall"
}
add_tracy() {
    [ "$TRACY" ] || { skip tracy "set TRACY to a copy of its project"; return; }
    local protocol name flags="$level $few -DTRACY_ENABLE -I$TRACY/public"
    protocol=$(sed -n 's/.*ProtocolVersion = \([0-9]*\);.*/\1/p' "$TRACY/public/common/TracyProtocol.hpp")
    build tracy.o g++ $flags -DTRACY_NO_SAMPLING -DTRACY_NO_SYSTEM_TRACING -c "$TRACY/public/TracyClient.cpp" || return
    build tracy-c.o ${CC:-cc} -std=gnu11 $flags -c bench/peers/tracy.c || return
    build tracy-c g++ "$out/tracy-c.o" "$out/tracy.o" -pthread -ldl || return
    build tracy-cpp g++ -std=gnu++17 $flags bench/peers/tracy.cpp "$out/tracy.o" -pthread -ldl || return
    for name in tracy-cpp tracy-c; do
        add $name "$python bench/peers/tracy_server.py $protocol $out/$name"
        add $name-alone "$out/$name"
    done
}
add_nobody() { # without a listener
    build sdt-off $cc bench/peers/sdt.c -pthread && add sdt-off "$out/sdt-off"
    local headers
    headers=$($python -c 'import nvidia.nvtx; print(list(nvidia.nvtx.__path__)[0])' 2>/dev/null) ||
        { skip nvtx-off "no package nvidia-nvtx-cu12 of PyPI"; return; }
    build nvtx-off $cc -I"$headers/include" bench/peers/nvtx.c -pthread -ldl && add nvtx-off "$out/nvtx-off"
}
add_python() {
    ${CC:-cc} $level -fPIC -shared -I. $($python-config --includes 2>/dev/null) examples/python/prof_python.c \
        -o "$out/prof_python.so" -pthread -ldl >"$out/python.log" 2>&1 ||
        { skip python "no extension module: $(grep -m 1 error "$out/python.log" | cut -c 1-100)"; return; }
    for name in prof-scope prof-functions viztracer cProfile; do
        add "python-$name" "env PYTHONPATH=$out:$PYTHONPATH $python bench/peers/scopes.py $name"
    done
}
add_prof
add_spall
add_tracy
add_barectf
add_lttng
add_xray
add_uftrace
add_uprobe
add_nobody
add_python

for round in $(seq "$rounds"); do
    for peer in "${peers[@]}"; do
        for threads in 1 2; do
            case $peer in python*) [ $threads = 2 ] && continue ;; esac
            eval "${peer#*:} $threads" 2>/dev/null | grep -aE '^[0-9]+ [0-9]+( -?[0-9.]+){4}$' |
                sed "s/^/${peer%%:*} /" >>"$out/rounds"
        done
    done
done

# Of a round, the ratio to what two clock reads take in a tight loop: around work, part of both is hidden.
{
    echo "# What a scope adds, as a multiple of two reads of the counter in a tight loop of the same process"
    echo "# (Python: of two time.perf_counter_ns()). Median, least and most of $rounds rounds."
    echo "# clock: two reads around the same work."
    model=$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)
    echo "# $(date +%F), $(nproc) x $model, $(cc --version | head -n 1)"
    echo "# name threads work_ns scope least most clock system_clock scope_ns"
    awk '
    function place(values, n, part,   i, j, t) {
        for (i = 2; i <= n; ++i) {
            t = values[i]
            for (j = i - 1; j && values[j] > t; --j) values[j + 1] = values[j]
            values[j + 1] = t
        }
        return values[int((n - 1) * part) + 1]
    }
    function column(key, c,   i) { for (i = 1; i <= count[key]; ++i) v[i] = all[key, c, i] }
    $3 == 0 { floor = $6 }
    {
        key = $1 " " $2 " " $3
        if (!count[key]++) keys[++many] = key
        all[key, 1, count[key]] = $5 / floor; all[key, 2, count[key]] = $6 / floor; all[key, 3, count[key]] = $7 / floor
        all[key, 4, count[key]] = $5
    }
    END {
        for (k = 1; k <= many; ++k) {
            key = keys[k]; n = count[key]; column(key, 1)
            line = sprintf("%s %.3f %.3f %.3f", key, place(v, n, 0.5), v[1], v[n])
            for (c = 2; c <= 4; ++c) {
                column(key, c)
                line = line sprintf(c < 4 ? " %.3f" : " %.1f", place(v, n, 0.5))
            }
            print line
        }
    }' "$out/rounds" | sort -k2,2n -k1,1 -k3,3n
} >"$results"
awk '$1 == "prof" && $4 > 0.8 && $4 < 500 { ++seen } END { exit seen < 4 }' "$results" ||
    { echo "FAIL peers: no figures of prof"; exit 1; }
grep -v '^#' "$results" | sed '1i name threads work_ns scope least most clock system_clock scope_ns' |
    awk '{ printf "%-22s", $1; for (i = 2; i <= NF; ++i) printf " %12s", $i; print "" }'
echo "ok   ${#peers[@]} tools took part"
