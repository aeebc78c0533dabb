/* prof_gl.h - what the GPU does for OpenGL and OpenGL ES, on the time line of the program's scopes - public domain or
               assembled from src/: change it there, see CONTRIBUTING.md
               MIT-0; needs prof.h and libc, no header of OpenGL and no library; the licence is at the end of this file

QUICK START

    #define PROF_IMPLEMENTATION            // in exactly one file of the program, C or C++
    #include "prof_gl.h"                   // includes prof.h

    prof_gl *gpu = prof_gl_create(NULL, NULL);   // where the context is current, after it is made
    for (each frame) {
        {
            PROFILE_GL_SCOPE(gpu, "shadow pass");
            glDraw...
        }
        swap buffers
        prof_gl_collect(gpu);              // records what the GPU has done since: frames later, without waiting
    }
    prof_gl_finish(gpu);                   // before prof_stop(): waits for the rest
    prof_gl_destroy(gpu);                  // before the context goes, outside of scopes

WHAT IT RECORDS

    The device "OpenGL NAME OF THE GPU" has a track for each context, "context 1" and so on. A scope there lasts from
    when the GPU had done all commands before it until it had done those in it. Scopes nest, and an arrow leads to each
    from the scope of the host that was open when it began. The category of all of them is the device's name.

    A scope is two queries of GL_TIMESTAMP, from a ring that prof_gl_create() makes. prof_gl_collect() asks for one
    query of the oldest frame whether it is there, and reads what has become available: up to eight frames are on their
    way. While nothing is recorded no query is made. prof_gl_create() is the only function that allocates.

    Clocks. prof_gl_create(), prof_gl_finish() and, once a second, prof_gl_collect() read GL_TIMESTAMP beside the
    host's clock. Some drivers wait for their own thread there: options.calibrate_ms is how often. On ES a change of
    the GPU's clock ("disjoint") makes the times of all that was on its way meaningless: these scopes are left out and
    counted, and the clocks are read anew. Reading GL_GPU_DISJOINT_EXT resets it, so a program that also reads it takes
    it away from prof.

WHAT IT NEEDS

    OpenGL 3.3, or GL_ARB_timer_query; OpenGL ES with GL_EXT_disjoint_timer_query. prof_gl_create(NULL, ...) finds
    OpenGL in the process: EGL, GLX or WGL. A program that knows better passes its loader, whose names are those of
    OpenGL: eglGetProcAddress, glfwGetProcAddress, SDL_GL_GetProcAddress (with a cast to prof_gl_load *). If something
    is missing, prof_gl_create() returns NULL and prof_error() says what; everything else does nothing with a NULL.

    A context is current on one thread at a time: that thread may call these functions, and another one later. Several
    contexts have a prof_gl each. The header makes no error of OpenGL, and takes none: glGetError() is the program's.

WHAT IS LOST

    prof_gl_collect() and prof_gl_finish() return PROF_INVALID_STATE if scopes were lost since the last call, and
    prof_error() says how many and why; the recording's metadata say it, too. The ring was full (options.scopes: 1024
    are on their way, 2048 queries); the clock was disjoint; OpenGL did not answer, because the context is lost or not
    current on the thread; the context was destroyed before its scopes were collected.

WHAT IT COSTS

    20 ns for each scope on the host beside what OpenGL's two queries take, which is 80 ns to several microseconds.
    On a driver that renders later (llvmpipe, tiled GPUs), a timestamp inside a pass on one framebuffer has the time at
    which the whole pass ends: give each scope that matters a framebuffer of its own.

WITHOUT A BLOCK

    PROFILE_GL_SCOPE needs C++ or the cleanup attribute of gcc and clang. Elsewhere, and for scopes that end in another
    function: prof_gl_scope scope = prof_gl_begin(gpu, "shadow pass"); ... prof_gl_end(gpu, scope);
*/
#include "prof.h" /* outside of the include guard, because this may be the inclusion with PROF_IMPLEMENTATION */

#pragma pack(push, 16) /* as in prof.h */
#ifndef PROF_GL_H
#define PROF_GL_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct prof_gl prof_gl;                          /* a context of OpenGL and its ring of queries */
typedef uint32_t prof_gl_scope;                          /* an open scope; 0: none */
typedef void (*prof_gl_function)(void);
typedef prof_gl_function prof_gl_load(const char *name); /* returns a function of OpenGL, or null */

/* All zero is the default. prof_gl_create() copies the texts. */
typedef struct prof_gl_options {
    const char *device;    /* what contexts of one GPU share; NULL: "OpenGL ", and what OpenGL calls the GPU */
    const char *row;       /* the context's track; NULL: "context 1", ... */
    uint32_t scopes;       /* how many may be on their way to the GPU and back, up to 65536; 0: 1024 */
    uint32_t calibrate_ms; /* how often prof_gl_collect() reads both clocks; 0: 1000; UINT32_MAX: never */
    int no_arrows;         /* 1: no arrows from the scopes of the host */
} prof_gl_options;

