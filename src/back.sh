#!/bin/sh
# Takes what was changed in an assembled header back into the modules: after a patch that was made for the header.
#
#   sh src/back.sh [HEADER...]      all, if none is named
#
# Lines that are added belong to the module of the line above them. What changes two modules in one piece, or what is not
# of a module, is refused: do that in src/ by hand.
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
    (cd "$made/tree" && sh src/assemble.sh --force >/dev/null && sh src/assemble.sh --map "$name") >"$made/map" || exit 1
    cmp -s "$name" "$made/tree/$name" && continue
    diff "$made/tree/$name" "$name" >"$made/changes"
    awk -v header="$name" -v map="$made/map" -v changes="$made/changes" -v tree="$made/tree/" '
        function fail(why) {
            print "src/back.sh: " header ": " why | "cat >&2"
            exit 1
        }
        function note(file, from, end, lines) { # a change of a module
            if (file !~ /^src\/[a-z]+\//) fail("line " new[1] ": not of a module: " (file == "-" ? "" : file))
            edits[file]++
            first[file, edits[file]] = from
            last[file, edits[file]] = end
            added[file, edits[file]] = lines
        }
        BEGIN {
            while ((getline entry < map) > 0) {
                size++
                split(entry, part, ":")
                file_of[size] = part[1]
                line_of[size] = part[2] + 0
            }
            while ((getline text < header) > 0) line[++lines] = text
            while ((getline text < changes) > 0) {
                if (text !~ /^[0-9]/) continue
                kind = text
                gsub(/[0-9,]/, "", kind)
                split(text, side, /[acd]/)
                olds = split(side[1], old, ",")
                news = split(side[2], new, ",")
                from = old[1]
                end = olds > 1 ? old[2] : from
                put = ""
                if (kind != "d")
                    for (i = new[1]; i <= (news > 1 ? new[2] : new[1]); i++) put = put line[i] "\n"
                while (kind == "a" && from > 1 && file_of[from] == "-") from-- # the blank line between two modules
                for (i = from; i <= end && kind != "a"; i++)
                    if (file_of[i] != file_of[from]) fail("line " new[1] ": a change goes over the border of a module")
                if (kind == "a") note(file_of[from], line_of[from] + 1, line_of[from], put)
                else note(file_of[from], line_of[from], line_of[end], put)
            }
            for (file in edits) {
                at = count = 0
                while ((getline text < file) > 0) of_file[++count] = text
                close(file)
                for (e = 1; e <= edits[file]; e++) {
                    while (++at < first[file, e]) print of_file[at] > (tree file)
                    printf "%s", added[file, e] > (tree file)
                    at = last[file, e]
                }
                while (++at <= count) print of_file[at] > (tree file)
                close(tree file)
            }
        }' || exit 1
    (cd "$made/tree" && sh src/assemble.sh --force >/dev/null) || exit 1
    if ! cmp -s "$name" "$made/tree/$name"; then
        echo "src/back.sh: $name: what has changed is not all in modules:" >&2
        diff "$made/tree/$name" "$name" | head -n 20 >&2
        exit 1
    fi
    (cd "$made/tree" && find src -name '*.h') | while read -r module; do
        cmp -s "$made/tree/$module" "$module" && continue
        cp "$made/tree/$module" "$module" || exit 1
        echo "$module: from $name"
    done
done
