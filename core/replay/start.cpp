#include "replay/start.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace gapless {
namespace {

using LaneKey = std::tuple<std::uint16_t, std::uint16_t, bool>;  // pool, stream, is_small

LaneKey key_of(const Segment& segment) { return {segment.pool, segment.stream, segment.is_small}; }

// The lowest address that each lane's reservation is seen to map: its base, as far as the trace tells. A lane has
// one reservation; it is made anew only after everything was unmapped.
std::map<LaneKey, Address> reservation_bases(const Trace& trace, Bytes large_page) {
  std::map<LaneKey, Address> bases;
  std::map<std::pair<std::uint16_t, std::uint16_t>, std::vector<LaneKey>> by_stream;
  for (const Segment& segment : trace.start.segments) {
    if (!segment.is_expandable) continue;
    const auto [base, is_new] = bases.try_emplace(key_of(segment), segment.address);
    base->second = std::min(base->second, segment.address);
    if (is_new) by_stream[{segment.pool, segment.stream}].push_back(key_of(segment));
  }
  const Events& events = trace.events();
  constexpr Bytes kNear = 32_GiB;  // farther below is another reservation
  for (std::size_t i = 0; i < events.count(); ++i) {
    if (events.action[i] != Action::kSegmentMap) continue;
    for (const LaneKey& key : by_stream[{trace.pool_of_event[i], events.stream[i]}]) {
      Address& base = bases[key];
      const Bytes page = std::get<2>(key) ? kSmallSegment : large_page;
      const bool aligned = events.address[i] < base && (base - events.address[i]) % page == 0;
      if (aligned && events.size[i] % page == 0 && base - events.address[i] < kNear) base = events.address[i];
    }
  }
  return bases;
}

std::vector<CachingAllocator::StartBlock> blocks_of(const Trace& trace, const Segment& segment) {
  std::vector<CachingAllocator::StartBlock> blocks;
  for (std::uint32_t i = 0; i < segment.block_count; ++i) {
    const Block& block = trace.start.blocks[segment.first_block + i];
    blocks.push_back({block.size, block.requested, block.state, true});
  }
  return blocks;
}

class Adoption {
 public:
  Adoption(const Trace& trace, CachingAllocator& allocator) : trace_(trace), allocator_(allocator) {
    const auto live = std::count_if(trace.allocation_of_start_block.begin(), trace.allocation_of_start_block.end(),
                                    [](AllocationId id) { return id != kNoAllocation; });
    block_of_.assign(static_cast<std::size_t>(live), kNoBlock);
  }

  std::vector<BlockIndex> run() {
    std::map<LaneKey, std::vector<const Segment*>> runs;
    for (const Segment& segment : trace_.start.segments) {
      if (segment.is_expandable) {
        runs[key_of(segment)].push_back(&segment);
        continue;
      }
      note(segment,
           allocator_.adopt_segment(
               {segment.address, segment.size, segment.stream, segment.pool, segment.is_small, false},
               blocks_of(trace_, segment)),
           0);
    }
    const std::map<LaneKey, Address> bases = reservation_bases(trace_, page());
    for (const auto& [key, segments] : runs) adopt_reservation(bases.at(key), segments);
    return std::move(block_of_);
  }

 private:
  Bytes page() const { return shared_segment(allocator_.settings()); }

  // Mapped runs, and the unmapped addresses between, before and after them.
  void adopt_reservation(Address base, const std::vector<const Segment*>& runs) {
    std::vector<CachingAllocator::StartBlock> blocks;
    std::vector<std::size_t> first_of_run;
    Address at = base;
    const auto gap = [&](Address to) {
      if (to > at) blocks.push_back({to - at, 0, BlockState::kFree, false});
    };
    for (const Segment* run : runs) {
      gap(run->address);
      first_of_run.push_back(blocks.size());
      for (const auto& block : blocks_of(trace_, *run)) blocks.push_back(block);
      at = run->address + run->size;
    }
    const Address end = std::max(base + round_up(kReservation, page()), base + round_up(at - base, page()) + page());
    gap(end);
    const Segment& any = *runs.front();
    const auto added = allocator_.adopt_segment({base, end - base, any.stream, any.pool, any.is_small, true}, blocks);
    for (std::size_t i = 0; i < runs.size(); ++i) note(*runs[i], added, first_of_run[i]);
  }

  void note(const Segment& segment, const std::vector<BlockIndex>& added, std::size_t first) {
    for (std::uint32_t i = 0; i < segment.block_count; ++i) {
      const AllocationId id = trace_.allocation_of_start_block[segment.first_block + i];
      if (id != kNoAllocation) block_of_[id] = added[first + i];
    }
  }

  static constexpr Bytes kReservation = 240_GiB;  // its true length is not recorded

  const Trace& trace_;
  CachingAllocator& allocator_;
  std::vector<BlockIndex> block_of_;
};

}  // namespace

void introduce(const Trace& trace, const Program& program, CachingAllocator& allocator) {
  const Snapshot& snapshot = *trace.snapshot;
  for (StreamIndex stream = 0; stream < snapshot.streams.size(); ++stream) {
    allocator.set_stream_handle(stream, snapshot.streams[stream]);
  }
  for (const PoolId& pool : snapshot.pools) allocator.owner(pool);
  for (const std::uint16_t pool : program.no_split_pools) allocator.set_no_split(pool);
}

std::vector<BlockIndex> adopt_start(const Trace& trace, CachingAllocator& allocator) {
  return Adoption(trace, allocator).run();
}

Bytes start_reserved_bytes(const Trace& trace) {
  Bytes bytes = 0;
  for (const Segment& segment : trace.start.segments) bytes += segment.size;
  return bytes;
}

}  // namespace gapless
