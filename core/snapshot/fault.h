// What is wrong with a pickle, before anybody has said where: the reader adds the byte and the path.
#pragma once

#include <string>
#include <utility>

namespace gapless {

struct Fault {
  std::string message;
  std::string hint;
};

[[noreturn]] inline void fault(std::string message, std::string hint = "PyTorch writes no such recording") {
  throw Fault{std::move(message), std::move(hint)};
}
[[noreturn]] inline void fault_cut(std::string message) {
  fault(std::move(message), "it was cut: copy or record it again");
}

}  // namespace gapless
