#!/bin/sh
# Prints the paths of the tests that have a word in their line "/* run: WORD WORD */" (of scripts: "# run: WORD WORD"):
#
#   alone      not while others run: it measures, or needs all processors, or keeps others from running
#   long       one of those that take longest
#
# usage: tests/marked.sh WORD
cd "$(dirname "$0")/.." || exit 1
grep -lE "^(/\\*|#) run:( [a-z ]*)? $1( |\$)" tests/*.c tests/*.cpp tests/*.sh tests/compile/*.sh
exit 0
