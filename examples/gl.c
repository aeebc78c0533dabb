/* OpenGL without a window: a triangle in three passes, each with a framebuffer of its own, on the time line of the
   program that asks for them.

       cc -O2 examples/gl.c -o gl -lEGL -lGL -pthread -ldl && ./gl

   It writes gl.html: open it in a browser. Needs EGL, and OpenGL 3.3; Mesa has both without a GPU, too. With "es" as
   argument, OpenGL ES 3. */
#define PROF_IMPLEMENTATION
#include "../prof_html.h"
#include "../prof_gl.h"
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 60, PASSES = 3, SIZE = 512 };

static int fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    return 1;
}

/* Makes a context without a surface current. Returns 0 if EGL has none. */
static int context_make(int es)
{
    static const EGLint desktop[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 3, EGL_NONE};
    static const EGLint embedded[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE};
    PFNEGLGETPLATFORMDISPLAYEXTPROC get =
        (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
    EGLDisplay display = get ? get(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL) : EGL_NO_DISPLAY;
    if (display == EGL_NO_DISPLAY) display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
    if (!eglInitialize(display, NULL, NULL) || !eglBindAPI(es ? EGL_OPENGL_ES_API : EGL_OPENGL_API)) return 0;
    EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, es ? embedded : desktop);
    return context != EGL_NO_CONTEXT && eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context);
}

static GLuint shader_make(GLenum kind, const char *version, const char *text)
{
    const char *parts[2];
    GLuint shader = glCreateShader(kind);
    parts[0] = version;
    parts[1] = text;
    glShaderSource(shader, 2, parts, NULL);
    glCompileShader(shader);
    return shader;
}

static GLuint program_make(int es)
{
    const char *version = es ? "#version 300 es\nprecision highp float;\n" : "#version 330\n";
    GLuint program = glCreateProgram();
    glAttachShader(program, shader_make(GL_VERTEX_SHADER, version,
        "void main() { vec2 at = vec2(gl_VertexID % 2, gl_VertexID / 2) * 2.0 - 0.9; gl_Position = vec4(at, 0, 1); }"));
    glAttachShader(program, shader_make(GL_FRAGMENT_SHADER, version,
        "uniform int rounds; out vec4 color;"
        "void main() { float x = gl_FragCoord.x; for (int i = 0; i < rounds; ++i) x = fract(x * 1.7 + 0.3);"
        "              color = vec4(x, 0.5, 1.0 - x, 1); }"));
    glLinkProgram(program);
    return program;
}

static GLuint framebuffer_make(void)
{
    GLuint framebuffer, image;
    glGenTextures(1, &image);
    glBindTexture(GL_TEXTURE_2D, image);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, SIZE, SIZE, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, image, 0);
    return framebuffer;
}

static void draw(GLuint framebuffer, GLint rounds, int how_many)
{
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glUniform1i(rounds, how_many);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

int main(int argc, char **argv)
{
    int es = argc > 1 && !strcmp(argv[1], "es");
    prof_config config = {0};
    GLuint framebuffers[PASSES], array;
    config.output = "gl.html";
    if (prof_start(&config)) return fail(prof_error());
    if (!context_make(es)) return fail("EGL has no context without a surface here");
    prof_gl *gpu = prof_gl_create(eglGetProcAddress, NULL);
    if (!gpu) fail(prof_error()); /* the program goes on without times of the GPU */

    GLuint program = program_make(es);
    GLint rounds = glGetUniformLocation(program, "rounds");
    for (int i = 0; i < PASSES; ++i) framebuffers[i] = framebuffer_make();
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    glUseProgram(program);
    glViewport(0, 0, SIZE, SIZE);

    for (int frame = 0; frame < FRAMES; ++frame) {
        PROFILE_STEP("frame", frame);
        {
            PROFILE_SCOPE("draw");
            PROFILE_GL_SCOPE(gpu, "frame");
            {
                PROFILE_GL_SCOPE(gpu, "shadow pass");
                draw(framebuffers[0], rounds, 4);
            }
            {
                PROFILE_GL_SCOPE(gpu, "main pass");
                draw(framebuffers[1], rounds, 16);
            }
            {
                PROFILE_GL_SCOPE(gpu, "post pass");
                draw(framebuffers[2], rounds, 8);
            }
        }
        {
            PROFILE_SCOPE("swap buffers"); /* there is no window: the frame is only sent off */
            glFlush();
        }
        PROFILE_SCOPE("collect");
        if (prof_gl_collect(gpu)) fail(prof_error());
    }
    if (prof_gl_finish(gpu)) fail(prof_error());
    prof_gl_info counts = {0};
    prof_gl_get_info(gpu, &counts);
    printf("gl.html: %d frames, and %llu scopes of %s\n", FRAMES, (unsigned long long)counts.recorded,
           (const char *)glGetString(GL_RENDERER));
    prof_gl_destroy(gpu);
    if (prof_stop()) return fail(prof_error());
    return 0;
}
