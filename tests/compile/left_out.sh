#!/bin/sh
# The switches that leave parts of the implementation out: PROF_NO_CRASH, PROF_MINIMAL and so on, each by itself and all
# together, what compiles with several, and prof.h without prof_read.h ("prof_read", in the place of a switch). The
# implementation compiles without a warning; left_out.c, which knows nothing of switches, links to it, records, and gets
# PROF_UNSUPPORTED and the name of a switch for what is left out; a program that only records has the size that
# tests/sizes.txt allows (see tests/sizes.sh); a complete reader reads what it recorded, with its threads, its child of
# a fork, and after kill -9. The switches are those that the sources ask for: a new one has to be known to left_out.c
# and to the manual.
#
# PROF_TINY, for microcontrollers, has a program of its own.
#
# usage: tests/compile/left_out.sh [SWITCH...]     PROF_TEST_LONG=1: more compilers for each switch
cd "$(dirname "$0")/../.." || exit 1
here=tests/compile
out=build/compile/left_out
rm -rf $out
mkdir -p $out
passed=0 failed=0 skipped=0
WARNINGS="-Wall -Wextra -Wpedantic -Wconversion -Wshadow"
cc=$(for each in ${CC:-clang} cc gcc clang; do command -v "$each" && break; done) # clang needs half the time
unset PROF_OUTPUT

result() { # NAME, what is wrong (nothing: passed)
    if [ -z "$2" ]; then
        echo "ok   $1"
        passed=$((passed + 1))
    else
        echo "FAIL $1"
        echo "$2" | head -12 | cut -c 1-200 | sed 's/^/    /'
        failed=$((failed + 1))
    fi
}

# Every switch that a line of the sources asks for, in #if or defined(), but those of before, which are refused.
all= old=
for switch in $(sed -n '/END OF HEADER/,$p' prof.h | grep -E '^ *# *(el)?if|^ *defined' | grep -oE 'PROF_(NO_[A-Z_]+|MINIMAL)' | sort -u); do
    said=$(echo '#include "ground/leave_out.h"' | $cc -E -Isrc -D$switch - 2>&1 >/dev/null | grep -m 1 '#error')
    if [ -z "$said" ]; then all="$all $switch"; else old="$old$switch:$said
"; fi
done
result "the switches are known" \
    "$([ "$all" = " PROF_MINIMAL PROF_NO_CRASH PROF_NO_TEXT PROF_NO_THREAD" ] || echo "found:$all")"
result "those of before are refused, with the name of the one to take" "$(
    [ "$(echo "$old" | grep -c .)" = 13 ] || echo "not 13: $old"
    echo "$old" | grep . | grep -vE '#error.*(PROF_(NO_THREAD|NO_TEXT|MINIMAL)|prof_read.h)')"
for switch in $all; do
    grep -q "^    $switch  " prof.h || echo "$switch: the manual, >>options, does not have it"
    grep -q "\"[A-Z_ ]*$switch[\" ]" $here/left_out.c || echo "$switch: left_out.c asks for nothing that it leaves out"
done >$out/unknown
result "the manual and the test know them" "$(cat $out/unknown)"

defines() { for switch in $1; do [ $switch = prof_read ] || echo "-D$switch"; done; }
in_effect() { # these, and what comes with them
    echo '#include "ground/leave_out.h"' | $cc -E -dM -Isrc $(defines "$1") - |
        sed -n 's/^#define \(PROF_NO_[A-Z_]*\|PROF_MINIMAL\)\( .*\)*$/\1/p' | sort
    [ "$(header "$1")" = prof_read.h ] || echo prof_read
}
header() { case $1 in *prof_read* | *PROF_MINIMAL*) echo prof.h ;; *) echo prof_read.h ;; esac }

apart="-ffunction-sections -fdata-sections -fPIE"
for flag in -fno-stack-protector -fno-stack-clash-protection -fcf-protection=none -U_FORTIFY_SOURCE; do # as tests/sizes.sh
    $cc $flag -fsyntax-only -x c /dev/null 2>/dev/null && apart="$apart $flag"
done
warnings() { # SWITCHES COMPILER...: fails if it is installed and says anything
    switches=$1
    shift
    for compile; do
        ${compile%% *} --version >/dev/null 2>&1 || continue
        case $compile in # what of a static implementation is not used is not our business
        *STATIC*) more=-Wno-unused-function ;;
        *) more= ;;
        esac
        sh $here/warned.sh $compile $WARNINGS -Wno-misleading-indentation $more -I. $(defines "$switches") -O0 -c $out/alone.c \
            -o $out/warnings.o 2>&1
    done
}
# A switch has the warnings of each compiler, of C++ and of Windows: clang's when it links, gcc's and those of C++ without
# code, and clang's for Windows, which also says what is unused there.
windows=x86_64-w64-mingw32
some="gcc -std=gnu99 -fsyntax-only -Wc++-compat -DPROF_STATIC|clang++ -x c++ -std=c++11 -fsyntax-only -DPROF_STATIC"
if echo '#include <windows.h>' | clang --target=$windows -fsyntax-only -x c - 2>/dev/null; then
    some="$some|clang --target=$windows -std=gnu99" more="$windows-gcc -std=gnu99|"
