#include "card/contents.h"

#include <cstring>
#include <mutex>

#include "card/range_set.h"

namespace gapless::card {
namespace {

std::mutex& mutex() {
  static auto* const instance = new std::mutex;
  return *instance;
}

RangeSet& known() {
  static auto* const instance = new RangeSet;
  return *instance;
}

thread_local bool distrusts_reads = false;

void zero(void* begin, Bytes size) {
  const Address address = address_of(begin);
  constexpr Bytes kPage = 4096;
  if (size < 4 * kPage) {
    std::memset(begin, 0, size);
    return;
  }
  const Address first = (address + kPage - 1) / kPage * kPage, last = (address + size) / kPage * kPage;
  std::memset(begin, 0, first - address);
  drop_pages(first, last - first);
  std::memset(pointer_to(last), 0, address + size - last);
}

}  // namespace

void copy(void* to, const void* from, Bytes size) {
  if (size == 0) return;
  const bool to_device = is_device_address(address_of(to)), from_device = is_device_address(address_of(from));
  if (!to_device && !from_device) {
    std::memmove(to, from, size);
    return;
  }
  const bool is_small = size <= settings().contents_limit;
  if (from_device && !to_device && distrusts_reads) {
    std::memset(to, 0, size);
  } else if (is_small) {
    std::memmove(to, from, size);
  } else if (to_device) {
    zero(to, size);
  } else {
    std::memset(to, 0, size);
  }
  if (to_device) set_known(address_of(to), size, is_small && (!from_device || is_known(address_of(from), size)));
}

void fill(void* begin, int value, Bytes size) {
  if (!is_device_address(address_of(begin))) {
    std::memset(begin, value, size);
    return;
  }
  const bool is_small = size <= settings().contents_limit;
  if (value == 0 || !is_small) {
    zero(begin, size);
  } else {
    std::memset(begin, value, size);
  }
  set_known(address_of(begin), size, value == 0 || is_small);
}

void distrust_reads(bool distrust) { distrusts_reads = distrust; }

void forget(Address begin, Bytes size) {
  drop_pages(begin, size);
  set_known(begin, size, false);
}

void set_known(Address begin, Bytes size, bool is_true) {
  const std::lock_guard<std::mutex> lock(mutex());
  is_true ? known().add(begin, size) : known().remove(begin, size);
}

bool is_known(Address begin, Bytes size) {
  const std::lock_guard<std::mutex> lock(mutex());
  return known().contains(begin, size);
}

}  // namespace gapless::card
