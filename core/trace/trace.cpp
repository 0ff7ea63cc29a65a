#include "trace/trace.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/check.h"
#include "base/error.h"

namespace gapless {
namespace {

constexpr std::uint64_t kAddressLimit = std::uint64_t{1} << 62;
constexpr Bytes kSizeLimit = Bytes{1} << 50;   // 1 PiB: no card has so much
constexpr Bytes kTotalLimit = Bytes{1} << 60;  // of all sizes together; counters stay far from overflow

// Numbers that no device can have would overflow the books; everything else that is wrong is a contradiction.
void check_numbers(const Events& events) {
  Bytes total = 0;
  for (std::size_t i = 0; i < events.count(); ++i) {
    const bool is_sized = events.action[i] != Action::kSnapshot && events.action[i] != Action::kAnnotate;
    const Bytes size = is_sized ? events.size[i] : 0;
    total += std::min(size, kSizeLimit);
    if (events.address[i] >= kAddressLimit || size >= kSizeLimit || total >= kTotalLimit) {
      throw TraceError("event " + std::to_string(i) + " has address " + std::to_string(events.address[i]) +
                           " and size " + std::to_string(events.size[i]) + ": no device has so much memory",
                       static_cast<std::int64_t>(i));
    }
  }
}

void check_numbers(const DeviceState& state) {
  Bytes total = 0;
  for (const Segment& segment : state.segments) {
    total += std::min(segment.size, kSizeLimit);
    if (segment.address >= kAddressLimit || segment.size >= kSizeLimit || total >= kTotalLimit) {
      throw TraceError("the segment at address " + std::to_string(segment.address) + " has " +
                           std::to_string(segment.size) + " bytes: no device has so much memory",
                       -1);
    }
  }
}

// Walks the events forward and gives each allocation its number.
class Pairing {
 public:
  explicit Pairing(Trace& trace) : trace_(trace), events_(trace.events()) {}

  void add_start() {
    trace_.allocation_of_start_block.assign(trace_.start.blocks.size(), kNoAllocation);
    for (const Segment& segment : trace_.start.segments) {
      for (std::uint32_t i = 0; i < segment.block_count; ++i) {
        const std::uint32_t row = segment.first_block + i;
        const Block& block = trace_.start.blocks[row];
        if (block.state == BlockState::kFree) continue;
        const AllocationId id = add(kBeforeStart, block.address, block.requested, segment.stream, segment.pool);
        trace_.allocations.size[id] = block.size;
        trace_.allocations.stack[id] = block.stack;
        if (block.state == BlockState::kPending) trace_.allocations.free_requested_event[id] = 0;
        trace_.allocation_of_start_block[row] = id;
        in_use_[block.address] = id;
      }
    }
  }

  void add_events() {
    trace_.allocation_of_event.assign(events_.count(), kNoAllocation);
    for (std::size_t i = 0; i < events_.count(); ++i) {
      const Action action = events_.action[i];
      if (action == Action::kAlloc) {
        begin(i);
      } else if (action == Action::kFreeRequested || action == Action::kFreeCompleted) {
        end(i, action == Action::kFreeCompleted);
      }
    }
  }

 private:
  AllocationId add(std::int64_t event, Address address, Bytes requested, std::uint16_t stream, std::uint16_t pool) {
    Allocations& a = trace_.allocations;
    a.alloc_event.push_back(event);
    a.free_requested_event.push_back(kNever);
    a.free_completed_event.push_back(kNever);
    a.address.push_back(address);
    a.requested.push_back(requested);
    a.size.push_back(0);
    a.assumed.push_back(0);
    a.stack.push_back(kNoStack);
    a.stream.push_back(stream);
    a.pool.push_back(pool);
    return static_cast<AllocationId>(a.count() - 1);
  }

  void begin(std::size_t event) {
    const AllocationId id = add(static_cast<std::int64_t>(event), events_.address[event], events_.size[event],
                                events_.stream[event], trace_.pool_of_event[event]);
    trace_.allocations.stack[id] = events_.stack[event];
    trace_.allocation_of_event[event] = id;
    in_use_[events_.address[event]] = id;
  }

