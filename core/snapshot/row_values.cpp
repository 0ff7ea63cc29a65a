// The values of a row: texts, lines, streams, pools, stacks.
#include "snapshot/row_pairs.h"
#include "snapshot/rows.h"

namespace gapless {

bool Rows::read_text(Value value, std::uint32_t& out) const {
  out = value.index();
  return value.is(Kind::kText);
}

// PyTorch writes -1 where a frame has no line, at times as an unsigned number.
bool Rows::read_line(Value value, std::int32_t& out) const {
  std::uint64_t line = 0;
  if (value == Value::of_int(-1)) return true;
  if (!heap_.to_unsigned(value, line) || (line > INT32_MAX && line != UINT64_MAX)) return false;
  out = line == UINT64_MAX ? 0 : static_cast<std::int32_t>(line);
  return true;
}

bool Rows::read_stream(Value value, std::uint16_t& out) {
  std::uint64_t handle = 0;
  std::int64_t negative = 0;  // a handle in the upper half of the address space, cast
  if (!heap_.to_unsigned(value, handle)) {
    if (!heap_.to_signed(value, negative)) return false;
    handle = static_cast<std::uint64_t>(negative);
  }
  const std::optional<std::uint16_t> id = streams.id_of(handle);
  out = id.value_or(0);
  return id.has_value();
}

bool Rows::read_pool(Value value, std::uint16_t& out) {
  PoolId pool;
  if (value.is(Kind::kPair)) {
    pool = {value.payload() >> kPairBits, value.payload() & ((std::uint64_t{1} << kPairBits) - 1)};
  } else {
    const std::span<const Value> parts = heap_.contents(heap_.resolve(value));
    if (parts.size() != 2 || heap_.resolve(value).is(Kind::kDict)) return false;
    if (!heap_.to_unsigned(parts[0], pool.first) || !heap_.to_unsigned(parts[1], pool.second)) return false;
  }
  const std::optional<std::uint16_t> id = pools.id_of(pool);
  out = id.value_or(0);
  return id.has_value();
}

bool Rows::read_stack(Value value, std::uint32_t& out) {
  const Value list = heap_.resolve(value);
  if (list.is(Kind::kStack)) {
    out = list.index();
    return true;
  }
  const bool is_list = list.is(Kind::kList) && !heap_.run(list).refused;
  if (!is_list && !(list.is(Kind::kEmptyList) && value.is(Kind::kObject))) return false;
  frame_ids_.clear();
  for (const Value item : heap_.contents(list)) {
    const Value frame = heap_.resolve(item);
    if (!frame.is(Kind::kFrame)) {
      heap_.refuse(list);
      return false;
    }
    push(frame_ids_, frame.index(), budget_);
  }
  out = stacks.intern_stack(frame_ids_);
  if (!is_list) return true;
  heap_.redefine(value, Value(Kind::kStack, out));
  heap_.forget(list);
  return true;
}

// 2.0 wrote the allocations that a block served, newest first, in place of its frames. The newest is the block's own.
bool Rows::read_history(Value value, Block& history) {
  const Value list = heap_.resolve(value);
  if (list.is(Kind::kEmptyList)) return true;
  if (!list.is(Kind::kList)) return false;
  const Value newest = heap_.resolve(heap_.contents(list)[0]);
  if (!newest.is(Kind::kDict) || heap_.contents(newest).size() > 2 * kRowKeysMax) return false;
  Problem ignored;
  return read_pairs(heap_.contents(newest), ignored, [&](std::uint32_t key, Value item) {
    if (key == word::real_size) return heap_.to_unsigned(item, history.requested);
    return key != word::frames || read_stack(item, history.stack);
  });
}

}  // namespace gapless
