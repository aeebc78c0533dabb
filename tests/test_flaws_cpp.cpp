// The tests of test_flaws.c with the macros and the recorder of C++.
#include "test_flaws.c"
