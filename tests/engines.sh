#!/bin/bash
# Tests what game engines do: the programs of examples/engines run, and their recordings have each scope as often as it
# ran; prof.h works in C++20 modules, unity builds and precompiled headers. CC, CXX as in the Makefile.
cd "$(dirname "$0")/.." || exit 1
root=$PWD out=$PWD/build/engines prof=$PWD/build/prof
rm -rf "$out"
mkdir -p "$out"
unset PROF_OUTPUT
passed=0 failed=0 skipped=0
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
cc="${CC:-cc} -std=gnu99 -O0 $warnings -Wno-misleading-indentation"
check() { # NAME COMMAND...
    name=$1
    shift
    if "$@" >"$out/said" 2>&1; then
        echo "ok   engines: $name"
        passed=$((passed + 1))
    else
        echo "FAIL engines: $name"
        tail -n 20 "$out/said"
        failed=$((failed + 1))
        return 1
    fi
}
skip() {
    echo "SKIP engines: $*"
    skipped=$((skipped + 1))
}
scopes() { # FILE "NAME COUNT"...: the summary has exactly so many calls of each
    [ "$table" = "$1" ] || "$prof" summary "$1" | tr -d , >"$out/table"
    table=$1
    shift
    for row; do
        grep -qE "^${row% *} +${row##* } " "$out/table" || { echo "not there: $row" && cat "$out/table" && return 1; }
    done
}
whole() { # FILE: nothing is lost
    "$prof" summary "$1" | grep -qx 'nothing lost'
}
says() { # FILE PATTERN
    grep -E "$2" "$1" || { cat "$1" && return 1; }
}
wait_until() { # COMMAND...: for 100 s
    for ((tries = 0; tries < 2000; tries++)); do
        "$@" && return
        sleep 0.05
    done
    return 1
}
check "the tool" make -s build/prof || exit 1
cd "$out" || exit 1
ln -s "$root/examples" examples

# ---- an overlay in SDL2. Its last figures are those of the whole run. The picture: letters, and bars of frames.

if ! sdl=$(sdl2-config --cflags --libs 2>/dev/null); then
    skip "overlay: no sdl2-config (libsdl2-dev)"
elif check "overlay_sdl.c compiles" $cc examples/engines/overlay_sdl.c -o overlay $sdl -pthread; then
    check "overlay_sdl.c compiles without a recorder" $cc -DPROF_ENABLE=0 examples/engines/overlay_sdl.c -o off $sdl &&
        check "the game runs without one" env SDL_VIDEODRIVER=dummy timeout 300 ./off 10
    check "the overlay runs" env SDL_VIDEODRIVER=dummy timeout 300 ./overlay 120 overlay.bmp overlay.prof && cp said overlay.txt
    check "its figures" says overlay.txt '^frames 120, memory 0.1250 MiB, allocations 120, lost 0$'
    for scope in collide move spawn draw 'draw overlay' present wait; do
        check "its figures: $scope" says overlay.txt "^$scope: 120 calls$"
    done
    check "its recording" scopes overlay.prof "collide 120" "present 120" "draw overlay 120" "frame 120"
    check "nothing of it is lost" whole overlay.prof
    check "its picture" python3 - overlay.bmp <<'END'
import struct, sys
data = open(sys.argv[1], 'rb').read()
start, = struct.unpack_from('<I', data, 10)
width, height, planes, bits = struct.unpack_from('<iiHH', data, 18)
count, rows = bits // 8, range(height - 1, -1, -1)
line = (width * count + 3) & ~3
def pixel(x, y):
    at = start + rows[y] * line + x * count
    return data[at + 2], data[at + 1], data[at]
panel = [pixel(x, y) for y in range(14, 220) for x in range(14, 400)]
letters = sum(min(p) > 200 for p in panel)
bars = sum(p[1] > p[0] + 40 for p in panel)
outside = sum(min(pixel(x, y)) > 200 for y in range(300, 540) for x in range(960))
print(letters, bars, outside)
sys.exit(not (width == 960 and letters > 1500 and bars > 500 and outside == 0))
END
fi

