/* A GDExtension for Godot 4.5 or later, in C: it records while the game runs, with a boundary for each frame of Godot's
   main loop, and is the recorder for the C and C++ of other extensions. gdextension_interface.h comes from
   `godot --dump-gdextension-interface`.

       cc -O2 -fPIC -shared -I. examples/engines/godot.c -o libprof_godot.so -pthread

   In the project, a file prof.gdextension, beside the library:

       [configuration]
       entry_symbol = "prof_godot_init"
       compatibility_minimum = "4.5"
       [libraries]
       linux.x86_64 = "libprof_godot.so"

   The output is what PROF_OUTPUT says, else godot.json in the folder in which Godot was started. */
#define PROF_CATEGORY "godot"
#define PROF_IMPLEMENTATION
#include "../../prof_chrome.h"
#include <gdextension_interface.h>
#include <stdio.h>
#include <stdlib.h>

static GDExtensionInterfaceGetProcAddress get_function;
static GDExtensionClassLibraryPtr this_library;

static void start(void)
{
    prof_config config = {0};
    config.output = "godot.json";
    if (getenv("PROF_OUTPUT")) return; /* has started it already */
    if (prof_start(&config) != PROF_OK) fprintf(stderr, "prof: %s\n", prof_error());
    PROFILE_THREAD("Godot's main thread");
}

static void stop(void)
{
    if (prof_stop() != PROF_OK) fprintf(stderr, "prof: %s\n", prof_error());
}

static void frame(void) { PROFILE_FRAME("frame"); }

static void initialize(void *user, GDExtensionInitializationLevel level)
{
    static const GDExtensionMainLoopCallbacks callbacks = {start, stop, frame};
    GDExtensionInterfaceRegisterMainLoopCallbacks register_callbacks;
    (void)user;
    if (level != GDEXTENSION_INITIALIZATION_CORE) return;
    register_callbacks = (GDExtensionInterfaceRegisterMainLoopCallbacks)get_function("register_main_loop_callbacks");
    if (register_callbacks) register_callbacks(this_library, &callbacks);
}

static void deinitialize(void *user, GDExtensionInitializationLevel level)
{
    (void)user;
    (void)level;
}

GDExtensionBool prof_godot_init(GDExtensionInterfaceGetProcAddress get, GDExtensionClassLibraryPtr library,
                                GDExtensionInitialization *result);
GDExtensionBool prof_godot_init(GDExtensionInterfaceGetProcAddress get, GDExtensionClassLibraryPtr library,
                                GDExtensionInitialization *result)
{
    get_function = get;
    this_library = library;
    result->minimum_initialization_level = GDEXTENSION_INITIALIZATION_CORE;
    result->initialize = initialize;
    result->deinitialize = deinitialize;
    return 1;
}
