// Numbers for things of which a recording has few: streams, pools. The last one asked for is answered at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "snapshot/id_table.h"

namespace gapless {

// `Hash`: a function object from T to std::uint64_t, by mix_hash.
template <class T, class Hash>
class SmallIds {
 public:
  static constexpr std::size_t kMax = 0xFFFE;  // 0xFFFF means unknown

  SmallIds(T first, Budget& budget) : budget_(budget), table_(budget) { id_of(first); }

  // None when there are more than kMax.
  std::optional<std::uint16_t> id_of(const T& item) {
    if (last_ < items_.size() && items_[last_] == item) return static_cast<std::uint16_t>(last_);
    const std::uint32_t id = table_.find_or_add(
        Hash{}(item), [&](std::uint32_t other) { return items_[other] == item; },
        [&] {
          push(items_, item, budget_);
          return static_cast<std::uint32_t>(items_.size() - 1);
        });
    if (id >= kMax) return std::nullopt;
    last_ = id;
    return static_cast<std::uint16_t>(id);
  }
  std::vector<T> take() {
    items_.resize(std::min(items_.size(), kMax));
    return std::move(items_);
  }

 private:
  Budget& budget_;
  IdTable table_;
  std::vector<T> items_;
  std::size_t last_ = 0;
};

}  // namespace gapless
