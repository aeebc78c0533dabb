#!/bin/sh
# prof hot and prof flame --samples: programs print the addresses that they are at (hot_take.h), a recording is made of these
# (hot_image.c), and the tool has to name the functions, lines and scopes: of each kind of file, in each place where symbols
# may be, and of damaged files. BUILD: see the Makefile.
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
in_work hot
cc=${CC:-cc} cxx=${CXX:-c++}
[ "$(uname -s)" = Linux ] || { skip "samples" "they are Linux's" && finish; }

record() { ./"$1" | "$build/tests/hot_image" >"$1.prof" || fail "$1: no recording"; } # record PROGRAM
# The rows of functions, or of lines, of a recording: samples in it and in all it calls, name, file and line.
functions() { "$prof" hot "$@" -f csv 2>err | sed -n 's/"//g; s/^function,//p' | awk -F, '{ n = split($3, at, "/"); print $5, $6, $1, at[n] ":" $4 }'; }
lines() { "$prof" hot "$@" -f csv 2>err | sed -n 's/"//g; s/^line,//p' | awk -F, '{ n = split($3, at, "/"); print $5, $1, at[n] ":" $4 }'; }
gives() { # gives NAME COMMAND...: what it prints is standard input
    name=$1
    shift
    cat >wanted
    "$@" | grep -v ' _*libc_start\|:_start\| _start' >got
    same "$name" wanted got
}

# ---- a program of C

cat >game.c <<'END'
#include "hot_take.h"
APART static int raster(int x)
{
    take(60);
    take(10);
    return x * 3 + take_sink;
}
APART int draw(int x)
{
    take_begin("draw", __func__);
    x = raster(x) + 1;
    take(20);
    take_end();
    return x + take_sink;
}
APART static int think(int depth)
{
    take(10);
    return depth ? think(depth - 1) * 5 + take_sink : take_sink;
}
int main(void)
{
    int x;
    take_start();
    take_begin("frame", __func__);
    x = draw(1);
    take_begin("AI", __func__);
    x += think(2);
    take_end();
    take_end();
    take(5);
    return x == 12345;
}
END
chained=no
case $(uname -m) in x86_64 | i?86 | aarch64) chained=yes ;; esac
[ $chained = yes ] || { skip "samples" "no simple frame pointers" && finish; }
compile() { # compile OUT FLAGS...
    to=$1
    shift
    $cc -std=gnu99 -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -I"$root/tests" "$@" -o "$to"
}
cat >game_functions <<'END'
70 70 raster game.c:3
30 30 think game.c:17
20 90 draw game.c:9
5 125 main game.c:22
END
cat >game_lines <<'END'
60 raster game.c:4
30 think game.c:18
20 draw game.c:12
10 raster game.c:5
5 main game.c:31
END
works() { # works NAME RECORDING OPTIONS...
    name=$1
    shift
    gives "$name: functions" functions "$@" <game_functions
    gives "$name: lines" lines "$@" <game_lines
}
for kind in pie:-g:-pie:-fPIE plain:-g:-no-pie:-fno-pie four:-gdwarf-4 three:-gdwarf-3 packed:-g:-gz=zlib; do
    name=${kind%%:*}
    if ! compile "$name" game.c $(echo "${kind#*:}" | tr : ' ') 2>err; then
        skip "$name" "$(head -n 1 err)"
        continue
    fi
    record $name
    works $name $name.prof
done
if command -v clang >/dev/null; then
    cc=clang compile clang -g game.c && record clang && works clang clang.prof
    if cc=clang compile lld -g -fuse-ld=lld game.c 2>err; then record lld && works lld lld.prof; else skip lld "$(head -n 1 err)"; fi
fi
cp pie game && record game # what follows is about this file

is "text" 0 "$prof" hot game.prof
has "the head" out "125 samples, one for each 1.000 ms of processor time: 125.0 ms"
has "a function" out "56.0 %   70.00 ms  56.0 %   70.00 ms       70  raster"
has "a line" out "48.0 %   60.00 ms       60  game.c:4   raster"
is "one row" 0 "$prof" hot game.prof --top 1
lacks "the others" out think
is "narrow" 0 "$prof" hot game.prof --columns 60
is "total" 0 "$prof" hot game.prof --sort total -f csv
[ "$(sed -n 2p out | cut -d, -f 2)" = '"main"' ] && ok "sorted by it" || fail "sorted by it" "$(cat out)"
is "json" 0 "$prof" hot game.prof -f json
if command -v python3 >/dev/null; then
    python3 -c '
