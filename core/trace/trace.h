// A Trace is one device's recording with identities: every allocation has a number, whether its beginning and end were
// recorded or not. Addresses recur; numbers do not, so numbers are the key from here on.
//
// Allocations that live at the start come first, in order of address; then one for each alloc event, in order of event.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "trace/rewind.h"
#include "trace/snapshot.h"

namespace gapless {

using AllocationId = std::uint32_t;
constexpr AllocationId kNoAllocation = 0xFFFFFFFFu;
constexpr std::uint32_t kNever = 0xFFFFFFFFu;  // an event that was not recorded, later than every event
constexpr std::int64_t kBeforeStart = -1;

// Columns of equal length, one row an allocation.
struct Allocations {
  std::vector<std::int64_t> alloc_event;            // kBeforeStart when it lives at the start
  std::vector<std::uint32_t> free_requested_event;  // kNever when it was not freed
  std::vector<std::uint32_t> free_completed_event;  // kNever when it did not complete
  std::vector<Address> address;
  std::vector<Bytes> requested;
  std::vector<Bytes> size;  // of its block; where `assumed`, the least that it can be
  std::vector<std::uint8_t> assumed;
  std::vector<std::uint32_t> stack;  // of its allocation; kNoStack when not recorded
  std::vector<std::uint16_t> stream, pool;

  std::size_t count() const { return alloc_event.size(); }
};

struct Trace {
  std::shared_ptr<const Snapshot> snapshot;
  std::size_t device_row = 0;  // of Snapshot::devices
  Allocations allocations;
  std::vector<AllocationId> allocation_of_event;        // of alloc and free events; kNoAllocation for others
  std::vector<std::uint16_t> pool_of_event;             // as far as known, else the default pool
  DeviceState start;                                    // before the first event
  std::vector<AllocationId> allocation_of_start_block;  // kNoAllocation for free blocks
  std::vector<Contradiction> contradictions;
  std::size_t contradiction_count = 0;

  const DeviceRecording& recording() const { return snapshot->devices[device_row]; }
  const Events& events() const { return recording().events; }
  std::size_t event_count() const { return events().count(); }
  // Whether every block and segment follows from the events: nothing existed at the start.
  bool is_complete() const { return start.segments.empty() && contradiction_count == 0; }
};

// Rounds requested bytes to the block that serves them, under the settings of the recording.
using RoundSize = std::function<Bytes(Bytes)>;

// Throws TraceError when an event's numbers cannot be those of a device.
Trace build_trace(std::shared_ptr<const Snapshot> snapshot, std::size_t device_row, const RoundSize& round);

// Takes over block sizes that somebody found out; 0 means unknown.
void learn_block_sizes(Allocations& allocations, const std::vector<Bytes>& block_bytes);

// The segments and blocks before `event`, from recorded facts, with the block sizes that the trace knows.
DeviceState state_before(const Trace& trace, std::size_t event);

}  // namespace gapless