echo '#include "examples/engines/overlay.h"' >overlay.cpp
check "overlay.h in C++" ${CXX:-c++} -std=c++11 -fsyntax-only $warnings overlay.cpp
cp overlay.cpp overlay_alone.c
check "overlay.h in a file that calls none of it" $cc -fsyntax-only overlay_alone.c

# ---- hot reload: 24 versions of the game's code, each of which says how many frames it had

version() { # NUMBER FLAGS: builds it into a second file, and renames that
    ${CC:-cc} -std=gnu99 -O0 $warnings -fPIC -shared -DVERSION=$1 $2 examples/engines/reload_game.c -o next.so &&
        mv next.so game.so
}
lines() { [ "$(wc -l <reload.txt)" -ge "$1" ]; }
last=24
reload() {
    version 1
    timeout 600 ./reload_host game.so 0 reload.prof >reload.txt &
    host=$!
    for ((v = 2; v <= last; v++)); do
        version $v "$([ $v = $last ] && echo -DLAST)" && wait_until lines $((v - 1)) || return 1
    done
    wait $host
}
counts() { # the frames of each version, from what the host says
    frames=($(sed -n 's/^\([0-9]*\) frames$/\1/p' reload.txt))
    [ ${#frames[@]} = $last ] || return 1
    rows=() sum=0 odd=0
    for ((v = 1; v <= last; v++)); do
        rows+=("update $v ${frames[v - 1]}")
        [ $((v % 2)) = 1 ] || rows+=("slide $v ${frames[v - 1]}")
        [ $((v % 2)) = 0 ] || odd=$((odd + frames[v - 1]))
        sum=$((sum + frames[v - 1]))
    done
    scopes reload.prof "${rows[@]}" "move_ball $odd" "wait $sum" "reload $last" "dlclose $last" "version $sum" &&
        says reload.txt "^$sum in all, x is $sum$"
}
if check "reload_host.c compiles" $cc -rdynamic examples/engines/reload_host.c -o reload_host -pthread -ldl; then
    check "a library is replaced $((last - 1)) times" reload
    check "each version has its frames, and the state is kept" counts
    check "nothing of them is lost" whole reload.prof
fi

# ---- jobs on fibers, by our own switch and by ucontext

for switch in '' -DJOBS_UCONTEXT; do
    check "jobs.c $switch compiles" $cc $switch examples/engines/jobs.c -o jobs -pthread || continue
    moved() { # on a machine with one processor it may take some tries
        for try in 1 2 3 4 5 6 7 8; do
            timeout 300 ./jobs jobs.prof >jobs.txt || return 1
            grep -qE 'on [1-9][0-9]* times' jobs.txt || grep -E 'on [1-9][0-9]* time' jobs.txt && return
        done
        cat jobs.txt
        return 1
    }
    table=
    check "jobs $switch go on elsewhere" moved
    check "jobs $switch: each scope" scopes jobs.prof "play frame 100" "system_of_game 400" "part 3200" \
        "wait_for 500" "job 4101"
    check "jobs $switch: nothing is lost, or cut" sh -c "'$prof' check jobs.prof && ! '$prof' summary jobs.prof | grep unknown"
done

# ---- a watchdog: a slow frame, and one that hangs

if check "watchdog.c compiles" $cc examples/engines/watchdog.c -o watchdog -pthread; then
    check "the watchdog runs" timeout 300 ./watchdog && cp said watchdog.txt
    check "it says where the game hangs" says watchdog.txt \
        '^frame 80 hangs: > play_frame \(line [0-9]+\) > load_texture \(line [0-9]+\) > wait for the disk \(line [0-9]+\)$'
    check "what hung is in the file, for as long" \
        sh -c "'$prof' check hang-80.prof | grep -E '^ +wait for the disk +for (at least )?[4-9][0-9][0-9]\.|^ +wait for the disk +for (at least )?[0-9.]+ s'"
    check "it may have been saved, not only crashed" \
        sh -c "'$prof' check hang-80.prof | grep 'saved this while it ran' && '$prof' summary hang-80.prof | grep 'a save'"
    check "and all frames before" scopes hang-80.prof "play_frame 81"
    # on a busy machine it may not be the first, and takes longer
    check "the slow frame is in a file that says why" \
        sh -c "for each in slow-*.prof; do '$prof' summary \$each; done | grep -E 'save +frame (1[5-9][0-9]|[2-9][0-9][0-9])[.0-9]* ms > 100 ms'"
fi

# ---- C++20 modules: an interface with scopes inside, importers with the macros of a header or of a header unit

flags="-std=c++20 -Wall -Wextra -I$root"
cat >shapes.cppm <<'END'
module;
#define PROF_CATEGORY "shapes"
#include "prof.h"
export module shapes;
export int area(int width, int height);
int area(int width, int height)
{
    PROFILE_FUNCTION();
    PROFILE_ARG_I("width", width);
    return width * height;
}
export template <class T> T thrice(T x)
{
    PROFILE_SCOPE("thrice");
    return 3 * x;
}
#ifndef WITHOUT_INLINE // gcc 12 cannot import inline functions with a local enum: "Bad file data"
export inline int twice(int x)
{
    PROFILE_SCOPE("twice");
    return 2 * x;
}
#else
export int twice(int x);
int twice(int x)
{
    PROFILE_SCOPE("twice");
    return 2 * x;
}
#endif
END
cat >modules.cpp <<'END'
#include "prof.h"
import shapes;
int main()
{
    prof_config config = {};
    config.output = "modules.prof";
    if (prof_start(&config)) return 1;
    int sum = 0;
    for (int i = 0; i < 100; ++i) {
        PROFILE_SCOPE("main");
        sum += area(i, 2) + twice(i) + thrice(i) + static_cast<int>(thrice(1.5));
    }
    return prof_stop() != PROF_OK || sum == 0;
}
END
printf '#define PROF_IMPLEMENTATION\n#define PROF_MINIMAL\n#include "prof.h"\n' >implementation.c
modules() { # NAME: what it recorded
    table=
    check "$1: it runs" ./modules && check "$1: each scope" scopes modules.prof "main 100" "area 100" "twice 100" "thrice 200"
    rm -f modules.prof
}
gcc_modules() { # SOURCE: the interface, and a program that imports it
    g++ $flags -fmodules-ts -DWITHOUT_INLINE -x c++ -c "$1.cppm" -o shapes.o && g++ $flags -fmodules-ts -c "$2.cpp" -o modules.o &&
        g++ modules.o shapes.o implementation.o -o modules -pthread -ldl
}
check "an implementation in C" ${CC:-cc} -O0 -I"$root" -c implementation.c -o implementation.o
if ! echo 'export module a;' | g++ -std=c++20 -fmodules-ts -x c++ -c - -o needs.o 2>/dev/null; then
    skip "modules: no g++ -fmodules-ts"
else
    check "g++: a module" gcc_modules shapes modules && modules "g++: a module"
    sed 's/#include "prof.h"/import ".\/prof.h";/' modules.cpp >unit.cpp
    # the category comes after the macros: a header unit has its own
    sed -e '/^#define/d' -e 's/#include "prof.h"/import ".\/prof.h";\n#undef PROF_CATEGORY\n#define PROF_CATEGORY "shapes"/' shapes.cppm >unit.cppm
    cp "$root/prof.h" .
    check "g++: prof.h as a header unit" g++ $flags -fmodules-ts -x c++-header ./prof.h &&
        check "g++: a module of that" gcc_modules unit unit && modules "g++: a header unit"
    rm -f prof.h
fi
clang_modules() { # COMPILER
    $1 -std=c++20 -Wall -Wextra -I"$root" --precompile shapes.cppm -o shapes.pcm && $1 -std=c++20 -c shapes.pcm -o shapes.o &&
        $1 $flags -Wno-unknown-warning-option -fmodule-file$2=shapes.pcm -c modules.cpp -o modules.o &&
        $1 modules.o shapes.o implementation.o -o modules -pthread -ldl
}
for clang in clang++ clang++-16; do
    command -v $clang >/dev/null || { skip "modules: no $clang" && continue; }
    case $($clang -dumpversion) in 1[0-5].*) by= ;; *) by==shapes ;; esac
    check "$clang: a module" clang_modules $clang $by && modules "$clang: a module"