import json
all = json.load(open("out"))
assert all["samples"] == 125 and all["period_ns"] == 1000000 and all["scope"] is None and not all["notes"], all
row = [each for each in all["functions"] if each["function"] == "draw"][0]
assert row["self_samples"] == 20 and row["total_ns"] == 90000000 and row["module"] == "game", row
assert row["file"].endswith("/game.c") and row["line"] == 9, row
assert all["lines"][0]["line"] == 4 and all["lines"][0]["self_ns"] == 60000000, all["lines"]' 2>err && ok "json is right" || fail "json is right" "$(cat err)"
else
    skip "json is right" "no python3"
fi

# ---- scopes, threads, parts

gives "in a scope: functions" functions game.prof --scope draw <<'END'
70 70 raster game.c:3
20 90 draw game.c:9
END
gives "in a scope: lines" lines game.prof --scope draw <<'END'
60 raster game.c:4
20 draw game.c:12
10 raster game.c:5
END
gives "in a scope around others" functions game.prof --scope frame <<'END'
70 70 raster game.c:3
30 30 think game.c:17
20 90 draw game.c:9
0 120 main game.c:22
END
is "says where" 0 "$prof" hot game.prof --scope draw
has "how many" out "90 samples, one for each 1.000 ms of processor time: 90.00 ms in draw, of 125 samples"
fails "no such scope" "game.prof: no scope 'paint' in a thread that has samples" "$prof" hot game.prof --scope paint
fails "no such thread" "game.prof: no samples of a thread 'worker'" "$prof" hot game.prof --thread worker
gives "a thread by name" functions game.prof --thread main <game_functions
gives "a thread by number" functions game.prof --thread 7 <game_functions
./game >text
{ cat text; sed -n 's/^sample [0-9]* 7 /sample 9000 9 /p' text | head -n 3; } | "$build/tests/hot_image" >two.prof
is "a thread without scopes" 0 "$prof" hot two.prof --thread 9
is "the samples of all threads" 0 "$prof" hot two.prof -f json
has "are added up" out '"samples":128'
is "a part" 0 "$prof" hot game.prof --from 2ms --to 61ms -f csv
[ "$(sed -n 's/^function,//p' out | awk -F, '{ sum += $5 } END { print sum }')" -lt 125 ] && ok "has fewer" || fail "has fewer"
fails "times the wrong way" "hot: --to 1us is not later than --from 2us" "$prof" hot game.prof --from 2us --to 1us

# ---- flame graphs, pprof

is "folded" 0 "$prof" flame game.prof --samples -o game.folded
gives "scopes, and functions below them" grep -v "main 5000000" game.folded <<'END'
main (thread 7);frame;draw;draw 20000000
main (thread 7);frame;draw;draw;raster 70000000
main (thread 7);frame;AI;main;think 10000000
main (thread 7);frame;AI;main;think;think 10000000
main (thread 7);frame;AI;main;think;think;think 10000000
END
is "svg" 0 "$prof" flame game.prof --samples -o game.svg
has "counts samples" game.svg "125.0 ms in 125 samples"
has "a function in it" game.svg "<title>raster"
if python3 -c 'import xml.dom.minidom' 2>/dev/null; then
    python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("game.svg")' 2>err && ok "well-formed" || fail "well-formed" "$(cat err)"
