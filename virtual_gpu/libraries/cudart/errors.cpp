#include "libraries/cudart/errors.h"

#include "abi/runtime.h"

namespace {

thread_local int last_error = 0;

struct ErrorText {
  int error;
  const char* name;
  const char* text;
};

// The texts that end up in PyTorch's own messages.
constexpr ErrorText kErrors[] = {
    {0, "cudaSuccess", "no error"},
    {1, "cudaErrorInvalidValue", "invalid argument"},
    {2, "cudaErrorMemoryAllocation", "out of memory"},
    {52, "cudaErrorMissingConfiguration", "__global__ function call is not configured"},
    {100, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {101, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {500, "cudaErrorSymbolNotFound", "named symbol not found"},
    {600, "cudaErrorNotReady", "device not ready"},
    {801, "cudaErrorNotSupported", "operation not supported"},
};

const ErrorText& text_of(int error) {
  static constexpr ErrorText kOther{-1, "cudaErrorUnknown", "unknown error"};
  for (const ErrorText& known : kErrors) {
    if (known.error == error) return known;
  }
  return kOther;
}

}  // namespace

namespace gapless::cudart {

int result(int error) {
  if (error != 0) last_error = error;
  return error;
}

}  // namespace gapless::cudart

GAPLESS_API int cudaGetLastError() {
  const int error = last_error;
  last_error = 0;
  return error;
}
GAPLESS_API int cudaPeekAtLastError() { return last_error; }
GAPLESS_API const char* cudaGetErrorName(int error) { return text_of(error).name; }
GAPLESS_API const char* cudaGetErrorString(int error) { return text_of(error).text; }
