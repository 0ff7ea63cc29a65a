// Note [Rewind]
//
// Rationale: a recording holds the segments at its end and the events before it. Recording often starts late, the ring
// buffer forgets, and a dump is often written after the failure has unwound, so the state at an earlier event has to be
// found, and the safe direction is backwards: what the end state says is true.
//
// Approach: undo the events from the last to the wanted one. Segments are ranges, blocks in use a map by address; free
// blocks need no bookkeeping, they are the gaps between.
//
//       segment  |#######|.......|####|........|        # in use, . free
//                ^ undo `alloc`: # becomes .   ^ undo `free_completed`: . becomes #, pending
//
// Limits: an event says how much was requested, not how large the block was. In small pools and expandable segments the
// two differ only by rounding. In ordinary large segments up to 1 MiB may hang behind a block; it is found whenever
// the next block in use, or the segment's end, once begins within 1 MiB of it (a free block so small cannot exist
// there), else assumed to be nothing and said to be assumed.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "trace/snapshot.h"

namespace gapless {

// A place where the events and the end state, or two events, cannot both be true.
struct Contradiction {
  std::size_t event;
  std::string message;
};

class Rewinder {
 public:
  // Bytes of the block that a free_completed event gives back: `known` when that is sure, else the least it can be.
  struct BlockSize {
    Bytes bytes;
    bool known;
  };
  using SizeRule = std::function<BlockSize(std::size_t event, Bytes requested)>;

  // Starts after the last event. REQUIRES: `recording` outlives this.
  Rewinder(const DeviceRecording& recording, SizeRule size_rule);

  void rewind_to(std::size_t event);  // the state before that event; REQUIRES: event <= position()
  std::size_t position() const { return position_; }

  DeviceState state() const;
  // Addresses of blocks whose size is assumed.
  std::vector<Address> assumed_sizes() const;
  // For each event the pool that it concerns, as far as it is known; filled while rewinding.
  const std::vector<std::uint16_t>& pools() const { return pools_; }
  const std::vector<Contradiction>& contradictions() const { return contradictions_; }
  std::size_t contradiction_count() const { return contradiction_count_; }

 private:
  struct Range {
    Bytes size;
    std::uint32_t stack;
    std::uint16_t stream, pool;
    bool is_small, is_expandable;
  };
  struct Active {
    Bytes size, requested;
    std::uint32_t stack;
    BlockState state;
    bool assumed;
  };
  using Ranges = std::map<Address, Range>;
  using Actives = std::map<Address, Active>;

  void undo(std::size_t event);
  void undo_free_completed(std::size_t event, Address address, Bytes requested);
  void undo_segment_alloc(std::size_t event, Address address);
  void undo_map(std::size_t event, Address address, Bytes size);
  void undo_unmap(std::size_t event, Address address, Bytes size);
  void settle(Actives::iterator block);  // fixes an assumed size when the next boundary is near
  Ranges::iterator range_of(Address address);
  bool is_vacant(Address address, Bytes size) const;  // no range touches it
  void contradict(std::size_t event, std::string message);
  void note_pool(std::size_t event, const Range& range);

  const DeviceRecording& recording_;
  SizeRule size_rule_;
  std::size_t position_;
  Ranges ranges_;
  Actives actives_;
  std::vector<std::uint16_t> pools_;
  std::vector<Contradiction> contradictions_;
  std::size_t contradiction_count_ = 0;
};

}  // namespace gapless
