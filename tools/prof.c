/* prof.c - the command-line tool: inspects, converts, compares and recovers recordings.

     cc -O2 tools/[a-z]*.c -o prof -pthread -ldl

   This file has the table of commands, parses the command line, and defines what commands share, which tool.h declares.
   No other file of the tool uses private names of prof.h, which begin with prof__. */
#define PROF_IMPLEMENTATION
#include "tool.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#define isatty _isatty
#else
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

static const tool_command *const commands[] = {&tool_export,  &tool_summary, &tool_check,   &tool_recover,
                                               &tool_merge,   &tool_compare, &tool_cut,     &tool_config,
                                               &tool_neuron,  &tool_view,    &tool_flame,   &tool_hot,
                                               &tool_top,     &tool_why,     &tool_frames,  &tool_steps,
                                               &tool_request, &tool_stragglers, &tool_messages, &tool_run, NULL};

/*-- messages --*/

int tool_fail(const char *format, ...)
{
    va_list list;
    fflush(stdout);
    fputs("prof: ", stderr);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputs("\n", stderr);
    return TOOL_ERROR;
}

static int ends_with(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);
    return a >= b && !strcmp(text + a - b, end);
}

int tool_status(prof_status status)
{
    if (status == PROF_OK) return TOOL_OK;
    tool_progress_end();
    if (status == PROF_IO && ends_with(prof_error(), strerror(EPIPE))) return TOOL_ERROR;
    return tool_fail("%s", *prof_error() ? prof_error() : prof_status_text(status));
}

FILE *tool_file_open(const char *path, const char *mode)
{
    return prof__file_open(path, mode);
}

static int output_errno; /* the errno of a write that failed in tool_stdout(); 0: none did */

int tool_flush(int result)
{
    int error;
    errno = 0;
    if ((!fflush(stdout) && !ferror(stdout)) || result == TOOL_ERROR) return result; /* the error was printed */
    error = output_errno ? output_errno : errno ? errno : EIO;
    return error == EPIPE ? TOOL_ERROR : tool_fail("cannot write standard output: %s", strerror(error));
}

/*-- texts and numbers --*/

int tool_same(const char *a, const char *b) { return !strcmp(a, b); }

const char *tool_shown(const char *path) { return tool_same(path, "-") ? "standard input" : path; }

const char *tool_base(const char *path)
{
    const char *base = path;
    for (; *path; path++)
        if (*path == '/' || *path == '\\') base = path + 1;
    return base;
}

const char *tool_extension(const char *path)
{
    const char *dot = "", *c;
    for (c = path; *c; c++) {
        if (*c == '.') dot = c;
        if (*c == '/' || *c == '\\') dot = "";
    }
    return dot;
}

const char *tool_said(const prof_trace *trace, const char *what) { return prof__trace_said(trace, what); }

const char *tool_program(const prof_trace *trace, char *to, size_t size)
{
    const char *program = prof_trace_about(trace)->program, *role = tool_said(trace, "role");
    snprintf(to, size, "%s%s%s", *program ? program : "(unnamed)", *role ? " " : "", role);
    return to;
}

int tool_choice(const char *option, const char *text, const char *const *choices, int *choice)
{
    int i;
    *choice = 0;
    if (!text) return 1;
    for (i = 0; choices[i]; i++)
        if (tool_same(choices[i], text)) {
            *choice = i;
            return 1;
        }
    fprintf(stderr, "prof: %s '%s': must be", option, text);
    for (i = 0; choices[i]; i++) fprintf(stderr, "%s %s", i ? "," : "", choices[i]);
    fprintf(stderr, "\n");
    return 0;
}

/* Reads a decimal number without sign and exponent, and moves *text behind it. Returns 0 if there is none. */
static int decimal(const char **text, double *number)
{
    const char *c = *text;
    double scale = 1;
    *number = 0;
    for (; *c >= '0' && *c <= '9'; c++) *number = *number * 10 + (*c - '0');
    if (*c == '.')
        for (c++; *c >= '0' && *c <= '9'; c++) *number += (*c - '0') * (scale /= 10);
    if (c == *text || (c == *text + 1 && **text == '.')) return 0;
    *text = c;
    return 1;
}

int tool_number(const char *option, const char *text, double least, double max, double *number)
{
    const char *c = text;
    if (decimal(&c, number) && !*c && *number >= least && *number <= max) return 1;
    tool_fail("%s '%s': must be a number from %g to %g", option, text, least, max);
    return 0;
}

