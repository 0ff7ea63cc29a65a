#include "replay/what_if.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "replay/calls.h"
#include "replay/held_memory.h"
#include "replay/start.h"

namespace gapless {
namespace {

class Run {
 public:
  Run(const Trace& trace, const Program& program, const WhatIfOptions& options, const Edits& edits)
      : trace_(trace),
        program_(program),
        options_(options),
        edits_(edits),
        device_(options.total_bytes == 0 ? options.capacity_bytes : options.total_bytes, options.addresses),
        allocator_(options.release, device_),
        block_of_(trace.allocations.count(), kNoBlock) {
    device_.set_limit(options.capacity_bytes);
    introduce(trace, program, allocator_);
    allocator_.configure(options.settings);
    allocator_.set_limit(options.limit_bytes);
    list_early_frees();
  }

  ReplayResult run() {
    begin();
    for (std::size_t i = 0; i < program_.count() && !stopped_; ++i) {
      const std::uint32_t event = program_.event_begin[i];
      if (event >= next_interruption_) interrupt(event);
      perform(i);
      if (options_.keeps_timeline) note_timeline(program_.event_end[i] - 1);
      if (allocator_.undefined()) {
        result_.undefined = true;
        stopped_ = true;
      }
      result_.reached_event = program_.event_end[i];
    }
    if (!stopped_) {
      interrupt(kNever - 1);
      result_.reached_event = static_cast<std::uint32_t>(trace_.event_count());
    }
    result_.device_calls = device_.calls();
    result_.reserved_bytes_end = allocator_.reserved_bytes();
    return std::move(result_);
  }

 private:
  // ---- the start
  void begin() {
    if (options_.start == StartMode::kAsRecorded) {
      device_.adopt(start_reserved_bytes(trace_));
      const std::vector<BlockIndex> start = adopt_start(trace_, allocator_);
      std::copy(start.begin(), start.end(), block_of_.begin());
    } else {
      for (std::size_t row = 0; row < trace_.start.blocks.size(); ++row) {
        const AllocationId id = trace_.allocation_of_start_block[row];
        if (id == kNoAllocation) continue;
        allocate(id, trace_.allocations.requested[id], 0);
        const bool pending = trace_.start.blocks[row].state == BlockState::kPending;
        if (pending && block_of_[id] != kNoBlock) allocator_.free_deferred(block_of_[id]);
      }
    }
    note_peaks(0);
    find_next_interruption();
  }

  // ---- what happens between calls: edits, a switch of settings, the state that was asked for
  void list_early_frees() {
    for (AllocationId id = 0; id < edits_.free_before_event.size(); ++id) {
      if (edits_.free_before_event[id] != kNever) early_frees_.emplace_back(edits_.free_before_event[id], id);
    }
    std::sort(early_frees_.begin(), early_frees_.end());
  }

  void find_next_interruption() {
    next_interruption_ = switched_ ? kNever : options_.switch_before_event;
    if (!result_.state) next_interruption_ = std::min(next_interruption_, options_.state_before_event);
    if (next_early_free_ < early_frees_.size()) {
      next_interruption_ = std::min(next_interruption_, early_frees_[next_early_free_].first);
    }
  }

  void interrupt(std::uint32_t event) {
    while (next_early_free_ < early_frees_.size() && early_frees_[next_early_free_].first <= event) {
      const AllocationId id = early_frees_[next_early_free_++].second;
      if (is_allocated(id, allocator_, block_of_)) allocator_.free(block_of_[id]);
    }
    if (!switched_ && options_.switch_before_event <= event) {
      switched_ = true;
      allocator_.configure(options_.switched_settings);
    }
    if (!result_.state && options_.state_before_event <= event) keep_state();
    find_next_interruption();
  }

  // ---- the calls
  void perform(std::size_t i) {
    if (program_.call[i] != Call::kMalloc) return perform_call(program_, i, allocator_, block_of_);
    const AllocationId id = program_.allocation[i];
    const std::uint32_t event = program_.event_end[i] - 1;
    id == kNoAllocation ? repeat_failure(event) : allocate(id, trace_.allocations.requested[id], event);
    complete_what_waited(i);
  }

  // What completed while the recorded malloc failed at first: here the malloc may not have waited for it.
  void complete_what_waited(std::size_t i) {
    for (std::uint32_t event = program_.event_begin[i]; event + 1 < program_.event_end[i]; ++event) {
      if (trace_.events().action[event] != Action::kFreeCompleted) continue;
      complete_block_of(trace_.allocation_of_event[event], allocator_, block_of_);
    }
  }

  void allocate(AllocationId id, Bytes requested, std::uint32_t event) {
    if (!edits_.requested.empty()) requested = edits_.requested[id];
    if (requested == 0 || requested >= kMaxRequest) return;
    const Allocations& a = trace_.allocations;
    const Placement placed = request(requested, a.stream[id], a.pool[id], event, false);
    block_of_[id] = placed.block;
    if (placed.block == kNoBlock) ++result_.allocations_not_placed;
  }

  Bytes failed_request_bytes(Bytes recorded) const {
    if (options_.failed_request_factor == 1) return recorded;
    const double scaled = static_cast<double>(recorded) * options_.failed_request_factor;
    const double most = static_cast<double>(kMaxRequest / 2);
    return std::max(static_cast<Bytes>(std::min(scaled, most)), Bytes{1});
  }

