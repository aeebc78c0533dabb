// session/config: The table of configuration keys, and parsers for the values that are names, signals and masks.
#ifndef PROF__SESSION_CONFIG_H
#define PROF__SESSION_CONFIG_H
#include "record/schedule.h"
#include "session/beside.h"
#include "session/memory.h"
#include "session/number.h"

/*-- CONFIGURATION FROM TEXT ---------------------------------------------------------------------------------------*/

static int prof__parse_name(const char *text, const char *const *names)
{
    for (int i = 0; names[i]; ++i)
        if (prof__equal(names[i], text)) return i;
    return -1;
}

/* Returns the edit distance of two words, for "did you mean ...?". Returns 99 if b is longer than 30 bytes. */
static size_t prof__distance(const char *a, const char *b)
{
    size_t row[32], n = prof__length(b);
    if (n > 30) return 99;
    for (size_t j = 0; j <= n; ++j) row[j] = j;
    for (size_t i = 1; a[i - 1]; ++i) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; ++j) {
            size_t up = row[j], best = diagonal + (a[i - 1] != b[j - 1]);
            if (up + 1 < best) best = up + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
            diagonal = up;
        }
    }
    return row[n];
}

/* Returns the number of a signal such as "10", "USR1" or "SIGUSR1", or -1 if the name is unknown. */
static int prof__parse_signal(const char *text)
{
    uint64_t number;
    if (prof__parse_whole(text, &number)) return number <= 64 ? (int)number : -1;
#ifndef PROF__NO_SIGNALS
    static const struct {
        const char *name;
        int number;
    } known[] = {{"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2},
                 {"ALRM", SIGALRM}, {"TERM", SIGTERM}, {"CONT", SIGCONT}, {"TSTP", SIGTSTP}, {"URG", SIGURG}};
    if (text[0] == 'S' && text[1] == 'I' && text[2] == 'G') text += 3;
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
        if (prof__equal(known[i].name, text)) return known[i].number;
#endif
    return -1;
}

/* Parses a 32-bit mask, decimal or hexadecimal with 0x. Returns 0 if text is not such a number. */
static int prof__parse_mask(const char *text, uint64_t *out)
{
    uint64_t number = 0;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        const char *digits = text += 2;
        for (; *text && text - digits < 9; ++text) {
            char c = *text >= 'A' && *text <= 'F' ? (char)(*text - 'A' + 'a') : *text;
            if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f')) return 0;
            number = number << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
        }
        if (text == digits || *text) return 0;
    } else if (!prof__parse_whole(text, &number)) {
        return 0;
    }
    *out = number;
    return !(number >> 32);
}

static const char *const prof__clock_names[] = {"auto", "counter", "ordered", "monotonic", NULL};
static const char *const prof__limit_names[] = {"stop", "rotate", NULL};
static const char *const prof__existing_names[] = {"auto", "replace", "number", "refuse", NULL};
static const char *const prof__zero_one[] = {"0", "1", NULL};
/* Words that any of the supported profilers accepts for false and true. Words at odd indices mean true. */
static const char *const prof__switch_names[] = {"0",  "1",   "off",   "on",   "false", "true",
                                                 "no", "yes", "False", "True", NULL};

/* How a key's text is parsed, and the type of the field of prof_config that stores the value. */
enum {
    PROF__KEY_TEXT,    /* const char * */
    PROF__KEY_SIZE,    /* size_t */
    PROF__KEY_BYTES,   /* uint64_t */
    PROF__KEY_COUNT,   /* uint64_t */
    PROF__KEY_TIME,    /* uint64_t, nanoseconds */
    /* uint64_t, nanoseconds; a number without a unit is an error, because seconds may have been meant. */
    PROF__KEY_SPAN,
    PROF__KEY_SECONDS, /* uint64_t, nanoseconds; a number without a unit is seconds */
    PROF__KEY_INT,     /* int; CHOICE, SWITCH and SIGNAL are ints, too */
    PROF__KEY_CHOICE,
    PROF__KEY_SWITCH,
    PROF__KEY_SIGNAL,
    PROF__KEY_MASK,    /* uint32_t */
    PROF__KEY_LEVEL,   /* int; 0 is stored as PROF_LEVEL_NONE */
    PROF__KEY_PERIOD,  /* uint64_t, nanoseconds; a number without a unit is seconds */
    PROF__KEY_WAIT     /* uint64_t, nanoseconds; 0 is stored as PROF_NEVER */
};
static const char *const prof__key_types[] = {"text", "size",    "size",   "number", "time",  "time",
                                              "time", "number", "choice", "switch", "signal", "mask",
                                              "number",  "time",   "time"};

