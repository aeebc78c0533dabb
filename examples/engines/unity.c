/* A native plugin for Unity, in C: it records while the player or the editor has it loaded, and is the recorder for the
   C and C++ of other plugins. IUnityInterface.h comes with Unity, in Editor/Data/PluginAPI.

       cc -O2 -fPIC -shared -I. -I$UNITY/Editor/Data/PluginAPI examples/engines/unity.c -o libprof_unity.so -pthread

   The output is what PROF_OUTPUT says, else unity.json in the folder in which Unity was started. In C#:

       [DllImport("prof_unity")] static extern IntPtr prof_unity_name(string name);        // once for each name
       [DllImport("prof_unity")] static extern void prof_unity_begin(IntPtr name);
       [DllImport("prof_unity")] static extern void prof_unity_end(IntPtr name);           // on the same thread
       [DllImport("prof_unity")] static extern void prof_unity_frame();                    // in Update() of one object
       [DllImport("prof_unity")] static extern IntPtr prof_unity_counter(string name);
       [DllImport("prof_unity")] static extern void prof_unity_set(IntPtr counter, double value); */
#define PROF_CATEGORY "unity"
#define PROF_IMPLEMENTATION
#include "../../prof_chrome.h"
#include <IUnityInterface.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
#define PLUGIN extern "C" UNITY_INTERFACE_EXPORT
#else
#define PLUGIN UNITY_INTERFACE_EXPORT
#endif

PLUGIN void UNITY_INTERFACE_API UnityPluginLoad(IUnityInterfaces *interfaces)
{
    prof_config config = {0};
    (void)interfaces;
    config.output = "unity.json";
    if (getenv("PROF_OUTPUT")) return; /* has started it already */
    if (prof_start(&config) != PROF_OK) fprintf(stderr, "prof: %s\n", prof_error());
}

PLUGIN void UNITY_INTERFACE_API UnityPluginUnload(void)
{
    if (prof_stop() != PROF_OK) fprintf(stderr, "prof: %s\n", prof_error());
}

/* Handles live as long as the process, as C#'s static fields do. */
PLUGIN void *UNITY_INTERFACE_API prof_unity_name(const char *name);
PLUGIN void UNITY_INTERFACE_API prof_unity_begin(void *name);
PLUGIN void UNITY_INTERFACE_API prof_unity_end(void *name);
PLUGIN void UNITY_INTERFACE_API prof_unity_frame(void);
PLUGIN void *UNITY_INTERFACE_API prof_unity_counter(const char *name);
PLUGIN void UNITY_INTERFACE_API prof_unity_set(void *counter, double value);

void *UNITY_INTERFACE_API prof_unity_name(const char *name) { return prof_range_create(name); }
void UNITY_INTERFACE_API prof_unity_begin(void *name) { prof_range_start((prof_range *)name); }
void UNITY_INTERFACE_API prof_unity_end(void *name) { prof_range_stop((prof_range *)name); }
void UNITY_INTERFACE_API prof_unity_frame(void) { PROFILE_FRAME("frame"); }
void *UNITY_INTERFACE_API prof_unity_counter(const char *name) { return prof_counter_create(NULL, name); }
void UNITY_INTERFACE_API prof_unity_set(void *counter, double value)
{
    prof_counter_set_double((prof_counter *)counter, value);
}
