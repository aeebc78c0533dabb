# Builds the examples in build/examples with the very lines that their first comments give, and with all warnings on;
# "run" as the first argument also runs what those lines run. CC, CXX, CFLAGS, CXXFLAGS and BUILD as in the Makefile.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
mkdir -p "${BUILD:-build}/examples"
cd "${BUILD:-build}/examples"
ln -sfn "$root/examples" examples

warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow'
compile_c() { ${CC:-cc} "$@" $warnings ${CFLAGS:-}; }
compile_cxx() { ${CXX:-c++} "$@" $warnings ${CXXFLAGS:-}; }

# The lines of the first comment that call a compiler.
build_lines() { sed -n -e 's/^\/\/ *//' -e 's/^ *\(c[c+]* .* -o .*\)/\1/p' -e '/\*\/ *$/q' -e '/^#/q' "$1"; }

for file in hello.c game.c flight_recorder.c read_trace.c fibers.c device.c neuron.c server.c library/host.c cpp.cpp coroutine.cpp vulkan/triangle.c cuda/pipeline.c training/training.c gl.c opencl.c; do
    case $file in
    coroutine.cpp) # where there are any
        echo '#include <coroutine>' | ${CXX:-c++} -std=c++20 -fsyntax-only -x c++ - 2>/dev/null || continue ;;
    vulkan/*) echo '#include <vulkan/vulkan.h>' | ${CC:-cc} -fsyntax-only -x c - 2>/dev/null || continue ;;
    gl.c) printf '#include <EGL/egl.h>\n#include <GL/glext.h>\n' | ${CC:-cc} -fsyntax-only -x c - 2>/dev/null || continue ;;
    opencl.c) echo '#include <CL/cl.h>' | ${CC:-cc} -fsyntax-only -x c - 2>/dev/null || continue ;;
    *.cpp) command -v ${CXX:-c++} >/dev/null || continue ;;
    esac
    lines=$(build_lines "examples/$file")
    [ "$lines" ] || { echo "examples/$file: no build line in its first comment" >&2; exit 1; }
    [ "${1:-}" = run ] || lines=$(echo "$lines" | sed 's/ && \.\/.*//')
    echo "$lines"
    eval "$(echo "$lines" | sed -e 's/^cc /compile_c /' -e 's/^c++ /compile_cxx /')"
done
