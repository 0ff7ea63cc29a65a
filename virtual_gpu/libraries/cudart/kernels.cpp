// Kernels: registered when their library loads, launched to no effect.
#include <algorithm>
#include <vector>

#include "abi/runtime.h"
#include "card/calls.h"
#include "card/objects.h"
#include "card/results.h"
#include "card/settings.h"
#include "libraries/cudart/errors.h"

using namespace gapless;
using cudart::result;

namespace {

struct Configuration {
  abi::Dim3 grid, block;
  std::size_t shared;
  void* stream;
};

thread_local std::vector<Configuration> configurations;

int launched(const void* kernel) {
  card::launch(kernel);
  return 0;
}

// Blocks that fit on a multiprocessor at once. PyTorch sizes some scratch buffers by it.
int blocks_per_multiprocessor(int threads, std::size_t shared) {
  const card::Settings& s = card::settings();
  int blocks = threads > 0 ? s.threads_per_multiprocessor / threads : 1;
  if (shared > 0) blocks = std::min(blocks, static_cast<int>(s.shared_per_multiprocessor / (shared + card::kKiB)));
  return std::clamp(blocks, 1, 32);
}

}  // namespace

// What the compiler puts around a fat binary.
struct BinaryWrapper {
  int magic, version;
  const void* data;
  void* file;
};
GAPLESS_API card::KernelBinary* __cudaRegisterFatBinary(const BinaryWrapper* wrapper) {
  return card::register_binary(wrapper->data);
}
GAPLESS_API void __cudaRegisterFatBinaryEnd(void**) {}
GAPLESS_API void __cudaUnregisterFatBinary(void**) {}
GAPLESS_API void __cudaRegisterFunction(card::KernelBinary* binary, const void* host, char*, const char*, int, void*,
                                        void*, void*, void*, int*) {
  card::register_kernel(binary, host);
}
GAPLESS_API void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}
GAPLESS_API void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, std::size_t, int, int) {}
GAPLESS_API char __cudaInitModule(void**) { return 1; }

GAPLESS_API unsigned __cudaPushCallConfiguration(abi::Dim3 grid, abi::Dim3 block, std::size_t shared, void* stream) {
  configurations.push_back({grid, block, shared, stream});
  return 0;
}
GAPLESS_API int __cudaPopCallConfiguration(abi::Dim3* grid, abi::Dim3* block, std::size_t* shared, void* stream) {
  if (configurations.empty()) return result(card::kMissingConfiguration);
  const Configuration last = configurations.back();
  configurations.pop_back();
  *grid = last.grid;
  *block = last.block;
  *shared = last.shared;
  *static_cast<void**>(stream) = last.stream;
  return 0;
}

GAPLESS_API int cudaLaunchKernel(const void* kernel, abi::Dim3, abi::Dim3, void**, std::size_t, void*) {
  return launched(kernel);
}
GAPLESS_API int cudaLaunchKernelExC(const void*, const void* kernel, void**) { return launched(kernel); }
GAPLESS_API int cudaLaunchCooperativeKernel(const void* kernel, abi::Dim3, abi::Dim3, void**, std::size_t, void*) {
  return launched(kernel);
}
GAPLESS_API int __cudaGetKernel(const void** kernel, const void* function) {
  *kernel = function;
  return 0;
}
GAPLESS_API int __cudaLaunchKernel(const void* kernel, abi::Dim3, abi::Dim3, void**, std::size_t, void*) {
  return launched(kernel);
}
GAPLESS_API int __cudaLaunchKernel_ptsz(const void* kernel, abi::Dim3, abi::Dim3, void**, std::size_t, void*) {
  return launched(kernel);
}
GAPLESS_API int cudaGetKernel(const void** kernel, const void* function) { return __cudaGetKernel(kernel, function); }

GAPLESS_API int cudaFuncGetAttributes(abi::FunctionAttributes* attributes, const void*) {
  *attributes = {};
  attributes->threads_per_block = 1024;
  attributes->registers = 32;
  attributes->dynamic_shared_bytes = 48 << 10;
  attributes->ptx_version = attributes->binary_version = card::settings().code;  // CUB sizes its buffers by it
  return 0;
}
GAPLESS_API int cudaFuncSetAttribute(const void*, int, int) { return 0; }
GAPLESS_API int cudaFuncSetCacheConfig(const void*, int) { return 0; }
GAPLESS_API int cudaKernelSetAttributeForDevice(const void*, int, int, int) { return 0; }
GAPLESS_API int cudaLibraryLoadData(void** library, const void*, void*, void**, unsigned, void*, void**, unsigned) {
  *library = card::make_handle();
  return 0;
}
GAPLESS_API int cudaLibraryGetKernel(void** kernel, void*, const char*) {
  *kernel = card::make_handle();
  return 0;
}
GAPLESS_API int cudaLibraryUnload(void*) { return 0; }

GAPLESS_API int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int threads,
                                                              std::size_t shared) {
  *blocks = blocks_per_multiprocessor(threads, shared);
  return 0;
}
GAPLESS_API int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel, int threads,
                                                                       std::size_t shared, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, shared);
}
GAPLESS_API int cudaOccupancyMaxActiveClusters(int* clusters, const void*, const void*) {
  *clusters = card::settings().multiprocessors;
  return 0;
}