/* How many scopes a context had so far. */
typedef struct prof_gl_info {
    uint64_t recorded;  /* their times were read, whether a session ran then or not */
    uint64_t pending;   /* open, or on their way */
    uint64_t full;      /* lost: the ring was full */
    uint64_t disjoint;  /* lost: the GPU's clock changed */
    uint64_t unanswered;/* lost: OpenGL did not answer: the context is lost, or not current */
    uint64_t destroyed; /* lost: prof_gl_destroy() came before they were collected */
} prof_gl_info;

#if PROF_ENABLE
/* Makes the queries of the context that is current on this thread. load may be NULL. Returns NULL, and prof_error()
   says why, if OpenGL lacks something, no context is current, an option is out of range or memory runs out. */
PROF__API prof_gl *prof_gl_create(prof_gl_load *load, const prof_gl_options *options);
/* Frees the queries. The context is current, or lost. Returns what prof_gl_collect() does. */
PROF__API prof_status prof_gl_destroy(prof_gl *context);
/* Records the scopes whose times are there, without waiting for others: call it once a frame. Returns
   PROF_INVALID_STATE if scopes were lost since the last call: prof_error() says how many and why. */
PROF__API prof_status prof_gl_collect(prof_gl *context);
/* Waits until the GPU has done all scopes that have ended, and records them. Returns what prof_gl_collect() does. */
PROF__API prof_status prof_gl_finish(prof_gl *context);
PROF__API prof_status prof_gl_get_info(const prof_gl *context, prof_gl_info *info);
/* What PROFILE_GL_SCOPE calls. name is copied, up to 95 bytes. Scopes need not nest. A scope of 0 is ignored. */
PROF__API prof_gl_scope prof_gl_begin(prof_gl *context, const char *name);
PROF__API void prof_gl_end(prof_gl *context, prof_gl_scope scope);
#else
#define prof_gl_create(load, options) PROF__STRIPPED(PROF__STRIPPED_OBJECT(prof_gl *), PROF__USE2(load, options))
#define prof_gl_destroy(context) PROF__STRIPPED(PROF_OK, PROF__USE(context))
#define prof_gl_collect(context) PROF__STRIPPED(PROF_OK, PROF__USE(context))
#define prof_gl_finish(context) PROF__STRIPPED(PROF_OK, PROF__USE(context))
#define prof_gl_get_info(context, info) \
    PROF__STRIPPED((prof__stripped_none(info, sizeof(prof_gl_info)), PROF_OK), PROF__USE(context))
#define prof_gl_begin(context, name) PROF__STRIPPED(PROF__TO(prof_gl_scope, 0), PROF__USE2(context, name))
#define prof_gl_end(context, scope) PROF__STRIPPED((void)0, PROF__USE2(context, scope))
#endif

#if PROF_ENABLE
#if defined(__cplusplus)
extern "C++" {
struct PROF__GUARD_TYPE prof__guard_gl {
    prof_gl *context;
    prof_gl_scope scope;
    PROF__UNTRACED prof__guard_gl(prof_gl *of, const char *name) : context(of), scope(prof_gl_begin(of, name)) {}
    PROF__UNTRACED ~prof__guard_gl() { if (scope) prof_gl_end(context, scope); }
};
}
#define PROF__GUARD_GL(variable, context, ...) prof__guard_gl variable(context, PROF__TEXT(__VA_ARGS__))
#elif defined(__GNUC__)
typedef struct prof__guard_gl {
    prof_gl *context;
    prof_gl_scope scope;
} prof__guard_gl;
static inline PROF__UNTRACED void prof__guard_gl_end(const prof__guard_gl *guard)
{
    if (guard->scope) prof_gl_end(guard->context, guard->scope);
}
static inline PROF__UNTRACED prof__guard_gl prof__guard_gl_begin(prof_gl *context, const char *name)
{
    prof__guard_gl guard = {context, prof_gl_begin(context, name)};
    return guard;
}
#define PROF__GUARD_GL(variable, context, ...)                                                             \
    __extension__ __attribute__((__cleanup__(prof__guard_gl_end), __unused__))                             \
    prof__guard_gl variable = prof__guard_gl_begin(context, __VA_ARGS__)
#else
#define PROF__GUARD_GL(variable, context, ...) prof__this_compiler_has_only_prof_gl_begin
#endif
#endif
#define PROF__GL_SCOPE(...) PROF__AGAIN(PROF__GL_SCOPE_(__VA_ARGS__))
#define PROF__GL_SCOPE_(id, context, ...) PROF__GUARD_GL(prof__gl_##id, context, __VA_ARGS__)
/* A scope of what the GPU does from here to the end of the block, on every way out of it. name may be made at run time.
   A scope is a declaration: `if (x) PROFILE_GL_SCOPE(gpu, "a");` needs braces. */
#define PROFILE_GL_SCOPE(context, ...)                                                                     \
    PROF__EITHER(PROF__GL_SCOPE(PROF_UNIQUE, context, __VA_ARGS__),                                        \
                 PROF__GONE(PROF_UNIQUE, sizeof(context) + sizeof(__VA_ARGS__)))

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_GL_H */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && !defined(PROF__GL_IMPLEMENTED)
#define PROF__GL_IMPLEMENTED

