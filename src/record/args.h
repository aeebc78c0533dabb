// record/args: Records several arguments at once, of a scope, an instant or an event: PROFILE_ARGS and similar macros.
#ifndef PROF__RECORD_ARGS_H
#define PROF__RECORD_ARGS_H
#include "api/devices.h"
#include "api/markup.h"
#include "api/values.h"
#include "ground/instances.h"
#include "image/format.h"
#include "image/words.h"
#include "record/bridge.h"
#include "record/mark.h"
#include "record/off_scope.h"
#include "record/objects.h"
#include "record/ring.h"
#include "record/schedule.h"
#include "record/scope.h"
#include "record/self.h"
#include "record/state.h"
#include "record/thread.h"
#include "record/track.h"
#include "record/value.h"

/* -- lists of arguments: in contiguous words with their event, so that no other record comes between -- */

#define PROF__WITH_ARGS PROF_DEVICE_ARGS

typedef struct prof__with_arg {
    prof__text key, text; /* text: the value, if it is a string */
    uint64_t words;       /* of the two records: key and value */
} prof__with_arg;

typedef struct prof__with_list {
    const prof_arg *args;
    uint64_t kind, to;    /* kind: ARG or DATA; to: the head of the BEGIN that they belong to, or 0 */
    uint64_t words, count;
    prof__with_arg parts[PROF__WITH_ARGS];
} prof__with_list;

/* Counts how many of the arguments fit into `room` words, usually all of them. Long texts are cut to make room. */
static void prof__with_measure(prof__with_list *list, uint32_t count, uint64_t room)
{
    uint64_t to = list->to != 0;
    list->words = list->count = 0;
    for (; list->count < count && room - list->words >= 8; ++list->count) {
        const prof_arg *arg = &list->args[list->count];
        prof__with_arg *part = &list->parts[list->count];
        uint64_t left = room - list->words;
        if (arg->value.type == PROF_VALUE_NONE) break;
        part->key = prof__measure_part(arg->key ? arg->key : "", (left / 2 - 2) * 8, ~(uint64_t)0);
        left -= 1 + part->key.words;
        part->text.words = 1;
        if (arg->value.type == PROF_VALUE_STRING)
            part->text = prof__measure_part(arg->value.as.string, (left - 2 - to) * 8 - 1, ~(uint64_t)0);
        part->words = 2 + part->key.words + part->text.words + to;
        list->words += part->words;
    }
}

static void prof__with_value(uint64_t *at, const prof__with_list *list, const prof_arg *arg, const prof__with_arg *part)
{
    uint64_t kind = list->kind << PROF__KIND_SHIFT, words = part->text.words;
    if (list->to) {
        PROF__STORE(at + 1 + words, list->to);
        kind |= PROF__ARG_TO;
        ++words;
    }
    if (arg->value.type == PROF_VALUE_STRING) {
        prof__text_write(at, kind + (list->to != 0), &part->text);
    } else {
        PROF__STORE(at + 1, arg->value.as.u);
        prof__store_word(at, kind | (uint64_t)arg->value.type << 32 | words);
    }
}

/* Writes the arguments to the words at `at`, from the last to the first. The head of the first one, stored last,
   publishes all, so a reader sees all arguments or none. */
static void prof__with_write(uint64_t *at, const prof__with_list *list)
{
    at += list->words;
    for (uint64_t i = list->count; i--;) {
        const prof__with_arg *part = &list->parts[i];
        at -= part->words;
        prof__with_value(at + 1 + part->key.words, list, &list->args[i], part);
        prof__text_write(at, list->kind << PROF__KIND_SHIFT | PROF__ARG_KEY, &part->key);
    }
}

/* Writes the arguments of a scope. The thread holds its write lock. */
static void prof__with_scope(prof__thread *self, prof__with_list *list, uint32_t count)
{
    uint64_t now = self->base, *at; /* arguments have no time */
    list->kind = PROF__KIND_ARG;
    prof__with_measure(list, count, PROF__LOAD(&self->session->text_words) / 4);
    at = prof__reserve_or_lose(self, list->words, &now, PROF__LOSS_ARGS(list->count));
    if (!at) return;
    prof__with_write(at, list);
    prof__commit(self, list->words);
}

