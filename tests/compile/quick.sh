#!/bin/sh
# The compile checks that `make test` has time for: see matrix.sh.
# run: long
exec sh "$(dirname "$0")/matrix.sh" quick
