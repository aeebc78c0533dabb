#!/bin/sh
# The rooms in src/: that the assembled headers are what they make, that none is too long, that each closes what it
# opens, and that none calls a room of a higher floor. A room may call its own floor and those below: see
# docs/internals/architecture.md.
#
#   sh tests/rooms.sh           the test
#   sh tests/rooms.sh graph     which room calls which, how often, by the text
#
# src/api/inner.h names what the other headers and the tool may use of prof.h's private names: nothing else may cross.
cd "$(dirname "$0")/.." || exit 1
LC_ALL=C
export LC_ALL
if [ ! -f src/prof.h ]; then
    echo "SKIP rooms: there is no src/ here"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
if [ "$(awk 'BEGIN { print 6 * 7 }' </dev/null 2>/dev/null)" != 42 ]; then
    echo "SKIP rooms: there is no awk here"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
most=700
made=${TMPDIR:-/tmp}/prof-rooms.$$
trap 'rm -rf "$made"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$made" || exit 1
passed=0 failed=0
check() { # WHAT REASON: fails if there is a reason
    if [ -z "$2" ]; then
        passed=$((passed + 1))
        echo "ok   $1"
    else
        failed=$((failed + 1))
        echo "FAIL $1:"
        echo "$2" | sed 's/^/     /'
    fi
}
rooms() { sed -n 's,^#include "\([a-z0-9]*/[a-z0-9_]*\.h\)"$,src/\1,p' "$@"; }

# ---- calls, by the text: who names a function, in its code, its macro or its table

