#!/bin/sh
# Has the real pprof read the memory profile of a program, and compares its table with what the program allocated. pprof is
# what $PPROF says, or that of an installed Go.
work=build/xprof/pprof
mkdir -p $work

skip() {
    echo "SKIP pprof: $1"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}
fail() {
    echo "FAIL pprof: $1"
    cat $work/*.txt 2>/dev/null
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
}

if [ -z "$PPROF" ]; then
    for at in "$(go env GOTOOLDIR 2>/dev/null)/pprof" /usr/lib/go*/pkg/tool/*/pprof /usr/local/go/pkg/tool/*/pprof; do
        [ -x "$at" ] && PPROF=$at
    done
fi
[ -n "$PPROF" ] || skip "no Go with a pprof is installed, and PPROF is not set"

cat >$work/program.c <<'END'
#define PROF_IMPLEMENTATION
#include "../../../prof_xplane.h"

static char blocks[1000];

static void load_weights(void)
{
    PROFILE_MEMORY_SCOPE("encoder");
    for (int i = 0; i < 10; ++i) PROFILE_ALLOC_POOL(blocks + i, 1024, "weights");
}

static void decode(void)
{
    PROFILE_SCOPE("batch");
    for (int i = 0; i < 20; ++i) PROFILE_ALLOC(blocks + 100 + i, 100);
    for (int i = 0; i < 15; ++i) PROFILE_FREE(blocks + 100 + i);
}

int main(void)
{
    prof_start(NULL);
    load_weights();
    decode();
    return prof_save("build/xprof/pprof/memory.pprof") != PROF_OK || prof_stop() != PROF_OK;
}
END
rm -f $work/*.pprof $work/*.txt
"${CC:-cc}" -std=gnu99 -g $work/program.c -o $work/program -pthread || fail "the program does not compile"
$work/program || fail "the program"
if command -v gzip >/dev/null; then gzip -t <$work/memory.pprof || fail "gzip"; fi

table() { # file, options
    at=$1
    shift
    PPROF_TMPDIR=$work $PPROF "$@" $work/memory.pprof >$work/$at 2>&1 || fail "pprof $*"
}
has() { grep -Eq "$2" $work/$1 || fail "$1 has no line '$2'"; }

table live.txt -top -unit=B
has live.txt '^Type: inuse_space'
has live.txt ' 10240B .* load_weights'
has live.txt ' 500B .* decode'
has live.txt ' 0 .* 500B .* batch'
table all.txt -top -unit=B -sample_index=alloc_space
has all.txt ' 2000B .* decode'
table count.txt -top -sample_index=alloc_objects
has count.txt ' 20 .* decode'
table lines.txt -lines -top -unit=B
has lines.txt 'load_weights .*program.c:9'
table tags.txt -tags -unit=B
has tags.txt 'weights'
has tags.txt 'encoder'
echo "ok   pprof reads the memory profile"
echo "1 passed, 0 failed, 0 skipped"
