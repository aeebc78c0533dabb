#!/bin/sh
# Tests prof_bridge.h: what ITT, NVTX and SDT tools receive, call by call; and that without it a program contains nothing
# of it. Each bridge is compiled against the real headers, where the machine has them, and talks to a stand-in for the
# tool that writes down what it hears (tests/bridge): NVTX loads one, libittnotify another; gdb stops at the probes.
#
# usage: tests/test_bridge.sh         NVTX_INCLUDE, ITT_INCLUDE: where nvtx3/nvToolsExt.h and ittnotify.h are;
#                                     ITT_LIBRARY: the directory of libittnotify.a
# run: long
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C # of what sort, gdb and compilers say
unset DEBUGINFOD_URLS PROF_OUTPUT
out=${BUILD:-build}/bridge
case $out in /*) whole=$out ;; *) whole=$PWD/$out ;; esac # others load what is there
here=tests/bridge
rm -rf "$out"
mkdir -p "$out/new" "$out/old"
cc=${CC:-cc} cxx=${CXX:-c++}
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wno-misleading-indentation" # see headers.sh
. tests/checks.sh

# same NAME EXPECTED FOUND: two files
same() {
    if text=$(diff "$2" "$3" 2>&1); then
        ok "$1"
    else
        fail "$1"
        echo "$text" | head -20 | sed 's/^/    /'
    fi
}
# expected TOOL PART: what tests/bridge/TOOL.txt has below "== PART"
expected() { sed -n "/^== $2\$/,/^== /{/^== /d;p;}" "$here/$1.txt"; }
# include HEADER DIRECTORY...: the flag for the first of them that makes the header known to the compiler
include() {
    header=$1
    shift
    for directory in "" "$@"; do
        flag=${directory:+-I$directory}
        if echo "#include <$header>" | $cc -E $flag -x c - >/dev/null 2>&1; then
            echo "${flag:--D_GNU_SOURCE}"
            return
        fi
    done
}

printf '#define PROF_IMPLEMENTATION\n#include "prof.h"\n' >"$out/recorder.c"
cp "$out/recorder.c" "$out/recorder.cpp"

# ---- off

# A hook is nothing: what the preprocessor makes of it is that of a source in which its line is empty, but for the empty
# statement, also after an if.
sed 's/.*PROF__BRIDGE_[A-Z_]*(.*;$//' prof.h >"$out/old/prof.h"
cp prof.h "$out/new/prof.h"
hooks=$(diff "$out/old/prof.h" "$out/new/prof.h" | grep -c '^>')
for side in old new; do
    cp "$out/recorder.c" "$out/$side" # no other header is there
    (cd "$out/$side" && $cc -std=gnu99 -E -P recorder.c) >"$out/$side/text" || fail "$cc -E"
    sed 's/ *\(if ([^()]*)\)\{0,1\} *((void)0);//g; /^ *$/d' "$out/$side/text" >"$out/$side/statements"
done
silent "off: nothing but empty statements of $hooks hooks" cmp "$out/old/statements" "$out/new/statements"
[ "$hooks" -ge 25 ] || fail "only $hooks hooks were found in prof.h"
rm -r "$out/old" "$out/new"

# ---- the headers that are here

nvtx=$(include nvtx3/nvToolsExt.h $NVTX_INCLUDE /usr/local/cuda/include)
itt=$(include ittnotify.h $ITT_INCLUDE /opt/intel/oneapi/vtune/latest/sdk/include)
sdt=$(include sys/sdt.h)
case $(uname -s) in Linux) ;; *) sdt= ;; esac
[ -n "$nvtx" ] || skip "NVTX" "no nvtx3/nvToolsExt.h (CUDA): set NVTX_INCLUDE"
[ -n "$itt" ] || skip "ITT" "no ittnotify.h (VTune, ittapi): set ITT_INCLUDE"
[ -n "$sdt" ] || skip "SDT" "no sys/sdt.h (systemtap-sdt-dev)"
silent "SDT, NVTX, ITT: a clear error if freestanding" sh -c "
    ! $cc -std=gnu99 -DPROF_WITH_SDT -DPROF_FREESTANDING '-DPROF_CLOCK_READ()=0' '-DPROF_CPU_STATE()=0' \
        -DPROF_CPU_STATE_SIZE=1024 -I. -E '$out/recorder.c' 2>&1 >/dev/null |
        grep -v 'prof_bridge.h: PROF_WITH_ITT, PROF_WITH_NVTX and PROF_WITH_SDT need' |
        grep error:"

[ -n "$nvtx$itt$sdt" ] || {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
    exit
}

# build NAME FLAGS...: the program, from C and without a warning
build() {
    name=$1
    shift
    silent "$name: compiles and links" $cc -std=gnu99 -O0 $warnings -I. "$@" -rdynamic -o "$out/$name" -pthread -ldl
}
for name in one two; do
    $cc -std=gnu99 -O1 -I. -fPIC -shared -DPLUGIN_NAME="\"$name\"" $here/plugin.c -o "$out/plugin_$name.so" || fail "plugin"
done

# part TOOL PROGRAM PART VARIABLE...: runs it and compares what the tool heard
part() {
    expect=$1 program=$2 which=$3
    shift 3
    rm -f "$out/log"
    : >"$out/log"
    case $which in
    plugins) arguments="$out/plugin_one.so $out/plugin_two.so $out/plugin_one.so" ;;
    *) arguments= ;;
    esac
    env "$@" BRIDGE_LOG="$out/log" "$out/$program" $which $arguments >"$out/text" 2>&1
    status=$?
    cat "$out/text" >>"$out/log"
    [ $status -eq 0 ] || echo "status $status" >>"$out/log"
    expected $expect $which >"$out/expected"
    [ -s "$out/expected" ] || fail "$expect.txt has no $which"
    same "$program: $which ($(wc -l <"$out/log") calls)" "$out/expected" "$out/log"
}

# Many threads at once, deep recursion, many names: each begin has its end, and as many as there should be.
# numbers TOOL PROGRAM BEGIN END VARIABLE...
numbers() {
    expect=$1 program=$2 begin=$3 end=$4
    shift 4
    for which in crowd depth; do
        rm -f "$out/log"
        env "$@" BRIDGE_LOG="$out/log" timeout 120 "$out/$program" $which >"$out/text" 2>&1 || echo "status $?" >>"$out/text"
        awk -v begin="$begin" -v end="$end" '
            index($0, "WRONG") || index($0, "WITHOUT") || index($0, "NO ") { print }
            $2 == begin { begins++; open[$1]++; if (open[$1] > deepest) deepest = open[$1] }
            $2 == end { ends++; if (--open[$1] < 0) print "an end too many" }
            $2 == "mark" || $2 == "marker" || ($2 == "counter" && $4 == "=") || ($2 == "counter" && $3 == "count") { marks++ }
            END { print begins " begin, " ends " end, " deepest " deep, " marks + 0 " marks" }' "$out/log" >>"$out/text"
        expected $expect $which >"$out/expected"
        same "$program: $which ($(wc -l <"$out/log") calls)" "$out/expected" "$out/text"
    done
}

parts="macros frames events objects sessions threads fibers forks plugins"

# ---- NVTX

if [ -n "$nvtx" ]; then
    silent "NVTX stand-in" $cc -std=gnu99 -O1 -D_GNU_SOURCE $nvtx -fPIC -shared $here/nvtx_tool.c -o "$out/nvtx_tool.so"
    tool=NVTX_INJECTION64_PATH=$whole/nvtx_tool.so
    if build nvtx $nvtx -DPROF_WITH_NVTX $here/program.c; then
        for which in $parts; do part nvtx nvtx $which "$tool"; done
        part nvtx nvtx autostarted "$tool" PROF_BRIDGE=1
        numbers nvtx nvtx push pop "$tool"
        silent "nvtx: says nothing without a tool" "$out/nvtx" macros
        silent "nvtx: a tool that can't be loaded" env NVTX_INJECTION64_PATH=/nonexistent.so "$out/nvtx" macros
    fi
fi

# ---- ITT: with the stand-in in the library's place; and, where that is, with the library, which loads it

if [ -n "$itt" ]; then
    if silent "ITT stand-in" $cc -std=gnu99 -O1 -D_GNU_SOURCE -DITT_STATIC $itt -c $here/itt_tool.c -o "$out/itt_tool.o" &&
        build itt $itt -DPROF_WITH_ITT $here/program.c "$out/itt_tool.o"; then
        for which in $parts tasks; do part itt itt $which A=1; done
        part itt itt autostarted PROF_BRIDGE=1
        numbers itt itt begin end A=1
    fi
    library="${ITT_LIBRARY:+-L$ITT_LIBRARY} -littnotify -ldl"
    if echo 'int main(void) { return 0; }' | $cc -x c - $library -o "$out/empty" 2>/dev/null; then
        silent "ITT stand-in as a library" $cc -std=gnu99 -O1 -D_GNU_SOURCE $itt -fPIC -shared $here/itt_tool.c -o "$out/itt_tool.so"
        if build itt_library $itt -DPROF_WITH_ITT $here/program.c $library; then
            for which in $parts; do
                part itt itt_library $which "INTEL_LIBITTNOTIFY64=$whole/itt_tool.so" INTEL_ITTNOTIFY_GROUPS=all
            done
            silent "itt_library: without a tool" "$out/itt_library" macros
            silent "itt_library: a tool that can't be loaded" env INTEL_LIBITTNOTIFY64=/nonexistent.so "$out/itt_library" macros
        fi
    else
        skip "ITT with libittnotify" "no libittnotify.a: set ITT_LIBRARY"
    fi
fi

# ---- SDT

if [ -n "$sdt" ] && build sdt -DPROF_WITH_SDT $here/program.c; then
    silent "sdt: says nothing without a tracer" "$out/sdt" macros
    if command -v readelf >/dev/null; then
        readelf -nW "$out/sdt" | awk '
            $1 == "stapsdt" { provider = $NF }
            $1 == "Name:" { name = $2 }
            /Semaphore: 0x/ { semaphore = $NF ~ /[1-9a-f]/ && $NF !~ /x0*$/ }
            $1 == "Arguments:" {
                sizes = ""
                for (i = 2; i <= NF; i++) { split($i, part, "@"); sizes = sizes " " part[1] }
                if (provider == "prof") print name sizes (semaphore ? "" : " WITHOUT A SEMAPHORE")
            }' | sort >"$out/found"
        case $(uname -m) in
        *64*)
            expected sdt notes >"$out/expected"
            same "sdt: $(wc -l <"$out/found") probes, their arguments and semaphores" "$out/expected" "$out/found" ;;
        *) skip "sdt: notes" "argument sizes are those of 64 bits" ;;
        esac
    else
        skip "sdt: notes" "no readelf"
    fi
    echo 'int main(void) { return 0; }' | $cc -g -x c - -o "$out/empty"
    if timeout 100 gdb -nx -q -batch -ex run "$out/empty" 2>&1 </dev/null | grep -q 'exited normally'; then
        {
            echo 'set pagination off'
            probe() { # name, format, arguments
                printf 'break -probe-stap prof:%s\ncommands\nsilent\nprintf "%s %s\\n"%s\ncontinue\nend\n' "$1" "$1" "$2" "$3"
            }
            text='(char *)$_probe_arg0, (char *)$_probe_arg1'
            for name in scope_begin scope_end mark frame; do probe $name '%s [%s]' ", $text"; done
            probe counter '%s [%s] %ld' ", $text, (long)\$_probe_arg2"
            probe counter_double '%s [%s] %lx' ", $text, (long)\$_probe_arg2"
            probe arg '%s [%s] %ld %lx' ", $text, (long)\$_probe_arg2, (long)\$_probe_arg3"
            probe arg_string '%s [%s] %s' ", $text, (char *)\$_probe_arg2"
            probe event '%s [%s] %ld %ld %ld' \
                ", $text, (long)\$_probe_arg2, \$_probe_arg2 < 11 ? (long)\$_probe_arg3 : 0, (long)\$_probe_arg4"
            probe log '%s [%s] %ld' ", $text, (long)\$_probe_arg2"
            probe thread '%s' ', (char *)$_probe_arg0'
            probe pause ''
            probe resume ''
        } >"$out/script"
        for which in macros frames events objects; do
            timeout 100 gdb -nx -q -batch -x "$out/script" -ex "run $which" "$out/sdt" 2>/dev/null </dev/null |
                grep -E '^(scope_|mark|frame|counter|arg|event|log|thread|pause|resume)' >"$out/found"
            expected sdt $which >"$out/expected"
            same "sdt: $which in gdb ($(wc -l <"$out/found") probes)" "$out/expected" "$out/found"
        done
    else
        skip "sdt: in gdb" "no gdb, or it can't run programs here"
    fi
fi

# ---- all at once, in both languages

all=
[ -z "$nvtx" ] || all="$all $nvtx -DPROF_WITH_NVTX"
[ -z "$itt" ] || all="$all $itt -DPROF_WITH_ITT"
[ -z "$sdt" ] || all="$all -DPROF_WITH_SDT"
syntax=-fsyntax-only # where another of the compiler's family makes code
for compile in "gcc -std=gnu99 $syntax" "gcc -std=c11 -D_GNU_SOURCE $syntax" "clang -std=gnu11" "g++ -std=c++11" \
    "clang++ -std=c++17 $syntax"; do
    command -v ${compile%% *} >/dev/null || {
        skip "$compile" "not installed"
        continue
    }
    case $compile in *++*) source=cpp ;; *) source=c ;; esac
    silent "$compile:$(echo "$all" | tr ' ' '\n' | sed -n 's/-DPROF_WITH_/ /p' | tr -d '\n') together" \
        $compile -O0 $warnings -I. $all -fPIC -c "$out/recorder.$source" -o "$out/recorder.o"
done
if [ -n "$nvtx" ] && command -v $cxx >/dev/null; then
    object=
    [ -z "$itt" ] || object=$out/itt_tool.o
    cp $here/program.c "$out/program.cpp"
    if silent "all, in C++: compiles and links" $cxx -std=c++11 -O0 $warnings -I. $all -rdynamic "$out/program.cpp" $object \
        -o "$out/all" -pthread -ldl; then
        for which in macros events objects fibers; do
            env "$tool" BRIDGE_LOG="$out/log" sh -c "rm -f '$out/log'; '$out/all' $which"
            # both tools write to one log: NVTX's lines by their words
            grep -E '^[0-9]+ ((push|pop|mark|start) |end [a-z]*: [0-9])' "$out/log" >"$out/found"
            expected nvtx $which | grep -E '^[0-9]+ ((push|pop|mark|start) |end [a-z]*: [0-9])' >"$out/expected"
            same "all: $which, as NVTX heard it" "$out/expected" "$out/found"
        done
    fi
fi

finish
