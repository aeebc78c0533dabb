// record/part: The _TEXT macros, whose texts come with a length and need no terminator.
#ifndef PROF__RECORD_PART_H
#define PROF__RECORD_PART_H
#include "api/markup.h"
#include "api/values.h"
#include "ground/base.h"

/*-- texts with a length --
   The recorder, other tools and other instances take terminated texts. So the part of a text that can be recorded is
   copied first. */

/* Copies a text of `bytes` bytes to `to`, terminated. Of a text that is too long it copies one byte more than is
   recorded, by which the recorder sees that the text was cut. Returns the copy. */
static const char *prof__part(char to[PROF_MAX_TEXT + 2], const char *text, size_t bytes)
{
    if (!text && bytes) return NULL; /* recorded as "(null)" */
    if (bytes > PROF_MAX_TEXT + 1) bytes = PROF_MAX_TEXT + 1;
    if (bytes) prof__copy(to, text, bytes);
    to[bytes] = 0;
    return to;
}

PROF_DEF prof__token prof__begin_part(prof_site *site, const char *text, size_t bytes)
{
    char copy[PROF_MAX_TEXT + 2];
    return prof__begin_text(site, prof__part(copy, text, bytes));
}

PROF_DEF void prof__mark_part(prof_site *site, const char *text, size_t bytes)
{
    char copy[PROF_MAX_TEXT + 2];
    prof__mark_text(site, prof__part(copy, text, bytes));
}

PROF_DEF void prof__arg_part(prof_site *site, const char *text, size_t bytes)
{
    char copy[PROF_MAX_TEXT + 2];
    prof__arg_string(site, prof__part(copy, text, bytes));
}

PROF_DEF void prof__arg_part_to(prof_scope scope, const char *key, const char *text, size_t bytes)
{
    char copy[PROF_MAX_TEXT + 2];
    prof_arg arg = prof__made_string(key, prof__part(copy, text, bytes));
    prof__with(NULL, PROF_EVENT_SCOPE, scope, &arg, 1);
}

PROF_DEF void prof__thread_part(const char *text, size_t bytes)
{
    char copy[PROF_MAX_TEXT + 2];
    prof_set_thread_name(prof__part(copy, text, bytes));
}

#endif /* PROF__RECORD_PART_H */
