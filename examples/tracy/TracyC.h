/* Tracy's name for examples/tracyc.h, so that a program changes no include: compile with -Iexamples. */
#include "../tracyc.h"