else
    some="$some|$windows-gcc -std=gnu99" more=
fi
more="${more}clang++ -x c++ -std=c++11 -DPROF_STATIC|g++ -x c++ -std=c++11|gcc -std=gnu99 -DPROF_STATIC|i686-linux-gnu-gcc -std=gnu99|arm-linux-gnueabihf-gcc -std=gnu99"
more="$more|musl-gcc -std=c99|gcc -std=gnu99 -fPIC|gcc -std=gnu99 -DPROF_INSTRUMENT_FUNCTIONS"

cat >$out/reader.c <<'EOF'
#define PROF_IMPLEMENTATION
#include "prof_read.h"
#include <stdio.h>
#include <string.h>
/* Prints what is in each file: scopes, instants, samples, arguments; threads; 1 if it knows what recording cost. */
int main(int count, char **argument)
{
    for (int i = 1; i < count; ++i) {
        prof_trace *trace;
        prof_timeline *line;
        prof_event event;
        size_t scopes = 0, marks = 0, samples = 0, arguments = 0, threads = 0, track;
        if (prof_trace_open(argument[i], &trace) || prof_timeline_open(trace, &line)) return puts(prof_error()), 1;
        while (prof_timeline_next(line, &event, &track)) {
            scopes += event.type == PROF_EVENT_SCOPE && !strcmp(event.name, "work");
            marks += event.type == PROF_EVENT_MARK && !strncmp(event.name, "passed", 6);
            samples += event.type == PROF_EVENT_COUNTER && (!strcmp(event.name, "done") || !strcmp(event.name, "sum"));
            if (event.type == PROF_EVENT_SCOPE && !strcmp(event.name, "work")) arguments += event.arg_count;
        }
        for (size_t k = 0; k < prof_trace_track_count(trace); ++k)
            threads += !strcmp(prof_trace_track(trace, k)->name, "worker");
        printf(" %d.%d.%d.%d.%d.%d", (int)scopes, (int)marks, (int)samples, (int)arguments, (int)threads,
               prof_trace_about(trace)->scope_cost_ns > 0);
        prof_timeline_close(line);
        prof_trace_close(trace);
    }
    return 0;
}
EOF
result "the recorder builds" "$($cc -std=gnu99 -I. -O0 $apart -c $here/recorder.c -o $out/recorder.o 2>&1)"
result "the reader builds" "$($cc -std=gnu99 -I. -O0 $out/reader.c -o $out/reader -pthread -ldl 2>&1)"
result "the program builds" "$($cc -std=gnu11 $WARNINGS -I. -O0 -c $here/left_out.c -o $out/main.o 2>&1)"

killed() { # PROGRAM FOLDER: kills it once it has recorded; bounded
    : >"$2/killed.text"
    "$1" "$2" killed >"$2/killed.text" 2>&1 &
    child=$!
    for i in $(seq 3000); do
        grep -q recorded "$2/killed.text" && break
        sleep 0.1
    done
    kill -9 $child
    wait $child 2>/dev/null
    grep -v recorded "$2/killed.text"
}

