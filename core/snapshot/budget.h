// Memory for one reading is granted in proportion to the file: a recording takes less, and a small file that asks for
// much more is hostile. Every container that grows with the input asks here first, so that the refusal comes before
// the memory is taken.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

#include "base/units.h"

namespace gapless {

// Thrown when the grant is used up. The machine knows where it stands and makes a FormatError of it.
struct OverBudget : std::exception {
  const char* what() const noexcept override { return "over budget"; }
};

class Budget {
 public:
  explicit Budget(Bytes limit) : limit_(limit) {}

  void take(Bytes n) {
    if (n > limit_ - used_) throw OverBudget{};
    used_ += n;
  }
  void give_back(Bytes n) { used_ -= n; }
  Bytes limit() const { return limit_; }

 private:
  Bytes limit_;
  Bytes used_ = 0;  // <= limit_
};

// Room for `count` items, paid for; old and new storage count both while one is copied to the other.
template <class T>
void reserve(std::vector<T>& items, std::size_t count, Budget& budget) {
  if (count <= items.capacity()) return;
  const std::size_t before = items.capacity();
  budget.take(count * sizeof(T));
  items.reserve(count);
  budget.give_back(before * sizeof(T));
}

template <class T>
void make_room(std::vector<T>& items, std::size_t more, Budget& budget) {
  const std::size_t needed = items.size() + more;
  if (needed > items.capacity())
    reserve(items, std::max({needed, items.capacity() + items.capacity() / 2, std::size_t{16}}), budget);
}

template <class T>
void push(std::vector<T>& items, T item, Budget& budget) {
  if (items.size() == items.capacity()) [[unlikely]]
    make_room(items, 1, budget);
  items.push_back(std::move(item));
}

// Frees the storage, unlike clear().
template <class T>
void drop(std::vector<T>& items, Budget& budget) {
  budget.give_back(items.capacity() * sizeof(T));
  std::vector<T>().swap(items);
}

}  // namespace gapless
