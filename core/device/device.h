// A Device is where an allocator gets memory from: whole segments, or pages mapped into reserved address ranges.
// Allocators know this interface and never which device it is: simulated, recorded or real.
#pragma once

#include <optional>

#include "base/units.h"

namespace gapless {

class Device {
 public:
  virtual ~Device() = default;

  // A segment of `size` bytes (cudaMalloc); nothing when the device refuses.
  virtual std::optional<Address> allocate(Bytes size) = 0;
  // Gives back what allocate() returned (cudaFree).
  virtual void release(Address address, Bytes size) = 0;

  // A range of addresses without memory (cuMemAddressReserve).
  virtual std::optional<Address> reserve(Bytes size) = 0;
  virtual void unreserve(Address address, Bytes size) = 0;
  // Puts memory behind [address, address + size), whole pages, all or nothing (cuMemCreate, cuMemMap).
  virtual bool map(Address address, Bytes size) = 0;
  virtual void unmap(Address address, Bytes size) = 0;

  virtual Bytes free_bytes() const = 0;   // what cudaMemGetInfo calls free
  virtual Bytes total_bytes() const = 0;  // what the card reports as its size
};

}  // namespace gapless