try() { # NAME SWITCHES COMPILERS
    name=$1 switches=$2
    now=$(in_effect "$switches")
    has() { echo "$now" | grep -qx "$1"; }
    folder=$PWD/$out/$(echo "$name" | tr ' ' _)
    mkdir -p "$folder"
    old=$IFS
    IFS='|'
    set -- $3
    IFS=$old
    printf '#define PROF_IMPLEMENTATION\n#include "%s"\n' "$(header "$switches")" >$out/alone.c
    result "$name: no warnings" "$(warnings "$switches" "$@")"
    text=$({ $cc -std=c99 $WARNINGS -Wno-misleading-indentation -I. -O0 $apart $(defines "$switches") -c $out/alone.c \
        -o $out/alone.o && $cc -Wl,--gc-sections $out/alone.o $out/main.o -o "$folder/main" -pthread -ldl; } 2>&1)
    result "$name: links, without a warning" "$text"
    case $name in
    PROF_NO_*)
        $cc -pie -Wl,--gc-sections $out/alone.o $out/recorder.o -o $out/recorder -pthread -ldl
        result "$name: size" "$(sh tests/sizes.sh switch "$name" $out/recorder)"
        ;;
    esac
    [ -x "$folder/main" ] || return
    result "$name: records, and says what is not there" "$("$folder/main" "$folder" $now 2>&1 || echo "exit $?")"
    result "$name: killed" "$(killed "$folder/main" "$folder")"
    cost=1 saved= streamed=
    has PROF_MINIMAL && cost=0
    has PROF_MINIMAL || saved=" 40.80.80.80.4.$cost"
    has PROF_NO_THREAD || streamed=" 40.80.80.80.4.$cost"
    wanted=" 80.160.160.160.7.$cost 40.80.80.80.4.$cost 40.80.80.80.4.$cost$saved$streamed"
    said=$($out/reader "$folder/run.prof" "$folder/child.prof" "$folder/killed.prof" \
        ${saved:+"$folder/saved.prof"} ${streamed:+"$folder/stream.prof"} 2>&1)
    result "$name: a whole reader reads it" "$([ "$said" = "$wanted" ] || echo "read $said, not $wanted")"
    for pattern in prof_read:'read_image|read_site|csv|summary|figure|cursor_|span|follow_pass|folded_add' \
        PROF_NO_THREAD:'stream_put|archive_drop|service_main|follow_pass|folded_add' PROF_NO_CRASH:'crash_handler|crash_report' \
        PROF_NO_TEXT:'key|autostart(_by)?$|autostop' \
        PROF_MINIMAL:'hub_here|loaded_|name_try|launchers|expand|path_follow|out_live|image_copy|burst|asked(_place)?$|note_set|threshold_set'; do
        ! has "${pattern%%:*}" || nm "$folder/main" | grep -E " prof__(${pattern#*:})" |
            sed "s/^/${pattern%%:*} leaves this in: /"
    done >$out/left
    result "$name: nothing of it is in the program" "$(cat $out/left)"
    PROF_OUTPUT="$folder/auto.prof" "$folder/main" >/dev/null 2>&1
    if has PROF_NO_TEXT; then
        result "$name: PROF_OUTPUT starts nothing" "$(ls "$folder"/auto.prof 2>/dev/null)"
    else
        result "$name: PROF_OUTPUT starts" "$([ -e "$folder/auto.prof" ] || echo "there is no file")"
    fi
    rm -f "$folder"/*.prof
}

# PROF_TINY is not for programs of a system: tiny.c brings what a kernel would.
tiny() {
    printf '#define PROF_IMPLEMENTATION\n#include "prof.h"\n' >$out/alone.c
    echo "$($cc -std=gnu99 -I. -DPROF_TINY -c $out/alone.c -o $out/warnings.o 2>&1)" >$out/refused
    result "PROF_TINY: is refused without PROF_FREESTANDING and PROF_MINIMAL" \
        "$(grep -q 'PROF_TINY is for PROF_FREESTANDING with PROF_MINIMAL' $out/refused || cat $out/refused)"
    for compile in "gcc -std=gnu99" "gcc -std=gnu99 -Os" "clang -std=gnu99" "g++ -x c++ -std=gnu++11" "i686-linux-gnu-gcc -std=gnu99"; do
        ${compile%% *} --version >/dev/null 2>&1 || continue
        result "PROF_TINY: no warnings: $compile" \
            "$(sh $here/warned.sh $compile $WARNINGS -I. -c $here/tiny.c -o $out/warnings.o 2>&1)"
    done
    result "PROF_TINY: links" "$($cc -std=gnu99 -I. -O0 -ffunction-sections -Wl,--gc-sections $here/tiny.c -o $out/tiny 2>&1)"
    result "PROF_TINY: records, and refuses what is not there" "$($out/tiny $out/tiny.prof 2>&1 || echo "exit $?")"
    said=$($out/reader $out/tiny.prof 2>&1)
    result "PROF_TINY: a whole reader reads it" "$([ "$said" = ' 40.40.40.80.1.0' ] || echo "read $said")"
    result "PROF_TINY: nothing of it is in the program" "$(nm $out/tiny 2>&1 |
        grep -E ' prof__(match|metadata_put|error_text|threshold_set|clock_step)|nm:')"
}

if [ $# -gt 0 ]; then
    for switch; do
        if [ "$switch" = PROF_TINY ]; then tiny; else try "$switch" "$switch" "$some|$more"; fi
    done
else
    tiny
    try "no switch" "" "gcc -std=gnu99 -fsyntax-only"
    for switch in prof_read $all; do
        case $switch in
        PROF_MINIMAL | prof_read) compilers="$some|$more" ;;
        *) compilers="$some|${PROF_TEST_LONG:+$more|}g++ -x c++ -std=c++11 -fsyntax-only" ;;
        esac
        try "$switch" "$switch" "$compilers"
    done
    try "all of them" "$all" "$some"
    # Each of the other combinations compiles: those with PROF_MINIMAL are the same as that alone.
    every="gcc -std=gnu99 -fsyntax-only|clang -std=gnu99 -fsyntax-only|g++ -x c++ -std=c++11 -fsyntax-only|clang++ -x c++ -std=c++11 -fsyntax-only"
    for switches in "PROF_NO_CRASH PROF_NO_TEXT" "PROF_NO_CRASH PROF_NO_THREAD" "PROF_NO_TEXT PROF_NO_THREAD" \
        "PROF_NO_CRASH PROF_NO_TEXT PROF_NO_THREAD" "prof_read PROF_NO_CRASH PROF_NO_TEXT PROF_NO_THREAD"; do
        printf '#define PROF_IMPLEMENTATION\n#include "%s"\n' "$(header "$switches")" >$out/alone.c
        old=$IFS
        IFS='|'
        set -- $every
        IFS=$old
        result "$switches: no warnings" "$(warnings "$switches" "$@")"
    done
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
