// The stack of a pickle machine, with its marks, and its memo.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "snapshot/budget.h"
#include "snapshot/fault.h"
#include "snapshot/value.h"

namespace gapless {

class Stack {
 public:
  explicit Stack(Budget& budget) : budget_(budget) {}

  void push(Value value) { gapless::push(values_, value, budget_); }
  Value top() const { return values_[first_of(1)]; }
  Value pop() {
    const Value value = top();
    values_.pop_back();
    return value;
  }
  void push_mark() { gapless::push(marks_, std::uint64_t{values_.size()}, budget_); }
  // Where the values above the last mark begin; the mark is gone.
  std::size_t pop_mark() {
    if (marks_.empty()) [[unlikely]]
      fault("the pickle closes a container that it did not open");
    const std::size_t mark = marks_.back();
    marks_.pop_back();
    return mark;
  }
  bool is_at_mark() const { return !marks_.empty() && marks_.back() == values_.size(); }

  // Where the last n values begin. None of them may lie below a mark.
  std::size_t first_of(std::size_t n) const {
    const std::size_t bottom = marks_.empty() ? 0 : marks_.back();
    if (values_.size() - bottom < n) [[unlikely]]
      fault("the pickle takes a value where there is none");
    return values_.size() - n;
  }
  // What the values from `first` on go into: it lies just below them, above the next mark.
  Value owner_below(std::size_t first) const {
    const bool is_there = first > 0 && first <= values_.size() && (marks_.empty() || marks_.back() < first);
    if (!is_there) [[unlikely]]
      fault("the pickle fills a container that is not there");
    return values_[first - 1];
  }
  std::span<const Value> from(std::size_t first) const { return std::span(values_).subspan(first); }
  void cut(std::size_t size) { values_.resize(size); }

  std::span<const Value> values() const { return values_; }
  std::span<const std::uint64_t> marks() const { return marks_; }
  void clear() {
    drop(values_, budget_);
    drop(marks_, budget_);
  }

 private:
  Budget& budget_;
  std::vector<Value> values_;
  std::vector<std::uint64_t> marks_;  // positions in values_, ascending
};

class Memo {
 public:
  explicit Memo(Budget& budget) : budget_(budget) {}

  void reserve_entries(std::size_t count) { reserve(values_, count, budget_); }
  void put_next(Value value) { push(values_, value, budget_); }
  void put(std::uint64_t key, Value value);
  Value get(std::uint64_t key) const {
    if (key < values_.size() && values_[key] != kAbsent) [[likely]]
      return values_[key];
    return get_other(key);
  }
  void clear() {
    drop(values_, budget_);
    others_.clear();
  }

 private:
  static constexpr Value kAbsent{Kind::kEmptyDict, 0};  // never a value on the stack

  Value get_other(std::uint64_t key) const;

  Budget& budget_;
  std::vector<Value> values_;  // by key, as far as keys come in order
  std::map<std::uint64_t, Value> others_;
};

}  // namespace gapless
