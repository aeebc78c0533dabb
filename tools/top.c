/* top.c - prof top: a live table of the scopes of a running program, as top(1) has of processes. Only reads the
   program's file, and opens it anew for each period. top_read.c computes the figures. */
#include "top.h"
#ifdef __linux__
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#endif

static const tool_option options[] = {
    {"--once", "-1", NULL, "prints one table, of the last period, and exits"},
    {"--rows", "-n", "N", "prints N scopes; default: as many as the terminal has lines for, else 20"},
    {"--period", "-p", "TIME", "how long a period is: 1s (default), 200ms; from 50ms to 1h"},
    {"--sort", "-s", "KEY", "self (default), total, calls or max; the largest first"},
    TOOL_COLUMNS,
    {NULL, NULL, NULL, NULL}};

#ifndef __linux__
static int run(const tool_args *args)
{
    return tool_fail("top: works only on Linux: use prof summary %s", args->files[0]);
}
#else

static const char *const sorts[] = {"self", "total", "calls", "max", NULL}; /* by index: TOP_SELF and so on */

/* A file that is watched. */
typedef struct watched {
    const char *path;
    prof_trace *trace;    /* the trace of the period that is shown; NULL: none was taken yet */
    top_period shown;
    char program[64];
    uint64_t pid, start_ns, lost;
    const char *ended;    /* why no period follows; NULL: the program runs */
    int said;             /* 1: this was printed */
} watched;

typedef struct top {
    const tool_args *args;
    watched *files;
    size_t count;
    top_period all;       /* of several files: what they have together, by names */
    int64_t period_ns;
    int rows, sort, once; /* rows: 0: as many as the terminal has space for */
    int screen, colours;  /* screen: 1: each table replaces the previous one */
    int keys, paused;
} top;

/*-- the terminal --*/

static volatile sig_atomic_t interrupted, continued;
static struct termios terminal_before;

static void on_signal(int number)
{
    if (number == SIGCONT)
        continued = 1;
    else
        interrupted = 1;
}

/* Makes the terminal deliver single keys. Returns 0 if standard input is no terminal, or belongs to another process. */
static int keys_begin(void)
{
    struct termios now;
    if (!isatty(0) || tcgetpgrp(0) != getpgrp() || tcgetattr(0, &terminal_before)) return 0;
    now = terminal_before;
    now.c_lflag &= (tcflag_t)~(unsigned)(ICANON | ECHO);
    now.c_cc[VMIN] = 0;
    now.c_cc[VTIME] = 0;
    return !tcsetattr(0, TCSANOW, &now);
}

static void signals_begin(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGCONT};
    struct sigaction action;
    size_t i;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    for (i = 0; i < sizeof numbers / sizeof *numbers; ++i) sigaction(numbers[i], &action, NULL);
}

static void keys_end(const top *t)
{
    if (t->keys) tcsetattr(0, TCSANOW, &terminal_before);
}

/* Returns how many scopes are printed. */
static size_t row_limit(const top *t)
{
    struct winsize size;
    if (t->rows) return (size_t)t->rows;
    if (!t->screen || ioctl(1, TIOCGWINSZ, &size) || !size.ws_row) return 20;
    if (size.ws_row < 10 + 3 * t->count) return 5;
    return (size_t)size.ws_row - 4u - 3u * t->count; /* leaves space for the lines above and the cursor */
}

/*-- the table --*/

static void append(char *to, size_t size, const char *format, ...) PROF__PRINTF(3, 4);
static void append(char *to, size_t size, const char *format, ...)
{
    size_t at = strlen(to);
    va_list list;
    va_start(list, format);
    vsnprintf(to + at, size - at, format, list);
    va_end(list);
}

static const char *rate_text(char *to, uint64_t count, double seconds)
{
    double rate = (double)count / seconds;
    if (rate >= 99.95) return tool_count(to, (uint64_t)(rate + 0.5));
    snprintf(to, 48, "%.1f", rate);
    return to;
}

