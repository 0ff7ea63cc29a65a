// Functions of the driver, by name.
#include <dlfcn.h>

#include "abi/runtime.h"
#include "libraries/cuda/symbols.h"
#include "libraries/cudart/errors.h"

using namespace gapless;

namespace {

enum QueryResult : int { kFound = 0, kNotFound = 1 };

int find(const char* name, void** function, int* query) {
  *function = gapless_driver_symbol(name);
  if (query != nullptr) *query = *function != nullptr ? kFound : kNotFound;
  return 0;
}

}  // namespace

GAPLESS_API int cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long, int* query) {
  return find(name, function, query);
}
GAPLESS_API int cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                                 int* query) {
  return find(name, function, query);
}
