#include "card/address_ranges.h"

#include <algorithm>

namespace gapless::card {
namespace {

constexpr Bytes kLinuxStep = 32 * kMiB;  // addresses of cudaMalloc on Linux are multiples of it for larger segments
constexpr Bytes kWindow = kTiB;          // where descending and random addresses are looked for

Address round_up(Address value, Bytes step) { return (value + step - 1) / step * step; }

}  // namespace

AddressRanges::AddressRanges(Address begin, Bytes size, AddressModel model)
    : begin_(begin), size_(size), model_(model), unused_(begin), free_{{begin, size}}, random_(settings().seed) {
  if (model == AddressModel::kRecorded) recorded_ = std::fopen(settings().recorded_addresses.c_str(), "r");
}

std::optional<Address> AddressRanges::take(Bytes size, Bytes alignment) {
  std::optional<Address> found;
  if (model_ == AddressModel::kRecorded) found = next_recorded(size);
  if (model_ == AddressModel::kFresh) return never_used(size, alignment);
  if (model_ == AddressModel::kDescending) found = highest(size, size < kLinuxStep ? alignment : kLinuxStep);
  if (model_ == AddressModel::kRandom) found = anywhere(size, alignment);
  return found ? found : lowest(size, alignment);
}

void AddressRanges::give_back(Address begin, Bytes size) {
  if (model_ == AddressModel::kFresh) return;
  auto after = free_.lower_bound(begin);
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == begin) {
      begin = before->first;
      size += before->second;
      free_.erase(before);
    }
  }
  if (after != free_.end() && begin + size == after->first) {
    size += after->second;
    free_.erase(after);
  }
  free_[begin] = size;
}

std::optional<Address> AddressRanges::lowest(Bytes size, Bytes alignment) {
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    const Address begin = round_up(range->first, alignment);
    if (begin + size > range->first + range->second) continue;
    cut(range, begin, size);
    return begin;
  }
  return std::nullopt;
}

std::optional<Address> AddressRanges::highest(Bytes size, Bytes alignment) {
  const Address ceiling = begin_ + std::min(size_, kWindow);
  for (auto range = free_.rbegin(); range != free_.rend(); ++range) {
    const Address end = std::min(range->first + range->second, ceiling);
    if (end < range->first + size) continue;
    const Address begin = (end - size) / alignment * alignment;
    if (begin < range->first) continue;
    cut(std::prev(range.base()), begin, size);
    return begin;
  }
  return std::nullopt;
}

std::optional<Address> AddressRanges::never_used(Bytes size, Bytes alignment) {
  const Address begin = round_up(unused_, alignment);
  if (begin + size > begin_ + size_ || !take_at(begin, size)) return std::nullopt;
  unused_ = begin + size;
  return begin;
}

std::optional<Address> AddressRanges::anywhere(Bytes size, Bytes alignment) {
  for (int attempt = 0; attempt < 64; ++attempt) {
    const Address begin = round_up(begin_ + random_() % std::min(size_, kWindow), alignment);
    if (take_at(begin, size)) return begin;
  }
  return std::nullopt;
}

// The recording's addresses, moved as a whole into our range; where the program asks for another size, it has left the
// recording, and addresses follow the default from there on.
std::optional<Address> AddressRanges::next_recorded(Bytes size) {
  unsigned long long address = 0, recorded_size = 0;
  if (recorded_ == nullptr || std::fscanf(recorded_, "%llx %llx", &address, &recorded_size) != 2 ||
      recorded_size != size || !take_at(begin_ + address % size_, size)) {
    if (recorded_ != nullptr) std::fclose(recorded_);
    recorded_ = nullptr;
    return std::nullopt;
  }
  return begin_ + address % size_;
}

bool AddressRanges::take_at(Address begin, Bytes size) {
  auto range = free_.upper_bound(begin);
  if (range == free_.begin()) return false;
  --range;
  if (begin + size > range->first + range->second) return false;
  cut(range, begin, size);
  return true;
}

void AddressRanges::cut(Free::iterator range, Address begin, Bytes size) {
  const auto [range_begin, range_size] = *range;
  free_.erase(range);
  if (begin > range_begin) free_[range_begin] = begin - range_begin;
  const Address end = begin + size, range_end = range_begin + range_size;
  if (end < range_end) free_[end] = range_end - end;
}

}  // namespace gapless::card