/* Writes the arguments of a scope that a handle (token) names. That scope may be recorded although its category is off
   by now. */
static void prof__with_handle(prof__thread *self, uint64_t token, prof__with_list *list, uint32_t count)
{
    uint32_t write_lock = prof__enter_write(self);
    if ((uint32_t)token != PROF__LOAD(&prof__state.session_id)) {
        prof__leave_write(self, write_lock);
    } else if (prof__enter_slow(self, NULL, write_lock, PROF__LOSS_ARGS(count))) {
        list->to = token ^ self->session_id;
        if ((uint32_t)token == self->session_id && !prof__sites_rest()) prof__with_scope(self, list, count);
        prof__leave(self);
    }
}

#define PROF__NO_NUMBER (~(uint64_t)0)

/* Counts a frame's boundary. Returns its number, or PROF__NO_NUMBER if the track has too many names of frames. */
static uint64_t prof__with_number(prof__thread *self, const prof_site *site)
{
#ifdef PROF__FRAME_NAMES
    uint64_t *frames = prof__frames_of(self, site);
    if (frames) return (*frames)++;
#endif
    (void)self, (void)site;
    return PROF__NO_NUMBER;
}

/* Writes a MARK, FRAME or EVENT with arguments. object: of a FRAME, its number. The thread holds its write lock. */
static void prof__with_event(prof__thread *self, uint64_t head, uint64_t type, uint64_t object, prof__with_list *list,
                             uint32_t count)
{
    int frame = type == PROF_EVENT_FRAME;
    uint64_t first = type == PROF_EVENT_MARK || (frame && object == PROF__NO_NUMBER) ? 1 : 3, *at;
    uint64_t now = prof__now(self->session, 0);
    list->kind = PROF__KIND_DATA;
    prof__with_measure(list, count, PROF__LOAD(&self->session->text_words) / 4);
    at = prof__reserve_or_lose(self, first + list->words, &now, PROF__LOSS_EVENT | PROF__LOSS_ARGS(list->count));
    if (!at) return;
    prof__with_write(at + first, list);
    if (first == 3) {
        PROF__STORE(at + 1, frame ? PROF__FRAME_NUMBER : type);
        PROF__STORE(at + 2, object);
    }
    prof__store_word(at, head | (now - self->base));
    prof__commit(self, first + list->words);
}

PROF_DEF void prof__with(prof_site *site, uint64_t type, uint64_t object, const prof_arg *args, uint32_t count)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof__with, (site, type, object, args, count)));
    prof__with_list list;
    uint64_t head;
    uint32_t loss = type == PROF_EVENT_SCOPE ? 0 : PROF__LOSS_EVENT;
    while (count && args[count - 1].value.type == PROF_VALUE_NONE) --count;
    if (count > PROF__WITH_ARGS) count = PROF__WITH_ARGS;
    loss |= PROF__LOSS_ARGS(count);
    list.args = args;
    list.to = 0;
    if (!site && type == PROF_EVENT_SCOPE) {
        prof__with_handle(self, object, &list, count);
        return;
    }
#ifndef PROF_FREESTANDING
    if (!site) site = prof__task_site(&object);
#endif
    if (!site || !prof__on(site) || (type == PROF_EVENT_SCOPE && prof__off_scope_drops(self, count)) ||
        !prof__enter_or_lose(self, site, &head, loss))
        return;
    if (type == PROF_EVENT_FRAME) object = prof__with_number(self, site);
    if (type == PROF_EVENT_SCOPE)
        prof__with_scope(self, &list, count);
    else
        prof__with_event(self, head, type, object, &list, count);
    prof__leave(self);
    if (type == PROF_EVENT_MARK) {
        PROF__BRIDGE_MARK(site, NULL);
    } else if (type == PROF_EVENT_FRAME) {
        PROF__BRIDGE_FRAME(site);
    } else if (type != PROF_EVENT_SCOPE) {
        PROF__BRIDGE_EVENT(site, type, 0, object);
    }
}

#endif /* PROF__RECORD_ARGS_H */
