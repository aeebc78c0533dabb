#!/bin/sh
# Each module in src/ compiles alone: so it includes all that it uses, and editors and other tools understand it.
# tests/rooms.sh looks at what they include. Those of prof_mpi.h need MPI: tests/mpi.sh compiles them.
#
# usage: tests/test_modules.sh [c++]     in C, as `make test` has it; in C++
# run: traces unchecked
cd "$(dirname "$0")/.." || exit 1
[ -f src/prof.h ] || { echo "SKIP modules: there is no src/ here"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
work=${BUILD:-build}/tests/out/test_modules
rm -rf "$work" && mkdir -p "$work" || exit 1
. tests/checks.sh
flags="-Isrc -I. -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fsyntax-only -Wno-unused-function
    -Wno-unused-variable -Wno-unused-const-variable" # functions are for other modules
if ${CC:-cc} --version 2>/dev/null | grep -q clang; then flags="$flags -Wno-unneeded-internal-declaration"; fi

alone() { # LANGUAGE COMPILER STANDARD
    command -v "$2" >/dev/null || { skip "in $1" "no $2" && return; }
    said=$(cd src && ls */*.h | grep -v ^mpi/ | xargs -n 1 -P "${JOBS:-2}" sh -c '
        cd .. || exit 1
        printf "#include \"%s\"\nextern int prof_alone;\n" "$4" |
            $1 -x $2 -std=$3 '"$(echo $flags)"' - >"$0/$2.$$" 2>&1 || { echo "$4:"; head -n 8 "$0/$2.$$"; }
        rm -f "$0/$2.$$"' "$work" "$2" "$1" "$3" 2>&1)
    check "each module compiles alone in $1" "$said"
}
case $1 in
c++) alone c++ "${CXX:-c++}" c++11 ;;
*) alone c "${CC:-cc}" gnu99 ;;
esac
finish