#ifdef PROF__WRAPS_MALLOC /* so that prof's own allocations are not recorded as the program's */
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef PROF__GPU_SHARED /* other collectors have it, too */
#define PROF__GPU_SHARED
#if !defined(_WIN32) && !defined(__wasi__) && !defined(__EMSCRIPTEN__)
#define PROF__GPU_DLOPEN 1
#include <dlfcn.h>
#endif

/*-- libraries. None is ever unloaded: its threads may outlive every use --*/

typedef void (*prof__gpu_function)(void);

/* Returns the first of these libraries that the process has; with load, else the first that can be loaded. The list
   ends with a null. */
static void *prof__gpu_library(const char *const *names, int load)
{
    void *library = NULL;
    for (int may_load = 0; !library && may_load <= load; ++may_load)
        for (const char *const *name = names; *name && !library; ++name) {
#if defined(_WIN32)
            HMODULE module = may_load ? LoadLibraryA(*name) : GetModuleHandleA(*name);
            library = (void *)module;
#elif defined(PROF__GPU_DLOPEN)
            library = dlopen(*name, RTLD_LAZY | RTLD_LOCAL | (may_load ? 0 : RTLD_NOLOAD));
#endif
        }
    return library;
}

/* Returns a function of a library, or null. Without a library: of the program and what is linked to it. */
static prof__gpu_function prof__gpu_symbol(void *library, const char *name)
{
    prof__gpu_function function = NULL;
#if defined(_WIN32)
    FARPROC found = library ? GetProcAddress((HMODULE)library, name) : NULL;
    memcpy(&function, &found, sizeof function);
#elif defined(PROF__GPU_DLOPEN)
    static void *program;
    if (!library && !program) program = dlopen(NULL, RTLD_LAZY);
    if (!library) library = program;
    void *found = library ? dlsym(library, name) : NULL;
    memcpy(&function, &found, sizeof function);
#else
    (void)library;
    (void)name;
#endif
    return function;
}

/*-- pairs of clocks. Of several readings of the device's clock, the one between the two closest readings of the host's
   is the pair --*/

typedef struct prof__gpu_pair {
    uint64_t began, before, closest, ticks, host_ns; /* host_ns 0: there is no pair yet */
} prof__gpu_pair;

static void prof__gpu_pair_before(prof__gpu_pair *pair)
{
    pair->before = prof_host_ns();
    if (!pair->began) pair->began = pair->before;
}

/* Returns 1 if another reading may be better, and is not too dear: there the driver asks the device itself. */
static int prof__gpu_pair_after(prof__gpu_pair *pair, uint64_t ticks)
{
    uint64_t now = prof_host_ns(), took = now - pair->before;
    if (!pair->host_ns || took < pair->closest) {
        pair->closest = took;
        pair->ticks = ticks;
        pair->host_ns = pair->before + took / 2;
    }
    return now - pair->began < 100000;
}

/*-- what was lost, by cause --*/

#define PROF__GPU_CAUSES 6
typedef struct prof__gpu_losses {
    const char *key;           /* of the metadata that says it */
    const char *const *causes; /* what each cause is, and what to do */
    uint64_t counts[PROF__GPU_CAUSES];
    uint64_t told, written; /* how many prof__gpu_losses_tell() has returned, and the metadata have */
} prof__gpu_losses;

static uint64_t prof__gpu_losses_all(const prof__gpu_losses *losses)
{
    uint64_t all = 0;
    for (int i = 0; i < PROF__GPU_CAUSES; ++i) all += losses->counts[i];
    return all;
}

/* Returns PROF_OK if nothing was lost since the last call; else PROF_INVALID_STATE, and says what was lost in
   prof_error() and in the recording's metadata. These take space for each change: so they change when the number has
   doubled, or at the end. */
static prof_status prof__gpu_losses_tell(prof__gpu_losses *losses, int ends)
{
    char text[1000];
    uint64_t all = prof__gpu_losses_all(losses), was = losses->told;
    size_t at = 0;
    losses->told = all;
    if (all == was && (!ends || all == losses->written)) return PROF_OK;
    for (int i = 0; i < PROF__GPU_CAUSES; ++i) {
        if (!losses->counts[i] || at >= sizeof text) continue;
        int size = snprintf(text + at, sizeof text - at, "%s%llu lost: %s", at ? "; " : "",
                            (unsigned long long)losses->counts[i], losses->causes[i]);
        if (size > 0) at += (size_t)size;
    }
    if (ends || all >= losses->written * 2) {
        losses->written = all;
        prof_set_metadata(losses->key, text);
    }
    return all == was ? PROF_OK : prof__fail(PROF_INVALID_STATE, "%s: %s", losses->key, text);
}
#endif

#if defined(_WIN32) && !defined(_WIN64)
#define PROF__GL_CALL __stdcall
#else
#define PROF__GL_CALL
#endif

