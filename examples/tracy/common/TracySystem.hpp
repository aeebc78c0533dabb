// tracy::SetThreadName() and the like are in examples/tracy.hpp.
#include "../../tracy.hpp"