calls() { # prints "caller's room, caller, callee's room, callee", tab between, for each pair once
    awk -v rooms="$(rooms src/prof.h | tr '\n' ' ')" '
        function clean(text,    out, at) { # without comments and literals
            out = ""
            while (text != "") {
                if (comment) {
                    at = index(text, "*/")
                    if (!at) return out
                    comment = 0
                    text = substr(text, at + 2)
                    continue
                }
                if (!match(text, /\/\*|\/\/|"|'\''/)) return out text
                out = out substr(text, 1, RSTART - 1) " "
                at = substr(text, RSTART, RLENGTH)
                text = substr(text, RSTART)
                if (at == "//") return out
                if (at == "/*") {
                    comment = 1
                    text = substr(text, 3)
                } else if (at == "\"") {
                    if (!match(text, /^"([^"\\]|\\.)*"/)) return out
                    text = substr(text, RLENGTH + 1)
                } else {
                    if (!match(text, /^'\''([^'\''\\]|\\.)*'\''/)) return out
                    text = substr(text, RLENGTH + 1)
                }
            }
            return out
        }
        function defined_by(head,    word) { # the name of the function or table that the head of a definition is of
            gsub(/__attribute__ *\(\([^()]*(\([^()]*\))?[^()]*\)\)|PROF__PRINTF\([0-9, ]*\)|PROF__ALIGNED\([^()]*\)/, " ", head)
            if (match(head, /[A-Za-z_][A-Za-z_0-9]* *\(/)) {
                word = substr(head, RSTART, RLENGTH - 1)
                sub(/ *$/, "", word)
                return word
            }
            if (head !~ /=/) return ""
            sub(/ *(\[.*)?=.*/, "", head)
            sub(/.*[^A-Za-z_0-9]/, "", head)
            return head
        }
        function define(name) {
            owner = name
            if (name !~ /^prof/) return # malloc and its kin are of the C library
            if (!(name in home)) home[name] = room
            else if (index(home[name] " ", room " ") == 0) home[name] = home[name] " " room
        }
        function keep(text) { body[++bodies] = text; body_owner[bodies] = owner; body_room[bodies] = room }
        BEGIN {
            count = split(rooms, name_of, " ")
            for (r = 1; r <= count; r++) {
                room = name_of[r]
                sub(/^src\//, "", room)
                sub(/\.h$/, "", room)
                state = comment = top = 0
                while ((getline text < name_of[r]) > 0) {
                    if (text ~ /^\/\//) continue
                    was = comment
                    text = clean(text)
                    if (macro) { # its next line
                        keep(text)
                        macro = text ~ /\\$/
                        continue
                    }
                    if (!was && text ~ /^# *define /) {
                        held = owner
                        owner = ""
                        word = text
                        sub(/^# *define /, "", word)
                        sub(/[^A-Za-z_0-9].*/, "", word)
                        owner = word
                        sub(/^# *define [A-Za-z_0-9]*/, "", text)
                        keep(text)
                        macro = text ~ /\\$/
                        if (macro) continue
                        owner = held
                        continue
                    }
                    if (text ~ /^#/) continue
                    if (state == 0) { # outside of everything
                        if (text !~ /^[A-Za-z_]/ || text ~ /^extern "?C?"? *\{?$/) continue
                        head = ""
                        state = 1
                    }
                    if (state == 1) { # in the head of something
                        head = head " " text
                        if (match(head, /[;{]/)) {
                            if (substr(head, RSTART, 1) == ";") {
                                # a declaration, or a variable with a value
                                if (substr(head, 1, RSTART) ~ /=/) {
                                    owner = defined_by(substr(head, 1, index(head, "=")))
                                    keep(substr(head, index(head, "=")))
                                }
                                state = 0
                                continue
                            }
                            rest = substr(head, RSTART)
                            head = substr(head, 1, RSTART - 1)
                            if (head ~ /^ *(typedef )? *(static )? *(const )? *(struct|union|enum)( [A-Za-z_0-9]*)? *$/ || head ~ /^ *extern *$/) owner = ""
                            else define(defined_by(head))
                            keep(rest)
                            depth = gsub(/\{/, "{", rest) - gsub(/\}/, "}", rest)
                            state = depth ? 2 : 0
                        }
                        continue
                    }
                    keep(text)
                    depth += gsub(/\{/, "{", text) - gsub(/\}/, "}", text)
                    if (text ~ /^\}/ && text ~ /\{$/) { # of a struct whose values follow
                        owner = defined_by(substr(text, 2))
                        depth = 1
                    } else if (text ~ /^\}/ || depth <= 0) state = 0
                }
                close(name_of[r])
            }
            for (i = 1; i <= bodies; i++) {
                text = body[i]
                while (match(text, /[A-Za-z_][A-Za-z_0-9]*/)) {
                    word = substr(text, RSTART, RLENGTH)
                    text = substr(text, RSTART + RLENGTH)
                    if (!(word in home) || word == body_owner[i]) continue
                    key = body_room[i] "\t" (body_owner[i] == "" ? "-" : body_owner[i]) "\t" home[word] "\t" word
                    if (!(key in seen)) print key
                    seen[key] = 1
                }
            }
            for (word in home) print word "\t" home[word] > "'"$made/homes"'"
        }'
}

# A function of several variants may be in several rooms: the lowest of them counts. api is everybody's, and calls what it
# declares; so does the table of the functions that copies of the implementation hand on, which names most of the API.
# prof__upstairs is the way up: the table of functions that the upper floors fill for the lower ones.
upwards() {
    awk -F '\t' '
        BEGIN { for (n = split("ground image record session read report watch", name, " "); n; n--) floor[name[n]] = n }
        function level(room) {
            sub(/\/.*/, "", room)
            return floor[room]
        }
        {
            from = level($1)
            if (!from || $2 == "PROF__HUB_FUNCTIONS" || $4 == "prof__upstairs") next
            low = 0
            n = split($3, where, " ")
            for (i = 1; i <= n; i++) {
                at = level(where[i]) + 0
                if (i == 1 || at < low) { low = at; lowest = where[i] }
            }
            if (low > from) {
                sub(/\/.*/, "", $1)
                sub(/\/.*/, "", lowest)
                print $1 " " $2 " -> " lowest " " $4
            }
        }' | sort -u
}

: >"$made/homes"
calls >"$made/calls" || exit 1
case $1 in
graph)
    awk -F '\t' '{ n = split($3, where, " "); for (i = 1; i <= n; i++) if ($1 != where[i]) times[$1 " -> " where[i]]++ }
        END { for (pair in times) print times[pair], pair }' "$made/calls" | sort -k2
    exit
    ;;
esac

check "the headers are what src/ makes" "$(sh src/assemble.sh --check 2>&1)"
check "every room is in a list, once" "$({ rooms src/*.h; ls src/*/*.h; } | sort | uniq -c | awk '$1 != 2 { print $2 }')"
check "no room has more than $most lines" \
    "$(for room in src/*/*.h; do awk -v most=$most -v room="$room" '/^\/\// && !n { next } { n++ } END { if (n > most) print room ": " n }' "$room"; done)"
check "no line of a header or of the tool is longer than 120 columns" \
    "$(awk 'length > 120 { print FILENAME ": line " FNR }' src/*.h src/*/*.h tools/*.[ch] prof_chrome.h prof_report.h prof_xplane.h \
        prof_bridge.h)"
check "rooms close what they open" "$(for room in src/*/*.h; do
    awk -v room="$room" '
        /^# *if/ { depth++ }
        /^# *(else|elif)/ && !depth { print room ": line " FNR ": of an #if elsewhere" }
        /^# *endif/ && --depth < 0 { print room ": line " FNR ": of an #if elsewhere"; depth = 0 }
        /^extern "C" \{/ { open++ }
        /^\} \/\* extern "C" \*\// { open-- }
        END {
            if (depth) print room ": an #if is not closed"
            if (open) print room ": extern \"C\" is not closed, or of another room"
        }' "$room"
done)"
# So that a parser that sees nothing does not pass.
check "functions are found" "$(awk '/_/ { n++ } END { if (n < 1000) print n + 0 " only" }' "$made/homes")"

check "no room calls a higher floor" "$(upwards <"$made/calls")"

# ---- private names: src/api/inner.h has all that other headers and the tool use

private() { # NAMES FILE...: the private names in the code of files, each once; made: those that they define as macros
    what=$1
    shift
    awk -v what="$what" '
        FNR == 1 { comment = 0 }
        {
            text = $0
            if (!comment && text ~ /^\/\//) next
            gsub(/'\''(\\.|[^'\''\\])'\''/, " ", text)
            out = ""
            while (text != "") {
                if (comment) {
                    at = index(text, "*/")
                    if (!at) break
                    comment = 0
                    text = substr(text, at + 2)
                } else if (match(text, /\/\*|\/\/|"([^"\\]|\\.)*"/)) {
                    at = substr(text, RSTART, 2)
                    out = out substr(text, 1, RSTART - 1) " "
                    if (at == "//") break
                    comment = at == "/*"
                    text = substr(text, RSTART + RLENGTH)
                } else {
                    out = out text
                    break
                }
            }
            if (what == "made") {
                if (match(out, /^ *# *define +(prof|PROF)__[A-Za-z0-9_]+/)) {
                    word = substr(out, RSTART, RLENGTH)
                    sub(/.* /, "", word)
                    print word
                }
                next
            }
            while (match(out, /[A-Za-z_][A-Za-z0-9_]*/)) {
                word = substr(out, RSTART, RLENGTH)
                out = substr(out, RSTART + RLENGTH)
                if (word ~ /^(prof|PROF)__/ && out !~ /^ *##/) print word # not the first part of a name
            }
        }' "$@" | sort -u
}
inner=src/api/inner.h
alone='for prof_bridge.h alone' # from here on
listed() { grep -oE '(prof|PROF)__[A-Za-z0-9_]+' | sort -u; }
sed "/$alone/,\$d" $inner | listed >"$made/inner"
listed <$inner >"$made/inner.all"
private used $(ls src/*/*.h | grep -v -e "^$inner$" -e '^src/html/' -e '^src/ntff/' -e '^src/server/') src/prof.h >"$made/of_prof"
crossing() { # FILE: names of prof.h in it that are not its own
    private made "$1" >"$made/own"
    private used "$1" | comm -12 - "$made/of_prof" | comm -23 - "$made/own"
}
: >"$made/crossed"
strays="" counts=""
for file in prof_chrome.h prof_html.h prof_xplane.h prof_report.h prof_bridge.h prof_ntff.h prof_server.h tools/*.[ch] lib/*.c; do
    crossing "$file" >"$made/names"
    sort -u "$made/names" "$made/crossed" >"$made/more" && mv "$made/more" "$made/crossed"
    case $file in prof_bridge.h) known=inner.all ;; *) known=inner ;; esac
    strays="$strays$(comm -23 "$made/names" "$made/$known" | sed "s|^|$file: |; s|\$|;|")"
    case $file in prof_*) counts="$counts $file $(wc -l <"$made/names" | tr -d ' ')," ;; esac
done
check "private names of prof.h in use are in $inner" "$(echo "$strays" | tr ';' '\n' | grep .)"
# But for types that only its declarations name.
check "$inner lists no name that nobody uses" \
    "$(comm -23 "$made/inner.all" "$made/crossed" | grep -v -e '^prof__read_equal$')"
check "no other header looks into a trace" \
    "$(grep -nE '(^|[^a-z_])trace->' prof_chrome.h src/html/*.h prof_xplane.h prof_report.h prof_ntff.h prof_server.h tools/*.[ch])"
echo "     $(wc -l <"$made/inner.all" | tr -d ' ') private names cross:${counts%,}"

# prof.h has a pragma against warnings of unused functions, because another header may use them, or another system.
unused() { # prints the private functions that no code names but where they are defined
    awk '
        {
            gsub(/"([^"\\]|\\.)*"|\/\*([^*]|\*[^\/])*\*\//, " ")
            if (comment && !sub(/^.*\*\//, "")) next
            comment = sub(/\/\*.*/, "")
            sub(/\/\/.*/, "")
        }
        /^[A-Za-z][^=(]*[ *]prof__[a-z0-9_]+[(]/ && !/__forceinline/ {
            match($0, /prof__[a-z0-9_]+[(]/)
            name = substr($0, RSTART, RLENGTH - 1)
            if (!/;$/) defined[name] = FILENAME
            $0 = substr($0, RSTART + RLENGTH)
        }
        {
            while (match($0, /prof__[a-z0-9_]+/)) {
                used[substr($0, RSTART, RLENGTH)] = 1
                $0 = substr($0, RSTART + RLENGTH)
            }
        }
        END { for (name in defined) if (!(name in used)) print defined[name] ": " name }' "$@" | sort
}
check "each private function is used" "$(unused prof_*.h prof.h tools/*.[ch] lib/*.c)"

check "what is not text is a picture, or for tests" \
    "$(git ls-files --eol 2>/dev/null | sed -n 's/^i\/-text.*	//p' | grep -v -e '^docs/images/' -e '^tests/corpus/' -e '^tests/fuzz/')"

echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
