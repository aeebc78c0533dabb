/* tool.h - what the commands of the prof tool share. Each command is a file that uses the public API of the headers.
   tools/prof.c has the table of commands, parses the command line, and defines the functions below. */
#ifndef PROF_TOOL_H
#define PROF_TOOL_H

#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64 /* where long has 32 bits, files may be larger than 2 GiB */
#endif
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* declares POSIX functions with -std=c99, too */
#endif
#define PROF_HTML_LARGE 1
#ifndef PROF_STATIC
#define PROF_STATIC /* PROF_OUTPUT is meant for recorded programs, not for the tool */
#endif
#include "../prof_chrome.h"
#include "../prof_html.h"
#include "../prof_ntff.h"
#include "../prof_report.h"
#include "../prof_xplane.h"
#include <stdio.h>

#define TOOL_OPTIONS 16 /* options that a command may have */

enum { /* exit statuses */
    TOOL_OK = 0,
    TOOL_NO = 1,   /* check: incomplete; compare: slower by more than --fail-over; neuron: see its help */
    TOOL_ERROR = 2 /* wrong usage, unreadable input, or failed output */
};

typedef struct tool_option {
    const char *name;   /* "--sort" */
    const char *letter; /* "-o", or NULL */
    const char *value;  /* what the help calls its value; NULL: it is a switch */
    const char *help;
} tool_option;

/* A parsed command line. */
typedef struct tool_args {
    const struct tool_command *command;
    const char *values[TOOL_OPTIONS]; /* by the option's index; NULL: not given; "": a switch that was given */
    char **files;
    int file_count, owned; /* owned: how many of the files' names to free */
    int separator; /* how many files come before the "--" between two sets; -1: there is no "--" */
} tool_args;

typedef struct tool_command {
    const char *name, *files, *about; /* files: for the usage line; about: one line for the list of commands */
    int least_files, most_files;
    int (*run)(const tool_args *args); /* returns the exit status */
    const tool_option *options;        /* the last one has the name NULL */
    const char *help;                  /* further help, with an example */
} tool_command;

extern const tool_command tool_export, tool_summary, tool_check, tool_recover, tool_merge, tool_compare, tool_cut,
    tool_config, tool_flame, tool_frames, tool_hot, tool_messages, tool_neuron, tool_request, tool_run, tool_steps,
    tool_stragglers, tool_top, tool_view, tool_why;

/* Prints in which scopes the threads of recordings hang that were not stopped, and since when. Returns 0 without
   memory. */
int hangs_print(const tool_args *args);

/* Returns the value of an option. Returns NULL if the option was not given. */
const char *tool_value(const tool_args *args, const char *option);

/* Prints "prof: ..." to stderr. Returns TOOL_ERROR. */
int tool_fail(const char *format, ...) PROF__PRINTF(1, 2);
/* Prints the text of prof_error() as tool_fail() does, and returns TOOL_ERROR. Prints nothing if the reader of standard
   output has gone. Returns TOOL_OK for PROF_OK. */
int tool_status(prof_status status);
/* Flushes standard output. Returns `result`; if not all was written, prints a message and returns TOOL_ERROR. */
int tool_flush(int result);

FILE *tool_file_open(const char *path, const char *mode); /* fopen(); on Windows, the path is UTF-8 */

/* Opens a trace; "-" is standard input, whose content is kept for another call. Returns NULL, with a message, if that
   fails. */
prof_trace *tool_open(const char *path);
/* Call it before so many traces are opened at the same time: they take less memory then, and stay open as files. */
void tool_open_many(int count);
/* Opens what the buffer of a recording holds, without what it wrote to its archive. Prints no message. */
prof_status tool_open_buffer(const char *path, prof_trace **trace);
/* Copies an image and sets its window: see prof_image_copy(). Returns the exit status. */
int tool_copy(const char *in, const char *out, int64_t from_ns, int64_t to_ns);
const char *tool_shown(const char *path); /* what messages call it */
/* Writes "postgres checkpointer": the program, and what it is for if its metadata "role" says so. */
const char *tool_program(const prof_trace *trace, char *to, size_t size);

const char *tool_said(const prof_trace *trace, const char *what); /* a value of its metadata; "": it has none */

/* A file that replaces an older one only when it is complete ("-" is standard output). tool_out_open() returns NULL,
   with a message, if that fails. tool_out_close() writes the rest, or discards everything if good is 0, and returns the
   exit status. */
typedef struct tool_out tool_out;
tool_out *tool_out_open(const char *path);
void tool_out_bytes(tool_out *out, const void *bytes, size_t size);
void tool_out_zeros(tool_out *out, uint64_t size); /* many take no space on the disk */
int tool_out_good(const tool_out *out); /* 0: something could not be written */
int tool_out_close(tool_out *out, int good);

