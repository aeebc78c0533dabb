#!/bin/sh
# Checks what prof_cuda.h promises, on a machine with an NVIDIA GPU, in less than 5 minutes: the declarations beside the
# headers of the installed CUPTI; kernels, copies, graphs, allocations, calls of the runtime, limits and 100,000
# launches, each counted; clocks for a minute; what the example records. Needs a C compiler, the driver and CUPTI; no
# nvcc, because the kernel is in PTX.
#
# usage: tools/check_on_gpu.sh [--fake] [FOLDER]
#        PROF_CUDA_CUPTI: the libcupti.so to use; --fake: with tests/fake_cupti.c instead of a GPU, and a shorter minute
#
# Send all that it prints to the project. FOLDER, gpu-check by default, then has gpu.json for ui.perfetto.dev, and logs/
# for XProf.
fake=
[ "$1" = --fake ] && fake=1 && shift
folder=${1:-gpu-check}
mkdir -p "$folder" && folder=$(cd "$folder" && pwd) || exit 2
cd "$(dirname "$0")/.." || exit 2
passed=0 failed=0 skipped=0 seconds=60
ok() { echo "ok   $1"; passed=$((passed + 1)); }
fail() { echo "FAIL $1"; failed=$((failed + 1)); }
skip() { echo "SKIP $1: $2"; skipped=$((skipped + 1)); }

echo "==== $(uname -srm), $(date -u +%F), $(sed -n 's/^#define PROF_VERSION \([0-9]*\).*/prof \1/p' prof.h | head -n 1)"
if [ "$fake" ]; then
    ${CC:-cc} -shared -fPIC -w tests/fake_cupti.c -o "$folder/libfake.so" -pthread || exit 2
    PROF_CUDA_DRIVER=$folder/libfake.so PROF_CUDA_CUPTI=$folder/libfake.so seconds=1
    export PROF_CUDA_DRIVER PROF_CUDA_CUPTI
    echo "     no GPU: this uses fakes"
else
    nvidia-smi --query-gpu=name,driver_version,compute_cap,memory.total --format=csv 2>&1 | head -n 9
    nvcc --version 2>/dev/null | grep release
fi

echo "==== declarations"
headers=
for each in /usr/local/cuda/extras/CUPTI/include /usr/local/cuda/include; do
    [ -z "$headers" ] && [ -f "$each/cupti_activity.h" ] && headers=$each
done
if [ -z "$headers" ]; then
    skip "the headers of the installed CUPTI" "none in /usr/local/cuda"
elif ${CC:-cc} -std=gnu11 -Itests/cupti -I"$headers" -Isrc -fsyntax-only tests/cupti/abi.c; then
    ok "the headers in $headers have what prof_cuda.h declares"
else
    fail "the headers in $headers differ from what prof_cuda.h declares"
fi

echo "==== recordings"
if ${CC:-cc} -std=gnu99 -O2 -w -I. tests/real/cuda.c -o "$folder/check" -pthread -ldl; then
    timeout 240 "$folder/check" "$folder" "$seconds" >"$folder/check.log" 2>&1
    status=$? # 124: it hung
    cat "$folder/check.log"
    # shellcheck disable=SC2046
    set -- $(grep -E '^[0-9]+ passed' "$folder/check.log" | tr -dc '0-9 ')
    [ $# -eq 3 ] || fail "tests/real/cuda.c ended with $status"
    passed=$((passed + ${1:-0})) failed=$((failed + ${2:-0})) skipped=$((skipped + ${3:-0}))
else
    fail "tests/real/cuda.c does not compile"
fi

echo "==== the example"
if ${CC:-cc} -O0 -w -I. examples/cuda/pipeline.c -o "$folder/pipeline" -pthread -ldl &&
    timeout 60 "$folder/pipeline" "$folder/pipeline.json" >"$folder/pipeline.log" 2>&1 &&
    grep -q '^8 kernels and 16 copies' "$folder/pipeline.log"; then
    ok "examples/cuda/pipeline.c: $(tail -n 1 "$folder/pipeline.log")"
else
    fail "examples/cuda/pipeline.c: $(tail -n 1 "$folder/pipeline.log" 2>/dev/null)"
fi

echo "==== where it ran"
if [ "$fake" ]; then
    echo "     with fakes: this says nothing about a GPU"
elif grep -q '^     GPU 0' "$folder/check.log" 2>/dev/null; then
    grep -E '^     (driver|GPU)' "$folder/check.log"
else
    echo "     on no GPU"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
