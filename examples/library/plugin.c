/* A plugin with markup and nothing else of the recorder; host.c says how to build it. */
#define PROF_CATEGORY "plugin"
#include "../../prof.h"

double filter(double area);

static double last;

double filter(double area)
{
    PROFILE_FUNCTION();
    PROFILE_ARG_D("area", area);
    PROFILE_STAGE("smooth");
    last += (area - last) / 4;
    PROFILE_NEXT("round");
    return (double)(long)(last * 1000 + 0.5) / 1000;
}
