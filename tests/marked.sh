#!/bin/sh
# Prints the paths of the tests that have a word in their line "/* run: WORD WORD */" (of scripts: "# run: WORD WORD"):
#
#   alone      not while others run: it measures, or needs all processors, or keeps others from running
#   long       one of those that take longest
#   check      in `make check`, although it has an implementation of its own
#   traces     only reads, writes or compares traces: of no interest to the thread sanitizer
#   unraced    of no interest to the thread sanitizer, which does not see its threads or cannot run it
#   unchecked  not under the address sanitizer: its own implementation, which takes 5 to 25 s to compile there, has
#              nothing for it to see that another program's has not, or runs under valgrind
#   optimised  marks up and records: also with clang's optimiser
#   memory     also under the memory sanitizer
#   valgrind   also under valgrind, which takes five times as long as the memory sanitizer: for what has an
#              implementation of its own, which "make test" has compiled, or loads libraries
#   clocks     also with a counter of 1 MHz
#
# usage: tests/marked.sh [-n] WORD     -n: names as T= of the Makefile takes them
cd "$(dirname "$0")/.." || exit 1
names=
[ "$1" = -n ] && names='s,.*/test_\(.*\)\..*,\1,' && shift
grep -lE "^(/\\*|#) run:( [a-z ]*)? $1( |\$)" tests/*.c tests/*.cpp tests/*.sh tests/compile/*.sh | sed "$names"