int tool_whole(const char *option, const char *text, int64_t *number)
{
    char *end = NULL;
    errno = 0;
    *number = strtoll(text, &end, strncmp(text, "0x", 2) ? 10 : 16);
    if (*text && !*end && !errno) return 1;
    tool_fail("%s '%s': must be a whole number", option, text);
    return 0;
}

int tool_time(const char *option, const char *text, int64_t end_ns, int64_t *ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}, {"", 0}};
    const char *c = text + (*text == '-');
    double number;
    size_t i;
    if (decimal(&c, &number))
        for (i = 0; i < sizeof units / sizeof *units; i++) {
            double value = number * units[i].ns;
            if (!tool_same(units[i].name, c) || (!*c && number > 0) || value > 1e18) continue;
            *ns = (int64_t)(value + 0.5);
            if (*text == '-') *ns = end_ns > *ns ? end_ns - *ns : 0;
            return 1;
        }
    tool_fail("%s '%s': must be a time such as 1.5s, 20ms, 300us, or -2s for 2 s before the end", option, text);
    return 0;
}

const char *tool_ns(char *to, double ns)
{
    prof__human_ns(to, ns);
    return to;
}

const char *tool_count(char *to, uint64_t count)
{
    prof__grouped(to, count);
    return to;
}

const char *tool_hz(char *to, double hz)
{
    prof__human_hz(to, hz);
    return to;
}

const char *tool_measured(char *to, double value, const char *unit)
{
    prof__measured(to, value, unit);
    return to;
}

size_t tool_site_count(const prof_trace *trace) { return prof__site_count(trace); }

size_t tool_site_number(const prof_trace *trace, const prof_callsite *site) { return prof__site_number(trace, site); }

uint64_t tool_key(const prof_callsite *site, const char *name, size_t parent)
{
    return prof__mix(((uint64_t)(uintptr_t)site + parent * 31) ^ (name ? prof__text_key(name) : 0));
}

uint32_t tool_hash(uint32_t hash, const char *text)
{
    return prof__hash_add(hash, text, strlen(text));
}

size_t tool_character(const char *text)
{
    return prof__is_control(text) ? 0 : prof__utf8(text);
}

static const char *print_characters(const char *text, int count)
{
    for (; count > 0 && *text; count--) {
        const char *next = prof__next_character(text);
        if (tool_character(text))
            fwrite(text, 1, (size_t)(next - text), stdout);
        else
            putchar('?');
        text = next;
    }
    return text;
}

int tool_characters(const char *text)
{
    return (int)prof__characters(text);
}

void tool_print_name(const char *text, int width)
{
    int all = (int)prof__characters(text), tail, i;
    if (!width || all <= width) {
        print_characters(text, all);
        if (all < width) printf("%*s", width - all, "");
        return;
    }
    tail = width > 3 ? (width - 3) / 2 : 0;
    text = print_characters(text, width > 3 ? width - 3 - tail : 0);
    printf("%.*s", width, "...");
    for (i = (int)prof__characters(text); i > tail; i--) text = prof__next_character(text);
    print_characters(text, tail);
}

void tool_print_json(const char *text, size_t length)
{
    const char *end = text + length;
    putchar('"');
    while (text < end) {
        char piece[8];
        size_t size;
        text += prof__json_character(text, piece, &size);
        fwrite(piece, 1, size, stdout);
    }
    putchar('"');
}

size_t tool_json_character(const char *text, char *to, size_t *size)
{
    return prof__json_character(text, to, size);
}

void tool_json_text(const char *key, const char *text)
{
    printf(",\"%s\":", key);
    tool_print_json(text, strlen(text));
}

void tool_json_number(const char *key, uint64_t value)
{
    printf(",\"%s\":%llu", key, (unsigned long long)value);
}

/*-- lines and tables --*/

static int line_columns = PROF_NO_LIMIT; /* the last result of tool_columns() */

int tool_columns(const tool_args *args, int *columns)
{
    const char *text = tool_value(args, "--columns");
    double number = 0;
    if (!text) {
        *columns = prof__terminal_columns();
    } else {
        if (!tool_same(text, "0") && !tool_number("--columns", text, 40, 10000, &number)) return 0;
        *columns = (int)number;
    }
    if (*columns <= 0) *columns = PROF_NO_LIMIT;
    if (*columns > 0 && *columns < 40) *columns = 40;
    line_columns = *columns;
    return 1;
}

void tool_print_wrapped(const char *text, int at, int indent)
{
    while (*text) {
        int left = (int)prof__characters(text), fits = 0, i;
        const char *c = text;
        for (i = 0; at + left > line_columns && at + i <= line_columns && *c; i++, c = prof__next_character(c))
            if (*c == ' ') fits = i; /* a space up to which the line has room */
        if (line_columns < 0 || !fits) {
            print_characters(text, left);
            return;
        }
        text = print_characters(text, fits) + 1;
        printf("\n%*s", at = indent, "");
    }
}

