// The creation order of what existed when a recording began: no event tells it, ties that the recording decides do.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

namespace gapless {

// A tie that the recording decides otherwise than the assumed creation order: `first` is older than `second`.
struct TieOrder {
  std::uint32_t first, second;
};

// The assumed creation order of what existed at the start: a list of numbers, oldest first.
class StartOrder {
 public:
  void resize(std::uint32_t count) {
    if (!oldest_first_.empty()) return;
    oldest_first_.resize(count);
    std::iota(oldest_first_.begin(), oldest_first_.end(), 1u);
  }

  // rank[n - 1] is the place of number n.
  std::vector<std::uint32_t> rank() const {
    std::vector<std::uint32_t> rank(oldest_first_.size());
    for (std::uint32_t place = 0; place < oldest_first_.size(); ++place) rank[oldest_first_[place] - 1] = place + 1;
    return rank;
  }

  // Moves the number at place `tie.first` in front of the one at place `tie.second`. Places count from 1.
  void learn(const TieOrder& tie) {
    const std::uint32_t moved = oldest_first_[tie.first - 1];
    oldest_first_.erase(oldest_first_.begin() + (tie.first - 1));
    oldest_first_.insert(oldest_first_.begin() + (tie.second - 1), moved);
  }

 private:
  std::vector<std::uint32_t> oldest_first_;
};

}  // namespace gapless
