#!/bin/sh
# Checks prof_ntff.h's table of functions with compilers. With PROF_ENABLE=0 each function succeeds, evaluates nothing
# but where it writes that there is nothing, and needs no implementation. If AWS's headers are installed, the prototypes must be AWS's: a pointer of ours
# is set to each function of theirs, without a warning. And both may be included together, in either order.
#
# usage: NRT_INCLUDE=/opt/aws/neuron/include tests/compile/neuron.sh        compilers: CC_LIST ("gcc clang")
cd "$(dirname "$0")/../.." || exit 1
out=build/compile/neuron
include=${NRT_INCLUDE:-/opt/aws/neuron/include}
mkdir -p $out
passed=0 failed=0 skipped=0

# ---- without profiling

{
    echo '#include "prof_ntff.h"'
    echo '#define COUNT(...) COUNT_(0, ##__VA_ARGS__, 4, 3, 2, 1, 0)'
    echo '#define COUNT_(zero, a, b, c, d, n, ...) n'
    echo '#define CALL(result, name, parameters, arguments, role) CALL name COUNT arguments result'
    echo 'PROF_NTFF_TABLE(CALL)'
} >$out/calls.h
gcc -E -P -I. $out/calls.h | tr -s ' \n' '  ' | sed 's/CALL \([a-z_]*\) \([0-4]\) \([a-z]*\)/\n&\n/g' | grep '^CALL' >$out/calls
{
    echo '#define PROF_ENABLE 0'
    echo '#include "prof_ntff.h"'
    echo 'static int evaluated;'
    echo 'static int touch(void) { return ++evaluated, 0; }'
    echo 'int main(void)'
    echo '{'
    echo '    int live = 0;'
    while read -r call name count result; do
        case $name in *_allocate | *get_*_types | *get_*_count | get_version | get_model_info | get_in* | inspect_get_in* | \
            sys_trace_fetch_events | debug_client_connect | debug_client_read_one_event) continue ;; esac # below
        arguments=$(echo 'touch(), touch(), touch(), touch()' | cut -d, -f1-"$count" 2>/dev/null)
        [ "$result" = text ] && test='[0] != 0' || test='!= PROF_OK'
        echo "    live += prof_ntff_$name($arguments) $test;"
    done <$out/calls
    echo '    live += prof_ntff_load(touch()) != PROF_OK;'
    echo '    live += prof_ntff_session_begin(touch()) != PROF_OK;'
    cat <<'END'
    char text[8] = "text";
    void *list = text;
    size_t length = 7;
    int number = 7;
    uint32_t cores = 7;
#define GIVES(call) list = text, length = 7, live += (call) != PROF_OK || list
    GIVES(prof_ntff_profile_continuous_options_allocate(&list));
    GIVES(prof_ntff_inspect_config_allocate(&list));
    GIVES(prof_ntff_sys_trace_config_allocate(&list));
    GIVES(prof_ntff_sys_trace_fetch_options_allocate(&list));
    GIVES(prof_ntff_inspect_config_get_all_activity_types(&list, &length) || length);
    GIVES(prof_ntff_inspect_config_get_enabled_activity_types(touch(), &list, &length) || length);
    GIVES(prof_ntff_sys_trace_get_event_types(&list, &length) || length);
    GIVES(prof_ntff_sys_trace_config_get_enabled_event_types(touch(), &list, &length) || length);
    GIVES(prof_ntff_sys_trace_fetch_events(&list, &length, touch()) || length);
    GIVES(prof_ntff_debug_client_read_one_event(touch(), touch(), &list));
    list = NULL;
#define COUNTS(name) cores = 7, live += prof_ntff_get_##name##_count(&cores) != PROF_OK || cores
    COUNTS(visible_vnc), COUNTS(visible_nc), COUNTS(total_vnc), COUNTS(total_nc);
    live += prof_ntff_debug_client_connect(touch(), &number) != PROF_OK || number != -1;
    live += prof_ntff_get_version(text, sizeof text) != PROF_OK || text[0] || text[3];
    live += prof_ntff_get_model_info(touch(), &number, sizeof number, &length) != PROF_OK || number || length;
    number = 7;
    live += prof_ntff_get_instance_info(&number, sizeof number) != PROF_OK || number;
