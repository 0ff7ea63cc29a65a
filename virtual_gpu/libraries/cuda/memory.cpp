// The driver: memory, and virtual memory (what expandable segments are made of).
#include "card/memory.h"

#include "abi/driver.h"
#include "card/contents.h"
#include "card/streams.h"

using namespace gapless;

extern "C" int cuDevicePrimaryCtxRetain(void** context, int device);  // devices.cpp

namespace {

int copied(void* to, const void* from, std::size_t size) {
  card::count_launch();
  card::copy(to, from, size);
  return 0;
}

}  // namespace

GAPLESS_API int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  card::Bytes free_bytes = 0, total_bytes = 0;
  card::memory_info(card::current_device(), &free_bytes, &total_bytes);
  *free = free_bytes;
  *total = total_bytes;
  return 0;
}
GAPLESS_API int cuMemAlloc_v2(void** begin, std::size_t size) {
  return card::allocate(card::current_device(), size, begin);
}
GAPLESS_API int cuMemFree_v2(void* begin) { return card::release(begin); }
GAPLESS_API int cuMemGetAddressRange_v2(void** begin, std::size_t* size, const void* pointer) {
  card::Bytes bytes = 0;
  const int error = card::range_of(pointer, begin, &bytes);
  if (size != nullptr && error == 0) *size = bytes;
  return error;
}

GAPLESS_API int cuMemAddressReserve(void** begin, std::size_t size, std::size_t alignment, void*, unsigned long long) {
  return card::reserve_addresses(size, alignment, begin);
}
GAPLESS_API int cuMemAddressFree(void* begin, std::size_t size) { return card::free_addresses(begin, size); }
GAPLESS_API int cuMemCreate(std::uint64_t* handle, std::size_t size, const abi::AllocationProperties* properties,
                            unsigned long long) {
  return card::create_physical(properties->location.id, size, handle);
}
GAPLESS_API int cuMemRelease(std::uint64_t handle) { return card::release_physical(handle); }
GAPLESS_API int cuMemRetainAllocationHandle(std::uint64_t* handle, void* mapped) {
  return card::retain_physical(mapped, handle);
}
GAPLESS_API int cuMemMap(void* begin, std::size_t size, std::size_t, std::uint64_t handle, unsigned long long) {
  return card::map_physical(begin, size, handle);
}
GAPLESS_API int cuMemUnmap(void* begin, std::size_t size) { return card::unmap(begin, size); }
GAPLESS_API int cuMemSetAccess(void*, std::size_t, const void*, std::size_t) { return 0; }
GAPLESS_API int cuMemGetAllocationGranularity(std::size_t* granularity, const void*, int) {
  *granularity = card::settings().granularity;
  return 0;
}
GAPLESS_API int cuMemExportToShareableHandle(void*, std::uint64_t, int, unsigned long long) {
  return card::kNotSupported;
}
GAPLESS_API int cuMemImportFromShareableHandle(std::uint64_t*, void*, int) { return card::kNotSupported; }

GAPLESS_API int cuMemcpyHtoD_v2(void* to, const void* from, std::size_t size) { return copied(to, from, size); }
GAPLESS_API int cuMemcpyDtoH_v2(void* to, const void* from, std::size_t size) { return copied(to, from, size); }
GAPLESS_API int cuMemcpyHtoDAsync_v2(void* to, const void* from, std::size_t size, void*) {
  return copied(to, from, size);
}
GAPLESS_API int cuMemcpyDtoDAsync_v2(void* to, const void* from, std::size_t size, void*) {
  return copied(to, from, size);
}
GAPLESS_API int cuMemsetD8Async(void* begin, unsigned char value, std::size_t count, void*) {
  card::count_launch();
  card::fill(begin, value, count);
  return 0;
}
GAPLESS_API int cuMemsetD32Async(void* begin, unsigned value, std::size_t count, void*) {
  card::count_launch();
  const bool repeats = value % 0x100 * 0x1010101u == value;
  repeats ? card::fill(begin, static_cast<int>(value % 0x100), count * 4)
          : card::set_known(card::address_of(begin), count * 4, false);
  return 0;
}
GAPLESS_API int cuStreamWriteValue32_v2(void*, void*, unsigned, unsigned) { return 0; }

GAPLESS_API int cuPointerGetAttribute(void* out, int attribute, const void* pointer) {
  int device = 0;
  if (!card::is_device_pointer(pointer, &device)) return card::kInvalidValue;
  switch (attribute) {
    case abi::kPointerMemoryType:
      *static_cast<unsigned*>(out) = abi::kDriverMemoryDevice;
      return 0;
    case abi::kPointerDevicePointer:
    case abi::kPointerBufferId:
      *static_cast<const void**>(out) = pointer;
      return 0;
    case abi::kPointerContext:
      return cuDevicePrimaryCtxRetain(static_cast<void**>(out), device);
    case abi::kPointerDeviceOrdinal:
      *static_cast<int*>(out) = device;
      return 0;
    default:
      return card::kNotSupported;
  }
}
