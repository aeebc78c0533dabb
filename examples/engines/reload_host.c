/* Hot reload: a host loads the code of a game from a library, and loads it anew whenever the library was built anew.
   The recording goes on, with the scopes of all versions, each by its own name and line; the state stays in the host.

       cc -O2 -fPIC -shared -DVERSION=1 examples/engines/reload_game.c -o game.so
       cc -O2 -rdynamic examples/engines/reload_host.c -o reload_host -pthread -ldl && ./reload_host game.so 300

   While it runs, build another version into a second file, and rename that to game.so: a library that is written while
   it is loaded would be half of one. The library has only macros, and finds the recorder in the host (-rdynamic). Its
   call sites go away with it, their names were copied: nothing has to be told to prof before dlclose(). What remains is
   the rule of all libraries: no thread may be in the library's code, nor in one of its scopes, when it is closed.

   Arguments: the library, frames (0: until a version sets state->over), a recording. */
#define _GNU_SOURCE
#define PROF_CATEGORY "host"
#define PROF_IMPLEMENTATION
#include "../../prof_chrome.h"
#include "reload.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct {
    void *library;
    game_update *update;
    struct stat file; /* what was loaded */
} code;

static int is_new(const char *path)
{
    struct stat file;
    return stat(path, &file) == 0 && (file.st_ino != code.file.st_ino || file.st_mtime != code.file.st_mtime);
}

/* Copies the library: dlopen() returns the one that it has already for a path that it knows. */
static int copy(const char *from, const char *to)
{
    char bytes[65536];
    size_t count;
    FILE *in = fopen(from, "rb"), *out = in ? fopen(to, "wb") : NULL;
    int good = out != NULL;
    while (good && (count = fread(bytes, 1, sizeof bytes, in)) > 0) good = fwrite(bytes, 1, count, out) == count;
    if (out && fclose(out)) good = 0;
    if (in) fclose(in);
    return good;
}

/* Loads the new version; if it cannot be loaded, the old one stays. */
static int reload(const char *path)
{
    static int loads;
    char name[64];
    void *library = NULL, *symbol;
    PROFILE_FUNCTION();
    PROFILE_ARG_I("load", ++loads);
    snprintf(name, sizeof name, "./reload.%ld.%d.so", (long)getpid(), loads);
    if (stat(path, &code.file) || !copy(path, name)) return perror(path), 0;
    PROFILE_BLOCK("dlopen") { library = dlopen(name, RTLD_NOW | RTLD_LOCAL); }
    unlink(name);
    symbol = library ? dlsym(library, "update") : NULL;
    if (!symbol) {
        fprintf(stderr, "host: %s\n", dlerror());
        if (library) dlclose(library);
        return 0;
    }
    PROFILE_BLOCK("dlclose") if (code.library) dlclose(code.library);
    code.library = library;
    memcpy(&code.update, &symbol, sizeof symbol); /* ISO C cannot convert an object pointer to a function pointer */
    return 1;
}

int main(int argc, char **argv)
{
    static game_state state = {.speed = 1};
    const char *path = argc > 1 ? argv[1] : "game.so";
    int frames = argc > 2 ? atoi(argv[2]) : 300;
    prof_config config = {.output = argc > 3 ? argv[3] : "reload.json"};
    if (prof_start(&config) != PROF_OK) return fprintf(stderr, "%s\n", prof_error()), 1;
    if (!reload(path)) return 1;
    while (!state.over && (!frames || state.frame < frames)) {
        PROFILE_FRAME("frame");
        if (is_new(path) && reload(path)) {
            printf("%d frames\n", state.frames_of_version); /* of the version before */
            fflush(stdout);
            state.frames_of_version = 0;
        }
        code.update(&state);
        state.frame++;
        state.frames_of_version++;
        PROFILE_SCOPE("wait");
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    printf("%d frames\n%d in all, x is %.0f\n", state.frames_of_version, state.frame, state.x);
    if (prof_stop() != PROF_OK) return fprintf(stderr, "%s\n", prof_error()), 1;
    return 0;
}
