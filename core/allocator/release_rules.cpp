#include "allocator/release_rules.h"

namespace gapless {

ReleaseRules ReleaseRules::of(Release release) {
  const auto since = [release](int minor) {
    return release.major > 2 || (release.major == 2 && release.minor >= minor);
  };
  ReleaseRules rules;
  rules.single_division_is_unrounded = !since(4);
  rules.scope_is_of_one_stream = !since(3);
  rules.capture_uses_need_no_event = since(4);
  rules.overflow_ignores_expandable = since(10);
  rules.private_pools_expandable = since(5);
  rules.release_skips_expandable = since(5);
  if (since(8)) {
    rules.overflow_pools = OverflowPools::kLastResort;
    rules.captured_release_asserts = false;
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
    rules.scope_is_capture = false;
  }
  rules.release_ends_no_split = since(14);
  return rules;
}

}  // namespace gapless
