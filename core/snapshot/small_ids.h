// Numbers for things of which a recording has few: streams, pools. The last one asked for is answered at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace gapless {

template <class T, class Hash>
class SmallIds {
 public:
  static constexpr std::size_t kMax = 0xFFFE;  // 0xFFFF means unknown

  explicit SmallIds(T first) : items_{first}, ids_{{first, 0}} {}

  // None when there are more than kMax.
  std::optional<std::uint16_t> id_of(const T& item) {
    if (items_[last_] == item) return last_;
    const auto found = ids_.find(item);
    if (found == ids_.end() && items_.size() >= kMax) return std::nullopt;
    last_ = found != ids_.end() ? found->second : static_cast<std::uint16_t>(items_.size());
    if (found == ids_.end()) {
      items_.push_back(item);
      ids_.emplace(item, last_);
    }
    return last_;
  }
  std::vector<T> take() { return std::move(items_); }

 private:
  std::vector<T> items_;
  std::unordered_map<T, std::uint16_t, Hash> ids_;
  std::uint16_t last_ = 0;
};

}  // namespace gapless
