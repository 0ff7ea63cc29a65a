// The driver's own memory pools, which cudaMallocAsync takes from: one for each device, which keeps nothing back.
#include "abi/runtime.h"
#include "card/objects.h"
#include "libraries/cudart/errors.h"

using namespace gapless;

namespace {

int default_pool(void** pool) {
  static void* const instance = card::make_handle();
  *pool = instance;
  return 0;
}

}  // namespace

GAPLESS_API int cudaDeviceGetDefaultMemPool(void** pool, int) { return default_pool(pool); }
GAPLESS_API int cudaDeviceGetMemPool(void** pool, int) { return default_pool(pool); }
GAPLESS_API int cudaDeviceSetMemPool(int, void*) { return 0; }
GAPLESS_API int cudaMemPoolCreate(void** pool, const void*) {
  *pool = card::make_handle();
  return 0;
}
GAPLESS_API int cudaMemPoolDestroy(void*) { return 0; }
GAPLESS_API int cudaMemPoolSetAttribute(void*, int, void*) { return 0; }
GAPLESS_API int cudaMemPoolGetAttribute(void*, int, void* value) {
  *static_cast<std::uint64_t*>(value) = 0;
  return 0;
}
GAPLESS_API int cudaMemPoolSetAccess(void*, const void*, std::size_t) { return 0; }
GAPLESS_API int cudaMemPoolTrimTo(void*, std::size_t) { return 0; }
