#include "snapshot/rows.h"

#include "snapshot/row_pairs.h"

namespace gapless {
namespace {

constexpr std::uint64_t keys_of(std::initializer_list<std::uint32_t> keys) {
  std::uint64_t set = 0;
  for (const std::uint32_t key : keys) set |= key_bit(key);
  return set;
}

// Notes the first key of `needed` that was not seen.
bool has_all(std::uint64_t needed, std::uint64_t seen, Problem& problem) {
  const std::uint64_t missing = needed & ~seen;
  if (missing == 0) return true;
  problem = {static_cast<std::uint32_t>(__builtin_ctzll(missing)), Value(), true};
  return false;
}

}  // namespace

Rows::Rows(Heap& heap, Budget& budget)
    : stacks(budget), keys(budget), streams(0, budget), pools({0, 0}, budget), heap_(heap), budget_(budget) {}

std::optional<Value> Rows::make_row(std::span<const Value> pairs, Problem& problem) {
  if (pairs.size() > 2 * kRowKeysMax) return std::nullopt;
  std::uint64_t seen = 0;
  bool has_others = false;
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    const bool is_known = pairs[i].is_text_below(kKeyCount);
    if (is_known) seen |= key_bit(pairs[i].index());
    has_others |= !is_known;
  }
  std::optional<Value> row;
  Scope scope = Scope::kEvent;
  if (seen & key_bit(word::action)) {
    row = make_event(pairs, seen, problem);
  } else if (seen & key_bit(word::filename)) {
    scope = Scope::kFrame;
    row = make_frame(pairs, seen, problem);
  } else if (seen & key_bit(word::total_size)) {
    scope = Scope::kSegment;
    row = make_segment(pairs, seen, problem);
  } else if (seen & key_bit(word::state)) {
    scope = Scope::kBlock;
    row = make_block(pairs, seen, problem);
  }
  if (!row) return row;
  keys.see(scope, seen);
  for (std::size_t i = 0; has_others && i < pairs.size(); i += 2) keys.see(scope, pairs[i]);
  return row;
}

void Rows::settle(Value object) {
  const Value dict = heap_.resolve(object);
  if (!object.is(Kind::kObject) || !dict.is(Kind::kDict) || heap_.run(dict).refused) return;
  Problem ignored;
  const std::optional<Value> row = make_row(heap_.contents(dict), ignored);
  if (!row) return heap_.refuse(dict);
  heap_.redefine(object, *row);
  heap_.forget(dict);
}

// ---- events

void Rows::reserve_events(std::size_t count) {
  reserve(events.action, count, budget_);
  reserve(events.address, count, budget_);
  reserve(events.size, count, budget_);
  reserve(events.time_us, count, budget_);
  reserve(events.stack, count, budget_);
  reserve(events.stream, count, budget_);
  reserve(events.pool, count, budget_);
  reserve(events.compile_context, count, budget_);
  reserve(events.user_metadata, count, budget_);
}

void Rows::push_event(const EventRow& row) {
  const std::size_t count = events.count();
  if (count == events.action.capacity()) reserve_events(std::max<std::size_t>(64, count + count / 2));
  if (count >= 0xFFFFFFFFu) throw OverBudget{};
  events.action.push_back(row.action);
  events.address.push_back(row.address);
  events.size.push_back(row.size);
  events.time_us.push_back(row.time_us);
  events.stack.push_back(row.stack);
  events.stream.push_back(row.stream);
  events.pool.push_back(row.pool);
  events.compile_context.push_back(row.compile_context);
  events.user_metadata.push_back(row.user_metadata);
}

[[gnu::always_inline]] inline bool Rows::read_event_field(std::uint32_t key, Value value, EventRow& row) {
  switch (key) {
    case word::action:
      if (!value.is(Kind::kText) || value.index() < word::alloc || value.index() > word::annotate) return false;
      row.action = static_cast<Action>(value.index() - word::alloc);
      return true;
    case word::addr:
      return heap_.to_unsigned(value, row.address);
    case word::device_free:
      return heap_.to_unsigned(value, row.device_free);
    case word::size:
      return heap_.to_unsigned(value, row.size);
    case word::stream:
      return read_stream(value, row.stream);
    case word::time_us:
      return heap_.to_signed(value, row.time_us);
    case word::frames:
      return read_stack(value, row.stack);
    case word::compile_context:
      return read_text(value, row.compile_context);
    case word::user_metadata:
      return read_text(value, row.user_metadata);
    case word::pool_id:
      return read_pool(value, row.pool);
    default:
      return true;
  }
}

