#!/bin/sh
# examples/kernel, for real: a kernel with two processors is built and booted in QEMU, for RISC-V, AArch64 and x86-64. It
# counts how often it passed each scope. Its recording leaves it in three ways: by semihosting (not on x86-64), through
# the serial port, and in a dump of its memory, in which prof recover finds it. Each must have every scope as often as the kernel says,
# by name and by track, nothing lost, and no begin without its end. A snapshot, and a dump that was taken while it
# recorded, must be readable.
#
# usage: tests/kernel.sh [PROCESSOR...]
cd "$(dirname "$0")/.." || exit 1
LC_ALL=C
export LC_ALL
out=$PWD/build/kernel_test
trap '' PIPE # an emulator that ends too early
. tests/checks.sh
there() { # COMMAND PACKAGE PROCESSOR
    command -v "$1" >/dev/null && return
    echo "SKIP kernel $3: $2: not installed"
    skipped=$((skipped + 1))
    return 1
}

# Waits until the kernel has said something, or the machine has ended, which its time limit sees to.
wait_for() { # WORDS
    until grep -aq "^kernel: $1" serial 2>/dev/null; do
        kill -0 "$machine" 2>/dev/null || return 1
        sleep 0.05
    done
}

machine() { timeout -k 5 "${PROF_TEST_SECONDS:-60}" $command -nodefaults -display none -serial file:serial "$@"; }

# Runs the kernel where it ca write files of the host; then it ends by itself.
boot_with_host() {
    rm -f serial ./*.prof
    machine -semihosting </dev/null >qemu.log 2>&1
}

# Runs it where it cannot, and has the memory saved twice: while the kernel records, as an ELF core file, and at the
# end, as it is, from ADDRESS on. The kernel stays.
boot_without() { # ADDRESS
    rm -f serial monitor ./*.dump
    mkfifo monitor || return 1
    machine -monitor stdio <monitor >qemu.log 2>&1 &
    machine=$!
    exec 3>monitor
    wait_for 'has a snapshot' && echo 'dump-guest-memory recording.dump' >&3
    wait_for 'done' && echo "pmemsave $1 0x1000000 end.dump" >&3
    echo quit >&3
    exec 3>&-
    wait $machine
}

# Prints what of the recording is not there as often as the kernel says. With "at-most", what is there more often.
compare() { # CSV SERIAL exactly|at-most
    awk -F, -v serial="$2" -v how="$3" '
        function look(kind, name, has, said) {
            if (has == said || (how == "at-most" && has < said)) return
            printf "%s %s: %d in the recording, %d by the kernel\n", kind, name, has, said
        }
        NR == 1 { next }
        $4 == "scope" {
            if ($6 == "sched") { row[$3]++ } else { scope[$5]++; track[$3]++ }
            if ($10 != "" && how != "at-most") print "incomplete: " $0
        }
        $4 == "counter" { counter[$5]++ }
        $4 == "lost" { print "lost: " $0 }
        END {
            while ((getline line < serial) > 0) {
                if (line !~ /^count: /) continue
                split(line, part, ": ")
                name = part[3]
                if (part[2] == "track") { # which may have ": " in their names
                    name = line
                    sub(/^count: track: /, "", name)
                    sub(/: [0-9]*$/, "", name)
                }
                number = line
                sub(/.*: /, "", number)
                if (part[2] == "scope") look("scope", name, scope[name], number + 0)
                if (part[2] == "counter") look("counter", name, counter[name], number + 0)
                if (part[2] == "track") { look("track", name, track[name], number + 0); delete track[name] }
                if (part[2] == "row") look("row", name, row["cpu " name ": tasks"], number + 0)
                if (number + 0 == 0) print "never: " line
                total++
            }
            for (name in track) print "a track that the kernel does not know: " name
            if (total < 40) print "no report of the kernel"
        }' "$1"
}

look() { # NAME PROF exactly|at-most
    build/prof check "$2" >"$2.txt" 2>&1 || [ "$3" = at-most ] || echo "prof check: exit status not 0" >>"$2.txt"
    build/prof export -o "$2.csv" "$2" >>"$2.txt" 2>&1 || echo "cannot be read" >>"$2.txt"
    [ "$3" = at-most ] || check "$1: nothing is missing" "$(grep -qx whole "$2.txt" || cat "$2.txt")"
    check "$1: $3 as often as the kernel says" \
        "$(grep 'cannot be read' "$2.txt"; compare "$2.csv" "$folder/serial" "$3")"
    check "$1: rows of tasks and processors" "$(for row in 'cpu 0: tasks' 'cpu 1: tasks' 'cpu 0: traps' 'cpu 1: traps' \
        'cpu 0: idle' 'cpu 1: idle' 'worker 0' 'worker 1' 'worker 2' 'worker 3' producer consumer parent 'child 00'; do
        grep -q "^[0-9]*,[0-9]*,$row," "$2.csv" || echo "no $row"
    done)"
}

# Takes the image out of a dump. The snapshot is in there, too; the image has more events.
recover() { # PROCESSOR DUMP
    rm -f "$folder/$2".prof "$folder/$2".*.prof
    build/prof recover "$folder/$2.dump" -o "$folder/$2.prof" >"$folder/$2.log" 2>&1
    check "$1: prof recover finds the image and the snapshot in the dump, $2" \
        "$(awk '/[1-9][0-9,]* events? on/ { n++ } END { exit n != 2 || NR != 2 }' "$folder/$2.log" ||
            cat "$folder/$2.log")"
    most=$(sed -n 's/^\([^:]*[.]prof\): .*, \([0-9,]*\) events* on .*/\2 \1/p' "$folder/$2.log" | tr -d , | sort -n |
        sed -n '$s/^[0-9]* //p')
    [ -z "$most" ] || [ "$most" = "$folder/$2.prof" ] || mv "$most" "$folder/$2.prof"
}

