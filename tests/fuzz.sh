#!/bin/sh
# Fuzzes everything that parses, guided by coverage: SECONDS for each target of tests/fuzz.c (default 60), from what is in
# tests/fuzz/TARGET and, for images, tests/corpus. From 60 s on: optimised, on both processors, and the targets without
# files of the system once more with the memory sanitizer. What it finds is in build/fuzz; what it learned, in
# build/fuzz/TARGET_corpus, where the next run continues.
#
# usage: tests/fuzz.sh [SECONDS [TARGET...]]
seconds=${1:-60}
[ $# -eq 0 ] || shift
targets=${*:-elf environment hpack http1 http2 image kineto module neuron proto text tool}
build=build/fuzz
optimise=-O1
runs="1 2"
[ "$seconds" -ge 60 ] || optimise=-O0 runs=1 # compiles half a minute faster, and tries half as many a second
clang -x c -fsyntax-only -fsanitize=fuzzer /dev/null 2>/dev/null || { echo "SKIP fuzz: no clang with libFuzzer"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
mkdir -p $build/memory
passed=0 failed=0

compile() { # SANITIZERS FILE
    clang -std=gnu99 -g1 $optimise -I. -fsanitize="fuzzer,$1" -fno-sanitize-recover=all tests/fuzz.c -o "$2" -ldl
}

# fuzz TARGET FOLDER: with the program in FOLDER
fuzz() {
    length=4096 corpora="tests/fuzz/$1"
    case $1 in
    image) corpora="$corpora tests/corpus" ;;
    elf) length=20000 ;;
    tool) length=40000 corpora="$corpora tests/corpus" ;;
    esac
    ln -f "$2/all" "$2/$1" && mkdir -p "$build/$1_corpus" || exit 1
    for seed in $runs; do
        "$2/$1" -max_total_time="$seconds" -max_len=$length -seed="$seed" -rss_limit_mb=2048 -timeout=120 \
            -artifact_prefix=$build/ -print_final_stats=1 "$build/$1_corpus" $corpora >"$2/$1.log.$seed" 2>&1 &
        eval "pid$seed=\$!"
    done
    for seed in $runs; do
        if eval "wait \$pid$seed"; then
            passed=$((passed + 1))
            echo "ok   fuzz $2/$1, seed $seed: $(sed -n 's/.*number_of_executed_units: *//p' "$2/$1.log.$seed") inputs"
        else
            failed=$((failed + 1))
            echo "FAIL fuzz $2/$1, seed $seed"
            tail -n 30 "$2/$1.log.$seed"
        fi
    done
}

compile address,undefined $build/all || exit 1
for target in $targets; do fuzz "$target" $build; done
if [ "$seconds" -ge 60 ]; then
    compile memory $build/memory/all || exit 1
    for target in $targets; do fuzz "$target" $build/memory; done
fi

echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
