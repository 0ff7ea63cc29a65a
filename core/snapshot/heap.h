// The lists and dictionaries of one pickle. A list or dictionary is an object: its number stays while what it is
// changes from empty to filled, and to a row of Rows once it is recognised as one, so that a second reference costs
// nothing. Contents lie end to end in one array; the last one grows in place, another moves to the end first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "snapshot/budget.h"
#include "snapshot/value.h"

namespace gapless {

// Contents of a list, tuple or dictionary: a stretch of Heap's slots.
struct Run {
  std::uint32_t begin;
  std::uint32_t count;
  std::uint32_t capacity;
  bool refused;          // looked at as a row or stack before, and is none
  std::uint64_t offset;  // of the opcode that filled it last
};

class Heap {
 public:
  explicit Heap(Budget& budget) : budget_(budget) {}

  Value new_object(Value is) {
    if (objects_.size() >= 0xFFFFFFFFu) throw OverBudget{};
    push(objects_, is, budget_);
    return {Kind::kObject, objects_.size() - 1};
  }
  // Room for objects that are each in one list.
  void reserve_objects(std::size_t count) {
    reserve(objects_, count, budget_);
    reserve(slots_, count, budget_);
  }
  // What a value is: an object's present meaning, anything else itself.
  Value resolve(Value value) const { return value.is(Kind::kObject) ? objects_[value.index()] : value; }
  void redefine(Value object, Value is) { objects_[object.index()] = is; }

  // Adds to a list or dictionary. REQUIRES: resolve(object) is an empty or filled list or dictionary.
  void extend(Value object, std::span<const Value> values, std::uint64_t offset);
  Value new_tuple(std::span<const Value> values, std::uint64_t offset);

  const Run& run(Value resolved) const { return runs_[resolved.index()]; }
  void refuse(Value resolved) { runs_[resolved.index()].refused = true; }
  // The contents of a resolved list, tuple or dictionary; nothing for any other value. Valid until the next change.
  std::span<const Value> contents(Value resolved) const;
  // Makes the room of a run that nobody reads any more available, where that is cheap.
  void forget(Value resolved);

  Value of_integer(std::int64_t n);
  Value of_unsigned(std::uint64_t n);
  Value of_float(double number);
  double number(Value value) const;                                            // REQUIRES: kFloat
  std::uint64_t wide_bits(Value value) const { return wide_[value.index()]; }  // REQUIRES: kWide or kWideMinus

  // False unless the value is an integer (a bool is none) in range.
  bool to_unsigned(Value value, std::uint64_t& out) const {
    out = value.is(Kind::kWide) ? wide_[value.index()] : value.payload();
    return (value.is(Kind::kInt) && value.integer() >= 0) || value.is(Kind::kWide);
  }
  bool to_signed(Value value, std::int64_t& out) const;

 private:
  void move_to_end(Run& run, std::size_t more);

  Budget& budget_;
  std::vector<Value> objects_;
  std::vector<Run> runs_;
  std::vector<Value> slots_;
  std::vector<std::uint64_t> wide_;
};

}  // namespace gapless
