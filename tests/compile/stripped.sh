#!/bin/sh
# PROF_ENABLE=0 leaves nothing behind: the object file of a source with markup is, byte for byte, that of the same
# source without markup; control calls are constants that need no implementation; stripped and live files make
# one program; each example, compiled stripped, runs and ends well.
#
# usage: tests/compile/stripped.sh          compilers: CC_LIST, CXX_LIST ("gcc clang", "g++ clang++")
cd "$(dirname "$0")/../.." || exit 1
here=tests/compile
out=build/compile/stripped
rm -rf $out
mkdir -p $out
. tests/checks.sh


# The source without markup: every public macro, whatever its arguments, is nothing. A block stays a block.
sed -n 's/^#define \(PROFILE_[A-Z_]*\)(.*/\1/p' prof.h | sort -u >$out/macros
{
    echo '#include <stddef.h>'
    echo '#define PROF_ENABLE 0'
    sed 's/.*/#define &(...)/' $out/macros
} >$out/bare.h

# A macro that the source does not use is a macro that none of these checks has seen.
for macro in $(cat $out/macros); do
    grep -q "$macro(" $here/markup.c || echo "$macro"
done >$out/unused
if [ ! -s $out/macros ] || [ -s $out/unused ]; then
    fail "markup.c uses every public macro"
    sed 's/^/    not used: /' $out/unused
else
    ok "markup.c uses every public macro ($(wc -l <$out/macros))"
fi

WARNINGS="-Wall -Wextra -Wpedantic -Wconversion -Wshadow"

# The same of what other headers add: gpu.c includes these, and then this.
echo '#define PROF_ENABLE 0' >$out/bare_gpu.h
sed -n 's/^#define \(PROFILE_[A-Z_]*\)(.*/\1/p' prof_vulkan.h prof_gl.h prof_opencl.h | sort -u |
    sed 's/.*/#undef &\n#define &(...)/' >$out/nothing.h

identical() { # compiler language flags...
    same markup bare "$@"
}

same() { # source bare compiler language flags...
    source=$1 bare=$2 compiler=$3 language=$4
    shift 4
    name="same object: $source: $compiler $*"
    $compiler -x "$language" "$@" -I. -DPROF_ENABLE=0 -c $here/$source.c -o $out/stripped.o 2>$out/errors &&
        $compiler -x "$language" "$@" -I. -I$out -DMARKUP_BARE -include $out/$bare.h -c $here/$source.c -o $out/bare.o \
            2>>$out/errors
    if [ $? -ne 0 ]; then
        fail "$name: does not compile"
        head -20 $out/errors | sed 's/^/    /'
    elif cmp -s $out/stripped.o $out/bare.o; then
        ok "$name"
    else
        fail "$name: $(cmp $out/stripped.o $out/bare.o 2>&1)"
        nm $out/stripped.o >$out/stripped.nm
        nm $out/bare.o | diff $out/stripped.nm - | head -10 | sed 's/^/    /'
        objdump -s -j .rodata $out/stripped.o >$out/stripped.rodata 2>/dev/null
        objdump -s -j .rodata $out/bare.o 2>/dev/null | diff $out/stripped.rodata - | head -6 | sed 's/^/    /'
    fi
}

together() { # compiler language standard: a live and a stripped file in one program
    compiler=$1 language=$2 standard=$3
    name="one program: $compiler $standard"
    compile="$compiler -x $language -std=$standard -O1 $WARNINGS -I."
    silent "$name: live file" $compile -c $here/live.c -o $out/live.o || return
    silent "$name: stripped file" $compile -DPROF_ENABLE=0 -c $here/markup.c -o $out/markup.o || return
    silent "$name: program" $compile -DPROGRAM_STRIPPED -c $here/program.c -o $out/program.o || return
    silent "$name: links" $compiler $out/live.o $out/markup.o $out/program.o $out/implementation.o \
        -o $out/program -pthread || return
    silent "$name: only the live file records" env -u PROF_OUTPUT $out/program
}

for compiler in clang ${CC_LIST:-gcc}; do # one implementation, of the first that is there, for the programs of all
    $compiler --version >/dev/null 2>&1 || continue
    $compiler -std=gnu99 -O0 -I. -c $here/implementation.c -o $out/implementation.o
    break
