#!/bin/sh
# prof run: programs that nobody compiled for prof, scripts, what they start; what they print and how they end stays; what
# nothing can be preloaded into. CC, BUILD: see the Makefile.
# run: traces unchecked
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
[ "$(uname -s)" = Linux ] || { skip run "no Linux"; finish; }
in_work out/test_run_sh
unset PROF_OUTPUT PROF_MODE PROF_WAITS PROF_SYSTEM LD_PRELOAD LDFLAGS

cat >plain.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    struct timespec time = {0, 1000000};
    int i;
    void *volatile block = malloc(12345);
    free(block);
    for (i = 0; i < 20; i++) nanosleep(&time, NULL);
    printf("%s", getenv("LD_PRELOAD") ? "" : "not preloaded\n");
    for (i = 1; i < argc; i++) printf("%s\n", argv[i]);
    fflush(stdout);
    fprintf(stderr, "complains\n");
    if (argc > 1 && !strcmp(argv[1], "dies")) kill(getpid(), SIGKILL);
    if (argc > 1 && !strcmp(argv[1], "calls")) kill(getppid(), SIGTERM), sleep(60);
    return argc > 1 ? atoi(argv[1]) : 0;
}
END
succeeds "the program" ${CC:-cc} -O0 -w plain.c -o plain || finish
succeeds "the library" ${CC:-cc} -std=gnu99 -I"$root" -O0 -w -fPIC -shared "$root/lib/libprof.c" -o libprof.so -pthread -ldl || finish
is_text() { if [ "$2" = "$3" ]; then ok "$1"; else fail "$1: '$2', not '$3'"; fi; }
run() { "$prof" run --library libprof.so "$@"; }
sleeps() { grep -c ',nanosleep,wait,' "$1"; }

# ---- it runs as without prof
run -o it.csv ./plain 7 --help -o x >said 2>errors
is_text "its exit status" $? 7
is_text "its arguments, and what it prints" "$(cat said)" "7
--help
-o
x"
is_text "what it complains of" "$(cat errors)" "complains
prof: it.csv"
is_text "each wait" "$(sleeps it.csv)" 20
is_text "no other file" "$(ls -d it.*)" it.csv
run -o killed.prof ./plain dies >said 2>errors
is_text "the signal that ends it" $? 137
"$prof" export killed.prof -o killed.csv
is_text "all that it did before" "$(sleeps killed.csv)" 20
run -o called.csv ./plain calls >said 2>errors
is_text "a signal that prof gets is passed on" $? 143
is_text "and all is written" "$(sleeps called.csv)" 20
LD_PRELOAD=$work/libprof.so PROF_WAITS=1000s run -o long.csv ./plain >said 2>errors
is_text "variables act as always" "$(sleeps long.csv)" 0
run --waits 1000s -o long.csv ./plain >said 2>errors
is_text "and options" "$(sleeps long.csv)" 0
is_text "an empty recording says so" "$(sed -n 3p errors)" \
    "prof: it is empty: the program has no marks, and waited nowhere. --why records any program"
run -o why.prof -w ./plain >said 2>errors
is_text "--why" "$("$prof" check why.prof | grep -c '^ *prof system ')" 1

if [ "$(getconf GNU_LIBC_VERSION 2>/dev/null)" ]; then
    run -m 8 -o allocations.csv ./plain >said 2>errors
    check "--malloc" "$(grep -q ',alloc,' allocations.csv || cat errors allocations.csv)"
else
    skip "--malloc" "no glibc"
fi

# ---- what it starts
printf '#!/bin/sh\ncd /\n"$0.plain" 1\n"$0.plain" 2 &\nwait\nexec "$0.plain" 3\n' >script
cp plain script.plain
chmod +x script
run -o 'a %n folder/new/all.csv' "$work/script" >said 2>errors
is_text "a script" $? 3
is_text "all that it starts, wherever" "$(sleeps 'a %n folder/new/all.csv')" 60
is_text "by the process" "$(sed -n '/nanosleep/s/,.*//p' 'a %n folder/new/all.csv' | sort -u | grep -c .)" 3
run -o page.html ./script >said 2>errors
is_text "one page of all" "$(ls -d page.*)" page.html

