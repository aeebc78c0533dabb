// Tracy's name for examples/tracy.hpp, so that a program changes no include: compile with -Iexamples.
#include "../tracy.hpp"
