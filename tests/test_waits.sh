#!/bin/sh
# PROF_WRAP_WAITS outside of the test program: what a free lock costs; libprof.so preloaded under a program that does not
# know of it; programs that are linked statically; a program without the wrappers; PROF_ENABLE=0. CC, BUILD: see the
# Makefile. docs/guide/locks.md shows some of it.
# run: traces unchecked
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
[ "$(uname -s)" = Linux ] || { skip waits "no Linux"; finish; }
in_work out/test_waits_sh
unset PROF_OUTPUT PROF_WAITS LD_PRELOAD LDFLAGS
cc="${CC:-cc} -std=gnu99 -I$root"

# A thread holds a lock until another has waited for it for a while, a pipe and a child are waited for.
cat >plain.c <<'END'
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int pipes[2];
static void *hold(void *unused)
{
    char byte;
    pthread_mutex_lock(&mutex);
    if (write(pipes[1], "x", 1) != 1 || read(pipes[0], &byte, 0)) return NULL;
    poll(NULL, 0, 100);
    pthread_mutex_unlock(&mutex);
    return unused;
}
int main(void)
{
    char byte;
    pthread_t thread;
    if (pipe(pipes) || pthread_create(&thread, NULL, hold, NULL) || read(pipes[0], &byte, 1) != 1) return 1;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    puts("done");
    return 0;
}
END
count() { grep -c "$1" "$2"; } # PATTERN FILE
is() { check "$1" "$([ "$2" = "$3" ] || echo "'$2', not '$3'")"; }

# ---- a program that is not instrumented
succeeds "a program without prof" $cc -O1 -w plain.c -o plain -pthread
if succeeds "the library" $cc -O0 -fPIC -shared "$root/lib/libprof.c" -o libprof.so -pthread -ldl; then
    is "runs as without prof" "$(LD_PRELOAD=$work/libprof.so PROF_OUTPUT=plain.json ./plain 2>&1)" "done"
    is "its wait for the lock" "$(count '"ph":"X".*"name":"pthread_mutex_lock".*"holder":' plain.json)" 1
    is "the arrow from the thread that unlocks" "$(count '"ph":"s".*"name":"wake"' plain.json)" 1
    is "and to the one that is woken" "$(count '"ph":"f".*"name":"wake"' plain.json)" 1
    is "poll" "$(count '"ph":"X".*"name":"poll"' plain.json)" 1
    LD_PRELOAD=$work/libprof.so PROF_OUTPUT=long.csv PROF_WAITS=1000s ./plain >said 2>&1
    is "PROF_WAITS" "$(count ,wait, long.csv)" 0
    is "which may be none" "$(LD_PRELOAD=$work/libprof.so PROF_OUTPUT=none.csv PROF_WAITS=0 ./plain 2>&1)" "done"
    is "which records none" "$(count ,wait, none.csv)" 0
fi

# ---- what a free lock costs, in instructions
cat >lock.c <<'END'
#ifdef WRAPPED
#define PROF_IMPLEMENTATION
#define PROF_WRAP_WAITS
#include "prof.h"
#endif
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int main(int count, char **arguments)
{
    (void)arguments;
    for (count *= 100000; --count;) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return 0;
}
END
instructions() { # PROGRAM: of a lock and an unlock
    once=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1" 2>&1 | sed -n 's/.*refs: *//p' | tr -d ,)
    twice=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1" 2 2>&1 | sed -n 's/.*refs: *//p' | tr -d ,)
    echo $(((twice - once) / 100000))
}
if ! valgrind -q true >/dev/null 2>&1; then
    skip "instructions" "needs valgrind"
else
    $cc -O2 lock.c -o lock -pthread
    $cc -O2 -DWRAPPED lock.c -o wrapped -pthread -ldl
    without=$(instructions ./lock) with=$(instructions ./wrapped)
    recorded=$(PROF_OUTPUT=lock.prof instructions ./wrapped)
    check "a free lock costs $((with - without)) instructions more, $((recorded - without)) in a session" \
        "$([ $((with - without)) -le 45 ] && [ $((recorded - without)) -le 45 ] || echo "more than 45")"
fi

# ---- linked statically
cat >sleeps.c <<'END'
#define PROF_IMPLEMENTATION
#ifdef WAITS
#define PROF_WRAP_WAITS WAITS
#endif
#include "prof_read.h"
int main(void)
{
    const struct timespec time = {0, 3000000};
    prof_config config = {0};
    prof_trace *trace = NULL;
    prof_wait *waits = NULL;
    size_t count = 0;
    if (prof_start(&config)) return 1;
    nanosleep(&time, NULL);
    prof_stop();
    if (prof_trace_open_live(&trace) || prof_waits(trace, &waits, &count)) return 2;
    printf("%d %s\n", (int)count, count ? waits[0].call : "");
    prof_waits_free(waits);
    prof_trace_close(trace);
    return 0;
}
END
for compiler in "$cc" "musl-gcc -std=gnu99 -I$root"; do
    name=${compiler%% *}
    if ! printf 'int main(void) { return 0; }\n' | $compiler -x c - -static -o static 2>/dev/null || ! ./static; then
        skip "static, $name" "it does not link statically"
        continue
    fi
    succeeds "static, $name" $compiler -O0 -DWAITS=2 sleeps.c -static -o static -pthread "-Wl,@$root/lib/wrap_waits.txt"
    is "records" "$(./static 2>&1)" "1 nanosleep"
    succeeds "static without the linker's options, $name" $compiler -O0 -DWAITS=1 sleeps.c -static -o static -pthread
    check "says what to do" "$(./static 2>&1 | grep -q 'PROF_WRAP_WAITS must be 2' || ./static 2>&1)"
done
$cc -O0 -DWAITS=2 -c sleeps.c -o sleeps.o && nm sleeps.o | sed -n 's/.* U __real_/--wrap=/p' | LC_ALL=C sort >wrapped.txt
if [ -s wrapped.txt ]; then same "lib/wrap_waits.txt has all functions" wrapped.txt "$root/lib/wrap_waits.txt"; fi

# ---- what the server waits for is not the program's
cat >server.c <<'END'
#define PROF_IMPLEMENTATION
#define PROF_WRAP_WAITS
#include "prof_server.h"
int main(void)
{
    prof_config config = {0};
    prof_trace *trace = NULL;
    config.waits_ns = 1;
    if (prof_start(&config) || prof_server_start(0, NULL)) return 1;
    prof_server_stop();
    prof_stop();
    if (prof_trace_open_live(&trace)) return 2;
    printf("%d events\n", (int)prof_trace_about(trace)->event_count);
    prof_trace_close(trace);
    return 0;
}
END
succeeds "a program with a server" $cc -O0 server.c -o server -pthread -ldl
is "records no waits of it" "$(./server 2>&1)" "0 events"

# ---- without
succeeds "a program without wrappers" $cc -O0 sleeps.c -o without -pthread -ldl
is "records no waits" "$(./without)" "0 "
check "and says so if it is asked to" \
    "$(PROF_OUTPUT=x.csv PROF_WAITS=5us ./without 2>&1 | grep -q 'waits: define PROF_WRAP_WAITS' || echo silent)"
printf '#define PROF_ENABLE 0\n#define PROF_IMPLEMENTATION\n#define PROF_WRAP_WAITS\n#include "prof_read.h"\n' >off.c
succeeds "PROF_ENABLE=0" $cc -O2 -c off.c -o off.o
is "leaves nothing" "$(nm off.o 2>&1 | grep -v 'no symbols')" ""
finish
