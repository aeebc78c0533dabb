/* run.c - prof run: records a program that nobody compiled for it, and all that it starts, by preloading libprof.so. */
#include "tool.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#if !defined(_WIN32) && !defined(__APPLE__)
#define RUNS 1
#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/xattr.h>
#endif
#endif

static const tool_option options[] = {
    {"--output", "-o", "OUT", "the file to write, of any kind that prof export knows; default: trace.html"},
    {"--why", "-w", NULL, "also when each thread ran, was ready and waited, samples, and counters of the system"},
    {"--malloc", "-m", "DEPTH", "also allocations, with so many of the functions that called, 1 to 32 (glibc)"},
    {"--waits", NULL, "TIME", "waits of at least this time; default: 10us; 0: none"},
    {"--library", NULL, "FILE", "the libprof.so to preload; default: the one that was installed with this tool"},
    TOOL_PROGRESS,
    {NULL, NULL, NULL, NULL}};

#ifdef RUNS

#define PATH 4096

/*-- the library --*/

static int exists(const char *path)
{
    struct stat about;
    return !stat(path, &about) && S_ISREG(about.st_mode);
}

/* Finds the library beside the tool, or in lib beside the tool's bin. Returns 0, with a message, if there is none. */
static int find_library(const char *given, char *to)
{
    static const char *const places[] = {"/libprof.so", "/../lib/libprof.so", "/../../lib/libprof.so"};
    char folder[PATH], path[PATH + 32];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    size_t i;
    path[0] = 0;
    if (given) snprintf(path, sizeof path, "%s", given);
    folder[length > 0 ? length : 0] = 0;
    if (strrchr(folder, '/')) *strrchr(folder, '/') = 0;
    for (i = 0; !given && i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s%s", folder, places[i]);
        if (exists(path)) break;
    }
    if (!exists(path) || !realpath(path, to))
        return tool_fail("run: %s: there is no libprof.so: `make library` builds it, `make install` installs it; or "
                         "use --library FILE", given ? given : *folder ? folder : "beside this tool"), 0;
    if (strpbrk(to, " :")) /* both separate the names in LD_PRELOAD */
        return tool_fail("run: %s: a library can't be preloaded from a path with spaces or colons", to), 0;
    return 1;
}

/*-- what cannot be recorded --*/

/* Finds the file that execvp() would run. Returns 0 if there is none. */
static int find_program(const char *name, char *to)
{
    const char *folders = getenv("PATH");
    if (strchr(name, '/')) return snprintf(to, PATH, "%s", name) < PATH && exists(to);
    if (!folders) folders = "/bin:/usr/bin";
    for (;;) {
        size_t length = strcspn(folders, ":");
        if (snprintf(to, PATH, "%.*s%s%s", (int)length, folders, length ? "/" : "", name) < PATH && exists(to) &&
            !access(to, X_OK))
            return 1;
        if (!folders[length]) return 0;
        folders += length + 1;
    }
}

typedef struct elf_head {
    unsigned char class_, data, machine[2];
    char loader[256]; /* "": none, it is linked statically */
} elf_head;

static uint64_t number(const unsigned char *at, unsigned size, int big)
{
    uint64_t value = 0;
    unsigned i;
    for (i = 0; i < size; i++) value |= (uint64_t)at[big ? size - 1 - i : i] << 8 * i;
    return value;
}

/* Reads what decides whether a library can be preloaded: see elf(5). Returns 0 if it is no ELF file, or broken. */
static int read_head(FILE *file, const unsigned char *first, size_t size, elf_head *head)
{
    int wide = first[4] == 2, big = first[5] == 2;
    unsigned entry, count, i;
    uint64_t table;
    if (size < 64 || memcmp(first, "\177ELF", 4)) return 0;
    memset(head, 0, sizeof *head);
    head->class_ = first[4];
    head->data = first[5];
    memcpy(head->machine, first + 18, 2);
    table = number(first + (wide ? 32 : 28), wide ? 8 : 4, big);
    entry = (unsigned)number(first + (wide ? 54 : 42), 2, big);
    count = (unsigned)number(first + (wide ? 56 : 44), 2, big);
    for (i = 0; i < count && table < 1u << 30; i++) {
        unsigned char segment[56];
        uint64_t at, length;
        if (fseek(file, (long)(table + (uint64_t)i * entry), SEEK_SET) ||
            fread(segment, wide ? 56 : 32, 1, file) != 1)
            return 0;
        if (number(segment, 4, big) != 3 /* PT_INTERP */) continue;
        at = number(segment + (wide ? 8 : 4), wide ? 8 : 4, big);
        length = number(segment + (wide ? 32 : 16), wide ? 8 : 4, big);
        return at < 1u << 30 && length && length < sizeof head->loader && !fseek(file, (long)at, SEEK_SET) &&
               fread(head->loader, (size_t)length, 1, file) == 1;
    }
    return 1;
}

