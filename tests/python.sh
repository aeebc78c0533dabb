#!/bin/sh
# Tests docs/guide/python.md: the example extension builds and records, twice in one interpreter, its snippets run, and the
# workers of multiprocessing leave what they recorded. CC, PYTHON: the compiler and the
# interpreter.
cd "$(dirname "$0")/.." || exit 1
root=$PWD
out=$root/build/python
rm -rf "$out"
mkdir -p "$out"
unset PROF_OUTPUT
. tests/checks.sh
skip() {
    echo "SKIP python: $1"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}
# the interpreter on the path, or the system's, if that has its headers
for python in ${PYTHON:-python3 /usr/bin/python3}; do
    include=$($python -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null)
    [ -f "$include/Python.h" ] && break
    include=
done
[ "$include" ] || skip "no Python.h (python3-dev)"
$python -c 'import sys; sys.exit(sys.version_info < (3, 9))' || skip "Python is older than 3.9"
$python -c 'import sys, sysconfig; sys.exit(bool(sysconfig.get_config_var("Py_GIL_DISABLED")))' || skip "Python without its lock"

build() { # MODULE
    ${CC:-cc} -std=gnu99 -O0 -Wall -Wextra -fPIC -shared -I"$root" -isystem "$include" -DMODULE="$1" \
        "$root/examples/python/prof_python.c" -o "$out/$1.so" -pthread
}
run() { # OUTPUT SCRIPT ARGUMENTS...
    output=$1
    shift
    PYTHONPATH=$out PROF_OUTPUT=$output timeout 120 $python "$@"
}
has() { # FILE TEXT...: the trace has all of them
    file=$1
    shift
    for text; do
        grep -qF -- "$text" "$file" || { echo "$file: no $text"; return 1; }
    done
}

succeeds "the extension builds" build prof_python
succeeds "twice" build other
cd "$out" || exit 1

succeeds "the example runs" run "$out/trace.json" "$root/examples/python/example.py"
succeeds "scopes, functions, marks and native code are in the trace" \
    has "$out/trace.json" '"name":"parse"' '"name":"fibonacci"' 'loading a' '"name":"sum"'
succeeds "threads have Python's names" has "$out/trace.json" '"main"' '"loader a"' '"loader b"'

cat >two.py <<'END'
import prof_python, other
with prof_python.scope("outer"):
    with other.scope("inner"):
        other.work(10)
        prof_python.work(10)
END
succeeds "two extensions with copies load" run "$out/two.csv" two.py
succeeds "and make one trace" has "$out/two.csv" ',outer,' ',inner,' ',prof_python,' ',other,'
succeeds "and no other file" test "$(echo two*)" = "two.csv two.py"

cat >on_and_off.py <<'END'
import prof_python as prof

class recorded:
    def __enter__(self):
        prof.functions(True)
    def __exit__(self, *unused):
        prof.functions(False) # inside a call that is recorded

class neither:
    def __bool__(self):
        raise ValueError("neither")

def inner():
    pass

for turn in range(40): # more than the scopes that may be open
    with recorded():
        inner()
try:
    prof.functions(neither())
except ValueError:
    prof.mark("refused")
END
succeeds "functions are recorded on and off" run "$out/on_and_off.csv" on_and_off.py
succeeds "all of them" sh -c 'test $(grep -c ",inner," on_and_off.csv) = 40 && test $(grep -c "__exit__," on_and_off.csv) = 40'
succeeds "none is cut" sh -c '! grep truncated on_and_off.csv'
succeeds "what is neither true nor false is refused" has on_and_off.csv ',refused,'

# the snippets, one after the other, each by itself
$python - "$root/docs/guide/python.md" <<'END'
import re, sys
for number, block in enumerate(re.findall(r"```python\n(.*?)```", open(sys.argv[1]).read(), re.S)):
    open("snippet%d.py" % number, "w").write(block)
END
for snippet in snippet*.py; do
    succeeds "$snippet of docs/guide/python.md" run "$out/snippet.csv" "$snippet"
done

for how in fork forkserver spawn; do
    mkdir "$how"
    succeeds "workers by $how" run "$out/$how/%p.prof" "$root/examples/python/workers.py" $how
    succeeds "leave their records" sh -c "test \$(grep -l square $how/*.prof | wc -l) -ge 1 && test \$(ls $how/*.prof | wc -l) -ge 2"
done
finish
