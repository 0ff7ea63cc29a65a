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
  std::int64_t freed = 0;      // sum of all decreases

  void increase(std::int64_t amount) {
    current += amount;
    peak = std::max(peak, current);
    allocated += amount;
  }
  void decrease(std::int64_t amount) {
    current -= amount;
    freed += amount;
  }
  void change(std::int64_t amount) { amount > 0 ? increase(amount) : decrease(-amount); }
};

// A statistic of the whole allocator and of its two kinds of pools.
struct PoolStat {
  Stat all;
  std::array<Stat, 2> of_pool;  // small, large

  void increase(bool is_small, std::int64_t amount) {
    all.increase(amount);
    of_pool[is_small ? 0 : 1].increase(amount);
  }
  void decrease(bool is_small, std::int64_t amount) {
    all.decrease(amount);
    of_pool[is_small ? 0 : 1].decrease(amount);
  }
  void change(bool is_small, std::int64_t amount) {
    if (amount != 0) amount > 0 ? increase(is_small, amount) : decrease(is_small, -amount);
  }
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
