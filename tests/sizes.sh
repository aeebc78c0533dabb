#!/bin/sh
# Compares the size of prof with tests/sizes.txt: bytes of code, of static memory, of each thread's memory. A budget is
# at most 3 % more than what was measured when it was set. A commit that raises a budget says why.
#
#   sh tests/sizes.sh             the test; PROF_TEST_LONG=1: prof_html.h at -O2 as well
#   sh tests/sizes.sh budgets     prints what tests/sizes.txt would be now
#   sh tests/sizes.sh switches    prints what each switch leaves of a program that records at -Os, for the table of the manual
#
# A switch that leaves out less than it did is seen without optimisation as well, and of clang, which needs a seventh of
# the time. The budgets for that are kept by tests/compile/left_out.sh, which compiles these programs anyway:
#
#   sh tests/sizes.sh switch PROF_NO_THREAD PROGRAM    says nothing, or what is wrong with the size of PROGRAM
#
# Compilers differ by more than 3 %: only the compiler that the budgets were measured with must keep them.
cd "$(dirname "$0")/.." || exit 1
LC_ALL=C
export LC_ALL
cc=${CC:-cc}
[ "$1" != switch ] || cc=${CC:-clang}
skip() {
    [ "$2" = switch ] && exit
    echo "SKIP sizes: $1"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}
macros=$(echo | $cc -dM -E - 2>/dev/null)
has() { echo "$macros" | grep -q "^#define $1 $2"; }
measured() { # those that the budgets were measured with
    if [ "$1" = switch ]; then has __clang_major__ 14; else has __GNUC__ 12 && ! has __clang__ 1; fi
}
if ! has __x86_64__ 1 || ! has __linux__ 1 || has __ILP32__ 1 || ! measured "$1"; then
    skip "the budgets are for gcc 12 on Linux, x86-64, and for clang 14" "$1"
fi
command -v size >/dev/null || skip "there is no size here" "$1"
text() { size "$1" | awk 'NR == 2 { print $1 }'; }
if [ "$1" = switch ]; then
    bytes=$(text "$3") budget=$(sed -n "s/^text of it with $2 -O0 *//p" tests/sizes.txt)
    [ "${bytes:-0}" -gt 0 ] || echo "$3 has no size"
    [ -n "$budget" ] || echo "$bytes bytes, and no budget in tests/sizes.txt"
    [ "${bytes:-0}" -le "${budget:-0}" ] || [ -z "$budget" ] || echo "$bytes bytes, of $budget"
    exit
fi
made=build/sizes
mkdir -p $made || exit 1

cat >$made/prof.c <<'END'
#define PROF_IMPLEMENTATION
#include "prof.h"
END
cat >$made/headers.c <<'END'
#define PROF_IMPLEMENTATION
#include "prof_chrome.h"
#include "prof_html.h"
#include "prof_report.h"
#include "prof_xplane.h"
#include "prof_ntff.h"
#include "prof_server.h"
END
cat >$made/html.c <<'END'
#define PROF_IMPLEMENTATION
#include "prof_html.h"
END
cat >$made/kernel.c <<'END'
#define PROF_FREESTANDING
#define PROF_CLOCK_READ() __builtin_ia32_rdtsc()
extern char cpu_state[];
#define PROF_CPU_STATE_SIZE 1024
#define PROF_CPU_STATE() ((void *)cpu_state)
#define PROF_IMPLEMENTATION
#include "prof.h"
END
sed 's/prof[.]h/prof_read.h/' $made/prof.c >$made/read.c
recorder=tests/compile/recorder.c
for n in 1 9; do
    {
        echo '#include "prof.h"'
        echo 'void work(int);'
        for i in $(seq $n); do echo "void f$i(void) { PROFILE_SCOPE(\"f$i\"); work($i); }"; done
    } >$made/scopes$n.c
    { # what they would be without scopes
        echo 'void work(int);'
        for i in $(seq $n); do echo "void f$i(void) { work($i); }"; done
    } >$made/plain$n.c
