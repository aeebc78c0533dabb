// ground/errors: Keeps the message of each thread's last failure for prof_error(), and has the texts of status codes.
#ifndef PROF__GROUND_ERRORS_H
#define PROF__GROUND_ERRORS_H
#include "api/control.h"
#include "ground/instances.h"
#include "ground/threads.h"
#include "ground/utf8.h"

/*-- ERRORS ---------------------------------------------------------------------------------------------- >>errors --*/

#define PROF__ERROR_SIZE 256
#ifdef PROF_TINY /* PROF_TINY keeps status codes only */
#define prof__fail(status, ...) (status)
#elif defined(PROF_FREESTANDING)
static char prof__error_text[PROF__ERROR_SIZE];
#define PROF__ERROR_TEXT() prof__error_text
#elif defined(_WIN32)
static PROF__PER_THREAD char prof__error_text[PROF__ERROR_SIZE];
static char *prof__error_here(void) { return prof__error_text; }
#define PROF__ERROR_TEXT() prof__error_here()
#else
/* Most threads never fail, so a thread gets memory for its message at its first failure. When the thread ends, the
   memory stays in a list, and another thread may take it. No function here takes a lock or calls malloc(), so all work
   in signal handlers. */
typedef struct prof__error_place {
    char text[PROF__ERROR_SIZE];
    struct prof__error_place *next;
    uint32_t taken;
} prof__error_place;
static prof__error_place *prof__error_places; /* the list of all messages; none is removed before unload */
static prof__tss prof__error_key;
static uint32_t prof__error_key_state; /* 0: not made; 1: being made; 2: made; 3: the system has no key left */

static void prof__error_leaves(void *place) { PROF__RELEASE(&((prof__error_place *)place)->taken, 0u); }

