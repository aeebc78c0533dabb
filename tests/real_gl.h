/* A context of OpenGL without a window, from EGL: Mesa's llvmpipe does without a GPU. */
#ifndef TEST_REAL_GL_H
#define TEST_REAL_GL_H
#include "prof_gl.h"
#include <dlfcn.h>
#include <string.h>

typedef void *(*egl_get_platform_display)(unsigned platform, void *native, const intptr_t *attributes);
typedef unsigned (*egl_initialize)(void *display, int *major, int *minor);
typedef unsigned (*egl_bind_api)(unsigned api);
typedef void *(*egl_create_context)(void *display, void *config, void *share, const int *attributes);
typedef unsigned (*egl_destroy_context)(void *display, void *context);
typedef unsigned (*egl_make_current)(void *display, void *draw, void *read, void *context);

static struct egl {
    void *library, *display;
    prof_gl_load *get;
    egl_create_context create_context;
    egl_destroy_context destroy_context;
    egl_make_current make_current;
    egl_bind_api bind_api;
} egl;

static prof_gl_function egl_symbol(const char *name)
{
    void *found = dlsym(egl.library, name);
    prof_gl_function function;
    memcpy(&function, &found, sizeof function);
    return function;
}

/* Returns why there is no EGL, or null. */
static const char *egl_open(void)
{
    static const char *why = "";
    if (!why || *why) return why;
    egl.library = dlopen("libEGL.so.1", RTLD_NOW);
    if (!egl.library) return why = "there is no libEGL.so.1: libegl1";
    egl.get = (prof_gl_load *)egl_symbol("eglGetProcAddress");
    egl_get_platform_display display = (egl_get_platform_display)egl_symbol("eglGetPlatformDisplay");
    egl_initialize initialize = (egl_initialize)egl_symbol("eglInitialize");
    egl.create_context = (egl_create_context)egl_symbol("eglCreateContext");
    egl.destroy_context = (egl_destroy_context)egl_symbol("eglDestroyContext");
    egl.make_current = (egl_make_current)egl_symbol("eglMakeCurrent");
    egl.bind_api = (egl_bind_api)egl_symbol("eglBindAPI");
    if (!display || !egl.get) return why = "EGL is older than 1.5";
    egl.display = display(0x31DD, NULL, NULL); /* EGL_PLATFORM_SURFACELESS_MESA */
    if (!egl.display || !initialize(egl.display, NULL, NULL)) return why = "EGL has no display without a window";
    return why = NULL;
}

static void *egl_context(int es)
{
    static const int desktop[] = {0x3098, 3, 0x30FB, 3, 0x3038}, embedded[] = {0x3098, 3, 0x3038};
    egl.bind_api(es ? 0x30A0 : 0x30A2);
    void *context = egl.create_context(egl.display, NULL, NULL, es ? embedded : desktop);
    return context && egl.make_current(egl.display, NULL, NULL, context) ? context : NULL;
}

static void egl_leave(void *context)
{
    egl.make_current(egl.display, NULL, NULL, NULL);
    egl.destroy_context(egl.display, context);
}

#endif