static void describe_buffer(const prof_trace_info *info, const top_period *p, char *to, size_t size)
{
    char held[48], bytes[96];
    tool_ns(held, (double)p->held_ns);
    tool_measured(bytes, (double)info->buffer_size, "B");
    if (info->mode == PROF_STREAM)
        append(to, size, "the buffer of %s, which goes into the file, holds %s", bytes, held);
    else if (info->mode == PROF_FILL)
        append(to, size, "the buffer of %s %s", bytes, info->lost ? "is full" : "holds everything so far");
    else if (info->overwritten_chunks)
        append(to, size, "the ring of %s holds %s", bytes, held);
    else
        append(to, size, "the ring of %s is not full yet", bytes);
}

static void describe_frames(top_rows *frames, double seconds, char *to, size_t size)
{
    char rate[48], longest[48];
    size_t i;
    top_sort(frames, TOP_CALLS);
    for (i = 0; i < frames->count && i < 3; ++i) {
        const top_row *row = &frames->items[i];
        append(to, size, "; %s %.40s %s/s", i ? "" : "frames:", row->name, rate_text(rate, row->calls, seconds));
        if (row->timed) append(to, size, ", longest %s", tool_ns(longest, (double)row->max_ns));
    }
}

static void print_head(const top *t, watched *file, double seconds)
{
    const prof_trace_info *info = prof_trace_about(file->trace);
    const top_period *p = &file->shown;
    char line[1000] = "", active[48], tracks[48], rate[48], lost[48], since[48], span[48];
    append(line, sizeof line, "%s, process %llu, %s after its start: the last %s%s", file->program,
           (unsigned long long)file->pid, tool_ns(since, (double)p->to_ns),
           tool_ns(span, (double)(p->to_ns - p->from_ns)), t->paused ? " (paused)" : "");
    tool_print_wrapped(line, 0, 2);
    *line = 0;
    append(line, sizeof line, "%s of %s threads recorded, %s events/s, %s lost; ", tool_count(active, p->active),
           tool_count(tracks, p->tracks), rate_text(rate, p->events, seconds), tool_count(lost, p->lost));
    describe_buffer(info, p, line, sizeof line);
    describe_frames(&file->shown.frames, seconds, line, sizeof line);
    printf("\n");
    tool_print_wrapped(line, 0, 2);
    printf("\n");
    if (p->asked_ns >= p->from_ns) return;
    tool_print_wrapped("the buffer holds less than a period: enlarge PROF_BUFFER to see all of it", 0, 2);
    printf("\n");
}

static void print_row(const top_row *row, int width, double seconds)
{
    char calls[48], total[48], mean[48] = "-", longest[48] = "-";
    if (row->timed) {
        tool_ns(mean, (double)row->sum_ns / (double)row->timed);
        tool_ns(longest, (double)row->max_ns);
    }
    tool_print_name(row->name, width);
    printf(" %10s %8.1f %9s %9s %9s\n", rate_text(calls, row->calls, seconds), (double)row->self_ns / seconds / 1e7,
           tool_ns(total, (double)row->total_ns), mean, longest);
}

static void print_table(top *t, top_rows *rows, double seconds)
{
    size_t limit = row_limit(t), i;
    int width = 5, length;
    top_sort(rows, t->sort);
    for (i = 0; i < rows->count && i < limit; ++i) {
        length = tool_characters(rows->items[i].name);
        if (length > width) width = length;
    }
    width = tool_fit(width < 60 ? width : 60, 50);
    if (t->colours) printf("\033[7m");
    tool_print_name("scope", width);
    printf(" %10s %8s %9s %9s %9s", "calls/s", "self %", "total", "mean", "max");
    if (t->colours) printf("\033[m");
    printf("\n");
    for (i = 0; i < rows->count && i < limit; ++i) print_row(&rows->items[i], width, seconds);
    if (!rows->count) printf("no scope was open\n");
}

static double seconds_of(const top_period *p)
{
    return (double)(p->to_ns - p->from_ns) / 1e9;
}