/* Does the program get rights that its user does not have? */
static int gets_rights(const char *path)
{
    struct stat about;
    if (stat(path, &about)) return 0;
#ifdef __linux__
    if (getuid() && getxattr(path, "security.capability", NULL, 0) > 0) return 1;
#endif
    return ((about.st_mode & S_ISUID) && about.st_uid != getuid()) ||
           ((about.st_mode & S_ISGID) && about.st_gid != getgid());
}

static int may_be_recorded(const char *path, int depth);

/* Looks at the interpreter of a script. */
static int script_may_be_recorded(char *line, int depth)
{
    char *program = line + 2 + strspn(line + 2, " \t");
    program[strcspn(program, " \t\r\n")] = 0;
    return depth > 4 || !exists(program) || may_be_recorded(program, depth + 1);
}

/* Returns 0, with a message that says why, if the loader would not preload a library into a program. */
static int may_be_recorded(const char *path, int depth)
{
    unsigned char first[256];
    elf_head own, head;
    FILE *file = fopen(path, "rb"), *self;
    size_t size = file ? fread(first, 1, sizeof first - 1, file) : 0;
    int known;
    if (!file) return 1; /* what may be run and not be read */
    first[size] = 0;
    if (!memcmp(first, "#!", 2)) {
        fclose(file);
        return script_may_be_recorded((char *)first, depth);
    }
    known = read_head(file, first, size, &head);
    fclose(file);
    if (!known) return 1; /* execvp() says what it is */
    if (gets_rights(path))
        return tool_fail("run: %s gets rights that you have not (setuid, setgid, capabilities): the system preloads "
                         "nothing into it. Run prof with these rights: sudo prof run ...", path), 0;
    if (!*head.loader)
        return tool_fail("run: %s is linked statically: nothing can be preloaded into it. Compile prof.h into it "
                         "instead", path), 0;
    self = fopen("/proc/self/exe", "rb");
    size = self ? fread(first, 1, sizeof first, self) : 0;
    known = self && read_head(self, first, size, &own);
    if (self) fclose(self);
    if (known && (own.class_ != head.class_ || own.data != head.data || memcmp(own.machine, head.machine, 2)))
        return tool_fail("run: %s is for another kind of processor, or has another size of pointers, than this tool: "
                         "build prof for it", path), 0;
    if (known && *own.loader && strcmp(own.loader, head.loader))
        return tool_fail("run: %s uses another C library (%s) than libprof.so (%s): build prof with that one", path,
                         head.loader, own.loader), 0;
    return 1;
}

/*-- the environment --*/

static int set(const char *name, const char *value)
{
    return !setenv(name, value, 1) || !tool_fail("run: out of memory");
}

/* Sets the variable of a key, after the value is checked. Returns 0, with a message, if it is wrong. */
static int set_key(const char *key, const char *value)
{
    prof_config config;
    prof_option option;
    size_t i;
    memset(&config, 0, sizeof config);
    if (tool_status(prof_config_set(&config, key, value))) return 0;
    for (i = 0; prof_config_describe(i, &option); i++)
        if (tool_same(option.key, key) && *option.environment) return set(option.environment, value);
    return tool_fail("run: %s: this build of prof has no such key", key), 0;
}

/* Says to programs what they record, and to which file. folder: an absolute path. */
static int set_all(const tool_args *args, const char *library, const char *folder)
{
    const char *waits = tool_value(args, "--waits"), *depth = tool_value(args, "--malloc");
    const char *before = getenv("LD_PRELOAD");
    double number;
    char text[2 * PATH + 16], *to = text;
    const char *c;
    for (c = folder; *c && to < text + 2 * PATH - 2; c++) {
        if (*c == '%') *to++ = '%';
        *to++ = *c;
    }
    strcpy(to, "/%n-%p.prof");
    if (!set("PROF_OUTPUT", text)) return 0;
    if (!getenv("PROF_MODE") && !set_key("mode", "stream")) return 0;
    if (tool_value(args, "--why") && !set_key("system", "1")) return 0;
    if (depth && (!tool_number("--malloc", depth, 1, 32, &number) || !set("PROF_MALLOC", depth))) return 0;
    if (waits && !set_key("waits", waits)) return 0;
    /* With empty names NVTX and ITT look for a tool in the program. */
    if (!getenv("NVTX_INJECTION64_PATH") && !set("NVTX_INJECTION64_PATH", "")) return 0;
    if (!getenv("INTEL_LIBITTNOTIFY64") && !set("INTEL_LIBITTNOTIFY64", "")) return 0;
    snprintf(text, sizeof text, "%s%s%.*s", library, before && *before ? ":" : "", PATH, before ? before : "");
    return set("LD_PRELOAD", text);
}

