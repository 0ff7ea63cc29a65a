// The memory of the pretend cards: what cudaMalloc and the virtual memory API give, and refuse.
#pragma once

#include <cstdint>

#include "card/address_map.h"
#include "card/export.h"
#include "card/results.h"

namespace gapless::card {

// Counters of one card. Read by Python: keep in step with virtual/control.py.
struct MemoryCounters {
  std::uint64_t used, used_peak, capacity;
  std::uint64_t mallocs, frees, creates, releases, maps, unmaps, refusals;
};

GAPLESS_EXPORT int device_count();
GAPLESS_EXPORT int current_device();
GAPLESS_EXPORT Result set_current_device(int device);
GAPLESS_EXPORT void memory_info(int device, Bytes* free, Bytes* total);
GAPLESS_EXPORT MemoryCounters memory_counters(int device);
GAPLESS_EXPORT void set_capacity(int device, Bytes capacity);
GAPLESS_EXPORT void refuse_allocation(int nth);  // 1: the next one; 0: none

GAPLESS_EXPORT Result allocate(int device, Bytes size, void** begin);  // size 0 gives a null pointer
GAPLESS_EXPORT Result release(void* begin);

// The range of one allocation or reservation that a pointer lies in.
GAPLESS_EXPORT Result range_of(const void* pointer, void** begin, Bytes* size);
GAPLESS_EXPORT bool is_device_pointer(const void* pointer, int* device = nullptr);

// Virtual memory: addresses, physical memory and mappings apart.
GAPLESS_EXPORT Result reserve_addresses(Bytes size, Bytes alignment, void** begin);
GAPLESS_EXPORT Result free_addresses(void* begin, Bytes size);
GAPLESS_EXPORT Result create_physical(int device, Bytes size, std::uint64_t* handle);
GAPLESS_EXPORT Result retain_physical(void* mapped, std::uint64_t* handle);
GAPLESS_EXPORT Result release_physical(std::uint64_t handle);
GAPLESS_EXPORT Result map_physical(void* begin, Bytes size, std::uint64_t handle);
GAPLESS_EXPORT Result unmap(void* begin, Bytes size);

}  // namespace gapless::card
