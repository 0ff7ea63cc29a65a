// Where a recording knows better than the model: the creation order of segments that existed before, a block's place.
#include "allocator/caching_allocator.h"
#include "base/check.h"

namespace gapless {

void CachingAllocator::renumber(const std::vector<std::uint32_t>& rank) {
  std::vector<BlockIndex> free;
  for (BlockIndex block = 0; block < blocks_.count(); ++block) {
    const BlockRow& row = blocks_[block];
    if (row.size == 0 || row.order == 0 || row.order > rank.size()) continue;
    const bool indexed = row.mapped && row.is_free();
    if (indexed) erase_free(block);
    blocks_[block].order = rank[row.order - 1];
    if (indexed) lanes_[row.lane].free.insert(block);
  }
}

bool CachingAllocator::move(BlockIndex& block, Address address) {
  const BlockRow moved = blocks_[block];
  const Lane& lane = lanes_[moved.lane];
  std::vector<BlockIndex> candidates;
  lane.free.append_to(candidates);
  BlockIndex target = kNoBlock;
  for (const BlockIndex candidate : candidates) {
    const BlockRow& row = blocks_[candidate];
    if (row.address <= address && address + moved.size <= row.address + row.size) target = candidate;
  }
  if (target == kNoBlock) return false;

  erase_free(target);
  const auto cut = [&](BlockIndex whole, Bytes size, bool keep_right) {  // the other part becomes free
    BlockRow part = blocks_[whole];
    part.size = size;
    if (keep_right) {
      blocks_[whole].address += size;
    } else {
      part.address = blocks_[whole].address + blocks_[whole].size - size;
    }
    blocks_[whole].size -= size;
    const BlockIndex added = blocks_.add(part);
    keep_right ? blocks_.link_before(added, whole) : blocks_.link_after(added, whole);
    insert_free(added);
  };
  if (address > blocks_[target].address) cut(target, address - blocks_[target].address, true);
  if (blocks_[target].size > moved.size) cut(target, blocks_[target].size - moved.size, false);
  blocks_[target].allocated = true;
  blocks_[target].requested = moved.requested;

  blocks_[block].allocated = false;
  merge(block, blocks_[block].prev);
  merge(block, blocks_[block].next);
  insert_free(block);
  block = target;
  return true;
}

}  // namespace gapless
