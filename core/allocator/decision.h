// A request, its outcome, and the decisions on the way, as PyTorch's trace would show them.
#pragma once

#include <cstdint>

#include "allocator/block_table.h"
#include "allocator/pools.h"
#include "base/units.h"
#include "trace/event.h"

namespace gapless {

// One decision, as PyTorch's trace would show it.
struct Decision {
  Address address;  // kOom: the device's free bytes
  Bytes size;       // as in Events
  StreamIndex stream;
  OwnerIndex owner;
  Action action;
};

enum class Outcome : std::uint8_t {
  kServed,
  kOutOfMemory,
  kRejected,  // preemptively (throw_on_cudamalloc_oom): nothing was tried nor released
  kFailed,    // PyTorch stops with an internal assertion here
};

struct Placement {
  BlockIndex block = kNoBlock;
  Outcome outcome = Outcome::kServed;
};

struct Request {
  Bytes requested;
  Bytes size;           // rounded
  Bytes segment_bytes;  // asked from the device on a miss
  std::uint32_t lane;
  bool captured;    // no release_all: a capture is under way
  bool expandable;  // expandable segments are on for it
};

}  // namespace gapless