fi
is "two recordings, merged" 0 "$prof" flame -m game.prof plain.prof --samples -o both.folded
[ "$(awk '{ sum += $NF } END { print sum }' both.folded)" = 250000000 ] && ok "are added up" || fail "are added up"
fails "pprof of scopes" "flame: .pprof needs --samples" "$prof" flame game.prof -o x.pprof
fails "pprof of two" "flame: .pprof takes one recording" "$prof" flame game.prof game.prof --samples -o x.pprof
fails "symbols of scopes" "flame: --symbols needs --samples" "$prof" flame game.prof --symbols . -o x.svg
fails "no folder" "--symbols 'nowhere' is not a folder" "$prof" hot game.prof --symbols nowhere
is "pprof" 0 "$prof" flame game.prof --samples -o game.pprof
for at in "$PPROF" "$(go env GOTOOLDIR 2>/dev/null)/pprof" /usr/lib/go*/pkg/tool/*/pprof; do [ -x "$at" ] && pprof=$at; done
if [ -n "$pprof" ]; then
    is "pprof reads it" 0 "$pprof" -top -unit=ms game.pprof
    grep -Eq '^ +70ms .* raster' out && grep -Eq '^ +20ms .* 90ms .* draw' out && ok "functions" || fail "functions" "$(cat out)"
    is "its lines" 0 "$pprof" -top -lines -unit=ms game.pprof
    grep -Eq '^ +60ms .* raster .*game.c:4' out && ok "lines" || fail "lines" "$(cat out)"
    is "its labels" 0 "$pprof" -tags -unit=ms game.pprof
    grep -q '90.*draw' out && ok "scopes" || fail "scopes" "$(cat out)"
else
    skip "pprof reads it" "no pprof of Go"
fi

# ---- a library

cat >extra.c <<'END'
#include "hot_take.h"
APART static int inner(int x)
{
    take(7);
    return x + take_sink;
}
int outer(int x);
int outer(int x) { return inner(x) * 2 + take_sink; }
END
printf '#include "hot_take.h"\nint outer(int x);\nint main(void)\n{\n    take_start();\n    return outer(2) == 12345;\n}\n' >user.c
compile libextra.so -g -fPIC -shared extra.c && compile user -g user.c -L. -lextra -Wl,-rpath,"$work"
record user
gives "a library" functions user.prof <<'END'
7 7 inner extra.c:3
0 7 outer extra.c:8
0 7 main user.c:4
END

# ---- C++ and Rust

cat >game.cpp <<'END'
#include "hot_take.h"
namespace game {
template <class T> struct mesh {
    APART T draw(T x) const;
};
template <class T> APART T mesh<T>::draw(T x) const
{
    take_begin("draw", __func__);
    take(9);
    take_end();
    return x + T(take_sink);
}
}
int main()
{
    take_start();
    auto run = [](int x) APART { take(4); return game::mesh<int>().draw(x) + take_sink; };
    return run(2) == 12345;
}
END
if $cxx -std=c++11 -g -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -w -I"$root/tests" game.cpp -o cpp 2>err; then
    record cpp
    if command -v c++filt >/dev/null; then
        functions cpp.prof >out
        grep -q '^9 9 game::mesh<int>::draw' out && grep -q '^4 13 main::{lambda' out && ok "names of C++" || fail "names of C++" "$(cat out)"
        is "a scope's function is found" 0 "$prof" flame -m cpp.prof --samples -o - -f folded
        grep -q '^draw;game::mesh<int>::draw' out && ok "and is the outermost one" || fail "and is the outermost one" "$(cat out)"
    else
        skip "names of C++" "no c++filt"
    fi
    mkdir -p nothing
    is "without c++filt" 0 env PATH="$work/nothing" "$prof" hot cpp.prof
    has "mangled" out "_ZNK4game4meshIiE4drawEi"
    has "says why" out "names of C++ and Rust are as the linker has them: c++filt, of binutils, is not installed"
else
    skip "names of C++" "no C++ compiler"
fi

# ---- files elsewhere

mkdir -p away elsewhere/hot linked/.debug ids
build_id=$(sed -n 's/^module .* \([0-9a-f]*\) .*\/game$/\1/p' text)
if command -v objcopy >/dev/null; then
    objcopy --only-keep-debug game game.debug
    mv game away/game
    strip -o stripped away/game
    is "no file" 0 "$prof" hot game.prof
    has "offsets" out "game+0x"
    has "says so" out "game: $work/game is not on this machine: give the folder of a copy with --symbols DIR"
    works "--symbols, by the name" game.prof --symbols away
    cp away/game elsewhere/hot/game
    works "--symbols, by the end of the path" game.prof --symbols elsewhere
    if [ -n "$build_id" ]; then
        place=ids/.build-id/$(echo "$build_id" | cut -c 1-2)
        mkdir -p "$place" && cp game.debug "$place/$(echo "$build_id" | cut -c 3-).debug"
        works "--symbols, by the build id, without the program" game.prof --symbols ids
        cp stripped game
        works "stripped, --symbols by the build id" game.prof --symbols ids
    fi
    cp stripped game
    is "stripped" 0 "$prof" hot game.prof
    has "says so" out "game: $work/game has no symbols, but for those that it exports: give the folder of its debug file with"
    [ "$(grep -c 'game+0x' out)" -ge 4 ] && [ "$(grep -c 'game+0x' out)" -le 6 ] && ok "a row for each function" || fail "a row for each function" "$(cat out)"
    cp stripped game && objcopy --add-gnu-debuglink=game.debug game
    works "a debug link" game.prof
    mkdir -p .debug && mv game.debug .debug/
    works "a debug link to a folder .debug" game.prof
    mv .debug/game.debug linked/
    works "a debug link, --symbols" game.prof --symbols linked

    # another program in its place
    sed 's/take(60)/take(61)/' game.c >game2.c
    compile game -g game2.c
    is "another build" 0 "$prof" hot game.prof
    has "says so" out "game: $work/game is another build than the one that ran (its build id differs), so its names are"
    has "offsets" out "game+0x"
    lacks "none of its names" out raster
    works "another build, --symbols" game.prof --symbols away
    cp game elsewhere/hot/game
    is "another build in DIR" 0 "$prof" hot game.prof --symbols elsewhere
    lacks "is not used" out raster
    cp away/game game

    # without build ids
    compile anonymous -g -Wl,--build-id=none game.c && record anonymous
    works "no build id" anonymous.prof
    objcopy --only-keep-debug anonymous anonymous.debug && objcopy --add-gnu-debuglink=anonymous.debug anonymous && strip anonymous
    works "no build id, a debug link" anonymous.prof
    printf x >>anonymous.debug
    is "a debug link to another file" 0 "$prof" hot anonymous.prof
    lacks "is not used" out raster
else
    skip "files elsewhere" "no objcopy"
fi

# ---- what has no file

boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null || echo -)
mkdir -p maps
cat >maps/perf-4242.map <<'END'
1000 100 js:~loop
1000 80 js:*loop
bad
2000 10 _ZN4core3fmt5write17h0123456789abcdefE
3000 10 _RNvCs1234_7mycrate3foo
4000 10 with blanks
END
{
    printf 'pid 4242 %s\nmodule 7000 8000 0 0 - linux-vdso.so.1\nthread 7 main\n' "$boot"
    printf 'sample 1000 7 1010\nsample 1001 7 1090 200a 3005 4001\nsample 1002 7 7010\nsample 1003 7 99999\n'
} | "$build/tests/hot_image" >jit.prof
gives "a map of a just-in-time compiler" functions jit.prof --symbols maps <<'END'
2 2 [unknown] :0
1 1 js:*loop :0
1 1 [vdso] :0
0 1 core::fmt::write :0
0 1 mycrate::foo :0
0 1 with blanks :0
END
gives "without it" functions jit.prof <<'END'
3 3 [unknown] :0
1 1 [vdso] :0
END

# ---- other processors

other() { # other NAME COMPILER RUN...
    name=$1 compiler=$2
    shift 2
    if command -v "$compiler" >/dev/null && cc=$compiler compile "$name" -g -static game.c 2>err && "$@" ./"$name" >text 2>err; then
        sed "s|^\(module.* \)/.*|\1$work/$name|" text | "$build/tests/hot_image" >"$name.prof"
        gives "$name" lines "$name.prof" <game_lines
    else
        skip "$name" "no $compiler, or it cannot run"
    fi
}
other i686 i686-linux-gnu-gcc env
other s390x s390x-linux-gnu-gcc qemu-s390x
other aarch64 aarch64-linux-gnu-gcc qemu-aarch64

# ---- damaged files, and what is no file

cp game whole
size=$(wc -c <whole)
bad=""
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    head -c $((size * i / 21)) whole >game
    $limit "$prof" hot game.prof >out 2>err || bad="$bad $i"
    [ -s out ] || bad="$bad $i"
done
check "cut short" "$bad"
head -c 3000 whole >game
is "cut short" 0 "$prof" hot game.prof
has "says so" out "game: $work/game is a damaged ELF file: give the folder of a copy with --symbols DIR"
echo text >game
is "no ELF file" 0 "$prof" hot game.prof
has "says so" out "game: $work/game is no ELF file"
if mkfifo pipe 2>/dev/null; then
    mv pipe game
    is "a pipe does not hang it" 0 "$prof" hot game.prof
    has "says so" out "game: $work/game is no file"
    rm game
fi
printf 'thread 7 main\nbegin 1 frame main\nend 5\n' | "$build/tests/hot_image" >none.prof
none="none.prof has no samples: include prof_system.h in the program, and record with PROF_SAMPLES=1"
fails "no samples" "$none" "$prof" hot none.prof
fails "no samples, flame" "$none" "$prof" flame --samples none.prof -o x.svg

# ---- a real recording: the program and the commands of docs/guide/samples.md

block() { # block BEGIN: what is in the block that begins with this line
    awk -v begin="$1" '/^```/ { inside = $0 == begin; next } inside' "$root/docs/guide/samples.md"
}
block '```c samples.c' >samples.c
succeeds "a program that samples itself" $cc -std=gnu99 -O2 -g -fno-omit-frame-pointer -I"$root" samples.c -o samples -pthread -ldl
./samples >out 2>err
is "is read" 0 "$prof" check samples.prof
if grep -q '^ *samples' out; then
    block '```sh tests/test_hot.sh' >commands
    [ "$(grep -c '^prof ' commands)" -ge 4 ] && ok "commands" || fail "commands" "$(cat commands)"
    is "run" 0 env PATH="$build/tests:$PATH" sh -e commands
    is "hot" 0 "$prof" hot samples.prof --scope draw -f csv
    [ "$(sed -n 2p out | cut -d, -f 1,2,3)" = 'function,"transform","samples"' ] && ok "the hottest function" || fail "the hottest function" "$(cat out)"
    at=$(grep -n 'i < 3000000' samples.c | cut -d: -f 1)
    [ "$(grep '^line,' out | head -n 1 | cut -d, -f 2,5)" = "\"transform\",$at" ] && ok "the hottest line" || fail "the hottest line" "$(cat out)"
else
    skip "its functions" "no samples here: $(cat err)"
fi

finish