#define FOLDER(call) text[0] = 't', live += (call) != PROF_OK || text[0]
    FOLDER(prof_ntff_inspect_get_instance_output_dir(touch(), text, sizeof text));
    FOLDER(prof_ntff_session_end(text));
    FOLDER(prof_ntff_find_session(touch(), touch(), touch(), text, sizeof text));
    live += prof_ntff_session_end(NULL) != PROF_OK;
    number = 7;
    live += prof_ntff_check(touch(), touch(), touch(), &number) != PROF_OK || number;
    live += prof_ntff_check(touch(), touch(), touch(), NULL) != PROF_OK;
END
    echo '    live += prof_ntff_config_set(touch(), touch(), touch()) != PROF_OK;'
    echo '    live += prof_ntff_continuous_begin(touch()) != PROF_OK;'
    echo '    live += prof_ntff_continuous_save(touch()) != PROF_OK;'
    echo '    live += prof_ntff_continuous_save_if(touch(), touch(), touch()) != 0;'
    echo '    live += prof_ntff_continuous_end() != PROF_OK;'
    echo '    live += prof_ntff_systrace_start(touch()) != PROF_OK;'
    echo '    live += prof_ntff_systrace_fetch(touch()) != PROF_OK;'
    echo '    live += prof_ntff_systrace_stop(touch()) != PROF_OK;'
    echo '    live += prof_ntff_nrt_status_name(touch())[0] != 0;'
    echo '    live += prof_ntff_session_active() || prof_ntff_capabilities() || prof_ntff_nrt_status() || prof_ntff_library() ||'
    echo '            prof_ntff_runtime_version() || prof_ntff_continuous_saves();'
    echo '    prof_ntff_event_fn fn = prof_ntff_record;'
    echo '    int64_t zero = 0;'
    echo '    prof_ntff_parser_destroy(prof_ntff_parser_create(), (touch(), fn), touch(), touch());'
    echo '    live += prof_ntff_parse_systrace_json(touch(), touch(), touch(), (touch(), fn), touch(), touch()) != PROF_OK;'
    echo '    live += prof_ntff_read_system_json(touch(), (touch(), fn), touch(), touch()) != PROF_OK;'
    echo '    live += prof_ntff_import(touch(), touch(), touch(), touch()) != PROF_OK;'
    echo '    live += prof_ntff_unix_ns(touch(), touch()) != zero || !prof_ntff_parser_create() || fn(0, 0);'
    echo '    live += prof_ntff_trace_json(touch(), touch(), touch()) != PROF_OK;'
    echo '    live += prof_ntff_trace_json_stream(touch(), touch(), touch()) != PROF_OK;'
    echo '    live += prof_ntff_list(touch(), touch(), touch()) != PROF_OK;'
    echo '    return live || evaluated;'
    echo '}'
} >$out/stripped.c
for language in c c++; do
    if text=$(gcc -x $language -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -I. $out/stripped.c -o $out/stripped 2>&1) &&
        $out/stripped; then
        echo "ok   stripped $language: $(wc -l <$out/calls) functions succeed and do nothing"
        passed=$((passed + 1))
    else
        echo "FAIL stripped $language"
        echo "$text" | head -20 | sed 's/^/    /'
        failed=$((failed + 1))
    fi
done

# ---- AWS's headers

if [ ! -f "$include/nrt/nrt_profile.h" ]; then
    echo "SKIP nrt headers: no $include/nrt/nrt_profile.h: name their folder in NRT_INCLUDE"
    echo "$passed passed, $failed failed, 1 skipped"
    exit $((failed > 0))
