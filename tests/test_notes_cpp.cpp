/* All of test_notes.c as C++, with a recorder that the program shares with nobody. */
/* run: unchecked */
#define PROF_STATIC
#define PROF_IMPLEMENTATION
#include "test_notes.c"
