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
// A bin is a short array in no order, so that a block comes and goes without moving others, or a tree when it grows
// long (hundreds of equal blocks). What a look-up scans is one 64-bit rank for each block: a digest of its size and of
// what breaks ties that never contradicts the order, so that blocks themselves are compared only where ranks are equal.
// A lane with few blocks has a single bin: lanes are many (one for each stream of each pool), and most of them are
// nearly empty.
//
// Limits: size, creation number and address of a block must not change while it is inside.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "allocator/block_table.h"
#include "base/units.h"

namespace gapless {

class FreeIndex {
 public:
  explicit FreeIndex(BlockTable& table) : table_(&table) {}

  void insert(BlockIndex block);
  void erase(BlockIndex block);  // REQUIRES: it is inside

  // kNoBlock when there is none.
  BlockIndex first_at_least(Bytes size) const;
  BlockIndex next_after(BlockIndex block) const;
  BlockIndex last() const;
  BlockIndex last_before(BlockIndex block) const;

  std::size_t count() const { return count_; }
  void append_to(std::vector<BlockIndex>& out) const;  // all, in order

 private:
  // What the order looks at.
  struct Key {
    Bytes size;
    std::uint32_t order;  // creation number; 0 where addresses break ties
    Address address;
    BlockIndex block;  // only in contradictory recordings do two blocks share an address

    friend auto operator<=>(const Key&, const Key&) = default;
    std::uint64_t rank() const;
  };
  using Tree = std::set<Key>;

  struct Bin {
    std::vector<std::uint64_t> ranks;
    std::vector<BlockIndex> blocks;  // row by row
    std::unique_ptr<Tree> tree;      // instead of the two, when they grew long

    bool empty() const { return tree ? tree->empty() : blocks.empty(); }
  };

  static constexpr int kExactBins = 64;                           // below 32 KiB, 512 bytes a bin
  static constexpr int kStepsPerPower = 32;                       // above, bins for each power of two
  static constexpr int kBins = kExactBins + kStepsPerPower * 49;  // covers every 64-bit size
  static constexpr int kWords = (kBins + 63) / 64;

  Key key_of(BlockIndex block) const;
  int bin_of(Bytes size) const;
  int next_bin(int from) const;      // first non-empty bin >= from, or -1
  int previous_bin(int from) const;  // last non-empty bin <= from, or -1
  void spread();                     // from a single bin to all
  void add_to(int bin, BlockIndex block);
  void grow_tree(Bin& bin) const;

  // Of one bin: the first that is not below a key, the last that is below one.
  BlockIndex first_from(const Bin& bin, const Key& key) const;
  BlockIndex last_below(const Bin& bin, const Key& key) const;
  void append_bin(const Bin& bin, std::vector<BlockIndex>& out) const;

  BlockTable* table_;
  std::size_t count_ = 0;
  std::vector<Bin> bins_ = std::vector<Bin>(1);
  std::array<std::uint64_t, kWords> occupied_{};
};

}  // namespace gapless
