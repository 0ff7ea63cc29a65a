// Gives an allocator the segments and blocks that a trace starts with.
#pragma once

#include <vector>

#include "allocator/caching_allocator.h"
#include "replay/program.h"
#include "trace/trace.h"

namespace gapless {

// Adopts the start as it was recorded: every block at its address. Returns the block of each allocation that lives at
// the start (allocations 0 to count - 1 of the trace).
std::vector<BlockIndex> adopt_start(const Trace& trace, CachingAllocator& allocator);

// Makes the trace's streams and the program's pools known; call before anything else.
void introduce(const Trace& trace, const Program& program, CachingAllocator& allocator);

Bytes start_reserved_bytes(const Trace& trace);

}  // namespace gapless