done

# ---- coroutines, as engines compile them

if echo '#include <coroutine>' | ${CXX:-c++} -std=c++20 -fsyntax-only -x c++ - 2>/dev/null; then
    check "coroutine.hpp without exceptions" ${CXX:-c++} -std=c++20 $warnings -fno-exceptions -fno-rtti -DPROF_ENABLE=0 \
        -fsyntax-only examples/coroutine.cpp
    check "scopes in coroutines: no warning" ${CXX:-c++} -std=c++20 $warnings -I"$root" -c "$root/tests/test_coroutine.cpp" -o /dev/null
else
    skip "coroutines: not known"
fi

# ---- unity builds: files with their own categories and equal names, lines and scopes, in one translation unit

for part in 1 2; do
    cat >part$part.c <<END
#undef PROF_CATEGORY
#define PROF_CATEGORY "part$part"
static void work$part(void)
{
    PROFILE_FUNCTION();
    { PROFILE_SCOPE("same name"); PROFILE_MARK("mark"); }
    PROFILE_STAGE("stage"); PROFILE_NEXT("next");
}
END
done
cat >unity.c <<'END'
#define PROF_IMPLEMENTATION
#define PROF_MINIMAL
#define PROF_CATEGORY "unity"
#include "prof.h"
#include "part1.c"
#include "part2.c"
#undef PROF_CATEGORY
#define PROF_CATEGORY "unity"
int main(void)
{
    prof_config config = {0};
    config.output = "unity.prof";
    if (prof_start(&config)) return 1;
    for (int i = 0; i < 10; ++i) {
        PROFILE_SCOPE("main");
        work1();
        work2();
        work2();
    }
    return prof_stop() != PROF_OK;
}
END
categories() { # each scope in its category
    "$prof" export unity.prof -o unity.csv || return 1
    awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i }
        { n[$at["name"] " " $at["category"]]++ }
        END { exit !(n["same name part1"] == 10 && n["same name part2"] == 20 && n["work1 part1"] == 10 &&
              n["work2 part2"] == 20 && n["stage part1"] == 10 && n["next part2"] == 20 && n["mark part2"] == 20 &&
              n["main unity"] == 10) }' unity.csv || { head unity.csv && return 1; }
}
for unique in '' -DPROF_UNIQUE=__LINE__; do
    check "unity build $unique" $cc -I"$root" $unique unity.c -o unity -pthread && check "unity build $unique runs" ./unity &&
        check "unity build $unique: scopes have their categories" categories
    rm -f unity.csv unity.prof
