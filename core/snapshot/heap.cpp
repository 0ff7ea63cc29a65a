#include "snapshot/heap.h"

#include <bit>

#include "base/check.h"

namespace gapless {
namespace {

constexpr std::size_t kSlotsMax = 0xFFFFFFFFu;  // a run's begin and count have 32 bits

}  // namespace

void Heap::extend(Value object, std::span<const Value> values, std::uint64_t offset) {
  Value is = resolve(object);
  if (values.empty()) return;
  if (is.is(Kind::kEmptyList) || is.is(Kind::kEmptyDict)) {
    push(runs_, Run{static_cast<std::uint32_t>(slots_.size()), 0, 0, false, offset}, budget_);
    is = Value(is.is(Kind::kEmptyList) ? Kind::kList : Kind::kDict, runs_.size() - 1);
    redefine(object, is);
  }
  GAPLESS_CHECK(is.is(Kind::kList) || is.is(Kind::kDict));
  Run& run = runs_[is.index()];
  if (slots_.size() + values.size() > kSlotsMax) throw OverBudget{};
  const bool is_last = std::size_t{run.begin} + run.capacity == slots_.size();
  if (is_last) slots_.resize(run.begin + run.count);
  if (!is_last && run.count + values.size() > run.capacity) move_to_end(run, values.size());
  const std::size_t at = std::size_t{run.begin} + run.count;
  if (at + values.size() > slots_.size()) {
    make_room(slots_, at + values.size() - slots_.size(), budget_);
    slots_.resize(at + values.size());
    run.capacity = static_cast<std::uint32_t>(slots_.size() - run.begin);
  }
  std::copy(values.begin(), values.end(), slots_.begin() + static_cast<std::ptrdiff_t>(at));
  run.count += static_cast<std::uint32_t>(values.size());
  run.offset = offset;
}

// Room for twice the contents, so that a list that grows in turns with others is not copied each time.
void Heap::move_to_end(Run& run, std::size_t more) {
  const std::size_t capacity = run.count + std::max<std::size_t>(run.count, more);
  if (slots_.size() + capacity > kSlotsMax) throw OverBudget{};
  const std::size_t begin = slots_.size();
  make_room(slots_, capacity, budget_);
  slots_.resize(begin + capacity);
  std::copy_n(slots_.begin() + run.begin, run.count, slots_.begin() + static_cast<std::ptrdiff_t>(begin));
  run.begin = static_cast<std::uint32_t>(begin);
  run.capacity = static_cast<std::uint32_t>(capacity);
}

Value Heap::new_tuple(std::span<const Value> values, std::uint64_t offset) {
  const Value object = new_object(Value(Kind::kEmptyList, 0));
  if (values.empty()) return object;
  extend(object, values, offset);
  redefine(object, Value(Kind::kTuple, resolve(object).index()));
  return object;
}

std::span<const Value> Heap::contents(Value resolved) const {
  if (!resolved.is(Kind::kList) && !resolved.is(Kind::kTuple) && !resolved.is(Kind::kDict)) return {};
  const Run& run = runs_[resolved.index()];
  return {slots_.data() + run.begin, run.count};
}

void Heap::forget(Value resolved) {
  const Run& run = runs_[resolved.index()];
  if (std::size_t{run.begin} + run.capacity == slots_.size()) slots_.resize(run.begin);
  if (resolved.index() + 1 == runs_.size()) runs_.pop_back();
}

Value Heap::of_integer(std::int64_t n) {
  if (Value::fits_int(n)) return Value::of_int(n);
  push(wide_, static_cast<std::uint64_t>(n), budget_);
  return {n < 0 ? Kind::kWideMinus : Kind::kWide, wide_.size() - 1};
}

Value Heap::of_unsigned(std::uint64_t n) {
  if (n >> 55 == 0) return Value::of_int(static_cast<std::int64_t>(n));
  push(wide_, n, budget_);
  return {Kind::kWide, wide_.size() - 1};
}

Value Heap::of_float(double number) {
  push(wide_, std::bit_cast<std::uint64_t>(number), budget_);
  return {Kind::kFloat, wide_.size() - 1};
}

double Heap::number(Value value) const { return std::bit_cast<double>(wide_[value.index()]); }

bool Heap::to_signed(Value value, std::int64_t& out) const {
  if (value.is(Kind::kInt)) {
    out = value.integer();
    return true;
  }
  const bool wide = value.is(Kind::kWide) && wide_[value.index()] <= static_cast<std::uint64_t>(INT64_MAX);
  if (wide || value.is(Kind::kWideMinus)) out = static_cast<std::int64_t>(wide_[value.index()]);
  return wide || value.is(Kind::kWideMinus);
}

}  // namespace gapless
