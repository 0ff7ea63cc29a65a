// What PYTORCH_CUDA_ALLOC_CONF sets and the allocator's decisions depend on. Text is parsed in Python (gapless.conf);
// here are values only.
#pragma once

#include <array>
#include <cstdint>

#include "base/units.h"

namespace gapless {

constexpr Bytes kUnlimited = ~Bytes{0};
constexpr int kDivisionEntries = 16;

struct AllocatorSettings {
  Bytes max_split_size = kUnlimited;
  Bytes max_non_split_rounding = 20_MiB;
  Bytes large_segment_size = 20_MiB;
  // Entry 0 serves requests below 2 MiB, entry k those in [2^k, 2^(k+1)) MiB; 0 is off.
  std::array<std::uint32_t, kDivisionEntries> roundup_power2_divisions{};
  double garbage_collection_threshold = 0.0;
  double per_process_memory_fraction = 1.0;
  bool expandable_segments = false;
  bool throw_on_cudamalloc_oom = false;
};

}  // namespace gapless
