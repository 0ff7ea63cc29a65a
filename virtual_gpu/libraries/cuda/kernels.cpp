// The driver: modules and launches (Triton and Inductor come this way), captures, symbols.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

#include "abi/driver.h"
#include "card/memory.h"
#include "card/objects.h"
#include "card/settings.h"
#include "card/streams.h"
#include "libraries/cuda/symbols.h"

using namespace gapless;

namespace {

int launched() {
  card::count_launch();
  return 0;
}

int made(void** object) {
  *object = card::make_handle();
  return 0;
}

// Named by hand where somebody asks for a form that is none of ours.
bool has_version(const char* name) {
  const std::size_t length = std::strlen(name);
  return length > 3 && name[length - 3] == '_' && name[length - 2] == 'v';
}

}  // namespace

GAPLESS_API int cuModuleLoad(void** module, const char*) { return made(module); }
GAPLESS_API int cuModuleLoadData(void** module, const void*) { return made(module); }
GAPLESS_API int cuModuleLoadDataEx(void** module, const void*, unsigned, void*, void**) { return made(module); }
GAPLESS_API int cuModuleUnload(void*) { return 0; }
GAPLESS_API int cuModuleGetFunction(void** function, void*, const char*) { return made(function); }
GAPLESS_API int cuModuleGetGlobal_v2(void** begin, std::size_t* size, void*, const char*) {
  constexpr std::size_t kSize = 4096;
  void* memory = nullptr;
  if (const int error = card::allocate(card::current_device(), kSize, &memory)) return error;
  if (begin != nullptr) *begin = memory;
  if (size != nullptr) *size = kSize;
  return 0;
}
GAPLESS_API int cuLibraryLoadData(void** library, const void*, void*, void**, unsigned, void*, void**, unsigned) {
  return made(library);
}
GAPLESS_API int cuLibraryGetKernel(void** kernel, void*, const char*) { return made(kernel); }
GAPLESS_API int cuLibraryUnload(void*) { return 0; }
GAPLESS_API int cuKernelGetFunction(void** function, void* kernel) {
  *function = kernel;
  return 0;
}
GAPLESS_API int cuFuncGetAttribute(int* value, int attribute, void*) {
  *value = attribute == abi::kFunctionThreadsPerBlock ? 1024 : attribute == abi::kFunctionRegisters ? 32 : 0;
  return 0;
}
GAPLESS_API int cuFuncSetAttribute(void*, int, int) { return 0; }
GAPLESS_API int cuFuncSetCacheConfig(void*, int) { return 0; }
GAPLESS_API int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                               void**, void**) {
  return launched();
}
GAPLESS_API int cuLaunchKernelEx(const void*, void*, void**, void**) { return launched(); }
GAPLESS_API int cuLaunchCooperativeKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                          void*, void**) {
  return launched();
}
GAPLESS_API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int threads, std::size_t) {
  *blocks = threads > 0 ? card::settings().threads_per_multiprocessor / threads : 1;
  return 0;
}
GAPLESS_API int cuOccupancyMaxActiveClusters(int* clusters, void*, const void*) {
  *clusters = card::settings().multiprocessors;
  return 0;
}
GAPLESS_API int cuTensorMapEncodeTiled(void* map, int, unsigned, void*, const void*, const void*, const void*,
                                       const void*, int, int, int, int) {
  constexpr std::size_t kTensorMap = 128;
  std::memset(map, 0, kTensorMap);
  return 0;
}

GAPLESS_API int cuStreamSynchronize(void* stream) {
  card::finish(card::stream_of(stream));
  return 0;
}
GAPLESS_API int cuStreamIsCapturing(void* stream, int* status) {
  *status = card::stream_of(stream)->capture != nullptr ? 1 : 0;
  return 0;
}

void* gapless_driver_symbol(const char* name) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  void* const library = driver != nullptr ? driver : RTLD_DEFAULT;
  if (has_version(name)) return dlsym(library, name);
  for (const char* const version : {"_v4", "_v3", "_v2", ""}) {
    char full[256];
    std::snprintf(full, sizeof full, "%s%s", name, version);
    if (void* const found = dlsym(library, full)) return found;
  }
  return nullptr;
}
GAPLESS_API int cuGetProcAddress(const char* name, void** function, int, unsigned long long) {
  *function = gapless_driver_symbol(name);
  return *function != nullptr ? 0 : card::kNotFound;
}
GAPLESS_API int cuGetProcAddress_v2(const char* name, void** function, int, unsigned long long, int* query) {
  *function = gapless_driver_symbol(name);
  if (query != nullptr) *query = *function != nullptr ? 0 : 1;
  return *function != nullptr ? 0 : card::kNotFound;
}
