#!/bin/sh
# Prints a new version of a file with text that is made of the tables in src/image/kinds.h: enums of C, tables of
# docs/format.md, constants of the page's decoder and of examples/read_trace.py. All other lines are printed unchanged.
# src/assemble.sh calls this for the files that `sh src/kinds.sh` lists.
#
#   sh src/kinds.sh docs/format.md
[ $# -gt 0 ] || exec echo src/api/values.h src/api/markup.h src/image/device.h src/image/format.h src/html/decode.js \
    docs/format.md examples/read_trace.py
LC_ALL=C awk -v table=src/image/kinds.h '
    function fail(why) {
        print "src/kinds.sh: " why | "cat >&2"
        failed = 1
        exit 1
    }
    function row(name, text,    at, c, quoted) { # stores the fields of a row, X(...)
        size[name]++
        fields = 1
        for (at = 1; at <= length(text); at++) {
            c = substr(text, at, 1)
            if (c == "\"") quoted = !quoted
            else if (c == "," && !quoted) fields++
            else if (quoted || c != " ") cell[name, size[name], fields] = cell[name, size[name], fields] c
        }
        at = cell[name, size[name] - 1, 2] + 1
        if (size[name] > 1 && cell[name, size[name], 2] != at)
            fail(table ": " cell[name, size[name], 1] " of PROF__" name " has not the next number, " at)
    }
    function rows(name, text,    at, depth, quoted, from, c) { # splits a table into its rows
        for (at = 1; at <= length(text); at++) {
            c = substr(text, at, 1)
            if (c == "\"") quoted = !quoted
            if (quoted) continue
            if (c == "(" && !depth++) from = at + 1
            if (c == ")" && !--depth) row(name, substr(text, from, at - from))
        }
    }
    function load(    line, name, text, count, name_of) {
        while ((getline line < table) > 0) {
            if (line ~ /^#define PROF__[A-Z_]+\(X\)/) {
                name = substr(line, 15)
                sub(/\(.*/, "", name)
                text = ""
                sub(/^[^)]*\)/, "", line)
            }
            if (name == "") continue
            text = text line
            if (sub(/ *\\$/, "", text)) continue
            rows(name, text)
            name = ""
        }
        close(table)
        count = split("KINDS EVENTS DEVICE_EVENTS ROLES VALUES META", name_of, " ")
        for (; count; count--) if (!size[name_of[count]]) fail(table ": PROF__" name_of[count] " is missing")
    }
    function wrapped(text, first, next_,    out, line, count, word, i) { # at 120 columns
        count = split(text, word, " ")
        line = first word[1]
        for (i = 2; i <= count; i++)
            if (length(line) + 1 + length(word[i]) > 120) {
                out = out line "\n"
                line = next_ word[i]
            } else line = line " " word[i]
        return out line
    }
    function padded(text, width) { return sprintf("%-" width "s", text) }
    function enum(name, prefix, what, last,    i, width, entry, margin) { # what: the column of the comments, or 0
        for (i = 1; i <= size[name]; i++) {
            entry = prefix cell[name, i, 1] (i == 1 ? " = " cell[name, i, 2] : "") (i < size[name] || last ? "," : "")
            cell[name, i, "c"] = entry
            if (length(entry) > width) width = length(entry)
        }
        margin = sprintf("%" width + 8 "s", "")
        for (i = 1; i <= size[name]; i++) {
            entry = cell[name, i, "c"]
            if (what && cell[name, i, what] != "")
                print wrapped(cell[name, i, what] " */", "    " padded(entry, width) " /* ", margin)
            else print "    " entry
        }
        if (last) print "    " last
    }
    function words(i) { # of a kind, for people
        return cell["KINDS", i, 3] ~ /[A-Z]/ ? "1 + n" : i == 1 ? "" : cell["KINDS", i, 3]
    }
    function page(name,    i) { # a table of docs/format.md
        if (name == "KINDS") {
            print "| kind | name | words | time | bits 59..0 of the head, and the other words | written for |"
            print "|--:|---|---|---|---|---|"
        } else {
            print "| " (name == "ROLES" ? "role" : name == "META" ? "kind" : "type") " | name | " \
                (name == "META" ? "words after the head |" : "what |")
            print "|--:|---|---|"
        }
        for (i = 1; i <= size[name]; i++)
            if (name == "KINDS") {
                print "| " i - 1 " | " cell[name, i, 1] " | " words(i) " | " (cell[name, i, 4] == 1 ? "yes" : "") \
                    " | " cell[name, i, 10] " | " cell[name, i, 11] " |"
            } else print "| " cell[name, i, 2] " | " cell[name, i, 1] " | " cell[name, i, name == "EVENTS" ? 8 : 3] " |"
    }
    function script(name, prefix,    i, list) { # constants of JavaScript
        for (i = 1; i <= size[name]; i++)
            list = list (i > 1 ? ", " : "") prefix cell[name, i, 1] "~=~" cell[name, i, 2]
        list = wrapped("export~const " list ";", "", "    ")
        gsub(/~/, " ", list)
        print list
    }
    function put(name, list, open, close_) { # a list of Python
        print wrapped(name " = " open list close_, "", sprintf("%" (open == "" ? 4 : length(name) + 4) "s", ""))
    }
    function listed(name,    i, list) {
        for (i = 1; i <= size[name]; i++) list = list (i > 1 ? ", " : "") cell[name, i, 1]
        return list
    }
    function python(    i, name, names, lengths, timed, values, texts) {
        for (i = 2; i <= size["KINDS"]; i++) {
            name = cell["KINDS", i, 1]
            names = names (i > 2 ? ", " : "") name
            if (words(i) != "1 + n") lengths = lengths (lengths == "" ? "" : ", ") name ": " words(i)
            if (cell["KINDS", i, 4] == 1) timed = timed (timed == "" ? "" : ", ") name
            if (cell["KINDS", i, 9] ~ /^(INT|UINT|DOUBLE)$/)
                values = values (values == "" ? "" : ", ") name ": " cell["KINDS", i, 9]
        }
        for (i = 1; i <= size["EVENTS"]; i++) texts = texts (i > 1 ? ", " : "") "\"" cell["EVENTS", i, 5] "\""
        print wrapped(listed("VALUES") " = range(" size["VALUES"] ")", "", "    ")
        print wrapped(names " = range(1, " size["KINDS"] ")", "", "    ")
        put("WORDS", lengths, "{", "}")
        put("TIMED", timed, "{", "}")
        put("COUNTERS", values, "{", "}")
        put("TYPES", texts, "[", "]")
    }
    # Begins a part that is made: `end` matches the line after it, or, if it is its last line, the line is left out.
    function begin(first, last, inside) {
        if (first != "") print first
        end = last
        drops = inside
        found++
    }
    BEGIN { load() }
    end != "" {
        if ($0 !~ end) next
        end = ""
        if (drops) next
    }
    /^enum \{ \/\* the kinds of records of meta/ { begin($0, "^};"); enum("META", "PROF__META_", 0, "") }
    /^typedef enum prof_value_type \{/ { begin($0, "^}"); enum("VALUES", "PROF_VALUE_", 3, "") }
    /^<!-- enum PROF_VALUE_ -->/ { begin($0, "^$"); page("VALUES") }
    /^<!-- enum PROF__META_ -->/ { begin($0, "^$"); page("META") }
    /^enum \{ \/\* the kinds of records,/ { begin($0, "^};"); enum("KINDS", "PROF__KIND_", 0, ""); }
    /^enum \{ \/\* the types of EVENTs of devices/ { begin($0, "^};"); enum("DEVICE_EVENTS", "PROF__DEVICE_", 3, "") }
    /^typedef enum prof_event_type \{/ { begin($0, "^}"); enum("EVENTS", "PROF_EVENT_", 8, "PROF_EVENT_TYPE_COUNT") }
    /^typedef enum prof_role \{/ { begin($0, "^}"); enum("ROLES", "PROF_ROLE_", 3, "PROF_ROLE_COUNT") }
    /^<!-- enum PROF__KIND_ -->/ { begin($0, "^$"); page("KINDS") }
    /^<!-- enum PROF_ROLE_ -->/ { begin($0, "^$"); page("ROLES") }
    /^<!-- enum PROF_EVENT_ -->/ { begin($0, "^$"); page("EVENTS") }
    /^<!-- enum PROF__DEVICE_ -->/ { begin($0, "^$"); page("DEVICE_EVENTS") }
    /^export const SCOPE = / { begin("", ";$", 1); script("EVENTS", "") }
    /^export const ROLE_NONE = / { begin("", ";$", 1); script("ROLES", "ROLE_") }
    /^# The types of values, the kinds of records/ { begin($0, "^$"); python() }
    end != "" && drops && $0 ~ end { end = ""; next }
    end == "" { print }
    END {
        if (failed) exit 1
        if (end != "" || !found) fail(FILENAME ": the end of what is made is missing, or its begin")
    }' "$1"