std::optional<Value> Rows::make_event(std::span<const Value> pairs, std::uint64_t seen, Problem& problem) {
  constexpr std::uint64_t kNeeded = keys_of({word::action, word::size, word::stream});
  EventRow row;
  const auto read = [&](std::uint32_t key, Value value) { return read_event_field(key, value, row); };
  if (!has_all(kNeeded, seen, problem) || !read_pairs(pairs, problem, read)) return std::nullopt;
  const bool is_oom = row.action == Action::kOom;
  if (!has_all(key_bit(is_oom ? word::device_free : word::addr), seen, problem)) return std::nullopt;
  if (is_oom) row.address = row.device_free;
  push_event(row);
  return Value(Kind::kEvent, events.count() - 1);
}

// ---- segments, blocks, frames

bool Rows::read_segment_field(std::uint32_t key, Value value, SegmentRow& row) {
  std::int64_t device = 0;
  switch (key) {
    case word::device:
      if (!heap_.to_signed(value, device) || device < 0 || device > 0xFFFF) return false;
      row.device = static_cast<int>(device);
      return true;
    case word::address:
      return heap_.to_unsigned(value, row.segment.address);
    case word::total_size:
      return heap_.to_unsigned(value, row.segment.size);
    case word::stream:
      return read_stream(value, row.segment.stream);
    case word::segment_type:
      row.segment.is_small = value == Value(Kind::kText, word::small);
      return row.segment.is_small || value == Value(Kind::kText, word::large);
    case word::segment_pool_id:
      return read_pool(value, row.segment.pool);
    case word::is_expandable:
      row.segment.is_expandable = value == Value::of_bool(true);
      return value.is(Kind::kBool);
    case word::frames:
      return read_stack(value, row.segment.stack);
    case word::blocks:
      row.blocks = value;
      return value.is(Kind::kObject);
    default:
      return true;
  }
}

std::optional<Value> Rows::make_segment(std::span<const Value> pairs, std::uint64_t seen, Problem& problem) {
  constexpr std::uint64_t kNeeded =
      keys_of({word::device, word::address, word::total_size, word::stream, word::blocks});
  SegmentRow row{{0, 0, 0, 0, kNoStack, 0, kUnknownPool, false, false}, Value(), 0};
  const auto read = [&](std::uint32_t key, Value value) { return read_segment_field(key, value, row); };
  if (!has_all(kNeeded, seen, problem) || !read_pairs(pairs, problem, read)) return std::nullopt;
  push(segments, row, budget_);
  return Value(Kind::kSegment, segments.size() - 1);
}

bool Rows::read_block_field(std::uint32_t key, Value value, Block& row, Block& history) {
  switch (key) {
    case word::address:
      return heap_.to_unsigned(value, row.address) && row.address != kNoAddress;
    case word::size:
      return heap_.to_unsigned(value, row.size);
    case word::requested_size:
      return heap_.to_unsigned(value, row.requested);
    case word::frames:
      return read_stack(value, row.stack);
    case word::history:
      return read_history(value, history);
    case word::state:
      if (!value.is(Kind::kText) || value.index() < word::inactive || value.index() > word::active_awaiting_free)
        return false;
      row.state = value.index() == word::inactive           ? BlockState::kFree
                  : value.index() == word::active_allocated ? BlockState::kAllocated
                                                            : BlockState::kPending;
      return true;
    default:
      return true;
  }
}

std::optional<Value> Rows::make_block(std::span<const Value> pairs, std::uint64_t seen, Problem& problem) {
  Block row{kNoAddress, 0, 0, kNoStack, BlockState::kFree};
  Block history = row;
  const auto read = [&](std::uint32_t key, Value value) { return read_block_field(key, value, row, history); };
  if (!has_all(keys_of({word::size, word::state}), seen, problem) || !read_pairs(pairs, problem, read))
    return std::nullopt;
  if (!(seen & key_bit(word::requested_size))) row.requested = history.requested != 0 ? history.requested : row.size;
  if (row.stack == kNoStack) row.stack = history.stack;
  push(blocks, row, budget_);
  return Value(Kind::kBlock, blocks.size() - 1);
}

bool Rows::read_frame_field(std::uint32_t key, Value value, Frame& row) {
  switch (key) {
    case word::filename:
      return read_text(value, row.file);
    case word::name:
      return read_text(value, row.function);
    case word::line:
      return read_line(value, row.line);
    default:
      return true;
  }
}

std::optional<Value> Rows::make_frame(std::span<const Value> pairs, std::uint64_t seen, Problem& problem) {
  Frame row{0, 0, 0};
  const auto read = [&](std::uint32_t key, Value value) { return read_frame_field(key, value, row); };
  constexpr std::uint64_t kNeeded = keys_of({word::filename, word::name, word::line});
  if (!has_all(kNeeded, seen, problem) || !read_pairs(pairs, problem, read)) return std::nullopt;
  return Value(Kind::kFrame, stacks.intern_frame(row));
}

}  // namespace gapless
