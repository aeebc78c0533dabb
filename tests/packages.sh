#!/bin/sh
# Tests what `make install` installs: a program is built with each build system against an installation of its own, and
# with prof as a subproject of Meson and of CMake; `make uninstall` leaves nothing. Then what `make dist` packs, and
# that prof.h alone states the version. BUILD: see the Makefile.
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
root=$PWD
build=${BUILD:-build}
case $build in /*) ;; *) build=$root/$build ;; esac
work=$build/tests/packages
prefix=$work/prefix
rm -rf "$work" && mkdir -p "$work/program" || exit 1
installed() { command -v "$1" >/dev/null 2>&1 || { skip "$1: not installed"; return 1; }; }
runs() { # NAME PROGRAM: it records
    rm -f "$work/out.json"
    succeeds "$1" env PROF_OUTPUT="$work/out.json" "$2"
    grep -q '"name":"work"' "$work/out.json" 2>/dev/null && ok "$1: it records" || fail "$1: it records"
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
find_package(prof VERSION REQUIRED)
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
prof = dependency('prof', version: 'VERSION', fallback: ['prof', 'prof_dep'])
executable('program', 'main.c', dependencies: prof)
END

make -s help >"$work/help"
grep -q 'make uninstall' "$work/help" && ok "make help names the targets" || fail "make help names the targets"
succeeds "make install" make -s install CFLAGS=-O0 BUILD="$build" DESTDIR= PREFIX="$prefix"
version=$(awk '/^#define PROF_VERSION/ { printf "%d.%d.%d", $3 / 10000, $3 / 100 % 100, $3 % 100 }' prof.h)
sed -i "s/find_package(prof VERSION/find_package(prof $version/" "$work/program/CMakeLists.txt"
sed -i "s/'VERSION'/'$version'/" "$work/program/meson.build"
says() { # WHAT TEXT: states the version, and no other
    case $2 in
    *"$version"*) ok "$1: version $version" ;;
    *) fail "$1: version $version" "$2" ;;
    esac
}
says "prof --version" "$("$prefix/bin/prof" --version)"
says "man page" "$(head -n 1 "$prefix/share/man/man1/prof.1")"
says "packaging/vcpkg/vcpkg.json" "$(grep '"version"' packaging/vcpkg/vcpkg.json)" # JSON cannot look it up
# What could state one: a number with two points that begins with 0, or the first line of a header.
others=$(grep -nE '[^0-9.]0\.[0-9]+\.[0-9]+([^0-9.]|$)|prof[^ ]* - v[0-9]' prof*.h src/*/manual.h lib/* meson.build \
    CMakeLists.txt Makefile tools/* packaging/*.in packaging/*/* | grep -vF "$version")
check "no other version" "$others"
for header in prof*.h prof.hpp; do
    grep -q "'$header'" meson.build && ok "meson.build: $header" || fail "meson.build: $header"
done

export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
if installed pkg-config; then
    [ "$(pkg-config --modversion prof)" = "$version" ] && ok "pkg-config: version" || fail "pkg-config: version"
    # unquoted: they are flags
    succeeds "pkg-config" ${CC:-cc} "$work/program/main.c" -o "$work/by_pkg-config" $(pkg-config --cflags --libs prof)
    runs "pkg-config: the program" "$work/by_pkg-config"
    check "pkg-config: headers only" "$(pkg-config --libs prof | grep -e -lprof)"
    succeeds "pkg-config: libprof" ${CC:-cc} "$work/program/linked.c" -o "$work/linked" \
        $(pkg-config --cflags --libs libprof) -Wl,-rpath,"$prefix/lib"
    runs "pkg-config: a program with libprof.so" "$work/linked"
fi
if installed cmake; then
    succeeds "cmake: find_package" cmake -S "$work/program" -B "$work/by_cmake" -DCMAKE_PREFIX_PATH="$prefix"
    succeeds "cmake: build" cmake --build "$work/by_cmake"
    runs "cmake: the program" "$work/by_cmake/program"
    runs "cmake: a program with libprof.so" "$work/by_cmake/linked"
    sed "s/find_package(prof $version/find_package(prof 9.0/" "$work/program/CMakeLists.txt" >"$work/later"
    mkdir "$work/later.d" && cp "$work/program/"*.c "$work/later.d" && mv "$work/later" "$work/later.d/CMakeLists.txt"
    if cmake -S "$work/later.d" -B "$work/by_cmake.later" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1; then
        fail "cmake: another version is refused"
    else
        ok "cmake: another version is refused"
    fi
fi

