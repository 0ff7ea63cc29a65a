// Blocks as rows of one table, named by index; neighbours within a segment are linked in order of address.
//
//   segment    | a: allocated | b: free        | c: allocated |      prev/next:  a <-> b <-> c
//
// Invariants (is_valid() of the allocator checks them):
//   linked blocks touch: left.address + left.size == right.address
//   two mapped free blocks are never neighbours, unless one is pending; nor are two unmapped ones
//   a block with a neighbour is a split block; only a block without one may be given back to the device
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"

namespace gapless {

using BlockIndex = std::uint32_t;
constexpr BlockIndex kNoBlock = 0xFFFFFFFFu;
constexpr std::uint32_t kNoReservation = 0xFFFFFFFFu;

struct alignas(64) BlockRow {
  Address address = 0;
  Bytes size = 0;
  Bytes requested = 0;  // by its last owner; meaningless while free
  BlockIndex prev = kNoBlock;
  BlockIndex next = kNoBlock;
  std::uint32_t lane = 0;                      // index of its pool and stream
  std::uint32_t order = 0;                     // creation number that breaks ties
  std::uint32_t reservation = kNoReservation;  // of an expandable segment
  std::uint32_t free_since = 0;                // the pool's search counter when it became free: its age
  std::uint32_t events = 0;                    // outstanding events after free
  std::uint32_t place = 0;                     // in its bin of the free index; meaningless outside
  bool allocated = false;
  bool mapped = true;     // false: addresses of an expandable segment without memory
  bool has_uses = false;  // other streams use it (record_stream)

  bool is_expandable() const { return reservation != kNoReservation; }
  bool is_split() const { return prev != kNoBlock || next != kNoBlock; }
  bool is_free() const { return !allocated && events == 0 && !has_uses; }
  bool is_pending() const { return !allocated && !is_free(); }
};

class BlockTable {
 public:
  BlockRow& operator[](BlockIndex block) { return rows_[block]; }
  const BlockRow& operator[](BlockIndex block) const { return rows_[block]; }

  BlockIndex add(const BlockRow& row) {
    if (unused_.empty()) {
      rows_.push_back(row);
      return static_cast<BlockIndex>(rows_.size() - 1);
    }
    const BlockIndex block = unused_.back();
    unused_.pop_back();
    rows_[block] = row;
    return block;
  }

  void remove(BlockIndex block) {
    rows_[block] = {};
    unused_.push_back(block);
  }

  // Puts `block` between `right`'s left neighbour and `right`.
  void link_before(BlockIndex block, BlockIndex right) {
    const BlockIndex left = rows_[right].prev;
    rows_[block].prev = left;
    rows_[block].next = right;
    if (left != kNoBlock) rows_[left].next = block;
    rows_[right].prev = block;
  }

  void link_after(BlockIndex block, BlockIndex left) {
    const BlockIndex right = rows_[left].next;
    rows_[block].prev = left;
    rows_[block].next = right;
    if (right != kNoBlock) rows_[right].prev = block;
    rows_[left].next = block;
  }

  std::size_t count() const { return rows_.size(); }  // rows, unused ones (of size 0) included

 private:
  std::vector<BlockRow> rows_;
  std::vector<BlockIndex> unused_;
};

}  // namespace gapless
