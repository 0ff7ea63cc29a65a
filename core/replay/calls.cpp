#include "replay/calls.h"

namespace gapless {

bool is_allocated(AllocationId id, const CachingAllocator& allocator, const BlockOfAllocation& block_of) {
  return block_of[id] != kNoBlock && allocator.block(block_of[id]).allocated;
}

void complete_block_of(AllocationId id, CachingAllocator& allocator, BlockOfAllocation& block_of) {
  if (id == kNoAllocation || block_of[id] == kNoBlock) return;
  if (allocator.block(block_of[id]).is_pending()) allocator.complete(block_of[id]);
  block_of[id] = kNoBlock;
}

void perform_call(const Program& program, std::size_t i, CachingAllocator& allocator, BlockOfAllocation& block_of) {
  const AllocationId id = program.allocation[i];
  switch (program.call[i]) {
    case Call::kMalloc:
      return;
    case Call::kFree:
      if (is_allocated(id, allocator, block_of)) allocator.free(block_of[id]);
      return;
    case Call::kFreeDeferred:
      if (is_allocated(id, allocator, block_of)) allocator.free_deferred(block_of[id]);
      return;
    case Call::kComplete:
      return complete_block_of(id, allocator, block_of);
    case Call::kEmptyCache:
      allocator.empty_cache();
      return;
    case Call::kEmptyPool:
      allocator.let_go(program.pool[i]);
      allocator.empty_pool(program.pool[i]);
      return;
    case Call::kLetGoPool:
      return allocator.let_go(program.pool[i]);
  }
}

}  // namespace gapless
