#!/bin/bash
# Tests the pages: README.md, docs/guide and docs/how-it-works.md. tests/readme.py says how. usage: tests/readme.sh [page...]
cd "$(dirname "$0")/.." || exit 1
command -v python3 >/dev/null || { echo "SKIP readme: no python3"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
make -s build/prof build/libprof.so || exit 1
exec python3 tests/readme.py "$@"
