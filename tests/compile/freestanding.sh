#!/bin/sh
# The recorder without an operating system: freestanding_kernel.c compiles without a warning for every processor whose
# compiler is here, and needs nothing from outside but the compiler's own arithmetic (libgcc). What it records is the
# business of test_freestanding.c.
#
# usage: tests/compile/freestanding.sh
cd "$(dirname "$0")/../.." || exit 1
out=build/compile/freestanding
rm -rf $out
mkdir -p $out
passed=0 failed=0 skipped=0
FLAGS="-ffreestanding -nostdlib -fno-stack-protector -fno-pic -Wall -Wextra -Wpedantic -Wconversion -Wshadow -I."
ARITHMETIC='(__aarch64_(cas|swp|ldadd)[0-9]+_[a-z_]+|__aeabi_[a-z0-9]+|__u?(div|mod|divmod)[a-z]+[0-9])$'

for compiler in gcc clang g++ aarch64-linux-gnu-gcc arm-linux-gnueabihf-gcc riscv64-linux-gnu-gcc i686-linux-gnu-gcc; do
    if ! command -v $compiler >/dev/null 2>&1; then
        echo "SKIP $compiler: not installed"
        skipped=$((skipped + 1))
        continue
    fi
    for flags in "-O0" "-O2" "-O3" "-Os"; do
        case $compiler in
        *++) flags="-x c++ -std=c++11 -fno-exceptions -fno-rtti $flags" ;;
        *) flags="-std=gnu99 $flags" ;;
        esac
        text=$($compiler $flags $FLAGS -c tests/freestanding_kernel.c -o $out/kernel.o 2>&1) && [ -z "$text" ] &&
            text=$(nm -u $out/kernel.o | awk '{print "needs " $NF}' | grep -Ev "needs $ARITHMETIC")
        if [ -z "$text" ] && [ -f $out/kernel.o ]; then
            echo "ok   $compiler $flags"
            passed=$((passed + 1))
        else
            echo "FAIL $compiler $flags"
            echo "$text" | head -20 | sed 's/^/    /'
            failed=$((failed + 1))
        fi
        rm -f $out/kernel.o
    done
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
