#include "replay/recorded_device.h"

#include <unordered_set>

namespace gapless {

void RecordedDevice::expect(std::size_t begin, std::size_t end) {
  expected_.clear();
  for (std::size_t event = begin; event < end; ++event) {
    const Action action = trace_.events().action[event];
    if (action != Action::kSnapshot && action != Action::kAnnotate) expected_.push_back(event);
  }
}

std::optional<std::size_t> RecordedDevice::next_event() const {
  if (log_.size() >= expected_.size()) return std::nullopt;
  return expected_[log_.size()];
}

std::optional<Address> RecordedDevice::allocate(Bytes) {
  const auto event = next_event();
  if (!event || trace_.events().action[*event] != Action::kSegmentAlloc) return std::nullopt;
  return trace_.events().address[*event];
}

std::optional<Address> RecordedDevice::reserve(Bytes) {
  const auto event = next_event();
  if (!event || trace_.events().action[*event] != Action::kSegmentMap) return std::nullopt;
  return trace_.events().address[*event];
}

bool RecordedDevice::map(Address, Bytes) {
  const auto event = next_event();
  return event && trace_.events().action[*event] == Action::kSegmentMap;
}

Bytes RecordedDevice::free_bytes() const {
  const auto event = next_event();
  return event && trace_.events().action[*event] == Action::kOom ? trace_.events().address[*event] : 0;
}

// Frees that wait complete in the order of the recording; those that it does not show stay.
void RecordedDevice::on_synchronize(std::vector<BlockIndex>& completed) {
  const std::unordered_set<BlockIndex> waiting(completed.begin(), completed.end());
  std::vector<BlockIndex> ordered;
  for (std::size_t i = log_.size(); i < expected_.size(); ++i) {
    const std::size_t event = expected_[i];
    if (trace_.events().action[event] != Action::kFreeCompleted) break;
    const AllocationId id = trace_.allocation_of_event[event];
    if (id == kNoAllocation) break;
    const BlockIndex block = (*block_of_)[id];
    if (waiting.contains(block)) ordered.push_back(block);
  }
  completed = std::move(ordered);
}

}  // namespace gapless