enum {
    PROF__GL_RENDERER = 0x1F01,
    PROF__GL_VERSION = 0x1F02,
    PROF__GL_EXTENSIONS = 0x1F03,
    PROF__GL_NUM_EXTENSIONS = 0x821D,
    PROF__GL_QUERY_COUNTER_BITS = 0x8864,
    PROF__GL_QUERY_RESULT = 0x8866,
    PROF__GL_QUERY_RESULT_AVAILABLE = 0x8867,
    PROF__GL_TIMESTAMP = 0x8E28,
    PROF__GL_GPU_DISJOINT = 0x8FBB
};

/* Of the extension on ES: the names end in EXT. get_stringi is only there in later versions. */
#define PROF__GL_FUNCTIONS(X)                                                                                          \
    X(get_string, "glGetString", 0, const unsigned char *, (unsigned name))                                            \
    X(get_stringi, "glGetStringi", 0, const unsigned char *, (unsigned name, unsigned index))                          \
    X(get_integerv, "glGetIntegerv", 0, void, (unsigned name, int *value))                                             \
    X(get_queryiv, "glGetQueryiv", 1, void, (unsigned target, unsigned name, int *value))                              \
    X(gen_queries, "glGenQueries", 1, void, (int count, unsigned *names))                                              \
    X(delete_queries, "glDeleteQueries", 1, void, (int count, const unsigned *names))                                  \
    X(query_counter, "glQueryCounter", 1, void, (unsigned name, unsigned target))                                      \
    X(get_query_object, "glGetQueryObjectuiv", 1, void, (unsigned name, unsigned what, unsigned *value))               \
    X(get_query_object64, "glGetQueryObjectui64v", 1, void, (unsigned name, unsigned what, uint64_t *value))           \
    X(get_integer64v, "glGetInteger64v", 1, void, (unsigned name, int64_t *value))

typedef struct prof__gl_api {
#define PROF__GL_FIELD(field, name, of_extension, type, parameters) type (PROF__GL_CALL *field) parameters;
    PROF__GL_FUNCTIONS(PROF__GL_FIELD)
} prof__gl_api;

/* Finds a function as a program finds it that has been linked to nothing: through what made its context. */
static prof_gl_function prof__gl_find(const char *name)
{
#if defined(_WIN32)
    static const char *const gl[] = {"opengl32.dll", NULL}, *const es[] = {"libGLESv2.dll", NULL};
    void *libraries[2];
    typedef PROC(WINAPI * get)(LPCSTR);
    typedef HGLRC(WINAPI * current)(void);
    libraries[0] = prof__gpu_library(gl, 0), libraries[1] = prof__gpu_library(es, 0);
    current has_context = (current)prof__gpu_symbol(libraries[0], "wglGetCurrentContext");
    get get_address = (get)prof__gpu_symbol(libraries[0], "wglGetProcAddress");
    int is_wgl = has_context && get_address && (has_context() || !libraries[1]);
    PROC found = is_wgl ? get_address(name) : NULL;
    prof_gl_function function;
    memcpy(&function, &found, sizeof function);
    if (!function && libraries[!is_wgl]) function = prof__gpu_symbol(libraries[!is_wgl], name);
    return function; /* wglGetProcAddress() knows only what is newer than OpenGL 1.1 */
#elif defined(__APPLE__)
    static const char *const gl[] = {"/System/Library/Frameworks/OpenGL.framework/OpenGL", NULL};
    return prof__gpu_symbol(prof__gpu_library(gl, 1), name);
#else
    static const char *const egl[] = {"libEGL.so.1", "libEGL.so", NULL};
    static const char *const glx[] = {"libGL.so.1", "libGLX.so.0", NULL};
    static const char *const gl[] = {"libGLESv2.so.2", "libGLESv2.so", "libGL.so.1", "libOpenGL.so.0", NULL};
    typedef void *(*current)(void);
    void *library = prof__gpu_library(egl, 0);
    current egl_current = library ? (current)prof__gpu_symbol(library, "eglGetCurrentContext") : NULL;
    prof_gl_function by_egl = library ? prof__gpu_symbol(library, "eglGetProcAddress") : NULL, function = NULL;
    library = egl_current && egl_current() ? NULL : prof__gpu_library(glx, 0);
    prof_gl_function get = library ? prof__gpu_symbol(library, "glXGetProcAddressARB") : NULL;
    if (!get) get = by_egl;
    if (get) function = ((prof_gl_load *)get)(name);
    return function ? function : prof__gpu_symbol(prof__gpu_library(gl, 0), name); /* null: what the program links to */
#endif
}

static prof_gl_function prof__gl_function(prof_gl_load *load, const char *name)
{
    prof_gl_function function = load ? load(name) : NULL;
    return function ? function : prof__gl_find(name); /* some loaders only know what is newer than OpenGL 1.1 */
}

/* Finds functions: those of the extension on ES, or the others. A loader may return an address for any name: so these
   are only used where the version or the extension has them. Returns the name of one that is missing, or null. */
