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
    if (count > 2) config.output = mode[2];
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
names() { # TEXT HEADER: wrong, unless the text is one line that says what to include, and what to run
    case $1 in
    *"
"*) echo "more than one line: $1" ;;
    *"include $2 in the file with PROF_IMPLEMENTATION, or convert a .prof by \`prof export\`"*) ;;
    *) echo "said: $1" ;;
    esac
}
instead() { # OUTPUT HEADER FILE: wrong, unless it records this file instead, and says so
    said=$(PROF_OUTPUT="$work/$1" "$work/alone" 2>&1)
    names "$said" "$2"
    case $said in *"; records "*"/${3%%\**}"*) ;; *) echo "said: $said" ;; esac
    grep -qa 'prof[.]img' "$work"/$3 || echo "no $3"
    [ -d "$work/$1" ] || [ ! -e "$work/$1" ] || echo "wrote it"
}
check "alone: compiles" "$(program alone prof.h)"
check "alone: a .prof" "$(records alone a.prof 'prof[.]img')"
for pair in .json:prof_chrome.h .html:prof_html.h .csv:prof_read.h .txt:prof_read.h; do
    check "alone: ${pair%:*} needs ${pair#*:}" "$(instead "b${pair%:*}" "${pair#*:}" "b${pair%:*}.prof")"
done
check "alone: a directory needs prof_xplane.h" "$(instead logs/ prof_xplane.h "logs/*.prof")"
said=$(env -u PROF_OUTPUT "$work/alone" ring "$work/c.json")
check "alone: prof_start refuses" "$(names "$said" prof_chrome.h)"
said=$(PROF_OUTPUT="$work/c.foo" "$work/alone" 2>&1)
check "alone: what no header writes" "$(case $said in *"nothing is recorded") ;; *) echo "said: $said" ;; esac)"
said=$(env -u PROF_OUTPUT "$work/alone" stats)
check "alone: statistics need a reader" "$(case $said in *prof_read.h*) ;; *) echo "said: $said" ;; esac)"
check "before: compiles" "$(program before prof.h prof_chrome.h)"
check "before: .json" "$(records before a.json traceEvents)"
check "before: .csv" "$(records before a.csv ',work,')"
check "before: .txt" "$(records before a.txt 1.event)"
check "before: statistics" "$(PROF_OUTPUT= "$work/before" stats)"
finish
