// session/number: Parses numbers with units. Names of the modes.
#ifndef PROF__SESSION_NUMBER_H
#define PROF__SESSION_NUMBER_H
#include "ground/base.h"

/* A unit that may follow a number, and its factor. A table of units ends with a name of NULL. */
typedef struct prof__unit {
    const char *name;
    uint64_t factor;
} prof__unit;

/* Parses a number with an optional fraction and a unit from the table. Returns 0 if text is not such a number, or if
   the result is no whole number. */
static int prof__parse_number(const char *text, const prof__unit *units, uint64_t *out)
{
    uint64_t value = 0, fraction = 0, scale = 1;
    if (*text < '0' || *text > '9') return 0;
    for (; *text >= '0' && *text <= '9'; ++text) {
        if (value > (UINT64_MAX - 9) / 10) return 0;
        value = value * 10 + (uint64_t)(*text - '0');
    }
    if (*text == '.') {
        for (++text; *text >= '0' && *text <= '9'; ++text)
            if (scale < 1000000000) {
                fraction = fraction * 10 + (uint64_t)(*text - '0');
                scale *= 10;
            } else if (*text != '0') {
                return 0;
            }
    }
    for (; units->name; ++units)
        if (prof__equal(units->name, text)) {
            if (units->factor && value > UINT64_MAX / 2 / units->factor) return 0;
            if (fraction * units->factor % scale) return 0; /* for example 1.5 bytes */
            *out = value * units->factor + fraction * units->factor / scale;
            return 1;
        }
    return 0;
}

/* The table for numbers without a unit. */
static PROF__UNUSED const prof__unit prof__ones[] = {{"", 1}, {NULL, 0}};
static int prof__parse_whole(const char *text, uint64_t *out)
{
    return prof__parse_number(text, prof__ones, out);
}

static PROF__UNUSED const char *const prof__mode_names[] = {"ring", "fill", "stream", "stats", "ring+stats", NULL};

#endif /* PROF__SESSION_NUMBER_H */