  void end(std::size_t event, bool completed) {
    const auto found = in_use_.find(events_.address[event]);
    if (found == in_use_.end()) return;  // a contradiction that the rewinding has noted
    const AllocationId id = found->second;
    Allocations& a = trace_.allocations;
    trace_.allocation_of_event[event] = id;
    if (completed) {
      a.free_completed_event[id] = static_cast<std::uint32_t>(event);
      if (a.free_requested_event[id] == kNever) a.free_requested_event[id] = static_cast<std::uint32_t>(event);
      in_use_.erase(found);
    } else {
      a.free_requested_event[id] = static_cast<std::uint32_t>(event);
    }
  }

  Trace& trace_;
  const Events& events_;
  std::unordered_map<Address, AllocationId> in_use_;
};

// Sizes of the blocks in use at the end are recorded; for those that ended, the rounding is the least.
void fill_sizes(Trace& trace, const RoundSize& round) {
  std::unordered_map<Address, Bytes> at_end;
  for (const Block& block : trace.recording().state.blocks) {
    if (block.state != BlockState::kFree) at_end[block.address] = block.size;
  }
  Allocations& a = trace.allocations;
  for (AllocationId id = 0; id < a.count(); ++id) {
    if (a.alloc_event[id] == kBeforeStart) continue;
    const auto found = a.free_completed_event[id] == kNever ? at_end.find(a.address[id]) : at_end.end();
    a.assumed[id] = found == at_end.end();
    a.size[id] = found == at_end.end() ? round(a.requested[id]) : found->second;
  }
}

void mark_assumed(Trace& trace, const std::vector<Address>& assumed) {
  for (std::size_t row = 0; row < trace.start.blocks.size(); ++row) {
    if (std::binary_search(assumed.begin(), assumed.end(), trace.start.blocks[row].address)) {
      const AllocationId id = trace.allocation_of_start_block[row];
      if (id != kNoAllocation) trace.allocations.assumed[id] = 1;
    }
  }
}

}  // namespace

Trace build_trace(std::shared_ptr<const Snapshot> snapshot, std::size_t device_row, const RoundSize& round) {
  Trace trace;
  trace.snapshot = std::move(snapshot);
  trace.device_row = device_row;
  check_numbers(trace.events());
  check_numbers(trace.recording().state);
  Rewinder rewinder(trace.recording(),
                    [&round](std::size_t, Bytes requested) { return Rewinder::BlockSize{round(requested), false}; });
  rewinder.rewind_to(0);
  trace.start = rewinder.state();
  trace.contradictions = rewinder.contradictions();
  trace.contradiction_count = rewinder.contradiction_count();
  trace.pool_of_event = rewinder.pools();
  std::replace(trace.pool_of_event.begin(), trace.pool_of_event.end(), kUnknownPool, std::uint16_t{0});
  Pairing pairing(trace);
  pairing.add_start();
  pairing.add_events();
  fill_sizes(trace, round);
  mark_assumed(trace, rewinder.assumed_sizes());
  return trace;
}

void learn_block_sizes(Allocations& allocations, const std::vector<Bytes>& block_bytes) {
  GAPLESS_CHECK(block_bytes.size() == allocations.count());
  for (AllocationId id = 0; id < allocations.count(); ++id) {
    if (block_bytes[id] == 0) continue;
    allocations.size[id] = block_bytes[id];
    allocations.assumed[id] = 0;
  }
}

DeviceState state_before(const Trace& trace, std::size_t event) {
  GAPLESS_CHECK(event <= trace.event_count());
  Rewinder rewinder(trace.recording(), [&trace](std::size_t at, Bytes requested) {
    const AllocationId id = trace.allocation_of_event[at];
    if (id == kNoAllocation) return Rewinder::BlockSize{requested, false};
    return Rewinder::BlockSize{trace.allocations.size[id], trace.allocations.assumed[id] == 0};
  });
  rewinder.rewind_to(event);
  return rewinder.state();
}

}  // namespace gapless
