#include "card/results.h"

#include <algorithm>
#include <iterator>

namespace gapless::card {

const ResultText& text_of(int result) {
  static constexpr ResultText kOther{-1, "CUDA_ERROR_UNKNOWN", "cudaErrorUnknown", "unknown error"};
  static constexpr ResultText kTexts[] = {
      {kSuccess, "CUDA_SUCCESS", "cudaSuccess", "no error"},
      {kInvalidValue, "CUDA_ERROR_INVALID_VALUE", "cudaErrorInvalidValue", "invalid argument"},
      {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "cudaErrorMemoryAllocation", "out of memory"},
      {kMissingConfiguration, kOther.driver_name, "cudaErrorMissingConfiguration",
       "__global__ function call is not configured"},
      {kNoDevice, "CUDA_ERROR_NO_DEVICE", "cudaErrorNoDevice", "no CUDA-capable device is detected"},
      {kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "cudaErrorInvalidDevice", "invalid device ordinal"},
      {kNotFound, "CUDA_ERROR_NOT_FOUND", "cudaErrorSymbolNotFound", "named symbol not found"},
      {kNotReady, "CUDA_ERROR_NOT_READY", "cudaErrorNotReady", "device not ready"},
      {kNotSupported, "CUDA_ERROR_NOT_SUPPORTED", "cudaErrorNotSupported", "operation not supported"},
  };
  const auto found =
      std::find_if(std::begin(kTexts), std::end(kTexts), [result](const ResultText& t) { return t.number == result; });
  return found != std::end(kTexts) ? *found : kOther;
}

}  // namespace gapless::card
