// gl/functions: The functions of OpenGL that are needed, with names of our own, and how they are found.
#ifndef PROF__GL_FUNCTIONS_H
#define PROF__GL_FUNCTIONS_H
#include "gl/api.h"
#include "gpu/shared.h"

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

#endif /* PROF__GL_FUNCTIONS_H */
