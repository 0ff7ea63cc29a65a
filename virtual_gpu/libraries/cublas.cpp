// cuBLAS: handles exist; every product succeeds and computes nothing.
#include "abi/runtime.h"
#include "card/charges.h"
#include "card/objects.h"

namespace {

constexpr int kAllocFailed = 3;

struct Handle {
  gapless::card::Held held;
  int math_mode = 0;
  int pointer_mode = 0;
  void* stream = nullptr;
};

Handle& of(void* handle) { return *static_cast<Handle*>(handle); }

}  // namespace

GAPLESS_API int cublasCreate_v2(void** handle) {
  auto* const made = gapless::card::make_object<Handle>();
  *handle = made;
  return gapless::card::take(gapless::card::Library::kCublas, &made->held) ? 0 : kAllocFailed;
}
GAPLESS_API int cublasDestroy_v2(void* handle) {
  gapless::card::give_back(gapless::card::Library::kCublas, &of(handle).held);
  return 0;
}
GAPLESS_API int cublasGetVersion_v2(void*, int* version) {
  *version = GAPLESS_CUDA_MAJOR == 13 ? 130101 : 120804;
  return 0;
}
GAPLESS_API int cublasSetStream_v2(void* handle, void* stream) {
  of(handle).stream = stream;
  return 0;
}
GAPLESS_API int cublasGetStream_v2(void* handle, void** stream) {
  *stream = of(handle).stream;
  return 0;
}
GAPLESS_API int cublasSetMathMode(void* handle, int mode) {
  of(handle).math_mode = mode;
  return 0;
}
GAPLESS_API int cublasGetMathMode(void* handle, int* mode) {
  *mode = of(handle).math_mode;
  return 0;
}
GAPLESS_API int cublasSetPointerMode_v2(void* handle, int mode) {
  of(handle).pointer_mode = mode;
  return 0;
}
GAPLESS_API int cublasGetPointerMode_v2(void* handle, int* mode) {
  *mode = of(handle).pointer_mode;
  return 0;
}
GAPLESS_API const char* cublasGetStatusName(int) { return "CUBLAS_STATUS"; }
GAPLESS_API const char* cublasGetStatusString(int) { return "cuBLAS of the pretend card"; }
