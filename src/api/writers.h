// api/writers: Writers of formats: where outputs that are no .prof come from.
#ifndef PROF__API_WRITERS_H
#define PROF__API_WRITERS_H
#include "api/values.h"

/*-- WRITERS ---------------------------------------------------------------------------------------------- >>writers --
   Outputs of other formats than .prof have a writer. prof_read.h brings those of .csv and .txt, prof_chrome.h that of
   .json, prof_html.h that of .html. */

/* write returns 0, or anything else to stop: the writer then returns PROF_IO. */
typedef struct prof_sink {
    int (*write)(void *user, const void *data, size_t size);
    void *user;
} prof_sink;

/* A writer of a format, for outputs with an extension. write() gets what was recorded, and a sink for the bytes of the
   file, which replaces an older one when write() has returned PROF_OK. If it fails, the older file stays, and the
   function that saves returns its status, with the text of prof_fail(). It may be called on any thread. */
typedef struct prof_writer {
    const char *extension; /* ".mine", in lower case */
    prof_status (*write)(void *user, const prof_trace *trace, prof_sink sink);
    void *user;
    /* instead of write: makes its files itself. The extension "/" is a directory's */
    prof_status (*write_files)(const prof_trace *trace, const char *path);
    struct prof_writer *private_next;
} prof_writer;

/* Makes a writer and registers it before main, so that PROF_OUTPUT finds it: at file scope, in the file with
   PROF_IMPLEMENTATION, after the header. name: of the prof_writer. */
#if !PROF_ENABLE
#define PROF_WRITER(name, extension, write, user) \
    static PROF__UNUSED prof_writer name = {extension, write, user, NULL, NULL}
#elif defined(PROF_IMPLEMENTATION)
#define PROF_WRITER(name, extension, write, user)                          \
    static prof_writer name = {extension, write, user, NULL, NULL};        \
    PROF__AT_START(101, name##_register);                                  \
    static void name##_register(void) { prof_writer_register(&name); }     \
    PROF__WRITER_LEAVES(name)
#ifdef PROF__SHARED
#define PROF__WRITER_LEAVES(name)                                          \
    PROF__AT_END(101, name##_unregister);                                  \
    static void name##_unregister(void) { prof_writer_unregister(&name); } \
    struct prof_writer
#else
#define PROF__WRITER_LEAVES(name) struct prof_writer
#endif
#endif

#if PROF_ENABLE
/* Adds a writer, whose memory must stay until it is removed: before prof_start(), which looks for that of the output.
   Not for two threads at once. */
PROF__API void prof_writer_register(prof_writer *writer);
/* Sets the text of prof_error() and returns status: return prof_fail(PROF_UNSUPPORTED, "mine: no counters"). */
PROF__API prof_status prof_fail(prof_status status, const char *text);
/* Removes a writer. Call it before the library that has the writer's code is unloaded. Waits for a prof_stop() in
   progress. */
PROF__API void prof_writer_unregister(prof_writer *writer);
#endif

#endif /* PROF__API_WRITERS_H */
