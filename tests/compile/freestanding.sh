#!/bin/sh
# The recorder without an operating system: freestanding_kernel.c compiles without a warning for every processor whose
# compiler is here, and needs nothing from outside but the compiler's own arithmetic (libgcc). test_freestanding.c
# tests what it records.
#
# usage: tests/compile/freestanding.sh     PROF_TEST_LONG=1: every compiler with every level of optimisation
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
    case $compiler in
    gcc) levels="-O0 -Os" ;; # test_freestanding.c has -O2
    g++) levels=-O0 ;; # no code of its own
    clang | aarch64-* | i686-*) levels=-O2 ;;
    *) levels=-Os ;;
    esac
    [ -z "$PROF_TEST_LONG" ] || levels="-O0 -O2 -O3 -Os"
    for flags in $levels; do
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

# Code that may not use floating-point registers, by the compiler's flags alone; and the smallest build.
cat >$out/integers.c <<'END'
#define PROF_FREESTANDING
#define PROF_MINIMAL
/* Names that prof's own functions might hide from these macros: with other types, so that it would not compile. */
struct program { uint64_t state[128], count; const char *text; };
extern struct program self, name, size, at, old, count, to, s;
#ifdef __cplusplus
extern "C"
#endif
void put_name(char *text, unsigned long room, const char *more);
#define PROF_CLOCK_READ() (self.count + s.count)
#define PROF_CPU_STATE_SIZE 1024
#define PROF_CPU_STATE() ((void *)(self.count ? self.state : s.state))
#define PROF_CPU_ID() (at.count + to.count)
#define PROF_CPU_NAME(into, room) put_name(into, room, size.count ? size.text : name.text)
#define PROF_INTERRUPTS_OFF() (old.count++)
#define PROF_INTERRUPTS_RESTORE(number) (old.count = (number))
#define PROF_MAY_WAIT() (self.count != s.count)
#ifdef SNAPSHOTS
#ifdef __cplusplus
extern "C" {
#endif
void *get_memory(unsigned long bytes);
void *memcpy(void *to, const void *from, __SIZE_TYPE__ size);
void *memset(void *to, int value, __SIZE_TYPE__ size);
int memcmp(const void *a, const void *b, __SIZE_TYPE__ size);
#ifdef __cplusplus
}
#endif
#define PROF_ALLOCATE(bytes) (size.count += count.count, get_memory(bytes))
#define PROF_RELEASE(memory) (at.text = (const char *)(memory))
#endif
#define PROF_IMPLEMENTATION
#include "prof.h"
void work(int n);
void work(int n)
{
    PROFILE_SCOPE("work");
    PROFILE_ARG_I("n", n);
    PROFILE_ARGS(PROF_ARG_U("n", (uint64_t)n));
    PROFILE_COUNTER("n", n);
    PROFILE_COUNTER_ADD("sum", n);
    PROFILE_LOG(PROF_LOG_INFO, "%d", n);
#ifdef REAL
    PROFILE_COUNTER("half", 0.5f);
#endif
}
END
sed -i '1i #include <stdint.h>' $out/integers.c
FLAGS="$FLAGS -Wno-shadow"
for compiler in "gcc -std=gnu99 -mno-sse -mgeneral-regs-only" "g++ -x c++ -std=c++11 -fno-exceptions -mno-sse -mgeneral-regs-only" \
    "clang -std=gnu99 -mno-sse -mgeneral-regs-only" "aarch64-linux-gnu-gcc -std=gnu99 -mgeneral-regs-only" \
    "riscv64-linux-gnu-gcc -std=gnu99 -march=rv64imac -mabi=lp64"; do
    command -v ${compiler%% *} >/dev/null 2>&1 || continue
    case $compiler in riscv64*) # needs headers of that kind
        echo '#include <stdint.h>' | $compiler -E -x c - >/dev/null 2>&1 || continue ;;
    esac
    text=$($compiler -O0 $FLAGS -c $out/integers.c -o $out/integers.o 2>&1) # which keeps what an optimiser might avoid
    for flags in -O0 -Os -O3 "-O2 -DSNAPSHOTS"; do # what the manual says that the compiler may call
        called='mem(cpy|set)$'
        case $flags in *SNAPSHOTS) called='mem(cpy|set|cmp)$|get_memory' ;; esac
        case $compiler in aarch64*) flags="$flags -mno-outline-atomics" ;; esac
        [ -z "$text" ] && text=$($compiler $flags $FLAGS -c $out/integers.c -o $out/called.o 2>&1) && [ -z "$text" ] &&
            text=$(nm -u $out/called.o | awk '{print $NF}' |
                grep -vE "^($called|(__u?(div|mod|divmod)[a-z]+[0-9]|self|name|size|at|old|count|to|s|put_name)$)" | sed "s/^/$flags: needs /")
    done
    if [ -z "$text" ] && [ -f $out/integers.o ]; then
        case $compiler in *++*) ;; *)
            $compiler $FLAGS -DREAL -fsyntax-only $out/integers.c 2>&1 | grep -q not_an_integer_see_PROF_NO_DOUBLE ||
                text="a floating-point counter compiles, or it is not said why not"
            grep -v CPU_STATE_SIZE $out/integers.c >$out/no_size.c
            $compiler $FLAGS -fsyntax-only $out/no_size.c 2>&1 | grep -q '#error.*needs.*and PROF_CPU_STATE_SIZE' ||
                text="it is not said that there is no PROF_CPU_STATE_SIZE" ;;
        esac
    fi
    if [ -z "$text" ] && [ -f $out/integers.o ]; then
        echo "ok   $compiler"
        passed=$((passed + 1))
    else
        echo "FAIL $compiler"
        echo "$text" | head -20 | sed 's/^/    /'
        failed=$((failed + 1))
    fi
    rm -f $out/integers.o
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
