// The tests of test_flaws.c with the macros of C++.
/* run: optimised */
#include "test_flaws.c"
