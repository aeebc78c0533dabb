#!/bin/sh
# Lua 5.4 traces all of its functions: Debian's source package, compiled with -finstrument-functions and not changed in
# any way, runs lua_work.lua. What is recorded is compared with a count of the same calls that prof has no part in.
#
#   sh lua.sh WORKDIR OUTDIR     traces come to OUTDIR; what is downloaded and built stays in WORKDIR for next time
#
# Prints "ok", "FAIL" or "SKIP" lines; exit status 1 after a FAIL. ROUNDS as for doom.sh.

work=${1:?sh lua.sh WORKDIR OUTDIR}
out=${2:?sh lua.sh WORKDIR OUTDIR}
mkdir -p "$work" "$out" || exit 1
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(cd "$work" && pwd)
out=$(cd "$out" && pwd)
cd "$work" || exit 1
. "$here/source.sh"

skip() {
    echo "SKIP lua: $*"
    exit 0
}
die() {
    echo "FAIL lua $*"
    exit 1
}

command -v apt-get >/dev/null 2>&1 || skip "no apt-get: this test wants Debian or Ubuntu"
need_packages gcc libc6-dev make binutils python3 || skip "packages cannot be installed: see $work/apt.log"
get_source lua5.4 || skip "no source package: see $work/apt.log"

# ---- build. Debian's rules write that header; a seed that is always the same makes hash tables, and so calls, the same

printf '#define DEB_HOST_MULTIARCH "%s"\n' "$(gcc -print-multiarch)" >lua5.4-deb-multiarch.h
cat >build.mk <<'M'
SOURCES := $(filter-out %/luac.c,$(wildcard source/src/*.c))
TRACED := $(SOURCES:source/src/%.c=traced/%.o)
PLAIN := $(SOURCES:source/src/%.c=plain/%.o)
LUA := $(LEVEL) -DLUA_USE_LINUX '-Dluai_makeseed(L)=1u' -I.
all: lua lua_count lua_other
traced/%.o: source/src/%.c
	@mkdir -p traced
	gcc $(LUA) -finstrument-functions -c $< -o $@
plain/%.o: source/src/%.c
	@mkdir -p plain
	gcc $(LUA) -c $< -o $@
prof.o: $(ROOT)/prof.h $(ROOT)/prof_chrome.h
	printf '#define PROF_IMPLEMENTATION\n#include "prof_chrome.h"\n' | \
	    gcc $(OF_PROF) -I$(ROOT) -DPROF_INSTRUMENT_FUNCTIONS -DPROF_INSTRUMENT_DEPTH=4096 -x c -c - -o $@
count_hooks.o: $(HERE)/count_hooks.c
	gcc -O2 -c $< -o $@
lua: $(TRACED) prof.o
	gcc $^ -o $@ -Wl,-E -Wl,--build-id -lm -ldl -pthread
lua_count: $(TRACED) count_hooks.o
	gcc -no-pie $^ -o $@ -Wl,-E -lm -ldl
lua_other: $(TRACED) count_hooks.o
	gcc $^ -o $@ -Wl,-E -lm -ldl
lua_plain: $(PLAIN)
	gcc $^ -o $@ -Wl,-E -lm -ldl
M
# The cost is that of -O2. Without, prof.h takes longer to compile well than it runs.
if [ "${ROUNDS:-3}" -gt 0 ]; then level=-O2 of_prof=-O2 timed=lua_plain; else level=-O1 of_prof=-O0 timed=; fi
make -j2 -f build.mk ROOT="$root" HERE="$here" LEVEL=$level OF_PROF=$of_prof all $timed >build.log 2>&1 ||
    die "does not build: see $work/build.log"
cc -O0 -I"$root" "$here/facts.c" -o facts -pthread >facts.log 2>&1 || die "facts.c does not build: see $work/facts.log"

# ---- run: all calls as an image, those of 2 us and more as JSON

rm -f "$out"/lua.*
COUNT_OUTPUT=$out/lua.counts ./lua_count "$here/lua_work.lua" >"$out/lua.expected" || die "lua_count fails"
PROF_OUTPUT=$out/lua.prof PROF_MODE=fill PROF_BUFFER=256M ./lua "$here/lua_work.lua" >"$out/lua.log" || die "lua fails"
cmp -s "$out/lua.expected" "$out/lua.log" || die "prints something else while it records: see $out/lua.log"
PROF_OUTPUT=$out/lua.json PROF_MIN_DURATION=2us PROF_BUFFER=64M ./lua "$here/lua_work.lua" >"$out/lua.log" ||
    die "lua fails with PROF_MIN_DURATION"
./facts "$out/lua.prof" >"$out/lua.facts" || die "lua.prof cannot be read"

# ---- symbols of another build must not be used; those of the same build are, from wherever they are kept

readelf -sW lua >lua.symbols
readelf -sW lua_count >lua_count.symbols
nm traced/ltable.o traced/lstring.o >hashing.symbols
mv lua lua.right
cp lua_other lua
./facts "$out/lua.prof" >"$out/lua.other.facts"
strip -o lua lua.right
./facts "$out/lua.prof" >"$out/lua.stripped.facts"
mv lua.right lua

python3 "$here/lua_check.py" "$out" "$work" || exit 1

if [ "${ROUNDS:-3}" -gt 0 ]; then
    python3 "$here/cost.py" "${ROUNDS:-3}" "not traced" "$work/lua_plain" "not recording" "$work/lua" \
        "recording" "PROF_BUFFER=32M PROF_OUTPUT=$out/cost.prof $work/lua" \
        "recording 2 us and more" "PROF_BUFFER=32M PROF_MIN_DURATION=2us PROF_OUTPUT=$out/cost.prof $work/lua" \
        -- -e "for _ = 1, 20 do dofile('$here/lua_work.lua') end" | sed 's/^/note lua /'
    rm -f "$out/cost.prof"
fi
exit 0
