// A module for Unreal: it records from the start of the module to its end, with a boundary for each frame of the
// engine. Other modules that depend on it include prof.h and use the macros.
//
// Unreal builds files together: each other .cpp begins with #undef PROF_CATEGORY and its #define. In Prof.Build.cs,
// PrivateDependencyModuleNames has "Core". The output is what PROF_OUTPUT says, else unreal.json.
#undef PROF_CATEGORY
#define PROF_CATEGORY "unreal"
#define PROF_IMPLEMENTATION
#include "prof_chrome.h"
#include <cstdlib>

#include "CoreMinimal.h"
#include "Misc/CoreDelegates.h"
#include "Modules/ModuleManager.h"

class FProfModule : public IModuleInterface {
public:
    void StartupModule() override
    {
        if (!getenv("PROF_OUTPUT")) { // which has started it already
            prof_config Config = {};
            Config.output = "unreal.json";
            if (prof_start(&Config) != PROF_OK) UE_LOG(LogTemp, Warning, TEXT("prof: %hs"), prof_error());
        }
        Frames = FCoreDelegates::OnEndFrame.AddLambda([] { PROFILE_FRAME("frame"); });
    }
    void ShutdownModule() override
    {
        FCoreDelegates::OnEndFrame.Remove(Frames);
        if (prof_stop() != PROF_OK) UE_LOG(LogTemp, Warning, TEXT("prof: %hs"), prof_error());
    }

private:
    FDelegateHandle Frames;
};
IMPLEMENT_MODULE(FProfModule, Prof)
