#include "snapshot/keys.h"

#include <algorithm>

#include "snapshot/words.h"

namespace gapless {
namespace {

constexpr const char* kScopeNames[kScopeCount] = {"top.", "settings.", "event.", "segment.", "block.", "frame."};
constexpr Bytes kNodeBytes = 64;  // of an entry of the set and the name made of it, short strings

}  // namespace

void Keys::see(Scope scope, Value key) {
  if (!key.is(Kind::kText)) return;
  if (key.index() < kKeyCount) return see(scope, key_bit(key.index()));
  if (other_.insert(std::uint64_t{static_cast<std::uint8_t>(scope)} << 32 | key.index()).second)
    budget_.take(kNodeBytes);
}

std::vector<std::string> Keys::names(const Texts& texts) const {
  std::vector<std::string> names;
  for (int scope = 0; scope < kScopeCount; ++scope) {
    for (std::uint32_t key = 0; key < kKeyCount; ++key) {
      if (known_[scope] & key_bit(key)) names.push_back(std::string(kScopeNames[scope]) + kWords[key]);
    }
  }
  for (const std::uint64_t other : other_) {
    const std::string& text = texts[static_cast<std::uint32_t>(other)];
    budget_.take(text.size() + sizeof(std::string));
    names.push_back(kScopeNames[other >> 32] + text);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace gapless
