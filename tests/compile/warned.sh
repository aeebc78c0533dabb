#!/bin/sh
# Runs a compiler only for its warnings, in a third of the time: without generating code, which gives no warnings at
# -O0. gcc gives all its warnings of -O0 before it writes its intermediate code for the linker; with -fsyntax-only it
# would not warn of what is unused, or has no value. clang gives all warnings with -fsyntax-only.
#
# usage: tests/compile/warned.sh COMPILER FLAGS... -O0 -c SOURCE -o OBJECT
case ${1##*/} in
*clang*) exec "$@" -fsyntax-only ;;
esac
case " $* " in
*' -fsyntax-only '*) exec "$@" ;;
esac
echo 'int nothing;' | "$1" -flto -x c -c - -o /dev/null >/dev/null 2>&1 && exec "$@" -flto
exec "$@"
