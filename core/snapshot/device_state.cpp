#include "snapshot/device_state.h"

#include <algorithm>

namespace gapless {
namespace {

std::string at(const std::string& path, std::size_t index) { return path + "[" + std::to_string(index) + "]"; }

// A segment's row, and where it stands in the file's list.
struct Entry {
  const SegmentRow* row;
  std::size_t index;
};

class StateReader {
 public:
  StateReader(const std::string& path, const Heap& heap, Rows& rows, const Faults& faults, Budget& budget)
      : path_(path), heap_(heap), rows_(rows), faults_(faults), budget_(budget) {}

  std::map<int, DeviceState> read(std::span<const Value> list) {
    std::map<int, DeviceState> states;
    const std::vector<Entry> entries = sorted(list);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const SegmentRow& row = *entries[i].row;
      const bool has_before = i > 0 && entries[i - 1].row->device == row.device;
      if (has_before) check_apart(entries[i - 1], entries[i]);
      if (!has_before) budget_.take(2 * sizeof(DeviceState) + 64);
      add_segment(row, at(path_, entries[i].index), states[row.device]);
    }
    return states;
  }

 private:
  // By device and address.
  std::vector<Entry> sorted(std::span<const Value> list) {
    std::vector<Entry> entries;
    reserve(entries, list.size(), budget_);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Value is = heap_.resolve(list[i]);
      if (!is.is(Kind::kSegment)) faults_.fail_row(list[i], Kind::kSegment, at(path_, i), rows_);
      entries.push_back({&rows_.segments[is.index()], i});
    }
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      const auto key = [](const Entry& e) { return std::tuple(e.row->device, e.row->segment.address, e.index); };
      return key(a) < key(b);
    });
    return entries;
  }

  void check_apart(const Entry& before, const Entry& entry) const {
    const Segment& first = before.row->segment;
    if (entry.row->segment.address - first.address >= first.size) return;
    faults_.fail(at(path_, entry.index), "overlaps " + at(path_, before.index) + ": both hold address " +
                                             std::to_string(entry.row->segment.address));
  }

  void add_segment(const SegmentRow& row, const std::string& path, DeviceState& state) {
    Segment segment = row.segment;
    const std::span<const Value> list = heap_.contents(faults_.list_at(row.blocks, path + ".blocks"));
    if (segment.size > kNoAddress - segment.address) faults_.fail(path, "ends beyond the address space");
    if (state.blocks.size() + list.size() > 0xFFFFFFFFu) throw OverBudget{};
    segment.first_block = static_cast<std::uint32_t>(state.blocks.size());
    segment.block_count = static_cast<std::uint32_t>(list.size());
    Address next = segment.address;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Value is = heap_.resolve(list[i]);
      if (!is.is(Kind::kBlock)) faults_.fail_row(list[i], Kind::kBlock, at(path + ".blocks", i), rows_);
      Block block = rows_.blocks[is.index()];
      if (block.address == kNoAddress) block.address = next;
      check_tiles(block, next, segment, at(path + ".blocks", i));
      next += block.size;
      push(state.blocks, block, budget_);
    }
    if (next != segment.address + segment.size)
      faults_.fail(path, "has " + std::to_string(segment.size) + " bytes, but its blocks have " +
                             std::to_string(next - segment.address));
    push(state.segments, segment, budget_);
  }

  void check_tiles(const Block& block, Address next, const Segment& segment, const std::string& path) const {
    if (block.address != next)
      faults_.fail(
          path, "is at " + std::to_string(block.address) + ", but the block before it ends at " + std::to_string(next));
    if (block.size == 0) faults_.fail(path, "has 0 bytes");
    if (block.size > segment.address + segment.size - next)
      faults_.fail(path, "has " + std::to_string(block.size) + " bytes and ends beyond its segment");
  }

  const std::string& path_;
  const Heap& heap_;
  Rows& rows_;
  const Faults& faults_;
  Budget& budget_;
};

}  // namespace

std::map<int, DeviceState> read_device_states(std::span<const Value> list, const std::string& path, const Heap& heap,
                                              Rows& rows, const Faults& faults, Budget& budget) {
  return StateReader(path, heap, rows, faults, budget).read(list);
}

}  // namespace gapless
