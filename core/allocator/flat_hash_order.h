// The order in which PyTorch walks its sets of private pools: the slots of an open-addressing hash set (robin hood
// probing, Fibonacci hashing, at most half full, never shrinking). The order decides which pool gives memory back, or
// lends it, first, so it is part of the allocator's behaviour and the same in all releases.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace gapless {

class FlatHashOrder {
 public:
  void insert(std::uint64_t hash, std::uint32_t value);  // nothing happens when it is inside
  void erase(std::uint64_t hash, std::uint32_t value);

  // Walk: for (slot = 0; slot < slot_count(); ++slot) at(slot). After an erase during the walk look at the same slot
  // again.
  std::size_t slot_count() const { return slots_.size(); }
  std::optional<std::uint32_t> at(std::size_t slot) const {
    return slots_[slot].distance < 0 ? std::nullopt : std::optional(slots_[slot].value);
  }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t value = 0;
    int distance = -1;  // from the slot that the hash wants; -1: empty
  };

  std::size_t wanted_slot(std::uint64_t hash) const;
  void grow();
  std::optional<std::size_t> find(std::uint64_t hash, std::uint32_t value) const;

  std::vector<Slot> slots_;  // `buckets_` of them, and room for the longest probe behind
  std::size_t buckets_ = 0;  // a power of two, or 0
  int longest_probe_ = 0;
  std::size_t count_ = 0;
};

}  // namespace gapless