int tool_fit(int max, int used)
{
    int fits = line_columns - used;
    return line_columns < 0 || fits > max ? max : fits > 12 ? fits : 12;
}

#ifdef _WIN32
static int shows_utf8(void)
{
    return GetConsoleOutputCP() == CP_UTF8;
}
#else
/* Returns 1 if the locale uses UTF-8. The first of these variables that is set names it. setlocale() would change how
   numbers are printed, so it is not called. */
static int shows_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *locale = "", *terminal = getenv("TERM");
    size_t i;
    if (!terminal || !*terminal || tool_same(terminal, "dumb") || tool_same(terminal, "linux"))
        return 0; /* fonts of the Linux console lack most block characters */
    for (i = 0; i < 3 && !*locale; i++)
        if (getenv(names[i])) locale = getenv(names[i]);
    return strstr(locale, "UTF-8") || strstr(locale, "utf-8") || strstr(locale, "UTF8") || strstr(locale, "utf8");
}
#endif

int tool_colours(void)
{
    const char *terminal = getenv("TERM"), *none = getenv("NO_COLOR");
    return prof__terminal_columns() > 0 && terminal && *terminal && !tool_same(terminal, "dumb") && !(none && *none);
}

int tool_draws(void)
{
    return prof__terminal_columns() > 0 && shows_utf8();
}

#if TOOL_LOSSES != PROF__LOSSES
#error "TOOL_LOSSES: the same number as in src/report/summary.h"
#endif
int tool_nothing(const prof_trace *trace, char *to, size_t size)
{
    return prof__nothing_text(trace, to, size);
}

int tool_loss(const prof_trace *trace, int kind, char *to, size_t size)
{
    return prof__loss_text(trace, kind, to, size);
}

/*-- traces --*/

/* What was read from standard input, because it can be read only once. */
static struct {
    char *bytes;
    size_t size;
} input;

/* Reads standard input. Prints a message and returns 0 if that fails. */
static int read_input(void)
{
    size_t capacity = 0, got = 1;
    if (input.bytes) return 1;
#ifdef _WIN32
    _setmode(0, _O_BINARY);
#endif
    while (got) {
        if (capacity - input.size < 4096) {
            char *more = NULL;
            if (capacity <= (size_t)-1 / 2) more = (char *)realloc(input.bytes, capacity = capacity * 2 + 65536);
            if (!more) {
                tool_fail("standard input: no memory for more than %lu bytes", (unsigned long)input.size);
                return 0;
            }
            input.bytes = more;
        }
        got = fread(input.bytes + input.size, 1, capacity - input.size, stdin);
        input.size += got;
    }
    if (ferror(stdin)) tool_fail("cannot read standard input: %s", strerror(errno));
    return !ferror(stdin);
}

/* Prints the text of prof_error() about an image that came from standard input. */
static int input_status(prof_status status)
{
    const char *words = strchr(prof_error(), ':');
    return status == PROF_OK ? TOOL_OK : tool_fail("standard input%s", words ? words : "");
}

/* Prints an error of reading `path`. Names the sidecar file in which a stopped program has left its recording, if there
   is one. */
static int beside(prof_status status, const char *path)
{
    static const char *const endings[] = {".prof", ".old.prof"};
    char found[4096];
    if (status == PROF_OK) return TOOL_OK;
    tool_status(status);
    for (int i = 0; i < 2; ++i) {
        prof_trace *trace;
        int n = snprintf(found, sizeof found, "%s%s", path, endings[i]);
        if (n < 0 || (size_t)n >= sizeof found || prof_trace_open(found, &trace)) continue;
        prof_trace_close(trace);
        tool_fail("%s holds what a program recorded until it was stopped, or is recording now: read that file", found);
    }
    return TOOL_ERROR;
}

prof_trace *tool_open(const char *path)
{
    prof_trace *trace = NULL;
    if (!tool_same(path, "-")) return beside(prof_trace_open(path, &trace), path) == TOOL_OK ? trace : NULL;
    if (!read_input()) return NULL;
    return input_status(prof_trace_open_memory(input.bytes, input.size, &trace)) == TOOL_OK ? trace : NULL;
}

#define MANY_BYTES ((uint64_t)64 << 20) /* of images in memory */
#define OTHER_FILES 64                  /* that are open besides */

