// The free blocks of one lane (a pool and a stream), in PyTorch's order: size, then creation number, then address.
// The smallest block that serves a request is the answer of every lookup (best fit).
//
// Note [Free index]
//
// Rationale: an ordered tree answers best fit in O(log n) cache misses, and a trace asks a million times. Sizes are
// heavily skewed: few distinct ones, many small.
//
// Approach: blocks are binned by size class, a 64-bit word says which of 64 bins hold something, so that the next
// larger bin is found with one bit scan. Classes are exact below 32 KiB (steps of 512 bytes) and 1/32 of a power of two
// above.
//
//       size   512  1024  1536 ...   32K         33K      34K  ...
//       bin     1     2     3        64 (32-33K)  65       66
//
// A bin is a short sorted array; one that grows long (thousands of equal blocks) becomes a tree. A lane with few blocks
// has a single bin: lanes are many (one for each stream of each pool), and most of them are nearly empty.
//
// Limits: keys must not change while a block is inside.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "base/units.h"

namespace gapless {

using BlockIndex = std::uint32_t;

struct FreeEntry {
  Bytes size;
  Address address;
  std::uint32_t order;  // creation number; 0 where addresses break ties
  BlockIndex block;

  friend bool operator<(const FreeEntry& a, const FreeEntry& b) {
    if (a.size != b.size) return a.size < b.size;
    if (a.order != b.order) return a.order < b.order;
    if (a.address != b.address) return a.address < b.address;
    return a.block < b.block;  // only in contradictory recordings do two blocks share an address
  }
};

class FreeIndex {
 public:
  void insert(const FreeEntry& entry);
  // REQUIRES: an equal entry is inside.
  void erase(const FreeEntry& entry);
  // REQUIRES: `entry` was returned by a lookup since the last change.
  void erase_found(const FreeEntry* entry);

  // The first entry of at least `size` bytes; null when there is none. Pointers live until the next change.
  const FreeEntry* first_at_least(Bytes size) const;
  const FreeEntry* next_after(const FreeEntry& entry) const;
  const FreeEntry* last() const;
  const FreeEntry* last_before(const FreeEntry& entry) const;

  std::size_t count() const { return count_; }
  // All entries in order.
  void append_to(std::vector<FreeEntry>& out) const;

 private:
  // A sorted array while short, a tree when long.
  class Bin {
   public:
    void insert(const FreeEntry& entry);
    bool erase(const FreeEntry& entry);
    void erase_found(const FreeEntry* entry);
    const FreeEntry* lower_bound(const FreeEntry& entry) const;  // first not below
    const FreeEntry* upper_bound(const FreeEntry& entry) const;  // first above
    const FreeEntry* last_before(const FreeEntry& entry) const;
    const FreeEntry* last() const;
    void append_to(std::vector<FreeEntry>& out) const;
    bool empty() const { return tree_ ? tree_->empty() : array_.empty(); }
    std::size_t count() const { return tree_ ? tree_->size() : array_.size(); }

   private:
    std::size_t position(const FreeEntry& entry) const;  // of the first not below, in the array
    std::vector<FreeEntry> array_;
    std::unique_ptr<std::set<FreeEntry>> tree_;
  };

  static constexpr int kExactBins = 64;                           // below 32 KiB, 512 bytes a bin
  static constexpr int kStepsPerPower = 32;                       // above, bins for each power of two
  static constexpr int kBins = kExactBins + kStepsPerPower * 49;  // covers every 64-bit size
  static constexpr int kWords = (kBins + 63) / 64;

  int bin_of(Bytes size) const;
  int next_bin(int from) const;      // first non-empty bin >= from, or -1
  int previous_bin(int from) const;  // last non-empty bin <= from, or -1
  void spread();                     // from a single bin to all
  void note_erased(int bin);

  std::size_t count_ = 0;
  std::vector<Bin> bins_ = std::vector<Bin>(1);
  std::array<std::uint64_t, kWords> occupied_{};
};

}  // namespace gapless
