/* A plugin that uses only the macros of prof; host.c says how to build it. */
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