/* One key for each field of prof_config that text can set. The parser, the environment, error messages and
   prof_config_describe() share this table. least and max bound a number; zero: 1 if 0 is valid as well. */
typedef struct prof__key {
    const char *name;
    unsigned type;
    size_t field;
    uint64_t least, max;
    int zero;
    const char *const *choices;
    const char *standard, *values, *meaning;
} prof__key;

#define PROF__KEY(name, type, field, least, max, zero, choices, standard, values, meaning) \
    {name, PROF__KEY_##type, offsetof(prof_config, field), least, max, zero, choices, standard, values, meaning}
static const prof__key prof__keys[] = {
    PROF__KEY("output", TEXT, output, 0, 0, 0, NULL, "", "a path that ends in .json, .csv, .txt or .prof",
              "file written by prof_stop(); .prof is up to date at any time; %p process id, %n program, %t time, %h "
              "host, %r rank"),
    PROF__KEY("existing", CHOICE, existing, 0, 0, 0, prof__existing_names, "auto", "auto, replace, number or refuse",
              "what happens to an older file of that name; auto: number if it has %p or %t, or is this process's or in "
              "use, else replace"),
    PROF__KEY("layout", TEXT, layout, 0, 0, 0, NULL, "", "mxnet, json, cntk, cntk-detail, domains, histogram or paths",
              "output is this report of prof_report.h, whatever its extension; cntk and a directory: both of its "
              "files"),
    PROF__KEY("rank", TEXT, rank, 0, 0, 0, NULL, "", "up to 63 bytes, no / or \\",
              "what %r is; default: the launcher's number of this process (MPI, Slurm, torchrun, ...), else 0"),
    PROF__KEY("ranks", TEXT, ranks, 0, 0, 0, NULL, "", "numbers and ranges, for example 0,3,8-15",
              "which ranks are recorded as mode says; the others have mode stats and a .txt; default: all"),
    PROF__KEY("buffer", SIZE, buffer_size, PROF__MIN_BUFFER, 64ull << 30, 0, NULL, "16M",
              "bytes from 128K to 64G, for example 64M", "memory for what is recorded"),
    PROF__KEY("mode", CHOICE, mode, 0, 0, 0, prof__mode_names, "ring", "ring, fill, stream, stats or ring+stats",
              "when the buffer is full: reuse the oldest part, end, pack it into the file, or keep statistics only"),
    PROF__KEY("clock", CHOICE, clock, 0, 0, 0, prof__clock_names, "auto", "auto, counter, ordered or monotonic",
              "what tells the time; ordered: exact short scopes, at 1.4 to 2.8 times the cost"),
    PROF__KEY("level", LEVEL, level, 1, 255, 1, NULL, "2", "0 to 255", "call sites of a higher level are off; 0: all"),
    PROF__KEY("categories", TEXT, categories, 0, 0, 0, NULL, "", "patterns with * and ?, joined by commas; - turns off",
              "which categories are on, for example net,render*,-audio; default: all"),
    PROF__KEY("min_duration", TIME, min_duration_ns, 0, UINT64_MAX, 1, NULL, "0",
              "a time, for example 500ns, 2us, 1.5ms", "a scope that is shorter and has nothing inside is removed"),
    PROF__KEY("delay", SPAN, delay_ns, 1, PROF__CENTURY, 1, NULL, "0", "a time with its unit, for example 500ms or 5s",
              "recording begins that long after the start"),
    PROF__KEY("start_unix", TIME, start_unix_ns, 0, UINT64_MAX, 1, NULL, "0",
              "a Unix time in nanoseconds, or in seconds as 1767225600s",
              "recording begins then; at once if that is past"),
    PROF__KEY("duration", SPAN, duration_ns, 1, PROF__CENTURY, 1, NULL, "0",
              "a time with its unit, for example 500ms or 5s",
              "recording ends that long after it began, and output is written; 0: with prof_stop()"),
    PROF__KEY("warmup_steps", COUNT, warmup_steps, 0, 1ull << 60, 1, NULL, "0", "a number of steps",
              "recording begins with the step after so many PROFILE_STEPs"),
    PROF__KEY("warmup_frames", COUNT, warmup_frames, 0, 1ull << 60, 1, NULL, "0", "a number of frames",
              "recording begins with the PROFILE_FRAME of this number"),
    PROF__KEY("max_file_size", BYTES, max_file_size, 0, UINT64_MAX, 1, NULL, "0", "bytes, for example 2G",
              "mode stream: bytes that the file may have, buffer included; 0: no limit"),
    PROF__KEY("at_limit", CHOICE, at_limit, 0, 0, 0, prof__limit_names, "stop", "stop or rotate",
              "mode stream: which end is kept once the file is that large: the oldest or the newest events"),
    PROF__KEY("wait", WAIT, wait_ns, 0, PROF__MAX_WAIT, 1, NULL, "", "a time up to 10s, for example 5ms; 0: not at all",
              "how long a thread waits for room in the buffer, before events are lost; default: 10s with stats and "
              "ring+stats, else 0"),
    PROF__KEY("dump_period", PERIOD, dump_period_ns, PROF__MIN_PERIOD, PROF__MAX_PERIOD, 1, NULL, "0",
              "seconds from 0.01 to 864000, or a time, for example 10ms or 5s",
              "writes output that often; 0: only at the end"),
    PROF__KEY("save", TEXT, save, 0, 0, 0, NULL, "", "a path as for output; %c counts the files",
              "file for the last seconds, whenever save_over, save_signal or prof_save_request() ask for it"),
    PROF__KEY("save_last", SECONDS, save_last_ns, 1, UINT64_MAX, 0, NULL, "10", "seconds, for example 10 or 500ms",
              "how much a save holds"),
    PROF__KEY("save_over", TEXT, save_over, 0, 0, 0, NULL, "",
              "frame>TIME, frame:NAME>TIME or scope:NAME>TIME, joined by commas",
              "what must not take longer, for example frame>16.7ms,scope:net.*>2ms"),
    PROF__KEY("save_every", SECONDS, save_every_ns, 0, UINT64_MAX, 1, NULL, "0", "seconds, for example 30 or 500ms",
              "from one save for save_over to the next, at least; 0: only one"),
    PROF__KEY("save_signal", SIGNAL, save_signal, 0, 64, 1, NULL, "0", "a number, or a name such as USR1",
              "a signal that saves"),
    PROF__KEY("crash_report", SWITCH, crash_report, 0, 1, 1, NULL, "0", "0 or 1",
              "1: when the process dies of a bug, say on stderr what its threads were doing, and write the image"),
    PROF__KEY("filter_mask", MASK, filter_mask, 0, UINT32_MAX, 1, NULL, "0", "32 bits, for example 5 or 0xff",
              "which PROFILE_SCOPE_MASK(name, mask) are on: those with one of these bits in their mask; 0: all"),
    PROF__KEY("no_sync", SWITCH, no_sync, 0, 1, 1, NULL, "0", "0 or 1",
              "1: PROFILE_SYNC and PROFILE_SCOPE_SYNC do not wait"),
    PROF__KEY("no_devices", SWITCH, no_devices, 0, 1, 1, NULL, "0", "0 or 1",
              "1: what devices report is not recorded"),
    PROF__KEY("switches", SWITCH, switches, 0, 1, 1, NULL, "0", "0 or 1",
              "1: records when the system ran each thread, and when not (prof_system.h)"),
    PROF__KEY("counters", SWITCH, counters, 0, 1, 1, NULL, "0", "0 or 1",
              "1: records what the system counts: loads, page faults, throttling (prof_system.h)"),
    PROF__KEY("system", SWITCH, system, 0, 1, 1, NULL, "0", "0 or 1",
              "1: records all that prof_system.h has and that is cheap: switches, counters, samples"),
    PROF__KEY("samples", INT, samples, 1, PROF__SAMPLES_MOST, 1, NULL, "0", "0 to 10000",
              "samples of each thread in a second of its running time (prof_system.h); 1: 500, the default rate"),
    PROF__KEY("faults", SWITCH, faults, 0, 1, 1, NULL, "0", "0 or 1",
              "1: records which pages of disks threads waited for, and switches (prof_system.h)"),
    PROF__KEY("waits", WAIT, waits_ns, 1, PROF__CENTURY, 1, NULL, "10us",
              "a time, for example 10us or 1ms; 0: no waits",
              "with PROF_WRAP_WAITS, and in libprof.so: the shortest wait in a call of the C library that is recorded"),
};
#define PROF__KEY_COUNT_ALL (sizeof prof__keys / sizeof *prof__keys)

#endif /* PROF__SESSION_CONFIG_H */
