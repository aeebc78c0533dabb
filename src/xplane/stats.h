// xplane/stats: Writes the stats of events, lines and planes.
#ifndef PROF__XPLANE_STATS_H
#define PROF__XPLANE_STATS_H
#include "api/read.h"
#include "api/values.h"
#include "image/pack.h"
#include "xplane/bytes.h"
#include "xplane/state.h"

/*-- stats. bytes: the message that gets a stat; tag: the tag of a stat in that message --*/

static void prof__xplane_stat_number(prof__xplane *x, prof__xplane_bytes *bytes, unsigned tag, size_t stat,
                                     unsigned type, uint64_t value)
{
    unsigned char body[24], *to = body;
    if (stat < PROF__STAT_COUNT) x->used |= (uint64_t)1 << stat;
    *to++ = PROF__XSTAT_NAME;
    to = prof__pack_integer(to, stat);
    *to++ = (unsigned char)type;
    to = prof__pack_integer(to, value);
    prof__xplane_message(bytes, tag, body, (size_t)(to - body));
}

static void prof__xplane_stat_double(prof__xplane *x, prof__xplane_bytes *bytes, unsigned tag, size_t stat,
                                     double value)
{
    unsigned char body[24], *to = body;
    uint64_t bits;
    int i;
    if (stat < PROF__STAT_COUNT) x->used |= (uint64_t)1 << stat;
    memcpy(&bits, &value, sizeof bits);
    *to++ = PROF__XSTAT_NAME;
    to = prof__pack_integer(to, stat);
    *to++ = PROF__XSTAT_DOUBLE;
    for (i = 0; i < 64; i += 8) *to++ = (unsigned char)(bits >> i);
    prof__xplane_message(bytes, tag, body, (size_t)(to - body));
}

/* Appends a stat with the value x->text. */
static void prof__xplane_stat_letters(prof__xplane *x, prof__xplane_bytes *bytes, unsigned tag, size_t stat)
{
    if (stat < PROF__STAT_COUNT) x->used |= (uint64_t)1 << stat;
    prof__xplane_number(bytes, tag, 2 + prof__xplane_length(stat) + prof__xplane_length(x->text.size) + x->text.size);
    prof__xplane_number(bytes, PROF__XSTAT_NAME, stat);
    prof__xplane_message(bytes, PROF__XSTAT_TEXT, x->text.data, x->text.size);
}

static void prof__xplane_stat_text(prof__xplane *x, prof__xplane_bytes *bytes, unsigned tag, size_t stat,
                                   const char *text)
{
    x->text.size = 0;
    prof__xplane_letters(&x->text, text);
    prof__xplane_stat_letters(x, bytes, tag, stat);
}

static void prof__xplane_stat_hex(prof__xplane *x, prof__xplane_bytes *bytes, size_t stat, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)value);
    prof__xplane_stat_text(x, bytes, PROF__XEVENT_STAT, stat, text);
}

static void prof__xplane_stat_source(prof__xplane *x, prof__xplane_bytes *bytes, unsigned tag, size_t stat,
                                     const prof_callsite *site)
{
    char line[24];
    if (!*site->file) return;
    snprintf(line, sizeof line, ":%lu", (unsigned long)site->line);
    x->text.size = 0;
    prof__xplane_letters(&x->text, site->file);
    prof__xplane_add(&x->text, line, strlen(line));
    prof__xplane_stat_letters(x, bytes, tag, stat);
}

static void prof__xplane_value(prof__xplane *x, prof__xplane_bytes *bytes, size_t stat, const prof_value *value)
{
    const unsigned tag = PROF__XEVENT_STAT;
    switch ((int)value->type) {
    case PROF_VALUE_INT: prof__xplane_stat_number(x, bytes, tag, stat, PROF__XSTAT_INT, (uint64_t)value->as.i); break;
    case PROF_VALUE_UINT: prof__xplane_stat_number(x, bytes, tag, stat, PROF__XSTAT_UINT, value->as.u); break;
    case PROF_VALUE_BOOL: prof__xplane_stat_number(x, bytes, tag, stat, PROF__XSTAT_INT, value->as.u != 0); break;
    case PROF_VALUE_DOUBLE: prof__xplane_stat_double(x, bytes, tag, stat, value->as.d); break;
    case PROF_VALUE_POINTER: prof__xplane_stat_hex(x, bytes, stat, value->as.u); break;
    case PROF_VALUE_STRING:
        x->text.size = 0;
        prof__xplane_letters(&x->text, value->as.string);
        if (value->cut) prof__xplane_add(&x->text, "\xE2\x80\xA6", 3); /* U+2026, an ellipsis */
        prof__xplane_stat_letters(x, bytes, tag, stat);
        break;
    default: prof__xplane_stat_text(x, bytes, tag, stat, ""); break;
    }
}

#endif /* PROF__XPLANE_STATS_H */
