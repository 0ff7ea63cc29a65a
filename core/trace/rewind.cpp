#include "trace/rewind.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"

namespace gapless {
namespace {

constexpr Bytes kSlack = 1_MiB;             // a free block of the large pool's ordinary segments is larger than this
constexpr Bytes kSmallSegmentSize = 2_MiB;  // a large pool's segment is never so small
constexpr Bytes kLeastBlock = 512;          // sizes of all blocks are multiples of it
constexpr std::size_t kKeptContradictions = 100;

}  // namespace

Rewinder::Rewinder(const DeviceRecording& recording, SizeRule size_rule)
    : recording_(recording),
      size_rule_(std::move(size_rule)),
      position_(recording.events.count()),
      pools_(recording.events.pool) {
  for (const Segment& segment : recording.state.segments) {
    const std::uint16_t pool = segment.pool == kUnknownPool ? std::uint16_t{0} : segment.pool;
    ranges_.emplace(segment.address,
                    Range{segment.size, segment.stack, segment.stream, pool, segment.is_small, segment.is_expandable});
    for (std::uint32_t i = 0; i < segment.block_count; ++i) {
      const Block& block = recording.state.blocks[segment.first_block + i];
      if (block.state == BlockState::kFree) continue;
      actives_.emplace(block.address, Active{block.size, block.requested, block.stack, block.state, false});
    }
  }
}

void Rewinder::rewind_to(std::size_t event) {
  GAPLESS_CHECK(event <= position_);
  while (position_ > event) undo(--position_);
}

void Rewinder::contradict(std::size_t event, std::string message) {
  ++contradiction_count_;
  if (contradictions_.size() < kKeptContradictions) contradictions_.push_back({event, std::move(message)});
}

Rewinder::Ranges::iterator Rewinder::range_of(Address address) {
  auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) return ranges_.end();
  const auto range = std::prev(after);
  return address - range->first < range->second.size ? range : ranges_.end();
}

bool Rewinder::is_vacant(Address address, Bytes size) const {
  const auto after = ranges_.lower_bound(address);
  if (after != ranges_.end() && after->first - address < size) return false;
  if (after == ranges_.begin()) return true;
  const auto before = std::prev(after);
  return before->first + before->second.size <= address;
}

void Rewinder::note_pool(std::size_t event, const Range& range) {
  if (pools_[event] == kUnknownPool) pools_[event] = range.pool;
}

void Rewinder::undo(std::size_t event) {
  const Events& events = recording_.events;
  const Address address = events.address[event];
  const Bytes size = events.size[event];
  switch (events.action[event]) {
    case Action::kAlloc: {
      const auto block = actives_.find(address);
      if (block == actives_.end()) return contradict(event, "allocates a block that is not in use afterwards");
      if (block->second.requested != size) contradict(event, "allocates other bytes than the block has afterwards");
      if (const auto range = range_of(address); range != ranges_.end()) note_pool(event, range->second);
      actives_.erase(block);
      return;
    }
    case Action::kFreeCompleted:
      return undo_free_completed(event, address, size);
    case Action::kFreeRequested: {
      const auto block = actives_.find(address);
      if (block == actives_.end()) return contradict(event, "frees a block that is neither pending nor freed later");
      block->second.state = BlockState::kAllocated;
      return;
    }
    case Action::kSegmentAlloc:
      return undo_segment_alloc(event, address);
    case Action::kSegmentFree:
      if (size == 0 || !is_vacant(address, size)) {
        return contradict(event, "releases a segment that is still there afterwards");
      }
      ranges_[address] = Range{size,
                               events.stack[event],
                               events.stream[event],
                               pools_[event] == kUnknownPool ? std::uint16_t{0} : pools_[event],
                               size == kSmallSegmentSize,
                               false};
      return;
    case Action::kSegmentMap:
      return undo_map(event, address, size);
    case Action::kSegmentUnmap:
      return undo_unmap(event, address, size);
    case Action::kOom:
    case Action::kSnapshot:
    case Action::kAnnotate:
      return;
  }
}

void Rewinder::undo_free_completed(std::size_t event, Address address, Bytes requested) {
  const auto range = range_of(address);
  if (range == ranges_.end()) return contradict(event, "frees a block outside all segments");
  note_pool(event, range->second);
  const BlockSize rule = size_rule_(event, requested);
  const Events& events = recording_.events;
  const bool exact = rule.known || range->second.is_small || range->second.is_expandable;
  const Bytes room = range->first + range->second.size - address;
  // A rule that gives more than there is room for was not in force then: settings can be switched while a job runs.
  const Bytes bytes = rule.known || rule.bytes <= room ? rule.bytes : round_up(requested, kLeastBlock);
  if (bytes == 0 || bytes > room) return contradict(event, "frees a block that is larger than its segment");
  const auto [block, is_new] =
      actives_.insert_or_assign(address, Active{bytes, requested, events.stack[event], BlockState::kPending, !exact});
  if (!is_new) contradict(event, "frees a block that is in use afterwards");
  settle(block);
  if (block != actives_.begin()) settle(std::prev(block));
}

