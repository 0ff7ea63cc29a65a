#include "snapshot/keys.h"

#include <algorithm>

#include "snapshot/words.h"

namespace gapless {
namespace {

constexpr const char* kScopeNames[kScopeCount] = {"top.", "settings.", "event.", "segment.", "block.", "frame."};

std::uint8_t scope_bit(int scope) { return static_cast<std::uint8_t>(1 << scope); }

}  // namespace

void Keys::see(Scope scope, Value key) {
  if (!key.is(Kind::kText)) return;
  if (key.index() < kKeyCount) return see(scope, key_bit(key.index()));
  if (key.index() >= scopes_of_.size()) {
    make_room(scopes_of_, key.index() + 1 - scopes_of_.size(), budget_);
    scopes_of_.resize(key.index() + 1);
  }
  scopes_of_[key.index()] |= scope_bit(static_cast<int>(scope));
}

std::vector<std::string> Keys::names(const Texts& texts) const {
  std::vector<std::string> names;
  for (int scope = 0; scope < kScopeCount; ++scope) {
    for (std::uint32_t key = 0; key < kKeyCount; ++key) {
      if (known_[scope] & key_bit(key)) names.push_back(std::string(kScopeNames[scope]) + kWords[key]);
    }
  }
  for (std::uint32_t text = 0; text < scopes_of_.size(); ++text) {
    for (int scope = 0; scope < kScopeCount; ++scope) {
      if (!(scopes_of_[text] & scope_bit(scope))) continue;
      budget_.take(texts[text].size() + 3 * sizeof(std::string));
      names.push_back(kScopeNames[scope] + texts[text]);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace gapless
