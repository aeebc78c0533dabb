#!/bin/sh
# Compiles as it is told, only to hear what the compiler has to say, in a third of the time: without making code of it, which
# warns of nothing at -O0. gcc says all that it says at -O0 before it would write its intermediate code for the linker;
# with -fsyntax-only it would not say what is not used, or has no value. clang says everything with -fsyntax-only.
#
# usage: tests/compile/warned.sh COMPILER FLAGS... -O0 -c SOURCE -o OBJECT
case ${1##*/} in
*clang*) exec "$@" -fsyntax-only ;;
esac
echo 'int nothing;' | "$1" -flto -x c -c - -o /dev/null >/dev/null 2>&1 && exec "$@" -flto
exec "$@"
