#!/bin/bash
# The recorder and the reader on other processors, in emulation (qemu-user): record on any, read on any.
#
#   - one of everything, recorded on each processor, in memory and in a .prof with an archive, is read on this machine;
#   - what was recorded on some others (tests/corpus) is read there;
#   - test programs are run there: record on all, more of the recorder on AArch64, and sessions, reader and images on
#     s390x, which is big-endian, and on i386, whose programs run on an x86-64 without emulation. Other processors of 64
#     bits differ from AArch64 in nothing that a reader sees. PROF_TEST_LONG=1: all of these on all, and the whole suite of
#     C on s390x, without what starts other programs, which emulation does not.
#
# usage: tests/cpus.sh [NAME...]     s390x armhf i386 riscv64 ppc64le mips64el aarch64
#        PROF_TEST_CORPUS=1          writes those of tests/corpus anew
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
unset PROF_OUTPUT PROF_TEST_FOREIGN
export PROF_TEST_QUICK=1
long=${PROF_TEST_LONG:-}
unset PROF_TEST_LONG

triple_of() {
    case $1 in
    s390x) echo s390x-linux-gnu qemu-s390x ;;
    armhf) echo arm-linux-gnueabihf qemu-arm ;;
    i386) echo i686-linux-gnu qemu-i386 ;;
    riscv64) echo riscv64-linux-gnu qemu-riscv64 ;;
    ppc64le) echo powerpc64le-linux-gnu qemu-ppc64le ;;
    mips64el) echo mips64el-linux-gnuabi64 qemu-mips64el ;;
    aarch64) echo aarch64-linux-gnu qemu-aarch64 ;;
    esac
}
names=$*
[ -n "$names" ] || names="s390x armhf i386 riscv64 ppc64le mips64el aarch64"

# Emulators are slow: fewer for those that are alike.
few="record foreign"
some="$few events objects locks clock merge"
wide="$some image sessions reader archive report"
whole=$(ls tests/test_*.c | sed 's,tests/test_\(.*\)\.c,\1,' |
    grep -vxE 'autostart|crash|crash_report|cuda|fork|kill|plugins|freestanding|neuron|ntff|server|malloc|hooks|stress|compare')

# What has nothing to do with the order of bytes or with the size of a pointer, and takes long in emulation.
slow="blocks_that_vanish_while_they_are_read|reads_that_fail_while_a_trace_is_made|many_threads_read_one_archive"
slow="$slow|archived_chunks_of_a_ring_that_turned|too_many_to_close|too_many_begins_open"
[ -z "$long" ] || slow=none
wanted() { # TEST: names of its tests, if some are left out
    [ -n "$here" ] || ! grep -qE "^TEST\(($slow)\)" "tests/test_$1.c" || sed -n 's/^TEST(\([a-z_0-9]*\)).*/\1/p' "tests/test_$1.c" | grep -vxE "$slow"
}

builds() { # COMPILER OBJECT ARGUMENTS...: compiles; says what is wrong, but not that static programs should not use some calls
    text=$("$@" 2>&1) && return 0
    echo "$text" | head -20
    return 1
}

in_python() { # NAME IMAGE: examples/read_trace.py reads it as prof does
    [ -x build/prof ] && command -v python3 >/dev/null || return
    silent "$1: prof reads it" build/prof export "$2" -o build/cpus/events.csv &&
        succeeds "$1: read in Python" python3 tests/format.py "$2" build/cpus/events.csv
}

files=
for name in $names; do
    set -- $(triple_of "$name")
    [ -n "$1" ] || { fail "$name: not known"; continue; }
    compiler=$1-gcc emulator=$2 build=build/cpus/$name
    command -v "$compiler" >/dev/null || { skip "$name: $compiler is not installed"; continue; }
    mkdir -p "$build/tests"
    echo 'int main(void) { return 0; }' >"$build/probe.c"
    "$compiler" -static "$build/probe.c" -o "$build/probe" -pthread >/dev/null 2>&1
    here=
    [ "$name" = i386 ] && "$build/probe" 2>/dev/null && here=yes emulator=env
    command -v "$emulator" >/dev/null || { skip "$name: $emulator is not installed"; continue; }
    if ! "$emulator" "$build/probe" 2>/dev/null; then
        skip "$name: makes no programs here that run"
        continue
    fi
    program=$build/foreign_program shared=$build/tests/implementation.o
    made() { # TARGET FLAGS
        builds make -s BUILD="$build" CC="$compiler" HAVE_CXX= CFLAGS="-O0 -Wno-misleading-indentation $2" LDFLAGS=-static "$1"
    }
    if made "$shared" -Werror && # for what compilers of 32 bits warn of
        builds "$compiler" -std=gnu99 -O0 -Wall -Wextra -I. -static tests/foreign_program.c "$shared" -o "$program" -pthread; then
        for kind in memory stream; do
            path=$build/$kind.prof
            rm -f "$path"
            if timeout 300 "$emulator" "$program" "$path" ${kind/memory/}; then
                files="$files $path"
                in_python "$name: $kind" "$path"
            else
                fail "$name: records into $kind"
            fi
        done
        [ "$PROF_TEST_CORPUS" = 1 ] && [ "$name" != aarch64 ] && cp "$build/memory.prof" "tests/corpus/$name"
    else
        fail "$name: foreign_program.c"
    fi
    case $name in
    s390x) tests=$wide ;;
    aarch64) tests=$some ;;
    armhf) tests=$few ;;
    *) tests=record ;;
    esac
    [ -z "$here" ] || tests="$wide args devices fibers memory notes"
    [ -n "$long" ] && [ -z "$here" ] && tests=$wide
    [ -n "$long" ] && [ "$name" = s390x ] && tests=$whole
    for test in $tests; do
        target=$build/tests/test_$test
        if ! made "$target"; then
            fail "$name: test_$test: is not compiled"
            continue
        fi
        timeout 300 "$emulator" "$target" $(wanted "$test") >"$target.log" 2>&1 </dev/null
        status=$?
        line=$(grep -aE '^[0-9]+ passed, [0-9]+ failed' "$target.log" | tail -n 1)
        if [ $status -eq 0 ] && [ -n "$line" ]; then
            ok "$name: test_$test: $line"
        else
            fail "$name: test_$test: ${line:-exit status $status}"
            grep -avE '^ok ' "$target.log" | head -20
        fi
    done
done

# All of it is read by this machine.
if [ -z "$files" ]; then
    skip "images of other processors: none was recorded"
elif ! builds make -s BUILD=build/cpus/here CFLAGS=-O0 build/cpus/here/tests/test_foreign; then
    fail "test_foreign: is not compiled"
elif PROF_TEST_FOREIGN=$files build/cpus/here/tests/test_foreign images_of_just_now >build/cpus/here/log 2>&1; then
    ok "read here:$(echo " $files" | sed 's,build/cpus/,,g')"
else
    fail "images of other processors"
    cat build/cpus/here/log
fi
finish
