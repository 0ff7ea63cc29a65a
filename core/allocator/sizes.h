// Size arithmetic of the CUDA caching allocator: from requested bytes to block, and from block to segment.
//
//   request n --block_size--> block --small or large pool--> segment_size--> bytes asked from the device
#pragma once

#include <algorithm>

#include "allocator/release_rules.h"
#include "allocator/settings.h"
#include "base/units.h"

namespace gapless {

constexpr Bytes kMinBlock = 512;               // rounding quantum and smallest block
constexpr Bytes kSmallRequest = 1_MiB;         // largest block of the small pool; also the large pool's split threshold
constexpr Bytes kSmallSegment = 2_MiB;         // segment, and expandable page, of the small pool
constexpr Bytes kMinLargeSegment = 10_MiB;     // blocks from here on get a segment of their own,
constexpr Bytes kLargeQuantum = 2_MiB;         // rounded up to this
constexpr Bytes kMaxRequest = Bytes{1} << 60;  // more is refused before any lookup
constexpr Bytes kMaxSegment = Bytes{1} << 47;  // addresses that a card has; no one serves a larger large_segment_size

// Bytes of the block that serves a request. REQUIRES: 0 < requested < kMaxRequest.
Bytes block_size(Bytes requested, const AllocatorSettings& settings, const ReleaseRules& rules);

// Bytes of the segments that blocks share, and of the pages that expandable ones map; sums of it must stay in 64 bits.
inline Bytes shared_segment(const AllocatorSettings& settings) {
  return std::min(settings.large_segment_size, kMaxSegment);
}

// Bytes asked from the device when no free block serves.
inline Bytes segment_size(Bytes block, const AllocatorSettings& settings) {
  if (block <= kSmallRequest) return kSmallSegment;
  if (block < kMinLargeSegment) return shared_segment(settings);
  return round_up(block, kLargeQuantum);
}

// Bytes that expandable segments map at a time.
inline Bytes page_size(bool is_small, const AllocatorSettings& settings) {
  return is_small ? kSmallSegment : shared_segment(settings);
}

}  // namespace gapless
