#!/bin/sh
# Compares prof_cuda.h with what NVIDIA gives: its declarations with the headers of CUPTI, of the oldest version that it
# supports and of the newest (PROF_TEST_LONG=1: also of others), and its occupancies with those of cuda_occupancy.h. The
# headers are those of Python's packages, which pip fetches (a wheel is 10 to 15 MB), or those in PROF_CUDA_WHEELS, a
# folder of unpacked wheels.
cd "$(dirname "$0")/../.." || exit 1
work=${BUILD:-build}/tests/out/cupti wheels=${PROF_CUDA_WHEELS:-${BUILD:-build}/wheels}
rm -rf "$work" && mkdir -p "$work" || exit 1
. tests/checks.sh

fetch() { # PACKAGE VERSION: prints the folder of its headers, or nothing
    to=$wheels/$1-$2
    if [ ! -d "$to" ]; then
        command -v python3 >/dev/null || return
        mkdir -p "$work/wheel" && rm -f "$work"/wheel/*
        timeout 120 python3 -m pip download -q --no-deps --only-binary=:all: --platform manylinux1_x86_64 \
            --platform manylinux2014_x86_64 --platform manylinux_2_25_x86_64 --platform manylinux_2_27_x86_64 \
            -d "$work/wheel" "$1==$2" >/dev/null 2>&1 || return
        mkdir -p "$to"
        python3 -m zipfile -e "$work"/wheel/*.whl "$to" || return
    fi
    find "$to" -name include -type d | head -n 1
}
declarations() { # NAME PACKAGE VERSION FLAGS
    headers=$(fetch "$2" "$3")
    if [ -z "$headers" ]; then
        skip "$1" "no headers: pip cannot fetch $2 $3"
        return
    fi
    check "$1" "$(${CC:-cc} -std=gnu11 $4 -Itests/cupti -I"$headers" -Isrc -fsyntax-only tests/cupti/abi.c 2>&1 |
        grep -E 'error' | head -n 20)"
    [ ! -f "$headers/cupti_pmsampling.h" ] ||
        check "$1 for performance counters" "$(${CC:-cc} -std=gnu11 -Itests/cupti -I"$headers" -Isrc -fsyntax-only \
            tests/cupti/sampling.c 2>&1 | grep -E 'error' | head -n 20)"
}
declarations "CUPTI 12.1 has what prof_cuda.h declares" nvidia-cuda-cupti-cu12 12.1.105
if [ -n "$PROF_TEST_LONG" ]; then
    declarations "CUPTI 12.6 has what prof_cuda.h declares" nvidia-cuda-cupti-cu12 12.6.80
    declarations "CUPTI 12.8 has what prof_cuda.h declares" nvidia-cuda-cupti-cu12 12.8.90
    declarations "CUPTI 13.0 has what prof_cuda.h declares" nvidia-cuda-cupti 13.0.85 -DNEWER
fi
declarations "CUPTI 13.5 has what prof_cuda.h declares" nvidia-cuda-cupti 13.5.25 -DNEWER

# The library itself, with a driver that only says that there is a GPU: what CUPTI then refuses becomes a sentence.
${CC:-cc} -shared -fPIC -w tests/fake_cupti.c -o "$work/libfake.so" -pthread
${CC:-cc} -std=gnu99 -O0 -w -I. tests/cupti/refused.c -o "$work/refused" -pthread -ldl
refused() { # PACKAGE VERSION
    library=$(find "$wheels/$1-$2" -name 'libcupti.so.*' 2>/dev/null | head -n 1)
    if [ -z "$library" ]; then
        skip "CUPTI $2 without a GPU says what to do" "pip cannot fetch $1 $2"
        return
    fi
    check "CUPTI $2 without a GPU says what to do" \
        "$(timeout 60 "$work/refused" "$work/libfake.so" "$library" 2>&1 || echo "ended with $?")"
}
refused nvidia-cuda-cupti-cu12 12.1.105
refused nvidia-cuda-cupti 13.5.25

# The part of the library that configures performance counters needs no GPU, up to 13.0.
${CC:-cc} -std=gnu99 -O0 -w -I. tests/cupti/host.c -o "$work/host" -pthread -ldl
for version in ${PROF_TEST_LONG:+cu12-12.6.80 cu12-12.8.90 13.0.85}; do
    library=$(find "$wheels/nvidia-cuda-cupti-$version" -name 'libcupti.so.*' 2>/dev/null | head -n 1)
    if [ -z "$library" ]; then
        skip "CUPTI $version configures performance counters" "pip cannot fetch it"
    else
        check "CUPTI $version configures performance counters" \
            "$(timeout 60 "$work/host" "$library" 2>&1 || echo "ended with $?")"
    fi
done

headers=$(fetch nvidia-cuda-runtime 13.0.48)
if [ -z "$headers" ]; then
    skip "occupancies are those of cuda_occupancy.h" "no headers: pip cannot fetch nvidia-cuda-runtime 13.0.48"
else
    ${CC:-cc} -std=gnu99 -O1 -w -I. -I"$headers" tests/cupti/occupancy.c -o "$work/occupancy" -pthread -ldl
    check "occupancies are those of cuda_occupancy.h" "$("$work/occupancy" >"$work/said" 2>&1 || cat "$work/said")"
fi
finish