done
echo 'int main(void) { return 0; }' >$made/nothing.c
switches="PROF_MINIMAL PROF_NO_CRASH PROF_NO_TEXT PROF_NO_THREAD" # see tests/compile/left_out.sh
rm -f $made/*.o $made/recorder $made/recorder.PROF_* $made/nothing
# Without what some systems have their compilers do by themselves.
plain="-fPIE -fno-stack-protector -fno-stack-clash-protection -fcf-protection=none -U_FORTIFY_SOURCE"
build() { $cc -std=gnu99 -I. $plain "$@" || exit 1; }
[ "$1" = budgets ] && PROF_TEST_LONG=1
build -O2 -c $made/prof.c -o $made/prof.o
[ -z "$PROF_TEST_LONG" ] || build -O2 -c $made/html.c -o $made/html.o
{ # the strings of the page, by themselves: that of a program that runs is not used here
    echo '#include <stddef.h>'
    sed -n '/prof__html_page\[\]/,/NULL/p' prof_html.h | sed 's/^static //'
} >$made/page.c
build -O2 -c $made/page.c -o $made/page.o
build -O0 -c $made/headers.c -o $made/headers.o # for its static data, which no optimisation changes
apart="-Os -ffunction-sections -fdata-sections"
small() { build $apart -Wl,--gc-sections "$@" -pie -pthread -ldl; }
build $apart -DPROF_IMPLEMENTATION -c $recorder -o $made/recorder.o
small $made/recorder.o -o $made/recorder
if [ "$1" = switches ]; then
    for switch in $switches; do
        small -DPROF_IMPLEMENTATION -D$switch $recorder -o $made/recorder.$switch
        echo "$switch $(text $made/recorder.$switch)"
    done
    exit
fi
small -DPROF_IMPLEMENTATION -DPROF_MINIMAL $recorder -o $made/recorder.PROF_MINIMAL
small $made/nothing.c -o $made/nothing
build -O2 -c $made/read.c -o $made/read.o
build -Os -ffreestanding -c $made/kernel.c -o $made/kernel.o
for n in 1 9; do
    build -O2 -c $made/scopes$n.c -o $made/scopes$n.o
    build -O2 -c $made/plain$n.c -o $made/plain$n.o
done

part() { # FILE SECTIONS: bytes of the sections that begin like this
    size -A "$1" | awk -v like="^($2)" '$1 ~ like { bytes += $2 } END { print bytes + 0 }'
}
code() { part $made/$1.o '[.]text'; }
own() { # what prof adds to a program that does nothing
    echo $(($(part $made/recorder.PROF_MINIMAL "$1") - $(part $made/nothing "$1")))
}
{
    echo "text prof.h -O2                          $(text $made/prof.o)"
    if [ -n "$PROF_TEST_LONG" ]; then
        echo "text prof_html.h with its page -O2      $(($(text $made/html.o) - $(text $made/read.o)))"
        echo "text prof_html.h beside its page -O2    $(($(text $made/html.o) - $(text $made/page.o) - $(text $made/read.o)))"
    fi
    echo "text of the page of prof_html.h          $(text $made/page.o)"
    echo "code of prof_html.h -O0                  $(nm -S -t d $made/headers.o |
        awk '$3 ~ /[tT]/ && $4 ~ /^prof_+html_/ { bytes += $2 } END { print bytes + 0 }')"
    echo "text a program that records -Os          $(text $made/recorder)"
    echo "text of it with PROF_MINIMAL -Os         $(text $made/recorder.PROF_MINIMAL)"
    for switch in $switches; do
        if [ $switch = PROF_MINIMAL ]; then
            :
        elif [ "$1" = budgets ]; then
            cc=clang small -O0 -include prof_read.h -DPROF_IMPLEMENTATION -D$switch $recorder -o $made/recorder.$switch
            printf '%-42s %d\n' "text of it with $switch -O0" "$(text $made/recorder.$switch)"
        elif ! grep -q "^text of it with $switch -O0 " tests/sizes.txt; then
            echo "text of it with $switch -O0 0"
        fi
    done
    echo "code and constants with PROF_MINIMAL -Os  $(own '[.](text|rodata)')"
    echo "static data with PROF_MINIMAL            $(own '[.](data|bss)$')"
    echo "text prof.h and prof_read.h -O2          $(text $made/read.o)"
    echo "text freestanding -Os                    $(text $made/kernel.o)"
    echo "static data of prof.h                    $(part $made/prof.o '[.](data|bss)')"
    echo "static data of all headers               $(part $made/headers.o '[.](data|bss)')"
    echo "thread's data of prof.h                  $(part $made/prof.o '[.]t(data|bss)')"
    echo "thread's data of all headers             $(part $made/headers.o '[.]t(data|bss)')"
    echo "code of eight scopes -O2                 $(($(code scopes9) - $(code scopes1) - $(code plain9) + $(code plain1)))"
} >$made/now

if [ "$1" = budgets ]; then
    echo "# Bytes, gcc 12 on x86-64 Linux, of switches -O0 clang 14: 3 % more than what was measured. See tests/sizes.sh."
    awk '{ bytes = $NF; $NF = ""; sub(/ $/, ""); printf "%-40s %d\n", $0, int((bytes * 1.03 + 7) / 8) * 8 }' $made/now
    exit
fi
echo "$cc $($cc -dumpfullversion)"
awk -v long="$PROF_TEST_LONG" '
    /^#/ || !NF || (!long && /^text prof_html[.]h .* -O2/) { next }
    {
        bytes = $NF
        $NF = ""
        sub(/ +$/, "")
    }
    FILENAME ~ /sizes[.]txt$/ { budget[$0] = bytes; next }
    !($0 in budget) { printf "FAIL %s: %d bytes, and no budget in tests/sizes.txt\n", $0, bytes; failed++; next }
    { known[$0] = 1 }
    bytes > budget[$0] { printf "FAIL %s: %d bytes, of %d\n", $0, bytes, budget[$0]; failed++; next }
    { printf "ok   %s: %d bytes, of %d\n", $0, bytes, budget[$0]; passed++ }
    END {
        for (name in budget)
            if (!(name in known) && name !~ /^text of it with PROF_NO_.* -O0$/) { printf "FAIL %s: a budget for nothing\n", name; failed++ }
        printf "%d passed, %d failed, 0 skipped\n", passed, failed
        exit failed > 0
    }' tests/sizes.txt $made/now
