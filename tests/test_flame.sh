#!/bin/sh
# prof flame: folded stacks against the reader's own durations, and the picture: well-formed, complete, the same each time,
# and harmless whatever the names are. BUILD: see the Makefile.
# run: long
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
in_work flame

valid() { # valid NAME FILE
    if ! python3 -c 'import xml.dom.minidom' 2>/dev/null; then skip "$1: no XML parser of python3"
    elif python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$2" 2>xml; then ok "$1"
    else fail "$1: $(tail -n 1 xml)"; fi
}
# The self time of each path of scopes, computed from the CSV alone. An argument: without rows for threads.
selves() { # selves CSV [merged]
    tr -d '\r' <"$1" | awk -F, -v merged="$2" '
        NR > 1 && $4 == "scope" {
            depth = $9 + 0
            top = merged ? "" : $3 " (thread " $2 ");"
            path[$1, depth] = (depth ? path[$1, depth - 1] ";" : top) $5
            own[path[$1, depth]] += $8
            if (depth) own[path[$1, depth - 1]] -= $8
        }
        END { for (each in own) if (own[each]) print each " " own[each] }' | sort
}
"$build/tests/tool_images" . || { echo "FAIL tool_images"; echo "0 passed, 1 failed, 0 skipped"; exit 1; }

# ---- folded stacks

for image in whole crashed ring full; do
    "$prof" export $image.prof -o $image.csv
    is "folded: $image" 0 "$prof" flame $image.prof -o $image.folded
    sort $image.folded >got
    selves $image.csv >wanted
    sed -i.bak 's/^ (thread/(unnamed) (thread/' wanted
    [ -s wanted ] && ok "there are scopes" || fail "there are scopes"
    same "the self times of the CSV: $image" wanted got
    is "folded, merged: $image" 0 "$prof" flame --merge $image.prof -o - -f folded
    sort out >got
    selves $image.csv merged >wanted
    same "the self times of the CSV, merged: $image" wanted got
done
total() { awk '{ sum += $NF } END { print sum + 0 }' "$1"; }
"$prof" flame --merge whole.prof -o merged.folded
[ "$(total merged.folded)" = "$(total whole.folded)" ] && ok "merging keeps the sum" || fail "merging keeps the sum"
"$prof" summary -l json whole.prof >json
for name in tick draw shape; do
    ms=$(grep -o "\"$name\":{[^}]*" json | sed 's/.*"Self":\([0-9.]*\).*/\1/')
    ns=$(awk -v name=$name '{ n = split($0, at, /[; ]/); if (at[n - 1] == name) sum += $NF } END { print sum }' merged.folded)
    [ "$(awk -v a="$ms" -v b="$ns" 'BEGIN { print (a * 1e6 - b < 0.5 && b - a * 1e6 < 0.5) }')" = 1 ] &&
        ok "the self time of the summary: $name" || fail "the self time of the summary: $name: $ms ms, $ns ns"
done
is "two recordings" 0 "$prof" flame whole.prof later.prof -o both.folded
has "the first process" both.folded "alpha (process 100);main (thread 100);tick"
[ "$(grep -c '^beta (process 100);' both.folded)" -gt 0 ] && ok "the second process" || fail "the second process"
is "a part" 0 "$prof" flame whole.prof --from 0 --to 2us -o part.folded
"$prof" cut whole.prof --from 0 --to 2us -o part.csv
selves part.csv >wanted
sort part.folded >got
same "the part that cut writes" wanted got

# ---- the picture