void tool_open_many(int count)
{
#ifndef _WIN32
    struct rlimit files;
    if (count < 1 || getrlimit(RLIMIT_NOFILE, &files)) return;
    if (files.rlim_cur < (rlim_t)count + OTHER_FILES) files.rlim_cur = files.rlim_max;
    if (files.rlim_cur < (rlim_t)count + OTHER_FILES || setrlimit(RLIMIT_NOFILE, &files)) return;
    if (prof__read_whole > MANY_BYTES / (uint64_t)count) prof__read_whole = MANY_BYTES / (uint64_t)count;
#else
    (void)count;
#endif
}

prof_status tool_open_buffer(const char *path, prof_trace **trace)
{
    return prof__trace_buffer(path, trace);
}

int tool_copy(const char *in, const char *out, int64_t from_ns, int64_t to_ns)
{
    prof_trace *trace;
    tool_out *file;
    if (!tool_same(in, "-")) return beside(prof_image_copy(in, out, from_ns, to_ns), in);
    trace = tool_open(in); /* checks the file first: copies images only */
    if (!trace) return TOOL_ERROR;
    prof_trace_close(trace);
    if (from_ns != -1 && input_status(prof_image_set_window(input.bytes, input.size, from_ns, to_ns)))
        return TOOL_ERROR;
    file = tool_out_open(out);
    if (!file) return TOOL_ERROR;
    tool_out_bytes(file, input.bytes, input.size);
    return tool_out_close(file, 1);
}

const char *tool_event_name(unsigned type, int many) { return prof__event_name(type, many); }

int tool_gap(const prof_trace *trace, size_t i, char *to, size_t size) { return prof__trace_gap(trace, i, to, size); }

const char *tool_wait_kind(const prof_wait *wait) { return prof__why_kind(wait); }

int tool_room(void *array, size_t *capacity, size_t count, size_t element)
{
    size_t wanted = *capacity < 8 ? 16 : *capacity + *capacity / 2;
    void *items;
    if (count < *capacity) return 1;
    memcpy(&items, array, sizeof items); /* array: the address of a pointer to any type of object */
    items = wanted > (size_t)-1 / 2 / element ? NULL : realloc(items, wanted * element);
    if (!items) return 0;
    memcpy(array, &items, sizeof items);
    *capacity = wanted;
    return 1;
}

/*-- processes --*/

int tool_is_alive(const prof_trace_info *info)
{
    return prof__process_records(info->pid, info->boot_id, NULL);
}

/*-- clocks --*/

struct tool_clocks {
    size_t count;
    prof__align_clock items[1];
};

tool_clocks *tool_clocks_new(size_t count)
{
    tool_clocks *clocks = (tool_clocks *)calloc(1, sizeof *clocks + count * sizeof *clocks->items);
    if (clocks) clocks->count = count;
    return clocks;
}

void tool_clocks_put(tool_clocks *clocks, size_t which, const prof_trace *trace)
{
    prof__align_of(trace, &clocks->items[which]);
}

void tool_clocks_align(const tool_clocks *clocks, int64_t *offsets)
{
    prof__align_clocks(clocks->items, clocks->count, offsets);
}

void tool_clocks_free(tool_clocks *clocks) { free(clocks); }

static uint64_t shifts_used; /* bit n: the nth part of --offset was that of a recording; the last one stands for more */

/* Reads the next part of --offset: "rank=3:+3.015s". Returns where it ends; NULL after an error. */
static const char *next_shift(const char *text, char *what, char *who, int64_t *ns)
{
    char part[300], *equals, *colon, *time;
    size_t size = strcspn(text, ",");
    snprintf(part, sizeof part, "%.*s", (int)(size < 299 ? size : 299), text);
    equals = strchr(part, '=');
    colon = equals ? strrchr(equals, ':') : NULL;
    if (!colon || (strncmp(part, "rank=", 5) && strncmp(part, "host=", 5))) {
        tool_fail("--offset '%s': must be rank=3:+3.015s or host=node2:-20ms, or several of these, with commas", part);
        return NULL;
    }
    *equals = *colon = 0;
    snprintf(what, 8, "%.4s", part);
    snprintf(who, 300, "%s", equals + 1);
    time = colon + 1;
    if (!tool_time("--offset", *time == '-' || *time == '+' ? time + 1 : time, 0, ns)) return NULL;
    if (*time == '-') *ns = -*ns;
    return text + size + (text[size] == ',');
}

/* Adds up by how much --offset moves a trace. Returns 0 after an error. */
static int shift_of(const tool_args *args, const prof_trace *trace, int64_t *sum)
{
    const char *text = tool_value(args, "--offset");
    char what[8], who[300];
    int64_t ns;
    unsigned part;
    *sum = 0;
    for (part = 0; text && *text; part += part < 63) {
        text = next_shift(text, what, who, &ns);
        if (!text) return 0;
        if (!tool_same(tool_said(trace, what), who)) continue;
        *sum += ns;
        shifts_used |= (uint64_t)1 << part;
    }
    return 1;
}

