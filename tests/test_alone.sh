#!/bin/sh
# prof.h without prof_read.h: records, and names the header for each other output. And before it, in the same file.
# run: traces unchecked
cd "$(dirname "$0")/.." || exit 1
work=${BUILD:-build}/tests/out/test_alone
rm -rf "$work" && mkdir -p "$work" || exit 1
. tests/checks.sh
program() { # NAME HEADER...: one that PROF_OUTPUT records, and that starts sessions itself if it is given a mode
    name=$1
    shift
    {
        echo '#define PROF_IMPLEMENTATION'
        printf '#include "%s"\n' "$@"
        cat <<'END'
#include <stdio.h>
int main(int count, char **mode)
{
    prof_config config;
    memset(&config, 0, sizeof config);
    if (count > 1 && (prof_config_from_env(&config) || prof_config_set(&config, "mode", mode[1]) || prof_start(&config)))
        return printf("%s\n", prof_error()), 1;
    PROFILE_SCOPE("work");
    return count > 1 && prof_stop() ? printf("%s\n", prof_error()) : 0;
}
END
    } >"$work/$name.c"
    ${CC:-cc} -std=gnu99 -O0 -I. "$work/$name.c" -o "$work/$name" -pthread -ldl 2>&1
}
records() { # PROGRAM FILE WORD: wrong, unless it writes the file, with this word
    PROF_OUTPUT="$work/$2" "$work/$1" 2>&1
    grep -qa "$3" "$work/$2" || echo "no $3 in $2"
}
refuses() { # EXTENSION HEADER: wrong, unless it does so in one sentence
    said=$(PROF_OUTPUT="$work/a$1" "$work/alone" 2>&1)
    case $said in *"include $2 in the file with PROF_IMPLEMENTATION"*) ;; *) echo "said: $said" ;; esac
    [ ! -e "$work/a$1" ] || echo "wrote it"
}
check "alone: compiles" "$(program alone prof.h)"
check "alone: a .prof" "$(records alone a.prof 'prof[.]img')"
for pair in .json:prof_chrome.h .html:prof_html.h .csv:prof_read.h .txt:prof_read.h; do
    check "alone: ${pair%:*} needs ${pair#*:}" "$(refuses "${pair%:*}" "${pair#*:}")"
done
said=$(env -u PROF_OUTPUT "$work/alone" stats)
check "alone: statistics need a reader" "$(case $said in *prof_read.h*) ;; *) echo "said: $said" ;; esac)"
check "before: compiles" "$(program before prof.h prof_chrome.h)"
check "before: .json" "$(records before a.json traceEvents)"
check "before: .csv" "$(records before a.csv ',work,')"
check "before: .txt" "$(records before a.txt 1.event)"
check "before: statistics" "$(PROF_OUTPUT= "$work/before" stats)"
finish
