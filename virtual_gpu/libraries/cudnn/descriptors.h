// Descriptors of tensors and of recurrent layers: what was set can be read back.
#pragma once

#include <cstddef>

namespace gapless::cudnn {

constexpr int kMaxDimensions = 8;

struct TensorDescriptor {
  int data_type = 0, format = 0, dimensions = 0;
  int sizes[kMaxDimensions] = {}, strides[kMaxDimensions] = {};
};

std::size_t bytes_of_element(int data_type);

}  // namespace gapless::cudnn
