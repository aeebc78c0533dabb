#!/bin/sh
# Prints the room src/api/stripped.h anew: for each function that a room of src/api declares with PROF_DEF, the macro
# that replaces it where PROF_ENABLE is 0. So the declarations are the one list of the API. What is in the room besides these
# macros stays. src/assemble.sh calls this.
#
#   sh src/strip.sh src/api/stripped.h
folder=${1%/*}
LC_ALL=C awk -v room="$1" '
    function value(type) { # what a function of this type returns
        if (type == "prof_status") return "PROF_DISABLED"
        if (type == "void") return "(void)0"
        if (type == "int") return "0"
        if (type == "const char *") return "\"\""
        return "(" type ")0"
    }
    function name_of(parameter) {
        if (match(parameter, /\(\*[a-z_0-9]+\)/)) return substr(parameter, RSTART + 2, RLENGTH - 3)
        sub(/\[[^]]*\]$/, "", parameter)
        match(parameter, /[A-Za-z_0-9]+$/)
        return substr(parameter, RSTART)
    }
    function names(list,    depth, at, c, one, out) { # of the parameters, comma between
        for (at = 1; at <= length(list) + 1; at++) {
            c = substr(list, at, 1)
            if (c == "(") depth++
            if (c == ")") depth--
            if (at > length(list) || (c == "," && !depth)) {
                if (one != "void") out = out (out == "" ? "" : ", ") name_of(one)
                one = ""
            } else one = one c
        }
        return out
    }
    function strip(text,    at, type, name, list, count, use) { # a declaration, from its type on
        at = index(text, "(")
        type = substr(text, 1, at - 1)
        match(type, /prof_[a-z_0-9]+$/)
        name = substr(type, RSTART)
        type = substr(type, 1, RSTART - 1)
        sub(/ $/, "", type)
        if (name ~ /^prof__/ || name in seen) return
        seen[name] = 1
        match(text, /\).*$/)
        list = substr(text, at + 1)
        sub(/\)( PROF__[A-Z]+\([0-9, ]*\))?$/, "", list)
        list = names(list)
        count = list == "" ? 0 : gsub(/,/, ",", list) + 1
        use = count ? "PROF__USE" (count > 1 ? count : "") "(" list ")" : "(void)0"
        made = "#define " name "(" list ")"
        use = "PROF__STRIPPED(" value(type) ", " use ")"
        print made (length(made use) < 120 ? " " : " \\\n    ") use
    }
    BEGIN { while ((getline < room) > 0) text_of[++lines] = $0 }
    /\/\*|\/\// { sub(/ *(\/\*.*|\/\/.*)/, "") }
    !open && !/^PROF_DEF [^=]*/ { next }
    {
        sub(/^ +/, "")
        all = all (open ? " " : "") $0
        open = all !~ /;$/
        if (open) next
        n = split(all, one, /; ?/)
        all = ""
        for (i = 1; i < n; i++) if (sub(/^PROF_DEF /, "", one[i]) && one[i] ~ /\(/) declared[++count] = one[i]
    }
    END {
        for (i = 1; i <= lines; i++) {
            if (skips || text_of[i] ~ /^#define prof_[a-z]/) {
                if (!done++) for (d = 1; d <= count; d++) strip(declared[d])
                skips = text_of[i] ~ /\\$/
            } else print text_of[i]
        }
    }' $(ls "$folder"/*.h | grep -v -e "^$1\$" -e /inner.h)
