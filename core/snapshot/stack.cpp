#include "snapshot/stack.h"

namespace gapless {

// Writers count keys up from 0 or 1; a key far from the others has a place of its own, so that it costs no room.
void Memo::put(std::uint64_t key, Value value) {
  constexpr std::uint64_t kGapMax = 16;
  constexpr Bytes kNodeBytes = 64;
  if (key < values_.size()) {
    values_[key] = value;
  } else if (key <= values_.size() + kGapMax) {
    make_room(values_, key + 1 - values_.size(), budget_);
    values_.resize(key + 1, kAbsent);
    values_[key] = value;
  } else if (others_.insert_or_assign(key, value).second) {
    budget_.take(kNodeBytes);
  }
}

Value Memo::get_other(std::uint64_t key) const {
  const auto found = others_.find(key);
  if (found == others_.end())
    fault("the pickle refers to entry " + std::to_string(key) + " of its memo, which it did not write");
  return found->second;
}

}  // namespace gapless