done

# ---- precompiled headers, also in the file with the implementation

cat >pch_main.c <<'END'
#include "pch.h"
int main(void)
{
    prof_config config = {0};
    config.output = "pch.prof";
    if (prof_start(&config)) return 1;
    for (int i = 0; i < 50; ++i) { PROFILE_SCOPE("of a precompiled header"); }
    return prof_stop() != PROF_OK;
}
END
printf '#include "pch.h"\n#define PROF_IMPLEMENTATION\n#define PROF_MINIMAL\n#include "prof.h"\n' >pch_implementation.c
pch() { # COMPILER LANGUAGE STANDARD SUFFIX FLAGS: an error if the precompiled header is not taken
    rm -f pch.h.gch pch.h.pch pch.prof
    echo '#include "prof.h"' >pch.h
    $1 -x $2-header $3 -I"$root" pch.h -o pch.h.$4 || return 1
    [ $4 = pch ] || echo '#error not precompiled' >pch.h # clang says so itself
    for file in pch_main pch_implementation; do
        $1 -x $2 $3 -I"$root" $5 -c $file.c -o $file.o || return 1
    done
    $1 pch_main.o pch_implementation.o -o pch -pthread -ldl && ./pch && table= && scopes pch.prof "of a precompiled header 50"
}
for language in c c++; do
    standard=-std=gnu99 compiler=gcc other=clang
    [ $language = c ] || standard=-std=c++17 compiler=g++ other=clang++
    check "$compiler: a precompiled header" pch $compiler $language $standard gch -Winvalid-pch
    command -v $other >/dev/null || { skip "precompiled header: no $other" && continue; }
    check "$other: a precompiled header" pch $other $language $standard pch "-include-pch pch.h.pch"
