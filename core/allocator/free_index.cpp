#include "allocator/free_index.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "base/check.h"

namespace gapless {
namespace {

constexpr std::size_t kLongBin = 256;  // a longer array becomes a tree
constexpr std::size_t kSpreadAt = 96;  // a lane with more blocks gets all bins

constexpr std::size_t kShortBin = 8;  // searched from the front: most bins hold one or two

// Sorts before every real entry of its size.
FreeEntry floor_of(Bytes size) { return {size, 0, 0, 0}; }

}  // namespace

std::size_t FreeIndex::Bin::position(const FreeEntry& entry) const {
  if (array_.size() > kShortBin) {
    return static_cast<std::size_t>(std::lower_bound(array_.begin(), array_.end(), entry) - array_.begin());
  }
  std::size_t at = 0;
  while (at < array_.size() && array_[at] < entry) ++at;
  return at;
}

void FreeIndex::Bin::insert(const FreeEntry& entry) {
  if (!tree_ && array_.size() >= kLongBin) {
    tree_ = std::make_unique<std::set<FreeEntry>>(array_.begin(), array_.end());
    array_ = {};
  }
  if (tree_) {
    tree_->insert(entry);
  } else {
    array_.insert(array_.begin() + static_cast<std::ptrdiff_t>(position(entry)), entry);
  }
}

bool FreeIndex::Bin::erase(const FreeEntry& entry) {
  if (tree_) return tree_->erase(entry) == 1;
  const std::size_t at = position(entry);
  if (at == array_.size() || entry < array_[at]) return false;
  array_.erase(array_.begin() + static_cast<std::ptrdiff_t>(at));
  return true;
}

void FreeIndex::Bin::erase_found(const FreeEntry* entry) {
  if (tree_) {
    tree_->erase(FreeEntry(*entry));
  } else {
    array_.erase(array_.begin() + (entry - array_.data()));
  }
}

const FreeEntry* FreeIndex::Bin::lower_bound(const FreeEntry& entry) const {
  if (tree_) {
    const auto found = tree_->lower_bound(entry);
    return found == tree_->end() ? nullptr : &*found;
  }
  const std::size_t at = position(entry);
  return at == array_.size() ? nullptr : &array_[at];
}

const FreeEntry* FreeIndex::Bin::upper_bound(const FreeEntry& entry) const {
  if (tree_) {
    const auto found = tree_->upper_bound(entry);
    return found == tree_->end() ? nullptr : &*found;
  }
  const auto found = std::upper_bound(array_.begin(), array_.end(), entry);
  return found == array_.end() ? nullptr : &*found;
}

const FreeEntry* FreeIndex::Bin::last_before(const FreeEntry& entry) const {
  if (tree_) {
    const auto found = tree_->lower_bound(entry);
    return found == tree_->begin() ? nullptr : &*std::prev(found);
  }
  const std::size_t at = position(entry);
  return at == 0 ? nullptr : &array_[at - 1];
}

const FreeEntry* FreeIndex::Bin::last() const {
  if (empty()) return nullptr;
  return tree_ ? &*tree_->rbegin() : &array_.back();
}

void FreeIndex::Bin::append_to(std::vector<FreeEntry>& out) const {
  if (tree_) {
    out.insert(out.end(), tree_->begin(), tree_->end());
  } else {
    out.insert(out.end(), array_.begin(), array_.end());
  }
}

int FreeIndex::bin_of(Bytes size) const {
  if (bins_.size() == 1) return 0;
  const Bytes units = size / 512;
  if (units < kExactBins) return static_cast<int>(units);
  const int power = static_cast<int>(std::bit_width(units)) - 1;                     // >= 6
  const int step = static_cast<int>((units >> (power - 5)) & (kStepsPerPower - 1));  // the five bits after the first
  return kExactBins + (power - 6) * kStepsPerPower + step;
}

int FreeIndex::next_bin(int from) const {
  int word = from / 64;
  if (word >= kWords) return -1;
  std::uint64_t bits = occupied_[word] & (~std::uint64_t{0} << (from % 64));
  while (bits == 0) {
    if (++word == kWords) return -1;
    bits = occupied_[word];
  }
  return word * 64 + std::countr_zero(bits);
}

int FreeIndex::previous_bin(int from) const {
  if (from < 0) return -1;
  int word = from / 64;
  std::uint64_t bits = occupied_[word] & (~std::uint64_t{0} >> (63 - from % 64));
  while (bits == 0) {
    if (--word < 0) return -1;
    bits = occupied_[word];
  }
  return word * 64 + 63 - std::countl_zero(bits);
}

void FreeIndex::spread() {
  std::vector<FreeEntry> entries;
  bins_[0].append_to(entries);
  bins_ = std::vector<Bin>(kBins);
  occupied_ = {};
  for (const FreeEntry& entry : entries) {
    const int bin = bin_of(entry.size);
    bins_[bin].insert(entry);
    occupied_[bin / 64] |= std::uint64_t{1} << (bin % 64);
  }
}

void FreeIndex::insert(const FreeEntry& entry) {
  if (bins_.size() == 1 && count_ >= kSpreadAt) spread();
  const int bin = bin_of(entry.size);
  bins_[bin].insert(entry);
  occupied_[bin / 64] |= std::uint64_t{1} << (bin % 64);
  ++count_;
}

void FreeIndex::erase(const FreeEntry& entry) {
  const int bin = bin_of(entry.size);
  GAPLESS_CHECK(bins_[bin].erase(entry));
  note_erased(bin);
}

void FreeIndex::erase_found(const FreeEntry* entry) {
  const int bin = bin_of(entry->size);
  bins_[bin].erase_found(entry);
  note_erased(bin);
}

void FreeIndex::note_erased(int bin) {
  if (bins_[bin].empty()) occupied_[bin / 64] &= ~(std::uint64_t{1} << (bin % 64));
  --count_;
}

const FreeEntry* FreeIndex::first_at_least(Bytes size) const {
  const int bin = bin_of(size);
  if (const FreeEntry* found = bins_[bin].lower_bound(floor_of(size))) return found;
  const int next = next_bin(bin + 1);
  return next < 0 ? nullptr : bins_[next].lower_bound(floor_of(0));
}

const FreeEntry* FreeIndex::next_after(const FreeEntry& entry) const {
  const int bin = bin_of(entry.size);
  if (const FreeEntry* found = bins_[bin].upper_bound(entry)) return found;
  const int next = next_bin(bin + 1);
  return next < 0 ? nullptr : bins_[next].lower_bound(floor_of(0));
}

const FreeEntry* FreeIndex::last() const {
  const int bin = previous_bin(static_cast<int>(bins_.size()) - 1);
  return bin < 0 ? nullptr : bins_[bin].last();
}

const FreeEntry* FreeIndex::last_before(const FreeEntry& entry) const {
  const int bin = bin_of(entry.size);
  if (const FreeEntry* found = bins_[bin].last_before(entry)) return found;
  const int previous = previous_bin(bin - 1);
  return previous < 0 ? nullptr : bins_[previous].last();
}

void FreeIndex::append_to(std::vector<FreeEntry>& out) const {
  for (int bin = next_bin(0); bin >= 0; bin = next_bin(bin + 1)) bins_[bin].append_to(out);
}

}  // namespace gapless
