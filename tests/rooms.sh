#!/bin/sh
# The modules in src/: that the assembled headers are what they make, that none is too long, that each closes what it
# opens, and that none includes a module of a higher layer: see docs/internals/architecture.md. Circles the assembler refuses, and
# tests/test_modules.sh compiles each module alone, so that the includes are all that it uses.
#
#   sh tests/rooms.sh           the test
#   sh tests/rooms.sh graph     which module includes which
#
# src/api/inner.h names what the other headers and the tool may use of prof.h's private names: nothing else may cross.
cd "$(dirname "$0")/.." || exit 1
LC_ALL=C
export LC_ALL
if [ ! -f src/prof.h ]; then
    echo "SKIP modules: there is no src/ here"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
if [ "$(awk 'BEGIN { print 6 * 7 }' </dev/null 2>/dev/null)" != 42 ]; then
    echo "SKIP modules: there is no awk here"
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
includes() { # prints "module included", both without src/ and .h, for each include
    awk 'FNR == 1 { name = FILENAME; gsub(/^src\/|\.h$/, "", name) }
        /^#include "[a-z0-9]+\/[a-z0-9_]+\.h"$/ { gsub(/^#include "|\.h"$/, ""); print name, $0 }' src/*/*.h
}
if [ "$1" = graph ]; then
    includes
    exit
fi
upwards() {
    includes | awk '
        BEGIN { for (n = split("ground image record bridge session waits read report display watch chrome html layouts ntff server xplane system vulkan cuda gpu gl opencl mpi receive openmp", name, " "); n; n--) layer[name[n]] = n }
        function level(module) { sub(/\/.*/, "", module); return layer[module] + 0 }
        $1 != "api/inner" && level($1) < level($2) { print $1 " includes " $2 }'
}
in_lists() { # the modules of all headers, each as often as it is in one
    for list in src/*.h; do sh src/assemble.sh --map "${list#src/}" | cut -d: -f1 | grep '^src/.*/' | sort -u; done
}

check "the headers are what src/ makes" "$(sh src/assemble.sh --check 2>&1)"
check "every module is in a header, once" "$({ in_lists; ls src/*/*.h; } | sort | uniq -c |
    awk '$1 != 2 && $2 !~ /^src\/(api\/licence|gpu\/.*)\.h$/ { print $2 }')"
check "prof.h has no part of the reader" "$(sh src/assemble.sh --map prof.h | cut -d: -f1 |
    grep -E '^src/(read|report|watch|api/(read|reports|stripped_read)[.])' | sort -u)"
check "no module has more than $most lines" \
    "$(for module in src/*/*.h; do awk -v most=$most 'END { if (NR > most) print FILENAME ": " NR }' "$module"; done)"
check "no line of a header or of the tool is longer than 120 columns" \
    "$(awk 'length > 120 { print FILENAME ": line " FNR }' src/*.h src/*/*.h tools/*.[ch])"
check "modules close what they open" "$(for module in src/*/*.h; do
    awk -v module="$module" '
        /^# *if/ { depth++ }
        /^# *(else|elif)/ && !depth { print module ": line " FNR ": of an #if elsewhere" }
        /^# *endif/ && --depth < 0 { print module ": line " FNR ": of an #if elsewhere"; depth = 0 }
        /^extern "C" \{/ { open++ }
        /^\} \/\* extern "C" \*\// { open-- }
        END {
            if (depth) print module ": an #if is not closed"
            if (open) print module ": extern \"C\" is not closed, or of another module"
        }' "$module"
done)"
check "includes are found" "$(includes | awk 'END { if (NR < 1000) print NR + 0 " only" }')"
check "no module includes one of a higher layer" "$(upwards)"
check "no script of the page imports in a circle" "$(for script in src/html/*.js; do sed -n "s,^.*from './\([a-z]*\.js\)';\$,$script src/html/\1,p" "$script"; done | tsort 2>&1 >/dev/null)"

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
listed() { grep -v PROF__API_INNER_H | grep -oE '(prof|PROF)__[A-Za-z0-9_]+' | sort -u; }
sed "/$alone/,\$d" $inner | listed >"$made/inner"
listed <$inner >"$made/inner.all"
private used $(ls src/*/*.h | grep -vE "^$inner$|^src/(bridge|chrome|cuda|gl|gpu|html|layouts|mpi|ntff|opencl|openmp|receive|server|system|vulkan|xplane)/") src/prof.h >"$made/of_prof"
crossing() { # FILE: names of prof.h in it that are not its own
    private made "$1" >"$made/own"
    private used "$1" | comm -12 - "$made/of_prof" | comm -23 - "$made/own"
}
: >"$made/crossed"
strays="" counts=""
for file in prof_chrome.h prof_html.h prof_xplane.h prof_report.h prof_bridge.h prof_ntff.h prof_server.h prof_system.h prof_vulkan.h prof_cuda.h prof_gl.h prof_opencl.h prof_mpi.h prof_receive.h prof_openmp.h tools/*.[ch] lib/*.c; do
    crossing "$file" >"$made/names"
    sort -u "$made/names" "$made/crossed" >"$made/more" && mv "$made/more" "$made/crossed"
    case $file in prof_bridge.h | prof_system.h | prof_vulkan.h | prof_cuda.h | prof_gl.h | prof_opencl.h | prof_mpi.h | prof_receive.h | prof_openmp.h) known=inner.all ;; *) known=inner ;; esac
    strays="$strays$(comm -23 "$made/names" "$made/$known" | sed "s|^|$file: |; s|\$|;|")"
    case $file in prof_*) counts="$counts $file $(wc -l <"$made/names" | tr -d ' ')," ;; esac
done
check "private names of prof.h in use are in $inner" "$(echo "$strays" | tr ';' '\n' | grep .)"
# But for types that only its declarations name.
check "$inner lists no name that nobody uses" \
    "$(comm -23 "$made/inner.all" "$made/crossed" | grep -vE '^prof__(has_group|read_equal)$')"
check "no other header looks into a trace" \
    "$(grep -nE '(^|[^a-z_])trace->' src/chrome/*.h src/html/*.h src/layouts/*.h src/xplane/*.h prof_ntff.h prof_server.h tools/*.[ch])"
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
marks=$(cat src/*/*.h | grep -oE '^(static )?PROF__(COLD|HOT|RARE|WALL|APART|ASIDE|ENTRY)' | wc -l)
check "functions have few marks: PROF__COLD, for slow branches of what macros call" "$([ "$marks" -le 60 ] || echo "$marks")"
check "each private function is used" "$(unused prof_*.h prof.h tools/*.[ch] lib/*.c)"

check "what is not text is a picture, or for tests" \
    "$(git ls-files --eol 2>/dev/null | sed -n 's/^i\/-text.*	//p' | grep -v -e '^docs/images/' -e '^tests/corpus/' -e '^tests/fuzz/')"

echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