static int prof__error_key_made(void)
{
    uint32_t state = 0;
    if (__atomic_compare_exchange_n(&prof__error_key_state, &state, 1u, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
        state = prof__tss_make(&prof__error_key, prof__error_leaves) ? 2 : 3;
        PROF__RELEASE(&prof__error_key_state, state);
    }
    return state == 2;
}

static prof__error_place *prof__error_take(void)
{
    prof__error_place *place = PROF__ACQUIRE(&prof__error_places);
    while (place && __atomic_exchange_n(&place->taken, 1u, __ATOMIC_ACQUIRE)) place = place->next;
    if (place) {
        place->text[0] = 0;
        return place;
    }
    void *map = mmap(NULL, sizeof *place, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) return NULL;
    place = (prof__error_place *)map;
    place->taken = 1;
    place->next = PROF__LOAD(&prof__error_places);
    while (!__atomic_compare_exchange_n(&prof__error_places, &place->next, place, 0, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED)) {
    }
    return place;
}

/* Returns the calling thread's message buffer. If the system has no memory or no key left, threads share one buffer. */
static char *prof__error_here(void)
{
    static prof__error_place shared;
    PROF__FORWARD(prof__error_here, ());
    if (!prof__error_key_made()) return shared.text;
    prof__error_place *place = (prof__error_place *)prof__tss_get(prof__error_key);
    if (place) return place->text;
    place = prof__error_take();
    if (!place) return shared.text;
    if (prof__tss_set(prof__error_key, place)) return place->text;
    prof__error_leaves(place);
    return shared.text;
}
#define PROF__ERROR_TEXT() prof__error_here()

/* Frees all messages. Called when the library is unloaded, when no thread can ask for its message any more. */
static void prof__errors_unmap(void)
{
    prof__error_place *place = prof__error_places;
    if (prof__error_key_state == 2) pthread_key_delete(prof__error_key);
    prof__error_key_state = 3;
    prof__error_places = NULL;
    while (place) {
        prof__error_place *next = place->next;
        munmap(place, sizeof *place);
        place = next;
    }
}
#endif

#ifndef PROF_TINY
static prof_status prof__fail(prof_status status, const char *format, ...) PROF__PRINTF(2, 3);
#ifdef PROF_FREESTANDING
/* Formats a message without the C library's printf(). Supports %s, %.20s, %d and %%, which are the only conversions in
   messages of a freestanding build. */
static void prof__error_format(const char *format, va_list list)
{
    size_t at = 0;
    for (; *format && at < PROF__ERROR_SIZE - 1; ++format) {
        char digits[12], *number = digits + sizeof digits;
        const char *text = format;
        size_t most = 1;
        if (*format == '%') {
            most = PROF__ERROR_SIZE;
            if (*++format == '.')
                for (most = 0; *++format >= '0' && *format <= '9';) most = most * 10 + (size_t)(*format - '0');
            if (*format == 's') {
                text = va_arg(list, const char *);
            } else if (*format == 'd') {
                int value = va_arg(list, int), left = value;
                *--number = 0;
                do *--number = (char)('0' + (left < 0 ? -(left % 10) : left % 10));
                while ((left /= 10) != 0);
                if (value < 0) *--number = '-';
                text = number;
            } else {
                text = format;
                most = *format != 0;
            }
        }
        while (*text && most-- && at < PROF__ERROR_SIZE - 1) prof__error_text[at++] = *text++;
        if (!*format) break;
    }
    prof__error_text[at] = 0;
}
#endif

#ifndef PROF_FREESTANDING
/* Sets the thread's message. A text that is too long is shortened in its middle: messages begin with what failed and
   end with the reason, and a long path stands between. */
static void prof__error_set(const char *text)
{
    const size_t head = PROF__ERROR_SIZE / 3, room = PROF__ERROR_SIZE - 4;
    size_t length = prof__length(text), first = length, rest = length;
    if (length >= PROF__ERROR_SIZE) {
        first = prof__utf8_cut(text, head);
        rest = length - (room - head);
        while (prof__utf8_inner(text[rest])) ++rest;
    }
    char *to = PROF__ERROR_TEXT();
    prof__copy(to, text, first);
    if (rest > first) prof__copy(to + first, "...", 3);
    prof__copy(to + first + (rest > first ? 3 : 0), text + rest, length - rest + 1);
}
#endif

static prof_status prof__fail(prof_status status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
#ifdef PROF_FREESTANDING
    prof__error_format(format, list);
#else
    char text[2600]; /* room for two long paths and more */
    if (vsnprintf(text, sizeof text, format, list) < 0) text[0] = 0;
    prof__error_set(text);
#endif
    va_end(list);
    return status;
}
#endif

#ifdef PROF_FREESTANDING /* a literal: there is no printf() to join the texts */
#define prof__must_be(name, values) prof__fail(PROF_INVALID_ARGUMENT, name ": must be " values)
#else
static prof_status prof__must_be(const char *name, const char *values)
{
    return prof__fail(PROF_INVALID_ARGUMENT, "%s: must be %s", name, values);
}

/* what: continues "no memory": "for ..." or "to ..." */
static prof_status prof__no_memory(const char *what)
{
    return prof__fail(PROF_NO_MEMORY, "no memory %s", what);
}

static prof_status prof__null(const char *function, const char *what)
{
    return prof__fail(PROF_INVALID_ARGUMENT, "%s: %s is null", function, what);
}

/* Reports that opening, reading or writing a file failed, with the reason in errno. otherwise: the reason if errno is
   0. */
static prof_status prof__cannot(const char *verb, const char *path, const char *otherwise)
{
    return prof__fail(PROF_IO, "cannot %s %s: %s", verb, path, errno ? strerror(errno) : otherwise);
}
#endif

/* Reports a call of something that this build does not contain. what: the function or key; by: the switch of >>options
   that removed it. */
static prof_status prof__left_out(const char *what, const char *by)
{
    (void)what, (void)by;
    return prof__fail(PROF_UNSUPPORTED, "%s: %s has left it out of this program", what, by);
}

#ifdef PROF_TINY
PROF_DEF const char *prof_error(void) { return ""; }
#else
PROF_DEF const char *prof_error(void) { return PROF__ERROR_TEXT(); }
#endif

PROF_DEF const char *prof_status_text(prof_status status)
{
    static const char *const texts[PROF_STATUS_COUNT] = {
        "ok",
        "compiled without profiling (PROF_ENABLE=0)",
        "invalid argument",
        "not possible in this state",
        "not supported on this platform or in this build",
        "out of memory",
        "input or output failed",
        "not a valid prof image",
    };
    return (unsigned)status < PROF_STATUS_COUNT ? texts[status] : "unknown status";
}

#endif /* PROF__GROUND_ERRORS_H */
