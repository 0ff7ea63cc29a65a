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
  // For an input of `bytes`: what a recording with the shortest of events takes, and some room for small ones.
  explicit Budget(Bytes bytes) : limit_(48_MiB) { allow_for(bytes); }

  // `bytes` more of input have come to light.
  void allow_for(Bytes bytes) { limit_ += 3 * bytes; }

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

// Memory that is needed for a moment.
class Loan {
 public:
  Loan(Budget& budget, Bytes n) : budget_(budget), n_(n) { budget_.take(n); }
  ~Loan() { budget_.give_back(n_); }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;

 private:
  Budget& budget_;
  Bytes n_;
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
[[gnu::noinline]] void make_room(std::vector<T>& items, std::size_t more, Budget& budget) {
  const std::size_t needed = items.size() + more;
  if (needed > items.capacity())
    reserve(items, std::max({needed, items.capacity() + items.capacity() / 2, std::size_t{16}}), budget);
}

template <class T>
[[gnu::always_inline]] inline void push(std::vector<T>& items, T item, Budget& budget) {
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
