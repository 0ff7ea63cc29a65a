// Finds the number of something that was seen before: open addressing over numbers, the things themselves stay with
// the caller. A lookup ends after kProbesMax steps, so that input made to collide is refused instead of slow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "snapshot/budget.h"

namespace gapless {

// Thrown when too many entries share their place: in honest input a matter of 2^-100.
struct Collisions : std::exception {
  const char* what() const noexcept override { return "hash collisions"; }
};

inline std::uint64_t mix_hash(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 29);
}
std::uint64_t hash_text(std::string_view text);

class IdTable {
 public:
  explicit IdTable(Budget& budget) : budget_(budget) { grow(); }

  // The id for which equals(id) holds, or add(), a new one. REQUIRES: equal things have equal hashes.
  template <class Equals, class Add>
  std::uint32_t find_or_add(std::uint64_t hash, Equals equals, Add add) {
    const auto tag = static_cast<std::uint32_t>(hash >> 32);
    std::size_t at = tag & mask_;
    for (std::size_t step = 1; slots_[at].id != kFree; at = (at + step++) & mask_) {
      if (slots_[at].tag == tag && equals(slots_[at].id)) return slots_[at].id;
      if (step > kProbesMax) throw Collisions{};
    }
    if (count_ >= kFree - 1) throw OverBudget{};
    const std::uint32_t id = add();
    slots_[at] = {tag, id};
    if (2 * ++count_ > mask_) grow();
    return id;
  }

 private:
  static constexpr std::uint32_t kFree = 0xFFFFFFFFu;
  static constexpr std::size_t kProbesMax = 128;
  struct Slot {
    std::uint32_t tag;  // half of the hash: spares most comparisons, and all of them when the table grows
    std::uint32_t id;
  };

  void grow();

  Budget& budget_;
  std::vector<Slot> slots_;  // a power of two
  std::size_t mask_ = 0;
  std::size_t count_ = 0;  // <= slots_.size() / 2
};

}  // namespace gapless
