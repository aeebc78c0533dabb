#!/bin/bash
# Emscripten: every header with its implementation compiles without a warning; a recorder runs in node, alone and with
# threads, and in Chromium. Its files are in memory (MEMFS): what it leaves there is copied out when it ends, by node
# into a file, by the page to a server. The packages emscripten, nodejs and chromium are needed.
cd "$(dirname "$0")/../.." || exit 1
root=$PWD out=$PWD/build/emscripten prof=$PWD/build/prof
. tests/checks.sh
rm -rf "$out"
mkdir -p "$out"
unset PROF_OUTPUT
command -v emcc >/dev/null && command -v node >/dev/null || { skip "no emcc or no node" && finish; }
make -s build/prof || exit 1
cd "$out" || exit 1

{
    echo '#define PROF_IMPLEMENTATION'
    for header in $(ls "$root"/prof*.h | grep -v mpi); do echo "#include \"${header##*/}\""; done
} >all.c
cp all.c all.cpp
silent "all headers in C99" emcc -std=gnu99 -O0 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -I"$root" -c all.c -o all.o
silent "all headers in C++11, with threads" em++ -std=c++11 -O0 -Wall -Wextra -Wshadow -pthread -I"$root" -c all.cpp -o all.o

# Each session records 1000 scopes a thread; with threads there are four, and a stream and statistics as well.
cat >recorder.c <<'C'
#define PROF_IMPLEMENTATION
#include "prof_chrome.h"
#include <stdio.h>
#ifdef __EMSCRIPTEN_PTHREADS__
#include <pthread.h>
#endif
static void *record(void *unused)
{
    for (int i = 0; i < 1000; ++i) {
        PROFILE_SCOPE("scope");
        PROFILE_ARG_I("i", i);
    }
    return unused;
}
static int session(const char *output, prof_mode mode)
{
    prof_config config = {0};
    config.output = output;
    config.mode = mode;
    config.buffer_size = 1 << 20;
    if (prof_start(&config)) return fprintf(stderr, "%s: %s\n", output, prof_error()), 0;
#ifdef __EMSCRIPTEN_PTHREADS__
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, record, NULL);
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
#else
    record(NULL);
#endif
    if (prof_stop()) return fprintf(stderr, "%s: %s\n", output, prof_error()), 0;
    return 1;
}
int main(void)
{
    int good = session("em.prof", PROF_RING) && session("em.json", PROF_RING);
#ifdef __EMSCRIPTEN_PTHREADS__
    good = good && session("stream.prof", PROF_STREAM) && session("stats.txt", PROF_STATS);
#endif
    return good ? 0 : 1;
}
C
# What the program has left; in a browser the server gets it, and the last of them ends the test.
cat >files.js <<'JS'
Module['onExit'] = async (status) => {
    for (const name of ['em.prof', 'em.json', 'stream.prof', 'stats.txt']) {
        if (!FS.analyzePath(name).exists) continue;
        if (typeof process === 'object') require('fs').writeFileSync(name, FS.readFile(name));
        else await fetch(name, { method: 'POST', body: FS.readFile(name) });
    }
    if (typeof process !== 'object') await fetch('exit.' + status, { method: 'POST', body: '' });
};
JS
export NODE_PATH=/usr/share/nodejs # where Debian has what emcc calls
node=node
node --no-experimental-fetch -e 0 2>/dev/null && node='node --no-experimental-fetch' # Emscripten 3.1 takes fetch() for a browser's
build() { emcc -O0 -I"$root" recorder.c --pre-js files.js -sEXIT_RUNTIME=1 "$@"; }
scopes() { # FILE COUNT: the tool reads so many, and nothing is missing
    "$prof" summary "$1" >table && cat table && grep -qE "^scope +$2 " table && grep -qx 'nothing lost' table &&
        { [ "${1##*.}" != prof ] || "$prof" check "$1"; }
}
files() { # NAME COUNT: of the scopes in what was left
    succeeds "$1: em.prof" scopes em.prof "$2"
    succeeds "$1: em.json" test "$(grep -c '"ph":"X"' em.json)" = "${2/,/}"
}
streams() { # NAME
    succeeds "$1: stream.prof" scopes stream.prof 4,000
    succeeds "$1: stats.txt" grep -E '^scope +4,000 ' stats.txt
}
clean() { rm -f em.prof em.json stream.prof stats.txt; }
threads='-pthread -sPROXY_TO_PTHREAD -sINITIAL_MEMORY=128MB'
succeeds "a recorder links" build -sALLOW_MEMORY_GROWTH -o alone.js && succeeds "node: it runs" timeout 60 $node alone.js &&
    files "node" 1,000
clean
succeeds "a recorder with threads links" build $threads -o threads.js && succeeds "node, threads: it runs" timeout 60 $node threads.js &&
    files "node, threads" 4,000 && streams "node, threads"