# Runs a command in the folder of the processor. The kernel should come to its end.
runs() { # NAME COMMAND...
    name=$1
    shift
    cd "$folder" || return
    "$@"
    cd "$here" || return
    check "$name: runs to its end" "$(grep -aq '^kernel: done' "$folder/serial" || {
        grep -av '^S' "$folder/serial"
        tail -n 5 "$folder/qemu.log"
    })"
    grep -aq '^kernel: done' "$folder/serial"
}

kernel() { # PROCESSOR ADDRESS
    folder=$out/$1 here=$PWD
    mkdir -p "$folder"
    text=$(make -s -C examples/kernel PROCESSOR="$1" BUILD="$out" 2>&1)
    check "$1: builds, without a warning" "$text"
    [ -f "$folder/kernel.elf" ] || return
    command=$(make -s -C examples/kernel PROCESSOR="$1" qemu)
    if [ "$1" != x86_64 ] && runs "$1, with a host" boot_with_host; then
        look "$1, by semihosting" "$folder/kernel.prof" exactly
        look "$1, a snapshot" "$folder/snapshot.prof" at-most
    fi
    runs "$1, without a host" boot_without "$2" || return
    check "$1: each round was preempted" \
        "$(awk -F': ' '$3 == "timer interrupt" && $4 < 600 { print "only " $4 " ticks" }' "$folder/serial")"
    grep -a '^S[37]' "$folder/serial" >"$folder/serial.srec"
    text=$(objcopy -I srec -O binary --gap-fill 0 "$folder/serial.srec" "$folder/serial.prof" 2>&1)
    check "$1: S-records" "$text"
    look "$1, by the serial port" "$folder/serial.prof" exactly
    for dump in end recording; do
        recover "$1" $dump
    done
    look "$1, from a dump at the end" "$folder/end.prof" exactly
    look "$1, from a dump while it recorded" "$folder/recording.prof" at-most
    [ $failed -gt 0 ] || rm -f "$folder"/*.dump "$folder"/*.csv
}

make -s build/prof >/dev/null 2>&1 || {
    fail "the tool" "make build/prof failed"
    set -- none
}
for processor in ${*:-riscv64 aarch64 x86_64}; do
    case $processor in
    riscv64) packages="gcc-riscv64-linux-gnu qemu-system-misc" address=0x80000000 ;;
    aarch64) packages="gcc-aarch64-linux-gnu qemu-system-arm" address=0x40000000 ;;
    x86_64) packages="gcc-x86-64-linux-gnu qemu-system-x86" address=0x100000 ;;
    *) continue ;;
    esac
    there "$processor-linux-gnu-gcc" "${packages% *}" "$processor" || continue
    there "qemu-system-$processor" "${packages#* }" "$processor" || continue
    there objcopy binutils "$processor" || continue
    kernel "$processor" "$address"
done
finish
