#!/bin/sh
# examples/microcontroller, for real: built for Cortex-M4 and Cortex-M0, which has no atomic operations, and run in QEMU
# with 32 and 16 KiB of RAM. A short recording must have every scope and counter sample as often as the program says;
# a long one the newest of them. Its code and data stay below budgets.
#
# usage: tests/microcontroller.sh [PROCESSOR...]
cd "$(dirname "$0")/.." || exit 1
LC_ALL=C
export LC_ALL
out=$PWD/build/microcontroller_test
passed=0 failed=0 skipped=0
check() { # NAME WHAT-IS-WRONG: nothing: passed
    if [ -z "$2" ]; then
        echo "ok   $1"
        passed=$((passed + 1))
    else
        echo "FAIL $1"
        printf '%s\n' "$2" | tail -n 40 | sed 's/^/    /'
        failed=$((failed + 1))
    fi
}
finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ $failed -eq 0 ]
    exit
}
for tool in arm-none-eabi-gcc:gcc-arm-none-eabi qemu-system-arm:qemu-system-arm; do
    command -v "${tool%:*}" >/dev/null && continue
    echo "SKIP microcontroller: ${tool#*:}: not installed"
    skipped=$((skipped + 1))
done
[ $skipped -eq 0 ] || finish
make -s build/prof >/dev/null 2>&1
check "the tool builds" "$([ -x build/prof ] || echo 'make build/prof failed')"

# What a recorder adds: text, and data with bss, without the image and the states of main and interrupts.
added() { # PROCESSOR
    arm-none-eabi-nm -S --size-sort "$out/$1/program.elf" | awk '
        function hex(text, value, i) {
            for (i = 1; i <= length(text); i++) value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
            return value
        }
        $4 ~ /^(prof_|__atomic_)/ { if ($3 ~ /[tTrR]/) text += hex($2); else data += hex($2) }
        END { print text + 0, data + 0 }'
}

calls() { # FILE NAME: how often the scope is in a recording
    build/prof summary "$1" | sed -n "s/^$2  *\([0-9,]*\) .*/\1/p" | tr -d ,
}

said() { # RECORDING WHAT: a number that the program has said
    sed -n "/^$1/,/^[a-z]/s/^  $2 //p" "$folder/said"
}

microcontroller() { # PROCESSOR TEXT DATA
    folder=$out/$1
    mkdir -p "$folder"
    check "$1: builds, without a warning" "$(make -s -C examples/microcontroller PROCESSOR="$1" BUILD="$out" 2>&1)"
    [ -f "$folder/program.elf" ] || return
    set -- "$1" "$2" "$3" $(added "$1")
    check "$1: $4 of $2 bytes of code, $5 of $3 of data" \
        "$([ "$4" -gt 4000 ] && [ "$4" -le "$2" ] && [ "$5" -gt 400 ] && [ "$5" -le "$3" ] || echo "more than that")"
    rm -f "$folder"/*.prof
    (cd "$folder" && timeout -k 5 "${PROF_TEST_SECONDS:-60}" $(make -s -C "$here/examples/microcontroller" PROCESSOR="$1" qemu) \
        -nodefaults -display none -semihosting </dev/null >said 2>&1)
    check "$1: runs to its end" "$(grep -qx 'done' "$folder/said" || cat "$folder/said")"
    check "$1: nothing is missing" "$(build/prof check "$folder/whole.prof" 2>&1 | grep -qx whole ||
        build/prof check "$folder/whole.prof" 2>&1)"
    for name in loop sample control; do
        check "$1: $name: as often as the program says" "$([ "$(calls "$folder/whole.prof" $name)" = "$(said whole loops)" ] ||
            build/prof summary "$folder/whole.prof" 2>&1)"
    done
    check "$1: interrupts: as often as the program says" "$(
        [ "$(said whole 'timer interrupts')" -gt 0 ] &&
            [ "$(calls "$folder/whole.prof" 'timer interrupt')" = "$(said whole 'timer interrupts')" ] ||
            build/prof summary "$folder/whole.prof" 2>&1)"
    check "$1: the ring has the newest loops" "$(build/prof export -o "$folder/newest.csv" "$folder/newest.prof" 2>&1
        awk -F, '/,filtered,/ { n++ } END { if (n < 20) print n + 0 " samples" }' "$folder/newest.csv"
        build/prof check "$folder/newest.prof" 2>&1 | grep -qE 'lost' && echo 'events were lost')"
}

here=$PWD
for processor in ${*:-cortex-m4 cortex-m0}; do
    case $processor in
    cortex-m4) microcontroller "$processor" 12000 2600 ;;
    cortex-m0) microcontroller "$processor" 13000 2600 ;;
    esac
done
finish
