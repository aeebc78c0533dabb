#!/bin/sh
# The recorder in the Linux kernel, for real: examples/linux_module is built by kbuild, without a warning, and loaded into
# a kernel of Debian's in QEMU, with two processors, once as it is and once preemptible. A second module records in
# tasks, softirqs, hardirqs, a kprobe and NMIs and says how often; the images are read here: nothing may be lost, no begin
# without its end, and each scope must be there as often as it was passed. So must the scopes of a program that ran there.
#
# A buffer that the machine has no memory for must be refused, and one of more than half of its memory be read.
#
# usage: tests/linux_module.sh [PROCESSORS[,OPTION]...]    4,preempt=full. PROF_TEST_KVM=1: with KVM, where it works
#                                                    PROF_TEST_RT=1: Debian's kernel with PREEMPT_RT
#
# As root it installs what is missing; without, or without a network, it says what it skips.
cd "$(dirname "$0")/.." || exit 1
LC_ALL=C
export LC_ALL
out=$PWD/build/linux_module
. tests/checks.sh
end() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ $failed -eq 0 ]
    exit
}
skip() {
    echo "SKIP linux module: $1"
    skipped=$((skipped + 1))
    end
}

# ---- what it needs
case $(uname -m)-$(. /etc/os-release 2>/dev/null && echo "$ID") in
x86_64-debian) ;;
*) skip "the kernel is Debian's for x86-64" ;;
esac
apt() {
    [ "$(id -u)" = 0 ] || return
    DEBIAN_FRONTEND=noninteractive apt-get -y -qq -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 \
        -o DPkg::Options::=--force-unsafe-io "$@" >/dev/null 2>&1
}
need() { # COMMAND PACKAGE
    command -v "$1" >/dev/null || apt install --no-install-recommends "$2"
    command -v "$1" >/dev/null || skip "$2: not installed"
}
rt=
[ -z "$PROF_TEST_RT" ] || rt=-rt
headers() { ls -d /usr/src/linux-headers-*[0-9]$rt-amd64 2>/dev/null | sort -V | tail -n 1; }
need qemu-system-x86_64 qemu-system-x86
need cpio cpio
need xz xz-utils
busybox=/bin/busybox
[ -x $busybox ] || apt install --no-install-recommends busybox-static
file -L $busybox 2>/dev/null | grep -q dynamic && skip "busybox-static: another busybox is installed"
[ -x $busybox ] || skip "busybox-static: not installed"
[ -n "$(headers)" ] || apt install --no-install-recommends linux-headers$rt-amd64
kernel=$(headers)
[ -n "$kernel" ] || skip "linux-headers$rt-amd64: not installed"
version=${kernel#/usr/src/linux-headers-}
case $version in
6.1.*) ;;
*) skip "Linux $version: only 6.1 was tried" ;;
esac
mkdir -p "$out" || exit 1
# The kernel itself need not be installed, which would make an initial RAM disk for this machine.
root=
if ! [ -f "/boot/vmlinuz-$version" ]; then
    root=$out/image$rt
    if ! [ -f "$root/boot/vmlinuz-$version" ]; then
        rm -rf "$root"
        mkdir -p "$root"
        (cd "$out" && apt-get -qq download "linux-image-$version" >/dev/null 2>&1 &&
            dpkg-deb -x linux-image-*.deb "$root" && rm -f linux-image-*.deb)
    fi
    [ -f "$root/boot/vmlinuz-$version" ] || skip "linux-image-$version: cannot be downloaded"
fi