# As a subproject: a program in C++ with an implementation of its own, and one that links the library.
subproject() { # NAME LINES: of CMake that make the targets
    mkdir -p "$work/$1" && cp "$work/program/linked.c" "$work/$1" && cp "$work/program/main.c" "$work/$1/main.cpp"
    cat >"$work/$1/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.14)
project(program C CXX)
$2
add_executable(program main.cpp)
target_link_libraries(program prof::prof)
set_property(TARGET program PROPERTY CXX_STANDARD 11)
add_executable(linked linked.c)
target_link_libraries(linked prof::libprof)
install(TARGETS linked DESTINATION bin)
END
    succeeds "cmake: $1" cmake -S "$work/$1" -B "$work/$1/build" -DCMAKE_INSTALL_PREFIX="$work/$1/installed" $3
    succeeds "cmake: $1: build of what needs headers" cmake --build "$work/$1/build" --target program
    check "cmake: $1: no library" "$(find "$work/$1/build" -name libprof.a -o -name libprof.so)"
    succeeds "cmake: $1: build" cmake --build "$work/$1/build"
    for program in program linked; do
        runs "cmake: $1: $program" "$work/$1/build/$program"
    done
    succeeds "cmake: $1: install" cmake --install "$work/$1/build"
    found=$(cd "$work/$1/installed" && find . -type f)
    [ "$found" = ./bin/linked ] && ok "cmake: $1: installs nothing of prof" || fail "installed: $found"
}
if installed cmake; then
    succeeds "cmake: by itself" cmake -S "$root" -B "$work/by_itself"
    says "CMakeLists.txt" "$(grep CMAKE_PROJECT_VERSION: "$work/by_itself/CMakeCache.txt")"
    subproject add_subdirectory "add_subdirectory(\"$root\" prof)"
fi

if installed meson && installed ninja; then
    if installed pkg-config; then
        succeeds "meson: of the installation" meson setup "$work/by_meson" "$work/program" --wrap-mode=nofallback
        succeeds "meson: build" ninja -C "$work/by_meson"
        runs "meson: the program" "$work/by_meson/program"
    fi
    mkdir -p "$work/program/subprojects/prof"
    cp meson.build prof*.h prof.hpp "$work/program/subprojects/prof"
    succeeds "meson: as a subproject" env PKG_CONFIG_PATH= meson setup "$work/by_subproject" "$work/program"
    succeeds "meson: build of that" ninja -C "$work/by_subproject"
    runs "meson: the program of that" "$work/by_subproject/program"
fi

if git rev-parse HEAD >/dev/null 2>&1; then
    # Whoever packs it, and when: with the same git and gzip it is the same.
    succeeds "make dist" make -s dist BUILD="$work/first"
    (umask 077 && TZ=UTC+5 && LC_ALL=de_DE.UTF-8 && export TZ LC_ALL &&
        make -s dist BUILD="$work/second") >"$work/log" 2>&1
    succeeds "make dist: the same bytes twice" diff -r "$work/first/dist" "$work/second/dist"
    for archive in "prof-headers-$version" "prof-$version"; do
        succeeds "make dist: $archive" tar -xzf "$work/first/dist/$archive.tar.gz" -C "$work"
        tar --numeric-owner --full-time -tvzf "$work/first/dist/$archive.tar.gz" >"$work/log"
        [ "$(awk '{print $2, $4, $5}' "$work/log" | sort -u | wc -l)" = 1 ] && grep -q ' 0/0 ' "$work/log" &&
            ok "$archive: one owner, one time" || fail "$archive: one owner, one time"
        awk '{print $6}' "$work/log" | LC_ALL=C sort -c && ok "$archive: sorted" || fail "$archive: sorted"
    done
    found=$(cd "$work/prof-headers-$version" && echo *)
    [ "$found" = "$(echo LICENSE README.md prof.h* prof_*.h)" ] && ok "the headers alone" || fail "the headers alone" "$found"
    mkdir "$work/prof-headers-$version/examples" && cp examples/hello.c "$work/prof-headers-$version/examples"
    succeeds "an example with these" ${CC:-cc} "$work/prof-headers-$version/examples/hello.c" -o "$work/hello" \
        -pthread -ldl
    (cd "$work" && succeeds "it runs" ./hello && [ -s hello.json ]) && ok "it records" || fail "it records"
    [ ! -e "$work/prof-$version/.ci" ] && ok "without what is CI's" || fail "without what is CI's"
    succeeds "make demo in the archive of everything" make -s -C "$work/prof-$version" demo CFLAGS=-O0 BUILD=build
    if installed cmake; then
        subproject FetchContent "include(FetchContent)
FetchContent_Declare(prof URL \"file://$work/first/dist/prof-$version.tar.gz\")
FetchContent_MakeAvailable(prof)" -DBUILD_SHARED_LIBS=ON
    fi
else
    skip "make dist: not in a git checkout"
fi

: >"$prefix/include/not_ours.h"
succeeds "make uninstall" make -s uninstall BUILD="$build" DESTDIR= PREFIX="$prefix"
left=$(cd "$prefix" && find . ! -type d)
[ "$left" = ./include/not_ours.h ] && ok "nothing is left but what is not ours" || fail "left: $left"
[ ! -d "$prefix/lib/cmake/prof" ] && ok "nor a folder of ours" || fail "a folder of ours is left"

finish
