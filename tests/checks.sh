# checks.sh - what test scripts share, as test.h does for programs: . tests/checks.sh
#
#   ok NAME; fail NAME [WHAT]; skip NAME [WHY]   one result; WHAT has lines that say what is wrong
#   check NAME WRONG                          passes where nothing is wrong
#   succeeds NAME COMMAND...                  passes where the command succeeds, else shows the end of what it said
#   silent NAME COMMAND...                    the same, but it may say nothing either
#   same NAME FILE FILE; has NAME FILE TEXT; lacks NAME FILE TEXT
#   finish                                    the closing line; ends the script
#
# For scripts that run the tool:
#
#   in_work NAME                              sets LC_ALL, root, build, prof and limit; goes into an empty folder, $work
#   is NAME STATUS COMMAND...                 the status; what was printed is in the files out and err
#   fails NAME MESSAGE COMMAND...             nothing is printed, and one line is said
#   prints NAME                               standard input is what the last command printed
passed=0 failed=0 skipped=0
ok() {
    passed=$((passed + 1))
    echo "ok   $1"
}
fail() {
    failed=$((failed + 1))
    echo "FAIL $1"
    [ -z "$2" ] || printf '%s\n' "$2" | tail -n 40 | cut -c 1-300 | sed 's/^/    /'
}
skip() {
    skipped=$((skipped + 1))
    echo "SKIP $1${2:+: $2}"
}
check() { if [ -z "$2" ]; then ok "$1"; else fail "$1" "$2"; fi; }
succeeds() {
    checks_name=$1
    shift
    if checks_text=$("$@" 2>&1); then ok "$checks_name"; else fail "$checks_name" "$checks_text" && return 1; fi
}
silent() {
    checks_name=$1
    shift
    if checks_text=$("$@" 2>&1) && [ -z "$checks_text" ]; then
        ok "$checks_name"
    else
        fail "$checks_name" "$*
$checks_text"
        return 1
    fi
}
same() { if cmp -s "$2" "$3"; then ok "$1"; else fail "$1: $2 and $3 differ" "$(diff "$2" "$3" 2>&1 | head -n 20)"; fi; }
has() { if grep -qF -e "$3" "$2"; then ok "$1"; else fail "$1: no '$3' in $2" "$(head -n 20 "$2")"; fi; }
lacks() { if grep -qF -e "$3" "$2"; then fail "$1: '$3' in $2"; else ok "$1"; fi; }
finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
    exit
}
in_work() {
    export LC_ALL=C
    root=$PWD build=${BUILD:-build} limit=
    case $build in /*) ;; *) build=$root/$build ;; esac
    prof=$build/tests/prof work=$build/tests/$1
    rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 1
    if command -v timeout >/dev/null; then limit="timeout -k 5 60"; fi
}
is() {
    checks_name=$1 checks_wanted=$2
    shift 2
    $limit "$@" >out 2>err </dev/null
    got=$?
    if [ $got -eq "$checks_wanted" ]; then ok "$checks_name"
    else fail "$checks_name: status $got, not $checks_wanted" && head -5 err; fi
}
fails() {
    checks_name=$1 checks_message=$2
    shift 2
    $limit "$@" >out 2>err </dev/null
    got=$?
    if [ $got -eq 2 ] && [ ! -s out ] && [ "$(cat err)" = "prof: $checks_message" ]; then ok "$checks_name"
    else fail "$checks_name: status $got, said '$(cat err)', not 'prof: $checks_message'"; fi
}
prints() {
    cat >expected
    if cmp -s expected out; then ok "$1"; else fail "$1" && diff expected out | head -20; fi
}
