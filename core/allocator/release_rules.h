// How the releases of PyTorch differ in their decisions, as data: the algorithm asks for a rule, never for a version.
// Facts: checked against the binaries of 2.1 to 2.14 by tests/differential.
#pragma once

#include <cstdint>

namespace gapless {

struct Release {
  int major = 2;
  int minor = 14;
};

// What decides between free blocks of equal size on one stream.
enum class TieBreak : std::uint8_t {
  kAddress,        // up to 2.11: the lowest address
  kBlockNumber,    // 2.12: the oldest block object, splits included
  kSegmentNumber,  // from 2.13: the oldest segment, then the lowest address
};

// When pools opened with use_on_oom are searched for a failing request.
enum class OverflowPools : std::uint8_t { kNever, kLastResort, kBeforeReleasing };

// What an open allocation scope (graph capture, use_mem_pool) does to a full release.
enum class ScopedRelease : std::uint8_t { kAsserts, kSkips, kReleases };

struct ReleaseRules {
  TieBreak tie_break = TieBreak::kAddress;
  OverflowPools overflow_pools = OverflowPools::kNever;
  ScopedRelease scoped_release = ScopedRelease::kAsserts;
  bool single_division_is_unrounded = false;  // up to 2.3: a division of 1 left sizes unrounded
  bool private_pools_expandable = false;      // from 2.5
  bool release_skips_expandable = false;      // from 2.5: releasing oversize blocks passes over expandable ones
  bool innermost_scope_wins = false;          // from 2.10; before, the outermost
  bool full_fraction_is_no_limit = false;     // from 2.10: a fraction of 1.0 removes the limit
  bool limit_is_rounded = false;              // from 2.13; before, truncated
  bool scope_defers_events = true;            // up to 2.12: no event is polled while a scope is open
  bool has_preemptive_rejection = false;      // from 2.12: throw_on_cudamalloc_oom

  static ReleaseRules of(Release release);
};

}  // namespace gapless
