#include "allocator/release_rules.h"

namespace gapless {

ReleaseRules ReleaseRules::of(Release release) {
  const auto since = [release](int minor) {
    return release.major > 2 || (release.major == 2 && release.minor >= minor);
  };
  ReleaseRules rules;
  rules.single_division_is_unrounded = !since(4);
  rules.private_pools_expandable = since(5);
  rules.release_skips_expandable = since(5);
  if (since(8)) {
    rules.overflow_pools = OverflowPools::kLastResort;
    rules.scoped_release = ScopedRelease::kSkips;
  }
  rules.innermost_scope_wins = since(10);
  rules.full_fraction_is_no_limit = since(10);
  if (since(11)) rules.overflow_pools = OverflowPools::kBeforeReleasing;
  if (since(12)) {
    rules.tie_break = TieBreak::kBlockNumber;
    rules.has_preemptive_rejection = true;
  }
  if (since(13)) {
    rules.tie_break = TieBreak::kSegmentNumber;
    rules.limit_is_rounded = true;
    rules.scope_defers_events = false;
    rules.scoped_release = ScopedRelease::kReleases;
  }
  return rules;
}

}  // namespace gapless