done

# ---- the extension for Godot, in a host that does what Godot does with it; GODOT_HEADERS is where Godot's header is

cat >godot_host.c <<'END'
#include <dlfcn.h>
#include <gdextension_interface.h>
#include <string.h>
static GDExtensionMainLoopCallbacks loop;
static void take(GDExtensionClassLibraryPtr library, const GDExtensionMainLoopCallbacks *callbacks)
{
    (void)library;
    loop = *callbacks;
}
static GDExtensionInterfaceFunctionPtr find(const char *name)
{
    return strcmp(name, "register_main_loop_callbacks") ? NULL : (GDExtensionInterfaceFunctionPtr)take;
}
int main(void)
{
    GDExtensionInitialization extension = {0};
    void *library = dlopen("./libprof_godot.so", RTLD_NOW), *symbol = library ? dlsym(library, "prof_godot_init") : NULL;
    GDExtensionInitializationFunction init;
    memcpy(&init, &symbol, sizeof symbol);
    if (!symbol || !init(find, NULL, &extension)) return 1;
    for (int level = 0; level <= 3; ++level) extension.initialize(NULL, (GDExtensionInitializationLevel)level);
    loop.startup_func();
    for (int i = 0; i < 61; ++i) loop.frame_func();
    loop.shutdown_func();
    for (int level = 3; level >= 0; --level) extension.deinitialize(NULL, (GDExtensionInitializationLevel)level);
    return 0;
}
END
if ! [ -f "${GODOT_HEADERS:-/usr/include}/gdextension_interface.h" ]; then
    skip "godot: no gdextension_interface.h, set GODOT_HEADERS to its folder"
else
    check "godot.c compiles" ${CC:-cc} -std=gnu99 -O0 -Wall -Wextra -Wno-misleading-indentation -fPIC -shared \
        -isystem "${GODOT_HEADERS:-/usr/include}" examples/engines/godot.c -o libprof_godot.so -pthread &&
        check "a host for it" ${CC:-cc} -isystem "${GODOT_HEADERS:-/usr/include}" godot_host.c -o godot_host -ldl &&
        check "godot: it runs" ./godot_host && check "godot: its frames" test "$(grep -o '"name":"frame"' godot.json | wc -l)" = 60
fi

# ---- the plugin for Unity, in a host that does what Unity does with it; UNITY_HEADERS is where Unity's headers are

