// The calls of a Program, except malloc, on the blocks that its allocations have in one run.
//
// A contradictory recording frees what it does not hold, or completes what never waited: such calls do nothing.
#pragma once

#include <vector>

#include "allocator/caching_allocator.h"
#include "replay/program.h"

namespace gapless {

// By allocation; kNoBlock when it has none.
using BlockOfAllocation = std::vector<BlockIndex>;

bool is_allocated(AllocationId id, const CachingAllocator& allocator, const BlockOfAllocation& block_of);

// The other streams that held it are done.
void complete_block_of(AllocationId id, CachingAllocator& allocator, BlockOfAllocation& block_of);

// REQUIRES: call `i` is not kMalloc.
void perform_call(const Program& program, std::size_t i, CachingAllocator& allocator, BlockOfAllocation& block_of);

}  // namespace gapless