fi
headers="nrt/nrt.h nrt/nrt_experimental.h nrt/nrt_profile.h nrt/nrt_sys_trace.h nrt/nrt_version.h nrt/ndebug_stream.h"

# What these headers lack is skipped, by name; the rest is compared.
printf '#include "prof_ntff.h"\n#define NAME(result, name, parameters, arguments, role) NAME_OF name\nPROF_NTFF_TABLE(NAME)\n' \
    >$out/names.c
gcc -std=c99 -E -P -I. $out/names.c | tr ' ' '\n' | grep -A1 '^NAME_OF$' | grep -v 'NAME_OF\|--' >$out/names
for name in $(cat $out/names); do
    if grep -qhw "nrt_$name" "$include"/nrt/*.h; then
        echo "#define CHECK_$name COMPARE"
    else
        echo "#define CHECK_$name IGNORE"
        echo "SKIP nrt_$name: not in these headers" >&2
    fi
done >$out/known.h 2>$out/skipped
cat $out/skipped
skipped=$(wc -l <$out/skipped)

source() { # first second: which header comes first
    echo '#include <stdbool.h>'
    echo '#include <stdint.h>'
    for header in "$@"; do
        if [ "$header" = ours ]; then echo '#include "prof_ntff.h"'; else for each in $headers; do echo "#include <$each>"; done; fi
    done
    cat <<'END'
#include "known.h"
#define ABI_status PROF_NTFF_NRT_STATUS
#define ABI_nothing void
#define ABI_text const char *
#define COMPARE(result, name, parameters) \
    typedef ABI_##result ours_##name parameters; \
    extern ours_##name *const check_##name; \
    ours_##name *const check_##name = nrt_##name;
#define IGNORE(result, name, parameters)
#define CHECK(result, name, parameters, arguments, role) CHECK_##name(result, name, parameters)
PROF_NTFF_TABLE(CHECK)
/* Theirs fit where ours are wanted. */
prof_status fits(nrt_inspect_config_t *options, nrt_model_t *model);
prof_status fits(nrt_inspect_config_t *options, nrt_model_t *model)
{
    prof_status status = prof_ntff_inspect_config_set_session_id(options, NRT_SUCCESS);
    return status ? status : prof_ntff_profile_start(model, "file");
}
_Static_assert(sizeof(NRT_STATUS) == sizeof(unsigned), "a status is an unsigned");
_Static_assert(sizeof(nrt_version_t) == 224, "as prof__ntff_version");
END
}
for compiler in ${CC_LIST:-gcc clang}; do
    command -v "$compiler" >/dev/null || { echo "SKIP $compiler: not installed"; skipped=$((skipped + 1)); continue; }
    for order in "ours theirs" "theirs ours"; do
        source $order >$out/check.c
        # their headers are not clean, and are not ours: -isystem
        if text=$($compiler -std=c11 -Wall -Wextra -Werror -I. -I$out -isystem "$include" -c $out/check.c -o $out/check.o 2>&1); then
            echo "ok   $compiler: $(grep -c COMPARE $out/known.h) prototypes, $order"
            passed=$((passed + 1))
        else
            echo "FAIL $compiler: $order"
            echo "$text" | head -30 | sed 's/^/    /'
            failed=$((failed + 1))
        fi
    done
done

# And the check itself can fail: one parameter that is another.
sed 's/CHECK_profile_stop COMPARE/CHECK_profile_stop(a, b, c) COMPARE(a, b, (int filename))/' $out/known.h >$out/wrong.h
sed 's/known.h/wrong.h/' $out/check.c >$out/wrong.c
if gcc -std=c11 -Wall -Wextra -Werror -I. -I$out -isystem "$include" -c $out/wrong.c -o $out/check.o >/dev/null 2>&1; then
    echo "FAIL a wrong prototype is accepted"
    failed=$((failed + 1))
else
    echo "ok   a wrong prototype is refused"
    passed=$((passed + 1))
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
