// display/names: Looks names up that viewers interpret.
#ifndef PROF__DISPLAY_NAMES_H
#define PROF__DISPLAY_NAMES_H
#include "ground/base.h"

/* Returns 1 if a name is in a sorted list. */
static int prof__display_listed(const char *const *list, size_t count, const char *name)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = (unsigned char)*name - (unsigned char)*list[middle]; /* decides mostly */
        if (!order) order = strcmp(name, list[middle]);
        if (!order) return 1;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return 0;
}

#endif /* PROF__DISPLAY_NAMES_H */
