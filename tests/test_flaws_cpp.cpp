// The tests of test_flaws.c with the macros of C++.
#include "test_flaws.c"
