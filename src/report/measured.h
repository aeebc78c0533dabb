// report/measured: Values with a unit, as people read them.
#ifndef PROF__REPORT_MEASURED_H
#define PROF__REPORT_MEASURED_H
#include "ground/digits.h"
#include "ground/numbers.h"
#include "ground/utf8.h"

static const char *const prof__byte_units[] = {"B", "kB", "MB", "GB", "TB", "PB", NULL};

#define PROF__MEASURED_UNIT 24 /* a longer unit is cut to this many bytes */

/* Returns how many nanoseconds a unit of time has. Returns 0 for any other unit. */
static double prof__unit_ns(const char *unit)
{
    static const struct { const char *name; double ns; } units[] = {
        {"ns", 1}, {"us", 1e3}, {"\xc2\xb5s", 1e3}, {"\xce\xbcs", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    size_t i;
    for (i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(unit, units[i].name)) return units[i].ns;
    return 0;
}

/* Writes a value of a counter to `to` (96 bytes). Bytes and times get a suitable unit; other values keep theirs. Only
   the unit that the program gave decides; the counter's name is not interpreted. */
static void prof__measured(char *to, double value, const char *unit)
{
    int bytes = !strcmp(unit, "B") || !strcmp(unit, "byte") || !strcmp(unit, "bytes");
    double scale = bytes ? 1 : prof__unit_ns(unit), scaled = prof__finite(value) ? value * scale : 0;
    double size = scaled < 0 ? -scaled : scaled;
    size_t length = 0;
    if (scale > 0 && prof__finite(value) && size < 1e18 && (size >= 0.1 || !(size > 0))) {
        if (bytes)
            prof__human(to, scaled, prof__byte_units);
        else
            prof__human_ns(to, scaled);
        return;
    }
    to += prof__counter_text(to, value);
    if (!*unit) return;
    *to++ = ' ';
    while (unit[length] && length < PROF__MEASURED_UNIT) length++;
    if (unit[length]) length = prof__utf8_cut(unit, length);
    memcpy(to, unit, length);
    to[length] = 0;
}

#endif /* PROF__REPORT_MEASURED_H */
