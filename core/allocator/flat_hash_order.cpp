#include "allocator/flat_hash_order.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace gapless {
namespace {

constexpr std::uint64_t kGoldenRatio = 11400714819323198485ull;  // 2^64 / phi
constexpr std::size_t kFewestBuckets = 4;

}  // namespace

std::size_t FlatHashOrder::wanted_slot(std::uint64_t hash) const {
  return static_cast<std::size_t>((hash * kGoldenRatio) >> (64 - std::countr_zero(buckets_)));
}

std::optional<std::size_t> FlatHashOrder::find(std::uint64_t hash, std::uint32_t value) const {
  if (buckets_ == 0) return std::nullopt;
  std::size_t slot = wanted_slot(hash);
  for (int distance = 0; slot < slots_.size() && slots_[slot].distance >= distance; ++slot, ++distance) {
    if (slots_[slot].value == value) return slot;
  }
  return std::nullopt;
}

void FlatHashOrder::insert(std::uint64_t hash, std::uint32_t value) {
  if (find(hash, value)) return;
  if (buckets_ == 0 || (count_ + 1) * 2 > buckets_) grow();
  Slot carried{hash, value, 0};
  std::size_t slot = wanted_slot(hash);
  std::optional<std::size_t> taken;  // the new one's place, once it has one
  // Whoever is farther from home keeps the place; the other walks on.
  for (; carried.distance < longest_probe_ && slots_[slot].distance >= 0; ++slot, ++carried.distance) {
    if (slots_[slot].distance >= carried.distance) continue;
    std::swap(slots_[slot], carried);
    if (!taken) taken = slot;
  }
  if (carried.distance < longest_probe_) {
    slots_[slot] = carried;
    ++count_;
    return;
  }
  // Too far from home: the table doubles, and the new one comes last.
  if (taken) slots_[*taken] = carried;
  grow();
  insert(hash, value);
}

void FlatHashOrder::grow() {
  buckets_ = std::max(kFewestBuckets, buckets_ * 2);
  longest_probe_ = std::max(4, std::countr_zero(buckets_));
  std::vector<Slot> old(buckets_ + static_cast<std::size_t>(longest_probe_) + 1);
  std::swap(old, slots_);
  count_ = 0;
  for (const Slot& slot : old) {
    if (slot.distance >= 0) insert(slot.hash, slot.value);
  }
}

void FlatHashOrder::erase(std::uint64_t hash, std::uint32_t value) {
  const auto found = find(hash, value);
  if (!found) return;
  --count_;
  std::size_t slot = *found;
  slots_[slot] = {};
  for (; slot + 1 < slots_.size() && slots_[slot + 1].distance > 0; ++slot) {
    slots_[slot] = slots_[slot + 1];
    --slots_[slot].distance;
    slots_[slot + 1] = {};
  }
}

}  // namespace gapless