done
for compiler in ${CC_LIST:-gcc clang}; do
    if ! $compiler --version >/dev/null 2>&1; then
        skip "$compiler" "not installed"
        continue
    fi
    for flags in -O0 -O1 -O2 -O3 -Os; do
        for standard in c99 gnu17; do identical $compiler c -std=$standard $flags; done
    done
    for flags in -O0 -O2; do same gpu bare_gpu $compiler c -std=c99 $flags; done
    silent "control calls: $compiler" $compiler -std=c99 $WARNINGS -I. -DPROF_ENABLE=0 -c $here/control.c -o $out/control.o
    silent "control calls: $compiler: no global symbol of prof" sh -c "! nm -g $out/control.o | grep -i prof"
    silent "control calls: $compiler: links without an implementation" $compiler $out/control.o -o $out/control
    silent "control calls: $compiler: all succeed, and find nothing" sh -c "test \$($out/control) = 0"
    together $compiler c c99
done
for compiler in ${CXX_LIST:-g++ clang++}; do
    if ! $compiler --version >/dev/null 2>&1; then
        skip "$compiler" "not installed"
        continue
    fi
    for flags in -O0 -O1 -O2 -O3 -Os; do
        for standard in c++11 c++20; do identical $compiler c++ -std=$standard $flags; done
    done
    for flags in -O0 -O2; do same gpu bare_gpu $compiler c++ -std=c++11 $flags; done
    silent "control calls: $compiler" $compiler -x c++ -std=c++11 $WARNINGS -I. -DPROF_ENABLE=0 -c $here/control.c \
        -o $out/control.o
    silent "control calls: $compiler: no global symbol of prof" sh -c "! nm -g $out/control.o | grep -i prof"
    silent "control calls: $compiler: links without an implementation" $compiler $out/control.o -o $out/control
    silent "control calls: $compiler: all succeed, and find nothing" sh -c "test \$($out/control) = 0"
    together $compiler c++ c++11
done

# Each example with the lines of its first comment. The server would wait for requests; others need an engine.
examples=$out/examples
mkdir -p $examples
ln -sfn "$PWD/examples" $examples/examples
stripped="-DPROF_ENABLE=0 -O0 $WARNINGS -Wno-misleading-indentation"
for file in hello.c game.c flight_recorder.c read_trace.c fibers.c device.c neuron.c server.c library/host.c engines/jobs.c \
    engines/watchdog.c engines/reload_host.c cpp.cpp coroutine.cpp vulkan/triangle.c cuda/pipeline.c gl.c opencl.c; do
    case $file in
    vulkan/*) [ -e /usr/share/vulkan/icd.d/lvp_icd.x86_64.json ] && [ -e /usr/include/vulkan/vulkan.h ] || continue ;;
    gl.c) [ -e /usr/share/glvnd/egl_vendor.d/50_mesa.json ] && [ -e /usr/include/EGL/egl.h ] || continue ;;
    opencl.c) [ -e /etc/OpenCL/vendors/pocl.icd ] && [ -e /usr/include/CL/cl.h ] || continue ;;
    coroutine.cpp) echo '#include <coroutine>' | ${CXX:-c++} -std=c++20 -fsyntax-only -x c++ - 2>/dev/null || continue ;;
    esac
    sed -n -e 's/^\/\/ *//' -e 's/^ *\(c[c+]* .* -o .*\)/\1/p' -e '/\*\/ *$/q' -e '/^#/q' examples/$file |
        sed -e "s/^cc /${CC:-cc} $stripped /" -e "s/^c++ /${CXX:-c++} $stripped /" -e 's/server 60$/server/' \
            -e '/fake_nrt/s/-DPROF_ENABLE=0//' >$examples/lines # the runtime is no part of the example
    if (cd $examples && timeout 120 env -u PROF_OUTPUT sh -e ./lines) >$examples/output 2>&1 </dev/null; then
        ok "examples/$file stripped ends well"
    else
        fail "examples/$file stripped ended with status $?"
        tail -5 $examples/output | sed 's/^/    /'
    fi
done

finish