/*-- the program --*/

static volatile pid_t child;

static void pass_on(int number)
{
    int before = errno;
    if (child > 0) kill(child, number);
    errno = before;
}

/* The terminal sends these to the program, too. */
static const int from_terminal[] = {SIGINT, SIGQUIT, 0}, to_pass_on[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, 0};

static void handle(const int *numbers, void (*handler)(int))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    for (; *numbers; numbers++) sigaction(*numbers, &action, NULL);
}

/* Runs the program to its end. Returns its status as waitpid() does, or -1, with a message. */
static int run_program(char **argv)
{
    sigset_t all, before;
    int status = -1;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); /* until `child` is known */
    child = fork();
    if (!child) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        execvp(argv[0], argv);
        fprintf(stderr, "prof: run: %s: %s\n", argv[0], strerror(errno));
        _exit(errno == ENOENT ? 127 : 126);
    }
    if (child > 0) {
        handle(from_terminal, SIG_IGN);
        handle(to_pass_on, pass_on);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (child < 0) return tool_fail("run: fork: %s", strerror(errno)), -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    handle(from_terminal, SIG_DFL);
    return status;
}

/* Ends as the program did. */
static int end_like(int status)
{
    struct rlimit none = {0, 0};
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    setrlimit(RLIMIT_CORE, &none); /* the program has written its own */
    signal(WTERMSIG(status), SIG_DFL);
    fflush(NULL);
    kill(getpid(), WTERMSIG(status));
    return 128 + WTERMSIG(status);
}

/*-- the output --*/

typedef struct recordings {
    char **paths;
    int count, all;
} recordings;

static int add(recordings *found, const char *folder, const char *name)
{
    char **more = (char **)realloc(found->paths, (size_t)(found->all + 1) * sizeof *more);
    size_t size = strlen(folder) + strlen(name) + 2;
    if (!more) return 0;
    found->paths = more;
    more[found->all] = (char *)malloc(size);
    if (!more[found->all]) return 0;
    snprintf(more[found->all++], size, "%s/%s", folder, name);
    return 1;
}

