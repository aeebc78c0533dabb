/* All of test_notes.c as C++, with a recorder that the program shares with nobody. */
#define PROF_STATIC
#include "test_notes.c"
