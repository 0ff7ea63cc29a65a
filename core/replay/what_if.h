// Runs a recorded program under other settings, on another card, or edited, and reports what it would have taken.
// Out of memory is a result. Equal inputs give equal results.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "allocator/caching_allocator.h"
#include "device/simulated.h"
#include "replay/program.h"
#include "trace/trace.h"

namespace gapless {

// What to do with the memory that exists before the first event of a recording that began late.
enum class StartMode : std::uint8_t {
  kAsRecorded,  // every block where it was: the settings are switched at the start of the recording
  kAnew,        // the blocks in use are allocated again, in order of address: the settings hold from the beginning
};

// Changes to the program, by allocation. Empty columns change nothing.
struct Edits {
  std::vector<Bytes> requested;                  // other sizes; 0: never allocated
  std::vector<std::uint32_t> free_before_event;  // freed before that event if still alive; kNever: as recorded
};

struct WhatIfOptions {
  Release release;
  AllocatorSettings settings;
  Bytes capacity_bytes = 0;          // what PyTorch may reserve on the card
  Bytes total_bytes = 0;             // what the card reports; 0: as capacity_bytes
  std::optional<Bytes> limit_bytes;  // of a memory fraction
  AddressOrder addresses = AddressOrder::kAscending;
  StartMode start = StartMode::kAnew;
  bool stops_at_failure = true;               // else the failed allocation is left out and the program goes on
  std::uint32_t state_before_event = kNever;  // an event before which the state is kept
  bool keeps_state_at_failure = false;        // of the first request that fails: after all was given back for it
  bool keeps_timeline = false;
  double failed_request_factor = 1;  // of the size of requests that failed in the recording
  // From this event on other settings hold, as after a call of set_allocator_settings.
  std::uint32_t switch_before_event = kNever;
  AllocatorSettings switched_settings;
};

// The state at a failing request.
struct Failure {
  std::uint32_t event;
  Bytes requested_bytes, rounded_bytes, segment_bytes;
  Bytes allocated_bytes, active_bytes, reserved_bytes;
  Bytes largest_free_block_bytes;  // of the request's lane
  Bytes device_free_bytes;
  bool was_recorded;  // it failed in the recording too
};

struct Peak {
  Bytes bytes = 0;
  std::uint32_t event = 0;
};

struct ReplayResult {
  Peak allocated, active, reserved, requested;
  std::vector<Failure> failures;
  std::vector<std::uint32_t> served_failures;  // events of requests that failed in the recording and are served here
  std::vector<std::uint32_t> retry_events;
  DeviceCalls device_calls;
  std::uint32_t reached_event = 0;  // one past the last event replayed
  std::uint64_t allocations_not_placed = 0;
  bool undefined = false;  // PyTorch would have gone on with memory that is not its own
  Bytes reserved_bytes_end = 0;
  std::uint64_t hash = 0;  // of every decision's size and placement; equal runs have equal hashes

  std::optional<DeviceState> state;               // as asked for
  std::vector<AllocationId> allocation_of_block;  // of its blocks
  std::vector<std::uint32_t> timeline_event;      // one row for each call that changed reserved or allocated bytes
  std::vector<Bytes> timeline_allocated, timeline_reserved;
};

ReplayResult what_if(const Trace& trace, const Program& program, const WhatIfOptions& options, const Edits& edits = {});

}  // namespace gapless
