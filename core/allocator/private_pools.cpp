// Private pools: memory that only a CUDA graph or a MemPool may use, opened and closed by scopes.
#include <algorithm>

#include "allocator/caching_allocator.h"
#include "base/check.h"

namespace gapless {

OwnerIndex CachingAllocator::owner(std::pair<std::uint64_t, std::uint64_t> id) {
  const auto [found, is_new] = owner_by_id_.try_emplace(id, static_cast<OwnerIndex>(owners_.size()));
  if (!is_new) return found->second;
  PoolOwner added;
  added.id = id;
  added.small = static_cast<std::uint32_t>(pools_.size());
  added.large = added.small + 1;
  for (const bool is_small : {true, false}) {
    Pool pool;
    pool.is_small = is_small;
    pool.owner = found->second;
    pools_.push_back(std::move(pool));
  }
  owners_.push_back(added);
  return found->second;
}

bool CachingAllocator::create_pool(OwnerIndex index) {
  PoolOwner& pool = owners_[index];
  if (pool.is_freeable()) return false;
  pool.exists = true;
  ++pool.use_count;
  return true;
}

bool CachingAllocator::begin_scope(OwnerIndex index, StreamIndex stream) {
  if (!create_pool(index)) return false;
  const bool is_open = std::any_of(scopes_.begin(), scopes_.end(), [&](const Scope& scope) {
    return rules_.scope_is_of_one_stream ? scope.stream == stream : scope.owner == index;
  });
  if (is_open) return false;  // the pool stays in use all the same
  scopes_.push_back({index, stream});
  return true;
}

bool CachingAllocator::end_scope(OwnerIndex index) {
  const auto found = std::find_if(scopes_.begin(), scopes_.end(), [&](const Scope& scope) {
    return rules_.scope_is_of_one_stream ? scope.stream == 0 : scope.owner == index;
  });
  if (found == scopes_.end()) return false;
  scopes_.erase(found);
  return true;
}

bool CachingAllocator::release_pool(OwnerIndex index) {
  PoolOwner& pool = owners_[index];
  if (!pool.exists) return false;
  if (--pool.use_count == 0) {
    freeable_.insert(pool.hash(), index);
    if (rules_.release_ends_no_split) pool.no_split = false;
  }
  return pool.use_count >= 0;
}

void CachingAllocator::let_go(OwnerIndex index) {
  if (owners_[index].is_freeable()) freeable_.insert(owners_[index].hash(), index);
}

bool CachingAllocator::empty_pool(OwnerIndex index) {
  if (!owners_[index].is_freeable()) return true;
  if (is_captured(false)) {
    ++statistics_.num_sync_all_streams;
    return false;
  }
  synchronize(index, false);
  release_private_pool(index);
  return true;
}

// Gives back what a freeable pool has; true when the pool is gone with it.
bool CachingAllocator::release_private_pool(OwnerIndex index) {
  release_pool_blocks(owners_[index].small);
  if (!undefined_) release_pool_blocks(owners_[index].large);
  PoolOwner& pool = owners_[index];
  if (undefined_ || pool.device_allocations != 0) return false;
  // PyTorch's count can reach zero while blocks are left (expandable segments); it then deletes the pool below them.
  if (holds_blocks(pool)) undefined_ = true;
  pool.exists = false;
  freeable_.erase(pool.hash(), index);
  return true;
}

bool CachingAllocator::holds_blocks(const PoolOwner& owner) const {
  for (BlockIndex block = 0; block < blocks_.count(); ++block) {
    if (blocks_[block].size == 0) continue;
    const std::uint32_t pool = lanes_[blocks_[block].lane].pool;
    if (pool == owner.small || pool == owner.large) return true;
  }
  return false;
}

void CachingAllocator::release_freeable_pools() {
  for (std::size_t slot = 0; slot < freeable_.slot_count() && !undefined_;) {
    const auto index = freeable_.at(slot);
    if (!index || !release_private_pool(*index)) ++slot;
  }
}

void CachingAllocator::set_use_on_oom(OwnerIndex index) { use_on_oom_.insert(owners_[index].hash(), index); }

void CachingAllocator::set_no_split(OwnerIndex index) { owners_[index].no_split = true; }

// Whether a capture is under way as far as PyTorch looks: no events are polled, and nothing is released.
bool CachingAllocator::is_captured(bool scoped) const {
  return rules_.scope_is_capture ? scoped || !scopes_.empty() : capturing_;
}

// The scope that takes a request on `stream`, if any.
const Scope* CachingAllocator::scope_for(StreamIndex stream) const {
  const Scope* chosen = nullptr;
  for (const Scope& scope : scopes_) {
    if (rules_.scope_is_of_one_stream && scope.stream != stream) continue;
    if (chosen == nullptr || rules_.innermost_scope_wins) chosen = &scope;
  }
  return chosen;
}

// Looks for a free block in the pools that lend to failing requests of the default pools; a hit stays theirs.
BlockIndex CachingAllocator::search_overflow(Request& request) {
  const Lane& lane = lanes_[request.lane];
  const bool is_small = pools_[lane.pool].is_small;
  const StreamIndex stream = lane.stream;
  if (pools_[lane.pool].owner != kDefaultOwner) return kNoBlock;
  const bool expandable = request.expandable && !rules_.overflow_ignores_expandable;
  for (std::size_t slot = 0; slot < use_on_oom_.slot_count(); ++slot) {
    const auto index = use_on_oom_.at(slot);
    if (!index) continue;
    if (!create_pool(*index)) {
      failed_ = true;
      return kNoBlock;
    }
    const std::uint32_t other = lane_of(is_small ? owners_[*index].small : owners_[*index].large, stream);
    const BlockIndex found = search(other, request.size, expandable);
    release_pool(*index);
    if (found == kNoBlock) continue;
    request.lane = other;
    request.expandable = expandable;
    return found;
  }
  return kNoBlock;
}

}  // namespace gapless
