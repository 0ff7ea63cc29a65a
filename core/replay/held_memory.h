// What an allocator holds from the device, as a snapshot shows it.
#pragma once

#include <vector>

#include "allocator/caching_allocator.h"
#include "trace/snapshot.h"

namespace gapless {

struct HeldMemory {
  DeviceState state;                     // in order of address; no stacks
  std::vector<BlockIndex> block_of_row;  // of state.blocks, row by row
};

HeldMemory held_memory(const CachingAllocator& allocator);

}  // namespace gapless
