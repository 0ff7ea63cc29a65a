// Device memory: taken, given back, copied, filled.
#include <cstdint>
#include <map>
#include <mutex>

#include "abi/runtime.h"
#include "card/contents.h"
#include "card/memory.h"
#include "card/streams.h"
#include "libraries/cudart/errors.h"
#include "libraries/cudart/host_memory.h"

using namespace gapless;
using cudart::result;

namespace {

int copied(void* to, const void* from, std::size_t size) {
  card::count_launch();
  card::copy(to, from, size);
  return 0;
}

int filled(void* begin, int value, std::size_t size) {
  card::count_launch();
  card::fill(begin, value, size);
  return 0;
}

}  // namespace

GAPLESS_API int cudaMalloc(void** begin, std::size_t size) {
  return result(card::allocate(card::current_device(), size, begin));
}
GAPLESS_API int cudaFree(void* begin) {
  card::finish_all();  // it waits for the device
  return result(card::release(begin));
}
GAPLESS_API int cudaMallocAsync(void** begin, std::size_t size, void*) { return cudaMalloc(begin, size); }
GAPLESS_API int cudaMallocFromPoolAsync(void** begin, std::size_t size, void*, void*) {
  return cudaMalloc(begin, size);
}
GAPLESS_API int cudaFreeAsync(void* begin, void*) { return result(card::release(begin)); }
GAPLESS_API int cudaMallocManaged(void** begin, std::size_t size, unsigned) { return cudaMalloc(begin, size); }
GAPLESS_API int cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  card::Bytes free_bytes = 0, total_bytes = 0;
  card::memory_info(card::current_device(), &free_bytes, &total_bytes);
  *free = free_bytes;
  *total = total_bytes;
  return 0;
}

GAPLESS_API int cudaMemcpy(void* to, const void* from, std::size_t size, int) {
  card::finish(card::stream_of(nullptr));
  return copied(to, from, size);
}
GAPLESS_API int cudaMemcpyAsync(void* to, const void* from, std::size_t size, int, void*) {
  return copied(to, from, size);
}
GAPLESS_API int cudaMemcpyPeer(void* to, int, const void* from, int, std::size_t size) {
  return copied(to, from, size);
}
GAPLESS_API int cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t size, void*) {
  return copied(to, from, size);
}
GAPLESS_API int cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                  std::size_t width, std::size_t height, int, void*) {
  card::count_launch();
  for (std::size_t row = 0; row < height; ++row) {
    card::copy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width);
  }
  return 0;
}
GAPLESS_API int cudaMemset(void* begin, int value, std::size_t size) { return filled(begin, value, size); }
GAPLESS_API int cudaMemsetAsync(void* begin, int value, std::size_t size, void*) { return filled(begin, value, size); }

// Variables of a kernel's module: memory of their own that no allocator of PyTorch sees.
GAPLESS_API int cudaGetSymbolAddress(void** begin, const void* symbol) {
  static auto* const mutex = new std::mutex;
  static auto* const known = new std::map<const void*, void*>;
  constexpr std::size_t kSize = 4096;
  const std::lock_guard<std::mutex> lock(*mutex);
  void*& address = (*known)[symbol];
  if (address == nullptr) {
    if (const int error = card::allocate(card::current_device(), kSize, &address)) return result(error);
  }
  *begin = address;
  return 0;
}
GAPLESS_API int cudaMemcpyToSymbol(const void*, const void*, std::size_t, std::size_t, int) {
  card::count_launch();
  return 0;
}
GAPLESS_API int cudaMemcpyToSymbolAsync(const void*, const void*, std::size_t, std::size_t, int, void*) {
  card::count_launch();
  return 0;
}
GAPLESS_API int cudaMemcpyFromSymbol(void* to, const void*, std::size_t size, std::size_t, int) {
  card::fill(to, 0, size);
  return 0;
}

GAPLESS_API int cudaPointerGetAttributes(abi::PointerAttributes* attributes, const void* pointer) {
  *attributes = {};
  int device = 0;
  void* const plain = const_cast<void*>(pointer);
  if (card::is_device_pointer(pointer, &device)) {
    attributes->type = abi::kMemoryDevice;
    attributes->device = device;
    attributes->device_pointer = plain;
  } else if (cudart::is_pinned(pointer)) {
    attributes->type = abi::kMemoryHost;
    attributes->device = card::current_device();
    attributes->device_pointer = attributes->host_pointer = plain;
  } else {
    constexpr int kNoDevice = -2;
    attributes->device = kNoDevice;
    attributes->host_pointer = plain;
  }
  return 0;
}

// Memory cannot be shared between processes: there is none.
GAPLESS_API int cudaIpcGetMemHandle(abi::IpcHandle*, void*) { return result(card::kNotSupported); }
GAPLESS_API int cudaIpcOpenMemHandle(void**, abi::IpcHandle, unsigned) { return result(card::kNotSupported); }
GAPLESS_API int cudaIpcCloseMemHandle(void*) { return result(card::kNotSupported); }
GAPLESS_API int cudaIpcGetEventHandle(abi::IpcHandle*, void*) { return result(card::kNotSupported); }
GAPLESS_API int cudaIpcOpenEventHandle(void**, abi::IpcHandle) { return result(card::kNotSupported); }