# ---- the modules
work=$out/module
rm -rf "$work"
mkdir -p "$work"
cp examples/linux_module/*.[ch] examples/linux_module/Makefile examples/linux_module/Kbuild prof.h "$work/" || exit 1
text=$( (ulimit -v 4000000; make -C "$work" KERNEL="$kernel") 2>&1)
status=$?
check "kbuild, W=1, -Werror" "$([ $status = 0 ] || echo "$text")"
[ $status = 0 ] || end
text=$(printf '%s\n' "$text" | grep -iE 'warning|objtool')
check "no warning, of objtool neither" "$text"
part() { size -A "$work/$1" | awk -v like="^($2)" '$1 ~ like { bytes += $2 } END { print bytes + 0 }'; }
code=$(part recorder.o '[.](text|rodata)') static=$(part recorder.o '[.](data|bss)')
echo "     recorder.o: $code bytes of code and constants, $static of static data"
# 26,533 bytes with gcc 12.2 and Linux 6.1.0; 3 % more, because headers of the kernel change.
check "small" "$([ "$code" -le 27300 ] && [ "$static" -le 4096 ] || echo "at most 27300 and 4096 bytes, not $code and $static")"
check "call sites have a section of their own" "$([ "$(part prof_workload.ko prof_sites)" -ge 480 ] ||
    size -A "$work/prof_workload.ko")"

# ---- a module in another folder, as docs/guide/kernels.md says, with every macro of which the kernel has all that it needs
mkdir -p "$work/elsewhere"
awk '/^### A module elsewhere/ { in_it = 1 } /^```/ { code = !code; next } in_it && code { print } /^\*\*Any context/ { exit }' docs/guide/kernels.md |
    sed "s,/src/prof/examples/linux_module,$work,g; s,/src/prof,$work,g" >"$work/elsewhere/page"
grep -v '^make' "$work/elsewhere/page" >"$work/elsewhere/Kbuild"
{
    echo '#include "prof_linux_kernel.h"'
    echo '#include <linux/module.h>'
    echo 'static int __init marked_load(void) { int handle = 1; char *text = "text"; uint64_t id = prof_flow_new(); void *at = text; {'
    echo 'PROFILE_SCOPE_AS(scope, "scope"); PROFILE_ARG_TO_I(scope, "key", handle); PROFILE_FUNCTION(); PROFILE_STAGE("stage"); PROFILE_NEXT("next");'
    echo 'PROFILE_ARG("key", handle); PROFILE_ARG_S("key", text); PROFILE_ARG_B("key", 1); PROFILE_ARG_P("key", at); PROFILE_ARG_U("key", id);'
    echo 'PROFILE_ARGS(PROF_ARG_I("key", handle)); PROFILE_SCOPE_DYNAMIC(text); PROFILE_SCOPE_F("%d", handle); PROFILE_SCOPE_SYNC("synced"); PROFILE_SYNC();'
    echo 'PROFILE_BEGIN("begun"); PROFILE_END("begun"); PROFILE_COUNTER("counter", handle); PROFILE_COUNTER("unsigned", id); PROFILE_COUNTER_ADD("unsigned sum", id); PROFILE_COUNTER_ADD("sum", 1); PROFILE_COUNTER_SUB("sum", 1);'
    echo 'PROFILE_COUNTER_SET("sum", 1); PROFILE_MARK("mark"); PROFILE_MARK_DYNAMIC(text); PROFILE_ARG_TEXT("key", text, 2); PROFILE_MARK_F("%d", handle); PROFILE_MARK_ARGS("mark", PROF_ARG_I("key", 1));'
    echo 'PROFILE_FRAME("frame"); PROFILE_STEP("step", handle); PROFILE_STEP_DYNAMIC(text, 2); PROFILE_THROUGHPUT("moved", 8); PROFILE_THROUGHPUT_DYNAMIC(text, 8);'
    echo 'PROFILE_FLOW_OUT(id); PROFILE_FLOW_STEP(id); PROFILE_FLOW_IN(id); PROFILE_SPAN_BEGIN("span", id); PROFILE_SPAN_MARK("span", id); PROFILE_SPAN_END("span", id);'
    echo 'PROFILE_LOCK_WAIT(at, "lock"); PROFILE_LOCK_ACQUIRE(at, "lock"); PROFILE_LOCK_RELEASE(at, "lock"); PROFILE_MEMORY_SCOPE("memory");'
    echo 'PROFILE_ALLOC(at, 8); PROFILE_REALLOC(at, at, 9); PROFILE_FREE(at); PROFILE_LOG(PROF_LOG_INFO, "%d", handle); PROFILE_THREAD(text);'
    echo '} return 0; } static void __exit marked_unload(void) {} module_init(marked_load); module_exit(marked_unload); MODULE_LICENSE("Dual MIT/GPL");'
} >"$work/elsewhere/my_module.c"
text=$(cd "$work/elsewhere" && KERNEL=$kernel sh -c "$(grep '^make' page)" 2>&1)
check "a module elsewhere" "$([ -f "$work/elsewhere/my_module.ko" ] && ! echo "$text" | grep -E 'undefined|WARNING|warning:|error:' || echo "$text")"

# ---- a program of the same machine, and the tool
make -s build/prof >/dev/null 2>&1 || {
    fail "the tool" "make build/prof failed"
    end
}
cat >"$out/program.c" <<'END'
#define PROF_IMPLEMENTATION
#define PROF_MINIMAL
#include "prof.h"
#include <unistd.h>
int main(void)
{
    prof_config config = {0};
    config.output = "/program.prof";
    config.buffer_size = 1 << 20;
    if (prof_start(&config)) return 1;
    for (int i = 0; i < 20; ++i) {
        PROFILE_SCOPE("in a program");
        usleep(10000);
    }
    return (int)prof_stop();
}
END
${CC:-cc} -std=gnu99 -O1 -static -I. "$out/program.c" -o "$out/program" -pthread 2>"$out/program.log" || rm -f "$out/program"

# ---- the machine
disk=$(cd "$root/lib/modules/$version" && find . -name 'virtio_blk.ko*' -o -name 'virtio.ko*' -o -name 'virtio_ring.ko*' \
    -o -name 'virtio_pci.ko*' -o -name 'virtio_pci_modern_dev.ko*' -o -name 'virtio_pci_legacy_dev.ko*')
rm -rf "$out/ram"
mkdir -p "$out/ram/bin" "$out/ram/proc" "$out/ram/sys" "$out/ram/dev"
cp $busybox "$out/ram/bin/"
[ ! -f "$out/program" ] || cp "$out/program" "$out/ram/"
for module in $disk; do
    to=$out/ram/$(basename "$module")
    cp "$root/lib/modules/$version/$module" "$to"
    case $to in *.xz) xz -d "$to" ;; *.gz) gzip -d "$to" ;; esac
done
for module in prof_recorder prof_workload; do strip -g "$work/$module.ko" -o "$out/ram/$module.ko"; done
cat >"$out/ram/init" <<'END'
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t debugfs none /sys/kernel/debug
prof=/sys/kernel/debug/prof
say() { echo "prof-test: $*"; }
for i in virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk; do
    [ ! -f /$i.ko ] || insmod /$i.ko
done
[ -b /dev/vda ] || say "no disk"
insmod /prof_recorder.ko || say "no recorder"
echo "stop" >$prof/control 2>/dev/null && say "stopped what was not started"
echo "start what=ever" >$prof/control 2>/dev/null && say "started with a wrong word"
echo "start buffer=16MB" >$prof/control 2>/dev/null && say "started with a wrong size"
printf "start %300s" "what=ever" >$prof/control 2>/dev/null && say "started with a line that was cut"
cat $prof/image >/none.prof 2>/dev/null && say "an image of nothing"
echo "start buffer=700M" 2>/refused >$prof/control && say "started with more memory than there is"
grep -q "Cannot allocate memory" /refused || say "refused for another reason: $(cat /refused)"
# a first session, which the second one must not find anything of; a copy of it would find no memory
echo "start buffer=400M" >$prof/control || say "no first start"
[ "$(cat $prof/image | wc -c)" -gt 419000000 ] || say "a snapshot of a large image is not complete"
echo "stop" >$prof/control || say "no first stop"
[ "$(cat $prof/image | wc -c)" -gt 419000000 ] || say "a large image is not complete"
echo "start buffer=12M mode=fill" >$prof/control || say "no start"
echo "start" >$prof/control 2>/dev/null && say "started twice"
insmod /prof_workload.ko || say "no workload"
[ ! -x /program ] || /program || say "the program failed"
cat $prof/image >/now.prof || say "no snapshot"
cat /sys/kernel/debug/prof_workload >/expected || say "no report"
cat $prof/control >/state
rmmod prof_workload || say "the workload stays"
echo "stop" >$prof/control || say "no stop"
cat $prof/image >/all.prof || say "no image"
rmmod prof_recorder || say "the recorder stays"
dmesg | grep -E 'BUG|WARNING|Oops|INFO: |suspicious|prof: no rows' | grep -v 'took too long to run' >/kernel.log
uname -r >/version
cd /
[ -f program.prof ] || : >program.prof
tar cf /dev/vda now.prof all.prof program.prof expected state kernel.log version
sync
say done
poweroff -f
END
chmod +x "$out/ram/init"
(cd "$out/ram" && find . | cpio --quiet -o -H newc | gzip -1) >"$out/ram.gz"

# The kernel as QEMU can load it, too, without what unpacks it, which takes long in emulation.
packed=$root/boot/vmlinuz-$version
set -- $(od -An -tu1 -j 497 -N 1 "$packed") $(od -An -tu4 -j 584 -N 8 "$packed") -- "$@" # sectors before it, where, how long
tail -c +$((($1 + 1) * 512 + $2 + 1)) "$packed" | head -c "$3" | xz -dc --single-stream >"$out/vmlinux" 2>/dev/null
readelf -n "$out/vmlinux" 2>/dev/null | grep -q Xen || cp "$packed" "$out/vmlinux" # it has another form
shift 4

machine=tcg
[ -z "$PROF_TEST_KVM" ] || machine=kvm
boot() { # PROCESSORS[,OPTION]
    folder=$out/$(echo "$1" | tr ,= __) processors=${1%%,*} option=
    case $1 in *,*) option=${1#*,} ;; esac
    rm -rf "$folder"
    mkdir -p "$folder"
    truncate -s 96M "$folder/disk"
    timeout -k 5 ${PROF_TEST_SECONDS:-200} qemu-system-x86_64 -accel $machine -cpu max -smp "$processors" -m 768 -kernel "$out/vmlinux" \
        -initrd "$out/ram.gz" -append "console=ttyS0 panic=-1 oops=panic no_timer_check nowatchdog rcupdate.rcu_cpu_stall_suppress=1 loglevel=4 $option" -nodefaults -display none -no-reboot \
        -serial "file:$folder/console" -drive "file=$folder/disk,format=raw,if=virtio,cache=unsafe" </dev/null >"$folder/qemu" 2>&1
    grep -a 'prof-test:' "$folder/console" >"$folder/said"
    (cd "$folder" && tar xf disk 2>/dev/null)
    rm -f "$folder/disk"
}

# Prints which scopes of the report are not there as often as they were passed, or lack a begin or an end.
count() { # CSV REPORT LOST: so many NMIs may be missing
    awk -F, -v report="$2" -v lost="$3" '
        $4 == "scope" { passed[$6 == "sched" ? "" : $5]++; if ($10 != "") print "incomplete: " $0 }
        END {
            while ((getline line < report) > 0) {
                split(line, part, ": ")
                missing = part[2] - passed[part[1]]
                if (part[1] ~ /^(nmi|kprobe)$/ && missing > 0 && missing <= lost) lost -= missing
                else if (passed[part[1]] != part[2]) printf "%s: %d in the trace, %d passed\n", part[1], passed[part[1]], part[2]
                if (part[2] == 0) print part[1] ": never passed"
                total++
            }
            if (total < 10) print "no report"
        }' "$1"
}

# Prints the scopes of the program that do not begin while the kernel has that program on a processor, to half a
# millisecond: the program sleeps most of the time. Closer depends on how long the machine took to read two clocks.
aligned() { # JSON
    awk '
        function number(what) {
            if (!match($0, "\"" what "\":[0-9.]+")) return 0
            return substr($0, RSTART + length(what) + 3, RLENGTH - length(what) - 3) + 0
        }
        /"name":"program"/ && /"ph":"X"/ { n++; from[n] = number("ts"); to[n] = from[n] + number("dur") }
        /"name":"in a program"/ { begins[++m] = number("ts") }
        END {
            for (i = 1; i <= m; i++) {
                there = 0
                for (j = 1; j <= n && !there; j++) there = begins[i] >= from[j] - 500 && begins[i] <= to[j] + 500
                if (!there) printf "a scope at %.3f us, while the program did not run\n", begins[i]
            }
            if (m != 20) print m + 0 " scopes instead of 20"
        }' "$1"
}

# An NMI that interrupts the holder of the recorder's lock, or two others, loses its event, which is counted.
nmis_lost() { # CHECKED: how many
    sed -nE 's/^ *(missing)? +([1-3]) events? lost in signal handlers or interrupts .*/\2/p' "$1"
}
missing() { # CHECKED: what else is missing
    lines='incomplete' lost=$(nmis_lost "$1")
    [ -z "$lost" ] || lines="$lines| *(missing)? +([1-3] arguments? lost .*|$lost events? lost in signal handlers .*)"
    grep -A 10 missing "$1" | grep -vxE "$lines"
}

