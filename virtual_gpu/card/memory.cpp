#include "card/memory.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <unordered_map>

#include "card/contents.h"

namespace gapless::card {
namespace {

struct Allocation {
  Bytes size;
  int device;
};

struct Physical {
  Bytes size;
  int device;
  int references;  // its handle, and mappings
};

struct Mapping {
  Bytes size;
  std::uint64_t handle;
};

// The entry whose range holds the address; end() when there is none.
template <class Map, class SizeOf>
typename Map::iterator holding(Map& map, Address address, SizeOf size_of) {
  auto entry = map.upper_bound(address);
  if (entry == map.begin()) return map.end();
  --entry;
  return address < entry->first + size_of(entry->second) ? entry : map.end();
}

class Memory {
 public:
  Memory()
      : malloc_ranges_(kMallocBegin, kMallocSize, settings().addresses),
        reservation_ranges_(kReservationsBegin, kReservationsSize, AddressModel::kAscending) {
    claim_addresses();
    for (MemoryCounters& card : counters_) card.capacity = settings().capacity;
  }

  std::mutex mutex;

  MemoryCounters& counters(int device) { return counters_[static_cast<std::size_t>(device)]; }

  Bytes free_bytes(int device) {
    const MemoryCounters& card = counters(device);
    const Bytes taken = card.used + settings().context;
    return taken > card.capacity ? 0 : card.capacity - taken;
  }

  void refuse(int nth) { refuse_in_ = nth; }

  Result allocate(int device, Bytes size, void** begin) {
    const Bytes granularity = settings().granularity;
    const Bytes whole = (size + granularity - 1) / granularity * granularity;
    if (whole < size || !charge(device, whole)) return kOutOfMemory;
    const std::optional<Address> address = malloc_ranges_.take(whole, granularity);
    if (!address) {
      counters(device).used -= whole;
      return kOutOfMemory;
    }
    allocations_[*address] = {whole, device};
    ++counters(device).mallocs;
    *begin = pointer_to(*address);
    return kSuccess;
  }

  Result release(Address begin) {
    const auto found = allocations_.find(begin);
    if (found == allocations_.end()) return kInvalidValue;
    const auto [size, device] = found->second;
    allocations_.erase(found);
    counters(device).used -= size;
    ++counters(device).frees;
    forget(begin, size);
    malloc_ranges_.give_back(begin, size);
    return kSuccess;
  }

  Result range_of(Address address, void** begin, Bytes* size) {
    const auto report = [&](Address range_begin, Bytes range_size) {
      if (begin != nullptr) *begin = pointer_to(range_begin);
      if (size != nullptr) *size = range_size;
      return kSuccess;
    };
    const auto allocation = holding(allocations_, address, [](const Allocation& a) { return a.size; });
    if (allocation != allocations_.end()) return report(allocation->first, allocation->second.size);
    const auto reservation = holding(reservations_, address, [](Bytes bytes) { return bytes; });
    if (reservation != reservations_.end()) return report(reservation->first, reservation->second);
    return kInvalidValue;
  }

  int device_of(Address address) {
    const auto allocation = holding(allocations_, address, [](const Allocation& a) { return a.size; });
    if (allocation != allocations_.end()) return allocation->second.device;
    const auto mapping = holding(mappings_, address, [](const Mapping& m) { return m.size; });
    return mapping == mappings_.end() ? 0 : physical_[mapping->second.handle].device;
  }

  Result reserve(Bytes size, Bytes alignment, void** begin) {
    const std::optional<Address> address = reservation_ranges_.take(size, std::max(alignment, settings().granularity));
    if (!address) return kOutOfMemory;
    reservations_[*address] = size;
    *begin = pointer_to(*address);
    return kSuccess;
  }

  Result free_reservation(Address begin, Bytes size) {
    const auto found = reservations_.find(begin);
    if (found == reservations_.end() || found->second != size) return kInvalidValue;
    reservations_.erase(found);
    reservation_ranges_.give_back(begin, size);
    return kSuccess;
  }

  Result create(int device, Bytes size, std::uint64_t* handle) {
    if (size == 0 || size % settings().granularity != 0) return kInvalidValue;
    if (!charge(device, size)) return kOutOfMemory;
    *handle = ++last_handle_;
    physical_[*handle] = {size, device, 1};
    ++counters(device).creates;
    return kSuccess;
  }

  Result retain(Address mapped, std::uint64_t* handle) {
    const auto mapping = holding(mappings_, mapped, [](const Mapping& m) { return m.size; });
    if (mapping == mappings_.end()) return kInvalidValue;
    *handle = mapping->second.handle;
    ++physical_[*handle].references;
    return kSuccess;
  }

  Result drop_reference(std::uint64_t handle) {
    const auto found = physical_.find(handle);
    if (found == physical_.end()) return kInvalidValue;
    if (--found->second.references > 0) return kSuccess;
    MemoryCounters& card = counters(found->second.device);
    card.used -= found->second.size;
    ++card.releases;
    physical_.erase(found);
    return kSuccess;
  }