int64_t tool_shift_of(const tool_args *args, const prof_trace *trace)
{
    int64_t sum;
    return shift_of(args, trace, &sum) ? sum : 0;
}

int tool_shift(const tool_args *args, prof_trace *trace)
{
    int64_t sum;
    return shift_of(args, trace, &sum) && (!sum || tool_status(prof_trace_set_offset(trace, sum)) == TOOL_OK);
}

int tool_shift_done(const tool_args *args)
{
    const char *text = tool_value(args, "--offset");
    char what[8], who[300];
    int64_t ns;
    unsigned part;
    for (part = 0; text && *text; part += part < 63) {
        text = next_shift(text, what, who, &ns);
        if (!text) return 0;
        if (!(shifts_used >> part & 1)) return tool_fail("--offset: no recording has the %s %s", what, who), 0;
    }
    return 1;
}

/*-- output --*/

const char *tool_output_kind(const tool_args *args)
{
    static const char *const formats[] = {"", "html", "json", "csv", "txt", "prof", "pprof", "speedscope", NULL};
    static const char *const extensions[] = {"", ".html", ".json", ".csv", ".txt", ".prof", ".pprof", ".speedscope"};
    const char *out = tool_value(args, "--output");
    int format, i;
    const char *given = tool_value(args, "--format");
    if (!tool_choice("--format", given, formats + 1, &format)) return NULL;
    if (given && out) return extensions[format + 1];
    if (out && tool_is_folder(out)) return "/";
    if (out && ends_with(out, ".speedscope.json")) return ".speedscope";
    for (i = 1; out && formats[i]; i++)
        if (tool_same(tool_extension(out), extensions[i])) return extensions[i];
    if (!out)
        tool_fail("%s: no output: add -o OUT.html, .json, .csv, .txt, .prof, .pprof, .speedscope or a directory/",
                  args->command->name);
    else if (tool_same(out, "-"))
        tool_fail("%s: -o - needs --format html, json, csv, txt, prof, pprof or speedscope", args->command->name);
    else
        tool_fail("%s: %s: unknown kind of file: use .html, .json, .csv, .txt, .prof, .pprof or .speedscope, or add "
                  "--format",
                  args->command->name, out);
    return NULL;
}

int tool_is_folder(const char *path)
{
    return prof__is_folder(path);
}

int tool_folder_for(const char *path)
{
    return prof__folder_for(path);
}

int tool_is_scope(const prof_span *span)
{
    return prof__span_of_scope(span->site);
}

struct tool_out {
    prof__out out;
};

tool_out *tool_out_open(const char *path)
{
    tool_out *out = (tool_out *)malloc(sizeof *out);
    if (!out) {
        tool_fail("out of memory");
    } else if (tool_status(prof__out_file(&out->out, path))) {
        free(out);
        out = NULL;
    }
    return out;
}

void tool_out_bytes(tool_out *out, const void *bytes, size_t size)
{
    prof__out_bytes(&out->out, bytes, size);
}

void tool_out_zeros(tool_out *out, uint64_t size)
{
    prof__out_zeros(&out->out, size);
}

int tool_file_size(FILE *file, uint64_t *size)
{
    return prof__read_size(file, size);
}

int tool_out_good(const tool_out *out)
{
    return out->out.status == PROF_OK;
}

int tool_out_close(tool_out *out, int good)
{
    prof_status status;
    if (!good) prof__out_fail(&out->out, PROF_CORRUPT);
    status = prof__out_close(&out->out);
    free(out);
    return good ? tool_status(status) : TOOL_ERROR;
}

static int write_output(void *user, const void *data, size_t size)
{
    (void)user;
    tool_progress_end();
    errno = 0;
    if (output_errno || fwrite(data, 1, size, stdout) == size) return 0;
    output_errno = errno ? errno : EIO;
    return 0; /* tool_flush() prints the error */
}

prof_sink tool_stdout(void)
{
    prof_sink sink;
    sink.write = write_output;
    sink.user = NULL;
    return sink;
}

/*-- progress --*/

const char *const tool_progress_choices[] = {"auto", "always", "never", NULL};

static struct {
    const char *what;
    int wanted, always, shown; /* shown: the last percentage, plus 1 */
    double done, start, next;
} progress;

static double seconds(void)
{
#ifdef _WIN32
    return (double)GetTickCount64() / 1000;
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
#endif
}