static int later(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Lists the recordings of all processes; first those that have events. Returns 0, with a message, if that fails. */
static int find_recordings(const char *folder, recordings *found)
{
    DIR *all = opendir(folder);
    struct dirent *entry;
    int i, good = 1;
    memset(found, 0, sizeof *found);
    if (!all) return tool_fail("run: %s, where the recordings are: %s", folder, strerror(errno)), 0;
    while (good && (entry = readdir(all)))
        if (tool_same(tool_extension(entry->d_name), ".prof")) good = add(found, folder, entry->d_name);
    closedir(all);
    if (!good) return tool_fail("run: out of memory"), 0;
    if (found->all) qsort(found->paths, (size_t)found->all, sizeof *found->paths, later);
    for (i = 0; i < found->all; i++) {
        char why[512], *path = found->paths[i];
        prof_trace *trace;
        int empty = !prof_trace_open(path, &trace) && tool_nothing(trace, why, sizeof why);
        prof_trace_close(trace);
        if (empty) continue;
        found->paths[i] = found->paths[found->count];
        found->paths[found->count++] = path;
    }
    return 1;
}

static void delete_all(const char *folder, recordings *found)
{
    int i;
    for (i = 0; i < found->all; i++) unlink(found->paths[i]);
    rmdir(folder);
}

/* Writes the output as `prof export`, or of several processes as `prof merge` does. */
static int write_output(const tool_args *args, const char *out, recordings *found)
{
    tool_args other;
    int i, one = found->count <= 1;
    if (one && tool_same(tool_extension(out), ".prof"))
        return rename(found->paths[0], out) ? tool_fail("run: %s: %s", out, strerror(errno)) : TOOL_OK;
    memset(&other, 0, sizeof other);
    other.command = one ? &tool_export : &tool_merge;
    other.files = found->paths;
    other.file_count = one ? 1 : found->count;
    other.separator = -1;
    for (i = 0; other.command->options[i].name; i++) {
        if (tool_same(other.command->options[i].name, "--output")) other.values[i] = out;
        if (tool_same(other.command->options[i].name, "--progress")) other.values[i] = tool_value(args, "--progress");
    }
    return other.command->run(&other);
}

static int finish(const tool_args *args, const char *out, const char *folder)
{
    recordings found;
    int i, result = TOOL_ERROR;
    int found_all = find_recordings(folder, &found);
    if (found_all && !found.all) {
        tool_fail("run: nothing was recorded: the program did not load libprof.so, or ended by _exit() at once");
    } else if (found_all) {
        result = write_output(args, out, &found);
        if (result == TOOL_OK) fprintf(stderr, "prof: %s\n", out);
    }
    if (result == TOOL_OK && !found.count)
        fprintf(stderr, "prof: it is empty: the program has no marks, and waited nowhere. --why records any program\n");
    if (found_all && (result == TOOL_OK || !found.all))
        delete_all(folder, &found);
    else
        fprintf(stderr, "prof: the recordings stay in %s\n", folder);
    for (i = 0; i < found.all; i++) free(found.paths[i]);
    free(found.paths);
    return result;
}

/* Makes a folder beside the output, in which each process records a file that stays whole whatever happens. */
static int make_folder(const char *out, char *to)
{
    char name[PATH];
    size_t length = strlen(out);
    errno = tool_folder_for(out);
    if (errno) return tool_fail("run: %s: cannot make its directory: %s", out, strerror(errno)), 0;
    while (length > 1 && out[length - 1] == '/') length--;
    if (length > PATH - 32 || snprintf(name, sizeof name, "%.*s.run-XXXXXX", (int)length, out) < 0 || !mkdtemp(name) ||
        !realpath(name, to))
        return tool_fail("run: %s: cannot make a folder beside it: %s", out, strerror(errno)), 0;
    return 1;
}

static int run(const tool_args *args)
{
    char library[PATH], folder[PATH], program[PATH];
    const char *out = tool_value(args, "--output");
    int status, result, choice;
    recordings none;
    memset(&none, 0, sizeof none);
    if (out && !tool_output_kind(args)) return TOOL_ERROR;
    if (!out) out = "trace.html";
    if (!tool_choice("--progress", tool_value(args, "--progress"), tool_progress_choices, &choice)) return TOOL_ERROR;
    if (!find_program(args->files[0], program))
        return tool_fail("run: %s: there is no such program", args->files[0]), 127;
    if (access(program, X_OK)) return tool_fail("run: %s: %s", program, strerror(errno)), 126;
    if (!may_be_recorded(program, 0) || !find_library(tool_value(args, "--library"), library) ||
        !make_folder(out, folder))
        return TOOL_ERROR;
    if (!set_all(args, library, folder)) return delete_all(folder, &none), TOOL_ERROR;
    status = run_program(args->files);
    if (status == -1) return delete_all(folder, &none), TOOL_ERROR;
    unsetenv("LD_PRELOAD");
    result = finish(args, out, folder);
    status = end_like(status);
    return status ? status : result;
}
#else
static int run(const tool_args *args)
{
    (void)args;
    return tool_fail("run: not on this system: its loader preloads no library. Compile prof.h into the program");
}
#endif

const tool_command tool_run = {
    "run", "[--] PROGRAM [ARGUMENT]...", "Runs a program that nobody compiled for prof, and records it",
    1, INT32_MAX, run, options,
    "Records the marks of prof.h, NVTX and ITT, and where threads wait, in PROGRAM and in all that it starts.\n"
    "libprof.so is preloaded, so a program need not be built again. Each process records a file in a folder beside\n"
    "OUT, which stays if prof is killed. At the end OUT is written as prof export does or, of several processes, prof\n"
    "merge. Processes without an event are left out. Variables of the environment, such as PROF_BUFFER=256M, act as\n"
    "always: see prof config. PROF_MODE=ring keeps the newest events only.\n\n"
    "Programs that are linked statically, that are for another C library or processor, or that get other rights\n"
    "(setuid) are refused: nothing can be preloaded into them.\n\n"
    "The exit status is PROGRAM's, and a signal that ends it ends prof, too. Signals that prof gets are passed on.\n"
    "It is 126 or 127 if PROGRAM could not be started, and 2 if it succeeded and OUT could not be written.\n\n"
    "example: prof run -o trace.html ./program its arguments\n"
    "         prof run --why -- make -j2\n"};
