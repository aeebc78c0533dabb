// gl/manual: What users read.
/* prof_gl.h - what the GPU does for OpenGL and OpenGL ES, on the time line of the program's scopes - public domain or
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
