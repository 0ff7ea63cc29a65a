// A pretend card: bookkeeping only. It refuses what does not fit and hands out addresses by a stated model.
//
// Address model: a request takes the lowest free range of exactly its size that was given back before, else new
// addresses, ascending or descending. Real drivers differ; releases of PyTorch up to 2.11 break ties by address, so
// answers for them are given for both directions.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "device/device.h"

namespace gapless {

enum class AddressOrder : std::uint8_t { kAscending, kDescending };

// Calls that the device answered with yes.
struct DeviceCalls {
  std::uint64_t alloc = 0, free = 0, map = 0, unmap = 0;
};

class SimulatedDevice final : public Device {
 public:
  explicit SimulatedDevice(Bytes capacity, AddressOrder order = AddressOrder::kAscending)
      : capacity_(capacity), limit_(capacity), order_(order) {}

  std::optional<Address> allocate(Bytes size) override;
  void release(Address address, Bytes size) override;
  std::optional<Address> reserve(Bytes size) override;
  void unreserve(Address, Bytes) override {}
  bool map(Address address, Bytes size) override;
  void unmap(Address address, Bytes size) override;
  Bytes free_bytes() const override { return limit_ > used_ ? limit_ - used_ : 0; }
  Bytes total_bytes() const override { return capacity_; }

  // From now on at most `bytes` may be in use; the reported size of the card stays.
  void set_limit(Bytes bytes) { limit_ = bytes; }
  Bytes used_bytes() const { return used_; }
  const DeviceCalls& calls() const { return calls_; }
  // Counts memory that is on the card already, at addresses that the device did not choose.
  void adopt(Bytes size) { used_ += size; }

 private:
  Bytes capacity_;
  Bytes limit_;
  Bytes used_ = 0;
  DeviceCalls calls_;
  AddressOrder order_;
  Address next_segment_ = 0x700000000000;  // ascending: the next new segment
  Address last_segment_ = 0x6f0000000000;  // descending: the end of the next new segment
  Address next_reservation_ = 0x600000000000;
  std::map<Bytes, std::set<Address>> given_back_;
};

}  // namespace gapless
