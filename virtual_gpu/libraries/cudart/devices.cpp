// Devices: how many, which, and what they can do.
#include <cstdio>
#include <cstring>

#include "abi/runtime.h"
#include "card/attributes.h"
#include "card/memory.h"
#include "card/settings.h"
#include "card/streams.h"
#include "libraries/cudart/errors.h"

using namespace gapless;
using cudart::result;

namespace {

bool is_device(int device) { return device >= 0 && device < card::device_count(); }

abi::DeviceProperties properties_of(int device) {
  const card::Settings& s = card::settings();
  abi::DeviceProperties p{};
  std::snprintf(p.name, sizeof p.name, "%s", s.name.c_str());
  p.uuid.bytes[0] = static_cast<char>(0xfa);
  p.uuid.bytes[15] = static_cast<char>(device);
  card::Bytes total = 0;
  card::memory_info(device, nullptr, &total);
  p.total_bytes = total;
  p.shared_per_block = 48 << 10;
  p.registers_per_block = 65536;
  p.warp_size = 32;
  p.pitch = 2147483647;
  p.threads_per_block = 1024;
  p.block_size[0] = p.block_size[1] = 1024;
  p.block_size[2] = 64;
  p.grid_size[0] = 2147483647;
  p.grid_size[1] = p.grid_size[2] = 65535;
  p.constant_bytes = 64 << 10;
  p.capability_major = s.capability / 10;
  p.capability_minor = s.capability % 10;
  p.texture_alignment = 512;
  p.texture_pitch_alignment = 32;
  p.multiprocessors = s.multiprocessors;
  p.maps_host_memory = p.concurrent_kernels = p.unified_addressing = p.managed_memory = 1;
  p.pci_bus = 1 + device;
  p.async_engines = 3;
  p.memory_bus_bits = 5120;
  p.l2_bytes = static_cast<int>(s.l2_cache);
  p.persisting_l2_bytes = 32 << 20;
  p.threads_per_multiprocessor = s.threads_per_multiprocessor;
  p.stream_priorities = p.global_l1 = p.local_l1 = 1;
  p.shared_per_multiprocessor = s.shared_per_multiprocessor;
  p.registers_per_multiprocessor = s.registers_per_multiprocessor;
  p.compute_preemption = p.cooperative_launch = p.host_register = p.memory_pools = 1;
  p.shared_per_block_optin = s.shared_per_block;
  p.blocks_per_multiprocessor = 32;
  p.access_window_bytes = 128 << 20;
  p.shared_reserved_per_block = 1 << 10;
  p.ipc_events = p.unified_function_pointers = 1;
  p.cluster_launch = s.capability >= 90 ? 1 : 0;
  return p;
}

}  // namespace

GAPLESS_API int cudaGetDeviceCount(int* count) {
  *count = card::device_count();
  return result(*count > 0 ? 0 : card::kNoDevice);
}
GAPLESS_API int cudaGetDevice(int* device) {
  *device = card::current_device();
  return 0;
}
GAPLESS_API int cudaSetDevice(int device) { return result(card::set_current_device(device)); }
GAPLESS_API int cudaInitDevice(int, unsigned, unsigned) { return 0; }
GAPLESS_API int cudaSetDeviceFlags(unsigned) { return 0; }
GAPLESS_API int cudaDeviceReset() { return 0; }
GAPLESS_API int cudaDeviceSynchronize() {
  card::finish_all();
  return 0;
}
GAPLESS_API int cudaDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
GAPLESS_API int cudaRuntimeGetVersion(int* version) {
  *version = GAPLESS_CUDA_MAJOR == 13 ? 13000 : 12080;
  return 0;
}
GAPLESS_API int cudaDeviceGetAttribute(int* value, int attribute, int device) {
  if (!is_device(device)) return result(card::kInvalidDevice);
  *value = card::device_attribute(attribute);
  return 0;
}
GAPLESS_API int cudaGetDeviceProperties(abi::DeviceProperties* properties, int device) {
  if (!is_device(device)) return result(card::kInvalidDevice);
  *properties = properties_of(device);
  return 0;
}
#if GAPLESS_CUDA_MAJOR == 12
GAPLESS_API int cudaGetDeviceProperties_v2(abi::DeviceProperties* properties, int device) {
  return cudaGetDeviceProperties(properties, device);
}
#endif
GAPLESS_API int cudaDeviceGetPCIBusId(char* text, int size, int device) {
  std::snprintf(text, static_cast<std::size_t>(size), "0000:%02x:00.0", 1 + device);
  return 0;
}
GAPLESS_API int cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  *can = device != peer ? 1 : 0;
  return 0;
}
GAPLESS_API int cudaDeviceEnablePeerAccess(int, unsigned) { return 0; }
GAPLESS_API int cudaDeviceDisablePeerAccess(int) { return 0; }
GAPLESS_API int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return 0;
}
GAPLESS_API int cudaDeviceGetLimit(std::size_t* value, int) {
  *value = 1 << 20;
  return 0;
}
GAPLESS_API int cudaDeviceSetLimit(int, std::size_t) { return 0; }
GAPLESS_API int cudaProfilerStart() { return 0; }
GAPLESS_API int cudaProfilerStop() { return 0; }
