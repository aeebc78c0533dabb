#!/bin/sh
# Assembles the headers that users copy (prof.h and others) from the modules in src/.
#
#   sh src/assemble.sh              writes those headers whose modules have changed. A header that is newer than all modules was edited by hand: it is
#                                   not overwritten, and the script fails
#   sh src/assemble.sh --force      overwrites such a header as well
#   sh src/assemble.sh --check      writes nothing; names each header that differs from its modules, and then fails
#   sh src/assemble.sh --line DIR   writes all headers to DIR, with #line directives, so that compilers and debuggers
#                                   name the modules: compile with -IDIR
#   sh src/assemble.sh --map NAME   prints, for each line of a header, the file and the line from which it comes
#
# A list, such as src/prof.h, is copied line by line. A line #include "layer/module.h" is replaced by the text of that
# module, after the text of all modules that it includes and that were not copied yet. So the includes of modules decide
# their order, and a list names few: the last ones, and those inside an #if of the list. A module that was copied only
# inside an #if is not there for modules outside of it: the list must name it before. A line #include "prof.h", the name
# of another list, says that all modules of that list are there, but for a text without an include guard, which may be
# in each header: api/licence.h. A blank line is put between two modules.
#
# A module compiles alone. The following is not copied: the // lines at its top, which say what is in it; its include
# guard; and its includes, which end at the first blank line. A list can have // lines, too, which are not copied.
#
# A comment "the lines of html/index.html" is replaced by that page, as strings of an array. In the page, a line
# @name.js is replaced by that file of the same folder. What browsers do not need is left out: comments, spaces, line
# ends after { } , ; and similar characters, a ; before }, the 0 of 0.5, quotes around values of attributes, and imports
# and exports of modules, because the page has them all in one script. In indented lines const becomes let, which is
# shorter, and declarations that follow each other become one; at the top level const stays, because JavaScript engines
# optimize it there. A string, template or regular
# expression must end in the line in which it begins. tests/html/squeezed.mjs checks that the shortened script means the
# same.
#
# The modules api/stripped.h and api/stripped_read.h are made from the declarations in src/api: see src/strip.sh. Enums in
# src/api, tables in docs/format.md and constants in scripts are made from src/image/kinds.h: see src/kinds.sh.
cd "$(dirname "$0")/.." || exit 1
mode=${1:-write}
case $mode in
write | --force | --check) ;;
--line) folder=${2:?--line: into which folder?} ;;
--map) folder=${2:?--map: of which header?} ;;
*)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
if [ "$(awk 'BEGIN { print 6 * 7 }' </dev/null 2>/dev/null)" != 42 ]; then
    echo "src/assemble.sh: there is no awk here: the headers stay as they are" >&2
    [ "$mode" = write ]
    exit
fi

