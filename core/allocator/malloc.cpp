// One malloc: search, split, and the order in which a failing request is rescued.
#include <algorithm>
#include <cmath>

#include "allocator/caching_allocator.h"
#include "base/check.h"

namespace gapless {

CachingAllocator::CachingAllocator(Release release, Device& device)
    : rules_(ReleaseRules::of(release)), device_(device) {
  owners_[owner({0, 0})].exists = true;
}

void CachingAllocator::configure(const AllocatorSettings& settings) { settings_ = settings; }

void CachingAllocator::set_memory_fraction(double fraction) {
  if (fraction >= 1.0 && rules_.full_fraction_is_no_limit) {
    limit_.reset();
    return;
  }
  const double bytes = fraction * static_cast<double>(device_.total_bytes());
  limit_ = static_cast<Bytes>(rules_.limit_is_rounded ? std::round(bytes) : std::trunc(bytes));
}

Placement CachingAllocator::malloc(Bytes requested, StreamIndex stream) {
  const Scope* scope = scope_for(stream);
  return serve(requested, stream, scope == nullptr ? kDefaultOwner : scope->owner, is_captured(false));
}

Placement CachingAllocator::malloc_in(Bytes requested, StreamIndex stream, OwnerIndex owner) {
  owners_[owner].exists = true;
  return serve(requested, stream, owner, is_captured(owner != kDefaultOwner));
}

Placement CachingAllocator::serve(Bytes requested, StreamIndex stream, OwnerIndex owner, bool captured) {
  GAPLESS_CHECK(requested > 0 && requested < kMaxRequest);
  failed_ = false;
  if (!captured) poll_events();
  if (!owners_[owner].exists) return {kNoBlock, Outcome::kFailed};
  const Bytes size = block_size(requested, settings_, rules_);
  const std::uint32_t pool = size <= kSmallRequest ? owners_[owner].small : owners_[owner].large;
  Request request{.requested = requested,
                  .size = size,
                  .segment_bytes = segment_size(size, settings_),
                  .lane = lane_of(pool, stream),
                  .captured = captured,
                  .expandable = settings_.expandable_segments};
  const BlockIndex found = search(request.lane, size, request.expandable);
  if (found != kNoBlock) return hand_out(found, request);
  if (gc_armed()) collect_garbage();
  if (is_rejected(request)) {
    ++statistics_.num_oom_rejections;
    return {kNoBlock, Outcome::kRejected};
  }
  const BlockIndex made = rescue(request);
  if (failed_) return {kNoBlock, Outcome::kFailed};
  return made == kNoBlock ? fail(request) : hand_out(made, request);
}

// Nothing cached serves: the device, then what can be given back, then the device again.
BlockIndex CachingAllocator::rescue(Request& request) {
  BlockIndex found = ask_device(request, false);
  if (found == kNoBlock && rules_.overflow_pools == OverflowPools::kBeforeReleasing) found = search_overflow(request);
  if (found == kNoBlock && !failed_ && release_available(request)) found = ask_device(request, false);
  if (found == kNoBlock && !failed_ && !request.captured) {
    release_all();
    if (!failed_) found = ask_device(request, true);
  }
  if (found == kNoBlock && !failed_ && rules_.overflow_pools == OverflowPools::kLastResort) {
    found = search_overflow(request);
  }
  return found;
}

// throw_on_cudamalloc_oom: refused before anything is tried, when the configured fraction would be exceeded.
bool CachingAllocator::is_rejected(const Request& request) const {
  if (!rules_.has_preemptive_rejection || !settings_.throw_on_cudamalloc_oom) return false;
  const Bytes wanted = total_ + request.segment_bytes;
  if (limit_ && wanted > *limit_) return false;  // fails by the limit, with the usual rescue
  const double allowed = settings_.per_process_memory_fraction * static_cast<double>(device_.total_bytes());
  return wanted > static_cast<Bytes>(allowed);
}

Placement CachingAllocator::fail(const Request& request) {
  log(Action::kOom, device_.free_bytes(), request.size, lanes_[request.lane]);
  ++statistics_.num_ooms;
  return {kNoBlock, Outcome::kOutOfMemory};
}

// Best fit within the lane, and the rules that refuse the one candidate.
BlockIndex CachingAllocator::find_free(const Lane& lane, Bytes size, bool expandable) const {
  BlockIndex found = lane.free.first_at_least(size);
  if (found != kNoBlock && blocks_[found].is_expandable()) {
    found = expandable ? least_growable(lane, found) : first_ordinary(lane, found);
  }
  if (found == kNoBlock) return kNoBlock;
  const Bytes held = blocks_[found].size;
  const bool oversize_request = size >= settings_.max_split_size;
  if (!oversize_request && held >= settings_.max_split_size) return kNoBlock;
  if (oversize_request && held >= size + settings_.max_non_split_rounding) return kNoBlock;
  return found;
}

BlockIndex CachingAllocator::search(std::uint32_t lane_index, Bytes size, bool expandable) {
  Lane& lane = lanes_[lane_index];
  if (gc_armed()) ++pools_[lane.pool].searches;
  const BlockIndex found = find_free(lane, size, expandable);
  if (found != kNoBlock) lane.free.erase(found);
  return found;
}

bool CachingAllocator::would_hit(Bytes requested, StreamIndex stream, OwnerIndex owner) {
  const Bytes size = block_size(requested, settings_, rules_);
  const std::uint32_t pool = size <= kSmallRequest ? owners_[owner].small : owners_[owner].large;
  return find_free(lanes_[lane_of(pool, stream)], size, settings_.expandable_segments) != kNoBlock;
}

// A block that can still grow counts as large as it can get, so that the tail of a segment is used last.
BlockIndex CachingAllocator::least_growable(const Lane& lane, BlockIndex found) const {
  const auto room = [this](BlockIndex block) {
    const BlockRow& row = blocks_[block];
    return row.next != kNoBlock && !blocks_[row.next].mapped ? row.size + blocks_[row.next].size : row.size;
  };
  BlockIndex next = lane.free.next_after(found);
  while (next != kNoBlock && blocks_[found].is_expandable() && room(next) < room(found)) {
    found = next;
    next = lane.free.next_after(found);
  }
  return found;
}

BlockIndex CachingAllocator::first_ordinary(const Lane& lane, BlockIndex found) const {
  while (found != kNoBlock && blocks_[found].is_expandable()) found = lane.free.next_after(found);
  return found;
}

// Asks the device for what serves the request; the answer is not in the free index.
BlockIndex CachingAllocator::ask_device(const Request& request, bool is_retry) {
  if (is_retry) ++statistics_.num_alloc_retries;
  if (limit_ && total_ + request.segment_bytes > *limit_) return kNoBlock;
  const Lane& lane = lanes_[request.lane];
  const Pool& pool = pools_[lane.pool];
  PoolOwner& owner = owners_[pool.owner];
  if (request.expandable && (pool.owner == kDefaultOwner || rules_.private_pools_expandable)) {
    const BlockIndex grown = grow(request);
    if (grown != kNoBlock && pool.owner != kDefaultOwner) ++owner.device_allocations;
    return grown;
  }
  const std::optional<Address> address = device_.allocate(request.segment_bytes);
  if (!address) return kNoBlock;
  if (pool.owner != kDefaultOwner) ++owner.device_allocations;
  total_ += request.segment_bytes;
  BlockRow row;
  row.address = *address;
  row.size = request.segment_bytes;
  row.lane = request.lane;
  number_new_segment(row);
  const auto bytes = static_cast<std::int64_t>(request.segment_bytes);
  statistics_.segment.increase(pool.is_small, 1);
  count_reserved(pool, bytes);
  if (request.segment_bytes >= settings_.max_split_size) statistics_.oversize_segments.increase(1);
  ++statistics_.num_device_alloc;
  log(Action::kSegmentAlloc, row.address, row.size, lane);
  return blocks_.add(row);
}

bool CachingAllocator::splits(const Request& request, Bytes rest) const {
  const Pool& pool = pools_[lanes_[request.lane].pool];
  if (owners_[pool.owner].no_split) return false;
  if (pool.is_small || request.expandable) return rest >= kMinBlock;
  return request.size < settings_.max_split_size && rest > kSmallRequest;
}

// The low end of `whole` becomes the allocation; the rest keeps its row and goes back to the free index.
BlockIndex CachingAllocator::split(BlockIndex whole, const Request& request) {
  const bool was_split = blocks_[whole].is_split();
  BlockRow row;
  row.address = blocks_[whole].address;
  row.size = request.size;
  row.lane = blocks_[whole].lane;
  row.reservation = blocks_[whole].reservation;
  number_new_block(row, blocks_[whole]);
  const BlockIndex taken = blocks_.add(row);
  blocks_.link_before(taken, whole);
  BlockRow& rest = blocks_[whole];
  rest.address += request.size;
  rest.size -= request.size;
  insert_free(whole);
  if (!rest.is_expandable()) {
    const bool is_small = pool_of(rest).is_small;
    if (was_split) {
      statistics_.inactive_split_bytes.decrease(is_small, static_cast<std::int64_t>(request.size));
    } else {
      statistics_.inactive_split_bytes.increase(is_small, static_cast<std::int64_t>(rest.size));
      statistics_.inactive_split.increase(is_small, 1);
    }
  }
  return taken;
}

Placement CachingAllocator::hand_out(BlockIndex found, const Request& request) {
  const bool is_small = pool_of(blocks_[found]).is_small;
  if (splits(request, blocks_[found].size - request.size)) {
    found = split(found, request);
  } else if (blocks_[found].is_split() && !blocks_[found].is_expandable()) {
    statistics_.inactive_split_bytes.decrease(is_small, static_cast<std::int64_t>(blocks_[found].size));
    statistics_.inactive_split.decrease(is_small, 1);
  }
  BlockRow& row = blocks_[found];
  row.allocated = true;
  row.requested = request.requested;
  log(Action::kAlloc, row.address, request.requested, lanes_[row.lane]);
  const auto size = static_cast<std::int64_t>(row.size);
  statistics_.allocation.increase(is_small, 1);
  statistics_.allocated_bytes.increase(is_small, size);
  statistics_.active.increase(is_small, 1);
  statistics_.active_bytes.increase(is_small, size);
  statistics_.requested_bytes.increase(is_small, static_cast<std::int64_t>(request.requested));
  if (row.size >= settings_.max_split_size) statistics_.oversize_allocations.increase(1);
  return {found, Outcome::kServed};
}

}  // namespace gapless