/* Adds up the rows of all files. Figures per second are those of the longest period. Returns 0 without memory. */
static int add_up(top *t, double *seconds)
{
    size_t i;
    int good = 1;
    top_free(&t->all);
    for (i = 0; good && i < t->count; ++i) {
        if (!t->files[i].trace || t->files[i].said) continue;
        if (seconds_of(&t->files[i].shown) > *seconds) *seconds = seconds_of(&t->files[i].shown);
        good = top_add(&t->all.scopes, &t->files[i].shown.scopes);
    }
    return good;
}

static int show(top *t)
{
    double seconds = t->count > 1 ? 0 : seconds_of(&t->files->shown);
    size_t i;
    int columns;
    tool_columns(t->args, &columns); /* the terminal's width may have changed */
    if (t->count > 1 && !add_up(t, &seconds)) return tool_fail("out of memory");
    if (t->screen) printf("\033[H\033[J");
    for (i = 0; i < t->count; ++i)
        if (t->files[i].trace && !t->files[i].said) print_head(t, &t->files[i], seconds_of(&t->files[i].shown));
    print_table(t, t->count > 1 ? &t->all.scopes : &t->files->shown.scopes, seconds > 0 ? seconds : 1);
    if (!t->screen && !t->once) printf("\n");
    fflush(stdout);
    return TOOL_OK;
}

/*-- the program --*/

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Converts a time of the system's clock to a time of the session. In a container, this clock may differ from the
   program's. Then returns the time of the last event. */
static int64_t session_time(const prof_trace_info *info, int64_t monotonic_ns)
{
    int64_t since = monotonic_ns - (int64_t)info->start_monotonic_ns, last = info->duration_ns + 1;
    return since < last - 60000000000 || since < 0 ? last : since;
}

/* Returns why no period follows a trace. Returns NULL if one does. alive: 1: the process ran before the trace was
   opened. */
static const char *end_of(const watched *file, const prof_trace_info *info, int alive)
{
    if (info->pid != file->pid || info->start_unix_ns != file->start_ns)
        return "has ended, and a new recording has begun in";
    if (info->complete) return "has ended: see prof summary";
    return alive ? NULL : "was killed, crashed or left by _exit(): see prof check";
}

static void drop_period(watched *file)
{
    top_free(&file->shown);
    prof_trace_close(file->trace);
    file->trace = NULL;
}

/* Replaces the trace, and reads the period up to now, or up to the end of the recording. */
static int take(const top *t, watched *file, prof_trace *trace, int64_t from_ns, int64_t now)
{
    const prof_trace_info *info = prof_trace_about(trace);
    int64_t to = file->ended ? info->duration_ns + 1 : session_time(info, now);
    int result;
    drop_period(file);
    file->trace = trace;
    result = top_read(trace, from_ns < 0 ? to - t->period_ns : from_ns, to, &file->shown);
    if (from_ns >= 0 && info->lost > file->lost && info->lost - file->lost > file->shown.lost)
        file->shown.lost = info->lost - file->lost;
    file->lost = info->lost; /* from the header: a thread that still loses events has not recorded how many */
    return result;
}

/* Opens a file again for the next period. If that fails, the old period stays. */
static int refresh(const top *t, watched *file, int64_t from_ns)
{
    prof_trace *trace;
    int64_t now = now_ns();
    int alive = tool_is_alive(prof_trace_about(file->trace));
    prof_status status = tool_open_buffer(file->path, &trace);
    if (status) {
        if (access(file->path, F_OK)) file->ended = "has ended, completed its output and removed";
        else if (!alive) file->ended = "has ended: see prof check";
        return file->ended ? TOOL_OK : tool_status(status);
    }
    file->ended = end_of(file, prof_trace_about(trace), alive);
    if (prof_trace_about(trace)->pid == file->pid && prof_trace_about(trace)->start_unix_ns == file->start_ns)
        return take(t, file, trace, from_ns, now);
    prof_trace_close(trace);
    return TOOL_OK;
}

/* Returns 1 if a program has ended, as the next refresh would find out. */
static int is_over(const top *t)
{
    size_t i;
    for (i = 0; i < t->count; ++i) {
        const watched *file = &t->files[i];
        if (file->ended) continue;
        if (access(file->path, F_OK) || !tool_is_alive(prof_trace_about(file->trace))) return 1;
    }
    return 0;
}

