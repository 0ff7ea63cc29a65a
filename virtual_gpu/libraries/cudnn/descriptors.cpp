#include "libraries/cudnn/descriptors.h"

#include <algorithm>
#include <cstdlib>

#include "abi/cudnn.h"

using namespace gapless;
using cudnn::TensorDescriptor;

namespace gapless::cudnn {

std::size_t bytes_of_element(int data_type) {
  if (data_type == abi::kCudnnDouble) return 8;
  return data_type == abi::kCudnnHalf || data_type == abi::kCudnnBFloat16 ? 2 : 4;
}

}  // namespace gapless::cudnn

namespace {

// Room for any descriptor that these libraries know.
int create(void** descriptor) {
  constexpr std::size_t kDescriptor = 512;
  *descriptor = std::calloc(1, kDescriptor);
  return 0;
}

int destroy(void* descriptor) {
  std::free(descriptor);
  return 0;
}

}  // namespace

GAPLESS_API int cudnnCreateTensorDescriptor(void** d) { return create(d); }
GAPLESS_API int cudnnDestroyTensorDescriptor(void* d) { return destroy(d); }
GAPLESS_API int cudnnCreateFilterDescriptor(void** d) { return create(d); }
GAPLESS_API int cudnnDestroyFilterDescriptor(void* d) { return destroy(d); }
GAPLESS_API int cudnnCreateConvolutionDescriptor(void** d) { return create(d); }
GAPLESS_API int cudnnDestroyConvolutionDescriptor(void* d) { return destroy(d); }
GAPLESS_API int cudnnCreatePoolingDescriptor(void** d) { return create(d); }
GAPLESS_API int cudnnDestroyPoolingDescriptor(void* d) { return destroy(d); }
GAPLESS_API int cudnnCreateActivationDescriptor(void** d) { return create(d); }
GAPLESS_API int cudnnDestroyActivationDescriptor(void* d) { return destroy(d); }
GAPLESS_API int cudnnCreateDropoutDescriptor(void** d) { return create(d); }
GAPLESS_API int cudnnDestroyDropoutDescriptor(void* d) { return destroy(d); }
GAPLESS_API int cudnnCreateRNNDescriptor(void** d) { return create(d); }
GAPLESS_API int cudnnDestroyRNNDescriptor(void* d) { return destroy(d); }
GAPLESS_API int cudnnCreateRNNDataDescriptor(void** d) { return create(d); }
GAPLESS_API int cudnnDestroyRNNDataDescriptor(void* d) { return destroy(d); }
GAPLESS_API int cudnnCreateCTCLossDescriptor(void** d) { return create(d); }
GAPLESS_API int cudnnDestroyCTCLossDescriptor(void* d) { return destroy(d); }
GAPLESS_API int cudnnCreateSpatialTransformerDescriptor(void** d) { return create(d); }
GAPLESS_API int cudnnDestroySpatialTransformerDescriptor(void* d) { return destroy(d); }

GAPLESS_API int cudnnSetTensorNdDescriptor(TensorDescriptor* d, int type, int dimensions, const int* sizes,
                                           const int* strides) {
  d->data_type = type;
  d->dimensions = std::min(dimensions, cudnn::kMaxDimensions);
  std::copy_n(sizes, d->dimensions, d->sizes);
  std::copy_n(strides, d->dimensions, d->strides);
  return 0;
}
GAPLESS_API int cudnnGetTensorNdDescriptor(const TensorDescriptor* d, int wanted, int* type, int* dimensions,
                                           int* sizes, int* strides) {
  const int count = std::min(wanted, d->dimensions);
  if (type != nullptr) *type = d->data_type;
  if (dimensions != nullptr) *dimensions = d->dimensions;
  if (sizes != nullptr) std::copy_n(d->sizes, count, sizes);
  if (strides != nullptr) std::copy_n(d->strides, count, strides);
  return 0;
}
GAPLESS_API int cudnnSetFilterNdDescriptor(TensorDescriptor* d, int type, int format, int dimensions,
                                           const int* sizes) {
  d->data_type = type;
  d->format = format;
  d->dimensions = std::min(dimensions, cudnn::kMaxDimensions);
  std::copy_n(sizes, d->dimensions, d->sizes);
  return 0;
}
GAPLESS_API int cudnnGetFilterNdDescriptor(const TensorDescriptor* d, int wanted, int* type, int* format,
                                           int* dimensions, int* sizes) {
  if (type != nullptr) *type = d->data_type;
  if (format != nullptr) *format = d->format;
  if (dimensions != nullptr) *dimensions = d->dimensions;
  std::copy_n(d->sizes, std::min(wanted, d->dimensions), sizes);
  return 0;
}
