/* A static library with scopes; host.c says how to build it. A program that links it must have the implementation, or
   compile it with -DPROF_ENABLE=0, which leaves nothing of the macros in the object file. */
#define PROF_CATEGORY "shapes"
#include "../../prof.h"
#include "shapes.h"

/* The root of x by Newton's method, from above. */
static double root(double x)
{
    double guess = x > 1 ? x : 1, better = (guess + x / guess) / 2;
    while (better < guess) {
        guess = better;
        better = (guess + x / guess) / 2;
    }
    return guess;
}

/* As Archimedes did it: a square in the circle, whose corners are doubled. */
double circle_area(double radius, int doublings)
{
    double area = 2, side_squared = 2, corners = 4;
    PROFILE_FUNCTION();
    PROFILE_ARG_I("doublings", doublings);
    for (int i = 0; i < doublings; i++) {
        PROFILE_SCOPE("double");
        area = corners * root(side_squared) / 2;
        side_squared = 2 - 2 * root(1 - side_squared / 4);
        corners *= 2;
    }
    return area * radius * radius;
}
