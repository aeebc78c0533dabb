// test_cpp.cpp in C++20.
#include "test_cpp.cpp"