static const char *prof__gl_load_part(prof__gl_api *api, prof_gl_load *load, int of_extension, int es)
{
    static const struct {
        const char *name;
        size_t field;
        int of_extension;
    } wanted[] = {
#define PROF__GL_WANTED(field, name, of_extension, type, parameters)                                                   \
    {name, offsetof(prof__gl_api, field), of_extension},
        PROF__GL_FUNCTIONS(PROF__GL_WANTED)
    };
    const char *missing = NULL;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
        char name[64];
        if (wanted[i].of_extension != of_extension) continue;
        snprintf(name, sizeof name, "%s%s", wanted[i].name, es && of_extension ? "EXT" : "");
        prof_gl_function function = prof__gl_function(load, name);
        memcpy((char *)api + wanted[i].field, &function, sizeof function);
        if (!function && wanted[i].field != offsetof(prof__gl_api, get_stringi) && !missing)
            missing = wanted[i].name;
    }
    return missing;
}

/* Returns 1 if a list of words has this word. */
static int prof__gl_listed(const char *list, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = list; at && (at = strstr(at, word)) != NULL; at += size)
        if ((at == list || at[-1] == ' ') && (!at[size] || at[size] == ' ')) return 1;
    return 0;
}

static int prof__gl_has(const prof__gl_api *api, int major, const char *extension)
{
    int count = 0;
    if (major < 3 || !api->get_stringi)
        return prof__gl_listed((const char *)api->get_string(PROF__GL_EXTENSIONS), extension);
    api->get_integerv(PROF__GL_NUM_EXTENSIONS, &count);
    for (int i = 0; i < count; ++i) {
        const unsigned char *name = api->get_stringi(PROF__GL_EXTENSIONS, (unsigned)i);
        if (name && !strcmp((const char *)name, extension)) return 1;
    }
    return 0;
}

/* Finds all functions. Returns 1 if the context has timestamps; *es: it is one of OpenGL ES; *bits: of its clock. */
static int prof__gl_api_load(prof__gl_api *api, prof_gl_load *load, int *es, int *bits)
{
    const char *missing = prof__gl_load_part(api, load, 0, 0), *version, *number;
    if (missing) {
        prof__fail(PROF_UNSUPPORTED, "prof_gl_create: OpenGL is not in this process: there is no %s", missing);
        return 0;
    }
    version = (const char *)api->get_string(PROF__GL_VERSION);
    if (!version) {
        prof__fail(PROF_INVALID_STATE, "prof_gl_create: no context of OpenGL is current on this thread: make one "
                                       "current before");
        return 0;
    }
    *es = !strncmp(version, "OpenGL ES", 9);
    for (number = version; *number && (*number < '0' || *number > '9');) ++number;
    int major = *number ? *number - '0' : 0, minor = *number && number[1] == '.' ? number[2] - '0' : 0;
    if (number[0] && number[1] >= '0' && number[1] <= '9') major = 10; /* two digits */
    int enough = !*es && major * 10 + minor >= 33;
    if (!enough && !prof__gl_has(api, major, *es ? "GL_EXT_disjoint_timer_query" : "GL_ARB_timer_query")) {
        prof__fail(PROF_UNSUPPORTED, "prof_gl_create: %.100s has no timestamps: it needs %s", version,
                   *es ? "GL_EXT_disjoint_timer_query" : "OpenGL 3.3 or GL_ARB_timer_query");
        return 0;
    }
    missing = prof__gl_load_part(api, load, 1, *es);
    if (missing) {
        prof__fail(PROF_UNSUPPORTED, "prof_gl_create: the loader does not find %s%s of %.100s", missing,
                   *es ? "EXT" : "", version);
        return 0;
    }
    api->get_queryiv(PROF__GL_TIMESTAMP, PROF__GL_QUERY_COUNTER_BITS, bits);
    if (*bits <= 0)
        prof__fail(PROF_UNSUPPORTED, "prof_gl_create: the clock of %.100s has no bits: its driver does not tell times",
                   version);
    return *bits > 0;
}

enum { PROF__GL_FULL, PROF__GL_DISJOINT, PROF__GL_UNANSWERED, PROF__GL_DESTROYED };
#define PROF__GL_FRAMES 8 /* of prof_gl_collect(), that may be on their way */

typedef struct prof__gl_scope {
    unsigned queries[2]; /* names of OpenGL: begin and end */
    unsigned char open;
    unsigned char spoiled; /* the GPU's clock changed meanwhile */
    uint64_t flow;
    char name[96];
} prof__gl_scope;

/* Scopes are idle, or open, or wait in the order of their ends, which is the order in which OpenGL has their times. */
struct prof_gl {
    prof__gl_api api;
    prof_device *device;
    prof_device_row *row;
    prof__gl_scope *scopes;
    uint32_t *idle, *waiting; /* numbers of scopes: a stack; a ring */
    uint32_t size, idle_count, first, count;
    uint32_t frames[PROF__GL_FRAMES], frame_count; /* how many of those that wait belong to each frame, and to older */
    int es, arrows;
    uint64_t calibrate_ns, calibrated;
    uint64_t recorded;
    prof__gpu_losses losses;
    uint32_t number; /* of the context among those that live */
    prof_gl *next;
    char key[160], full[120]; /* texts of losses */
    const char *causes[PROF__GPU_CAUSES];
};

