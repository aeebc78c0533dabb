#!/bin/sh
# examples/microcontroller, for real: built for Cortex-M4, for Cortex-M0, which has no atomic operations, and for RISC-V
# with 32 bits, and run in QEMU with 32 and 16 KiB of RAM. A short recording must have every scope and counter sample as
# often as the program says; a long one the newest of them, also in 2 KiB; one that is sent while it goes on all of them,
# out of a ring of 4 KiB. Its code and data stay below budgets. Without semihosting, rtt_probe.py takes all of a recording
# out of the memory of the running program.
#
# usage: tests/microcontroller.sh [PROCESSOR...]
cd "$(dirname "$0")/.." || exit 1
LC_ALL=C
export LC_ALL
out=$PWD/build/microcontroller_test
. tests/checks.sh
there() { # PROCESSOR TOOL PACKAGE
    command -v "$2" >/dev/null && return
    echo "SKIP microcontroller $1: $3: not installed"
    skipped=$((skipped + 1))
    return 1
}
make -s build/prof >/dev/null 2>&1
check "the tool builds" "$([ -x build/prof ] || echo 'make build/prof failed')"

# What a recorder adds: text, and data with bss, without the image, the states of main and interrupts, and prof_drain().
added() { # PROCESSOR NM
    $2 -S --size-sort "$out/$1/program.elf" | awk '
        function hex(text, value, i) {
            for (i = 1; i <= length(text); i++) value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
            return value
        }
        $4 ~ /^prof_(_drain|drain)/ { next }
        $4 ~ /^(prof_|__atomic_)/ { if ($3 ~ /[tTrR]/) text += hex($2); else data += hex($2) }
        END { print text + 0, data + 0 }'
}

calls() { # FILE NAME: how often the scope is in a recording
    build/prof summary "$1" | sed -n "s/^$2  *\([0-9,]*\) .*/\1/p" | tr -d ,
}

said() { # RECORDING WHAT: a number that the program has said
    sed -n "/^$1/,/^[a-z]/s/^  $2 //p" "$folder/said"
}

microcontroller() { # PROCESSOR TEXT DATA NM
    folder=$out/$1
    mkdir -p "$folder"
    check "$1: builds, without a warning" "$(make -s -C examples/microcontroller PROCESSOR="$1" BUILD="$out" 2>&1)"
    [ -f "$folder/program.elf" ] || return
    set -- "$1" "$2" "$3" $(added "$1" "$4")
    check "$1: $4 of $2 bytes of code, $5 of $3 of data" \
        "$([ "$4" -gt 4000 ] && [ "$4" -le "$2" ] && [ "$5" -gt 400 ] && [ "$5" -le "$3" ] || echo "more than that")"
    rm -f "$folder"/*.prof
    (cd "$folder" && timeout -k 5 "${PROF_TEST_SECONDS:-60}" $(make -s -C "$here/examples/microcontroller" PROCESSOR="$1" qemu) \
        -nodefaults -display none -semihosting </dev/null >said 2>&1)
    check "$1: runs to its end" "$(grep -qx 'done' "$folder/said" || cat "$folder/said")"
    check "$1: nothing is missing" "$(build/prof check "$folder/whole.prof" 2>&1 | grep -qx whole ||
        build/prof check "$folder/whole.prof" 2>&1)"
    for recording in whole stream; do
        for name in loop sample control; do
            check "$1, $recording: $name: as often as the program says" "$(
                [ "$(calls "$folder/$recording.prof" $name)" = "$(said $recording loops)" ] ||
                    build/prof summary "$folder/$recording.prof" 2>&1)"
        done
        check "$1, $recording: interrupts: as often as the program says" "$(
            [ "$(said $recording 'timer interrupts')" -gt 0 ] &&
                [ "$(calls "$folder/$recording.prof" 'timer interrupt')" = "$(said $recording 'timer interrupts')" ] ||
                build/prof summary "$folder/$recording.prof" 2>&1)"
    done
    check "$1: what is sent while it records is whole" "$(build/prof check "$folder/stream.prof" 2>&1 | grep -qx whole ||
        build/prof check "$folder/stream.prof" 2>&1)"
    check "$1: 2 KiB have the newest loops" "$(build/prof export -o "$folder/small.csv" "$folder/small.prof" 2>&1
        awk -F, '/,scope,/ { n++ } END { if (n < 10) print n + 0 " scopes" }' "$folder/small.csv")"
    check "$1: the ring has the newest loops" "$(build/prof export -o "$folder/newest.csv" "$folder/newest.prof" 2>&1
        awk -F, '/,filtered,/ { n++ } END { if (n < 15) print n + 0 " samples" }' "$folder/newest.csv"
        build/prof check "$folder/newest.prof" 2>&1 | grep -qE 'lost' && echo 'events were lost')"
}

# What a debug probe takes out of the memory of the running program, piece by piece, is a whole recording.
probe() { # PROCESSOR RAM SIZE
    there "$1, probe" python3 python3 || return
    folder=$out/$1-rtt
    check "$1, for a probe: builds, without a warning" \
        "$(make -s -C examples/microcontroller PROCESSOR="$1" RTT=1 BUILD="$out" 2>&1)"
    [ -f "$folder/program.elf" ] || return
    rm -f "$folder"/*.prof "$folder/said" "$folder/pieces"
    check "$1: a probe finds the control block in memory, and reads on to the end" "$(cd "$folder" &&
        python3 "$here/tests/rtt_probe.py" "$2" "$3" said pieces \
            $(make -s -C "$here/examples/microcontroller" PROCESSOR="$1" RTT=1 qemu) -nodefaults -display none 2>&1 |
        grep -v 'has no peer')"
    python3 examples/microcontroller/place.py "$folder/pieces" "$folder/probe.prof"
    check "$1: what the probe took is whole" "$(build/prof check "$folder/probe.prof" 2>&1 | grep -qx whole ||
        build/prof check "$folder/probe.prof" 2>&1)"
    for name in loop sample control 'timer interrupt'; do
        said=loops
        [ "$name" = 'timer interrupt' ] && said='timer interrupts'
        check "$1, probe: $name: as often as the program says" "$(
            [ "$(said rtt "$said")" -gt 0 ] 2>/dev/null &&
                [ "$(calls "$folder/probe.prof" "$name")" = "$(said rtt "$said")" ] ||
                build/prof summary "$folder/probe.prof" 2>&1)"
    done
}

here=$PWD
for processor in ${*:-cortex-m4 cortex-m0 riscv32}; do
    case $processor in
    cortex-*)
        there "$processor" arm-none-eabi-gcc gcc-arm-none-eabi && there "$processor" qemu-system-arm qemu-system-arm || continue
        microcontroller "$processor" 9216 800 arm-none-eabi-nm
        probe "$processor" 0x20000000 0x4000
        ;;
    riscv32)
        there "$processor" riscv64-linux-gnu-gcc gcc-riscv64-linux-gnu &&
            there "$processor" qemu-system-riscv32 qemu-system-misc || continue
        microcontroller "$processor" 9216 800 riscv64-linux-gnu-nm
        probe "$processor" 0x80100000 0x4000
        ;;
    esac
done
finish
