#include "device/simulated.h"

namespace gapless {
namespace {

constexpr Bytes kPage = 2_MiB;  // the driver's granularity

}  // namespace

std::optional<Address> SimulatedDevice::allocate(Bytes size) {
  const Bytes rounded = round_up(size, kPage);
  if (rounded > free_bytes()) return std::nullopt;
  used_ += rounded;
  ++calls_.alloc;
  if (auto found = given_back_.find(rounded); found != given_back_.end() && !found->second.empty()) {
    const Address address = *found->second.begin();
    found->second.erase(found->second.begin());
    return address;
  }
  if (order_ == AddressOrder::kDescending) return last_segment_ -= rounded;
  const Address address = next_segment_;
  next_segment_ += rounded;
  return address;
}

void SimulatedDevice::release(Address address, Bytes size) {
  const Bytes rounded = round_up(size, kPage);
  used_ -= rounded;
  ++calls_.free;
  given_back_[rounded].insert(address);
}

std::optional<Address> SimulatedDevice::reserve(Bytes size) {
  const Address address = next_reservation_;
  next_reservation_ += round_up(size, 1_GiB);
  return address;
}

bool SimulatedDevice::map(Address, Bytes size) {
  if (size > free_bytes()) return false;
  used_ += size;
  ++calls_.map;
  return true;
}

void SimulatedDevice::unmap(Address, Bytes size) {
  used_ -= size;
  ++calls_.unmap;
}

}  // namespace gapless
