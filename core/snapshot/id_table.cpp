#include "snapshot/id_table.h"

#include <cstring>

namespace gapless {

std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = mix_hash(0x2545F4914F6CDD1Du, text.size());
  const char* at = text.data();
  std::size_t left = text.size();
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    hash = mix_hash(hash, word);
  }
  std::uint64_t word = 0;
  if (left > 0) std::memcpy(&word, at, left);
  return mix_hash(mix_hash(hash, word), 0x94D049BB133111EBu);
}

void IdTable::grow() {
  const std::size_t size = slots_.empty() ? 64 : 2 * slots_.size();
  std::vector<Slot> bigger;
  reserve(bigger, size, budget_);
  bigger.resize(size, Slot{0, kFree});
  for (const Slot& slot : slots_) {
    if (slot.id == kFree) continue;
    std::size_t at = slot.tag & (size - 1);
    for (std::size_t step = 1; bigger[at].id != kFree; at = (at + step++) & (size - 1)) {
      if (step > kProbesMax) throw Collisions{};
    }
    bigger[at] = slot;
  }
  drop(slots_, budget_);
  slots_ = std::move(bigger);
  mask_ = size - 1;
}

}  // namespace gapless
