#include "replay/held_memory.h"

namespace gapless {
namespace {

BlockState state_of(const BlockRow& row) {
  if (row.allocated) return BlockState::kAllocated;
  return row.is_free() ? BlockState::kFree : BlockState::kPending;
}

}  // namespace

HeldMemory held_memory(const CachingAllocator& allocator) {
  HeldMemory held;
  DeviceState& state = held.state;
  for (const BlockIndex index : allocator.mapped_blocks()) {
    const BlockRow& row = allocator.block(index);
    if (row.prev == kNoBlock || !allocator.block(row.prev).mapped) {
      state.segments.push_back({row.address, 0, static_cast<std::uint32_t>(state.blocks.size()), 0, kNoStack,
                                static_cast<std::uint16_t>(allocator.stream_of(index)),
                                static_cast<std::uint16_t>(allocator.owner_of(index)), allocator.is_small(index),
                                row.is_expandable()});
    }
    state.segments.back().size += row.size;
    ++state.segments.back().block_count;
    state.blocks.push_back({row.address, row.size, row.requested, kNoStack, state_of(row)});
    held.block_of_row.push_back(index);
  }
  return held;
}

}  // namespace gapless