  Result map(Address begin, Bytes size, std::uint64_t handle) {
    const auto found = physical_.find(handle);
    if (found == physical_.end() || size > found->second.size) return kInvalidValue;
    const auto next = mappings_.lower_bound(begin);
    const bool meets_next = next != mappings_.end() && next->first < begin + size;
    if (meets_next || holding(mappings_, begin, [](const Mapping& m) { return m.size; }) != mappings_.end()) {
      return kInvalidValue;
    }
    ++found->second.references;
    mappings_[begin] = {size, handle};
    ++counters(found->second.device).maps;
    return kSuccess;
  }

  Result unmap(Address begin, Bytes size) {
    auto mapping = mappings_.lower_bound(begin);
    bool any = false;
    while (mapping != mappings_.end() && mapping->first < begin + size) {
      const auto [address, mapped] = *mapping;
      mapping = mappings_.erase(mapping);
      forget(address, mapped.size);
      ++counters(physical_[mapped.handle].device).unmaps;
      drop_reference(mapped.handle);
      any = true;
    }
    return any ? kSuccess : kInvalidValue;
  }

 private:
  // Takes physical memory, unless the card is full or a test wants a refusal.
  bool charge(int device, Bytes size) {
    MemoryCounters& card = counters(device);
    const bool refused = refuse_in_ > 0 && --refuse_in_ == 0;
    if (refused || size > free_bytes(device)) {
      ++card.refusals;
      return false;
    }
    card.used += size;
    card.used_peak = std::max(card.used_peak, card.used);
    return true;
  }

  AddressRanges malloc_ranges_, reservation_ranges_;
  std::map<Address, Allocation> allocations_;
  std::map<Address, Bytes> reservations_;
  std::map<Address, Mapping> mappings_;
  std::unordered_map<std::uint64_t, Physical> physical_;
  std::uint64_t last_handle_ = 0x1000;
  std::array<MemoryCounters, kMaxDevices> counters_{};
  int refuse_in_ = 0;
};

// Never destroyed: libraries call us from their own destructors.
Memory& memory() {
  static auto* const instance = new Memory;
  return *instance;
}

thread_local int current = 0;

template <class Call>
Result locked(Call call) {
  Memory& state = memory();
  const std::lock_guard<std::mutex> lock(state.mutex);
  return call(state);
}

bool is_device(int device) { return device >= 0 && device < settings().devices; }

}  // namespace

int device_count() { return settings().devices; }
int current_device() { return current; }

Result set_current_device(int device) {
  if (!is_device(device)) return kInvalidDevice;
  current = device;
  return kSuccess;
}

void memory_info(int device, Bytes* free, Bytes* total) {
  Memory& state = memory();
  const std::lock_guard<std::mutex> lock(state.mutex);
  if (free != nullptr) *free = state.free_bytes(device);
  if (total != nullptr) *total = state.counters(device).capacity;
}

MemoryCounters memory_counters(int device) {
  Memory& state = memory();
  const std::lock_guard<std::mutex> lock(state.mutex);
  return state.counters(device);
}

void set_capacity(int device, Bytes capacity) {
  locked([&](Memory& m) { return m.counters(device).capacity = capacity, kSuccess; });
}

void refuse_allocation(int nth) {
  locked([&](Memory& m) { return m.refuse(nth), kSuccess; });
}

Result allocate(int device, Bytes size, void** begin) {
  *begin = nullptr;
  if (!is_device(device)) return kInvalidDevice;
  return size == 0 ? kSuccess : locked([&](Memory& m) { return m.allocate(device, size, begin); });
}

Result release(void* begin) {
  return begin == nullptr ? kSuccess : locked([&](Memory& m) { return m.release(address_of(begin)); });
}

Result range_of(const void* pointer, void** begin, Bytes* size) {
  return locked([&](Memory& m) { return m.range_of(address_of(pointer), begin, size); });
}

bool is_device_pointer(const void* pointer, int* device) {
  if (!is_device_address(address_of(pointer))) return false;
  if (device != nullptr) locked([&](Memory& m) { return *device = m.device_of(address_of(pointer)), kSuccess; });
  return true;
}

Result reserve_addresses(Bytes size, Bytes alignment, void** begin) {
  return locked([&](Memory& m) { return m.reserve(size, alignment, begin); });
}

Result free_addresses(void* begin, Bytes size) {
  return locked([&](Memory& m) { return m.free_reservation(address_of(begin), size); });
}

Result create_physical(int device, Bytes size, std::uint64_t* handle) {
  if (!is_device(device)) return kInvalidDevice;
  return locked([&](Memory& m) { return m.create(device, size, handle); });
}

Result retain_physical(void* mapped, std::uint64_t* handle) {
  return locked([&](Memory& m) { return m.retain(address_of(mapped), handle); });
}

Result release_physical(std::uint64_t handle) {
  return locked([&](Memory& m) { return m.drop_reference(handle); });
}

Result map_physical(void* begin, Bytes size, std::uint64_t handle) {
  return locked([&](Memory& m) { return m.map(address_of(begin), size, handle); });
}

Result unmap(void* begin, Bytes size) {
  return locked([&](Memory& m) { return m.unmap(address_of(begin), size); });
}

}  // namespace gapless::card
