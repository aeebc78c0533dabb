#ifndef DIALECT /* clang's own can be included again, but not in this dialect */
#include_next <stddef.h>
#endif