assemble() { # NAME: prints the header
    awk -v list="src/$1" -v mark="$([ "$mode" = --line ] && pwd)" -v map="$([ "$mode" = --map ] && echo 1)" '
        function put(text) {
            if (++count == 2 && mark == "") { # the second line is inside the comment of the first one
                match(text, /^ */)
                print map ? "-" : substr(text, 1, RLENGTH) "assembled from src/: change it there, see CONTRIBUTING.md"
            }
            print map ? origin : text
        }
        function from(file, line) { if (mark != "") printf "#line %d \"%s/%s\"\n", line, mark, file }
        function load(file,    line, got, number, part) { # reads a module: what it includes, and its text
            while ((got = (getline line < file)) > 0) {
                number++
                if (!part && line ~ /^\/\//) continue
                if (!part) part = line ~ /^#ifndef PROF__[A-Z0-9_]+_H$/ ? "head" : "text"
                if (part == "text") {
                    if (!lines[file]++) first[file] = number
                    text_of[file, lines[file]] = line
                } else if (line == "") part = "text"
                else if (line ~ /^#include </) fail(file ": line " number ": a blank line comes before what is not of prof")
                else if (line ~ /^#include "/) {
                    gsub(/^#include "|"$/, "", line)
                    need[file, ++needs[file]] = "src/" line
                } else if (line ~ /^#ifndef PROF__/) guarded[file] = guard = substr(line, 9)
            }
            close(file)
            if (got < 0) fail(file ": cannot be read")
            if (needs[file] || guard != "") {
                if (text_of[file, lines[file]] != "#endif /* " guard " */") fail(file ": does not end with #endif /* " guard " */")
                lines[file]--
                while (text_of[file, lines[file]] == "") lines[file]--
            }
            guard = ""
            if (lines[file] < 1) fail(file ": is empty")
        }
        function module(file, by,    i) { # writes a module, after those that it includes
            if (busy[file]) fail("a circle:" substr(path, index(path, " " file " ")) file)
            if (file in where) {
                if (!(file in listed) && index(conditions "\n", where[file] "\n") != 1)
                    fail(by " includes " file ", which is there only where" where[file] ": name it before in " list)
                return
            }
            if (by != "" && !quiet && file in listed && listed[file] > line) fail(by " includes " file ", which " list " names later")
            busy[file] = 1
            path = path " " file " "
            if (!(file in lines)) load(file)
            for (i = 1; i <= needs[file]; i++) module(need[file, i], file)
            busy[file] = 0
            path = substr(path, 1, length(path) - length(file) - 2)
            if (quiet && !(file in guarded)) return
            where[file] = conditions
            if (quiet) return
            origin = "-"
            if (after) put("")
            from(file, first[file])
            for (i = 1; i <= lines[file]; i++) {
                origin = file ":" (first[file] + i - 1)
                content(text_of[file, i])
            }
            after = 1
        }
        function content(text,    part) { # writes a line, or the page that it stands for
            if (text !~ /^ *\/\* the lines of [a-z0-9]+\/[a-z0-9_]+\.html \*\/$/) put(text)
            else {
                split(text, part, " ")
                piece = 0
                page("src/" part[5])
                put("   ,")
            }
        }
        function condition(entry,    at) { # keeps track of the #if around a line of the list
            if (entry ~ /^#if/) conditions = conditions "\n" entry
            else if (entry ~ /^#e(lse|lif|ndif)/) {
                at = match(conditions, /\n[^\n]*$/)
                if (entry ~ /^#endif/) conditions = substr(conditions, 1, at - 1)
                else conditions = conditions " " entry
            }
        }
        function outline(name,    entry, got, at) { # notes which modules a list names
            while ((got = (getline entry < name)) > 0) {
                at++
                if (entry ~ is_module) listed[file_of(entry)] = at
            }
            close(name)
            if (got < 0 || !at) fail(name ": cannot be read, or is empty")
        }
        function others(name,    entry, before) { # notes that all modules of another list are there
            before = conditions
            conditions = ""
            quiet++
            outline(name)
            while ((getline entry < name) > 0) {
                if (entry ~ is_list) others(file_of(entry))
                if (entry ~ is_module) module(file_of(entry), "")
                listed[file_of(entry)] = 0
            }
            close(name)
            for (entry in where) listed[entry] = 0
            quiet--
            conditions = before
        }
        function file_of(entry) {
            gsub(/^#include "|"[^"]*$/, "", entry)
            return "src/" entry
        }
        function doubled(text,    out, at) { # doubles backslashes; gsub() differs between awks here
            while ((at = index(text, "\\")) > 0) {
                out = out substr(text, 1, at) "\\"
                text = substr(text, at + 1)
            }
            return out text
        }
        # Writes a line of the page, without its line end if it joins the next one. Starts another element of the array
        # before a string becomes longer than C allows.
        function string(text, joins) {
            if (piece + length(text) > 3800) {
                put("   ,")
                piece = 0
            }
            piece += length(text) + 1
            text = doubled(text)
            gsub(/"/, "\\\"", text)
            gsub(/\?\?/, "?\\?", text)
            put("    \"" text (joins ? "" : "\\n") "\"")
        }
        function literal(text, at,    quote, c, class) { # returns where a string, template or regular expression ends
            for (quote = substr(text, at++, 1); (c = substr(text, at, 1)) != ""; at++) {
                if (c == "\\") at++
                else if (quote == "/" && c ~ /[][]/) class = c == "["
                else if (quote == "`" && c == "$" && substr(text, at + 1, 1) == "{") at = hole(text, at + 2)
                else if (c == quote && !class) return at
            }
            fail("a literal goes on in the next line: " text)
        }
        function hole(text, at,    c, depth) { # returns where the ${} of a template ends
            for (; (c = substr(text, at, 1)) != ""; at++) {
                if (index(quotes, c)) at = literal(text, at)
                else if (c == "{") depth++
                else if (c == "}" && depth-- == 0) return at
            }
            fail("a template goes on in the next line: " text)
        }
        function template(text,    out, c, end) { # shortens the code inside each ${} of a template
            for (; (c = substr(text, 1, 1)) != ""; text = substr(text, end + 1)) {
                end = c == "\\" ? 2 : 1
                if (c == "$" && substr(text, 2, 1) == "{") {
                    end = hole(text, 3)
                    out = out "${" script(substr(text, 3, end - 3)) "}"
                } else out = out substr(text, 1, end)
            }
            return out
        }
        function script(text,    out, c, end, gap) { # returns a line of JavaScript without comments and needless spaces
            while (text != "") {
                c = substr(text, 1, 1)
                if (comment || substr(text, 1, 2) == "/*") {
                    end = index(comment ? text : substr(text, 3), "*/")
                    text = end ? substr(text, end + (comment ? 2 : 4)) : ""
                    comment = !end
                    gap = 1
                } else if (c == " ") {
                    text = substr(text, 2)
                    gap = 1
                } else if (substr(text, 1, 2) == "//") {
                    break
                } else {
                    if (text ~ /^0\.[0-9]/) {
                        text = substr(text, 2)
                        c = "."
                    }
                    end = 1
                    if (index(quotes, c) || (c == "/" && out ~ before)) end = literal(text, 1)
                    else if (match(text, /^[A-Za-z0-9_$]+/)) end = RLENGTH
                    if (inner && substr(text, 1, end) == "const") {
                        text = "let" substr(text, 6)
                        end = 3
                    }
                    if (c == "}") sub(/;$/, "", out)
                    if (gap && (out c ~ /[A-Za-z0-9_$][A-Za-z0-9_$]$/ || out c ~ /(\+\+|--|\/\/|[0-9]\.)$/)) out = out " "
                    out = out (c == "`" ? template(substr(text, 1, end)) : substr(text, 1, end))
                    text = substr(text, end + 1)
                    gap = 0
                }
            }
            return out
        }
        function markup(text,    out) { # returns HTML without needless quotes around values of attributes
            while (match(text, /="[A-Za-z0-9_.-]+"/)) {
                out = out substr(text, 1, RSTART) substr(text, RSTART + 2, RLENGTH - 3)
                text = substr(text, RSTART + RLENGTH)
            }
            return out text
        }
        function style(text) { # returns CSS without needless spaces; no string in it has these signs
            gsub(/\/\*[^*]*\*\//, "", text)
            gsub(/ +\{/, "{", text)
            gsub(/\{ +/, "{", text)
            gsub(/ *\} */, "}", text)
            gsub(/: +/, ":", text)
            gsub(/; +/, ";", text)
            gsub(/, +/, ",", text)
            gsub(/;\}/, "}", text)
            return text
        }
        function page(file,    line, got, inside, folder, kind) {
            folder = kind = file
            sub(/[^\/]*$/, "", folder)
            sub(/.*\./, "", kind)
            while ((got = (getline line < file)) > 0) {
                if (inside || line ~ /^import /) {
                    inside = line !~ /;$/
                    continue
                }
                inner = sub(/^ +/, "", line)
                sub(/^export /, "", line)
                if (line ~ /^@[a-z]+\.[a-z]+$/) page(folder substr(line, 2))
                else {
                    if (kind == "js") line = script(line)
                    if (kind == "css") line = style(line)
                    if (kind == "html") line = markup(line)
                    if (line == "") continue
                    if (line ~ /^\}/) sub(/;$/, "", held)
                    if (kind == "js" && line ~ /^let[ {[]/ && held ~ /^let[ {[][^;]*;$/) { # one declaration of two
                        sub(/;$/, ",", held)
                        sub(/^let ?/, "", line)
                        line = held line
                        held = ""
                    }
                    flush()
                    held = line
                    joins = kind != "html" && line ~ /[][{}(,;&|?:=>]$/
                    if (kind == "html") flush()
                }
            }
            flush()
            if (got < 0) fail(file ": cannot be read")
            close(file)
        }
        function flush() { # writes the line of a page that waited for the next line
            if (held != "") string(held, joins)
            held = ""
        }
        function fail(why) {
            print "src/assemble.sh: " why | "cat >&2"
            failed = 1
            exit 1
        }
        BEGIN {
            quotes = "\"`'\''"
            # What can be before a regular expression.
            before = "(^|[^])}A-Za-z0-9_$" quotes "]|(^|[^A-Za-z0-9_$.])(await|case|delete|do|else|in|of|return|typeof|void|yield))$"
            is_module = "^#include \"[a-z0-9]+/[a-z0-9_]+\\.h\"$"
            is_list = "^#include \"prof[a-z_]*\\.h\""
            outline(list)
            while ((getline entry < list) > 0) {
                line++
                if (entry ~ /^\/\//) continue
                if (entry ~ is_module) {
                    module(file_of(entry), "")
                    continue
                }
                if (entry ~ is_list) others(file_of(entry))
                condition(entry)
                if (after || !count) from(list, line)
                after = 0
                origin = list ":" line
                content(entry)
            }
            exit failed
        }'
}

if [ "$mode" = --map ]; then
    assemble "$folder"
    exit
fi
made=${TMPDIR:-/tmp}/prof-assemble.$$
trap 'rm -rf "$made"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$made" || exit 1
status=0
for module in src/api/stripped.h src/api/stripped_read.h; do
    { [ -f $module ] && sh src/strip.sh $module >"$made/stripped" && ! cmp -s "$made/stripped" $module; } || continue
    case $mode in
    write | --force) cp "$made/stripped" $module ;;
    *)
        echo "$module is not what the declarations make: sh src/assemble.sh"
        status=1
        ;;
    esac
done
for file in $([ ! -f src/kinds.sh ] || sh src/kinds.sh); do
    [ -f "$file" ] || continue # src/back.sh has only src/
    sh src/kinds.sh "$file" >"$made/text" || exit 1
    cmp -s "$made/text" "$file" && continue
    case $mode in
    write | --force) cat "$made/text" >"$file" ;;
    *)
        echo "$file is not what src/image/kinds.h makes: sh src/assemble.sh"
        status=1
        ;;
    esac
done
for list in src/*.h; do
    [ -f "$list" ] || break # a package has no src/
    name=${list#src/}
    assemble "$name" >"$made/$name" || exit 1
    case $mode in
    --check)
        cmp -s "$made/$name" "$name" && continue
        echo "$name is not what src/ makes: sh src/assemble.sh, or, if $name itself was changed, sh src/back.sh"
        status=1
        ;;
    write | --force)
        cmp -s "$made/$name" "$name" && continue
        if [ -f "$name" ] && [ "$mode" = write ] && [ -z "$(find src -name '*.[hcj]*' -newer "$name" | head -n 1)" ]; then
            echo "$name is newer than the modules in src/ that make it: sh src/back.sh takes what was changed in it back" \
                "into them; sh src/assemble.sh --force drops that" >&2
            status=1
            continue
        fi
        cp "$made/$name" "$name.$$" && mv -f "$name.$$" "$name" || exit 1
        echo "$name: assembled from src/"
        ;;
    esac
done
if [ "$mode" = --line ]; then
    mkdir -p "$folder" || exit 1
    for header in prof*.h; do
        cmp -s "$made/$header" "$folder/$header" || cp "$made/$header" "$folder/$header" || exit 1
    done
fi
exit $status