  // A request that failed in the recording: the program went on without it.
  void repeat_failure(std::uint32_t event) {
    const Events& events = trace_.events();
    const Bytes recorded = events.size[event];
    if (recorded == 0 || recorded >= kMaxRequest) return;
    const Bytes size = failed_request_bytes(recorded);
    const Placement placed = request(size, events.stream[event], trace_.pool_of_event[event], event, true);
    if (placed.block == kNoBlock) return;
    result_.served_failures.push_back(event);
    allocator_.free(placed.block);
  }

  Placement request(Bytes bytes, StreamIndex stream, OwnerIndex pool, std::uint32_t event, bool was_recorded) {
    const std::int64_t retries = allocator_.statistics().num_alloc_retries;
    const Placement placed = allocator_.malloc_in(bytes, stream, pool);
    if (allocator_.statistics().num_alloc_retries > retries) result_.retry_events.push_back(event);
    if (placed.block == kNoBlock) {
      note_failure(bytes, stream, pool, event, was_recorded);
    } else {
      note_peaks(event);
      mix(allocator_.block(placed.block).size);
      mix(allocator_.block(placed.block).address);
    }
    return placed;
  }

  // ---- the result
  void note_failure(Bytes bytes, StreamIndex stream, OwnerIndex pool, std::uint32_t event, bool was_recorded) {
    const Bytes size = block_size(bytes, options_.settings, ReleaseRules::of(options_.release));
    const FreeIndex* free = allocator_.free_blocks(pool, size <= kSmallRequest, stream);
    const BlockIndex largest = free == nullptr ? kNoBlock : free->last();
    const Statistics& s = allocator_.statistics();
    result_.failures.push_back(
        {event, bytes, size, segment_size(size, allocator_.settings()), static_cast<Bytes>(s.allocated_bytes.current()),
         static_cast<Bytes>(s.active_bytes.current()), allocator_.reserved_bytes(),
         largest == kNoBlock ? 0 : allocator_.block(largest).size, device_.free_bytes(), was_recorded});
    if (options_.keeps_state_at_failure && !result_.state) keep_state();
    if (options_.stops_at_failure) stopped_ = true;
  }

  static void raise(Peak& peak, const PoolStat& stat, std::uint32_t event) {
    const auto bytes = static_cast<Bytes>(stat.peak());
    if (bytes > peak.bytes) peak = {bytes, event};
  }

  void note_peaks(std::uint32_t event) {
    const Statistics& s = allocator_.statistics();
    raise(result_.allocated, s.allocated_bytes, event);
    raise(result_.active, s.active_bytes, event);
    raise(result_.reserved, s.reserved_bytes, event);
    raise(result_.requested, s.requested_bytes, event);
  }

  void note_timeline(std::uint32_t event) {
    const auto allocated = static_cast<Bytes>(allocator_.statistics().allocated_bytes.current());
    const Bytes reserved = allocator_.reserved_bytes();
    if (!result_.timeline_event.empty() && result_.timeline_allocated.back() == allocated &&
        result_.timeline_reserved.back() == reserved) {
      return;
    }
    result_.timeline_event.push_back(event);
    result_.timeline_allocated.push_back(allocated);
    result_.timeline_reserved.push_back(reserved);
  }

  void mix(std::uint64_t value) { result_.hash = (result_.hash ^ value) * 1099511628211ull; }

  void keep_state() {
    std::vector<AllocationId> allocation_of(allocator_.block_rows(), kNoAllocation);
    for (AllocationId id = 0; id < block_of_.size(); ++id) {
      if (block_of_[id] != kNoBlock && !allocator_.block(block_of_[id]).is_free()) allocation_of[block_of_[id]] = id;
    }
    HeldMemory held = held_memory(allocator_);
    for (std::size_t row = 0; row < held.block_of_row.size(); ++row) {
      const AllocationId id = allocation_of[held.block_of_row[row]];
      if (id != kNoAllocation) held.state.blocks[row].stack = trace_.allocations.stack[id];
      result_.allocation_of_block.push_back(id);
    }
    result_.state = std::move(held.state);
  }

  const Trace& trace_;
  const Program& program_;
  const WhatIfOptions& options_;
  const Edits& edits_;
  SimulatedDevice device_;
  CachingAllocator allocator_;
  std::vector<BlockIndex> block_of_;  // by allocation; kNoBlock when it has none
  std::vector<std::pair<std::uint32_t, AllocationId>> early_frees_;
  std::size_t next_early_free_ = 0;
  std::uint32_t next_interruption_ = kNever;
  bool switched_ = false;
  bool stopped_ = false;
  ReplayResult result_;
};

}  // namespace

ReplayResult what_if(const Trace& trace, const Program& program, const WhatIfOptions& options, const Edits& edits) {
  GAPLESS_CHECK(edits.requested.empty() || edits.requested.size() == trace.allocations.count());
  GAPLESS_CHECK(edits.free_before_event.empty() || edits.free_before_event.size() == trace.allocations.count());
  return Run(trace, program, options, edits).run();
}

}  // namespace gapless
