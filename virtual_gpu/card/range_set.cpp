#include "card/range_set.h"

#include <algorithm>

namespace gapless::card {

void RangeSet::add(Address begin, Bytes size) {
  if (size == 0) return;
  Address end = begin + size;
  auto range = ranges_.upper_bound(begin);
  if (range != ranges_.begin() && std::prev(range)->second >= begin) {
    --range;
    if (range->second >= end) return;
    begin = range->first;
  }
  while (range != ranges_.end() && range->first <= end) {
    end = std::max(end, range->second);
    range = ranges_.erase(range);
  }
  ranges_.emplace_hint(range, begin, end);
}

void RangeSet::remove(Address begin, Bytes size) {
  const Address end = begin + size;
  auto range = ranges_.upper_bound(begin);
  if (range != ranges_.begin() && std::prev(range)->second > begin) --range;
  while (range != ranges_.end() && range->first < end) {
    const auto [old_begin, old_end] = *range;
    range = ranges_.erase(range);
    if (old_begin < begin) ranges_.emplace(old_begin, begin);
    if (old_end > end) ranges_.emplace(end, old_end);
  }
}

bool RangeSet::contains(Address begin, Bytes size) const {
  auto range = ranges_.upper_bound(begin);
  if (range == ranges_.begin()) return size == 0;
  --range;
  return range->second >= begin + size;
}

}  // namespace gapless::card
