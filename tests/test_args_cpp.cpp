// The tests of test_args.c with the macros of C++.
#include "test_args.c"