static prof_gl *prof__gl_contexts;
static int prof__gl_contexts_lock;

static prof__gl_scope *prof__gl_waiting(const prof_gl *gl, uint32_t at)
{
    return &gl->scopes[gl->waiting[(gl->first + at) % gl->size]];
}

/* Takes the oldest scope that waits out of the ring. */
static void prof__gl_drop_first(prof_gl *gl)
{
    gl->idle[gl->idle_count++] = gl->waiting[gl->first];
    gl->first = (gl->first + 1) % gl->size;
    gl->count--;
}

/* Reads both clocks. OpenGL leaves the result alone if it does not answer. */
static void prof__gl_calibrate(prof_gl *gl)
{
    prof__gpu_pair pair;
    memset(&pair, 0, sizeof pair);
    for (int i = 0; i < 8; ++i) {
        int64_t ticks = -1;
        prof__gpu_pair_before(&pair);
        gl->api.get_integer64v(PROF__GL_TIMESTAMP, &ticks);
        if (ticks == -1 || !prof__gpu_pair_after(&pair, (uint64_t)ticks)) break;
    }
    gl->calibrated = pair.before;
    if (pair.host_ns) prof_device_sync(gl->device, pair.ticks, pair.host_ns);
}

/*-- markup --*/

PROF_DEF prof_gl_scope prof_gl_begin(prof_gl *gl, const char *name)
{
    if (!gl || !prof__device_live(gl->device)) return 0;
    if (!gl->idle_count) {
        gl->losses.counts[PROF__GL_FULL]++;
        return 0;
    }
    uint32_t number = gl->idle[--gl->idle_count];
    prof__gl_scope *scope = &gl->scopes[number];
    prof__text_copy(scope->name, sizeof scope->name, name ? name : "");
    scope->open = 1;
    scope->spoiled = 0;
    scope->flow = 0;
    if (gl->arrows) {
        scope->flow = prof_flow_new();
        PROFILE_FLOW_OUT(scope->flow);
    }
    gl->api.query_counter(scope->queries[0], PROF__GL_TIMESTAMP);
    return number + 1;
}

PROF_DEF void prof_gl_end(prof_gl *gl, prof_gl_scope number)
{
    if (!gl || !number || number > gl->size || !gl->scopes[number - 1].open) return;
    prof__gl_scope *scope = &gl->scopes[number - 1];
    scope->open = 0;
    gl->api.query_counter(scope->queries[1], PROF__GL_TIMESTAMP);
    gl->waiting[(gl->first + gl->count++) % gl->size] = number - 1;
}

/*-- collection --*/

static void prof__gl_record(prof_gl *gl, const prof__gl_scope *scope, const uint64_t *times)
{
    prof_device_event event;
    memset(&event, 0, sizeof event);
    event.type = PROF_EVENT_SCOPE;
    event.name = scope->name;
    event.start = times[0];
    event.end = times[1];
    event.flow = scope->flow;
    prof_device_record(gl->row, &event);
    gl->recorded++;
}

/* Reads the times of the oldest scopes. They are there, or OpenGL waits for them. */
static void prof__gl_read(prof_gl *gl, uint32_t count)
{
    for (; count; --count) {
        const prof__gl_scope *scope = prof__gl_waiting(gl, 0);
        uint64_t times[2] = {UINT64_MAX, UINT64_MAX};
        int answered = 1;
        for (int i = 0; i < 2 && answered && !scope->spoiled; ++i) {
            gl->api.get_query_object64(scope->queries[i], PROF__GL_QUERY_RESULT, &times[i]);
            answered = times[i] != UINT64_MAX && times[i]; /* a lost context has no result, or 0 */
        }
        if (scope->spoiled) gl->losses.counts[PROF__GL_DISJOINT]++;
        else if (!answered) gl->losses.counts[PROF__GL_UNANSWERED]++;
        else prof__gl_record(gl, scope, times);
        prof__gl_drop_first(gl);
    }
}

/* On ES: asks whether the GPU's clock changed since the last time; then no time of what is on its way has a meaning. */
static void prof__gl_look_for_disjoint(prof_gl *gl)
{
    int disjoint = 0;
    if (!gl->es) return;
    gl->api.get_integerv(PROF__GL_GPU_DISJOINT, &disjoint);
    if (disjoint != 1) return;
    for (uint32_t i = 0; i < gl->count; ++i) prof__gl_waiting(gl, i)->spoiled = 1;
    for (uint32_t i = 0; i < gl->size; ++i)
        if (gl->scopes[i].open) gl->scopes[i].spoiled = 1;
    prof__gl_calibrate(gl);
}

/* The scopes that ended since the last frame are a new one; if there are too many, they belong to the newest. */
static void prof__gl_frame_ends(prof_gl *gl)
{
    uint32_t before = gl->frame_count ? gl->frames[gl->frame_count - 1] : 0;
    if (gl->count == before) return;
    if (gl->frame_count == PROF__GL_FRAMES) gl->frame_count--;
    gl->frames[gl->frame_count++] = gl->count;
}

