// Private pools: memory that only a CUDA graph or a MemPool may use, opened and closed by scopes.
#include <algorithm>

#include "allocator/caching_allocator.h"

namespace gapless {

OwnerIndex CachingAllocator::owner(std::pair<std::uint64_t, std::uint64_t> id) {
  for (OwnerIndex index = 0; index < owners_.size(); ++index) {
    if (owners_[index].exists && owners_[index].id == id) return index;
  }
  const auto index = static_cast<OwnerIndex>(owners_.size());
  PoolOwner added;
  added.id = id;
  added.small = static_cast<std::uint32_t>(pools_.size());
  added.large = added.small + 1;
  Pool small;
  small.is_small = true;
  small.owner = index;
  Pool large;
  large.owner = index;
  pools_.push_back(std::move(small));
  pools_.push_back(std::move(large));
  owners_.push_back(added);
  return index;
}

std::vector<OwnerIndex> CachingAllocator::freeable_owners() const {
  std::vector<OwnerIndex> freeable;
  for (OwnerIndex index = 1; index < owners_.size(); ++index) {
    if (owners_[index].exists && owners_[index].is_freeable) freeable.push_back(index);
  }
  return freeable;
}

void CachingAllocator::forget_pool(OwnerIndex owner) { owners_[owner].exists = false; }

bool CachingAllocator::create_pool(OwnerIndex index) {
  PoolOwner& pool = owners_[index];
  if (pool.is_freeable) return false;
  ++pool.use_count;
  return true;
}

bool CachingAllocator::begin_scope(OwnerIndex index) {
  if (!create_pool(index)) return false;
  scopes_.push_back(index);
  return true;
}

bool CachingAllocator::end_scope(OwnerIndex index) {
  const auto found = std::find(scopes_.begin(), scopes_.end(), index);
  if (found == scopes_.end()) return false;
  scopes_.erase(found);
  return true;
}

bool CachingAllocator::release_pool(OwnerIndex index) {
  PoolOwner& pool = owners_[index];
  if (pool.use_count <= 0) return false;
  if (--pool.use_count == 0) pool.is_freeable = true;
  return true;
}

bool CachingAllocator::empty_pool(OwnerIndex index) {
  release_freeable_pools(index, false);
  return true;
}

void CachingAllocator::set_use_on_oom(OwnerIndex index) { owners_[index].use_on_oom = true; }

void CachingAllocator::set_no_split(OwnerIndex index) { owners_[index].no_split = true; }

// Looks for a free block in the pools that lend to failing requests of the default pools; a hit stays theirs.
BlockIndex CachingAllocator::search_overflow(Request& request) {
  const Lane& lane = lanes_[request.lane];
  const bool is_small = pools_[lane.pool].is_small;
  const StreamIndex stream = lane.stream;
  if (pools_[lane.pool].owner != kDefaultOwner) return kNoBlock;
  for (OwnerIndex index = 1; index < owners_.size(); ++index) {
    if (!owners_[index].exists || !owners_[index].use_on_oom) continue;
    const std::uint32_t other = lane_of(is_small ? owners_[index].small : owners_[index].large, stream);
    const BlockIndex found = search(other, request.size);
    if (found == kNoBlock) continue;
    request.lane = other;
    return found;
  }
  return kNoBlock;
}

}  // namespace gapless
