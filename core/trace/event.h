// An event is one line of the allocator's diary, as PyTorch records it. Events are kept as columns, one row an event;
// what a recording does not know (stack, pool, time) is absent, never invented.
//
// A free is two events: free_requested when the program lets go, free_completed when the memory can be used again.
// Between them the block is pending: neither allocated nor free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/units.h"

namespace gapless {

enum class Action : std::uint8_t {
  kAlloc,
  kFreeRequested,
  kFreeCompleted,
  kSegmentAlloc,
  kSegmentFree,
  kSegmentMap,
  kSegmentUnmap,
  kOom,
  kSnapshot,
  kAnnotate,
};
constexpr int kActionCount = 10;

constexpr std::uint32_t kNoStack = 0xFFFFFFFFu;
constexpr std::uint16_t kUnknownPool = 0xFFFFu;
constexpr std::int64_t kNoTime = INT64_MIN;
constexpr std::uint32_t kNoText = 0xFFFFFFFFu;

// The columns have equal length. Sizes by action: alloc, free_*: bytes requested, unrounded; segment_*: whole segment
// or mapped range; oom: the rounded request; snapshot: active bytes.
struct Events {
  std::vector<Action> action;
  std::vector<Address> address;  // oom: the device's free bytes; snapshot: 0
  std::vector<Bytes> size;
  std::vector<std::int64_t> time_us;           // since the epoch; kNoTime when not recorded
  std::vector<std::uint32_t> stack;            // index into Stacks; kNoStack when not recorded
  std::vector<std::uint16_t> stream;           // index into Snapshot::streams
  std::vector<std::uint16_t> pool;             // index into Snapshot::pools; kUnknownPool when not recorded
  std::vector<std::uint32_t> compile_context;  // index into Stacks::strings; kNoText when not recorded
  std::vector<std::uint32_t> user_metadata;    // index into Stacks::strings; kNoText when not recorded

  std::size_t count() const { return action.size(); }
};

}  // namespace gapless