/*-- waiting --*/

/* Does what a key asks for. Returns 1 to quit. */
static int press(top *t, int key)
{
    if (key == 'q' || key == 'Q') return 1;
    if (key == 's' || key == 'S') t->sort = (t->sort + 1) % TOP_SORTS;
    if (key == 'p' || key == 'P' || key == ' ') t->paused = !t->paused;
    return show(t) != TOOL_OK;
}

/* Waits for a key, for `ms` milliseconds at most. Returns 1 to quit. */
static int wait_for_key(top *t, int ms)
{
    struct pollfd in;
    char key;
    in.fd = 0;
    in.events = POLLIN;
    in.revents = 0;
    if (poll(&in, t->keys ? 1 : 0, ms) > 0 && in.revents) {
        if (read(0, &key, 1) == 1) return press(t, key);
        t->keys = 0; /* the terminal is gone */
    }
    if (continued) {
        continued = 0;
        t->keys = keys_begin();
        return show(t) != TOOL_OK;
    }
    return 0;
}

/* Waits for the end of the period, or of a pause. Returns 1 to quit. */
static int wait_period(top *t, int64_t until)
{
    int was_paused = 0;
    for (;;) {
        int64_t left = until - now_ns();
        if (interrupted || ferror(stdout)) return 1;
        if (is_over(t)) return 0;
        if (t->paused) was_paused = 1, left = 100000000;
        if (left <= 0 || (was_paused && !t->paused)) return 0;
        if (wait_for_key(t, left > 100000000 ? 100 : (int)(left / 1000000) + 1)) return 1;
    }
}

/* Says which programs have ended since. Returns how many are left. */
static size_t say_ended(top *t)
{
    size_t left = 0, i;
    for (i = 0; i < t->count; ++i) {
        watched *file = &t->files[i];
        left += !file->ended;
        if (!file->ended || file->said) continue;
        file->said = 1;
        if (t->screen && t->count > 1) continue; /* the next table would replace it: it is said at the end */
        tool_print_name(file->program, 0);
        printf(" (process %llu) %s ", (unsigned long long)file->pid, file->ended);
        tool_print_name(file->path, 0);
        printf("\n");
    }
    return left;
}

/* Reads the next period of all programs that run. shown: set to 1 if one had a period. */
static int refresh_all(top *t, int paused, int *changed)
{
    size_t i;
    int result = TOOL_OK;
    for (i = 0; result == TOOL_OK && i < t->count; ++i) {
        watched *file = &t->files[i];
        const prof_trace *before = file->trace;
        if (file->ended) continue;
        result = refresh(t, file, paused ? -1 : file->shown.to_ns);
        *changed |= file->trace != before;
    }
    return result;
}

static int live(top *t)
{
    int64_t start = now_ns(), turn;
    size_t left = t->count;
    int result = TOOL_OK;
    for (turn = 1; result == TOOL_OK && left; ++turn) {
        int paused, changed = 0;
        if (wait_period(t, start + turn * t->period_ns)) return TOOL_OK;
        paused = t->paused;
        t->paused = 0;
        if (now_ns() > start + (turn + 1) * t->period_ns) { /* periods were missed: a pause, or a busy machine */
            start = now_ns();
            turn = 0;
        }
        result = refresh_all(t, paused, &changed);
        if (result == TOOL_OK && changed) result = show(t);
        if (result == TOOL_OK) left = say_ended(t);
    }
    for (size_t i = 0; result == TOOL_OK && t->screen && t->count > 1 && i < t->count; ++i) t->files[i].said = 0;
    if (result == TOOL_OK && t->screen && t->count > 1) {
        t->screen = 0;
        say_ended(t);
    }
    return result;
}

/*-- the command --*/

static int is_address(const char *path)
{
    const char *colon = strrchr(path, ':');
    return colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1) && access(path, F_OK);
}

