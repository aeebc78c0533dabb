#!/bin/sh
# Takes what was changed in an assembled header back into the rooms: after a patch that was made for the header.
#
#   sh src/back.sh [HEADER...]      all, if none is named
#
# A change belongs to the room in which it is; lines between two rooms belong to the one above. What changes the end of
# one room and the beginning of the next in one piece, or the list, is refused: do that in src/ by hand.
cd "$(dirname "$0")/.." || exit 1
[ $# -gt 0 ] || set -- $(cd src && ls *.h)
made=${TMPDIR:-/tmp}/prof-back.$$
trap 'rm -rf "$made"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$made" || exit 1

for name; do
    [ -f "src/$name" ] || { echo "src/back.sh: there is no src/$name" >&2; exit 1; }
    rm -rf "$made/tree"
    mkdir "$made/tree" && cp -R src "$made/tree/src" || exit 1
    rm -f "$made"/tree/src/*.h && cp "src/$name" "$made/tree/src/" || exit 1
    (cd "$made/tree" && sh src/assemble.sh --force >/dev/null) || exit 1
    cmp -s "$name" "$made/tree/$name" && continue
    diff "$made/tree/$name" "$name" >"$made/changes"
    awk -v list="src/$name" -v header="$name" -v changes="$made/changes" -v tree="$made/tree/" '
        function fail(why) {
            print "src/back.sh: " header ": " why | "cat >&2"
            exit 1
        }
        function place(line,    i, moved) { # where a line of the old header is in the new one
            for (i = 1; i <= hunks; i++) {
                if (old_end[i] < line) moved = new_end[i] - old_end[i]
                else if (old_first[i] < line && old_first[i] <= old_end[i])
                    fail("line " new_first[i] ": a change goes over the border of a room")
            }
            return line + moved
        }
        BEGIN {
            while ((getline text < header) > 0) line_of[++size] = text
            while ((getline text < changes) > 0) {
                if (text !~ /^[0-9]/) continue
                kind = text
                gsub(/[0-9,]/, "", kind)
                split(text, side, /[acd]/)
                n = split(side[1], a, ",")
                m = split(side[2], b, ",")
                hunks++
                old_first[hunks] = kind == "a" ? a[1] + 1 : a[1]
                old_end[hunks] = n > 1 ? a[2] : a[1]
                new_first[hunks] = b[1]
                new_end[hunks] = m > 1 ? b[2] : b[1]
            }
            at = 1
            while ((getline entry < list) > 0) { # rooms: first[] and border[], the line after them that is not blank, in the old header
                if (entry ~ /^\/\//) continue
                if (entry !~ /^#include "[a-z0-9]+\/[a-z0-9_]+\.h"$/) {
                    if (count == 1 && !noticed++) at++
                    if (entry != "" && rooms && !border[rooms]) border[rooms] = at
                    count++
                    at++
                    after = 0
                    continue
                }
                if (after) at++
                split(entry, part, "\"")
                room[++rooms] = "src/" part[2]
                first[rooms] = at
                if (rooms > 1 && !border[rooms - 1]) border[rooms - 1] = at
                inside = 0
                while ((getline text < room[rooms]) > 0) {
                    if (!inside && text ~ /^\/\//) {
                        notes[rooms] = notes[rooms] text "\n"
                        continue
                    }
                    inside = 1
                    if (++count == 2 && !noticed++) at++
                    at++
                }
                close(room[rooms])
                after = 1
            }
            if (!border[rooms]) border[rooms] = at
            for (r = 1; r <= rooms; r++) {
                from = place(first[r])
                to = place(border[r]) - 1
                while (to > from && line_of[to] ~ /^[ \t]*$/) to--
                printf "%s", notes[r] > (tree room[r])
                for (i = from; i <= to; i++)
                    if (!(i == 2 && line_of[i] ~ /^ *assembled from src\//)) print line_of[i] > (tree room[r])
                close(tree room[r])
            }
        }' || exit 1
    (cd "$made/tree" && sh src/assemble.sh --force >/dev/null) || exit 1
    if ! cmp -s "$name" "$made/tree/$name"; then
        echo "src/back.sh: $name: what has changed is not all in rooms:" >&2
        diff "$made/tree/$name" "$name" | head -n 20 >&2
        exit 1
    fi
    (cd "$made/tree" && find src -name '*.h') | while read -r room; do
        cmp -s "$made/tree/$room" "$room" && continue
        cp "$made/tree/$room" "$room" || exit 1
        echo "$room: from $name"
    done
done
