#!/bin/sh
# PROF_NO_READER: a program that only records compiles without a warning, writes a .prof that a reader reads, has nothing
# of the reader in it, and says PROF_NO_READER where it is asked for more.
#
# usage: tests/compile/no_reader.sh          compilers: CC_LIST, CXX_LIST ("gcc clang", "g++ clang++")
cd "$(dirname "$0")/../.." || exit 1
out=build/compile/no_reader
rm -rf $out
mkdir -p $out
passed=0 failed=0 skipped=0
WARNINGS="-Wall -Wextra -Wpedantic -Wconversion -Wshadow"
cc=$(for each in ${CC:-cc} cc gcc clang; do command -v "$each" && break; done)

result() { # NAME, what is wrong (nothing: passed)
    if [ -z "$2" ]; then
        echo "ok   $1"
        passed=$((passed + 1))
    else
        echo "FAIL $1"
        echo "$2" | head -12 | cut -c 1-200 | sed 's/^/    /'
        failed=$((failed + 1))
    fi
}

printf '#define PROF_NO_READER\n#define PROF_IMPLEMENTATION\n#include "prof.h"\n' >$out/alone.c
for compile in "gcc -std=c99" "gcc -std=gnu99 -DPROF_STATIC" "clang -std=gnu99" "g++ -x c++ -std=c++11" \
    "clang++ -x c++ -std=c++11 -DPROF_STATIC" "i686-linux-gnu-gcc -std=gnu99" "arm-linux-gnueabihf-gcc -std=gnu99" \
    "x86_64-w64-mingw32-gcc -std=gnu99" "musl-gcc -std=c99"; do
    if ! ${compile%% *} --version >/dev/null 2>&1; then
        echo "SKIP $compile: not installed"
        skipped=$((skipped + 1))
        continue
    fi
    case $compile in # what of a static implementation is not used is not our business
    *STATIC*) more=-Wno-unused-function ;;
    *) more= ;;
    esac
    result "$compile" "$($compile $WARNINGS $more -I. -fsyntax-only $out/alone.c 2>&1)"
done

cat >$out/main.c <<'END'
#include "prof.h"
#include <stdio.h>
#include <string.h>
static int failed;
/* Has to fail with words that name the switch. */
static void refused(const char *what, prof_status status)
{
    if (status == PROF_UNSUPPORTED && strstr(prof_error(), "PROF_NO_READER")) return;
    printf("%s: %s: %s\n", what, prof_status_text(status), prof_error());
    failed = 1;
}
static void fine(const char *what, prof_status status)
{
    if (status == PROF_OK) return;
    printf("%s: %s\n", what, prof_error());
    failed = 1;
}
static prof_status start(const char *output, const char *layout, prof_mode mode, const char *save)
{
    prof_config config;
    memset(&config, 0, sizeof config);
    config.output = output;
    config.layout = layout;
    config.mode = mode;
    config.save = save;
    return prof_start(&config);
}
static void work(int from)
{
    for (int i = from; i < from + 10; ++i) {
        PROFILE_SCOPE("work");
        PROFILE_COUNTER("done", i);
    }
}
int main(int count, char **argument)
{
    char path[1000], saved[1000];
    prof_trace *trace = (prof_trace *)(void *)path;
    if (count < 2) return 2;
    snprintf(path, sizeof path, "%s/run.prof", argument[1]);
    snprintf(saved, sizeof saved, "%s/saved.prof", argument[1]);
    refused("a .csv", start("run.csv", NULL, PROF_RING, NULL));
    refused("a .txt", start("run.txt", NULL, PROF_RING, NULL));
    refused("a .json", start("run.json", NULL, PROF_RING, NULL));
    refused("a layout", start("run.out", "gprof", PROF_RING, NULL));
    refused("stats", start(NULL, NULL, PROF_STATS, NULL));
    refused("ring and stats", start(NULL, NULL, PROF_RING_STATS, NULL));
    refused("save", start(NULL, NULL, PROF_RING, "slow.prof"));
    fine("a .prof", start(path, NULL, PROF_RING, NULL));
    work(0);
    refused("live", prof_trace_live(&trace));
    if (trace) failed = printf("live: a trace\n");
    refused("open", prof_trace_open(path, &trace));
    refused("save a .csv", prof_save("run.csv"));
    refused("save the last", prof_save_last("last.prof", 1));
    refused("request", prof_save_request());
    fine("save", prof_save(saved));
    work(10);
    fine("stop", prof_stop());
    snprintf(path, sizeof path, "%s/stream.prof", argument[1]);
    fine("a stream", start(path, NULL, PROF_STREAM, NULL));
    work(0);
    fine("stop the stream", prof_stop());
    fine("in memory", start(NULL, NULL, PROF_RING, NULL));
    work(0);
    fine("stop in memory", prof_stop());
    prof_reset();
    return failed;
}
END
cat >$out/reader.c <<'END'
#define PROF_IMPLEMENTATION
#include "prof.h"
#include <stdio.h>
#include <string.h>
int main(int count, char **argument)
{
    for (int i = 1; i < count; ++i) {
        prof_trace *trace;
        prof_stat *stats;
        size_t n, scopes = 0;
        if (prof_trace_open(argument[i], &trace) || prof_stats(trace, PROF_SORT_NAME, 1, &stats, &n))
            return puts(prof_error()), 1;
        for (size_t k = 0; k < n; ++k)
            if (!strcmp(stats[k].name, "work")) scopes += stats[k].count;
        printf(" %d", (int)scopes);
        prof_stats_free(stats);
        prof_trace_close(trace);
    }
    return 0;
}
END
# The marked-up file knows nothing of the switch.
text=$($cc -std=gnu99 -I. -O0 -ffunction-sections -fdata-sections -Wl,--gc-sections $out/main.c $out/alone.c \
    -o $out/main -pthread -ldl 2>&1 && $cc -std=gnu99 -I. -O0 $out/reader.c -o $out/reader -pthread -ldl 2>&1)
result "builds" "$text"
result "what only records, and what it refuses" "$($out/main $out 2>&1 || echo failed)"
said=$($out/reader $out/saved.prof $out/run.prof $out/stream.prof 2>&1)
result "a reader reads it" "$([ "$said" = " 10 20 10" ] || echo "scopes: $said")"
for each in csv txt json out; do [ ! -e run.$each ] || echo "run.$each"; done >$out/left
result "leaves no file behind" "$(cat $out/left)"
if command -v nm >/dev/null 2>&1; then
    result "nothing of the reader is in it" \
        "$(nm $out/main | grep -E ' prof__(read_image|read_site|follow_pass|csv|summary|figure|cursor_|span)')"
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
