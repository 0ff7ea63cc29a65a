// Lanes and their free blocks, creation numbers, the log, and what can be seen from outside.
#include <algorithm>

#include "allocator/caching_allocator.h"
#include "base/check.h"

namespace gapless {

void CachingAllocator::set_stream_handle(StreamIndex stream, std::uint64_t handle) { handles_[stream] = handle; }

std::uint32_t CachingAllocator::lane_of(std::uint32_t pool_index, StreamIndex stream) {
  Pool& pool = pools_[pool_index];
  if (pool.last_stream == stream) return pool.last_lane;
  const std::uint64_t key = std::uint64_t{pool_index} << 32 | stream;
  const auto [found, is_new] = lane_by_key_.try_emplace(key, static_cast<std::uint32_t>(lanes_.size()));
  if (is_new) {
    const auto known = handles_.find(stream);
    const std::uint64_t handle = known == handles_.end() ? stream : known->second;
    Lane lane(blocks_);
    lane.pool = pool_index;
    lane.stream = stream;
    lane.handle = handle;
    lanes_.push_back(std::move(lane));
    const auto after = [this](std::uint64_t h, std::uint32_t other) { return h < lanes_[other].handle; };
    pool.lanes.insert(std::upper_bound(pool.lanes.begin(), pool.lanes.end(), handle, after), found->second);
  }
  pool.last_stream = stream;
  pool.last_lane = found->second;
  return found->second;
}

void CachingAllocator::insert_free(BlockIndex block) {
  BlockRow& row = blocks_[block];
  Lane& lane = lanes_[row.lane];
  row.free_since = pools_[lane.pool].searches;
  lane.free.insert(block);
}

// Addresses of a lane's reservations are distinct on every device; a contradictory recording may say otherwise.
void CachingAllocator::add_unmapped(BlockIndex block) {
  GAPLESS_CHECK(lanes_[blocks_[block].lane].unmapped.emplace(blocks_[block].address, block).second);
}

void CachingAllocator::erase_free(BlockIndex block) { lanes_[blocks_[block].lane].free.erase(block); }

void CachingAllocator::number_new_segment(BlockRow& row) {
  if (rules_.tie_break != TieBreak::kAddress) row.order = ++last_order_;
}

void CachingAllocator::number_new_block(BlockRow& row, const BlockRow& parent) {
  row.order = rules_.tie_break == TieBreak::kBlockNumber ? ++last_order_ : parent.order;
}

// Every free block of a pool in PyTorch's order, over its streams.
std::vector<BlockIndex> CachingAllocator::free_blocks_of(const Pool& pool) const {
  std::vector<BlockIndex> blocks;
  for (const std::uint32_t lane : pool.lanes) lanes_[lane].free.append_to(blocks);
  return blocks;
}

const FreeIndex* CachingAllocator::free_blocks(OwnerIndex owner, bool is_small, StreamIndex stream) const {
  const std::uint32_t pool = is_small ? owners_[owner].small : owners_[owner].large;
  const auto found = lane_by_key_.find(std::uint64_t{pool} << 32 | stream);
  return found == lane_by_key_.end() ? nullptr : &lanes_[found->second].free;
}

Bytes CachingAllocator::largest_free_block() const {
  Bytes largest = 0;
  for (const Lane& lane : lanes_) {
    if (const BlockIndex last = lane.free.last(); last != kNoBlock) largest = std::max(largest, blocks_[last].size);
  }
  return largest;
}

std::vector<BlockIndex> CachingAllocator::mapped_blocks() const {
  std::vector<BlockIndex> starts;
  for (BlockIndex block = 0; block < blocks_.count(); ++block) {
    const BlockRow& row = blocks_[block];
    const bool is_start = row.prev == kNoBlock || !blocks_[row.prev].mapped;
    if (row.size > 0 && row.mapped && is_start) starts.push_back(block);
  }
  std::sort(starts.begin(), starts.end(),
            [this](BlockIndex a, BlockIndex b) { return blocks_[a].address < blocks_[b].address; });
  std::vector<BlockIndex> blocks;
  for (BlockIndex block : starts) {
    for (; block != kNoBlock && blocks_[block].mapped; block = blocks_[block].next) blocks.push_back(block);
  }
  return blocks;
}

bool CachingAllocator::is_valid() const {
  Bytes mapped = 0;
  std::size_t free_count = 0;
  for (BlockIndex index = 0; index < blocks_.count(); ++index) {
    const BlockRow& row = blocks_[index];
    if (row.size == 0) continue;  // an unused row
    if (row.mapped) mapped += row.size;
    if (row.is_free() && row.mapped) ++free_count;
    if (row.next == kNoBlock) continue;
    const BlockRow& next = blocks_[row.next];
    if (next.prev != index || row.address + row.size != next.address || row.lane != next.lane) return false;
    if (row.is_free() && next.is_free() && row.mapped == next.mapped) return false;
  }
  std::size_t indexed = 0;
  for (const Lane& lane : lanes_) indexed += lane.free.count();
  return mapped == total_ && indexed == free_count;
}

std::vector<BlockIndex> CachingAllocator::adopt_segment(const StartSegment& segment,
                                                        const std::vector<StartBlock>& blocks) {
  const PoolOwner& holder = owners_[segment.owner];
  const std::uint32_t pool = segment.is_small ? holder.small : holder.large;
  const std::uint32_t lane = lane_of(pool, segment.stream);
  BlockRow first;
  first.lane = lane;
  if (segment.is_expandable) {
    first.reservation = static_cast<std::uint32_t>(reservations_.size());
    reservations_.push_back({segment.address, segment.size, page_size(segment.is_small, settings_)});
  }
  number_new_segment(first);
  std::vector<BlockIndex> added;
  Address address = segment.address;
  for (const StartBlock& start : blocks) {
    BlockRow row = first;
    row.address = address;
    row.size = start.size;
    row.requested = start.requested;
    row.mapped = start.mapped;
    if (!added.empty()) number_new_block(row, first);
    row.allocated = start.state == BlockState::kAllocated;
    const BlockIndex block = blocks_.add(row);
    if (!added.empty()) blocks_.link_after(block, added.back());
    if (!start.mapped) {
      add_unmapped(block);
    } else {
      total_ += start.size;
      if (start.state == BlockState::kFree) insert_free(block);
    }
    if (start.state == BlockState::kPending) wait_for_completion(block);
    added.push_back(block);
    address += start.size;
  }
  GAPLESS_CHECK(address == segment.address + segment.size);
  if (segment.owner != kDefaultOwner) ++owners_[segment.owner].device_allocations;
  if (!segment.is_expandable) statistics_.segment.increase(segment.is_small, 1);
  count_adopted(segment.is_small, added);
  return added;
}

void CachingAllocator::count_reserved(const Pool& pool, std::int64_t change) {
  statistics_.reserved_bytes.change(pool.is_small, change);
  if (pool.owner != kDefaultOwner) owners_[pool.owner].reserved_bytes.change(pool.is_small, change);
}

void CachingAllocator::count_adopted(bool is_small, const std::vector<BlockIndex>& blocks) {
  for (const BlockIndex block : blocks) {
    const BlockRow& row = blocks_[block];
    if (!row.mapped) continue;
    const auto size = static_cast<std::int64_t>(row.size);
    count_reserved(pool_of(row), size);
    if (row.is_free()) {
      if (!row.is_split() || row.is_expandable()) continue;
      statistics_.inactive_split.increase(is_small, 1);
      statistics_.inactive_split_bytes.increase(is_small, size);
      continue;
    }
    statistics_.active.increase(is_small, 1);
    statistics_.active_bytes.increase(is_small, size);
    statistics_.requested_bytes.increase(is_small, static_cast<std::int64_t>(row.requested));
    if (!row.allocated) continue;
    statistics_.allocation.increase(is_small, 1);
    statistics_.allocated_bytes.increase(is_small, size);
  }
}

}  // namespace gapless
