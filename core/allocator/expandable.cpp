// Note [Expandable segments]
//
// Rationale: a segment that can grow has no fixed end to leave a remainder at, and whole pages inside it can go back
// although its neighbours are in use.
//
// Approach: one reservation of addresses (9/8 of the card) for each lane, mapped page by page:
//
//       base                                                            base + 9/8 card
//       | allocated | free (mapped) | allocated |        unmapped ...           |
//                   ^ first room that suffices: free and unmapped blocks together
//
// A request that finds no free block maps pages behind the first room, lowest addresses first. A full release unmaps
// the pages that lie entirely in free blocks; the edges stay mapped.
//
// Limits: the device may refuse in the middle; pages mapped for earlier gaps of the same request then stay.
#include <algorithm>

#include "allocator/caching_allocator.h"
#include "base/check.h"

namespace gapless {

BlockIndex CachingAllocator::grow(const Request& request) {
  BlockIndex block = find_room(request);
  if (block == kNoBlock) return kNoBlock;
  if (!blocks_[block].mapped && !map_block(block, std::min(blocks_[block].size, request.size))) return kNoBlock;
  while (blocks_[block].size < request.size) {
    const BlockIndex next = blocks_[block].next;
    const Bytes missing = request.size - blocks_[block].size;
    if (!map_block(next, std::min(missing, blocks_[next].size))) return kNoBlock;
    block = next;  // it took over the block before it
  }
  erase_free(block);
  return block;
}

// The first place, by address, where free and unmapped blocks in a row suffice; else a new reservation.
BlockIndex CachingAllocator::find_room(const Request& request) {
  const auto usable = [this](BlockIndex block) { return block != kNoBlock && blocks_[block].is_free(); };
  for (const auto& [address, unmapped] : lanes_[request.lane].unmapped) {
    const BlockIndex before = blocks_[unmapped].prev;
    const BlockIndex start = usable(before) ? before : unmapped;
    Bytes room = 0;
    for (BlockIndex block = start; usable(block) && room < request.size; block = blocks_[block].next) {
      room += blocks_[block].size;
    }
    if (room >= request.size) return start;
  }
  return new_reservation(request);
}

BlockIndex CachingAllocator::new_reservation(const Request& request) {
  const Lane& lane = lanes_[request.lane];
  const Bytes page = page_size(pools_[lane.pool].is_small, settings_);
  const Bytes size = round_up(device_.total_bytes() + device_.total_bytes() / 8, page);
  const std::optional<Address> base = device_.reserve(size);
  if (!base) return kNoBlock;
  BlockRow row;
  row.address = *base;
  row.size = size;
  row.lane = request.lane;
  row.mapped = false;
  row.reservation = static_cast<std::uint32_t>(reservations_.size());
  reservations_.push_back({*base, size, page});
  number_new_segment(row);
  const BlockIndex block = blocks_.add(row);
  add_unmapped(block);
  return block;
}

// Maps whole pages from the start of an unmapped block on, and merges with mapped free neighbours.
bool CachingAllocator::map_block(BlockIndex block, Bytes wanted) {
  const Reservation& reservation = reservations_[blocks_[block].reservation];
  const Address start = blocks_[block].address;
  const Bytes size = std::min(round_up(wanted, reservation.page), blocks_[block].size);
  if (!device_.map(start, size)) return false;
  Lane& lane = lanes_[blocks_[block].lane];
  lane.unmapped.erase(start);
  blocks_[block].mapped = true;
  if (size < blocks_[block].size) {
    BlockRow rest = blocks_[block];
    rest.address = start + size;
    rest.size = blocks_[block].size - size;
    rest.mapped = false;
    number_new_block(rest, blocks_[block]);
    const BlockIndex right = blocks_.add(rest);
    blocks_.link_after(right, block);
    add_unmapped(right);
    blocks_[block].size = size;
  }
  merge(block, blocks_[block].prev);
  merge(block, blocks_[block].next);
  insert_free(block);
  total_ += size;
  count_reserved(pools_[lane.pool], static_cast<std::int64_t>(size));
  ++statistics_.num_device_alloc;
  log(Action::kSegmentMap, start, size, lane);
  return true;
}

// Leaves a mapped free part of `size` bytes at one end of a block that is about to be unmapped.
void CachingAllocator::keep_edge(BlockIndex block, Bytes size, bool at_left) {
  if (size == 0) return;
  BlockRow edge = blocks_[block];
  edge.size = size;
  if (!at_left) edge.address += blocks_[block].size - size;
  number_new_block(edge, blocks_[block]);
  const BlockIndex added = blocks_.add(edge);
  if (at_left) {
    blocks_.link_before(added, block);
    blocks_[block].address += size;
  } else {
    blocks_.link_after(added, block);
  }
  blocks_[block].size -= size;
  insert_free(added);
}

// Gives back the whole pages inside a free block.
void CachingAllocator::unmap_block(BlockIndex block) {
  const BlockRow row = blocks_[block];
  const Reservation& reservation = reservations_[row.reservation];
  const Address start = reservation.base + round_up(row.address - reservation.base, reservation.page);
  const Bytes end_offset = (row.address + row.size - reservation.base) / reservation.page * reservation.page;
  const Address end = reservation.base + end_offset;
  if (start >= end) return;
  const Bytes size = end - start;
  Lane& lane = lanes_[row.lane];
  const Pool& pool = pools_[lane.pool];
  device_.unmap(start, size);
  // PyTorch counts allocations up and unmapped runs down; a count below zero stops it in the middle of the release.
  if (pool.owner != kDefaultOwner && --owners_[pool.owner].device_allocations < 0) undefined_ = true;
  erase_free(block);
  keep_edge(block, start - row.address, true);
  keep_edge(block, row.address + row.size - end, false);
  blocks_[block].mapped = false;
  merge(block, blocks_[block].prev);
  merge(block, blocks_[block].next);
  total_ -= size;
  count_reserved(pool, -static_cast<std::int64_t>(size));
  ++statistics_.num_device_free;
  log(Action::kSegmentUnmap, start, size, lane);
  if (blocks_[block].is_split()) {
    add_unmapped(block);
  } else {  // nothing is mapped any more: the reservation goes
    device_.unreserve(reservation.base, reservation.size);
    blocks_.remove(block);
  }
}

}  // namespace gapless