clean

# The heap of 16 MiB that programs have without a flag, where a malloc() that finds no memory ends the program. A larger
# buffer is refused, and so is one when the program has taken most of the heap; an output that finds no memory fails.
cat >heap.c <<'C'
#define PROF_IMPLEMENTATION
#include "prof_chrome.h"
#include <stdio.h>
static int wrong;
static void check(int right, const char *what)
{
    if (!right) printf("%s: %s\n", what, prof_error());
    wrong |= !right;
}
int main(void)
{
    prof_config config = {0}, large = {0};
    config.output = "em.json";
    large.buffer_size = 64u << 20;
    check(prof_start(&large) == PROF_NO_MEMORY && strstr(prof_error(), "-sINITIAL_MEMORY"), "64 MiB in memory");
    large.output = "em.prof";
    check(prof_start(&large) == PROF_NO_MEMORY && strstr(prof_error(), "-sINITIAL_MEMORY"), "64 MiB in a file");
    for (int i = 0; i < 3; ++i) {
        check(prof_start(&config) == PROF_OK, "the default");
        for (int k = 0; k < 400000; ++k) PROFILE_BLOCK("scope") continue;
        check(prof_stop() == PROF_OK, "its end");
        prof_reset();
    }
    check(prof_start(&config) == PROF_OK, "before the heap is full");
    PROFILE_BLOCK("scope") continue;
    void *volatile taken = NULL; /* so that the compiler does not leave it out */
    size_t size = 12u << 20, left = emscripten_get_heap_max() - (size_t)(uintptr_t)sbrk(0) + (size_t)mallinfo().keepcost;
    if (size > left - (1u << 20)) size = left - (1u << 20);
    taken = malloc(size);
    check(taken != NULL, "the program's own memory");
    check(prof_stop() == PROF_NO_MEMORY, "an end without memory");
    check(prof_start(&config) == PROF_NO_MEMORY, "a start without memory");
    free(taken);
    prof_reset(); /* the image of the session whose end failed */
    check(prof_start(&config) == PROF_OK, "a start with memory");
    check(prof_stop() == PROF_OK, "and its end");
    return wrong;
}
C
succeeds "16 MiB of memory: a program links" emcc -O1 -I"$root" heap.c --pre-js files.js -sEXIT_RUNTIME=1 -o heap.js &&
    succeeds "16 MiB of memory: it runs" timeout 120 $node heap.js
clean
succeeds "an example links" emcc -O1 -Wall -Wextra "$root/examples/web.c" -o download.js

# A browser lends threads memory only to pages that come with these two headers.
cat >server.py <<'PYTHON'
import http.server, os, sys
class Handler(http.server.SimpleHTTPRequestHandler):
    def end_headers(self):
        self.send_header('Cross-Origin-Opener-Policy', 'same-origin')
        self.send_header('Cross-Origin-Embedder-Policy', 'require-corp')
        super().end_headers()
    def do_POST(self):
        with open(os.path.basename(self.path), 'wb') as file:
            file.write(self.rfile.read(int(self.headers['Content-Length'])))
        self.send_response(200)
        self.end_headers()
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
PYTHON
browse() { # PROGRAM HTML: runs its page, with this at its beginning, until it says that it has ended
    rm -f exit.* port
    echo "<!doctype html>$2<script src=\"$1.js\"></script>" >"$1.html"
    python3 server.py >port & server=$!
    for ((i = 0; i < 600; i++)); do [ -s port ] && break; sleep 0.1; done
    timeout -k 5 330 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$out/chromium.$1" \
        --remote-debugging-port=0 "http://127.0.0.1:$(cat port)/$1.html" >chromium.log 2>&1 & browser=$!
    for ((i = 0; i < 3000; i++)); do ls exit.* >/dev/null 2>&1 && break; sleep 0.1; done
    kill $browser $server
    wait $browser $server 2>/dev/null
    [ -f exit.0 ] || { ls exit.* && tail -n 5 chromium.log && return 1; }
}
if ! command -v chromium >/dev/null || ! command -v python3 >/dev/null; then
    skip "browser: no chromium, or no python3"
else
    succeeds "Chromium: it runs" browse alone && files "Chromium" 1,000
    clean
    # a click of a link sends what it would download here
    succeeds "Chromium: a download" browse download "<script>
        HTMLAnchorElement.prototype.click = async function () {
            await fetch(this.download, { method: 'POST', body: await (await fetch(this.href)).blob() });
            await fetch('exit.0', { method: 'POST', body: '' });
        };
    </script>" && succeeds "Chromium: what comes down" test "$(grep -c '"name":"work"' web.json)" = 100
    succeeds "Chromium, threads: it runs" browse threads && files "Chromium, threads" 4,000 && streams "Chromium, threads"
fi
finish
