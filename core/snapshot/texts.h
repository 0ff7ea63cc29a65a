// The strings of a recording, each once. Bytes that are not UTF-8 become U+FFFD: they are names for people to read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "snapshot/budget.h"
#include "snapshot/id_table.h"

namespace gapless {

class Texts {
 public:
  explicit Texts(Budget& budget);  // holds the words of words.h, in their order

  std::uint32_t intern(std::string_view bytes);
  const std::string& operator[](std::uint32_t id) const { return strings_[id]; }
  std::vector<std::string> take_strings() { return std::move(strings_); }

 private:
  Budget& budget_;
  IdTable table_;
  std::vector<std::string> strings_;
};

// The length of the valid UTF-8 at the front of `bytes`.
std::size_t valid_utf8_prefix(std::string_view bytes);
// `bytes` with U+FFFD for each byte that is not part of valid UTF-8.
std::string repair_utf8(std::string_view bytes);

}  // namespace gapless
