// One malloc and one free: search, split, merge, and the order in which a failing request is rescued.
#include <algorithm>
#include <cmath>

#include "allocator/caching_allocator.h"
#include "base/check.h"

namespace gapless {

CachingAllocator::CachingAllocator(Release release, Device& device)
    : rules_(ReleaseRules::of(release)), device_(device) {
  owner({0, 0});
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
  if (scopes_.empty()) return serve(requested, stream, kDefaultOwner, false);
  return serve(requested, stream, rules_.innermost_scope_wins ? scopes_.back() : scopes_.front(), true);
}

Placement CachingAllocator::malloc_in(Bytes requested, StreamIndex stream, OwnerIndex owner) {
  return serve(requested, stream, owner, owner != kDefaultOwner);
}

Placement CachingAllocator::serve(Bytes requested, StreamIndex stream, OwnerIndex owner, bool scoped) {
  GAPLESS_CHECK(requested > 0 && requested < kMaxRequest);
  failed_ = false;
  if (!queues_.empty() && !capturing_ && !(scoped && rules_.scope_defers_events)) poll_events();
  const Bytes size = block_size(requested, settings_, rules_);
  const std::uint32_t pool = size <= kSmallRequest ? owners_[owner].small : owners_[owner].large;
  Request request{requested, size, segment_size(size, settings_), lane_of(pool, stream), scoped};

  BlockIndex found = search(request.lane, size);
  if (found == kNoBlock) {
    if (gc_armed()) collect_garbage();
    const bool may_reject = rules_.has_preemptive_rejection && settings_.throw_on_cudamalloc_oom;
    if (may_reject) {
      const double allowed = settings_.per_process_memory_fraction * static_cast<double>(device_.total_bytes());
      const bool within_limit = !limit_ || total_ + request.segment_bytes <= *limit_;
      if (within_limit && total_ + request.segment_bytes > static_cast<Bytes>(allowed)) {
        ++statistics_.num_oom_rejections;
        return {kNoBlock, Outcome::kRejected};
      }
    }
    found = ask_device(request, false);
  }
  if (found == kNoBlock && rules_.overflow_pools == OverflowPools::kBeforeReleasing) found = search_overflow(request);
  if (found == kNoBlock && release_available(request)) found = ask_device(request, false);
  if (found == kNoBlock && !failed_ && release_all(scoped)) found = ask_device(request, true);
  if (found == kNoBlock && !failed_ && rules_.overflow_pools == OverflowPools::kLastResort) {
    found = search_overflow(request);
  }
  if (failed_) return {kNoBlock, Outcome::kFailed};
  return found == kNoBlock ? fail(request) : hand_out(found, request);
}

Placement CachingAllocator::fail(const Request& request) {
  log(Action::kOom, device_.free_bytes(), request.size, lanes_[request.lane]);
  ++statistics_.num_ooms;
  return {kNoBlock, Outcome::kOutOfMemory};
}

// Best fit within the lane, and the rules that refuse the one candidate.
BlockIndex CachingAllocator::search(std::uint32_t lane_index, Bytes size) {
  Lane& lane = lanes_[lane_index];
  if (gc_armed()) ++pools_[lane.pool].searches;
  const FreeEntry* found = lane.free.first_at_least(size);
  if (found != nullptr && blocks_[found->block].is_expandable()) {
    found = settings_.expandable_segments ? least_growable(lane, found) : first_ordinary(lane, found);
  }
  if (found == nullptr) return kNoBlock;
  const bool oversize_request = size >= settings_.max_split_size;
  if (!oversize_request && found->size >= settings_.max_split_size) return kNoBlock;
  if (oversize_request && found->size >= size + settings_.max_non_split_rounding) return kNoBlock;
  const BlockIndex block = found->block;
  lane.free.erase(FreeEntry(*found));
  return block;
}

// A block that can still grow counts as large as it can get, so that the tail of a segment is used last.
const FreeEntry* CachingAllocator::least_growable(const Lane& lane, const FreeEntry* found) const {
  const auto room = [this](BlockIndex block) {
    const BlockRow& row = blocks_[block];
    return row.next != kNoBlock && !blocks_[row.next].mapped ? row.size + blocks_[row.next].size : row.size;
  };
  const FreeEntry* next = lane.free.next_after(*found);
  while (next != nullptr && blocks_[found->block].is_expandable() && room(next->block) < room(found->block)) {
    found = next;
    next = lane.free.next_after(*found);
  }
  return found;
}

const FreeEntry* CachingAllocator::first_ordinary(const Lane& lane, const FreeEntry* found) const {
  while (found != nullptr && blocks_[found->block].is_expandable()) found = lane.free.next_after(*found);
  return found;
}

// Asks the device for what serves the request; the answer is not in the free index.
BlockIndex CachingAllocator::ask_device(const Request& request, bool is_retry) {
  if (is_retry) ++statistics_.num_alloc_retries;
  if (limit_ && total_ + request.segment_bytes > *limit_) return kNoBlock;
  const Lane& lane = lanes_[request.lane];
  const Pool& pool = pools_[lane.pool];
  PoolOwner& owner = owners_[pool.owner];
  if (settings_.expandable_segments && (pool.owner == kDefaultOwner || rules_.private_pools_expandable)) {
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
  statistics_.reserved_bytes.increase(pool.is_small, bytes);
  if (request.segment_bytes >= settings_.max_split_size) statistics_.oversize_segments.increase(1);
  ++statistics_.num_device_alloc;
  log(Action::kSegmentAlloc, row.address, row.size, lane);
  return blocks_.add(row);
}

bool CachingAllocator::splits(const Request& request, Bytes rest) const {
  const Pool& pool = pools_[lanes_[request.lane].pool];
  if (owners_[pool.owner].no_split) return false;
  if (pool.is_small || settings_.expandable_segments) return rest >= kMinBlock;
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

void CachingAllocator::free(BlockIndex block) {
  free_deferred(block);
  deferred_.pop_back();
  BlockRow& row = blocks_[block];
  row.events = 0;
  if (!row.has_uses) {
    free_block(block);
    return;
  }
  row.has_uses = false;
  for (const StreamIndex stream : uses_[block]) {
    ++row.events;
    auto queue = std::find_if(queues_.begin(), queues_.end(), [stream](auto& q) { return q.stream == stream; });
    if (queue == queues_.end()) queue = queues_.insert(queue, StreamQueue{stream, {}});
    queue->waiting.push_back(block);
  }
  uses_.erase(block);
}

void CachingAllocator::free_deferred(BlockIndex block) {
  BlockRow& row = blocks_[block];
  GAPLESS_CHECK(row.allocated);
  row.allocated = false;
  row.events = 1;
  deferred_.push_back(block);
  const bool is_small = pool_of(row).is_small;
  log(Action::kFreeRequested, row.address, row.requested, lanes_[row.lane]);
  statistics_.allocation.decrease(is_small, 1);
  statistics_.allocated_bytes.decrease(is_small, static_cast<std::int64_t>(row.size));
  if (row.size >= settings_.max_split_size) statistics_.oversize_allocations.decrease(1);
}

void CachingAllocator::complete(BlockIndex block) {
  const auto found = std::find(deferred_.begin(), deferred_.end(), block);
  GAPLESS_CHECK(found != deferred_.end());
  deferred_.erase(found);
  blocks_[block].events = 0;
  free_block(block);
}

void CachingAllocator::record_stream(BlockIndex block, StreamIndex stream) {
  if (stream == stream_of(block)) return;
  std::vector<StreamIndex>& uses = uses_[block];
  if (std::find(uses.begin(), uses.end(), stream) == uses.end()) uses.push_back(stream);
  blocks_[block].has_uses = true;
}

void CachingAllocator::free_block(BlockIndex block) {
  const bool is_small = pool_of(blocks_[block]).is_small;
  const auto size = static_cast<std::int64_t>(blocks_[block].size);
  const auto requested = static_cast<std::int64_t>(blocks_[block].requested);
  log(Action::kFreeCompleted, blocks_[block].address, blocks_[block].requested, lanes_[blocks_[block].lane]);
  std::int64_t split_count = 0;
  std::int64_t split_bytes = 0;
  for (const BlockIndex neighbour : {blocks_[block].prev, blocks_[block].next}) {
    const Bytes merged = merge(block, neighbour);
    split_count -= merged > 0 ? 1 : 0;
    split_bytes -= static_cast<std::int64_t>(merged);
  }
  insert_free(block);
  const BlockRow& row = blocks_[block];
  if (row.is_split()) {
    split_count += 1;
    split_bytes += static_cast<std::int64_t>(row.size);
  }
  if (!row.is_expandable()) {
    statistics_.inactive_split.change(is_small, split_count);
    statistics_.inactive_split_bytes.change(is_small, split_bytes);
  }
  statistics_.active.decrease(is_small, 1);
  statistics_.active_bytes.decrease(is_small, size);
  statistics_.requested_bytes.decrease(is_small, requested);
}

// `into` takes over its neighbour when both are free and both have memory, or both have none. Returns the bytes gained.
Bytes CachingAllocator::merge(BlockIndex into, BlockIndex neighbour) {
  if (neighbour == kNoBlock) return 0;
  BlockRow& target = blocks_[into];
  const BlockRow& source = blocks_[neighbour];
  if (!source.is_free() || source.mapped != target.mapped) return 0;
  if (source.mapped) {
    erase_free(neighbour);
  } else {
    lanes_[source.lane].unmapped.erase(source.address);
  }
  if (target.prev == neighbour) {
    target.address = source.address;
    target.prev = source.prev;
    if (target.prev != kNoBlock) blocks_[target.prev].next = into;
  } else {
    target.next = source.next;
    if (target.next != kNoBlock) blocks_[target.next].prev = into;
  }
  const Bytes gained = source.size;
  target.size += gained;
  blocks_.remove(neighbour);
  return gained;
}

void CachingAllocator::drain_queue(StreamQueue& queue) {
  while (!queue.waiting.empty()) {
    const BlockIndex block = queue.waiting.front();
    queue.waiting.pop_front();
    if (--blocks_[block].events == 0) free_block(block);
  }
}

void CachingAllocator::poll_events() {
  if (!events_ready_) return;
  for (StreamQueue& queue : queues_) drain_queue(queue);
  queues_.clear();
}

}  // namespace gapless
