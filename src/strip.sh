#!/bin/sh
# Prints a new version of the module src/api/stripped.h or src/api/stripped_read.h. For each function that a module which
# it includes declares with PROF__API it has a macro that replaces the function where PROF_ENABLE is 0. So these macros
# need not be maintained by hand. All other lines of the module are printed unchanged. src/assemble.sh calls this.
#
#   sh src/strip.sh src/api/stripped.h
LC_ALL=C awk -v module="$1" '
    # Returns the value of a replaced function of this type: success, or an answer that means that nothing was recorded.
    # A function that creates an object returns a pointer that is never used but not NULL, which would mean failure.
    function value(type, name) {
        if (name ~ /^prof_image_(find|shorten)$/) return "PROF_CORRUPT"
        if (type == "prof_status") return "PROF_OK"
        if (type == "void") return "(void)0"
        if (type == "int") return "0"
        if (type == "const char *") return "\"\""
        if (name == "prof_trace_about") return "prof__stripped_about()"
        if (name ~ /_(create|create_unit|init)$/ && type ~ /^prof_.*\*$/) return "PROF__STRIPPED_OBJECT(" type ")"
        return "(" type ")0"
    }
    # Returns the expressions, evaluated before the value, that store "nothing" through the parameters of a function.
    function results(list, name,    count, one, i, out) {
        if (name == "prof_trace_align") return "prof__stripped_none(offsets, (count) * sizeof(int64_t)), "
        if (name == "prof_memory") return "prof__stripped_memory(stats), "
        count = split(list, one, /, */)
        for (i = 1; i <= count; i++) {
            if (one[i] ~ /^[a-z_0-9]+ \*\*[a-z_0-9]+$/) out = out "prof__stripped_none(" name_of(one[i]) ", sizeof(void *)), "
            if (one[i] ~ /^(size_t|uint64_t) \*[a-z_0-9]+$/)
                out = out "prof__stripped_none(" name_of(one[i]) ", sizeof(" substr(one[i], 1, index(one[i], " ") - 1) ")), "
        }
        return out
    }
    function name_of(parameter) {
        if (match(parameter, /\(\*[a-z_0-9]+\)/)) return substr(parameter, RSTART + 2, RLENGTH - 3)
        sub(/\[[^]]*\]$/, "", parameter)
        match(parameter, /[A-Za-z_0-9]+$/)
        return substr(parameter, RSTART)
    }
    function names(list,    depth, at, c, one, out) { # the names of parameters, comma between
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
    function strip(text,    at, type, name, list, count, use, writes, is) { # prints the macro of a declaration
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
        writes = type == "prof_status" || type == "size_t" ? results(list, name) : ""
        list = names(list)
        count = list == "" ? 0 : gsub(/,/, ",", list) + 1
        use = count ? "PROF__USE" (count > 1 ? count : "") "(" list ")" : "(void)0"
        made = "#define " name "(" list ")"
        is = writes value(type, name)
        is = "PROF__STRIPPED(" (writes == "" ? is : "(" is ")") ", "
        print made (length(made is use) < 119 ? " " : " \\\n    ") is (length(is use) < 115 ? "" : "\\\n" tab) use ")"
    }
    BEGIN { tab = sprintf("%19s", "") }
    BEGIN { while ((getline < module) > 0) text_of[++lines] = $0 }
    /\/\*|\/\// { sub(/ *(\/\*.*|\/\/.*)/, "") }
    !open && !/^PROF__API / { next }
    {
        sub(/^ +/, "")
        all = all (open ? " " : "") $0
        open = all !~ /;$/
        if (open) next
        n = split(all, one, /; ?/)
        all = ""
        for (i = 1; i < n; i++) if (sub(/^PROF__API /, "", one[i]) && one[i] ~ /\(/) declared[++count] = one[i]
    }
    END {
        for (i = 1; i <= lines; i++) {
            if (skips || text_of[i] ~ /^#define prof_[a-z]/) {
                if (!done++) for (d = 1; d <= count; d++) strip(declared[d])
                skips = text_of[i] ~ /\\$/
            } else print text_of[i]
        }
    }' $(sed -n 's,^#include "\(.*\)"$,src/\1,p' "$1")