void tool_progress_begin(const char *what, const char *when)
{
    memset(&progress, 0, sizeof progress);
    progress.what = what;
    progress.always = when && tool_same(when, "always");
    progress.wanted = progress.always || ((!when || tool_same(when, "auto")) && isatty(2));
    progress.next = seconds() + 0.5;
}

void tool_progress(double share)
{
    static const char full[] = "########################################";
    int percent;
    progress.done += share;
    if (!progress.wanted) return;
    percent = progress.done < 0.999999 ? (int)(progress.done * 100) : 100;
    if (percent + 1 == progress.shown || (!progress.always && seconds() < progress.next)) return;
    progress.shown = percent + 1;
    fprintf(stderr, "\r%s [%-40.*s] %3d %%", progress.what, percent * 40 / 100, full, percent);
    fflush(stderr);
}

void tool_progress_step(void *user, double share)
{
    (void)user;
    tool_progress(share);
}

void tool_progress_end(void)
{
    if (progress.shown) fprintf(stderr, "\r%*s\r", (int)strlen(progress.what) + 50, "");
    fflush(stderr);
    progress.wanted = progress.shown = 0;
}

/*-- the command line --*/

const char *tool_value(const tool_args *args, const char *option)
{
    int i;
    for (i = 0; args->command->options[i].name; i++)
        if (tool_same(args->command->options[i].name, option)) return args->values[i];
    return NULL;
}

static void print_option(const tool_option *option)
{
    char left[64];
    snprintf(left, sizeof left, "  %s%s%s %s", option->letter ? option->letter : "", option->letter ? ", " : "",
             option->name, option->value ? option->value : "");
    printf("%-24s %s\n", left, option->help);
}

static void print_command(const tool_command *command)
{
    static const tool_option help = {"--help", "-h", NULL, "this text"};
    const tool_option *option;
    printf("usage: prof %s %s\n\n%s.\n\noptions:\n", command->name, command->files, command->about);
    for (option = command->options; option->name; option++) print_option(option);
    print_option(&help);
    printf("\n%s", command->help);
}

static void print_help(void)
{
    const tool_command *const *each;
    printf("usage: prof COMMAND [OPTIONS] FILE...\n\n"
           "Inspects, converts, compares and recovers recordings of prof.h (.prof).\n\ncommands:\n");
    for (each = commands; *each; each++) printf("  %-10s %s\n", (*each)->name, (*each)->about);
    printf("  %-10s %s\n", "help", "Explains a command: prof help export, or prof export --help");
    printf("\noptions:\n  -h, --help               this text\n      --version            the version\n\n"
           "A file named - is standard input or output. After --, file names may begin with -. A file can be read\n"
           "while a program records into it.\n\n"
           "exit status:\n  0  success; check: whole; compare: nothing became slower\n"
           "  1  check: incomplete; compare: something became slower; neuron: see prof help neuron\n"
           "  2  wrong usage, or a file could not be read or written; check: broken\n\n"
           "example: PROF_OUTPUT=trace.prof ./program; prof summary trace.prof\n");
}

static const tool_command *find_command(const char *name)
{
    const tool_command *const *each;
    const char *nearest = commands[0]->name;
    for (each = commands; *each; each++) {
        if (tool_same((*each)->name, name)) return *each;
        if (prof__report_distance(name, (*each)->name) < prof__report_distance(name, nearest)) nearest = (*each)->name;
    }
    if (*name == '-')
        tool_fail("unknown option '%s': a command must come first; see prof --help", name);
    else
        tool_fail("unknown command '%s': did you mean '%s'? See prof --help", name, nearest);
    return NULL;
}

/* Returns the index of an option. Prints a message that suggests the nearest name and returns -1 if there is none. */
static int find_option(const tool_command *command, const char *name)
{
    const char *nearest = "--help";
    int i;
    for (i = 0; command->options[i].name; i++) {
        if (tool_same(command->options[i].name, name)) return i;
        if (prof__report_distance(name, command->options[i].name) < prof__report_distance(name, nearest))
            nearest = command->options[i].name;
    }
    tool_fail("%s: unknown option '%s': did you mean '%s'?", command->name, name, nearest);
    return -1;
}

static int find_letter(const tool_command *command, char letter)
{
    int i;
    for (i = 0; command->options[i].name; i++)
        if (command->options[i].letter && command->options[i].letter[1] == letter) return i;
    tool_fail("%s: unknown option '-%c'; see prof %s --help", command->name, letter, command->name);
    return -1;
}

/* Sets an option's value: to `value` or, if that is NULL, to the next argument. Returns how many arguments it used.
   Returns 0 if there is no value. */
