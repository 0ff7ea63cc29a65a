// The rows of a snapshot: a dictionary whose keys are those of an event, a segment, a block or a frame becomes a row
// of columns, a list of frames an interned stack. What does not fit stays a dictionary; it matters only if it turns
// out to stand where a row is due, and the Problem then says what is wrong with it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "snapshot/heap.h"
#include "snapshot/keys.h"
#include "snapshot/small_ids.h"
#include "snapshot/stack_table.h"
#include "snapshot/words.h"
#include "trace/snapshot.h"

namespace gapless {

constexpr Address kNoAddress = UINT64_MAX;  // of blocks written before 2.1
constexpr std::size_t kRowKeysMax = 64;     // a dictionary with more is no row

struct EventRow {
  Action action = Action::kAlloc;
  Address address = 0;
  Bytes device_free = 0;
  Bytes size = 0;
  std::int64_t time_us = kNoTime;
  std::uint32_t stack = kNoStack;
  std::uint32_t compile_context = kNoText;
  std::uint32_t user_metadata = kNoText;
  std::uint16_t stream = 0;
  std::uint16_t pool = kUnknownPool;
};

struct SegmentRow {
  Segment segment;  // its blocks are not counted yet
  Value blocks;     // an object
  int device;
};

struct StreamHash {
  std::uint64_t operator()(std::uint64_t handle) const { return mix_hash(mix_hash(0, handle), 1); }
};
struct PoolHash {
  std::uint64_t operator()(const PoolId& id) const { return mix_hash(mix_hash(0, id.first), id.second); }
};

// Why a dictionary is not the row that its keys announce.
struct Problem {
  std::uint32_t key = kNoText;  // a word; kNoText when the keys announce no row
  Value got;
  bool is_missing = false;
};

class Rows {
 public:
  Rows(Heap& heap, Budget& budget);

  // The row that the dictionary `pairs` makes, of the kind its keys announce. None when they announce none, or a
  // value has a fault; `problem` then says which.
  std::optional<Value> make_row(std::span<const Value> pairs, Problem& problem);
  // Turns an object that is a dictionary of a row into that row, where it can.
  void settle(Value object);

  void reserve_events(std::size_t count);

  Events events;                     // of all devices, in order of the file
  std::vector<SegmentRow> segments;  // in order of the file, so too blocks
  std::vector<Block> blocks;
  StackTable stacks;
  Keys keys;
  SmallIds<std::uint64_t, StreamHash> streams;
  SmallIds<PoolId, PoolHash> pools;

 private:
  std::optional<Value> make_event(std::span<const Value> pairs, std::uint64_t seen, Problem& problem);
  std::optional<Value> make_segment(std::span<const Value> pairs, std::uint64_t seen, Problem& problem);
  std::optional<Value> make_block(std::span<const Value> pairs, std::uint64_t seen, Problem& problem);
  std::optional<Value> make_frame(std::span<const Value> pairs, std::uint64_t seen, Problem& problem);
  bool read_event_field(std::uint32_t key, Value value, EventRow& row);
  bool read_segment_field(std::uint32_t key, Value value, SegmentRow& row);
  bool read_block_field(std::uint32_t key, Value value, Block& row, Block& history);
  bool read_frame_field(std::uint32_t key, Value value, Frame& row);
  void push_event(const EventRow& row);

  bool read_text(Value value, std::uint32_t& out) const;
  bool read_stack(Value value, std::uint32_t& out);
  bool read_stream(Value value, std::uint16_t& out);
  bool read_pool(Value value, std::uint16_t& out);
  bool read_line(Value value, std::int32_t& out) const;
  bool read_history(Value value, Block& history);

  Heap& heap_;
  Budget& budget_;
  std::vector<std::uint32_t> frame_ids_;  // of the stack being read
};

}  // namespace gapless