/* Writes all recordings into one file, which every command reads in their place. Returns the exit status. */
int tool_set_write(const tool_args *args, const char *path);
int tool_file_size(FILE *file, uint64_t *size); /* and moves to its end; 0: an error */

/* Writes traces as Chrome's JSON, or, if chrome is NULL, the only one as CSV. Returns the exit status. */
int tool_write(const prof_trace *const *traces, size_t count, const prof_chrome_options *chrome, const char *path);

/* Writes what prof_trace_write() writes, or speedscope's own format. Returns the exit status. */
int tool_trace_write(const prof_trace *trace, const char *path, const char *extension);

/* A sink that erases the progress bar and writes to standard output; tool_flush() reports errors. */
prof_sink tool_stdout(void);

/* Returns what --output and --format ask for: ".json" and so on, or "/" for a log directory. Returns NULL, with a
   message, if that is unclear. */
const char *tool_output_kind(const tool_args *args);

/* Returns 1 and the number of the choice, or 0, with a message that lists the choices. A text of NULL is choice 0. */
int tool_choice(const char *option, const char *text, const char *const *choices, int *choice);
/* Reads "1.5s" or "20ms" as nanoseconds; "-1.5s" counts back from end_ns. Returns 0, with a message, if it is no time.
   */
int tool_time(const char *option, const char *text, int64_t end_ns, int64_t *ns);
int tool_number(const char *option, const char *text, double least, double max, double *number);
int tool_whole(const char *option, const char *text, int64_t *number); /* may be negative, or hexadecimal: 0x1f */
int tool_same(const char *a, const char *b);
const char *tool_extension(const char *path); /* ".json"; "" if it has none */
const char *tool_base(const char *path);      /* without its folders */
int tool_is_folder(const char *path);         /* 1 if it ends in a slash, or is a directory */
int tool_folder_for(const char *path);        /* makes the directory of a file; returns 0 or an errno */

/* A progress bar on stderr: at once if `when` is "always", else after half a second if stderr is a terminal. */
void tool_progress_begin(const char *what, const char *when);
void tool_progress(double share); /* adds to the share that is done; 1 is everything */
void tool_progress_end(void);
void tool_progress_step(void *user, double share); /* for prof_trace_set_progress */
extern const char *const tool_progress_choices[];
#define TOOL_PROGRESS \
    {"--progress", NULL, "WHEN", "a progress bar on stderr: auto (default: if it is a terminal), always, never"}

/* The options of export and merge for Chrome's JSON. tool_chrome() returns 0, with a message, if a choice is wrong, or
   if an option for JSON was given and json is 0. */
#define TOOL_CHROME                                                                                             \
    {"--source", NULL, "WHERE",                                                                                 \
     "json: file and line as loc (default; Tracy shows it), as args (every viewer does), or none"},             \
    {"--no-args", NULL, NULL, "json: leaves out arguments of scopes, which speedscope makes part of their names"}, \
    {"--no-spans", NULL, NULL, "json: leaves out spans"},                                                       \
    {"--tracy", NULL, NULL, "json: for Tracy's importer: names of counters where it looks for them, no spans"}, \
    {"--allocations", NULL, NULL, "json: also each allocation and free; default: the curve of live bytes alone"}, \
    {"--min-duration", NULL, "TIME", "json: leaves out scopes shorter than this, for example 10us"}
#define TOOL_XPLANE                                                                                             \
    {"--accelerators", NULL, "LIST",                                                                            \
     "log directory: the devices whose work XProf counts, such as 'npu 0,npu 1'; '*': all"}
/* The option of export and view for the page. tool_sources() returns 0, with a message, if it names no folder. */
#define TOOL_SOURCES                                                                                            \
    {"--sources", NULL, "DIR",                                                                                  \
     "html: also the lines of source around each scope, from files below DIR; others can read them"}
int tool_sources(const tool_args *args, const char **folder);
/* Sets the window of a trace that --from and --to ask for. Returns the exit status. */
int tool_window(const tool_args *args, prof_trace *trace);
/* The option of hot and flame for the names of functions. */
#define TOOL_SYMBOLS                                                                                            \
    {"--symbols", NULL, "DIR",                                                                                  \
     "where files of the program are, and of its debug information, by the end of their path or their build id"}
/* The option of commands that put several recordings on one time line. tool_shift() moves a trace by what it says of
   its rank or host. Call it for each, then tool_shift_done(): it returns 0, with a message, if --offset names one that
   there is not; tool_shift() if it cannot be read. */
#define TOOL_OFFSET                                                                                             \
    {"--offset", NULL, "WHO=TIME", "makes the clock of a rank or host right: rank=3:+3.015s,host=node2:-20ms"}
