#!/bin/sh
# Tests what `make install` installs: a program is built with each build system against an installation of its own, and
# as a subproject of Meson; `make uninstall` leaves nothing. BUILD: see the Makefile.
cd "$(dirname "$0")/.." || exit 1
root=$PWD
build=${BUILD:-build}
case $build in /*) ;; *) build=$root/$build ;; esac
work=$build/tests/packages
prefix=$work/prefix
rm -rf "$work" && mkdir -p "$work/program" || exit 1
passed=0 failed=0 skipped=0
ok() { passed=$((passed + 1)) && echo "ok   $1"; }
bad() { failed=$((failed + 1)) && echo "FAIL $1" && tail -n 15 "$work/log"; }
skip() { skipped=$((skipped + 1)) && echo "SKIP $1"; }
try() { # NAME COMMAND...
    name=$1
    shift
    if "$@" >"$work/log" 2>&1 </dev/null; then ok "$name"; else bad "$name"; fi
}
has() { command -v "$1" >/dev/null 2>&1 || { skip "$1: not installed"; return 1; }; }
runs() { # NAME PROGRAM: it records
    rm -f "$work/out.json"
    try "$1" env PROF_OUTPUT="$work/out.json" "$2"
    grep -q '"name":"work"' "$work/out.json" 2>/dev/null && ok "$1: it records" || bad "$1: it records"
}

cat >"$work/program/main.c" <<'END'
#define PROF_IMPLEMENTATION
#include <prof_chrome.h>

int main(void)
{
    PROFILE_SCOPE("work");
    return 0;
}
END
cat >"$work/program/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.10)
project(program C)
find_package(prof 0.1 REQUIRED)
add_executable(program main.c)
target_link_libraries(program prof::prof)
END
sed '/PROF_IMPLEMENTATION/d; s/prof_chrome/prof/' "$work/program/main.c" >"$work/program/linked.c" # to libprof.so
cat >>"$work/program/CMakeLists.txt" <<'END'
add_executable(linked linked.c)
target_link_libraries(linked prof::libprof)
END
cat >"$work/program/meson.build" <<'END'
project('program', 'c', default_options: ['c_std=gnu99'])
executable('program', 'main.c', dependencies: dependency('prof', fallback: ['prof', 'prof_dep']))
END

try "make help" make -s help
grep -q 'make uninstall' "$work/log" && ok "make help names the targets" || bad "make help names the targets"
try "make install" make -s install CFLAGS=-O0 BUILD="$build" DESTDIR= PREFIX="$prefix"
version=$("$prefix/bin/prof" --version | sed 's/prof //')
for file in meson.build packaging/vcpkg/vcpkg.json packaging/vcpkg/portfile.cmake packaging/conan/conanfile.py; do
    grep -q "$version" $file && ok "$file: version $version" || bad "$file: version $version"
done
for header in prof*.h; do
    grep -q "'$header'" meson.build && ok "meson.build: $header" || bad "meson.build: $header"
done

export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
if has pkg-config; then
    [ "$(pkg-config --modversion prof)" = "$version" ] && ok "pkg-config: version" || bad "pkg-config: version"
    # unquoted: they are flags
    try "pkg-config" ${CC:-cc} "$work/program/main.c" -o "$work/by_pkg-config" $(pkg-config --cflags --libs prof)
    runs "pkg-config: the program" "$work/by_pkg-config"
    case "$(pkg-config --libs prof)" in *-lprof*) bad "pkg-config: headers only" ;; *) ok "pkg-config: headers only" ;; esac
    try "pkg-config: libprof" ${CC:-cc} "$work/program/linked.c" -o "$work/linked" $(pkg-config --cflags --libs libprof) \
        -Wl,-rpath,"$prefix/lib"
    runs "pkg-config: a program with libprof.so" "$work/linked"
fi
if has cmake; then
    try "cmake: find_package" cmake -S "$work/program" -B "$work/by_cmake" -DCMAKE_PREFIX_PATH="$prefix"
    try "cmake: build" cmake --build "$work/by_cmake"
    runs "cmake: the program" "$work/by_cmake/program"
    runs "cmake: a program with libprof.so" "$work/by_cmake/linked"
    sed 's/find_package(prof 0.1/find_package(prof 9.0/' "$work/program/CMakeLists.txt" >"$work/later"
    mkdir "$work/later.d" && cp "$work/program/"*.c "$work/later.d" && mv "$work/later" "$work/later.d/CMakeLists.txt"
    if cmake -S "$work/later.d" -B "$work/by_cmake.later" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1; then
        bad "cmake: another version is refused"
    else
        ok "cmake: another version is refused"
    fi
fi
if has meson && { has ninja || false; }; then
    if has pkg-config; then
        try "meson: of the installation" meson setup "$work/by_meson" "$work/program" --wrap-mode=nofallback
        try "meson: build" ninja -C "$work/by_meson"
        runs "meson: the program" "$work/by_meson/program"
    fi
    mkdir -p "$work/program/subprojects/prof"
    cp meson.build prof*.h "$work/program/subprojects/prof"
    try "meson: as a subproject" env PKG_CONFIG_PATH= meson setup "$work/by_subproject" "$work/program"
    try "meson: build of that" ninja -C "$work/by_subproject"
    runs "meson: the program of that" "$work/by_subproject/program"
fi

: >"$prefix/include/not_ours.h"
try "make uninstall" make -s uninstall BUILD="$build" DESTDIR= PREFIX="$prefix"
left=$(cd "$prefix" && find . ! -type d)
[ "$left" = ./include/not_ours.h ] && ok "nothing is left but what is not ours" || bad "left: $left"
[ ! -d "$prefix/lib/cmake/prof" ] && ok "nor a folder of ours" || bad "a folder of ours is left"

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