look() { # PROCESSORS[,OPTION]
    folder=$out/$(echo "$1" | tr ,= __)
    with="$1 processors"
    if [ "$(tr -d '\r' <"$folder/said")" != "prof-test: done" ]; then
        fail "$with: it runs to its end" "$(cat "$folder/said" "$folder/qemu"; tail -n 25 "$folder/console" | tr -d '\r')"
        return
    fi
    ok "$with: it runs to its end"
    check "$with: the kernel has no complaint" "$(cat "$folder/kernel.log")"
    for image in all now; do
        build/prof check "$folder/$image.prof" >"$folder/$image.txt" 2>&1
        build/prof export -o "$folder/$image.csv" "$folder/$image.prof" >>"$folder/$image.txt" 2>&1 || echo "broken" >>"$folder/$image.txt"
    done
    check "$with: nothing is missing" "$(grep -qx whole "$folder/all.txt" || missing "$folder/all.txt")"
    check "$with: each scope is there as often as it was passed" "$(count "$folder/all.csv" "$folder/expected" "$(nmis_lost "$folder/all.txt")" | grep -v ',sched,')"
    check "$with: a snapshot lacks only the end" "$(missing "$folder/now.txt" | grep -vE '^ *missing +the end: the session was not stopped')"
    check "$with: a snapshot has what was recorded before it" "$(grep -q '^[0-9]*,[0-9]*,[^,]*,scope,round,' "$folder/now.csv" || echo "no scope of the workload")"
    build/prof merge -o "$folder/merged.json" "$folder/all.prof" "$folder/program.prof" >/dev/null 2>&1
    [ -f "$out/program" ] && check "$with: a program's scopes are where the kernel says that it ran" "$(aligned "$folder/merged.json")"
    [ -n "$failed" ] && [ $failed -gt 0 ] || rm -f "$folder"/*.csv "$folder"/*.json "$folder"/*.prof
}

for machine_of in ${*:-2 2,preempt=full}; do
    boot "$machine_of"
    look "$machine_of"
done
end
