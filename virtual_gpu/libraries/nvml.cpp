// NVML: the few management calls behind PyTorch's out-of-memory message and torch.cuda.device_memory_used().
#include <unistd.h>

#include <cstdint>
#include <cstdio>

#include "abi/driver.h"
#include "card/memory.h"
#include "card/settings.h"

using namespace gapless;

namespace {

constexpr int kInsufficientSize = 7, kNotSupported = 3;

struct Process {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned instance[2];
};

struct MemoryInfo {
  unsigned long long total, free, used;
};

// A device's handle is its number, counted from 1.
int device_of(void* handle) { return static_cast<int>(reinterpret_cast<std::uintptr_t>(handle)) - 1; }
void* handle_of(unsigned device) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(device + 1)); }

MemoryInfo memory_of(void* handle) {
  card::Bytes free = 0, total = 0;
  card::memory_info(device_of(handle), &free, &total);
  return {total, free, total - free};
}

}  // namespace

GAPLESS_API int nvmlInit() { return 0; }
GAPLESS_API int nvmlInit_v2() { return 0; }
GAPLESS_API int nvmlInitWithFlags(unsigned) { return 0; }
GAPLESS_API int nvmlShutdown() { return 0; }
GAPLESS_API const char* nvmlErrorString(int) { return "not supported on the pretend card"; }
GAPLESS_API int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(card::device_count());
  return 0;
}
GAPLESS_API int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) {
  *handle = handle_of(index);
  return 0;
}
GAPLESS_API int nvmlDeviceGetHandleByPciBusId_v2(const char* text, void** handle) {
  unsigned domain = 0, bus = 1;
  std::sscanf(text, "%x:%x", &domain, &bus);
  *handle = handle_of(bus - 1);
  return 0;
}
GAPLESS_API int nvmlDeviceGetComputeRunningProcesses(void* handle, unsigned* count, Process* processes) {
  const bool fits = *count >= 1 && processes != nullptr;
  *count = 1;
  if (!fits) return kInsufficientSize;
  processes[0] = {static_cast<unsigned>(getpid()), memory_of(handle).used, {0, 0}};
  return 0;
}
GAPLESS_API int nvmlDeviceGetComputeRunningProcesses_v3(void* handle, unsigned* count, Process* processes) {
  return nvmlDeviceGetComputeRunningProcesses(handle, count, processes);
}
GAPLESS_API int nvmlDeviceGetMemoryInfo(void* handle, MemoryInfo* info) {
  *info = memory_of(handle);
  return 0;
}
GAPLESS_API int nvmlDeviceGetName(void*, char* text, unsigned size) {
  std::snprintf(text, size, "%s", card::settings().name.c_str());
  return 0;
}
GAPLESS_API int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, int*) { return kNotSupported; }
GAPLESS_API int nvmlDeviceGetNvLinkRemotePciInfo_v2(void*, unsigned, void*) { return kNotSupported; }
GAPLESS_API int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 13000;
  return 0;
}
GAPLESS_API int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::snprintf(text, size, "580.00");
  return 0;
}
