// The counters of torch.cuda.memory_stats, with PyTorch's names and moments of change.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace gapless {

struct Stat {
  std::int64_t current = 0;
  std::int64_t peak = 0;
  std::int64_t allocated = 0;  // sum of all increases

  std::int64_t freed() const { return allocated - current; }  // sum of all decreases
  void increase(std::int64_t amount) {
    current += amount;
    allocated += amount;
    peak = std::max(peak, current);
  }
  void decrease(std::int64_t amount) { current -= amount; }
};

// A statistic of the small and the large pools, and of both together. Only the peak of both needs a place of its own.
class PoolStat {
 public:
  void increase(bool is_small, std::int64_t amount) {
    of_pool_[is_small ? 0 : 1].increase(amount);
    current_ += amount;
    peak_ = std::max(peak_, current_);
  }
  void decrease(bool is_small, std::int64_t amount) {
    of_pool_[is_small ? 0 : 1].decrease(amount);
    current_ -= amount;
  }
  void change(bool is_small, std::int64_t amount) {
    if (amount > 0) increase(is_small, amount);
    if (amount < 0) decrease(is_small, -amount);
  }

  std::int64_t current() const { return current_; }
  std::int64_t peak() const { return peak_; }
  const Stat& of_pool(bool is_small) const { return of_pool_[is_small ? 0 : 1]; }
  Stat all() const { return {current_, peak_, of_pool_[0].allocated + of_pool_[1].allocated}; }

 private:
  std::int64_t current_ = 0;
  std::int64_t peak_ = 0;
  std::array<Stat, 2> of_pool_;  // small, large
};

struct Statistics {
  PoolStat allocation, segment, active, inactive_split;  // counts
  PoolStat allocated_bytes, reserved_bytes, active_bytes, inactive_split_bytes, requested_bytes;
  Stat oversize_allocations, oversize_segments;
  std::int64_t num_alloc_retries = 0;
  std::int64_t num_ooms = 0;
  std::int64_t num_oom_rejections = 0;
  std::int64_t num_sync_all_streams = 0;
  std::int64_t num_device_alloc = 0;
  std::int64_t num_device_free = 0;
};

}  // namespace gapless
