#!/bin/sh
# Chocolate Doom, a program of 160,000 lines that knows nothing of prof, records itself: scopes are put into Debian's
# source package by rules (doom_patch.py), it is built otherwise unchanged, and plays a demo without a screen.
#
#   sh doom.sh WORKDIR OUTDIR     traces come to OUTDIR; what is downloaded and built stays in WORKDIR for next time
#
# ROUNDS=n (3) sets how often the cost of recording is measured; 0: not at all. It decides nothing.
# Prints "ok", "FAIL" or "SKIP" lines; exit status 1 after a FAIL.

work=${1:?sh doom.sh WORKDIR OUTDIR}
out=${2:?sh doom.sh WORKDIR OUTDIR}
mkdir -p "$work" "$out" || exit 1
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(cd "$work" && pwd)
out=$(cd "$out" && pwd)
wad=/usr/share/games/doom/freedoom1.wad
demo=demo1
bad=0
cd "$work" || exit 1
. "$here/source.sh"

skip() {
    echo "SKIP doom: $*"
    exit 0
}
ok() { echo "ok doom $*"; }
fail() {
    echo "FAIL doom $*"
    bad=1
}
die() {
    fail "$@"
    exit 1
}

command -v apt-get >/dev/null 2>&1 || skip "no apt-get: this test wants Debian or Ubuntu"
need_packages gcc libc6-dev make cmake pkg-config python3 libsdl2-dev libsdl2-mixer-dev freedoom ||
    skip "packages cannot be installed: see $work/apt.log"
get_source chocolate-doom || skip "no source package: see $work/apt.log"

# ---- sources and builds: plain is the package's, marked has the scopes, stripped is marked with PROF_ENABLE=0

if ! cksum "$here/doom_patch.py" | cmp -s - marked.stamp; then
    rm -rf marked
    cp -r source marked
    python3 "$here/doom_patch.py" marked >marked.files || die "rules do not fit the source"
    cksum "$here/doom_patch.py" >marked.stamp
fi

[ "${ROUNDS:-3}" -gt 0 ] && level=-O1 || level=-O0 # which takes half the time, where nothing is measured
configure() { # DIRECTORY SOURCE FLAGS...: the same flags leave the build as it is
    directory=$1
    tree=$2
    shift 2
    cmake -S "$tree" -B "$directory" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="$level -DNDEBUG" -DENABLE_SDL2_NET=Off \
        -DCMAKE_C_FLAGS="-ffile-prefix-map=$work/$tree=. $*" >"$directory.log" 2>&1 ||
        die "does not configure: see $work/$directory.log"
}
configure plain source
configure recording marked "-I$root"
configure stripped marked "-I$root -DPROF_ENABLE=0"
same_objects() { # those of files without scopes, which may be taken from plain
    diff -rq source marked | sed -n 's,^Files source/\([^ ]*\) and .*,/\1.o,p' | sed 's,.*/,/,' >changed
    grep -q '\.h\.o$' changed || (cd plain && find . -name '*.c.o') | grep -vF -f changed
}
for build in plain recording; do
    # newer than what they are made of, so that make leaves them as they are
    [ $build = plain ] || [ -f recording/src/chocolate-doom ] || same_objects | tar -C plain -cf - -T - | tar -C recording -xmf -
    make -C $build -j2 chocolate-doom >>$build.log 2>&1 || die "$build does not build: see $work/$build.log"
done
ok "builds with scopes in $(wc -l <marked.files) files"

# ---- without prof, the objects are those of the unchanged source

same=0
while read -r file; do
    case $file in
    src/doom/*) target=src/doom/CMakeFiles/doom.dir/${file##*/}.o ;;
    src/*) target=src/CMakeFiles/chocolate-doom.dir/${file##*/}.o ;;
    opl/*) target=opl/CMakeFiles/opl.dir/${file##*/}.o ;;
    esac
    if make -C stripped -f "${target%/*}/build.make" "$target" >>stripped.log 2>&1 &&
        cmp -s "stripped/$target" "plain/$target"; then
        same=$((same + 1))
    else
        fail "$file with PROF_ENABLE=0 is another object than without markup"
    fi
done <marked.files
ok "PROF_ENABLE=0 leaves $same of $(wc -l <marked.files) objects byte for byte the same"

# ---- play

play() { # BUILD: the game ends through exit(-1) with the number of tics; anything else is a failure
    HOME=$work XDG_DATA_HOME=$work SDL_VIDEODRIVER=dummy SDL_AUDIODRIVER=dummy \
        timeout 600 "$1/src/chocolate-doom" -iwad $wad -timedemo $demo -nogui >"$out/doom.log" 2>"$out/doom.err"
    status=$?
    tics=$(sed -n 's/^timed \([0-9]*\) gametics.*/\1/p' "$out/doom.err")
    [ $status = 255 ] && [ -n "$tics" ]
}

rm -f "$out"/doom.*
play plain || die "does not play the demo, status $status: see $out/doom.err"
expected=$tics
for format in prof json txt csv; do
    PROF_OUTPUT=$out/doom.$format PROF_BUFFER=64M play recording ||
        fail "$format: ended with $status: see $out/doom.err"
    [ "$tics" = "$expected" ] || fail "$format: $tics tics instead of $expected"
    [ -s "$out/doom.$format" ] || fail "$format: no trace"
done
PROF_OUTPUT=$out/doom.3.prof PROF_LEVEL=3 PROF_BUFFER=64M play recording || fail "level 3: ended with $status"
[ $bad = 0 ] && ok "plays $demo five times while recording, $expected tics each"

cc -O0 -I"$root" "$here/facts.c" -o facts -pthread >facts.log 2>&1 || die "facts.c does not build: see $work/facts.log"
./facts "$out/doom.prof" >"$out/doom.facts" || die "doom.prof cannot be read"
./facts "$out/doom.3.prof" >"$out/doom.3.facts" || die "doom.3.prof cannot be read"
python3 "$here/doom_check.py" "$out" "$expected" "$work/source" || bad=1

# ---- what recording costs: processor time of whole runs without sound, in turns

if [ "${ROUNDS:-3}" -gt 0 ]; then
    marked=$work/recording/src/chocolate-doom
    HOME=$work XDG_DATA_HOME=$work SDL_VIDEODRIVER=dummy python3 "$here/cost.py" "${ROUNDS:-3}" \
        "unchanged" "$work/plain/src/chocolate-doom" \
        "not recording" "$marked" \
        "recording" "PROF_BUFFER=8M PROF_OUTPUT=$out/cost.prof $marked" \
        "recording level 3" "PROF_LEVEL=3 PROF_BUFFER=64M PROF_OUTPUT=$out/cost.prof $marked" \
        -- -iwad $wad -timedemo $demo -nogui -nosound | sed 's/^/note doom /'
    rm -f "$out/cost.prof"
fi
exit $bad
