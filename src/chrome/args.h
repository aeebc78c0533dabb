// chrome/args: Writes the arguments of events.
#ifndef PROF__CHROME_ARGS_H
#define PROF__CHROME_ARGS_H
#include "api/read.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/errors.h"
#include "ground/json.h"
#include "ground/numbers.h"
#include "ground/out.h"
#include "chrome/api.h"
#include "chrome/numbers.h"
#include "chrome/state.h"
#include "chrome/text.h"

/*-- arguments --*/

static void prof__chrome_hex(prof__out *out, uint64_t value)
{
    char *to = prof__out_reserve(out, 20);
    size_t at = 0;
    int shift = 60;
    to[at++] = '0';
    to[at++] = 'x';
    while (shift && !(value >> shift)) shift -= 4;
    for (; shift >= 0; shift -= 4) to[at++] = "0123456789abcdef"[value >> shift & 15];
    prof__out_commit(out, at);
}

static void prof__chrome_value(prof__out *out, const prof_value *value)
{
    int quoted = value->type == PROF_VALUE_STRING || value->type == PROF_VALUE_POINTER ||
                 (value->type == PROF_VALUE_INT && (value->as.i > PROF__CHROME_EXACT ||
                                                    value->as.i < -PROF__CHROME_EXACT)) ||
                 (value->type == PROF_VALUE_UINT && value->as.u > (uint64_t)PROF__CHROME_EXACT) ||
                 (value->type == PROF_VALUE_DOUBLE && !prof__finite(value->as.d));
    if (quoted) PROF__CHROME_LITERAL(out, "\"");
    switch ((int)value->type) {
    case PROF_VALUE_INT: prof__out_signed(out, value->as.i); break;
    case PROF_VALUE_UINT: prof__out_unsigned(out, value->as.u); break;
    case PROF_VALUE_DOUBLE: prof__chrome_number(out, value->as.d); break;
    case PROF_VALUE_BOOL: prof__out_text(out, value->as.u ? "true" : "false"); break;
    case PROF_VALUE_POINTER: prof__chrome_hex(out, value->as.u); break;
    case PROF_VALUE_STRING:
        prof__out_json(out, value->as.string);
        if (value->cut) PROF__CHROME_LITERAL(out, "\xE2\x80\xA6"); /* U+2026, an ellipsis */
        break;
    default: PROF__CHROME_LITERAL(out, "null"); break;
    }
    if (quoted) PROF__CHROME_LITERAL(out, "\"");
}

/* Writes the key of an argument. Before the first key, opens the arguments of the line. */
static void prof__chrome_key(prof__out *out, int *count, const char *key)
{
    if ((*count)++)
        PROF__CHROME_LITERAL(out, ",\"");
    else
        PROF__CHROME_LITERAL(out, ",\"args\":{\"");
    prof__out_json(out, *key ? key : "(unnamed)");
    PROF__CHROME_LITERAL(out, "\":");
}

/* Writes an argument. Appends a space to a key that this file uses for something else. */
static void prof__chrome_arg(prof__out *out, int *count, const prof_arg *arg)
{
    if (!strcmp(arg->key, "truncated") || !strcmp(arg->key, "source") || !strcmp(arg->key, "function")) {
        char key[16];
        strcpy(key, arg->key);
        prof__chrome_key(out, count, strcat(key, " "));
    } else {
        prof__chrome_key(out, count, arg->key);
    }
    prof__chrome_value(out, &arg->value);
}

typedef struct prof__chrome_order {
    const char *key;
    uint32_t at, last; /* last: in the list by position: 1: no later argument has this key */
} prof__chrome_order;

static int prof__chrome_by_key(const void *a, const void *b)
{
    const prof__chrome_order *x = (const prof__chrome_order *)a, *y = (const prof__chrome_order *)b;
    int order = strcmp(x->key, y->key);
    return order ? order : x->at < y->at ? -1 : 1;
}

/* Writes the arguments of an event. Of several with one key, writes the last one. */
static void prof__chrome_many_args(prof__out *out, int *count, const prof_event *event)
{
    uint32_t i, n = event->arg_count;
    prof__chrome_order *order = (prof__chrome_order *)malloc(n * sizeof *order);
    unsigned char *last = (unsigned char *)calloc(n, 1);
    if (order && last) {
        for (i = 0; i < n; i++) {
            order[i].key = event->args[i].key;
            order[i].at = i;
        }
        qsort(order, n, sizeof *order, prof__chrome_by_key);
        for (i = 0; i < n; i++)
            if (i + 1 == n || strcmp(order[i].key, order[i + 1].key)) last[order[i].at] = 1;
        for (i = 0; i < n; i++)
            if (last[i]) prof__chrome_arg(out, count, &event->args[i]);
    } else {
        prof__out_fail(out, prof__fail(PROF_NO_MEMORY, "no memory for an event with %lu arguments", (unsigned long)n));
    }
    free(order);
    free(last);
}

static void prof__chrome_args(prof__out *out, int *count, const prof_event *event)
{
    uint32_t i, j;
    if (event->arg_count > 16) {
        prof__chrome_many_args(out, count, event);
        return;
    }
    for (i = 0; i < event->arg_count; i++) {
        for (j = i + 1; j < event->arg_count; j++)
            if (!strcmp(event->args[i].key, event->args[j].key)) break;
        if (j == event->arg_count) prof__chrome_arg(out, count, &event->args[i]);
    }
}

static void prof__chrome_source_args(prof__out *out, int *count, const prof_callsite *site)
{
    if (*site->file) {
        prof__chrome_key(out, count, "source");
        PROF__CHROME_LITERAL(out, "\"");
        prof__chrome_source_text(out, site);
        PROF__CHROME_LITERAL(out, "\"");
    }
    if (*site->function) {
        prof__chrome_key(out, count, "function");
        PROF__CHROME_LITERAL(out, "\"");
        prof__out_json(out, site->function);
        PROF__CHROME_LITERAL(out, "\"");
    }
}

static void prof__chrome_truncated(prof__out *out, int *count, uint32_t flags)
{
    if (!(flags & (PROF_TRUNCATED_BEGIN | PROF_TRUNCATED_END))) return;
    prof__chrome_key(out, count, "truncated");
    prof__out_text(out, !(flags & PROF_TRUNCATED_BEGIN) ? "\"end\""
                        : flags & PROF_TRUNCATED_END    ? "\"begin and end\""
                                                        : "\"begin\"");
}

static void prof__chrome_all_args(prof__chrome *c, const prof_event *event)
{
    static const char *const scopes[] = {"\"global\"", "\"process\"", "\"task\"", "\"marker\""};
    prof__out *out = &c->out;
    int count = 0;
    if (event->type != PROF_EVENT_SCOPE || !c->options.no_args) prof__chrome_args(out, &count, event);
    prof__chrome_truncated(out, &count, event->flags);
    if (event->site->role >= PROF_ROLE_MARK_GLOBAL && event->site->role <= PROF_ROLE_MARK_MARKER) {
        prof__chrome_key(out, &count, "scope");
        prof__out_text(out, scopes[event->site->role - PROF_ROLE_MARK_GLOBAL]);
    }
    if (c->mark_thread) {
        prof__chrome_key(out, &count, "thread");
        PROF__CHROME_LITERAL(out, "\"");
        prof__out_json(out, c->mark_thread);
        PROF__CHROME_LITERAL(out, "\"");
    }
    if (c->options.source == PROF_CHROME_SOURCE_ARGS) prof__chrome_source_args(out, &count, event->site);
    if (count) PROF__CHROME_LITERAL(out, "}");
}

#endif /* PROF__CHROME_ARGS_H */
