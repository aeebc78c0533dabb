#!/bin/sh
# PROF_NO_READER is one of the switches of left_out.sh.
exec sh "$(dirname "$0")/left_out.sh"