static int take_value(tool_args *args, int number, char *value, char *next)
{
    args->values[number] = value ? value : next;
    if (args->values[number]) return value ? 1 : 2;
    tool_fail("%s: %s needs a value: %s", args->command->name, args->command->options[number].name,
              args->command->options[number].value);
    return 0;
}

/* Takes an option written as "--name", "--name=value" or "--name" "value". Returns how many arguments it used; 0 after
   an error. */
static int take_name(tool_args *args, char *text, char *next)
{
    char name[32], *equals = strchr(text, '=');
    int number;
    snprintf(name, sizeof name, "%.*s", equals ? (int)(equals - text < 31 ? equals - text : 31) : 31, text);
    number = find_option(args->command, name);
    if (number < 0) return 0;
    if (args->command->options[number].value) return take_value(args, number, equals ? equals + 1 : NULL, next);
    args->values[number] = "";
    if (equals) tool_fail("%s: %s takes no value", args->command->name, name);
    return !equals;
}

/* Takes options written as "-a", "-ab", "-n5" or "-n" "5". Returns how many arguments it used; 0 after an error. */
static int take_letters(tool_args *args, char *text, char *next)
{
    for (text++; *text; text++) {
        int number = find_letter(args->command, *text);
        if (number < 0) return 0;
        if (args->command->options[number].value) return take_value(args, number, text[1] ? text + 1 : NULL, next);
        args->values[number] = "";
    }
    return 1;
}

/* 1: the arguments after the first one, options too, are those of a program. */
static int takes_program(const tool_command *command)
{
    return strstr(command->files, "PROGRAM") != NULL;
}

