// What a fuzzer demands of an outcome: printed and fatal where it does not hold.
#pragma once

#include <cstdio>
#include <cstdlib>

#define REQUIRE(condition)                                                                 \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      std::fprintf(stderr, "does not hold: %s (%s:%d)\n", #condition, __FILE__, __LINE__); \
      std::abort();                                                                        \
    }                                                                                      \
  } while (false)