static void prof__gl_frames_pass(prof_gl *gl, uint32_t frames)
{
    uint32_t passed = gl->frames[frames - 1];
    for (uint32_t i = frames; i < gl->frame_count; ++i) gl->frames[i - frames] = gl->frames[i] - passed;
    gl->frame_count -= frames;
}

PROF_DEF prof_status prof_gl_collect(prof_gl *gl)
{
    if (!gl) return PROF_OK;
    prof__gl_look_for_disjoint(gl);
    prof__gl_frame_ends(gl);
    while (gl->frame_count) {
        /* A query that is available has all queries of its kind before it available, says OpenGL: one question serves
           for a frame. A question may be dear, and a driver may begin to render for it. */
        unsigned available = 2;
        const prof__gl_scope *last = prof__gl_waiting(gl, gl->frames[0] - 1);
        gl->api.get_query_object(last->queries[1], PROF__GL_QUERY_RESULT_AVAILABLE, &available);
        if (!available) break;
        prof__gl_look_for_disjoint(gl); /* again: it may have happened while the driver was asked */
        uint32_t count = gl->frames[0];
        prof__gl_frames_pass(gl, 1);
        if (available == 2) { /* no answer: nor would there be to other questions */
            gl->losses.counts[PROF__GL_UNANSWERED] += count;
            for (; count; --count) prof__gl_drop_first(gl);
        } else {
            prof__gl_read(gl, count);
        }
    }
    if (prof__device_live(gl->device) && prof_host_ns() - gl->calibrated >= gl->calibrate_ns) prof__gl_calibrate(gl);
    return prof__gpu_losses_tell(&gl->losses, 0);
}

PROF_DEF prof_status prof_gl_finish(prof_gl *gl)
{
    uint64_t last = 0;
    if (!gl) return PROF_OK;
    /* First wait, then ask whether the times mean anything. */
    if (gl->es && gl->count)
        gl->api.get_query_object64(prof__gl_waiting(gl, gl->count - 1)->queries[1], PROF__GL_QUERY_RESULT, &last);
    prof__gl_look_for_disjoint(gl);
    gl->frame_count = 0;
    prof__gl_read(gl, gl->count);
    prof__gl_calibrate(gl);
    return prof__gpu_losses_tell(&gl->losses, 1);
}

PROF_DEF prof_status prof_gl_get_info(const prof_gl *gl, prof_gl_info *info)
{
    if (!info) return prof__fail(PROF_INVALID_ARGUMENT, "prof_gl_get_info: info is null");
    memset(info, 0, sizeof *info);
    if (!gl) return PROF_OK;
    info->recorded = gl->recorded;
    info->pending = gl->size - gl->idle_count;
    info->full = gl->losses.counts[PROF__GL_FULL];
    info->disjoint = gl->losses.counts[PROF__GL_DISJOINT];
    info->unanswered = gl->losses.counts[PROF__GL_UNANSWERED];
    info->destroyed = gl->losses.counts[PROF__GL_DESTROYED];
    return PROF_OK;
}

/*-- life --*/

/* Gives the context the lowest number that no other has. */
static void prof__gl_join(prof_gl *gl)
{
    prof__lock(&prof__gl_contexts_lock);
    prof_gl **at = &prof__gl_contexts; /* in the order of numbers */
    for (gl->number = 1; *at && (*at)->number == gl->number; at = &(*at)->next) gl->number++;
    gl->next = *at;
    *at = gl;
    prof__unlock(&prof__gl_contexts_lock);
}

static void prof__gl_leave(const prof_gl *gl)
{
    prof__lock(&prof__gl_contexts_lock);
    prof_gl **at = &prof__gl_contexts;
    while (*at && *at != gl) at = &(*at)->next;
    if (*at) *at = gl->next;
    prof__unlock(&prof__gl_contexts_lock);
}

static int prof__gl_queries_make(prof_gl *gl)
{
    for (uint32_t i = 0; i < gl->size; ++i) {
        gl->api.gen_queries(2, gl->scopes[i].queries);
        if (!gl->scopes[i].queries[0] || !gl->scopes[i].queries[1]) return 0;
        gl->idle[gl->idle_count++] = gl->size - 1 - i;
    }
    return 1;
}