is "svg" 0 "$prof" flame whole.prof -o whole.svg
[ ! -s out ] && [ ! -s err ] && ok "it is silent" || fail "it is silent"
valid "it is well-formed" whole.svg
is "again" 0 "$prof" flame -f svg whole.prof -o -
same "the same each time" whole.svg out
has "a row of a thread" whole.svg "<title>worker (thread 101)"
[ "$(grep -c '<title>shape$' whole.svg)" = 2 ] && ok "a path for each thread" || fail "a path for each thread"
lacks "no address of another host" whole.svg 'href='
is "merged" 0 "$prof" flame -m whole.prof -o merged.svg
valid "it is well-formed" merged.svg
lacks "no row of a thread" merged.svg "(thread"
is "inverted" 0 "$prof" flame -i whole.prof -o inverted.svg
valid "it is well-formed" inverted.svg
root_row() { sed -n '/<title>alpha/,/<rect/s/.*<rect x="[0-9.]*" y="\([0-9]*\)".*/\1/p' "$1" | tail -n 1; }
[ "$(root_row inverted.svg)" -gt "$(root_row whole.svg)" ] && ok "the root is below" || fail "the root is below"
is "narrow ones together" 0 "$prof" flame -m whole.prof --min-percent 30 -o others.svg
valid "it is well-formed" others.svg
has "says which" others.svg "scopes drawn as others, because they are narrower than 30 % of the whole: 4<"
lacks "and none of its own" others.svg "<title>shape"
is "cut off" 0 "$prof" flame crashed.prof -o crashed.svg
valid "it is well-formed" crashed.svg
has "says so" crashed.svg "calls that were cut off"
has "what is missing" crashed.svg "the session was not stopped"
is "lost" 0 "$prof" flame full.prof -o full.svg
has "what is lost" full.svg "2,548 events lost"

# ---- names

sed -e 's/shape/<\&">x/g' -e "s/worker/w'\\x01;]]/; s/draw/d\\xff;w/g; s/alpha/a<b>\\&/" whole.prof >markup.prof
is "names with markup" 0 "$prof" flame markup.prof -o markup.svg
valid "it is well-formed" markup.svg
has "escaped" markup.svg "&#60;&#38;&#34;&#62;x"
has "escaped" markup.svg "a&#60;b&#62;&#38;"
has "what is no UTF-8" markup.svg "d$(printf '\357\277\275');w"
is "names with markup, folded" 0 "$prof" flame markup.prof -o markup.folded
has "no ; in names" markup.folded "tick;d?:w;<&\">x "
[ "$(wc -l <markup.folded)" -eq "$(wc -l <whole.folded)" ] && ok "one line a path" || fail "one line a path"
is "names with all bytes" 0 "$prof" flame bytes.prof --min-percent 0 -o bytes.svg
valid "it is well-formed" bytes.svg
[ "$(grep -c '<g class="f"' bytes.svg)" -gt 500 ] && ok "it has them" || fail "it has them: $(grep -c '<g class="f"' bytes.svg)"
is "names with all bytes, callers below" 0 "$prof" flame bytes.prof -i -m -o bytes.svg
valid "it is well-formed" bytes.svg

# ---- nothing, and errors

is "nothing in it" 0 "$prof" flame whole.prof --from 18500ns -o empty.svg
valid "it is well-formed" empty.svg
has "says so" empty.svg "No scope with a duration"
is "nothing in it, folded" 0 "$prof" flame whole.prof --from 18500ns -o empty.folded
[ -f empty.folded ] && [ ! -s empty.folded ] && ok "no line" || fail "no line"
fails "no output" "flame: no output: add -o OUT.svg or -o OUT.folded" "$prof" flame whole.prof
fails "unknown kind" "flame: x.png: unknown kind of file: use .svg, .folded or .pprof, or add --format" "$prof" flame whole.prof -o x.png
fails "standard output of what kind" "flame: -o - needs --format svg, folded or pprof" "$prof" flame whole.prof -o -
fails "times the wrong way" "flame: --to 1us is not later than --from 2us" "$prof" flame whole.prof --from 2us --to 1us -o x.svg
fails "missing file" "cannot open nowhere.prof: No such file or directory" "$prof" flame nowhere.prof -o x.svg
head -c 20000 ring.prof >t.prof
is "a damaged file" 2 "$prof" flame t.prof -o x.svg
has "its words" err "t.prof: truncated"
is "a damaged file beside a good one" 2 "$prof" flame whole.prof t.prof -o x.svg
[ ! -e x.svg ] && ok "nothing is written" || fail "nothing is written"
is "an output that cannot be written" 2 "$prof" flame whole.prof -o whole.prof/x.svg
has "its words" err "cannot create whole.prof/x.svg"
if [ -c /dev/full ]; then
    is "a full disk" 2 sh -c "'$prof' flame whole.prof -f svg -o - >/dev/full"
    [ "$(wc -l <err)" -eq 1 ] && ok "one line" || fail "one line: $(cat err)"
else
    skip "a full disk: no /dev/full"
fi

finish
