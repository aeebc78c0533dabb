#!/bin/bash
# Checks docs/coming-from/*.md: what these pages say of prof must exist, compile and run. In the last column of each
# table, a code span that ends with ; or } is C: it must compile as C11 and C++11, live and stripped, without a warning,
# and run, live and stripped, each row in a process and an empty folder of its own. Stripped, none may fail. If the page says PROF_UNSUPPORTED,
# PROF_INVALID_ARGUMENT or PROF_INVALID_STATE after a span, that must leave an error. The others must leave none; what
# they mark up must be in the recording, and the files that they name must be there. In all other spans, names that
# begin with prof_, PROF_ or PROFILE_ must exist, and so must commands of the tool. Blocks marked c are parts of
# programs; those with a main run by themselves. The tests that docs/internals/flaws.md names must exist.
#
# usage: tests/coming.sh [page...]
cd "$(dirname "$0")/.." || exit 1
command -v python3 >/dev/null || { echo "SKIP coming: no python3"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
CC=${CC:-cc} CXX=${CXX:-c++}
work=build/coming
rm -rf $work && mkdir -p $work
pages=${*:-$(ls docs/coming-from/*.md | grep -v README)}
passed=0 failed=0

python3 - $work $pages <<'END'
import glob, os, re, subprocess, sys
work, pages = sys.argv[1], sys.argv[2:]
headers = [h for h in sorted(glob.glob('prof*.h')) if h not in ('prof.h', 'prof_bridge.h', 'prof_mpi.h')] # which needs MPI
sources = ''.join(open(f, encoding='utf-8').read() for f in glob.glob('prof*.h') + glob.glob('tools/*.[ch]'))
known = set(re.findall(r'\b(?:prof|PROF|PROFILE)_\w+', sources))
for key in re.findall(r'\{"([a-z_]+)"', sources):
    known.add('PROF_' + key.upper())

# What the snippets take for granted: the sentence under each page's title names them.
PREAMBLE = '''
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
''' + ''.join(f'#include "{h}"\n' for h in headers) + '''
prof_config config;
prof_trace *trace;
prof_stat *stats;
size_t count;
int n = 7;
double x = 0.5;
size_t bytes = 4096;
uint64_t id = 42;
const char *text = "text";
char *pointer;
void work(void);
void wait_for_device(void *user);
'''
OPTIONAL = [('prof_domain *', 'domain'), ('prof_task *', 'task'), ('prof_frame *', 'frame'), ('prof_range *', 'range'),
            ('prof_counter *', 'counter'), ('prof_marker *', 'marker'), ('prof_device *', 'device'),
            ('prof_device_row *', 'row'), ('prof_report_options ', 'options'), ('prof_xplane_trace_options ', 'traced')]
for kind, name in OPTIONAL:
    if re.search(r'\b' + kind.split()[0] + r'\b', sources):
        PREAMBLE += f'{kind}{name};\n'

MAIN = '''
#include <glob.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
void wait_for_device(void *user) { (void)user; }
void work(void) { PROFILE_SCOPE("work"); }

/* Copies the next line of a list. 0: there is none. */
static int next_line(const char **list, char *line, size_t size)
{
    size_t length = strcspn(*list, "\\n");
    if (!length || length >= size) return 0;
    memcpy(line, *list, length);
    line[length] = 0;
    *list += length + 1;
    return 1;
}

/* 1: an event of this name ("*": of any) is in the recording. */
static int recorded(const char *name)
{
    prof_trace *live = NULL;
    prof_timeline *timeline = NULL;
    prof_event event;
    size_t track;
    int found = 0;
    if (prof_trace_open_live(&live) || prof_timeline_open(live, &timeline)) return 0;
    while (!found && prof_timeline_next(timeline, &event, &track))
        found = !strcmp(name, "*") || !strcmp(name, event.name);
    prof_timeline_close(timeline);
    prof_trace_close(live);
    return found;
}

static int all_recorded(const char *names)
{
    char name[100];
    while (next_line(&names, name, sizeof name))
        if (!recorded(name)) {
            fprintf(stderr, "    not recorded: %s\\n", name);
            return 0;
        }
    return 1;
}

static int all_written(const char *patterns)
{
    char pattern[100];
    struct stat about;
    while (next_line(&patterns, pattern, sizeof pattern)) {
        glob_t found;
        int there = !glob(pattern, 0, NULL, &found) && !stat(found.gl_pathv[0], &about) && about.st_size > 0;
        globfree(&found);
        if (!there) {
            fprintf(stderr, "    not written: %s\\n", pattern);
            return 0;
        }
    }
    return 1;
}

int main(int argc, char **argv)
{
    int failed = 0;
    if (argc > 1 && chdir(argv[1])) return 1;
    for (int i = 0; rows[i].run; ++i) {
        int status = 0;
        fflush(stdout);
        pid_t child = fork();
        if (!child) {
            alarm(120);
            pointer = (char *)malloc(bytes);
            char folder[32];
            snprintf(folder, sizeof folder, "%d", i);
            if (mkdir(folder, 0777) || chdir(folder)) return 1;
            if (!freopen("/dev/null", "w", stdout)) return 1;
            if (!rows[i].starts) prof_start(NULL);
            if (!rows[i].starts && prof_trace_open_live(&trace)) return 1;
            SETUP
            rows[i].run();
#if !PROF_ENABLE
            _exit(prof_stop() != PROF_OK);
#endif
            int wrong = rows[i].fails != (*prof_error() != 0);
            if (wrong) fprintf(stderr, "    prof_error(): \\"%s\\"\\n", prof_error());
            wrong |= !all_recorded(rows[i].names);
            prof_stop();
            wrong |= !all_written(rows[i].files);
            fclose(stdout);
            _exit(wrong);
        }
        waitpid(child, &status, 0);
        printf("%s %s\\n", status ? "FAIL" : "ok  ", rows[i].what);
        failed += status != 0;
    }
    return failed != 0;
}
'''
SETUP = ''
if 'prof_domain_create' in sources:
    SETUP = ('domain = prof_domain_create("domain"); task = prof_task_create(domain, "task"); '
             'frame = prof_frame_create(domain, "frame"); range = prof_range_create("range"); '
             'counter = prof_counter_create(domain, "counter"); marker = prof_marker_create(domain, "marker");')
if 'prof_device_create' in sources:
    SETUP += ' device = prof_device_create("card", NULL); row = prof_device_row_create(device, "queue");'

def quoted(text):
    return '"' + text.replace('\\', '\\\\').replace('"', '\\"') + '"'

NAMED = ('SCOPE|SCOPE_C|SCOPE_L|SCOPE_MASK|SCOPE_SYNC|SCOPE_COLOR|STEP|BEGIN|BLOCK|MARK|MARK_REACH|COUNTER|COUNTER_ADD|'
         'COUNTER_SUB|SPAN_BEGIN|SPAN_MARK|SPAN_END|FRAME|THROUGHPUT|STAGE|NEXT|MEMORY_SCOPE|FLOW_OUT_NAMED|FLOW_IN_NAMED')

def names_of(code):
    """What must be in the recording: names of events, * for any."""
    names = re.findall(r'\bPROFILE_(?:' + NAMED + r')\("([^"]*)"', code)
    names += re.findall(r'\bprof_device_scope\(\w+, "([^"]*)"', code)
    for kind, object in re.findall(r'\bprof_(task|frame|range|counter|marker)_(?:start|set|set_double|add|sub|mark)\((\w+)', code):
        made = re.search(object + r' = prof_' + kind + r'_create\([^;]*"([^"]*)"\)', code)
        names.append(made.group(1) if made else kind)
    if re.search(r'\bPROFILE_(SCOPE_F|SCOPE_DYNAMIC|MARK_F|FUNCTION|ALLOC|FREE|FLOW_\w+|LOCK_\w+)\(|\bwork\(\)', code): names.append('*')
    return names

def files_of(code):
    """What must be there in the end: patterns of files."""
    files = re.findall(r'\b(?:prof_save|prof_save_last_ns)\("([^"]*)"', code)
    files += re.findall(r'\bprof_(?:\w+)_write\(trace, "([^"]*)"', code)
    files += [f + '/' for f in re.findall(r'\bprof_xplane_start_trace\("([^"]*)"', code)]
    files += [f + '/*_summary_*.txt' for f in re.findall(r'\bprof_report_cntk\(trace, "([^"]*)"', code)]
    if re.search(r'\bprof_start\(', code): files += re.findall(r'config.output = "([^"]*)"', code)
    files = [re.sub(r'%\w', '*', f) for f in files]
    within = '*_summary_*.txt' if 'config.layout = "cntk"' in code else 'plugins/profile/*/*.xplane.pb'
    return [f + within if f.endswith('/') else f for f in files]

def lines_of(words):
    return quoted(''.join(w + '\n' for w in dict.fromkeys(words))).replace('\n', '\\n')

bad = rows_in_all = 0
for page in pages:
    name = 'coming-from-' + os.path.basename(page)[:-3]
    lines = open(page, encoding='utf-8').read().split('\n')
    functions, table, programs, block, in_block = [], [], 0, [], None
    for number, line in enumerate(lines, 1):
        if line.startswith('```'):
            if in_block is None:
                in_block, block = line[3:], []
            else:
                code = '\n'.join(block)
                if in_block == 'c' and re.search(r'\bmain\(', code):
                    open(f'{work}/{name}.program{programs}.c', 'w').write(code + '\n')
                    programs += 1
                elif in_block == 'c':
                    functions.append(f'static void row_{number}(void)\n{{\n#line {number - len(block)} "{page}"\n{code}\n}}\n')
                    table.append((number, code, 'block'))
                in_block = None
            continue
        if in_block is not None:
            block.append(line)
            continue
        ours = line
        if line.startswith('|'):
            cells = [c.replace('\\|', '|') for c in re.split(r'(?<!\\)\|', line)[1:-1]]
            if len(cells) != 2:
                print(f'FAIL {page}:{number}: {len(cells)} columns'); bad += 1; continue
            if not cells[0].strip() or not cells[1].strip():
                print(f'FAIL {page}:{number}: an empty cell'); bad += 1
            ours = cells[1]
            rows_in_all += '---' not in line
        spans = re.findall(r'``(.+?)``|`([^`]+)`', ours)
        spans = [(a or b).strip() for a, b in spans]
        code = [s for s in spans if line.startswith('|') and s[-1] in ';}']
        if line.startswith('|'):
            for span in spans:
                if span in code: continue
                if span.startswith('prof '):
                    if not os.path.exists(f'tools/{span.split()[1]}.c'):
                        print(f'FAIL {page}:{number}: no command: {span}'); bad += 1
                    continue
                for word in re.findall(r'\b(?:prof|PROF|PROFILE)_\w+', span):
                    if word not in known and not (word.endswith('_') and any(k.startswith(word) for k in known)) \
                       and not os.path.exists(word + '.h'):
                        print(f'FAIL {page}:{number}: no {word} in any header'); bad += 1
        for at, snippet in enumerate(code):
            behind = ours.split(snippet, 1)[1]
            if at + 1 < len(code): behind = behind.split(code[at + 1], 1)[0]
            functions.append(f'static void row_{number}_{len(table)}(void)\n{{\n#line {number} "{page}"\n    {snippet}\n}}\n')
            table.append((number, snippet, behind))
    text = PREAMBLE + ''.join(functions)
    text += 'static const struct { void (*run)(void); const char *what; int starts, fails; const char *names, *files; } rows[] = {\n'
    for index, (number, code, behind) in enumerate(table):
        function = f'row_{number}' if behind == 'block' else f'row_{number}_{index}'
        fails = bool(re.search(r'PROF_(UNSUPPORTED|INVALID_ARGUMENT|INVALID_STATE)', behind))
        starts = bool(re.search(r'\b(prof_start|prof_xplane_start_trace|prof_xplane_start_trace_with)\(|PROFILE_TRACE', code))
        text += f'    {{{function}, {quoted(os.path.basename(page) + ":" + str(number))}, {int(starts)}, {int(fails)},'
        text += f' {lines_of([] if fails else names_of(code))}, {lines_of([] if fails else files_of(code))}}},\n'
    text += '    {0, 0, 0, 0, 0, 0}};\n'
    text += '#ifdef RUN' + MAIN.replace('SETUP', SETUP) + '#else\nvoid all_rows(void) { for (int i = 0; rows[i].run; ++i) rows[i].run(); }\n#endif\n'
    open(f'{work}/{name}.c', 'w').write(text)
    if not bad: print(f'ok   {page}: {len(table)} snippets, every other name exists')
print(f'{rows_in_all} rows')
proofs = re.findall(r'`(\w+): (\w+)`', open('docs/internals/flaws.md', encoding='utf-8').read())
for program, test in proofs:
    texts = ''.join(open(f, encoding='utf-8').read() for f in glob.glob(f'tests/test_{program}*.c*'))
    if not re.search(rf'\bTEST\({test}\)', texts):
        print(f'FAIL docs/internals/flaws.md: no test {program}: {test}'); bad += 1
print(f'{len(proofs)} tests named in docs/internals/flaws.md')
sys.exit(1 if bad else 0)
END
[ $? -eq 0 ] && passed=$((passed + 1)) || failed=$((failed + 1))

compile() { # what, command...
    local what=$1
    shift
    if "$@" 2>$work/errors; then
        echo "ok   $what" && passed=$((passed + 1))
    else
        echo "FAIL $what" && failed=$((failed + 1))
        grep -E 'error|warning' $work/errors | grep '\.md' | sort -u | head -${ERRORS:-20} || head -20 $work/errors
        return 1
    fi
}
strict="-Wall -Wextra -Werror -I."
headers=$(ls prof_*.h | grep -vE 'prof_(bridge|mpi).h') # the latter needs MPI
{ echo '#define PROF_IMPLEMENTATION'; for header in $headers; do echo "#include \"$header\""; done; } >$work/implementation.c
compile "implementation" $CC -std=gnu99 $strict -Wno-misleading-indentation -O0 -c $work/implementation.c -o $work/implementation.o || exit 1
for page in $work/coming-from-*.c; do
    case $page in *.program*) continue ;; esac
    name=$(basename "$page" .c)
    compile "$name, C++11" $CXX -x c++ -std=c++11 $strict -c "$page" -o $work/object.o
    compile "$name, stripped C11" $CC -std=c11 -D_GNU_SOURCE $strict -DPROF_ENABLE=0 -Wno-unused-variable -DRUN "$page" \
        -o $work/$name.stripped -pthread && mkdir -p $work/strip-$name &&
        compile "$name, stripped, runs" timeout 300 $work/$name.stripped $work/strip-$name
    compile "$name, stripped C++11" $CXX -x c++ -std=c++11 $strict -DPROF_ENABLE=0 -c "$page" -o $work/object.o
    compile "$name, C11" $CC -std=c11 -D_GNU_SOURCE $strict -DRUN "$page" $work/implementation.o -o $work/$name -pthread -ldl || continue
    mkdir -p $work/run-$name
    if timeout 1000 env -u PROF_OUTPUT $work/$name $work/run-$name >$work/$name.log 2>&1; then
        echo "ok   $name: $(grep -c '^ok' $work/$name.log) snippets ran"
    else
        echo "FAIL $name" && failed=$((failed + $(grep -c '^FAIL' $work/$name.log)))
        grep -B1 '^FAIL' $work/$name.log
    fi
    passed=$((passed + $(grep -c '^ok' $work/$name.log)))
done
for program in $work/*.program*.c; do
    [ -e "$program" ] || continue
    name=$(basename "$program" .c)
    compile "$name" $CC -std=c99 $strict "$program" -o $work/$name -pthread -ldl || continue
    compile "$name, stripped" $CC -std=c99 $strict -DPROF_ENABLE=0 "$program" -o $work/$name.stripped -pthread
    compile "$name, stripped, runs" sh -c "cd $work && timeout 300 ./$name.stripped >$name.output"
    mkdir -p $work/run-$name
    compile "$name runs" sh -c "cd $work/run-$name && timeout 300 ../$name >output"
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