/* Names the device and the row, and the causes of losses. */
static void prof__gl_name(prof_gl *gl, const prof_gl_options *options, int bits)
{
    char device[120], row[32];
    const unsigned char *renderer = gl->api.get_string(PROF__GL_RENDERER);
    prof_device_clock clock = {1000000000, (unsigned)bits > 64 ? 64 : (unsigned)bits, 0};
    snprintf(device, sizeof device, "OpenGL %.100s", renderer ? (const char *)renderer : "");
    snprintf(row, sizeof row, "context %u", (unsigned)gl->number);
    if (options->device) prof__text_copy(device, sizeof device, options->device);
    gl->device = prof_device_create(device, &clock);
    gl->row = prof_device_row_create(gl->device, options->row ? options->row : row);
    snprintf(gl->key, sizeof gl->key, "%s, %.30s", device, options->row ? options->row : row);
    snprintf(gl->full, sizeof gl->full, "the ring of %u scopes was full: set options.scopes, or collect each frame",
             (unsigned)gl->size);
    gl->causes[PROF__GL_FULL] = gl->full;
    gl->causes[PROF__GL_DISJOINT] = "the GPU's clock changed (disjoint)";
    gl->causes[PROF__GL_UNANSWERED] =
        "OpenGL did not answer: the context is lost, or was not current on the thread that collected";
    gl->causes[PROF__GL_DESTROYED] = "prof_gl_destroy() came before the GPU had done them: call prof_gl_finish()";
    gl->losses.key = gl->key;
    gl->losses.causes = gl->causes;
}

static void prof__gl_free(prof_gl *gl)
{
    if (gl->number) prof__gl_leave(gl);
    free(gl->scopes);
    free(gl->idle);
    free(gl->waiting);
    free(gl);
}

static void prof__gl_queries_free(prof_gl *gl)
{
    for (uint32_t i = 0; i < gl->size; ++i)
        if (gl->scopes[i].queries[0]) gl->api.delete_queries(2, gl->scopes[i].queries);
}

static prof_gl *prof__gl_allocate(uint32_t size)
{
    prof_gl *gl = (prof_gl *)calloc(1, sizeof *gl);
    if (!gl) return NULL;
    gl->size = size;
    gl->scopes = (prof__gl_scope *)calloc(size, sizeof *gl->scopes);
    gl->idle = (uint32_t *)calloc(size, sizeof *gl->idle);
    gl->waiting = (uint32_t *)calloc(size, sizeof *gl->waiting);
    if (gl->scopes && gl->idle && gl->waiting) return gl;
    prof__gl_free(gl);
    return NULL;
}

PROF_DEF prof_gl *prof_gl_create(prof_gl_load *load, const prof_gl_options *options)
{
    static const prof_gl_options defaults = {NULL, NULL, 0, 0, 0};
    int bits = 0;
    if (!options) options = &defaults;
    if (options->scopes > 65536 || (options->device && !*options->device)) {
        prof__fail(PROF_INVALID_ARGUMENT, "prof_gl_create: %s",
                   options->scopes > 65536 ? "options.scopes is above 65536" : "options.device is empty");
        return NULL;
    }
    prof_gl *gl = prof__gl_allocate(options->scopes ? options->scopes : 1024);
    if (!gl) {
        prof__fail(PROF_NO_MEMORY, "prof_gl_create: no memory for %u scopes", (unsigned)options->scopes);
        return NULL;
    }
    if (!prof__gl_api_load(&gl->api, load, &gl->es, &bits)) {
        prof__gl_free(gl);
        return NULL;
    }
    gl->arrows = !options->no_arrows;
    gl->calibrate_ns = options->calibrate_ms == UINT32_MAX ? UINT64_MAX
                       : options->calibrate_ms             ? options->calibrate_ms * (uint64_t)1000000
                                                           : 1000000000;
    prof__gl_join(gl);
    prof__gl_name(gl, options, bits);
    int made = prof__gl_queries_make(gl);
    if (!made || !gl->row) {
        if (!made) prof__fail(PROF_INVALID_STATE, "prof_gl_create: glGenQueries made no names: the context is lost");
        prof__gl_queries_free(gl);
        prof__gl_free(gl);
        return NULL;
    }
    int disjoint = 0;
    if (gl->es) gl->api.get_integerv(PROF__GL_GPU_DISJOINT, &disjoint); /* of before: it has no meaning here */
    prof__gl_calibrate(gl);
    return gl;
}

PROF_DEF prof_status prof_gl_destroy(prof_gl *gl)
{
    if (!gl) return PROF_OK;
    gl->losses.counts[PROF__GL_DESTROYED] += gl->size - gl->idle_count;
    prof_status status = prof__gpu_losses_tell(&gl->losses, 1);
    prof__gl_queries_free(gl);
    prof__gl_free(gl);
    return status;
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#ifdef PROF__WRAPS_MALLOC
#undef malloc
#undef calloc
#undef realloc
#undef free
#endif
#endif /* PROF_IMPLEMENTATION */

#pragma pack(pop)

/* This software is available under two licences: choose the one you prefer.

ALTERNATIVE A - MIT No Attribution (MIT-0)

Copyright 2026 the prof authors

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

ALTERNATIVE B - public domain (www.unlicense.org)

This is free and unencumbered software released into the public domain.

Anyone is free to copy, modify, publish, use, compile, sell, or distribute this software, either in source code form or
as a compiled binary, for any purpose, commercial or non-commercial, and by any means.

In jurisdictions that recognize copyright laws, the author or authors of this software dedicate any and all copyright
interest in the software to the public domain. We make this dedication for the benefit of the public at large and to the
detriment of our heirs and successors. We intend this dedication to be an overt act of relinquishment in perpetuity of
all present and future rights to this software under copyright law.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS BE
LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT
OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE. */
