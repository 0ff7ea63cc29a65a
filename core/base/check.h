// GAPLESS_CHECK guards our own invariants: always on, constant time. A failed check is a defect of Gapless,
// never of the input; bad input is an Error (base/error.h).
#pragma once

#include <stdexcept>
#include <string>

namespace gapless {

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] inline void fail_check(const char* condition, const char* file, int line) {
  throw InternalError(std::string("gapless defect: ") + condition + " does not hold at " + file + ":" +
                      std::to_string(line) + "; please report it with the input that led here");
}

}  // namespace gapless

#define GAPLESS_CHECK(condition) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : ::gapless::fail_check(#condition, __FILE__, __LINE__))
