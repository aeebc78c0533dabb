/* tool.h - what the commands of the prof tool share. Each command is a file of its own over the public API of the
   headers; tools/prof.c has the table of them, the command line, and the functions declared here. */
#ifndef PROF_TOOL_H
#define PROF_TOOL_H

#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64 /* files beyond 2 GiB where long has 32 bits */
#endif
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* what is POSIX, under -std=c99, too */
#endif
#include "../prof_chrome.h"
#include "../prof_ntff.h"
#include "../prof_report.h"
#include "../prof_xplane.h"
#include <stdio.h>

#define TOOL_OPTIONS 10 /* the most that a command has */

enum { /* exit statuses */
    TOOL_OK = 0,
    TOOL_NO = 1,   /* check: incomplete; compare: something is slower by more than --fail-over */
    TOOL_ERROR = 2 /* wrong usage, unreadable input, output that could not be written */
};

typedef struct tool_option {
    const char *name;   /* "--sort" */
    const char *letter; /* "-o", or null */
    const char *value;  /* what stands for its value in the help; null: a switch */
    const char *help;
} tool_option;

/* A command line, taken apart. */
typedef struct tool_args {
    const struct tool_command *command;
    const char *values[TOOL_OPTIONS]; /* of the options in the order of the table; null: not given; "" for a switch */
    char **files;
    int file_count;
    int separator; /* how many files stand before the "--" between two sets of them; -1: there is none */
} tool_args;

typedef struct tool_command {
    const char *name, *files, *about; /* files: how the help writes them; about: one line */
    int least_files, most_files;
    int (*run)(const tool_args *args); /* returns the exit status */
    const tool_option *options;        /* ends with a null name */
    const char *help;                  /* the rest of the help, with an example */
} tool_command;

extern const tool_command tool_export, tool_summary, tool_check, tool_recover, tool_merge, tool_compare, tool_cut,
    tool_config, tool_neuron;

/* The value of an option; null: not given. */
const char *tool_value(const tool_args *args, const char *option);

/* "prof: ..." on stderr. Returns TOOL_ERROR. */
int tool_fail(const char *format, ...) PROF__PRINTF(1, 2);
/* The same with the words of prof_error(), but silent if nobody reads standard output any more. TOOL_OK for PROF_OK. */
int tool_status(prof_status status);
/* Whether everything printed has arrived; else it says so. */
int tool_flush(int result);

/* Opens a trace; "-" is standard input, which is kept for another time. Null, after it has said why, if that fails. */
prof_trace *tool_open(const char *path);
/* Copies an image, of which a window is to be shown: see prof_image_copy(). Returns the exit status. */
int tool_copy(const char *in, const char *out, int64_t from_ns, int64_t to_ns);
const char *tool_shown(const char *path); /* how messages call it */

/* A file that takes its place only when it is complete ("-" is standard output). tool_out_open: null, after it has said why,
   if that fails. tool_out_close: writes the rest, or throws all away if good is 0; returns the exit status. */
typedef struct tool_out tool_out;
tool_out *tool_out_open(const char *path);
void tool_out_bytes(tool_out *out, const void *bytes, size_t size);
int tool_out_close(tool_out *out, int good);

/* Standard output, once the bar is gone; tool_flush() tells whether it worked. */
prof_sink tool_stdout(void);

/* What --output and --format ask for: ".json" or the like, "/" for a log directory. Null, after it has said why, if that is unclear. */
const char *tool_output_kind(const tool_args *args);

/* 1 and the number of the choice; 0, after it has said what there is. text null: choice 0. */
int tool_choice(const char *option, const char *text, const char *const *choices, int *choice);
/* "1.5s" or "20ms" as nanoseconds; -"1.5s" is counted back from end_ns. 0, after it has said so, if it is none. */
int tool_time(const char *option, const char *text, int64_t end_ns, int64_t *ns);
int tool_number(const char *option, const char *text, double least, double most, double *number);
int tool_same(const char *a, const char *b);
const char *tool_extension(const char *path); /* ".json"; "" if it has none */
int tool_is_folder(const char *path);         /* ends in a slash, or is a directory */

/* A bar on stderr while long work is done: at once if `when` is "always", after half a second if it is a terminal. */
void tool_progress_begin(const char *what, const char *when);
void tool_progress(double share); /* adds to what is done; all is 1 */
void tool_progress_end(void);
void tool_progress_step(void *user, double share); /* for prof_trace_watch */
extern const char *const tool_progress_choices[];
#define TOOL_PROGRESS {"--progress", NULL, "WHEN", "a bar on stderr: auto (default: if it is a terminal), always, never"}

/* What export and merge let choose of Chrome's JSON. tool_chrome: 0, after it has said why, if a choice is wrong, or is for
   JSON and json is 0. */
#define TOOL_CHROME                                                                                             \
    {"--source", NULL, "WHERE", "json: file and line as loc (default; Tracy shows it), as args (every viewer does), or none"}, \
    {"--no-args", NULL, NULL, "json: leaves out arguments of scopes, which speedscope makes part of their names"}, \
    {"--no-spans", NULL, NULL, "json: leaves out spans, which Tracy takes for scopes"},                         \
    {"--min-duration", NULL, "TIME", "json: leaves out shorter scopes, as 10us"}
#define TOOL_XPLANE {"--accelerators", NULL, "LIST", "log directory: the devices whose work XProf counts, as 'npu 0,npu 1'; '*': all"}
int tool_chrome(const tool_args *args, int json, prof_chrome_options *options);
int tool_xplane(const tool_args *args, int folder, prof_xplane_options *options);
/* Says so if a JSON file is larger than some viewers read. */
void tool_chrome_size(const char *path);

/* Figures for people, in the caller's buffer of 48 bytes. */
const char *tool_ns(char *to, double ns);       /* "1.234 ms" */
const char *tool_count(char *to, uint64_t count); /* "1,234" */
void tool_print_name(const char *text, int width); /* nothing that a terminal would obey, the middle left out of what is
                                                      longer; width 0: as long as it is */

/* Characters of a line that the tables shall fit into: as --columns says, or as the terminal has; -1: as many as there
   are. tool_columns: 0, after it has said why, if --columns is wrong; the others go by what it found. */
#define TOOL_COLUMNS {"--columns", "-c", "N", "fit into lines of N characters; default: those of the terminal; 0: no limit"}
int tool_columns(const tool_args *args, int *columns);
void tool_print_wrapped(const char *text, int at, int indent); /* from character `at` of a line on; without a newline */
int tool_fit(int most, int used); /* characters that a name may have where so many of the line are used, most in any case */

/* What a trace does not have and what to do about it, in words, kind by kind: 0: it has all of this kind; kinds from
   TOOL_LOSSES on do not exist. */
#define TOOL_LOSSES 7
int tool_loss(const prof_trace *trace, int kind, char *to, size_t size);

#endif
