// Giving memory back to the device: garbage collection, oversize blocks, everything. Only whole segments can go back,
// and only pages that lie entirely in a free block.
#include <algorithm>

#include "allocator/caching_allocator.h"
#include "base/check.h"

namespace gapless {

void CachingAllocator::release_segment(BlockIndex block) {
  const BlockRow row = blocks_[block];
  if (row.is_expandable()) {  // up to 2.4 the search for oversize blocks may meet one
    failed_ = true;
    return;
  }
  const Lane& lane = lanes_[row.lane];
  const Pool& pool = pools_[lane.pool];
  log(Action::kSegmentFree, row.address, row.size, lane);
  device_.release(row.address, row.size);
  total_ -= row.size;
  if (pool.owner != kDefaultOwner) --owners_[pool.owner].device_allocations;
  statistics_.segment.decrease(pool.is_small, 1);
  count_reserved(pool, -static_cast<std::int64_t>(row.size));
  if (row.size >= settings_.max_split_size) statistics_.oversize_segments.decrease(1);
  ++statistics_.num_device_free;
  erase_free(block);
  // Part of a segment went to cudaFree, and with it the whole segment: PyTorch's own defect, see frees_live_segment in
  // docs/concepts. What follows has no meaning.
  if (row.is_split()) undefined_ = true;
  if (row.prev != kNoBlock) blocks_[row.prev].next = kNoBlock;
  if (row.next != kNoBlock) blocks_[row.next].prev = kNoBlock;
  blocks_.remove(block);
}

// Note [Garbage collection]
//
// Armed only when a memory limit is in force. When more than threshold x limit is held, whole free segments of the
// default large pool that are at least as old as the average go back, pass by pass, until enough is reclaimed or
// nothing moves. Age is counted in searches of the pool, not in time. A pass does not stop when the target is met.
void CachingAllocator::collect_garbage() {
  const auto threshold = static_cast<Bytes>(settings_.garbage_collection_threshold * static_cast<double>(*limit_));
  if (total_ <= threshold) return;
  const Bytes target = total_ - threshold;
  const Pool& pool = pools_[owners_[kDefaultOwner].large];
  const auto age = [&](BlockIndex block) { return static_cast<double>(pool.searches - blocks_[block].free_since); };

  std::vector<BlockIndex> whole;
  double total_age = 0;
  for (const BlockIndex block : free_blocks_of(pool)) {
    if (blocks_[block].is_split()) continue;
    whole.push_back(block);
    total_age += age(block);
  }
  auto count = whole.size();  // expandable blocks count, but are never released here
  Bytes reclaimed = 0;
  bool released = true;
  while (reclaimed < target && released && count > 0) {
    const double average = total_age / static_cast<double>(count);
    released = false;
    std::vector<BlockIndex> kept;
    for (const BlockIndex block : whole) {
      if (blocks_[block].is_expandable() || age(block) < average) {
        kept.push_back(block);
        continue;
      }
      released = true;
      reclaimed += blocks_[block].size;
      total_age -= age(block);
      --count;
      release_segment(block);
    }
    whole = std::move(kept);
  }
}

// Before a retry with max_split_size: one oversize block that is large enough, else the largest ones until they add up.
// PyTorch does not look whether they are whole segments.
bool CachingAllocator::release_available(const Request& request) {
  if (settings_.max_split_size == kUnlimited) return false;
  const Bytes wanted = std::max(request.size, settings_.max_split_size);
  const FreeIndex& free = lanes_[request.lane].free;
  const auto skips = [&](BlockIndex block) {
    return rules_.release_skips_expandable && blocks_[block].is_expandable();
  };
  const BlockIndex found = free.first_at_least(wanted);
  if (found != kNoBlock && !skips(found)) {
    release_segment(found);
    return !failed_;
  }
  std::vector<BlockIndex> released;
  Bytes sum = 0;
  BlockIndex next = found == kNoBlock ? free.last() : free.last_before(found);
  while (next != kNoBlock && sum < wanted && blocks_[next].size >= settings_.max_split_size) {
    if (!skips(next)) {
      sum += blocks_[next].size;
      released.push_back(next);
    }
    next = free.last_before(next);
  }
  for (const BlockIndex block : released) {
    if (!failed_) release_segment(block);
  }
  return !failed_ && sum >= wanted;
}

void CachingAllocator::release_pool_blocks(std::uint32_t pool) {
  std::vector<BlockIndex> expandable;
  for (const BlockIndex block : free_blocks_of(pools_[pool])) {
    if (blocks_[block].is_expandable()) {
      expandable.push_back(block);
    } else if (!blocks_[block].is_split()) {
      release_segment(block);
    }
  }
  for (const BlockIndex block : expandable) unmap_block(block);
}

void CachingAllocator::release_all() {
  synchronize(kDefaultOwner, true);
  release_pool_blocks(owners_[kDefaultOwner].large);
  release_pool_blocks(owners_[kDefaultOwner].small);
  release_freeable_pools();
}

bool CachingAllocator::empty_cache() {
  if (!is_captured(false)) {
    release_all();
    return true;
  }
  if (rules_.captured_release_asserts) {
    ++statistics_.num_sync_all_streams;
    return false;
  }
  release_freeable_pools();
  return true;
}

}  // namespace gapless