cat >unity_host.c <<'END'
#include <dlfcn.h>
#include <string.h>
static void *library;
static void *find(const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol;
}
int main(void)
{
    void (*load)(void *), (*unload)(void), (*begin)(void *), (*end)(void *), (*frame)(void), (*set)(void *, double);
    void *(*name)(const char *), *(*counter)(const char *);
    library = dlopen("./libprof_unity.so", RTLD_NOW);
    if (!library || !find("UnityPluginLoad", &load) || !find("UnityPluginUnload", &unload)) return 1;
    if (!find("prof_unity_begin", &begin) || !find("prof_unity_end", &end) || !find("prof_unity_name", &name)) return 2;
    if (!find("prof_unity_frame", &frame)) return 3;
    if (!find("prof_unity_counter", &counter) || !find("prof_unity_set", &set)) return 4;
    load(NULL);
    void *update = name("Update"), *bodies = counter("bodies");
    for (int i = 0; i < 61; ++i) {
        frame();
        begin(update);
        set(bodies, i);
        end(update);
    }
    unload();
    return 0;
}
END
unity=${UNITY_HEADERS:-/usr/include}
if ! [ -f "$unity/IUnityInterface.h" ]; then
    skip "unity: no IUnityInterface.h, set UNITY_HEADERS to its folder"
else
    check "unity.c compiles" ${CC:-cc} -std=gnu99 -O0 -Wall -Wextra -Wno-misleading-indentation -fPIC -shared \
        -isystem "$unity" examples/engines/unity.c -o libprof_unity.so -pthread &&
        check "a host for it" ${CC:-cc} unity_host.c -o unity_host -ldl &&
        check "unity: it runs" ./unity_host &&
        check "unity: its frames" test "$(grep -o '"name":"frame"' unity.json | wc -l)" = 60 &&
        check "unity: its scopes" test "$(grep -o '"name":"Update"' unity.json | wc -l)" = 61
fi

# ---- the module for Unreal, with stand-ins for what it takes of Unreal: whether the real ones fit is not known

mkdir -p unreal/Misc unreal/Modules
cat >unreal/CoreMinimal.h <<'END'
#define TEXT(x) L##x
#define check(expression) { if (!(expression)) __builtin_trap(); }
#define UE_LOG(category, severity, format, ...) (void)(L"" format), (void)(__VA_ARGS__)
#define PI 3.1415926f
#define UPROPERTY(...)
#define FORCEINLINE inline __attribute__((always_inline))
END
cat >unreal/Misc/CoreDelegates.h <<'END'
#include <functional>
struct FDelegateHandle { bool valid; };
struct FCoreDelegates {
    struct Event {
        std::function<void()> function;
        template <typename Function> FDelegateHandle AddLambda(Function given) { function = given; return {true}; }
        void Remove(FDelegateHandle handle) { if (handle.valid) function = nullptr; }
    };
    static Event OnEndFrame;
};
END
cat >unreal/Modules/ModuleManager.h <<'END'
struct IModuleInterface {
    virtual ~IModuleInterface() {}
    virtual void StartupModule() {}
    virtual void ShutdownModule() {}
};
#define IMPLEMENT_MODULE(type, name) IModuleInterface *make_module_##name() { return new type; }
END
cat >unreal_host.cpp <<'END'
#include "examples/engines/unreal.cpp"
FCoreDelegates::Event FCoreDelegates::OnEndFrame;
int main()
{
    IModuleInterface *module = make_module_Prof();
    module->StartupModule();
    for (int i = 0; i < 61; ++i) FCoreDelegates::OnEndFrame.function();
    module->ShutdownModule();
    delete module;
    return FCoreDelegates::OnEndFrame.function ? 1 : 0;
}
END
if ! command -v "${CXX:-c++}" >/dev/null; then
    skip "unreal: no C++ compiler"
else
    check "unreal.cpp compiles with stand-ins" ${CXX:-c++} -std=c++20 -O0 -fno-exceptions -fno-rtti -Wall -Wextra \
        -Wshadow -Wno-misleading-indentation -I. -I"$root" -isystem unreal unreal_host.cpp -o unreal_host -pthread &&
        check "unreal: it runs" ./unreal_host &&
        check "unreal: its frames" test "$(grep -o '"name":"frame"' unreal.json | wc -l)" = 60
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
