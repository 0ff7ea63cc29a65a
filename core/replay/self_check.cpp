#include "replay/self_check.h"

#include <algorithm>
#include <cstdio>

#include "base/check.h"
#include "replay/calls.h"
#include "replay/recorded_device.h"
#include "replay/start.h"
#include "replay/start_order.h"

namespace gapless {
namespace {

constexpr std::uint64_t kMaxCorrections = 1000;  // more and the recording is another allocator's
constexpr std::uint64_t kMaxRestarts = 2000;
constexpr std::uint64_t kRestartedCalls = 20'000'000;  // no more work than this for learning ties

const char* const kNames[kActionCount] = {"alloc",        "free_requested", "free_completed", "segment_alloc",
                                          "segment_free", "segment_map",    "segment_unmap",  "oom",
                                          "snapshot",     "annotate"};

bool is_counted(Action action) {
  return action != Action::kFreeRequested && action != Action::kOom && action != Action::kSnapshot &&
         action != Action::kAnnotate;
}

std::string line_of(Action action, Address address, Bytes size) {
  char text[96];
  std::snprintf(text, sizeof text, "%s at 0x%llx of %llu bytes", kNames[static_cast<int>(action)],
                static_cast<unsigned long long>(address), static_cast<unsigned long long>(size));
  return text;
}

// One pass over the program.
class Pass {
 public:
  Pass(const Trace& trace, const Program& program, const CheckOptions& options,
       const std::vector<std::uint32_t>& start_rank)
      : trace_(trace),
        program_(program),
        device_(trace, log_, options.total_bytes),
        allocator_(options.release, device_),
        block_of_(trace.allocations.count(), kNoBlock) {
    introduce(trace, program, allocator_);
    allocator_.configure(options.settings);
    allocator_.set_limit(options.limit_bytes);
    const std::vector<BlockIndex> start = adopt_start(trace, allocator_);
    start_count_ = allocator_.last_order();
    if (!start_rank.empty()) allocator_.renumber(start_rank);
    std::copy(start.begin(), start.end(), block_of_.begin());
    result_.block_bytes.assign(trace.allocations.count(), 0);
    allocator_.set_log(&log_);
    allocator_.set_synchronize_hook(&device_);
    device_.set_blocks(&block_of_);
  }

  // Returns the tie that stops it, or nothing when it went to the end.
  std::optional<TieOrder> run() {
    for (std::size_t i = 0; i < program_.count() && !stopped_; ++i) {
      log_.clear();
      device_.expect(program_.event_begin[i], program_.event_end[i]);
      const std::int64_t retries = allocator_.statistics().num_alloc_retries;
      if (!try_to_perform(i)) break;
      if (allocator_.statistics().num_alloc_retries > retries) {
        result_.retry_events.push_back(program_.event_end[i] - 1);
      }
      if (const auto tie = compare(program_.allocation[i])) return tie;
    }
    return std::nullopt;
  }

  SelfCheck take_result() {
    for (const Action action : trace_.events().action) result_.events_checked += is_counted(action) ? 1 : 0;
    result_.retries = static_cast<std::uint64_t>(allocator_.statistics().num_alloc_retries);
    return std::move(result_);
  }
  std::uint32_t start_count() const { return start_count_; }

 private:
  // False when the recording contradicts itself so far that no allocator can follow it.
  bool try_to_perform(std::size_t i) {
    try {
      perform(i);
      return true;
    } catch (const InternalError&) {
      note_difference(log_.size());
      return false;
    }
  }

  void perform(std::size_t i) {
    const AllocationId id = program_.allocation[i];
    program_.call[i] == Call::kMalloc ? allocate(i, id) : perform_call(program_, i, allocator_, block_of_);
  }

  // What a malloc that does not wait for streams finds completed.
  void complete_first() {
    for (const std::size_t event : device_.expected()) {
      if (trace_.events().action[event] != Action::kFreeCompleted) return;
      complete_block_of(trace_.allocation_of_event[event], allocator_, block_of_);
    }
  }

  void allocate(std::size_t i, AllocationId id) {
    const std::size_t event = program_.event_end[i] - 1;
    const Events& events = trace_.events();
    if (events.size[event] == 0 || events.size[event] >= kMaxRequest) return;
    const std::uint16_t pool = trace_.pool_of_event[event];
    const bool gives_back_first = id != kNoAllocation && allocator_.may_release_early();
    if (!allocator_.may_synchronize(pool) || gives_back_first) complete_first();
    if (begins_with_release() &&
        (allocator_.would_hit(events.size[event], events.stream[event], pool) || !allocator_.may_release(pool))) {
      result_.asked_releases.push_back(program_.event_begin[i]);
      allocator_.empty_cache();
    }
    const Placement placed = allocator_.malloc_in(events.size[event], events.stream[event], pool);
    if (placed.outcome != Outcome::kServed) return;
    if (id == kNoAllocation) {  // served here, refused there
      allocator_.free(placed.block);
      return;
    }
    block_of_[id] = placed.block;
    result_.block_bytes[id] = allocator_.block(placed.block).size;
  }

