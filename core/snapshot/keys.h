// Which keys the dictionaries of a recording have, by the kind of dictionary: they tell the release that wrote it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "snapshot/texts.h"
#include "snapshot/value.h"

namespace gapless {

enum class Scope : std::uint8_t { kTop, kSettings, kEvent, kSegment, kBlock, kFrame };
constexpr int kScopeCount = 6;

class Keys {
 public:
  explicit Keys(Budget& budget) : budget_(budget) {}

  // `known`: a set of key_bit()s.
  void see(Scope scope, std::uint64_t known) { known_[static_cast<int>(scope)] |= known; }
  void see(Scope scope, Value key);
  // Like "event.time_us", sorted.
  std::vector<std::string> names(const Texts& texts) const;

 private:
  Budget& budget_;
  std::uint64_t known_[kScopeCount] = {};
  std::vector<std::uint8_t> scopes_of_;  // by text: the scopes in which it is a key, as bits
};

}  // namespace gapless
