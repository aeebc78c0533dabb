#!/bin/sh
# prof_gl.h and prof_opencl.h with what programs have beside them: the real headers, before and after, and loaders that
# turn names of OpenGL into macros. The examples compile, and record all that they do where there is a driver.
cd "$(dirname "$0")/../.." || exit 1
out=build/compile/gpu
rm -rf $out && mkdir -p $out || exit 1
. tests/checks.sh
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"

# A loader such as glad makes macros of the functions that it has found.
cat >$out/loader.h <<'END'
extern void (*loader_glGenQueries)(int count, unsigned *names);
#define glGenQueries loader_glGenQueries
#define glGetString(name) loader_glGetString(name)
#define glQueryCounter loader_glQueryCounter
#define GL_TIMESTAMP 0x8E28
#define GL_QUERY_RESULT 0x8866
#define GL_TRUE 1
#define GLAPI extern
#define GLAPIENTRY
#define APIENTRY
#define CL_API_CALL
#define CL_SUCCESS 0
END
beside() { # WHAT LINES: before and after, in C and C++
    printf '%s\n' "$2" >$out/probe.c
    ${CC:-cc} -I$out -fsyntax-only $out/probe.c 2>/dev/null || { skip "beside $1" "not installed" && return; }
    printf '%s\n' "$2" '#define PROF_IMPLEMENTATION' '#include "prof_gl.h"' '#include "prof_opencl.h"' >$out/after.c
    printf '%s\n' '#define PROF_IMPLEMENTATION' '#include "prof_gl.h"' '#include "prof_opencl.h"' "$2" >$out/before.c
    said=$(for file in before after; do
        ${CC:-cc} -std=gnu99 -I. -I$out $warnings -fsyntax-only $out/$file.c 2>&1
        ! command -v ${CXX:-c++} >/dev/null ||
            ${CXX:-c++} -std=c++11 -I. -I$out -Wall -Wextra -Werror -fsyntax-only -x c++ $out/$file.c 2>&1
    done | head -20)
    check "beside $1" "$said"
}
beside "GL/gl.h" '#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>'
beside "GLES3/gl32.h" '#include <EGL/egl.h>
#include <GLES3/gl32.h>
#define GL_GLEXT_PROTOTYPES
#include <GLES2/gl2ext.h>'
beside "CL/cl.h" '#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>'
beside "a loader with macros" '#include "loader.h"'

for example in gl opencl; do
    [ $example = gl ] && libraries="-lEGL -lGL" || libraries=-lOpenCL
    ${CC:-cc} -std=gnu99 -O0 $warnings examples/$example.c -o $out/$example $libraries -pthread -ldl 2>$out/errors || {
        grep -q 'fatal error\|cannot find' $out/errors && skip "examples/$example.c" "its headers are not installed" &&
            continue
        fail "examples/$example.c compiles"
        head -20 $out/errors
        continue
    }
    said=$(cd $out && ./$example 2>&1)
    case $?$said in
    *"has no context"* | *clGetPlatformIDs* | *clGetDeviceIDs*) skip "examples/$example.c runs" "there is no driver" ;;
    0*" 240 scopes of "* | 0*" 96 commands") ok "examples/$example.c records all" ;;
    *) fail "examples/$example.c" "$said" ;;
    esac
done
finish
