// Pinned host memory: ordinary memory that the pretend runtime remembers. Pages are taken when they are written.
#include "libraries/cudart/host_memory.h"
#include "card/results.h"

#include <sys/mman.h>

#include <cstdint>
#include <map>
#include <mutex>

#include "abi/runtime.h"
#include "libraries/cudart/errors.h"

using namespace gapless;
using cudart::result;

namespace {

struct Pinned {
  std::mutex mutex;
  std::map<std::uintptr_t, std::size_t> ranges;
};

Pinned& pinned() {
  static auto* const instance = new Pinned;
  return *instance;
}

}  // namespace

namespace gapless::cudart {

bool is_pinned(const void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const std::lock_guard<std::mutex> lock(pinned().mutex);
  auto range = pinned().ranges.upper_bound(address);
  return range != pinned().ranges.begin() && address < (--range)->first + range->second;
}

}  // namespace gapless::cudart

GAPLESS_API int cudaHostAlloc(void** begin, std::size_t size, unsigned) {
  constexpr std::size_t kPage = 4096;
  const std::size_t whole = size == 0 ? kPage : (size + kPage - 1) / kPage * kPage;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* const mapped = mmap(nullptr, whole, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (mapped == MAP_FAILED) return result(card::kOutOfMemory);
  const std::lock_guard<std::mutex> lock(pinned().mutex);
  pinned().ranges[reinterpret_cast<std::uintptr_t>(mapped)] = whole;
  *begin = mapped;
  return 0;
}
GAPLESS_API int cudaMallocHost(void** begin, std::size_t size) { return cudaHostAlloc(begin, size, 0); }
GAPLESS_API int cudaFreeHost(void* begin) {
  if (begin == nullptr) return 0;
  const std::lock_guard<std::mutex> lock(pinned().mutex);
  const auto range = pinned().ranges.find(reinterpret_cast<std::uintptr_t>(begin));
  if (range == pinned().ranges.end()) return result(card::kInvalidValue);
  munmap(begin, range->second);
  pinned().ranges.erase(range);
  return 0;
}
GAPLESS_API int cudaHostRegister(void* begin, std::size_t size, unsigned) {
  const std::lock_guard<std::mutex> lock(pinned().mutex);
  pinned().ranges[reinterpret_cast<std::uintptr_t>(begin)] = size;
  return 0;
}
GAPLESS_API int cudaHostUnregister(void* begin) {
  const std::lock_guard<std::mutex> lock(pinned().mutex);
  pinned().ranges.erase(reinterpret_cast<std::uintptr_t>(begin));
  return 0;
}
GAPLESS_API int cudaHostGetDevicePointer(void** device_pointer, void* host_pointer, unsigned) {
  *device_pointer = host_pointer;
  return 0;
}
GAPLESS_API int cudaHostGetFlags(unsigned* flags, void* begin) {
  *flags = 0;
  return result(cudart::is_pinned(begin) ? 0 : card::kInvalidValue);
}
