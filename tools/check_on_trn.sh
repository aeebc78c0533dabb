#!/bin/sh
# Checks what prof_ntff.h promises, on an instance with NeuronCores (trn1, trn2, inf2): compares AWS's headers with its table
# of prototypes, executes a NEFF and captures it in every way, and checks the files of the sessions and what Neuron Explorer
# makes of them. Needs a C compiler, make and aws-neuronx-runtime-lib; the last part needs aws-neuronx-tools.
#
# usage: tools/check_on_trn.sh FILE.neff [FOLDER]
#        NRT_INCLUDE, NRT_LIBRARY: AWS's folders; default: those of /opt/aws/neuron
#
# FILE.neff may be any that neuronx-cc or a framework has left in its cache, /var/tmp/neuron-compile-cache. It is executed
# with tensors of zeros, on core 0. Send the last lines, and all lines with FAIL, to the project.
neff=$1 folder=${2:-neuron-check}
[ -f "$neff" ] || { sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; exit 2; }
case $neff in /*) ;; *) neff=$PWD/$neff ;; esac
mkdir -p "$folder" && folder=$(cd "$folder" && pwd) || exit 2
cd "$(dirname "$0")/.." || exit 2
include=${NRT_INCLUDE:-/opt/aws/neuron/include} library=${NRT_LIBRARY:-/opt/aws/neuron/lib}
unset NEURON_RT_INSPECT_ENABLE NEURON_RT_INSPECT_OUTPUT_DIR
PATH=$PATH:/opt/aws/neuron/bin
passed=0 failed=0 skipped=0
ok() { echo "ok   $1"; passed=$((passed + 1)); }
fail() { echo "FAIL $1"; failed=$((failed + 1)); }
skip() { echo "SKIP $1: $2"; skipped=$((skipped + 1)); }
add() { # a closing line: N passed, N failed, N skipped
    set -- $(echo "$1" | tr -dc '0-9 ')
    passed=$((passed + ${1:-0})) failed=$((failed + ${2:-1})) skipped=$((skipped + ${3:-0}))
}

echo "==== $(uname -sm), $(cat /sys/devices/virtual/dmi/id/product_name 2>/dev/null), $(date -u +%F)"
echo "==== AWS's headers in $include"
NRT_INCLUDE=$include sh tests/compile/neuron.sh >"$folder/headers.log" 2>&1
grep -E '^(FAIL|SKIP|    )' "$folder/headers.log"
add "$(tail -n 1 "$folder/headers.log")"

echo "==== the runtime in $library"
if ${CC:-cc} -std=gnu11 -O2 -I. -isystem "$include" tests/real/neuron.c -o "$folder/neuron" -L"$library" -Wl,-rpath,"$library" \
    -l:libnrt.so.1 -pthread -ldl; then
    "$folder/neuron" "$neff" "$folder" | tee "$folder/runtime.log"
    add "$(grep -E '^[0-9]+ passed' "$folder/runtime.log" || echo '0 passed, 1 failed, 0 skipped')"
else
    fail "tests/real/neuron.c does not compile"
fi

echo "==== the sessions' files"
make -s tool || fail "the tool does not build"
sed -n 's/^     session \(.*\)/\1/p' "$folder/runtime.log" 2>/dev/null >"$folder/sessions"
while read -r session; do
    [ -d "$session" ] || { fail "no session folder '$session'"; continue; }
    ls -l "$session"
    if build/prof neuron check "$session"; then ok "prof neuron check $session"; else fail "prof neuron check $session"; fi
    [ -f "$session/trace.json" ] && ok "trace.json" || fail "no trace.json in $session"
done <"$folder/sessions"

echo "==== Neuron Explorer"
explorer=$(command -v neuron-explorer || command -v neuron-profile)
if [ -z "$explorer" ]; then
    skip "Neuron Explorer" "neither neuron-explorer nor neuron-profile"
else
    while read -r session; do
        [ -d "$session" ] || continue
        json=$folder/$(basename "$(dirname "$session")")_$(basename "$session").json
        if "$explorer" view -d "$session" --ignore-device-profile --output-format json --output-file "$json" --force \
            >"$folder/explorer.log" 2>&1; then
            ok "reads $session"
            grep -q nc_exec_running "$json" && ok "shows executions" || fail "shows no executions: $json"
            grep -q '"step"' "$json" && ok "shows the program's scopes, from trace.json" || fail "shows no scopes of trace.json: $json"
        else
            fail "does not read $session: $(tail -n 3 "$folder/explorer.log")"
        fi
    done <"$folder/sessions"
fi
echo "all files are in $folder; open timeline.json in ui.perfetto.dev"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
