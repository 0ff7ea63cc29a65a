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

struct ReleaseRules {
  TieBreak tie_break = TieBreak::kAddress;
  OverflowPools overflow_pools = OverflowPools::kNever;
  bool single_division_is_unrounded = false;  // up to 2.3: a division of 1 left sizes unrounded
  bool private_pools_expandable = false;      // from 2.5
  bool release_skips_expandable = false;      // from 2.5: releasing oversize blocks passes over expandable ones
  bool innermost_scope_wins = false;          // from 2.10; before, the outermost
  bool full_fraction_is_no_limit = false;     // from 2.10: a fraction of 1.0 removes the limit
  bool limit_is_rounded = false;              // from 2.13; before, truncated
  bool scope_is_capture = true;               // up to 2.12: an open scope counts as a capture; then only a real one
  bool captured_release_asserts = true;       // up to 2.7: empty_cache() during a capture
  bool has_preemptive_rejection = false;      // from 2.12: throw_on_cudamalloc_oom

  bool scope_is_of_one_stream = false;       // up to 2.2: a scope takes the requests of its stream only
  bool capture_uses_need_no_event = false;   // from 2.4: streams that used a block during a capture are not waited for
  bool overflow_ignores_expandable = false;  // from 2.10: pools with use_on_oom are searched as if the option were off
  bool release_ends_no_split = false;        // from 2.14: a pool that nobody uses any more is no longer no_split

  static ReleaseRules of(Release release);
};

}  // namespace gapless
