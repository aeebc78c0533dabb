#!/bin/sh
# Copies the headers to a folder. There the implementation only declares its functions, private ones too: an object that
# was compiled once has their bodies (see SHARING in the Makefile). Types, macros and inline functions stay whole.
# Variables are weak, so that those of the object count. Lines keep their numbers.
#
# usage: tests/declared.sh FOLDER
mkdir -p "$1" || exit 1
for header in prof*.h; do
    awk '
        of_macro || /^#/ {
            of_macro = /\\$/
            if (/^#if defined\(PROF_IMPLEMENTATION\) && PROF_ENABLE/) inside = to_warn = 1
            if (/^#endif \/\* PROF_IMPLEMENTATION/) inside = 0
            print
            next
        }
        !inside { print; next }
        to_warn && (/^$/ || /^\/\*.*\*\/$/) { # what there is to warn of, the compiler has said of the object
            print "#pragma GCC system_header"
            to_warn = 0
            next
        }
        until { if ($0 ~ until) until = ""; print ""; next }
        /^PROF__AT_(START|END|UNLOAD)\(/ { print ""; next } # the object has what they declare, and runs it
        /^__asm__/ { until = "\\);$"; print ""; next }
        /^[A-Za-z_]/ && !/^(typedef|extern|union|enum|struct [A-Za-z_0-9 ]+( [{]|;)|[A-Z_]+\()/ { # a declaration begins
            whole = /inline|PROF__INLINED/
            if (/^[^=;]*[ *](prof|__cyg)_[a-z_0-9]+\(/) {
                if (!whole) { sub(/static /, ""); sub(/ [{].*/, ";") }
            } else {
                sub(/static /, "")
                $0 = (/^(PROF__UNUSED )?const / ? "extern " : "") "__attribute__((weak)) " $0 # constants of C++ are static
            }
        }
        /^[{]$/ && !whole { until = "^}"; print ";"; next }
        { print }
    ' "$header" >"$1/$header" || exit 1
done