# ---- refused, before anything runs
refused() { # NAME STATUS MESSAGE ARGUMENT...
    name=$1 status=$2 message=$3
    shift 3
    run "$@" >said 2>errors
    is_text "$name" "$? $(cat errors said)" "$status prof: $message"
}
refused "no program" 127 "run: ./none: there is no such program" ./none
refused "no program in PATH" 127 "run: none-such: there is no such program" none-such
: >file
refused "no rights" 126 "run: ./file: Permission denied" ./file
refused "an unknown kind of output" 2 "run: x.xyz: unknown kind of file: use .html, .json, .csv, .txt, .prof, .pprof or .speedscope, or add --format" -o x.xyz ./plain
refused "no folder" 2 "run: file/x.csv: cannot make its directory: Not a directory" -o file/x.csv ./plain
refused "a wrong time" 2 "waits '7 years': must be a time, for example 10us or 1ms; 0: no waits" --waits '7 years' ./plain
refused "a wrong depth" 2 "--malloc '33': must be a number from 1 to 32" --malloc 33 ./plain
refused "no library" 2 "run: none.so: there is no libprof.so: \`make library\` builds it, \`make install\` installs it; or use --library FILE" --library none.so ./plain
mkdir -p 'a b' && cp libprof.so 'a b'
refused "a path that LD_PRELOAD cannot have" 2 "run: $work/a b/libprof.so: a library can't be preloaded from a path with spaces or colons" --library 'a b/libprof.so' ./plain
if ${CC:-cc} -O0 -w -static plain.c -o static 2>said; then
    refused "a static program" 2 "run: ./static is linked statically: nothing can be preloaded into it. Compile prof.h into it instead" ./static
    printf '#! %s\n' "$work/static" >script.static && chmod +x script.static
    refused "a script of one" 2 "run: $work/static is linked statically: nothing can be preloaded into it. Compile prof.h into it instead" ./script.static
else
    skip "a static program" "the C library is not there as an archive"
fi
cp plain other && printf '\1' | dd of=other bs=1 seek=18 conv=notrunc 2>/dev/null
refused "another processor's" 2 "run: ./other is for another kind of processor, or has another size of pointers, than this tool: build prof for it" ./other
cp plain other && loader=$(LC_ALL=C grep -abo '/lib[0-9a-z]*/ld[-a-z0-9._]*' other | head -n 1) &&
    printf '/LIB' | dd of=other bs=1 seek="${loader%%:*}" conv=notrunc 2>/dev/null
refused "another C library" 2 "run: ./other uses another C library (/LIB${loader#*:/lib}) than libprof.so (${loader#*:}): build prof with that one" ./other
if cp plain setuid && chown nobody setuid 2>said && chmod u+s setuid; then
    refused "setuid" 2 "run: ./setuid gets rights that you have not (setuid, setgid, capabilities): the system preloads nothing into it. Run prof with these rights: sudo prof run ..." ./setuid
else
    skip setuid "needs root"
fi
cp plain cut && truncate -s 100 cut
run -o cut.csv ./cut >said 2>errors
is_text "a file that is cut off" "$([ $? -ge 126 ] && ls -d cut.* 2>&1 | head -n 1)" "$(ls cut.* 2>&1 | head -n 1)"
is_text "leaves nothing" "$(ls -d ./*run-* 2>/dev/null)" ""

# ---- an output that cannot be written: the recordings stay
mkdir -p real && ln -s real link
printf '#!/bin/sh\nrm link\n: >link\nexec ./plain $1\n' >removes && chmod +x removes
run -o link/x.csv ./removes >said 2>errors
is_text "an output that cannot be written" "$? $(grep -c 'the recordings stay in' errors)" "2 1"
is_text "is whole in the recordings" "$(for each in real/*/*.prof; do "$prof" export "$each" -f csv -o -; done | grep -c ',nanosleep,wait,')" 20
rm link && ln -s real link
run -o link/x.csv ./removes 7 >said 2>errors
is_text "a program's own error comes first" $? 7
finish