int tool_shift(const tool_args *args, prof_trace *trace);
int64_t tool_shift_of(const tool_args *args, const prof_trace *trace); /* by how much */
int tool_shift_done(const tool_args *args);
/* What puts traces on one time line, which outlives them: see prof_trace_align(). tool_clocks_new() returns NULL
   without memory. */
typedef struct tool_clocks tool_clocks;
tool_clocks *tool_clocks_new(size_t count);
void tool_clocks_put(tool_clocks *clocks, size_t which, const prof_trace *trace);
void tool_clocks_align(const tool_clocks *clocks, int64_t *offsets);
void tool_clocks_free(tool_clocks *clocks);
/* The options of export and view for large recordings. tool_limits() returns 0, with a message, if one is wrong. */
#define TOOL_LIMITS                                                                                             \
    {"--events", NULL, "N", "html: of a recording of more, an outline and the events of a window; default: 50000000"}, \
    {"--from", NULL, "TIME",                                                                                    \
     "html: where that window begins, such as 1.5s; -1.5s: before the end; default: the last N/2"},             \
    {"--to", NULL, "TIME", "html: where it ends; default: the end"}
int tool_limits(const tool_args *args, const prof_trace *trace, prof_html_limits *limits);
int tool_chrome(const tool_args *args, int json, prof_chrome_options *options);
int tool_xplane(const tool_args *args, int folder, prof_xplane_options *options);
/* Prints a warning if a JSON file is larger than some viewers can read. */
void tool_chrome_size(const char *path);

/* Continues a hash with a text; the first one begins with any number. It is the same in each run. */
uint32_t tool_hash(uint32_t hash, const char *text);
/* The call sites of a trace are numbered from 0 on. */
size_t tool_site_count(const prof_trace *trace);
size_t tool_site_number(const prof_trace *trace, const prof_callsite *site); /* site: of one of its events */
/* Returns a number that stands for a row of statistics. name: NULL: that of the call site. */
uint64_t tool_key(const prof_callsite *site, const char *name, size_t parent);

/* Format numbers for people, into the caller's buffer of 48 bytes. */
const char *tool_ns(char *to, double ns);       /* "1.234 ms" */
const char *tool_count(char *to, uint64_t count); /* "1,234" */
const char *tool_hz(char *to, double hz);         /* "24.00 MHz" */
/* Writes a value of a counter in a unit that suits it: "2.196 GB"; to: 96 bytes. */
const char *tool_measured(char *to, double value, const char *unit);
size_t tool_character(const char *text); /* bytes of the character there; 0: a control character, or no UTF-8 */
void tool_print_json(const char *text, size_t length); /* as a JSON string; ends between characters */
size_t tool_json_character(const char *text, char *to, size_t *size); /* to: 8 bytes; returns how many it read */
void tool_json_text(const char *key, const char *text); /* with a comma before it, as the next one */
void tool_json_number(const char *key, uint64_t value);
int tool_characters(const char *text); /* how many columns a name takes */
void tool_print_name(const char *text, int width); /* replaces control characters, and the middle of what is longer than
                                                      width; width 0: no limit */

/* tool_columns() finds the length of a line that tables must fit into: --columns, or that of the terminal; -1: no
   limit. It returns 0, with a message, if --columns is wrong. The other two use what it found. */
#define TOOL_COLUMNS \
    {"--columns", "-c", "N", "fits lines into N characters; default: the width of the terminal; 0: no limit"}
int tool_columns(const tool_args *args, int *columns);
void tool_print_wrapped(const char *text, int at, int indent); /* begins at column `at`; prints no final newline */
int tool_fit(int max, int used); /* how many characters a name may have if `used` of the line are taken: up to max */
int tool_colours(void); /* 1: it is a terminal that shows colours */
int tool_draws(void); /* 1: standard output is a terminal that shows U+2588 and the like */

/* Says what a trace lacks, and what to do about it, for each kind of loss below TOOL_LOSSES. Returns 0 if nothing of
   this kind is missing. */
#define TOOL_LOSSES 11
int tool_nothing(const prof_trace *trace, char *to, size_t size); /* why a recording has no events; 0: it has some */
int tool_loss(const prof_trace *trace, int kind, char *to, size_t size);

const char *tool_event_name(unsigned type, int many); /* of a prof_event_type */
int tool_gap(const prof_trace *trace, size_t i, char *to, size_t size); /* a line about a suspension; 0: no more */
int tool_is_alive(const prof_trace_info *info); /* 1: the process that recorded it is, as far as can be known here */
const char *tool_wait_kind(const prof_wait *wait); /* as prof_why_wait.kind */
/* Makes room for one more element in an array on the heap; array: the address of its pointer. Returns 0 without
   memory. */
int tool_room(void *array, size_t *capacity, size_t count, size_t element);
int tool_is_scope(const prof_span *span); /* 1: a scope that ended after one around it, see PROF_EVENT_SPAN_BEGIN */

#endif