static int parse(tool_args *args, int argc, char **argv)
{
    int i, used, only_files = 0, runs = takes_program(args->command);
    for (i = 0; i < argc; i += used) {
        used = 1;
        only_files |= runs && args->file_count;
        if (only_files || argv[i][0] != '-' || !argv[i][1]) {
            args->files[args->file_count++] = argv[i];
        } else if (tool_same(argv[i], "--")) {
            only_files = args->separator >= 0 || !args->file_count || !strstr(args->command->files, " -- ");
            if (!only_files) args->separator = args->file_count; /* "--" between two sets of files */
        } else {
            used = argv[i][1] == '-' ? take_name(args, argv[i], i + 1 < argc ? argv[i + 1] : NULL)
                                     : take_letters(args, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
            if (!used) return 0;
        }
    }
    return 1;
}

/*-- files of several recordings stand for these --*/

/* Adds a file to the list. Returns 0, with a message, without memory. */
static int add_file(tool_args *args, size_t *room, const char *set, const char *name)
{
    size_t size = strlen(set) + strlen(name) + 2;
    char *path = (char *)malloc(size);
    if (!path || !tool_room(&args->files, room, (size_t)args->file_count, sizeof *args->files)) {
        free(path);
        return tool_fail("out of memory"), 0;
    }
    snprintf(path, size, *name ? "%s/%s" : "%s", set, name);
    args->files[args->file_count++] = path;
    return 1;
}

/* Adds the recordings of a file, or the file itself if it is not one of several. Returns 0 after an error, of which a
   message was printed. */
static int add_parts(tool_args *args, size_t *room, const char *path)
{
    FILE *file = tool_same(path, "-") ? NULL : prof__file_open(path, "rb");
    int several = file && prof__is_set(file), found = 1, good = 1, first = args->file_count;
    char name[PROF__SET_NAME];
    const char *last;
    uint64_t at = 0, base, size;
    if (!several) good = add_file(args, room, path, "");
    while (several && good && (found = prof__set_next(file, &at, name, &base, &size)) > 0)
        good = add_file(args, room, path, name);
    if (file) fclose(file);
    last = args->file_count > first ? args->files[args->file_count - 1] + strlen(path) + 1 : "its begin";
    if (found < 0)
        tool_fail("%s: was cut in %s, or is damaged after it; name the others, as in %s/NAME, or use prof recover",
                  path, last, path);
    if (several && found >= 0 && args->file_count == first) tool_fail("%s: is an archive without recordings", path);
    return good && found >= 0 && args->file_count > first;
}

/* Replaces files of several recordings by what they hold. Two of them are what "compare A B" compares. */
static int expand(tool_args *args)
{
    static const char *const others[] = {"recover", "config", "neuron", NULL}; /* whose arguments are no recordings */
    char **given = args->files;
    int count = args->file_count, separator = args->separator, i, good = 1;
    size_t room = 0;
    for (i = 0; others[i]; i++)
        if (tool_same(args->command->name, others[i])) count = 0;
    if (!count) return 1;
    args->files = NULL;
    args->file_count = 0;
    for (i = 0; i < count && good; i++) {
        if (i == separator) args->separator = args->file_count;
        good = add_parts(args, &room, given[i]);
        if (good && !i && count == 2 && separator < 0 && args->file_count > 1 && strstr(args->command->files, " -- "))
            args->separator = args->file_count;
    }
    free(given);
    if (good && args->file_count > count && args->file_count > args->command->most_files) {
        tool_fail("%s: needs one recording, and there are %d: name one of them, such as %s", args->command->name,
                  args->file_count, args->files[0]);
        good = 0;
    }
    args->owned = args->file_count;
    return good;
}

static int check_files(const tool_args *args)
{
    if (args->file_count < args->command->least_files || args->file_count > args->command->most_files) {
        tool_fail("%s: %s; usage: prof %s %s", args->command->name,
                  args->file_count < args->command->least_files ? "a file is missing" : "too many files",
                  args->command->name, args->command->files);
        return 0;
    }
    return 1;
}

static int wants_help(const tool_command *command, int argc, char **argv)
{
    int i;
    if (takes_program(command) && argc > 1) argc = 1;
    for (i = 0; i < argc && !tool_same(argv[i], "--"); i++)
        if (tool_same(argv[i], "--help") || tool_same(argv[i], "-h")) return 1;
    return 0;
}

static int run_command(int argc, char **argv)
{
    tool_args args;
    int result = TOOL_ERROR, i;
    memset(&args, 0, sizeof args);
    args.command = find_command(argv[0]);
    if (!args.command) return TOOL_ERROR;
    if (wants_help(args.command, argc - 1, argv + 1)) {
        print_command(args.command);
        return TOOL_OK;
    }
    args.separator = -1;
    args.files = (char **)calloc((size_t)argc, sizeof *args.files);
    if (!args.files) return tool_fail("out of memory");
    if (parse(&args, argc - 1, argv + 1) && expand(&args) && check_files(&args)) result = args.command->run(&args);
    for (i = 0; i < args.owned; i++) free(args.files[i]);
    free(args.files);
    return result;
}

/* Opens standard streams that the caller has closed, so that no other file gets their descriptors. */
static void keep_standard_files(void)
{
#ifndef _WIN32
    if (fcntl(0, F_GETFD) < 0) (void)!open("/dev/null", O_WRONLY);
    if (fcntl(1, F_GETFD) < 0) (void)!open("/dev/null", O_RDONLY);
    if (fcntl(2, F_GETFD) < 0) (void)!open("/dev/null", O_RDWR);
#endif
}

#ifdef _WIN32
int __cdecl __wgetmainargs(int *count, WCHAR ***arguments, WCHAR ***environment, int expand, int *mode);

/* Returns the arguments as UTF-8, with wildcards expanded, because the code page of main()'s arguments lacks most
   characters. Returns NULL if that fails. */
static char **utf8_arguments(int *count)
{
    WCHAR **wide, **environment;
    int mode = 0, failed = __wgetmainargs(count, &wide, &environment, 1, &mode), i;
    char **to = failed ? NULL : (char **)calloc((size_t)*count + 1, sizeof *to);
    for (i = 0; to && i < *count; i++) {
        int size = WideCharToMultiByte(CP_UTF8, 0, wide[i], -1, NULL, 0, NULL, NULL);
        to[i] = size > 0 ? (char *)malloc((size_t)size) : NULL;
        if (!to[i]) return NULL;
        WideCharToMultiByte(CP_UTF8, 0, wide[i], -1, to[i], size, NULL, NULL);
    }
    return to;
}
#endif

int main(int argc, char **argv)
{
    int result;
#ifdef _WIN32
    argv = utf8_arguments(&argc);
    if (!argv) return tool_fail("no memory for the arguments");
#endif
    keep_standard_files();
    if (argc < 2) return tool_fail("no command given: see prof --help");
    if (tool_same(argv[1], "--version")) {
        printf("prof %d.%d.%d\n", PROF_VERSION / 10000, PROF_VERSION / 100 % 100, PROF_VERSION % 100);
        return tool_flush(TOOL_OK);
    }
    if (tool_same(argv[1], "--help") || tool_same(argv[1], "-h") || tool_same(argv[1], "help")) {
        const tool_command *command = argc > 2 && argv[1][0] == 'h' ? find_command(argv[2]) : NULL;
        if (argc > 2 && argv[1][0] == 'h' && !command) return TOOL_ERROR;
        if (command)
            print_command(command);
        else
            print_help();
        return tool_flush(TOOL_OK);
    }
    result = run_command(argc - 1, argv + 1);
    free(input.bytes);
    return tool_flush(result);
}
