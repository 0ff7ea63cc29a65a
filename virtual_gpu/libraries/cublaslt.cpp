// cuBLASLt: descriptors exist; the heuristic offers one algorithm.
#include <cstdlib>

#include "abi/runtime.h"
#include "card/objects.h"
#include "card/settings.h"

namespace {

struct HeuristicResult {
  std::uint64_t algorithm[8];
  std::size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

int create(void** object) {
  constexpr std::size_t kObject = 256;
  *object = std::calloc(1, kObject);
  return 0;
}

int destroy(void* object) {
  std::free(object);
  return 0;
}

}  // namespace

GAPLESS_API std::size_t cublasLtGetVersion() { return GAPLESS_CUDA_MAJOR == 13 ? 130101 : 120804; }
GAPLESS_API std::size_t cublasLtGetCudartVersion() { return GAPLESS_CUDA_MAJOR == 13 ? 13000 : 12080; }
GAPLESS_API const char* cublasLtGetStatusName(int) { return "CUBLAS_STATUS"; }
GAPLESS_API const char* cublasLtGetStatusString(int) { return "cuBLASLt of the pretend card"; }
GAPLESS_API int cublasLtCreate(void** handle) {
  *handle = gapless::card::make_handle();
  return 0;
}
GAPLESS_API int cublasLtDestroy(void*) { return 0; }
GAPLESS_API int cublasLtMatmulDescCreate(void** object, int, int) { return create(object); }
GAPLESS_API int cublasLtMatmulDescDestroy(void* object) { return destroy(object); }
GAPLESS_API int cublasLtMatrixLayoutCreate(void** object, int, std::uint64_t, std::uint64_t, std::int64_t) {
  return create(object);
}
GAPLESS_API int cublasLtMatrixLayoutDestroy(void* object) { return destroy(object); }
GAPLESS_API int cublasLtMatmulPreferenceCreate(void** object) { return create(object); }
GAPLESS_API int cublasLtMatmulPreferenceDestroy(void* object) { return destroy(object); }
GAPLESS_API int cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void*, int wanted,
                                               HeuristicResult* results, int* found) {
  *found = wanted > 0 ? 1 : 0;
  if (wanted > 0) {
    results[0] = {};
    results[0].workspace_bytes = gapless::card::settings().cublaslt_workspace;
    results[0].waves = 1;
  }
  return 0;
}
