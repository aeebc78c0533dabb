# apart.awk - a header of prof whose implementation is compiled once, for test programs that look at what is private.
#
#   awk -v what=definitions -f tests/apart.awk prof.h     what is static at file scope is global
#   awk -v what=declarations -f tests/apart.awk prof.h    the same, without bodies and initial values: for those programs
#
# Inline functions, types and constants stay as they are, in both. The code is formatted (.clang-format): what is at file scope
# begins in the first column, and so does the brace that ends it.
BEGIN {
    constant = "^static (PROF__UNUSED )?const [^(*=]*([*]const [^(*=]*)?(=|;|\\{$)"
    declare = what == "declarations"
    if (declare) print "#pragma GCC system_header" # the compiler has said of the definitions what it has to say
}
/^\/\*== END OF HEADER/ { implementation = 1 }
!implementation { print; next }
/^PROF__[A-Z]* static / { $0 = "static " $1 substr($0, index($0, " static ") + 7) }
{
    code = $0
    sub(/ *\/\*.*\*\/$/, "", code)
    done = code ~ /(;|[^=] \{.*\})$/ # what begins in this line ends here
    opens = code ~ /^[^ ].*\{$|^\{$/
}
/^template <[^<>]*>$/ { print; next }
(body || value || kept) && /^(static|PROF_DEF|PROF__[A-Z]* static) / {
    print FILENAME ":" FNR ": apart.awk does not see where ends what begins above" >"/dev/stderr"
    exit 1
}
body && /^#(if|endif)/ { depth += /^#if/ ? 1 : -1 }
body && (depth < 0 || (!depth && /^#el/)) { # one function with two heads, each of them with the beginning of its body
    print
    depth = 0
    if (/^#el/) body = 0
    next
}
body { if (/^}/) body = 0; next }
value { if (code ~ /;$/) value = 0; next }
kept == "variable" && /^}/ { # of a type without a name
    value = !done
    sub(/ = .*/, ";", code)
    print code
    kept = ""
    next
}
kept {
    print
    if (opens && kept == "head") kept = "opened"
    else if ((/^}/ && code !~ /\{$/) || (kept != "opened" && done)) kept = ""
    next
}
/^(static (inline|__forceinline|PROF__INLINED)|template|typedef|struct|union|enum)/ || code ~ constant {
    kept = done ? "" : code ~ /=/ ? "values" : opens ? "opened" : "head"
    print
    next
}
!declare { sub(/^static /, ""); print; next }
/^(PROF__AT_(START|END|UNLOAD)\(|__asm__)/ { value = !done; next }
/^{/ { print ";"; body = 1; next }
/^[a-zA-Z_].*[ )]/ && !/^(extern "C"|PROF__[A-Z_]*\()/ {
    if (!sub(/^static /, "extern ", code)) sub(/^PROF_/, "extern &", code)
    if (code ~ /[^=] \{.*\}$/) sub(/ \{.*\}$/, ";", code)
    else if (code ~ /^extern (struct|union) \{$/) kept = "variable"
    else if (code ~ /\) \{.*\}$/) sub(/ \{.*\}$/, ";", code)
    else if (code ~ / =( |$)/) {
        value = code !~ /;$/
        sub(/ =( .*)?$/, ";", code)
    }
    print code
    next
}
{ print }
