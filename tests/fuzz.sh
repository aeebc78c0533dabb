#!/bin/sh
# Fuzzes the image reader, and then the tool's search for images in files, for SECONDS each (default 60), on both
# processors, starting from the committed corpus.
seconds=${1:-60}
clang -x c -fsyntax-only -fsanitize=fuzzer /dev/null 2>/dev/null || { echo "SKIP fuzz: no clang with libFuzzer"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
mkdir -p build/fuzz/corpus
clang -std=gnu99 -g -O2 -I. -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all tests/fuzz_image.c -o build/fuzz/image -ldl || exit 1
cp tests/corpus/* build/fuzz/corpus/
for seed in 1 2; do
    build/fuzz/image -max_total_time="$seconds" -max_len=3072 -seed=$seed -rss_limit_mb=2048 -timeout=10 \
        -artifact_prefix=build/fuzz/ -print_final_stats=1 build/fuzz/corpus >build/fuzz/log.$seed 2>&1 &
    eval "pid$seed=\$!"
done
passed=0 failed=0
for seed in 1 2; do
    if eval "wait \$pid$seed"; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAIL fuzz seed $seed" && tail -n 30 build/fuzz/log.$seed; fi
    grep number_of_executed_units build/fuzz/log.$seed
done

mkdir -p build/fuzz/images build/fuzz/tool_corpus
cc -std=gnu99 -I. tests/tool_images.c -o build/fuzz/tool_images -ldl && build/fuzz/tool_images build/fuzz/images || exit 1
clang -std=gnu99 -g -O2 -I. -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all tests/fuzz_tool.c -o build/fuzz/tool -ldl || exit 1
cp tests/corpus/* build/fuzz/images/pieces* build/fuzz/images/full.prof build/fuzz/tool_corpus/
for seed in 1 2; do
    build/fuzz/tool -max_total_time="$seconds" -max_len=40000 -seed=$seed -rss_limit_mb=2048 -timeout=10 \
        -artifact_prefix=build/fuzz/ -print_final_stats=1 build/fuzz/tool_corpus >build/fuzz/tool_log.$seed 2>&1 &
    eval "pid$seed=\$!"
done
for seed in 1 2; do
    if eval "wait \$pid$seed"; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAIL fuzz tool seed $seed" && tail -n 30 build/fuzz/tool_log.$seed; fi
    grep number_of_executed_units build/fuzz/tool_log.$seed
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