  bool begins_with_release() const {
    for (const std::size_t event : device_.expected()) {
      const Action action = trace_.events().action[event];
      if (action != Action::kFreeCompleted) return action == Action::kSegmentFree || action == Action::kSegmentUnmap;
    }
    return false;
  }

  std::optional<TieOrder> compare(AllocationId id) {
    const std::vector<std::size_t>& expected = device_.expected();
    const Events& events = trace_.events();
    for (std::size_t k = 0; k < std::max(expected.size(), log_.size()); ++k) {
      const bool same = k < expected.size() && k < log_.size() && log_[k].action == events.action[expected[k]] &&
                        log_[k].address == events.address[expected[k]] && log_[k].size == events.size[expected[k]] &&
                        log_[k].stream == events.stream[expected[k]];
      if (same) {
        result_.events_matching += is_counted(log_[k].action) ? 1 : 0;
        continue;
      }
      return differ(k, id);
    }
    return std::nullopt;
  }

  std::optional<TieOrder> differ(std::size_t k, AllocationId id) {
    const std::vector<std::size_t>& expected = device_.expected();
    const Events& events = trace_.events();
    const bool both = k < expected.size() && k < log_.size();
    const bool is_placement = both && log_[k].action == Action::kAlloc &&
                              events.action[expected[k]] == Action::kAlloc && id != kNoAllocation &&
                              block_of_[id] != kNoBlock;
    if (is_placement) {
      if (const auto tie = tie_between(block_of_[id], events.address[expected[k]])) return tie;
    }
    note_difference(k);
    if (!is_placement || !allocator_.move(block_of_[id], events.address[expected[k]]) ||
        ++result_.corrections > kMaxCorrections) {
      stopped_ = true;
    }
    return std::nullopt;
  }

  // Whether the recorded place starts a free block of the size that the model took, and both were there at the start.
  std::optional<TieOrder> tie_between(BlockIndex taken, Address recorded) const {
    const BlockRow& row = allocator_.block(taken);
    const FreeIndex* free =
        allocator_.free_blocks(allocator_.owner_of(taken), allocator_.is_small(taken), allocator_.stream_of(taken));
    std::vector<BlockIndex> candidates;
    free->append_to(candidates);
    Bytes whole = row.size;  // of the block before it was split
    if (row.next != kNoBlock && allocator_.block(row.next).is_free() && allocator_.block(row.next).mapped) {
      whole += allocator_.block(row.next).size;
    }
    const auto was_at_start = [this](std::uint32_t order) { return order != 0 && order <= start_count_; };
    for (const BlockIndex candidate : candidates) {
      const BlockRow& other = allocator_.block(candidate);
      const bool fits = other.address == recorded && (other.size == whole || other.size == row.size);
      if (fits && was_at_start(other.order) && was_at_start(row.order) && other.order != row.order) {
        return TieOrder{other.order, row.order};
      }
    }
    return std::nullopt;
  }

  void note_difference(std::size_t k) {
    if (result_.first_difference) return;
    const std::vector<std::size_t>& expected = device_.expected();
    const Events& events = trace_.events();
    Difference difference;
    difference.event = k < expected.size() ? expected[k] : expected.empty() ? 0 : expected.back() + 1;
    difference.recorded =
        k < expected.size() ? line_of(events.action[expected[k]], events.address[expected[k]], events.size[expected[k]])
                            : "nothing";
    difference.replayed = k < log_.size() ? line_of(log_[k].action, log_[k].address, log_[k].size) : "nothing";
    result_.first_difference = std::move(difference);
  }

  const Trace& trace_;
  const Program& program_;
  std::vector<Decision> log_;
  RecordedDevice device_;
  CachingAllocator allocator_;
  std::vector<BlockIndex> block_of_;
  std::uint32_t start_count_ = 0;
  bool stopped_ = false;
  SelfCheck result_;
};

}  // namespace

SelfCheck self_check(const Trace& trace, const Program& program, const CheckOptions& options) {
  StartOrder order;
  std::vector<std::uint32_t> rank;
  const std::uint64_t most = std::min(kMaxRestarts, kRestartedCalls / std::max<std::uint64_t>(program.count(), 1));
  for (std::uint64_t restart = 0;; ++restart) {
    Pass pass(trace, program, options, rank);
    const std::optional<TieOrder> tie = pass.run();
    if (!tie || restart >= most) {
      SelfCheck result = pass.take_result();
      result.tie_orders_learnt = restart;
      return result;
    }
    order.resize(pass.start_count());
    if (tie->first < tie->second) {  // already in that order: not a tie of creation
      SelfCheck result = pass.take_result();
      return result;
    }
    order.learn(*tie);
    rank = order.rank();
  }
}

}  // namespace gapless
