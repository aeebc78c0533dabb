// xplane/bytes: Writes the fields of messages of protobuf into memory.
#ifndef PROF__XPLANE_BYTES_H
#define PROF__XPLANE_BYTES_H
#include "ground/utf8.h"
#include "image/pack.h"
#include "xplane/state.h"

/*-- messages --*/

/* Makes space for `size` more bytes, and returns it. Returns NULL without memory. */
static unsigned char *prof__xplane_more(prof__xplane_bytes *bytes, size_t size)
{
    if (size > bytes->capacity - bytes->size || !bytes->data) {
        size_t wanted = (bytes->size + size) * 2 + 64;
        unsigned char *data = size > (size_t)-1 / 8 ? NULL : (unsigned char *)realloc(bytes->data, wanted);
        if (!data) {
            bytes->failed = 1;
            return NULL;
        }
        bytes->data = data;
        bytes->capacity = wanted;
    }
    return bytes->data + bytes->size;
}

static void prof__xplane_add(prof__xplane_bytes *bytes, const void *data, size_t size)
{
    unsigned char *to = size ? prof__xplane_more(bytes, size) : NULL;
    if (!to) return;
    memcpy(to, data, size);
    bytes->size += size;
}

static size_t prof__xplane_length(uint64_t value)
{
    size_t length = 1;
    for (; value >= 128; value >>= 7) length++;
    return length;
}

static void prof__xplane_number(prof__xplane_bytes *bytes, unsigned tag, uint64_t value)
{
    unsigned char *to = prof__xplane_more(bytes, 11);
    if (!to) return;
    *to++ = (unsigned char)tag;
    bytes->size = (size_t)(prof__pack_integer(to, value) - bytes->data);
}

static void prof__xplane_message(prof__xplane_bytes *bytes, unsigned tag, const void *data, size_t size)
{
    prof__xplane_number(bytes, tag, size);
    prof__xplane_add(bytes, data, size);
}

/* Appends a text, as valid UTF-8, without a tag. */
static void prof__xplane_letters(prof__xplane_bytes *bytes, const char *text)
{
    while (*text) {
        const char *run = text;
        int length = 0;
        while (*text && (length = prof__utf8_length(text)) > 0) text += length;
        prof__xplane_add(bytes, run, (size_t)(text - run));
        if (*text) {
            prof__xplane_add(bytes, PROF__UTF8_REPLACED, sizeof PROF__UTF8_REPLACED - 1);
            text -= length;
        }
    }
}

static void prof__xplane_text(prof__xplane *x, prof__xplane_bytes *bytes, unsigned tag, const char *text)
{
    x->text.size = 0;
    prof__xplane_letters(&x->text, *text ? text : "(unnamed)");
    prof__xplane_message(bytes, tag, x->text.data, x->text.size);
}

#endif /* PROF__XPLANE_BYTES_H */
