/* A recording of a program in a browser, which becomes a download.

       emcc -O2 examples/web.c -o web.html

   Serve the folder (python3 -m http.server), open web.html, wait for 100 frames, and drag the web.json that comes down
   into https://ui.perfetto.dev. Emscripten's heap has 16 MiB if no flag says otherwise; the buffer has 4 MiB of it. For
   a larger one, link with -sALLOW_MEMORY_GROWTH or -sINITIAL_MEMORY=64MB. */
#define PROF_IMPLEMENTATION
#include "../prof_chrome.h"
#include <emscripten.h>
#include <stdio.h>

/* Emscripten's files are in the page's memory: this one goes to where the browser keeps what it downloads. */
static void download(const char *path)
{
    EM_ASM(
        {
            const name = UTF8ToString($0);
            const link = document.createElement('a');
            link.href = URL.createObjectURL(new Blob([FS.readFile(name)]));
            link.download = name;
            link.click();
        },
        path);
}

static void frame(void)
{
    static int number;
    PROFILE_FRAME("frame");
    PROFILE_BLOCK("work") {
        PROFILE_ARG_I("number", number);
        for (volatile int i = 0; i < 100000; i++) continue;
    }
    if (++number < 100) return;
    emscripten_cancel_main_loop();
    if (prof_stop()) puts(prof_error());
    else download("web.json");
}

int main(void)
{
    prof_config config = {.output = "web.json"};
    if (prof_start(&config)) return puts(prof_error()), 1;
    emscripten_set_main_loop(frame, 0, 0);
    return 0;
}