static int choose(const tool_args *args, top *t)
{
    const char *rows = tool_value(args, "--rows"), *period = tool_value(args, "--period"), *term = getenv("TERM");
    double number = 0;
    int columns;
    t->args = args;
    t->period_ns = 1000000000;
    if (!tool_choice("--sort", tool_value(args, "--sort"), sorts, &t->sort)) return 0;
    if (rows && !tool_number("--rows", rows, 1, 100000, &number)) return 0;
    if (period && !tool_time("--period", period, 0, &t->period_ns)) return 0;
    if (t->period_ns < 50000000 || t->period_ns > 3600000000000)
        return tool_fail("--period '%s': must be from 50ms to 1h", period), 0;
    if (!tool_columns(args, &columns)) return 0;
    t->rows = (int)number;
    t->once = tool_value(args, "--once") != NULL;
    t->screen = !t->once && isatty(1) && term && *term && !tool_same(term, "dumb");
    t->colours = t->screen && !(getenv("NO_COLOR") && *getenv("NO_COLOR"));
    return 1;
}

/* Opens the file of a running program. Returns the exit status; prints a message after a failure. */
static int begin(const top *t, watched *file)
{
    const prof_trace_info *info;
    prof_trace *trace;
    int64_t now = now_ns();
    if (tool_same(file->path, "-"))
        return tool_fail("top: cannot watch standard input: name the file that the program records into");
    if (is_address(file->path))
        return tool_fail("top: reads only files: for a program with prof_server.h use curl '%s/summary?ms=1000'",
                         file->path);
    if (tool_open_buffer(file->path, &trace) && !(trace = tool_open(file->path))) return TOOL_ERROR; /* prints why */
    file->trace = trace;
    info = prof_trace_about(trace);
    snprintf(file->program, sizeof file->program, "%s", *info->program ? info->program : "(unnamed)");
    file->pid = info->pid;
    file->start_ns = info->start_unix_ns;
    if (info->complete || !tool_is_alive(info))
        return tool_fail("top: %s: process %llu does not record into it any more: use prof summary %s", file->path,
                         (unsigned long long)info->pid, file->path);
    file->trace = NULL;
    return take(t, file, trace, -1, now);
}

static int run(const tool_args *args)
{
    top t;
    size_t i;
    int result = TOOL_OK;
    memset(&t, 0, sizeof t);
    if (!choose(args, &t)) return TOOL_ERROR;
    t.files = (watched *)calloc((size_t)args->file_count, sizeof *t.files);
    if (!t.files) return tool_fail("out of memory");
    for (; t.count < (size_t)args->file_count && result == TOOL_OK; ++t.count) {
        t.files[t.count].path = args->files[t.count];
        result = begin(&t, &t.files[t.count]);
    }
    if (result == TOOL_OK && t.screen) {
        signals_begin();
        t.keys = keys_begin();
    }
    if (result == TOOL_OK) result = show(&t);
    if (result == TOOL_OK && !t.once) result = live(&t);
    keys_end(&t);
    for (i = 0; i < t.count; ++i) drop_period(&t.files[i]);
    top_free(&t.all);
    free(t.files);
    return result;
}
#endif

const tool_command tool_top = {
    "top", "FILE.prof ...", "Shows the scopes of running programs by self time, anew each second", 1, 1000, run,
    options,
    "FILE.prof is what the program records into: its output or, of any other output, OUTPUT.prof beside it. It is\n"
    "only read. Figures are those of the period alone: calls/s counts the calls that ended in it; self % is the\n"
    "time in the scope without those inside it, in percent of one processor, whether the thread ran or waited;\n"
    "total is all time in it, added over threads; mean and max are those of the calls that ended. Calls that are\n"
    "open count with their part of the period, also if it began earlier, as long as their begin is in the buffer.\n"
    "If the ring holds less than a period, the table is of what it holds. The scopes of several programs are added\n"
    "up by their names.\n\n"
    "keys: q quits, s sorts by the next column, p pauses and goes on. If standard output is no terminal, or TERM is\n"
    "dumb, it prints a table for each period. When the program ends, top prints the last part, says so and exits\n"
    "with status 0.\n\n"
    "example: prof top trace.json.prof\n"
    "         prof top --once -n 5 ring.prof\n"
    "         prof top worker-*.prof\n"};
