#include "allocator/sizes.h"

#include <algorithm>
#include <bit>

namespace gapless {
namespace {

std::uint32_t divisions(Bytes requested, const AllocatorSettings& settings) {
  const int power = static_cast<int>(std::bit_width(requested >> 20)) - 1;  // floor(log2) in MiB; -1 below 1 MiB
  return settings.roundup_power2_divisions[std::clamp(power, 0, kDivisionEntries - 1)];
}

// Rounds up to a multiple of (the power of two below n) / parts.
Bytes round_to_division(Bytes n, std::uint32_t parts) {
  if (std::has_single_bit(n)) return n;
  const Bytes step = std::bit_floor(n) / parts;
  return step == 0 ? std::bit_ceil(n) : round_up(n, step);
}

}  // namespace

Bytes block_size(Bytes requested, const AllocatorSettings& settings, const ReleaseRules& rules) {
  if (requested < kMinBlock) return kMinBlock;
  const std::uint32_t parts = divisions(requested, settings);
  if (parts > 1 && requested > kMinBlock * parts) return round_to_division(requested, parts);
  if (parts == 1 && requested > kMinBlock && rules.single_division_is_unrounded) return requested;
  return (requested + kMinBlock - 1) & ~(kMinBlock - 1);
}

}  // namespace gapless
