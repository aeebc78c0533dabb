#!/bin/sh
# The image's format as docs/format.md has it: its tables against the structures of C; a reader written from it,
# examples/read_trace.py, against prof's own, on images of all kinds. And examples/own_format.c. BUILD: see the
# Makefile.
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
build=${BUILD:-build}
prof=$build/tests/prof
work=$build/tests/format
rm -rf "$work" && mkdir -p "$work" || exit 1
cc="${CC:-cc} -std=gnu99 -O0 -I."
unset PROF_OUTPUT

headers=$(ls prof.h prof_read.h 2>/dev/null) header=
for header in $headers; do :; done # the last one includes the others

# ---- tables: each row is a line of C that compiles only if it is right, and each table is whole

cat >"$work/tables.awk" <<'END'
BEGIN {
    FS = " *[|] *"
    print "#define PROF_IMPLEMENTATION"
    print "#include \"" header "\""
    print "#define IS(name, what) typedef char is_##name[(what) ? 1 : -1];"
}
function whole() {
    if (kind == "struct") printf "IS(all_of_%s, sizeof(%s) == %d)\n", table, table, end
    kind = ""
}
/^<!-- struct / { whole(); kind = "struct"; table = $0; gsub(/^<!-- struct | -->$/, "", table); end = 0 }
/^<!-- enum / { whole(); kind = "enum"; prefix = $0; gsub(/^<!-- enum |[ :].*$/, "", prefix); count = 0 }
/^$/ && end + count { whole() }
kind == "struct" && /^[|] [0-9]/ {
    if ($2 != end) printf "IS(%s_%s_follows_the_field_before, 0)\n", table, $4
    printf "IS(%s_%s, offsetof(%s, %s) == %d && ", table, $4, table, $4, $2
    printf "sizeof(((%s *)0)->%s) == %d)\n", table, $4, $3
    end = $2 + $3
}
kind == "enum" && /^[|] [0-9]/ { printf "IS(%s%s, (int)%s%s == %d)\n", prefix, $3, prefix, $3, $2; count++ }
END { whole(); print "int main(void) { return 0; }" }
END
tables() {
    awk -v header="$header" -f "$work/tables.awk" docs/format.md >"$work/tables.c" &&
        $cc -w -fsyntax-only "$work/tables.c"
}
succeeds "tables are as in C" tables
[ "$(grep -c '^IS' "$work/tables.c")" -ge 150 ] && ok "all tables are found" || fail "all tables are found"
rows() { # PREFIX: of its table
    awk -v p="<!-- enum $1" 'index($0, p) { on = 1 } on && /^$/ { exit } on && /^[|] [0-9]/ { n++ } END { print n }' \
        docs/format.md
}
complete() { # PREFIX: its table has as many rows as the enumeration has names
    all=$(cat $headers | sed 's,//.*,,; s,/\*.*,,; /^   [A-Za-z]/d' | tr '\n}' ' \n' |
        grep "enum[^=;]* [{] *$1[A-Z_]* *[=,]" | grep -oE "[ {]$1[A-Z_0-9]+" |
        grep -vE '_(COUNT|UNIT)$' | sort -u | wc -l)
    found=$(rows "$1")
    [ "$found" -eq "$all" ] && ok "$1: all are there" || fail "$1: $found rows for $all"
}
for prefix in PROF__KIND_ PROF__META_ PROF__CHUNK_ PROF__DEVICE_ PROF_EVENT_ PROF_VALUE_ PROF_ROLE_ PROF_CLOCK_; do
    complete $prefix
done
modes=$(cat $headers | sed -n '/^typedef enum prof_mode/,/^} prof_mode/s,/\*.*,,p' | grep -oE 'PROF_[A-Z_]+' | sort -u)
[ "$(rows 'PROF_ mode')" -eq "$(echo "$modes" | wc -l)" ] && ok "modes: all are there" || fail "modes: $modes"
says() { grep -qF -e "$2" docs/format.md && ok "$1" || fail "$1: docs/format.md does not say $2"; }
constant() { cat $headers | awk -v name="$1" '$1 == "#define" && $2 == name { print $3 }'; }
says "the version" "| 8 | 4 | version | $(constant PROF__IMAGE_VERSION) |"
says "the magic of blocks" "$(constant PROF__BLOCK_MAGIC | tr -d u)"
says "the number of symbols" "at most $(constant PROF__PACK_SYMBOLS | tr -d u), numbered"

# ---- the reader in Python

if python3 -c 'import csv, bisect, struct, sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null; then
    alike() { # NAME IMAGE
        silent "$1: prof reads it" "$prof" export "$2" -o "$work/events.csv" || return
        succeeds "$1: read in Python" python3 tests/format.py "$2" "$work/events.csv"
    }
    for image in tests/corpus/*; do alike "${image##*/}" "$image"; done
    for way in ring stream fill; do
        succeeds "record: $way" "$build/tests/format_program" "$work/$way.prof" $way
        alike "$way" "$work/$way.prof"
    done
    size=$(wc -c <"$work/stream.prof")
    dd if="$work/stream.prof" of="$work/cut.prof" bs=1 count=$((size - 20001)) 2>/dev/null
    alike "a file that was cut" "$work/cut.prof"
    head -c 100000 "$work/stream.prof" >"$work/short.prof"
    python3 examples/read_trace.py "$work/short.prof" >"$work/log" 2>&1
    [ "$(cat "$work/log")" = "$work/short.prof: the file was cut" ] && ok "a cut image" || fail "a cut image"
else
    skip "read in Python: no python3"
fi

# ---- a format of a program's own

succeeds "own_format.c" $cc -Wall -Wextra -Wpedantic examples/own_format.c -o "$work/own_format" -pthread -ldl
succeeds "it runs" env PROF_OUTPUT="$work/out.mine" "$work/own_format"
[ "$(awk 'NR == 1 || NF == 4 { print $1 == "track" ? $0 : $4 }' "$work/out.mine" | tr '\n' ' ')" = \
    "track start_ns duration_ns name main step step step " ] && ok "what it writes" || fail "what it writes"
[ "$(ls "$work"/out.mine*)" = "$work/out.mine" ] && ok "nothing is beside it" || fail "nothing is beside it"

finish