void Rewinder::settle(Actives::iterator block) {
  if (!block->second.assumed) return;
  const auto range = range_of(block->first);
  if (range == ranges_.end()) return;
  Address boundary = range->first + range->second.size;
  const auto next = std::next(block);
  if (next != actives_.end()) boundary = std::min(boundary, next->first);
  const Address end = block->first + block->second.size;
  if (boundary < end || boundary - end > kSlack) return;
  block->second.size = boundary - block->first;
  block->second.assumed = false;
}

void Rewinder::undo_segment_alloc(std::size_t event, Address address) {
  const auto range = ranges_.find(address);
  if (range == ranges_.end()) return contradict(event, "allocates a segment that is not there afterwards");
  note_pool(event, range->second);
  const auto inside = actives_.lower_bound(address);
  if (inside != actives_.end() && inside->first - address < range->second.size) {
    contradict(event, "allocates a segment in which a block is in use already");
  }
  ranges_.erase(range);
}

void Rewinder::undo_map(std::size_t event, Address address, Bytes size) {
  const auto range = range_of(address);
  if (range == ranges_.end() || size > range->first + range->second.size - address) {
    return contradict(event, "maps pages that are not there afterwards");
  }
  note_pool(event, range->second);
  const Address begin = range->first;
  const Address end = begin + range->second.size;
  const Range whole = range->second;
  ranges_.erase(range);
  const auto keep = [&](Address from, Address to) {
    if (from == to) return;
    Range part = whole;
    part.size = to - from;
    ranges_.emplace(from, part);
  };
  keep(begin, address);
  keep(address + size, end);
}

void Rewinder::undo_unmap(std::size_t event, Address address, Bytes size) {
  if (size == 0 || !is_vacant(address, size)) return contradict(event, "unmaps pages that are still there afterwards");
  const Events& events = recording_.events;
  Range range{size,
              events.stack[event],
              events.stream[event],
              pools_[event] == kUnknownPool ? std::uint16_t{0} : pools_[event],
              size % (20_MiB) != 0,
              true};
  Address begin = address;
  const auto right = ranges_.find(address + size);
  const auto joins = [&](const Range& other) { return other.is_expandable && other.stream == range.stream; };
  if (right != ranges_.end() && joins(right->second)) {
    range.size += right->second.size;
    range.pool = right->second.pool;
    range.is_small = right->second.is_small;
    ranges_.erase(right);
  }
  const auto left = range_of(address - 1);
  if (address > 0 && left != ranges_.end() && left->first + left->second.size == address && joins(left->second)) {
    begin = left->first;
    range.size += left->second.size;
    range.pool = left->second.pool;
    range.is_small = left->second.is_small;
    ranges_.erase(left);
  }
  note_pool(event, range);
  ranges_.insert_or_assign(begin, range);
}

DeviceState Rewinder::state() const {
  DeviceState state;
  auto active = actives_.begin();
  for (const auto& [address, range] : ranges_) {
    const auto first = static_cast<std::uint32_t>(state.blocks.size());
    const Address end = address + range.size;
    Address at = address;
    const auto fill = [&](Address to) {
      if (to > at) state.blocks.push_back({at, to - at, 0, kNoStack, BlockState::kFree});
    };
    while (active != actives_.end() && active->first < address) ++active;
    for (; active != actives_.end() && active->first < end; ++active) {
      const Active& block = active->second;
      if (active->first < at || block.size > end - active->first) continue;  // contradictory; the segment stays tiled
      fill(active->first);
      state.blocks.push_back({active->first, block.size, block.requested, block.stack, block.state});
      at = active->first + block.size;
    }
    fill(end);
    state.segments.push_back({address, range.size, first, static_cast<std::uint32_t>(state.blocks.size()) - first,
                              range.stack, range.stream, range.pool, range.is_small, range.is_expandable});
  }
  return state;
}

std::vector<Address> Rewinder::assumed_sizes() const {
  std::vector<Address> addresses;
  for (const auto& [address, active] : actives_) {
    if (active.assumed) addresses.push_back(address);
  }
  return addresses;
}

}  // namespace gapless
