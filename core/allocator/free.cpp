// One free: the block joins its free neighbours, at once or when the streams that use it are done.
#include <algorithm>
#include <utility>

#include "allocator/caching_allocator.h"
#include "base/check.h"

namespace gapless {

// The program lets go: from here on the bytes are active, no longer allocated.
void CachingAllocator::request_free(BlockIndex block) {
  BlockRow& row = blocks_[block];
  GAPLESS_CHECK(row.allocated);
  row.allocated = false;
  const Lane& lane = lanes_[row.lane];
  const bool is_small = pools_[lane.pool].is_small;
  log(Action::kFreeRequested, row.address, row.requested, lane);
  statistics_.allocation.decrease(is_small, 1);
  statistics_.allocated_bytes.decrease(is_small, static_cast<std::int64_t>(row.size));
  if (row.size >= settings_.max_split_size) statistics_.oversize_allocations.decrease(1);
}

void CachingAllocator::free(BlockIndex block) {
  request_free(block);
  if (!blocks_[block].has_uses) {
    free_block(block);
    return;
  }
  if (is_captured(false)) {
    captured_frees_.push_back(block);
    return;
  }
  const std::vector<StreamIndex> streams = std::move(uses_[block]);
  uses_.erase(block);
  queue_events(block, streams);
}

// PyTorch's hash of a stream. Streams of its own pool have ids that no recording tells; only handles are known here.
std::uint64_t CachingAllocator::hash_of(StreamIndex stream) const {
  constexpr std::uint64_t kCudaDevice = std::uint64_t{1} << 56;
  constexpr std::uint64_t kHandleMask = (std::uint64_t{1} << 48) - 1;
  const auto known = handles_.find(stream);
  return kCudaDevice | ((known == handles_.end() ? stream : known->second) & kHandleMask);
}

void CachingAllocator::queue_events(BlockIndex block, const std::vector<StreamIndex>& streams) {
  blocks_[block].has_uses = false;
  FlatHashOrder order;
  for (const StreamIndex stream : streams) order.insert(hash_of(stream), stream);
  for (std::size_t slot = 0; slot < order.slot_count(); ++slot) {
    const auto stream = order.at(slot);
    if (!stream) continue;
    ++blocks_[block].events;
    queue_order_.insert(hash_of(*stream), *stream);
    queues_[*stream].push_back(block);
  }
}

// After a capture, what was freed during it waits for its side streams; where only the capture used them, for nothing.
void CachingAllocator::queue_captured_frees() {
  const std::vector<BlockIndex> freed = std::move(captured_frees_);
  captured_frees_.clear();
  for (const BlockIndex block : freed) {
    std::vector<StreamIndex> streams = std::move(uses_[block]);
    uses_.erase(block);
    if (const auto captured = capture_uses_.find(block);
        rules_.capture_uses_need_no_event && captured != capture_uses_.end()) {
      std::erase_if(streams, [&](StreamIndex stream) {
        return std::find(captured->second.begin(), captured->second.end(), stream) != captured->second.end();
      });
      capture_uses_.erase(captured);
    }
    queue_events(block, streams);
    if (streams.empty()) free_block(block);
  }
}

void CachingAllocator::free_deferred(BlockIndex block) {
  request_free(block);
  wait_for_completion(block);
}

void CachingAllocator::wait_for_completion(BlockIndex block) {
  blocks_[block].events = 1;
  deferred_.emplace(deferred_count_, block);
  deferred_at_.emplace(block, deferred_count_++);
}

void CachingAllocator::complete(BlockIndex block) {
  const auto found = deferred_at_.find(block);
  GAPLESS_CHECK(found != deferred_at_.end());
  deferred_.erase(found->second);
  deferred_at_.erase(found);
  blocks_[block].events = 0;
  free_block(block);
}

void CachingAllocator::record_stream(BlockIndex block, StreamIndex stream) {
  if (stream == stream_of(block)) return;
  std::vector<StreamIndex>& uses = uses_[block];
  if (std::find(uses.begin(), uses.end(), stream) == uses.end()) uses.push_back(stream);
  if (is_captured(false)) capture_uses_[block].push_back(stream);
  blocks_[block].has_uses = true;
}

void CachingAllocator::free_block(BlockIndex block) {
  BlockRow& row = blocks_[block];
  const Lane& lane = lanes_[row.lane];
  const bool is_small = pools_[lane.pool].is_small;
  const auto size = static_cast<std::int64_t>(row.size);
  const auto requested = static_cast<std::int64_t>(row.requested);
  log(Action::kFreeCompleted, row.address, row.requested, lane);
  std::int64_t split_count = 0;
  std::int64_t split_bytes = 0;
  for (const BlockIndex neighbour : {row.prev, row.next}) {
    const Bytes merged = merge(block, neighbour);
    split_count -= merged > 0 ? 1 : 0;
    split_bytes -= static_cast<std::int64_t>(merged);
  }
  insert_free(block);
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

// Takes the completed events of `concerned` blocks out of the queues, stream by stream in the order of PyTorch's table.
template <typename Concerned>
void CachingAllocator::drain_queues(Concerned concerned) {
  for (std::size_t slot = 0; slot < queue_order_.slot_count();) {
    const auto stream = queue_order_.at(slot);
    if (!stream) {
      ++slot;
      continue;
    }
    std::deque<BlockIndex> left;
    for (const BlockIndex block : queues_[*stream]) {
      if (!concerned(block)) {
        left.push_back(block);
      } else if (--blocks_[block].events == 0) {
        free_block(block);
      }
    }
    if (left.empty()) {
      queues_.erase(*stream);
      queue_order_.erase(hash_of(*stream), *stream);  // another may have moved into this slot
    } else {
      queues_[*stream] = std::move(left);
      ++slot;
    }
  }
}

void CachingAllocator::poll_events() {
  if (!captured_frees_.empty()) queue_captured_frees();
  if (queues_.empty() || !events_ready_) return;
  drain_queues([](BlockIndex) { return true; });
}

// Waits for every side stream and frees what waited.
void CachingAllocator::synchronize(OwnerIndex only, bool all) {
  ++statistics_.num_sync_all_streams;
  queue_captured_frees();
  const auto concerned = [&](BlockIndex block) { return all || pool_of(blocks_[block]).owner == only; };
  drain_queues(concerned);
  if (deferred_.empty()) return;
  std::vector<BlockIndex> completed;
  for (const auto& [order, block] : deferred_) {
    if (concerned(block)) completed.push_back(block);
  }
  if (hook_ != nullptr) hook_->on_synchronize(completed);
  for (const BlockIndex block : completed) complete(block);
}

}  // namespace gapless
